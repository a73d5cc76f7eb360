//! Two servers and a worker on one database: a memory removed or a key revoked through one server
//! is never served by the other, also while the database is slow.
//!
//! Every round has a user of its own with a unique word. The second server reads it in every way
//! there is, so that all its caches have it. Then the first server removes it, closes its domain,
//! or revokes the key; from the acknowledgement on, the second server must not return the word, to
//! its callers or to the chat service behind its gateway. Faults planted in the database
//! (`--fault`) show that the check works.

mod reads;
mod round;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use tokio::task::JoinSet;

use crate::gateway::Service;
use crate::processes::{Cluster, Serve, Server, Worker, connect, create_key, server_program};
use round::{Action, Finding};

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
The eval runs its own PostgreSQL, two servers and a worker, on loopback and in a temporary folder, and
removes them when it ends. It exits with 1 if something removed or revoked was served; with --fault, if
that was not noticed.")]
pub struct Args {
    /// Number of rounds
    #[arg(long, default_value_t = 1000)]
    count: u64,
    /// Seed of the random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of concurrent rounds
    #[arg(long, default_value_t = 3)]
    lanes: u64,
    /// Only these actions, separated by commas; all by default
    #[arg(long, value_delimiter = ',')]
    only: Vec<Action>,
    /// Plant a fault that must be noticed
    #[arg(long)]
    fault: Option<Fault>,
    /// Path of the server; next to this program by default
    #[arg(long, env = "LUKASA_BIN", value_name = "FILE")]
    server: Option<PathBuf>,
    /// Keep the database and the logs
    #[arg(long)]
    keep: bool,
}

/// A fault planted in the database that makes the second server serve removed data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Fault {
    /// Revisions never change, so cached data looks current.
    StaleRevision,
    /// The baseline of a session stays when a memory in it is removed.
    KeptBaseline,
    /// A key is never revoked.
    KeptKey,
}

impl Fault {
    fn sql(self) -> &'static str {
        match self {
            Fault::StaleRevision => {
                "create function keep_revision() returns trigger language plpgsql as $$ begin \
                 new.revision := old.revision; new.facts := old.facts; \
                 new.removed := old.removed; return new; end $$; \
                 create trigger keep_revision before update on recall_state \
                 for each row execute function keep_revision()"
            }
            Fault::KeptBaseline => {
                "create function keep_row() returns trigger language plpgsql as $$ begin \
                 return null; end $$; \
                 create trigger keep_row before delete on baseline \
                 for each row execute function keep_row()"
            }
            Fault::KeptKey => {
                "create function keep_key() returns trigger language plpgsql as $$ begin \
                 new.revoked_at := old.revoked_at; return new; end $$; \
                 create trigger keep_key before update on credential \
                 for each row execute function keep_key()"
            }
        }
    }
}

/// The processes and clients of a run. Fields are dropped in this order: the database is last.
struct Testbed {
    http: reqwest::Client,
    /// The server that removes, and the one that reads.
    first: String,
    second: String,
    key: String,
    service: Service,
    /// Number of prompts to the chat service with each word so far.
    prompts: Mutex<HashMap<String, usize>>,
    _servers: [Server; 2],
    _worker: Worker,
    database: String,
    _cluster: Cluster,
}

impl Testbed {
    /// Number of prompts with this word so far.
    fn prompts_with(&self, word: &str) -> usize {
        let mut prompts = self.prompts.lock().unwrap_or_else(PoisonError::into_inner);
        for prompt in self.service.asked() {
            for word in round::words_in(&prompt.to_string()) {
                *prompts.entry(word).or_default() += 1;
            }
        }
        prompts.get(word).copied().unwrap_or(0)
    }
}

/// Result of all rounds.
#[derive(Default)]
struct Summary {
    rounds: BTreeMap<Action, u64>,
    slow: u64,
    reads: u64,
    refused: u64,
    findings: Vec<Finding>,
}

