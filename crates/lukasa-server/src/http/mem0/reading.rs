//! Reading: search, lists, one memory, its history, and the users there are.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use lukasa_core::{Caller, Status};
use lukasa_engine::facts::{Filter as Standing, Listing, Memory, Point, Target};
use lukasa_engine::recall::Recall;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::App;
use super::super::auth::{Admin, ReadCredential};
use super::super::error::Problem;
use super::super::request::{Asked, Named, Sent};
use super::super::search::QUERY_CHARS;
use super::filter::Filter;
use super::{Parties, about, filtered, malformed, named, shape};
use crate::clock;

/// How many memories are read at once.
const READ: usize = 200;
/// How many memories a search and a page may have.
const MOST: usize = 1000;

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

/// Finds what bears on a question; `score` is how well each fits, between 0 and 1.
pub(super) async fn search(
    State(app): State<App>,
    ReadCredential(admitted): ReadCredential,
    headers: HeaderMap,
    sent: Sent<Search>,
) -> Result<Json<Value>, Problem> {
    let (filter, user) = filtered(&sent.body.filters, &sent.body.parties)?;
    let caller = about(&app, &admitted, &headers, user.as_deref()).await?;
    let Search { query, top_k, limit, threshold, rerank, .. } = &sent.body;
    if query.chars().count() > QUERY_CHARS {
        return Err(malformed(&format!("`query` has at most {QUERY_CHARS} characters")));
    }
    let wanted = top_k.or(*limit).unwrap_or(10).min(MOST);
    let mut ask = Recall::about(query);
    ask.rerank = rerank.unwrap_or(true);
    // What a filter takes away must not leave the answer short.
    ask.memories = if filter.selects() { MOST } else { wanted };
    let found = app.engine().recall(&caller, &ask, clock::now()).await?;
    let least = threshold.unwrap_or(0.0);
    let results: Vec<_> = found
        .memories
        .iter()
        .filter(|found| found.why.relevance >= least)
        .map(|found| (shape::memory(&found.memory, &caller.user_name), found.why.relevance))
        .filter(|(memory, _)| filter.lets_through(memory))
        .take(wanted)
        .map(|(mut memory, score)| {
            memory.insert("score".into(), json!(score));
            memory
        })
        .collect();
    Ok(Json(json!({ "results": results })))
}

