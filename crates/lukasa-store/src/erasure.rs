//! Erasures: counting what would be removed, removing everything about a user, and the permanent
//! record of erasures, which holds only ids and numbers.

use std::collections::{BTreeMap, HashSet};

use lukasa_core::placement::HoldingState;
use lukasa_core::{
    ErasureId, FactId, ObservationId, OperationId, TenantId, Timestamp, TurnId, UserId, Verb,
};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::cells::Cell;
use crate::error::{Error, Result};
use crate::pool::Purpose;
use crate::row::{Columns, all, one};
use crate::scope::{Access, Batch, Owned, Param, RouteToUser, Scope};
use crate::tables::ERASED;
use crate::{Store, directory};

/// Row counts by table. Tables without rows are left out.
pub type Rows = BTreeMap<String, i64>;

/// One permanent removal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erasure {
    pub id: ErasureId,
    /// The fact, turn or observation that was removed; none of them if the whole user was.
    pub fact: Option<FactId>,
    pub turn: Option<TurnId>,
    pub observation: Option<ObservationId>,
    pub verb: Verb,
    pub operation: Option<OperationId>,
    pub erased_at: Timestamp,
    pub removed: Rows,
    /// Whether it was repeated after a restored backup had brought the data back.
    pub replayed: bool,
    /// When the database's files had been rewritten without the data.
    pub scrubbed_at: Option<Timestamp>,
}

impl Erasure {
    /// An erasure of everything about a user, of which no row has been removed yet.
    pub fn new(id: ErasureId, verb: Verb, erased_at: Timestamp) -> Self {
        Self {
            id,
            fact: None,
            turn: None,
            observation: None,
            verb,
            operation: None,
            erased_at,
            removed: Rows::new(),
            replayed: false,
            scrubbed_at: None,
        }
    }
}

/// An erasure with its tenant and user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasureRecord {
    pub tenant: TenantId,
    pub user: UserId,
    pub id: ErasureId,
    pub fact: Option<FactId>,
    pub turn: Option<TurnId>,
    pub observation: Option<ObservationId>,
    pub erased_at: Timestamp,
}

/// Counts the user's rows.
pub async fn count_user(scope: &Scope) -> Result<Rows> {
    let mut rows = Rows::new();
    for table in ERASED {
        count_rows(&mut rows, table.name, scope, table.count).await?;
    }
    Ok(rows)
}

/// Upper bound of rows that one transaction of an erasure removes.
pub const BATCH_ROWS: i64 = 5_000;

/// Result of one transaction of an erasure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    pub removed: Rows,
    /// Index of the table to continue with; `None` once all tables are empty.
    pub next: Option<usize>,
}

/// The tables that say which spaces a user is a member of, and which members a space has. They are
/// kept until nothing in the rows of the others names the user.
pub const RELATIONS: &[&str] = &["space_grant", "membership"];

/// Removes up to [`BATCH_ROWS`] of the user's rows, starting with a table, except those of the tables
/// in `kept`. The user's own row and credentials are not included; they belong to the directory.
pub async fn remove_batch(scope: &Scope, from: usize, kept: &[&str]) -> Result<Removal> {
    let (mut removed, mut left) = (Rows::new(), BATCH_ROWS);
    for (place, table) in ERASED.iter().enumerate().skip(from) {
        if kept.contains(&table.name) {
            continue;
        }
        let counted = scope.query(table.remove, &[&scope.user().uuid(), &left]).await?;
        let count = one(&counted, |row| Columns::of(row, "erasure").take::<i64>())?.unwrap_or(0);
        if count > 0 {
            removed.insert(table.name.to_owned(), count);
        }
        left -= count;
        if left <= 0 {
            return Ok(Removal { removed, next: Some(place) });
        }
    }
    // All tables are checked once more in one transaction: a write in progress when the user was
    // marked deleted may have written into a table that was already empty.
    let next = (from > 0).then_some(0);
    Ok(Removal { removed, next })
}

