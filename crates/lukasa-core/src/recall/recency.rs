//! Recency: of memories about the same subject, the ones learned last are more likely to be meant.
//!
//! The age of a unit is the number of newer units that are about as relevant to the query. Time and
//! what is learned about other subjects do not make a unit older, so that an old answer which
//! nothing has been added to is as recent as one of today. A unit gains by its recency only as far as it
//! is relevant itself, so that a new one about something else does not pass an old answer.

/// A newer unit makes another one older if it has at least this share of its score.
const COMPARABLE: f32 = 0.6;
/// With a best score below this no unit stands out by its relevance: the scores differ by chance, and each
/// newer unit counts.
const DISTINCT: f32 = 1.0;
/// Number of newer units that halve the score of a unit.
const HALF_LIFE_UNITS: f32 = 4.0;

/// The recency of each unit, between 0 and 1, from their fused scores and their order: halved by age, and
/// in proportion to the root of its share of the best score. Units that are not in the order have none.
pub(super) fn recency(newest_first: &[usize], fused: &[f32]) -> Vec<f32> {
    let mut sorted = fused.to_vec();
    sorted.sort_unstable_by(f32::total_cmp);
    let below = |score: f32| sorted.partition_point(|other| *other < score);
    let best = sorted.last().copied().unwrap_or_default();
    let mut newer = ScoreCounts::new(sorted.len());
    let mut recency = vec![0.0; fused.len()];
    for at in newest_first {
        let score = fused[*at];
        let (age, relevance) = match best >= DISTINCT {
            true => (newer.above(below(COMPARABLE * score)), (score / best).clamp(0.0, 1.0).sqrt()),
            false => (newer.total, 1.0),
        };
        recency[*at] = relevance * 0.5_f32.powf(age as f32 / HALF_LIFE_UNITS);
        newer.add(below(score));
    }
    recency
}

/// Counts ranks, and how many of them are at least as high as a given one (a Fenwick tree).
struct ScoreCounts {
    counts: Vec<u32>,
    total: u32,
}

impl ScoreCounts {
    fn new(ranks: usize) -> Self {
        Self { counts: vec![0; ranks + 1], total: 0 }
    }

    fn add(&mut self, rank: usize) {
        self.total += 1;
        let mut at = rank + 1;
        while let Some(count) = self.counts.get_mut(at) {
            *count += 1;
            at += at & at.wrapping_neg();
        }
    }

    /// The number of ranks added that are this one or higher.
    fn above(&self, rank: usize) -> u32 {
        let (mut lower, mut at) = (0, rank);
        while at > 0 {
            lower += self.counts[at];
            at &= at - 1;
        }
        self.total - lower
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recency_counts_newer_units_that_are_about_as_relevant() {
        // From the newest: two about the subject, one about another, and an older one about the subject.
        let recency = recency(&[3, 2, 1, 0], &[4.0, 0.5, 6.0, 3.2]);
        let after =
            |age: f32, score: f32| (score / 6.0).sqrt() * 0.5_f32.powf(age / HALF_LIFE_UNITS);
        assert_eq!(recency, [after(2.0, 4.0), after(2.0, 0.5), 1.0, after(0.0, 3.2)]);
    }

    #[test]
    fn recency_of_old_unit_is_not_changed_by_other_subjects() {
        let mut fused = vec![0.3; 1_000];
        fused[0] = 5.0;
        let newest_first: Vec<usize> = (0..1_000).rev().collect();
        let recency = recency(&newest_first, &fused);
        assert_eq!((recency[0], recency[999]), (1.0, (0.3_f32 / 5.0).sqrt()));
        assert!(recency[1] < 0.001);
    }

    #[test]
    fn new_unit_that_does_not_match_gains_nothing_by_its_recency() {
        assert_eq!(recency(&[2, 1, 0], &[-1.0, 2.0, -1.0]), [0.0, 1.0, 0.0]);
    }

    #[test]
    fn recency_counts_every_newer_unit_if_none_stands_out() {
        let halved = |age: f32| 0.5_f32.powf(age / HALF_LIFE_UNITS);
        assert_eq!(recency(&[2, 1, 0], &[0.0, 1e-7, -1e-7]), [halved(2.0), halved(1.0), 1.0]);
    }

    #[test]
    fn score_counts_match_a_plain_count() {
        let ranks = [5, 0, 3, 3, 7, 1];
        let mut counts = ScoreCounts::new(8);
        for (added, rank) in ranks.iter().enumerate() {
            counts.add(*rank);
            for least in 0..9 {
                let plain = ranks[..=added].iter().filter(|rank| **rank >= least).count();
                assert_eq!(counts.above(least), plain as u32, "{least} of {:?}", &ranks[..=added]);
            }
        }
    }
}
