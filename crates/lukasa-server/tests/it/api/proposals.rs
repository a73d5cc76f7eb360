//! Proposals: an agent proposes, a human answers, and a confirmation names the digest of the shown
//! content (R192).

use serde_json::json;

use crate::app::TestApp;

#[tokio::test]
async fn proposal_is_accepted_only_by_a_human_and_by_its_digest() {
    let app = TestApp::with_keys().await;
    let agent = app.tenant_key("acme").await.about("alice");
    let human = app.human("acme", "alice").await;
    let body = json!({ "content": "Orders from Kroger", "reasoning": "five orders" });
    let proposed = agent.post("/api/memory/propose", body).await.expect(201);
    assert_eq!(proposed.at("/event/type"), "memory.proposed");
    assert_eq!(proposed.at("/memory/status"), "proposed");
    assert_eq!(proposed.at("/memory/source"), "agent_proposed");
    let (id, digest) = (proposed.at("/memory/id"), proposed.at("/memory/sha256"));
    assert_eq!(digest.len(), 64);
    assert!(agent.get("/api/memory").await.expect(200).each("id").is_empty());
    let waiting = human.get("/api/memory/proposals").await.expect(200);
    assert_eq!(
        (waiting.each("id"), waiting.each("sha256")),
        (vec![id.clone()], vec![digest.clone()])
    );

    let path = format!("/api/memory/{id}/confirm");
    let yes = json!({ "confirm": true, "sha256": digest });
    agent.post(&path, yes.clone()).await.refused(403, "human_needed");
    agent.post(&path, json!({ "confirm": true })).await.refused(403, "human_needed");
    let other = json!({ "confirm": true, "sha256": "0".repeat(64) });
    human.post(&path, other).await.refused(409, "other_words");
    let confirmed = human.post(&path, yes.clone()).await.expect(200);
    assert_eq!(confirmed.at("/memory/status"), "active");
    assert!(confirmed.json()["memory"]["consented_at"].is_string());
    assert!(confirmed.json()["memory"]["sha256"].is_null());
    assert!(human.get("/api/memory/proposals").await.expect(200).each("id").is_empty());
    assert_eq!(agent.get("/api/memory").await.each("content"), ["Orders from Kroger"]);

    // A second confirm is an affirmation, a second reject is too late; both are reported as such.
    assert_eq!(human.post(&path, yes).await.expect(200).at("/event/type"), "memory.confirmed");
    human.post(&path, json!({ "confirm": false })).await.refused(409, "not_proposed");
    let edit = json!({ "edits": { "content": "Orders from Aldi" } });
    human.post(&path, edit).await.refused(422, "invalid_request");
}

#[tokio::test]
async fn proposal_is_accepted_by_a_plain_yes_of_the_user() {
    let app = TestApp::with_keys().await;
    let human = app.human("acme", "alice").await;
    let body = json!({ "type": "SOFT", "domain": "shopping", "content": "Prefers Kroger",
        "confidence": 0.6, "evidence": ["Last 5 orders were Kroger"] });
    let proposed = human.post("/api/memory/propose", body.clone()).await.expect(201);
    assert_eq!(proposed.json()["memory"]["confidence"], 0.6);
    assert_eq!(proposed.at("/memory/evidence/0/description"), "Last 5 orders were Kroger");
    let path = format!("/api/memory/{}/confirm", proposed.at("/memory/id"));
    let yes = json!({ "confirm": true });
    let stale = human.with("if-match", "\"ver_00000000000000000000000000\"");
    stale.post(&path, yes.clone()).await.refused(412, "version_mismatch");
    let confirmed = human.post(&path, yes).await.expect(200);
    assert_eq!(confirmed.at("/memory/status"), "active");
    let asked = human.post("/api/memory/retrieve", json!({ "query": "groceries?" })).await;
    assert!(asked.at("/context").contains("Prefers Kroger (confirmed"), "{}", asked.at("/context"));
    // A memory that is saved is stated, so a confidence says nothing about it.
    human.post("/api/memory", body).await.refused(422, "invalid_request");
}

