//! Sessions and their turns.

use lukasa_core::{
    Keep, MaskedTurns, OperationId, Origin, Project, Role, Session, SessionState, Timestamp, Turn,
    TurnId,
};
use serde::{Deserialize, Serialize};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::packed;
use crate::row::{Columns, all, one};
use crate::scope::{Batch, Param, Scope};

macro_rules! session_columns {
    () => {
        "session_id, title, opened_at, last_turn_at, turns, state, closed_at, trashed_at, \
         extracted_through, summary, summary_through, store, incognito, named_from, \
         project"
    };
}

macro_rules! turn_columns {
    () => {
        "turn_id, session_id, number, role, speaker, content, origin, said_at, recorded_at, spans"
    };
}

pub(crate) use {session_columns, turn_columns};

pub(crate) fn session(row: &Row) -> Result<Session> {
    let mut c = Columns::of(row, "session");
    Ok(Session {
        id: c.take()?,
        title: c.take()?,
        opened_at: c.take()?,
        last_turn_at: c.take()?,
        turns: c.take()?,
        state: c.word(SessionState::parse)?,
        closed_at: c.take()?,
        trashed_at: c.take()?,
        extracted_through: c.take()?,
        summary: c.take()?,
        summary_through: c.take()?,
        keep: c.word(Keep::parse)?,
        incognito: c.take()?,
        named_from: c.take()?,
        project: c.project()?,
    })
}

pub(crate) fn turn(row: &Row) -> Result<Turn> {
    let mut c = Columns::of(row, "turn");
    let mut turn = Turn {
        id: TurnId::from_uuid(c.take()?),
        session: c.take()?,
        number: c.take()?,
        role: c.word(Role::parse)?,
        speaker: c.take()?,
        content: c.take()?,
        origin: c.word(Origin::parse)?,
        said_at: c.take()?,
        recorded_at: c.take()?,
        spans: Vec::new(),
        marked: false,
    };
    if let Some(spans) = c.take::<Option<serde_json::Value>>()? {
        turn.marked = true;
        turn.spans = serde_json::from_value(spans)
            .map_err(|e| Error::Corrupt { table: "turn", what: e.to_string() })?;
    }
    Ok(turn)
}

/// Cursor in a list of sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionPlace {
    pub last_turn_at: Timestamp,
    pub id: String,
}

pub async fn find(scope: &Scope, id: &str) -> Result<Option<Session>> {
    const SQL: &str = concat!(
        "select ",
        session_columns!(),
        " from session where user_id = $1 and session_id = $2"
    );
    one(&scope.query(SQL, &[&scope.user().uuid(), &id]).await?, session)
}

/// Whether one of these sessions is incognito.
pub async fn has_incognito(scope: &Scope, ids: &[&str]) -> Result<bool> {
    const SQL: &str = "select true from session where user_id = $1 and session_id = any($2) \
                         and incognito limit 1";
    Ok(!scope.query(SQL, &[&scope.user().uuid(), &ids]).await?.is_empty())
}

/// The project of a session; `None` if it has none or does not exist.
pub async fn project_of(scope: &Scope, id: &str) -> Result<Option<Project>> {
    const SQL: &str = "select project from session where user_id = $1 and session_id = $2";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &id]).await?;
    Ok(one(&rows, |row| Columns::of(row, "session").project())?.flatten())
}

/// Whether a project is the user's: one of their sessions has it, or a memory that they stated or
/// agreed to.
pub async fn is_users_project(scope: &Scope, project: &Project) -> Result<bool> {
    const SQL: &str = "select exists (select 1 from session where user_id = $1 and project = $2) \
                         or exists (select 1 from fact_version \
                                     where user_id = $1 and project = $2 and known_until is null \
                                       and state = 'active' and (consented_at is not null \
                                         or (origin in ('user_said', 'user_turn') and not extracted)))";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &project.as_str()]).await?;
    Ok(rows.first().is_some_and(|row| row.get(0)))
}

/// Filter of a list of sessions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// Lists the sessions in the trash instead of the others.
    pub trashed: bool,
    pub state: Option<SessionState>,
    /// Only sessions of this project.
    pub project: Option<Project>,
}

