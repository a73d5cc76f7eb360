//! Databases as such: making one, dropping one that was made to try something out, and saying in a few
//! numbers what one holds. All of it runs as the login role of the URL.

use tokio_postgres::Client;

use crate::Connect;
use crate::error::{Error, Result};
use crate::migrate::owner;

/// What a table holds: how many rows, and a digest that does not depend on their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    pub table: String,
    pub rows: i64,
    pub digest: String,
}

/// A view of a whole database at one instant, which another program can be given too.
pub struct Snapshot {
    client: Client,
    pub name: String,
}

/// Makes the database of the URL if it is not there; whether it had to.
pub async fn ensure(url: &str) -> Result<bool> {
    let (server, name) = beside(url)?;
    let client = owner(&server).await?;
    let there = client.query("select 1 from pg_database where datname = $1", &[&name]).await?;
    if !there.is_empty() {
        return Ok(false);
    }
    client.batch_execute(&format!("create database {}", quoted(&name))).await?;
    Ok(true)
}

/// Drops the database of the URL.
pub async fn remove(url: &str) -> Result<()> {
    let (server, name) = beside(url)?;
    let client = owner(&server).await?;
    client
        .batch_execute(&format!("drop database if exists {} with (force)", quoted(&name)))
        .await?;
    Ok(())
}

/// How to reach the same server without naming that database, and the database's name.
fn beside(url: &str) -> Result<(Connect, String)> {
    let config: tokio_postgres::Config =
        url.parse().map_err(|e| Error::Configuration(format!("DATABASE_URL: {e}")))?;
    let name = config.get_dbname().unwrap_or("postgres").to_owned();
    let connect = Connect { url: renamed(url, "postgres"), pool_size: 1, ca_file: None };
    Ok((connect, name))
}

/// The same URL, naming another database.
pub fn renamed(url: &str, name: &str) -> String {
    if !url.contains("://") {
        // In the form of words with equals signs the last one counts.
        return format!("{url} dbname={name}");
    }
    let (rest, query) =
        url.split_once('?').map_or((url, None), |(rest, query)| (rest, Some(query)));
    let from = rest.find("://").map_or(0, |at| at + 3);
    let server = rest[from..].find('/').map_or(rest, |slash| &rest[..from + slash]);
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    format!("{server}/{name}{query}")
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Holds a database still for as long as the answer is kept.
pub async fn snapshot(connect: &Connect) -> Result<Snapshot> {
    let client = owner(connect).await?;
    // Without the right to see past row-level security this is to fail, not to see less.
    client
        .batch_execute(
            "set row_security = off; set timezone = 'UTC'; set datestyle = 'ISO'; \
             set extra_float_digits = 3; set bytea_output = 'hex'; set intervalstyle = 'iso_8601'; \
             begin transaction isolation level repeatable read read only",
        )
        .await?;
    let name = client.query_one("select pg_export_snapshot()", &[]).await?.try_get(0)?;
    Ok(Snapshot { client, name })
}

impl Snapshot {
    /// Every table of the record, counted and digested: the sum of each row's own digest, so that no
    /// order has to be agreed upon and no table has to fit into memory.
    pub async fn held(&self) -> Result<Vec<Held>> {
        let tables = "select c.relname::text from pg_class c \
                      join pg_namespace n on n.oid = c.relnamespace \
                      where c.relkind in ('r', 'p') and n.nspname = 'public' \
                        and not c.relispartition order by 1";
        let mut held = Vec::new();
        for row in self.client.query(tables, &[]).await? {
            let table: String = row.try_get(0)?;
            let sql = format!(
                "select count(*), coalesce(sum(('x' || left(h, 16))::bit(64)::bigint::numeric), 0)::text \
                   || '.' || coalesce(sum(('x' || right(h, 16))::bit(64)::bigint::numeric), 0)::text \
                 from (select md5(t::text) as h from {} t) each_row",
                quoted(&table)
            );
            let counted = self.client.query_one(&sql, &[]).await?;
            held.push(Held { table, rows: counted.try_get(0)?, digest: counted.try_get(1)? });
        }
        Ok(held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_database_of_the_same_server() {
        let of = |url: &str| renamed(url, "b");
        assert_eq!(
            of("postgres://u:p@h:1/a?sslmode=require"),
            "postgres://u:p@h:1/b?sslmode=require"
        );
        assert_eq!(of("postgres://u@%2Frun%2Fx/a"), "postgres://u@%2Frun%2Fx/b");
        assert_eq!(of("postgres://h"), "postgres://h/b");
        assert_eq!(of("host=h dbname=a"), "host=h dbname=a dbname=b");
    }
}
