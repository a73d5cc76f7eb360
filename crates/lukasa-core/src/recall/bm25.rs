//! BM25: scores texts by the query words they contain, with word rarity and text length taken from
//! exactly these texts.

/// BM25 parameters: saturation of repeated words (`k1`) and length normalisation (`b`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Saturation {
    pub(super) k1: f32,
    pub(super) b: f32,
}

/// Word counts of each text, row by row, and the length of each text.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts {
    pub(super) width: usize,
    pub(super) counts: Vec<f32>,
    pub(super) lengths: Vec<f32>,
}

impl Counts {
    pub(super) fn new(texts: usize, width: usize) -> Self {
        Self { width, counts: vec![0.0; texts * width], lengths: vec![0.0; texts] }
    }

    pub(super) fn texts(&self) -> usize {
        self.lengths.len()
    }

    pub(super) fn row(&self, text: usize) -> &[f32] {
        &self.counts[text * self.width..(text + 1) * self.width]
    }

    /// Adds a share of another text's words and length to a text.
    pub(super) fn add(&mut self, text: usize, row: &[f32], length: f32, share: f32) {
        let own = &mut self.counts[text * self.width..(text + 1) * self.width];
        for (own, other) in own.iter_mut().zip(row) {
            *own += share * other;
        }
        self.lengths[text] += share * length;
    }

    /// Inverse document frequency of each word.
    pub(super) fn rarity(&self) -> Vec<f32> {
        let mut have = vec![0_u32; self.width];
        for text in 0..self.texts() {
            for (have, count) in have.iter_mut().zip(self.row(text)) {
                *have += u32::from(*count > 0.0);
            }
        }
        let all = self.texts() as f32;
        let rare = |have: u32| (1.0 + (all - have as f32 + 0.5) / (have as f32 + 0.5)).ln();
        have.into_iter().map(rare).collect()
    }

    /// The score of each text, each word counting by its weight.
    pub(super) fn scores(&self, weights: &[f32], saturation: Saturation) -> Vec<f32> {
        let rarity = self.rarity();
        let worth: Vec<f32> =
            rarity.iter().zip(weights).map(|(rare, weight)| rare * weight).collect();
        let mean = (self.lengths.iter().sum::<f32>() / self.texts().max(1) as f32).max(1.0);
        let Saturation { k1, b } = saturation;
        let score = |(text, length): (usize, &f32)| {
            let bound = k1 * (1.0 - b + b * length / mean);
            let words = self.row(text).iter().zip(&worth).filter(|(count, _)| **count > 0.0);
            words.map(|(count, worth)| worth * count * (k1 + 1.0) / (count + bound)).sum()
        };
        self.lengths.iter().enumerate().map(score).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SATURATION: Saturation = Saturation { k1: 0.9, b: 0.4 };

    fn texts(rows: &[([f32; 2], f32)]) -> Counts {
        let mut counts = Counts::new(rows.len(), 2);
        for (text, (row, length)) in rows.iter().enumerate() {
            counts.add(text, row, *length, 1.0);
        }
        counts
    }

    #[test]
    fn bm25_rare_word_scores_more_than_a_common_one() {
        let counts = texts(&[([1.0, 0.0], 5.0), ([1.0, 0.0], 5.0), ([0.0, 1.0], 5.0)]);
        let scores = counts.scores(&[1.0, 1.0], SATURATION);
        assert!(scores[2] > scores[0]);
        assert_eq!(scores[0], scores[1]);
    }

    #[test]
    fn bm25_repeated_words_saturate_and_length_lowers_the_score() {
        let counts = texts(&[
            ([1.0, 0.0], 5.0),
            ([2.0, 0.0], 5.0),
            ([3.0, 0.0], 5.0),
            ([1.0, 0.0], 50.0),
            ([0.0, 0.0], 5.0),
        ]);
        let s = counts.scores(&[1.0, 1.0], SATURATION);
        assert!(s[1] - s[0] > s[2] - s[1] && s[2] > s[1]);
        assert!(s[3] < s[0]);
        assert_eq!(s[4], 0.0);
    }

    #[test]
    fn bm25_word_without_weight_does_not_count() {
        let counts = texts(&[([1.0, 0.0], 5.0), ([0.0, 1.0], 5.0)]);
        assert_eq!(counts.scores(&[0.0, 1.0], SATURATION)[0], 0.0);
    }

    #[test]
    fn bm25_matches_the_reference_value() {
        // One text of two has the word once, both are of mean length:
        // ln(1 + (2 - 1 + .5) / 1.5) * 1 * 1.9 / (1 + .9) = ln 2.
        let counts = texts(&[([1.0, 0.0], 4.0), ([0.0, 0.0], 4.0)]);
        let score = counts.scores(&[1.0, 1.0], SATURATION)[0];
        assert!((score - std::f32::consts::LN_2).abs() < 1e-6, "{score}");
    }
}
