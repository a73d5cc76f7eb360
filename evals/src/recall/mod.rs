//! The cost of recall, compared with a bare hybrid SQL statement on the same data, in the same run.
//!
//! A database of its own is filled with users of several sizes (`fill`). Then 16 clients search and
//! retrieve through the real server, inside of a session and outside, and as many connections run
//! the statement that a server without an index of its own would run (`bare`): exact vectors and
//! full text of one user, fused by reciprocal ranks. Cold rows are the first requests of their
//! users to a server that has just started, and load their indexes; before warm rows every user has
//! asked once. It also checks that row-level security loses nothing: the nearest memories of a user
//! with very many are the true ones.

mod bare;
pub(crate) mod fill;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use serde::Serialize;
use serde_json::{Value, json};

use self::fill::{Plan, Size};
use crate::load::http::{Ask, Press, Sample, Wire, press};
use crate::processes::{Cluster, Serve, Server, server_program};

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Folder with the model's files: potion/model.safetensors and so on.
    #[arg(long, env = "LUKASA_MODELS", value_name = "DIR")]
    pub models: PathBuf,
    /// Number of users with fifty memories each; 20,000 by default, 200 with --quick.
    #[arg(long)]
    pub users: Option<u32>,
    /// Number of concurrent clients.
    #[arg(long, default_value_t = 16)]
    pub clients: usize,
    /// Seconds to measure each cell; 8 by default, 2 with --quick.
    #[arg(long)]
    pub seconds: Option<u64>,
    /// A small database and short measurements: shows that everything works, proves no figure.
    #[arg(long)]
    pub quick: bool,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Path of the server; by default `lukasa` next to this program.
    #[arg(long, env = "LUKASA_BIN", value_name = "FILE")]
    pub server: Option<PathBuf>,
    /// Write the figures here as JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}

/// One line of the report.
#[derive(Debug, Serialize)]
struct Cell {
    size: String,
    what: &'static str,
    /// Whether the users' indexes were in memory before: `cold`, `warm`, or `none` if none is kept.
    index: &'static str,
    per_second: f64,
    p50: f64,
    p95: f64,
    /// Its p95 divided by the bare statement's.
    ratio: Option<f64>,
    /// Answers without everything that was asked for, because the deadline was near.
    degraded: u64,
}

pub async fn run(args: Args) -> Result<()> {
    let plan = Plan::new(args.users, args.quick, args.seed);
    let program = server_program(args.server.as_deref())?;
    let dir = std::env::temp_dir().join(format!("lukasa-recall-{}", std::process::id()));
    let cluster = Cluster::start(&dir, false, if args.quick { "256MB" } else { "4GB" })?;
    let url = cluster.url("lukasa");
    let log = dir.join("server.log");
    let serve = Serve {
        program: &program,
        database: &url,
        auth: "off",
        pool: 16,
        migrate: true,
        models: Some((&args.models, "potion")),
        filter: "warn",
        log: &log,
    };
    // Creates the schema and sets the model.
    drop(Server::start(&serve).await.context("making the schema")?);
    let queries = fill::fill(&url, &plan, &args.models).await.context("filling")?;
    let queries = Arc::new(queries);

    let seconds = args.seconds.unwrap_or(if args.quick { 2 } else { 8 });
    let pressing = Press {
        clients: args.clients,
        warm_up: Duration::from_secs(1),
        lasting: Duration::from_secs(seconds),
        seed: args.seed,
    };
    let mut cells = Vec::new();
    for size in plan.sizes() {
        let bare = bare::run(&url, &size, &queries, pressing).await?;
        let of = Some(bare.percentile(0.95));
        cells.push(cell(&size, "bare hybrid statement", "", &bare, None));
        let server = Server::start(&serve).await?;
        let cold = Press { warm_up: Duration::ZERO, ..pressing };
        let sample = ask(&server, &size, &queries, SEARCH, cold)?;
        cells.push(cell(&size, "search", "cold", &sample, of));
        drop(server);
        let server = Server::start(&serve).await?;
        let sample = ask(&server, &size, &queries, RETRIEVE, cold)?;
        cells.push(cell(&size, "retrieve", "cold", &sample, of));
        touch(&server, &size, args.clients).await?;
        for (what, path) in
            [("search", SEARCH), ("retrieve", RETRIEVE), ("retrieve in a session", IN_SESSION)]
        {
            let sample = ask(&server, &size, &queries, path, pressing)?;
            cells.push(cell(&size, what, "warm", &sample, of));
        }
    }
    let server = Server::start(&serve).await?;
    let exact = exactness(&server, &url, &plan, &queries).await?;
    drop(server);
    let cold = Server::start_with(&serve, &[("LUKASA_INDEX_MEMORY", "0")]).await?;
    for size in plan.sizes() {
        let base = cells.iter().find(|c| c.size == size.label && c.ratio.is_none());
        let of = base.map_or(0.0, |cell| cell.p95);
        let sample = ask(&cold, &size, &queries, SEARCH, pressing)?;
        cells.push(cell(&size, "search", "none", &sample, Some(of)));
    }
    let embed = embed_time(&cold, &plan, &queries).await?;
    drop(cold);
    tell(&cells, exact, embed, &plan);
    if let Some(file) = &args.json {
        let report = json!({"cells": cells, "exact": exact, "embed_ms": embed});
        std::fs::write(file, serde_json::to_vec_pretty(&report)?)?;
    }
    ensure!(exact >= 0.99, "only {exact:.3} of the nearest were found");
    Ok(())
}

