//! Memories: list, save, get, update, history.

use axum::Json;
use axum::extract::State;
use axum::http::header::ETAG;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use lukasa_core::learn::judge::SAME_MEANING;
use lukasa_core::{Caller, Category, Claim, Edit, Force, Kind, MemoryType, Status, Tier};
use lukasa_engine::Engine;
use lukasa_engine::facts::{
    Filter, Listing, Memory, Mode, NewMemory, Outcome, Point, Target, Update,
};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::App;
use super::auth::{Reader, Writer};
use super::error::{FieldError, Problem};
use super::request::{Asked, Named, Sent, page_size, parse_place, print_cursor};
use super::wire::{Evidence, History, MemoryPage, MemoryView, SimilarView, When, Written, present};
use crate::clock;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListQuery {
    /// `hard` or `soft`; or one of `profile`, `task`, `episodic`, `procedural`, `domain`.
    #[serde(rename = "type")]
    memory_type: Option<String>,
    domain: Option<String>,
    /// `active` (the default), `proposed`, `candidate`, `upcoming`, `expired`, `superseded`,
    /// `forgotten`, `trashed`, or `all`.
    status: Option<String>,
    /// Text that must occur in the content, in any case.
    search: Option<String>,
    category: Option<String>,
    kind: Option<String>,
    force: Option<String>,
    tier: Option<String>,
    tag: Option<String>,
    /// What held at this instant; now if absent.
    #[param(value_type = Option<String>, format = DateTime)]
    as_of: Option<When>,
    /// What Lukasa knew at this instant; now if absent.
    #[param(value_type = Option<String>, format = DateTime)]
    known_at: Option<When>,
    /// Between 1 and 200; 50 if absent.
    limit: Option<usize>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// A word of a closed set, or a problem that lists the set.
pub(super) fn word<T>(
    name: &str,
    text: Option<&str>,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, Problem> {
    let Some(text) = text else { return Ok(None) };
    let unknown = || Problem::of("malformed_query").because(&format!("`{name}` has no such value"));
    parse(&text.to_lowercase()).ok_or_else(unknown).map(Some)
}

impl ListQuery {
    pub(crate) fn listing(&self) -> Result<Listing, Problem> {
        let status = match self.status.as_deref().unwrap_or("active") {
            "all" | "ALL" => None,
            text => word("status", Some(text), Status::parse)?,
        };
        let mut force = word("force", self.force.as_deref(), Force::parse)?;
        let memory_type = match self.memory_type.as_deref().map(str::to_lowercase) {
            Some(text) if Force::parse(&text).is_some() => {
                force = Force::parse(&text);
                None
            }
            text => word("type", text.as_deref(), MemoryType::parse)?,
        };
        let clean = |text: &Option<String>| text.as_ref().map(|text| text.replace('\0', ""));
        Ok(Listing {
            filter: Filter {
                status,
                domain: clean(&self.domain),
                force,
                memory_type,
                kind: word("kind", self.kind.as_deref(), Kind::parse)?,
                category: word("category", self.category.as_deref(), category)?,
                tier: word("tier", self.tier.as_deref(), Tier::parse)?,
                tag: clean(&self.tag),
                search: clean(&self.search).filter(|text| !text.is_empty()),
            },
            point: Point {
                as_of: self.as_of.map(|at| at.0),
                known_at: self.known_at.map(|at| at.0),
            },
            after: self.cursor.as_deref().map(parse_place).transpose()?,
            limit: page_size(self.limit)?,
        })
    }
}

/// The category of this name, or of one of the names other systems use for it.
pub(super) fn category(text: &str) -> Option<Category> {
    Category::parse(text).or(match text {
        "identity" | "relationship" => Some(Category::Profile),
        "finance_context" | "project" => Some(Category::Context),
        "response_style" | "preference" => Some(Category::Style),
        _ => None,
    })
}

/// What do you know about me?
///
/// Lists memories, newest first. With `as_of` and `known_at` it answers for any point on both time
/// axes, and the same pair always gives the same list. `status=all` hides nothing.
#[utoipa::path(get, path = "/api/memory", tag = "memory", params(ListQuery), responses(
    (status = 200, body = MemoryPage),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn list_memories(
    State(app): State<App>,
    Reader(caller): Reader,
    Asked(query): Asked<ListQuery>,
) -> Result<Json<MemoryPage>, Problem> {
    let listing = query.listing()?;
    let page = app.engine().list(&caller, &listing, clock::now()).await?;
    Ok(Json(MemoryPage {
        data: page.memories.iter().map(MemoryView::from).collect(),
        next_cursor: page.next.as_ref().map(print_cursor),
    }))
}

/// A memory to save or propose.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateMemory {
    /// One short line that may be put into a prompt.
    #[schema(example = "Prefers window seats")]
    content: String,
    /// A still shorter form of the line.
    summary: Option<String>,
    /// A long body, found by recall and never put into a prompt.
    detail: Option<String>,
    /// `profile`, `context`, `style` or `fact` (the default).
    #[schema(example = "fact")]
    category: Option<String>,
    /// `profile` (the default), `task`, `episodic`, `procedural` or `domain`; `hard` and `soft` are
    /// understood as `force`.
    #[serde(rename = "type")]
    memory_type: Option<String>,
    /// `preference`, `fact` (the default), `habit`, `skill`, `artifact`, `relationship`, `project`
    /// or `context`.
    kind: Option<String>,
    /// `hard`: a rule under a key of its domain; `soft` (the default): context for judgment.
    force: Option<String>,
    #[schema(example = "travel")]
    domain: Option<String>,
    key: Option<String>,
    value: Option<serde_json::Value>,
    #[serde(default)]
    tags: Vec<String>,
    /// Between 0 and 1; 0.5 if absent.
    importance: Option<f32>,
    #[serde(default)]
    evidence: Vec<Evidence>,
    reasoning: Option<String>,
    /// The session and turns the words came from.
    session_id: Option<String>,
    #[serde(default)]
    turn_ids: Vec<String>,
    /// Since when it holds; now if absent.
    #[schema(value_type = Option<String>, format = DateTime)]
    valid_from: Option<When>,
    /// Until when it holds; until further notice if absent.
    #[schema(value_type = Option<String>, format = DateTime)]
    valid_until: Option<When>,
    /// The user's answer to `opt_in_needed`: keep this as a memory without a domain, although its
    /// domain is not open. Counts only from the user.
    #[serde(default)]
    keep_without_domain: bool,
}

/// The words of a body that come from closed sets, gathered with every one that does not.
#[derive(Default)]
struct Words(Vec<FieldError>);

impl Words {
    fn parse<T>(
        &mut self,
        field: &str,
        text: Option<&str>,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Option<T> {
        let text = text?.to_lowercase();
        let found = parse(&text);
        if found.is_none() {
            let detail = format!("{text:?} is not one of the known values");
            self.0.push(FieldError { pointer: format!("/{field}"), detail });
        }
        found
    }

    fn done(self) -> Result<(), Problem> {
        if self.0.is_empty() { Ok(()) } else { Err(Problem::of("invalid_request").fields(self.0)) }
    }
}

impl CreateMemory {
    pub fn into_new(self) -> Result<NewMemory, Problem> {
        let mut words = Words::default();
        let blank = Claim::saying("");
        let as_force = self.memory_type.as_deref().and_then(|t| Force::parse(&t.to_lowercase()));
        let type_word = self.memory_type.as_deref().filter(|_| as_force.is_none());
        let claim = Claim {
            category: words
                .parse("category", self.category.as_deref(), category)
                .unwrap_or(blank.category),
            memory_type: words
                .parse("type", type_word, MemoryType::parse)
                .unwrap_or(blank.memory_type),
            kind: words.parse("kind", self.kind.as_deref(), Kind::parse).unwrap_or(blank.kind),
            force: words
                .parse("force", self.force.as_deref(), Force::parse)
                .or(as_force)
                .unwrap_or(blank.force),
            content: self.content,
            summary: self.summary,
            detail: self.detail,
            domain: self.domain,
            key: self.key,
            value: self.value,
            tags: self.tags,
            importance: self.importance.unwrap_or(blank.importance),
            evidence: self
                .evidence
                .iter()
                .map(|e| lukasa_core::Evidence::of(&e.kind, &e.description))
                .collect(),
            reasoning: self.reasoning,
        };
        words.done()?;
        check_turns(self.session_id.as_deref(), &self.turn_ids)?;
        Ok(NewMemory {
            claim,
            valid_from: self.valid_from.map(|at| at.0),
            valid_until: self.valid_until.map(|at| at.0),
            session: self.session_id,
            turns: self.turn_ids,
            keep_without_domain: self.keep_without_domain,
            ..NewMemory::saying("")
        })
    }
}

fn check_turns(session: Option<&str>, turns: &[String]) -> Result<(), Problem> {
    let most = lukasa_core::limits::TURNS;
    let bad = |id: &str| id.is_empty() || id.len() > 128 || id.chars().any(char::is_control);
    if turns.len() > most || turns.iter().any(|id| bad(id)) || session.is_some_and(bad) {
        let detail = format!("at most {most} ids of 1 to 128 characters");
        let field = FieldError { pointer: "/turn_ids".into(), detail };
        return Err(Problem::of("invalid_request").fields(vec![field]));
    }
    Ok(())
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SaveQuery {
    /// Also say which memories are so near in meaning that this may be one of them, said again.
    #[serde(default)]
    similar: bool,
}

/// Remember this.
///
/// The memory is active at once. Saying the same again returns the memory that is there. With
/// `similar=true` the answer also lists what it may be repeating: update that one instead, or keep
/// both.
#[utoipa::path(post, path = "/api/memory", tag = "memory", params(SaveQuery), request_body = CreateMemory, responses(
    (status = 201, body = Written), (status = 200, body = Written, description = "It was there already"),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn save_memory(
    State(app): State<App>,
    Writer(caller): Writer,
    Asked(query): Asked<SaveQuery>,
    sent: Sent<CreateMemory>,
) -> Result<Response, Problem> {
    let request = sent.request(caller.clone());
    let new = sent.body.into_new()?;
    let engine = app.engine().clone();
    let outcome = app.detached(async move { engine.save(&request, new).await }).await?;
    let status = if outcome.operation.is_some() { StatusCode::CREATED } else { StatusCode::OK };
    let mut view = Written::from(&outcome);
    if query.similar {
        view.similar =
            similar(app.engine(), &caller, &outcome).await.iter().map(SimilarView::from).collect();
    }
    let headers = outcome.memories.first().map(etag).unwrap_or_default();
    Ok((status, headers, Json(view)).into_response())
}

/// The other memories that say nearly what was just saved.
pub(crate) async fn similar(
    engine: &Engine,
    caller: &Caller,
    saved: &Outcome,
) -> Vec<(Memory, f32)> {
    let Some(own) = saved.memories.first() else { return Vec::new() };
    // The memory is saved; that nothing could be compared with it must not say otherwise.
    let near = engine.near(caller, &own.version.claim.content, clock::now()).await;
    let mut near = near.unwrap_or_default();
    near.retain(|(other, score)| *score >= SAME_MEANING && other.version.fact != own.version.fact);
    near
}

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PointQuery {
    /// What held at this instant; now if absent.
    #[param(value_type = Option<String>, format = DateTime)]
    as_of: Option<When>,
    /// What Lukasa knew at this instant; now if absent.
    #[param(value_type = Option<String>, format = DateTime)]
    known_at: Option<When>,
}

/// One memory, now or at a point on both time axes.
#[utoipa::path(get, path = "/api/memory/{id}", tag = "memory", params(
    ("id" = String, Path, description = "A memory's id, or text that occurs in exactly one active memory"),
    PointQuery), responses(
    (status = 200, body = MemoryView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_memory(
    State(app): State<App>,
    Reader(caller): Reader,
    Named(id): Named<String>,
    Asked(query): Asked<PointQuery>,
) -> Result<Response, Problem> {
    let point =
        Point { as_of: query.as_of.map(|at| at.0), known_at: query.known_at.map(|at| at.0) };
    let memory = app.engine().get(&caller, &target(&id), point, clock::now()).await?;
    Ok((etag(&memory), Json(MemoryView::from(&memory))).into_response())
}

/// Every version a memory ever had.
#[utoipa::path(get, path = "/api/memory/{id}/history", tag = "memory", params(
    ("id" = String, Path, description = "A memory's id, or text that occurs in exactly one active memory")), responses(
    (status = 200, body = History),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_memory_history(
    State(app): State<App>,
    Reader(caller): Reader,
    Named(id): Named<String>,
) -> Result<Json<History>, Problem> {
    let entries = app.engine().history(&caller, &target(&id), clock::now()).await?;
    Ok(Json(History { data: entries.iter().map(MemoryView::from).collect() }))
}

/// A body that can edit a memory's words. The fields stand in two bodies, and flattening one into the
/// other would give a schema that no document satisfies.
macro_rules! editing {
    ($(#[$doc:meta])* $name:ident { $($own:tt)* }) => {
        $(#[$doc])*
        #[derive(Debug, Default, Deserialize, ToSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($own)*
            content: Option<String>,
            #[serde(default, deserialize_with = "present")]
            #[schema(value_type = Option<String>)]
            summary: Option<Option<String>>,
            #[serde(default, deserialize_with = "present")]
            #[schema(value_type = Option<String>)]
            detail: Option<Option<String>>,
            category: Option<String>,
            #[serde(rename = "type")]
            memory_type: Option<String>,
            kind: Option<String>,
            force: Option<String>,
            #[serde(default, deserialize_with = "present")]
            #[schema(value_type = Option<String>)]
            domain: Option<Option<String>>,
            #[serde(default, deserialize_with = "present")]
            #[schema(value_type = Option<String>)]
            key: Option<Option<String>>,
            #[serde(default, deserialize_with = "present")]
            #[schema(value_type = Option<serde_json::Value>)]
            value: Option<Option<serde_json::Value>>,
            tags: Option<Vec<String>>,
            importance: Option<f32>,
            #[serde(default, deserialize_with = "present")]
            #[schema(value_type = Option<String>)]
            reasoning: Option<Option<String>>,
        }

        impl $name {
            /// Takes the edit out of the body.
            pub fn edit(&mut self) -> Result<Edit, Problem> {
                let mut words = Words::default();
                let edit = Edit {
                    category: words.parse("category", self.category.as_deref(), category),
                    memory_type: words.parse("type", self.memory_type.as_deref(), MemoryType::parse),
                    kind: words.parse("kind", self.kind.as_deref(), Kind::parse),
                    force: words.parse("force", self.force.as_deref(), Force::parse),
                    content: self.content.take(),
                    summary: self.summary.take(),
                    detail: self.detail.take(),
                    domain: self.domain.take(),
                    key: self.key.take(),
                    value: self.value.take(),
                    tags: self.tags.take(),
                    importance: self.importance,
                    reasoning: self.reasoning.take(),
                };
                words.done()?;
                let domain = edit.domain.as_ref().and_then(Option::as_deref);
                if domain.is_some_and(|name| !lukasa_core::domain::is_name(name)) {
                    return Err(Problem::of("domain_not_found"));
                }
                Ok(edit)
            }
        }
    };
}

editing!(
    /// The words to put in place of a memory's own.
    EditMemory {}
);

editing!(
    /// What to change. A field that is absent stays as it was; null empties it.
    UpdateMemory {
        /// `change` (the default): the world moved on, since `valid_from` or now.
        /// `correction`: it was never so; `valid_from` and `valid_until` put the dates right.
        #[schema(example = "change")]
        mode: Option<String>,
        #[schema(value_type = Option<String>, format = DateTime)]
        valid_from: Option<When>,
        #[serde(default, deserialize_with = "present")]
        #[schema(value_type = Option<String>, format = DateTime)]
        valid_until: Option<Option<When>>,
        session_id: Option<String>,
        #[serde(default)]
        turn_ids: Vec<String>,
        /// What the user said, in their own words, in the session of `session_id`. An assistant needs
        /// it to replace what the user stated; without it the change waits for the user.
        #[serde(default)]
        quotations: Vec<String>,
        /// The user's answer to `opt_in_needed`: keep this as a memory without a domain, although its
        /// domain is not open. Counts only from the user.
        #[serde(default)]
        keep_without_domain: bool,
    }
);

impl UpdateMemory {
    pub(crate) fn into_update(mut self) -> Result<Update, Problem> {
        check_turns(self.session_id.as_deref(), &self.turn_ids)?;
        let field = |name: &str, detail: &str| {
            let pointer = format!("/{name}");
            Problem::of("invalid_request")
                .fields(vec![FieldError { pointer, detail: detail.to_owned() }])
        };
        const MAX_QUOTATIONS: usize = 20;
        let long = |quote: &String| quote.chars().count() > lukasa_core::limits::EVIDENCE_CHARS;
        if self.quotations.len() > MAX_QUOTATIONS || self.quotations.iter().any(long) {
            return Err(field("quotations", "at most 20 of at most 1000 characters"));
        }
        let valid_from = self.valid_from.map(|at| at.0);
        let mode = match self.mode.as_deref().unwrap_or("change") {
            "change" if self.valid_until.is_some() => {
                return Err(field("valid_until", "only with `mode: correction`"));
            }
            "change" => Mode::Change { effective: valid_from },
            "correction" => Mode::Correct {
                valid_from,
                valid_until: self.valid_until.map(|until| until.map(|at| at.0)),
            },
            _ => return Err(field("mode", "`change` or `correction`")),
        };
        Ok(Update {
            edit: self.edit()?,
            mode,
            session: self.session_id,
            turns: self.turn_ids,
            confidence: None,
            quotations: self.quotations,
            keep_without_domain: self.keep_without_domain,
        })
    }
}

/// Change or correct a memory.
///
/// Nothing is overwritten: a new version is opened and the old one closed, on both time axes. With
/// `If-Match` the update happens only if nobody else was quicker.
#[utoipa::path(patch, path = "/api/memory/{id}", tag = "memory", params(
    ("id" = String, Path, description = "A memory's id, or text that occurs in exactly one active memory")),
    request_body = UpdateMemory, responses(
    (status = 200, body = Written),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn update_memory(
    State(app): State<App>,
    Writer(caller): Writer,
    Named(id): Named<String>,
    sent: Sent<UpdateMemory>,
) -> Result<Response, Problem> {
    let request = sent.request(caller);
    let update = sent.body.into_update()?;
    let engine = app.engine().clone();
    let target = target(&id);
    let outcome =
        app.detached(async move { engine.update(&request, &target, update).await }).await?;
    Ok(written_in_place(&outcome))
}

pub fn target(text: &str) -> Target {
    Target::parse(&text.replace('\0', ""))
}

fn etag(memory: &Memory) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if let Ok(value) = HeaderValue::from_str(&format!("\"{}\"", memory.version.id)) {
        headers.insert(ETAG, value);
    }
    headers
}

/// The answer to a write that makes something: 201 if it did, 200 if it was there.
pub fn written(outcome: &Outcome) -> Response {
    let status = if outcome.operation.is_some() { StatusCode::CREATED } else { StatusCode::OK };
    (status, written_in_place(outcome)).into_response()
}

/// The answer to a write on something that is there.
pub fn written_in_place(outcome: &Outcome) -> Response {
    let headers = outcome.memories.first().map(etag).unwrap_or_default();
    (headers, Json(Written::from(outcome))).into_response()
}
