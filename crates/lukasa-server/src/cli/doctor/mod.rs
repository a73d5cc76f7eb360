//! `lukasa doctor`

mod cells;
mod quality;
mod services;
mod standby;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use jiff::Timestamp;
use lukasa_core::learning::prompt::{self, ExtractInput};
use lukasa_core::learning::{Transcript, answer};
use lukasa_core::model::Finish;
use lukasa_core::placement::MAIN_CELL;
use lukasa_core::session::Role;
use lukasa_core::{Ids, Origin, TenantId, Turn};
use lukasa_engine::cells::{CellMigration, migrate};
use lukasa_engine::journal::Journal;
use lukasa_engine::{ConnectOptions, DatabaseHealth, Engine, scrub};
use serde_json::json;

use super::show::{BAD, GOOD, ODD, count, paint};
use super::standby::StandbyArgs;
use super::{
    AlreadyReported, DatabaseArgs, ErasureJournalArgs, FormatArgs, env_file, say, say_json,
};
use crate::api::{LOCAL_TENANT, McpSettings};
use crate::clock;
use crate::gateway::UpstreamSettings;
use crate::models::ModelSettings;
use crate::oidc::OidcSettings;
use crate::postgres::ManagedPostgres;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa doctor              check everything, and show how to fix problems
  lukasa doctor --fix        also apply the safe fixes: migrate, and retry failed jobs
  lukasa doctor --json

Exits with 1 if a check failed; warnings alone exit with 0.")]
pub struct DoctorArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    standby: StandbyArgs,
    #[command(flatten)]
    models: ModelSettings,
    #[command(flatten)]
    upstream: UpstreamSettings,
    #[command(flatten)]
    oidc: OidcSettings,
    #[command(flatten)]
    mcp: McpSettings,
    #[command(flatten)]
    journal: ErasureJournalArgs,
    /// URL of the running server
    #[arg(long, env = "LUKASA_URL", default_value = "http://127.0.0.1:7777", value_name = "URL")]
    url: String,
    /// The tenant whose audit log is verified
    #[arg(long, env = "LUKASA_TENANT", default_value = LOCAL_TENANT, value_name = "NAME")]
    tenant: String,
    /// The OpenTelemetry collector that traces are sent to
    #[arg(long, env = "LUKASA_OTLP_ENDPOINT", value_name = "URL")]
    otlp_endpoint: Option<String>,
    /// Apply the safe fixes
    #[arg(long)]
    fix: bool,
    /// The folder of backups, to check the age of the newest
    #[arg(long, env = "LUKASA_BACKUPS", value_name = "FOLDER")]
    backups: Option<PathBuf>,
    #[command(flatten)]
    format: FormatArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Good,
    Warning,
    Bad,
}

/// What was checked, and what was found.
pub(super) struct Check {
    name: &'static str,
    verdict: Verdict,
    found: String,
    /// How to fix it.
    fix: &'static str,
}

impl Check {
    pub fn new(
        name: &'static str,
        good: bool,
        found: impl Into<String>,
        fix: &'static str,
    ) -> Self {
        let verdict = if good { Verdict::Good } else { Verdict::Bad };
        Self { name, verdict, found: found.into(), fix }
    }

    pub fn or_warn(mut self) -> Self {
        if self.verdict == Verdict::Bad {
            self.verdict = Verdict::Warning;
        }
        self
    }
}

