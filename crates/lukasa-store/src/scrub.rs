//! Scrubbing: removes erased data from the database's files.
//!
//! A deleted row stays in its table's file until the space is reused, likewise in its indexes, in
//! the planner's samples of columns, and in the write-ahead log. So tables are rewritten, the
//! samples are taken again, and the log is switched until every log file that existed when the
//! rewriting ended is gone. This needs an owner's rights, so it uses its own connection; and each
//! table is locked while it is rewritten, so it should run at a quiet time.
//!
//! Only tables that can hold erased data are rewritten, and of those only the ones in which a row
//! was updated or deleted since they were last rewritten: in the others every row in the file is a
//! row of the table. PostgreSQL cannot clean single pages, so a table is rewritten whole.

use std::time::{Duration, Instant};

use lukasa_core::Timestamp;
use tokio_postgres::Client;
use tokio_postgres::error::SqlState;
use uuid::Uuid;

use crate::ConnectOptions;
use crate::error::{Error, Result};
use crate::migrate::{owner, require_session};

/// An arbitrary advisory lock key used only by scrubs, so that one runs at a time.
pub(crate) const LOCK: i64 = 0x6c75_6b61_7361_7363;
/// How long a table's writers are kept waiting before the scrub gives up the lock and retries.
const LOCK_WAIT: &str = "2s";
const MAX_TRIES: u32 = 60;
/// How many rounds of log switching are tried before reporting that something holds the log.
const MAX_LOG_ROUNDS: u32 = 12;

/// Result of a scrub.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScrubReport {
    /// Erasures whose rows are no longer in any file.
    pub erasures: usize,
    pub tables: usize,
    /// Bytes of the tables with their indexes, before and after.
    pub bytes_before: i64,
    pub bytes_after: i64,
    /// Files of the write-ahead log that were removed.
    pub log_files: usize,
}

impl ScrubReport {
    /// The sum of the scrubs of two cells.
    #[must_use]
    pub fn plus(self, other: &Self) -> Self {
        Self {
            erasures: self.erasures + other.erasures,
            tables: self.tables + other.tables,
            bytes_before: self.bytes_before + other.bytes_before,
            bytes_after: self.bytes_after + other.bytes_after,
            log_files: self.log_files + other.log_files,
        }
    }
}

/// Progress of a scrub, for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScrubProgress {
    Waiting,
    Table { name: String, number: usize, of: usize },
    Log { left: usize },
}

/// The privileges the login role lacks for a scrub, as text; empty if it has all.
pub async fn lacking_rights(connect: &ConnectOptions) -> Result<Vec<String>> {
    lacking(&owner(connect).await?).await
}

async fn lacking(client: &Client) -> Result<Vec<String>> {
    const SQL: &str = "select \
        (select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace \
          where c.relkind = 'r' and n.nspname = current_schema() \
            and not has_table_privilege(c.oid, 'MAINTAIN')) = 0, \
        pg_has_role((select datdba from pg_database where datname = current_database()), 'USAGE'), \
        pg_has_role('pg_checkpoint', 'USAGE'), \
        has_function_privilege('pg_switch_wal()', 'EXECUTE') \
          and has_function_privilege('pg_ls_waldir()', 'EXECUTE'), \
        current_setting('wal_recycle') = 'off' \
          or has_parameter_privilege('wal_recycle', 'ALTER SYSTEM') \
             and has_function_privilege('pg_reload_conf()', 'EXECUTE')";
    let row = client.query_one(SQL, &[]).await?;
    let needed = [
        "to own the tables (run it as the role that migrates)",
        "to own the database",
        "the role pg_checkpoint",
        "to execute pg_switch_wal() and pg_ls_waldir()",
        "to switch wal_recycle off (ALTER SYSTEM, and pg_reload_conf()), or that it is off",
    ];
    let mut missing = Vec::new();
    for (place, what) in needed.into_iter().enumerate() {
        if !row.try_get::<_, bool>(place)? {
            missing.push(what.to_owned());
        }
    }
    Ok(missing)
}

/// How many finished erasures have not been scrubbed yet.
pub async fn pending(connect: &ConnectOptions) -> Result<usize> {
    Ok(unscrubbed(connect).await?.ids.len())
}

