//! A server to talk to: how the commands that are about one person's memory reach it. They do over
//! the API what anybody could do, so they work from another machine and are let in like anybody.

use std::io::IsTerminal as _;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::Value;

use super::show::field;

/// Which server, and whose memory.
#[derive(Debug, Clone, Args)]
pub struct Server {
    /// Where Lukasa is served
    #[arg(long, env = "LUKASA_URL", default_value = "http://127.0.0.1:7777", value_name = "URL")]
    url: String,
    /// An API key or a user's token; a server on this machine may want none
    #[arg(long, env = "LUKASA_KEY", hide_env_values = true, value_name = "KEY")]
    key: Option<String>,
    /// Whose memory, if the key is not bound to one user
    #[arg(long, env = "LUKASA_USER", value_name = "NAME")]
    user: Option<String>,
}

/// A refusal by the server, in its own words.
#[derive(Debug)]
pub struct Refused {
    pub status: u16,
    pub code: String,
    pub problem: Value,
}

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let said = self.problem["detail"].as_str().or(self.problem["title"].as_str());
        write!(f, "{} ({})", said.unwrap_or("the server refused"), self.code)?;
        for wrong in self.problem["errors"].as_array().into_iter().flatten() {
            let name = wrong["pointer"].as_str().unwrap_or_default().trim_start_matches('/');
            write!(f, "\n  {name}: {}", wrong["detail"].as_str().unwrap_or_default())?;
        }
        for other in self.problem["candidates"].as_array().into_iter().flatten() {
            write!(
                f,
                "\n  {}  {}{}",
                field(other, "id"),
                field(other, "content"),
                field(other, "verb")
            )?;
        }
        Ok(())
    }
}

impl std::error::Error for Refused {}

impl Server {
    /// The same server, about another user.
    pub fn about(&self, user: &str) -> Self {
        Self { user: Some(user.to_owned()), ..self.clone() }
    }

    pub fn url(&self) -> &str {
        self.url.trim_end_matches('/')
    }

    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Whether anybody answers there.
    pub async fn answers(&self) -> bool {
        self.get("/healthz").await.is_ok_and(|alive| alive["status"] == "ok")
    }

    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// Asks for something, and reads the answer as JSON.
    pub async fn get(&self, path: &str) -> anyhow::Result<Value> {
        self.json(self.request(Method::GET, path)?).await
    }

    /// Sends something, and reads the answer as JSON.
    pub async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        self.json(self.request(Method::POST, path)?.json(body)).await
    }

    /// Asks for something that may be large, to be read piece by piece.
    pub async fn open(&self, path: &str) -> anyhow::Result<Response> {
        self.send(self.request(Method::GET, path)?).await
    }

    /// A request to this server, let in as its person.
    pub fn request(&self, method: Method, path: &str) -> anyhow::Result<RequestBuilder> {
        Ok(self.request_with(&self.client()?, method, path))
    }

    /// A client for this server, for whoever has several requests to make.
    pub fn client(&self) -> anyhow::Result<Client> {
        let client = lukasa_models::tls::client(&self.url);
        let client = client.connect_timeout(Duration::from_secs(5)).build();
        client.context("could not prepare a connection")
    }

    /// The same request over a connection that may be there already.
    pub fn request_with(&self, client: &Client, method: Method, path: &str) -> RequestBuilder {
        let url = format!("{}{path}", self.url.trim_end_matches('/'));
        let mut request = client.request(method, url);
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        if let Some(user) = &self.user {
            request = request.header("x-lukasa-user", user);
        }
        request
    }

    pub async fn send(&self, request: RequestBuilder) -> anyhow::Result<Response> {
        let response = request.send().await.with_context(|| self.missing())?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status();
        let problem: Value = response.json().await.unwrap_or_default();
        let code = problem["code"].as_str().unwrap_or(status.as_str()).to_owned();
        let status = status.as_u16();
        Err(Refused { status, code, problem }.into())
    }

    /// What to say when nobody answers.
    pub fn missing(&self) -> String {
        format!("no Lukasa at {}; start one with `lukasa serve`, or say --url", self.url)
    }

    async fn json(&self, request: RequestBuilder) -> anyhow::Result<Value> {
        let response = self.send(request).await?;
        if response.status() == StatusCode::NO_CONTENT {
            return Ok(Value::Null);
        }
        response.json().await.context("the server's answer could not be read")
    }
}

/// The exit code of a refusal.
pub fn exit_code(refused: &Refused) -> u8 {
    match refused.status {
        401 | 403 => 3,
        404 | 410 => 4,
        409 | 412 => 5,
        _ => 1,
    }
}

/// Asks a person to type something, and gives what they typed. Nobody is asked without a terminal.
pub fn ask(question: &str) -> anyhow::Result<Option<String>> {
    use std::io::Write as _;
    if !std::io::stdin().is_terminal() {
        return Ok(None);
    }
    let mut out = std::io::stderr().lock();
    write!(out, "{question} ")?;
    out.flush()?;
    drop(out);
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(Some(line.trim().to_owned()))
}

/// A text as a part of a path or of a query.
pub fn encoded(text: &str) -> String {
    let keep = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    text.bytes()
        .map(|byte| if keep(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}
