//! Ranking: several signals ("arms") score the same query, and their scores are fused.
//!
//! Every arm gives every unit a score. Scores of different arms are made comparable as standard
//! deviations from that arm's mean, and are added with the weights of [`Tuning`]. The weights are
//! round numbers that were validated on conversations they were not chosen on; see the decision
//! record on ranking. Rank fusion is available as a fallback and for comparison.

use std::cell::OnceCell;

use serde::Serialize;

use super::corpus::Corpus;
use super::index::{Index, Unit};
use super::passage::PassageKind;
use super::scorer::{Feedback, Scorer};
use crate::time::Period;
use crate::words;

words!(
    /// One ranking signal.
    Arm {
        /// The words of the unit itself.
        Keyword = "keyword",
        /// The words of the turn with its neighbours.
        KeywordWindow = "keyword_window",
        /// The words of the whole session.
        KeywordSession = "keyword_session",
        /// The meaning of the unit itself.
        Vector = "vector",
        /// The meaning of the turn with its neighbours.
        VectorWindow = "vector_window",
        /// The query names the speaker.
        Speaker = "speaker",
        /// The query mentions its time.
        Time = "time",
        /// It was learned recently.
        Recency = "recency",
        /// It is important and trusted.
        Prior = "prior",
        /// Other turns of its session rank well.
        SessionBest = "session_best",
        /// A well ranked memory is linked to it.
        Link = "link",
    }
);

impl Arm {
    /// Whether its scores are only relative and are counted in standard deviations. Those of the
    /// other arms are between 0 and 1 and are used as they are.
    fn is_relative(self) -> bool {
        matches!(
            self,
            Arm::Keyword
                | Arm::KeywordWindow
                | Arm::KeywordSession
                | Arm::Vector
                | Arm::VectorWindow
        )
    }

    /// Standard deviation of its scores for irrelevant units: zero for words, which match or do
    /// not, but cosines are never quite zero.
    fn spread(self) -> f32 {
        if matches!(self, Arm::Vector | Arm::VectorWindow) { 0.12 } else { 0.0 }
    }

    /// Whether a positive score makes a unit a result, rather than only reordering results.
    fn finds(self) -> bool {
        !matches!(self, Arm::Recency | Arm::Prior | Arm::KeywordSession | Arm::SessionBest)
    }
}

/// How the scores of the arms are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fusion {
    /// Weighted sum of scores, each in standard deviations from its arm's mean.
    Scores,
    /// Reciprocal ranks with k = 60, every arm alike: for scores that cannot be compared.
    Ranks,
}

/// Ranking parameters. An arm of weight zero is off.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tuning {
    pub fusion: Fusion,
    pub facts: Weights,
    pub turns: Weights,
    /// The share of the mean vector that is subtracted before vectors are compared.
    pub centre: f32,
    /// Pseudo-relevance feedback: whether words shared by the best results are searched as well.
    pub feedback: bool,
    /// The share of its score that a turn adds to the next one: an answer follows its question.
    pub smoothing: f32,
}

/// Weight of each arm.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Weights([f32; Arm::ALL.len()]);

impl Weights {
    pub fn of(&self, arm: Arm) -> f32 {
        self.0[arm as usize]
    }

    #[must_use]
    pub fn with(mut self, arm: Arm, weight: f32) -> Self {
        self.0[arm as usize] = weight;
        self
    }
}

impl Default for Tuning {
    fn default() -> Self {
        let shared = Weights([0.0; Arm::ALL.len()])
            .with(Arm::Keyword, 0.7)
            .with(Arm::KeywordWindow, 0.7)
            .with(Arm::Vector, 0.9)
            .with(Arm::VectorWindow, 0.7)
            .with(Arm::Time, 0.5);
        Self {
            fusion: Fusion::Scores,
            facts: shared
                .with(Arm::KeywordSession, 1.0)
                .with(Arm::Recency, 1.5)
                .with(Arm::Prior, 0.2)
                .with(Arm::Link, 0.6),
            turns: shared
                .with(Arm::KeywordSession, 0.4)
                .with(Arm::Speaker, 1.5)
                .with(Arm::SessionBest, 0.2),
            centre: 0.7,
            feedback: true,
            smoothing: 0.05,
        }
    }
}

impl Tuning {
    /// A copy with an arm off, for ablation.
    #[must_use]
    pub fn without(mut self, arm: Arm) -> Self {
        self.facts = self.facts.with(arm, 0.0);
        self.turns = self.turns.with(arm, 0.0);
        self
    }

