//! Erasure over HTTP: preview, receipt, and no preview for callers without the permission.

use lukasa_core::Permission;
use lukasa_engine::removal::verify;
use serde_json::json;

use crate::app::{TestApp, canary};

#[tokio::test]
async fn user_erasure_has_a_preview_and_a_receipt() {
    let app = TestApp::with_keys().await;
    let admin = app.tenant_key("acme").await;
    let (alice, word) = (admin.about("alice"), canary("erasure"));
    alice.save(&format!("Likes the {word}")).await;
    let turns = json!({ "turns": [{ "role": "user", "content": format!("My {word}") }] });
    alice.post("/api/sessions/c/turns", turns).await.expect(201);
    let preview = admin.get("/api/users/alice/erasure").await.expect(200);
    let message = preview.at("/message");
    assert!(message.contains("1 memory") && message.contains("1 session, 1 turn"), "{message}");
    assert!(alice.get("/api/memory").await.text().contains(&word), "nothing was erased");

    let erased = admin.delete("/api/users/alice").await.expect(200);
    assert_eq!(erased.json()["receipt"]["receipt"]["removed"], preview.json()["removes"]);
    assert_eq!(erased.at("/receipt/receipt/files"), "pending");
    assert!(!erased.text().contains(&word) && !erased.text().contains("alice"));
    let key = app.anonymous().get("/receipts/key").await.expect(200).at("/public_key");
    verify(&erased.json()["receipt"], Some(&key)).expect("the receipt is genuine");

    admin.get("/api/users/alice/erasure").await.refused(404, "user_not_found");
    let listed = admin.get("/api/users/alice/erasures").await.expect(200);
    assert_eq!(listed.at("/data/0/receipt/id"), erased.at("/receipt/receipt/id"));
    alice.get("/api/erasures").await.refused(410, "user_deleted");
    admin.get("/api/users/nobody/erasures").await.refused(404, "user_not_found");
}

#[tokio::test]
async fn memory_erasure_preview_needs_the_erase_permission() {
    let app = TestApp::with_keys().await;
    let alice = app.tenant_key("acme").await.about("alice");
    let id = alice.save("Likes tea").await.at("/memory/id");
    let path = format!("/api/memory/{id}");
    let reader = app.key_with_permissions("acme", &[Permission::Read]).await.about("alice");
    reader.get(&format!("{path}/erasure")).await.refused(403, "forbidden");
    let preview = alice.get(&format!("{path}/erasure")).await.expect(200);
    assert_eq!(preview.json()["removes"]["fact_version"], 1);
    let erased = alice.post(&format!("{path}/erase"), json!({})).await.expect(200);
    let receipts = reader.get("/api/erasures").await.expect(200);
    assert_eq!(receipts.at("/data/0/receipt/id"), erased.at("/receipts/0/erasure_id"));
    assert_eq!(receipts.json()["data"][0]["receipt"]["removed"], preview.json()["removes"]);
    alice.get(&format!("{path}/erasure")).await.refused(404, "memory_not_found");
}
