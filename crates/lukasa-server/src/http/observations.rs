//! Observations: raw events that other applications and agents record.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use lukasa_core::{Observation, ObservationId};
use lukasa_engine::observations::{NewObservation, ObservationFilter};
use lukasa_engine::removal::ObservationSelection;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::memory::write_response;
use super::removal::Nothing;
use crate::api::App;
use crate::api::auth::{Eraser, Reader, Writer};
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::memory::parse_optional_project;
use crate::api::request::{
    JsonRequest, PathParams, QueryParams, page_size, parse_cursor, print_cursor,
};
use crate::api::wire::WriteResult;

/// One raw event.
#[derive(Debug, Serialize, ToSchema)]
pub struct ObservationView {
    #[schema(example = "obs_06f8m3k7p5q9d1x2r4v6w8y0za")]
    id: String,
    source: String,
    kind: String,
    /// When it happened.
    at: Timestamp,
    /// When it was recorded.
    recorded_at: Timestamp,
    #[schema(value_type = Object)]
    payload: serde_json::Value,
    session_id: Option<String>,
    project: Option<String>,
    /// The origin of the credential that recorded it.
    #[schema(example = "tool")]
    origin: &'static str,
}

impl From<&Observation> for ObservationView {
    fn from(observed: &Observation) -> Self {
        Self {
            id: observed.id.to_string(),
            source: observed.source.clone(),
            kind: observed.kind.clone(),
            at: observed.at,
            recorded_at: observed.recorded_at,
            payload: observed.payload.clone(),
            session_id: observed.session.clone(),
            project: observed.project.as_ref().map(ToString::to_string),
            origin: observed.origin.as_str(),
        }
    }
}

/// An event to record.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordObservation {
    /// The application or agent that observed it: up to 32 letters, digits, dots, dashes or
    /// underscores.
    #[schema(example = "groceries")]
    source: String,
    /// What happened, by the same rules.
    #[schema(example = "order")]
    kind: String,
    /// When it happened; now, if absent.
    at: Option<Timestamp>,
    /// Up to 8,192 bytes of JSON. Its field `value`, a text of up to 40 characters or a number,
    /// distinguishes events of the same kind when patterns are counted.
    #[schema(value_type = Option<Object>)]
    payload: Option<serde_json::Value>,
    /// The session it belongs to, if any.
    session_id: Option<String>,
    /// The project it belongs to, if any.
    project: Option<String>,
}

/// Events to record: all of them or none.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RecordObservations {
    /// Between 1 and 100.
    observations: Vec<RecordObservation>,
}

/// The recorded events.
#[derive(Debug, Serialize, ToSchema)]
pub struct RecordedObservations {
    /// In the order of the request.
    observation_ids: Vec<String>,
}