    /// A copy with only these arms, without feedback, smoothing and centring.
    #[must_use]
    pub fn only(mut self, arms: &[Arm]) -> Self {
        for arm in Arm::ALL.into_iter().filter(|arm| !arms.contains(arm)) {
            self = self.without(arm);
        }
        self.feedback = false;
        self.smoothing = 0.0;
        self.centre = 0.0;
        self
    }
}

/// A parsed query.
#[derive(Debug, Clone)]
pub struct RankQuery<'q> {
    pub text: &'q str,
    /// Its embedding, if a model answered in time.
    pub vector: Option<&'q [f32]>,
    /// The times it mentions.
    pub times: &'q [Period],
}

/// Predicates on units: the corpus, the ranking candidates, and the allowed results.
pub struct RankFilters<'s> {
    /// The visible units: word counts of sessions are computed over those.
    pub corpus: &'s Corpus,
    /// Units that are ranked against each other, within one kind.
    pub candidates: &'s dyn Fn(&Unit) -> bool,
    /// Candidates that may be returned.
    pub results: &'s dyn Fn(&Unit) -> bool,
}

/// A result.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedUnit {
    pub unit: usize,
    pub score: f32,
    /// Absolute relevance between 0 and 1: the share of the query's words that it has, weighted by
    /// rarity, and its similarity in meaning.
    pub relevance: f32,
    /// Its rank, from one, and its score in each arm.
    pub arms: Vec<(Arm, usize, f32)>,
    /// The words of the query that it has.
    pub matched: Vec<String>,
}

/// A session among the results, by number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankedSession {
    pub session: usize,
    pub score: f32,
    /// Its best turn.
    pub best: usize,
}

/// Results of one kind, best first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ranking {
    pub found: Vec<RankedUnit>,
    pub sessions: Vec<RankedSession>,
    /// Number of ranked candidates.
    pub among: usize,
}

/// How many results a ranking returns at most. Without sessions these are not ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankLimits {
    pub units: usize,
    pub sessions: usize,
}

/// Ranks the units of a kind and returns the best of the allowed results.
pub fn rank(
    index: &Index,
    question: &RankQuery<'_>,
    kind: PassageKind,
    tuning: &Tuning,
    filters: &RankFilters<'_>,
    limits: RankLimits,
) -> Ranking {
    let scorer = Scorer::new(index, question, kind, filters, tuning);
    let weights = match kind {
        PassageKind::Fact => tuning.facts,
        // An episode summarises turns, and is found like them.
        PassageKind::Turn | PassageKind::Episode => tuning.turns,
    };
    let mut arms = Arms::of(&scorer, &weights);
    let mut fused = arms.fuse(tuning.fusion, scorer.among.len());
    if tuning.feedback && tuning.fusion == Fusion::Scores {
        const TRUSTED: usize = 3;
        let trusted = |at: &usize| fused[*at] > 0.0 && arms.find(*at);
        let best = best_of((0..fused.len()).filter(trusted).collect(), &fused, TRUSTED);
        if let Some(more) = scorer.feedback(&best) {
            arms.add_feedback(&scorer, &more);
            fused = arms.fuse(tuning.fusion, scorer.among.len());
        }
    }
    if tuning.smoothing > 0.0 && tuning.fusion == Fusion::Scores {
        let passed = fused.clone();
        for (at, score) in fused.iter_mut().enumerate() {
            let before = scorer.before(at).map_or(0.0, |before| passed[before].max(0.0));
            *score += tuning.smoothing * before;
        }
    }
    if kind == PassageKind::Turn && tuning.fusion == Fusion::Scores {
        arms.lift_sessions(&scorer, &mut fused, weights.of(Arm::SessionBest));
    }
    if kind == PassageKind::Fact && weights.of(Arm::Link) > 0.0 {
        arms.follow_links(index, &scorer, &mut fused, weights.of(Arm::Link));
    }
    let is_result =
        |at: &usize| (filters.results)(&index.units[scorer.among[*at]]) && arms.find(*at);
    let results: Vec<usize> = (0..fused.len()).filter(is_result).collect();
    let mut sessions = match kind {
        PassageKind::Turn if limits.sessions > 0 => sessions(&scorer, &arms, &fused, &results),
        _ => Vec::new(),
    };
    sessions.truncate(limits.sessions);
    let order = best_of(results, &fused, limits.units);
    let explained = arms.explain(&order);
    let found = |(at, arms): (usize, Vec<(Arm, usize, f32)>)| RankedUnit {
        unit: scorer.among[at],
        score: fused[at],
        relevance: scorer.relevance(at),
        arms,
        matched: scorer.matched(at),
    };
    let found = order.into_iter().zip(explained).map(found).collect();
    Ranking { found, sessions, among: scorer.among.len() }
}

