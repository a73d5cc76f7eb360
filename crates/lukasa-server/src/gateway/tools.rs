//! Memory tools for clients that do not know them: the model is offered them besides the client's
//! own tools, its calls are run here, and it is called again with the results, until it answers
//! with text or calls a tool of the client. The client sees one answer.

use std::collections::{BTreeSet, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::Instant;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, Method};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use lukasa_core::{FactId, RetrievalId};
use lukasa_engine::context::ToolRun;
use lukasa_models::protocol::{FilteredAnswer, PromptRequest, Sieve, ToolCall};
use serde_json::{Value, json};

use super::caller::GatewayCaller;
use super::refusal::GatewayError;
use super::upstream::{Upstream, response_headers};
use super::{ResponseObservers, is_compressed, is_stream};
use crate::api::App;
use crate::api::body::BodyPermit;
use crate::api::code::ErrorCode;
use crate::tools::{self, ToolAnswer, ToolInvocation};

/// Maximum number of rounds in which the model may call tools before it has to answer.
const MAX_TOOL_ROUNDS: usize = 5;

/// Tools for connectors of other programs; they duplicate tools that are better for a model.
const CONNECTOR_TOOLS: [&str; 2] = ["search", "fetch"];

/// Offers the model the tools that the caller may use, and returns their names.
pub fn offer(prompt: &mut PromptRequest, caller: &GatewayCaller) -> BTreeSet<String> {
    let may = |tool: &&tools::Tool| {
        caller.permissions.contains(&tool.permission)
            && (caller.is_recorded || tool.read_only)
            && !CONNECTOR_TOOLS.contains(&tool.name)
    };
    let tools = tools::all().iter().filter(|_| caller.has_tools).filter(may);
    match caller.has_tools {
        true => prompt.offer(tools.map(|tool| (tool.name, tool.about, &tool.input))),
        false => BTreeSet::new(),
    }
}

/// A chat with memory tools: several requests to the model, of which the client sees one answer.
pub struct ToolRounds {
    pub app: App,
    pub upstream: Upstream,
    pub path: String,
    pub headers: HeaderMap,
    pub prompt: PromptRequest,
    pub caller: GatewayCaller,
    pub session: Option<String>,
    pub retrieval: RetrievalId,
    pub offered: BTreeSet<String>,
    pub observers: ResponseObservers,
    /// The memory reserved for the prompt, which is sent again in each round.
    pub _permit: BodyPermit,
}

/// Passes on an answer in which the model may call memory tools.
pub async fn pass(rounds: ToolRounds, answer: reqwest::Response) -> Result<Response, GatewayError> {
    let (status, mut headers) = (answer.status(), response_headers(answer.headers()));
    if !status.is_success() || is_compressed(answer.headers()) {
        return Ok(super::pass(answer, rounds.observers));
    }
    headers.remove(CONTENT_LENGTH);
    let streamed = is_stream(answer.headers());
    let tool_names = Arc::new(rounds.offered.clone());
    let tool_loop = ToolLoop::begin(rounds, tool_names, answer);
    if streamed {
        let pieces = stream::try_unfold(tool_loop, ToolLoop::next);
        return Ok((status, headers, Body::from_stream(pieces)).into_response());
    }
    // An answer that is not streamed is sent only once it is complete, so a failure is still an
    // error.
    let (mut body, mut tool_loop) = (Vec::new(), tool_loop);
    let broken = |error: io::Error| {
        GatewayError::of(match error.kind() {
            io::ErrorKind::PermissionDenied => ErrorCode::Unauthenticated,
            _ => ErrorCode::UpstreamUnavailable,
        })
    };
    while let Some((piece, rest)) = tool_loop.next().await.map_err(broken)? {
        body.extend_from_slice(&piece);
        tool_loop = rest;
    }
    Ok((status, headers, body).into_response())
}

