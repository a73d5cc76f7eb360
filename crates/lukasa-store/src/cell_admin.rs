//! The list of cells and the map, as the owner of the databases changes them. Commands use this;
//! servers only read the map, see `cells.rs`.

use std::time::Duration;

use lukasa_core::placement::{Holding, MAIN_CELL, Placement};
use lukasa_core::{TenantId, Timestamp};
use tokio_postgres::{Client, Transaction};
use uuid::Uuid;

use crate::ConnectOptions;
use crate::cells::{placed_range, placement_of};
use crate::error::{Error, Result};
use crate::migrate::{owner, pending, require_session};
use crate::row::{Columns, all};

/// An arbitrary advisory lock key of the directory, held by a command that changes cells.
pub(crate) const LOCK: i64 = 0x6c75_6b61_7361_6365;

/// The publication of the directory's small tables, and the subscription of each cell to it.
const GLOBAL: &str = "lukasa_global";

/// Whether a database has a subscription of this name.
const SUBSCRIBED: &str = "select 1 from pg_subscription s \
                          join pg_database d on d.oid = s.subdbid \
                          where s.subname = $1 and d.datname = current_database()";

/// The tables that every cell has a copy of.
pub const GLOBAL_TABLES: &[&str] =
    &["tenant", "domain", "tenant_policy", "webhook", "embedding_model"];

/// A cell and how to reach it.
#[derive(Debug, Clone)]
pub struct CellAddress {
    pub name: String,
    pub connect: ConnectOptions,
    /// Since when deleted rows of users who were moved away may be in its files.
    pub moved_from_at: Option<Timestamp>,
}

/// The cells of a deployment, main first. It is read before migrations are applied, so it can use only
/// the columns that the oldest supported schema with cells has.
pub async fn list(directory: &ConnectOptions) -> Result<Vec<CellAddress>> {
    const SQL: &str = "select name, url, moved_from_at from cell order by name";
    const MAIN: &str = "select moved_from_at from placement_state";
    let mut client = owner(directory).await?;
    if !has_cells(&client).await? {
        let (name, connect) = (MAIN_CELL.to_owned(), directory.clone());
        return Ok(vec![CellAddress { name, connect, moved_from_at: None }]);
    }
    let transaction = map_transaction(&mut client).await?;
    let main = transaction.query_opt(MAIN, &[]).await?;
    let rows = transaction.query(SQL, &[]).await?;
    let mut cells = vec![CellAddress {
        name: MAIN_CELL.to_owned(),
        connect: directory.clone(),
        moved_from_at: main.map(|row| row.try_get(0)).transpose()?.flatten(),
    }];
    for row in &rows {
        let connect = ConnectOptions { url: row.try_get(1)?, ..directory.clone() };
        cells.push(CellAddress { name: row.try_get(0)?, connect, moved_from_at: row.try_get(2)? });
    }
    Ok(cells)
}

/// Whether the schema has the tables of cells.
async fn has_cells(client: &Client) -> Result<bool> {
    let sql = "select to_regclass('public.placement_state') is not null";
    Ok(client.query_one(sql, &[]).await?.try_get(0)?)
}

/// The map.
pub async fn placement(directory: &ConnectOptions) -> Result<Placement> {
    let mut client = owner(directory).await?;
    if !has_cells(&client).await? {
        return Ok(Placement::single());
    }
    read_placement(&map_transaction(&mut client).await?).await
}

async fn map_transaction(client: &mut Client) -> Result<Transaction<'_>> {
    let transaction = client.transaction().await?;
    transaction.batch_execute("set local app.cells = 'on'").await?;
    Ok(transaction)
}

async fn read_placement(transaction: &Transaction<'_>) -> Result<Placement> {
    const SQL: &str =
        "select tenant_id, first_user, last_user, cell, moving_to, epoch from placement";
    let rows = transaction.query(SQL, &[]).await?;
    placement_of(rows.iter().map(placed_range).collect::<Result<_>>()?)
}

/// The directory, locked against other commands that change cells.
pub struct LockedDirectory {
    client: Client,
}

