//! Access to MCP: credentials, users, and isolation between users.

use serde_json::{Value, json};

use super::{ask, call, done, newer, older};
use crate::app::{Client, TestApp, canary};

#[tokio::test]
async fn mcp_request_without_a_credential_gets_resource_metadata() {
    let app = TestApp::with_keys().await;
    let past = jiff::Timestamp::UNIX_EPOCH;
    for client in [
        app.anonymous(),
        app.presenting("lk_live_nonsense"),
        app.presenting(&app.mint("acme", "alice", past).await),
    ] {
        for method in ["tools/list", "tools/call", "initialize", "resources/list"] {
            let refused = ask(&client, method, json!({ "name": "list_memories" })).await;
            let refused = refused.refused(401, "unauthenticated");
            let challenge = refused.header("www-authenticate").unwrap().to_owned();
            let url = format!("{}/.well-known/oauth-protected-resource/mcp", app.base);
            assert_eq!(challenge, format!("Bearer resource_metadata=\"{url}\""));
        }
    }
    for path in ["", "/mcp"] {
        let path = format!("/.well-known/oauth-protected-resource{path}");
        let about = app.anonymous().get(&path).await.expect(200).json();
        assert_eq!(about["resource"], format!("{}/mcp", app.base));
        assert_eq!(about["authorization_servers"], Value::Null, "there is none built in");
    }
    // Local mode has no authorization server.
    let local = TestApp::local().await;
    let path = "/.well-known/oauth-protected-resource";
    local.anonymous().get(path).await.refused(404, "not_found");
}

#[tokio::test]
async fn mcp_refuses_other_hosts_and_origins() {
    let local = TestApp::local().await;
    let me = local.anonymous();
    for (name, value) in [
        ("host", "evil.example"),
        ("host", "localhost.evil.example:7777"),
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("origin", "http://localhost:3000"),
        ("sec-fetch-site", "cross-site"),
    ] {
        let page = me.with(name, value);
        ask(&page, "tools/list", json!({})).await.refused(403, "cross_site");
        newer(&page, "server/discover", json!({})).await.refused(403, "cross_site");
    }
    ask(&me.with("origin", &local.base), "tools/list", json!({})).await.expect(200);
    let app = TestApp::with_keys().await;
    let key = app.tenant_key("acme").await.about("alice");
    for origin in ["https://evil.example", "null"] {
        let page = key.with("origin", origin);
        ask(&page, "tools/list", json!({})).await.refused(403, "cross_site");
    }
    ask(&key.with("origin", &app.base), "tools/list", json!({})).await.expect(200);
}

#[tokio::test]
async fn mcp_user_comes_from_the_credential() {
    let app = TestApp::with_keys().await;
    let bound = app.bound_key("acme", "alice").await;
    let named =
        json!({ "content": "Likes tea", "user_id": "bob", "user": "bob", "tenant": "globex" });
    done(&bound, "save_memory", named).await;
    let tenant = app.tenant_key("acme").await;
    assert_eq!(tenant.about("alice").get("/api/memory").await.each("content"), ["Likes tea"]);
    assert!(tenant.about("bob").get("/api/memory").await.each("id").is_empty());
    ask(&bound.about("bob"), "tools/list", json!({})).await.refused(403, "wrong_user");
    ask(&tenant, "tools/list", json!({})).await.refused(400, "user_required");
    // A user in the path has the effect of the header.
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "list_memories", "arguments": {} } });
    let at = async |client: &Client, path: &str| older(client).post(path, list.clone()).await;
    assert!(at(&tenant, "/mcp/alice").await.expect(200).text().contains("Likes tea"));
    assert!(!at(&tenant, "/mcp/bob").await.expect(200).text().contains("Likes tea"));
    at(&bound, "/mcp/alice").await.expect(200);
    at(&bound, "/mcp/bob").await.refused(403, "wrong_user");
    at(&tenant.about("bob"), "/mcp/alice").await.refused(403, "wrong_user");
    at(&tenant, "/mcp/Zo%C3%AB").await.expect(200);
}

