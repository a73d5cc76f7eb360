//! Asking: from a message to ranked memories and turns.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{future::OptionFuture, try_join};
use jiff::tz::TimeZone;
use quipu_core::fade::Belief;
use quipu_core::model::Embedder;
use quipu_core::recall::index::{Index, Unit};
use quipu_core::recall::passage::Kind as Of;
use quipu_core::recall::rank::{Arm, Found, FoundSession, Question, Ranking, Sight, Tuning, rank};
use quipu_core::{
    AsOf, Caller, Category, FactId, Force, Kind, MemoryType, Names, Period, Role, Tier, Timestamp,
    Turn, TurnId, VersionId, when,
};
use quipu_store::{Scope, directory, domain, model, passage, recallable, session};
use uuid::Uuid;

use super::{Fresh, Mind, Surroundings, at};
use crate::Engine;
use crate::closed_domains::closed_domains;
use crate::error::{Error, Result};
use crate::facts::{Memory, Point, as_memory};

/// How long a question waits for its embedding.
const EMBED_WITHIN: Duration = Duration::from_millis(400);
/// How long the order waits to be improved.
const RERANK_WITHIN: Duration = Duration::from_millis(200);
/// How many candidates are reranked at most.
const RERANKED: usize = 50;

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
    /// What had to be done without: `embedder`, `reranker`.
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
        let scope = self.store.read(caller.tenant, caller.user).await?;
        let around = self.around(&scope, now).await?;
        let started = (self.ticks)();
        let mind = self.mind(&scope, &around, None, ask.point, now).await?;
        let load = (self.ticks)() - started;
        let mut found = self.recall_with(&scope, &around, &mind, ask, now).await?;
        found.took.load = load;
        Ok(found)
    }

    /// What must be known before anything is read, in one round trip: is the user still there, how far
    /// has the record come, which model is in use, which domains are shut.
    pub(crate) async fn around(&self, scope: &Scope, now: Timestamp) -> Result<Surroundings> {
        let (user, state, model, shut) = try_join!(
            directory::me(scope),
            passage::state(scope),
            model::in_use(scope),
            domain::shut_ones(scope)
        )?;
        if user.is_some_and(|user| user.is_gone(now)) {
            return Err(Error::UserGone);
        }
        self.embedding.believe(model.as_ref(), now);
        Ok(Surroundings { state, model, shut })
    }

    pub(crate) async fn recall_with(
        &self,
        scope: &Scope,
        around: &Surroundings,
        mind: &Mind,
        ask: &Recall,
        now: Timestamp,
    ) -> Result<Recalled> {
        let mut took = Took::default();
        let mut degraded = Vec::new();
        let key = ask.session.is_some().then(|| (scope.user(), digest(ask, around)));
        if let Some(kept) = key.as_ref().and_then(|key| self.recalls.get(key))
            && kept.0 == around.state.revision
        {
            return Ok(again(&kept.1, ask.point.resolve(now)));
        }
        let wants_any = ask.memories + ask.turns + ask.sessions > 0;
        let vector = match wants_any {
            true => self.embed_question(around, &ask.text, &mut degraded).await,
            false => None,
        };
        let embedder = vector.as_ref().map(|(embedder, ..)| Arc::clone(embedder));
        let values = vector.as_ref().map(|(_, values, _)| values.as_slice());
        took.embed = vector.as_ref().map_or(0, |(_, _, took)| *took);
        // Who asks about another day says "yesterday" as one would have said it then.
        let then = ask.point.resolve(now).valid;
        let times = when::mentions(&ask.text, then, &ask.zone);
        let times: Vec<_> = times.into_iter().map(|time| (time.words, time.period)).collect();
        let periods: Vec<Period> = times.iter().map(|(_, period)| *period).collect();
        let question = Question { text: &ask.text, vector: values, times: &periods };
        let started = (self.ticks)();
        let deep = ask.rerank && self.models.reranker().is_some();
        let looked = mind.with(|index| look(index, &question, ask, deep, around, now));
        took.rank = (self.ticks)() - started;
        if let Some(embedder) = embedder.filter(|_| looked.unembedded) {
            self.fill_later(scope.tenant(), scope.user(), embedder);
        }
        let started = (self.ticks)();
        let (mut memories, mut turns) =
            fetch(scope, looked.facts, looked.turns, ask.point.resolve(now)).await?;
        let said: Vec<Turn> = turns.iter().map(|found| found.turn.clone()).collect();
        let mut closed = closed_domains(&said, &around.shut).await.into_iter();
        turns.retain(|_| closed.next().flatten().is_none());
        took.fetch = (self.ticks)() - started;
        let started = (self.ticks)();
        if ask.rerank {
            let lines = memories.iter().map(|found| found.memory.version.claim.content.clone());
            let lines: Vec<String> = lines.collect();
            let order = self.rerank(&ask.text, &lines, &mut degraded).await;
            memories = reordered(memories, &order);
            let lines: Vec<String> = turns.iter().map(|found| found.turn.content.clone()).collect();
            let order = self.rerank(&ask.text, &lines, &mut degraded).await;
            turns = reordered(turns, &order);
        }
        took.rerank = (self.ticks)() - started;
        memories.truncate(ask.memories);
        turns.truncate(ask.turns);
        let model = values.and(around.model.as_ref()).map(|model| model.name.clone());
        degraded.dedup();
        let (considered, sessions) = (looked.considered, looked.sessions);
        let cached = false;
        let found = Recalled {
            memories,
            turns,
            sessions,
            times,
            degraded,
            model,
            considered,
            cached,
            took,
        };
        if let Some(key) = key.filter(|_| found.degraded.is_empty()) {
            self.recalls.insert(key, Arc::new((around.state.revision, found.clone())));
        }
        Ok(found)
    }

    pub(crate) async fn mind(
        &self,
        scope: &Scope,
        around: &Surroundings,
        ahead: Option<Fresh>,
        point: Point,
        now: Timestamp,
    ) -> Result<Arc<Mind>> {
        if point.is_now() {
            return self.minds.of(scope, around, ahead).await;
        }
        Ok(Arc::new(at(scope, around, point.resolve(now)).await?))
    }

    /// The question's embedding, if there is a model and it answers in time.
    async fn embed_question(
        &self,
        around: &Surroundings,
        text: &str,
        degraded: &mut Vec<&'static str>,
    ) -> Option<(Arc<dyn Embedder>, Vec<f32>, u64)> {
        let model = around.model.as_ref()?;
        if text.trim().is_empty() {
            return None;
        }
        let started = (self.ticks)();
        let asked = async {
            let embedder = self.open_model(model).await?;
            let key = (model.name.clone(), text.to_owned());
            if let Some(values) = self.questions.get(&key) {
                return Ok((embedder, values));
            }
            let texts = [text];
            let mut vectors = embedder.embed(&texts).await?;
            let values = vectors.pop().filter(|values| values.len() == model.dimension);
            let values = values.ok_or_else(|| {
                let what = "not one vector of the right length".to_owned();
                quipu_core::model::ModelError::Malformed(what)
            })?;
            let values: Arc<[f32]> = values.into();
            self.questions.insert(key, Arc::clone(&values));
            Ok::<_, quipu_core::model::ModelError>((embedder, values))
        };
        match tokio::time::timeout(EMBED_WITHIN, asked).await {
            Ok(Ok((embedder, values))) => {
                return Some((embedder, values.to_vec(), (self.ticks)() - started));
            }
            Ok(Err(error)) => tracing::warn!(%error, "recall without vectors"),
            Err(_) => tracing::warn!("recall without vectors: the embedder is slow"),
        }
        degraded.push("embedder");
        None
    }

    /// The order a reranker would put the texts in, or the order they are in.
    async fn rerank(
        &self,
        question: &str,
        texts: &[String],
        degraded: &mut Vec<&'static str>,
    ) -> Vec<usize> {
        let as_they_are: Vec<usize> = (0..texts.len()).collect();
        let Some(reranker) = self.models.reranker().filter(|_| texts.len() > 1) else {
            return as_they_are;
        };
        let shown: Vec<&str> = texts.iter().take(RERANKED).map(String::as_str).collect();
        let scores =
            match tokio::time::timeout(RERANK_WITHIN, reranker.rerank(question, &shown)).await {
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

/// What a look at the index found, by ids.
struct Looked {
    facts: Vec<((FactId, VersionId), Why)>,
    turns: Vec<(TurnId, Why)>,
    sessions: Vec<RecalledSession>,
    considered: usize,
    unembedded: bool,
}

fn look(
    index: &Index,
    question: &Question<'_>,
    ask: &Recall,
    deep: bool,
    around: &Surroundings,
    now: Timestamp,
) -> Looked {
    let point = ask.point.resolve(now);
    let there = |unit: &Unit| is_usable(unit, point, &around.shut);
    // With a reranker behind, more are fetched than are asked for.
    let deeper = |count: usize| if deep && count > 0 { count.max(RERANKED) } else { count };
    let (memories, turns) = (deeper(ask.memories), deeper(ask.turns));
    let mut facts = Ranking::default();
    if memories > 0 {
        let named = ask.precise.then(|| named(index, question.text, &there));
        let may = |unit: &Unit| {
            ask.filter.lets(unit) && named.as_ref().is_none_or(|n| n.contains_key(&unit.source))
        };
        let sight = Sight { there: &there, among: &|_| true, may: &may };
        facts = rank(index, question, Of::Fact, &ask.tuning, &sight, memories);
        // A name may be written so that no word of it matches; it is named all the same.
        let found: Vec<usize> = facts.found.iter().map(|found| found.unit).collect();
        let missed = named.into_iter().flatten().filter(|(_, (unit, _))| !found.contains(unit));
        let missed = missed.filter(|(_, (unit, _))| ask.filter.lets(index.unit(*unit)));
        let as_found = |(_, (unit, name)): (Uuid, (usize, String))| Found {
            unit,
            score: 0.0,
            relevance: 1.0,
            arms: Vec::new(),
            matched: vec![name],
        };
        facts.found.extend(missed.map(as_found));
    }
    let mut said = Ranking::default();
    if turns > 0 || ask.sessions > 0 {
        let session = ask.filter.session.as_deref().map(|name| index.session_number(name));
        let of_role = |unit: &Unit| {
            unit.turn.is_some_and(|turn| match &ask.filter.roles {
                Some(roles) => roles.contains(&turn.role),
                None => turn.role == Role::User,
            })
        };
        // What was said in the chat that asks is before its eyes already, unless it asks for just that.
        let here = ask.session.as_deref().and_then(|name| index.session_number(name));
        let may = |unit: &Unit| match session {
            Some(session) => unit.session == session,
            None => here.is_none() || unit.session != here,
        };
        // In somebody's first chat there is nothing else to find.
        let finds = |unit: &Unit| of_role(unit) && may(unit);
        let sight = Sight { there: &there, among: &of_role, may: &may };
        if (0..index.len()).any(|at| finds(index.unit(at))) {
            said = rank(index, question, Of::Turn, &ask.tuning, &sight, turns);
        }
    }
    let session = |found: &FoundSession| RecalledSession {
        session: index.session_name(found.session).to_owned(),
        score: found.score,
        best: TurnId::from_uuid(index.unit(found.best).source),
    };
    let sessions = said.sessions.iter().take(ask.sessions).map(session).collect();
    let facts = facts.found.into_iter().enumerate().map(|(rank, found)| {
        let unit = index.unit(found.unit);
        let ids = (FactId::from_uuid(unit.subject), VersionId::from_uuid(unit.source));
        (ids, why(found, rank))
    });
    let turns =
        said.found.into_iter().enumerate().map(|(rank, found)| {
            (TurnId::from_uuid(index.unit(found.unit).source), why(found, rank))
        });
    Looked {
        facts: facts.collect(),
        turns: turns.collect(),
        sessions,
        considered: (0..index.len()).filter(|at| there(index.unit(*at))).count(),
        unembedded: around.model.is_some() && index.without_vector() > 0,
    }
}

/// The memories that a text names, and those they point to: by their versions, with the name. What
/// merely points to something named is not meant.
fn named(
    index: &Index,
    text: &str,
    there: &dyn Fn(&Unit) -> bool,
) -> BTreeMap<Uuid, (usize, String)> {
    let standing = (0..index.len()).filter(|at| there(index.unit(*at)));
    let names = standing.filter_map(|at| {
        let facets = index.unit(at).facets.as_ref()?;
        Some((at, facets.names.iter().map(String::as_str)))
    });
    let names = Names::new(names);
    let mut found = BTreeMap::new();
    for one in names.named_in(text) {
        for linked in index.points_to(index.unit(one.index).subject) {
            if there(index.unit(linked)) {
                let entry = found.entry(index.unit(linked).source);
                entry.or_insert_with(|| (linked, one.name.to_owned()));
            }
        }
        found.insert(index.unit(one.index).source, (one.index, one.name.to_owned()));
    }
    found
}

fn why(found: Found, rank: usize) -> Why {
    Why {
        score: found.score,
        relevance: found.relevance,
        arms: found.arms,
        matched: found.matched,
        fused_rank: rank + 1,
    }
}

/// Whether a memory stands at a point in time and in a domain that is open. Turns always do: they
/// were said.
pub(crate) fn is_usable(unit: &Unit, point: AsOf, shut: &[String]) -> bool {
    let Some(facets) = &unit.facets else { return unit.turn.is_some() };
    let valid = facets.valid_from <= point.valid
        && facets.valid_until.is_none_or(|until| until > point.valid);
    let faded = Belief::from(facets).is_archived(point.valid);
    valid && !faded && facets.domain.as_ref().is_none_or(|domain| !shut.contains(domain))
}

impl Filter {
    pub(crate) fn lets(&self, unit: &Unit) -> bool {
        let Some(facets) = &unit.facets else { return true };
        let domain = facets.domain.as_ref();
        self.domains.as_ref().is_none_or(|asked| domain.is_some_and(|d| asked.contains(d)))
            && self.memory_type.is_none_or(|wanted| facets.memory_type == wanted)
            && self.kind.is_none_or(|wanted| facets.kind == wanted)
            && self.category.is_none_or(|wanted| facets.category == wanted)
            && self.force.is_none_or(|wanted| facets.force == wanted)
            && self.tier.is_none_or(|wanted| facets.tier == wanted)
            && self.min_confidence.is_none_or(|least| facets.confidence >= least)
    }
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
