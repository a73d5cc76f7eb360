//! One user with years of conversations: what a question costs, and what the history takes on disk
//! and in memory; beside another server, if one is named, on the same machine and texts.
//!
//! Each server gets a database of its own, filled through its API with the same memories and turns.
//! It is then started again, so that the first question finds nothing in memory.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use hyper::Method;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng};
use serde::Serialize;
use serde_json::{Value, json};

use crate::load::cpu;
use crate::load::words::Vocabulary;
use crate::processes::{Cluster, Serve, Server, connect, server_program};
use crate::retrieval::client::{AT_ONCE, Client};

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Folder with the model's files: potion/model.safetensors and so on.
    #[arg(long, env = "LUKASA_MODELS", value_name = "DIR")]
    pub models: PathBuf,
    #[arg(long, default_value_t = 100_000)]
    pub turns: usize,
    #[arg(long, default_value_t = 20_000)]
    pub memories: usize,
    /// Number of questions after the first one.
    #[arg(long, default_value_t = 40)]
    pub questions: usize,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Path of the server; by default `lukasa` next to this program.
    #[arg(long, env = "LUKASA_BIN", value_name = "FILE")]
    pub server: Option<PathBuf>,
    /// Another server to compare with.
    #[arg(long, value_name = "FILE")]
    pub beside: Option<PathBuf>,
    /// Write the figures here as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

pub(crate) const TURNS_PER_SESSION: usize = 20;
/// Words of a message and of an answer: the means of public data sets.
pub(crate) const MESSAGE_WORDS: usize = 48;
pub(crate) const ANSWER_WORDS: usize = 352;
const USER: &str = "long";
const OTHER_USER: &str = "other";

/// The figures of one server.
#[derive(Debug, Default, Serialize)]
struct Figures {
    /// Megabytes of the passages and embeddings with their indexes.
    index_mb: f64,
    /// Megabytes of the turns with their indexes.
    turns_mb: f64,
    /// Megabytes of the server's memory before the first question, and the growth after all.
    memory_before_mb: f64,
    memory_growth_mb: f64,
    first_ms: f64,
    /// Processor time of the server and of PostgreSQL for the first question.
    first_cpu_ms: f64,
    later_p50_ms: f64,
    later_p95_ms: f64,
    /// Processor time of the server and of PostgreSQL for each later question.
    later_cpu_ms: f64,
    /// Another user's search, p99 in ms: alone, and while the first question is answered.
    other_alone_ms: f64,
    other_meanwhile_ms: f64,
}

pub async fn run(args: Args) -> Result<()> {
    let program = server_program(args.server.as_deref())?;
    let dir = std::env::temp_dir().join(format!("lukasa-long-{}", std::process::id()));
    let cluster = Cluster::start(&dir, false, "2GB")?;
    let mut figures = vec![("this", measure(&args, &program, &cluster, &dir, "this").await?)];
    if let Some(beside) = &args.beside {
        figures.push(("beside", measure(&args, beside, &cluster, &dir, "beside").await?));
    }
    tell(&args, &figures);
    if let Some(file) = &args.json {
        std::fs::write(file, serde_json::to_vec_pretty(&figures)?)?;
    }
    Ok(())
}

