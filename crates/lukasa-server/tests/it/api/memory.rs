//! Memories over HTTP: save, list with every filter, get, update, correct, delete (R190, R191).

use std::sync::Arc;

use lukasa_models::scripted::ScriptedModel;
use serde_json::{Value, json};

use crate::app::{Client, TestApp};
use crate::models::TestModels;

async fn alice(app: &TestApp) -> Client {
    app.application_key("acme").await.about("alice")
}

#[tokio::test]
async fn save_returns_the_memory_the_event_and_a_message() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let body = json!({
        "content": "Prefers window seats", "domain": "travel", "category": "preference",
        "kind": "preference", "tags": ["seat"], "importance": 0.8, "session_id": "s1",
        "turn_ids": ["t1"], "evidence": [{ "type": "pattern", "description": "five flights" }],
        "reasoning": "chose it every time",
    });
    let saved = alice.post("/api/memory", body.clone()).await.expect(201);
    assert_eq!(saved.header("location"), None);
    assert_eq!(saved.header("content-type"), Some("application/json"));
    let json = saved.json();
    let keys: Vec<_> = json.as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["memory", "event", "message"]);
    let (memory, event) = (&json["memory"], &json["event"]);
    assert_eq!(memory["status"], "active");
    assert_eq!(memory["version"], 1);
    assert_eq!(memory["category"], "style", "a name of another system is understood");
    assert_eq!(memory["source"], "user_explicit");
    assert_eq!(memory["evidence"][0]["description"], "five flights");
    assert_eq!(memory["turn_ids"], json!(["t1"]));
    assert_eq!(event["type"], "memory.saved");
    assert_eq!(event["memory_ids"][0], memory["id"]);
    let operation = event["operation_id"].as_str().unwrap();
    assert_eq!(event["undo"]["href"], format!("/api/operations/{operation}/undo"));
    assert_eq!(saved.at("/message"), "Saved: Prefers window seats");
    let tag = format!("\"{}\"", memory["version_id"].as_str().unwrap());
    assert_eq!(saved.header("etag"), Some(tag.as_str()));

    let again = alice.post("/api/memory", body).await.expect(200);
    assert_eq!(again.at("/memory/id"), saved.at("/memory/id"));
    assert_eq!(again.at("/event/type"), "memory.unchanged");
    assert!(again.json()["event"]["operation_id"].is_null());
    let got = alice.get(&format!("/api/memory/{}", saved.at("/memory/id"))).await.expect(200);
    assert_eq!(got.header("etag"), Some(tag.as_str()));
    assert_eq!(got.json(), *memory);
}

