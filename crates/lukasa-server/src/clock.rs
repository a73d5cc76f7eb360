//! The one reader of the clock and of randomness. Everything below gets both as arguments.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lukasa_core::Timestamp;
use lukasa_engine::Moment;
use rand::RngCore;

/// The current time, truncated to the microseconds that the database stores.
pub fn now() -> Timestamp {
    #[expect(clippy::disallowed_methods, reason = "this is the edge that reads the clock")]
    let now = Timestamp::now();
    lukasa_core::time::micros(now)
}

/// Unpredictable bytes from the operating system's generator.
pub fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    #[expect(clippy::disallowed_methods, reason = "this is the edge that draws randomness")]
    rand::rng().fill_bytes(&mut bytes);
    bytes
}

/// Now, with a seed for the ids of one call.
pub fn moment() -> Moment {
    Moment { now: now(), seed: random() }
}

/// Microseconds of a monotonic clock, for measuring durations.
pub fn ticks() -> u64 {
    static START: std::sync::LazyLock<std::time::Instant> =
        std::sync::LazyLock::new(std::time::Instant::now);
    u64::try_from(START.elapsed().as_micros()).unwrap_or(u64::MAX)
}

/// The clock of one server: what is written has its time, by it credentials expire and age in caches,
/// and requests and tokens are counted against rates and budgets. A test advances it instead of
/// waiting.
#[derive(Debug, Clone, Default)]
pub struct ServerClock {
    advanced_millis: Arc<AtomicU64>,
}

impl ServerClock {
    pub fn now(&self) -> Timestamp {
        now() + self.advanced()
    }

    /// Now, with a seed for the ids of one call.
    pub fn moment(&self) -> Moment {
        Moment { now: self.now(), seed: random() }
    }

    /// The same on the monotonic clock, for measuring ages.
    pub fn instant(&self) -> Instant {
        Instant::now() + self.advanced()
    }

    /// Whether less than `ttl` has passed since `then`.
    pub fn is_within(&self, ttl: Duration, then: Instant) -> bool {
        self.instant().saturating_duration_since(then) < ttl
    }

    pub fn advance(&self, by: Duration) {
        let millis = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        self.advanced_millis.fetch_add(millis, Ordering::Relaxed);
    }

    fn advanced(&self) -> Duration {
        Duration::from_millis(self.advanced_millis.load(Ordering::Relaxed))
    }
}

impl governor::clock::Clock for ServerClock {
    type Instant = Instant;

    fn now(&self) -> Instant {
        self.instant()
    }
}
