//! Token buckets, one per key: an address, a credential, a user or a tenant.
//!
//! The buckets are governor's. They are kept in a bounded cache rather than in its own keyed store,
//! which grows with every key a client invents until it is swept. A bucket that was not used for a
//! minute is full again anyway, so dropping it changes nothing.

use std::hash::Hash;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use moka::sync::Cache;

use crate::clock::ServerClock;

/// Maximum number of buckets kept for one kind of key.
const MAX_BUCKETS: u64 = 100_000;
/// Time after which an unused bucket is dropped.
const BUCKET_IDLE: Duration = Duration::from_secs(120);

type Bucket = RateLimiter<NotKeyed, InMemoryState, ServerClock, NoOpMiddleware<Instant>>;

/// A rate limiter for each key of one kind.
pub struct KeyedRate<K> {
    quota: Option<Quota>,
    buckets: Cache<K, Arc<Bucket>>,
    clock: ServerClock,
}

impl<K: Hash + Eq + Clone + Send + Sync + 'static> KeyedRate<K> {
    /// Allows `rate` per second and bursts of twice as many; 0 means no limit.
    pub fn per_second(rate: u32, clock: &ServerClock) -> Self {
        let rate = NonZeroU32::new(rate);
        let quota =
            rate.map(|rate| Quota::per_second(rate).allow_burst(rate.saturating_add(rate.get())));
        Self::with(quota, clock)
    }

    /// Allows `rate` per minute, also all in one burst; 0 means no limit.
    pub fn per_minute(rate: u32, clock: &ServerClock) -> Self {
        Self::with(NonZeroU32::new(rate).map(Quota::per_minute), clock)
    }

    fn with(quota: Option<Quota>, clock: &ServerClock) -> Self {
        let buckets = Cache::builder().max_capacity(MAX_BUCKETS).time_to_idle(BUCKET_IDLE).build();
        Self { quota, buckets, clock: clock.clone() }
    }

    /// Takes one token, or returns how long to wait for the next.
    pub fn take(&self, key: &K) -> Result<(), Duration> {
        let Some(quota) = self.quota else { return Ok(()) };
        let bucket = match self.buckets.get(key) {
            Some(bucket) => bucket,
            None => self.buckets.get_with(key.clone(), || {
                Arc::new(RateLimiter::direct_with_clock(quota, self.clock.clone()))
            }),
        };
        bucket.check().map_err(|not_until| not_until.wait_time_from(self.clock.instant()))
    }

    /// Takes one token, as soon as there is one.
    pub async fn wait(&self, key: &K) {
        while let Err(wait) = self.take(key) {
            tokio::time::sleep(wait).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn rate_is_waited_for() {
        let rate = KeyedRate::per_second(20, &ServerClock::default());
        let started = Instant::now();
        for _ in 0..45 {
            rate.wait(&"a").await;
        }
        let took = started.elapsed();
        assert!(
            took >= Duration::from_millis(200),
            "40 at once, five more at 20 per second: {took:?}"
        );
        KeyedRate::per_second(0, &ServerClock::default()).wait(&"a").await;
    }

    #[test]
    fn rate_buckets_are_separate_per_key() {
        let clock = ServerClock::default();
        let rate = KeyedRate::per_second(2, &clock);
        for _ in 0..4 {
            assert_eq!(rate.take(&"a"), Ok(()));
        }
        let wait = rate.take(&"a").unwrap_err();
        assert!(wait > Duration::ZERO && wait <= Duration::from_secs(1), "{wait:?}");
        assert_eq!(rate.take(&"b"), Ok(()));
        clock.advance(wait + Duration::from_millis(1));
        assert_eq!(rate.take(&"a"), Ok(()));
        let off = KeyedRate::per_second(0, &ServerClock::default());
        assert!((0..10_000).all(|_| off.take(&"a").is_ok()));
    }
}