/// Scrubs the files after these erasures, and marks them. Without any it does nothing, unless
/// `always`.
pub async fn scrub(
    connect: &ConnectOptions,
    erasures: &UnscrubbedErasures,
    now: Timestamp,
    always: bool,
    tell: impl Fn(ScrubProgress) + Send + Sync,
) -> Result<ScrubReport> {
    let mut client = owner(connect).await?;
    let UnscrubbedErasures { users, ids, whole_users } = erasures;
    if ids.is_empty() && !always {
        return Ok(ScrubReport::default());
    }
    let which = match (always, *whole_users) {
        (true, _) => TableSelection::All,
        (false, true) => TableSelection::Changed,
        (false, false) => TableSelection::ChangedContent,
    };
    let scrubbed = rewrite_tables(&mut client, which, now, &tell).await?;
    mark(&mut client, users, ids, now).await?;
    Ok(ScrubReport { erasures: ids.len(), ..scrubbed })
}

/// Rewrites the files in which a row was deleted since they were last rewritten, and marks nothing.
pub async fn rewrite_files(
    connect: &ConnectOptions,
    now: Timestamp,
    tell: impl Fn(ScrubProgress) + Send + Sync,
) -> Result<ScrubReport> {
    rewrite_tables(&mut owner(connect).await?, TableSelection::Changed, now, &tell).await
}

async fn rewrite_tables(
    client: &mut Client,
    which: TableSelection,
    now: Timestamp,
    tell: &(impl Fn(ScrubProgress) + Send + Sync),
) -> Result<ScrubReport> {
    let missing = lacking(client).await?;
    if !missing.is_empty() {
        let what = missing.join("; ");
        return Err(Error::Configuration(format!("scrubbing needs {what}")));
    }
    require_session(client).await?;
    let locked = client.query_one("select pg_try_advisory_lock($1)", &[&LOCK]).await?;
    if !locked.try_get::<_, bool>(0)? {
        return Err(Error::Configuration("another scrub is under way".into()));
    }
    tell(ScrubProgress::Waiting);
    wait_for_old_transactions(client).await?;
    let tables = affected(client, which).await?;
    Ok(ScrubReport {
        erasures: 0,
        tables: tables.len(),
        bytes_before: tables.iter().map(|table| table.bytes).sum(),
        bytes_after: rewrite(client, &tables, now, tell).await?,
        log_files: replace_log_files(client, tell).await?,
    })
}

/// Finished erasures whose data may still be in the files.
#[derive(Debug, Default)]
pub struct UnscrubbedErasures {
    users: Vec<Uuid>,
    ids: Vec<Uuid>,
    /// Whether one of them is of a whole user, not of a fact, a turn or an observation.
    pub whole_users: bool,
}

/// Lists the finished erasures whose data may still be in the files.
pub async fn unscrubbed(connect: &ConnectOptions) -> Result<UnscrubbedErasures> {
    const SQL: &str = "select user_id, erasure_id, \
                       fact_id is null and turn_id is null and observation_id is null from erasure \
                       where scrubbed_at is null and finished_at is not null";
    let mut client = owner(connect).await?;
    let transaction = client.transaction().await?;
    transaction.batch_execute("set local app.scrub = 'on'").await?;
    let rows = transaction.query(SQL, &[]).await?;
    transaction.rollback().await?;
    let mut found = UnscrubbedErasures::default();
    for row in &rows {
        found.users.push(row.try_get(0)?);
        found.ids.push(row.try_get(1)?);
        found.whole_users |= row.try_get::<_, bool>(2)?;
    }
    Ok(found)
}

async fn mark(client: &mut Client, users: &[Uuid], ids: &[Uuid], now: Timestamp) -> Result<()> {
    const SQL: &str = "update erasure set scrubbed_at = $1 from unnest($2::uuid[], $3::uuid[]) \
                       as done (user_id, erasure_id) where erasure.user_id = done.user_id \
                         and erasure.erasure_id = done.erasure_id";
    let transaction = client.transaction().await?;
    transaction.batch_execute("set local app.scrub = 'on'").await?;
    transaction.execute(SQL, &[&now, &users, &ids]).await?;
    Ok(transaction.commit().await?)
}