/// Ranks sessions by their best turns, and by the words of the whole session.
fn sessions(
    scorer: &Scorer<'_>,
    arms: &Arms,
    fused: &[f32],
    results: &[usize],
) -> Vec<RankedSession> {
    const WHOLE: f32 = 0.8;
    const NEXT_BEST: f32 = 0.1;
    let whole = arms.standard(Arm::KeywordSession);
    let score = |at: usize| fused[at] + whole.map_or(0.0, |whole| WHOLE * whole[at]);
    let best = best_of_sessions(scorer, results.iter().map(|at| (*at, score(*at))));
    let of = |(session, best): (usize, Vec<(f32, usize)>)| {
        let (first, at) = *best.first()?;
        let next: f32 = best.iter().skip(1).map(|(score, _)| score.max(0.0)).sum();
        let best = scorer.among[at];
        Some(RankedSession { session, score: first + NEXT_BEST * next, best })
    };
    let mut found: Vec<RankedSession> = best.into_iter().enumerate().filter_map(of).collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.session.cmp(&b.session)));
    found
}

/// Number of turns that count for their session.
const BEST_TURNS: usize = 3;

/// For each session its best turns with their scores, best first.
fn best_of_sessions(
    scorer: &Scorer<'_>,
    scored: impl Iterator<Item = (usize, f32)>,
) -> Vec<Vec<(f32, usize)>> {
    let mut best: Vec<Vec<(f32, usize)>> = vec![Vec::new(); scorer.sessions()];
    for (at, score) in scored {
        let Some(session) = scorer.session_of(at) else { continue };
        let best = &mut best[session];
        let place = best.partition_point(|(other, _)| *other >= score);
        if place < BEST_TURNS {
            best.insert(place, (score, at));
            best.truncate(BEST_TURNS);
        }
    }
    best
}

/// The best `limit` of these positions, best first; ties in their original order.
fn best_of(mut positions: Vec<usize>, scores: &[f32], limit: usize) -> Vec<usize> {
    let order = |a: &usize, b: &usize| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b));
    if limit < positions.len() {
        positions.select_nth_unstable_by(limit, order);
        positions.truncate(limit);
    }
    positions.sort_unstable_by(order);
    positions
}

/// Scores of the arms that apply to the query.
struct Arms(Vec<ArmScores>);

struct ArmScores {
    arm: Arm,
    weight: f32,
    scores: Vec<f32>,
    /// The scores in standard deviations, computed when they are first needed.
    standard: OnceCell<Vec<f32>>,
}

impl ArmScores {
    fn new(arm: Arm, weight: f32, scores: Vec<f32>) -> Self {
        Self { arm, weight, scores, standard: OnceCell::new() }
    }

    fn standard(&self) -> &[f32] {
        self.standard.get_or_init(|| standard(&self.scores, self.arm.spread()))
    }
}

impl Arms {
    fn of(scorer: &Scorer<'_>, weights: &Weights) -> Self {
        let on = Arm::ALL.into_iter().map(|arm| (arm, weights.of(arm)));
        let on = on.filter(|(_, weight)| *weight > 0.0);
        let scored = on.filter_map(|(arm, weight)| {
            scorer.scores(arm).map(|scores| ArmScores::new(arm, weight, scores))
        });
        Self(scored.collect())
    }

    /// Adds the scores of the feedback words.
    fn add_feedback(&mut self, scorer: &Scorer<'_>, more: &Feedback) {
        for one in &mut self.0 {
            let Some(more) = scorer.feedback_scores(one.arm, more) else { continue };
            one.standard.take();
            for (score, more) in one.scores.iter_mut().zip(more) {
                *score += more;
            }
        }
    }

    fn fuse(&self, fusion: Fusion, units: usize) -> Vec<f32> {
        let mut fused = vec![0.0; units];
        for one in &self.0 {
            match fusion {
                Fusion::Scores => {
                    let scores =
                        if one.arm.is_relative() { one.standard() } else { one.scores.as_slice() };
                    for (sum, score) in fused.iter_mut().zip(scores) {
                        *sum += one.weight * score;
                    }
                }
                Fusion::Ranks => {
                    const K: f32 = 60.0;
                    const DEPTH: usize = 100;
                    let matching = (0..units).filter(|at| one.scores[*at] > 0.0).collect();
                    for (rank, at) in best_of(matching, &one.scores, DEPTH).into_iter().enumerate()
                    {
                        fused[at] += 1.0 / (K + rank as f32 + 1.0);
                    }
                }
            }
        }
        fused
    }

