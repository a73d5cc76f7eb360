//! mem0 `add`: messages are learned from, or saved as memories unchanged.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use lukasa_core::limits::TURNS_AT_ONCE;
use lukasa_core::{Caller, NewTurn, Project, Role, Writer};
use lukasa_engine::facts::NewMemory;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::changing::{MAX_BATCH, pace};
use super::{Parties, caller_about, derive_key, malformed, parse_filter, shape};
use crate::api::App;
use crate::api::auth::WriteCredential;
use crate::api::error::Problem;
use crate::api::project::AskedProject;
use crate::api::request::JsonRequest;

/// The session for messages without a `run_id`.
const DEFAULT_SESSION: &str = "mem0";

/// Body of `add`. Fields that Lukasa does not use are ignored.
#[derive(Debug, Deserialize)]
pub(super) struct Add {
    #[serde(default)]
    messages: Value,
    #[serde(flatten)]
    parties: Parties,
    #[serde(default)]
    filters: Value,
    metadata: Option<Map<String, Value>>,
    infer: Option<bool>,
    timestamp: Option<Value>,
    expiration_date: Option<String>,
}

impl Add {
    /// Roles and texts of the messages, without empty ones.
    fn messages(&self) -> Result<Vec<(String, String)>, Problem> {
        let one = |message: &Value| match message {
            Value::String(text) => ("user".to_owned(), text.clone()),
            message => {
                let role = message["role"].as_str().unwrap_or("user").to_owned();
                (role, shape::words(&message["content"]))
            }
        };
        let all: Vec<_> = match &self.messages {
            Value::Array(messages) => messages.iter().map(one).collect(),
            Value::Null => Vec::new(),
            message => vec![one(message)],
        };
        let all: Vec<_> = all.into_iter().filter(|(_, text)| !text.trim().is_empty()).collect();
        if all.is_empty() { Err(malformed("`messages` has no text")) } else { Ok(all) }
    }

    /// Fields that are stored with each memory.
    fn extra_fields(&self) -> Map<String, Value> {
        let ids = self.parties.each().into_iter();
        let ids = ids.filter_map(|(name, id)| Some((name.to_owned(), id.clone()?.into())));
        let metadata = self.metadata.clone().map(|data| ("metadata".to_owned(), data.into()));
        ids.chain(metadata).collect()
    }
}

/// Adds messages. With a chat model they are learned from in the background; without one, or with
/// `infer: false`, each message of the user is saved as a memory unchanged.
pub(super) async fn add(
    State(app): State<App>,
    WriteCredential(admitted): WriteCredential,
    headers: HeaderMap,
    mut sent: JsonRequest<Add>,
) -> Result<Json<Value>, Problem> {
    let (_, user) = parse_filter(&sent.body.filters, &sent.body.parties)?;
    sent.body.parties = std::mem::take(&mut sent.body.parties).or_from_filter(&sent.body.filters);
    // mem0 clients are used by assistants, so what they send does not count as the user's own
    // words.
    let sender = caller_about(&app, &admitted, &headers, user.as_deref()).await?;
    let caller = sender.through_a_model();
    let project = AskedProject::read(&headers)?.project();
    let messages = sent.body.messages()?;
    if messages.len() > MAX_BATCH {
        return Err(malformed(&format!("`messages` has at most {MAX_BATCH} messages")));
    }
    if sent.body.infer.unwrap_or(true) && app.engine().chat.has_chat() {
        // The holder of a key for the user's own words vouches for the roles.
        let reported = Writer::of(&sender) != Writer::Human;
        return learn(&app, &caller, &sent, project, messages, reported).await;
    }
    let refuse = |name: &str| malformed(&format!("`{name}` is not a time"));
    let at = |value: &Value| shape::instant(value).ok_or_else(|| refuse("timestamp"));
    let end = |day: &String| shape::end_of(day).ok_or_else(|| refuse("expiration_date"));
    let valid_from = sent.body.timestamp.as_ref().map(at).transpose()?;
    let valid_until = sent.body.expiration_date.as_ref().map(end).transpose()?;
    let mut results = Vec::new();
    for (number, (_, text)) in messages.iter().filter(|(role, _)| role == "user").enumerate() {
        pace(&app, &admitted, &caller, number).await;
        let mut request = sent.request(caller.clone());
        derive_key(&mut request, &format!("add {number}"));
        let claim = shape::claim(text, sent.body.extra_fields());
        let active_project = project.clone();
        let new =
            NewMemory { claim, valid_from, valid_until, active_project, ..NewMemory::saying("") };
        let engine = app.engine().clone();
        let saved = app.detached(async move { engine.facts.save(&request, new).await }).await?;
        let event = if saved.operation.is_some() { "ADD" } else { "NONE" };
        for memory in &saved.memories {
            let mut result = shape::memory(memory, &caller.user_name);
            result.insert("event".into(), event.into());
            results.push(Value::Object(result));
        }
    }
    Ok(Json(json!({ "results": results })))
}

/// Appends the messages to a session and starts learning from it. `reported`: the role `user` is only
/// what an assistant says it is.
async fn learn(
    app: &App,
    caller: &Caller,
    sent: &JsonRequest<Add>,
    project: Option<Project>,
    messages: Vec<(String, String)>,
    reported: bool,
) -> Result<Json<Value>, Problem> {
    // A session belongs to one project.
    let usual = || match &project {
        Some(project) => format!("{DEFAULT_SESSION} {project}"),
        None => DEFAULT_SESSION.to_owned(),
    };
    let session = sent.body.parties.run_id.clone().unwrap_or_else(usual);
    // A message with an unknown role must not count as the user's.
    let turn = |(role, text): &(String, String)| {
        let role = Role::parse(role).unwrap_or(Role::Tool);
        NewTurn { reported, ..NewTurn::saying(role, text) }
    };
    for (number, chunk) in messages.chunks(TURNS_AT_ONCE).enumerate() {
        let turns = chunk.iter().map(turn).collect();
        let mut request = sent.request(caller.clone());
        derive_key(&mut request, &format!("append {number}"));
        let (engine, to, project) = (app.engine().clone(), session.clone(), project.clone());
        let work =
            async move { engine.sessions.append_turns_in(&request, &to, project, turns).await };
        app.detached(work).await?;
    }
    let (engine, of) = (app.engine().clone(), session.clone());
    let mut request = sent.request(caller.clone());
    request.idempotency = None;
    app.detached(async move { engine.sessions.learn_now(&request, &of).await }).await?;
    Ok(Json(json!({
        "results": [],
        "status": "PENDING",
        "event_id": session,
        "message": "Learning from the messages has started; search or list memories in a moment.",
    })))
}
