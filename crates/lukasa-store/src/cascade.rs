//! What rests on a source, and the taking away of sources: turns, episodes and whole chats. Taken away
//! means hidden from every reader until it is brought back or removed for good.

use lukasa_core::{Episode, EpisodeId, FactId, OperationId, Timestamp, Turn, TurnId};
use uuid::Uuid;

use crate::error::Result;
use crate::learning::{episode, episode_columns};
use crate::row::{Columns, all, one};
use crate::scope::{Batch, Param, Scope};
use crate::session::{turn, turn_columns};

/// The facts of which a version that is known now cites one of these turns.
pub async fn citing(scope: &Scope, turns: &[String]) -> Result<Vec<FactId>> {
    const SQL: &str = "select distinct fact_id from fact_version where user_id = $1 \
                         and known_until is null and state <> 'trashed' and turns && $2 \
                        order by fact_id";
    facts(scope, SQL, &[&scope.user().uuid(), &turns]).await
}

/// The facts of which any version ever cited one of these turns.
pub async fn ever_citing(scope: &Scope, turns: &[String]) -> Result<Vec<FactId>> {
    const SQL: &str = "select distinct fact_id from fact_version where user_id = $1 \
                         and turns && $2 order by fact_id";
    facts(scope, SQL, &[&scope.user().uuid(), &turns]).await
}

/// The facts that were last said in a chat.
pub async fn said_in(scope: &Scope, session: &str) -> Result<Vec<FactId>> {
    const SQL: &str = "select distinct fact_id from fact_version where user_id = $1 \
                         and known_until is null and state <> 'trashed' and session = $2 \
                        order by fact_id";
    facts(scope, SQL, &[&scope.user().uuid(), &session]).await
}

/// The notes that rest on a chat as a whole.
pub async fn noting(scope: &Scope, kind: &str, session: &str) -> Result<Vec<FactId>> {
    const SQL: &str = "select distinct fact_id from fact_version where user_id = $1 \
                         and known_until is null and state <> 'trashed' and extracted \
                         and evidence @> jsonb_build_array( \
                               jsonb_build_object('type', $2::text, 'description', $3::text)) \
                        order by fact_id";
    facts(scope, SQL, &[&scope.user().uuid(), &kind, &session]).await
}

async fn facts(scope: &Scope, sql: &'static str, params: &[Param<'_>]) -> Result<Vec<FactId>> {
    let rows = scope.query(sql, params).await?;
    all(&rows, |row| Ok(FactId::from_uuid(Columns::of(row, "fact_version").take()?)))
}

/// The ids of a chat's turns from one number to another, also of those that were taken away.
pub async fn turn_ids(scope: &Scope, of: &str, first: i32, last: i32) -> Result<Vec<TurnId>> {
    const SQL: &str = "select turn_id from turn where user_id = $1 and session_id = $2 \
                         and number between $3 and $4 order by number";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &of, &first, &last]).await?;
    all(&rows, |row| Ok(TurnId::from_uuid(Columns::of(row, "turn").take()?)))
}

/// The chats of these turns, for those that are still there.
pub async fn chats(scope: &Scope, turns: &[Uuid]) -> Result<Vec<(TurnId, String)>> {
    const SQL: &str =
        "select turn_id, session_id from turn where user_id = $1 and turn_id = any($2)";
    all(&scope.query(SQL, &[&scope.user().uuid(), &turns]).await?, |row| {
        let mut c = Columns::of(row, "turn");
        Ok((TurnId::from_uuid(c.take()?), c.take()?))
    })
}

/// A turn that was taken away, alone or with its chat or both, and the operations that did it.
pub struct Withdrawn {
    pub turn: TurnId,
    pub session: String,
    pub alone: Option<OperationId>,
    pub with_session: Option<OperationId>,
}

