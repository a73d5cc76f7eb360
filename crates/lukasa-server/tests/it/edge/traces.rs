//! Traces: what is sent to a collector, and that it contains no content and no user.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::routing::post;
use lukasa_models::scripted::ChatServer;
use lukasa_models::scripted::chat_server::ScriptedReply;
use serde_json::json;

use crate::app::{TestApp, canary, serve};
use crate::binary::Served;
use crate::models::{answer, proposed_memory};

/// The bodies of all requests to a collector.
type Received = Arc<Mutex<Vec<u8>>>;

async fn collect(State(received): State<Received>, body: Bytes) {
    received.lock().unwrap().extend_from_slice(&body);
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[tokio::test]
async fn traces_have_spans_of_every_kind_and_no_content_or_user() {
    let received = Received::default();
    let router = Router::new().route("/v1/traces", post(collect)).with_state(received.clone());
    let (collector, _task) = serve(router).await;
    let [word, said, user] = ["memory", "said", "user"].map(canary);
    let reply = answer(&[proposed_memory("User lives in Lisbon.", "I live in Lisbon")]);
    let service = ChatServer::start(move |asked| {
        ScriptedReply::Text(match asked["response_format"]["json_schema"]["name"].as_str() {
            Some("memories") => reply.clone(),
            _ => json!({ "title": "Moving house" }).to_string(),
        })
    })
    .await;
    let chat = format!("scripted@{}", service.url());
    let app = TestApp::local().await;
    let flags = ["--embedder", "off", "--workers", "1", "--chat", &chat];
    let more = ["--otlp-endpoint", &collector];
    let served = Served::start(&app, &[&flags[..], &more[..]].concat()).await;
    let client = served.client.about(&user);
    client.save(&format!("Likes {word}")).await;
    client.get(&format!("/api/memory/{word}")).await.expect(200);
    let ask = json!({ "query": format!("Do I like {word}?"), "session_id": word });
    client.post("/api/memory/retrieve", ask).await.expect(200);
    let city = format!("I live in Lisbon, near {said}.");
    for (role, content) in
        [("user", "Good morning."), ("user", city.as_str()), ("assistant", "How nice.")]
    {
        let turns = json!({ "turns": [{ "role": role, "content": content }] });
        client.post("/api/sessions/c/turns", turns).await.expect(201);
    }
    client.post("/api/sessions/c/close", json!({ "has_new_turns": true })).await.expect(200);
    for _ in 0..600 {
        if client.get("/api/memory").await.expect(200).text().contains("User lives in Lisbon.") {
            break;
        }
        // Nothing signals that a worker is done, so this polls.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let id = client.get("/api/memory").await.expect(200).at("/data/0/id");
    // Stopping sends what was recorded.
    served.stop().await;
    let bytes = received.lock().unwrap().clone();
    for expected in [
        "request",
        "/api/memory/{id}",
        "/api/memory/retrieve",
        "retrieve",
        "recall.stage",
        "rank",
        "fetch",
        "job",
        "extract",
        "model.call",
        "database.transaction",
        "http.response.status_code",
        "service.version",
    ] {
        assert!(contains(&bytes, expected), "no {expected} in {} bytes", bytes.len());
    }
    let tenant = lukasa_core::TenantId::named("local");
    let user_id = lukasa_core::UserId::named(tenant, &user);
    let ids = [user_id.uuid().to_string(), tenant.uuid().to_string(), id, "Lisbon".to_owned()];
    for private in [&word, &said, &user].into_iter().chain(&ids) {
        assert!(!contains(&bytes, private), "a trace contains {private}");
    }
    assert!(!contains(&bytes, "scripted@"), "nor the address of a model");
}

#[tokio::test]
async fn traces_to_an_invalid_address_are_refused_at_the_start() {
    let app = TestApp::local().await;
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_lukasa"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--otlp-endpoint", "collector:4318"]);
    let output = command.env("DATABASE_URL", app.database.url()).output().await.unwrap();
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("LUKASA_OTLP_ENDPOINT is not a URL"), "{error}");
}
