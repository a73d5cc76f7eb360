//! Finds the expressions of time in a message: "last month", "since 2021", "vor drei Tagen".
//!
//! A pure parser: the current instant and the user's time zone are arguments. Its results are hints
//! for the search and are never stored. English is parsed by a small grammar, the most common forms
//! of German, Spanish, French, Chinese and Japanese by tables. Times of day ("at 3pm") are ignored:
//! memories are found by the day.
//!
//! A name without its year ("in May", "on Monday") means the most recent such period that began no
//! later than now, and is approximate; a plan "for Friday" means the next one. Weeks begin on
//! Monday, days in the user's time zone.

mod calendar;
mod counts;
mod dates;
mod english;
mod han;
mod languages;
mod today;
mod tokens;

use calendar::Span;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use crate::period::Period;

pub use today::is_about_today;

/// Whether the words are unambiguous about the period they mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exactness {
    Exact,
    Approximate,
}

/// An expression of time in a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mention {
    /// The expression as written, with its preposition.
    pub words: String,
    /// The period it means. One without a beginning starts with the year 1.
    pub period: Period,
    pub certainty: Exactness,
}

/// The interpretation of one part of the message, with its byte range.
#[derive(Debug, Clone, Copy)]
struct Reading {
    start: usize,
    end: usize,
    /// `None` if the words are known not to be an expression of time, as in "guten Morgen".
    span: Option<Span>,
}

/// How much of a text is parsed, in characters: the maximum length of a memory. A longer query
/// mentions its time at the beginning or not at all.
const READ_CHARS: usize = 2_000;

/// The expressions of time at the beginning of `text`, in the order they are written. Where two
/// overlap the longer one is kept.
pub fn mentions(text: &str, now: Timestamp, zone: &TimeZone) -> Vec<Mention> {
    let end = text.char_indices().nth(READ_CHARS).map_or(text.len(), |(at, _)| at);
    let text = &text[..end];
    let local = now.to_zoned(zone.clone()).datetime();
    let tokens = tokens::tokens(text);
    let mut readings = english::readings(&tokens, local);
    readings.extend(languages::readings(&tokens, local));
    readings.extend(han::readings(text, local.date()));
    longest(readings)
        .into_iter()
        .filter_map(|reading| {
            let span = reading.span?;
            let words = text.get(reading.start..reading.end)?.to_owned();
            Some(Mention { words, period: span.period(zone)?, certainty: span.exactness })
        })
        .collect()
}

fn longest(mut readings: Vec<Reading>) -> Vec<Reading> {
    readings.sort_by_key(|reading| (std::cmp::Reverse(reading.end - reading.start), reading.start));
    let mut taken = std::collections::BTreeMap::new();
    for reading in readings {
        // Accepted readings never overlap, so only the nearest neighbour can overlap with this one.
        let before = taken.range(..reading.end).next_back();
        if before.is_none_or(|(_, other): (_, &Reading)| other.end <= reading.start) {
            taken.insert(reading.start, reading);
        }
    }
    taken.into_values().collect()
}

#[cfg(test)]
mod tests;
