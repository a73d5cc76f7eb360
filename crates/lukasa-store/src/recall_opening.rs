//! The state of a user and of a session that recall reads first, in one statement.

use lukasa_core::model::EmbeddingModel;
use lukasa_core::{Project, TenantId, Timestamp};
use tokio_postgres::Row;

use crate::error::Result;
use crate::passage::RecallState;
use crate::row::{Columns, one};
use crate::scope::{Param, Scope};

/// The state of a user and of a session, as of one snapshot.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecallOpening {
    /// The user is treated as deleted from this time on, if there is one.
    pub expires_at: Option<Timestamp>,
    pub deleted_at: Option<Timestamp>,
    pub state: RecallState,
    /// The embedding model in use.
    pub model: Option<EmbeddingModel>,
    /// Whether memory is paused, by the user's own policy or else the tenant's.
    pub is_paused: bool,
    /// The domains that require an opt-in the user has not given. Nothing in them is used.
    pub closed_domains: Vec<String>,
    /// The names and the displayed names of the tenant's own domains.
    pub own_domains: Vec<(String, String)>,
    /// The project of the session in scope; `None` if it has none or does not exist.
    pub project: Option<Project>,
    /// Whether the session asked in is incognito.
    pub is_incognito: bool,
    /// Whether the user has any session, and so possibly turns.
    pub has_sessions: bool,
    /// Names the stored portraits and when each was compiled; `None` without any.
    pub portraits: Option<String>,
}

impl RecallOpening {
    /// Whether the user was deleted or has expired.
    pub fn is_gone(&self, now: Timestamp) -> bool {
        self.deleted_at.is_some() || self.expires_at.is_some_and(|end| end <= now)
    }
}

/// The sessions of a question.
#[derive(Debug, Clone, Copy, Default)]
pub struct AskedSessions<'s> {
    /// The session whose project the question is about.
    pub in_scope: Option<&'s str>,
    /// The session it is asked in.
    pub asked_in: Option<&'s str>,
}

pub async fn read(scope: &Scope, sessions: AskedSessions<'_>) -> Result<RecallOpening> {
    const SQL: &str = "select u.expires_at, u.deleted_at, coalesce(s.epoch, 0), \
          coalesce(s.revision, 0), coalesce(s.facts, 0), coalesce(s.removed, 0), \
          m.name, m.dimension, \
          coalesce((select (body->>'paused')::boolean from user_policy \
                     where user_id = $1 order by version desc limit 1), \
                   (select (body->>'paused')::boolean from tenant_policy \
                     where tenant_id = $2 order by version desc limit 1), false), \
          coalesce(d.closed, '{}'), coalesce(d.own, '{}'), coalesce(d.displayed, '{}'), \
          (select project from session where user_id = $1 and session_id = $4), \
          coalesce((select incognito from session where user_id = $1 and session_id = $5), false), \
          exists (select 1 from session where user_id = $1), \
          (select string_agg(name || ' ' || compiled_at, ',' order by name) from portrait \
            where user_id = $1) \
        from (select 1) as asked (one) \
        left join users u on u.user_id = $1 \
        left join recall_state s on s.user_id = $1 \
        left join embedding_model m on m.in_use \
        cross join (select \
            array_agg(name order by name) filter (where requires_opt_in and not exists ( \
              select 1 from user_domain o where o.user_id = $1 and o.domain = name)) as closed, \
            array_agg(name order by name) filter (where tenant_id = $2) as own, \
            array_agg(display_name order by name) filter (where tenant_id = $2) as displayed \
          from (select distinct on (name) name, tenant_id, display_name, requires_opt_in \
                  from domain where tenant_id in ($2, $3) order by name, tenant_id = $3) known) d";
    let params: [Param<'_>; 5] = [
        &scope.user().uuid(),
        &scope.tenant().uuid(),
        &TenantId::SHARED.uuid(),
        &sessions.in_scope,
        &sessions.asked_in,
    ];
    Ok(one(&scope.query(SQL, &params).await?, opening)?.unwrap_or_default())
}

fn opening(row: &Row) -> Result<RecallOpening> {
    let mut c = Columns::of(row, "recall_state");
    let (expires_at, deleted_at) = (c.take()?, c.take()?);
    let state =
        RecallState { epoch: c.take()?, revision: c.take()?, facts: c.take()?, removed: c.take()? };
    let (name, dimension): (Option<String>, Option<i32>) = (c.take()?, c.take()?);
    let dimension = dimension.and_then(|size| usize::try_from(size).ok()).unwrap_or(0);
    let model = name.map(|name| EmbeddingModel { name, dimension });
    let (is_paused, closed_domains) = (c.take()?, c.take()?);
    let (own, displayed): (Vec<String>, Vec<String>) = (c.take()?, c.take()?);
    Ok(RecallOpening {
        expires_at,
        deleted_at,
        state,
        model,
        is_paused,
        closed_domains,
        own_domains: own.into_iter().zip(displayed).collect(),
        project: c.project()?,
        is_incognito: c.take()?,
        has_sessions: c.take()?,
        portraits: c.take()?,
    })
}
