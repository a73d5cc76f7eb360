//! `lukasa vault export | status | sync`

mod folder;

use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, Subcommand};
use lukasa_core::vault::{File, encode, read};
use serde_json::{Value, json};

use super::client::Server;
use super::{Format, say, say_json};
use folder::Folder;

#[derive(Debug, Subcommand)]
pub enum Vault {
    /// Write all of a memory into a folder, as markdown files.
    Export(Export),
    /// Say what a sync would do, and do nothing.
    Status(Status),
    /// Take in what was edited in the folder, and write into it what is new.
    Sync(Sync),
}

impl Vault {
    pub async fn run(self) -> anyhow::Result<()> {
        match self {
            Vault::Export(command) => command.run().await,
            Vault::Status(command) => command.run().await,
            Vault::Sync(command) => command.run().await,
        }
    }
}

/// Something was edited here and there, or could not be taken in; all of it was said.
#[derive(Debug)]
pub struct Unsettled {
    pub code: u8,
}

impl std::fmt::Display for Unsettled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("not everything could be taken in")
    }
}

impl std::error::Error for Unsettled {}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa vault export ~/Notes/memory
  lukasa vault export ~/Notes/memory --user alice --url https://lukasa.example

The folder can be opened in any editor and kept in git. Edit a line, delete one, add one; then
`lukasa vault sync ~/Notes/memory` takes it in.")]
pub struct Export {
    /// The folder; made if it is not there
    dir: PathBuf,
    /// Write over a vault that is there, with whatever was edited in it
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa vault status ~/Notes/memory

Exit code 5 if something was edited both in the folder and in the memory.")]
pub struct Status {
    /// The folder of the vault
    dir: PathBuf,
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa vault sync ~/Notes/memory
  lukasa vault sync ~/Notes/memory --dry-run

A changed line changes its memory, a deleted line is forgotten, a new line is remembered, a line
carried into another file changes its domain. All of one sync is one operation: undo takes it back.
Into an empty memory everything comes back as it was; from a vault of another server only with
--trust, otherwise as an import. What was edited in both places is shown, left
alone in both, and ends with exit code 5.")]
pub struct Sync {
    /// The folder of the vault
    dir: PathBuf,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
    /// Also forget when most of the lines are gone
    #[arg(long)]
    yes: bool,
    /// Trust a vault that this server did not write: keep the origins and consents it names
    #[arg(long)]
    trust: bool,
    #[command(flatten)]
    server: Server,
    #[command(flatten)]
    format: Format,
}

impl Export {
    async fn run(self) -> anyhow::Result<()> {
        let folder = Folder::at(&self.dir);
        let there = folder.read()?;
        if !there.is_empty() && !self.force {
            let dir = self.dir.display();
            bail!(
                "there is a vault in {dir} already; next: `lukasa vault sync {dir}`, or --force to \
                 write over it"
            );
        }
        let answer = self.server.get("/api/vault").await?;
        let written = folder.write(&there, &files(&answer)?)?;
        if self.format.json {
            return say_json(&json!({ "written": written, "sha256": answer["sha256"] }));
        }
        say(&format!("{}: {}", self.dir.display(), files_in_words(written.len())))
    }
}

impl Status {
    async fn run(self) -> anyhow::Result<()> {
        let there = Folder::at(&self.dir).read()?;
        let plan = self.server.post("/api/vault/plan", &body(&there)).await?;
        tell(&plan, self.format.json, "would be")
    }
}

impl Sync {
    async fn run(self) -> anyhow::Result<()> {
        let folder = Folder::at(&self.dir);
        let there = folder.read()?;
        if self.dry_run {
            let plan = self.server.post("/api/vault/plan", &body(&there)).await?;
            return tell(&plan, self.format.json, "would be");
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
                "the files were edited while they were synced, and stay as they are; next: sync again"
            );
        }
        let written = folder.write(&there, &files)?;
        if let Some(answer) = answer.as_object_mut() {
            answer.remove("files");
            answer.insert("written".to_owned(), json!(written));
        }
        let imported = number(&answer, "restores") > 0 && answer["base_signed"] == json!(false);
        if imported && !self.trust && !self.format.json {
            say("this server did not write the vault: what was brought back is an import")?;
        }
        tell(&answer, self.format.json, "was")
    }
}

/// A folder that was emptied by accident must not empty the memory.
fn check_gone(there: &[File]) -> anyhow::Result<()> {
    let read = read(there);
    let lines: Vec<_> =
        read.base.memories.iter().filter(|b| b.file.is_some()).map(|b| b.memory.fact).collect();
    let here = |fact| read.entries.iter().any(|entry| entry.fact == Some(fact));
    let gone = lines.iter().filter(|fact| !here(**fact)).count();
    if gone > 10 && gone * 2 > lines.len() {
        bail!(
            "{gone} of {} lines are gone from the folder; next: bring them back, or say --yes to \
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

/// Says what was or would be done; fails if something is left for its person.
fn tell(answer: &Value, as_json: bool, word: &str) -> anyhow::Result<()> {
    if as_json {
        say_json(answer)?;
    } else {
        tell_in_words(answer, word)?;
    }
    match (count(answer, "conflicts"), count(answer, "problems")) {
        (0, 0) => Ok(()),
        (0, _) => Err(Unsettled { code: 1 }.into()),
        _ => Err(Unsettled { code: 5 }.into()),
    }
}

fn tell_in_words(answer: &Value, word: &str) -> anyhow::Result<()> {
    // Words of a memory go to a terminal; whatever would steer it is written out.
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
        let said = match (text(&change, "before"), text(&change, "after")) {
            (Some(before), Some(after)) if before != after => format!("{before} -> {after}"),
            (before, after) => after.or(before).unwrap_or_default(),
        };
        say(&format!("{what:<8} {}  {said}", place(&change)))?;
    }
    for conflict in list("conflicts") {
        say(&format!("CONFLICT {}  edited in the file and in the memory", place(&conflict)))?;
        for (side, name) in [("before", "base"), ("file", "theirs"), ("memory", "ours")] {
            let said = text(&conflict, name).unwrap_or_else(|| "(gone)".to_owned());
            say(&format!("  {side:<7} {said}"))?;
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
    add(number(answer, "restores"), "memory brought back", "memories brought back");
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
