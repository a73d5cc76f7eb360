//! Concurrency limit per key: a number of requests run, more wait, the rest are refused at once.

use std::hash::Hash;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use moka::sync::Cache;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// How long a request waits for a slot.
const SLOT_TIMEOUT: Duration = Duration::from_secs(5);
/// How many requests may wait for each slot.
const WAITING_PER_SLOT: usize = 8;
/// Time after which the slots of an unused key are dropped.
const SLOTS_IDLE: Duration = Duration::from_secs(600);

struct Slots {
    running: Arc<Semaphore>,
    waiting: AtomicUsize,
}

/// Slots for each key of one kind.
pub struct KeyedSlots<K> {
    size: usize,
    keys: Cache<K, Arc<Slots>>,
}

/// Counts a waiting request until it is dropped.
struct Waiting(Arc<Slots>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.waiting.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<K: Hash + Eq + Clone + Send + Sync + 'static> KeyedSlots<K> {
    /// Creates `size` slots for each key; 0 means no limit.
    pub fn of_size(size: usize) -> Self {
        let keys = Cache::builder().max_capacity(100_000).time_to_idle(SLOTS_IDLE).build();
        Self { size, keys }
    }

    /// Takes a slot, waiting up to `SLOT_TIMEOUT`; an error if none becomes free or too many
    /// requests wait already. `Ok(None)` means that there is no limit.
    pub async fn take(&self, key: &K) -> Result<Option<OwnedSemaphorePermit>, ()> {
        if self.size == 0 {
            return Ok(None);
        }
        let new = || {
            let running = Arc::new(Semaphore::new(self.size));
            Arc::new(Slots { running, waiting: AtomicUsize::new(0) })
        };
        let slots = self.keys.get_with(key.clone(), new);
        if let Ok(permit) = Arc::clone(&slots.running).try_acquire_owned() {
            return Ok(Some(permit));
        }
        let before = slots.waiting.fetch_add(1, Ordering::Relaxed);
        let _waiting = Waiting(Arc::clone(&slots));
        if before >= self.size * WAITING_PER_SLOT {
            return Err(());
        }
        match timeout(SLOT_TIMEOUT, Arc::clone(&slots.running).acquire_owned()).await {
            Ok(Ok(permit)) => Ok(Some(permit)),
            _ => Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn slots_run_wait_and_refuse_per_key() {
        let slots = Arc::new(KeyedSlots::of_size(1));
        let first = slots.take(&"a").await.unwrap();
        assert!(slots.take(&"b").await.unwrap().is_some(), "another key has its own");
        let mut waiting = tokio::task::JoinSet::new();
        for _ in 0..WAITING_PER_SLOT {
            let slots = Arc::clone(&slots);
            waiting.spawn(async move { slots.take(&"a").await.map(drop) });
        }
        while slots.keys.get("a").unwrap().waiting.load(Ordering::Relaxed) < WAITING_PER_SLOT {
            tokio::task::yield_now().await;
        }
        assert!(slots.take(&"a").await.is_err(), "the waiting queue is full");
        drop(first);
        while let Some(done) = waiting.join_next().await {
            assert_eq!(done.unwrap(), Ok(()));
        }
        assert!(slots.take(&"a").await.is_ok());
    }
}
