//! Retrieve: baseline, then dynamic, then the explanation of both.

use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Duration;

use futures_util::try_join;
use jiff::tz::TimeZone;
use lukasa_core::context::block::{self, Block, Finding, Item, LeftOut, Source};
use lukasa_core::context::{Budget, is_sure_enough, may_inject, selective};
use lukasa_core::detect::{Detected, Detector};
use lukasa_core::recall::index::Index;
use lukasa_core::recall::rank::Arm;
use lukasa_core::{
    AsOf, Caller, Domain, FactId, Ids, Period, RetrievalId, Timestamp, Version, VersionId,
};
use lukasa_store::context::{self as kept, Baseline};
use lukasa_store::{Scope, domain, session};
use serde_json::json;

use super::baseline::{in_order, item_json, render, thawed, wishes};
use crate::cpu::LARGE_TEXT_CHARS;
use crate::error::{Error, Result};
use crate::facts::Point;
use crate::recall::{Filter, Opened, Recall, Recalled, Surroundings, Took, Why, is_usable};
use crate::sessions::check_session_name;
use crate::{Engine, Moment};

/// What a context is asked for.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The person's message.
    pub message: String,
    /// The domains it is about; told from the message if absent.
    pub domains: Option<Vec<String>>,
    /// Whether somebody wants to know which domains it is about, if it was not said.
    pub tells_domains: bool,
    /// The session it is part of: its baseline is frozen.
    pub session: Option<String>,
    /// Whether the session's baseline stays as it is.
    pub freeze: bool,
    pub tokens: usize,
    /// The model's window, of which memory takes a share at most.
    pub window: Option<usize>,
    /// How many memories; told from the message if absent.
    pub memories: Option<usize>,
    /// How many turns of earlier sessions.
    pub turns: Option<usize>,
    pub filter: Filter,
    pub precise: bool,
    pub point: Point,
    pub zone: TimeZone,
    /// How long it may take; what is confirmed by then is the answer.
    pub within: Duration,
}

impl Ask {
    pub fn about(message: &str) -> Self {
        Self {
            message: message.to_owned(),
            domains: None,
            tells_domains: true,
            session: None,
            freeze: true,
            tokens: Budget::COMPACT,
            window: None,
            memories: None,
            turns: None,
            filter: Filter::default(),
            precise: false,
            point: Point::default(),
            zone: TimeZone::UTC,
            within: Duration::from_secs(2),
        }
    }
}

/// One part of a context.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Part {
    pub content: String,
    pub nonce: String,
    pub etag: String,
    pub tokens: usize,
    pub items: Vec<Item>,
    pub left_out: Vec<LeftOut>,
}

impl From<Block> for Part {
    fn from(block: Block) -> Self {
        let etag = block.etag();
        let Block { content, nonce, tokens, items, left_out } = block;
        Self { content, nonce, etag, tokens, items, left_out }
    }
}

/// How the budget was spent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spent {
    pub limit: usize,
    pub baseline: usize,
    pub dynamic: usize,
}

/// The way of one finding through recall: its place with every arm that knew it, when they were brought
/// together, and at last.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    pub source: Source,
    pub arms: Vec<(Arm, usize)>,
    pub fused: usize,
    pub last: usize,
}

impl Place {
    fn of(source: Source, why: &Why, at: usize) -> Self {
        let arms = why.arms.iter().map(|(arm, rank, _)| (*arm, *rank)).collect();
        Self { source, arms, fused: why.fused_rank, last: at + 1 }
    }

    fn of_all(found: &Recalled) -> Vec<Self> {
        let memories = found.memories.iter().enumerate().map(|(at, f)| {
            let Version { fact, id: version, .. } = f.memory.version;
            Self::of(Source::Memory { fact, version }, &f.why, at)
        });
        let turns = found.turns.iter().enumerate().map(|(at, f)| {
            let source = Source::Turn { turn: f.turn.id, session: f.turn.session.clone() };
            Self::of(source, &f.why, at)
        });
        memories.chain(turns).collect()
    }
}

