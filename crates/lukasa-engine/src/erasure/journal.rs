//! The erasure journal: a file beside the database, in which every erasure is written down before it
//! is done. A backup that is restored brings back what was erased since; the journal says what has to
//! go again. It holds ids and times and nothing of what was erased.
//!
//! One line for each erasure, appended before its transaction is committed:
//! `<when> <tenant> <user> <memory, turn, or -> <erasure> <first eight characters of the line's SHA-256>`
//!
//! A line that cannot be brought to the disk is taken back before the lock is released. A line whose
//! transaction failed is followed by `void <erasure> <digest>`; one whose transaction may have failed, by
//! `unsure <erasure> <digest>`.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use lukasa_core::{ErasureId, FactId, TenantId, Timestamp, TurnId, UserId};
use lukasa_store::Scope;
use lukasa_store::erasure::{Erasure, Known};
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

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    Erased(Entry),
    /// The transaction of this erasure failed: it did not happen.
    Void(ErasureId),
    /// Whether the transaction of this erasure was committed could not be found out.
    Unsure(ErasureId),
}

impl Line {
    fn print(&self) -> String {
        let said = match self {
            Line::Erased(entry) => return entry.print(),
            Line::Void(id) => format!("void {id}"),
            Line::Unsure(id) => format!("unsure {id}"),
        };
        format!("{said} {}\n", digest(&said))
    }

    fn parse(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split(' ').collect();
        let [what @ ("void" | "unsure"), id, sum] = words[..] else {
            return Entry::parse(line).map(Line::Erased);
        };
        let id = id.parse().ok()?;
        let line = if what == "void" { Line::Void(id) } else { Line::Unsure(id) };
        (digest(&format!("{what} {id}")) == sum).then_some(line)
    }
}

/// Some lines of the journal, and where they end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Chunk {
    /// Each line with the offset of its end and its digest.
    pub lines: Vec<(Line, u64, String)>,
    pub is_last: bool,
}

impl Chunk {
    /// How many lines are read at a time.
    const LINES: usize = 1_000;
}

/// The file. Several servers may share one: each locks it while it writes.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// Brings what was written to the disk; another one in tests.
    sync: fn(&File) -> io::Result<()>,
    /// Lines that could not be written yet, to go before the next.
    unwritten: Mutex<Vec<Line>>,
}

impl Journal {
    /// Opens the journal at this path, or begins one there.
    pub fn open(path: &Path) -> io::Result<Self> {
        let (path, unwritten) = (path.to_owned(), Mutex::default());
        let journal = Self { path, sync: File::sync_all, unwritten };
        let there = journal.path.exists();
        journal.append(&[])?;
        if !there && let Some(folder) = journal.path.parent() {
            // Without this the file itself could be gone after a crash, however well it was written.
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            File::open(folder)?.sync_all()?;
        }
        Ok(journal)
    }

