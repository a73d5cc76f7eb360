//! Overload and fairness: latencies of other users while one user sends ten times the limit, while
//! 64 writers write about one user, and while 10,000 jobs of one tenant are queued.
//!
//! A well-behaved user of another tenant requests contexts at a steady rate, first alone and then
//! during each kind of load. The figures are ratios of the two. `--fault`, which lifts the limits,
//! shows that the check works.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail, ensure};
use lukasa_models::scripted::ChatServer;
use lukasa_models::scripted::chat_server::ScriptedReply;
use serde_json::{Value, json};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::load::http::Wire;
use crate::processes::{Cluster, Serve, Server, Worker, connect, create_key, server_program};

/// The limits that the eval relies on: the server's defaults.
const LIMITS: [(&str, &str); 4] = [
    ("LUKASA_KEY_RATE", "1000"),
    ("LUKASA_USER_RATE", "200"),
    ("LUKASA_TENANT_RATE", "2000"),
    ("LUKASA_TENANT_CONCURRENCY", "12"),
];
const POOL_SIZE: usize = 16;
/// Ten times the requests per second that one user may send.
const OVERLOAD_RATE: u64 = 2_000;
const WRITERS: usize = 64;
const REJECTED_WITHIN: Duration = Duration::from_millis(100);
/// Interval between requests of the well-behaved user.
const STEADY: Duration = Duration::from_millis(25);

#[derive(Debug, Clone, clap::Args)]
#[command(after_help = "\
The eval runs its own PostgreSQL and server on loopback and removes them when it ends. It exits with 1 if a
figure is beyond its bound; with --fault, if none is.")]
pub struct Args {
    /// Seconds of each load
    #[arg(long, default_value_t = 20)]
    seconds: u64,
    /// Number of queued jobs of one tenant
    #[arg(long, default_value_t = 10_000)]
    jobs: usize,
    /// Lift the limits of users and tenants, which must be detected
    #[arg(long)]
    fault: bool,
    /// Path of the server; next to this program by default
    #[arg(long, env = "LUKASA_BIN", value_name = "FILE")]
    server: Option<PathBuf>,
    /// Keep the database and the logs
    #[arg(long)]
    keep: bool,
}

/// The bytes of one request.
#[derive(Clone)]
struct Request(Arc<[u8]>);

impl Request {
    fn post(key: &str, user: &str, path: &str, body: &Value) -> Self {
        let body = body.to_string();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: lukasa\r\nAuthorization: Bearer {key}\r\n\
             X-Lukasa-User: {user}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        Self((head + &body).into_bytes().into())
    }
}

/// The status and latency of each response.
#[derive(Debug, Default)]
struct Answers(Vec<(u16, Duration)>);

impl Answers {
    fn percentile(&self, share: f64, keep: impl Fn(u16) -> bool) -> Duration {
        let mut took: Vec<Duration> =
            self.0.iter().filter(|(status, _)| keep(*status)).map(|(_, took)| *took).collect();
        took.sort_unstable();
        let last = took.len().saturating_sub(1) as f64;
        took.get((last * share).round() as usize).copied().unwrap_or_default()
    }

    fn count(&self, keep: impl Fn(u16) -> bool) -> usize {
        self.0.iter().filter(|(status, _)| keep(*status)).count()
    }
}

fn is_good(status: u16) -> bool {
    (200..300).contains(&status)
}

fn is_rejected(status: u16) -> bool {
    matches!(status, 429 | 503)
}

fn millis(took: Duration) -> f64 {
    took.as_secs_f64() * 1e3
}

