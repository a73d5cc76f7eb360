//! Database errors, reduced to the few cases a caller can act on.

use tokio_postgres::error::SqlState;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A named constraint was violated.
    #[error("constraint {0} was violated")]
    Conflict(String),
    /// The database cannot be reached or is too busy; the same request may succeed later.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// A row could not be read as a valid value.
    #[error("corrupt {table} row: {what}")]
    Corrupt { table: &'static str, what: String },
    /// A statement that must change exactly one row changed none or several: another transaction
    /// was faster.
    #[error("a row to be changed does not exist")]
    Gone,
    /// The cell does not hold the user. The store looks for the user in the other cells, so a caller
    /// sees this only if a transaction was opened without a route.
    #[error("the user is in another cell")]
    Elsewhere,
    /// The caller has no grant of the space that is in force.
    #[error("the caller is not a member of the space")]
    NotMember,
    /// The caller's grant of the space allows only reading.
    #[error("the member may not write in the space")]
    ReadOnlyMember,
    #[error("{0}")]
    Configuration(String),
    /// A table or the serving role does not exist: the migrations were not run.
    #[error("{0}")]
    SchemaMissing(String),
    /// The database has migrations that this build does not have: it cannot be migrated or served from.
    #[error("{0}")]
    SchemaRefused(String),
    /// A connection pooler gave the connection to another server process, which lacks what was prepared.
    #[error(
        "the connection pooler loses prepared statements; set max_prepared_statements in PgBouncer 1.21 or later"
    )]
    PreparedStatementLost,
    /// A command that needs one session was started through a connection pooler.
    #[error(
        "this needs a session of its own: name PostgreSQL itself in DATABASE_URL, not a connection pooler"
    )]
    PooledSession,
    /// Commit was called on a transaction in which a statement had failed.
    #[error("the transaction cannot be committed: one of its statements failed")]
    Doomed,
    #[error("the connection was already returned to the pool")]
    Closed,
    #[error("migration failed: {0}")]
    Migration(#[from] refinery::Error),
    #[error("database error: {0}")]
    Database(#[source] tokio_postgres::Error),
}

/// The SQLSTATE of `check_placement`.
const ELSEWHERE: &str = "LC001";
/// Violated by the first user of a new tenant in a cell that the tenant's row has not reached.
const TENANT_OF_USER: &str = "users_tenant_id_fkey";
/// The role that the first migration creates and grants.
pub(crate) const SERVING_ROLE: &str = "lukasa_serve";

impl From<tokio_postgres::Error> for Error {
    fn from(error: tokio_postgres::Error) -> Self {
        let Some(db) = error.as_db_error() else {
            // No response from the server: the connection was lost or never made.
            return Error::Unavailable(error.to_string());
        };
        let code = db.code();
        if code.code() == ELSEWHERE {
            return Error::Elsewhere;
        }
        // A connection that cannot switch to the serving role is refused with one of the latter two.
        let refuses_role =
            matches!(*code, SqlState::INVALID_PARAMETER_VALUE | SqlState::INSUFFICIENT_PRIVILEGE)
                && db.message().contains(SERVING_ROLE);
        if *code == SqlState::UNDEFINED_TABLE || refuses_role {
            return Error::SchemaMissing(db.message().to_owned());
        }
        if matches!(*code, SqlState::INVALID_SQL_STATEMENT_NAME | SqlState::DUPLICATE_PSTATEMENT) {
            return Error::PreparedStatementLost;
        }
        if db.constraint() == Some(TENANT_OF_USER) {
            return Error::Unavailable("the tenant has not reached the user's cell yet".into());
        }
        if let (true, Some(constraint)) = (code.code().starts_with("23"), db.constraint()) {
            return Error::Conflict(constraint.to_owned());
        }
        let transient =
            matches!(
                *code,
                SqlState::LOCK_NOT_AVAILABLE
                | SqlState::QUERY_CANCELED
                | SqlState::T_R_DEADLOCK_DETECTED
                | SqlState::T_R_SERIALIZATION_FAILURE
                // After a failover: a connection to a server that is no longer the primary.
                | SqlState::READ_ONLY_SQL_TRANSACTION
            ) || ["08", "28", "3D", "53", "57P"].iter().any(|class| code.code().starts_with(class));
        if transient { Error::Unavailable(db.message().to_owned()) } else { Error::Database(error) }
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
