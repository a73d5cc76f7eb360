//! The gateway: an OpenAI-compatible chat endpoint that adds memory between the client and the
//! model.
//!
//! The user's memory is added to a request, which is forwarded to the model service; the answer is
//! passed back byte for byte, and the messages are recorded when it has ended. Memory is optional:
//! if the database is unavailable, slow or broken, the chat continues without memory. This module
//! makes no decisions about memories, and recording never delays an answer.

mod account;
mod budget;
mod caller;
mod embeddings;
mod guide;
mod memory;
mod recorder;
mod refusal;
mod setup;
mod tools;
mod upstream;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, ORIGIN};
use axum::http::{HeaderMap, Method, Uri, request};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use futures_util::stream;
use lukasa_core::{Caller, Role, Session};
use lukasa_engine::context::{ConfirmedContext, Context, ContextRequest};
use lukasa_models::protocol::{AnswerReader, ChatMessage, Continuation, PromptRequest, Protocol};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::api::App;
use crate::api::body::{BodyPermit, MAX_JSON_VALUES, ReadBody};
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::limits::CurrentRequest;
use crate::listen::HoldingBody;
pub use account::AccountSettings;
use account::{AccountRules, ResponseWatch};
pub use budget::BudgetSettings;
use budget::{Budgets, TokenMeter};
use caller::{GatewayCaller, MemoryMode};
use memory::RetrievedMemory;
use recorder::{Recorder, Round};
pub use refusal::GatewayError;
use setup::CurrentUpstream;
pub use setup::{FoundService, ModelSetup, NewModelService, SetupFault};
use tools::ToolRounds;
pub use upstream::{Upstream, UpstreamSettings};

/// Where the gateway's paths begin. Their errors have the format of chat clients.
pub const GATEWAY_PATH: &str = "/v1/";
/// First pause before a session lookup is retried, because the session may not be recorded yet.
const LOOKUP_PAUSE: Duration = Duration::from_millis(10);
/// A larger body or answer is processed on a blocking thread.
const BLOCKING_BYTES: usize = 64 * 1024;

/// Shared state of the gateway's handlers.
#[derive(Clone)]
pub struct Gateway(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    app: App,
    upstream: CurrentUpstream,
    /// Absent if the service cannot be changed while the server runs.
    setup: Option<ModelSetup>,
    recorder: Recorder,
    /// How long a chat waits for its memory. Then it continues with what was confirmed so far.
    deadline: Duration,
    budgets: Arc<Budgets>,
    account: AccountRules,
}

impl Gateway {
    /// A gateway to this model service; without one, requests are refused with advice to configure
    /// it.
    pub fn new(app: App, upstream: Option<Upstream>) -> Self {
        let recorder = Recorder::new(&app);
        let upstream = CurrentUpstream::new(upstream);
        let deadline = upstream::MEMORY_DEADLINE;
        let budgets = Arc::new(Budgets::new(&BudgetSettings::default(), app.clock()));
        let account = AccountRules::new(&AccountSettings::default(), app.is_local());
        Self(Arc::new(Inner { app, upstream, setup: None, recorder, deadline, budgets, account }))
    }

    /// Lets the user of a local server set the service in the console, and applies the one that is
    /// stored. A service from the settings stays: it cannot be changed in the console.
    #[must_use]
    pub fn with_setup(self, file: PathBuf) -> Self {
        if self.0.upstream.get().is_some() {
            return self;
        }
        let setup = Some(ModelSetup::open(file, self.0.upstream.clone()));
        Self(Arc::new(Inner { setup, ..Inner::clone(&self.0) }))
    }

    /// Sets the addresses at which services on this machine are looked for, each with a name.
    #[must_use]
    pub fn with_local_services(self, services: Vec<(String, String)>) -> Self {
        let setup = self.0.setup.clone().map(|setup| setup.with_local_services(services));
        Self(Arc::new(Inner { setup, ..Inner::clone(&self.0) }))
    }

    /// The setup of the service in the console; absent if the service cannot be changed there.
    pub fn setup(&self) -> Option<&ModelSetup> {
        self.0.setup.as_ref()
    }

