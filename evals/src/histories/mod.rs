//! Random histories of every verb, checked step by step against a reference model (SAFETY T4).
//!
//! A history is 20 to 40 steps of four users in two tenants, drawn from a seed ([`generate`]). Each
//! step is told to the engine ([`perform`]) and judged by a model written from the design alone
//! ([`model`], [`verbs`], [`reading`]); the answers are compared ([`compare`]). Every so often the
//! tables are read behind the engine's back ([`witness`]), compared with the model row by row, and
//! held against the invariants ([`invariants`], [`asof`]). That all this can fail is shown by faults
//! planted on purpose ([`mutants`]). A history that fails is told again with fewer and fewer steps
//! until every step that is left matters ([`shrink`]).

pub mod asof;
pub mod compare;
pub mod driver;
pub mod generate;
pub mod invariants;
pub mod model;
pub mod mutants;
pub mod perform;
pub mod reading;
pub mod report;
pub mod shrink;
pub mod stage;
pub mod step;
pub mod verbs;
pub mod witness;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use self::driver::History;
use self::mutants::Mutant;
use self::report::{Check, Report};
use self::stage::Stage;

/// How many failing histories are made small and printed; of the others only the first finding is.
const PRINTED_FAILURES: u64 = 3;

/// A database is exchanged for a fresh one after this many histories, so that the last ones are
/// told in one as empty as the first.
const HISTORIES_PER_STAGE: u64 = 1_000;

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// How many histories.
    #[arg(long, default_value_t = 1_000)]
    pub count: u64,
    /// The seed of the first history; each further one has the next number. So the seed of a
    /// failing history, with `--count 1`, tells it again.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Steps per history; by default 20 to 40, as the seed says.
    #[arg(long)]
    pub steps: Option<usize>,
    /// How many histories at once, each job with a database of its own.
    #[arg(long, default_value_t = 2)]
    pub jobs: usize,
    /// Plants a fault behind the engine's back; then it is a failure if nobody notices.
    #[arg(long)]
    pub mutant: Option<Mutant>,
}

/// Runs the histories and prints what was found.
pub async fn run(args: Args) -> Result<()> {
    println!("seed {}, {} histories", args.seed, args.count);
    let begun = Instant::now();
    let report = tell(&args).await?;
    report.print(begun.elapsed());
    match (args.mutant, report.failed.iter().min()) {
        (None, None) => Ok(()),
        (None, Some(_)) => bail!("{} histories failed", report.failed.len()),
        (Some(mutant), Some(first)) => {
            let after = first - args.seed + 1;
            println!("the mutant {mutant:?} was caught in history {after}");
            Ok(())
        }
        (Some(mutant), None) => bail!("the mutant {mutant:?} survived"),
    }
}

/// Tells the histories, several at once, and adds their figures up.
pub async fn tell(args: &Args) -> Result<Report> {
    let shared = Arc::new(Shared {
        args: args.clone(),
        begun: Instant::now(),
        next: AtomicU64::new(0),
        done: AtomicU64::new(0),
        failures: AtomicU64::new(0),
    });
    let progress = tokio::spawn(report_progress(Arc::clone(&shared)));
    let workers: Vec<_> =
        (0..args.jobs.max(1)).map(|_| tokio::spawn(work(Arc::clone(&shared)))).collect();
    let mut report = Report::default();
    for worker in workers {
        report.merge(worker.await.context("a worker died")??);
    }
    progress.abort();
    report.failed.sort_unstable();
    Ok(report)
}

struct Shared {
    args: Args,
    begun: Instant,
    next: AtomicU64,
    done: AtomicU64,
    failures: AtomicU64,
}

async fn work(shared: Arc<Shared>) -> Result<Report> {
    let args = &shared.args;
    let mut report = Report::default();
    let mut stage = Stage::open(args.mutant).await?;
    loop {
        let index = shared.next.fetch_add(1, Ordering::Relaxed);
        // One mutant that was caught is enough.
        let caught = args.mutant.is_some() && shared.failures.load(Ordering::Relaxed) > 0;
        if index >= args.count || caught {
            return Ok(report);
        }
        if report.histories > 0 && report.histories % HISTORIES_PER_STAGE == 0 {
            stage = Stage::open(args.mutant).await?;
        }
        let seed = args.seed.wrapping_add(index);
        let history = History::random(&stage, seed, args.steps, args.mutant, &mut report)
            .await
            .with_context(|| format!("history with seed {seed}"))?;
        report.histories += 1;
        report.absorb(&history.findings);
        if !history.findings.violations.is_empty() {
            report.failed.push(seed);
            match shared.failures.fetch_add(1, Ordering::Relaxed) {
                ..PRINTED_FAILURES => {
                    println!("{}", shrink::transcript(&stage, seed, &history, args.mutant).await?);
                }
                _ => println!("{}", shrink::headline(seed, &history)),
            }
        }
        shared.done.fetch_add(1, Ordering::Relaxed);
    }
}

async fn report_progress(shared: Arc<Shared>) {
    loop {
        tokio::time::sleep(Duration::from_secs(5)).await;
        let (done, count) = (shared.done.load(Ordering::Relaxed), shared.args.count);
        let rate = done as f64 / shared.begun.elapsed().as_secs_f64().max(0.001);
        let left = (count - done.min(count)) as f64 / rate.max(0.001);
        let failures = shared.failures.load(Ordering::Relaxed);
        eprintln!("{done} of {count} histories, {rate:.1}/s, {left:.0} s left, {failures} failed");
    }
}

/// Plants a mutant and says in which history, counted from 1, its own check noticed.
pub async fn hunt(mutant: Mutant, seed: u64, most: u64) -> Result<Option<u64>> {
    let stage = Stage::open(Some(mutant)).await?;
    let caught_by: Check = mutant.caught_by();
    for index in 0..most {
        let mut report = Report::default();
        let history =
            History::random(&stage, seed + index, None, Some(mutant), &mut report).await?;
        if history.findings.violations.iter().any(|violation| violation.check == caught_by) {
            return Ok(Some(index + 1));
        }
    }
    Ok(None)
}
