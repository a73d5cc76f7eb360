//! Policy: what may happen without asking, as set by the tenant and the user.

use std::collections::BTreeMap;

use axum::Json;
use axum::extract::State;
use lukasa_core::Policy;
use lukasa_core::policy::{PRESETS, Patch};
use lukasa_engine::policy::PolicyInForce;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::review::{AnswerView, consent_question};
use crate::api::App;
use crate::api::auth::{Admin, Reader, Writer};
use crate::api::error::Problem;
use crate::api::request::JsonRequest;

/// Policy settings. An absent setting is inherited.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PolicyPatch {
    /// `balanced`, `advisor`, `chat`, `assistant`, `research` or `clone`; the other settings
    /// override it.
    #[serde(skip_serializing_if = "Option::is_none")]
    preset: Option<String>,
    /// What happens with inferred memories: `auto`, `tiered`, `staged` (as `tiered`, but written by
    /// the next consolidation), `propose` or `off`.
    #[serde(skip_serializing_if = "Option::is_none")]
    admission: Option<String>,
    /// The same, per domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    domains: Option<BTreeMap<String, String>>,
    /// When sessions are learned from: `close`, `turn` or `manual`.
    #[serde(skip_serializing_if = "Option::is_none")]
    extract: Option<String>,
    /// How many earlier turns a pass sees again, for context.
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<usize>,
    /// How much of the turns is kept after learning: `full`, `excerpts` or `none`.
    #[serde(skip_serializing_if = "Option::is_none")]
    keep_turns: Option<String>,
    /// After how many days a memory that has expired is permanently removed; 0 means never. A
    /// memory that still has a valid version keeps its whole history.
    #[serde(skip_serializing_if = "Option::is_none")]
    history_days: Option<u32>,
    /// After how many minutes without a turn a session counts as closed; 0 means never.
    #[serde(skip_serializing_if = "Option::is_none")]
    idle_close_minutes: Option<u32>,
    /// Inferred memories are put into prompts from this confidence on; at least 0.7.
    #[serde(skip_serializing_if = "Option::is_none")]
    inject_confidence: Option<f32>,
    /// From this confidence up to `inject_confidence` they are only found by recall; below it they
    /// wait for more evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    recall_confidence: Option<f32>,
    /// Minimum confidence of single categories.
    #[serde(skip_serializing_if = "Option::is_none")]
    floors: Option<BTreeMap<String, f32>>,
    /// Below this importance, inferred memories are only found by recall.
    #[serde(skip_serializing_if = "Option::is_none")]
    inject_importance: Option<f32>,
    /// Whether sessions get a title after their first exchange.
    #[serde(skip_serializing_if = "Option::is_none")]
    titles: Option<bool>,
    /// How many tokens the tenant may spend on chat models in a day; 0 means no limit. Only a
    /// tenant can set it.
    #[serde(skip_serializing_if = "Option::is_none")]
    daily_tokens: Option<u64>,
    /// What assistants may do without asking.
    #[serde(skip_serializing_if = "Option::is_none")]
    agents: Option<AgentsPatch>,
    /// What happens to patterns that were counted in observations: `off`, `ask` (each is a proposal;
    /// the default) or `on` (each is stored, and a strong one is in prompts too, as tentative).
    #[serde(skip_serializing_if = "Option::is_none")]
    observed: Option<String>,
    /// Whether memory is paused: nothing is learned, no turns are stored, only the user can write,
    /// and contexts are empty. Reading and removing still work. `false` if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    paused: Option<bool>,
}

/// What assistants may do without asking.
#[derive(Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentsPatch {
    /// When an assistant may replace a memory that the user stated: `evidence` (with a quotation of
    /// the user; the default), `always` or `never`.
    #[serde(skip_serializing_if = "Option::is_none")]
    replace: Option<String>,
}

impl PolicyPatch {
    fn patch(&self) -> Result<Patch, Problem> {
        let value = serde_json::to_value(self).unwrap_or_default();
        serde_json::from_value(value.clone()).map_err(|error| {
            // The error does not name the field: it is the one that cannot be read alone.
            let fields = value.as_object().into_iter().flatten();
            let mut alone =
                fields.map(|(name, one)| (name, serde_json::json!({ (name.as_str()): one })));
            let wrong =
                alone.find(|(_, one)| serde_json::from_value::<Patch>(one.clone()).is_err());
            Problem::invalid(wrong.map_or("", |(name, _)| name.as_str()), &error.to_string())
        })
    }

