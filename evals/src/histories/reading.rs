//! Reads of the reference model: statuses, lists, one memory, its versions, its links, the log.

use lukasa_core::{State, Status, Verb};

use super::model::{Judged, Row, Span, UserModel, refuse};
use super::step::{No, Point, Target};

/// A memory as shown in an answer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seen {
    pub fact: No,
    pub number: i32,
    pub content: String,
    pub valid: Span,
    pub status: &'static str,
}

/// An operation as shown in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct Logged {
    pub no: No,
    pub verb: Verb,
    pub at: i64,
    pub facts: Vec<No>,
    pub undoes: Option<No>,
    pub undone_by: Option<No>,
}

impl UserModel {
    /// The row a reader sees: the active one that is valid, else the one that begins last.
    pub fn current(&self, fact: No, at: i64) -> Option<&Row> {
        let open = || self.rows.iter().filter(move |row| row.fact == fact && row.open());
        open()
            .find(|row| row.state == State::Active && row.valid.holds(at))
            .or_else(|| open().max_by_key(|row| row.valid.from))
    }

    /// The current row of a memory with its status, as any answer should show it.
    pub fn shown(&self, fact: No, at: i64) -> Option<Seen> {
        self.current(fact, at).map(|row| self.seen(row, at, None))
    }

    pub fn list(&self, status: Option<Status>, point: Point, now: i64) -> Vec<Seen> {
        let valid = point.valid.unwrap_or(now);
        let mut all: Vec<Seen> = self
            .rows
            .iter()
            .filter(|row| is_known(row, point.known))
            .map(|row| self.seen(row, valid, point.known))
            .filter(|seen| status.is_none_or(|status| status.as_str() == seen.status))
            .collect();
        all.sort();
        all
    }

    pub fn get(&self, target: &Target, point: Point, now: i64) -> Judged<Seen> {
        let fact = self.find(target, now)?;
        let seen = if point == Point::default() {
            self.shown(fact, now)
        } else {
            let valid = point.valid.unwrap_or(now);
            let stored = self.rows.iter().find(|row| {
                row.fact == fact
                    && row.state == State::Active
                    && row.valid.holds(valid)
                    && is_known(row, point.known)
            });
            stored.map(|row| self.seen(row, valid, point.known))
        };
        seen.map_or_else(|| refuse("memory_not_found"), Ok)
    }

    /// Every row of a memory with its status and known span, sorted.
    pub fn versions(&self, target: &Target, now: i64) -> Judged<Vec<(Span, Seen)>> {
        let fact = self.find(target, now)?;
        let entry = |row: &Row| {
            let mut seen = self.seen(row, now, None);
            // An active row that is no longer known has been superseded.
            if !row.open() && row.state == State::Active {
                seen.status = Status::Superseded.as_str();
            }
            (row.known, seen)
        };
        let mut all: Vec<_> = self.rows.iter().filter(|row| row.fact == fact).map(entry).collect();
        all.sort();
        if all.is_empty() { refuse("memory_not_found") } else { Ok(all) }
    }

    /// The links of a memory whose other end is live: the link and the memory at the other end.
    pub fn links(&self, target: &Target, now: i64) -> Judged<Vec<(No, No)>> {
        let here = self.find(target, now)?;
        if !self.rows.iter().any(|row| row.fact == here && row.open()) {
            return refuse("memory_not_found");
        }
        let live = |fact: No| {
            self.current(fact, now)
                .is_some_and(|row| row.state == State::Active && row.valid.holds(now))
        };
        let mut links: Vec<(No, No)> = self
            .ties
            .iter()
            .filter(|tie| tie.closed_by.is_none() && (tie.from == here || tie.to == here))
            .map(|tie| (tie.no, if tie.from == here { tie.to } else { tie.from }))
            .filter(|(_, there)| live(*there))
            .collect();
        links.sort_unstable();
        Ok(links)
    }

    /// The operations, newest first.
    pub fn log(&self) -> Vec<Logged> {
        let logged = |op: &super::model::Op| Logged {
            no: op.no,
            verb: op.verb,
            at: op.at,
            facts: op.facts.iter().copied().collect(),
            undoes: op.undoes,
            undone_by: self.undone_by(op.no),
        };
        self.ops.iter().rev().map(logged).collect()
    }

    fn seen(&self, row: &Row, valid: i64, known: Option<i64>) -> Seen {
        Seen {
            fact: row.fact,
            number: row.number,
            content: row.claim.content.clone(),
            valid: row.valid,
            status: self.status(row, valid, known).as_str(),
        }
    }

    /// The status of a row at `valid`, given what is known at `known`.
    fn status(&self, row: &Row, valid: i64, known: Option<i64>) -> Status {
        match row.state {
            State::Proposed => Status::Proposed,
            State::Candidate => Status::Candidate,
            State::Forgotten => Status::Forgotten,
            State::Trashed => Status::Trashed,
            State::Active if row.valid.from > valid => Status::Upcoming,
            State::Active if row.valid.until > valid => Status::Active,
            State::Active => {
                let follows = self.rows.iter().any(|next| {
                    next.fact == row.fact
                        && next.state == State::Active
                        && next.valid.from >= row.valid.until
                        && is_known(next, known)
                });
                if follows { Status::Superseded } else { Status::Expired }
            }
        }
    }
}

/// Whether a row was known at an instant; without one, whether it is known now.
pub fn is_known(row: &Row, at: Option<i64>) -> bool {
    at.map_or(row.open(), |at| row.known.holds(at))
}
