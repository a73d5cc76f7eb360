//! Checks of the cells other than main. With one cell there are none.

use lukasa_core::placement::Placement;
use lukasa_engine::ConnectOptions;
use lukasa_engine::cells::{self, CellAddress};

use super::{Check, with_cause};

/// Whether every cell answers, has the schema and matches the placement map, and whether a move is
/// under way.
pub async fn cells(directory: &ConnectOptions) -> Vec<Check> {
    const MAP: &str = "run `lukasa migrate`";
    let read = async { Ok((cells::list(directory).await?, cells::placement(directory).await?)) };
    let (found, placement): (Vec<CellAddress>, Placement) = match read.await {
        Ok(read) => read,
        Err(error) => {
            let error: lukasa_engine::Error = error;
            return vec![Check::new("cells", false, with_cause(&error), MAP)];
        }
    };
    let mut checks = Vec::new();
    if found.len() == 1 {
        return checks;
    }
    for cell in &found {
        checks.push(check(cell, &placement).await);
    }
    for cell in found.iter().skip(1) {
        checks.push(check_replication(directory, &cell.name).await);
    }
    let moving = placement.ranges().iter().find(|placed| placed.moving_to.is_some());
    let text = moving.map_or("none is under way".to_owned(), |placed| {
        let to = placed.moving_to.as_deref().unwrap_or_default();
        format!("{} from {} to {to} is not finished", placed.range, placed.cell)
    });
    let fix =
        "run the `lukasa cell move` again to finish it, or with the cells exchanged to reverse it";
    checks.push(Check::new("moves", moving.is_none(), text, fix).or_warn());
    let unscrubbed = found.iter().filter(|cell| cell.moved_from_at.is_some());
    let names: Vec<&str> = unscrubbed.map(|cell| cell.name.as_str()).collect();
    let text = match names.is_empty() {
        true => "no deleted rows of moved users are left in the data files".to_owned(),
        false => format!(
            "deleted rows of moved users are still in the data files of {}",
            names.join(", ")
        ),
    };
    checks.push(Check::new("moved users", names.is_empty(), text, "run `lukasa scrub`").or_warn());
    checks
}

/// Whether the directory's small tables reach a cell, and how much of the directory's log is kept
/// for it.
async fn check_replication(directory: &ConnectOptions, cell: &str) -> Check {
    const MAX_KEPT_BYTES: i64 = 1 << 30;
    const FIX: &str = "start the cell's PostgreSQL; else run `lukasa cell reconnect`, or `lukasa cell \
                       remove` if the cell is gone: the directory's log grows until then";
    let (good, text) = match cells::replication(directory, cell).await {
        Ok(Some(state)) => {
            let kept = state.kept_bytes / (1 << 20);
            let is_good = state.is_active && state.kept_bytes < MAX_KEPT_BYTES;
            let word = if state.is_active { "is connected" } else { "is not connected" };
            (is_good, format!("{cell} {word}; {kept} MB of the directory's log are kept for it"))
        }
        Ok(None) => {
            (false, format!("{cell} receives no changes of tenants, policies and webhooks"))
        }
        Err(error) => (false, with_cause(&error)),
    };
    Check::new("replication", good, text, FIX).or_warn()
}

async fn check(cell: &CellAddress, placement: &Placement) -> Check {
    const FIX: &str = "start its PostgreSQL, or correct its URL; run `lukasa migrate`; a cell that was \
                       restored from a backup from before a move has to be compared with the map";
    let verdict = async {
        let pending = lukasa_engine::pending_migrations(&cell.connect).await?;
        if !pending.is_empty() {
            return Ok((false, format!("{} migrations to apply", pending.len())));
        }
        let agrees = cells::agrees(cell, placement).await?;
        let text =
            if agrees { "matches the placement map" } else { "does not match the placement map" };
        Ok::<_, lukasa_engine::Error>((agrees, text.to_owned()))
    };
    let (good, text) = match verdict.await {
        Ok(verdict) => verdict,
        Err(error) => (false, with_cause(&error)),
    };
    Check::new("cell", good, format!("{}: {text}", cell.name), FIX)
}
