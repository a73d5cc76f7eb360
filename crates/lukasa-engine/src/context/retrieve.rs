//! Retrieve: the baseline, the dynamic part, and the explanation of both.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::try_join;
use jiff::tz::TimeZone;
use lukasa_core::context::block::{Block, DynamicInput, LeftOut, LineSource, PromptLine};
use lukasa_core::context::{Budget, RuleConflict, is_sure_enough, may_inject};
use lukasa_core::note::is_withheld;
use lukasa_core::recall::Degraded;
use lukasa_core::recall::index::Index;
use lukasa_core::recall::rank::Arm;
use lukasa_core::{
    AsOf, Caller, Claim, FactId, Ids, Period, Project, RetrievalId, Timestamp, Version, VersionId,
};
use lukasa_store::context::{self as kept, Baseline};
use lukasa_store::domain;
use lukasa_text::detect::DetectedDomain;
use tracing::Instrument as _;

use super::Contexts;
use super::baseline::{
    DomainRules, earlier_claims, lines_to_json, part_from_baseline, rules_of_domains,
};
use super::baseline_cache::RenderedBaseline;
use super::budget_use::BudgetUse;
use super::dynamic::{dynamic, dynamic_ask};
use super::inputs::RetrievalInputs;
use super::portraits::domain_sentences;
use crate::admission::{INLINE_CHARS, check_project_name, check_session_name};
use crate::cpu::LARGE_TEXT_CHARS;
use crate::detector::{Filing, detector_of, file};
use crate::error::{Error, Result};
use crate::memory::Point;
use crate::recall::{
    CacheUse, Filter, OpenedIndex, RecallContext, RecallResult, RecallTimings, ResultExplanation,
    is_usable,
};
use crate::request::Moment;
use crate::telemetry::{record_degraded, retrieval_span};

/// Request for a context.
#[derive(Debug, Clone)]
pub struct ContextRequest {
    /// The user's message.
    pub message: String,
    /// The domains it is about; detected from the message if absent.
    pub domains: Option<Vec<String>>,
    /// The session it is part of: its baseline is frozen.
    pub session: Option<String>,
    /// Whether the session's baseline is frozen and reused.
    pub freeze: bool,
    pub tokens: usize,
    /// The model's context window, of which memory takes only a share.
    pub window: Option<usize>,
    /// How many memories; derived from the message if absent.
    pub memories: Option<usize>,
    /// How many turns of earlier sessions.
    pub turns: Option<usize>,
    /// How many episodes of earlier sessions.
    pub episodes: Option<usize>,
    pub filter: Filter,
    pub precise: bool,
    pub point: Point,
    /// The user's time zone; the remembered one if absent, or UTC.
    pub zone: Option<TimeZone>,
    /// Timeout; what is confirmed by then is the answer.
    pub within: Duration,
    /// The project it is about; that of the session if absent.
    pub project: Option<Project>,
    /// Whether it only shows what a prompt would contain: such a retrieval is not counted, and freezes
    /// no baseline.
    pub preview: bool,
}

impl ContextRequest {
    pub fn about(message: &str) -> Self {
        Self {
            message: message.to_owned(),
            domains: None,
            session: None,
            freeze: true,
            tokens: Budget::COMPACT,
            window: None,
            memories: None,
            turns: None,
            episodes: None,
            filter: Filter::default(),
            precise: false,
            point: Point::default(),
            zone: None,
            within: Duration::from_secs(2),
            project: None,
            preview: false,
        }
    }
}

/// One part of a context.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContextPart {
    pub content: String,
    pub nonce: String,
    pub etag: String,
    pub tokens: usize,
    pub items: Vec<PromptLine>,
    pub left_out: Vec<LeftOut>,
    /// The rules that the message, or another line, is against.
    pub conflicts: Vec<RuleConflict>,
}

impl From<Block> for ContextPart {
    fn from(block: Block) -> Self {
        let etag = block.etag();
        let Block { content, nonce, tokens, items, left_out, conflicts } = block;
        Self { content, nonce, etag, tokens, items, left_out, conflicts }
    }
}

/// Ranks of one result in recall: with every arm that found it, after fusion, and at the end.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultRanks {
    pub source: LineSource,
    pub arms: Vec<(Arm, usize)>,
    pub fused: usize,
    pub last: usize,
}

impl ResultRanks {
    fn of(source: LineSource, why: &ResultExplanation, at: usize) -> Self {
        let arms = why.arms.iter().map(|(arm, rank, _)| (*arm, *rank)).collect();
        Self { source, arms, fused: why.fused_rank, last: at + 1 }
    }