/// Up to `limit` sessions, the one with the latest turn first.
pub async fn page(
    scope: &Scope,
    which: &SessionFilter,
    before: Option<&SessionPlace>,
    limit: i64,
) -> Result<Vec<Session>> {
    const SQL: &str = concat!(
        "select ",
        session_columns!(),
        " from session where user_id = $1 and not incognito \
           and (trashed_at is not null) = $5 and ($6::text is null or state = $6) \
           and ($7::text is null or project = $7) \
           and ($2::timestamptz is null or (last_turn_at, session_id) < ($2, $3)) \
          order by last_turn_at desc, session_id desc limit $4"
    );
    let at = before.map(|place| place.last_turn_at);
    let id = before.map(|place| place.id.as_str());
    let state = which.state.map(SessionState::as_str);
    let project = which.project.as_ref().map(Project::as_str);
    let params: [Param<'_>; 7] =
        [&scope.user().uuid(), &at, &id, &limit, &which.trashed, &state, &project];
    all(&scope.query(SQL, &params).await?, session)
}

/// The sessions with these ids that are not in the trash, in no particular order.
pub async fn by_ids(scope: &Scope, ids: &[String]) -> Result<Vec<Session>> {
    const SQL: &str = concat!(
        "select ",
        session_columns!(),
        " from session where user_id = $1 and session_id = any($2) and trashed_at is null"
    );
    all(&scope.query(SQL, &[&scope.user().uuid(), &ids]).await?, session)
}

pub fn open(batch: &mut Batch, scope: &Scope, new: &Session) {
    const SQL: &str = "insert into session (user_id, tenant_id, session_id, title, opened_at, \
                       last_turn_at, turns, store, incognito, project) \
                       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    batch.push_one(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(scope.tenant().uuid()),
            Box::new(new.id.clone()),
            Box::new(new.title.clone()),
            Box::new(new.opened_at),
            Box::new(new.last_turn_at),
            Box::new(new.turns),
            Box::new(new.keep.as_str()),
            Box::new(new.incognito),
            Box::new(new.project.clone().map(String::from)),
        ],
    );
}

/// Updates a session's title, state and trash status.
pub fn put(batch: &mut Batch, scope: &Scope, session: &Session) {
    const SQL: &str = "update session set title = $3, state = $4, closed_at = $5, trashed_at = $6, \
                        named_from = $7 where user_id = $1 and session_id = $2";
    batch.push_one(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(session.id.clone()),
            Box::new(session.title.clone()),
            Box::new(session.state.as_str()),
            Box::new(session.closed_at),
            Box::new(session.trashed_at),
            Box::new(session.named_from),
        ],
    );
}

/// Sets the operation that moved a session to the trash; none if it was restored.
pub fn mark(batch: &mut Batch, scope: &Scope, id: &str, by: Option<OperationId>) {
    const SQL: &str = "update session set withdrawn_by = $3 where user_id = $1 and session_id = $2";
    let by = by.map(OperationId::uuid);
    batch.push(SQL, vec![Box::new(scope.user().uuid()), Box::new(id.to_owned()), Box::new(by)]);
}

/// The operation that moved a session to the trash, if it is in the trash.
pub async fn withdrawn_by(scope: &Scope, id: &str) -> Result<Option<OperationId>> {
    const SQL: &str = "select withdrawn_by from session where user_id = $1 and session_id = $2 \
                         and trashed_at is not null";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &id]).await?;
    let by: Option<Option<Uuid>> = one(&rows, |row| Columns::of(row, "session").take())?;
    Ok(by.flatten().map(OperationId::from_uuid))
}

/// Records that a session was learned from up to a turn. It fails if another transaction did so
/// before.
pub fn advance(batch: &mut Batch, scope: &Scope, of: &str, from: i32, through: i32) {
    const SQL: &str = "update session set extracted_through = $4 \
                        where user_id = $1 and session_id = $2 and extracted_through = $3";
    batch.push_one(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(of.to_owned()),
            Box::new(from),
            Box::new(through),
        ],
    );
}

/// Stores a summary of the turns up to one.
pub fn summarise(batch: &mut Batch, scope: &Scope, of: &str, summary: &str, through: i32) {
    const SQL: &str = "update session set summary = $3, summary_through = $4 \
                        where user_id = $1 and session_id = $2 and summary_through <= $4";
    batch.push(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(of.to_owned()),
            Box::new(summary.to_owned()),
            Box::new(through),
        ],
    );
}

