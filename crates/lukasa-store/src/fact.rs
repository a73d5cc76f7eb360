//! Facts and their versions: open, close, find by id.

use std::collections::{BTreeMap, BTreeSet};

use lukasa_core::id::VersionId;
use lukasa_core::note::NOTE_TAG;
use lukasa_core::record::Changes;
use lukasa_core::{Claim, FactId, OperationId, Project, Timestamp, TurnId, Version, fingerprint};
use serde::{Deserialize, Serialize};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::removal::fact_ids;
use crate::row::{Columns, Stored as _, all, one};
use crate::scope::{Batch, Owned, Param, Scope};

/// The row of a version, passed to another macro. Each line is a field of [`Version`], or of its
/// [`Claim`], with its columns and their parameters in the statement that inserts the row. A field
/// without a line does not compile.
macro_rules! version_row {
    ([$($with:tt)+] $($option:tt)?) => {
        $($with)+! {
            $($option)?
            [
                fact: "fact_id" = "$4";
                id: "version_id" = "$5";
                number: "number" = "$6";
            ]
            claim [
                content: "content" = "$7";
                summary: "summary" = "$8";
                detail: "detail" = "$9";
                category: "category" = "$10";
                memory_type: "type" = "$11";
                kind: "kind" = "$12";
                force: "force" = "$13";
                domain: "domain" = "$14";
                key: "key" = "$15";
                value: "value" = "$16";
                tags: "tags" = "$17";
                importance: "importance" = "$18";
                evidence: "evidence" = "$19";
                reasoning: "reasoning" = "$20";
                project: "project" = "$21";
                unmentioned: "unmentioned" = "$22";
            ]
            [
                state: "state" = "$23";
                tier: "tier" = "$24";
                origin: "origin" = "$25";
                extracted: "extracted" = "$26";
                confidence: "confidence" = "$27";
                session: "session" = "$28";
                turns: "turns" = "$29";
                confirmed_at: "confirmed_at" = "$30";
                last_confirmed_at: "last_confirmed_at" = "$31";
                consented_at: "consented_at" = "$32";
                valid: "valid_from" = "$33", "valid_until" = "$34";
                known: "known_from" = "$35", "known_until" = "$36";
                opened_by: "opened_by" = "$37";
                closed_by: "closed_by" = "$38";
                reopens: "reopens" = "$39";
            ]
        }
    };
}
pub(crate) use version_row;

/// The columns or the parameters as one text.
macro_rules! version_text {
    (
        $which:ident
        [ $($early:ident: $early_column:literal = $early_value:literal;)* ]
        claim [ $($field:ident: $column:literal = $value:literal;)* ]
        [ $($late:ident: $($late_column:literal = $late_value:literal),+;)* ]
    ) => {
        $crate::fact::joined! {
            $which
            $($early_column = $early_value;)*
            $($column = $value;)*
            $($($late_column = $late_value;)+)*
        }
    };
}
pub(crate) use version_text;

/// The left or the right sides of a list, with commas between them.
macro_rules! joined {
    (columns $first:literal = $first_value:literal; $($column:literal = $value:literal;)*) => {
        concat!($first $(, ", ", $column)*)
    };
    (parameters $first:literal = $first_value:literal; $($column:literal = $value:literal;)*) => {
        concat!($first_value $(, ", ", $value)*)
    };
}
pub(crate) use joined;

macro_rules! version_columns {
    () => {
        $crate::fact::version_row!([$crate::fact::version_text] columns)
    };
}
pub(crate) use version_columns;

macro_rules! version_parameters {
    () => {
        version_row!([version_text] parameters)
    };
}

