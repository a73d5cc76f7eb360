//! Webhooks of a tenant: where it is told of operations, and how that goes.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use lukasa_core::{Delivery, DeliveryState, Timestamp, Verb, Webhook, WebhookId};
use lukasa_engine::webhooks::{Tried, WebhookEdit};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::App;
use super::auth::Admin;
use super::error::{FieldError, Problem};
use super::request::{Asked, Named, Sent, page_size};
use super::verbs::Nothing;
use super::wire::When;
use crate::clock;
use crate::webhook::print_secret;

/// A webhook, without its secret.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebhookView {
    #[schema(example = "whk_01hx3v9d0kf7rtm4q5wz8yb2cd")]
    id: String,
    #[schema(example = "https://example.com/lukasa")]
    url: String,
    /// It is told of these kinds of operation; of all if there are none.
    verbs: Vec<&'static str>,
    created_at: Timestamp,
    enabled: bool,
    /// Since when nothing is sent to it, and why.
    disabled_at: Option<Timestamp>,
    disabled_because: Option<String>,
    /// Since when no delivery has arrived; null if the last one did.
    failing_since: Option<Timestamp>,
}

impl From<&Webhook> for WebhookView {
    fn from(hook: &Webhook) -> Self {
        Self {
            id: hook.id.to_string(),
            url: hook.url.clone(),
            verbs: hook.verbs.iter().map(|verb| verb.as_str()).collect(),
            created_at: hook.created_at,
            enabled: hook.off_at.is_none(),
            disabled_at: hook.off_at,
            disabled_because: hook.off_because.clone(),
            failing_since: hook.failing_since,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Webhooks {
    data: Vec<WebhookView>,
}

/// The tenant's webhooks, without their secrets.
#[utoipa::path(get, path = "/api/webhooks", tag = "webhooks", responses(
    (status = 200, body = Webhooks),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_webhooks(
    State(app): State<App>,
    Admin(admin): Admin,
) -> Result<Json<Webhooks>, Problem> {
    let hooks = app.engine().webhooks(admin.tenant).await?;
    Ok(Json(Webhooks { data: hooks.iter().map(WebhookView::from).collect() }))
}

/// A webhook to set up.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateWebhook {
    /// Where to post to: `https`, on the public internet.
    #[schema(example = "https://example.com/lukasa")]
    url: String,
    /// Only these kinds of operation, such as `save` or `erase`; all of them if absent.
    #[serde(default)]
    verbs: Vec<String>,
}

/// A webhook with its secret, shown this once.
#[derive(Debug, Serialize, ToSchema)]
pub struct CreatedWebhook {
    /// What deliveries are signed with. It cannot be shown again.
    #[schema(example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]
    secret: String,
    #[serde(flatten)]
    webhook: WebhookView,
}

fn parse_verbs(texts: &[String]) -> Result<Vec<Verb>, Problem> {
    let parse = |text: &String| Verb::parse(text).ok_or_else(no_verb);
    let mut verbs = Vec::new();
    for verb in texts.iter().map(parse) {
        let verb = verb?;
        if !verbs.contains(&verb) {
            verbs.push(verb);
        }
    }
    Ok(verbs)
}

fn no_verb() -> Problem {
    let all = Verb::ALL.map(Verb::as_str).join(", ");
    let field = FieldError { pointer: "/verbs".into(), detail: format!("of {all}") };
    Problem::of("invalid_request").fields(vec![field])
}

fn parse_id(text: &str) -> Result<WebhookId, Problem> {
    text.parse().map_err(|_| Problem::of("webhook_not_found"))
}

/// Set up a webhook. Its secret is in this answer and nowhere else.
///
/// It is told of every write that begins from now on, by a signed `POST` (Standard Webhooks) with ids
/// and the verb, and never with words of a memory.
#[utoipa::path(post, path = "/api/webhooks", tag = "webhooks", request_body = CreateWebhook, responses(
    (status = 201, body = CreatedWebhook),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn create_webhook(
    State(app): State<App>,
    Admin(admin): Admin,
    sent: Sent<CreateWebhook>,
) -> Result<(StatusCode, Json<CreatedWebhook>), Problem> {
    let CreateWebhook { url, verbs } = sent.body;
    let (engine, verbs) = (app.engine().clone(), parse_verbs(&verbs)?);
    let (random, moment) = (clock::random(), clock::moment());
    let work =
        async move { engine.create_webhook(admin.tenant, &url, verbs, &random, moment).await };
    let hook = app.detached(work).await?;
    let created =
        CreatedWebhook { secret: print_secret(&hook.secret), webhook: WebhookView::from(&hook) };
    Ok((StatusCode::CREATED, Json(created)))
}

/// What to change about a webhook. What is absent stays.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EditWebhook {
    url: Option<String>,
    verbs: Option<Vec<String>>,
    /// `true` switches it on again and has it told of what it missed meanwhile.
    enabled: Option<bool>,
}

/// Change a webhook, or switch it off and on.
#[utoipa::path(patch, path = "/api/webhooks/{id}", tag = "webhooks", request_body = EditWebhook, params(
    ("id" = String, Path, description = "The webhook's id")), responses(
    (status = 200, body = WebhookView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn edit_webhook(
    State(app): State<App>,
    Admin(admin): Admin,
    Named(id): Named<String>,
    sent: Sent<EditWebhook>,
) -> Result<Json<WebhookView>, Problem> {
    let EditWebhook { url, verbs, enabled } = sent.body;
    let (engine, id, moment) = (app.engine().clone(), parse_id(&id)?, clock::moment());
    let verbs = verbs.as_deref().map(parse_verbs).transpose()?;
    let edit = WebhookEdit { url, verbs, enabled };
    let work = async move { engine.edit_webhook(admin.tenant, id, edit, moment).await };
    Ok(Json(WebhookView::from(&app.detached(work).await?)))
}

/// Remove a webhook, with what is known about its deliveries.
#[utoipa::path(delete, path = "/api/webhooks/{id}", tag = "webhooks", params(
    ("id" = String, Path, description = "The webhook's id")), responses(
    (status = 204),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn delete_webhook(
    State(app): State<App>,
    Admin(admin): Admin,
    Named(id): Named<String>,
    _sent: Sent<Nothing>,
) -> Result<StatusCode, Problem> {
    let (engine, id) = (app.engine().clone(), parse_id(&id)?);
    app.detached(async move { engine.remove_webhook(admin.tenant, id).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// How a test went.
#[derive(Debug, Serialize, ToSchema)]
pub struct TestedWebhook {
    /// Whether it was answered with a status between 200 and 299.
    delivered: bool,
    /// What it was answered with, if it was.
    status: Option<u16>,
    error: Option<String>,
}

impl From<Tried> for TestedWebhook {
    fn from(tried: Tried) -> Self {
        Self { delivered: tried.is_received(), status: tried.status, error: tried.error }
    }
}

/// Send a webhook a test, and see how it is answered.
#[utoipa::path(post, path = "/api/webhooks/{id}/test", tag = "webhooks", params(
    ("id" = String, Path, description = "The webhook's id")), responses(
    (status = 200, body = TestedWebhook),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn test_webhook(
    State(app): State<App>,
    Admin(admin): Admin,
    Named(id): Named<String>,
    _sent: Sent<Nothing>,
) -> Result<Json<TestedWebhook>, Problem> {
    let tried = app.engine().test_webhook(admin.tenant, parse_id(&id)?, clock::moment()).await?;
    Ok(Json(tried.into()))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DeliveriesQuery {
    /// Only those that are `waiting`, `delivered` or `dead`.
    state: Option<String>,
    /// Between 1 and 200; 50 if absent.
    limit: Option<usize>,
}

/// How a delivery went.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeliveryView {
    /// The operation that was told of; also the `webhook-id` it was sent with.
    #[schema(example = "op_01hx3v9d0kf7rtm4q5wz8yb2cc")]
    id: String,
    /// Whom it is about, by your own id for them.
    user: String,
    #[schema(example = "save")]
    verb: &'static str,
    /// `delivered`; `waiting` to be tried again; `dead` after the last attempt.
    state: &'static str,
    attempts: i32,
    /// What was last answered.
    status: Option<i32>,
    error: Option<String>,
    first_at: Timestamp,
    last_at: Timestamp,
    /// When it is tried again.
    next_at: Option<Timestamp>,
}

impl From<&Delivery> for DeliveryView {
    fn from(delivery: &Delivery) -> Self {
        Self {
            id: delivery.operation.to_string(),
            user: delivery.user.clone(),
            verb: delivery.verb.as_str(),
            state: delivery.state.as_str(),
            attempts: delivery.attempts,
            status: delivery.status,
            error: delivery.error.clone(),
            first_at: delivery.first_at,
            last_at: delivery.last_at,
            next_at: delivery.next_at,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Deliveries {
    data: Vec<DeliveryView>,
}

/// How the latest deliveries went, those that were given up among them; kept for thirty days.
#[utoipa::path(get, path = "/api/webhooks/{id}/deliveries", tag = "webhooks", params(DeliveriesQuery,
    ("id" = String, Path, description = "The webhook's id")), responses(
    (status = 200, body = Deliveries),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_deliveries(
    State(app): State<App>,
    Admin(admin): Admin,
    Named(id): Named<String>,
    Asked(query): Asked<DeliveriesQuery>,
) -> Result<Json<Deliveries>, Problem> {
    let refused =
        || Problem::of("malformed_query").because("`state` is waiting, delivered or dead");
    let parse = |text: &str| DeliveryState::parse(text).ok_or_else(refused);
    let state = query.state.as_deref().map(parse).transpose()?;
    let (id, limit) = (parse_id(&id)?, page_size(query.limit)?);
    let found = app.engine().deliveries(admin.tenant, id, state, limit).await?;
    Ok(Json(Deliveries { data: found.iter().map(DeliveryView::from).collect() }))
}

/// What to send again: everything since a time, or one delivery.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayWebhook {
    #[schema(value_type = Option<String>, format = DateTime)]
    since: Option<When>,
    /// The id of one delivery. It is sent at once, whatever became of it before.
    #[schema(example = "op_01hx3v9d0kf7rtm4q5wz8yb2cc")]
    delivery: Option<String>,
}

/// What is sent again.
#[derive(Debug, Serialize, ToSchema)]
pub struct Replayed {
    /// About how many users everything since the time is told again.
    users: usize,
    /// How the one delivery went.
    delivery: Option<DeliveryView>,
}

/// Send again what was sent before, under the same `webhook-id`s.
#[utoipa::path(post, path = "/api/webhooks/{id}/replay", tag = "webhooks", request_body = ReplayWebhook, params(
    ("id" = String, Path, description = "The webhook's id")), responses(
    (status = 200, body = Replayed),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn replay_webhook(
    State(app): State<App>,
    Admin(admin): Admin,
    Named(id): Named<String>,
    sent: Sent<ReplayWebhook>,
) -> Result<Json<Replayed>, Problem> {
    let (engine, tenant, id) = (app.engine().clone(), admin.tenant, parse_id(&id)?);
    let moment = clock::moment();
    match (sent.body.since, sent.body.delivery) {
        (Some(since), None) => {
            let work = async move { engine.replay_since(tenant, id, since.0, moment).await };
            Ok(Json(Replayed { users: app.detached(work).await?, delivery: None }))
        }
        (None, Some(delivery)) => {
            let delivery = delivery.parse().map_err(|_| Problem::of("delivery_not_found"))?;
            let work = async move { engine.redeliver(tenant, id, delivery, moment).await };
            let went = DeliveryView::from(&app.detached(work).await?);
            Ok(Json(Replayed { users: 0, delivery: Some(went) }))
        }
        _ => {
            let detail = "either `since` or `delivery`".to_owned();
            let field = FieldError { pointer: "/since".into(), detail };
            Err(Problem::of("invalid_request").fields(vec![field]))
        }
    }
}