#[tokio::test]
async fn memory_list_filters_cover_every_attribute() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    for body in [
        json!({
            "content": "Flies economy", "type": "HARD", "domain": "travel",
            "key": "class", "value": "economy",
        }),
        json!({
            "content": "Likes the sea", "domain": "travel", "category": "profile",
            "tags": ["water"],
        }),
        json!({ "content": "Knows Rust", "type": "procedural", "kind": "skill" }),
        json!({
            "content": "Was in Rome in May", "type": "episodic",
            "valid_from": "2019-01-01", "valid_until": "2020-01-01",
        }),
        json!({ "content": "Moves to Oslo", "valid_from": "2999-01-01" }),
    ] {
        alice.post("/api/memory", body).await.expect(201);
    }
    let gone = alice.save("Liked sushi").await.at("/memory/id");
    alice.post(&format!("/api/memory/{gone}/forget"), json!({})).await.expect(200);
    let trash = alice.save("Had a cat").await.at("/memory/id");
    alice.delete(&format!("/api/memory/{trash}")).await.expect(200);
    alice.post("/api/memory/propose", json!({ "content": "Orders from Kroger" })).await.expect(201);
    let changed = alice.save("Lives in Lisbon").await.at("/memory/id");
    let porto = json!({ "content": "Lives in Porto" });
    alice.patch(&format!("/api/memory/{changed}"), porto).await.expect(200);

    let cases: [(&str, &[&str]); 19] = [
        ("", &["Lives in Porto", "Knows Rust", "Likes the sea", "Flies economy"]),
        ("type=hard", &["Flies economy"]),
        ("type=HARD", &["Flies economy"]),
        ("force=hard", &["Flies economy"]),
        ("type=soft", &["Lives in Porto", "Knows Rust", "Likes the sea"]),
        ("type=procedural", &["Knows Rust"]),
        ("kind=skill", &["Knows Rust"]),
        ("category=profile", &["Likes the sea"]),
        ("domain=travel", &["Likes the sea", "Flies economy"]),
        ("domain=travel&type=soft", &["Likes the sea"]),
        ("tag=water", &["Likes the sea"]),
        ("tier=strong&tag=water", &["Likes the sea"]),
        ("search=LIVES", &["Lives in Porto"]),
        ("search=%25", &[]),
        ("status=expired", &["Was in Rome in May"]),
        ("status=upcoming", &["Moves to Oslo"]),
        ("status=forgotten", &["Liked sushi"]),
        ("status=trashed", &["Had a cat"]),
        ("status=proposed", &["Orders from Kroger"]),
    ];
    for (query, expected) in cases {
        let list = alice.get(&format!("/api/memory?{query}")).await.expect(200);
        assert_eq!(list.each("content"), expected, "{query}");
        assert!(list.json()["next_cursor"].is_null());
    }
    let superseded = alice.get("/api/memory?status=superseded").await.expect(200);
    assert_eq!(superseded.each("content"), ["Lives in Lisbon"]);
    assert_eq!(superseded.each("status"), ["superseded"]);
    let all = alice.get("/api/memory?status=all").await.expect(200);
    assert_eq!(all.each("id").len(), 10, "nothing is hidden: {:?}", all.each("content"));
    for wrong in [
        "status=gone",
        "type=firm",
        "kind=x",
        "category=x",
        "tier=x",
        "limit=0",
        "limit=201",
        "limit=x",
        "as_of=soon",
        "nonsense=1",
    ] {
        alice.get(&format!("/api/memory?{wrong}")).await.refused(400, "malformed_query");
    }
    alice.get("/api/memory?cursor=x").await.refused(400, "malformed_cursor");
}

#[tokio::test]
async fn memory_pages_are_stable_under_concurrent_writes() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    for number in 0..7 {
        alice.save(&format!("memory {number}")).await;
    }
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = alice.get(&format!("/api/memory?limit=3{cursor}")).await.expect(200);
        seen.extend(page.each("content"));
        alice.save(&format!("written in between {}", seen.len())).await;
        match page.at("/next_cursor").as_str() {
            "" => break,
            next => cursor = format!("&cursor={next}"),
        }
    }
    let expected: Vec<String> = (0..7).rev().map(|number| format!("memory {number}")).collect();
    assert_eq!(seen, expected);
    for _ in 0..45 {
        alice.save(&crate::app::canary("more")).await;
    }
    assert_eq!(alice.get("/api/memory").await.each("id").len(), 50, "fifty unless asked");
}

