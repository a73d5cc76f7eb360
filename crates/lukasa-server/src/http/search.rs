//! Search: memories, turns and sessions relevant to a message, ranked, with the reasons.

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use lukasa_core::recall::rank::{Arm, Fusion, Tuning};
use lukasa_core::{Force, Kind, MemoryType, Period, Role, Tier};
use lukasa_engine::Point;
use lukasa_engine::recall::{Filter, RecallQuery, RecallResult, RecallTimings, ResultExplanation};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::App;
use super::auth::Reader;
use super::error::Problem;
use super::memory::{parse_category, parse_enum};
use super::request::JsonRequest;
use super::sessions::TurnView;
use super::wire::{MemoryView, When};
use crate::clock;

/// Maximum length of a query: a message, not a document.
pub const QUERY_CHARS: usize = 20_000;
/// Maximum number of results of each kind.
const MAX_RESULTS: usize = 200;

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
    /// How many sessions at most; none if absent.
    pub sessions: Option<usize>,
    /// Only turns of this session.
    pub session_id: Option<String>,
    /// Only turns of these roles: `user` (the default), `assistant`, `system`, `tool`.
    pub roles: Option<Vec<String>>,
    /// Only what was valid at this instant; now if absent.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub as_of: Option<When>,
    /// What Lukasa knew at this instant; now if absent.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub known_at: Option<When>,
    /// The user's time zone, for words such as "yesterday"; UTC if absent.
    #[schema(example = "Europe/Lisbon")]
    pub timezone: Option<String>,
    /// Whether to use the reranker, if one is configured; true if absent.
    pub rerank: Option<bool>,
    /// `scores` (the default) or `ranks`: how the results of the arms are fused.
    pub fusion: Option<String>,
    /// Only these arms: `keyword`, `keyword_window`, `keyword_session`, `vector`, `vector_window`,
    /// `speaker`, `time`, `recency`, `prior`, `link`.
    pub arms: Option<Vec<String>>,
    /// All arms except these.
    pub without: Option<Vec<String>>,
    /// Only memories that the query names by their key or one of their tags, and memories linked to
    /// those. Typing errors are tolerated.
    pub precise: Option<bool>,
}

impl SearchRequest {
    pub fn filter(&self) -> Result<Filter, Problem> {
        Ok(Filter {
            domains: self.domains.clone(),
            memory_type: parse_enum("type", self.memory_type.as_deref(), MemoryType::parse)?,
            kind: parse_enum("kind", self.kind.as_deref(), Kind::parse)?,
            category: parse_enum("category", self.category.as_deref(), parse_category)?,
            force: parse_enum("force", self.force.as_deref(), Force::parse)?,
            tier: parse_enum("tier", self.tier.as_deref(), Tier::parse)?,
            min_confidence: self.min_confidence,
            session: self.session_id.clone(),
            roles: self
                .roles
                .as_ref()
                .map(|roles| parse_all(roles, "roles", Role::parse))
                .transpose()?,
        })
    }

    pub(crate) fn recall(&self) -> Result<RecallQuery, Problem> {
        let count = |value: Option<usize>, default: usize, name: &str| {
            let count = value.unwrap_or(default);
            let refused = || refuse(&format!("`{name}` is at most {MAX_RESULTS}"));
            if count <= MAX_RESULTS { Ok(count) } else { Err(refused()) }
        };
        if self.query.chars().count() > QUERY_CHARS {
            return Err(refuse(&format!("`query` has at most {QUERY_CHARS} characters")));
        }
        let mut tuning = Tuning::default();
        if let Some(names) = &self.arms {
            tuning = tuning.only(&parse_all(names, "arms", Arm::parse)?);
        }
        for arm in parse_all(self.without.as_deref().unwrap_or_default(), "without", Arm::parse)? {
            tuning = tuning.without(arm);
        }
        tuning.fusion = match self.fusion.as_deref() {
            None | Some("scores") => Fusion::Scores,
            Some("ranks") => Fusion::Ranks,
            Some(_) => return Err(refuse("`fusion` is `scores` or `ranks`")),
        };
        Ok(RecallQuery {
            text: self.query.clone(),
            filter: self.filter()?,
            point: point(self.as_of, self.known_at),
            zone: zone(self.timezone.as_deref())?,
            memories: count(self.limit, 10, "limit")?,
            turns: count(self.turns, 0, "turns")?,
            sessions: count(self.sessions, 0, "sessions")?,
            tuning,
            rerank: self.rerank.unwrap_or(true),
            precise: self.precise.unwrap_or(false),
            session: None,
        })
    }
}

