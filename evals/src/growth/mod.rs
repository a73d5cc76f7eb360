//! Growth: a database is filled with up to 50 million facts and 20 million turns of 250,000 users,
//! and measured with 1 %, 10 % and all of them: latency, bytes, write-ahead log, vacuum, memory.
//!
//! `plan` decides how much the machine can hold, `texts` and `fill` write the rows, `sample` checks
//! them through the API, `operation` measures, and `model` computes from the figures what a number
//! of users needs.

mod fill;
pub mod model;
mod operation;
mod plan;
mod sample;
mod texts;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use lukasa_core::model::Embedder;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng};
use tokio_postgres::Client as Database;

use self::fill::{COHORT, Fault, Filler};
use self::model::{GrowthInputs, Level, OperationFigures, Prediction};
use self::operation::{MeasuredOperation, Watched, Workload};
use self::plan::{
    ESTIMATE, FACTS_PER_USER, FillLimits, FillTarget, MachineSpace, SPARE_BYTES, TURNS_PER_USER,
    UserCost,
};
use crate::load::cpu;
use crate::load::http::Press;
use crate::load::report::thousands;
use crate::load::words::Vocabulary;
use crate::long_history::{memory, postmaster};
use crate::processes::{Cluster, Serve, Server, connect, server_program};
use crate::retrieval::client::Client;

/// How many users with a year of ten rounds a day a disk of 2 TB should hold.
const DISK_GOAL: f64 = 90_000.0;

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
The eval runs a PostgreSQL and a server of its own, on loopback and in a temporary folder, and removes
them when it ends. It prints what limited the fill. It exits with 1 if a filled user cannot be read, or if
the figures are not as predicted; with --fault, if that was not noticed.")]
pub struct Args {
    /// Most facts to fill, 200 for each user; 50,000,000 by default, 20,000 with --quick
    #[arg(long)]
    facts: Option<u64>,
    /// Hours for the whole run; without it the fill takes as long as it takes
    #[arg(long)]
    hours: Option<f64>,
    /// Gigabytes of disk to use; all but a few by default
    #[arg(long)]
    disk_gb: Option<f64>,
    /// Folder of the embedding model's files; without it passages have no embeddings
    #[arg(long, env = "LUKASA_MODELS", value_name = "DIR")]
    models: Option<PathBuf>,
    /// Number of concurrent clients
    #[arg(long, default_value_t = 4)]
    clients: usize,
    /// Seconds to measure each request; 6 by default, 1 with --quick
    #[arg(long)]
    seconds: Option<u64>,
    /// Few users and short measurements: shows that everything works, proves no figure
    #[arg(long)]
    quick: bool,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Plant a fault that must be noticed
    #[arg(long)]
    fault: Option<Fault>,
    /// Folder in which one for the database is made; the temporary folder by default
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Write the figures here as JSON; docs/growth.json has those of the documents
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Also predict the largest level from the smaller ones of another run's figures
    #[arg(long, value_name = "FILE")]
    against: Option<PathBuf>,
    /// Measure nothing: print what a number of users needs, by the figures of a run
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "docs/growth.json")]
    model: Option<PathBuf>,
    /// With --model: write the figures into this document, between their marks
    #[arg(long, value_name = "FILE", requires = "model")]
    document: Option<PathBuf>,
    /// Path of the server; by default `lukasa` next to this program
    #[arg(long, env = "LUKASA_BIN", value_name = "FILE")]
    server: Option<PathBuf>,
}

impl Args {
    fn limits(&self) -> FillLimits {
        FillLimits {
            facts: self.facts.unwrap_or(if self.quick { 20_000 } else { 50_000_000 }),
            // A quarter of the time is for measuring.
            time: self.hours.map(|hours| Duration::from_secs_f64(hours.max(0.0) * 3600.0 * 0.75)),
            disk: self.disk_gb.map(|gigabytes| gigabytes * 1e9),
        }
    }
}

