//! Usage records, reported outcomes, and statistics (R036, R150, R195).

use lukasa_core::Timestamp;
use lukasa_server::clock;
use serde_json::{Value, json};

use crate::app::{Answer, Client, TestApp};

async fn alice(app: &TestApp) -> Client {
    app.tenant_key("acme").await.about("alice")
}

/// Requests a context in a session and waits until it is recorded.
async fn given(client: &Client, query: &str) -> Answer {
    let body = json!({ "query": query, "session_id": "chat" });
    let given = client.post("/api/memory/retrieve", body).await.expect(200);
    client.wait_for_retrieval(&given.at("/retrieval_id")).await;
    given
}

#[tokio::test]
async fn usage_of_supplied_memories_is_recorded_and_outcomes_are_reported() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let memory = alice.save("Likes oolong tea").await.at("/memory/id");
    let retrieval = given(&alice, "What do I like to drink?").await.at("/retrieval_id");
    let used = alice.get("/api/memory/usage").await.expect(200);
    assert_eq!(used.each("type"), ["retrieved"]);
    let row = &used.json()["data"][0];
    assert_eq!(
        (&row["memory_id"], &row["session_id"], &row["retrieval_id"]),
        (&json!(memory), &json!("chat"), &json!(retrieval))
    );
    for kind in ["APPLIED", "cited", "conflicted", "overridden"] {
        let body = json!({
            "memory_id": memory, "type": kind, "session_id": "chat", "retrieval_id": retrieval,
            "influence": format!("{kind}: ordered tea"),
        });
        let reported = alice.post("/api/memory/usage", body).await.expect(201);
        assert_eq!(reported.at("/type"), kind.to_lowercase());
        assert!(!reported.at("/at").is_empty());
    }
    let kinds = alice.get(&format!("/api/memory/usage?memory_id={memory}")).await.each("type");
    assert_eq!(kinds, ["overridden", "conflicted", "cited", "applied", "retrieved"]);

    let unknown = json!({ "memory_id": memory, "type": "admired" });
    alice.post("/api/memory/usage", unknown).await.refused(422, "invalid_request");
    let unknown_memory = json!({ "memory_id": "mem_00000000000000000000000000", "type": "cited" });
    alice.post("/api/memory/usage", unknown_memory).await.refused(404, "memory_not_found");
}

#[tokio::test]
async fn previewed_context_is_traced_and_not_counted() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    alice.save("Likes oolong tea").await;
    let body =
        json!({ "query": "What do I like to drink?", "session_id": "chat", "preview": true });
    let shown = alice.post("/api/memory/retrieve", body.clone()).await.expect(200);
    let retrieval = shown.at("/retrieval_id");
    alice.wait_for_retrieval(&retrieval).await;
    alice.save("Likes jazz music").await;
    let again = alice.post("/api/memory/retrieve", body).await.expect(200);
    alice.wait_for_retrieval(&again.at("/retrieval_id")).await;
    let baseline = again.at("/baseline/content");
    assert!(baseline.contains("jazz"), "a preview froze the baseline: {baseline}");
    let trace = alice.get(&format!("/api/retrievals/{retrieval}")).await.expect(200);
    assert_eq!(trace.json()["trace"]["preview"], json!(true));
    let retrievals = async || {
        let insights = alice.get("/api/insights?days=7").await.expect(200);
        let days = insights.json()["days"].as_array().unwrap().clone();
        let today = days.iter().filter_map(|day| day["retrievals"].as_i64()).sum::<i64>();
        let stats = alice.get("/api/memory/stats").await.expect(200);
        let used = alice.get("/api/memory/usage").await.each("type").len();
        (today, stats.json()["retrievals"].as_i64().unwrap(), used)
    };
    assert_eq!(retrievals().await, (0, 0, 0));
    given(&alice, "What do I like to drink?").await;
    assert_eq!(retrievals().await, (1, 1, 2));
}

/// One retrieval uses many memories at the same moment; a page may end in the middle of them.
#[tokio::test]
async fn usage_pages_are_complete_without_duplicates() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    for tea in ["oolong", "sencha", "assam", "rooibos", "mate"] {
        alice.save(&format!("Likes {tea}")).await;
    }
    given(&alice, "What do I like to drink?").await;
    let whole = alice.get("/api/memory/usage").await.expect(200).each("memory_id");
    assert_eq!(whole.len(), 5);
    let (mut paged, mut cursor) = (Vec::new(), String::new());
    for _ in 0..3 {
        let page = alice.get(&format!("/api/memory/usage?limit=2{cursor}")).await.expect(200);
        paged.extend(page.each("memory_id"));
        cursor = format!("&cursor={}", page.at("/next_cursor"));
    }
    assert_eq!(paged, whole);
}

