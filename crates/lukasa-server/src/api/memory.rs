//! Shapes of requests about memories, shared by all protocols.

use lukasa_core::fade::Lifetime;
use lukasa_core::learning::judge::SAME_MEANING;
use lukasa_core::project::INVALID_PROJECT;
use lukasa_core::{
    Caller, Category, Claim, Edit, Force, Kind, MemoryType, Project, ProjectScope, Status, Tier,
};
use lukasa_engine::facts::{
    ListFilter, ListedProjects, Listing, NewMemory, Target, Update, UpdateMode,
};
use lukasa_engine::{Memory, Outcome, Point};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use super::App;
use super::code::ErrorCode;
use super::error::{FieldError, Problem};
use super::request::{page_size, parse_memory_cursor};
use super::wire::{EvidenceInput, MemoryContent, When, present};

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
    /// Only memories of this project; empty: only those of no project. All if absent.
    project: Option<String>,
    /// Only what was valid at this instant; now if absent.
    #[param(value_type = Option<String>, format = DateTime)]
    as_of: Option<When>,
    /// What Lukasa knew at this instant; now if absent.
    #[param(value_type = Option<String>, format = DateTime)]
    known_at: Option<When>,
    /// Between 1 and 200; 50 if absent.
    limit: Option<usize>,
    /// `next_cursor` of the previous page.
    cursor: Option<String>,
}

/// The words that a value may be, for the text of an error.
pub(crate) fn one_of(known: &[&str]) -> String {
    format!("one of {}", known.join(", "))
}

/// Parses a query parameter that has a fixed set of values.
pub(crate) fn parse_enum<T>(
    name: &str,
    text: Option<&str>,
    parse: impl Fn(&str) -> Option<T>,
    known: &[&str],
) -> Result<Option<T>, Problem> {
    let Some(text) = text else { return Ok(None) };
    let unknown = || {
        Problem::of(ErrorCode::MalformedQuery).because(&format!("`{name}` is {}", one_of(known)))
    };
    parse(&text.to_lowercase()).ok_or_else(unknown).map(Some)
}

impl ListQuery {
    fn projects(&self) -> Result<ListedProjects, Problem> {
        Ok(match self.project.as_deref().map(str::trim) {
            None => ListedProjects::All,
            Some("") => ListedProjects::Only(None),
            Some(name) => ListedProjects::Only(Some(parse_project(name)?)),
        })
    }

    /// The list of what is seen in this scope, unless the query names a project.
    pub(crate) fn listing_in(&self, projects: &ProjectScope) -> Result<Listing, Problem> {
        let mut listing = self.listing()?;
        if self.project.is_none() {
            listing.filter.projects = ListedProjects::seen_in(projects);
        }
        Ok(listing)
    }

    pub(crate) fn listing(&self) -> Result<Listing, Problem> {
        let status = match self.status.as_deref().unwrap_or("active") {
            "all" | "ALL" => None,
            text => {
                let known = [&["all"][..], &Status::ALL.map(Status::as_str)].concat();
                parse_enum("status", Some(text), Status::parse, &known)?
            }
        };
        let mut force = parse_enum(
            "force",
            self.force.as_deref(),
            Force::parse,
            &Force::ALL.map(Force::as_str),
        )?;
        let memory_type = match self.memory_type.as_deref().map(str::to_lowercase) {
            Some(text) if Force::parse(&text).is_some() => {
                force = Force::parse(&text);
                None
            }
            text => {
                let known = MemoryType::ALL.map(MemoryType::as_str);
                parse_enum("type", text.as_deref(), MemoryType::parse, &known)?
            }
        };
        let clean = |text: &Option<String>| text.as_ref().map(|text| text.replace('\0', ""));
        Ok(Listing {
            filter: ListFilter {
                status,
                domain: clean(&self.domain),
                force,
                memory_type,
                kind: parse_enum(
                    "kind",
                    self.kind.as_deref(),
                    Kind::parse,
                    &Kind::ALL.map(Kind::as_str),
                )?,
                category: parse_enum(
                    "category",
                    self.category.as_deref(),
                    parse_category,
                    &Category::ALL.map(Category::as_str),
                )?,
                tier: parse_enum(
                    "tier",
                    self.tier.as_deref(),
                    Tier::parse,
                    &Tier::ALL.map(Tier::as_str),
                )?,
                tag: clean(&self.tag),
                search: clean(&self.search).filter(|text| !text.is_empty()),
                projects: self.projects()?,
            },
            point: Point {
                as_of: self.as_of.map(|at| at.0),
                known_at: self.known_at.map(|at| at.0),
            },
            after: self.cursor.as_deref().map(parse_memory_cursor).transpose()?,
            limit: page_size(self.limit)?,
        })
    }
}

