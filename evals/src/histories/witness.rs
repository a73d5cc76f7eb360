//! The contents of the tables, read without the engine.

use std::collections::{BTreeSet, HashMap};

use anyhow::{Context, Result};
use futures_util::try_join;
use lukasa_core::{
    Category, Claim, FactId, Force, Kind, LinkId, MemoryType, OperationId, Origin, Project, State,
    Tier, Timestamp,
};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Row as SqlRow, Statement};
use uuid::Uuid;

use super::fixture::{Bound, TestUsers};
use super::model::{Past, Row, Span, Tie};
use super::step::{FOREVER, No, UNKNOWN};

/// The columns of a version except its own id, in the order of the reader and of mutants that copy
/// a row.
pub const COLUMNS: &str = "user_id, tenant_id, fact_id, number, content, summary, detail, \
    category, type, kind, force, domain, key, value, tags, importance, evidence, reasoning, project, \
    unmentioned, \
    state, tier, origin, extracted, confidence, session, turns, confirmed_at, last_confirmed_at, \
    consented_at, valid_from, valid_until, known_from, known_until, opened_by, closed_by, \
    reopens, fingerprint";

/// A version as stored in its table.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredVersion {
    pub user: usize,
    pub tenant: Uuid,
    pub version: Uuid,
    pub fact: Uuid,
    pub opened_by: Uuid,
    pub closed_by: Option<Uuid>,
    pub reopens: Option<Uuid>,
    pub fingerprint: Uuid,
    /// The same in the model's terms.
    pub row: Row,
}

#[derive(Debug, Clone, PartialEq)]
pub struct StoredLink {
    pub user: usize,
    pub id: Uuid,
    pub from: Uuid,
    pub to: Uuid,
    pub tie: Tie,
}

#[derive(Debug, Clone, PartialEq)]
pub struct StoredOperation {
    pub user: usize,
    pub id: Uuid,
    pub no: No,
    pub at: i64,
    pub verb: String,
    pub extracted: bool,
    pub facts: BTreeSet<Uuid>,
    pub undoes: Option<Uuid>,
}

/// One reading of all the tables, for the users of one history.
#[derive(Debug, Default)]
pub struct Snapshot {
    pub versions: Vec<StoredVersion>,
    pub ties: Vec<StoredLink>,
    pub operations: Vec<StoredOperation>,
    pub facts: BTreeSet<(usize, Uuid)>,
    pub tombstones: BTreeSet<(usize, Uuid)>,
}

impl Snapshot {
    pub fn operation(&self, id: Uuid) -> Option<&StoredOperation> {
        self.operations.iter().find(|operation| operation.id == id)
    }

    /// The last instant of each user's known axis.
    pub fn last_at(&self) -> HashMap<usize, i64> {
        let mut last = HashMap::new();
        for operation in &self.operations {
            let at = last.entry(operation.user).or_insert(operation.at);
            *at = operation.at.max(*at);
        }
        last
    }
}

/// The statements, prepared once for a connection.
pub struct TableReader {
    versions: Statement,
    ties: Statement,
    operations: Statement,
    facts: Statement,
    tombstones: Statement,
    amount: Statement,
}

impl TableReader {
    pub async fn prepare(admin: &Client) -> Result<Self> {
        let versions = format!(
            "select {COLUMNS}, version_id from fact_version where user_id = any($1) \
              order by user_id, known_from, valid_from, version_id"
        );
        Ok(Self {
            versions: admin.prepare(&versions).await?,
            ties: admin
                .prepare(
                    "select user_id, link_id, from_fact, to_fact, relation, known_from, \
                     known_until, opened_by, closed_by from link where user_id = any($1) \
                      order by user_id, known_from, link_id",
                )
                .await?,
            operations: admin
                .prepare(
                    "select user_id, operation_id, recorded_at, verb, extracted, facts, undoes \
                       from operation where user_id = any($1) order by user_id, recorded_at",
                )
                .await?,
            facts: admin
                .prepare("select user_id, fact_id from fact where user_id = any($1)")
                .await?,
            tombstones: admin
                .prepare("select user_id, fact_id from tombstone where user_id = any($1)")
                .await?,
            amount: admin
                .prepare(
                    "select (select count(*) from operation where user_id = $1) \
                          , (select count(*) from fact_version where user_id = $1) \
                          , (select count(known_until) from fact_version where user_id = $1) \
                          , (select count(*) from link where user_id = $1) \
                          , (select count(known_until) from link where user_id = $1) \
                          , (select count(*) from tombstone where user_id = $1)",
                )
                .await?,
        })
    }

    pub async fn look(
        &self,
        admin: &Client,
        test_users: &TestUsers,
        bound: &Bound,
    ) -> Result<Snapshot> {
        let users = test_users.users();
        let of: [&(dyn ToSql + Sync); 1] = [&users];
        let (versions, ties, operations, facts, tombstones) = try_join!(
            admin.query(&self.versions, &of),
            admin.query(&self.ties, &of),
            admin.query(&self.operations, &of),
            admin.query(&self.facts, &of),
            admin.query(&self.tombstones, &of),
        )
        .context("reading the tables")?;
        let reader = Reader { test_users, bound };
        let pair = |row: &SqlRow| Ok((reader.user(row.try_get(0)?)?, row.try_get(1)?));
        Ok(Snapshot {
            versions: versions.iter().map(|row| reader.stored(row)).collect::<Result<_>>()?,
            ties: ties.iter().map(|row| reader.tie(row)).collect::<Result<_>>()?,
            operations: operations
                .iter()
                .map(|row| reader.operation(row))
                .collect::<Result<_>>()?,
            facts: facts.iter().map(pair).collect::<Result<_>>()?,
            tombstones: tombstones.iter().map(pair).collect::<Result<_>>()?,
        })
    }

