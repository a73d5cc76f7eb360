//! The cost of a request through HTTP, compared with the same SQL run bare by pgbench (the same
//! statements, in the same round trips, on the same data, in the same run).
//!
//! A database of its own is filled as years of use would fill it (`words`, `life`, `rows`, `fill`,
//! `schema`). Then one request of each operation is recorded on its way to PostgreSQL (`recorder`)
//! and made into pgbench scripts (`script`), and the two are measured in turn (`operation`, `http`,
//! `bare`, `cpu`, `bench`) and reported (`report`, `plot`). The plans of the statements are
//! recorded as well (`explain`).

pub mod bare;
pub mod bench;
pub mod cpu;
pub mod explain;
pub mod fill;
pub mod http;
pub mod life;
pub mod operation;
pub mod plot;
pub mod recorder;
pub mod report;
pub mod rows;
pub mod schema;
pub mod script;
pub mod words;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use self::bare::Pgbench;
use self::bench::Bench;
use self::fill::{Filled, Plan, Stage, fill};
use self::operation::Operation;
use self::report::{Report, Side, thousands};
use self::schema::sizes;
use crate::processes::{Cluster, Serve, Server, connect, create_key, server_program};

/// The measured database, and its copy from when it had a twentieth of its users.
const LARGE: &str = "lukasa";
const SMALL: &str = "lukasa_small";
const GROWTH: u32 = 20;

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Number of users; 20,000 by default, 200 with --quick.
    #[arg(long)]
    pub users: Option<u32>,
    /// Facts of each user; 200 by default, 50 with --quick.
    #[arg(long)]
    pub facts: Option<u32>,
    /// Facts of the one heavy user; 100,000 by default, 2,000 with --quick.
    #[arg(long)]
    pub heavy: Option<u32>,
    /// Seconds to measure each cell; 10 by default, 2 with --quick.
    #[arg(long)]
    pub seconds: Option<u64>,
    /// Numbers of clients; 1,16,64 by default, 1,16 with --quick.
    #[arg(long, value_delimiter = ',')]
    pub clients: Vec<usize>,
    /// Only these operations.
    #[arg(long, value_delimiter = ',')]
    pub only: Vec<Operation>,
    /// A small database and short measurements: shows that everything works, proves no figure.
    #[arg(long)]
    pub quick: bool,
    /// Keep the filled database in this folder, or use the existing one.
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Fill only; measure another time.
    #[arg(long, requires = "keep")]
    pub fill_only: bool,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Folder for the report; by default the target folder.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Path of the server; by default `lukasa` next to this program.
    #[arg(long, env = "LUKASA_BIN", value_name = "FILE")]
    pub server: Option<PathBuf>,
    /// Connections in the server's pool.
    #[arg(long, default_value_t = 16)]
    pub pool: usize,
    /// Log filter of the server; by default a line for each request, as in production.
    #[arg(long, default_value = "info", value_name = "FILTER")]
    pub server_log: String,
    /// Print the report as JSON.
    #[arg(long)]
    pub json: bool,
}

impl Args {
    fn plan(&self) -> Plan {
        let or = |given: Option<u32>, full, quick| {
            given.unwrap_or(if self.quick { quick } else { full })
        };
        Plan {
            users: or(self.users, 20_000, 200).max(GROWTH),
            facts: or(self.facts, 200, 50).max(1),
            heavy: or(self.heavy, 100_000, 2_000).max(1),
            seed: self.seed,
        }
    }

    fn clients(&self) -> Vec<usize> {
        match (self.clients.is_empty(), self.quick) {
            (false, _) => self.clients.clone(),
            (true, false) => vec![1, 16, 64],
            (true, true) => vec![1, 16],
        }
    }

    fn operations(&self) -> Vec<Operation> {
        let wanted = |operation: &Operation| match self.only.is_empty() {
            true => !(self.quick && *operation == Operation::SaveOnce),
            false => self.only.contains(operation),
        };
        Operation::ALL.into_iter().filter(wanted).collect()
    }

    /// The report's folder: next to the program's build, like other output.
    fn out(&self) -> Result<PathBuf> {
        if let Some(out) = &self.out {
            return Ok(out.clone());
        }
        let program = std::env::current_exe()?;
        let target = program.ancestors().nth(2).context("no target folder")?;
        Ok(target.join("evals").join(format!("load-{}", self.seed)))
    }
}

