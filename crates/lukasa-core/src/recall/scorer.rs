//! Computes the scores of every arm for one query, over statistics that the arms share.

use std::collections::HashMap;

use lukasa_text::terms::Term;

use super::bm25::{Counts, Saturation};
use super::index::{Index, Unit};
use super::passage::PassageKind;
use super::query_terms::{QueryTerms, Slot};
use super::rank::{Arm, RankFilters, RankQuery, Tuning};
use crate::time::Timestamp;

/// BM25 parameters for units and for sessions, which are longer.
const TEXT_BM25: Saturation = Saturation { k1: 0.9, b: 0.4 };
const SESSION_BM25: Saturation = Saturation { k1: 0.9, b: 0.75 };

/// Statistics that all arms need, computed once per query.
pub(super) struct Scorer<'a> {
    index: &'a Index,
    question: &'a RankQuery<'a>,
    /// The ranked units.
    pub(super) among: Vec<usize>,
    /// Position of a unit in `among`.
    place: Vec<Option<usize>>,
    asked: QueryTerms,
    /// Word counts of each unit: `base` includes the speaker's name, `own` also the date.
    base: Counts,
    own: Counts,
    pairs: Counts,
    /// 1 if the query names the unit's speaker, otherwise 0.
    named: Vec<f32>,
    /// Word counts of each session, over all its turns.
    sessions: Counts,
    session_of: Vec<Option<usize>>,
    before: Vec<Option<usize>>,
    after: Vec<Option<usize>>,
    near: Option<Similarity>,
    /// Rarity of each query word; zero for stop words of any stored language.
    rarity: Vec<f32>,
}

/// Similarity of each unit to the query, alone and with its neighbours.
struct Similarity {
    /// Plain cosines, not centred.
    cosines: Vec<f32>,
    own: Vec<f32>,
    window: Vec<f32>,
}

impl<'a> Scorer<'a> {
    pub(super) fn new(
        index: &'a Index,
        question: &'a RankQuery<'a>,
        kind: PassageKind,
        filters: &RankFilters<'_>,
        tuning: &Tuning,
    ) -> Self {
        let corpus: Vec<usize> =
            (0..index.units.len()).filter(|at| (filters.corpus)(&index.units[*at])).collect();
        let is_among = |unit: &Unit| unit.kind == kind && (filters.candidates)(unit);
        let among: Vec<usize> =
            corpus.iter().copied().filter(|at| is_among(&index.units[*at])).collect();
        let mut place = vec![None; index.units.len()];
        for (at, unit) in among.iter().enumerate() {
            place[*unit] = Some(at);
        }
        let asked = QueryTerms::of(question.text, &index.languages);
        let width = asked.words.len();
        let mut scorer = Self {
            index,
            question,
            base: Counts::new(among.len(), width),
            own: Counts::new(among.len(), width),
            pairs: Counts::new(among.len(), asked.pairs),
            named: vec![0.0; among.len()],
            sessions: Counts { width, ..Counts::default() },
            session_of: vec![None; among.len()],
            before: vec![None; among.len()],
            after: vec![None; among.len()],
            near: None,
            rarity: Vec::new(),
            among,
            place,
            asked,
        };
        scorer.count(&corpus);
        scorer.find_neighbours();
        scorer.near = question.vector.map(|vector| scorer.nearness(vector, tuning.centre));
        scorer.rarity = scorer.own.rarity();
        for (word, rare) in scorer.rarity.iter_mut().enumerate() {
            if !scorer.asked.tells_everywhere[word] {
                *rare = 0.0;
            }
        }
        scorer
    }

