//! `lukasa audit list | verify | export | prune`

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use lukasa_core::audit::{AuditEvent, AuditRecord, ChainFault, ChainPosition, print_hash};
use lukasa_core::placement::MAIN_CELL;
use lukasa_core::{TenantId, Timestamp, UserId};
use lukasa_engine::audit::{AuditFilter, prune, verify_records};
use lukasa_engine::cells;
use serde_json::json;

use super::{AlreadyReported, DatabaseArgs, FormatArgs, say, say_json};
use crate::clock;

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// List the records of a tenant, newest first.
    List(ListAuditArgs),
    /// Verify the chain of hashes of a tenant, or of an exported file.
    Verify(VerifyAuditArgs),
    /// Write the records of a tenant as JSON lines, oldest first.
    Export(ExportAuditArgs),
    /// Remove the oldest records of a tenant, as the owner of the database.
    Prune(PruneAuditArgs),
}

impl AuditCommand {
    pub async fn run(self) -> anyhow::Result<()> {
        match self {
            AuditCommand::List(command) => command.run().await,
            AuditCommand::Verify(command) => command.run().await,
            AuditCommand::Export(command) => command.run().await,
            AuditCommand::Prune(command) => command.run().await,
        }
    }
}

/// The log of one tenant.
#[derive(Debug, Args)]
struct AuditLogArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    /// The tenant, by name; `local` is that of a server without authentication
    #[arg(long, env = "LUKASA_TENANT", default_value = "local", value_name = "NAME")]
    tenant: String,
    /// The cell, in a deployment with several; each has a log of its own
    #[arg(long, default_value = MAIN_CELL, value_name = "NAME")]
    cell: String,
}

impl AuditLogArgs {
    fn tenant(&self) -> TenantId {
        TenantId::named(&self.tenant)
    }
}

#[derive(Debug, Args)]
pub struct ListAuditArgs {
    #[command(flatten)]
    log: AuditLogArgs,
    #[command(flatten)]
    format: FormatArgs,
    /// Only records of this event, such as key.create
    #[arg(long, value_name = "EVENT")]
    event: Option<String>,
    /// Only records from this time on, as 2026-11-18T00:00:00Z
    #[arg(long, value_name = "TIME")]
    since: Option<Timestamp>,
    /// Only records before this time
    #[arg(long, value_name = "TIME")]
    until: Option<Timestamp>,
    /// Only records about this user, by your own id
    #[arg(long, value_name = "NAME")]
    user: Option<String>,
    /// How many
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    limit: u16,
}

