//! Lists of facts: filtered, at a point on both time axes, in a stable order with a cursor.

use lukasa_core::id::VersionId;
use lukasa_core::{
    AsOf, Category, FactId, Force, Kind, MemoryType, Project, ProjectScope, Status, Tier,
    Timestamp, Version,
};
use serde::{Deserialize, Serialize};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::Result;
use crate::fact::{version, version_columns};
use crate::row::all;
use crate::scope::{Param, Scope};

/// The filters of a list. An absent filter matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListFilter {
    /// Only this status; any status if absent.
    pub status: Option<Status>,
    pub domain: Option<String>,
    pub force: Option<Force>,
    pub memory_type: Option<MemoryType>,
    pub kind: Option<Kind>,
    pub category: Option<Category>,
    pub tier: Option<Tier>,
    pub tag: Option<String>,
    /// Text that must occur in the content, in any case.
    pub search: Option<String>,
    pub projects: ListedProjects,
}

/// The projects of listed memories.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ListedProjects {
    /// Memories of every project, and of none.
    #[default]
    All,
    /// Only memories of this project; `None`: only those of no project.
    Only(Option<Project>),
    /// Memories of no project, and of this one.
    Within(Project),
}

impl ListedProjects {
    /// What a request with this scope sees.
    pub fn seen_in(scope: &ProjectScope) -> Self {
        match scope {
            ProjectScope::All => Self::All,
            ProjectScope::NoProject => Self::Only(None),
            ProjectScope::One(project) => Self::Within(project.clone()),
        }
    }

    /// The names that are listed, with an empty one for no project; absent for all.
    fn names(&self) -> Option<Vec<&str>> {
        match self {
            Self::All => None,
            Self::Only(project) => Some(vec![project.as_ref().map_or("", Project::as_str)]),
            Self::Within(project) => Some(vec!["", project.as_str()]),
        }
    }
}

/// Cursor: the last row of the previous page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListPlace {
    pub fact: FactId,
    pub version: VersionId,
}

/// A version, and whether another version of its fact follows where it ends.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedVersion {
    pub version: Version,
    pub replaced: bool,
    /// The type of the use by which the user rated the fact.
    pub rating: Option<String>,
}

/// The user's rating of a listed fact.
macro_rules! rating {
    () => {
        ", (select type from usage where user_id = $1 and usage.fact_id = listed.fact_id \
              and type in ('rated_up', 'rated_down'))"
    };
}

/// The filters of a list, as parameters $2 to $12: absent ones are null.
macro_rules! filters {
    () => {
        " and ($2::text is null or domain = $2) and ($3::text is null or force = $3) \
          and ($4::text is null or type = $4) and ($5::text is null or kind = $5) \
          and ($6::text is null or category = $6) and ($7::text is null or tier = $7) \
          and ($8::text is null or $8 = any(tags)) \
          and ($9::text is null or strpos(lower(content), lower($9)) > 0) \
          and ($10::uuid is null or (fact_id, version_id) < ($10, $11)) \
          and ($12::text[] is null or coalesce(project, '') = any($12))"
    };
}

/// The most common query: all active facts, unfiltered, first page. It has its own statement
/// because its plan can be cached; the statement with filters is planned again for each execution.
const FIRST_PAGE_OF_ACTIVE: &str = concat!(
    "select ",
    version_columns!(),
    ", false",
    rating!(),
    " from fact_version listed where user_id = $1 and known_until is null and state = 'active' \
       and valid_from <= $2 and (valid_until is null or valid_until > $2) \
      order by fact_id desc, version_id desc limit $3"
);

/// With filters the plan depends on their values. A generic plan would sort all rows of the user: a
/// second for a user with 100,000 facts, where scanning the index in order takes a millisecond.
const FORCE_CUSTOM_PLAN: &str = "set local plan_cache_mode = force_custom_plan";

/// The same query with filters, in the order of the index on current versions.
const ACTIVE_NOW: &str = concat!(
    "select ",
    version_columns!(),
    ", false",
    rating!(),
    " from fact_version listed where user_id = $1 and known_until is null and state = 'active' \
       and valid_from <= $14 and (valid_until is null or valid_until > $14)",
    filters!(),
    " order by fact_id desc, version_id desc limit $13"
);

/// Proposed, candidate, forgotten or trashed facts, in the order of the same index.
const BY_STATE_NOW: &str = concat!(
    "select ",
    version_columns!(),
    ", false",
    rating!(),
    " from fact_version listed where user_id = $1 and known_until is null and state = $14",
    filters!(),
    " order by fact_id desc, version_id desc limit $13"
);

