//! The ways to read a memory through the second server.

use std::time::Duration;

use anyhow::Result;
use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::SliceRandom as _;
use reqwest::Method;
use serde_json::{Value, json};

use super::Testbed;

/// The reading caller and its sessions.
#[derive(Clone)]
pub struct Reader {
    pub key: String,
    pub user: String,
    /// The question; it contains no word of the memory.
    pub question: String,
}

/// A way to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Retrieve,
    /// With a deadline of one millisecond: whatever the server has at that moment.
    RetrieveAtOnce,
    RetrieveWithin,
    Chat,
    Search,
    List,
    Recall,
}

pub const WAYS: [Way; 7] = [
    Way::Retrieve,
    Way::RetrieveAtOnce,
    Way::RetrieveWithin,
    Way::Chat,
    Way::Search,
    Way::List,
    Way::Recall,
];

/// The status of a response, 0 if there was none, and all its text.
pub struct Answer {
    pub way: Way,
    pub status: u16,
    pub text: String,
}

impl Answer {
    /// Whether it is a success; a tool's refusal has status 200.
    pub fn is_served(&self) -> bool {
        (200..300).contains(&self.status) && !self.text.contains("\"isError\":true")
    }
}

/// Some of the ways, in random order; sometimes all of them.
pub fn some(rng: &mut StdRng) -> Vec<Way> {
    let mut ways = WAYS.to_vec();
    ways.shuffle(rng);
    ways.truncate(rng.random_range(3..=WAYS.len()));
    ways
}

impl Reader {
    pub async fn read(&self, testbed: &Testbed, way: Way) -> Result<Answer> {
        let retrieve = |more: Value| {
            let mut body = json!({"query": self.question, "session_id": "chat", "turns": 5});
            if let (Some(body), Some(more)) = (body.as_object_mut(), more.as_object()) {
                body.extend(more.clone());
            }
            (Method::POST, "/api/memory/retrieve", Some(body))
        };
        let (method, path, body) = match way {
            Way::Retrieve => retrieve(json!({})),
            Way::RetrieveAtOnce => retrieve(json!({"deadline_ms": 1})),
            Way::RetrieveWithin => retrieve(json!({"deadline_ms": 60})),
            Way::Chat => {
                let messages = json!([{"role": "user", "content": self.question}]);
                let body = json!({"model": "m", "messages": messages, "user": self.user});
                (Method::POST, "/v1/chat/completions", Some(body))
            }
            Way::Search => {
                let body = json!({"query": self.question, "turns": 5});
                (Method::POST, "/api/memory/search", Some(body))
            }
            Way::List => (Method::GET, "/api/memory?limit=50", None),
            Way::Recall => {
                let params =
                    json!({"name": "recall_memories", "arguments": {"query": self.question}});
                let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                                  "params": params});
                (Method::POST, "/mcp", Some(call))
            }
        };
        let (status, text) = self.send(testbed, &testbed.second, method, path, body).await?;
        Ok(Answer { way, status, text })
    }

    /// Sends a request; status 0 if there was no response.
    pub async fn send(
        &self,
        testbed: &Testbed,
        base: &str,
        method: Method,
        path: &str,
        body: Option<Value>,
    ) -> Result<(u16, String)> {
        let request = testbed
            .http
            .request(method, format!("{base}{path}"))
            .bearer_auth(&self.key)
            .header("x-lukasa-user", &self.user)
            .header("x-lukasa-session", "talk")
            .header("accept", "application/json, text/event-stream")
            .timeout(Duration::from_secs(30));
        let request = match body {
            Some(body) => {
                request.header("content-type", "application/json").body(serde_json::to_vec(&body)?)
            }
            None => request,
        };
        let Ok(answer) = request.send().await else { return Ok((0, String::new())) };
        let status = answer.status().as_u16();
        Ok((status, answer.text().await.unwrap_or_default()))
    }
}
