//! Contexts over HTTP: a frozen baseline, then the dynamic part for the message, and removed
//! memories in neither (R163 to R181, R193, R216, R218).

use std::sync::Arc;

use lukasa_models::scripted::ScriptedModel;
use lukasa_server::api::AuthMode;
use lukasa_server::clock;
use serde_json::{Value, json};

use crate::app::{Answer, Client, TestApp};
use crate::models::{TestModels, proposed_memory, proposing_chat};

async fn alice(app: &TestApp) -> Client {
    app.application_key("acme").await.about("alice")
}

/// Requests a context for a message, with more request fields.
async fn retrieve(client: &Client, query: &str, more: Value) -> Answer {
    request_context(client, query, more).await.expect(200)
}

async fn request_context(client: &Client, query: &str, more: Value) -> Answer {
    let mut body = json!({ "query": query });
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    client.post("/api/memory/retrieve", body).await
}

fn in_chat() -> Value {
    json!({ "session_id": "chat" })
}

/// Saves a memory with more fields than its content; returns its id.
async fn save(client: &Client, body: Value) -> String {
    client.post("/api/memory", body).await.expect(201).at("/memory/id")
}

#[tokio::test]
async fn session_baseline_is_frozen_and_changes_follow_in_the_dynamic_part() {
    let models = TestModels::with_words();
    let app = TestApp::with_models(models.clone()).await;
    let alice = alice(&app).await;
    let home = alice.save("Lives in Lisbon").await.at("/memory/id");
    alice.save("Plays the cello").await;
    let first = retrieve(&alice, "Where do I live?", in_chat()).await;
    let (content, etag) = (first.at("/baseline/content"), first.header("etag").unwrap().to_owned());
    assert_eq!(first.json()["frozen"], false);
    assert_eq!(etag, format!("\"{}\"", first.at("/baseline/etag")));
    alice
        .patch(&format!("/api/memory/{home}"), json!({ "content": "Lives in Porto" }))
        .await
        .expect(200);
    alice.save("Has a dog called Rex").await;
    let (base, engine) = app.again(models).await;
    for client in [&alice, &alice.at(&base)] {
        for message in ["Where do I live?", "What is my dog called?", "Write a haiku about rain"] {
            let next = retrieve(client, message, in_chat()).await;
            assert_eq!(next.at("/baseline/content"), content, "{message}");
            assert_eq!(next.header("etag"), Some(etag.as_str()));
            assert_eq!(next.json()["frozen"], true);
            let now = next.at("/dynamic/content");
            let changed = now.find("Changed since").expect("the changes are named");
            for news in ["Lives in Porto", "Has a dog called Rex"] {
                assert!(now[changed..].contains(news), "{news} in {now}");
            }
            assert_eq!(next.at("/context"), format!("{content}{now}"));
        }
    }
    engine.close();
    // Another session starts with the current state, and an unfrozen one follows changes.
    let other = retrieve(&alice, "Where do I live?", json!({ "session_id": "other" })).await;
    assert!(other.at("/baseline/content").contains("Lives in Porto"));
    let body = json!({ "session_id": "chat", "freeze": false });
    let fresh = retrieve(&alice, "Where do I live?", body.clone()).await;
    assert!(fresh.at("/baseline/content").contains("Lives in Porto"));
    assert!(!fresh.at("/baseline/content").contains("Lives in Lisbon"));
    alice.save("Sails on Sundays").await;
    let fresh = retrieve(&alice, "Where do I live?", body).await;
    assert!(fresh.at("/baseline/content").contains("Sails on Sundays"));
}

#[tokio::test]
async fn removed_memories_leave_the_frozen_baseline_at_once() {
    for way in ["forget", "delete", "erase", "opt-out", "undo"] {
        let app = TestApp::with_keys().await;
        let alice = app.human("acme", "alice").await;
        alice.put("/api/domains/health/opt-in", json!({})).await.expect(200);
        alice.save("Plays the cello").await;
        let body = json!({ "content": "Takes zolpidem", "domain": "health" });
        let saved = alice.post("/api/memory", body).await.expect(201);
        let first = retrieve(&alice, "What do I take at night?", in_chat()).await;
        assert!(first.at("/baseline/content").contains("zolpidem"), "{way}");
        let path = format!("/api/memory/{}", saved.at("/memory/id"));
        match way {
            "delete" => alice.delete(&path).await,
            "opt-out" => alice.delete("/api/domains/health/opt-in").await,
            "undo" => {
                let operation = saved.at("/event/operation_id");
                alice.post(&format!("/api/operations/{operation}/undo"), json!({})).await
            }
            verb => alice.post(&format!("{path}/{verb}"), json!({})).await,
        }
        .expect(200);
        let next = retrieve(&alice, "What do I take at night?", in_chat()).await;
        assert!(!next.text().contains("zolpidem"), "{way}: {}", next.text());
        assert!(next.at("/baseline/content").contains("Plays the cello"), "{way}");
        // Removed memories are not served when the database is down either.
        retrieve(&alice, "What do I take at night?", in_chat()).await;
        app.engine.close();
        let away = request_context(&alice, "What do I take at night?", in_chat()).await;
        away.expect_no_context();
    }
}

