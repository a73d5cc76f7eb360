//! Usage records: what went into prompts, and what applications reported about it.

use futures_util::try_join;
use lukasa_core::admission::Writer;
use lukasa_core::job::{Task, next_upkeep};
use lukasa_core::limits::REASONING_CHARS;
use lukasa_core::{Caller, FactId, Ids, RetrievalId, Timestamp, TurnId};
use lukasa_store::context::{self as kept, Baseline, Retrieval, Stats, Usage, UsagePlace};
use lukasa_store::{Batch, Scope, fact, job, session};

use super::Contexts;
use super::feedback::ReportedWords;
use super::trace::unpack;
use crate::admission;
use crate::closed_domains::HiddenDomains;
use crate::error::{Error, Result};
use crate::request::Request;
use crate::transaction::{WriteStart, keep_answer};

pub use lukasa_store::context::{
    Baseline as BaselineRecord, Retrieval as RetrievalRecord, Stats as UsageStats,
    Usage as UsageRecord,
};

/// Usage types an application can report about a memory it was given. That it was given is recorded
/// anyway.
pub const USAGE_TYPES: [&str; 7] =
    ["retrieved", "applied", "cited", "conflicted", "overridden", "confirmed", "contradicted"];

/// Usage types that show whether a memory is correct.
const OUTCOMES: [&str; 3] = ["confirmed", "contradicted", "overridden"];

/// A usage report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewUsage {
    pub fact: FactId,
    pub session: Option<String>,
    pub retrieval: Option<RetrievalId>,
    pub turn: Option<TurnId>,
    pub kind: String,
    pub influence: Option<String>,
}

/// Everything that was put into a session's prompts.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionRetrievals {
    pub baselines: Vec<Baseline>,
    /// Newest first.
    pub retrievals: Vec<Retrieval>,
}

/// Empties the texts about domains that are closed now, for a caller other than the user.
pub(super) async fn hide_texts(
    scope: &Scope,
    caller: &Caller,
    baselines: &mut [Baseline],
    retrievals: &mut [Retrieval],
) -> Result<()> {
    let hidden = HiddenDomains::load(scope, caller).await?;
    let of_baseline = |baseline: &Baseline| (baseline.content.clone(), baseline.facts.clone());
    let of_retrieval = |given: &Retrieval| (given.dynamic.clone(), given.facts.clone());
    let texts = baselines.iter().map(of_baseline).chain(retrievals.iter().map(of_retrieval));
    let mut are_hidden = hidden.hide_texts(scope, texts.collect()).await?.into_iter();
    let contents = baselines.iter_mut().map(|baseline| &mut baseline.content);
    for text in contents.chain(retrievals.iter_mut().map(|given| &mut given.dynamic)) {
        if are_hidden.next().unwrap_or(true) {
            text.clear();
        }
    }
    Ok(())
}

impl Contexts {
    /// Exactly what was put into a session's prompts (R181).
    pub async fn session_retrievals(
        &self,
        caller: &Caller,
        name: &str,
        now: Timestamp,
    ) -> Result<SessionRetrievals> {
        const MAX_RETRIEVALS: i64 = 200;
        self.log.wait_for_records(caller.user).await;
        let scope = self.transactions.read(caller, now).await?;
        let (baselines, retrievals) = try_join!(
            kept::baselines(&scope, name),
            kept::retrievals(&scope, name, MAX_RETRIEVALS)
        )?;
        // A session can have retrievals without turns, and turns without retrievals.
        let nothing = baselines.is_empty() && retrievals.is_empty();
        if nothing && session::find(&scope, name).await?.is_none() {
            return Err(Error::SessionNotFound);
        }
        let mut given = SessionRetrievals {
            baselines,
            retrievals: retrievals.into_iter().map(unpack).collect(),
        };
        hide_texts(&scope, caller, &mut given.baselines, &mut given.retrievals).await?;
        Ok(given)
    }

    /// One retrieval, with its trace.
    pub async fn retrieval(
        &self,
        caller: &Caller,
        id: RetrievalId,
        now: Timestamp,
    ) -> Result<Retrieval> {
        self.log.wait_for_records(caller.user).await;
        let scope = self.transactions.read(caller, now).await?;
        let found = kept::find_retrieval(&scope, id).await?.ok_or(Error::RetrievalNotFound)?;
        let mut found = unpack(found);
        hide_texts(&scope, caller, &mut [], std::slice::from_mut(&mut found)).await?;
        Ok(found)
    }

    /// Records the reported usage of a memory.
    pub async fn report_usage(&self, request: &Request, new: NewUsage) -> Result<Usage> {
        if !USAGE_TYPES.contains(&new.kind.as_str()) {
            return Err(Error::invalid(
                "type",
                "one of retrieved, applied, cited, conflicted, overridden, confirmed, contradicted",
            ));
        }
        if let Some(session) = &new.session {
            admission::check_session_name(session)?;
        }
        let influence = new.influence.as_deref().unwrap_or("");
        if influence.chars().count() > REASONING_CHARS || influence.contains('\0') {
            return Err(Error::invalid("influence", "at most 2,000 characters"));
        }
        let words = ReportedWords::of(new.influence).await;
        let scope = match self.transactions.start(request).await? {
            WriteStart::New(scope) => scope,
            WriteStart::Repeated(usage) => return Ok(usage),
        };
        admission::check_not_paused(&scope, &request.caller).await?;
        if !fact::exists(&scope, new.fact).await? {
            return Err(Error::MemoryNotFound);
        }
        let influence = words.admit(&scope, request, new.session.as_deref()).await?;
        let now = request.moment.now;
        let usage = Usage {
            id: Ids::new(now, request.moment.seed).usage(),
            fact: new.fact,
            session: new.session,
            retrieval: new.retrieval,
            turn: new.turn,
            kind: new.kind,
            influence,
            at: lukasa_core::time::micros(now),
            prediction: None,
            by_user: Writer::of(&request.caller) == Writer::Human,
        };
        let mut batch = Batch::default();
        kept::queue_usage(&mut batch, &scope, &usage);
        if OUTCOMES.contains(&usage.kind.as_str()) {
            let (id, due) = (request.job_id("upkeep"), next_upkeep(scope.user(), usage.at));
            job::queue_sole(&mut batch, &scope, id, &Task::Upkeep, due, usage.at);
        }
        keep_answer(&mut batch, &scope, request, &usage, &[usage.fact])?;
        scope.run(&batch).await?;
        scope.commit().await?;
        Ok(usage)
    }

    /// Counts of memories and of their usage.
    pub async fn stats(&self, caller: &Caller, now: Timestamp) -> Result<Stats> {
        let scope = self.transactions.read(caller, now).await?;
        Ok(kept::stats(&scope, now).await?)
    }

    /// Usage records, newest first; optionally of one memory only.
    pub async fn usage(
        &self,
        caller: &Caller,
        fact: Option<FactId>,
        after: Option<UsagePlace>,
        limit: usize,
        now: Timestamp,
    ) -> Result<(Vec<Usage>, Option<UsagePlace>)> {
        let scope = self.transactions.read(caller, now).await?;
        let wanted = i64::try_from(limit + 1).unwrap_or(i64::MAX);
        let mut used = kept::usage(&scope, fact, after, wanted).await?;
        let more = used.len() > limit;
        used.truncate(limit);
        let place = |usage: &Usage| UsagePlace { at: usage.at, id: usage.id, fact: usage.fact };
        let next = used.last().filter(|_| more).map(place);
        Ok((used, next))
    }
}
