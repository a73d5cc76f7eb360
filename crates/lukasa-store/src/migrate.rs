//! Migrations: numbered, forward only, each in its own transaction, except those whose first line says
//! otherwise. They run as the login role of the URL, which owns the tables; requests are served by
//! another role. A database whose history has other migrations than this build is refused.

use std::time::Duration;

use refinery::Target;
use tokio_postgres::error::SqlState;

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
fn embedded_steps() -> Vec<refinery::Migration> {
    let mut steps = embedded::migrations::runner().get_migrations().clone();
    steps.sort_by_key(refinery::Migration::version);
    steps
}

/// A row of the history that refinery keeps of the migrations of a database.
struct AppliedStep {
    version: i32,
    name: String,
    checksum: String,
}

/// The history of a database, in order. Empty if it has no schema, or a schema whose history the role may not read.
async fn history(client: &tokio_postgres::Client) -> Result<Vec<AppliedStep>> {
    const SQL: &str =
        "select version, name, checksum from refinery_schema_history order by version";
    let rows = match client.query(SQL, &[]).await {
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
    let step = |row: &tokio_postgres::Row| {
        Ok(AppliedStep {
            version: row.try_get(0)?,
            name: row.try_get(1)?,
            checksum: row.try_get(2)?,
        })
    };
    rows.iter().map(step).collect()
}

/// The steps that a history lacks, in order; a newer history lacks none. Refuses a history in which a number
/// means another step: the migrations of development versions were numbered differently.
fn missing_steps(history: &[AppliedStep], steps: &[refinery::Migration]) -> Result<Vec<Migration>> {
    let mut missing = Vec::new();
    for step in steps {
        let Some(done) = history.iter().find(|done| done.version == step.version()) else {
            missing.push(Migration::from(step));
            continue;
        };
        if done.name != step.name() || done.checksum != step.checksum().to_string() {
            return Err(Error::SchemaRefused(format!(
                "the database has the schema of a development version, which cannot be migrated: its migration \
                 V{} {} is not the one of this program; export each user with the program that made it \
                 (`lukasa export`), and import the files into a new database (`lukasa import --trust`)",
                done.version, done.name
            )));
        }
    }
    Ok(missing)
}

/// The migrations of this build that a database lacks.
pub(crate) async fn missing_migrations(client: &tokio_postgres::Client) -> Result<Vec<Migration>> {
    missing_steps(&history(client).await?, &embedded_steps())
}

/// Refuses a history that the steps cannot continue.
fn check_history(history: &[AppliedStep], steps: &[refinery::Migration]) -> Result<()> {
    missing_steps(history, steps)?;
    let is_unknown = |done: &&AppliedStep| steps.iter().all(|step| step.version() != done.version);
    match history.iter().find(is_unknown) {
        None => Ok(()),
        Some(done) => Err(Error::SchemaRefused(format!(
            "the database has the schema of a newer version: this program does not know its migration V{} {}; \
             migrate it with the newer program",
            done.version, done.name
        ))),
    }
}

/// The name and the SQL of every migration, in order.
#[cfg(feature = "testing")]
pub(crate) fn schema() -> String {
    let mut texts = String::new();
    for step in embedded_steps() {
        texts.push_str(&step.to_string());
        texts.push_str(step.sql().unwrap_or_default());
    }
    texts
}

/// An arbitrary advisory lock key used only by migrations, so that two servers starting at once run
/// them one after the other.
pub(crate) const LOCK: i64 = 0x6c75_6b61_7361_5f6d;

/// How a migration waits for a lock on a table.
#[derive(Debug, Clone, Copy)]
pub struct LockWait {
    /// How long one attempt waits. Requests wait behind it, for at most as long. It does not limit how long
    /// the lock is then held: the rules for that are in CONTRIBUTING.md.
    pub timeout: Duration,
    pub attempts: u32,
    /// Between two attempts, in which the requests that waited are answered.
    pub pause: Duration,
}

impl LockWait {
    pub const DEFAULT: Self =
        Self { timeout: Duration::from_secs(2), attempts: 10, pause: Duration::from_secs(3) };
}

/// The first line of a migration that is run statement by statement, without a transaction, as
/// `create index concurrently` requires. Repeating it from its beginning has to be possible.
const OUTSIDE_TRANSACTION: &str = "-- outside a transaction";

/// Applies the pending migrations and returns them. If one fails or gets no lock, nothing of it
/// remains, and those before it stay: the next call continues with it. A lock is waited for several times, with
/// pauses in which requests are answered.
pub async fn migrate(connect: &ConnectOptions) -> Result<Vec<Migration>> {
    apply(connect, embedded_steps(), LockWait::DEFAULT).await
}

async fn apply(
    connect: &ConnectOptions,
    mut steps: Vec<refinery::Migration>,
    wait: LockWait,
) -> Result<Vec<Migration>> {
    steps.sort_by_key(refinery::Migration::version);
    let mut client = owner(connect).await?;
    take_turn(&client).await?;
    check_history(&history(&client).await?, &steps)?;
    let is_outside = |step: &refinery::Migration| {
        step.sql().unwrap_or_default().starts_with(OUTSIDE_TRANSACTION)
    };
    let runner = |target| refinery::Runner::new(&steps).set_grouped(false).set_target(target);
    let mut applied = Vec::new();
    for group in steps.chunk_by(|a, b| !is_outside(a) && !is_outside(b)) {
        let Some(last) = group.last() else { continue };
        // Not before the advisory lock: another server's migrations may take longer.
        let timeout = if is_outside(last) { 0 } else { wait.timeout.as_millis() };
        client.batch_execute(&format!("set lock_timeout = {timeout}")).await?;
        if !is_outside(last) {
            let mut attempts = 1..wait.attempts;
            loop {
                let run = runner(Target::Version(last.version())).run_async(&mut client).await;
                let report = run.as_ref().map_or_else(refinery::Error::report, Some);
                let done = report.map(|report| report.applied_migrations().as_slice());
                applied.extend(done.unwrap_or_default().iter().map(Migration::from));
                let Err(error) = run else { break };
                let left = attempts.next().filter(|_| is_lock_timeout(&error));
                if left.is_none() {
                    return Err(error.into());
                }
                tracing::warn!(%error, "a migration got no lock; it is tried again");
                tokio::time::sleep(wait.pause).await;
            }
        } else if !is_applied(&client, last).await? {
            // One statement at a time: several in one request would be one transaction.
            for statement in last.sql().unwrap_or_default().split(";\n") {
                client.batch_execute(statement).await?;
            }
            runner(Target::FakeVersion(last.version())).run_async(&mut client).await?;
            applied.push(Migration::from(last));
        }
    }
    Ok(applied)
}

/// Whether a migration failed because it waited too long for a lock.
fn is_lock_timeout(error: &refinery::Error) -> bool {
    let cause = std::error::Error::source(error);
    let cause = cause.and_then(|cause| cause.downcast_ref::<tokio_postgres::Error>());
    cause.and_then(tokio_postgres::Error::code) == Some(&SqlState::LOCK_NOT_AVAILABLE)
}

/// Waits until no other session migrates. A session that waited inside a statement would have a snapshot,
/// which `create index concurrently` of the other one waits for in turn.
async fn take_turn(client: &tokio_postgres::Client) -> Result<()> {
    const SQL: &str = "select pg_try_advisory_lock($1)";
    const RETRY_INTERVAL: Duration = Duration::from_millis(50);
    require_session(client).await?;
    while !client.query_one(SQL, &[&LOCK]).await?.try_get::<_, bool>(0)? {
        tokio::time::sleep(RETRY_INTERVAL).await;
    }
    Ok(())
}

/// Refuses a connection through a pooler that gives each transaction another session: the locks of a session
/// would stay with the pooler.
pub(crate) async fn require_session(client: &tokio_postgres::Client) -> Result<()> {
    // This statement itself is prepared, under the name that PgBouncer gives it.
    const SQL: &str =
        "select exists (select from pg_prepared_statements where name like 'PGBOUNCER\\_%')";
    let is_pooled = client.query_one(SQL, &[]).await?.try_get(0)?;
    if is_pooled { Err(Error::PooledSession) } else { Ok(()) }
}

async fn is_applied(client: &tokio_postgres::Client, step: &refinery::Migration) -> Result<bool> {
    const SQL: &str = "select 1 from refinery_schema_history where version = $1";
    Ok(!client.query(SQL, &[&step.version()]).await?.is_empty())
}

/// Applies further migrations after those of this build, each with its file's name and its SQL.
#[cfg(feature = "testing")]
pub(crate) async fn migrate_further(
    connect: &ConnectOptions,
    further: &[(&str, &str)],
    wait: LockWait,
) -> Result<Vec<Migration>> {
    let mut steps = embedded_steps();
    for (name, sql) in further {
        steps.push(refinery::Migration::unapplied(name, sql)?);
    }
    apply(connect, steps, wait).await
}

/// The migrations that the schema still lacks.
pub async fn pending(connect: &ConnectOptions) -> Result<Vec<Migration>> {
    missing_migrations(&owner(connect).await?).await
}

/// How long a server may take to accept a connection, which is longer than a connection attempt of
/// the network takes.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection as the login role of the URL.
pub(crate) async fn owner(connect: &ConnectOptions) -> Result<tokio_postgres::Client> {
    let config: tokio_postgres::Config =
        connect.url.parse().map_err(|e| Error::Configuration(format!("DATABASE_URL: {e}")))?;
    let tls = tls::connector(connect.ca_file.as_deref())?;
    let config = with_network_settings(config);
    let connected = tokio::time::timeout(CONNECT_TIMEOUT, config.connect(tls)).await;
    let no_answer = |_| Error::Unavailable("the database does not answer".into());
    let (client, connection) = connected.map_err(no_answer)??;
    tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "migration connection ended");
        }
    });
    Ok(client)
}
