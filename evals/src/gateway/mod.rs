//! The gateway: its latency compared with a plain reverse proxy, unchanged upstream bytes, a stable
//! prompt prefix over a whole chat, and chats that continue while PostgreSQL is stopped.
//!
//! Planted faults show that the checks work: a proxy that re-serializes what passes, a block that
//! is not frozen, and an endpoint that does not fail open.

mod chat_client;
mod live;
mod service;

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
use crate::processes::{Cluster, Serve, Server, connect, create_key, free_port, server_program};
use chat_client::{ChatClient, TimedResponse, Times};
pub(crate) use service::Service;

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Number of request pairs per measurement
    #[arg(long, default_value_t = 2_000)]
    requests: usize,
    /// Number of memories per user
    #[arg(long, default_value_t = 200)]
    memories: usize,
    /// How long PostgreSQL is up, then stopped, then up again, in seconds each
    #[arg(long, default_value_t = 10)]
    seconds: u64,
    /// Small numbers: shows that everything works, proves no figure
    #[arg(long)]
    short: bool,
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Folder with the embedder potion; without it search uses keywords
    #[arg(long, env = "LUKASA_TEST_MODELS", value_name = "FOLDER")]
    models: Option<PathBuf>,
    /// A real chat model, as `http://host/v1`. It is asked a few questions and nothing else is
    /// measured: on the same machine it would distort the latencies
    #[arg(long, value_name = "URL")]
    llm: Option<String>,
    /// Path of the server; by default `lukasa` next to this program.
    #[arg(long, env = "LUKASA_BIN", value_name = "FILE")]
    server: Option<PathBuf>,
}

/// A plain reverse proxy in a separate process, like the gateway.
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

/// Allowed added latency at p95 in milliseconds, with warm caches.
const ADDED: f64 = 10.0;
/// Number of concurrent clients in the larger measurement.
const CLIENTS: usize = 16;
/// Pause of a client between its requests, like a reading user.
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

/// The processes and clients of a run.
struct Testbed {
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
    let testbed = Testbed { args, cluster, server, service, proxy, http, key, words };
    testbed.fill().await?;
    let mut failed = Vec::new();
    failed.extend(testbed.latency().await?);
    failed.extend(testbed.chat().await?);
    failed.extend(testbed.outage().await?);
    ensure!(failed.is_empty(), "{}", failed.join("; "));
    println!("verdict: all checks passed");
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

impl Testbed {
    fn gateway(&self, user: usize, session: &str) -> ChatClient {
        ChatClient {
            http: self.http.clone(),
            base: format!("http://{}/v1", self.server.address),
            key: self.key.clone(),
            user: format!("u{user}"),
            session: session.to_owned(),
        }
    }

