//! Cells, for operators: the databases of a deployment, and moving users between them.

use std::time::Duration;

use lukasa_core::placement::{MAIN_CELL, PlacedRange, Placement, UserRange};
use lukasa_core::time::micros;
use lukasa_core::{TenantId, Timestamp};
use lukasa_store::mover::{self, MoveOptions};
use lukasa_store::{ConnectOptions, Migration, cell_admin};

use crate::error::{Error, Result};

pub use lukasa_store::cell_admin::{CellAddress, ReplicationState};
pub use lukasa_store::mover::MoveProgress;

/// The cells of a deployment, main first.
pub async fn list(directory: &ConnectOptions) -> Result<Vec<CellAddress>> {
    Ok(cell_admin::list(directory).await?)
}

/// What was done to the schema of one cell.
#[derive(Debug)]
pub struct CellMigration {
    pub cell: String,
    /// The migrations that were applied, or that would be.
    pub steps: Result<Vec<Migration>>,
}

/// Applies the pending migrations to every cell, or only lists them. A cell that fails does not keep
/// the others from being migrated. The directory is the last: rows of its small tables are
/// replicated to the cells, and a cell without a new column could not take them.
pub async fn migrate(directory: &ConnectOptions, is_dry_run: bool) -> Result<Vec<CellMigration>> {
    let mut results = Vec::new();
    for CellAddress { name, connect, .. } in list(directory).await?.into_iter().rev() {
        let steps = match is_dry_run {
            true => lukasa_store::pending(&connect).await,
            false => lukasa_store::migrate(&connect).await,
        };
        results.push(CellMigration { cell: name, steps: steps.map_err(Error::from) });
    }
    Ok(results)
}

/// Which cell holds whom.
pub async fn placement(directory: &ConnectOptions) -> Result<Placement> {
    Ok(cell_admin::placement(directory).await?)
}

/// The number of users in a cell's database.
pub async fn count_users(cell: &ConnectOptions) -> Result<i64> {
    Ok(cell_admin::count_users(cell).await?)
}

/// Whether a cell's database matches the placement map.
pub async fn agrees(cell: &CellAddress, placement: &Placement) -> Result<bool> {
    Ok(cell_admin::holds(&cell.connect, &placement.holdings(&cell.name)).await?)
}

/// Adds an empty, migrated database as a cell.
pub async fn add(directory: &ConnectOptions, name: &str, url: &str, now: Timestamp) -> Result<()> {
    let connect = ConnectOptions { url: url.to_owned(), ..directory.clone() };
    if cell_admin::list(directory).await?.iter().any(|cell| cell.name == name) {
        return Err(Error::invalid("name", "there is a cell with this name"));
    }
    let mut locked = cell_admin::lock(directory).await?;
    Ok(locked.add(directory, name, &connect, micros(now)).await?)
}

/// Removes a cell that holds no users. Its files may have rows of users who were moved away: it has
/// to be scrubbed before, or its database was destroyed, which is `dropped`.
pub async fn remove(directory: &ConnectOptions, name: &str, dropped: bool) -> Result<()> {
    let mut locked = cell_admin::lock(directory).await?;
    let placement = locked.placement().await?;
    let is_used =
        |placed: &PlacedRange| placed.cell == name || placed.moving_to.as_deref() == Some(name);
    if name == MAIN_CELL || placement.ranges().iter().any(is_used) {
        return Err(Error::invalid("name", "the cell holds users; `lukasa cell drain` moves them"));
    }
    let cells = cell_admin::list(directory).await?;
    let Some(cell) = cells.iter().find(|cell| cell.name == name) else {
        return Err(Error::invalid("name", "there is no cell with this name"));
    };
    if dropped {
        return Ok(locked.forget(name).await?);
    }
    if cell.moved_from_at.is_some() {
        let why = "its files have rows of users who were moved: run `lukasa scrub` first, or destroy \
                   its database and remove it with --dropped";
        return Err(Error::invalid("name", why));
    }
    Ok(locked.remove(cell).await?)
}

