//! The frozen baseline: byte for byte the same within a session whatever is written meanwhile, and
//! the same for one point on both time axes, also after a restart of the server.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use hyper::Method;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng};
use serde_json::{Value, json};

use crate::load::words::Vocabulary;
use crate::processes::{Cluster, Serve, Server, server_program};
use crate::retrieval::client::Client;

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    #[arg(long, default_value_t = 1_000)]
    pub sessions: usize,
    #[arg(long, default_value_t = 20)]
    pub turns: usize,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Path of the server; by default `lukasa` next to this program.
    #[arg(long, env = "LUKASA_BIN", value_name = "FILE")]
    pub server: Option<PathBuf>,
}

const USERS: usize = 20;
const MEMORIES: usize = 30;

pub async fn run(args: Args) -> Result<()> {
    let program = server_program(args.server.as_deref())?;
    let dir = std::env::temp_dir().join(format!("lukasa-freeze-{}", std::process::id()));
    let cluster = Cluster::start(&dir, false, "256MB")?;
    let (url, log) = (cluster.url("lukasa"), dir.join("server.log"));
    let serve = Serve {
        program: &program,
        database: &url,
        auth: "off",
        pool: 16,
        migrate: true,
        models: None,
        filter: "warn",
        log: &log,
    };
    let server = Server::start(&serve).await?;
    let client = Client::to(server.address);
    let mut rng = StdRng::seed_from_u64(args.seed);
    let vocabulary = Vocabulary::new(args.seed);
    for user in 0..USERS {
        for n in 0..MEMORIES {
            let content = format!("{} n{n}", vocabulary.plain_sentence(&mut rng));
            let importance = rng.random_range(0.0..1.0_f32);
            let category = ["profile", "context", "style", "fact"][n % 4];
            let memory =
                json!({"content": content, "importance": importance, "category": category});
            client.save(&format!("u{user}"), memory).await?;
        }
    }
    let then = now_of(&client).await?;
    let before = points(&client, &then).await?;
    let (mut retrievals, mut writes, mut changed) = (0, 0, 0);
    for session in 0..args.sessions {
        let user = format!("u{}", session % USERS);
        let mut first: Option<(String, Value)> = None;
        for turn in 0..args.turns {
            let message = vocabulary.sentence(&mut rng);
            let asked = json!({"query": message, "session_id": format!("s{session}")});
            let given =
                client.ask(&user, Method::POST, "/api/memory/retrieve", Some(asked)).await?;
            retrievals += 1;
            let content = given["baseline"]["content"].as_str().context("no baseline")?.to_owned();
            ensure!(!content.is_empty(), "an empty baseline");
            let etag = given["baseline"]["etag"].clone();
            match &first {
                None => first = Some((content, etag)),
                Some(same) if *same == (content, etag) => {}
                Some(_) => changed += 1,
            }
            if turn % 5 == 2 {
                let content = format!("{} {session}-{turn}", vocabulary.plain_sentence(&mut rng));
                client.save(&user, json!({"content": content, "importance": 0.9})).await?;
                writes += 1;
            }
        }
        if session % 100 == 99 {
            eprintln!("freeze: {} sessions", session + 1);
        }
    }
    let after_writes = points(&client, &then).await?;
    drop(server);
    let server = Server::start(&serve).await?;
    let after_restart = points(&Client::to(server.address), &then).await?;
    let different = |other: &[String]| before.iter().zip(other).filter(|(a, b)| a != b).count();
    let (writes_changed, restart_changed) = (different(&after_writes), different(&after_restart));
    println!("sessions {}, retrievals {retrievals}, writes between them {writes}", args.sessions);
    println!("baselines that changed within their session: {changed}");
    println!(
        "contexts at one point of both axes that changed: {writes_changed} after the writes, \
         {restart_changed} after a restart, of {}",
        before.len()
    );
    ensure!(changed + writes_changed + restart_changed == 0, "frozen content changed");
    Ok(())
}

/// A moment after all writes so far, by the server's clock.
async fn now_of(client: &Client) -> Result<String> {
    let saved =
        client.ask("clock", Method::POST, "/api/memory", Some(json!({"content": "now"}))).await?;
    saved["memory"]["known_from"].as_str().map(str::to_owned).context("no time")
}

/// Each user's whole context at one point of both axes.
async fn points(client: &Client, then: &str) -> Result<Vec<String>> {
    let mut contexts = Vec::new();
    for user in 0..USERS {
        let asked = json!({"query": "What do you remember about my plans?", "as_of": then, "known_at": then});
        let path = "/api/memory/retrieve";
        let given = client.ask(&format!("u{user}"), Method::POST, path, Some(asked)).await?;
        contexts.push(given["context"].as_str().unwrap_or_default().to_owned());
    }
    Ok(contexts)
}
