//! `lukasa mcp`: the door for assistants that start a program instead of calling an address.
//!
//! A bridge and nothing more: each line on standard input is a message that goes to a running
//! server's `/mcp`, and each message that comes back is a line on standard output. Every rule lives
//! in the server. Nothing but the protocol is ever written to standard output.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, Method, Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::client::Server;

/// The path of the door.
const PATH: &str = "/mcp";
const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";
/// Where a request of the newer protocol says which version it speaks.
const META_VERSION: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
/// What the protocol calls a failure on the way.
const INTERNAL: i64 = -32603;
const NOT_JSON: i64 = -32700;

#[derive(Debug, Args)]
#[command(after_help = "\
An assistant starts this by itself. In its settings for MCP servers:
  { \"mcpServers\": { \"lukasa\": { \"command\": \"lukasa\", \"args\": [\"mcp\"] } } }

For a server elsewhere, or one that asks for a key:
  { \"mcpServers\": { \"lukasa\": { \"command\": \"lukasa\", \"args\": [\"mcp\"],
    \"env\": { \"LUKASA_URL\": \"https://memory.example.com\", \"LUKASA_KEY\": \"lk_live_...\" } } } }

An assistant that can call an address needs no bridge: give it the server's /mcp.")]
pub struct Mcp {
    #[command(flatten)]
    server: Server,
}

/// What the older protocol has agreed upon in its first exchange.
#[derive(Debug, Default)]
struct Agreed {
    version: Option<String>,
    session: Option<String>,
    /// Whether the server has answered anything at all.
    reached: bool,
    /// Why it was last not reached.
    missed: Option<String>,
}

#[derive(Clone)]
struct Bridge {
    server: Server,
    client: Client,
    agreed: Arc<Mutex<Agreed>>,
}

impl Mcp {
    pub async fn run(self) -> anyhow::Result<()> {
        if std::io::stdin().is_terminal() {
            note(
                "this speaks the Model Context Protocol with an assistant; see `lukasa mcp --help`",
            );
        }
        let client = self.server.client()?;
        let bridge = Bridge { server: self.server, client, agreed: Arc::default() };
        let mut lines = read_lines();
        let mut calls = JoinSet::new();
        while let Some(line) = lines.recv().await {
            for message in messages(&line) {
                let bridge = bridge.clone();
                // What opens a conversation, or is no question, keeps its place in the line.
                let waits = message["method"] != "initialize" && !message["id"].is_null();
                match waits && message["method"].is_string() {
                    true => drop(calls.spawn(async move { bridge.carry(&message).await })),
                    false => bridge.carry(&message).await,
                }
            }
            while calls.try_join_next().is_some() {}
        }
        calls.join_all().await;
        bridge.end().await
    }
}

/// The lines of standard input. A thread reads them: one that waits for a line cannot be hurried.
fn read_lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(16);
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if !line.trim().is_empty() && sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// The messages of a line. One version of the protocol allows several.
fn messages(line: &str) -> Vec<Value> {
    match serde_json::from_str(line) {
        Ok(Value::Array(several)) => several,
        Ok(message @ Value::Object(_)) => vec![message],
        _ => {
            put(&failure(&Value::Null, NOT_JSON, "the line is not a JSON message", Value::Null));
            Vec::new()
        }
    }
}

/// A line for whoever looks after the assistant.
fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "lukasa: {text}");
}

/// A message for the assistant. Once it is gone there is nobody to write to.
fn put(message: &Value) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{message}").and_then(|()| out.flush());
}

