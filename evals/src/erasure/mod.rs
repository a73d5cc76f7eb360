//! Erasure under load and kills: no canary of an erased user may be left in a table, a file, a log,
//! or a restored backup; and the memory of the other users must be unchanged.
//!
//! The eval has a PostgreSQL and a server of its own. Every user gets a canary, stored wherever
//! there is a text field; a backup is taken; then clients write, some users are erased at random
//! moments, and the server or the database is killed. Faults planted on purpose (`--plant`), each
//! of which must be caught, show that the search works.

mod large;
mod search;
mod users;

use std::os::unix::fs::MetadataExt as _;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use futures_util::FutureExt as _;
use hyper::Method;
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use rand::{Rng as _, SeedableRng as _};
use serde_json::json;
use tokio::task::JoinSet;

use crate::http_connection::{Ask, HttpConnection, Reply};
use crate::kills::cluster::Cluster;
use crate::kills::killer::{Kind, strike};
use crate::processes::server_program;
use search::{Occurrences, in_files, in_tables, total};
use users::{GONE, TestUser, fill, save_single, send_until_answered, state};

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Plant {
    /// The server writes no journal.
    NoJournal,
    /// The files are not scrubbed.
    NoScrub,
    /// The passages of the search index are not deleted.
    LeavePassages,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The eval runs its own PostgreSQL and server, in a temporary folder and on free ports, and removes them
when it ends. It exits with 1 if a word of an erased user was found, or another user's memory changed;
with --plant, if the planted fault was not caught.")]
pub struct Args {
    /// Number of users
    #[arg(long, default_value_t = 100)]
    users: usize,
    /// Number of users that are erased
    #[arg(long, default_value_t = 20)]
    erased: usize,
    /// Number of kills
    #[arg(long, default_value_t = 10)]
    kills: usize,
    /// Number of writing clients
    #[arg(long, default_value_t = 4)]
    clients: usize,
    /// Seed of the random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Plant a fault that must be caught
    #[arg(long)]
    plant: Option<Plant>,
    /// Path of the server; next to this program by default
    #[arg(long, env = "LUKASA_BIN", value_name = "FILE")]
    server: Option<PathBuf>,
    /// Keep the database and the logs
    #[arg(long)]
    keep: bool,
    /// Erase one user with very many rows while others write and read, instead
    #[arg(long)]
    large: bool,
    /// Number of operations, turns and other rows of that user
    #[arg(long, default_value_t = 100_000, requires = "large")]
    rows: i32,
}

pub async fn run(args: Args) -> Result<()> {
    if args.large {
        return large::run(args.rows, args.clients).await;
    }
    println!("seed {}", args.seed);
    ensure!(args.erased < args.users, "at least one user must not be erased");
    let mut cluster = Cluster::plan("erasure", &[])?;
    // The processes and files below are removed afterwards even if this fails.
    let ran = AssertUnwindSafe(perform(&args, &mut cluster)).catch_unwind().await;
    let ran = ran.unwrap_or_else(|_| bail!("the eval itself failed"));
    let closed = cluster.close(args.keep).await;
    let faults = ran?;
    closed?;
    for fault in &faults {
        println!("FAULT: {fault}");
    }
    match (args.plant, faults.is_empty()) {
        (None, true) => {
            println!("verdict: nothing of the erased is left, and nothing else changed");
        }
        (None, false) => bail!("{} faults; seed {}", faults.len(), args.seed),
        (Some(plant), false) => println!("verdict: {plant:?} was caught"),
        (Some(plant), true) => bail!("{plant:?} was not caught"),
    }
    Ok(())
}

async fn perform(args: &Args, cluster: &mut Cluster) -> Result<Vec<String>> {
    let program = server_program(args.server.as_deref())?;
    let mut rng = StdRng::seed_from_u64(args.seed);
    cluster.start_database().await?;
    let journal = cluster.folder().join("erasures");
    if args.plant != Some(Plant::NoJournal) {
        let path = journal.to_string_lossy().into_owned();
        cluster.arguments = vec!["--erasure-journal".into(), path];
    }
    let address = cluster.database_address();
    cluster.start_server(&program, address).await?;
    let users = seed_users(args, cluster, &mut rng).await?;
    let database = cluster.connect().await?;
    if args.plant == Some(Plant::LeavePassages) {
        const SQL: &str = "create function leave() returns trigger language plpgsql as \
            $$ begin return null; end $$; \
            create trigger leave before delete on passage for each row execute function leave()";
        database.batch_execute(SQL).await.context("planting the fault")?;
    }
    database.batch_execute("analyze; checkpoint").await?;
    let mut report = Report::default();
    let tables = in_tables(&database, &users).await?;
    ensure!(tables.len() > 15, "the words are not where they should be: {tables:?}");
    report.row("before", Some(&tables), &in_files(&cluster.data())?);
    drop(database);
    let backup = back_up(cluster).await?;

    let mut states = Vec::new();
    let mut http = HttpConnection::to(cluster.server_address);
    for test_user in users.iter().filter(|test_user| !test_user.erased) {
        let expected = match &test_user.single {
            Some((_, without)) => without.clone(),
            None => state(&mut http, test_user).await?,
        };
        states.push((test_user.clone(), expected));
    }
    let done = erase_under_load(args, cluster, &users, &mut rng).await?;
    let database = cluster.connect().await?;
    let mut faults = Vec::new();

    let mut tables = in_tables(&database, &users).await?;
    while total(&tables) > 0 && done.elapsed() < Duration::from_secs(60) {
        tokio::time::sleep(Duration::from_millis(500)).await;
        tables = in_tables(&database, &users).await?;
    }
    let after = done.elapsed().as_secs_f64();
    println!("tables: {tables:?}, {after:.1} s after the last erasure was acknowledged");
    report.row("after erasing", Some(&tables), &in_files(&cluster.data())?);
    faults.extend(tables.iter().map(|(place, n)| format!("{n} in the table {place}")));
    drop(database);

    if args.plant != Some(Plant::NoScrub) {
        let started = Instant::now();
        let reply = scrub(&program, cluster).await?;
        println!("scrubbed in {:.1} s: {reply}", started.elapsed().as_secs_f64());
    }
    let database = cluster.connect().await?;
    let (tables, files) = (in_tables(&database, &users).await?, in_files(&cluster.data())?);
    report.row("after scrubbing", Some(&tables), &files);
    faults.extend(files.iter().map(|(place, n)| format!("{n} in the files of {place}")));
    let outside = logs_and_journal(cluster.folder(), &journal)?;
    faults.extend(outside.iter().map(|(place, n)| format!("{n} in {place}")));
    drop(database);
    check_others(cluster, &states, "after scrubbing", &mut faults).await?;

    restore(cluster, &backup).await?;
    report.row("the backup", None, &in_files(&cluster.data())?);
    cluster.run_database().await?;
    cluster.start_server(&program, address).await?;
    let mut http = HttpConnection::to(cluster.server_address);
    for test_user in users.iter().filter(|test_user| test_user.erased) {
        let path = "/api/memory?status=all";
        let (status, reply) =
            send_until_answered(&mut http, &test_user.name, Method::GET, path, None, "").await?;
        if status != 410 || reply.to_string().contains(GONE) {
            faults.push(format!("the restored server answers {status} for {}", test_user.name));
        }
    }
    let database = cluster.connect().await?;
    let tables = in_tables(&database, &users).await?;
    report.row("restored, served", Some(&tables), &Occurrences::new());
    faults.extend(tables.iter().map(|(place, n)| format!("{n} in the restored table {place}")));
    check_others(cluster, &states, "in the restored backup", &mut faults).await?;
    println!("{}", report.text());
    Ok(faults)
}

async fn seed_users(args: &Args, cluster: &Cluster, rng: &mut StdRng) -> Result<Vec<TestUser>> {
    let mut erased = vec![true; args.erased];
    erased.resize(args.users, false);
    erased.shuffle(rng);
    let mut users: Vec<TestUser> =
        erased.into_iter().enumerate().map(|(n, erased)| TestUser::new(n, erased)).collect();
    let database = cluster.connect().await?;
    let mut http = HttpConnection::to(cluster.server_address);
    for (number, test_user) in users.iter_mut().enumerate() {
        fill(&mut http, &database, test_user).await?;
        if !test_user.erased && number.is_multiple_of(4) {
            save_single(&mut http, test_user).await?;
        }
    }
    // Rows written after a response must be there before the backup is taken.
    tokio::time::sleep(Duration::from_millis(500)).await;
    Ok(users)
}

/// Copies the database's files while it runs, as the manual describes.
async fn back_up(cluster: &Cluster) -> Result<PathBuf> {
    let to = cluster.folder().join("pg/backup");
    let database = cluster.connect().await?;
    database.query_one("select pg_backup_start('eval', true)::text", &[]).await?;
    let copy = async |from: PathBuf, to: &Path| {
        // Files may vanish while they are copied; WAL replay makes up for it.
        let mut command = tokio::process::Command::new("cp");
        command.arg("-a").arg(from).arg(to).stderr(std::process::Stdio::null()).status().await
    };
    copy(cluster.data(), &to).await?;
    let row = database.query_one("select labelfile from pg_backup_stop()", &[]).await?;
    let label: String = row.try_get(0)?;
    copy(cluster.data().join("pg_wal/."), &to.join("pg_wal/")).await?;
    std::fs::write(to.join("backup_label"), label)?;
    let owner = std::fs::metadata(cluster.data())?;
    std::os::unix::fs::chown(to.join("backup_label"), Some(owner.uid()), Some(owner.gid()))?;
    for leftover in ["postmaster.pid", "postmaster.opts"] {
        let _ = std::fs::remove_file(to.join(leftover));
    }
    Ok(to)
}

/// Puts the backup in place of the database's files.
async fn restore(cluster: &mut Cluster, backup: &Path) -> Result<()> {
    cluster.stop().await?;
    tokio::time::sleep(Duration::from_millis(300)).await;
    std::fs::remove_dir_all(cluster.data()).context("the lost files")?;
    std::fs::rename(backup, cluster.data()).context("the backup")
}

/// Clients write, users are erased, processes are killed. Returns when the last erasure was
/// acknowledged.
async fn erase_under_load(
    args: &Args,
    cluster: &Cluster,
    users: &[TestUser],
    rng: &mut StdRng,
) -> Result<Instant> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::new(AtomicU64::new(0));
    let mut clients = JoinSet::new();
    for number in 0..args.clients {
        let (users, stop, asked) = (users.to_vec(), Arc::clone(&stop), Arc::clone(&asked));
        let (http, seed) =
            (HttpConnection::to(cluster.server_address), args.seed * 1_000 + number as u64);
        clients.spawn(async move { load(http, seed, &users, &stop, &asked).await });
    }
    let mut order: Vec<TestUser> =
        users.iter().filter(|p| p.erased || p.single.is_some()).cloned().collect();
    order.shuffle(rng);
    let (address, mut pauses) = (cluster.server_address, StdRng::seed_from_u64(args.seed + 7));
    let erasing = tokio::spawn(async move {
        let mut http = HttpConnection::to(address);
        for (number, test_user) in order.iter().enumerate() {
            tokio::time::sleep(Duration::from_millis(pauses.random_range(0..400))).await;
            let key = format!("erase-{number}");
            let (method, path, user) = match &test_user.single {
                Some((id, _)) => {
                    (Method::POST, format!("/api/memory/{id}/erase"), test_user.name.as_str())
                }
                None => (Method::DELETE, format!("/api/users/{}", test_user.name), "me"),
            };
            let (status, reply) =
                send_until_answered(&mut http, user, method, &path, None, &key).await?;
            // If it was carried out before its response was lost, it is not found any more.
            ensure!(matches!(status, 200 | 404), "{path} answered {status}: {reply}");
        }
        Ok(Instant::now())
    });
    let mut killed = 0;
    for _ in 0..args.kills {
        tokio::time::sleep(Duration::from_millis(rng.random_range(100..900))).await;
        let kind = if rng.random_bool(0.7) { Kind::Server } else { Kind::Postmaster };
        killed += usize::from(strike(cluster, kind, rng).await?);
        cluster.ready(Instant::now()).await?;
    }
    let done = erasing.await.context("the eraser failed")??;
    // Late requests must find that the user is gone.
    tokio::time::sleep(Duration::from_millis(300)).await;
    stop.store(true, Ordering::Relaxed);
    while let Some(ended) = clients.join_next().await {
        ended.context("a client failed")?;
    }
    println!("{killed} kills, {} requests of clients meanwhile", asked.load(Ordering::Relaxed));
    Ok(done)
}

