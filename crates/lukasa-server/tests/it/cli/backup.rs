//! Backups: verified by a restore and a comparison, and restored for use.

use std::path::PathBuf;
use std::sync::Arc;

use lukasa_core::model::NoModels;
use lukasa_models::scripted::server::{ConnectionStep, ScriptedServer, head};
use lukasa_server::api::AuthMode;
use lukasa_store::testing::TestDatabase;
use serde_json::json;
use tokio::process::Command;

use super::memory_commands::CommandOutput;
use crate::app::{TestApp, canary};
use crate::binary::Served;

fn programs() -> PathBuf {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/postgres");
    let output = std::process::Command::new(script).arg("bin").output().expect("scripts/postgres");
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
}

async fn lukasa(database: &TestDatabase, line: &[&str]) -> CommandOutput {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lukasa"));
    command.args(line).env("DATABASE_URL", database.url()).env("LUKASA_POSTGRES_DIR", programs());
    CommandOutput::of(&command.output().await.expect("lukasa runs"))
}

#[tokio::test]
async fn backup_is_restored_and_compared_row_by_row() {
    let database = TestDatabase::fresh().await;
    lukasa(&database, &["key", "create", "--tenant", "acme", "--name", "bot"]).await.ok();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("q.backup").display().to_string();
    let made = lukasa(&database, &["backup", "make", &file, "--json"]).await.json();
    assert!(made["tables"].as_u64().unwrap() > 20, "{made}");
    // Later writes do not change the backup.
    lukasa(&database, &["key", "create", "--tenant", "acme", "--name", "later"]).await.ok();
    let good = lukasa(&database, &["backup", "verify", &file, "--json"]).await.json();
    assert_eq!((&good["ok"], &good["compared_with"]), (&json!(true), &json!("manifest")), "{good}");
    // One changed row is found.
    let manifest = format!("{file}.manifest.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let mut value: serde_json::Value = serde_json::from_str(&text).unwrap();
    for table in value["tables"].as_array_mut().unwrap() {
        if table["table"] == "credential" {
            table["digest"] = json!("1.1");
        }
    }
    std::fs::write(&manifest, value.to_string()).unwrap();
    let bad = lukasa(&database, &["backup", "verify", &file]).await;
    assert_eq!(bad.code, 1);
    assert!(bad.out.contains("DIFFERS") && bad.out.contains("credential"), "{}", bad.out);
    // Without a manifest it is compared with the live database, which has changed since.
    std::fs::remove_file(&manifest).unwrap();
    let live = lukasa(&database, &["backup", "verify", &file, "--json"]).await.json();
    assert_eq!((&live["ok"], &live["compared_with"]), (&json!(true), &json!("live")));
    let tables = live["tables"].as_array().unwrap();
    let keys = tables.iter().find(|table| table["table"] == "credential").unwrap();
    assert_eq!((&keys["rows"], &keys["expected"]), (&json!(1), &json!(2)));
    // A damaged file is refused, and no scratch database is left behind.
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
    assert_eq!(lukasa(&database, &["backup", "verify", &file]).await.code, 1);
    let admin = database.admin().await;
    let sql = "select count(*) from pg_database where datname like 'lukasa_verify_%'";
    let left: i64 = admin.query_one(sql, &[]).await.unwrap().get(0);
    assert_eq!(left, 0);
    let gone = lukasa(&database, &["backup", "verify", "no-such-file"]).await;
    assert!(gone.err.contains("lukasa backup make"), "{}", gone.err);
}

#[tokio::test]
async fn backup_restore_removes_again_what_was_erased_since() {
    let app = TestApp::local().await;
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (file, journal, word) = (path("q.backup"), path("journal"), canary("restore"));
    let flags = ["--embedder", "off", "--workers", "0", "--erasure-journal", &journal];
    let served = Served::start(&app, &flags).await;
    let (alice, bob) = (served.client.about("alice"), served.client.about("bob"));
    alice.save(&format!("Likes the {word}")).await;
    let single = bob.save(&format!("Saw the {word}")).await.at("/memory/id");
    bob.save("Drinks oolong tea").await;
    lukasa(&app.database, &["backup", "make", &file]).await.ok();
    served.client.delete("/api/users/alice").await.expect(200);
    bob.post(&format!("/api/memory/{single}/erase"), json!({})).await.expect(200);
    let expected = bob.get("/api/state").await.expect(200).text();
    bob.save("Moved to Faro").await;
    served.end().await;

    let line = ["backup", "restore", &file, "--erasure-journal", &journal, "--json"];
    let refused = lukasa(&app.database, &line).await;
    assert_eq!(refused.code, 1, "{}", refused.out);
    assert!(refused.err.contains("users") && refused.err.contains("--database-url"));
    assert!(app.database.dump().await.contains("Moved to Faro"), "it was not changed");
    let target = TestDatabase::fresh().await;
    let no_journal = path("no-journal");
    let wrong = ["backup", "restore", &file, "--erasure-journal", &no_journal];
    let refused = lukasa(&target, &wrong).await;
    assert!(refused.err.contains("no erasure journal"), "{}", refused.err);
    let restored = lukasa(&target, &line).await.json();
    assert_eq!(restored["compared"], true, "{restored:#}");
    let again = &restored["erased_again"];
    assert_eq!((&again["users"], &again["memories"]), (&json!(1), &json!(1)), "{restored:#}");
    assert!(!target.dump().await.contains(&word));
    assert_eq!(lukasa(&target, &line).await.code, 1, "it is not empty any more");

    let models = Arc::new(NoModels);
    let app = TestApp::over(target, models, AuthMode::Local, 8, |router| router).await;
    let (alice, bob) = (app.anonymous().about("alice"), app.anonymous().about("bob"));
    assert_eq!(bob.get("/api/state").await.expect(200).text(), expected);
    alice.get("/api/memory").await.refused(410, "user_deleted");
    bob.save("Writes after the restore").await;
}

#[tokio::test]
async fn backup_restore_refuses_a_changed_backup_and_tables_of_others() {
    let database = TestDatabase::fresh().await;
    lukasa(&database, &["key", "create", "--tenant", "acme", "--name", "bot"]).await.ok();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("q.backup").display().to_string();
    lukasa(&database, &["backup", "make", &file]).await.ok();
    let target = TestDatabase::fresh().await;
    let execute = async |sql: &str| {
        let admin = target.admin().await;
        admin.batch_execute(sql).await.unwrap();
    };
    let restore = async |more: &[&str]| {
        let line = [&["backup", "restore", &file], more].concat();
        lukasa(&target, &line).await
    };
    execute("create table invoice (number int)").await;
    let refused = restore(&[]).await;
    assert!(refused.code == 1 && refused.err.contains("invoice"), "{}", refused.err);
    execute("drop schema public cascade; create schema public; create table invoice (n int)").await;
    let refused = restore(&[]).await;
    assert!(refused.code == 1 && refused.err.contains("not Lukasa's"), "{}", refused.err);
    execute("drop table invoice").await;
    // A server could write meanwhile.
    let connected = target.admin().await;
    let refused = restore(&[]).await;
    assert!(refused.code == 1 && refused.err.contains("stop the servers"), "{}", refused.err);
    drop(connected);
    let manifest = format!("{file}.manifest.json");
    let text = std::fs::read_to_string(&manifest).unwrap();
    let mut changed: serde_json::Value = serde_json::from_str(&text).unwrap();
    changed["tables"][0]["digest"] = json!("1.1");
    std::fs::write(&manifest, changed.to_string()).unwrap();
    let refused = restore(&[]).await;
    assert!(refused.code == 1 && refused.err.contains("differs from its manifest"));
    assert!(!target.dump().await.contains("acme"), "nothing was restored");
    std::fs::write(&manifest, text).unwrap();
    let restored = restore(&[]).await.ok();
    assert!(restored.contains("all rows equal the manifest"), "{restored}");
    assert!(restored.contains("--erasure-journal"), "it names the next step: {restored}");
    for ended in ["lukasa key revoke", "lukasa space end"] {
        assert!(restored.contains(ended), "what was ended is in force again: {restored}");
    }
    let listed = lukasa(&target, &["key", "list", "--tenant", "acme"]).await.ok();
    assert!(listed.contains("bot"), "{listed}");
    // The file of a cell is beside that of main.
    std::fs::copy(&file, format!("{file}.east")).unwrap();
    let east = TestDatabase::fresh().await;
    let restored = lukasa(&east, &["backup", "restore", &file, "--cell", "east"]).await.ok();
    assert!(restored.contains("lukasa cell reconnect east"), "{restored}");
    assert!(restored.contains("lukasa space end"), "{restored}");
}

#[tokio::test]
async fn doctor_reports_backup_age_and_retries_dead_jobs() {
    let database = TestDatabase::fresh().await;
    let folder = tempfile::tempdir().unwrap();
    let backups = folder.path().display().to_string();
    let check = async |name: &str, more: &[&str]| {
        let line = [&["doctor", "--json", "--backups", &backups], more].concat();
        let report = lukasa(&database, &line).await.json();
        let all = report["checks"].as_array().unwrap().clone();
        all.into_iter().find(|check| check["check"] == name).expect("the check")
    };
    assert_eq!(check("backup", &[]).await["result"], "warning");
    let file = folder.path().join("q.backup").display().to_string();
    lukasa(&database, &["backup", "make", &file]).await.ok();
    assert_eq!(check("backup", &[]).await["result"], "ok");
    let admin = database.admin().await;
    admin
        .batch_execute(
            "insert into tenant (tenant_id, name, created_at) values (gen_random_uuid(), 'acme', now()); \
             insert into users (tenant_id, user_id, name, created_at) \
               select tenant_id, gen_random_uuid(), 'alma', now() from tenant where name = 'acme'; \
             insert into job (user_id, tenant_id, job_id, kind, key, state, queued_at, run_at) \
               select user_id, tenant_id, gen_random_uuid(), 'title', 'c', 'dead', now(), now() from users",
        )
        .await
        .unwrap();
    assert_eq!(check("dead jobs", &[]).await["found"], "1 failed permanently");
    assert_eq!(check("dead jobs", &["--fix"]).await["result"], "ok");
}

#[tokio::test]
async fn doctor_checks_the_gateway_upstream() {
    let database = TestDatabase::fresh().await;
    let service = ScriptedServer::start(|_, asked| {
        let known = asked.head.contains("bearer sk-right");
        let body: &[u8] = b"{}";
        let headers =
            format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
        let status = if known { 200 } else { 401 };
        vec![ConnectionStep::Send(head(status, &headers)), ConnectionStep::Send(body.to_vec())]
    })
    .await;
    let check = async |more: &[&str]| {
        let line = [&["doctor", "--json"], more].concat();
        let report = lukasa(&database, &line).await.json();
        let all = report["checks"].as_array().unwrap().clone();
        let found = all.into_iter().find(|check| check["check"] == "upstream");
        found.map(|check| check["result"].as_str().unwrap().to_owned())
    };
    let url = format!("{}/v1", service.base);
    assert_eq!(check(&[]).await, None, "there is no check without an upstream");
    let with_key = async |key: &str| check(&["--upstream", &url, "--upstream-key", key]).await;
    assert_eq!(with_key("sk-right").await.as_deref(), Some("ok"));
    assert_eq!(with_key("sk-wrong").await.as_deref(), Some("warning"));
    assert_eq!(check(&["--upstream", &url]).await.as_deref(), Some("ok"), "clients bring keys");
    let unreachable = check(&["--upstream", "http://127.0.0.1:9/v1"]).await;
    assert_eq!(unreachable.as_deref(), Some("warning"));
    assert!(service.asked().iter().all(|asked| asked.line.starts_with("GET /v1/models")));
}
