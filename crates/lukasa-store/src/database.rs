//! Whole databases: create one, drop one that was created for a trial, and digest the contents of
//! one. All of it runs as the login role of the URL.

use tokio_postgres::Client;

use crate::ConnectOptions;
use crate::error::{Error, Result};
use crate::migrate::owner;

/// Row count of a table, and a digest of its rows that does not depend on their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDigest {
    pub table: String,
    pub rows: i64,
    pub digest: String,
}

/// An exported snapshot of a whole database, which another program can use too.
pub struct Snapshot {
    client: Client,
    pub name: String,
}

/// Creates the database of the URL if it does not exist; returns whether it was created.
pub async fn ensure(url: &str) -> Result<bool> {
    let (server, name) = maintenance_connect(url)?;
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
    let (server, name) = maintenance_connect(url)?;
    let client = owner(&server).await?;
    client
        .batch_execute(&format!("drop database if exists {} with (force)", quoted(&name)))
        .await?;
    Ok(())
}

/// The settings to connect to the same server's maintenance database, and the name of the URL's
/// database.
fn maintenance_connect(url: &str) -> Result<(ConnectOptions, String)> {
    let config: tokio_postgres::Config =
        url.parse().map_err(|e| Error::Configuration(format!("DATABASE_URL: {e}")))?;
    let name = config.get_dbname().unwrap_or("postgres").to_owned();
    let connect = ConnectOptions { url: renamed(url, "postgres"), pool_size: 1, ca_file: None };
    Ok((connect, name))
}

/// The same URL with another database name.
pub fn renamed(url: &str, name: &str) -> String {
    if !url.contains("://") {
        // In a key=value connection string the last `dbname` counts.
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

/// Opens a snapshot, which is valid until the returned value is dropped.
pub async fn snapshot(connect: &ConnectOptions) -> Result<Snapshot> {
    let client = owner(connect).await?;
    // Without the right to bypass row-level security this must fail instead of seeing fewer rows.
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
    /// Counts and digests every table. The digest is the sum of the row digests, so that rows need
    /// no order and no table has to fit into memory.
    pub async fn table_digests(&self) -> Result<Vec<TableDigest>> {
        let tables = "select c.relname::text from pg_class c \
                      join pg_namespace n on n.oid = c.relnamespace \
                      where c.relkind in ('r', 'p') and n.nspname = 'public' \
                        and not c.relispartition order by 1";
        let mut digests = Vec::new();
        for row in self.client.query(tables, &[]).await? {
            let table: String = row.try_get(0)?;
            let sql = format!(
                "select count(*), coalesce(sum(('x' || left(h, 16))::bit(64)::bigint::numeric), 0)::text \
                   || '.' || coalesce(sum(('x' || right(h, 16))::bit(64)::bigint::numeric), 0)::text \
                 from (select md5(t::text) as h from {} t) each_row",
                quoted(&table)
            );
            let counted = self.client.query_one(&sql, &[]).await?;
            digests.push(TableDigest {
                table,
                rows: counted.try_get(0)?,
                digest: counted.try_get(1)?,
            });
        }
        Ok(digests)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn database_name_in_url_is_replaced() {
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
