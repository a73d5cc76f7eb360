//! The shared state of all handlers.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lukasa_core::{TenantId, Timestamp};
use lukasa_engine::credentials::CREDENTIAL_LEASE;
use lukasa_engine::{Engine, Moment};
use moka::sync::Cache;
use tokio::sync::Semaphore;
use tracing::Instrument as _;

use super::auth::{self, AuthMode};
use super::code::ErrorCode;
use super::console::Console;
use super::error::Problem;
use super::limits::{CurrentRequest, LimitSettings, Limits};
use super::mcp_settings::McpSettings;
use super::readiness::Readiness;
use crate::clock::ServerClock;
use crate::oidc::OidcProvider;

/// How long the idempotency key of a request whose answer is not kept is remembered.
const ONCE_TTL: Duration = Duration::from_secs(24 * 60 * 60);
/// Number of database connections unless configured.
const DEFAULT_POOL_SIZE: usize = 16;
/// How long the gateway accepts a cached credential while the database is unavailable. Such a
/// request gets no memory.
const CREDENTIAL_FALLBACK_TTL: Duration = Duration::from_mins(5);
/// How long a refused credential is refused without another check in the database.
pub(super) const REFUSED_TTL: Duration = Duration::from_secs(5);
/// How often the last use of a credential is stored.
const USE_INTERVAL: Duration = Duration::from_mins(1);
/// Maximum number of writes of a last use in flight.
const MAX_USE_WRITES: usize = 4;

/// Shared state of all handlers.
#[derive(Clone)]
pub struct App(pub(super) Arc<Inner>);

#[derive(Clone)]
pub(super) struct Inner {
    pub(super) engine: Engine,
    pub(super) auth: AuthMode,
    pub(super) credentials: Cache<String, auth::CachedCredential>,
    /// The last check of each credential that succeeded, used while the database is unavailable.
    pub(super) last_credentials: Cache<String, auth::CachedCredential>,
    /// Credentials that the database refused in the last seconds, and when.
    pub(super) refused: Cache<auth::RefusedCredential, Instant>,
    pub(super) clock: ServerClock,
    /// Credentials whose use was stored in the last minute.
    pub(super) recorded_uses: Cache<String, ()>,
    pub(super) use_writes: Arc<Semaphore>,
    /// Idempotency keys of requests whose answers are not kept.
    done_once: Cache<String, ()>,
    readiness: Arc<Readiness>,
    limits: Arc<Limits>,
    mcp: McpSettings,
    oidc: Option<Arc<OidcProvider>>,
    console: Console,
}

impl App {
    pub fn new(engine: Engine, auth: AuthMode) -> Self {
        let cache = |ttl| Cache::builder().max_capacity(100_000).time_to_live(ttl);
        let clock = ServerClock::default();
        let limits = Limits::new(&LimitSettings::default(), DEFAULT_POOL_SIZE, &clock);
        Self(Arc::new(Inner {
            engine,
            auth,
            credentials: cache(CREDENTIAL_LEASE).build(),
            last_credentials: cache(CREDENTIAL_FALLBACK_TTL).build(),
            refused: Cache::builder().max_capacity(100_000).time_to_live(REFUSED_TTL).build(),
            clock,
            recorded_uses: Cache::builder()
                .max_capacity(100_000)
                .time_to_live(USE_INTERVAL)
                .build(),
            done_once: Cache::builder().max_capacity(100_000).time_to_live(ONCE_TTL).build(),
            use_writes: Arc::new(Semaphore::new(MAX_USE_WRITES)),
            readiness: Arc::default(),
            limits: Arc::new(limits),
            mcp: McpSettings::default(),
            oidc: None,
            console: Console::default(),
        }))
    }

    /// The same app with other settings. Its caches are shared.
    fn change(self, change: impl FnOnce(&mut Inner)) -> Self {
        let mut inner = Inner::clone(&self.0);
        change(&mut inner);
        Self(Arc::new(inner))
    }

    /// Sets the limits, for a server with `pool_size` database connections.
    #[must_use]
    pub fn with_limits(self, settings: &LimitSettings, pool_size: usize) -> Self {
        self.change(|inner| {
            inner.limits = Arc::new(Limits::new(settings, pool_size, &inner.clock));
        })
    }

    pub fn clock(&self) -> &ServerClock {
        &self.0.clock
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.0.clock.now()
    }

