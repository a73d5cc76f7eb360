//! What all rankings of one query share: the visible units, the words of the query, and how often the
//! sessions have them.

use std::cell::OnceCell;

use super::bm25::Counts;
use super::index::Index;
use super::passage::PassageKind;
use super::postings::UnitClass;
use super::query_terms::{QueryTerms, Slot};

/// The visible units of an index, for one query.
pub struct Corpus {
    visible: Vec<bool>,
    pub(super) asked: QueryTerms,
    /// Counted when a ranking needs them.
    sessions: OnceCell<SessionWords>,
}

impl Corpus {
    /// The corpus of a query with this text. `visible` has a value for each unit of the index.
    pub fn new(index: &Index, text: &str, visible: Vec<bool>) -> Self {
        let asked = QueryTerms::of(text, &index.languages);
        Self { visible, asked, sessions: OnceCell::new() }
    }

    /// For each unit, whether it is visible.
    pub fn visible(&self) -> &[bool] {
        &self.visible
    }

    pub(super) fn sessions(&self, index: &Index) -> &SessionWords {
        self.sessions.get_or_init(|| SessionWords::of(index, &self.visible, &self.asked))
    }
}

/// Word counts of each session, over all its visible turns.
pub(super) struct SessionWords {
    /// For each session of the index its number here; none without visible turns.
    pub(super) number_of: Vec<Option<usize>>,
    pub(super) counts: Counts,
}

impl SessionWords {
    fn of(index: &Index, visible: &[bool], asked: &QueryTerms) -> Self {
        let mut counts = Counts::new(0, asked.words.len());
        let mut number_of: Vec<Option<usize>> = vec![None; index.sessions()];
        // For each unit the number of its session, if it is a visible turn.
        let mut numbers = vec![None; visible.len()];
        for at in index.of_kind(PassageKind::Turn).filter(|at| visible[*at]) {
            let Some(known) = number_of.get_mut(index.session_of[at] as usize) else { continue };
            let number = *known.get_or_insert_with(|| counts.push());
            counts.lengths[number] += index.words[at] as f32;
            numbers[at] = u32::try_from(number).ok();
        }
        for (term, slot) in asked.slots() {
            let (Slot::Word(word) | Slot::Speaker(word)) = slot else { continue };
            for class in UnitClass::of_kind(PassageKind::Turn) {
                for (unit, count) in index.postings(*class).units(term) {
                    if let Some(number) = numbers[unit] {
                        counts.add_word(number as usize, word, f32::from(count));
                    }
                }
            }
        }
        Self { number_of, counts }
    }
}
