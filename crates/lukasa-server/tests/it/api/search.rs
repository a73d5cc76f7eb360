//! Search over HTTP: by keyword, vector, time and link, without removed or closed memories (R153 to
//! R156, R168 to R170).

use std::sync::Arc;
use std::time::{Duration, Instant};

use lukasa_models::scripted::{ScriptedBehavior, ScriptedModel};
use serde_json::{Value, json};

use crate::app::{Answer, Client, TestApp};
use crate::models::{TestModels, models_with_meaning};

async fn alice(app: &TestApp) -> Client {
    app.application_key("acme").await.about("alice")
}

async fn search(client: &Client, query: &str) -> Answer {
    client.post("/api/memory/search", json!({ "query": query })).await.expect(200)
}

async fn search_with(client: &Client, query: &str, more: Value) -> Answer {
    let mut body = json!({ "query": query });
    for (key, value) in more.as_object().unwrap() {
        body[key] = value.clone();
    }
    client.post("/api/memory/search", body).await
}

/// The contents of the memories found, best first.
fn contents(answer: &Answer) -> Vec<String> {
    let json = answer.json();
    let found = json["memories"].as_array().cloned().unwrap_or_default();
    found.iter().map(|f| f["memory"]["content"].as_str().unwrap().to_owned()).collect()
}

fn finds(answer: &Answer, content: &str) -> bool {
    contents(answer).iter().any(|found| found == content)
}

#[tokio::test]
async fn search_finds_names_and_numbers_by_keyword_next_to_vectors() {
    let app = TestApp::with_models(TestModels::with_words()).await;
    let alice = alice(&app).await;
    for n in 0..40 {
        alice.save(&format!("An ordinary note about the garden, number {n}")).await;
    }
    alice.save("Deploys ripgrep 14.1.1 on the build box").await;
    let found = search(&alice, "Which version was 14.1.1?").await;
    assert_eq!(contents(&found)[0], "Deploys ripgrep 14.1.1 on the build box");
    let why = &found.json()["memories"][0]["why"];
    assert!(why["arms"].as_array().unwrap().iter().any(|arm| arm["arm"] == "keyword"));
    assert!(why["relevance"].as_f64().unwrap() > 0.0 && why["relevance"].as_f64().unwrap() <= 1.0);
    assert!(!why["matched"].as_array().unwrap().is_empty());
    assert_eq!(found.at("/model"), "scripted-64");
    // The keyword arm finds it alone, and so does rank fusion.
    for more in [json!({ "arms": ["keyword"] }), json!({ "fusion": "ranks" })] {
        let found = search_with(&alice, "version 14.1.1", more.clone()).await.expect(200);
        assert_eq!(contents(&found)[0], "Deploys ripgrep 14.1.1 on the build box", "{more}");
    }
}

#[tokio::test]
async fn search_finds_a_paraphrase_by_vector() {
    let Some(models) = models_with_meaning() else { return };
    let app = TestApp::with_models(models).await;
    let alice = alice(&app).await;
    for other in
        ["Runs along the river on Sundays", "Is allergic to peanuts", "Has a sister in Oslo"]
    {
        alice.save(other).await;
    }
    alice.save("Wants dark mode in every editor").await;
    let found = search(&alice, "black theme for my IDE").await;
    assert_eq!(contents(&found)[0], "Wants dark mode in every editor");
    assert_eq!(found.json()["memories"][0]["why"]["matched"], json!([]), "no word of it matches");
    let found = search(&alice, "dark theme").await;
    assert_eq!(contents(&found)[0], "Wants dark mode in every editor");
    // The vector arm works alone.
    let alone = search_with(&alice, "black theme for my IDE", json!({ "arms": ["vector"] })).await;
    assert_eq!(contents(&alone.expect(200))[0], "Wants dark mode in every editor");
    let keyword = search_with(&alice, "black theme", json!({ "arms": ["keyword"] })).await;
    assert!(contents(&keyword).is_empty(), "by its words alone it is not found");
}