macro_rules! version_functions {
    (
        [ $($early:ident: $early_column:literal = $early_value:literal;)* ]
        claim [ $($field:ident: $column:literal = $value:literal;)* ]
        [ $($late:ident: $($late_column:literal = $late_value:literal),+;)* ]
    ) => {
        /// Reads a version from a row that begins with `version_columns!`. The columns are read by
        /// position: finding them by name takes most of the time of reading a list.
        pub(crate) fn version(row: &Row) -> Result<Version> {
            const NAMES: &[&str] =
                &[$($early_column,)* $($column,)* $($($late_column,)+)*];
            let last = row.columns().get(NAMES.len() - 1);
            if last.is_none_or(|column| column.name() != NAMES[NAMES.len() - 1]) {
                let what = "the row does not begin with the columns of a version".to_owned();
                return Err(Error::Corrupt { table: "fact_version", what });
            }
            let mut c = Columns::of(row, "fact_version");
            Ok(Version {
                $($early: c.stored()?,)*
                claim: Claim { $($field: c.stored()?,)* },
                $($late: c.stored()?,)*
            })
        }

        /// The values of `version_parameters!`.
        fn version_values(v: &Version) -> Result<Vec<Owned>> {
            let mut values = Vec::new();
            $(v.$early.push_to(&mut values)?;)*
            $(v.claim.$field.push_to(&mut values)?;)*
            $(v.$late.push_to(&mut values)?;)*
            Ok(values)
        }
    };
}
version_row!([version_functions]);

/// Whether the fact exists, in any state.
pub async fn exists(scope: &Scope, fact: FactId) -> Result<bool> {
    const SQL: &str = "select true from fact where user_id = $1 and fact_id = $2";
    Ok(!scope.query(SQL, &[&scope.user().uuid(), &fact.uuid()]).await?.is_empty())
}

/// How many of these facts exist.
pub async fn count_existing(scope: &Scope, facts: &[FactId]) -> Result<usize> {
    const SQL: &str = "select 1 from fact where user_id = $1 and fact_id = any($2)";
    if facts.is_empty() {
        return Ok(0);
    }
    let ids: Vec<Uuid> = facts.iter().map(|fact| fact.uuid()).collect();
    Ok(scope.query(SQL, &[&scope.user().uuid(), &ids]).await?.len())
}

/// Those of these facts that exist.
pub async fn existing(scope: &Scope, facts: &[FactId]) -> Result<Vec<FactId>> {
    const SQL: &str = "select fact_id from fact where user_id = $1 and fact_id = any($2)";
    fact_ids(scope, SQL, facts).await
}

/// Those of these facts that exist in any state or were erased.
pub async fn ever_existing(scope: &Scope, facts: &[FactId]) -> Result<BTreeSet<FactId>> {
    const SQL: &str = "select fact_id from fact where user_id = $1 and fact_id = any($2) \
                       union select fact_id from tombstone \
                              where user_id = $1 and fact_id = any($2)";
    let ids: Vec<Uuid> = facts.iter().map(|fact| fact.uuid()).collect();
    let rows = scope.query(SQL, &[&scope.user().uuid(), &ids]).await?;
    let found = all(&rows, |row| Ok(FactId::from_uuid(Columns::of(row, "fact").take()?)))?;
    Ok(found.into_iter().collect())
}

/// The versions of a fact that are known now, earliest validity first.
pub async fn known_now(scope: &Scope, fact: FactId) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and fact_id = $2 and known_until is null \
          order by valid_from, version_id"
    );
    all(&scope.query(SQL, &[&scope.user().uuid(), &fact.uuid()]).await?, version)
}

/// The same for several facts, each with its versions together.
pub async fn known_now_of_all(scope: &Scope, facts: &[FactId]) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and fact_id = any($2) and known_until is null \
          order by fact_id, valid_from, version_id"
    );
    let ids: Vec<Uuid> = facts.iter().map(|fact| fact.uuid()).collect();
    all(&scope.query(SQL, &[&scope.user().uuid(), &ids]).await?, version)
}

/// The current versions of these facts, and all proposals and candidates of the user.
pub async fn current_and_pending(
    scope: &Scope,
    facts: &[FactId],
    now: Timestamp,
) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and known_until is null \
           and valid_from <= $3 and (valid_until is null or valid_until > $3) \
           and ((state = 'active' and fact_id = any($2)) or state in ('proposed', 'candidate')) \
          order by fact_id, version_id limit 2000"
    );
    let ids: Vec<Uuid> = facts.iter().map(|fact| fact.uuid()).collect();
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &ids, &now];
    all(&scope.query(SQL, &params).await?, version)
}

