//! Removal of facts and of sources (turns, episodes and whole sessions), and finding what depends
//! on them. Withdrawn rows are hidden from every reader until they are restored or permanently
//! removed. The rows of a whole user are removed in `erasure`.

use lukasa_core::{Episode, EpisodeId, FactId, OperationId, Timestamp, Turn, TurnId, Verb};
use uuid::Uuid;

use crate::error::Result;
use crate::learning::{episode, episode_columns};
use crate::row::{Columns, all, one};
use crate::scope::{Batch, Param, Scope};
use crate::session::{self, turn, turn_columns};
use crate::{calibration, context, domain_question, packed};

/// Those of these turns and observations that a version of a fact, current or closed, cites in its
/// support or its evidence. Reads every version once, however many names there are.
pub async fn cited(scope: &Scope, names: &[String]) -> Result<Vec<String>> {
    const SQL: &str = "select distinct n.name from unnest($2::text[]) n (name) join ( \
                         select unnest(turns) as name from fact_version where user_id = $1 \
                         union all select e ->> 'turn' from fact_version v, \
                           jsonb_array_elements(v.evidence) e where v.user_id = $1) c \
                           on c.name = n.name";
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let rows = scope.query(SQL, &[&scope.user().uuid(), &names]).await?;
    all(&rows, |row| Columns::of(row, "fact_version").take())
}

/// The facts whose current versions cite one of these turns.
pub async fn citing(scope: &Scope, turns: &[String]) -> Result<Vec<FactId>> {
    const SQL: &str = "select distinct fact_id from fact_version where user_id = $1 \
                         and known_until is null and state <> 'trashed' and turns && $2 \
                        order by fact_id";
    facts(scope, SQL, &[&scope.user().uuid(), &turns]).await
}

/// The facts of which any version, current or closed, cites one of these turns.
pub async fn ever_citing(scope: &Scope, turns: &[String]) -> Result<Vec<FactId>> {
    const SQL: &str = "select distinct fact_id from fact_version where user_id = $1 \
                         and turns && $2 order by fact_id";
    facts(scope, SQL, &[&scope.user().uuid(), &turns]).await
}

/// The facts whose current version was recorded in a session.
pub async fn facts_of_session(scope: &Scope, session: &str) -> Result<Vec<FactId>> {
    const SQL: &str = "select distinct fact_id from fact_version where user_id = $1 \
                         and known_until is null and state <> 'trashed' and session = $2 \
                        order by fact_id";
    facts(scope, SQL, &[&scope.user().uuid(), &session]).await
}

/// The extracted facts whose evidence is a session as a whole.
pub async fn facts_about_session(scope: &Scope, kind: &str, session: &str) -> Result<Vec<FactId>> {
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

/// The ids of a session's turns from one number to another, including withdrawn ones.
pub async fn turn_ids(scope: &Scope, of: &str, first: i32, last: i32) -> Result<Vec<TurnId>> {
    const SQL: &str = "select turn_id from turn where user_id = $1 and session_id = $2 \
                         and number between $3 and $4 order by number";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &of, &first, &last]).await?;
    all(&rows, |row| Ok(TurnId::from_uuid(Columns::of(row, "turn").take()?)))
}

/// The sessions of these turns, for those that still exist.
pub async fn sessions_of_turns(scope: &Scope, turns: &[Uuid]) -> Result<Vec<(TurnId, String)>> {
    const SQL: &str =
        "select turn_id, session_id from turn where user_id = $1 and turn_id = any($2)";
    all(&scope.query(SQL, &[&scope.user().uuid(), &turns]).await?, |row| {
        let mut c = Columns::of(row, "turn");
        Ok((TurnId::from_uuid(c.take()?), c.take()?))
    })
}

/// A withdrawn turn, and the operations that withdrew it: by itself, with its session, or both.
pub struct WithdrawnTurn {
    pub turn: TurnId,
    pub session: String,
    pub alone: Option<OperationId>,
    pub with_session: Option<OperationId>,
}