fn failure(id: &Value, code: i64, message: &str, data: Value) -> Value {
    let mut error = json!({ "code": code, "message": message });
    if !data.is_null() {
        error["data"] = data;
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

/// A header's value; what a header cannot say is wrapped as the protocol wraps it.
fn header(text: &str) -> String {
    let plain = text.bytes().all(|b| (0x20..0x7f).contains(&b)) && text.trim() == text;
    if plain && !text.starts_with("=?base64?") {
        return text.to_owned();
    }
    format!("=?base64?{}?=", STANDARD.encode(text))
}

impl Bridge {
    fn agreed<T>(&self, with: impl FnOnce(&mut Agreed) -> T) -> T {
        with(&mut self.agreed.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Carries one message over and everything that comes back.
    async fn carry(&self, message: &Value) {
        if let Err(error) = self.exchange(message).await {
            let told = format!("{error:#}");
            self.agreed(|agreed| agreed.missed = Some(told.clone()));
            note(&told);
            if message["method"].is_string() && !message["id"].is_null() {
                put(&failure(&message["id"], INTERNAL, &told, Value::Null));
            }
        }
    }

    async fn exchange(&self, message: &Value) -> anyhow::Result<()> {
        let request = self.server.request_with(&self.client, Method::POST, PATH);
        let mut request = request
            .header(ACCEPT, "application/json, text/event-stream")
            .header(CONTENT_TYPE, "application/json")
            .body(message.to_string());
        let method = message["method"].as_str().unwrap_or_default();
        let (agreed, session) =
            self.agreed(|agreed| (agreed.version.clone(), agreed.session.clone()));
        if let Some(version) = message.pointer(META_VERSION).and_then(Value::as_str) {
            // The newer protocol says everything in every request, and in its headers too.
            request = request.header(VERSION, version).header("mcp-method", header(method));
            let named = match method {
                "resources/read" => message.pointer("/params/uri"),
                _ => message.pointer("/params/name"),
            };
            if let Some(name) = named.and_then(Value::as_str) {
                request = request.header("mcp-name", header(name));
            }
        } else if let (Some(version), true) = (agreed, method != "initialize") {
            request = request.header(VERSION, version);
        }
        if let Some(session) = session {
            request = request.header(SESSION, session);
        }
        let response = request.send().await.with_context(|| self.server.missing())?;
        self.agreed(|agreed| agreed.reached = true);
        if method == "initialize" {
            let session = response.headers().get(SESSION).and_then(|id| id.to_str().ok());
            let session = session.map(str::to_owned);
            self.agreed(|agreed| agreed.session = session);
        }
        self.deliver(message, response).await
    }

    async fn deliver(&self, message: &Value, mut response: Response) -> anyhow::Result<()> {
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().to_owned();
        let cut = "the connection to Lukasa was cut";
        if kind.starts_with("text/event-stream") {
            let mut events = Events::default();
            while let Some(bytes) = response.chunk().await.context(cut)? {
                for event in events.take(&bytes) {
                    self.hand_over(message, &event);
                }
            }
            return Ok(());
        }
        let status = response.status();
        if status == StatusCode::ACCEPTED || status == StatusCode::NO_CONTENT {
            return Ok(());
        }
        let body = response.bytes().await.context(cut)?;
        match serde_json::from_slice::<Value>(&body) {
            Ok(answer) if answer["jsonrpc"] == "2.0" => self.hand_over(message, &answer),
            problem => self.refuse(message, status, &problem.unwrap_or_default()),
        }
        Ok(())
    }

    fn hand_over(&self, asked: &Value, answer: &Value) {
        let opens = asked["method"] == "initialize" && answer["id"] == asked["id"];
        if let (true, Some(version)) = (opens, answer.pointer("/result/protocolVersion")) {
            let version = version.as_str().map(str::to_owned);
            self.agreed(|agreed| agreed.version = version);
        }
        put(answer);
    }

    /// A refusal at the door, in the server's own words.
    fn refuse(&self, message: &Value, status: StatusCode, problem: &Value) {
        let said = problem["detail"].as_str().or(problem["title"].as_str());
        let told = match (status, said) {
            (StatusCode::UNAUTHORIZED, _) => {
                "Lukasa asks for a key: set LUKASA_KEY, or make one with `lukasa key create`"
                    .to_owned()
            }
            (_, Some(said)) => said.to_owned(),
            (_, None) => format!("Lukasa answered {status}"),
        };
        note(&told);
        if message["method"].is_string() && !message["id"].is_null() {
            let data = json!({ "status": status.as_u16(), "code": problem["code"] });
            put(&failure(&message["id"], INTERNAL, &told, data));
        }
    }

    /// Ends the session, if there is one. Fails if there never was a server.
    async fn end(&self) -> anyhow::Result<()> {
        let (session, reached, missed) =
            self.agreed(|agreed| (agreed.session.take(), agreed.reached, agreed.missed.take()));
        if let Some(session) = session {
            let request = self.server.request_with(&self.client, Method::DELETE, PATH);
            // Whether it is heard does not matter: a session ends by itself.
            let _ = request.header(SESSION, session).send().await;
        }
        match missed {
            Some(_) if !reached => Err(super::Said.into()),
            _ => Ok(()),
        }
    }
}

/// A stream of events as it comes in, piece by piece.
#[derive(Default)]
struct Events {
    rest: Vec<u8>,
    data: String,
}

impl Events {
    /// The messages that are complete with these bytes.
    fn take(&mut self, bytes: &[u8]) -> Vec<Value> {
        self.rest.extend_from_slice(bytes);
        let mut events = Vec::new();
        while let Some(end) = self.rest.iter().position(|b| *b == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches(['\n', '\r']);
            if line.is_empty() {
                // An event without data only keeps the connection alive.
                if let Ok(event @ Value::Object(_)) = serde_json::from_str(&self.data) {
                    events.push(event);
                }
                self.data.clear();
            } else if let Some(data) = line.strip_prefix("data:") {
                if !self.data.is_empty() {
                    self.data.push('\n');
                }
                self.data.push_str(data.strip_prefix(' ').unwrap_or(data));
            }
        }
        events
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_read_however_they_are_cut() {
        let stream =
            "id: 0\nretry: 3000\ndata:\n\n: alive\n\ndata: {\"id\":1,\ndata: \"é\":2}\r\n\r\n";
        for size in 1..stream.len() {
            let mut events = Events::default();
            let cut = stream.as_bytes().chunks(size);
            let found: Vec<Value> = cut.flat_map(|bytes| events.take(bytes)).collect();
            assert_eq!(found, [json!({ "id": 1, "é": 2 })], "{size}");
        }
    }

    #[test]
    fn a_header_says_anything() {
        assert_eq!(header("save_memory"), "save_memory");
        assert_eq!(header("Zoë"), "=?base64?Wm/Dqw==?=");
        assert_eq!(header(" x"), "=?base64?IHg=?=");
    }
}