#[tokio::test]
async fn erase_removes_the_baseline_of_a_session_on_another_server() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let (base, other) = app.again(std::sync::Arc::new(lukasa_core::model::NoModels)).await;
    let there = alice.at(&base);
    let admin = app.database.admin().await;
    for lock in ["recall_state", "baseline", "passage", "users"] {
        let memory = alice.save("Takes zolpidem").await.at("/memory/id");
        let first = retrieve(&there, "What do I take?", in_chat()).await;
        assert!(first.at("/baseline/content").contains("zolpidem"), "{lock}");
        alice.post(&format!("/api/memory/{memory}/erase"), json!({})).await.expect(200);
        let slow = format!("begin; lock table {lock} in access exclusive mode");
        admin.batch_execute(&slow).await.unwrap();
        for deadline in [1, 150] {
            let mut body = in_chat();
            body["deadline_ms"] = deadline.into();
            let given = retrieve(&there, "What do I take?", body).await;
            assert!(!given.text().contains("zolpidem"), "{lock}: {}", given.text());
        }
        admin.batch_execute("rollback").await.unwrap();
    }
    retrieve(&there, "What do I take?", in_chat()).await;
    other.close();
    request_context(&there, "What do I take?", in_chat()).await.expect_no_context();
}

#[tokio::test]
async fn context_lists_hard_rules_first_and_states_the_precedence() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    save(
        &alice,
        json!({ "content": "Likes window seats", "domain": "travel", "category": "style" }),
    )
    .await;
    save(
        &alice,
        json!({ "content": "Is called Alice", "category": "profile", "detail": "secret body" }),
    )
    .await;
    let long = json!({ "content": "A long story about trains", "summary": "Likes trains" });
    save(&alice, long).await;
    let rule = save(
        &alice,
        json!({
            "content": "Never book before ten", "force": "hard", "domain": "travel",
            "key": "earliest", "value": "10:00",
        }),
    )
    .await;
    let given = retrieve(&alice, "Book me a flight to Porto", in_chat()).await;
    let text = given.at("/baseline/content");
    let at = |words: &str| text.find(words).unwrap_or_else(|| panic!("{words} in {text}"));
    let order = [
        "Precedence: safety and law, then the user's current instruction, then hard preferences, then facts",
        "Hard preferences (must be respected)",
        "Never book before ten",
        "Context (for judgment, not rules)",
        "### Profile",
        "Is called Alice",
        "### Style",
        "### Facts",
        "Likes trains",
    ];
    assert!(order.map(at).is_sorted(), "{text}");
    assert!(!text.contains("### Current context"), "an empty category is left out");
    assert!(!text.contains("secret body") && !text.contains("A long story"), "{text}");
    for rule in [
        "\"You told me\"",
        "\"You mentioned\"",
        "never as \"You believe\"",
        "cite its mark",
        "ask",
        "never honesty, safety or warnings of risk",
        "line marked high-stakes, check with the user",
    ] {
        at(rule);
    }
    assert_eq!(given.at("/hard/0/memory_id"), rule);
    assert_eq!(given.json()["hard"].as_array().unwrap().len(), 1);
    assert_eq!(given.json()["soft"].as_array().unwrap().len(), 3);
    assert_eq!(given.at("/domains/0/domain"), "travel", "detected from the message");
    // Every rule of a requested domain is included, however far from the message, and no others.
    let travel = retrieve(&alice, "Sing!", json!({ "domains": ["travel"] })).await;
    assert_eq!(travel.at("/hard/0/memory_id"), rule);
    let food = retrieve(&alice, "Sing!", json!({ "domains": ["food"] })).await;
    assert_eq!(food.json()["hard"], json!([]));
}

