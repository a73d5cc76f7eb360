//! mem0 endpoints that change or delete. Nothing is overwritten; deleting is forgetting, which can
//! be undone.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use lukasa_core::{Caller, Edit};
use lukasa_engine::credentials::VerifiedCredential;
use lukasa_engine::facts::{Target, Update, UpdateMode};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::filter::Mem0Filter;
use super::reading::{NamedQuery, get_current, visit_matching};
use super::shape::PARTIES;
use super::{caller_about, derive_key, malformed, resolve_id, resolve_item, shape};
use crate::api::App;
use crate::api::auth::WriteCredential;
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::project::AskedProject;
use crate::api::request::{JsonRequest, PathParams, QueryParams};

/// Body of `update`. A null `expiration_date` removes the end.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Change {
    text: Option<String>,
    /// An older name of `text`.
    data: Option<String>,
    metadata: Option<Map<String, Value>>,
    timestamp: Option<Value>,
    #[serde(default, deserialize_with = "crate::api::wire::present")]
    expiration_date: Option<Option<String>>,
}

pub(super) async fn update(
    State(app): State<App>,
    WriteCredential(admitted): WriteCredential,
    headers: HeaderMap,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<Change>,
) -> Result<Json<Value>, Problem> {
    let item = Item { place: 0, id: &id, change: &sent.body };
    Ok(Json(change(&app, &admitted, &headers, &sent, item).await?.into()))
}

/// One memory to change, and its place in the request.
struct Item<'a> {
    place: usize,
    id: &'a str,
    change: &'a Change,
}

/// Changes a memory from now on; the earlier version stays in the history.
async fn change<T>(
    app: &App,
    admitted: &VerifiedCredential,
    headers: &HeaderMap,
    sent: &JsonRequest<T>,
    Item { place, id, change }: Item<'_>,
) -> Result<Map<String, Value>, Problem> {
    let (caller, target) = resolve_item(app, admitted, headers, id, place).await?;
    let caller = caller.through_a_model();
    let mut memory = get_current(app, &caller, &target).await?;
    let refuse = |name: &str| malformed(&format!("`{name}` is not a time"));
    let at = |value: &Value| shape::instant(value).ok_or_else(|| refuse("timestamp"));
    let mut edit = Edit::default();
    if let Some(text) = change.text.as_deref().or(change.data.as_deref()) {
        let (content, detail) = shape::line(text);
        (edit.content, edit.detail) = (Some(content), Some(detail));
    }
    if let Some(metadata) = &change.metadata {
        let mut fields = shape::extra_fields(&memory);
        fields.insert("metadata".into(), metadata.clone().into());
        let (key, value) = shape::key_and_value(fields);
        (edit.key, edit.value) = (Some(key), Some(value));
    }
    let mut steps = Vec::new();
    if !edit.is_empty() {
        let effective = change.timestamp.as_ref().map(at).transpose()?;
        steps.push(Update { mode: UpdateMode::Change { effective }, ..Update::change(edit) });
    }
    if let Some(day) = &change.expiration_date {
        let end = |day: &String| shape::end_of(day).ok_or_else(|| refuse("expiration_date"));
        let valid_until = Some(day.as_ref().map(end).transpose()?);
        let mode = UpdateMode::Correct { valid_from: None, valid_until };
        steps.push(Update { mode, ..Update::correct(Edit::default()) });
    }
    for (step_place, step) in steps.into_iter().enumerate() {
        let (engine, target) = (app.engine().clone(), target.clone());
        let mut request = sent.request(caller.clone());
        derive_key(&mut request, &format!("update {place} {step_place}"));
        let work = async move { engine.facts.update(&request, &target, step).await };
        memory = app.detached(work).await?.memories.into_iter().next().unwrap_or(memory);
    }
    let mut response = shape::memory(&memory, &caller.user_name);
    response.insert("message".into(), "Memory updated successfully!".into());
    Ok(response)
}

/// Waits until the rates allow one more of the items of a request, each of which is a transaction of
/// its own. The first was counted with the request.
pub(super) async fn pace(app: &App, admitted: &VerifiedCredential, caller: &Caller, place: usize) {
    if place > 0 {
        app.limits().wait_for_rates(admitted, caller).await;
    }
}

/// Forgets a memory; undo or restore reverses it.
async fn forget_one(app: &App, caller: &Caller, target: Target) -> Result<(), Problem> {
    let engine = app.engine().clone();
    let request = lukasa_engine::Request::new(caller.through_a_model(), app.moment());
    app.detached(async move { engine.removals.forget(&request, &target).await }).await?;
    Ok(())
}