/// Sets the URL of a cell, and makes the replication to it again.
pub async fn reconnect(directory: &ConnectOptions, name: &str, url: Option<&str>) -> Result<()> {
    let mut locked = cell_admin::lock(directory).await?;
    let cells = cell_admin::list(directory).await?;
    let cell = cells.iter().skip(1).find(|cell| cell.name == name);
    let cell = cell.ok_or_else(|| Error::invalid("name", "there is no cell with this name"))?;
    let url = url.unwrap_or(&cell.connect.url).to_owned();
    let connect = ConnectOptions { url, ..directory.clone() };
    Ok(locked.reconnect(directory, name, &connect).await?)
}

/// The replication of the small tables to a cell; none if there is none.
pub async fn replication(
    directory: &ConnectOptions,
    cell: &str,
) -> Result<Option<ReplicationState>> {
    Ok(cell_admin::replication(directory, cell).await?)
}

/// Which users to move, and where.
#[derive(Debug, Clone)]
pub struct MoveRequest {
    /// Only the users of this tenant, which is pinned by it.
    pub tenant: Option<TenantId>,
    pub range: UserRange,
    pub from: Option<String>,
    pub to: String,
    /// How long the writes of one user may wait for the copy of the user.
    pub max_pause: Duration,
}

/// Moves users between cells. A move that was interrupted is continued; one in the opposite
/// direction is reversed. Returns how many users were moved.
pub async fn move_users(
    directory: &ConnectOptions,
    request: &MoveRequest,
    now: Timestamp,
    tell: impl Fn(MoveProgress) + Send + Sync,
) -> Result<usize> {
    let cells = cell_admin::list(directory).await?;
    for name in request.from.iter().chain([&request.to]) {
        if cells.iter().all(|cell| cell.name != *name) {
            return Err(Error::invalid("cell", "there is no cell with this name"));
        }
    }
    if let Some(tenant) = request.tenant
        && !cell_admin::has_tenant(directory, tenant).await?
    {
        return Err(Error::invalid("tenant", "there is no tenant with this name"));
    }
    let mut locked = cell_admin::lock(directory).await?;
    let before = locked.placement().await?;
    let from = request.from.as_deref();
    let planned = before
        .begin_move(request.tenant, request.range, from, &request.to)
        .map_err(|error| Error::invalid("range", &error.to_string()))?;
    mover::begin(&mut locked, &cells, &before, &planned, micros(now)).await?;
    let to = Some(request.to.as_str());
    let is_ours = |placed: &&PlacedRange| {
        placed.tenant == request.tenant && placed.moving_to.as_deref() == to
    };
    let options = MoveOptions { max_pause: request.max_pause, ..MoveOptions::default() };
    let mut moved = 0;
    for moving in planned.ranges().iter().filter(is_ours) {
        let tell = |progress: MoveProgress| tell(MoveProgress { moved: moved + progress.moved });
        moved += mover::finish(&mut locked, &cells, moving, options, tell).await?.moved;
    }
    Ok(moved)
}

/// Moves all users out of a cell: the common ranges, and those of pinned tenants.
pub async fn drain(
    directory: &ConnectOptions,
    (name, to): (&str, &str),
    max_pause: Duration,
    now: Timestamp,
    tell: impl Fn(MoveProgress) + Send + Sync,
) -> Result<usize> {
    let placement = cell_admin::placement(directory).await?;
    let holds = |tenant: Option<TenantId>| {
        let of = |placed: &&PlacedRange| placed.tenant == tenant;
        placement
            .ranges()
            .iter()
            .filter(of)
            .any(|placed| placed.cell == name || placed.moving_to.as_deref() == Some(name))
    };
    let mut moved = 0;
    for tenant in placement.pinned_tenants().map(Some).chain([None]).filter(|t| holds(*t)) {
        let request = MoveRequest {
            tenant,
            range: UserRange::ALL,
            from: Some(name.to_owned()),
            to: to.to_owned(),
            max_pause,
        };
        let tell = |progress: MoveProgress| tell(MoveProgress { moved: moved + progress.moved });
        moved += move_users(directory, &request, now, tell).await?;
    }
    Ok(moved)
}
