//! Search: from a question to ranked memories and turns.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{future::OptionFuture, try_join};
use jiff::tz::TimeZone;
use lukasa_core::learning::explicit;
use lukasa_core::recall::Degraded;
use lukasa_core::recall::index::Index;
use lukasa_core::recall::rank::{Arm, RankQuery, Tuning};
use lukasa_core::{
    AsOf, Caller, Category, FactId, Force, Kind, MemoryType, Period, Role, Tier, Timestamp, Turn,
    TurnId, Version, VersionId,
};
use lukasa_store::passage::RecallState;
use lukasa_store::{Scope, fact, recallable, session};
use lukasa_text::when;

use super::Recall;
use super::lookup::lookup;
use super::{OpenedIndex, QuestionVector, RecallKey};
use crate::closed_domains::closed_domains;
use crate::error::Result;
use crate::memory::{Memory, Point, as_memory};
use crate::telemetry::record_recall;

/// How long a request waits for the reranker.
const RERANK_TIMEOUT: Duration = Duration::from_millis(200);
/// Maximum number of reranked candidates.
pub(super) const MAX_RERANKED: usize = 50;

/// Filter of the results. An absent field matches everything.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Any of these; memories without a domain match none of them.
    pub domains: Option<Vec<String>>,
    pub memory_type: Option<MemoryType>,
    pub kind: Option<Kind>,
    pub category: Option<Category>,
    pub force: Option<Force>,
    pub tier: Option<Tier>,
    pub min_confidence: Option<f32>,
    /// Only turns of this session.
    pub session: Option<String>,
    /// Only turns of these roles; the user's own turns if absent.
    pub roles: Option<Vec<Role>>,
}

/// A recall question.
#[derive(Debug, Clone)]
pub struct RecallQuery {
    pub text: String,
    pub filter: Filter,
    pub point: Point,
    /// The user's time zone, in which "yesterday" is resolved.
    pub zone: TimeZone,
    /// How many memories and how many turns at most.
    pub memories: usize,
    pub turns: usize,
    /// How many sessions at most.
    pub sessions: usize,
    pub tuning: Tuning,
    pub rerank: bool,
    /// Only memories that the question names by their key or by one of their tags.
    pub precise: bool,
    /// The session it is asked in: its own turns are already visible and not searched, and the same
    /// question in it is answered from a cache for a while.
    pub session: Option<String>,
}

impl RecallQuery {
    pub fn about(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            filter: Filter::default(),
            point: Point::default(),
            zone: TimeZone::UTC,
            memories: 10,
            turns: 0,
            sessions: 0,
            tuning: Tuning::default(),
            rerank: true,
            precise: false,
            session: None,
        }
    }
}

/// Explanation of a result.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultExplanation {
    pub score: f32,
    pub relevance: f32,
    pub arms: Vec<(Arm, usize, f32)>,
    pub matched: Vec<String>,
    /// Its rank before reranking.
    pub fused_rank: usize,
}

