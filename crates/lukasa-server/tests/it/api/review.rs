//! The review: all questions for the user, each answered in one call (R118, R206); and
//! consolidation on demand.

use serde_json::{Value, json};

use crate::app::{Client, TestApp};
use crate::models::{TestModels, proposed_memory, proposing_chat};

/// The review items of a kind.
async fn items(client: &Client, kind: &str) -> Vec<Value> {
    let all = client.get("/api/review").await.expect(200).json();
    let all = all["data"].as_array().unwrap().clone();
    all.into_iter().filter(|item| item["kind"] == kind).collect()
}

async fn answer(client: &Client, item: &Value, with: &str) {
    let path = item[with]["path"].as_str().unwrap();
    client.post(path, item[with]["body"].clone()).await.expect(200);
}

#[tokio::test]
async fn review_proposal_is_answered_by_its_action() {
    let app = TestApp::with_keys().await;
    let agent = app.tenant_key("acme").await.about("alice");
    let human = app.human("acme", "alice").await;
    for content in ["Likes tea", "Likes rain"] {
        agent.post("/api/memory/propose", json!({ "content": content })).await.expect(201);
    }
    let asked = items(&human, "proposal").await;
    assert_eq!(asked.len(), 2);
    for item in &asked {
        let right = item["memory"]["content"] == "Likes tea";
        answer(&human, item, if right { "yes" } else { "no" }).await;
    }
    assert_eq!(human.get("/api/memory").await.each("content"), ["Likes tea"]);
    assert!(items(&human, "proposal").await.is_empty());
}

#[tokio::test]
async fn review_counts_include_what_is_not_listed() {
    let app = TestApp::with_keys().await;
    let agent = app.tenant_key("acme").await.about("alice");
    let human = app.human("acme", "alice").await;
    let counts = async || human.get("/api/review").await.expect(200).json()["counts"].clone();
    assert_eq!(counts().await["proposals"], 0);
    for n in 0..53 {
        let body = json!({ "content": format!("Owns book number {n}") });
        agent.post("/api/memory/propose", body).await.expect(201);
    }
    assert_eq!(items(&human, "proposal").await.len(), 50);
    let none = json!({ "proposals": 53, "contradictions": 0, "outdated": 0, "candidates": 0,
                       "learned": 0 });
    assert_eq!(counts().await, none);
    let home = human.get("/api/home").await.expect(200).json();
    assert_eq!(home["review"]["counts"], none);
    for item in items(&human, "proposal").await.iter().take(4) {
        answer(&human, item, "no").await;
    }
    assert_eq!(items(&human, "proposal").await.len(), 49);
    assert_eq!(counts().await["proposals"], 49);
}

#[tokio::test]
async fn review_answers_in_one_request_have_a_result_and_an_operation_each() {
    let app = TestApp::with_keys().await;
    let agent = app.tenant_key("acme").await.about("alice");
    let human = app.human("acme", "alice").await;
    for content in ["Likes tea", "Likes rain"] {
        agent.post("/api/memory/propose", json!({ "content": content })).await.expect(201);
    }
    let chess = human.save("Plays chess").await.at("/memory/id");
    let asked = items(&human, "proposal").await;
    let mut answers: Vec<Value> = asked
        .iter()
        .map(|item| {
            let memory = &item["memory"];
            json!({ "memory_id": memory["id"], "confirm": memory["content"] == "Likes tea",
                    "sha256": memory["sha256"] })
        })
        .collect();
    answers.push(json!({ "memory_id": chess, "confirm": false }));
    answers.push(json!({ "memory_id": "mem_nonsense", "confirm": true }));
    let body = json!({ "answers": answers });
    // Only the user answers proposals.
    let yes = answers.iter().find(|answer| answer["confirm"] == true).unwrap();
    let of_agent = json!({ "answers": [yes] });
    let refused = agent.post("/api/review/answers", of_agent).await.expect(200).json();
    assert_eq!(refused["data"][0]["problem"]["code"], "human_needed");

    let once = human.with("idempotency-key", "bulk");
    let done = once.post("/api/review/answers", body.clone()).await.expect(200).json();
    let results = done["data"].as_array().unwrap();
    assert_eq!(results.len(), 4);
    assert_eq!(results[3]["problem"]["code"], "memory_not_found");
    assert_eq!(once.post("/api/review/answers", body).await.expect(200).json(), done);
    assert_eq!(human.get("/api/memory").await.each("content"), ["Likes tea"]);

    let operation = |result: &Value| result["written"]["event"]["operation_id"].clone();
    let operations: Vec<Value> = results[..2].iter().map(operation).collect();
    assert_ne!(operations[0], operations[1]);
    for operation in operations {
        let undo = format!("/api/operations/{}/undo", operation.as_str().unwrap());
        human.post(&undo, json!({})).await.expect(200);
    }
    assert_eq!(items(&human, "proposal").await.len(), 2);
}

#[tokio::test]
async fn review_answers_refuse_if_match() {
    let app = TestApp::with_keys().await;
    let agent = app.tenant_key("acme").await.about("alice");
    let human = app.human("acme", "alice").await;
    agent.post("/api/memory/propose", json!({ "content": "Likes tea" })).await.expect(201);
    let [asked] = &items(&human, "proposal").await[..] else { panic!("one") };
    let answer = json!({ "memory_id": asked["memory"]["id"], "confirm": true,
                         "sha256": asked["memory"]["sha256"] });
    let body = json!({ "answers": [answer] });
    let tag = "\"ver_00000000000000000000000000\"";
    let conditional = human.with("if-match", tag);
    conditional.post("/api/review/answers", body.clone()).await.refused(400, "malformed_header");
    assert_eq!(items(&human, "proposal").await.len(), 1);
    human.post("/api/review/answers", body).await.expect(200);
    assert_eq!(human.get("/api/memory").await.each("content"), ["Likes tea"]);
}

