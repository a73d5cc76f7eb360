//! `lukasa erase` and the restore drill, with the real binary.

use std::path::PathBuf;
use std::process::{Command, Output};

use lukasa_store::testing::postgres::Client as Database;
use serde_json::{Value, json};

use crate::app::{TestApp, canary};
use crate::binary::Served;

/// A temporary folder, removed with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("lukasa-erase-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn lukasa(url: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lukasa"));
    command
        .args(arguments)
        .env("LUKASA_URL", url)
        .env_remove("LUKASA_USER")
        .env_remove("LUKASA_KEY");
    command.output().expect("lukasa runs")
}

fn printed(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

async fn rows_with(database: &Database, word: &str) -> i64 {
    let sql = "select tablename::text from pg_tables where schemaname = 'public'";
    let mut found = 0;
    for row in database.query(sql, &[]).await.unwrap() {
        let table: String = row.get(0);
        let sql = format!("select count(*) from {table} t where t::text like '%{word}%'");
        found += database.query_one(&sql, &[]).await.unwrap().get::<_, i64>(0);
    }
    found
}

#[tokio::test]
async fn cli_erase_previews_confirms_erases_and_verifies_the_receipt_offline() {
    let app = TestApp::local().await;
    let folder = Folder::new("cli");
    let (alice, word) = (app.anonymous().about("alice"), canary("cli"));
    let first = alice.save(&format!("Likes the {word}")).await.at("/memory/id");
    alice.save(&format!("Sold the {word}")).await;
    let url = app.base.clone();
    let run = async |arguments: &[&str]| {
        let (url, arguments) = (url.clone(), arguments.iter().map(ToString::to_string));
        let arguments: Vec<String> = arguments.collect();
        let work = move || lukasa(&url, &arguments.iter().map(String::as_str).collect::<Vec<_>>());
        tokio::task::spawn_blocking(work).await.unwrap()
    };
    let preview = run(&["erase", "--user", "alice", "--dry-run"]).await;
    let text = printed(&preview);
    assert!(preview.status.success() && text.contains("Would erase: 2 memories"), "{text}");
    let unasked = run(&["erase", "--user", "alice"]).await;
    assert_eq!(unasked.status.code(), Some(1), "there is no terminal to type the name");
    let wrong = run(&["erase", "--user", "alice", "--yes", "bob"]).await;
    assert_eq!(wrong.status.code(), Some(1), "{}", printed(&wrong));
    assert_eq!(run(&["erase"]).await.status.code(), Some(1), "nothing was named");
    let unknown = run(&["erase", "--user", "nobody", "--dry-run"]).await;
    assert_eq!(unknown.status.code(), Some(4), "{}", printed(&unknown));
    let database = app.database.admin().await;
    assert!(rows_with(&database, &word).await > 1, "nothing was erased so far");

    let one = ["erase", "--user", "alice", "--memory", &first, "--yes", &first, "--json"];
    let one = run(&one).await;
    let receipt: Value = serde_json::from_slice(&one.stdout).unwrap_or_default();
    assert_eq!(receipt["receipt"]["memory_id"], json!(first), "{}", printed(&one));
    let file = folder.file("receipt.json");
    let all = ["erase", "--user", "alice", "--yes", "alice", "--receipt", &file];
    let all = run(&all).await;
    assert!(all.status.success(), "{}", printed(&all));
    assert_eq!(rows_with(&database, &word).await, 0);
    assert!(!std::fs::read_to_string(&file).unwrap().contains("alice"));

    let key = app.anonymous().get("/receipts/key").await.expect(200).at("/public_key");
    let nowhere = "http://127.0.0.1:9";
    let check = |more: &[&str]| lukasa(nowhere, &[&["erase", "--verify", &file], more].concat());
    assert!(check(&["--public-key", &key]).status.success(), "without a server");
    assert!(printed(&check(&[])).contains(&key), "it says which key signed");
    assert_eq!(check(&["--public-key", &"0".repeat(64)]).status.code(), Some(1));
    let forged = std::fs::read_to_string(&file).unwrap().replace("pending", "done");
    std::fs::write(&file, forged).unwrap();
    assert_eq!(check(&["--public-key", &key]).status.code(), Some(1), "a forged receipt");
    let list = run(&["erase", "--user", "alice", "--list", "--json"]).await;
    let list: Value = serde_json::from_slice(&list.stdout).unwrap();
    assert_eq!(list["data"].as_array().map(Vec::len), Some(2));
}

#[tokio::test]
async fn restored_backup_is_erased_again_before_serving() {
    let app = TestApp::local().await;
    let folder = Folder::new("drill");
    let (file, word) = (folder.file("journal"), canary("drill"));
    let flags = ["--embedder", "off", "--workers", "0", "--erasure-journal", &file];
    let served = Served::start(&app, &flags).await;
    let (alice, bob) = (served.client.about("alice"), served.client.about("bob"));
    alice.save(&format!("Likes the {word}")).await;
    let single = bob.save(&format!("Saw the {word}")).await.at("/memory/id");
    bob.save("Likes tea").await;
    let database = app.database.admin().await;
    let tables = "select tablename::text from pg_tables where schemaname = 'public' order by 1";
    let tables = database.query(tables, &[]).await.unwrap();
    let tables: Vec<String> = tables.iter().map(|row| row.get(0)).collect();
    database.batch_execute("create schema backup").await.unwrap();
    for table in &tables {
        let sql = format!("create table backup.{table} as table public.{table}");
        database.batch_execute(&sql).await.unwrap();
    }

    served.client.delete("/api/users/alice").await.expect(200);
    bob.post(&format!("/api/memory/{single}/erase"), json!({})).await.expect(200);
    assert_eq!(rows_with(&database, &word).await, 0);
    let state_before = bob.get("/api/state").await.expect(200).text();
    let journal = std::fs::read_to_string(&file).unwrap();
    assert!(journal.lines().count() == 2 && !journal.contains("alice"), "{journal}");
    served.end().await;

    database.batch_execute("set session_replication_role = replica").await.unwrap();
    for table in &tables {
        let columns = "select string_agg(quote_ident(attname), ', ' order by attnum) \
                       from pg_attribute where attrelid = $1::text::regclass and attnum > 0 \
                         and not attisdropped and attgenerated = ''";
        let name = format!("public.{table}");
        let columns: String = database.query_one(columns, &[&name]).await.unwrap().get(0);
        let sql = format!(
            "delete from {name}; \
             insert into {name} ({columns}) select {columns} from backup.{table}"
        );
        database.batch_execute(&sql).await.unwrap();
    }
    assert!(rows_with(&database, &word).await > 1, "the backup brings everything back");
    let served = Served::start(&app, &flags).await;
    assert_eq!(rows_with(&database, &word).await, 0, "no request was served before");
    let (alice, bob) = (served.client.about("alice"), served.client.about("bob"));
    alice.get("/api/memory").await.refused(410, "user_deleted");
    assert_eq!(bob.get("/api/state").await.expect(200).text(), state_before);
    let log = served.end().await;
    assert!(!log.contains(&word));

    std::fs::write(&file, journal.replacen("usr_", "usr_0", 1)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_lukasa"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--embedder", "off"]);
    command.args(["--erasure-journal", &file]).env("DATABASE_URL", app.database.url());
    let refused = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    assert_eq!(refused.status.code(), Some(1), "a damaged journal is not passed over");
    assert!(printed(&refused).contains("is damaged"), "{}", printed(&refused));
}