impl DoctorArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        if self.fix {
            self.apply_fixes().await?;
        }
        let checks = self.run_checks().await;
        let bad = checks.iter().any(|check| check.verdict == Verdict::Bad);
        if self.format.json {
            let word = |verdict| match verdict {
                Verdict::Good => "ok",
                Verdict::Warning => "warning",
                Verdict::Bad => "failed",
            };
            let list: Vec<_> = checks
                .iter()
                .map(|c| {
                    let fix = (c.verdict != Verdict::Good).then_some(c.fix);
                    json!({ "check": c.name, "result": word(c.verdict), "found": c.found, "fix": fix })
                })
                .collect();
            say_json(&json!({ "ok": !bad, "checks": list }))?;
        } else {
            for check in &checks {
                let mark = match check.verdict {
                    Verdict::Good => paint(GOOD, "ok     "),
                    Verdict::Warning => paint(ODD, "warning"),
                    Verdict::Bad => paint(BAD, "FAILED "),
                };
                say(&format!("{mark}  {:<22}  {}", check.name, check.found))?;
                if check.verdict != Verdict::Good {
                    say(&format!("         {:<22}  fix: {}", "", check.fix))?;
                }
            }
        }
        if bad { Err(AlreadyReported.into()) } else { Ok(()) }
    }

    /// Applies the fixes that are safe without asking: none of them removes or changes stored data.
    async fn apply_fixes(&self) -> anyhow::Result<()> {
        let opened = self.database.open(2).await?;
        let mut applied = 0;
        for CellMigration { cell, steps } in migrate(&opened.connect, false).await? {
            match steps {
                Ok(steps) => applied += steps.len(),
                Err(error) if cell == MAIN_CELL => return Err(error.into()),
                // The checks report it.
                Err(_) => {}
            }
        }
        let retried = opened.engine()?.queue.retry_dead(clock::now()).await?;
        opened.close().await?;
        if !self.format.json {
            let steps = count(applied, "migration applied", "migrations applied");
            say(&format!("fixed: {steps}, {} tried again", count(retried, "job", "jobs")))?;
        }
        Ok(())
    }

    async fn run_checks(&self) -> Vec<Check> {
        let mut checks = vec![env_file::check()];
        checks.extend(self.installation().await);
        checks
    }

    async fn installation(&self) -> Vec<Check> {
        const REACH: &str = "start PostgreSQL, or correct DATABASE_URL; without DATABASE_URL Lukasa \
                             starts its own";
        const NEW_DATABASE: &str = "name a new database in DATABASE_URL, and run `lukasa migrate`";
        let opened = match self.database.open(1).await {
            Ok(opened) => opened,
            Err(error) => return vec![Check::new("database", false, error.to_string(), REACH)],
        };
        let connect = opened.connect.clone();
        let pending = match lukasa_engine::pending_migrations(&connect).await {
            Ok(pending) => pending,
            Err(error @ lukasa_engine::Error::SchemaRefused(_)) => {
                return vec![
                    Check::new("database", true, "reachable", REACH),
                    Check::new("schema", false, error.to_string(), NEW_DATABASE),
                ];
            }
            Err(error) => return vec![Check::new("database", false, with_cause(&error), REACH)],
        };
        let mut checks = vec![Check::new("database", true, "reachable", REACH)];
        let found = match pending.len() {
            0 => "up to date".to_owned(),
            count => format!("{count} migrations to apply"),
        };
        checks.push(Check::new("schema", pending.is_empty(), found, "run `lukasa migrate`"));
        let engine = Engine::connect(&connect);
        let health = match &engine {
            Ok(engine) => engine.health().await,
            Err(_) => Err(lukasa_engine::Error::invalid("DATABASE_URL", "cannot be used")),
        };
        if let (Ok(engine), true) = (&engine, pending.is_empty()) {
            checks.push(self.embedder(engine).await);
            checks.extend(backlog(engine).await);
            checks.extend(quality::quality(engine).await);
            checks.push(self.audit(engine).await);
        }
        if pending.is_empty() {
            let journal = self.journal.or_beside(&opened);
            checks.extend(erasures(&connect, &journal).await);
            checks.extend(cells::cells(&connect).await);
        }
        checks.extend(standby::check(&self.standby, &connect).await);
        checks.extend(self.chats().await);
        checks.extend(self.upstream().await);
        if let (Ok(engine), true) = (&engine, pending.is_empty()) {
            checks.extend(self.token_budget(engine).await);
        }
        checks.extend(self.services().await);
        checks.push(listening());
        checks.push(self.backup_age());
        checks.extend(disk(&connect, opened.managed.as_deref()).await);
        match health {
            Ok(health) => checks.extend(server_checks(&health)),
            Err(error) => checks.push(Check::new(
                "serving role",
                false,
                with_cause(&error),
                "run `lukasa migrate`; it creates the role lukasa_serve and grants it to the login role",
            )),
        }
        checks
    }
}

