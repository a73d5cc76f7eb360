//! The state of a user's memory as a whole: counts, and hashes for comparison.

use axum::Json;
use axum::extract::State;
use lukasa_engine::state::MemorySummary;
use serde::Serialize;
use utoipa::ToSchema;

use crate::api::App;
use crate::api::auth::Reader;
use crate::api::error::Problem;

/// Hashes of the stored state, as hexadecimal SHA-256. Equal hashes mean equal memories, however
/// each state was reached: an undo restores the earlier hash, and so does importing an export.
#[derive(Debug, Serialize, ToSchema)]
pub struct StateHashView {
    /// Memories outside the trash, and the links between them.
    memories: String,
    episodes: String,
    /// Sessions outside the trash, and their turns.
    sessions: String,
    /// Raw events outside the trash.
    observations: String,
}

/// Counts and hashes of everything stored about a user.
#[derive(Debug, Serialize, ToSchema)]
pub struct StateView {
    memories: usize,
    links: usize,
    episodes: usize,
    sessions: usize,
    turns: usize,
    observations: usize,
    sha256: StateHashView,
}

impl From<MemorySummary> for StateView {
    fn from(whole: MemorySummary) -> Self {
        let MemorySummary { memories, links, episodes, sessions, turns, observations, hash } =
            whole;
        let sha256 = StateHashView {
            memories: hash.memories,
            episodes: hash.episodes,
            sessions: hash.sessions,
            observations: hash.observations,
        };
        Self { memories, links, episodes, sessions, turns, observations, sha256 }
    }
}

/// Get counts and hashes of everything stored about the user.
///
/// Equal hashes mean the same memory: compare them before and after an undo, a restore or a move to
/// another server.
#[utoipa::path(get, path = "/api/state", tag = "archive", responses(
    (status = 200, body = StateView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_state(
    State(app): State<App>,
    Reader(caller): Reader,
) -> Result<Json<StateView>, Problem> {
    app.limits().take_bulk_slot(&caller).await?;
    Ok(Json(StateView::from(app.engine().insights.summary(&caller, app.now()).await?)))
}
