//! What passes left out: why, and the place of the sentence in its turn. The words are read from the
//! turn.

use lukasa_core::learning::{LeftProposal, Reason, SentencePlace};
use lukasa_core::{FactId, PassId, TurnId};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::domain_question;
use crate::error::Result;
use crate::row::{Columns, all, one};
use crate::scope::{Batch, Param, Scope};

/// A left-out proposal to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewLeftOut {
    pub left: LeftProposal,
    pub place: SentencePlace,
}

/// A left-out proposal whose turn is still there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOutRow {
    pub pass: PassId,
    /// Its number in the pass, from 1.
    pub place: i32,
    pub reason: Reason,
    pub turn: TurnId,
    pub session: String,
    /// The sentence.
    pub words: String,
    /// The size of the whole turn.
    pub turn_bytes: i32,
    pub domain: Option<String>,
    /// The memory that the user made of it, while there is one.
    pub kept: Option<FactId>,
}

macro_rules! select_left_out {
    ($condition:literal) => {
        concat!(
            "select l.pass_id, l.place, l.reason, l.turn_id, t.session_id, \
                substr(t.content, l.from_char + 1, l.to_char - l.from_char), \
                octet_length(t.content), l.domain, \
                (select v.fact_id from fact_version v where v.user_id = $1 \
                   and v.fact_id = l.fact_id and v.known_until is null \
                   and v.state in ('active', 'proposed', 'candidate') limit 1) \
             from left_out l \
             join turn t on t.user_id = l.user_id and t.turn_id = l.turn_id \
             join session s on s.user_id = t.user_id and s.session_id = t.session_id \
             where l.user_id = $1 and t.withdrawn_by is null and s.trashed_at is null and ",
            $condition
        )
    };
}

fn left_out(row: &Row) -> Result<LeftOutRow> {
    let mut c = Columns::of(row, "left_out");
    Ok(LeftOutRow {
        pass: PassId::from_uuid(c.take()?),
        place: c.take()?,
        reason: c.word(Reason::parse)?,
        turn: TurnId::from_uuid(c.take()?),
        session: c.take()?,
        words: c.take()?,
        turn_bytes: c.take()?,
        domain: c.take()?,
        kept: c.take::<Option<Uuid>>()?.map(FactId::from_uuid),
    })
}

/// Records what a pass left out, numbered from 1.
pub fn insert(batch: &mut Batch, scope: &Scope, pass: PassId, new: &[NewLeftOut]) {
    const SQL: &str = "insert into left_out (user_id, tenant_id, pass_id, place, reason, turn_id, \
                       from_char, to_char, domain) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
    for (number, new) in (1i32..).zip(new) {
        batch.push_one(
            SQL,
            vec![
                Box::new(scope.user().uuid()),
                Box::new(scope.tenant().uuid()),
                Box::new(pass.uuid()),
                Box::new(number),
                Box::new(new.left.reason.as_str()),
                Box::new(new.place.turn.uuid()),
                Box::new(new.place.from),
                Box::new(new.place.to),
                Box::new(new.left.domain.clone()),
            ],
        );
    }
}

/// What these passes left out, in order.
pub async fn of_passes(scope: &Scope, passes: &[PassId]) -> Result<Vec<LeftOutRow>> {
    const SQL: &str = select_left_out!("l.pass_id = any($2) order by l.pass_id, l.place");
    let passes: Vec<Uuid> = passes.iter().map(|pass| pass.uuid()).collect();
    all(&scope.query(SQL, &[&scope.user().uuid(), &passes]).await?, left_out)
}

/// One left-out proposal.
pub async fn find(scope: &Scope, pass: PassId, place: i32) -> Result<Option<LeftOutRow>> {
    const SQL: &str = select_left_out!("l.pass_id = $2 and l.place = $3");
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &pass.uuid(), &place];
    one(&scope.query(SQL, &params).await?, left_out)
}

/// Records the memory that the user made of a left-out proposal.
pub fn mark_kept(batch: &mut Batch, scope: &Scope, pass: PassId, place: i32, fact: FactId) {
    const SQL: &str =
        "update left_out set fact_id = $4 where user_id = $1 and pass_id = $2 and place = $3";
    batch.push(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(pass.uuid()),
            Box::new(place),
            Box::new(fact.uuid()),
        ],
    );
}

/// The sessions of which something was left out because this domain was not open, the latest first.
pub async fn sessions_of_domain(scope: &Scope, domain: &str, limit: i64) -> Result<Vec<String>> {
    const SQL: &str = "select t.session_id from left_out l \
                         join turn t on t.user_id = l.user_id and t.turn_id = l.turn_id \
                         join session s on s.user_id = t.user_id and s.session_id = t.session_id \
                        where l.user_id = $1 and l.domain = $2 and t.withdrawn_by is null \
                          and s.trashed_at is null \
                        group by t.session_id order by max(t.said_at) desc, t.session_id limit $3";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &domain, &limit]).await?;
    all(&rows, |row| Columns::of(row, "turn").take())
}

/// The turns of a session of which something was left out because this domain was not open, the
/// earliest first.
pub async fn turns_of_domain(
    scope: &Scope,
    domain: &str,
    session: &str,
    limit: i64,
) -> Result<Vec<Uuid>> {
    const SQL: &str = "select t.turn_id from turn t \
                        where t.user_id = $1 and t.session_id = $3 and t.withdrawn_by is null \
                          and exists (select 1 from left_out l where l.user_id = $1 \
                            and l.turn_id = t.turn_id and l.domain = $2) \
                        order by t.number limit $4";
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &domain, &session, &limit];
    all(&scope.query(SQL, &params).await?, |row| Columns::of(row, "turn").take())
}

/// Removes what was left out of these turns because this domain was not open: it was learned since.
pub fn remove_learned(batch: &mut Batch, scope: &Scope, domain: &str, turns: &[Uuid]) {
    const SQL: &str =
        "delete from left_out where user_id = $1 and domain = $2 and turn_id = any($3)";
    batch.push(
        SQL,
        vec![Box::new(scope.user().uuid()), Box::new(domain.to_owned()), Box::new(turns.to_vec())],
    );
}

/// Removes what was left out of these turns, and the questions about domains that only they mention.
pub fn remove_of_turns(batch: &mut Batch, scope: &Scope, turns: &[Uuid]) {
    const SQL: &str = "delete from left_out where user_id = $1 and turn_id = any($2)";
    batch.push(SQL, vec![Box::new(scope.user().uuid()), Box::new(turns.to_vec())]);
    domain_question::remove_turns(batch, scope, turns);
}