/// Sends the request at a steady rate for a while.
async fn steady(address: SocketAddr, request: Request, lasting: Duration) -> Result<Answers> {
    let mut wire = Wire::connect(address).await?;
    let mut ticks = interval(STEADY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (end, mut answers) = (Instant::now() + lasting, Answers::default());
    while Instant::now() < end {
        ticks.tick().await;
        let started = Instant::now();
        let answer = wire.ask(&request.0).await?;
        answers.0.push((answer.status, started.elapsed()));
    }
    Ok(answers)
}

/// Clients that send requests until they are stopped.
struct Crowd {
    stop: Arc<AtomicBool>,
    clients: JoinSet<Result<Answers>>,
}

impl Crowd {
    /// Starts this many connections; each has `pause` between the starts of two requests.
    fn start(
        address: SocketAddr,
        count: usize,
        pause: Duration,
        request: impl Fn(usize, usize) -> Request + Send + Sync + 'static,
    ) -> Self {
        let (stop, request) = (Arc::new(AtomicBool::new(false)), Arc::new(request));
        let mut clients = JoinSet::new();
        for client in 0..count {
            let (stop, request) = (Arc::clone(&stop), Arc::clone(&request));
            clients.spawn(async move {
                let (mut wire, mut answers) = (Wire::connect(address).await?, Answers::default());
                for number in 0.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    let (started, next) = (Instant::now(), request(client, number));
                    match wire.ask(&next.0).await {
                        Ok(answer) => answers.0.push((answer.status, started.elapsed())),
                        Err(_) => wire = Wire::connect(address).await?,
                    }
                    sleep(pause.saturating_sub(started.elapsed())).await;
                }
                Ok(answers)
            });
        }
        Self { stop, clients }
    }

    async fn end(mut self) -> Result<Answers> {
        self.stop.store(true, Ordering::Relaxed);
        let mut all = Answers::default();
        while let Some(client) = self.clients.join_next().await {
            all.0.extend(client??.0);
        }
        Ok(all)
    }
}

/// A figure and its bound.
struct Figure {
    name: &'static str,
    value: f64,
    bound: f64,
}

impl Figure {
    fn holds(&self) -> bool {
        self.value <= self.bound
    }
}

/// The processes and keys of a run. Fields are dropped in this order: the database is last.
struct Testbed {
    server: Server,
    chat: ChatServer,
    /// Keys of the overloading tenant, and of the one that must not be affected.
    busy: String,
    quiet: String,
    program: PathBuf,
    database: String,
    folder: PathBuf,
    _cluster: Cluster,
}

impl Testbed {
    fn start_worker(&self) -> Result<Worker> {
        let model = format!("scripted@{}", self.chat.url());
        let log = self.folder.join("worker.log");
        Worker::start(&self.program, &self.database, &log, &[("LUKASA_CHAT", &model)])
    }
}

pub async fn run(args: Args) -> Result<()> {
    lukasa_models::tls::install();
    let testbed = start_testbed(&args).await?;
    let mut figures = requests(&testbed, Duration::from_secs(args.seconds)).await?;
    figures.extend(jobs(&testbed, args.jobs, Duration::from_secs(args.seconds)).await?);
    println!();
    for figure in &figures {
        let Figure { name, value, bound } = figure;
        let mark = if figure.holds() { "" } else { "   BEYOND" };
        println!("  {name:52} {value:8.2}   (at most {bound}){mark}");
    }
    let beyond = figures.iter().filter(|figure| !figure.holds()).count();
    match (args.fault, beyond) {
        (false, 0) => println!("verdict: within every bound"),
        (false, count) => bail!("{count} figures are beyond their bounds"),
        (true, 0) => bail!("the lifted limits were not noticed"),
        (true, count) => println!("verdict: the lifted limits were noticed, in {count} figures"),
    }
    Ok(())
}

