//! Webhooks of a tenant: configuration, delivery log and redelivery.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use lukasa_core::secret::OVERLAP_HOURS;
use lukasa_core::{Delivery, DeliveryState, Timestamp, Verb, Webhook, WebhookId};
use lukasa_engine::webhooks::{DeliveryAttempt, WebhookEdit};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::removal::Nothing;
use crate::api::App;
use crate::api::auth::Admin;
use crate::api::code::ErrorCode;
use crate::api::error::{FieldError, Problem};
use crate::api::request::{JsonRequest, PathParams, QueryParams, page_size};
use crate::api::wire::When;
use crate::clock;
use crate::webhook::print_secret;

/// A webhook, without its secret.
#[derive(Debug, Serialize, ToSchema)]
pub struct WebhookView {
    #[schema(example = "whk_01hx3v9d0kf7rtm4q5wz8yb2cd")]
    id: String,
    #[schema(example = "https://example.com/lukasa")]
    url: String,
    /// The kinds of operation it is subscribed to; all if empty.
    verbs: Vec<&'static str>,
    created_at: Timestamp,
    enabled: bool,
    /// Since when it is disabled, and why.
    disabled_at: Option<Timestamp>,
    disabled_because: Option<String>,
    /// Since when deliveries have failed; null if the last one succeeded.
    failing_since: Option<Timestamp>,
    /// Until when deliveries are also signed with the secret before the last rotation.
    previous_secret_until: Option<Timestamp>,
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
            previous_secret_until: hook.previous_until,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct Webhooks {
    data: Vec<WebhookView>,
}

/// List the tenant's webhooks, without their secrets.
#[utoipa::path(get, path = "/api/webhooks", tag = "webhooks", responses(
    (status = 200, body = Webhooks),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_webhooks(
    State(app): State<App>,
    Admin(admin): Admin,
) -> Result<Json<Webhooks>, Problem> {
    let hooks = app.engine().webhooks.list(admin.tenant).await?;
    Ok(Json(Webhooks { data: hooks.iter().map(WebhookView::from).collect() }))
}

/// A webhook to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateWebhook {
    /// The address to post to: `https`, on the public internet.
    #[schema(example = "https://example.com/lukasa")]
    url: String,
    /// Only these kinds of operation, such as `save` or `erase`; all of them if absent.
    #[serde(default)]
    verbs: Vec<String>,
}

/// A webhook with its new secret, which is shown only once.
#[derive(Debug, Serialize, ToSchema)]
pub struct CreatedWebhook {
    /// The secret that signs deliveries. It cannot be shown again.
    #[schema(example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]
    secret: String,
    #[serde(flatten)]
    webhook: WebhookView,
}

fn parse_verbs(texts: &[String]) -> Result<Vec<Verb>, Problem> {
    let parse = |text: &String| Verb::parse(text).ok_or_else(unknown_verb);
    let mut verbs = Vec::new();
    for verb in texts.iter().map(parse) {
        let verb = verb?;
        if !verbs.contains(&verb) {
            verbs.push(verb);
        }
    }
    Ok(verbs)
}

fn unknown_verb() -> Problem {
    let all = Verb::ALL.map(Verb::as_str).join(", ");
    let field = FieldError { pointer: "/verbs".into(), detail: format!("one of {all}") };
    Problem::of(ErrorCode::InvalidRequest).fields(vec![field])
}

fn parse_id(text: &str) -> Result<WebhookId, Problem> {
    text.parse().map_err(|_| Problem::of(ErrorCode::WebhookNotFound))
}

/// Create a webhook. Its secret is shown only in this answer.
///
/// It receives every write from now on as a signed `POST` (Standard Webhooks) with ids and the
/// verb, never with text of a memory.
#[utoipa::path(post, path = "/api/webhooks", tag = "webhooks", request_body = CreateWebhook, responses(
    (status = 201, body = CreatedWebhook),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn create_webhook(
    State(app): State<App>,
    Admin(admin): Admin,
    sent: JsonRequest<CreateWebhook>,
) -> Result<(StatusCode, Json<CreatedWebhook>), Problem> {
    let once = sent.once(&admin.key_id);
    let CreateWebhook { url, verbs } = sent.body;
    let (engine, verbs) = (app.engine().clone(), parse_verbs(&verbs)?);
    let (random, moment) = (clock::random(), app.moment());
    let work = async move { engine.webhooks.create(&admin, &url, verbs, &random, moment).await };
    let hook = app.detached_once(once, work).await?;
    let created =
        CreatedWebhook { secret: print_secret(&hook.secret), webhook: WebhookView::from(&hook) };
    Ok((StatusCode::CREATED, Json(created)))
}