#[tokio::test]
async fn search_for_general_knowledge_finds_nothing() {
    let Some(models) = models_with_meaning() else { return };
    let app = TestApp::with_models(models).await;
    let alice = alice(&app).await;
    for memory in [
        "Speaks English, Portuguese and some French",
        "Takes the number 28 tram to work",
        "Drinks oolong tea every morning",
        "Has a dog called Bruno, a border collie",
        "Is writing a book about tides",
        "Goes climbing at the indoor hall in winter",
    ] {
        alice.save(memory).await;
    }
    let said = |content: &str| json!({ "role": "user", "content": content });
    let turns = json!({ "turns": [said("I practise French with Ana every week, it is going well"),
        said("I took the night train to Vienna in May and slept badly")] });
    alice.post("/api/sessions/past/turns", turns).await.expect(201);
    let general =
        ["What is the capital of France?", "What is the GDP of Brazil?", "Who wrote Hamlet?"];
    for question in general {
        let found = search_with(&alice, question, json!({ "turns": 10 })).await.expect(200);
        assert!(contents(&found).is_empty(), "{question}");
        assert_eq!(found.json()["turns"], json!([]), "{question}");
        let all = search_with(&alice, question, json!({ "min_relevance": 0.0 })).await.expect(200);
        assert!(!contents(&all).is_empty(), "{question}");
        let sent = json!({ "query": question });
        let context = alice.post("/api/memory/retrieve", sent).await.expect(200).json();
        assert_eq!(context["dynamic"]["citations"], json!([]), "{question}: {context}");
    }
    let mine = search_with(&alice, "How well is my French?", json!({ "turns": 10 })).await;
    assert!(mine.expect(200).at("/turns/0/turn/content").starts_with("I practise French"));
    let mine = search(&alice, "How do I commute?").await;
    assert!(contents(&mine).contains(&"Takes the number 28 tram to work".to_owned()), "{mine:?}");
    search_with(&alice, "tea", json!({ "min_relevance": 1.5 }))
        .await
        .refused(422, "invalid_request");
    let unknown = search_with(&alice, "tea", json!({ "arms": ["keyword", "tarot"] })).await;
    let unknown = unknown.refused(422, "invalid_request");
    assert_eq!(unknown.at("/errors/0/pointer"), "/arms/1");
    assert!(unknown.at("/errors/0/detail").starts_with("one of keyword, "), "{}", unknown.text());
}

#[tokio::test]
async fn search_floor_applies_to_turns() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let said = |content: &str| json!({ "role": "user", "content": content });
    let mut turns =
        vec![said("The capital of the startup is gone, says the bank in a long letter")];
    turns.extend(
        (0..20).map(|n| said(&format!("We talked about the garden and the well, part {n}"))),
    );
    alice.post("/api/sessions/past/turns", json!({ "turns": turns })).await.expect(201);
    let query = "What is the chemical formula of the capital of a garden column in architecture?";
    let found = search_with(&alice, query, json!({ "turns": 20, "min_relevance": 0.0 })).await;
    let found = found.expect(200).json()["turns"].as_array().unwrap().clone();
    let relevance = |found: &Value| found["why"]["relevance"].as_f64().unwrap();
    let weak = found.iter().filter(|found| relevance(found) < 0.15).count();
    assert!(weak > 0, "{found:?}");
    let usual = search_with(&alice, query, json!({ "turns": 20 })).await.expect(200).json();
    let usual = usual["turns"].as_array().unwrap().clone();
    assert_eq!(usual.len(), found.len() - weak, "{usual:?}");
}

#[tokio::test]
async fn remembered_time_zone_is_the_default_of_a_search() {
    let app = TestApp::with_keys().await;
    let alice = app.human("acme", "alice").await;
    let ask = async |more: Value| {
        let found = search_with(&alice, "What did I say yesterday?", more).await.expect(200);
        found.at("/times/0/from")
    };
    let utc = ask(json!({})).await;
    let zone = json!({ "force": "hard", "domain": "personal", "key": "timezone",
        "content": "Pacific/Kiritimati", "value": "Pacific/Kiritimati" });
    alice.post("/api/memory", zone).await.expect(201);
    let there = ask(json!({})).await;
    assert_ne!(there, utc, "fourteen hours ahead");
    assert_eq!(ask(json!({ "timezone": "Pacific/Kiritimati" })).await, there);
    assert_eq!(ask(json!({ "timezone": "UTC" })).await, utc);
    // Also for a search in the past.
    let now = lukasa_server::clock::now().to_string();
    assert_eq!(ask(json!({ "as_of": now })).await, there);
}

