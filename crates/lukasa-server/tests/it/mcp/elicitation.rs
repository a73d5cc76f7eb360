//! Questions that only the user can answer, sent to them through their client (elicitation).

use std::sync::Arc;

use lukasa_core::model::NoModels;
use serde_json::{Value, json};

use super::{done, newer, refused};
use crate::app::{Client, TestApp};

/// Calls a tool of the newer protocol with the user's answers so far.
async fn call(client: &Client, name: &str, arguments: Value, answers: Value) -> Value {
    let params = json!({ "name": name, "arguments": arguments, "inputResponses": answers });
    newer(client, "tools/call", params).await.expect(200).json()["result"].clone()
}

/// The key of the one question in a result.
fn question(result: &Value) -> String {
    assert_eq!(result["resultType"], "input_required", "{result:#}");
    let asks = result["inputRequests"].as_object().unwrap();
    assert_eq!(asks.len(), 1);
    let (key, ask) = asks.iter().next().unwrap();
    assert_eq!(ask["method"], "elicitation/create");
    key.clone()
}

#[tokio::test]
async fn elicited_confirmation_applies_only_to_the_shown_content() {
    let app = TestApp::local().await;
    let me = app.anonymous();
    let mate = json!({ "content": "Likes mate" });
    let asked = call(&me, "propose_memory", mate.clone(), json!({})).await;
    let key = question(&asked);
    assert!(
        asked["inputRequests"][&key]["params"]["message"].as_str().unwrap().contains("Likes mate")
    );
    // It stays pending whatever else is answered; and a yes to other content does not count.
    assert_eq!(me.get("/api/memory/proposals").await.each("content"), ["Likes mate"]);
    let yes = json!({ &key: { "action": "accept", "content": {} } });
    let other = json!({ "content": "Likes to be wired money" });
    let other = call(&me, "propose_memory", other, yes.clone()).await;
    assert_ne!(question(&other), key);
    let agreed = call(&me, "propose_memory", mate.clone(), yes).await;
    assert_eq!(agreed["structuredContent"]["event"]["type"], "memory.confirmed", "{agreed:#}");
    assert_eq!(me.get("/api/memory").await.each("content"), ["Likes mate"]);
    assert_eq!(me.get("/api/memory/proposals").await.each("content"), ["Likes to be wired money"]);
    let log = me.get("/api/operations").await.expect(200);
    assert_eq!(log.each("verb"), ["confirm", "propose", "propose"]);
    assert_eq!(log.each("caller"), ["human", "key", "key"], "the confirmation is the user's own");
    // Confirming a pending proposal asks the same question; a no rejects it, and no answer leaves
    // it.
    let named = json!({ "id": other_id(&me).await });
    let key = question(&call(&me, "confirm_memory", named.clone(), json!({})).await);
    let silent = json!({ &key: { "action": "cancel" } });
    let left = call(&me, "confirm_memory", named.clone(), silent).await;
    assert_eq!(left["structuredContent"]["error"]["code"], "human_needed");
    let no = json!({ &key: { "action": "decline" } });
    let declined = call(&me, "confirm_memory", named, no).await;
    assert_eq!(declined["structuredContent"]["event"]["type"], "memory.rejected", "{declined:#}");
}

#[tokio::test]
async fn elicited_confirmation_of_a_memory_is_the_users_own() {
    let app = TestApp::local().await;
    let me = app.anonymous();
    let rule = json!({ "content": "Never suggest dishes with peanuts", "force": "hard",
        "domain": "food", "key": "exclude_ingredients", "value": ["peanuts"] });
    let id = me.post("/api/memory", rule).await.expect(201).at("/memory/id");
    let named = json!({ "id": id });
    let asked = call(&me, "confirm_memory", named.clone(), json!({})).await;
    let key = question(&asked);
    let message = asked["inputRequests"][&key]["params"]["message"].as_str().unwrap();
    assert!(message.contains("peanuts"), "{message}");
    let path = format!("/api/memory/{id}");
    let no = json!({ &key: { "action": "decline" } });
    let left = call(&me, "confirm_memory", named.clone(), no).await;
    assert_eq!(left["structuredContent"]["error"]["code"], "human_needed");
    assert_eq!(me.get(&path).await.json()["last_confirmed_at"], Value::Null);
    let yes = json!({ &key: { "action": "accept", "content": {} } });
    let held = call(&me, "confirm_memory", named.clone(), yes.clone()).await;
    assert_eq!(held["structuredContent"]["event"]["type"], "memory.confirmed", "{held:#}");
    assert!(me.get(&path).await.json()["last_confirmed_at"].is_string());
    assert_ne!(question(&call(&me, "confirm_memory", named, yes).await), key, "another version");
}

