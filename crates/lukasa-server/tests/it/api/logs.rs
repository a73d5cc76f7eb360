//! Logs name the request and what happened to it, and contain no memory or turn content.

use std::io::Write;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

use crate::app::{Client, TestApp, canary};
use crate::binary::Served;

/// Log writer that collects the output in memory.
#[derive(Clone, Default)]
struct LogBuffer(Arc<Mutex<Vec<u8>>>);

impl LogBuffer {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().expect("a log")).into_owned()
    }
}

impl Write for LogBuffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("a log").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for LogBuffer {
    type Writer = LogBuffer;
    fn make_writer(&'a self) -> LogBuffer {
        self.clone()
    }
}

/// Puts the word into every place of a request that can carry it, well formed or not.
async fn say_everywhere(client: &Client, word: &str) {
    let body = json!({
        "content": word, "summary": word, "detail": word, "reasoning": word, "tags": [word],
        "session_id": word, "evidence": [{ "type": word, "description": word }],
        "domain": "travel", "key": word, "value": word, "force": "hard",
    });
    client.post("/api/memory", body.clone()).await.expect(201);
    let mut other = body;
    other["content"] = format!("another {word}").into();
    client.post("/api/memory", other).await.expect(200);
    for path in ["", "/history", "/links"] {
        client.get(&format!("/api/memory/{word}{path}")).await.expect(200);
    }
    client.get(&format!("/api/memory?search={word}&tag={word}&domain={word}")).await.expect(200);
    client.get(&format!("/api/memory?{word}={word}")).await.refused(400, "malformed_query");
    client.get(&format!("/api/memory?cursor={word}")).await.refused(400, "malformed_cursor");
    client.get(&format!("/api/{word}")).await.refused(404, "not_found");
    client.post("/api/memory", json!({ "content": "x", word: word })).await.expect(400);
    client.post("/api/memory", json!({ "content": "x", "domain": word })).await.expect(404);
    let named = client.with("idempotency-key", word);
    named.patch(&format!("/api/memory/{word}"), json!({ "detail": "x" })).await.expect(200);
    named.patch("/api/memory/x", json!({ "detail": word })).await.expect(422);
    client.with("lukasa-version", word).get("/api/memory").await.expect(400);
    client.post(&format!("/api/memory/{word}/forget"), json!({})).await.expect(200);
}

#[tokio::test]
async fn logs_name_the_route_and_contain_no_memory_content() {
    let log = LogBuffer::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(log.clone())
        .finish();
    // The test and its server share one thread, so this catches both.
    let _guard = tracing::subscriber::set_default(subscriber);
    let app = TestApp::with_keys().await;
    let word = canary("log");
    let alice = app.application_key("acme").await.about("alice");
    say_everywhere(&alice, &word).await;
    let text = log.text();
    assert!(!text.contains(&word), "{}", lines_with(&text, &word));
    let secret = alice.header("authorization");
    assert!(!text.contains(secret.trim_start_matches("Bearer ")), "no credential either");
    assert!(text.contains("route=\"/api/memory/{id}\""), "{text}");
    assert!(text.contains("status=201") && text.contains("request_id=req_"), "{text}");
}

fn lines_with(text: &str, word: &str) -> String {
    text.lines().filter(|line| line.contains(word)).collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn trace_level_logs_contain_no_memory_content() {
    let app = TestApp::with_keys().await;
    let served = Served::start(&app, &[]).await;
    let word = canary("log");
    say_everywhere(&served.client, &word).await;
    let text = served.end().await;
    assert!(text.contains("/api/memory/{id}"), "the log is there");
    let leaked = lines_with(&text, &word);
    let first: String = leaked.chars().take(2_000).collect();
    assert!(leaked.is_empty(), "{} lines:\n{first}", leaked.lines().count());
}
