//! The checks of `lukasa doctor` beside the database: the server, the service file, the identity
//! provider, the collector of traces, and the audit log.

use lukasa_core::Permission;
use lukasa_models::scripted::server::{ConnectionStep, ScriptedServer, head};
use lukasa_store::testing::TestDatabase;
use serde_json::{Value, json};
use tokio::process::Command;

use crate::app::TestApp;

/// The check of this name, with these arguments and this home folder; `None` if there is none.
async fn check(database: &TestDatabase, name: &str, more: &[&str], home: &str) -> Option<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lukasa"));
    command.args(["doctor", "--json"]).args(more).env("DATABASE_URL", database.url());
    command.env("HOME", home).env_remove("LUKASA_URL").env_remove("LUKASA_TENANT");
    let output = command.output().await.expect("lukasa runs");
    let report: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let checks = report["checks"].as_array().unwrap().clone();
    checks.into_iter().find(|check| check["check"] == name)
}

/// The result of a check and what was found.
async fn result(database: &TestDatabase, name: &str, more: &[&str]) -> Option<(String, String)> {
    let home = tempfile::tempdir().unwrap();
    let found = check(database, name, more, &home.path().display().to_string()).await?;
    let text = |key: &str| found[key].as_str().unwrap().to_owned();
    Some((text("result"), text("found")))
}

#[tokio::test]
async fn doctor_asks_the_running_server() {
    let app = TestApp::local().await;
    let (word, found) = result(&app.database, "server", &["--url", &app.base]).await.unwrap();
    assert_eq!(word, "ok", "{found}");
    let none = result(&app.database, "server", &["--url", "http://127.0.0.1:9"]).await.unwrap();
    assert_eq!(none.0, "warning", "{}", none.1);
    let other = ScriptedServer::start(|_, _| {
        let headers = "content-type: application/json\r\ncontent-length: 19\r\n";
        let body = b"{\"version\":\"0.0.0\"}";
        vec![ConnectionStep::Send(head(200, headers)), ConnectionStep::Send(body.to_vec())]
    })
    .await;
    let (word, found) = result(&app.database, "server", &["--url", &other.base]).await.unwrap();
    assert!(word == "warning" && found.contains("0.0.0"), "{found}");
}

#[tokio::test]
async fn doctor_verifies_the_audit_log() {
    let app = TestApp::with_keys().await;
    app.make_key("acme", None, &[Permission::Read], None).await;
    let verify = async || result(&app.database, "audit log", &["--tenant", "acme"]).await.unwrap();
    let (word, found) = verify().await;
    assert!(word == "ok" && found.contains("1 records"), "{found}");
    let planted = "alter table audit disable trigger user; update audit set detail = 'x'; \
                   alter table audit enable trigger user";
    app.database.admin().await.batch_execute(planted).await.unwrap();
    let (word, found) = verify().await;
    assert!(word == "failed" && found.contains("record 1 was changed"), "{found}");
}

#[tokio::test]
async fn doctor_checks_the_collector_of_traces() {
    let database = TestDatabase::fresh().await;
    let collector = ScriptedServer::start(|_, _| {
        vec![ConnectionStep::Send(head(200, "content-length: 0\r\n"))]
    })
    .await;
    let collect = async |url: &str| result(&database, "collector", &["--otlp-endpoint", url]).await;
    assert_eq!(result(&database, "collector", &[]).await, None, "none is set");
    assert_eq!(collect(&collector.base).await.unwrap().0, "ok");
    assert!(collector.asked().iter().all(|asked| asked.line.starts_with("POST /v1/traces")));
    assert_eq!(collect("http://127.0.0.1:9").await.unwrap().0, "warning");
    assert_eq!(collect("nowhere").await.unwrap().0, "warning");
}

#[tokio::test]
async fn doctor_checks_the_identity_provider() {
    let database = TestDatabase::fresh().await;
    let provider = ScriptedServer::start(|_, asked| {
        let host = asked.head.lines().find_map(|line| line.trim().strip_prefix("host: "));
        let issuer = format!("http://{}", host.unwrap_or_default().trim());
        let body = json!({ "issuer": issuer, "authorization_endpoint": format!("{issuer}/in"),
            "token_endpoint": format!("{issuer}/token"), "jwks_uri": format!("{issuer}/keys") });
        let body = body.to_string().into_bytes();
        let headers =
            format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
        vec![ConnectionStep::Send(head(200, &headers)), ConnectionStep::Send(body)]
    })
    .await;
    let name = "identity provider";
    assert_eq!(result(&database, name, &[]).await, None, "none is set");
    let sign_in = async |issuer: &str| {
        let line = ["--oidc-issuer", issuer, "--oidc-client-id", "lukasa", "--oidc-tenant", "acme"];
        let more = ["--oidc-allowed-values", "*", "--public-url", "https://memory.example"];
        result(&database, name, &[&line[..], &more[..]].concat()).await.unwrap()
    };
    let (word, found) = sign_in(&provider.base).await;
    assert_eq!(word, "ok", "{found}");
    assert_eq!(sign_in("http://127.0.0.1:9").await.0, "warning");
    // A server does not start with these settings.
    let half = ["--oidc-issuer", &provider.base, "--public-url", "https://memory.example"];
    let (word, found) = result(&database, name, &half).await.unwrap();
    assert!(word == "failed" && !found.contains("next:"), "{found}");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn doctor_finds_a_service_whose_program_is_missing() {
    let database = TestDatabase::fresh().await;
    let home = tempfile::tempdir().unwrap();
    let path = home.path().display().to_string();
    assert_eq!(check(&database, "service", &[], &path).await, None, "none is installed");
    let folder = home.path().join(".config/systemd/user");
    std::fs::create_dir_all(&folder).unwrap();
    let service = async |program: &str| {
        let unit = format!("ExecStart={program} serve --listen 127.0.0.1:7777 --data-dir /srv\n");
        std::fs::write(folder.join("lukasa.service"), unit).unwrap();
        check(&database, "service", &[], &path).await.unwrap()["result"].clone()
    };
    assert_eq!(service("/no/such/folder/lukasa").await, "warning");
    assert_eq!(service(env!("CARGO_BIN_EXE_lukasa")).await, "ok");
}
