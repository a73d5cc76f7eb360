//! `lukasa mcp`: MCP over standard input and output, for assistants that start a program instead of
//! calling a URL.
//!
//! It is a bridge: each line on standard input is a message that is sent to a server's `/mcp`, and
//! each message of the response is a line on standard output. All rules are in the server, which is
//! started if none runs on this machine.
//! Nothing but the protocol is ever written to standard output.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use clap::Args;
use lukasa_models::sse::SseReader;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::client::ServerArgs;
use super::start::StartArgs;

/// The path of the server's MCP endpoint.
const PATH: &str = "/mcp";
const SESSION_HEADER: &str = "mcp-session-id";
const VERSION_HEADER: &str = "mcp-protocol-version";
/// JSON pointer to the version in a request of the newer, stateless protocol.
const META_VERSION: &str = "/params/_meta/io.modelcontextprotocol~1protocolVersion";
/// JSON-RPC error code for failures of the bridge or the server.
const INTERNAL_ERROR: i64 = -32603;
const PARSE_ERROR: i64 = -32700;

#[derive(Debug, Args)]
#[command(after_help = "\
An assistant starts this command. In its settings for MCP servers:
  { \"mcpServers\": { \"lukasa\": { \"command\": \"lukasa\", \"args\": [\"mcp\"] } } }

For a server on another machine, or one that requires a key:
  { \"mcpServers\": { \"lukasa\": { \"command\": \"lukasa\", \"args\": [\"mcp\"],
    \"env\": { \"LUKASA_URL\": \"https://memory.example.com\", \"LUKASA_KEY\": \"lk_live_...\" } } } }

If no server runs on this machine, this command starts one, which keeps running. Its log is server.log
in the data folder.

An assistant that can call a URL needs no bridge: give it the server's /mcp.")]
pub struct McpArgs {
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    start: StartArgs,
    /// The project that the assistant works on: it sees memories of this project and of none
    #[arg(long, env = "LUKASA_PROJECT", value_name = "NAME")]
    project: Option<String>,
}

/// State of the connection: the version and session that the older protocol negotiates first.
#[derive(Debug, Default)]
struct BridgeState {
    version: Option<String>,
    session: Option<String>,
    /// Whether the server has ever answered.
    reached: bool,
    /// The last failed exchange.
    last_error: Option<String>,
}

#[derive(Clone)]
struct Bridge {
    server: ServerArgs,
    start: StartArgs,
    /// Held while a server is being started.
    starting: Arc<tokio::sync::Mutex<()>>,
    project: Option<String>,
    client: Client,
    state: Arc<Mutex<BridgeState>>,
}

impl McpArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        if std::io::stdin().is_terminal() {
            log("this command speaks MCP and is started by an assistant; see `lukasa mcp --help`");
        }
        let Self { server, start, project } = self;
        let client = server.client()?;
        let starting = Arc::default();
        let bridge = Bridge { server, start, starting, project, client, state: Arc::default() };
        let mut lines = read_lines();
        let mut calls = JoinSet::new();
        while let Some(line) = lines.recv().await {
            for message in messages(&line) {
                let bridge = bridge.clone();
                // `initialize` and messages that are not requests are sent in order; other requests
                // run concurrently.
                let is_concurrent = message["method"] != "initialize" && !message["id"].is_null();
                match is_concurrent && message["method"].is_string() {
                    true => drop(calls.spawn(async move { bridge.forward(&message).await })),
                    false => bridge.forward(&message).await,
                }
            }
            while calls.try_join_next().is_some() {}
        }
        calls.join_all().await;
        bridge.end().await
    }
}

/// The lines of standard input. A thread reads them, because a blocking read cannot be cancelled.
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

/// The messages of a line. One version of the protocol allows batches.
fn messages(line: &str) -> Vec<Value> {
    match serde_json::from_str(line) {
        Ok(Value::Array(several)) => several,
        Ok(message @ Value::Object(_)) => vec![message],
        _ => {
            let error = "the line is not a JSON message";
            write_message(&failure(&Value::Null, PARSE_ERROR, error, Value::Null));
            Vec::new()
        }
    }
}

/// Writes a line to standard error, which assistants show or log.
fn log(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "lukasa: {text}");
}

/// Writes a message to the assistant.
fn write_message(message: &Value) {
    let mut out = std::io::stdout().lock();
    // Ignored: it fails only when the assistant has ended.
    let _ = writeln!(out, "{message}").and_then(|()| out.flush());
}

fn failure(id: &Value, code: i64, message: &str, data: Value) -> Value {
    let mut error = json!({ "code": code, "message": message });
    if !data.is_null() {
        error["data"] = data;
    }
    json!({ "jsonrpc": "2.0", "id": id, "error": error })
}

/// A header's value. Text that a header cannot contain is encoded as the protocol requires.
fn header(text: &str) -> String {
    let plain = text.bytes().all(|b| (0x20..0x7f).contains(&b)) && text.trim() == text;
    if plain && !text.starts_with("=?base64?") {
        return text.to_owned();
    }
    format!("=?base64?{}?=", STANDARD.encode(text))
}

