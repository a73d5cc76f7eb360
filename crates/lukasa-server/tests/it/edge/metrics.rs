//! Metrics count what happened, and no label has a user, a tenant or content.

use std::collections::BTreeSet;

use lukasa_server::telemetry::MetricsRecorder;
use serde_json::json;

use crate::app::{Client, TestApp, canary, serve};
use crate::models::{TestModels, proposed_memory, proposing_chat};

/// Every label that a metric may have.
const LABELS: [&str; 20] = [
    "cached", "commit", "decision", "kind", "lane", "le", "method", "outcome", "part", "pool",
    "purpose", "reason", "result", "route", "side", "stage", "status", "verb", "version", "writer",
];

/// Serves the metrics of this process; returns a client of that listener.
async fn scrape_of(app: &TestApp) -> Client {
    let recorder = MetricsRecorder::install().expect("the only recorder of this test");
    let (base, _) = serve(recorder.router(app.engine.clone())).await;
    app.anonymous().at(&base)
}

/// The value of a metric with these labels, or 0.
fn value(text: &str, metric: &str) -> f64 {
    let line =
        text.lines().find(|line| line.rsplit_once(' ').is_some_and(|(name, _)| name == metric));
    line.and_then(|line| line.rsplit_once(' '))
        .map_or(0.0, |(_, value)| value.parse().expect("a number"))
}

#[tokio::test]
async fn metrics_count_requests_recalls_jobs_and_model_calls() {
    let memories = vec![proposed_memory("User lives in Lisbon.", "I live in Lisbon")];
    let app = TestApp::with_models(TestModels::that_chats(proposing_chat(memories))).await;
    let scrape = scrape_of(&app).await;
    let alice = app.application_key("acme").await.about("alice");
    alice.save("Drinks oolong").await;
    alice.save("Keeps bees").await;
    alice.post("/api/memory", json!({ "content": "My password is hunter2-Zebra-91" })).await;
    alice.post("/api/memory/search", json!({ "query": "What does she drink?" })).await.expect(200);
    let turns = json!({ "turns": [{ "role": "user", "content": "Hi, I live in Lisbon." }] });
    alice.post("/api/sessions/c/turns", turns).await.expect(201);
    alice.post("/api/sessions/c/learn", json!({})).await.expect(200);
    let before = scrape.get("/metrics").await.expect(200).text();
    assert_eq!(value(&before, "lukasa_queue_due{lane=\"learning\"}"), 1.0, "{before}");
    app.work().await;
    let text = scrape.get("/metrics").await.expect(200).text();
    let requests =
        "lukasa_http_requests_total{method=\"post\",route=\"/api/memory\",status=\"201\"}";
    assert_eq!(value(&text, requests), 2.0, "{text}");
    let times = "lukasa_http_request_seconds_count{method=\"post\",route=\"/api/memory\"}";
    assert_eq!(value(&text, times), 3.0, "{text}");
    assert!(value(&text, "lukasa_recalls_total{cached=\"no\"}") >= 1.0, "{text}");
    assert!(value(&text, "lukasa_recall_stage_seconds_count{stage=\"rank\"}") >= 1.0, "{text}");
    assert_eq!(value(&text, "lukasa_jobs_total{kind=\"extract\",result=\"done\"}"), 1.0, "{text}");
    let called = "lukasa_model_calls_total{purpose=\"extract\",outcome=\"answered\"}";
    assert_eq!(value(&text, called), 1.0, "{text}");
    let secret = "lukasa_admissions_total{writer=\"human\",decision=\"reject_secret\"}";
    assert_eq!(value(&text, secret), 1.0, "{text}");
    assert_eq!(value(&text, "lukasa_queue_due{lane=\"learning\"}"), 0.0, "{text}");
    assert_eq!(value(&text, "lukasa_database_up"), 1.0, "{text}");
    // A chat model may take as long as this.
    let longest = "lukasa_model_call_seconds_bucket{purpose=\"extract\",le=\"600\"}";
    assert_eq!(value(&text, longest), 1.0, "{text}");
    let version = env!("CARGO_PKG_VERSION");
    let build = format!("lukasa_build_info{{version=\"{version}\",commit=\"");
    assert!(text.contains(&build), "{text}");
    #[cfg(target_os = "linux")]
    for metric in [
        "process_resident_memory_bytes",
        "process_cpu_seconds_total",
        "process_open_fds",
        "process_max_fds",
        "process_start_time_seconds",
    ] {
        assert!(value(&text, metric) > 0.0, "{metric}: {text}");
    }
    assert_eq!(value(&text, "lukasa_erasures_unscrubbed"), 0.0, "{text}");
    assert!(value(&text, "lukasa_index_bytes") > 0.0, "{text}");
    assert!(value(&text, "lukasa_pool_connections_limit{pool=\"reads\"}") > 0.0, "{text}");
    app.tenant_key("acme").await.delete("/api/users/alice").await.expect(200);
    app.work().await;
    let text = scrape.get("/metrics").await.expect(200).text();
    assert_eq!(value(&text, "lukasa_erasures_unscrubbed"), 1.0, "{text}");
}

#[tokio::test]
async fn metrics_have_no_user_tenant_or_content_in_labels() {
    let app = TestApp::with_keys().await;
    let scrape = scrape_of(&app).await;
    let (user, word) = (canary("user"), canary("metric"));
    let client = app.application_key("acme").await.about(&user);
    let body = json!({ "content": word, "key": word, "domain": "travel", "tags": [word] });
    client.post("/api/memory", body).await.expect(201);
    client.get(&format!("/api/memory/{word}/history")).await.expect(200);
    client.get(&format!("/api/memory?search={word}")).await.expect(200);
    client.get(&format!("/api/{word}")).await.refused(404, "not_found");
    client.get(&format!("/{word}")).await;
    client.send(&word.to_uppercase(), "/api/memory", bytes::Bytes::new()).await;
    client.post("/api/memory/retrieve", json!({ "message": word, "session_id": word })).await;
    let turns = json!({ "turns": [{ "role": "user", "content": word }] });
    client.post(&format!("/api/sessions/{word}/turns"), turns).await.expect(201);
    client.post(&format!("/api/memory/{word}/erase"), json!({})).await;
    let text = scrape.get("/metrics").await.expect(200).text();
    assert!(text.contains("route=\"/api/memory/{id}/history\""), "{text}");
    let lower = text.to_lowercase();
    for private in [user.as_str(), word.as_str(), "acme", "alice"] {
        assert!(!lower.contains(private), "{private} is in the metrics:\n{text}");
    }
    let mut labels = BTreeSet::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let Some((_, rest)) = line.split_once('{') else { continue };
        let inside = rest.rsplit_once('}').expect("a closed list of labels").0;
        for label in inside.split("\",") {
            labels.insert(label.split('=').next().unwrap_or_default().to_owned());
        }
    }
    let unknown: Vec<&String> =
        labels.iter().filter(|label| !LABELS.contains(&label.as_str())).collect();
    assert!(unknown.is_empty(), "labels {unknown:?} are not in the list");
    assert!(labels.contains("route") && labels.contains("pool"), "{labels:?}");
}
