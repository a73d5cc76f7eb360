//! Records of what was put into prompts: baselines, retrievals with their traces, and reported
//! uses.

use futures_util::try_join;
use lukasa_core::{FactId, Project, RetrievalId, Timestamp, TurnId, UsageId};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::Result;
use crate::passage::RecallState;
use crate::row::{Columns, all, one};
use crate::scope::{Batch, Owned, Param, Scope};

/// The frozen part of a session's context.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    pub session: String,
    /// The options of the request; other options have another baseline.
    pub wishes: String,
    pub etag: String,
    pub nonce: String,
    pub content: String,
    pub items: Value,
    pub facts: Vec<FactId>,
    pub domains: Vec<String>,
    /// The project whose memories it may quote.
    pub project: Option<Project>,
    pub rendered_at: Timestamp,
}

macro_rules! baseline_columns {
    () => {
        "session_id, wishes, etag, nonce, content, items, facts, domains, project, \
         rendered_at"
    };
}

fn baseline(row: &Row) -> Result<Baseline> {
    let mut c = Columns::of(row, "baseline");
    Ok(Baseline {
        session: c.take()?,
        wishes: c.take()?,
        etag: c.take()?,
        nonce: c.take()?,
        content: c.take()?,
        items: c.take()?,
        facts: facts(c.take()?),
        domains: c.take()?,
        project: c.project()?,
        rendered_at: c.take()?,
    })
}

fn facts(ids: Vec<Uuid>) -> Vec<FactId> {
    ids.into_iter().map(FactId::from_uuid).collect()
}

fn uuids(facts: &[FactId]) -> Vec<Uuid> {
    facts.iter().map(|fact| fact.uuid()).collect()
}

pub async fn find_baseline(scope: &Scope, session: &str, wishes: &str) -> Result<Option<Baseline>> {
    const SQL: &str = concat!(
        "select ",
        baseline_columns!(),
        " from baseline where user_id = $1 and session_id = $2 and wishes = $3"
    );
    one(&scope.query(SQL, &[&scope.user().uuid(), &session, &wishes]).await?, baseline)
}

/// Every valid baseline of a session.
pub async fn baselines(scope: &Scope, session: &str) -> Result<Vec<Baseline>> {
    const SQL: &str = concat!(
        "select ",
        baseline_columns!(),
        " from baseline where user_id = $1 and session_id = $2 order by rendered_at, wishes"
    );
    all(&scope.query(SQL, &[&scope.user().uuid(), &session]).await?, baseline)
}

/// Stores a baseline, unless a fact has changed since it was read (`state` is the recall state at
/// that time): it might quote a withdrawn fact. If another request was faster, its baseline is
/// returned.
pub async fn freeze(scope: &Scope, new: &Baseline, state: RecallState) -> Result<Option<Baseline>> {
    const SQL: &str = concat!(
        "insert into baseline (user_id, tenant_id, ",
        baseline_columns!(),
        ") select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12 \
           where $13 = coalesce((select facts from recall_state where user_id = $1), 0) \
             and $14 = coalesce((select epoch from recall_state where user_id = $1), 0) \
             and not exists (select 1 from users \
                              where user_id = $1 and deleted_at is not null) \
           on conflict do nothing"
    );
    let project = new.project.as_ref().map(Project::as_str);
    let params: [Param<'_>; 14] = [
        &scope.user().uuid(),
        &scope.tenant().uuid(),
        &new.session,
        &new.wishes,
        &new.etag,
        &new.nonce,
        &new.content,
        &new.items,
        &uuids(&new.facts),
        &new.domains,
        &project,
        &new.rendered_at,
        &state.facts,
        &state.epoch,
    ];
    scope.query(SQL, &params).await?;
    find_baseline(scope, &new.session, &new.wishes).await
}

/// Removes the baseline of the same session and options, if it is of another project.
pub async fn remove_baseline_of_other_project(scope: &Scope, new: &Baseline) -> Result<()> {
    const SQL: &str = "delete from baseline where user_id = $1 and session_id = $2 and wishes = $3 \
                          and project is distinct from $4";
    let project = new.project.as_ref().map(Project::as_str);
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &new.session, &new.wishes, &project];
    scope.query(SQL, &params).await?;
    Ok(())
}