pub async fn run(args: Args) -> Result<()> {
    if let Some(file) = &args.model {
        let inputs = read_inputs(file)?;
        tell(&inputs);
        if let Some(document) = &args.document {
            let text = std::fs::read_to_string(document)?;
            let text = model::with_figures(&text, &inputs).context("the marks are missing")?;
            std::fs::write(document, text)?;
        }
        return Ok(());
    }
    // An interrupted run must still stop its database and its server.
    let result = tokio::select! {
        result = measure(&args) => result,
        _ = tokio::signal::ctrl_c() => bail!("interrupted"),
    };
    if args.fault.is_some() {
        match result {
            Err(error) if error.is::<SampleFault>() => {
                println!("the planted fault was noticed: {error}");
                return Ok(());
            }
            Err(error) => return Err(error),
            Ok(_) => bail!("the planted fault was not noticed"),
        }
    }
    let inputs = result?;
    tell(&inputs);
    if let Some(file) = &args.json {
        std::fs::write(file, serde_json::to_string_pretty(&inputs)? + "\n")?;
    }
    let earlier = args.against.as_deref().map(read_inputs).transpose()?;
    let (own, other) = compare(&inputs, earlier.as_ref());
    println!("\nThe largest level beside what the two smallest of this run predict:\n");
    tell_predictions(&own);
    if let (Some(file), Some(other)) = (&args.against, &other) {
        println!("\nBeside what those of {} predict:\n", file.display());
        tell_predictions(other);
    }
    if !args.quick {
        check_compared(inputs.levels.len(), own.len(), other.as_ref().map(Vec::len))?;
    }
    let all = own.into_iter().chain(other.into_iter().flatten());
    let off: Vec<String> = all.filter(|one| !one.is_within()).map(|one| one.figure).collect();
    ensure!(args.quick || off.is_empty(), "not as predicted: {}", off.join(", "));
    Ok(())
}

/// What the two smallest levels of this run predict of the largest, if that is another one, and what
/// those of another run predict of it.
fn compare(
    inputs: &GrowthInputs,
    earlier: Option<&GrowthInputs>,
) -> (Vec<Prediction>, Option<Vec<Prediction>>) {
    let mut own = Vec::new();
    if let [_, _, .., largest] = inputs.levels.as_slice() {
        own = model::predictions(inputs, largest);
    }
    let from = |earlier: &GrowthInputs| {
        let largest = inputs.levels.last();
        largest.map(|largest| model::predictions(earlier, largest)).unwrap_or_default()
    };
    (own, earlier.map(from))
}

/// Refuses a run in which no prediction could have been wrong, given the numbers of predictions from
/// this run and, if there is one, from another.
fn check_compared(levels: usize, own: usize, other: Option<usize>) -> Result<()> {
    ensure!(other != Some(0), "nothing was predicted from the other run: it needs two levels");
    ensure!(
        other.is_some() || own > 0,
        "nothing was predicted from {levels} levels: fill more users, or compare with another run by --against"
    );
    Ok(())
}

/// A filled user whose data cannot be read.
#[derive(Debug)]
struct SampleFault(String);

impl std::fmt::Display for SampleFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SampleFault {}

fn read_inputs(file: &Path) -> Result<GrowthInputs> {
    let text = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
    serde_json::from_str(&text).with_context(|| file.display().to_string())
}

/// The sums of the fill so far.
#[derive(Debug, Default)]
struct FillSums {
    users: u32,
    seconds: f64,
    fact_bytes: f64,
    turn_bytes: f64,
}

/// A run in progress.
struct Run<'a> {
    args: &'a Args,
    program: PathBuf,
    dir: PathBuf,
    database: Database,
    url: String,
    filler: Filler,
    limits: FillLimits,
    workload: Workload,
    /// Users who send requests at each level: half of those of the first.
    active_users: u32,
    rng: StdRng,
    sums: FillSums,
    retrieve_bytes: f64,
}

