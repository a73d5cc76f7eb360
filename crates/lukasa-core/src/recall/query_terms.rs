//! Parsed query: the terms of its words in every stored language, and the weight of each word.

use std::collections::HashMap;

use lukasa_text::terms::{Language, Term, TermKind, pairs_of, words};

/// Words that are common in questions and tell little: they count half. English only; in other
/// languages their frequency in the corpus is all that lowers their weight.
const LOW_VALUE_WORDS: &[&str] = &[
    "across",
    "also",
    "back",
    "based",
    "between",
    "conversation",
    "date",
    "day",
    "different",
    "discuss",
    "discussed",
    "during",
    "ensure",
    "first",
    "get",
    "give",
    "go",
    "going",
    "got",
    "help",
    "just",
    "kind",
    "know",
    "last",
    "let",
    "like",
    "long",
    "make",
    "many",
    "mention",
    "mentioned",
    "month",
    "much",
    "need",
    "often",
    "please",
    "previous",
    "provide",
    "recommend",
    "remember",
    "remind",
    "suggest",
    "tell",
    "think",
    "time",
    "type",
    "us",
    "using",
    "various",
    "want",
    "year",
];

/// The query word, speaker, date or pair that a term of a text matches.
#[derive(Debug, Clone, Copy)]
pub(super) enum Slot {
    Word(usize),
    Speaker(usize),
    Date(usize),
    Pair(usize),
}

/// The distinct words of a query, and their terms in every stored language.
pub(super) struct QueryTerms {
    pub(super) words: Vec<String>,
    pub(super) weights: Vec<f32>,
    /// Whether a word is a stop word in none of those languages.
    pub(super) tells_everywhere: Vec<bool>,
    /// For each pair of words that follow each other: the two words.
    pub(super) pairs: Vec<(usize, usize)>,
    slots: HashMap<Term, Slot>,
}

impl QueryTerms {
    pub(super) fn of(text: &str, languages: &[Language]) -> Self {
        let mut asked = Self {
            words: Vec::new(),
            weights: Vec::new(),
            tells_everywhere: Vec::new(),
            pairs: Vec::new(),
            slots: HashMap::new(),
        };
        for language in languages {
            let found = words(text, *language);
            for word in &found {
                if asked.slot(word.term).is_some() {
                    continue;
                }
                let known = asked.words.iter().position(|written| *written == word.written);
                let place = known.unwrap_or_else(|| {
                    let idle = LOW_VALUE_WORDS.binary_search(&word.written.as_str()).is_ok();
                    asked.words.push(word.written.clone());
                    asked.weights.push(if idle { 0.5 } else { 1.0 });
                    asked.words.len() - 1
                });
                asked.put(word.term, Slot::Word(place));
                asked.put(word.term.as_sort(TermKind::Speaker), Slot::Speaker(place));
                asked.put(word.term.as_sort(TermKind::Date), Slot::Date(place));
            }
            for (two, pair) in found.windows(2).zip(pairs_of(&found)) {
                let (first, second) = (asked.slot(two[0].term), asked.slot(two[1].term));
                if let (Some(Slot::Word(first)), Some(Slot::Word(second)), None) =
                    (first, second, asked.slot(pair))
                {
                    asked.put(pair, Slot::Pair(asked.pairs.len()));
                    asked.pairs.push((first, second));
                }
            }
        }
        let tells =
            |word: &String| languages.iter().all(|language| !words(word, *language).is_empty());
        asked.tells_everywhere = asked.words.iter().map(tells).collect();
        asked
    }

    fn put(&mut self, term: Term, slot: Slot) {
        self.slots.entry(term).or_insert(slot);
    }

    pub(super) fn slot(&self, term: Term) -> Option<Slot> {
        self.slots.get(&term).copied()
    }

    /// The terms that a text is compared with, in a fixed order.
    pub(super) fn slots(&self) -> Vec<(Term, Slot)> {
        let mut slots: Vec<_> = self.slots.iter().map(|(term, slot)| (*term, *slot)).collect();
        slots.sort_unstable_by_key(|(term, _)| *term);
        slots
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_value_words_are_sorted() {
        assert!(LOW_VALUE_WORDS.is_sorted());
    }

    #[test]
    fn query_word_has_terms_in_every_stored_language() {
        let languages = [Language::ENGLISH, Language::parse("de")];
        let asked = QueryTerms::of("Welche Häuser, welche houses?", &languages);
        assert_eq!(asked.words, ["welche", "häuser", "houses"]);
        assert_eq!(asked.tells_everywhere, [false, true, true]);
        let german = words("Häusern", Language::parse("de"));
        assert!(matches!(asked.slot(german[0].term), Some(Slot::Word(1))));
        assert!(asked.slot(Term::of("tea")).is_none());
    }

    #[test]
    fn query_counts_low_value_words_half_and_has_pairs() {
        let asked = QueryTerms::of("last dentist visit", &[Language::ENGLISH]);
        assert_eq!(asked.weights, [0.5, 1.0, 1.0]);
        assert_eq!(asked.pairs, [(0, 1), (1, 2)]);
        let name = Term::of("dentist").as_sort(TermKind::Speaker);
        assert!(matches!(asked.slot(name), Some(Slot::Speaker(1))));
    }
}