#[tokio::test]
async fn context_marks_resolve_to_memories_and_omissions_have_reasons() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let words = "and the rest of a sentence that is there to take up room in a small budget";
    for n in 0..40 {
        save(&alice, json!({ "content": format!("Fact {n} {words}"), "importance": 0.9 })).await;
    }
    save(&alice, json!({ "content": "Sings in a choir called Lark", "importance": 0.1 })).await;
    let given = retrieve(&alice, "What is my choir called?", in_chat()).await;
    let json = given.json();
    let mut marks = Vec::new();
    for part in ["baseline", "dynamic"] {
        let content = json[part]["content"].as_str().unwrap();
        for citation in json[part]["citations"].as_array().unwrap() {
            let (mark, text) =
                (citation["mark"].as_str().unwrap(), citation["text"].as_str().unwrap());
            assert!(content.contains(&format!("- [{mark}] {text}\n")), "{mark}");
            let id = citation["memory_id"].as_str().unwrap();
            let memory = alice.get(&format!("/api/memory/{id}")).await.expect(200);
            assert!(text.starts_with(&memory.at("/content")), "{text}");
            assert_eq!(citation["version_id"], memory.json()["version_id"]);
            marks.push(mark.to_owned());
        }
    }
    let numbered: Vec<String> = (1..=marks.len()).map(|n| format!("m{n}")).collect();
    assert_eq!(marks, numbered, "each mark names one line");
    let choir = json["dynamic"]["citations"]
        .as_array()
        .unwrap()
        .iter()
        .find(|c| c["text"].as_str().unwrap().contains("Lark"))
        .expect("the choir bears on it");
    assert!(choir["relevance"].as_f64().unwrap() > 0.15);
    // The ranking trace is stored with the retrieval as numbers only, without message or memory
    // text.
    let noted = alice.wait_for_retrieval(json["retrieval_id"].as_str().unwrap()).await.json();
    let place = &noted["trace"]["found"][0];
    assert_eq!(place["source"]["memory_id"], choir["memory_id"]);
    assert_eq!((&place["rank"], &place["fused_rank"]), (&json!(1), &json!(1)));
    let arms = place["arms"].as_array().unwrap();
    assert!(arms.contains(&json!({ "arm": "keyword", "rank": 1 })), "{arms:?}");
    assert!(!noted["trace"].to_string().contains("choir"));
    let reasons: Vec<_> = json["baseline"]["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|l| l["reason"].as_str().unwrap())
        .collect();
    assert!(
        !reasons.is_empty() && reasons.iter().all(|r| r.starts_with("over the ")),
        "{reasons:?}"
    );
    // A memory that is in the baseline is not repeated in the dynamic part.
    let again = retrieve(&alice, "Tell me about my fact 3 once more", json!({})).await;
    let reasons: Vec<String> = again.json()["dynamic"]["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|l| l["reason"].as_str().unwrap().to_owned())
        .collect();
    assert!(reasons.iter().any(|r| r == "in the baseline already"), "{reasons:?}");
}

#[tokio::test]
async fn baseline_has_the_user_profile_for_unrelated_messages() {
    let app = TestApp::with_models(TestModels::with_words()).await;
    let alice = alice(&app).await;
    save(
        &alice,
        json!({ "content": "Is an architect in Lisbon", "category": "profile", "importance": 0.9 }),
    )
    .await;
    let task = json!({ "content": "Prepares the exhibition in Porto", "category": "context",
        "type": "task", "importance": 0.9 });
    let procedure = json!({ "content": "Wants sketches before numbers", "category": "style",
        "type": "procedural", "importance": 0.9 });
    for more in [task, procedure] {
        save(&alice, more).await;
    }
    for n in 0..60 {
        alice.save(&format!("Bought lettuce number {n}")).await;
    }
    for message in
        ["zxqv", "", "ok", "Prove that the square root of two is irrational, step by step"]
    {
        let given = retrieve(&alice, message, json!({})).await;
        let baseline = given.at("/baseline/content");
        for line in ["an architect in Lisbon", "the exhibition in Porto", "sketches before numbers"]
        {
            assert!(baseline.contains(line), "{message}: {line}: {baseline}");
        }
    }
}

#[tokio::test]
async fn dynamic_context_size_follows_the_message() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    for n in 0..400 {
        save(
            &alice,
            json!({ "content": format!("Rain fell on day {n} of the year"), "importance": 0.9 }),
        )
        .await;
    }
    for n in 0..15 {
        save(&alice, json!({ "content": format!("Keeps parrot {n}"), "importance": 0.1 })).await;
    }
    for (message, most) in [
        ("parrot", 0),
        ("thanks!", 0),
        ("Write about a parrot, please", 3),
        ("What do you remember about my parrot?", 10),
    ] {
        let given = retrieve(&alice, message, json!({ "turns": 0 })).await;
        let found = given.json()["dynamic"]["citations"].as_array().unwrap().len();
        assert_eq!(found, most, "{message}: {}", given.text());
    }
    let asked = retrieve(&alice, "parrot", json!({ "limit": 5, "turns": 0 })).await;
    assert_eq!(asked.json()["dynamic"]["citations"].as_array().unwrap().len(), 5);
}

