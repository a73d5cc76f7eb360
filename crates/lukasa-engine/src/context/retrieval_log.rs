//! Records of retrievals, written after the response and kept for a limited time.
//!
//! They wait in a queue of limited size and are written in batches, of several users in one
//! transaction. When the database does not keep up, the newest records are left out and counted.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::try_join;
use lukasa_core::context::block::PromptLine;
use lukasa_core::job::{Task, next_upkeep};
use lukasa_core::{Caller, FactId, JobId, Timestamp, UserId};
use lukasa_store::context as kept;
use lukasa_store::passage::RecallState;
use lukasa_store::retrieval_batch::{BatchedRecord, NewRetrieval};
use lukasa_store::{Batch, Store, directory, job};
use moka::sync::Cache;
use serde_json::Value;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use super::Contexts;
use super::retrieve::{Context, ContextRequest};
use super::trace::{self, trace_line};
use crate::telemetry::record_retrieval_log_dropped;

/// How long records are collected before they are written.
const FLUSH_INTERVAL: Duration = Duration::from_millis(50);
/// Maximum number of records in one transaction.
const MAX_BATCH: usize = 64;
/// Maximum number of waiting records, and their approximate size.
const MAX_WAITING: usize = 10_000;
const MAX_WAITING_BYTES: usize = 64 << 20;
/// Maximum number of waiting records of one user, whose lock may be held for long.
const MAX_WAITING_OF_USER: usize = 1_000;
/// How many batches may find a user's lock taken before a record waits for it alone.
const MAX_ATTEMPTS: u32 = 10;
/// Maximum number of concurrent transactions for single records, one for each user.
const MAX_CONCURRENT_SINGLES: usize = 4;
/// Maximum number of other records of retrievals that are being written or wait for a connection.
const MAX_LATE_WRITES: usize = 256;
/// How long a reader of records waits for those of its user that are not written yet.
const READ_TIMEOUT: Duration = Duration::from_secs(1);
/// How long and of how many baselines this process remembers that they are recorded. Retention is
/// counted in days.
const RECORDED_TTL: Duration = Duration::from_hours(1);
const MAX_RECORDED: u64 = 100_000;

/// The queue of records that wait to be written.
#[derive(Clone)]
pub(crate) struct RetrievalLog(Arc<Inner>);

struct Inner {
    queue: Mutex<Queue>,
    /// How many records of each user are not written yet, for those who have any.
    unwritten: Mutex<HashMap<UserId, usize>>,
    written: Notify,
    /// The baselines that are recorded, each with the epoch and the last removal at that time.
    recorded: Cache<(UserId, String), (i64, i64)>,
    singles: Arc<Semaphore>,
    /// The users of the single records that are being written.
    alone: Mutex<HashSet<UserId>>,
    late: Arc<Semaphore>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<WaitingRecord>,
    bytes: usize,
    /// Whether a task writes the records.
    is_running: bool,
}

struct WaitingRecord {
    record: NewRetrieval,
    bytes: usize,
    attempts: u32,
    unwritten: Unwritten,
}

/// Counts a record as unwritten until it is dropped: written, refused, or lost with its task.
struct Unwritten {
    log: Arc<Inner>,
    user: UserId,
}

impl Unwritten {
    fn new(log: &Arc<Inner>, user: UserId) -> Self {
        *log.unwritten().entry(user).or_default() += 1;
        Self { log: Arc::clone(log), user }
    }
}

impl Drop for Unwritten {
    fn drop(&mut self) {
        let mut unwritten = self.log.unwritten();
        if let Some(count) = unwritten.get_mut(&self.user) {
            *count -= 1;
            if *count == 0 {
                unwritten.remove(&self.user);
            }
        }
        drop(unwritten);
        self.log.written.notify_waiters();
    }
}

/// A single record is being written: the only one of its user, so that a user whose lock is held for
/// long has only one of the permits.
struct SingleWrite {
    log: Arc<Inner>,
    user: UserId,
    _permit: OwnedSemaphorePermit,
}

impl Drop for SingleWrite {
    fn drop(&mut self) {
        self.log.alone().remove(&self.user);
    }
}