pub(super) async fn forget(
    State(app): State<App>,
    WriteCredential(admitted): WriteCredential,
    headers: HeaderMap,
    PathParams(id): PathParams<String>,
) -> Result<Json<Value>, Problem> {
    let (caller, target) = resolve_id(&app, &admitted, &headers, &id).await?;
    get_current(&app, &caller, &target).await?;
    forget_one(&app, &caller, target).await?;
    Ok(Json(json!({ "message": "Memory deleted successfully!" })))
}

/// Forgets every memory that matches a filter, with one operation for each, which counts as a
/// request. Without a project it forgets those of every project.
async fn forget_matching(
    app: &App,
    admitted: &VerifiedCredential,
    caller: &Caller,
    headers: &HeaderMap,
    filter: &Mem0Filter,
) -> Result<(), Problem> {
    // A request to delete everything includes what belongs to a project.
    let projects = AskedProject::read(headers)?.scope_or_all();
    let mut all = Vec::new();
    visit_matching(app, caller, &projects, filter, |memory, _| all.push(memory.version.fact))
        .await?;
    for (place, fact) in all.into_iter().enumerate() {
        pace(app, admitted, caller, place).await;
        forget_one(app, caller, Target::Id(fact)).await?;
    }
    Ok(())
}

pub(super) async fn forget_all(
    State(app): State<App>,
    WriteCredential(admitted): WriteCredential,
    headers: HeaderMap,
    QueryParams(query): QueryParams<NamedQuery>,
) -> Result<Json<Value>, Problem> {
    let (filter, parties, _) = query.read()?;
    if parties.user_id.is_none() && !filter.selects() {
        // Everything is forgotten only if the request names the user.
        return Err(Problem::of(ErrorCode::UserRequired));
    }
    let user = parties.user_id.as_deref();
    let caller = caller_about(&app, &admitted, &headers, user).await?;
    forget_matching(&app, &admitted, &caller, &headers, &filter).await?;
    Ok(Json(json!({ "message": "Memories deleted successfully!" })))
}

pub(super) async fn forget_entity(
    State(app): State<App>,
    WriteCredential(admitted): WriteCredential,
    headers: HeaderMap,
    PathParams((kind, name)): PathParams<(String, String)>,
) -> Result<Json<Value>, Problem> {
    let field = format!("{kind}_id");
    if field != "user_id" && !PARTIES.contains(&field.as_str()) {
        return Err(Problem::of(ErrorCode::NotFound));
    }
    let filter = Mem0Filter::is(&field, &name);
    let user = filter.user().unwrap_or_default();
    let caller = caller_about(&app, &admitted, &headers, user.as_deref()).await?;
    forget_matching(&app, &admitted, &caller, &headers, &filter).await?;
    Ok(Json(json!({ "message": "Entity deleted successfully!" })))
}
/// Maximum number of memories in a batch, and of messages in one request.
pub(super) const MAX_BATCH: usize = 500;

fn check_batch(batch: &Batch) -> Result<(), Problem> {
    match batch.memories.len() {
        0..=MAX_BATCH => Ok(()),
        _ => Err(malformed(&format!("a batch has at most {MAX_BATCH} memories"))),
    }
}

/// A batch of memories, each by its id.
#[derive(Debug, Deserialize)]
pub(super) struct Batch {
    memories: Vec<BatchItem>,
}

#[derive(Debug, Deserialize)]
pub(super) struct BatchItem {
    memory_id: String,
    #[serde(flatten)]
    change: Change,
}

pub(super) async fn update_several(
    State(app): State<App>,
    WriteCredential(admitted): WriteCredential,
    headers: HeaderMap,
    sent: JsonRequest<Batch>,
) -> Result<Json<Value>, Problem> {
    check_batch(&sent.body)?;
    for (place, one) in sent.body.memories.iter().enumerate() {
        let item = Item { place, id: &one.memory_id, change: &one.change };
        change(&app, &admitted, &headers, &sent, item).await?;
    }
    Ok(Json(json!({
        "message": format!("Successfully updated {} memories", sent.body.memories.len()),
    })))
}

pub(super) async fn forget_several(
    State(app): State<App>,
    WriteCredential(admitted): WriteCredential,
    headers: HeaderMap,
    sent: JsonRequest<Batch>,
) -> Result<Json<Value>, Problem> {
    check_batch(&sent.body)?;
    for (place, one) in sent.body.memories.iter().enumerate() {
        let item = resolve_item(&app, &admitted, &headers, &one.memory_id, place);
        let (caller, target) = item.await?;
        get_current(&app, &caller, &target).await?;
        forget_one(&app, &caller, target).await?;
    }
    Ok(Json(json!({
        "message": format!("Successfully deleted {} memories", sent.body.memories.len()),
    })))
}
