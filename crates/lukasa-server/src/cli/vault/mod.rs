//! `lukasa vault export | status | sync`

mod folder;

use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, Subcommand};
use lukasa_core::vault::{File, encode, read};
use serde_json::{Value, json};

use super::client::ServerArgs;
use super::{FormatArgs, say, say_json};
use folder::Folder;

#[derive(Debug, Subcommand)]
pub enum VaultSubcommand {
    /// Write all of a user's memory into a folder, as markdown files.
    Export(VaultExportArgs),
    /// Show what a sync would do.
    Status(VaultStatusArgs),
    /// Apply the edits of the folder to the memory, and write new memories into the folder.
    Sync(VaultSyncArgs),
}

impl VaultSubcommand {
    pub async fn run(self) -> anyhow::Result<()> {
        match self {
            VaultSubcommand::Export(command) => command.run().await,
            VaultSubcommand::Status(command) => command.run().await,
            VaultSubcommand::Sync(command) => command.run().await,
        }
    }
}

/// A sync with conflicts (exit code 5) or problems (exit code 1), which were already printed.
#[derive(Debug)]
pub struct IncompleteSync {
    pub code: u8,
}

impl std::fmt::Display for IncompleteSync {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("not everything could be synced")
    }
}

impl std::error::Error for IncompleteSync {}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa vault export ~/Notes/memory
  lukasa vault export ~/Notes/memory --user alice --url https://lukasa.example
  lukasa vault export ~/Notes/memory --conversations

