//! What can go wrong at the database, as the few cases a caller can act on.

use tokio_postgres::error::SqlState;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A named constraint said no.
    #[error("constraint {0} was violated")]
    Conflict(String),
    /// The database cannot be reached or is too busy; the same request may succeed later.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// A row does not read as what the rules allow.
    #[error("corrupt {table} row: {what}")]
    Corrupt { table: &'static str, what: String },
    /// A statement that must change one row changed none or several: somebody was faster.
    #[error("a row to be changed is not there")]
    Gone,
    #[error("{0}")]
    Configuration(String),
    /// A commit was asked of a transaction in which a statement had failed.
    #[error("a statement of the transaction had failed")]
    Doomed,
    #[error("the connection was given back already")]
    Closed,
    #[error("migration failed: {0}")]
    Migration(#[from] refinery::Error),
    #[error("database error: {0}")]
    Database(#[source] tokio_postgres::Error),
}

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(db) = error.as_db_error() else {
            // No answer from the server at all: the connection is gone or was never made.
            return Error::Unavailable(error.to_string());
        };
        let code = db.code();
        if let (true, Some(constraint)) = (code.code().starts_with("23"), db.constraint()) {
            return Error::Conflict(constraint.to_owned());
        }
        let passing = matches!(
            *code,
            SqlState::LOCK_NOT_AVAILABLE
                | SqlState::QUERY_CANCELED
                | SqlState::T_R_DEADLOCK_DETECTED
                | SqlState::T_R_SERIALIZATION_FAILURE
                // After a failover, a connection to the server that is no longer the primary.
                | SqlState::READ_ONLY_SQL_TRANSACTION
        ) || ["08", "53", "57P"].iter().any(|class| code.code().starts_with(class));
        if passing { Error::Unavailable(db.message().to_owned()) } else { Error::Database(error) }
    }
}

impl From<deadpool_postgres::PoolError> for Error {
    fn from(error: deadpool_postgres::PoolError) -> Self {
        match error {
            deadpool_postgres::PoolError::Backend(error) => error.into(),
            other => Error::Unavailable(other.to_string()),
        }
    }
}
