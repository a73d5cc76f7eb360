//! Memory tool calls made by a model while it answered, stored with the retrieval it was given.

use std::time::Duration;

use lukasa_core::{Caller, FactId, OperationId, RetrievalId};
use lukasa_store::context as kept;
use lukasa_text::screen::secret;
use serde::Serialize;

use super::Contexts;

/// How often, and at which interval, to look for a retrieval that is itself still being written.
const MAX_ATTEMPTS: u32 = 50;
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// One call of a memory tool. It holds no content of memories, only their ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolRun {
    pub id: String,
    pub name: String,
    /// The search query. Stored with its secrets masked.
    pub query: Option<String>,
    #[serde(rename = "memory_ids")]
    pub memories: Vec<FactId>,
    #[serde(rename = "operation_id")]
    pub operation: Option<OperationId>,
    pub failed: bool,
    pub took_ms: u64,
}

impl Contexts {
    /// Records tool calls in the background.
    pub fn record_tool_calls_later(
        &self,
        caller: &Caller,
        retrieval: RetrievalId,
        mut runs: Vec<ToolRun>,
    ) {
        for query in runs.iter_mut().filter_map(|run| run.query.as_mut()) {
            if let Some(masked) = secret::mask(query) {
                *query = masked;
            }
        }
        let mut facts: Vec<FactId> = runs.iter().flat_map(|run| run.memories.clone()).collect();
        facts.sort_unstable();
        facts.dedup();
        let Some(permit) = self.log.late_write() else { return };
        let (contexts, tenant, user) = (self.clone(), caller.tenant, caller.user);
        tokio::spawn(async move {
            let _permit = permit;
            let written = async {
                let calls = serde_json::to_value(&runs).unwrap_or_default();
                for _ in 0..MAX_ATTEMPTS {
                    let scope = contexts.parts.store.write_lossy(tenant, user).await?;
                    if kept::append_calls(&scope, retrieval, &calls, &facts).await? {
                        return scope.commit().await;
                    }
                    drop(scope);
                    tokio::time::sleep(RETRY_DELAY).await;
                }
                Ok(())
            };
            if let Err(error) = written.await {
                tracing::warn!(%error, "could not record the tool calls of a model");
            }
        });
    }
}
