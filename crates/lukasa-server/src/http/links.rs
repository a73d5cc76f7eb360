//! Links between memories.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lukasa_engine::facts::{MAX_GRAPH_DEPTH, MemoryGraph};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::memory::{create_response, write_response};
use super::removal::Nothing;
use crate::api::App;
use crate::api::auth::{Reader, Writer};
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::memory::target;
use crate::api::project::AskedProject;
use crate::api::request::{
    JsonRequest, PathParams, QueryParams, page_size, parse_cursor, print_cursor,
};
use crate::api::wire::{LinkView, MemoryView, WriteResult};

/// A page of the links from and to a memory, without those to removed memories.
#[derive(Debug, Serialize, ToSchema)]
pub struct Links {
    data: Vec<LinkView>,
    /// Pass it back as `cursor` for the next page; null at the end.
    next_cursor: Option<String>,
}

/// Which links to list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct LinksQuery {
    /// Between 1 and 200; 50 if absent.
    limit: Option<usize>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// List the links of a memory, in the order they were made.
#[utoipa::path(get, path = "/api/memory/{id}/links", tag = "links", params(
    ("id" = String, Path, description = "A memory's id, or text that occurs in exactly one active memory"),
    LinksQuery), responses(
    (status = 200, body = Links),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_links(
    State(app): State<App>,
    Reader(caller): Reader,
    asked: AskedProject,
    PathParams(id): PathParams<String>,
    QueryParams(query): QueryParams<LinksQuery>,
) -> Result<Json<Links>, Problem> {
    let (of, projects) = (asked.target(&id), asked.scope_or_all());
    let after = query.cursor.as_deref().map(parse_cursor).transpose()?;
    let place = (after, page_size(query.limit)?);
    let page = app.engine().facts.links(&caller, &of, &projects, place, app.now()).await?;
    Ok(Json(Links {
        data: page.links.iter().map(LinkView::from).collect(),
        next_cursor: page.next.as_ref().map(print_cursor),
    }))
}

/// How far to follow the links of a memory.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct GraphQuery {
    /// How many links away a memory may be, between 1 and 3; 3 if absent.
    depth: Option<usize>,
}

/// A memory of a graph.
#[derive(Debug, Serialize, ToSchema)]
pub struct GraphMemoryView {
    memory: MemoryView,
    /// How many links away it is; 0 for the memory itself.
    distance: usize,
}

/// The memories that are linked with a memory, directly or over others.
#[derive(Debug, Serialize, ToSchema)]
pub struct MemoryGraphView {
    /// The nearest first; the memory itself is the first.
    memories: Vec<GraphMemoryView>,
    links: Vec<LinkView>,
    /// Whether some were left out: a graph has at most 200 memories.
    truncated: bool,
}

impl From<&MemoryGraph> for MemoryGraphView {
    fn from(graph: &MemoryGraph) -> Self {
        let memories = graph.memories.iter().map(|(memory, distance)| GraphMemoryView {
            memory: MemoryView::from(memory),
            distance: *distance,
        });
        let links = graph.links.iter().map(|link| LinkView::new(link, None));
        Self { memories: memories.collect(), links: links.collect(), truncated: graph.is_cut }
    }
}

/// Follow the links of a memory.
///
/// Lists the memories that can be reached over at most `depth` links in either direction, such as the
/// projects of a person and what these depend on. Removed memories are not followed.
#[utoipa::path(get, path = "/api/memory/{id}/graph", tag = "links", params(
    ("id" = String, Path, description = "A memory's id, or text that occurs in exactly one active memory"),
    GraphQuery), responses(
    (status = 200, body = MemoryGraphView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_memory_graph(
    State(app): State<App>,
    Reader(caller): Reader,
    asked: AskedProject,
    PathParams(id): PathParams<String>,
    QueryParams(query): QueryParams<GraphQuery>,
) -> Result<Json<MemoryGraphView>, Problem> {
    let depth = query.depth.unwrap_or(MAX_GRAPH_DEPTH);
    let (of, projects) = (asked.target(&id), asked.scope_or_all());
    let facts = &app.engine().facts;
    let graph = facts.graph(&caller, &of, depth, &projects, app.now()).await?;
    Ok(Json(MemoryGraphView::from(&graph)))
}

/// A link to make.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateLink {
    /// The other memory: its id, or text that occurs in exactly one active memory.
    to: String,
    /// `relates_to` (the default), `supersedes`, `contradicts`, or your own name.
    #[schema(example = "relates_to")]
    relation: Option<String>,
}

/// Link two memories.
#[utoipa::path(post, path = "/api/memory/{id}/links", tag = "links", params(
    ("id" = String, Path, description = "A memory's id, or text that occurs in exactly one active memory")),
    request_body = CreateLink, responses(
    (status = 201, body = WriteResult), (status = 200, body = WriteResult, description = "They were linked already"),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn link_memories(
    State(app): State<App>,
    Writer(caller): Writer,
    asked: AskedProject,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<CreateLink>,
) -> Result<Response, Problem> {
    let (engine, request, from) = (app.engine().clone(), sent.request(caller), asked.target(&id));
    let to = asked.target(&sent.body.to);
    let relation = sent.body.relation.unwrap_or_else(|| "relates_to".into());
    let work = async move { engine.facts.link(&request, &from, &to, &relation).await };
    let outcome = app.detached(work).await?;
    Ok(create_response(&outcome))
}

/// Remove a link.
#[utoipa::path(delete, path = "/api/memory/{id}/links/{link_id}", tag = "links", params(
    ("id" = String, Path, description = "The id of the memory at either end"),
    ("link_id" = String, Path, description = "The link's id")), responses(
    (status = 200, body = WriteResult),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn unlink_memories(
    State(app): State<App>,
    Writer(caller): Writer,
    PathParams((id, link_id)): PathParams<(String, String)>,
    sent: JsonRequest<Nothing>,
) -> Result<Response, Problem> {
    let (engine, request, of) = (app.engine().clone(), sent.request(caller), target(&id));
    let link = link_id.parse().map_err(|_| Problem::of(ErrorCode::LinkNotFound))?;
    let outcome =
        app.detached(async move { engine.facts.unlink(&request, &of, link).await }).await?;
    Ok(write_response(&outcome))
}
