//! Retrieve: baseline, then dynamic, then the explanation of both.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use futures_util::try_join;
use jiff::tz::TimeZone;
use quipu_core::context::block::{self, Block, Finding, Item, LeftOut, Source};
use quipu_core::context::{Budget, is_sure_enough, may_inject, precedence, selective};
use quipu_core::detect::{Detected, Detector};
use quipu_core::recall::index::Index;
use quipu_core::recall::rank::Arm;
use quipu_core::{
    AsOf, Caller, Category, Domain, FactId, Force, Ids, Period, RetrievalId, Timestamp, Version,
    VersionId,
};
use quipu_store::context::{self as kept, Baseline};
use quipu_store::{Scope, domain, recallable, session};
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::error::{Error, Result};
use crate::facts::Point;
use crate::recall::{Filter, Mind, Recall, Recalled, Surroundings, Took, Why, is_usable};
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
    /// How long it may take; what is at hand then is the answer.
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

impl Engine {
    /// The context for a message. It does not fail because something behind it does: what could not
    /// be had is named in `degraded`.
    pub async fn retrieve(&self, caller: &Caller, ask: &Ask, moment: Moment) -> Result<Context> {
        if let Some(session) = &ask.session {
            check_session_name(session)?;
        }
        let work = self.retrieve_now(caller, ask, moment);
        let done = match tokio::time::timeout(ask.within, work).await {
            Ok(Ok(context)) => return Ok(context),
            Ok(Err(Error::Unavailable(error))) => error.to_string(),
            Ok(Err(error)) => return Err(error),
            Err(_) => "out of time".to_owned(),
        };
        tracing::warn!(reason = done, "context without the database");
        Ok(self.at_hand(caller, ask, moment))
    }

    /// What can be said without asking anybody: the baseline the session was last given here.
    pub fn at_hand(&self, caller: &Caller, ask: &Ask, moment: Moment) -> Context {
        let key = (caller.user, ask.session.clone(), wishes(ask));
        let baseline = self.given.get(&key).map(|part| (*part).clone()).unwrap_or_default();
        let mut context = empty(moment, ask);
        context.spent.baseline = baseline.tokens;
        context.frozen = !baseline.content.is_empty();
        context.baseline = baseline;
        context.degraded.push("database");
        context
    }

