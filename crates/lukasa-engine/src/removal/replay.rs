//! Comparison of the journal with the database at server start: what a restored backup has brought
//! back is removed again, and erasures missing from the journal are added to it. Both are read page
//! by page, from the checkpoint of the last start.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use jiff::SignedDuration;
use lukasa_core::audit::AuditActor;
use lukasa_core::time::micros;
use lukasa_core::{Caller, CallerKind, ErasureId, Origin, TenantId, Timestamp, UserId, Voice};
use lukasa_store::erasure::{self, Checkpoint};
use lukasa_store::{directory, operation};

use super::Erasures;
use crate::error::{Error, Result};
use crate::journal::{Journal, JournalChunk, JournalEntry, JournalLine};
use crate::request::{Moment, Request};
use crate::spaces::remove_erased_members;

/// Entries younger than this are compared again at the next start: clocks of several servers
/// differ, and a transaction may have been in progress.
const RECENT_PERIOD: SignedDuration = SignedDuration::from_hours(1);
/// Erasures read from the database per page.
const PAGE_SIZE: i64 = 1_000;

/// Report of a journal replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReplayReport {
    /// Erasures read, from the checkpoint on.
    pub entries: usize,
    /// Users, memories, turns and observations that existed again and were removed again.
    pub users: usize,
    pub memories: usize,
    pub turns: usize,
    pub observations: usize,
    /// Erased users whom a space had again as members or authors, counted for each space.
    pub members: usize,
    /// Erasures in the database that were missing from the journal.
    pub added: usize,
    /// Erasures that may never have been committed, of users with later writes. They were not
    /// carried out.
    pub skipped: usize,
}

/// Outcome of an erasure that the journal records.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Void,
    Unsure,
}

impl Erasures {
    /// Removes again what the journal lists as erased and a backup has restored; and adds erasures
    /// from before there was a journal. Must be called before requests are served.
    pub async fn replay_erasures(&self, moment: Moment) -> Result<ReplayReport> {
        let Some(journal) = self.journal.file().cloned() else {
            return Ok(ReplayReport::default());
        };
        let recent = micros(moment.now - RECENT_PERIOD);
        let since = self.checkpoint(&journal).await?;
        let outcomes = outcomes(&journal, since.bytes).await?;
        let mut replayed = ReplayReport::default();
        let mut written = HashSet::new();
        let mut erased: BTreeMap<TenantId, BTreeSet<UserId>> = BTreeMap::new();
        let mut next = since.clone();
        let (mut at, mut old) = (since.bytes, true);
        loop {
            let chunk = chunk(&journal, at).await?;
            let entries: Vec<&JournalEntry> =
                chunk.lines.iter().filter_map(|(line, ..)| entry_of(line)).collect();
            let asked: Vec<_> =
                entries.iter().map(|entry| (entry.tenant, entry.user, entry.id)).collect();
            let happened = self.parts.store.erasures_on_record(&asked).await?;
            for entry in entries {
                replayed.entries += 1;
                written.insert(entry.id);
                let outcome = outcomes.get(&entry.id).copied();
                if entry.is_of_user() && outcome != Some(Outcome::Void) {
                    erased.entry(entry.tenant).or_default().insert(entry.user);
                }
                if !happened.contains(&entry.id) && outcome != Some(Outcome::Void) {
                    self.replay_one(entry, outcome, moment, &mut replayed).await?;
                }
            }
            for (line, end, sum) in &chunk.lines {
                old &= entry_of(line).is_none_or(|entry| entry.at <= recent);
                if old {
                    (next.bytes, next.line) = (offset(*end), sum.clone());
                }
                at = offset(*end);
            }
            if chunk.is_last {
                break;
            }
        }
        for (tenant, users) in erased {
            let (store, users) = (&self.parts.store, Vec::from_iter(users));
            replayed.members += remove_erased_members(store, tenant, &users).await?;
        }
        replayed.added = self.add_missing(since.checked_until, &written).await?;
        next.checked_until = recent.max(since.checked_until);
        if let Some(name) = name(&journal).await? {
            self.parts.store.set_journal_checkpoint(&name, &next).await?;
        }
        Ok(replayed)
    }

    /// The offset to read the journal from. A checkpoint that does not match the journal is
    /// ignored.
    async fn checkpoint(&self, journal: &Arc<Journal>) -> Result<Checkpoint> {
        let checked_until = Timestamp::UNIX_EPOCH;
        let none = Checkpoint { bytes: 0, line: String::new(), checked_until };
        let Some(name) = name(journal).await? else { return Ok(none) };
        let Some(kept) = self.parts.store.journal_checkpoint(&name).await? else { return Ok(none) };
        let (its, line) = (journal.clone(), kept.line.clone());
        let end = u64::try_from(kept.bytes).unwrap_or(0);
        let fits = end == 0 || blocking(move || its.has_line_at(end, &line)).await?;
        Ok(if fits { kept } else { none })
    }