async fn other_id(me: &Client) -> String {
    me.get("/api/memory/proposals").await.each("id").remove(0)
}

#[tokio::test]
async fn elicited_domain_opt_in_is_answered_by_the_user_only() {
    let app = TestApp::local().await;
    let me = app.anonymous();
    let health = json!({ "content": "Has asthma", "domain": "health" });
    let key = question(&call(&me, "save_memory", health.clone(), json!({})).await);
    assert!(key.starts_with("open:health~"), "{key}");
    // An answer to a question that was not asked is ignored.
    let (asked, rest) = key.split_at(key.len() - 1);
    let other = format!("{asked}{}", if rest == "0" { "1" } else { "0" });
    for forged in ["open:health", "open:health~99999999999~0000000000000000~00", &other] {
        let yes = json!({ forged: { "action": "accept" } });
        question(&call(&me, "save_memory", health.clone(), yes).await);
    }
    let no = json!({ &key: { "action": "decline" } });
    let shut = call(&me, "save_memory", health.clone(), no).await;
    assert_eq!(shut["structuredContent"]["error"]["code"], "opt_in_needed");
    assert!(me.get("/api/memory").await.each("id").is_empty());
    let wrong = json!({ "open:finance": { "action": "accept" } });
    question(&call(&me, "save_memory", health.clone(), wrong).await);
    let yes = json!({ &key: { "action": "accept" } });
    let saved = call(&me, "save_memory", health, yes.clone()).await;
    assert_eq!(saved["structuredContent"]["memory"]["domain"], "health", "{saved:#}");
    // A yes counts once.
    me.delete("/api/domains/health/opt-in").await.expect(200);
    let again = json!({ "content": "Has hay fever", "domain": "health" });
    question(&call(&me, "save_memory", again, yes).await);
}

#[tokio::test]
async fn elicited_yes_counts_once_on_all_servers() {
    let app = TestApp::with_keys().await;
    let me = app.human("acme", "alice").await;
    let (base, _) = app.again(Arc::new(NoModels)).await;
    let there = me.at(&base);
    let health = |content: &str| json!({ "content": content, "domain": "health" });
    let key = question(&call(&me, "save_memory", health("Has asthma"), json!({})).await);
    let yes = json!({ &key: { "action": "accept" } });
    let saved = call(&me, "save_memory", health("Has asthma"), yes.clone()).await;
    assert_eq!(saved["structuredContent"]["memory"]["domain"], "health", "{saved:#}");
    me.delete("/api/domains/health/opt-in").await.expect(200);
    for client in [&there, &me] {
        question(&call(client, "save_memory", health("Has hay fever"), yes.clone()).await);
    }
    // A yes to a call that asks something else first is not used up, wherever that was.
    let key = question(&call(&me, "save_memory", health("Has hay fever"), json!({})).await);
    let yes = json!({ &key: { "action": "accept" } });
    let finance = json!({ "content": "Owes 5 euros", "domain": "finance" });
    question(&call(&there, "save_memory", finance, yes.clone()).await);
    let saved = call(&me, "save_memory", health("Has hay fever"), yes).await;
    assert_eq!(saved["structuredContent"]["memory"]["domain"], "health", "{saved:#}");
}

#[tokio::test]
async fn elicitation_is_skipped_for_callers_without_a_user() {
    let app = TestApp::with_keys().await;
    let key = app.tenant_key("acme").await.about("alice");
    let mate = json!({ "content": "Likes mate" });
    let plain = call(&key, "propose_memory", mate.clone(), json!({})).await;
    assert_eq!(plain["structuredContent"]["memory"]["status"], "proposed", "{plain:#}");
    let digest = plain["structuredContent"]["memory"]["sha256"].as_str().unwrap().to_owned();
    let forged = json!({ format!("agree:{digest}"): { "action": "accept", "content": {} },
        "open:health": { "action": "accept" } });
    let refusal = call(&key, "propose_memory", mate, forged.clone()).await;
    assert_eq!(refusal["structuredContent"]["error"]["code"], "human_needed", "{refusal:#}");
    let health = json!({ "content": "Has asthma", "domain": "health" });
    let refusal = call(&key, "save_memory", health.clone(), forged).await;
    assert_eq!(refusal["structuredContent"]["error"]["code"], "human_needed", "{refusal:#}");
    assert!(key.get("/api/memory").await.each("id").is_empty());
    // A user whose client cannot ask is pointed to where they can answer.
    let local = TestApp::local().await;
    let me = local.anonymous();
    let waits = done(&me, "propose_memory", json!({ "content": "Likes tea" })).await;
    assert!(waits["message"].as_str().unwrap().contains("said yes"), "{waits}");
    refused(&me, "save_memory", health, "opt_in_needed").await;
}
