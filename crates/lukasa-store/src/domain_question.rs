//! Questions whether to open a domain that the user mentioned. No content is stored: only the
//! domain, the answer, and the ids of the turns.

use lukasa_core::Timestamp;
use uuid::Uuid;

use crate::error::Result;
use crate::row::{Columns, all};
use crate::scope::{Batch, Scope};

/// Maximum number of turns recorded per question.
const MAX_TURNS: usize = 20;

/// A question that the user has not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedDomain {
    pub domain: String,
    pub asked_at: Timestamp,
}

/// Asks once per domain. A further mention only adds its turns to a question that is still open.
pub fn ask(batch: &mut Batch, scope: &Scope, domain: &str, turns: &[Uuid], now: Timestamp) {
    const SQL: &str = "insert into domain_question as q \
                         (user_id, tenant_id, domain, state, turns, asked_at) \
                       values ($1, $2, $3, 'asked', $4, $5) \
                       on conflict (user_id, domain) do update set turns = array( \
                         select t from unnest(q.turns || excluded.turns) with ordinality u (t, n) \
                          group by t order by min(n) limit 20) \
                       where q.state = 'asked'";
    let turns: Vec<Uuid> = turns.iter().copied().take(MAX_TURNS).collect();
    batch.push(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(scope.tenant().uuid()),
            Box::new(domain.to_owned()),
            Box::new(turns),
            Box::new(now),
        ],
    );
}

/// The unanswered questions, the latest first. One whose turns are all in the trash is not listed.
pub async fn unanswered(scope: &Scope, limit: i64) -> Result<Vec<AskedDomain>> {
    const SQL: &str = "select domain, asked_at from domain_question q \
                        where user_id = $1 and state = 'asked' and (turns = '{}' or exists ( \
                          select 1 from turn t join session s \
                            on s.user_id = t.user_id and s.session_id = t.session_id \
                           where t.user_id = $1 and t.turn_id = any(q.turns) \
                             and t.withdrawn_by is null and s.trashed_at is null)) \
                        order by asked_at desc, domain limit $2";
    all(&scope.query(SQL, &[&scope.user().uuid(), &limit]).await?, |row| {
        let mut c = Columns::of(row, "domain_question");
        Ok(AskedDomain { domain: c.take()?, asked_at: c.take()? })
    })
}

/// Whether the user has answered the question about a domain.
pub async fn is_answered(scope: &Scope, domain: &str) -> Result<bool> {
    const SQL: &str = "select 1 from domain_question \
                        where user_id = $1 and domain = $2 and state <> 'asked'";
    Ok(!scope.query(SQL, &[&scope.user().uuid(), &domain]).await?.is_empty())
}

/// The turns of an unanswered question.
pub async fn turns(scope: &Scope, domain: &str) -> Result<Vec<Uuid>> {
    const SQL: &str = "select unnest(turns) from domain_question \
                        where user_id = $1 and domain = $2 and state = 'asked'";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &domain]).await?;
    all(&rows, |row| Columns::of(row, "domain_question").take())
}

/// Records the user's answer, so that the domain is not asked about again.
pub fn answer(batch: &mut Batch, scope: &Scope, domain: &str, opened: bool, now: Timestamp) {
    const SQL: &str = "insert into domain_question \
                         (user_id, tenant_id, domain, state, asked_at) values ($1, $2, $3, $4, $5) \
                       on conflict (user_id, domain) do update \
                         set state = excluded.state, turns = '{}'";
    let state = if opened { "opened" } else { "declined" };
    batch.push(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(scope.tenant().uuid()),
            Box::new(domain.to_owned()),
            Box::new(state),
            Box::new(now),
        ],
    );
}

/// Removes turns from the questions, and the unanswered questions that had no other turns.
pub(crate) fn remove_turns(batch: &mut Batch, scope: &Scope, turns: &[Uuid]) {
    const EMPTY: &str = "delete from domain_question where user_id = $1 and state = 'asked' \
                           and turns <> '{}' and turns <@ $2";
    const OTHERS: &str = "update domain_question q set turns = array( \
                            select t from unnest(q.turns) with ordinality u (t, n) \
                             where t <> all($2) order by n) \
                          where user_id = $1 and turns && $2";
    for sql in [EMPTY, OTHERS] {
        batch.push(sql, vec![Box::new(scope.user().uuid()), Box::new(turns.to_vec())]);
    }
}
