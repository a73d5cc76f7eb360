//! The baselines: textbook BM25, and reciprocal rank fusion.
//!
//! Words are runs of a-z and 0-9 in lower case, without 74 stop words, stemmed. k1 = 1.5, b = 0.75,
//! Lucene's idf, one index per user.

use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};

const K1: f64 = 1.5;
const B: f64 = 0.75;
/// Constant k of reciprocal rank fusion.
const RANK_OFFSET: f64 = 60.0;
/// Depth of fused rankings.
pub const FUSED_DEPTH: usize = 100;

const STOP_WORDS: &str = "a about all am an and any are as at be been but by can could did do does \
    for from had has have he her him his how i if in into is it its me my no not of on or our s \
    she should so t that the their them then there these they this to was we were what when where \
    which who whom why will with would you your";

pub struct Keywords {
    /// For each stem the documents that have it, in their order, and how often.
    postings: HashMap<String, Vec<(usize, f64)>>,
    /// Number of words in all documents before this one; one more entry than documents.
    before: Vec<f64>,
    cut: Cut,
}

struct Cut {
    stemmer: Stemmer,
    stop: Vec<&'static str>,
}

impl Cut {
    fn stems(&self, text: &str) -> Vec<String> {
        let lower = text.to_lowercase();
        let runs = lower.split(|c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit());
        let telling = runs.filter(|word| !word.is_empty() && !self.stop.contains(word));
        telling.map(|word| self.stemmer.stem(word).into_owned()).collect()
    }
}

impl Keywords {
    pub fn of(documents: &[String]) -> Self {
        let stop = STOP_WORDS.split_whitespace().collect();
        let cut = Cut { stemmer: Stemmer::create(Algorithm::English), stop };
        let mut postings: HashMap<String, Vec<(usize, f64)>> = HashMap::new();
        let mut before = vec![0.0];
        let mut total = 0.0;
        for (document, text) in documents.iter().enumerate() {
            for stem in cut.stems(text) {
                total += 1.0;
                let list = postings.entry(stem).or_default();
                match list.last_mut() {
                    Some((last, count)) if *last == document => *count += 1.0,
                    _ => list.push((document, 1.0)),
                }
            }
            before.push(total);
        }
        Self { postings, before, cut }
    }

    /// The candidates in the order of their scores, which use the statistics of the candidates
    /// alone, and how many of them have a word of the question. The others follow in their own
    /// order.
    pub fn rank(&self, question: &str, candidates: &[usize], depth: usize) -> (Vec<usize>, usize) {
        let among: HashMap<usize, usize> =
            candidates.iter().enumerate().map(|(at, document)| (*document, at)).collect();
        let length = |document: usize| self.before[document + 1] - self.before[document];
        let words: f64 = candidates.iter().map(|document| length(*document)).sum();
        let (count, average) = (candidates.len() as f64, words / candidates.len().max(1) as f64);
        let mut scores = vec![0.0_f64; candidates.len()];
        for stem in self.cut.stems(question) {
            let Some(list) = self.postings.get(&stem) else { continue };
            let here: Vec<(usize, usize, f64)> = list
                .iter()
                .filter_map(|(document, often)| Some((*among.get(document)?, *document, *often)))
                .collect();
            let having = here.len() as f64;
            let idf = (1.0 + (count - having + 0.5) / (having + 0.5)).ln();
            for (at, document, often) in here {
                let long = K1 * (1.0 - B + B * length(document) / average.max(1e-9));
                scores[at] += idf * often * (K1 + 1.0) / (often + long);
            }
        }
        let mut order: Vec<usize> = (0..candidates.len()).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
        order.truncate(depth);
        let matching = order.iter().filter(|at| scores[**at] > 0.0).count();
        (order.into_iter().map(|at| candidates[at]).collect(), matching)
    }
}

/// Fuses rankings by ranks alone: reciprocal rank fusion with k = 60.
pub fn fuse(rankings: &[&[usize]]) -> Vec<usize> {
    let mut scores: HashMap<usize, f64> = HashMap::new();
    for ranking in rankings {
        for (rank, item) in ranking.iter().take(FUSED_DEPTH).enumerate() {
            *scores.entry(*item).or_default() += 1.0 / (RANK_OFFSET + 1.0 + rank as f64);
        }
    }
    let mut fused: Vec<(usize, f64)> = scores.into_iter().collect();
    fused.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    fused.into_iter().map(|(item, _)| item).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bm25_ranks_the_rarer_word_first() {
        let texts = ["the cat sat", "a dog and a cat", "running dogs", "the weather"];
        let keywords = Keywords::of(&texts.map(String::from));
        assert_eq!(keywords.rank("dogs that run", &[0, 1, 2, 3], 2), (vec![2, 1], 2));
        // Of the first two alone, only one has the word.
        assert_eq!(keywords.rank("dogs that run", &[0, 1], 9), (vec![1, 0], 1));
        assert_eq!(keywords.rank("", &[2, 3], 9), (vec![2, 3], 0));
    }

    #[test]
    fn rank_fusion_prefers_documents_high_in_both() {
        assert_eq!(fuse(&[&[1, 2, 3], &[3, 2, 4]])[..2], [3, 2]);
        assert_eq!(fuse(&[&[7]]), [7]);
    }
}