/// Those of these turns that were taken away.
pub async fn withdrawn(scope: &Scope, turns: &[Uuid]) -> Result<Vec<Withdrawn>> {
    const SQL: &str = "select t.turn_id, t.session_id, t.withdrawn_by, s.withdrawn_by \
                         from turn t join session s \
                           on s.user_id = t.user_id and s.session_id = t.session_id \
                        where t.user_id = $1 and t.turn_id = any($2) \
                          and (t.withdrawn_by is not null or s.withdrawn_by is not null)";
    all(&scope.query(SQL, &[&scope.user().uuid(), &turns]).await?, |row| {
        let mut c = Columns::of(row, "turn");
        Ok(Withdrawn {
            turn: TurnId::from_uuid(c.take()?),
            session: c.take()?,
            alone: c.take::<Option<Uuid>>()?.map(OperationId::from_uuid),
            with_session: c.take::<Option<Uuid>>()?.map(OperationId::from_uuid),
        })
    })
}

/// Turns by their ids, also those that were taken away.
pub async fn turns(scope: &Scope, ids: &[TurnId]) -> Result<Vec<Turn>> {
    const SQL: &str = concat!(
        "select ",
        turn_columns!(),
        " from turn where user_id = $1 and turn_id = any($2) order by session_id, number"
    );
    let ids: Vec<Uuid> = ids.iter().map(|id| id.uuid()).collect();
    all(&scope.query(SQL, &[&scope.user().uuid(), &ids]).await?, turn)
}

/// The episodes of a chat that tell of any turn from one number to another; also those that were
/// taken away, if `also_gone`.
pub async fn telling(
    scope: &Scope,
    of: &str,
    first: i32,
    last: i32,
    also_gone: bool,
) -> Result<Vec<Episode>> {
    const SQL: &str = concat!(
        "select ",
        episode_columns!(),
        " from episode where user_id = $1 and session_id = $2 \
           and (withdrawn_by is null or $5) \
           and first_turn <= $4 and last_turn >= $3 order by first_turn, episode_id"
    );
    let params: [Param<'_>; 5] = [&scope.user().uuid(), &of, &first, &last, &also_gone];
    all(&scope.query(SQL, &params).await?, episode)
}

pub async fn find_episode(scope: &Scope, id: EpisodeId) -> Result<Option<Episode>> {
    const SQL: &str = concat!(
        "select ",
        episode_columns!(),
        " from episode where user_id = $1 and episode_id = $2 and withdrawn_by is null"
    );
    one(&scope.query(SQL, &[&scope.user().uuid(), &id.uuid()]).await?, episode)
}

/// The episodes that were told again after an operation.
pub async fn made_for(scope: &Scope, operation: OperationId) -> Result<Vec<EpisodeId>> {
    const SQL: &str = "select episode_id from episode where user_id = $1 and made_for = $2 \
                         and withdrawn_by is null";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &operation.uuid()]).await?;
    all(&rows, |row| Ok(EpisodeId::from_uuid(Columns::of(row, "episode").take()?)))
}

/// The episodes that were told again after an operation and taken away since.
pub async fn retold(scope: &Scope, operation: OperationId) -> Result<Vec<EpisodeId>> {
    const SQL: &str = "select episode_id from episode where user_id = $1 and made_for = $2 \
                         and withdrawn_by is not null";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &operation.uuid()]).await?;
    all(&rows, |row| Ok(EpisodeId::from_uuid(Columns::of(row, "episode").take()?)))
}

/// Those of these episodes that may be brought back together with these turns: whatever else of their
/// stretch is gone was gone when they were told.
pub async fn returnable(
    scope: &Scope,
    episodes: &[EpisodeId],
    with: &[TurnId],
) -> Result<Vec<Episode>> {
    const SQL: &str = concat!(
        "select ",
        episode_columns!(),
        " from episode e where user_id = $1 and episode_id = any($2) and not exists \
           (select 1 from turn t where t.user_id = $1 and t.session_id = e.session_id \
              and t.number between e.first_turn and e.last_turn and t.withdrawn_by is not null \
              and t.turn_id <> all($3) and t.number <> all(e.left_out))"
    );
    let episodes: Vec<Uuid> = episodes.iter().map(|id| id.uuid()).collect();
    let with: Vec<Uuid> = with.iter().map(|id| id.uuid()).collect();
    all(&scope.query(SQL, &[&scope.user().uuid(), &episodes, &with]).await?, episode)
}