/// Facts of every status, in the order of the same index. Whether a version is replaced is computed
/// for the page only: computed for all rows, as a plan without statistics does after an import, it
/// takes half a second.
const ALL_NOW: &str = concat!(
    "select ",
    version_columns!(),
    ", exists (select 1 from fact_version next \
                where next.user_id = $1 and next.fact_id = listed.fact_id \
                  and next.state = 'active' and next.known_until is null \
                  and next.valid_from >= listed.valid_until) as replaced",
    rating!(),
    " from (select * from fact_version where user_id = $1 and known_until is null",
    filters!(),
    " order by fact_id desc, version_id desc limit $13) listed \
      order by fact_id desc, version_id desc"
);

/// Later than any recorded time: the last days of the year 9999.
const END_OF_TIME: Timestamp = Timestamp::constant(253_402_200_000, 0);

/// Any other query: another status, or another point on either axis.
const ANY: &str = concat!(
    "select *",
    rating!(),
    " from (select ",
    version_columns!(),
    ", exists (select 1 from fact_version next \
                where next.user_id = $1 and next.fact_id = v.fact_id and next.state = 'active' \
                  and next.known_from <= $15 \
                  and (next.known_until is null or next.known_until > $15) \
                  and next.valid_from >= v.valid_until) as replaced \
      from fact_version v where user_id = $1 and known_from <= $15 \
       and (known_until is null or known_until > $15)",
    filters!(),
    ") listed where case coalesce($16, 'any') \
        when 'any' then true \
        when 'active' then state = 'active' and valid_from <= $14 \
                           and (valid_until is null or valid_until > $14) \
        when 'upcoming' then state = 'active' and valid_from > $14 \
        when 'expired' then state = 'active' and valid_until <= $14 and not replaced \
        when 'superseded' then state = 'active' and valid_until <= $14 and replaced \
        else state = $16 end \
      order by fact_id desc, version_id desc limit $13"
);

fn listed(row: &Row) -> Result<ListedVersion> {
    let (replaced, rating) = (row.try_get(row.len() - 2)?, row.try_get(row.len() - 1)?);
    Ok(ListedVersion { version: version(row)?, replaced, rating })
}

/// Up to `limit` facts after `after`, newest fact first. `at` is absent for "now, as known now".
pub async fn page(
    scope: &Scope,
    filter: &ListFilter,
    now: Timestamp,
    at: Option<AsOf>,
    after: Option<ListPlace>,
    limit: i64,
) -> Result<Vec<ListedVersion>> {
    let force = filter.force.map(Force::as_str);
    let memory_type = filter.memory_type.map(MemoryType::as_str);
    let kind = filter.kind.map(Kind::as_str);
    let category = filter.category.map(Category::as_str);
    let tier = filter.tier.map(Tier::as_str);
    let after_fact: Option<Uuid> = after.map(|place| place.fact.uuid());
    let after_version: Option<Uuid> = after.map(|place| place.version.uuid());
    // "As known now" means every version that is not closed, even if this clock is behind the
    // record's.
    let point = at.unwrap_or(AsOf { valid: now, known: END_OF_TIME });
    let status = filter.status.map(Status::as_str);
    let user = scope.user().uuid();
    let projects = filter.projects.names();
    let params: [Param<'_>; 16] = [
        &user,
        &filter.domain,
        &force,
        &memory_type,
        &kind,
        &category,
        &tier,
        &filter.tag,
        &filter.search,
        &after_fact,
        &after_version,
        &projects,
        &limit,
        &point.valid,
        &point.known,
        &status,
    ];
    let plain = ListFilter { status: Some(Status::Active), ..ListFilter::default() };
    if at.is_none() && after.is_none() && *filter == plain {
        return all(&scope.query(FIRST_PAGE_OF_ACTIVE, &[&user, &now, &limit]).await?, listed);
    }
    scope.query(FORCE_CUSTOM_PLAN, &[]).await?;
    let rows = match (at, filter.status) {
        (None, Some(Status::Active)) => scope.query(ACTIVE_NOW, &params[..14]).await?,
        (
            None,
            Some(Status::Proposed | Status::Candidate | Status::Forgotten | Status::Trashed),
        ) => {
            let mut params = params;
            params[13] = &status;
            scope.query(BY_STATE_NOW, &params[..14]).await?
        }
        (None, None) => scope.query(ALL_NOW, &params[..13]).await?,
        _ => scope.query(ANY, &params).await?,
    };
    all(&rows, listed)
}

/// Whether a later version of the fact follows where `version` ends, as known at `known`.
pub fn is_replaced(version: &Version, known: &[Version]) -> bool {
    version.valid.until.is_some_and(|until| {
        known.iter().any(|v| v.state == lukasa_core::State::Active && v.valid.from >= until)
    })
}
