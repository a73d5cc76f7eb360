//! The memory tools, for a client that does not know them: the model is offered them beside the
//! client's own, its calls of them are run here, and it is asked again, until it answers in words or
//! calls something of the client's. The client sees one answer.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, Method};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use quipu_core::RetrievalId;
use quipu_engine::Engine;
use quipu_models::protocol::{Prompt, Sieve, ToolCall};
use tokio::sync::mpsc::UnboundedSender;

use super::guest::Guest;
use super::refusal::Refusal;
use super::upstream::{Upstream, passed_on};
use super::{is_packed, is_stream};
use crate::tools::{self, Call};

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
    pub tap: Option<UnboundedSender<Bytes>>,
}

/// Passes on an answer in which the model may call memory tools.
pub async fn pass(rounds: Rounds, answer: reqwest::Response) -> Result<Response, Refusal> {
    let (status, mut headers) = (answer.status(), passed_on(answer.headers()));
    if !status.is_success() || is_packed(answer.headers()) {
        return Ok(super::pass(answer, rounds.tap));
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
    /// The answer that is coming, and what it is sieved with; nothing once all is said.
    coming: Option<(reqwest::Response, Sieve)>,
}

impl UnderWay {
    fn begin(rounds: Rounds, ours: Arc<BTreeSet<String>>, answer: reqwest::Response) -> Self {
        let streamed = is_stream(answer.headers());
        let sieve = Sieve::new(rounds.prompt.protocol(), streamed, false, Arc::clone(&ours));
        Self { rounds, ours, asked: 0, coming: Some((answer, sieve)) }
    }

    /// The next bytes for the client.
    async fn next(mut self) -> io::Result<Option<(Bytes, Self)>> {
        loop {
            let Some((mut answer, mut sieve)) = self.coming.take() else { return Ok(None) };
            let passed = match answer.chunk().await.map_err(io::Error::other)? {
                Some(piece) => {
                    let passed = sieve.push(&piece);
                    self.coming = Some((answer, sieve));
                    passed
                }
                None => self.end(sieve).await?,
            };
            if !passed.is_empty() {
                let passed = Bytes::from(passed);
                if let Some(tap) = &self.rounds.tap {
                    let _ = tap.send(passed.clone());
                }
                return Ok(Some((passed, self)));
            }
        }
    }

    /// Runs what was called, and asks again if the model waits for what came of it.
    async fn end(&mut self, sieve: Sieve) -> io::Result<Vec<u8>> {
        let ended = sieve.end();
        let mut outputs = Vec::new();
        for call in ended.calls {
            let said = self.run(&call).await;
            outputs.push((call.id, said));
        }
        let Some(spoken) = ended.spoken else { return Ok(ended.rest) };
        self.asked += 1;
        let Rounds { upstream, path, headers, prompt, .. } = &mut self.rounds;
        prompt.go_on(spoken, &outputs);
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

    async fn run(&self, made: &ToolCall) -> String {
        let Rounds { engine, guest, session, retrieval, .. } = &self.rounds;
        let mut call =
            Call::new(&made.name, serde_json::from_str(&made.arguments).unwrap_or_default());
        // Some services number their calls; with the retrieval it is one of its kind.
        call.id = Some(format!("{retrieval} {} {}", self.asked, made.id));
        call.session.clone_from(session);
        tools::run(engine, &guest.caller, &guest.may, call).await.message
    }
}
