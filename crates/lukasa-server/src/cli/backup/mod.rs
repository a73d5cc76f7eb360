//! `lukasa backup make | verify | restore`

mod restore;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use lukasa_engine::backup::{self, TableDigest};
use lukasa_engine::{ConnectOptions, cells};
use serde_json::{Value, json};
use tokio::process::Command;

use super::show::{BAD, DIM, GOOD, Table, count, paint};
use super::{AlreadyReported, DatabaseArgs, FormatArgs, say, say_json};
use crate::clock;
use crate::postgres::tool;
use crate::url::decoded;

/// Leaves the replication between cells out of a backup: it contains a password, and a scratch copy
/// must not follow the live directory. `lukasa cell reconnect` makes it again.
const NO_REPLICATION: [&str; 2] = ["--no-subscriptions", "--no-publications"];

#[derive(Debug, Subcommand)]
pub enum BackupCommand {
    /// Write the whole database into one file, with a manifest beside it.
    Make(MakeBackupArgs),
    /// Restore a backup into a scratch database and compare it with its manifest.
    Verify(VerifyBackupArgs),
    /// Restore a backup into an empty database, and remove again what was erased since.
    Restore(restore::RestoreBackupArgs),
}

impl BackupCommand {
    pub async fn run(self) -> anyhow::Result<()> {
        match self {
            BackupCommand::Make(command) => command.run().await,
            BackupCommand::Verify(command) => command.run().await,
            BackupCommand::Restore(command) => command.run().await,
        }
    }
}

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  lukasa backup make lukasa.backup
  lukasa backup verify lukasa.backup

The file is written by PostgreSQL's `pg_dump`, and `pg_restore` reads it without Lukasa. Beside it is
FILE.manifest.json: the number of rows of each table at that instant, and a digest of them. The login role
has to be a superuser, or be exempt from row-level security. Servers can keep running.")]
pub struct MakeBackupArgs {
    /// The file to write
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    format: FormatArgs,
}

impl MakeBackupArgs {
    async fn run(self) -> anyhow::Result<()> {
        let dump = tool("pg_dump", self.database.postgres_dir.as_deref())?;
        let opened = self.database.open(1).await?;
        let before = cells::placement(&opened.connect).await?;
        let (bytes, held) = self.write(&dump, &opened.connect).await?;
        let cells = self.write_cells(&dump, &opened.connect).await?;
        // A user who moves between two of the files could be in neither.
        if before.is_moving() || cells::placement(&opened.connect).await? != before {
            bail!("users were moved between cells meanwhile; make the backup again");
        }
        opened.close().await?;
        let rows: i64 = held.iter().map(|table| table.rows).sum();
        if !cells.is_empty() {
            let files: Vec<_> = cells.iter().map(|file| file.display().to_string()).collect();
            if !self.format.json {
                say(&format!("Further cells: {}", files.join(", ")))?;
            }
        }
        if self.format.json {
            return say_json(&json!({ "file": self.file, "manifest": manifest_file(&self.file),
                "bytes": bytes, "tables": held.len(), "rows": rows }));
        }
        say(&format!(
            "{}: {} tables, {rows} rows, {bytes} bytes",
            self.file.display(),
            held.len()
        ))?;
        let next = format!("Check it with: lukasa backup verify {}", self.file.display());
        say(&paint(DIM, &next))
    }

