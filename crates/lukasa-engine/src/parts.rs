//! The parts that every module of the engine shares: the store, the models, the clocks, and the
//! server's settings. What only one module uses is in that module's handle.

use std::sync::Arc;
use std::time::Duration;

use lukasa_core::model::{Models, NoModels};
use lukasa_core::{Policy, Timestamp};
use lukasa_store::Store;

use crate::Moment;
use crate::cpu::CpuPool;

/// Default time for one answer of a chat model. A small machine needs minutes for a long one.
const CHAT_TIMEOUT: Duration = Duration::from_secs(600);

#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) store: Store,
    pub(crate) models: Arc<dyn Models>,
    pub(crate) cpu: CpuPool,
    /// A clock for the duration of the engine's own work, in microseconds.
    pub(crate) ticks: fn() -> u64,
    /// The server's clock, read once a write holds its user's lock. Without one, the time of the
    /// request counts.
    pub(crate) clock: Option<fn() -> Timestamp>,
    /// The default policy, used where neither tenant nor user has set one.
    pub(crate) policy: Policy,
    /// Time that a chat model has for one answer.
    pub(crate) chat_timeout: Duration,
    /// Whether the statements that the user makes outright are carried out.
    pub(crate) statements: bool,
    /// Whether conversations are learned from by rules alone if no chat model is configured.
    pub(crate) learn_by_rules: bool,
}

impl Parts {
    pub(crate) fn new(store: Store) -> Self {
        Self {
            store,
            models: Arc::new(NoModels),
            cpu: CpuPool::default(),
            ticks: || 0,
            clock: None,
            policy: Policy::default(),
            chat_timeout: CHAT_TIMEOUT,
            statements: true,
            learn_by_rules: false,
        }
    }

    /// The time now, for a request that came in at `moment` and may have waited since.
    pub(crate) fn now_after(&self, moment: Moment) -> Timestamp {
        self.clock.map_or(moment.now, |clock| clock().max(moment.now))
    }

    /// Whether a chat model is configured.
    pub(crate) fn has_chat(&self) -> bool {
        !self.models.chats().is_empty()
    }

    /// Whether conversations are learned from: with a chat model, or by rules.
    pub(crate) fn learns(&self) -> bool {
        self.learn_by_rules || self.has_chat()
    }
}
