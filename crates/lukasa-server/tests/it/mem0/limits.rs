//! Batches of the mem0 API against the rates, and its idempotency keys.

use std::time::Duration;

use lukasa_server::api::LimitSettings;
use serde_json::{Value, json};

use super::{added, all, as_token, texts};
use crate::app::TestApp;

const BATCH: &str = "/mem0/v1/batch/";
const SECOND: Duration = Duration::from_secs(1);

#[tokio::test]
async fn mem0_batch_larger_than_the_burst_is_completed() {
    let settings = LimitSettings { user_rate: 3, ..LimitSettings::default() };
    let app = TestApp::with_limits(&settings).await;
    let mem0 = as_token(&app.tenant_key("acme").await);
    let mut ids = Vec::new();
    for number in 0..10 {
        ids.push(added(&mem0, "alice", &format!("I own bicycle number {number}")).await);
        // Only the batches exceed the rate.
        app.clock.advance(SECOND);
    }
    let items = |change: fn(usize) -> Value| -> Value {
        let item = |(number, id): (usize, &String)| {
            let mut item = change(number);
            item["memory_id"] = json!(id);
            item
        };
        ids.iter().enumerate().map(item).collect()
    };
    let changes = items(|number| json!({ "text": format!("I own boat number {number}") }));
    mem0.put(BATCH, json!({ "memories": changes })).await.expect(200);
    app.clock.advance(SECOND);
    let list = all(&mem0, json!({ "user_id": "alice" })).await.expect(200);
    assert!(texts(&list).iter().all(|text| text.contains("boat")), "{:?}", texts(&list));
    app.clock.advance(SECOND);
    let all_items = json!({ "memories": items(|_| json!({})) });
    mem0.call("DELETE", BATCH, Some(all_items)).await.expect(200);
    app.clock.advance(SECOND);
    let list = all(&mem0, json!({ "user_id": "alice" })).await.expect(200);
    assert_eq!(texts(&list), Vec::<String>::new());
}

#[tokio::test]
async fn mem0_update_accepts_the_longest_idempotency_key() {
    let app = TestApp::with_keys().await;
    let mem0 = as_token(&app.tenant_key("acme").await);
    let longest = mem0.with("idempotency-key", &"k".repeat(255));
    let id = added(&longest, "alice", "I live in Lisbon").await;
    assert_eq!(added(&longest, "alice", "I live in Lisbon").await, id, "the same answer again");
    let path = format!("/mem0/v1/memories/{id}/");
    let change = json!({ "text": "I live in Porto" });
    for _ in 0..2 {
        let changed = longest.put(&path, change.clone()).await.expect(200);
        assert_eq!(changed.at("/memory"), "I live in Porto");
    }
    let history = mem0.get(&format!("{path}history/")).await.expect(200).json();
    assert_eq!(history.as_array().unwrap().len(), 2, "each change is made once: {history}");
}
