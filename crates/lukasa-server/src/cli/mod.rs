//! The command line.
//!
//! Exit codes: 0 done, 1 failed, 2 misused, 3 not allowed, 4 not found, 5 conflict.

mod audit;
mod backup;
mod cell;
mod client;
mod connect;
mod demo;
mod doctor;
mod env_file;
mod erase;
mod eval;
mod export;
mod health;
mod hook;
mod import;
mod key;
mod mcp;
mod memory;
mod migrate;
mod model;
mod policy;
mod preset;
mod program;
mod scrub;
mod serve;
mod service;
mod shell;
mod show;
mod sign_in;
mod signing_key;
mod space;
mod standby;
mod start;
mod state;
mod vault;
mod webhook;
mod work;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};
use lukasa_engine::journal::Journal;
use lukasa_engine::removal::ReplayReport;
use lukasa_engine::{Engine, Error};
use serde_json::json;

use crate::api::code::ErrorCode;
use crate::postgres::{self, DataFolderServer, ManagedPostgres};
use crate::version;

/// Long-term memory for AI assistants that its user can read, correct, undo and erase.
#[derive(Debug, Parser)]
#[command(
    name = "lukasa",
    version,
    long_version = version::long_version(),
    propagate_version = true,
    after_help = "\
First steps:
  lukasa demo                                  try a sample memory; nothing to set up
  lukasa serve                                 serve on http://127.0.0.1:7777, for this machine only
  lukasa save I only do index funds            remember something
  lukasa recall which funds do I hold          find relevant memories
  lukasa connect                               connect the assistants on this machine

To serve other machines:
  lukasa key create --tenant acme --name 'my assistant'
  lukasa serve --auth keys --listen 0.0.0.0:7777

Without DATABASE_URL Lukasa starts its own PostgreSQL, if the programs are installed.
Every setting is also an environment variable, named in each command's --help. Commands also read the
settings file of an installed service; LUKASA_ENV_FILE names another one, or none if it is empty.
Exit codes: 0 done, 1 failed, 2 misused, 3 not allowed, 4 not found, 5 conflict."
)]
struct Cli {
    /// Disable colour; NO_COLOR does the same
    #[arg(long, global = true)]
    no_color: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Remember something.
    Save(memory::SaveArgs),
    /// Find memories that are relevant to a question.
    Recall(memory::RecallArgs),
    /// List memories.
    List(memory::ListMemoriesArgs),
    /// Show the latest operations, or the history of one memory.
    Log(memory::LogArgs),
    /// Correct the words of a memory; undo restores the old ones.
    Correct(memory::CorrectArgs),
    /// Forget a memory; undo restores it.
    Forget(memory::ForgetArgs),
    /// Accept or reject a proposal, or confirm that a memory still holds.
    Confirm(memory::ConfirmArgs),
    /// Undo the last operation, or any other.
    Undo(memory::UndoArgs),
    /// Show or choose the preset of a user's policy, with the consent that it asks for.
    Preset(preset::PresetArgs),
    /// Try Lukasa with a sample memory; nothing to set up.
    Demo(demo::DemoArgs),
    /// Connect the assistants on this machine to Lukasa, or disconnect them.
    Connect(connect::ConnectArgs),
    /// Serve the API.
    Serve(Box<serve::ServeArgs>),
    /// Run the server as a service of this user, with systemd or launchd.
    #[command(subcommand)]
    Service(service::ServiceCommand),
    /// Run background jobs: learn from closed chats, name them, empty the trash.
    Work(work::WorkArgs),
    /// Bring the database schema up to date.
    Migrate(migrate::MigrateArgs),
    /// Create, list, replace and revoke API keys.
    #[command(subcommand)]
    Key(key::KeyCommand),
    /// List or replace the key that signs receipts and exports.
    #[command(subcommand)]
    SigningKey(signing_key::SigningKeyCommand),
    /// Show, verify, export or shorten the audit log of a tenant.
    #[command(subcommand)]
    Audit(audit::AuditCommand),
    /// Create a one-time link that signs a user in to the console.
    SignIn(sign_in::SignInArgs),
    /// Download and list local models.
    #[command(subcommand)]
    Model(model::ModelCommand),
    /// Compute embeddings with another model, switch to it, or switch back.
    Reembed(model::ReembedArgs),
    /// Check the database and the settings, and show how to fix problems.
    Doctor(Box<doctor::DoctorArgs>),
    /// Check whether the server is ready.
    Health(health::HealthArgs),
    /// Run recall test cases against a server.
    #[command(subcommand)]
    Eval(eval::EvalCommand),
    /// Show the counts and hashes of a user's memory.
    State(state::StateArgs),
    /// Erase a user or a memory permanently, with a receipt; or verify a receipt.
    Erase(erase::EraseArgs),
    /// Remove erased data from the database's files.
    Scrub(scrub::ScrubArgs),
    /// Export all of a user's memory as a ZIP file, or verify one.
    Export(export::ExportArgs),
    /// Import an export, or the memories of another program.
    Import(import::ImportArgs),
    /// Sync a user's memory with a folder of markdown files.
    #[command(subcommand)]
    Vault(vault::VaultSubcommand),
    /// Serve MCP on standard input and output, for assistants that start programs.
    Mcp(mcp::McpArgs),
    /// Store the conversation of a coding agent, called by the agent's hook.
    Hook(hook::HookArgs),
    /// Manage webhooks, which are notified of every operation.
    #[command(subcommand)]
    Webhook(webhook::WebhookCommand),
    /// Manage spaces, in which users share memories.
    #[command(subcommand)]
    Space(space::SpaceCommand),
    /// Back up the whole database, verify a backup, or restore one.
    #[command(subcommand)]
    Backup(backup::BackupCommand),
    /// Spread the users over several databases.
    #[command(subcommand)]
    Cell(cell::CellCommand),
    /// Print shell completions.
    Completions(shell::CompletionsArgs),
    /// Write the manual pages.
    Man(shell::ManArgs),
    /// Print the OpenAPI document.
    Openapi,
    /// Print the table of error codes as markdown.
    #[command(hide = true)]
    Errors,
}

