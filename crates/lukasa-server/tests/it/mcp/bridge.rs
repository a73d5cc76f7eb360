//! `lukasa mcp`: JSON lines in, JSON lines out, and nothing else on standard output.

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

use super::NEWER;
use crate::app::TestApp;

/// Runs the bridge over these messages; returns its exit code, its messages and its standard error.
async fn bridge(url: &str, key: &str, messages: &[Value]) -> (Option<i32>, Vec<Value>, String) {
    bridge_with(url, key, &["--no-start"], "", messages).await
}

/// The same with these flags, and with this database for a server that is started.
async fn bridge_with(
    url: &str,
    key: &str,
    more: &[&str],
    database_url: &str,
    messages: &[Value],
) -> (Option<i32>, Vec<Value>, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_lukasa"))
        .args(["mcp", "--url", url, "--user", "alice"])
        .args(more)
        .env("LUKASA_KEY", key)
        .env("DATABASE_URL", database_url)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .expect("lukasa runs");
    let mut input = child.stdin.take().unwrap();
    for message in messages {
        input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }
    drop(input);
    let output = child.wait_with_output().await.unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let answers = lines.lines().map(|line| serde_json::from_str(line).expect("a message"));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), answers.collect(), stderr)
}

fn message(id: i64, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

#[tokio::test]
async fn mcp_bridge_supports_both_protocol_versions() {
    let app = TestApp::with_keys().await;
    let (_, key) = app.make_key("acme", None, &crate::app::PERSONAL, None).await;
    let opening = json!({ "protocolVersion": "2025-06-18", "capabilities": { "elicitation": {} },
        "clientInfo": { "name": "test", "version": "1" } });
    let save = |word: &str| json!({ "name": "save_memory", "arguments": { "content": word } });
    let mut discover = message(3, "server/discover", &json!({}));
    let mut newer = message(4, "tools/call", &save("Likes mate"));
    for message in [&mut discover, &mut newer] {
        message["params"]["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": NEWER,
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
    }
    let older = [
        message(1, "initialize", &opening),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        message(2, "tools/call", &save("Likes tea")),
    ];
    let (code, answers, stderr) = bridge(&app.base, &key, &older).await;
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{answers:?}");
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(answers[1]["result"]["structuredContent"]["memory"]["content"], "Likes tea");
    let (code, mut answers, stderr) = bridge(&app.base, &key, &[discover, newer]).await;
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{answers:?}");
    answers.sort_by_key(|answer| answer["id"].as_i64());
    assert!(answers[0]["result"]["supportedVersions"].to_string().contains(NEWER));
    assert_eq!(answers[1]["result"]["structuredContent"]["memory"]["content"], "Likes mate");
}

#[tokio::test]
async fn mcp_bridge_reports_an_unreachable_server_with_the_next_step() {
    let list = message(7, "tools/list", &json!({}));
    let (code, answers, stderr) =
        bridge("http://127.0.0.1:1", "", std::slice::from_ref(&list)).await;
    assert_eq!(code, Some(1));
    assert_eq!(answers[0]["id"], 7);
    assert!(
        answers[0]["error"]["message"].as_str().unwrap().contains("lukasa serve"),
        "{answers:?}"
    );
    assert!(stderr.contains("lukasa serve"), "{stderr}");
    let app = TestApp::with_keys().await;
    let (code, answers, stderr) =
        bridge(&app.base, "lk_live_nonsense", &[list, json!("nonsense")]).await;
    assert_eq!(code, Some(0));
    assert!(answers.iter().any(|answer| answer["error"]["data"]["code"] == "unauthenticated"));
    assert!(answers.iter().any(|answer| answer["error"]["code"] == -32700), "{answers:?}");
    assert!(stderr.contains("lukasa key create"), "{stderr}");
}

/// Stops the process that serves at this address.
fn stop_server_at(address: &str) -> bool {
    let processes = std::fs::read_dir("/proc").expect("a list of processes").flatten();
    let serves = |pid: &str| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        line.contains(" serve ") && line.contains(&format!("--listen {address} "))
    };
    let pids = processes.filter_map(|entry| entry.file_name().into_string().ok());
    let Some(pid) = pids.filter(|name| name.parse::<u32>().is_ok()).find(|pid| serves(pid)) else {
        return false;
    };
    std::process::Command::new("kill").args(["-TERM", &pid]).status().is_ok_and(|s| s.success())
}

#[tokio::test]
async fn mcp_bridge_starts_a_server_that_keeps_running() {
    let app = TestApp::local().await;
    let folder = tempfile::tempdir().unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (address, url) = (free.to_string(), format!("http://{free}"));
    let more = ["--data-dir", folder.path().to_str().unwrap()];
    let save = message(
        1,
        "tools/call",
        &json!({ "name": "save_memory", "arguments": { "content": "Likes tea" },
                 "_meta": { "io.modelcontextprotocol/protocolVersion": NEWER,
                            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
                            "io.modelcontextprotocol/clientCapabilities": {} } }),
    );
    let (code, answers, stderr) =
        bridge_with(&url, "", &more, &app.database.url(), std::slice::from_ref(&save)).await;
    let served = app.anonymous().at(&url).get("/healthz").await;
    let stopped = stop_server_at(&address);
    assert_eq!(code, Some(0), "{stderr} {answers:?}");
    assert_eq!(
        answers[0]["result"]["structuredContent"]["memory"]["content"], "Likes tea",
        "{answers:?}"
    );
    assert_eq!(served.status, 200, "it keeps running");
    assert!(stopped, "it was the server that the bridge started");
    assert!(folder.path().join("server.log").exists());
}

#[tokio::test]
async fn mcp_bridge_names_why_a_server_could_not_be_started() {
    let folder = tempfile::tempdir().unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let more = ["--data-dir", folder.path().to_str().unwrap()];
    let list = message(7, "tools/list", &json!({}));
    let no_database = "postgres://lukasa@127.0.0.1:1/lukasa";
    let (code, answers, _) =
        bridge_with(&format!("http://{free}"), "", &more, no_database, &[list]).await;
    let error = answers[0]["error"]["message"].as_str().unwrap();
    assert!(error.contains("cannot reach the database"), "{error}");
    assert!(error.contains("lukasa doctor"), "{error}");
    assert_eq!(code, Some(1));
}
