//! The database's clock, read once, so that ids, which contain their creation time, can be compared
//! with the moment a request was sent.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use lukasa_core::OperationId;
use tokio_postgres::Client;

#[derive(Debug, Clone, Copy)]
pub struct Clock {
    read: Instant,
    then: Duration,
}

impl Clock {
    pub async fn read(client: &Client) -> Result<Self> {
        const SQL: &str = "select floor(extract(epoch from clock_timestamp()) * 1000)::bigint";
        let statement = client.prepare(SQL).await.context("clock")?;
        let millis: i64 = client.query_one(&statement, &[]).await.context("clock")?.try_get(0)?;
        // Taken after the answer, so that this clock is never ahead of the other.
        Ok(Self { read: Instant::now(), then: Duration::from_millis(millis.unsigned_abs()) })
    }

    /// Whether the operation was surely created before this moment.
    pub fn made_before(&self, operation: OperationId, moment: Instant) -> bool {
        let Some(stamp) = operation.uuid().get_timestamp() else { return false };
        let (seconds, nanos) = stamp.to_unix();
        Duration::new(seconds, nanos) < self.then + moment.duration_since(self.read)
    }
}
