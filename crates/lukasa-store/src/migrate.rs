//! Migrations: numbered, forward only, each in its own transaction. They run as the login role of
//! the URL, which owns the tables; requests are served by another role.

use crate::ConnectOptions;
use crate::error::{Error, Result};
use crate::pool::with_network_settings;
use crate::tls;

mod embedded {
    refinery::embed_migrations!("migrations");
}

/// One migration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Migration {
    pub version: u32,
    pub name: String,
}

impl From<&refinery::Migration> for Migration {
    fn from(migration: &refinery::Migration) -> Self {
        Self { version: migration.version().unsigned_abs(), name: migration.name().to_owned() }
    }
}

/// The migrations of this build, in order.
pub(crate) fn embedded_migrations() -> Vec<Migration> {
    let runner = embedded::migrations::runner();
    let mut steps: Vec<Migration> = runner.get_migrations().iter().map(Migration::from).collect();
    steps.sort_by_key(|step| step.version);
    steps
}

/// The name and the SQL of every migration, in order.
#[cfg(feature = "testing")]
pub(crate) fn schema() -> String {
    let runner = embedded::migrations::runner();
    let mut steps: Vec<_> = runner.get_migrations().iter().collect();
    steps.sort_by_key(|step| step.version());
    let mut texts = String::new();
    for step in steps {
        texts.push_str(&step.to_string());
        texts.push_str(step.sql().unwrap_or_default());
    }
    texts
}

/// An arbitrary advisory lock key used only by migrations, so that two servers starting at once run
/// them one after the other.
pub(crate) const LOCK: i64 = 0x6c75_6b61_7361_5f6d;

/// Applies the pending migrations and returns them.
pub async fn migrate(connect: &ConnectOptions) -> Result<Vec<Migration>> {
    let mut client = owner(connect).await?;
    client.execute("select pg_advisory_lock($1)", &[&LOCK]).await?;
    let report = embedded::migrations::runner().set_grouped(false).run_async(&mut client).await?;
    Ok(report.applied_migrations().iter().map(Migration::from).collect())
}

/// The migrations that the schema still lacks.
pub async fn pending(connect: &ConnectOptions) -> Result<Vec<Migration>> {
    let mut client = owner(connect).await?;
    let mut runner = embedded::migrations::runner();
    let all = runner.get_migrations().clone();
    let tables = client
        .query("select 1 from pg_tables where tablename = 'refinery_schema_history'", &[])
        .await?;
    if tables.is_empty() {
        return Ok(all.iter().map(Migration::from).collect());
    }
    runner = runner.set_abort_divergent(true);
    let done = runner.get_applied_migrations_async(&mut client).await?;
    let missing = |m: &&refinery::Migration| done.iter().all(|d| d.version() != m.version());
    Ok(all.iter().filter(missing).map(Migration::from).collect())
}

/// A connection as the login role of the URL.
pub(crate) async fn owner(connect: &ConnectOptions) -> Result<tokio_postgres::Client> {
    let config: tokio_postgres::Config =
        connect.url.parse().map_err(|e| Error::Configuration(format!("DATABASE_URL: {e}")))?;
    let tls = tls::connector(connect.ca_file.as_deref())?;
    let (client, connection) = with_network_settings(config).connect(tls).await?;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "migration connection ended");
        }
    });
    Ok(client)
}
