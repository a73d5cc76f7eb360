//! Erasure under load and kills: no word of whoever was erased may be left in a table, in a file, in a
//! log, or in a backup that is restored; and everybody else's memory must be what it was.
//!
//! The eval has a PostgreSQL and a server of its own. People get a word each, wherever there is a place
//! for words; a backup is taken; then clients write, some people are erased at random moments, and
//! the server or the database is killed. That the search can see is shown by faults planted on purpose
//! (`--plant`), each of which must be caught.

mod large;
mod look;
mod people;

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

use crate::door::{Ask, Door, Reply};
use crate::kills::cluster::Cluster;
use crate::kills::killer::{Kind, strike};
use crate::stand::server_program;
use look::{Found, in_files, in_tables, total};
use people::{GONE, Person, fill, insist, one_more, state};

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Plant {
    /// The server keeps no journal.
    NoJournal,
    /// The files are not scrubbed.
    NoScrub,
    /// The passages that recall reads are left behind.
    LeavePassages,
}

#[derive(Debug, clap::Args)]
#[command(after_help = "\
The eval runs its own PostgreSQL and server, in a temporary folder and on free ports, and removes them
when it ends. It exits with 1 if a word of the erased was found, or somebody else's memory changed;
with --plant, if the planted fault was not caught.")]
pub struct Args {
    /// How many people there are
    #[arg(long, default_value_t = 100)]
    users: usize,
    /// How many of them are erased
    #[arg(long, default_value_t = 20)]
    erased: usize,
    /// How many kills there are meanwhile
    #[arg(long, default_value_t = 10)]
    kills: usize,
    /// How many clients write meanwhile
    #[arg(long, default_value_t = 4)]
    clients: usize,
    /// Where the random choices begin
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Plant a fault that must be caught
    #[arg(long)]
    plant: Option<Plant>,
    /// The server; beside this program if absent
    #[arg(long, env = "LUKASA_BIN", value_name = "FILE")]
    server: Option<PathBuf>,
    /// Keep the database and the logs
    #[arg(long)]
    keep: bool,
    /// Erase one user with very many rows while others write and read, instead
    #[arg(long)]
    large: bool,
    /// How many operations, turns and so on that user has
    #[arg(long, default_value_t = 100_000, requires = "large")]
    rows: i32,
}

pub async fn run(args: Args) -> Result<()> {
    if args.large {
        return large::run(args.rows, args.clients).await;
    }
    println!("seed {}", args.seed);
    ensure!(args.erased < args.users, "somebody has to stay");
    let mut cluster = Cluster::plan("erasure", &[])?;
    // Whatever happens in here, the processes and files below are removed afterwards.
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
    let people = seed_people(args, cluster, &mut rng).await?;
    let database = cluster.connect().await?;
    if args.plant == Some(Plant::LeavePassages) {
        const SQL: &str = "create function leave() returns trigger language plpgsql as \
            $$ begin return null; end $$; \
            create trigger leave before delete on passage for each row execute function leave()";
        database.batch_execute(SQL).await.context("planting the fault")?;
    }
    database.batch_execute("analyze; checkpoint").await?;
    let mut report = Report::default();
    let tables = in_tables(&database, &people).await?;
    ensure!(tables.len() > 15, "the words are not where they should be: {tables:?}");
    report.row("before", Some(&tables), &in_files(&cluster.data())?);
    drop(database);
    let backup = back_up(cluster).await?;

    let mut states = Vec::new();
    let mut door = Door::to(cluster.server_address);
    for person in people.iter().filter(|person| !person.erased) {
        let expected = match &person.single {
            Some((_, without)) => without.clone(),
            None => state(&mut door, person).await?,
        };
        states.push((person.clone(), expected));
    }
    let done = erase_under_load(args, cluster, &people, &mut rng).await?;
    let database = cluster.connect().await?;
    let mut faults = Vec::new();

    let mut tables = in_tables(&database, &people).await?;
    while total(&tables) > 0 && done.elapsed() < Duration::from_secs(60) {
        tokio::time::sleep(Duration::from_millis(500)).await;
        tables = in_tables(&database, &people).await?;
    }
    let after = done.elapsed().as_secs_f64();
    println!("tables: {tables:?}, {after:.1} s after the last erasure was acknowledged");
    report.row("after erasing", Some(&tables), &in_files(&cluster.data())?);
    faults.extend(tables.iter().map(|(place, n)| format!("{n} in the table {place}")));
    drop(database);

    if args.plant != Some(Plant::NoScrub) {
        let started = Instant::now();
        let said = scrub(&program, cluster).await?;
        println!("scrubbed in {:.1} s: {said}", started.elapsed().as_secs_f64());
    }
    let database = cluster.connect().await?;
    let (tables, files) = (in_tables(&database, &people).await?, in_files(&cluster.data())?);
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
    let mut door = Door::to(cluster.server_address);
    for person in people.iter().filter(|person| person.erased) {
        let path = "/api/memory?status=all";
        let (status, said) = insist(&mut door, &person.name, Method::GET, path, None, "").await?;
        if status != 410 || said.to_string().contains(GONE) {
            faults.push(format!("the restored server answers {status} for {}", person.name));
        }
    }
    let database = cluster.connect().await?;
    let tables = in_tables(&database, &people).await?;
    report.row("restored, served", Some(&tables), &Found::new());
    faults.extend(tables.iter().map(|(place, n)| format!("{n} in the restored table {place}")));
    check_others(cluster, &states, "in the restored backup", &mut faults).await?;
    println!("{}", report.text());
    Ok(faults)
}

