//! Shape of a search request, shared by all protocols.

use jiff::tz::TimeZone;
use lukasa_core::context::Budget;
use lukasa_core::context::selective::{self, MIN_TURN_RELEVANCE};
use lukasa_core::recall::rank::{Arm, Fusion, Tuning};
use lukasa_core::{Category, Force, Kind, MemoryType, ProjectScope, Role, Tier};
use lukasa_engine::Point;
use lukasa_engine::recall::{Filter, RecallQuery, RecallResult};
use serde::Deserialize;
use utoipa::ToSchema;

use super::error::Problem;
use super::memory::{one_of, parse_category, parse_optional_project};
use super::wire::When;

/// Maximum length of a query: a message, not a document.
pub const QUERY_CHARS: usize = 20_000;
/// Maximum number of results of each kind.
pub const MAX_RESULTS: usize = 200;

/// A search query with its filters.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SearchRequest {
    #[schema(example = "Where do I like to sit on a plane?")]
    pub query: String,
    /// How many memories at most; 10 if absent, 0 for none.
    pub limit: Option<usize>,
    /// How many turns of past sessions at most; none if absent.
    pub turns: Option<usize>,
    /// Only memories of these domains.
    pub domains: Option<Vec<String>>,
    /// `profile`, `task`, `episodic`, `procedural` or `domain`.
    #[serde(rename = "type")]
    pub memory_type: Option<String>,
    pub kind: Option<String>,
    pub category: Option<String>,
    /// `hard` or `soft`.
    pub force: Option<String>,
    pub tier: Option<String>,
    /// Between 0 and 1; a stated memory counts as 0.95 or more.
    pub min_confidence: Option<f32>,
    /// Leaves out memories, turns and episodes that are less relevant, between 0 and 1. If absent, 0.05
    /// for a query about the user, and 0.25 for any other, such as a question of general knowledge (0.15
    /// without an embedder); for turns at least 0.15. What was found by a link, a name or a time in the
    /// query is not left out.
    pub min_relevance: Option<f32>,
    /// How many sessions at most; none if absent.
    pub sessions: Option<usize>,
    /// How many summaries of past sessions at most; none if absent. With `domains`, only those about
    /// one of them.
    pub episodes: Option<usize>,
    /// Only turns and episodes of this session.
    pub session_id: Option<String>,
    /// Only turns of these roles: `user` (the default), `assistant`, `system`, `tool`.
    pub roles: Option<Vec<String>>,
    /// Only what was valid at this instant; now if absent.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub as_of: Option<When>,
    /// What Lukasa knew at this instant; now if absent.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub known_at: Option<When>,
    /// The user's time zone, for words such as "yesterday"; the remembered one if absent, or UTC.
    #[schema(example = "Europe/Lisbon")]
    pub timezone: Option<String>,
    /// Whether to use the reranker, if one is configured; true if absent.
    pub rerank: Option<bool>,
    /// `scores` (the default) or `ranks`: how the results of the arms are fused.
    pub fusion: Option<String>,
    /// Only these arms: `keyword`, `keyword_window`, `keyword_session`, `vector`, `vector_window`,
    /// `speaker`, `time`, `recency`, `prior`, `session_best`, `link`.
    pub arms: Option<Vec<String>>,
    /// All arms except these.
    pub without: Option<Vec<String>>,
    /// Only memories that the query names by their key or one of their tags, and memories linked to
    /// those. Typing errors are tolerated.
    pub precise: Option<bool>,
    /// Also memories and turns of this project. If absent, those of the project of `session_id`.
    pub project: Option<String>,
    /// Memories and turns of every project.
    #[serde(default)]
    pub all_projects: bool,
}

impl SearchRequest {
    pub fn filter(&self) -> Result<Filter, Problem> {
        let types = MemoryType::ALL.map(MemoryType::as_str);
        let categories = Category::ALL.map(Category::as_str);
        let forces = Force::ALL.map(Force::as_str);
        Ok(Filter {
            domains: self.domains.clone(),
            memory_type: parse_word(
                "type",
                self.memory_type.as_deref(),
                MemoryType::parse,
                &types,
            )?,
            kind: parse_word(
                "kind",
                self.kind.as_deref(),
                Kind::parse,
                &Kind::ALL.map(Kind::as_str),
            )?,
            category: parse_word(
                "category",
                self.category.as_deref(),
                parse_category,
                &categories,
            )?,
            force: parse_word("force", self.force.as_deref(), Force::parse, &forces)?,
            tier: parse_word(
                "tier",
                self.tier.as_deref(),
                Tier::parse,
                &Tier::ALL.map(Tier::as_str),
            )?,
            min_confidence: self.min_confidence,
            session: self.session_id.clone(),
            roles: self
                .roles
                .as_ref()
                .map(|roles| parse_all(roles, "roles", Role::parse, &Role::ALL.map(Role::as_str)))
                .transpose()?,
        })
    }

