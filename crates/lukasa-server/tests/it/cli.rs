//! The command line of the real binary.

mod backup;
mod connect;
mod doctor;
mod managed_postgres;
mod memory_commands;
mod service;

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Output, Stdio};

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
async fn sign_in_link_begins_with_the_public_address_and_names_an_existing_tenant() {
    let app = crate::app::TestApp::with_keys().await;
    let link = |tenant: &str, more: &[&str], environment: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lukasa"));
        command.args(["sign-in", "--tenant", tenant, "--user", "alice"]).args(more);
        command.env("DATABASE_URL", app.database.url());
        for name in ["LUKASA_PUBLIC_URL", "LUKASA_URL", "LUKASA_TENANT"] {
            command.env_remove(name);
        }
        command.envs(environment.iter().copied()).output().expect("lukasa runs")
    };
    let both = [("LUKASA_PUBLIC_URL", "https://m.example/"), ("LUKASA_URL", "http://10.0.0.1:1")];
    for (more, environment, expected) in [
        (&[][..], &both[..], "https://m.example/sign-in#"),
        (&[], &both[1..], "http://10.0.0.1:1/sign-in#"),
        (&[], &[], "http://127.0.0.1:7777/sign-in#"),
        (&["--public-url", "https://o.example"], &both, "https://o.example/sign-in#"),
    ] {
        let made = link("acme", more, environment);
        assert!(text(&made.stdout).contains(expected), "{}", text(&made.stdout));
    }
    let refused = link("acmee", &[], &[]);
    let errors = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{errors}");
    assert!(errors.contains("no tenant called `acmee`; the tenants are: acme"), "{errors}");
    assert!(errors.contains("--create-tenant"), "{errors}");
    assert!(link("acmee", &["--create-tenant"], &[]).status.success());
    assert!(link("acmee", &[], &[]).status.success());
}

#[tokio::test]
async fn database_without_schema_is_answered_with_the_command_that_creates_it() {
    let database = TestDatabase::fresh().await;
    database.leave_unchecked();
    let empty = "drop schema public cascade; create schema public";
    database.admin().await.batch_execute(empty).await.unwrap();
    for line in [
        &["key", "create", "--tenant", "acme", "--name", "bot"][..],
        &["key", "list", "--tenant", "acme"],
        &["sign-in", "--tenant", "acme", "--user", "alice"],
        &["audit", "list", "--tenant", "acme"],
        &["signing-key", "list"],
    ] {
        let output = lukasa(&database, line);
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line:?}: {errors}");
        assert!(errors.contains("no schema yet: run `lukasa migrate`"), "{line:?}: {errors}");
    }
}

#[tokio::test]
async fn key_of_a_new_tenant_says_that_the_tenant_was_created() {
    let database = TestDatabase::fresh().await;
    let create = || lukasa(&database, &["key", "create", "--tenant", "acme", "--name", "bot"]);
    assert_eq!(text(&create().stderr), "created the tenant acme\n");
    assert_eq!(text(&create().stderr), "");
}

