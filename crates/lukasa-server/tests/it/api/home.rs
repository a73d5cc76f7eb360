//! The answer of the first screen: everything that its own operations return, in one request.

use serde_json::{Value, json};

use crate::app::TestApp;

#[tokio::test]
async fn home_equals_the_answers_of_its_own_operations() {
    let app = TestApp::with_keys().await;
    let agent = app.tenant_key("acme").await.about("alice");
    let alice = app.human("acme", "alice").await;
    let empty = alice.get("/api/home").await.expect(200).json();
    assert_eq!(empty["memories"], json!({ "data": [], "next_cursor": null }));
    assert_eq!(empty["time_zone"], Value::Null);

    let zone = json!({ "content": "Lives in Lisbon time", "domain": "personal", "force": "hard",
                       "key": "timezone", "value": "Europe/Lisbon" });
    alice.post("/api/memory", zone).await.expect(201);
    let kept = alice.save("Drinks tea").await.at("/memory/id");
    let gone = alice.save("Plays chess").await.at("/memory/id");
    alice.post(&format!("/api/memory/{gone}/forget"), json!({})).await.expect(200);
    alice.post(&format!("/api/memory/{kept}/rating"), json!({ "rating": "up" })).await.expect(200);
    agent.post("/api/memory/propose", json!({ "content": "Likes rain" })).await.expect(201);
    alice.put("/api/domains/health/opt-in", json!({})).await.expect(200);
    alice.put("/api/policy", json!({ "titles": false })).await.expect(200);

    let home = alice.get("/api/home").await.expect(200).json();
    let list = alice.get("/api/memory?status=all&limit=200").await.expect(200).json();
    assert_eq!(home["memories"], list);
    let listed = list["data"].as_array().unwrap();
    let has = |field: &str, value: &str| listed.iter().any(|memory| memory[field] == value);
    assert!(has("rating", "up") && has("status", "forgotten") && has("status", "proposed"));
    assert_eq!(home["review"], alice.get("/api/review").await.json());
    assert_eq!(home["domains"], alice.get("/api/domains").await.json()["data"]);
    assert_eq!(home["policy"], alice.get("/api/policy").await.json());
    assert_eq!(home["policy"]["in_force"]["titles"], false);
    assert_eq!(home["time_zone"]["value"], "Europe/Lisbon");
    let rules = alice.get("/api/memory?domain=personal&force=hard").await.json();
    assert_eq!(home["time_zone"], rules["data"][0]);
}

#[tokio::test]
async fn home_time_zone_is_not_that_of_a_project() {
    let app = TestApp::with_keys().await;
    let alice = app.human("acme", "alice").await;
    let zone = |name: &str, project: Option<&str>| {
        json!({ "content": format!("Works in {name} time"), "domain": "personal", "force": "hard",
                "key": "timezone", "value": name, "project": project })
    };
    let found = async || alice.get("/api/home").await.expect(200).at("/time_zone/value");
    alice.post("/api/memory", zone("Asia/Tokyo", Some("apollo"))).await.expect(201);
    assert_eq!(found().await, "");
    alice.post("/api/memory", zone("Europe/Lisbon", None)).await.expect(201);
    alice.post("/api/memory", zone("America/Lima", Some("zeus"))).await.expect(201);
    assert_eq!(found().await, "Europe/Lisbon");
}

#[tokio::test]
async fn home_position_streams_what_changed_since() {
    let app = TestApp::with_keys().await;
    let alice = app.human("acme", "alice").await;
    let before = alice.save("Drinks tea").await.at("/event/operation_id");
    let position = alice.get("/api/home").await.expect(200).at("/position");
    let after = alice.save("Plays chess").await.at("/event/operation_id");
    let path = format!("/api/events?follow=false&after={position}");
    let events = alice.get(&path).await.expect(200).text();
    assert!(events.contains(&after) && !events.contains(&before), "{events}");
}

#[tokio::test]
async fn home_has_one_page_of_memories_and_its_cursor() {
    let app = TestApp::with_keys().await;
    let alice = app.human("acme", "alice").await;
    let item = |number: usize| {
        let words = format!("Owns bicycle number {number}");
        json!({ "item": "memory", "source": format!("b{number}"), "content": words }).to_string()
    };
    let lines: Vec<String> = (0..201).map(item).collect();
    let jsonl = alice.with("content-type", "application/jsonl");
    jsonl.send("POST", "/api/import", lines.join("\n").into()).await.expect(200);
    let home = alice.get("/api/home").await.expect(200);
    assert_eq!(home.json()["memories"]["data"].as_array().unwrap().len(), 200);
    let cursor = home.at("/memories/next_cursor");
    let rest = format!("/api/memory?status=all&limit=200&cursor={cursor}");
    assert_eq!(alice.get(&rest).await.expect(200).each("id").len(), 1);
}
