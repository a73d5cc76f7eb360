//! Identifiers that several users can have: idempotency keys, cursors, words, rules, domains. Each
//! is used here by a user it was not issued to.

use std::time::Instant;

use lukasa_server::api::LimitSettings;
use serde_json::json;

use super::compare::private_word;
use super::things::Thing;
use crate::app::{Client, TestApp, canary};
use crate::models::TestModels;

/// Alice and bob of acme, and the alice of globex, with their names.
async fn test_users(app: &TestApp) -> [(&'static str, Client); 3] {
    let acme = app.tenant_key("acme").await;
    [
        ("alice", acme.about("alice")),
        ("bob", acme.about("bob")),
        ("globex", app.tenant_key("globex").await.about("alice")),
    ]
}

#[tokio::test]
async fn idempotency_keys_are_scoped_to_their_user() {
    let app = TestApp::with_keys().await;
    let mut memories = Vec::new();
    for (name, client) in test_users(&app).await {
        let once = client.with("idempotency-key", "the same for all");
        let saved = once.save("Prefers window seats").await;
        let again = once.save("Prefers window seats").await;
        assert_eq!(saved.body, again.body, "{name} asks twice");
        memories.push(saved.at("/memory/id"));
        let list = client.get("/api/memory").await.expect(200);
        assert_eq!(list.each("id"), [memories.last().unwrap().as_str()], "{name} has their own");
    }
    memories.dedup();
    assert_eq!(memories.len(), 3, "three users, three effects");
    // Another request under a neighbour's key is not a mismatch: this user never used the key.
    let fresh = app.tenant_key("acme").await.about("carol");
    fresh.with("idempotency-key", "the same for all").save("Prefers the aisle").await;
}

#[tokio::test]
async fn foreign_cursor_continues_in_the_callers_own_list() {
    let app = TestApp::with_keys().await;
    let test_users = test_users(&app).await;
    let canary_words = test_users.each_ref().map(|(name, _)| canary(name));
    for round in 0..5 {
        for ((_, client), canary_word) in test_users.iter().zip(&canary_words) {
            client.save(&format!("{round} {canary_word}")).await;
            let proposal = json!({ "content": format!("proposal {round} {canary_word}") });
            client.post("/api/memory/propose", proposal).await.expect(201);
        }
    }
    for session in ["a", "b", "c", "d", "e"] {
        for ((_, client), canary_word) in test_users.iter().zip(&canary_words) {
            let body = json!({ "id": session, "title": canary_word });
            client.post("/api/sessions", body).await.expect(200);
        }
    }
    for path in ["/api/memory", "/api/memory/proposals", "/api/operations", "/api/sessions"] {
        let first = test_users[0].1.get(&format!("{path}?limit=2")).await.expect(200);
        let cursor = first.at("/next_cursor");
        for (at, (name, client)) in test_users.iter().enumerate() {
            let page = client.get(&format!("{path}?cursor={cursor}")).await.expect(200);
            let own: Vec<String> = client.get(path).await.expect(200).each("id");
            let found = page.each("id");
            assert!(!found.is_empty(), "{name} continues from the middle of {path}");
            assert!(found.iter().all(|id| own.contains(id)), "{path}: {name} sees {found:?}");
            let others: Vec<String> = canary_words
                .iter()
                .enumerate()
                .filter(|(i, _)| *i != at)
                .map(|(_, s)| s.clone())
                .collect();
            assert_eq!(private_word(&page, &others), None, "{path} for {name}");
        }
    }
}

#[tokio::test]
async fn users_can_have_the_same_rule_and_content() {
    let app = TestApp::with_keys().await;
    for (name, client) in test_users(&app).await {
        let rule = json!({
            "content": "Flies economy", "domain": "travel", "key": "class", "value": "economy",
        });
        client.post("/api/memory", rule).await.expect(201);
        // The word occurs in every user's memory, and addresses just one memory of this user.
        let found = client.get("/api/memory/economy").await.expect(200);
        assert_eq!(found.at("/content"), "Flies economy", "{name}");
    }
}

#[tokio::test]
async fn session_names_are_scoped_to_their_user() {
    let app = TestApp::with_models(TestModels::with_words()).await;
    let test_users = test_users(&app).await;
    let canary_words = test_users.each_ref().map(|(name, _)| canary(name));
    for ((_, client), canary_word) in test_users.iter().zip(&canary_words) {
        client.save(&format!("Hums {canary_word}")).await;
        let turns =
            json!({ "turns": [{ "role": "user", "content": format!("I hum {canary_word}") }] });
        let appended = client.post("/api/sessions/chat/turns", turns).await.expect(201);
        assert_eq!(appended.json()["first"], 1, "each begins at one");
    }
    for ((name, client), own) in test_users.iter().zip(&canary_words) {
        let others: Vec<String> =
            canary_words.iter().filter(|canary_word| *canary_word != own).cloned().collect();
        let mut answers = vec![client.get("/api/sessions/chat/turns").await];
        for canary_word in &canary_words {
            // Searched by its exact words, in the session of the same name, and still not found.
            let search =
                json!({ "query": canary_word, "turns": 50, "sessions": 50, "session_id": "chat" });
            let context =
                json!({ "query": format!("What about {canary_word}?"), "session_id": "chat" });
            answers.push(client.post("/api/memory/search", search).await);
            answers.push(client.post("/api/memory/retrieve", context).await);
        }
        let given = answers.last().unwrap().at("/retrieval_id");
        answers.push(client.wait_for_retrieval(&given).await);
        answers.push(client.get("/api/sessions/chat/context").await);
        answers.push(client.get("/api/memory/usage").await);
        answers.push(client.get("/api/memory/stats").await);
        for answer in answers {
            let answer = answer.expect(200);
            assert_eq!(private_word(&answer, &others), None, "{name}: {}", answer.text());
        }
        let stats = client.get("/api/memory/stats").await.json();
        assert_eq!((&stats["sessions"], &stats["turns"]), (&json!(1), &json!(1)), "{name}");
    }
}

#[tokio::test]
async fn domain_opt_in_applies_to_one_user() {
    let app = TestApp::with_keys().await;
    let alice = app.human("acme", "alice").await;
    alice.put("/api/domains/health/opt-in", json!({})).await.expect(200);
    let body = json!({ "content": "Takes ibuprofen", "domain": "health" });
    alice.post("/api/memory", body.clone()).await.expect(201);
    for other in [app.human("acme", "bob").await, app.human("globex", "alice").await] {
        other.post("/api/memory", body.clone()).await.refused(403, "opt_in_needed");
        let domains = other.get("/api/domains").await.expect(200).json();
        let health = domains["data"].as_array().unwrap().iter().find(|d| d["name"] == "health");
        assert!(health.unwrap()["opted_in_at"].is_null());
    }
}

#[tokio::test]
async fn tenant_lists_contain_only_rows_of_the_tenant() {
    let app = TestApp::with_keys().await;
    let (acme, globex) = (app.tenant_key("acme").await, app.tenant_key("globex").await);
    let canary_word = canary("acme");
    acme.post("/api/users", json!({ "user": canary_word })).await.expect(201);
    acme.post("/api/keys", json!({ "name": canary_word })).await.expect(201);
    acme.put("/api/domains/orchard", json!({ "display_name": canary_word })).await.expect(200);
    let private = [canary_word];
    for path in ["/api/users", "/api/keys", "/api/domains"] {
        let (own, other) = (acme.about("bob").get(path).await, globex.about("bob").get(path).await);
        assert!(private_word(&own.expect(200), &private).is_some(), "{path} lists it for acme");
        assert_eq!(private_word(&other.expect(200), &private), None, "{path} for globex");
    }
}

fn median(numbers: &mut [f64]) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}

