//! What passes left out, and keeping it.

use axum::extract::State;
use axum::response::Response;
use lukasa_core::PassId;
use lukasa_engine::learning::LeftOutItem;
use serde::Serialize;
use utoipa::ToSchema;

use super::memory::write_response;
use super::removal::Nothing;
use crate::api::App;
use crate::api::auth::Writer;
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::request::{JsonRequest, PathParams};
use crate::api::wire::WriteResult;

/// Something that was said and not learned.
#[derive(Debug, Serialize, ToSchema)]
pub struct LeftSentenceView {
    /// Its number in the pass.
    #[schema(example = 1)]
    place: i32,
    /// `secret`, `closed_domain`, `order_in_others_words`, `off` or `too_long`.
    #[schema(example = "closed_domain")]
    reason: &'static str,
    /// The turn that says it.
    #[schema(example = "trn_01hx3v9d0kf7rtm4q5wz8yb2ca")]
    turn_id: String,
    /// The sentence, read from the turn. Absent if it contained a secret, or if the turn is about a
    /// domain that is not open.
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<String>,
    /// The domain that was not open.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "health")]
    domain: Option<String>,
    /// The memory that the user made of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "mem_01hx3v9d0kf7rtm4q5wz8yb2ca")]
    memory_id: Option<String>,
}

impl From<&LeftOutItem> for LeftSentenceView {
    fn from(item: &LeftOutItem) -> Self {
        Self {
            place: item.place,
            reason: item.reason.as_str(),
            turn_id: item.turn.to_string(),
            words: item.words.clone(),
            domain: item.domain.clone(),
            memory_id: item.kept.map(|fact| fact.to_string()),
        }
    }
}

/// Keep what a pass left out.
///
/// The sentence becomes a memory that the user states, with the turn as evidence. Keeping it again
/// returns the same memory. Only the user can do it: with a user token, or on a local server.
#[utoipa::path(post, path = "/api/passes/{id}/left-out/{place}/keep", tag = "learning", params(
    ("id" = String, Path, description = "The pass"),
    ("place" = i32, Path, description = "The number of the left-out item in the pass")),
    responses((status = 200, body = WriteResult),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn keep_left_out(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams((id, place)): PathParams<(String, String)>,
    sent: JsonRequest<Nothing>,
) -> Result<Response, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let unknown = || Problem::of(ErrorCode::LeftOutNotFound);
    let pass: PassId = id.parse().map_err(|_| unknown())?;
    let place: i32 = place.parse().map_err(|_| unknown())?;
    let work = async move { engine.learning.keep_left_out(&request, pass, place).await };
    Ok(write_response(&app.detached(work).await?))
}