    fn of_all(found: &RecallResult) -> Vec<Self> {
        let memories = found.memories.iter().enumerate().map(|(at, f)| {
            let Version { fact, id: version, .. } = f.memory.version;
            Self::of(LineSource::Memory { fact, version }, &f.why, at)
        });
        let turns = found.turns.iter().enumerate();
        let turns = turns.map(|(at, f)| Self::of(LineSource::from(&f.turn), &f.why, at));
        let episodes = found.episodes.iter().enumerate();
        let episodes = episodes.map(|(at, f)| Self::of(LineSource::from(&f.episode), &f.why, at));
        memories.chain(turns).chain(episodes).collect()
    }
}

/// The blocks for the prompt, with their explanation.
#[derive(Debug, Clone, PartialEq)]
pub struct Context {
    pub id: RetrievalId,
    pub baseline: ContextPart,
    pub dynamic: ContextPart,
    /// Whether the baseline is the session's frozen one.
    pub frozen: bool,
    pub domains: Vec<DetectedDomain>,
    pub spent: BudgetUse,
    pub times: Vec<(String, Period)>,
    /// What recall found for the message: memories, turns and episodes, the best first.
    pub found: Vec<ResultRanks>,
    pub considered: usize,
    /// Whether anything was searched: the message needs memories, and no earlier search of the same
    /// conversation was used again.
    pub searched: bool,
    pub cached: bool,
    pub cache: CacheUse,
    /// Whether memory was paused, so that nothing of the conversation is to be stored either.
    pub paused: bool,
    /// What was unavailable or skipped.
    pub degraded: Vec<Degraded>,
    pub model: Option<String>,
    pub took: RecallTimings,
}

impl Context {
    /// A context without any memory.
    pub fn empty(ask: &ContextRequest, moment: Moment) -> Self {
        let budget = Budget::of(ask.tokens, ask.window);
        Self {
            id: Ids::new(moment.now, moment.seed).retrieval(),
            baseline: ContextPart::default(),
            dynamic: ContextPart::default(),
            frozen: false,
            domains: Vec::new(),
            spent: BudgetUse { limit: budget.total, window: ask.window, ..BudgetUse::default() },
            times: Vec::new(),
            found: Vec::new(),
            considered: 0,
            searched: false,
            cached: false,
            cache: CacheUse::default(),
            paused: false,
            degraded: Vec::new(),
            model: None,
            took: RecallTimings::default(),
        }
    }
}

/// What a retrieval has confirmed so far: the session's frozen baseline, read in the same round
/// trip as the user and the state of their memory. Only this may be in a degraded answer: what an
/// earlier request read may have been removed since, on this server or on another.
#[derive(Debug, Clone, Default)]
pub struct ConfirmedContext(Arc<Mutex<Option<Arc<ContextPart>>>>);

impl ConfirmedContext {
    /// Replaces what was confirmed before: a retrieval that reads its inputs again has read a later
    /// state.
    pub(super) fn set(&self, baseline: Option<Arc<ContextPart>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = baseline;
    }

    /// The context of a retrieval that the database did not answer in time.
    pub fn degraded(&self, ask: &ContextRequest, moment: Moment) -> Context {
        let mut context = Context::empty(ask, moment);
        let baseline = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        context.baseline = baseline.map(Arc::unwrap_or_clone).unwrap_or_default();
        context.frozen = !context.baseline.content.is_empty();
        context.spent.baseline = context.baseline.tokens;
        context.degraded.push(Degraded::Database);
        context
    }
}

impl Contexts {
    /// The context for a message. It does not fail because a dependency does: what was unavailable
    /// is named in `degraded`.
    pub async fn retrieve(
        &self,
        caller: &Caller,
        ask: &ContextRequest,
        moment: Moment,
    ) -> Result<Context> {
        self.retrieve_confirming(caller, ask, moment, &ConfirmedContext::default()).await
    }

    /// The same, for a caller that may stop waiting and then use what was confirmed.
    pub async fn retrieve_confirming(
        &self,
        caller: &Caller,
        ask: &ContextRequest,
        moment: Moment,
        confirmed: &ConfirmedContext,
    ) -> Result<Context> {
        if let Some(session) = &ask.session {
            check_session_name(session)?;
        }
        check_project_name(ask.project.as_ref())?;
        let work = self.retrieve_now(caller, ask, moment, confirmed).instrument(retrieval_span());
        let reason = match tokio::time::timeout(ask.within, work).await {
            Ok(Ok(context)) => return Ok(context),
            Ok(Err(Error::Unavailable(error))) => error.to_string(),
            Ok(Err(error)) => return Err(error),
            Err(_) => "timed out".to_owned(),
        };
        tracing::warn!(reason, "database unavailable; context is degraded");
        record_degraded(Degraded::Database);
        Ok(confirmed.degraded(ask, moment))
    }