    /// Row counts of a user that any write would change.
    pub async fn amount(&self, admin: &Client, user: Uuid) -> Result<Vec<i64>> {
        let row = admin.query_one(&self.amount, &[&user]).await.context("counting rows")?;
        Ok((0..6).map(|i| row.try_get(i)).collect::<Result<_, _>>()?)
    }
}

struct Reader<'a> {
    test_users: &'a TestUsers,
    bound: &'a Bound,
}

impl Reader<'_> {
    fn user(&self, id: Uuid) -> Result<usize> {
        self.test_users.position(id).context("a row of a stranger")
    }

    fn fact(&self, id: Uuid) -> No {
        self.bound.facts.number(FactId::from_uuid(id)).unwrap_or(UNKNOWN)
    }

    fn op(&self, id: Uuid) -> No {
        self.bound.operations.number(OperationId::from_uuid(id)).unwrap_or(UNKNOWN)
    }

    fn stored(&self, row: &SqlRow) -> Result<StoredVersion> {
        let mut next = -1_isize;
        let mut at = || {
            next += 1;
            next.unsigned_abs()
        };
        let user = self.user(row.try_get(at())?)?;
        let tenant = row.try_get(at())?;
        let fact: Uuid = row.try_get(at())?;
        let number = row.try_get(at())?;
        let claim = Claim {
            content: row.try_get(at())?,
            summary: row.try_get(at())?,
            detail: row.try_get(at())?,
            category: word(row, at(), Category::parse)?,
            memory_type: word(row, at(), MemoryType::parse)?,
            kind: word(row, at(), Kind::parse)?,
            force: word(row, at(), Force::parse)?,
            domain: row.try_get(at())?,
            key: row.try_get(at())?,
            value: row.try_get(at())?,
            tags: row.try_get(at())?,
            importance: row.try_get(at())?,
            evidence: serde_json::from_value(row.try_get(at())?)?,
            reasoning: row.try_get(at())?,
            project: row.try_get::<_, Option<&str>>(at())?.and_then(Project::parse),
            unmentioned: row.try_get(at())?,
        };
        let state = word(row, at(), State::parse)?;
        let tier = word(row, at(), Tier::parse)?;
        let origin = word(row, at(), Origin::parse)?;
        let extracted = row.try_get(at())?;
        let confidence = row.try_get(at())?;
        let session = row.try_get(at())?;
        let _turns: Vec<String> = row.try_get(at())?;
        let confirmed = micros(row, at())?;
        let last_confirmed = micros(row, at())?;
        let consented = micros(row, at())?;
        let valid = span(row, at(), at())?;
        let known = span(row, at(), at())?;
        let opened_by: Uuid = row.try_get(at())?;
        let closed_by: Option<Uuid> = row.try_get(at())?;
        Ok(StoredVersion {
            user,
            tenant,
            version: row.try_get("version_id")?,
            fact,
            opened_by,
            closed_by,
            reopens: row.try_get(at())?,
            fingerprint: row.try_get(at())?,
            row: Row {
                fact: self.fact(fact),
                number,
                claim,
                state,
                tier,
                origin,
                extracted,
                confidence,
                session,
                confirmed,
                last_confirmed,
                consented,
                valid,
                known,
                opened_by: self.op(opened_by),
                closed_by: closed_by.map(|id| self.op(id)),
                past: Past::default(),
            },
        })
    }

    fn tie(&self, row: &SqlRow) -> Result<StoredLink> {
        let (id, from, to): (Uuid, Uuid, Uuid) =
            (row.try_get(1)?, row.try_get(2)?, row.try_get(3)?);
        let closed_by: Option<Uuid> = row.try_get(8)?;
        let no = self.bound.links.number(LinkId::from_uuid(id)).unwrap_or(UNKNOWN);
        let tie = Tie {
            no,
            root: no,
            from: self.fact(from),
            to: self.fact(to),
            relation: row.try_get(4)?,
            known: span(row, 5, 6)?,
            opened_by: self.op(row.try_get(7)?),
            closed_by: closed_by.map(|id| self.op(id)),
        };
        Ok(StoredLink { user: self.user(row.try_get(0)?)?, id, from, to, tie })
    }

    fn operation(&self, row: &SqlRow) -> Result<StoredOperation> {
        let id: Uuid = row.try_get(1)?;
        Ok(StoredOperation {
            user: self.user(row.try_get(0)?)?,
            id,
            no: self.op(id),
            at: micros(row, 2)?.context("recorded_at")?,
            verb: row.try_get(3)?,
            extracted: row.try_get(4)?,
            facts: row.try_get::<_, Vec<Uuid>>(5)?.into_iter().collect(),
            undoes: row.try_get(6)?,
        })
    }
}

fn micros(row: &SqlRow, column: usize) -> Result<Option<i64>> {
    let at: Option<Timestamp> = row.try_get(column)?;
    Ok(at.map(Timestamp::as_microsecond))
}

fn span(row: &SqlRow, from: usize, until: usize) -> Result<Span> {
    let from = micros(row, from)?.context("a span without a beginning")?;
    Ok(Span { from, until: micros(row, until)?.unwrap_or(FOREVER) })
}

fn word<T>(row: &SqlRow, column: usize, parse: impl Fn(&str) -> Option<T>) -> Result<T> {
    let text: &str = row.try_get(column)?;
    parse(text).with_context(|| format!("unknown word {text:?}"))
}