/// Whether a session has, after the turn with this number, a turn of the user that was not imported.
pub async fn has_own_turn_after(scope: &Scope, of: &str, number: i32) -> Result<bool> {
    const SQL: &str = "select exists (select 1 from turn where user_id = $1 and session_id = $2 \
                         and number > $3 and role = 'user' and origin <> 'import' \
                         and withdrawn_by is null)";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &of, &number]).await?;
    Ok(one(&rows, |row| Columns::of(row, "turn").take())?.unwrap_or(false))
}

/// Replaces the running summary of a session by one up to a turn, or removes it.
pub fn replace_summary(
    batch: &mut Batch,
    scope: &Scope,
    of: &str,
    summary: Option<&(String, i32)>,
) {
    const SQL: &str = "update session set summary = $3, summary_through = $4 \
                        where user_id = $1 and session_id = $2";
    let (text, through) = summary.cloned().unzip();
    batch.push(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(of.to_owned()),
            Box::new(text),
            Box::new(through.unwrap_or(0)),
        ],
    );
}

/// Removes the turns of a session up to one, except those with these ids, and their passages. The
/// session's turn count is unchanged: the numbers stay assigned.
pub fn drop_turns(batch: &mut Batch, scope: &Scope, of: &str, through: i32, except: &[Uuid]) {
    const PASSAGES: &str = "delete from passage where user_id = $1 and source_id in \
                            (select turn_id from turn where user_id = $1 and session_id = $2 \
                              and number <= $3 and turn_id <> all($4))";
    const TURNS: &str = "delete from turn where user_id = $1 and session_id = $2 \
                         and number <= $3 and turn_id <> all($4)";
    packed::unpack_sessions(batch, scope, &[of.to_owned()]);
    for sql in [PASSAGES, TURNS] {
        batch.push(
            sql,
            vec![
                Box::new(scope.user().uuid()),
                Box::new(of.to_owned()),
                Box::new(through),
                Box::new(except.to_vec()),
            ],
        );
    }
}

/// Removes the passages of a session's turns and episodes; the turns and episodes stay.
pub fn drop_passages(batch: &mut Batch, scope: &Scope, of: &str) {
    const SQL: &str = "delete from passage where user_id = $1 and source_id in \
                       (select turn_id from turn where user_id = $1 and session_id = $2 \
                        union all select episode_id from episode \
                         where user_id = $1 and session_id = $2)";
    packed::remove_session(batch, scope, of);
    batch.push(SQL, vec![Box::new(scope.user().uuid()), Box::new(of.to_owned())]);
}

/// Removes a session with its turns, episodes, passes, baselines, response ids and uses of memories,
/// among them predictions. Its observations are removed apart, because tombstones remain of them.
pub fn remove(batch: &mut Batch, scope: &Scope, id: &str) {
    drop_passages(batch, scope, id);
    for sql in [
        "delete from turn where user_id = $1 and session_id = $2",
        "delete from episode where user_id = $1 and session_id = $2",
        "delete from pass where user_id = $1 and session_id = $2",
        "delete from baseline where user_id = $1 and session_id = $2",
        "delete from response where user_id = $1 and session_id = $2",
        "delete from usage where user_id = $1 and session_id = $2",
        "delete from session where user_id = $1 and session_id = $2",
    ] {
        batch.push(sql, vec![Box::new(scope.user().uuid()), Box::new(id.to_owned())]);
    }
}

/// Records which session a response of a chat service belongs to, by the service's response id.
pub fn note_response(
    batch: &mut Batch,
    scope: &Scope,
    response: &str,
    session: &str,
    now: Timestamp,
) {
    const SQL: &str = "insert into response \
                       (user_id, tenant_id, response_id, session_id, recorded_at) \
                       values ($1, $2, $3, $4, $5) on conflict do nothing";
    batch.push(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(scope.tenant().uuid()),
            Box::new(response.to_owned()),
            Box::new(session.to_owned()),
            Box::new(now),
        ],
    );
}

/// The session that a response of a chat service belongs to, unless the session was deleted.
pub async fn of_response(scope: &Scope, response: &str) -> Result<Option<String>> {
    const SQL: &str = "select r.session_id from response r join session s \
                         on s.user_id = r.user_id and s.session_id = r.session_id \
                        where r.user_id = $1 and r.response_id = $2 and s.trashed_at is null";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &response]).await?;
    one(&rows, |row| Columns::of(row, "response").take())
}

