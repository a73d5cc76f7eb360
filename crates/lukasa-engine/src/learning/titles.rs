//! Session titles, and summaries of a session's early part.

use lukasa_core::Session;
use lukasa_core::learning::answer::{UnreadableAnswer, unfenced};
use lukasa_core::learning::prompt;
use lukasa_core::learning::summary::safe_summary;
use lukasa_core::model::CallPurpose;
use lukasa_store::job::{self, ClaimedJob};
use lukasa_store::passage::{self, RecallState};
use lukasa_store::{Batch, Scope, session};

use super::Learning;
use crate::directory::domains;
use crate::error::Result;
use crate::queue::JobFailure;
use crate::request::Request;
use crate::transcript::TurnsToRead;

/// Number of turns a title is made from.
const TITLE_TURNS: i64 = 4;
/// Maximum number of turns per summary, and how many of the latest are never summarised.
const MAX_SUMMARY_TURNS: i64 = 80;
const UNSUMMARISED_TURNS: i32 = 4;

impl Learning {
    /// Titles a session after its first exchange, unless it has a title by then.
    pub(crate) async fn title_session(
        &self,
        request: &Request,
        job: &ClaimedJob,
        id: &str,
    ) -> Result<(), JobFailure> {
        let caller = &request.caller;
        let scope = self.parts.store.read_as(caller).await?;
        let there = session::find(&scope, id).await?;
        let Some(_) = there.filter(|s| s.title.is_none() && s.trashed_at.is_none()) else {
            drop(scope);
            return self.queue.drop_job(job).await;
        };
        let turns = session::turns(&scope, id, 0, TITLE_TURNS).await?;
        let read = TurnsToRead::load(&scope, turns).await?;
        let state = passage::state(&scope).await?;
        let ((policy, _), domains) = (self.policies.load(&scope).await?, domains(&scope).await?);
        drop(scope);
        let news = read.transcript().await?;
        if news.is_empty() {
            return self.queue.drop_job(job).await;
        }
        let ask = prompt::title(&news, self.parts.chat_timeout);
        let asked = self
            .chat
            .ask(caller, CallPurpose::Title, &ask, &policy, request.moment, field("title"))
            .await?;
        let answered = asked.map_err(|why| JobFailure::no_answer(&why, request.moment.now))?;
        let title = clean_title(&answered.read);
        let title = title.and_then(|title| safe_summary(&title, &domains));
        let (scope, mut batch) = (self.transactions.write(request).await?, Batch::default());
        if !job::is_held(&scope, job).await? {
            return Ok(());
        }
        check_nothing_removed(&scope, state).await?;
        check_nothing_retracted(&scope, &read).await?;
        let there = session::find(&scope, id).await?;
        let unnamed = there.filter(|s| s.title.is_none() && s.trashed_at.is_none());
        if let (Some(session), Some(title)) = (unnamed, title) {
            let named_from = read.turns.last().map(|turn| turn.number);
            let named = Session { title: Some(title), named_from, ..session };
            session::put(&mut batch, &scope, &named);
        }
        job::finish(&mut batch, &scope, job);
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }

    /// Extends the summary of the early part of a long session.
    pub(crate) async fn compress_session(
        &self,
        request: &Request,
        job: &ClaimedJob,
        id: &str,
    ) -> Result<(), JobFailure> {
        let caller = &request.caller;
        let scope = self.parts.store.read_as(caller).await?;
        let there = session::find(&scope, id).await?.filter(|s| s.trashed_at.is_none());
        let Some(session) = there else {
            drop(scope);
            return self.queue.drop_job(job).await;
        };
        let mut turns =
            session::turns(&scope, id, session.summary_through, MAX_SUMMARY_TURNS).await?;
        turns.retain(|turn| turn.number <= session.turns - UNSUMMARISED_TURNS);
        let read = TurnsToRead::load(&scope, turns).await?;
        let state = passage::state(&scope).await?;
        let ((policy, _), domains) = (self.policies.load(&scope).await?, domains(&scope).await?);
        drop(scope);
        let (news, last) = (read.transcript().await?, read.turns.last());
        let Some(through) = last.map(|turn| turn.number).filter(|_| !news.is_empty()) else {
            return self.queue.drop_job(job).await;
        };
        let before = session.summary.as_deref();
        let ask = prompt::compress(before, &news, self.parts.chat_timeout);
        let of = field("summary");
        let asked =
            self.chat.ask(caller, CallPurpose::Compress, &ask, &policy, request.moment, of).await?;
        let answered = asked.map_err(|why| JobFailure::no_answer(&why, request.moment.now))?;
        let (scope, mut batch) = (self.transactions.write(request).await?, Batch::default());
        if !job::is_held(&scope, job).await? {
            return Ok(());
        }
        check_nothing_removed(&scope, state).await?;
        check_nothing_retracted(&scope, &read).await?;
        if let Some(summary) = safe_summary(&answered.read, &domains) {
            session::summarise(&mut batch, &scope, &session.id, &summary, through);
        }
        job::finish(&mut batch, &scope, job);
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }
}

/// Fails the job, to be retried, if something was removed while the model was asked: the model may
/// have read it.
async fn check_nothing_removed(scope: &Scope, earlier: RecallState) -> Result<(), JobFailure> {
    if passage::state(scope).await?.has_lost_since(earlier) {
        let why = "memory was removed while a model was asked";
        return Err(lukasa_store::Error::Unavailable(why.into()).into());
    }
    Ok(())
}

/// Fails the job, to be retried, if the user took words back while the model was asked about them.
pub(super) async fn check_nothing_retracted(
    scope: &Scope,
    read: &TurnsToRead,
) -> Result<(), JobFailure> {
    if read.were_retracted_since(scope).await? {
        let why = "words were taken back while a model was asked";
        return Err(lukasa_store::Error::Unavailable(why.into()).into());
    }
    Ok(())
}

/// Reads one text field of a model's answer.
pub(super) fn field(name: &'static str) -> impl Fn(&str) -> Result<String, UnreadableAnswer> {
    move |text| {
        let value: serde_json::Value = serde_json::from_str(unfenced(text))
            .map_err(|_| UnreadableAnswer("not a JSON document"))?;
        let text = value.get(name).and_then(serde_json::Value::as_str);
        let text = text.ok_or(UnreadableAnswer("the requested field is missing"))?;
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ").replace('\0', "");
        let fits = (1..=4_000).contains(&line.chars().count());
        fits.then_some(line).ok_or(UnreadableAnswer("empty or too long"))
    }
}

/// Cleans up a title: a few words, without quotes or a full stop.
fn clean_title(text: &str) -> Option<String> {
    let title = text.trim_matches(|c: char| c.is_whitespace() || "\"'“”„.«»".contains(c));
    let words: Vec<&str> = title.split_whitespace().take(8).collect();
    Some(words.join(" ")).filter(|title| (1..=80).contains(&title.chars().count()))
}
