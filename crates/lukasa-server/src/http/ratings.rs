//! Ratings: the user's thumbs on single memories.

use axum::Json;
use axum::extract::State;
use lukasa_engine::context::MemoryRating;
use lukasa_engine::facts::Target;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::removal::Nothing;
use crate::api::App;
use crate::api::auth::Writer;
use crate::api::code::ErrorCode;
use crate::api::error::{FieldError, Problem};
use crate::api::memory::target;
use crate::api::request::{JsonRequest, PathParams};

/// A rating to set.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RateMemory {
    /// `up` or `down`.
    #[schema(example = "up")]
    rating: String,
}

/// The rating of a memory.
#[derive(Debug, Serialize, ToSchema)]
pub struct RatingView {
    memory_id: String,
    /// `up` or `down`; null if the user has not rated it.
    rating: Option<&'static str>,
    /// What to do next.
    #[schema(example = "Correct it with `PATCH /api/memory/{id}`, or forget it.")]
    message: &'static str,
}

/// Rate a memory up or down.
///
/// A memory has one rating, which can be changed and removed. Rating an inferred memory down counts
/// against it; a memory that the user stated or confirmed is not changed by a rating. Only the user
/// can rate: with a user token, or on a local server.
#[utoipa::path(post, path = "/api/memory/{id}/rating", tag = "memory", params(
    ("id" = String, Path, description = "A memory's id, or text that occurs in exactly one active memory")),
    request_body = RateMemory, responses(
    (status = 200, body = RatingView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn rate_memory(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<RateMemory>,
) -> Result<Json<RatingView>, Problem> {
    let rating = MemoryRating::parse(&sent.body.rating).ok_or_else(|| {
        let field = FieldError { pointer: "/rating".into(), detail: "one of up, down".to_owned() };
        Problem::of(ErrorCode::InvalidRequest).fields(vec![field])
    })?;
    rate(&app, sent.request(caller), target(&id), Some(rating)).await
}

/// Remove the rating of a memory.
#[utoipa::path(delete, path = "/api/memory/{id}/rating", tag = "memory", params(
    ("id" = String, Path, description = "A memory's id, or text that occurs in exactly one active memory")), responses(
    (status = 200, body = RatingView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn remove_rating(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<Nothing>,
) -> Result<Json<RatingView>, Problem> {
    rate(&app, sent.request(caller), target(&id), None).await
}

async fn rate(
    app: &App,
    request: lukasa_engine::Request,
    target: Target,
    rating: Option<MemoryRating>,
) -> Result<Json<RatingView>, Problem> {
    let engine = app.engine().clone();
    let work = async move { engine.context.rate(&request, &target, rating).await };
    let memory_id = app.detached(work).await?.to_string();
    let message = match rating {
        Some(MemoryRating::Down) => "Correct it with `PATCH /api/memory/{id}`, or forget it.",
        Some(MemoryRating::Up) => "Rated.",
        None => "The rating is removed.",
    };
    Ok(Json(RatingView { memory_id, rating: rating.map(MemoryRating::as_str), message }))
}
