//! Sessions over HTTP: turns are appended, numbered, never changed, and found at once (R043).

use lukasa_core::{Origin, Permission, TenantId};
use lukasa_engine::credentials::NewKey;
use lukasa_server::clock;
use serde_json::{Value, json};

use crate::app::{Client, TestApp};
use crate::models::TestModels;

async fn alice(app: &TestApp) -> Client {
    app.tenant_key("acme").await.about("alice")
}

fn turn(role: &str, content: &str) -> Value {
    json!({ "role": role, "content": content })
}

/// Appends to a session.
async fn append(client: &Client, session: &str, turns: &[Value]) -> crate::app::Answer {
    client.post(&format!("/api/sessions/{session}/turns"), json!({ "turns": turns })).await
}

#[tokio::test]
async fn turns_are_numbered_in_order_and_paged() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let first = append(&alice, "chat", &[turn("user", "one"), turn("assistant", "two")]).await;
    let first = first.expect(201);
    assert_eq!((first.json()["first"].clone(), first.at("/session/id")), (1.into(), "chat".into()));
    let second = append(&alice, "chat", &[turn("user", "three")]).await.expect(201);
    assert_eq!(
        (second.json()["first"].clone(), second.json()["session"]["turns"].clone()),
        (3.into(), 3.into())
    );

    let mut seen = Vec::new();
    let mut path = "/api/sessions/chat/turns?limit=2".to_owned();
    loop {
        let page = alice.get(&path).await.expect(200);
        seen.extend(page.each("content"));
        let cursor = page.at("/next_cursor");
        if cursor.is_empty() {
            break;
        }
        path = format!("/api/sessions/chat/turns?limit=2&cursor={cursor}");
    }
    assert_eq!(seen, ["one", "two", "three"]);
    let all = alice.get("/api/sessions/chat/turns").await.expect(200);
    let numbers: Vec<_> =
        all.json()["data"].as_array().unwrap().iter().map(|t| t["number"].clone()).collect();
    assert_eq!(numbers, [1, 2, 3].map(Value::from));
    let ids = [first.json()["turn_ids"].clone(), second.json()["turn_ids"].clone()];
    let ids: Vec<_> = ids.iter().flat_map(|ids| ids.as_array().unwrap().clone()).collect();
    assert_eq!(all.each("id"), ids);
}

#[tokio::test]
async fn turns_cannot_be_changed() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    append(&alice, "chat", &[turn("user", "as it was said")]).await.expect(201);
    let before = alice.get("/api/sessions/chat/turns").await.expect(200);
    // No operation changes a turn, and the database role has no permission to.
    let document = serde_json::to_value(lukasa_server::http::document()).unwrap();
    for (path, item) in document["paths"].as_object().unwrap() {
        if path.starts_with("/api/sessions") && path.contains("turns") {
            let methods: Vec<&String> = item.as_object().unwrap().keys().collect();
            assert!(methods.iter().all(|m| ["get", "post"].contains(&m.as_str())), "{path}");
        }
    }
    let admin = app.database.admin().await;
    let may = "select has_table_privilege('lukasa_serve', 'turn', 'update')";
    assert!(!admin.query_one(may, &[]).await.unwrap().get::<_, bool>(0));
    // A turn can be marked as removed; none of its other columns can be updated.
    let columns = "select coalesce(string_agg(attname::text, ','), '') from pg_attribute \
                    where attrelid = 'turn'::regclass and attnum > 0 and not attisdropped \
                      and has_column_privilege('lukasa_serve', 'turn', attnum, 'update')";
    let columns: String = admin.query_one(columns, &[]).await.unwrap().get(0);
    assert_eq!(columns, "withdrawn_by");
    append(&alice, "chat", &[turn("user", "and more")]).await.expect(201);
    let after = alice.get("/api/sessions/chat/turns").await.expect(200);
    assert_eq!(after.json()["data"][0], before.json()["data"][0]);
}

#[tokio::test]
async fn turns_sent_twice_with_one_idempotency_key_are_stored_once() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let once = alice.with("idempotency-key", "k1");
    let first = append(&once, "chat", &[turn("user", "hello")]).await.expect(201);
    let again = append(&once, "chat", &[turn("user", "hello")]).await.expect(201);
    assert_eq!(first.body, again.body);
    append(&once, "chat", &[turn("user", "other")]).await.refused(422, "idempotency_mismatch");
    assert_eq!(alice.get("/api/sessions/chat/turns").await.each("content"), ["hello"]);
    // Opening a session under a generated name and reporting usage are idempotent as well.
    let open = alice.with("idempotency-key", "k2");
    let one = open.post("/api/sessions", json!({ "title": "t" })).await.expect(200);
    let two = open.post("/api/sessions", json!({ "title": "t" })).await.expect(200);
    assert_eq!(one.body, two.body);
    let memory = alice.save("Likes tea").await.at("/memory/id");
    let used = json!({ "memory_id": memory, "type": "cited" });
    let report = alice.with("idempotency-key", "k3");
    let one = report.post("/api/memory/usage", used.clone()).await.expect(201);
    let two = report.post("/api/memory/usage", used).await.expect(201);
    assert_eq!(one.body, two.body);
    assert_eq!(alice.get("/api/memory/usage").await.each("type"), ["cited"]);
}

