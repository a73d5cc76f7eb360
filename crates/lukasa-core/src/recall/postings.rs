//! Inverted index: for each term the units that have it, in ascending order, and how often. Each class
//! of units has postings of its own, because most rankings are about one of them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use lukasa_text::terms::Term;

use super::passage::PassageKind;
use crate::session::Role;

/// The class of a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnitClass {
    Fact = 0,
    Episode = 1,
    /// A turn of the user.
    OwnTurn = 2,
    /// A turn of an assistant, a tool or another role.
    OtherTurn = 3,
}

impl UnitClass {
    pub(super) const COUNT: usize = 4;

    pub(super) fn of(kind: PassageKind, role: Option<Role>) -> Self {
        match (kind, role) {
            (PassageKind::Fact, _) => Self::Fact,
            (PassageKind::Episode, _) => Self::Episode,
            (PassageKind::Turn, Some(Role::User)) => Self::OwnTurn,
            (PassageKind::Turn, _) => Self::OtherTurn,
        }
    }

    /// The classes of a kind of units.
    pub(super) fn of_kind(kind: PassageKind) -> &'static [Self] {
        match kind {
            PassageKind::Fact => &[Self::Fact],
            PassageKind::Episode => &[Self::Episode],
            PassageKind::Turn => &[Self::OwnTurn, Self::OtherTurn],
        }
    }
}

/// The units of every term.
#[derive(Debug, Clone, Default)]
pub(super) struct Postings(HashMap<Term, PostingList, BuildHasherDefault<TermHasher>>);

/// The units of one term: for each the difference to the one before it, doubled, plus one if the
/// next byte is the count; a count of one is not written.
#[derive(Debug, Clone, Default)]
struct PostingList {
    bytes: Vec<u8>,
    last: u32,
    /// Number of distinct units.
    units: u32,
}

impl Postings {
    /// Adds a unit, which must not be lower than those added before.
    pub(super) fn add(&mut self, term: Term, unit: u32, count: u8) {
        let list = self.0.entry(term).or_default();
        list.units += u32::from(list.bytes.is_empty() || unit != list.last);
        let mut rest = u64::from(unit - list.last) << 1 | u64::from(count != 1);
        list.last = unit;
        if list.bytes.capacity() - list.bytes.len() < 8 && list.bytes.len() > 64 {
            // A list that doubles its capacity would keep half of it unused.
            list.bytes.reserve_exact(list.bytes.len() / 4);
        }
        while rest >= 0x80 {
            list.bytes.push((rest & 0x7f) as u8 | 0x80);
            rest >>= 7;
        }
        list.bytes.push(rest as u8);
        if count != 1 {
            list.bytes.push(count);
        }
    }

    /// The units that have a term, with their counts. A unit of several passages can occur several
    /// times in a row.
    pub(super) fn units(&self, term: Term) -> Units<'_> {
        Units { bytes: self.0.get(&term).map_or(&[][..], |list| &list.bytes), unit: 0 }
    }

    /// The number of units that have a term.
    pub(super) fn units_with(&self, term: Term) -> usize {
        self.0.get(&term).map_or(0, |list| list.units as usize)
    }

    /// Approximate size in bytes.
    pub(super) fn bytes(&self) -> usize {
        let lists: usize = self.0.values().map(|list| list.bytes.capacity()).sum();
        self.0.capacity() * 8 / 7 * (size_of::<(Term, PostingList)>() + 1) + lists
    }
}

/// The units of one term.
pub(super) struct Units<'p> {
    bytes: &'p [u8],
    unit: u64,
}

impl Units<'_> {
    #[inline]
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }
}

impl Iterator for Units<'_> {
    type Item = (usize, u8);

    #[inline]
    fn next(&mut self) -> Option<(usize, u8)> {
        let mut byte = self.byte()?;
        let mut value = u64::from(byte & 0x7f);
        let mut shift = 7;
        while byte >= 0x80 {
            byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            shift += 7;
        }
        self.unit += value >> 1;
        let count = if value & 1 == 1 { self.byte()? } else { 1 };
        Some((self.unit as usize, count))
    }
}

/// Hash function for terms, which are hashes themselves.
#[derive(Default)]
struct TermHasher(u64);

impl Hasher for TermHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, value: u32) {
        self.0 = (self.0 ^ u64::from(value)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn postings_return_units_and_counts_as_added() {
        let mut postings = Postings::default();
        let added: Vec<(usize, u8)> =
            (0..500).map(|n| (n * n * 7, (n % 5) as u8)).chain([(1_750_000_000, 255)]).collect();
        for (unit, count) in &added {
            postings.add(Term(4), *unit as u32, *count);
            postings.add(Term(8), *unit as u32, 1);
            postings.add(Term(8), *unit as u32, 2);
        }
        assert_eq!(postings.units(Term(4)).collect::<Vec<_>>(), added);
        assert_eq!(postings.units(Term(8)).count(), 2 * added.len());
        assert_eq!(postings.units(Term(12)).count(), 0);
        let with = [4, 8, 12].map(|term| postings.units_with(Term(term)));
        assert_eq!(with, [added.len(), added.len(), 0]);
        assert!(postings.bytes() > 1_000);
    }
}