#[tokio::test]
async fn low_confidence_facts_are_searchable_but_not_in_contexts() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    app.extract("acme", "alice", "Perhaps likes durian", 0.5).await;
    app.extract("acme", "alice", "Surely likes papaya", 0.8).await;
    let given = retrieve(&alice, "Do I like durian or papaya?", in_chat()).await;
    let text = given.at("/context");
    assert!(
        text.contains("Surely likes papaya (inferred 20") && text.contains(", 80% sure)"),
        "{text}"
    );
    assert!(!text.contains("durian"), "{text}");
    let reasons = given.json()["dynamic"]["left_out"].clone();
    assert_eq!(reasons[0]["reason"], "not sure enough", "{reasons}");
    // It is not added later in the session either.
    app.extract("acme", "alice", "Perhaps likes durian cake", 0.5).await;
    let next = retrieve(&alice, "Do I like durian or papaya?", in_chat()).await;
    assert!(!next.at("/context").contains("durian"));
    let search = json!({ "query": "durian" });
    let found = alice.post("/api/memory/search", search).await.expect(200);
    assert_eq!(found.at("/memories/0/memory/content"), "Perhaps likes durian cake");
    let sure = json!({ "query": "durian", "min_confidence": 0.7 });
    let found = alice.post("/api/memory/search", sure).await.expect(200);
    assert!(!found.text().contains("durian"), "{}", found.text());
    let wished =
        retrieve(&alice, "Do I like durian or papaya?", json!({ "min_confidence": 0.4 })).await;
    assert!(wished.at("/dynamic/content").contains("durian"), "a lower threshold includes it");
}

#[tokio::test]
async fn session_context_is_recorded_byte_for_byte() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    alice.save("Lives in Lisbon").await;
    let mut given = Vec::new();
    for (n, message) in
        ["Where do I live?", "What is my dog called?", "And my cat?"].iter().enumerate()
    {
        let answer = retrieve(&alice, message, in_chat()).await;
        alice.wait_for_retrieval(&answer.at("/retrieval_id")).await;
        given.push(answer);
        alice.save(&format!("Pet {n} is called Rex")).await;
    }
    let seen = alice.get("/api/sessions/chat/context").await.expect(200).json();
    let baselines = seen["baselines"].as_array().unwrap();
    assert_eq!(baselines.len(), 1);
    assert_eq!(baselines[0]["content"], given[0].at("/baseline/content"));
    assert_eq!(baselines[0]["etag"], given[0].at("/baseline/etag"));
    let retrievals = seen["retrievals"].as_array().unwrap();
    assert_eq!(retrievals.len(), 3);
    for (seen, given) in retrievals.iter().rev().zip(&given) {
        assert_eq!(seen["id"], given.at("/retrieval_id"));
        assert_eq!(seen["dynamic"], given.at("/dynamic/content"));
        assert_eq!(seen["baseline_etag"], given.at("/baseline/etag"));
        let marks = |items: &Value| -> Vec<Value> {
            items.as_array().unwrap().iter().map(|item| item["mark"].clone()).collect()
        };
        assert_eq!(marks(&seen["trace"]["dynamic"]), marks(&given.json()["dynamic"]["citations"]));
        let one = alice.get(&format!("/api/retrievals/{}", given.at("/retrieval_id"))).await;
        assert_eq!(one.expect(200).json(), *seen);
        assert!(!seen["trace"].to_string().contains("Where do I live"), "no words of the message");
    }
}

