//! What an export holds, and what must be true of one before it is taken in again.
//!
//! An export is a handful of files that a person can read with any editor: JSON lines, one file for
//! each kind of thing, and a manifest that says how long each file is and what it hashes to. This room
//! knows the files' names and their rules; packing them and reading rows is done elsewhere.
//!
//! A file that comes back may have been written by anybody. [`faults`] finds what the record could not
//! hold, [`screen`] leaves out secrets and lowers what is not trusted to an import, [`as_said_by`] takes
//! away whatever trust the one who brings it does not have.

mod check;
mod untrusted;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::caller::{Caller, CallerKind};
use crate::domain::Domain;
use crate::episode::Episode;
use crate::fact::Version;
use crate::id::FactId;
use crate::link::Link;
use crate::operation::Operation;
use crate::session::{Session, Turn};
use crate::state_hash::StateHash;
use crate::time::Timestamp;

pub use check::{CLOCK_TOLERANCE, faults};
pub use untrusted::{Lowering, lower_version, screen};

/// What a manifest says it is of.
pub const FORMAT: &str = "lukasa-export";
/// The version of the files' form. A reader refuses one that it does not know.
pub const VERSION: u32 = 1;

pub const MANIFEST: &str = "manifest.json";
pub const README: &str = "README.md";
pub const MEMORIES: &str = "memories.jsonl";
pub const TRASH: &str = "trash.jsonl";
pub const LINKS: &str = "links.jsonl";
pub const OPERATIONS: &str = "operations.jsonl";
pub const EPISODES: &str = "episodes.jsonl";
pub const SESSIONS: &str = "sessions.jsonl";
pub const TURNS: &str = "turns.jsonl";
pub const USAGE: &str = "usage.jsonl";
pub const POLICY: &str = "policy.json";
pub const DOMAINS: &str = "domains.json";
/// Where the pages for people are.
pub const MARKDOWN: &str = "markdown/";

/// The first thing a person opens.
pub const README_TEXT: &str = "\
# Your memory

This is everything that Lukasa keeps about you, in files that need no special program.

Start with the folder `markdown/`: it says in plain words what is remembered now.

The other files hold the same and more, for programs. In a `.jsonl` file every line is one thing:

- `memories.jsonl`: every version of every memory there ever was, also those that were changed or
  forgotten. `claim` is what it says; `valid` is when it holds in the world; `known` is when Lukasa
  held it. A version whose `known.until` is empty is how the memory stands now.
- `trash.jsonl`: the same for memories that lie in the trash.
- `links.jsonl`: which memories belong together, and how.
- `operations.jsonl`: everything that was ever done to the memories, by whom and when.
- `sessions.jsonl` and `turns.jsonl`: your conversations, and what was said in them.
- `episodes.jsonl`: what happened in a conversation, in a sentence or two.
- `usage.jsonl`: which memories were used, when and how.
- `policy.json`: what may happen without asking you. `domains.json`: which areas you have opened.
- `manifest.json`: how long each file is and its SHA-256, so that damage can be found, signed by the
  server that wrote it.

To check the files: `lukasa export --verify FILE.zip`
To put everything back: `lukasa import FILE.zip`; on another server: `lukasa import --trust FILE.zip`

What was erased is not in here, and will not come back.
";

/// How much is in a file, and what it hashes to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSum {
    pub bytes: u64,
    pub lines: u64,
    /// As hexadecimal digits.
    pub sha256: String,
}

/// A signature over a file, by the installation that wrote it. Both fields are in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSignature {
    /// The Ed25519 key.
    pub public_key: String,
    pub value: String,
}

/// The table of contents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub format: String,
    pub version: u32,
    pub exported_at: Timestamp,
    /// What the memory hashed to: taken in somewhere empty, it hashes to the same.
    pub state: StateHash,
    pub files: BTreeMap<String, FileSum>,
    /// By the installation that exported it, for the user it is of; over the rest of the manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<FileSignature>,
}

