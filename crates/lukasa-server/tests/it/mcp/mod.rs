//! MCP at the level of protocol bytes. The official MCP clients are tested in `clients/mcp-check`.

mod access;
mod bridge;
mod elicitation;
mod tools;

use serde_json::{Value, json};

use crate::app::{Answer, Client};

const OLDER: &str = "2025-11-25";
const NEWER: &str = "2026-07-28";

/// The client with the headers of the older protocol, which needs the fewest.
fn older(client: &Client) -> Client {
    let accepts = client.with("accept", "application/json, text/event-stream");
    accepts.with("mcp-protocol-version", OLDER)
}

async fn ask(client: &Client, method: &str, params: Value) -> Answer {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    older(client).post("/mcp", message).await
}

/// Calls a tool; returns the result, whether good or not.
async fn call(client: &Client, name: &str, arguments: Value) -> Value {
    let params = json!({ "name": name, "arguments": arguments });
    let answer = ask(client, "tools/call", params).await.expect(200);
    assert_eq!(answer.json()["error"], Value::Null, "{}", answer.text());
    answer.json()["result"].clone()
}

/// Calls a tool, which must succeed; returns its structured content.
async fn done(client: &Client, name: &str, arguments: Value) -> Value {
    let result = call(client, name, arguments).await;
    assert_eq!(result["isError"], false, "{result:#}");
    result["structuredContent"].clone()
}

/// Calls a tool, which must refuse with the code; returns its text for the model.
async fn refused(client: &Client, name: &str, arguments: Value, code: &str) -> String {
    let result = call(client, name, arguments).await;
    assert_eq!(result["isError"], true, "{result:#}");
    assert_eq!(result["structuredContent"]["error"]["code"], code, "{result:#}");
    let text = result["content"][0]["text"].as_str().unwrap().to_owned();
    assert_eq!(result["structuredContent"]["message"], text.as_str());
    text
}

/// The names of the tools that a client is shown.
async fn names(client: &Client) -> Vec<String> {
    let list = ask(client, "tools/list", json!({})).await.expect(200).json();
    let tools = list["result"]["tools"].as_array().unwrap().clone();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// One request of the newer protocol, by a client that can put questions to its user.
async fn newer(client: &Client, method: &str, mut params: Value) -> Answer {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": NEWER,
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    });
    let client = client
        .with("accept", "application/json, text/event-stream")
        .with("mcp-protocol-version", NEWER)
        .with("mcp-method", method);
    let named = params["name"].as_str().or(params["uri"].as_str());
    let client = named.map_or(client.clone(), |name| client.with("mcp-name", name));
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    client.post("/mcp", message).await
}
