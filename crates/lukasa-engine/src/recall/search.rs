//! Search: from a question to ranked memories, turns and episodes.

use std::sync::Arc;
use std::time::Duration;

use futures_util::try_join;
use jiff::tz::TimeZone;
use lukasa_core::learning::explicit;
use lukasa_core::recall::Degraded;
use lukasa_core::recall::index::Index;
use lukasa_core::recall::rank::{Arm, RankQuery, Tuning};
use lukasa_core::{
    AsOf, Caller, Category, FactId, Force, Kind, MemoryType, Period, ProjectScope, Role, Tier,
    Timestamp, Turn, TurnId, Version, VersionId,
};
use lukasa_store::passage::RecallState;
use lukasa_store::{Scope, fact, session};
use lukasa_text::when;

use super::Recall;
use super::episodes::{RecalledEpisode, fetch_episodes};
use super::lookup::{TurnMatch, lookup};
use super::{OpenedIndex, QuestionVector, RecallKey};
use crate::closed_domains::closed_domains;
use crate::error::Result;
use crate::memory::{Memory, Point, as_memory};
use crate::telemetry::{record_recall, stage_span};
use crate::transcript::find_retracted;

/// How long a request waits for the reranker.
const RERANK_TIMEOUT: Duration = Duration::from_millis(200);
/// Maximum number of reranked candidates.
pub(super) const MAX_RERANKED: usize = 50;

/// Filter of the results. An absent field matches everything.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Any of these; memories and episodes without a domain match none of them.
    pub domains: Option<Vec<String>>,
    pub memory_type: Option<MemoryType>,
    pub kind: Option<Kind>,
    pub category: Option<Category>,
    pub force: Option<Force>,
    pub tier: Option<Tier>,
    pub min_confidence: Option<f32>,
    /// Only turns and episodes of this session.
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
    /// The time zone in which "yesterday" is resolved; the remembered one if absent, or UTC.
    pub zone: Option<TimeZone>,
    /// How many memories and how many turns at most.
    pub memories: usize,
    pub turns: usize,
    /// How many sessions at most.
    pub sessions: usize,
    /// How many episodes at most.
    pub episodes: usize,
    pub tuning: Tuning,
    pub rerank: bool,
    /// Only memories that the question names by their key or by one of their tags.
    pub precise: bool,
    /// The session it is asked in: its own turns are already visible and not searched, and the same
    /// question in it is answered from a cache for a while.
    pub session: Option<String>,
    /// The projects it is about; those of the session that is searched or asked in if absent.
    pub projects: Option<ProjectScope>,
}

impl RecallQuery {
    pub fn about(text: &str) -> Self {
        Self {
            text: text.to_owned(),
            filter: Filter::default(),
            point: Point::default(),
            zone: None,
            memories: 10,
            turns: 0,
            sessions: 0,
            episodes: 0,
            tuning: Tuning::default(),
            rerank: true,
            precise: false,
            session: None,
            projects: None,
        }
    }

    /// The session whose project the question is about, if it names no project.
    pub(crate) fn session_in_scope(&self) -> Option<&str> {
        self.filter.session.as_deref().or(self.session.as_deref())
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
    /// Since when its words no longer hold, if a memory learned from it was changed or removed: it is
    /// found, and not quoted in prompts.
    pub outdated_since: Option<Timestamp>,
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
    pub episodes: Vec<RecalledEpisode>,
    /// The times the question mentions: the words, and the period they mean.
    pub times: Vec<(String, Period)>,
    /// What was unavailable or skipped.
    pub degraded: Vec<Degraded>,
    /// The embedding model used, if any.
    pub model: Option<String>,
    /// Number of memories, turns and episodes considered.
    pub considered: usize,
    /// Whether it is a cached result.
    pub cached: bool,
    pub cache: CacheUse,
    pub took: RecallTimings,
}

/// How many of the memories that were found came from the cache of the conversation, and how many
/// did not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CacheUse {
    pub hits: usize,
    pub misses: usize,
}

