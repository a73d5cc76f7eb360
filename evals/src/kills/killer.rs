//! The killer: SIGKILL to the server, to a backend, or to the whole of PostgreSQL, at random.

use std::time::{Duration, Instant};

use anyhow::Result;
use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;

use super::cluster::{Cluster, RECOVERY_LIMIT};
use super::supervise::{children, hold_family, is_alive, sigkill};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The server's process.
    Server,
    /// One of PostgreSQL's processes; the postmaster then ends all others and recovers.
    Backend,
    /// The postmaster and all its children at once.
    Postmaster,
}

impl Kind {
    pub const ALL: [(Self, &'static str); 3] = [
        (Self::Server, "server"),
        (Self::Backend, "one backend"),
        (Self::Postmaster, "all of PostgreSQL"),
    ];

    pub fn any(rng: &mut StdRng) -> Self {
        Self::ALL[rng.random_range(0..Self::ALL.len())].0
    }

    /// One that may be killed while PostgreSQL is recovering. A single backend may not: when the
    /// process that replays the log dies, the postmaster of 18.6 waits for it forever.
    pub fn any_while_recovering(rng: &mut StdRng) -> Self {
        if rng.random_bool(0.5) { Self::Server } else { Self::Postmaster }
    }
}

/// Pause before the next kill: between 0.2 and 1.5 seconds, more often short than long.
pub fn pause(rng: &mut StdRng) -> Duration {
    let part: f64 = rng.random();
    Duration::from_secs_f64(0.2 + 1.3 * part * part)
}

/// Kills one, and returns when it is dead; false if there was nothing to kill.
pub async fn strike(cluster: &Cluster, kind: Kind, rng: &mut StdRng) -> Result<bool> {
    match kind {
        Kind::Server => {
            let server = cluster.server()?;
            let life = server.life();
            let Some(pid) = life.pid else { return Ok(false) };
            sigkill(&[pid]).await?;
            server.gone(life).await;
        }
        Kind::Postmaster => {
            let postmaster = cluster.postmaster()?;
            let life = postmaster.life();
            let Some(pid) = life.pid else { return Ok(false) };
            sigkill(&hold_family(pid).await?).await?;
            postmaster.gone(life).await;
        }
        Kind::Backend => {
            let Some(pid) = cluster.postmaster()?.life().pid else { return Ok(false) };
            let all = children(pid);
            let serving = |title: &str| title.contains("127.0.0.1");
            let of_clients: Vec<u32> =
                all.iter().filter(|(_, title)| serving(title)).map(|(pid, _)| *pid).collect();
            // Mostly one that serves a client; at times a shared one, such as the WAL writer or the
            // checkpointer.
            let any: Vec<u32> = all.iter().map(|(pid, _)| *pid).collect();
            let rarely = rng.random_bool(0.2);
            let from = if of_clients.is_empty() || rarely { &any } else { &of_clients };
            let Some(victim) = from.choose(rng).copied() else { return Ok(false) };
            sigkill(&[victim]).await?;
            // Until the postmaster has noticed, the other backends still answer.
            let started = Instant::now();
            while of_clients.iter().chain([&victim]).any(|pid| is_alive(*pid))
                && started.elapsed() < RECOVERY_LIMIT
            {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        }
    }
    Ok(true)
}