/// What to put into the prompt, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    pub id: RetrievalId,
    pub baseline: Part,
    pub dynamic: Part,
    /// Whether the baseline is the session's own from before.
    pub frozen: bool,
    pub domains: Vec<Detected>,
    pub spent: Spent,
    pub times: Vec<(String, Period)>,
    /// What recall found for the message, memories before turns, the best first.
    pub found: Vec<Place>,
    pub considered: usize,
    pub cached: bool,
    pub degraded: Vec<&'static str>,
    pub model: Option<String>,
    pub took: Took,
}

/// Below this a memory is found, and not worth its tokens unasked.
const WORTH_RELEVANCE: f32 = 0.15;

/// What a retrieval has confirmed so far: the session's frozen baseline, read in the same round trip
/// that found the user and the state of their memory. It is what a degraded answer may contain; what was
/// read by an earlier request may have been removed since, on this server or on another.
#[derive(Debug, Clone, Default)]
pub struct Confirmed(Arc<OnceLock<Part>>);

impl Confirmed {
    /// The context of a retrieval that did not end in time.
    pub fn degraded(&self, ask: &Ask, moment: Moment, reason: &'static str) -> Context {
        let mut context = empty(moment, ask);
        context.baseline = self.0.get().cloned().unwrap_or_default();
        context.frozen = !context.baseline.content.is_empty();
        context.spent.baseline = context.baseline.tokens;
        context.degraded.push(reason);
        context
    }
}

impl Engine {
    /// The context for a message. It does not fail because something behind it does: what could not
    /// be had is named in `degraded`.
    pub async fn retrieve(&self, caller: &Caller, ask: &Ask, moment: Moment) -> Result<Context> {
        self.retrieve_confirming(caller, ask, moment, &Confirmed::default()).await
    }

    /// The same, for a caller who may not wait for the end and then takes what was confirmed.
    pub async fn retrieve_confirming(
        &self,
        caller: &Caller,
        ask: &Ask,
        moment: Moment,
        confirmed: &Confirmed,
    ) -> Result<Context> {
        if let Some(session) = &ask.session {
            check_session_name(session)?;
        }
        let work = self.retrieve_now(caller, ask, moment, confirmed);
        let reason = match tokio::time::timeout(ask.within, work).await {
            Ok(Ok(context)) => return Ok(context),
            Ok(Err(Error::Unavailable(error))) => error.to_string(),
            Ok(Err(error)) => return Err(error),
            Err(_) => "out of time".to_owned(),
        };
        tracing::warn!(reason, "context without the database");
        Ok(confirmed.degraded(ask, moment, "database"))
    }