    /// The address of the service, without any credential.
    pub fn address(&self) -> Option<String> {
        self.0.upstream.get()?.address()
    }

    /// Sets the budgets.
    #[must_use]
    pub fn with_budgets(self, settings: &BudgetSettings) -> Self {
        let budgets = Arc::new(Budgets::new(settings, self.0.app.clock()));
        Self(Arc::new(Inner { budgets, ..Inner::clone(&self.0) }))
    }

    /// Sets what clients may use with the server's own key.
    #[must_use]
    pub fn with_account(self, settings: &AccountSettings) -> Self {
        let account = AccountRules::new(settings, self.0.app.is_local());
        Self(Arc::new(Inner { account, ..Inner::clone(&self.0) }))
    }

    /// Sets how long a chat waits for its memory.
    #[must_use]
    pub fn with_deadline(self, deadline: Duration) -> Self {
        Self(Arc::new(Inner { deadline, ..Inner::clone(&self.0) }))
    }

    /// Waits until all pending exchanges have been recorded, or until the timeout.
    pub async fn drain(&self, within: Duration) {
        self.0.recorder.drain(within).await;
    }

    fn upstream(&self) -> Result<Arc<Upstream>, GatewayError> {
        self.0.upstream.get().ok_or_else(|| GatewayError::of(ErrorCode::NoUpstream))
    }

    /// Selects what answers a request: the model service, or the guide if there is no service and
    /// the request names the guide as its model. The guide never replaces another model.
    fn select_upstream(
        &self,
        protocol: Protocol,
        body: &[u8],
    ) -> Result<Arc<Upstream>, GatewayError> {
        self.upstream().or_else(|none| {
            // Checked only without a service, because it parses the whole body.
            let wants_guide = protocol == Protocol::Chat && guide::is_requested(body);
            if wants_guide { Ok(Arc::new(Upstream::Guide)) } else { Err(none) }
        })
    }

    /// The session of a request: the one that the client names, the one that the service continues,
    /// or the one that began with the same words.
    async fn session(
        &self,
        caller: &GatewayCaller,
        prompt: &PromptRequest,
        said: &[ChatMessage],
    ) -> Option<String> {
        if caller.session.is_some() {
            return caller.session.clone();
        }
        let (user, project) = (caller.caller.user, caller.wishes.project.as_ref());
        let derived = |opening: &str| Session::derived_name(user, project, opening);
        let found = match prompt.earlier() {
            Some(Continuation::Answer(id)) => {
                self.session_of(&caller.caller, &id).await.ok().flatten()
            }
            Some(Continuation::Conversation(name)) => Some(derived(&name)),
            None => None,
        };
        let first = || said.iter().find(|said| said.role == Role::User);
        found.or_else(|| first().map(|said| derived(&said.text)))
    }

    /// The session of an answer that the service stores, whichever server recorded it. A client
    /// that continues at once may be faster than the recording, so the lookup is retried until the
    /// deadline. It is an error if the database did not answer.
    async fn session_of(&self, caller: &Caller, response: &str) -> Result<Option<String>, Problem> {
        let mut has_answered = false;
        let look = async {
            let mut pause = LOOKUP_PAUSE;
            loop {
                let engine = self.0.app.engine();
                match engine.sessions.session_of_response(caller, response, self.0.app.now()).await
                {
                    Ok(None) => has_answered = true,
                    Ok(found) => return Ok(found),
                    Err(error) => {
                        tracing::warn!(%error, "could not look up the session of an answer");
                        return Err(Problem::of(ErrorCode::Unavailable));
                    }
                }
                tokio::time::sleep(pause).await;
                pause *= 2;
            }
        };
        match tokio::time::timeout(self.0.deadline, look).await {
            Ok(done) => done,
            Err(_) if has_answered => Ok(None),
            Err(_) => Err(Problem::of(ErrorCode::Unavailable)),
        }
    }
}

