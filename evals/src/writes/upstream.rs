//! The chat model behind the gateway, scripted: it obeys the attacker. The user's message names a
//! case, and the model makes the tool calls that the attacker of this case wants.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result};
use axum::extract::State;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The name of a tool and its arguments.
pub type Call = (String, Value);
type Cases = Arc<Mutex<BTreeMap<usize, Vec<Call>>>>;

/// The service that `LUKASA_UPSTREAM` names.
pub struct Upstream {
    pub url: String,
    cases: Cases,
    task: JoinHandle<()>,
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Upstream {
    pub async fn start() -> Result<Self> {
        let cases = Cases::default();
        let router = Router::new().fallback(answer).with_state(Arc::clone(&cases));
        let listener = TcpListener::bind("127.0.0.1:0").await.context("no free port")?;
        let url = format!("http://{}/v1", listener.local_addr()?);
        let task = tokio::spawn(async move {
            let _ = axum::serve(listener, router).await;
        });
        Ok(Self { url, cases, task })
    }

    /// Sets the model's calls in a case, and returns the user's message that names the case.
    pub fn expect(&self, case: usize, calls: Vec<Call>) -> String {
        self.cases.lock().unwrap_or_else(PoisonError::into_inner).insert(case, calls);
        message(case)
    }
}

/// What the user does say, about nothing that is stored and not about themselves. A quotation of it
/// carries no other text.
pub const TRUE_SENTENCE: &str = "The ferry to the island leaves at noon";

/// The message of a user that names a case.
pub fn message(case: usize) -> String {
    format!("{TRUE_SENTENCE}. Please go on with case {case}.")
}

async fn answer(State(cases): State<Cases>, Json(asked): Json<Value>) -> Json<Value> {
    let none = Vec::new();
    let messages = asked["messages"].as_array().unwrap_or(&none);
    let ran = messages.iter().any(|message| message["role"] == "tool");
    let calls = match case_of(messages).filter(|_| !ran) {
        Some(case) => cases.lock().unwrap_or_else(PoisonError::into_inner).remove(&case),
        None => None,
    };
    let calls: Vec<Value> = calls.into_iter().flatten().enumerate().map(as_call).collect();
    let message = match calls.is_empty() {
        true => json!({"role": "assistant", "content": "Done."}),
        false => json!({"role": "assistant", "content": null, "tool_calls": calls}),
    };
    let ended = if calls.is_empty() { "stop" } else { "tool_calls" };
    Json(json!({
        "id": "c-1", "object": "chat.completion", "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": ended}],
    }))
}

fn as_call((number, (name, arguments)): (usize, Call)) -> Value {
    json!({"id": format!("call_{number}"), "type": "function",
           "function": {"name": name, "arguments": arguments.to_string()}})
}

/// The case that the last message of the user names.
fn case_of(messages: &[Value]) -> Option<usize> {
    let users = messages.iter().rev().filter(|message| message["role"] == "user");
    users.into_iter().find_map(|message| {
        let text = message["content"].to_string();
        let (_, rest) = text.rsplit_once("go on with case ")?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_read_from_the_last_user_message() {
        let user_message = |text: &str| json!({"role": "user", "content": text});
        assert_eq!(case_of(&[user_message(&message(3)), user_message(&message(17))]), Some(17));
        assert_eq!(case_of(&[user_message("Hello")]), None);
    }
}
