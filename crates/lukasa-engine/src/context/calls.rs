//! What a model did with memory while it answered: noted with the retrieval it was given.

use std::time::Duration;

use lukasa_core::{Caller, FactId, OperationId, RetrievalId};
use lukasa_store::context as kept;
use serde::Serialize;

use crate::Engine;

/// How often a retrieval is looked for that is itself still being noted, and how long between.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(100);

/// One call of a memory tool. It holds no words of memories: those are asked for by their ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolRun {
    pub id: String,
    pub name: String,
    /// What was looked for.
    pub query: Option<String>,
    #[serde(rename = "memory_ids")]
    pub memories: Vec<FactId>,
    #[serde(rename = "operation_id")]
    pub operation: Option<OperationId>,
    pub failed: bool,
    pub took_ms: u64,
}

impl Engine {
    /// Notes what was called, without anybody waiting for it.
    pub fn note_calls_later(&self, caller: &Caller, retrieval: RetrievalId, runs: Vec<ToolRun>) {
        let mut facts: Vec<FactId> = runs.iter().flat_map(|run| run.memories.clone()).collect();
        facts.sort_unstable();
        facts.dedup();
        let (engine, tenant, user) = (self.clone(), caller.tenant, caller.user);
        tokio::spawn(async move {
            let noted = async {
                let calls = serde_json::to_value(&runs).unwrap_or_default();
                for _ in 0..TRIES {
                    let scope = engine.store.note(tenant, user).await?;
                    if kept::note_calls(&scope, retrieval, &calls, &facts).await? {
                        return scope.commit().await;
                    }
                    drop(scope);
                    tokio::time::sleep(PAUSE).await;
                }
                Ok(())
            };
            if let Err(error) = noted.await {
                tracing::warn!(%error, "what a model called was not noted");
            }
        });
    }
}
