//! Observations: raw events of other applications and of agents.

use jiff::SignedDuration;
use lukasa_core::limits::TURNS;
use lukasa_core::observation::{
    Observation, ObservedEvent, ObservedPattern, PATTERN_DAYS, PATTERN_TIMES, STRONG_PATTERN_DAYS,
    STRONG_PATTERN_TIMES,
};
use lukasa_core::{
    ImportId, ObservationId, OperationId, Origin, Project, Timestamp, Verb, Version,
};
use serde::{Deserialize, Serialize};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::Result;
use crate::fact::{version, version_columns};
use crate::row::{Columns, all, one};
use crate::scope::{Batch, Owned, Param, Scope};

macro_rules! observation_columns {
    () => {
        "observation_id, source, kind, at, recorded_at, payload, session_id, project, origin"
    };
}

pub(crate) use observation_columns;

pub(crate) fn observation(row: &Row) -> Result<Observation> {
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

/// Appends observations, with one statement. One that exists, or that was removed permanently, is left
/// out.
pub fn insert(batch: &mut Batch, scope: &Scope, new: &[Observation], import: Option<ImportId>) {
    const SQL: &str = "insert into observation (user_id, tenant_id, observation_id, source, kind, \
                         at, recorded_at, payload, value, session_id, project, origin, import_id) \
                       select $1, $2, n.id, n.source, n.kind, n.at, n.recorded_at, n.payload, \
                              n.value, n.session, n.project, n.origin, $13 \
                         from unnest($3::uuid[], $4::text[], $5::text[], $6::timestamptz[], \
                                     $7::timestamptz[], $8::jsonb[], $9::text[], $10::text[], \
                                     $11::text[], $12::text[]) \
                           as n (id, source, kind, at, recorded_at, payload, value, session, \
                                 project, origin) \
                        where not exists (select 1 from tombstone t \
                                           where t.user_id = $1 and t.fact_id = n.id) \
                       on conflict do nothing";
    if new.is_empty() {
        return;
    }
    let project = |new: &Observation| new.project.as_ref().map(ToString::to_string);
    batch.push(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(scope.tenant().uuid()),
            Box::new(new.iter().map(|new| new.id.uuid()).collect::<Vec<_>>()),
            Box::new(new.iter().map(|new| new.source.clone()).collect::<Vec<_>>()),
            Box::new(new.iter().map(|new| new.kind.clone()).collect::<Vec<_>>()),
            Box::new(new.iter().map(|new| new.at).collect::<Vec<_>>()),
            Box::new(new.iter().map(|new| new.recorded_at).collect::<Vec<_>>()),
            Box::new(new.iter().map(|new| new.payload.clone()).collect::<Vec<_>>()),
            Box::new(new.iter().map(Observation::value).collect::<Vec<_>>()),
            Box::new(new.iter().map(|new| new.session.clone()).collect::<Vec<_>>()),
            Box::new(new.iter().map(project).collect::<Vec<_>>()),
            Box::new(new.iter().map(|new| new.origin.as_str()).collect::<Vec<_>>()),
            Box::new(import.map(ImportId::uuid)),
        ],
    );
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

/// The ids of a source's observations, oldest first.
pub async fn ids_of_source(scope: &Scope, source: &str, limit: i64) -> Result<Vec<ObservationId>> {
    const SQL: &str = "select observation_id from observation where user_id = $1 and source = $2 \
                         and withdrawn_by is null order by at, observation_id limit $3";
    ids(scope, SQL, &[&scope.user().uuid(), &source, &limit]).await
}

/// The ids of the observations that came with an import and are in use.
pub async fn ids_of_import(
    scope: &Scope,
    import: ImportId,
    limit: i64,
) -> Result<Vec<ObservationId>> {
    const SQL: &str = "select observation_id from observation where user_id = $1 \
                         and import_id = $2 and withdrawn_by is null \
                        order by observation_id limit $3";
    ids(scope, SQL, &[&scope.user().uuid(), &import.uuid(), &limit]).await
}

/// The ids of up to `limit` of a session's observations that are in use, or also of those that are
/// withdrawn.
pub async fn ids_of_session(
    scope: &Scope,
    session: &str,
    also_withdrawn: bool,
    limit: i64,
) -> Result<Vec<ObservationId>> {
    const SQL: &str = "select observation_id from observation where user_id = $1 \
                         and session_id = $2 and ($3 or withdrawn_by is null) \
                        order by observation_id limit $4";
    ids(scope, SQL, &[&scope.user().uuid(), &session, &also_withdrawn, &limit]).await
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

/// Up to `limit` observations that were withdrawn by an operation at or before `before`, or that belong
/// to a session that is in the trash since then: also those that were recorded after it was deleted.
pub async fn purgeable(scope: &Scope, before: Timestamp, limit: i64) -> Result<Vec<ObservationId>> {
    const SQL: &str = "select observation_id from ( \
                         (select b.observation_id from observation b join operation o \
                            on o.user_id = b.user_id and o.operation_id = b.withdrawn_by \
                           where b.user_id = $1 and b.withdrawn_by is not null \
                             and o.recorded_at <= $2 limit $3) \
                         union (select b.observation_id from observation b join session s \
                            on s.user_id = b.user_id and s.session_id = b.session_id \
                           where b.user_id = $1 and b.session_id is not null \
                             and s.trashed_at <= $2 limit $3)) found limit $3";
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

/// Withdraws observations. Those that are withdrawn already stay so by the operation that did it.
pub fn withdraw(batch: &mut Batch, scope: &Scope, of: &[ObservationId], by: OperationId) {
    const SQL: &str = "update observation set withdrawn_by = $3 where user_id = $1 \
                         and observation_id = any($2) and withdrawn_by is null";
    if !of.is_empty() {
        let params: Vec<Owned> =
            vec![Box::new(scope.user().uuid()), Box::new(uuids(of)), Box::new(by.uuid())];
        batch.push(SQL, params);
    }
}

/// Withdraws the observations of a session that are in use.
pub fn withdraw_session(batch: &mut Batch, scope: &Scope, session: &str, by: OperationId) {
    const SQL: &str = "update observation set withdrawn_by = $3 where user_id = $1 \
                         and session_id = $2 and withdrawn_by is null";
    let session = session.to_owned();
    let params: Vec<Owned> =
        vec![Box::new(scope.user().uuid()), Box::new(session), Box::new(by.uuid())];
    batch.push(SQL, params);
}

/// Restores the observations that an operation withdrew. Those of an undone import are in use like
/// others then: an import does not replace them if they are withdrawn again.
pub fn restore(batch: &mut Batch, scope: &Scope, withdrawn_by: OperationId) {
    const SQL: &str = "update observation set withdrawn_by = null, import_undone = false \
                        where user_id = $1 and withdrawn_by = $2";
    batch.push(SQL, vec![Box::new(scope.user().uuid()), Box::new(withdrawn_by.uuid())]);
}

/// Permanently removes observations. Tombstones without content remain.
pub fn remove(
    batch: &mut Batch,
    scope: &Scope,
    of: &[ObservationId],
    verb: Verb,
    by: OperationId,
    at: Timestamp,
) {
    const REMOVE: &str = "delete from observation where user_id = $1 and observation_id = any($2)";
    const TOMBSTONE: &str = "insert into tombstone (user_id, tenant_id, fact_id, operation_id, \
                             erased_at, verb, versions, links, evidence, kind) \
                             select $1, $2, o, $4, $5, $6, 0, 0, 0, 'observation' \
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
            Box::new(verb.as_str()),
        ],
    );
}

/// Those of these observations that were permanently removed.
pub async fn erased(scope: &Scope, asked: &[ObservationId]) -> Result<Vec<ObservationId>> {
    const SQL: &str = "select fact_id from tombstone where user_id = $1 and fact_id = any($2) \
                         and kind = 'observation'";
    ids(scope, SQL, &[&scope.user().uuid(), &uuids(asked)]).await
}

/// Those of these observations that an import leaves as they are: all that exist, except those that an
/// undone import left in the trash.
pub async fn kept_by_import(scope: &Scope, asked: &[ObservationId]) -> Result<Vec<ObservationId>> {
    const SQL: &str = "select observation_id from observation where user_id = $1 \
                         and observation_id = any($2) \
                         and not (import_undone and withdrawn_by is not null)";
    ids(scope, SQL, &[&scope.user().uuid(), &uuids(asked)]).await
}

/// Records that an import is undone, on those of its observations that are in use and will be
/// withdrawn by that. Those that are in the trash already were put there by the user.
pub fn mark_import_undone(batch: &mut Batch, scope: &Scope, import: ImportId) {
    const SQL: &str = "update observation set import_undone = true where user_id = $1 \
                         and import_id = $2 and withdrawn_by is null";
    batch.push(SQL, vec![Box::new(scope.user().uuid()), Box::new(import.uuid())]);
}

/// Removes those of these observations that an undone import left in the trash, so that they can be
/// imported again.
pub fn remove_undone(batch: &mut Batch, scope: &Scope, of: &[Observation]) {
    const SQL: &str = "delete from observation where user_id = $1 and observation_id = any($2) \
                         and import_undone and withdrawn_by is not null";
    if !of.is_empty() {
        let ids: Vec<Uuid> = of.iter().map(|observation| observation.id.uuid()).collect();
        batch.push(SQL, vec![Box::new(scope.user().uuid()), Box::new(ids)]);
    }
}

/// How many observations are stored, withdrawn ones too; at most `most` are counted.
pub async fn count(scope: &Scope, most: i64) -> Result<i64> {
    const SQL: &str = "select count(*) from \
                       (select 1 from observation where user_id = $1 limit $2) counted";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &most]).await?;
    Ok(one(&rows, |row| Columns::of(row, "observation").take())?.unwrap_or(0))
}