/// Episodes by their ids, also those that were taken away.
pub async fn episodes(scope: &Scope, ids: &[EpisodeId]) -> Result<Vec<Episode>> {
    const SQL: &str = concat!(
        "select ",
        episode_columns!(),
        " from episode where user_id = $1 and episode_id = any($2)"
    );
    let ids: Vec<Uuid> = ids.iter().map(|id| id.uuid()).collect();
    all(&scope.query(SQL, &[&scope.user().uuid(), &ids]).await?, episode)
}

/// Takes turns away, or brings them back. What recall has of them goes with them.
pub fn mark_turns(batch: &mut Batch, scope: &Scope, turns: &[TurnId], by: Option<OperationId>) {
    const MARK: &str = "update turn set withdrawn_by = $3 where user_id = $1 and turn_id = any($2)";
    if turns.is_empty() {
        return;
    }
    let ids: Vec<Uuid> = turns.iter().map(|id| id.uuid()).collect();
    let by = by.map(OperationId::uuid);
    batch.push(MARK, vec![Box::new(scope.user().uuid()), Box::new(ids.clone()), Box::new(by)]);
    if by.is_some() {
        batch.push(
            "delete from passage where user_id = $1 and source_id = any($2)",
            vec![Box::new(scope.user().uuid()), Box::new(ids)],
        );
    }
}

/// Takes episodes away, or brings them back.
pub fn mark_episodes(
    batch: &mut Batch,
    scope: &Scope,
    episodes: &[EpisodeId],
    by: Option<OperationId>,
) {
    const MARK: &str =
        "update episode set withdrawn_by = $3 where user_id = $1 and episode_id = any($2)";
    if !episodes.is_empty() {
        let ids: Vec<Uuid> = episodes.iter().map(|id| id.uuid()).collect();
        let by = by.map(OperationId::uuid);
        batch.push(MARK, vec![Box::new(scope.user().uuid()), Box::new(ids), Box::new(by)]);
    }
}

/// What a model said about a chat and was not applied yet goes: it may be about what is gone now.
/// Also what models have made of the chat as a whole, which can be made again: the title, if the turn
/// it was made from is among those that go, and the summary, which is `told` now.
pub fn forget_made(batch: &mut Batch, scope: &Scope, of: &str, first: i32, told: Option<&str>) {
    const ANSWER: &str =
        "delete from pass where user_id = $1 and session_id = $2 and state = 'answered'";
    const MADE: &str = "update session set summary = $4, \
                         summary_through = case when $4::text is null then 0 else summary_through end, \
                         title = case when named_from >= $3 then null else title end, \
                         named_from = case when named_from >= $3 then null else named_from end \
                        where user_id = $1 and session_id = $2";
    let user = scope.user().uuid();
    batch.push(ANSWER, vec![Box::new(user), Box::new(of.to_owned())]);
    batch.push(
        MADE,
        vec![
            Box::new(user),
            Box::new(of.to_owned()),
            Box::new(first),
            Box::new(told.map(str::to_owned)),
        ],
    );
}

