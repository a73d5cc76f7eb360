//! Moves users from one cell to another, as the owner of both databases.
//!
//! While a range moves, its source holds the users who have a row in `users` there, and its target
//! the others. One user is moved under the user's own lock, so that a write of that user waits and
//! then finds the user in the target. The target's transaction is committed first: if the command
//! ends between the two commits, the source still holds the user, and the copy is removed before the
//! move is continued or reversed.
//!
//! A transaction of the mover locks the row of `holding` that it relies on, in both cells. So a
//! command that has lost its lock of the directory cannot go on after another one has begun.

use std::time::{Duration, Instant};

use futures_util::{SinkExt as _, StreamExt as _, TryStreamExt as _, pin_mut, stream};
use lukasa_core::placement::{PlacedRange, Placement};
use lukasa_core::{TenantId, Timestamp, UserId};
use tokio_postgres::{Client, Transaction};
use uuid::Uuid;

use crate::ConnectOptions;
use crate::cell_admin::{self, CellAddress, LockedDirectory, apply};
use crate::error::{Error, Result};
use crate::migrate::{self, owner};
use crate::scope::lock_of;
use crate::scrub;
use crate::tables::USER_TABLES;

/// How many users are moved at a time.
const PARALLEL: usize = 4;
/// How many users are listed at a time.
const PAGE_SIZE: i64 = 200;
/// How many users are compared at a time when copies are looked for.
const COPIES_PAGE_SIZE: i64 = 5_000;
/// How long running writes of the range are waited for.
const WRITERS_TIMEOUT: Duration = Duration::from_secs(60);

/// The settings of a transaction of the mover: it sees all rows, fires no trigger, prints values in
/// one form, and ends when the command does. The source is deleted after the commit of the target,
/// so that commit waits for the disk, and for a synchronous standby.
const SETTINGS: &str = "set local row_security = off; set local session_replication_role = replica; \
    set local timezone = 'UTC'; set local datestyle = 'ISO'; set local extra_float_digits = 3; \
    set local bytea_output = 'hex'; set local intervalstyle = 'iso_8601'; \
    set local lock_timeout = '30s'; set local idle_in_transaction_session_timeout = '60s'; \
    set local synchronous_commit = on";

/// Tables whose rows may belong to a user without a row in `users`: records of what was shown
/// before the user's first write. They are not moved.
const WITHOUT_USER: &[&str] = &[
    "retrieval",
    "usage",
    "given_baseline",
    "baseline",
    "response",
    "model_call",
    "recall_state",
    "idempotency",
];

/// A step of a move, for tests that plant a fault.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MoveFault {
    #[default]
    None,
    /// Writes that began before the range was leaving are not waited for.
    NoWait,
    /// The rows of one table are neither copied nor compared.
    SkippedTable(&'static str),
    /// The command ends between the two commits of a user.
    EndsBetweenCommits,
}

/// How users are moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoveOptions {
    /// How long the writes of one user may wait. A user who cannot be copied in this time is left in
    /// the source, and the move is interrupted.
    pub max_pause: Duration,
    pub fault: MoveFault,
}

impl Default for MoveOptions {
    fn default() -> Self {
        Self { max_pause: Duration::from_secs(5), fault: MoveFault::None }
    }
}

/// Progress of a move, for display.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoveProgress {
    pub moved: usize,
}

/// Starts a move, or continues or reverses one that was interrupted: stores the new map, and has
/// the cells of the move apply their parts. Other cells are not asked, unless their parts differ.
pub async fn begin(
    directory: &mut LockedDirectory,
    cells: &[CellAddress],
    before: &Placement,
    planned: &Placement,
    now: Timestamp,
) -> Result<()> {
    let moving = || planned.ranges().iter().filter(|placed| placed.moving_to.is_some());
    let is_source = |cell: &CellAddress| moving().any(|placed| placed.cell == cell.name);
    let is_target =
        |cell: &CellAddress| moving().any(|placed| placed.moving_to.as_ref() == Some(&cell.name));
    for cell in cells.iter().filter(|cell| is_source(cell) || is_target(cell)) {
        // A copy that is removed from the target is in its files, too.
        directory.mark_moved_from(&cell.name, now).await?;
    }
    for placed in moving() {
        let is_reverse = |was: &&PlacedRange| {
            (was.tenant, was.range) == (placed.tenant, placed.range)
                && was.moving_to.as_ref() == Some(&placed.cell)
        };
        if let Some(was) = before.ranges().iter().find(is_reverse) {
            reverse(cells, before, planned, was).await?;
        }
    }
    // The same users are in the other cells before and after.
    for cell in cells.iter().filter(|cell| !is_source(cell) && !is_target(cell)) {
        let part = planned.holdings(&cell.name);
        if part != before.holdings(&cell.name) {
            apply(&cell.connect, &part).await?;
        }
    }
    directory.set_placement(planned).await?;
    // A source comes last: from then on it sends new users to the target.
    for cell in cells.iter().filter(|cell| is_target(cell) && !is_source(cell)) {
        apply(&cell.connect, &planned.holdings(&cell.name)).await?;
    }
    for cell in cells.iter().filter(|cell| is_source(cell)) {
        apply(&cell.connect, &planned.holdings(&cell.name)).await?;
    }
    Ok(())
}