async fn start_testbed(args: &Args) -> Result<Testbed> {
    let program = server_program(args.server.as_deref())?;
    let folder = std::env::temp_dir().join(format!("lukasa-overload-{}", std::process::id()));
    let cluster = Cluster::start(&folder, args.keep, "256MB")?;
    let database = cluster.url("lukasa");
    let nothing = json!({ "title": "A chat", "summary": "They talked.", "memories": [] });
    let chat = ChatServer::start(move |_| ScriptedReply::Text(nothing.to_string())).await;
    let log = folder.join("server.log");
    let serve = Serve {
        program: &program,
        database: &database,
        auth: "keys",
        pool: POOL_SIZE,
        migrate: true,
        models: None,
        filter: "warn",
        log: &log,
    };
    let mut settings =
        if args.fault { vec![("LUKASA_USER_CONCURRENCY", "0")] } else { LIMITS.to_vec() };
    let model = format!("scripted@{}", chat.url());
    settings.push(("LUKASA_CHAT", &model));
    let server = Server::start_with(&serve, &settings).await?;
    let (_, busy) = create_key(&program, &database, "acme")?;
    let (_, quiet) = create_key(&program, &database, "globex")?;
    let testbed =
        Testbed { server, chat, busy, quiet, program, database, folder, _cluster: cluster };
    for number in 0..50 {
        let body = json!({ "content": format!("Keeps tea number {number} in the cupboard") });
        for (key, user) in [(&testbed.quiet, "bob"), (&testbed.busy, "greedy")] {
            let request = Request::post(key, user, "/api/memory", &body);
            let answer = Wire::connect(testbed.server.address).await?.ask(&request.0).await?;
            ensure!(is_good(answer.status), "saving answered {}", answer.status);
        }
    }
    Ok(testbed)
}

/// The request loads, and bob's latencies under each.
async fn requests(testbed: &Testbed, lasting: Duration) -> Result<Vec<Figure>> {
    let address = testbed.server.address;
    let question = json!({ "query": "Which tea is in the cupboard?" });
    let ask = |key: &str, user: &str| Request::post(key, user, "/api/memory/retrieve", &question);
    let bob = ask(&testbed.quiet, "bob");
    // Once for the caches, then as the reference.
    steady(address, bob.clone(), Duration::from_secs(2)).await?;
    let alone = steady(address, bob.clone(), lasting).await?;
    let p99 = |answers: &Answers| millis(answers.percentile(0.99, is_good));
    println!("alone: {} requests, p99 {:.1} ms", alone.0.len(), p99(&alone));

    let greedy = ask(&testbed.busy, "greedy");
    let connections = 50;
    let pause = Duration::from_secs(connections as u64) / u32::try_from(OVERLOAD_RATE)?;
    let crowd = Crowd::start(address, connections, pause, move |_, _| greedy.clone());
    let during = steady(address, bob.clone(), lasting).await?;
    let pressed = crowd.end().await?;
    let rejected = millis(pressed.percentile(0.99, is_rejected));
    println!(
        "overload: {:.0} requests/s, {} served, {} rejected with p99 {rejected:.1} ms; bob's p99 {:.1} ms",
        pressed.0.len() as f64 / lasting.as_secs_f64(),
        pressed.count(is_good),
        pressed.count(is_rejected),
        p99(&during)
    );
    let failed = pressed.count(|status| !is_good(status) && !is_rejected(status));
    let others = during.count(|status| !is_good(status));

    let key = testbed.busy.clone();
    let crowd = Crowd::start(address, WRITERS, Duration::ZERO, move |client, number| {
        let body = json!({ "content": format!("Keeps thing {client} {number} in the attic") });
        Request::post(&key, "writer", "/api/memory", &body)
    });
    let beside = steady(address, bob, lasting).await?;
    let written = crowd.end().await?;
    println!(
        "{WRITERS} writers of one user: {} written, {} rejected; bob's p99 {:.1} ms",
        written.count(is_good),
        written.count(is_rejected),
        p99(&beside)
    );
    let failed = failed + written.count(|status| !is_good(status) && !is_rejected(status));
    let others = others + beside.count(|status| !is_good(status));
    let figure = |name, value, bound| Figure { name, value, bound };
    Ok(vec![
        figure("p99 of a rejection, in ms", rejected, millis(REJECTED_WITHIN)),
        figure("requests neither served nor rejected", failed as f64, 0.0),
        figure("requests of the other user not served", others as f64, 0.0),
        figure("rejected, at least one (0) or none (1)", f64::from(u8::from(rejected == 0.0)), 0.0),
        figure("p99 of the other user under overload, ratio", p99(&during) / p99(&alone), 2.0),
        figure("p99 of the other user beside 64 writers, ratio", p99(&beside) / p99(&alone), 1.5),
    ])
}