    /// Removes the memories, turns and episodes that are not relevant enough, and episodes that repeat a
    /// more specific result.
    pub(crate) fn leave_out_irrelevant(&self, found: &mut RecallResult) {
        let by_meaning = found.model.is_some();
        let usual = || selective::min_relevance(&self.query, by_meaning);
        let least = self.min_relevance.unwrap_or_else(usual);
        if !self.precise.unwrap_or(false) {
            found.memories.retain(|found| found.why.is_relevant(least));
            found.episodes.retain(|found| found.why.is_relevant(least));
            let least = self.min_relevance.unwrap_or(least.max(MIN_TURN_RELEVANCE));
            found.turns.retain(|found| found.why.is_relevant(least));
        }
        found.leave_out_repeating_episodes();
    }

    /// The projects that the request asks for, if it names any.
    fn projects(&self) -> Result<Option<ProjectScope>, Problem> {
        if self.all_projects {
            return Ok(Some(ProjectScope::All));
        }
        let project = parse_optional_project(self.project.as_deref())?;
        Ok(project.map(ProjectScope::One))
    }

    pub(crate) fn recall(&self) -> Result<RecallQuery, Problem> {
        let count = |value: Option<usize>, default: usize, name: &str| {
            let count = value.unwrap_or(default);
            let refused = || Problem::invalid(name, &format!("at most {MAX_RESULTS}"));
            if count <= MAX_RESULTS { Ok(count) } else { Err(refused()) }
        };
        if self.min_relevance.is_some_and(|least| !(0.0..=1.0).contains(&least)) {
            return Err(Problem::invalid("min_relevance", "between 0 and 1"));
        }
        if self.query.chars().count() > QUERY_CHARS {
            return Err(long_query());
        }
        let arms = Arm::ALL.map(Arm::as_str);
        let mut tuning = Tuning::default();
        if let Some(names) = &self.arms {
            tuning = tuning.only(&parse_all(names, "arms", Arm::parse, &arms)?);
        }
        let without = self.without.as_deref().unwrap_or_default();
        for arm in parse_all(without, "without", Arm::parse, &arms)? {
            tuning = tuning.without(arm);
        }
        tuning.fusion = match self.fusion.as_deref() {
            None | Some("scores") => Fusion::Scores,
            Some("ranks") => Fusion::Ranks,
            Some(_) => return Err(Problem::invalid("fusion", &one_of(&["scores", "ranks"]))),
        };
        Ok(RecallQuery {
            text: self.query.clone(),
            filter: self.filter()?,
            point: point(self.as_of, self.known_at),
            zone: self.timezone.as_deref().map(zone).transpose()?,
            memories: count(self.limit, 10, "limit")?,
            turns: count(self.turns, 0, "turns")?,
            sessions: count(self.sessions, 0, "sessions")?,
            episodes: count(self.episodes, 0, "episodes")?,
            tuning,
            rerank: self.rerank.unwrap_or(true),
            precise: self.precise.unwrap_or(false),
            session: None,
            projects: self.projects()?,
        })
    }
}

/// Parses each of the words, or refuses the first unknown one.
fn parse_all<T>(
    words: &[String],
    name: &str,
    parse: impl Fn(&str) -> Option<T>,
    known: &[&str],
) -> Result<Vec<T>, Problem> {
    let unknown = |place: usize| Problem::invalid(&format!("{name}/{place}"), &one_of(known));
    let read = |(place, word): (usize, &String)| parse(word).ok_or_else(|| unknown(place));
    words.iter().enumerate().map(read).collect()
}

/// Parses a field of the body that has a fixed set of values.
fn parse_word<T>(
    name: &str,
    text: Option<&str>,
    parse: impl Fn(&str) -> Option<T>,
    known: &[&str],
) -> Result<Option<T>, Problem> {
    let Some(text) = text else { return Ok(None) };
    let unknown = || Problem::invalid(name, &one_of(known));
    parse(&text.to_lowercase()).ok_or_else(unknown).map(Some)
}

/// The answer to a query with more than [`QUERY_CHARS`].
pub(crate) fn long_query() -> Problem {
    Problem::invalid("query", &format!("at most {QUERY_CHARS} characters"))
}

pub fn point(as_of: Option<When>, known_at: Option<When>) -> Point {
    Point { as_of: as_of.map(|at| at.0), known_at: known_at.map(|at| at.0) }
}

/// Maximum budget of a context.
pub const MAX_BUDGET_TOKENS: usize = 100_000;

/// The tokens of a budget by its name.
pub fn budget_named(name: &str) -> Option<usize> {
    match name {
        "compact" => Some(Budget::COMPACT),
        "standard" => Some(Budget::STANDARD),
        "deep" => Some(Budget::DEEP),
        _ => None,
    }
}

pub fn zone(name: &str) -> Result<TimeZone, Problem> {
    TimeZone::get(name).map_err(|_| Problem::invalid("timezone", "a name such as Europe/Lisbon"))
}