pub async fn run(args: Args) -> Result<()> {
    // An interrupted run must still stop its database and its servers.
    let report = tokio::select! {
        report = measure(&args) => report?,
        _ = tokio::signal::ctrl_c() => bail!("interrupted"),
    };
    let Some(report) = report else { return Ok(()) };
    let out = args.out()?;
    let json = serde_json::to_string_pretty(&report)?;
    std::fs::write(out.join("load.json"), &json)?;
    std::fs::write(out.join("load.md"), format!("# Load\n\n{}", report.render(true)))?;
    let users = thousands(f64::from(report.plan.users));
    let title = format!("Requests through HTTP and bare, {users} users x {}", report.plan.facts);
    std::fs::write(out.join("load.svg"), plot::svg(&report.cells, &title))?;
    if args.json {
        println!("{json}");
    } else {
        println!("{}", report.render(false));
    }
    eprintln!("the report is in {}", out.display());
    let errors = report.errors();
    ensure!(errors == 0, "{errors} errors, such as: {}", report.first_error().unwrap_or("-"));
    Ok(())
}

/// Contents of a kept folder, once its fill is complete.
#[derive(Serialize, Deserialize)]
struct PreviousRun {
    plan: Plan,
    fill: Vec<Filled>,
}

async fn measure(args: &Args) -> Result<Option<Report>> {
    let (plan, out) = (args.plan(), args.out()?);
    let program = server_program(args.server.as_deref())?;
    std::fs::create_dir_all(&out).with_context(|| out.display().to_string())?;
    let dir = args.keep.clone().unwrap_or_else(|| {
        std::env::temp_dir().join(format!("lukasa-load-{}", std::process::id()))
    });
    let fill_file = dir.join("fill.json");
    let found = match std::fs::read(&fill_file) {
        Ok(bytes) => Some(serde_json::from_slice::<PreviousRun>(&bytes).context("fill.json")?),
        Err(_) => None,
    };
    if let Some(found) = found.as_ref().filter(|found| found.plan != plan) {
        bail!("{} holds another database: {:?}; choose another folder", dir.display(), found.plan);
    }
    let cluster = Cluster::start(&dir, args.keep.is_some(), memory(args.quick))?;
    let filled = match found {
        Some(found) => {
            for database in [LARGE, SMALL] {
                let url = cluster.url(database);
                migrate(&program, &url, &out).await.with_context(|| {
                    format!("{} may be of an older schema; fill another", dir.display())
                })?;
            }
            found.fill
        }
        None => {
            let filled = build(&cluster, &program, &plan, &out).await?;
            let fill_record = PreviousRun { plan: plan.clone(), fill: filled.clone() };
            std::fs::write(&fill_file, serde_json::to_vec_pretty(&fill_record)?)?;
            filled
        }
    };
    if args.fill_only {
        return Ok(None);
    }
    bench(args, &cluster, program, plan, filled, &out).await.map(Some)
}

/// A machine that tests changes may be small; one that measures is not.
fn memory(quick: bool) -> &'static str {
    if quick { "256MB" } else { "4GB" }
}

/// Migrates a database's schema, as a server does on request.
async fn migrate(program: &Path, url: &str, out: &Path) -> Result<()> {
    let log = out.join("server.log");
    Server::start(&Serve {
        program,
        database: url,
        auth: "keys",
        pool: 2,
        migrate: true,
        models: None,
        filter: "info",
        log: &log,
    })
    .await
    .map(drop)
}

/// Creates the schema and fills it: a twentieth of the users first, of which a copy is kept, then
/// the others.
async fn build(cluster: &Cluster, program: &Path, plan: &Plan, out: &Path) -> Result<Vec<Filled>> {
    let started = Instant::now();
    let admin = connect(&cluster.url("postgres")).await?;
    // Leftovers of an interrupted fill.
    for database in [SMALL, LARGE] {
        admin.batch_execute(&format!("drop database if exists {database} with (force)")).await?;
    }
    admin.batch_execute(&format!("create database {LARGE}")).await?;
    let url = cluster.url(LARGE);
    migrate(program, &url, out).await.context("making the schema")?;
    let (credential, _) = create_key(program, &url, life::TENANT)?;
    // Otherwise a change by an application would wait for confirmation, and nothing would be
    // superseded.
    let policy = "insert into tenant_policy (tenant_id, version, body, set_at, set_by) \
                  select tenant_id, 1, '{\"agents\": {\"replace\": \"always\"}}', now(), 'load' \
                  from tenant where name = $1";
    connect(&url).await?.execute(policy, &[&life::TENANT]).await?;
    let small = plan.users / GROWTH;
    let early = f64::from(small) / f64::from(plan.users);
    let stage = Stage {
        first: 0,
        users: small,
        facts: plan.facts,
        heavy: 0,
        seed: plan.seed,
        time: (0.0, early),
        credential,
    };
    let rest = Stage {
        first: small,
        users: plan.users - small,
        heavy: plan.heavy,
        time: (early, 1.0),
        credential: stage.credential.clone(),
        ..stage
    };
    let mut filled = vec![fill(&url, stage).await.context("filling the first users")?];
    let out_with_everybody = "select pg_terminate_backend(pid) from pg_stat_activity \
                              where datname = 'lukasa' and pid <> pg_backend_pid()";
    admin.batch_execute(out_with_everybody).await?;
    let copy = format!("create database {SMALL} template {LARGE} strategy file_copy");
    admin.batch_execute(&copy).await.context("copying the small database")?;
    filled.push(fill(&url, rest).await.context("filling the other users")?);
    eprintln!("fill: done in {:.0} s", started.elapsed().as_secs_f64());
    Ok(filled)
}

