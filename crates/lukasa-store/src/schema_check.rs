//! Whether one database is safe to serve from: its role, its settings and its migrations.

use tokio_postgres::error::SqlState;

use crate::error::Result;
use crate::migrate::embedded_migrations;
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
}

impl DatabaseHealth {
    /// Why requests must not be served, or `None`.
    pub fn unsafe_because(&self) -> Option<String> {
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
                then 'statements are logged, and log_parameter_max_length is not 0' end \
      from pg_roles r where r.rolname = current_user";

pub(crate) async fn health_of(pools: &Pools) -> Result<DatabaseHealth> {
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
    })
}

pub(crate) async fn missing_migrations_of(pools: &Pools) -> Result<Vec<String>> {
    const SQL: &str = "select version, name from refinery_schema_history";
    let connection = pools.auth.get().await?;
    let mut missing = embedded_migrations();
    let rows = match connection.query(SQL, &[]).await {
        // No schema yet, or one whose history the serving role may not read.
        Err(error)
            if matches!(
                error.code(),
                Some(&SqlState::UNDEFINED_TABLE | &SqlState::INSUFFICIENT_PRIVILEGE)
            ) =>
        {
            Vec::new()
        }
        other => other?,
    };
    for row in rows {
        let (version, name): (i32, String) = (row.try_get(0)?, row.try_get(1)?);
        missing.retain(|step| step.version != version.unsigned_abs() || step.name != name);
    }
    Ok(missing.into_iter().map(|step| format!("V{} {}", step.version, step.name)).collect())
}