async fn count_rows(rows: &mut Rows, table: &str, scope: &Scope, sql: &'static str) -> Result<()> {
    let counted = scope.query(sql, &[&scope.user().uuid()]).await?;
    let count = one(&counted, |row| Columns::of(row, "erasure").take::<i64>())?.unwrap_or(0);
    if count > 0 {
        rows.insert(table.to_owned(), count);
    }
    Ok(())
}

/// Counts the rows that removing a fact removes, by table.
pub async fn count_fact(scope: &Scope, fact: FactId) -> Result<Rows> {
    const COUNTED: [&str; 11] = [
        "fact",
        "fact_version",
        "link",
        "compared_pair",
        "passage",
        "embedding",
        "baseline",
        "given_baseline",
        "retrieval",
        "usage",
        "idempotency",
    ];
    const SQL: &str = "with versions as (select version_id from fact_version \
                          where user_id = $1 and fact_id = $2) \
        select (select count(*) from fact where user_id = $1 and fact_id = $2), \
               (select count(*) from versions), \
               (select count(*) from link \
                 where user_id = $1 and (from_fact = $2 or to_fact = $2)), \
               (select count(*) from compared_pair \
                 where user_id = $1 and (older_fact = $2 or newer_fact = $2)), \
               (select count(*) from passage \
                 where user_id = $1 and source_id in (select version_id from versions)), \
               (select count(*) from embedding \
                 where user_id = $1 and source_id in (select version_id from versions)), \
               (select count(*) from baseline where user_id = $1 and $2 = any(facts)), \
               (select count(*) from given_baseline where user_id = $1 and $2 = any(facts)), \
               (select count(*) from retrieval where user_id = $1 and ($2 = any(facts) or etag in \
                 (select etag from given_baseline where user_id = $1 and $2 = any(facts)))), \
               (select count(*) from usage where user_id = $1 and fact_id = $2), \
               (select count(*) from idempotency \
                 where user_id = $1 and $2 = any(facts) and outcome is not null)";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &fact.uuid()]).await?;
    let counts = one(&rows, |row| {
        let mut c = Columns::of(row, "fact_version");
        COUNTED.iter().map(|table| Ok(((*table).to_owned(), c.take()?))).collect::<Result<Rows>>()
    })?;
    let mut counts = counts.unwrap_or_default();
    counts.retain(|_, count| *count > 0);
    Ok(counts)
}

fn erasure(row: &Row) -> Result<Erasure> {
    let mut c = Columns::of(row, "erasure");
    Ok(Erasure {
        id: ErasureId::from_uuid(c.take()?),
        fact: c.take::<Option<Uuid>>()?.map(FactId::from_uuid),
        turn: c.take::<Option<Uuid>>()?.map(TurnId::from_uuid),
        observation: c.take::<Option<Uuid>>()?.map(ObservationId::from_uuid),
        verb: c.word(Verb::parse)?,
        operation: c.take::<Option<Uuid>>()?.map(OperationId::from_uuid),
        erased_at: c.take()?,
        removed: c.json()?,
        replayed: c.take()?,
        scrubbed_at: c.take()?,
    })
}