/// The routes of the gateway.
pub fn routes<S>(gateway: Gateway) -> Router<S> {
    let body_bytes = gateway.0.app.limits().gateway_body_bytes;
    Router::new()
        .route("/v1/chat/completions", post(chat))
        .route("/v1/responses", post(responses))
        .route("/v1/embeddings", post(embeddings::embed))
        .route("/v1/models", get(models))
        .route("/v1/models/{*model}", get(models))
        .layer(DefaultBodyLimit::max(body_bytes))
        .layer(from_fn(hold_request))
        .with_state(gateway)
}

/// Keeps the request's slot until its answer has ended.
async fn hold_request(request: Request, next: Next) -> Response {
    let current = CurrentRequest::get();
    next.run(request).await.map(|body| HoldingBody::wrap(body, current))
}

async fn chat(State(gateway): State<Gateway>, request: Request) -> Result<Response, GatewayError> {
    converse(&gateway, Protocol::Chat, request).await
}

async fn responses(
    State(gateway): State<Gateway>,
    request: Request,
) -> Result<Response, GatewayError> {
    converse(&gateway, Protocol::Responses, request).await
}

/// Lists the models of the service.
async fn models(
    State(gateway): State<Gateway>,
    request: Request,
) -> Result<Response, GatewayError> {
    let (parts, _) = request.into_parts();
    let caller = GatewayCaller::of(&gateway.0.app, &parts.headers, gateway.0.deadline).await?;
    gateway.0.budgets.take_request(&caller.caller)?;
    let Some(upstream) = gateway.0.upstream.get() else {
        return Ok(axum::Json(guide::model_list()).into_response());
    };
    let headers = upstream.headers(&parts.headers, false);
    let name = parts.uri.path().trim_start_matches("/v1/");
    // A path outside the list of models could reach other data of the operator's key.
    if leaves_models(name) {
        return Err(GatewayError::of(ErrorCode::NotFound));
    }
    let path = with_query(name, &parts.uri);
    let answer = upstream.ask(Method::GET, &path, headers, Bytes::new()).await?;
    Ok(pass(answer, ResponseObservers::default()))
}

/// Whether a path leaves the list of models, or could leave it after the service has decoded it.
fn leaves_models(path: &str) -> bool {
    let lower = path.to_lowercase();
    let encoded = ["%2e", "%2f", "%5c", "%25", ";", "\\"];
    encoded.iter().any(|part| lower.contains(part))
        || path.split('/').any(|step| [".", ".."].contains(&step))
}

/// A path below the service's address, with the query string of the request.
fn with_query(path: &str, uri: &Uri) -> String {
    uri.query().map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"))
}

/// An authenticated request with its body.
struct ReadRequest {
    caller: GatewayCaller,
    parts: request::Parts,
    body: Bytes,
    meter: Option<TokenMeter>,
    /// The memory reserved for the body, until the answer begins; of a chat with memory tools until it
    /// has ended.
    permit: BodyPermit,
}

async fn read(gateway: &Gateway, request: Request) -> Result<ReadRequest, GatewayError> {
    let caller = GatewayCaller::of(&gateway.0.app, request.headers(), gateway.0.deadline).await?;
    // Another site can make a browser post text or a form without a preflight, but not JSON.
    let from_page = request.headers().contains_key(ORIGIN);
    if from_page && !is_json(request.headers()) {
        return Err(GatewayError::of(ErrorCode::UnsupportedMediaType));
    }
    gateway.0.budgets.take_request(&caller.caller)?;
    let (parts, body) = request.into_parts();
    let body = Request::from_parts(parts.clone(), body);
    let budget = &gateway.0.app.limits().bodies;
    let mut read = ReadBody::read(budget, body).await?;
    read.check_json(budget, MAX_JSON_VALUES).await?;
    let meter = gateway.0.budgets.meter(&caller.caller, read.bytes.len());
    Ok(ReadRequest { caller, parts, body: read.bytes, meter, permit: read.permit })
}

/// Runs work on a text of this length, on a blocking thread if it is long. `None` if it panicked.
async fn process<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    match bytes {
        0..=BLOCKING_BYTES => Some(work()),
        _ => tokio::task::spawn_blocking(work).await.ok(),
    }
}

