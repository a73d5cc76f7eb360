//! Use cases: what can be done with a memory, and who may do it.
//!
//! The doors (HTTP and the rest) call these functions and contain no `if` about memory; the rules
//! themselves are pure and live in `lukasa-core`; rows live in `lukasa-store`. This crate names no
//! wire format, no vendor and no SQL. Time and randomness come in with each call as a [`Moment`].
//!
//! [`facts`] has the verbs and the questions about memories, [`sessions`] what was said, [`recall`] the
//! finding of what bears on a message, [`context`] what goes into a prompt, [`learn`]
//! what a conversation leaves behind, [`jobs`] the work that waits for its time, [`chat`] the asking of chat
//! models, [`portrait`] compiled texts about a person, [`cluster`] what belongs
//! together, [`policy`] what may happen without asking, [`access`] who may come in, [`directory`] the
//! tenant's users and domains, [`moving`] the way out and the way in for a whole memory, [`vault`] a memory
//! as files, [`cascade`] what goes with what it was made from, [`erasure`] what goes for good, [`events`] what
//! happens as it happens, [`webhooks`] who else is told of it.

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
use embedding::Embedding;
use erasure::Journal;
use events::Listeners;
use recall::{Minds, PointGate, Questions, Recalls};
use signing::Signer;
use tokio::sync::{OnceCell, Semaphore};
use webhooks::Courier;

pub use error::{Error, Fault, Result};
pub use lukasa_store::health::{Backlog, Health};
pub use lukasa_store::{Connect, Migration, PoolSizes};

/// A handle on the record. Cheap to clone.
#[derive(Clone)]
pub struct Engine {
    store: Store,
    models: Arc<dyn Models>,
    embedding: Arc<Embedding>,
    minds: Arc<Minds>,
    questions: Questions,
    recalls: Recalls,
    /// Limits how many indexes of points in the past are built at a time.
    points: PointGate,
    cpu: CpuPool,
    ticks: fn() -> u64,
    /// The server's clock, read once a write holds its user's lock. Without one, the time of the
    /// request counts.
    clock: Option<fn() -> Timestamp>,
    policy: Policy,
    /// Where erasures are written down so that no backup brings back what they removed.
    journal: Option<Arc<Journal>>,
    signer: Arc<OnceCell<Signer>>,
    /// The longest that one call of a chat model may take, whatever the question allows.
    patience: Duration,
    listeners: Listeners,
    /// How many notes of what was given are written at a time: the connections are for those who wait.
    noting: Arc<Semaphore>,
    /// Who carries letters to webhooks, if anybody does.
    courier: Option<Courier>,
    running: Arc<jobs::Running>,
}

/// When a call happens, and sixteen random bytes for the ids it will draw.
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

/// Who writes, when, and under which conditions.
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
    pub fn connect(connect: &Connect) -> Result<Self> {
        Self::connect_with(connect, PoolSizes::default())
    }

    /// The same, with pools of these sizes beside the one for requests.
    pub fn connect_with(connect: &Connect, sizes: PoolSizes) -> Result<Self> {
        Ok(Self {
            store: Store::connect_with(connect, sizes)?,
            models: Arc::new(NoModels),
            embedding: Arc::default(),
            minds: Arc::default(),
            questions: recall::questions(),
            recalls: recall::recalls(),
            points: PointGate::default(),
            cpu: CpuPool::default(),
            ticks: || 0,
            clock: None,
            policy: Policy::default(),
            journal: None,
            signer: Arc::default(),
            patience: Duration::MAX,
            listeners: Listeners::default(),
            noting: Arc::new(Semaphore::new(context::NOTES_AT_ONCE)),
            courier: None,
            running: Arc::default(),
        })
    }

    /// The same engine for work that no request waits for: it uses the background's connections.
    #[must_use]
    pub fn in_background(&self) -> Self {
        Self { store: self.store.in_background(), ..self.clone() }
    }

    /// The same engine, caching at most `bytes` of users' indexes between requests, each of at most
    /// `passages` passages.
    #[must_use]
    pub fn with_index_limits(mut self, bytes: u64, passages: usize) -> Self {
        self.minds = Arc::new(Minds::within(bytes, passages));
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

    /// The same engine with another policy where nobody has said anything.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// The same engine, waiting no longer than this for one call of a chat model.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The same engine, writing down every erasure here before it is done.
    #[must_use]
    pub fn with_journal(mut self, journal: Journal) -> Self {
        self.journal = Some(Arc::new(journal));
        self
    }

    /// The same engine with these models at hand.
    #[must_use]
    pub fn with_models(mut self, models: Arc<dyn Models>) -> Self {
        self.models = models;
        // Nothing of the models there were before stays open.
        self.embedding = Arc::default();
        self
    }

    pub async fn health(&self) -> Result<Health> {
        Ok(self.store.health().await?)
    }

    /// What is behind, over all users.
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
pub async fn migrate(connect: &Connect) -> Result<Vec<Migration>> {
    Ok(lukasa_store::migrate(connect).await?)
}

/// The steps the schema still lacks.
pub async fn pending_migrations(connect: &Connect) -> Result<Vec<Migration>> {
    Ok(lukasa_store::pending(connect).await?)
}

/// Makes the database of this URL if it is not there; whether it had to.
pub async fn ensure_database(url: &str) -> Result<bool> {
    Ok(lukasa_store::database::ensure(url).await?)
}

/// The folder of the database server's files, if the login role may know it.
pub async fn data_directory(connect: &Connect) -> Result<Option<String>> {
    Ok(lukasa_store::health::data_directory(connect).await?)
}