/// Records finished erasures, with one statement.
pub fn insert(batch: &mut Batch, scope: &Scope, new: &[Erasure]) {
    const SQL: &str = "insert into erasure (user_id, tenant_id, erasure_id, fact_id, turn_id, \
                       observation_id, verb, operation_id, erased_at, removed, replayed, finished_at) \
                       select $1, $2, n.id, n.fact, n.turn, n.observation, n.verb, n.operation, n.at, \
                              n.removed, n.replayed, n.at \
                         from unnest($3::uuid[], $4::uuid[], $5::uuid[], $6::uuid[], $7::text[], \
                                     $8::uuid[], $9::timestamptz[], $10::jsonb[], $11::boolean[]) \
                           as n (id, fact, turn, observation, verb, operation, at, removed, replayed)";
    if new.is_empty() {
        return;
    }
    let fact = |new: &Erasure| new.fact.map(FactId::uuid);
    let turn = |new: &Erasure| new.turn.map(TurnId::uuid);
    let observation = |new: &Erasure| new.observation.map(ObservationId::uuid);
    let operation = |new: &Erasure| new.operation.map(OperationId::uuid);
    batch.push(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(scope.tenant().uuid()),
            Box::new(new.iter().map(|new| new.id.uuid()).collect::<Vec<_>>()),
            Box::new(new.iter().map(fact).collect::<Vec<_>>()),
            Box::new(new.iter().map(turn).collect::<Vec<_>>()),
            Box::new(new.iter().map(observation).collect::<Vec<_>>()),
            Box::new(new.iter().map(|new| new.verb.as_str()).collect::<Vec<_>>()),
            Box::new(new.iter().map(operation).collect::<Vec<_>>()),
            Box::new(new.iter().map(|new| new.erased_at).collect::<Vec<_>>()),
            Box::new(new.iter().map(|new| serde_json::json!(new.removed)).collect::<Vec<_>>()),
            Box::new(new.iter().map(|new| new.replayed).collect::<Vec<_>>()),
        ],
    );
}

/// Records that the erasure of a user has begun, leased to this process.
pub fn begin(batch: &mut Batch, scope: &Scope, new: &Erasure, leased_until: Timestamp) {
    const SQL: &str = "insert into erasure (user_id, tenant_id, erasure_id, fact_id, turn_id, \
                       observation_id, verb, operation_id, erased_at, removed, replayed, \
                       leased_until) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    let params: Vec<Owned> = vec![
        Box::new(scope.user().uuid()),
        Box::new(scope.tenant().uuid()),
        Box::new(new.id.uuid()),
        Box::new(new.fact.map(FactId::uuid)),
        Box::new(new.turn.map(TurnId::uuid)),
        Box::new(new.observation.map(ObservationId::uuid)),
        Box::new(new.verb.as_str()),
        Box::new(new.operation.map(OperationId::uuid)),
        Box::new(new.erased_at),
        Box::new(serde_json::json!(new.removed)),
        Box::new(new.replayed),
        Box::new(leased_until),
    ];
    batch.push(SQL, params);
}

/// The latest finished erasures of the user, newest first.
pub async fn latest(scope: &Scope, limit: i64) -> Result<Vec<Erasure>> {
    const SQL: &str = "select erasure_id, fact_id, turn_id, observation_id, verb, operation_id, \
                       erased_at, removed, replayed, scrubbed_at from erasure where user_id = $1 \
                         and finished_at is not null \
                       order by erased_at desc, erasure_id desc limit $2";
    all(&scope.query(SQL, &[&scope.user().uuid(), &limit]).await?, erasure)
}

/// The unfinished erasure of the scope's own user, if there is one.
pub async fn unfinished(scope: &Scope) -> Result<Option<Erasure>> {
    const SQL: &str = "select erasure_id, fact_id, turn_id, observation_id, verb, operation_id, \
                       erased_at, removed, replayed, scrubbed_at from erasure where user_id = $1 \
                         and finished_at is null order by erased_at limit 1";
    one(&scope.query(SQL, &[&scope.user().uuid()]).await?, erasure)
}

/// Whether an erasure of the scope's own user is recorded.
pub async fn is_on_record(scope: &Scope, id: ErasureId) -> Result<bool> {
    const SQL: &str = "select true from erasure where user_id = $1 and erasure_id = $2";
    Ok(!scope.query(SQL, &[&scope.user().uuid(), &id.uuid()]).await?.is_empty())
}

