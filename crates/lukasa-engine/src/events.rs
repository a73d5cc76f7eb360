//! Live event streams of a user's operations.
//!
//! The log of operations is the source. A stream holds a position in it, an instant of the user's
//! known axis, and reads on from there; nothing is buffered per stream, so no event is lost or sent
//! twice. A write on this server wakes its streams at once. A write on another server is found by
//! polling the end of the log once a second, once for all streams of the same user.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lukasa_core::{Caller, Operation, TenantId, Timestamp, UserId};
use lukasa_store::operation;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::Engine;
use crate::error::{Error, Result};

/// Maximum number of open event streams per user, on one server.
pub const MAX_STREAMS_PER_USER: usize = 20;
/// How often the end of the log is polled.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Operations read per query.
const PAGE_SIZE: i64 = 100;

/// The known end of the log of each user who has an open stream.
type LogEnds = HashMap<UserId, watch::Sender<Timestamp>>;

/// Live subscriptions per user. `None` after shutdown: new ones are refused.
#[derive(Clone)]
pub(crate) struct Subscriptions(Arc<Mutex<Option<LogEnds>>>);

impl Default for Subscriptions {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Some(HashMap::new()))))
    }
}

impl Subscriptions {
    fn lock(&self) -> MutexGuard<'_, Option<LogEnds>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that a user's log now ends at `at`, and wakes its streams.
    pub(crate) fn wake(&self, user: UserId, at: Timestamp) {
        if let Some(end) = self.lock().as_ref().and_then(|open| open.get(&user)) {
            end.send_if_modified(|known| {
                let is_newer = at > *known;
                *known = at.max(*known);
                is_newer
            });
        }
    }

    /// Ends all streams of this user.
    pub(crate) fn end(&self, user: UserId) {
        if let Some(open) = self.lock().as_mut() {
            open.remove(&user);
        }
    }

    /// Whether the user still has an open stream. If not, the entry is removed and polling ends.
    fn has_streams(&self, user: UserId) -> bool {
        let mut open = self.lock();
        let Some(open) = open.as_mut() else { return false };
        let has_streams = open.get(&user).is_some_and(|end| end.receiver_count() > 0);
        if !has_streams {
            open.remove(&user);
        }
        has_streams
    }
}

/// An event stream: a position in a user's log, and notification of new operations.
pub struct OperationStream {
    engine: Engine,
    caller: Caller,
    after: Timestamp,
    clock: fn() -> Timestamp,
    /// Absent if only existing operations are wanted.
    updates: Option<watch::Receiver<Timestamp>>,
}

impl Engine {
    /// Opens an event stream of the caller's user from a position in the log, or from its end. With
    /// `follow` it continues until it is closed, otherwise until the existing operations are read.
    pub async fn stream_operations(
        &self,
        caller: &Caller,
        after: Option<Timestamp>,
        follow: bool,
        clock: fn() -> Timestamp,
    ) -> Result<OperationStream> {
        // Subscribe before reading the end of the log, so that no operation in between is missed.
        let updates = if follow { Some(self.subscribe(caller, clock)?) } else { None };
        let scope = self.reading(caller, clock()).await?;
        let end = operation::last_at(&scope).await?.unwrap_or(Timestamp::UNIX_EPOCH);
        let after = after.unwrap_or(end);
        Ok(OperationStream { engine: self.clone(), caller: caller.clone(), after, clock, updates })
    }

    /// Closes all event streams and refuses new ones: the server is stopping.
    pub fn close_event_streams(&self) {
        *self.subscriptions.lock() = None;
    }

    fn subscribe(
        &self,
        caller: &Caller,
        clock: fn() -> Timestamp,
    ) -> Result<watch::Receiver<Timestamp>> {
        let mut open = self.subscriptions.lock();
        let Some(open) = open.as_mut() else {
            return Err(lukasa_store::Error::Unavailable("the server is stopping".into()).into());
        };
        if let Some(end) = open.get(&caller.user) {
            if end.receiver_count() >= MAX_STREAMS_PER_USER {
                return Err(Error::TooManyStreams);
            }
            return Ok(end.subscribe());
        }
        let (end, updates) = watch::channel(Timestamp::UNIX_EPOCH);
        open.insert(caller.user, end);
        tokio::spawn(poll_log_end(self.clone(), caller.tenant, caller.user, clock));
        Ok(updates)
    }
}

/// Polls the end of a user's log while the user has an open stream.
async fn poll_log_end(engine: Engine, tenant: TenantId, user: UserId, clock: fn() -> Timestamp) {
    let caller = Caller::key(tenant, "", "events", lukasa_core::Origin::Tool);
    let caller = Caller { user, ..caller };
    loop {
        sleep(POLL_INTERVAL).await;
        if !engine.subscriptions.has_streams(user) {
            return;
        }
        let end = async {
            let scope = engine.reading(&caller, clock()).await?;
            Ok::<_, Error>(operation::last_at(&scope).await?)
        };
        match end.await {
            Ok(Some(at)) => engine.subscriptions.wake(user, at),
            Ok(None) => {}
            Err(Error::UserGone) => return engine.subscriptions.end(user),
            Err(error) => tracing::debug!(%error, "could not poll the end of the operation log"),
        }
    }
}

impl OperationStream {
    /// The position of the last operation returned, or where the stream began.
    pub fn position(&self) -> Timestamp {
        self.after
    }

    /// Waits for the next operations; `None` once the stream has ended. It is cancel safe: if it is
    /// dropped before it returns, the position has not moved.
    pub async fn next(&mut self) -> Option<Vec<Operation>> {
        loop {
            if let Some(updates) = &mut self.updates {
                updates.borrow_and_update();
            }
            match self.read().await {
                Ok(found) if !found.is_empty() => {
                    self.after = found.last().map_or(self.after, |last| last.at);
                    return Some(found);
                }
                Ok(_) => self.updates.as_mut()?.changed().await.ok()?,
                Err(Error::UserGone) => return None,
                // While the database is unavailable there are no new events; the stream stays open.
                Err(error) => {
                    tracing::debug!(%error, "could not read the operation log");
                    if let Ok(Err(_)) =
                        timeout(POLL_INTERVAL, self.updates.as_mut()?.changed()).await
                    {
                        return None;
                    }
                }
            }
        }
    }

    async fn read(&self) -> Result<Vec<Operation>> {
        let scope = self.engine.reading(&self.caller, (self.clock)()).await?;
        Ok(operation::after(&scope, self.after, PAGE_SIZE).await?)
    }
}
