//! Use cases: every operation on a memory, with its permission checks.
//!
//! The interfaces (HTTP and the rest) call these functions and contain no `if` about memory; the
//! rules themselves are pure and are in `lukasa-core`; rows are in `lukasa-store`. This crate names
//! no wire format, no vendor and no SQL. Time and randomness are passed to each call as a
//! [`Moment`].
//!
//! Each module has one handle, a field of [`Modules`]: `engine.facts.save(..)`. The constructor of a
//! handle takes the handles it may call, so modules cannot call each other in a cycle. The shared
//! `parts` and the `transaction` frame are below all of them.
//!
//! [`facts`] has the verbs and queries on memories, [`review`] what waits for an answer of the
//! user, [`removal`] forget, delete and erase, [`undo`] the reversal of any operation, [`sessions`]
//! conversations and their turns, [`recall`] search for what is relevant to a message, [`context`]
//! what goes into a prompt, [`observations`] raw events of other applications, [`learning`]
//! extraction from conversations, [`consolidation`] the periodic rating of learned memories,
//! [`portraits`] compiled texts about a user, [`queue`] and [`jobs`] background work, [`chat`]
//! calls of chat models, [`embeddings`] calls of embedding models, [`policy`] what may happen
//! without asking, [`consents`] what the user lets be inferred, [`credentials`] keys and sign-ins,
//! [`oauth`] assistants that connect by OAuth, [`directory`] the tenant's users and domains,
//! [`archive`] export and import, [`vault`] a memory as files, [`events`] live event streams,
//! [`webhooks`] webhook deliveries, [`insights`] statistics, [`audit`] the record of access,
//! exports and erasures.

mod admission;
pub mod archive;
pub mod audit;
pub mod backup;
pub mod cells;
pub mod chat;
mod closed_domains;
pub mod consents;
pub mod consolidation;
pub mod context;
mod cpu;
pub mod credentials;
mod detector;
pub mod directory;
pub mod embeddings;
mod episode_edits;
mod episodes;
mod error;
pub mod events;
pub mod facts;
mod folder;
pub mod insights;
pub mod jobs;
pub mod journal;
pub mod learning;
mod memory;
mod modules;
pub mod oauth;
pub mod observations;
mod parts;
pub mod policy;
pub mod portraits;
pub mod queue;
pub mod recall;
pub mod removal;
mod request;
pub mod review;
pub mod scrub;
pub mod sessions;
pub mod signing;
mod sorted_lines;
pub mod spaces;
pub mod state;
mod statements;
mod subscriptions;
pub mod telemetry;
mod transaction;
mod transcript;
pub mod undo;
pub mod vault;
pub mod webhooks;
mod zone;

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use lukasa_core::model::Models;
use lukasa_core::{Caller, Policy, Timestamp};
use lukasa_store::Store;

use journal::Journal;
use webhooks::WebhookSender;

pub use error::{Error, InvalidField, Result};
pub use folder::sync_folder;
pub use lukasa_store::health::{Backlog, DatabaseHealth};
pub use lukasa_store::standby::StandbyHealth;
pub use lukasa_store::{ConnectOptions, Migration, PoolSizes};
pub use memory::{Memory, Point};
pub use modules::Modules;
use modules::State;
use parts::Parts;
pub use request::{IdempotencyKey, Moment, Request};
pub use transaction::{ErasureSummary, Outcome, RemovalCounts};

/// The engine: its settings, and the handles of its modules. Cheap to clone.
#[derive(Clone)]
pub struct Engine(Arc<Inner>);

struct Inner {
    parts: Arc<Parts>,
    state: State,
    modules: Modules,
}

impl Deref for Engine {
    type Target = Modules;

    fn deref(&self) -> &Modules {
        &self.0.modules
    }
}

impl Engine {
    /// Connects lazily: a server can start while its database is unavailable.
    pub fn connect(connect: &ConnectOptions) -> Result<Self> {
        Self::connect_with(connect, PoolSizes::default())
    }

    /// The same, with pools of these sizes beside the one for requests.
    pub fn connect_with(connect: &ConnectOptions, sizes: PoolSizes) -> Result<Self> {
        Ok(Self::of(Parts::new(Store::connect_with(connect, sizes)?), State::default()))
    }

    /// The same engine, loading users' indexes from this standby of the main cell when it has the state
    /// that the primary has.
    pub fn with_standby(self, standby: &ConnectOptions) -> Result<Self> {
        let store = self.0.parts.store.clone().with_standby(standby)?;
        Ok(self.with_parts(|parts| parts.store = store))
    }

    fn of(parts: Parts, state: State) -> Self {
        let parts = Arc::new(parts);
        let modules = Modules::new(&parts, &state);
        Self(Arc::new(Inner { parts, state, modules }))
    }

    /// The same engine with other shared parts.
    fn with_parts(&self, change: impl FnOnce(&mut Parts)) -> Self {
        let mut parts = Parts::clone(&self.0.parts);
        change(&mut parts);
        Self::of(parts, self.0.state.clone())
    }

    /// The same engine with other state of its modules.
    fn with_state(&self, change: impl FnOnce(&mut State)) -> Self {
        let mut state = self.0.state.clone();
        change(&mut state);
        Self::of(Parts::clone(&self.0.parts), state)
    }