async fn measure(args: &Args) -> Result<GrowthInputs> {
    let parent = args.dir.clone().unwrap_or_else(std::env::temp_dir);
    let dir = parent.join(format!("lukasa-growth-{}", std::process::id()));
    std::fs::create_dir_all(&dir).with_context(|| dir.display().to_string())?;
    let (machine, limits) = (MachineSpace::read(&dir)?, args.limits());
    let buffers = machine.shared_buffers_mb(args.quick);
    println!(
        "The disk has {:.0} GB free and the machine {:.0} GB of memory, {:.0} GB of it free; \
         PostgreSQL gets buffers of {buffers} MB.",
        machine.free_disk / 1e9,
        machine.memory / 1e9,
        machine.free_memory / 1e9
    );
    let settings = format!(
        "-c shared_buffers={buffers}MB -c max_wal_size=4GB -c checkpoint_timeout=30min \
         -c autovacuum=off -c maintenance_work_mem=512MB"
    );
    let cluster = Cluster::start_with(&dir, false, &settings)?;
    let mut run = prepare(args, &cluster, &dir).await?;
    let mut target = plan::target(machine.free_disk, &limits, ESTIMATE);
    let (mut levels, mut at) = (Vec::new(), 0);
    // Planned again after the first level, by what its users took.
    while let Some(&users) = plan::levels(target.users, args.quick).get(at) {
        at += 1;
        if users <= run.sums.users {
            continue;
        }
        println!(
            "Filling {} of {} users.",
            thousands(users.into()),
            thousands(target.users.into())
        );
        let filled = run.fill(users).await?;
        if !filled.is_empty() {
            levels.push(run.level(&filled).await?);
        }
        if run.sums.users < users {
            target = run.stopped()?;
            break;
        }
        if at == 1 && !args.quick {
            target = run.target_after_first(users)?;
        }
    }
    println!("The fill was limited by {}.", target.limited_by);
    Ok(GrowthInputs {
        limited_by: target.limited_by,
        processors: cpu::processors(),
        memory_gb: machine.memory / 1e9,
        shared_buffers_gb: f64::from(buffers) / 1e3,
        embeddings: run.filler.model.is_some(),
        facts_per_user: FACTS_PER_USER,
        turns_per_user: TURNS_PER_USER,
        round_text_bytes: run.round_text_bytes().await?,
        retrieve_bytes: run.retrieve_bytes,
        levels,
    })
}

/// Creates the schema and the texts.
async fn prepare<'a>(args: &'a Args, cluster: &Cluster, dir: &Path) -> Result<Run<'a>> {
    let program = server_program(args.server.as_deref())?;
    let url = cluster.url("lukasa");
    let embedder: Option<Arc<dyn Embedder>> = match &args.models {
        Some(models) => Some(lukasa_models::local::open(&models.join("potion"))?),
        None => None,
    };
    let model = embedder.as_ref().map(|embedder| embedder.model().name.clone());
    let vocabulary = Arc::new(Vocabulary::new(args.seed));
    let mut rng = StdRng::seed_from_u64(args.seed);
    let serial = Arc::new(AtomicU64::new(rng.random_range(1..1_000_000_000)));
    let run = Run {
        args,
        program,
        dir: dir.to_owned(),
        // Created below, with the schema.
        database: connect(&cluster.url("postgres")).await?,
        filler: Filler { url: url.clone(), model, fault: args.fault, jobs: cpu::processors() },
        url,
        limits: args.limits(),
        workload: Workload { users: Vec::new(), first_users: Vec::new(), vocabulary, serial },
        active_users: 0,
        rng,
        sums: FillSums::default(),
        retrieve_bytes: 0.0,
    };
    // Creates the schema and sets the model.
    drop(run.serve(true).await.context("making the schema")?);
    let database = connect(&run.url).await?;
    database.batch_execute("create extension if not exists pg_walinspect").await?;
    texts::make(&run.url, &database, fill::sessions(), args.seed, embedder.as_deref()).await?;
    Ok(Run { database, ..run })
}

