//! Derives the episode of a turn range again after it or some of its turns were removed. It reads
//! the turns that are left, and nothing of the removed episode.

use lukasa_core::job::RetellTask;
use lukasa_core::learning::prompt;
use lukasa_core::learning::summary::safe_summary;
use lukasa_core::model::CallPurpose;
use lukasa_core::time::micros;
use lukasa_core::{Episode, Ids, Origin, Turn};
use lukasa_store::job::{self, ClaimedJob};
use lukasa_store::{Batch, Scope, learning, operation, removal, session};

use super::Learning;
use super::titles::{check_nothing_retracted, field};
use crate::directory::domains;
use crate::episodes::{is_about_forgetting, joined_summary, passages_of};
use crate::error::Result;
use crate::queue::JobFailure;
use crate::request::Request;
use crate::transcript::TurnsToRead;

/// The turns left in a range, if its episode is still to be derived: the operation was not undone,
/// and no episode covers the range.
async fn remaining_turns(scope: &Scope, range: &RetellTask) -> Result<Vec<Turn>> {
    let (first, last) = (range.first_turn, range.last_turn);
    let by = operation::find(scope, range.after).await?;
    let there = session::find(scope, &range.session).await?;
    let in_effect = by.is_some_and(|by| by.undone_by.is_none())
        && there.is_some_and(|session| session.trashed_at.is_none());
    let covering = removal::episodes_covering(scope, &range.session, first, last, false).await?;
    if !in_effect || !covering.is_empty() {
        return Ok(Vec::new());
    }
    let limit = i64::from(last - first) + 1;
    let mut turns = session::turns(scope, &range.session, first - 1, limit).await?;
    turns.retain(|turn| turn.number <= last);
    Ok(turns)
}

impl Learning {
    pub(crate) async fn retell(
        &self,
        request: &Request,
        job: &ClaimedJob,
        range: &RetellTask,
    ) -> Result<(), JobFailure> {
        let caller = &request.caller;
        let scope = self.parts.store.read_as(caller).await?;
        let turns = remaining_turns(&scope, range).await?;
        let read = TurnsToRead::load(&scope, turns).await?;
        let ((policy, _), domains) = (self.policies.load(&scope).await?, domains(&scope).await?);
        drop(scope);
        let (news, turns) = (read.transcript().await?, &read.turns);
        if news.typed().all(|text| text.trim().is_empty()) {
            return self.queue.drop_job(job).await;
        }
        let ask = prompt::compress(None, &news, self.parts.chat_timeout);
        let asked = self
            .chat
            .ask(caller, CallPurpose::Retell, &ask, &policy, request.moment, field("summary"))
            .await?;
        let answered = asked.map_err(|why| JobFailure::no_answer(&why, request.moment.now))?;
        let summary = safe_summary(&answered.read, &domains);
        let (scope, mut batch) = (self.transactions.write(request).await?, Batch::default());
        if !job::is_held(&scope, job).await? {
            return Ok(());
        }
        // Only if no more turns of the range were removed while the model was asked.
        let same = remaining_turns(&scope, range).await? == *turns;
        if same {
            check_nothing_retracted(&scope, &read).await?;
        }
        let mut passages = Vec::new();
        if let (Some(summary), [begin, .., end] | [begin @ end], true) = (summary, &turns[..], same)
        {
            let now = micros(request.moment.now);
            let mut ids = Ids::new(now, request.moment.seed);
            let mut episode = Episode {
                id: ids.episode(),
                session: range.session.clone(),
                first_turn: range.first_turn,
                last_turn: range.last_turn,
                title: None,
                summary,
                origin: news.origin().unwrap_or(Origin::Import),
                started_at: begin.said_at.min(end.said_at),
                ended_at: end.said_at.max(begin.said_at),
                pass: ids.pass(),
                prompt: prompt::COMPRESS.name.to_owned(),
                recorded_at: now,
                searchable: true,
            };
            episode.searchable = !is_about_forgetting(&episode, turns);
            let mut numbers: Vec<i32> = turns.iter().map(|turn| turn.number).collect();
            numbers.sort_unstable();
            let left_out = episode.turns_left_out(&numbers);
            let after = Some(range.after);
            learning::open_episode(&mut batch, &scope, &episode, left_out, after);
            let one = std::slice::from_ref(&episode);
            let summary = joined_summary(&scope, &range.session, &[], one).await?;
            session::replace_summary(&mut batch, &scope, &range.session, summary.as_ref());
            passages = passages_of(&episode);
        }
        job::finish(&mut batch, &scope, job);
        Ok(self.transactions.commit_with(scope, batch, passages, request).await?)
    }
}
