//! Transactions: the only way to reach rows.
//!
//! A [`Scope`] owns a connection for one transaction and sets the user in it, with plain `SET
//! LOCAL`. The opening statements are sent with the first query, in one round trip, or before the
//! first statement of another kind. A scope that is
//! dropped without [`Scope::commit`] rolls back *before* its connection is returned to the pool,
//! whether by an early return, an error or a cancelled request. So no connection is ever reused
//! with another user's settings.

use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use deadpool_postgres::Object;
use futures_util::future::join_all;
use futures_util::stream::try_unfold;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, join};
use lukasa_core::{TenantId, UserId};
use tokio::sync::{OnceCell, OwnedSemaphorePermit};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, RowStream};

use crate::cells::{Cell, CellStep, Cells};
use crate::crash;
use crate::error::{Error, Result};
use crate::pool::Purpose;
use crate::rollback::roll_back;

pub(crate) type Param<'a> = &'a (dyn ToSql + Sync);
pub(crate) type Params<'a> = &'a [Param<'a>];

/// Statements that are sent together.
#[derive(Default)]
pub struct Batch {
    statements: Vec<Statement>,
    /// Statements that are sent right before the commit of the transaction.
    last: Vec<Arc<Statement>>,
}

struct Statement {
    sql: &'static str,
    params: Vec<Owned>,
    must_change_one: bool,
}

/// A parameter owned by a batch.
pub(crate) type Owned = Box<dyn ToSql + Sync + Send>;

impl Batch {
    pub(crate) fn push(&mut self, sql: &'static str, params: Vec<Owned>) {
        self.statements.push(Statement { sql, params, must_change_one: false });
    }

    /// Adds a statement that is sent right before the commit, because it takes a lock that other
    /// users wait for.
    pub(crate) fn push_last(&mut self, sql: &'static str, params: Vec<Owned>) {
        self.last.push(Arc::new(Statement { sql, params, must_change_one: false }));
    }

    /// Appends the statements of another batch.
    pub fn append(&mut self, other: Batch) {
        self.statements.extend(other.statements);
        self.last.extend(other.last);
    }

    pub fn is_empty(&self) -> bool {
        self.statements.is_empty() && self.last.is_empty()
    }

    /// Adds a statement that fails the batch unless it changes exactly one row.
    pub(crate) fn push_one(&mut self, sql: &'static str, params: Vec<Owned>) {
        self.statements.push(Statement { sql, params, must_change_one: true });
    }
}

/// How a user's rows are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// All statements see one snapshot, and none writes.
    Read,
    /// A read that no write of the user overlaps: it waits for a running write, and later writes
    /// wait for it. Each statement sees what was committed before it, which is the same for all of
    /// them while the lock is held; a snapshot would be taken before the lock is granted.
    Settled,
    Write,
    /// A write whose commit does not wait for the disk, for rows that may be lost. It takes the
    /// user's lock like every write, so that it cannot restore what another write is removing.
    Lossy,
}

/// The way to a user's rows: the cell that was chosen, and what is needed to choose another if that
/// one does not hold the user.
pub(crate) struct RouteToUser {
    pub cells: Cells,
    pub purpose: Purpose,
    pub access: Access,
    pub tenant: TenantId,
    pub user: UserId,
    pub step: CellStep,
}

impl RouteToUser {
    /// The statements that open a transaction. `via` is that of [`CellStep`].
    fn opening(&self, via: i64) -> String {
        let (tenant, user) = (self.tenant.uuid(), self.user.uuid());
        let settings = settings(self.tenant, Some(self.user));
        // One user's writes are serialised by a lock derived from the user's id. Two users whose
        // ids share their first eight bytes merely wait for each other.
        let lock = lock_of(self.user);
        // The placement is checked after the lock: the mover of a user holds it.
        let check = format!("select check_placement('{tenant}', '{user}', {via})");
        match self.access {
            Access::Read => {
                format!("begin isolation level repeatable read, read only; {settings}; {check}")
            }
            Access::Settled => format!(
                "begin isolation level read committed, read only; {settings}; \
                 select pg_advisory_xact_lock_shared({lock}); {check}"
            ),
            Access::Write => {
                format!("begin; {settings}; select pg_advisory_xact_lock({lock}); {check}")
            }
            Access::Lossy => format!(
                "begin; {settings}; select pg_advisory_xact_lock({lock}); {check}; \
                 set local synchronous_commit = off"
            ),
        }
    }
}