/// The current versions of these facts, and those that wait for a decision.
pub async fn current_or_waiting(
    scope: &Scope,
    facts: &[FactId],
    now: Timestamp,
) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and fact_id = any($2) and known_until is null \
           and valid_from <= $3 and (valid_until is null or valid_until > $3) \
           and state in ('active', 'proposed', 'candidate') order by fact_id, version_id"
    );
    let ids: Vec<Uuid> = facts.iter().map(|fact| fact.uuid()).collect();
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &ids, &now];
    all(&scope.query(SQL, &params).await?, version)
}

/// Up to `limit` current versions without a domain, the latest first.
pub async fn without_domain(scope: &Scope, now: Timestamp, limit: i64) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and known_until is null and state = 'active' \
           and domain is null and valid_from <= $2 and (valid_until is null or valid_until > $2) \
          order by known_from desc, version_id limit $3"
    );
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &now, &limit];
    all(&scope.query(SQL, &params).await?, version)
}

/// The versions of a fact that were known at `known_at`, earliest validity first.
pub async fn known_at(scope: &Scope, fact: FactId, known_at: Timestamp) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and fact_id = $2 and known_from <= $3 \
           and (known_until is null or known_until > $3) order by valid_from, version_id"
    );
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &fact.uuid(), &known_at];
    all(&scope.query(SQL, &params).await?, version)
}

/// Every version a fact ever had, in the order they came to be known.
pub async fn history(scope: &Scope, fact: FactId) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and fact_id = $2 \
          order by known_from, valid_from, version_id"
    );
    all(&scope.query(SQL, &[&scope.user().uuid(), &fact.uuid()]).await?, version)
}

/// A place in the history of a fact: the last version of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryPlace {
    pub known_from: Timestamp,
    pub valid_from: Timestamp,
    pub version: VersionId,
}

/// A version of a history, with the next edition of its claim, if one followed.
fn with_next_edition(row: &Row) -> Result<(Version, Option<VersionId>)> {
    let next: Option<Uuid> = row.try_get("next_edition")?;
    Ok((version(row)?, next.map(VersionId::from_uuid)))
}

macro_rules! history_columns {
    () => {
        concat!(
            version_columns!(),
            ", (select n.version_id from fact_version n \
                 where n.user_id = $1 and n.fact_id = $2 and n.number > v.number \
                   and n.known_from >= v.known_from \
                 order by n.known_from, n.number, n.version_id limit 1) as next_edition"
        )
    };
}

/// Up to `limit` versions of a fact after a place, in the order they came to be known.
pub async fn history_page(
    scope: &Scope,
    fact: FactId,
    after: Option<HistoryPlace>,
    limit: i64,
) -> Result<Vec<(Version, Option<VersionId>)>> {
    const SQL: &str = concat!(
        "select ",
        history_columns!(),
        " from fact_version v where user_id = $1 and fact_id = $2 \
           and ($3::timestamptz is null or (known_from, valid_from, version_id) > ($3, $4, $5)) \
          order by known_from, valid_from, version_id limit $6"
    );
    let known = after.map(|place| place.known_from);
    let valid = after.map(|place| place.valid_from);
    let last = after.map(|place| place.version.uuid());
    let params: [Param<'_>; 6] =
        [&scope.user().uuid(), &fact.uuid(), &known, &valid, &last, &limit];
    all(&scope.query(SQL, &params).await?, with_next_edition)
}

/// The last `limit` versions of a fact, in the order they came to be known.
pub async fn latest_history(
    scope: &Scope,
    fact: FactId,
    limit: i64,
) -> Result<Vec<(Version, Option<VersionId>)>> {
    const SQL: &str = concat!(
        "select ",
        history_columns!(),
        " from fact_version v where user_id = $1 and fact_id = $2 \
          order by known_from desc, valid_from desc, version_id desc limit $3"
    );
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &fact.uuid(), &limit];
    let mut latest = all(&scope.query(SQL, &params).await?, with_next_edition)?;
    latest.reverse();
    Ok(latest)
}

/// The version number that the next version of a fact gets.
pub async fn next_number(scope: &Scope, fact: FactId) -> Result<i32> {
    const SQL: &str = "select coalesce(max(number), 0) + 1 from fact_version \
                        where user_id = $1 and fact_id = $2";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &fact.uuid()]).await?;
    Ok(one(&rows, |row| Columns::of(row, "fact_version").take())?.unwrap_or(1))
}

