//! Workers: tasks that claim due jobs, lane by lane, and run them. All decisions are the engine's.

use std::time::Duration;

use lukasa_engine::Engine;
use lukasa_engine::jobs::Lane;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::clock::ServerClock;

/// Poll interval when no job is due. A job that is queued on this or another server is noticed
/// within this time, without a message between them.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Poll interval while the database is unavailable.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);
/// How often to look for erasures that another process has left unfinished.
const ERASURE_INTERVAL: Duration = Duration::from_secs(2);

/// Concurrent jobs of the lane of statements and closings. They are short, but one may wait for a
/// write of its user.
const SESSION_WORKERS: usize = 2;

/// Concurrent jobs of a lane in a process with `workers` workers. Closing sessions and upkeep are
/// cheaper or less urgent than learning and deliveries.
pub fn lane_workers(lane: Lane, workers: usize) -> usize {
    match lane {
        Lane::Learning | Lane::Webhooks => workers,
        Lane::Upkeep => workers.div_ceil(2),
        Lane::Sessions => workers.min(1) * SESSION_WORKERS,
    }
}

/// Database connections that `workers` workers can use: one for each job, one for erasures, and two
/// for best-effort writes such as retrieval usage.
pub fn connections(workers: usize) -> usize {
    Lane::ALL.iter().map(|lane| lane_workers(*lane, workers)).sum::<usize>() + 3
}

/// The worker tasks of a process. They run until [`Workers::stop`].
pub struct Workers {
    tasks: JoinSet<()>,
    stop: watch::Sender<bool>,
}

impl Workers {
    pub fn start(engine: &Engine, clock: &ServerClock, count: usize) -> Self {
        let engine = engine.in_background();
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        if count > 0 {
            for lane in Lane::ALL {
                let workers = lane_workers(lane, count);
                tasks.spawn(run_lane(
                    engine.clone(),
                    clock.clone(),
                    lane,
                    workers,
                    stopped.clone(),
                ));
            }
            tasks.spawn(run_erasures(engine, clock.clone(), stopped));
        }
        Self { tasks, stop }
    }

    /// Claims no more jobs and waits up to `grace` for the running ones. A job that is cut off is
    /// claimed again, by any worker, when its lease has expired.
    pub async fn stop(mut self, grace: Duration) {
        let _ = self.stop.send(true);
        let all = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(grace, all).await.is_err() {
            tracing::warn!("grace period is over: stopping with jobs still under way");
        }
    }
}

/// Runs the jobs of one lane, at most `workers` at a time.
async fn run_lane(
    engine: Engine,
    clock: ServerClock,
    lane: Lane,
    workers: usize,
    mut stopped: watch::Receiver<bool>,
) {
    let name = format!("{}-{}", std::process::id(), lane.as_str());
    let mut running = JoinSet::new();
    while !*stopped.borrow() {
        let mut pause = POLL_INTERVAL;
        while running.len() < workers {
            match engine.queue.claim(lane, &name, workers, clock.now()).await {
                Ok(Some(assigned)) => {
                    // In its own task, so that a panicking job does not end the worker. The job is
                    // tried again when its lease has expired.
                    let (engine, moment) = (engine.clone(), clock.moment());
                    running
                        .spawn(async move { engine.jobs.perform_assigned(assigned, moment).await });
                }
                Ok(None) => break,
                Err(error) => {
                    tracing::debug!(%error, lane = lane.as_str(), "could not poll the job queue");
                    pause = RETRY_INTERVAL;
                    break;
                }
            }
        }
        tokio::select! {
            Some(ended) = running.join_next() => match ended {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => tracing::debug!(%error, "could not record the end of a job"),
                Err(_) => tracing::error!(lane = lane.as_str(), "a job panicked"),
            },
            () = tokio::time::sleep(pause) => {}
            _ = stopped.changed() => {}
        }
    }
    while running.join_next().await.is_some() {}
}

/// Continues erasures of users that were begun and not finished.
async fn run_erasures(engine: Engine, clock: ServerClock, mut stopped: watch::Receiver<bool>) {
    while !*stopped.borrow() {
        match engine.erasures.continue_erasure(clock.moment()).await {
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "could not continue an erasure; retrying"),
        }
        tokio::select! {
            () = tokio::time::sleep(ERASURE_INTERVAL) => {}
            _ = stopped.changed() => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statement_of_a_user_does_not_wait_for_that_of_another() {
        for workers in [1, 2, 8] {
            assert!(lane_workers(Lane::Sessions, workers) >= 2);
        }
        assert_eq!(lane_workers(Lane::Sessions, 0), 0);
        assert_eq!(connections(2), 10, "the default in docs/operations.md");
    }
}