/// A transaction whose opening statements were sent, or will be sent with its first statement.
struct Transaction {
    /// Present until the connection is returned.
    connection: Option<Object>,
    /// The cell of the connection; `None` if it is main, which is always waited for.
    cell: Option<Cell>,
    /// The connection that is used instead, after the first one's cell did not hold the user.
    elsewhere: OnceCell<(Cell, Object)>,
    route: Option<RouteToUser>,
    /// Whether the first connection's cell has refused the user. Its transaction stays aborted
    /// until the end, so that no statement can run there without settings.
    refused: AtomicBool,
    opening: String,
    /// Statements to send right before the commit.
    deferred: Mutex<Vec<Arc<Statement>>>,
    begun: AtomicBool,
    /// After a failed statement the transaction cannot be committed: PostgreSQL would answer its
    /// `commit` with a rollback and no error, which must never be taken for success.
    failed: Arc<AtomicBool>,
    /// The server no longer accepts writes or does not answer; the connection is closed instead of
    /// reused.
    unusable: Arc<AtomicBool>,
    over: bool,
    /// The span of the transaction, which ends with it.
    _span: tracing::Span,
    /// The permit for the user's writes, released after the connection.
    _permit: Option<OwnedSemaphorePermit>,
}

impl Transaction {
    fn new(connection: Object, cell: &Cell, opening: String) -> Self {
        Self {
            connection: Some(connection),
            cell: (!cell.is_main()).then(|| cell.clone()),
            elsewhere: OnceCell::new(),
            route: None,
            refused: AtomicBool::new(false),
            opening,
            deferred: Mutex::default(),
            begun: AtomicBool::new(false),
            failed: Arc::default(),
            unusable: Arc::default(),
            over: false,
            _span: tracing::trace_span!(target: crate::TRACE_TARGET, "database.transaction"),
            _permit: None,
        }
    }

    async fn query(&self, sql: &'static str, params: Params<'_>) -> Result<Vec<Row>> {
        crash::point();
        let rows = self.query_or_reopen(sql, params).await;
        crash::point();
        if rows.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        rows
    }

    /// The connection in use.
    fn connection(&self) -> Result<&Object> {
        let elsewhere = self.elsewhere.get().map(|(_, connection)| connection);
        elsewhere.or(self.connection.as_ref()).ok_or(Error::Closed)
    }

    /// The cell of the connection in use; `None` if it is main.
    fn cell(&self) -> Option<&Cell> {
        self.elsewhere.get().map(|(cell, _)| cell).or(self.cell.as_ref())
    }

    /// Waits for statements on the connection in use. If its cell stops answering they are given up,
    /// and the connection is closed: it still waits for their answers.
    async fn watch<T>(&self, statements: Pin<&mut impl Future<Output = Result<T>>>) -> Result<T> {
        let Some(cell) = self.cell() else { return statements.await };
        let answered = cell.while_answering(statements).await;
        answered.inspect_err(|_| self.unusable.store(true, Ordering::Relaxed))?
    }

    /// Sends a query. If the user was moved to another cell, it is sent to that one.
    async fn query_or_reopen(&self, sql: &'static str, params: Params<'_>) -> Result<Vec<Row>> {
        match self.query_once(sql, params).await {
            Err(error) if self.is_refusal(&error) => {
                self.open_elsewhere().await?;
                self.query_once(sql, params).await
            }
            other => other,
        }
    }

    async fn query_once(&self, sql: &'static str, params: Params<'_>) -> Result<Vec<Row>> {
        self.watch(pin!(self.send_query(sql, params))).await
    }