#[tokio::test]
async fn concurrent_appends_get_distinct_turn_numbers() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let mut writers = Vec::new();
    for writer in 0..12 {
        let client = alice.clone();
        writers.push(tokio::spawn(async move {
            let words = format!("writer {writer}");
            append(&client, "chat", &[turn("user", &words), turn("user", &words)]).await.expect(201)
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let all = alice.get("/api/sessions/chat/turns").await.expect(200).json();
    let all = all["data"].as_array().unwrap();
    let numbers: Vec<i64> = all.iter().map(|t| t["number"].as_i64().unwrap()).collect();
    assert_eq!(numbers, (1..=24).collect::<Vec<_>>());
    for pair in all.chunks(2) {
        assert_eq!(pair[0]["content"], pair[1]["content"], "what was sent together stays together");
    }
}

#[tokio::test]
async fn turn_origin_follows_the_role_and_is_capped_by_the_key() {
    let app = TestApp::with_keys().await;
    let strong = alice(&app).await;
    let mut seen = Vec::new();
    for (origin, session) in [(Origin::Assistant, "strong"), (Origin::Document, "weak")] {
        let new = NewKey {
            name: session.into(),
            user: None,
            permissions: Permission::ALL.to_vec(),
            origin,
            expires_at: None,
        };
        let tenant = TenantId::named("acme");
        let key = app
            .engine
            .credentials
            .create_key(tenant, new, &clock::random(), clock::now())
            .await
            .unwrap();
        let client = app.presenting(&key.text).about("alice");
        let turns = ["user", "assistant", "system", "tool"].map(|role| turn(role, "hello"));
        append(&client, session, &turns).await.expect(201);
        seen.push(strong.get(&format!("/api/sessions/{session}/turns")).await.each("origin"));
    }
    assert_eq!(seen[0], ["user_turn", "assistant", "document", "tool"]);
    assert!(seen[1].iter().all(|origin| origin == "document" || origin == "import"), "{seen:?}");
    // The caller cannot set the origin.
    let claimed = json!({ "role": "user", "content": "x", "origin": "user_said" });
    let refused = append(&strong, "chat", &[claimed]).await;
    assert_eq!(refused.status, 400, "{}", refused.text());
}

#[tokio::test]
async fn invalid_turns_are_refused_with_a_reason() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    for (turns, status) in [
        (vec![], 422),
        (vec![turn("user", " ")], 422),
        (vec![turn("user", "a\u{0}b")], 422),
        (vec![turn("narrator", "hello")], 422),
        (vec![turn("user", "x"); 101], 422),
    ] {
        let answer = append(&alice, "chat", &turns).await;
        assert_eq!(answer.status, status, "{}", answer.text());
    }
    let long = "x".repeat(256);
    append(&alice, &long, &[turn("user", "x")]).await.refused(422, "invalid_request");
    alice.get("/api/sessions/chat").await.refused(404, "session_not_found");
    alice.get("/api/sessions/chat/turns").await.refused(404, "session_not_found");
}

#[tokio::test]
async fn sessions_are_opened_once_and_listed_by_last_activity() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let opened = alice.post("/api/sessions", json!({ "id": "a", "title": "Trips" })).await;
    let again =
        alice.post("/api/sessions", json!({ "id": "a", "title": "Other" })).await.expect(200);
    assert_eq!(opened.expect(200).body, again.body, "opening it again returns the existing one");
    let drawn = alice.post("/api/sessions", json!({})).await.expect(200);
    assert!(drawn.at("/id").starts_with("ses_"));
    append(&alice, "a", &[turn("user", "the last word")]).await.expect(201);
    let list = alice.get("/api/sessions").await.expect(200);
    assert_eq!(list.each("id"), ["a".to_owned(), drawn.at("/id")]);
    assert_eq!(alice.get("/api/sessions/a").await.expect(200).at("/title"), "Trips");
    let page = alice.get("/api/sessions?limit=1").await.expect(200);
    let rest = alice.get(&format!("/api/sessions?cursor={}", page.at("/next_cursor"))).await;
    assert_eq!(rest.each("id"), [drawn.at("/id")]);
}

#[tokio::test]
async fn search_finds_turns_and_memories_right_after_the_response() {
    for app in [TestApp::with_keys().await, TestApp::with_models(TestModels::with_words()).await] {
        let alice = alice(&app).await;
        for round in 0..20 {
            let word = crate::app::canary("said");
            let content = format!("round {round}: the word is {word}");
            append(&alice, "chat", &[turn("user", &content)]).await.expect(201);
            let found =
                alice.post("/api/memory/search", json!({ "query": word, "turns": 5 })).await;
            assert_eq!(found.at("/turns/0/turn/content"), content);
            let word = crate::app::canary("saved");
            alice.save(&format!("round {round}: {word}")).await;
            let found = alice.post("/api/memory/search", json!({ "query": word })).await;
            assert!(found.at("/memories/0/memory/content").contains(&word), "{}", found.text());
        }
    }
}

#[tokio::test]
async fn turn_size_is_limited() {
    let app = TestApp::local().await;
    let me = app.anonymous();
    let turn = |chars: usize| json!({ "role": "user", "content": "ä".repeat(chars) });
    let three = json!({ "turns": [turn(100_000), turn(100_000), turn(100_000)] });
    me.post("/api/sessions/long/turns", three).await.expect(201);
    let too_long = json!({ "turns": [turn(100_001)] });
    me.post("/api/sessions/long/turns", too_long).await.refused(422, "invalid_request");
    let library = json!({ "turns": vec![turn(100_000); 30] });
    me.post("/api/sessions/long/turns", library).await.refused(413, "body_too_large");
}
