//! Projects over HTTP: the field `project` of memories, sessions, contexts, searches and lists.

use serde_json::{Value, json};

use crate::app::{Client, TestApp};

async fn save(client: &Client, content: &str, project: Value) -> String {
    let body = json!({ "content": content, "project": project });
    let saved = client.post("/api/memory", body).await.expect(201);
    saved.at("/memory/id")
}

async fn context(client: &Client, more: Value) -> String {
    let mut body = json!({ "query": "Where is the launch?" });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let answer = client.post("/api/memory/retrieve", body).await.expect(200);
    answer.at("/context")
}

async fn search(client: &Client, more: Value) -> usize {
    let mut body = json!({ "query": "Where is the launch?" });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let answer = client.post("/api/memory/search", body).await.expect(200);
    answer.json()["memories"].as_array().unwrap().len()
}

async fn list(client: &Client, query: &str) -> usize {
    let page = client.get(&format!("/api/memory?{query}")).await.expect(200);
    page.json()["data"].as_array().unwrap().len()
}

#[tokio::test]
async fn project_of_a_request_limits_context_search_and_list() {
    let app = TestApp::with_keys().await;
    let alice = app.application_key("acme").await.about("alice");
    let id = save(&alice, "The launch is in Kourou", json!("apollo")).await;
    save(&alice, "The launch is in Baikonur", json!("zeus")).await;
    save(&alice, "Watches every launch", Value::Null).await;
    let seen = |text: &str| ["Kourou", "Baikonur", "every"].map(|word| text.contains(word));
    assert_eq!(seen(&context(&alice, json!({})).await), [false, false, true]);
    let apollo = json!({ "project": " apollo " });
    assert_eq!(seen(&context(&alice, apollo.clone()).await), [true, false, true]);
    assert_eq!(search(&alice, json!({})).await, 1);
    assert_eq!(search(&alice, apollo).await, 2);
    assert_eq!(search(&alice, json!({ "all_projects": true })).await, 3);
    assert_eq!(list(&alice, "limit=50").await, 3);
    assert_eq!(list(&alice, "project=apollo").await, 1);
    assert_eq!(list(&alice, "project=").await, 1);
    let got = alice.get(&format!("/api/memory/{id}")).await.expect(200);
    assert_eq!(got.at("/project"), "apollo");
    let moved = json!({ "project": "zeus" });
    let moved = alice.patch(&format!("/api/memory/{id}"), moved).await.expect(200);
    assert_eq!(moved.at("/memory/project"), "zeus");
    let cleared = alice.patch(&format!("/api/memory/{id}"), json!({ "project": null })).await;
    assert!(cleared.expect(200).json()["memory"]["project"].is_null());
    assert_eq!(search(&alice, json!({})).await, 2);
    for bad in ["a\nb", &"x".repeat(65)] {
        let body = json!({ "content": "x", "project": bad });
        alice.post("/api/memory", body).await.refused(422, "invalid_request");
    }
}

#[tokio::test]
async fn project_of_a_session_is_set_once_and_limits_its_context() {
    let app = TestApp::with_keys().await;
    let alice = app.application_key("acme").await.about("alice");
    save(&alice, "The launch is in Kourou", json!("apollo")).await;
    let turns = |project: &str| json!({ "project": project, "turns": [{ "role": "user", "content": "Hello there" }] });
    let appended = alice.post("/api/sessions/a/turns", turns("apollo")).await.expect(201);
    assert_eq!(appended.at("/session/project"), "apollo");
    alice.post("/api/sessions/a/turns", turns("zeus")).await.refused(409, "other_project");
    let other = json!({ "id": "a", "project": "zeus" });
    alice.post("/api/sessions", other).await.refused(409, "other_project");
    assert!(context(&alice, json!({ "session_id": "a" })).await.contains("Kourou"));
    assert!(!context(&alice, json!({ "session_id": "b" })).await.contains("Kourou"));
    let opened = alice.post("/api/sessions", json!({ "id": "c", "project": "zeus" })).await;
    assert_eq!(opened.expect(200).at("/project"), "zeus");
    for (query, count) in [("", 2), ("?project=apollo", 1), ("?project=nothing", 0)] {
        let page = alice.get(&format!("/api/sessions{query}")).await.expect(200);
        assert_eq!(page.json()["data"].as_array().unwrap().len(), count, "{query}");
    }
}

#[tokio::test]
async fn project_header_is_followed_by_every_request_about_memories() {
    let app = TestApp::with_keys().await;
    let alice = app.application_key("acme").await.about("alice");
    save(&alice, "The launch is in Kourou", json!("apollo")).await;
    save(&alice, "The launch is in Baikonur", json!("zeus")).await;
    save(&alice, "Watches every launch", Value::Null).await;
    let apollo = alice.with("x-lukasa-project", "apollo");
    let none = alice.with("x-lukasa-project", "");
    assert_eq!([list(&apollo, "").await, list(&none, "").await], [2, 1]);
    assert_eq!(list(&apollo, "project=zeus").await, 1);
    assert_eq!([search(&apollo, json!({})).await, search(&none, json!({})).await], [2, 1]);
    assert_eq!(search(&apollo, json!({ "all_projects": true })).await, 3);
    let text = context(&apollo, json!({})).await;
    assert!(text.contains("Kourou") && !text.contains("Baikonur"), "{text}");
    // Words name a memory only among those that are seen, and so do the candidates of a refusal.
    assert_eq!(alice.get("/api/memory/launch%20is").await.expect(409).code(), "ambiguous_target");
    assert_eq!(apollo.get("/api/memory/launch%20is").await.expect(200).at("/project"), "apollo");
    for (method, path, body) in [
        ("GET", "launch%20is", None),
        ("PATCH", "launch%20is", Some(json!({ "content": "x" }))),
        ("POST", "launch%20is/forget", Some(json!({}))),
        ("POST", "launch%20is/confirm", Some(json!({}))),
        ("DELETE", "launch%20is", Some(json!({}))),
        ("POST", "every/links", Some(json!({ "to": "launch is" }))),
    ] {
        let refused = none.call(method, &format!("/api/memory/{path}"), body).await;
        assert_eq!(refused.expect(404).code(), "memory_not_found", "{method} {path}");
    }
    let refused = apollo.post("/api/memory/launch/forget", json!({})).await.expect(409);
    assert!(!refused.text().contains("Baikonur"), "{}", refused.text());
    // Work belongs to the project; who the user is does not.
    let work = json!({ "content": "The server listens on port 8080" });
    for (client, project) in [(&apollo, json!("apollo")), (&none, Value::Null)] {
        let saved = client.post("/api/memory", work.clone()).await.expect(201).json();
        assert_eq!(saved["memory"]["project"], project);
    }
    let me = apollo.post("/api/memory", json!({ "content": "I am vegetarian" })).await.expect(201);
    assert_eq!(me.json()["memory"]["project"], Value::Null);
    let turns = json!({ "turns": [{ "role": "user", "content": "Hello there" }] });
    let appended = apollo.post("/api/sessions/a/turns", turns).await.expect(201);
    assert_eq!(appended.at("/session/project"), "apollo");
    let opened = apollo.post("/api/sessions", json!({ "id": "b" })).await.expect(200);
    assert_eq!(opened.at("/project"), "apollo");
    alice
        .with("x-lukasa-project", &"x".repeat(65))
        .get("/api/memory")
        .await
        .refused(400, "malformed_header");
}