#[tokio::test]
async fn update_starts_a_new_period_and_correction_rewrites_the_old_one() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let body = json!({ "content": "Lives in Lisbon", "valid_from": "2020-01-01" });
    let saved = alice.post("/api/memory", body).await.expect(201);
    let path = format!("/api/memory/{}", saved.at("/memory/id"));
    let moved = json!({ "content": "Lives in Porto", "valid_from": "2024-03-01" });
    let moved = alice.patch(&path, moved).await.expect(200);
    assert_eq!(moved.at("/event/type"), "memory.updated");
    assert_eq!(moved.json()["memory"]["version"], 2);
    assert_eq!(moved.at("/memory/id"), saved.at("/memory/id"));
    let at = |date: &str| format!("{path}?as_of={date}");
    assert_eq!(alice.get(&at("2023-01-01")).await.at("/content"), "Lives in Lisbon");
    assert_eq!(alice.get(&at("2025-01-01")).await.at("/content"), "Lives in Porto");
    alice.get(&at("2019-01-01")).await.refused(404, "memory_not_found");

    let corrected = json!({ "mode": "correction", "content": "Lives in Braga" });
    let corrected = alice.patch(&path, corrected).await.expect(200);
    assert_eq!(corrected.at("/event/type"), "memory.corrected");
    assert_eq!(alice.get(&at("2025-01-01")).await.at("/content"), "Lives in Braga");
    assert_eq!(alice.get(&at("2023-01-01")).await.at("/content"), "Lives in Lisbon");
    let known = moved.at("/memory/known_from");
    let then = alice.get(&format!("{path}?as_of=2025-01-01&known_at={known}")).await;
    assert_eq!(then.at("/content"), "Lives in Porto", "what was known then stays known");
    let list = format!("/api/memory?as_of=2025-01-01&known_at={known}");
    assert_eq!(alice.get(&list).await.each("content"), ["Lives in Porto"]);
    let before = format!("/api/memory?known_at={}", "2001-01-01");
    assert!(alice.get(&before).await.expect(200).each("id").is_empty());

    let history = alice.get(&format!("{path}/history")).await.expect(200);
    let editions: Vec<_> =
        history.json()["data"].as_array().unwrap().iter().map(|v| v["version"].clone()).collect();
    assert_eq!(editions.first(), Some(&json!(1)));
    assert_eq!(editions.last(), Some(&json!(3)));
    assert!(!history.json()["data"][0]["superseded_by"].is_null());
    for (wrong, code) in [
        (json!({ "content": "x", "valid_until": "2030-01-01" }), "invalid_request"),
        (json!({ "content": "x", "mode": "guess" }), "invalid_request"),
        (json!({ "content": "" }), "invalid_request"),
        (
            json!({
                "mode": "correction", "valid_from": "2030-01-01", "valid_until": "2029-01-01",
            }),
            "empty_validity",
        ),
    ] {
        assert_eq!(alice.patch(&path, wrong.clone()).await.expect(422).code(), code, "{wrong}");
    }
    let early = json!({ "content": "x", "valid_from": "2000-01-01" });
    alice.patch(&path, early).await.refused(409, "not_valid_then");
}

#[tokio::test]
async fn patch_keeps_absent_fields_and_null_clears_them() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let body =
        json!({ "content": "Likes tea", "summary": "tea", "detail": "green", "domain": "food" });
    let saved = alice.post("/api/memory", body).await.expect(201);
    let path = format!("/api/memory/{}", saved.at("/memory/id"));
    let changed = alice.patch(&path, json!({ "detail": null, "tags": ["hot"] })).await.expect(200);
    let memory = &changed.json()["memory"];
    assert_eq!((&memory["summary"], &memory["detail"]), (&json!("tea"), &Value::Null));
    assert_eq!((&memory["domain"], &memory["tags"]), (&json!("food"), &json!(["hot"])));
    let same = alice.patch(&path, json!({ "tags": ["hot"] })).await.expect(200);
    assert_eq!(same.at("/event/type"), "memory.unchanged");
}

#[tokio::test]
async fn if_match_rejects_a_stale_write() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let saved = alice.save("Likes tea").await;
    let path = format!("/api/memory/{}", saved.at("/memory/id"));
    let tag = saved.header("etag").unwrap();
    let first = alice.with("if-match", tag).patch(&path, json!({ "content": "Likes mate" })).await;
    let newer = first.expect(200).header("etag").unwrap().to_owned();
    for stale in [tag, "\"ver_00000000000000000000000000\"", "\"junk\"", "junk"] {
        let late = alice.with("if-match", stale);
        late.patch(&path, json!({ "content": "Likes rum" })).await.refused(412, "version_mismatch");
        late.post(&format!("{path}/forget"), json!({})).await.refused(412, "version_mismatch");
        late.delete(&path).await.refused(412, "version_mismatch");
    }
    assert_eq!(alice.get(&path).await.at("/content"), "Likes mate");
    alice
        .with("if-match", &newer)
        .patch(&path, json!({ "content": "Likes rum" }))
        .await
        .expect(200);
    alice.with("if-match", "*").delete(&path).await.expect(200);
}

