//! The export format, and the checks before an export is imported.
//!
//! An export is a set of files that can be read with any editor: JSON lines, one file per kind of
//! row, and a manifest with the length and hash of each file. This module knows the file names and
//! their rules; packing files and reading rows is done elsewhere.
//!
//! An imported file is untrusted. [`faults`] finds what cannot be stored, [`screen`] leaves out
//! secrets and lowers untrusted content to the import origin, [`limit_trust`] caps origin and
//! consent at what the caller may assert.

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
use crate::observation::Observation;
use crate::operation::Operation;
use crate::session::{Session, Turn};
use crate::state_hash::StateHash;
use crate::time::Timestamp;

pub use check::{CLOCK_TOLERANCE, faults};
pub use untrusted::{
    CREDENTIAL_PREFIX, Lowering, ScreenedOut, lower_version, screen, screen_episode,
};

/// The `format` field of a manifest.
pub const FORMAT: &str = "lukasa-export";
/// The version of the file format. A reader refuses versions it does not know.
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
pub const OBSERVATIONS: &str = "observations.jsonl";
pub const USAGE: &str = "usage.jsonl";
pub const POLICY: &str = "policy.json";
pub const DOMAINS: &str = "domains.json";
/// The folder with the human-readable pages.
pub const MARKDOWN: &str = "markdown/";

/// The README inside an export.
pub const README_TEXT: &str = "\
# Your memory

This is everything that Lukasa keeps about you, in files that need no special program.

Start with the folder `markdown/`: it says in plain words what is remembered now.

The other files hold the same and more, for programs. In a `.jsonl` file every line is one thing:

- `memories.jsonl`: every version of every memory there ever was, also those that were changed or
  forgotten. `claim` is what it says; `valid` is when it holds in the world; `known` is when Lukasa
  held it. A version whose `known.until` is empty is the current one.
- `trash.jsonl`: the same for memories in the trash.
- `links.jsonl`: which memories belong together, and how.
- `operations.jsonl`: everything that was ever done to the memories, by whom and when.
- `sessions.jsonl` and `turns.jsonl`: your conversations, and what was said in them.
- `episodes.jsonl`: what happened in a conversation, in a sentence or two.
- `observations.jsonl`: what other programs have recorded about you.
- `usage.jsonl`: which memories were used, when and how.
- `policy.json`: what may happen without asking you. `domains.json`: which areas you have opened.
- `manifest.json`: how long each file is and its SHA-256, so that damage can be found, signed by the
  server that wrote it.

To check the files: `lukasa export --verify FILE.zip`
To put everything back: `lukasa import FILE.zip`; on another server: `lukasa import --trust FILE.zip`

Erased memories are not included and cannot be restored. The digests by which the server knows which
patterns in observations it has noted are not included either: only that server can use them.
";

/// Size and hash of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSum {
    pub bytes: u64,
    pub lines: u64,
    /// In hexadecimal.
    pub sha256: String,
}

/// A signature over a file, by the installation that wrote it. Both fields are in hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSignature {
    /// The Ed25519 key.
    pub public_key: String,
    pub value: String,
}

/// The table of contents of an export.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    pub format: String,
    pub version: u32,
    pub exported_at: Timestamp,
    /// Hash of the exported state: imported into an empty memory, it gives the same hash.
    pub state: StateHash,
    pub files: BTreeMap<String, FileSum>,
    /// Made by the exporting installation, for the exported user; covers the rest of the manifest.
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

    /// Differences between the files found and the manifest.
    pub fn differences(&self, found: &BTreeMap<String, FileSum>) -> Vec<String> {
        let mut faults = Vec::new();
        if self.format != FORMAT || self.version != VERSION {
            faults.push(format!("unknown export format: {} {}", self.format, self.version));
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

/// A domain in an export, and since when the user has opted in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DomainLine {
    #[serde(flatten)]
    pub domain: Domain,
    pub opted_in_at: Option<Timestamp>,
    /// Whether the user lets memories that are inferred about it be used without asking.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub admits_inferred: bool,
}

/// The rows of an export.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Contents {
    /// Every version of every fact, including those in the trash.
    pub versions: Vec<Version>,
    pub links: Vec<Link>,
    pub operations: Vec<Operation>,
    pub episodes: Vec<Episode>,
    pub sessions: Vec<Session>,
    pub turns: Vec<Turn>,
    pub observations: Vec<Observation>,
}

impl Contents {
    pub fn facts(&self) -> BTreeSet<FactId> {
        self.versions.iter().map(|version| version.fact).collect()
    }
}

/// Limits the trust in an export to that of the caller: no origin above the caller's own, and
/// consent only if the caller is a human.
pub fn limit_trust(contents: &mut Contents, caller: &Caller) {
    let (max_origin, human) = (caller.voice.origin, caller.kind == CallerKind::Human);
    for version in &mut contents.versions {
        version.origin = version.origin.min(max_origin);
        if !human {
            version.consented_at = None;
        }
    }
    for operation in &mut contents.operations {
        operation.voice.origin = operation.voice.origin.min(max_origin);
    }
    for episode in &mut contents.episodes {
        episode.origin = episode.origin.min(max_origin);
    }
    for turn in &mut contents.turns {
        turn.origin = turn.origin.min(turn.role.origin(max_origin));
    }
    for observation in &mut contents.observations {
        observation.origin = observation.origin.min(max_origin);
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
    fn manifest_finds_changed_missing_and_stray_files() {
        let state = crate::StateHash {
            memories: String::new(),
            episodes: String::new(),
            sessions: String::new(),
            observations: String::new(),
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
    fn import_trust_is_limited_to_the_callers() {
        let mut said = version(Voice::stated(Origin::UserSaid));
        said.consented_at = Some(said.known.from);
        let contents = Contents { versions: vec![said.clone()], ..Contents::default() };
        let tenant = TenantId::named("a");
        let mut own = contents.clone();
        limit_trust(&mut own, &Caller::human(tenant, "alice", "local"));
        assert_eq!(own.versions, [said]);
        let mut from_key = contents;
        limit_trust(&mut from_key, &Caller::key(tenant, "alice", "k", Origin::Tool));
        assert_eq!(from_key.versions[0].origin, Origin::Tool);
        assert_eq!(from_key.versions[0].consented_at, None);
    }
}
