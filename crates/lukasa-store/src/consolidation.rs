//! Queries of consolidation: extracted facts that the user has not confirmed yet, with counts of
//! what supports and contradicts each.

use lukasa_core::consolidation::LearnedFact;
use lukasa_core::{Claim, Timestamp, fingerprint};
use tokio_postgres::Row;

use crate::error::{Error, Result};
use crate::fact::{version, version_columns};
use crate::row::{Columns, all};
use crate::scope::{Param, Scope};

fn learned_fact(row: &Row) -> Result<LearnedFact> {
    let version = version(row)?;
    let c = Columns::of(row, "fact_version");
    let count = |name| Ok::<_, Error>(usize::try_from(c.named::<i64>(name)?).unwrap_or(0));
    Ok(LearnedFact {
        turns: version.turns.len(),
        version,
        sessions: count("sessions")?,
        contradicted: c.named("contradicted")?,
        contradicts: c.named("contradicts")?,
        confirmed: count("confirmed")?,
        refuted: count("refuted")?,
        ended: c.named("ended")?,
    })
}

/// Up to `limit` extracted facts with these counts, oldest version first. Candidates of imports come
/// last: they may wait for years, and must not take the place of facts that a step may be due for.
pub async fn learned(scope: &Scope, relation: &str, limit: i64) -> Result<Vec<LearnedFact>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        ", (select count(distinct h.session) from fact_version h \
             where h.user_id = $1 and h.fact_id = v.fact_id) as sessions, \
          exists (select 1 from link l join fact_version o \
             on o.user_id = l.user_id and o.fact_id = l.from_fact and o.known_until is null \
             and o.state in ('proposed', 'candidate', 'active') \
             where l.user_id = $1 and l.to_fact = v.fact_id and l.relation = $2 \
             and l.known_until is null) as contradicted, \
          exists (select 1 from link l join fact_version o \
             on o.user_id = l.user_id and o.fact_id = l.to_fact and o.known_until is null \
             and o.state = 'active' \
             where l.user_id = $1 and l.from_fact = v.fact_id and l.relation = $2 \
             and l.known_until is null) as contradicts, \
          (select count(*) filter (where u.by_user) \
               + least(count(*) filter (where not u.by_user), 1) \
             from usage u where u.user_id = $1 and u.fact_id = v.fact_id \
             and u.type = 'confirmed' and u.at >= v.known_from) as confirmed, \
          (select count(*) filter (where u.by_user) \
               + least(count(*) filter (where not u.by_user), 1) \
             from usage u where u.user_id = $1 and u.fact_id = v.fact_id \
             and u.type in ('contradicted', 'overridden', 'rated_down') \
             and u.at >= v.known_from) as refuted, \
          (select max(o.valid_until) from fact_version o \
             where o.user_id = $1 and o.fact_id = v.fact_id and o.known_until is null \
             having bool_and(o.valid_until is not null and o.extracted \
               and o.consented_at is null)) as ended \
         from fact_version v where user_id = $1 and known_until is null and extracted \
           and consented_at is null and state in ('active', 'candidate') \
         order by (state = 'candidate' and origin = 'import'), known_from, version_id limit $3"
    );
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &relation, &limit];
    all(&scope.query(SQL, &params).await?, learned_fact)
}

/// The latest sessions of no project since a time, newest first, and the texts remembered of each: its episodes
/// and the facts extracted from it that are still current.
pub async fn recent_sessions(
    scope: &Scope,
    since: Timestamp,
    limit: i64,
) -> Result<Vec<(String, Vec<String>)>> {
    const SQL: &str = "select s.session_id, \
          array(select concat_ws('. ', e.title, e.summary) from episode e \
             where e.user_id = $1 and e.session_id = s.session_id and e.withdrawn_by is null \
             order by e.episode_id) || \
          array(select f.content from fact_version f \
             where f.user_id = $1 and f.session = s.session_id and f.extracted \
             and f.fact_id in (select k.fact_id from fact_version k where k.user_id = $1 \
               and k.known_until is null and k.state in ('active', 'candidate')) \
             order by f.version_id) \
         from session s where s.user_id = $1 and s.trashed_at is null and not s.incognito \
           and s.project is null and s.last_turn_at >= $2 \
         order by s.last_turn_at desc, s.session_id desc limit $3";
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &since, &limit];
    all(&scope.query(SQL, &params).await?, |row| {
        let mut c = Columns::of(row, "session");
        Ok((c.take()?, c.take()?))
    })
}

/// Whether a current version with this fingerprint exists, including rejected and trashed ones.
/// Expired ones do not count, so they may be recorded again.
pub async fn is_known(scope: &Scope, claim: &Claim, now: Timestamp) -> Result<bool> {
    const SQL: &str = "select true from fact_version where user_id = $1 and fingerprint = $2 \
                         and known_until is null \
                         and (state <> 'active' or valid_until is null or valid_until > $3) limit 1";
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &fingerprint(claim), &now];
    Ok(!scope.query(SQL, &params).await?.is_empty())
}
