//! The gateway: a door in the shape of a chat service, with memory between the client and the model.
//!
//! A request is given what its person's memory holds and goes on to the service behind; the answer
//! passes back byte for byte, and what was said is kept when it is over. Memory only ever adds: a
//! database that is away, slow or broken takes the memory from a chat, never the chat. This room
//! decides nothing about memories, and nothing it does makes an answer wait.

mod budget;
mod capture;
mod embeddings;
mod guest;
mod guide;
mod memory;
mod refusal;
mod tools;
mod upstream;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::header::{CONTENT_ENCODING, CONTENT_TYPE, ORIGIN};
use axum::http::{HeaderMap, Method, Uri, request};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use futures_util::stream;
use lukasa_core::{Caller, Role, Session};
use lukasa_engine::context::{Ask, Confirmed, Context};
use lukasa_models::protocol::{Answer, Earlier, Prompt, Protocol, Said};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::clock;
use crate::http::App;
use crate::http::body::{BodyPermit, MAX_JSON_VALUES, ReadBody};
pub use budget::BudgetSettings;
use budget::{Budgets, TokenMeter};
use capture::{Captures, Round};
use guest::{Guest, Mode};
use refusal::Refusal;
use tools::Rounds;
pub use upstream::{Upstream, UpstreamSettings};

/// The first pause before a session is looked up again that may still be being recorded.
const LOOKUP_PAUSE: Duration = Duration::from_millis(10);
/// A larger body is parsed away from the async threads.
const BLOCKING_BYTES: usize = 64 * 1024;

/// What the handlers of this door need.
#[derive(Clone)]
pub struct Gateway(Arc<Inner>);

struct Inner {
    app: App,
    upstream: Option<Upstream>,
    captures: Captures,
    /// How long a chat waits for its memory. Then it goes on with what was confirmed so far.
    deadline: Duration,
    budgets: Budgets,
}

impl Gateway {
    /// A gateway to this service; without one it can only say how to set one up.
    pub fn new(app: App, upstream: Option<Upstream>) -> Self {
        let captures = Captures::start(app.engine());
        let (deadline, budgets) = (upstream::DEADLINE, Budgets::new(&BudgetSettings::default()));
        Self(Arc::new(Inner { app, upstream, captures, deadline, budgets }))
    }

    /// The same with these budgets. To be called before it is shared.
    #[must_use]
    pub fn with_budgets(mut self, settings: &BudgetSettings) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.budgets = Budgets::new(settings);
        }
        self
    }

    /// The same, with another limit to how long a chat waits. To be said before it is shared.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Duration) -> Self {
        if let Some(inner) = Arc::get_mut(&mut self.0) {
            inner.deadline = deadline;
        }
        self
    }

    /// Returns once what was said so far has been kept, or when the time is over.
    pub async fn drain(&self, within: Duration) {
        self.0.captures.drain(within).await;
    }

    fn upstream(&self) -> Result<&Upstream, Refusal> {
        self.0.upstream.as_ref().ok_or_else(|| Refusal::of("no_upstream"))
    }

    /// Who answers this request: the service, or the guide where there is none and it is asked for by
    /// its name. Nobody gets the guide in place of a model.
    fn answering(&self, protocol: Protocol, body: &[u8]) -> Result<&Upstream, Refusal> {
        self.upstream().or_else(|none| {
            // Only asked where there is no service: it reads the whole body.
            let guided = protocol == Protocol::Chat && guide::is_asked(body);
            if guided { Ok(&Upstream::Guide) } else { Err(none) }
        })
    }

    /// The chat that a request belongs to: the one its client names, the one that the service goes
    /// on with, or the one that began with the same words.
    async fn session(&self, guest: &Guest, prompt: &Prompt, said: &[Said]) -> Option<String> {
        if guest.session.is_some() {
            return guest.session.clone();
        }
        let user = guest.caller.user;
        let found = match prompt.earlier() {
            Some(Earlier::Answer(id)) => self.session_of(&guest.caller, &id).await,
            Some(Earlier::Conversation(name)) => Some(Session::begun_with(user, &name)),
            None => None,
        };
        let first = || said.iter().find(|said| said.role == Role::User);
        found.or_else(|| first().map(|said| Session::begun_with(user, &said.text)))
    }

    /// The session of an answer that the service keeps, on whichever server it was recorded. A client
    /// that goes on at once may be quicker than the recording, so it is looked for until the deadline.
    async fn session_of(&self, caller: &Caller, response: &str) -> Option<String> {
        let look = async {
            let mut pause = LOOKUP_PAUSE;
            loop {
                let engine = self.0.app.engine();
                match engine.session_of_response(caller, response, clock::now()).await {
                    Ok(None) => tokio::time::sleep(pause).await,
                    Ok(found) => return found,
                    Err(error) => {
                        tracing::warn!(%error, "the session of an answer could not be looked up");
                        return None;
                    }
                }
                pause *= 2;
            }
        };
        tokio::time::timeout(self.0.deadline, look).await.ok().flatten()
    }
}

