//! What a conversation leaves behind, over the wire: memories that point at their turns, episodes,
//! passes, the ledger, proposals and contradictions (R049, R093, R123, R127).

use serde_json::{Value, json};

use crate::app::{Client, TestApp};
use crate::models::{Stage, answer, finding, found};
use lukasa_models::scripted::ScriptedChat;

/// A server whose model finds in every conversation where the person lives.
async fn lisbon() -> TestApp {
    let memories = vec![found("User lives in Lisbon.", "I live in Lisbon")];
    TestApp::with_models(Stage::that_chats(finding(memories))).await
}

async fn alice(app: &TestApp) -> Client {
    app.application_key("acme").await.about("alice")
}

/// Says these things in a session; the ids of the turns.
async fn say(client: &Client, session: &str, contents: &[&str]) -> Value {
    let turns: Vec<Value> =
        contents.iter().map(|text| json!({ "role": "user", "content": text })).collect();
    let path = format!("/api/sessions/{session}/turns");
    client.post(&path, json!({ "turns": turns })).await.expect(201).json()["turn_ids"].clone()
}

#[tokio::test]
async fn learning_now_leaves_a_memory_that_points_at_its_turn() {
    let app = lisbon().await;
    let alice = alice(&app).await;
    let turns = say(&alice, "c", &["Hi, I live in Lisbon."]).await;
    let told = alice.post("/api/sessions/c/learn", json!({})).await.expect(200);
    assert_eq!(
        (told.json()["learning"].clone(), told.at("/session/state")),
        (true.into(), "active".into())
    );
    assert_eq!(app.work().await.len(), 1);
    let memory = alice.get("/api/memory").await.expect(200).json()["data"][0].clone();
    assert_eq!(memory["content"], "User lives in Lisbon.");
    assert_eq!((&memory["session_id"], &memory["turn_ids"]), (&json!("c"), &turns));
    assert_eq!(memory["origin"], "user_turn");
    assert_eq!(memory["evidence"][0]["description"], "I live in Lisbon");
    let session = alice.get("/api/sessions/c").await.expect(200).json();
    assert_eq!(
        (&session["extracted_through"], &session["summary"]),
        (&json!(1), &json!("They talked."))
    );
    let again = alice.post("/api/sessions/c/learn", json!({})).await.expect(200);
    assert_eq!(again.json()["learning"], false, "no turn is read twice");
}

#[tokio::test]
async fn a_pass_an_episode_and_a_call_are_there_to_be_seen() {
    let app = lisbon().await;
    let alice = alice(&app).await;
    for session in ["a", "b"] {
        say(&alice, session, &["I live in Lisbon."]).await;
        let closed = alice.post(&format!("/api/sessions/{session}/close"), json!({})).await;
        assert_eq!(closed.expect(200).json()["learning"], true);
        app.work().await;
    }
    let passes = alice.get("/api/passes?session_id=a").await.expect(200).json();
    let pass = &passes["data"][0];
    assert_eq!(passes["data"].as_array().unwrap().len(), 1);
    assert_eq!((&pass["first_turn"], &pass["last_turn"]), (&json!(1), &json!(1)));
    assert_eq!((&pass["prompt"], &pass["model"]), (&json!("extract/1"), &json!("scripted")));
    assert_eq!(pass["outcome"]["learned"]["added"], 1, "{pass}");
    let first = alice.get("/api/episodes?limit=1").await.expect(200);
    assert_eq!(
        (first.each("session_id"), first.each("summary")),
        (vec!["b".into()], vec!["They talked.".into()])
    );
    let rest = alice.get(&format!("/api/episodes?cursor={}", first.at("/next_cursor"))).await;
    assert_eq!(rest.each("session_id"), ["a"]);
    let calls = alice.get("/api/model-calls").await.expect(200);
    assert_eq!(
        (calls.each("purpose"), calls.each("outcome")),
        (vec!["extract".into(); 2], vec!["answered".into(); 2])
    );
    assert_eq!(calls.json()["totals"][0]["calls"], 2);
    assert!(calls.json()["totals"][0]["input_tokens"].as_i64().unwrap() > 0);
    // What one pass learned is one operation; the second has only supported the first.
    for pass in alice.get("/api/passes").await.json()["data"].as_array().unwrap() {
        let undo = format!("/api/operations/{}/undo", pass["operation_id"].as_str().unwrap());
        alice.post(&undo, json!({})).await.expect(200);
    }
    assert!(alice.get("/api/memory").await.each("id").is_empty());
}

