//! Links, the log of operations, and undo.

use serde_json::json;

use crate::app::{Answer, Client, TestApp};

async fn undo(client: &Client, of: &Answer) -> Answer {
    client.post(&of.at("/event/undo/href"), json!({})).await
}

#[tokio::test]
async fn links_are_listed_from_both_ends_and_removed_by_undo() {
    let app = TestApp::with_keys().await;
    let alice = app.tenant_key("acme").await.about("alice");
    let one = alice.save("Has a dog").await.at("/memory/id");
    let two = alice.save("Walks at seven").await.at("/memory/id");
    let path = format!("/api/memory/{one}/links");
    let body = json!({ "to": two, "relation": "explains" });
    let linked = alice.post(&path, body.clone()).await.expect(201);
    assert_eq!(linked.at("/event/type"), "memory.linked");
    assert_eq!(linked.at("/link/relation"), "explains");
    let again = alice.post(&path, body).await.expect(200);
    assert_eq!(again.at("/link/id"), linked.at("/link/id"));
    for (here, there) in [(&one, &two), (&two, &one)] {
        let links = alice.get(&format!("/api/memory/{here}/links")).await.expect(200);
        assert_eq!(links.at("/data/0/other/id"), **there);
    }
    // Addressed by words, with the default relation.
    let by_words = alice.post("/api/memory/dog/links", json!({ "to": "seven" })).await.expect(201);
    assert_eq!(by_words.at("/link/relation"), "relates_to");
    alice.post(&path, json!({ "to": one })).await.refused(422, "invalid_request");
    let relation = json!({ "to": two, "relation": "Two Words" });
    alice.post(&path, relation).await.refused(422, "invalid_request");
    alice.post(&path, json!({ "to": "nothing" })).await.refused(404, "memory_not_found");
    alice.post(&path, json!({})).await.refused(400, "malformed_body");

    let link = linked.at("/link/id");
    let unlinked = alice.delete(&format!("{path}/{link}")).await.expect(200);
    alice.delete(&format!("{path}/{link}")).await.refused(404, "link_not_found");
    alice.delete(&format!("{path}/junk")).await.refused(404, "link_not_found");
    assert_eq!(alice.get(&path).await.json()["data"].as_array().unwrap().len(), 1);
    undo(&alice, &unlinked).await.expect(200);
    assert_eq!(alice.get(&path).await.json()["data"].as_array().unwrap().len(), 2);
    alice.post(&format!("/api/memory/{two}/forget"), json!({})).await.expect(200);
    assert!(alice.get(&path).await.json()["data"].as_array().unwrap().is_empty());
}

#[tokio::test]
async fn links_and_history_have_pages() {
    let app = TestApp::with_keys().await;
    let alice = app.tenant_key("acme").await.about("alice");
    let one = alice.save("Has a dog").await.at("/memory/id");
    for number in 0..5 {
        let other = alice.save(&format!("Walk number {number}")).await.at("/memory/id");
        alice.post(&format!("/api/memory/{one}/links"), json!({ "to": other })).await.expect(201);
        let words = json!({ "content": format!("Has a dog of {number}") });
        alice.patch(&format!("/api/memory/{one}"), words).await.expect(200);
    }
    for (list, key) in [("links", "id"), ("history", "version_id")] {
        let path = format!("/api/memory/{one}/{list}");
        let whole = alice.get(&path).await.expect(200);
        assert_eq!(whole.at("/next_cursor"), "", "all of it is one page");
        let (mut found, mut query) = (Vec::new(), "?limit=2".to_owned());
        loop {
            let page = alice.get(&format!("{path}{query}")).await.expect(200);
            assert!((1..=2).contains(&page.each(key).len()));
            found.extend(page.each(key));
            match page.at("/next_cursor") {
                next if next.is_empty() => break,
                next => query = format!("?limit=2&cursor={next}"),
            }
        }
        assert_eq!(found, whole.each(key), "{list}");
        for wrong in ["?limit=0", "?limit=201", "?cursor=junk", "?unknown=1"] {
            alice.get(&format!("{path}{wrong}")).await.expect(400);
        }
    }
}

