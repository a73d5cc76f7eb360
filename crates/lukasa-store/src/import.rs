//! Imports, and the items each has imported.

use std::collections::{BTreeMap, BTreeSet};

use lukasa_core::import::ImportCounts;
use lukasa_core::{CallerKind, FactId, ImportId, OperationId, Timestamp, Version};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::fact::{version, version_columns};
use crate::row::{Columns, all, one};
use crate::scope::{Batch, Param, Scope};

/// An imported source.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportRecord {
    pub id: ImportId,
    pub format: String,
    pub name: String,
    pub started_at: Timestamp,
    pub last_at: Timestamp,
    /// The operations it wrote, in order.
    pub operations: Vec<OperationId>,
    pub counts: ImportCounts,
    pub undone_at: Option<Timestamp>,
    /// Who imported it; `None` if that is not one known caller.
    pub importer: Option<Importer>,
}

/// The caller who imported a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Importer {
    pub caller: CallerKind,
    pub credential: String,
}

macro_rules! import_columns {
    () => {
        "import_id, format, name, started_at, last_at, operations, counts, undone_at, \
         caller, credential"
    };
}

fn import(row: &Row) -> Result<ImportRecord> {
    let mut c = Columns::of(row, "import");
    Ok(ImportRecord {
        id: ImportId::from_uuid(c.take()?),
        format: c.take()?,
        name: c.take()?,
        started_at: c.take()?,
        last_at: c.take()?,
        operations: c.take::<Vec<Uuid>>()?.into_iter().map(OperationId::from_uuid).collect(),
        counts: c.json()?,
        undone_at: c.take()?,
        importer: importer(&mut c)?,
    })
}

fn importer(c: &mut Columns<'_>) -> Result<Option<Importer>> {
    let caller = c.maybe_word(CallerKind::parse)?;
    let credential: Option<String> = c.take()?;
    let known = caller.zip(credential);
    Ok(known.map(|(caller, credential)| Importer { caller, credential }))
}

pub async fn find(scope: &Scope, id: ImportId) -> Result<Option<ImportRecord>> {
    const SQL: &str =
        concat!("select ", import_columns!(), " from import where user_id = $1 and import_id = $2");
    one(&scope.query(SQL, &[&scope.user().uuid(), &id.uuid()]).await?, import)
}

/// The latest imports.
pub async fn list(scope: &Scope, limit: i64) -> Result<Vec<ImportRecord>> {
    const SQL: &str = concat!(
        "select ",
        import_columns!(),
        " from import where user_id = $1 order by started_at desc, import_id limit $2"
    );
    all(&scope.query(SQL, &[&scope.user().uuid(), &limit]).await?, import)
}

/// Stores the current state of an import.
pub fn put(batch: &mut Batch, scope: &Scope, import: &ImportRecord) {
    const SQL: &str = "insert into import (user_id, tenant_id, import_id, format, name, \
                       started_at, last_at, operations, counts, undone_at, caller, credential) \
                       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) \
                       on conflict (user_id, import_id) do update set last_at = $7, \
                       operations = $8, counts = $9, undone_at = $10, caller = $11, \
                       credential = $12";
    let operations: Vec<Uuid> = import.operations.iter().map(|id| id.uuid()).collect();
    batch.push_one(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(scope.tenant().uuid()),
            Box::new(import.id.uuid()),
            Box::new(import.format.clone()),
            Box::new(import.name.clone()),
            Box::new(import.started_at),
            Box::new(import.last_at),
            Box::new(operations),
            Box::new(serde_json::to_value(import.counts).unwrap_or_default()),
            Box::new(import.undone_at),
            Box::new(import.importer.as_ref().map(|importer| importer.caller.as_str())),
            Box::new(import.importer.as_ref().map(|importer| importer.credential.clone())),
        ],
    );
}

/// Those of these items that were imported before, and the fact each became.
pub async fn known(scope: &Scope, items: &[Uuid]) -> Result<Vec<(Uuid, Option<FactId>)>> {
    const SQL: &str = "select item_id, fact_id from import_item \
                        where user_id = $1 and item_id = any($2)";
    let params: [Param<'_>; 2] = [&scope.user().uuid(), &items];
    all(&scope.query(SQL, &params).await?, |row| {
        let mut c = Columns::of(row, "import_item");
        Ok((c.take()?, c.take::<Option<Uuid>>()?.map(FactId::from_uuid)))
    })
}

/// Records that an item was imported.
pub fn add_item(
    batch: &mut Batch,
    scope: &Scope,
    of: ImportId,
    item: Uuid,
    fact: Option<FactId>,
    session: Option<&str>,
) {
    const SQL: &str = "insert into import_item (user_id, tenant_id, item_id, import_id, fact_id, \
                       session_id) values ($1, $2, $3, $4, $5, $6) on conflict do nothing";
    batch.push(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(scope.tenant().uuid()),
            Box::new(item),
            Box::new(of.uuid()),
            Box::new(fact.map(FactId::uuid)),
            Box::new(session.map(str::to_owned)),
        ],
    );
}

/// How many memories of an import wait for the user.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportWaiting {
    /// Active memories that the user has not agreed to: found by search, but in no prompt.
    pub undecided: usize,
    /// Proposals, which are answered one by one.
    pub proposals: usize,
}

