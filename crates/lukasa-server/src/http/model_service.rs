//! Setting the model service behind `/v1` in the console of a local server, whose one user is also
//! its operator. A request must have the header by which browsers mark those of the server's own page,
//! so no page of another site can send it, and neither an assistant's tools nor a client of the API
//! does by itself. It is not proof: a program of this machine can send any header, and a server without
//! authentication trusts the programs of its machine.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::removal::Nothing;
use crate::api::App;
use crate::api::auth::{Admin, is_from_own_page};
use crate::api::code::ErrorCode;
use crate::api::error::{FieldError, Problem};
use crate::api::request::JsonRequest;
use crate::gateway::{FoundService, Gateway, ModelSetup, NewModelService, SetupFault};

/// The user of a local server, by the console's own page.
pub struct ConsoleUser;

impl FromRequestParts<App> for ConsoleUser {
    type Rejection = Problem;
    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        Admin::from_request_parts(parts, app).await?;
        if !app.is_local() {
            return Err(Problem::of(ErrorCode::ModelServiceFixed));
        }
        let is_human = is_from_own_page(&parts.headers);
        is_human.then_some(Self).ok_or_else(|| Problem::of(ErrorCode::HumanNeeded))
    }
}

/// A model service on this machine.
#[derive(Debug, Serialize, ToSchema)]
pub struct FoundServiceView {
    #[schema(example = "Ollama")]
    name: String,
    #[schema(example = "http://127.0.0.1:11434/v1")]
    url: String,
    models: Vec<String>,
}

impl From<FoundService> for FoundServiceView {
    fn from(found: FoundService) -> Self {
        let FoundService { name, url, models } = found;
        Self { name, url, models }
    }
}

/// The model service behind `/v1`, without its key.
#[derive(Debug, Serialize, ToSchema)]
pub struct ModelServiceView {
    /// Whether it can be set here.
    changeable: bool,
    /// `settings` if it was set when the server was started, `console` if it was set here; null if
    /// there is none.
    set_by: Option<&'static str>,
    /// Its address.
    url: Option<String>,
    /// The model that was chosen here.
    model: Option<String>,
    /// The services that answer on this machine now, if one can be set here.
    found: Vec<FoundServiceView>,
}

impl ModelServiceView {
    async fn of(gateway: &Gateway) -> Self {
        let url = gateway.address();
        let Some(setup) = gateway.setup() else {
            let set_by = url.is_some().then_some("settings");
            return Self { changeable: false, set_by, url, model: None, found: Vec::new() };
        };
        let found = setup.find_services().await.into_iter().map(Into::into).collect();
        let set_by = url.is_some().then_some("console");
        Self { changeable: true, set_by, url, model: setup.model(), found }
    }
}

/// A model service: any that speaks OpenAI's chat protocol.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ModelServiceSettings {
    #[schema(example = "http://127.0.0.1:11434/v1")]
    url: String,
    /// The key for the service, if it needs one.
    key: Option<String>,
    #[schema(example = "qwen3:8b")]
    model: String,
}

impl From<ModelServiceSettings> for NewModelService {
    fn from(settings: ModelServiceSettings) -> Self {
        let ModelServiceSettings { url, key, model } = settings;
        Self { url, key, model }
    }
}

/// The result of a test.
#[derive(Debug, Serialize, ToSchema)]
pub struct ModelServiceTestView {
    /// Whether the model answered.
    ok: bool,
    /// `address`, `unreachable`, `timeout`, `key`, `model`, `not_chat` or `refused`; null if it
    /// answered.
    reason: Option<&'static str>,
    /// The reason in plain words.
    detail: Option<String>,
}

/// The setup, or the refusal of a server whose service cannot be changed here.
fn setup_of(gateway: &Gateway) -> Result<&ModelSetup, Problem> {
    gateway.setup().ok_or_else(|| Problem::of(ErrorCode::ModelServiceFixed))
}

fn refuse(fault: SetupFault) -> Problem {
    let pointer = format!("/{}", fault.field());
    let field = FieldError { pointer, detail: fault.sentence() };
    Problem::of(ErrorCode::InvalidRequest).fields(vec![field])
}

/// Runs a change of the stored service to its end even if the client disconnects.
async fn change(
    work: impl FnOnce() -> std::io::Result<()> + Send + 'static,
) -> Result<(), Problem> {
    let internal = || Problem::of(ErrorCode::Internal);
    let done = tokio::task::spawn_blocking(work).await.map_err(|_| internal())?;
    done.map_err(|error| {
        tracing::warn!(%error, "could not write the model service that was set up");
        internal()
    })
}

/// Get the model service behind `/v1`, and the services found on this machine.
///
/// Only the console of a server without authentication may.
#[utoipa::path(get, path = "/api/model-service", tag = "model-service", responses(
    (status = 200, body = ModelServiceView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_model_service(
    _user: ConsoleUser,
    Extension(gateway): Extension<Gateway>,
) -> Json<ModelServiceView> {
    Json(ModelServiceView::of(&gateway).await)
}

/// Test a model service with one short chat request, without storing it.
///
/// Only the console of a server without authentication may.
#[utoipa::path(post, path = "/api/model-service/test", tag = "model-service",
    request_body = ModelServiceSettings, responses(
    (status = 200, body = ModelServiceTestView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn test_model_service(
    _user: ConsoleUser,
    Extension(gateway): Extension<Gateway>,
    sent: JsonRequest<ModelServiceSettings>,
) -> Result<Json<ModelServiceTestView>, Problem> {
    setup_of(&gateway)?;
    let fault = NewModelService::from(sent.body).test().await.err();
    Ok(Json(ModelServiceTestView {
        ok: fault.is_none(),
        reason: fault.map(SetupFault::as_str),
        detail: fault.map(SetupFault::sentence),
    }))
}

/// Set the model service behind `/v1`. It is tested first, stored in the data folder, and used at once.
///
/// Only the console of a server without authentication may.
#[utoipa::path(put, path = "/api/model-service", tag = "model-service",
    request_body = ModelServiceSettings, responses(
    (status = 200, body = ModelServiceView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn put_model_service(
    _user: ConsoleUser,
    Extension(gateway): Extension<Gateway>,
    sent: JsonRequest<ModelServiceSettings>,
) -> Result<Json<ModelServiceView>, Problem> {
    let setup = setup_of(&gateway)?.clone();
    let new = NewModelService::from(sent.body);
    let opened = new.test().await.map_err(refuse)?;
    change(move || setup.store(&new, opened)).await?;
    Ok(Json(ModelServiceView::of(&gateway).await))
}

/// Remove the model service that was set in the console.
///
/// Only the console of a server without authentication may.
#[utoipa::path(delete, path = "/api/model-service", tag = "model-service", responses(
    (status = 200, body = ModelServiceView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn delete_model_service(
    _user: ConsoleUser,
    Extension(gateway): Extension<Gateway>,
    _sent: JsonRequest<Nothing>,
) -> Result<Json<ModelServiceView>, Problem> {
    let setup = setup_of(&gateway)?.clone();
    change(move || setup.remove()).await?;
    Ok(Json(ModelServiceView::of(&gateway).await))
}