    /// Writes the further cells, each into a file of its own beside the first.
    async fn write_cells(
        &self,
        dump: &Path,
        connect: &ConnectOptions,
    ) -> anyhow::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for cell in cells::list(connect).await?.into_iter().skip(1) {
            let one = Self { file: cell_file(&self.file, &cell.name), ..self.clone() };
            one.write(dump, &cell.connect).await.with_context(|| format!("cell {}", cell.name))?;
            files.push(one.file);
        }
        Ok(files)
    }

    async fn write(
        &self,
        dump: &Path,
        connect: &ConnectOptions,
    ) -> anyhow::Result<(u64, Vec<TableDigest>)> {
        let snapshot = backup::snapshot(connect).await?;
        let folder = self.file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let part = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))
            .with_context(|| format!("cannot write {}", self.file.display()))?;
        let mut command = client_command(dump, connect);
        command.args(NO_REPLICATION);
        command.args(["--format=custom", "--snapshot", &snapshot.name, "--file"]).arg(part.path());
        let copied = run_to_end(command, "pg_dump");
        let counted = async { Ok::<_, anyhow::Error>(backup::table_digests(&snapshot).await?) };
        let ((), held) = tokio::try_join!(copied, counted)?;
        let tables: Vec<Value> = held
            .iter()
            .map(|t| json!({ "table": t.table, "rows": t.rows, "digest": t.digest }))
            .collect();
        let manifest = json!({ "lukasa": env!("CARGO_PKG_VERSION"),
            "made_at": clock::now().to_string(), "tables": tables });
        std::fs::write(manifest_file(&self.file), serde_json::to_string_pretty(&manifest)? + "\n")?;
        part.as_file().sync_all()?;
        part.persist(&self.file)
            .with_context(|| format!("cannot write {}", self.file.display()))?;
        Ok((std::fs::metadata(&self.file)?.len(), held))
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa backup verify lukasa.backup
  lukasa backup verify lukasa.backup --json

The backup is restored into a scratch database on the same server, compared with the manifest beside the
file (or, if there is none, with the live database), and the scratch database is removed. The live
database is only read. Exits with 1 if anything differs from the manifest.")]
pub struct VerifyBackupArgs {
    /// The backup file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    format: FormatArgs,
}

/// The comparison of one restored table with its expected rows.
struct TableComparison {
    table: String,
    restored: Option<i64>,
    expected: Option<i64>,
    same: bool,
}

impl VerifyBackupArgs {
    async fn run(self) -> anyhow::Result<()> {
        let restore = tool("pg_restore", self.database.postgres_dir.as_deref())?;
        check_exists(&self.file)?;
        let opened = self.database.open(1).await?;
        let scratch = backup::scratch(&opened.connect, &scratch_name("verify")).await?;
        let compared = self.compare(&restore, &opened.connect, &scratch).await;
        // The scratch database is removed even if the comparison failed.
        backup::remove_scratch(&scratch).await?;
        opened.close().await?;
        let (against, compared) = compared?;
        self.report(against, &compared)
    }

    async fn compare(
        &self,
        restore: &Path,
        live: &ConnectOptions,
        scratch: &ConnectOptions,
    ) -> anyhow::Result<(&'static str, Vec<TableComparison>)> {
        restore_into(restore, &self.file, scratch).await?;
        let restored = backup::table_digests(&backup::snapshot(scratch).await?).await?;
        let (against, expected) = match manifest(&self.file)? {
            Some(expected) => ("manifest", expected),
            None => ("live", backup::table_digests(&backup::snapshot(live).await?).await?),
        };
        Ok((against, compare_tables(&restored, &expected)))
    }

    fn report(&self, against: &str, compared: &[TableComparison]) -> anyhow::Result<()> {
        let differ = compared.iter().filter(|table| !table.same).count();
        // The live database may have changed since; only a manifest is of the same instant.
        let failed = differ > 0 && against == "manifest";
        if self.format.json {
            let tables: Vec<Value> = compared
                .iter()
                .map(|t| {
                    json!({ "table": t.table, "rows": t.restored, "expected": t.expected,
                        "same": t.same })
                })
                .collect();
            say_json(&json!({ "ok": !failed, "compared_with": against, "tables": tables }))?;
            return if failed { Err(AlreadyReported.into()) } else { Ok(()) };
        }
        let mut table = Table::new(&["table", "restored", "expected", ""], 0);
        let rows = |number: Option<i64>| number.map_or("-".to_owned(), |rows| rows.to_string());
        for one in compared {
            let mark = if one.same { paint(GOOD, "same") } else { paint(BAD, "DIFFERS") };
            table.row(vec![one.table.clone(), rows(one.restored), rows(one.expected), mark]);
        }
        say(&table.render())?;
        let tables = count(compared.len(), "table", "tables");
        match (differ, against) {
            (0, "live") => say(&format!("{tables} restored; all rows equal the live database.")),
            (0, _) => say(&format!("{tables} restored; all rows equal the manifest.")),
            (_, "live") => say(&format!(
                "{tables} restored; {differ} differ from the live database, which may have changed \
                 since. There is no manifest to compare with."
            )),
            _ => {
                say(&format!("{differ} of {tables} differ from the manifest."))?;
                Err(AlreadyReported.into())
            }
        }
    }
}