/// The routes of this door.
pub fn routes<S>(gateway: Gateway) -> Router<S> {
    let body_bytes = gateway.0.app.limits().gateway_body_bytes;
    Router::new()
        .route("/v1/chat/completions", post(chat))
        .route("/v1/responses", post(responses))
        .route("/v1/embeddings", post(embeddings::embed))
        .route("/v1/models", get(models))
        .route("/v1/models/{*model}", get(models))
        .layer(DefaultBodyLimit::max(body_bytes))
        .with_state(gateway)
}

async fn chat(State(gateway): State<Gateway>, request: Request) -> Result<Response, Refusal> {
    converse(&gateway, Protocol::Chat, request).await
}

async fn responses(State(gateway): State<Gateway>, request: Request) -> Result<Response, Refusal> {
    converse(&gateway, Protocol::Responses, request).await
}

/// The models of the service behind, as it lists them.
async fn models(State(gateway): State<Gateway>, request: Request) -> Result<Response, Refusal> {
    let (parts, _) = request.into_parts();
    let guest = Guest::of(&gateway.0.app, &parts.headers, gateway.0.deadline).await?;
    gateway.0.budgets.take_request(&guest.caller)?;
    let Some(upstream) = &gateway.0.upstream else {
        return Ok(axum::Json(guide::listed()).into_response());
    };
    let headers = upstream.headers(&parts.headers, false);
    let name = parts.uri.path().trim_start_matches("/v1/");
    // What climbs out of the list of models could reach whatever else the service keeps for its key.
    if climbs(name) {
        return Err(Refusal::of("not_found"));
    }
    let path = with_query(name, &parts.uri);
    let answer = upstream.ask(Method::GET, &path, headers, Bytes::new()).await?;
    Ok(pass(answer, Taps::default()))
}

/// Whether a path has steps out of the list of models, or could have once a service decodes it.
fn climbs(path: &str) -> bool {
    let lower = path.to_lowercase();
    let encoded = ["%2e", "%2f", "%5c", "%25", ";", "\\"];
    encoded.iter().any(|part| lower.contains(part))
        || path.split('/').any(|step| [".", ".."].contains(&step))
}

/// A place below the service's address, with what the request asked for behind its question mark.
fn with_query(path: &str, uri: &Uri) -> String {
    uri.query().map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"))
}

/// A request that was let in and read.
struct Arrived {
    guest: Guest,
    parts: request::Parts,
    body: Bytes,
    meter: Option<TokenMeter>,
    /// The memory reserved for the body, until the answer begins.
    permit: BodyPermit,
}

async fn read(gateway: &Gateway, request: Request) -> Result<Arrived, Refusal> {
    let guest = Guest::of(&gateway.0.app, request.headers(), gateway.0.deadline).await?;
    // Another site can make a browser send text or a form, and cannot make it send JSON unasked.
    let from_page = request.headers().contains_key(ORIGIN);
    if from_page && !is_json(request.headers()) {
        return Err(Refusal::of("unsupported_media_type"));
    }
    gateway.0.budgets.take_request(&guest.caller)?;
    let (parts, body) = request.into_parts();
    let body = Request::from_parts(parts.clone(), body);
    let budget = &gateway.0.app.limits().bodies;
    let mut read = ReadBody::read(budget, body).await?;
    read.check_json(budget, MAX_JSON_VALUES).await?;
    let meter = gateway.0.budgets.meter(&guest.caller, read.bytes.len());
    Ok(Arrived { guest, parts, body: read.bytes, meter, permit: read.permit })
}

/// The prompt in a body. A large one is parsed away from the async threads.
async fn parse(protocol: Protocol, body: &Bytes) -> Option<Prompt> {
    if body.len() <= BLOCKING_BYTES {
        return Prompt::read(protocol, body);
    }
    let body = body.clone();
    let prompt = tokio::task::spawn_blocking(move || Prompt::read(protocol, &body));
    prompt.await.unwrap_or_default()
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or("");
    kind.split(';').next().map(str::trim) == Some("application/json")
}

