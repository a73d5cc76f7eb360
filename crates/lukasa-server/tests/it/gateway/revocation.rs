//! A revocation reaches chats under way: no further tool round, and nothing is recorded.

use std::time::Duration;

use lukasa_core::Permission;
use lukasa_engine::credentials::CREDENTIAL_LEASE;
use lukasa_models::scripted::server::{ConnectionStep, RequestRecord, ScriptedResponse};
use lukasa_server::api::AuthMode;
use lukasa_server::clock;
use serde_json::json;

use super::fixture::{TestGateway, chat, reply, say};

/// A script whose answer to the first request takes a while.
fn slow_first(n: usize, answer: Vec<ConnectionStep>) -> Vec<ConnectionStep> {
    // Longer than a cached admission is used without a check.
    let wait = if n == 0 { CREDENTIAL_LEASE * 3 } else { Duration::ZERO };
    [ConnectionStep::Wait(wait)].into_iter().chain(answer).collect()
}

fn calling(_: &RequestRecord) -> Vec<ConnectionStep> {
    let arguments = json!({"content": "Is allergic to walnuts"}).to_string();
    let call = json!({"index": 0, "id": "call_0", "type": "function",
                      "function": {"name": "save_memory", "arguments": arguments}});
    let message = json!({"role": "assistant", "content": null, "tool_calls": [call]});
    let choice = json!({"message": message, "finish_reason": "tool_calls"});
    ScriptedResponse::json(&json!({"id": "c", "choices": [choice]})).into()
}

/// Sends a chat with tools and revokes its key while the model answers; returns the status.
async fn chat_and_revoke(fixture: &TestGateway, tools: &str) -> u16 {
    let (id, secret) = fixture.app.make_key("acme", None, &Permission::ALL, None).await;
    let ada = fixture.through(&fixture.app.presenting(&secret)).about("ada");
    let ada = ada.with("x-lukasa-session", "c").with("x-lukasa-tools", tools);
    let admin = fixture.through(&fixture.app.tenant_key("acme").await);
    let revoke = async {
        while fixture.service.asked().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        admin.delete(&format!("/api/keys/{id}")).await.expect(200);
    };
    let chatted = ada.post("/v1/chat/completions", chat(&["Remember my allergy to walnuts"]));
    tokio::join!(chatted, revoke).0.status
}

#[tokio::test]
async fn revoked_key_gets_no_further_tool_round() {
    let fixture = TestGateway::open(AuthMode::Keys, |n, asked| {
        slow_first(n, if n == 0 { calling(asked) } else { reply(asked, "Noted.") })
    })
    .await;
    assert_eq!(chat_and_revoke(&fixture, "on").await, 401);
    assert_eq!(fixture.service.asked().len(), 1, "the model is not called again");
    let (_, direct) = fixture.assistant("ada").await;
    assert!(direct.get("/api/memory").await.each("id").is_empty(), "no tool was run");
}

#[tokio::test]
async fn exchange_of_a_revoked_key_is_not_recorded() {
    let fixture =
        TestGateway::open(AuthMode::Keys, |n, asked| slow_first(n, reply(asked, "Noted."))).await;
    assert_eq!(chat_and_revoke(&fixture, "off").await, 200, "the answer had begun");
    let (ada, direct) = fixture.assistant("ada").await;
    // Rounds of a session are recorded in order, so the first has been tried when this is there.
    say(&ada.with("x-lukasa-session", "c"), &["Hello"]).await.expect(200);
    let stored = fixture.turns(&direct, "c", 2).await;
    assert_eq!(stored, ["user: Hello", "assistant: Noted."]);
}

#[tokio::test]
async fn key_that_expired_and_was_refused_since_leaves_its_exchange_to_be_recorded() {
    let fixture =
        TestGateway::open(AuthMode::Keys, |n, asked| slow_first(n, reply(asked, "Noted."))).await;
    let (_, direct) = fixture.assistant("ada").await;
    let life = Duration::from_hours(1);
    let end = clock::now() + life;
    let (_, secret) = fixture.app.make_key("acme", None, &Permission::ALL, Some(end)).await;
    let ada = fixture.through(&fixture.app.presenting(&secret)).about("ada");
    let ada = ada.with("x-lukasa-session", "c").with("x-lukasa-tools", "off");
    let refused = async {
        while fixture.service.asked().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        fixture.clock.advance(life);
        ada.get("/v1/models").await.expect(401);
    };
    let chatted = ada.post("/v1/chat/completions", chat(&["Remember my seat by the window"]));
    let (chatted, ()) = tokio::join!(chatted, refused);
    chatted.expect(200);
    let stored = fixture.turns(&direct, "c", 2).await;
    assert_eq!(stored, ["user: Remember my seat by the window", "assistant: Noted."]);
}