#[tokio::test]
async fn search_finds_words_in_languages_without_spaces() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let saved =
        ["我住在北京，喜欢喝乌龙茶。", "毎朝コーヒーを飲みます。", "저는 부산에서 태어났어요."];
    for content in saved {
        alice.save(content).await;
    }
    for (query, content) in [("乌龙茶", saved[0]), ("コーヒー", saved[1]), ("부산", saved[2])]
    {
        assert_eq!(contents(&search(&alice, query).await)[0], content, "{query}");
    }
}

#[tokio::test]
async fn search_leaves_out_removed_and_closed_memories() {
    let app = TestApp::with_models(TestModels::with_words()).await;
    let (key, human) = (alice(&app).await, app.human("acme", "alice").await);
    let gone = |name: &str| format!("The marmalade is {name}");
    let mut ids = Vec::new();
    for name in ["forgotten", "deleted", "erased"] {
        ids.push(human.save(&gone(name)).await.at("/memory/id"));
    }
    human.post(&format!("/api/memory/{}/forget", ids[0]), json!({})).await.expect(200);
    human.delete(&format!("/api/memory/{}", ids[1])).await.expect(200);
    human.post(&format!("/api/memory/{}/erase", ids[2]), json!({})).await.expect(200);
    key.post("/api/memory/propose", json!({ "content": gone("proposed") })).await.expect(201);
    let superseded = human.save(&gone("superseded")).await.at("/memory/id");
    let new = json!({ "content": "The marmalade is here" });
    human.patch(&format!("/api/memory/{superseded}"), new).await.expect(200);
    let body = json!({ "content": gone("upcoming"), "valid_from": "2999-01-01" });
    human.post("/api/memory", body).await.expect(201);
    let old = json!({ "content": gone("expired"), "valid_from": "2019-01-01", "valid_until": "2020-01-01" });
    human.post("/api/memory", old).await.expect(201);
    human.put("/api/domains/health/opt-in", json!({})).await.expect(200);
    let body = json!({ "content": gone("shut"), "domain": "health" });
    human.post("/api/memory", body).await.expect(201);
    assert!(finds(&search(&human, "marmalade").await, &gone("shut")), "while it is open");
    human.delete("/api/domains/health/opt-in").await.expect(200);

    assert_eq!(contents(&search(&human, "marmalade").await), ["The marmalade is here"]);
    let asked = json!({ "query": "What do I know about the marmalade?", "session_id": "chat" });
    let given = human.post("/api/memory/retrieve", asked).await.expect(200);
    let text = given.at("/context");
    assert!(text.contains("The marmalade is here"), "{text}");
    for name in
        ["forgotten", "deleted", "erased", "proposed", "superseded", "upcoming", "expired", "shut"]
    {
        assert!(!given.text().contains(&gone(name)), "{name} in {text}");
    }
}

