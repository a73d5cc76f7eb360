//! A memory as a reader sees it: a version, with the status derived for it.

use lukasa_core::{AsOf, State, Status, Timestamp, Version, status_of};
use lukasa_store::list::is_replaced;
use serde::{Deserialize, Serialize};

/// A version together with the status derived for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    pub version: Version,
    pub status: Status,
}

lukasa_core::words!(
    /// The user's rating of a memory.
    MemoryRating {
        Up = "up",
        Down = "down",
    }
);

impl MemoryRating {
    /// The type of the use that records it.
    pub(crate) fn usage_type(self) -> &'static str {
        match self {
            MemoryRating::Up => "rated_up",
            MemoryRating::Down => "rated_down",
        }
    }

    /// The rating that a use of this type records.
    pub(crate) fn of_usage(kind: &str) -> Self {
        if kind == Self::Up.usage_type() { Self::Up } else { Self::Down }
    }
}

/// A point on the two time axes; absent means now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Point {
    pub as_of: Option<Timestamp>,
    pub known_at: Option<Timestamp>,
}

impl Point {
    pub(crate) fn is_now(self) -> bool {
        self == Self::default()
    }

    pub(crate) fn resolve(self, now: Timestamp) -> AsOf {
        AsOf { valid: self.as_of.unwrap_or(now), known: self.known_at.unwrap_or(now) }
    }
}

/// The version a reader sees now: the valid one, else the one with the latest start.
pub(crate) fn current(known: &[Version], now: Timestamp) -> Option<&Version> {
    let holds = |v: &&Version| v.state == State::Active && v.valid.contains(now);
    known.iter().find(holds).or_else(|| known.iter().max_by_key(|v| (v.valid.from, v.id)))
}

/// The version with its status, derived with the other known versions of its fact.
pub(crate) fn as_memory(version: &Version, known: &[Version], now: Timestamp) -> Memory {
    let at = AsOf { valid: now, known: now.max(version.known.from) };
    let replaced = is_replaced(version, known);
    Memory { version: version.clone(), status: status_of(version, at, replaced) }
}
