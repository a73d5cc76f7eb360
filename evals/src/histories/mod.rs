//! Random histories of every verb, checked step by step against a reference model.
//!
//! A history is 20 to 40 steps of four users in two tenants, drawn from a seed ([`generate`]). Each
//! step is sent to the engine ([`perform`]) and evaluated by a model written from the design alone
//! ([`model`], [`verbs`], [`reading`]); the answers are compared ([`compare`]). Every so often the
//! tables are read directly ([`witness`]), compared with the model row by row, and checked against
//! the invariants ([`invariants`], [`asof`]). Faults planted on purpose ([`mutants`]) show that all
//! this can fail. A failing history is replayed with fewer and fewer steps until every remaining
//! step matters ([`shrink`]).

pub mod asof;
pub mod compare;
pub mod driver;
pub mod fixture;
pub mod generate;
pub mod invariants;
pub mod model;
pub mod mutants;
pub mod perform;
pub mod reading;
pub mod report;
pub mod shrink;
pub mod step;
pub mod verbs;
pub mod witness;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use self::driver::History;
use self::fixture::Fixture;
use self::mutants::Mutant;
use self::report::{Check, Report};

/// Number of failing histories that are shrunk and printed; of the others only the first finding
/// is.
const PRINTED_FAILURES: u64 = 3;

/// Number of histories per database. Then a fresh one is taken, so that the last histories run in
/// one as empty as the first.
const HISTORIES_PER_DATABASE: u64 = 1_000;

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Number of histories.
    #[arg(long, default_value_t = 1_000)]
    pub count: u64,
    /// Seed of the first history; each further one has the next number. So the seed of a failing
    /// history, with `--count 1`, replays it.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Steps per history; by default 20 to 40, determined by the seed.
    #[arg(long)]
    pub steps: Option<usize>,
    /// Number of concurrent histories, each job with a database of its own.
    #[arg(long, default_value_t = 2)]
    pub jobs: usize,
    /// Plants a fault in the database; then it is a failure if it is not detected.
    #[arg(long)]
    pub mutant: Option<Mutant>,
}

/// Runs the histories and prints the findings.
pub async fn run(args: Args) -> Result<()> {
    println!("seed {}, {} histories", args.seed, args.count);
    let begun = Instant::now();
    let report = run_histories(&args).await?;
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

/// Runs the histories, several at once, and sums up their figures.
pub async fn run_histories(args: &Args) -> Result<Report> {
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
    let mut fixture = Fixture::open(args.mutant).await?;
    loop {
        let index = shared.next.fetch_add(1, Ordering::Relaxed);
        // One detected mutant is enough.
        let caught = args.mutant.is_some() && shared.failures.load(Ordering::Relaxed) > 0;
        if index >= args.count || caught {
            return Ok(report);
        }
        if report.histories > 0 && report.histories % HISTORIES_PER_DATABASE == 0 {
            fixture = Fixture::open(args.mutant).await?;
        }
        let seed = args.seed.wrapping_add(index);
        let history = History::random(&fixture, seed, args.steps, args.mutant, &mut report)
            .await
            .with_context(|| format!("history with seed {seed}"))?;
        report.histories += 1;
        report.absorb(&history.findings);
        if !history.findings.violations.is_empty() {
            report.failed.push(seed);
            match shared.failures.fetch_add(1, Ordering::Relaxed) {
                ..PRINTED_FAILURES => {
                    println!(
                        "{}",
                        shrink::transcript(&fixture, seed, &history, args.mutant).await?
                    );
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

/// Plants a mutant; returns the number of the history, from 1, in which its own check detected it.
pub async fn hunt(mutant: Mutant, seed: u64, most: u64) -> Result<Option<u64>> {
    let fixture = Fixture::open(Some(mutant)).await?;
    let caught_by: Check = mutant.caught_by();
    for index in 0..most {
        let mut report = Report::default();
        let history =
            History::random(&fixture, seed + index, None, Some(mutant), &mut report).await?;
        if history.findings.violations.iter().any(|violation| violation.check == caught_by) {
            return Ok(Some(index + 1));
        }
    }
    Ok(None)
}
