//! Workers: tasks that ask for what is due, do it, and ask again. They decide nothing; the engine
//! does.

use std::time::Duration;

use quipu_engine::Engine;
use quipu_engine::jobs::Worked;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::clock;

/// How long to wait when nothing is due. Whoever queues a job on this or another server is heard of
/// within this time, without anybody having to send word.
const PAUSE: Duration = Duration::from_millis(500);
/// How long to wait when the database is away.
const AWAY: Duration = Duration::from_secs(5);

/// Workers that run until they are told to stop.
pub struct Workers {
    tasks: JoinSet<()>,
    stop: watch::Sender<bool>,
}

impl Workers {
    pub fn start(engine: &Engine, count: usize) -> Self {
        let (stop, stopped) = watch::channel(false);
        let mut tasks = JoinSet::new();
        for number in 0..count {
            let (engine, mut stopped) = (engine.clone(), stopped.clone());
            let name = format!("{}-{number}", std::process::id());
            tasks.spawn(async move {
                while !*stopped.borrow() {
                    // In a task of its own, so that a job that panics takes no worker with it. The
                    // job is tried again when its lease has run out.
                    let (its, by) = (engine.clone(), name.clone());
                    let work = async move { its.work(&by, clock::moment()).await };
                    let pause = match tokio::spawn(work).await {
                        Ok(Ok(Worked::Nothing)) => PAUSE,
                        Ok(Ok(_)) => continue,
                        Ok(Err(error)) => {
                            tracing::debug!(%error, "no work could be asked for");
                            AWAY
                        }
                        Err(_) => {
                            tracing::error!("a job panicked");
                            PAUSE
                        }
                    };
                    tokio::select! {
                        () = tokio::time::sleep(pause) => {}
                        _ = stopped.changed() => {}
                    }
                }
            });
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
