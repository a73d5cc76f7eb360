//! Computes the scores of every arm for one query, over statistics that the arms share.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;

use lukasa_text::terms::Term;

use super::bm25::{Counts, Saturation, rarity};
use super::corpus::Corpus;
use super::index::{Index, NONE};
use super::passage::PassageKind;
use super::postings::UnitClass;
use super::query_terms::{QueryTerms, Slot};
use super::rank::{Arm, RankFilters, RankQuery, Tuning};
use super::similarity::Similarity;

/// BM25 parameters for units and for sessions, which are longer.
const TEXT_BM25: Saturation = Saturation { k1: 0.9, b: 0.4 };
const SESSION_BM25: Saturation = Saturation { k1: 0.9, b: 0.75 };

/// A unit that is not ranked.
const NOT_RANKED: u32 = u32::MAX;

/// Statistics that all arms need, computed once per query.
pub(super) struct Scorer<'a> {
    pub(super) index: &'a Index,
    kind: PassageKind,
    question: &'a RankQuery<'a>,
    corpus: &'a Corpus,
    /// The ranked units.
    pub(super) among: Vec<usize>,
    /// The passages of each ranked unit.
    pub(super) passages: Vec<Range<usize>>,
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
    pub(super) in_order: Vec<usize>,
    pub(super) before: Vec<Option<usize>>,
    pub(super) after: Vec<Option<usize>>,
    /// The length of each unit with its neighbours, computed when it is first needed.
    window_lengths: OnceCell<Vec<f32>>,
    near: Option<Similarity>,
    /// Rarity of each query word; zero for stop words of any stored language.
    rarity: Vec<f32>,
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
        let is_among =
            |at: &usize| corpus.visible()[*at] && (filters.candidates)(&index.units[*at]);
        let among: Vec<usize> = index.of_kind(kind).filter(is_among).collect();
        let passages = among.iter().map(|unit| index.units[*unit].passages.clone()).collect();
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
            kind,
            question,
            corpus,
            passages,
            window_lengths: OnceCell::new(),
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
        scorer.near = question.vector.map(|v| Similarity::of(&scorer, kind, v, tuning.centre));
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
            let words = index.words[*unit] as f32;
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
                for passage in self.passages[at].clone() {
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
        // The lengths are the same for the words of the query and for those of the feedback.
        window.lengths.clone_from(self.window_lengths.get_or_init(|| {
            let mut lengths = base.lengths.clone();
            for at in &self.in_order {
                let others = around(*at).map(|(other, share)| share * base.lengths[other]);
                lengths[*at] += others.sum::<f32>();
            }
            lengths
        }));
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
        let mut scores = vec![0.0; self.among.len()];
        let mut give = |(rank, at): (usize, usize)| {
            scores[at] = 0.5_f32.powf(rank as f32 / HALF_LIFE_MEMORIES);
        };
        if self.kind == PassageKind::Fact {
            let learned = self.index.learned().iter().rev();
            learned.filter_map(|unit| self.place(*unit as usize)).enumerate().for_each(&mut give);
            return Some(scores);
        }
        let key = |(at, unit): (usize, &usize)| {
            (self.index.learned_at(*unit), self.index.units[*unit].source, at)
        };
        let mut order: Vec<_> = self.among.iter().enumerate().map(key).collect();
        order.sort_unstable();
        order.into_iter().rev().map(|(.., at)| at).enumerate().for_each(&mut give);
        Some(scores)
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
            let passages = self.passages[*at].clone();
            let terms = passages.flat_map(|passage| self.index.terms(passage));
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
        let session = self.index.session_of[self.among[at]];
        (session != NONE).then_some(session as usize)
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