/// Every active memory that a filter lets through, newest first.
pub(super) async fn listed(
    app: &App,
    caller: &Caller,
    filter: &Filter,
) -> Result<Vec<Memory>, Problem> {
    let standing = Standing { status: Some(Status::Active), ..Standing::default() };
    let (mut all, mut after) = (Vec::new(), None);
    loop {
        let (point, filter_of) = (Point::default(), standing.clone());
        let listing = Listing { filter: filter_of, point, after, limit: READ };
        let page = app.engine().list(caller, &listing, clock::now()).await?;
        let through =
            |memory: &Memory| filter.lets_through(&shape::memory(memory, &caller.user_name));
        all.extend(page.memories.into_iter().filter(through));
        match page.next {
            Some(next) => after = Some(next),
            None => return Ok(all),
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
    filter: &Filter,
    paging: &Paging,
) -> Result<Json<Value>, Problem> {
    let (page, size) = (paging.page.unwrap_or(1).max(1), paging.page_size.unwrap_or(100));
    let size = size.clamp(1, MOST);
    let all = listed(app, caller, filter).await?;
    let first = (page - 1).saturating_mul(size);
    let shown = all.iter().skip(first).take(size);
    let results: Vec<_> = shown.map(|memory| shape::memory(memory, &caller.user_name)).collect();
    let link = |page: usize| format!("/mem0/v3/memories/?page={page}&page_size={size}");
    let next = (first.saturating_add(size) < all.len()).then(|| link(page + 1));
    let previous = (page > 1).then(|| link(page - 1));
    Ok(Json(json!({
        "count": all.len(), "next": next, "previous": previous, "results": results,
    })))
}

#[derive(Debug, Deserialize)]
pub(super) struct List {
    #[serde(default)]
    filters: Value,
    #[serde(flatten)]
    parties: Parties,
}

/// Lists what a filter lets through, page by page.
pub(super) async fn list_filtered(
    State(app): State<App>,
    ReadCredential(admitted): ReadCredential,
    headers: HeaderMap,
    Asked(paging): Asked<Paging>,
    sent: Sent<List>,
) -> Result<Json<Value>, Problem> {
    let (filter, user) = filtered(&sent.body.filters, &sent.body.parties)?;
    let caller = about(&app, &admitted, &headers, user.as_deref()).await?;
    page_of(&app, &caller, &filter, &paging).await
}

/// The query of what is named in the address.
#[derive(Debug, Default, Deserialize)]
pub(super) struct NamedQuery {
    user_id: Option<String>,
    agent_id: Option<String>,
    app_id: Option<String>,
    run_id: Option<String>,
    /// Some clients put a filter here. One that cannot be read must not be taken for none.
    filters: Option<String>,
    page: Option<usize>,
    page_size: Option<usize>,
}

impl NamedQuery {
    pub(super) fn read(self) -> Result<(Filter, Parties, Paging), Problem> {
        let refuse = || Problem::of("malformed_query").because("`filters` is not JSON");
        let Self { user_id, agent_id, app_id, run_id, filters, page, page_size } = self;
        let filters = filters.map(|text| serde_json::from_str(&text).map_err(|_| refuse()));
        let filters: Value = filters.transpose()?.unwrap_or_default();
        let mut parties = Parties { user_id, agent_id, app_id, run_id };
        let (filter, user) = filtered(&filters, &parties)?;
        parties.user_id = user;
        Ok((filter, parties, Paging { page, page_size }))
    }
}

/// Lists what is named in the address.
pub(super) async fn list_named(
    State(app): State<App>,
    ReadCredential(admitted): ReadCredential,
    headers: HeaderMap,
    Asked(query): Asked<NamedQuery>,
) -> Result<Json<Value>, Problem> {
    let (filter, parties, paging) = query.read()?;
    let user = parties.user_id.as_deref();
    let caller = about(&app, &admitted, &headers, user).await?;
    page_of(&app, &caller, &filter, &paging).await
}

/// One memory that stands now.
pub(super) async fn standing(
    app: &App,
    caller: &Caller,
    target: &Target,
) -> Result<Memory, Problem> {
    let now = clock::now();
    let point = Point { as_of: Some(now), known_at: None };
    Ok(app.engine().get(caller, target, point, now).await?)
}

pub(super) async fn get_one(
    State(app): State<App>,
    ReadCredential(admitted): ReadCredential,
    headers: HeaderMap,
    Named(id): Named<String>,
) -> Result<Json<Value>, Problem> {
    let (caller, target) = named(&app, &admitted, &headers, &id).await?;
    let memory = standing(&app, &caller, &target).await?;
    Ok(Json(shape::memory(&memory, &caller.user_name).into()))
}

pub(super) async fn history(
    State(app): State<App>,
    ReadCredential(admitted): ReadCredential,
    headers: HeaderMap,
    Named(id): Named<String>,
) -> Result<Json<Vec<Value>>, Problem> {
    let (caller, target) = named(&app, &admitted, &headers, &id).await?;
    let entries = app.engine().history(&caller, &target, clock::now()).await?;
    Ok(Json(shape::history(&entries, &caller.user_name)))
}

/// The users, as mem0's entities.
pub(super) async fn entities(
    State(app): State<App>,
    Admin(admitted): Admin,
) -> Result<Json<Value>, Problem> {
    let (mut results, mut after) = (Vec::new(), None);
    loop {
        let (users, next) = app.engine().users(admitted.tenant, after.as_deref(), READ).await?;
        results.extend(users.into_iter().map(|user| {
            json!({
                "id": user.id.to_string(), "name": user.name, "type": "user",
                "created_at": user.created_at, "updated_at": user.created_at,
            })
        }));
        match next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    Ok(Json(json!({
        "count": results.len(), "next": null, "previous": null, "results": results,
    })))
}
