//! The same for the other protocols, from generated lists: every field of every MCP tool as
//! `tools/list` names them, and every route of mem0 and of the gateway as the source registers
//! them. A new tool, field or route is tried too, or fails the test until it has a row.

use lukasa_server::api::AuthMode;
use serde_json::{Map, Value, json};

use super::compare::private_word;
use crate::app::{Answer, Client, TestApp, canary};
use crate::gateway::fixture::{TestGateway, say};

const NEVER: &str = "mem_01hx3v9d0kf7rtm4q5wz8yb2ca";

/// The methods and paths that a source file registers.
pub fn routes_in(source: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for line in source.lines().filter_map(|line| line.trim().strip_prefix(".route(\"")) {
        let (path, methods) = line.split_once('"').expect("a path");
        for method in ["get", "post", "put", "patch", "delete"] {
            let call = format!("{method}(");
            // Not at the end of a handler's name.
            let starts =
                |at: usize| !methods[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            if methods.match_indices(&call).any(|(at, _)| starts(at)) {
                found.push((method.to_uppercase(), path.to_owned()));
            }
        }
    }
    assert!(!found.is_empty());
    found
}

pub async fn mcp(client: &Client, method: &str, params: Value) -> Answer {
    let client = client.with("accept", "application/json, text/event-stream");
    let client = client.with("mcp-protocol-version", "2025-11-25");
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    client.post("/mcp", message).await
}

/// Something of alice's, and a value of the same form that never existed.
type Foreign = (String, String);

/// Resources of alice in a tenant: a memory, a proposal, a session, an operation, and words.
async fn things_of(alice: &Client) -> (Vec<Foreign>, String) {
    let word = canary("protocols");
    let saved = alice.save(&format!("Keeps {word} in the shed")).await;
    let proposal = json!({ "content": format!("Hides {word} in the attic") });
    let proposed = alice.post("/api/memory/propose", proposal).await.expect(201);
    let turns = json!({ "turns": [{ "role": "user", "content": format!("I keep {word} here") }] });
    alice.post("/api/sessions/hers/turns", turns).await.expect(201);
    let operation = saved.at("/event/operation_id");
    let twin =
        format!("{}01hx3v9d0kf7rtm4q5wz8yb2ca", &operation[..operation.find('_').unwrap() + 1]);
    let things = vec![
        (saved.at("/memory/id"), NEVER.to_owned()),
        (proposed.at("/memory/id"), NEVER.to_owned()),
        (operation, twin),
        ("hers".to_owned(), "none".to_owned()),
        (word.clone(), canary("never")),
    ];
    (things, word)
}

/// The lists in which a user sees their own memory.
async fn state_of(client: &Client) -> Vec<String> {
    let mut state = Vec::new();
    for path in ["/api/memory?status=all", "/api/review", "/api/sessions", "/api/operations"] {
        state.push(client.get(path).await.expect(200).text());
    }
    state
}

/// The fields of a tool that take text, alone or in a list.
fn text_fields(tool: &Value) -> Vec<(String, bool)> {
    let fields = tool["inputSchema"]["properties"].as_object().cloned().unwrap_or_default();
    let text = |schema: &Value| schema["type"] == "string" && schema["enum"].is_null();
    fields
        .iter()
        .filter(|(_, schema)| text(schema) || text(&schema["items"]))
        .map(|(name, schema)| (name.clone(), schema["type"] == "array"))
        .collect()
}

#[tokio::test]
async fn mcp_tool_fields_cannot_reach_another_user() {
    let app = TestApp::with_keys().await;
    let alice = app.tenant_key("acme").await.about("alice");
    let (things, word) = things_of(&alice).await;
    let before = state_of(&alice).await;
    let strangers = [
        ("bob's token", app.human("acme", "bob").await),
        ("acme's key about bob", app.tenant_key("acme").await.about("bob")),
        ("globex's alice", app.tenant_key("globex").await.about("alice")),
    ];
    let mut tried = 0;
    for (who, stranger) in &strangers {
        let own = stranger.save(&format!("Likes mate, says {who}")).await.at("/memory/id");
        let list = mcp(stranger, "tools/list", json!({})).await.expect(200).json();
        let tools = list["result"]["tools"].as_array().unwrap().clone();
        assert!(tools.len() >= 10, "{} tools", tools.len());
        for tool in &tools {
            let name = tool["name"].as_str().unwrap();
            for (field, is_list) in text_fields(tool) {
                for (hers, never) in &things {
                    let attempt = async |value: &str| {
                        // The tool's other required fields are the stranger's own.
                        let mut arguments = Map::new();
                        for needed in
                            tool["inputSchema"]["required"].as_array().into_iter().flatten()
                        {
                            let needed = needed.as_str().unwrap();
                            let own = if needed.contains("id") { own.as_str() } else { "Tea" };
                            arguments.insert(needed.to_owned(), own.into());
                        }
                        let value = if is_list { json!([value]) } else { json!(value) };
                        arguments.insert(field.clone(), value);
                        let params = json!({ "name": name, "arguments": arguments });
                        mcp(stranger, "tools/call", params).await
                    };
                    let (there, absent) = (attempt(hers).await, attempt(never).await);
                    let foreign_text = there.text().replace(hers, never);
                    assert!(!foreign_text.contains(&word), "{who} {name} {field}: {foreign_text}");
                    let refused =
                        |answer: &Answer| answer.json()["result"]["isError"] != json!(false);
                    assert_eq!(
                        refused(&there),
                        refused(&absent),
                        "{who} {name} {field}: {foreign_text}"
                    );
                    if refused(&there) {
                        assert_eq!(foreign_text, absent.text(), "{who} {name} {field}");
                    }
                    tried += 1;
                }
            }
        }
        for uri in ["lukasa://baseline", "lukasa://profile", "lukasa://memories"] {
            let read = mcp(stranger, "resources/read", json!({ "uri": uri })).await;
            assert_eq!(private_word(&read, std::slice::from_ref(&word)), None, "{who} {uri}");
        }
    }
    println!("{tried} attempts by MCP tools");
    assert!(tried > 300, "{tried}");
    assert_eq!(state_of(&alice).await, before, "something happened to alice's memory");
}

/// A request for every route of mem0, with a user and a memory in every place that takes one.
pub fn mem0_requests(
    route: &(String, String),
    user: &str,
    id: &str,
) -> (String, String, Option<Value>) {
    let (method, path) = route;
    let known =
        |path: &str| path.replace("{id}", id).replace("{kind}", "user").replace("{name}", user);
    let named =
        format!("/mem0{}?user_id={user}&filters=%7B%22user_id%22%3A%22{user}%22%7D", known(path));
    let several = json!([{ "memory_id": id, "text": "mine now" }]);
    let body = json!({ "messages": "mine now", "text": "mine now", "query": "shed", "infer": false,
        "user_id": user, "filters": { "user_id": user }, "memories": several });
    (method.clone(), named, (method != "GET").then_some(body))
}

#[tokio::test]
async fn mem0_routes_cannot_reach_another_user() {
    let app = TestApp::with_keys().await;
    let alice = app.tenant_key("acme").await.about("alice");
    let (things, word) = things_of(&alice).await;
    let before = state_of(&alice).await;
    let as_token = |client: &Client| {
        let secret = client.header("authorization").replace("Bearer ", "");
        client.with("authorization", &format!("Token {secret}"))
    };
    let routes = routes_in(include_str!("../../../src/http/mem0/mod.rs"));
    assert!(routes.len() >= 20, "{}", routes.len());
    let bob = as_token(&app.bound_key("acme", "bob").await);
    let human = as_token(&app.human("acme", "bob").await);
    let globex = app.tenant_key("globex").await;
    globex.about("alice").save("Likes mate").await;
    let globex = as_token(&globex);
    for (who, stranger) in [("bob's key", &bob), ("bob's token", &human), ("globex", &globex)] {
        for route in &routes {
            for (id, never) in &things {
                let (method, path, body) = mem0_requests(route, "alice", id);
                let there = stranger.call(&method, &path, body).await;
                assert_eq!(private_word(&there, std::slice::from_ref(&word)), None, "{who} {path}");
                let (method, path, body) = mem0_requests(route, "alice", never);
                let absent = stranger.call(&method, &path, body).await;
                assert_eq!(there.status, absent.status, "{who} {method} {path}");
                let foreign_text = there.text().replace(id.as_str(), never);
                if !there.is_good() {
                    assert_eq!(foreign_text, absent.text(), "{who} {method} {path}");
                }
            }
        }
    }
    assert_eq!(state_of(&alice).await, before, "something happened to alice's memory");
}

#[tokio::test]
async fn gateway_routes_cannot_reach_another_user() {
    // One row per route: the request of a stranger with alice's resources in every place.
    let body = json!({ "model": "scripted", "user": "alice", "input": "What is in the shed?",
        "messages": [{ "role": "user", "content": "What is in the shed?" }],
        "previous_response_id": "resp_hers", "conversation": "hers",
        "metadata": { "user": "alice", "session_id": "hers" } });
    let rows = [
        ("POST", "/v1/chat/completions"),
        ("POST", "/v1/responses"),
        ("POST", "/v1/embeddings"),
        ("GET", "/v1/models"),
        ("GET", "/v1/models/{*model}"),
    ];
    let routes = routes_in(include_str!("../../../src/gateway/mod.rs"));
    let listed: Vec<_> = rows.map(|(method, path)| (method.to_owned(), path.to_owned())).into();
    assert_eq!(routes, listed, "every route of the gateway has a row");
    let fixture = TestGateway::answering(AuthMode::Keys, "Fine.").await;
    let alice = fixture.app.tenant_key("acme").await.about("alice");
    let (_, word) = things_of(&alice).await;
    let hers = fixture.through(&alice).with("x-lukasa-session", "hers");
    say(&hers, &["What is in the shed?"]).await.expect(200);
    assert!(fixture.last().json().to_string().contains(&word), "alice's own prompt has it");
    // Her own round is recorded after its response.
    assert_eq!(fixture.turns(&alice, "hers", 3).await.len(), 3);
    let before = state_of(&alice).await;
    let strangers = [
        fixture.app.bound_key("acme", "bob").await,
        fixture.app.human("acme", "bob").await,
        fixture.app.tenant_key("globex").await.about("alice"),
        fixture.app.tenant_key("acme").await.about("bob"),
    ];
    for stranger in &strangers {
        let stranger = fixture.through(stranger).with("x-lukasa-session", "hers");
        for (method, path) in rows {
            let path = path.replace("{*model}", "hers");
            let body = (method == "POST").then(|| body.clone());
            let answer = stranger.call(method, &path, body).await;
            assert_eq!(private_word(&answer, std::slice::from_ref(&word)), None, "{path}");
            assert!(answer.status < 500 || answer.status == 502, "{path}: {}", answer.text());
        }
    }
    let asked = fixture.service.asked();
    let leaked = asked.iter().skip(1).filter(|asked| asked.json().to_string().contains(&word));
    assert_eq!(leaked.count(), 0, "a stranger's prompt has alice's words");
    assert_eq!(state_of(&alice).await, before, "something happened to alice's memory");
}