#[tokio::test]
async fn memory_graph_lists_memories_by_their_distance_in_links() {
    let app = TestApp::with_keys().await;
    let alice = app.tenant_key("acme").await.about("alice");
    let mut ids = Vec::new();
    for content in ["Ana is a colleague", "Ana leads Atlas", "Atlas uses Rust"] {
        ids.push(alice.save(content).await.at("/memory/id"));
    }
    for (from, to) in [(0, 1), (1, 2)] {
        let path = format!("/api/memory/{}/links", ids[from]);
        alice.post(&path, json!({ "to": ids[to] })).await.expect(201);
    }
    let path = format!("/api/memory/{}/graph", ids[0]);
    let graph = alice.get(&path).await.expect(200).json();
    let of =
        |memory: &serde_json::Value| (memory["memory"]["id"].clone(), memory["distance"].clone());
    let found: Vec<_> = graph["memories"].as_array().unwrap().iter().map(of).collect();
    let expected: Vec<_> = ids.iter().enumerate().map(|(at, id)| (json!(id), json!(at))).collect();
    assert_eq!(found, expected, "{graph:#}");
    let links = graph["links"].as_array().unwrap();
    assert!(links.iter().any(|link| link["to_id"] == ids[2].as_str()), "{graph:#}");
    assert_eq!((links.len(), &graph["truncated"]), (2, &json!(false)));
    let near = alice.get(&format!("{path}?depth=1")).await.expect(200).json();
    assert_eq!(near["memories"].as_array().unwrap().len(), 2);
    for depth in [0, 4] {
        alice.get(&format!("{path}?depth={depth}")).await.refused(422, "invalid_request");
    }
    alice.get("/api/memory/nothing/graph").await.refused(404, "memory_not_found");
}

#[tokio::test]
async fn operations_are_logged_and_can_be_undone_and_redone() {
    let app = TestApp::with_keys().await;
    let alice = app.tenant_key("acme").await.about("alice");
    let saved = alice.save("Likes tea").await;
    let id = saved.at("/memory/id");
    let path = format!("/api/memory/{id}");
    let changed = alice.patch(&path, json!({ "content": "Likes mate" })).await.expect(200);

    let blocked = undo(&alice, &saved).await.refused(409, "undo_blocked");
    assert_eq!(blocked.at("/operation_id"), changed.at("/event/operation_id"));
    let undone = undo(&alice, &changed).await.expect(200);
    assert_eq!(undone.at("/event/type"), "memory.undone");
    assert_eq!(alice.get(&path).await.at("/content"), "Likes tea");
    undo(&alice, &changed).await.refused(409, "already_undone");
    let operation = changed.at("/event/operation_id");
    let one = alice.get(&format!("/api/operations/{operation}")).await.expect(200);
    assert_eq!((one.at("/verb"), one.json()["memory_ids"].clone()), ("change".into(), json!([id])));
    assert_eq!(one.json()["undone_by"], undone.json()["event"]["operation_id"]);
    let redone = undo(&alice, &undone).await.expect(200);
    assert_eq!(alice.get(&path).await.at("/content"), "Likes mate");
    undo(&alice, &redone).await.expect(200);
    assert_eq!(alice.get(&path).await.at("/content"), "Likes tea");

    // The first undo is in effect again, because its own undo was undone.
    let one = alice.get(&format!("/api/operations/{operation}")).await.expect(200);
    assert_eq!(one.json()["undone_by"], undone.json()["event"]["operation_id"]);
    undo(&alice, &changed).await.refused(409, "already_undone");

    let log = alice.get("/api/operations").await.expect(200);
    assert_eq!(log.each("verb"), ["undo", "undo", "undo", "change", "save"]);
    assert_eq!(log.each("caller"), ["key"; 5]);
    assert_eq!(log.json()["data"][2]["undoes"], changed.json()["event"]["operation_id"]);
    alice.get("/api/operations/junk").await.refused(404, "operation_not_found");

    let other = alice.save("Has a dog").await.at("/memory/id");
    let of_it = alice.get(&format!("/api/operations?memory_id={other}")).await.expect(200);
    assert_eq!(of_it.each("verb"), ["save"]);
    alice.get("/api/operations?memory_id=dog").await.refused(400, "malformed_query");
    let first = alice.get("/api/operations?limit=4").await.expect(200);
    let cursor = first.at("/next_cursor");
    let rest = alice.get(&format!("/api/operations?limit=4&cursor={cursor}")).await.expect(200);
    assert_eq!(
        (first.each("id").len(), rest.each("verb")),
        (4, vec!["change".into(), "save".into()])
    );
    assert!(rest.json()["next_cursor"].is_null());
}

