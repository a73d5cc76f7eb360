//! `quipu doctor`

use std::time::Duration;

use clap::Args;
use quipu_core::model::{AnswerSchema, ChatAsk, Message};
use quipu_engine::erasure::{self, Journal};
use quipu_engine::{Connect, Engine, Health};
use serde_json::json;

use super::{Database, ErasureJournal, Format, Said, say, say_json};
use crate::models::ModelSettings;

#[derive(Debug, Args)]
#[command(after_help = "Exits with 1 if something must be mended; warnings alone do not.")]
pub struct Doctor {
    #[command(flatten)]
    database: Database,
    #[command(flatten)]
    models: ModelSettings,
    #[command(flatten)]
    journal: ErasureJournal,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Good,
    Warning,
    Bad,
}

struct Check {
    name: &'static str,
    verdict: Verdict,
    found: String,
    /// What to do about it.
    fix: &'static str,
}

impl Check {
    fn new(name: &'static str, good: bool, found: impl Into<String>, fix: &'static str) -> Self {
        let verdict = if good { Verdict::Good } else { Verdict::Bad };
        Self { name, verdict, found: found.into(), fix }
    }

    fn or_warn(mut self) -> Self {
        if self.verdict == Verdict::Bad {
            self.verdict = Verdict::Warning;
        }
        self
    }
}

impl Doctor {
    pub async fn run(self) -> anyhow::Result<()> {
        let checks = self.look().await;
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
                    Verdict::Good => "ok     ",
                    Verdict::Warning => "warning",
                    Verdict::Bad => "FAILED ",
                };
                say(&format!("{mark}  {:<22}  {}", check.name, check.found))?;
                if check.verdict != Verdict::Good {
                    say(&format!("         {:<22}  fix: {}", "", check.fix))?;
                }
            }
        }
        if bad { Err(Said.into()) } else { Ok(()) }
    }

    async fn look(&self) -> Vec<Check> {
        const REACH: &str = "start PostgreSQL, or correct DATABASE_URL; `scripts/postgres start` \
                             gives you a private one";
        let opened = match self.database.open(1).await {
            Ok(opened) => opened,
            Err(error) => return vec![Check::new("database", false, error.to_string(), REACH)],
        };
        let connect = opened.connect.clone();
        let pending = match quipu_engine::pending_migrations(&connect).await {
            Ok(pending) => pending,
            Err(error) => return vec![Check::new("database", false, with_cause(&error), REACH)],
        };
        let mut checks = vec![Check::new("database", true, "reachable", REACH)];
        let found = match pending.len() {
            0 => "up to date".to_owned(),
            count => format!("{count} migrations to apply"),
        };
        checks.push(Check::new("schema", pending.is_empty(), found, "run `quipu migrate`"));
        let engine = Engine::connect(&connect);
        let health = match &engine {
            Ok(engine) => engine.health().await,
            Err(_) => Err(quipu_engine::Error::invalid("DATABASE_URL", "cannot be used")),
        };
        if let (Ok(engine), true) = (&engine, pending.is_empty()) {
            checks.push(self.embedder(engine).await);
        }
        if pending.is_empty() {
            checks.extend(self.erasures(&connect).await);
        }
        checks.extend(self.chats().await);
        match health {
            Ok(health) => checks.extend(judge(&health)),
            Err(error) => checks.push(Check::new(
                "serving role",
                false,
                with_cause(&error),
                "run `quipu migrate`; it makes the role quipu_serve and grants it to you",
            )),
        }
        checks
    }
}

impl Doctor {
    /// Whether the embedder in use, or the one a new installation would begin with, can be opened.
    async fn embedder(&self, engine: &Engine) -> Check {
        const FIX: &str = "recall goes by words alone until then";
        let warn = |found: String| Check::new("embedder", false, found, FIX).or_warn();
        let models = match self.models.open() {
            Ok(models) => models,
            Err(error) => return warn(error.to_string()),
        };
        let known = engine.models().await.unwrap_or_default();
        let in_use = known.into_iter().find(|record| record.in_use).map(|r| r.model.name);
        let Some(name) = in_use.or_else(|| models.preferred()) else {
            return warn("none is set; set QUIPU_EMBEDDER=potion for recall by meaning".into());
        };
        match models.embedder(&name) {
            Ok(embedder) => Check::new("embedder", true, embedder.model().name.clone(), FIX),
            Err(error) => warn(error.to_string()),
        }
    }
}

