//! Records of retrievals, written after the response and kept for a limited time.

use futures_util::try_join;
use lukasa_core::context::block::PromptLine;
use lukasa_core::job::{Task, next_upkeep};
use lukasa_core::{Caller, FactId, JobId, Timestamp};
use lukasa_store::context as kept;
use lukasa_store::passage::RecallState;
use lukasa_store::{Batch, directory, job};
use serde_json::json;

use super::Contexts;
use super::retrieve::{Context, ContextRequest, ResultRanks};

/// Maximum number of concurrent writes.
pub(crate) const MAX_CONCURRENT_RETRIEVAL_WRITES: usize = 4;

impl Contexts {
    /// Records a retrieval in the background.
    pub(super) fn record_retrieval_later(
        &self,
        caller: &Caller,
        ask: &ContextRequest,
        context: &Context,
        state: RecallState,
        now: Timestamp,
    ) {
        let mut facts: Vec<FactId> =
            context.baseline.items.iter().flat_map(PromptLine::facts).collect();
        facts.extend(context.dynamic.items.iter().flat_map(PromptLine::facts));
        facts.sort_unstable();
        facts.dedup();
        let new = kept::Retrieval {
            id: context.id,
            session: ask.session.clone(),
            at: lukasa_core::time::micros(now),
            etag: Some(context.baseline.etag.clone()).filter(|etag| !etag.is_empty()),
            dynamic: context.dynamic.content.clone(),
            trace: trace(context, ask.session.is_some()),
            facts,
        };
        let (contexts, tenant, user) = (self.clone(), caller.tenant, caller.user);
        let job = JobId::from_uuid(context.id.uuid());
        tokio::spawn(async move {
            // The semaphore is never closed, so acquiring a permit cannot fail.
            let _permit = contexts.retrieval_writes.acquire().await;
            let written = async {
                let scope = contexts.parts.store.write_lossy(tenant, user).await?;
                // Rows with limited retention need an upkeep job that removes them.
                let ((), unattended) = try_join!(
                    kept::insert_retrieval(&scope, &new, state),
                    directory::set_looked_after(&scope, true)
                )?;
                if unattended {
                    let mut batch = Batch::default();
                    let due = next_upkeep(user, new.at);
                    job::queue_sole(&mut batch, &scope, job, &Task::Upkeep, due, new.at);
                    scope.run(&batch).await?;
                }
                scope.commit().await
            };
            if let Err(error) = written.await {
                tracing::warn!(%error, "could not record a retrieval");
            }
        });
    }
}

/// Trace of a retrieval: which memories, why and how long it took; no text of the message.
fn trace(context: &Context, in_session: bool) -> serde_json::Value {
    let item = |item: &PromptLine| {
        json!({"mark": item.mark, "source": item.source, "also": item.also, "section": item.section,
               "tokens": item.tokens, "relevance": item.relevance})
    };
    let found = |place: &ResultRanks| {
        let arms = place.arms.iter().map(|(arm, rank)| json!({"arm": arm.as_str(), "rank": rank}));
        json!({"source": place.source, "arms": arms.collect::<Vec<_>>(),
               "fused_rank": place.fused, "rank": place.last})
    };
    // Outside of a session nothing is cached, so there is nothing to count.
    let cache =
        in_session.then(|| json!({"hits": context.cache.hits, "misses": context.cache.misses}));
    json!({
        "baseline": context.baseline.items.iter().map(item).collect::<Vec<_>>(),
        "dynamic": context.dynamic.items.iter().map(item).collect::<Vec<_>>(),
        "left_out": context.baseline.left_out.iter().chain(&context.dynamic.left_out).collect::<Vec<_>>(),
        "budget": {"limit": context.spent.limit, "window": context.spent.window,
                   "baseline": context.spent.baseline, "dynamic": context.spent.dynamic,
                   "cost_micros": context.spent.cost_micros},
        "cache": cache,
        "found": context.found.iter().map(found).collect::<Vec<_>>(),
        "considered": context.considered,
        "degraded": context.degraded,
        "micros": {"embed": context.took.embed, "load": context.took.load, "rank": context.took.rank,
                   "fetch": context.took.fetch, "rerank": context.took.rerank},
    })
}