/// The facts that these imports brought, `$1` being the user and `$2` the imports. The operations
/// of an import of items also name the ends of its links, which another import may have brought; a
/// Lukasa export brings versions under the operations that wrote them.
macro_rules! brought_facts {
    () => {
        "select distinct i.import_id as brought_by, f.fact_id as brought \
           from import i join operation o on o.user_id = $1 and o.operation_id = any(i.operations) \
           cross join lateral unnest(o.facts) as f(fact_id) \
          where i.user_id = $1 and i.import_id = any($2) and i.undone_at is null \
            and (i.format = 'lukasa' or exists (select 1 from fact_version h \
                  where h.user_id = $1 and h.fact_id = f.fact_id \
                    and h.opened_by = any(i.operations)))"
    };
}

/// How many memories of each of these imports wait for the user at `now`. Imports without such
/// memories are left out.
pub async fn waiting(
    scope: &Scope,
    imports: &[ImportId],
    now: Timestamp,
) -> Result<BTreeMap<ImportId, ImportWaiting>> {
    const SQL: &str = concat!(
        "with brought_facts as (",
        brought_facts!(),
        ") select brought_by, \
             count(distinct v.fact_id) filter (where v.state = 'active' and v.origin = 'import' \
               and v.consented_at is null and v.valid_from <= $3 \
               and (v.valid_until is null or v.valid_until > $3)), \
             count(distinct v.fact_id) filter (where v.state = 'proposed') \
           from brought_facts join fact_version v on v.user_id = $1 and v.fact_id = brought \
            and v.known_until is null group by brought_by"
    );
    let ids: Vec<Uuid> = imports.iter().map(|id| id.uuid()).collect();
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &ids, &now];
    let counted = all(&scope.query(SQL, &params).await?, |row| {
        let mut c = Columns::of(row, "import");
        let id = ImportId::from_uuid(c.take()?);
        let mut count = || Ok::<_, Error>(usize::try_from(c.take::<i64>()?).unwrap_or(0));
        Ok((id, ImportWaiting { undecided: count()?, proposals: count()? }))
    })?;
    Ok(counted.into_iter().collect())
}

/// Up to `limit` current versions of the import's memories that wait for the user's decision at
/// `now`: all of them, or those of the given facts.
pub async fn undecided(
    scope: &Scope,
    of: ImportId,
    only: Option<&[FactId]>,
    now: Timestamp,
    limit: i64,
) -> Result<Vec<Version>> {
    // Materialized: as a subquery it was evaluated again for each memory, which took seconds for some
    // hundred of them.
    const SQL: &str = concat!(
        "with brought_facts as materialized (",
        brought_facts!(),
        ") select ",
        version_columns!(),
        " from fact_version where user_id = $1 and known_until is null and state = 'active' \
           and origin = 'import' and consented_at is null \
           and valid_from <= $3 and (valid_until is null or valid_until > $3) \
           and ($4::uuid[] is null or fact_id = any($4)) \
           and fact_id in (select brought from brought_facts) \
         order by known_from, version_id limit $5"
    );
    let only: Option<Vec<Uuid>> = only.map(|facts| facts.iter().map(|id| id.uuid()).collect());
    let imports = vec![of.uuid()];
    let params: [Param<'_>; 5] = [&scope.user().uuid(), &imports, &now, &only, &limit];
    all(&scope.query(SQL, &params).await?, version)
}

/// The sessions that an import created.
pub async fn sessions(scope: &Scope, of: ImportId) -> Result<Vec<String>> {
    const SQL: &str = "select session_id from import_item where user_id = $1 and import_id = $2 \
                          and session_id is not null order by session_id";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &of.uuid()]).await?;
    all(&rows, |row| Columns::of(row, "import_item").take())
}

/// Removes the item records of an import so that they can be imported again: those of facts without
/// a current version, and of these sessions. What was erased, or has changed since, must not be
/// imported again.
pub fn forget_items(batch: &mut Batch, scope: &Scope, of: ImportId, chats: &[String]) {
    const SQL: &str = "delete from import_item i where i.user_id = $1 and i.import_id = $2 \
                        and (i.session_id is null or i.session_id = any($3)) \
                        and (i.fact_id is null or not exists (select 1 from fact_version v \
                              where v.user_id = $1 and v.fact_id = i.fact_id \
                                and v.known_until is null)) \
                        and (i.fact_id is null or i.fact_id not in \
                              (select fact_id from tombstone where user_id = $1))";
    batch.push(
        SQL,
        vec![Box::new(scope.user().uuid()), Box::new(of.uuid()), Box::new(chats.to_vec())],
    );
}

/// Those of these ids that a version or a turn of the user has already. Passages are stored under
/// them, so an import must not use them for anything else.
pub async fn taken_ids(scope: &Scope, ids: &[Uuid]) -> Result<BTreeSet<Uuid>> {
    const SQL: &str = "select version_id from fact_version \
                        where user_id = $1 and version_id = any($2) \
                       union select turn_id from turn where user_id = $1 and turn_id = any($2)";
    let rows = scope.query(SQL, &[&scope.user().uuid(), &ids]).await?;
    let found = all(&rows, |row| Columns::of(row, "turn").take())?;
    Ok(found.into_iter().collect())
}
