//! Computes the scores of every arm for one query, over statistics that the arms share.

use std::collections::HashMap;

use lukasa_text::terms::Term;

use super::bm25::{Counts, Saturation, rarity};
use super::corpus::Corpus;
use super::dot::{dot, dots};
use super::index::{Index, Unit};
use super::passage::PassageKind;
use super::postings::UnitClass;
use super::query_terms::{QueryTerms, Slot};
use super::rank::{Arm, RankFilters, RankQuery, Tuning};
use crate::time::Timestamp;

/// BM25 parameters for units and for sessions, which are longer.
const TEXT_BM25: Saturation = Saturation { k1: 0.9, b: 0.4 };
const SESSION_BM25: Saturation = Saturation { k1: 0.9, b: 0.75 };

/// A unit that is not ranked.
const NOT_RANKED: u32 = u32::MAX;

/// Statistics that all arms need, computed once per query.
pub(super) struct Scorer<'a> {
    index: &'a Index,
    question: &'a RankQuery<'a>,
    corpus: &'a Corpus,
    /// The ranked units.
    pub(super) among: Vec<usize>,
    /// Position of a unit in `among`, or [`NOT_RANKED`].
    place: Vec<u32>,
    /// The classes of the ranked units, and whether all units of the class are ranked.
    classes: Vec<(UnitClass, bool)>,
    asked: &'a QueryTerms,
    /// Word counts of each unit: `base` includes the speaker's name, `own` also the date.
    base: Counts,
    own: Counts,
    /// Score of each unit by the pairs of words it shares with the query.
    pair_scores: Vec<f32>,
    /// 1 if the query names the unit's speaker, otherwise 0.
    named: Vec<f32>,
    /// Units with a session in the order of sessions, and within a session in their order.
    in_order: Vec<usize>,
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

/// Words that the best units share and the query does not have: their weights, and how often each
/// unit has them.
pub(super) struct Feedback {
    weights: Vec<f32>,
    counts: Counts,
}

