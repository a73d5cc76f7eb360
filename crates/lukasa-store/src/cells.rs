//! The cells of a deployment: their connection pools, and the map that says which of them holds a
//! user. The map is read from the directory and cached. It may be out of date: a cell refuses a user
//! that it does not hold, and then the map is read again.

use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use deadpool_postgres::{Object, Pool, PoolError, TimeoutType};
use lukasa_core::placement::{MAIN_CELL, PlacedRange, Placement, UserRange};
use lukasa_core::{TenantId, UserId};
use tokio_postgres::error::SqlState;
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::pool::{Gates, Pools, Purpose};
use crate::rollback::RollbackGuard;
use crate::schema_check::{health_of, missing_migrations_of};
use crate::{ConnectOptions, PoolSizes};

/// How old the map may be when work over all cells begins.
const MAP_TTL: Duration = Duration::from_secs(10);
/// How long a cell that could not be reached is not asked again.
const REFUSAL_TIME: Duration = Duration::from_secs(3);
/// How long after an answer a cell is taken to be reachable.
const TRUST: Duration = Duration::from_secs(1);
/// How long a cell may take to answer an empty query.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);
/// How long work in a cell is waited for before the cell is probed, and probed again.
const PROBE_INTERVAL: Duration = Duration::from_secs(1);
/// How long one step of work over all cells may take in one of them.
const SWEEP_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the first check of a cell may take.
const VERIFY_TIMEOUT: Duration = Duration::from_secs(2);
/// How often a user is looked for in the cells before the request fails.
const MAX_STEPS: u32 = 12;

/// The name of main's standby, which no cell can have.
const STANDBY: &str = "main's standby";

/// One cell as it is used by this process, or the standby of main.
#[derive(Clone)]
pub(crate) struct Cell {
    pub name: Arc<str>,
    pub pools: Pools,
    state: Arc<CellState>,
}

#[derive(Default)]
struct CellState {
    /// Set once the cell was found safe to serve from.
    is_verified: AtomicBool,
    /// Held by the request that probes the cell; others wait for its result.
    probing: tokio::sync::Mutex<()>,
    /// When the cell answered a probe.
    answered_at: Mutex<Option<Instant>>,
    /// Until when requests are refused at once, after the cell could not be reached.
    refused_until: Mutex<Option<Instant>>,
}

impl Cell {
    fn new(name: &str, pools: Pools) -> Self {
        Self { name: name.into(), pools, state: Arc::default() }
    }

    /// The standby of main. It is probed like a cell other than main.
    pub fn standby(pools: Pools) -> Self {
        Self::new(STANDBY, pools)
    }

    pub fn is_main(&self) -> bool {
        &*self.name == MAIN_CELL
    }

    /// A connection from one of the cell's pools. A cell that could not be reached refuses for a
    /// while without being asked, and one that has not answered recently is probed first, by one
    /// request for all, so that its users' requests do not wait for it. The main cell is checked
    /// when a server starts and is always asked.
    pub async fn connection(&self, purpose: Purpose) -> Result<Object> {
        let pool = self.pools.of(purpose);
        if self.is_main() {
            return Ok(pool.get().await?);
        }
        self.check_answers().await?;
        let connection = self.while_answering(pin!(pool.get())).await?;
        match &connection {
            // With a wait timeout the pool is busy; the cell may be well.
            Ok(_) | Err(PoolError::Timeout(TimeoutType::Wait)) => {}
            Err(_) => {
                // It is unavailable, or has too many connections.
                *lock(&self.state.answered_at) = None;
                self.check_answers().await?;
            }
        }
        Ok(connection?)
    }

    /// Fails if the cell does not answer. One request probes it for all, unless it has answered
    /// recently.
    async fn check_answers(&self) -> Result<()> {
        self.check_rest()?;
        if self.is_trusted() {
            return Ok(());
        }
        let _one = self.state.probing.lock().await;
        self.check_rest()?;
        if !self.is_trusted() {
            self.probe().await.inspect_err(|_| self.start_refusing())?;
            *lock(&self.state.answered_at) = Some(Instant::now());
            *lock(&self.state.refused_until) = None;
        }
        Ok(())
    }

    /// Does work in the cell, and gives it up with an error if the cell stops answering: a busy cell
    /// still answers a probe, a silent one does not. In the main cell the work is waited for.
    pub async fn while_answering<W: Future>(&self, mut work: Pin<&mut W>) -> Result<W::Output> {
        if self.is_main() {
            return Ok(work.await);
        }
        loop {
            let done = tokio::time::timeout(PROBE_INTERVAL, work.as_mut()).await;
            if let Ok(done) = done {
                return Ok(done);
            }
            // Boxed: every statement's future contains this one.
            Box::pin(self.check_answers()).await?;
        }
    }

