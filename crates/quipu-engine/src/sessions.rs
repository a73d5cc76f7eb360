//! Sessions: what was said, appended turn by turn and searchable at once.

use futures_util::try_join;
use quipu_core::limits::{NAME_CHARS, TURNS_AT_ONCE};
use quipu_core::recall::passage::of_turn;
use quipu_core::time::micros;
use quipu_core::{Caller, FactId, Ids, NewTurn, Session, Timestamp, Turn, TurnId};
use quipu_store::passage::{self, Change};
use quipu_store::session::SessionPlace;
use quipu_store::{Batch, Scope, directory, idempotency, session};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::{Engine, Request};

pub use quipu_store::session::SessionPlace as SessionCursor;

/// What an append answers: where the turns stand. It quotes none of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Appended {
    pub session: Session,
    /// The ids of the turns, in the order they were sent.
    pub turns: Vec<TurnId>,
    /// The number of the first of them.
    pub first: i32,
}

impl Engine {
    /// Opens a session under a name of the caller's choosing, or under one drawn for it. Opening one
    /// that is there gives the one that is there.
    pub async fn open_session(
        &self,
        request: &Request,
        id: Option<&str>,
        title: Option<&str>,
    ) -> Result<Session> {
        let drawn = format!("ses_{}", hex(request.moment.seed));
        let id = id.unwrap_or(&drawn);
        check_session_name(id)?;
        if title.is_some_and(|t| t.chars().count() > NAME_CHARS || t.contains('\0')) {
            return Err(Error::invalid("title", "at most 255 characters"));
        }
        let scope = self.writing(request).await?;
        let (there, kept) =
            try_join!(async { Ok(session::find(&scope, id).await?) }, answered(&scope, request))?;
        if let Some(there) = kept.or(there) {
            return Ok(there);
        }
        let mut batch = Batch::default();
        let new = opened(id, title, micros(request.moment.now));
        session::open(&mut batch, &scope, &new);
        keep_answer(&mut batch, &scope, request, &new, &[]);
        scope.run(&batch).await?;
        scope.commit().await?;
        Ok(new)
    }

    /// Appends turns to a session, which is opened if it is not there. They are found by recall as
    /// soon as this answers.
    pub async fn append_turns(
        &self,
        request: &Request,
        to: &str,
        new: Vec<NewTurn>,
    ) -> Result<Appended> {
        check_session_name(to)?;
        Error::faults(new.iter().flat_map(NewTurn::faults).collect())?;
        if new.is_empty() || new.len() > TURNS_AT_ONCE {
            return Err(Error::invalid("turns", "between 1 and 100 turns"));
        }
        let scope = self.writing(request).await?;
        let (there, kept) =
            try_join!(async { Ok(session::find(&scope, to).await?) }, answered(&scope, request))?;
        if let Some(kept) = kept {
            return Ok(kept);
        }
        let now = micros(request.moment.now);
        let mut batch = Batch::default();
        let mut session = match there {
            Some(session) => session,
            None => {
                let new = opened(to, None, now);
                session::open(&mut batch, &scope, &new);
                new
            }
        };
        let turns = numbered(request, &session, new);
        let passages: Vec<_> = turns.iter().flat_map(of_turn).collect();
        session::append(&mut batch, &scope, to, &turns);
        passage::bump(&mut batch, &scope, Change::Added);
        passage::insert(&mut batch, &scope, &passages);
        let first = session.turns + 1;
        session.turns += i32::try_from(turns.len()).unwrap_or(0);
        let said = turns.iter().map(|turn| turn.said_at);
        session.last_turn_at = said.fold(session.last_turn_at, Timestamp::max);
        let turns = turns.iter().map(|turn| turn.id).collect();
        let answer = Appended { session, turns, first };
        keep_answer(&mut batch, &scope, request, &answer, &[]);
        scope.run(&batch).await?;
        scope.commit().await?;
        let caller = &request.caller;
        self.embed(caller.tenant, caller.user, passages, request.moment.now).await;
        Ok(answer)
    }

    pub async fn session(&self, caller: &Caller, id: &str, now: Timestamp) -> Result<Session> {
        let scope = self.reading(caller, now).await?;
        session::find(&scope, id).await?.ok_or(Error::SessionNotFound)
    }