The folder can be opened in any editor and stored in git. Edit, delete or add lines; then
`lukasa vault sync ~/Notes/memory` applies the changes.")]
pub struct VaultExportArgs {
    /// The folder; created if it does not exist
    dir: PathBuf,
    /// Overwrite an existing vault and discard the edits in it
    #[arg(long)]
    force: bool,
    /// Also write the latest conversations, up to 16 MiB; they are read-only and not synced
    #[arg(long)]
    conversations: bool,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    format: FormatArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa vault status ~/Notes/memory

Exit code 5 if something was edited both in the folder and in the memory.")]
pub struct VaultStatusArgs {
    /// The folder of the vault
    dir: PathBuf,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    format: FormatArgs,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa vault sync ~/Notes/memory
  lukasa vault sync ~/Notes/memory --dry-run

A changed line changes its memory, a deleted line forgets it, a new line adds one, and a line moved to
another file changes its domain. A sync is one operation and can be undone. Into an empty memory
everything is restored as it was; from a vault of another server only with --trust, otherwise as an
import. Memories that were edited in both places are shown and not changed; the exit code is then 5.")]
pub struct VaultSyncArgs {
    /// The folder of the vault
    dir: PathBuf,
    /// Only show what would be done
    #[arg(long)]
    dry_run: bool,
    /// Sync even if most of the lines were deleted
    #[arg(long)]
    yes: bool,
    /// Trust a vault that this server did not write: keep the origins and consents it names
    #[arg(long)]
    trust: bool,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    format: FormatArgs,
}

impl VaultExportArgs {
    async fn run(self) -> anyhow::Result<()> {
        let folder = Folder::at(&self.dir);
        let mut there = folder.read()?;
        if !there.is_empty() && !self.force {
            let dir = self.dir.display();
            bail!(
                "there is a vault in {dir} already\n  next: `lukasa vault sync {dir}`, or --force to \
                 overwrite it"
            );
        }
        let mut path = "/api/vault";
        if self.conversations {
            path = "/api/vault?conversations=true";
            there.extend(folder.read_conversations()?);
        }
        let answer = self.server.get(path).await?;
        let written = folder.write(&there, &files(&answer)?)?;
        if self.format.json {
            return say_json(&json!({ "written": written, "sha256": answer["sha256"] }));
        }
        say(&format!("{}: {}", self.dir.display(), files_in_words(written.len())))
    }
}

impl VaultStatusArgs {
    async fn run(self) -> anyhow::Result<()> {
        let there = Folder::at(&self.dir).read()?;
        let plan = self.server.post("/api/vault/plan", &body(&there)).await?;
        report(&plan, self.format.json, "would be")
    }
}

impl VaultSyncArgs {
    async fn run(self) -> anyhow::Result<()> {
        let folder = Folder::at(&self.dir);
        let there = folder.read()?;
        if self.dry_run {
            let plan = self.server.post("/api/vault/plan", &body(&there)).await?;
            return report(&plan, self.format.json, "would be");
        }
        if !self.yes {
            check_gone(&there)?;
        }
        let mut body = body(&there);
        if self.trust {
            body["trust"] = json!(true);
        }
        let mut answer = self.server.post("/api/vault", &body).await?;
        let files = files(&answer)?;
        if folder.read()? != there {
            bail!(
                "the files were edited during the sync and were not overwritten\n  next: sync again"
            );
        }
        let written = folder.write(&there, &files)?;
        if let Some(answer) = answer.as_object_mut() {
            answer.remove("files");
            answer.insert("written".to_owned(), json!(written));
        }
        let imported = number(&answer, "restores") > 0 && answer["base_signed"] == json!(false);
        if imported && !self.trust && !self.format.json {
            say("this server did not write the vault: its memories were restored as an import")?;
        }
        report(&answer, self.format.json, "was")
    }
}

/// Fails if most lines were deleted: a folder emptied by accident must not empty the memory.
fn check_gone(there: &[File]) -> anyhow::Result<()> {
    let read = read(there);
    let lines: Vec<_> =
        read.base.memories.iter().filter(|b| b.file.is_some()).map(|b| b.memory.fact).collect();
    let here = |fact| read.entries.iter().any(|entry| entry.fact == Some(fact));
    let gone = lines.iter().filter(|fact| !here(**fact)).count();
    if gone > 10 && gone * 2 > lines.len() {
        bail!(
            "{gone} of {} lines are gone from the folder\n  next: restore them, or pass --yes to \
             forget them",
            lines.len()
        );
    }
    Ok(())
}

fn body(files: &[File]) -> Value {
    let synced = files.iter().filter(|file| !file.path.starts_with("episodes/"));
    json!({ "files": synced.collect::<Vec<_>>() })
}

fn files(answer: &Value) -> anyhow::Result<Vec<File>> {
    Ok(serde_json::from_value(answer["files"].clone())?)
}

fn count(answer: &Value, name: &str) -> usize {
    answer[name].as_array().map_or(0, Vec::len)
}

fn number(answer: &Value, name: &str) -> usize {
    answer[name].as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(0)
}

fn files_in_words(count: usize) -> String {
    match count {
        0 => "nothing to write".to_owned(),
        1 => "1 file written".to_owned(),
        many => format!("{many} files written"),
    }
}

/// Prints what was or would be done; fails if there are conflicts or problems.
fn report(answer: &Value, as_json: bool, word: &str) -> anyhow::Result<()> {
    if as_json {
        say_json(answer)?;
    } else {
        print_report(answer, word)?;
    }
    match (count(answer, "conflicts"), count(answer, "problems")) {
        (0, 0) => Ok(()),
        (0, _) => Err(IncompleteSync { code: 1 }.into()),
        _ => Err(IncompleteSync { code: 5 }.into()),
    }
}

fn print_report(answer: &Value, word: &str) -> anyhow::Result<()> {
    // Memories are printed on a terminal, so their control characters are escaped.
    let text = |item: &Value, name: &str| item[name].as_str().map(encode);
    let place = |item: &Value| {
        let file = text(item, "file").unwrap_or_default();
        match item["line"].as_u64() {
            Some(line) if line > 0 => format!("{file}:{line}"),
            _ => file,
        }
    };
    let list = |name: &str| answer[name].as_array().cloned().unwrap_or_default();
    for change in list("changes") {
        let what = text(&change, "what").unwrap_or_default();
        let edit = match (text(&change, "before"), text(&change, "after")) {
            (Some(before), Some(after)) if before != after => format!("{before} -> {after}"),
            (before, after) => after.or(before).unwrap_or_default(),
        };
        say(&format!("{what:<8} {}  {edit}", place(&change)))?;
    }
    for conflict in list("conflicts") {
        say(&format!("CONFLICT {}  edited in the file and in the memory", place(&conflict)))?;
        for (side, name) in [("before", "base"), ("file", "theirs"), ("memory", "ours")] {
            let content = text(&conflict, name).unwrap_or_else(|| "(deleted)".to_owned());
            say(&format!("  {side:<7} {content}"))?;
        }
    }
    for problem in list("problems") {
        let what = text(&problem, "what").unwrap_or_default();
        say(&format!("PROBLEM  {}  {what}", place(&problem)))?;
    }
    let mut sum = Vec::new();
    let mut add = |many: usize, one: &str, more: &str| {
        if many > 0 {
            sum.push(format!("{many} {}", if many == 1 { one } else { more }));
        }
    };
    add(count(answer, "changes"), "change", "changes");
    add(number(answer, "restores"), "memory restored", "memories restored");
    add(count(answer, "conflicts"), "conflict left alone", "conflicts left alone");
    add(count(answer, "problems"), "problem", "problems");
    if sum.is_empty() {
        sum.push(format!("nothing {word} changed in the memory"));
    }
    if answer["written"].is_array() {
        sum.push(files_in_words(count(answer, "written")));
    }
    say(&sum.join(", "))?;
    match answer["operation_id"].as_str() {
        Some(id) => say(&format!("undo: POST /api/operations/{id}/undo")),
        None => Ok(()),
    }
}