/// Those of these turns that are withdrawn.
pub async fn withdrawn(scope: &Scope, turns: &[Uuid]) -> Result<Vec<WithdrawnTurn>> {
    const SQL: &str = "select t.turn_id, t.session_id, t.withdrawn_by, s.withdrawn_by \
                         from turn t join session s \
                           on s.user_id = t.user_id and s.session_id = t.session_id \
                        where t.user_id = $1 and t.turn_id = any($2) \
                          and (t.withdrawn_by is not null or s.withdrawn_by is not null)";
    all(&scope.query(SQL, &[&scope.user().uuid(), &turns]).await?, |row| {
        let mut c = Columns::of(row, "turn");
        Ok(WithdrawnTurn {
            turn: TurnId::from_uuid(c.take()?),
            session: c.take()?,
            alone: c.take::<Option<Uuid>>()?.map(OperationId::from_uuid),
            with_session: c.take::<Option<Uuid>>()?.map(OperationId::from_uuid),
        })
    })
}

/// Turns by their ids, including withdrawn ones.
pub async fn turns(scope: &Scope, ids: &[TurnId]) -> Result<Vec<Turn>> {
    const SQL: &str = concat!(
        "select ",
        turn_columns!(),
        " from turn where user_id = $1 and turn_id = any($2) order by session_id, number"
    );
    let ids: Vec<Uuid> = ids.iter().map(|id| id.uuid()).collect();
    all(&scope.query(SQL, &[&scope.user().uuid(), &ids]).await?, turn)
}

/// The episodes of a session that cover any turn from one number to another; withdrawn ones too, if
/// `also_gone`.
pub async fn episodes_covering(
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

/// The episodes that were summarised again because of an operation.
pub async fn made_for(scope: &Scope, operation: OperationId) -> Result<Vec<EpisodeId>> {
    const SQL: &str = "select episode_id from episode where user_id = $1 and made_for = $2 \
                         and withdrawn_by is null";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &operation.uuid()]).await?;
    all(&rows, |row| Ok(EpisodeId::from_uuid(Columns::of(row, "episode").take()?)))
}

/// The episodes that an operation withdrew.
pub async fn episodes_withdrawn_by(
    scope: &Scope,
    operation: OperationId,
) -> Result<Vec<EpisodeId>> {
    const SQL: &str = "select episode_id from episode where user_id = $1 and withdrawn_by = $2";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &operation.uuid()]).await?;
    all(&rows, |row| Ok(EpisodeId::from_uuid(Columns::of(row, "episode").take()?)))
}

/// The operations after `after` that withdrew other episodes of the turns of these, latest first:
/// episodes by which these were replaced.
pub async fn withdrew_successors(
    scope: &Scope,
    episodes: &[EpisodeId],
    after: Timestamp,
) -> Result<Vec<OperationId>> {
    const SQL: &str = "select o.operation_id from episode e join episode w \
                           on w.user_id = e.user_id and w.session_id = e.session_id \
                          and w.first_turn <= e.last_turn and w.last_turn >= e.first_turn \
                          and w.episode_id <> all($2) \
                         join operation o \
                           on o.user_id = w.user_id and o.operation_id = w.withdrawn_by \
                        where e.user_id = $1 and e.episode_id = any($2) and o.recorded_at > $3 \
                        group by o.operation_id, o.recorded_at order by o.recorded_at desc";
    let ids: Vec<Uuid> = episodes.iter().map(|id| id.uuid()).collect();
    let rows = scope.query(SQL, &[&scope.user().uuid(), &ids, &after]).await?;
    all(&rows, |row| Ok(OperationId::from_uuid(Columns::of(row, "operation").take()?)))
}

