//! Queries for the review by the user: proposals, contradictions, facts that may be outdated, and recently
//! extracted facts.

use lukasa_core::{Link, Timestamp, Version};

use crate::error::Result;
use crate::fact::{version, version_columns};
use crate::link::{link, link_columns};
use crate::row::{Columns, all, one};
use crate::scope::{Param, Scope};

/// The open contradictions at `$2`: links from a fact that is active or waits for a decision to one that
/// is active.
macro_rules! from_contradictions {
    () => {
        " from link l where l.user_id = $1 and l.relation = 'contradicts' and l.known_until is null \
           and exists (select 1 from fact_version v where v.user_id = $1 \
             and v.fact_id = l.from_fact and v.known_until is null \
             and v.state in ('active', 'proposed', 'candidate') and v.valid_from <= $2 \
             and (v.valid_until is null or v.valid_until > $2)) \
           and exists (select 1 from fact_version v where v.user_id = $1 \
             and v.fact_id = l.to_fact and v.known_until is null and v.state = 'active' \
             and v.valid_from <= $2 and (v.valid_until is null or v.valid_until > $2))"
    };
}

/// The links of open contradictions, from the fact that contradicts the other; newest first.
pub async fn contradictions(scope: &Scope, now: Timestamp, limit: i64) -> Result<Vec<Link>> {
    const SQL: &str = concat!(
        "select ",
        link_columns!(),
        from_contradictions!(),
        " order by l.known_from desc, l.link_id limit $3"
    );
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &now, &limit];
    all(&scope.query(SQL, &params).await?, link)
}

/// How many links [`contradictions`] has without a limit.
pub async fn count_contradictions(scope: &Scope, now: Timestamp) -> Result<i64> {
    const SQL: &str = concat!("select count(*)", from_contradictions!());
    let rows = scope.query(SQL, &[&scope.user().uuid(), &now]).await?;
    let count = one(&rows, |row| Columns::of(row, "link").take())?;
    Ok(count.unwrap_or_default())
}

/// The proposals and candidates of the user, except the waiting sides of contradictions that are open
/// at `$2`.
macro_rules! from_waiting {
    () => {
        concat!(
            " from fact_version w where w.user_id = $1 and w.known_until is null \
               and w.state in ('proposed', 'candidate') and not exists (select 1",
            from_contradictions!(),
            " and l.from_fact = w.fact_id)"
        )
    };
}

/// Proposals and candidates that are in no open contradiction, newest first.
pub async fn waiting(scope: &Scope, now: Timestamp, limit: i64) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        from_waiting!(),
        " order by state desc, known_from desc, version_id limit $3"
    );
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &now, &limit];
    all(&scope.query(SQL, &params).await?, version)
}

/// How many proposals and how many candidates [`waiting`] has without a limit.
pub async fn count_waiting(scope: &Scope, now: Timestamp) -> Result<(i64, i64)> {
    const SQL: &str = concat!(
        "select count(*) filter (where state = 'proposed'), \
                count(*) filter (where state = 'candidate')",
        from_waiting!()
    );
    let rows = scope.query(SQL, &[&scope.user().uuid(), &now]).await?;
    let counts = one(&rows, |row| {
        let mut columns = Columns::of(row, "fact_version");
        Ok((columns.take()?, columns.take()?))
    })?;
    Ok(counts.unwrap_or_default())
}

/// Stated active facts at `$3` that were last confirmed before `$2`, or that use has contradicted since.
macro_rules! from_outdated {
    ($($columns:tt)+) => {
        concat!(
            " from (select ",
            $($columns)+,
            ", exists (select 1 from usage u where u.user_id = $1 and u.fact_id = v.fact_id \
                 and u.type in ('contradicted', 'overridden') \
                 and u.at >= coalesce(v.last_confirmed_at, v.known_from)) as refuted \
               from fact_version v where user_id = $1 and known_until is null \
                 and state = 'active' and (not extracted or consented_at is not null) \
                 and valid_from <= $3 and (valid_until is null or valid_until > $3)) t \
             where refuted or coalesce(last_confirmed_at, known_from) < $2"
        )
    };
}

/// Stated active facts that were last confirmed before `before`, or that use has contradicted
/// since; contradicted ones first, then the longest unconfirmed. The flag says whether use
/// contradicted it.
pub async fn outdated(
    scope: &Scope,
    before: Timestamp,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<(Version, bool)>> {
    const SQL: &str = concat!(
        "select *",
        from_outdated!(version_columns!()),
        " order by refuted desc, coalesce(last_confirmed_at, known_from), version_id limit $4"
    );
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &before, &now, &limit];
    all(&scope.query(SQL, &params).await?, |row| {
        let refuted = Columns::of(row, "fact_version").named("refuted")?;
        Ok((version(row)?, refuted))
    })
}

/// How many facts [`outdated`] has without a limit.
pub async fn count_outdated(scope: &Scope, before: Timestamp, now: Timestamp) -> Result<i64> {
    const SQL: &str =
        concat!("select count(*)", from_outdated!("last_confirmed_at, known_from, fact_id"));
    count(scope, SQL, before, now).await
}

/// Active facts at `$3` that were extracted since `$2`, and that the user has not confirmed.
macro_rules! from_learned {
    () => {
        " from fact_version where user_id = $1 and known_until is null and state = 'active' \
           and extracted and consented_at is null and known_from >= $2 and valid_from <= $3 \
           and (valid_until is null or valid_until > $3)"
    };
}

/// Active facts extracted since `since` that the user has not confirmed; newest first.
pub async fn learned_since(
    scope: &Scope,
    since: Timestamp,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        from_learned!(),
        " order by known_from desc, version_id limit $4"
    );
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &since, &now, &limit];
    all(&scope.query(SQL, &params).await?, version)
}

/// How many facts [`learned_since`] has without a limit.
pub async fn count_learned(scope: &Scope, since: Timestamp, now: Timestamp) -> Result<i64> {
    const SQL: &str = concat!("select count(*)", from_learned!());
    count(scope, SQL, since, now).await
}

/// When a human last answered a question of the review, or forgot a memory, which is the answer no to
/// what was learned. `None` if that is not among the latest operations: then it was long ago.
pub async fn last_answer(scope: &Scope) -> Result<Option<Timestamp>> {
    const SQL: &str = "select recorded_at from (select recorded_at, caller, verb from operation \
                         where user_id = $1 order by recorded_at desc limit 20000) latest \
                       where caller = 'human' and verb in ('confirm', 'reject', 'resolve', 'forget') \
                       order by recorded_at desc limit 1";
    let rows = scope.query(SQL, &[&scope.user().uuid()]).await?;
    one(&rows, |row| Columns::of(row, "operation").take())
}

async fn count(scope: &Scope, sql: &'static str, at: Timestamp, now: Timestamp) -> Result<i64> {
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &at, &now];
    let rows = scope.query(sql, &params).await?;
    let count = one(&rows, |row| Columns::of(row, "fact_version").take())?;
    Ok(count.unwrap_or_default())
}