    async fn retrieve_now(
        &self,
        caller: &Caller,
        ask: &Ask,
        moment: Moment,
        confirmed: &Confirmed,
    ) -> Result<Context> {
        let (now, asked) = (moment.now, dynamic_ask(ask));
        let mut model = self.expected_model().await;
        let mut question = self.embed_question(caller.tenant, model.as_ref(), &asked).await;
        let mut given = self.open_given(caller, ask, now, confirmed).await?;
        if question.wanted && given.opened.around.model != model {
            // The model was switched since: the question is embedded again, outside the transaction.
            model.clone_from(&given.opened.around.model);
            drop(given);
            question = self.embed_question(caller.tenant, model.as_ref(), &asked).await;
            given = self.open_given(caller, ask, now, confirmed).await?;
        }
        let Given { opened, domains, frozen, stale, incognito } = given;
        let budget = Budget::of(ask.tokens, ask.window);
        let point = ask.point.resolve(now);
        let mut context = empty(moment, ask);
        context.domains = domains;
        let (rendered, changed, found) = try_join!(
            async {
                match &frozen {
                    Some(_) => Ok(None),
                    None => render(self, &opened, ask, budget, point).await.map(Some),
                }
            },
            async {
                match &frozen {
                    Some(kept) => self.changed_since(&opened, kept.rendered_at, point).await,
                    None => Ok(Vec::new()),
                }
            },
            self.find(&opened, &asked, question, now)
        )?;
        // Given back before another is asked for: whoever holds one while waiting for a second can
        // wait for ever. And no model is asked while it is open.
        let around = Arc::clone(&opened.around);
        drop(opened);
        let found = self.put_in_order(&asked, found).await;
        context.frozen = frozen.is_some();
        context.baseline = match (frozen, rendered) {
            (Some(kept), _) => thawed(&kept),
            // A chat that leaves no trace has its baseline made anew each time: the same bytes, as
            // long as nobody changes what is remembered.
            (None, Some((part, _))) if incognito => part,
            (None, Some(new)) => self.freeze(caller, ask, new, &stale, &around, now).await?,
            (None, None) => Part::default(),
        };
        context.spent.baseline = context.baseline.tokens;
        let left = budget.total.saturating_sub(context.baseline.tokens);
        context.found = Place::of_all(&found);
        let Recalled { considered, cached, model, took, .. } = &found;
        (context.considered, context.cached) = (*considered, *cached);
        (context.model, context.took) = (model.clone(), *took);
        (context.times, context.degraded) = (found.times.clone(), found.degraded.clone());
        let large = found.memories.iter().map(|f| f.memory.version.claim.content.len());
        let large = large.chain(found.turns.iter().map(|f| f.turn.content.len())).sum::<usize>();
        let (baseline, any) = (context.baseline.clone(), ask.filter.min_confidence.is_some());
        let build = move || {
            // Who says how sure it must be has said it; otherwise what is unsure is for search only.
            let sure = |v: &Version| any || is_sure_enough(v, point.valid);
            dynamic(&found, &changed, &baseline, left, sure)
        };
        context.dynamic = self.cpu.run_if(large > LARGE_TEXT_CHARS, build).await?;
        context.spent.dynamic = context.dynamic.tokens;
        if !incognito {
            self.note_later(caller, ask, &context, around.state, now);
        }
        Ok(context)
    }

    /// Opens the user's index and reads what the session was given before. All of it in one round
    /// trip, if the index is kept here; what was said last in the chat comes along.
    async fn open_given(
        &self,
        caller: &Caller,
        ask: &Ask,
        now: Timestamp,
        confirmed: &Confirmed,
    ) -> Result<Given> {
        let (scope, permit) = self.begin_reading(caller, ask.point).await?;
        let known = async {
            let (around, frozen, incognito) = try_join!(
                self.around(&scope, now),
                frozen(&scope, ask),
                is_incognito(&scope, ask)
            )?;
            let (frozen, stale) = confirm(frozen, &around, confirmed);
            Ok((around, frozen, stale, incognito))
        };
        let ahead = async {
            match ask.session.is_some() && ask.point.is_now() {
                true => self.minds.ahead(&scope).await,
                false => Ok(None),
            }
        };
        let ((around, frozen, stale, incognito), domains, ahead) =
            try_join!(known, self.domains_of(&scope, ask), ahead)?;
        let opened = self.settle(caller, scope, permit, around, ahead, ask.point, now).await?;
        Ok(Given { opened, domains, frozen, stale, incognito })
    }