/// Those of these episodes that may be restored together with these turns: every other withdrawn
/// turn of their range was already withdrawn when they were summarised.
pub async fn restorable_episodes(
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

/// Episodes by their ids, including withdrawn ones.
pub async fn episodes(scope: &Scope, ids: &[EpisodeId]) -> Result<Vec<Episode>> {
    const SQL: &str = concat!(
        "select ",
        episode_columns!(),
        " from episode where user_id = $1 and episode_id = any($2)"
    );
    let ids: Vec<Uuid> = ids.iter().map(|id| id.uuid()).collect();
    all(&scope.query(SQL, &[&scope.user().uuid(), &ids]).await?, episode)
}

/// Withdraws turns, or restores them. Withdrawing removes their passages too.
pub fn mark_turns(batch: &mut Batch, scope: &Scope, turns: &[TurnId], by: Option<OperationId>) {
    const MARK: &str = "update turn set withdrawn_by = $3 where user_id = $1 and turn_id = any($2)";
    if turns.is_empty() {
        return;
    }
    let ids: Vec<Uuid> = turns.iter().map(|id| id.uuid()).collect();
    let by = by.map(OperationId::uuid);
    batch.push(MARK, vec![Box::new(scope.user().uuid()), Box::new(ids.clone()), Box::new(by)]);
    if by.is_some() {
        packed::unpack_turns(batch, scope, &ids);
        remove_passages(batch, scope, ids);
    }
}

fn remove_passages(batch: &mut Batch, scope: &Scope, sources: Vec<Uuid>) {
    batch.push(
        "delete from passage where user_id = $1 and source_id = any($2)",
        vec![Box::new(scope.user().uuid()), Box::new(sources)],
    );
}

/// Withdraws episodes, or restores them. Withdrawing removes their passages too.
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
        batch.push(MARK, vec![Box::new(scope.user().uuid()), Box::new(ids.clone()), Box::new(by)]);
        if by.is_some() {
            remove_passages(batch, scope, ids);
        }
    }
}

/// Removes model output about a session that may be based on withdrawn turns and can be made again:
/// a stored answer that was not applied yet, the title if one of the turns it was made from is
/// affected, and the summary, which is replaced by one up to a turn.
pub fn remove_derived(
    batch: &mut Batch,
    scope: &Scope,
    of: &str,
    first: i32,
    summary: Option<&(String, i32)>,
) {
    const ANSWER: &str =
        "delete from pass where user_id = $1 and session_id = $2 and state = 'answered'";
    const TITLE: &str = "update session set \
                         title = case when named_from >= $3 then null else title end, \
                         named_from = case when named_from >= $3 then null else named_from end \
                        where user_id = $1 and session_id = $2";
    let user = scope.user().uuid();
    batch.push(ANSWER, vec![Box::new(user), Box::new(of.to_owned())]);
    batch.push(TITLE, vec![Box::new(user), Box::new(of.to_owned()), Box::new(first)]);
    session::replace_summary(batch, scope, of, summary);
}

/// Removes what was put into prompts with one of these turns or episodes. Each trace is read once,
/// however many names there are. Observations are in no prompt and so in no trace.
const QUOTING_IN_TRACE: &str = "delete from retrieval where user_id = $1 and retrieval_id = any(array( \
                                select r.retrieval_id from retrieval r, \
                                  regexp_matches(r.trace::text, '[a-z]+_[0-9a-z]{26}', 'g') m (ids) \
                                  join unnest($2::text[]) n (name) on n.name = m.ids[1] \
                                 where r.user_id = $1))";

/// Removes everything that still quotes these turns or observations, of which the versions that
/// cite them are known (see [`cited`]): closed versions that cite them, what was put into prompts, and
/// stored responses.
pub fn erase_quotations(batch: &mut Batch, scope: &Scope, cited: &[String]) {
    let user = scope.user().uuid();
    batch.push(
        "update idempotency set outcome = null where user_id = $1 and outcome is not null",
        vec![Box::new(user)],
    );
    // A version the user reworded cites no turn but may still show its text in its evidence.
    macro_rules! cites {
        () => {
            "(turns && $2 or exists (select 1 \
               from jsonb_array_elements(evidence) e where e ->> 'turn' = any($2)))"
        };
    }
    // A prompt may quote exactly the version that is removed, but lists only the fact.
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
    const BY_NAME: [&str; 7] = [
        quoting!("baseline"),
        quoting!("portrait"),
        quoting!("retrieval"),
        concat!(
            "delete from retrieval where user_id = $1 and etag in (select etag from given_baseline \
               where user_id = $1 and facts && array(select fact_id from fact_version \
                 where user_id = $1 and ",
            cites!(),
            "))"
        ),
        quoting!("given_baseline"),
        concat!(
            "delete from passage where user_id = $1 and source_id in \
              (select version_id from fact_version where user_id = $1 and ",
            cites!(),
            ")"
        ),
        // Current versions have been replaced before this, unless the user stated them.
        concat!(
            "delete from fact_version where user_id = $1 and known_until is not null and ",
            cites!()
        ),
    ];
    if cited.is_empty() {
        return;
    }
    for sql in BY_NAME {
        batch.push(sql, vec![Box::new(user), Box::new(cited.to_vec())]);
    }
}