    /// Refuses requests for a while.
    fn start_refusing(&self) {
        *lock(&self.state.answered_at) = None;
        let before = lock(&self.state.refused_until).replace(Instant::now() + REFUSAL_TIME);
        if before.is_some() {
            return;
        }
        if &*self.name == STANDBY {
            tracing::warn!("the standby does not answer; indexes are loaded from the primary");
        } else {
            tracing::warn!(cell = &*self.name, "a cell does not answer; its users are refused");
        }
    }

    fn check_rest(&self) -> Result<()> {
        match *lock(&self.state.refused_until) {
            Some(until) if Instant::now() < until => Err(self.no_answer()),
            _ => Ok(()),
        }
    }

    fn is_trusted(&self) -> bool {
        lock(&self.state.answered_at).is_some_and(|at| at.elapsed() < TRUST)
    }

    fn no_answer(&self) -> Error {
        Error::Unavailable(format!("cell {} does not answer", self.name))
    }

    /// Asks the cell something that it answers at once. The first time, checks whether it is safe
    /// to serve from.
    async fn probe(&self) -> Result<()> {
        if !self.state.is_verified.load(Ordering::Relaxed) {
            let verified = tokio::time::timeout(VERIFY_TIMEOUT, self.verify()).await;
            verified.map_err(|_| self.no_answer())??;
            self.state.is_verified.store(true, Ordering::Relaxed);
            return Ok(());
        }
        let connection = tokio::time::timeout(PROBE_TIMEOUT, self.pools.auth.get()).await;
        let connection = connection.map_err(|_| self.no_answer())??;
        match tokio::time::timeout(PROBE_TIMEOUT, connection.batch_execute("")).await {
            Ok(answer) => Ok(answer?),
            Err(_) => {
                // The connection still waits for its answer and must not be used again.
                drop(Object::take(connection));
                Err(self.no_answer())
            }
        }
    }

    /// Whether the cell could be reached when it was last asked.
    pub fn is_up(&self) -> bool {
        lock(&self.state.refused_until).is_none()
    }

    /// The result of work over all cells in this one. A cell other than main that fails or takes too
    /// long is reported and left out, and the result is none.
    pub async fn or_leave_out<T>(
        &self,
        work: impl Future<Output = Result<T>> + Send,
    ) -> Result<Option<T>> {
        if self.is_main() {
            return work.await.map(Some);
        }
        // Only a probe decides whether the cell answers: this work may be slow in a busy cell.
        let done = tokio::time::timeout(SWEEP_TIMEOUT, work).await;
        let done = done.unwrap_or_else(|_| Err(self.no_answer()));
        match done {
            Ok(done) => Ok(Some(done)),
            // Reported when the cell stopped answering.
            Err(Error::Unavailable(_)) => Ok(None),
            Err(error) => {
                tracing::warn!(cell = &*self.name, %error, "a cell is left out");
                Ok(None)
            }
        }
    }