#[tokio::test]
async fn removal_has_five_verbs() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let id = alice.save("Likes sushi").await.at("/memory/id");
    let path = format!("/api/memory/{id}");
    let say = async |verb: &str| alice.post(&format!("{path}/{verb}"), json!({})).await;
    let forgotten = say("forget").await.expect(200);
    assert_eq!(
        (forgotten.at("/event/type"), forgotten.at("/memory/status")),
        ("memory.forgotten".into(), "forgotten".into())
    );
    say("forget").await.refused(409, "not_active");
    assert_eq!(say("restore").await.expect(200).at("/memory/status"), "active");
    say("restore").await.refused(409, "not_gone");
    let deleted = alice.delete(&path).await.expect(200);
    assert_eq!(
        (deleted.at("/event/type"), deleted.at("/memory/status")),
        ("memory.deleted".into(), "trashed".into())
    );
    assert_eq!(alice.get(&path).await.expect(200).at("/status"), "trashed");
    let purged = alice.post("/api/memory/purge", json!({})).await.expect(200);
    assert!(purged.json()["memory"].is_null(), "thirty days have not passed");
    assert_eq!(say("restore").await.expect(200).at("/memory/status"), "active");
    let erased = say("erase").await.expect(200);
    assert!(erased.json()["memory"].is_null() && erased.json()["event"]["undo"].is_null());
    assert_eq!(erased.at("/receipts/0/memory_id"), id);
    assert_eq!(erased.json()["event"]["memory_ids"], json!([id]));
    for gone in
        [alice.get(&path).await, alice.get(&format!("{path}/history")).await, say("erase").await]
    {
        gone.refused(404, "memory_not_found");
    }
    let operation = erased.at("/event/operation_id");
    alice
        .post(&format!("/api/operations/{operation}/undo"), json!({}))
        .await
        .refused(409, "not_undoable");
}

#[tokio::test]
async fn memory_can_be_addressed_by_words_unique_to_it() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    alice.save("Flies from Lisbon").await;
    alice.save("Flies with TAP").await;
    assert_eq!(
        alice.get("/api/memory/lisbon").await.expect(200).at("/content"),
        "Flies from Lisbon"
    );
    let both = alice.get("/api/memory/FLIES").await.refused(409, "ambiguous_target");
    assert_eq!(both.json()["candidates"].as_array().unwrap().len(), 2);
    alice.get("/api/memory/sails").await.refused(404, "memory_not_found");
    let forgotten = alice.post("/api/memory/with%20TAP/forget", json!({})).await.expect(200);
    assert_eq!(forgotten.at("/memory/content"), "Flies with TAP");
}

#[tokio::test]
async fn saving_a_hard_memory_key_again_changes_the_rule() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let rule = |value: &str| {
        json!({
            "content": format!("Flies {value}"), "force": "hard", "domain": "travel",
            "key": "class", "value": value,
        })
    };
    let first = alice.post("/api/memory", rule("economy")).await.expect(201);
    let changed = alice.post("/api/memory", rule("business")).await.expect(200);
    assert_eq!(changed.at("/memory/id"), first.at("/memory/id"));
    assert_eq!(changed.at("/event/type"), "memory.updated");
    let rules = alice.get("/api/memory?type=HARD&domain=travel").await.expect(200);
    assert_eq!(rules.each("value"), ["business"]);
    let other = json!({ "content": "Sits", "force": "hard", "domain": "travel", "key": "seat" });
    let other = alice.post("/api/memory", other).await.expect(201).at("/memory/id");
    let path = format!("/api/memory/{other}");
    let taken = alice.patch(&path, json!({ "key": "class" })).await.refused(409, "key_taken");
    assert_eq!(taken.at("/candidates/0/id"), first.at("/memory/id"));
    let homeless = json!({ "content": "Flies", "force": "hard" });
    let refused = alice.post("/api/memory", homeless).await.refused(422, "invalid_request");
    assert_eq!(refused.at("/errors/0/pointer"), "/force");
    let unknown = json!({ "content": "Flies", "domain": "astrology" });
    alice.post("/api/memory", unknown).await.refused(404, "domain_not_found");
}

