//! Logs tell what happened and to which request, and none of what was said.

use std::io::Write;
use std::sync::{Arc, Mutex};

use serde_json::json;
use tracing_subscriber::fmt::MakeWriter;

use crate::app::{Client, TestApp, canary};
use crate::binary::Served;

/// A log that is kept.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl Kept {
    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock().expect("a log")).into_owned()
    }
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("a log").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Kept {
    type Writer = Kept;
    fn make_writer(&'a self) -> Kept {
        self.clone()
    }
}

/// Says the word in every place where a request can say it, well formed or not.
async fn say_everywhere(client: &Client, word: &str) {
    let body = json!({
        "content": word, "summary": word, "detail": word, "reasoning": word, "tags": [word],
        "session_id": word, "evidence": [{ "type": word, "description": word }],
        "domain": "travel", "key": word, "value": word, "force": "hard",
    });
    client.post("/api/memory", body.clone()).await.expect(201);
    let mut other = body;
    other["content"] = format!("another {word}").into();
    client.post("/api/memory", other).await.refused(409, "key_taken");
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
async fn the_log_names_the_route_and_holds_no_word_of_a_memory() {
    let log = Kept::default();
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
async fn not_even_the_most_talkative_server_logs_a_memory() {
    let app = TestApp::with_keys().await;
    let served = Served::start(&app, &[]).await;
    let word = canary("log");
    say_everywhere(&served.client, &word).await;
    let text = served.end().await;
    assert!(text.contains("/api/memory/{id}"), "the log is there");
    let told = lines_with(&text, &word);
    let first: String = told.chars().take(2_000).collect();
    assert!(told.is_empty(), "{} lines:\n{first}", told.lines().count());
}
