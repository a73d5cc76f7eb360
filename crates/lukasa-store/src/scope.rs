//! Transactions: the only way to reach rows.
//!
//! A [`Scope`] owns a connection for one transaction and sets the user in it, with plain `SET
//! LOCAL`. The opening statements are sent with the first query, in one round trip. A scope that is
//! dropped without [`Scope::commit`] rolls back *before* its connection is returned to the pool,
//! whether by an early return, an error or a cancelled request. So no connection is ever reused
//! with another user's settings.

use std::sync::atomic::{AtomicBool, Ordering};

use deadpool_postgres::Object;
use futures_util::future::join_all;
use futures_util::{Stream, StreamExt as _, TryStreamExt as _, join};
use lukasa_core::{TenantId, UserId};
use tokio::sync::OwnedSemaphorePermit;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, RowStream};

use crate::crash;
use crate::error::{Error, Result};

pub(crate) type Param<'a> = &'a (dyn ToSql + Sync);
pub(crate) type Params<'a> = &'a [Param<'a>];

/// Statements that are sent together.
#[derive(Default)]
pub struct Batch(Vec<Statement>);

struct Statement {
    sql: &'static str,
    params: Vec<Owned>,
    must_change_one: bool,
}

/// A parameter owned by a batch.
pub(crate) type Owned = Box<dyn ToSql + Sync + Send>;

impl Batch {
    pub(crate) fn push(&mut self, sql: &'static str, params: Vec<Owned>) {
        self.0.push(Statement { sql, params, must_change_one: false });
    }

    /// Appends the statements of another batch.
    pub fn append(&mut self, other: Batch) {
        self.0.extend(other.0);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a statement that fails the batch unless it changes exactly one row.
    pub(crate) fn push_one(&mut self, sql: &'static str, params: Vec<Owned>) {
        self.0.push(Statement { sql, params, must_change_one: true });
    }
}

/// A transaction whose opening statements were sent, or will be sent with its first statement.
struct Transaction {
    /// Present until the connection is returned.
    connection: Option<Object>,
    opening: String,
    begun: AtomicBool,
    /// After a failed statement the transaction cannot be committed: PostgreSQL would answer its
    /// `commit` with a rollback and no error, which must never be taken for success.
    failed: AtomicBool,
    /// The server no longer accepts writes; the connection is closed instead of reused.
    unusable: AtomicBool,
    over: bool,
    /// The permit for the user's writes, released after the connection.
    _permit: Option<OwnedSemaphorePermit>,
}

impl Transaction {
    fn new(connection: Object, opening: String) -> Self {
        Self {
            connection: Some(connection),
            opening,
            begun: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            unusable: AtomicBool::new(false),
            over: false,
            _permit: None,
        }
    }

    async fn query(&self, sql: &'static str, params: Params<'_>) -> Result<Vec<Row>> {
        crash::point();
        let rows = self.attempt(sql, params).await;
        crash::point();
        if rows.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        rows
    }

    async fn attempt(&self, sql: &'static str, params: Params<'_>) -> Result<Vec<Row>> {
        let connection = self.connection.as_ref().ok_or(Error::Closed)?;
        let statement = connection.prepare_cached(sql).await?;
        if self.begun.swap(true, Ordering::Relaxed) {
            return Ok(self.check_writable(connection.query(&statement, params).await)?);
        }
        // Both are sent before either is answered. Should the opening fail, the query runs without
        // a transaction and settings, and row-level security returns nothing.
        let (opened, rows) =
            join!(connection.batch_execute(&self.opening), connection.query(&statement, params));
        opened?;
        Ok(self.check_writable(rows)?)
    }

    /// The rows of a query as they arrive, for results that are too large to be held at once.
    async fn stream(&self, sql: &'static str, params: Params<'_>) -> Result<RowStream> {
        let connection = self.connection.as_ref().ok_or(Error::Closed)?;
        let statement = connection.prepare_cached(sql).await?;
        if !self.begun.swap(true, Ordering::Relaxed) {
            connection.batch_execute(&self.opening).await?;
        }
        let rows = connection.query_raw(&statement, params.iter().copied()).await;
        if rows.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        Ok(self.check_writable(rows)?)
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
        crash::point();
        let done = self.attempt_batch(batch).await;
        crash::point();
        if done.is_err() {
            self.failed.store(true, Ordering::Relaxed);
        }
        done
    }

    async fn attempt_batch(&self, batch: &Batch) -> Result<()> {
        let connection = self.connection.as_ref().ok_or(Error::Closed)?;
        // Preparing may wait, which would let later statements overtake; so all are prepared first.
        let mut prepared = Vec::with_capacity(batch.0.len());
        for statement in &batch.0 {
            prepared.push(connection.prepare_cached(statement.sql).await?);
        }
        let sent = batch.0.iter().zip(&prepared).map(|(statement, prepared)| {
            let params = statement.params.iter().map(|p| &**p as &(dyn ToSql + Sync));
            let params: Vec<_> = params.collect();
            async move { connection.execute(prepared, &params).await }
        });
        for (statement, changed) in batch.0.iter().zip(join_all(sent).await) {
            let changed = self.check_writable(changed)?;
            if statement.must_change_one && changed != 1 {
                return Err(Error::Gone);
            }
        }
        Ok(())
    }

    async fn commit(mut self) -> Result<()> {
        if self.failed.load(Ordering::Relaxed) {
            return Err(Error::Doomed);
        }
        if self.begun.load(Ordering::Relaxed) {
            let connection = self.connection.as_ref().ok_or(Error::Closed)?;
            crash::point();
            connection.batch_execute("commit").await?;
            crash::point();
        }
        self.over = true;
        Ok(())
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        if self.unusable.load(Ordering::Relaxed) {
            drop(Object::take(connection));
            return;
        }
        if self.over || !self.begun.load(Ordering::Relaxed) {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            // Without a runtime nothing can be sent; closing the connection rolls back too.
            drop(Object::take(connection));
            return;
        };
        runtime.spawn(async move {
            if connection.batch_execute("rollback").await.is_err() {
                drop(Object::take(connection));
            }
        });
    }
}

/// One transaction on one user's rows.
pub struct Scope {
    transaction: Transaction,
    tenant: TenantId,
    user: UserId,
}

impl Scope {
    pub(crate) fn reading(connection: Object, tenant: TenantId, user: UserId) -> Self {
        // All statements of a read see one snapshot, and none writes.
        let opening = format!(
            "begin isolation level repeatable read, read only; {}",
            settings(tenant, Some(user))
        );
        Self { transaction: Transaction::new(connection, opening), tenant, user }
    }

    /// A read that no write of the user overlaps: it waits for a running write, and later writes
    /// wait for it. Each statement sees what was committed before it, which is the same for all of
    /// them while the lock is held; a snapshot would be taken before the lock is granted.
    pub(crate) fn reading_settled(connection: Object, tenant: TenantId, user: UserId) -> Self {
        let opening = format!(
            "begin isolation level read committed, read only; {}; \
             select pg_advisory_xact_lock_shared({})",
            settings(tenant, Some(user)),
            lock_of(user)
        );
        Self { transaction: Transaction::new(connection, opening), tenant, user }
    }

    pub(crate) fn writing(connection: Object, tenant: TenantId, user: UserId) -> Self {
        // One user's writes are serialised by a lock derived from the user's id. Two users whose
        // ids share their first eight bytes merely wait for each other.
        let opening = format!(
            "begin; {}; select pg_advisory_xact_lock({})",
            settings(tenant, Some(user)),
            lock_of(user)
        );
        Self { transaction: Transaction::new(connection, opening), tenant, user }
    }

    /// A write whose commit does not wait for the disk, for rows that may be lost. It takes the
    /// user's lock like every write, so that it cannot restore what another write is removing.
    pub(crate) fn writing_lossy(connection: Object, tenant: TenantId, user: UserId) -> Self {
        let mut scope = Self::writing(connection, tenant, user);
        scope.transaction.opening.push_str("; set local synchronous_commit = off");
        scope
    }

    pub(crate) fn with_permit(mut self, permit: OwnedSemaphorePermit) -> Self {
        self.transaction._permit = Some(permit);
        self
    }

    pub fn tenant(&self) -> TenantId {
        self.tenant
    }

    pub fn user(&self) -> UserId {
        self.user
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
        // The driver's stream returns an error if it is polled again after its end.
        Ok(self.transaction.stream(sql, params).await?.map_err(Error::from).fuse())
    }

    /// Runs the statements of a batch in order, in one round trip. A query must have run in the
    /// scope before, so that its transaction is open.
    pub async fn run(&self, batch: &Batch) -> Result<()> {
        self.transaction.run(batch).await
    }

    /// Commits. Nothing may be acknowledged to a caller before this returns.
    pub async fn commit(self) -> Result<()> {
        self.transaction.commit().await
    }
}

/// The advisory lock key that serialises a user's writes.
fn lock_of(user: UserId) -> i64 {
    let (high, _) = user.uuid().as_u64_pair();
    high.cast_signed()
}

/// One transaction on a tenant's own lists: users, credentials, domains; no facts.
pub struct Directory {
    transaction: Transaction,
    tenant: TenantId,
}

impl Directory {
    pub(crate) fn of(connection: Object, tenant: TenantId) -> Self {
        let opening = format!("begin; {}; set local app.directory = 'on'", settings(tenant, None));
        Self { transaction: Transaction::new(connection, opening), tenant }
    }

    /// Sees one credential and nothing else. The id comes from the request, so only the characters
    /// of an id may get into the setting.
    pub(crate) fn for_credential(connection: Object, key_id: &str) -> Result<Self> {
        if key_id.is_empty() || !key_id.bytes().all(|b| b.is_ascii_alphanumeric()) {
            return Err(Error::Configuration("not a key id".into()));
        }
        let opening = format!("begin; set local app.key_id = '{key_id}'");
        let tenant = TenantId::SHARED;
        Ok(Self { transaction: Transaction::new(connection, opening), tenant })
    }

    /// Sees the credentials of all tenants that expired long enough ago to be removed.
    pub(crate) fn sweeping(connection: Object) -> Self {
        let opening = "begin; set local app.sweep = 'on'".to_owned();
        let tenant = TenantId::SHARED;
        Self { transaction: Transaction::new(connection, opening), tenant }
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
fn settings(tenant: TenantId, user: Option<UserId>) -> String {
    let tenant = format!("set local app.tenant = '{}'", tenant.uuid());
    match user {
        Some(user) => format!("{tenant}; set local app.user_id = '{}'", user.uuid()),
        None => tenant,
    }
}