impl ListAuditArgs {
    async fn run(self) -> anyhow::Result<()> {
        if self.event.as_deref().is_some_and(|event| AuditEvent::parse(event).is_none()) {
            let known: Vec<&str> = AuditEvent::ALL.iter().map(|event| event.as_str()).collect();
            bail!("there is no such event\n  next: use one of {}", known.join(", "));
        }
        let opened = self.log.database.open(2).await?;
        let (engine, tenant) = (opened.engine()?, self.log.tenant());
        let user = self.user.as_deref().map(|name| UserId::named(tenant, name));
        let (event, since, until) = (self.event, self.since, self.until);
        let filter = AuditFilter { event, since, until, user };
        let (records, _) =
            engine.audit.list(tenant, &self.log.cell, &filter, None, self.limit.into()).await?;
        opened.close().await?;
        if self.format.json {
            return say_json(&json!({ "data": records }));
        }
        if records.is_empty() {
            return say("No records.");
        }
        let row = |record: &AuditRecord| {
            let AuditRecord { number, at, event, result, actor_kind, actor, .. } = record;
            let user = record.user_id.map(|user| user.to_string()).unwrap_or_default();
            let (subject, detail) = (&record.subject, &record.detail);
            format!(
                "{number:>6}  {at:.0}  {event:<16}  {result:<7}  {actor_kind} {actor}  {user}  \
                 {subject}  {detail}"
            )
        };
        records.iter().try_for_each(|record| say(&row(record)))
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa audit verify --tenant acme
  lukasa audit verify --tenant acme --expect 1200:3f0c...   also compare with an end noted before
  lukasa audit verify --file acme.jsonl                     offline, of an export

The owner of the database can replace a whole chain by another consistent one. Note the end that this prints
elsewhere, or keep exports, and compare.")]
pub struct VerifyAuditArgs {
    #[command(flatten)]
    log: AuditLogArgs,
    #[command(flatten)]
    format: FormatArgs,
    /// An export to verify instead of the database
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// A record noted before, as NUMBER:HASH; the chain must still contain it
    #[arg(long, value_name = "NUMBER:HASH")]
    expect: Option<String>,
}

impl VerifyAuditArgs {
    async fn run(self) -> anyhow::Result<()> {
        let expected = self.expect.as_deref().map(parse_position).transpose()?;
        let (records, mut fault, head, pruned) = match &self.file {
            Some(file) => {
                let (records, fault, head) = verify_records(read_records(file)?)?;
                (records, fault.map(|fault| fault.to_string()), head, ChainPosition::START)
            }
            None => self.verify_database().await?,
        };
        if let (None, Some(expected)) = (&fault, expected) {
            fault = self.expected_fault(expected, pruned).await?;
        }
        let (end, is_intact) = (print_position(head), fault.is_none());
        if self.format.json {
            say_json(&json!({ "ok": is_intact, "records": records, "end": end, "fault": fault }))?;
        } else if let Some(fault) = &fault {
            say(&format!("The audit log is not intact: {fault}."))?;
        } else {
            say(&format!("The audit log is intact: {records} records.\nEnd: {end}"))?;
        }
        if is_intact { Ok(()) } else { Err(AlreadyReported.into()) }
    }

    /// The number of verified records, the first fault, and the ends of the chain: the last record, and
    /// the last one that was removed by retention.
    async fn verify_database(
        &self,
    ) -> anyhow::Result<(u64, Option<String>, ChainPosition, ChainPosition)> {
        let opened = self.log.database.open(2).await?;
        let report = opened.engine()?.audit.verify(self.log.tenant(), &self.log.cell).await?;
        opened.close().await?;
        let fault = report.fault.map(|fault: ChainFault| fault.to_string());
        Ok((report.records, fault, report.ends.head, report.ends.pruned))
    }

    /// Why the log does not agree with a record that was noted before.
    async fn expected_fault(
        &self,
        expected: ChainPosition,
        pruned: ChainPosition,
    ) -> anyhow::Result<Option<String>> {
        let number = expected.number;
        if number < pruned.number {
            return Ok(Some(format!(
                "record {number} was removed by retention; verify the export that contains it"
            )));
        }
        let found = match number == pruned.number {
            true => Some(pruned.hash),
            false => self.hash_of(number).await?,
        };
        Ok(match found {
            Some(hash) if hash == expected.hash => None,
            Some(_) => Some(format!("record {number} has another hash than expected")),
            None => Some(format!("record {number} is missing")),
        })
    }

    /// The hash of a record, if the log contains it.
    async fn hash_of(&self, number: i64) -> anyhow::Result<Option<[u8; 32]>> {
        if let Some(file) = &self.file {
            for record in read_records(file)? {
                let record = record?;
                if record.number == number {
                    return Ok(Some(record.hash));
                }
            }
            return Ok(None);
        }
        let opened = self.log.database.open(2).await?;
        let (engine, tenant) = (opened.engine()?, self.log.tenant());
        let page = engine.audit.page(tenant, &self.log.cell, number - 1).await?;
        opened.close().await?;
        Ok(page.first().filter(|record| record.number == number).map(|record| record.hash))
    }
}

#[derive(Debug, Args)]
pub struct ExportAuditArgs {
    #[command(flatten)]
    log: AuditLogArgs,
    /// Where to write; standard output if absent
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Only records after this number, to continue an earlier export
    #[arg(long, default_value_t = 0, value_name = "NUMBER")]
    after: i64,
}

impl ExportAuditArgs {
    async fn run(self) -> anyhow::Result<()> {
        let opened = self.log.database.open(2).await?;
        let (engine, tenant) = (opened.engine()?, self.log.tenant());
        let mut to: Box<dyn Write> = match &self.file {
            Some(file) => {
                let created = File::create(file).with_context(|| file.display().to_string())?;
                Box::new(BufWriter::new(created))
            }
            None => Box::new(std::io::stdout().lock()),
        };
        let mut after = self.after;
        loop {
            let page = engine.audit.page(tenant, &self.log.cell, after).await?;
            let Some(last) = page.last() else { break };
            after = last.number;
            for record in &page {
                serde_json::to_writer(&mut to, record)?;
                to.write_all(b"\n")?;
            }
        }
        to.flush()?;
        drop(to);
        opened.close().await
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Export the records first: `lukasa audit export --file FILE`. The removal is recorded itself, and the chain
continues after the last removed record. It runs as the owner of the database; a server cannot do it.")]
pub struct PruneAuditArgs {
    #[command(flatten)]
    log: AuditLogArgs,
    #[command(flatten)]
    format: FormatArgs,
    /// Remove records from before this time, as 2026-11-18T00:00:00Z
    #[arg(long, value_name = "TIME")]
    before: Timestamp,
}

impl PruneAuditArgs {
    async fn run(self) -> anyhow::Result<()> {
        let opened = self.log.database.open(2).await?;
        let cells = cells::list(&opened.connect).await?;
        let cell = cells.iter().find(|cell| cell.name == self.log.cell);
        let cell = cell.with_context(|| format!("there is no cell called {}", self.log.cell))?;
        let removed = prune(&cell.connect, self.log.tenant(), self.before, clock::now()).await?;
        opened.close().await?;
        if self.format.json {
            return say_json(&json!({ "removed": removed }));
        }
        say(&format!("Removed {removed} records."))
    }
}

/// The records of an exported file.
fn read_records(
    file: &Path,
) -> anyhow::Result<impl Iterator<Item = anyhow::Result<AuditRecord>> + use<>> {
    let opened = File::open(file).with_context(|| file.display().to_string())?;
    let lines = BufReader::new(opened).lines().enumerate();
    Ok(lines.map(|(number, line)| {
        let line = line?;
        serde_json::from_str(&line).with_context(|| format!("line {}", number + 1))
    }))
}

fn print_position(at: ChainPosition) -> String {
    format!("{}:{}", at.number, print_hash(&at.hash))
}

fn parse_position(text: &str) -> anyhow::Result<ChainPosition> {
    let parsed = text.split_once(':').and_then(|(number, hash)| {
        let hash = lukasa_core::audit::parse_hash(hash)?;
        Some(ChainPosition { number: number.parse().ok()?, hash })
    });
    parsed.context("--expect has the form NUMBER:HASH, as `lukasa audit verify` prints it")
}