async fn measure(
    args: &Args,
    program: &Path,
    cluster: &Cluster,
    dir: &Path,
    name: &str,
) -> Result<Figures> {
    let admin = connect(&cluster.url("postgres")).await?;
    admin.batch_execute(&format!("create database {name}")).await?;
    let (url, log) = (cluster.url(name), dir.join("server.log"));
    let serve = Serve {
        program,
        database: &url,
        auth: "off",
        pool: 16,
        migrate: true,
        models: Some((&args.models, "potion")),
        filter: "warn",
        log: &log,
    };
    let mut figures = Figures::default();
    let server = Server::start(&serve).await?;
    fill(args, &Client::to(server.address)).await.context("filling")?;
    drop(server);
    let own = connect(&url).await?;
    pack(&own, &serve).await.context("packing")?;
    own.batch_execute("vacuum full; analyze").await?;
    figures.index_mb = size(&own, &["passage", "embedding", "packed_session"]).await?;
    figures.turns_mb = size(&own, &["turn"]).await?;

    let server = Server::start(&serve).await?;
    let client = Client::to(server.address);
    // Loads the embedder, and the code.
    ask(&client, OTHER_USER, "warm up").await?;
    figures.other_alone_ms = percentile(&other_user(&client, Duration::from_secs(3)).await?, 0.99);
    figures.memory_before_mb = memory(server.pid());
    let postmaster = postmaster(&own).await?;
    let vocabulary = Vocabulary::new(args.seed);
    let mut rng = StdRng::seed_from_u64(args.seed + 1);
    let question = |rng: &mut StdRng| text(&vocabulary, rng, 7);

    let before = cpu::ticks(&[server.pid()], postmaster);
    let first_question = question(&mut rng);
    let first = async {
        let started = Instant::now();
        ask(&client, USER, &first_question).await?;
        anyhow::Ok(started.elapsed())
    };
    let others = other_user(&client, Duration::from_secs(3));
    let (first, meanwhile) = tokio::try_join!(first, others)?;
    figures.first_ms = first.as_secs_f64() * 1e3;
    figures.first_cpu_ms = cpu::millis_since(before, &[server.pid()], postmaster);
    figures.other_meanwhile_ms = percentile(&meanwhile, 0.99);

    let before = cpu::ticks(&[server.pid()], postmaster);
    let mut took = Vec::new();
    for _ in 0..args.questions {
        let started = Instant::now();
        ask(&client, USER, &question(&mut rng)).await?;
        took.push(started.elapsed().as_secs_f64() * 1e3);
    }
    let count = args.questions.max(1) as f64;
    figures.later_cpu_ms = cpu::millis_since(before, &[server.pid()], postmaster) / count;
    (figures.later_p50_ms, figures.later_p95_ms) =
        (percentile(&took, 0.5), percentile(&took, 0.95));
    figures.memory_growth_mb = memory(server.pid()) - figures.memory_before_mb;
    Ok(figures)
}

/// As many words, in sentences.
pub(crate) fn text(vocabulary: &Vocabulary, rng: &mut StdRng, words: usize) -> String {
    let mut text = String::new();
    let mut count = 0;
    while count < words {
        let sentence = vocabulary.sentence(rng);
        for word in sentence.split(' ').take(words - count) {
            if !text.is_empty() {
                text.push(' ');
            }
            text.push_str(word);
            count += 1;
        }
        if count < words {
            text.push('.');
        }
    }
    text
}

/// The same memories and turns for every server.
async fn fill(args: &Args, client: &Client) -> Result<()> {
    let vocabulary = Vocabulary::new(args.seed);
    let mut rng = StdRng::seed_from_u64(args.seed);
    for _ in 0..50 {
        let content = vocabulary.plain_sentence(&mut rng).to_owned();
        save(client, OTHER_USER, content).await?;
    }
    let sentences: Vec<String> = (0..args.memories)
        .map(|n| format!("{} {n}", vocabulary.plain_sentence(&mut rng)))
        .collect();
    let saves = stream::iter(sentences).map(|content| save(client, USER, content));
    saves.buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await?;
    let sessions = args.turns.div_ceil(TURNS_PER_SESSION);
    let seeds: Vec<u64> = (0..sessions).map(|_| rng.random()).collect();
    let appends = stream::iter(seeds.into_iter().enumerate())
        .map(|(session, seed)| append(client, &vocabulary, session, seed));
    appends.buffer_unordered(AT_ONCE).try_collect::<Vec<()>>().await?;
    Ok(())
}

async fn save(client: &Client, user: &str, content: String) -> Result<()> {
    let body = json!({"content": content});
    client.ask(user, Method::POST, "/api/memory", Some(body)).await.map(|_| ())
}

async fn append(client: &Client, vocabulary: &Vocabulary, session: usize, seed: u64) -> Result<()> {
    let mut rng = StdRng::seed_from_u64(seed);
    let turn = |n: usize| match n % 2 {
        0 => json!({"role": "user", "content": text(vocabulary, &mut rng, MESSAGE_WORDS)}),
        _ => json!({"role": "assistant", "content": text(vocabulary, &mut rng, ANSWER_WORDS)}),
    };
    let turns: Vec<Value> = (0..TURNS_PER_SESSION).map(turn).collect();
    let path = format!("/api/sessions/chat-{session}/turns");
    client.ask(USER, Method::POST, &path, Some(json!({"turns": turns}))).await.map(|_| ())
}