/// Compares the tables of a restored backup with the expected ones, by name.
fn compare_tables(restored: &[TableDigest], expected: &[TableDigest]) -> Vec<TableComparison> {
    let mut names: Vec<&String> = restored.iter().chain(expected).map(|t| &t.table).collect();
    names.sort();
    names.dedup();
    let of = |all: &[TableDigest], name: &str| all.iter().find(|held| held.table == name).cloned();
    let compare = |name: &String| {
        let (there, wanted) = (of(restored, name), of(expected, name));
        TableComparison {
            table: name.clone(),
            same: there == wanted,
            restored: there.map(|held| held.rows),
            expected: wanted.map(|held| held.rows),
        }
    };
    names.into_iter().map(compare).collect()
}

/// Runs `pg_restore` in one transaction: all of the backup is in the database afterwards, or nothing.
async fn restore_into(program: &Path, file: &Path, target: &ConnectOptions) -> anyhow::Result<()> {
    let mut command = client_command(program, target);
    command.args(NO_REPLICATION);
    command.args(["--single-transaction", "--no-owner"]).arg(file);
    run_to_end(command, "pg_restore").await.context("the backup cannot be restored")
}

/// A name for a database that is removed again.
fn scratch_name(purpose: &str) -> String {
    format!("lukasa_{purpose}_{:08x}", u32::from_be_bytes(clock::random()))
}

/// The file of a cell beside the file of main.
fn cell_file(file: &Path, cell: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".{cell}"));
    PathBuf::from(name)
}

fn check_exists(file: &Path) -> anyhow::Result<()> {
    if !file.exists() {
        bail!("there is no file {}\n  next: `lukasa backup make FILE` makes one", file.display());
    }
    Ok(())
}

fn manifest_file(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".manifest.json");
    PathBuf::from(name)
}

/// The tables of the manifest beside a backup; `None` if there is no manifest.
fn manifest(file: &Path) -> anyhow::Result<Option<Vec<TableDigest>>> {
    let path = manifest_file(file);
    if !path.exists() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&path)?;
    let unreadable = || format!("{} cannot be read", path.display());
    let value: Value = serde_json::from_str(&text).with_context(unreadable)?;
    let table = |value: &Value| {
        Some(TableDigest {
            table: value["table"].as_str()?.to_owned(),
            rows: value["rows"].as_i64()?,
            digest: value["digest"].as_str()?.to_owned(),
        })
    };
    let tables = value["tables"].as_array().with_context(unreadable)?;
    let all: Option<Vec<TableDigest>> = tables.iter().map(table).collect();
    all.with_context(unreadable).map(Some)
}

/// A command for a client program of PostgreSQL. The password is passed in the environment, because
/// all users of the machine can see the arguments of a command.
fn client_command(program: &Path, connect: &ConnectOptions) -> Command {
    let mut command = Command::new(program);
    let (url, password) = without_password(&connect.url);
    command.arg("--dbname").arg(url);
    if let Some(password) = password {
        command.env("PGPASSWORD", password);
    }
    if let Some(file) = &connect.ca_file {
        command.env("PGSSLROOTCERT", file);
    }
    command
}