/// Prepares the reversal of an interrupted move. From then on its target is asked first, so no copy
/// of a user whom the source holds may be left there: it would be served, and then replace the user.
async fn reverse(
    cells: &[CellAddress],
    before: &Placement,
    planned: &Placement,
    was: &PlacedRange,
) -> Result<()> {
    let to = was.moving_to.as_deref().unwrap_or_default();
    let (source, target) = (address(cells, &was.cell)?, address(cells, to)?);
    apply(source, &before.holdings(&was.cell)).await?;
    // The target must stop accepting new users before the source begins. It also waits for the end
    // of transactions of the interrupted command.
    apply(target, &planned.holdings(to)).await?;
    remove_copies(source, target, &MovingRange::new(before, was)).await
}

fn address<'c>(cells: &'c [CellAddress], name: &str) -> Result<&'c ConnectOptions> {
    let unknown = || Error::Configuration(format!("there is no cell called {name}"));
    cells.iter().find(|cell| cell.name == name).map(|cell| &cell.connect).ok_or_else(unknown)
}

/// Moves the users of a range that [`begin`] has set moving, and finishes the move.
pub async fn finish(
    directory: &mut LockedDirectory,
    cells: &[CellAddress],
    moving: &PlacedRange,
    options: MoveOptions,
    tell: impl Fn(MoveProgress) + Send + Sync,
) -> Result<MoveProgress> {
    let placement = directory.placement().await?;
    let to = moving.moving_to.as_deref().unwrap_or_default();
    let (source, target) = (address(cells, &moving.cell)?, address(cells, to)?);
    let range = MovingRange::new(&placement, moving);
    let moved = move_users(directory, (source, target), range, options, tell).await?;
    let done = placement.finish_move(moving);
    apply(target, &done.holdings(to)).await?;
    directory.set_placement(&done).await?;
    apply(source, &done.holdings(&moving.cell)).await?;
    Ok(moved)
}

/// The users of a move.
struct MovingRange {
    tenant: Option<Uuid>,
    first: Uuid,
    last: Uuid,
    epoch: i64,
    /// The tenants whose users are not moved, because they have ranges of their own.
    pinned: Vec<Uuid>,
}

impl MovingRange {
    fn new(placement: &Placement, moving: &PlacedRange) -> Self {
        let pinned = match moving.tenant {
            Some(_) => Vec::new(),
            None => placement.pinned_tenants().map(TenantId::uuid).collect(),
        };
        Self {
            tenant: moving.tenant.map(TenantId::uuid),
            first: moving.range.first,
            last: moving.range.last,
            epoch: moving.epoch,
            pinned,
        }
    }
}

/// What the connections that move users share.
struct UserMover {
    range: MovingRange,
    tables: Vec<CopiedTable>,
    options: MoveOptions,
}

async fn move_users(
    directory: &LockedDirectory,
    (source, target): (&ConnectOptions, &ConnectOptions),
    range: MovingRange,
    options: MoveOptions,
    tell: impl Fn(MoveProgress) + Send + Sync,
) -> Result<MoveProgress> {
    let mut list = owner(source).await?;
    check_rights(&mut list).await?;
    check_rights(&mut owner(target).await?).await?;
    if options.fault != MoveFault::NoWait {
        wait_for_writers(&list).await?;
    }
    let mover = UserMover { tables: tables(&list, options.fault).await?, range, options };
    let mut pairs = Vec::new();
    for _ in 0..PARALLEL {
        pairs.push((owner(source).await?, owner(target).await?));
    }
    let mut progress = MoveProgress { moved: 0 };
    loop {
        directory.check_locked().await?;
        let users = page(&mut list, &mover.range, mover.range.first, PAGE_SIZE).await?;
        if users.is_empty() {
            break;
        }
        let count = pairs.len();
        let mut shares: Vec<Vec<UserId>> = vec![Vec::new(); count];
        for (place, user) in users.iter().enumerate() {
            shares[place % count].push(*user);
        }
        let mover = &mover;
        let work = pairs.iter_mut().zip(shares).map(|((from, to), share)| async move {
            for user in share {
                mover.move_user(from, to, user).await?;
            }
            Ok::<_, Error>(())
        });
        let done: Vec<Result<()>> =
            stream::iter(work).buffer_unordered(PARALLEL).collect::<Vec<_>>().await;
        done.into_iter().collect::<Result<()>>()?;
        progress.moved += users.len();
        tell(progress);
    }
    check_nothing_left(&mut list, &mover.range).await?;
    Ok(progress)
}

