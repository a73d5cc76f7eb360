//! Queued and dead jobs over HTTP.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use jiff::SignedDuration;
use lukasa_models::scripted::ScriptedChat;
use lukasa_server::clock;
use serde_json::json;

use crate::app::TestApp;
use crate::models::{TestModels, answer, proposed_memory};

#[tokio::test]
async fn dead_job_is_listed_and_can_be_retried() {
    let well = Arc::new(AtomicBool::new(false));
    let mood = well.clone();
    let chat = ScriptedChat::saying(move |_| match mood.load(Ordering::SeqCst) {
        true => answer(&[proposed_memory("User lives in Lisbon.", "I live in Lisbon")]),
        false => "I would rather not.".to_owned(),
    });
    let app = TestApp::with_models(TestModels::that_chats(Arc::new(chat))).await;
    let alice = app.tenant_key("acme").await.about("alice");
    let turns = json!({ "turns": [{ "role": "user", "content": "I live in Lisbon." }] });
    alice.post("/api/sessions/c/turns", turns).await.expect(201);
    assert_eq!(alice.get("/api/jobs").await.expect(200).each("kind"), ["close", "upkeep"]);
    alice.post("/api/sessions/c/close", json!({})).await.expect(200);
    let job = alice.get("/api/jobs").await.expect(200);
    assert_eq!(
        (job.at("/data/0/kind"), job.at("/data/0/state")),
        ("extract".into(), "waiting".into())
    );
    assert_eq!(job.at("/data/0/session_id"), "c");
    let retry = format!("/api/jobs/{}/retry", job.at("/data/0/id"));
    alice.post(&retry, json!({})).await.refused(404, "job_not_found");
    for attempt in 0..5 {
        app.work_at(clock::now() + SignedDuration::from_mins(16 * attempt)).await;
    }
    let dead = alice.get("/api/jobs").await.expect(200);
    assert_eq!(
        (dead.at("/data/0/state"), dead.json()["data"][0]["attempts"].clone()),
        ("dead".into(), 5.into())
    );
    assert!(dead.at("/data/0/last_error").contains("JSON"), "{}", dead.text());
    well.store(true, Ordering::SeqCst);
    let once = alice.with("idempotency-key", "k");
    let waiting = once.post(&retry, json!({})).await.expect(200);
    assert_eq!(
        (waiting.at("/state"), waiting.json()["attempts"].clone()),
        ("waiting".into(), 0.into())
    );
    assert_eq!(app.work().await.len(), 1);
    assert_eq!(once.post(&retry, json!({})).await.expect(200).body, waiting.body);
    assert_eq!(alice.get("/api/memory").await.each("content"), ["User lives in Lisbon."]);
    assert!(!alice.get("/api/jobs").await.each("kind").contains(&"extract".into()));
    alice.post(&retry, json!({})).await.refused(404, "job_not_found");
    alice.post("/api/jobs/job/retry", json!({})).await.refused(404, "job_not_found");
}