#[test]
fn pool_sizes_out_of_range_are_refused_with_the_range() {
    for (flag, value, range) in [
        ("--pool-size", "0", "2..=1000"),
        ("--pool-size", "1", "2..=1000"),
        ("--pool-size", "1001", "2..=1000"),
        ("--auth-pool", "0", "1..=1000"),
        ("--background-pool", "0", "1..=1000"),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lukasa"));
        let output = command.args(["serve", flag, value]).output().unwrap();
        let errors = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains(flag) && errors.contains(range), "{errors}");
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

#[tokio::test]
async fn database_of_a_development_version_is_refused_with_the_next_step() {
    let database = TestDatabase::fresh().await;
    let other = "update refinery_schema_history set checksum = '1' where version = 1; \
                 insert into refinery_schema_history values (35, 'packed_sessions', '', '1')";
    database.admin().await.batch_execute(other).await.unwrap();
    let serve = &["serve", "--listen", "127.0.0.1:0", "--embedder", "off"];
    let commands: [&[&str]; 5] =
        [&["migrate"], &["migrate", "--dry-run"], &["doctor"], &["doctor", "--fix"], serve];
    for args in commands {
        let output = lukasa(&database, args);
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        let said = text(&output.stdout) + &text(&output.stderr);
        for part in ["the schema of a development version", "V1 directory", "`lukasa export`"] {
            assert!(said.contains(part), "{args:?}: {said}");
        }
        assert!(
            !said.contains("up to date") && !said.contains("start PostgreSQL"),
            "{args:?}: {said}"
        );
    }
}

#[tokio::test]
async fn migrate_reaches_every_cell_and_reports_all_that_fail() {
    let (database, east) = (TestDatabase::fresh().await, TestDatabase::fresh().await);
    let empty = "drop schema public cascade; create schema public";
    east.admin().await.batch_execute(empty).await.unwrap();
    let admin = database.admin().await;
    // The directory cannot be migrated, because it has a step that the program does not know.
    let unknown = "insert into refinery_schema_history (version, name, applied_on, checksum) \
                   values (9999, 'unknown', '2026-01-01T00:00:00Z', '1')";
    admin.batch_execute(unknown).await.unwrap();
    let away = "postgres://nobody@127.0.0.1:1/none".to_owned();
    for (name, url) in [("east", east.url()), ("north", away.clone()), ("west", away)] {
        let add = "insert into cell (name, url, added_at) values ($1, $2, now())";
        admin.execute(add, &[&name, &url]).await.unwrap();
    }
    let output = lukasa(&database, &["migrate"]);
    assert_eq!(output.status.code(), Some(1));
    let (applied, errors) = (text(&output.stdout), text(&output.stderr));
    assert!(applied.contains("Applied 1 directory in cell east"), "{applied}");
    assert!(errors.contains("3 of 4 databases"), "{errors}");
    for name in ["north", "west", "main"] {
        assert!(errors.contains(&format!("cell {name}: ")), "{errors}");
    }
    let known = "delete from refinery_schema_history where version = 9999; \
                 delete from cell where name <> 'east'";
    admin.batch_execute(known).await.unwrap();
    let output = lukasa(&database, &["migrate"]);
    assert_eq!(text(&output.stdout), "The schema is up to date.\n", "{}", text(&output.stderr));
    // `doctor --fix` reaches it too.
    east.admin().await.batch_execute(empty).await.unwrap();
    lukasa(&database, &["doctor", "--fix"]);
    let output = lukasa(&database, &["migrate"]);
    assert_eq!(text(&output.stdout), "The schema is up to date.\n", "{}", text(&output.stderr));
}

#[test]
fn version_names_the_commit_the_target_and_the_features() {
    let run = |flag: &str| {
        let run = Command::new(env!("CARGO_BIN_EXE_lukasa")).arg(flag).output().unwrap();
        text(&run.stdout)
    };
    let long = run("--version");
    let names: Vec<&str> =
        long.lines().filter_map(|line| line.split_once(':')).map(|l| l.0).collect();
    assert_eq!(names, ["commit", "target", "profile", "features"], "{long}");
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let git = Command::new("git").args(["-C", root, "rev-parse", "HEAD"]).output();
    let clone = git.ok().filter(|git| git.status.success()).map(|git| text(&git.stdout));
    let set = option_env!("LUKASA_COMMIT").map(str::to_owned).filter(|set| !set.is_empty());
    let commit = set.or(clone).unwrap_or_else(|| "unknown".to_owned());
    assert!(long.contains(&format!("\ncommit:   {}\n", commit.trim())), "{long}");
    let has_console = std::path::Path::new(root).join("web/dist/index.html").exists();
    let features = long.lines().find(|line| line.starts_with("features:")).unwrap();
    assert_eq!(features.contains("console"), has_console, "{long}");
    assert!(long.starts_with(&format!("lukasa {}\n", env!("CARGO_PKG_VERSION"))), "{long}");
    assert_eq!(run("-V").trim(), format!("lukasa {}", env!("CARGO_PKG_VERSION")));
}

#[test]
fn cli_help_matches_its_snapshot() {
    let help = Command::new(env!("CARGO_BIN_EXE_lukasa")).arg("--help").output().unwrap();
    insta::assert_snapshot!(text(&help.stdout));
}

/// What `lukasa demo` prints with the server that it starts, up to the commands to try.
async fn demo_with_its_own_server(more: &[&str]) -> String {
    let database = TestDatabase::fresh().await;
    // The server is killed in the middle of its work.
    database.leave_unchecked();
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut command = Command::new(env!("CARGO_BIN_EXE_lukasa"));
    command.args(["demo", "--url", &format!("http://127.0.0.1:{port}"), "--embedder", "off"]);
    command.args(more).env("DATABASE_URL", database.url()).stdout(Stdio::piped());
    let mut demo = command.spawn().expect("lukasa runs");
    let printed = BufReader::new(demo.stdout.take().unwrap()).lines().map_while(Result::ok);
    let shown: Vec<String> = printed.take_while(|line| !line.contains("Try next")).collect();
    demo.kill().unwrap();
    demo.wait().unwrap();
    shown.join("\n")
}

#[tokio::test]
async fn demo_says_whether_a_chat_model_is_configured() {
    const NOTE: &str = "no chat model is configured: saving, recall and learning by rules work";
    let plain = demo_with_its_own_server(&[]).await;
    assert!(plain.contains("user demo") && plain.contains(NOTE), "{plain}");
    let chat = demo_with_its_own_server(&["--chat", "m@http://127.0.0.1:9/v1"]).await;
    assert!(chat.contains("user demo") && !chat.contains("no chat model"), "{chat}");
}

#[tokio::test]
async fn commands_use_the_settings_file_of_the_installed_service() {
    let database = TestDatabase::fresh().await;
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".config/lukasa");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("lukasa.env");
    std::fs::write(
        &file,
        format!("# ours\nDATABASE_URL=\"{}\"\nLUKASA_TENANT=acme\n", database.url()),
    )
    .unwrap();
    let run = |args: &[&str], environment: &[(&str, &str)]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lukasa"));
        command.args(args).env("HOME", home.path());
        for name in ["DATABASE_URL", "LUKASA_TENANT", "LUKASA_ENV_FILE", "LUKASA_DATA_DIR"] {
            command.env_remove(name);
        }
        // Without the file Lukasa's own PostgreSQL would start; there are no programs for it.
        command.env("LUKASA_POSTGRES_DIR", home.path());
        command.envs(environment.iter().copied()).output().expect("lukasa runs")
    };
    let key = run(&["key", "create", "--name", "bot"], &[]);
    assert!(key.status.success(), "{}", text(&key.stderr));
    let listed = lukasa(&database, &["key", "list", "--tenant", "acme"]);
    assert!(text(&listed.stdout).contains("bot"), "the key is in the database of the service");
    let settings = |environment: &[(&str, &str)]| {
        let report = run(&["doctor", "--json"], environment).stdout;
        let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
        (report["checks"][0].clone(), report["checks"][1]["result"].clone())
    };
    let (read, reached) = settings(&[]);
    assert_eq!(read["check"], "settings");
    assert_eq!(read["found"], format!("read {}", file.display()));
    assert_eq!(reached, "ok", "the database of the file");
    let own = home.path().join("data").display().to_string();
    let (read, reached) = settings(&[("LUKASA_ENV_FILE", ""), ("LUKASA_DATA_DIR", &own)]);
    assert_eq!(read["found"], "no settings file of a service");
    assert_eq!(reached, "failed", "none is set");
    // A variable that is set, also to nothing, wins.
    let url = [("DATABASE_URL", "postgres://nobody@127.0.0.1:1/none")];
    assert_eq!(settings(&url).1, "failed");
    let absent = run(&["key", "list"], &[("LUKASA_ENV_FILE", "/no/such/file")]);
    assert_eq!(absent.status.code(), Some(1));
    assert!(text(&absent.stderr).contains("/no/such/file"), "{}", text(&absent.stderr));
}
