//! A server without a model: its guide demonstrates memory, and its tool calls are visible live and
//! afterwards.

use serde_json::{Value, json};

use crate::app::{Answer, Client, TestApp};

async fn say(client: &Client, words: &str) -> Answer {
    let asked = json!({"model": "lukasa/guide", "stream": true,
                       "messages": [{"role": "user", "content": words}]});
    client.post("/v1/chat/completions", asked).await.expect(200)
}

/// The tool calls shown, and the text of the answer.
fn seen(answer: &Answer) -> (Vec<Value>, String) {
    let text = answer.text();
    let (mut tools, mut words) = (Vec::new(), String::new());
    for event in text.split("\n\n") {
        let data = event.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or("");
        let Ok(data) = serde_json::from_str::<Value>(data) else { continue };
        match event.starts_with("event: lukasa.tool") {
            true => tools.push(data),
            false => words.push_str(data["choices"][0]["delta"]["content"].as_str().unwrap_or("")),
        }
    }
    (tools, words)
}

async fn human_client(app: &TestApp) -> Client {
    let human_client = app.human("acme", "ada").await;
    human_client.with("x-lukasa-session", "first").with("x-lukasa-tools", "on")
}

#[tokio::test]
async fn guide_saves_finds_and_forgets_with_visible_tool_calls() {
    let app = TestApp::with_keys().await;
    let ada = human_client(&app).await;
    let listed = ada.get("/v1/models").await.expect(200);
    assert_eq!(listed.at("/data/0/id"), "lukasa/guide");

    let shows = ada.with("x-lukasa-show", "tools");
    let (tools, words) = seen(&say(&shows, "Remember that I sail on Sundays.").await);
    assert_eq!(tools.len(), 2, "{tools:?}");
    assert_eq!((&tools[0]["state"], &tools[1]["state"]), (&json!("running"), &json!("done")));
    assert_eq!(tools[0]["arguments"]["content"], "I sail on Sundays");
    let operation = tools[1]["result"]["event"]["operation_id"].as_str().expect("a handle");
    assert!(!words.is_empty());
    assert_eq!(ada.get("/api/memory").await.each("content"), ["I sail on Sundays"]);

    let (tools, words) = seen(&say(&shows, "When do I sail?").await);
    assert_eq!(tools[0]["name"], "recall_memories");
    assert!(words.contains("sail on Sundays"), "{words}");
    ada.post(&format!("/api/operations/{operation}/undo"), json!({})).await.expect(200);
    assert!(ada.get("/api/memory").await.each("content").is_empty());
}

#[tokio::test]
async fn guide_tool_calls_are_recorded_and_erased_with_their_turn() {
    let app = TestApp::with_keys().await;
    let ada = human_client(&app).await;
    let memory = ada.save("Sails on Sundays").await.at("/memory/id");
    let answer = say(&ada, "When do I sail?").await;
    assert!(seen(&answer).0.is_empty(), "the client did not ask for tool events");
    let path = format!("/api/retrievals/{}", answer.header("lukasa-retrieval").unwrap());
    let mut retrieval = ada.get(&path).await;
    for _ in 0..200 {
        if retrieval.is_good() && retrieval.json()["trace"]["calls"].is_array() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        retrieval = ada.get(&path).await;
    }
    let call = &retrieval.json()["trace"]["calls"][0];
    assert_eq!(
        (&call["name"], &call["query"]),
        (&json!("recall_memories"), &json!("When do I sail?"))
    );
    assert_eq!(call["memory_ids"], json!([memory]));
    assert!(!call.to_string().contains("Sundays"), "no words of a memory: {call}");

    // The exchange is stored after the answer, too.
    let mut turns = ada.get("/api/sessions/first/turns").await;
    for _ in 0..200 {
        if turns.is_good() && turns.each("role").len() == 2 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        turns = ada.get("/api/sessions/first/turns").await;
    }
    assert_eq!(turns.each("role"), ["user", "assistant"]);
    let id = turns.each("id").remove(0);
    ada.post(&format!("/api/turns/{id}/erase"), json!({})).await.expect(200);
    ada.get(&path).await.refused(404, "retrieval_not_found");
    let left = app.database.dump().await;
    assert!(!left.contains("When do I sail"), "the question was erased");
}

#[tokio::test]
async fn guide_does_not_replace_a_requested_model() {
    let app = TestApp::with_keys().await;
    let ada = human_client(&app).await;
    let asked = json!({"model": "gpt-5-mini", "messages": [{"role": "user", "content": "Hi"}]});
    let refused = ada.post("/v1/chat/completions", asked).await;
    assert_eq!((refused.status, refused.at("/error/code").as_str()), (404, "no_upstream"));
    let asked = json!({"model": "lukasa/guide", "input": "Hi"});
    assert_eq!(ada.post("/v1/responses", asked).await.status, 404);
    let odd = ada.with("x-lukasa-show", "everything");
    let asked = json!({"model": "lukasa/guide", "messages": []});
    assert_eq!(odd.post("/v1/chat/completions", asked).await.status, 400);
}