/// A search for memories and turns that must not be degraded.
async fn ask(client: &Client, user: &str, question: &str) -> Result<()> {
    let body = json!({"query": question, "limit": 10, "turns": 10});
    let found = client.ask(user, Method::POST, "/api/memory/search", Some(body)).await?;
    let degraded = found["degraded"].as_array().is_some_and(|list| !list.is_empty());
    anyhow::ensure!(!degraded || user != USER, "degraded: {}", found["degraded"]);
    Ok(())
}

/// How long searches of a small user take, in milliseconds.
async fn other_user(client: &Client, lasting: Duration) -> Result<Vec<f64>> {
    let (started, mut took) = (Instant::now(), Vec::new());
    while started.elapsed() < lasting {
        let asked = Instant::now();
        ask(client, OTHER_USER, "a question about something").await?;
        took.push(asked.elapsed().as_secs_f64() * 1e3);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(took)
}

fn percentile(took: &[f64], share: f64) -> f64 {
    let mut sorted = took.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().saturating_sub(1);
    sorted.get((last as f64 * share).round() as usize).copied().unwrap_or(0.0)
}

/// Lets a server that packs closed sessions do so now: the sessions were closed yesterday, and upkeep
/// is due.
async fn pack(own: &tokio_postgres::Client, serve: &Serve<'_>) -> Result<()> {
    const PACK_TIMEOUT: Duration = Duration::from_secs(600);
    let sql = "select to_regclass('packed_session') is not null";
    if !own.query_one(sql, &[]).await?.get::<_, bool>(0) {
        return Ok(());
    }
    let closed = "update session set state = 'idle', closed_at = now() - interval '1 day'";
    own.batch_execute(closed).await?;
    let server = Server::start(serve).await?;
    let from = Instant::now();
    loop {
        let due = "update job set run_at = now(), head_at = now() \
                    where kind = 'upkeep' and state = 'waiting'";
        own.batch_execute(due).await?;
        tokio::time::sleep(Duration::from_secs(2)).await;
        let sql = "select count(*) from passage where kind = 'turn'";
        let left: i64 = own.query_one(sql, &[]).await?.get(0);
        if left == 0 {
            break;
        }
        anyhow::ensure!(from.elapsed() < PACK_TIMEOUT, "{left} passages of turns are not packed");
    }
    drop(server);
    Ok(())
}

async fn size(admin: &tokio_postgres::Client, tables: &[&str]) -> Result<f64> {
    let sql = "select coalesce(sum(pg_total_relation_size(to_regclass(t))), 0)::float8 / 1e6 \
                 from unnest($1::text[]) t";
    Ok(admin.query_one(sql, &[&tables]).await?.get(0))
}

/// The process of PostgreSQL that started this connection's.
pub(crate) async fn postmaster(admin: &tokio_postgres::Client) -> Result<u32> {
    let pid: i32 = admin.query_one("select pg_backend_pid()", &[]).await?.get(0);
    let pid = u32::try_from(pid)?;
    cpu::parent(pid).context("the parent of a database process")
}

/// Resident memory of a process in megabytes.
pub(crate) fn memory(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<f64>().ok());
    kilobytes.unwrap_or(0.0) / 1e3
}

fn tell(args: &Args, figures: &[(&str, Figures)]) {
    println!("One user with {} turns and {} memories.\n", args.turns, args.memories);
    let names: Vec<&str> = figures.iter().map(|(name, _)| *name).collect();
    println!("| | {} |", names.join(" | "));
    println!("|---|{}", "---:|".repeat(names.len()));
    type Get = fn(&Figures) -> f64;
    let rows: [(&str, Get); 11] = [
        ("passages and embeddings on disk, MB", |f| f.index_mb),
        ("turns on disk, MB", |f| f.turns_mb),
        ("server memory before, MB", |f| f.memory_before_mb),
        ("growth of server memory, MB", |f| f.memory_growth_mb),
        ("first question, ms", |f| f.first_ms),
        ("first question, CPU ms", |f| f.first_cpu_ms),
        ("later questions, p50 ms", |f| f.later_p50_ms),
        ("later questions, p95 ms", |f| f.later_p95_ms),
        ("later questions, CPU ms each", |f| f.later_cpu_ms),
        ("another user alone, p99 ms", |f| f.other_alone_ms),
        ("another user during the first question, p99 ms", |f| f.other_meanwhile_ms),
    ];
    for (what, get) in rows {
        let values: Vec<String> = figures.iter().map(|(_, f)| format!("{:.1}", get(f))).collect();
        println!("| {what} | {} |", values.join(" | "));
    }
}
