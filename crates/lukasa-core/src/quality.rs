//! Quality figures of a memory: shares and means over a period, their goals, and the alerts.
//!
//! Everything is computed from counts of stored rows. A figure with too few samples is absent: it
//! would say nothing.

use crate::words;

/// Minimum number of samples of a figure.
pub const MIN_SAMPLES: i64 = 10;
/// Minimum number of tokens of conversations for the tokens that were learned from them.
pub const MIN_TOKENS_READ: i64 = 10_000;
/// The context window of a retrieval that names none, in tokens.
pub const ASSUMED_WINDOW: i64 = 32_000;

/// Counts of one user over a period. Those of several users can be added.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct QualityCounts {
    pub users: i64,
    pub answers: AnswerCounts,
    pub proposals: ProposalCounts,
    pub written: WrittenCounts,
    pub learned: LearnedCounts,
    pub recall: RecallCounts,
    pub ratings: RatingCounts,
}

/// Ratings of memories by the user.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RatingCounts {
    pub up: i64,
    pub down: i64,
}

/// Answers of assistants to messages for which memories were retrieved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AnswerCounts {
    pub all: i64,
    /// Those that were given at least one memory.
    pub with_memories: i64,
    /// Those of them that cited at least one of these memories.
    pub citing: i64,
    /// Those whose reasons were asked for.
    pub explained: i64,
}

/// Proposals that the user decided on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProposalCounts {
    pub accepted: i64,
    /// Those of the accepted ones that the user changed.
    pub edited: i64,
    pub rejected: i64,
}

/// New facts.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WrittenCounts {
    pub facts: i64,
    /// Those that waited for the user's consent.
    pub gated: i64,
    /// Those with a confidence, and the sum of their confidences.
    pub extracted: i64,
    pub confidence: f64,
    /// Active facts at the time of the report.
    pub active: i64,
}

/// Conversations that were learned from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LearnedCounts {
    pub conversations: i64,
    /// Tokens of the turns that were read, and of the memories that were learned from them.
    pub tokens_read: i64,
    pub tokens_learned: i64,
}

/// Retrievals. Percentiles of several users cannot be combined, so the highest one is reported.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RecallCounts {
    pub retrievals: i64,
    /// Those of them without a search: their message needs no memory, or a search of the same
    /// conversation was used again.
    pub unsearched: i64,
    /// Memories that were taken from the cache of their conversation, and those that were not.
    pub cache_hits: i64,
    pub cache_misses: i64,
    /// The 95th percentile of the time of a retrieval, in milliseconds.
    pub p95_ms: f64,
    /// Retrievals with a reranker, and the 95th percentile of its time in milliseconds.
    pub reranked: i64,
    pub rerank_p95_ms: f64,
    /// The 95th percentile of the share of the context window that memory took.
    pub window_share_p95: f64,
    /// Tokens of memory in all prompts, and the tokens that their budgets allowed.
    pub tokens: i64,
    pub budget: i64,
    /// The cost of these tokens and of all calls of chat models, in millionths of the currency.
    pub cost_micros: i64,
}

impl std::ops::AddAssign for QualityCounts {
    fn add_assign(&mut self, other: Self) {
        let Self { users, answers, proposals, written, learned, recall, ratings } = other;
        self.users += users;
        self.ratings.up += ratings.up;
        self.ratings.down += ratings.down;
        self.answers.all += answers.all;
        self.answers.with_memories += answers.with_memories;
        self.answers.citing += answers.citing;
        self.answers.explained += answers.explained;
        self.proposals.accepted += proposals.accepted;
        self.proposals.edited += proposals.edited;
        self.proposals.rejected += proposals.rejected;
        self.written.facts += written.facts;
        self.written.gated += written.gated;
        self.written.extracted += written.extracted;
        self.written.confidence += written.confidence;
        self.written.active += written.active;
        self.learned.conversations += learned.conversations;
        self.learned.tokens_read += learned.tokens_read;
        self.learned.tokens_learned += learned.tokens_learned;
        let own = &mut self.recall;
        own.retrievals += recall.retrievals;
        own.unsearched += recall.unsearched;
        own.cache_hits += recall.cache_hits;
        own.cache_misses += recall.cache_misses;
        own.p95_ms = own.p95_ms.max(recall.p95_ms);
        own.reranked += recall.reranked;
        own.rerank_p95_ms = own.rerank_p95_ms.max(recall.rerank_p95_ms);
        own.window_share_p95 = own.window_share_p95.max(recall.window_share_p95);
        own.tokens += recall.tokens;
        own.budget += recall.budget;
        own.cost_micros += recall.cost_micros;
    }
}