/// Removes up to `limit` of the oldest observations that happened before a time. Memories that cite
/// them stay. Returns how many were removed.
pub async fn expire(scope: &Scope, before: Timestamp, limit: i64) -> Result<usize> {
    const SQL: &str = "delete from observation where user_id = $1 and observation_id in \
                         (select observation_id from observation where user_id = $1 and at < $2 \
                            and withdrawn_by is null order by at, observation_id limit $3) \
                       returning observation_id";
    Ok(ids(scope, SQL, &[&scope.user().uuid(), &before, &limit]).await?.len())
}

/// The key of the digests by which a user's noted patterns are stored: an HMAC-SHA256, which
/// PostgreSQL computes from two blocks that are made of the key.
pub struct PatternKey {
    outer: Vec<u8>,
    inner: Vec<u8>,
}

impl PatternKey {
    pub fn new(key: &[u8; 32]) -> Self {
        let block = |pad: u8| {
            let mut block = vec![pad; 64];
            block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
            block
        };
        Self { outer: block(0x5c), inner: block(0x36) }
    }
}

// The stored form of an event: its digest with the user's key, of which `$2` is the outer block and
// `$3` the inner one.
macro_rules! event_digest {
    () => {
        "sha256($2::bytea || sha256($3::bytea || convert_to(concat_ws(E'\\n', source, kind, \
           coalesce('=' || value, '-'), coalesce('=' || project, '-')), 'UTF8')))"
    };
}