impl Doctor {
    /// Whether each chat model answers in the form it is asked for. The question costs some tokens,
    /// and finds out what no setting says: a wrong name or key, or a service that takes no schema.
    async fn chats(&self) -> Vec<Check> {
        const FIX: &str = "correct QUIPU_CHAT or its key; nothing is extracted while no chat model \
                           answers, and what is saved and recalled is not affected";
        // What is wrong with the settings is said beside the embedder already.
        let chats = self.models.open().map(|models| models.chats()).unwrap_or_default();
        let properties = json!({ "yes": { "type": "boolean" } });
        let schema = json!({ "type": "object", "properties": properties, "required": ["yes"],
            "additionalProperties": false });
        let ask = ChatAsk {
            messages: vec![Message::user("Answer with the JSON object {\"yes\": true}.")],
            schema: Some(AnswerSchema { name: "check", schema }),
            max_tokens: 64,
            within: Duration::from_secs(20),
        };
        let mut checks = Vec::new();
        for chat in chats {
            let (good, found) = match chat.answer(&ask, None).await {
                Ok(_) => (true, format!("{} answers", chat.name())),
                Err(error) => (false, format!("{}: {error}", chat.name())),
            };
            checks.push(Check::new("chat model", good, found, FIX).or_warn());
        }
        checks
    }
}

impl Doctor {
    /// Whether a restored backup would bring back what was erased, and whether what was erased has
    /// left the files.
    async fn erasures(&self, connect: &Connect) -> Vec<Check> {
        let (good, found) = match &self.journal.erasure_journal {
            None => (false, "none is kept: a restored backup brings back what was erased".into()),
            Some(path) if !path.exists() => {
                (false, format!("{} is not there; the server makes it", path.display()))
            }
            Some(path) => match Journal::open(path).and_then(|journal| journal.read()) {
                Ok(entries) => (true, format!("{} erasures written down", entries.len())),
                Err(error) => (false, format!("{}: {error}", path.display())),
            },
        };
        let journal = Check::new(
            "erasure journal",
            good,
            found,
            "serve with --erasure-journal FILE, on another disk than the database, and back it up",
        );
        let pending = erasure::unscrubbed(connect).await;
        let (good, found) = match pending {
            Ok(0) => (true, "nothing that was erased is left in them".to_owned()),
            Ok(count) => (false, format!("{count} erasures are still in them")),
            Err(error) => (false, with_cause(&error)),
        };
        let files = Check::new(
            "files",
            good,
            found,
            "run `quipu scrub` as the owner, or serve with --scrub-at HOUR",
        );
        vec![journal.or_warn(), files.or_warn()]
    }
}

fn with_cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

fn judge(health: &Health) -> Vec<Check> {
    let major: u32 =
        health.server_version.split(['.', ' ']).next().and_then(|n| n.parse().ok()).unwrap_or(0);
    let role = health.unsafe_because().unwrap_or_else(|| format!("{} is held by it", health.role));
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
            "install the pgvector package and run `quipu migrate`",
        ),
        Check::new(
            "row-level security",
            health.unsafe_because().is_none(),
            role,
            "serve as quipu_serve, which owns no table and cannot bypass row-level security",
        ),
        Check::new(
            "login role",
            !health.login_is_superuser,
            login,
            "fine on your own machine; elsewhere serve from a login role that is only granted \
             quipu_serve",
        )
        .or_warn(),
        Check::new(
            "durability",
            health.fsync == "on" && health.synchronous_commit != "off",
            format!("fsync {}, synchronous_commit {}", health.fsync, health.synchronous_commit),
            "set fsync = on and synchronous_commit = on; otherwise a crash loses what was \
             acknowledged",
        ),
        Check::new(
            "PostgreSQL's log",
            health.logs_content.is_none(),
            health.logs_content.as_deref().unwrap_or("holds no memories"),
            "set log_parameter_max_length = 0 and log_parameter_max_length_on_error = 0, or its log \
             holds what was saved and later erased",
        )
        .or_warn(),
    ]
}
