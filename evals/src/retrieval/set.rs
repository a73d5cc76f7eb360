//! The common shape of a data set: users, their turns and memories, and questions with known
//! answers.

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
pub struct DataTurn {
    pub session: usize,
    /// By the user or by the assistant.
    pub by_user: bool,
    pub speaker: Option<String>,
    pub text: String,
    pub at: Timestamp,
}

/// One memory that should be stored according to the data set.
#[derive(Debug, Clone)]
pub struct DataMemory {
    pub session: usize,
    pub text: String,
    pub at: Timestamp,
}

#[derive(Debug, Clone)]
pub struct Question {
    pub text: String,
    /// The units that answer it, by their index.
    pub gold: Vec<usize>,
    pub category: String,
    /// 0: the tuning half; 1: the held-out half.
    pub half: usize,
    /// Asked at this moment, when only memories of the sessions before this one existed.
    pub before: Option<(usize, Timestamp)>,
}

/// A separate user: no data of one user is a candidate for another's question.
#[derive(Debug, Clone)]
pub struct DataUser {
    pub name: String,
    pub sessions: usize,
    pub turns: Vec<DataTurn>,
    pub memories: Vec<DataMemory>,
    pub questions: Vec<Question>,
}

impl DataUser {
    /// Number of memories a question may choose from: they are in the order of their sessions.
    pub fn pool(&self, question: &Question) -> usize {
        let Some((session, _)) = question.before else { return usize::MAX };
        self.memories.partition_point(|data_memory| data_memory.session < session)
    }

    /// The documents of a keyword baseline: the text of every unit, empty where it is not a candidate.
    pub fn documents(&self, unit: Unit, only_user: bool) -> Vec<String> {
        match unit {
            Unit::Memory => {
                self.memories.iter().map(|data_memory| data_memory.text.clone()).collect()
            }
            Unit::Turn => {
                self.turns.iter().map(|data_turn| data_turn.document(only_user)).collect()
            }
            Unit::Session => {
                let mut sessions = vec![String::new(); self.sessions];
                for data_turn in &self.turns {
                    let text = data_turn.document(only_user);
                    sessions[data_turn.session].push_str(&text);
                    sessions[data_turn.session].push('\n');
                }
                sessions
            }
        }
    }
}

impl DataTurn {
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
    /// Whether only the user's turns are candidates.
    pub only_user: bool,
    pub users: Vec<DataUser>,
}

impl Set {
    pub fn questions(&self) -> usize {
        self.users.iter().map(|data_user| data_user.questions.len()).sum()
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