#[tokio::test]
async fn without_a_chat_model_nothing_is_learned_and_the_answer_says_so() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    say(&alice, "c", &["I live in Lisbon."]).await;
    alice.post("/api/sessions/c/learn", json!({})).await.refused(409, "no_chat_model");
    let closed = alice.post("/api/sessions/c/close", json!({})).await.expect(200);
    assert_eq!(closed.json()["learning"], false);
    assert!(app.work().await.is_empty());
}

#[tokio::test]
async fn how_much_is_kept_is_said_when_the_session_is_opened() {
    let app = lisbon().await;
    let alice = alice(&app).await;
    for (keep, left) in [("full", 2), ("excerpts", 1), ("none", 0)] {
        let open = json!({ "id": keep, "keep_turns": keep });
        assert_eq!(alice.post("/api/sessions", open).await.expect(200).at("/keep_turns"), keep);
        say(&alice, keep, &["Hello.", "I live in Lisbon."]).await;
        alice.post(&format!("/api/sessions/{keep}/close"), json!({})).await.expect(200);
        app.work().await;
        let turns = alice.get(&format!("/api/sessions/{keep}/turns")).await.expect(200);
        assert_eq!(turns.each("id").len(), left, "{keep}");
    }
    let unknown = json!({ "keep_turns": "some" });
    alice.post("/api/sessions", unknown).await.refused(400, "malformed_body");
}

#[tokio::test]
async fn what_asks_first_is_a_proposal_with_its_evidence() {
    let app = lisbon().await;
    let alice = alice(&app).await;
    alice.put("/api/policy", json!({ "admission": "propose" })).await.expect(200);
    let turns = say(&alice, "c", &["I live in Lisbon."]).await;
    alice.post("/api/sessions/c/close", json!({})).await.expect(200);
    app.work().await;
    assert!(alice.get("/api/memory").await.each("id").is_empty());
    let waiting = alice.get("/api/memory/proposals").await.expect(200);
    assert_eq!(waiting.json()["data"][0]["turn_ids"], turns);
    let human = app.human("acme", "alice").await;
    let path = format!("/api/memory/{}/confirm", waiting.at("/data/0/id"));
    let yes = json!({ "sha256": waiting.at("/data/0/sha256") });
    assert_eq!(human.post(&path, yes).await.expect(200).at("/memory/status"), "active");
}

#[tokio::test]
async fn a_contradiction_is_shown_and_settled_by_its_person_alone() {
    let chat = ScriptedChat::saying(|ask| {
        let data = &ask.messages[1].content;
        let line = data.lines().find(|line| line.contains("Prefers tea")).unwrap_or_default();
        let mut change = found("User prefers coffee.", "I prefer coffee these days");
        change["op"] = json!("update");
        change["target"] = json!(line.split(':').next());
        answer(&[change])
    });
    let app = TestApp::with_models(Stage::that_chats(std::sync::Arc::new(chat))).await;
    let key = alice(&app).await;
    let human = app.human("acme", "alice").await;
    let tea = human.save("Prefers tea").await.at("/memory/id");
    say(&key, "c", &["I prefer coffee these days, not tea."]).await;
    key.post("/api/sessions/c/close", json!({})).await.expect(200);
    app.work().await;
    assert_eq!(key.get("/api/memory").await.each("content"), ["Prefers tea"]);
    let pair = key.get("/api/memory/contradictions").await.expect(200);
    assert_eq!(pair.at("/data/0/standing/id"), tea);
    assert_eq!(pair.at("/data/0/against/content"), "User prefers coffee.");
    let path = format!("/api/memory/{}/resolve", pair.at("/data/0/against/id"));
    let against = json!({ "true": "against", "sha256": pair.at("/data/0/against/sha256") });
    key.post(&path, against.clone()).await.refused(403, "human_needed");
    human.post(&path, json!({ "true": "both" })).await.refused(400, "malformed_body");
    let other = json!({ "true": "against", "sha256": "0".repeat(64) });
    human.post(&path, other).await.refused(409, "other_words");
    let stale = human.with("if-match", "\"ver_00000000000000000000000000\"");
    stale.post(&path, against.clone()).await.refused(412, "version_mismatch");
    let settled = human.post(&path, against.clone()).await.expect(200);
    assert_eq!(key.get("/api/memory").await.each("content"), ["User prefers coffee."]);
    human.post(&path, against).await.refused(409, "no_contradiction");
    let undo = format!("/api/operations/{}/undo", settled.at("/event/operation_id"));
    human.post(&undo, json!({})).await.expect(200);
    human.post(&path, json!({ "true": "standing" })).await.expect(200);
    assert_eq!(key.get("/api/memory").await.each("content"), ["Prefers tea"]);
    assert_eq!(key.get("/api/memory/contradictions").await.json()["data"], json!([]));
}