/// Stores the progress of an erasure in the transaction that made it; with `finished_at` it is
/// finished.
pub async fn progress(
    scope: &Scope,
    erasure: &Erasure,
    leased_until: Timestamp,
    finished_at: Option<Timestamp>,
) -> Result<()> {
    const SQL: &str = "update erasure set removed = $3, leased_until = $4, finished_at = $5 \
                       where user_id = $1 and erasure_id = $2 and finished_at is null";
    let leased_until = finished_at.is_none().then_some(leased_until);
    let removed = serde_json::json!(erasure.removed);
    let params: [Param<'_>; 5] =
        [&scope.user().uuid(), &erasure.id.uuid(), &removed, &leased_until, &finished_at];
    scope.query(SQL, &params).await?;
    Ok(())
}

/// The seeds of the installation's signing keys.
pub struct SigningSeeds {
    /// Of the key in use.
    pub current: Vec<u8>,
    /// Of earlier keys that are still accepted.
    pub retired: Vec<Vec<u8>>,
    /// Of the keys of digests. A rotation does not change it, because digests stay in tables.
    pub digests: Vec<u8>,
}

impl SigningSeeds {
    /// Every accepted seed, the one in use first.
    pub fn accepted(&self) -> impl Iterator<Item = &[u8]> {
        std::iter::once(&self.current).chain(&self.retired).map(Vec::as_slice)
    }
}

impl Store {
    /// The seeds of the installation's keys.
    pub async fn signing_seeds(&self) -> Result<SigningSeeds> {
        const SQL: &str = "select seed, digest_seed from signing_key union all \
                           select seed, null from retired_signing_key where accepted_until > now()";
        let mut connection = self.directory_connection(Purpose::Reads).await?;
        let transaction = connection.transaction().await?;
        transaction.batch_execute("set local app.signing = 'on'").await?;
        let rows = transaction.query(SQL, &[]).await?;
        transaction.rollback().await?;
        let seeds = all(&rows, |row| {
            let mut c = Columns::of(row, "signing_key");
            Ok((c.take::<Vec<u8>>()?, c.take::<Option<Vec<u8>>>()?))
        })?;
        let (mut in_use, mut retired) = (None, Vec::new());
        for (seed, digests) in seeds {
            match digests {
                Some(digests) => in_use = Some((seed, digests)),
                None => retired.push(seed),
            }
        }
        let missing = || Error::Corrupt { table: "signing_key", what: "no key".into() };
        let (current, digests) = in_use.ok_or_else(missing)?;
        Ok(SigningSeeds { current, retired, digests })
    }

    /// Claims an unfinished erasure of a user whose lease is free or expired.
    pub async fn claim_erasure(
        &self,
        now: Timestamp,
        leased_until: Timestamp,
    ) -> Result<Option<(TenantId, UserId)>> {
        for cell in self.cells.all().await? {
            let claimed = claim_erasure_in(&cell, now, leased_until);
            let claimed = cell.or_leave_out(claimed).await?.flatten();
            if claimed.is_some() {
                return Ok(claimed);
            }
        }
        Ok(None)
    }

    /// Up to `limit` erasures of all users after one of them, by time.
    pub async fn erasures_after(
        &self,
        after: (Timestamp, Option<ErasureId>),
        limit: i64,
    ) -> Result<Vec<ErasureRecord>> {
        const SQL: &str = "select tenant_id, user_id, erasure_id, fact_id, turn_id, \
                             observation_id, erased_at from erasure where (erased_at, erasure_id) > ($1, $2) \
                           order by erased_at, erasure_id limit $3";
        self.page_of_erasures(SQL, after, limit).await
    }

    /// The same, only erasures of whole users that are not scrubbed yet.
    pub async fn unscrubbed_users_after(
        &self,
        after: (Timestamp, Option<ErasureId>),
        limit: i64,
    ) -> Result<Vec<ErasureRecord>> {
        const SQL: &str = "select tenant_id, user_id, erasure_id, fact_id, turn_id, \
                             observation_id, erased_at from erasure where (erased_at, erasure_id) > ($1, $2) \
                             and scrubbed_at is null and fact_id is null and turn_id is null \
                             and observation_id is null \
                             and finished_at is not null \
                           order by erased_at, erasure_id limit $3";
        self.page_of_erasures(SQL, after, limit).await
    }

    async fn page_of_erasures(
        &self,
        sql: &str,
        (at, id): (Timestamp, Option<ErasureId>),
        limit: i64,
    ) -> Result<Vec<ErasureRecord>> {
        let id = id.map_or(Uuid::nil(), ErasureId::uuid);
        let mut found = Vec::new();
        for mut connection in self.connections(Purpose::Reads).await? {
            let transaction = connection.transaction().await?;
            transaction.batch_execute("set local app.scrub = 'on'").await?;
            let rows = transaction.query(sql, &[&at, &id, &limit]).await?;
            transaction.rollback().await?;
            found.extend(all(&rows, |row| {
                let mut c = Columns::of(row, "erasure");
                Ok(ErasureRecord {
                    tenant: TenantId::from_uuid(c.take()?),
                    user: UserId::from_uuid(c.take()?),
                    id: ErasureId::from_uuid(c.take()?),
                    fact: c.take::<Option<Uuid>>()?.map(FactId::from_uuid),
                    turn: c.take::<Option<Uuid>>()?.map(TurnId::from_uuid),
                    observation: c.take::<Option<Uuid>>()?.map(ObservationId::from_uuid),
                    erased_at: c.take()?,
                })
            })?);
        }
        found.sort_by_key(|record| (record.erased_at, record.id));
        found.dedup();
        found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(found)
    }

    /// Those of these erasures that are recorded in the cell that holds their user. Another cell may
    /// have a record, too, if one of them was restored from a backup.
    pub async fn erasures_on_record(
        &self,
        asked: &[(TenantId, UserId, ErasureId)],
    ) -> Result<HashSet<ErasureId>> {
        const SQL: &str = "select e.erasure_id from unnest($1::uuid[], $2::uuid[]) \
                             as asked (user_id, erasure_id) \
                           join erasure e on e.user_id = asked.user_id \
                             and e.erasure_id = asked.erasure_id";
        let mut found = HashSet::new();
        for cell in self.cells.all().await? {
            let here = asked.iter().filter(|(tenant, user, _)| {
                self.cells.settled_cell(*tenant, *user).is_some_and(|name| name == cell.name)
            });
            let (users, ids): (Vec<Uuid>, Vec<Uuid>) =
                here.map(|(_, user, id)| (user.uuid(), id.uuid())).unzip();
            if ids.is_empty() {
                continue;
            }
            let mut connection = cell.connection(self.purpose(Purpose::Reads)).await?;
            let transaction = connection.transaction().await?;
            transaction.batch_execute("set local app.scrub = 'on'").await?;
            let rows = transaction.query(SQL, &[&users, &ids]).await?;
            transaction.rollback().await?;
            let id = |row: &Row| Ok(ErasureId::from_uuid(Columns::of(row, "erasure").take()?));
            found.extend(all(&rows, id)?);
        }
        // The user may be moving, or have been moved since the map was read.
        for (tenant, user, id) in asked {
            if found.contains(id) {
                continue;
            }
            let scope = self.read(*tenant, *user).await?;
            if is_on_record(&scope, *id).await? {
                found.insert(*id);
            }
        }
        Ok(found)
    }

    /// Removes the rows that an interrupted move has left of a user in the target, while the source
    /// holds the user. `scope` is a write of the user that has read a row: its lock keeps the user
    /// from being moved meanwhile. No request reaches such rows.
    pub async fn remove_copy(&self, scope: &Scope, now: Timestamp) -> Result<()> {
        const HOLDING: &str = "select state, epoch from holding \
                               where (tenant_id = $1 or tenant_id is null) \
                                 and $2 between first_user and last_user \
                               order by tenant_id nulls last limit 1";
        let (tenant, user) = (scope.tenant(), scope.user());
        let rows = scope.query(HOLDING, &[&tenant.uuid(), &user.uuid()]).await?;
        let held = one(&rows, |row| {
            let mut c = Columns::of(row, "holding");
            Ok((c.take::<String>()?, c.take::<i64>()?))
        })?;
        let Some((_, epoch)) = held.filter(|(state, _)| state == HoldingState::Leaving.as_str())
        else {
            return Ok(());
        };
        let step = self.cells.target(tenant, user, epoch).await?;
        let mut from = Some(0);
        while let Some(place) = from {
            let (purpose, access) = (self.purpose(Purpose::Writes), Access::Write);
            let (cells, step) = (self.cells.clone(), step.clone());
            let connection = step.cell.connection(purpose).await?;
            let route = RouteToUser { cells, purpose, access, tenant, user, step };
            let copy = Scope::open_there(connection, route);
            match directory::me(&copy).await {
                Ok(Some(_)) => {}
                Ok(None) => return Ok(()),
                Err(Error::Elsewhere) => {
                    let changing = "the move of the user is being reversed";
                    return Err(Error::Unavailable(changing.into()));
                }
                Err(error) => return Err(error),
            }
            directory::mark_deleted(&copy, now).await?;
            from = remove_batch(&copy, place, &[]).await?.next;
            copy.commit().await?;
        }
        Ok(())
    }

    /// How far a journal was compared with every cell, if it was. A cell that was restored from a
    /// backup has an older checkpoint than the others.
    pub async fn journal_checkpoint(&self, journal: &str) -> Result<Option<Checkpoint>> {
        const SQL: &str =
            "select bytes, line, checked_until from journal_checkpoint where journal = $1";
        let mut oldest: Option<Checkpoint> = None;
        for mut connection in self.connections(Purpose::Reads).await? {
            let transaction = connection.transaction().await?;
            transaction.batch_execute("set local app.scrub = 'on'").await?;
            let rows = transaction.query(SQL, &[&journal]).await?;
            transaction.rollback().await?;
            let found = one(&rows, |row| {
                let mut c = Columns::of(row, "journal_checkpoint");
                Ok(Checkpoint { bytes: c.take()?, line: c.take()?, checked_until: c.take()? })
            })?;
            let Some(mut found) = found else { return Ok(None) };
            if let Some(before) = oldest {
                let checked_until = before.checked_until.min(found.checked_until);
                found = if before.bytes < found.bytes { before } else { found };
                found.checked_until = checked_until;
            }
            oldest = Some(found);
        }
        Ok(oldest)
    }

    pub async fn set_journal_checkpoint(&self, journal: &str, to: &Checkpoint) -> Result<()> {
        const SQL: &str = "insert into journal_checkpoint (journal, bytes, line, checked_until) \
                           values ($1, $2, $3, $4) on conflict (journal) do update \
                           set bytes = $2, line = $3, checked_until = $4";
        for mut connection in self.connections(Purpose::Writes).await? {
            let transaction = connection.transaction().await?;
            transaction.batch_execute("set local app.scrub = 'on'").await?;
            transaction.execute(SQL, &[&journal, &to.bytes, &to.line, &to.checked_until]).await?;
            transaction.commit().await?;
        }
        Ok(())
    }
}

/// Progress of the comparison of a journal with the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Everything in the journal before this offset was compared.
    pub bytes: i64,
    /// The digest of the line that ends there.
    pub line: String,
    /// Every recorded erasure up to this time is in the journal.
    pub checked_until: Timestamp,
}

async fn claim_erasure_in(
    cell: &Cell,
    now: Timestamp,
    leased_until: Timestamp,
) -> Result<Option<(TenantId, UserId)>> {
    const SQL: &str = "with next as (select user_id, erasure_id from erasure \
                         where finished_at is null \
                           and (leased_until is null or leased_until <= $1) \
                         order by erased_at limit 1 for update skip locked) \
                       update erasure set leased_until = $2 from next \
                       where erasure.user_id = next.user_id \
                         and erasure.erasure_id = next.erasure_id \
                       returning erasure.tenant_id, erasure.user_id";
    let mut connection = cell.connection(Purpose::Background).await?;
    let transaction = connection.transaction().await?;
    transaction.batch_execute("set local app.scrub = 'on'").await?;
    let rows = transaction.query(SQL, &[&now, &leased_until]).await?;
    transaction.commit().await?;
    one(&rows, |row| {
        let mut c = Columns::of(row, "erasure");
        Ok((TenantId::from_uuid(c.take()?), UserId::from_uuid(c.take()?)))
    })
}
