//! The command line: what a person or a script types.
//!
//! Exit codes: 0 done, 1 failed, 2 misused, 3 not allowed, 4 not found, 5 conflict.

mod backup;
mod client;
mod connect;
mod demo;
mod doctor;
mod erase;
mod eval;
mod export;
mod health;
mod import;
mod key;
mod mcp;
mod memory;
mod migrate;
mod model;
mod scrub;
mod serve;
mod shell;
mod show;
mod sign_in;
mod state;
mod vault;
mod webhook;
mod work;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};
use lukasa_engine::erasure::{Journal, Replayed};
use lukasa_engine::{Engine, Error};
use serde_json::json;

use crate::postgres::{self, Found, Own};

pub(crate) use client::encoded;

/// Long-term memory for AI assistants that its user can read, correct, undo and erase.
#[derive(Debug, Parser)]
#[command(
    name = "lukasa",
    version,
    propagate_version = true,
    after_help = "\
First steps:
  lukasa demo                                  a memory to look around in; nothing to set up
  lukasa serve                                 your own, on http://127.0.0.1:7777, for this machine only
  lukasa save I only do index funds            remember something
  lukasa recall which funds do I hold          find what bears on a question
  lukasa connect                               let the assistants on this machine use it

For others to use it:
  lukasa key create --tenant acme --name 'my assistant'
  lukasa serve --auth keys --listen 0.0.0.0:7777

Without DATABASE_URL Lukasa starts a PostgreSQL of its own, if the machine has its programs.
Every setting is also an environment variable, named in each command's --help.
Exit codes: 0 done, 1 failed, 2 misused, 3 not allowed, 4 not found, 5 conflict."
)]
struct Cli {
    /// No colour, not even on a terminal; NO_COLOR does the same
    #[arg(long, global = true)]
    no_color: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Remember something.
    Save(memory::Save),
    /// Find what bears on a question.
    Recall(memory::Recall),
    /// List what is known.
    List(memory::List),
    /// What was written, or the history of one memory.
    Log(memory::Log),
    /// Forget a memory; undo brings it back.
    Forget(memory::Forget),
    /// Answer a proposal, or say that a memory still holds.
    Confirm(memory::Confirm),
    /// Take back the last thing that was written, or any other.
    Undo(memory::Undo),
    /// A memory to look around in, with nothing to set up.
    Demo(demo::Demo),
    /// Let the assistants on this machine use Lukasa, and take that back.
    Connect(connect::Connect),
    /// Serve the API.
    Serve(Box<serve::Serve>),
    /// Do what waits: learn from closed chats, name them, empty the trash.
    Work(work::Work),
    /// Bring the database schema up to date.
    Migrate(migrate::Migrate),
    /// Make, list and revoke API keys.
    #[command(subcommand)]
    Key(key::Key),
    /// Make a link that signs one person in to the console, once.
    SignIn(sign_in::SignIn),
    /// Fetch and list the files of local models.
    #[command(subcommand)]
    Model(model::Model),
    /// Make embeddings with another model, switch to it, and switch back.
    Reembed(model::Reembed),
    /// Check the database and the settings, and say how to mend what is wrong.
    Doctor(doctor::Doctor),
    /// Say whether the server is ready.
    Health(health::Health),
    /// Try what recall must find, against a server.
    #[command(subcommand)]
    Eval(eval::Eval),
    /// Say how much a memory holds, and what it hashes to.
    State(state::State),
    /// Erase a user or a memory for good, with a receipt; or check a receipt.
    Erase(erase::Erase),
    /// Have what was erased leave the database's files.
    Scrub(scrub::Scrub),
    /// Write all of a memory into one ZIP, or check one.
    Export(export::Export),
    /// Take in an export, or what another program has remembered.
    Import(import::Import),
    /// A memory as a folder of markdown files: write it, edit it, sync it.
    #[command(subcommand)]
    Vault(vault::Vault),
    /// Let an assistant that starts programs use a memory (MCP on standard input and output).
    Mcp(mcp::Mcp),
    /// Have an address of yours told of what is written.
    #[command(subcommand)]
    Webhook(webhook::Webhook),
    /// Make a backup of the whole database, and check one by restoring it.
    #[command(subcommand)]
    Backup(backup::Backup),
    /// Print the completions of a shell.
    Completions(shell::Completions),
    /// Write the manual pages.
    Man(shell::Man),
    /// Print the OpenAPI document.
    Openapi,
    /// Print the table of error codes as markdown.
    #[command(hide = true)]
    Errors,
}

