//! The parts that every module of the engine shares: the store, the models, the clocks, and the
//! server's settings. What only one module uses is in that module's handle.

use std::sync::Arc;
use std::time::Duration;

use lukasa_core::model::{Models, NoModels};
use lukasa_core::{Policy, Timestamp};
use lukasa_store::Store;

use crate::Moment;
use crate::cpu::CpuPool;

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
    /// Upper limit for one call of a chat model, whatever timeout the question itself allows.
    pub(crate) chat_timeout: Duration,
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
            chat_timeout: Duration::MAX,
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
}