/// The version numbers that the next versions of these facts get; the first one is 1.
pub async fn next_numbers(scope: &Scope, facts: &[FactId]) -> Result<BTreeMap<FactId, i32>> {
    const SQL: &str = "select fact_id, max(number) + 1 from fact_version \
                        where user_id = $1 and fact_id = any($2) group by fact_id";
    let ids: Vec<Uuid> = facts.iter().map(|fact| fact.uuid()).collect();
    let rows = scope.query(SQL, &[&scope.user().uuid(), &ids]).await?;
    let numbers = all(&rows, |row| {
        let mut c = Columns::of(row, "fact_version");
        Ok((FactId::from_uuid(c.take()?), c.take()?))
    })?;
    Ok(numbers.into_iter().collect())
}

/// The active fact with the same fingerprint as `claim` at `now`, if there is one.
pub async fn find_active_duplicate(
    scope: &Scope,
    claim: &Claim,
    now: Timestamp,
) -> Result<Option<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and fingerprint = $2 and known_until is null \
           and state = 'active' and (valid_until is null or valid_until > $3) \
          order by valid_from, version_id limit 1"
    );
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &fingerprint(claim), &now];
    one(&scope.query(SQL, &params).await?, version)
}

/// The active note of a reply, if it is kept.
pub async fn find_note(scope: &Scope, reply: TurnId, now: Timestamp) -> Result<Option<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and turns && $2 and $3 = any(tags) \
           and origin = 'assistant' and known_until is null and state = 'active' \
           and (valid_until is null or valid_until > $4) order by valid_from, version_id limit 1"
    );
    let turns = vec![reply.to_string()];
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &turns, &NOTE_TAG, &now];
    one(&scope.query(SQL, &params).await?, version)
}

/// The newest versions, of any state, that operations since `from` opened: all of them, or those
/// of one credential.
pub async fn opened_since(
    scope: &Scope,
    from: Timestamp,
    credential: Option<&str>,
) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and opened_by = any(array( \
            select operation_id from operation where user_id = $1 and recorded_at >= $2 \
               and ($3::text is null or credential = $3) order by recorded_at desc limit 50)) \
          order by known_from desc, version_id limit 50"
    );
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &from, &credential];
    all(&scope.query(SQL, &params).await?, version)
}

/// Those of the turns that memories cite which were forgotten on request.
pub async fn forgotten_turns(scope: &Scope, turns: &[TurnId]) -> Result<BTreeSet<String>> {
    const SQL: &str = "select distinct cited from fact_version f, unnest(f.turns) cited \
                        where f.user_id = $1 and f.known_until is null and f.state = 'forgotten' \
                          and f.turns && $2 and cited = any($2) \
                          and exists (select 1 from operation o where o.user_id = f.user_id \
                                         and o.operation_id = f.opened_by and o.verb = 'forget')";
    let turns: Vec<String> = turns.iter().map(ToString::to_string).collect();
    let rows = scope.query(SQL, &[&scope.user().uuid(), &turns]).await?;
    Ok(rows.iter().map(|row| row.get(0)).collect())
}

/// The proposal or candidate with the same fingerprint as `claim`, if there is one.
pub async fn find_pending_duplicate(scope: &Scope, claim: &Claim) -> Result<Option<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and known_until is null \
           and state in ('proposed', 'candidate') and fingerprint = $2 \
          order by state desc, version_id limit 1"
    );
    one(&scope.query(SQL, &[&scope.user().uuid(), &fingerprint(claim)]).await?, version)
}

/// The hard fact that occupies (domain, key) in a project from `from` on, other than `asking`.
pub async fn holder_of_key(
    scope: &Scope,
    domain: &str,
    key: &str,
    project: Option<&Project>,
    from: Timestamp,
    asking: Option<FactId>,
) -> Result<Option<Version>> {
    // Scans the user's active hard facts: this runs only after a conflict, and an index for it
    // would slow down every write.
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and known_until is null and state = 'active' \
           and force = 'hard' and domain = $2 and key = $3 \
           and (valid_until is null or valid_until > $4) \
           and ($5::uuid is null or fact_id <> $5) and project is not distinct from $6 \
          order by valid_from, version_id limit 1"
    );
    let asking = asking.map(FactId::uuid);
    let project = project.map(Project::as_str);
    let params: [Param<'_>; 6] = [&scope.user().uuid(), &domain, &key, &from, &asking, &project];
    one(&scope.query(SQL, &params).await?, version)
}

