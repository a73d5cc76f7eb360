//! Observations: raw events of other applications and of agents.

use lukasa_core::observation::{Observation, ObservedPattern, PATTERN_DAYS, PATTERN_TIMES};
use lukasa_core::{ImportId, ObservationId, OperationId, Origin, Timestamp, Version};
use serde::{Deserialize, Serialize};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::Result;
use crate::fact::{version, version_columns};
use crate::row::{Columns, all};
use crate::scope::{Batch, Param, Scope};

macro_rules! observation_columns {
    () => {
        "observation_id, source, kind, at, recorded_at, payload, session_id, project, origin"
    };
}

fn observation(row: &Row) -> Result<Observation> {
    let mut c = Columns::of(row, "observation");
    Ok(Observation {
        id: ObservationId::from_uuid(c.take()?),
        source: c.take()?,
        kind: c.take()?,
        at: c.take()?,
        recorded_at: c.take()?,
        payload: c.take()?,
        session: c.take()?,
        project: c.project()?,
        origin: c.word(Origin::parse)?,
    })
}

/// Appends observations. One that exists, or that was removed permanently, is left out.
pub fn insert(batch: &mut Batch, scope: &Scope, new: &[Observation], import: Option<ImportId>) {
    const SQL: &str = "insert into observation (user_id, tenant_id, observation_id, source, kind, \
                         at, recorded_at, payload, value, session_id, project, origin, import_id) \
                       select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 \
                        where not exists (select 1 from tombstone \
                                           where user_id = $1 and fact_id = $3) \
                       on conflict do nothing";
    for new in new {
        batch.push(
            SQL,
            vec![
                Box::new(scope.user().uuid()),
                Box::new(scope.tenant().uuid()),
                Box::new(new.id.uuid()),
                Box::new(new.source.clone()),
                Box::new(new.kind.clone()),
                Box::new(new.at),
                Box::new(new.recorded_at),
                Box::new(new.payload.clone()),
                Box::new(new.value()),
                Box::new(new.session.clone()),
                Box::new(new.project.as_ref().map(ToString::to_string)),
                Box::new(new.origin.as_str()),
                Box::new(import.map(ImportId::uuid)),
            ],
        );
    }
}

/// Which observations are listed; absent filters admit all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObservationFilter {
    pub source: Option<String>,
    pub kind: Option<String>,
    pub session: Option<String>,
    pub project: Option<String>,
    pub since: Option<Timestamp>,
    pub until: Option<Timestamp>,
}

/// Cursor: the last observation of the previous page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservationPlace {
    pub at: Timestamp,
    pub id: ObservationId,
}

/// Observations, newest first.
pub async fn page(
    scope: &Scope,
    filter: &ObservationFilter,
    after: Option<ObservationPlace>,
    limit: i64,
) -> Result<Vec<Observation>> {
    const SQL: &str = concat!(
        "select ",
        observation_columns!(),
        " from observation where user_id = $1 and withdrawn_by is null \
           and ($2::text is null or source = $2) and ($3::text is null or kind = $3) \
           and ($4::text is null or session_id = $4) and ($5::text is null or project = $5) \
           and ($6::timestamptz is null or at >= $6) and ($7::timestamptz is null or at < $7) \
           and ($8::timestamptz is null or (at, observation_id) < ($8, $9)) \
          order by at desc, observation_id desc limit $10"
    );
    let (at, id) = (after.map(|place| place.at), after.map(|place| place.id.uuid()));
    let params: [Param<'_>; 10] = [
        &scope.user().uuid(),
        &filter.source,
        &filter.kind,
        &filter.session,
        &filter.project,
        &filter.since,
        &filter.until,
        &at,
        &id,
        &limit,
    ];
    all(&scope.query(SQL, &params).await?, observation)
}

/// The next observations after one, for an export.
pub async fn after(
    scope: &Scope,
    after: Option<ObservationId>,
    limit: i64,
) -> Result<Vec<Observation>> {
    const SQL: &str = concat!(
        "select ",
        observation_columns!(),
        " from observation where user_id = $1 and withdrawn_by is null \
           and ($2::uuid is null or observation_id > $2) order by observation_id limit $3"
    );
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &after.map(ObservationId::uuid), &limit];
    all(&scope.query(SQL, &params).await?, observation)
}

/// The ids of a source's observations, oldest first.
pub async fn ids_of_source(scope: &Scope, source: &str, limit: i64) -> Result<Vec<ObservationId>> {
    const SQL: &str = "select observation_id from observation where user_id = $1 and source = $2 \
                         and withdrawn_by is null order by at, observation_id limit $3";
    ids(scope, SQL, &[&scope.user().uuid(), &source, &limit]).await
}

/// Those of these observations that exist and are in use, or also those that are withdrawn.
pub async fn existing(
    scope: &Scope,
    asked: &[ObservationId],
    also_withdrawn: bool,
) -> Result<Vec<ObservationId>> {
    const SQL: &str = "select observation_id from observation where user_id = $1 \
                         and observation_id = any($2) and ($3 or withdrawn_by is null)";
    ids(scope, SQL, &[&scope.user().uuid(), &uuids(asked), &also_withdrawn]).await
}

/// The observations that were withdrawn by an operation at or before `before`.
pub async fn withdrawn_before(
    scope: &Scope,
    before: Timestamp,
    limit: i64,
) -> Result<Vec<ObservationId>> {
    const SQL: &str = "select b.observation_id from observation b join operation o \
                         on o.user_id = b.user_id and o.operation_id = b.withdrawn_by \
                        where b.user_id = $1 and b.withdrawn_by is not null \
                          and o.recorded_at <= $2 order by b.observation_id limit $3";
    ids(scope, SQL, &[&scope.user().uuid(), &before, &limit]).await
}

