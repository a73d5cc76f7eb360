//! The two time axes: when something is true in the world (`valid`), and when Lukasa knew it
//! (`known`).
//!
//! Both are half-open UTC periods. Instants are kept to the microsecond, which is what PostgreSQL
//! stores, so that a value written equals the value read. Nothing here reads a clock.

pub use jiff::Timestamp;
pub use lukasa_text::period::{Period, micros};
use serde::{Deserialize, Serialize};

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
