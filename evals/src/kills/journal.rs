//! Requests, answers, and the state that follows from them.
//!
//! The journal is kept in this process, which is not killed. An acknowledged entry was answered
//! with a 2xx over HTTP.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use lukasa_core::{FactId, OperationId, TenantId, UserId, VersionId};
use serde_json::Value;
use uuid::Uuid;

use super::expectation::Expectation;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    Save,
    Change,
    Correct,
    Forget,
    Delete,
    Restore,
    Undo,
}

/// The contents of an acknowledgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ack {
    pub operation: Option<OperationId>,
    pub memory: Option<Shown>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    pub fact: FactId,
    pub version: VersionId,
    pub content: String,
    pub status: String,
}

impl Ack {
    /// Reads an answer to a write; `None` if it does not have the shape of one.
    pub fn read(body: &Value) -> Option<Self> {
        let operation = match &body.get("event")?["operation_id"] {
            Value::Null => None,
            id => Some(id.as_str()?.parse().ok()?),
        };
        let memory = match body.get("memory")? {
            Value::Null => None,
            memory => Some(Shown {
                fact: memory["id"].as_str()?.parse().ok()?,
                version: memory["version_id"].as_str()?.parse().ok()?,
                content: memory["content"].as_str()?.to_owned(),
                status: memory["status"].as_str()?.to_owned(),
            }),
        };
        Some(Self { operation, memory })
    }
}

/// The outcome of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// Not settled yet.
    Open,
    Acknowledged {
        ack: Ack,
        /// Number of kills by then.
        kills: u64,
    },
    /// A 4xx: it must have had no effect. Unless an earlier attempt was still in progress: a
    /// refusal is not stored under the key, so that attempt may still find the memory in another
    /// state.
    Refused { in_doubt: bool },
    /// Its client gave up without an answer: it may have been done, once.
    Abandoned,
}

#[derive(Debug, Clone)]
pub struct Entry {
    pub key: String,
    pub verb: Verb,
    /// The content it saves, which occurs in no other request.
    pub content: Option<String>,
    pub fate: Fate,
}

/// Everything about one user.
pub struct UserLog {
    pub name: String,
    pub id: Uuid,
    pub entries: Vec<Entry>,
    /// The expected view; only for a user who belongs to one client.
    pub expectation: Option<Expectation>,
    /// Whether there were requests since the last check.
    pub touched: bool,
}

/// Kinds of violations, as named in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wrong {
    Lost,
    Doubled,
    AnswerMissing,
    Torn,
    Gap,
    Overlap,
    TwoHeads,
    Order,
    OtherAnswer,
    OtherState,
    Refused,
    Stuck,
}

impl Wrong {
    pub const ALL: [(Self, &'static str); 12] = [
        (Self::Lost, "lost"),
        (Self::Doubled, "doubled"),
        (Self::AnswerMissing, "stored answers missing"),
        (Self::Torn, "torn"),
        (Self::Gap, "gaps"),
        (Self::Overlap, "overlaps"),
        (Self::TwoHeads, "double heads"),
        (Self::Order, "out of order"),
        (Self::OtherAnswer, "answers that changed"),
        (Self::OtherState, "states not as acknowledged"),
        (Self::Refused, "refused without reason"),
        (Self::Stuck, "never answered"),
    ];
}

/// Violations, counted by kind, the first ones of each with a description.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    pub counts: BTreeMap<Wrong, u64>,
    pub words: Vec<String>,
}

/// Number of violations of one kind that are described.
const MAX_DESCRIBED: u64 = 4;

impl Findings {
    pub fn add(&mut self, wrong: Wrong, words: impl FnOnce() -> String) {
        let count = self.counts.entry(wrong).or_default();
        *count += 1;
        if *count <= MAX_DESCRIBED {
            let name = Wrong::ALL.iter().find(|(kind, _)| *kind == wrong).map_or("", |(_, n)| *n);
            self.words.push(format!("{name}: {}", words()));
        }
    }

    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    pub fn merge(&mut self, other: Self) {
        for (wrong, count) in other.counts {
            *self.counts.entry(wrong).or_default() += count;
        }
        self.words.extend(other.words);
    }
}

/// Counters shared by many tasks.
#[derive(Default)]
pub struct Tally {
    pub kills: AtomicU64,
    pub acknowledged: AtomicU64,
    pub refused: AtomicU64,
    pub abandoned: AtomicU64,
    pub retries: AtomicU64,
    /// Attempts whose outcome the client could not know: sent, and no answer or a 5xx.
    pub unknown: AtomicU64,
    pub unavailable: AtomicU64,
    pub internal: AtomicU64,
    pub resent: AtomicU64,
    /// Retries that were answered with the result of an earlier, unanswered attempt. Each of them
    /// would have been a duplicate.
    pub spared: AtomicU64,
}

pub fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

pub fn read(counter: &AtomicU64) -> u64 {
    counter.load(Ordering::Relaxed)
}

#[derive(Default)]
pub struct Journal {
    users: Mutex<Vec<UserLog>>,
    /// Violations seen by the clients themselves.
    seen: Mutex<Findings>,
    pub tally: Tally,
}

impl Journal {
    pub fn users(&self) -> MutexGuard<'_, Vec<UserLog>> {
        self.users.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn seen(&self) -> MutexGuard<'_, Findings> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a user and returns the user's number.
    pub fn add_user(&self, name: String, private: bool) -> usize {
        let id = UserId::named(TenantId::named("local"), &name).uuid();
        let expectation = private.then(Expectation::default);
        let mut users = self.users();
        users.push(UserLog { name, id, entries: Vec::new(), expectation, touched: true });
        users.len() - 1
    }

    /// Records that a request is about to be sent, and returns its number.
    pub fn issue(&self, user: usize, key: &str, verb: Verb, content: Option<String>) -> usize {
        let mut users = self.users();
        let log = &mut users[user];
        log.touched = true;
        log.entries.push(Entry { key: key.to_owned(), verb, content, fate: Fate::Open });
        log.entries.len() - 1
    }

    pub fn settle(&self, user: usize, entry: usize, fate: Fate) {
        match &fate {
            Fate::Acknowledged { .. } => count(&self.tally.acknowledged),
            Fate::Refused { .. } => count(&self.tally.refused),
            Fate::Abandoned => count(&self.tally.abandoned),
            Fate::Open => {}
        }
        self.users()[user].entries[entry].fate = fate;
    }
}
