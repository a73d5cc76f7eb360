//! The surface of mem0, for programs that were written for it: they change their URL, and nothing else.
//! Both its hosted API (`/v1`, `/v3`) and the one of its own server (`/memories`, `/search`) are spoken.
//!
//! Every handler turns a request of mem0's into calls on the same engine functions that the API uses, as
//! the same caller, with the same refusals. What mem0 calls deleting is forgetting here: it can be undone.
//! See docs/mem0.md.

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
use lukasa_engine::access::Admitted;
use lukasa_engine::facts::Target;
use serde::Deserialize;
use serde_json::{Value, json};

use self::adding::add;
use self::changing::{forget, forget_all, forget_entity, forget_several, update, update_several};
use self::filter::Filter;
use self::reading::{entities, get_one, history, list_filtered, list_named, search};
use self::shape::{Id, PARTIES};
use super::auth;
use super::error::Problem;
use super::{App, TURNS_BYTES};

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// Every route, to be put under `/mem0`.
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

/// Speaks mem0's dialect at the door: a key comes as `Token` or in `X-API-Key`, and a refusal is plain
/// JSON, because its clients read `detail` from nothing else.
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

/// Whom a request names. mem0's ids besides the user's are kept with the memory.
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

    /// The same, and whom a plain filter names besides.
    fn or_in(mut self, filters: &Value) -> Self {
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

    /// A filter for exactly these.
    fn filter(&self) -> Filter {
        let user = self.user_id.iter().map(|user| Filter::is("user_id", user));
        let rest = self.each().into_iter();
        let rest = rest.filter_map(|(name, id)| Some(Filter::is(name, id.as_deref()?)));
        Filter::All(user.chain(rest).collect())
    }
}

/// The caller, about this user: as at every other route, with the user where it is looked for. The
/// credential was checked before the body was read.
async fn about(
    app: &App,
    admitted: &Admitted,
    headers: &HeaderMap,
    user: Option<&str>,
) -> Result<Caller, Problem> {
    let mut headers = headers.clone();
    if let Some(user) = user {
        let name = HeaderValue::from_bytes(user.as_bytes());
        headers.insert(auth::USER, name.map_err(|_| Problem::of("malformed_header"))?);
    }
    let user = auth::user_of(app, admitted, &headers)?;
    app.enter(admitted, &user).await
}

/// The caller and the memory that an id names. Somebody else's is like one that is not there.
async fn named(
    app: &App,
    admitted: &Admitted,
    headers: &HeaderMap,
    id: &str,
) -> Result<(Caller, Target), Problem> {
    let absent = || Problem::of("memory_not_found");
    let id = Id::parse(id);
    let caller = about(app, admitted, headers, id.user.as_deref()).await;
    let caller = caller.map_err(|problem| {
        let nobody = problem.is("wrong_user") || problem.is("user_required");
        if nobody || problem.is("malformed_header") { absent() } else { problem }
    })?;
    let memory = id.memory.parse().map_err(|_| absent())?;
    Ok((caller, Target::Id(memory)))
}

/// What is wrong with the body.
fn malformed(what: &str) -> Problem {
    Problem::of("malformed_body").because(what)
}

/// A filter and the user it is about.
fn filtered(filters: &Value, parties: &Parties) -> Result<(Filter, Option<String>), Problem> {
    let filter = Filter::parse(filters).map_err(|what| malformed(&what))?.and(parties.filter());
    let user = filter.user().map_err(|what| malformed(&what))?;
    Ok((filter, user))
}

/// Is the key good?
async fn ping(State(app): State<App>, headers: HeaderMap) -> Result<Json<Value>, Problem> {
    app.admit(&headers).await?;
    Ok(Json(json!({
        "status": "ok", "org_id": "lukasa", "project_id": "lukasa", "user_email": null,
    })))
}
