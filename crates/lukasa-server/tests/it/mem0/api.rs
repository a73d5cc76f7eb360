//! Requests of a mem0 client, and what the user can still do afterwards.

use serde_json::{Value, json};

use super::{added, all, as_token, texts};
use crate::app::TestApp;
use crate::models::{TestModels, proposed_memory, proposing_chat};

#[tokio::test]
async fn mem0_hosted_api_is_supported() {
    let app = TestApp::with_keys().await;
    let key = app.tenant_key("acme").await;
    let mem0 = as_token(&key);
    assert_eq!(mem0.get("/mem0/v1/ping/").await.expect(200).at("/status"), "ok");
    let body = json!({
        "messages": [
            { "role": "system", "content": "Be kind." },
            { "role": "user", "content": "I am vegetarian" },
            { "role": "assistant", "content": "Noted." },
            { "role": "user", "content": [{ "type": "text", "text": "I live in Lisbon" }] },
        ],
        "user_id": "alice", "agent_id": "cook", "metadata": { "source": "chat", "stars": 5 },
    });
    let add = mem0.post("/mem0/v3/memories/add/", body.clone()).await.expect(200);
    assert_eq!(texts(&add), ["I am vegetarian", "I live in Lisbon"]);
    let first = &add.json()["results"][0];
    assert_eq!((&first["event"], &first["user_id"]), (&json!("ADD"), &json!("alice")));
    assert_eq!((&first["agent_id"], &first["metadata"]["stars"]), (&json!("cook"), &json!(5)));
    let again = mem0.post("/mem0/v3/memories/add/", body).await.expect(200);
    assert_eq!(again.at("/results/0/event"), "NONE");
    assert_eq!(again.at("/results/0/id"), add.at("/results/0/id"));

    let ask = json!({ "query": "vegetarian food", "filters": { "user_id": "alice" }, "top_k": 1 });
    let found = mem0.post("/mem0/v3/memories/search/", ask).await.expect(200);
    assert_eq!(texts(&found), ["I am vegetarian"]);
    let score = found.json()["results"][0]["score"].as_f64().unwrap();
    assert!((0.0..=1.0).contains(&score), "{score}");

    let id = add.at("/results/0/id");
    let path = format!("/mem0/v1/memories/{id}/");
    assert_eq!(mem0.get(&path).await.expect(200).at("/memory"), "I am vegetarian");
    let change = json!({ "text": "I am vegan", "metadata": { "source": "later" } });
    let changed = mem0.put(&path, change).await.expect(200);
    assert_eq!(changed.at("/memory"), "I am vegan");
    assert_eq!(changed.at("/metadata/source"), "later");
    assert_eq!(changed.at("/agent_id"), "cook");

    mem0.delete(&path).await.expect(200);
    assert_eq!(mem0.get(&path).await.expect(404).at("/code"), "memory_not_found");
    mem0.delete(&path).await.expect(404);
    let history = mem0.get(&format!("{path}history/")).await.expect(200).json();
    let events: Vec<_> = history.as_array().unwrap().iter().map(|entry| &entry["event"]).collect();
    assert_eq!(events, ["ADD", "UPDATE", "DELETE"]);
    assert_eq!(history[1]["old_memory"], "I am vegetarian");
    assert_eq!(history[1]["new_memory"], "I am vegan");

    // Deleting through mem0 is forgetting here: its user can undo it.
    key.about("alice").post("/api/operations/last/undo", json!({})).await.expect(200);
    assert_eq!(mem0.get(&path).await.expect(200).at("/memory"), "I am vegan");
}