/// The patterns that were observed often enough since a time and never noted, without their
/// observations. The most frequent come first, and those that admission rejected before come last.
pub async fn new_patterns(
    scope: &Scope,
    key: &PatternKey,
    since: Timestamp,
    limit: i64,
) -> Result<Vec<ObservedPattern>> {
    const SQL: &str = concat!(
        "select source, kind, value, project, times, days, origins from \
           (select source, kind, value, project, count(*) as times, \
                   count(distinct (at at time zone 'UTC')::date) as days, \
                   array_agg(distinct origin) as origins \
              from observation where user_id = $1 and withdrawn_by is null and at >= $4 \
             group by source, kind, value, project \
            having count(*) >= $5 and count(distinct (at at time zone 'UTC')::date) >= $6) found \
           left join noted_pattern n on n.user_id = $1 and n.pattern = ",
        event_digest!(),
        " where n.pattern is null or n.rejected_at is not null \
          order by n.rejected_at nulls first, times desc, source, kind, value, project limit $7"
    );
    let (times, days) = (count_of(PATTERN_TIMES), count_of(PATTERN_DAYS));
    let params: [Param<'_>; 7] =
        [&scope.user().uuid(), &key.outer, &key.inner, &since, &times, &days, &limit];
    all(&scope.query(SQL, &params).await?, |row| {
        let mut c = Columns::of(row, "observation");
        let event = ObservedEvent {
            source: c.take()?,
            kind: c.take()?,
            value: c.take()?,
            project: c.project()?,
        };
        counted(event, c)
    })
}

/// The observations of an event, counted over a period that ends with the latest of them, without
/// those in `except`; with the latest. `None` if there is none.
pub async fn pattern_of(
    scope: &Scope,
    event: &ObservedEvent,
    period: SignedDuration,
    except: &[ObservationId],
) -> Result<Option<ObservedPattern>> {
    const SQL: &str = "with those as (select observation_id, at, origin from observation \
             where user_id = $1 and source = $2 and kind = $3 and value is not distinct from $4 \
               and project is not distinct from $5 and withdrawn_by is null and not exists \
               (select 1 from unnest($6::uuid[]) x (id) where x.id = observation_id)), \
           recent as (select * from those \
             where at >= (select max(at) from those) - make_interval(secs => $7::float8)) \
         select count(*), count(distinct (at at time zone 'UTC')::date), \
                coalesce(array_agg(distinct origin), '{}') from recent";
    let project = event.project.as_ref().map(Project::as_str);
    let params: [Param<'_>; 7] = [
        &scope.user().uuid(),
        &event.source,
        &event.kind,
        &event.value,
        &project,
        &uuids(except),
        &period.as_secs_f64(),
    ];
    let rows = scope.query(SQL, &params).await?;
    let found = one(&rows, |row| counted(event.clone(), Columns::of(row, "observation")))?;
    let Some(mut found) = found.filter(|found| found.times > 0) else { return Ok(None) };
    found.latest = latest(scope, event, except).await?;
    found.latest.truncate(found.times);
    Ok(Some(found))
}

fn counted(event: ObservedEvent, mut c: Columns<'_>) -> Result<ObservedPattern> {
    let times = usize::try_from(c.take::<i64>()?).unwrap_or(0);
    let days = usize::try_from(c.take::<i64>()?).unwrap_or(0);
    let origins: Vec<String> = c.take()?;
    // A word that is not an origin counts as the least trusted one.
    let origins = origins.iter().map(|word| Origin::parse(word).unwrap_or(Origin::Import));
    let origin = ObservedPattern::origin_of(origins);
    Ok(ObservedPattern { event, times, days, origin, latest: Vec::new() })
}

/// The latest observations of an event, newest first, as many as a memory cites.
pub async fn latest(
    scope: &Scope,
    event: &ObservedEvent,
    except: &[ObservationId],
) -> Result<Vec<(ObservationId, Timestamp)>> {
    const SQL: &str = "select observation_id, at from observation \
                        where user_id = $1 and source = $2 and kind = $3 \
                          and value is not distinct from $4 and project is not distinct from $5 \
                          and withdrawn_by is null and not exists \
                            (select 1 from unnest($6::uuid[]) x (id) where x.id = observation_id) \
                        order by at desc, observation_id desc limit $7";
    let project = event.project.as_ref().map(Project::as_str);
    let params: [Param<'_>; 7] = [
        &scope.user().uuid(),
        &event.source,
        &event.kind,
        &event.value,
        &project,
        &uuids(except),
        &count_of(TURNS),
    ];
    all(&scope.query(SQL, &params).await?, |row| {
        let mut c = Columns::of(row, "observation");
        Ok((ObservationId::from_uuid(c.take()?), c.take()?))
    })
}

/// Records that a pattern was noted, whatever becomes of its memory, or that admission rejected it at
/// a time.
pub fn mark_pattern(
    batch: &mut Batch,
    scope: &Scope,
    key: &PatternKey,
    event: &ObservedEvent,
    rejected_at: Option<Timestamp>,
) {
    const SQL: &str = concat!(
        "insert into noted_pattern (user_id, tenant_id, pattern, rejected_at) select $1, $4, ",
        event_digest!(),
        ", $5 from (values ($6::text, $7::text, $8::text, $9::text)) \
             e (source, kind, value, project) \
         on conflict (user_id, pattern) do update set rejected_at = excluded.rejected_at"
    );
    batch.push(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(key.outer.clone()),
            Box::new(key.inner.clone()),
            Box::new(scope.tenant().uuid()),
            Box::new(rejected_at),
            Box::new(event.source.clone()),
            Box::new(event.kind.clone()),
            Box::new(event.value.clone()),
            Box::new(event.project.as_ref().map(ToString::to_string)),
        ],
    );
}