/// The range in which a figure should be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Goal {
    pub min: Option<f64>,
    pub max: Option<f64>,
}

impl Goal {
    const fn at_least(min: f64) -> Self {
        Self { min: Some(min), max: None }
    }

    const fn at_most(max: f64) -> Self {
        Self { min: None, max: Some(max) }
    }

    const fn between(min: f64, max: f64) -> Self {
        Self { min: Some(min), max: Some(max) }
    }
}

/// A measured value, the number of its samples, and its goal.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    pub value: f64,
    pub count: i64,
    pub goal: Goal,
}

impl Figure {
    /// A part of a whole, if the whole has enough samples.
    fn share(part: i64, whole: i64, goal: Goal) -> Option<Self> {
        Self::mean(part as f64, whole, goal)
    }

    /// The mean of `count` samples, if there are enough.
    fn mean(sum: f64, count: i64, goal: Goal) -> Option<Self> {
        (count >= MIN_SAMPLES).then(|| Self { value: sum / count as f64, count, goal })
    }

    /// A value of `count` samples, if there are enough.
    fn of(value: f64, count: i64, goal: Goal) -> Option<Self> {
        (count >= MIN_SAMPLES).then_some(Self { value, count, goal })
    }

    /// Whether the value is in the range of its goal.
    pub fn is_met(&self) -> bool {
        self.goal.min.is_none_or(|min| self.value >= min)
            && self.goal.max.is_none_or(|max| self.value <= max)
    }
}

/// The figures of a period.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Quality {
    /// Answers that cite a supplied memory, of those with supplied memories (R214).
    pub citation_rate: Option<Figure>,
    /// Accepted proposals, of those decided (R214).
    pub proposal_acceptance: Option<Figure>,
    /// Proposals that the user changed, of those accepted (R214).
    pub edits_on_confirm: Option<Figure>,
    /// Answers whose reasons were asked for (R214).
    pub why_share: Option<Figure>,
    /// Memories that the user rated up, of those rated; 0.9 is 4.5 of 5 (R214).
    pub satisfaction: Option<Figure>,
    /// New facts that waited for consent (R215).
    pub gated_share: Option<Figure>,
    /// Active memories per user (R007).
    pub active_memories: Option<Figure>,
    /// Tokens of memory learned from 10,000 tokens of conversation (R082).
    pub learned_tokens: Option<Figure>,
    /// Mean confidence of what was extracted (R213).
    pub extraction_confidence: Option<Figure>,
    /// Memories taken from the cache of their conversation (R209, R212).
    pub cache_hit_rate: Option<Figure>,
    /// Retrievals without a search (R212).
    pub saved_searches: Option<Figure>,
    /// The 95th percentile of the time of a retrieval, in milliseconds (R209, R212).
    pub recall_ms: Option<Figure>,
    /// The 95th percentile of the time of the reranker, in milliseconds (R212).
    pub rerank_ms: Option<Figure>,
    /// The 95th percentile of the share of memory in the context window (R210).
    pub window_share: Option<Figure>,
    /// The share of the token budget that memory took (R209).
    pub budget_use: Option<Figure>,
    /// Cost of memory per message, in millionths of the currency; absent without prices (R211).
    pub message_cost_micros: Option<Figure>,
}

