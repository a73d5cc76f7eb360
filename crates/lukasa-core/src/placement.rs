//! Placement: which cell holds the rows of a user.
//!
//! A cell is one PostgreSQL database with the rows of whole users. The map is a few ranges of user
//! ids; a tenant may have ranges of its own, which are followed instead of the common ones. While a
//! range moves, each of its users is in one of two cells, and the cell that it leaves is asked
//! first. Every cell keeps its own part of the map, by which its database refuses the users it does
//! not hold.

use std::fmt;

use uuid::Uuid;

use crate::{TenantId, UserId, words};

/// The cell in the directory's own database. It exists from the start and holds everything until
/// ranges are moved.
pub const MAIN_CELL: &str = "main";

/// A range of user ids, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct UserRange {
    pub first: Uuid,
    pub last: Uuid,
}

impl UserRange {
    pub const ALL: Self = Self { first: Uuid::nil(), last: Uuid::max() };

    pub fn contains(self, user: UserId) -> bool {
        (self.first..=self.last).contains(&user.uuid())
    }

    /// Parses two hexadecimal prefixes with a hyphen between them, such as `80-ff`.
    pub fn parse(text: &str) -> Option<Self> {
        let (first, last) = text.split_once('-')?;
        let end = |digits: &str, fill: &str| {
            let is_hex = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
            let missing = 32_usize.checked_sub(digits.len()).filter(|_| is_hex)?;
            Uuid::parse_str(&format!("{digits}{}", fill.repeat(missing))).ok()
        };
        let range = Self { first: end(first, "0")?, last: end(last, "f")? };
        (range.first <= range.last).then_some(range)
    }

    fn overlap(self, other: Self) -> Option<Self> {
        let range = Self { first: self.first.max(other.first), last: self.last.min(other.last) };
        (range.first <= range.last).then_some(range)
    }

    /// The parts of this range before, in and after another.
    fn split(self, by: Self) -> [Option<Self>; 3] {
        let before = (self.first < by.first)
            .then(|| Self { first: self.first, last: self.last.min(previous(by.first)) });
        let after = (self.last > by.last)
            .then(|| Self { first: self.first.max(next(by.last)), last: self.last });
        [before, self.overlap(by), after]
    }
}

impl fmt::Display for UserRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.first.simple().to_string();
        let last = self.last.simple().to_string();
        let short = |text: &str, fill: char| match text.trim_end_matches(fill) {
            "" => fill.to_string().repeat(2),
            digits => digits.to_owned(),
        };
        write!(f, "{}-{}", short(&first, '0'), short(&last, 'f'))
    }
}

fn previous(id: Uuid) -> Uuid {
    Uuid::from_u128(id.as_u128().saturating_sub(1))
}

fn next(id: Uuid) -> Uuid {
    Uuid::from_u128(id.as_u128().saturating_add(1))
}

/// One range of the map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedRange {
    /// The tenant with ranges of its own; `None` for all others.
    pub tenant: Option<TenantId>,
    pub range: UserRange,
    pub cell: String,
    /// The cell that the users of the range are being moved to.
    pub moving_to: Option<String>,
    /// The epoch of the map in which this range last changed.
    pub epoch: i64,
}

/// The whole map.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    ranges: Vec<PlacedRange>,
}

/// Where to look for a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellRoute<'p> {
    pub cell: &'p str,
    /// The cell to ask if the first does not hold the user.
    pub then: Option<&'p str>,
    /// The epoch of the range.
    pub epoch: i64,
}

words!(
    /// What a cell does with the users of a range.
    HoldingState {
        Held = "held",
        /// The users that have rows here are held, others are elsewhere.
        Leaving = "leaving",
        /// The users are held for a caller who was refused by the cell that they leave.
        Arriving = "arriving",
        Away = "away",
    }
);

/// A cell's own part of the map. What is in no range of it is elsewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Holding {
    pub tenant: Option<TenantId>,
    pub range: UserRange,
    pub state: HoldingState,
    pub epoch: i64,
}

/// Why a map cannot be used, or a move cannot begin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlacementError {
    #[error("the ranges of the map have a gap or overlap")]
    Incomplete,
    #[error("users of the range are already being moved to another cell")]
    Moving,
    #[error("the cell holds no users of the range")]
    Nothing,
}

impl Placement {
    /// Everything in the main cell.
    pub fn single() -> Self {
        let cell = MAIN_CELL.to_owned();
        let (range, moving_to) = (UserRange::ALL, None);
        Self { ranges: vec![PlacedRange { tenant: None, range, cell, moving_to, epoch: 0 }] }
    }

    /// A map of these ranges. Without any it is that of a single cell.
    pub fn new(mut ranges: Vec<PlacedRange>) -> Result<Self, PlacementError> {
        if ranges.is_empty() {
            return Ok(Self::single());
        }
        ranges.sort_by_key(|placed| (placed.tenant, placed.range));
        let all = Self { ranges };
        let is_complete = |tenant: Option<TenantId>| {
            let mut expected = Some(Uuid::nil());
            for placed in all.ranges.iter().filter(|placed| placed.tenant == tenant) {
                if Some(placed.range.first) != expected || placed.range.last < placed.range.first {
                    return false;
                }
                let last = placed.range.last;
                expected = (last != Uuid::max()).then(|| next(last));
            }
            expected.is_none()
        };
        let tenants = all.pinned_tenants().map(Some);
        let complete = tenants.chain([None]).all(is_complete);
        if complete { Ok(all) } else { Err(PlacementError::Incomplete) }
    }

