//! mem0-compatible API, for programs that were written for mem0: they change only their URL. Both
//! its hosted API (`/v1`, `/v3`) and that of its open-source server (`/memories`, `/search`) are
//! supported.
//!
//! Every handler translates a mem0 request into calls of the same engine functions that the API
//! uses, as the same caller, with the same refusals. Deleting in mem0 is forgetting here: it can be
//! undone. See docs/mem0.md.

mod adding;
mod changing;
mod filter;
mod reading;
mod shape;

use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::routing::{delete, get, post, put};
use axum::{Json, Router};
use lukasa_core::Caller;
use lukasa_engine::credentials::VerifiedCredential;
use lukasa_engine::facts::Target;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use self::adding::add;
use self::changing::{forget, forget_all, forget_entity, forget_several, update, update_several};
use self::filter::Mem0Filter;
use self::reading::{entities, get_one, history, list_filtered, list_named, search};
use self::shape::{Mem0Id, PARTIES};
use super::TURNS_BYTES;
use crate::api::App;
use crate::api::auth;
use crate::api::code::ErrorCode;
use crate::api::error::Problem;

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// All routes, to be nested under `/mem0`.
pub fn router() -> Router<App> {
    Router::new()
        .route("/v1/ping/", get(ping))
        .route("/v3/memories/add/", post(add))
        .route("/v3/memories/search/", post(search))
        .route("/v3/memories/", post(list_filtered))
        .route("/v1/memories/", post(add).get(list_named).delete(forget_all))
        .route("/v1/memories/{id}/", get(get_one).put(update).delete(forget))
        .route("/v1/memories/{id}/history/", get(history))
        .route("/v1/batch/", put(update_several).delete(forget_several))
        .route("/v1/entities/", get(entities))
        .route("/v1/entities/{kind}/{name}/", delete(forget_entity))
        .route("/v2/entities/{kind}/{name}/", delete(forget_entity))
        .route("/memories", post(add).get(list_named).delete(forget_all))
        .route("/memories/{id}", get(get_one).put(update).delete(forget))
        .route("/memories/{id}/history", get(history))
        .route("/search", post(search))
        .layer(DefaultBodyLimit::max(TURNS_BYTES))
        .layer(from_fn(translate))
}

/// Middleware for mem0's conventions: a key is sent as `Token` or in `X-API-Key`, and an error has
/// the type `application/json`, because mem0's clients read `detail` only from that.
async fn translate(mut request: Request, next: Next) -> Response {
    let headers = request.headers_mut();
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let key = match text(&AUTHORIZATION) {
        Some(credential) => credential.strip_prefix("Token "),
        None => text(&API_KEY),
    };
    let bearer = key.and_then(|key| HeaderValue::from_str(&format!("Bearer {key}")).ok());
    if let Some(bearer) = bearer {
        headers.insert(AUTHORIZATION, bearer);
    }
    let mut response = next.run(request).await;
    let kind = response.headers_mut().get_mut(CONTENT_TYPE);
    if let Some(kind) = kind.filter(|kind| *kind == "application/problem+json") {
        *kind = HeaderValue::from_static("application/json");
    }
    response
}

/// The ids in a request. mem0's ids other than the user's are stored with the memory.
#[derive(Debug, Default, Deserialize)]
struct Parties {
    user_id: Option<String>,
    agent_id: Option<String>,
    app_id: Option<String>,
    run_id: Option<String>,
}

