//! Proposals: an agent proposes, a human answers, and a yes binds the bytes that were shown.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lukasa_core::Status;
use lukasa_engine::facts::{Decision, Filter, Listing, Point};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::App;
use super::auth::{Proposer, Reader, Writer};
use super::error::Problem;
use super::memory::{CreateMemory, EditMemory, target, written, written_in_place};
use super::request::{Asked, Named, Sent, page_size, parse_place, print_cursor};
use super::wire::{MemoryPage, MemoryView, Written};
use crate::clock;

/// Propose a memory.
///
/// It is stored and visible to its person, and never active until they say yes to its words.
#[utoipa::path(post, path = "/api/memory/propose", tag = "proposals", request_body = CreateMemory, responses(
    (status = 201, body = Written), (status = 200, body = Written, description = "It is remembered already"),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn propose_memory(
    State(app): State<App>,
    Proposer(caller): Proposer,
    sent: Sent<CreateMemory>,
) -> Result<Response, Problem> {
    let request = sent.request(caller);
    let new = sent.body.into_new()?;
    let engine = app.engine().clone();
    let outcome = app.detached(async move { engine.propose(&request, new).await }).await?;
    Ok(written(&outcome))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ProposalsQuery {
    /// Between 1 and 200; 50 if absent.
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// What waits for an answer.
#[utoipa::path(get, path = "/api/memory/proposals", tag = "proposals", params(ProposalsQuery), responses(
    (status = 200, body = MemoryPage),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_proposals(
    State(app): State<App>,
    Reader(caller): Reader,
    Asked(query): Asked<ProposalsQuery>,
) -> Result<Json<MemoryPage>, Problem> {
    let listing = Listing {
        filter: Filter { status: Some(Status::Proposed), ..Filter::default() },
        point: Point::default(),
        after: query.cursor.as_deref().map(parse_place).transpose()?,
        limit: page_size(query.limit)?,
    };
    let page = app.engine().list(&caller, &listing, clock::now()).await?;
    Ok(Json(MemoryPage {
        data: page.memories.iter().map(MemoryView::from).collect(),
        next_cursor: page.next.as_ref().map(print_cursor),
    }))
}

/// An answer to a proposal, or an affirmation of an active memory.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmMemory {
    /// Yes or no; yes if absent.
    #[serde(default = "yes")]
    confirm: bool,
    /// The `sha256` of the proposal that was shown to the person. A yes needs it.
    sha256: Option<String>,
    /// The person's own words in place of the proposed ones.
    edits: Option<EditMemory>,
}

fn yes() -> bool {
    true
}

/// Answer a proposal, or say that a memory still holds.
///
/// A proposal becomes active only by a human's yes (a user token, or the person on their own
/// machine) to exactly the words that were shown. On an active memory it records the affirmation.
#[utoipa::path(post, path = "/api/memory/{id}/confirm", tag = "proposals", params(
    ("id" = String, Path, description = "A memory's id, or text that occurs in exactly one active memory")),
    request_body = ConfirmMemory, responses(
    (status = 200, body = Written),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn confirm_memory(
    State(app): State<App>,
    Writer(caller): Writer,
    Named(id): Named<String>,
    sent: Sent<ConfirmMemory>,
) -> Result<Response, Problem> {
    let (engine, request, target) = (app.engine().clone(), sent.request(caller), target(&id));
    let ConfirmMemory { confirm, sha256, edits } = sent.body;
    let decision = match confirm {
        true => Decision::Yes { digest: sha256, edit: Box::new(edits.unwrap_or_default().edit()?) },
        false => Decision::No,
    };
    let work = async move { engine.confirm(&request, &target, decision).await };
    let outcome = app.detached(work).await?;
    Ok(written_in_place(&outcome))
}
