//! The two time axes: when something is true in the world (`valid`), and when Lukasa knew it
//! (`known`).
//!
//! Both are half-open UTC periods. Instants are kept to the microsecond, which is what PostgreSQL
//! stores, so that a value written equals the value read. Nothing here reads a clock.

pub use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The instant to the microsecond, rounded down.
pub fn micros(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(at.as_microsecond()).unwrap_or(at)
}

/// The next instant after `at` that can be distinguished from it: one microsecond later.
pub fn after(at: Timestamp) -> Timestamp {
    Timestamp::from_microsecond(at.as_microsecond() + 1).unwrap_or(at)
}

/// Whether PostgreSQL stores this instant exactly and prints it as it was written.
pub fn is_storable(at: Timestamp) -> bool {
    const YEAR_10000: i64 = 253_402_300_800;
    const YEAR_0001: i64 = -62_135_596_800;
    (YEAR_0001..YEAR_10000).contains(&at.as_second()) && at.subsec_nanosecond() % 1_000 == 0
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

/// A point on both axes: what was true at `valid`, as Lukasa knew it at `known`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct AsOf {
    pub valid: Timestamp,
    pub known: Timestamp,
}

impl AsOf {
    pub fn now(now: Timestamp) -> Self {
        Self { valid: now, known: now }
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