#[tokio::test]
async fn repeated_message_is_answered_from_the_cache_until_something_changes() {
    let learned = vec![proposed_memory("User plays squash.", "I play squash")];
    let models = TestModels {
        chats: vec![proposing_chat(learned)],
        embedders: vec![Arc::new(ScriptedModel::local(64))],
        ..TestModels::default()
    };
    let app = TestApp::with_models(Arc::new(models)).await;
    let alice = app.human("acme", "alice").await;
    alice.put("/api/domains/health/opt-in", json!({})).await.expect(200);
    save(&alice, json!({ "content": "Takes zolpidem", "domain": "health" })).await;
    alice.save("Lives in Lisbon").await;
    let ask = async || retrieve(&alice, "Where do I live and what do I take?", in_chat()).await;
    let cache = async || ask().await.at("/cache");
    assert_eq!((cache().await, cache().await), ("miss".into(), "hit".into()));
    alice.save("Plays the cello").await;
    assert_eq!((cache().await, cache().await), ("miss".into(), "hit".into()), "after a write");
    let turns = json!({ "turns": [{ "role": "user", "content": "I play squash" }] });
    alice.post("/api/sessions/other/turns", turns).await.expect(201);
    assert_eq!((cache().await, cache().await), ("miss".into(), "hit".into()), "after a turn");
    alice.post("/api/sessions/other/close", json!({})).await.expect(200);
    assert_eq!(cache().await, "hit", "nothing is learned yet");
    app.work().await;
    assert!(alice.get("/api/memory").await.text().contains("User plays squash."));
    assert_eq!(
        (cache().await, cache().await),
        ("miss".into(), "hit".into()),
        "after an extraction"
    );
    alice.delete("/api/domains/health/opt-in").await.expect(200);
    let after = ask().await;
    assert_eq!(after.at("/cache"), "miss", "after an opt-out");
    assert!(!after.text().contains("zolpidem"));
    let other =
        retrieve(&alice, "Where do I live and what do I take?", json!({ "session_id": "b" })).await;
    assert_eq!(other.at("/cache"), "miss", "another session has its own");
}

#[tokio::test]
async fn context_tells_what_a_changed_memory_said_before() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let started = json!({ "content": "Lives in Berlin", "valid_from": "2026-01-01" });
    let home = save(&alice, started).await;
    let moved = json!({ "content": "Lives in Lisbon", "valid_from": "2026-03-01" });
    alice.patch(&format!("/api/memory/{home}"), moved).await.expect(200);
    let text = retrieve(&alice, "Where do I live?", in_chat()).await.at("/context");
    assert!(text.contains("; until 2026-03-01: Lives in Berlin)"), "{text}");
    // A correction was never true before.
    let fixed = json!({ "content": "Lives in Porto", "mode": "correction" });
    alice.patch(&format!("/api/memory/{home}"), fixed).await.expect(200);
    let text = retrieve(&alice, "Where do I live?", json!({})).await.at("/context");
    assert!(text.contains("Lives in Porto"), "{text}");
    alice.post(&format!("/api/memory/{home}/forget"), json!({})).await.expect(200);
    let text = retrieve(&alice, "Where do I live?", in_chat()).await.at("/context");
    assert!(!text.contains("Berlin"), "{text}");
}

#[tokio::test]
async fn context_quotes_no_turn_that_is_only_a_question() {
    let app = TestApp::with_models(TestModels::with_words()).await;
    let alice = alice(&app).await;
    let turns = json!({ "turns": [
        { "role": "user", "content": "Which oolong tastes best with cake?" },
        { "role": "user", "content": "I ordered oolong and cake for the party." },
    ] });
    alice.post("/api/sessions", json!({ "id": "past" })).await.expect(200);
    assert!(alice.post("/api/sessions/past/turns", turns).await.is_good());
    let given = retrieve(&alice, "What oolong and cake did I order?", in_chat()).await;
    let text = given.at("/context");
    assert!(text.contains("I ordered oolong"), "{text}");
    assert!(!text.contains("Which oolong"), "{text}");
    let left: Vec<Value> = given.json()["dynamic"]["left_out"].as_array().unwrap().clone();
    assert!(left.iter().any(|one| one["reason"] == "only a question"), "{left:?}");
}

#[tokio::test]
async fn remembered_time_zone_is_the_default_of_a_context() {
    let app = TestApp::with_keys().await;
    let alice = app.human("acme", "alice").await;
    let ask = async |more: Value| {
        let given = retrieve(&alice, "What did I say yesterday?", more).await;
        given.at("/times/0/from")
    };
    let utc = ask(json!({})).await;
    let zone = json!({ "force": "hard", "domain": "personal", "key": "timezone",
        "content": "Pacific/Kiritimati", "value": "Pacific/Kiritimati" });
    alice.post("/api/memory", zone).await.expect(201);
    let there = ask(json!({})).await;
    assert_ne!(there, utc, "fourteen hours ahead");
    assert_eq!(ask(json!({ "timezone": "Pacific/Kiritimati" })).await, there);
    assert_eq!(ask(json!({ "timezone": "UTC" })).await, utc);
}

