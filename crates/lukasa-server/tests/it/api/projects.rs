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
