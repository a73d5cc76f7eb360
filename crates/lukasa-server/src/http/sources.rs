//! Sources of memories: lists what depends on a source, and deletes or erases a source together
//! with what depends on it alone.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lukasa_core::{EpisodeId, TurnId};
use lukasa_engine::learning::AboutEpisode;
use lukasa_engine::removal::{Dependents, FactSource};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::learning::{EpisodeView, about_episodes};
use super::memory::write_response;
use super::removal::Nothing;
use crate::api::App;
use crate::api::auth::{Eraser, Reader, Writer};
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::request::{JsonRequest, PathParams, QueryParams};
use crate::api::wire::{MemoryView, RemovalCountsView, WriteResult};

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DependentsQuery {
    /// A turn, by its id.
    turn_id: Option<String>,
    /// An episode, if no turn is given. No memory depends on it.
    episode_id: Option<String>,
    /// A whole session, if neither is given.
    session_id: Option<String>,
    /// Also show the words of episodes about domains that are not open. Accepted only from the user.
    #[serde(default)]
    show_hidden: bool,
}

/// A memory that depends on a source, and what happens to it when the source is removed.
#[derive(Debug, Serialize, ToSchema)]
pub struct DependentMemory {
    memory: MemoryView,
    /// `withdrawn`, `weakened` or `kept`.
    #[schema(example = "withdrawn")]
    fate: &'static str,
}

/// Memories and episodes that depend on a source.
#[derive(Debug, Serialize, ToSchema)]
pub struct DependentsView {
    reached: RemovalCountsView,
    memories: Vec<DependentMemory>,
    episodes: Vec<EpisodeView>,
}

impl DependentsView {
    fn of(dependents: &Dependents, about: &[AboutEpisode]) -> Self {
        Self {
            reached: RemovalCountsView::from(&dependents.reached),
            memories: dependents
                .memories
                .iter()
                .map(|(memory, of)| DependentMemory {
                    memory: MemoryView::from(memory),
                    fate: of.as_str(),
                })
                .collect(),
            episodes: dependents
                .episodes
                .iter()
                .zip(about)
                .map(|(episode, about)| EpisodeView::of(episode, about))
                .collect(),
        }
    }
}

/// List what depends on a turn, an episode or a session.
///
/// Shows before a deletion which memories would be removed with it, which would lose some of their
/// support, and which stay because the user stated them.
#[utoipa::path(get, path = "/api/dependents", tag = "sessions", params(DependentsQuery), responses(
    (status = 200, body = DependentsView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_dependents(
    State(app): State<App>,
    Reader(caller): Reader,
    QueryParams(query): QueryParams<DependentsQuery>,
) -> Result<Json<DependentsView>, Problem> {
    let source = match (query.turn_id, query.episode_id, query.session_id) {
        (Some(id), ..) => turn(&id)?,
        (_, Some(id), _) => episode(&id)?,
        (.., Some(session)) => FactSource::Session(session),
        _ => {
            let why = "Give `turn_id`, `episode_id` or `session_id`";
            return Err(Problem::of(ErrorCode::MalformedQuery).because(why));
        }
    };
    let dependents = app.engine().removals.dependents(&caller, &source, app.now()).await?;
    let about = about_episodes(&app, &caller, &dependents.episodes, query.show_hidden).await?;
    Ok(Json(DependentsView::of(&dependents, &about)))
}

fn turn(id: &str) -> Result<FactSource, Problem> {
    let id: TurnId = id.parse().map_err(|_| Problem::of(ErrorCode::TurnNotFound))?;
    Ok(FactSource::Turn(id))
}

fn episode(id: &str) -> Result<FactSource, Problem> {
    let id: EpisodeId = id.parse().map_err(|_| Problem::of(ErrorCode::EpisodeNotFound))?;
    Ok(FactSource::Episode(id))
}

/// Delete a turn.
///
/// The turn, its episodes and every memory that depends on it alone are moved into the trash
/// together; memories with other support stay. Undo restores all of it; after thirty days it is
/// removed permanently. `GET /api/dependents` previews what is affected.
#[utoipa::path(delete, path = "/api/turns/{id}", tag = "sessions", params(
    ("id" = String, Path, description = "The turn's id")), responses(
    (status = 200, body = WriteResult),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn delete_turn(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<Nothing>,
) -> Result<Response, Problem> {
    let (engine, request, source) = (app.engine().clone(), sent.request(caller), turn(&id)?);
    let outcome =
        app.detached(async move { engine.removals.withdraw(&request, &source).await }).await?;
    Ok(write_response(&outcome))
}

/// Erase a turn, now and everywhere.
///
/// Like deleting it, but nothing can be restored, and no quotation of it stays anywhere.
#[utoipa::path(post, path = "/api/turns/{id}/erase", tag = "sessions", params(
    ("id" = String, Path, description = "The turn's id")), responses(
    (status = 200, body = WriteResult),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn erase_turn(
    State(app): State<App>,
    Eraser(caller): Eraser,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<Nothing>,
) -> Result<Response, Problem> {
    let (engine, request, source) = (app.engine().clone(), sent.request(caller), turn(&id)?);
    let outcome =
        app.detached(async move { engine.removals.erase_source(&request, &source).await }).await?;
    Ok(write_response(&outcome))
}

/// Keep an assistant's reply as a note.
///
/// The reply becomes a memory with the tag `note`, the origin `assistant` and the turn as its evidence;
/// `GET /api/memory?tag=note` lists the notes. It is never a rule, and never counts as something the
/// user said. Keeping it again returns the same note. Only the user can do it: with a user token, or
/// on a local server.
#[utoipa::path(post, path = "/api/turns/{id}/note", tag = "sessions", params(
    ("id" = String, Path, description = "The turn's id")), responses(
    (status = 200, body = WriteResult),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn keep_reply(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<Nothing>,
) -> Result<Response, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let id: TurnId = id.parse().map_err(|_| Problem::of(ErrorCode::TurnNotFound))?;
    let work = async move { engine.learning.keep_reply(&request, id).await };
    Ok(write_response(&app.detached(work).await?))
}

/// Erase a whole session, now and everywhere, with everything learned from it alone.
#[utoipa::path(post, path = "/api/sessions/{session_id}/erase", tag = "sessions", params(
    ("session_id" = String, Path, description = "The session's name")), responses(
    (status = 200, body = WriteResult),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn erase_session(
    State(app): State<App>,
    Eraser(caller): Eraser,
    PathParams(session): PathParams<String>,
    sent: JsonRequest<Nothing>,
) -> Result<Response, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let source = FactSource::Session(session);
    let outcome =
        app.detached(async move { engine.removals.erase_source(&request, &source).await }).await?;
    Ok(write_response(&outcome))
}

/// Delete an episode.
///
/// It is moved into the trash, and a job summarises its turns again without the old words. The turns
/// stay, and so do the memories learned from them: delete the turns or the session to remove those.
/// Undo restores the old summary. Without a chat model, or if its turns are not kept, there is no new
/// one.
#[utoipa::path(delete, path = "/api/episodes/{id}", tag = "learning", params(
    ("id" = String, Path, description = "The episode's id")), responses(
    (status = 200, body = WriteResult),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn delete_episode(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<Nothing>,
) -> Result<Response, Problem> {
    let (engine, request, source) = (app.engine().clone(), sent.request(caller), episode(&id)?);
    let outcome =
        app.detached(async move { engine.removals.withdraw(&request, &source).await }).await?;
    Ok(write_response(&outcome))
}