    /// The same engine for work that no request waits for: it uses the background connection pool.
    #[must_use]
    pub fn in_background(&self) -> Self {
        self.with_parts(|parts| parts.store = parts.store.in_background())
    }

    /// The same engine, caching at most `bytes` of users' indexes between requests, each of at most
    /// `passages` passages.
    #[must_use]
    pub fn with_index_limits(self, bytes: u64, passages: usize) -> Self {
        self.with_state(|state| {
            state.recall_caches = state.recall_caches.clone().with_index_limits(bytes, passages);
        })
    }

    /// The same engine with the server's clock, by which writes are stamped once they hold their
    /// user's lock.
    #[must_use]
    pub fn with_clock(self, clock: fn() -> Timestamp) -> Self {
        self.with_parts(|parts| parts.clock = Some(clock))
    }

    /// The same engine with a clock to time its own work by, in microseconds.
    #[must_use]
    pub fn with_ticks(self, ticks: fn() -> u64) -> Self {
        self.with_parts(|parts| parts.ticks = ticks)
    }

    /// The same engine with another default policy, used where neither tenant nor user has set one.
    #[must_use]
    pub fn with_policy(self, policy: Policy) -> Self {
        self.with_parts(|parts| parts.policy = policy)
    }

    /// The same engine with another time for one answer of a chat model.
    #[must_use]
    pub fn with_chat_timeout(self, chat_timeout: Duration) -> Self {
        self.with_parts(|parts| parts.chat_timeout = chat_timeout)
    }

    /// The same engine, carrying out the statements that the user makes outright in a turn, or not.
    #[must_use]
    pub fn with_statements(self, statements: bool) -> Self {
        self.with_parts(|parts| parts.statements = statements)
    }

    /// The same engine, learning by rules alone if no chat model is configured, or not at all.
    #[must_use]
    pub fn with_learning_by_rules(self, learn_by_rules: bool) -> Self {
        self.with_parts(|parts| parts.learn_by_rules = learn_by_rules)
    }

    /// The same engine, recording every erasure in this journal before it is carried out.
    #[must_use]
    pub fn with_journal(self, journal: Journal) -> Self {
        self.with_state(|state| state.journal = Some(Arc::new(journal)))
    }

    /// The same engine with a sender for webhook deliveries.
    #[must_use]
    pub fn with_webhook_sender(self, sender: WebhookSender) -> Self {
        self.with_state(|state| state.webhook_sender = Some(sender))
    }

    /// The same engine with these models.
    #[must_use]
    pub fn with_models(self, models: Arc<dyn Models>) -> Self {
        // Embedders of the previous models must not stay open.
        let engine = self.with_state(|state| state.embedding = Arc::default());
        engine.with_parts(|parts| parts.models = models)
    }

    pub async fn health(&self) -> Result<DatabaseHealth> {
        Ok(self.0.parts.store.health().await?)
    }

    /// Backlog of work over all users.
    pub async fn backlog(&self, now: Timestamp) -> Result<Backlog> {
        Ok(self.0.parts.store.backlog(now).await?)
    }

    /// The work that is under way or waiting, for metrics.
    pub async fn backlogs(&self, now: Timestamp) -> Result<telemetry::Backlogs> {
        let store = &self.0.parts.store;
        let lanes = store.lane_backlogs(now).await?;
        let erasures = store.erasure_backlog().await?;
        let (index_bytes, indexes) = self.0.state.recall_caches.index_size();
        let (pools, cells_up) = (store.pool_usage(), store.cells_up());
        Ok(telemetry::Backlogs { pools, lanes, erasures, cells_up, index_bytes, indexes })
    }

    /// The name of the cell that holds the caller's user, by the cached map.
    pub fn cell_of(&self, caller: &Caller) -> Arc<str> {
        self.0.parts.store.cell_of(caller.tenant, caller.user)
    }

    /// The migrations of this build that the schema lacks.
    pub async fn missing_migrations(&self) -> Result<Vec<String>> {
        Ok(self.0.parts.store.missing_migrations().await?)
    }

    pub async fn is_ready(&self) -> bool {
        self.0.parts.store.is_ready().await.unwrap_or(false)
    }

    pub fn close(&self) {
        self.0.parts.store.close();
    }
}

/// The migrations the schema still lacks.
pub async fn pending_migrations(connect: &ConnectOptions) -> Result<Vec<Migration>> {
    Ok(lukasa_store::pending(connect).await?)
}

/// Asks a standby and its primary how far the standby is.
pub async fn standby_health(
    primary: &ConnectOptions,
    standby: &ConnectOptions,
) -> Result<StandbyHealth> {
    Ok(lukasa_store::standby::health(primary, standby).await?)
}

/// Creates the database of this URL if it does not exist; true if it was created.
pub async fn ensure_database(url: &str) -> Result<bool> {
    Ok(lukasa_store::database::ensure(url).await?)
}

/// The data directory of the database server, if the login role may read it.
pub async fn data_directory(connect: &ConnectOptions) -> Result<Option<String>> {
    Ok(lukasa_store::health::data_directory(connect).await?)
}