    /// Counts words in one pass over the terms of the corpus.
    fn count(&mut self, corpus: &[usize]) {
        let width = self.asked.words.len();
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        let (mut words, mut dates) = (vec![0.0; width], vec![0.0; width]);
        for unit_at in corpus {
            let unit = &self.index.units[*unit_at];
            let place = self.place[*unit_at];
            if place.is_none() && unit.kind == PassageKind::Fact {
                continue;
            }
            words.fill(0.0);
            dates.fill(0.0);
            for passage in unit.passages.clone() {
                for (term, count) in self.index.terms(passage) {
                    let Some(slot) = self.asked.slot(*term) else { continue };
                    let count = f32::from(*count);
                    match slot {
                        Slot::Word(word) => words[word] += count,
                        Slot::Speaker(word) => {
                            words[word] += count;
                            if let Some(at) = place {
                                self.named[at] = 1.0;
                            }
                        }
                        Slot::Date(word) => dates[word] += count,
                        Slot::Pair(pair) => {
                            if let Some(at) = place {
                                self.pairs.counts[at * self.asked.pairs + pair] += count;
                            }
                        }
                    }
                }
            }
            let length = unit.words as f32;
            if let Some(at) = place {
                self.base.add(at, &words, length, 1.0);
                self.own.add(at, &words, length, 1.0);
                self.own.add(at, &dates, 0.0, 1.0);
                self.pairs.lengths[at] = (length - 1.0).max(0.0);
            }
            if let (PassageKind::Turn, Some(session)) = (unit.kind, unit.session) {
                let next = numbers.len();
                let session = *numbers.entry(session).or_insert(next);
                if session == next {
                    self.sessions.lengths.push(0.0);
                    self.sessions.counts.resize((next + 1) * width, 0.0);
                }
                self.sessions.add(session, &words, length, 1.0);
            }
        }
        for (at, unit) in self.among.iter().enumerate() {
            let session = self.index.units[*unit].session;
            self.session_of[at] = session.and_then(|session| numbers.get(&session).copied());
        }
    }

    /// Finds the previous and the next ranked unit in the same session: turns in their order,
    /// memories in the order they were learned.
    fn find_neighbours(&mut self) {
        let mut order: Vec<usize> =
            (0..self.among.len()).filter(|at| self.session_of(*at).is_some()).collect();
        order.sort_by_key(|at| {
            let unit = &self.index.units[self.among[*at]];
            (unit.session, unit.turn.map(|turn| turn.number), unit.source)
        });
        for two in order.windows(2) {
            if self.session_of(two[0]) == self.session_of(two[1]) {
                self.before[two[1]] = Some(two[0]);
                self.after[two[0]] = Some(two[1]);
            }
        }
    }

    /// Cosines after subtracting a share of the mean vector of the user's units: users talk about
    /// few subjects, and what all texts share does not distinguish them.
    fn nearness(&self, vector: &[f32], share: f32) -> Similarity {
        let index = self.index;
        let size = vector.len();
        let first = |at: usize| index.vector(index.units[self.among[at]].passages.start);
        let mut centre = vec![0.0; size];
        let mut counted = 0_u32;
        for vector in (0..self.among.len()).filter_map(first).filter(|v| v.len() == size) {
            for (sum, value) in centre.iter_mut().zip(vector) {
                *sum += value;
            }
            counted += 1;
        }
        // The mean of a few vectors is mostly their content, so it is damped.
        const FEW: f32 = 30.0;
        let counted = counted.max(1) as f32;
        for value in &mut centre {
            *value *= share / counted * counted / (counted + FEW);
        }
        let asked: Vec<f32> =
            vector.iter().zip(&centre).map(|(value, mean)| value - mean).collect();
        let asked_length = dot(&asked, &asked).sqrt().max(1e-6);
        let (asked_centre, centre_square) = (dot(&asked, &centre), dot(&centre, &centre));
        let mut near = Similarity {
            cosines: vec![0.0; self.among.len()],
            own: vec![0.0; self.among.len()],
            window: Vec::new(),
        };
        // The best passage of each unit, and the length of its centred vector.
        let mut best: Vec<Option<(usize, f32)>> = vec![None; self.among.len()];
        for (at, unit) in self.among.iter().enumerate() {
            for passage in index.units[*unit].passages.clone() {
                let Some(own) = index.vector(passage).filter(|v| v.len() == size) else { continue };
                let length = (1.0 - 2.0 * dot(own, &centre) + centre_square).max(1e-6).sqrt();
                let cosine = (dot(own, &asked) - asked_centre) / (length * asked_length);
                if best[at].is_none() || cosine > near.own[at] {
                    near.own[at] = cosine;
                    near.cosines[at] = dot(own, vector);
                    best[at] = Some((passage, length));
                }
            }
        }
        near.window = (0..self.among.len())
            .map(|at| self.together(at, &near.own, &best, centre_square))
            .collect();
        near
    }

