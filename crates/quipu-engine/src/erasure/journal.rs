//! The erasure journal: a file beside the database, in which every erasure is written down before it
//! is done. A backup that is restored brings back what was erased since; the journal says what has to
//! go again. It holds ids and times and nothing of what was erased.
//!
//! One line for each erasure, only ever appended:
//! `<when> <tenant> <user> <memory, turn, or -> <erasure> <first eight characters of the line's SHA-256>`

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use quipu_core::{ErasureId, FactId, TenantId, Timestamp, TurnId, UserId};
use quipu_store::Scope;
use quipu_store::erasure::{Erasure, Known};
use sha2::{Digest, Sha256};

/// One erasure, as the journal holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub at: Timestamp,
    pub tenant: TenantId,
    pub user: UserId,
    /// The memory or the turn that was erased; neither if everything about the user was.
    pub fact: Option<FactId>,
    pub turn: Option<TurnId>,
    pub id: ErasureId,
}

impl Entry {
    pub(crate) fn of(scope: &Scope, erasure: &Erasure) -> Self {
        Self {
            at: erasure.erased_at,
            tenant: scope.tenant(),
            user: scope.user(),
            fact: erasure.fact,
            turn: erasure.turn,
            id: erasure.id,
        }
    }

    fn print(&self) -> String {
        let what = self.fact.map(|fact| fact.to_string());
        let what = what.or_else(|| self.turn.map(|turn| turn.to_string()));
        let what = what.unwrap_or_else(|| "-".to_owned());
        let said = format!("{} {} {} {what} {}", self.at, self.tenant, self.user, self.id);
        format!("{said} {}\n", digest(&said))
    }

    fn parse(line: &str) -> Option<Self> {
        let (said, sum) = line.rsplit_once(' ')?;
        if digest(said) != sum {
            return None;
        }
        let mut words = said.split(' ');
        let mut next = || words.next();
        let (at, tenant) = (next()?.parse().ok()?, next()?.parse().ok()?);
        let user = next()?.parse().ok()?;
        let what = next()?;
        // The prefix of an id says what it is of.
        let (fact, turn) = (what.parse().ok(), what.parse().ok());
        let known = what == "-" || fact.is_some() || turn.is_some();
        known.then_some(())?;
        Some(Self { at, tenant, user, fact, turn, id: next()?.parse().ok()? })
    }
}

impl From<&Known> for Entry {
    fn from(known: &Known) -> Self {
        let Known { tenant, user, id, fact, turn, erased_at, .. } = known;
        let (tenant, user, id) = (*tenant, *user, *id);
        Self { at: *erased_at, tenant, user, fact: *fact, turn: *turn, id }
    }
}

fn digest(text: &str) -> String {
    Sha256::digest(text).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

/// The file. Several servers may share one: each locks it while it writes.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
}

impl Journal {
    /// Opens the journal at this path, or begins one there.
    pub fn open(path: &Path) -> io::Result<Self> {
        let journal = Self { path: path.to_owned() };
        let there = path.exists();
        journal.append(&[])?;
        if !there && let Some(folder) = path.parent() {
            // Without this the file itself could be gone after a crash, however well it was written.
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            File::open(folder)?.sync_all()?;
        }
        Ok(journal)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes these down, and returns once they are on the disk.
    pub fn append(&self, entries: &[Entry]) -> io::Result<()> {
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&self.path)?;
        file.lock()?;
        let end = whole_lines(&mut file)?;
        // Half a line was left by somebody who was killed, and so was never acknowledged.
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        let text: String = entries.iter().map(Entry::print).collect();
        file.write_all(text.as_bytes())?;
        file.sync_all()
    }

    /// Everything in the journal, oldest first. A line that cannot be read is an error: whoever goes
    /// on without it may show what was erased.
    pub fn read(&self) -> io::Result<Vec<Entry>> {
        let mut file = File::open(&self.path)?;
        file.lock_shared()?;
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let lines = whole.lines().enumerate();
        let read = |(number, line): (usize, &str)| {
            let damaged = || format!("line {} of {} is damaged", number + 1, self.path.display());
            Entry::parse(line).ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, damaged()))
        };
        lines.map(read).collect()
    }
}

/// Where the last whole line ends. A line is far shorter than what is looked at.
fn whole_lines(file: &mut File) -> io::Result<u64> {
    const LOOKED_AT: u64 = 1024;
    let length = file.metadata()?.len();
    let from = length.saturating_sub(LOOKED_AT);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    let end = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place as u64 + 1);
    if end == 0 && from > 0 {
        let what = "it does not end in a line of ours; is this the erasure journal?";
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(from + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(second: i64, fact: bool) -> Entry {
        let at = Timestamp::from_second(second).unwrap();
        let mut ids = quipu_core::Ids::new(at, [3; 16]);
        let tenant = TenantId::named("acme");
        let user = UserId::named(tenant, "alice");
        Entry { at, tenant, user, fact: fact.then(|| ids.fact()), turn: None, id: ids.erasure() }
    }

    /// A file of the test's own.
    fn place(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("quipu-{}-{name}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        path
    }

    #[test]
    fn what_is_written_down_is_read_again() {
        let path = place("journal");
        let journal = Journal::open(&path).unwrap();
        assert!(journal.read().unwrap().is_empty());
        let entries = [entry(1, true), entry(2, false)];
        journal.append(&entries[..1]).unwrap();
        Journal::open(&path).unwrap().append(&entries[1..]).unwrap();
        assert_eq!(journal.read().unwrap(), entries);
        assert!(!std::fs::read_to_string(&path).unwrap().contains("alice"), "ids, not names");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn half_a_line_is_dropped_and_a_damaged_one_is_refused() {
        let path = place("torn");
        let journal = Journal::open(&path).unwrap();
        let (first, second) = (entry(1, true), entry(2, false));
        journal.append(std::slice::from_ref(&first)).unwrap();
        let torn = format!("{}{}", first.print(), &second.print()[..40]);
        std::fs::write(&path, torn).unwrap();
        assert_eq!(journal.read().unwrap().len(), 1, "whoever was killed half-way");
        journal.append(std::slice::from_ref(&second)).unwrap();
        assert_eq!(journal.read().unwrap(), [first.clone(), second.clone()]);
        let damaged = std::fs::read_to_string(&path).unwrap().replacen("mem_0", "mem_1", 1);
        std::fs::write(&path, damaged).unwrap();
        let refused = journal.read().unwrap_err();
        assert!(refused.to_string().contains("line 1"), "{refused}");
        std::fs::remove_file(&path).unwrap();
    }
}