    async fn verify(&self) -> Result<()> {
        let refuse = |why: String| {
            Error::Unavailable(format!("cell {} must not be served from: {why}", self.name))
        };
        if let Some(why) = health_of(&self.pools).await?.unsafe_because() {
            return Err(refuse(why));
        }
        let missing = missing_migrations_of(&self.pools).await?;
        if !missing.is_empty() {
            return Err(refuse(format!("it lacks the migrations {}", missing.join(", "))));
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The map and the cells in it.
pub(crate) struct CellMap {
    placement: Placement,
    /// Main first.
    cells: Vec<Cell>,
    loaded_at: Option<Instant>,
}

impl CellMap {
    fn cell(&self, name: &str) -> Result<&Cell> {
        let unknown = || Error::Unavailable(format!("cell {name} is not in the list of cells"));
        self.cells.iter().find(|cell| &*cell.name == name).ok_or_else(unknown)
    }
}

/// All cells of a deployment.
#[derive(Clone)]
pub(crate) struct Cells(Arc<Inner>);

struct Inner {
    main: Cell,
    connect: ConnectOptions,
    sizes: PoolSizes,
    gates: Gates,
    map: RwLock<Arc<CellMap>>,
    loading: tokio::sync::Mutex<()>,
    /// Counts the claims, so that the cells take turns.
    turn: AtomicUsize,
}

/// A cell that was asked for a user, and how.
#[derive(Clone)]
pub(crate) struct CellStep {
    pub cell: Cell,
    /// The epoch of the move whose source has refused the user, or 0.
    pub via: i64,
    epoch: i64,
}

impl CellStep {
    /// A cell that is asked without the map.
    pub fn in_cell(cell: &Cell) -> Self {
        Self { cell: cell.clone(), via: 0, epoch: 0 }
    }
}

impl Cells {
    pub fn new(connect: &ConnectOptions, sizes: PoolSizes) -> Result<Self> {
        let main = Cell::new(MAIN_CELL, Pools::new(connect, sizes)?);
        let placement = Placement::single();
        let map = CellMap { placement, cells: vec![main.clone()], loaded_at: None };
        Ok(Self(Arc::new(Inner {
            main,
            connect: connect.clone(),
            sizes,
            gates: Gates::default(),
            map: RwLock::new(Arc::new(map)),
            loading: tokio::sync::Mutex::default(),
            turn: AtomicUsize::new(0),
        })))
    }

    pub fn gates(&self) -> &Gates {
        &self.0.gates
    }

    /// The cell in the directory's database.
    pub fn main(&self) -> &Cell {
        &self.0.main
    }

    fn map(&self) -> Arc<CellMap> {
        self.0.map.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// All cells, main first, by a map that is at most some seconds old.
    pub async fn all(&self) -> Result<Vec<Cell>> {
        let map = self.map();
        if map.loaded_at.is_some_and(|at| at.elapsed() < MAP_TTL) {
            return Ok(map.cells.clone());
        }
        match self.reload(&map).await {
            Ok(map) => Ok(map.cells.clone()),
            // The directory may be away for a moment while the cells answer.
            Err(_) if map.loaded_at.is_some() => Ok(map.cells.clone()),
            Err(error) => Err(error),
        }
    }

    /// All cells, beginning with another one each time.
    pub async fn in_turn(&self) -> Result<Vec<Cell>> {
        let mut cells = self.all().await?;
        if cells.len() > 1 {
            let turn = self.0.turn.fetch_add(1, Ordering::Relaxed);
            let first = turn % cells.len();
            cells.rotate_left(first);
        }
        Ok(cells)
    }

    /// The cells without asking the directory.
    pub fn known(&self) -> Vec<Cell> {
        self.map().cells.clone()
    }

    /// Whether users are being moved, by the cached map.
    pub fn is_moving(&self) -> bool {
        self.map().placement.is_moving()
    }

    /// The name of the cell that holds a user by the cached map.
    pub fn name_of(&self, tenant: TenantId, user: UserId) -> Arc<str> {
        self.map().placement.route(tenant, user).cell.into()
    }

    /// Reads the map again if it is old: the cell that does not answer may have a new URL, or may
    /// have been drained.
    pub async fn refresh(&self) {
        let _ = self.all().await;
    }

    /// The first cell to ask for a user.
    pub fn first_step(&self, tenant: TenantId, user: UserId) -> Result<CellStep> {
        let map = self.map();
        let route = map.placement.route(tenant, user);
        Ok(CellStep { cell: map.cell(route.cell)?.clone(), via: 0, epoch: route.epoch })
    }

    /// The cell to ask after one has refused the user: the target of a move, or else the cell of
    /// the map as it is now.
    async fn next_step(&self, tenant: TenantId, user: UserId, last: &CellStep) -> Result<CellStep> {
        let map = self.map();
        let route = map.placement.route(tenant, user);
        let is_same = route.epoch == last.epoch && *route.cell == *last.cell.name;
        if let (Some(then), true, 0) = (route.then, is_same, last.via) {
            let cell = map.cell(then)?.clone();
            return Ok(CellStep { cell, via: route.epoch, epoch: route.epoch });
        }
        let was_used = route.epoch == last.epoch;
        if was_used {
            self.reload(&map).await?;
        }
        self.first_step(tenant, user)
    }

    /// Finds the cell of a user whom a cell has refused, and opens a transaction there. `opening`
    /// makes its first statements. Returns the cell and the connection.
    pub async fn open_elsewhere(
        &self,
        (tenant, user): (TenantId, UserId),
        purpose: Purpose,
        refused: &CellStep,
        opening: impl Fn(i64) -> String + Send,
    ) -> Result<(Cell, Object)> {
        let mut last = refused.clone();
        for tried in 0..MAX_STEPS {
            let step = self.next_step(tenant, user, &last).await?;
            if tried > 1 {
                // A move is between two of its steps.
                tokio::time::sleep(Duration::from_millis(u64::from(20 * tried))).await;
            }
            let connection = RollbackGuard::new(step.cell.connection(purpose).await?);
            let statements = opening(step.via);
            let cell = &step.cell;
            let opened = cell.while_answering(pin!(connection.batch_execute(&statements))).await?;
            match opened {
                Ok(()) => return Ok((step.cell, connection.disarm()?)),
                Err(Error::Elsewhere) => {
                    cell.while_answering(pin!(connection.batch_execute("rollback"))).await??;
                    drop(connection.disarm()?);
                }
                Err(error) => return Err(error),
            }
            last = step;
        }
        Err(Error::Unavailable("the user is being moved to another cell".into()))
    }

    /// The name of the cell that holds a user by the map; none while the user's range is moving.
    pub fn settled_cell(&self, tenant: TenantId, user: UserId) -> Option<Arc<str>> {
        let map = self.map();
        let route = map.placement.route(tenant, user);
        route.then.is_none().then(|| route.cell.into())
    }

    /// The target of the move of a user's range that has this epoch.
    pub async fn target(&self, tenant: TenantId, user: UserId, epoch: i64) -> Result<CellStep> {
        let mut map = self.map();
        if map.placement.route(tenant, user).epoch != epoch {
            map = self.reload(&map).await?;
        }
        let route = map.placement.route(tenant, user);
        let Some(then) = route.then.filter(|_| route.epoch == epoch) else {
            return Err(Error::Unavailable("the map of the cells is being changed".into()));
        };
        Ok(CellStep { cell: map.cell(then)?.clone(), via: epoch, epoch })
    }

    /// Reads the map again, unless another task has replaced `old` meanwhile.
    async fn reload(&self, old: &Arc<CellMap>) -> Result<Arc<CellMap>> {
        let _one = self.0.loading.lock().await;
        let map = self.map();
        if !Arc::ptr_eq(&map, old) {
            return Ok(map);
        }
        let (urls, placement) = read_map(&self.0.main.pools.auth).await?;
        let mut cells = vec![self.0.main.clone()];
        for (name, url) in urls {
            // The pools of a known cell are kept, unless its URL was changed.
            let known = map.cells.iter().find(|cell| *cell.name == *name);
            match known.filter(|cell| *cell.pools.url == *url) {
                Some(cell) => cells.push(cell.clone()),
                None => {
                    let connect = ConnectOptions { url, ..self.0.connect.clone() };
                    let pools = Pools::new(&connect, self.0.sizes)?;
                    cells.push(Cell::new(&name, pools));
                }
            }
        }
        let new = Arc::new(CellMap { placement, cells, loaded_at: Some(Instant::now()) });
        *self.0.map.write().unwrap_or_else(PoisonError::into_inner) = new.clone();
        Ok(new)
    }

    pub fn close(&self) {
        for cell in &self.map().cells {
            cell.pools.close();
        }
    }
}

/// The cells other than main with their URLs, and the placement.
async fn read_map(pool: &Pool) -> Result<(Vec<(String, String)>, Placement)> {
    const CELLS: &str = "select name, url from cell order by name";
    const RANGES: &str =
        "select tenant_id, first_user, last_user, cell, moving_to, epoch from placement";
    let mut connection = pool.get().await?;
    let transaction = connection.transaction().await?;
    transaction.batch_execute("set local app.cells = 'on'").await?;
    let cells = match transaction.query(CELLS, &[]).await {
        // A database without a schema.
        Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => {
            transaction.rollback().await?;
            return Ok((Vec::new(), Placement::single()));
        }
        other => other?,
    };
    let ranges = transaction.query(RANGES, &[]).await?;
    transaction.rollback().await?;
    let cells = cells.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?)));
    let cells = cells.collect::<Result<_>>()?;
    let ranges = ranges.iter().map(placed_range).collect::<Result<_>>()?;
    Ok((cells, placement_of(ranges)?))
}

/// The map of the rows of `placement`.
pub(crate) fn placement_of(ranges: Vec<PlacedRange>) -> Result<Placement> {
    let corrupt = |error: lukasa_core::placement::PlacementError| Error::Corrupt {
        table: "placement",
        what: error.to_string(),
    };
    Placement::new(ranges).map_err(corrupt)
}

/// One row of `placement`.
pub(crate) fn placed_range(row: &tokio_postgres::Row) -> Result<PlacedRange> {
    let tenant: Option<Uuid> = row.try_get(0)?;
    Ok(PlacedRange {
        tenant: tenant.map(TenantId::from_uuid),
        range: UserRange { first: row.try_get(1)?, last: row.try_get(2)? },
        cell: row.try_get(3)?,
        moving_to: row.try_get(4)?,
        epoch: row.try_get(5)?,
    })
}
