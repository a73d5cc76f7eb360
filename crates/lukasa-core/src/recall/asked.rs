//! A question's words, ready to be looked for: their terms in every language that was stored, and
//! how much each of them counts.

use std::collections::HashMap;

use super::text::{Language, Sort, Term, pairs_of, words};

/// Words that are in many questions and tell little: they count half. They are English, like most
/// questions that are asked of English memories; in other languages rarity alone must do.
const IDLE: &[&str] = &[
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

/// Where a term of a text counts.
#[derive(Debug, Clone, Copy)]
pub(super) enum Slot {
    Word(usize),
    Speaker(usize),
    Date(usize),
    Pair(usize),
}

/// The question's words, each once, and their terms in every language that was stored.
pub(super) struct Asked {
    pub(super) words: Vec<String>,
    pub(super) weights: Vec<f32>,
    /// Whether a word means something in all of those languages.
    pub(super) tells_everywhere: Vec<bool>,
    pub(super) pairs: usize,
    /// A bit for each low half of a wanted term: most terms of a text are turned away by it.
    sieve: Vec<u64>,
    slots: HashMap<Term, Slot>,
}

impl Asked {
    pub(super) fn of(text: &str, languages: &[Language]) -> Self {
        let mut asked = Self {
            words: Vec::new(),
            weights: Vec::new(),
            tells_everywhere: Vec::new(),
            pairs: 0,
            sieve: vec![0; 1 << 10],
            slots: HashMap::new(),
        };
        for language in languages {
            let found = words(text, *language);
            for word in &found {
                if asked.slots.contains_key(&word.term) {
                    continue;
                }
                let known = asked.words.iter().position(|written| *written == word.written);
                let place = known.unwrap_or_else(|| {
                    let idle = IDLE.binary_search(&word.written.as_str()).is_ok();
                    asked.words.push(word.written.clone());
                    asked.weights.push(if idle { 0.5 } else { 1.0 });
                    asked.words.len() - 1
                });
                asked.put(word.term, Slot::Word(place));
                asked.put(word.term.as_sort(Sort::Speaker), Slot::Speaker(place));
                asked.put(word.term.as_sort(Sort::Date), Slot::Date(place));
            }
            for pair in pairs_of(&found) {
                if !asked.slots.contains_key(&pair) {
                    let place = asked.pairs;
                    asked.pairs += 1;
                    asked.put(pair, Slot::Pair(place));
                }
            }
        }
        let tells =
            |word: &String| languages.iter().all(|language| !words(word, *language).is_empty());
        asked.tells_everywhere = asked.words.iter().map(tells).collect();
        asked
    }

    fn put(&mut self, term: Term, slot: Slot) {
        let low = (term.0 & 0xFFFF) as usize;
        self.sieve[low >> 6] |= 1 << (low & 63);
        self.slots.entry(term).or_insert(slot);
    }

    pub(super) fn slot(&self, term: Term) -> Option<Slot> {
        let low = (term.0 & 0xFFFF) as usize;
        if self.sieve[low >> 6] & (1 << (low & 63)) == 0 {
            return None;
        }
        self.slots.get(&term).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_idle_words_can_be_searched() {
        assert!(IDLE.is_sorted());
    }

    #[test]
    fn a_word_is_looked_for_in_every_language_and_once() {
        let languages = [Language::ENGLISH, Language::parse("de")];
        let asked = Asked::of("Welche Häuser, welche houses?", &languages);
        assert_eq!(asked.words, ["welche", "häuser", "houses"]);
        assert_eq!(asked.tells_everywhere, [false, true, true]);
        let german = words("Häusern", Language::parse("de"));
        assert!(matches!(asked.slot(german[0].term), Some(Slot::Word(1))));
        assert!(asked.slot(Term::of("tea")).is_none());
    }

    #[test]
    fn idle_words_count_half_and_pairs_are_looked_for() {
        let asked = Asked::of("last dentist visit", &[Language::ENGLISH]);
        assert_eq!(asked.weights, [0.5, 1.0, 1.0]);
        assert_eq!(asked.pairs, 2);
        let name = Term::of("dentist").as_sort(Sort::Speaker);
        assert!(matches!(asked.slot(name), Some(Slot::Speaker(1))));
    }
}
