//! What other programs have remembered, and what may become of it here.
//!
//! One file for each form: [`mem0`], [`mcp`], [`chatgpt`], [`claude`], [`basic_memory`] and plain
//! [`lines`]. Each turns text into [`Item`]s and never fails: what cannot be read is counted and left.
//! [`judge`] then decides about each memory by its words alone. Whoever wrote the file is not believed:
//! everything comes in with the least trusted origin, and may replace nothing.

pub mod basic_memory;
pub mod chatgpt;
pub mod claude;
mod judge;
pub mod lines;
pub mod mcp;
pub mod mem0;
mod reading;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::fact::{Category, Kind, words};
use crate::id::derived;
use crate::session::Role;
use crate::time::Timestamp;

pub use judge::{Left, Verdict, judge};

words!(
    /// Where something was taken in from.
    Format {
        Lukasa = "lukasa",
        Mem0 = "mem0",
        Mcp = "mcp",
        ChatGpt = "chatgpt",
        Claude = "claude",
        BasicMemory = "basic-memory",
        Lines = "jsonl",
    }
);

/// One thing to take in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "item", rename_all = "snake_case")]
pub enum Item {
    Memory(MemoryItem),
    Link(LinkItem),
    Chat(ChatItem),
}

/// A memory as another program has it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryItem {
    /// The other program's own name for it. The same name again is the same memory.
    pub source: String,
    pub content: String,
    /// What belongs to it and is too long for a line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Since when it was remembered there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

/// Two memories that belong together, by the names the other program has for them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkItem {
    pub from: String,
    pub to: String,
    pub relation: String,
}

/// A conversation, or a stretch of one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatItem {
    /// The other program's own name for it.
    pub source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened_at: Option<Timestamp>,
    /// How many turns of it come before these.
    #[serde(default)]
    pub before: usize,
    pub turns: Vec<ChatTurn>,
    /// Whether these are its last turns, so that it can be closed.
    #[serde(default)]
    pub last: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatTurn {
    pub role: Role,
    pub content: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said_at: Option<Timestamp>,
}

/// What was read, and how many entries could not be.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parsed {
    pub items: Vec<Item>,
    pub unread: usize,
}

impl Parsed {
    pub(crate) fn memory(&mut self, item: MemoryItem) {
        self.items.push(Item::Memory(item));
    }

    /// A chat with something said in it; one without is nothing to keep.
    pub(crate) fn chat(&mut self, item: ChatItem) {
        if item.turns.is_empty() {
            self.unread += 1;
        } else {
            self.items.push(Item::Chat(item));
        }
    }

    pub fn append(&mut self, other: Parsed) {
        self.items.extend(other.items);
        self.unread += other.unread;
    }
}

/// What became of what was taken in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Counts {
    /// Memories that are new.
    pub memories: usize,
    /// Memories that wait for their person's yes.
    pub proposals: usize,
    /// What was here already, or was here once and has been put away.
    pub known: usize,
    pub links: usize,
    pub episodes: usize,
    pub chats: usize,
    pub turns: usize,
    /// Left out because they look like a secret.
    pub secrets: usize,
    /// Left out for another reason: empty, too long, or in a domain that is shut.
    pub left_out: usize,
}

impl Counts {
    pub fn add(&mut self, other: &Counts) {
        self.memories += other.memories;
        self.proposals += other.proposals;
        self.known += other.known;
        self.links += other.links;
        self.episodes += other.episodes;
        self.chats += other.chats;
        self.turns += other.turns;
        self.secrets += other.secrets;
        self.left_out += other.left_out;
    }

    /// Whether anything came of it that was not here before.
    pub fn is_news(&self) -> bool {
        self.memories + self.proposals + self.links + self.episodes + self.chats + self.turns > 0
    }
}

/// The name under which it is remembered that a thing was taken in. It says nothing about the thing.
pub fn item_id(format: Format, kind: &str, source: &str) -> Uuid {
    derived("item", &[format.as_str().as_bytes(), kind.as_bytes(), source.as_bytes()])
}

/// The name of the session that a conversation becomes.
pub fn session_name(format: Format, source: &str) -> String {
    let short: String = source.chars().filter(|c| !c.is_control()).take(200).collect();
    format!("{}:{short}", format.as_str())
}

#[cfg(test)]
mod garbage;
