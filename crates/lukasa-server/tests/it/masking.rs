//! Secrets in turns are masked on every way by which a turn comes in, and passed on untouched.

use lukasa_server::http::Door;
use serde_json::json;

use crate::app::{Client, TestApp};
use crate::gateway::stage::{Stage, reply, say};
use crate::models::{Stage as Models, finding};
use crate::moving::{folder, lived, said, text};

const TOKEN: &str = "ghp_016C7f8a9B2c3D4e5F6g7H8i9J0k1L2m3N4o";

/// The tables that hold the token.
async fn tables_with_token(app: &TestApp) -> Vec<String> {
    let admin = app.database.admin().await;
    let tables = "select tablename::text from pg_tables where schemaname = 'public'";
    let mut found = Vec::new();
    for row in admin.query(tables, &[]).await.unwrap() {
        let table: String = row.get(0);
        let sql = format!("select count(*) from {table} t where t::text like '%016C7f8a9B2c%'");
        if admin.query_one(&sql, &[]).await.unwrap().get::<_, i64>(0) > 0 {
            found.push(table);
        }
    }
    found
}

async fn contents(client: &Client, session: &str) -> Vec<String> {
    client.get(&format!("/api/sessions/{session}/turns")).await.expect(200).each("content")
}

#[tokio::test]
async fn a_secret_in_an_appended_turn_is_stored_nowhere() {
    let app = TestApp::with_keys().await;
    let alice = app.tenant_key("acme").await.about("alice").with("idempotency-key", "k");
    let words = format!("Deploy with {TOKEN} now");
    let body = json!({ "turns": [{ "role": "user", "content": words,
        "spans": [{ "from": 0, "to": 6, "as": "pasted" },
                  { "from": words.len() - 3, "to": words.len(), "as": "quoted" }] }] });
    let first = alice.post("/api/sessions/c/turns", body.clone()).await.expect(201);
    let again = alice.post("/api/sessions/c/turns", body).await.expect(201);
    assert_eq!(first.json()["turns"], again.json()["turns"]);
    let held = alice.get("/api/sessions/c/turns").await.expect(200).json();
    assert_eq!(held["data"][0]["content"], "Deploy with [secret] now");
    let spans = json!([{ "from": 0, "to": 6, "as": "pasted" },
                       { "from": 21, "to": 24, "as": "quoted" }]);
    assert_eq!(held["data"][0]["spans"], spans);
    let title = json!({ "title": TOKEN });
    alice.with("idempotency-key", "t").patch("/api/sessions/c", title).await.expect(200);
    assert_eq!(tables_with_token(&app).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_secret_in_a_gateway_chat_reaches_the_upstream_and_is_stored_nowhere() {
    let stage = Stage::open(Door::Keys, |_, asked| reply(asked, &format!("Got {TOKEN}"))).await;
    let (ada, direct) = stage.assistant("ada").await;
    let ada = ada.with("x-lukasa-session", "c");
    let answer = say(&ada, &[&format!("Use {TOKEN}")]).await.expect(200);
    assert!(answer.text().contains(TOKEN), "the client gets the answer as it is");
    let asked = String::from_utf8(stage.last().body).unwrap();
    assert!(asked.contains(&format!("Use {TOKEN}")), "the upstream gets the message as it is");
    let kept = stage.turns(&direct, "c", 2).await;
    assert_eq!(kept, ["user: Use [secret]", "assistant: Got [secret]"]);
    // The whole chat is sent again, and nothing is stored twice.
    say(&ada, &[&format!("Use {TOKEN}"), &format!("Got {TOKEN}"), "Thanks"]).await.expect(200);
    assert_eq!(stage.turns(&direct, "c", 4).await.len(), 4);
    assert_eq!(tables_with_token(&stage.app).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_secret_in_mem0_messages_is_stored_nowhere() {
    let app = TestApp::with_models(Models::that_chats(finding(Vec::new()))).await;
    let key = app.tenant_key("acme").await;
    let body = json!({ "messages": [{ "role": "user", "content": format!("Use {TOKEN}") }],
        "user_id": "alice", "run_id": "chat-1" });
    let secret = key.header("authorization").replace("Bearer ", "");
    let mem0 = key.with("authorization", &format!("Token {secret}"));
    mem0.post("/mem0/v3/memories/add/", body).await.expect(200);
    app.work().await;
    assert_eq!(contents(&key.about("alice"), "chat-1").await, ["Use [secret]"]);
    assert_eq!(tables_with_token(&app).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_secret_in_an_archive_is_masked_when_it_is_restored() {
    let app = TestApp::local().await;
    lived(&app, "ana").await;
    // A turn that was stored before secrets were masked.
    let admin = app.database.admin().await;
    let sql = format!("update turn set content = 'Use {TOKEN}' where number = 1");
    admin.batch_execute(&sql).await.unwrap();
    let (_folder, file) = folder("ana.zip");
    said(&app, "ana", &["export", text(&file)]).await;
    admin.batch_execute("update turn set content = 'Hello' where number = 1").await.unwrap();
    said(&app, "bea", &["import", text(&file)]).await;
    let bea = app.anonymous().about("bea");
    assert_eq!(contents(&bea, "first").await[0], "Use [secret]");
    assert_eq!(tables_with_token(&app).await, Vec::<String>::new());
}