#[tokio::test]
async fn foreign_ids_and_unknown_ids_take_the_same_time() {
    const PAIRS: usize = 200;
    let unlimited =
        LimitSettings { user_rate: 100_000, ip_rate: 100_000, ..LimitSettings::default() };
    let app = TestApp::with_limits(&unlimited).await;
    let [(_, alice), (_, bob), _] = test_users(&app).await;
    let saved = alice.save("Likes tea").await;
    bob.save("Likes mate").await;
    let turns = json!({ "turns": [{ "role": "user", "content": "hello" }] });
    alice.post("/api/sessions/chat-4f0/turns", turns).await.expect(201);
    let session = "chat-4f0".to_owned();
    let (id, operation) = (saved.at("/memory/id"), saved.at("/event/operation_id"));
    for (method, path, thing, real) in [
        ("GET", "/api/memory/{}", Thing::Memory(""), &id),
        ("POST", "/api/memory/{}/forget", Thing::Memory(""), &id),
        ("GET", "/api/operations/{}", Thing::Operation, &operation),
        ("GET", "/api/sessions/{}/turns", Thing::Session, &session),
    ] {
        let twin = thing.twin(real);
        let mut differences = Vec::new();
        for pair in 0..PAIRS {
            // One right after the other, and each first as often as second: other load on the
            // machine affects both alike, and the median of the differences is the server's.
            let mut took = [0.0; 2];
            for turn in [pair % 2, 1 - pair % 2] {
                let path = path.replace("{}", [real, &twin][turn]);
                let start = Instant::now();
                bob.call(method, &path, None).await.expect(404);
                took[turn] = start.elapsed().as_secs_f64() * 1e3;
            }
            differences.push(took[0] - took[1]);
        }
        let difference = median(&mut differences);
        let mut spread: Vec<f64> = differences.iter().map(|d| (d - difference).abs()).collect();
        // Three standard errors of the median: a machine that is busy with other tests is not a leak.
        let noise = 3.0 * 1.86 * median(&mut spread) / (PAIRS as f64).sqrt();
        println!("{method} {path}: {difference:.3} ms between the two, give or take {noise:.3}");
        assert!(difference.abs() < 1.0 + noise, "{difference:.3} ms in {method} {path}");
    }
}
