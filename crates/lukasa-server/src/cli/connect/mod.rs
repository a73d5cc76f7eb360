//! `lukasa connect`: Lukasa in the configuration of the assistants on this machine, shown before it is
//! written, tried out after, and taken back exactly.

mod assistants;
mod handshake;
mod json;
mod kept;
mod sections;

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Args;
use serde_json::{Value, json};

use super::client::{Refused, Server, ask};
use super::show::{BAD, DIM, GOOD, ODD, Table, count, line_diff, paint};
use super::{Format, Said, say, say_json};
use assistants::{ALL, Assistant, Entry};
use kept::{Kept, Undone, read};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa connect                    show what would change, ask, write, try it out
  lukasa connect --list             which assistants there are
  lukasa connect --only cursor      one of them; can be given more than once
  lukasa connect --dry-run          only show what would change
  lukasa connect --yes              without being asked, for scripts
  lukasa connect --http             let them talk to the server instead of starting `lukasa mcp`
  lukasa connect --undo             put every file back as it was

Everything else in the files keeps its bytes. What a file was is kept in ~/.local/share/lukasa/connect.
Known: claude-code, claude-desktop, cursor, vscode, codex, gemini, windsurf, goose.")]
pub struct Connect {
    #[command(flatten)]
    server: Server,
    /// Only this assistant, also if it does not seem to be there
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// List the assistants and how they stand
    #[arg(long, conflicts_with_all = ["undo", "dry_run"])]
    list: bool,
    /// Take Lukasa out again
    #[arg(long)]
    undo: bool,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short = 'y')]
    yes: bool,
    /// Have assistants talk to the server over HTTP, those that can
    #[arg(long)]
    http: bool,
    /// Do not try out what was written
    #[arg(long)]
    no_handshake: bool,
    /// The program that assistants start; this one if absent
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Whose assistants; the person's own home if absent
    #[arg(long, env = "HOME", hide_env = true, value_name = "FOLDER")]
    home: PathBuf,
    #[command(flatten)]
    format: Format,
}

/// What is to become of one assistant's file.
struct Plan {
    assistant: &'static Assistant,
    file: PathBuf,
    before: String,
    after: String,
}

impl Connect {
    pub async fn run(self) -> anyhow::Result<()> {
        let chosen = self.chosen()?;
        match (self.list, self.undo) {
            (true, _) => self.tell_list(),
            (_, true) => self.take_back(&chosen),
            _ => self.connect(&chosen).await,
        }
    }