impl Inner {
    fn alone(&self) -> MutexGuard<'_, HashSet<UserId>> {
        self.alone.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn unwritten(&self) -> MutexGuard<'_, HashMap<UserId, usize>> {
        self.unwritten.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for RetrievalLog {
    fn default() -> Self {
        let recorded = Cache::builder().max_capacity(MAX_RECORDED).time_to_live(RECORDED_TTL);
        Self(Arc::new(Inner {
            queue: Mutex::default(),
            unwritten: Mutex::default(),
            written: Notify::new(),
            recorded: recorded.build(),
            singles: Arc::new(Semaphore::new(MAX_CONCURRENT_SINGLES)),
            alone: Mutex::default(),
            late: Arc::new(Semaphore::new(MAX_LATE_WRITES)),
        }))
    }
}

/// The writing task. If it panics or is cancelled, the next record starts another.
struct WritingTask {
    log: RetrievalLog,
    has_ended: bool,
}

impl WritingTask {
    async fn run(mut self, store: Store) {
        self.log.write_all(&store).await;
        self.has_ended = true;
    }
}

impl Drop for WritingTask {
    fn drop(&mut self) {
        if !self.has_ended {
            self.log.queue().is_running = false;
        }
    }
}

impl RetrievalLog {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this process has recorded the baseline, and nothing was removed since.
    fn has_recorded(&self, user: UserId, etag: &str, state: RecallState) -> bool {
        let at = self.0.recorded.get(&(user, etag.to_owned()));
        state.epoch != 0 && at == Some((state.epoch, state.removed))
    }

    /// Waits until the user's records of this process are written, or until the timeout.
    pub(super) async fn wait_for_records(&self, user: UserId) {
        let deadline = Instant::now() + READ_TIMEOUT;
        loop {
            // Created before the check, so that no notification is missed.
            let written = self.0.written.notified();
            if !self.0.unwritten().contains_key(&user) {
                return;
            }
            if timeout_at(deadline, written).await.is_err() {
                return;
            }
        }
    }

    /// A permit for another late write about retrievals; `None` if too many wait.
    pub(super) fn late_write(&self) -> Option<OwnedSemaphorePermit> {
        let permit = Arc::clone(&self.0.late).try_acquire_owned().ok();
        if permit.is_none() {
            record_retrieval_log_dropped();
        }
        permit
    }

    /// Adds a record, unless too many wait; then it is counted and left out.
    fn push(&self, store: &Store, record: NewRetrieval) {
        let bytes = size_of_record(&record);
        let of_user = self.0.unwritten().get(&record.user).copied().unwrap_or_default();
        let mut queue = self.queue();
        let is_full = queue.waiting.len() >= MAX_WAITING || queue.bytes + bytes > MAX_WAITING_BYTES;
        if is_full || of_user >= MAX_WAITING_OF_USER {
            drop(queue);
            record_retrieval_log_dropped();
            return;
        }
        queue.bytes += bytes;
        let unwritten = Unwritten::new(&self.0, record.user);
        queue.waiting.push_back(WaitingRecord { record, bytes, attempts: 0, unwritten });
        let is_idle = !std::mem::replace(&mut queue.is_running, true);
        // A runtime that is stopping drops the task at once, which takes the lock.
        drop(queue);
        if is_idle {
            let task = WritingTask { log: self.clone(), has_ended: false };
            tokio::spawn(task.run(store.clone()));
        }
    }

    /// The records of the next batch.
    fn take(&self) -> Vec<WaitingRecord> {
        let mut queue = self.queue();
        let count = queue.waiting.len().min(MAX_BATCH);
        let batch: Vec<WaitingRecord> = queue.waiting.drain(..count).collect();
        queue.bytes -= batch.iter().map(|waiting| waiting.bytes).sum::<usize>();
        batch
    }

    /// Whether records wait. If none does, the task that asks has ended.
    fn has_more(&self) -> bool {
        let mut queue = self.queue();
        queue.is_running = !queue.waiting.is_empty();
        queue.is_running
    }

    /// Writes records until none waits.
    async fn write_all(&self, store: &Store) {
        loop {
            tokio::time::sleep(FLUSH_INTERVAL).await;
            loop {
                let batch = self.take();
                let is_full = batch.len() == MAX_BATCH;
                let is_busy = self.write(store, batch).await;
                if is_busy || !is_full {
                    break;
                }
            }
            if !self.has_more() {
                return;
            }
        }
    }

    /// A permit to write a single record of this user; `None` if another one of the user is being
    /// written, or no permit is free until the deadline.
    async fn single_write(&self, user: UserId, deadline: Instant) -> Option<SingleWrite> {
        if self.0.alone().contains(&user) {
            return None;
        }
        let permit = Arc::clone(&self.0.singles).acquire_owned();
        let permit = timeout_at(deadline, permit).await.ok()?.ok()?;
        // Only the writing task asks, so no other one of the user has begun meanwhile.
        self.0.alone().insert(user);
        Some(SingleWrite { log: Arc::clone(&self.0), user, _permit: permit })
    }

