//! Passes over sessions, and the episodes they produce.

use lukasa_core::{Episode, EpisodeId, FactId, OperationId, Origin, PassId, Timestamp};
use serde::{Deserialize, Serialize};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::Result;
use crate::passage::RecallState;
use crate::row::{Columns, all, one};
use crate::scope::{Batch, Param, Scope};

/// One request to a chat model about a range of turns.
#[derive(Debug, Clone, PartialEq)]
pub struct Pass {
    pub id: PassId,
    pub session: String,
    pub first_turn: i32,
    pub last_turn: i32,
    /// The name and version of the prompt.
    pub prompt: String,
    pub model: String,
    /// The facts shown to the model, in the order of their handles.
    pub offered: Vec<FactId>,
    /// The model's answer; removed once it was applied.
    pub answer: Option<String>,
    pub answered_at: Timestamp,
    pub applied_at: Option<Timestamp>,
    pub operation: Option<OperationId>,
    pub outcome: Option<serde_json::Value>,
}

macro_rules! pass_columns {
    () => {
        "pass_id, session_id, first_turn, last_turn, prompt, model, offered, answer, answered_at, \
         applied_at, operation_id, outcome"
    };
}

fn pass(row: &Row) -> Result<Pass> {
    let mut c = Columns::of(row, "pass");
    Ok(Pass {
        id: PassId::from_uuid(c.take()?),
        session: c.take()?,
        first_turn: c.take()?,
        last_turn: c.take()?,
        prompt: c.take()?,
        model: c.take()?,
        offered: c.take::<Vec<Uuid>>()?.into_iter().map(FactId::from_uuid).collect(),
        answer: c.take()?,
        answered_at: c.take()?,
        applied_at: c.take()?,
        operation: c.take::<Option<Uuid>>()?.map(OperationId::from_uuid),
        outcome: c.take()?,
    })
}

/// The answer about a session that is not applied yet, if there is one.
pub async fn unapplied_answer(scope: &Scope, session: &str) -> Result<Option<Pass>> {
    const SQL: &str = concat!(
        "select ",
        pass_columns!(),
        " from pass where user_id = $1 and session_id = $2 and state = 'answered'"
    );
    one(&scope.query(SQL, &[&scope.user().uuid(), &session]).await?, pass)
}

/// Stores an answer until it is applied, unless something was removed since its turns were read
/// (`state` is the recall state at that time). An existing answer is kept. Returns whether it was
/// stored.
pub async fn keep_answer(scope: &Scope, new: &Pass, state: RecallState) -> Result<bool> {
    const SQL: &str = "insert into pass (user_id, tenant_id, pass_id, session_id, first_turn, \
                       last_turn, prompt, model, offered, answer, answered_at, state) \
                       select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'answered' \
                       where not exists (select 1 from users \
                                          where user_id = $1 and deleted_at is not null) \
                       and $12 = coalesce((select removed from recall_state \
                                            where user_id = $1), 0) \
                       and $13 = coalesce((select epoch from recall_state \
                                            where user_id = $1), 0) \
                       on conflict do nothing returning true";
    let offered: Vec<Uuid> = new.offered.iter().map(|fact| fact.uuid()).collect();
    let params: [Param<'_>; 13] = [
        &scope.user().uuid(),
        &scope.tenant().uuid(),
        &new.id.uuid(),
        &new.session,
        &new.first_turn,
        &new.last_turn,
        &new.prompt,
        &new.model,
        &offered,
        &new.answer,
        &new.answered_at,
        &state.removed,
        &state.epoch,
    ];
    Ok(!scope.query(SQL, &params).await?.is_empty())
}

/// Removes an answer that cannot be used.
pub async fn drop_answer(scope: &Scope, id: PassId) -> Result<()> {
    const SQL: &str = "delete from pass where user_id = $1 and pass_id = $2 and state = 'answered'";
    scope.query(SQL, &[&scope.user().uuid(), &id.uuid()]).await?;
    Ok(())
}

/// Records the outcome of an answer and removes its text.
pub fn mark_applied(
    batch: &mut Batch,
    scope: &Scope,
    id: PassId,
    operation: Option<OperationId>,
    outcome: serde_json::Value,
    now: Timestamp,
) {
    const SQL: &str = "update pass set state = 'applied', answer = null, operation_id = $3, \
                       outcome = $4, applied_at = $5 \
                       where user_id = $1 and pass_id = $2 and state = 'answered'";
    batch.push_one(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(id.uuid()),
            Box::new(operation.map(OperationId::uuid)),
            Box::new(outcome),
            Box::new(now),
        ],
    );
}

/// The latest applied passes.
pub async fn passes(scope: &Scope, session: Option<&str>, limit: i64) -> Result<Vec<Pass>> {
    const SQL: &str = concat!(
        "select ",
        pass_columns!(),
        " from pass where user_id = $1 and state = 'applied' \
           and ($2::text is null or session_id = $2) order by answered_at desc, pass_id limit $3"
    );
    all(&scope.query(SQL, &[&scope.user().uuid(), &session, &limit]).await?, pass)
}

