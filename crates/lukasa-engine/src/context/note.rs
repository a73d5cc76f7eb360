//! The record of what was given: noted behind the answer, for as long as somebody may ask.

use futures_util::try_join;
use lukasa_core::context::block::{Item, LeftOut, Source};
use lukasa_core::job::next_upkeep;
use lukasa_core::{Caller, FactId, JobId, JobKind, Timestamp};
use lukasa_store::context as kept;
use lukasa_store::passage::RecallState;
use lukasa_store::{Batch, directory, job};
use serde_json::json;

use super::retrieve::{Ask, Context, Place};
use crate::Engine;

/// How many are written at a time.
pub(crate) const NOTES_AT_ONCE: usize = 4;

impl Engine {
    /// Notes what was given, without anybody waiting for it.
    pub(super) fn note_later(
        &self,
        caller: &Caller,
        ask: &Ask,
        context: &Context,
        state: RecallState,
        now: Timestamp,
    ) {
        let mut facts: Vec<FactId> = context.baseline.items.iter().flat_map(Item::facts).collect();
        facts.extend(context.dynamic.items.iter().flat_map(Item::facts));
        facts.sort_unstable();
        facts.dedup();
        let new = kept::Retrieval {
            id: context.id,
            session: ask.session.clone(),
            at: lukasa_core::time::micros(now),
            etag: Some(context.baseline.etag.clone()).filter(|etag| !etag.is_empty()),
            dynamic: context.dynamic.content.clone(),
            trace: trace(context),
            facts,
        };
        let (engine, tenant, user) = (self.clone(), caller.tenant, caller.user);
        let job = JobId::from_uuid(context.id.uuid());
        tokio::spawn(async move {
            // Never closed, so a place is always to be had.
            let _place = engine.noting.acquire().await;
            let noted = async {
                let scope = engine.store.note(tenant, user).await?;
                // What is kept for a while needs somebody to let go of it.
                let ((), unattended) = try_join!(
                    kept::note(&scope, &new, state),
                    directory::look_after(&scope, true)
                )?;
                if unattended {
                    let mut batch = Batch::default();
                    job::queue_sole(
                        &mut batch,
                        &scope,
                        job,
                        JobKind::Upkeep,
                        next_upkeep(user, new.at),
                        new.at,
                    );
                    scope.run(&batch).await?;
                }
                scope.commit().await
            };
            if let Err(error) = noted.await {
                tracing::warn!(%error, "a retrieval was not noted");
            }
        });
    }
}

/// What is kept of a retrieval: which memories, why and how long it took; no words of the message.
fn trace(context: &Context) -> serde_json::Value {
    let source = |source: &Source| match source {
        Source::Memory { fact, version } => json!({"memory_id": fact, "version_id": version}),
        Source::Turn { turn, session } => json!({"turn_id": turn, "session_id": session}),
    };
    let item = |item: &Item| {
        json!({"mark": item.mark, "source": source(&item.source), "also": item.also, "section": item.section,
               "tokens": item.tokens, "relevance": item.relevance})
    };
    let left = |left: &LeftOut| json!({"source": source(&left.source), "reason": left.reason, "relevance": left.relevance});
    let found = |place: &Place| {
        let arms = place.arms.iter().map(|(arm, rank)| json!({"arm": arm.as_str(), "rank": rank}));
        json!({"source": source(&place.source), "arms": arms.collect::<Vec<_>>(),
               "fused_rank": place.fused, "rank": place.last})
    };
    json!({
        "baseline": context.baseline.items.iter().map(item).collect::<Vec<_>>(),
        "dynamic": context.dynamic.items.iter().map(item).collect::<Vec<_>>(),
        "left_out": context.baseline.left_out.iter().chain(&context.dynamic.left_out).map(left).collect::<Vec<_>>(),
        "budget": {"limit": context.spent.limit, "baseline": context.spent.baseline, "dynamic": context.spent.dynamic},
        "found": context.found.iter().map(found).collect::<Vec<_>>(),
        "considered": context.considered,
        "degraded": context.degraded,
        "micros": {"embed": context.took.embed, "load": context.took.load, "rank": context.took.rank,
                   "fetch": context.took.fetch, "rerank": context.took.rerank},
    })
}