fn cell(
    size: &Size,
    what: &'static str,
    index: &'static str,
    sample: &Sample,
    of: Option<f64>,
) -> Cell {
    let p95 = sample.percentile(0.95);
    Cell {
        size: size.label.clone(),
        what,
        index,
        per_second: sample.per_second(),
        p50: sample.percentile(0.5),
        p95,
        ratio: of.filter(|of| *of > 0.0).map(|of| p95 / of),
        degraded: sample.errors,
    }
}

/// The path of a request, and further fields of its body.
#[derive(Clone, Copy)]
struct Question {
    path: &'static str,
    more: &'static str,
}

const SEARCH: Question = Question { path: "/api/memory/search", more: "" };
const RETRIEVE: Question = Question { path: "/api/memory/retrieve", more: "" };
/// In the one session of each user, whose baseline is frozen by the first request.
const IN_SESSION: Question =
    Question { path: "/api/memory/retrieve", more: ",\"session_id\":\"eval\"" };

impl Question {
    fn request(self, user: &str, query: &str) -> String {
        let query = json!(query);
        let body = format!("{{\"query\":{query},\"limit\":20{}}}", self.more);
        format!(
            "POST {} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Lukasa-User: {user}\r\nContent-Type: \
             application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.path,
            body.len()
        )
    }
}

/// Requests with a random query of a random user of one size.
struct Asking {
    users: Vec<String>,
    queries: Arc<Vec<fill::Query>>,
    question: Question,
    /// How many users have asked, if each is to ask only once.
    asked: Option<AtomicUsize>,
}

impl Ask for Asking {
    fn next(&self, rng: &mut StdRng, request: &mut Vec<u8>, expected: &mut Vec<u8>) {
        use std::io::Write as _;
        let user = match &self.asked {
            Some(asked) => self.users.get(asked.fetch_add(1, Ordering::Relaxed)),
            None => self.users.choose(rng),
        };
        let (Some(user), Some(query)) = (user, self.queries.choose(rng)) else { return };
        request.extend_from_slice(self.question.request(user, &query.text).as_bytes());
        // Writing into a Vec cannot fail.
        let _ = write!(expected, "\"degraded\":[]");
    }
}

fn ask(
    server: &Server,
    size: &Size,
    queries: &Arc<Vec<fill::Query>>,
    question: Question,
    pressing: Press,
) -> Result<Sample> {
    let (users, queries) = (size.users.clone(), Arc::clone(queries));
    let is_cold = pressing.warm_up.is_zero();
    let asked = is_cold.then(AtomicUsize::default);
    let asking = Asking { users, queries, question, asked };
    let began = Instant::now();
    let asking: Arc<dyn Ask> = Arc::new(asking);
    let address = server.address;
    let mut sample = std::thread::spawn(move || press(address, &asking, pressing))
        .join()
        .map_err(|_| anyhow::anyhow!("a client panicked"))??;
    if is_cold {
        // It ends when every user has asked.
        sample.seconds = began.elapsed().as_secs_f64().min(sample.seconds);
    }
    let first = sample.first_error.as_deref().unwrap_or("-");
    println!("{} of {}: {} degraded answers", question.path, size.label, sample.errors);
    ensure!(
        sample.errors == 0 || first.contains("degraded"),
        "{} errors, such as {first}",
        sample.errors
    );
    Ok(sample)
}