    async fn retrieve_now(
        &self,
        caller: &Caller,
        ask: &ContextRequest,
        moment: Moment,
        confirmed: &ConfirmedContext,
    ) -> Result<Context> {
        let (now, mut asked) = (moment.now, dynamic_ask(ask));
        let mut model = self.recall.expected_model().await;
        let mut question = self.recall.embed_question(caller.tenant, model.as_ref(), &asked).await;
        let mut inputs = self.open_inputs(caller, ask, &asked, now, confirmed).await?;
        if question.wanted && inputs.opened.ctx.model != model {
            // The model was switched since: embed the question again, outside the transaction.
            model.clone_from(&inputs.opened.ctx.model);
            drop(inputs);
            question = self.recall.embed_question(caller.tenant, model.as_ref(), &asked).await;
            inputs = self.open_inputs(caller, ask, &asked, now, confirmed).await?;
        }
        if inputs.paused {
            return Ok(Context { paused: true, ..Context::empty(ask, moment) });
        }
        let needs_search = question.wanted;
        let RetrievalInputs { opened, domains, frozen, stale, incognito, zone, .. } = inputs;
        asked.zone = ask.zone.clone().or(zone);
        let budget = Budget::of(ask.tokens, ask.window);
        let point = ask.point.resolve(now);
        let mut context = Context::empty(ask, moment);
        context.domains = domains;
        let named: Vec<String> = context.domains.iter().map(|found| found.domain.clone()).collect();
        let (parts, recall) = (&self.parts, &self.recall);
        let ((rendered, rules, portraits), changed, found) = try_join!(
            async {
                let rendered = match &frozen {
                    Some(_) => None,
                    None => Some(self.render_baseline(&opened, ask, budget, point).await?),
                };
                let shown = match (&frozen, &rendered) {
                    (Some(frozen), _) => frozen.kept.facts.clone(),
                    (None, Some(new)) => {
                        new.part.items.iter().flat_map(PromptLine::facts).collect()
                    }
                    (None, None) => Vec::new(),
                };
                // What the baseline does not show of the domains of the message. Like all of this, it
                // does not wait for the search.
                let tokens = budget.total;
                let (domains, given) = (named.clone(), shown.clone());
                let (rules, portraits) = try_join!(
                    rules_of_domains(parts, recall, &opened, domains, given, tokens, point),
                    domain_sentences(parts, recall, &opened, ask, &named, &shown, point)
                )?;
                Ok::<_, Error>((rendered, rules, portraits))
            },
            async {
                match &frozen {
                    Some(frozen) => {
                        self.changed_since(&opened, frozen.kept.rendered_at, point).await
                    }
                    None => Ok(Vec::new()),
                }
            },
            self.recall.find(&opened, &asked, question, now)
        )?;
        let DomainRules { rules, left_out: rules_left_out } = rules;
        let listed = found.versions().chain(&changed).chain(&rules);
        let listed = listed.chain(portraits.iter().flat_map(|portrait| &portrait.memories));
        let earlier = earlier_claims(&opened.scope, listed).await?;
        // Release the connection before another is requested: holding one while waiting for a
        // second can deadlock. And no model may be called while it is open.
        let ctx = Arc::clone(&opened.ctx);
        drop(opened);
        let found = self.recall.apply_reranker(&asked, found).await;
        context.frozen = frozen.is_some();
        let baseline = match (frozen, rendered) {
            (Some(frozen), _) => frozen.part,
            // An incognito session has its baseline rendered each time: the same bytes, as long as
            // the memories do not change.
            (None, Some(new)) if incognito => new.part,
            (None, Some(new)) => self.freeze(caller, ask, new, &stale, &ctx, now).await?,
            (None, None) => Arc::default(),
        };
        context.spent.baseline = baseline.tokens;
        let left = budget.total.saturating_sub(baseline.tokens);
        context.found = ResultRanks::of_all(&found);
        let RecallResult { considered, cached, cache, model, took, .. } = &found;
        (context.considered, context.cached, context.cache) = (*considered, *cached, *cache);
        context.searched = needs_search && !cached;
        (context.model, context.took) = (model.clone(), *took);
        (context.times, context.degraded) = (found.times.clone(), found.degraded.clone());
        let large = found.memories.iter().map(|f| f.memory.version.claim.content.len());
        let large = large.chain(found.turns.iter().map(|f| f.turn.content.len()));
        let large = large.chain(found.episodes.iter().map(|f| f.episode.summary.len()));
        let large = large.sum::<usize>();
        let any = ask.filter.min_confidence.is_some();
        let (message, given) = (ask.message.clone(), Arc::clone(&baseline));
        let build = move || {
            // An explicit minimum confidence decides; otherwise uncertain memories are for search
            // only.
            let sure = |v: &Version| any || is_sure_enough(v, point.valid);
            let input = DynamicInput {
                rules: &rules,
                changed: &changed,
                baseline: &given.items,
                message: &message,
                earlier: Some(&earlier),
                found: &[],
                portraits: &portraits,
            };
            dynamic(&found, input, left, point.valid, sure)
        };
        context.dynamic = self.parts.cpu.run_if(large > LARGE_TEXT_CHARS, build).await?;
        context.dynamic.left_out.extend(rules_left_out);
        context.baseline = Arc::unwrap_or_clone(baseline);
        context.spent.dynamic = context.dynamic.tokens;
        context.spent.set_cost(self.parts.models.as_ref());
        if !incognito {
            self.record_retrieval_later(caller, ask, &context, ctx.state, now);
        }
        Ok(context)
    }

