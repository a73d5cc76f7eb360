//! Memory of one gateway request: retrieves the context, adds it to the prompt, reports it in
//! headers, and builds the exchange to record. Nothing here can make a chat fail.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use lukasa_core::context::block::PromptLine;
use lukasa_core::{Caller, Exchange, FactId, NewTurn, Role, Timestamp, limits};
use lukasa_engine::context::{ConfirmedContext, Context, ContextRequest};
use lukasa_models::protocol::{ChatMessage, PromptRequest};

use super::caller::ContextOptions;
use crate::api::App;
use crate::api::code::ErrorCode;
use crate::api::search::QUERY_CHARS;

/// How long retrieval continues in the background after the chat's deadline, so that the next
/// message finds a warm cache.
const BACKGROUND_TIMEOUT: Duration = Duration::from_secs(10);

/// The memory for one chat.
pub struct RetrievedMemory {
    pub context: Context,
    /// The code of the error that retrieval failed with; the context is empty.
    pub error: Option<ErrorCode>,
}

impl From<Context> for RetrievedMemory {
    fn from(context: Context) -> Self {
        Self { context, error: None }
    }
}

/// Retrieves the context for the last user message. It always returns a context within the
/// deadline.
pub async fn retrieve(
    app: &App,
    caller: &Caller,
    said: &[ChatMessage],
    session: Option<&str>,
    wishes: &ContextOptions,
    within: Duration,
) -> RetrievedMemory {
    let asked = said.iter().rev().find(|said| said.role == Role::User);
    let message: String = asked.map_or("", |said| &said.text).chars().take(QUERY_CHARS).collect();
    let mut ask = ContextRequest::about(&message);
    ask.session = session.map(str::to_owned);
    ask.within = BACKGROUND_TIMEOUT;
    ask.tokens = wishes.budget.unwrap_or(ask.tokens);
    (ask.window, ask.zone) = (wishes.window, wishes.zone.clone());
    ask.project.clone_from(&wishes.project);
    let (moment, confirmed) = (app.moment(), ConfirmedContext::default());
    let work = {
        let (engine, caller, ask) = (app.engine().clone(), caller.clone(), ask.clone());
        let confirmed = confirmed.clone();
        // A separate task: the first load of a large memory must not restart with every message.
        tokio::spawn(async move {
            engine.context.retrieve_confirming(&caller, &ask, moment, &confirmed).await
        })
    };
    let failed =
        |code| RetrievedMemory { context: Context::empty(&ask, moment), error: Some(code) };
    match tokio::time::timeout(within, work).await {
        Ok(Ok(Ok(context))) => context.into(),
        Ok(Ok(Err(error))) => {
            tracing::warn!(%error, "could not retrieve memory; the chat continues without it");
            failed(error.code())
        }
        Ok(Err(_)) => failed(ErrorCode::Internal),
        // Only what this request has confirmed so far, never the context of an earlier one.
        Err(_) => confirmed.degraded(&ask, moment).into(),
    }
}

/// Adds a context to a prompt.
pub fn put(prompt: &mut PromptRequest, context: &Context) {
    prompt.put(&context.baseline.content, &context.dynamic.content);
}

/// Reports in the response headers what memory was used.
pub fn report(
    headers: &mut HeaderMap,
    context: &Context,
    error: Option<ErrorCode>,
    session: Option<&str>,
) {
    let mut set = |name: &'static str, value: &str| {
        if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
            headers.insert(HeaderName::from_static(name), value);
        }
    };
    let memories = context.baseline.items.len() + context.dynamic.items.len();
    set("lukasa-memories", &memories.to_string());
    let tokens = context.spent.baseline + context.spent.dynamic;
    set("lukasa-context-tokens", &tokens.to_string());
    set("lukasa-retrieval", &context.id.to_string());
    set("lukasa-cache", if context.frozen { "hit" } else { "miss" });
    if let Some(session) = session {
        set("lukasa-session", session);
    }
    let degraded: Vec<&str> = context
        .degraded
        .iter()
        .map(|part| part.as_str())
        .chain(error.map(ErrorCode::as_str))
        .collect();
    if !degraded.is_empty() {
        set("lukasa-degraded", &degraded.join(", "));
    }
}

