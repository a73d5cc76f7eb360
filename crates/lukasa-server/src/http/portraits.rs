//! Portraits: compiled texts about the person, in which every sentence says which memories it rests
//! on.

use axum::Json;
use axum::extract::State;
use lukasa_core::portrait::Placed;
use lukasa_engine::portrait::Compiled;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::App;
use super::auth::{Reader, Writer};
use super::error::Problem;
use super::request::{Named, Sent};
use crate::clock;

/// One sentence, and what it rests on.
#[derive(Debug, Serialize, ToSchema)]
pub struct SentenceView {
    /// The heading it stands under.
    #[schema(example = "relationship")]
    section: String,
    /// How it is told: `You told me`, or `You mentioned` where any of it was inferred.
    #[schema(example = "You told me")]
    lead: &'static str,
    #[schema(example = "Lives in Lisbon and works as a nurse.")]
    text: String,
    /// Every memory it rests on. It is never shown without all of them.
    memory_ids: Vec<String>,
}

impl From<&Placed> for SentenceView {
    fn from(placed: &Placed) -> Self {
        Self {
            section: placed.section.clone(),
            lead: placed.lead(),
            text: placed.sentence.text.clone(),
            memory_ids: placed.sentence.facts.iter().map(ToString::to_string).collect(),
        }
    }
}

/// A compiled text about the person.
#[derive(Debug, Serialize, ToSchema)]
pub struct PortraitView {
    /// `profile`, `procedures`, `active_context`, or `domain:` and the domain's name.
    #[schema(example = "profile")]
    name: String,
    #[schema(example = "Profile")]
    title: String,
    sentences: Vec<SentenceView>,
    /// The same as text, with marks like [1] and the list of what they cite.
    markdown: String,
    /// What the text takes in a prompt, without that list.
    tokens: usize,
    /// Memories that belong here and found no room.
    left_out: Vec<String>,
    /// The model that phrased it, or `template`: then it is in the memories' own words.
    #[schema(example = "template")]
    made_by: String,
    compiled_at: String,
    /// Whether it was compiled from just the memories that stand now. If not, what has gone is left
    /// out already and what is new is told in its own words.
    fresh: bool,
}

impl From<&Compiled> for PortraitView {
    fn from(compiled: &Compiled) -> Self {
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

impl From<&[Compiled]> for PortraitsView {
    fn from(all: &[Compiled]) -> Self {
        Self { data: all.iter().map(PortraitView::from).collect() }
    }
}

/// What do you know about me? Every portrait: who the person is, how to help them, what they are at,
/// and one for each domain that something is known about. Reading asks no model: what one phrased
/// before is shown as far as it still holds, and the memories' own words say the rest.
#[utoipa::path(get, path = "/api/portraits", tag = "portraits", responses(
    (status = 200, body = PortraitsView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_portraits(
    State(app): State<App>,
    Reader(caller): Reader,
) -> Result<Json<PortraitsView>, Problem> {
    let all = app.engine().portraits(&caller, clock::now()).await?;
    Ok(Json(PortraitsView::from(&all[..])))
}

/// One portrait by its name.
#[utoipa::path(get, path = "/api/portraits/{name}", tag = "portraits",
    params(("name" = String, Path, description = "`profile`, `procedures`, `active_context`, or \
        `domain:` and the domain's name", example = "profile")),
    responses(
    (status = 200, body = PortraitView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_portrait(
    State(app): State<App>,
    Reader(caller): Reader,
    Named(name): Named<String>,
) -> Result<Json<PortraitView>, Problem> {
    let compiled = app.engine().portrait(&caller, &name, clock::now()).await?;
    Ok(Json(PortraitView::from(&compiled)))
}

#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Phrasing {}

/// Have the portraits phrased anew now, as every night does: a model is asked about those whose
/// memories have changed, if one is set up. It may say only what the memories it cites say; whatever
/// else it says is dropped. Answers with all of them.
#[utoipa::path(post, path = "/api/portraits", tag = "portraits",
    request_body = Phrasing, responses(
    (status = 200, body = PortraitsView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn phrase_portraits(
    State(app): State<App>,
    Writer(caller): Writer,
    sent: Sent<Phrasing>,
) -> Result<Json<PortraitsView>, Problem> {
    let (engine, request) = (app.engine().clone(), sent.request(caller));
    let work = async move {
        engine.phrase_portraits(&request).await?;
        engine.portraits(&request.caller, request.moment.now).await
    };
    Ok(Json(PortraitsView::from(&app.detached(work).await?[..])))
}