impl DoctorArgs {
    /// Whether the embedder in use, or the default of a new installation, can be opened.
    async fn embedder(&self, engine: &Engine) -> Check {
        const FIX: &str = "recall matches words only until then";
        let warn = |found: String| Check::new("embedder", false, found, FIX).or_warn();
        let models = match self.models.open() {
            Ok(models) => models,
            Err(error) => return warn(error.to_string()),
        };
        let known = engine.embeddings.models().await.unwrap_or_default();
        let in_use = known.into_iter().find(|record| record.in_use).map(|r| r.model.name);
        let Some(name) = in_use.or_else(|| models.preferred()) else {
            return warn("none is set; set LUKASA_EMBEDDER=potion for recall by meaning".into());
        };
        match models.embedder(&name) {
            Ok(embedder) => Check::new("embedder", true, embedder.model().name.clone(), FIX),
            Err(error) => warn(error.to_string()),
        }
    }
}

impl DoctorArgs {
    /// Whether each chat model can be learned with: it gets the request for learning, with a
    /// conversation of one turn. That costs some tokens and finds what settings cannot show: a
    /// wrong name or key, a form that the service refuses, or a model too small for the answer.
    async fn chats(&self) -> Vec<Check> {
        const FIX: &str = "correct LUKASA_CHAT or LUKASA_CHAT_KEY, or choose another model; nothing \
                           is learned while no chat model answers, but saving and recall still work";
        // Invalid settings are reported by the check of the embedder already.
        let chats = self.models.open().map(|models| models.chats()).unwrap_or_default();
        let news = Transcript::of(&[sample_turn()], &[]);
        let ask = prompt::extract(&news, ExtractInput::default(), self.models.chat_timeout());
        let mut checks = Vec::new();
        for chat in chats {
            let started = clock::ticks();
            let answered = chat.answer(&ask, None).await;
            let seconds = (clock::ticks() - started) as f64 / 1e6;
            let form = chat.request_form().map(|form| format!(" ({form})")).unwrap_or_default();
            let (good, found) = match answered {
                Err(error) => (false, error.to_string()),
                Ok(answer) if answer.finish == Finish::Length => {
                    let why = "is cut off at its limit of tokens (finish_reason: length)";
                    (false, format!("its answer {why}{form}"))
                }
                Ok(answer) => match answer::read(&answer.text) {
                    Ok(_) => (true, format!("answers a request for learning{form}")),
                    Err(error) => (false, format!("{error}{form}")),
                },
            };
            let found = format!("{}: {found}, in {seconds:.1} s", chat.name());
            checks.push(Check::new("chat model", good, found, FIX).or_warn());
        }
        checks
    }
}

/// A turn to learn from that is about no real user.
fn sample_turn() -> Turn {
    let now = clock::now();
    Turn {
        id: Ids::new(now, clock::moment().seed).turn(),
        session: "doctor".into(),
        number: 1,
        role: Role::User,
        speaker: None,
        content: "I drink my tea without sugar.".into(),
        origin: Origin::UserTurn,
        said_at: now,
        recorded_at: now,
        spans: Vec::new(),
        marked: false,
    }
}

impl DoctorArgs {
    /// Whether the service behind the gateway answers, if one is set. It costs no tokens.
    async fn upstream(&self) -> Option<Check> {
        const FIX: &str = "correct LUKASA_UPSTREAM or LUKASA_UPSTREAM_KEY: chats through the gateway \
                           fail without that service";
        let check = |good, found: String| Some(Check::new("upstream", good, found, FIX).or_warn());
        let upstream = match self.upstream.open() {
            Ok(upstream) => upstream?,
            Err(error) => return check(false, error.to_string()),
        };
        match upstream.check(Duration::from_secs(10)).await {
            Ok(status) if status.is_success() => check(true, "lists its models".into()),
            // Clients may send their own keys.
            Ok(status) if [401, 403].contains(&status.as_u16()) && !upstream.has_key() => {
                check(true, format!("answers {} without a key", status.as_u16()))
            }
            Ok(status) => {
                check(false, format!("answers {} to the list of models", status.as_u16()))
            }
            Err(why) => check(false, why),
        }
    }
}

impl DoctorArgs {
    /// Whether tokens are limited, if several users share the server's key of a model service.
    async fn token_budget(&self, engine: &Engine) -> Option<Check> {
        const FIX: &str = "set LUKASA_CHAT_TOKENS or LUKASA_CHAT_KEY_TOKENS, and the models with \
                           LUKASA_UPSTREAM_MODELS: one user can spend the whole account";
        let upstream = self.upstream.open().ok()??;
        let tenant = TenantId::named(&self.tenant);
        let users = engine.directory.users(tenant, None, 2).await.ok()?.0.len();
        if !upstream.has_key() || users < 2 {
            return None;
        }
        let budgets = &self.upstream.budgets;
        let is_limited = budgets.chat_tokens > 0 || budgets.chat_key_tokens > 0;
        let found = match is_limited {
            true => "tokens per day are limited",
            false => {
                "several users share the key of the model service, and no budget of tokens is set"
            }
        };
        Some(Check::new("token budget", is_limited, found, FIX).or_warn())
    }
}

