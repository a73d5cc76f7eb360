//! What happens to a memory, as it happens: the log of operations as a stream of events.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::{CACHE_CONTROL, HeaderName};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::Stream;
use futures_util::stream::unfold;
use lukasa_core::{Operation, Permission};
use lukasa_engine::events::Listening;
use serde::Deserialize;
use tokio::time::{Instant, sleep_until};
use utoipa::IntoParams;

use super::App;
use super::auth::Reader;
use super::error::Problem;
use super::limits::OpenStream;
use super::request::{Asked, parse_cursor, print_cursor};
use super::wire::{OperationView, When};
use crate::clock;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// How often something is sent, so that nobody on the way takes the connection for dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How often a credential is looked at again while its stream is open.
const RECHECK: Duration = Duration::from_secs(2);
/// How long a client should wait before it comes back.
const RETRY: Duration = Duration::from_secs(2);

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EventsQuery {
    /// Go on after the event with this `id`; `Last-Event-ID` says the same and wins. From now on if
    /// neither is there.
    after: Option<String>,
    /// `false` ends the stream once everything up to now was sent; `true` if absent.
    follow: Option<bool>,
}

/// Hear of operations as they happen.
///
/// Server-sent events, one for each operation, in order: `event` is the verb, `data` the operation as
/// `GET /api/operations/{id}` shows it, `id` a place in the log. Sending the last `id` back as
/// `Last-Event-ID` goes on after it, without a gap and without anything twice. Without one the stream
/// begins now, and its first line gives the place to come back to.
#[utoipa::path(get, path = "/api/events", tag = "operations", params(EventsQuery,
    ("Last-Event-ID" = Option<String>, Header, description = "The `id` of the last event that was received")), responses(
    (status = 200, body = OperationView, content_type = "text/event-stream", description = "`data` of each event"),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn stream_events(
    State(app): State<App>,
    headers: HeaderMap,
    Reader(caller): Reader,
    Asked(query): Asked<EventsQuery>,
) -> Result<Response, Problem> {
    let sent = headers.get(LAST_EVENT_ID).map(|value| value.to_str().unwrap_or("?"));
    let after = sent.filter(|text| !text.is_empty()).or(query.after.as_deref());
    let after = after.map(parse_cursor::<When>).transpose()?.map(|at| at.0);
    let follow = query.follow.unwrap_or(true);
    let open = app.limits().open_stream(&caller)?;
    let listening = app.engine().listen(&caller, after, follow, clock::now).await?;
    let greeting = Event::default().retry(RETRY);
    let greeting = match after {
        Some(_) => greeting,
        // An id without data is no event, but a client that loses the connection comes back to it.
        None => greeting.id(print_cursor(&listening.place())),
    };
    let (checked, waiting) = (Instant::now(), VecDeque::new());
    let greeting = Some(greeting);
    let stream = Events { app, headers, listening, greeting, checked, waiting, _open: open };
    let events = Sse::new(stream.events()).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
    Ok(([(CACHE_CONTROL, "no-store"), (ACCEL_BUFFERING, "no")], events).into_response())
}

/// A stream that is being sent.
struct Events {
    app: App,
    /// The request's own, to see that its credential still holds.
    headers: HeaderMap,
    listening: Listening,
    greeting: Option<Event>,
    /// When its credential was last looked at.
    checked: Instant,
    /// What was read and not sent yet.
    waiting: VecDeque<Operation>,
    /// Counts against the streams of its credential and tenant.
    _open: OpenStream,
}

impl Events {
    fn events(self) -> impl Stream<Item = Result<Event, Infallible>> + Send {
        unfold(self, |mut events| async move {
            let event = events.next().await?;
            Some((Ok(event), events))
        })
    }

    async fn next(&mut self) -> Option<Event> {
        if let Some(greeting) = self.greeting.take() {
            return Some(greeting);
        }
        loop {
            let due = self.checked + RECHECK;
            if Instant::now() >= due {
                if !self.may_go_on().await {
                    return None;
                }
                self.checked = Instant::now();
                continue;
            }
            if let Some(operation) = self.waiting.pop_front() {
                return Some(event(&operation));
            }
            tokio::select! {
                found = self.listening.next() => self.waiting.extend(found?),
                () = sleep_until(due) => {}
            }
        }
    }

    /// Whether the credential would still be let in. While nobody can say, it may go on: there is
    /// nothing to read either.
    async fn may_go_on(&self) -> bool {
        match self.app.check_still(&self.headers, Permission::Read).await {
            Ok(()) => true,
            Err(problem) => problem.is("unavailable"),
        }
    }
}

fn event(operation: &Operation) -> Event {
    let data = serde_json::to_string(&OperationView::from(operation)).unwrap_or_default();
    Event::default().event(operation.verb.as_str()).id(print_cursor(&operation.at)).data(data)
}