/// Lets every user of a size ask once, so that their indexes are in memory as far as the cache has room.
async fn touch(server: &Server, size: &Size, clients: usize) -> Result<()> {
    let each = size.users.len().div_ceil(clients).max(1);
    let mut asking = Vec::new();
    for users in size.users.chunks(each) {
        let (users, address) = (users.to_vec(), server.address);
        asking.push(tokio::spawn(async move {
            let mut wire = Wire::connect(address).await?;
            for user in users {
                for question in [RETRIEVE, IN_SESSION] {
                    wire.ask(question.request(&user, "What did I plan?").as_bytes()).await?;
                }
            }
            anyhow::Ok(())
        }));
    }
    for asked in asking {
        asked.await??;
    }
    Ok(())
}

async fn search(server: &Server, user: &str, body: &Value) -> Result<Value> {
    let mut wire = Wire::connect(server.address).await?;
    let body = body.to_string();
    let request = format!(
        "POST /api/memory/search HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Lukasa-User: {user}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    let answer = wire.ask(request.as_bytes()).await?;
    Ok(serde_json::from_slice(wire.body(&answer))?)
}

/// The share of the truly nearest memories that the server returns, for the user with the most.
async fn exactness(
    server: &Server,
    url: &str,
    plan: &Plan,
    queries: &[fill::Query],
) -> Result<f64> {
    const NEAREST: usize = 20;
    let user = plan.largest();
    let (mut found, mut all) = (0, 0);
    for query in queries.iter().take(if plan.quick { 5 } else { 30 }) {
        let truth = bare::nearest(url, &user, &query.vector, NEAREST).await?;
        let body = json!({"query": query.text, "limit": NEAREST, "arms": ["vector"]});
        let answer = search(server, &user, &body).await?;
        let given: Vec<&str> = answer["memories"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|found| found["memory"]["id"].as_str())
            .collect();
        all += truth.len();
        found += truth.iter().filter(|id| given.contains(&id.as_str())).count();
    }
    Ok(found as f64 / all.max(1) as f64)
}

/// The median time to embed a query, in milliseconds, as reported by the server.
async fn embed_time(server: &Server, plan: &Plan, queries: &[fill::Query]) -> Result<f64> {
    let user = plan.sizes()[0].users[0].clone();
    let mut took = Vec::new();
    for (number, query) in queries.iter().take(50).enumerate() {
        // A new text each time, because embeddings are cached.
        let body = json!({"query": format!("{} {number}", query.text), "limit": 1});
        let answer = search(server, &user, &body).await?;
        took.push(answer["took_ms"]["embed"].as_f64().unwrap_or(0.0));
    }
    took.sort_by(f64::total_cmp);
    Ok(took.get(took.len() / 2).copied().unwrap_or(0.0))
}

fn tell(cells: &[Cell], exact: f64, embed: f64, plan: &Plan) {
    println!(
        "Index: cold rows are the first requests of their users to a server that has just started; before \
         warm rows every user has asked once, inside of a session and outside; without an index, nothing is \
         kept between requests.\n"
    );
    println!(
        "| memories of the user | what | index | per second | p50 ms | p95 ms | p95 / bare | degraded |"
    );
    println!("|---|---|---|---:|---:|---:|---:|---:|");
    for cell in cells {
        let ratio = cell.ratio.map_or(String::new(), |ratio| format!("{ratio:.2}"));
        println!(
            "| {} | {} | {} | {:.0} | {:.2} | {:.2} | {ratio} | {} |",
            cell.size, cell.what, cell.index, cell.per_second, cell.p50, cell.p95, cell.degraded
        );
    }
    println!("\nUsers with fifty memories: {}.", plan.users);
    println!("Of the 20 nearest among the largest user's memories, {exact:.3} were given.");
    println!("Embedding a question took {embed:.3} ms (median), which is in the figures above.");
}
