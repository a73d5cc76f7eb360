//! What memories rest on: who depends on a source, and taking a source away with what rests on it
//! alone, into the trash or for good.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lukasa_core::{EpisodeId, Fate, TurnId};
use lukasa_engine::cascade::{Dependents, Source};
use lukasa_engine::facts::Reached;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::App;
use super::auth::{Eraser, Reader, Writer};
use super::error::Problem;
use super::learning::EpisodeView;
use super::memory::written_in_place;
use super::request::{Asked, Named, Sent};
use super::verbs::Nothing;
use super::wire::{MemoryView, Written};
use crate::clock;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DependentsQuery {
    /// A turn, by its id.
    turn_id: Option<String>,
    /// An episode, if no turn is given.
    episode_id: Option<String>,
    /// A whole session, if neither is given.
    session_id: Option<String>,
}

/// How far a source's going reaches, or reached.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReachedView {
    turns: usize,
    episodes: usize,
    /// Memories that nothing else supports: they go too.
    withdrawn: usize,
    /// Memories with other support: they stay and rest on that.
    weakened: usize,
    /// Memories that their person stated or agreed to: they stay.
    kept: usize,
    /// Portraits that are compiled anew.
    portraits: usize,
    /// The same as words.
    #[schema(example = "1 turn, 3 memories, 1 episode, 2 portraits")]
    summary: String,
}

impl From<&Reached> for ReachedView {
    fn from(reached: &Reached) -> Self {
        Self {
            turns: reached.turns,
            episodes: reached.episodes,
            withdrawn: reached.withdrawn,
            weakened: reached.weakened,
            kept: reached.kept,
            portraits: reached.portraits,
            summary: reached.to_string(),
        }
    }
}

/// A memory that rests on a source, and what would become of it.
#[derive(Debug, Serialize, ToSchema)]
pub struct DependentMemory {
    memory: MemoryView,
    /// `withdrawn`, `weakened` or `kept`.
    #[schema(example = "withdrawn")]
    fate: &'static str,
}

/// What rests on a source.
#[derive(Debug, Serialize, ToSchema)]
pub struct DependentsView {
    reached: ReachedView,
    memories: Vec<DependentMemory>,
    episodes: Vec<EpisodeView>,
}

impl From<&Dependents> for DependentsView {
    fn from(found: &Dependents) -> Self {
        let fate = |fate: Fate| match fate {
            Fate::Withdrawn => "withdrawn",
            Fate::Weakened => "weakened",
            Fate::Kept => "kept",
        };
        Self {
            reached: ReachedView::from(&found.reached),
            memories: found
                .memories
                .iter()
                .map(|(memory, of)| DependentMemory {
                    memory: MemoryView::from(memory),
                    fate: fate(*of),
                })
                .collect(),
            episodes: found.episodes.iter().map(|told| EpisodeView::from((told, false))).collect(),
        }
    }
}

/// What depends on this? Shows, before a turn, an episode or a whole session is deleted, which memories
/// would go with it, which would rest on less, and which stay because their person said them.
#[utoipa::path(get, path = "/api/dependents", tag = "sessions", params(DependentsQuery), responses(
    (status = 200, body = DependentsView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_dependents(
    State(app): State<App>,
    Reader(caller): Reader,
    Asked(query): Asked<DependentsQuery>,
) -> Result<Json<DependentsView>, Problem> {
    let source = match (query.turn_id, query.episode_id, query.session_id) {
        (Some(id), ..) => turn(&id)?,
        (_, Some(id), _) => episode(&id)?,
        (.., Some(session)) => Source::Session(session),
        _ => {
            let why = "give `turn_id`, `episode_id` or `session_id`";
            return Err(Problem::of("malformed_query").because(why));
        }
    };
    let found = app.engine().dependents(&caller, &source, clock::now()).await?;
    Ok(Json(DependentsView::from(&found)))
}

fn turn(id: &str) -> Result<Source, Problem> {
    let id: TurnId = id.parse().map_err(|_| Problem::of("turn_not_found"))?;
    Ok(Source::Turn(id))
}

fn episode(id: &str) -> Result<Source, Problem> {
    let id: EpisodeId = id.parse().map_err(|_| Problem::of("episode_not_found"))?;
    Ok(Source::Episode(id))
}

/// Delete something that was said.
///
/// The turn, what was told of it and every memory that rests on it alone go into the trash together;
/// memories with other support rest on that. Undo brings all of it back; after thirty days it is
/// removed for good. See first what would go with `GET /api/dependents`.
#[utoipa::path(delete, path = "/api/turns/{id}", tag = "sessions", params(
    ("id" = String, Path, description = "The turn's id")), responses(
    (status = 200, body = Written),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn delete_turn(
    State(app): State<App>,
    Writer(caller): Writer,
    Named(id): Named<String>,
    sent: Sent<Nothing>,
) -> Result<Response, Problem> {
    let (engine, request, source) = (app.engine().clone(), sent.request(caller), turn(&id)?);
    let outcome = app.detached(async move { engine.withdraw(&request, &source).await }).await?;
    Ok(written_in_place(&outcome))
}

/// Erase something that was said, now and everywhere.
///
/// Like deleting it, but nothing can be brought back, and no quotation of it stays anywhere.
#[utoipa::path(post, path = "/api/turns/{id}/erase", tag = "sessions", params(
    ("id" = String, Path, description = "The turn's id")), responses(
    (status = 200, body = Written),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn erase_turn(
    State(app): State<App>,
    Eraser(caller): Eraser,
    Named(id): Named<String>,
    sent: Sent<Nothing>,
) -> Result<Response, Problem> {
    let (engine, request, source) = (app.engine().clone(), sent.request(caller), turn(&id)?);
    let outcome = app.detached(async move { engine.erase_source(&request, &source).await }).await?;
    Ok(written_in_place(&outcome))
}

/// Erase a whole session, now and everywhere, with what was learned from it alone.
#[utoipa::path(post, path = "/api/sessions/{session_id}/erase", tag = "sessions", params(
    ("session_id" = String, Path, description = "The session's name")), responses(
    (status = 200, body = Written),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn erase_session(
    State(app): State<App>,
    Eraser(caller): Eraser,
    Named(session): Named<String>,
    sent: Sent<Nothing>,
) -> Result<Response, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let source = Source::Session(session);
    let outcome = app.detached(async move { engine.erase_source(&request, &source).await }).await?;
    Ok(written_in_place(&outcome))
}

/// Delete what was told of something that happened.
///
/// The episode and every memory that rests on its turns alone go into the trash together; what was said
/// stays. Undo brings all of it back.
#[utoipa::path(delete, path = "/api/episodes/{id}", tag = "learning", params(
    ("id" = String, Path, description = "The episode's id")), responses(
    (status = 200, body = Written),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn delete_episode(
    State(app): State<App>,
    Writer(caller): Writer,
    Named(id): Named<String>,
    sent: Sent<Nothing>,
) -> Result<Response, Problem> {
    let (engine, request, source) = (app.engine().clone(), sent.request(caller), episode(&id)?);
    let outcome = app.detached(async move { engine.withdraw(&request, &source).await }).await?;
    Ok(written_in_place(&outcome))
}