#[tokio::test]
async fn rule_content_may_be_a_list_or_an_object() {
    let app = TestApp::with_keys().await;
    let alice = app.human("acme", "alice").await;
    let rule = json!({ "type": "HARD", "domain": "food", "key": "exclude_ingredients",
        "content": ["shellfish"] });
    let saved = alice.post("/api/memory", rule).await.expect(201);
    assert_eq!(saved.at("/memory/content"), "shellfish");
    assert_eq!(saved.json()["memory"]["value"], json!(["shellfish"]));
    let path = format!("/api/memory/{}", saved.at("/memory/id"));
    let more = json!({ "content": ["shellfish", "peanuts"] });
    let changed = alice.patch(&path, more).await.expect(200);
    assert_eq!(changed.at("/memory/content"), "shellfish, peanuts");
    let by_value = json!({ "force": "hard", "domain": "shopping", "key": "max_price",
        "content": { "amount": 50, "currency": "EUR" } });
    alice.post("/api/memory", by_value.clone()).await.expect(201);
    let mut twice = by_value;
    twice["value"] = json!({ "amount": 60 });
    let refused = alice.post("/api/memory", twice).await.refused(422, "invalid_request");
    assert_eq!(refused.at("/errors/0/pointer"), "/value");
    alice.post("/api/memory", json!({ "content": [1] })).await.refused(422, "invalid_request");

    let given = alice.post("/api/memory/retrieve", json!({ "query": "hello" })).await.expect(200);
    let text = given.at("/context");
    assert!(text.contains("[food] exclude_ingredients: shellfish, peanuts (said"), "{text}");
    assert!(text.contains("[shopping] max_price: amount 50, currency EUR (said"), "{text}");
    let found = alice.post("/api/memory/search", json!({ "query": "peanuts" })).await.expect(200);
    assert!(found.text().contains("exclude_ingredients"), "the value is indexed");
}

#[tokio::test]
async fn conflict_of_a_rule_with_the_message_is_reported() {
    let app = TestApp::with_keys().await;
    let alice = app.human("acme", "alice").await;
    let rule = json!({ "force": "hard", "domain": "schedule", "key": "no_meetings_after",
        "content": "16:00" });
    alice.post("/api/memory", rule).await.expect(201);
    let ask = async |query: &str| {
        alice.post("/api/memory/retrieve", json!({ "query": query })).await.expect(200)
    };
    let told = ask("Please book a meeting with Ana at 17:00").await;
    let rule = told.at("/hard/0/mark");
    assert_eq!(told.json()["conflicts"], json!([{ "rule": rule, "about": "17:00" }]));
    assert!(told.at("/context").contains("## Conflicts with hard preferences"), "{}", told.text());
    let fine = ask("Please book a meeting with Ana at 15:00").await;
    assert_eq!(fine.json()["conflicts"], json!([]));
    assert!(!fine.at("/context").contains("Conflicts"));
}

#[tokio::test]
async fn rules_of_the_domain_of_a_message_are_in_its_context_beside_identity() {
    let app = TestApp::with_keys().await;
    let alice = app.human("acme", "alice").await;
    for n in 0..70 {
        let (domain, key) = if n == 0 { ("travel", "seat") } else { ("shopping", "rule") };
        let rule = json!({ "force": "hard", "domain": domain, "key": format!("{key}_{n}"),
            "importance": if n == 0 { 0.1 } else { 0.6 },
            "content": format!("Rule number {n} for an area outside the message") });
        alice.post("/api/memory", rule).await.expect(201);
    }
    let who = json!({ "content": "Her name is Mirembe, a nurse", "category": "profile" });
    alice.post("/api/memory", who).await.expect(201);
    let ask = async |query: &str| {
        let given = alice.post("/api/memory/retrieve", json!({ "query": query })).await;
        given.expect(200)
    };
    let plain = ask("plan my weekend").await;
    assert!(plain.at("/context").contains("Mirembe"));
    assert!(!plain.at("/baseline/content").contains("[travel] seat_0"), "over the share of rules");
    let flight = ask("book a flight and a hotel for my trip").await;
    assert!(flight.at("/dynamic/content").contains("[travel] seat_0"), "{}", flight.text());
    assert!(flight.json()["budget"]["used"].as_u64() <= flight.json()["budget"]["limit"].as_u64());
}