/// Parses each of the words, or refuses the first unknown one.
fn parse_all<T>(
    words: &[String],
    name: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, Problem> {
    let unknown = |word: &str| refuse(&format!("`{word}` is not a known value of `{name}`"));
    words.iter().map(|word| parse(word).ok_or_else(|| unknown(word))).collect()
}

fn refuse(what: &str) -> Problem {
    Problem::of("malformed_body").because(what)
}

pub fn point(as_of: Option<When>, known_at: Option<When>) -> Point {
    Point { as_of: as_of.map(|at| at.0), known_at: known_at.map(|at| at.0) }
}

pub fn zone(name: Option<&str>) -> Result<TimeZone, Problem> {
    let Some(name) = name else { return Ok(TimeZone::UTC) };
    TimeZone::get(name).map_err(|_| refuse("`timezone` is a name such as Europe/Lisbon"))
}

/// Search results.
#[derive(Debug, Serialize, ToSchema)]
pub struct SearchAnswer {
    memories: Vec<FoundMemory>,
    turns: Vec<FoundTurn>,
    sessions: Vec<FoundSession>,
    /// The times that the query mentions.
    times: Vec<TimeView>,
    /// What was not available: `embedder`, `reranker`, `older_turns`.
    degraded: Vec<&'static str>,
    /// The embedding model, if one was used.
    model: Option<String>,
    /// How many memories and turns were considered.
    considered: usize,
    took_ms: TookView,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct FoundMemory {
    memory: MemoryView,
    why: WhyFoundView,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct FoundTurn {
    turn: TurnView,
    why: WhyFoundView,
}

#[derive(Debug, Serialize, ToSchema)]
pub struct FoundSession {
    id: String,
    score: f32,
    /// The best matching turn.
    best_turn_id: String,
}

/// Why a result was found.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct WhyFoundView {
    pub score: f32,
    /// How relevant it is on its own, between 0 and 1.
    pub relevance: f32,
    pub arms: Vec<ArmView>,
    /// The words of the query that it contains.
    pub matched: Vec<String>,
    /// Its rank before reranking.
    pub fused_rank: usize,
}

/// Rank and score of a result in one arm.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ArmView {
    #[schema(example = "keyword")]
    arm: &'static str,
    rank: usize,
    score: f32,
}

/// A time that the query mentions, with its words.
#[derive(Debug, Serialize, ToSchema)]
pub struct TimeView {
    #[schema(example = "last month")]
    words: String,
    from: Timestamp,
    until: Option<Timestamp>,
}

impl From<&(String, Period)> for TimeView {
    fn from((words, period): &(String, Period)) -> Self {
        Self { words: words.clone(), from: period.from, until: period.until }
    }
}

/// Durations of the stages, in milliseconds.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct TookView {
    embed: f64,
    load: f64,
    rank: f64,
    fetch: f64,
    rerank: f64,
}

impl From<&RecallTimings> for TookView {
    fn from(took: &RecallTimings) -> Self {
        let ms = |micros: u64| micros as f64 / 1000.0;
        Self {
            embed: ms(took.embed),
            load: ms(took.load),
            rank: ms(took.rank),
            fetch: ms(took.fetch),
            rerank: ms(took.rerank),
        }
    }
}

impl From<&ResultExplanation> for WhyFoundView {
    fn from(why: &ResultExplanation) -> Self {
        let arm = |(arm, rank, score): &(Arm, usize, f32)| ArmView {
            arm: arm.as_str(),
            rank: *rank,
            score: *score,
        };
        Self {
            score: why.score,
            relevance: why.relevance,
            arms: why.arms.iter().map(arm).collect(),
            matched: why.matched.clone(),
            fused_rank: why.fused_rank,
        }
    }
}

impl From<&RecallResult> for SearchAnswer {
    fn from(found: &RecallResult) -> Self {
        Self {
            memories: found
                .memories
                .iter()
                .map(|f| FoundMemory { memory: (&f.memory).into(), why: (&f.why).into() })
                .collect(),
            turns: found
                .turns
                .iter()
                .map(|f| FoundTurn { turn: (&f.turn).into(), why: (&f.why).into() })
                .collect(),
            sessions: found
                .sessions
                .iter()
                .map(|found| FoundSession {
                    id: found.session.clone(),
                    score: found.score,
                    best_turn_id: found.best.to_string(),
                })
                .collect(),
            times: found.times.iter().map(TimeView::from).collect(),
            degraded: found.degraded.iter().map(|part| part.as_str()).collect(),
            model: found.model.clone(),
            considered: found.considered,
            took_ms: (&found.took).into(),
        }
    }
}

/// Search for memories relevant to a message.
///
/// Search by keyword, meaning, links and time covers the user's whole memory, and the scores are
/// fused. With `as_of` and `known_at` it answers for any point on both time axes.
#[utoipa::path(post, path = "/api/memory/search", tag = "recall", request_body = SearchRequest, responses(
    (status = 200, body = SearchAnswer),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn search_memories(
    State(app): State<App>,
    Reader(caller): Reader,
    sent: JsonRequest<SearchRequest>,
) -> Result<Json<SearchAnswer>, Problem> {
    let found = app.engine().recall.search(&caller, &sent.body.recall()?, clock::now()).await?;
    Ok(Json(SearchAnswer::from(&found)))
}