    fn chosen(&self) -> anyhow::Result<Vec<&'static Assistant>> {
        if self.only.is_empty() {
            return Ok(ALL.iter().filter(|assistant| assistant.is_there(&self.home)).collect());
        }
        let known = |name: &String| {
            ALL.iter().find(|assistant| assistant.name == name).with_context(|| {
                let names: Vec<&str> = ALL.iter().map(|assistant| assistant.name).collect();
                format!("no assistant is called {name}\n  next: one of {}", names.join(", "))
            })
        };
        self.only.iter().map(known).collect()
    }

    fn entry(&self) -> anyhow::Result<Entry> {
        let key = self.server.key().map(str::to_owned);
        if self.http {
            return Ok(Entry::Address { url: format!("{}/mcp", self.server.url()), key });
        }
        // Assistants with windows do not know the path of a shell, so the whole path is written.
        let program = match &self.program {
            Some(program) => std::path::absolute(program)?,
            None => std::env::current_exe().context("this program cannot tell where it is")?,
        };
        let mut arguments = vec!["mcp".to_owned(), "--url".into(), self.server.url().to_owned()];
        if let Some(user) = self.server.user() {
            arguments.extend(["--user".to_owned(), user.to_owned()]);
        }
        Ok(Entry::Program { program: program.display().to_string(), arguments, key })
    }

    async fn connect(&self, chosen: &[&'static Assistant]) -> anyhow::Result<()> {
        if chosen.is_empty() {
            let names: Vec<&str> = ALL.iter().map(|assistant| assistant.title).collect();
            bail!(
                "no assistant was found in {}\n  looked for: {}\n  next: name one with --only NAME; any \
                 other that speaks MCP takes the address {}/mcp",
                self.home.display(),
                names.join(", "),
                self.server.url()
            );
        }
        let entry = self.entry()?;
        let mut plans = Vec::new();
        for assistant in chosen {
            let file = assistant.file(&self.home);
            let planned = plan(assistant, &file, &entry);
            plans.push(planned.with_context(|| {
                format!("{}: {} is left as it is", assistant.name, file.display())
            })?);
        }
        let changes: Vec<&Plan> = plans.iter().filter(|plan| plan.after != plan.before).collect();
        if !self.format.json {
            for plan in &changes {
                say(&self.masked(&plan.diff()))?;
            }
        }
        if self.dry_run {
            if self.format.json {
                return say_json(&json!({ "assistants": self.as_json(&plans, &[]) }));
            }
            return say(&format!("Would write {}.", count(changes.len(), "file", "files")));
        }
        if !changes.is_empty() && !self.agreed(changes.len())? {
            bail!("nothing was written\n  next: say --yes, or --dry-run to only look");
        }
        let kept = Kept::below(&self.home);
        for plan in &changes {
            kept.write(plan.assistant, &plan.file, &plan.after)?;
        }
        let mut shaken = Vec::new();
        for plan in &plans {
            let agreed = match self.no_handshake {
                true => None,
                false => Some(handshake::shake(&entry).await),
            };
            if !self.format.json {
                tell(plan, agreed.as_ref())?;
            }
            shaken.push(agreed);
        }
        let failed = shaken.iter().any(|agreed| matches!(agreed, Some(Err(_))));
        if self.format.json {
            say_json(&json!({ "assistants": self.as_json(&plans, &shaken), "ok": !failed }))?;
        } else {
            let undo = "Start the assistants anew. Take it back with: lukasa connect --undo";
            say(&paint(DIM, undo))?;
        }
        if failed { Err(Said.into()) } else { Ok(()) }
    }

    fn agreed(&self, files: usize) -> anyhow::Result<bool> {
        if self.yes {
            return Ok(true);
        }
        let question = format!("Write {}? [y/N]", count(files, "this file", "of these files"));
        let said = ask(&question)?.unwrap_or_default().to_lowercase();
        Ok(["y", "yes"].contains(&said.as_str()))
    }

    /// A key is nobody's business who looks over a shoulder.
    fn masked(&self, text: &str) -> String {
        match self.server.key() {
            Some(key) => text.replace(key, "(your key)"),
            None => text.to_owned(),
        }
    }

    fn as_json(
        &self,
        plans: &[Plan],
        shaken: &[Option<anyhow::Result<handshake::Agreed>>],
    ) -> Value {
        let one = |(number, plan): (usize, &Plan)| {
            let handshake = match shaken.get(number).and_then(Option::as_ref) {
                None => Value::Null,
                Some(Ok(agreed)) => {
                    json!({ "ok": true, "protocol": agreed.protocol, "tools": agreed.tools })
                }
                Some(Err(error)) => json!({ "ok": false, "error": format!("{error:#}") }),
            };
            let diff = console::strip_ansi_codes(&plan.diff()).into_owned();
            json!({ "name": plan.assistant.name, "file": plan.file, "handshake": handshake,
                "changed": plan.before != plan.after, "diff": self.masked(&diff) })
        };
        plans.iter().enumerate().map(one).collect()
    }

    fn take_back(&self, chosen: &[&'static Assistant]) -> anyhow::Result<()> {
        let kept = Kept::below(&self.home);
        let mut done = Vec::new();
        for assistant in chosen {
            let file = assistant.file(&self.home);
            let undone = kept.undo(assistant, &file, self.dry_run);
            let undone = undone.map_err(|error| self.changed_since(assistant, &kept, &error))?;
            done.push((assistant, file, undone));
        }
        if self.format.json {
            let list: Vec<Value> = done
                .iter()
                .map(|(assistant, file, undone)| {
                    json!({ "name": assistant.name, "file": file, "undone": undone.as_str() })
                })
                .collect();
            return say_json(&json!({ "assistants": list }));
        }
        done.retain(|(_, _, undone)| *undone != Undone::NotThere);
        if done.is_empty() {
            return say("No assistant is connected.");
        }
        let would = if self.dry_run { "would be " } else { "" };
        for (assistant, _, undone) in &done {
            say(&format!("{:<15} {would}{}", assistant.name, undone.as_str()))?;
        }
        Ok(())
    }

    /// A file that was changed since, in a way that nobody can be sure to take back.
    fn changed_since(&self, of: &Assistant, kept: &Kept, why: &anyhow::Error) -> anyhow::Error {
        let (file, backup) = (of.file(&self.home), kept.backup(of));
        let detail = format!(
            "{}: {} was changed since and is left as it is ({why:#}); what it was is in {}",
            of.name,
            file.display(),
            backup.display()
        );
        let problem = json!({ "status": 409, "code": "changed_since", "detail": detail });
        Refused { status: 409, code: "changed_since".into(), problem }.into()
    }

    fn tell_list(&self) -> anyhow::Result<()> {
        let standing = |assistant: &Assistant| {
            let text = read(&assistant.file(&self.home)).ok().flatten().unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            match (assistant.is_there(&self.home), assistant.take(&text)) {
                (false, _) => "not here",
                (true, Ok(Some(_))) => "connected",
                (true, Ok(None)) => "not connected",
                (true, Err(_)) => "cannot be read",
            }
        };
        if self.format.json {
            let list: Vec<Value> = ALL
                .iter()
                .map(|assistant| {
                    json!({ "name": assistant.name, "file": assistant.file(&self.home),
                        "standing": standing(assistant) })
                })
                .collect();
            return say_json(&json!({ "assistants": list }));
        }
        let mut table = Table::new(&["assistant", "name", "standing", "file"], 3);
        for assistant in &ALL {
            let standing = match standing(assistant) {
                "connected" => paint(GOOD, "connected"),
                "cannot be read" => paint(BAD, "cannot be read"),
                "not here" => paint(DIM, "not here"),
                other => paint(ODD, other),
            };
            table.row(vec![
                assistant.title.to_owned(),
                assistant.name.to_owned(),
                standing,
                assistant.file(&self.home).display().to_string(),
            ]);
        }
        say(&table.render())
    }
}

impl Plan {
    fn diff(&self) -> String {
        line_diff(&self.before, &self.after, &self.file.display().to_string())
    }
}

fn plan(
    assistant: &'static Assistant,
    file: &std::path::Path,
    entry: &Entry,
) -> anyhow::Result<Plan> {
    let bytes = read(file)?.unwrap_or_default();
    let before = String::from_utf8(bytes).map_err(|_| anyhow::anyhow!("it is not text"))?;
    let after = assistant.put(&before, entry)?;
    Ok(Plan { assistant, file: file.to_owned(), before, after })
}

/// How one assistant stands now, in a line.
fn tell(plan: &Plan, agreed: Option<&anyhow::Result<handshake::Agreed>>) -> anyhow::Result<()> {
    let name = plan.assistant.name;
    let was = if plan.before == plan.after { "; it was connected already" } else { "" };
    match agreed {
        None => say(&format!("{name:<15} written{was}")),
        Some(Ok(agreed)) => {
            let tools = count(agreed.tools, "tool", "tools");
            let ok = paint(GOOD, "ok");
            say(&format!("{name:<15} {ok} (MCP {}, {tools}){was}", agreed.protocol))
        }
        Some(Err(error)) => {
            let failed = paint(BAD, "written, but it does not answer");
            say(&format!("{name:<15} {failed}: {error:#}"))?;
            say(
                "                next: start the server with `lukasa serve`, then `lukasa connect` again",
            )
        }
    }
}
