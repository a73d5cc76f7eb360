//! Returning a connection to its pool: only without a transaction, so that no connection is reused
//! with the settings and the locks of another user.

use std::time::Duration;

use deadpool_postgres::Object;

use crate::error::{Error, Result};

/// How long a rollback is waited for before its connection is closed.
const ROLLBACK_TIMEOUT: Duration = Duration::from_secs(5);

/// A connection whose transaction is rolled back when the guard is dropped: after an error, or when
/// the caller was cancelled.
pub(crate) struct RollbackGuard(Option<Object>);

impl RollbackGuard {
    pub fn new(connection: Object) -> Self {
        Self(Some(connection))
    }

    /// The connection.
    pub fn get(&self) -> Result<&Object> {
        self.0.as_ref().ok_or(Error::Closed)
    }

    pub async fn batch_execute(&self, sql: &str) -> Result<()> {
        Ok(self.get()?.batch_execute(sql).await?)
    }

    /// The connection, which is not rolled back any more.
    pub fn disarm(mut self) -> Result<Object> {
        self.0.take().ok_or(Error::Closed)
    }
}

impl Drop for RollbackGuard {
    fn drop(&mut self) {
        if let Some(connection) = self.0.take() {
            roll_back(connection);
        }
    }
}

/// Rolls back before the connection is returned to its pool.
pub(crate) fn roll_back(connection: Object) {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else {
        // Without a runtime nothing can be sent; closing the connection rolls back too.
        drop(Object::take(connection));
        return;
    };
    runtime.spawn(async move {
        // A server that does not answer must not keep a connection of the pool.
        let answered = tokio::time::timeout(ROLLBACK_TIMEOUT, connection.batch_execute("rollback"));
        if !matches!(answered.await, Ok(Ok(()))) {
            drop(Object::take(connection));
        }
    });
}
