//! `lukasa connect`: adds Lukasa to the configuration files of the assistants on this machine. Changes
//! are shown before they are written, tested afterwards, and can be undone byte for byte.

mod assistants;
mod backups;
mod handshake;
mod json;
mod sections;

use std::path::PathBuf;

use anyhow::{Context as _, bail};
use clap::Args;
use serde_json::{Value, json};

use super::client::{ServerArgs, ServerError, ask};
use super::show::{BAD, DIM, GOOD, ODD, Table, count, line_diff, paint};
use super::{AlreadyReported, FormatArgs, program, say, say_json};
use crate::system::folders::HOME_VARIABLE;
use assistants::{ALL, Assistant, ServerEntry};
use backups::{ConfigBackups, UndoResult, read};
use handshake::Handshake;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa connect                    show the changes, ask, write, test the connection
  lukasa connect --list             list the assistants
  lukasa connect --only cursor      one of them; can be given more than once
  lukasa connect --dry-run          only show the changes
  lukasa connect --yes              do not ask, for scripts
  lukasa connect --http             use the server's URL instead of starting `lukasa mcp`
  lukasa connect --undo             restore every file

Everything else in the files stays byte for byte. Backups are in ~/.local/share/lukasa/connect.
Supported: claude-code, claude-desktop, cursor, vscode, codex, gemini, windsurf, goose.")]
pub struct ConnectArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// Only this assistant, even if it does not seem to be installed
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// List the assistants and whether they are connected
    #[arg(long, conflicts_with_all = ["undo", "dry_run"])]
    list: bool,
    /// Remove Lukasa from the files again
    #[arg(long)]
    undo: bool,
    /// Only show what would change
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short = 'y')]
    yes: bool,
    /// Connect assistants over HTTP, where they support it
    #[arg(long)]
    http: bool,
    /// Do not test the connection
    #[arg(long)]
    no_handshake: bool,
    /// The program that assistants start; this one if absent
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// The home folder with the assistants' files
    #[arg(long, env = HOME_VARIABLE, hide_env = true, value_name = "FOLDER")]
    home: PathBuf,
    #[command(flatten)]
    format: FormatArgs,
}

/// A planned change of one assistant's file.
struct Plan {
    assistant: &'static Assistant,
    file: PathBuf,
    before: String,
    after: String,
}

