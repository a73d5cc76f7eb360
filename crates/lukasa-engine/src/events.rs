//! Live event streams of a user's operations.
//!
//! The log of operations is the source. A stream holds a position in it, an instant of the user's
//! known axis, and reads on from there; nothing is buffered per stream, so no event is lost or sent
//! twice. A write on this server wakes its streams at once. A write on another server is found by
//! polling the end of the log once a second, once for all streams of the same user.

use std::time::Duration;

use lukasa_core::{Caller, Operation, TenantId, Timestamp, UserId};
use lukasa_store::operation;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::error::{Error, Result};
use crate::subscriptions::{SubscribeError, Subscriptions};
use crate::transaction::Transactions;

/// Maximum number of open event streams per user, on one server.
pub const MAX_STREAMS_PER_USER: usize = 20;
/// How often the end of the log is polled.
const POLL_INTERVAL: Duration = Duration::from_secs(1);
/// Operations read per query.
const PAGE_SIZE: i64 = 100;

/// Opens event streams.
#[derive(Clone)]
pub struct Events {
    transactions: Transactions,
    subscriptions: Subscriptions,
}

/// An event stream: a position in a user's log, and notification of new operations.
pub struct OperationStream {
    transactions: Transactions,
    caller: Caller,
    after: Timestamp,
    clock: fn() -> Timestamp,
    /// Absent if only existing operations are wanted.
    updates: Option<watch::Receiver<Timestamp>>,
}

impl Events {
    pub(crate) fn new(transactions: Transactions, subscriptions: Subscriptions) -> Self {
        Self { transactions, subscriptions }
    }

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
        let scope = self.transactions.read(caller, clock()).await?;
        let end = operation::last_at(&scope).await?.unwrap_or(Timestamp::UNIX_EPOCH);
        let after = after.unwrap_or(end);
        let (transactions, caller) = (self.transactions.clone(), caller.clone());
        Ok(OperationStream { transactions, caller, after, clock, updates })
    }

    /// Closes all event streams and refuses new ones: the server is stopping.
    pub fn close_streams(&self) {
        self.subscriptions.close();
    }

    fn subscribe(
        &self,
        caller: &Caller,
        clock: fn() -> Timestamp,
    ) -> Result<watch::Receiver<Timestamp>> {
        let (updates, is_first) = self
            .subscriptions
            .subscribe(caller.user, MAX_STREAMS_PER_USER)
            .map_err(|error| match error {
            SubscribeError::Closed => {
                lukasa_store::Error::Unavailable("the server is stopping".into()).into()
            }
            SubscribeError::TooMany => Error::TooManyStreams,
        })?;
        if is_first {
            tokio::spawn(self.clone().poll_log_end(caller.tenant, caller.user, clock));
        }
        Ok(updates)
    }

    /// Polls the end of a user's log while the user has an open stream.
    async fn poll_log_end(self, tenant: TenantId, user: UserId, clock: fn() -> Timestamp) {
        let caller = Caller::key(tenant, "", "events", lukasa_core::Origin::Tool);
        let caller = Caller { user, ..caller };
        loop {
            sleep(POLL_INTERVAL).await;
            if !self.subscriptions.has_streams(user) {
                return;
            }
            let end = async {
                let scope = self.transactions.read(&caller, clock()).await?;
                Ok::<_, Error>(operation::last_at(&scope).await?)
            };
            match end.await {
                Ok(Some(at)) => self.subscriptions.wake(user, at),
                Ok(None) => {}
                Err(Error::UserGone) => return self.subscriptions.end(user),
                Err(error) => {
                    tracing::debug!(%error, "could not poll the end of the operation log");
                }
            }
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
        let scope = self.transactions.read(&self.caller, (self.clock)()).await?;
        Ok(operation::after(&scope, self.after, PAGE_SIZE).await?)
    }
}