/// Permanently removes turns and episodes, and everything that still quotes them: versions
/// that cite the turns, what was put into prompts, and stored responses. `cited` are the names that
/// versions cite, see [`erase_quotations`]. Tombstones without content remain.
pub fn erase_sources(
    batch: &mut Batch,
    scope: &Scope,
    turns: &[TurnId],
    episodes: &[EpisodeId],
    cited: &[String],
    by: OperationId,
    at: Timestamp,
) {
    let user = scope.user().uuid();
    let ids: Vec<Uuid> = turns.iter().map(|id| id.uuid()).collect();
    let episode_ids: Vec<Uuid> = episodes.iter().map(|id| id.uuid()).collect();
    erase_quotations(batch, scope, cited);
    let turn_names = turns.iter().map(ToString::to_string);
    let names: Vec<String> = turn_names.chain(episodes.iter().map(ToString::to_string)).collect();
    if !names.is_empty() {
        batch.push(QUOTING_IN_TRACE, vec![Box::new(user), Box::new(names)]);
    }
    packed::unpack_turns(batch, scope, &ids);
    for sql in [
        // The queries of memory tools may repeat the turn's words.
        "delete from retrieval where user_id = $1 and session_id in \
          (select session_id from turn where user_id = $1 and turn_id = any($2))",
        "delete from passage where user_id = $1 and source_id = any($2)",
        "delete from usage where user_id = $1 and turn_id = any($2)",
        "delete from turn where user_id = $1 and turn_id = any($2)",
    ] {
        batch.push(sql, vec![Box::new(user), Box::new(ids.clone())]);
    }
    // Outcomes that were said in a turn count for the thresholds.
    batch.push(calibration::REMOVE_SQL, vec![Box::new(user)]);
    domain_question::remove_turns(batch, scope, &ids);
    remove_passages(batch, scope, episode_ids.clone());
    batch.push(
        "delete from episode where user_id = $1 and episode_id = any($2)",
        vec![Box::new(user), Box::new(episode_ids)],
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

/// The turns and episodes that were withdrawn by an operation before `before`.
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

/// How many rows were removed with one fact, without their content.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct RemovedRows {
    pub fact: FactId,
    pub versions: i32,
    pub links: i32,
    pub evidence: i32,
    pub answers: i32,
}

/// Those of these facts that were erased or purged.
pub async fn erased_facts(scope: &Scope, facts: &[FactId]) -> Result<Vec<FactId>> {
    const SQL: &str = "select fact_id from tombstone where user_id = $1 and fact_id = any($2)";
    fact_ids(scope, SQL, facts).await
}

/// Those of these turns that were erased or purged.
pub async fn erased_turns(scope: &Scope, turns: &[TurnId]) -> Result<Vec<TurnId>> {
    const SQL: &str = "select fact_id from tombstone where user_id = $1 and fact_id = any($2) \
                         and kind = 'turn'";
    let asked: Vec<Uuid> = turns.iter().map(|turn| turn.uuid()).collect();
    let rows = scope.query(SQL, &[&scope.user().uuid(), &asked]).await?;
    all(&rows, |row| Ok(TurnId::from_uuid(Columns::of(row, "tombstone").take()?)))
}

pub(crate) async fn fact_ids(
    scope: &Scope,
    sql: &'static str,
    facts: &[FactId],
) -> Result<Vec<FactId>> {
    let asked: Vec<Uuid> = facts.iter().map(|fact| fact.uuid()).collect();
    let rows = scope.query(sql, &[&scope.user().uuid(), &asked]).await?;
    all(&rows, |row| Ok(FactId::from_uuid(Columns::of(row, "fact").take()?)))
}

/// Removes every version, link and piece of evidence of a fact, clears the stored responses that
/// quote it, and leaves a tombstone without content.
pub async fn remove_fact(
    scope: &Scope,
    fact: FactId,
    verb: Verb,
    at: Timestamp,
    by: OperationId,
) -> Result<RemovedRows> {
    let user = scope.user().uuid();
    let links = scope
        .query(
            "delete from link where user_id = $1 and (from_fact = $2 or to_fact = $2) \
             returning link_id",
            &[&user, &fact.uuid()],
        )
        .await?;
    scope
        .query(
            "delete from compared_pair where user_id = $1 \
               and (older_fact = $2 or newer_fact = $2)",
            &[&user, &fact.uuid()],
        )
        .await?;
    scope
        .query(
            "delete from passage where user_id = $1 and source_id in \
             (select version_id from fact_version where user_id = $1 and fact_id = $2)",
            &[&user, &fact.uuid()],
        )
        .await?;
    let versions = scope
        .query(
            "delete from fact_version where user_id = $1 and fact_id = $2 \
             returning jsonb_array_length(evidence)",
            &[&user, &fact.uuid()],
        )
        .await?;
    context::remove_fact(scope, fact).await?;
    scope
        .query(
            "update left_out set fact_id = null where user_id = $1 and fact_id = $2",
            &[&user, &fact.uuid()],
        )
        .await?;
    scope
        .query("delete from fact where user_id = $1 and fact_id = $2", &[&user, &fact.uuid()])
        .await?;
    let answers = scope
        .query(
            "update idempotency set outcome = null where user_id = $1 and $2 = any(facts) \
             returning key",
            &[&user, &fact.uuid()],
        )
        .await?;
    let evidence = all(&versions, |row| Columns::of(row, "fact_version").take::<i32>())?;
    let count = |rows: usize| i32::try_from(rows).unwrap_or(i32::MAX);
    let removed = RemovedRows {
        fact,
        versions: count(versions.len()),
        links: count(links.len()),
        evidence: evidence.into_iter().sum(),
        answers: count(answers.len()),
    };
    const SQL: &str = "insert into tombstone (user_id, tenant_id, fact_id, operation_id, \
                       erased_at, verb, versions, links, evidence) \
                       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    let params: [Param<'_>; 9] = [
        &user,
        &scope.tenant().uuid(),
        &fact.uuid(),
        &by.uuid(),
        &at,
        &verb.as_str(),
        &removed.versions,
        &removed.links,
        &removed.evidence,
    ];
    scope.query(SQL, &params).await?;
    Ok(removed)
}