#[tokio::test]
async fn mcp_foreign_ids_are_answered_like_unknown_ids() {
    let app = TestApp::with_keys().await;
    let tenant = app.tenant_key("acme").await;
    let (alice, bob) = (tenant.about("alice"), tenant.about("bob"));
    let word = canary("mcp");
    let hers = done(&alice, "save_memory", json!({ "content": format!("Likes {word}") })).await;
    let hers = hers["memory"]["id"].as_str().unwrap().to_owned();
    let waits = done(&alice, "propose_memory", json!({ "content": format!("Hates {word}") })).await;
    let waits = waits["memory"]["id"].as_str().unwrap().to_owned();
    let his = done(&bob, "save_memory", json!({ "content": "Likes mate" })).await;
    let his = his["memory"]["id"].as_str().unwrap().to_owned();
    let never = "mem_01hx3v9d0kf7rtm4q5wz8yb2ca";
    let outsider = app.tenant_key("globex").await.about("alice");
    for stranger in [&bob, &outsider] {
        for foreign in [&hers, &waits, &word] {
            for (name, field) in [
                ("update_memory", "id"),
                ("forget_memory", "id"),
                ("confirm_memory", "id"),
                ("link_memories", "from_id"),
                ("link_memories", "to_id"),
                ("fetch", "id"),
            ] {
                let attempt = async |id: &str| {
                    let mut args =
                        json!({ "id": his, "content": "x", "from_id": his, "to_id": his });
                    args[field] = json!(id);
                    call(stranger, name, args).await.to_string()
                };
                let (reply, absent) = (attempt(foreign).await, attempt(never).await);
                assert_eq!(reply, absent, "{name} {field}");
                assert!(reply.contains("There is no such memory"), "{reply}");
            }
        }
        for (name, args) in [
            ("list_memories", json!({ "search": word })),
            ("list_memories", json!({ "status": "all" })),
            ("recall_memories", json!({ "query": word })),
            ("search", json!({ "query": word })),
        ] {
            let reply = call(stranger, name, args).await.to_string();
            assert!(!reply.contains(&hers) && !reply.contains(&format!("Likes {word}")), "{reply}");
        }
        let read = async |id: &str| {
            let params = json!({ "uri": format!("lukasa://memories/{id}") });
            ask(stranger, "resources/read", params).await.body
        };
        assert_eq!(read(&hers).await, read(never).await);
        let block = ask(stranger, "resources/read", json!({ "uri": "lukasa://baseline" })).await;
        assert!(!block.text().contains(&word));
    }
    let contents = alice.get("/api/memory").await.each("content");
    assert_eq!(contents, [format!("Likes {word}")], "and nothing happened to hers");
}

#[tokio::test]
async fn mcp_unknown_resource_has_the_error_code_of_the_protocol() {
    let app = TestApp::with_keys().await;
    let alice = app.bound_key("acme", "alice").await;
    for uri in ["test://static-text", "lukasa://nothing", "lukasa://memories/no-such-memory"] {
        let answer = ask(&alice, "resources/read", json!({ "uri": uri })).await.expect(200).json();
        assert_eq!(answer["error"]["code"], -32002, "{answer:#}");
    }
    let unknown = ask(&alice, "resources/read", json!({ "uri": "test://other" })).await.json();
    assert_eq!(unknown["error"]["data"], json!({ "code": "not_found", "uri": "test://other" }));
}

#[tokio::test]
async fn mcp_session_belongs_to_its_credential() {
    let app = TestApp::with_keys().await;
    let (alice, bob) = (app.human("acme", "alice").await, app.human("acme", "bob").await);
    let opening = json!({ "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} },
        "clientInfo": { "name": "test", "version": "1" } });
    let opened = ask(&alice, "initialize", opening.clone()).await.expect(200);
    let session = opened.header("mcp-session-id").expect("a human caller has one").to_owned();
    done(&alice, "save_memory", json!({ "content": "Likes tea" })).await;
    // With her session and his own token he is served as himself, as without a session.
    let list = json!({ "name": "list_memories", "arguments": {} });
    let intruder = bob.with("mcp-session-id", &session);
    let reply = ask(&intruder, "tools/call", list.clone()).await.expect(200);
    assert_eq!(reply.body, ask(&bob, "tools/call", list.clone()).await.expect(200).body);
    let response = json!({ "jsonrpc": "2.0", "id": 0, "result": { "action": "accept" } });
    older(&intruder).post("/mcp", response).await.expect(400);
    older(&intruder).get("/mcp").await.expect(405);
    older(&intruder).delete("/mcp").await.expect(405);
    // An unknown session is not a reason to refuse a request.
    let late = alice.with("mcp-session-id", "5f0c1c3e-0000-4000-8000-000000000000");
    assert!(ask(&late, "tools/call", list).await.expect(200).text().contains("Likes tea"));
    // An application's key cannot answer questions, so it gets no session.
    let key = app.bound_key("acme", "alice").await;
    let opened = ask(&key, "initialize", opening).await.expect(200);
    assert_eq!(opened.header("mcp-session-id"), None);
}

#[tokio::test]
async fn newer_mcp_protocol_needs_no_initialize() {
    let app = TestApp::with_keys().await;
    let key = app.tenant_key("acme").await.about("alice");
    let found = newer(&key, "server/discover", json!({})).await.expect(200).json();
    let versions = found["result"]["supportedVersions"].to_string();
    for version in ["2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26"] {
        assert!(versions.contains(version), "{found:#}");
    }
    assert!(found["result"]["instructions"].as_str().unwrap().contains("recall_memories"));
    let list = newer(&key, "tools/list", json!({})).await.expect(200).json();
    assert_eq!(
        (&list["result"]["cacheScope"], &list["result"]["ttlMs"]),
        (&json!("private"), &json!(3_600_000))
    );
    let save = json!({ "name": "save_memory", "arguments": { "content": "Likes tea" } });
    let saved = newer(&key, "tools/call", save).await.expect(200).json();
    assert_eq!(saved["result"]["resultType"], "complete");
    assert_eq!(saved["result"]["structuredContent"]["event"]["type"], "memory.saved");
}
