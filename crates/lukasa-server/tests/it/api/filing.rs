//! Filing over HTTP: suggested domains, and filing as one operation.

use serde_json::{Value, json};

use crate::app::{Client, TestApp};

async fn save(me: &Client, body: Value) -> String {
    me.post("/api/memory", body).await.expect(201).at("/memory/id")
}

async fn domain_of(me: &Client, id: &str) -> Value {
    me.get(&format!("/api/memory/{id}")).await.expect(200).json()["domain"].clone()
}

#[tokio::test]
async fn suggested_domains_are_filed_and_undone_as_one_operation() {
    let app = TestApp::local().await;
    let me = app.anonymous();
    let home = save(&me, json!({ "content": "Lives in Lisbon" })).await;
    let seat = save(&me, json!({ "content": "Prefers a window seat" })).await;
    let vague = save(&me, json!({ "content": "Likes it that way" })).await;
    save(&me, json!({ "content": "Bakes bread", "domain": "food" })).await;
    let suggested = me.get("/api/memory/filing").await.expect(200).json();
    let expected = json!([
        { "memory_id": seat, "domain": "travel" },
        { "memory_id": home, "domain": "personal" },
    ]);
    assert_eq!(suggested, json!({ "data": expected, "closed": [] }));
    let changed = json!([
        { "memory_id": seat, "domain": "travel" },
        { "memory_id": home, "domain": "work" },
        { "memory_id": vague, "domain": null },
    ]);
    let filed = me.post("/api/memory/filing", json!({ "memories": changed })).await.expect(200);
    assert_eq!(
        (filed.at("/message"), filed.at("/event/type")),
        ("Filed: 2".into(), "memory.corrected".into())
    );
    assert_eq!(filed.json()["memories"].as_array().unwrap().len(), 2);
    assert_eq!(domain_of(&me, &home).await, "work");
    assert_eq!(me.get("/api/memory/filing").await.expect(200).json()["data"], json!([]));
    let undo = filed.at("/event/undo/href");
    me.post(&undo, json!({})).await.expect(200);
    assert_eq!(domain_of(&me, &home).await, Value::Null);
    assert_eq!(domain_of(&me, &seat).await, Value::Null);
}

#[tokio::test]
async fn closed_domain_is_named_and_never_suggested() {
    let app = TestApp::local().await;
    let me = app.anonymous();
    let sister = save(&me, json!({ "content": "Has a sister called Ana" })).await;
    let ill = json!({ "content": "I was diagnosed with diabetes", "keep_without_domain": true });
    let ill = save(&me, ill).await;
    let suggested = me.get("/api/memory/filing").await.expect(200).json();
    assert_eq!(suggested, json!({ "data": [], "closed": ["health", "relationships"] }));
    let file =
        |id: &str, domain: &str| json!({ "memories": [{ "memory_id": id, "domain": domain }] });
    let refused = me.post("/api/memory/filing", file(&sister, "relationships")).await;
    assert_eq!(refused.refused(403, "opt_in_needed").at("/domain"), "relationships");
    // Nor are its sensitive words taken to another domain.
    let refused = me.post("/api/memory/filing", file(&ill, "work")).await;
    assert_eq!(refused.refused(403, "opt_in_needed").at("/domain"), "health");
    me.put("/api/domains/relationships/opt-in", json!({})).await.expect(200);
    let suggested = me.get("/api/memory/filing").await.expect(200);
    assert_eq!(suggested.each("domain"), ["relationships"]);
    me.post("/api/memory/filing", file(&sister, "relationships")).await.expect(200);
    assert_eq!(domain_of(&me, &sister).await, "relationships");
}

#[tokio::test]
async fn filing_is_validated_and_needs_the_user() {
    let app = TestApp::with_keys().await;
    let (human, agent) =
        (app.human("acme", "alice").await, app.tenant_key("acme").await.about("alice"));
    let id = save(&agent, json!({ "content": "Prefers a window seat" })).await;
    let one = json!({ "memory_id": id, "domain": "travel" });
    let file = async |who: &Client, memories: Value| {
        who.post("/api/memory/filing", json!({ "memories": memories })).await
    };
    file(&agent, json!([one])).await.refused(403, "human_needed");
    file(&human, json!([])).await.refused(422, "invalid_request");
    file(&human, json!([one, one])).await.refused(422, "invalid_request");
    file(&human, json!([{ "memory_id": "mem_x", "domain": "travel" }]))
        .await
        .refused(422, "invalid_request");
    file(&human, json!([{ "memory_id": id, "domain": "nowhere" }]))
        .await
        .refused(404, "domain_not_found");
    file(&human, json!([one])).await.expect(200);
    let again = file(&human, json!([one])).await.expect(200);
    assert_eq!(
        (again.at("/message"), again.at("/event/type")),
        ("Filed: 0".into(), "memory.unchanged".into())
    );
}

#[tokio::test]
async fn detected_domains_name_the_one_to_file_under() {
    let app = TestApp::local().await;
    let me = app.anonymous();
    let filed = async |query: &str| {
        let found = me.post("/api/domains/detect", json!({ "query": query })).await.expect(200);
        found.json()["filed_under"].clone()
    };
    assert_eq!(filed("Prefers a window seat").await, "travel");
    assert_eq!(filed("the meeting").await, Value::Null, "two domains alike");
    assert_eq!(filed("Has a sister called Ana").await, Value::Null, "it is not open");
    me.put("/api/domains/relationships/opt-in", json!({})).await.expect(200);
    assert_eq!(filed("Has a sister called Ana").await, "relationships");
}
