//! Subscriptions to the operations of a user, on this server: a write wakes the user's open event
//! streams, an erasure ends them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lukasa_core::{Timestamp, UserId};
use tokio::sync::watch;

/// The known end of the log of each user who has an open stream.
type LogEnds = HashMap<UserId, watch::Sender<Timestamp>>;

/// Live subscriptions per user. `None` after shutdown: new ones are refused.
#[derive(Clone)]
pub(crate) struct Subscriptions(Arc<Mutex<Option<LogEnds>>>);

/// Why a subscription is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubscribeError {
    Closed,
    TooMany,
}

impl Default for Subscriptions {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Some(HashMap::new()))))
    }
}

impl Subscriptions {
    fn lock(&self) -> MutexGuard<'_, Option<LogEnds>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Subscribes to a user's operations; true if it is the first subscription, for which the
    /// caller must poll the end of the log.
    pub(crate) fn subscribe(
        &self,
        user: UserId,
        limit: usize,
    ) -> Result<(watch::Receiver<Timestamp>, bool), SubscribeError> {
        let mut open = self.lock();
        let open = open.as_mut().ok_or(SubscribeError::Closed)?;
        if let Some(end) = open.get(&user) {
            if end.receiver_count() >= limit {
                return Err(SubscribeError::TooMany);
            }
            return Ok((end.subscribe(), false));
        }
        let (end, updates) = watch::channel(Timestamp::UNIX_EPOCH);
        open.insert(user, end);
        Ok((updates, true))
    }

    /// Ends all subscriptions and refuses new ones.
    pub(crate) fn close(&self) {
        *self.lock() = None;
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
    pub(crate) fn has_streams(&self, user: UserId) -> bool {
        let mut open = self.lock();
        let Some(open) = open.as_mut() else { return false };
        let has_streams = open.get(&user).is_some_and(|end| end.receiver_count() > 0);
        if !has_streams {
            open.remove(&user);
        }
        has_streams
    }
}