/// State of a chat with memory tools.
struct ToolLoop {
    rounds: ToolRounds,
    tool_names: Arc<BTreeSet<String>>,
    /// How often the model was called again.
    repeats: usize,
    streamed: bool,
    /// The response that is being read, and the filter that removes memory tool calls from it.
    response: Option<(reqwest::Response, Sieve)>,
    /// Tool calls that wait to be run.
    pending: Option<PendingCalls>,
    /// Tool calls that were run so far.
    runs: Vec<ToolRun>,
}

/// Memory tool calls of a finished response.
struct PendingCalls {
    waiting: VecDeque<ToolCall>,
    announced: bool,
    outputs: Vec<(String, String)>,
    spoken: Option<Vec<Value>>,
    rest: Vec<u8>,
}

impl ToolLoop {
    fn begin(
        rounds: ToolRounds,
        tool_names: Arc<BTreeSet<String>>,
        answer: reqwest::Response,
    ) -> Self {
        let streamed = is_stream(answer.headers());
        let sieve = Sieve::new(rounds.prompt.protocol(), streamed, false, Arc::clone(&tool_names));
        let response = Some((answer, sieve));
        let runs = Vec::new();
        Self { rounds, tool_names, repeats: 0, streamed, response, pending: None, runs }
    }

    /// The next bytes for the client.
    async fn next(mut self) -> io::Result<Option<(Bytes, Self)>> {
        loop {
            if let Some(pending) = self.pending.take() {
                let bytes = self.advance(pending).await?;
                if !bytes.is_empty() {
                    return Ok(Some((bytes.into(), self)));
                }
                continue;
            }
            let Some((mut answer, mut sieve)) = self.response.take() else {
                self.record_runs();
                return Ok(None);
            };
            let passed = match answer.chunk().await.map_err(io::Error::other)? {
                Some(piece) => {
                    self.rounds.observers.count(&piece);
                    let passed = sieve.push(&piece);
                    self.response = Some((answer, sieve));
                    passed
                }
                None => {
                    self.rounds.observers.end_round();
                    let FilteredAnswer { calls, spoken, rest } = sieve.end();
                    let (waiting, outputs) = (calls.into(), Vec::new());
                    let announced = false;
                    self.pending = Some(PendingCalls { waiting, announced, outputs, spoken, rest });
                    continue;
                }
            };
            if !passed.is_empty() {
                return Ok(Some((self.record(passed), self)));
            }
        }
    }

    /// Has the bytes recorded that are sent to the client.
    fn record(&self, passed: Vec<u8>) -> Bytes {
        let passed = Bytes::from(passed);
        self.rounds.observers.record(&passed);
        passed
    }

    /// Runs the next pending call; after the last one, calls the model again if it waits for
    /// results. Returns the events for the client, or the last bytes of the answer.
    async fn advance(&mut self, mut pending: PendingCalls) -> io::Result<Vec<u8>> {
        if !pending.announced {
            pending.announced = true;
            if pending.spoken.is_some() {
                self.recheck().await?;
            }
            let started = pending.waiting.iter().map(|call| {
                json!({"id": call.id, "name": call.name, "arguments": arguments(call),
                       "state": "running"})
            });
            let events = self.tool_events(&started.collect::<Vec<_>>());
            self.pending = Some(pending);
            return Ok(events);
        }
        if let Some(call) = pending.waiting.pop_front() {
            let started = Instant::now();
            let answer = self.run(&call).await;
            let took_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            let done = json!({"id": call.id, "name": call.name, "state": "done",
                              "failed": answer.failed, "message": answer.message,
                              "result": answer.structured, "took_ms": took_ms});
            self.runs.push(tool_run(&call, &answer, took_ms));
            pending.outputs.push((call.id, answer.message));
            self.pending = Some(pending);
            return Ok(self.tool_events(&[done]));
        }
        let Some(spoken) = pending.spoken else { return Ok(self.record(pending.rest).into()) };
        self.repeats += 1;
        let ToolRounds { upstream, path, headers, prompt, .. } = &mut self.rounds;
        prompt.append_tool_results(spoken, &pending.outputs);
        if self.repeats == MAX_TOOL_ROUNDS {
            prompt.forbid_tool_calls();
        }
        let failed = || io::Error::other("the model did not continue after its tool calls");
        if self.repeats > MAX_TOOL_ROUNDS {
            return Err(failed());
        }
        let body = prompt.to_bytes().into();
        let answer = upstream.ask(Method::POST, path, headers.clone(), body).await;
        let answer =
            answer.ok().filter(|answer| answer.status().is_success()).ok_or_else(failed)?;
        let streamed = is_stream(answer.headers());
        let sieve = Sieve::new(prompt.protocol(), streamed, true, Arc::clone(&self.tool_names));
        self.response = Some((answer, sieve));
        Ok(Vec::new())
    }

