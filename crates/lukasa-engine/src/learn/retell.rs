//! Telling again what happened in a stretch of turns after some of them were taken away. It reads what
//! is left of the stretch and nothing of the episode that went.

use std::time::Duration;

use lukasa_core::learn::judge::safe_summary;
use lukasa_core::learn::{Transcript, prompt};
use lukasa_core::time::micros;
use lukasa_core::{Episode, Ids, OperationId, Origin, Turn};
use lukasa_store::job::{self, Claimed};
use lukasa_store::{Batch, Scope, cascade, learning, operation, session};

use super::small::field;
use crate::directory::domains;
use crate::error::Result;
use crate::jobs::Failed;
use crate::{Engine, Request};

const WITHIN: Duration = Duration::from_secs(120);

/// What a job of this kind is about: the operation that took something away, and the stretch.
struct Stretch<'k> {
    after: OperationId,
    first: i32,
    last: i32,
    session: &'k str,
}

fn stretch(key: &str) -> Option<Stretch<'_>> {
    let mut parts = key.splitn(4, ' ');
    let (after, first, last) = (parts.next()?, parts.next()?, parts.next()?);
    Some(Stretch {
        after: after.parse().ok()?,
        first: first.parse().ok()?,
        last: last.parse().ok()?,
        session: parts.next()?,
    })
}

/// What is left of a stretch, if it is still to be told: the operation stands, and nobody has told of
/// it since.
async fn left(scope: &Scope, stretch: &Stretch<'_>) -> Result<Vec<Turn>> {
    let (first, last) = (stretch.first, stretch.last);
    let by = operation::find(scope, stretch.after).await?;
    let there = session::find(scope, stretch.session).await?;
    let stands = by.is_some_and(|by| by.undone_by.is_none())
        && there.is_some_and(|session| session.trashed_at.is_none());
    let told = cascade::telling(scope, stretch.session, first, last, false).await?;
    if !stands || !told.is_empty() {
        return Ok(Vec::new());
    }
    let most = i64::from(last - first) + 1;
    let mut turns = session::turns(scope, stretch.session, first - 1, most).await?;
    turns.retain(|turn| turn.number <= last);
    Ok(turns)
}

impl Engine {
    pub(crate) async fn retell(&self, request: &Request, job: &Claimed) -> Result<(), Failed> {
        let Some(stretch) = stretch(&job.key) else { return self.drop_job(job).await };
        let caller = &request.caller;
        let scope = self.store.read(caller.tenant, caller.user).await?;
        let turns = left(&scope, &stretch).await?;
        let ((policy, _), domains) = (self.policy_of(&scope).await?, domains(&scope).await?);
        drop(scope);
        let news = Transcript::of(&turns);
        if news.typed().all(|text| text.trim().is_empty()) {
            return self.drop_job(job).await;
        }
        let ask = prompt::compress(None, &news, WITHIN);
        let asked =
            self.ask(caller, "retell", &ask, &policy, request.moment, field("summary")).await?;
        let answered = asked.map_err(|why| Failed::unanswered(&why, request.moment.now))?;
        let summary = safe_summary(&answered.read, &domains);
        let (scope, mut batch) = (self.writing(request).await?, Batch::default());
        if !job::is_held(&scope, job).await? {
            return Ok(());
        }
        // Only if nothing more of the stretch was taken away while the model thought.
        let same = left(&scope, &stretch).await? == turns;
        if let (Some(summary), [begin, .., end] | [begin @ end], true) = (summary, &turns[..], same)
        {
            let now = micros(request.moment.now);
            let mut ids = Ids::new(now, request.moment.seed);
            let episode = Episode {
                id: ids.episode(),
                session: stretch.session.to_owned(),
                first_turn: stretch.first,
                last_turn: stretch.last,
                title: None,
                summary,
                origin: news.origin().unwrap_or(Origin::Import),
                started_at: begin.said_at.min(end.said_at),
                ended_at: end.said_at.max(begin.said_at),
                pass: ids.pass(),
                prompt: prompt::COMPRESS.name.to_owned(),
                recorded_at: now,
            };
            let mut told: Vec<i32> = turns.iter().map(|turn| turn.number).collect();
            told.sort_unstable();
            let left_out = episode.turns_left_out(&told);
            let after = Some(stretch.after);
            learning::open_episode(&mut batch, &scope, &episode, left_out, after);
        }
        job::finish(&mut batch, &scope, job);
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }
}