impl Bridge {
    fn with_state<T>(&self, with: impl FnOnce(&mut BridgeState) -> T) -> T {
        with(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sends one message to the server and writes its response to the assistant.
    async fn forward(&self, message: &Value) {
        if let Err(error) = self.exchange(message).await {
            let error = format!("{error:#}");
            self.with_state(|state| state.last_error = Some(error.clone()));
            log(&error);
            if message["method"].is_string() && !message["id"].is_null() {
                write_message(&failure(&message["id"], INTERNAL_ERROR, &error, Value::Null));
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
        let (negotiated, session) =
            self.with_state(|state| (state.version.clone(), state.session.clone()));
        if let Some(version) = message.pointer(META_VERSION).and_then(Value::as_str) {
            // The newer protocol repeats version, method and name in the headers of every request.
            request = request.header(VERSION_HEADER, version).header("mcp-method", header(method));
            let named = match method {
                "resources/read" => message.pointer("/params/uri"),
                _ => message.pointer("/params/name"),
            };
            if let Some(name) = named.and_then(Value::as_str) {
                request = request.header("mcp-name", header(name));
            }
        } else if let (Some(version), true) = (negotiated, method != "initialize") {
            request = request.header(VERSION_HEADER, version);
        }
        if let Some(session) = session {
            request = request.header(SESSION_HEADER, session);
        }
        if let Some(project) = &self.project {
            request = request.header("x-lukasa-project", project);
        }
        let response = self.send_or_start(request).await?;
        self.with_state(|state| state.reached = true);
        if method == "initialize" {
            let session = response.headers().get(SESSION_HEADER).and_then(|id| id.to_str().ok());
            let session = session.map(str::to_owned);
            self.with_state(|state| state.session = session);
        }
        self.deliver(message, response).await
    }

    /// Sends a request; if no server runs, starts one first.
    async fn send_or_start(&self, request: RequestBuilder) -> anyhow::Result<Response> {
        let again = request.try_clone();
        match request.send().await {
            Err(error) if error.is_connect() => {
                let one_at_a_time = self.starting.lock().await;
                self.start.ensure_server(&self.server).await?;
                drop(one_at_a_time);
                match again {
                    Some(again) => again.send().await,
                    None => Err(error),
                }
            }
            answered => answered,
        }
        .with_context(|| self.server.unreachable())
    }

    async fn deliver(&self, message: &Value, mut response: Response) -> anyhow::Result<()> {
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().to_owned();
        let cut = "the connection to the Lukasa server was interrupted";
        if kind.starts_with("text/event-stream") {
            let mut events = SseReader::new(usize::MAX);
            while let Some(bytes) = response.chunk().await.context(cut)? {
                for event in streamed_messages(&mut events, &bytes)? {
                    self.write_response(message, &event);
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
            Ok(answer) if answer["jsonrpc"] == "2.0" => self.write_response(message, &answer),
            problem => self.refuse(message, status, &problem.unwrap_or_default()),
        }
        Ok(())
    }

    fn write_response(&self, request: &Value, answer: &Value) {
        let is_initialize = request["method"] == "initialize" && answer["id"] == request["id"];
        if let (true, Some(version)) = (is_initialize, answer.pointer("/result/protocolVersion")) {
            let version = version.as_str().map(str::to_owned);
            self.with_state(|state| state.version = version);
        }
        write_message(answer);
    }

    /// Passes on an HTTP error of the server, with the server's own message.
    fn refuse(&self, message: &Value, status: StatusCode, problem: &Value) {
        let detail = problem["detail"].as_str().or(problem["title"].as_str());
        let error = match (status, detail) {
            (StatusCode::UNAUTHORIZED, _) => {
                "Lukasa requires a key: set LUKASA_KEY, or create one with `lukasa key create`"
                    .to_owned()
            }
            (_, Some(detail)) => detail.to_owned(),
            (_, None) => format!("Lukasa answered {status}"),
        };
        log(&error);
        if message["method"].is_string() && !message["id"].is_null() {
            let data = json!({ "status": status.as_u16(), "code": problem["code"] });
            write_message(&failure(&message["id"], INTERNAL_ERROR, &error, data));
        }
    }

    /// Ends the session, if there is one. Fails if the server was never reached.
    async fn end(&self) -> anyhow::Result<()> {
        let (session, reached, last_error) =
            self.with_state(|state| (state.session.take(), state.reached, state.last_error.take()));
        if let Some(session) = session {
            let request = self.server.request_with(&self.client, Method::DELETE, PATH);
            // Best effort: a session that is not ended here expires.
            let _ = request.header(SESSION_HEADER, session).send().await;
        }
        match last_error {
            Some(_) if !reached => Err(super::AlreadyReported.into()),
            _ => Ok(()),
        }
    }
}

/// The messages that these bytes of an event stream complete. An event without data only keeps the
/// connection alive.
pub(super) fn streamed_messages(
    reader: &mut SseReader,
    bytes: &[u8],
) -> anyhow::Result<Vec<Value>> {
    let events = reader.push(bytes).context("the server's event stream cannot be read")?;
    let messages = events.iter().filter_map(|event| serde_json::from_str(event).ok());
    Ok(messages.filter(Value::is_object).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_parsed_in_chunks_of_any_size() {
        let stream =
            "id: 0\nretry: 3000\ndata:\n\n: alive\n\ndata: {\"id\":1,\ndata: \"é\":2}\r\n\r\n";
        for size in 1..stream.len() {
            let mut events = SseReader::new(usize::MAX);
            let cut = stream.as_bytes().chunks(size);
            let found: Vec<Value> =
                cut.flat_map(|bytes| streamed_messages(&mut events, bytes).unwrap()).collect();
            assert_eq!(found, [json!({ "id": 1, "é": 2 })], "{size}");
        }
    }

    #[test]
    fn header_values_are_encoded_if_needed() {
        assert_eq!(header("save_memory"), "save_memory");
        assert_eq!(header("Zoë"), "=?base64?Wm/Dqw==?=");
        assert_eq!(header(" x"), "=?base64?IHg=?=");
    }
}