/// Waits until no transaction can still see the erased rows: rewriting a table keeps rows that some
/// transaction can see.
async fn wait_for_old_transactions(client: &Client) -> Result<()> {
    const OLDEST: &str = "select who from ( \
          select backend_xmin as seen, 'the connection with process id ' || pid as who \
            from pg_stat_activity where pid <> pg_backend_pid() \
              and (datname is null or datname = current_database()) \
          union all select xmin, 'the replication slot ' || slot_name from pg_replication_slots \
          union all select transaction, 'the prepared transaction ' || gid from pg_prepared_xacts \
             where database = current_database()) holding \
        where seen is not null and age(seen) > age($1::text::xid) order by age(seen) desc limit 1";
    let row = client.query_one("select pg_current_xact_id()::xid::text", &[]).await?;
    let mine: String = row.try_get(0)?;
    let started = Instant::now();
    loop {
        let Some(row) = client.query_opt(OLDEST, &[&mine]).await? else { return Ok(()) };
        if started.elapsed() > Duration::from_secs(120) {
            let who: String = row.try_get(0)?;
            return Err(Error::Configuration(format!(
                "{who} can still see erased rows; end it and scrub again"
            )));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Which tables are rewritten.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TableSelection {
    All,
    /// Tables in which a row was updated or deleted since the last scrub.
    Changed,
    /// Of those, the ones that can hold content of a fact, a turn or an observation.
    ChangedContent,
}

/// Tables with a column `user_id` that hold no content of facts or turns.
const WITHOUT_CONTENT: &[&str] = &[
    "calibration",
    "credential",
    "delivery",
    "erasure",
    "job",
    "model_call",
    "user_domain",
    "user_policy",
    "users",
    "webhook_mark",
];

struct Table {
    name: String,
    bytes: i64,
    /// Rows updated and deleted, as counted by PostgreSQL since its statistics were reset.
    changes: i64,
}

/// How long a connection may delay reporting its statistics.
const COUNTS_DELAY: Duration = Duration::from_secs(11);

async fn affected(client: &mut Client, which: TableSelection) -> Result<Vec<Table>> {
    if which != TableSelection::All {
        tokio::time::sleep(COUNTS_DELAY).await;
    }
    // The largest last.
    const TABLES: &str = "select c.relname::text, pg_total_relation_size(c.oid), \
            coalesce(pg_stat_get_tuples_updated(c.oid) + pg_stat_get_tuples_deleted(c.oid), 0), \
            s.changes \
          from pg_class c join pg_namespace n on n.oid = c.relnamespace \
          left join scrubbed_table s on s.name = c.relname \
         where c.relkind = 'r' and n.nspname = current_schema() \
           and exists (select 1 from pg_attribute a where a.attrelid = c.oid \
             and a.attname = 'user_id' and not a.attisdropped) \
         order by 2, 1";
    let transaction = client.transaction().await?;
    transaction.batch_execute("set local app.scrub = 'on'").await?;
    let rows = transaction.query(TABLES, &[]).await?;
    transaction.rollback().await?;
    let mut tables = Vec::new();
    for row in &rows {
        let table =
            Table { name: row.try_get(0)?, bytes: row.try_get(1)?, changes: row.try_get(2)? };
        // A reset of the statistics lowers the count, so it differs too.
        let is_changed = row.try_get::<_, Option<i64>>(3)? != Some(table.changes);
        let has_content = !WITHOUT_CONTENT.contains(&table.name.as_str());
        if match which {
            TableSelection::All => true,
            TableSelection::Changed => is_changed,
            TableSelection::ChangedContent => is_changed && has_content,
        } {
            tables.push(table);
        }
    }
    Ok(tables)
}

/// Rewrites tables; returns their total size in bytes afterwards.
async fn rewrite(
    client: &mut Client,
    tables: &[Table],
    now: Timestamp,
    tell: &(impl Fn(ScrubProgress) + Sync),
) -> Result<i64> {
    // For an empty table no new samples would be taken and the old ones would stay.
    const FORGET: &str = "select pg_clear_attribute_stats(current_schema(), $1::text, attname, false) \
        from pg_attribute where attrelid = $1::text::regclass and attnum > 0 and not attisdropped";
    client.batch_execute(&format!("set lock_timeout = '{LOCK_WAIT}'")).await?;
    let mut bytes = 0;
    for (number, table) in tables.iter().enumerate() {
        let name = &table.name;
        tell(ScrubProgress::Table { name: name.clone(), number: number + 1, of: tables.len() });
        let quoted = name.replace('"', "\"\"");
        run_with_lock_retries(client, &format!("vacuum (full) \"{quoted}\"")).await?;
        client.query(FORGET, &[name]).await?;
        run_with_lock_retries(client, &format!("vacuum (analyze) \"{quoted}\"")).await?;
        let size = "select pg_total_relation_size($1::text::regclass)";
        bytes += client.query_one(size, &[name]).await?.try_get::<_, i64>(0)?;
        record_rewrite(client, table, now).await?;
    }
    // The samples are in a table too, whose file still contains the old ones.
    run_with_lock_retries(client, "vacuum (full) pg_catalog.pg_statistic").await?;
    Ok(bytes)
}

/// Stores the change count that a table had before it was rewritten. Later changes may be in the
/// new file.
async fn record_rewrite(client: &mut Client, table: &Table, now: Timestamp) -> Result<()> {
    const SQL: &str = "insert into scrubbed_table (name, changes, scrubbed_at) values ($1, $2, $3) \
                       on conflict (name) do update set changes = $2, scrubbed_at = $3";
    let transaction = client.transaction().await?;
    transaction.batch_execute("set local app.scrub = 'on'").await?;
    transaction.execute(SQL, &[&table.name, &table.changes, &now]).await?;
    Ok(transaction.commit().await?)
}

/// Runs a statement that locks a table, retrying whenever the lock is not granted in time.
async fn run_with_lock_retries(client: &Client, sql: &str) -> Result<()> {
    for tried in 1.. {
        match client.batch_execute(sql).await {
            Err(error)
                if tried < MAX_TRIES && error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) =>
            {
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
            other => return Ok(other?),
        }
    }
    Ok(())
}

/// Switches the write-ahead log until none of the files that existed is left. PostgreSQL normally
/// recycles finished files, which keep their content until they are overwritten; so recycling is
/// switched off meanwhile and they are removed instead.
async fn replace_log_files(
    client: &Client,
    tell: &(impl Fn(ScrubProgress) + Sync),
) -> Result<usize> {
    const SETTING: &str = "select setting, sourcefile like '%auto.conf' from pg_settings \
                            where name = 'wal_recycle'";
    let setting = client.query_one(SETTING, &[]).await?;
    let recycles = setting.try_get::<_, &str>(0)? == "on";
    let by_command = setting.try_get::<_, Option<bool>>(1)? == Some(true);
    if recycles {
        client.batch_execute("alter system set wal_recycle = off").await?;
        client.batch_execute("select pg_reload_conf()").await?;
        // The checkpointer process reads the new setting a moment later.
        tokio::time::sleep(Duration::from_millis(500)).await;
    }
    let switched = switch_log_files(client, tell).await;
    if recycles {
        let back = if by_command { "set wal_recycle = on" } else { "reset wal_recycle" };
        client.batch_execute(&format!("alter system {back}")).await?;
        client.batch_execute("select pg_reload_conf()").await?;
    }
    switched
}

async fn switch_log_files(
    client: &Client,
    tell: &(impl Fn(ScrubProgress) + Sync),
) -> Result<usize> {
    const FILES: &str = "select name::text from pg_ls_waldir() where name ~ '^[0-9A-F]{24}$'";
    let names = async || -> Result<Vec<String>> {
        client.query(FILES, &[]).await?.iter().map(|row| Ok(row.try_get(0)?)).collect()
    };
    let old = names().await?;
    let mut left = old.len();
    for _ in 0..MAX_LOG_ROUNDS {
        tell(ScrubProgress::Log { left });
        // One more than there are, so that the last of them is finished as well. A switch does
        // nothing unless something was written into the file.
        for _ in 0..=left {
            client.batch_execute("select pg_logical_emit_message(true, 'lukasa', 'scrub')").await?;
            client.batch_execute("select pg_switch_wal()").await?;
        }
        client.batch_execute("checkpoint").await?;
        let now = names().await?;
        left = old.iter().filter(|name| now.contains(name)).count();
        if left == 0 {
            return Ok(old.len());
        }
    }
    Err(Error::Configuration(format!(
        "{left} files of the write-ahead log cannot be removed: they are held by a replication \
         slot or by wal_keep_size, or they could not be archived"
    )))
}
