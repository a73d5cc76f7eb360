//! Inputs of a retrieval, all read in one snapshot: the user's state and index, the session's frozen
//! baseline, and whether memory may be used at all.

use std::sync::Arc;

use futures_util::try_join;
use jiff::tz::TimeZone;
use lukasa_core::{Caller, Timestamp};
use lukasa_store::Scope;
use lukasa_store::context as stored;
use lukasa_text::detect::DetectedDomain;

use super::Contexts;
use super::baseline::part_from_baseline;
use super::retrieve::{ConfirmedContext, ContextPart, ContextRequest};
use crate::detector::detect_with;
use crate::error::Result;
use crate::recall::{OpenedIndex, RecallContext, RecallQuery};
use crate::zone::remembered_zone;

/// Inputs of a retrieval.
pub(super) struct RetrievalInputs {
    pub(super) opened: OpenedIndex,
    pub(super) domains: Vec<DetectedDomain>,
    pub(super) frozen: Option<FrozenBaseline>,
    /// The domains of a frozen baseline that must no longer be used.
    pub(super) stale: Vec<String>,
    pub(super) incognito: bool,
    /// Whether the user has paused memory.
    pub(super) paused: bool,
    /// The remembered time zone, if the request names none.
    pub(super) zone: Option<TimeZone>,
}

/// A session's frozen baseline, and its lines read from their stored form.
pub(super) struct FrozenBaseline {
    pub(super) kept: stored::Baseline,
    pub(super) part: Arc<ContextPart>,
}

impl Contexts {
    /// Opens the user's index and reads the session's frozen baseline. If the index is cached, this
    /// is one round trip, which also prefetches new turns. If a large index must be loaded and others
    /// are being loaded, everything is read again after the wait: something may have been removed, or
    /// memory may have been paused meanwhile.
    pub(super) async fn open_inputs(
        &self,
        caller: &Caller,
        ask: &ContextRequest,
        query: &RecallQuery,
        now: Timestamp,
        confirmed: &ConfirmedContext,
    ) -> Result<RetrievalInputs> {
        let mut load = None;
        loop {
            let (scope, permit) = self.recall.begin_reading(caller, ask.point).await?;
            let known = async {
                let (opening, frozen) = try_join!(
                    self.recall.load_recall_context(&scope, query, now),
                    find_frozen(&scope, ask)
                )?;
                // A paused memory is in no prompt, not even in that of a degraded answer.
                let frozen = frozen.filter(|_| !opening.is_paused);
                let (frozen, stale) = usable(frozen, &opening.ctx);
                confirmed.set(frozen.as_ref().map(|frozen| Arc::clone(&frozen.part)));
                Ok((opening, frozen, stale))
            };
            let prefetched = async {
                match ask.session.is_some() && ask.point.is_now() {
                    true => self.recall.prefetch(&scope).await,
                    false => Ok(None),
                }
            };
            let zone = async {
                match ask.zone.is_none() && !ask.point.is_now() {
                    true => remembered_zone(&scope, now).await,
                    false => Ok(None),
                }
            };
            let ((opening, frozen, stale), prefetched, zone) = try_join!(known, prefetched, zone)?;
            let domains = domains_of(&opening.own_domains, ask);
            let (ctx, permits) = (opening.ctx, (permit, load.take()));
            let opened =
                self.recall.open_index(scope, permits, ctx, prefetched, ask.point, now).await?;
            let Some(opened) = opened else {
                load = Some(self.recall.load_permit().await);
                continue;
            };
            let zone = match ask.zone.is_none() && ask.point.is_now() {
                true => self.recall.zone_in_index(&opened, now).await?,
                false => zone,
            };
            let (incognito, paused) = (opening.is_incognito, opening.is_paused);
            return Ok(RetrievalInputs { opened, domains, frozen, stale, incognito, paused, zone });
        }
    }
}

/// The domains a message is about: the given ones, or those detected from its words.
fn domains_of(own: &[(String, String)], ask: &ContextRequest) -> Vec<DetectedDomain> {
    if let Some(asked) = &ask.domains {
        let as_given =
            |name: &String| DetectedDomain { domain: name.clone(), score: 1.0, words: vec![] };
        return asked.iter().map(as_given).collect();
    }
    let own = own.iter().map(|(name, displayed)| (name.as_str(), displayed.as_str()));
    detect_with(own.collect(), &ask.message)
}

/// A session's frozen baseline if it may still be used, or else its domains. Memories of a domain
/// that was closed since must not be in any prompt.
fn usable(
    frozen: Option<stored::Baseline>,
    ctx: &RecallContext,
) -> (Option<FrozenBaseline>, Vec<String>) {
    let closed = |kept: &stored::Baseline| {
        kept.domains.iter().any(|domain| ctx.closed_domains.contains(domain))
    };
    match frozen {
        Some(kept) if closed(&kept) => (None, kept.domains),
        // It was rendered before the session was opened, and with it its project.
        Some(kept) if kept.project.as_ref() != ctx.projects.project() => (None, Vec::new()),
        Some(kept) => {
            let part = Arc::new(part_from_baseline(&kept));
            (Some(FrozenBaseline { kept, part }), Vec::new())
        }
        None => (None, Vec::new()),
    }
}

/// The session's frozen baseline, if there is one for these options.
async fn find_frozen(scope: &Scope, ask: &ContextRequest) -> Result<Option<stored::Baseline>> {
    match ask.session.as_ref().filter(|_| ask.freeze) {
        Some(session) => Ok(stored::find_baseline(scope, session, &ask.baseline_key()?).await?),
        None => Ok(None),
    }
}
