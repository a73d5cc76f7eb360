//! Asking: from a message to ranked memories and turns.

use std::sync::Arc;
use std::time::Duration;

use futures_util::{future::OptionFuture, try_join};
use jiff::tz::TimeZone;
use lukasa_core::recall::index::Index;
use lukasa_core::recall::rank::{Arm, Question, Tuning};
use lukasa_core::{
    AsOf, Caller, Category, FactId, Force, Kind, MemoryType, Period, Role, Tier, Timestamp, Turn,
    TurnId, VersionId, when,
};
use lukasa_store::passage::RecallState;
use lukasa_store::{Scope, recallable, session};

use super::look::look;
use super::{Opened, QuestionVector, RecallKey, Surroundings};
use crate::Engine;
use crate::closed_domains::closed_domains;
use crate::error::Result;
use crate::facts::{Memory, Point, as_memory};

/// How long the order waits to be improved.
const RERANK_WITHIN: Duration = Duration::from_millis(200);
/// How many candidates are reranked at most.
pub(super) const RERANKED: usize = 50;

/// Said in `degraded` of a user who has more turns than are indexed: the oldest are not found.
const OLDER_TURNS: &str = "older_turns";

/// Which memories may be found. Every absent wish lets everything through.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Filter {
    /// Any of these; memories without a domain count as belonging to none of them.
    pub domains: Option<Vec<String>>,
    pub memory_type: Option<MemoryType>,
    pub kind: Option<Kind>,
    pub category: Option<Category>,
    pub force: Option<Force>,
    pub tier: Option<Tier>,
    pub min_confidence: Option<f32>,
    /// Only turns of this session.
    pub session: Option<String>,
    /// Only turns of these roles; what the person said themselves, if absent.
    pub roles: Option<Vec<Role>>,
}

/// A question.
#[derive(Debug, Clone)]
pub struct Recall {
    pub text: String,
    pub filter: Filter,
    pub point: Point,
    /// The zone in which the person says "yesterday".
    pub zone: TimeZone,
    /// How many memories and how many turns at most.
    pub memories: usize,
    pub turns: usize,
    /// How many sessions at most.
    pub sessions: usize,
    pub tuning: Tuning,
    pub rerank: bool,
    /// Only memories that the question names: by their key or by one of their tags.
    pub precise: bool,
    /// The session it is asked in: its own turns are before everybody's eyes and not looked for, and
    /// the same question there is answered from memory for a while.
    pub session: Option<String>,
}

