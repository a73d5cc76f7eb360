//! What happens to a user's memory, as it happens.
//!
//! The log of operations is the source. Whoever listens holds a place in it, an instant of the user's
//! known axis, and reads on from there; nothing is kept for them in between, so nothing can be missed
//! or told twice. A write on this server wakes them at once. One on another server is noticed by looking
//! at the end of the log once a second, once for all who listen to the same user.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lukasa_core::{Caller, Operation, TenantId, Timestamp, UserId};
use lukasa_store::operation;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::Engine;
use crate::error::{Error, Result};

/// How many may listen to one user at a time, on one server.
pub const STREAMS: usize = 20;
/// How often the end of the log is looked at.
const LOOK: Duration = Duration::from_secs(1);
/// How many operations are read at a time.
const PAGE: i64 = 100;

/// Where each user's log ends, as far as this server knows, for those whom somebody listens to.
type Ends = HashMap<UserId, watch::Sender<Timestamp>>;

/// Those who listen. Once there is no map, nobody may any more.
#[derive(Clone)]
pub(crate) struct Listeners(Arc<Mutex<Option<Ends>>>);

impl Default for Listeners {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Some(HashMap::new()))))
    }
}

impl Listeners {
    fn open(&self) -> MutexGuard<'_, Option<Ends>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A user's log now reaches to this moment.
    pub(crate) fn wake(&self, user: UserId, at: Timestamp) {
        if let Some(end) = self.open().as_ref().and_then(|open| open.get(&user)) {
            end.send_if_modified(|known| {
                let news = at > *known;
                *known = at.max(*known);
                news
            });
        }
    }

    /// Nobody listens to this user any more.
    pub(crate) fn end(&self, user: UserId) {
        if let Some(open) = self.open().as_mut() {
            open.remove(&user);
        }
    }

    /// Whether anybody still listens to the user. If not, nobody looks any more either.
    fn is_heard(&self, user: UserId) -> bool {
        let mut open = self.open();
        let Some(open) = open.as_mut() else { return false };
        let heard = open.get(&user).is_some_and(|end| end.receiver_count() > 0);
        if !heard {
            open.remove(&user);
        }
        heard
    }
}

/// A place in a user's log, and word of what comes after it.
pub struct Listening {
    engine: Engine,
    caller: Caller,
    after: Timestamp,
    clock: fn() -> Timestamp,
    /// Absent if only what is there already is wanted.
    news: Option<watch::Receiver<Timestamp>>,
}

impl Engine {
    /// Listens to the caller's user from a place in the log on, or from its end. With `follow` it goes
    /// on until somebody ends it, otherwise until what is there has been read.
    pub async fn listen(
        &self,
        caller: &Caller,
        after: Option<Timestamp>,
        follow: bool,
        clock: fn() -> Timestamp,
    ) -> Result<Listening> {
        // First the word of what is new, then the end of the log: nothing can fall in between.
        let news = if follow { Some(self.join(caller, clock)?) } else { None };
        let scope = self.reading(caller, clock()).await?;
        let end = operation::last_at(&scope).await?.unwrap_or(Timestamp::UNIX_EPOCH);
        let after = after.unwrap_or(end);
        Ok(Listening { engine: self.clone(), caller: caller.clone(), after, clock, news })
    }

    /// Ends every listening, for good: the server is stopping.
    pub fn stop_listening(&self) {
        *self.listeners.open() = None;
    }

    fn join(
        &self,
        caller: &Caller,
        clock: fn() -> Timestamp,
    ) -> Result<watch::Receiver<Timestamp>> {
        let mut open = self.listeners.open();
        let Some(open) = open.as_mut() else {
            return Err(lukasa_store::Error::Unavailable("the server is stopping".into()).into());
        };
        if let Some(end) = open.get(&caller.user) {
            if end.receiver_count() >= STREAMS {
                return Err(Error::TooManyStreams);
            }
            return Ok(end.subscribe());
        }
        let (end, news) = watch::channel(Timestamp::UNIX_EPOCH);
        open.insert(caller.user, end);
        tokio::spawn(look(self.clone(), caller.tenant, caller.user, clock));
        Ok(news)
    }
}

/// Looks at the end of a user's log for as long as somebody listens.
async fn look(engine: Engine, tenant: TenantId, user: UserId, clock: fn() -> Timestamp) {
    let caller = Caller::key(tenant, "", "events", lukasa_core::Origin::Tool);
    let caller = Caller { user, ..caller };
    loop {
        sleep(LOOK).await;
        if !engine.listeners.is_heard(user) {
            return;
        }
        let end = async {
            let scope = engine.reading(&caller, clock()).await?;
            Ok::<_, Error>(operation::last_at(&scope).await?)
        };
        match end.await {
            Ok(Some(at)) => engine.listeners.wake(user, at),
            Ok(None) => {}
            Err(Error::UserGone) => return engine.listeners.end(user),
            Err(error) => tracing::debug!(%error, "the end of a log could not be looked at"),
        }
    }
}

impl Listening {
    /// Where the last operation that was given stands, or where the listening began.
    pub fn place(&self) -> Timestamp {
        self.after
    }

    /// The operations that come next, as soon as there are any; nothing once the listening has ended. It
    /// can be given up half-way, and then nothing has been given.
    pub async fn next(&mut self) -> Option<Vec<Operation>> {
        loop {
            if let Some(news) = &mut self.news {
                news.borrow_and_update();
            }
            match self.read().await {
                Ok(found) if !found.is_empty() => {
                    self.after = found.last().map_or(self.after, |last| last.at);
                    return Some(found);
                }
                Ok(_) => self.news.as_mut()?.changed().await.ok()?,
                Err(Error::UserGone) => return None,
                // While the database is away there is no news. Whoever listens need not notice.
                Err(error) => {
                    tracing::debug!(%error, "a log could not be read");
                    if let Ok(Err(_)) = timeout(LOOK, self.news.as_mut()?.changed()).await {
                        return None;
                    }
                }
            }
        }
    }

    async fn read(&self) -> Result<Vec<Operation>> {
        let scope = self.engine.reading(&self.caller, (self.clock)()).await?;
        Ok(operation::after(&scope, self.after, PAGE).await?)
    }
}