    /// Ends the chat before another round if its credential was revoked meanwhile. While the database
    /// is unavailable it goes on, as a new chat would.
    async fn recheck(&self) -> io::Result<()> {
        let ToolRounds { app, caller, .. } = &self.rounds;
        match app.recheck(&caller.credential).await {
            Err(problem) if problem.is(ErrorCode::Unauthenticated) => {
                Err(io::Error::new(io::ErrorKind::PermissionDenied, "the credential has ended"))
            }
            _ => Ok(()),
        }
    }

    /// Events about tool calls between those of the model, for a client that requested them.
    fn tool_events(&self, events: &[Value]) -> Vec<u8> {
        if !(self.streamed && self.rounds.caller.shows_tools) {
            return Vec::new();
        }
        let event = |data: &Value| format!("event: lukasa.tool\ndata: {data}\n\n").into_bytes();
        events.iter().flat_map(event).collect()
    }

    async fn run(&self, made: &ToolCall) -> ToolAnswer {
        let ToolRounds { app, caller, session, retrieval, .. } = &self.rounds;
        let mut call = ToolInvocation::new(&made.name, arguments(made));
        // Some services only number their calls; with the retrieval the id is unique.
        call.id = Some(format!("{retrieval} {} {}", self.repeats, made.id));
        call.session.clone_from(session);
        call.project.clone_from(&caller.wishes.project);
        tools::run(app, &caller.caller, &caller.permissions, call).await
    }

    /// Has the tool calls recorded, if this chat is recorded.
    fn record_runs(&mut self) {
        let ToolRounds { app, caller, retrieval, .. } = &self.rounds;
        let runs = std::mem::take(&mut self.runs);
        if caller.is_recorded && !runs.is_empty() {
            app.engine().context.record_tool_calls_later(&caller.caller, *retrieval, runs);
        }
    }
}

fn arguments(call: &ToolCall) -> Value {
    serde_json::from_str(&call.arguments).unwrap_or_default()
}

/// The record of a call: ids of memories, never their text.
fn tool_run(call: &ToolCall, answer: &ToolAnswer, took_ms: u64) -> ToolRun {
    let query = arguments(call)["query"].as_str().map(str::to_owned);
    let operation = answer.structured["event"]["operation_id"].as_str();
    let mut memories = Vec::new();
    collect_ids(&answer.structured, &mut memories);
    ToolRun {
        id: call.id.clone(),
        name: call.name.clone(),
        query,
        memories,
        operation: operation.and_then(|id| id.parse().ok()),
        failed: answer.failed,
        took_ms,
    }
}

/// Collects the ids of the memories in the data, each once, in order.
fn collect_ids(data: &Value, found: &mut Vec<FactId>) {
    match data {
        Value::Object(fields) => {
            let id = fields.get("id").or_else(|| fields.get("memory_id")).and_then(Value::as_str);
            if let Some(id) = id.and_then(|id| id.parse().ok()).filter(|id| !found.contains(id)) {
                found.push(id);
            }
            fields.values().for_each(|value| collect_ids(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| collect_ids(item, found)),
        _ => {}
    }
}
