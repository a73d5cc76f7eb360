//! Daily statistics of a user's memory: growth, use, corrections and cost.

use axum::Json;
use axum::extract::State;
use lukasa_core::Timestamp;
use lukasa_core::calibration::CalibratedFloor;
use lukasa_core::quality::{Alert, Figure, Quality};
use lukasa_engine::insights::{DayStatistics, Insights};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::api::App;
use crate::api::auth::Reader;
use crate::api::error::Problem;
use crate::api::request::QueryParams;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct InsightsQuery {
    /// How many days, including today: between 1 and 90; 30 if absent.
    days: Option<i64>,
}

/// Number of memories by tier.
#[derive(Debug, Serialize, ToSchema)]
pub struct TierCounts {
    strong: i64,
    tentative: i64,
    candidate: i64,
}

/// Durations of retrievals, in milliseconds.
#[derive(Debug, Serialize, ToSchema)]
pub struct RecallTimes {
    p50: f64,
    p95: f64,
    p99: f64,
}

/// One day, in UTC.
#[derive(Debug, Serialize, ToSchema)]
pub struct InsightDay {
    #[schema(value_type = String, format = Date)]
    day: jiff::civil::Date,
    /// Memories that were saved explicitly.
    saved: i64,
    /// Memories that were learned from sessions.
    learned: i64,
    /// Memories that began as proposals.
    proposed: i64,
    confirmed: i64,
    rejected: i64,
    corrected: i64,
    forgotten: i64,
    /// How many there were at the end of the day.
    memories: TierCounts,
    /// The same by domain, without candidates, the largest first.
    domains: Vec<DomainCount>,
    retrievals: i64,
    /// Retrievals with a missing component, such as a model.
    degraded: i64,
    /// Retrievals with the same baseline as the one before in their session, so that a provider's
    /// cache could hit.
    frozen: i64,
    /// Tokens that a retrieval put into a prompt, on average.
    tokens: f64,
    recall_ms: Option<RecallTimes>,
    /// Calls of chat models, with their cost in millionths of the currency of the prices.
    calls: i64,
    input_tokens: i64,
    output_tokens: i64,
    cost_micros: i64,
}

impl From<&DayStatistics> for InsightDay {
    fn from(day: &DayStatistics) -> Self {
        let (recalls, asked) = (day.recalls.as_ref(), day.asked.as_ref());
        Self {
            day: day.day,
            saved: day.saved,
            learned: day.learned,
            proposed: day.proposed,
            confirmed: day.confirmed,
            rejected: day.rejected,
            corrected: day.corrected,
            forgotten: day.forgotten,
            memories: TierCounts {
                strong: day.strong,
                tentative: day.tentative,
                candidate: day.candidate,
            },
            domains: by_size(&day.domains),
            retrievals: recalls.map_or(0, |recalls| recalls.count),
            degraded: recalls.map_or(0, |recalls| recalls.degraded),
            frozen: recalls.map_or(0, |recalls| recalls.frozen),
            tokens: recalls.map_or(0.0, |recalls| tenths(recalls.tokens)),
            recall_ms: recalls.map(|recalls| RecallTimes {
                p50: tenths(recalls.p50),
                p95: tenths(recalls.p95),
                p99: tenths(recalls.p99),
            }),
            calls: asked.map_or(0, |asked| asked.calls),
            input_tokens: asked.map_or(0, |asked| asked.input_tokens),
            output_tokens: asked.map_or(0, |asked| asked.output_tokens),
            cost_micros: asked.map_or(0, |asked| asked.cost_micros),
        }
    }
}

