//! Records the exchanges of the gateway in the background: no client waits for it.
//!
//! Rounds of one session are recorded in the order in which they ended. While the database is
//! unavailable they wait in memory, up to a size and time limit. They were not acknowledged to the
//! client, and are lost if the server stops meanwhile.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lukasa_core::{Caller, Exchange};
use lukasa_engine::{Error, Request};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

use crate::api::App;
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::recheck::HeldCredential;
use crate::telemetry::record_lost_rounds;

/// Number of workers. All rounds of a session go to the same worker.
const WORKERS: usize = 8;
/// Maximum size of all waiting rounds.
const MAX_WAITING_BYTES: usize = 64 << 20;
/// How long a round is retried while the database is unavailable.
const RETRY_TIMEOUT: Duration = Duration::from_secs(600);
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
    pub pending: PendingRound,
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
    fn bytes(&self) -> u32 {
        let turns = self.exchange.said.iter().chain(&self.exchange.answer);
        let bytes: usize = turns.map(|turn| turn.content.len()).sum();
        u32::try_from(bytes + 1_000).unwrap_or(u32::MAX)
    }
}

/// A waiting round, since when it waits, and the memory reserved for it.
type Waiting = (Round, Instant, OwnedSemaphorePermit);

/// Queues of rounds to record, with their workers.
#[derive(Clone)]
pub struct Recorder {
    workers: Vec<mpsc::UnboundedSender<Waiting>>,
    waiting_bytes: Arc<Semaphore>,
    pending: Arc<watch::Sender<usize>>,
}

impl Recorder {
    pub fn start(app: &App) -> Self {
        let worker = |_| {
            let (sender, rounds) = mpsc::unbounded_channel();
            tokio::spawn(run_worker(app.clone(), rounds));
            sender
        };
        let workers = (0..WORKERS).map(worker).collect();
        let waiting_bytes = Arc::new(Semaphore::new(MAX_WAITING_BYTES));
        Self { workers, waiting_bytes, pending: Arc::new(watch::Sender::new(0)) }
    }

    /// Announces a round that will be recorded once it has ended.
    pub fn expect(&self) -> PendingRound {
        self.pending.send_modify(|pending| *pending += 1);
        PendingRound(Arc::clone(&self.pending))
    }

    /// Queues a round. If too many wait already, it is dropped.
    pub fn take(&self, round: Round) {
        let mut hash = DefaultHasher::new();
        (round.caller.user.uuid(), &round.session).hash(&mut hash);
        let worker = usize::try_from(hash.finish() % WORKERS as u64).unwrap_or(0);
        let permit = Arc::clone(&self.waiting_bytes).try_acquire_many_owned(round.bytes());
        let send = |permit| self.workers[worker].send((round, Instant::now(), permit)).is_ok();
        if !permit.is_ok_and(send) {
            tracing::error!("too many exchanges wait to be recorded: dropped one");
            record_lost_rounds("queue_full", 1);
        }
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

async fn run_worker(app: App, mut rounds: mpsc::UnboundedReceiver<Waiting>) {
    while let Some((round, since, permit)) = rounds.recv().await {
        let mut pause = Duration::from_millis(100);
        while let Err(fault) = record(&app, &round).await {
            if !fault.may_retry || since.elapsed() > RETRY_TIMEOUT {
                tracing::error!(error = fault.reason, "could not record an exchange");
                record_lost_rounds(if fault.may_retry { "unavailable" } else { "refused" }, 1);
                break;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(MAX_RETRY_PAUSE);
        }
        drop((round.pending, permit));
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
    use lukasa_core::TenantId;
    use metrics_exporter_prometheus::PrometheusBuilder;

    use super::*;

    #[test]
    fn lost_rounds_are_counted_by_reason() {
        let metrics = PrometheusBuilder::new().build_recorder();
        let rendered = metrics.handle();
        // No memory for waiting rounds, and no worker.
        let recorder = Recorder {
            workers: Vec::new(),
            waiting_bytes: Arc::new(Semaphore::new(0)),
            pending: Arc::new(watch::Sender::new(0)),
        };
        let round = Round {
            caller: Caller::human(TenantId::named("acme"), "alice", "local"),
            credential: HeldCredential::default(),
            session: "one".into(),
            exchange: Exchange::default(),
            pending: recorder.expect(),
        };
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
}
