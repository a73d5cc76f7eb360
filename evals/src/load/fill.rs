//! Fills a database as real use would have: the facts of all users interleaved, one in ten of them
//! changed later, written with COPY directly into the tables.

use std::pin::pin;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use bytes::Bytes;
use futures_util::SinkExt as _;
use lukasa_core::Timestamp;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::life::{FillUser, HEAVY, Life, user_name};
use super::report::thousands;
use super::rows::{FACTS, OPERATIONS, Rows, USERS, VERSIONS};
use super::schema::{Built, put_together, take_apart};
use crate::processes::connect;

/// The time of the first fact: 2025-01-01, in microseconds. The last one is a year later, so the
/// whole fill is before the measurement.
const START: i64 = 1_735_689_600_000_000;
const YEAR: i64 = 365 * 86_400 * 1_000_000;

/// Contents of a filled database.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    pub users: u32,
    pub facts: u32,
    pub heavy: u32,
    pub seed: u64,
}

/// One half of a fill: some of the users, in some part of the year.
pub struct Stage {
    pub first: u32,
    pub users: u32,
    pub facts: u32,
    /// The facts of the one heavy user; none if there is no heavy user in this stage.
    pub heavy: u32,
    pub seed: u64,
    /// The share of the year this stage begins and ends with.
    pub time: (f64, f64),
    /// The credential of the operations.
    pub credential: String,
}

/// Result of a stage.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Filled {
    pub facts: u64,
    pub versions: u64,
    pub operations: u64,
    pub copy_seconds: f64,
    pub build_seconds: f64,
    pub vacuum_seconds: f64,
    pub built: Vec<Built>,
}

/// Writes a stage, rebuilds the indexes, vacuums.
pub async fn fill(url: &str, stage: Stage) -> Result<Filled> {
    let admin = connect(url).await?;
    let parts = take_apart(&admin).await?;
    let started = Instant::now();
    let (operations, to_operations) = table(url, OPERATIONS);
    let (facts, to_facts) = table(url, FACTS);
    let (versions, to_versions) = table(url, VERSIONS);
    let people = people(&stage);
    let users = users(url, &people, instant(stage.time.0)).await?;
    let out = Out {
        operations: (Rows::default(), to_operations),
        facts: (Rows::default(), to_facts),
        versions: (Rows::default(), to_versions),
    };
    let generated = tokio::task::spawn_blocking(move || generate_operations(&stage, &people, out));
    let written = async { Ok(tokio::try_join!(operations, facts, versions)?) };
    let (generated, written) = tokio::join!(generated, written);
    // A table that refused its rows is the cause; the generator only lost its receiver.
    let ((), (), ()) = written.map_err(|error: anyhow::Error| error)?;
    let mut filled = generated.context("the row generator")??;
    filled.copy_seconds = started.elapsed().as_secs_f64();
    eprintln!("fill: {} users' rows are there; building indexes", thousands(users as f64));
    let started = Instant::now();
    filled.built = put_together(url, &parts).await?;
    filled.build_seconds = started.elapsed().as_secs_f64();
    let started = Instant::now();
    admin.batch_execute("set maintenance_work_mem = '1GB'").await?;
    admin.batch_execute("vacuum (analyze)").await.context("vacuum")?;
    admin.batch_execute("checkpoint").await.context("checkpoint")?;
    filled.vacuum_seconds = started.elapsed().as_secs_f64();
    Ok(filled)
}

fn people(stage: &Stage) -> Vec<FillUser> {
    let credential = &stage.credential;
    let mut people: Vec<FillUser> = (stage.first..stage.first + stage.users)
        .map(|index| FillUser::new(&user_name(index), u64::from(index), credential))
        .collect();
    if stage.heavy > 0 {
        people.push(FillUser::new(HEAVY, u64::MAX, credential));
    }
    people
}

/// Creates the users, and returns how many there are.
pub(crate) async fn users(url: &str, people: &[FillUser], created_at: Timestamp) -> Result<u64> {
    let mut rows = Rows::default();
    for person in people {
        rows.user(person, created_at)?;
    }
    copy_rows(url, USERS, rows).await
}

/// Copies rows that fit into memory into one table, and returns how many there are.
pub(crate) async fn copy_rows(url: &str, sql: &str, rows: Rows) -> Result<u64> {
    let count = rows.count;
    let (sender, receiver) = channel(1);
    let sent = async move {
        sender.send(rows.end()).await.ok();
        Ok(())
    };
    tokio::try_join!(copy(url, sql, receiver), sent)?;
    Ok(count)
}

/// A COPY into one table, and the channel for its rows.
fn table(
    url: &str,
    sql: &'static str,
) -> (impl Future<Output = Result<()>> + use<>, Sender<Bytes>) {
    let (sender, receiver) = channel(8);
    let url = url.to_owned();
    (async move { copy(&url, sql, receiver).await.context(sql) }, sender)
}