#[tokio::test]
async fn every_rule_of_the_domain_of_a_message_is_supplied_or_named_as_left_out() {
    let app = TestApp::with_keys().await;
    let alice = app.human("acme", "alice").await;
    let mut rules = Vec::new();
    for n in 0..100 {
        // The rules of other domains fill the share of rules in the baseline.
        let (domain, importance) = if n < 60 { ("shopping", 0.9) } else { ("travel", 0.1) };
        let rule = json!({ "force": "hard", "domain": domain, "key": format!("rule_{n}"),
            "importance": importance, "content": format!("Rule number {n} about this area") });
        let saved = alice.post("/api/memory", rule).await.expect(201);
        if domain == "travel" {
            rules.push(saved.at("/memory/id"));
        }
    }
    for (tokens, all_fit) in [(4_000, true), (1_000, false), (300, false)] {
        let ask = json!({ "query": "book a flight and a hotel for my trip", "budget": tokens });
        let given = alice.post("/api/memory/retrieve", ask).await.expect(200).json();
        let cited = |part: &str| given[part]["citations"].to_string();
        let left_out = given["dynamic"]["left_out"].to_string();
        let is_supplied =
            |id: &String| cited("baseline").contains(id) || cited("dynamic").contains(id);
        let supplied = rules.iter().filter(|id| is_supplied(id)).count();
        let named = rules.iter().filter(|id| !is_supplied(id) && left_out.contains(*id)).count();
        assert_eq!((supplied + named, supplied == 40), (40, all_fit), "{tokens}: {given:#}");
    }
}

#[tokio::test]
async fn save_with_a_ttl_ends_the_memory() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let save = async |ttl: &str, content: &str| {
        let body = json!({ "content": content, "ttl": ttl, "valid_from": "2099-01-01T00:00:00Z" });
        alice.post("/api/memory", body).await
    };
    let ends = async |ttl: &str, content: &str| {
        let saved = save(ttl, content).await.expect(201).json();
        saved["memory"]["valid_until"].as_str().map(str::to_owned)
    };
    assert_eq!(ends("temporary", "Is tired").await.unwrap(), "2099-01-02T00:00:00Z");
    assert_eq!(ends("CONTEXTUAL", "Is in Rome").await.unwrap(), "2099-01-08T00:00:00Z");
    let paper = ends("deadline", "Hands in the paper by 10 March 2099").await.unwrap();
    assert_eq!(paper, "2099-03-18T00:00:00Z");
    assert_eq!(ends("lasting", "Is called Ada").await, None);
    let refused = save("deadline", "Hands in the paper").await.refused(422, "invalid_request");
    assert_eq!(refused.at("/errors/0/pointer"), "/ttl");
    save("forever", "Is called Ada").await.refused(422, "invalid_request");
}

#[tokio::test]
async fn save_lists_possible_duplicates_on_request() {
    let app = TestApp::with_models(TestModels::with_words()).await;
    let alice = app.application_key("acme").await.about("alice");
    let first = alice.save("Likes strong black oolong tea in the morning").await.at("/memory/id");
    alice.save("Has two cats").await;
    let again = json!({ "content": "Likes strong black oolong tea in the mornings" });
    let saved = alice.post("/api/memory?similar=true", again).await.expect(201).json();
    let similar = saved["similar"].as_array().unwrap();
    assert_eq!(similar.len(), 1, "{saved}");
    assert_eq!(similar[0]["memory"]["id"], json!(first));
    assert!(similar[0]["similarity"].as_f64().unwrap() >= 0.85);
    let other = json!({ "content": "Plays the cello" });
    let saved = alice.post("/api/memory?similar=true", other).await.expect(201).json();
    assert_eq!(saved.get("similar").and_then(|s| s.as_array()).map_or(0, Vec::len), 0);
}

