//! Active facts with the facets that recall filters and ranks by; their content is loaded
//! afterwards, for the few that are found.

use futures_util::{StreamExt as _, TryStreamExt as _};
use lukasa_core::id::VersionId;
use lukasa_core::recall::Facets;
use lukasa_core::{
    AsOf, Category, FactId, Force, Kind, MemoryType, Tier, Timestamp, TurnId, Version,
};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::Result;
use crate::fact::{version, version_columns};
use crate::passage::{FIRST_PASSAGES, PASSAGES_IN_ORDER, PASSAGES_SINCE, SESSION_PROJECTS};
use crate::row::{Columns, all};
use crate::scope::{Param, Scope};
use crate::vector::{FIRST_VECTORS, VECTORS_IN_ORDER, VECTORS_SINCE};

macro_rules! facet_columns {
    () => {
        "version_id, fact_id, domain, project, category, type, kind, force, tier, importance, \
         case when consented_at is not null then 1.0::real \
              when confidence is null and last_confirmed_at is not null \
                and origin in ('user_said', 'user_turn') then 1.0::real \
              when confidence is null then 0.95::real else least(confidence, 0.94::real) end, \
         not extracted or consented_at is not null, \
         consented_at is not null or origin in ('user_said', 'user_turn') \
           or (origin = 'assistant' and not extracted) \
           or (origin = 'observed' and extracted and tier = 'strong' and domain is null), \
         consented_at is null and origin = 'assistant' and not extracted, \
         array_remove(array_prepend(key, tags), null), session, valid_from, valid_until, known_from, \
         coalesce(last_confirmed_at, known_from)"
    };
}

/// An active version as recall sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct RecallableVersion {
    pub version: VersionId,
    pub fact: FactId,
    pub facets: Facets,
}

fn recallable(row: &Row) -> Result<RecallableVersion> {
    let mut c = Columns::of(row, "fact_version");
    Ok(RecallableVersion {
        version: VersionId::from_uuid(c.take()?),
        fact: FactId::from_uuid(c.take()?),
        facets: Facets {
            domain: c.take()?,
            project: c.project()?,
            category: c.word(Category::parse)?,
            memory_type: c.word(MemoryType::parse)?,
            kind: c.word(Kind::parse)?,
            force: c.word(Force::parse)?,
            tier: c.word(Tier::parse)?,
            importance: c.take()?,
            confidence: c.take()?,
            firm: c.take()?,
            own: c.take()?,
            from_assistant: c.take()?,
            names: c.take()?,
            session: c.take()?,
            valid_from: c.take()?,
            valid_until: c.take()?,
            known_from: c.take()?,
            fresh_at: c.take()?,
        },
    })
}

/// Every active version as known now, including those that are valid only earlier or later: a cache
/// of this list compares the dates again when it is used.
pub async fn now(scope: &Scope) -> Result<Vec<RecallableVersion>> {
    const SQL: &str = concat!(
        "select ",
        facet_columns!(),
        " from fact_version where user_id = $1 and known_until is null and state = 'active'"
    );
    // One row at a time: rows take more memory than what is read from them.
    let rows = scope.stream(SQL, &[&scope.user().uuid()]).await?;
    rows.map(|row| recallable(&row?)).try_collect().await
}

/// Every active version at a point on both time axes.
pub async fn at(scope: &Scope, point: AsOf) -> Result<Vec<RecallableVersion>> {
    const SQL: &str = concat!(
        "select ",
        facet_columns!(),
        " from fact_version where user_id = $1 and state = 'active' \
           and known_from <= $2 and (known_until is null or known_until > $2) \
           and valid_from <= $3 and (valid_until is null or valid_until > $3)"
    );
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &point.known, &point.valid];
    all(&scope.query(SQL, &params).await?, recallable)
}

/// The statements that read a user's passages, embeddings and links, by name. They are answered
/// from indexes alone, except for turns that are not packed; a test checks their plans.
pub const COVERED_STATEMENTS: [(&str, &str); 8] = [
    ("passages", PASSAGES_SINCE),
    ("first passages", FIRST_PASSAGES),
    ("first vectors", FIRST_VECTORS),
    ("passages in order", PASSAGES_IN_ORDER[0]),
    ("vectors", VECTORS_SINCE),
    ("vectors in order", VECTORS_IN_ORDER[0]),
    ("projects of sessions", SESSION_PROJECTS),
    ("links", LINKS),
];

const LINKS: &str =
    "select from_fact, to_fact from link where user_id = $1 and known_until is null";

/// The links known at `known`, or now, from fact to fact.
pub async fn links(scope: &Scope, known: Option<Timestamp>) -> Result<Vec<(FactId, FactId)>> {
    const THEN: &str = "select from_fact, to_fact from link where user_id = $1 \
                          and known_from <= $2 and (known_until is null or known_until > $2)";
    let user = scope.user().uuid();
    let rows = match known {
        None => scope.query(LINKS, &[&user]).await?,
        Some(known) => scope.query(THEN, &[&user, &known]).await?,
    };
    all(&rows, |row| {
        let mut c = Columns::of(row, "link");
        Ok((FactId::from_uuid(c.take()?), FactId::from_uuid(c.take()?)))
    })
}