impl Run<'_> {
    async fn serve(&self, migrate: bool) -> Result<Server> {
        let log = self.dir.join("server.log");
        Server::start(&Serve {
            program: &self.program,
            database: &self.url,
            auth: "off",
            pool: 16,
            migrate,
            models: self.args.models.as_deref().map(|models| (models, "potion")),
            filter: "warn",
            log: &log,
        })
        .await
    }

    /// Fills users until there are this many, or until the disk or the time is used up. Returns
    /// the new ones.
    async fn fill(&mut self, until: u32) -> Result<Range<u32>> {
        let first = self.sums.users;
        self.durable(false).await?;
        let at_once = COHORT * u32::try_from(self.filler.jobs)?;
        while self.sums.users < until && self.may_continue()? {
            let started = Instant::now();
            let numbers = self.sums.users..(self.sums.users + at_once).min(until);
            self.filler.users(&numbers).await?;
            let empty = self.bytes(&[]).await?;
            self.filler.facts(&numbers).await?;
            let facts = self.bytes(&[]).await?;
            self.filler.turns(&numbers).await?;
            self.sums.fact_bytes += facts - empty;
            self.sums.turn_bytes += self.bytes(&[]).await? - facts;
            self.sums.users = numbers.end;
            self.sums.seconds += started.elapsed().as_secs_f64();
            eprintln!(
                "fill: {} users in {:.0} s, {:.1} GB",
                thousands(numbers.end.into()),
                self.sums.seconds,
                (self.sums.fact_bytes + self.sums.turn_bytes) / 1e9
            );
        }
        self.durable(true).await?;
        Ok(first..self.sums.users)
    }

    /// Whether there is disk and time for more users. The first ones are always filled.
    fn may_continue(&self) -> Result<bool> {
        Ok(self.sums.users == 0 || self.stop_reason()?.is_none())
    }

    fn stop_reason(&self) -> Result<Option<String>> {
        let free = plan::free_disk(&self.dir)?;
        let filled = self.sums.fact_bytes + self.sums.turn_bytes;
        let is_full = self.limits.disk.is_some_and(|disk| filled > disk - SPARE_BYTES);
        if is_full || free < SPARE_BYTES {
            let (filled, free) = (filled / 1e9, free / 1e9);
            return Ok(Some(format!("the disk: {filled:.0} GB are filled, {free:.0} GB free")));
        }
        let used = self.limits.time.filter(|time| self.sums.seconds >= time.as_secs_f64());
        Ok(used.map(|time| format!("the time: {:.0} s to fill", time.as_secs_f64())))
    }

    fn stopped(&self) -> Result<FillTarget> {
        let limited_by = self.stop_reason()?.unwrap_or_else(|| "the disk or the time".to_owned());
        Ok(FillTarget { users: self.sums.users, limited_by })
    }

    /// The target by what the first users took. Filling becomes slower as the indexes grow.
    fn target_after_first(&self, users: u32) -> Result<FillTarget> {
        const SLOWER: f64 = 0.7;
        let filled = f64::from(users);
        let cost = UserCost {
            bytes: (self.sums.fact_bytes + self.sums.turn_bytes) / filled,
            per_second: SLOWER * filled / self.sums.seconds,
        };
        let used = cost.bytes * filled;
        let free = plan::free_disk(&self.dir)? + used;
        let target = plan::target(free, &self.limits, cost);
        Ok(FillTarget { users: target.users.max(users), ..target })
    }

    /// Whether commits are safe from a crash: not while rows are filled.
    async fn durable(&self, durable: bool) -> Result<()> {
        let value = if durable { "on" } else { "off" };
        for setting in ["fsync", "full_page_writes"] {
            self.database.batch_execute(&format!("alter system set {setting} = {value}")).await?;
        }
        self.database.batch_execute("select pg_reload_conf()").await?;
        Ok(())
    }

    /// Bytes of these tables with their indexes; of all without any.
    async fn bytes(&self, tables: &[&str]) -> Result<f64> {
        let sql = "select coalesce(sum(pg_total_relation_size(oid)), 0)::float8 from pg_class \
                    where relnamespace = 'public'::regnamespace and relkind = 'r' \
                      and (cardinality($1::text[]) = 0 or relname::text = any($1))";
        Ok(self.database.query_one(sql, &[&tables]).await?.get(0))
    }

    /// Vacuums, checks a sample of the new users, and measures.
    async fn level(&mut self, filled: &Range<u32>) -> Result<Level> {
        let started = Instant::now();
        self.database.batch_execute("vacuum (analyze)").await.context("vacuum")?;
        let vacuum_seconds = started.elapsed().as_secs_f64();
        self.database.batch_execute("checkpoint").await?;
        let server = self.serve(false).await.context("a server for the sample")?;
        let client = Client::to(server.address);
        let count = if self.args.quick { 8 } else { 40 };
        let report = sample::check(&client, &self.database, filled, count, &mut self.rng).await?;
        if let Some(first) = report.faults.first() {
            let faults = report.faults.len();
            let text = format!("{faults} faults in a sample of {} users: {first}", report.users);
            return Err(SampleFault(text).into());
        }
        self.retrieve_bytes = report.retrieve_bytes;
        drop(server);
        if filled.start == 0 {
            self.active_users = filled.end / 2;
        }
        self.workload.spread(filled.end, self.active_users);
        // It has no user's index in memory.
        let server = self.serve(false).await?;
        let watched = Watched {
            address: server.address,
            server: server.pid(),
            postmaster: postmaster(&self.database).await?,
            admin: &self.database,
        };
        let default = if self.args.quick { 1 } else { 6 };
        let mut how = Press {
            clients: self.args.clients,
            warm_up: Duration::from_millis(if self.args.quick { 100 } else { 1_000 }),
            lasting: Duration::from_secs(self.args.seconds.unwrap_or(default)),
            seed: self.args.seed,
        };
        let mut operations: Vec<OperationFigures> = Vec::new();
        let (mut bytes_per_retrieval, mut bytes_per_baseline) = (0.0, 0.0);
        for operation in MeasuredOperation::ALL {
            how.seed += 1;
            let retrievals = self.bytes(&["retrieval"]).await?;
            let baselines = self.bytes(&["baseline", "given_baseline"]).await?;
            let figures = watched.measure(operation, &self.workload, how).await?;
            let requests = figures.requests as f64;
            if operation == MeasuredOperation::Retrieve {
                bytes_per_retrieval = (self.bytes(&["retrieval"]).await? - retrievals) / requests;
            }
            if operation == MeasuredOperation::FirstRetrieve {
                let after = self.bytes(&["baseline", "given_baseline"]).await?;
                bytes_per_baseline = (after - baselines) / requests;
            }
            operations.push(figures);
        }
        let users = u64::from(filled.end);
        let (facts, turns) = (users * u64::from(FACTS_PER_USER), users * u64::from(TURNS_PER_USER));
        Ok(Level {
            users,
            facts,
            turns,
            bytes_per_fact: self.sums.fact_bytes / facts as f64,
            bytes_per_turn: self.sums.turn_bytes / turns as f64,
            bytes_per_retrieval,
            bytes_per_baseline,
            vacuum_seconds,
            server_mb: memory(server.pid()),
            postgres_mb: postgres_memory(watched.postmaster),
            operations,
        })
    }

    /// Mean bytes of a message and its answer.
    async fn round_text_bytes(&self) -> Result<f64> {
        let sql = "select (2 * avg(octet_length(content)))::float8 from growth.turn_text";
        Ok(self.database.query_one(sql, &[]).await?.get(0))
    }
}