/// Appends turns to a session and closes it; its extraction is a job.
async fn talk(address: SocketAddr, key: &str, user: &str, session: &str) -> Result<()> {
    let mut wire = Wire::connect(address).await?;
    let turns =
        json!({ "turns": [{ "role": "user", "content": "I keep the tea in the cupboard." }] });
    for (path, body) in [("turns", turns), ("close", json!({}))] {
        let path = format!("/api/sessions/{session}/{path}");
        let request = Request::post(key, user, &path, &body);
        loop {
            let answer = wire.ask(&request.0).await?;
            if is_good(answer.status) {
                break;
            }
            let text = String::from_utf8_lossy(wire.body(&answer)).into_owned();
            ensure!(is_rejected(answer.status), "{path} answered {}: {text}", answer.status);
            sleep(Duration::from_millis(20)).await;
        }
    }
    Ok(())
}

/// Number of sessions of a tenant that are queued for learning.
async fn waiting(database: &tokio_postgres::Client, tenant: &str) -> Result<i64> {
    let sql = "select count(*) from job j join tenant t using (tenant_id) \
               where t.name = $1 and kind = 'extract'";
    Ok(database.query_one(sql, &[&tenant]).await?.try_get(0)?)
}

/// How long bob's sessions wait for their extraction.
async fn job_latency(testbed: &Testbed, prefix: &str, lasting: Duration) -> Result<Vec<Duration>> {
    let database = connect(&testbed.database).await?;
    let (end, mut took) = (Instant::now() + lasting, Vec::new());
    while Instant::now() < end {
        let started = Instant::now();
        talk(testbed.server.address, &testbed.quiet, "bob", &format!("{prefix}{}", took.len()))
            .await?;
        while waiting(&database, "globex").await? > 0 {
            sleep(Duration::from_millis(5)).await;
            ensure!(started.elapsed() < Duration::from_secs(60), "bob's job waits for a minute");
        }
        took.push(started.elapsed());
        sleep(Duration::from_millis(100)).await;
    }
    took.sort_unstable();
    Ok(took)
}

/// Ten thousand jobs of one tenant, and the latency of another tenant's jobs next to them.
async fn jobs(testbed: &Testbed, count: usize, lasting: Duration) -> Result<Vec<Figure>> {
    let alone = {
        let _worker = testbed.start_worker()?;
        sleep(Duration::from_secs(1)).await;
        job_latency(testbed, "alone-", lasting).await?
    };
    let started = Instant::now();
    let mut talks: Vec<JoinHandle<Result<()>>> = Vec::new();
    for lane in 0..8 {
        let (address, key) = (testbed.server.address, testbed.busy.clone());
        talks.push(tokio::spawn(async move {
            for number in (lane..count).step_by(8) {
                talk(address, &key, &format!("user-{}", number % 200), &format!("s{number}"))
                    .await?;
            }
            Ok(())
        }));
    }
    for each in talks {
        each.await??;
    }
    let database = connect(&testbed.database).await?;
    let queued = waiting(&database, "acme").await?;
    println!("jobs: {queued} of one tenant queued in {:.0} s", started.elapsed().as_secs_f64());
    let _worker = testbed.start_worker()?;
    sleep(Duration::from_secs(1)).await;
    let beside = job_latency(testbed, "beside-", lasting).await?;
    let left = waiting(&database, "acme").await?;
    let middle = |took: &[Duration]| millis(took[took.len() / 2]);
    let most = |took: &[Duration]| took.last().copied().map_or(0.0, millis);
    println!(
        "a job of another tenant: alone median {:.0} ms, longest {:.0} ms; beside them {:.0} and {:.0} ms; \
         {left} of the {queued} still wait",
        middle(&alone),
        most(&alone),
        middle(&beside),
        most(&beside)
    );
    ensure!(left > 0, "all jobs were done before the measurement ended: take more");
    let ratio = middle(&beside) / middle(&alone);
    Ok(vec![Figure { name: "latency of the other tenant's jobs, ratio", value: ratio, bound: 1.5 }])
}