    async fn retrieve_now(&self, caller: &Caller, ask: &Ask, moment: Moment) -> Result<Context> {
        let (now, point) = (moment.now, ask.point.resolve(moment.now));
        let budget = Budget::of(ask.tokens, ask.window);
        let mut context = empty(moment, ask);
        let scope = self.store.read(caller.tenant, caller.user).await?;
        // All of it in one round trip; what was said last in the chat comes along.
        let (around, domains, frozen, incognito, ahead) = try_join!(
            self.around(&scope, now),
            self.domains_of(&scope, ask),
            frozen(&scope, ask),
            is_incognito(&scope, ask),
            async {
                match ask.session.is_some() && ask.point.is_now() {
                    true => self.minds.ahead(&scope).await,
                    false => Ok(None),
                }
            }
        )?;
        let mind = self.mind(&scope, &around, ahead, ask.point, now).await?;
        context.domains = domains;
        // A domain that was shut for everybody since takes its words out of every prompt.
        let shut = |kept: &Baseline| kept.domains.iter().any(|domain| around.shut.contains(domain));
        let (stale, frozen) = match frozen {
            Some(kept) if shut(&kept) => (kept.domains, None),
            other => (Vec::new(), other),
        };
        let asked = dynamic_ask(ask);
        let (rendered, changed, found) = try_join!(
            async {
                match &frozen {
                    Some(_) => Ok(None),
                    None => render(&scope, &mind, ask, &budget, point, &around).await.map(Some),
                }
            },
            async {
                match &frozen {
                    Some(kept) => {
                        changed_since(&scope, &mind, kept.rendered_at, point, &around.shut).await
                    }
                    None => Ok(Vec::new()),
                }
            },
            self.recall_with(&scope, &around, &mind, &asked, now)
        )?;
        // Given back before another is asked for: whoever holds one while waiting for a second can
        // wait for ever.
        drop(scope);
        context.frozen = frozen.is_some();
        context.baseline = match (frozen, rendered) {
            (Some(kept), _) => thawed(&kept),
            // A chat that leaves no trace has its baseline made anew each time: the same bytes, as
            // long as nobody changes what is remembered.
            (None, Some((part, _))) if incognito => part,
            (None, Some(new)) => self.freeze(caller, ask, new, &stale, &around, now).await?,
            (None, None) => Part::default(),
        };
        if ask.session.is_some() && !incognito {
            let key = (caller.user, ask.session.clone(), wishes(ask));
            self.given.insert(key, Arc::new(context.baseline.clone()));
        }
        context.spent.baseline = context.baseline.tokens;
        let left = budget.total.saturating_sub(context.baseline.tokens);
        // Who says how sure it must be has said it; otherwise what is unsure is for search only.
        let believed = |v: &Version| is_sure_enough(v, point.valid);
        let sure = |v: &Version| ask.filter.min_confidence.is_some() || believed(v);
        context.dynamic = dynamic(&found, &changed, &context.baseline, left, sure);
        context.spent.dynamic = context.dynamic.tokens;
        context.found = Place::of_all(&found);
        let Recalled { times, considered, cached, degraded, model, took, .. } = found;
        context.times = times;
        (context.considered, context.cached) = (considered, cached);
        (context.degraded, context.model, context.took) = (degraded, model, took);
        if !incognito {
            self.note_later(caller, ask, &context, around.state.removed, now);
        }
        Ok(context)
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
            rendered_at: quipu_core::time::micros(now),
        };
        let scope = self.store.write(caller.tenant, caller.user).await?;
        for domain in stale.iter().filter(|domain| around.shut.contains(domain)) {
            kept::thaw_domain(&scope, domain).await?;
        }
        let kept = kept::freeze(&scope, &new, around.state.facts).await?;
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

/// A new baseline, and the domains it quotes.
async fn render(
    scope: &Scope,
    mind: &Mind,
    ask: &Ask,
    budget: &Budget,
    point: AsOf,
    around: &Surroundings,
) -> Result<(Part, Vec<String>)> {
    let candidates = mind.with(|index| candidates(index, ask, budget, point, &around.shut));
    let versions = in_order(scope, &candidates).await?;
    let part = Part::from(block::baseline(&versions, budget));
    let facts: Vec<FactId> = part.items.iter().flat_map(Item::facts).collect();
    let quoted = versions.iter().filter(|version| facts.contains(&version.fact));
    let mut domains: Vec<String> = quoted.filter_map(|v| v.claim.domain.clone()).collect();
    domains.sort_unstable();
    domains.dedup();
    Ok((part, domains))
}

/// The versions with these ids, in this order.
async fn in_order(scope: &Scope, ids: &[(FactId, VersionId)]) -> Result<Vec<Version>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let versions = recallable::versions(scope, ids).await?;
    let mut by_id: HashMap<VersionId, Version> = versions.into_iter().map(|v| (v.id, v)).collect();
    Ok(ids.iter().filter_map(|(_, version)| by_id.remove(version)).collect())
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

/// What a baseline depends on besides the memories. Other wishes have another baseline.
fn wishes(ask: &Ask) -> String {
    let said = format!(
        "{:?} {} {:?} {:?} {:?}",
        ask.domains, ask.tokens, ask.window, ask.point, ask.filter
    );
    Sha256::digest(said.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

fn thawed(baseline: &Baseline) -> Part {
    let items = baseline.items["items"].as_array().into_iter().flatten();
    Part {
        content: baseline.content.clone(),
        nonce: baseline.nonce.clone(),
        etag: baseline.etag.clone(),
        tokens: baseline.items["tokens"]
            .as_u64()
            .and_then(|n| usize::try_from(n).ok())
            .unwrap_or(0),
        items: items.filter_map(item_from_json).collect(),
        left_out: Vec::new(),
    }
}

/// The sections a stored item can be under; anything else was written by a later edition.
const SECTIONS: [&str; 5] =
    ["Hard preferences (must be respected)", "Profile", "Current context", "Style", "Facts"];

fn item_json(item: &Item) -> serde_json::Value {
    let Source::Memory { fact, version } = &item.source else { return serde_json::Value::Null };
    json!({"mark": item.mark, "fact": fact, "version": version, "section": item.section,
           "also": item.also, "line": item.line, "tokens": item.tokens})
}

fn item_from_json(value: &serde_json::Value) -> Option<Item> {
    let text = |name: &str| value[name].as_str();
    Some(Item {
        mark: text("mark")?.to_owned(),
        source: Source::Memory {
            fact: text("fact")?.parse().ok()?,
            version: text("version")?.parse().ok()?,
        },
        also: match &value["also"] {
            // Written before a line could stand for several.
            serde_json::Value::Null => Vec::new(),
            also => serde_json::from_value(also.clone()).ok()?,
        },
        section: SECTIONS.into_iter().find(|section| Some(*section) == text("section"))?,
        line: text("line")?.to_owned(),
        tokens: value["tokens"].as_u64().and_then(|n| usize::try_from(n).ok())?,
        relevance: None,
    })
}

/// What the baseline is chosen from, in order of precedence.
fn candidates(
    index: &Index,
    ask: &Ask,
    budget: &Budget,
    point: AsOf,
    shut: &[String],
) -> Vec<(FactId, VersionId)> {
    let within = |domain: Option<&String>| match (&ask.domains, domain) {
        (Some(asked), Some(domain)) => asked.contains(domain),
        _ => true,
    };
    let mut standing: Vec<_> = (0..index.len())
        .map(|at| index.unit(at))
        .filter(|unit| is_usable(unit, point, shut))
        .filter_map(|unit| unit.facets.as_ref().map(|facets| (unit, facets)))
        .filter(|(_, facets)| within(facets.domain.as_ref()))
        .filter(|(_, facets)| {
            facets.own && facets.force == Force::Hard || may_inject(facets, point.valid)
        })
        .collect();
    standing.sort_by(|(a, af), (b, bf)| precedence(af, bf).then(b.subject.cmp(&a.subject)));
    let ids = |(unit, _): &(&quipu_core::recall::index::Unit, _)| {
        (FactId::from_uuid(unit.subject), VersionId::from_uuid(unit.source))
    };
    // Of each category no more than could fit if every line were as short as a line can be.
    let mut room: Vec<(Category, usize)> = Category::ALL
        .iter()
        .map(|category| (*category, budget.category(*category) / block::SHORTEST_LINE + 1))
        .collect();
    standing.retain(|(_, facets)| {
        let own = room.iter_mut().find(|(category, _)| *category == facets.category);
        match own {
            _ if facets.force == Force::Hard => true,
            Some((_, left)) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        }
    });
    standing.iter().map(ids).collect()
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

/// The memories that came to be known after the baseline was rendered.
async fn changed_since(
    scope: &Scope,
    mind: &Mind,
    since: Timestamp,
    point: AsOf,
    shut: &[String],
) -> Result<Vec<Version>> {
    const MOST: usize = 20;
    let mut changed: Vec<(Timestamp, FactId, VersionId)> = mind.with(|index| {
        (0..index.len())
            .map(|at| index.unit(at))
            .filter(|unit| is_usable(unit, point, shut))
            .filter_map(|unit| unit.facets.as_ref().map(|facets| (unit, facets)))
            .filter(|(_, facets)| facets.known_from > since && may_inject(facets, point.valid))
            .map(|(unit, facets)| {
                let (fact, version) =
                    (FactId::from_uuid(unit.subject), VersionId::from_uuid(unit.source));
                (facets.known_from, fact, version)
            })
            .collect()
    });
    changed.sort_unstable_by(|a, b| b.cmp(a));
    changed.truncate(MOST);
    let ids: Vec<_> = changed.iter().map(|(_, fact, version)| (*fact, *version)).collect();
    in_order(scope, &ids).await
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
