//! The operation log as a stream of server-sent events.

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
use lukasa_engine::events::OperationStream;
use serde::Deserialize;
use tokio::time::{Instant, sleep_until};
use utoipa::IntoParams;

use crate::api::App;
use crate::api::auth::Reader;
use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::limits::OpenStream;
use crate::api::request::{QueryParams, parse_cursor, print_cursor};
use crate::api::wire::{OperationView, When};
use crate::clock;

const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
/// Interval of keep-alive comments, so that no proxy closes an idle connection.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(15);
/// How often the credential of an open stream is checked again.
const RECHECK_INTERVAL: Duration = Duration::from_secs(2);
/// How long a client should wait before it reconnects.
const RECONNECT_DELAY: Duration = Duration::from_secs(2);

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct EventsQuery {
    /// Continue after the event with this `id`. `Last-Event-ID` takes precedence. Without either,
    /// the stream begins now.
    after: Option<String>,
    /// `false` ends the stream once all events up to now were sent; `true` if absent.
    follow: Option<bool>,
}

/// Stream operations as they happen.
///
/// Server-sent events, one for each operation, in order: `event` is the verb, `data` the operation
/// as `GET /api/operations/{id}` returns it, `id` a position in the log. Sending the last `id` as
/// `Last-Event-ID` continues after it, without gaps or duplicates. Without one the stream begins
/// now, and its first line contains the position to continue from.
#[utoipa::path(get, path = "/api/events", tag = "operations", params(EventsQuery,
    ("Last-Event-ID" = Option<String>, Header,
        description = "The `id` of the last event that was received")), responses(
    (status = 200, body = OperationView, content_type = "text/event-stream", description = "`data` of each event"),
    (status = "default", body = Problem, content_type = "application/problem+json")))]
pub async fn stream_events(
    State(app): State<App>,
    headers: HeaderMap,
    Reader(caller): Reader,
    QueryParams(query): QueryParams<EventsQuery>,
) -> Result<Response, Problem> {
    let sent = headers.get(LAST_EVENT_ID).map(|value| value.to_str().unwrap_or("?"));
    let after = sent.filter(|text| !text.is_empty()).or(query.after.as_deref());
    let after = after.map(parse_cursor::<When>).transpose()?.map(|at| at.0);
    let follow = query.follow.unwrap_or(true);
    let open = app.limits().open_stream(&caller)?;
    let operations =
        app.engine().events.stream_operations(&caller, after, follow, clock::now).await?;
    let first = Event::default().retry(RECONNECT_DELAY);
    let first = match after {
        Some(_) => first,
        // An id without data is not an event, but a client that loses the connection continues from it.
        None => first.id(print_cursor(&operations.position())),
    };
    let (checked, waiting) = (Instant::now(), VecDeque::new());
    let first = Some(first);
    let stream = EventStream { app, headers, operations, first, checked, waiting, _open: open };
    let keep_alive = KeepAlive::new().interval(KEEP_ALIVE_INTERVAL);
    let events = Sse::new(stream.events()).keep_alive(keep_alive);
    Ok(([(CACHE_CONTROL, "no-store"), (ACCEL_BUFFERING, "no")], events).into_response())
}

/// State of an open event stream.
struct EventStream {
    app: App,
    /// Headers of the request, to check that its credential is still valid.
    headers: HeaderMap,
    operations: OperationStream,
    /// The first event, until it is sent.
    first: Option<Event>,
    /// When the credential was last checked.
    checked: Instant,
    /// Operations that were read and not sent yet.
    waiting: VecDeque<Operation>,
    /// Counts the stream against the limits of its credential and tenant.
    _open: OpenStream,
}

impl EventStream {
    fn events(self) -> impl Stream<Item = Result<Event, Infallible>> + Send {
        unfold(self, |mut events| async move {
            let event = events.next().await?;
            Some((Ok(event), events))
        })
    }

    async fn next(&mut self) -> Option<Event> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        loop {
            let due = self.checked + RECHECK_INTERVAL;
            if Instant::now() >= due {
                if !self.is_still_authorized().await {
                    return None;
                }
                self.checked = Instant::now();
                continue;
            }
            if let Some(operation) = self.waiting.pop_front() {
                return Some(event(&operation));
            }
            tokio::select! {
                found = self.operations.next() => self.waiting.extend(found?),
                () = sleep_until(due) => {}
            }
        }
    }

    /// Whether the credential is still accepted. While the database is unavailable the stream stays
    /// open: nothing can be read either.
    async fn is_still_authorized(&self) -> bool {
        match self.app.recheck_permission(&self.headers, Permission::Read).await {
            Ok(()) => true,
            Err(problem) => problem.is(ErrorCode::Unavailable),
        }
    }
}

fn event(operation: &Operation) -> Event {
    let data = serde_json::to_string(&OperationView::from(operation)).unwrap_or_default();
    Event::default().event(operation.verb.as_str()).id(print_cursor(&operation.at)).data(data)
}