#[tokio::test]
async fn erase_removes_usage_records() {
    let app = TestApp::with_keys().await;
    let alice = app.human("acme", "alice").await;
    let memory = alice.save("Likes kumquats").await.at("/memory/id");
    let given = given(&alice, "What do I like to eat?").await;
    let report = json!({ "memory_id": memory, "type": "cited", "influence": "ate kumquats" });
    alice.with("idempotency-key", "k").post("/api/memory/usage", report).await.expect(201);
    alice.post(&format!("/api/memory/{memory}/erase"), json!({})).await.expect(200);
    assert!(alice.get("/api/memory/usage").await.expect(200).each("type").is_empty());
    let retrieval = given.at("/retrieval_id");
    alice.get(&format!("/api/retrievals/{retrieval}")).await.refused(404, "retrieval_not_found");
    alice.get("/api/sessions/chat/context").await.refused(404, "session_not_found");
    let admin = app.database.admin().await;
    let tables = "select tablename::text from pg_tables where schemaname = 'public'";
    for row in admin.query(tables, &[]).await.unwrap() {
        let table: String = row.get(0);
        let sql = format!("select count(*) from {table} t where t::text ilike '%kumquat%'");
        assert_eq!(admin.query_one(&sql, &[]).await.unwrap().get::<_, i64>(0), 0, "{table}");
    }
}

#[tokio::test]
async fn usage_records_are_deleted_after_ninety_days() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let memory = alice.save("Likes oolong tea").await.at("/memory/id");
    given(&alice, "What do I like to drink?").await;
    let body = json!({ "memory_id": memory, "type": "cited" });
    alice.post("/api/memory/usage", body).await.expect(201);
    let admin = app.database.admin().await;
    let age = async |days: i64| {
        let at: Timestamp = clock::now() - jiff::SignedDuration::from_hours(24 * days);
        for (table, column) in [("retrieval", "at"), ("usage", "at"), ("baseline", "rendered_at")] {
            let sql = format!("update {table} set {column} = '{at}'::timestamptz");
            admin.batch_execute(&sql).await.unwrap();
        }
        alice.post("/api/memory/purge", json!({})).await.expect(200);
        alice.get("/api/memory/usage").await.expect(200).each("type").len()
    };
    assert_eq!(age(89).await, 2);
    assert_eq!(age(91).await, 0);
    alice.get("/api/sessions/chat/context").await.refused(404, "session_not_found");
    assert_eq!(alice.get("/api/memory").await.each("id"), [memory], "the memory itself stays");
}

#[tokio::test]
async fn stats_count_memories_and_their_usage() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    for body in [
        json!({ "content": "Likes the sea", "domain": "travel", "category": "profile" }),
        json!({ "content": "Likes trains", "domain": "travel" }),
        json!({ "content": "Knows Rust" }),
    ] {
        alice.post("/api/memory", body).await.expect(201);
    }
    let gone = alice.save("Liked sushi").await.at("/memory/id");
    alice.post(&format!("/api/memory/{gone}/forget"), json!({})).await.expect(200);
    let turn = |content: &str| json!({ "role": "user", "content": content });
    let turns = json!({ "turns": [turn("one"), turn("two")] });
    alice.post("/api/sessions/chat/turns", turns).await.expect(201);
    let given = given(&alice, "Where do I like to go?").await;
    let memory = given.at("/baseline/citations/0/memory_id");
    let body = json!({ "memory_id": memory, "type": "cited" });
    alice.post("/api/memory/usage", body).await.expect(201);
    let stats = alice.get("/api/memory/stats").await.expect(200).json();
    let count = |pointer: &str| stats.pointer(pointer).and_then(Value::as_i64).unwrap_or(0);
    assert_eq!((count("/by_domain/travel"), count("/by_domain/")), (2, 1), "{stats}");
    assert_eq!((count("/by_category/profile"), count("/by_category/fact")), (1, 2), "{stats}");
    assert_eq!((count("/sessions"), count("/turns"), count("/retrievals")), (1, 2, 1), "{stats}");
    assert_eq!(count("/usage/cited"), 1, "{stats}");
}
