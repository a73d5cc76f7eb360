//! Compiled portraits, and the facts they are compiled from. A portrait is a cache: its row is
//! deleted with any fact it cites, and never updated.

use lukasa_core::sentence::Sentence;
use lukasa_core::{FactId, Timestamp, Version};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::error::{Error, Result};
use crate::fact::{version, version_columns};
use crate::row::{Columns, all};
use crate::scope::{Batch, Param, Scope};

/// A compiled portrait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPortrait {
    pub name: String,
    pub inputs_hash: String,
    pub sentences: Vec<Sentence>,
    pub facts: Vec<FactId>,
    pub domains: Vec<String>,
    /// The model that phrased it, or `template`.
    pub made_by: String,
    pub compiled_at: Timestamp,
    pub tokens: i32,
}

macro_rules! portrait_columns {
    () => {
        "name, inputs_hash, sentences, facts, domains, made_by, compiled_at, tokens"
    };
}

fn stored(row: &Row) -> Result<StoredPortrait> {
    let mut c = Columns::of(row, "portrait");
    Ok(StoredPortrait {
        name: c.take()?,
        inputs_hash: c.take()?,
        sentences: c.json()?,
        facts: c.take::<Vec<Uuid>>()?.into_iter().map(FactId::from_uuid).collect(),
        domains: c.take()?,
        made_by: c.take()?,
        compiled_at: c.take()?,
        tokens: c.take()?,
    })
}

/// Up to `limit` active facts that belong to no project, most important first.
pub async fn material(scope: &Scope, now: Timestamp, limit: i64) -> Result<Vec<Version>> {
    const SQL: &str = concat!(
        "select ",
        version_columns!(),
        " from fact_version where user_id = $1 and known_until is null and state = 'active' \
           and project is null and valid_from <= $2 and (valid_until is null or valid_until > $2) \
          order by force, importance desc, known_from desc, version_id limit $3"
    );
    let params: [Param<'_>; 3] = [&scope.user().uuid(), &now, &limit];
    all(&scope.query(SQL, &params).await?, version)
}

/// Every stored portrait of the scope's own user.
pub async fn list(scope: &Scope) -> Result<Vec<StoredPortrait>> {
    const SQL: &str =
        concat!("select ", portrait_columns!(), " from portrait where user_id = $1 order by name");
    all(&scope.query(SQL, &[&scope.user().uuid()]).await?, stored)
}

/// Stores a portrait, replacing the one of the same name.
pub fn keep(batch: &mut Batch, scope: &Scope, new: &StoredPortrait) -> Result<()> {
    const SQL: &str = concat!(
        "insert into portrait (user_id, tenant_id, ",
        portrait_columns!(),
        ") values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
    );
    remove(batch, scope, &new.name);
    let sentences = serde_json::to_value(&new.sentences)
        .map_err(|e| Error::Corrupt { table: "portrait", what: e.to_string() })?;
    batch.push_one(
        SQL,
        vec![
            Box::new(scope.user().uuid()),
            Box::new(scope.tenant().uuid()),
            Box::new(new.name.clone()),
            Box::new(new.inputs_hash.clone()),
            Box::new(sentences),
            Box::new(new.facts.iter().map(|fact| fact.uuid()).collect::<Vec<Uuid>>()),
            Box::new(new.domains.clone()),
            Box::new(new.made_by.clone()),
            Box::new(new.compiled_at),
            Box::new(new.tokens),
        ],
    );
    Ok(())
}

/// Removes the portrait with this name.
pub fn remove(batch: &mut Batch, scope: &Scope, name: &str) {
    const SQL: &str = "delete from portrait where user_id = $1 and name = $2";
    batch.push(SQL, vec![Box::new(scope.user().uuid()), Box::new(name.to_owned())]);
}

/// Removes every portrait that cites one of these facts.
pub fn remove_citing(batch: &mut Batch, scope: &Scope, facts: &[FactId]) {
    const SQL: &str = "delete from portrait where user_id = $1 and facts && $2";
    if !facts.is_empty() {
        let facts: Vec<Uuid> = facts.iter().map(|fact| fact.uuid()).collect();
        batch.push(SQL, vec![Box::new(scope.user().uuid()), Box::new(facts)]);
    }
}

/// How many portraits cite one of these facts.
pub async fn count_citing(scope: &Scope, facts: &[FactId]) -> Result<usize> {
    const SQL: &str = "select 1 from portrait where user_id = $1 and facts && $2";
    if facts.is_empty() {
        return Ok(0);
    }
    let facts: Vec<Uuid> = facts.iter().map(|fact| fact.uuid()).collect();
    Ok(scope.query(SQL, &[&scope.user().uuid(), &facts]).await?.len())
}
