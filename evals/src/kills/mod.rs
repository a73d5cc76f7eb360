//! Kills under load: no acknowledged write may be lost, duplicated or half done.
//!
//! Clients write over HTTP to a server and a PostgreSQL that this eval runs for itself, and a
//! killer sends SIGKILL to one of them again and again. A checker then compares the acknowledged
//! writes with the database. Faults planted on purpose (`--fault`), each of which must be caught,
//! show that the checker works.

mod checker;
mod clients;
mod clock;
pub(crate) mod cluster;
mod expectation;
mod faults;
mod invariants;
mod journal;
pub(crate) mod killer;
mod record;
mod report;
pub(crate) mod supervise;

use std::net::Ipv4Addr;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use futures_util::FutureExt as _;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use checker::{CheckedCounts, check};
use clients::{Client, World};
use clock::Clock;
use cluster::Cluster;
use faults::Fault;
use journal::{Findings, count, read};
use killer::{Kind, pause, strike};
use report::Recoveries;

/// Number of kills between two checks.
const CHECK_EVERY: u64 = 50;
/// The same with a planted fault, where the question is how soon it is detected.
const CHECK_EVERY_WITH_FAULT: u64 = 2;

/// Probability that a kill is followed by another before the system is up again.
const ONE_MORE: f64 = 0.1;

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The eval runs its own PostgreSQL and server, in a temporary folder and on free ports, and removes
them when it ends. It exits with 1 if anything acknowledged was lost, doubled or half-done; with
--fault, if the planted fault was not caught.")]
pub struct Args {
    /// Number of kills
    #[arg(long, default_value_t = 1000)]
    count: u64,
    /// Seed of the random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of writing clients; the first two share one user
    #[arg(long, default_value_t = 8)]
    clients: usize,
    /// Plant a fault that the checker must catch
    #[arg(long)]
    fault: Option<Fault>,
    /// Path of the server; next to this program by default
    #[arg(long, env = "LUKASA_BIN", value_name = "FILE")]
    server: Option<PathBuf>,
    /// Keep the database and the logs
    #[arg(long)]
    keep: bool,
}

/// Result of a run.
struct Summary {
    findings: Findings,
    table: String,
    kills: u64,
}

pub async fn run(args: Args) -> Result<()> {
    println!("seed {}", args.seed);
    let settings = args.fault.map(Fault::settings).unwrap_or_default();
    let mut cluster = Cluster::plan("kills", settings)?;
    // The processes and files below are removed afterwards even if this fails.
    let ran = tokio::select! {
        ran = AssertUnwindSafe(perform(&args, &mut cluster)).catch_unwind() => {
            ran.unwrap_or_else(|_| bail!("the eval itself failed"))
        }
        () = interrupted() => Err(anyhow::anyhow!("interrupted")),
    };
    let closed = cluster.close(args.keep).await;
    let summary = ran?;
    closed?;
    println!("{}", summary.table);
    verdict(&args, &summary)
}

fn verdict(args: &Args, summary: &Summary) -> Result<()> {
    match (args.fault, summary.findings.is_empty()) {
        (None, true) => {
            println!("verdict: nothing lost, doubled or half-done in {} kills", summary.kills);
        }
        (None, false) => bail!("violations found; seed {}", args.seed),
        (Some(fault), false) => {
            println!("verdict: {fault:?} was caught after {} kills", summary.kills);
        }
        (Some(fault), true) => bail!("{fault:?} was not caught in {} kills", summary.kills),
    }
    Ok(())
}

async fn interrupted() {
    let terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate());
    let Ok(mut terminate) = terminate else { return std::future::pending().await };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate.recv() => {}
    }
}

fn server_program(args: &Args) -> Result<PathBuf> {
    let beside = || Some(std::env::current_exe().ok()?.parent()?.join("lukasa"));
    let program = args.server.clone().or_else(beside).context("the server's place")?;
    if !program.is_file() {
        bail!("there is no server at {}; build it, or name it with --server", program.display());
    }
    program.canonicalize().context("the server's place")
}