    /// Stores a baseline for its session, if there is a session and it is to be frozen. Two
    /// concurrent first messages both get the one that was stored. A preview stores nothing.
    async fn freeze(
        &self,
        caller: &Caller,
        ask: &ContextRequest,
        rendered: RenderedBaseline,
        stale: &[String],
        ctx: &RecallContext,
        now: Timestamp,
    ) -> Result<Arc<ContextPart>> {
        let RenderedBaseline { part, domains } = rendered;
        let session = ask.session.as_ref().filter(|_| ask.freeze && !ask.preview);
        let Some(session) = session else { return Ok(part) };
        let new = Baseline {
            session: session.clone(),
            wishes: ask.baseline_key()?,
            etag: part.etag.clone(),
            nonce: part.nonce.clone(),
            content: part.content.clone(),
            items: lines_to_json(&part),
            facts: part.items.iter().flat_map(PromptLine::facts).collect(),
            domains: domains.to_vec(),
            project: ctx.projects.project().cloned(),
            rendered_at: lukasa_core::time::micros(now),
        };
        let scope = self.parts.store.write_as(caller).await?;
        for domain in stale.iter().filter(|domain| ctx.closed_domains.contains(domain)) {
            kept::remove_baselines_of_domain(&scope, domain).await?;
        }
        let (_, kept) = try_join!(
            kept::remove_baseline_of_other_project(&scope, &new),
            kept::freeze(&scope, &new, ctx.state)
        )?;
        scope.commit().await?;
        let is_other = |kept: &Baseline| kept.etag != new.etag && kept.project == new.project;
        Ok(kept.filter(is_other).map_or(part, |kept| Arc::new(part_from_baseline(&kept))))
    }

    /// Detects the domains a message is about (R186), and the one that a memory of these words is
    /// filed under if that is clear and open.
    pub async fn detect_domains(
        &self,
        caller: &Caller,
        message: &str,
        now: Timestamp,
    ) -> Result<(Vec<DetectedDomain>, Option<String>)> {
        let scope = self.transactions.read(caller, now).await?;
        let (domains, closed) =
            try_join!(domain::of_tenant(&scope), domain::closed_domains(&scope))?;
        let claim = Claim::saying(message);
        let detect = move || {
            let detector = detector_of(&domains);
            let filed = match file(&detector, &closed, &claim) {
                Filing::Under(name) => Some(name),
                Filing::Closed(_) | Filing::Unclear => None,
            };
            (detector.detect(&claim.content), filed)
        };
        self.parts.cpu.run_if(message.len() > INLINE_CHARS, detect).await
    }
}

impl Contexts {
    /// The memories that became known after the baseline was rendered.
    async fn changed_since(
        &self,
        opened: &OpenedIndex,
        since: Timestamp,
        point: AsOf,
    ) -> Result<Vec<Version>> {
        const MAX_CHANGED: usize = 20;
        let ctx = Arc::clone(&opened.ctx);
        let find = move |index: &Index| {
            let usable = index.current_facts().filter(|unit| is_usable(index, unit, point, &ctx));
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
            changed.truncate(MAX_CHANGED);
            changed
        };
        let changed = opened.user_index.with(&self.parts.cpu, find).await?;
        let ids: Vec<_> = changed.iter().map(|(_, fact, version)| (*fact, *version)).collect();
        let mut versions = self.recall.versions(opened, &ids).await?;
        versions.retain(|version| !is_withheld(version));
        Ok(versions)
    }
}
