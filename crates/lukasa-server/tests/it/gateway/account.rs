//! What clients may use with the server's own key, and with any key of a service that needs none.

use std::time::Duration;

use lukasa_models::scripted::server::ScriptedServer;
use lukasa_server::api::{App, AuthMode};
use lukasa_server::gateway::{AccountSettings, Gateway, Upstream};
use lukasa_server::http::router_with;
use serde_json::json;

use super::fixture::{TestGateway, reply, say};
use crate::app::{TestApp, serve};

#[tokio::test]
async fn invented_key_does_not_lift_the_limits_of_a_service_without_a_key() {
    let service = ScriptedServer::start(|_, asked| reply(asked, "Yes")).await;
    let fixture = TestApp::with_keys().await;
    let app = App::new(fixture.engine.clone(), AuthMode::Keys);
    let account = AccountSettings { upstream_models: vec!["small".into()], upstream_hosted: false };
    let url = format!("{}/v1", service.base);
    let chat =
        |model: &str| json!({"model": model, "messages": [{"role": "user", "content": "Hi"}]});
    for (key, expected) in [(None, 403), (Some("sk-server"), 200)] {
        let upstream = Upstream::new(&url, key).unwrap();
        let gateway = Gateway::new(app.clone(), Some(upstream)).with_account(&account);
        let (base, _) = serve(router_with(app.clone(), gateway)).await;
        let direct = fixture.tenant_key("acme").await.about("ada");
        let own = direct.header("authorization").replace("Bearer ", "");
        let ada = direct.at(&base).with("x-lukasa-key", &own).with("authorization", "Bearer x");
        ada.post("/v1/chat/completions", chat("large")).await.expect(expected);
        ada.post("/v1/chat/completions", chat("small")).await.expect(200);
    }
}

#[tokio::test]
async fn item_reference_without_a_type_is_refused_with_the_servers_key() {
    let fixture = TestGateway::answering(AuthMode::Keys, "Yes").await;
    let (ada, _) = fixture.assistant("ada").await;
    let body = json!({"model": "m", "input": [{"id": "msg_1"}, {"role": "user", "content": "Hi"}]});
    let refused = ada.post("/v1/responses", body).await.expect(403);
    assert_eq!(refused.at("/error/code"), "upstream_refused");
    assert!(fixture.service.asked().is_empty());
}

#[tokio::test]
async fn continued_response_is_not_refused_because_the_database_is_down() {
    let deadline = Duration::from_millis(500);
    let fixture =
        TestGateway::with_memory_deadline(deadline, AuthMode::Keys, |_, asked| reply(asked, "Yes"))
            .await;
    let (ada, _) = fixture.assistant("ada").await;
    say(&ada, &["Hello"]).await.expect(200);
    let body = json!({"model": "m", "input": "And now?", "previous_response_id": "resp_x"});
    ada.post("/v1/responses", body.clone()).await.expect(403);
    fixture.line.cut();
    let unknown = ada.post("/v1/responses", body).await.expect(503);
    assert_eq!(unknown.at("/error/code"), "unavailable");
    assert!(unknown.header("retry-after").is_some());
}