    fn of(patch: &Patch) -> Self {
        let value = serde_json::to_value(patch).unwrap_or_default();
        serde_json::from_value(value).unwrap_or_default()
    }
}

/// The policy in force.
#[derive(Debug, Serialize, ToSchema)]
pub struct PolicyView {
    /// All settings, as they are in force.
    #[schema(value_type = Object)]
    in_force: serde_json::Value,
    /// The tenant's settings.
    tenant: PolicyPatch,
    /// The user's settings.
    user: PolicyPatch,
    /// Recorded with every operation.
    #[schema(example = "t1.u2")]
    version: String,
    /// The names of all presets.
    presets: Vec<&'static str>,
    /// The consents that the preset in force asks for and the user has not given.
    consents: Vec<ConsentView>,
}

/// A consent that a preset asks for: without it, what is inferred about the domain is a proposal.
#[derive(Debug, Serialize, ToSchema)]
pub struct ConsentView {
    #[schema(example = "finance")]
    domain: String,
    question: String,
    /// The request that gives it. Only the user can send it.
    yes: AnswerView,
}

impl ConsentView {
    fn of(domain: &str) -> Self {
        let path = format!("/api/domains/{domain}/consent");
        let yes = AnswerView { method: "PUT", path, body: serde_json::json!({}) };
        Self { domain: domain.to_owned(), question: consent_question(domain), yes }
    }
}

impl From<&PolicyInForce> for PolicyView {
    fn from(found: &PolicyInForce) -> Self {
        Self {
            in_force: policy_json(&found.policy),
            tenant: PolicyPatch::of(&found.tenant),
            user: PolicyPatch::of(&found.user),
            version: found.version.clone(),
            presets: PRESETS.to_vec(),
            consents: found.policy.missing_consents().into_iter().map(ConsentView::of).collect(),
        }
    }
}

fn policy_json(policy: &Policy) -> serde_json::Value {
    serde_json::to_value(policy).unwrap_or_default()
}

/// Get the policy in force for the user.
#[utoipa::path(get, path = "/api/policy", tag = "policy", responses(
    (status = 200, body = PolicyView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_policy(
    State(app): State<App>,
    Reader(caller): Reader,
) -> Result<Json<PolicyView>, Problem> {
    Ok(Json(PolicyView::from(&app.engine().policies.get(&caller, app.now()).await?)))
}

/// Set the user's policy.
///
/// Replaces the user's earlier settings; absent settings are inherited from the tenant. If the preset
/// asks for a consent that the user has not given, `consents` contains it.
#[utoipa::path(put, path = "/api/policy", tag = "policy", request_body = PolicyPatch, responses(
    (status = 200, body = PolicyView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn put_policy(
    State(app): State<App>,
    Writer(caller): Writer,
    sent: JsonRequest<PolicyPatch>,
) -> Result<Json<PolicyView>, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let patch = sent.body.patch()?;
    let work = async move { engine.policies.set(&request, patch).await };
    Ok(Json(PolicyView::from(&app.detached(work).await?)))
}

/// The tenant's policy.
#[derive(Debug, Serialize, ToSchema)]
pub struct TenantPolicyView {
    /// All settings, as they are in force for a user without settings.
    #[schema(value_type = Object)]
    in_force: serde_json::Value,
    tenant: PolicyPatch,
    version: i32,
}

fn tenant_view((policy, patch, version): (Policy, Patch, i32)) -> TenantPolicyView {
    TenantPolicyView { in_force: policy_json(&policy), tenant: PolicyPatch::of(&patch), version }
}

/// Get the tenant's policy.
#[utoipa::path(get, path = "/api/tenant/policy", tag = "policy", responses(
    (status = 200, body = TenantPolicyView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_tenant_policy(
    State(app): State<App>,
    Admin(admin): Admin,
) -> Result<Json<TenantPolicyView>, Problem> {
    Ok(Json(tenant_view(app.engine().policies.get_for_tenant(admin.tenant).await?)))
}

/// Set the tenant's policy, for all its users.
#[utoipa::path(put, path = "/api/tenant/policy", tag = "policy", request_body = PolicyPatch, responses(
    (status = 200, body = TenantPolicyView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn put_tenant_policy(
    State(app): State<App>,
    Admin(admin): Admin,
    sent: JsonRequest<PolicyPatch>,
) -> Result<Json<TenantPolicyView>, Problem> {
    let engine = app.engine().clone();
    let (patch, moment) = (sent.body.patch()?, app.moment());
    let work = async move { engine.policies.set_for_tenant(&admin, patch, moment).await };
    Ok(Json(tenant_view(app.detached(work).await?)))
}