/// Whether a memory with this key is stored, in any state. An imported memory may be of a pattern
/// that was noted elsewhere.
pub async fn has_memory(scope: &Scope, event: &ObservedEvent) -> Result<bool> {
    const SQL: &str = "select true from fact_version where user_id = $1 and key = $2 \
                         and project is not distinct from $3 limit 1";
    let project = event.project.as_ref().map(Project::as_str);
    Ok(!scope.query(SQL, &[&scope.user().uuid(), &event.key(), &project]).await?.is_empty())
}

/// The active memories of patterns that are strong since a time, as far as the memories are not
/// strong and procedural. A pattern with less trusted observations promotes nothing.
pub async fn promotable(
    scope: &Scope,
    since: Timestamp,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and known_until is null and state = 'active' \
           and origin = 'observed' and extracted and consented_at is null \
           and (tier <> 'strong' or type <> 'procedural') and valid_from <= $2 \
           and (valid_until is null or valid_until > $2) and (key, coalesce(project, '')) in ( \
             select 'observed/' || source || '/' || kind || coalesce('/' || value, ''), \
                    coalesce(project, '') \
               from observation where user_id = $1 and withdrawn_by is null and at >= $3 \
              group by source, kind, value, project \
             having count(*) >= $4 and count(distinct (at at time zone 'UTC')::date) >= $5 \
                and bool_and(origin not in ('import', 'document'))) \
          order by known_from, version_id limit $6"
    );
    let (times, days) = (count_of(STRONG_PATTERN_TIMES), count_of(STRONG_PATTERN_DAYS));
    let params: [Param<'_>; 6] = [&scope.user().uuid(), &now, &since, &times, &days, &limit];
    all(&scope.query(SQL, &params).await?, version)
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
