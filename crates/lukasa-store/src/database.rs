//! Whole databases: create one, drop one that was created for a trial, digest the contents of one,
//! and remove the tables of one without users. All of it runs as the login role of the URL.

use std::time::Duration;

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

/// What is in a database that a backup is to be restored into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseContents {
    /// The tables of the schema `public`.
    pub tables: Vec<String>,
    /// Users, with those who were deleted; 0 without Lukasa's schema.
    pub users: i64,
    /// Keys, links and sign-ins.
    pub credentials: i64,
    /// Connections of other programs.
    pub connections: i64,
}

impl DatabaseContents {
    /// Whether it has Lukasa's schema.
    pub fn has_schema(&self) -> bool {
        ["refinery_schema_history", "users", "credential"]
            .iter()
            .all(|name| self.tables.iter().any(|table| table == name))
    }
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

/// Reads what is in a database.
pub async fn contents(connect: &ConnectOptions) -> Result<DatabaseContents> {
    const TABLES: &str = "select c.relname::text from pg_class c \
                          where c.relnamespace = 'public'::regnamespace \
                            and c.relkind in ('r', 'p') order by 1";
    const CONNECTIONS: &str = "select count(*) from pg_stat_activity \
                               where datname = current_database() and pid <> pg_backend_pid() \
                                 and backend_type = 'client backend'";
    let client = owner(connect).await?;
    let rows = client.query(TABLES, &[]).await?;
    let tables = rows.iter().map(|row| row.try_get(0)).collect::<Result<Vec<String>, _>>()?;
    let mut found = DatabaseContents { tables, users: 0, credentials: 0, connections: 0 };
    if found.has_schema() {
        (found.users, found.credentials) = count_owners(&client).await?;
    }
    // A connection that was closed just now is listed for a moment.
    for _ in 0..30 {
        found.connections = client.query_one(CONNECTIONS, &[]).await?.try_get(0)?;
        if found.connections == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(found)
}

/// The number of users and of credentials.
async fn count_owners(client: &Client) -> Result<(i64, i64)> {
    const SQL: &str =
        "select (select count(user_id) from users), (select count(*) from credential)";
    // Without the right to bypass row-level security this must fail instead of seeing fewer rows.
    client.batch_execute("set row_security = off").await?;
    let row = client.query_one(SQL, &[]).await?;
    Ok((row.try_get(0)?, row.try_get(1)?))
}

/// Removes the tables and functions of a database without users and credentials. Extensions stay.
pub async fn clear(connect: &ConnectOptions) -> Result<()> {
    const DROP: &str = "do $$
        declare
          found text;
        begin
          for found in
            select c.oid::regclass::text from pg_class c
            where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
          loop
            execute format('drop table if exists %s cascade', found);
          end loop;
          for found in
            select p.oid::regprocedure::text from pg_proc p
            where p.pronamespace = 'public'::regnamespace
              and not exists (
                select 1 from pg_depend d
                where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')
          loop
            execute format('drop routine if exists %s cascade', found);
          end loop;
        end $$";
    let client = owner(connect).await?;
    client.batch_execute("begin; lock table users, credential in access exclusive mode").await?;
    if count_owners(&client).await? != (0, 0) {
        let held = "the database holds users or keys; it was not changed";
        return Err(Error::Configuration(held.into()));
    }
    client.batch_execute(DROP).await?;
    Ok(client.batch_execute("commit").await?)
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
