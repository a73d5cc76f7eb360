//! Paused memory: nothing is learned, stored by others than the user, or put into a prompt; reading
//! and removing still work.

use jiff::SignedDuration;
use lukasa_server::clock;
use serde_json::json;

use crate::app::{Client, TestApp};
use crate::models::{TestModels, proposed_memory, proposing_chat};

async fn pause(human: &Client, paused: bool) {
    let policy = human.put("/api/policy", json!({ "paused": paused })).await.expect(200).json();
    assert_eq!(policy["in_force"]["paused"], paused);
}

#[tokio::test]
async fn paused_memory_refuses_writes_of_assistants_and_accepts_those_of_the_user() {
    let app = TestApp::with_keys().await;
    let agent = app.tenant_key("acme").await.about("alice");
    let human = app.human("acme", "alice").await;
    let bike = agent.save("Owns a bike").await.at("/memory/id");
    let tea = agent.save("Drinks tea").await.at("/memory/id");
    pause(&human, true).await;
    agent.put("/api/policy", json!({ "paused": false })).await.refused(403, "human_needed");

    let boat = json!({ "content": "Owns a boat" });
    agent.post("/api/memory", boat.clone()).await.refused(403, "memory_paused");
    agent.post("/api/memory/propose", boat.clone()).await.refused(403, "memory_paused");
    agent.patch(&format!("/api/memory/{bike}"), boat.clone()).await.refused(403, "memory_paused");
    let link = json!({ "to": tea });
    agent.post(&format!("/api/memory/{bike}/links"), link).await.refused(403, "memory_paused");
    let item = json!({ "item": "memory", "source": "a", "content": "Keeps bees" });
    agent.post("/api/import", item).await.refused(403, "memory_paused");
    let event = json!({ "source": "groceries", "kind": "order", "payload": { "value": "Kroger" } });
    let events = json!({ "observations": [event] });
    agent.post("/api/observations", events).await.refused(403, "memory_paused");
    assert!(agent.get("/api/observations").await.each("id").is_empty());
    let expected = json!({ "memory_id": bike, "expects": "Asks about tyres" });
    agent.post("/api/predictions", expected).await.refused(403, "memory_paused");

    assert_eq!(agent.get("/api/memory").await.expect(200).each("content").len(), 2);
    agent.post(&format!("/api/memory/{tea}/forget"), json!({})).await.expect(200);
    human.save("Keeps a cat").await;
    let mut active = human.get("/api/memory").await.each("content");
    active.sort();
    assert_eq!(active, ["Keeps a cat", "Owns a bike"]);

    pause(&human, false).await;
    agent.post("/api/memory", boat).await.expect(201);
}

#[tokio::test]
async fn paused_memory_is_in_no_context_and_search_still_finds_it() {
    let app = TestApp::with_keys().await;
    let agent = app.tenant_key("acme").await.about("alice");
    let human = app.human("acme", "alice").await;
    human.save("Drinks oolong in the morning").await;
    let ask = json!({ "query": "What do I drink in the morning?", "session_id": "tea" });
    let context = async || {
        let answer = agent.post("/api/memory/retrieve", ask.clone()).await.expect(200);
        answer.at("/context")
    };
    // The session's baseline is frozen now.
    assert!(context().await.contains("oolong"));
    pause(&human, true).await;
    assert_eq!(context().await, "");
    let alone = json!({ "query": "What do I drink in the morning?" });
    assert_eq!(agent.post("/api/memory/retrieve", alone).await.expect(200).at("/context"), "");
    let found = agent.post("/api/memory/search", json!({ "query": "oolong" })).await.expect(200);
    assert!(found.text().contains("oolong"), "{}", found.text());
    pause(&human, false).await;
    assert!(context().await.contains("oolong"));
}

#[tokio::test]
async fn paused_memory_learns_nothing_and_stores_no_turns() {
    let memories = vec![proposed_memory("User lives in Lisbon.", "I live in Lisbon")];
    let app = TestApp::with_models(TestModels::that_chats(proposing_chat(memories))).await;
    let agent = app.tenant_key("acme").await.about("alice");
    let human = app.human("acme", "alice").await;
    let say = async |session: &str, text: &str| {
        let turns = json!({ "turns": [{ "role": "user", "content": text }] });
        let path = format!("/api/sessions/{session}/turns");
        let kept = agent.post(&path, turns).await.expect(201).json()["kept"].clone();
        agent.post(&format!("/api/sessions/{session}/close"), json!({})).await.expect(200);
        kept
    };
    // What was said before waits until memory is resumed.
    assert_eq!(say("before", "I live in Lisbon.").await, true);
    pause(&human, true).await;
    assert_eq!(say("meanwhile", "Please remember that I prefer trains.").await, false);
    app.work().await;
    assert!(human.get("/api/memory?status=all").await.each("id").is_empty());
    assert!(human.get("/api/sessions/meanwhile/turns").await.expect(200).each("id").is_empty());

    pause(&human, false).await;
    app.work_at(clock::now() + SignedDuration::from_mins(6)).await;
    assert_eq!(human.get("/api/memory").await.each("content"), ["User lives in Lisbon."]);
    assert!(!human.get("/api/memory?status=all").await.text().contains("trains"));
}