/// Removes every baseline that quotes one of these facts.
pub fn remove_baselines_of_facts(batch: &mut Batch, scope: &Scope, revoked: &[FactId]) {
    const SQL: &str = "delete from baseline where user_id = $1 and facts && $2";
    if !revoked.is_empty() {
        batch.push(SQL, vec![Box::new(scope.user().uuid()), Box::new(uuids(revoked))]);
    }
}

/// Removes every baseline of another project, or of none, that quotes this fact.
pub fn remove_baselines_elsewhere(
    batch: &mut Batch,
    scope: &Scope,
    fact: FactId,
    project: &Project,
) {
    const SQL: &str = "delete from baseline where user_id = $1 and facts && $2 \
                          and project is distinct from $3";
    let project = project.as_str().to_owned();
    batch.push(
        SQL,
        vec![Box::new(scope.user().uuid()), Box::new(vec![fact.uuid()]), Box::new(project)],
    );
}

/// Removes every baseline and portrait that quotes something of this domain.
pub async fn remove_baselines_of_domain(scope: &Scope, domain: &str) -> Result<()> {
    let user = scope.user().uuid();
    let params: [Param<'_>; 2] = [&user, &domain];
    for sql in [
        "delete from baseline where user_id = $1 and $2 = any(domains)",
        "delete from portrait where user_id = $1 and $2 = any(domains)",
    ] {
        scope.query(sql, &params).await?;
    }
    Ok(())
}

/// Removes everything that was put into prompts and quotes a fact, so that its text does not
/// outlive it.
pub async fn remove_fact(scope: &Scope, fact: FactId) -> Result<()> {
    let (user, fact) = (scope.user().uuid(), fact.uuid());
    let params: [Param<'_>; 2] = [&user, &fact];
    for sql in [
        "delete from baseline where user_id = $1 and $2 = any(facts)",
        "delete from portrait where user_id = $1 and $2 = any(facts)",
        "delete from retrieval where user_id = $1 and ($2 = any(facts) or etag in \
          (select etag from given_baseline where user_id = $1 and $2 = any(facts)))",
        "delete from given_baseline where user_id = $1 and $2 = any(facts)",
        "delete from usage where user_id = $1 and fact_id = $2",
    ] {
        scope.query(sql, &params).await?;
    }
    // A threshold names only some of the memories that it is based on.
    scope.query(crate::calibration::REMOVE_SQL, &[&user]).await?;
    Ok(())
}

/// One retrieval: what was put into the prompt, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Retrieval {
    pub id: RetrievalId,
    pub session: Option<String>,
    pub at: Timestamp,
    pub etag: Option<String>,
    /// The text of the dynamic part.
    pub dynamic: String,
    pub trace: Value,
    /// The facts in the prompt.
    pub facts: Vec<FactId>,
    /// The lines of the baseline, by their sources; not part of a new retrieval, whose baseline is
    /// recorded separately.
    pub baseline: Value,
}

/// Retrievals, each with the baseline that was given with it.
macro_rules! retrievals {
    () => {
        "select r.retrieval_id, r.session_id, r.at, r.etag, r.dynamic, r.trace, \
                array(select distinct f from unnest(r.facts || coalesce(b.facts, '{}')) f order by f), \
                coalesce(b.items, '[]') \
           from retrieval r left join given_baseline b \
             on b.user_id = r.user_id and b.etag = r.etag and b.user_id = $1"
    };
}

fn retrieval(row: &Row) -> Result<Retrieval> {
    let mut c = Columns::of(row, "retrieval");
    Ok(Retrieval {
        id: RetrievalId::from_uuid(c.take()?),
        session: c.take()?,
        at: c.take()?,
        etag: c.take()?,
        dynamic: c.take()?,
        trace: c.take()?,
        facts: facts(c.take()?),
        baseline: c.take()?,
    })
}

/// The lines of a baseline that was put into a prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct GivenBaseline {
    pub etag: String,
    pub items: Value,
    pub facts: Vec<FactId>,
}

