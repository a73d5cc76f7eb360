//! The erasure journal: a file beside the database that records every erasure before it is
//! committed. Restoring a backup brings back what was erased since; the journal says what has to be
//! removed again. It holds ids and times, and none of the erased content.
//!
//! One line for each erasure, appended before its transaction is committed:
//! `<when> <tenant> <user> <memory, turn, observation, or -> <erasure> <first eight characters of the line's SHA-256>`
//!
//! A line that cannot be synced to disk is removed before the lock is released. A line whose
//! transaction failed is followed by `void <erasure> <digest>`; one whose transaction may have
//! failed, by `unsure <erasure> <digest>`.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use lukasa_core::{ErasureId, FactId, ObservationId, TenantId, Timestamp, TurnId, UserId};
use lukasa_store::Scope;
use lukasa_store::erasure::{Erasure, ErasureRecord};
use sha2::{Digest, Sha256};

use crate::folder::sync_folder;

/// One erasure, as the journal holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalEntry {
    pub at: Timestamp,
    pub tenant: TenantId,
    pub user: UserId,
    /// The memory, turn or observation that was erased; none of them if everything about the user
    /// was.
    pub fact: Option<FactId>,
    pub turn: Option<TurnId>,
    pub observation: Option<ObservationId>,
    pub id: ErasureId,
}

impl JournalEntry {
    pub(crate) fn of(scope: &Scope, erasure: &Erasure) -> Self {
        Self {
            at: erasure.erased_at,
            tenant: scope.tenant(),
            user: scope.user(),
            fact: erasure.fact,
            turn: erasure.turn,
            observation: erasure.observation,
            id: erasure.id,
        }
    }

    /// Whether everything about the user was erased.
    pub(crate) fn is_of_user(&self) -> bool {
        self.fact.is_none() && self.turn.is_none() && self.observation.is_none()
    }

    fn print(&self) -> String {
        let what = self.fact.map(|fact| fact.to_string());
        let what = what.or_else(|| self.turn.map(|turn| turn.to_string()));
        let what = what.or_else(|| self.observation.map(|observation| observation.to_string()));
        let what = what.unwrap_or_else(|| "-".to_owned());
        let text = format!("{} {} {} {what} {}", self.at, self.tenant, self.user, self.id);
        format!("{text} {}\n", digest(&text))
    }

    fn parse(line: &str) -> Option<Self> {
        let (text, sum) = line.rsplit_once(' ')?;
        if digest(text) != sum {
            return None;
        }
        let mut words = text.split(' ');
        let mut next = || words.next();
        let (at, tenant) = (next()?.parse().ok()?, next()?.parse().ok()?);
        let user = next()?.parse().ok()?;
        let what = next()?;
        // The prefix of an id identifies its type.
        let (fact, turn, observation) = (what.parse().ok(), what.parse().ok(), what.parse().ok());
        let known = what == "-" || fact.is_some() || turn.is_some() || observation.is_some();
        known.then_some(())?;
        Some(Self { at, tenant, user, fact, turn, observation, id: next()?.parse().ok()? })
    }
}

impl From<&ErasureRecord> for JournalEntry {
    fn from(known: &ErasureRecord) -> Self {
        Self {
            at: known.erased_at,
            tenant: known.tenant,
            user: known.user,
            fact: known.fact,
            turn: known.turn,
            observation: known.observation,
            id: known.id,
        }
    }
}

fn digest(text: &str) -> String {
    hex::encode(&Sha256::digest(text)[..4])
}

/// A line of the journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalLine {
    Erased(JournalEntry),
    /// The transaction of this erasure failed: nothing was erased.
    Void(ErasureId),
    /// It is unknown whether the transaction of this erasure was committed.
    Unsure(ErasureId),
}

impl JournalLine {
    fn print(&self) -> String {
        let text = match self {
            JournalLine::Erased(entry) => return entry.print(),
            JournalLine::Void(id) => format!("void {id}"),
            JournalLine::Unsure(id) => format!("unsure {id}"),
        };
        format!("{text} {}\n", digest(&text))
    }

    fn parse(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split(' ').collect();
        let [what @ ("void" | "unsure"), id, sum] = words[..] else {
            return JournalEntry::parse(line).map(JournalLine::Erased);
        };
        let id = id.parse().ok()?;
        let line = if what == "void" { JournalLine::Void(id) } else { JournalLine::Unsure(id) };
        (digest(&format!("{what} {id}")) == sum).then_some(line)
    }
}

/// A batch of journal lines, with their end offsets.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JournalChunk {
    /// Each line with the offset of its end and its digest.
    pub lines: Vec<(JournalLine, u64, String)>,
    pub is_last: bool,
}

impl JournalChunk {
    /// Lines read per batch.
    const LINES: usize = 1_000;
}

/// The journal file. Several servers may share one: each locks it while it writes.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    /// Syncs the file to disk; replaced in tests.
    sync: fn(&File) -> io::Result<()>,
    /// Lines that could not be written yet; they are written before the next.
    unwritten: Mutex<Vec<JournalLine>>,
}