    /// Keeps a baseline for its session, if it has one that is to be frozen. Of two first messages at
    /// once, both are given the one that was kept.
    async fn freeze(
        &self,
        caller: &Caller,
        ask: &Ask,
        (part, domains): (Part, Vec<String>),
        stale: &[String],
        around: &Surroundings,
        now: Timestamp,
    ) -> Result<Part> {
        let Some(session) = ask.session.as_ref().filter(|_| ask.freeze) else { return Ok(part) };
        let new = Baseline {
            session: session.clone(),
            wishes: wishes(ask),
            etag: part.etag.clone(),
            nonce: part.nonce.clone(),
            content: part.content.clone(),
            items: json!({
                "tokens": part.tokens,
                "items": part.items.iter().map(item_json).collect::<Vec<_>>(),
            }),
            facts: part.items.iter().flat_map(Item::facts).collect(),
            domains,
            rendered_at: lukasa_core::time::micros(now),
        };
        let scope = self.store.write(caller.tenant, caller.user).await?;
        for domain in stale.iter().filter(|domain| around.shut.contains(domain)) {
            kept::thaw_domain(&scope, domain).await?;
        }
        let kept = kept::freeze(&scope, &new, around.state).await?;
        scope.commit().await?;
        Ok(kept.filter(|kept| kept.etag != new.etag).map_or(part, |kept| thawed(&kept)))
    }

    /// The domains a message is about: those that were said, or those its words speak of.
    async fn domains_of(&self, scope: &Scope, ask: &Ask) -> Result<Vec<Detected>> {
        if let Some(asked) = &ask.domains {
            let said = |name: &String| Detected { domain: name.clone(), score: 1.0, words: vec![] };
            return Ok(asked.iter().map(said).collect());
        }
        if !ask.tells_domains {
            return Ok(Vec::new());
        }
        Ok(detect(&domain::of_tenant(scope).await?, &ask.message))
    }

    /// Which domains a message is about (R186).
    pub async fn detect_domains(
        &self,
        caller: &Caller,
        message: &str,
        now: Timestamp,
    ) -> Result<Vec<Detected>> {
        let scope = self.reading(caller, now).await?;
        Ok(detect(&domain::of_tenant(&scope).await?, message))
    }
}

/// What a retrieval stands on.
struct Given {
    opened: Opened,
    domains: Vec<Detected>,
    frozen: Option<Baseline>,
    /// The domains of a frozen baseline that must not be given any more.
    stale: Vec<String>,
    incognito: bool,
}

/// A session's frozen baseline if it may still be given, or else its domains. A domain that was shut
/// since takes its words out of every prompt. What may be given is confirmed: the state of the record
/// was read in the same round trip.
fn confirm(
    frozen: Option<Baseline>,
    around: &Surroundings,
    confirmed: &Confirmed,
) -> (Option<Baseline>, Vec<String>) {
    let shut = |kept: &Baseline| kept.domains.iter().any(|domain| around.shut.contains(domain));
    match frozen {
        Some(kept) if shut(&kept) => (None, kept.domains),
        Some(kept) => {
            // Set once: a second try of the same request would read the same or a later one.
            let _ = confirmed.0.set(thawed(&kept));
            (Some(kept), Vec::new())
        }
        None => (None, Vec::new()),
    }
}

/// The baseline the session was given before, if it has one with these wishes.
async fn frozen(scope: &Scope, ask: &Ask) -> Result<Option<Baseline>> {
    match ask.session.as_ref().filter(|_| ask.freeze) {
        Some(session) => Ok(kept::find_baseline(scope, session, &wishes(ask)).await?),
        None => Ok(None),
    }
}

async fn is_incognito(scope: &Scope, ask: &Ask) -> Result<bool> {
    match &ask.session {
        Some(id) => Ok(session::is_incognito(scope, id).await?),
        None => Ok(false),
    }
}

fn detect(domains: &[Domain], message: &str) -> Vec<Detected> {
    static BUILTIN: LazyLock<Detector> = LazyLock::new(Detector::builtin);
    if domains.iter().all(|domain| domain.builtin) {
        return BUILTIN.detect(message);
    }
    BUILTIN.clone().with_domains(domains).detect(message)
}