/// Writes about users before, during and after their erasure; reads about the others.
async fn load(
    mut http: HttpConnection,
    seed: u64,
    users: &[TestUser],
    stop: &AtomicBool,
    asked: &AtomicU64,
) {
    let mut rng = StdRng::seed_from_u64(seed);
    let timeout = Duration::from_secs(5);
    while !stop.load(Ordering::Relaxed) {
        let test_user = &users[rng.random_range(0..users.len())];
        let (word, number) = (&test_user.word, rng.random::<u32>());
        let post = |path: &str, body| Ask {
            user: test_user.name.clone(),
            key: format!("{word}-{number}"),
            method: Method::POST,
            path: path.to_owned(),
            body: Some(body),
        };
        let ask = match (test_user.erased, number % 3) {
            (true, 0) => {
                post("/api/memory", json!({ "content": format!("{word} once more, {number}") }))
            }
            (true, 1) => {
                let turn =
                    json!({ "role": "user", "content": format!("And the {word} {number}?") });
                post(&format!("/api/sessions/chat-{word}/turns"), json!({ "turns": [turn] }))
            }
            // A retrieval is recorded after its response, where a late write could happen.
            _ => post(
                "/api/memory/retrieve",
                json!({ "query": format!("Where is {word}?"),
                "session_id": format!("chat-{word}") }),
            ),
        };
        match http.send(&ask, true, timeout).await {
            Reply::Answer { .. } => {
                asked.fetch_add(1, Ordering::Relaxed);
            }
            _ => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn scrub(program: &Path, cluster: &Cluster) -> Result<String> {
    let url = format!("postgres://postgres@{}/lukasa", cluster.database_address());
    let output = tokio::process::Command::new(program)
        .args(["scrub", "--database-url", &url])
        .output()
        .await
        .context("lukasa scrub")?;
    let reply = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "lukasa scrub: {reply}");
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The logs of the server and PostgreSQL, and the journal itself.
fn logs_and_journal(folder: &Path, journal: &Path) -> Result<Occurrences> {
    let mut found = Occurrences::new();
    for name in ["server.log", "postgres.log"] {
        let text = std::fs::read(folder.join(name)).with_context(|| name.to_owned())?;
        let count = String::from_utf8_lossy(&text).matches(GONE).count();
        if count > 0 {
            found.insert(name.to_owned(), count);
        }
    }
    let text = std::fs::read_to_string(journal).unwrap_or_default();
    if text.contains(GONE) {
        found.insert("the journal".to_owned(), text.matches(GONE).count());
    }
    Ok(found)
}

async fn check_others(
    cluster: &Cluster,
    states: &[(TestUser, serde_json::Value)],
    when: &str,
    faults: &mut Vec<String>,
) -> Result<()> {
    let mut http = HttpConnection::to(cluster.server_address);
    let mut same = 0;
    for (test_user, expected) in states {
        if state(&mut http, test_user).await? == *expected {
            same += 1;
        } else {
            faults.push(format!("the state of {} is another {when}", test_user.name));
        }
    }
    println!("{same} of {} others have the state hash they should have {when}", states.len());
    Ok(())
}

/// Occurrences by place and time.
#[derive(Default)]
struct Report(Vec<(String, Option<usize>, Occurrences)>);

impl Report {
    fn row(&mut self, when: &str, tables: Option<&Occurrences>, files: &Occurrences) {
        self.0.push((when.to_owned(), tables.map(total), files.clone()));
    }

    fn text(&self) -> String {
        let mut text =
            format!("{:<18} {:>8} {:>8} {:>8} {:>8}\n", "", "tables", "base", "wal", "other");
        for (when, tables, files) in &self.0 {
            let of = |place: &str| files.get(place).copied().unwrap_or(0);
            let other = total(files) - of("base") - of("pg_wal");
            let tables = tables.map_or_else(|| "-".to_owned(), |n| n.to_string());
            let row = format!(
                "{when:<18} {tables:>8} {:>8} {:>8} {other:>8}\n",
                of("base"),
                of("pg_wal")
            );
            text.push_str(&row);
        }
        text
    }
}
