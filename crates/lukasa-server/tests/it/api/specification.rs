//! The requests in the appendix of the specification, character for character except the ids.

use serde_json::{Value, json};

use crate::app::{Answer, Client, TestApp};

const SAVE_HARD: &str =
    r#"{ "type": "HARD", "domain": "food", "key": "exclude", "content": ["shellfish"] }"#;
const PROPOSE: &str = concat!(
    "{ \n",
    "  \"type\": \"HARD\", \n",
    "  \"domain\": \"shopping\", \n",
    "  \"key\": \"store\", \n",
    "  \"content\": \"Kroger\", \n",
    "  \"confidence\": 0.6, \n",
    "  \"evidence\": [{ \"type\": \"pattern\", \"description\": \"Last 5 orders were Kroger\" }],\n",
    "  \"reasoning\": \"User has consistently chosen Kroger\"\n",
    "}",
);
const CONFIRM: &str = r#"{ "confirm": true }"#;
const RETRIEVE: &str =
    r#"{ "domains": ["food", "schedule"], "query": "plan meals for next week" }"#;
/// The form of the first request, with an example of the specification for soft memories.
const SAVE_SOFT: &str =
    r#"{ "type": "SOFT", "content": "Prefers low-effort dinners during busy work weeks" }"#;

async fn post(client: &Client, path: &str, body: &'static str) -> Answer {
    let json = client.with("content-type", "application/json");
    json.send("POST", path, body.into()).await
}

#[tokio::test]
async fn requests_of_the_specification_are_answered_as_written() {
    let app = TestApp::with_keys().await;
    let alice = app.human("acme", "alice").await;
    let agent = app.tenant_key("acme").await.about("alice");

    let hard = post(&alice, "/api/memory", SAVE_HARD).await.expect(201).json();
    assert_eq!(hard["memory"]["value"], json!(["shellfish"]));
    let named = ["force", "domain", "key", "status", "source"].map(|field| &hard["memory"][field]);
    assert_eq!(named, ["hard", "food", "exclude", "active", "user_explicit"]);
    let soft = post(&alice, "/api/memory", SAVE_SOFT).await.expect(201);
    assert_eq!(soft.at("/memory/force"), "soft");

    let proposed = post(&agent, "/api/memory/propose", PROPOSE).await.expect(201).json();
    let memory = &proposed["memory"];
    let named = ["force", "key", "content", "status", "source"].map(|field| &memory[field]);
    assert_eq!(named, ["hard", "store", "Kroger", "proposed", "agent_proposed"]);
    assert_eq!(memory["evidence"][0]["type"], "pattern");
    assert_eq!(memory["evidence"][0]["description"], "Last 5 orders were Kroger");
    assert_eq!(memory["reasoning"], "User has consistently chosen Kroger");
    let confidence = memory["confidence"].as_f64().unwrap();
    assert!((confidence - 0.6).abs() < 1e-6, "{confidence}");

    let count = async |query: &str| {
        let page = alice.get(&format!("/api/memory{query}")).await.expect(200).json();
        page["data"].as_array().map_or(0, Vec::len)
    };
    assert_eq!([count("").await, count("?status=ACTIVE").await], [2, 2]);
    assert_eq!(count("?status=PROPOSED").await, 1);
    let confirm = format!("/api/memory/{}/confirm", memory["id"].as_str().unwrap());
    let confirmed = post(&alice, &confirm, CONFIRM).await.expect(200);
    assert_eq!(confirmed.at("/memory/status"), "active");
    assert!(confirmed.json()["memory"]["last_confirmed_at"].is_string());
    assert_eq!([count("").await, count("?status=ACTIVE").await], [3, 3]);
    assert_eq!([count("?type=HARD").await, count("?type=SOFT").await], [2, 1]);
    assert_eq!(count("?type=HARD&domain=food&status=ACTIVE&search=shellfish&limit=1").await, 1);

    let context = post(&alice, "/api/memory/retrieve", RETRIEVE).await.expect(200);
    let text = context.at("/context");
    assert!(text.contains("[food] exclude: shellfish (said "), "{text}");
    assert!(text.contains("Prefers low-effort dinners during busy work weeks"), "{text}");
    let rules = context.json()["hard"].as_array().unwrap().clone();
    assert!(
        rules.iter().any(|rule: &Value| rule["memory_id"] == hard["memory"]["id"]),
        "{rules:?}"
    );
}