async fn bench(
    args: &Args,
    cluster: &Cluster,
    program: PathBuf,
    plan: Plan,
    filled: Vec<Filled>,
    out: &Path,
) -> Result<Report> {
    let url = cluster.url(LARGE);
    let (_, secret) = create_key(&program, &url, life::TENANT)?;
    let mut bench = Bench::new(cluster, LARGE, program, out.to_owned(), args.seed).await?;
    bench.pool = args.pool;
    bench.filter.clone_from(&args.server_log);
    bench.lasting = Duration::from_secs(args.seconds.unwrap_or(if args.quick { 2 } else { 10 }));
    bench.warm_up = Duration::from_millis(if args.quick { 0 } else { 1000 });
    bench.prewarm().await?;
    let sizes = sizes(&bench.admin).await?;
    let content_bytes: f64 = bench
        .admin
        .query_one(
            "select coalesce(avg(octet_length(content)), 0)::float8 \
               from fact_version tablesample system (1)",
            &[],
        )
        .await?
        .get(0);
    let recorded_requests = bench.listen(cluster.port, &args.operations()).await?;
    let plans = explain::plans(&url, &recorded_requests).await.context("the plans")?;
    std::fs::write(out.join("plans.txt"), plans)?;
    let pgbench = Pgbench {
        program: cluster.programs()?.join("pgbench"),
        port: cluster.port,
        database: LARGE.to_owned(),
        dir: out.join("pgbench"),
        postmaster: bench.postmaster,
    };
    let mut report = Report {
        seconds: bench.lasting.as_secs_f64(),
        pool: args.pool,
        processors: cpu::processors(),
        fill: filled,
        sizes,
        content_bytes,
        sent: recorded_requests
            .iter()
            .map(|recorded_request| recorded_request.sent.clone())
            .collect(),
        cells: Vec::new(),
        without_keys: None,
        growth: Vec::new(),
        plan,
    };
    // All reads are measured before any write.
    report.without_keys = without_keys(&mut bench, &args.clients()).await?;
    if !args.quick && args.only.is_empty() {
        report.growth = growth(&mut bench, cluster, &report.plan, &args.clients(), &secret).await?;
    }
    let server = bench.serve(&url, "keys", args.pool).await?;
    for recorded_request in &recorded_requests {
        for clients in args.clients() {
            report
                .cells
                .push(bench.cell(&server, &pgbench, recorded_request, clients, &secret).await?);
        }
    }
    Ok(report)
}

/// One line for a server without authentication.
async fn without_keys(
    bench: &mut Bench,
    clients: &[usize],
) -> Result<Option<(Operation, usize, Side)>> {
    let Some(&clients) = clients.get(clients.len() / 2) else { return Ok(None) };
    let server = bench.serve(&bench.database.clone(), "off", bench.pool).await?;
    let drawn = operation::targets(&bench.admin, false, script::TARGETS, &mut bench.rng).await?;
    let (sample, cores) = bench.http(&server, Operation::Get, clients, drawn, None).await?;
    Ok(Some((Operation::Get, clients, Side::new(&sample, cores))))
}

async fn growth(
    bench: &mut Bench,
    cluster: &Cluster,
    plan: &Plan,
    clients: &[usize],
    secret: &str,
) -> Result<Vec<report::Growth>> {
    let (small, large) = (cluster.url(SMALL), cluster.url(LARGE));
    let (_, small_secret) = create_key(&bench.program, &small, life::TENANT)?;
    let small_admin = connect(&small).await?;
    let large_admin = connect(&large).await?;
    let small_server = bench.serve(&small, "keys", bench.pool).await?;
    let large_server = bench.serve(&large, "keys", bench.pool).await?;
    let sides = [
        (&small_server, &small_admin, small_secret.as_str()),
        (&large_server, &large_admin, secret),
    ];
    let users = [plan.users / GROWTH, plan.users];
    let mut grown = Vec::new();
    for operation in [Operation::Get, Operation::List] {
        for &clients in clients.iter().take(2) {
            grown.push(bench.growth(sides, users, operation, clients).await?);
        }
    }
    Ok(grown)
}
