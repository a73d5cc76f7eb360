//! What its person may be asked about: what waits for a yes, what may not be true any more, and what
//! was learned lately.

use lukasa_core::{Timestamp, Version};

use crate::error::Result;
use crate::fact::{version, version_columns};
use crate::row::all;
use crate::scope::{Param, Scope};

/// What waits for a yes or is only a guess, the newest first.
pub async fn waiting(scope: &Scope, limit: i64) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and known_until is null \
           and state in ('proposed', 'candidate') order by state desc, known_from desc, \
           version_id limit $2"
    );
    all(&scope.query(SQL, &[&scope.user().uuid(), &limit]).await?, version)
}

/// What was stated, stands, and was last said before `before`, or was shown to be wrong by use since
/// it was last said; the longest unsaid first.
pub async fn doubtful(
    scope: &Scope,
    before: Timestamp,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<(Version, bool)>> {
    const SQL: &str = concat!(
        "select * from (select ",
        version_columns!(),
        ", exists (select 1 from usage u where u.user_id = $1 and u.fact_id = v.fact_id \
             and u.type in ('contradicted', 'overridden') \
             and u.at >= coalesce(v.last_confirmed_at, v.known_from)) as refuted \
           from fact_version v where user_id = $1 and known_until is null and state = 'active' \
             and (not extracted or consented_at is not null) and valid_from <= $3 \
             and (valid_until is null or valid_until > $3)) t \
         where refuted or coalesce(last_confirmed_at, known_from) < $2 \
         order by refuted desc, coalesce(last_confirmed_at, known_from), version_id limit $4"
    );
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &before, &now, &limit];
    all(&scope.query(SQL, &params).await?, |row| {
        let refuted = crate::row::Columns::of(row, "fact_version").named("refuted")?;
        Ok((version(row)?, refuted))
    })
}

/// What was inferred since `since`, stands, and nobody has agreed to yet; the newest first.
pub async fn learned_since(
    scope: &Scope,
    since: Timestamp,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and known_until is null and state = 'active' \
           and extracted and consented_at is null and known_from >= $2 and valid_from <= $3 \
           and (valid_until is null or valid_until > $3) \
         order by known_from desc, version_id limit $4"
    );
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &since, &now, &limit];
    all(&scope.query(SQL, &params).await?, version)
}