async fn copy(url: &str, sql: &str, mut rows: Receiver<Bytes>) -> Result<()> {
    let client = connect(url).await?;
    // The rows are right by construction, and the foreign keys are checked when they are created.
    client
        .batch_execute("set session_replication_role = replica; set synchronous_commit = off")
        .await?;
    let mut sink = pin!(client.copy_in::<_, Bytes>(sql).await?);
    while let Some(chunk) = rows.recv().await {
        sink.send(chunk).await?;
    }
    sink.finish().await?;
    Ok(())
}

struct Out {
    operations: (Rows, Sender<Bytes>),
    facts: (Rows, Sender<Bytes>),
    versions: (Rows, Sender<Bytes>),
}

impl Out {
    fn pass(&mut self, all: bool) -> Result<()> {
        let gone = |_| anyhow!("a table takes no more rows");
        for (rows, sender) in [&mut self.operations, &mut self.facts, &mut self.versions] {
            if let Some(chunk) = rows.chunk() {
                sender.blocking_send(chunk).map_err(gone)?;
            }
            if all {
                let count = rows.count;
                sender.blocking_send(std::mem::take(rows).end()).map_err(gone)?;
                rows.count = count;
            }
        }
        Ok(())
    }
}

/// A saved fact that will change.
struct Pending {
    person: usize,
    index: u32,
    saved: Timestamp,
}

fn instant(share: f64) -> Timestamp {
    Timestamp::from_microsecond(START + (YEAR as f64 * share) as i64).unwrap_or(Timestamp::MAX)
}

/// Generates the operations of a stage in the order of time.
fn generate_operations(stage: &Stage, people: &[FillUser], mut out: Out) -> Result<Filled> {
    let life = Life::new(stage.seed);
    let mut rng = StdRng::seed_from_u64(stage.seed ^ (u64::from(stage.first) << 32) ^ 0x66_696c6c);
    let order = order(stage, &mut rng);
    let (from, until) = stage.time;
    // Changes that are pending at the end need some time of their own.
    let step = (until - from) / (order.len() as f64 * 1.2);
    let mut next = vec![0_u32; people.len()];
    let mut pending: Vec<Pending> = Vec::new();
    let mut progress = Progress::new(order.len());
    let mut moment = 0_u64;
    let mut clock = || {
        moment += 1;
        instant(from + step * moment as f64)
    };
    for &at_person in &order {
        let at_person = at_person as usize;
        let (person, at) = (&people[at_person], clock());
        let index = next[at_person];
        next[at_person] += 1;
        let (written, changes) = life.save(person, index, at);
        out.operations.0.operation(person, &written.operation)?;
        for version in &written.versions {
            out.facts.0.fact(person, version)?;
            // A version that is closed later is placed where it was closed, as after a vacuum.
            if !changes {
                out.versions.0.version(person, version)?;
            }
        }
        if changes {
            pending.push(Pending { person: at_person, index, saved: at });
            if pending.len() > order.len() / 50 {
                let chosen = rng.random_range(0..pending.len());
                change(&life, people, &pending.swap_remove(chosen), clock(), &mut out)?;
            }
        }
        out.pass(false)?;
        progress.step(&out);
    }
    for owed in pending {
        change(&life, people, &owed, clock(), &mut out)?;
        out.pass(false)?;
    }
    out.pass(true)?;
    Ok(Filled {
        facts: out.facts.0.count,
        versions: out.versions.0.count,
        operations: out.operations.0.count,
        ..Filled::default()
    })
}

fn change(
    life: &Life,
    people: &[FillUser],
    fact: &Pending,
    at: Timestamp,
    out: &mut Out,
) -> Result<()> {
    let person = &people[fact.person];
    let written = life.change(person, fact.index, fact.saved, at)?;
    out.operations.0.operation(person, &written.operation)?;
    for version in &written.versions {
        out.versions.0.version(person, version)?;
    }
    Ok(())
}

/// The order of writes: every user as often as they have facts, in random order.
fn order(stage: &Stage, rng: &mut StdRng) -> Vec<u32> {
    let mut order: Vec<u32> =
        (0..stage.users).flat_map(|user| std::iter::repeat_n(user, stage.facts as usize)).collect();
    order.extend(std::iter::repeat_n(stage.users, stage.heavy as usize));
    order.shuffle(rng);
    order
}

/// Prints the progress of the fill now and then.
struct Progress {
    total: usize,
    done: usize,
    started: Instant,
    printed_at: Instant,
}

impl Progress {
    fn new(total: usize) -> Self {
        let now = Instant::now();
        Self { total, done: 0, started: now, printed_at: now }
    }

    fn step(&mut self, out: &Out) {
        self.done += 1;
        if !self.done.is_multiple_of(1024) || self.printed_at.elapsed() < Duration::from_secs(3) {
            return;
        }
        self.printed_at = Instant::now();
        let seconds = self.started.elapsed().as_secs_f64();
        let rows = out.operations.0.count + out.facts.0.count + out.versions.0.count;
        let left = seconds * (self.total - self.done) as f64 / self.done as f64;
        eprintln!(
            "fill: {} of {} facts, {} rows/s, {left:.0} s left",
            thousands(self.done as f64),
            thousands(self.total as f64),
            thousands(rows as f64 / seconds)
        );
    }
}