impl DoctorArgs {
    /// The age of the newest backup, by the manifests that `lukasa backup make` writes.
    fn backup_age(&self) -> Check {
        const FIX: &str = "run `lukasa backup make FILE` by cron into a folder on another machine, and \
                           name the folder with LUKASA_BACKUPS";
        let Some(folder) = &self.backups else {
            let found = "no backup folder is set, so the age of the newest backup is unknown";
            return Check::new("backup", false, found, FIX).or_warn();
        };
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let made = entries.filter_map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(entry.path()).ok();
            let text = text.filter(|_| name.ends_with(".manifest.json"))?;
            let manifest: serde_json::Value = serde_json::from_str(&text).ok()?;
            manifest["made_at"].as_str()?.parse::<Timestamp>().ok()
        });
        let (good, found) = match made.max() {
            None => (false, format!("there is no backup in {}", folder.display())),
            Some(at) => {
                let hours = clock::now().duration_since(at).as_hours();
                (hours <= MAX_BACKUP_AGE_HOURS, format!("the newest is {hours} hours old"))
            }
        };
        Check::new("backup", good, found, FIX).or_warn()
    }
}

/// Highest age of the newest backup: a day, and some hours for a late cron job.
const MAX_BACKUP_AGE_HOURS: i64 = 30;
/// Least free space on the disk of the database.
const MIN_FREE_BYTES: u64 = 1 << 30;
/// Largest difference between the clocks: known time is taken from the server's clock.
const MAX_SKEW_MS: i128 = 2_000;
/// Longest time that a due job may wait for a worker.
const MAX_LAG_MINUTES: i64 = 15;

/// Whether `lukasa serve` would start with the listen and auth settings of this shell.
fn listening() -> Check {
    let of = |name: &str, usual: &str| std::env::var(name).unwrap_or_else(|_| usual.to_owned());
    let (listen, auth) = (of("LUKASA_LISTEN", "127.0.0.1:7777"), of("LUKASA_AUTH", "off"));
    let address = listen.parse::<std::net::SocketAddr>();
    let open = address.as_ref().is_ok_and(|address| !address.ip().is_loopback());
    let found = match &address {
        Ok(_) => format!("{listen}, authentication {auth}"),
        Err(_) => format!("{listen} is not an address"),
    };
    Check::new(
        "listening",
        address.is_ok() && (!open || auth == "keys"),
        found,
        "set LUKASA_AUTH=keys to listen beyond this machine, or LUKASA_LISTEN=127.0.0.1:7777",
    )
}

/// Whether the clocks agree, and whether work is being done.
async fn backlog(engine: &Engine) -> Vec<Check> {
    let now = clock::now();
    let behind = match engine.backlog(now).await {
        Ok(behind) => behind,
        Err(error) => {
            let fix = "run `lukasa migrate`";
            return vec![Check::new("jobs", false, with_cause(&error), fix)];
        }
    };
    let apart = behind.clock.duration_since(now).as_millis();
    let lag = behind.due_since.map_or(0, |since| now.duration_since(since).as_secs() / 60);
    vec![
        Check::new(
            "clock",
            apart.abs() <= MAX_SKEW_MS,
            format!("{apart} ms from the database's"),
            "set both machines' clocks by NTP: known times are taken from the server's clock",
        )
        .or_warn(),
        Check::new(
            "jobs",
            lag <= MAX_LAG_MINUTES,
            format!("{} due, the oldest for {lag} minutes", behind.due),
            "serve with --workers 2, or run `lukasa work` beside the server",
        )
        .or_warn(),
        Check::new(
            "dead jobs",
            behind.dead == 0,
            format!("{} failed permanently", behind.dead),
            "fix their errors (see GET /api/jobs), then retry them with `lukasa doctor --fix`",
        )
        .or_warn(),
        Check::new(
            "log archive",
            behind.archive_fault.is_none(),
            behind.archive_fault.as_deref().unwrap_or("nothing has failed"),
            "correct PostgreSQL's archive_command: until then the log grows and backups fall behind",
        )
        .or_warn(),
    ]
}

