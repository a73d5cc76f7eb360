//! Readiness: whether the database answers, checked at most once a second.

use std::time::Duration;

use lukasa_engine::Engine;
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

/// How long the result of a database check is cached.
const READINESS_TTL: Duration = Duration::from_secs(1);
/// Timeout of the database check.
const READINESS_TIMEOUT: Duration = Duration::from_secs(3);

/// The last result of the database check and its time. Concurrent checks share one connection.
#[derive(Default)]
pub(super) struct Readiness(Mutex<Option<(Instant, bool)>>);

impl Readiness {
    pub(super) async fn check(&self, engine: &Engine) -> bool {
        let mut last = self.0.lock().await;
        if let Some((at, ready)) = *last
            && at.elapsed() < READINESS_TTL
        {
            return ready;
        }
        let ready = timeout(READINESS_TIMEOUT, engine.is_ready()).await.unwrap_or(false);
        *last = Some((Instant::now(), ready));
        ready
    }
}
