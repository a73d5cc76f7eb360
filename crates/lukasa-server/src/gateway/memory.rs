//! What memory does for one request: it is found, put into the prompt, and reported; and what was
//! said is made ready to be kept. Nothing here can make a chat fail.

use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use lukasa_core::context::block::Item;
use lukasa_core::{Caller, Exchange, FactId, NewTurn, Role, Timestamp, limits};
use lukasa_engine::Engine;
use lukasa_engine::context::{Ask, Confirmed, Context};
use lukasa_models::protocol::{Prompt, Said};

use crate::clock;
use crate::http::search::QUERY_CHARS;

/// How long memory goes on behind a chat that did not wait: the next message finds it ready.
const LATE: Duration = Duration::from_secs(10);

/// The context for what was said last. It always comes, and in time.
pub async fn retrieve(
    engine: &Engine,
    caller: &Caller,
    said: &[Said],
    session: Option<&str>,
    within: Duration,
) -> Context {
    let asked = said.iter().rev().find(|said| said.role == Role::User);
    let message: String = asked.map_or("", |said| &said.text).chars().take(QUERY_CHARS).collect();
    let mut ask = Ask::about(&message);
    ask.session = session.map(str::to_owned);
    ask.within = LATE;
    // No header says so, and every chat would wait for it.
    ask.tells_domains = false;
    let (moment, confirmed) = (clock::moment(), Confirmed::default());
    let work = {
        let (engine, caller, ask) = (engine.clone(), caller.clone(), ask.clone());
        let confirmed = confirmed.clone();
        // A task of its own: a first look at a large memory is not begun anew with every message.
        tokio::spawn(
            async move { engine.retrieve_confirming(&caller, &ask, moment, &confirmed).await },
        )
    };
    let without = |reason| Confirmed::default().degraded(&ask, moment, reason);
    match tokio::time::timeout(within, work).await {
        Ok(Ok(Ok(context))) => context,
        Ok(Ok(Err(error))) => {
            tracing::warn!(%error, "a chat goes on without memory");
            without(error.code())
        }
        Ok(Err(_)) => without("internal"),
        // What this request has confirmed so far, and never what an earlier one was given.
        Err(_) => confirmed.degraded(&ask, moment, "database"),
    }
}

/// Puts a context into a prompt.
pub fn put(prompt: &mut Prompt, context: &Context) {
    prompt.put(&context.baseline.content, &context.dynamic.content);
}

/// Says in an answer's headers what memory did.
pub fn report(headers: &mut HeaderMap, context: &Context, session: Option<&str>) {
    let mut say = |name: &'static str, value: &str| {
        if let Ok(value) = HeaderValue::from_bytes(value.as_bytes()) {
            headers.insert(HeaderName::from_static(name), value);
        }
    };
    let memories = context.baseline.items.len() + context.dynamic.items.len();
    say("lukasa-memories", &memories.to_string());
    let tokens = context.spent.baseline + context.spent.dynamic;
    say("lukasa-context-tokens", &tokens.to_string());
    say("lukasa-retrieval", &context.id.to_string());
    say("lukasa-cache", if context.frozen { "hit" } else { "miss" });
    if let Some(session) = session {
        say("lukasa-session", session);
    }
    if !context.degraded.is_empty() {
        say("lukasa-degraded", &context.degraded.join(", "));
    }
}

/// What a request adds to its chat: all that was said since the assistant last spoke.
pub fn round(said: &[Said], now: Timestamp) -> Exchange {
    // Some clients begin the answer for the model; that is not something it has said.
    let end = said.iter().rposition(|said| said.role != Role::Assistant).map_or(0, |at| at + 1);
    let said = &said[..end];
    let spoke = said.iter().rposition(|said| said.role == Role::Assistant);
    let before = spoke.and_then(|at| NewTurn::overheard(Role::Assistant, &said[at].text, now));
    let new = &said[spoke.map_or(0, |at| at + 1)..];
    let heard = |said: &Said| {
        let mut turn = NewTurn::overheard(said.role, &said.text, now)?;
        let is_name = |name: &String| {
            !name.trim().is_empty()
                && name.chars().count() <= limits::NAME_CHARS
                && !name.contains('\0')
        };
        turn.speaker = said.speaker.clone().filter(is_name);
        Some(turn)
    };
    let kept = new.iter().filter(|said| matches!(said.role, Role::User | Role::Tool));
    let mut turns: Vec<NewTurn> = kept.filter_map(heard).collect();
    // With the answer there must be room for one more.
    let most = limits::TURNS_AT_ONCE - 1;
    turns.drain(..turns.len().saturating_sub(most));
    Exchange { before: before.map(|turn| turn.content), said: turns, ..Exchange::default() }
}

/// The answer as a turn, with the memories whose marks it cites.
pub fn answered(text: &str, context: &Context, now: Timestamp) -> Option<NewTurn> {
    let mut turn = NewTurn::overheard(Role::Assistant, text, now)?;
    let items = context.baseline.items.iter().chain(&context.dynamic.items);
    let cited = items.filter(|item| turn.content.contains(&format!("[{}]", item.mark)));
    let mut used: Vec<FactId> = cited.flat_map(Item::facts).collect();
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

    fn said(messages: &[(Role, &str)]) -> Vec<Said> {
        let message = |(role, text): &(Role, &str)| Said {
            role: *role,
            text: (*text).to_owned(),
            speaker: None,
        };
        messages.iter().map(message).collect()
    }

    fn heard(messages: &[(Role, &str)]) -> (Option<String>, Vec<String>) {
        let round = round(&said(messages), Timestamp::UNIX_EPOCH);
        (round.before, round.said.into_iter().map(|turn| turn.content).collect())
    }

    use Role::{Assistant as A, System as S, Tool as T, User as U};

    #[test]
    fn a_round_is_what_came_since_the_assistant_spoke() {
        let first = heard(&[(S, "Be brief."), (U, "Hi")]);
        assert_eq!(first, (None, vec!["Hi".to_owned()]));
        let later = heard(&[(U, "Hi"), (A, "Hello"), (U, "And"), (S, "Hint"), (U, "now?")]);
        assert_eq!(later, (Some("Hello".into()), vec!["And".into(), "now?".into()]));
        let tools = heard(&[(U, "Weather?"), (A, ""), (T, "Sun"), (T, "Rain")]);
        assert_eq!(tools, (None, vec!["Sun".into(), "Rain".into()]));
        let begun = heard(&[(U, "Hi"), (A, "Hello"), (U, "A poem"), (A, "Once upon")]);
        assert_eq!(begun, (Some("Hello".into()), vec!["A poem".into()]));
        assert_eq!(heard(&[(A, "Hello")]), (None, vec![]));
    }
}
