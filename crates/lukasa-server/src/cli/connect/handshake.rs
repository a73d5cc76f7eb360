//! The MCP handshake with the entry that was written into a file, as the assistant will do it: the
//! program is started, or the URL called, and has to name the protocol version that it speaks.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail};
use lukasa_models::sse::SseReader;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout, Command};

use super::assistants::ServerEntry;
use crate::cli::mcp::streamed_messages;

/// The version that is requested; a server answers with the nearest that it supports.
const REQUESTED_VERSION: &str = "2025-11-25";
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(20);

/// The result of a handshake: the protocol version and the number of tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Handshake {
    pub protocol: String,
    pub tools: usize,
}

pub async fn run(entry: &ServerEntry) -> anyhow::Result<Handshake> {
    let handshake = async {
        match entry {
            ServerEntry::Program { program, arguments, key } => {
                with_program(program, arguments, key.as_deref()).await
            }
            ServerEntry::Address { url, key } => with_address(url, key.as_deref()).await,
        }
    };
    match tokio::time::timeout(HANDSHAKE_TIMEOUT, handshake).await {
        Ok(result) => result,
        Err(_) => {
            bail!("the server did not answer within {} seconds", HANDSHAKE_TIMEOUT.as_secs())
        }
    }
}

fn initialize() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": REQUESTED_VERSION, "capabilities": {},
        "clientInfo": { "name": "lukasa-connect", "version": env!("CARGO_PKG_VERSION") } } })
}

/// The first request of the later, stateless versions of the protocol.
fn discover() -> Value {
    json!({ "jsonrpc": "2.0", "id": 2, "method": "server/discover", "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "lukasa-connect", "version": env!("CARGO_PKG_VERSION") },
        "io.modelcontextprotocol/clientCapabilities": {} } } })
}

/// The protocol version in a response.
fn protocol(answer: &Value) -> Option<String> {
    let result = &answer["result"];
    let one = result["protocolVersion"].as_str();
    let several = result["supportedVersions"].as_array().and_then(|all| all.first()?.as_str());
    one.or(several).map(str::to_owned)
}

struct Program {
    to: ChildStdin,
    from: tokio::io::Lines<BufReader<ChildStdout>>,
}

impl Program {
    async fn ask(&mut self, question: &Value) -> anyhow::Result<Value> {
        self.send(question).await?;
        // Other messages may come first; the response has the request's id.
        while let Some(line) = self.from.next_line().await? {
            let answer: Value = serde_json::from_str(&line)
                .context("the server printed non-MCP output on stdout")?;
            if answer["id"] == question["id"] {
                return Ok(answer);
            }
        }
        bail!("the server ended without an answer")
    }

    async fn send(&mut self, message: &Value) -> anyhow::Result<()> {
        self.to.write_all(format!("{message}\n").as_bytes()).await?;
        Ok(self.to.flush().await?)
    }
}

async fn with_program(
    program: &str,
    arguments: &[String],
    key: Option<&str>,
) -> anyhow::Result<Handshake> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_remove("LUKASA_URL")
        .env_remove("LUKASA_USER")
        .env_remove("LUKASA_KEY");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    if let Some(key) = key {
        command.env("LUKASA_KEY", key);
    }
    let mut child = command.spawn().with_context(|| format!("could not start {program}"))?;
    let (to, from) = (child.stdin.take(), child.stdout.take());
    let (Some(to), Some(from)) = (to, from) else {
        bail!("the standard input and output of {program} cannot be opened")
    };
    let mut program = Program { to, from: BufReader::new(from).lines() };
    let result = shake_hands(&mut program).await;
    drop(program);
    let Err(error) = result else { return result };
    // The program's last line on standard error usually names the cause.
    let _ = child.start_kill();
    let mut errors = String::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = stderr.take(2000).read_to_string(&mut errors).await;
    }
    match errors.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) => Err(error.context(line.trim().to_owned())),
        None => Err(error),
    }
}

