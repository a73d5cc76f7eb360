//! Scrubbing: rewrites the database's files without erased data, as the owner of the tables.

use std::sync::Arc;

use lukasa_core::Timestamp;
use lukasa_core::time::micros;
use lukasa_store::cell_admin::{self, CellAddress};
use lukasa_store::{ConnectOptions, PoolSizes, Store, scrub};

use crate::error::Result;
use crate::modules::{Modules, State};
use crate::parts::Parts;

pub use lukasa_store::scrub::{ScrubProgress, ScrubReport};

/// Scrubs erased data from the files of all cells, as the owner. Without erasures since the last
/// scrub there is nothing to do, unless `always`. A cell that users were moved away from has their
/// rows in its files. The directory has the names of erased users of all cells, with their
/// credentials, and any cell may have a space that an erased user was a member of. So these are
/// rewritten before any erasure is marked as scrubbed. While users are being moved nothing is
/// scrubbed: the files of two cells have their rows.
pub async fn scrub(
    connect: &ConnectOptions,
    now: Timestamp,
    always: bool,
    tell: impl Fn(ScrubProgress) + Send + Sync,
) -> Result<ScrubReport> {
    let mut locked = cell_admin::lock(connect).await?;
    if cell_admin::placement(connect).await?.is_moving() {
        let moving = "users are being moved between cells: finish or reverse the move, then scrub";
        return Err(lukasa_store::Error::Configuration(moving.into()).into());
    }
    let connect_once = ConnectOptions { pool_size: 1, ..connect.clone() };
    let parts = Parts::new(Store::connect_with(&connect_once, PoolSizes::default())?);
    Modules::new(&Arc::new(parts), &State::default()).erasures.sweep_erased().await?;
    let cells = cell_admin::list(connect).await?;
    // Only what was erased by now is marked: its rows were deleted before any file is rewritten.
    let mut listed = Vec::new();
    for cell in &cells {
        listed.push((cell, scrub::unscrubbed(&cell.connect).await?));
    }
    let mut sum = ScrubReport::default();
    let of_whole_users: Vec<_> = listed.iter().map(|(cell, of)| (*cell, of.whole_users)).collect();
    for cell in cells_to_rewrite(&of_whole_users) {
        sum = sum.plus(&scrub::rewrite_files(&cell.connect, micros(now), &tell).await?);
        locked.clear_moved_from(cell).await?;
    }
    for (cell, erasures) in &listed {
        locked.check_locked().await?;
        let done = scrub::scrub(&cell.connect, erasures, micros(now), always, &tell).await?;
        sum = sum.plus(&done);
    }
    Ok(sum)
}

/// The cells whose files are rewritten before any erasure is marked, of those with whether users were
/// erased in them. What an erasure removed from its own cell is rewritten with the erasures there.
fn cells_to_rewrite<'c>(cells: &[(&'c CellAddress, bool)]) -> Vec<&'c CellAddress> {
    let erased_elsewhere =
        |cell: &CellAddress| cells.iter().any(|(other, erased)| *erased && other.name != cell.name);
    let is_needed = |cell: &CellAddress| cell.moved_from_at.is_some() || erased_elsewhere(cell);
    cells.iter().map(|(cell, _)| *cell).filter(|cell| is_needed(cell)).collect()
}

/// Rights that the login role lacks for a scrub, as text; empty if it has all.
pub async fn lacking_rights(connect: &ConnectOptions) -> Result<Vec<String>> {
    let mut lacking = Vec::new();
    for cell in cell_admin::list(connect).await? {
        lacking.extend(scrub::lacking_rights(&cell.connect).await?);
    }
    lacking.dedup();
    Ok(lacking)
}

/// Number of erasures that are not yet scrubbed from the database files.
pub async fn unscrubbed(connect: &ConnectOptions) -> Result<usize> {
    let mut pending = 0;
    for cell in cell_admin::list(connect).await? {
        pending += scrub::pending(&cell.connect).await?;
    }
    Ok(pending)
}

#[cfg(test)]
mod tests {
    use lukasa_core::placement::MAIN_CELL;

    use super::*;

    #[test]
    fn scrub_rewrites_the_other_cells_after_an_erasure_of_a_user() {
        let connect = || ConnectOptions { url: String::new(), pool_size: 1, ca_file: None };
        let cell = |name: &str, moved: bool| CellAddress {
            name: name.to_owned(),
            connect: connect(),
            moved_from_at: moved.then_some(Timestamp::UNIX_EPOCH),
        };
        let (main, east) = (cell(MAIN_CELL, false), cell("east", false));
        let west = cell("west", true);
        let names = |cells: &[(&CellAddress, bool)]| -> Vec<String> {
            cells_to_rewrite(cells).into_iter().map(|cell| cell.name.clone()).collect()
        };
        assert_eq!(names(&[(&main, false), (&east, true)]), [MAIN_CELL]);
        assert_eq!(names(&[(&main, false), (&east, true), (&west, false)]), [MAIN_CELL, "west"]);
        // The other cells may have spaces that the user was a member of. An erasure in main is
        // scrubbed from the files of main with the others there.
        assert_eq!(names(&[(&main, true), (&east, false)]), ["east"]);
        assert_eq!(names(&[(&main, true), (&east, true)]), [MAIN_CELL, "east"]);
        assert_eq!(names(&[(&main, true)]), Vec::<String>::new());
        assert_eq!(names(&[(&main, false), (&east, false)]), Vec::<String>::new());
        assert_eq!(names(&[(&main, false), (&west, false)]), ["west"]);
    }
}
