//! The state of a memory as a whole: counts, and hashes to compare it by.

use axum::Json;
use axum::extract::State;
use lukasa_engine::state::Whole;
use serde::Serialize;
use utoipa::ToSchema;

use super::App;
use super::auth::Reader;
use super::error::Problem;
use crate::clock;

/// Hashes of what is held, as hexadecimal SHA-256. Equal hashes are equal memories, however each came
/// about: an undo brings the earlier hash back, and so does taking an export in again.
#[derive(Debug, Serialize, ToSchema)]
pub struct StateHashView {
    /// Memories, but for the trash, and the links between them.
    memories: String,
    episodes: String,
    /// Chats, but for the trash, and their turns.
    sessions: String,
}

/// How much a memory holds.
#[derive(Debug, Serialize, ToSchema)]
pub struct StateView {
    memories: usize,
    links: usize,
    episodes: usize,
    sessions: usize,
    turns: usize,
    sha256: StateHashView,
}

impl From<Whole> for StateView {
    fn from(whole: Whole) -> Self {
        let Whole { memories, links, episodes, sessions, turns, hash } = whole;
        let sha256 = StateHashView {
            memories: hash.memories,
            episodes: hash.episodes,
            sessions: hash.sessions,
        };
        Self { memories, links, episodes, sessions, turns, sha256 }
    }
}

/// How much is held about the user, and what it hashes to. Two answers with the same hashes hold the
/// same memory: compare them before and after an undo, a restore or a move to another server.
#[utoipa::path(get, path = "/api/state", tag = "portability", responses(
    (status = 200, body = StateView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_state(
    State(app): State<App>,
    Reader(caller): Reader,
) -> Result<Json<StateView>, Problem> {
    Ok(Json(StateView::from(app.engine().whole(&caller, clock::now()).await?)))
}