    async fn send_query(&self, sql: &'static str, params: Params<'_>) -> Result<Vec<Row>> {
        let connection = self.connection()?;
        let statement = connection.prepare_cached(sql).await?;
        if self.begun.swap(true, Ordering::Relaxed) {
            return Ok(self.check_writable(connection.query(&statement, params).await)?);
        }
        // Both are sent before either is answered. Should the opening fail, the query runs without
        // a transaction and settings, and row-level security returns nothing.
        let (opened, rows) =
            join!(self.send_opening(connection), connection.query(&statement, params));
        opened?;
        Ok(self.check_writable(rows)?)
    }

    async fn send_opening(&self, connection: &Object) -> Result<()> {
        let opened = connection.batch_execute(&self.opening).await.map_err(Error::from);
        if matches!(opened, Err(Error::Elsewhere)) {
            self.refused.store(true, Ordering::Relaxed);
        }
        opened
    }

    /// Whether a statement failed because the cell does not hold the user: the first one, or one
    /// that was sent before the first was answered.
    fn is_refusal(&self, error: &Error) -> bool {
        let in_aborted = matches!(error, Error::Database(error)
            if error.code() == Some(&SqlState::IN_FAILED_SQL_TRANSACTION));
        let is_first = matches!(error, Error::Elsewhere);
        self.route.is_some() && (is_first || (in_aborted && self.refused.load(Ordering::Relaxed)))
    }

    /// Opens the transaction in the cell that holds the user.
    async fn open_elsewhere(&self) -> Result<()> {
        let route = self.route.as_ref().ok_or(Error::Elsewhere)?;
        let opened = self.elsewhere.get_or_try_init(|| {
            let whose = (route.tenant, route.user);
            route.cells.open_elsewhere(whose, route.purpose, &route.step, |via| route.opening(via))
        });
        opened.await?;
        Ok(())
    }

    /// Sends the opening statements and waits for their answer, unless they were sent before.
    async fn begin(&self) -> Result<()> {
        if self.begun.swap(true, Ordering::Relaxed) {
            return Ok(());
        }
        let opened = match self.watch(pin!(self.send_opening(self.connection()?))).await {
            Err(error) if self.is_refusal(&error) => self.open_elsewhere().await,
            other => other,
        };
        opened.inspect_err(|_| self.failed.store(true, Ordering::Relaxed))
    }

    /// The rows of a query as they arrive, for results that are too large to be held at once.
    async fn stream(&self, sql: &'static str, params: Params<'_>) -> Result<WatchedRows> {
        self.begin().await?;
        let connection = self.connection()?;
        let rows = async {
            let statement = connection.prepare_cached(sql).await?;
            let rows = connection.query_raw(&statement, params.iter().copied()).await;
            self.check_writable(rows).map_err(Error::from)
        };
        let rows = self.watch(pin!(rows)).await;
        let rows = rows.inspect_err(|_| self.failed.store(true, Ordering::Relaxed))?;
        Ok(WatchedRows {
            rows: Box::pin(rows),
            cell: self.cell().cloned(),
            failed: self.failed.clone(),
            unusable: self.unusable.clone(),
        })
    }

