//! Links between facts.

use lukasa_core::id::LinkId;
use lukasa_core::{FactId, Link, OperationId, Period, Project, ProjectScope, Timestamp};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::Result;
use crate::row::{Columns, all, one};
use crate::scope::{Batch, Owned, Param, Scope};

macro_rules! link_columns {
    () => {
        "link_id, from_fact, to_fact, relation, known_from, known_until, opened_by, closed_by, \
         reopens"
    };
}

pub(crate) use link_columns;

pub(crate) fn link(row: &Row) -> Result<Link> {
    let mut c = Columns::of(row, "link");
    Ok(Link {
        id: LinkId::from_uuid(c.take()?),
        from: FactId::from_uuid(c.take()?),
        to: FactId::from_uuid(c.take()?),
        relation: c.take()?,
        known: Period { from: c.take()?, until: c.take()? },
        opened_by: OperationId::from_uuid(c.take()?),
        closed_by: c.take::<Option<Uuid>>()?.map(OperationId::from_uuid),
        reopens: c.take::<Option<Uuid>>()?.map(LinkId::from_uuid),
    })
}

pub fn open(batch: &mut Batch, scope: &Scope, link: &Link) {
    const SQL: &str = "insert into link (user_id, tenant_id, link_id, from_fact, to_fact, \
                       relation, known_from, known_until, opened_by, closed_by, reopens) \
                       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    batch.push(SQL, insert_params(scope, link));
}

/// Restores a link from an archive, open or closed. An existing one is kept.
pub fn put_back(batch: &mut Batch, scope: &Scope, link: &Link) {
    const SQL: &str = "insert into link (user_id, tenant_id, link_id, from_fact, to_fact, \
                       relation, known_from, known_until, opened_by, closed_by, reopens) \
                       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
                       on conflict do nothing";
    batch.push(SQL, insert_params(scope, link));
}

/// The parameters of the statements that insert a link.
fn insert_params(scope: &Scope, link: &Link) -> Vec<Owned> {
    vec![
        Box::new(scope.user().uuid()),
        Box::new(scope.tenant().uuid()),
        Box::new(link.id.uuid()),
        Box::new(link.from.uuid()),
        Box::new(link.to.uuid()),
        Box::new(link.relation.clone()),
        Box::new(link.known.from),
        Box::new(link.known.until),
        Box::new(link.opened_by.uuid()),
        Box::new(link.closed_by.map(OperationId::uuid)),
        Box::new(link.reopens.map(LinkId::uuid)),
    ]
}

pub fn close(batch: &mut Batch, scope: &Scope, id: LinkId, at: Timestamp, by: OperationId) {
    const SQL: &str = "update link set known_until = $3, closed_by = $4 \
                        where user_id = $1 and link_id = $2 and known_until is null";
    batch.push_one(
        SQL,
        vec![Box::new(scope.user().uuid()), Box::new(id.uuid()), Box::new(at), Box::new(by.uuid())],
    );
}

/// Finds an open link.
pub async fn find(scope: &Scope, id: LinkId) -> Result<Option<Link>> {
    const SQL: &str = concat!(
        "select ",
        link_columns!(),
        " from link where user_id = $1 and link_id = $2 and known_until is null"
    );
    one(&scope.query(SQL, &[&scope.user().uuid(), &id.uuid()]).await?, link)
}

/// Those of these links that exist, open or closed.
pub async fn existing(scope: &Scope, ids: &[LinkId]) -> Result<Vec<LinkId>> {
    const SQL: &str = "select link_id from link where user_id = $1 and link_id = any($2)";
    let ids: Vec<Uuid> = ids.iter().map(|id| id.uuid()).collect();
    let rows = scope.query(SQL, &[&scope.user().uuid(), &ids]).await?;
    all(&rows, |row| Ok(LinkId::from_uuid(Columns::of(row, "link").take()?)))
}

/// The open link with the same relation between the same two facts, if there is one.
pub async fn find_same(
    scope: &Scope,
    from: FactId,
    to: FactId,
    relation: &str,
) -> Result<Option<Link>> {
    const SQL: &str = concat!(
        "select ",
        link_columns!(),
        " from link where user_id = $1 and from_fact = $2 and to_fact = $3 and relation = $4 \
           and known_until is null"
    );
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &from.uuid(), &to.uuid(), &relation];
    one(&scope.query(SQL, &params).await?, link)
}