/// The exchange that a request adds to its session: all messages since the last assistant message.
pub fn new_exchange(said: &[ChatMessage], now: Timestamp) -> Exchange {
    // Some clients prefill the beginning of the answer; that is not an earlier assistant message.
    let end = said.iter().rposition(|said| said.role != Role::Assistant).map_or(0, |at| at + 1);
    let said = &said[..end];
    let last_answer = said.iter().rposition(|said| said.role == Role::Assistant);
    let before = last_answer.and_then(|at| NewTurn::captured(Role::Assistant, &said[at].text, now));
    let new = &said[last_answer.map_or(0, |at| at + 1)..];
    let to_turn = |said: &ChatMessage| {
        let mut turn = NewTurn::captured(said.role, &said.text, now)?;
        let is_name = |name: &String| {
            !name.trim().is_empty()
                && name.chars().count() <= limits::NAME_CHARS
                && !name.contains('\0')
        };
        turn.speaker = said.speaker.clone().filter(is_name);
        Some(turn)
    };
    let recorded = new.iter().rev().filter(|said| matches!(said.role, Role::User | Role::Tool));
    // The answer is one more turn within the limit.
    let most = limits::TURNS_AT_ONCE - 1;
    let mut turns: Vec<NewTurn> = recorded.filter_map(to_turn).take(most).collect();
    turns.reverse();
    Exchange { before: before.map(|turn| turn.content), said: turns, ..Exchange::default() }
}

/// The answer as a turn, with the memories whose marks it cites.
pub fn answer_turn(text: &str, context: &Context, now: Timestamp) -> Option<NewTurn> {
    let mut turn = NewTurn::captured(Role::Assistant, text, now)?;
    let items = context.baseline.items.iter().chain(&context.dynamic.items);
    let cited = items.filter(|item| turn.content.contains(&format!("[{}]", item.mark)));
    let mut used: Vec<FactId> = cited.flat_map(PromptLine::facts).collect();
    used.sort_unstable();
    used.dedup();
    used.truncate(limits::USED);
    turn.retrieval = Some(context.id).filter(|_| !used.is_empty());
    turn.used = used;
    Some(turn)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(messages: &[(Role, &str)]) -> Vec<ChatMessage> {
        let message = |(role, text): &(Role, &str)| ChatMessage {
            role: *role,
            text: (*text).to_owned(),
            speaker: None,
        };
        messages.iter().map(message).collect()
    }

    fn exchange(messages: &[(Role, &str)]) -> (Option<String>, Vec<String>) {
        let exchange = new_exchange(&said(messages), Timestamp::UNIX_EPOCH);
        (exchange.before, exchange.said.into_iter().map(|turn| turn.content).collect())
    }

    use Role::{Assistant as A, System as S, Tool as T, User as U};

    #[test]
    fn exchange_has_turns_since_the_last_answer() {
        let first = exchange(&[(S, "Be brief."), (U, "Hi")]);
        assert_eq!(first, (None, vec!["Hi".to_owned()]));
        let later = exchange(&[(U, "Hi"), (A, "Hello"), (U, "And"), (S, "Hint"), (U, "now?")]);
        assert_eq!(later, (Some("Hello".into()), vec!["And".into(), "now?".into()]));
        let tools = exchange(&[(U, "Weather?"), (A, ""), (T, "Sun"), (T, "Rain")]);
        assert_eq!(tools, (None, vec!["Sun".into(), "Rain".into()]));
        let begun = exchange(&[(U, "Hi"), (A, "Hello"), (U, "A poem"), (A, "Once upon")]);
        assert_eq!(begun, (Some("Hello".into()), vec!["A poem".into()]));
        assert_eq!(exchange(&[(A, "Hello")]), (None, vec![]));
    }

    #[test]
    fn exchange_has_the_last_turns_within_the_limit() {
        let texts: Vec<String> = (0..300).map(|number| number.to_string()).collect();
        let mut messages: Vec<(Role, &str)> = texts.iter().map(|text| (U, text.as_str())).collect();
        // One that is not visible takes no place.
        messages.insert(299, (U, " "));
        assert_eq!(exchange(&messages), (None, texts[201..].to_vec()));
    }
}