/// Removes turns and episodes for good, and every quotation of the turns that is left: versions that
/// cited them, what went into prompts, and answers that are kept for repeated requests. A mark stays
/// that they were there, and none of what they said.
pub fn erase(
    batch: &mut Batch,
    scope: &Scope,
    turns: &[TurnId],
    episodes: &[EpisodeId],
    by: OperationId,
    at: Timestamp,
) {
    let user = scope.user().uuid();
    let ids: Vec<Uuid> = turns.iter().map(|id| id.uuid()).collect();
    let names: Vec<String> = turns.iter().map(ToString::to_string).collect();
    let stories: Vec<Uuid> = episodes.iter().map(|id| id.uuid()).collect();
    // A version that its person worded anew rests on no turn, and may still show what was once said.
    macro_rules! cites {
        () => {
            "(turns && $2 or exists (select 1 \
               from jsonb_array_elements(evidence) e where e ->> 'turn' = any($2)))"
        };
    }
    // A prompt that was given a fact may quote the very version that goes, and names only the fact.
    macro_rules! quoting {
        ($table:literal) => {
            concat!(
                "delete from ",
                $table,
                " where user_id = $1 and facts && array(select fact_id from fact_version \
                   where user_id = $1 and ",
                cites!(),
                ")"
            )
        };
    }
    const BY_NAME: [&str; 6] = [
        quoting!("baseline"),
        quoting!("portrait"),
        quoting!("retrieval"),
        concat!(
            "delete from passage where user_id = $1 and source_id in \
              (select version_id from fact_version where user_id = $1 and ",
            cites!(),
            ")"
        ),
        // What is known now has been replaced before this, unless its person stated it.
        concat!(
            "delete from fact_version where user_id = $1 and known_until is not null and ",
            cites!()
        ),
        "delete from retrieval where user_id = $1 and exists (select 1 from unnest($2::text[]) t \
          where position(t in trace::text) > 0)",
    ];
    for sql in BY_NAME {
        batch.push(sql, vec![Box::new(user), Box::new(names.clone())]);
    }
    for sql in [
        // What a model looked for in the chat may be in the turn's very words.
        "delete from retrieval where user_id = $1 and session_id in \
          (select session_id from turn where user_id = $1 and turn_id = any($2))",
        "delete from passage where user_id = $1 and source_id = any($2)",
        "delete from usage where user_id = $1 and turn_id = any($2)",
        "delete from turn where user_id = $1 and turn_id = any($2)",
    ] {
        batch.push(sql, vec![Box::new(user), Box::new(ids.clone())]);
    }
    batch.push(
        "delete from episode where user_id = $1 and episode_id = any($2)",
        vec![Box::new(user), Box::new(stories)],
    );
    batch.push(
        "update idempotency set outcome = null where user_id = $1 and outcome is not null",
        vec![Box::new(user)],
    );
    const TOMBSTONE: &str = "insert into tombstone (user_id, tenant_id, fact_id, operation_id, \
                             erased_at, verb, versions, links, evidence, kind) \
                             select $1, $2, t, $4, $5, 'erase', 0, 0, 0, 'turn' \
                               from unnest($3::uuid[]) t on conflict do nothing";
    batch.push(
        TOMBSTONE,
        vec![
            Box::new(user),
            Box::new(scope.tenant().uuid()),
            Box::new(ids),
            Box::new(by.uuid()),
            Box::new(at),
        ],
    );
}

/// The turns and episodes that were taken away by an operation before `before`.
pub async fn withdrawn_before(
    scope: &Scope,
    before: Timestamp,
    limit: i64,
) -> Result<(Vec<TurnId>, Vec<EpisodeId>)> {
    const TURNS: &str = "select t.turn_id from turn t join operation o \
                           on o.user_id = t.user_id and o.operation_id = t.withdrawn_by \
                          where t.user_id = $1 and t.withdrawn_by is not null \
                            and o.recorded_at <= $2 limit $3";
    const EPISODES: &str = "select e.episode_id from episode e join operation o \
                              on o.user_id = e.user_id and o.operation_id = e.withdrawn_by \
                             where e.user_id = $1 and e.withdrawn_by is not null \
                               and o.recorded_at <= $2 limit $3";
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &before, &limit];
    let turns = scope.query(TURNS, &params).await?;
    let episodes = scope.query(EPISODES, &params).await?;
    Ok((
        all(&turns, |row| Ok(TurnId::from_uuid(Columns::of(row, "turn").take()?)))?,
        all(&episodes, |row| Ok(EpisodeId::from_uuid(Columns::of(row, "episode").take()?)))?,
    ))
}