/// Record raw events.
///
/// Events of other applications and of agents, such as orders or opened files. They are appended and
/// never changed, and go into no prompt. Secrets in them are masked. An event that is observed at
/// least five times on at least three days becomes a proposal; the setting `observed` of the policy
/// decides. A user can have 100,000 events.
#[utoipa::path(post, path = "/api/observations", tag = "observations", request_body = RecordObservations, responses(
    (status = 201, body = RecordedObservations),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn record_observations(
    State(app): State<App>,
    Writer(caller): Writer,
    sent: JsonRequest<RecordObservations>,
) -> Result<Response, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let mut new = Vec::with_capacity(sent.body.observations.len());
    for one in sent.body.observations {
        new.push(NewObservation {
            source: one.source,
            kind: one.kind,
            at: one.at,
            payload: one.payload.unwrap_or_else(|| serde_json::json!({})),
            session: one.session_id,
            project: parse_optional_project(one.project.as_deref())?,
        });
    }
    let ids = app.detached(async move { engine.observations.record(&request, new).await }).await?;
    let observation_ids = ids.iter().map(ToString::to_string).collect();
    Ok((StatusCode::CREATED, Json(RecordedObservations { observation_ids })).into_response())
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ObservationQuery {
    source: Option<String>,
    kind: Option<String>,
    session_id: Option<String>,
    project: Option<String>,
    /// Only events at or after this time.
    since: Option<Timestamp>,
    /// Only events before this time.
    until: Option<Timestamp>,
    /// Between 1 and 200; 50 if absent.
    limit: Option<usize>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// Raw events, newest first.
#[derive(Debug, Serialize, ToSchema)]
pub struct ObservationPage {
    data: Vec<ObservationView>,
    next_cursor: Option<String>,
}

/// List raw events, newest first.
#[utoipa::path(get, path = "/api/observations", tag = "observations", params(ObservationQuery), responses(
    (status = 200, body = ObservationPage),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_observations(
    State(app): State<App>,
    Reader(caller): Reader,
    QueryParams(query): QueryParams<ObservationQuery>,
) -> Result<Json<ObservationPage>, Problem> {
    let filter = ObservationFilter {
        source: query.source,
        kind: query.kind,
        session: query.session_id,
        project: parse_optional_project(query.project.as_deref())?.map(Into::into),
        since: query.since,
        until: query.until,
    };
    let after = query.cursor.as_deref().map(parse_cursor).transpose()?;
    let limit = page_size(query.limit)?;
    let (found, next) =
        app.engine().observations.list(&caller, &filter, after, limit, app.now()).await?;
    let data = found.iter().map(ObservationView::from).collect();
    Ok(Json(ObservationPage { data, next_cursor: next.as_ref().map(print_cursor) }))
}

/// Delete a raw event.
///
/// It is moved into the trash, with the memories that rest on it alone: a pattern stays while it was
/// observed often enough without it. Undo restores all of it; after thirty days it is removed
/// permanently.
#[utoipa::path(delete, path = "/api/observations/{id}", tag = "observations", params(
    ("id" = String, Path, description = "The observation's id")), responses(
    (status = 200, body = WriteResult),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn delete_observation(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<Nothing>,
) -> Result<Response, Problem> {
    let id = parse_id(&id)?;
    remove(app, sent.request(caller), ObservationSelection::One(id)).await
}

/// Erase a raw event, now and everywhere.
///
/// Like deleting it, but nothing can be restored, and no quotation of it stays anywhere.
#[utoipa::path(post, path = "/api/observations/{id}/erase", tag = "observations", params(
    ("id" = String, Path, description = "The observation's id")), responses(
    (status = 200, body = WriteResult),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn erase_observation(
    State(app): State<App>,
    Eraser(caller): Eraser,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<Nothing>,
) -> Result<Response, Problem> {
    let (engine, request, id) = (app.engine().clone(), sent.request(caller), parse_id(&id)?);
    let work = async move { engine.removals.erase_observation(&request, id).await };
    Ok(write_response(&app.detached(work).await?))
}

fn parse_id(id: &str) -> Result<ObservationId, Problem> {
    id.parse().map_err(|_| Problem::of(ErrorCode::ObservationNotFound))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DeleteObservationsQuery {
    /// The source whose events are deleted.
    source: String,
}

/// Delete the raw events of a source.
///
/// Like deleting them one by one, as one operation. One request deletes the oldest 1,000; repeat it
/// until `reached` counts none.
#[utoipa::path(delete, path = "/api/observations", tag = "observations", params(DeleteObservationsQuery), responses(
    (status = 200, body = WriteResult),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn delete_observations(
    State(app): State<App>,
    Writer(caller): Writer,
    QueryParams(query): QueryParams<DeleteObservationsQuery>,
    sent: JsonRequest<Nothing>,
) -> Result<Response, Problem> {
    remove(app, sent.request(caller), ObservationSelection::Source(query.source)).await
}

async fn remove(
    app: App,
    request: lukasa_engine::Request,
    which: ObservationSelection,
) -> Result<Response, Problem> {
    let engine = app.engine().clone();
    let removed =
        app.detached(async move { engine.removals.withdraw_observations(&request, &which).await });
    Ok(write_response(&removed.await?))
}
