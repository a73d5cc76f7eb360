//! Proposals: an assistant proposes a memory, the user answers, and a yes is bound to the exact
//! words that were shown.

use axum::Json;
use axum::extract::State;
use axum::response::Response;
use lukasa_core::{Status, Writer};
use lukasa_engine::Point;
use lukasa_engine::facts::{Affirmation, ListFilter, Listing, NewMemory, ProposalDecision};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::memory::{create_response, write_response};
use crate::api::App;
use crate::api::auth::{SpaceProposer, SpaceReader, SpaceWriter};
use crate::api::code::ErrorCode;
use crate::api::error::{FieldError, Problem};
use crate::api::memory::{CreateMemory, EditMemory};
use crate::api::project::AskedProject;
use crate::api::request::{
    JsonRequest, PathParams, QueryParams, page_size, parse_memory_cursor, print_cursor,
};
use crate::api::wire::{MemoryPage, MemoryView, WriteResult};

/// Propose a memory.
///
/// It is stored and visible to the user, and becomes active only when the user agrees to its words.
#[utoipa::path(post, path = "/api/memory/propose", tag = "proposals", request_body = CreateMemory, responses(
    (status = 201, body = WriteResult), (status = 200, body = WriteResult, description = "The memory exists already"),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn propose_memory(
    State(app): State<App>,
    SpaceProposer(caller): SpaceProposer,
    asked: AskedProject,
    sent: JsonRequest<CreateMemory>,
) -> Result<Response, Problem> {
    let request = sent.request(caller);
    let new = NewMemory { active_project: asked.project(), ..sent.body.into_new()? };
    let engine = app.engine().clone();
    let outcome = app.detached(async move { engine.facts.propose(&request, new).await }).await?;
    Ok(create_response(&outcome))
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ProposalsQuery {
    /// Between 1 and 200; 50 if absent.
    limit: Option<usize>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// List open proposals.
#[utoipa::path(get, path = "/api/memory/proposals", tag = "proposals", params(ProposalsQuery), responses(
    (status = 200, body = MemoryPage),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_proposals(
    State(app): State<App>,
    SpaceReader(caller): SpaceReader,
    QueryParams(query): QueryParams<ProposalsQuery>,
) -> Result<Json<MemoryPage>, Problem> {
    let listing = Listing {
        filter: ListFilter { status: Some(Status::Proposed), ..ListFilter::default() },
        point: Point::default(),
        after: query.cursor.as_deref().map(parse_memory_cursor).transpose()?,
        limit: page_size(query.limit)?,
    };
    let page = app.engine().facts.list(&caller, &listing, app.now()).await?;
    Ok(Json(MemoryPage {
        data: page.memories.iter().map(MemoryView::from).collect(),
        next_cursor: page.next.as_ref().map(print_cursor),
    }))
}

/// An answer to a proposal, or the confirmation of an active memory.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfirmMemory {
    /// Yes or no; yes if absent.
    #[serde(default = "yes")]
    confirm: bool,
    /// The `sha256` of the proposal that was shown to the user. Without it a user agrees to the words
    /// as they are now; send `If-Match` to make sure that these were shown.
    sha256: Option<String>,
    /// The user's own words instead of the proposed ones.
    edits: Option<EditMemory>,
    /// For a yes by a key of an assistant: the words in which the user has said an active memory again,
    /// as the user typed them in the session. They do not go with `sha256` or `edits`. Those of a
    /// human, who needs none, and those of a no are ignored.
    quotations: Option<Vec<String>>,
    /// The session that the quotations are from; the one with the latest turn if absent.
    session_id: Option<String>,
}

fn yes() -> bool {
    true
}

/// Refuses what answers a proposal beside quotations, which affirm an active memory.
fn check_affirmation(has_digest: bool, has_edits: bool) -> Result<(), Problem> {
    let sent = [(has_digest, "/sha256"), (has_edits, "/edits")];
    let sent = sent.into_iter().filter(|(is_sent, _)| *is_sent);
    let fields: Vec<FieldError> = sent
        .map(|(_, pointer)| FieldError {
            pointer: pointer.to_owned(),
            detail: "only for the answer to a proposal, which takes no quotations".to_owned(),
        })
        .collect();
    match fields.is_empty() {
        true => Ok(()),
        false => Err(Problem::of(ErrorCode::InvalidRequest).fields(fields)),
    }
}

/// Answer a proposal, or confirm an active memory.
///
/// A proposal becomes active only when the user (with a user token, or on a local server) agrees to
/// exactly the words that were shown. For an active memory the confirmation is recorded; an assistant
/// needs a quotation of what the user typed since, and cannot confirm a hard rule or an order.
#[utoipa::path(post, path = "/api/memory/{id}/confirm", tag = "proposals", params(
    ("id" = String, Path, description = "A memory's id, or text that occurs in exactly one active memory")),
    request_body = ConfirmMemory, responses(
    (status = 200, body = WriteResult),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn confirm_memory(
    State(app): State<App>,
    SpaceWriter(caller): SpaceWriter,
    asked: AskedProject,
    PathParams(id): PathParams<String>,
    sent: JsonRequest<ConfirmMemory>,
) -> Result<Response, Problem> {
    let (engine, request, target) = (app.engine().clone(), sent.request(caller), asked.target(&id));
    let ConfirmMemory { confirm, sha256, edits, quotations, session_id } = sent.body;
    let quotations = quotations.unwrap_or_default();
    let affirms = confirm && !quotations.is_empty() && Writer::of(&request.caller) == Writer::Agent;
    if affirms {
        check_affirmation(sha256.is_some(), edits.is_some())?;
    }
    let affirmation = Affirmation { quotations, session: session_id };
    let decision = match confirm {
        true => ProposalDecision::Yes {
            digest: sha256,
            edit: Box::new(edits.unwrap_or_default().edit()?),
        },
        false => ProposalDecision::No,
    };
    let work = async move {
        match affirms {
            true => engine.facts.affirm(&request, &target, &affirmation).await,
            false => engine.facts.confirm(&request, &target, decision).await,
        }
    };
    let outcome = app.detached(work).await?;
    Ok(write_response(&outcome))
}
