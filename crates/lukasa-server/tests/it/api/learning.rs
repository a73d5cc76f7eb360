//! Results of learning over HTTP: memories that cite their turns, episodes, passes, the ledger of
//! model calls, proposals and contradictions (R049, R093, R123, R127).

use serde_json::{Value, json};

use crate::app::{Client, TestApp};
use crate::models::{TestModels, answer, proposed_memory, proposing_chat};
use lukasa_models::scripted::ScriptedChat;

/// A server whose model finds the user's city in every conversation.
async fn lisbon() -> TestApp {
    let memories = vec![proposed_memory("User lives in Lisbon.", "I live in Lisbon")];
    TestApp::with_models(TestModels::that_chats(proposing_chat(memories))).await
}

async fn alice(app: &TestApp) -> Client {
    app.application_key("acme").await.about("alice")
}

/// Appends these turns to a session; returns the turn ids.
async fn say(client: &Client, session: &str, contents: &[&str]) -> Value {
    let turns: Vec<Value> =
        contents.iter().map(|text| json!({ "role": "user", "content": text })).collect();
    let path = format!("/api/sessions/{session}/turns");
    client.post(&path, json!({ "turns": turns })).await.expect(201).json()["turn_ids"].clone()
}

#[tokio::test]
async fn learn_endpoint_saves_a_memory_that_cites_its_turn() {
    let app = lisbon().await;
    let alice = alice(&app).await;
    let turns = say(&alice, "c", &["Hi, I live in Lisbon."]).await;
    let reply = alice.post("/api/sessions/c/learn", json!({})).await.expect(200);
    assert_eq!(
        (reply.json()["learning"].clone(), reply.at("/session/state")),
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
async fn episodes_have_domains_and_are_searched() {
    let app = lisbon().await;
    let alice = alice(&app).await;
    say(&alice, "a", &["I live in Lisbon."]).await;
    alice.post("/api/sessions/a/close", json!({})).await.expect(200);
    app.work().await;
    let memory = alice.get("/api/memory").await.expect(200).at("/data/0/id");
    alice.patch(&format!("/api/memory/{memory}"), json!({"domain": "travel"})).await.expect(200);
    let listed = alice.get("/api/episodes?domain=travel").await.expect(200);
    // Its words name one of them.
    assert_eq!(listed.json()["data"][0]["domains"], json!(["communication", "travel"]));
    assert!(alice.get("/api/episodes?domain=music").await.expect(200).each("id").is_empty());
    let id = listed.at("/data/0/id");
    let one = alice.get(&format!("/api/episodes/{id}")).await.expect(200).json();
    assert_eq!(one, listed.json()["data"][0]);
    alice.get("/api/episodes/nonsense").await.refused(404, "episode_not_found");
    for (domains, found) in [(json!(null), 1), (json!(["travel"]), 1), (json!(["music"]), 0)] {
        let ask = json!({"query": "talked", "episodes": 5, "domains": domains});
        let answer = alice.post("/api/memory/search", ask).await.expect(200).json();
        assert_eq!(answer["episodes"].as_array().unwrap().len(), found, "{domains}: {answer}");
    }
    let ask = json!({"query": "What have we talked about, and what did I say?"});
    let context = alice.post("/api/memory/retrieve", ask).await.expect(200).json();
    let cited = context["dynamic"]["citations"].as_array().unwrap().iter();
    let cited: Vec<_> = cited.filter_map(|citation| citation["episode_id"].as_str()).collect();
    assert_eq!(cited, [id], "{context}");
}

#[tokio::test]
async fn episodes_about_a_closed_domain_are_hidden_from_every_list() {
    let app = lisbon().await;
    let (key, user) = (alice(&app).await, app.human("acme", "alice").await);
    say(&key, "a", &["I live in Lisbon."]).await;
    key.post("/api/sessions/a/close", json!({})).await.expect(200);
    app.work().await;
    user.put("/api/domains/health/opt-in", json!({})).await.expect(200);
    let memory = user.get("/api/memory").await.expect(200).at("/data/0/id");
    user.patch(&format!("/api/memory/{memory}"), json!({"domain": "health"})).await.expect(200);
    let open = user.get("/api/episodes").await.expect(200);
    assert_eq!(open.at("/data/0/summary"), "They talked.");
    let id = open.at("/data/0/id");
    user.delete("/api/domains/health/opt-in").await.expect(200);
    let one = format!("/api/episodes/{id}?");
    for path in ["/api/episodes?", one.as_str(), "/api/dependents?session_id=a&"] {
        let shown = format!("{path}show_hidden=true");
        for answer in [user.get(path).await, key.get(path).await, key.get(&shown).await] {
            let text = answer.expect(200).text();
            assert!(!text.contains("They talked") && !text.contains("A chat"), "{path}: {text}");
            assert!(text.contains(r#""hidden_domain":"health""#), "{path}: {text}");
        }
        let all = user.get(&shown).await.expect(200).text();
        assert!(all.contains("They talked.") && !all.contains("hidden_domain"), "{path}: {all}");
    }
}

#[tokio::test]
async fn session_title_summary_and_window_hide_the_words_of_hidden_episodes() {
    let app = lisbon().await;
    let (key, user) = (alice(&app).await, app.human("acme", "alice").await);
    let long = "We looked at the garden and the many plants in it. ".repeat(60);
    let turns = json!({ "turns": [{ "role": "user", "content": "I live in Lisbon." },
        { "role": "assistant", "content": "Nice." }, { "role": "user", "content": long }] });
    key.post("/api/sessions/a/turns", turns).await.expect(201);
    key.post("/api/sessions/a/close", json!({})).await.expect(200);
    app.work().await;
    user.put("/api/domains/health/opt-in", json!({})).await.expect(200);
    let memory = user.get("/api/memory").await.expect(200).at("/data/0/id");
    user.patch(&format!("/api/memory/{memory}"), json!({"domain": "health"})).await.expect(200);
    let open = key.get("/api/sessions/a").await.expect(200);
    assert_eq!((open.at("/title"), open.at("/summary")), ("A chat".into(), "They talked.".into()));
    let window = "/api/sessions/a/window?budget=500&";
    assert_eq!(key.get(window).await.expect(200).at("/summary"), "They talked.");
    user.delete("/api/domains/health/opt-in").await.expect(200);

    let is_hidden = |text: &str| !text.contains("They talked") && !text.contains("A chat");
    let says_why = |text: &str| text.contains("the domain health is not open");
    for path in ["/api/sessions?", "/api/sessions/a?", window] {
        let shown = format!("{path}show_hidden=true");
        for answer in [user.get(path).await, key.get(path).await, key.get(&shown).await] {
            let text = answer.expect(200).text();
            assert!(is_hidden(&text) && says_why(&text), "{path}: {text}");
        }
        let all = user.get(&shown).await.expect(200).text();
        assert!(all.contains("They talked.") && !says_why(&all), "{path}: {all}");
    }
    let found = key.get("/api/sessions/search?query=Lisbon").await.expect(200).text();
    assert!(found.contains("I live in Lisbon") && is_hidden(&found), "{found}");
    let path = "/api/sessions/a";
    for answer in [
        key.post("/api/sessions", json!({ "id": "a" })).await.expect(200),
        key.post(
            &format!("{path}/turns"),
            json!({ "turns": [{ "role": "user", "content": "Hi" }] }),
        )
        .await
        .expect(201),
        key.post(&format!("{path}/close"), json!({})).await.expect(200),
        key.patch(path, json!({ "archived": true })).await.expect(200),
        key.delete(path).await.expect(200),
        key.get("/api/sessions?trashed=true").await.expect(200),
        key.post(&format!("{path}/restore"), json!({})).await.expect(200),
    ] {
        let text = answer.text();
        assert!(is_hidden(&text) && says_why(&text), "{text}");
    }
}

#[tokio::test]
async fn passes_episodes_and_model_calls_are_listed() {
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
    assert_eq!((&pass["prompt"], &pass["model"]), (&json!("extract/4"), &json!("scripted")));
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
    // One pass is one operation; the second pass only adds support to the first one's memory.
    for pass in alice.get("/api/passes").await.json()["data"].as_array().unwrap() {
        let undo = format!("/api/operations/{}/undo", pass["operation_id"].as_str().unwrap());
        alice.post(&undo, json!({})).await.expect(200);
    }
    assert!(alice.get("/api/memory").await.each("id").is_empty());
}

#[tokio::test]
async fn learning_without_a_chat_model_reports_that_nothing_is_learned() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    say(&alice, "c", &["I live in Lisbon."]).await;
    alice.post("/api/sessions/c/learn", json!({})).await.refused(409, "no_chat_model");
    let closed = alice.post("/api/sessions/c/close", json!({})).await.expect(200);
    assert_eq!(closed.json()["learning"], false);
    assert!(app.work().await.is_empty());
}

#[tokio::test]
async fn session_retention_is_set_when_it_is_opened() {
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
    alice.post("/api/sessions", unknown).await.refused(422, "invalid_request");
}

#[tokio::test]
async fn policy_ask_makes_a_proposal_with_its_evidence() {
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
async fn contradiction_is_listed_and_resolved_only_by_its_user() {
    let chat = ScriptedChat::saying(|ask| {
        let data = &ask.messages[1].content;
        let line = data.lines().find(|line| line.contains("Prefers tea")).unwrap_or_default();
        let mut change = proposed_memory("User prefers coffee.", "I prefer coffee");
        change["op"] = json!("update");
        change["target"] = json!(line.split(':').next());
        answer(&[change])
    });
    let app = TestApp::with_models(TestModels::that_chats(std::sync::Arc::new(chat))).await;
    let key = alice(&app).await;
    let human = app.human("acme", "alice").await;
    let tea = human.save("Prefers tea").await.at("/memory/id");
    say(&key, "c", &["I prefer coffee with the cake."]).await;
    key.post("/api/sessions/c/close", json!({})).await.expect(200);
    app.work().await;
    assert_eq!(key.get("/api/memory").await.each("content"), ["Prefers tea"]);
    let pair = key.get("/api/memory/contradictions").await.expect(200);
    assert_eq!(pair.at("/data/0/standing/id"), tea);
    assert_eq!(pair.at("/data/0/against/content"), "User prefers coffee.");
    let path = format!("/api/memory/{}/resolve", pair.at("/data/0/against/id"));
    let against = json!({ "true": "against", "sha256": pair.at("/data/0/against/sha256") });
    key.post(&path, against.clone()).await.refused(403, "human_needed");
    human.post(&path, json!({ "true": "neither" })).await.refused(422, "invalid_request");
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
