//! Secrets in turns are masked on every path by which a turn is stored, and passed on unchanged.

use lukasa_server::api::AuthMode;
use serde_json::json;

use crate::app::{Client, TestApp};
use crate::archive::{fill_user, folder, run_json, text};
use crate::gateway::fixture::{TestGateway, reply, say};
use crate::models::{TestModels, proposing_chat};

const TOKEN: &str = "ghp_016C7f8a9B2c3D4e5F6g7H8i9J0k1L2m3N4o";

/// The tables that contain the token.
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
async fn secret_in_appended_turn_is_stored_nowhere() {
    let app = TestApp::with_keys().await;
    let alice = app.tenant_key("acme").await.about("alice").with("idempotency-key", "k");
    let words = format!("Deploy with {TOKEN} now");
    let body = json!({ "turns": [{ "role": "user", "content": words,
        "spans": [{ "from": 0, "to": 6, "as": "pasted" },
                  { "from": words.len() - 3, "to": words.len(), "as": "quoted" }] }] });
    let first = alice.post("/api/sessions/c/turns", body.clone()).await.expect(201);
    let again = alice.post("/api/sessions/c/turns", body).await.expect(201);
    assert_eq!(first.json()["turns"], again.json()["turns"]);
    let turns = alice.get("/api/sessions/c/turns").await.expect(200).json();
    assert_eq!(turns["data"][0]["content"], "Deploy with [secret] now");
    let spans = json!([{ "from": 0, "to": 6, "as": "pasted" },
                       { "from": 21, "to": 24, "as": "quoted" }]);
    assert_eq!(turns["data"][0]["spans"], spans);
    let title = json!({ "title": TOKEN });
    alice.with("idempotency-key", "t").patch("/api/sessions/c", title).await.expect(200);
    assert_eq!(tables_with_token(&app).await, Vec::<String>::new());
}

#[tokio::test]
async fn secret_in_a_gateway_chat_reaches_the_upstream_and_is_not_stored() {
    let fixture =
        TestGateway::open(AuthMode::Keys, |_, asked| reply(asked, &format!("Got {TOKEN}"))).await;
    let (ada, direct) = fixture.assistant("ada").await;
    let ada = ada.with("x-lukasa-session", "c");
    let answer = say(&ada, &[&format!("Use {TOKEN}")]).await.expect(200);
    assert!(answer.text().contains(TOKEN), "the client gets the answer as it is");
    let asked = String::from_utf8(fixture.last().body).unwrap();
    assert!(asked.contains(&format!("Use {TOKEN}")), "the upstream gets the message as it is");
    let stored = fixture.turns(&direct, "c", 2).await;
    assert_eq!(stored, ["user: Use [secret]", "assistant: Got [secret]"]);
    // The whole chat is sent again, and nothing is stored twice.
    say(&ada, &[&format!("Use {TOKEN}"), &format!("Got {TOKEN}"), "Thanks"]).await.expect(200);
    assert_eq!(fixture.turns(&direct, "c", 4).await.len(), 4);
    assert_eq!(tables_with_token(&fixture.app).await, Vec::<String>::new());
}

#[tokio::test]
async fn secret_in_mem0_messages_is_not_stored() {
    let app = TestApp::with_models(TestModels::that_chats(proposing_chat(Vec::new()))).await;
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
async fn secret_in_an_archive_is_masked_on_restore() {
    let app = TestApp::local().await;
    fill_user(&app, "ana").await;
    // A turn that was stored before secrets were masked.
    let admin = app.database.admin().await;
    let sql = format!("update turn set content = 'Use {TOKEN}' where number = 1");
    admin.batch_execute(&sql).await.unwrap();
    let (_folder, file) = folder("ana.zip");
    run_json(&app, "ana", &["export", text(&file)]).await;
    admin.batch_execute("update turn set content = 'Hello' where number = 1").await.unwrap();
    run_json(&app, "bea", &["import", text(&file)]).await;
    let bea = app.anonymous().about("bea");
    assert_eq!(contents(&bea, "first").await[0], "Use [secret]");
    assert_eq!(tables_with_token(&app).await, Vec::<String>::new());
}