    fn plain(&self, user: usize, session: &str) -> ChatClient {
        ChatClient { base: self.proxy.base.clone(), ..self.gateway(user, session) }
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

    /// Saves the memories of every user.
    async fn fill(&self) -> Result<()> {
        let mut rng = StdRng::seed_from_u64(self.args.seed);
        for user_number in 0..CLIENTS {
            for n in 0..self.args.memories {
                let content = format!("{} n{n}", self.words.plain_sentence(&mut rng));
                let category = ["profile", "context", "style", "fact"][n % 4];
                let memory = json!({"content": content, "category": category});
                ensure!(
                    self.call(user_number, "/api/memory", memory).await? == 201,
                    "a save failed"
                );
            }
        }
        Ok(())
    }

    /// Pairs of requests, one through the proxy and one through the gateway, in turn.
    async fn latency(&self) -> Result<Vec<String>> {
        let mut failed = Vec::new();
        println!("\nadded latency, {} memories each, streamed", self.args.memories);
        for clients in [1, CLIENTS] {
            let each = (self.args.requests / clients).max(20);
            let mut tasks = JoinSet::new();
            for user_number in 0..clients {
                let session = format!("latency-{clients}");
                let arms = [self.plain(user_number, &session), self.gateway(user_number, &session)];
                let mut rng = StdRng::seed_from_u64(self.args.seed + user_number as u64);
                let texts: Vec<String> =
                    (0..each + 10).map(|_| self.words.sentence(&mut rng)).collect();
                tasks.spawn(pairs(arms, texts));
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
            // On a busy machine a memory can be late now and then; the chat continues without it.
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
        let caught = ChatClient { base: spoiling.base.clone(), ..self.plain(0, "spoilt") };
        let caught = caught.send(&[user("Hello")], true).await.context("no answer")?;
        println!(
            "  planted: a proxy that re-serializes what passes: {}",
            detected_or_missed(!caught.is_whole(true))
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
        let unfrozen = self.chat_in(|turn| format!("fifty-{}", turn / 10)).await?;
        println!("\na chat of fifty messages, with five writes between them");
        println!("  blocks: {} different, prompts that moved: {}", same.0, same.1);
        println!("  planted: a block that is not frozen: {}", detected_or_missed(unfrozen.0 > 1));
        let mut failed = Vec::new();
        if same != (1, 0) {
            failed.push(format!("{} blocks and {} moved prompts in one chat", same.0, same.1));
        }
        if unfrozen.0 == 1 {
            failed.push("a block that is not frozen was not noticed".into());
        }
        Ok(failed)
    }

    /// The number of different blocks in a chat, and how often an earlier part of the prompt moved.
    async fn chat_in(&self, session: impl Fn(usize) -> String) -> Result<(usize, usize)> {
        let mut rng = StdRng::seed_from_u64(self.args.seed + 99);
        let mut history = vec![json!({"role": "system", "content": "Be brief."})];
        let (mut blocks, mut moved) = (Vec::<Value>::new(), 0);
        let mut before: Vec<Value> = Vec::new();
        for turn in 0..50 {
            if turn % 10 == 5 {
                // Each chat writes its own memory: a known one would change nothing. It ranks first
                // in the block, however much else there is.
                let content =
                    format!("{} {}-{turn}", self.words.plain_sentence(&mut rng), session(turn));
                let memory = json!({"content": content, "category": "profile", "importance": 0.9});
                ensure!(self.call(0, "/api/memory", memory).await? == 201, "a save failed");
            }
            history.push(user(&self.words.sentence(&mut rng)));
            let chat_client = self.gateway(0, &session(turn));
            let timed = chat_client.send(&history, turn % 2 == 0).await.context("no answer")?;
            ensure!(timed.is_whole(turn % 2 == 0), "turn {turn} was answered {}", timed.status);
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

    /// Clients that send all the time while PostgreSQL is up, stopped, and up again.
    async fn outage(&self) -> Result<Vec<String>> {
        let ended = Arc::new(AtomicBool::new(false));
        let phase = Arc::new(AtomicUsize::new(0));
        let mut tasks = JoinSet::new();
        for user_number in 0..CLIENTS {
            let chat_client = self.gateway(user_number, "outage");
            let mut rng = StdRng::seed_from_u64(self.args.seed + 1_000 + user_number as u64);
            let (ended, phase) = (Arc::clone(&ended), Arc::clone(&phase));
            let texts: Vec<String> = (0..500).map(|_| self.words.sentence(&mut rng)).collect();
            tasks.spawn(async move {
                let mut seen = Vec::new();
                let mut last = None;
                for n in 0.. {
                    if ended.load(Ordering::Relaxed) {
                        break;
                    }
                    let mut messages: Vec<Value> = Vec::new();
                    messages.extend(last.take());
                    messages.push(user(&format!("{} {n}", texts[n % texts.len()])));
                    let then = phase.load(Ordering::Relaxed);
                    let timed = chat_client.send(&messages, true).await;
                    last = Some(json!({"role": "assistant", "content": service::TEXT}));
                    seen.push((then, timed));
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
        // An endpoint that does not fail open shows that the database is really down.
        let closed = self.call(0, "/api/memory", json!({"content": "Is anybody there?"})).await?;
        tokio::time::sleep(wait.saturating_sub(stopped.elapsed())).await;
        tokio::task::block_in_place(|| self.cluster.start_again())?;
        phase.store(2, Ordering::Relaxed);
        tokio::time::sleep(wait).await;
        ended.store(true, Ordering::Relaxed);
        let mut seen: Vec<(usize, Option<TimedResponse>)> = Vec::new();
        while let Some(done) = tasks.join_next().await {
            seen.extend(done?);
        }
        self.report(&seen, closed).await
    }

    async fn report(
        &self,
        seen: &[(usize, Option<TimedResponse>)],
        closed: u16,
    ) -> Result<Vec<String>> {
        let whole = |timed: &Option<TimedResponse>| {
            timed.as_ref().is_some_and(|timed| timed.is_whole(true))
        };
        let answered = seen.iter().filter(|(_, timed)| whole(timed)).count();
        println!("\n{CLIENTS} clients while PostgreSQL is stopped in mid-load");
        for (phase, name) in ["there", "stopped", "back"].into_iter().enumerate() {
            let of: Vec<_> = seen.iter().filter(|(then, _)| *then == phase).collect();
            let good = of.iter().filter(|(_, timed)| whole(timed)).count();
            let degraded = |timed: &Option<TimedResponse>| {
                timed.as_ref().is_some_and(|timed| timed.degraded.is_some())
            };
            let marked = of.iter().filter(|(_, timed)| degraded(timed)).count();
            let times = of.iter().filter_map(|(_, timed)| timed.as_ref().map(|timed| timed.took));
            let times = Times::of(times.collect());
            println!(
                "  {name:8} {:6} sent, {good:6} answered, {marked:6} degraded, {times}",
                of.len()
            );
        }
        let fails = closed >= 500;
        println!(
            "  planted: an endpoint that does not fail open answered {closed}: {}",
            detected_or_missed(fails)
        );
        let mut failed = Vec::new();
        if answered != seen.len() {
            failed.push(format!("{} of {} were not answered", seen.len() - answered, seen.len()));
        }
        if !fails || !seen.iter().any(|(phase, _)| *phase == 1) {
            failed.push("PostgreSQL was not away".into());
        }
        let stored_rounds = self.stored_rounds(seen.len()).await?;
        println!("  rounds stored afterwards: {stored_rounds} of {}", seen.len());
        if stored_rounds < seen.len() {
            failed.push(format!("{} rounds were lost", seen.len() - stored_rounds));
        }
        Ok(failed)
    }

    /// Number of rounds in the database in the end; queued ones are written within moments.
    async fn stored_rounds(&self, wanted: usize) -> Result<usize> {
        const SQL: &str = "select count(*) from turn where session_id = 'outage' and role = 'user'";
        let admin = connect(&self.cluster.url("lukasa")).await?;
        let mut stored_rounds = 0;
        for _ in 0..150 {
            stored_rounds = usize::try_from(admin.query_one(SQL, &[]).await?.get::<_, i64>(0))?;
            if stored_rounds >= wanted {
                break;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        Ok(stored_rounds)
    }
}

fn detected_or_missed(caught: bool) -> &'static str {
    if caught { "noticed" } else { "NOT noticed" }
}

/// Result of many pairs of requests, one past the gateway and one through it.
#[derive(Default)]
struct Pairs {
    plain: Vec<Duration>,
    through: Vec<Duration>,
    /// Responses that were not the upstream's bytes.
    bad: usize,
    /// Responses without memory, which was not ready in time.
    late: usize,
}

/// One client's pairs; the first ten are a warm-up.
async fn pairs(arms: [ChatClient; 2], texts: Vec<String>) -> Pairs {
    let mut pairs = Pairs::default();
    for (n, text) in texts.iter().enumerate() {
        // The order alternates, so that neither always benefits from the other.
        for arm in if n % 2 == 0 { [0, 1] } else { [1, 0] } {
            let timed = arms[arm].send(&[user(text)], true).await;
            if n < 10 {
                continue;
            }
            match timed.filter(|timed| timed.is_whole(true)) {
                Some(timed) if timed.degraded.is_some() => pairs.late += 1,
                Some(timed) if arm == 0 => pairs.plain.push(timed.took),
                Some(timed) => pairs.through.push(timed.took),
                None => pairs.bad += 1,
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
    pairs
}