/// The facts that have been in the trash since `before` or longer, oldest first, at most `limit`.
pub async fn facts_trashed_before(
    scope: &Scope,
    before: Timestamp,
    limit: i64,
) -> Result<Vec<FactId>> {
    const SQL: &str = "select fact_id from fact_version where user_id = $1 \
                          and known_until is null and state = 'trashed' \
                        group by fact_id having max(known_from) <= $2 \
                        order by max(known_from), fact_id limit $3";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &before, &limit]).await?;
    all(&rows, |row| Ok(FactId::from_uuid(Columns::of(row, "fact_version").take()?)))
}

/// Facts that have expired: all of their versions stopped being valid at or before a given time.
pub async fn facts_ended_before(
    scope: &Scope,
    before: Timestamp,
    limit: i64,
) -> Result<Vec<FactId>> {
    const SQL: &str = "select fact_id from fact_version where user_id = $1 \
                          and known_until is null \
                        group by fact_id \
                       having bool_and(state = 'active' and valid_until is not null) \
                          and max(valid_until) <= $2 \
                        order by max(valid_until), fact_id limit $3";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &before, &limit]).await?;
    all(&rows, |row| Ok(FactId::from_uuid(Columns::of(row, "fact_version").take()?)))
}

/// When a fact was erased, if it was.
pub async fn erased_at(scope: &Scope, fact: FactId) -> Result<Option<Timestamp>> {
    const SQL: &str = "select erased_at from tombstone where user_id = $1 and fact_id = $2";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &fact.uuid()]).await?;
    one(&rows, |row| Columns::of(row, "tombstone").take())
}