#[tokio::test]
async fn search_filters_apply() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let rule = json!({
        "content": "Seat rule: economy", "force": "hard", "domain": "travel", "key": "class",
        "value": "economy",
    });
    alice.post("/api/memory", rule).await.expect(201);
    for body in [
        json!({ "content": "Seat wish: window", "domain": "travel", "category": "profile" }),
        json!({ "content": "Seat skill: procedure", "type": "procedural", "kind": "skill" }),
        json!({ "content": "Seat fact: plain", "tags": ["blue"] }),
    ] {
        alice.post("/api/memory", body).await.expect(201);
    }
    assert_eq!(contents(&search(&alice, "seat").await).len(), 4);
    for (more, expected) in [
        (json!({ "domains": ["travel"] }), 2),
        (json!({ "domains": ["food"] }), 0),
        (json!({ "force": "hard" }), 1),
        (json!({ "category": "profile" }), 1),
        (json!({ "type": "procedural" }), 1),
        (json!({ "kind": "skill" }), 1),
        (json!({ "min_confidence": 0.9 }), 4),
        (json!({ "min_confidence": 0.99 }), 0),
        (json!({ "limit": 2 }), 2),
        (json!({ "limit": 0 }), 0),
    ] {
        let found = search_with(&alice, "seat", more.clone()).await.expect(200);
        assert_eq!(contents(&found).len(), expected, "{more}: {:?}", contents(&found));
    }
    for wrong in [
        json!({ "limit": 201 }),
        json!({ "kind": "nothing" }),
        json!({ "arms": ["psychic"] }),
        json!({ "fusion": "nuclear" }),
        json!({ "timezone": "Mars/Olympus" }),
    ] {
        let refused = search_with(&alice, "seat", wrong.clone()).await;
        assert!((400..500).contains(&refused.status), "{wrong}: {}", refused.text());
    }
    let precise = search_with(&alice, "What about blue?", json!({ "precise": true })).await;
    assert_eq!(contents(&precise.expect(200)), ["Seat fact: plain"]);
}

#[tokio::test]
async fn search_filters_turns_by_session_and_role() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    for session in ["one", "two"] {
        let turn = |role: &str| json!({ "role": role, "content": format!("{role} said plum in {session}") });
        let body = json!({ "turns": [turn("user"), turn("assistant"), turn("tool")] });
        alice.post(&format!("/api/sessions/{session}/turns"), body).await.expect(201);
    }
    let found = async |more: Value| {
        let mut body = json!({ "query": "plum", "limit": 0, "turns": 10 });
        for (key, value) in more.as_object().unwrap() {
            body[key] = value.clone();
        }
        let json = alice.post("/api/memory/search", body).await.expect(200).json();
        let turns = json["turns"].as_array().unwrap().clone();
        let mut contents: Vec<_> =
            turns.iter().map(|t| t["turn"]["content"].as_str().unwrap().to_owned()).collect();
        contents.sort();
        contents
    };
    assert_eq!(found(json!({})).await, ["user said plum in one", "user said plum in two"]);
    assert_eq!(found(json!({ "session_id": "two" })).await, ["user said plum in two"]);
    let both = json!({ "roles": ["assistant", "tool"], "session_id": "one" });
    assert_eq!(found(both).await, ["assistant said plum in one", "tool said plum in one"]);
    assert!(found(json!({ "session_id": "three" })).await.is_empty());
}

#[tokio::test]
async fn search_as_of_a_past_time_is_reproducible() {
    let models = TestModels::with_words();
    let app = TestApp::with_models(models.clone()).await;
    let alice = alice(&app).await;
    let saved = alice.save("Lives in Lisbon by the river").await;
    alice.save("Keeps bees").await;
    let then = lukasa_server::clock::now();
    let path = format!("/api/memory/{}", saved.at("/memory/id"));
    let at = json!({ "as_of": then.to_string(), "known_at": then.to_string(), "turns": 5 });
    let first = search_with(&alice, "Where does she live?", at.clone()).await.expect(200);
    assert!(finds(&first, "Lives in Lisbon by the river"));
    alice.patch(&path, json!({ "content": "Lives in Porto" })).await.expect(200);
    alice.save("Lives for music").await;
    let turns = json!({ "turns": [{ "role": "user", "content": "I live on a boat now" }] });
    alice.post("/api/sessions/chat/turns", turns).await.expect(201);
    let later = search_with(&alice, "Where does she live?", at.clone()).await.expect(200);
    assert_eq!(first.text(), later.text());
    let (base, engine) = app.again(models).await;
    let restarted = search_with(&alice.at(&base), "Where does she live?", at).await.expect(200);
    assert_eq!(first.text(), restarted.text());
    engine.close();
    let now = search(&alice, "Where does she live?").await;
    assert!(finds(&now, "Lives in Porto") && !finds(&now, "Lives in Lisbon by the river"));
}

