//! BM25: scores texts by the query words they contain, with word rarity and text length taken from
//! exactly these texts.

/// BM25 parameters: saturation of repeated words (`k1`) and length normalisation (`b`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Saturation {
    pub(super) k1: f32,
    pub(super) b: f32,
}

/// Word counts of each text, and the length of each text. Most texts have none of the words, so
/// only the rows of those that have one are stored.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts {
    width: usize,
    /// For each text: the number of its row, or [`EMPTY`].
    row_of: Vec<u32>,
    /// For each row: its text.
    texts: Vec<u32>,
    /// The rows, one after the other.
    counts: Vec<f32>,
    pub(super) lengths: Vec<f32>,
    zeroes: Vec<f32>,
}

/// A text without any of the words.
const EMPTY: u32 = u32::MAX;

impl Counts {
    pub(super) fn new(texts: usize, width: usize) -> Self {
        Self {
            width,
            row_of: vec![EMPTY; texts],
            lengths: vec![0.0; texts],
            zeroes: vec![0.0; width],
            ..Self::default()
        }
    }

    pub(super) fn texts(&self) -> usize {
        self.lengths.len()
    }

    /// Adds an empty text; returns its number.
    pub(super) fn push(&mut self) -> usize {
        self.row_of.push(EMPTY);
        self.lengths.push(0.0);
        self.lengths.len() - 1
    }

    pub(super) fn row(&self, text: usize) -> &[f32] {
        match self.row_of[text] {
            EMPTY => &self.zeroes,
            row => &self.counts[row as usize * self.width..][..self.width],
        }
    }

    /// The texts that have a word, with their rows.
    pub(super) fn rows(&self) -> impl Iterator<Item = (usize, &[f32])> {
        let rows = self.counts.chunks_exact(self.width.max(1));
        self.texts.iter().map(|text| *text as usize).zip(rows)
    }

    fn row_mut(&mut self, text: usize) -> &mut [f32] {
        if self.row_of[text] == EMPTY {
            self.row_of[text] = self.texts.len() as u32;
            self.texts.push(text as u32);
            self.counts.resize(self.counts.len() + self.width, 0.0);
        }
        let start = self.row_of[text] as usize * self.width;
        &mut self.counts[start..start + self.width]
    }

    /// Adds to the count of one word in a text.
    pub(super) fn add_word(&mut self, text: usize, word: usize, count: f32) {
        self.row_mut(text)[word] += count;
    }

    /// Adds a share of another text's words to a text.
    pub(super) fn add(&mut self, text: usize, row: &[f32], share: f32) {
        for (own, other) in self.row_mut(text).iter_mut().zip(row) {
            *own += share * other;
        }
    }

    /// Inverse document frequency of each word.
    pub(super) fn rarity(&self) -> Vec<f32> {
        let mut have = vec![0_u32; self.width];
        for (_, row) in self.rows() {
            for (have, count) in have.iter_mut().zip(row) {
                *have += u32::from(*count > 0.0);
            }
        }
        have.into_iter().map(|have| rarity(have as usize, self.texts())).collect()
    }

    /// The score of each text, each word counting by its weight.
    pub(super) fn scores(&self, weights: &[f32], saturation: Saturation) -> Vec<f32> {
        let rarity = self.rarity();
        let worth: Vec<f32> =
            rarity.iter().zip(weights).map(|(rare, weight)| rare * weight).collect();
        let mean = (self.lengths.iter().sum::<f32>() / self.texts().max(1) as f32).max(1.0);
        let Saturation { k1, b } = saturation;
        let mut scores = vec![0.0; self.texts()];
        for (text, row) in self.rows() {
            let bound = k1 * (1.0 - b + b * self.lengths[text] / mean);
            let words = row.iter().zip(&worth).filter(|(count, _)| **count > 0.0);
            scores[text] =
                words.map(|(count, worth)| worth * count * (k1 + 1.0) / (count + bound)).sum();
        }
        scores
    }
}

/// Inverse document frequency of a word that `have` of `all` texts have.
pub(super) fn rarity(have: usize, all: usize) -> f32 {
    let (have, all) = (have as f32, all as f32);
    (1.0 + (all - have + 0.5) / (have + 0.5)).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SATURATION: Saturation = Saturation { k1: 0.9, b: 0.4 };

    fn texts(rows: &[([f32; 2], f32)]) -> Counts {
        let mut counts = Counts::new(rows.len(), 2);
        for (text, (row, length)) in rows.iter().enumerate() {
            counts.add(text, row, 1.0);
            counts.lengths[text] = *length;
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
