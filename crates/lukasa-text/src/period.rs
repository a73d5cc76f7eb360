//! Periods of time, half-open and in UTC. Nothing here reads a clock.
//!
//! Instants are kept to the microsecond, the precision in which they are stored, so that a value
//! written equals the value read.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The instant to the microsecond, rounded down.
pub fn micros(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at)
}

/// A half-open period, `[from, until)`; no `until` means that it has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Period {
    pub from: Timestamp,
    pub until: Option<Timestamp>,
}

impl Period {
    pub fn since(from: Timestamp) -> Self {
        Self { from: micros(from), until: None }
    }

    /// The period, or nothing if it would be empty.
    pub fn new(from: Timestamp, until: Option<Timestamp>) -> Option<Self> {
        let period = Self { from: micros(from), until: until.map(micros) };
        period.until.is_none_or(|until| until > period.from).then_some(period)
    }

    pub fn contains(&self, at: Timestamp) -> bool {
        self.from <= at && self.until.is_none_or(|until| at < until)
    }

    pub fn overlaps(&self, other: &Period) -> bool {
        self.until.is_none_or(|until| other.from < until)
            && other.until.is_none_or(|until| self.from < until)
    }

    /// The part before `at`, or nothing if the period begins no earlier.
    pub fn before(&self, at: Timestamp) -> Option<Period> {
        let until = self.until.map_or(at, |until| until.min(at));
        Period::new(self.from, Some(until))
    }

    pub fn ended(&self, at: Timestamp) -> bool {
        self.until.is_some_and(|until| until <= at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn period_contains_its_start_and_not_its_end() {
        let period = Period::new(at(10), Some(at(20))).unwrap();
        assert!(!period.contains(at(9)));
        assert!(period.contains(at(10)));
        assert!(period.contains(at(19)));
        assert!(!period.contains(at(20)));
    }

    #[test]
    fn period_cannot_be_empty_or_backward() {
        assert_eq!(Period::new(at(10), Some(at(10))), None);
        assert_eq!(Period::new(at(10), Some(at(9))), None);
        assert_eq!(Period::since(at(10)).before(at(10)), None);
    }

    #[test]
    fn adjacent_periods_do_not_overlap() {
        let first = Period::new(at(0), Some(at(10))).unwrap();
        let second = Period::since(at(10));
        assert!(!first.overlaps(&second) && !second.overlaps(&first));
        assert!(first.overlaps(&Period::since(at(9))));
        assert_eq!(Period::since(at(0)).before(at(10)), Some(first));
    }
}
