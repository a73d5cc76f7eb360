//! Search: the memories and turns that bear on a message, ranked, with the reasons.

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use lukasa_core::recall::rank::{Arm, Fusion, Tuning};
use lukasa_core::{Force, Kind, MemoryType, Period, Role, Tier};
use lukasa_engine::facts::Point;
use lukasa_engine::recall::{Filter, Recall, Recalled, Took, Why};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::App;
use super::auth::Reader;
use super::error::Problem;
use super::memory::{category, word};
use super::request::Sent;
use super::sessions::TurnView;
use super::wire::{MemoryView, When};
use crate::clock;

/// The longest question: a message, not a document.
pub const QUERY_CHARS: usize = 20_000;
/// How many can be asked for at once.
const MOST: usize = 200;

/// A question.
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
    /// Between 0 and 1; what was stated counts as 0.95 or more.
    pub min_confidence: Option<f32>,
    /// How many sessions at most; none if absent.
    pub sessions: Option<usize>,
    /// Only turns of this session.
    pub session_id: Option<String>,
    /// Only turns of these roles: `user` (the default), `assistant`, `system`, `tool`.
    pub roles: Option<Vec<String>>,
    /// What held at this instant; now if absent.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub as_of: Option<When>,
    /// What Lukasa knew at this instant; now if absent.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub known_at: Option<When>,
    /// The zone in which the person says "yesterday"; UTC if absent.
    #[schema(example = "Europe/Lisbon")]
    pub timezone: Option<String>,
    /// Whether a reranker, if one is set up, may have the last word; true if absent.
    pub rerank: Option<bool>,
    /// `scores` (the default) or `ranks`: how the arms are brought together.
    pub fusion: Option<String>,
    /// Only these arms: `keyword`, `keyword_window`, `keyword_session`, `vector`, `vector_window`,
    /// `speaker`, `time`, `recency`, `prior`, `link`.
    pub arms: Option<Vec<String>>,
    /// All arms but these.
    pub without: Option<Vec<String>>,
    /// Only memories that the question names, by their key or one of their tags, and what those are
    /// linked to. A typing error is forgiven.
    pub precise: Option<bool>,
}

impl SearchRequest {
    pub fn filter(&self) -> Result<Filter, Problem> {
        Ok(Filter {
            domains: self.domains.clone(),
            memory_type: word("type", self.memory_type.as_deref(), MemoryType::parse)?,
            kind: word("kind", self.kind.as_deref(), Kind::parse)?,
            category: word("category", self.category.as_deref(), category)?,
            force: word("force", self.force.as_deref(), Force::parse)?,
            tier: word("tier", self.tier.as_deref(), Tier::parse)?,
            min_confidence: self.min_confidence,
            session: self.session_id.clone(),
            roles: self
                .roles
                .as_ref()
                .map(|roles| parsed(roles, "roles", Role::parse))
                .transpose()?,
        })
    }

    pub(crate) fn recall(&self) -> Result<Recall, Problem> {
        let many = |asked: Option<usize>, usual: usize, name: &str| match asked.unwrap_or(usual) {
            count if count <= MOST => Ok(count),
            _ => Err(refuse(&format!("`{name}` is at most {MOST}"))),
        };
        if self.query.chars().count() > QUERY_CHARS {
            return Err(refuse(&format!("`query` has at most {QUERY_CHARS} characters")));
        }
        let mut tuning = Tuning::default();
        if let Some(names) = &self.arms {
            tuning = tuning.only(&parsed(names, "arms", Arm::parse)?);
        }
        for arm in parsed(self.without.as_deref().unwrap_or_default(), "without", Arm::parse)? {
            tuning = tuning.without(arm);
        }
        tuning.fusion = match self.fusion.as_deref() {
            None | Some("scores") => Fusion::Scores,
            Some("ranks") => Fusion::Ranks,
            Some(_) => return Err(refuse("`fusion` is `scores` or `ranks`")),
        };
        Ok(Recall {
            text: self.query.clone(),
            filter: self.filter()?,
            point: point(self.as_of, self.known_at),
            zone: zone(self.timezone.as_deref())?,
            memories: many(self.limit, 10, "limit")?,
            turns: many(self.turns, 0, "turns")?,
            sessions: many(self.sessions, 0, "sessions")?,
            tuning,
            rerank: self.rerank.unwrap_or(true),
            precise: self.precise.unwrap_or(false),
            session: None,
        })
    }
}

/// Each of the words, or a problem that says which list they are not in.
fn parsed<T>(
    words: &[String],
    name: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Vec<T>, Problem> {
    let unknown = |word: &str| refuse(&format!("`{name}` has no `{word}`"));
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

/// What was found.
#[derive(Debug, Serialize, ToSchema)]
pub struct SearchAnswer {
    memories: Vec<FoundMemory>,
    turns: Vec<FoundTurn>,
    sessions: Vec<FoundSession>,
    /// The times the question speaks of.
    times: Vec<TimeView>,
    /// What had to be done without: `embedder`, `reranker`, `older_turns`.
    degraded: Vec<&'static str>,
    /// The model whose vectors were compared, if any were.
    model: Option<String>,
    /// How many memories and turns were looked at.
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
    /// The turn that speaks most for it.
    best_turn_id: String,
}

/// Why something was found.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct WhyFoundView {
    pub score: f32,
    /// How well it fits taken by itself, between 0 and 1.
    pub relevance: f32,
    pub arms: Vec<ArmView>,
    /// The words of the question that it has.
    pub matched: Vec<String>,
    /// Its rank before a reranker had a say.
    pub fused_rank: usize,
}

/// What one arm made of it.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ArmView {
    #[schema(example = "keyword")]
    arm: &'static str,
    rank: usize,
    score: f32,
}

/// A time the question speaks of, as it says it.
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

/// Where the time went, in milliseconds.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct TookView {
    embed: f64,
    load: f64,
    rank: f64,
    fetch: f64,
    rerank: f64,
}

impl From<&Took> for TookView {
    fn from(took: &Took) -> Self {
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

impl From<&Why> for WhyFoundView {
    fn from(why: &Why) -> Self {
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

impl From<&Recalled> for SearchAnswer {
    fn from(found: &Recalled) -> Self {
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
            degraded: found.degraded.clone(),
            model: found.model.clone(),
            considered: found.considered,
            took_ms: (&found.took).into(),
        }
    }
}

/// Find what bears on a message.
///
/// Keyword, meaning, links and time look at everything the user's memory holds, and their scores are
/// fused. With `as_of` and `known_at` it answers for any point on both time axes.
#[utoipa::path(post, path = "/api/memory/search", tag = "recall", request_body = SearchRequest, responses(
    (status = 200, body = SearchAnswer),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn search_memories(
    State(app): State<App>,
    Reader(caller): Reader,
    sent: Sent<SearchRequest>,
) -> Result<Json<SearchAnswer>, Problem> {
    let found = app.engine().recall(&caller, &sent.body.recall()?, clock::now()).await?;
    Ok(Json(SearchAnswer::from(&found)))
}