    pub fn ranges(&self) -> &[PlacedRange] {
        &self.ranges
    }

    /// The tenants with ranges of their own.
    pub fn pinned_tenants(&self) -> impl Iterator<Item = TenantId> {
        let mut tenants: Vec<TenantId> = self.ranges.iter().filter_map(|r| r.tenant).collect();
        tenants.dedup();
        tenants.into_iter()
    }

    pub fn is_moving(&self) -> bool {
        self.ranges.iter().any(|placed| placed.moving_to.is_some())
    }

    /// The highest epoch of a range.
    pub fn epoch(&self) -> i64 {
        self.ranges.iter().map(|placed| placed.epoch).max().unwrap_or(0)
    }

    pub fn route(&self, tenant: TenantId, user: UserId) -> CellRoute<'_> {
        let of = |wanted: Option<TenantId>| {
            self.ranges.iter().find(|r| r.tenant == wanted && r.range.contains(user))
        };
        match of(Some(tenant)).or_else(|| of(None)) {
            Some(r) => CellRoute { cell: &r.cell, then: r.moving_to.as_deref(), epoch: r.epoch },
            // Not possible: a map is complete.
            None => CellRoute { cell: MAIN_CELL, then: None, epoch: 0 },
        }
    }

    /// The map in which the users of a range are moved: those of one tenant, or those of all
    /// tenants without ranges of their own; only from the cell `from`, if given. A move that was
    /// interrupted is continued, and one in the opposite direction is reversed.
    pub fn begin_move(
        &self,
        tenant: Option<TenantId>,
        range: UserRange,
        from: Option<&str>,
        to: &str,
    ) -> Result<Self, PlacementError> {
        let mut all = self.ranges.clone();
        let is_new = tenant.is_some() && all.iter().all(|placed| placed.tenant != tenant);
        if is_new {
            let common = self.ranges.iter().filter(|placed| placed.tenant.is_none());
            all.extend(common.map(|placed| PlacedRange { tenant, ..placed.clone() }));
        }
        let epoch = self.epoch() + 1;
        // A tenant may be pinned to the cell that it is in.
        let (mut ranges, mut found) = (Vec::new(), is_new);
        for placed in all {
            let [before, within, after] = placed.range.split(range);
            let (false, Some(within)) = (placed.tenant != tenant, within) else {
                ranges.push(placed);
                continue;
            };
            let is_back = placed.cell == to && placed.moving_to.is_some();
            let source = if is_back { placed.moving_to.as_deref() } else { Some(&*placed.cell) };
            let is_source = from.is_none_or(|from| source == Some(from));
            if !is_source || (placed.cell == to && !is_back) {
                ranges.push(placed);
                continue;
            }
            found = true;
            if placed.moving_to.as_deref() == Some(to) {
                // This very move was begun before.
                ranges.push(placed);
                continue;
            }
            if placed.moving_to.is_some() && !is_back {
                return Err(PlacementError::Moving);
            }
            let moved = match (&placed.moving_to, is_back) {
                (Some(there), true) => there.clone(),
                _ => placed.cell.clone(),
            };
            // What is moving is reversed as a whole: both cells know it as one range.
            let (within, rest) =
                if is_back { (placed.range, [None, None]) } else { (within, [before, after]) };
            ranges.extend(
                rest.into_iter().flatten().map(|range| PlacedRange { range, ..placed.clone() }),
            );
            let (cell, moving_to) = (moved, Some(to.to_owned()));
            ranges.push(PlacedRange { tenant, range: within, cell, moving_to, epoch });
        }
        if !found {
            return Err(PlacementError::Nothing);
        }
        Self::new(ranges)
    }

    /// The map after the users of a moving range have arrived.
    #[must_use]
    pub fn finish_move(&self, moved: &PlacedRange) -> Self {
        let epoch = self.epoch() + 1;
        let mut ranges: Vec<PlacedRange> = Vec::new();
        for placed in &self.ranges {
            let mut placed = placed.clone();
            if placed.tenant == moved.tenant && placed.range == moved.range {
                placed.cell = placed.moving_to.take().unwrap_or(placed.cell);
                placed.epoch = epoch;
            }
            match ranges.last_mut() {
                Some(before)
                    if (before.tenant, &before.cell) == (placed.tenant, &placed.cell)
                        && before.moving_to.is_none()
                        && placed.moving_to.is_none() =>
                {
                    before.range.last = placed.range.last;
                    before.epoch = before.epoch.max(placed.epoch);
                }
                _ => ranges.push(placed),
            }
        }
        Self { ranges }
    }

    /// What a cell holds.
    pub fn holdings(&self, cell: &str) -> Vec<Holding> {
        let of = |placed: &PlacedRange| {
            let state = match (placed.cell == cell, placed.moving_to.as_deref()) {
                (true, None) => HoldingState::Held,
                (true, Some(_)) => HoldingState::Leaving,
                (false, Some(to)) if to == cell => HoldingState::Arriving,
                (false, _) => HoldingState::Away,
            };
            // What happens to users who are elsewhere changes nothing here.
            let epoch = if state == HoldingState::Away { 0 } else { placed.epoch };
            Holding { tenant: placed.tenant, range: placed.range, state, epoch }
        };
        // A tenant's range that is elsewhere has to be named, or the common range would apply.
        let is_needed = |held: &Holding| held.state != HoldingState::Away || held.tenant.is_some();
        self.ranges.iter().map(of).filter(is_needed).collect()
    }
}

#[cfg(test)]
#[path = "placement/tests.rs"]
mod tests;