    /// Passes the result on, and marks the connection unusable if the server became read-only.
    fn check_writable<T>(
        &self,
        answer: Result<T, tokio_postgres::Error>,
    ) -> Result<T, tokio_postgres::Error> {
        if let Err(error) = &answer
            && error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION)
        {
            self.unusable.store(true, Ordering::Relaxed);
        }
        answer
    }

    /// Sends all statements before waiting for the first answer: one round trip for the batch. They
    /// are run in order, and the first that fails makes the rest fail too.
    async fn run(&self, batch: &Batch) -> Result<()> {
        if batch.is_empty() {
            return Ok(());
        }
        crash::point();
        self.begin().await?;
        let statements: Vec<&Statement> = batch.statements.iter().collect();
        let done = self.watch(pin!(self.attempt_all(&statements))).await;
        crash::point();
        match done {
            Ok(()) => self.deferred().extend(batch.last.iter().cloned()),
            Err(_) => self.failed.store(true, Ordering::Relaxed),
        }
        done
    }

    fn deferred(&self) -> MutexGuard<'_, Vec<Arc<Statement>>> {
        self.deferred.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn attempt_all(&self, statements: &[&Statement]) -> Result<()> {
        let connection = self.connection()?;
        // Preparing may wait, which would let later statements overtake; so all are prepared first.
        let mut prepared = Vec::with_capacity(statements.len());
        for statement in statements {
            prepared.push(connection.prepare_cached(statement.sql).await?);
        }
        let sent = statements.iter().zip(&prepared).map(|(statement, prepared)| {
            let params = statement.params.iter().map(|p| &**p as &(dyn ToSql + Sync));
            let params: Vec<_> = params.collect();
            async move { connection.execute(prepared, &params).await }
        });
        for (statement, changed) in statements.iter().zip(join_all(sent).await) {
            let changed = self.check_writable(changed)?;
            if statement.must_change_one && changed != 1 {
                return Err(Error::Gone);
            }
        }
        Ok(())
    }

    async fn commit(mut self: Box<Self>) -> Result<()> {
        if self.failed.load(Ordering::Relaxed) {
            return Err(Error::Doomed);
        }
        if self.begun.load(Ordering::Relaxed) {
            let deferred = std::mem::take(&mut *self.deferred());
            if !deferred.is_empty() {
                let statements: Vec<&Statement> = deferred.iter().map(|one| &**one).collect();
                self.watch(pin!(self.attempt_all(&statements))).await?;
            }
            let connection = self.connection()?;
            crash::point();
            let commit = async { connection.batch_execute("commit").await.map_err(Error::from) };
            self.watch(pin!(commit)).await?;
            crash::point();
        }
        self.over = true;
        Ok(())
    }
}

/// The rows of a query as they arrive. If the cell stops answering meanwhile, the rest is given up,
/// as [`Transaction::watch`] does.
struct WatchedRows {
    rows: Pin<Box<RowStream>>,
    cell: Option<Cell>,
    failed: Arc<AtomicBool>,
    unusable: Arc<AtomicBool>,
}

impl WatchedRows {
    async fn next(&mut self) -> Result<Option<Row>> {
        let row = async { self.rows.try_next().await.map_err(Error::from) };
        let row = match &self.cell {
            None => row.await,
            Some(cell) => {
                let answered = cell.while_answering(pin!(row)).await;
                let marked = answered.inspect_err(|_| self.unusable.store(true, Ordering::Relaxed));
                marked.and_then(|row| row)
            }
        };
        row.inspect_err(|_| self.failed.store(true, Ordering::Relaxed))
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        let Some(first) = self.connection.take() else { return };
        match self.elsewhere.take() {
            Some((_, used)) => {
                self.give_back(used, !self.over);
                // Its cell refused the user, and nothing else was run.
                roll_back(first);
            }
            None => self.give_back(first, !self.over && self.begun.load(Ordering::Relaxed)),
        }
    }
}

impl Transaction {
    /// Returns a connection to its pool, after a rollback if its transaction is open.
    fn give_back(&self, connection: Object, is_open: bool) {
        if self.unusable.load(Ordering::Relaxed) {
            drop(Object::take(connection));
        } else if is_open {
            roll_back(connection);
        }
    }
}

/// One transaction on one user's rows.
pub struct Scope {
    /// Boxed: every future that reads or writes contains a scope.
    transaction: Box<Transaction>,
    tenant: TenantId,
    user: UserId,
}

impl Scope {
    pub(crate) fn open(
        connection: Object,
        route: RouteToUser,
        permit: Option<OwnedSemaphorePermit>,
    ) -> Self {
        let (tenant, user) = (route.tenant, route.user);
        let opening = route.opening(route.step.via);
        let mut transaction = Transaction::new(connection, &route.step.cell, opening);
        transaction.route = Some(route);
        transaction._permit = permit;
        Self { transaction: Box::new(transaction), tenant, user }
    }

