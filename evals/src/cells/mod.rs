//! Three cells while users are moved between them and cells are stopped: no acknowledged write may be
//! lost or doubled, no user may be in two cells, and nothing may be refused while all cells run.
//!
//! Clients save memories, each with an idempotency key, and read them back. A mover moves random
//! ranges between random cells with `lukasa cell move`; some moves are killed, and then continued or
//! reversed. A fault planted in the databases (`--fault`) shows that the check works. `--latency`
//! measures instead what several cells cost, and what a stopped cell does to the users of others.

mod latency;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::json;
use tokio::process::Command;
use tokio::task::JoinSet;

use crate::processes::{Cluster, Serve, Server, connect, server_program};

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
The eval runs three PostgreSQL servers and a Lukasa server of its own, on loopback and in a temporary
folder, and removes them when it ends. It exits with 1 if a rule is broken; with --fault, if that was not
noticed.")]
pub struct Args {
    /// Length of the run in seconds
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Number of users
    #[arg(long, default_value_t = 60)]
    users: usize,
    /// How often a cell is stopped and started again
    #[arg(long, default_value_t = 3)]
    stops: u64,
    /// Seed of the random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Plant a fault that must be noticed
    #[arg(long)]
    fault: Option<Fault>,
    /// Only measure: three cells beside one, and other users while a cell is stopped
    #[arg(long)]
    latency: bool,
    /// Path of the server; next to this program by default
    #[arg(long, env = "LUKASA_BIN", value_name = "FILE")]
    server: Option<PathBuf>,
    /// Keep the databases and the logs
    #[arg(long)]
    keep: bool,
}

/// A fault planted in the databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Fault {
    /// Cells accept every user.
    NoFence,
}

const CLIENTS: usize = 4;
/// How long a write may wait for a move.
const MAX_WRITE_TIME: Duration = Duration::from_secs(5);
const NAMES: [&str; 3] = ["main", "east", "west"];

/// What the clients have seen.
#[derive(Default)]
struct Seen {
    /// The acknowledged memories of each user.
    acknowledged: BTreeMap<String, BTreeSet<String>>,
    writes: u64,
    /// Answers other than success, while all cells were running.
    refused: Vec<String>,
    /// Reads without an acknowledged memory.
    missing: Vec<String>,
    slowest_write: Duration,
}

/// The state that clients, mover and main task share.
struct Run {
    stop: AtomicBool,
    /// Whether a cell is stopped, or was a moment ago.
    is_disturbed: AtomicBool,
    moves: AtomicU64,
    killed_moves: AtomicU64,
    address: String,
}