    fn standard(&self, wanted: Arm) -> Option<&[f32]> {
        self.0.iter().find(|one| one.arm == wanted).map(ArmScores::standard)
    }

    /// Adds the session arm: a turn gets a share of the mean of its session's best positive scores.
    /// Answers lie close together.
    fn lift_sessions(&mut self, scorer: &Scorer<'_>, fused: &mut [f32], weight: f32) {
        if weight <= 0.0 {
            return;
        }
        let positive = fused.iter().copied().enumerate().filter(|(_, score)| *score > 0.0);
        let best = best_of_sessions(scorer, positive);
        let mean = |best: &Vec<(f32, usize)>| {
            best.iter().map(|(score, _)| score).sum::<f32>() / BEST_TURNS as f32
        };
        let means: Vec<f32> = best.iter().map(mean).collect();
        let lift = |at: usize| scorer.session_of(at).map_or(0.0, |session| means[session]);
        let lifts: Vec<f32> = (0..fused.len()).map(lift).collect();
        for (score, lift) in fused.iter_mut().zip(&lifts) {
            *score += weight * lift;
        }
        self.0.push(ArmScores::new(Arm::SessionBest, weight, lifts));
    }

    /// Adds the link arm: memories linked to the best results get a share of their score.
    fn follow_links(&mut self, index: &Index, scorer: &Scorer<'_>, fused: &mut [f32], weight: f32) {
        const FOLLOWED: usize = 5;
        let trusted = |at: &usize| fused[*at] > 0.0 && self.find(*at);
        let best = best_of((0..fused.len()).filter(trusted).collect(), fused, FOLLOWED);
        let mut lent = vec![0.0; fused.len()];
        for at in best {
            for other in index.linked(index.units[scorer.among[at]].subject) {
                if let Some(other) = scorer.place(other) {
                    lent[other] = f32::max(lent[other], fused[at] * weight);
                }
            }
        }
        for (score, lent) in fused.iter_mut().zip(&lent) {
            *score = score.max(*lent);
        }
        if lent.iter().any(|lent| *lent > 0.0) {
            self.0.push(ArmScores::new(Arm::Link, weight, lent));
        }
    }

    /// Whether any arm makes a unit a result: a word, similarity, a name, a time or a link.
    fn find(&self, at: usize) -> bool {
        self.0.iter().any(|one| one.arm.finds() && one.scores[at] > 0.0)
    }

    /// Rank and score of each of these units in each arm. One pass over an arm's scores computes
    /// all of their ranks.
    fn explain(&self, found: &[usize]) -> Vec<Vec<(Arm, usize, f32)>> {
        let mut explained = vec![Vec::new(); found.len()];
        for ArmScores { arm, scores, .. } in &self.0 {
            let mut own: Vec<f32> = found.iter().map(|at| scores[*at]).collect();
            own.sort_by(f32::total_cmp);
            // How many of all scores are above each of the found ones.
            let mut above = vec![0_usize; own.len() + 1];
            let least = own.first().copied().unwrap_or(f32::MAX);
            for score in scores.iter().filter(|score| **score > least) {
                above[own.partition_point(|found| found < score)] += 1;
            }
            for at in (0..own.len()).rev() {
                above[at] += above[at + 1];
            }
            for (why, at) in explained.iter_mut().zip(found).filter(|(_, at)| scores[**at] != 0.0) {
                let place = own.partition_point(|found| *found <= scores[*at]);
                why.push((*arm, above[place] + 1, scores[*at]));
            }
        }
        explained
    }
}

/// Standardizes scores: standard deviations from their mean. With only a few units these statistics
/// mean little, so the set is padded to 30 with irrelevant units, of which every user eventually
/// has plenty. `spread` is the standard deviation of their scores.
fn standard(scores: &[f32], spread: f32) -> Vec<f32> {
    const MIN_UNITS: usize = 30;
    let (count, missing) = (scores.len(), MIN_UNITS.saturating_sub(scores.len()) as f32);
    let all = (count.max(MIN_UNITS)) as f32;
    let mean = scores.iter().sum::<f32>() / all;
    let square = |score: &f32| (score - mean).powi(2);
    let sum: f32 = scores.iter().map(square).sum();
    let variance = (sum + missing * (mean.powi(2) + spread.powi(2))) / all;
    let deviation = variance.sqrt() + 1e-9;
    scores.iter().map(|score| (score - mean) / deviation).collect()
}
