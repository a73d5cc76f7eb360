//! The command line of the real binary.

mod backup;
mod connect;
mod managed_postgres;
mod memory_commands;
mod service;

use std::process::{Command, Output};

use lukasa_store::testing::TestDatabase;
use serde_json::json;

fn lukasa(database: &TestDatabase, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lukasa"));
    command.args(args).env("DATABASE_URL", database.url()).env_remove("LUKASA_TENANT");
    command.output().expect("lukasa runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test]
async fn cli_key_is_created_listed_and_revoked() {
    let database = TestDatabase::fresh().await;
    let made = lukasa(&database, &["key", "create", "--tenant", "acme", "--name", "bot", "--json"]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    let made: serde_json::Value = serde_json::from_slice(&made.stdout).unwrap();
    assert!(made["secret"].as_str().unwrap().starts_with("lk_live_"));
    assert_eq!(made["permissions"], serde_json::json!(["read", "write", "propose"]));
    let listed = lukasa(&database, &["key", "list", "--tenant", "acme"]);
    let listed = text(&listed.stdout);
    assert!(listed.contains("bot") && listed.contains("live"), "{listed}");
    assert!(!listed.contains(made["secret"].as_str().unwrap()), "the secret is shown once");
    let id = made["id"].as_str().unwrap();
    let revoked = lukasa(&database, &["key", "revoke", "--tenant", "acme", id]);
    assert!(revoked.status.success());
    let again = lukasa(&database, &["key", "revoke", "--tenant", "acme", id]);
    assert_eq!(again.status.code(), Some(4), "{}", text(&again.stderr));
}

#[tokio::test]
async fn cli_sign_in_link_signs_its_user_in() {
    let app = crate::app::TestApp::with_keys().await;
    for (more, admin) in [(None, false), (Some("--admin"), true)] {
        let mut args = vec!["sign-in", "--tenant", "acme", "--user", "alice", "--json"];
        args.extend(more);
        let made = lukasa(&app.database, &args);
        assert!(made.status.success(), "{}", text(&made.stderr));
        let made: serde_json::Value = serde_json::from_slice(&made.stdout).unwrap();
        let link = made["url"].as_str().unwrap().strip_prefix("http://127.0.0.1:7777/sign-in#");
        let sent = serde_json::json!({ "link": link.expect("an address to open") });
        let entered = app.anonymous().post("/api/sign-in", sent).await.expect(201).json();
        assert_eq!((&entered["user"], &entered["admin"]), (&"alice".into(), &admin.into()));
    }
}

#[tokio::test]
async fn doctor_reports_a_healthy_database_and_the_fix_for_a_broken_one() {
    let database = TestDatabase::fresh().await;
    let healthy = lukasa(&database, &["doctor", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&healthy.stdout).unwrap();
    assert_eq!(report["ok"], true, "{report:#}");
    let admin = database.admin().await;
    admin.batch_execute("alter table fact_version no force row level security").await.unwrap();
    let sick = lukasa(&database, &["doctor"]);
    assert_eq!(sick.status.code(), Some(1));
    let report_text = text(&sick.stdout);
    assert!(
        report_text.contains("FAILED") && report_text.contains("fact_version"),
        "{report_text}"
    );
    let refused = lukasa(&database, &["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(refused.status.code(), Some(1), "a server does not serve from it either");
    assert!(text(&refused.stderr).contains("refusing to serve"));
}

#[tokio::test]
async fn alerts_are_in_the_api_and_in_doctor_with_the_next_step() {
    let app = crate::app::TestApp::with_keys().await;
    let tenant = app.tenant_key("acme").await;
    let (alice, bob) = (tenant.about("alice"), tenant.about("bob"));
    alice.save("Drinks oolong tea").await;
    for number in 0..10 {
        // Each in a conversation of its own, so that none finds its memories in the cache.
        let ask = json!({ "query": "What do I drink?", "session_id": format!("c{number}") });
        let given = alice.post("/api/memory/retrieve", ask).await.expect(200);
        alice.wait_for_retrieval(&given.at("/retrieval_id")).await;
    }
    let path = "/api/insights?days=1";
    let seen = alice.get(path).await.expect(200).json();
    assert_eq!(seen["quality"]["cache_hit_rate"]["value"], 0.0, "{seen:#}");
    assert_eq!(seen["quality"]["cache_hit_rate"]["count"], 10);
    assert_eq!(seen["quality"]["cache_hit_rate"]["goal"], json!({ "min": 0.7 }));
    assert_eq!(seen["quality"]["active_memories"]["met"], false, "fewer than five");
    assert!(seen["quality"].get("citation_rate").is_none(), "nothing was answered");
    assert_eq!(seen["alerts"].as_array().unwrap().len(), 1, "{seen:#}");
    // A slow reranker, and a third of a window of 32,000 tokens.
    let slow = "update retrieval set trace = jsonb_set(jsonb_set(trace, '{micros,rerank}', '700000'), \
                  '{budget,baseline}', '10560')";
    app.database.admin().await.batch_execute(slow).await.unwrap();
    let seen = alice.get(path).await.expect(200).json();
    let alerts = seen["alerts"].as_array().unwrap();
    let codes: Vec<_> = alerts.iter().map(|alert| alert["code"].as_str().unwrap()).collect();
    assert_eq!(codes, ["cache_hits", "rerank_time", "window_share"]);
    assert_eq!((&alerts[1]["value"], &alerts[1]["limit"]), (&json!(700.0), &json!(500.0)));
    assert_eq!(bob.get(path).await.expect(200).json()["alerts"], json!([]), "not of another user");
    let report = lukasa(&app.database, &["doctor", "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&report.stdout).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let warned: Vec<_> = checks.iter().filter(|check| check["check"] == "alert").collect();
    assert_eq!(warned.len(), 3, "{report:#}");
    for (check, alert) in warned.into_iter().zip(alerts) {
        assert_eq!(check["result"], "warning");
        assert_eq!((&check["found"], &check["fix"]), (&alert["message"], &alert["next_step"]));
    }
    let quality = checks.iter().find(|check| check["check"] == "quality").unwrap();
    let found = quality["found"].as_str().unwrap();
    assert!(found.contains("cache_hit_rate 0 % (goal missed)"), "{found}");
}

#[tokio::test]
async fn doctor_reports_an_unreachable_database() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lukasa"));
    let url = "postgres://nobody@127.0.0.1:1/none";
    let output = command.arg("doctor").env("DATABASE_URL", url).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let report_text = text(&output.stdout);
    assert!(report_text.contains("fix: start PostgreSQL"), "{report_text}");
}

#[tokio::test]
async fn migrate_is_idempotent() {
    let database = TestDatabase::fresh().await;
    let output = lukasa(&database, &["migrate"]);
    assert_eq!(text(&output.stdout), "The schema is up to date.\n");
    let output = lukasa(&database, &["migrate", "--dry-run", "--json"]);
    assert_eq!(text(&output.stdout).replace([' ', '\n'], ""), r#"{"pending":[]}"#);
}

#[test]
fn version_names_the_commit_the_target_and_the_console() {
    let run = |flag: &str| {
        let run = Command::new(env!("CARGO_BIN_EXE_lukasa")).arg(flag).output().unwrap();
        text(&run.stdout)
    };
    let long = run("--version");
    let names: Vec<&str> =
        long.lines().filter_map(|line| line.split_once(':')).map(|l| l.0).collect();
    assert_eq!(names, ["commit", "target", "console"], "{long}");
    assert!(long.starts_with(&format!("lukasa {}\n", env!("CARGO_PKG_VERSION"))), "{long}");
    assert_eq!(run("-V").trim(), format!("lukasa {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn cli_help_matches_its_snapshot() {
    let help = Command::new(env!("CARGO_BIN_EXE_lukasa")).arg("--help").output().unwrap();
    insta::assert_snapshot!(text(&help.stdout));
}