/// How to reach the database.
#[derive(Debug, Clone, Default, Args)]
pub struct Database {
    /// PostgreSQL 18 with pgvector, as postgres://user:password@host:port/database. Without it Lukasa
    /// starts one of its own
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, value_name = "URL")]
    database_url: Option<String>,
    /// Certificates to trust besides the public ones, as a PEM file
    #[arg(long, env = "LUKASA_DATABASE_CA", value_name = "FILE")]
    database_ca: Option<PathBuf>,
    /// Where PostgreSQL's programs are, for one of Lukasa's own
    #[arg(long, env = "LUKASA_POSTGRES_DIR", value_name = "FOLDER")]
    postgres_dir: Option<PathBuf>,
    /// Where Lukasa's own PostgreSQL keeps its files; ~/.local/share/lukasa if absent
    #[arg(long, env = "LUKASA_DATA_DIR", value_name = "FOLDER")]
    data_dir: Option<PathBuf>,
    /// The account that PostgreSQL runs as when Lukasa is run by root
    #[arg(long, env = "LUKASA_POSTGRES_ACCOUNT", value_name = "NAME")]
    postgres_account: Option<String>,
}

/// A database that can be reached, and the server that was started for it, if one was.
pub struct Opened {
    connect: lukasa_engine::Connect,
    own: Option<Box<Own>>,
    /// The folder of a database of Lukasa's own, whichever Lukasa started it.
    folder: Option<PathBuf>,
}

impl Opened {
    /// Whether it is another Lukasa's own, and ends with it.
    fn is_borrowed(&self) -> bool {
        self.folder.is_some() && self.own.is_none()
    }

    fn engine(&self) -> anyhow::Result<Engine> {
        Ok(Engine::connect(&self.connect)?)
    }

    /// Stops the server that was started, if one was.
    async fn close(self) -> anyhow::Result<()> {
        match self.own {
            Some(own) => own.stop().await,
            None => Ok(()),
        }
    }
}

impl Database {
    /// The database that was named, or else Lukasa's own, started if it is not running. Its own is
    /// brought up to date first: there is nobody else who would.
    async fn open(&self, pool_size: usize) -> anyhow::Result<Opened> {
        let Self { database_url, database_ca, postgres_dir, data_dir, postgres_account } = self;
        let named = database_url.clone().filter(|url| !url.is_empty());
        let connect =
            |url: String| lukasa_engine::Connect { url, pool_size, ca_file: database_ca.clone() };
        if let Some(url) = named {
            return Ok(Opened { connect: connect(url), own: None, folder: None });
        }
        let folder = data_dir.clone().unwrap_or_else(postgres::usual_folder);
        let programs = postgres_dir.as_deref();
        match postgres::open(programs, &folder, postgres_account.as_deref()).await? {
            Found::Running(url) => {
                Ok(Opened { connect: connect(url), own: None, folder: Some(folder) })
            }
            Found::Started(own) => {
                let connect = connect(own.url().to_owned());
                for step in lukasa_engine::migrate(&connect).await? {
                    tracing::info!(version = step.version, name = step.name, "migration applied");
                }
                Ok(Opened { connect, own: Some(own), folder: Some(folder) })
            }
        }
    }
}

/// Where erasures are written down besides the database.
#[derive(Debug, Clone, Args)]
pub struct ErasureJournal {
    /// A file in which every erasure is written down before it is done, so that a restored backup does
    /// not bring back what was erased; keep it apart from the database, and back it up
    #[arg(long, env = "LUKASA_ERASURE_JOURNAL", value_name = "FILE")]
    erasure_journal: Option<PathBuf>,
}

impl ErasureJournal {
    /// The file that was named, or one beside the files of Lukasa's own database.
    fn or_beside(&self, opened: &Opened) -> Self {
        let beside = opened.folder.as_ref().map(|folder| folder.join("erasures.journal"));
        Self { erasure_journal: self.erasure_journal.clone().or(beside) }
    }

    /// Opens the journal and has the engine remove again what it says was erased. Nobody is served
    /// before that.
    async fn replay(&self, engine: Engine) -> anyhow::Result<Engine> {
        let Some(path) = &self.erasure_journal else { return Ok(engine) };
        let journal = Journal::open(path)
            .with_context(|| format!("the erasure journal {} cannot be used", path.display()))?;
        let engine = engine.with_journal(journal);
        let Replayed { entries, users, memories, turns, added, skipped } =
            engine.replay_erasures(crate::clock::moment()).await?;
        if users + memories + turns > 0 {
            tracing::warn!(
                users,
                memories,
                turns,
                "a backup had brought back what was erased; removed again"
            );
        }
        tracing::info!(entries, added, skipped, "erasure journal read");
        Ok(engine)
    }
}