/// The active hard facts with one of these keys, in any domain and project.
pub async fn rules_with_keys(scope: &Scope, keys: &[String]) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and known_until is null and state = 'active' \
           and force = 'hard' and key = any($2) order by fact_id, valid_from, version_id"
    );
    all(&scope.query(SQL, &[&scope.user().uuid(), &keys]).await?, version)
}

/// The hard fact of no project with this domain and key that is valid at `now`.
pub async fn value_of_key(
    scope: &Scope,
    domain: &str,
    key: &str,
    now: Timestamp,
) -> Result<Option<Version>> {
    Ok(holder_of_key(scope, domain, key, None, now, None).await?.filter(|v| v.valid.contains(now)))
}

/// Every (domain, key, project) that any version of a hard fact has had.
pub async fn keys_held(scope: &Scope) -> Result<Vec<(String, String, Option<Project>)>> {
    const SQL: &str = "select distinct domain, key, project from fact_version \
                        where user_id = $1 and force = 'hard'";
    all(&scope.query(SQL, &[&scope.user().uuid()]).await?, |row| {
        let mut c = Columns::of(row, "fact_version");
        Ok((c.take()?, c.take()?, c.project()?))
    })
}

/// Closes and opens the versions of a change. Closing comes first, so that the time slot is free.
pub fn apply(
    batch: &mut Batch,
    scope: &Scope,
    changes: &Changes,
    at: Timestamp,
    by: OperationId,
) -> Result<()> {
    for fact in new_facts(changes) {
        identify(batch, scope, fact);
    }
    for (fact, version) in &changes.closes {
        close(batch, scope, *fact, *version, at, by);
    }
    for version in &changes.opens {
        open(batch, scope, version)?;
    }
    Ok(())
}

/// The facts created by this change: it opens a version of them and closes none.
fn new_facts(changes: &Changes) -> BTreeSet<FactId> {
    let closed: BTreeSet<FactId> = changes.closes.iter().map(|(fact, _)| *fact).collect();
    let opened = changes.opens.iter().map(|v| v.fact);
    opened.filter(|fact| !closed.contains(fact)).collect()
}

fn identify(batch: &mut Batch, scope: &Scope, fact: FactId) {
    // An undo may reopen the first version of a fact after all its versions were closed.
    const SQL: &str = "insert into fact (user_id, tenant_id, fact_id) values ($1, $2, $3) \
                       on conflict (user_id, fact_id) do nothing";
    batch.push(
        SQL,
        vec![Box::new(scope.user().uuid()), Box::new(scope.tenant().uuid()), Box::new(fact.uuid())],
    );
}

fn close(
    batch: &mut Batch,
    scope: &Scope,
    fact: FactId,
    version: VersionId,
    at: Timestamp,
    by: OperationId,
) {
    const SQL: &str = "update fact_version set known_until = $4, closed_by = $5 \
                        where user_id = $1 and fact_id = $2 and version_id = $3";
    batch.push_one(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(fact.uuid()),
            Box::new(version.uuid()),
            Box::new(at),
            Box::new(by.uuid()),
        ],
    );
}

fn open(batch: &mut Batch, scope: &Scope, v: &Version) -> Result<()> {
    const SQL: &str = concat!(
        "insert into fact_version (user_id, tenant_id, fingerprint, ",
        version_columns!(),
        ") values ($1, $2, $3, ",
        version_parameters!(),
        ")"
    );
    let mut params: Vec<Owned> = vec![
        Box::new(scope.user().uuid()),
        Box::new(scope.tenant().uuid()),
        Box::new(fingerprint(&v.claim)),
    ];
    params.extend(version_values(v)?);
    batch.push_one(SQL, params);
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn parameters_of_a_version_are_numbered_in_order() {
        let columns = version_columns!().split(", ").count();
        let numbers: Vec<String> = (4..4 + columns).map(|n| format!("${n}")).collect();
        assert_eq!(version_parameters!(), numbers.join(", "));
    }
}
