//! A first word with what was just written into a file, the way the assistant will have it: the program
//! is started, or the address asked, and has to say which revision of the protocol it speaks.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail};
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout, Command};

use super::assistants::Entry;

/// What most assistants speak today; a server answers with the nearest that it knows.
const ASKED: &str = "2025-11-25";
const PATIENCE: Duration = Duration::from_secs(20);

/// What was agreed upon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreed {
    pub protocol: String,
    pub tools: usize,
}

pub async fn shake(entry: &Entry) -> anyhow::Result<Agreed> {
    let talk = async {
        match entry {
            Entry::Program { program, arguments, key } => {
                with_program(program, arguments, key.as_deref()).await
            }
            Entry::Address { url, key } => with_address(url, key.as_deref()).await,
        }
    };
    match tokio::time::timeout(PATIENCE, talk).await {
        Ok(agreed) => agreed,
        Err(_) => bail!("it did not answer within {} seconds", PATIENCE.as_secs()),
    }
}

fn hello() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": ASKED, "capabilities": {},
        "clientInfo": { "name": "lukasa-connect", "version": env!("CARGO_PKG_VERSION") } } })
}

/// The question of the protocol's later, stateless generation.
fn discover() -> Value {
    json!({ "jsonrpc": "2.0", "id": 2, "method": "server/discover", "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "lukasa-connect", "version": env!("CARGO_PKG_VERSION") },
        "io.modelcontextprotocol/clientCapabilities": {} } } })
}

/// The revision that an answer names.
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
        self.tell(question).await?;
        // It may say other things first; the answer has the question's number.
        while let Some(line) = self.from.next_line().await? {
            let answer: Value = serde_json::from_str(&line)
                .context("it says something on standard output that is not of the protocol")?;
            if answer["id"] == question["id"] {
                return Ok(answer);
            }
        }
        bail!("it ended without an answer")
    }

    async fn tell(&mut self, what: &Value) -> anyhow::Result<()> {
        self.to.write_all(format!("{what}\n").as_bytes()).await?;
        Ok(self.to.flush().await?)
    }
}

async fn with_program(
    program: &str,
    arguments: &[String],
    key: Option<&str>,
) -> anyhow::Result<Agreed> {
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
    let mut child = command.spawn().with_context(|| format!("{program} does not start"))?;
    let (to, from) = (child.stdin.take(), child.stdout.take());
    let (Some(to), Some(from)) = (to, from) else { bail!("{program} cannot be talked to") };
    let mut talk = Program { to, from: BufReader::new(from).lines() };
    let agreed = greet(&mut talk).await;
    drop(talk);
    let Err(error) = agreed else { return agreed };
    // What it complained about says more than that it ended.
    let _ = child.start_kill();
    let mut said = String::new();
    if let Some(stderr) = child.stderr.take() {
        let _ = stderr.take(2000).read_to_string(&mut said).await;
    }
    match said.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) => Err(error.context(line.trim().to_owned())),
        None => Err(error),
    }
}

async fn greet(talk: &mut Program) -> anyhow::Result<Agreed> {
    let mut answer = talk.ask(&hello()).await?;
    if protocol(&answer).is_none() {
        answer = talk.ask(&discover()).await?;
    }
    let protocol = protocol(&answer).with_context(|| refusal(&answer))?;
    talk.tell(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
    let tools = talk.ask(&json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list" })).await?;
    Ok(Agreed { protocol, tools: tools["result"]["tools"].as_array().map_or(0, Vec::len) })
}

fn refusal(answer: &Value) -> String {
    let why = answer["error"]["message"].as_str().unwrap_or("it names no revision of the protocol");
    format!("it refused: {why}")
}

async fn with_address(url: &str, key: Option<&str>) -> anyhow::Result<Agreed> {
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
        let response = request.send().await.with_context(|| format!("nobody answers at {url}"))?;
        if matches!(response.status().as_u16(), 401 | 403) {
            bail!("{url} does not let us in; give a key with --key");
        }
        let session = response.headers().get("mcp-session-id");
        let session = session.and_then(|value| value.to_str().ok()).map(str::to_owned);
        let streams = response.headers().get(CONTENT_TYPE).is_some_and(|kind| {
            kind.to_str().is_ok_and(|kind| kind.starts_with("text/event-stream"))
        });
        let text = if streams { first_event(response).await? } else { response.text().await? };
        let answer: Value = serde_json::from_str(&text).unwrap_or_default();
        anyhow::Ok((answer, session))
    };
    let (mut answer, session) = post(&hello(), None, ASKED).await?;
    if protocol(&answer).is_none() {
        answer = post(&discover(), None, "2026-07-28").await?.0;
    }
    let protocol = protocol(&answer).with_context(|| refusal(&answer))?;
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let _ = post(&ready, session.as_deref(), &protocol).await;
    let list = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/list" });
    let (tools, _) = post(&list, session.as_deref(), &protocol).await?;
    Ok(Agreed { protocol, tools: tools["result"]["tools"].as_array().map_or(0, Vec::len) })
}

/// The first message of a stream of events. The stream may stay open after it.
async fn first_event(mut response: reqwest::Response) -> anyhow::Result<String> {
    let mut text = String::new();
    while let Some(piece) = response.chunk().await? {
        text.push_str(&String::from_utf8_lossy(&piece));
        let data = text.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim);
        let mut whole = data.filter(|data| serde_json::from_str::<Value>(data).is_ok());
        let ends = text.ends_with("\n\n") || text.ends_with("\r\n\r\n");
        if let Some(message) = whole.next_back().filter(|_| ends) {
            return Ok(message.to_owned());
        }
    }
    bail!("the stream ended without a message")
}