pub async fn run(args: Args) -> Result<()> {
    println!("seed {}", args.seed);
    lukasa_models::tls::install();
    let program = server_program(args.server.as_deref())?;
    let folder = std::env::temp_dir().join(format!("lukasa-cells-{}", std::process::id()));
    if args.latency {
        return latency::measure(&program, &folder, args.keep).await;
    }
    let mut clusters = Vec::new();
    for name in NAMES {
        let settings = "-c wal_level=logical -c shared_buffers=64MB";
        clusters.push(Cluster::start_with(&folder.join(name), args.keep, settings)?);
    }
    let urls: Vec<String> = clusters.iter().map(|cluster| cluster.url("lukasa")).collect();
    for url in &urls {
        lukasa(&program, url, &["migrate"]).await?;
    }
    for (name, url) in NAMES.iter().zip(&urls).skip(1) {
        lukasa(&program, &urls[0], &["cell", "add", name, url]).await?;
    }
    if args.fault == Some(Fault::NoFence) {
        for url in &urls {
            let sql = "create or replace function check_placement(tenant uuid, person uuid, \
                       via bigint) returns void language plpgsql as 'begin end'";
            connect(url).await?.batch_execute(sql).await?;
        }
    }
    let serve = Serve {
        program: &program,
        database: &urls[0],
        auth: "off",
        pool: 16,
        migrate: false,
        models: None,
        filter: "warn",
        log: &folder.join("server.log"),
    };
    let server = Server::start(&serve).await?;
    let run = Arc::new(Run {
        stop: AtomicBool::new(false),
        is_disturbed: AtomicBool::new(false),
        moves: AtomicU64::new(0),
        killed_moves: AtomicU64::new(0),
        address: format!("http://{}", server.address),
    });
    let mut clients = JoinSet::new();
    for number in 0..CLIENTS {
        let users: Vec<String> =
            (number..args.users).step_by(CLIENTS).map(|user| format!("user{user}")).collect();
        clients.spawn(write_and_read(run.clone(), users, args.seed + number as u64));
    }
    let mover = tokio::spawn(move_ranges(run.clone(), program.clone(), urls[0].clone(), args.seed));
    let started = Instant::now();
    let pause = Duration::from_secs(args.seconds) / u32::try_from(args.stops + 1).unwrap_or(1);
    for stop in 0..args.stops {
        tokio::time::sleep(pause.saturating_sub(Duration::from_secs(3))).await;
        let cluster = &clusters[1 + usize::try_from(stop % 2).unwrap_or(0)];
        run.is_disturbed.store(true, Ordering::Relaxed);
        tokio::task::block_in_place(|| cluster.stop())?;
        ensure!(is_ready(&run.address).await, "the server is not ready while a cell is stopped");
        tokio::task::block_in_place(|| cluster.start_again())?;
        // Connections are made again, and an interrupted move is continued.
        tokio::time::sleep(Duration::from_secs(3)).await;
        run.is_disturbed.store(false, Ordering::Relaxed);
    }
    tokio::time::sleep(Duration::from_secs(args.seconds).saturating_sub(started.elapsed())).await;
    run.stop.store(true, Ordering::Relaxed);
    mover.await??;
    let mut seen = Seen::default();
    for one in clients.join_all().await {
        seen.acknowledged.extend(one.acknowledged);
        seen.writes += one.writes;
        seen.refused.extend(one.refused);
        seen.missing.extend(one.missing);
        seen.slowest_write = seen.slowest_write.max(one.slowest_write);
    }
    let rows = compare(&urls, &seen).await?;
    let figures = json!({
        "writes": seen.writes, "moves": run.moves.load(Ordering::Relaxed),
        "killed_moves": run.killed_moves.load(Ordering::Relaxed), "stops": args.stops,
        "lost": rows.lost, "doubled": rows.doubled, "users_in_two_cells": rows.in_two_cells,
        "refused": seen.refused.len(), "missing_in_reads": seen.missing.len(),
        "slowest_write_ms": u64::try_from(seen.slowest_write.as_millis()).unwrap_or(0),
        "users_per_cell": rows.users,
    });
    println!("{}", serde_json::to_string_pretty(&figures)?);
    for text in seen.refused.iter().chain(&seen.missing).take(5) {
        println!("  {text}");
    }
    drop(server);
    let broken = rows.lost + rows.doubled + rows.in_two_cells > 0
        || !seen.refused.is_empty()
        || !seen.missing.is_empty()
        || seen.slowest_write > MAX_WRITE_TIME;
    ensure!(run.moves.load(Ordering::Relaxed) > 0, "no range was moved");
    match (args.fault, broken) {
        (None, true) => bail!("a rule is broken"),
        (Some(_), false) => bail!("the fault was not noticed"),
        _ => Ok(()),
    }
}

async fn lukasa(program: &Path, database: &str, arguments: &[&str]) -> Result<()> {
    let output = Command::new(program)
        .args(arguments)
        .env("DATABASE_URL", database)
        .output()
        .await
        .context("lukasa does not run")?;
    let text = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "lukasa {}: {}", arguments.join(" "), text.trim());
    Ok(())
}

async fn is_ready(address: &str) -> bool {
    let reply = reqwest::get(format!("{address}/readyz")).await;
    reply.is_ok_and(|reply| reply.status().is_success())
}

/// Saves memories of some users, and reads each back.
async fn write_and_read(run: Arc<Run>, users: Vec<String>, seed: u64) -> Seen {
    let (mut random, http) = (StdRng::seed_from_u64(seed), reqwest::Client::new());
    let mut seen = Seen::default();
    let path = format!("{}/api/memory", run.address);
    while !run.stop.load(Ordering::Relaxed) {
        let user = &users[random.random_range(0..users.len())];
        seen.writes += 1;
        let content =
            format!("{user} keeps the item {} in box {}", seen.writes, random.random::<u32>());
        let key = format!("{seed}-{}", seen.writes);
        let was_disturbed = run.is_disturbed.load(Ordering::Relaxed);
        let started = Instant::now();
        let saved = loop {
            let request = http.post(&path).header("X-Lukasa-User", user);
            let request = request.header("Idempotency-Key", &key);
            let reply = request.json(&json!({ "content": content })).send().await;
            match reply.map(|reply| reply.status()) {
                Ok(status) if status.is_success() => break true,
                // A cell is away: the same request is repeated.
                _ if run.is_disturbed.load(Ordering::Relaxed) || was_disturbed => {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                }
                other => {
                    seen.refused.push(format!("write of {user}: {other:?}"));
                    break false;
                }
            }
            if run.stop.load(Ordering::Relaxed) || started.elapsed() > Duration::from_secs(60) {
                break false;
            }
        };
        if !was_disturbed && !run.is_disturbed.load(Ordering::Relaxed) {
            seen.slowest_write = seen.slowest_write.max(started.elapsed());
        }
        if !saved {
            continue;
        }
        seen.acknowledged.entry(user.clone()).or_default().insert(content.clone());
        let reply = http.get(format!("{path}?limit=5")).header("X-Lukasa-User", user).send().await;
        let is_disturbed = was_disturbed || run.is_disturbed.load(Ordering::Relaxed);
        match reply {
            Ok(reply) if reply.status().is_success() => {
                let found = reply.text().await.unwrap_or_default();
                if !found.contains(&content) {
                    seen.missing.push(format!("{user}: {content}"));
                }
            }
            other if !is_disturbed => {
                let status = other.map(|reply| reply.status());
                seen.refused.push(format!("read of {user}: {status:?}"));
            }
            _ => {}
        }
    }
    seen
}

