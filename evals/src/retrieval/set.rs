//! What a data set is to this eval: people, what they said and what is kept about them, and
//! questions whose right answers are known.

use std::path::Path;

use anyhow::{Context, Result};
use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// What a question is to find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Turn,
    Session,
    Memory,
}

/// One message.
#[derive(Debug, Clone)]
pub struct Said {
    pub session: usize,
    /// By the person or by the assistant.
    pub by_user: bool,
    pub speaker: Option<String>,
    pub text: String,
    pub at: Timestamp,
}

/// One memory that the data set says should be kept.
#[derive(Debug, Clone)]
pub struct Kept {
    pub session: usize,
    pub text: String,
    pub at: Timestamp,
}

#[derive(Debug, Clone)]
pub struct Question {
    pub text: String,
    /// Which units answer it, by their index.
    pub gold: Vec<usize>,
    pub category: String,
    /// 0: the half that settings may be tuned on; 1: the half held out.
    pub half: usize,
    /// Asked as if at this moment, when only memories of the sessions before this one were there.
    pub before: Option<(usize, Timestamp)>,
}

/// A user of their own: nothing of one person is a candidate for another's question.
#[derive(Debug, Clone)]
pub struct Person {
    pub name: String,
    pub sessions: usize,
    pub turns: Vec<Said>,
    pub memories: Vec<Kept>,
    pub questions: Vec<Question>,
}

impl Person {
    /// How many memories a question may choose from: they are in the order of their sessions.
    pub fn pool(&self, question: &Question) -> usize {
        let Some((session, _)) = question.before else { return usize::MAX };
        self.memories.partition_point(|kept| kept.session < session)
    }

    /// What a keyword baseline reads: the text of every unit, empty where it is no candidate.
    pub fn documents(&self, unit: Unit, only_user: bool) -> Vec<String> {
        match unit {
            Unit::Memory => self.memories.iter().map(|kept| kept.text.clone()).collect(),
            Unit::Turn => self.turns.iter().map(|said| said.document(only_user)).collect(),
            Unit::Session => {
                let mut sessions = vec![String::new(); self.sessions];
                for said in &self.turns {
                    let text = said.document(only_user);
                    sessions[said.session].push_str(&text);
                    sessions[said.session].push('\n');
                }
                sessions
            }
        }
    }
}

impl Said {
    fn document(&self, only_user: bool) -> String {
        match (&self.speaker, only_user && !self.by_user) {
            (_, true) => String::new(),
            (Some(speaker), _) => format!("{speaker}: {}", self.text),
            (None, _) => self.text.clone(),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Set {
    pub name: &'static str,
    pub unit: Unit,
    /// Whether only what the person said is a candidate.
    pub only_user: bool,
    pub people: Vec<Person>,
}

impl Set {
    pub fn questions(&self) -> usize {
        self.people.iter().map(|person| person.questions.len()).sum()
    }
}

/// The JSON of a file.
pub fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T> {
    let place = || path.display().to_string();
    let bytes = std::fs::read(path).with_context(place)?;
    serde_json::from_slice(&bytes).with_context(place)
}

/// Midnight of a day, in UTC.
pub fn midnight(date: Date) -> Result<Timestamp> {
    Ok(date.to_zoned(TimeZone::UTC)?.timestamp())
}

/// The month of an English name.
pub fn month(name: &str) -> Option<i8> {
    const MONTHS: [&str; 12] = [
        "january",
        "february",
        "march",
        "april",
        "may",
        "june",
        "july",
        "august",
        "september",
        "october",
        "november",
        "december",
    ];
    let at = MONTHS.iter().position(|month| name.eq_ignore_ascii_case(month))?;
    i8::try_from(at + 1).ok()
}