/// Refuses to begin without the rights that copying needs.
async fn check_rights(client: &mut Client) -> Result<()> {
    let transaction = client.transaction().await?;
    let bypasses = "select rolsuper or rolbypassrls from pg_roles where rolname = current_user";
    let bypasses: bool = transaction.query_one(bypasses, &[]).await?.try_get(0)?;
    if bypasses && transaction.batch_execute(SETTINGS).await.is_ok() {
        return Ok(());
    }
    Err(Error::Configuration(
        "moving users needs a login role that bypasses row-level security and may set \
         session_replication_role, in both cells; a superuser has both"
            .into(),
    ))
}

/// Waits until every write has ended that may have begun before the range was leaving. Each
/// of them holds the lock of its user.
async fn wait_for_writers(client: &Client) -> Result<()> {
    const HOLDERS: &str = "select pid, virtualtransaction from pg_locks \
        where locktype = 'advisory' and objsubid = 1 and granted and mode = 'ExclusiveLock' \
          and database = (select oid from pg_database where datname = current_database()) \
          and (classid::bigint << 32 | objid::bigint) <> all($1::bigint[])";
    let others = [cell_admin::LOCK, migrate::LOCK, scrub::LOCK];
    let holders = async || -> Result<Vec<(i32, String)>> {
        let rows = client.query(HOLDERS, &[&others.as_slice()]).await?;
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
    };
    let mut before = holders().await?;
    let started = Instant::now();
    while !before.is_empty() {
        if started.elapsed() > WRITERS_TIMEOUT {
            let process = before.first().map_or(0, |(pid, _)| *pid);
            return Err(Error::Configuration(format!(
                "a write does not end: process {process} of the source; end it and move again"
            )));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        let now = holders().await?;
        before.retain(|holder| now.contains(holder));
    }
    Ok(())
}

/// A table and its columns that are not generated.
struct CopiedTable {
    name: String,
    columns: String,
}

/// The tables with rows of users, `users` itself last.
async fn tables(client: &Client, fault: MoveFault) -> Result<Vec<CopiedTable>> {
    const SQL: &str = "select string_agg(quote_ident(attname), ', ' order by attnum) \
        from pg_attribute where attrelid = $1::text::regclass and attnum > 0 and not attisdropped \
          and attgenerated = ''";
    let mut tables = Vec::new();
    for name in USER_TABLES.iter().chain(&["users"]) {
        if fault == MoveFault::SkippedTable(name) {
            continue;
        }
        let columns: String = client.query_one(SQL, &[name]).await?.try_get(0)?;
        tables.push(CopiedTable { name: (*name).to_owned(), columns });
    }
    Ok(tables)
}

/// The users of a range from an id on, in the order of their ids.
async fn page(
    client: &mut Client,
    range: &MovingRange,
    from: Uuid,
    limit: i64,
) -> Result<Vec<UserId>> {
    const SQL: &str = "select user_id from users where user_id between $1 and $2 \
        and ($3::uuid is null or tenant_id = $3) and not (tenant_id = any($4::uuid[])) \
        order by user_id limit $5";
    let transaction = client.transaction().await?;
    transaction.batch_execute(SETTINGS).await?;
    let rows =
        transaction.query(SQL, &[&from, &range.last, &range.tenant, &range.pinned, &limit]).await?;
    rows.iter().map(|row| Ok(UserId::from_uuid(row.try_get(0)?))).collect()
}

/// Removes the target's copies of users whom the source of an interrupted move still holds.
async fn remove_copies(
    source: &ConnectOptions,
    target: &ConnectOptions,
    range: &MovingRange,
) -> Result<()> {
    const HELD: &str = "select user_id from users where user_id = any($1)";
    let (mut from, mut to) = (owner(source).await?, owner(target).await?);
    check_rights(&mut from).await?;
    check_rights(&mut to).await?;
    let tables = tables(&to, MoveFault::None).await?;
    let mut first = range.first;
    loop {
        let users = page(&mut to, range, first, COPIES_PAGE_SIZE).await?;
        let Some(last) = users.last() else { return Ok(()) };
        let ids: Vec<Uuid> = users.iter().map(|user| user.uuid()).collect();
        let reading = from.transaction().await?;
        reading.batch_execute(SETTINGS).await?;
        let held = reading.query(HELD, &[&ids]).await?;
        reading.rollback().await?;
        for row in &held {
            let user = UserId::from_uuid(row.try_get(0)?);
            remove_copy(&mut from, &mut to, user, &tables).await?;
        }
        let Some(next) = last.uuid().as_u128().checked_add(1) else { return Ok(()) };
        first = Uuid::from_u128(next);
    }
}

const LOCK_USER: &str = "select pg_advisory_xact_lock($1)";
const USER: &str = "select user_id from users where user_id = $1 for update";

async fn remove_copy(
    source: &mut Client,
    target: &mut Client,
    user: UserId,
    tables: &[CopiedTable],
) -> Result<()> {
    let (from, id) = (source.transaction().await?, user.uuid());
    from.batch_execute(SETTINGS).await?;
    from.query(LOCK_USER, &[&lock_of(user)]).await?;
    // The user may have been moved until then, and is not a copy.
    if from.query_opt(USER, &[&id]).await?.is_some() {
        let to = target.transaction().await?;
        to.batch_execute(SETTINGS).await?;
        delete_rows(&to, id, tables).await?;
        to.commit().await?;
    }
    Ok(from.rollback().await?)
}

async fn delete_rows(to: &Transaction<'_>, user: Uuid, tables: &[CopiedTable]) -> Result<()> {
    for table in with_rows(to, user, tables).await? {
        to.execute(&format!("delete from {} where user_id = $1", table.name), &[&user]).await?;
    }
    Ok(())
}

impl UserMover {
    /// Moves one user; nothing happens if another process has moved the user meanwhile.
    async fn move_user(
        &self,
        source: &mut Client,
        target: &mut Client,
        user: UserId,
    ) -> Result<()> {
        let (from, id) = (source.transaction().await?, user.uuid());
        from.batch_execute(SETTINGS).await?;
        from.query(LOCK_USER, &[&lock_of(user)]).await?;
        if from.query_opt(USER, &[&id]).await?.is_none() {
            return Ok(());
        }
        let to = target.transaction().await?;
        to.batch_execute(SETTINGS).await?;
        let (started, pause) = (Instant::now(), self.options.max_pause);
        match tokio::time::timeout(pause, self.copy_user(&from, &to, id)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) if started.elapsed() < pause => return Err(error),
            _ => return Err(self.took_too_long(id)),
        }
        to.commit().await?;
        if self.options.fault == MoveFault::EndsBetweenCommits {
            return Err(Error::Configuration("the command has ended, as planted".into()));
        }
        Ok(from.commit().await?)
    }

    fn took_too_long(&self, user: Uuid) -> Error {
        Error::Configuration(format!(
            "user {user} could not be copied within {} s, in which the user's writes have to wait, \
             and is still in the source; the same command with a larger --max-pause continues",
            self.options.max_pause.as_secs()
        ))
    }

    /// Replaces the user's rows in the target by those of the source, and deletes these.
    async fn copy_user(
        &self,
        from: &Transaction<'_>,
        to: &Transaction<'_>,
        id: Uuid,
    ) -> Result<()> {
        const JOBS: &str = "select job_id from job where user_id = $1 for update";
        const ERASURES: &str = "select erasure_id from erasure where user_id = $1 for update";
        for transaction in [from, to] {
            transaction.batch_execute(&self.time_limits()).await?;
        }
        self.check_holding(from, "leaving").await?;
        self.check_holding(to, "arriving").await?;
        // Workers claim jobs and erasures without the user's lock.
        from.query(JOBS, &[&id]).await?;
        from.query(ERASURES, &[&id]).await?;
        // What an interrupted move has left.
        delete_rows(to, id, &self.tables).await?;
        let filled = with_rows(from, id, &self.tables).await?;
        for table in &filled {
            copy(from, to, id, table).await?;
            let (theirs, ours) = (digest(from, id, table).await?, digest(to, id, table).await?);
            if theirs != ours {
                let what = format!("table {} differs after copying a user", table.name);
                return Err(Error::Configuration(what));
            }
        }
        for table in &filled {
            from.execute(&format!("delete from {} where user_id = $1", table.name), &[&id]).await?;
        }
        Ok(())
    }

    /// The settings by which the database ends a transaction that holds a user's lock, should the
    /// command not be able to.
    fn time_limits(&self) -> String {
        let pause = self.options.max_pause.as_millis();
        let whole = pause * 2;
        format!(
            "set local statement_timeout = {pause}; set local transaction_timeout = {whole}; \
             set local idle_in_transaction_session_timeout = {whole}"
        )
    }

    /// Fails unless the cell takes part in this very move, and keeps it from changing that before
    /// the transaction ends.
    async fn check_holding(&self, transaction: &Transaction<'_>, state: &str) -> Result<()> {
        const SQL: &str = "select 1 from holding where tenant_id is not distinct from $1 \
            and first_user = $2 and last_user = $3 and state = $4 and epoch = $5 for share";
        let MovingRange { tenant, first, last, epoch, .. } = &self.range;
        let held = transaction.query_opt(SQL, &[tenant, first, last, &state, epoch]).await?;
        let changed = "the cells were changed meanwhile: another command has continued or reversed \
                       this move, or a cell was restored; `lukasa cell list` shows the map";
        held.map(drop).ok_or_else(|| Error::Configuration(changed.into()))
    }
}