/// How to replace a secret.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RotateSecret {
    /// For how many hours the old one stays valid, up to 720; 24 if absent.
    #[schema(example = 24)]
    pub(super) overlap_hours: Option<i64>,
}

/// Replace the secret of a webhook. The new one is shown only in this answer.
///
/// During the overlap `webhook-signature` has a signature with each of both secrets, so that the
/// receiver can change to the new one. A second rotation before its end is refused, unless its own
/// overlap is 0.
#[utoipa::path(post, path = "/api/webhooks/{id}/rotate", tag = "webhooks", request_body = RotateSecret, params(
    ("id" = String, Path, description = "The webhook's id")), responses(
    (status = 200, body = CreatedWebhook),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn rotate_webhook(
    State(app): State<App>,
    Admin(admin): Admin,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<RotateSecret>,
) -> Result<Json<CreatedWebhook>, Problem> {
    let (engine, id) = (app.engine().clone(), parse_id(&id)?);
    let (random, now) = (clock::random(), app.now());
    let hours = sent.body.overlap_hours.unwrap_or(OVERLAP_HOURS);
    let work = async move { engine.webhooks.rotate_secret(&admin, id, hours, &random, now).await };
    let hook = app.detached(work).await?;
    let (secret, webhook) = (print_secret(&hook.secret), WebhookView::from(&hook));
    Ok(Json(CreatedWebhook { secret, webhook }))
}

/// Changes to a webhook. An absent field stays as it is.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct EditWebhook {
    url: Option<String>,
    verbs: Option<Vec<String>>,
    /// `true` enables it again and sends what it missed.
    enabled: Option<bool>,
}