pub(crate) const GIVEN_SQL: &str = "insert into given_baseline (user_id, tenant_id, etag, at, items, facts) \
       select $1, $2, $3, $4, $5, $6 \
        where ($8::bigint = 0 \
              or ($7 = coalesce((select removed from recall_state where user_id = $1), 0) \
                  and $8 = coalesce((select epoch from recall_state where user_id = $1), 0))) \
          and not exists (select 1 from users where user_id = $1 and deleted_at is not null) \
          and (not $9::boolean or exists (select 1 from users where user_id = $1 and looked_after)) \
       on conflict do nothing";

/// The last parameter says whether it is written only if an upkeep job is queued for the user.
pub(crate) const RETRIEVAL_SQL: &str = "insert into retrieval (user_id, tenant_id, retrieval_id, \
                            session_id, at, etag, dynamic, trace, facts) \
       select $1, $2, $3, $4, $5, $6, $7, $8, $9 \
        where ($11::bigint = 0 \
              or ($10 = coalesce((select removed from recall_state where user_id = $1), 0) \
                  and $11 = coalesce((select epoch from recall_state where user_id = $1), 0))) \
          and not exists (select 1 from users where user_id = $1 and deleted_at is not null) \
          and (not $12::boolean or exists (select 1 from users where user_id = $1 and looked_after))";

/// Records a baseline that was put into a prompt, unless it is recorded already, something has been
/// removed since it was made, or the user is being erased.
async fn insert_given(
    scope: &Scope,
    new: Option<&GivenBaseline>,
    at: Timestamp,
    state: RecallState,
) -> Result<()> {
    let Some(new) = new else { return Ok(()) };
    let params: [Param<'_>; 9] = [
        &scope.user().uuid(),
        &scope.tenant().uuid(),
        &new.etag,
        &at,
        &new.items,
        &uuids(&new.facts),
        &state.removed,
        &state.epoch,
        &false,
    ];
    scope.query(GIVEN_SQL, &params).await?;
    Ok(())
}

/// Records a retrieval, unless something has been removed since it was made (`state` is the recall
/// state at that time): it might contain removed text. One that was made when nothing was stored
/// yet, which is epoch 0, contains nothing that could have been removed.
///
/// The retrieval's facts are those besides the baseline's, which are recorded with the baseline.
pub async fn insert_retrieval(
    scope: &Scope,
    new: &Retrieval,
    given: Option<&GivenBaseline>,
    state: RecallState,
) -> Result<()> {
    let params: [Param<'_>; 12] = [
        &scope.user().uuid(),
        &scope.tenant().uuid(),
        &new.id.uuid(),
        &new.session,
        &new.at,
        &new.etag,
        &new.dynamic,
        &new.trace,
        &uuids(&new.facts),
        &state.removed,
        &state.epoch,
        &false,
    ];
    try_join!(scope.query(RETRIEVAL_SQL, &params), insert_given(scope, given, new.at, state))?;
    Ok(())
}

/// Adds tool calls to the trace of a retrieval, with the facts they returned. Returns whether the
/// retrieval exists: it is recorded after the response is sent and may have been removed again.
pub async fn append_calls(
    scope: &Scope,
    id: RetrievalId,
    calls: &Value,
    facts: &[FactId],
) -> Result<bool> {
    const SQL: &str = "update retrieval set \
                         trace = jsonb_set(trace, '{calls}', coalesce(trace -> 'calls', '[]') || $3), \
                         facts = array(select distinct f from unnest(facts || $4) f order by f) \
                        where user_id = $1 and retrieval_id = $2 returning 1";
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &id.uuid(), calls, &uuids(facts)];
    Ok(!scope.query(SQL, &params).await?.is_empty())
}

/// Records that the reasons of the answer after a retrieval were asked for.
pub async fn mark_explained(scope: &Scope, id: RetrievalId) -> Result<()> {
    const SQL: &str = "update retrieval set trace = jsonb_set(trace, '{explained}', 'true') \
                        where user_id = $1 and retrieval_id = $2";
    scope.query(SQL, &[&scope.user().uuid(), &id.uuid()]).await?;
    Ok(())
}

