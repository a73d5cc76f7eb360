//! The journal and the database compared when a server starts: what a restored backup has brought back is
//! removed again, and what the journal lacks is added to it. Both are read page by page, from where the
//! last start left off.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::SignedDuration;
use lukasa_core::time::micros;
use lukasa_core::{Caller, CallerKind, ErasureId, Origin, Timestamp, Voice};
use lukasa_store::erasure::{self, Checkpoint};
use lukasa_store::{directory, operation};

use super::journal::{Chunk, Line};
use super::{Entry, Journal};
use crate::error::{Error, Result};
use crate::{Engine, Moment, Request};

/// Entries younger than this are compared again at the next start: clocks of several servers differ,
/// and a transaction may have been under way.
const RECENT: SignedDuration = SignedDuration::from_hours(1);
/// How many erasures of the database are read at a time.
const PAGE: i64 = 1_000;

/// What a start found in the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Replayed {
    /// Erasures that were read, from the checkpoint on.
    pub entries: usize,
    /// Users and memories that were there again, and were removed again.
    pub users: usize,
    pub memories: usize,
    pub turns: usize,
    /// Erasures that this database knew of and the journal did not.
    pub added: usize,
    /// Erasures that may never have been committed, about users who were written about since. They
    /// were not carried out.
    pub skipped: usize,
}

/// How an erasure ended, where the journal says so.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Void,
    Unsure,
}

impl Engine {
    /// Removes again whatever the journal says was erased and a backup has brought back; and adds to
    /// the journal what was erased before there was one. To be called before anybody is served.
    pub async fn replay_erasures(&self, moment: Moment) -> Result<Replayed> {
        let Some(journal) = self.journal.clone() else { return Ok(Replayed::default()) };
        let recent = micros(moment.now - RECENT);
        let since = self.checkpoint(&journal).await?;
        let outcomes = outcomes(&journal, since.bytes).await?;
        let mut replayed = Replayed::default();
        let mut written = HashSet::new();
        let mut next = since.clone();
        let (mut at, mut old) = (since.bytes, true);
        loop {
            let chunk = chunk(&journal, at).await?;
            let entries: Vec<&Entry> =
                chunk.lines.iter().filter_map(|(line, ..)| of(line)).collect();
            let asked: Vec<_> = entries.iter().map(|entry| (entry.user, entry.id)).collect();
            let happened = self.store.erasures_on_record(&asked).await?;
            for entry in entries {
                replayed.entries += 1;
                written.insert(entry.id);
                let outcome = outcomes.get(&entry.id).copied();
                if !happened.contains(&entry.id) && outcome != Some(Outcome::Void) {
                    self.replay_one(entry, outcome, moment, &mut replayed).await?;
                }
            }
            for (line, end, sum) in &chunk.lines {
                old &= of(line).is_none_or(|entry| entry.at <= recent);
                if old {
                    (next.bytes, next.line) = (offset(*end), sum.clone());
                }
                at = offset(*end);
            }
            if chunk.is_last {
                break;
            }
        }
        replayed.added = self.add_missing(since.checked_until, &written).await?;
        next.checked_until = recent.max(since.checked_until);
        if let Some(name) = name(&journal).await? {
            self.store.set_journal_checkpoint(&name, &next).await?;
        }
        Ok(replayed)
    }

    /// From where the journal is to be read. A mark that does not fit the journal does not count.
    async fn checkpoint(&self, journal: &Arc<Journal>) -> Result<Checkpoint> {
        let checked_until = Timestamp::UNIX_EPOCH;
        let none = Checkpoint { bytes: 0, line: String::new(), checked_until };
        let Some(name) = name(journal).await? else { return Ok(none) };
        let Some(kept) = self.store.journal_checkpoint(&name).await? else { return Ok(none) };
        let (its, line) = (journal.clone(), kept.line.clone());
        let end = u64::try_from(kept.bytes).unwrap_or(0);
        let fits = end == 0 || blocking(move || its.has_line_at(end, &line)).await?;
        Ok(if fits { kept } else { none })
    }

