//! Policy: what may happen without asking, as the tenant and the user have said it.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use lukasa_core::Policy;
use lukasa_core::policy::{PRESETS, Patch};
use lukasa_engine::policy::PolicyInForce;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::App;
use super::auth::{Admin, Reader, Writer};
use super::error::Problem;
use super::request::Sent;
use crate::clock;

/// What may happen without asking. What is absent is not said.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyPatch {
    /// `balanced`, `advisor`, `chat`, `assistant`, `research` or `clone`; the rest is on top of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    preset: Option<String>,
    /// What becomes of what was inferred: `auto`, `tiered`, `propose` or `off`.
    #[serde(skip_serializing_if = "Option::is_none")]
    admission: Option<String>,
    /// The same for single domains.
    #[serde(skip_serializing_if = "Option::is_none")]
    domains: Option<BTreeMap<String, String>>,
    /// When conversations are learned from: `close`, `turn`, `idle` or `manual`.
    #[serde(skip_serializing_if = "Option::is_none")]
    extract: Option<String>,
    /// How many turns that were learned from a pass sees again, for context.
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<usize>,
    /// How much of what is said is kept once it was learned from: `full`, `excerpts` or `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    keep_turns: Option<String>,
    /// After how many silent minutes a session counts as closed; 0 means never.
    #[serde(skip_serializing_if = "Option::is_none")]
    idle_close_minutes: Option<u32>,
    /// From this confidence on, what was inferred goes into prompts; at least 0.7.
    #[serde(skip_serializing_if = "Option::is_none")]
    inject_confidence: Option<f32>,
    /// From here up to that, it is found by recall only; below, it waits for more evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    recall_confidence: Option<f32>,
    /// Categories that need more confidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    floors: Option<BTreeMap<String, f32>>,
    /// Below this importance, what was inferred is found by recall only.
    #[serde(skip_serializing_if = "Option::is_none")]
    inject_importance: Option<f32>,
    /// Whether chats are named after their first exchange.
    #[serde(skip_serializing_if = "Option::is_none")]
    titles: Option<bool>,
    /// How many tokens the tenant may spend on chat models in a day; 0 means no limit. Only a
    /// tenant can say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    daily_tokens: Option<u64>,
    /// What assistants may do without asking.
    #[serde(skip_serializing_if = "Option::is_none")]
    agents: Option<AgentsPatch>,
}

/// What assistants may do without asking.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentsPatch {
    /// When an assistant may replace what the user stated: `evidence` (with a quotation from what the
    /// user typed; the default), `always` or `never`.
    #[serde(skip_serializing_if = "Option::is_none")]
    replace: Option<String>,
}

impl PolicyPatch {
    fn patch(&self) -> Result<Patch, Problem> {
        let value = serde_json::to_value(self).unwrap_or_default();
        serde_json::from_value(value)
            .map_err(|error| Problem::of("malformed_body").because(&error.to_string()))
    }

    fn of(patch: &Patch) -> Self {
        let value = serde_json::to_value(patch).unwrap_or_default();
        serde_json::from_value(value).unwrap_or_default()
    }
}

/// The policy in force.
#[derive(Debug, Serialize, ToSchema)]
pub struct PolicyView {
    /// Everything, as it holds now.
    #[schema(value_type = Object)]
    in_force: serde_json::Value,
    /// What the tenant has said.
    tenant: PolicyPatch,
    /// What the user has said.
    user: PolicyPatch,
    /// Stamped on every operation made under it.
    #[schema(example = "t1.u2")]
    version: String,
    /// The names of all presets.
    presets: Vec<&'static str>,
}

impl From<&PolicyInForce> for PolicyView {
    fn from(found: &PolicyInForce) -> Self {
        Self {
            in_force: whole(&found.policy),
            tenant: PolicyPatch::of(&found.tenant),
            user: PolicyPatch::of(&found.user),
            version: found.version.clone(),
            presets: PRESETS.to_vec(),
        }
    }
}

fn whole(policy: &Policy) -> serde_json::Value {
    serde_json::to_value(policy).unwrap_or_default()
}

/// What may happen without asking?
#[utoipa::path(get, path = "/api/policy", tag = "policy", responses(
    (status = 200, body = PolicyView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_policy(
    State(app): State<App>,
    Reader(caller): Reader,
) -> Result<Json<PolicyView>, Problem> {
    Ok(Json(PolicyView::from(&app.engine().policy(&caller, clock::now()).await?)))
}

/// Say what may happen without asking.
///
/// Takes the place of what the user said before; what they leave out is the tenant's to say.
#[utoipa::path(put, path = "/api/policy", tag = "policy", request_body = PolicyPatch, responses(
    (status = 200, body = PolicyView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn put_policy(
    State(app): State<App>,
    Writer(caller): Writer,
    sent: Sent<PolicyPatch>,
) -> Result<Json<PolicyView>, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let patch = sent.body.patch()?;
    let work = async move { engine.set_policy(&request, patch).await };
    Ok(Json(PolicyView::from(&app.detached(work).await?)))
}

/// The tenant's policy.
#[derive(Debug, Serialize, ToSchema)]
pub struct TenantPolicyView {
    /// Everything, as it holds for a user who has said nothing.
    #[schema(value_type = Object)]
    in_force: serde_json::Value,
    tenant: PolicyPatch,
    version: i32,
}

fn tenant_view((policy, patch, version): (Policy, Patch, i32)) -> TenantPolicyView {
    TenantPolicyView { in_force: whole(&policy), tenant: PolicyPatch::of(&patch), version }
}

/// What may happen to all users of the tenant without asking?
#[utoipa::path(get, path = "/api/tenant/policy", tag = "policy", responses(
    (status = 200, body = TenantPolicyView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_tenant_policy(
    State(app): State<App>,
    Admin(admin): Admin,
) -> Result<Json<TenantPolicyView>, Problem> {
    Ok(Json(tenant_view(app.engine().tenant_policy(admin.tenant).await?)))
}

/// Say it for all users of the tenant.
#[utoipa::path(put, path = "/api/tenant/policy", tag = "policy", request_body = PolicyPatch, responses(
    (status = 200, body = TenantPolicyView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn put_tenant_policy(
    State(app): State<App>,
    Admin(admin): Admin,
    sent: Sent<PolicyPatch>,
) -> Result<Json<TenantPolicyView>, Problem> {
    let (engine, tenant) = (app.engine().clone(), admin.tenant);
    let (patch, by, moment) = (sent.body.patch()?, admin.key_id, clock::moment());
    let work = async move { engine.set_tenant_policy(tenant, patch, &by, moment).await };
    Ok(Json(tenant_view(app.detached(work).await?)))
}