#[tokio::test]
async fn undo_of_a_save_removes_the_memory_and_undo_of_that_restores_it() {
    let app = TestApp::with_keys().await;
    let alice = app.tenant_key("acme").await.about("alice");
    let saved = alice.save("Likes tea").await;
    let undone = undo(&alice, &saved).await.expect(200);
    assert!(alice.get("/api/memory?status=all").await.each("id").is_empty());
    undo(&alice, &undone).await.expect(200);
    assert_eq!(alice.get("/api/memory").await.each("content"), ["Likes tea"]);
}

#[tokio::test]
async fn undo_last_steps_back_one_operation_at_a_time() {
    let app = TestApp::with_keys().await;
    let alice = app.tenant_key("acme").await.about("alice");
    let path = format!("/api/memory/{}", alice.save("Likes tea").await.at("/memory/id"));
    alice.patch(&path, json!({ "content": "Likes mate" })).await.expect(200);
    let once = alice.with("idempotency-key", "back");
    let first = once.post("/api/operations/last/undo", json!({})).await.expect(200);
    let again = once.post("/api/operations/last/undo", json!({})).await.expect(200);
    assert_eq!(first.body, again.body, "a retry is not another step");
    assert_eq!(alice.get("/api/memory").await.each("content"), ["Likes tea"]);
    alice.post("/api/operations/last/undo", json!({})).await.expect(200);
    assert!(alice.get("/api/memory").await.each("content").is_empty());
    let nothing = alice.post("/api/operations/last/undo", json!({})).await;
    nothing.refused(404, "operation_not_found");
}

#[tokio::test]
async fn agent_restores_and_undoes_only_what_its_own_key_did() {
    let app = TestApp::with_keys().await;
    let (agent, other) = (app.tenant_key("acme").await, app.tenant_key("acme").await);
    let (agent, other) = (agent.about("alice"), other.about("alice"));
    let saved = agent.save("Likes sushi").await;
    let path = format!("/api/memory/{}", saved.at("/memory/id"));
    let forgotten = agent.post(&format!("{path}/forget"), json!({})).await.expect(200);
    undo(&other, &forgotten).await.refused(403, "human_needed");
    other.post(&format!("{path}/restore"), json!({})).await.refused(403, "human_needed");
    agent.post(&format!("{path}/restore"), json!({})).await.expect(200);
    undo(&other, &saved).await.refused(403, "human_needed");
}

#[tokio::test]
async fn operation_of_a_human_cannot_be_undone_by_a_key() {
    let app = TestApp::with_keys().await;
    let agent = app.tenant_key("acme").await.about("alice");
    let human = app.human("acme", "alice").await;
    let saved = agent.save("Likes sushi").await;
    let path = format!("/api/memory/{}", saved.at("/memory/id"));
    let forgotten = human.post(&format!("{path}/forget"), json!({})).await.expect(200);
    undo(&agent, &forgotten).await.refused(403, "human_needed");
    agent.post(&format!("{path}/restore"), json!({})).await.refused(403, "human_needed");
    undo(&human, &forgotten).await.expect(200);
    let log = human.get("/api/operations").await.expect(200);
    assert_eq!(log.each("caller"), ["human", "human", "key"]);
}