/// Memory of PostgreSQL in megabytes. A page that several of its processes share counts once.
fn postgres_memory(postmaster: u32) -> f64 {
    let proportional = |pid: u32| {
        let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
        let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    let pids = std::iter::once(postmaster).chain(cpu::children(postmaster));
    pids.filter_map(proportional).sum::<f64>() / 1e3
}

fn tell(inputs: &GrowthInputs) {
    println!("\n{}", model::figures(inputs));
    if let Some(level) = inputs.levels.last() {
        let users = model::users_on(2e12, level, &model::HABITS);
        let reached = if users >= DISK_GOAL { "reached" } else { "not reached" };
        println!("The goal of {} users on 2 TB is {reached}.", thousands(DISK_GOAL));
    }
}

fn tell_predictions(predictions: &[Prediction]) {
    for one in predictions {
        println!(
            "{:<28} predicted {:>10.2}, measured {:>10.2}, off by {:.0} % of at most {:.0} %",
            one.figure,
            one.predicted,
            one.measured,
            one.deviation() * 100.0,
            one.tolerance * 100.0
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_run_that_predicts_nothing_is_refused() {
        let documents = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/growth.json"));
        let all = read_inputs(documents).unwrap();
        let with =
            |levels: usize| GrowthInputs { levels: all.levels[..levels].to_vec(), ..all.clone() };
        let check = |levels: usize, against: Option<usize>| {
            let (own, other) = compare(&with(levels), against.map(with).as_ref());
            check_compared(levels, own.len(), other.as_ref().map(Vec::len))
        };
        assert!(check(3, None).is_ok() && check(3, Some(2)).is_ok() && check(1, Some(2)).is_ok());
        for (levels, against) in [(2, None), (0, None), (2, Some(1)), (3, Some(1)), (0, Some(2))] {
            assert!(check(levels, against).is_err(), "{levels} levels, against {against:?}");
        }
    }
}