    /// Now, with a seed for the ids of one call.
    pub(crate) fn moment(&self) -> Moment {
        self.0.clock.moment()
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// Makes the server report that it is not ready, while it still answers requests.
    pub fn start_draining(&self) {
        self.0.limits.start_draining();
    }

    /// Sets the MCP settings.
    #[must_use]
    pub fn with_mcp(self, settings: McpSettings) -> Self {
        self.change(|inner| inner.mcp = settings)
    }

    /// Sets the identity provider that users sign in with.
    #[must_use]
    pub fn with_oidc(self, provider: Option<OidcProvider>) -> Self {
        self.change(|inner| inner.oidc = provider.map(Arc::new))
    }

    /// The identity provider that users sign in with. Without authentication there is no sign-in.
    pub(crate) fn oidc(&self) -> Option<&Arc<OidcProvider>> {
        self.0.oidc.as_ref().filter(|_| !self.is_local())
    }

    /// Sets the location of the console's files.
    #[must_use]
    pub fn with_console(self, console: Console) -> Self {
        self.change(|inner| inner.console = console)
    }

    pub(crate) fn console(&self) -> &Console {
        &self.0.console
    }

    pub(crate) fn mcp(&self) -> &McpSettings {
        &self.0.mcp
    }

    pub(crate) fn is_local(&self) -> bool {
        self.0.auth == AuthMode::Local
    }

    /// Whether the database answers, and its schema is present.
    pub(crate) async fn is_ready(&self) -> bool {
        self.0.readiness.check(&self.0.engine).await
    }

    pub(crate) fn engine(&self) -> &Engine {
        &self.0.engine
    }

    /// The same as [`App::detached`] for a request whose answer has a secret and is not kept: with an
    /// idempotency key that this server has seen it is refused, unless it failed before.
    pub(crate) async fn detached_once<T, F>(
        &self,
        once: Option<String>,
        work: F,
    ) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: Future<Output = lukasa_engine::Result<T>> + Send + 'static,
    {
        let seen = &self.0.done_once;
        if let Some(key) = &once
            && !seen.entry_by_ref(key).or_insert(()).is_fresh()
        {
            return Err(Problem::of(ErrorCode::AnswerNotKept));
        }
        // In the work itself, because the client may leave before it has ended.
        let mut failed = FailedOnce { seen: seen.clone(), key: once };
        self.detached(async move {
            let done = work.await;
            if done.is_ok() {
                failed.keep();
            }
            done
        })
        .await
    }

    /// Runs a write to its end even if the client disconnects: a request that is dropped half-way
    /// must be either done or not done, and the client can find out which.
    pub(crate) async fn detached<T, F>(&self, work: F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: Future<Output = lukasa_engine::Result<T>> + Send + 'static,
    {
        // The work keeps the request's slots after the client has disconnected.
        let request = CurrentRequest::get();
        let work = async move {
            let _request = request;
            work.await
        };
        match tokio::spawn(work.in_current_span()).await {
            Ok(result) => result.map_err(Into::into),
            Err(_) => Err(Problem::of(ErrorCode::Internal)),
        }
    }
}

/// Forgets the idempotency key of a request when it is dropped: also if the work has panicked.
struct FailedOnce {
    seen: Cache<String, ()>,
    /// `None` once the work has succeeded.
    key: Option<String>,
}

impl FailedOnce {
    fn keep(&mut self) {
        self.key = None;
    }
}

impl Drop for FailedOnce {
    fn drop(&mut self) {
        if let Some(key) = &self.key {
            self.seen.invalidate(key);
        }
    }
}

/// The tenant of a server without authentication, for one user on one machine.
pub const LOCAL_TENANT: &str = "local";
/// The user of such a server, unless the request names one.
pub const LOCAL_USER: &str = "me";

pub fn local_tenant() -> TenantId {
    TenantId::named(LOCAL_TENANT)
}

#[cfg(test)]
mod tests {
    use lukasa_engine::{ConnectOptions, Error};
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn request_that_failed_after_its_client_left_can_be_repeated() {
        let url = "postgres://nobody@127.0.0.1:9/none".to_owned();
        let connect = ConnectOptions { url, pool_size: 1, ca_file: None };
        let app = App::new(Engine::connect(&connect).unwrap(), AuthMode::Keys);
        let once = || Some("key".to_owned());
        for panics in [false, true] {
            let (release, released) = oneshot::channel::<()>();
            let work = async move {
                let _ = released.await;
                assert!(!panics, "as a defect would");
                Err::<(), _>(Error::MemoryNotFound)
            };
            let request = app.detached_once(once(), work);
            let left = tokio::time::timeout(Duration::from_millis(10), request).await;
            assert!(left.is_err(), "the client leaves while it is done");
            let repeated = app.detached_once(once(), async { Ok(()) }).await.unwrap_err();
            assert!(repeated.is(ErrorCode::AnswerNotKept));
            release.send(()).unwrap();
            while app.0.done_once.contains_key("key") {
                tokio::task::yield_now().await;
            }
        }
        app.detached_once(once(), async { Ok(()) }).await.unwrap();
        assert!(app.detached_once(once(), async { Ok(()) }).await.is_err(), "it was done");
    }
}