pub async fn find_retrieval(scope: &Scope, id: RetrievalId) -> Result<Option<Retrieval>> {
    const SQL: &str = concat!(retrievals!(), " where r.user_id = $1 and r.retrieval_id = $2");
    one(&scope.query(SQL, &[&scope.user().uuid(), &id.uuid()]).await?, retrieval)
}

/// Up to `limit` retrievals of a session, newest first.
pub async fn retrievals(scope: &Scope, session: &str, limit: i64) -> Result<Vec<Retrieval>> {
    const SQL: &str = concat!(
        retrievals!(),
        " where r.user_id = $1 and r.session_id = $2 order by r.at desc limit $3"
    );
    all(&scope.query(SQL, &[&scope.user().uuid(), &session, &limit]).await?, retrieval)
}

/// One use of a memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    pub id: UsageId,
    pub fact: FactId,
    pub session: Option<String>,
    pub retrieval: Option<RetrievalId>,
    /// The turn that reported the use.
    pub turn: Option<TurnId>,
    pub kind: String,
    pub influence: Option<String>,
    pub at: Timestamp,
    /// The prediction that it is the outcome of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prediction: Option<UsageId>,
    /// Whether the user reported it, rather than an assistant or an application.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_user: bool,
}

pub fn queue_usage(batch: &mut Batch, scope: &Scope, new: &Usage) {
    const SQL: &str = "insert into usage (user_id, tenant_id, usage_id, fact_id, session_id, \
                       retrieval_id, turn_id, type, influence, at, prediction_id, by_user) \
                       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
    batch.push_one(SQL, usage_row(scope, new));
}

/// Whether an answer of the session cited a memory at or before a time.
pub async fn is_cited(
    scope: &Scope,
    fact: FactId,
    session: &str,
    until: Timestamp,
) -> Result<bool> {
    const SQL: &str = "select 1 from usage where user_id = $1 and fact_id = $2 and session_id = $3 \
                          and type = 'cited' and at <= $4 limit 1";
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &fact.uuid(), &session, &until];
    Ok(!scope.query(SQL, &params).await?.is_empty())
}

/// Whether it is recorded already that a turn contradicted a memory.
pub async fn is_contradicted_by(scope: &Scope, fact: FactId, turn: TurnId) -> Result<bool> {
    const SQL: &str = "select 1 from usage where user_id = $1 and fact_id = $2 and turn_id = $3 \
                          and type = 'contradicted' limit 1";
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &fact.uuid(), &turn.uuid()];
    Ok(!scope.query(SQL, &params).await?.is_empty())
}

/// Restores a use from an archive. One that already exists is kept.
pub fn put_back_usage(batch: &mut Batch, scope: &Scope, used: &Usage) {
    const SQL: &str = "insert into usage (user_id, tenant_id, usage_id, fact_id, session_id, \
                       retrieval_id, turn_id, type, influence, at, prediction_id, by_user) \
                       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) \
                       on conflict do nothing";
    batch.push(SQL, usage_row(scope, used));
}

fn usage_row(scope: &Scope, used: &Usage) -> Vec<Owned> {
    vec![
        Box::new(scope.user().uuid()),
        Box::new(scope.tenant().uuid()),
        Box::new(used.id.uuid()),
        Box::new(used.fact.uuid()),
        Box::new(used.session.clone()),
        Box::new(used.retrieval.map(RetrievalId::uuid)),
        Box::new(used.turn.map(TurnId::uuid)),
        Box::new(used.kind.clone()),
        Box::new(used.influence.clone()),
        Box::new(used.at),
        Box::new(used.prediction.map(UsageId::uuid)),
        Box::new(used.by_user),
    ]
}