/// The tables that have rows of a user.
async fn with_rows<'t>(
    transaction: &Transaction<'_>,
    user: Uuid,
    tables: &'t [CopiedTable],
) -> Result<Vec<&'t CopiedTable>> {
    let one = |CopiedTable { name, .. }: &CopiedTable| {
        format!("select '{name}' where exists (select 1 from {name} where user_id = $1)")
    };
    let sql = tables.iter().map(one).collect::<Vec<_>>().join(" union all ");
    let rows = transaction.query(&sql, &[&user]).await?;
    let names: Vec<String> =
        rows.iter().map(|row| Ok(row.try_get(0)?)).collect::<Result<Vec<_>>>()?;
    Ok(tables.iter().filter(|table| names.contains(&table.name)).collect())
}

async fn copy(
    from: &Transaction<'_>,
    to: &Transaction<'_>,
    user: Uuid,
    CopiedTable { name, columns }: &CopiedTable,
) -> Result<()> {
    let out = format!(
        "copy (select {columns} from {name} where user_id = '{user}') to stdout (format binary)"
    );
    let rows = from.copy_out(&out).await?;
    let sink = to.copy_in(&format!("copy {name} ({columns}) from stdin (format binary)")).await?;
    pin_mut!(rows);
    pin_mut!(sink);
    while let Some(chunk) = rows.try_next().await? {
        sink.feed(chunk).await?;
    }
    sink.finish().await?;
    Ok(())
}

