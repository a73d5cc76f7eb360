//! Records the exchanges of the gateway in the background: no client waits for it.
//!
//! Rounds of one session are recorded in the order in which they ended. A round that cannot be
//! recorded for now, because the database is unavailable or its user is busy, is tried again, and
//! only the later rounds of its session wait for it, in memory, up to a size and time limit. They were
//! not acknowledged to the client, and are lost if the server stops meanwhile.

use std::collections::{HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use lukasa_core::{Caller, Exchange, UserId};
use lukasa_engine::{Error, Request};
use tokio::sync::{Semaphore, watch};

use crate::api::App;
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::recheck::HeldCredential;
use crate::telemetry::record_lost_rounds;

/// Rounds that are recorded at a time, of users whose last round was recorded.
const MAX_ATTEMPTS: usize = 8;
/// Rounds that are tried at a time, of users whose last attempt has failed: it may take long.
const MAX_RETRIES: usize = 4;
/// Rounds of one user that are recorded at a time. Their writes would wait for each other.
const MAX_USER_ATTEMPTS: usize = 1;
/// Maximum size of all waiting rounds.
const MAX_WAITING_BYTES: usize = 64 << 20;
/// Maximum size of the waiting rounds of a user, unless it is a single one.
const MAX_USER_BYTES: usize = MAX_WAITING_BYTES / 8;
/// How long a round is retried while the database is unavailable.
const RETRY_TIMEOUT: Duration = Duration::from_secs(600);
/// Pause before the second attempt. It doubles with each.
const FIRST_RETRY_PAUSE: Duration = Duration::from_millis(100);
/// Maximum pause between two attempts.
const MAX_RETRY_PAUSE: Duration = Duration::from_secs(5);

/// One round of a session, to be recorded.
pub struct Round {
    pub caller: Caller,
    /// It is checked again before anything is written.
    pub credential: HeldCredential,
    pub session: String,
    pub exchange: Exchange,
    /// The server waits for it to be dropped before it stops.
    pub _pending: PendingRound,
}

/// Counts a round that is not recorded yet, until it is dropped.
pub struct PendingRound(Arc<watch::Sender<usize>>);

impl Drop for PendingRound {
    fn drop(&mut self) {
        self.0.send_modify(|pending| *pending = pending.saturating_sub(1));
    }
}

impl Round {
    /// Its approximate size.
    fn bytes(&self) -> usize {
        let turns = self.exchange.said.iter().chain(&self.exchange.answer);
        let texts = turns.map(|turn| &turn.content).chain(&self.exchange.before);
        texts.map(String::len).sum::<usize>() + 1_000
    }
}

/// A waiting round, since when it waits, and its size.
struct Waiting {
    round: Round,
    since: Instant,
    bytes: usize,
}

/// A session of a user.
type SessionKey = (UserId, String);

/// What waits of one user.
struct UserQueue {
    bytes: usize,
    attempts: Arc<Semaphore>,
    /// Whether the last attempt failed.
    is_failing: bool,
}

/// The waiting rounds.
#[derive(Default)]
struct Queues {
    /// The rounds behind the one that is being recorded, by session. A session is listed while it
    /// has a task that records it.
    sessions: HashMap<SessionKey, VecDeque<Waiting>>,
    /// The users with a waiting round.
    users: HashMap<UserId, UserQueue>,
    bytes: usize,
}

impl Queues {
    /// Queues a round. Returns it if its session has no task; an error if too much waits already.
    fn add(
        &mut self,
        key: &SessionKey,
        round: Round,
        max_bytes: usize,
    ) -> Result<Option<Waiting>, ()> {
        let bytes = round.bytes();
        let of_user = self.users.get(&key.0).map_or(0, |user| user.bytes);
        let is_over_share = of_user > 0 && of_user + bytes > MAX_USER_BYTES.min(max_bytes);
        if is_over_share || self.bytes + bytes > max_bytes {
            return Err(());
        }
        self.bytes += bytes;
        let attempts = || Arc::new(Semaphore::new(MAX_USER_ATTEMPTS));
        let new = || UserQueue { bytes: 0, attempts: attempts(), is_failing: false };
        self.users.entry(key.0).or_insert_with(new).bytes += bytes;
        let waiting = Waiting { round, since: Instant::now(), bytes };
        match self.sessions.get_mut(key) {
            Some(behind) => {
                behind.push_back(waiting);
                Ok(None)
            }
            None => {
                self.sessions.insert(key.clone(), VecDeque::new());
                Ok(Some(waiting))
            }
        }
    }

    /// The next round of a session, after one that took this many bytes.
    fn next(&mut self, key: &SessionKey, bytes: usize) -> Option<Waiting> {
        self.bytes -= bytes;
        if let Some(user) = self.users.get_mut(&key.0) {
            user.bytes -= bytes;
            if user.bytes == 0 {
                self.users.remove(&key.0);
            }
        }
        let next = self.sessions.get_mut(key).and_then(VecDeque::pop_front);
        if next.is_none() {
            self.sessions.remove(key);
        }
        next
    }
}

/// Records a round.
type RecordRound =
    dyn for<'r> Fn(&'r Round) -> BoxFuture<'r, Result<(), RecordFault>> + Send + Sync;