impl ConnectArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        let chosen = self.chosen()?;
        match (self.list, self.undo) {
            (true, _) => self.print_list(),
            (_, true) => self.disconnect(&chosen),
            _ => self.connect(&chosen).await,
        }
    }

    fn chosen(&self) -> anyhow::Result<Vec<&'static Assistant>> {
        if self.only.is_empty() {
            return Ok(ALL.iter().filter(|assistant| assistant.is_installed(&self.home)).collect());
        }
        let known = |name: &String| {
            ALL.iter().find(|assistant| assistant.name == name).with_context(|| {
                let names: Vec<&str> = ALL.iter().map(|assistant| assistant.name).collect();
                format!("no assistant is called {name}\n  next: use one of {}", names.join(", "))
            })
        };
        self.only.iter().map(known).collect()
    }

    fn entry(&self) -> anyhow::Result<ServerEntry> {
        let key = self.server.key().map(str::to_owned);
        if self.http {
            return Ok(ServerEntry::Address { url: format!("{}/mcp", self.server.url()), key });
        }
        // Desktop applications do not have the shell's PATH, so the full path is written.
        let program = program::path_to_start(self.program.as_deref())?;
        let mut arguments = vec!["mcp".to_owned(), "--url".into(), self.server.url().to_owned()];
        if let Some(user) = self.server.user() {
            arguments.extend(["--user".to_owned(), user.to_owned()]);
        }
        Ok(ServerEntry::Program { program: program.display().to_string(), arguments, key })
    }

    async fn connect(&self, chosen: &[&'static Assistant]) -> anyhow::Result<()> {
        if chosen.is_empty() {
            let names: Vec<&str> = ALL.iter().map(|assistant| assistant.title).collect();
            bail!(
                "no assistant was found in {}\n  looked for: {}\n  next: name one with --only NAME; give \
                 any other assistant that speaks MCP the URL {}/mcp",
                self.home.display(),
                names.join(", "),
                self.server.url()
            );
        }
        let entry = self.entry()?;
        let (mut plans, mut unreadable) = (Vec::new(), Vec::new());
        for assistant in chosen {
            let file = assistant.file(&self.home);
            let left = || format!("{}: {} is left as it is", assistant.name, file.display());
            match plan(assistant, &file, &entry).with_context(left) {
                Ok(plan) => plans.push(plan),
                Err(error) => unreadable.push((*assistant, error)),
            }
        }
        // One file that cannot be read does not keep the other assistants from being connected.
        if plans.is_empty()
            && let Some((_, error)) = unreadable.pop()
        {
            return Err(error);
        }
        let changes: Vec<&Plan> = plans.iter().filter(|plan| plan.after != plan.before).collect();
        if !self.format.json {
            for plan in &changes {
                say(&self.masked(&plan.diff()))?;
            }
            for (_, error) in &unreadable {
                say(&paint(BAD, &format!("{error:#}")))?;
            }
        }
        if self.dry_run {
            match self.format.json {
                true => {
                    say_json(&json!({ "assistants": self.as_json(&plans, &[], &unreadable) }))?;
                }
                false => {
                    say(&format!("Would write {}.", count(changes.len(), "file", "files")))?;
                }
            }
            return if unreadable.is_empty() { Ok(()) } else { Err(AlreadyReported.into()) };
        }
        if !changes.is_empty() && !self.is_confirmed(changes.len())? {
            bail!("nothing was written\n  next: pass --yes to apply, or --dry-run to preview");
        }
        let backups = ConfigBackups::below(&self.home);
        for plan in &changes {
            backups.write(plan.assistant, &plan.file, &plan.after)?;
        }
        let mut handshakes = Vec::new();
        for plan in &plans {
            let handshake = match self.no_handshake {
                true => None,
                false => Some(handshake::run(&entry).await),
            };
            if !self.format.json {
                print_result(plan, handshake.as_ref())?;
            }
            handshakes.push(handshake);
        }
        let failed = !unreadable.is_empty()
            || handshakes.iter().any(|handshake| matches!(handshake, Some(Err(_))));
        if self.format.json {
            let assistants = self.as_json(&plans, &handshakes, &unreadable);
            say_json(&json!({ "assistants": assistants, "ok": !failed }))?;
        } else {
            let undo = "Restart the assistants. Disconnect them with: lukasa connect --undo";
            say(&paint(DIM, undo))?;
        }
        if failed { Err(AlreadyReported.into()) } else { Ok(()) }
    }

    fn is_confirmed(&self, files: usize) -> anyhow::Result<bool> {
        if self.yes {
            return Ok(true);
        }
        let question = format!("Write {}? [y/N]", count(files, "this file", "of these files"));
        let typed = ask(&question)?.unwrap_or_default().to_lowercase();
        Ok(["y", "yes"].contains(&typed.as_str()))
    }

    /// Hides the key in printed text.
    fn masked(&self, text: &str) -> String {
        match self.server.key() {
            Some(key) => text.replace(key, "(your key)"),
            None => text.to_owned(),
        }
    }

    fn as_json(
        &self,
        plans: &[Plan],
        handshakes: &[Option<anyhow::Result<Handshake>>],
        unreadable: &[(&Assistant, anyhow::Error)],
    ) -> Value {
        let one = |(number, plan): (usize, &Plan)| {
            let handshake = match handshakes.get(number).and_then(Option::as_ref) {
                None => Value::Null,
                Some(Ok(handshake)) => {
                    json!({ "ok": true, "protocol": handshake.protocol, "tools": handshake.tools })
                }
                Some(Err(error)) => json!({ "ok": false, "error": format!("{error:#}") }),
            };
            let diff = console::strip_ansi_codes(&plan.diff()).into_owned();
            json!({ "name": plan.assistant.name, "file": plan.file, "handshake": handshake,
                "changed": plan.before != plan.after, "diff": self.masked(&diff) })
        };
        let left = unreadable.iter().map(|(assistant, error)| {
            json!({ "name": assistant.name, "file": assistant.file(&self.home), "changed": false,
                "error": format!("{error:#}") })
        });
        plans.iter().enumerate().map(one).chain(left).collect()
    }

    fn disconnect(&self, chosen: &[&'static Assistant]) -> anyhow::Result<()> {
        let backups = ConfigBackups::below(&self.home);
        let (mut done, mut refusals) = (Vec::new(), Vec::new());
        for assistant in chosen {
            let file = assistant.file(&self.home);
            match backups.undo(assistant, &file, self.dry_run) {
                Ok(undone) => done.push((*assistant, file, undone)),
                Err(error) => refusals.push(self.changed_since(assistant, &backups, &error)),
            }
        }
        self.print_undone(&done, refusals.is_empty())?;
        // The others are restored all the same.
        let last = refusals.pop();
        for refusal in &refusals {
            say(&paint(BAD, &format!("{refusal:#}")))?;
        }
        last.map_or(Ok(()), Err)
    }

    fn print_undone(
        &self,
        done: &[(&Assistant, PathBuf, UndoResult)],
        is_complete: bool,
    ) -> anyhow::Result<()> {
        if self.format.json {
            let list: Vec<Value> = done
                .iter()
                .map(|(assistant, file, undone)| {
                    json!({ "name": assistant.name, "file": file, "undone": undone.as_str() })
                })
                .collect();
            return say_json(&json!({ "assistants": list }));
        }
        let was_there = done.iter().filter(|(_, _, undone)| *undone != UndoResult::NotThere);
        let was_there: Vec<_> = was_there.collect();
        if is_complete && was_there.is_empty() {
            return say("No assistant is connected.");
        }
        let would = if self.dry_run { "would be " } else { "" };
        for (assistant, _, undone) in was_there {
            say(&format!("{:<15} {would}{}", assistant.name, undone.as_str()))?;
        }
        Ok(())
    }

    /// The error for a file that was changed since and cannot be edited safely.
    fn changed_since(
        &self,
        of: &Assistant,
        backups: &ConfigBackups,
        why: &anyhow::Error,
    ) -> anyhow::Error {
        let (file, backup) = (of.file(&self.home), backups.backup(of));
        let detail = format!(
            "{}: {} was changed since and is left as it is ({why:#}); its backup is {}",
            of.name,
            file.display(),
            backup.display()
        );
        let problem = json!({ "status": 409, "code": "changed_since", "detail": detail });
        ServerError { status: 409, code: "changed_since".into(), problem }.into()
    }

    fn print_list(&self) -> anyhow::Result<()> {
        let standing = |assistant: &Assistant| {
            let text = read(&assistant.file(&self.home)).ok().flatten().unwrap_or_default();
            let text = String::from_utf8_lossy(&text).into_owned();
            match (assistant.is_installed(&self.home), assistant.take(&text)) {
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
        let mut table = Table::new(&["assistant", "name", "state", "file"], 3);
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
    entry: &ServerEntry,
) -> anyhow::Result<Plan> {
    let bytes = read(file)?.unwrap_or_default();
    let before =
        String::from_utf8(bytes).map_err(|_| anyhow::anyhow!("the file is not UTF-8 text"))?;
    let after = assistant.put(&before, entry)?;
    Ok(Plan { assistant, file: file.to_owned(), before, after })
}

/// Prints the result for one assistant in a line.
fn print_result(plan: &Plan, handshake: Option<&anyhow::Result<Handshake>>) -> anyhow::Result<()> {
    let name = plan.assistant.name;
    let was = if plan.before == plan.after { "; it was connected already" } else { "" };
    match handshake {
        None => say(&format!("{name:<15} written{was}")),
        Some(Ok(handshake)) => {
            let tools = count(handshake.tools, "tool", "tools");
            let ok = paint(GOOD, "ok");
            say(&format!("{name:<15} {ok} (MCP {}, {tools}){was}", handshake.protocol))
        }
        Some(Err(error)) => {
            let failed = paint(BAD, "written, but the server does not answer");
            say(&format!("{name:<15} {failed}: {error:#}"))?;
            say(
                "                next: start the server with `lukasa serve`, then `lukasa connect` again",
            )
        }
    }
}
