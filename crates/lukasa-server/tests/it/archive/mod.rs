//! Export and import of a whole memory, through the server and the real binary.

mod export;
mod import;
mod restore;
mod trust;

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::app::{Client, TestApp};

/// Runs `lukasa` as a user of this server, as a separate process.
pub async fn lukasa(app: &TestApp, user: &str, arguments: &[&str]) -> Output {
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_lukasa"));
    command.args(arguments).env("LUKASA_URL", &app.base).env("LUKASA_USER", user);
    command.env_remove("LUKASA_KEY").kill_on_drop(true);
    command.output().await.expect("lukasa runs")
}

/// The same, which must succeed; returns its JSON output.
pub async fn run_json(app: &TestApp, user: &str, arguments: &[&str]) -> Value {
    let output = lukasa(app, user, &[arguments, &["--json"]].concat()).await;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

pub fn text(path: &Path) -> &str {
    path.to_str().expect("a path that is text")
}

/// A user with memories that have a history, a link, sessions, and something in the trash.
pub async fn fill_user(app: &TestApp, user: &str) -> Client {
    let client = app.anonymous().about(user);
    let tea = client.save("Drinks tea").await.at("/memory/id");
    let city = client.save("Lives in Lisbon").await.at("/memory/id");
    let change = json!({ "content": "Lives in Porto", "mode": "change" });
    client.patch(&format!("/api/memory/{city}"), change).await.expect(200);
    let link = json!({ "to": city, "relation": "enjoyed_in" });
    client.post(&format!("/api/memory/{tea}/links"), link).await.expect(201);
    let gone = client.save("Owns a canoe").await.at("/memory/id");
    client.post(&format!("/api/memory/{gone}/forget"), json!({})).await.expect(200);
    let trashed = client.save("Owns a red kayak").await.at("/memory/id");
    client.delete(&format!("/api/memory/{trashed}")).await.expect(200);
    let undone = client.save("Owns a sledge").await.at("/event/operation_id");
    client.post(&format!("/api/operations/{undone}/undo"), json!({})).await.expect(200);
    let hard = json!({ "content": "Never books aisle seats", "force": "hard", "domain": "travel",
                       "key": "seat", "value": { "window": true, "row": 0.7 } });
    client.post("/api/memory", hard).await.expect(201);
    client.put("/api/domains/health/opt-in", json!({})).await.expect(200);
    let turns = json!({ "turns": [
        { "role": "user", "content": "Good morning", "speaker": "Ana" },
        { "role": "assistant", "content": "Good morning, Ana" },
    ]});
    client.post("/api/sessions/first/turns", turns.clone()).await.expect(201);
    client.post("/api/sessions/first/close", json!({})).await.expect(200);
    client.post("/api/sessions/second/turns", turns).await.expect(201);
    client.delete("/api/sessions/second").await.expect(200);
    let used = json!({ "memory_id": tea, "type": "cited" });
    client.post("/api/memory/usage", used).await.expect(201);
    client
}

/// A folder, and the path of a file in it.
pub fn folder(name: &str) -> (TempDir, std::path::PathBuf) {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join(name);
    (folder, file)
}