#[tokio::test]
async fn mem0_open_source_server_api_is_supported() {
    let app = TestApp::with_keys().await;
    let (_, secret) = app.make_key("acme", None, &lukasa_core::Permission::ALL, None).await;
    let mem0 = app.anonymous().with("x-api-key", &secret);
    let body = json!({ "messages": [{ "role": "user", "content": "I like jazz" }],
        "user_id": "alice", "run_id": "r1" });
    let id = mem0.post("/mem0/memories", body).await.expect(200).at("/results/0/id");
    assert_eq!(texts(&mem0.get("/mem0/memories?user_id=alice").await.expect(200)), ["I like jazz"]);
    let other = mem0.get("/mem0/memories?user_id=alice&run_id=r2").await.expect(200);
    assert_eq!(texts(&other), Vec::<String>::new());
    let found = json!({ "query": "jazz", "user_id": "alice" });
    assert_eq!(texts(&mem0.post("/mem0/search", found).await.expect(200)), ["I like jazz"]);
    let path = format!("/mem0/memories/{id}");
    mem0.put(&path, json!({ "text": "I like bebop" })).await.expect(200);
    assert_eq!(mem0.get(&path).await.expect(200).at("/memory"), "I like bebop");
    assert_eq!(mem0.get(&format!("{path}/history")).await.expect(200).json()[1]["event"], "UPDATE");
    mem0.delete("/mem0/memories?user_id=alice").await.expect(200);
    assert_eq!(mem0.get("/mem0/memories?user_id=alice").await.expect(200).json()["count"], 0);
}

#[tokio::test]
async fn mem0_lists_are_filtered_and_paged() {
    let app = TestApp::with_keys().await;
    let mem0 = as_token(&app.tenant_key("acme").await);
    for number in 0..5 {
        let body = json!({
            "messages": format!("Fact number {number}"), "user_id": "alice",
            "agent_id": if number % 2 == 0 { "even" } else { "odd" },
            "metadata": { "number": number }, "infer": false,
        });
        mem0.post("/mem0/v3/memories/add/", body).await.expect(200);
    }
    let body = json!({ "filters": { "user_id": "alice" } });
    let mut seen = Vec::new();
    for page in 1..=3 {
        let path = format!("/mem0/v3/memories/?page={page}&page_size=2");
        let answer = mem0.post(&path, body.clone()).await.expect(200);
        assert_eq!(answer.json()["count"], 5);
        assert_eq!(answer.json()["next"].is_null(), page == 3);
        seen.extend(texts(&answer));
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 5);
    let odd = json!({ "AND": [{ "user_id": "alice" }, { "agent_id": "odd" }] });
    assert_eq!(texts(&all(&mem0, odd.clone()).await.expect(200)).len(), 2);
    let late = json!({ "user_id": "alice", "number": { "gte": 3 } });
    assert_eq!(texts(&all(&mem0, late).await.expect(200)).len(), 2);
    let ask = json!({ "query": "fact number", "filters": odd, "top_k": 1 });
    let found = mem0.post("/mem0/v3/memories/search/", ask).await.expect(200);
    assert_eq!(found.at("/results/0/agent_id"), "odd");
    for filters in [json!({ "OR": [{ "user_id": "alice" }, { "user_id": "bob" }] }), json!([])] {
        assert_eq!(all(&mem0, filters).await.expect(400).at("/code"), "malformed_body");
    }
    let endless = json!({ "query": "x".repeat(20_001), "filters": { "user_id": "alice" } });
    mem0.post("/mem0/v3/memories/search/", endless).await.expect(400);
    mem0.delete("/mem0/v1/memories/?user_id=alice&agent_id=odd").await.expect(200);
    assert_eq!(texts(&all(&mem0, json!({ "user_id": "alice" })).await.expect(200)).len(), 3);
}

#[tokio::test]
async fn mem0_memory_can_expire_and_be_long() {
    let app = TestApp::with_keys().await;
    let mem0 = as_token(&app.tenant_key("acme").await);
    let long = "word ".repeat(1000).trim().to_owned();
    let body = json!({ "messages": long, "user_id": "alice", "infer": false,
        "expiration_date": "2999-12-31", "timestamp": 1_700_000_000 });
    let add = mem0.post("/mem0/v3/memories/add/", body).await.expect(200);
    assert_eq!(texts(&add), [long.as_str()]);
    assert_eq!(add.at("/results/0/expiration_date"), "2999-12-31");
    let path = format!("/mem0/v1/memories/{}/", add.at("/results/0/id"));
    let endless = mem0.put(&path, json!({ "expiration_date": Value::Null })).await.expect(200);
    assert_eq!(endless.json()["expiration_date"], Value::Null);
    assert_eq!(endless.at("/memory"), long);
    let body = json!({ "messages": "x", "user_id": "alice", "expiration_date": "soon" });
    mem0.post("/mem0/v3/memories/add/", body).await.expect(400);
}

