//! Drops the indexes and constraints of the record before a bulk load and restores the same ones
//! after it, and reports all sizes.
//!
//! Building an index over existing rows is a sort; maintaining it while rows arrive in random order
//! of users is millions of single insertions, many times slower above all for the temporal index.

use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use tokio_postgres::Client;

use crate::processes::connect;

const TABLES: [&str; 3] = ["fact_version", "operation", "fact"];

/// A constraint or index that can be dropped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    table: String,
    name: String,
    /// `p` primary key, `u` unique, `x` exclusion, `f` foreign key, `i` a plain index.
    kind: String,
    definition: String,
}

impl Part {
    fn drop(&self) -> String {
        match self.kind.as_str() {
            "i" => format!("drop index {}", self.name),
            _ => format!("alter table {} drop constraint {}", self.table, self.name),
        }
    }

    fn make(&self) -> String {
        match self.kind.as_str() {
            "i" => self.definition.clone(),
            _ => format!(
                "alter table {} add constraint {} {}",
                self.table, self.name, self.definition
            ),
        }
    }
}

/// How long a part took to build.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Built {
    pub name: String,
    pub seconds: f64,
}

async fn parts(admin: &Client) -> Result<Vec<Part>> {
    const SQL: &str = "select conrelid::regclass::text, conname::text, contype::text, \
               pg_get_constraintdef(oid) \
          from pg_constraint where contype in ('p', 'u', 'x', 'f') \
           and (conrelid::regclass::text = any($1) or confrelid::regclass::text = any($1)) \
        union all \
        select tablename::text, indexname::text, 'i', indexdef from pg_indexes \
         where schemaname = 'public' and tablename::text = any($1) \
           and not exists (select 1 from pg_constraint where conname = indexname) \
        order by 1, 2";
    let tables: Vec<&str> = TABLES.to_vec();
    let rows = admin.query(SQL, &[&tables]).await.context("the parts of the schema")?;
    let part = |row: &tokio_postgres::Row| Part {
        table: row.get(0),
        name: row.get(1),
        kind: row.get(2),
        definition: row.get(3),
    };
    Ok(rows.iter().map(part).collect())
}

/// Drops every index and constraint of the record; returns what to restore.
pub async fn take_apart(admin: &Client) -> Result<Vec<Part>> {
    let parts = parts(admin).await?;
    // A key cannot be dropped while another table still refers to it.
    let (foreign, own): (Vec<&Part>, Vec<&Part>) = parts.iter().partition(|p| p.kind == "f");
    for part in foreign.into_iter().chain(own) {
        admin.batch_execute(&part.drop()).await.with_context(|| format!("drop {}", part.name))?;
    }
    Ok(parts)
}

/// Builds everything again and checks that the schema is unchanged.
pub async fn put_together(url: &str, before: &[Part]) -> Result<Vec<Built>> {
    let own = |table: &str| -> Vec<&Part> {
        before.iter().filter(|p| p.kind != "f" && p.table == table).collect()
    };
    // Adding a constraint locks its table, so two connections work on two tables at a time.
    let (mut built, others) = tokio::try_join!(build(url, own(TABLES[0])), async {
        let mut built = build(url, own(TABLES[1])).await?;
        built.extend(build(url, own(TABLES[2])).await?);
        Ok(built)
    })?;
    built.extend(others);
    built.extend(build(url, before.iter().filter(|p| p.kind == "f").collect()).await?);
    let admin = connect(url).await?;
    ensure!(parts(&admin).await? == before, "the schema is not what it was before the load");
    Ok(built)
}

async fn build(url: &str, parts: Vec<&Part>) -> Result<Vec<Built>> {
    let admin = connect(url).await?;
    admin
        .batch_execute(
            "set maintenance_work_mem = '1GB'; set max_parallel_maintenance_workers = 1; \
             set synchronous_commit = off",
        )
        .await?;
    let mut built = Vec::new();
    for part in parts {
        let started = Instant::now();
        admin.batch_execute(&part.make()).await.with_context(|| format!("build {}", part.name))?;
        let seconds = started.elapsed().as_secs_f64();
        if seconds > 1.0 {
            eprintln!("  built {} in {seconds:.1} s", part.name);
        }
        built.push(Built { name: part.name.clone(), seconds });
    }
    Ok(built)
}

/// The size of a table's heap or of one index.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Size {
    pub table: String,
    /// The index, or `None` for the table itself.
    pub index: Option<String>,
    pub bytes: i64,
    pub bytes_per_fact: f64,
}

/// The sizes of every table and index of the record.
pub async fn sizes(admin: &Client) -> Result<Vec<Size>> {
    const SQL: &str = "with t as (select c.oid, c.relname from pg_class c \
                where c.relname in ('fact_version', 'operation', 'fact') and c.relkind = 'r'), \
             n as (select greatest(1, count(*)) as facts from fact) \
        select relname::text, null::text, pg_table_size(oid), pg_table_size(oid)::float8 / facts \
          from t, n \
        union all \
        select t.relname::text, i.indexrelid::regclass::text, pg_relation_size(i.indexrelid), \
               pg_relation_size(i.indexrelid)::float8 / facts \
          from t join pg_index i on i.indrelid = t.oid, n order by 1, 2 nulls first";
    let rows = admin.query(SQL, &[]).await.context("the sizes")?;
    let size = |row: &tokio_postgres::Row| Size {
        table: row.get(0),
        index: row.get(1),
        bytes: row.get(2),
        bytes_per_fact: row.get(3),
    };
    Ok(rows.iter().map(size).collect())
}