impl From<&QualityCounts> for Quality {
    fn from(counts: &QualityCounts) -> Self {
        let QualityCounts { users, answers, proposals, written, learned, recall, ratings } =
            *counts;
        let rated = ratings.up + ratings.down;
        let decided = proposals.accepted + proposals.rejected;
        let lookups = recall.cache_hits + recall.cache_misses;
        let active = written.active as f64 / users.max(1) as f64;
        let learned_share = learned.tokens_learned as f64 / learned.tokens_read.max(1) as f64;
        let budget_use = recall.tokens as f64 / recall.budget.max(1) as f64;
        let confidence_goal = Goal::at_least(0.7);
        Self {
            citation_rate: Figure::share(
                answers.citing,
                answers.with_memories,
                Goal::at_least(0.8),
            ),
            proposal_acceptance: Figure::share(proposals.accepted, decided, Goal::at_least(0.7)),
            edits_on_confirm: Figure::share(
                proposals.edited,
                proposals.accepted,
                Goal::at_most(0.1),
            ),
            why_share: Figure::share(answers.explained, answers.all, Goal::at_most(0.05)),
            satisfaction: Figure::share(ratings.up, rated, Goal::at_least(0.9)),
            gated_share: Figure::share(written.gated, written.facts, Goal::at_most(0.1)),
            active_memories: (users > 0).then_some(Figure {
                value: active,
                count: users,
                goal: Goal::between(5.0, 15.0),
            }),
            learned_tokens: (learned.tokens_read >= MIN_TOKENS_READ).then_some(Figure {
                value: learned_share * 10_000.0,
                count: learned.conversations,
                goal: Goal::between(200.0, 500.0),
            }),
            extraction_confidence: Figure::mean(
                written.confidence,
                written.extracted,
                confidence_goal,
            ),
            cache_hit_rate: Figure::share(recall.cache_hits, lookups, Goal::at_least(0.7)),
            saved_searches: Figure::share(
                recall.unsearched,
                recall.retrievals,
                Goal::at_least(0.6),
            ),
            recall_ms: Figure::of(recall.p95_ms, recall.retrievals, Goal::at_most(300.0)),
            rerank_ms: Figure::of(recall.rerank_p95_ms, recall.reranked, Goal::at_most(200.0)),
            window_share: Figure::of(
                recall.window_share_p95,
                recall.retrievals,
                Goal::at_most(MAX_WINDOW_SHARE),
            ),
            budget_use: Figure::of(budget_use, recall.retrievals, Goal::at_most(1.0)),
            message_cost_micros: Figure::mean(
                recall.cost_micros as f64,
                recall.retrievals,
                Goal::at_most(6_100.0),
            )
            .filter(|_| recall.cost_micros > 0),
        }
    }
}

/// Limits of the alerts (R210).
const MIN_CACHE_HITS: f64 = 0.5;
const MAX_RERANK_MS: f64 = 500.0;
const MAX_WINDOW_SHARE: f64 = 0.2;

words!(
    /// What an alert is about.
    AlertCode {
        CacheHits = "cache_hits",
        RerankTime = "rerank_time",
        WindowShare = "window_share",
    }
);

impl AlertCode {
    /// What to do about it.
    pub fn next_step(self) -> &'static str {
        match self {
            AlertCode::CacheHits => {
                "send the same session_id with every message of a conversation: only then are its \
                 memories cached"
            }
            AlertCode::RerankTime => {
                "use a faster reranker, or none: results are complete without it"
            }
            AlertCode::WindowShare => {
                "name the model's window in the request, which limits memory to 15 % of it, or set a \
                 smaller token budget"
            }
        }
    }
}

/// A value beyond its limit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alert {
    pub code: AlertCode,
    pub value: f64,
    pub limit: f64,
}

impl Alert {
    /// What was found, in a sentence without a full stop.
    pub fn message(&self) -> String {
        let percent = |share: f64| format!("{:.0} %", share * 100.0);
        match self.code {
            AlertCode::CacheHits => format!(
                "{} of the memories came from the cache of their conversation, fewer than {}",
                percent(self.value),
                percent(self.limit)
            ),
            AlertCode::RerankTime => {
                format!("the reranker takes {:.0} ms, more than {:.0}", self.value, self.limit)
            }
            AlertCode::WindowShare => format!(
                "memory takes {} of the context window, more than {}",
                percent(self.value),
                percent(self.limit)
            ),
        }
    }
}

impl Quality {
    /// The figures that have enough samples, with their names.
    pub fn figures(&self) -> Vec<(&'static str, Figure)> {
        let all = [
            ("citation_rate", self.citation_rate),
            ("proposal_acceptance", self.proposal_acceptance),
            ("edits_on_confirm", self.edits_on_confirm),
            ("why_share", self.why_share),
            ("satisfaction", self.satisfaction),
            ("gated_share", self.gated_share),
            ("active_memories", self.active_memories),
            ("learned_tokens", self.learned_tokens),
            ("extraction_confidence", self.extraction_confidence),
            ("cache_hit_rate", self.cache_hit_rate),
            ("saved_searches", self.saved_searches),
            ("recall_ms", self.recall_ms),
            ("rerank_ms", self.rerank_ms),
            ("window_share", self.window_share),
            ("budget_use", self.budget_use),
            ("message_cost_micros", self.message_cost_micros),
        ];
        all.into_iter().filter_map(|(name, figure)| Some((name, figure?))).collect()
    }

