//! Search: memories, turns, episodes and sessions relevant to a message, ranked, with the reasons.

use axum::Json;
use axum::extract::State;
use jiff::Timestamp;
use lukasa_core::Period;
use lukasa_core::recall::rank::Arm;
use lukasa_engine::recall::{RecallResult, RecallTimings, ResultExplanation};
use serde::Serialize;
use utoipa::ToSchema;

use super::learning::EpisodeView;
use super::sessions::TurnView;
use crate::api::App;
use crate::api::auth::SpaceReader;
use crate::api::error::Problem;
use crate::api::project::AskedProject;
use crate::api::request::JsonRequest;
use crate::api::search::SearchRequest;
use crate::api::wire::MemoryView;
use crate::api::words_schema;

/// Search results.
#[derive(Debug, Serialize, ToSchema)]
pub struct SearchAnswer {
    memories: Vec<FoundMemory>,
    turns: Vec<FoundTurn>,
    sessions: Vec<FoundSession>,
    /// Summaries of sessions, without those that only repeat a memory or a turn above.
    episodes: Vec<FoundEpisode>,
    /// The times that the query mentions.
    times: Vec<TimeView>,
    /// What was not available, so that the answer may be incomplete.
    #[schema(schema_with = words_schema::degraded)]
    degraded: Vec<&'static str>,
    /// The embedding model, if one was used.
    model: Option<String>,
    /// How many memories, turns and episodes were considered.
    considered: usize,
    took_ms: TimingsView,
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
pub struct FoundEpisode {
    episode: EpisodeView,
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
    #[schema(schema_with = words_schema::arm)]
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
pub struct TimingsView {
    embed: f64,
    load: f64,
    rank: f64,
    fetch: f64,
    rerank: f64,
}

impl From<&RecallTimings> for TimingsView {
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
            episodes: found
                .episodes
                .iter()
                .map(|f| FoundEpisode {
                    episode: EpisodeView::of(&f.episode, &f.about()),
                    why: (&f.why).into(),
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
/// fused. What is not relevant enough is left out, so that a question of general knowledge finds
/// nothing. With `as_of` and `known_at` it answers for any point on both time axes.
#[utoipa::path(post, path = "/api/memory/search", tag = "recall", request_body = SearchRequest, responses(
    (status = 200, body = SearchAnswer),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn search_memories(
    State(app): State<App>,
    SpaceReader(caller): SpaceReader,
    asked: AskedProject,
    sent: JsonRequest<SearchRequest>,
) -> Result<Json<SearchAnswer>, Problem> {
    let mut query = sent.body.recall()?;
    query.projects = query.projects.or_else(|| asked.scope().cloned());
    let mut found = app.engine().recall.search(&caller, &query, app.now()).await?;
    sent.body.leave_out_irrelevant(&mut found);
    Ok(Json(SearchAnswer::from(&found)))
}