impl ResultExplanation {
    /// Whether it is at least this relevant, or was found by a link, a time or a speaker that the
    /// question names.
    pub fn is_relevant(&self, least: f32) -> bool {
        let named = |arm: &Arm| matches!(arm, Arm::Link | Arm::Time | Arm::Speaker);
        self.relevance >= least || self.arms.iter().any(|(arm, ..)| named(arm))
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct RecalledFact {
    pub memory: Memory,
    pub why: ResultExplanation,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RecalledTurn {
    pub turn: Turn,
    pub why: ResultExplanation,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RecalledSession {
    pub session: String,
    pub score: f32,
    /// The best matching turn.
    pub best: TurnId,
}

/// Result of a recall.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallResult {
    pub memories: Vec<RecalledFact>,
    pub turns: Vec<RecalledTurn>,
    pub sessions: Vec<RecalledSession>,
    /// The times the question mentions: the words, and the period they mean.
    pub times: Vec<(String, Period)>,
    /// What was unavailable or skipped.
    pub degraded: Vec<Degraded>,
    /// The embedding model used, if any.
    pub model: Option<String>,
    /// Number of memories and turns considered.
    pub considered: usize,
    /// Whether it is a cached result.
    pub cached: bool,
    pub took: RecallTimings,
}

/// Time spent per stage, in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecallTimings {
    pub embed: u64,
    pub load: u64,
    pub rank: u64,
    pub rerank: u64,
    pub fetch: u64,
}

impl Recall {
    /// Finds the memories and turns relevant to a question.
    pub async fn search(
        &self,
        caller: &Caller,
        ask: &RecallQuery,
        now: Timestamp,
    ) -> Result<RecallResult> {
        let mut model = self.expected_model().await;
        let mut again = true;
        loop {
            let question = self.embed_question(caller.tenant, model.as_ref(), ask).await;
            let started = (self.parts.ticks)();
            let opened = self.open(caller, ask.point, now).await?;
            let load = (self.parts.ticks)() - started;
            if question.wanted && opened.ctx.model != model && again {
                // The model was switched since: embed the question again, outside the transaction.
                model.clone_from(&opened.ctx.model);
                again = false;
                continue;
            }
            let found = self.find(&opened, ask, question, now).await?;
            drop(opened);
            let mut found = self.apply_reranker(ask, found).await;
            found.took.load = load;
            return Ok(found);
        }
    }

    /// Results from the index and the record, in the order of the index. No model is called while
    /// the transaction is open: the question was embedded before, and reranking comes after.
    pub(crate) async fn find(
        &self,
        opened: &OpenedIndex,
        ask: &RecallQuery,
        question: QuestionVector,
        now: Timestamp,
    ) -> Result<UnrankedRecall> {
        let OpenedIndex { scope, ctx, user_index, .. } = opened;
        let key = ask.cache_key(scope.user(), ctx);
        if let Some(kept) = key.as_ref().and_then(|key| self.caches.results.get(key))
            && kept.0 == ctx.state
        {
            let recalled = reuse(&kept.1, ask.point.resolve(now));
            return Ok(UnrankedRecall { recalled, keep: None, ordered: true });
        }
        let QuestionVector { vector, failed, took: embed, .. } = question;
        let matching = vector.filter(|v| ctx.model.as_ref() == Some(v.embedder.model()));
        let mut degraded = Vec::new();
        if failed {
            degraded.push(Degraded::Embedder);
        }
        if user_index.is_truncated() && ask.turns + ask.sessions > 0 {
            degraded.push(Degraded::OlderTurns);
        }
        // For a question about the past, "yesterday" is relative to that point in time.
        let point = ask.point.resolve(now);
        let times = when::mentions(&ask.text, point.valid, &ask.zone);
        let times: Vec<_> = times.into_iter().map(|time| (time.words, time.period)).collect();
        let mut took = RecallTimings { embed, ..RecallTimings::default() };
        let started = (self.parts.ticks)();
        let looked = {
            let (ask, ctx) = (ask.clone(), Arc::clone(ctx));
            let deep = ask.rerank && self.parts.models.reranker().is_some();
            let periods: Vec<Period> = times.iter().map(|(_, period)| *period).collect();
            let values = matching.as_ref().map(|v| Arc::clone(&v.values));
            let work = move |index: &Index| {
                let vector = values.as_deref();
                let question = RankQuery { text: &ask.text, vector, times: &periods };
                lookup(index, &question, &ask, deep, &ctx, now)
            };
            user_index.with(&self.parts.cpu, work).await?
        };
        took.rank = (self.parts.ticks)() - started;
        let model = matching.as_ref().map(|v| v.embedder.model().name.clone());
        if let Some(vector) = matching.filter(|_| looked.unembedded) {
            self.embeddings.fill_later(scope.tenant(), scope.user(), vector.embedder);
        }
        let started = (self.parts.ticks)();
        let (memories, mut turns) = fetch(scope, looked.facts, looked.turns, point).await?;
        let found_turns: Vec<Turn> = turns.iter().map(|found| found.turn.clone()).collect();
        let mut closed = closed_domains(&found_turns, &ctx.shut).await.into_iter();
        // A request to forget something names it.
        let asks = move || found_turns.iter().map(explicit::asks_to_forget).collect::<Vec<_>>();
        let mut asks = tokio::task::spawn_blocking(asks).await.unwrap_or_default().into_iter();
        turns.retain(|_| closed.next().flatten().is_none() && !asks.next().unwrap_or(true));
        took.fetch = (self.parts.ticks)() - started;
        let recalled = RecallResult {
            memories,
            turns,
            sessions: looked.sessions,
            times,
            degraded,
            model,
            considered: looked.considered,
            cached: false,
            took,
        };
        Ok(UnrankedRecall { recalled, keep: key.map(|key| (key, ctx.state)), ordered: false })
    }

    /// Reranks the results, if a reranker is configured and requested.
    pub(crate) async fn apply_reranker(
        &self,
        ask: &RecallQuery,
        found: UnrankedRecall,
    ) -> RecallResult {
        let UnrankedRecall { recalled: mut found, keep, ordered } = found;
        if ordered {
            record_recall(&found);
            return found;
        }
        let started = (self.parts.ticks)();
        if ask.rerank {
            let lines = found.memories.iter().map(|found| &found.memory.version.claim.content);
            let lines: Vec<&str> = lines.map(String::as_str).collect();
            let order = self.rerank(&ask.text, &lines, &mut found.degraded).await;
            found.memories = reordered(found.memories, &order);
            let lines = found.turns.iter().map(|found| found.turn.content.as_str());
            let lines: Vec<&str> = lines.collect();
            let order = self.rerank(&ask.text, &lines, &mut found.degraded).await;
            found.turns = reordered(found.turns, &order);
        }
        found.took.rerank = (self.parts.ticks)() - started;
        found.memories.truncate(ask.memories);
        found.turns.truncate(ask.turns);
        found.degraded.dedup();
        let whole = found.degraded.iter().all(|missing| *missing == Degraded::OlderTurns);
        if let Some((key, state)) = keep.filter(|_| whole) {
            self.caches.results.insert(key, Arc::new((state, found.clone())));
        }
        record_recall(&found);
        found
    }

    /// The reranker's order of the texts, or their current order if it fails.
    async fn rerank(
        &self,
        question: &str,
        texts: &[&str],
        degraded: &mut Vec<Degraded>,
    ) -> Vec<usize> {
        let unchanged: Vec<usize> = (0..texts.len()).collect();
        let Some(reranker) = self.parts.models.reranker().filter(|_| texts.len() > 1) else {
            return unchanged;
        };
        let shown = &texts[..texts.len().min(MAX_RERANKED)];
        let scores = match tokio::time::timeout(RERANK_TIMEOUT, reranker.rerank(question, shown))
            .await
        {
            Ok(Ok(scores))
                if scores.len() == shown.len() && scores.iter().all(|s| s.is_finite()) =>
            {
                scores
            }
            other => {
                tracing::warn!(answered = other.is_ok(), "reranker failed; keeping fused order");
                degraded.push(Degraded::Reranker);
                return unchanged;
            }
        };
        let mut order: Vec<usize> = (0..shown.len()).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
        order.extend(shown.len()..texts.len());
        order
    }
}

/// Results before reranking.
pub(crate) struct UnrankedRecall {
    recalled: RecallResult,
    /// Cache key of the result, and the state of the record it is valid for.
    keep: Option<(RecallKey, RecallState)>,
    /// Whether it is a cached result, already reranked.
    ordered: bool,
}

impl UnrankedRecall {
    /// The versions of the memories that were found.
    pub(crate) fn versions(&self) -> impl Iterator<Item = &Version> {
        self.recalled.memories.iter().map(|found| &found.memory.version)
    }
}

/// A cached result, without memories that are no longer valid.
fn reuse(kept: &RecallResult, point: AsOf) -> RecallResult {
    let mut found = kept.clone();
    found.memories.retain(|found| found.memory.version.valid.contains(point.valid));
    (found.cached, found.took) = (true, RecallTimings::default());
    found
}

fn reordered<T>(things: Vec<T>, order: &[usize]) -> Vec<T> {
    let mut things: Vec<Option<T>> = things.into_iter().map(Some).collect();
    order.iter().filter_map(|at| things.get_mut(*at).and_then(Option::take)).collect()
}

/// Loads the content of the results, in their order and as known at that point: what became known
/// later is not included.
async fn fetch(
    scope: &Scope,
    facts: Vec<((FactId, VersionId), ResultExplanation)>,
    turns: Vec<(TurnId, ResultExplanation)>,
    point: AsOf,
) -> Result<(Vec<RecalledFact>, Vec<RecalledTurn>)> {
    let versions: Vec<_> = facts.iter().map(|(ids, _)| *ids).collect();
    let turn_rows: Vec<_> = turns.iter().map(|(id, _)| id.uuid()).collect();
    let versions: OptionFuture<_> =
        (!versions.is_empty()).then(|| recallable::versions(scope, &versions)).into();
    let turn_ids: Vec<TurnId> = turns.iter().map(|(id, _)| *id).collect();
    let forgotten: OptionFuture<_> =
        (!turn_ids.is_empty()).then(|| fact::forgotten_turns(scope, &turn_ids)).into();
    let turn_rows: OptionFuture<_> =
        (!turn_rows.is_empty()).then(|| session::turns_by_id(scope, &turn_rows)).into();
    let (versions, turn_rows, forgotten) = try_join!(
        async { versions.await.transpose() },
        async { turn_rows.await.transpose() },
        async { forgotten.await.transpose() }
    )?;
    let (versions, turn_rows) = (versions.unwrap_or_default(), turn_rows.unwrap_or_default());
    let forgotten = forgotten.unwrap_or_default();
    let memories = facts.into_iter().filter_map(|((_, id), why)| {
        let mut version = versions.iter().find(|version| version.id == id)?.clone();
        version.known.until = version.known.until.filter(|until| *until <= point.known);
        let memory = as_memory(&version, std::slice::from_ref(&version), point.valid);
        Some(RecalledFact { memory, why })
    });
    // The words of a forgotten memory are not quoted from the turn where they were said.
    let turns = turns.into_iter().filter(|(id, _)| !forgotten.contains(&id.to_string()));
    let turns = turns.filter_map(|(id, why)| {
        Some(RecalledTurn { turn: turn_rows.iter().find(|turn| turn.id == id)?.clone(), why })
    });
    Ok((memories.collect(), turns.collect()))
}