/// Database settings.
#[derive(Debug, Clone, Default, Args)]
pub struct DatabaseArgs {
    /// PostgreSQL 18 with pgvector, as postgres://user:password@host:port/database. Without it Lukasa
    /// starts its own PostgreSQL
    #[arg(long, env = "DATABASE_URL", hide_env_values = true, value_name = "URL")]
    database_url: Option<String>,
    /// A file with that address
    #[arg(long, env = "DATABASE_URL_FILE", value_name = "FILE", conflicts_with = "database_url")]
    database_url_file: Option<PathBuf>,
    /// Certificates to trust besides the public ones, as a PEM file
    #[arg(long, env = "LUKASA_DATABASE_CA", value_name = "FILE")]
    database_ca: Option<PathBuf>,
    /// The folder of PostgreSQL's programs, for Lukasa's own PostgreSQL
    #[arg(long, env = "LUKASA_POSTGRES_DIR", value_name = "FOLDER")]
    postgres_dir: Option<PathBuf>,
    /// Where Lukasa's own PostgreSQL keeps its files; ~/.local/share/lukasa if absent
    #[arg(long, env = "LUKASA_DATA_DIR", value_name = "FOLDER")]
    data_dir: Option<PathBuf>,
    /// The account that PostgreSQL runs as when Lukasa is run by root
    #[arg(long, env = "LUKASA_POSTGRES_ACCOUNT", value_name = "NAME")]
    postgres_account: Option<String>,
}

/// A database to connect to, and the PostgreSQL that was started for it, if one was.
pub struct OpenDatabase {
    connect: lukasa_engine::ConnectOptions,
    managed: Option<Box<ManagedPostgres>>,
    /// The data folder of a managed PostgreSQL, whichever Lukasa process started it.
    folder: Option<PathBuf>,
}

impl OpenDatabase {
    /// Whether another Lukasa process manages it, and stops it when that process ends.
    fn is_managed_elsewhere(&self) -> bool {
        self.folder.is_some() && self.managed.is_none()
    }

    fn engine(&self) -> anyhow::Result<Engine> {
        Ok(Engine::connect(&self.connect)?)
    }