pub async fn run(args: Args) -> Result<()> {
    lukasa_models::tls::install();
    println!("seed {}", args.seed);
    let testbed = Arc::new(start_testbed(&args).await?);
    let (next, summary) = (Arc::new(AtomicU64::new(0)), Arc::new(Mutex::new(Summary::default())));
    let started = Instant::now();
    let mut lanes = JoinSet::new();
    for _ in 0..args.lanes.max(1) {
        let (testbed, next, summary) = (testbed.clone(), next.clone(), summary.clone());
        let args = args.clone();
        lanes.spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::SeqCst);
                let found = |s: &Summary| args.fault.is_some() && !s.findings.is_empty();
                if number >= args.count || found(&locked(&summary)) {
                    return Ok(());
                }
                let mut rng = StdRng::seed_from_u64(args.seed ^ (number << 20));
                let round = round::play(&testbed, &mut rng, number, &args.only);
                let played = round.await.with_context(|| format!("round {number}"))?;
                let mut summary = locked(&summary);
                *summary.rounds.entry(played.action).or_default() += 1;
                summary.slow += u64::from(played.slow);
                summary.reads += played.reads;
                summary.refused += played.refused;
                summary.findings.extend(played.findings);
            }
        });
    }
    while let Some(lane) = lanes.join_next().await {
        let lane: Result<()> = lane?;
        lane?;
    }
    let summary = locked(&summary);
    for (action, rounds) in &summary.rounds {
        println!("  {:14} {rounds:6} rounds", action.name());
    }
    println!(
        "  {} reads after a removal, {} of them refused; the database was slow in {} rounds; {:.0} s",
        summary.reads,
        summary.refused,
        summary.slow,
        started.elapsed().as_secs_f64()
    );
    for finding in summary.findings.iter().take(20) {
        println!("  FOUND {finding}");
    }
    verdict(&args, &summary)
}

fn verdict(args: &Args, summary: &Summary) -> Result<()> {
    let rounds: u64 = summary.rounds.values().sum();
    match (args.fault, summary.findings.len()) {
        (None, 0) => println!("verdict: nothing removed or revoked was served in {rounds} rounds"),
        (None, count) => bail!("served {count} times; seed {}", args.seed),
        (Some(fault), 0) => bail!("{fault:?} was not noticed in {rounds} rounds"),
        (Some(fault), _) => println!("verdict: {fault:?} was noticed after {rounds} rounds"),
    }
    Ok(())
}

fn locked(summary: &Mutex<Summary>) -> std::sync::MutexGuard<'_, Summary> {
    summary.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn start_testbed(args: &Args) -> Result<Testbed> {
    let program = server_program(args.server.as_deref())?;
    let dir = std::env::temp_dir().join(format!("lukasa-nodes-{}", std::process::id()));
    let cluster = Cluster::start(&dir, args.keep, "128MB")?;
    let service = Service::start().await?;
    let database = cluster.url("lukasa");
    let settings = [("LUKASA_UPSTREAM", service.url.as_str())];
    let mut servers = Vec::new();
    for name in ["first", "second"] {
        let log = dir.join(format!("{name}.log"));
        let serve = Serve {
            program: &program,
            database: &database,
            auth: "keys",
            pool: 12,
            migrate: servers.is_empty(),
            models: None,
            filter: "warn",
            log: &log,
        };
        servers.push(Server::start_with(&serve, &settings).await?);
    }
    let worker = Worker::start(&program, &database, &dir.join("worker.log"), &[])?;
    let (_, key) = create_key(&program, &database, "acme")?;
    // It administers its tenant: it creates and removes users and keys.
    let admin = "update credential set permissions = '{read,write,propose,erase,chat,admin}'";
    connect(&database).await?.batch_execute(admin).await.context("the key's permissions")?;
    if let Some(fault) = args.fault {
        let planted = connect(&database).await?.batch_execute(fault.sql()).await;
        planted.context("planting the fault")?;
    }
    let base = |server: &Server| format!("http://{}", server.address);
    let (first, second) = (base(&servers[0]), base(&servers[1]));
    let Ok(servers) = <[Server; 2]>::try_from(servers) else { bail!("two servers") };
    Ok(Testbed {
        http: reqwest::Client::new(),
        first,
        second,
        key,
        service,
        prompts: Mutex::default(),
        _servers: servers,
        _worker: worker,
        database,
        _cluster: cluster,
    })
}