    /// Puts a record back that could not be written.
    fn put_back(&self, waiting: WaitingRecord) {
        let mut queue = self.queue();
        queue.bytes += waiting.bytes;
        queue.waiting.push_back(waiting);
    }

    /// Writes a batch; returns whether a record has to wait for its user's lock or for a permit.
    async fn write(&self, store: &Store, batch: Vec<WaitingRecord>) -> bool {
        let mut is_busy = false;
        let (mut records, mut about) = (Vec::new(), Vec::new());
        for WaitingRecord { mut record, bytes, attempts, unwritten } in batch {
            let RecallState { epoch, removed, .. } = record.state;
            let etag = record.retrieval.etag.clone().filter(|_| epoch != 0);
            let key = etag.map(|etag| ((record.user, etag), (epoch, removed)));
            let recorded = &self.0.recorded;
            if key.as_ref().is_some_and(|(key, at)| recorded.get(key) == Some(*at)) {
                record.given = None;
            }
            records.push(record);
            about.push((key, bytes, attempts, unwritten));
        }
        let results = store.record_retrievals(&records).await;
        let deadline = Instant::now() + FLUSH_INTERVAL;
        for ((record, (key, bytes, attempts, unwritten)), result) in
            records.into_iter().zip(about).zip(results)
        {
            match result {
                BatchedRecord::Written => {
                    if let Some((key, at)) = key {
                        self.0.recorded.insert(key, at);
                    }
                }
                BatchedRecord::UserBusy if attempts < MAX_ATTEMPTS => {
                    is_busy = true;
                    let attempts = attempts + 1;
                    self.put_back(WaitingRecord { record, bytes, attempts, unwritten });
                }
                BatchedRecord::UserBusy | BatchedRecord::Refused => {
                    let Some(single) = self.single_write(record.user, deadline).await else {
                        is_busy = true;
                        self.put_back(WaitingRecord { record, bytes, attempts, unwritten });
                        continue;
                    };
                    let store = store.clone();
                    tokio::spawn(async move {
                        let (_single, _unwritten) = (single, unwritten);
                        if let Err(error) = write_single(&store, &record).await {
                            tracing::warn!(%error, "could not record a retrieval");
                        }
                    });
                }
            }
        }
        is_busy
    }
}

/// Writes one record in a transaction that waits for the user's lock, and queues an upkeep job if the
/// user has none: rows with limited retention need one that removes them.
async fn write_single(store: &Store, new: &NewRetrieval) -> lukasa_store::Result<()> {
    let scope = store.write_lossy(new.tenant, new.user).await?;
    let ((), unattended) = try_join!(
        kept::insert_retrieval(&scope, &new.retrieval, new.given.as_ref(), new.state),
        directory::set_looked_after(&scope, true)
    )?;
    if unattended {
        let mut batch = Batch::default();
        let at = new.retrieval.at;
        let (job, due) = (JobId::from_uuid(new.retrieval.id.uuid()), next_upkeep(new.user, at));
        job::queue_sole(&mut batch, &scope, job, &Task::Upkeep, due, at);
        scope.run(&batch).await?;
    }
    scope.commit().await
}

/// The approximate size of a record in memory, in bytes.
fn size_of_record(new: &NewRetrieval) -> usize {
    const FIXED: usize = 1_024;
    let own = &new.retrieval;
    let given = new.given.as_ref().map_or(0, |given| {
        size_of_json(&given.items) + given.etag.len() + size_of_val(given.facts.as_slice())
    });
    FIXED + own.dynamic.len() + size_of_json(&own.trace) + size_of_val(own.facts.as_slice()) + given
}

/// The approximate size of a JSON value in memory, in bytes.
fn size_of_json(value: &Value) -> usize {
    /// A field has a hash and a place in an index besides its name and its value.
    const EACH_FIELD: usize = 64;
    let own = match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(size_of_json).sum(),
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| EACH_FIELD + name.len() + size_of_json(field)).sum()
        }
    };
    size_of::<Value>() + own
}

impl Contexts {
    /// Records a retrieval in the background.
    pub(super) fn record_retrieval_later(
        &self,
        caller: &Caller,
        ask: &ContextRequest,
        context: &Context,
        state: RecallState,
        now: Timestamp,
    ) {
        let etag = Some(context.baseline.etag.clone()).filter(|etag| !etag.is_empty());
        let is_new = |etag: &String| !self.log.has_recorded(caller.user, etag, state);
        let given = etag.clone().filter(is_new).map(|etag| kept::GivenBaseline {
            etag,
            items: context.baseline.items.iter().map(trace_line).collect(),
            facts: facts_of(&context.baseline.items),
        });
        let retrieval = kept::Retrieval {
            id: context.id,
            session: ask.session.clone(),
            at: lukasa_core::time::micros(now),
            etag,
            dynamic: context.dynamic.content.clone(),
            trace: trace::pack(context, ask.session.is_some(), ask.preview),
            facts: facts_of(&context.dynamic.items),
            baseline: serde_json::Value::Null,
        };
        let (tenant, user) = (caller.tenant, caller.user);
        let new = NewRetrieval { tenant, user, retrieval, given, state };
        self.log.push(&self.parts.store, new);
    }
}