/// The turns whose words were taken back, as known at `known` or now: a memory that was learned from
/// the turn has changed since, or was corrected, forgotten, deleted, rejected or undone. With each
/// turn the time since when it is so in the world; for what was never true, or is not to be used any
/// more, that is the earliest time.
///
/// A memory still supports its turn if a version of it that waits or is valid last cites the turn or
/// has the same content as the one that did. What consolidation merged or let go of was not taken back.
pub async fn outdated_turns(
    scope: &Scope,
    known: Option<Timestamp>,
) -> Result<Vec<(TurnId, Timestamp)>> {
    const SQL: &str = "with cited as ( \
          select distinct f.fact_id, t.turn, f.content from fact_version f, unnest(f.turns) t (turn) \
           where f.user_id = $1 and f.known_from <= coalesce($2::timestamptz, 'infinity') \
             and f.state in ('active', 'proposed', 'candidate') \
             and (f.known_until <= coalesce($2::timestamptz, 'infinity') \
               or f.valid_until is not null) \
        ), living as ( \
          select f.fact_id, f.content, f.turns, f.valid_until, max(f.valid_from) \
                   filter (where f.state = 'active') over (partition by f.fact_id) as last_from \
            from fact_version f \
           where f.user_id = $1 and f.known_from <= coalesce($2::timestamptz, 'infinity') \
             and (f.known_until is null or f.known_until > $2::timestamptz) \
             and f.state in ('active', 'proposed', 'candidate') \
             and f.fact_id in (select fact_id from cited) \
        ), supported as ( \
          select c.fact_id, c.turn, max(case when l.fact_id is null then 'epoch' \
                   when l.valid_until <= l.last_from then l.valid_until \
                   else 'infinity' end) as until \
            from cited c left join living l on l.fact_id = c.fact_id \
             and (c.turn = any(l.turns) or l.content = c.content) \
           group by c.fact_id, c.turn \
        ) \
        select s.turn, min(s.until) from supported s \
         where s.until < 'infinity' and s.fact_id not in ( \
           select f.fact_id from fact_version f join operation o \
               on o.user_id = f.user_id and o.operation_id = f.opened_by \
            where f.user_id = $1 and f.state = 'forgotten' and o.verb = 'consolidate' \
              and (f.known_until is null or f.known_until > $2::timestamptz)) \
         group by s.turn";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &known]).await?;
    let read = all(&rows, |row| {
        let mut c = Columns::of(row, "fact_version");
        Ok((c.take::<&str>()?.parse::<TurnId>().ok(), c.take()?))
    })?;
    // The observations of a pattern are cited like turns.
    Ok(read.into_iter().filter_map(|(turn, since)| Some((turn?, since))).collect())
}

/// The versions with these ids, in no particular order.
pub async fn versions(scope: &Scope, found: &[(FactId, VersionId)]) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and fact_id = any($2) and version_id = any($3)"
    );
    let facts: Vec<Uuid> = found.iter().map(|(fact, _)| fact.uuid()).collect();
    let versions: Vec<Uuid> = found.iter().map(|(_, version)| version.uuid()).collect();
    all(&scope.query(SQL, &[&scope.user().uuid(), &facts, &versions]).await?, version)
}

/// For each of these versions the content that its fact had until then, in the same domain and
/// project, if it had it for a day or longer.
pub async fn earlier(
    scope: &Scope,
    changed: &[&Version],
) -> Result<Vec<(FactId, String, Timestamp)>> {
    const SQL: &str = "select f.fact_id, f.content, f.valid_until from fact_version f \
                         join unnest($2::uuid[], $3::timestamptz[], $4::text[], $5::text[]) \
                              as c (fact_id, valid_from, domain, project) \
                           on f.fact_id = c.fact_id and f.valid_until = c.valid_from \
                              and f.domain is not distinct from c.domain \
                              and f.project is not distinct from c.project \
                        where f.user_id = $1 and f.fact_id = any($2) \
                          and f.known_until is null and f.state = 'active' \
                          and f.valid_until >= f.valid_from + interval '1 day'";
    let facts: Vec<Uuid> = changed.iter().map(|version| version.fact.uuid()).collect();
    let starts: Vec<Timestamp> = changed.iter().map(|version| version.valid.from).collect();
    let domains: Vec<Option<&str>> =
        changed.iter().map(|version| version.claim.domain.as_deref()).collect();
    let project = |version: &&Version| version.claim.project.as_ref().map(ToString::to_string);
    let projects: Vec<Option<String>> = changed.iter().map(project).collect();
    let params: [Param<'_>; 5] = [&scope.user().uuid(), &facts, &starts, &domains, &projects];
    all(&scope.query(SQL, &params).await?, |row| {
        let mut c = Columns::of(row, "fact_version");
        Ok((FactId::from_uuid(c.take()?), c.take()?, c.take()?))
    })
}
