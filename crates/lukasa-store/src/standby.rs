//! A standby of the main cell, from which the indexes of users are loaded.
//!
//! A standby replays the log of its primary with a delay. What it has of a user is used only if the user's
//! state in the same snapshot is the one that a request has read from the primary: in any other state rows
//! may be missing, or may have been removed since.

use futures_util::try_join;
use tokio_postgres::SimpleQueryMessage;

use crate::cells::{Cell, CellStep};
use crate::error::{Error, Result};
use crate::migrate::owner;
use crate::passage::RecallState;
use crate::pool::{PoolSizes, Pools, Purpose};
use crate::scope::{Access, Param, RouteToUser, Scope};
use crate::{ConnectOptions, Store};

impl Store {
    /// The same store, which may read whole users from this standby of the main cell.
    pub fn with_standby(self, standby: &ConnectOptions) -> Result<Self> {
        let pools = Pools::new(standby, PoolSizes { auth: 1, background: 1 })?;
        Ok(Self { standby: Some(Cell::standby(pools)), ..self })
    }

    /// A read transaction in the standby that has the user of `scope` in exactly this state. `None` without
    /// a standby, for users of other cells, and if the standby is behind, busy or does not answer.
    pub async fn read_standby(&self, scope: &Scope, state: RecallState) -> Option<Scope> {
        let standby = self.standby.as_ref().filter(|_| scope.is_in_main())?;
        let status = standby.pools.of(Purpose::Reads).status();
        if status.size >= status.max_size && status.available == 0 {
            return None;
        }
        match self.open_standby(standby, scope, state).await {
            Ok(opened) => opened,
            Err(error) => {
                tracing::debug!(%error, "the standby is not read");
                None
            }
        }
    }

    async fn open_standby(
        &self,
        standby: &Cell,
        scope: &Scope,
        state: RecallState,
    ) -> Result<Option<Scope>> {
        // After its promotion it is a primary with a history of its own.
        const SQL: &str = "select true from recall_state where user_id = $1 and pg_is_in_recovery() \
                             and (epoch, revision, facts, removed) = ($2, $3, $4, $5)";
        let connection = standby.connection(Purpose::Reads).await?;
        let step = CellStep::in_cell(standby);
        let route = RouteToUser {
            cells: self.cells.clone(),
            purpose: Purpose::Reads,
            access: Access::Read,
            tenant: scope.tenant(),
            user: scope.user(),
            step,
        };
        let opened = Scope::open_there(connection, route);
        let RecallState { epoch, revision, facts, removed } = state;
        let params: [Param<'_>; 5] = [&scope.user().uuid(), &epoch, &revision, &facts, &removed];
        let is_same = !opened.query(SQL, &params).await?.is_empty();
        Ok(is_same.then_some(opened))
    }
}

/// What a standby says about itself, compared with the primary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StandbyHealth {
    /// Whether it replays the log of a primary.
    pub is_standby: bool,
    /// Whether it was made from this primary.
    pub is_of_primary: bool,
    /// Bytes of the primary's log that it has not replayed.
    pub behind_bytes: u64,
}

/// Asks the primary and its standby, as the login roles of their URLs.
pub async fn health(primary: &ConnectOptions, standby: &ConnectOptions) -> Result<StandbyHealth> {
    const PRIMARY: &str = "select system_identifier::text, pg_current_wal_lsn() - '0/0'::pg_lsn \
                             from pg_control_system()";
    const STANDBY: &str = "select system_identifier::text, \
                             coalesce(pg_last_wal_replay_lsn(), '0/0') - '0/0'::pg_lsn, \
                             pg_is_in_recovery() from pg_control_system()";
    let (primary, standby) = try_join!(owner(primary), owner(standby))?;
    // The primary first, so that a standby is not ahead.
    let primary = columns(&primary.simple_query(PRIMARY).await?)?;
    let standby = columns(&standby.simple_query(STANDBY).await?)?;
    let position = |of: &[String]| of[1].parse::<u64>().unwrap_or_default();
    Ok(StandbyHealth {
        is_standby: standby[2] == "t",
        is_of_primary: standby[0] == primary[0],
        behind_bytes: position(&primary).saturating_sub(position(&standby)),
    })
}

/// The columns of the only row of an answer.
fn columns(answer: &[SimpleQueryMessage]) -> Result<Vec<String>> {
    let row = answer.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => Some(row),
        _ => None,
    });
    let row = row.ok_or(Error::Closed)?;
    Ok((0..row.len()).map(|at| row.get(at).unwrap_or_default().to_owned()).collect())
}
