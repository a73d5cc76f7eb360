//! What consolidation reads: every fact that was learned and is not its person's own word yet, with
//! what speaks for it and against it, counted.

use quipu_core::consolidate::Standing;
use tokio_postgres::Row;

use crate::error::{Error, Result};
use crate::fact::{version, version_columns};
use crate::row::{Columns, all};
use crate::scope::{Param, Scope};

fn standing(row: &Row) -> Result<Standing> {
    let version = version(row)?;
    let c = Columns::of(row, "fact_version");
    let count = |name| Ok::<_, Error>(usize::try_from(c.named::<i64>(name)?).unwrap_or(0));
    Ok(Standing {
        turns: version.turns.len(),
        version,
        sessions: count("sessions")?,
        contradicted: c.named("contradicted")?,
        confirmed: count("confirmed")?,
        refuted: count("refuted")?,
    })
}

/// Up to `limit` facts that were learned, the oldest standing first.
pub async fn learned(scope: &Scope, relation: &str, limit: i64) -> Result<Vec<Standing>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        ", (select count(distinct h.session) from fact_version h \
             where h.user_id = $1 and h.fact_id = v.fact_id) as sessions, \
          exists (select 1 from link l join fact_version o \
             on o.user_id = l.user_id and o.fact_id = l.from_fact and o.known_until is null \
             and o.state in ('proposed', 'candidate') \
             where l.user_id = $1 and l.to_fact = v.fact_id and l.relation = $2 \
             and l.known_until is null) as contradicted, \
          (select count(*) from usage u where u.user_id = $1 and u.fact_id = v.fact_id \
             and u.type = 'confirmed' and u.at >= v.known_from) as confirmed, \
          (select count(*) from usage u where u.user_id = $1 and u.fact_id = v.fact_id \
             and u.type in ('contradicted', 'overridden') and u.at >= v.known_from) as refuted \
         from fact_version v where user_id = $1 and known_until is null and extracted \
           and consented_at is null and state in ('active', 'candidate') \
         order by known_from, version_id limit $3"
    );
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &relation, &limit];
    all(&scope.query(SQL, &params).await?, standing)
}