/// Change, disable or enable a webhook.
#[utoipa::path(patch, path = "/api/webhooks/{id}", tag = "webhooks", request_body = EditWebhook, params(
    ("id" = String, Path, description = "The webhook's id")), responses(
    (status = 200, body = WebhookView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn edit_webhook(
    State(app): State<App>,
    Admin(admin): Admin,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<EditWebhook>,
) -> Result<Json<WebhookView>, Problem> {
    let EditWebhook { url, verbs, enabled } = sent.body;
    let (engine, id, moment) = (app.engine().clone(), parse_id(&id)?, app.moment());
    let verbs = verbs.as_deref().map(parse_verbs).transpose()?;
    let edit = WebhookEdit { url, verbs, enabled };
    let work = async move { engine.webhooks.edit(&admin, id, edit, moment).await };
    Ok(Json(WebhookView::from(&app.detached(work).await?)))
}

/// Delete a webhook and its delivery log.
#[utoipa::path(delete, path = "/api/webhooks/{id}", tag = "webhooks", params(
    ("id" = String, Path, description = "The webhook's id")), responses(
    (status = 204),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn delete_webhook(
    State(app): State<App>,
    Admin(admin): Admin,
    PathParams(id): PathParams<String>,
    _sent: JsonRequest<Nothing>,
) -> Result<StatusCode, Problem> {
    let (engine, id, now) = (app.engine().clone(), parse_id(&id)?, app.now());
    app.detached(async move { engine.webhooks.remove(&admin, id, now).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Result of a test delivery.
#[derive(Debug, Serialize, ToSchema)]
pub struct TestedWebhook {
    /// Whether the answer had a status between 200 and 299.
    delivered: bool,
    /// The status of the answer, if there was one.
    status: Option<u16>,
    error: Option<String>,
}

impl From<DeliveryAttempt> for TestedWebhook {
    fn from(tried: DeliveryAttempt) -> Self {
        Self { delivered: tried.is_received(), status: tried.status, error: tried.error }
    }
}

/// Send a test delivery to a webhook.
#[utoipa::path(post, path = "/api/webhooks/{id}/test", tag = "webhooks", params(
    ("id" = String, Path, description = "The webhook's id")), responses(
    (status = 200, body = TestedWebhook),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn test_webhook(
    State(app): State<App>,
    Admin(admin): Admin,
    PathParams(id): PathParams<String>,
    _sent: JsonRequest<Nothing>,
) -> Result<Json<TestedWebhook>, Problem> {
    let tried = app.engine().webhooks.test(admin.tenant, parse_id(&id)?, app.moment()).await?;
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

/// A delivery and its state.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeliveryView {
    /// The id of the operation; also the `webhook-id` it was sent with.
    #[schema(example = "op_01hx3v9d0kf7rtm4q5wz8yb2cc")]
    id: String,
    /// The user of the operation, by your own id.
    user: String,
    #[schema(example = "save")]
    verb: &'static str,
    /// `delivered`; `waiting` for a retry; `dead` after the last attempt.
    state: &'static str,
    attempts: i32,
    /// The status of the last answer.
    status: Option<i32>,
    error: Option<String>,
    first_at: Timestamp,
    last_at: Timestamp,
    /// When it is retried.
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

/// List the latest deliveries, including failed ones.
///
/// They are kept for thirty days.
#[utoipa::path(get, path = "/api/webhooks/{id}/deliveries", tag = "webhooks", params(DeliveriesQuery,
    ("id" = String, Path, description = "The webhook's id")), responses(
    (status = 200, body = Deliveries),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_deliveries(
    State(app): State<App>,
    Admin(admin): Admin,
    PathParams(id): PathParams<String>,
    QueryParams(query): QueryParams<DeliveriesQuery>,
) -> Result<Json<Deliveries>, Problem> {
    let refused = || {
        Problem::of(ErrorCode::MalformedQuery).because("`state` must be waiting, delivered or dead")
    };
    let parse = |text: &str| DeliveryState::parse(text).ok_or_else(refused);
    let state = query.state.as_deref().map(parse).transpose()?;
    let (id, limit) = (parse_id(&id)?, page_size(query.limit)?);
    let found = app.engine().webhooks.deliveries(admin.tenant, id, state, limit).await?;
    Ok(Json(Deliveries { data: found.iter().map(DeliveryView::from).collect() }))
}

/// Deliveries to send again: all since a time, or one.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ReplayWebhook {
    #[schema(value_type = Option<String>, format = DateTime)]
    since: Option<When>,
    /// The id of one delivery. It is sent at once, whatever its state.
    #[schema(example = "op_01hx3v9d0kf7rtm4q5wz8yb2cc")]
    delivery: Option<String>,
}

/// Result of a replay.
#[derive(Debug, Serialize, ToSchema)]
pub struct Replayed {
    /// The number of users whose operations since the time are sent again.
    users: usize,
    /// The result of the one delivery.
    delivery: Option<DeliveryView>,
}

/// Send deliveries again, with the same `webhook-id`s.
#[utoipa::path(post, path = "/api/webhooks/{id}/replay", tag = "webhooks", request_body = ReplayWebhook, params(
    ("id" = String, Path, description = "The webhook's id")), responses(
    (status = 200, body = Replayed),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn replay_webhook(
    State(app): State<App>,
    Admin(admin): Admin,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<ReplayWebhook>,
) -> Result<Json<Replayed>, Problem> {
    let (engine, tenant, id) = (app.engine().clone(), admin.tenant, parse_id(&id)?);
    let moment = app.moment();
    match (sent.body.since, sent.body.delivery) {
        (Some(since), None) => {
            let work =
                async move { engine.webhooks.replay_since(tenant, id, since.0, moment).await };
            Ok(Json(Replayed { users: app.detached(work).await?, delivery: None }))
        }
        (None, Some(delivery)) => {
            let delivery =
                delivery.parse().map_err(|_| Problem::of(ErrorCode::DeliveryNotFound))?;
            let work = async move { engine.webhooks.redeliver(tenant, id, delivery, moment).await };
            let delivered = DeliveryView::from(&app.detached(work).await?);
            Ok(Json(Replayed { users: 0, delivery: Some(delivered) }))
        }
        _ => {
            let detail = "give either `since` or `delivery`".to_owned();
            let field = FieldError { pointer: "/since".into(), detail };
            Err(Problem::of(ErrorCode::InvalidRequest).fields(vec![field]))
        }
    }
}
