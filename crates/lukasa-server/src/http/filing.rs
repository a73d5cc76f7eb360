//! Filing: suggests domains for the memories that have none, and files memories under domains.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use lukasa_core::FactId;
use lukasa_engine::facts::FilingSuggestions;
use lukasa_engine::{Error, Outcome};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::App;
use crate::api::auth::{Reader, Writer};
use crate::api::error::Problem;
use crate::api::request::JsonRequest;
use crate::api::wire::{MemoryEvent, MemoryView, WriteResult};

/// A domain suggested for a memory.
#[derive(Debug, Serialize, ToSchema)]
pub struct SuggestedDomain {
    memory_id: String,
    #[schema(example = "travel")]
    domain: String,
}

/// The domains suggested for the memories that have none.
#[derive(Debug, Serialize, ToSchema)]
pub struct FilingSuggestionsView {
    /// At most 1,000 memories, the latest first. Memories that are clearly about no domain are left
    /// out.
    data: Vec<SuggestedDomain>,
    /// The domains that are not open and that further memories are about. None is suggested for a
    /// memory until the user opens it.
    closed: Vec<String>,
}

impl From<FilingSuggestions> for FilingSuggestionsView {
    fn from(suggestions: FilingSuggestions) -> Self {
        let suggested = suggestions.suggested.into_iter();
        let view = |(fact, domain): (FactId, String)| SuggestedDomain {
            memory_id: fact.to_string(),
            domain,
        };
        Self {
            data: suggested.map(view).collect(),
            closed: suggestions.closed.into_iter().collect(),
        }
    }
}

/// Suggest domains for the memories that have none.
///
/// By the words of each active memory, as `POST /api/domains/detect` does. Nothing is changed.
#[utoipa::path(get, path = "/api/memory/filing", tag = "memory", responses(
    (status = 200, body = FilingSuggestionsView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn suggest_filing(
    State(app): State<App>,
    Reader(caller): Reader,
) -> Result<Json<FilingSuggestionsView>, Problem> {
    Ok(Json(app.engine().facts.suggest_filing(&caller, app.now()).await?.into()))
}

/// The domain of one memory.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FiledMemory {
    memory_id: String,
    /// Null for none.
    #[schema(example = "travel")]
    domain: Option<String>,
}

/// Memories, each with its domain.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FileMemories {
    /// 1 to 1,000 memories, each once.
    memories: Vec<FiledMemory>,
}

impl FileMemories {
    fn filed(self) -> Result<BTreeMap<FactId, Option<String>>, Error> {
        let mut filed = BTreeMap::new();
        for FiledMemory { memory_id, domain } in self.memories {
            let id: Result<FactId, _> = memory_id.parse();
            let id = id.map_err(|_| Error::invalid("memories", "ids of memories"))?;
            if filed.insert(id, domain).is_some() {
                return Err(Error::invalid("memories", "each memory once"));
            }
        }
        Ok(filed)
    }
}

/// Result of filing.
#[derive(Debug, Serialize, ToSchema)]
pub struct FiledView {
    event: MemoryEvent,
    #[schema(example = "Filed: 12")]
    message: String,
    /// The memories that were moved, as they are now.
    memories: Vec<MemoryView>,
}

impl From<&Outcome> for FiledView {
    fn from(outcome: &Outcome) -> Self {
        let WriteResult { event, message, .. } = WriteResult::from(outcome);
        Self { event, message, memories: outcome.memories.iter().map(MemoryView::from).collect() }
    }
}

/// File memories under domains.
///
/// Moves the memories to these domains as one operation that can be undone. Their words, who said them
/// and how certain they are stay as they are. Memories that are there already or were removed since are
/// left as they are. Only the user may file.
#[utoipa::path(post, path = "/api/memory/filing", tag = "memory", request_body = FileMemories, responses(
    (status = 200, body = FiledView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn file_memories(
    State(app): State<App>,
    Writer(caller): Writer,
    sent: JsonRequest<FileMemories>,
) -> Result<Json<FiledView>, Problem> {
    let request = sent.request(caller);
    let filed = sent.body.filed()?;
    let engine = app.engine().clone();
    let outcome = app.detached(async move { engine.facts.file(&request, &filed).await }).await?;
    Ok(Json(FiledView::from(&outcome)))
}
