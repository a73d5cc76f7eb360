//! Fresh databases for tests: the schema is migrated once into a template, and each test gets a
//! copy that is checked and dropped when the test ends.

mod consistency;

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

pub use crate::migrate::LockWait;
/// The driver, for tests of other crates that bypass the store.
pub use tokio_postgres as postgres;
use tokio_postgres::{Client, NoTls};

use crate::{ConnectOptions, Migration, Result, Store};

/// A database for one test. When it is dropped, its rows must be consistent.
pub struct TestDatabase {
    name: String,
    server: String,
    is_unchecked: AtomicBool,
    are_jobs_checked: AtomicBool,
}

impl TestDatabase {
    pub async fn fresh() -> Self {
        let server = server_url();
        let admin = client(&server).await;
        let template = template(&server, &admin).await;
        let row = admin
            .query_one("select 'lukasa_t_' || replace(gen_random_uuid()::text, '-', '')", &[])
            .await
            .expect("database name is generated");
        let name: String = row.get(0);
        admin
            .batch_execute(&format!("create database {name} template {template}"))
            .await
            .expect("template is copied");
        let (is_unchecked, are_jobs_checked) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { name, server, is_unchecked, are_jobs_checked }
    }

    /// The URL of the database, as its owner.
    pub fn url(&self) -> String {
        with_database(&self.server, &self.name)
    }

    pub fn connect(&self) -> ConnectOptions {
        ConnectOptions { url: self.url(), pool_size: 8, ca_file: None }
    }

    pub fn store(&self) -> Store {
        Store::connect(&self.connect()).expect("a pool for the test database")
    }

    /// Every row of every table, one per line, as the database's owner sees it.
    pub async fn dump(&self) -> String {
        let admin = self.admin().await;
        let tables = "select tablename::text from pg_tables where schemaname = 'public'";
        let mut dump = String::new();
        for row in admin.query(tables, &[]).await.expect("tables") {
            let table: String = row.get(0);
            let sql = format!("select '{table} ' || replace(t::text, chr(10), ' ') from {table} t");
            for row in admin.query(&sql, &[]).await.expect("rows") {
                dump.push_str(row.get(0));
                dump.push('\n');
            }
        }
        dump
    }

    /// The rules between rows that do not hold, with some of the rows.
    pub async fn inconsistencies(&self) -> Vec<String> {
        consistency::violations(&self.admin().await, self.are_jobs_checked()).await
    }

    /// Leaves out the check at the end, for a test that writes rows no operation writes.
    pub fn leave_unchecked(&self) {
        self.is_unchecked.store(true, Ordering::Relaxed);
    }

    /// Checks at the end, too, that no job has failed for good and that none is running. Only for
    /// tests that wait for the workers they start.
    pub fn check_jobs(&self) {
        self.are_jobs_checked.store(true, Ordering::Relaxed);
    }

    /// Leaves out the check of jobs, for a test that ends with such a job. `reason` is not empty.
    pub fn leave_jobs(&self, reason: &str) {
        assert!(!reason.is_empty(), "a test that leaves jobs says why");
        self.are_jobs_checked.store(false, Ordering::Relaxed);
    }

    fn are_jobs_checked(&self) -> bool {
        self.are_jobs_checked.load(Ordering::Relaxed)
    }

    /// A connection that sees everything, for tests that bypass the store.
    pub async fn admin(&self) -> Client {
        client(&self.url()).await
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let (name, server, url) = (self.name.clone(), self.server.clone(), self.url());
        let is_checked = !self.is_unchecked.load(Ordering::Relaxed) && !std::thread::panicking();
        let are_jobs_checked = self.are_jobs_checked();
        // A separate thread, because the test's runtime may be shutting down.
        let dropped = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("runtime");
            runtime.block_on(async {
                let mut found = Vec::new();
                if is_checked
                    && let Ok((client, connection)) = tokio_postgres::connect(&url, NoTls).await
                {
                    tokio::spawn(connection);
                    found = consistency::violations(&client, are_jobs_checked).await;
                }
                let admin = client(&server).await;
                // A database that could not be dropped does no harm on a test server.
                let _ = admin
                    .batch_execute(&format!("drop database if exists {name} with (force)"))
                    .await;
                found
            })
        });
        let found = dropped.join().unwrap_or_default();
        assert!(
            found.is_empty(),
            "inconsistent rows at the end of the test:\n{}",
            found.join("\n")
        );
    }
}

/// Applies further migrations after those of this build, each with its file's name and its SQL.
pub async fn migrate_further(
    connect: &ConnectOptions,
    further: &[(&str, &str)],
    wait: LockWait,
) -> Result<Vec<Migration>> {
    crate::migrate::migrate_further(connect, further, wait).await
}

/// `DATABASE_URL`, or else the private server that `scripts/postgres` starts.
fn server_url() -> String {
    if let Ok(url) = std::env::var("DATABASE_URL") {
        return url;
    }
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/postgres");
    let output = Command::new(script)
        .arg("url")
        .output()
        .expect("scripts/postgres runs; or set DATABASE_URL to a PostgreSQL 18 with pgvector");
    assert!(
        output.status.success(),
        "scripts/postgres: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn with_database(url: &str, name: &str) -> String {
    let (rest, query) =
        url.split_once('?').map_or((url, None), |(rest, query)| (rest, Some(query)));
    let server = rest.rsplit_once('/').map_or(rest, |(server, _)| server);
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    format!("{server}/{name}{query}")
}

async fn client(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls)
        .await
        .expect("PostgreSQL answers; start one with scripts/postgres or set DATABASE_URL");
    tokio::spawn(connection);
    client
}

/// The template database for this schema version, created by the first test that needs it.
async fn template(server: &str, admin: &Client) -> String {
    let schema = crate::migrate::schema();
    let row = admin.query_one("select 'lukasa_schema_' || md5($1)", &[&schema]).await.expect("md5");
    let name: String = row.get(0);
    admin.batch_execute("select pg_advisory_lock(7210)").await.expect("lock");
    let there = admin
        .query_opt("select 1 from pg_database where datname = $1", &[&name])
        .await
        .expect("pg_database");
    if there.is_none() {
        let half = format!("{name}_half");
        admin
            .batch_execute(&format!("drop database if exists {half} with (force)"))
            .await
            .expect("drop");
        admin.batch_execute(&format!("create database {half}")).await.expect("create");
        let connect =
            ConnectOptions { url: with_database(server, &half), pool_size: 1, ca_file: None };
        crate::migrate(&connect).await.expect("migrations");
        // The migration's connection closes asynchronously; a rename requires that no connection is
        // left.
        admin
            .execute(
                "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1",
                &[&half],
            )
            .await
            .expect("connections to the template are closed");
        let rename = format!("alter database {half} rename to {name}");
        for _ in 0..100 {
            if admin.batch_execute(&rename).await.is_ok() {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
    admin.batch_execute("select pg_advisory_unlock(7210)").await.expect("unlock");
    name
}
