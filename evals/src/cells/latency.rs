//! The latency of three cells beside one, and the effect of a stopped cell on the users of the others.

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{NAMES, is_ready, lukasa};
use crate::processes::{Cluster, Serve, Server, connect};

const CLIENTS: usize = 4;
const USERS: usize = 90;
const ROUND: Duration = Duration::from_secs(3);
const ROUNDS: usize = 6;
/// Slowest allowed median with three cells, beside one cell.
const MAX_THREE_CELLS_RATIO: f64 = 1.05;
/// Slowest allowed 99th percentile of other cells' users while a cell is stopped, beside before.
const MAX_STOPPED_CELL_RATIO: f64 = 1.2;

/// Milliseconds of successful requests, and the number of others.
#[derive(Default)]
struct Sample {
    times: Vec<f64>,
    failed: usize,
}

impl Sample {
    fn add(&mut self, other: Self) {
        self.times.extend(other.times);
        self.failed += other.failed;
    }

    fn percentile(&self, share: f64) -> f64 {
        let mut times = self.times.clone();
        times.sort_unstable_by(f64::total_cmp);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss
        )]
        let place = (times.len() as f64 * share) as usize;
        times.get(place.min(times.len().saturating_sub(1))).copied().unwrap_or(f64::NAN)
    }

    fn figures(&self) -> Value {
        let [p50, p95, p99] = [0.5, 0.95, 0.99].map(|share| round(self.percentile(share)));
        json!({ "requests": self.times.len(), "failed": self.failed, "p50_ms": p50, "p95_ms": p95, "p99_ms": p99 })
    }
}

/// Measures and prints the figures; fails if a ratio is above its limit.
pub async fn measure(program: &Path, folder: &Path, keep: bool) -> Result<()> {
    let start = |name: &str| {
        Cluster::start_with(&folder.join(name), keep, "-c wal_level=logical -c shared_buffers=64MB")
    };
    let alone = start("alone")?;
    let cells = NAMES.map(start).into_iter().collect::<Result<Vec<_>>>()?;
    let urls: Vec<String> = cells.iter().map(|cluster| cluster.url("lukasa")).collect();
    for url in urls.iter().chain([&alone.url("lukasa")]) {
        lukasa(program, url, &["migrate"]).await?;
    }
    for (name, url) in NAMES.iter().zip(&urls).skip(1) {
        lukasa(program, &urls[0], &["cell", "add", name, url]).await?;
    }
    let (one, three) = (alone.url("lukasa"), urls[0].clone());
    let [one_log, three_log] = ["one.log", "three.log"].map(|name| folder.join(name));
    let one = Server::start(&serve(program, &one, &one_log)).await?;
    let three = Server::start(&serve(program, &three, &three_log)).await?;
    let users: Vec<String> = (0..USERS).map(|number| format!("user{number}")).collect();
    for server in [&one, &three] {
        exchange(&address(server), &users, Duration::ZERO).await;
    }
    for (name, range) in [(NAMES[1], "55-a9"), (NAMES[2], "aa-ff")] {
        lukasa(program, &urls[0], &["cell", "move", NAMES[0], name, "--range", range]).await?;
    }
    let mut names = Vec::new();
    for url in &urls {
        let rows = connect(url)
            .await?
            .query("select name from users where deleted_at is null", &[])
            .await?;
        names.push(rows.iter().map(|row| row.get(0)).collect::<Vec<String>>());
    }
    ensure!(names.iter().all(|names| names.len() > 5), "a cell has too few users");

    // Alternately, so that both have the same share of the machine's other work.
    let (mut with_one, mut with_three) = (Sample::default(), Sample::default());
    for _ in 0..ROUNDS {
        with_one.add(exchange(&address(&one), &users, ROUND).await);
        with_three.add(exchange(&address(&three), &users, ROUND).await);
    }
    let staying: Vec<String> = names[..2].concat();
    let (mut before, mut during) = (Sample::default(), Sample::default());
    for _ in 0..ROUNDS / 2 {
        // Requests for the users of the third cell go on in both.
        let others = || {
            let (others, target) = (names[2].clone(), address(&three));
            tokio::spawn(async move { exchange(&target, &others, ROUND).await })
        };
        let served = others();
        before.add(exchange(&address(&three), &staying, ROUND).await);
        ensure!(served.await?.failed == 0, "the third cell did not answer");
        tokio::task::block_in_place(|| cells[2].stop())?;
        let refused = others();
        during.add(exchange(&address(&three), &staying, ROUND).await);
        ensure!(
            is_ready(&address(&three)).await,
            "the server is not ready while a cell is stopped"
        );
        let refused = refused.await.context("the requests to the stopped cell")?;
        ensure!(refused.times.is_empty(), "the stopped cell answered");
        tokio::task::block_in_place(|| cells[2].start_again())?;
        tokio::time::sleep(Duration::from_secs(3)).await;
    }
    let ratio = with_three.percentile(0.5) / with_one.percentile(0.5);
    let stopped_ratio = during.percentile(0.99) / before.percentile(0.99);
    let figures = json!({
        "one_cell": with_one.figures(), "three_cells": with_three.figures(),
        "three_to_one_p50": round(ratio),
        "before_the_stop": before.figures(), "one_cell_stopped": during.figures(),
        "stopped_to_before_p99": round(stopped_ratio),
        "users_per_cell": names.iter().map(Vec::len).collect::<Vec<_>>(),
    });
    println!("{}", serde_json::to_string_pretty(&figures)?);
    let failed = with_one.failed + with_three.failed + before.failed + during.failed;
    ensure!(failed == 0, "{failed} requests failed");
    ensure!(ratio <= MAX_THREE_CELLS_RATIO, "three cells are {ratio:.2} times as slow as one");
    ensure!(
        stopped_ratio <= MAX_STOPPED_CELL_RATIO,
        "a stopped cell slows others down {stopped_ratio:.2} times"
    );
    Ok(())
}

fn serve<'a>(program: &'a Path, database: &'a str, log: &'a Path) -> Serve<'a> {
    Serve {
        program,
        database,
        auth: "off",
        pool: 16,
        migrate: false,
        models: None,
        filter: "warn",
        log,
    }
}

fn address(server: &Server) -> String {
    format!("http://{}", server.address)
}

/// Saves a memory and reads the list, for one user after the other, until the time is over, and at
/// least once for each user.
async fn exchange(address: &str, users: &[String], time: Duration) -> Sample {
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let users: Vec<String> = users.iter().skip(number).step_by(CLIENTS).cloned().collect();
        let path = format!("{address}/api/memory");
        clients.spawn(async move {
            let (http, mut sample) = (reqwest::Client::new(), Sample::default());
            let started = Instant::now();
            for (count, user) in users.iter().cycle().enumerate() {
                if count >= users.len() && started.elapsed() >= time {
                    break;
                }
                let item = format!("{user} keeps the item {}", next_item());
                let content = json!({ "content": item });
                let save = http.post(&path).json(&content);
                let list = http.get(format!("{path}?limit=5"));
                for request in [save, list] {
                    let began = Instant::now();
                    let request = request.header("X-Lukasa-User", user);
                    let reply = async { request.send().await?.error_for_status()?.bytes().await };
                    match reply.await {
                        Ok(_) => sample.times.push(began.elapsed().as_secs_f64() * 1_000.0),
                        Err(_) => sample.failed += 1,
                    }
                }
            }
            sample
        });
    }
    let mut sample = Sample::default();
    for one in clients.join_all().await {
        sample.add(one);
    }
    sample
}

/// A number that no other memory of the run has.
fn next_item() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

fn round(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
