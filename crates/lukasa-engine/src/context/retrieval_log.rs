//! Records of retrievals, written after the response and kept for a limited time.

use futures_util::try_join;
use lukasa_core::context::block::PromptLine;
use lukasa_core::job::{Task, next_upkeep};
use lukasa_core::{Caller, FactId, JobId, Timestamp};
use lukasa_store::context as kept;
use lukasa_store::passage::RecallState;
use lukasa_store::{Batch, directory, job};

use super::Contexts;
use super::retrieve::{Context, ContextRequest};
use super::trace::{self, trace_line};

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
        let etag = Some(context.baseline.etag.clone()).filter(|etag| !etag.is_empty());
        let given = etag.clone().map(|etag| kept::GivenBaseline {
            etag,
            items: context.baseline.items.iter().map(trace_line).collect(),
            facts: facts_of(&context.baseline.items),
        });
        let new = kept::Retrieval {
            id: context.id,
            session: ask.session.clone(),
            at: lukasa_core::time::micros(now),
            etag,
            dynamic: context.dynamic.content.clone(),
            trace: trace::pack(context, ask.session.is_some(), ask.preview),
            facts: facts_of(&context.dynamic.items),
            baseline: serde_json::Value::Null,
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
                    kept::insert_retrieval(&scope, &new, given.as_ref(), state),
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

/// The facts of these lines, each once.
fn facts_of(lines: &[PromptLine]) -> Vec<FactId> {
    let mut facts: Vec<FactId> = lines.iter().flat_map(PromptLine::facts).collect();
    facts.sort_unstable();
    facts.dedup();
    facts
}
