//! mem0 read endpoints: search, lists, one memory, its history, and the users.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use lukasa_core::{Caller, ProjectScope, Status};
use lukasa_engine::directory::UserRecord;
use lukasa_engine::facts::{ListFilter, ListedProjects, Listing, Target};
use lukasa_engine::recall::RecallQuery;
use lukasa_engine::{Memory, Point};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::filter::Mem0Filter;
use super::{Parties, caller_about, malformed, parse_filter, resolve_id, shape};
use crate::api::App;
use crate::api::auth::{Admin, ReadCredential};
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::project::AskedProject;
use crate::api::request::{JsonRequest, PathParams, QueryParams};
use crate::api::search::QUERY_CHARS;

/// How many memories are read from the engine at once.
const BATCH_SIZE: usize = 200;
/// Maximum number of results of a search and of a page.
const MAX_RESULTS: usize = 1000;
/// Maximum number of versions of a memory that a history is made of, the latest.
const MAX_HISTORY: i64 = 1000;

#[derive(Debug, Deserialize)]
pub(super) struct Search {
    query: String,
    #[serde(default)]
    filters: Value,
    #[serde(flatten)]
    parties: Parties,
    top_k: Option<usize>,
    limit: Option<usize>,
    threshold: Option<f32>,
    rerank: Option<bool>,
}

/// Searches for memories; `score` is the relevance of each, between 0 and 1.
pub(super) async fn search(
    State(app): State<App>,
    ReadCredential(admitted): ReadCredential,
    headers: HeaderMap,
    sent: JsonRequest<Search>,
) -> Result<Json<Value>, Problem> {
    let (filter, user) = parse_filter(&sent.body.filters, &sent.body.parties)?;
    let caller = caller_about(&app, &admitted, &headers, user.as_deref()).await?;
    let Search { query, top_k, limit, threshold, rerank, .. } = &sent.body;
    if query.chars().count() > QUERY_CHARS {
        return Err(malformed(&format!("`query` has at most {QUERY_CHARS} characters")));
    }
    let wanted = top_k.or(*limit).unwrap_or(10).min(MAX_RESULTS);
    let mut ask = RecallQuery::about(query);
    ask.projects = Some(AskedProject::read(&headers)?.scope_or_none());
    ask.rerank = rerank.unwrap_or(true);
    // Fetch more if a filter removes results afterwards, so that enough are left.
    ask.memories = if filter.selects() { MAX_RESULTS } else { wanted };
    let found = app.engine().recall.search(&caller, &ask, app.now()).await?;
    let least = threshold.unwrap_or(0.0);
    let results: Vec<_> = found
        .memories
        .iter()
        .filter(|found| found.why.relevance >= least)
        .map(|found| (shape::memory(&found.memory, &caller.user_name), found.why.relevance))
        .filter(|(memory, _)| filter.matches(memory))
        .take(wanted)
        .map(|(mut memory, score)| {
            memory.insert("score".into(), json!(score));
            memory
        })
        .collect();
    Ok(Json(json!({ "results": results })))
}

/// Calls `each` with every active memory of these projects that matches a filter, newest first. One
/// batch of them is held at a time.
pub(super) async fn visit_matching(
    app: &App,
    caller: &Caller,
    projects: &ProjectScope,
    filter: &Mem0Filter,
    mut each: impl FnMut(&Memory, Map<String, Value>) + Send,
) -> Result<(), Problem> {
    let projects = ListedProjects::seen_in(projects);
    let active = ListFilter { status: Some(Status::Active), projects, ..ListFilter::default() };
    let mut after = None;
    loop {
        let (point, filter_of) = (Point::default(), active.clone());
        let listing = Listing { filter: filter_of, point, after, limit: BATCH_SIZE };
        let page = app.engine().facts.list(caller, &listing, app.now()).await?;
        for memory in &page.memories {
            let shown = shape::memory(memory, &caller.user_name);
            if filter.matches(&shown) {
                each(memory, shown);
            }
        }
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(()),
        }
    }
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Paging {
    page: Option<usize>,
    page_size: Option<usize>,
}

async fn page_of(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    filter: &Mem0Filter,
    paging: &Paging,
) -> Result<Json<Value>, Problem> {
    let (page, size) = (paging.page.unwrap_or(1).max(1), paging.page_size.unwrap_or(100));
    let size = size.clamp(1, MAX_RESULTS);
    let projects = AskedProject::read(headers)?.scope_or_none();
    let first = (page - 1).saturating_mul(size);
    let (mut count, mut results) = (0_usize, Vec::new());
    let each = |_: &Memory, shown: Map<String, Value>| {
        if count >= first && results.len() < size {
            results.push(shown);
        }
        count += 1;
    };
    visit_matching(app, caller, &projects, filter, each).await?;
    let link = |page: usize| format!("/mem0/v3/memories/?page={page}&page_size={size}");
    let next = (first.saturating_add(size) < count).then(|| link(page + 1));
    let previous = (page > 1).then(|| link(page - 1));
    Ok(Json(json!({
        "count": count, "next": next, "previous": previous, "results": results,
    })))
}

#[derive(Debug, Deserialize)]
pub(super) struct List {
    #[serde(default)]
    filters: Value,
    #[serde(flatten)]
    parties: Parties,
}