/// The uses that a turn reported.
pub async fn used_by(scope: &Scope, turn: TurnId) -> Result<Vec<Usage>> {
    const SQL: &str = "select usage_id, fact_id, session_id, retrieval_id, turn_id, type, \
                       influence, at, prediction_id, by_user from usage \
                       where user_id = $1 and turn_id = $2 \
                       order by usage_id";
    all(&scope.query(SQL, &[&scope.user().uuid(), &turn.uuid()]).await?, use_of)
}

/// The last retrieval of a session at or before a time, which is the one a turn of that time is
/// based on.
pub async fn retrieval_before(
    scope: &Scope,
    session: &str,
    before: Timestamp,
) -> Result<Option<Retrieval>> {
    const SQL: &str = concat!(
        retrievals!(),
        " where r.user_id = $1 and r.session_id = $2 and r.at <= $3 order by r.at desc limit 1"
    );
    one(&scope.query(SQL, &[&scope.user().uuid(), &session, &before]).await?, retrieval)
}

pub(crate) fn use_of(row: &Row) -> Result<Usage> {
    let mut c = Columns::of(row, "usage");
    Ok(Usage {
        id: UsageId::from_uuid(c.take()?),
        fact: FactId::from_uuid(c.take()?),
        session: c.take()?,
        retrieval: c.take::<Option<Uuid>>()?.map(RetrievalId::from_uuid),
        turn: c.take::<Option<Uuid>>()?.map(TurnId::from_uuid),
        kind: c.take()?,
        influence: c.take()?,
        at: c.take()?,
        prediction: c.take::<Option<Uuid>>()?.map(UsageId::from_uuid),
        by_user: c.take()?,
    })
}

/// A prediction, and its outcome if that was reported.
pub async fn find_prediction(scope: &Scope, id: UsageId) -> Result<Option<(Usage, Option<Usage>)>> {
    const SQL: &str = "select usage_id, fact_id, session_id, retrieval_id, turn_id, type, \
                       influence, at, prediction_id, by_user from usage where user_id = $1 \
                         and ((usage_id = $2 and type = 'predicted') or prediction_id = $2) \
                       order by prediction_id nulls first";
    let found = all(&scope.query(SQL, &[&scope.user().uuid(), &id.uuid()]).await?, use_of)?;
    let mut found = found.into_iter();
    let prediction = found.next().filter(|first| first.prediction.is_none());
    Ok(prediction.map(|prediction| (prediction, found.next())))
}

/// Replaces the user's rating of a memory, or removes it.
pub fn set_rating(batch: &mut Batch, scope: &Scope, fact: FactId, new: Option<&Usage>) {
    const REMOVE: &str = "delete from usage where user_id = $1 and fact_id = $2 \
                            and type in ('rated_up', 'rated_down')";
    batch.push(REMOVE, vec![Box::new(scope.user().uuid()), Box::new(fact.uuid())]);
    if let Some(new) = new {
        queue_usage(batch, scope, new);
    }
}

/// The user's ratings of these memories: the type of the use.
pub async fn ratings(scope: &Scope, facts: &[FactId]) -> Result<Vec<(FactId, String)>> {
    const SQL: &str = "select fact_id, type from usage where user_id = $1 and fact_id = any($2) \
                         and type in ('rated_up', 'rated_down')";
    all(&scope.query(SQL, &[&scope.user().uuid(), &uuids(facts)]).await?, |row| {
        let mut c = Columns::of(row, "usage");
        Ok((FactId::from_uuid(c.take()?), c.take()?))
    })
}

/// Position in a list of uses. One retrieval uses many facts at the same time, so the time alone is
/// not unique.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct UsagePlace {
    pub at: Timestamp,
    pub id: UsageId,
    pub fact: FactId,
}

/// Uses of the user's memories, newest first; without a limit all of them.
pub(crate) const USAGE: &str = "select * from ( \
      select usage_id, fact_id, session_id, retrieval_id, turn_id, type, influence, at, \
             prediction_id, by_user \
        from usage where user_id = $1 and ($2::uuid is null or fact_id = $2) \
      union all \
      select r.retrieval_id, f.fact_id, r.session_id, r.retrieval_id, null::uuid, 'retrieved', \
             null, r.at, null::uuid, false \
        from retrieval r left join given_baseline b \
          on b.user_id = r.user_id and b.etag = r.etag and b.user_id = $1, \
        lateral (select distinct unnest(r.facts || coalesce(b.facts, '{}'))) as f (fact_id) \
       where r.user_id = $1 and ($2::uuid is null or f.fact_id = $2) \
         and not r.trace ? 'preview') used \
    where $3::timestamptz is null or at < $3 \
       or (at = $3 and (usage_id, fact_id) > ($4, $5)) \
    order by at desc, usage_id, fact_id limit $6";