impl RecallResult {
    /// Records it in the metrics.
    fn record(&self) {
        let RecallTimings { embed, rank, rerank, fetch, .. } = self.took;
        let stages = [("embed", embed), ("rank", rank), ("rerank", rerank), ("fetch", fetch)];
        record_recall(self.cached, &stages, &self.degraded);
    }
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
    /// Finds the memories, turns and episodes relevant to a question.
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
            let opened = self.open(caller, ask, now).await?;
            let load = (self.parts.ticks)() - started;
            if question.wanted && opened.ctx.model != model && again {
                // The model was switched since: embed the question again, outside the transaction.
                model.clone_from(&opened.ctx.model);
                again = false;
                continue;
            }
            let zone = self.zone_of_question(&opened, ask, now).await?;
            let ask = RecallQuery { zone, ..ask.clone() };
            let found = self.find(&opened, &ask, question, now).await?;
            drop(opened);
            let mut found = self.apply_reranker(&ask, found).await;
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
        let conversations = &self.caches.conversations;
        let kept = key.as_ref().and_then(|key| conversations.find(key, ctx.state, now));
        if let Some(kept) = kept {
            let recalled = reuse(kept, ask.point.resolve(now));
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
        let zone = ask.zone.clone().unwrap_or(TimeZone::UTC);
        let times = when::mentions(&ask.text, point.valid, &zone);
        let times: Vec<_> = times.into_iter().map(|time| (time.words, time.period)).collect();
        let mut took = RecallTimings { embed, ..RecallTimings::default() };
        let (started, span) = ((self.parts.ticks)(), stage_span("rank"));
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
        drop(span);
        let model = matching.as_ref().map(|v| v.embedder.model().name.clone());
        if let Some(vector) = matching.filter(|_| looked.unembedded) {
            self.embeddings.fill_later(scope.tenant(), scope.user(), vector.embedder, now);
        }
        let (started, span) = ((self.parts.ticks)(), stage_span("fetch"));
        // A version of the past has another end of its known period than the current one.
        let session = ask.session.as_deref().filter(|_| ask.point.is_now());
        let given = conversations.results(scope.user(), session);
        let cached = |id| given.memory(id, ctx.state, now).cloned();
        let ((versions, cache), mut turns, episodes) = try_join!(
            self.fetch_versions(opened, &looked.facts, cached),
            fetch_turns(scope, looked.turns),
            fetch_episodes(
                scope,
                looked.episodes,
                ask.episodes,
                &ask.filter,
                &ctx.closed_domains,
                now
            )
        )?;
        let memories = recalled_facts(looked.facts, &versions, point);
        let found_turns: Vec<Turn> = turns.iter().map(|found| found.turn.clone()).collect();
        let mut closed = closed_domains(&found_turns, &ctx.closed_domains).await.into_iter();
        // A request to forget something names it.
        let asks = move || found_turns.iter().map(explicit::asks_to_forget).collect::<Vec<_>>();
        let asks = match turns.is_empty() {
            true => Vec::new(),
            false => tokio::task::spawn_blocking(asks).await.unwrap_or_default(),
        };
        let mut asks = asks.into_iter();
        turns.retain(|_| closed.next().flatten().is_none() && !asks.next().unwrap_or(true));
        took.fetch = (self.parts.ticks)() - started;
        drop(span);
        let recalled = RecallResult {
            memories,
            turns,
            sessions: looked.sessions,
            episodes,
            times,
            degraded,
            model,
            considered: looked.considered,
            cached: false,
            cache,
            took,
        };
        Ok(UnrankedRecall { recalled, keep: key.map(|key| (key, ctx.state, now)), ordered: false })
    }

    /// The versions with these ids: those that the conversation was given, and the others.
    async fn fetch_versions(
        &self,
        opened: &OpenedIndex,
        facts: &[((FactId, VersionId), ResultExplanation)],
        given: impl Fn(VersionId) -> Option<Version>,
    ) -> Result<(Vec<Version>, CacheUse)> {
        let mut versions: Vec<Version> =
            facts.iter().filter_map(|((_, id), _)| given(*id)).collect();
        let hits = versions.len();
        let is_missing = |id: &VersionId| versions.iter().all(|version| version.id != *id);
        let missing = facts.iter().map(|(ids, _)| *ids).filter(|(_, id)| is_missing(id));
        let missing: Vec<(FactId, VersionId)> = missing.collect();
        versions.extend(self.versions(opened, &missing).await?);
        Ok((versions, CacheUse { hits, misses: missing.len() }))
    }

