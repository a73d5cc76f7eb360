//! The command line: what a person or a script types.
//!
//! Exit codes: 0 done, 1 failed, 2 misused, 3 not allowed, 4 not found, 5 conflict.

mod client;
mod doctor;
mod erase;
mod export;
mod import;
mod key;
mod mcp;
mod migrate;
mod model;
mod scrub;
mod serve;
mod state;
mod vault;
mod webhook;
mod work;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};
use quipu_engine::erasure::{Journal, Replayed};
use quipu_engine::{Engine, Error};

/// Long-term memory for AI assistants that its user can read, correct, undo and erase.
#[derive(Debug, Parser)]
#[command(
    name = "quipu",
    version,
    propagate_version = true,
    after_help = "\
First steps:
  quipu serve --migrate          start on http://127.0.0.1:7777, for this machine only
  curl localhost:7777/api/memory -d '{\"content\":\"Prefers window seats\"}' \\
       -H 'content-type: application/json'

For others to use it:
  quipu key create --tenant acme --name 'my assistant'
  quipu serve --auth keys --listen 0.0.0.0:7777

Every setting is also an environment variable, named in each command's --help."
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Serve the API.
    Serve(serve::Serve),
    /// Do what waits: learn from closed chats, name them, empty the trash.
    Work(work::Work),
    /// Bring the database schema up to date.
    Migrate(migrate::Migrate),
    /// Make, list and revoke API keys.
    #[command(subcommand)]
    Key(key::Key),
    /// Fetch and list the files of local models.
    #[command(subcommand)]
    Model(model::Model),
    /// Make embeddings with another model, switch to it, and switch back.
    Reembed(model::Reembed),
    /// Check the database and the settings, and say how to mend what is wrong.
    Doctor(doctor::Doctor),
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
    /// Print the OpenAPI document.
    Openapi,
    /// Print the table of error codes as markdown.
    #[command(hide = true)]
    Errors,
}

/// How to reach the database.
#[derive(Debug, Clone, Args)]
pub struct Database {
    /// PostgreSQL 18 with pgvector, as postgres://user:password@host:port/database
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, value_name = "URL")]
    database_url: String,
    /// Certificates to trust besides the public ones, as a PEM file
    #[arg(long, env = "QUIPU_DATABASE_CA", value_name = "FILE")]
    database_ca: Option<PathBuf>,
}

impl Database {
    fn connect(&self, pool_size: usize) -> quipu_engine::Connect {
        quipu_engine::Connect {
            url: self.database_url.clone(),
            pool_size,
            ca_file: self.database_ca.clone(),
        }
    }

    fn engine(&self) -> anyhow::Result<Engine> {
        Ok(Engine::connect(&self.connect(2))?)
    }
}

/// Where erasures are written down besides the database.
#[derive(Debug, Clone, Args)]
pub struct ErasureJournal {
    /// A file in which every erasure is written down before it is done, so that a restored backup does
    /// not bring back what was erased; keep it apart from the database, and back it up
    #[arg(long, env = "QUIPU_ERASURE_JOURNAL", value_name = "FILE")]
    erasure_journal: Option<PathBuf>,
}

impl ErasureJournal {
    /// Opens the journal and has the engine remove again what it says was erased. Nobody is served
    /// before that.
    async fn replay(&self, engine: Engine) -> anyhow::Result<Engine> {
        let Some(path) = &self.erasure_journal else { return Ok(engine) };
        let journal = Journal::open(path)
            .with_context(|| format!("the erasure journal {} cannot be used", path.display()))?;
        let engine = engine.with_journal(journal);
        let Replayed { entries, users, memories, turns, added } =
            engine.replay_erasures(crate::clock::moment()).await?;
        if users + memories + turns > 0 {
            tracing::warn!(
                users,
                memories,
                turns,
                "a backup had brought back what was erased; removed again"
            );
        }
        tracing::info!(entries, added, "erasure journal read");
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
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.into()),
    };
    let done = runtime.block_on(async {
        match cli.command {
            Command::Serve(command) => command.run().await,
            Command::Work(command) => command.run().await,
            Command::Migrate(command) => command.run().await,
            Command::Key(command) => command.run().await,
            Command::Model(command) => command.run().await,
            Command::Reembed(command) => command.run().await,
            Command::Doctor(command) => command.run().await,
            Command::State(command) => command.run().await,
            Command::Erase(command) => command.run().await,
            Command::Scrub(command) => command.run().await,
            Command::Export(command) => command.run().await,
            Command::Import(command) => command.run().await,
            Command::Vault(command) => command.run().await,
            Command::Mcp(command) => command.run().await,
            Command::Webhook(command) => command.run().await,
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
    match writeln!(std::io::stdout().lock(), "{text}") {
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
    let mut told = format!("quipu: {error}\n");
    for cause in error.chain().skip(1) {
        told.push_str(&format!("  because: {cause}\n"));
    }
    if matches!(error.downcast_ref::<Error>(), Some(Error::Unavailable(_))) {
        told.push_str("  next: check DATABASE_URL with `quipu doctor`\n");
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