    /// Stops the PostgreSQL that was started, if one was.
    async fn close(self) -> anyhow::Result<()> {
        match self.managed {
            Some(managed) => managed.stop().await,
            None => Ok(()),
        }
    }
}

impl DatabaseArgs {
    /// The address of the database, if one is set.
    fn url(&self) -> anyhow::Result<Option<String>> {
        let in_file = crate::models::read_secret(self.database_url_file.as_deref())?;
        Ok(self.database_url.clone().or(in_file).filter(|url| !url.is_empty()))
    }

    /// The database of the URL, or else the managed PostgreSQL, started if it is not running and
    /// migrated when it is started.
    async fn open(&self, pool_size: usize) -> anyhow::Result<OpenDatabase> {
        let Self { database_ca, postgres_dir, data_dir, postgres_account, .. } = self;
        let named = self.url()?;
        let connect = |url: String| lukasa_engine::ConnectOptions {
            url,
            pool_size,
            ca_file: database_ca.clone(),
        };
        if let Some(url) = named {
            return Ok(OpenDatabase { connect: connect(url), managed: None, folder: None });
        }
        if data_dir.is_none() {
            env_file::check_readable()?;
        }
        let folder = data_dir.clone().unwrap_or_else(postgres::default_data_folder);
        let programs = postgres_dir.as_deref();
        match postgres::open(programs, &folder, postgres_account.as_deref()).await? {
            DataFolderServer::Running(url) => {
                Ok(OpenDatabase { connect: connect(url), managed: None, folder: Some(folder) })
            }
            DataFolderServer::Started(managed) => {
                let connect = connect(managed.url().to_owned());
                migrate::migrate_and_log(&connect).await?;
                Ok(OpenDatabase { connect, managed: Some(managed), folder: Some(folder) })
            }
        }
    }
}

/// Settings of the erasure journal.
#[derive(Debug, Clone, Args)]
pub struct ErasureJournalArgs {
    /// A file that records every erasure before it is done, so that erased data does not return with a
    /// restored backup; keep it apart from the database, and back it up
    #[arg(long, env = "LUKASA_ERASURE_JOURNAL", value_name = "FILE")]
    erasure_journal: Option<PathBuf>,
}

impl ErasureJournalArgs {
    /// The configured file, or one in the data folder of the managed PostgreSQL.
    fn or_beside(&self, opened: &OpenDatabase) -> Self {
        let beside = opened.folder.as_ref().map(|folder| folder.join("erasures.journal"));
        Self { erasure_journal: self.erasure_journal.clone().or(beside) }
    }

    /// Opens the journal and has the engine remove again everything that it lists as erased. No
    /// request is served before that.
    async fn replay(&self, engine: Engine) -> anyhow::Result<(Engine, ReplayReport)> {
        let Some(path) = &self.erasure_journal else {
            return Ok((engine, ReplayReport::default()));
        };
        let journal = Journal::open(path)
            .with_context(|| format!("the erasure journal {} cannot be opened", path.display()))?;
        let engine = engine.with_journal(journal);
        let report = engine.erasures.replay_erasures(crate::clock::moment()).await?;
        let ReplayReport { users, memories, turns, observations, members, .. } = report;
        if users + memories + turns + observations + members > 0 {
            tracing::warn!(
                users,
                memories,
                turns,
                observations,
                members,
                "a restored backup contained erased data; it was removed again"
            );
        }
        let ReplayReport { entries, added, skipped, .. } = report;
        tracing::info!(entries, added, skipped, "erasure journal read");
        Ok((engine, report))
    }
}

/// The output format.
#[derive(Debug, Clone, Args)]
pub struct FormatArgs {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Arguments of the commands about the credentials of one tenant.
#[derive(Debug, clap::Args)]
struct TenantArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    format: FormatArgs,
    /// The tenant, by name
    #[arg(long = "tenant", env = "LUKASA_TENANT", value_name = "TENANT")]
    name: String,
}

/// Stack of a worker thread. Without optimisation, the futures of a whole use case need more than the
/// 2 MB that Tokio gives.
const STACK_BYTES: usize = 8 * 1024 * 1024;