/// Parses the prompt in a body, and its messages.
async fn parse(protocol: Protocol, body: &Bytes) -> Option<(PromptRequest, Vec<ChatMessage>)> {
    let read = {
        let body = body.clone();
        move || {
            let prompt = PromptRequest::read(protocol, &body)?;
            let said = prompt.messages();
            Some((prompt, said))
        }
    };
    process(body.len(), read).await.flatten()
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
    kind.split(';').next().map(str::trim) == Some("application/json")
}

async fn converse(
    gateway: &Gateway,
    protocol: Protocol,
    request: Request,
) -> Result<Response, GatewayError> {
    let ReadRequest { caller, parts, body, meter, permit } = read(gateway, request).await?;
    let upstream = gateway.select_upstream(protocol, &body)?;
    gateway.check_account(&upstream, &caller.caller, &parts.headers, &body).await?;
    // Only responses of this protocol can be continued by their ids.
    let watch = (protocol == Protocol::Responses).then(|| gateway.0.account.watch(&caller.caller));
    let (path, started) = (with_query(protocol.path(), &parts.uri), gateway.0.app.now());
    let prompt = match caller.mode {
        MemoryMode::Off => None,
        // An invalid body is forwarded: the service refuses it with its own error.
        MemoryMode::On | MemoryMode::ReadOnly => parse(protocol, &body).await,
    };
    let Some((mut prompt, said)) = prompt else {
        let is_observed = meter.is_some() || watch.is_some();
        let headers = upstream.headers(&parts.headers, is_observed);
        let answer = upstream.ask(Method::POST, &path, headers, body).await?;
        return Ok(pass(answer, ResponseObservers { meter, watch, listener: None }));
    };
    let body_bytes = body.len();
    let session = gateway.session(&caller, &prompt, &said).await;
    let RetrievedMemory { context, error } = if !caller.is_verified {
        // An unverified credential gets no memory.
        let ask = ContextRequest::about("");
        ConfirmedContext::default().degraded(&ask, gateway.0.app.moment()).into()
    } else {
        let (within, wishes) = (gateway.0.deadline, &caller.wishes);
        memory::retrieve(&gateway.0.app, &caller.caller, &said, session.as_deref(), wishes, within)
            .await
    };
    memory::put(&mut prompt, &context);
    let offered = tools::offer(&mut prompt, &caller);
    let is_recorded = caller.is_recorded && !context.paused;
    let pending = is_recorded.then(|| gateway.0.recorder.expect());
    let is_observed = pending.is_some() || !offered.is_empty() || meter.is_some();
    let is_observed = is_observed || watch.is_some();
    let headers = upstream.headers(&parts.headers, is_observed);
    let body = prompt.to_bytes().into();
    let answer = upstream.ask(Method::POST, &path, headers.clone(), body).await?;
    let succeeded = answer.status().is_success();
    let listener = match (pending.filter(|_| succeeded), &session) {
        (Some(pending), Some(session)) => {
            let (listener, pieces) = unbounded_channel();
            let is_readable = !is_compressed(answer.headers());
            let parser = AnswerReader::new(protocol, is_stream(answer.headers()));
            let parser = is_readable.then_some(parser);
            let has_id = protocol == Protocol::Responses;
            let (gateway, context) = (gateway.clone(), context.clone());
            let (caller, session) = (caller.clone(), session.clone());
            tokio::spawn(async move {
                let captured = process(body_bytes, move || memory::new_exchange(&said, started));
                let mut exchange = captured.await.unwrap_or_default();
                exchange.project = caller.wishes.project;
                let GatewayCaller { caller, credential, .. } = caller;
                let round = Round { caller, credential, session, exchange, _pending: pending };
                listen(gateway, parser, pieces, round, context, has_id).await;
            });
            Some(listener)
        }
        _ => None,
    };
    let mut response = if offered.is_empty() {
        pass(answer, ResponseObservers { meter, watch, listener })
    } else {
        let (app, upstream) = (gateway.0.app.clone(), Upstream::clone(&upstream));
        let (session, retrieval) = (session.clone(), context.id);
        let rounds = ToolRounds {
            app,
            upstream,
            path,
            headers,
            prompt,
            caller,
            session,
            retrieval,
            offered,
            observers: ResponseObservers { meter, watch, listener },
            _permit: permit,
        };
        tools::pass(rounds, answer).await?
    };
    memory::report(response.headers_mut(), &context, error, session.as_deref());
    Ok(response)
}

