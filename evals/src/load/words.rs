//! Generated contents: sentences over a made-up vocabulary whose words are as unevenly distributed
//! as those of a real language, and the claims with them.

use std::collections::HashSet;
use std::sync::OnceLock;

use lukasa_core::admission::Screening;
use lukasa_core::{Category, Claim, Force, Kind, MemoryType};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use serde_json::json;

const WORDS: usize = 20_000;
const SYLLABLES: [&str; 40] = [
    "ba", "be", "bo", "da", "de", "di", "fa", "fe", "ga", "go", "ha", "hi", "ka", "ke", "ki", "la",
    "le", "lo", "ma", "me", "mi", "na", "ne", "no", "pa", "pe", "po", "ra", "re", "ri", "sa", "se",
    "so", "ta", "te", "ti", "va", "ve", "wa", "zu",
];
/// The built-in domains without opt-in in which nothing expires by itself: an expired memory cannot
/// be changed.
const DOMAINS: [&str; 5] = ["communication", "food", "schedule", "shopping", "travel"];

pub struct Vocabulary {
    words: Vec<String>,
    /// The summed frequencies up to and including each word.
    reach: Vec<f64>,
    /// Sentences that no screen objects to.
    plain: OnceLock<Vec<String>>,
}

impl Vocabulary {
    pub fn new(seed: u64) -> Self {
        let mut rng = StdRng::seed_from_u64(seed ^ 0x766f_6361_6275);
        let (mut words, mut seen) = (Vec::with_capacity(WORDS), HashSet::new());
        while words.len() < WORDS {
            // Frequent words are short.
            let longest = if words.len() < 500 { 2 } else { 4 };
            let syllables = rng.random_range(1..=longest);
            let word: String =
                (0..syllables).filter_map(|_| SYLLABLES.choose(&mut rng).copied()).collect();
            let word = if seen.contains(&word) { format!("{word}{}", words.len()) } else { word };
            // A word that a screen objects to would have every change of a memory with it rejected.
            if seen.insert(word.clone()) && is_plain(&word) {
                words.push(word);
            }
        }
        let mut sum = 0.0;
        let reach = (1..=WORDS)
            .map(|rank| {
                sum += 1.0 / rank as f64;
                sum
            })
            .collect();
        Self { words, reach, plain: OnceLock::new() }
    }

    fn word(&self, rng: &mut StdRng) -> &str {
        let most = self.reach.last().copied().unwrap_or(1.0);
        let point = rng.random_range(0.0..most);
        let index = self.reach.partition_point(|reach| *reach <= point);
        &self.words[index.min(WORDS - 1)]
    }

    /// Eight to twenty words.
    pub fn sentence(&self, rng: &mut StdRng) -> String {
        let count = rng.random_range(8..=20);
        let mut text = String::with_capacity(count * 6);
        for i in 0..count {
            if i > 0 {
                text.push(' ');
            }
            text.push_str(self.word(rng));
        }
        text
    }

    /// One of a thousand sentences that can be saved: random words can be about a closed domain, or
    /// look like an order.
    pub fn plain_sentence(&self, rng: &mut StdRng) -> &str {
        let plain = self.plain.get_or_init(|| {
            let mut rng = StdRng::seed_from_u64(1);
            let sentences = std::iter::repeat_with(|| self.sentence(&mut rng));
            sentences.filter(|text| is_plain(text)).take(1000).collect()
        });
        plain.choose(rng).map_or("", String::as_str)
    }

    /// The claim of a user's fact number `index`; one in ten is a hard one.
    pub fn claim(&self, rng: &mut StdRng, index: u32) -> Claim {
        let mut claim = Claim::saying(&self.sentence(rng));
        claim.category = *Category::ALL.choose(rng).unwrap_or(&Category::Fact);
        claim.memory_type = *MemoryType::ALL.choose(rng).unwrap_or(&MemoryType::Profile);
        claim.kind = *Kind::ALL.choose(rng).unwrap_or(&Kind::Fact);
        claim.importance = f32::from(rng.random_range(1..=9_u8)) / 10.0;
        claim.tags = (0..rng.random_range(0..=2)).map(|_| self.word(rng).to_owned()).collect();
        let hard = rng.random_ratio(1, 10);
        if hard || rng.random_ratio(3, 10) {
            claim.domain = DOMAINS.choose(rng).map(|domain| (*domain).to_owned());
        }
        if hard {
            claim.force = Force::Hard;
            // The number makes a user's keys distinct: two memories cannot have one key at a time.
            claim.key = Some(format!("{}.{index}", self.word(rng)));
            claim.value =
                Some(json!({ "is": self.word(rng), "at_most": rng.random_range(1..100) }));
        }
        claim
    }
}

/// Whether no screen objects to `text`, also followed by a serial number.
fn is_plain(text: &str) -> bool {
    Screening::of(&Claim::saying(&format!("{text} n1"))) == Screening::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_claims_depend_on_the_seed_alone_and_are_valid() {
        let (a, b) = (Vocabulary::new(1), Vocabulary::new(1));
        let mut hard = 0;
        for index in 0..500 {
            let claim = a.claim(&mut StdRng::seed_from_u64(index), 7);
            assert_eq!(claim, b.claim(&mut StdRng::seed_from_u64(index), 7));
            assert_eq!(claim.faults(), []);
            let unspoken = Claim { content: "plain".to_owned(), ..claim.clone() };
            assert_eq!(Screening::of(&unspoken), Screening::default(), "{unspoken:?}");
            hard += usize::from(claim.force == Force::Hard);
        }
        assert!((25..=80).contains(&hard), "{hard} of 500 are hard");
    }
}