    /// Sessions, the one last spoken in first.
    pub async fn sessions(
        &self,
        caller: &Caller,
        before: Option<SessionPlace>,
        limit: usize,
        now: Timestamp,
    ) -> Result<(Vec<Session>, Option<SessionPlace>)> {
        let scope = self.reading(caller, now).await?;
        let wanted = i64::try_from(limit + 1).unwrap_or(i64::MAX);
        let mut found = session::page(&scope, before.as_ref(), wanted).await?;
        let more = found.len() > limit;
        found.truncate(limit);
        let place = |s: &Session| SessionPlace { last_turn_at: s.last_turn_at, id: s.id.clone() };
        let next = found.last().filter(|_| more).map(place);
        Ok((found, next))
    }

    /// The turns of a session after the one numbered `after`, in the order they were said.
    pub async fn turns(
        &self,
        caller: &Caller,
        of: &str,
        after: i32,
        limit: usize,
        now: Timestamp,
    ) -> Result<(Vec<Turn>, Option<i32>)> {
        let scope = self.reading(caller, now).await?;
        let wanted = i64::try_from(limit + 1).unwrap_or(i64::MAX);
        let (there, mut turns) =
            try_join!(session::find(&scope, of), session::turns(&scope, of, after, wanted))?;
        there.ok_or(Error::SessionNotFound)?;
        let more = turns.len() > limit;
        turns.truncate(limit);
        let next = turns.last().filter(|_| more).map(|turn| turn.number);
        Ok((turns, next))
    }

    /// The user's rows, to read; refused if the user has been deleted.
    pub(crate) async fn reading(&self, caller: &Caller, now: Timestamp) -> Result<Scope> {
        let scope = self.store.read(caller.tenant, caller.user).await?;
        if directory::me(&scope).await?.is_some_and(|user| user.is_gone(now)) {
            return Err(Error::UserGone);
        }
        Ok(scope)
    }

    /// The user's rows, to write; the user is made known if this is the first write about them.
    pub(crate) async fn writing(&self, request: &Request) -> Result<Scope> {
        let caller = &request.caller;
        let scope = self.store.write(caller.tenant, caller.user).await?;
        match directory::me(&scope).await? {
            Some(user) if user.is_gone(request.moment.now) => return Err(Error::UserGone),
            Some(_) => {}
            None => {
                directory::ensure_me(&scope, &caller.user_name, request.moment.now).await?;
            }
        }
        Ok(scope)
    }
}

/// What the same request was answered before, if it carries a key and was.
pub(crate) async fn answered<T: DeserializeOwned>(
    scope: &Scope,
    request: &Request,
) -> Result<Option<T>> {
    let Some(key) = &request.idempotency else { return Ok(None) };
    let Some(kept) = idempotency::find(scope, &key.key).await? else { return Ok(None) };
    if kept.request_hash != key.request_hash {
        return Err(Error::IdempotencyMismatch);
    }
    let answer = kept.outcome.and_then(|kept| serde_json::from_value(kept).ok());
    answer.map(Some).ok_or(Error::AnswerErased)
}

/// Keeps an answer under the request's key, if it has one. It is emptied when one of the facts it
/// quotes is erased.
pub(crate) fn keep_answer(
    batch: &mut Batch,
    scope: &Scope,
    request: &Request,
    answer: &impl Serialize,
    quoted: &[FactId],
) {
    if let Some(key) = &request.idempotency {
        let (body, now) = (serde_json::to_value(answer).unwrap_or_default(), request.moment.now);
        let hash = &key.request_hash;
        idempotency::keep(batch, scope, &key.key, hash, body, quoted, micros(now));
    }
}

fn opened(id: &str, title: Option<&str>, now: Timestamp) -> Session {
    Session {
        id: id.to_owned(),
        title: title.map(str::to_owned),
        opened_at: now,
        last_turn_at: now,
        turns: 0,
    }
}

fn numbered(request: &Request, session: &Session, new: Vec<NewTurn>) -> Vec<Turn> {
    let now = micros(request.moment.now);
    let mut ids = Ids::new(now, request.moment.seed);
    let turn = |(number, new): (i32, NewTurn)| Turn {
        id: ids.turn(),
        session: session.id.clone(),
        number,
        role: new.role,
        speaker: new.speaker,
        content: new.content,
        origin: new.role.origin(request.caller.voice.origin),
        said_at: micros(new.said_at.unwrap_or(now)),
        recorded_at: now,
    };
    (session.turns + 1..).zip(new).map(turn).collect()
}

pub(crate) fn check_session_name(id: &str) -> Result<()> {
    if id.trim().is_empty() || id.chars().count() > NAME_CHARS || id.contains('\0') {
        return Err(Error::invalid("session_id", "between 1 and 255 characters"));
    }
    Ok(())
}

fn hex(bytes: [u8; 16]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