/// Output for a program instead of a person.
#[derive(Debug, Clone, Args)]
pub struct Format {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn main() -> ExitCode {
    let cli = Cli::parse();
    if cli.no_color {
        anstream::ColorChoice::Never.write_global();
    }
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.into()),
    };
    let done = runtime.block_on(async {
        match cli.command {
            Command::Save(command) => command.run().await,
            Command::Recall(command) => command.run().await,
            Command::List(command) => command.run().await,
            Command::Log(command) => command.run().await,
            Command::Forget(command) => command.run().await,
            Command::Confirm(command) => command.run().await,
            Command::Undo(command) => command.run().await,
            Command::Demo(command) => command.run().await,
            Command::Connect(command) => command.run().await,
            Command::Serve(command) => command.run().await,
            Command::Work(command) => command.run().await,
            Command::Migrate(command) => command.run().await,
            Command::Key(command) => command.run().await,
            Command::SignIn(command) => command.run().await,
            Command::Model(command) => command.run().await,
            Command::Reembed(command) => command.run().await,
            Command::Doctor(command) => command.run().await,
            Command::Health(command) => command.run().await,
            Command::Eval(command) => command.run().await,
            Command::State(command) => command.run().await,
            Command::Erase(command) => command.run().await,
            Command::Scrub(command) => command.run().await,
            Command::Export(command) => command.run().await,
            Command::Import(command) => command.run().await,
            Command::Vault(command) => command.run().await,
            Command::Mcp(command) => command.run().await,
            Command::Webhook(command) => command.run().await,
            Command::Backup(command) => command.run().await,
            Command::Completions(command) => command.run(),
            Command::Man(command) => command.run(),
            Command::Openapi => print_openapi(),
            Command::Errors => say(&crate::http::render_error_docs()),
        }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

/// Says a line, or many, on standard output.
fn say(text: &str) -> anyhow::Result<()> {
    let text = text.trim_end();
    // Colour is taken out again where there is no terminal, or none is wanted.
    match writeln!(anstream::stdout().lock(), "{text}") {
        // A reader such as `head` that has seen enough is no failure.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

fn say_json(value: &serde_json::Value) -> anyhow::Result<()> {
    say(&serde_json::to_string_pretty(value)?)
}

fn print_openapi() -> anyhow::Result<()> {
    say(&serde_json::to_string_pretty(&crate::http::document())?)
}

/// A failure that has already said everything it had to say.
#[derive(Debug)]
struct Said;

impl std::fmt::Display for Said {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}

impl std::error::Error for Said {}

fn fail(error: &anyhow::Error) -> ExitCode {
    if error.is::<Said>() {
        return ExitCode::from(1);
    }
    if let Some(unsettled) = error.downcast_ref::<vault::Unsettled>() {
        return ExitCode::from(unsettled.code);
    }
    let mut told = format!("lukasa: {error}\n");
    for cause in error.chain().skip(1) {
        told.push_str(&format!("  because: {cause}\n"));
    }
    if matches!(error.downcast_ref::<Error>(), Some(Error::Unavailable(_))) {
        told.push_str("  next: check DATABASE_URL with `lukasa doctor`\n");
    }
    // Whoever reads answers as JSON reads failures so too.
    if std::env::args_os().any(|argument| argument == "--json") {
        let problem = error.downcast_ref::<client::Refused>().map(|refused| &refused.problem);
        told = format!("{}\n", json!({ "error": told.trim_end(), "problem": problem }));
    }
    let _ = std::io::stderr().lock().write_all(told.as_bytes());
    if let Some(refused) = error.downcast_ref::<client::Refused>() {
        return ExitCode::from(client::exit_code(refused));
    }
    let code = match error.downcast_ref::<Error>().map(Error::code) {
        Some("unauthenticated" | "forbidden") => 3,
        Some(code) if code.ends_with("_not_found") => 4,
        Some("key_taken" | "version_mismatch" | "idempotency_mismatch") => 5,
        _ => 1,
    };
    ExitCode::from(code)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn no_two_arguments_of_a_command_have_one_name() {
        super::Cli::command().debug_assert();
    }
}