impl Manifest {
    pub fn of(exported_at: Timestamp, state: StateHash, files: BTreeMap<String, FileSum>) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            exported_at,
            state,
            files,
            signature: None,
        }
    }

    /// Where the files that were found differ from what the manifest says of them.
    pub fn differences(&self, found: &BTreeMap<String, FileSum>) -> Vec<String> {
        let mut faults = Vec::new();
        if self.format != FORMAT || self.version != VERSION {
            faults
                .push(format!("{} {} is not a form that is known here", self.format, self.version));
        }
        for (name, sum) in &self.files {
            match found.get(name) {
                None => faults.push(format!("{name} is missing")),
                Some(here) if here != sum => faults.push(format!("{name} has been changed")),
                Some(_) => {}
            }
        }
        let stray = found.keys().filter(|name| !self.files.contains_key(*name));
        faults.extend(stray.map(|name| format!("{name} is not in the manifest")));
        faults
    }
}

/// A domain as an export names it, and since when its person has it open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DomainLine {
    #[serde(flatten)]
    pub domain: Domain,
    pub opted_in_at: Option<Timestamp>,
}

/// What an export holds of the record.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Contents {
    /// Every version of every fact, also of those in the trash.
    pub versions: Vec<Version>,
    pub links: Vec<Link>,
    pub operations: Vec<Operation>,
    pub episodes: Vec<Episode>,
    pub sessions: Vec<Session>,
    pub turns: Vec<Turn>,
}

impl Contents {
    pub fn facts(&self) -> BTreeSet<FactId> {
        self.versions.iter().map(|version| version.fact).collect()
    }
}

/// The same, trusted no further than whoever brings it: no origin above their own, and a person's yes
/// only from a person.
pub fn as_said_by(contents: &mut Contents, caller: &Caller) {
    let (most, human) = (caller.voice.origin, caller.kind == CallerKind::Human);
    for version in &mut contents.versions {
        version.origin = version.origin.min(most);
        if !human {
            version.consented_at = None;
        }
    }
    for operation in &mut contents.operations {
        operation.voice.origin = operation.voice.origin.min(most);
    }
    for episode in &mut contents.episodes {
        episode.origin = episode.origin.min(most);
    }
    for turn in &mut contents.turns {
        turn.origin = turn.origin.min(turn.role.origin(most));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::tests::version;
    use crate::id::TenantId;
    use crate::origin::{Origin, Voice};

    fn sums(sha256: &str) -> BTreeMap<String, FileSum> {
        let sum = FileSum { bytes: 3, lines: 1, sha256: sha256.into() };
        BTreeMap::from([(MEMORIES.to_owned(), sum)])
    }

    #[test]
    fn a_changed_missing_or_stray_file_is_found() {
        let state = crate::StateHash {
            memories: String::new(),
            episodes: String::new(),
            sessions: String::new(),
        };
        let manifest = Manifest::of(Timestamp::UNIX_EPOCH, state, sums("a"));
        assert!(manifest.differences(&sums("a")).is_empty());
        assert_eq!(manifest.differences(&sums("b")), ["memories.jsonl has been changed"]);
        assert_eq!(manifest.differences(&BTreeMap::new()), ["memories.jsonl is missing"]);
        let mut more = sums("a");
        more.insert("x".into(), FileSum::default());
        assert_eq!(manifest.differences(&more), ["x is not in the manifest"]);
        let other = Manifest { version: 2, ..manifest };
        assert_eq!(other.differences(&sums("a")).len(), 1);
    }

    #[test]
    fn nobody_brings_more_trust_than_they_have() {
        let mut said = version(Voice::stated(Origin::UserSaid));
        said.consented_at = Some(said.known.from);
        let contents = Contents { versions: vec![said.clone()], ..Contents::default() };
        let tenant = TenantId::named("a");
        let mut own = contents.clone();
        as_said_by(&mut own, &Caller::human(tenant, "alice", "local"));
        assert_eq!(own.versions, [said]);
        let mut brought = contents;
        as_said_by(&mut brought, &Caller::key(tenant, "alice", "k", Origin::Tool));
        assert_eq!(brought.versions[0].origin, Origin::Tool);
        assert_eq!(brought.versions[0].consented_at, None);
    }
}
