//! The memory tools, for a client that does not know them: the model is offered them beside the
//! client's own, its calls of them are run here, and it is asked again, until it answers in words or
//! calls something of the client's. The client sees one answer.

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
use lukasa_engine::Engine;
use lukasa_engine::context::ToolRun;
use lukasa_models::protocol::{Ended, Prompt, Sieve, ToolCall};
use serde_json::{Value, json};

use super::guest::Guest;
use super::refusal::Refusal;
use super::upstream::{Upstream, passed_on};
use super::{Taps, is_packed, is_stream};
use crate::tools::{self, Answer, Call};

/// How often the model may call tools before it has to answer.
const ROUNDS: usize = 5;

/// Names that only connectors of other programs ask for; a model has better ones.
const DOUBLES: [&str; 2] = ["search", "fetch"];

/// Offers the model what its guest may do, and says under which names.
pub fn offer(prompt: &mut Prompt, guest: &Guest) -> BTreeSet<String> {
    let may = |tool: &&tools::Tool| {
        guest.may.contains(&tool.permission)
            && (guest.keeps || tool.read_only)
            && !DOUBLES.contains(&tool.name)
    };
    let tools = tools::all().iter().filter(|_| guest.tools).filter(may);
    match guest.tools {
        true => prompt.offer(tools.map(|tool| (tool.name, tool.about, &tool.input))),
        false => BTreeSet::new(),
    }
}

/// An answer in several rounds, of which the client sees one.
pub struct Rounds {
    pub engine: Engine,
    pub upstream: Upstream,
    pub path: String,
    pub headers: HeaderMap,
    pub prompt: Prompt,
    pub guest: Guest,
    pub session: Option<String>,
    pub retrieval: RetrievalId,
    pub offered: BTreeSet<String>,
    pub taps: Taps,
}

/// Passes on an answer in which the model may call memory tools.
pub async fn pass(rounds: Rounds, answer: reqwest::Response) -> Result<Response, Refusal> {
    let (status, mut headers) = (answer.status(), passed_on(answer.headers()));
    if !status.is_success() || is_packed(answer.headers()) {
        return Ok(super::pass(answer, rounds.taps));
    }
    headers.remove(CONTENT_LENGTH);
    let streamed = is_stream(answer.headers());
    let ours = Arc::new(rounds.offered.clone());
    let under_way = UnderWay::begin(rounds, ours, answer);
    if streamed {
        let pieces = stream::try_unfold(under_way, UnderWay::next);
        return Ok((status, headers, Body::from_stream(pieces)).into_response());
    }
    // An answer in one piece is not begun before it is known to come to an end.
    let (mut body, mut under_way) = (Vec::new(), under_way);
    let broken = |_| Refusal::of("upstream_unavailable");
    while let Some((piece, rest)) = under_way.next().await.map_err(broken)? {
        body.extend_from_slice(&piece);
        under_way = rest;
    }
    Ok((status, headers, body).into_response())
}

struct UnderWay {
    rounds: Rounds,
    ours: Arc<BTreeSet<String>>,
    asked: usize,
    streamed: bool,
    /// The answer that is coming, and what it is sieved with.
    coming: Option<(reqwest::Response, Sieve)>,
    /// What was called and waits to be run.
    held: Option<Held>,
    /// What was run so far.
    runs: Vec<ToolRun>,
}

/// Calls that were held back from an answer that is over.
struct Held {
    waiting: VecDeque<ToolCall>,
    announced: bool,
    outputs: Vec<(String, String)>,
    spoken: Option<Vec<Value>>,
    rest: Vec<u8>,
}

impl UnderWay {
    fn begin(rounds: Rounds, ours: Arc<BTreeSet<String>>, answer: reqwest::Response) -> Self {
        let streamed = is_stream(answer.headers());
        let sieve = Sieve::new(rounds.prompt.protocol(), streamed, false, Arc::clone(&ours));
        let coming = Some((answer, sieve));
        Self { rounds, ours, asked: 0, streamed, coming, held: None, runs: Vec::new() }
    }

    /// The next bytes for the client.
    async fn next(mut self) -> io::Result<Option<(Bytes, Self)>> {
        loop {
            if let Some(held) = self.held.take() {
                let shown = self.go_on(held).await?;
                if !shown.is_empty() {
                    return Ok(Some((shown.into(), self)));
                }
                continue;
            }
            let Some((mut answer, mut sieve)) = self.coming.take() else {
                self.note();
                return Ok(None);
            };
            let passed = match answer.chunk().await.map_err(io::Error::other)? {
                Some(piece) => {
                    self.rounds.taps.read(&piece);
                    let passed = sieve.push(&piece);
                    self.coming = Some((answer, sieve));
                    passed
                }
                None => {
                    self.rounds.taps.end_round();
                    let Ended { calls, spoken, rest } = sieve.end();
                    let (waiting, outputs) = (calls.into(), Vec::new());
                    self.held = Some(Held { waiting, announced: false, outputs, spoken, rest });
                    continue;
                }
            };
            if !passed.is_empty() {
                return Ok(Some((self.heard(passed), self)));
            }
        }
    }