#[tokio::test]
async fn search_follows_links_one_step() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let mut ids = Vec::new();
    for content in ["Works on Project Heron", "Anna signs the invoices", "The office is yellow"] {
        ids.push(alice.save(content).await.at("/memory/id"));
    }
    for n in 0..30 {
        alice.save(&format!("Something else entirely {n}")).await;
    }
    for pair in ids.windows(2) {
        let to = json!({ "to": pair[1], "relation": "relates_to" });
        alice.post(&format!("/api/memory/{}/links", pair[0]), to).await.expect(201);
    }
    let found = search(&alice, "Heron").await;
    assert_eq!(contents(&found), ["Works on Project Heron", "Anna signs the invoices"]);
    let arms = found.json()["memories"][1]["why"]["arms"].clone();
    assert!(arms.as_array().unwrap().iter().any(|arm| arm["arm"] == "link"), "{arms}");
    let without = search_with(&alice, "Heron", json!({ "without": ["link"] })).await.expect(200);
    assert_eq!(contents(&without), ["Works on Project Heron"]);
}

#[tokio::test]
async fn search_resolves_last_month_in_the_user_timezone() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let now = lukasa_server::clock::now();
    // The last moment of the previous month in the user's timezone: in UTC it may be this month.
    let zone = jiff::tz::TimeZone::get("Pacific/Honolulu").unwrap();
    let here = now.to_zoned(zone);
    let first = here.first_of_month().unwrap().start_of_day().unwrap();
    let (in_it, after) = (
        first.timestamp() - jiff::SignedDuration::from_mins(5),
        first.timestamp() + jiff::SignedDuration::from_mins(5),
    );
    let turn = |content: &str, at: jiff::Timestamp| json!({ "role": "user", "content": content, "at": at.to_string() });
    let turns = json!({ "turns": [turn("the plumber fixed a pipe", in_it), turn("the plumber was kind", after)] });
    alice.post("/api/sessions/chat/turns", turns).await.expect(201);
    let asked = json!({
        "query": "What happened at the plumber last month?", "limit": 0, "turns": 2,
        "min_relevance": 0, "timezone": "Pacific/Honolulu",
    });
    let found = alice.post("/api/memory/search", asked).await.expect(200);
    assert_eq!(found.at("/times/0/words"), "last month");
    let until: jiff::Timestamp = found.at("/times/0/until").parse().unwrap();
    assert_eq!(until, first.timestamp(), "it ends with the month in the user's timezone");
    assert_eq!(found.at("/turns/0/turn/content"), "the plumber fixed a pipe");
    let time = |at: usize| {
        let arms = found.json()["turns"][at]["why"]["arms"].clone();
        arms.as_array()
            .unwrap()
            .iter()
            .any(|arm| arm["arm"] == "time" && arm["score"].as_f64().unwrap() > 0.0)
    };
    assert!(time(0) && !time(1), "{}", found.text());
}

/// A server with a scripted embedder and reranker whose failure mode the test can change.
async fn with_scripted_models() -> (TestApp, Client, Arc<ScriptedModel>, Arc<ScriptedModel>) {
    let (embedder, reranker) =
        (Arc::new(ScriptedModel::local(64)), Arc::new(ScriptedModel::remote(1)));
    let app =
        TestApp::with_models(TestModels::with_reranker(embedder.clone(), reranker.clone())).await;
    let alice = alice(&app).await;
    for content in
        ["Tea in the morning, tea at noon and tea at night", "Green tea", "Likes the sea"]
    {
        alice.save(content).await;
    }
    (app, alice, embedder, reranker)
}

#[tokio::test]
async fn failing_embedder_degrades_search_to_keywords() {
    let (_app, alice, embedder, _) = with_scripted_models().await;
    for (n, behavior) in [
        ScriptedBehavior::Failing,
        ScriptedBehavior::Malformed,
        ScriptedBehavior::Short,
        ScriptedBehavior::Slow(Duration::from_secs(30)),
    ]
    .into_iter()
    .enumerate()
    {
        embedder.set_behavior(behavior);
        let start = Instant::now();
        // A new query each time: query embeddings are cached.
        let found = search(&alice, &format!("green tea {n}")).await;
        assert!(
            start.elapsed() < Duration::from_secs(2),
            "{behavior:?} took {:?}",
            start.elapsed()
        );
        assert!(
            found.json()["degraded"].as_array().unwrap().contains(&"embedder".into()),
            "{behavior:?}"
        );
        assert_eq!(found.json()["model"], Value::Null);
        assert!(finds(&found, "Green tea"), "{behavior:?}");
    }
    embedder.set_behavior(ScriptedBehavior::Normal);
    assert_eq!(search(&alice, "green tea again").await.json()["degraded"], json!([]));
}

