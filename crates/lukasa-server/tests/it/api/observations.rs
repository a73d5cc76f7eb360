//! Observations: recorded, listed and removed (R043, R099, R196).

use lukasa_core::Permission;
use serde_json::{Value, json};

use crate::app::{Client, TestApp};

async fn alice(app: &TestApp) -> Client {
    app.tenant_key("acme").await.about("alice")
}

fn event(source: &str, day: u32, payload: &Value) -> Value {
    json!({ "source": source, "kind": "order", "at": format!("2026-03-{day:02}T12:00:00Z"),
            "payload": payload })
}

#[tokio::test]
async fn observations_are_appended_filtered_and_paged() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let events: Vec<Value> =
        (1..=5).map(|day| event("groceries", day, &json!({ "value": "Kroger" }))).collect();
    let recorded = alice.post("/api/observations", json!({ "observations": events })).await;
    let ids = recorded.expect(201).json()["observation_ids"].as_array().unwrap().len();
    assert_eq!(ids, 5);
    let mut other = event("cinema", 9, &json!({}));
    (other["session_id"], other["project"]) = (json!("evening"), json!("leisure"));
    alice.post("/api/observations", json!({ "observations": [other] })).await.expect(201);

    let all = alice.get("/api/observations").await.expect(200);
    assert_eq!(all.each("source").len(), 6);
    assert_eq!(all.each("source")[0], "cinema", "newest first");
    let first = all.json()["data"][1].clone();
    assert_eq!((&first["payload"]["value"], &first["kind"]), (&json!("Kroger"), &json!("order")));
    for query in
        ["source=cinema", "session_id=evening", "project=leisure", "since=2026-03-08T00:00:00Z"]
    {
        let found = alice.get(&format!("/api/observations?{query}")).await.expect(200);
        assert_eq!(found.each("source"), ["cinema"], "{query}");
    }
    let before = alice.get("/api/observations?until=2026-03-03T00:00:00Z").await.expect(200);
    assert_eq!(before.each("id").len(), 2);
    let (mut paged, mut cursor) = (Vec::new(), String::new());
    for _ in 0..3 {
        let page = alice.get(&format!("/api/observations?limit=2{cursor}")).await.expect(200);
        paged.extend(page.each("id"));
        cursor = format!("&cursor={}", page.at("/next_cursor"));
    }
    assert_eq!(paged, all.each("id"));
}

#[tokio::test]
async fn observations_sent_twice_with_one_idempotency_key_are_stored_once() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await.with("idempotency-key", "sync-1");
    let body = json!({ "observations": [event("groceries", 1, &json!({}))] });
    let first = alice.post("/api/observations", body.clone()).await.expect(201).json();
    let second = alice.post("/api/observations", body).await.expect(201).json();
    assert_eq!(first, second);
    assert_eq!(alice.get("/api/observations").await.expect(200).each("id").len(), 1);
}

#[tokio::test]
async fn invalid_observations_are_refused_by_field() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let send = async |observations: Value| {
        alice.post("/api/observations", json!({ "observations": observations })).await
    };
    let good = event("groceries", 1, &json!({}));
    let bad = event("two words", 1, &json!([]));
    let refused = send(json!([good, bad])).await.refused(422, "invalid_request");
    let fields = refused.json()["errors"].to_string();
    assert!(fields.contains("observations/1/source") && fields.contains("payload"), "{fields}");
    send(json!([])).await.refused(422, "invalid_request");
    send(json!(vec![good; 101])).await.refused(422, "invalid_request");
    let late = json!([{ "source": "a", "kind": "b", "at": "2999-01-01T00:00:00Z" }]);
    send(late).await.refused(422, "invalid_request");
    let large = json!([event("a", 1, &json!({ "text": "x".repeat(9_000) }))]);
    send(large).await.refused(422, "invalid_request");
    assert!(alice.get("/api/observations").await.expect(200).each("id").is_empty());
}

#[tokio::test]
async fn observation_is_removed_and_restored_by_undo() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let events =
        json!([event("a", 1, &json!({})), event("a", 2, &json!({})), event("b", 3, &json!({}))]);
    let sent = alice.post("/api/observations", json!({ "observations": events })).await.expect(201);
    let id = sent.at("/observation_ids/0");
    alice.delete(&format!("/api/observations/{id}")).await.expect(200);
    assert_eq!(alice.get("/api/observations").await.each("source"), ["b", "a"]);
    let removed = alice.delete("/api/observations?source=a").await.expect(200);
    assert_eq!(removed.json()["reached"]["observations"], 1);
    assert_eq!(alice.get("/api/observations").await.each("source"), ["b"]);
    let operation = removed.at("/event/operation_id");
    alice.post(&format!("/api/operations/{operation}/undo"), json!({})).await.expect(200);
    assert_eq!(alice.get("/api/observations").await.each("source"), ["b", "a"]);
    let unknown = "/api/observations/obs_00000000000000000000000000";
    alice.delete(unknown).await.refused(404, "observation_not_found");
}

#[tokio::test]
async fn observation_is_erased_with_a_receipt() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let body = json!({ "observations": [event("a", 1, &json!({})), event("b", 2, &json!({}))] });
    let sent = alice.post("/api/observations", body).await.expect(201);
    let id = sent.at("/observation_ids/0");
    let path = format!("/api/observations/{id}/erase");
    let (_, key) = app.make_key("acme", None, &[Permission::Read, Permission::Write], None).await;
    let key = app.presenting(&key).about("alice");
    key.post(&path, json!({})).await.refused(403, "forbidden");
    let erased = alice.post(&path, json!({})).await.expect(200).json();
    assert_eq!(erased["reached"]["observations"], 1);
    assert_eq!(erased["event"]["undo"], Value::Null);
    assert_eq!(alice.get("/api/observations").await.each("source"), ["b"]);
    let receipts = alice.get("/api/erasures").await.expect(200).json();
    let receipt = &receipts["data"][0]["receipt"];
    assert_eq!(receipt["erased"], "observation");
    assert_eq!(receipt["observation_id"], id);
    let unknown = "/api/observations/obs_00000000000000000000000000/erase";
    alice.post(unknown, json!({})).await.refused(404, "observation_not_found");
}

#[tokio::test]
async fn observations_cannot_be_changed() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let body = json!({ "observations": [event("a", 1, &json!({}))] });
    alice.post("/api/observations", body).await.expect(201);
    let admin = app.database.admin().await;
    let update = "set role lukasa_serve; update observation set payload = '{}'";
    let refused = admin.batch_execute(update).await.unwrap_err();
    assert!(format!("{refused:?}").contains("permission denied"), "{refused:?}");
}