/// Up to `limit` open links of a fact after one, in both directions, whose other fact is active at
/// `now` and seen in these projects.
pub async fn live_page(
    scope: &Scope,
    fact: FactId,
    projects: &ProjectScope,
    now: Timestamp,
    after: Option<LinkId>,
    limit: i64,
) -> Result<Vec<Link>> {
    const SQL: &str = concat!(
        "select ",
        link_columns!(),
        " from link l where user_id = $1 and (from_fact = $2 or to_fact = $2) \
           and known_until is null \
           and exists (select 1 from fact_version v \
                        where v.user_id = $1 \
                          and v.fact_id = case when l.from_fact = $2 then l.to_fact \
                                               else l.from_fact end \
                          and v.known_until is null and v.state = 'active' \
                          and v.valid_from <= $3 \
                          and (v.valid_until is null or v.valid_until > $3) \
                          and ($4 or v.project is null or v.project = $5)) \
           and ($6::uuid is null or link_id > $6) \
          order by link_id limit $7"
    );
    let (all_projects, after) = (*projects == ProjectScope::All, after.map(LinkId::uuid));
    let project = projects.project().map(Project::as_str);
    let (user, fact) = (scope.user().uuid(), fact.uuid());
    let params: [Param<'_>; 7] = [&user, &fact, &now, &all_projects, &project, &after, &limit];
    all(&scope.query(SQL, &params).await?, link)
}

/// The open links of these facts, in both directions, whose two facts are active at `now`; the oldest
/// first.
pub async fn live_of_all(
    scope: &Scope,
    facts: &[FactId],
    now: Timestamp,
    limit: i64,
) -> Result<Vec<Link>> {
    const SQL: &str = concat!(
        "select ",
        link_columns!(),
        " from link l where user_id = $1 and (from_fact = any($2) or to_fact = any($2)) \
           and known_until is null \
           and exists (select 1 from fact_version v \
                        where v.user_id = $1 and v.fact_id = l.from_fact \
                          and v.known_until is null and v.state = 'active' \
                          and v.valid_from <= $3 \
                          and (v.valid_until is null or v.valid_until > $3)) \
           and exists (select 1 from fact_version v \
                        where v.user_id = $1 and v.fact_id = l.to_fact \
                          and v.known_until is null and v.state = 'active' \
                          and v.valid_from <= $3 \
                          and (v.valid_until is null or v.valid_until > $3)) \
          order by link_id limit $4"
    );
    let ids: Vec<Uuid> = facts.iter().map(|fact| fact.uuid()).collect();
    let params: [Param<'_>; 4] = [&scope.user().uuid(), &ids, &now, &limit];
    all(&scope.query(SQL, &params).await?, link)
}

/// The operation that last closed a link, by the id of the original link.
pub async fn last_closed(scope: &Scope, root: LinkId) -> Result<Option<OperationId>> {
    const SQL: &str = "select closed_by from link \
                        where user_id = $1 and (link_id = $2 or reopens = $2) \
                          and closed_by is not null order by known_until desc limit 1";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &root.uuid()]).await?;
    one(&rows, |row| Ok(OperationId::from_uuid(Columns::of(row, "link").take()?)))
}

/// The links that an operation opened or closed.
pub async fn touched_by(scope: &Scope, operation: OperationId) -> Result<Vec<Link>> {
    const SQL: &str = concat!(
        "select ",
        link_columns!(),
        " from link where user_id = $1 and (opened_by = $2 or closed_by = $2) order by link_id"
    );
    all(&scope.query(SQL, &[&scope.user().uuid(), &operation.uuid()]).await?, link)
}

/// The open links of one relation, newest first.
pub async fn of_relation(scope: &Scope, relation: &str, limit: i64) -> Result<Vec<Link>> {
    const SQL: &str = concat!(
        "select ",
        link_columns!(),
        " from link where user_id = $1 and relation = $2 and known_until is null \
          order by known_from desc, link_id limit $3"
    );
    all(&scope.query(SQL, &[&scope.user().uuid(), &relation, &limit]).await?, link)
}
