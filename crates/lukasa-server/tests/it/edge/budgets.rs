//! Using the models behind the gateway needs its own permission and has a budget.

use lukasa_core::Permission::{self, Chat, Propose, Read, Write};
use lukasa_models::scripted::server::{ConnectionStep, ScriptedServer, head};
use lukasa_server::api::{App, AuthMode};
use lukasa_server::gateway::{BudgetSettings, Gateway, Upstream};
use lukasa_server::http::router_with;
use serde_json::json;

use crate::app::{Client, TestApp, serve};
use crate::gateway::fixture::{TestGateway, say};

#[tokio::test]
async fn gateway_needs_the_chat_permission_in_every_mode() {
    let fixture = TestGateway::answering(AuthMode::Keys, "Yes").await;
    let asked = |client: Client| async move {
        let body = json!({ "model": "m", "input": "text" });
        [
            say(&client, &["Hello"]).await.status,
            say(&client.with("x-lukasa-mode", "off"), &["Hello"]).await.status,
            client.with("x-lukasa-mode", "off").get("/v1/models").await.status,
            client.with("x-lukasa-mode", "off").post("/v1/embeddings", body).await.status,
        ]
    };
    let may = async |permissions: &[Permission]| {
        fixture.through(&fixture.app.key_with_permissions("acme", permissions).await).about("ada")
    };
    assert_eq!(asked(may(&[Read, Write, Propose]).await).await, [403; 4]);
    assert_eq!(asked(may(&[Propose, Chat]).await).await[1..], [200; 3]);
    assert_eq!(asked(may(&[Read, Chat]).await).await, [200; 4]);
    // A browser token has it only if it was requested and its issuer has it.
    let maker = fixture.app.tenant_key("acme").await;
    let token = maker.post("/api/tokens", json!({ "user": "ada" })).await.expect(201);
    let token = fixture.through(&fixture.app.presenting(&token.at("/secret")));
    assert_eq!(asked(token).await, [403; 4]);
    let wanted = json!({ "user": "ada", "permissions": ["read", "write", "chat"] });
    let token = maker.post("/api/tokens", wanted.clone()).await.expect(201);
    let token = fixture.through(&fixture.app.presenting(&token.at("/secret")));
    assert_eq!(asked(token).await, [200; 4]);
    let without = fixture.app.key_with_permissions("acme", &[Read, Write, Permission::Admin]).await;
    without.post("/api/tokens", wanted).await.refused(422, "invalid_request");
    // A key has it only if it was requested.
    let key = maker.post("/api/keys", json!({ "name": "app" })).await.expect(201);
    assert_eq!(key.json()["permissions"], json!(["read", "write", "propose"]));
}

#[tokio::test]
async fn spent_chat_budget_is_reported_in_the_upstream_error_format() {
    let app = TestApp::with_keys().await;
    let service = ScriptedServer::start(|_, _| {
        let body = br#"{"choices":[{"message":{"content":"Yes"}}],"usage":{"total_tokens":60}}"#;
        let headers =
            format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len());
        vec![ConnectionStep::Send(head(200, &headers)), ConnectionStep::Send(body.to_vec())]
    })
    .await;
    let upstream = Upstream::new(&format!("{}/v1", service.base), Some("sk-x")).unwrap();
    let own = App::new(app.engine.clone(), AuthMode::Keys);
    let budgets = BudgetSettings { chat_tokens: 100, ..BudgetSettings::default() };
    let gateway = Gateway::new(own.clone(), Some(upstream)).with_budgets(&budgets);
    let (base, _) = serve(router_with(own, gateway)).await;
    let key = app.tenant_key("acme").await.at(&base);
    let ada = key.about("ada");
    say(&ada, &["Hello"]).await.expect(200);
    say(&ada.with("x-lukasa-mode", "off"), &["Hello"]).await.expect(200);
    let refused = say(&ada, &["Hello"]).await.expect(429);
    assert_eq!(refused.at("/error/code"), "budget_spent");
    assert_eq!(refused.at("/error/type"), "insufficient_quota");
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=86_400).contains(&wait), "{wait}");
    say(&key.about("bob"), &["Hello"]).await.expect(200);
}