/// Those of these observations that are withdrawn, each with the operation that withdrew it.
pub async fn withdrawn(
    scope: &Scope,
    asked: &[ObservationId],
) -> Result<Vec<(ObservationId, OperationId)>> {
    const SQL: &str = "select observation_id, withdrawn_by from observation where user_id = $1 \
                         and observation_id = any($2) and withdrawn_by is not null";
    all(&scope.query(SQL, &[&scope.user().uuid(), &uuids(asked)]).await?, |row| {
        let mut c = Columns::of(row, "observation");
        Ok((ObservationId::from_uuid(c.take()?), OperationId::from_uuid(c.take()?)))
    })
}

/// Withdraws observations, or restores them.
pub fn mark(batch: &mut Batch, scope: &Scope, of: &[ObservationId], by: Option<OperationId>) {
    const SQL: &str = "update observation set withdrawn_by = $3 \
                        where user_id = $1 and observation_id = any($2)";
    if !of.is_empty() {
        let by = by.map(OperationId::uuid);
        batch.push(SQL, vec![Box::new(scope.user().uuid()), Box::new(uuids(of)), Box::new(by)]);
    }
}

/// Permanently removes observations. Tombstones without content remain.
pub fn remove(
    batch: &mut Batch,
    scope: &Scope,
    of: &[ObservationId],
    by: OperationId,
    at: Timestamp,
) {
    const REMOVE: &str = "delete from observation where user_id = $1 and observation_id = any($2)";
    const TOMBSTONE: &str = "insert into tombstone (user_id, tenant_id, fact_id, operation_id, \
                             erased_at, verb, versions, links, evidence, kind) \
                             select $1, $2, o, $4, $5, 'purge', 0, 0, 0, 'observation' \
                               from unnest($3::uuid[]) o on conflict do nothing";
    if of.is_empty() {
        return;
    }
    let user = scope.user().uuid();
    batch.push(REMOVE, vec![Box::new(user), Box::new(uuids(of))]);
    batch.push(
        TOMBSTONE,
        vec![
            Box::new(user),
            Box::new(scope.tenant().uuid()),
            Box::new(uuids(of)),
            Box::new(by.uuid()),
            Box::new(at),
        ],
    );
}

/// Removes the observations that came with an import.
pub fn remove_import(batch: &mut Batch, scope: &Scope, import: ImportId) {
    const SQL: &str = "delete from observation where user_id = $1 and import_id = $2";
    batch.push(SQL, vec![Box::new(scope.user().uuid()), Box::new(import.uuid())]);
}

/// The patterns that were observed often enough since a time, most frequent first, each with up to
/// `cited` of its latest observations.
pub async fn patterns(
    scope: &Scope,
    since: Timestamp,
    cited: i32,
    limit: i64,
) -> Result<Vec<ObservedPattern>> {
    const SQL: &str = "select source, kind, value, project, count(*), \
           count(distinct (at at time zone 'UTC')::date), \
           (array_agg(observation_id order by at desc, observation_id desc))[1:$3], \
           (array_agg(at order by at desc, observation_id desc))[1:$3] \
         from observation where user_id = $1 and withdrawn_by is null and at >= $2 \
         group by source, kind, value, project \
         having count(*) >= $4 and count(distinct (at at time zone 'UTC')::date) >= $5 \
         order by count(*) desc, source, kind, value, project limit $6";
    let (times, days) = (count_of(PATTERN_TIMES), count_of(PATTERN_DAYS));
    let params: [Param<'_>; 6] = [&scope.user().uuid(), &since, &cited, &times, &days, &limit];
    all(&scope.query(SQL, &params).await?, |row| {
        let mut c = Columns::of(row, "observation");
        let mut pattern = ObservedPattern {
            source: c.take()?,
            kind: c.take()?,
            value: c.take()?,
            project: c.project()?,
            times: usize::try_from(c.take::<i64>()?).unwrap_or(0),
            days: usize::try_from(c.take::<i64>()?).unwrap_or(0),
            latest: Vec::new(),
        };
        let (ids, times): (Vec<Uuid>, Vec<Timestamp>) = (c.take()?, c.take()?);
        let ids = ids.into_iter().map(ObservationId::from_uuid);
        pattern.latest = ids.zip(times).collect();
        Ok(pattern)
    })
}

/// Whether a memory with this key was ever stored, in any state.
pub async fn was_noted(scope: &Scope, key: &str, project: Option<&str>) -> Result<bool> {
    const SQL: &str = "select true from fact_version where user_id = $1 and key = $2 \
                         and project is not distinct from $3 limit 1";
    Ok(!scope.query(SQL, &[&scope.user().uuid(), &key, &project]).await?.is_empty())
}

/// The active memory with this key that was counted in observations.
pub async fn noted(
    scope: &Scope,
    key: &str,
    project: Option<&str>,
    now: Timestamp,
) -> Result<Option<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and key = $2 \
           and project is not distinct from $3 and known_until is null and state = 'active' \
           and origin = 'observed' and valid_from <= $4 \
           and (valid_until is null or valid_until > $4) limit 1"
    );
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &key, &project, &now];
    crate::row::one(&scope.query(SQL, &params).await?, version)
}

async fn ids(scope: &Scope, sql: &'static str, params: &[Param<'_>]) -> Result<Vec<ObservationId>> {
    let rows = scope.query(sql, params).await?;
    all(&rows, |row| Ok(ObservationId::from_uuid(Columns::of(row, "observation").take()?)))
}

fn uuids(of: &[ObservationId]) -> Vec<Uuid> {
    of.iter().map(|id| id.uuid()).collect()
}

fn count_of(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