/// Parses the name of a project.
pub(crate) fn parse_project(name: &str) -> Result<Project, Problem> {
    let field = FieldError { pointer: "/project".into(), detail: INVALID_PROJECT.to_owned() };
    let invalid = || Problem::of(ErrorCode::InvalidRequest).fields(vec![field]);
    Project::parse(name).ok_or_else(invalid)
}

/// Parses an optional name of a project; an empty one means none.
pub(crate) fn parse_optional_project(name: Option<&str>) -> Result<Option<Project>, Problem> {
    name.filter(|name| !name.trim().is_empty()).map(parse_project).transpose()
}

/// Parses a category, by its name or an alias that other systems use.
pub(crate) fn parse_category(text: &str) -> Option<Category> {
    Category::parse(text).or(match text {
        "identity" | "relationship" => Some(Category::Profile),
        "finance_context" | "project" => Some(Category::Context),
        "response_style" | "preference" => Some(Category::Style),
        _ => None,
    })
}

/// A memory to save or propose.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateMemory {
    /// One short line that may be put into a prompt; or the value of a rule, as a list or an object.
    #[schema(example = "Prefers window seats")]
    content: MemoryContent,
    /// A shorter form of the line.
    summary: Option<String>,
    /// A long text, found by recall and never put into a prompt.
    detail: Option<String>,
    /// `profile`, `context`, `style` or `fact` (the default).
    #[schema(example = "fact")]
    category: Option<String>,
    /// `profile` (the default), `task`, `episodic`, `procedural` or `domain`; `hard` and `soft` are
    /// accepted as `force`.
    #[serde(rename = "type")]
    memory_type: Option<String>,
    /// `preference`, `fact` (the default), `habit`, `skill`, `artifact`, `relationship`, `project`
    /// or `context`.
    kind: Option<String>,
    /// `hard`: a rule under a key of its domain; `soft` (the default): context for judgment.
    force: Option<String>,
    #[schema(example = "travel")]
    domain: Option<String>,
    /// The project it belongs to. If absent, work that is saved in a session belongs to the project of
    /// the session, and everything else holds everywhere.
    project: Option<String>,
    key: Option<String>,
    value: Option<serde_json::Value>,
    #[serde(default)]
    tags: Vec<String>,
    /// Between 0 and 1; 0.5 if absent.
    importance: Option<f32>,
    #[serde(default)]
    evidence: Vec<EvidenceInput>,
    /// For a proposal: how sure it is, between 0 and 1.
    confidence: Option<f32>,
    reasoning: Option<String>,
    /// The session and turns that it comes from.
    session_id: Option<String>,
    #[serde(default)]
    turn_ids: Vec<String>,
    /// Start of its validity; now if absent.
    #[schema(value_type = Option<String>, format = DateTime)]
    valid_from: Option<When>,
    /// End of its validity; open if absent.
    #[schema(value_type = Option<String>, format = DateTime)]
    valid_until: Option<When>,
    /// How long it lasts if it has no `valid_until`: `temporary` (one day), `contextual` (a week),
    /// `deadline` (a week after the date in its content) or `lasting`. If absent, circumstances last
    /// as long as their domain says, and everything else lasts.
    #[schema(example = "contextual")]
    ttl: Option<String>,
    /// The user's answer to `opt_in_needed`: keep this as a memory without a domain, although its
    /// domain is not open. Accepted only from the user.
    #[serde(default)]
    keep_without_domain: bool,
    /// Use it, but do not mention it: prompts carry that instruction with it. Accepted only from the
    /// user.
    #[serde(default)]
    unmentioned: bool,
}

