//! The mem0 API: clients written for mem0 work, and see no more through it than through the other
//! interfaces. The official Python client is run against it in `clients/python`.

mod api;
mod isolation;
mod limits;

use serde_json::{Value, json};

use crate::app::{Answer, Client};

/// A client that sends its key as mem0's hosted client does.
fn as_token(client: &Client) -> Client {
    let secret = client.header("authorization").replace("Bearer ", "");
    client.with("authorization", &format!("Token {secret}"))
}

/// Adds a memory verbatim for a user; returns its id.
async fn added(client: &Client, user: &str, text: &str) -> String {
    let body = json!({ "messages": [{ "role": "user", "content": text }], "user_id": user,
        "infer": false });
    let answer = client.post("/mem0/v3/memories/add/", body).await.expect(200);
    answer.at("/results/0/id")
}

/// The texts of the memories in a response.
fn texts(answer: &Answer) -> Vec<String> {
    let json = answer.json();
    let results = json["results"].as_array().cloned().unwrap_or_default();
    results.iter().map(|one| one["memory"].as_str().unwrap_or_default().to_owned()).collect()
}

async fn all(client: &Client, filters: Value) -> Answer {
    client.post("/mem0/v3/memories/", json!({ "filters": filters })).await
}
