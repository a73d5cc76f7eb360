//! What learning left out over HTTP: listed with its words, kept by the user, and asked about if its
//! domain is closed; and how far learning from a session is.

use serde_json::{Value, json};

use crate::app::TestApp;
use crate::models::{TestModels, proposed_memory, proposing_chat};

/// A server whose model finds a diagnosis and the user's city, where they were said.
async fn server() -> TestApp {
    let memories = vec![
        proposed_memory("User was diagnosed with diabetes.", "I was diagnosed with diabetes"),
        proposed_memory("User lives in Lisbon.", "I live in Lisbon"),
    ];
    TestApp::with_models(TestModels::that_chats(proposing_chat(memories))).await
}

/// Appends a turn to a session, closes it and runs its jobs; returns the pass.
async fn learn(app: &TestApp, client: &crate::app::Client, words: &str) -> Value {
    let body = json!({ "turns": [{ "role": "user", "content": words }] });
    client.post("/api/sessions/c/turns", body).await.expect(201);
    client.post("/api/sessions/c/close", json!({})).await.expect(200);
    app.work().await;
    client.get("/api/passes?session_id=c").await.expect(200).json()["data"][0].clone()
}

#[tokio::test]
async fn left_out_sentence_is_listed_and_kept_by_a_human_only() {
    let app = server().await;
    let (key, human) =
        (app.application_key("acme").await.about("alice"), app.human("acme", "alice").await);
    human.put("/api/policy", json!({ "admission": "off" })).await.expect(200);
    let pass = learn(&app, &key, "Hi. I live in Lisbon. Bye.").await;
    assert_eq!(pass["left_out_more"], 1, "the diagnosis has no sentence: {pass}");
    let item = &pass["left_out"][0];
    assert_eq!(
        (&item["place"], &item["reason"], &item["words"]),
        (&json!(1), &json!("off"), &json!("I live in Lisbon."))
    );
    let path = format!("/api/passes/{}/left-out/1/keep", pass["id"].as_str().unwrap());
    key.post(&path, json!({})).await.refused(403, "human_needed");
    let kept = human.post(&path, json!({})).await;
    assert!(kept.is_good(), "{}", kept.text());
    assert_eq!(kept.at("/memory/content"), "I live in Lisbon.");
    assert_eq!(kept.json()["memory"]["turn_ids"], json!([item["turn_id"]]));
    let again = human.post(&path, json!({})).await;
    assert_eq!(again.at("/memory/id"), kept.at("/memory/id"));
    let passes = human.get("/api/passes").await.json();
    assert_eq!(passes["data"][0]["left_out"][0]["memory_id"], kept.at("/memory/id"));
    for path in [path.replace("/1/", "/2/"), path.replace("/1/", "/x/")] {
        human.post(&path, json!({})).await.refused(404, "left_out_not_found");
    }
    human.post("/api/passes/x/left-out/1/keep", json!({})).await.refused(404, "left_out_not_found");
}

#[tokio::test]
async fn closed_domain_question_is_in_the_review_and_its_answers_work() {
    let app = server().await;
    let (key, human) =
        (app.application_key("acme").await.about("alice"), app.human("acme", "alice").await);
    let pass = learn(&app, &key, "I was diagnosed with diabetes.").await;
    let item = &pass["left_out"][0];
    assert_eq!(
        (&item["reason"], &item["domain"], &item["words"]),
        (&json!("closed_domain"), &json!("health"), &Value::Null)
    );
    let review = key.get("/api/review").await.expect(200);
    assert!(!review.text().contains("diabetes"), "{}", review.text());
    assert_eq!(review.at("/domains/0/question"), "You mentioned health. Open it?");
    let yes = &review.json()["domains"][0]["yes"];
    assert_eq!(
        (yes["method"].as_str(), review.json()["domains"][0]["no"]["method"].as_str()),
        (Some("PUT"), Some("DELETE"))
    );
    let path = yes["path"].as_str().unwrap();
    key.put(path, json!({})).await.refused(403, "human_needed");
    human.put(path, json!({})).await.expect(200);
    assert_eq!(human.get("/api/review").await.json()["domains"], json!([]));
    app.work().await;
    let proposals = human.get("/api/memory/proposals").await.expect(200);
    assert_eq!(proposals.each("content"), ["User was diagnosed with diabetes."]);
}

#[tokio::test]
async fn session_says_what_learning_waits_for_and_what_came_of_it() {
    let app = server().await;
    let key = app.application_key("acme").await.about("alice");
    let body = json!({ "turns": [{ "role": "user", "content": "I live in Lisbon." }] });
    key.post("/api/sessions/c/turns", body).await.expect(201);
    let learning = key.get("/api/sessions/c").await.expect(200).json()["learning"].clone();
    assert_eq!(
        (&learning["state"], &learning["learned_at"]),
        (&json!("waiting_for_pause"), &Value::Null)
    );
    assert!(learning["starts_at"].is_string(), "{learning}");
    key.post("/api/sessions/c/close", json!({})).await.expect(200);
    assert_eq!(key.get("/api/sessions/c").await.at("/learning/state"), "queued");
    app.work().await;
    let learning = key.get("/api/sessions/c").await.expect(200).json()["learning"].clone();
    assert_eq!((&learning["state"], &learning["learned"]), (&json!("learned"), &json!(1)));
    assert_eq!(
        (&learning["left_out"], &learning["proposed"]),
        (&json!(1), &json!(0)),
        "{learning}"
    );
    let list = key.get("/api/sessions").await.expect(200).json();
    assert_eq!(list["data"][0]["learning"], Value::Null, "only for one session");
}