/// Parser of the enum fields of a body, which collects the errors of all fields.
#[derive(Default)]
struct EnumFields(Vec<FieldError>);

impl EnumFields {
    fn parse<T>(
        &mut self,
        field: &str,
        text: Option<&str>,
        parse: impl Fn(&str) -> Option<T>,
        known: &[&str],
    ) -> Option<T> {
        let found = parse(&text?.to_lowercase());
        if found.is_none() {
            self.0.push(FieldError { pointer: format!("/{field}"), detail: one_of(known) });
        }
        found
    }

    fn category(&mut self, text: Option<&str>) -> Option<Category> {
        self.parse("category", text, parse_category, &Category::ALL.map(Category::as_str))
    }

    fn memory_type(&mut self, text: Option<&str>) -> Option<MemoryType> {
        self.parse("type", text, MemoryType::parse, &MemoryType::ALL.map(MemoryType::as_str))
    }

    fn kind(&mut self, text: Option<&str>) -> Option<Kind> {
        self.parse("kind", text, Kind::parse, &Kind::ALL.map(Kind::as_str))
    }

    fn force(&mut self, text: Option<&str>) -> Option<Force> {
        self.parse("force", text, Force::parse, &Force::ALL.map(Force::as_str))
    }

    fn add(&mut self, field: &str, detail: &str) {
        let pointer = format!("/{field}");
        self.0.push(FieldError { pointer, detail: detail.to_owned() });
    }

    fn finish(self) -> Result<(), Problem> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(Problem::of(ErrorCode::InvalidRequest).fields(self.0))
        }
    }
}

impl CreateMemory {
    /// The memory to save. A statement has no confidence.
    pub fn into_saved(self) -> Result<NewMemory, Problem> {
        if self.confidence.is_some() {
            let mut fields = EnumFields::default();
            fields.add("confidence", "only for a proposal; a saved memory is stated");
            fields.finish()?;
        }
        self.into_new()
    }