/// The sessions that have been in the trash since `before` or longer.
pub async fn trashed_before(scope: &Scope, before: Timestamp, limit: i64) -> Result<Vec<String>> {
    const SQL: &str = "select session_id from session where user_id = $1 and trashed_at <= $2 \
                        order by trashed_at limit $3";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &before, &limit]).await?;
    all(&rows, |row| Columns::of(row, "session").take())
}

/// Appends turns to an existing session, and updates its turn count and the time of its last turn.
pub fn append(batch: &mut Batch, scope: &Scope, to: &str, turns: &MaskedTurns) {
    // A new turn makes a session active again, whatever its state was.
    const COUNT: &str = "update session set turns = turns + $3, \
                         last_turn_at = greatest(last_turn_at, $4), \
                         state = 'active', closed_at = null \
                         where user_id = $1 and session_id = $2";
    let Some(last) = turns.iter().map(|turn| turn.said_at).max() else { return };
    insert_turns(batch, scope, to, turns);
    let count = i32::try_from(turns.len()).unwrap_or(i32::MAX);
    batch.push_one(
        COUNT,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(to.to_owned()),
            Box::new(count),
            Box::new(last),
        ],
    );
}

/// Inserts turns into a session whose turn count already includes them.
pub fn insert_turns(batch: &mut Batch, scope: &Scope, to: &str, turns: &MaskedTurns) {
    const SQL: &str = "insert into turn (user_id, tenant_id, session_id, turn_id, number, role, \
                       speaker, content, origin, said_at, recorded_at, spans) \
                       select $1, $2, $3, * from unnest($4::uuid[], $5::int[], $6::text[], \
                       $7::text[], $8::text[], $9::text[], $10::timestamptz[], \
                       $11::timestamptz[], $12::jsonb[])";
    fn each<T>(turns: &[Turn], of: impl Fn(&Turn) -> T) -> Vec<T> {
        turns.iter().map(of).collect()
    }
    batch.push(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(scope.tenant().uuid()),
            Box::new(to.to_owned()),
            Box::new(each(turns, |turn| turn.id.uuid())),
            Box::new(each(turns, |turn| turn.number)),
            Box::new(each(turns, |turn| turn.role.as_str())),
            Box::new(each(turns, |turn| turn.speaker.clone())),
            Box::new(each(turns, |turn| turn.content.clone())),
            Box::new(each(turns, |turn| turn.origin.as_str())),
            Box::new(each(turns, |turn| turn.said_at)),
            Box::new(each(turns, |turn| turn.recorded_at)),
            Box::new(each(turns, spans)),
        ],
    );
}

/// Restores a session with its state and how far it was learned from.
pub fn put_back(batch: &mut Batch, scope: &Scope, session: &Session) {
    const SQL: &str = concat!(
        "insert into session (user_id, tenant_id, ",
        session_columns!(),
        ") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, \
          $16, $17)"
    );
    batch.push_one(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(scope.tenant().uuid()),
            Box::new(session.id.clone()),
            Box::new(session.title.clone()),
            Box::new(session.opened_at),
            Box::new(session.last_turn_at),
            Box::new(session.turns),
            Box::new(session.state.as_str()),
            Box::new(session.closed_at),
            Box::new(session.trashed_at),
            Box::new(session.extracted_through),
            Box::new(session.summary.clone()),
            Box::new(session.summary_through),
            Box::new(session.keep.as_str()),
            Box::new(session.incognito),
            Box::new(session.named_from),
            Box::new(session.project.clone().map(String::from)),
        ],
    );
}

/// Those of these session ids that exist.
pub async fn existing_ids(scope: &Scope, ids: &[String]) -> Result<Vec<String>> {
    const SQL: &str = "select session_id from session where user_id = $1 and session_id = any($2)";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &ids]).await?;
    all(&rows, |row| Columns::of(row, "session").take())
}

fn spans(turn: &Turn) -> Option<serde_json::Value> {
    let is_reported = turn.marked || !turn.spans.is_empty();
    if is_reported { serde_json::to_value(&turn.spans).ok() } else { None }
}