    async fn replay_one(
        &self,
        entry: &JournalEntry,
        outcome: Option<Outcome>,
        moment: Moment,
        replayed: &mut ReplayReport,
    ) -> Result<()> {
        if outcome == Some(Outcome::Unsure) && self.was_written_since(entry).await? {
            let erasure = entry.id.to_string();
            tracing::warn!(
                erasure,
                "skipped an erasure that may have failed: its user has later writes"
            );
            replayed.skipped += 1;
            self.journal.settle(vec![JournalLine::Void(entry.id)]).await;
            return Ok(());
        }
        let moment = Moment { seed: seed_of(moment.seed, replayed.entries), ..moment };
        let request = Request::new(journal_caller(entry), moment);
        match (entry.fact, entry.turn, entry.observation) {
            (Some(fact), _, _) => {
                replayed.memories +=
                    usize::from(self.removals.erase_again(&request, fact, entry).await?);
            }
            (None, Some(turn), _) => {
                replayed.turns +=
                    usize::from(self.removals.erase_turn_again(&request, turn, entry).await?);
            }
            (None, None, Some(observation)) => {
                let again = self.removals.erase_observation_again(&request, observation, entry);
                replayed.observations += usize::from(again.await?);
            }
            (None, None, None) => {
                replayed.users += usize::from(self.erase_user_again(entry, moment).await?);
            }
        }
        Ok(())
    }

    async fn was_written_since(&self, entry: &JournalEntry) -> Result<bool> {
        let scope = self.parts.store.read(entry.tenant, entry.user).await?;
        Ok(operation::last_at(&scope).await?.is_some_and(|at| at > entry.at))
    }

    /// Removes a user again, unless they were created (again) after the erasure.
    async fn erase_user_again(&self, entry: &JournalEntry, moment: Moment) -> Result<bool> {
        let scope = self.parts.store.read(entry.tenant, entry.user).await?;
        let user = directory::me(&scope).await?;
        let under_way = erasure::unfinished(&scope).await?;
        drop(scope);
        if under_way.is_some() || user.is_none_or(|user| user.created_at > entry.at) {
            return Ok(false);
        }
        self.end_credentials(entry.tenant, entry.user).await?;
        let now = micros(moment.now);
        let by = AuditActor::of(&journal_caller(entry));
        self.mark_for_erasure(by, entry.user, entry.id, now, Some(entry)).await?;
        self.finish_erasure(entry.tenant, entry.user, now).await?;
        Ok(true)
    }

    /// Adds erasures recorded in the database since a time that the journal lacks.
    async fn add_missing(&self, since: Timestamp, written: &HashSet<ErasureId>) -> Result<usize> {
        let (mut added, mut after) = (0, (since, None));
        loop {
            let page = self.parts.store.erasures_after(after, PAGE_SIZE).await?;
            let missing = page.iter().filter(|known| !written.contains(&known.id));
            let missing: Vec<JournalEntry> = missing.map(JournalEntry::from).collect();
            self.journal.append(&missing).await?;
            added += missing.len();
            match page.last() {
                Some(last) => after = (last.erased_at, Some(last.id)),
                None => return Ok(added),
            }
        }
    }
}

fn entry_of(line: &JournalLine) -> Option<&JournalEntry> {
    match line {
        JournalLine::Erased(entry) => Some(entry),
        JournalLine::Void(_) | JournalLine::Unsure(_) => None,
    }
}

fn offset(end: u64) -> i64 {
    i64::try_from(end).unwrap_or(i64::MAX)
}

/// The recorded outcomes of erasures. An outcome comes after the erasure's own line, so outcomes
/// are read first.
async fn outcomes(journal: &Arc<Journal>, from: i64) -> Result<HashMap<ErasureId, Outcome>> {
    let (mut outcomes, mut at) = (HashMap::new(), from);
    loop {
        let chunk = chunk(journal, at).await?;
        for (line, end, _) in &chunk.lines {
            at = offset(*end);
            match line {
                JournalLine::Void(id) => outcomes.insert(*id, Outcome::Void),
                JournalLine::Unsure(id) => Some(*outcomes.entry(*id).or_insert(Outcome::Unsure)),
                JournalLine::Erased(_) => None,
            };
        }
        if chunk.is_last {
            return Ok(outcomes);
        }
    }
}

async fn chunk(journal: &Arc<Journal>, from: i64) -> Result<JournalChunk> {
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

/// A separate seed per entry, so that ids of entries do not collide.
fn seed_of(mut seed: [u8; 16], number: usize) -> [u8; 16] {
    seed.iter_mut().zip((number as u64).to_le_bytes()).for_each(|(byte, more)| *byte ^= more);
    seed
}

/// The caller of a replayed erasure. The original caller is unknown, so it acts for the journal.
fn journal_caller(entry: &JournalEntry) -> Caller {
    Caller {
        tenant: entry.tenant,
        user: entry.user,
        user_name: String::new(),
        kind: CallerKind::Job,
        credential: "journal".to_owned(),
        voice: Voice::stated(Origin::UserSaid),
        issuer: None,
        member: None,
    }
}