async fn perform(args: &Args, cluster: &mut Cluster) -> Result<Summary> {
    let program = server_program(args)?;
    eprintln!("kills: making a cluster in {}", cluster.folder().display());
    cluster.start_database().await?;
    let mut database = cluster.database_address();
    let mut proxy = JoinSet::new();
    if args.fault == Some(Fault::AckBeforeCommit) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("proxy")?;
        let target = std::mem::replace(&mut database, listener.local_addr()?);
        proxy.spawn(faults::early_commits(listener, target));
    }
    cluster.start_server(&program, database).await?;
    let mut rng = StdRng::seed_from_u64(args.seed);
    if let Some(sql) = args.fault.and_then(Fault::sql) {
        cluster.connect().await?.batch_execute(sql).await.context("planting the fault")?;
        // Only connections made from now on have the fault.
        strike(cluster, Kind::Server, &mut rng).await?;
        cluster.ready(Instant::now()).await?;
    }
    // The schema must survive every fault; only writes are under test.
    cluster.connect().await?.batch_execute("checkpoint").await.context("checkpoint")?;

    let clock = Clock::read(&cluster.connect().await?).await?;
    let no_idempotency = args.fault == Some(Fault::NoIdempotency);
    let world = Arc::new(World::new(cluster.server_address, args.seed, no_idempotency, clock));
    let mut clients = JoinSet::new();
    for number in 0..args.clients {
        clients.spawn(Client::new(Arc::clone(&world), number).run());
    }
    let started = Instant::now();
    let mut recoveries = Recoveries::default();
    let killing = keep_killing(args, cluster, &world, &mut rng, &mut recoveries);
    tokio::select! {
        killed = killing => killed?,
        // Clients do not end by themselves; one that does has failed.
        Some(ended) = clients.join_next() => ended.context("a client failed")?,
    }
    let took = started.elapsed();
    world.stop.store(true, Ordering::Relaxed);
    while let Some(ended) = clients.join_next().await {
        ended.context("a client failed")?;
    }
    eprintln!("kills: the last check, of everything");
    let (mut findings, looked) = check(cluster, &world.journal, true).await?;
    findings.merge(world.journal.seen().clone());
    let table = report::table(&world.journal, &recoveries, &findings, looked, took);
    Ok(Summary { findings, table, kills: read(&world.journal.tally.kills) })
}

/// Kills until the count is reached or a violation is found.
async fn keep_killing(
    args: &Args,
    cluster: &Cluster,
    world: &World,
    rng: &mut StdRng,
    recoveries: &mut Recoveries,
) -> Result<()> {
    let started = Instant::now();
    let mut last_progress = Instant::now();
    let every = if args.fault.is_some() { CHECK_EVERY_WITH_FAULT } else { CHECK_EVERY };
    let mut checked = 0;
    while read(&world.journal.tally.kills) < args.count {
        tokio::time::sleep(pause(rng)).await;
        let blow = Instant::now();
        let mut killed = Vec::new();
        let mut kind = Kind::any(rng);
        loop {
            if strike(cluster, kind, rng).await? {
                count(&world.journal.tally.kills);
                recoveries.killed(kind);
                killed.push(kind);
            }
            // Sometimes the next kill comes during the recovery.
            if killed.len() == 2 || !rng.random_bool(ONE_MORE) {
                break;
            }
            let moment = rng.random_range(10..400);
            tokio::time::sleep(Duration::from_millis(moment)).await;
            kind = Kind::any_while_recovering(rng);
        }
        let kills = read(&world.journal.tally.kills);
        cluster.ready(blow).await.with_context(|| format!("after kill {kills}"))?;
        if !killed.is_empty() {
            recoveries.ready(&killed, blow.elapsed());
        }
        if kills >= checked + every {
            checked = kills;
            let _nobody_writes = world.gate.write().await;
            let (findings, _): (Findings, CheckedCounts) =
                check(cluster, &world.journal, false).await?;
            if !findings.is_empty() {
                return Ok(());
            }
        }
        if !world.journal.seen().is_empty() {
            return Ok(());
        }
        if last_progress.elapsed() > Duration::from_secs(5) {
            last_progress = Instant::now();
            eprintln!("{}", report::progress(&world.journal, args.count, started));
        }
    }
    Ok(())
}