async fn shake_hands(program: &mut Program) -> anyhow::Result<Handshake> {
    let mut answer = program.ask(&initialize()).await?;
    if protocol(&answer).is_none() {
        answer = program.ask(&discover()).await?;
    }
    let protocol = protocol(&answer).with_context(|| refusal(&answer))?;
    program.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
    let tools = program.ask(&json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list" })).await?;
    Ok(Handshake { protocol, tools: tools["result"]["tools"].as_array().map_or(0, Vec::len) })
}

fn refusal(answer: &Value) -> String {
    let why = answer["error"]["message"].as_str().unwrap_or("it names no protocol version");
    format!("the server refused the handshake: {why}")
}

async fn with_address(url: &str, key: Option<&str>) -> anyhow::Result<Handshake> {
    let client = lukasa_models::tls::client(url).connect_timeout(Duration::from_secs(5)).build()?;
    let post = async |question: &Value, session: Option<&str>, version: &str| {
        let mut request = client.post(url).json(question);
        request = request.header(ACCEPT, "application/json, text/event-stream");
        if let Some(method) = question["method"].as_str().filter(|_| session.is_none()) {
            request = request.header("mcp-method", method);
        }
        request = request.header("mcp-protocol-version", version);
        if let Some(session) = session {
            request = request.header("mcp-session-id", session);
        }
        if let Some(key) = key {
            request = request.bearer_auth(key);
        }
        let response = request.send().await.with_context(|| format!("no answer from {url}"))?;
        if matches!(response.status().as_u16(), 401 | 403) {
            bail!("{url} refuses access\n  next: pass a key with --key");
        }
        let session = response.headers().get("mcp-session-id");
        let session = session.and_then(|value| value.to_str().ok()).map(str::to_owned);
        let streams = response.headers().get(CONTENT_TYPE).is_some_and(|kind| {
            kind.to_str().is_ok_and(|kind| kind.starts_with("text/event-stream"))
        });
        let answer = match streams {
            true => streamed_response(response, &question["id"]).await?,
            false => serde_json::from_slice(&read_body(response).await?).unwrap_or_default(),
        };
        anyhow::Ok((answer, session))
    };
    let (mut answer, session) = post(&initialize(), None, REQUESTED_VERSION).await?;
    if protocol(&answer).is_none() {
        answer = post(&discover(), None, "2026-07-28").await?.0;
    }
    let protocol = protocol(&answer).with_context(|| refusal(&answer))?;
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let _ = post(&ready, session.as_deref(), &protocol).await;
    let list = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list" });
    let (tools, _) = post(&list, session.as_deref(), &protocol).await?;
    Ok(Handshake { protocol, tools: tools["result"]["tools"].as_array().map_or(0, Vec::len) })
}

/// Maximum number of bytes that are read of one answer.
const MAX_ANSWER_BYTES: usize = 1 << 20;

async fn read_body(mut response: reqwest::Response) -> anyhow::Result<Vec<u8>> {
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await? {
        body.extend_from_slice(&piece);
        if body.len() > MAX_ANSWER_BYTES {
            bail!("the answer is longer than {MAX_ANSWER_BYTES} bytes");
        }
    }
    Ok(body)
}

/// The response to the request with this id in an event stream, which may contain other messages
/// before it and stay open after it.
async fn streamed_response(mut response: reqwest::Response, id: &Value) -> anyhow::Result<Value> {
    let (mut events, mut read) = (SseReader::new(MAX_ANSWER_BYTES), 0);
    while let Some(piece) = response.chunk().await? {
        if let Some(message) = find_response(streamed_messages(&mut events, &piece)?, id) {
            return Ok(message);
        }
        read += piece.len();
        if read > MAX_ANSWER_BYTES {
            bail!("no response in the first {MAX_ANSWER_BYTES} bytes of the stream");
        }
    }
    bail!("the stream ended without a response")
}

/// The response to the request with this id among these messages. A request of the server can have the
/// same id.
fn find_response(messages: Vec<Value>, id: &Value) -> Option<Value> {
    messages.into_iter().find(|message| message["id"] == *id && message["method"].is_null())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn response_is_found_among_other_messages_of_a_stream() {
        let response = json!({ "jsonrpc": "2.0", "id": 1, "result": { "tools": [] } });
        let messages = vec![
            json!({ "jsonrpc": "2.0", "method": "notifications/message" }),
            json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }),
            response.clone(),
            json!({ "jsonrpc": "2.0", "method": "notifications/message" }),
            json!({ "jsonrpc": "2.0", "id": 2, "result": {} }),
        ];
        assert_eq!(find_response(messages.clone(), &json!(1)), Some(response));
        assert_eq!(find_response(messages, &json!(3)), None);
    }
}