impl<'a> Scorer<'a> {
    pub(super) fn new(
        index: &'a Index,
        question: &'a RankQuery<'a>,
        kind: PassageKind,
        filters: &RankFilters<'a>,
        tuning: &Tuning,
    ) -> Self {
        let corpus = filters.corpus;
        let is_among = |at: &usize| {
            let unit = &index.units[*at];
            unit.kind == kind && corpus.visible()[*at] && (filters.candidates)(unit)
        };
        let among: Vec<usize> = (0..index.units.len()).filter(is_among).collect();
        let mut place = vec![NOT_RANKED; index.units.len()];
        let mut ranked = [0; UnitClass::COUNT];
        for (at, unit) in among.iter().enumerate() {
            place[*unit] = at as u32;
            ranked[index.units[*unit].class() as usize] += 1;
        }
        let classes =
            UnitClass::of_kind(kind).iter().map(|class| (*class, ranked[*class as usize]));
        let classes = classes.filter(|(_, ranked)| *ranked > 0);
        let classes = classes.map(|(class, ranked)| (class, ranked == index.class_size(class)));
        let width = corpus.asked.words.len();
        let mut scorer = Self {
            index,
            question,
            corpus,
            base: Counts::new(among.len(), width),
            own: Counts::new(among.len(), width),
            pair_scores: Vec::new(),
            named: vec![0.0; among.len()],
            in_order: Vec::new(),
            before: vec![None; among.len()],
            after: vec![None; among.len()],
            near: None,
            rarity: Vec::new(),
            classes: classes.collect(),
            among,
            place,
            asked: &corpus.asked,
        };
        scorer.count();
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

    /// Counts the words of the query in the ranked units.
    fn count(&mut self) {
        let index = self.index;
        for (at, unit) in self.among.iter().enumerate() {
            let words = index.units[*unit].words as f32;
            self.base.lengths[at] = words;
            self.own.lengths[at] = words;
        }
        let slots = self.asked.slots();
        for (term, slot) in &slots {
            let (word, is_date) = match slot {
                Slot::Word(word) | Slot::Speaker(word) => (*word, false),
                Slot::Date(word) => (*word, true),
                Slot::Pair(_) => continue,
            };
            let is_name = matches!(slot, Slot::Speaker(_));
            let units =
                self.classes.iter().flat_map(|(class, _)| index.postings(*class).units(*term));
            for (unit, count) in units.filter(|(unit, _)| self.place[*unit] != NOT_RANKED) {
                let (at, count) = (self.place[unit] as usize, f32::from(count));
                self.own.add_word(at, word, count);
                if !is_date {
                    self.base.add_word(at, word, count);
                }
                if is_name {
                    self.named[at] = 1.0;
                }
            }
        }
        self.pair_scores = self.score_pairs(&slots);
    }

    /// The score of each unit by the pairs of words it shares with the query. Only units that have
    /// both words of a pair are looked at.
    fn score_pairs(&self, slots: &[(Term, Slot)]) -> Vec<f32> {
        let mut pairs = Counts::new(self.among.len(), self.asked.pairs.len());
        for (at, length) in self.own.lengths.iter().enumerate() {
            pairs.lengths[at] = (length - 1.0).max(0.0);
        }
        let pair = |(term, slot): &(Term, Slot)| match slot {
            Slot::Pair(pair) => Some((*term, *pair, self.asked.pairs[*pair])),
            _ => None,
        };
        let asked: Vec<(Term, usize, (usize, usize))> = slots.iter().filter_map(pair).collect();
        for (at, row) in self.base.rows() {
            for (term, pair, (first, second)) in &asked {
                if row[*first] == 0.0 || row[*second] == 0.0 {
                    continue;
                }
                for passage in self.index.units[self.among[at]].passages.clone() {
                    let count = self.index.count_of_pair(passage, *term);
                    if count > 0 {
                        pairs.add_word(at, *pair, count as f32);
                    }
                }
            }
        }
        pairs.scores(&vec![1.0; self.asked.pairs.len()], TEXT_BM25)
    }

    /// Finds the previous and the next ranked unit in the same session: turns in their order,
    /// memories in the order they were learned.
    fn find_neighbours(&mut self) {
        let order = self.index.in_sessions().iter();
        let order: Vec<usize> = order.filter_map(|unit| self.place(*unit as usize)).collect();
        for two in order.windows(2) {
            if self.session_of(two[0]) == self.session_of(two[1]) {
                self.before[two[1]] = Some(two[0]);
                self.after[two[0]] = Some(two[1]);
            }
        }
        self.in_order = order;
    }

    /// A share of the mean vector of the ranked units.
    fn centre(&self, size: usize, share: f32) -> Vec<f32> {
        let first = |unit: &usize| self.index.units[*unit].passages.start;
        let counted = self.among.iter().filter(|unit| self.index.has_vector(first(unit))).count();
        let (turn_sum, turns) = self.index.turn_sum();
        let kind = self.among.first().map(|at| self.index.units[*at].kind);
        let is_turns = kind == Some(PassageKind::Turn);
        let mut centre = vec![0.0; size];
        if is_turns && counted == turns && turn_sum.len() == size {
            for (sum, value) in centre.iter_mut().zip(turn_sum) {
                *sum = *value as f32;
            }
        } else {
            let mut vector = vec![0.0; size];
            for unit in &self.among {
                if self.index.copy_vector(first(unit), &mut vector) {
                    for (sum, value) in centre.iter_mut().zip(&vector) {
                        *sum += value;
                    }
                }
            }
        }
        // The mean of a few vectors is mostly their content, so it is damped.
        const FEW: f32 = 30.0;
        let counted = counted.max(1) as f32;
        for value in &mut centre {
            *value *= share / counted * counted / (counted + FEW);
        }
        centre
    }

    /// Cosines after subtracting a share of the mean vector of the user's units: users talk about
    /// few subjects, and what all texts share does not distinguish them.
    fn nearness(&self, vector: &[f32], share: f32) -> Similarity {
        let index = self.index;
        let centre = self.centre(vector.len(), share);
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
        let mut own = vec![0.0; vector.len()];
        for (at, unit) in self.among.iter().enumerate() {
            for passage in index.units[*unit].passages.clone() {
                if !index.copy_vector(passage, &mut own) {
                    continue;
                }
                let (to_asked, to_centre) = dots(&own, &asked, &centre);
                let length = (1.0 - 2.0 * to_centre + centre_square).max(1e-6).sqrt();
                let cosine = (to_asked - asked_centre) / (length * asked_length);
                if best[at].is_none() || cosine > near.own[at] {
                    near.own[at] = cosine;
                    // The query's vector is the sum of the two.
                    near.cosines[at] = to_asked + to_centre;
                    best[at] = Some((passage, length));
                }
            }
        }
        let products = self.neighbour_products(vector.len(), &best);
        near.window = (0..self.among.len())
            .map(|at| self.together(at, &near.own, &best, &products, centre_square))
            .collect();
        near
    }

    /// For each unit the dot products of its best vector with those of the next unit of its session
    /// and of the one after that; zero if one of them has none.
    fn neighbour_products(&self, size: usize, best: &[Option<(usize, f32)>]) -> Vec<(f32, f32)> {
        let mut products = vec![(0.0, 0.0); self.among.len()];
        let mut vectors = [vec![0.0; size], vec![0.0; size], vec![0.0; size]];
        for at in &self.in_order {
            let [own, before, further] = &mut vectors;
            match best[*at] {
                Some((passage, _)) if self.index.copy_vector(passage, own) => {}
                _ => own.fill(0.0),
            }
            if let Some(one) = self.before[*at] {
                let (to_before, to_further) = dots(own, before, further);
                products[one].0 = to_before;
                if let Some(two) = self.before[one] {
                    products[two].1 = to_further;
                }
            }
            vectors.rotate_right(1);
        }
        products
    }

    /// Similarity of a unit together with its neighbours: the cosine of the sum of their vectors,
    /// the neighbours counting half.
    fn together(
        &self,
        at: usize,
        cosines: &[f32],
        best: &[Option<(usize, f32)>],
        products: &[(f32, f32)],
        centre_square: f32,
    ) -> f32 {
        const SHARE: f32 = 0.5;
        let length = |at: Option<usize>| at.and_then(|at| best[at]).map(|(_, length)| length);
        let (before, after) = (self.before[at], self.after[at]);
        let lengths = (length(Some(at)), length(before), length(after));
        // The cosine of two centred vectors. Their dot products with the centre follow from their
        // centred lengths.
        let along = |length: f32| (1.0 + centre_square - length * length) / 2.0;
        let cosine = |product: f32, a: f32, b: f32| {
            (product - along(a) - along(b) + centre_square) / (a * b)
        };
        let (mut sum, mut square, mut parts) = (0.0, 0.0, 0);
        if lengths.0.is_some() {
            (sum, square, parts) = (cosines[at], 1.0, 1);
        }
        for (other, other_length) in [(before, lengths.1), (after, lengths.2)] {
            if let (Some(other), Some(_)) = (other, other_length) {
                sum += SHARE * cosines[other];
                square += SHARE * SHARE;
                parts += 1;
            }
        }
        if parts < 2 {
            return cosines[at];
        }
        if let (Some(one), Some(own), Some(length)) = (before, lengths.0, lengths.1) {
            square += 2.0 * SHARE * cosine(products[one].0, own, length);
        }
        if let (Some(own), Some(length)) = (lengths.0, lengths.2) {
            square += 2.0 * SHARE * cosine(products[at].0, own, length);
        }
        if let (Some(one), Some(first), Some(last)) = (before, lengths.1, lengths.2) {
            square += 2.0 * SHARE * SHARE * cosine(products[one].1, first, last);
        }
        sum / square.max(0.01).sqrt()
    }

    /// The scores of an arm, if it applies.
    pub(super) fn scores(&self, arm: Arm) -> Option<Vec<f32>> {
        match arm {
            Arm::Keyword => self.keyword(),
            Arm::KeywordWindow => self.keyword_window(),
            Arm::KeywordSession => self.keyword_session(),
            Arm::Vector => self.near.as_ref().map(|near| near.own.clone()),
            Arm::VectorWindow => self.near.as_ref().map(|near| near.window.clone()),
            Arm::Speaker => self.named.iter().any(|n| *n > 0.0).then(|| self.named.clone()),
            Arm::Time => self.time(),
            Arm::Recency => self.recency(),
            Arm::Prior => self.prior(),
            // Computed from the other arms' scores.
            Arm::SessionBest | Arm::Link => None,
        }
    }

    /// The scores that the feedback words add to an arm.
    pub(super) fn feedback_scores(&self, arm: Arm, more: &Feedback) -> Option<Vec<f32>> {
        match arm {
            Arm::Keyword => Some(more.counts.scores(&more.weights, TEXT_BM25)),
            Arm::KeywordWindow => {
                Some(self.windowed(&more.counts).scores(&more.weights, TEXT_BM25))
            }
            _ => None,
        }
    }

    fn keyword(&self) -> Option<Vec<f32>> {
        if self.asked.words.is_empty() || self.among.is_empty() {
            return None;
        }
        let mut scores = self.own.scores(&self.asked.weights, TEXT_BM25);
        for (score, pairs) in scores.iter_mut().zip(&self.pair_scores) {
            *score += pairs;
        }
        Some(scores)
    }

    /// Includes the words of the neighbours, which give a turn its context; the next ones count
    /// half.
    fn keyword_window(&self) -> Option<Vec<f32>> {
        const PAIRS: f32 = 0.3;
        if self.asked.words.is_empty() || self.among.is_empty() {
            return None;
        }
        let mut scores = self.windowed(&self.base).scores(&self.asked.weights, TEXT_BM25);
        for (score, pairs) in scores.iter_mut().zip(&self.pair_scores) {
            *score += PAIRS * pairs;
        }
        Some(scores)
    }

    /// Each text with its neighbours: the words and lengths of two before it and two after it.
    fn windowed(&self, base: &Counts) -> Counts {
        const SECOND_NEIGHBOUR: f32 = 0.5;
        let around = |at: usize| {
            let (before, after) = (self.before[at], self.after[at]);
            let further = [before.and_then(|b| self.before[b]), after.and_then(|a| self.after[a])];
            let near = [before, after].into_iter().flatten().map(|other| (other, 1.0));
            near.chain(further.into_iter().flatten().map(|other| (other, SECOND_NEIGHBOUR)))
        };
        let mut window = base.clone();
        for at in &self.in_order {
            let others = around(*at).map(|(other, share)| share * base.lengths[other]);
            window.lengths[*at] += others.sum::<f32>();
        }
        // A text is a neighbour of its neighbours, so its words go where they are needed.
        for (at, row) in base.rows() {
            for (other, share) in around(at) {
                window.add(other, row, share);
            }
        }
        window
    }

    /// Every unit gets the score of its session. One without a session gets the mean, which is
    /// neutral.
    fn keyword_session(&self) -> Option<Vec<f32>> {
        let sessions = self.corpus.sessions(self.index);
        let number =
            |at: usize| self.session_of(at).and_then(|session| sessions.number_of[session]);
        let numbers: Vec<Option<usize>> = (0..self.among.len()).map(number).collect();
        if sessions.counts.texts() < 2 || numbers.iter().all(Option::is_none) {
            return None;
        }
        let scores = sessions.counts.scores(&self.asked.weights, SESSION_BM25);
        let known: Vec<f32> = numbers.iter().flatten().map(|at| scores[*at]).collect();
        let mean = known.iter().sum::<f32>() / known.len().max(1) as f32;
        Some(numbers.iter().map(|at| at.map_or(mean, |at| scores[at])).collect())
    }

    /// 1 for a turn sent, an episode that ended, or a fact whose validity began, in a time the query mentions.
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
        let key = |(at, unit): (usize, &usize)| {
            let unit = &self.index.units[*unit];
            (self.learned_at(unit), unit.source, at)
        };
        let mut order: Vec<_> = self.among.iter().enumerate().map(key).collect();
        order.sort_unstable();
        let mut scores = vec![0.0; self.among.len()];
        for (rank, (.., at)) in order.into_iter().rev().enumerate() {
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

    /// Importance and trust of a memory by its tier, between 0 and 1.
    fn prior(&self) -> Option<Vec<f32>> {
        let of = |unit: &usize| {
            let facets = self.index.units[*unit].facets.as_ref()?;
            let trust = if facets.firm { 1.0 } else { facets.confidence };
            Some(facets.tier_weight() * (facets.importance + trust) / 2.0)
        };
        self.among.iter().map(of).collect()
    }

    /// Feedback words: those that the best units share, rare ones first, that are not in the query.
    pub(super) fn feedback(&self, best: &[usize]) -> Option<Feedback> {
        const MAX_WORDS: usize = 5;
        const WEIGHT: f32 = 0.1;
        let mut shared: HashMap<Term, f32> = HashMap::new();
        for at in best {
            let unit = &self.index.units[self.among[*at]];
            let terms = unit.passages.clone().flat_map(|passage| self.index.terms(passage));
            let is_new = |term: &Term| term.is_word() && self.asked.slot(*term).is_none();
            let mut own: Vec<Term> = terms.copied().filter(is_new).collect();
            own.sort_unstable();
            own.dedup();
            for term in own {
                *shared.entry(term).or_default() += 1.0;
            }
        }
        let worth = |(term, count): (Term, f32)| {
            (term, count * rarity(self.units_with(term), self.among.len()))
        };
        let mut worth: Vec<(Term, f32)> = shared.into_iter().map(worth).collect();
        worth.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        worth.truncate(MAX_WORDS);
        let most = worth.first()?.1.max(1e-6);
        let mut counts = Counts::new(self.among.len(), worth.len());
        counts.lengths.copy_from_slice(&self.own.lengths);
        for (word, (term, _)) in worth.iter().enumerate() {
            for (at, count) in self.occurrences(*term) {
                counts.add_word(at, word, f32::from(count));
            }
        }
        let weights = worth.into_iter().map(|(_, worth)| WEIGHT * worth / most).collect();
        Some(Feedback { weights, counts })
    }

    /// The number of ranked units that have a term.
    fn units_with(&self, term: Term) -> usize {
        let of_class = |(class, is_whole): &(UnitClass, bool)| {
            let postings = self.index.postings(*class);
            if *is_whole {
                return postings.units_with(term);
            }
            let mut last = None;
            // The passages of a unit follow each other.
            let is_new = |unit: &usize| last.replace(*unit) != Some(*unit);
            let units = postings.units(term).map(|(unit, _)| unit);
            units.filter(|unit| self.place[*unit] != NOT_RANKED).filter(is_new).count()
        };
        self.classes.iter().map(of_class).sum()
    }

    /// The ranked units that have a term, with their counts.
    fn occurrences(&self, term: Term) -> impl Iterator<Item = (usize, u8)> + '_ {
        let units =
            self.classes.iter().flat_map(move |(class, _)| self.index.postings(*class).units(term));
        units.filter_map(move |(unit, count)| self.place(unit).map(|at| (at, count)))
    }

    /// The position of a unit, if it is ranked.
    pub(super) fn place(&self, unit: usize) -> Option<usize> {
        let place = self.place[unit];
        (place != NOT_RANKED).then_some(place as usize)
    }

    /// Number of sessions.
    pub(super) fn sessions(&self) -> usize {
        self.index.sessions()
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