fn tenths(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

#[derive(Debug, Serialize, ToSchema)]
pub struct DomainCount {
    /// Null for memories without a domain.
    domain: Option<String>,
    memories: i64,
}

/// A user's memory over time.
#[derive(Debug, Serialize, ToSchema)]
pub struct InsightsView {
    /// Every day of the period, the oldest first.
    days: Vec<InsightDay>,
    /// Active memories by domain, the largest first.
    domains: Vec<DomainCount>,
    quality: QualityView,
    /// Figures beyond their limits.
    alerts: Vec<AlertView>,
    /// The minimum confidences of inferred memories that were derived from how those so far turned
    /// out, by category. A category with too few of them has none.
    floors: Vec<FloorView>,
}

/// The range in which a figure should be.
#[derive(Debug, Serialize, ToSchema)]
pub struct GoalView {
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<f64>,
}

/// A measured value, the number of its samples, and its goal.
#[derive(Debug, Serialize, ToSchema)]
pub struct FigureView {
    value: f64,
    count: i64,
    goal: GoalView,
    met: bool,
}

impl From<Figure> for FigureView {
    fn from(figure: Figure) -> Self {
        let goal = GoalView { min: figure.goal.min, max: figure.goal.max };
        let value = (figure.value * 10_000.0).round() / 10_000.0;
        Self { value, count: figure.count, goal, met: figure.is_met() }
    }
}

/// Quality figures of the whole period. A figure with too few samples is absent.
#[derive(Debug, Serialize, ToSchema)]
pub struct QualityView {
    /// Answers that cite a supplied memory, of those with supplied memories.
    #[serde(skip_serializing_if = "Option::is_none")]
    citation_rate: Option<FigureView>,
    /// Accepted proposals, of those that the user decided on.
    #[serde(skip_serializing_if = "Option::is_none")]
    proposal_acceptance: Option<FigureView>,
    /// Proposals that the user changed, of those accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    edits_on_confirm: Option<FigureView>,
    /// Answers that were explained (`why`), of those after a retrieval.
    #[serde(skip_serializing_if = "Option::is_none")]
    why_share: Option<FigureView>,
    /// Memories that the user rated up, of those rated.
    #[serde(skip_serializing_if = "Option::is_none")]
    satisfaction: Option<FigureView>,
    /// New memories that waited for consent, of all new memories.
    #[serde(skip_serializing_if = "Option::is_none")]
    gated_share: Option<FigureView>,
    /// Active memories.
    #[serde(skip_serializing_if = "Option::is_none")]
    active_memories: Option<FigureView>,
    /// Tokens of memory learned from 10,000 tokens of conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    learned_tokens: Option<FigureView>,
    /// Mean confidence of what was extracted.
    #[serde(skip_serializing_if = "Option::is_none")]
    extraction_confidence: Option<FigureView>,
    /// Memories that were taken from the cache of their conversation, of those found.
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_hit_rate: Option<FigureView>,
    /// Retrievals without a search: their message needs no memory, or an earlier search of the same
    /// conversation was used again.
    #[serde(skip_serializing_if = "Option::is_none")]
    saved_searches: Option<FigureView>,
    /// The 95th percentile of the time of a retrieval, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    recall_ms: Option<FigureView>,
    /// The 95th percentile of the time of the reranker, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    rerank_ms: Option<FigureView>,
    /// The 95th percentile of the share of memory in the context window.
    #[serde(skip_serializing_if = "Option::is_none")]
    window_share: Option<FigureView>,
    /// The share of the token budgets that memory took.
    #[serde(skip_serializing_if = "Option::is_none")]
    budget_use: Option<FigureView>,
    /// Cost of memory per message, prompts and learning together, in millionths of the currency of
    /// the prices; absent without prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    message_cost_micros: Option<FigureView>,
}

impl From<&Quality> for QualityView {
    fn from(quality: &Quality) -> Self {
        let of = |figure: Option<Figure>| figure.map(FigureView::from);
        Self {
            citation_rate: of(quality.citation_rate),
            proposal_acceptance: of(quality.proposal_acceptance),
            edits_on_confirm: of(quality.edits_on_confirm),
            why_share: of(quality.why_share),
            satisfaction: of(quality.satisfaction),
            gated_share: of(quality.gated_share),
            active_memories: of(quality.active_memories),
            learned_tokens: of(quality.learned_tokens),
            extraction_confidence: of(quality.extraction_confidence),
            cache_hit_rate: of(quality.cache_hit_rate),
            saved_searches: of(quality.saved_searches),
            recall_ms: of(quality.recall_ms),
            rerank_ms: of(quality.rerank_ms),
            window_share: of(quality.window_share),
            budget_use: of(quality.budget_use),
            message_cost_micros: of(quality.message_cost_micros),
        }
    }
}

/// The minimum confidence of inferred memories of a category, derived from how those so far turned out.
#[derive(Debug, Serialize, ToSchema)]
pub struct FloorView {
    #[schema(example = "profile")]
    category: &'static str,
    /// At least 0.7. A setting of the policy can be higher.
    floor: f64,
    /// How many memories turned out right or wrong, by outcomes, ratings and the user's answers.
    samples: usize,
    wrong: usize,
    /// Memories that it is based on, those that were wrong first.
    memory_ids: Vec<String>,
    compiled_at: Timestamp,
}

impl From<&CalibratedFloor> for FloorView {
    fn from(floor: &CalibratedFloor) -> Self {
        Self {
            category: floor.category.as_str(),
            floor: (f64::from(floor.floor) * 100.0).round() / 100.0,
            samples: floor.samples,
            wrong: floor.wrong,
            memory_ids: floor.facts.iter().map(ToString::to_string).collect(),
            compiled_at: floor.compiled_at,
        }
    }
}

/// A figure beyond its limit, and what to do about it.
#[derive(Debug, Serialize, ToSchema)]
pub struct AlertView {
    #[schema(example = "cache_hits")]
    code: &'static str,
    message: String,
    value: f64,
    limit: f64,
    next_step: &'static str,
}

impl From<&Alert> for AlertView {
    fn from(alert: &Alert) -> Self {
        Self {
            code: alert.code.as_str(),
            message: alert.message(),
            value: alert.value,
            limit: alert.limit,
            next_step: alert.code.next_step(),
        }
    }
}

/// Counts by domain, the largest first; equal counts by name.
fn by_size<'n>(counts: impl IntoIterator<Item = (&'n String, &'n i64)>) -> Vec<DomainCount> {
    let domain = |(name, count): (&String, &i64)| DomainCount {
        domain: Some(name.clone()).filter(|name| !name.is_empty()),
        memories: *count,
    };
    let mut domains: Vec<_> = counts.into_iter().map(domain).collect();
    domains.sort_by_key(|domain| std::cmp::Reverse(domain.memories));
    domains
}

impl From<&Insights> for InsightsView {
    fn from(insights: &Insights) -> Self {
        let domains = by_size(insights.domains.iter().map(|(name, count)| (name, count)));
        Self {
            days: insights.days.iter().map(InsightDay::from).collect(),
            domains,
            quality: QualityView::from(&insights.quality),
            alerts: insights.quality.alerts().iter().map(AlertView::from).collect(),
            floors: insights.floors.iter().map(FloorView::from).collect(),
        }
    }
}

/// Get daily statistics of growth, use, corrections and cost.
#[utoipa::path(get, path = "/api/insights", tag = "recall", params(InsightsQuery), responses(
    (status = 200, body = InsightsView),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn get_insights(
    State(app): State<App>,
    Reader(caller): Reader,
    QueryParams(query): QueryParams<InsightsQuery>,
) -> Result<Json<InsightsView>, Problem> {
    let days = query.days.unwrap_or(30);
    let insights = app.engine().insights.report(&caller, days, app.now()).await?;
    Ok(Json(InsightsView::from(&insights)))
}