    async fn replay_one(
        &self,
        entry: &Entry,
        outcome: Option<Outcome>,
        moment: Moment,
        replayed: &mut Replayed,
    ) -> Result<()> {
        if outcome == Some(Outcome::Unsure) && self.was_written_since(entry).await? {
            let erasure = entry.id.to_string();
            tracing::warn!(
                erasure,
                "an erasure that may have failed is not carried out: its user was written about since"
            );
            replayed.skipped += 1;
            self.settle_journal(vec![Line::Void(entry.id)]).await;
            return Ok(());
        }
        let moment = Moment { seed: seed_of(moment.seed, replayed.entries), ..moment };
        let request = Request::new(of_the_journal(entry), moment);
        match (entry.fact, entry.turn) {
            (Some(fact), _) => {
                replayed.memories += usize::from(self.erase_again(&request, fact, entry).await?);
            }
            (None, Some(turn)) => {
                replayed.turns += usize::from(self.erase_turn_again(&request, turn, entry).await?);
            }
            (None, None) => {
                replayed.users += usize::from(self.erase_user_again(entry, moment).await?);
            }
        }
        Ok(())
    }

    async fn was_written_since(&self, entry: &Entry) -> Result<bool> {
        let scope = self.store.read(entry.tenant, entry.user).await?;
        Ok(operation::last_at(&scope).await?.is_some_and(|at| at > entry.at))
    }

    /// Removes a user again, unless they came (or came back) after the erasure.
    async fn erase_user_again(&self, entry: &Entry, moment: Moment) -> Result<bool> {
        let scope = self.store.read(entry.tenant, entry.user).await?;
        let user = directory::me(&scope).await?;
        let under_way = erasure::unfinished(&scope).await?;
        drop(scope);
        if under_way.is_some() || user.is_none_or(|user| user.created_at > entry.at) {
            return Ok(false);
        }
        self.end_credentials(entry.tenant, entry.user).await?;
        let now = micros(moment.now);
        self.mark_for_erasure(entry.tenant, entry.user, entry.id, now, Some(entry)).await?;
        self.finish_erasure(entry.tenant, entry.user, now).await?;
        Ok(true)
    }

    /// Adds to the journal what the database has on record since a time and the journal lacks.
    async fn add_missing(&self, since: Timestamp, written: &HashSet<ErasureId>) -> Result<usize> {
        let (mut added, mut after) = (0, (since, None));
        loop {
            let page = self.store.erasures_after(after, PAGE).await?;
            let missing = page.iter().filter(|known| !written.contains(&known.id));
            let missing: Vec<Entry> = missing.map(Entry::from).collect();
            self.journal(&missing).await?;
            added += missing.len();
            match page.last() {
                Some(last) => after = (last.erased_at, Some(last.id)),
                None => return Ok(added),
            }
        }
    }
}

fn of(line: &Line) -> Option<&Entry> {
    match line {
        Line::Erased(entry) => Some(entry),
        Line::Void(_) | Line::Unsure(_) => None,
    }
}

fn offset(end: u64) -> i64 {
    i64::try_from(end).unwrap_or(i64::MAX)
}

/// What the journal says about how erasures ended. It says so after the erasure's own line, so this is
/// read first.
async fn outcomes(journal: &Arc<Journal>, from: i64) -> Result<HashMap<ErasureId, Outcome>> {
    let (mut outcomes, mut at) = (HashMap::new(), from);
    loop {
        let chunk = chunk(journal, at).await?;
        for (line, end, _) in &chunk.lines {
            at = offset(*end);
            match line {
                Line::Void(id) => outcomes.insert(*id, Outcome::Void),
                Line::Unsure(id) => Some(*outcomes.entry(*id).or_insert(Outcome::Unsure)),
                Line::Erased(_) => None,
            };
        }
        if chunk.is_last {
            return Ok(outcomes);
        }
    }
}

async fn chunk(journal: &Arc<Journal>, from: i64) -> Result<Chunk> {
    let journal = journal.clone();
    blocking(move || journal.read_chunk(u64::try_from(from).unwrap_or(0))).await
}

async fn name(journal: &Arc<Journal>) -> Result<Option<String>> {
    let journal = journal.clone();
    blocking(move || journal.name()).await
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> std::io::Result<T> + Send + 'static,
) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    let done = done.map_err(|error| Error::Journal(error.to_string()))?;
    done.map_err(|error| Error::Journal(error.to_string()))
}

/// Ids drawn for one entry must not be those of another.
fn seed_of(mut seed: [u8; 16], number: usize) -> [u8; 16] {
    seed.iter_mut().zip((number as u64).to_le_bytes()).for_each(|(byte, more)| *byte ^= more);
    seed
}

/// The caller of a replayed erasure. The original caller is unknown, so it acts for the journal.
fn of_the_journal(entry: &Entry) -> Caller {
    Caller {
        tenant: entry.tenant,
        user: entry.user,
        user_name: String::new(),
        kind: CallerKind::Job,
        credential: "journal".to_owned(),
        voice: Voice::stated(Origin::UserSaid),
    }
}
