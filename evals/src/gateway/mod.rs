//! The gateway: what it adds to a chat beside a plain reverse proxy, that its bytes are the service's
//! own, that a chat begins with the same bytes from its first message to its last, and that it goes on
//! when PostgreSQL is stopped in the middle.
//!
//! Whether the checks can see is shown by faults that they must notice: a proxy that prints anew what
//! passes, a block that is not frozen, and a door that does not stay open.

mod live;
mod service;
mod shots;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::load::words::Vocabulary;
use crate::stand::{Cluster, Serve, Server, connect, create_key, free_port, server_program};
pub(crate) use service::Service;
use shots::{Shooter, Shot, Times};

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// How many pairs of requests each measurement has
    #[arg(long, default_value_t = 2_000)]
    requests: usize,
    /// How many memories each person has
    #[arg(long, default_value_t = 200)]
    memories: usize,
    /// How long PostgreSQL is there, then away, then back, in seconds each
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Small numbers: shows that everything works, proves no figure
    #[arg(long)]
    short: bool,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The folder with the embedder potion; without it recall goes by words
    #[arg(long, env = "LUKASA_TEST_MODELS", value_name = "FOLDER")]
    models: Option<PathBuf>,
    /// A real chat model, as `http://host/v1`. It is asked a few questions and nothing else is done:
    /// on the same machine it would take the time that is measured
    #[arg(long, value_name = "URL")]
    llm: Option<String>,
    /// The server's program; by default `lukasa` beside this one.
    #[arg(long, env = "LUKASA_BIN", value_name = "FILE")]
    server: Option<PathBuf>,
}

/// A plain reverse proxy in a process of its own, as the gateway has one.
#[derive(Debug, Clone, clap::Args)]
pub struct ProxyArgs {
    #[arg(long)]
    to: String,
    #[arg(long)]
    listen: String,
    #[arg(long)]
    spoils: bool,
}

pub async fn run_proxy(args: ProxyArgs) -> Result<()> {
    let (_, task) = service::proxy(&args.to, &args.listen, args.spoils).await?;
    Ok(task.await?)
}

/// How much a chat may wait for its memory, in milliseconds, with everything warm.
const ADDED: f64 = 10.0;
/// How many people chat at once in the larger measurement.
const CLIENTS: usize = 16;
/// A person reads before they write again; so do the clients, a little.
const PAUSE: Duration = Duration::from_millis(50);