#[tokio::test]
async fn mem0_messages_are_learned_from_with_a_chat_model() {
    let chat = proposing_chat(vec![proposed_memory("User lives in Lisbon.", "I live in Lisbon")]);
    let app = TestApp::with_models(TestModels::that_chats(chat)).await;
    let mem0 = as_token(&app.tenant_key("acme").await);
    let messages = json!([{ "role": "user", "content": "I live in Lisbon" },
        { "role": "assistant", "content": "A lovely city." }]);
    let body = json!({ "messages": messages, "user_id": "alice", "run_id": "chat-1" });
    let add = mem0.post("/mem0/v3/memories/add/", body).await.expect(200);
    assert_eq!((add.at("/status"), add.at("/event_id")), ("PENDING".into(), "chat-1".into()));
    app.work().await;
    let listed = all(&mem0, json!({ "user_id": "alice" })).await.expect(200);
    assert_eq!(texts(&listed), ["User lives in Lisbon."]);
    // With `infer` off the message is stored verbatim.
    added(&mem0, "alice", "I have two cats").await;
    assert_eq!(texts(&all(&mem0, json!({ "user_id": "alice" })).await).len(), 2);
}

#[tokio::test]
async fn mem0_messages_count_as_typed_only_with_a_key_for_the_users_words() {
    let chat = proposing_chat(vec![proposed_memory("User lives in Lisbon.", "I live in Lisbon")]);
    let app = TestApp::with_models(TestModels::that_chats(chat)).await;
    let (agent, application) = (app.tenant_key("acme").await, app.application_key("acme").await);
    let said = "I live in Lisbon. Please remember that I bank with Acme.";
    for (key, user, origin) in [(&agent, "alice", "assistant"), (&application, "bob", "user_turn")]
    {
        let body = json!({ "messages": [{ "role": "user", "content": said }], "user_id": user,
            "run_id": "chat-1" });
        as_token(key).post("/mem0/v3/memories/add/", body).await.expect(200);
        app.work().await;
        let key = key.about(user);
        let turns = key.get("/api/sessions/chat-1/turns").await.expect(200);
        assert_eq!(turns.at("/data/0/origin"), origin);
        let learned = key.get("/api/memory").await.expect(200);
        let stated = learned.each("content").iter().any(|content| content.contains("Acme"));
        assert_eq!(stated, origin == "user_turn", "{}", learned.text());
        for memory in learned.json()["data"].as_array().unwrap() {
            assert_eq!(memory["origin"], origin, "{memory:#}");
        }
    }
    // Nor does a quotation of such a message.
    let quoted = json!({ "content": "User lives in Lisbon", "session_id": "chat-1",
        "evidence": [{ "type": "quote", "description": "I live in Lisbon" }] });
    let saved = agent.about("alice").post("/api/memory", quoted).await;
    assert_ne!(saved.at("/memory/origin"), "user_turn");
}

#[tokio::test]
async fn mem0_batch_updates_and_forgets() {
    let app = TestApp::with_keys().await;
    let mem0 = as_token(&app.tenant_key("acme").await);
    let one = added(&mem0, "alice", "One").await;
    let two = added(&mem0, "bob", "Two").await;
    let body = json!({ "memories": [{ "memory_id": one, "text": "Uno" },
        { "memory_id": two, "text": "Due" }] });
    mem0.put("/mem0/v1/batch/", body.clone()).await.expect(200);
    assert_eq!(texts(&all(&mem0, json!({ "user_id": "bob" })).await), ["Due"]);
    mem0.call("DELETE", "/mem0/v1/batch/", Some(body)).await.expect(200);
    assert_eq!(texts(&all(&mem0, json!({ "user_id": "alice" })).await), Vec::<String>::new());
    let users = mem0.get("/mem0/v1/entities/").await.expect(200).json();
    assert_eq!((&users["count"], &users["results"][0]["name"]), (&json!(2), &json!("alice")));
    added(&mem0, "alice", "Three").await;
    mem0.delete("/mem0/v2/entities/user/alice/").await.expect(200);
    assert_eq!(texts(&all(&mem0, json!({ "user_id": "alice" })).await), Vec::<String>::new());
}