    /// The values beyond their limits.
    pub fn alerts(&self) -> Vec<Alert> {
        let below = |code, figure: Option<Figure>, limit| {
            figure.filter(|f| f.value < limit).map(|f| Alert { code, value: f.value, limit })
        };
        let above = |code, figure: Option<Figure>, limit| {
            figure.filter(|f| f.value > limit).map(|f| Alert { code, value: f.value, limit })
        };
        let alerts = [
            below(AlertCode::CacheHits, self.cache_hit_rate, MIN_CACHE_HITS),
            above(AlertCode::RerankTime, self.rerank_ms, MAX_RERANK_MS),
            above(AlertCode::WindowShare, self.window_share, MAX_WINDOW_SHARE),
        ];
        alerts.into_iter().flatten().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts() -> QualityCounts {
        QualityCounts {
            users: 1,
            answers: AnswerCounts { all: 20, with_memories: 10, citing: 9, explained: 1 },
            proposals: ProposalCounts { accepted: 12, edited: 3, rejected: 4 },
            written: WrittenCounts {
                facts: 40,
                gated: 2,
                extracted: 10,
                confidence: 8.0,
                active: 12,
            },
            learned: LearnedCounts { conversations: 3, tokens_read: 20_000, tokens_learned: 600 },
            recall: RecallCounts {
                retrievals: 20,
                unsearched: 13,
                cache_hits: 60,
                cache_misses: 40,
                p95_ms: 120.0,
                reranked: 10,
                rerank_p95_ms: 90.0,
                window_share_p95: 0.05,
                tokens: 20_000,
                budget: 30_000,
                cost_micros: 50_000,
            },
            ratings: RatingCounts { up: 9, down: 1 },
        }
    }

    #[test]
    fn quality_figures_are_shares_and_means_of_the_counts() {
        let quality = Quality::from(&counts());
        let of = |figure: Option<Figure>| {
            let Figure { value, count, .. } = figure.unwrap();
            (value, count, figure.unwrap().is_met())
        };
        assert_eq!(of(quality.citation_rate), (0.9, 10, true));
        assert_eq!(of(quality.proposal_acceptance), (0.75, 16, true));
        assert_eq!(of(quality.edits_on_confirm), (0.25, 12, false));
        assert_eq!(of(quality.why_share), (0.05, 20, true));
        assert_eq!(of(quality.satisfaction), (0.9, 10, true));
        assert_eq!(of(quality.gated_share), (0.05, 40, true));
        assert_eq!(of(quality.active_memories), (12.0, 1, true));
        assert_eq!(of(quality.learned_tokens), (300.0, 3, true));
        assert_eq!(of(quality.extraction_confidence), (0.8, 10, true));
        assert_eq!(of(quality.cache_hit_rate), (0.6, 100, false));
        assert_eq!(of(quality.saved_searches), (0.65, 20, true));
        assert_eq!(of(quality.recall_ms), (120.0, 20, true));
        assert_eq!(of(quality.rerank_ms), (90.0, 10, true));
        assert_eq!(of(quality.window_share), (0.05, 20, true));
        assert!((quality.budget_use.unwrap().value - 2.0 / 3.0).abs() < 1e-9);
        assert_eq!(of(quality.message_cost_micros), (2_500.0, 20, true));
        assert_eq!(quality.figures().len(), 16);
        assert_eq!(quality.alerts(), []);
        // Of 20,000 tokens that were read.
        for (tokens_learned, is_met) in [(300, false), (400, true), (1_000, true), (1_200, false)] {
            let mut counts = counts();
            counts.learned.tokens_learned = tokens_learned;
            let learned = Quality::from(&counts).learned_tokens.unwrap();
            assert_eq!(learned.is_met(), is_met, "{tokens_learned}: {}", learned.value);
        }
    }

    #[test]
    fn goals_of_answers_proposals_and_ratings_are_met_at_their_boundary() {
        let quality = |change: fn(&mut QualityCounts, i64), of_hundred: i64| {
            let mut counts = counts();
            change(&mut counts, of_hundred);
            Quality::from(&counts)
        };
        let citing: fn(&mut QualityCounts, i64) = |counts, n| {
            (counts.answers.with_memories, counts.answers.citing) = (100, n);
        };
        let accepted: fn(&mut QualityCounts, i64) = |counts, n| {
            (counts.proposals.accepted, counts.proposals.rejected) = (n, 100 - n);
        };
        let edited: fn(&mut QualityCounts, i64) = |counts, n| {
            (counts.proposals.accepted, counts.proposals.edited) = (100, n);
        };
        let explained: fn(&mut QualityCounts, i64) = |counts, n| {
            (counts.answers.all, counts.answers.explained) = (100, n);
        };
        let rated_up: fn(&mut QualityCounts, i64) = |counts, n| {
            (counts.ratings.up, counts.ratings.down) = (n, 100 - n);
        };
        type Pick = fn(&Quality) -> Option<Figure>;
        let goals: [(_, Pick, i64, i64); 5] = [
            (citing, |q| q.citation_rate, 80, 79),
            (accepted, |q| q.proposal_acceptance, 70, 69),
            (edited, |q| q.edits_on_confirm, 10, 11),
            (explained, |q| q.why_share, 5, 6),
            (rated_up, |q| q.satisfaction, 90, 89),
        ];
        for (change, of, met, missed) in goals {
            assert!(of(&quality(change, met)).unwrap().is_met(), "{met} %");
            assert!(!of(&quality(change, missed)).unwrap().is_met(), "{missed} %");
        }
    }

    #[test]
    fn quality_figure_with_too_few_samples_is_absent() {
        assert_eq!(Quality::from(&QualityCounts::default()), Quality::default());
        let mut few = counts();
        few.answers.with_memories = MIN_SAMPLES - 1;
        few.learned.tokens_read = MIN_TOKENS_READ - 1;
        (few.recall.cache_hits, few.recall.cache_misses) = (0, MIN_SAMPLES - 1);
        few.recall.reranked = MIN_SAMPLES - 1;
        few.recall.rerank_p95_ms = 9_000.0;
        let quality = Quality::from(&few);
        let absent = [
            quality.citation_rate,
            quality.learned_tokens,
            quality.cache_hit_rate,
            quality.rerank_ms,
        ];
        assert_eq!(absent, [None; 4]);
        assert_eq!(quality.alerts(), [], "too few samples cause no alert");
    }

    #[test]
    fn quality_alerts_name_value_limit_and_next_step() {
        let mut bad = counts();
        (bad.recall.cache_hits, bad.recall.cache_misses) = (49, 51);
        (bad.recall.rerank_p95_ms, bad.recall.window_share_p95) = (501.0, 0.21);
        let alerts = Quality::from(&bad).alerts();
        let found: Vec<_> = alerts.iter().map(|a| (a.code.as_str(), a.value, a.limit)).collect();
        let expected =
            [("cache_hits", 0.49, 0.5), ("rerank_time", 501.0, 500.0), ("window_share", 0.21, 0.2)];
        assert_eq!(found, expected);
        assert!(alerts[0].message().contains("49 %") && alerts[1].message().contains("501 ms"));
        assert!(alerts.iter().all(|alert| !alert.code.next_step().is_empty()));
        (bad.recall.cache_hits, bad.recall.cache_misses) = (50, 50);
        (bad.recall.rerank_p95_ms, bad.recall.window_share_p95) = (500.0, 0.2);
        assert_eq!(Quality::from(&bad).alerts(), [], "at its limit a value is fine");
    }

    #[test]
    fn quality_counts_of_users_are_added_and_the_slowest_counts() {
        let mut both = counts();
        let slow = RecallCounts { rerank_p95_ms: 700.0, ..counts().recall };
        both += QualityCounts { recall: slow, ..counts() };
        let quality = Quality::from(&both);
        assert_eq!(quality.active_memories.unwrap().value, 12.0, "per user");
        assert_eq!(quality.citation_rate.unwrap().count, 20);
        assert_eq!(quality.rerank_ms.unwrap().value, 700.0);
    }
}