impl Recall {
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

/// Why something was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Why {
    pub score: f32,
    pub relevance: f32,
    pub arms: Vec<(Arm, usize, f32)>,
    pub matched: Vec<String>,
    /// Its rank before the reranker had a say, if it had one.
    pub fused_rank: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RecalledFact {
    pub memory: Memory,
    pub why: Why,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RecalledTurn {
    pub turn: Turn,
    pub why: Why,
}

#[derive(Debug, Clone, PartialEq)]
pub struct RecalledSession {
    pub session: String,
    pub score: f32,
    /// The turn that speaks most for it.
    pub best: TurnId,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Recalled {
    pub memories: Vec<RecalledFact>,
    pub turns: Vec<RecalledTurn>,
    pub sessions: Vec<RecalledSession>,
    /// The times the question speaks of, as it says them.
    pub times: Vec<(String, Period)>,
    /// What had to be done without: `embedder`, `reranker`, `older_turns`.
    pub degraded: Vec<&'static str>,
    /// The model whose vectors were compared, if any were.
    pub model: Option<String>,
    /// How many memories and turns were looked at.
    pub considered: usize,
    /// Whether it is an answer from before that still holds.
    pub cached: bool,
    pub took: Took,
}

/// Where the time went, in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Took {
    pub embed: u64,
    pub load: u64,
    pub rank: u64,
    pub rerank: u64,
    pub fetch: u64,
}

impl Engine {
    /// Finds what bears on a message.
    pub async fn recall(&self, caller: &Caller, ask: &Recall, now: Timestamp) -> Result<Recalled> {
        let mut model = self.expected_model().await;
        let mut again = true;
        loop {
            let question = self.embed_question(caller.tenant, model.as_ref(), ask).await;
            let started = (self.ticks)();
            let opened = self.open(caller, ask.point, now).await?;
            let load = (self.ticks)() - started;
            if question.wanted && opened.around.model != model && again {
                // The model was switched since: the question is embedded again, outside the
                // transaction.
                model.clone_from(&opened.around.model);
                again = false;
                continue;
            }
            let found = self.find(&opened, ask, question, now).await?;
            drop(opened);
            let mut found = self.put_in_order(ask, found).await;
            found.took.load = load;
            return Ok(found);
        }
    }

    /// What the index and the record have on a question, in the order of the index. No model is asked
    /// while the transaction is open: the question was embedded before, and the order is improved after.
    pub(crate) async fn find(
        &self,
        opened: &Opened,
        ask: &Recall,
        question: QuestionVector,
        now: Timestamp,
    ) -> Result<Unordered> {
        let Opened { scope, around, mind, .. } = opened;
        let key = ask.session.is_some().then(|| (scope.user(), digest(ask, around)));
        if let Some(kept) = key.as_ref().and_then(|key| self.recalls.get(key))
            && kept.0 == around.state
        {
            let recalled = again(&kept.1, ask.point.resolve(now));
            return Ok(Unordered { recalled, keep: None, ordered: true });
        }
        let QuestionVector { vector, failed, took: embed, .. } = question;
        let matching = vector.filter(|v| around.model.as_ref() == Some(v.embedder.model()));
        let mut degraded = Vec::new();
        if failed {
            degraded.push("embedder");
        }
        if mind.is_cut() && ask.turns + ask.sessions > 0 {
            degraded.push(OLDER_TURNS);
        }
        // Who asks about another day says "yesterday" as one would have said it then.
        let point = ask.point.resolve(now);
        let times = when::mentions(&ask.text, point.valid, &ask.zone);
        let times: Vec<_> = times.into_iter().map(|time| (time.words, time.period)).collect();
        let mut took = Took { embed, ..Took::default() };
        let started = (self.ticks)();
        let looked = {
            let (ask, around) = (ask.clone(), Arc::clone(around));
            let deep = ask.rerank && self.models.reranker().is_some();
            let periods: Vec<Period> = times.iter().map(|(_, period)| *period).collect();
            let values = matching.as_ref().map(|v| Arc::clone(&v.values));
            let work = move |index: &Index| {
                let vector = values.as_deref();
                let question = Question { text: &ask.text, vector, times: &periods };
                look(index, &question, &ask, deep, &around, now)
            };
            mind.with(&self.cpu, work).await?
        };
        took.rank = (self.ticks)() - started;
        let model = matching.as_ref().map(|v| v.embedder.model().name.clone());
        if let Some(vector) = matching.filter(|_| looked.unembedded) {
            self.fill_later(scope.tenant(), scope.user(), vector.embedder);
        }
        let started = (self.ticks)();
        let (memories, mut turns) = fetch(scope, looked.facts, looked.turns, point).await?;
        let said: Vec<Turn> = turns.iter().map(|found| found.turn.clone()).collect();
        let mut closed = closed_domains(&said, &around.shut).await.into_iter();
        turns.retain(|_| closed.next().flatten().is_none());
        took.fetch = (self.ticks)() - started;
        let recalled = Recalled {
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
        Ok(Unordered { recalled, keep: key.map(|key| (key, around.state)), ordered: false })
    }

    /// Has a reranker improve the order, if there is one and it is wanted.
    pub(crate) async fn put_in_order(&self, ask: &Recall, found: Unordered) -> Recalled {
        let Unordered { recalled: mut found, keep, ordered } = found;
        if ordered {
            return found;
        }
        let started = (self.ticks)();
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
        found.took.rerank = (self.ticks)() - started;
        found.memories.truncate(ask.memories);
        found.turns.truncate(ask.turns);
        found.degraded.dedup();
        let whole = found.degraded.iter().all(|missing| *missing == OLDER_TURNS);
        if let Some((key, state)) = keep.filter(|_| whole) {
            self.recalls.insert(key, Arc::new((state, found.clone())));
        }
        found
    }

    /// The order a reranker would put the texts in, or the order they are in.
    async fn rerank(
        &self,
        question: &str,
        texts: &[&str],
        degraded: &mut Vec<&'static str>,
    ) -> Vec<usize> {
        let as_they_are: Vec<usize> = (0..texts.len()).collect();
        let Some(reranker) = self.models.reranker().filter(|_| texts.len() > 1) else {
            return as_they_are;
        };
        let shown = &texts[..texts.len().min(RERANKED)];
        let scores =
            match tokio::time::timeout(RERANK_WITHIN, reranker.rerank(question, shown)).await {
                Ok(Ok(scores))
                    if scores.len() == shown.len() && scores.iter().all(|s| s.is_finite()) =>
                {
                    scores
                }
                other => {
                    tracing::warn!(answered = other.is_ok(), "the order was not improved");
                    degraded.push("reranker");
                    return as_they_are;
                }
            };
        let mut order: Vec<usize> = (0..shown.len()).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
        order.extend(shown.len()..texts.len());
        order
    }
}

/// What was found, before a reranker has seen it.
pub(crate) struct Unordered {
    recalled: Recalled,
    /// Under which key and for which state of the record the answer can be given again.
    keep: Option<(RecallKey, RecallState)>,
    /// Whether it is an answer from before, in its order already.
    ordered: bool,
}

/// A name for everything an answer depends on besides the memories.
fn digest(ask: &Recall, around: &Surroundings) -> [u8; 32] {
    use sha2::{Digest as _, Sha256};
    let said = format!("{ask:?} {:?} {:?}", around.model, around.shut);
    Sha256::digest(said.as_bytes()).into()
}

/// An answer from before, without what has ceased to hold since.
fn again(kept: &Recalled, point: AsOf) -> Recalled {
    let mut found = kept.clone();
    found.memories.retain(|found| found.memory.version.valid.contains(point.valid));
    (found.cached, found.took) = (true, Took::default());
    found
}

fn reordered<T>(things: Vec<T>, order: &[usize]) -> Vec<T> {
    let mut things: Vec<Option<T>> = things.into_iter().map(Some).collect();
    order.iter().filter_map(|at| things.get_mut(*at).and_then(Option::take)).collect()
}

/// The words of what was found, in the order it was found, as they stood at that point: what came to
/// be known later is not told.
async fn fetch(
    scope: &Scope,
    facts: Vec<((FactId, VersionId), Why)>,
    turns: Vec<(TurnId, Why)>,
    point: AsOf,
) -> Result<(Vec<RecalledFact>, Vec<RecalledTurn>)> {
    let versions: Vec<_> = facts.iter().map(|(ids, _)| *ids).collect();
    let said: Vec<_> = turns.iter().map(|(id, _)| id.uuid()).collect();
    let versions: OptionFuture<_> =
        (!versions.is_empty()).then(|| recallable::versions(scope, &versions)).into();
    let said: OptionFuture<_> =
        (!said.is_empty()).then(|| session::turns_by_id(scope, &said)).into();
    let (versions, said) =
        try_join!(async { versions.await.transpose() }, async { said.await.transpose() })?;
    let (versions, said) = (versions.unwrap_or_default(), said.unwrap_or_default());
    let memories = facts.into_iter().filter_map(|((_, id), why)| {
        let mut version = versions.iter().find(|version| version.id == id)?.clone();
        version.known.until = version.known.until.filter(|until| *until <= point.known);
        let memory = as_memory(&version, std::slice::from_ref(&version), point.valid);
        Some(RecalledFact { memory, why })
    });
    let turns = turns.into_iter().filter_map(|(id, why)| {
        Some(RecalledTurn { turn: said.iter().find(|turn| turn.id == id)?.clone(), why })
    });
    Ok((memories.collect(), turns.collect()))
}