async fn run_to_end(mut command: Command, name: &str) -> anyhow::Result<()> {
    let done = command.output().await.with_context(|| format!("could not run {name}"))?;
    if !done.status.success() {
        bail!("{name}: {}", String::from_utf8_lossy(&done.stderr).trim());
    }
    Ok(())
}

/// An address of a database without its password, and the password: of the authority and of the
/// parameters of a URL, and of the form `host=... password=...`. The last one counts, as for libpq.
fn without_password(url: &str) -> (String, Option<String>) {
    let Some((scheme, rest)) = url.split_once("://") else { return without_keyword(url) };
    let host_end = rest.find('/').unwrap_or(rest.len());
    let host = rest[..host_end].rfind('@').unwrap_or(0);
    let (user, rest) = rest.split_at(host);
    let (user, mut password) = match user.split_once(':') {
        Some((user, password)) => (user, Some(decoded(password))),
        None => (user, None),
    };
    let (rest, query) =
        rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
    let mut kept = Vec::new();
    for parameter in query.into_iter().flat_map(|query| query.split('&')) {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        match decoded(name) == "password" {
            true => password = Some(decoded(value)),
            false => kept.push(parameter),
        }
    }
    let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
    (format!("{scheme}://{user}{rest}{query}"), password)
}

/// The same for keywords and values. A value may be quoted, and a backslash escapes a character.
fn without_keyword(text: &str) -> (String, Option<String>) {
    let (mut kept, mut password) = (Vec::new(), None);
    let mut rest = text.trim_start();
    while let Some((name, behind)) = rest.split_once('=') {
        let behind = behind.trim_start();
        let is_quoted = behind.starts_with('\'');
        let (mut value, mut end, mut escaped) = (String::new(), behind.len(), false);
        for (at, c) in behind.char_indices().skip(usize::from(is_quoted)) {
            match c {
                _ if escaped => {
                    value.push(c);
                    escaped = false;
                }
                '\\' => escaped = true,
                '\'' if is_quoted => {
                    end = at + 1;
                    break;
                }
                c if !is_quoted && c.is_whitespace() => {
                    end = at;
                    break;
                }
                c => value.push(c),
            }
        }
        match name.trim() == "password" {
            true => password = Some(value),
            false => kept.push(format!("{}={}", name.trim(), &behind[..end])),
        }
        rest = behind[end..].trim_start();
    }
    match password {
        None => (text.to_owned(), None),
        password => (kept.join(" "), password),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn database_password_is_removed_from_the_command_line() {
        let split = |url: &str| without_password(url);
        let (url, password) = split("postgres://me:p%40ss@db.test:5432/q?sslmode=require");
        assert_eq!(url, "postgres://me@db.test:5432/q?sslmode=require");
        assert_eq!(password.as_deref(), Some("p@ss"));
        for url in
            ["postgres://me@h/q", "postgres://h/q", "host=h user=me", "postgres://h/q?a=b&c=d"]
        {
            assert_eq!(split(url), (url.to_owned(), None));
        }
        for (url, rest, password) in [
            (
                "postgres://me@h/q?password=p%40ss&sslmode=require",
                "postgres://me@h/q?sslmode=require",
                "p@ss",
            ),
            ("postgres://me:a?b@h/q", "postgres://me@h/q", "a?b"),
            ("postgres://h/q?password=two", "postgres://h/q", "two"),
            ("postgres://me:one@h/q?x=1&p%61ssword=two", "postgres://me@h/q?x=1", "two"),
            ("host=h user=me password=p", "host=h user=me", "p"),
            ("password = 'a b\\'c' host=h", "host=h", "a b'c"),
            ("host='my h' password=a\\ b user=me", "host='my h' user=me", "a b"),
            ("host=h password=", "host=h", ""),
        ] {
            assert_eq!(split(url), (rest.to_owned(), Some(password.to_owned())), "{url}");
        }
    }
}