    /// The memory to propose.
    pub fn into_new(self) -> Result<NewMemory, Problem> {
        let mut fields = EnumFields::default();
        let blank = Claim::saying("");
        let (content, own_value) = self.content.into_parts();
        if own_value.is_some() && self.value.is_some() {
            fields.add("value", "the content is the value already");
        }
        let value = own_value.or(self.value);
        let as_force = self.memory_type.as_deref().and_then(|t| Force::parse(&t.to_lowercase()));
        let type_name = self.memory_type.as_deref().filter(|_| as_force.is_none());
        let claim = Claim {
            category: fields.category(self.category.as_deref()).unwrap_or(blank.category),
            memory_type: fields.memory_type(type_name).unwrap_or(blank.memory_type),
            kind: fields.kind(self.kind.as_deref()).unwrap_or(blank.kind),
            force: fields.force(self.force.as_deref()).or(as_force).unwrap_or(blank.force),
            content,
            summary: self.summary,
            detail: self.detail,
            domain: self.domain,
            key: self.key,
            value,
            tags: self.tags,
            importance: self.importance.unwrap_or(blank.importance),
            evidence: self.evidence.into_iter().map(Into::into).collect(),
            reasoning: self.reasoning,
            project: parse_optional_project(self.project.as_deref())?,
            unmentioned: self.unmentioned,
        };
        let known = Lifetime::ALL.map(Lifetime::as_str);
        let lifetime = fields.parse("ttl", self.ttl.as_deref(), Lifetime::parse, &known);
        fields.finish()?;
        check_turns(self.session_id.as_deref(), &self.turn_ids)?;
        Ok(NewMemory {
            claim,
            lifetime,
            valid_from: self.valid_from.map(|at| at.0),
            valid_until: self.valid_until.map(|at| at.0),
            session: self.session_id,
            turns: self.turn_ids,
            confidence: self.confidence,
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
        return Err(Problem::of(ErrorCode::InvalidRequest).fields(vec![field]));
    }
    Ok(())
}

/// Other memories with nearly the same meaning as the one just saved.
pub(crate) async fn find_similar(
    app: &App,
    caller: &Caller,
    saved: &Outcome,
) -> Vec<(Memory, f32)> {
    let Some(own) = saved.memories.first() else { return Vec::new() };
    // The memory is saved already, so a failed comparison must not fail the request.
    let claim = &own.version.claim;
    let projects = ProjectScope::of(claim.project.as_ref());
    let near = app.engine().recall.near(caller, &claim.content, projects, app.now()).await;
    let mut near = near.unwrap_or_default();
    near.retain(|(other, score)| *score >= SAME_MEANING && other.version.fact != own.version.fact);
    near
}

/// Defines a body that can edit a memory. Two bodies have these fields, and flattening one into the
/// other would give a schema that no document satisfies.
macro_rules! editing {
    ($(#[$doc:meta])* $name:ident { $($own:tt)* }) => {
        $(#[$doc])*
        #[derive(Debug, Default, Deserialize, ToSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($own)*
            /// A text, or for a rule its value as a list or an object.
            content: Option<MemoryContent>,
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
            #[serde(default, deserialize_with = "present")]
            #[schema(value_type = Option<String>)]
            project: Option<Option<String>>,
            /// Use it, but do not mention it. Accepted only from the user.
            unmentioned: Option<bool>,
        }

        impl $name {
            /// Moves the edit out of the body.
            pub fn edit(&mut self) -> Result<Edit, Problem> {
                let mut fields = EnumFields::default();
                let (content, own) = match self.content.take().map(MemoryContent::into_parts) {
                    Some((text, value)) => (Some(text), value),
                    None => (None, None),
                };
                if own.is_some() && self.value.is_some() {
                    fields.add("value", "the content is the value already");
                }
                let edit = Edit {
                    category: fields.category(self.category.as_deref()),
                    memory_type: fields.memory_type(self.memory_type.as_deref()),
                    kind: fields.kind(self.kind.as_deref()),
                    force: fields.force(self.force.as_deref()),
                    content,
                    summary: self.summary.take(),
                    detail: self.detail.take(),
                    domain: self.domain.take(),
                    key: self.key.take(),
                    value: own.map(Some).or(self.value.take()),
                    tags: self.tags.take(),
                    importance: self.importance,
                    reasoning: self.reasoning.take(),
                    project: match &self.project {
                        Some(name) => Some(parse_optional_project(name.as_deref())?),
                        None => None,
                    },
                    unmentioned: self.unmentioned,
                };
                fields.finish()?;
                let domain = edit.domain.as_ref().and_then(Option::as_deref);
                if domain.is_some_and(|name| !lukasa_core::domain::is_name(name)) {
                    return Err(Problem::of(ErrorCode::DomainNotFound));
                }
                Ok(edit)
            }
        }
    };
}

editing!(
    /// Edits to a proposed memory.
    EditMemory {}
);

editing!(
    /// Changes to a memory. An absent field stays as it is; null clears it.
    UpdateMemory {
        /// `change` (the default): things are different since `valid_from` or now.
        /// `correction`: it was never true; `valid_from` and `valid_until` correct the dates.
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
        /// Quotations of the user from the session `session_id`. An assistant needs them to replace
        /// what the user stated; without them the change waits for the user.
        #[serde(default)]
        quotations: Vec<String>,
        /// The user's answer to `opt_in_needed`: keep this as a memory without a domain, although
        /// its domain is not open. Accepted only from the user.
        #[serde(default)]
        keep_without_domain: bool,
    }
);

impl UpdateMemory {
    pub(crate) fn into_update(mut self) -> Result<Update, Problem> {
        check_turns(self.session_id.as_deref(), &self.turn_ids)?;
        let field = |name: &str, detail: &str| {
            let pointer = format!("/{name}");
            Problem::of(ErrorCode::InvalidRequest)
                .fields(vec![FieldError { pointer, detail: detail.to_owned() }])
        };
        let valid_from = self.valid_from.map(|at| at.0);
        let mode = match self.mode.as_deref().unwrap_or("change") {
            "change" if self.valid_until.is_some() => {
                return Err(field("valid_until", "only with `mode: correction`"));
            }
            "change" => UpdateMode::Change { effective: valid_from },
            "correction" => UpdateMode::Correct {
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

/// Parses an id, or a text that occurs in the memory.
pub fn target(text: &str) -> Target {
    Target::parse(&text.replace('\0', ""))
}