/// How much was learned from a session by all its passes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PassTotals {
    /// When the latest pass was applied.
    pub learned_at: Option<Timestamp>,
    /// Memories that were added, changed or supported.
    pub learned: i64,
    /// Memories that wait for an answer of the user.
    pub proposed: i64,
    /// Proposals that were left out, except repetitions of what is known.
    pub left_out: i64,
}

/// Sums over the applied passes of a session.
pub async fn totals(scope: &Scope, session: &str) -> Result<PassTotals> {
    const SQL: &str = "select max(p.applied_at), \
        coalesce(sum(n.value::bigint) filter (where n.part = 'learned' \
          and n.key in ('added', 'changed', 'reinforced')), 0)::bigint, \
        coalesce(sum(n.value::bigint) filter (where n.part = 'learned' \
          and n.key in ('proposed', 'guessed', 'contested')), 0)::bigint, \
        coalesce(sum(n.value::bigint) filter (where n.part = 'left' \
          and n.key not in ('known_already', 'skipped')), 0)::bigint \
       from pass p left join lateral ( \
         select part, e.key, e.value \
           from unnest(array['learned', 'left']) part, jsonb_each_text(p.outcome -> part) e) n on true \
      where p.user_id = $1 and p.session_id = $2 and p.state = 'applied'";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &session]).await?;
    let totals = one(&rows, |row| {
        let mut c = Columns::of(row, "pass");
        Ok(PassTotals {
            learned_at: c.take()?,
            learned: c.take()?,
            proposed: c.take()?,
            left_out: c.take()?,
        })
    })?;
    Ok(totals.unwrap_or_default())
}

macro_rules! episode_columns {
    () => {
        "episode_id, session_id, first_turn, last_turn, title, summary, origin, started_at, \
         ended_at, pass_id, prompt, recorded_at, searchable"
    };
}

pub(crate) use episode_columns;

pub(crate) fn episode(row: &Row) -> Result<Episode> {
    let mut c = Columns::of(row, "episode");
    Ok(Episode {
        id: EpisodeId::from_uuid(c.take()?),
        session: c.take()?,
        first_turn: c.take()?,
        last_turn: c.take()?,
        title: c.take()?,
        summary: c.take()?,
        origin: c.word(Origin::parse)?,
        started_at: c.take()?,
        ended_at: c.take()?,
        pass: PassId::from_uuid(c.take()?),
        prompt: c.take()?,
        recorded_at: c.take()?,
        searchable: c.take()?,
    })
}

/// Stores an episode. `left_out` are the numbers of the turns in its range that were not
/// summarised; `made_for` is the operation after which it was summarised again.
pub fn open_episode(
    batch: &mut Batch,
    scope: &Scope,
    new: &Episode,
    left_out: Vec<i32>,
    made_for: Option<OperationId>,
) {
    const SQL: &str = concat!(
        "insert into episode (user_id, tenant_id, ",
        episode_columns!(),
        ", made_for, left_out) \
          values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)"
    );
    batch.push_one(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(scope.tenant().uuid()),
            Box::new(new.id.uuid()),
            Box::new(new.session.clone()),
            Box::new(new.first_turn),
            Box::new(new.last_turn),
            Box::new(new.title.clone()),
            Box::new(new.summary.clone()),
            Box::new(new.origin.as_str()),
            Box::new(new.started_at),
            Box::new(new.ended_at),
            Box::new(new.pass.uuid()),
            Box::new(new.prompt.clone()),
            Box::new(new.recorded_at),
            Box::new(new.searchable),
            Box::new(made_for.map(OperationId::uuid)),
            Box::new(left_out),
        ],
    );
}

/// Those of these episodes that exist.
pub async fn existing_episodes(scope: &Scope, ids: &[EpisodeId]) -> Result<Vec<EpisodeId>> {
    const SQL: &str = "select episode_id from episode where user_id = $1 and episode_id = any($2)";
    let ids: Vec<Uuid> = ids.iter().map(|id| id.uuid()).collect();
    let rows = scope.query(SQL, &[&scope.user().uuid(), &ids]).await?;
    all(&rows, |row| Ok(EpisodeId::from_uuid(Columns::of(row, "episode").take()?)))
}

/// Cursor in a list of episodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpisodePlace {
    pub ended_at: Timestamp,
    pub id: EpisodeId,
}

/// Up to `limit` episodes, latest first; optionally of one session only.
pub async fn episodes(
    scope: &Scope,
    session: Option<&str>,
    before: Option<&EpisodePlace>,
    limit: i64,
) -> Result<Vec<Episode>> {
    const SQL: &str = concat!(
        "select ",
        episode_columns!(),
        " from episode where user_id = $1 and withdrawn_by is null and ($2::text is null or session_id = $2) \
           and session_id not in (select session_id from session where user_id = $1 \
             and trashed_at is not null) \
           and ($3::timestamptz is null or (ended_at, episode_id) < ($3, $4)) \
          order by ended_at desc, episode_id desc limit $5"
    );
    let at = before.map(|place| place.ended_at);
    let id = before.map(|place| place.id.uuid());
    let params: [Param<'_>; 5] = [&scope.user().uuid(), &session, &at, &id, &limit];
    all(&scope.query(SQL, &params).await?, episode)
}