fn is_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

/// Whether an answer is compressed although the request asked for `identity`.
fn is_compressed(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_ENCODING).is_some_and(|packing| packing != "identity")
}

/// Observers of an answer while it is passed on: the token meter, the reader of its id and the
/// recording.
#[derive(Default)]
pub(crate) struct ResponseObservers {
    meter: Option<TokenMeter>,
    watch: Option<ResponseWatch>,
    listener: Option<UnboundedSender<Bytes>>,
}

impl ResponseObservers {
    /// Counts the tokens of a piece of the service's answer.
    fn count(&mut self, piece: &[u8]) {
        if let Some(meter) = &mut self.meter {
            meter.read(piece);
        }
        if let Some(watch) = &mut self.watch {
            watch.read(piece);
        }
    }

    /// Ends the metering of one request to the service; another may follow for the same answer.
    fn end_round(&mut self) {
        if let Some(meter) = &mut self.meter {
            meter.settle();
        }
        if let Some(watch) = &mut self.watch {
            watch.restart();
        }
    }

    /// Sends the listener what is sent to the client.
    fn record(&self, piece: &Bytes) {
        if let Some(listener) = &self.listener {
            // The receiver is closed only if recording failed; the client is served anyway.
            let _ = listener.send(piece.clone());
        }
    }
}

/// Streams an answer to the client, byte for byte, and to the observers. When the client
/// disconnects, all of this is dropped: the request to the service is aborted, and the listener's
/// channel is closed.
fn pass(answer: reqwest::Response, observers: ResponseObservers) -> Response {
    let (status, headers) = (answer.status(), upstream::response_headers(answer.headers()));
    let pieces =
        stream::try_unfold((answer, observers), |(mut answer, mut observers)| async move {
            let Some(piece) = answer.chunk().await? else { return Ok(None) };
            observers.count(&piece);
            observers.record(&piece);
            Ok::<_, reqwest::Error>(Some((piece, (answer, observers))))
        });
    (status, headers, Body::from_stream(pieces)).into_response()
}

/// Collects an answer until it ends or is aborted, and has the exchange recorded, with the id of an
/// answer that the service can continue from.
async fn listen(
    gateway: Gateway,
    mut answer: Option<AnswerReader>,
    mut pieces: UnboundedReceiver<Bytes>,
    mut round: Round,
    context: Context,
    has_id: bool,
) {
    while let Some(piece) = pieces.recv().await {
        answer.iter_mut().for_each(|answer| answer.push(&piece));
    }
    let (text, id) = answer.map(AnswerReader::finish).unwrap_or_default();
    round.exchange.response = id.filter(|_| has_id);
    let now = gateway.0.app.now();
    let answer = process(text.len(), move || memory::answer_turn(&text, &context, now)).await;
    round.exchange.answer = answer.flatten();
    gateway.0.recorder.take(round);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn long_text_is_processed_on_a_blocking_thread() {
        let here = std::thread::current().id();
        let thread = || std::thread::current().id();
        assert_eq!(process(BLOCKING_BYTES, thread).await, Some(here));
        assert!(process(BLOCKING_BYTES + 1, thread).await.is_some_and(|other| other != here));
    }

    #[tokio::test]
    async fn messages_of_a_large_body_are_read_without_blocking_the_thread() {
        let text = "A message. ".repeat(BLOCKING_BYTES);
        let body = serde_json::json!({"messages": [{"role": "user", "content": text}]});
        let body = Bytes::from(body.to_string());
        let mut reading = std::pin::pin!(parse(Protocol::Chat, &body));
        // What is read on this thread would be ready at once.
        assert!(futures_util::poll!(&mut reading).is_pending());
        let (_, said) = reading.await.expect("a prompt");
        assert_eq!((said.len(), &said[0].text), (1, &text));
    }
}