fn empty(moment: Moment, ask: &Ask) -> Context {
    let budget = Budget::of(ask.tokens, ask.window);
    Context {
        id: Ids::new(moment.now, moment.seed).retrieval(),
        baseline: Part::default(),
        dynamic: Part::default(),
        frozen: false,
        domains: Vec::new(),
        spent: Spent { limit: budget.total, ..Spent::default() },
        times: Vec::new(),
        found: Vec::new(),
        considered: 0,
        cached: false,
        degraded: Vec::new(),
        model: None,
        took: Took::default(),
    }
}

/// What is asked of recall for the dynamic part.
fn dynamic_ask(ask: &Ask) -> Recall {
    let calls_for = selective::wanted(&ask.message);
    let mut filter = ask.filter.clone();
    filter.domains.clone_from(&ask.domains);
    Recall {
        memories: ask.memories.unwrap_or(calls_for),
        turns: ask.turns.unwrap_or(calls_for.min(5)),
        filter,
        point: ask.point,
        zone: ask.zone.clone(),
        precise: ask.precise,
        session: ask.session.clone(),
        ..Recall::about(&ask.message)
    }
}

impl Engine {
    /// The memories that came to be known after the baseline was rendered.
    async fn changed_since(
        &self,
        opened: &Opened,
        since: Timestamp,
        point: AsOf,
    ) -> Result<Vec<Version>> {
        const MOST: usize = 20;
        let around = Arc::clone(&opened.around);
        let find = move |index: &Index| {
            let usable = (0..index.len())
                .map(|at| index.unit(at))
                .filter(|unit| is_usable(unit, point, &around.shut));
            let mut changed: Vec<(Timestamp, FactId, VersionId)> = usable
                .filter_map(|unit| unit.facets.as_ref().map(|facets| (unit, facets)))
                .filter(|(_, facets)| facets.known_from > since && may_inject(facets, point.valid))
                .map(|(unit, facets)| {
                    let (fact, version) =
                        (FactId::from_uuid(unit.subject), VersionId::from_uuid(unit.source));
                    (facets.known_from, fact, version)
                })
                .collect();
            changed.sort_unstable_by(|a, b| b.cmp(a));
            changed.truncate(MOST);
            changed
        };
        let changed = opened.mind.with(&self.cpu, find).await?;
        let ids: Vec<_> = changed.iter().map(|(_, fact, version)| (*fact, *version)).collect();
        in_order(&opened.scope, &ids).await
    }
}

/// The dynamic part: changes first, then what was found and is worth its tokens and not there yet.
fn dynamic(
    found: &Recalled,
    changed: &[Version],
    baseline: &Part,
    left: usize,
    sure: impl Fn(&Version) -> bool,
) -> Part {
    let given: Vec<FactId> = baseline.items.iter().flat_map(Item::facts).collect();
    let mut left_out = Vec::new();
    let mut findings = Vec::new();
    for f in &found.memories {
        let version = &f.memory.version;
        let source = Source::Memory { fact: version.fact, version: version.id };
        let leave = |reason: &'static str| LeftOut {
            source: source.clone(),
            reason,
            relevance: Some(f.why.relevance),
        };
        if given.contains(&version.fact) {
            left_out.push(leave("in the baseline already"));
        } else if !sure(version) {
            left_out.push(leave("not sure enough"));
        } else if f.why.relevance < WORTH_RELEVANCE {
            left_out.push(leave("not relevant enough"));
        } else {
            findings.push(Finding::Memory(version, f.why.relevance));
        }
    }
    for f in &found.turns {
        if f.why.relevance < WORTH_RELEVANCE {
            let source = Source::Turn { turn: f.turn.id, session: f.turn.session.clone() };
            let relevance = Some(f.why.relevance);
            left_out.push(LeftOut { source, reason: "not relevant enough", relevance });
        } else {
            findings.push(Finding::Turn(&f.turn, f.why.relevance));
        }
    }
    let mut part = Part::from(block::dynamic(changed, &findings, left, baseline.items.len()));
    part.left_out.extend(left_out);
    part
}
