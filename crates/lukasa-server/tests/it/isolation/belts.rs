//! What people share without sharing a memory: idempotency keys, cursors, words, rules, domains.
//! Each is used here by somebody it was not given to.

use std::time::Instant;

use lukasa_server::http::LimitSettings;
use serde_json::json;

use super::compare::private_word;
use super::things::Thing;
use crate::app::{Client, TestApp, canary};
use crate::models::Stage;

/// Alice and bob of acme, and the alice of globex, by their names.
async fn people(app: &TestApp) -> [(&'static str, Client); 3] {
    let acme = app.tenant_key("acme").await;
    [
        ("alice", acme.about("alice")),
        ("bob", acme.about("bob")),
        ("globex", app.tenant_key("globex").await.about("alice")),
    ]
}

#[tokio::test]
async fn an_idempotency_key_answers_nobody_but_the_user_who_used_it() {
    let app = TestApp::with_keys().await;
    let mut memories = Vec::new();
    for (name, client) in people(&app).await {
        let once = client.with("idempotency-key", "the same for all");
        let saved = once.save("Prefers window seats").await;
        let again = once.save("Prefers window seats").await;
        assert_eq!(saved.body, again.body, "{name} asks twice");
        memories.push(saved.at("/memory/id"));
        let list = client.get("/api/memory").await.expect(200);
        assert_eq!(list.each("id"), [memories.last().unwrap().as_str()], "{name} has their own");
    }
    memories.dedup();
    assert_eq!(memories.len(), 3, "three people, three effects");
    // Another request under a neighbour's key is no mismatch: the key was never this person's.
    let fresh = app.tenant_key("acme").await.about("carol");
    fresh.with("idempotency-key", "the same for all").save("Prefers the aisle").await;
}

#[tokio::test]
async fn a_cursor_goes_on_with_the_holders_own_list() {
    let app = TestApp::with_keys().await;
    let people = people(&app).await;
    let songs = people.each_ref().map(|(name, _)| canary(name));
    for round in 0..5 {
        for ((_, client), song) in people.iter().zip(&songs) {
            client.save(&format!("{round} {song}")).await;
            let proposal = json!({ "content": format!("proposal {round} {song}") });
            client.post("/api/memory/propose", proposal).await.expect(201);
        }
    }
    for session in ["a", "b", "c", "d", "e"] {
        for ((_, client), song) in people.iter().zip(&songs) {
            let body = json!({ "id": session, "title": song });
            client.post("/api/sessions", body).await.expect(200);
        }
    }
    for path in ["/api/memory", "/api/memory/proposals", "/api/operations", "/api/sessions"] {
        let first = people[0].1.get(&format!("{path}?limit=2")).await.expect(200);
        let cursor = first.at("/next_cursor");
        for (at, (name, client)) in people.iter().enumerate() {
            let page = client.get(&format!("{path}?cursor={cursor}")).await.expect(200);
            let own: Vec<String> = client.get(path).await.expect(200).each("id");
            let found = page.each("id");
            assert!(!found.is_empty(), "{name} goes on from the middle of {path}");
            assert!(found.iter().all(|id| own.contains(id)), "{path}: {name} sees {found:?}");
            let others: Vec<String> = songs
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
async fn two_people_can_hold_the_same_rule_and_say_the_same_words() {
    let app = TestApp::with_keys().await;
    for (name, client) in people(&app).await {
        let rule = json!({
            "content": "Flies economy", "domain": "travel", "key": "class", "value": "economy",
        });
        client.post("/api/memory", rule).await.expect(201);
        // The word occurs in everybody's memory, and names just one of this person's.
        let found = client.get("/api/memory/economy").await.expect(200);
        assert_eq!(found.at("/content"), "Flies economy", "{name}");
    }
}

#[tokio::test]
async fn a_session_of_the_same_name_is_everybodys_own() {
    let app = TestApp::with_models(Stage::with_words()).await;
    let people = people(&app).await;
    let songs = people.each_ref().map(|(name, _)| canary(name));
    for ((_, client), song) in people.iter().zip(&songs) {
        client.save(&format!("Hums {song}")).await;
        let turns = json!({ "turns": [{ "role": "user", "content": format!("I hum {song}") }] });
        let said = client.post("/api/sessions/chat/turns", turns).await.expect(201);
        assert_eq!(said.json()["first"], 1, "each begins at one");
    }
    for ((name, client), own) in people.iter().zip(&songs) {
        let others: Vec<String> = songs.iter().filter(|song| *song != own).cloned().collect();
        let mut answers = vec![client.get("/api/sessions/chat/turns").await];
        for song in &songs {
            // Asked for by its very words, in the session of the same name, and still not found.
            let search =
                json!({ "query": song, "turns": 50, "sessions": 50, "session_id": "chat" });
            let context = json!({ "query": format!("What about {song}?"), "session_id": "chat" });
            answers.push(client.post("/api/memory/search", search).await);
            answers.push(client.post("/api/memory/retrieve", context).await);
        }
        let given = answers.last().unwrap().at("/retrieval_id");
        answers.push(client.noted(&given).await);
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
async fn a_domain_is_opened_by_one_person_for_that_person() {
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
async fn a_tenants_lists_hold_only_its_own() {
    let app = TestApp::with_keys().await;
    let (acme, globex) = (app.tenant_key("acme").await, app.tenant_key("globex").await);
    let song = canary("acme");
    acme.post("/api/users", json!({ "user": song })).await.expect(201);
    acme.post("/api/keys", json!({ "name": song })).await.expect(201);
    acme.put("/api/domains/orchard", json!({ "display_name": song })).await.expect(200);
    let private = [song];
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
async fn what_is_there_takes_as_long_as_what_never_was() {
    const PAIRS: usize = 200;
    let unlimited =
        LimitSettings { user_rate: 100_000, ip_rate: 100_000, ..LimitSettings::default() };
    let app = TestApp::with_limits(&unlimited).await;
    let [(_, alice), (_, bob), _] = people(&app).await;
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
            // One right after the other, and each first as often as second: what else the machine
            // does falls on both alike, and the middle of the differences is left to the server.
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
        // Three standard errors of the median: a machine that is busy with other tests is no leak.
        let noise = 3.0 * 1.86 * median(&mut spread) / (PAIRS as f64).sqrt();
        println!("{method} {path}: {difference:.3} ms between the two, give or take {noise:.3}");
        assert!(difference.abs() < 1.0 + noise, "{difference:.3} ms in {method} {path}");
    }
}