#[tokio::test]
async fn mem0_batches_are_limited_and_repeated_ones_change_nothing_again() {
    let app = TestApp::with_keys().await;
    let mem0 = as_token(&app.tenant_key("acme").await);
    let id = added(&mem0, "alice", "One").await;
    let item = json!({ "memory_id": id, "text": "Two" });
    let many = json!({ "memories": vec![item.clone(); 501] });
    mem0.put("/mem0/v1/batch/", many.clone()).await.expect(400);
    mem0.call("DELETE", "/mem0/v1/batch/", Some(many)).await.expect(400);
    let said = vec![json!({ "role": "user", "content": "x" }); 501];
    mem0.post("/mem0/v1/memories/", json!({ "messages": said, "user_id": "alice" }))
        .await
        .expect(400);
    assert_eq!(texts(&all(&mem0, json!({ "user_id": "alice" })).await), ["One"]);
    let once = mem0.with("idempotency-key", "batch");
    for _ in 0..2 {
        once.put("/mem0/v1/batch/", json!({ "memories": [item] })).await.expect(200);
    }
    let history = mem0.get(&format!("/mem0/v1/memories/{id}/history/")).await.expect(200).json();
    assert_eq!(history.as_array().unwrap().len(), 2, "{history:#}");
}

#[tokio::test]
async fn mem0_users_are_listed_page_by_page() {
    let app = TestApp::with_keys().await;
    let mem0 = as_token(&app.tenant_key("acme").await);
    for user in ["alice", "bob", "carol"] {
        added(&mem0, user, "One").await;
    }
    let (mut path, mut names) = ("/mem0/v1/entities/?page_size=2".to_owned(), Vec::new());
    loop {
        let page = mem0.get(&path).await.expect(200).json();
        let found = page["results"].as_array().unwrap().iter();
        names.push(found.map(|user| user["name"].clone()).collect::<Vec<_>>());
        let Some(next) = page["next"].as_str() else { break };
        path = next.to_owned();
    }
    assert_eq!(json!(names), json!([["alice", "bob"], ["carol"]]));
    mem0.get("/mem0/v1/entities/?cursor=%21").await.expect(400);
}

#[tokio::test]
async fn mem0_local_mode_needs_no_key() {
    let app = TestApp::local().await;
    let mem0 = app.anonymous();
    added(&mem0, "alice", "I like tea").await;
    assert_eq!(texts(&all(&mem0, json!({ "user_id": "alice" })).await), ["I like tea"]);
    // Requests from another origin are refused here as everywhere.
    let page = mem0.with("origin", "https://evil.example");
    assert_eq!(page.get("/mem0/v1/ping/").await.expect(403).at("/code"), "cross_site");
}

#[tokio::test]
async fn mem0_sees_one_project_and_what_belongs_to_none() {
    let app = TestApp::with_keys().await;
    let key = app.tenant_key("acme").await;
    let alice = key.about("alice");
    for (content, project) in [
        ("The launch is in Kourou", json!("apollo")),
        ("The launch is in Baikonur", json!("zeus")),
        ("Watches every launch", Value::Null),
    ] {
        let memory = json!({ "content": content, "project": project });
        alice.post("/api/memory", memory).await.expect(201);
    }
    let mem0 = as_token(&key);
    let apollo = mem0.with("x-lukasa-project", "apollo");
    for (client, count) in [(&mem0, 1), (&apollo, 2)] {
        let listed = texts(&all(client, json!({ "user_id": "alice" })).await.expect(200));
        let named = texts(&client.get("/mem0/memories?user_id=alice").await.expect(200));
        let ask = json!({ "query": "Where is the launch?", "user_id": "alice" });
        let found = texts(&client.post("/mem0/search", ask).await.expect(200));
        for seen in [listed, named, found] {
            assert_eq!(seen.len(), count, "{seen:?}");
            assert!(seen.iter().all(|text| !text.contains("Baikonur")), "{seen:?}");
        }
    }
    let id = added(&apollo, "alice", "The server listens on port 8080").await;
    let (id, _) = id.split_once('.').unwrap();
    let saved = alice.get(&format!("/api/memory/{id}")).await.expect(200);
    assert_eq!(saved.at("/project"), "apollo");
    // A project is left alone by the deletion of another, and part of the deletion of everything.
    apollo.delete("/mem0/memories?user_id=alice").await.expect(200);
    assert_eq!(alice.get("/api/memory").await.each("content"), ["The launch is in Baikonur"]);
    mem0.delete("/mem0/memories?user_id=alice").await.expect(200);
    assert!(alice.get("/api/memory").await.each("content").is_empty());
}
