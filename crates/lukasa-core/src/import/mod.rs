//! Import of memories and conversations from other programs.
//!
//! One file per format: [`mem0`], [`mcp`], [`chatgpt`], [`claude`], [`basic_memory`] and plain
//! [`lines`]. Each parses text into [`ImportItem`]s and never fails: unreadable entries are counted
//! and skipped. [`judge`] then decides about each memory by its words alone. The file is untrusted:
//! everything gets the least trusted origin and may replace nothing.

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

use crate::fact::{Category, Kind};
use crate::id::derived;
use crate::session::Role;
use crate::time::Timestamp;
use crate::words;

pub use judge::{ImportVerdict, SkipReason, judge};

words!(
    /// The format of an imported file.
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

/// One entry to import.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "item", rename_all = "snake_case")]
pub enum ImportItem {
    Memory(MemoryItem),
    Link(LinkItem),
    Chat(ChatItem),
}

/// A memory of another program.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryItem {
    /// The other program's id for it. The same id again is the same memory.
    pub source: String,
    pub content: String,
    /// Longer text that belongs to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<Category>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// When it was stored there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

/// A link between two memories, by the other program's ids.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkItem {
    pub from: String,
    pub to: String,
    pub relation: String,
}

/// A conversation, or a range of its turns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatItem {
    /// The other program's id for it.
    pub source: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opened_at: Option<Timestamp>,
    /// How many turns of the conversation precede these.
    #[serde(default)]
    pub before: usize,
    pub turns: Vec<ChatTurn>,
    /// Whether these are its last turns, so that the session can be closed.
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

/// The parsed entries, and the number of unreadable ones.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ParsedImport {
    pub items: Vec<ImportItem>,
    pub unread: usize,
}

impl ParsedImport {
    pub(crate) fn memory(&mut self, item: MemoryItem) {
        self.items.push(ImportItem::Memory(item));
    }

    /// Adds a conversation; one without turns counts as unreadable.
    pub(crate) fn chat(&mut self, item: ChatItem) {
        if item.turns.is_empty() {
            self.unread += 1;
        } else {
            self.items.push(ImportItem::Chat(item));
        }
    }

    pub fn append(&mut self, other: ParsedImport) {
        self.items.extend(other.items);
        self.unread += other.unread;
    }
}

/// Result counts of an import.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ImportCounts {
    /// New memories.
    pub memories: usize,
    /// Memories that wait for the user's consent.
    pub proposals: usize,
    /// Memories that already exist, or existed and were removed.
    pub known: usize,
    pub links: usize,
    pub episodes: usize,
    pub chats: usize,
    pub turns: usize,
    pub observations: usize,
    /// Left out because they look like a secret.
    pub secrets: usize,
    /// Left out for another reason: empty, too long, or in a closed domain.
    pub left_out: usize,
}

impl ImportCounts {
    pub fn add(&mut self, other: &ImportCounts) {
        self.memories += other.memories;
        self.proposals += other.proposals;
        self.known += other.known;
        self.links += other.links;
        self.episodes += other.episodes;
        self.chats += other.chats;
        self.turns += other.turns;
        self.observations += other.observations;
        self.secrets += other.secrets;
        self.left_out += other.left_out;
    }

    /// Whether the import added anything new.
    pub fn added_anything(&self) -> bool {
        let talk = self.episodes + self.chats + self.turns + self.observations;
        self.memories + self.proposals + self.links + talk > 0
    }
}

/// The id under which an imported entry is recorded. It is a digest and reveals nothing about the
/// entry.
pub fn item_id(format: Format, kind: &str, source: &str) -> Uuid {
    derived("item", &[format.as_str().as_bytes(), kind.as_bytes(), source.as_bytes()])
}

/// The session name of an imported conversation.
pub fn session_name(format: Format, source: &str) -> String {
    let short: String = source.chars().filter(|c| !c.is_control()).take(200).collect();
    format!("{}:{short}", format.as_str())
}

#[cfg(test)]
mod garbage;