impl Parties {
    fn each(&self) -> [(&'static str, &Option<String>); 3] {
        let [agent, app, run] = PARTIES;
        [(agent, &self.agent_id), (app, &self.app_id), (run, &self.run_id)]
    }

    /// Adds the ids that a plain filter names.
    fn or_from_filter(mut self, filters: &Value) -> Self {
        let mut named = [
            (&mut self.user_id, "user_id"),
            (&mut self.agent_id, "agent_id"),
            (&mut self.app_id, "app_id"),
            (&mut self.run_id, "run_id"),
        ];
        for (id, name) in &mut named {
            let other = || filters[*name].as_str().map(str::to_owned);
            **id = id.take().or_else(other);
        }
        self
    }

    /// A filter for exactly these ids.
    fn filter(&self) -> Mem0Filter {
        let user = self.user_id.iter().map(|user| Mem0Filter::is("user_id", user));
        let rest = self.each().into_iter();
        let rest = rest.filter_map(|(name, id)| Some(Mem0Filter::is(name, id.as_deref()?)));
        Mem0Filter::All(user.chain(rest).collect())
    }
}

/// The caller for a request about this user, as at every other route. The credential was checked
/// before the body was read.
async fn caller_about(
    app: &App,
    admitted: &VerifiedCredential,
    headers: &HeaderMap,
    user: Option<&str>,
) -> Result<Caller, Problem> {
    caller_of_item(app, admitted, headers, user, 0).await
}

/// The caller for an item of a request: the user is put into the header where it is read. Each item
/// is counted once. The first is counted like any request; the others wait until the rates allow
/// them, so that a request does not end half-way.
async fn caller_of_item(
    app: &App,
    admitted: &VerifiedCredential,
    headers: &HeaderMap,
    user: Option<&str>,
    place: usize,
) -> Result<Caller, Problem> {
    let mut headers = headers.clone();
    if let Some(user) = user {
        let name = HeaderValue::from_bytes(user.as_bytes());
        headers.insert(auth::USER, name.map_err(|_| Problem::of(ErrorCode::MalformedHeader))?);
    }
    let user = auth::user_of(app, admitted, &headers)?;
    if place == 0 {
        return app.caller_about(admitted, &user).await;
    }
    let caller = admitted.caller(&user);
    app.limits().wait_for_rates(admitted, &caller).await;
    Ok(caller)
}

/// The caller and the memory of an id. A memory of another user is answered like a missing one.
async fn resolve_id(
    app: &App,
    admitted: &VerifiedCredential,
    headers: &HeaderMap,
    id: &str,
) -> Result<(Caller, Target), Problem> {
    resolve_item(app, admitted, headers, id, 0).await
}

/// The same for an item of a request, which counts against the rates.
async fn resolve_item(
    app: &App,
    admitted: &VerifiedCredential,
    headers: &HeaderMap,
    id: &str,
    place: usize,
) -> Result<(Caller, Target), Problem> {
    let absent = || Problem::of(ErrorCode::MemoryNotFound);
    let id = Mem0Id::parse(id);
    let caller = caller_of_item(app, admitted, headers, id.user.as_deref(), place).await;
    let caller = caller.map_err(|problem| {
        let other_user = problem.is(ErrorCode::WrongUser) || problem.is(ErrorCode::UserRequired);
        if other_user || problem.is(ErrorCode::MalformedHeader) { absent() } else { problem }
    })?;
    let memory = id.memory.parse().map_err(|_| absent())?;
    Ok((caller, Target::Id(memory)))
}

/// Gives one of the writes of a request an idempotency key of its own. It is a hash, because the
/// request's key may already be as long as a key can be.
fn derive_key(request: &mut lukasa_engine::Request, write: &str) {
    if let Some(idempotency) = &mut request.idempotency {
        let hash = Sha256::digest(format!("{write}:{}", idempotency.key));
        idempotency.key = format!("mem0:{}", hex::encode(hash));
    }
}

/// A problem with the body.
fn malformed(what: &str) -> Problem {
    Problem::of(ErrorCode::MalformedBody).because(what)
}

/// Parses a filter, and the user it names.
fn parse_filter(
    filters: &Value,
    parties: &Parties,
) -> Result<(Mem0Filter, Option<String>), Problem> {
    let filter = Mem0Filter::parse(filters).map_err(|what| malformed(&what))?.and(parties.filter());
    let user = filter.user().map_err(|what| malformed(&what))?;
    Ok((filter, user))
}

/// Checks that the key is valid.
async fn ping(State(app): State<App>, headers: HeaderMap) -> Result<Json<Value>, Problem> {
    app.admit(&headers).await?;
    Ok(Json(json!({
        "status": "ok", "org_id": "lukasa", "project_id": "lukasa", "user_email": null,
    })))
}