impl Journal {
    /// Opens the journal at this path, or creates it.
    pub fn open(path: &Path) -> io::Result<Self> {
        let (path, unwritten) = (path.to_owned(), Mutex::default());
        let journal = Self { path, sync: File::sync_all, unwritten };
        let existed = journal.path.exists();
        journal.append(&[])?;
        if !existed && let Some(folder) = journal.path.parent() {
            // Without syncing the folder, a crash could lose the new file itself.
            sync_folder(folder)?;
        }
        Ok(journal)
    }

    /// The same journal with another sync function: for tests of failing disks.
    #[doc(hidden)]
    #[must_use]
    pub fn with_sync(mut self, sync: fn(&File) -> io::Result<()>) -> Self {
        self.sync = sync;
        self
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends these entries, and returns once they are synced to disk. If that fails, none of them
    /// is in the journal.
    pub fn append(&self, entries: &[JournalEntry]) -> io::Result<()> {
        let lines: Vec<JournalLine> = entries.iter().cloned().map(JournalLine::Erased).collect();
        self.append_lines(&lines)
    }

    /// Appends the outcomes of erasures. If that fails, they are written before the next line.
    pub fn settle(&self, lines: &[JournalLine]) -> io::Result<()> {
        let written = self.append_lines(lines);
        if written.is_err() {
            self.unwritten.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(lines);
        }
        written
    }

    fn append_lines(&self, lines: &[JournalLine]) -> io::Result<()> {
        let mut file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(&self.path)?;
        file.lock()?;
        let end = whole_lines(&mut file)?;
        // A partial line was left by a killed process, so its erasure was never acknowledged.
        file.set_len(end)?;
        file.seek(SeekFrom::Start(end))?;
        let mut unwritten = self.unwritten.lock().unwrap_or_else(PoisonError::into_inner);
        let text: String = unwritten.iter().chain(lines).map(JournalLine::print).collect();
        let written = file.write_all(text.as_bytes()).and_then(|()| (self.sync)(&file));
        if let Err(error) = written {
            // The lock is still held, so no reader has seen the lines.
            file.set_len(end).and_then(|()| file.sync_all()).map_err(|back| {
                let what = format!("{error}; and the line could not be removed again: {back}");
                io::Error::new(error.kind(), what)
            })?;
            return Err(error);
        }
        unwritten.clear();
        Ok(())
    }

    /// Every erasure in the journal that is not void, oldest first.
    pub fn read(&self) -> io::Result<Vec<JournalEntry>> {
        let (mut entries, mut void, mut from) = (Vec::new(), Vec::new(), 0);
        loop {
            let chunk = self.read_chunk(from)?;
            for (line, end, _) in chunk.lines {
                from = end;
                match line {
                    JournalLine::Erased(entry) => entries.push(entry),
                    JournalLine::Void(id) => void.push(id),
                    JournalLine::Unsure(_) => {}
                }
            }
            if chunk.is_last {
                entries.retain(|entry: &JournalEntry| !void.contains(&entry.id));
                return Ok(entries);
            }
        }
    }

    /// Reads a batch of lines from an offset on. A line that cannot be parsed is an error: without
    /// it, erased data could be served.
    pub fn read_chunk(&self, from: u64) -> io::Result<JournalChunk> {
        let mut file = File::open(&self.path)?;
        file.lock_shared()?;
        let end = whole_lines(&mut file)?;
        // Complete lines are never changed again, but Windows refuses to read what another process has
        // locked, so every read holds the lock until its end.
        file.seek(SeekFrom::Start(from))?;
        let mut reader = BufReader::new(file.take(end.saturating_sub(from)));
        let (mut chunk, mut at, mut line) = (JournalChunk::default(), from, String::new());
        while chunk.lines.len() < JournalChunk::LINES {
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
            chunk.lines.push((JournalLine::parse(text).ok_or_else(damaged)?, at, sum));
        }
        Ok(chunk)
    }

    /// The digest of the first line, which identifies this journal; `None` if it is empty.
    pub fn name(&self) -> io::Result<Option<String>> {
        let (file, mut line) = (File::open(&self.path)?, String::new());
        file.lock_shared()?;
        BufReader::new(file.take(1_024)).read_line(&mut line)?;
        let name = || hex::encode(Sha256::digest(&line));
        Ok(line.ends_with('\n').then(name))
    }

    /// Whether a line with this digest ends at an offset.
    pub fn has_line_at(&self, end: u64, sum: &str) -> io::Result<bool> {
        let wanted = format!(" {sum}\n");
        let Some(from) = end.checked_sub(wanted.len() as u64) else { return Ok(false) };
        let mut file = File::open(&self.path)?;
        file.lock_shared()?;
        file.seek(SeekFrom::Start(from))?;
        let mut tail = Vec::new();
        file.take(wanted.len() as u64).read_to_end(&mut tail)?;
        Ok(tail == wanted.as_bytes())
    }
}

/// The offset where the last complete line ends. A line is far shorter than the part that is read.
fn whole_lines(file: &mut File) -> io::Result<u64> {
    const TAIL_BYTES: u64 = 1024;
    let length = file.metadata()?.len();
    let from = length.saturating_sub(TAIL_BYTES);
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    let end = tail.iter().rposition(|byte| *byte == b'\n').map_or(0, |place| place as u64 + 1);
    if end == 0 && from > 0 {
        let what = "the file does not end in a journal line; is this the erasure journal?";
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(from + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(second: i64, fact: bool) -> JournalEntry {
        let at = Timestamp::from_second(second).unwrap();
        let mut ids = lukasa_core::Ids::new(at, [3; 16]);
        let tenant = TenantId::named("acme");
        let user = UserId::named(tenant, "alice");
        JournalEntry {
            at,
            tenant,
            user,
            fact: fact.then(|| ids.fact()),
            turn: None,
            observation: None,
            id: ids.erasure(),
        }
    }

    /// A path for a file of this test.
    fn temp_path(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("lukasa-{}-{name}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        path
    }

    #[test]
    fn journal_returns_appended_entries() {
        let path = temp_path("journal");
        let journal = Journal::open(&path).unwrap();
        assert!(journal.read().unwrap().is_empty());
        let observation = Some(lukasa_core::Ids::new(Timestamp::UNIX_EPOCH, [4; 16]).observation());
        let observed = JournalEntry { observation, ..entry(3, false) };
        let entries = [entry(1, true), entry(2, false), observed];
        journal.append(&entries[..1]).unwrap();
        Journal::open(&path).unwrap().append(&entries[1..]).unwrap();
        assert_eq!(journal.read().unwrap(), entries);
        assert!(!std::fs::read_to_string(&path).unwrap().contains("alice"), "ids, not names");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn journal_drops_partial_line_and_rejects_damaged_line() {
        let path = temp_path("torn");
        let journal = Journal::open(&path).unwrap();
        let (first, second) = (entry(1, true), entry(2, false));
        journal.append(std::slice::from_ref(&first)).unwrap();
        let torn = format!("{}{}", first.print(), &second.print()[..40]);
        std::fs::write(&path, torn).unwrap();
        assert_eq!(journal.read().unwrap().len(), 1, "the partial line of a killed process");
        journal.append(std::slice::from_ref(&second)).unwrap();
        assert_eq!(journal.read().unwrap(), [first.clone(), second.clone()]);
        let damaged = std::fs::read_to_string(&path).unwrap().replacen("mem_0", "mem_1", 1);
        std::fs::write(&path, damaged).unwrap();
        let refused = journal.read().unwrap_err();
        assert!(refused.to_string().contains("damaged"), "{refused}");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn journal_removes_line_after_failed_sync() {
        let path = temp_path("full");
        let journal = Journal::open(&path).unwrap();
        let (first, second) = (entry(1, true), entry(2, false));
        journal.append(std::slice::from_ref(&first)).unwrap();
        let journal = journal.with_sync(|_| Err(io::Error::other("no space")));
        journal.append(std::slice::from_ref(&second)).unwrap_err();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), first.print());
        // The outcome of an erasure is kept until it can be written.
        journal.settle(&[JournalLine::Void(first.id)]).unwrap_err();
        assert_eq!(journal.read().unwrap(), [first]);
        let journal = journal.with_sync(File::sync_all);
        journal.append(std::slice::from_ref(&second)).unwrap();
        assert_eq!(journal.read().unwrap(), [second]);
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn journal_skips_void_erasures_and_finds_lines_by_offset() {
        let path = temp_path("void");
        let journal = Journal::open(&path).unwrap();
        assert_eq!(journal.name().unwrap(), None);
        let (first, second) = (entry(1, true), entry(2, false));
        journal.append(&[first.clone(), second.clone()]).unwrap();
        let name = journal.name().unwrap();
        journal.settle(&[JournalLine::Unsure(first.id), JournalLine::Void(second.id)]).unwrap();
        assert_eq!(journal.read().unwrap(), std::slice::from_ref(&first));
        assert_eq!(journal.name().unwrap(), name);
        let chunk = journal.read_chunk(0).unwrap();
        let (line, end, sum) = &chunk.lines[0];
        assert_eq!(
            (line, chunk.lines.len(), chunk.is_last),
            (&JournalLine::Erased(first), 4, true)
        );
        assert!(journal.has_line_at(*end, sum).unwrap());
        assert!(!journal.has_line_at(*end - 1, sum).unwrap());
        assert!(!journal.has_line_at(*end + 10_000, sum).unwrap());
        assert_eq!(journal.read_chunk(*end).unwrap().lines, chunk.lines[1..]);
        std::fs::remove_file(&path).unwrap();
    }
}