#[tokio::test]
async fn save_does_not_wait_for_a_failing_embedder() {
    let (_app, alice, embedder, _) = with_scripted_models().await;
    embedder.set_behavior(ScriptedBehavior::Failing);
    alice.save("Collects stamps").await;
    embedder.set_behavior(ScriptedBehavior::Normal);
    assert!(finds(&search(&alice, "stamps").await, "Collects stamps"), "by its words at once");
    // The search that found the missing embedding has queued it.
    for _ in 0..200 {
        let found = search_with(&alice, "stamps", json!({ "arms": ["vector"] })).await.expect(200);
        if finds(&found, "Collects stamps") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("its embedding was never made");
}

#[tokio::test]
async fn query_embeddings_are_cached() {
    let (_app, alice, embedder, _) = with_scripted_models().await;
    search(&alice, "green tea").await;
    let asked = embedder.asked();
    for _ in 0..5 {
        search(&alice, "green tea").await;
    }
    assert_eq!(embedder.asked(), asked);
    search(&alice, "black tea").await;
    assert_eq!(embedder.asked(), asked + 1);
}

#[tokio::test]
async fn reranker_sets_the_order_unless_it_fails() {
    let (_app, alice, _, reranker) = with_scripted_models().await;
    let fused = search_with(&alice, "tea at night", json!({ "rerank": false })).await.expect(200);
    assert_eq!(contents(&fused)[0], "Tea in the morning, tea at noon and tea at night");
    let reranked = search(&alice, "tea at night").await;
    assert_eq!(reranked.json()["degraded"], json!([]));
    let mut ranks: Vec<_> = reranked.json()["memories"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| f["why"]["fused_rank"].as_u64().unwrap())
        .collect();
    assert_eq!(ranks.len(), contents(&fused).len(), "nothing is lost on the way");
    ranks.sort_unstable();
    assert!(ranks.iter().zip(1..).all(|(rank, n)| *rank == n));
    // It scores the share of a text's words that are in the question, so the shorter text wins.
    let fused_noon = search_with(&alice, "tea noon", json!({ "rerank": false })).await.expect(200);
    assert_eq!(contents(&fused_noon)[0], "Tea in the morning, tea at noon and tea at night");
    let noon = search(&alice, "tea noon").await;
    assert_eq!(contents(&noon)[0], "Green tea", "{}", noon.text());
    assert!(noon.json()["memories"][0]["why"]["fused_rank"].as_u64().unwrap() > 1);
    for behavior in [
        ScriptedBehavior::Malformed,
        ScriptedBehavior::Short,
        ScriptedBehavior::Failing,
        ScriptedBehavior::Slow(Duration::from_secs(30)),
    ] {
        reranker.set_behavior(behavior);
        let start = Instant::now();
        let found = search(&alice, "tea at night").await;
        assert!(
            start.elapsed() < Duration::from_secs(2),
            "{behavior:?} took {:?}",
            start.elapsed()
        );
        assert_eq!(found.json()["degraded"], json!(["reranker"]), "{behavior:?}");
        assert_eq!(contents(&found), contents(&fused), "{behavior:?}: the fused order is kept");
    }
}

#[tokio::test]
async fn newer_of_two_equal_memories_ranks_first() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    for n in 0..40 {
        alice.save(&format!("Meets Anna on evening number {n}")).await;
    }
    let found = search_with(&alice, "Anna", json!({ "limit": 40 })).await.expect(200);
    let order = contents(&found);
    assert_eq!(order[0], "Meets Anna on evening number 39");
    let without = search_with(&alice, "Anna", json!({ "limit": 40, "without": ["recency"] })).await;
    assert_ne!(contents(&without.expect(200)), order);
}