/// The number of a user's rows in a table, and a digest of them that does not depend on their order.
async fn digest(
    transaction: &Transaction<'_>,
    user: Uuid,
    CopiedTable { name, .. }: &CopiedTable,
) -> Result<(i64, String)> {
    let sql = format!(
        "select count(*), coalesce(sum(('x' || left(h, 16))::bit(64)::bigint::numeric), 0)::text \
           || '.' || coalesce(sum(('x' || right(h, 16))::bit(64)::bigint::numeric), 0)::text \
         from (select md5(t::text) as h from {name} t where user_id = $1) each_row"
    );
    let row = transaction.query_one(&sql, &[&user]).await?;
    Ok((row.try_get(0)?, row.try_get(1)?))
}

/// Fails if rows of the range are left in the source. Records of users who do not exist are removed.
async fn check_nothing_left(client: &mut Client, range: &MovingRange) -> Result<()> {
    let transaction = client.transaction().await?;
    transaction.batch_execute(SETTINGS).await?;
    for name in USER_TABLES {
        let rows = "user_id between $1 and $2 and ($3::uuid is null or tenant_id = $3) \
                    and not (tenant_id = any($4::uuid[]))";
        let sql = match WITHOUT_USER.contains(name) {
            true => format!("delete from {name} where {rows}"),
            false => format!("select 1 from {name} where {rows} limit 1"),
        };
        let found = transaction
            .query(&sql, &[&range.first, &range.last, &range.tenant, &range.pinned])
            .await?;
        if !found.is_empty() {
            return Err(Error::Configuration(format!(
                "the source still has rows of moved users in {name}; the move is not finished"
            )));
        }
    }
    Ok(transaction.commit().await?)
}
