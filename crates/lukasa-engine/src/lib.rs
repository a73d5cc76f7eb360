//! Use cases: every operation on a memory, with its permission checks.
//!
//! The interfaces (HTTP and the rest) call these functions and contain no `if` about memory; the
//! rules themselves are pure and are in `lukasa-core`; rows are in `lukasa-store`. This crate names
//! no wire format, no vendor and no SQL. Time and randomness are passed to each call as a
//! [`Moment`].
//!
//! [`facts`] has the verbs and queries on memories, [`sessions`] conversations and their turns,
//! [`recall`] search for what is relevant to a message, [`context`] what goes into a prompt,
//! [`learn`] extraction from conversations, [`jobs`] the job queue, [`chat`] calls of chat models,
//! [`portrait`] compiled texts about a user, [`cluster`] groups of related memories, [`policy`]
//! what may happen without asking, [`access`] credentials, [`directory`] the tenant's users and
//! domains, [`moving`] export and import, [`vault`] a memory as files, [`cascade`] removal of
//! sources with what depends on them, [`erasure`] permanent removal, [`events`] live event streams,
//! [`webhooks`] webhook deliveries.

pub mod access;
mod admission;
pub mod backup;
pub mod cascade;
pub mod chat;
mod closed_domains;
pub mod cluster;
pub mod consolidate;
pub mod context;
mod cpu;
pub mod directory;
pub mod embedding;
pub mod erasure;
mod error;
pub mod events;
pub mod facts;
pub mod insights;
pub mod jobs;
pub mod learn;
pub mod moving;
pub mod policy;
pub mod portrait;
pub mod recall;
pub mod sessions;
mod signing;
pub mod state;
pub mod vault;
pub mod webhooks;

use std::sync::Arc;
use std::time::Duration;

use lukasa_core::model::{Models, NoModels};
use lukasa_core::{Caller, Policy, Timestamp, VersionId};
use lukasa_store::Store;

use cpu::CpuPool;
use embedding::EmbeddingState;
use erasure::Journal;
use events::Subscriptions;
use recall::{IndexCache, PointGate, QuestionCache, RecallCache};
use signing::Signer;
use tokio::sync::{OnceCell, Semaphore};
use webhooks::WebhookSender;

pub use error::{Error, InvalidField, Result};
pub use lukasa_store::health::{Backlog, DatabaseHealth};
pub use lukasa_store::{ConnectOptions, Migration, PoolSizes};

/// A handle on the record. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    store: Store,
    models: Arc<dyn Models>,
    embedding: Arc<EmbeddingState>,
    index_cache: Arc<IndexCache>,
    question_cache: QuestionCache,
    recall_cache: RecallCache,
    /// Limits how many indexes of points in the past are built at a time.
    points: PointGate,
    cpu: CpuPool,
    ticks: fn() -> u64,
    /// The server's clock, read once a write holds its user's lock. Without one, the time of the
    /// request counts.
    clock: Option<fn() -> Timestamp>,
    policy: Policy,
    /// Log of erasures, replayed so that a restored backup does not bring erased data back.
    journal: Option<Arc<Journal>>,
    signer: Arc<OnceCell<Signer>>,
    /// Upper limit for one call of a chat model, whatever timeout the question itself allows.
    chat_timeout: Duration,
    subscriptions: Subscriptions,
    /// Limits concurrent writes of retrieval records: the connections are for requests that wait.
    retrieval_writes: Arc<Semaphore>,
    /// HTTP sender for webhook deliveries, if delivery is enabled.
    webhook_sender: Option<WebhookSender>,
    running: Arc<jobs::RunningJobs>,
}

/// The time of a call, and sixteen random bytes that seed its ids.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    pub now: Timestamp,
    pub seed: [u8; 16],
}

/// A key under which a write's answer is kept, and the digest of the request it answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    pub key: String,
    pub request_hash: Vec<u8>,
}

/// The caller, the time and the preconditions of a write.
#[derive(Debug, Clone)]
pub struct Request {
    pub caller: Caller,
    pub moment: Moment,
    pub idempotency: Option<IdempotencyKey>,
    /// The version the caller last saw; another one in its place is a conflict.
    pub if_match: Option<VersionId>,
}

impl Request {
    pub fn new(caller: Caller, moment: Moment) -> Self {
        Self { caller, moment, idempotency: None, if_match: None }
    }
}