/// Locks the directory until the value is dropped.
pub async fn lock(directory: &ConnectOptions) -> Result<LockedDirectory> {
    let client = owner(directory).await?;
    require_session(&client).await?;
    // The lock of a command that has just ended is released a moment later.
    for _ in 0..30 {
        let locked = client.query_one("select pg_try_advisory_lock($1)", &[&LOCK]).await?;
        if locked.try_get::<_, bool>(0)? {
            return Ok(LockedDirectory { client });
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let busy = "another command is changing the cells; wait for it to end";
    Err(Error::Configuration(busy.into()))
}

impl LockedDirectory {
    pub async fn placement(&mut self) -> Result<Placement> {
        read_placement(&map_transaction(&mut self.client).await?).await
    }

    /// Replaces the map.
    pub async fn set_placement(&mut self, new: &Placement) -> Result<()> {
        const SQL: &str = "insert into placement (tenant_id, first_user, last_user, cell, \
                           moving_to, epoch) values ($1, $2, $3, $4, $5, $6)";
        let transaction = map_transaction(&mut self.client).await?;
        transaction.batch_execute("delete from placement").await?;
        for placed in new.ranges() {
            let tenant: Option<Uuid> = placed.tenant.map(TenantId::uuid);
            let (range, to) = (placed.range, &placed.moving_to);
            let epoch = placed.epoch;
            transaction
                .execute(SQL, &[&tenant, &range.first, &range.last, &placed.cell, to, &epoch])
                .await?;
        }
        Ok(transaction.commit().await?)
    }

    /// Fails if the session that holds the lock has ended.
    pub async fn check_locked(&self) -> Result<()> {
        Ok(self.client.batch_execute("").await?)
    }

    /// Records that rows of moved users are deleted in a cell, before the first is.
    pub async fn mark_moved_from(&mut self, cell: &str, now: Timestamp) -> Result<()> {
        const MAIN: &str = "update placement_state set moved_from_at = $1";
        const OTHER: &str = "update cell set moved_from_at = $2 where name = $1";
        let transaction = map_transaction(&mut self.client).await?;
        if cell == MAIN_CELL {
            transaction.execute(MAIN, &[&now]).await?;
        } else {
            transaction.execute(OTHER, &[&cell, &now]).await?;
        }
        Ok(transaction.commit().await?)
    }

    /// Records that the files of a cell were rewritten, unless users were moved since it was listed.
    pub async fn clear_moved_from(&mut self, cell: &CellAddress) -> Result<()> {
        const MAIN: &str =
            "update placement_state set moved_from_at = null where moved_from_at = $1";
        const OTHER: &str =
            "update cell set moved_from_at = null where name = $1 and moved_from_at = $2";
        let Some(listed) = cell.moved_from_at else { return Ok(()) };
        let transaction = map_transaction(&mut self.client).await?;
        if cell.name == MAIN_CELL {
            transaction.execute(MAIN, &[&listed]).await?;
        } else {
            transaction.execute(OTHER, &[&cell.name, &listed]).await?;
        }
        Ok(transaction.commit().await?)
    }

    /// Removes a cell from the list whose database was destroyed, and the replication slot that it
    /// has left.
    pub async fn forget(&mut self, name: &str) -> Result<()> {
        const IN_USE: &str = "select 1 from pg_replication_slots where slot_name = $1 and active";
        let slot = slot_of(name);
        if self.client.query_opt(IN_USE, &[&slot]).await?.is_some() {
            let there = "the database of the cell still exists: it follows the directory";
            return Err(Error::Configuration(there.into()));
        }
        drop_slot(&self.client, &slot).await?;
        self.delete(name).await
    }

    async fn delete(&mut self, name: &str) -> Result<()> {
        let transaction = map_transaction(&mut self.client).await?;
        transaction.execute("delete from cell where name = $1", &[&name]).await?;
        Ok(transaction.commit().await?)
    }

    /// Adds a cell that holds nothing yet.
    pub async fn add(
        &mut self,
        directory: &ConnectOptions,
        name: &str,
        connect: &ConnectOptions,
        now: Timestamp,
    ) -> Result<()> {
        const SQL: &str = "insert into cell (name, url, added_at) values ($1, $2, $3)";
        check_new_cell(&self.client, connect).await?;
        replicate_global_tables(&self.client, directory, name, connect).await?;
        apply(connect, &[]).await?;
        let transaction = map_transaction(&mut self.client).await?;
        transaction.execute(SQL, &[&name, &connect.url, &now]).await?;
        Ok(transaction.commit().await?)
    }

    /// Removes a cell from the list, and the replication to it. Its database is left as it is, and
    /// does not have to answer. Can be repeated after it was interrupted.
    pub async fn remove(&mut self, cell: &CellAddress) -> Result<()> {
        if let Err(error) = unsubscribe(&cell.connect).await {
            tracing::warn!(cell = cell.name, %error, "its subscription to the directory is left");
        }
        drop_slot(&self.client, &slot_of(&cell.name)).await?;
        self.delete(&cell.name).await
    }

    /// Sets the URL of a cell, and has it follow the directory's small tables again: after its
    /// address has changed, or after a backup of it or of the directory was restored.
    pub async fn reconnect(
        &mut self,
        directory: &ConnectOptions,
        name: &str,
        connect: &ConnectOptions,
    ) -> Result<()> {
        const SQL: &str = "update cell set url = $2 where name = $1";
        let missing = pending(connect).await?;
        if !missing.is_empty() {
            return Err(Error::Configuration(format!(
                "the cell lacks {} migrations",
                missing.len()
            )));
        }
        unsubscribe(connect).await?;
        drop_slot(&self.client, &slot_of(name)).await?;
        replicate_global_tables(&self.client, directory, name, connect).await?;
        let transaction = map_transaction(&mut self.client).await?;
        transaction.execute(SQL, &[&name, &connect.url]).await?;
        Ok(transaction.commit().await?)
    }
}

/// Ends the subscription of a cell, if it has one. The slot is left.
async fn unsubscribe(connect: &ConnectOptions) -> Result<()> {
    let cell = owner(connect).await?;
    if cell.query_opt(SUBSCRIBED, &[&GLOBAL]).await?.is_some() {
        for step in ["disable", "set (slot_name = none)"] {
            cell.batch_execute(&format!("alter subscription {GLOBAL} {step}")).await?;
        }
        cell.batch_execute(&format!("drop subscription {GLOBAL}")).await?;
    }
    Ok(())
}

/// Drops a replication slot, which would keep the log of the directory for as long as it exists.
async fn drop_slot(directory: &Client, slot: &str) -> Result<()> {
    const END: &str = "select pg_terminate_backend(active_pid) from pg_replication_slots \
                       where slot_name = $1 and active_pid is not null";
    const DROP: &str = "select pg_drop_replication_slot(slot_name) \
                        from pg_replication_slots where slot_name = $1";
    for _ in 0..50 {
        directory.query(END, &[&slot]).await?;
        // The process that sent to the cell ends a moment later.
        if directory.query(DROP, &[&slot]).await.is_ok() {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Err(Error::Configuration(format!("the replication slot {slot} could not be dropped")))
}

/// The replication of the small tables to a cell, as the directory sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplicationState {
    /// Whether the cell is connected.
    pub is_active: bool,
    /// Bytes of the directory's log that are kept for the cell.
    pub kept_bytes: i64,
}

/// The replication to a cell; none if there is no slot for it, or its slot is unusable.
pub async fn replication(
    directory: &ConnectOptions,
    cell: &str,
) -> Result<Option<ReplicationState>> {
    const SQL: &str = "select active, \
                         pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn)::bigint \
                       from pg_replication_slots \
                       where slot_name = $1 and restart_lsn is not null \
                         and wal_status is distinct from 'lost'";
    let row = owner(directory).await?.query_opt(SQL, &[&slot_of(cell)]).await?;
    let state = |row: tokio_postgres::Row| {
        Ok(ReplicationState { is_active: row.try_get(0)?, kept_bytes: row.try_get(1)? })
    };
    row.map(state).transpose()
}

/// The name of the directory's replication slot for a cell.
fn slot_of(cell: &str) -> String {
    format!("lukasa_cell_{cell}")
}

/// The number of users in a cell's database, without those that were deleted.
pub async fn count_users(cell: &ConnectOptions) -> Result<i64> {
    let mut client = owner(cell).await?;
    let transaction = client.transaction().await?;
    transaction.batch_execute("set local app.upkeep = 'on'").await?;
    let sql = "select count(*) from users where deleted_at is null";
    Ok(transaction.query_one(sql, &[]).await?.try_get(0)?)
}

/// Whether a tenant exists.
pub async fn has_tenant(directory: &ConnectOptions, tenant: TenantId) -> Result<bool> {
    let mut client = owner(directory).await?;
    let transaction = client.transaction().await?;
    // Without the right to bypass row-level security this must fail instead of finding nothing.
    transaction.batch_execute("set local row_security = off").await?;
    let sql = "select exists (select 1 from tenant where tenant_id = $1)";
    Ok(transaction.query_one(sql, &[&tenant.uuid()]).await?.try_get(0)?)
}

/// The names of all tenants, in order.
pub async fn tenant_names(directory: &ConnectOptions) -> Result<Vec<String>> {
    // The policy on the table that is not about one tenant, under the role that may read the table.
    const SETTINGS: &str = "set local role lukasa_serve; set local app.rotation = 'on'";
    let mut client = owner(directory).await?;
    let transaction = client.transaction().await?;
    transaction.batch_execute(SETTINGS).await?;
    let rows = transaction.query("select name from tenant order by name", &[]).await?;
    all(&rows, |row| Columns::of(row, "tenant").take())
}

/// Whether a cell holds exactly this.
pub async fn holds(cell: &ConnectOptions, expected: &[Holding]) -> Result<bool> {
    const SQL: &str = "select tenant_id, first_user, last_user, state from holding";
    let client = owner(cell).await?;
    let mut found = Vec::new();
    for row in &client.query(SQL, &[]).await? {
        let tenant: Option<Uuid> = row.try_get(0)?;
        let (first, last): (Uuid, Uuid) = (row.try_get(1)?, row.try_get(2)?);
        found.push((tenant, first, last, row.try_get::<_, String>(3)?));
    }
    let expected = expected.iter().map(|held| {
        let tenant = held.tenant.map(TenantId::uuid);
        (tenant, held.range.first, held.range.last, held.state.as_str().to_owned())
    });
    let mut expected: Vec<_> = expected.collect();
    found.sort();
    expected.sort();
    Ok(found == expected)
}

/// Replaces what a cell holds.
pub async fn apply(cell: &ConnectOptions, holdings: &[Holding]) -> Result<()> {
    const SQL: &str = "insert into holding (tenant_id, first_user, last_user, state, epoch) \
                       values ($1, $2, $3, $4, $5)";
    let mut client = owner(cell).await?;
    let transaction = map_transaction(&mut client).await?;
    transaction.batch_execute("delete from holding").await?;
    for held in holdings {
        let tenant: Option<Uuid> = held.tenant.map(TenantId::uuid);
        let (range, state) = (held.range, held.state.as_str());
        transaction
            .execute(SQL, &[&tenant, &range.first, &range.last, &state, &held.epoch])
            .await?;
    }
    Ok(transaction.commit().await?)
}

/// Refuses a database that cannot be a cell.
async fn check_new_cell(directory: &Client, connect: &ConnectOptions) -> Result<()> {
    const SAME: &str = "select (select system_identifier::text from pg_control_system()) \
                          || ' ' || current_database(), \
                        (select datcollate || coalesce(datlocale, '') || datlocprovider::text \
                           from pg_database where datname = current_database()), \
                        current_setting('server_version_num')::int / 10000";
    let refuse = |why: String| Err(Error::Configuration(why));
    let missing = pending(connect).await?;
    if !missing.is_empty() {
        let how = "run `lukasa migrate` with its URL first";
        return refuse(format!("the new cell lacks {} migrations; {how}", missing.len()));
    }
    let cell = owner(connect).await?;
    let (ours, theirs) = (directory.query_one(SAME, &[]).await?, cell.query_one(SAME, &[]).await?);
    if ours.try_get::<_, String>(0)? == theirs.try_get::<_, String>(0)? {
        return refuse("this is the database of the directory".into());
    }
    for (column, what) in [(1, "locale"), (2, "major version")] {
        let of = |row: &tokio_postgres::Row| match column {
            1 => row.try_get::<_, String>(1),
            _ => row.try_get::<_, i32>(2).map(|version| version.to_string()),
        };
        let (ours, theirs) = (of(&ours)?, of(&theirs)?);
        if ours != theirs {
            return refuse(format!("the cell's {what} is {theirs}, the directory's is {ours}"));
        }
    }
    cell.batch_execute("set row_security = off").await?;
    let used = "select exists (select 1 /* whatever the user_id */ from users)";
    if cell.query_one(used, &[]).await?.try_get::<_, bool>(0)? {
        return refuse("the database has users; a new cell has to be empty".into());
    }
    Ok(())
}

/// Has a cell follow the directory's small tables. Nothing is done if it already does.
async fn replicate_global_tables(
    directory: &Client,
    source: &ConnectOptions,
    name: &str,
    connect: &ConnectOptions,
) -> Result<()> {
    let level = directory.query_one("select current_setting('wal_level')", &[]).await?;
    if level.try_get::<_, String>(0)? != "logical" {
        return Err(Error::Configuration(
            "cells need wal_level = logical in the directory's PostgreSQL: set it and restart"
                .into(),
        ));
    }
    let published =
        directory.query_opt("select 1 from pg_publication where pubname = $1", &[&GLOBAL]).await?;
    if published.is_none() {
        let tables = GLOBAL_TABLES.join(", ");
        directory.batch_execute(&format!("create publication {GLOBAL} for table {tables}")).await?;
    }
    let cell = owner(connect).await?;
    if cell.query_opt(SUBSCRIBED, &[&GLOBAL]).await?.is_some() {
        return Ok(());
    }
    // What the migrations have put into these tables arrives from the directory, too. The rows of
    // users that refer to them stay.
    let deletes = GLOBAL_TABLES.iter().map(|table| format!("delete from {table};"));
    let deletes: String = deletes.collect();
    cell.batch_execute(&format!(
        "begin; set local session_replication_role = replica; set local row_security = off; \
         {deletes} commit"
    ))
    .await?;
    // Made apart from the subscription, which could not make it in a database of the same server.
    let slot = slot_of(name);
    let there = "select 1 from pg_replication_slots where slot_name = $1";
    if directory.query_opt(there, &[&slot]).await?.is_none() {
        // A standby of the directory that synchronises slots has it after a failover.
        let make = "select pg_create_logical_replication_slot($1, 'pgoutput', failover => true)";
        directory.query(make, &[&slot]).await?;
    }
    let url = source.url.replace('\'', "''");
    cell.batch_execute(&format!(
        "create subscription {GLOBAL} connection '{url}' publication {GLOBAL} \
         with (create_slot = false, slot_name = '{slot}', failover = true)"
    ))
    .await?;
    wait_for_copies(&cell).await
}

/// Waits until a cell has its first copy of the small tables: without its tenant a user cannot be
/// in the cell.
async fn wait_for_copies(cell: &Client) -> Result<()> {
    const SQL: &str = "select count(*) from pg_subscription_rel r \
                       join pg_subscription s on s.oid = r.srsubid \
                       where s.subname = $1 and r.srsubstate <> 'r'";
    for _ in 0..600 {
        if cell.query_one(SQL, &[&GLOBAL]).await?.try_get::<_, i64>(0)? == 0 {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let why = "the cell does not receive the directory's tables; see the log of its PostgreSQL";
    Err(Error::Configuration(why.into()))
}
