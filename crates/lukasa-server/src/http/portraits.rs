//! Portraits: compiled texts about the user, in which every sentence cites its memories.

use axum::Json;
use axum::extract::State;
use lukasa_core::portrait::PlacedSentence;
use lukasa_engine::portraits::CompiledPortrait;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::App;
use crate::api::auth::{Reader, Writer};
use crate::api::error::Problem;
use crate::api::request::{JsonRequest, PathParams};

/// One sentence, with the memories it cites.
#[derive(Debug, Serialize, ToSchema)]
pub struct SentenceView {
    /// The heading it is under.
    #[schema(example = "relationship")]
    section: String,
    /// `You told me`, or `You mentioned` if any of it was inferred.
    #[schema(example = "You told me")]
    lead: &'static str,
    #[schema(example = "Lives in Lisbon and works as a nurse.")]
    text: String,
    /// Every memory it is based on. It is never shown without all of them.
    memory_ids: Vec<String>,
}

impl From<&PlacedSentence> for SentenceView {
    fn from(placed: &PlacedSentence) -> Self {
        Self {
            section: placed.section.clone(),
            lead: placed.lead(),
            text: placed.sentence.text.clone(),
            memory_ids: placed.sentence.facts.iter().map(ToString::to_string).collect(),
        }
    }
}

/// A compiled text about the user.
#[derive(Debug, Serialize, ToSchema)]
pub struct PortraitView {
    /// `profile`, `procedures`, `active_context`, or `domain:` and the domain's name.
    #[schema(example = "profile")]
    name: String,
    #[schema(example = "Profile")]
    title: String,
    sentences: Vec<SentenceView>,
    /// The same as markdown, with marks like [1] and the list of cited memories.
    markdown: String,
    /// Size of the text in a prompt, without that list.
    tokens: usize,
    /// Memories that belong here but did not fit.
    left_out: Vec<String>,
    /// The model that phrased it, or `template` if it consists of the memories' own words.
    #[schema(example = "template")]
    made_by: String,
    compiled_at: String,
    /// Whether it was compiled from exactly the current memories. If not, removed memories are left
    /// out already, and new ones are added in their own words.
    fresh: bool,
}

impl From<&CompiledPortrait> for PortraitView {
    fn from(compiled: &CompiledPortrait) -> Self {
        let portrait = &compiled.portrait;
        Self {
            name: portrait.name.to_string(),
            title: portrait.name.title(),
            sentences: portrait.sentences.iter().map(SentenceView::from).collect(),
            markdown: portrait.markdown(),
            tokens: portrait.tokens,
            left_out: portrait.left_out.iter().map(ToString::to_string).collect(),
            made_by: compiled.made_by.clone(),
            compiled_at: compiled.compiled_at.to_string(),
            fresh: compiled.fresh,
        }
    }
}

#[derive(Debug, Serialize, ToSchema)]
pub struct PortraitsView {
    data: Vec<PortraitView>,
}

impl From<&[CompiledPortrait]> for PortraitsView {
    fn from(all: &[CompiledPortrait]) -> Self {
        Self { data: all.iter().map(PortraitView::from).collect() }
    }
}

/// List all portraits.
///
/// Who the user is, how to help them, what they are working on, and one for each domain with
/// memories. Reading calls no model: sentences that a model phrased before are shown if they are
/// still valid, and the rest is in the memories' own words.
#[utoipa::path(get, path = "/api/portraits", tag = "portraits", responses(
    (status = 200, body = PortraitsView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_portraits(
    State(app): State<App>,
    Reader(caller): Reader,
) -> Result<Json<PortraitsView>, Problem> {
    let all = app.engine().portraits.list(&caller, app.now()).await?;
    Ok(Json(PortraitsView::from(&all[..])))
}

/// Get one portrait by its name.
#[utoipa::path(get, path = "/api/portraits/{name}", tag = "portraits",
    params(("name" = String, Path, description = "`profile`, `procedures`, `active_context`, or \
        `domain:` and the domain's name", example = "profile")),
    responses(
    (status = 200, body = PortraitView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_portrait(
    State(app): State<App>,
    Reader(caller): Reader,
    PathParams(name): PathParams<String>,
) -> Result<Json<PortraitView>, Problem> {
    let compiled = app.engine().portraits.get(&caller, &name, app.now()).await?;
    Ok(Json(PortraitView::from(&compiled)))
}

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Phrasing {}

/// Phrase the portraits again now, as the daily job does.
///
/// A model, if one is configured, phrases those whose memories have changed. It may state only what
/// the cited memories state; anything else is dropped. Returns all portraits.
#[utoipa::path(post, path = "/api/portraits", tag = "portraits",
    request_body = Phrasing, responses(
    (status = 200, body = PortraitsView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn phrase_portraits(
    State(app): State<App>,
    Writer(caller): Writer,
    sent: JsonRequest<Phrasing>,
) -> Result<Json<PortraitsView>, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let work = async move {
        engine.portraits.phrase_all(&request).await?;
        engine.portraits.list(&request.caller, request.moment.now).await
    };
    Ok(Json(PortraitsView::from(&app.detached(work).await?[..])))
}