    /// The same journal with another way to bring it to the disk: for tests of disks that fail.
    #[doc(hidden)]
    #[must_use]
    pub fn with_sync(mut self, sync: fn(&File) -> io::Result<()>) -> Self {
        self.sync = sync;
        self
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes these down, and returns once they are on the disk. If that fails, none of them is in
    /// the journal.
    pub fn append(&self, entries: &[Entry]) -> io::Result<()> {
        let lines: Vec<Line> = entries.iter().cloned().map(Line::Erased).collect();
        self.append_lines(&lines)
    }

    /// Writes down what became of erasures. If that fails it is tried again before the next line.
    pub fn settle(&self, lines: &[Line]) -> io::Result<()> {
        let written = self.append_lines(lines);
        if written.is_err() {
            self.unwritten.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(lines);
        }
        written
    }

    fn append_lines(&self, lines: &[Line]) -> io::Result<()> {
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
        let mut unwritten = self.unwritten.lock().unwrap_or_else(PoisonError::into_inner);
        let text: String = unwritten.iter().chain(lines).map(Line::print).collect();
        let written = file.write_all(text.as_bytes()).and_then(|()| (self.sync)(&file));
        if let Err(error) = written {
            // Still under the lock, so no reader has seen the lines.
            file.set_len(end).and_then(|()| file.sync_all()).map_err(|back| {
                let what = format!("{error}; and the line could not be taken back: {back}");
                io::Error::new(error.kind(), what)
            })?;
            return Err(error);
        }
        unwritten.clear();
        Ok(())
    }

    /// Every erasure in the journal that is not void, oldest first.
    pub fn read(&self) -> io::Result<Vec<Entry>> {
        let (mut entries, mut void, mut from) = (Vec::new(), Vec::new(), 0);
        loop {
            let chunk = self.read_chunk(from)?;
            for (line, end, _) in chunk.lines {
                from = end;
                match line {
                    Line::Erased(entry) => entries.push(entry),
                    Line::Void(id) => void.push(id),
                    Line::Unsure(_) => {}
                }
            }
            if chunk.is_last {
                entries.retain(|entry: &Entry| !void.contains(&entry.id));
                return Ok(entries);
            }
        }
    }

    /// The lines that begin at an offset, as many as are read at a time. A line that cannot be read is
    /// an error: without it, something erased may be shown.
    pub fn read_chunk(&self, from: u64) -> io::Result<Chunk> {
        let mut file = File::open(&self.path)?;
        file.lock_shared()?;
        let end = whole_lines(&mut file)?;
        // What ends there is never changed again.
        file.unlock()?;
        file.seek(SeekFrom::Start(from))?;
        let mut reader = BufReader::new(file.take(end.saturating_sub(from)));
        let (mut chunk, mut at, mut line) = (Chunk::default(), from, String::new());
        while chunk.lines.len() < Chunk::LINES {
            line.clear();
            at += reader.read_line(&mut line)? as u64;
            if line.is_empty() {
                chunk.is_last = true;
                break;
            }
            let text = line.trim_end_matches('\n');
            let damaged = || {
                let what =
                    format!("the line before byte {at} of {} is damaged", self.path.display());
                io::Error::new(io::ErrorKind::InvalidData, what)
            };
            let sum = text.rsplit(' ').next().unwrap_or_default().to_owned();
            chunk.lines.push((Line::parse(text).ok_or_else(damaged)?, at, sum));
        }
        Ok(chunk)
    }

    /// The digest of the whole first line, which tells this journal from others; none if it is empty.
    pub fn name(&self) -> io::Result<Option<String>> {
        let mut line = String::new();
        BufReader::new(File::open(&self.path)?.take(1_024)).read_line(&mut line)?;
        let name = || Sha256::digest(&line).iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(line.ends_with('\n').then(name))
    }

    /// Whether a line with this digest ends at an offset.
    pub fn has_line_at(&self, end: u64, sum: &str) -> io::Result<bool> {
        let wanted = format!(" {sum}\n");
        let Some(from) = end.checked_sub(wanted.len() as u64) else { return Ok(false) };
        let mut file = File::open(&self.path)?;
        file.seek(SeekFrom::Start(from))?;
        let mut tail = Vec::new();
        file.take(wanted.len() as u64).read_to_end(&mut tail)?;
        Ok(tail == wanted.as_bytes())
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
        let mut ids = lukasa_core::Ids::new(at, [3; 16]);
        let tenant = TenantId::named("acme");
        let user = UserId::named(tenant, "alice");
        Entry { at, tenant, user, fact: fact.then(|| ids.fact()), turn: None, id: ids.erasure() }
    }

    /// A file of the test's own.
    fn place(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("lukasa-{}-{name}", std::process::id()));
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
        assert!(refused.to_string().contains("damaged"), "{refused}");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_line_that_did_not_reach_the_disk_is_taken_back() {
        let path = place("full");
        let journal = Journal::open(&path).unwrap();
        let (first, second) = (entry(1, true), entry(2, false));
        journal.append(std::slice::from_ref(&first)).unwrap();
        let journal = journal.with_sync(|_| Err(io::Error::other("no space")));
        journal.append(std::slice::from_ref(&second)).unwrap_err();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), first.print());
        // What became of an erasure is kept until it can be written.
        journal.settle(&[Line::Void(first.id)]).unwrap_err();
        assert_eq!(journal.read().unwrap(), [first]);
        let journal = journal.with_sync(File::sync_all);
        journal.append(std::slice::from_ref(&second)).unwrap();
        assert_eq!(journal.read().unwrap(), [second]);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn a_void_erasure_is_not_read_and_lines_are_found_by_their_offset() {
        let path = place("void");
        let journal = Journal::open(&path).unwrap();
        assert_eq!(journal.name().unwrap(), None);
        let (first, second) = (entry(1, true), entry(2, false));
        journal.append(&[first.clone(), second.clone()]).unwrap();
        let name = journal.name().unwrap();
        journal.settle(&[Line::Unsure(first.id), Line::Void(second.id)]).unwrap();
        assert_eq!(journal.read().unwrap(), std::slice::from_ref(&first));
        assert_eq!(journal.name().unwrap(), name);
        let chunk = journal.read_chunk(0).unwrap();
        let (line, end, sum) = &chunk.lines[0];
        assert_eq!((line, chunk.lines.len(), chunk.is_last), (&Line::Erased(first), 4, true));
        assert!(journal.has_line_at(*end, sum).unwrap());
        assert!(!journal.has_line_at(*end - 1, sum).unwrap());
        assert!(!journal.has_line_at(*end + 10_000, sum).unwrap());
        assert_eq!(journal.read_chunk(*end).unwrap().lines, chunk.lines[1..]);
        std::fs::remove_file(&path).unwrap();
    }
}