    /// Reranks the results, if a reranker is configured and requested.
    pub(crate) async fn apply_reranker(
        &self,
        ask: &RecallQuery,
        found: UnrankedRecall,
    ) -> RecallResult {
        let UnrankedRecall { recalled: mut found, keep, ordered } = found;
        if ordered {
            found.record();
            return found;
        }
        if ask.rerank && self.parts.models.reranker().is_some() {
            let (started, span) = ((self.parts.ticks)(), stage_span("rerank"));
            let lines = found.memories.iter().map(|found| &found.memory.version.claim.content);
            let lines: Vec<&str> = lines.map(String::as_str).collect();
            let order = self.rerank(&ask.text, &lines, &mut found.degraded).await;
            found.memories = reordered(found.memories, &order);
            let lines = found.turns.iter().map(|found| found.turn.content.as_str());
            let lines: Vec<&str> = lines.collect();
            let order = self.rerank(&ask.text, &lines, &mut found.degraded).await;
            found.turns = reordered(found.turns, &order);
            found.took.rerank = (self.parts.ticks)() - started;
            drop(span);
        }
        found.memories.truncate(ask.memories);
        found.turns.truncate(ask.turns);
        found.degraded.dedup();
        let whole = found.degraded.iter().all(|missing| *missing == Degraded::OlderTurns);
        if let Some((key, state, now)) = keep.filter(|_| whole) {
            self.caches.conversations.keep(key, state, &found, now);
        }
        found.record();
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
    /// Cache key of the result, the state of the record it is valid for, and when it was fetched.
    keep: Option<(RecallKey, RecallState, Timestamp)>,
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
fn reuse(mut found: RecallResult, point: AsOf) -> RecallResult {
    found.memories.retain(|found| found.memory.version.valid.contains(point.valid));
    (found.cached, found.took) = (true, RecallTimings::default());
    found.cache = CacheUse { hits: found.memories.len(), misses: 0 };
    found
}

fn reordered<T>(things: Vec<T>, order: &[usize]) -> Vec<T> {
    let mut things: Vec<Option<T>> = things.into_iter().map(Some).collect();
    order.iter().filter_map(|at| things.get_mut(*at).and_then(Option::take)).collect()
}

/// The memories of the results, in their order and as known at that point: what became known later
/// is not included.
fn recalled_facts(
    facts: Vec<((FactId, VersionId), ResultExplanation)>,
    versions: &[Version],
    point: AsOf,
) -> Vec<RecalledFact> {
    let memories = facts.into_iter().filter_map(|((_, id), why)| {
        let mut version = versions.iter().find(|version| version.id == id)?.clone();
        version.known.until = version.known.until.filter(|until| *until <= point.known);
        let memory = as_memory(&version, std::slice::from_ref(&version), point.valid);
        Some(RecalledFact { memory, why })
    });
    memories.collect()
}

/// Loads the turns of the results, in their order.
async fn fetch_turns(scope: &Scope, turns: Vec<TurnMatch>) -> Result<Vec<RecalledTurn>> {
    if turns.is_empty() {
        return Ok(Vec::new());
    }
    let ids: Vec<TurnId> = turns.iter().map(|found| found.id).collect();
    let rows: Vec<_> = ids.iter().map(|id| id.uuid()).collect();
    let (rows, following, forgotten) = try_join!(
        session::turns_by_id(scope, &rows),
        session::next_user_turns(scope, &rows),
        fact::forgotten_turns(scope, &ids)
    )?;
    let retracted = find_retracted(rows.clone(), following).await;
    // The words of a forgotten memory are not quoted from the turn where they were said.
    let turns = turns.into_iter().filter(|found| !forgotten.contains(&found.id.to_string()));
    let turns = turns.filter(|found| !retracted.contains(&found.id));
    let turns = turns.filter_map(|TurnMatch { id, why, outdated_since }| {
        let turn = rows.iter().find(|turn| turn.id == id)?.clone();
        Some(RecalledTurn { turn, why, outdated_since })
    });
    Ok(turns.collect())
}
