//! Predictions: what an assistant expects of a memory before it acts, and how it turned out.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use lukasa_core::UsageId;
use lukasa_engine::context::{NewPrediction, Prediction, PredictionResult};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::App;
use crate::api::auth::Writer;
use crate::api::code::ErrorCode;
use crate::api::error::{FieldError, Problem};
use crate::api::request::{JsonRequest, PathParams};

/// A prediction, and its outcome once that is known.
#[derive(Debug, Serialize, ToSchema)]
pub struct PredictionView {
    #[schema(example = "use_01hx3v9d0kf7rtm4q5wz8yb2ca")]
    id: String,
    memory_id: String,
    expects: String,
    session_id: Option<String>,
    at: Timestamp,
    /// `confirmed` or `wrong`; null before it is reported.
    outcome: Option<&'static str>,
    outcome_at: Option<Timestamp>,
}

impl From<&Prediction> for PredictionView {
    fn from(prediction: &Prediction) -> Self {
        let stated = &prediction.stated;
        Self {
            id: stated.id.to_string(),
            memory_id: stated.fact.to_string(),
            expects: stated.influence.clone().unwrap_or_default(),
            session_id: stated.session.clone(),
            at: stated.at,
            outcome: prediction.outcome.map(|(result, _)| result.as_str()),
            outcome_at: prediction.outcome.map(|(_, at)| at),
        }
    }
}

/// A prediction to state.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct StatePrediction {
    /// The memory that the assistant relies on.
    memory_id: String,
    /// What it expects, in a sentence.
    #[schema(example = "Will choose a window seat")]
    expects: String,
    session_id: Option<String>,
    retrieval_id: Option<String>,
    turn_id: Option<String>,
}

/// State what is expected of a memory, before acting on it.
///
/// Report the outcome afterwards. A confirmed prediction makes an inferred memory more certain, a
/// wrong one less.
#[utoipa::path(post, path = "/api/predictions", tag = "recall", request_body = StatePrediction, responses(
    (status = 201, body = PredictionView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn state_prediction(
    State(app): State<App>,
    Writer(caller): Writer,
    sent: JsonRequest<StatePrediction>,
) -> Result<Response, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let StatePrediction { memory_id, expects, session_id, retrieval_id, turn_id } = sent.body;
    let retrieval = retrieval_id.map(|id| id.parse()).transpose();
    let turn = turn_id.map(|id| id.parse()).transpose();
    let new = NewPrediction {
        fact: memory_id.parse().map_err(|_| Problem::of(ErrorCode::MemoryNotFound))?,
        expects,
        session: session_id,
        retrieval: retrieval.map_err(|_| Problem::of(ErrorCode::RetrievalNotFound))?,
        turn: turn.map_err(|_| Problem::of(ErrorCode::TurnNotFound))?,
    };
    let stated = app.detached(async move { engine.context.predict(&request, new).await }).await?;
    Ok((StatusCode::CREATED, Json(PredictionView::from(&stated))).into_response())
}

/// The outcome of a prediction.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReportOutcome {
    /// `confirmed` or `wrong`.
    #[schema(example = "confirmed")]
    outcome: String,
    /// What happened, in a few words.
    note: Option<String>,
}

/// Report how a prediction turned out.
///
/// A prediction has one outcome; reporting the same one again changes nothing. Consolidation counts it
/// for or against the memory, unless the user stated or confirmed the memory.
#[utoipa::path(post, path = "/api/predictions/{id}/outcome", tag = "recall", params(
    ("id" = String, Path, description = "The prediction's id")), request_body = ReportOutcome, responses(
    (status = 200, body = PredictionView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn report_outcome(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<ReportOutcome>,
) -> Result<Json<PredictionView>, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let id: UsageId = id.parse().map_err(|_| Problem::of(ErrorCode::PredictionNotFound))?;
    let ReportOutcome { outcome, note } = sent.body;
    let result = PredictionResult::parse(&outcome).ok_or_else(|| {
        let detail = "one of confirmed, wrong".to_owned();
        let field = FieldError { pointer: "/outcome".into(), detail };
        Problem::of(ErrorCode::InvalidRequest).fields(vec![field])
    })?;
    let work = async move { engine.context.report_outcome(&request, id, result, note).await };
    Ok(Json(PredictionView::from(&app.detached(work).await?)))
}