    /// Similarity of a unit together with its neighbours: the cosine of the sum of their vectors,
    /// the neighbours counting half.
    fn together(
        &self,
        at: usize,
        cosines: &[f32],
        best: &[Option<(usize, f32)>],
        centre_square: f32,
    ) -> f32 {
        const SHARE: f32 = 0.5;
        let around = [
            Some((at, 1.0)),
            self.before[at].map(|at| (at, SHARE)),
            self.after[at].map(|at| (at, SHARE)),
        ];
        let parts: Vec<(usize, f32)> =
            around.into_iter().flatten().filter(|(at, _)| best[*at].is_some()).collect();
        if parts.len() < 2 {
            return cosines[at];
        }
        let mut square = 0.0;
        for (i, (one, share)) in parts.iter().enumerate() {
            square += share * share;
            for (other, other_share) in &parts[i + 1..] {
                let (Some((a, a_length)), Some((b, b_length))) = (best[*one], best[*other]) else {
                    continue;
                };
                let (Some(a), Some(b)) = (self.index.vector(a), self.index.vector(b)) else {
                    continue;
                };
                // The dot product with the centre follows from the centred length.
                let along = |length: f32| (1.0 + centre_square - length * length) / 2.0;
                let product = dot(a, b) - along(a_length) - along(b_length) + centre_square;
                square += 2.0 * share * other_share * product / (a_length * b_length);
            }
        }
        let sum: f32 = parts.iter().map(|(at, share)| share * cosines[*at]).sum();
        sum / square.max(0.01).sqrt()
    }

    /// The scores of an arm, if it applies. `more` are weighted feedback words that are not in the
    /// query.
    pub(super) fn scores(&self, arm: Arm, more: &[(Term, f32)]) -> Option<Vec<f32>> {
        match arm {
            Arm::Keyword => self.keyword(more),
            Arm::KeywordWindow => self.keyword_window(more),
            Arm::KeywordSession => self.keyword_session(),
            Arm::Vector => self.near.as_ref().map(|near| near.own.clone()),
            Arm::VectorWindow => self.near.as_ref().map(|near| near.window.clone()),
            Arm::Speaker => self.named.iter().any(|n| *n > 0.0).then(|| self.named.clone()),
            Arm::Time => self.time(),
            Arm::Recency => self.recency(),
            Arm::Prior => self.prior(),
            Arm::Link => None,
        }
    }

    fn pairs_scores(&self) -> Vec<f32> {
        self.pairs.scores(&vec![1.0; self.asked.pairs], TEXT_BM25)
    }

    fn keyword(&self, more: &[(Term, f32)]) -> Option<Vec<f32>> {
        if self.asked.words.is_empty() || self.among.is_empty() {
            return None;
        }
        let mut scores = self.own.scores(&self.asked.weights, TEXT_BM25);
        for (score, pairs) in scores.iter_mut().zip(self.pairs_scores()) {
            *score += pairs;
        }
        self.add_more(&mut scores, &self.own.lengths, more, false);
        Some(scores)
    }

    /// Includes the words of the neighbours, which give a turn its context; the next ones count
    /// half.
    fn keyword_window(&self, more: &[(Term, f32)]) -> Option<Vec<f32>> {
        const PAIRS: f32 = 0.3;
        if self.asked.words.is_empty() || self.among.is_empty() {
            return None;
        }
        let window = self.windowed(&self.base);
        let mut scores = window.scores(&self.asked.weights, TEXT_BM25);
        for (score, pairs) in scores.iter_mut().zip(self.pairs_scores()) {
            *score += PAIRS * pairs;
        }
        self.add_more(&mut scores, &window.lengths, more, true);
        Some(scores)
    }