async fn converse(
    gateway: &Gateway,
    protocol: Protocol,
    request: Request,
) -> Result<Response, Refusal> {
    let Arrived { guest, parts, body, meter, permit } = read(gateway, request).await?;
    let upstream = gateway.answering(protocol, &body)?;
    let (path, started) = (with_query(protocol.path(), &parts.uri), clock::now());
    let prompt = match guest.mode {
        Mode::Off => None,
        // What cannot be read is the service's to refuse, in its own words.
        Mode::On | Mode::ReadOnly => parse(protocol, &body).await,
    };
    let Some(mut prompt) = prompt else {
        let headers = upstream.headers(&parts.headers, meter.is_some());
        let answer = upstream.ask(Method::POST, &path, headers, body).await?;
        return Ok(pass(answer, Taps { meter, listener: None }));
    };
    let said = prompt.said();
    let session = gateway.session(&guest, &prompt, &said).await;
    let engine = gateway.0.app.engine();
    let context = if guest.unverified.is_some() {
        // Who was not checked is given nothing of a memory.
        let ask = Ask::about("");
        Confirmed::default().degraded(&ask, clock::moment(), "database")
    } else {
        let (caller, within) = (&guest.caller, gateway.0.deadline);
        memory::retrieve(engine, caller, &said, session.as_deref(), within).await
    };
    memory::put(&mut prompt, &context);
    let offered = tools::offer(&mut prompt, &guest);
    let due = guest.keeps.then(|| gateway.0.captures.expect());
    let listening = due.is_some() || !offered.is_empty() || meter.is_some();
    let headers = upstream.headers(&parts.headers, listening);
    let body = prompt.to_bytes().into();
    let answer = upstream.ask(Method::POST, &path, headers.clone(), body).await?;
    drop(permit);
    let heard = answer.status().is_success();
    let tap = match (due.filter(|_| heard), &session) {
        (Some(due), Some(session)) => {
            let (tap, pieces) = unbounded_channel();
            let hearing = !is_packed(answer.headers());
            let coming = Answer::coming(protocol, is_stream(answer.headers()));
            let coming = hearing.then_some(coming);
            let exchange = memory::round(&said, started);
            let (caller, unverified) = (guest.caller.clone(), guest.unverified.clone());
            let round = Round { caller, unverified, session: session.clone(), exchange, due };
            let goes_on = protocol == Protocol::Responses;
            tokio::spawn(listen(gateway.clone(), coming, pieces, round, context.clone(), goes_on));
            Some(tap)
        }
        _ => None,
    };
    let mut response = if offered.is_empty() {
        pass(answer, Taps { meter, listener: tap })
    } else {
        let (engine, upstream) = (engine.clone(), upstream.clone());
        let (session, retrieval) = (session.clone(), context.id);
        let rounds = Rounds {
            engine,
            upstream,
            path,
            headers,
            prompt,
            guest,
            session,
            retrieval,
            offered,
            taps: Taps { meter, listener: tap },
        };
        tools::pass(rounds, answer).await?
    };
    memory::report(response.headers_mut(), &context, session.as_deref());
    Ok(response)
}

fn is_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

/// Whether an answer was packed although it was asked for as it is.
fn is_packed(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_ENCODING).is_some_and(|packing| packing != "identity")
}

/// What reads an answer while it passes.
#[derive(Default)]
pub(crate) struct Taps {
    meter: Option<TokenMeter>,
    listener: Option<UnboundedSender<Bytes>>,
}

impl Taps {
    /// Reads a piece of what the service answered.
    fn read(&mut self, piece: &[u8]) {
        if let Some(meter) = &mut self.meter {
            meter.read(piece);
        }
    }

    /// The service was asked to the end once; it may be asked again for the same answer.
    fn end_round(&mut self) {
        if let Some(meter) = &mut self.meter {
            meter.settle();
        }
    }

    /// Lets the listener have what goes on to the client.
    fn hear(&self, piece: &Bytes) {
        if let Some(listener) = &self.listener {
            // It is gone only if the listener failed; the client is served all the same.
            let _ = listener.send(piece.clone());
        }
    }
}

/// Passes an answer on, byte for byte and piece by piece, and lets the taps have what went through.
/// When the client hangs up, all of this is dropped: the service is no longer listened to, and the
/// taps know that there is no more to come.
fn pass(answer: reqwest::Response, taps: Taps) -> Response {
    let (status, headers) = (answer.status(), upstream::passed_on(answer.headers()));
    let pieces = stream::try_unfold((answer, taps), |(mut answer, mut taps)| async move {
        let Some(piece) = answer.chunk().await? else { return Ok(None) };
        taps.read(&piece);
        taps.hear(&piece);
        Ok::<_, reqwest::Error>(Some((piece, (answer, taps))))
    });
    (status, headers, Body::from_stream(pieces)).into_response()
}

/// Hears an answer to its end, wherever that is, and has the round kept; with the id of an answer that
/// the service can go on from.
async fn listen(
    gateway: Gateway,
    mut answer: Option<Answer>,
    mut pieces: UnboundedReceiver<Bytes>,
    mut round: Round,
    context: Context,
    goes_on: bool,
) {
    while let Some(piece) = pieces.recv().await {
        answer.iter_mut().for_each(|answer| answer.hear(&piece));
    }
    let (text, id) = answer.map(Answer::heard).unwrap_or_default();
    round.exchange.response = id.filter(|_| goes_on);
    round.exchange.answer = memory::answered(&text, &context, clock::now());
    gateway.0.captures.take(round);
}
