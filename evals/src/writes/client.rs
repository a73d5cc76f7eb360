//! HTTP requests with one credential.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};

/// Sends requests to the server with one credential.
#[derive(Debug, Clone)]
pub struct Client {
    pub http: reqwest::Client,
    pub base: String,
    pub key: String,
}

/// A response of the server. The body is null if it is not JSON.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    pub status: u16,
    pub body: Value,
}

impl Answer {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The body of a request that must succeed.
    pub fn expect(self, what: &str) -> Result<Value> {
        ensure!(self.is_success(), "{what}: {} {}", self.status, self.body);
        Ok(self.body)
    }
}

impl Client {
    pub fn with_key(&self, key: &str) -> Self {
        Self { key: key.to_owned(), ..self.clone() }
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.base)).bearer_auth(&self.key)
    }

    /// Sends a request, and retries it while the server answers that there are too many.
    async fn answer(request: reqwest::RequestBuilder) -> Result<Answer> {
        const TRIES: usize = 100;
        let mut tries = 0;
        let answer = loop {
            let again = request.try_clone().context("a request that cannot be repeated")?;
            let answer = again.send().await.context("the server does not answer")?;
            tries += 1;
            if answer.status().as_u16() != 429 || tries == TRIES {
                break answer;
            }
            let wait = answer.headers().get("retry-after").and_then(|text| text.to_str().ok());
            let seconds = wait.and_then(|text| text.parse().ok()).unwrap_or(1).min(10);
            tokio::time::sleep(Duration::from_secs(seconds)).await;
        };
        let status = answer.status().as_u16();
        let body = answer.bytes().await.unwrap_or_default();
        Ok(Answer { status, body: serde_json::from_slice(&body).unwrap_or(Value::Null) })
    }

    pub async fn send(&self, method: Method, path: &str, body: Value) -> Result<Answer> {
        let request = self.request(method, path);
        let request = if body.is_null() { request } else { request.json(&body) };
        Self::answer(request).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Result<Answer> {
        self.send(Method::POST, path, body).await
    }

    pub async fn get(&self, path: &str) -> Result<Answer> {
        self.send(Method::GET, path, Value::Null).await
    }

    pub async fn upload(&self, path: &str, kind: &str, bytes: Vec<u8>) -> Result<Answer> {
        let request = self.request(Method::POST, path).header("content-type", kind);
        Self::answer(request.body(bytes)).await
    }

    pub async fn download(&self, path: &str) -> Result<Vec<u8>> {
        let answer = self.request(Method::GET, path).send().await?;
        ensure!(answer.status().is_success(), "{path}: {}", answer.status());
        Ok(answer.bytes().await?.to_vec())
    }

    /// One message of the Model Context Protocol.
    pub async fn mcp(&self, method: &str, params: Value) -> Result<Answer> {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let request = self
            .request(Method::POST, "/mcp")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2025-11-25")
            .json(&message);
        Self::answer(request).await
    }

    /// Calls a tool. A refusal by the tool is mapped to the status 422.
    pub async fn tool(&self, name: &str, arguments: Value) -> Result<Answer> {
        let params = json!({"name": name, "arguments": arguments});
        let mut answer = self.mcp("tools/call", params).await?;
        let refused = answer.body["error"].is_object() || answer.body["result"]["isError"] == true;
        if answer.is_success() && refused {
            answer.status = 422;
        }
        answer.body = answer.body["result"]["structuredContent"].take();
        Ok(answer)
    }

    /// One message to the model behind the gateway, which is offered the memory tools.
    pub async fn chat(&self, session: &str, message: &str) -> Result<Answer> {
        let body = json!({
            "model": "scripted", "messages": [{"role": "user", "content": message}],
        });
        let request = self
            .request(Method::POST, "/v1/chat/completions")
            .header("x-lukasa-session", session)
            .header("x-lukasa-tools", "on")
            .json(&body);
        Self::answer(request).await
    }

    /// All memories of a status, page by page.
    pub async fn memories(&self, status: &str) -> Result<Vec<Value>> {
        let (mut all, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("/api/memory?status={status}&limit=200{cursor}");
            let mut page = self.get(&path).await?.expect("list")?;
            let data = page["data"].take();
            all.extend(data.as_array().cloned().unwrap_or_default());
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return Ok(all),
            }
        }
    }
}
