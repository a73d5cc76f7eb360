//! Whether one database is safe to serve from: its role, its settings and its migrations.

use std::time::Duration;

use tokio_postgres::SimpleQueryMessage;

use crate::error::{Error, Result, SERVING_ROLE};
use crate::migrate::missing_migrations;
use crate::pool::Pools;

/// Settings of the database server and properties of the serving role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseHealth {
    pub server_version: String,
    pub pgvector: Option<String>,
    pub role: String,
    pub login_role: String,
    pub login_is_superuser: bool,
    pub role_is_superuser: bool,
    pub role_bypasses_rls: bool,
    /// Tables with rows of tenants or users that the role owns, or that lack forced row-level
    /// security.
    pub unguarded_tables: Vec<String>,
    pub synchronous_commit: String,
    pub fsync: String,
    /// Why PostgreSQL's own log may contain statement parameters, or `None` if it cannot.
    pub logs_content: Option<String>,
    /// Timeouts that are off, although every connection asks for them.
    pub missing_timeouts: Vec<String>,
    /// Whether a statement that was prepared on a connection may be unknown to its next transaction.
    pub loses_statements: bool,
}

impl DatabaseHealth {
    /// Why requests must not be served, or `None`.
    pub fn unsafe_because(&self) -> Option<String> {
        self.unguarded_because().or_else(|| self.pooler_fault())
    }

    /// Why row-level security does not protect what the role reads, or `None`.
    pub fn unguarded_because(&self) -> Option<String> {
        if self.role_is_superuser || self.role_bypasses_rls {
            return Some(format!("role {} bypasses row-level security", self.role));
        }
        if !self.unguarded_tables.is_empty() {
            let tables = self.unguarded_tables.join(", ");
            return Some(format!(
                "role {} is not restricted by row-level security on {tables}",
                self.role
            ));
        }
        None
    }

    /// What a connection pooler between the server and PostgreSQL drops, or `None`.
    pub fn pooler_fault(&self) -> Option<String> {
        if self.role != SERVING_ROLE {
            return Some(format!(
                "the role is {}, not {SERVING_ROLE}: the connection pooler ignores the startup options",
                self.role
            ));
        }
        if !self.missing_timeouts.is_empty() {
            let names = self.missing_timeouts.join(", ");
            return Some(format!(
                "{names} is 0: the connection pooler ignores the startup options"
            ));
        }
        self.loses_statements.then(|| Error::PreparedStatementLost.to_string())
    }
}

const HEALTH: &str = "\
    select current_setting('server_version'), \
           (select extversion from pg_extension where extname = 'vector'), \
           current_user::text, session_user::text, \
           (select rolsuper from pg_roles where rolname = session_user), \
           r.rolsuper, r.rolbypassrls, \
           (select coalesce(array_agg(c.relname::text order by c.relname), '{}') \
              from pg_class c join pg_namespace n on n.oid = c.relnamespace \
             where c.relkind in ('r', 'p') and n.nspname = current_schema() \
               and (c.relname in ('signing_key', 'retired_signing_key') or exists (select 1 from pg_attribute a \
                      where a.attrelid = c.oid and a.attname in ('user_id', 'tenant_id') \
                        and not a.attisdropped)) \
               and (c.relowner = r.oid or not c.relrowsecurity or not c.relforcerowsecurity)), \
           current_setting('synchronous_commit'), current_setting('fsync'), \
           case when current_setting('log_parameter_max_length_on_error') <> '0' \
                then 'log_parameter_max_length_on_error is not 0' \
                when current_setting('log_parameter_max_length') <> '0' \
                     and (current_setting('log_statement') in ('mod', 'all') \
                          or current_setting('log_min_duration_statement') <> '-1' \
                          or current_setting('log_min_duration_sample') <> '-1' \
                          or current_setting('log_transaction_sample_rate') <> '0') \
                then 'statements are logged, and log_parameter_max_length is not 0' end, \
           (select coalesce(array_agg(name order by name), '{}') from pg_settings \
             where name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout') \
               and setting = '0') \
      from pg_roles r where r.rolname = current_user";

pub(crate) async fn health_of(pools: &Pools) -> Result<DatabaseHealth> {
    let loses_statements = loses_statements(pools).await?;
    let connection = pools.reads.get().await?;
    let row = connection.query_one(HEALTH, &[]).await?;
    Ok(DatabaseHealth {
        server_version: row.try_get(0)?,
        pgvector: row.try_get(1)?,
        role: row.try_get(2)?,
        login_role: row.try_get(3)?,
        login_is_superuser: row.try_get(4)?,
        role_is_superuser: row.try_get(5)?,
        role_bypasses_rls: row.try_get(6)?,
        unguarded_tables: row.try_get(7)?,
        synchronous_commit: row.try_get(8)?,
        fsync: row.try_get(9)?,
        logs_content: row.try_get(10)?,
        missing_timeouts: row.try_get(11)?,
        loses_statements,
    })
}

/// Whether a connection pooler gives a connection of ours to another server process without the
/// statements that were prepared on it. Meanwhile two transactions are open, so that the pooler has to
/// use another process if it can: the last one that was free is taken by the second transaction.
async fn loses_statements(pools: &Pools) -> Result<bool> {
    /// Waiting longer means that the pooler has less than three connections, which shows nothing.
    const TIMEOUT: Duration = Duration::from_secs(3);
    /// Attempts, for a pooler that uses its connections in turn.
    const ATTEMPTS: usize = 8;
    let (mut first, mut second) = (pools.writes.get().await?, pools.background.get().await?);
    let connection = pools.reads.get().await?;
    let probe = async {
        // Another server may have left a statement of this name behind, so each has a text of its own.
        // The simple protocol prepares nothing.
        let first_answer = connection.simple_query("select gen_random_uuid()").await?;
        let mut rows = first_answer.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0),
            _ => None,
        });
        let token = rows.next().unwrap_or_default();
        let first = first.transaction().await?;
        let statement = connection.prepare(&format!("select '{token}'")).await?;
        let second = second.transaction().await?;
        let mut is_lost = false;
        for _ in 0..ATTEMPTS {
            is_lost |= connection.query_one(&statement, &[]).await?.try_get::<_, &str>(0)? != token;
        }
        second.rollback().await?;
        first.rollback().await?;
        Ok(is_lost)
    };
    let probed = tokio::time::timeout(TIMEOUT, probe).await.unwrap_or(Ok(false));
    match probed.map_err(|error: tokio_postgres::Error| Error::from(error)) {
        Err(Error::PreparedStatementLost) => Ok(true),
        other => other,
    }
}

pub(crate) async fn missing_migrations_of(pools: &Pools) -> Result<Vec<String>> {
    let connection = pools.auth.get().await?;
    let missing = missing_migrations(&connection).await?;
    Ok(missing.into_iter().map(|step| format!("V{} {}", step.version, step.name)).collect())
}