#[tokio::test]
async fn proposal_of_an_agent_names_its_source_and_keeps_verified_evidence() {
    let app = TestApp::with_keys().await;
    let agent = app.tenant_key("acme").await.about("alice");
    let human = app.human("acme", "alice").await;
    let turns = json!({ "turns": [{ "role": "user", "content": "I went to Kroger again." }] });
    human.post("/api/sessions", json!({ "id": "shop" })).await.expect(200);
    assert!(human.post("/api/sessions/shop/turns", turns).await.is_good());
    let evidence = json!([
        { "type": "pattern", "description": "The last five orders were on Saturdays" },
        { "type": "quote", "description": "I went to Kroger again" },
        { "type": "quote", "description": "I never shop on any other day" },
        { "type": "chat", "description": "shop" },
    ]);
    let body = json!({ "content": "Buys groceries on Saturdays", "confidence": 0.6,
        "session_id": "shop", "evidence": evidence });
    let proposed = agent.post("/api/memory/propose", body).await.expect(201);
    assert_eq!(proposed.at("/memory/source"), "agent_proposed");
    assert_eq!(proposed.at("/memory/origin"), "assistant");
    assert_eq!(proposed.json()["memory"]["confidence"], 0.6);
    let waiting = human.get("/api/memory/proposals").await.expect(200);
    let kept = waiting.json()["data"][0]["evidence"].as_array().unwrap().clone();
    let described: Vec<_> = kept.iter().map(|one| one["description"].as_str().unwrap()).collect();
    let expected = ["The last five orders were on Saturdays", "I went to Kroger again"];
    assert_eq!(described, expected, "what the user never said is not evidence");
    assert!(kept[0]["turn_id"].is_null() && kept[1]["turn_id"].is_string(), "{kept:?}");

    // What an agent saves without asking the user carries no evidence of its own.
    let note = json!([{ "type": "pattern", "description": "It rained on five days" }]);
    let saved = json!({ "content": "Likes to walk in the rain", "evidence": note });
    let saved = agent.post("/api/memory", saved).await.expect(201);
    assert!(saved.json()["memory"]["evidence"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn proposal_can_be_edited_or_rejected_by_a_human() {
    let app = TestApp::with_keys().await;
    let agent = app.tenant_key("acme").await.about("alice");
    let human = app.human("acme", "alice").await;
    let propose = async |content: &str| {
        agent.post("/api/memory/propose", json!({ "content": content })).await.expect(201)
    };
    let one = propose("Orders from Kroger").await;
    let path = format!("/api/memory/{}/confirm", one.at("/memory/id"));
    let edits = json!({ "content": "Orders from Aldi", "importance": 0.9 });
    let yes = json!({ "sha256": one.at("/memory/sha256"), "edits": edits });
    let edited = human.post(&path, yes).await.expect(200);
    assert_eq!(edited.at("/memory/content"), "Orders from Aldi");
    assert_eq!(edited.at("/memory/origin"), "user_said", "the content is the user's own now");

    let two = propose("Dislikes rain").await;
    let path = format!("/api/memory/{}/confirm", two.at("/memory/id"));
    let no = human.post(&path, json!({ "confirm": false })).await.expect(200);
    assert_eq!(no.at("/event/type"), "memory.rejected");
    assert_eq!(human.get("/api/memory").await.each("content"), ["Orders from Aldi"]);
    assert!(human.get("/api/memory/proposals").await.each("id").is_empty());

    let wrong = json!({ "sha256": "x", "edits": { "colour": "red" } });
    human.post(&path, wrong).await.refused(400, "malformed_body");
}

#[tokio::test]
async fn proposal_changed_after_display_needs_a_new_confirmation() {
    let app = TestApp::with_keys().await;
    let agent = app.tenant_key("acme").await.about("alice");
    let human = app.human("acme", "alice").await;
    let shown = agent.post("/api/memory/propose", json!({ "content": "Likes tea" })).await;
    let same = agent.post("/api/memory/propose", json!({ "content": "Likes tea" })).await;
    assert_ne!(shown.at("/memory/id"), "");
    // Proposed several times it is one proposal, and the digest is of its content.
    assert_eq!(same.at("/memory/id"), shown.at("/memory/id"));
    assert_eq!(same.at("/memory/sha256"), shown.at("/memory/sha256"));
    let other = json!({ "content": "Likes tea, and everything else" });
    let other = agent.post("/api/memory/propose", other).await;
    assert_ne!(other.at("/memory/sha256"), shown.at("/memory/sha256"));
    let path = format!("/api/memory/{}/confirm", other.at("/memory/id"));
    let bait = json!({ "sha256": shown.at("/memory/sha256") });
    human.post(&path, bait).await.refused(409, "other_words");
}

#[tokio::test]
async fn pending_proposals_are_paged() {
    let app = TestApp::with_keys().await;
    let agent = app.tenant_key("acme").await.about("alice");
    for number in 0..5 {
        let body = json!({ "content": format!("proposal {number}") });
        agent.post("/api/memory/propose", body).await.expect(201);
    }
    let first = agent.get("/api/memory/proposals?limit=3").await.expect(200);
    let cursor = first.at("/next_cursor");
    let rest = agent.get(&format!("/api/memory/proposals?limit=3&cursor={cursor}")).await;
    let contents = [first.each("content"), rest.each("content")].concat();
    let expected: Vec<String> = (0..5).rev().map(|number| format!("proposal {number}")).collect();
    assert_eq!(contents, expected);
    agent.get("/api/memory/proposals?status=all").await.refused(400, "malformed_query");
}

#[tokio::test]
async fn propose_only_key_cannot_do_anything_else() {
    let app = TestApp::with_keys().await;
    let agent =
        app.key_with_permissions("acme", &[lukasa_core::Permission::Propose]).await.about("alice");
    let body = json!({ "content": "Likes tea" });
    agent.post("/api/memory/propose", body.clone()).await.expect(201);
    let save = agent.post("/api/memory", body).await.refused(403, "forbidden");
    assert!(save.at("/detail").contains("`write`"), "{}", save.text());
    agent.get("/api/memory").await.refused(403, "forbidden");
    agent.get("/api/users").await.refused(403, "forbidden");
}
