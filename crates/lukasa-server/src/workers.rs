//! Workers: tasks that ask for due jobs, lane by lane, and do them. They decide nothing; the engine does.

use std::time::Duration;

use lukasa_engine::Engine;
use lukasa_engine::jobs::Lane;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::clock;

/// How long to wait when nothing is due. A job that is queued on this or another server is noticed
/// within this time, without a message between them.
const PAUSE: Duration = Duration::from_millis(500);
/// How long to wait when the database is away.
const AWAY: Duration = Duration::from_secs(5);
/// How often to look for erasures that another process has left unfinished.
const ERASURE_PAUSE: Duration = Duration::from_secs(2);

/// How many jobs of a lane run at a time in a process with so many workers. Closing sessions and
/// upkeep are cheaper than learning and deliveries, or less urgent.
pub fn lane_workers(lane: Lane, workers: usize) -> usize {
    match lane {
        Lane::Learning | Lane::Webhooks => workers,
        Lane::Upkeep => workers.div_ceil(2),
        Lane::Sessions => workers.min(1),
    }
}

/// How many connections so many workers have use for: one for each job, one for erasures, and some for
/// notes about what was given.
pub fn connections(workers: usize) -> usize {
    Lane::ALL.iter().map(|lane| lane_workers(*lane, workers)).sum::<usize>() + 3
}

/// Workers that run until they are told to stop.
pub struct Workers {
    tasks: JoinSet<()>,
    stop: watch::Sender<bool>,
}

impl Workers {
    pub fn start(engine: &Engine, count: usize) -> Self {
        let engine = engine.in_background();
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        if count > 0 {
            for lane in Lane::ALL {
                let workers = lane_workers(*lane, count);
                tasks.spawn(run_lane(engine.clone(), *lane, workers, stopped.clone()));
            }
            tasks.spawn(run_erasures(engine, stopped));
        }
        Self { tasks, stop }
    }

    /// Takes on nothing more, and waits so long for what is under way. What is cut off is taken on
    /// again by somebody else when its lease has run out.
    pub async fn stop(mut self, grace: Duration) {
        let _ = self.stop.send(true);
        let all = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(grace, all).await.is_err() {
            tracing::warn!("stopping with jobs still under way");
        }
    }
}

/// Runs the jobs of one lane, so many at a time.
async fn run_lane(engine: Engine, lane: Lane, workers: usize, mut stopped: watch::Receiver<bool>) {
    let name = format!("{}-{}", std::process::id(), lane.as_str());
    let mut running = JoinSet::new();
    while !*stopped.borrow() {
        let mut pause = PAUSE;
        while running.len() < workers {
            match engine.claim(lane, &name, workers, clock::now()).await {
                Ok(Some(assigned)) => {
                    // In a task of its own, so that a job that panics takes no worker with it. The
                    // job is tried again when its lease has run out.
                    let engine = engine.clone();
                    running.spawn(async move {
                        engine.perform_assigned(assigned, clock::moment()).await
                    });
                }
                Ok(None) => break,
                Err(error) => {
                    tracing::debug!(%error, lane = lane.as_str(), "the queue cannot be asked");
                    pause = AWAY;
                    break;
                }
            }
        }
        tokio::select! {
            Some(ended) = running.join_next() => match ended {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => tracing::debug!(%error, "a job could not be released"),
                Err(_) => tracing::error!(lane = lane.as_str(), "a job panicked"),
            },
            () = tokio::time::sleep(pause) => {}
            _ = stopped.changed() => {}
        }
    }
    while running.join_next().await.is_some() {}
}

/// Goes on with erasures of users that were begun and not finished.
async fn run_erasures(engine: Engine, mut stopped: watch::Receiver<bool>) {
    while !*stopped.borrow() {
        match engine.continue_erasure(clock::moment()).await {
            Ok(true) => continue,
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "an erasure could not be continued"),
        }
        tokio::select! {
            () = tokio::time::sleep(ERASURE_PAUSE) => {}
            _ = stopped.changed() => {}
        }
    }
}