async fn seed_people(args: &Args, cluster: &Cluster, rng: &mut StdRng) -> Result<Vec<Person>> {
    let mut erased = vec![true; args.erased];
    erased.resize(args.users, false);
    erased.shuffle(rng);
    let mut people: Vec<Person> =
        erased.into_iter().enumerate().map(|(n, erased)| Person::new(n, erased)).collect();
    let database = cluster.connect().await?;
    let mut door = Door::to(cluster.server_address);
    for (number, person) in people.iter_mut().enumerate() {
        fill(&mut door, &database, person).await?;
        if !person.erased && number.is_multiple_of(4) {
            one_more(&mut door, person).await?;
        }
    }
    // What is noted behind an answer has to be there before the backup is.
    tokio::time::sleep(Duration::from_millis(500)).await;
    Ok(people)
}

/// A copy of the database's files while it runs, as the manual says to make one.
async fn back_up(cluster: &Cluster) -> Result<PathBuf> {
    let to = cluster.folder().join("pg/backup");
    let database = cluster.connect().await?;
    database.query_one("select pg_backup_start('eval', true)::text", &[]).await?;
    let copy = async |from: PathBuf, to: &Path| {
        // Files may vanish while they are copied; the log makes up for it.
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

/// Puts the backup where the database's files were.
async fn restore(cluster: &mut Cluster, backup: &Path) -> Result<()> {
    cluster.stop().await?;
    tokio::time::sleep(Duration::from_millis(300)).await;
    std::fs::remove_dir_all(cluster.data()).context("the lost files")?;
    std::fs::rename(backup, cluster.data()).context("the backup")
}

/// Clients write, people are erased, processes die. Returns when the last erasure was acknowledged.
async fn erase_under_load(
    args: &Args,
    cluster: &Cluster,
    people: &[Person],
    rng: &mut StdRng,
) -> Result<Instant> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::new(AtomicU64::new(0));
    let mut clients = JoinSet::new();
    for number in 0..args.clients {
        let (people, stop, asked) = (people.to_vec(), Arc::clone(&stop), Arc::clone(&asked));
        let (door, seed) = (Door::to(cluster.server_address), args.seed * 1_000 + number as u64);
        clients.spawn(async move { load(door, seed, &people, &stop, &asked).await });
    }
    let mut order: Vec<Person> =
        people.iter().filter(|p| p.erased || p.single.is_some()).cloned().collect();
    order.shuffle(rng);
    let (address, mut pauses) = (cluster.server_address, StdRng::seed_from_u64(args.seed + 7));
    let erasing = tokio::spawn(async move {
        let mut door = Door::to(address);
        for (number, person) in order.iter().enumerate() {
            tokio::time::sleep(Duration::from_millis(pauses.random_range(0..400))).await;
            let key = format!("erase-{number}");
            let (method, path, user) = match &person.single {
                Some((id, _)) => {
                    (Method::POST, format!("/api/memory/{id}/erase"), person.name.as_str())
                }
                None => (Method::DELETE, format!("/api/users/{}", person.name), "me"),
            };
            let (status, said) = insist(&mut door, user, method, &path, None, &key).await?;
            // One that was carried out before its answer was lost is not there any more.
            ensure!(matches!(status, 200 | 404), "{path} answered {status}: {said}");
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
    // Whoever is late must find that there is nobody to write about.
    tokio::time::sleep(Duration::from_millis(300)).await;
    stop.store(true, Ordering::Relaxed);
    while let Some(ended) = clients.join_next().await {
        ended.context("a client failed")?;
    }
    println!("{killed} kills, {} requests of clients meanwhile", asked.load(Ordering::Relaxed));
    Ok(done)
}

/// Writes about those who will be erased, before, while and after they are; reads about the others.
async fn load(mut door: Door, seed: u64, people: &[Person], stop: &AtomicBool, asked: &AtomicU64) {
    let mut rng = StdRng::seed_from_u64(seed);
    let patience = Duration::from_secs(5);
    while !stop.load(Ordering::Relaxed) {
        let person = &people[rng.random_range(0..people.len())];
        let (word, number) = (&person.word, rng.random::<u32>());
        let post = |path: &str, body| Ask {
            user: person.name.clone(),
            key: format!("{word}-{number}"),
            method: Method::POST,
            path: path.to_owned(),
            body: Some(body),
        };
        let ask = match (person.erased, number % 3) {
            (true, 0) => {
                post("/api/memory", json!({ "content": format!("{word} once more, {number}") }))
            }
            (true, 1) => {
                let turn =
                    json!({ "role": "user", "content": format!("And the {word} {number}?") });
                post(&format!("/api/sessions/chat-{word}/turns"), json!({ "turns": [turn] }))
            }
            // A retrieval is noted behind its answer, which is where something could come in late.
            _ => post(
                "/api/memory/retrieve",
                json!({ "query": format!("Where is {word}?"),
                "session_id": format!("chat-{word}") }),
            ),
        };
        match door.send(&ask, true, patience).await {
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
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "lukasa scrub: {said}");
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// What the server and PostgreSQL have logged, and the journal itself.
fn logs_and_journal(folder: &Path, journal: &Path) -> Result<Found> {
    let mut found = Found::new();
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
    states: &[(Person, serde_json::Value)],
    when: &str,
    faults: &mut Vec<String>,
) -> Result<()> {
    let mut door = Door::to(cluster.server_address);
    let mut same = 0;
    for (person, expected) in states {
        if state(&mut door, person).await? == *expected {
            same += 1;
        } else {
            faults.push(format!("the state of {} is another {when}", person.name));
        }
    }
    println!("{same} of {} others have the state hash they should have {when}", states.len());
    Ok(())
}

/// Occurrences by place and time.
#[derive(Default)]
struct Report(Vec<(String, Option<usize>, Found)>);

impl Report {
    fn row(&mut self, when: &str, tables: Option<&Found>, files: &Found) {
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