    fn windowed(&self, base: &Counts) -> Counts {
        const SECOND_NEIGHBOUR: f32 = 0.5;
        let mut window = base.clone();
        for at in 0..base.texts() {
            let (before, after) = (self.before[at], self.after[at]);
            let further = [before.and_then(|b| self.before[b]), after.and_then(|a| self.after[a])];
            let near = [before, after].into_iter().flatten().map(|other| (other, 1.0));
            let far = further.into_iter().flatten().map(|other| (other, SECOND_NEIGHBOUR));
            for (other, share) in near.chain(far) {
                window.add(at, base.row(other), base.lengths[other], share);
            }
        }
        window
    }

    /// Adds the scores of feedback words.
    fn add_more(&self, scores: &mut [f32], lengths: &[f32], more: &[(Term, f32)], window: bool) {
        if more.is_empty() {
            return;
        }
        let mut counts = Counts::new(self.among.len(), more.len());
        for (at, unit) in self.among.iter().enumerate() {
            for passage in self.index.units[*unit].passages.clone() {
                let terms = self.index.terms(passage);
                for (word, (term, _)) in more.iter().enumerate() {
                    if let Ok(found) = terms.binary_search_by_key(term, |(t, _)| *t) {
                        counts.counts[at * more.len() + word] += f32::from(terms[found].1);
                    }
                }
            }
        }
        if window {
            counts = self.windowed(&counts);
        }
        counts.lengths.copy_from_slice(lengths);
        let weights: Vec<f32> = more.iter().map(|(_, weight)| *weight).collect();
        for (score, more) in scores.iter_mut().zip(counts.scores(&weights, TEXT_BM25)) {
            *score += more;
        }
    }

    /// Every unit gets the score of its session. One without a session gets the mean, which is
    /// neutral.
    fn keyword_session(&self) -> Option<Vec<f32>> {
        if self.sessions.texts() < 2 || self.session_of.iter().all(Option::is_none) {
            return None;
        }
        let scores = self.sessions.scores(&self.asked.weights, SESSION_BM25);
        let known: Vec<f32> = self.session_of.iter().flatten().map(|at| scores[*at]).collect();
        let mean = known.iter().sum::<f32>() / known.len().max(1) as f32;
        Some(self.session_of.iter().map(|at| at.map_or(mean, |at| scores[at])).collect())
    }

    /// 1 for a turn sent, or a fact whose validity began, in a time the query mentions.
    fn time(&self) -> Option<Vec<f32>> {
        if self.question.times.is_empty() {
            return None;
        }
        let speaks_of = |unit: &usize| {
            let unit = &self.index.units[*unit];
            let began = unit.turn.map(|turn| turn.said_at);
            let began = began.or(unit.facets.as_ref().map(|facets| facets.valid_from));
            let times = self.question.times.iter();
            let spoken = began.is_some_and(|at| times.into_iter().any(|time| time.contains(at)));
            f32::from(u8::from(spoken))
        };
        Some(self.among.iter().map(speaks_of).collect())
    }

    /// Recent memories are more likely to be meant. Age is counted in memories rather than in days,
    /// so that a long absence of the user changes nothing.
    fn recency(&self) -> Option<Vec<f32>> {
        const HALF_LIFE_MEMORIES: f32 = 100.0;
        let mut order: Vec<usize> = (0..self.among.len()).collect();
        let key = |at: &usize| {
            let unit = &self.index.units[self.among[*at]];
            (self.learned_at(unit), unit.source)
        };
        order.sort_by_key(|at| std::cmp::Reverse(key(at)));
        let mut scores = vec![0.0; self.among.len()];
        for (rank, at) in order.into_iter().enumerate() {
            scores[at] = 0.5_f32.powf(rank as f32 / HALF_LIFE_MEMORIES);
        }
        Some(scores)
    }

    /// When a memory was learned: the start of its session, if known, or when it was last stated or
    /// confirmed.
    fn learned_at(&self, unit: &Unit) -> Timestamp {
        let said = unit.session.and_then(|session| self.index.session_began(session));
        let fresh = unit.facets.as_ref().map(|facets| facets.fresh_at);
        said.or(fresh).unwrap_or(Timestamp::MIN)
    }

