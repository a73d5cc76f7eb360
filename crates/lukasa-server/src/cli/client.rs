//! The HTTP client of the commands about one user's memory. They use the public API like any other
//! client, so they work from another machine and are authenticated like any other caller.

use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::Value;

use super::show::field;

/// The server and the user that a command is about.
#[derive(Debug, Clone, Args)]
pub struct ServerArgs {
    /// URL of the Lukasa server
    #[arg(long, env = "LUKASA_URL", default_value = "http://127.0.0.1:7777", value_name = "URL")]
    url: String,
    /// An API key or a user's token; a server without authentication needs none
    #[arg(long, env = "LUKASA_KEY", hide_env_values = true, value_name = "KEY")]
    key: Option<String>,
    /// The user, if the key is not bound to one
    #[arg(long, env = "LUKASA_USER", value_name = "NAME")]
    user: Option<String>,
}

/// An error response of the server, with its problem document.
#[derive(Debug)]
pub struct ServerError {
    pub status: u16,
    pub code: String,
    pub problem: Value,
}

impl std::fmt::Display for ServerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let detail = self.problem["detail"].as_str().or(self.problem["title"].as_str());
        write!(f, "{} ({})", detail.unwrap_or("the server refused the request"), self.code)?;
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

impl std::error::Error for ServerError {}

impl ServerArgs {
    /// A server that is asked without a key.
    pub fn at(url: String) -> Self {
        Self { url, key: None, user: None }
    }

    /// The same server, about another user.
    pub fn about(&self, user: &str) -> Self {
        Self { user: Some(user.to_owned()), ..self.clone() }
    }

    pub fn url(&self) -> &str {
        self.url.trim_end_matches('/')
    }

    /// The address of a server on this machine that requires no key; `None` for any other.
    pub fn local_address(&self) -> Option<SocketAddr> {
        if self.key.as_deref().is_some_and(|key| !key.is_empty()) {
            return None;
        }
        let url = reqwest::Url::parse(&self.url).ok().filter(|url| url.scheme() == "http")?;
        let address = url.socket_addrs(|| None).ok()?.into_iter().find(|a| a.ip().is_loopback());
        address.filter(|address| address.port() != 0)
    }

    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Whether a Lukasa server answers at the URL.
    pub async fn answers(&self) -> bool {
        self.get("/healthz").await.is_ok_and(|alive| alive["status"] == "ok")
    }

    pub fn user(&self) -> Option<&str> {
        self.user.as_deref()
    }

    /// Sends a GET request and reads the response as JSON.
    pub async fn get(&self, path: &str) -> anyhow::Result<Value> {
        self.json(self.request(Method::GET, path)?).await
    }

    /// Sends a POST request and reads the response as JSON.
    pub async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        self.json(self.request(Method::POST, path)?.json(body)).await
    }

    /// Sends a GET request whose response may be large and is read in chunks.
    pub async fn open(&self, path: &str) -> anyhow::Result<Response> {
        self.send(self.request(Method::GET, path)?).await
    }

    /// A request to this server with the key and the user.
    pub fn request(&self, method: Method, path: &str) -> anyhow::Result<RequestBuilder> {
        Ok(self.request_with(&self.client()?, method, path))
    }

    /// An HTTP client for this server, for several requests over one connection.
    pub fn client(&self) -> anyhow::Result<Client> {
        let client = lukasa_models::tls::client(&self.url);
        let client = client.connect_timeout(Duration::from_secs(5)).build();
        client.context("could not create the HTTP client")
    }

    /// A request with an existing client.
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
        let response = request.send().await.with_context(|| self.unreachable())?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status();
        let problem: Value = response.json().await.unwrap_or_default();
        let code = problem["code"].as_str().unwrap_or(status.as_str()).to_owned();
        let status = status.as_u16();
        Err(ServerError { status, code, problem }.into())
    }

    /// The message for a server that does not answer.
    pub fn unreachable(&self) -> String {
        format!(
            "no Lukasa server at {}; start one with `lukasa serve`, or set its address with --url",
            self.url
        )
    }

    async fn json(&self, request: RequestBuilder) -> anyhow::Result<Value> {
        let response = self.send(request).await?;
        if response.status() == StatusCode::NO_CONTENT {
            return Ok(Value::Null);
        }
        response.json().await.context("the server's response could not be read")
    }
}

/// The exit code for an error response.
pub fn exit_code(refused: &ServerError) -> u8 {
    match refused.status {
        401 | 403 => 3,
        404 | 410 => 4,
        409 | 412 => 5,
        _ => 1,
    }
}

/// Prompts for a line on the terminal and returns it; `None` if standard input is not a terminal.
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