struct Proxy {
    child: Child,
    base: String,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Proxy {
    async fn start(to: &str, spoils: bool) -> Result<Self> {
        let listen = format!("127.0.0.1:{}", free_port()?);
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["gateway-proxy", "--to", to, "--listen", &listen]);
        command.args(spoils.then_some("--spoils")).stdin(Stdio::null());
        let proxy = Self { child: command.spawn()?, base: format!("http://{listen}/v1") };
        for _ in 0..200 {
            if tokio::net::TcpStream::connect(&listen).await.is_ok() {
                return Ok(proxy);
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        anyhow::bail!("the proxy did not start")
    }
}

/// Everything that a run stands on.
struct Stand {
    args: Args,
    cluster: Cluster,
    server: Server,
    service: Service,
    proxy: Proxy,
    http: reqwest::Client,
    key: String,
    words: Vocabulary,
}

pub async fn run(mut args: Args) -> Result<()> {
    lukasa_models::tls::install();
    if args.short {
        (args.requests, args.memories, args.seconds) = (60, 30, 2);
    }
    println!("seed {}", args.seed);
    let program = server_program(args.server.as_deref())?;
    let dir = std::env::temp_dir().join(format!("lukasa-gateway-{}", std::process::id()));
    if let Some(llm) = &args.llm {
        return live::run(&args, &program, &dir, llm).await;
    }
    let cluster = Cluster::start(&dir, false, "256MB")?;
    let service = Service::start().await?;
    let (url, log) = (cluster.url("lukasa"), dir.join("server.log"));
    let server = serve(&args, &program, &url, &log, &service.url).await?;
    let (_, key) = create_key(&program, &url, "acme")?;
    let proxy = Proxy::start(&service.url, false).await?;
    let http = reqwest::Client::new();
    let words = Vocabulary::new(args.seed);
    let stand = Stand { args, cluster, server, service, proxy, http, key, words };
    stand.fill().await?;
    let mut failed = Vec::new();
    failed.extend(stand.latency().await?);
    failed.extend(stand.chat().await?);
    failed.extend(stand.outage().await?);
    ensure!(failed.is_empty(), "{}", failed.join("; "));
    println!("verdict: everything held");
    Ok(())
}

async fn serve(
    args: &Args,
    program: &Path,
    url: &str,
    log: &Path,
    upstream: &str,
) -> Result<Server> {
    let models = args.models.clone();
    let models = models.or_else(|| crate::required_data::folder("LUKASA_TEST_MODELS"));
    let serve = Serve {
        program,
        database: url,
        auth: "keys",
        pool: 16,
        migrate: true,
        models: models.as_deref().map(|folder| (folder, "potion")),
        filter: "error",
        log,
    };
    let settings = [("LUKASA_UPSTREAM", upstream), ("LUKASA_UPSTREAM_KEY", "sk-none")];
    Server::start_with(&serve, &settings).await
}

fn user(content: &str) -> Value {
    json!({"role": "user", "content": content})
}

impl Stand {
    fn gateway(&self, user: usize, session: &str) -> Shooter {
        Shooter {
            http: self.http.clone(),
            base: format!("http://{}/v1", self.server.address),
            key: self.key.clone(),
            user: format!("u{user}"),
            session: session.to_owned(),
        }
    }

    fn plain(&self, user: usize, session: &str) -> Shooter {
        Shooter { base: self.proxy.base.clone(), ..self.gateway(user, session) }
    }

    async fn call(&self, user: usize, path: &str, body: Value) -> Result<u16> {
        let answer = self
            .http
            .post(format!("http://{}{path}", self.server.address))
            .header("authorization", format!("Bearer {}", self.key))
            .header("x-lukasa-user", format!("u{user}"))
            .json(&body)
            .send()
            .await?;
        Ok(answer.status().as_u16())
    }

    /// Gives everybody their memories.
    async fn fill(&self) -> Result<()> {
        let mut rng = StdRng::seed_from_u64(self.args.seed);
        for person in 0..CLIENTS {
            for n in 0..self.args.memories {
                let content = format!("{} n{n}", self.words.plain_sentence(&mut rng));
                let category = ["profile", "context", "style", "fact"][n % 4];
                let memory = json!({"content": content, "category": category});
                ensure!(self.call(person, "/api/memory", memory).await? == 201, "a save failed");
            }
        }
        Ok(())
    }

    /// Pairs of requests, one through the proxy and one through the gateway, in turns.
    async fn latency(&self) -> Result<Vec<String>> {
        let mut failed = Vec::new();
        println!("\nadded latency, {} memories each, streamed", self.args.memories);
        for clients in [1, CLIENTS] {
            let each = (self.args.requests / clients).max(20);
            let mut tasks = JoinSet::new();
            for person in 0..clients {
                let session = format!("latency-{clients}");
                let arms = [self.plain(person, &session), self.gateway(person, &session)];
                let mut rng = StdRng::seed_from_u64(self.args.seed + person as u64);
                let said: Vec<String> =
                    (0..each + 10).map(|_| self.words.sentence(&mut rng)).collect();
                tasks.spawn(pairs(arms, said));
            }
            let (mut plain, mut through, mut bad, mut late) = (Vec::new(), Vec::new(), 0, 0);
            while let Some(done) = tasks.join_next().await {
                let done = done?;
                plain.extend(done.plain);
                through.extend(done.through);
                bad += done.bad;
                late += done.late;
            }
            let (plain, through) = (Times::of(plain), Times::of(through));
            let added = |share: f64| through.at(share) - plain.at(share);
            println!("  {clients:2} clients, {} pairs", plain.count());
            println!("    plain proxy  {plain}");
            println!("    gateway      {through}");
            let (p50, p95, p99) = (added(0.5), added(0.95), added(0.99));
            println!("    added        p50 {p50:7.2}  p95 {p95:7.2}  p99 {p99:7.2} ms");
            println!(
                "    answers that were not the service's bytes: {bad}; without memory: {late}"
            );
            // On a busy machine a memory can be late now and then; the chat goes on without it.
            if late * 50 > through.count() {
                failed.push(format!("{late} answers at {clients} clients were without memory"));
            }
            if bad > 0 {
                failed.push(format!("{bad} answers at {clients} clients were not whole"));
            }
            if p95 >= ADDED && !self.args.short {
                failed.push(format!("p95 of {p95:.2} ms more at {clients} clients"));
            }
        }
        let spoiling = Proxy::start(&self.service.url, true).await?;
        let caught = Shooter { base: spoiling.base.clone(), ..self.plain(0, "spoilt") };
        let caught = caught.send(&[user("Hello")], true).await.context("no answer")?;
        println!(
            "  planted: a proxy that prints anew what passes: {}",
            noticed(!caught.is_whole(true))
        );
        if caught.is_whole(true) {
            failed.push("a re-encoded stream was not noticed".into());
        }
        self.service.asked();
        Ok(failed)
    }

    /// Fifty messages of one chat, with writes between them.
    async fn chat(&self) -> Result<Vec<String>> {
        let same = self.chat_in(|_| "fifty".to_owned()).await?;
        let thawed = self.chat_in(|turn| format!("fifty-{}", turn / 10)).await?;
        println!("\na chat of fifty messages, with five writes between them");
        println!("  blocks: {} different, prompts that moved: {}", same.0, same.1);
        println!("  planted: a block that is not frozen: {}", noticed(thawed.0 > 1));
        let mut failed = Vec::new();
        if same != (1, 0) {
            failed.push(format!("{} blocks and {} moved prompts in one chat", same.0, same.1));
        }
        if thawed.0 == 1 {
            failed.push("a block that is not frozen was not noticed".into());
        }
        Ok(failed)
    }

    /// How many different blocks a chat had, and how often what was sent before had moved.
    async fn chat_in(&self, session: impl Fn(usize) -> String) -> Result<(usize, usize)> {
        let mut rng = StdRng::seed_from_u64(self.args.seed + 99);
        let mut history = vec![json!({"role": "system", "content": "Be brief."})];
        let (mut blocks, mut moved) = (Vec::<Value>::new(), 0);
        let mut before: Vec<Value> = Vec::new();
        for turn in 0..50 {
            if turn % 10 == 5 {
                // Each chat writes its own: what is known already would change nothing. It is something
                // that stands first in the block, however much else there is.
                let content =
                    format!("{} {}-{turn}", self.words.plain_sentence(&mut rng), session(turn));
                let memory = json!({"content": content, "category": "profile", "importance": 0.9});
                ensure!(self.call(0, "/api/memory", memory).await? == 201, "a save failed");
            }
            history.push(user(&self.words.sentence(&mut rng)));
            let shooter = self.gateway(0, &session(turn));
            let shot = shooter.send(&history, turn % 2 == 0).await.context("no answer")?;
            ensure!(shot.is_whole(turn % 2 == 0), "turn {turn} was answered {}", shot.status);
            let asked = self.service.asked().pop().context("the service was not asked")?;
            let now = asked["messages"].as_array().cloned().unwrap_or_default();
            if !blocks.contains(&now[0]) {
                blocks.push(now[0].clone());
            }
            let same = before.len().saturating_sub(1);
            if now.get(1..same) != before.get(1..same) {
                moved += 1;
            }
            before = now;
            history.push(json!({"role": "assistant", "content": service::TEXT}));
        }
        Ok((blocks.len(), moved))
    }

    /// Clients that never stop, while PostgreSQL is there, is stopped, and is back.
    async fn outage(&self) -> Result<Vec<String>> {
        let ended = Arc::new(AtomicBool::new(false));
        let phase = Arc::new(AtomicUsize::new(0));
        let mut tasks = JoinSet::new();
        for person in 0..CLIENTS {
            let shooter = self.gateway(person, "outage");
            let mut rng = StdRng::seed_from_u64(self.args.seed + 1_000 + person as u64);
            let (ended, phase) = (Arc::clone(&ended), Arc::clone(&phase));
            let said: Vec<String> = (0..500).map(|_| self.words.sentence(&mut rng)).collect();
            tasks.spawn(async move {
                let mut seen = Vec::new();
                let mut last = None;
                for n in 0.. {
                    if ended.load(Ordering::Relaxed) {
                        break;
                    }
                    let mut messages: Vec<Value> = Vec::new();
                    messages.extend(last.take());
                    messages.push(user(&format!("{} {n}", said[n % said.len()])));
                    let then = phase.load(Ordering::Relaxed);
                    let shot = shooter.send(&messages, true).await;
                    last = Some(json!({"role": "assistant", "content": service::TEXT}));
                    seen.push((then, shot));
                    tokio::time::sleep(PAUSE).await;
                }
                seen
            });
        }
        let wait = Duration::from_secs(self.args.seconds);
        tokio::time::sleep(wait).await;
        tokio::task::block_in_place(|| self.cluster.stop())?;
        phase.store(1, Ordering::Relaxed);
        let stopped = Instant::now();
        // A door that does not stay open shows that the database is really away.
        let closed = self.call(0, "/api/memory", json!({"content": "Is anybody there?"})).await?;
        tokio::time::sleep(wait.saturating_sub(stopped.elapsed())).await;
        tokio::task::block_in_place(|| self.cluster.start_again())?;
        phase.store(2, Ordering::Relaxed);
        tokio::time::sleep(wait).await;
        ended.store(true, Ordering::Relaxed);
        let mut seen: Vec<(usize, Option<Shot>)> = Vec::new();
        while let Some(done) = tasks.join_next().await {
            seen.extend(done?);
        }
        self.report(&seen, closed).await
    }

    async fn report(&self, seen: &[(usize, Option<Shot>)], closed: u16) -> Result<Vec<String>> {
        let whole = |shot: &Option<Shot>| shot.as_ref().is_some_and(|shot| shot.is_whole(true));
        let answered = seen.iter().filter(|(_, shot)| whole(shot)).count();
        println!("\n{CLIENTS} clients while PostgreSQL is stopped in mid-load");
        for (phase, name) in ["there", "stopped", "back"].into_iter().enumerate() {
            let of: Vec<_> = seen.iter().filter(|(then, _)| *then == phase).collect();
            let good = of.iter().filter(|(_, shot)| whole(shot)).count();
            let degraded =
                |shot: &Option<Shot>| shot.as_ref().is_some_and(|shot| shot.degraded.is_some());
            let marked = of.iter().filter(|(_, shot)| degraded(shot)).count();
            let times = of.iter().filter_map(|(_, shot)| shot.as_ref().map(|shot| shot.took));
            let times = Times::of(times.collect());
            println!(
                "  {name:8} {:6} sent, {good:6} answered, {marked:6} degraded, {times}",
                of.len()
            );
        }
        let fails = closed >= 500;
        println!("  planted: a door that does not stay open answered {closed}: {}", noticed(fails));
        let mut failed = Vec::new();
        if answered != seen.len() {
            failed.push(format!("{} of {} were not answered", seen.len() - answered, seen.len()));
        }
        if !fails || !seen.iter().any(|(phase, _)| *phase == 1) {
            failed.push("PostgreSQL was not away".into());
        }
        let kept = self.kept(seen.len()).await?;
        println!("  rounds kept afterwards: {kept} of {}", seen.len());
        if kept < seen.len() {
            failed.push(format!("{} rounds were lost", seen.len() - kept));
        }
        Ok(failed)
    }

    /// How many rounds the database holds in the end; what waited is written within moments.
    async fn kept(&self, wanted: usize) -> Result<usize> {
        const SQL: &str = "select count(*) from turn where session_id = 'outage' and role = 'user'";
        let admin = connect(&self.cluster.url("lukasa")).await?;
        let mut kept = 0;
        for _ in 0..150 {
            kept = usize::try_from(admin.query_one(SQL, &[]).await?.get::<_, i64>(0))?;
            if kept >= wanted {
                break;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        Ok(kept)
    }
}

fn noticed(caught: bool) -> &'static str {
    if caught { "noticed" } else { "NOT noticed" }
}

/// What pairs of shots came to, one past the gateway and one through it.
#[derive(Default)]
struct Pairs {
    plain: Vec<Duration>,
    through: Vec<Duration>,
    /// Answers that were not the service's bytes.
    bad: usize,
    /// Answers to which no memory was added in time.
    late: usize,
}

/// One client's pairs; the first ten warm everything up.
async fn pairs(arms: [Shooter; 2], said: Vec<String>) -> Pairs {
    let mut pairs = Pairs::default();
    for (n, text) in said.iter().enumerate() {
        // Who goes first changes, so that neither always finds the machine as the other left it.
        for arm in if n % 2 == 0 { [0, 1] } else { [1, 0] } {
            let shot = arms[arm].send(&[user(text)], true).await;
            if n < 10 {
                continue;
            }
            match shot.filter(|shot| shot.is_whole(true)) {
                Some(shot) if shot.degraded.is_some() => pairs.late += 1,
                Some(shot) if arm == 0 => pairs.plain.push(shot.took),
                Some(shot) => pairs.through.push(shot.took),
                None => pairs.bad += 1,
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
    pairs
}