pub fn main(commit: &'static str) -> ExitCode {
    version::set_commit(commit);
    // Before the arguments are read: their defaults are variables.
    if let Err(error) = env_file::load() {
        return fail(&error);
    }
    let cli = Cli::parse();
    if cli.no_color {
        anstream::ColorChoice::Never.write_global();
    }
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = match runtime.enable_all().thread_stack_size(STACK_BYTES).build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error.into()),
    };
    let done = runtime.block_on(async {
        match cli.command {
            Command::Save(command) => command.run().await,
            Command::Recall(command) => command.run().await,
            Command::List(command) => command.run().await,
            Command::Log(command) => command.run().await,
            Command::Correct(command) => command.run().await,
            Command::Forget(command) => command.run().await,
            Command::Confirm(command) => command.run().await,
            Command::Undo(command) => command.run().await,
            Command::Preset(command) => command.run().await,
            Command::Demo(command) => command.run().await,
            Command::Connect(command) => command.run().await,
            Command::Serve(command) => command.run().await,
            Command::Service(command) => command.run().await,
            Command::Work(command) => command.run().await,
            Command::Migrate(command) => command.run().await,
            Command::Key(command) => command.run().await,
            Command::SigningKey(command) => command.run().await,
            Command::Audit(command) => command.run().await,
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
            Command::Hook(command) => command.run().await,
            Command::Webhook(command) => command.run().await,
            Command::Space(command) => command.run().await,
            Command::Backup(command) => command.run().await,
            Command::Cell(command) => command.run().await,
            Command::Completions(command) => command.run(),
            Command::Man(command) => command.run(),
            Command::Openapi => print_openapi(),
            Command::Errors => say(&crate::api::render_error_docs()),
        }
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

/// Prints one or more lines on standard output.
fn say(text: &str) -> anyhow::Result<()> {
    let text = text.trim_end();
    // `anstream` removes colours where there is no terminal, or where they are disabled.
    match writeln!(anstream::stdout().lock(), "{text}") {
        // A reader such as `head` that closes its input early is not an error.
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

/// A failure that was already reported: the exit code is 1 and nothing more is printed.
#[derive(Debug)]
struct AlreadyReported;

impl std::fmt::Display for AlreadyReported {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        Ok(())
    }
}

impl std::error::Error for AlreadyReported {}

fn fail(error: &anyhow::Error) -> ExitCode {
    if error.is::<AlreadyReported>() {
        return ExitCode::from(1);
    }
    if let Some(incomplete) = error.downcast_ref::<vault::IncompleteSync>() {
        return ExitCode::from(incomplete.code);
    }
    let mut message = format!("lukasa: {error}\n");
    for cause in error.chain().skip(1) {
        message.push_str(&format!("  because: {cause}\n"));
    }
    if let Some(Error::Invalid(fields)) = error.downcast_ref::<Error>() {
        for field in fields {
            message.push_str(&format!("  {}: {}\n", field.field, field.reason));
        }
    }
    if matches!(error.downcast_ref::<Error>(), Some(Error::Unavailable(_))) {
        message.push_str("  next: check DATABASE_URL with `lukasa doctor`\n");
    }
    // With --json errors are JSON, too.
    if std::env::args_os().any(|argument| argument == "--json") {
        let problem = error.downcast_ref::<client::ServerError>().map(|refused| &refused.problem);
        message = format!("{}\n", json!({ "error": message.trim_end(), "problem": problem }));
    }
    let _ = std::io::stderr().lock().write_all(message.as_bytes());
    if let Some(refused) = error.downcast_ref::<client::ServerError>() {
        return ExitCode::from(client::exit_code(refused));
    }
    let code = match error.downcast_ref::<Error>().map(Error::code) {
        Some(ErrorCode::Unauthenticated | ErrorCode::Forbidden) => 3,
        Some(code) if code.as_str().ends_with("_not_found") => 4,
        Some(
            ErrorCode::KeyTaken
            | ErrorCode::KeyReplaced
            | ErrorCode::VersionMismatch
            | ErrorCode::IdempotencyMismatch,
        ) => 5,
        _ => 1,
    };
    ExitCode::from(code)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    #[test]
    fn command_arguments_are_consistent() {
        super::Cli::command().debug_assert();
    }
}
