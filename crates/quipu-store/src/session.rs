//! Sessions and their turns.

use quipu_core::{Origin, Role, Session, Timestamp, Turn, TurnId};
use serde::{Deserialize, Serialize};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::Result;
use crate::row::{Columns, all, one};
use crate::scope::{Batch, Param, Scope};

macro_rules! session_columns {
    () => {
        "session_id, title, opened_at, last_turn_at, turns"
    };
}

macro_rules! turn_columns {
    () => {
        "turn_id, session_id, number, role, speaker, content, origin, said_at, recorded_at"
    };
}

fn session(row: &Row) -> Result<Session> {
    let mut c = Columns::of(row, "session");
    Ok(Session {
        id: c.take()?,
        title: c.take()?,
        opened_at: c.take()?,
        last_turn_at: c.take()?,
        turns: c.take()?,
    })
}

fn turn(row: &Row) -> Result<Turn> {
    let mut c = Columns::of(row, "turn");
    Ok(Turn {
        id: TurnId::from_uuid(c.take()?),
        session: c.take()?,
        number: c.take()?,
        role: c.word(Role::parse)?,
        speaker: c.take()?,
        content: c.take()?,
        origin: c.word(Origin::parse)?,
        said_at: c.take()?,
        recorded_at: c.take()?,
    })
}

/// Where a list of sessions ended.
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

/// Up to `limit` sessions, the one last spoken in first.
pub async fn page(
    scope: &Scope,
    before: Option<&SessionPlace>,
    limit: i64,
) -> Result<Vec<Session>> {
    const SQL: &str = concat!(
        "select ",
        session_columns!(),
        " from session where user_id = $1 \
           and ($2::timestamptz is null or (last_turn_at, session_id) < ($2, $3)) \
          order by last_turn_at desc, session_id desc limit $4"
    );
    let at = before.map(|place| place.last_turn_at);
    let id = before.map(|place| place.id.as_str());
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &at, &id, &limit];
    all(&scope.query(SQL, &params).await?, session)
}

pub fn open(batch: &mut Batch, scope: &Scope, new: &Session) {
    const SQL: &str = "insert into session (user_id, tenant_id, session_id, title, opened_at, \
                       last_turn_at, turns) values ($1, $2, $3, $4, $5, $6, $7)";
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
        ],
    );
}

/// Appends turns to a session that is there, and moves its count and its last moment on.
pub fn append(batch: &mut Batch, scope: &Scope, to: &str, turns: &[Turn]) {
    const SQL: &str = "insert into turn (user_id, tenant_id, session_id, turn_id, number, role, \
                       speaker, content, origin, said_at, recorded_at) \
                       select $1, $2, $3, * from unnest($4::uuid[], $5::int[], $6::text[], \
                       $7::text[], $8::text[], $9::text[], $10::timestamptz[], \
                       $11::timestamptz[])";
    const COUNT: &str = "update session set turns = turns + $3, \
                         last_turn_at = greatest(last_turn_at, $4) \
                         where user_id = $1 and session_id = $2";
    fn each<T>(turns: &[Turn], of: impl Fn(&Turn) -> T) -> Vec<T> {
        turns.iter().map(of).collect()
    }
    let Some(last) = turns.iter().map(|turn| turn.said_at).max() else { return };
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
        ],
    );
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

/// Up to `limit` turns of a session after the one numbered `after`, in order.
pub async fn turns(scope: &Scope, of: &str, after: i32, limit: i64) -> Result<Vec<Turn>> {
    const SQL: &str = concat!(
        "select ",
        turn_columns!(),
        " from turn where user_id = $1 and session_id = $2 and number > $3 \
          order by number limit $4"
    );
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &of, &after, &limit];
    all(&scope.query(SQL, &params).await?, turn)
}

/// The turns with these ids, in whatever order.
pub async fn turns_by_id(scope: &Scope, ids: &[Uuid]) -> Result<Vec<Turn>> {
    const SQL: &str =
        concat!("select ", turn_columns!(), " from turn where user_id = $1 and turn_id = any($2)");
    all(&scope.query(SQL, &[&scope.user().uuid(), &ids]).await?, turn)
}