/// Lists the memories that match a filter, page by page.
pub(super) async fn list_filtered(
    State(app): State<App>,
    ReadCredential(admitted): ReadCredential,
    headers: HeaderMap,
    QueryParams(paging): QueryParams<Paging>,
    sent: JsonRequest<List>,
) -> Result<Json<Value>, Problem> {
    let (filter, user) = parse_filter(&sent.body.filters, &sent.body.parties)?;
    let caller = caller_about(&app, &admitted, &headers, user.as_deref()).await?;
    page_of(&app, &caller, &headers, &filter, &paging).await
}

/// Query parameters that select memories.
#[derive(Debug, Default, Deserialize)]
pub(super) struct NamedQuery {
    user_id: Option<String>,
    agent_id: Option<String>,
    app_id: Option<String>,
    run_id: Option<String>,
    /// Some clients send a filter here. An invalid one must be refused, not ignored.
    filters: Option<String>,
    page: Option<usize>,
    page_size: Option<usize>,
}

impl NamedQuery {
    pub(super) fn read(self) -> Result<(Mem0Filter, Parties, Paging), Problem> {
        let refuse = || Problem::of(ErrorCode::MalformedQuery).because("`filters` is not JSON");
        let Self { user_id, agent_id, app_id, run_id, filters, page, page_size } = self;
        let filters = filters.map(|text| serde_json::from_str(&text).map_err(|_| refuse()));
        let filters: Value = filters.transpose()?.unwrap_or_default();
        let mut parties = Parties { user_id, agent_id, app_id, run_id };
        let (filter, user) = parse_filter(&filters, &parties)?;
        parties.user_id = user;
        Ok((filter, parties, Paging { page, page_size }))
    }
}

/// Lists the memories that the query parameters select.
pub(super) async fn list_named(
    State(app): State<App>,
    ReadCredential(admitted): ReadCredential,
    headers: HeaderMap,
    QueryParams(query): QueryParams<NamedQuery>,
) -> Result<Json<Value>, Problem> {
    let (filter, parties, paging) = query.read()?;
    let user = parties.user_id.as_deref();
    let caller = caller_about(&app, &admitted, &headers, user).await?;
    page_of(&app, &caller, &headers, &filter, &paging).await
}

/// Gets a memory that is valid now.
pub(super) async fn get_current(
    app: &App,
    caller: &Caller,
    target: &Target,
) -> Result<Memory, Problem> {
    let now = app.now();
    let point = Point { as_of: Some(now), known_at: None };
    Ok(app.engine().facts.get(caller, target, point, now).await?)
}

pub(super) async fn get_one(
    State(app): State<App>,
    ReadCredential(admitted): ReadCredential,
    headers: HeaderMap,
    PathParams(id): PathParams<String>,
) -> Result<Json<Value>, Problem> {
    let (caller, target) = resolve_id(&app, &admitted, &headers, &id).await?;
    let memory = get_current(&app, &caller, &target).await?;
    Ok(Json(shape::memory(&memory, &caller.user_name).into()))
}

pub(super) async fn history(
    State(app): State<App>,
    ReadCredential(admitted): ReadCredential,
    headers: HeaderMap,
    PathParams(id): PathParams<String>,
) -> Result<Json<Vec<Value>>, Problem> {
    let (caller, target) = resolve_id(&app, &admitted, &headers, &id).await?;
    let facts = &app.engine().facts;
    let entries = facts.latest_history(&caller, &target, MAX_HISTORY, app.now()).await?;
    Ok(Json(shape::history(&entries, &caller.user_name)))
}

/// Query parameters of the list of users.
#[derive(Debug, Default, Deserialize)]
pub(super) struct EntityQuery {
    /// Where the page before ended, as `next` names it.
    cursor: Option<String>,
    page_size: Option<usize>,
}

/// The users, as mem0's entities, page by page.
pub(super) async fn entities(
    State(app): State<App>,
    Admin(admitted): Admin,
    QueryParams(query): QueryParams<EntityQuery>,
) -> Result<Json<Value>, Problem> {
    let size = query.page_size.unwrap_or(MAX_RESULTS).clamp(1, MAX_RESULTS);
    let decoded = |cursor: &String| {
        let name = URL_SAFE_NO_PAD.decode(cursor).ok();
        let name = name.and_then(|name| String::from_utf8(name).ok());
        name.ok_or_else(|| Problem::of(ErrorCode::MalformedCursor))
    };
    let after = query.cursor.as_ref().map(decoded).transpose()?;
    let (users, next) =
        app.engine().directory.users(admitted.tenant, after.as_deref(), size).await?;
    let entity = |user: UserRecord| {
        json!({
            "id": user.id.to_string(), "name": user.name, "type": "user",
            "created_at": user.created_at, "updated_at": user.created_at,
        })
    };
    let results: Vec<Value> = users.into_iter().map(entity).collect();
    let link = |name: String| {
        let cursor = URL_SAFE_NO_PAD.encode(name);
        format!("/mem0/v1/entities/?page_size={size}&cursor={cursor}")
    };
    Ok(Json(json!({
        "count": results.len(), "next": next.map(link), "previous": null, "results": results,
    })))
}