/// Whether the disk of the database has free space, if it is on this machine.
async fn disk(connect: &ConnectOptions, managed: Option<&ManagedPostgres>) -> Option<Check> {
    let folder = match managed {
        Some(managed) => Some(managed.folder().to_owned()),
        None => lukasa_engine::data_directory(connect).await.ok().flatten().map(PathBuf::from),
    };
    let folder = folder.filter(|folder| folder.exists())?;
    let free = crate::system::disk::free_bytes(&folder)?;
    let found = format!("{:.1} GB free at {}", free as f64 / 1e9, folder.display());
    let fix = "free some space, or move the database: it stops when the disk is full";
    Some(Check::new("disk", free >= MIN_FREE_BYTES, found, fix))
}

/// Whether there is an erasure journal, without which a restored backup would restore erased data,
/// and whether erased data is still in the database's files.
async fn erasures(connect: &ConnectOptions, journal: &ErasureJournalArgs) -> Vec<Check> {
    let (good, found) = match &journal.erasure_journal {
        None => (false, "none is set: a restored backup would restore erased data".into()),
        Some(path) if !path.exists() => {
            (false, format!("{} does not exist; the server creates it", path.display()))
        }
        // `open` opens for writing, so this checks the permissions, too.
        Some(path) => match Journal::open(path).and_then(|journal| journal.read()) {
            Ok(entries) => (true, format!("{} erasures recorded", entries.len())),
            Err(error) => (false, format!("{}: {error}", path.display())),
        },
    };
    let journal = Check::new(
        "erasure journal",
        good,
        found,
        "serve with --erasure-journal FILE, on another disk than the database, and back it up",
    );
    let pending = scrub::unscrubbed(connect).await;
    let (good, found) = match pending {
        Ok(0) => (true, "no erased data is left in them".to_owned()),
        Ok(count) => (false, format!("the data of {count} erasures is still in them")),
        Err(error) => (false, with_cause(&error)),
    };
    let files = Check::new(
        "files",
        good,
        found,
        "run `lukasa scrub` as the owner, or serve with --scrub-at HOUR",
    );
    vec![journal.or_warn(), files.or_warn()]
}

fn with_cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

/// Checks of the database server and of the roles.
fn server_checks(health: &DatabaseHealth) -> Vec<Check> {
    let major: u32 =
        health.server_version.split(['.', ' ']).next().and_then(|n| n.parse().ok()).unwrap_or(0);
    let role =
        health.unguarded_because().unwrap_or_else(|| format!("{} is bound by it", health.role));
    let login = match health.login_is_superuser {
        true => format!("{} is a superuser", health.login_role),
        false => health.login_role.clone(),
    };
    vec![
        Check::new("PostgreSQL", major >= 18, &health.server_version, "upgrade to PostgreSQL 18"),
        Check::new(
            "pgvector",
            health.pgvector.is_some(),
            health.pgvector.as_deref().unwrap_or("not installed"),
            "install the pgvector package and run `lukasa migrate`",
        ),
        Check::new(
            "row-level security",
            health.unguarded_because().is_none(),
            role,
            "serve as lukasa_serve, which owns no table and cannot bypass row-level security",
        ),
        Check::new(
            "connections",
            health.pooler_fault().is_none(),
            health.pooler_fault().as_deref().unwrap_or("keep role, timeouts and statements"),
            "set up the connection pooler as docs/operations.md says, section \"Through PgBouncer\"",
        ),
        Check::new(
            "login role",
            !health.login_is_superuser,
            login,
            "fine on your own machine; elsewhere serve from a login role that is only granted \
             lukasa_serve",
        )
        .or_warn(),
        Check::new(
            "durability",
            health.fsync == "on" && health.synchronous_commit != "off",
            format!("fsync {}, synchronous_commit {}", health.fsync, health.synchronous_commit),
            "set fsync = on and synchronous_commit = on; otherwise a crash loses acknowledged \
             writes",
        ),
        Check::new(
            "PostgreSQL's log",
            health.logs_content.is_none(),
            health.logs_content.as_deref().unwrap_or("holds no memories"),
            "set log_parameter_max_length = 0 and log_parameter_max_length_on_error = 0, or its log \
             keeps the content of memories even after they are erased",
        )
        .or_warn(),
    ]
}
