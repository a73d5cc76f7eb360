//! Connection pools by purpose, so that one kind of work cannot take all connections: writes that
//! wait for a lock or for a standby do not block reads, requests do not block workers, and neither
//! blocks authentication.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use deadpool_postgres::{Manager, ManagerConfig, Pool, RecyclingMethod, Runtime, Timeouts};
use lukasa_core::UserId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_postgres::config::{LoadBalanceHosts, TargetSessionAttrs};

use crate::ConnectOptions;
use crate::error::{Error, Result};
use crate::tls;

/// How long a caller waits for a connection, or for the permit to write.
const WAIT_TIMEOUT: Duration = Duration::from_secs(5);
/// How many writes of one user hold a connection at a time: the one that has the user's lock, and
/// the next one. Further writes wait without a connection.
const WRITES_PER_USER: usize = 2;
/// The number of semaphores above which unused ones are removed.
const MAX_IDLE_GATES: usize = 1_024;

/// Sizes of the pools that are not part of [`ConnectOptions::pool_size`], of which reads get five
/// eighths and writes the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolSizes {
    /// For authentication and readiness checks.
    pub auth: usize,
    /// For workers, and for lossy writes such as retrievals.
    pub background: usize,
}

impl Default for PoolSizes {
    fn default() -> Self {
        Self { auth: 2, background: 8 }
    }
}

/// What a connection is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Reads,
    Writes,
    Auth,
    Background,
}

/// The connections of one pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolUsage {
    pub pool: &'static str,
    /// The cell, if there is more than one.
    pub cell: Option<String>,
    pub limit: usize,
    pub used: usize,
    /// Callers that wait for a connection.
    pub waiting: usize,
}

#[derive(Clone)]
pub(crate) struct Pools {
    pub reads: Pool,
    pub writes: Pool,
    pub auth: Pool,
    pub background: Pool,
    /// The URL of the database.
    pub url: Arc<str>,
}

impl Pools {
    /// Prepares the pools. Nothing is connected until the first use.
    pub fn new(connect: &ConnectOptions, sizes: PoolSizes) -> Result<Self> {
        let reads = (connect.pool_size * 5 / 8).max(1);
        let pool = |size: usize| pool(connect, size.max(1));
        Ok(Self {
            reads: pool(reads)?,
            writes: pool(connect.pool_size.saturating_sub(reads))?,
            auth: pool(sizes.auth)?,
            background: pool(sizes.background)?,
            url: connect.url.as_str().into(),
        })
    }

    pub fn of(&self, purpose: Purpose) -> &Pool {
        match purpose {
            Purpose::Reads => &self.reads,
            Purpose::Writes => &self.writes,
            Purpose::Auth => &self.auth,
            Purpose::Background => &self.background,
        }
    }

    /// The connections of each pool.
    pub fn usage(&self, cell: Option<&str>) -> Vec<PoolUsage> {
        let pools = [
            ("reads", &self.reads),
            ("writes", &self.writes),
            ("auth", &self.auth),
            ("background", &self.background),
        ];
        let usage = |(pool, of): (&'static str, &Pool)| {
            let status = of.status();
            let used = status.size.saturating_sub(status.available);
            let (limit, waiting) = (status.max_size, status.waiting);
            PoolUsage { pool, cell: cell.map(str::to_owned), limit, used, waiting }
        };
        pools.into_iter().map(usage).collect()
    }

    pub fn close(&self) {
        for pool in [&self.reads, &self.writes, &self.auth, &self.background] {
            pool.close();
        }
    }
}

/// One semaphore for each user with writes in progress, in whichever cell.
#[derive(Default)]
pub(crate) struct Gates(Mutex<HashMap<UserId, Weak<Semaphore>>>);

impl Gates {
    /// The permit that limits a user's writes. Further writes wait without a connection.
    pub async fn enter(&self, user: UserId) -> Result<OwnedSemaphorePermit> {
        let waiting = tokio::time::timeout(WAIT_TIMEOUT, self.of(user).acquire_owned());
        let permit = waiting.await.ok().and_then(std::result::Result::ok);
        let busy = || Error::Unavailable("too many writes of this user are waiting".into());
        permit.ok_or_else(busy)
    }

    fn of(&self, user: UserId) -> Arc<Semaphore> {
        let mut gates = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(gate) = gates.get(&user).and_then(Weak::upgrade) {
            return gate;
        }
        if gates.len() >= MAX_IDLE_GATES {
            gates.retain(|_, gate| gate.strong_count() > 0);
        }
        let gate = Arc::new(Semaphore::new(WRITES_PER_USER));
        gates.insert(user, Arc::downgrade(&gate));
        gate
    }
}

fn pool(connect: &ConnectOptions, size: usize) -> Result<Pool> {
    let manager = Manager::from_config(
        config(connect)?,
        tls::connector(connect.ca_file.as_deref())?,
        ManagerConfig { recycling_method: RecyclingMethod::Fast },
    );
    Pool::builder(manager)
        .max_size(size)
        .runtime(Runtime::Tokio1)
        .timeouts(Timeouts {
            wait: Some(WAIT_TIMEOUT),
            create: Some(Duration::from_secs(5)),
            recycle: Some(Duration::from_secs(5)),
        })
        .build()
        .map_err(|e| Error::Configuration(e.to_string()))
}

fn config(connect: &ConnectOptions) -> Result<tokio_postgres::Config> {
    let mut config: tokio_postgres::Config =
        connect.url.parse().map_err(|e| Error::Configuration(format!("DATABASE_URL: {e}")))?;
    let given = config.get_options().unwrap_or_default().to_owned();
    // Switches to the role that neither owns tables nor bypasses row-level security before the
    // first statement. The timeouts keep a lost client from holding a user's lock.
    config.options(format!(
        "{given} -c role=lukasa_serve -c timezone=UTC -c statement_timeout=15s \
         -c lock_timeout=10s -c idle_in_transaction_session_timeout=30s"
    ));
    config.application_name("lukasa");
    Ok(with_network_settings(config))
}

/// Adds the settings by which a server that does not answer is noticed.
pub(crate) fn with_network_settings(mut config: tokio_postgres::Config) -> tokio_postgres::Config {
    /// The driver's default if the URL does not set it.
    const DEFAULT_IDLE: Duration = Duration::from_secs(2 * 3600);
    if config.get_hosts().len().max(config.get_ports().len()) > 1 {
        // A primary that is silent takes the whole timeout of an attempt: the next one begins with
        // another host.
        config.load_balance_hosts(LoadBalanceHosts::Random);
        // Reads of a standby could lack what was written, and contain what was removed.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
    }
    config.connect_timeout(Duration::from_secs(5));
    // A server that disappears without closing its connections is detected within half a minute,
    // unless the URL sets other keepalives.
    if config.get_keepalives_idle() == DEFAULT_IDLE {
        config.keepalives(true);
        config.keepalives_idle(Duration::from_secs(15));
        config.keepalives_interval(Duration::from_secs(5));
        config.keepalives_retries(3);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(Duration::from_secs(30));
    }
    config
}