    /// A transaction in the cell of the route. If that cell does not hold the user, no other is asked.
    pub(crate) fn open_there(connection: Object, route: RouteToUser) -> Self {
        let mut scope = Self::open(connection, route, None);
        scope.transaction.route = None;
        scope
    }

    pub fn tenant(&self) -> TenantId {
        self.tenant
    }

    pub fn user(&self) -> UserId {
        self.user
    }

    /// Whether the user was found in the main cell.
    pub(crate) fn is_in_main(&self) -> bool {
        self.transaction.cell().is_none_or(Cell::is_main)
    }

    pub(crate) async fn query(&self, sql: &'static str, params: Params<'_>) -> Result<Vec<Row>> {
        self.transaction.query(sql, params).await
    }

    /// The rows of a query as they arrive, for results that are too large to be held at once.
    pub(crate) async fn stream(
        &self,
        sql: &'static str,
        params: Params<'_>,
    ) -> Result<impl Stream<Item = Result<Row>> + use<>> {
        let rows = self.transaction.stream(sql, params).await?;
        let next = |mut rows: WatchedRows| async move {
            let row = rows.next().await?;
            Ok(row.map(|row| (row, rows)))
        };
        // Neither this stream nor the driver's may be polled again after its end.
        Ok(try_unfold(rows, next).fuse())
    }

    /// Runs the statements of a batch in order, in one round trip.
    pub async fn run(&self, batch: &Batch) -> Result<()> {
        self.transaction.run(batch).await
    }

    /// Commits. Nothing may be acknowledged to a caller before this returns.
    pub async fn commit(self) -> Result<()> {
        self.transaction.commit().await
    }
}

/// The advisory lock key that serialises a user's writes.
pub(crate) fn lock_of(user: UserId) -> i64 {
    let (high, _) = user.uuid().as_u64_pair();
    high.cast_signed()
}

/// One transaction on a tenant's own lists: users, credentials, domains; no facts.
pub struct Directory {
    /// Boxed: every future that reads or writes contains a scope.
    transaction: Box<Transaction>,
    tenant: TenantId,
}

impl Directory {
    pub(crate) fn of(connection: Object, cell: &Cell, tenant: TenantId) -> Self {
        let opening = format!("begin; {}; set local app.directory = 'on'", settings(tenant, None));
        Self { transaction: Box::new(Transaction::new(connection, cell, opening)), tenant }
    }

    /// Sees one credential and nothing else. The id comes from the request, so only the characters
    /// of an id may get into the setting.
    pub(crate) fn for_credential(connection: Object, main: &Cell, key_id: &str) -> Result<Self> {
        if key_id.is_empty() || !key_id.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return Err(Error::Configuration("not a key id".into()));
        }
        let opening = format!("begin; set local app.key_id = '{key_id}'");
        let tenant = TenantId::SHARED;
        Ok(Self { transaction: Box::new(Transaction::new(connection, main, opening)), tenant })
    }

    /// Sees the credentials of all tenants that expired long enough ago to be removed.
    pub(crate) fn sweeping(connection: Object, main: &Cell) -> Self {
        let opening = "begin; set local app.sweep = 'on'".to_owned();
        let tenant = TenantId::SHARED;
        Self { transaction: Box::new(Transaction::new(connection, main, opening)), tenant }
    }

    pub fn tenant(&self) -> TenantId {
        self.tenant
    }

    pub(crate) async fn query(&self, sql: &'static str, params: Params<'_>) -> Result<Vec<Row>> {
        self.transaction.query(sql, params).await
    }

    pub async fn commit(self) -> Result<()> {
        self.transaction.commit().await
    }
}

/// Plain `set local`, because a connection pooler or distributing proxy passes it on, but not
/// `set_config()`. UUIDs print as hexadecimal digits and hyphens, so they need no escaping.
pub(crate) fn settings(tenant: TenantId, user: Option<UserId>) -> String {
    let tenant = format!("set local app.tenant = '{}'", tenant.uuid());
    match user {
        Some(user) => format!("{tenant}; set local app.user_id = '{}'", user.uuid()),
        None => tenant,
    }
}
