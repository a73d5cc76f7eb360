//! Metrics of one ranking, and their means.
//!
//! R@k is the share of a question's answers among the first k, averaged over questions; any@k and
//! all@k are whether one or all of them are. Averages are over questions, never over answers.

use std::collections::{HashMap, HashSet};

use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde::Serialize;

/// Number of ranks that count.
pub const DEPTH: usize = 50;
/// Number of bootstrap samples for an interval.
const DRAWS: usize = 1000;

/// A ranking: units, best first, and the number of characters each adds to a prompt.
#[derive(Debug, Clone, Default)]
pub struct Ranking {
    pub units: Vec<usize>,
    pub chars: Vec<usize>,
}

/// The metrics of one ranking, or their means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Figures {
    pub r1: f64,
    pub r5: f64,
    pub r10: f64,
    pub r20: f64,
    pub r50: f64,
    pub any5: f64,
    pub any10: f64,
    pub all10: f64,
    pub ndcg10: f64,
    pub mrr: f64,
    /// Whether the first result is in the session of an answer.
    pub session1: f64,
    /// The share of answers among the first ten.
    pub precision10: f64,
    /// Characters of the first ten, and answers among them.
    pub chars10: f64,
    pub found10: f64,
}

impl Figures {
    /// `session` returns the session of a unit.
    pub fn of(ranking: &Ranking, gold: &[usize], session: impl Fn(usize) -> usize) -> Self {
        let first = &ranking.units[..ranking.units.len().min(DEPTH)];
        let places: HashMap<usize, usize> =
            first.iter().enumerate().rev().map(|(at, unit)| (*unit, at)).collect();
        let hits: Vec<usize> = gold.iter().filter_map(|unit| places.get(unit).copied()).collect();
        let within = |k: usize| hits.iter().filter(|at| **at < k).count() as f64;
        let gain = |at: usize| 1.0 / ((at + 2) as f64).log2();
        let best: f64 = (0..gold.len().min(10)).map(gain).sum();
        let gained: f64 = hits.iter().filter(|at| **at < 10).map(|at| gain(*at)).sum();
        let sessions: HashSet<usize> = gold.iter().map(|unit| session(*unit)).collect();
        let yes = |is: bool| f64::from(u8::from(is));
        let count = gold.len().max(1) as f64;
        let shown = ranking.units.len().min(10);
        Self {
            r1: within(1) / count,
            r5: within(5) / count,
            r10: within(10) / count,
            r20: within(20) / count,
            r50: within(50) / count,
            any5: yes(within(5) > 0.0),
            any10: yes(within(10) > 0.0),
            all10: yes(within(10) >= count),
            ndcg10: if best > 0.0 { gained / best } else { 0.0 },
            mrr: hits.iter().min().map_or(0.0, |at| 1.0 / (at + 1) as f64),
            session1: yes(first.first().is_some_and(|unit| sessions.contains(&session(*unit)))),
            precision10: within(10) / shown.max(1) as f64,
            chars10: ranking.chars.iter().take(10).sum::<usize>() as f64,
            found10: within(10),
        }
    }

    fn fields(&mut self) -> [&mut f64; 14] {
        [
            &mut self.r1,
            &mut self.r5,
            &mut self.r10,
            &mut self.r20,
            &mut self.r50,
            &mut self.any5,
            &mut self.any10,
            &mut self.all10,
            &mut self.ndcg10,
            &mut self.mrr,
            &mut self.session1,
            &mut self.precision10,
            &mut self.chars10,
            &mut self.found10,
        ]
    }

    pub fn mean<'a>(all: impl IntoIterator<Item = &'a Figures>) -> Self {
        let (mut sum, mut count) = (Figures::default(), 0.0);
        for one in all {
            let mut one = *one;
            for (sum, one) in sum.fields().into_iter().zip(one.fields()) {
                *sum += *one;
            }
            count += 1.0;
        }
        for field in sum.fields() {
            *field /= f64::max(count, 1.0);
        }
        sum
    }

    /// Tokens that a model has to read per answer among the first ten, at four characters per
    /// token.
    pub fn tokens_per_answer(&self) -> f64 {
        self.chars10 / 4.0 / self.found10.max(1e-9)
    }
}

/// The 95 % confidence interval of the mean, by bootstrap over the questions.
pub fn interval(values: &[f64], seed: u64) -> (f64, f64) {
    if values.is_empty() {
        return (0.0, 0.0);
    }
    let mut rng = StdRng::seed_from_u64(seed);
    let mut means: Vec<f64> = (0..DRAWS)
        .map(|_| {
            let drawn = (0..values.len()).map(|_| values[rng.random_range(0..values.len())]);
            drawn.sum::<f64>() / values.len() as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    (means[DRAWS * 25 / 1000], means[DRAWS * 975 / 1000 - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(units: &[usize], gold: &[usize]) -> Figures {
        let ranking = Ranking { units: units.to_vec(), chars: vec![40; units.len()] };
        Figures::of(&ranking, gold, |unit| unit / 10)
    }

    #[test]
    fn metrics_match_their_definitions() {
        let found = figures(&[11, 3, 25, 4, 5, 6, 40], &[3, 40]);
        assert_eq!((found.r1, found.r5, found.r10), (0.0, 0.5, 1.0));
        assert_eq!((found.any5, found.all10, found.mrr, found.session1), (1.0, 1.0, 0.5, 0.0));
        let gain = |rank: f64| 1.0 / (rank + 1.0).log2();
        let wanted = (gain(2.0) + gain(7.0)) / (gain(1.0) + gain(2.0));
        assert!((found.ndcg10 - wanted).abs() < 1e-12);
        assert!((found.precision10 - 2.0 / 7.0).abs() < 1e-12);
        assert!((found.tokens_per_answer() - 35.0).abs() < 1e-12);
        assert_eq!(figures(&[], &[1]), Figures::default());
        let half = Figures::mean(&[figures(&[1], &[1]), figures(&[2], &[1])]);
        assert_eq!((half.r1, half.all10, half.session1), (0.5, 0.5, 1.0));
    }

    #[test]
    fn bootstrap_interval_contains_the_mean_and_is_deterministic() {
        let values: Vec<f64> = (0..400).map(|n| f64::from(n % 2)).collect();
        let (low, high) = interval(&values, 7);
        assert!(low < 0.5 && 0.5 < high && high - low < 0.12, "{low} {high}");
        assert_eq!((low, high), interval(&values, 7));
    }
}