    /// Importance and trust of a memory, between 0 and 1.
    fn prior(&self) -> Option<Vec<f32>> {
        let of = |unit: &usize| {
            let facets = self.index.units[*unit].facets.as_ref()?;
            let trust = if facets.firm { 1.0 } else { facets.confidence };
            Some((facets.importance + trust) / 2.0)
        };
        self.among.iter().map(of).collect()
    }

    /// Feedback words: those that the best units share, rare ones first, that are not in the query.
    pub(super) fn feedback(&self, best: &[usize]) -> Vec<(Term, f32)> {
        const MAX_WORDS: usize = 5;
        const WEIGHT: f32 = 0.1;
        let mut shared: HashMap<Term, f32> = HashMap::new();
        for at in best {
            let unit = &self.index.units[self.among[*at]];
            let mut own: Vec<Term> = unit
                .passages
                .clone()
                .flat_map(|passage| self.index.terms(passage))
                .map(|(term, _)| *term)
                .filter(|term| term.is_word() && self.asked.slot(*term).is_none())
                .collect();
            own.sort_unstable();
            own.dedup();
            for term in own {
                *shared.entry(term).or_default() += 1.0;
            }
        }
        let mut have: HashMap<Term, u32> = shared.keys().map(|term| (*term, 0)).collect();
        for unit in &self.among {
            let passages = self.index.units[*unit].passages.clone();
            let several = passages.len() > 1;
            let mut seen: Vec<Term> = Vec::new();
            for (term, _) in passages.flat_map(|passage| self.index.terms(passage)) {
                if let Some(count) = have.get_mut(term) {
                    if several && seen.contains(term) {
                        continue;
                    }
                    *count += 1;
                    if several {
                        seen.push(*term);
                    }
                }
            }
        }
        let all = self.among.len() as f32;
        let worth = |(term, count): (Term, f32)| {
            let have = have.get(&term).copied().unwrap_or(0) as f32;
            (term, count * (1.0 + (all - have + 0.5) / (have + 0.5)).ln())
        };
        let mut worth: Vec<(Term, f32)> = shared.into_iter().map(worth).collect();
        worth.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        worth.truncate(MAX_WORDS);
        let most = worth.first().map_or(1.0, |(_, worth)| *worth).max(1e-6);
        worth.into_iter().map(|(term, worth)| (term, WEIGHT * worth / most)).collect()
    }

    pub(super) fn before(&self, at: usize) -> Option<usize> {
        self.before[at]
    }

    pub(super) fn session_of(&self, at: usize) -> Option<usize> {
        self.index.units[self.among[at]].session
    }

    /// Absolute relevance of a unit: the share of the query's words that it has, weighted by
    /// rarity, and its similarity.
    pub(super) fn relevance(&self, at: usize) -> f32 {
        let all: f32 = self.rarity.iter().sum();
        let own = self.own.row(at).iter().zip(&self.rarity);
        let has: f32 = own.filter(|(count, _)| **count > 0.0).map(|(_, rare)| rare).sum();
        let words = if all > 0.0 { has / all } else { 0.0 };
        let near = self.near.as_ref().map_or(words, |near| near.cosines[at].clamp(0.0, 1.0));
        // An empty sum is -0.0; adding 0.0 makes it 0.0 in the output.
        (words + near) / 2.0 + 0.0
    }

    /// The words of the query that a unit has.
    pub(super) fn matched(&self, at: usize) -> Vec<String> {
        let has = self.asked.words.iter().zip(self.own.row(at)).filter(|(_, count)| **count > 0.0);
        has.map(|(word, _)| word.clone()).collect()
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    // Eight independent sums, so that the compiler can use SIMD registers.
    let mut sums = [0.0_f32; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a8.remainder().iter().zip(b8.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in a8.zip(b8) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_product_is_correct_for_any_length() {
        let a: Vec<f32> = (0..19).map(|i| i as f32).collect();
        let expected: f32 = a.iter().map(|x| x * x).sum();
        assert_eq!(dot(&a, &a), expected);
        assert_eq!(dot(&[], &[]), 0.0);
    }
}