#[tokio::test]
async fn review_answers_are_limited_to_two_hundred() {
    let app = TestApp::with_keys().await;
    let human = app.human("acme", "alice").await;
    let answer = json!({ "memory_id": "mem_nonsense", "confirm": true });
    for count in [0, 201] {
        let body = json!({ "answers": vec![answer.clone(); count] });
        human.post("/api/review/answers", body).await.refused(422, "invalid_request");
    }
    let body = json!({ "answers": vec![answer; 200] });
    let results = human.post("/api/review/answers", body).await.expect(200).json();
    assert_eq!(results["data"].as_array().unwrap().len(), 200);
}

#[tokio::test]
async fn review_lists_contradiction_of_active_memories_and_each_answer_settles_it() {
    let app = TestApp::with_keys().await;
    for (with, left) in [
        ("yes", vec!["User lives in Porto."]),
        ("no", vec!["User lives in Lyon."]),
        ("both", vec!["User lives in Lyon.", "User lives in Porto."]),
    ] {
        let human = app.human("acme", with).await;
        for content in ["User lives in Porto.", "User lives in Lyon."] {
            human.post("/api/memory", json!({ "content": content })).await.expect(201);
        }
        let done = human.post("/api/consolidate", json!({})).await.expect(200);
        assert_eq!(done.at("/steps/0/what"), "contradict");
        let [asked] = &items(&human, "contradiction").await[..] else { panic!("one") };
        assert_eq!(asked["memory"]["content"], "User lives in Porto.");
        assert_eq!(asked["against"]["id"], done.json()["steps"][0]["memory_id"]);
        assert_eq!(asked["memory"]["id"], done.json()["steps"][0]["other_id"]);
        answer(&human, asked, with).await;
        assert!(items(&human, "contradiction").await.is_empty());
        let mut active = human.get("/api/memory").await.each("content");
        active.sort();
        assert_eq!(active, left, "{with}");
    }
}

#[tokio::test]
async fn review_asks_about_refuted_memories_and_confirm_settles_them() {
    let app = TestApp::with_keys().await;
    let agent = app.tenant_key("acme").await.about("alice");
    let human = app.human("acme", "alice").await;
    let saved = human.post("/api/memory", json!({ "content": "Drinks tea" })).await.expect(201);
    assert!(items(&human, "outdated").await.is_empty());
    let wrong = json!({ "memory_id": saved.at("/memory/id"), "type": "contradicted" });
    agent.post("/api/memory/usage", wrong).await.expect(201);
    let [outdated] = &items(&human, "outdated").await[..] else { panic!("one outdated memory") };
    assert_eq!(outdated["memory"]["content"], "Drinks tea");
    answer(&human, outdated, "yes").await;
    assert!(items(&human, "outdated").await.is_empty());
}

#[tokio::test]
async fn review_lists_recently_learned_memories_and_reject_removes_them() {
    let memories = vec![proposed_memory("User lives in Lisbon.", "I live in Lisbon")];
    let app = TestApp::with_models(TestModels::that_chats(proposing_chat(memories))).await;
    let alice = app.tenant_key("acme").await.about("alice");
    let turns = json!({ "turns": [{ "role": "user", "content": "I live in Lisbon." }] });
    alice.post("/api/sessions/c/turns", turns).await.expect(201);
    alice.post("/api/sessions/c/close", json!({})).await.expect(200);
    app.work().await;
    let human = app.human("acme", "alice").await;
    let [news] = &items(&human, "learned").await[..] else { panic!("one piece of news") };
    for (path, periodic) in [("/api/review", "/periodic"), ("/api/home", "/review/periodic")] {
        let answer = human.get(path).await.expect(200).json();
        let expected = json!({ "last": null, "due": false, "learned_since": 1 });
        assert_eq!(answer.pointer(periodic), Some(&expected), "{path}");
    }
    assert_eq!(news["memory"]["turn_ids"].as_array().unwrap().len(), 1);
    answer(&human, news, "no").await;
    assert!(items(&human, "learned").await.is_empty());
    let periodic = human.get("/api/review").await.json()["periodic"].clone();
    assert_eq!((&periodic["last"].is_string(), &periodic["learned_since"]), (&true, &json!(0)));
    assert!(human.get("/api/memory").await.each("id").is_empty());
}

#[tokio::test]
async fn consolidation_runs_on_demand_and_has_a_dry_run() {
    let memories = vec![proposed_memory("User lives in Lisbon.", "I live in Lisbon")];
    let app = TestApp::with_models(TestModels::that_chats(proposing_chat(memories))).await;
    let alice = app.tenant_key("acme").await.about("alice");
    for session in 0..5 {
        let turns = json!({ "turns": [{ "role": "user", "content": "I live in Lisbon." }] });
        alice.post(&format!("/api/sessions/s{session}/turns"), turns).await.expect(201);
        alice.post(&format!("/api/sessions/s{session}/close"), json!({})).await.expect(200);
        app.work().await;
    }
    let dry = alice.post("/api/consolidate", json!({ "dry_run": true })).await.expect(200);
    assert_eq!(dry.at("/steps/0/what"), "promote");
    assert_eq!(dry.json()["operation_id"], Value::Null);
    let done = alice.post("/api/consolidate", json!({})).await.expect(200);
    assert_eq!(done.at("/steps/0/after/tier"), "strong");
    let undo = format!("/api/operations/{}/undo", done.at("/operation_id"));
    alice.post(&undo, json!({})).await.expect(200);
    assert_eq!(alice.get("/api/memory").await.json()["data"][0]["tier"], "tentative");
}