/// Moves random ranges between random cells until the run ends. Every third move is killed, and then
/// continued or reversed. A move that was interrupted is repeated until it is finished.
async fn move_ranges(run: Arc<Run>, program: PathBuf, directory: String, seed: u64) -> Result<()> {
    let mut random = StdRng::seed_from_u64(seed ^ 0x6d6f_7665);
    while !run.stop.load(Ordering::Relaxed) {
        let (mut from, mut to) = (random.random_range(0..3), random.random_range(0..3));
        let (one, other) = (random.random::<u8>(), random.random::<u8>());
        if from == to {
            continue;
        }
        let range = format!("{:02x}-{:02x}", one.min(other), one.max(other));
        if random.random_range(0..3) == 0 {
            let after = Duration::from_millis(random.random_range(20..400));
            if killed_move(&program, &directory, [NAMES[from], NAMES[to], &range], after).await? {
                run.killed_moves.fetch_add(1, Ordering::Relaxed);
                // Clients go on writing before the move is continued or reversed.
                tokio::time::sleep(Duration::from_millis(random.random_range(0..500))).await;
                if random.random() {
                    (from, to) = (to, from);
                }
            }
        }
        let arguments = ["cell", "move", NAMES[from], NAMES[to], "--range", &range];
        for _ in 0..60 {
            match lukasa(&program, &directory, &arguments).await {
                Ok(()) => {
                    run.moves.fetch_add(1, Ordering::Relaxed);
                    break;
                }
                // The cell holds no users of the range.
                Err(error) if error.to_string().contains("holds no users") => break,
                Err(error) => {
                    if !run.is_disturbed.load(Ordering::Relaxed) {
                        println!("  {error:#}");
                    }
                    tokio::time::sleep(Duration::from_millis(500)).await;
                }
            }
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    Ok(())
}

/// Begins a move and kills it after some time; whether it was killed before its end.
async fn killed_move(
    program: &Path,
    directory: &str,
    [from, to, range]: [&str; 3],
    after: Duration,
) -> Result<bool> {
    let mut child = Command::new(program)
        .args(["cell", "move", from, to, "--range", range])
        .env("DATABASE_URL", directory)
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()?;
    match tokio::time::timeout(after, child.wait()).await {
        Ok(_) => Ok(false),
        Err(_) => {
            child.kill().await?;
            Ok(true)
        }
    }
}

/// The tables with rows of users that are moved; the audit log stays where it was written.
const USER_TABLES: &str = "\
    select c.table_name::text from information_schema.columns c \
      join information_schema.tables t using (table_schema, table_name) \
     where c.table_schema = 'public' and c.column_name = 'user_id' \
       and t.table_type = 'BASE TABLE' and c.table_name <> 'audit'";

/// The rows of all cells, compared with what was acknowledged.
#[derive(Default)]
struct Rows {
    lost: usize,
    doubled: usize,
    in_two_cells: usize,
    users: Vec<usize>,
}

async fn compare(urls: &[String], seen: &Seen) -> Result<Rows> {
    let mut rows = Rows::default();
    let (mut contents, mut users) = (BTreeMap::<String, usize>::new(), BTreeMap::new());
    for url in urls {
        let client = connect(url).await?;
        let here = client.query("select user_id::text from users", &[]).await?;
        rows.users.push(here.len());
        // A user is in a cell if any table there has a row of the user.
        let mut found = BTreeSet::new();
        for table in client.query(USER_TABLES, &[]).await? {
            let table: String = table.get(0);
            let sql =
                format!("select distinct user_id::text from {table} where user_id is not null");
            let ids = client.query(&sql, &[]).await?;
            found.extend(ids.iter().map(|row| row.get::<_, String>(0)));
        }
        for user in found {
            *users.entry(user).or_insert(0_usize) += 1;
        }
        let sql = "select content from fact_version where known_until is null";
        for row in client.query(sql, &[]).await? {
            *contents.entry(row.get(0)).or_default() += 1;
        }
    }
    rows.in_two_cells = users.values().filter(|cells| **cells > 1).count();
    rows.doubled = contents.values().filter(|copies| **copies > 1).count();
    let acknowledged = seen.acknowledged.values().flatten();
    rows.lost = acknowledged.filter(|content| !contents.contains_key(*content)).count();
    Ok(rows)
}