    /// What passes to the client is heard by whoever keeps the chat.
    fn heard(&self, passed: Vec<u8>) -> Bytes {
        let passed = Bytes::from(passed);
        self.rounds.taps.hear(&passed);
        passed
    }

    /// Runs the next of what was called; after the last, asks again if the model waits for what came
    /// of it. Gives what the client is shown meanwhile, or the answer's own last bytes.
    async fn go_on(&mut self, mut held: Held) -> io::Result<Vec<u8>> {
        if !held.announced {
            held.announced = true;
            let begun = held.waiting.iter().map(|call| {
                json!({"id": call.id, "name": call.name, "arguments": arguments(call),
                       "state": "running"})
            });
            let shown = self.shown(&begun.collect::<Vec<_>>());
            self.held = Some(held);
            return Ok(shown);
        }
        if let Some(call) = held.waiting.pop_front() {
            let started = Instant::now();
            let answer = self.run(&call).await;
            let took_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            let done = json!({"id": call.id, "name": call.name, "state": "done",
                              "failed": answer.failed, "message": answer.message,
                              "result": answer.structured, "took_ms": took_ms});
            self.runs.push(noted(&call, &answer, took_ms));
            held.outputs.push((call.id, answer.message));
            self.held = Some(held);
            return Ok(self.shown(&[done]));
        }
        let Some(spoken) = held.spoken else { return Ok(self.heard(held.rest).into()) };
        self.asked += 1;
        let Rounds { upstream, path, headers, prompt, .. } = &mut self.rounds;
        prompt.go_on(spoken, &held.outputs);
        if self.asked == ROUNDS {
            prompt.end_calls();
        }
        let failed = || io::Error::other("the model did not go on");
        if self.asked > ROUNDS {
            return Err(failed());
        }
        let body = prompt.to_bytes().into();
        let asked = upstream.ask(Method::POST, path, headers.clone(), body).await;
        let answer = asked.ok().filter(|answer| answer.status().is_success()).ok_or_else(failed)?;
        let streamed = is_stream(answer.headers());
        let sieve = Sieve::new(prompt.protocol(), streamed, true, Arc::clone(&self.ours));
        self.coming = Some((answer, sieve));
        Ok(Vec::new())
    }

    /// Events of our own, between those of the model, for a client that asked to see them.
    fn shown(&self, events: &[Value]) -> Vec<u8> {
        if !(self.streamed && self.rounds.guest.shown) {
            return Vec::new();
        }
        let event = |data: &Value| format!("event: lukasa.tool\ndata: {data}\n\n").into_bytes();
        events.iter().flat_map(event).collect()
    }

    async fn run(&self, made: &ToolCall) -> Answer {
        let Rounds { engine, guest, session, retrieval, .. } = &self.rounds;
        let mut call = Call::new(&made.name, arguments(made));
        // Some services number their calls; with the retrieval it is one of its kind.
        call.id = Some(format!("{retrieval} {} {}", self.asked, made.id));
        call.session.clone_from(session);
        tools::run(engine, &guest.caller, &guest.may, call).await
    }

    /// Has what was run noted, where anything is kept of this chat.
    fn note(&mut self) {
        let Rounds { engine, guest, retrieval, .. } = &self.rounds;
        let runs = std::mem::take(&mut self.runs);
        if guest.keeps && !runs.is_empty() {
            engine.note_calls_later(&guest.caller, *retrieval, runs);
        }
    }
}

fn arguments(call: &ToolCall) -> Value {
    serde_json::from_str(&call.arguments).unwrap_or_default()
}

/// What is kept of a call: no words of memories, which can be asked for by their ids.
fn noted(call: &ToolCall, answer: &Answer, took_ms: u64) -> ToolRun {
    let query = arguments(call)["query"].as_str().map(str::to_owned);
    let operation = answer.structured["event"]["operation_id"].as_str();
    let mut memories = Vec::new();
    ids(&answer.structured, &mut memories);
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

/// The memories that data speaks of, each once, in order.
fn ids(data: &Value, found: &mut Vec<FactId>) {
    match data {
        Value::Object(fields) => {
            let id = fields.get("id").or_else(|| fields.get("memory_id")).and_then(Value::as_str);
            if let Some(id) = id.and_then(|id| id.parse().ok()).filter(|id| !found.contains(id)) {
                found.push(id);
            }
            fields.values().for_each(|value| ids(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| ids(item, found)),
        _ => {}
    }
}