impl Engine {
    /// Connects lazily: a server can start while its database is away.
    pub fn connect(connect: &ConnectOptions) -> Result<Self> {
        Self::connect_with(connect, PoolSizes::default())
    }

    /// The same, with pools of these sizes beside the one for requests.
    pub fn connect_with(connect: &ConnectOptions, sizes: PoolSizes) -> Result<Self> {
        Ok(Self {
            store: Store::connect_with(connect, sizes)?,
            models: Arc::new(NoModels),
            embedding: Arc::default(),
            index_cache: Arc::default(),
            question_cache: recall::new_question_cache(),
            recall_cache: recall::new_recall_cache(),
            points: PointGate::default(),
            cpu: CpuPool::default(),
            ticks: || 0,
            clock: None,
            policy: Policy::default(),
            journal: None,
            signer: Arc::default(),
            chat_timeout: Duration::MAX,
            subscriptions: Subscriptions::default(),
            retrieval_writes: Arc::new(Semaphore::new(context::MAX_CONCURRENT_RETRIEVAL_WRITES)),
            webhook_sender: None,
            running: Arc::default(),
        })
    }

    /// The same engine for work that no request waits for: it uses the background connection pool.
    #[must_use]
    pub fn in_background(&self) -> Self {
        Self { store: self.store.in_background(), ..self.clone() }
    }

    /// The same engine, caching at most `bytes` of users' indexes between requests, each of at most
    /// `passages` passages.
    #[must_use]
    pub fn with_index_limits(mut self, bytes: u64, passages: usize) -> Self {
        self.index_cache = Arc::new(IndexCache::within(bytes, passages));
        self
    }

    /// The same engine with the server's clock, by which writes are stamped once they hold their
    /// user's lock.
    #[must_use]
    pub fn with_clock(mut self, clock: fn() -> Timestamp) -> Self {
        self.clock = Some(clock);
        self
    }

    /// The time now, for a request that came in at `moment` and may have waited since.
    pub(crate) fn now_after(&self, moment: Moment) -> Timestamp {
        self.clock.map_or(moment.now, |clock| clock().max(moment.now))
    }

    /// The same engine with a clock to time its own work by, in microseconds.
    #[must_use]
    pub fn with_ticks(mut self, ticks: fn() -> u64) -> Self {
        self.ticks = ticks;
        self
    }

    /// The same engine with another default policy, used where neither tenant nor user has set one.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// The same engine with an upper limit for one call of a chat model.
    #[must_use]
    pub fn with_chat_timeout(mut self, chat_timeout: Duration) -> Self {
        self.chat_timeout = chat_timeout;
        self
    }

    /// The same engine, recording every erasure in this journal before it is carried out.
    #[must_use]
    pub fn with_journal(mut self, journal: Journal) -> Self {
        self.journal = Some(Arc::new(journal));
        self
    }

    /// The same engine with these models.
    #[must_use]
    pub fn with_models(mut self, models: Arc<dyn Models>) -> Self {
        self.models = models;
        // Embedders of the previous models must not stay open.
        self.embedding = Arc::default();
        self
    }

    pub async fn health(&self) -> Result<DatabaseHealth> {
        Ok(self.store.health().await?)
    }

    /// Backlog of work over all users.
    pub async fn backlog(&self, now: Timestamp) -> Result<Backlog> {
        Ok(self.store.backlog(now).await?)
    }

    /// The migrations of this build that the schema lacks.
    pub async fn missing_migrations(&self) -> Result<Vec<String>> {
        Ok(self.store.missing_migrations().await?)
    }

    pub async fn is_ready(&self) -> bool {
        self.store.is_ready().await.unwrap_or(false)
    }

    pub fn close(&self) {
        self.store.close();
    }
}

/// Brings the schema up to date.
pub async fn migrate(connect: &ConnectOptions) -> Result<Vec<Migration>> {
    Ok(lukasa_store::migrate(connect).await?)
}

/// The migrations the schema still lacks.
pub async fn pending_migrations(connect: &ConnectOptions) -> Result<Vec<Migration>> {
    Ok(lukasa_store::pending(connect).await?)
}

/// Creates the database of this URL if it does not exist; true if it was created.
pub async fn ensure_database(url: &str) -> Result<bool> {
    Ok(lukasa_store::database::ensure(url).await?)
}

/// The data directory of the database server, if the login role may read it.
pub async fn data_directory(connect: &ConnectOptions) -> Result<Option<String>> {
    Ok(lukasa_store::health::data_directory(connect).await?)
}