#[tokio::test]
async fn possible_duplicates_have_a_similarity_of_at_least_085() {
    // So many dimensions that the vector of a text is that of its words.
    let embedder = Arc::new(ScriptedModel::local(1_024));
    let app = TestApp::with_models(TestModels::of(embedder)).await;
    let alice = app.application_key("acme").await.about("alice");
    let words = |from: u32, count: u32| {
        (from..from + count).map(|n| format!("word{n}")).collect::<Vec<_>>().join(" ")
    };
    for (from, count, other, percent) in [(0, 25, 4, 84), (100, 50, 7, 86)] {
        alice.save(&words(from, count)).await;
        let new = json!({ "content": words(from + other, count) });
        let saved = alice.post("/api/memory?similar=true", new).await.expect(201).json();
        let similar = saved["similar"].as_array().cloned().unwrap_or_default();
        let found: Vec<f64> = similar.iter().filter_map(|s| s["similarity"].as_f64()).collect();
        match percent {
            84 => assert!(found.is_empty(), "{saved}"),
            _ => assert!(found.len() == 1 && (found[0] - 0.86).abs() < 0.005, "{saved}"),
        }
    }
}

#[tokio::test]
async fn unmentioned_memory_is_given_with_the_instruction_and_only_the_user_sets_it() {
    let app = TestApp::with_keys().await;
    let agent = app.tenant_key("acme").await.about("alice");
    let human = app.human("acme", "alice").await;
    let saved = human.save("Lost the first job in 2019").await;
    let id = saved.at("/memory/id");
    let path = format!("/api/memory/{id}");
    let line_in = async |session: &str| {
        let ask = json!({ "query": "How did my first job go?", "session_id": session });
        let context = agent.post("/api/memory/retrieve", ask).await.expect(200);
        let text = context.at("/baseline/content");
        text.lines().find(|line| line.contains("first job")).unwrap_or_default().to_owned()
    };
    let line = async || line_in("s").await;
    assert!(line().await.contains("Lost the first job") && !line().await.contains("mention"));
    let change = json!({ "mode": "correction", "unmentioned": true });
    agent.patch(&path, change.clone()).await.refused(403, "human_needed");
    let body = json!({ "content": "Likes tea", "unmentioned": true });
    agent.post("/api/memory", body).await.refused(403, "human_needed");
    let set = human.patch(&path, change).await.expect(200).json();
    assert_eq!(set["memory"]["unmentioned"], true);
    assert!(line().await.contains("use it, but do not mention it"), "at once: {}", line().await);
    let history = human.get(&format!("{path}/history")).await.expect(200).json();
    let flags: Vec<bool> = history["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|version| version["unmentioned"] == true)
        .collect();
    assert_eq!(flags, [false, true]);
    let undo = async |answer: &serde_json::Value| {
        let href = answer["event"]["undo"]["href"].as_str().unwrap();
        human.post(href, json!({})).await.expect(200).json()
    };
    let undone = undo(&set).await;
    for session in ["s", "t"] {
        let next = line_in(session).await;
        assert!(next.contains("first job") && !next.contains("mention"), "{session}: {next}");
    }
    undo(&undone).await;
    assert!(line().await.contains("use it, but do not mention it"), "at once: {}", line().await);
}

#[tokio::test]
async fn memory_has_the_line_that_assistants_read() {
    let app = TestApp::with_keys().await;
    let alice = app.human("acme", "alice").await;
    let rule =
        json!({ "content": "16:00", "type": "hard", "domain": "schedule", "key": "earliest" });
    let saved = alice.post("/api/memory", rule).await.expect(201);
    let line = saved.at("/memory/line");
    assert!(line.starts_with("[schedule] earliest: 16:00 (rule, said 2"), "{line}");
    let quiet =
        json!({ "content": "Is <shy>\nabout it", "project": "apollo", "unmentioned": true });
    alice.post("/api/memory", quiet).await.expect(201);
    let lines = alice.get("/api/memory").await.each("line");
    assert!(lines[0].starts_with("Is ‹shy› about it (fact, project apollo, said 2"), "{lines:?}");
    assert!(lines[0].ends_with("; use it, but do not mention it)"), "{lines:?}");
    assert_eq!(lines[1], line);
}