#[tokio::test]
async fn context_as_of_a_past_time_is_reproducible() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let home = alice.save("Lives in Lisbon").await.at("/memory/id");
    let then = clock::now().to_string();
    let at = json!({ "as_of": then, "known_at": then });
    let first = retrieve(&alice, "Where do I live?", at.clone()).await;
    alice
        .patch(&format!("/api/memory/{home}"), json!({ "content": "Lives in Porto" }))
        .await
        .expect(200);
    alice.save("Lives for music").await;
    let later = retrieve(&alice, "Where do I live?", at).await;
    assert_eq!(first.at("/context"), later.at("/context"));
    assert!(later.at("/context").contains("Lives in Lisbon"));
}

#[tokio::test]
async fn domains_of_a_message_are_detected_from_its_words() {
    let app = TestApp::with_keys().await;
    let (admin, alice) = (app.application_key("acme").await, alice(&app).await);
    let detect = async |query: &str| {
        alice.post("/api/domains/detect", json!({ "query": query })).await.expect(200)
    };
    let found = detect("Book a flight and keep it under my budget").await;
    let mut domains = found.each("domain");
    domains.sort();
    assert_eq!(domains, ["finance", "travel"]);
    assert!(found.text().contains("flight"), "and says by which: {}", found.text());
    assert!(detect("zxqv").await.each("domain").is_empty());
    assert!(detect("Prune the orchard").await.each("domain").is_empty());
    admin.put("/api/domains/orchard", json!({ "display_name": "The orchard" })).await.expect(200);
    assert_eq!(detect("Prune the orchard").await.each("domain"), ["orchard"]);
    let long = "x".repeat(20_001);
    alice
        .post("/api/domains/detect", json!({ "query": long }))
        .await
        .refused(422, "invalid_request");
}

/// Each first message reads, then writes its baseline. Holding the first connection while waiting
/// for a second one would deadlock the pool.
#[tokio::test]
async fn concurrent_first_messages_do_not_exhaust_the_connection_pool() {
    let app = TestApp::start(AuthMode::Local, 2, |router| router).await;
    let me = app.anonymous();
    me.save("Lives in Lisbon").await;
    let mut all = tokio::task::JoinSet::new();
    for n in 0..12 {
        let (me, chat) = (me.clone(), json!({ "session_id": format!("chat-{n}") }));
        all.spawn(async move { retrieve(&me, "Where do I live?", chat).await });
    }
    for answer in all.join_all().await {
        assert_eq!(answer.json()["degraded"], json!([]));
        assert!(answer.at("/baseline/content").contains("Lives in Lisbon"));
    }
}

#[tokio::test]
async fn closing_a_domain_for_the_tenant_removes_it_from_frozen_baselines() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let domain = json!({ "display_name": "Orchard" });
    alice.put("/api/domains/orchard", domain).await.expect(200);
    save(&alice, json!({ "content": "Grows quinces", "domain": "orchard" })).await;
    alice.save("Plays the cello").await;
    let before = retrieve(&alice, "What do I do?", in_chat()).await;
    assert!(before.at("/baseline/content").contains("quinces"));
    let shut = json!({ "display_name": "Orchard", "requires_opt_in": true });
    alice.put("/api/domains/orchard", shut).await.expect(200);
    for _ in 0..2 {
        let after = retrieve(&alice, "What do I do?", in_chat()).await;
        assert!(!after.text().contains("quinces"), "{}", after.text());
        assert!(after.at("/baseline/content").contains("cello"));
    }
}

#[tokio::test]
async fn session_without_memories_has_an_empty_recorded_context() {
    let app = TestApp::with_keys().await;
    let ada = app.human("acme", "ada").await;
    ada.get("/api/sessions/quiet/context").await.refused(404, "session_not_found");
    let turns = serde_json::json!({ "turns": [{ "role": "user", "content": "Hello" }] });
    ada.post("/api/sessions/quiet/turns", turns).await.expect(201);
    let given = ada.get("/api/sessions/quiet/context").await.expect(200).json();
    assert_eq!(
        (&given["baselines"], &given["retrievals"]),
        (&Vec::<i32>::new().into(), &Vec::<i32>::new().into())
    );
}