/// Queues of rounds to record, each with a task.
#[derive(Clone)]
pub struct Recorder {
    record: Arc<RecordRound>,
    queues: Arc<Mutex<Queues>>,
    attempts: Arc<Semaphore>,
    retries: Arc<Semaphore>,
    max_bytes: usize,
    pending: Arc<watch::Sender<usize>>,
}

impl Recorder {
    pub fn new(app: &App) -> Self {
        let app = app.clone();
        Self::of(Arc::new(move |round| {
            let app = app.clone();
            async move { record(&app, round).await }.boxed()
        }))
    }

    fn of(record: Arc<RecordRound>) -> Self {
        Self {
            record,
            queues: Arc::default(),
            attempts: Arc::new(Semaphore::new(MAX_ATTEMPTS)),
            retries: Arc::new(Semaphore::new(MAX_RETRIES)),
            max_bytes: MAX_WAITING_BYTES,
            pending: Arc::new(watch::Sender::new(0)),
        }
    }

    /// Announces a round that will be recorded once it has ended.
    pub fn expect(&self) -> PendingRound {
        self.pending.send_modify(|pending| *pending += 1);
        PendingRound(Arc::clone(&self.pending))
    }

    /// Queues a round. If too many wait already, it is dropped.
    pub fn take(&self, round: Round) {
        let key = (round.caller.user, round.session.clone());
        let added = self.lock().add(&key, round, self.max_bytes);
        match added {
            Ok(Some(first)) => drop(tokio::spawn(self.clone().record_session(key, first))),
            Ok(None) => {}
            Err(()) => {
                tracing::error!("too many exchanges wait to be recorded: dropped one");
                record_lost_rounds("queue_full", 1);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records the rounds of a session until none is left.
    async fn record_session(self, key: SessionKey, first: Waiting) {
        let mut next = Some(first);
        while let Some(waiting) = next {
            self.record_round(&waiting).await;
            next = self.lock().next(&key, waiting.bytes);
        }
    }

    /// Records a round, and tries again while that may help.
    async fn record_round(&self, waiting: &Waiting) {
        let mut pause = FIRST_RETRY_PAUSE;
        while let Err(fault) = self.attempt(&waiting.round).await {
            if !fault.may_retry || waiting.since.elapsed() > RETRY_TIMEOUT {
                tracing::error!(error = fault.reason, "could not record an exchange");
                record_lost_rounds(if fault.may_retry { "unavailable" } else { "refused" }, 1);
                break;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(MAX_RETRY_PAUSE);
        }
    }

    /// Tries to record a round, when its user and the others leave room for it.
    async fn attempt(&self, round: &Round) -> Result<(), RecordFault> {
        let user = round.caller.user;
        let of_user = self.lock().users.get(&user).map(|user| Arc::clone(&user.attempts));
        let _turn = match of_user {
            Some(attempts) => attempts.acquire_owned().await.ok(),
            None => None,
        };
        let is_failing = self.lock().users.get(&user).is_some_and(|user| user.is_failing);
        let permits = if is_failing { &self.retries } else { &self.attempts };
        let _permit = permits.acquire().await.ok();
        // A panic would leave the later rounds of the session without a task.
        let done = AssertUnwindSafe((self.record)(round)).catch_unwind().await;
        let done = done.unwrap_or_else(|_| Err(RecordFault::panicked()));
        let has_failed = done.as_ref().is_err_and(|fault| fault.may_retry);
        if let Some(user) = self.lock().users.get_mut(&user) {
            user.is_failing = has_failed;
        }
        done
    }

    /// Waits until all pending rounds have been recorded, or until the timeout.
    pub async fn drain(&self, within: Duration) {
        let mut pending = self.pending.subscribe();
        let done = pending.wait_for(|pending| *pending == 0);
        if tokio::time::timeout(within, done).await.is_err() {
            let lost = *self.pending.borrow();
            tracing::error!(lost, "exchanges were not recorded before shutdown");
            record_lost_rounds("shutdown", lost);
        }
    }
}

/// Why a round was not recorded.
struct RecordFault {
    may_retry: bool,
    reason: String,
}

impl RecordFault {
    fn panicked() -> Self {
        Self { may_retry: false, reason: "recording it panicked".to_owned() }
    }
}

impl From<Error> for RecordFault {
    fn from(error: Error) -> Self {
        let may_retry =
            matches!(error, Error::Unavailable(_) | Error::SchemaMissing(_) | Error::Internal(_));
        Self { may_retry, reason: error.to_string() }
    }
}

impl From<Problem> for RecordFault {
    fn from(problem: Problem) -> Self {
        Self { may_retry: !problem.is(ErrorCode::Unauthenticated), reason: problem.sentence() }
    }
}

async fn record(app: &App, round: &Round) -> Result<(), RecordFault> {
    app.recheck(&round.credential).await?;
    let engine = app.engine();
    // An earlier attempt may have committed without a confirmation: turns that the session already
    // has are not appended again.
    let request = Request::new(round.caller.clone(), app.moment());
    let appended =
        engine.sessions.append_exchange(&request, &round.session, round.exchange.clone()).await;
    let Err(Error::MemoryNotFound) = appended else {
        return appended.map(drop).map_err(RecordFault::from);
    };
    // A memory that the answer cites has been erased since; record the answer without citations.
    let mut exchange = round.exchange.clone();
    exchange.answer.iter_mut().for_each(|answer| answer.used.clear());
    engine.sessions.append_exchange(&request, &round.session, exchange).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI32, Ordering};

    use lukasa_core::{NewTurn, Role, TenantId};
    use metrics_exporter_prometheus::PrometheusBuilder;
    use tokio::sync::mpsc;

    use super::*;

    /// A round of a session with this message.
    fn round(recorder: &Recorder, user: &str, session: &str, message: &str) -> Round {
        Round {
            caller: Caller::human(TenantId::named("acme"), user, "local"),
            credential: HeldCredential::default(),
            session: session.into(),
            exchange: Exchange {
                said: vec![NewTurn::saying(Role::User, message)],
                ..Exchange::default()
            },
            _pending: recorder.expect(),
        }
    }

    fn unavailable() -> RecordFault {
        RecordFault { may_retry: true, reason: "unavailable".into() }
    }

    #[test]
    fn lost_rounds_are_counted_by_reason() {
        let metrics = PrometheusBuilder::new().build_recorder();
        let rendered = metrics.handle();
        // No memory for waiting rounds.
        let recorder =
            Recorder { max_bytes: 0, ..Recorder::of(Arc::new(|_| async { Ok(()) }.boxed())) };
        let round = round(&recorder, "alice", "one", "Hello");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        metrics::with_local_recorder(&metrics, || {
            recorder.take(round);
            let still_answering = [recorder.expect(), recorder.expect()];
            runtime.block_on(recorder.drain(Duration::ZERO));
            drop(still_answering);
        });
        let text = rendered.render();
        for (reason, lost) in [("queue_full", 1), ("shutdown", 2)] {
            let line = format!("lukasa_gateway_rounds_lost_total{{reason=\"{reason}\"}} {lost}\n");
            assert!(text.contains(&line), "{text}");
        }
    }

    #[tokio::test]
    async fn rounds_that_cannot_be_recorded_do_not_delay_other_sessions() {
        let (sender, mut recorded) = mpsc::unbounded_channel();
        let failures = Arc::new(AtomicI32::new(3));
        let recorder = Recorder::of(Arc::new(move |round: &Round| {
            let (sender, failures) = (sender.clone(), failures.clone());
            async move {
                match round.session.as_str() {
                    session if session.starts_with("silent") => std::future::pending().await,
                    "broken" => panic!("planted"),
                    "failing" if failures.fetch_sub(1, Ordering::Relaxed) > 0 => {
                        return Err(unavailable());
                    }
                    _ => {}
                }
                sender.send(round.exchange.said[0].content.clone()).unwrap();
                Ok(())
            }
            .boxed()
        }));
        for number in 0..2 * MAX_ATTEMPTS {
            let (user, session) = (format!("busy {}", number % 2), format!("silent {number}"));
            recorder.take(round(&recorder, &user, &session, "never"));
        }
        for message in ["1", "2", "3"] {
            recorder.take(round(&recorder, "alice", "failing", message));
        }
        recorder.take(round(&recorder, "alice", "broken", "never"));
        recorder.take(round(&recorder, "alice", "other", "0"));
        for expected in ["0", "1", "2", "3"] {
            let next = tokio::time::timeout(Duration::from_secs(20), recorded.recv()).await;
            assert_eq!(next.unwrap().as_deref(), Some(expected));
        }
        let left: Vec<SessionKey> = recorder.lock().sessions.keys().cloned().collect();
        assert_eq!(left.len(), 2 * MAX_ATTEMPTS, "those of the busy users: {left:?}");
        assert_eq!(recorder.lock().users.len(), 2);
    }

    #[tokio::test]
    async fn waiting_rounds_of_a_user_are_limited_to_a_share() {
        let recorder = Recorder::of(Arc::new(|_| std::future::pending().boxed()));
        let message = "x".repeat(MAX_USER_BYTES / 4);
        let waiting = |recorder: &Recorder| *recorder.pending.borrow();
        for _ in 0..10 {
            recorder.take(round(&recorder, "alice", "one", &message));
        }
        assert_eq!(waiting(&recorder), 3);
        recorder.take(round(&recorder, "bob", "one", &"x".repeat(2 * MAX_USER_BYTES)));
        assert_eq!(waiting(&recorder), 4, "a single one may be larger");
        recorder.take(round(&recorder, "bob", "two", ""));
        assert_eq!(waiting(&recorder), 4);
    }
}