/// Up to `limit` turns of a session after the one numbered `after`, in order.
pub async fn turns(scope: &Scope, of: &str, after: i32, limit: i64) -> Result<Vec<Turn>> {
    const SQL: &str = concat!(
        "select ",
        turn_columns!(),
        " from turn where user_id = $1 and session_id = $2 and number > $3 \
           and withdrawn_by is null order by number limit $4"
    );
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &of, &after, &limit];
    all(&scope.query(SQL, &params).await?, turn)
}

/// The turns with these ids whose sessions are not in the trash, in no particular order.
pub async fn turns_by_id(scope: &Scope, ids: &[Uuid]) -> Result<Vec<Turn>> {
    const SQL: &str = concat!(
        "select ",
        turn_columns!(),
        " from turn where user_id = $1 and turn_id = any($2) and withdrawn_by is null \
           and exists (select 1 from session s where s.user_id = $1 \
                          and s.session_id = turn.session_id and s.trashed_at is null)"
    );
    all(&scope.query(SQL, &[&scope.user().uuid(), &ids]).await?, turn)
}

/// The same with those of sessions in the trash.
pub async fn turns_and_trash_by_id(scope: &Scope, ids: &[Uuid]) -> Result<Vec<Turn>> {
    const SQL: &str = concat!(
        "select ",
        turn_columns!(),
        " from turn where user_id = $1 and turn_id = any($2) and withdrawn_by is null"
    );
    all(&scope.query(SQL, &[&scope.user().uuid(), &ids]).await?, turn)
}

/// The next turn of the user after each of these turns of a session, by number, unless it is one of
/// them, in order.
pub async fn following_turns(scope: &Scope, of: &str, numbers: &[i32]) -> Result<Vec<Turn>> {
    const SQL: &str = concat!(
        "select ",
        turn_columns!(),
        " from turn where user_id = $1 and session_id = $2 and number in \
           (select (select min(t.number) from turn t where t.user_id = $1 and t.session_id = $2 \
              and t.number > n and t.role = 'user' and t.withdrawn_by is null) \
             from unnest($3::int[]) n) \
           and number <> all($3) order by number"
    );
    all(&scope.query(SQL, &[&scope.user().uuid(), &of, &numbers]).await?, turn)
}

/// The next turn of the user after each of these turns, in no particular order.
pub async fn next_user_turns(scope: &Scope, ids: &[Uuid]) -> Result<Vec<Turn>> {
    const SQL: &str = concat!(
        "select ",
        turn_columns!(),
        " from turn where user_id = $1 and turn_id = any(array( \
           select (select n.turn_id from turn n where n.user_id = $1 \
              and n.session_id = t.session_id and n.number > t.number and n.role = 'user' \
              and n.withdrawn_by is null order by n.number limit 1) \
             from turn t where t.user_id = $1 and t.turn_id = any($2)))"
    );
    all(&scope.query(SQL, &[&scope.user().uuid(), &ids]).await?, turn)
}

/// The number of the last turn of the user before this one.
pub async fn last_user_turn(scope: &Scope, of: &str, before: i32) -> Result<Option<i32>> {
    const SQL: &str = "select max(number) from turn where user_id = $1 and session_id = $2 \
                         and number < $3 and role = 'user' and withdrawn_by is null";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &of, &before]).await?;
    let found: Option<Option<i32>> = one(&rows, |row| Columns::of(row, "turn").take())?;
    Ok(found.flatten())
}

/// The turns that the user takes back with the turn of this number: it, their turn before it, and those
/// between them.
pub async fn turns_taken_back(scope: &Scope, of: &str, number: i32) -> Result<Vec<Uuid>> {
    const SQL: &str = "select turn_id from turn where user_id = $1 and session_id = $2 \
                         and number <= $3 and number >= coalesce((select max(t.number) from turn t \
                           where t.user_id = $1 and t.session_id = $2 and t.number < $3 \
                             and t.role = 'user' and t.withdrawn_by is null), $3)";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &of, &number]).await?;
    all(&rows, |row| Columns::of(row, "turn").take())
}

/// One turn by its number.
pub async fn turn_numbered(scope: &Scope, of: &str, number: i32) -> Result<Option<Turn>> {
    const SQL: &str = concat!(
        "select ",
        turn_columns!(),
        " from turn where user_id = $1 and session_id = $2 and number = $3 \
           and withdrawn_by is null"
    );
    one(&scope.query(SQL, &[&scope.user().uuid(), &of, &number]).await?, turn)
}
