//! A supervisor: starts a program, and restarts it whenever it dies, as an operator's would.

use std::time::Duration;

use anyhow::{Context, Result};
use tokio::process::Command;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// How long a program that died stays down. Short, so that most of a run is spent serving.
const RESTART_DELAY: Duration = Duration::from_millis(25);

/// How often a program was started, and its process while it runs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Life {
    pub starts: u64,
    pub pid: Option<u32>,
}

/// A program that is kept running until this is dropped.
pub struct Supervised {
    life: watch::Receiver<Life>,
    task: JoinHandle<()>,
}

impl Supervised {
    pub fn start(command: impl Fn() -> Result<Command> + Send + 'static) -> Self {
        let (tell, life) = watch::channel(Life::default());
        let task = tokio::spawn(async move {
            let mut starts = 0;
            loop {
                let child = command().and_then(|mut command| {
                    // A process group of its own, so that Ctrl-C in a terminal reaches only this
                    // program, which then stops the others in order.
                    command.kill_on_drop(true).process_group(0).spawn().context("spawn")
                });
                match child {
                    Ok(mut child) => {
                        starts += 1;
                        tell.send_replace(Life { starts, pid: child.id() });
                        let _ = child.wait().await;
                        tell.send_replace(Life { starts, pid: None });
                    }
                    Err(error) => eprintln!("kills: cannot start a program: {error:#}"),
                }
                tokio::time::sleep(RESTART_DELAY).await;
            }
        });
        Self { life, task }
    }

    pub fn life(&self) -> Life {
        *self.life.borrow()
    }

    /// Returns once the process of `life` is gone.
    pub async fn gone(&self, life: Life) {
        let mut watching = self.life.clone();
        // The sender lives as long as the task; if that has ended, so has the process.
        let _ = watching.wait_for(|now| now.starts > life.starts || now.pid.is_none()).await;
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Sends SIGKILL to all of them, as nearly at once as possible. Processes that are gone are
/// ignored.
pub async fn sigkill(pids: &[u32]) -> Result<()> {
    signal("KILL", pids).await
}

/// A process and all its children, to be killed together. It is stopped first: a child that it
/// starts between the listing and the kill would survive, wait forever for a lock of a dead
/// process, and prevent the next PostgreSQL from starting.
pub async fn hold_family(parent: u32) -> Result<Vec<u32>> {
    signal("STOP", &[parent]).await?;
    while state_of(parent).is_some_and(|state| !matches!(state, 'T' | 't' | 'Z' | 'X')) {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let children = children(parent).into_iter().map(|(pid, _)| pid);
    Ok([parent].into_iter().chain(children).collect())
}

async fn signal(name: &str, pids: &[u32]) -> Result<()> {
    if pids.is_empty() {
        return Ok(());
    }
    let pids = pids.iter().map(u32::to_string);
    let mut kill = Command::new("sh");
    kill.args(["-c", "kill -\"$0\" \"$@\" 2>/dev/null || true", name]).args(pids);
    kill.status().await.context("cannot run kill")?;
    Ok(())
}

/// The children of a process, each with the title it gave itself.
pub fn children(parent: u32) -> Vec<(u32, String)> {
    let Ok(all) = std::fs::read_dir("/proc") else { return Vec::new() };
    let pids = all.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let of_parent = pids.filter(|pid| parent_of(*pid) == Some(parent));
    of_parent.map(|pid| (pid, title(pid))).collect()
}

pub fn is_alive(pid: u32) -> bool {
    parent_of(pid).is_some()
}

fn parent_of(pid: u32) -> Option<u32> {
    status(pid)?.split(' ').nth(1)?.parse().ok()
}

fn state_of(pid: u32) -> Option<char> {
    status(pid)?.chars().next()
}

/// The status of a process in /proc, from its state on.
fn status(pid: u32) -> Option<String> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in brackets and may itself contain brackets and spaces; the state and the parent
    // follow the last one.
    stat.rsplit_once(") ").map(|(_, rest)| rest.to_owned())
}

fn title(pid: u32) -> String {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&line).replace('\0', " ").trim().to_owned()
}