/// The facts of these lines, each once.
fn facts_of(lines: &[PromptLine]) -> Vec<FactId> {
    let mut facts: Vec<FactId> = lines.iter().flat_map(PromptLine::facts).collect();
    facts.sort_unstable();
    facts.dedup();
    facts
}

#[cfg(test)]
mod tests {
    use lukasa_core::{Ids, TenantId};
    use lukasa_store::ConnectOptions;
    use serde_json::json;

    use super::*;

    fn record(number: u8) -> NewRetrieval {
        let retrieval = kept::Retrieval {
            id: Ids::new(Timestamp::UNIX_EPOCH, [number; 16]).retrieval(),
            session: None,
            at: Timestamp::UNIX_EPOCH,
            etag: None,
            dynamic: String::new(),
            trace: serde_json::Value::Null,
            facts: Vec::new(),
            baseline: serde_json::Value::Null,
        };
        let tenant = TenantId::named("acme");
        let user = UserId::named(tenant, "alice");
        NewRetrieval { tenant, user, retrieval, given: None, state: RecallState::default() }
    }

    #[test]
    fn size_of_a_record_counts_the_entries_of_its_trace_and_of_its_baseline() {
        let entries = |count: usize| {
            let left_out = (0..count).map(|n| json!([n, "less relevant", 0.25]));
            json!({ "left_out": left_out.collect::<Vec<_>>() })
        };
        let none = size_of_record(&record(1));
        let mut large = record(2);
        large.retrieval.trace = entries(500);
        let text = large.retrieval.trace.to_string().len();
        let traced = size_of_record(&large);
        assert!(traced > none + text, "{traced} bytes, and {text} as text");
        large.given =
            Some(kept::GivenBaseline { etag: "x".into(), items: entries(500), facts: Vec::new() });
        assert!(size_of_record(&large) > traced + text);
    }

    #[tokio::test(start_paused = true)]
    async fn readers_wait_for_the_records_of_their_own_user_until_the_timeout() {
        let log = RetrievalLog::default();
        let (alice, bob) = (record(1).user, UserId::named(TenantId::named("acme"), "bob"));
        let started = Instant::now();
        log.wait_for_records(alice).await;
        let (first, second) = (Unwritten::new(&log.0, alice), Unwritten::new(&log.0, alice));
        log.wait_for_records(bob).await;
        assert!(started.elapsed().is_zero());
        drop(first);
        log.wait_for_records(alice).await;
        assert_eq!(started.elapsed(), READ_TIMEOUT);
        let writing = async {
            tokio::time::sleep(READ_TIMEOUT / 4).await;
            drop(second);
        };
        tokio::join!(log.wait_for_records(alice), writing);
        assert_eq!(started.elapsed(), READ_TIMEOUT + READ_TIMEOUT / 4);
        assert!(log.0.unwritten().is_empty());
    }

    #[tokio::test]
    async fn retrieval_log_is_bounded_while_the_database_is_away() {
        let url = "postgres://localhost:1/none".to_owned();
        let connect = ConnectOptions { url, pool_size: 1, ca_file: None };
        let (log, store) = (RetrievalLog::default(), Store::connect(&connect).unwrap());
        for _ in 0..MAX_WAITING_OF_USER + 500 {
            log.push(&store, record(1));
        }
        assert_eq!(log.queue().waiting.len(), MAX_WAITING_OF_USER);
        for number in 0..MAX_WAITING {
            let user = UserId::named(TenantId::named("acme"), &format!("user {}", number % 20));
            log.push(&store, NewRetrieval { user, ..record(1) });
        }
        assert_eq!(log.queue().waiting.len(), MAX_WAITING);
        let mut large = record(2);
        large.retrieval.dynamic = "x".repeat(MAX_WAITING_BYTES / 3);
        let log = RetrievalLog::default();
        for _ in 0..9 {
            log.push(&store, large.clone());
        }
        assert_eq!(log.queue().waiting.len(), 2);
        assert!(log.queue().bytes <= MAX_WAITING_BYTES);
        log.take();
        assert_eq!(log.queue().bytes, 0);
    }
}