/// Up to `limit` uses after `after`, newest first: facts put into prompts by retrievals, and uses
/// reported by applications; optionally of one fact only.
pub async fn usage(
    scope: &Scope,
    fact: Option<FactId>,
    after: Option<UsagePlace>,
    limit: i64,
) -> Result<Vec<Usage>> {
    let fact = fact.map(FactId::uuid);
    let at = after.map(|place| place.at);
    let (id, of) = (after.map(|place| place.id.uuid()), after.map(|place| place.fact.uuid()));
    let params: [Param<'_>; 6] = [&scope.user().uuid(), &fact, &at, &id, &of, &limit];
    all(&scope.query(USAGE, &params).await?, use_of)
}

/// Removes the records of what was put into prompts before `before`.
pub async fn forget_before(scope: &Scope, before: Timestamp) -> Result<()> {
    let user = scope.user().uuid();
    let params: [Param<'_>; 2] = [&user, &before];
    for sql in [
        "delete from retrieval where user_id = $1 and at < $2",
        "delete from given_baseline b where b.user_id = $1 and b.at < $2 and not exists \
          (select 1 from retrieval r where r.user_id = $1 and r.etag = b.etag)",
        // A rating stays as long as its memory.
        "delete from usage where user_id = $1 and at < $2 \
           and type not in ('rated_up', 'rated_down')",
        "delete from baseline where user_id = $1 and rendered_at < $2",
        "delete from response where user_id = $1 and recorded_at < $2",
    ] {
        scope.query(sql, &params).await?;
    }
    Ok(())
}

/// Counts over one user's memory and its use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// Active facts by category and by domain (the empty string means none).
    pub by_category: Vec<(String, i64)>,
    pub by_domain: Vec<(String, i64)>,
    pub turns: i64,
    pub sessions: i64,
    pub retrievals: i64,
    /// Uses that applications reported, by type.
    pub by_type: Vec<(String, i64)>,
}

pub async fn stats(scope: &Scope, now: Timestamp) -> Result<Stats> {
    macro_rules! active {
        ($by:literal) => {
            concat!(
                "select coalesce(",
                $by,
                ", ''), count(*) from fact_version where user_id = $1 and known_until is null \
                   and state = 'active' and valid_from <= $2 \
                   and (valid_until is null or valid_until > $2) group by 1 order by 1"
            )
        };
    }
    const TYPES: &str =
        "select type, count(*) from usage where user_id = $1 group by type order by type";
    const COUNTS: &str = "select (select count(*) from turn where user_id = $1 and withdrawn_by is null), \
                          (select count(*) from session where user_id = $1), \
                          (select count(*) from retrieval \
                            where user_id = $1 and not trace ? 'preview')";
    let user = scope.user().uuid();
    let counted = |row: &Row| {
        let mut c = Columns::of(row, "fact_version");
        Ok((c.take()?, c.take()?))
    };
    let by_category = all(&scope.query(active!("category"), &[&user, &now]).await?, counted)?;
    let by_domain = all(&scope.query(active!("domain"), &[&user, &now]).await?, counted)?;
    let by_type = all(&scope.query(TYPES, &[&user]).await?, counted)?;
    let rows = scope.query(COUNTS, &[&user]).await?;
    let counts = one(&rows, |row| {
        let mut c = Columns::of(row, "turn");
        Ok((c.take()?, c.take()?, c.take()?))
    })?;
    let (turns, sessions, retrievals) = counts.unwrap_or_default();
    Ok(Stats { by_category, by_domain, turns, sessions, retrievals, by_type })
}
