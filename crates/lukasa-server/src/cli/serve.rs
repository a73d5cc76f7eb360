//! `lukasa serve`

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::{Args, ValueEnum};
use lukasa_core::Policy;
use lukasa_core::policy::PRESETS;
use lukasa_engine::{Engine, PoolSizes};
use tracing_subscriber::EnvFilter;

use super::{Database, ErasureJournal, Opened, scrub};
use crate::clock;
use crate::gateway::{Gateway, UpstreamSettings};
use crate::http::{App, Console, Door, LOCAL_TENANT, LimitSettings, McpSettings, router_with};
use crate::listen::{self, ListenLimits};
use crate::models::ModelSettings;
use crate::webhook::WebhookSettings;
use crate::workers::{Workers, connections};

/// Memory for cached user indexes, unless set otherwise, in megabytes.
pub const INDEX_MEMORY_MB: u64 = 512;
/// Indexed passages per user, unless set otherwise: about 220 MB of memory.
pub const INDEX_PASSAGES: usize = 100_000;
pub const MEGABYTE: u64 = 1024 * 1024;

/// How callers are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Auth {
    /// No authentication: only this machine is answered, as the person whose machine it is.
    Off,
    /// Every request carries a key or a token.
    Keys,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Without a database URL Lukasa starts a PostgreSQL of its own, on a folder of yours, and stops it when it
ends; if the machine has none to start, it says how to get one.
Without authentication the server answers this machine only, and refuses to listen anywhere else.
Stop it with Ctrl-C or SIGTERM: it takes no new requests, finishes the ones it has, and ends.
Logs go to standard error and hold no content of memories.")]
pub struct Serve {
    #[command(flatten)]
    database: Database,
    #[command(flatten)]
    models: ModelSettings,
    #[command(flatten)]
    upstream: UpstreamSettings,
    /// Where to listen
    #[arg(long, env = "LUKASA_LISTEN", default_value = "127.0.0.1:7777", value_name = "ADDRESS")]
    listen: SocketAddr,
    /// How callers are told apart
    #[arg(long, env = "LUKASA_AUTH", default_value = "off")]
    auth: Auth,
    /// Bring the schema up to date first
    #[arg(long, env = "LUKASA_MIGRATE")]
    migrate: bool,
    /// Connections to the database for requests
    #[arg(long, env = "LUKASA_POOL_SIZE", default_value_t = 16, value_name = "N")]
    pool_size: usize,
    /// Connections to the database for checking credentials and readiness
    #[arg(long, env = "LUKASA_ADMISSION_POOL", default_value_t = 2, value_name = "N")]
    admission_pool: usize,
    /// Connections to the database for jobs and notes; as many as the workers can use if absent
    #[arg(long, env = "LUKASA_BACKGROUND_POOL", value_name = "N")]
    background_pool: Option<usize>,
    /// Memory for the indexes of users who were here lately, in megabytes; 0 keeps none
    #[arg(long, env = "LUKASA_INDEX_MEMORY", default_value_t = INDEX_MEMORY_MB,
          value_name = "MB")]
    index_memory: u64,
    /// Passages of one user that recall indexes at most; beyond that, the oldest turns are left out
    #[arg(long, env = "LUKASA_INDEX_PASSAGES", default_value_t = INDEX_PASSAGES, value_name = "N")]
    index_passages: usize,
    /// How many jobs to run at a time, of learning and of webhook deliveries each; 0 leaves them to
    /// `lukasa work`
    #[arg(long, env = "LUKASA_WORKERS", default_value_t = 2, value_name = "N")]
    workers: usize,
    /// What may happen without asking where nobody has said: balanced, advisor, chat, assistant,
    /// research or clone
    #[arg(long, env = "LUKASA_POLICY", default_value = "balanced", value_name = "PRESET")]
    policy: String,
    #[command(flatten)]
    mcp: McpSettings,
    /// Serve the console from a folder, for those who work on it
    #[arg(long, env = "LUKASA_CONSOLE", value_name = "DIR")]
    console: Option<PathBuf>,
    #[command(flatten)]
    webhooks: WebhookSettings,
    #[command(flatten)]
    journal: ErasureJournal,
    /// The hour (UTC) at which what was erased is to leave the database's files, if the login role may
    /// rewrite them; without it, run `lukasa scrub`
    #[arg(long, env = "LUKASA_SCRUB_AT", value_name = "HOUR",
          value_parser = clap::value_parser!(i8).range(0..24))]
    scrub_at: Option<i8>,
    #[command(flatten)]
    limits: LimitSettings,
    #[command(flatten)]
    logging: Logging,
    /// How long to answer as usual when stopping, while `/readyz` says no, in seconds: a load balancer
    /// needs so long to send requests elsewhere. Nothing by default without authentication
    #[arg(long, env = "LUKASA_DRAIN_DELAY", value_name = "SECONDS")]
    drain_delay: Option<u64>,
    /// How long to wait for requests and jobs under way when stopping, in seconds
    #[arg(long, env = "LUKASA_GRACE", default_value_t = 20, value_name = "SECONDS")]
    grace: u64,
}

/// How long a server with authentication keeps serving after SIGTERM while it reports not ready.
const DRAIN_DELAY: Duration = Duration::from_secs(5);
/// How long to wait at the end for what was said through the gateway to be kept.
const CAPTURE_DRAIN: Duration = Duration::from_secs(5);
/// How often expired credentials are removed, and how long after the start for the first time.
const SWEEP_INTERVAL: Duration = Duration::from_hours(1);
const FIRST_SWEEP: Duration = Duration::from_mins(1);

impl Serve {
    /// A server for the person whose machine it is, with everything else as usual.
    pub fn on_this_machine(database: Database, models: ModelSettings, listen: SocketAddr) -> Self {
        Self {
            database,
            models,
            listen,
            auth: Auth::Off,
            migrate: true,
            pool_size: 16,
            admission_pool: 2,
            background_pool: None,
            index_memory: INDEX_MEMORY_MB,
            index_passages: INDEX_PASSAGES,
            workers: 2,
            policy: "balanced".into(),
            upstream: UpstreamSettings::default(),
            mcp: McpSettings::default(),
            console: None,
            webhooks: WebhookSettings::default(),
            journal: ErasureJournal { erasure_journal: None },
            scrub_at: None,
            limits: LimitSettings::default(),
            logging: Logging { log: "warn".into(), log_format: LogFormat::Text },
            drain_delay: None,
            grace: 20,
        }
    }

    pub async fn run(self) -> anyhow::Result<()> {
        self.run_and_tell(|_| {}).await
    }

    /// Serves, and tells where as soon as it does.
    pub async fn run_and_tell(self, tell: impl FnOnce(SocketAddr)) -> anyhow::Result<()> {
        if self.auth == Auth::Off && !self.listen.ip().is_loopback() {
            bail!(
                "refusing to listen on {} without authentication\n  next: make a key with \
                 `lukasa key create --tenant NAME --name NAME` and serve with `--auth keys`",
                self.listen
            );
        }
        self.logging.start()?;
        let opened = self.database.open(self.pool_size).await?;
        if opened.is_borrowed() {
            bail!(
                "another Lukasa serves from this data folder already\n  next: use that one, or choose \
                 another folder with --data-dir"
            );
        }
        let served = self.serve(&opened, tell).await;
        opened.close().await?;
        served
    }

    async fn serve(&self, opened: &Opened, tell: impl FnOnce(SocketAddr)) -> anyhow::Result<()> {
        // Every setting is named: one that nothing reads does not compile.
        let Self {
            database: _,
            models,
            upstream,
            listen,
            auth,
            migrate,
            pool_size,
            admission_pool,
            background_pool,
            index_memory,
            index_passages,
            workers,
            policy,
            mcp,
            console,
            webhooks,
            journal,
            scrub_at,
            logging: _,
            grace,
            limits,
            drain_delay,
        } = self;
        let (deadline, budgets) = (upstream.deadline(), &upstream.budgets);
        let upstream = upstream.open()?;
        let connect = opened.connect.clone();
        if let Some(own) = &opened.own {
            tracing::info!(
                version = own.programs().version(),
                folder = %own.folder().display(),
                "a PostgreSQL of Lukasa's own"
            );
        }
        if *migrate {
            for step in lukasa_engine::migrate(&connect).await? {
                tracing::info!(version = step.version, name = step.name, "migration applied");
            }
        }
        let sizes = PoolSizes {
            admission: *admission_pool,
            background: background_pool.unwrap_or_else(|| connections(*workers)),
        };
        let engine = Engine::connect_with(&connect, sizes)?
            .with_models(models.open()?)
            .with_policy(preset(policy)?)
            .with_courier(webhooks.courier())
            .with_index_limits(index_memory.saturating_mul(MEGABYTE), *index_passages)
            .with_clock(clock::now)
            .with_ticks(clock::ticks);
        check(&engine, opened).await?;
        let engine = journal.or_beside(opened).replay(engine).await?;
        settle_model(&engine).await?;
        if *auth == Auth::Off {
            engine.ensure_tenant(LOCAL_TENANT, clock::now()).await?;
        }
        let door = if *auth == Auth::Off { Door::Local } else { Door::Keys };
        let listener = tokio::net::TcpListener::bind(listen)
            .await
            .with_context(|| format!("cannot listen on {listen}"))?;
        let address = listener.local_addr()?;
        tracing::info!(%address, ?auth, "listening");
        if *auth == Auth::Off {
            tracing::info!("no authentication: only this machine is answered");
            tracing::info!("open http://{address}/ in a browser to see what is known");
        }
        tell(address);
        // The first request should not wait for the counter of tokens to be built.
        tokio::task::spawn_blocking(lukasa_core::context::tokens::warm);
        let console = console.as_deref().map_or_else(Console::default, Console::folder);
        let app = App::new(engine.clone(), door)
            .with_limits(limits, *pool_size)
            .with_mcp(mcp.clone())
            .with_console(console);
        let gateway =
            Gateway::new(app.clone(), upstream).with_deadline(deadline).with_budgets(budgets);
        let workers = Workers::start(&engine, *workers);
        if let Some(hour) = scrub_at {
            tokio::spawn(scrub::nightly(connect, *hour));
        }
        let sweeping = tokio::spawn(sweep_credentials(engine.clone()));
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let (streams, draining) = (engine.clone(), app.clone());
        let delay = match auth {
            Auth::Off => Duration::ZERO,
            Auth::Keys => DRAIN_DELAY,
        };
        let delay = drain_delay.map_or(delay, Duration::from_secs);
        let limits = ListenLimits::of_connections(limits.max_connections);
        let router = router_with(app, gateway.clone());
        let server = listen::serve(listener, router, limits, async move {
            asked_to_stop().await;
            // Not ready first, so that no new requests are sent here; then no new connections.
            draining.start_draining();
            tokio::time::sleep(delay).await;
            // Streams of events never end by themselves.
            streams.stop_listening();
            let _ = stop.send(());
        });
        let grace = Duration::from_secs(*grace);
        let overdue = async {
            let _ = stopped.await;
            tokio::time::sleep(grace).await;
        };
        let without = async {
            match &opened.own {
                Some(own) => own.ended().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = server => {}
            how = without => bail!(
                "the PostgreSQL of Lukasa's own has ended ({how})\n  next: start Lukasa again, which \
                 recovers it; its log is in {}",
                opened.folder.as_deref().unwrap_or(Path::new(".")).display()
            ),
            () = overdue => tracing::warn!("stopping with requests still under way"),
        }
        // Both at once, and jobs have as long as captures: with the drain delay and the grace time this
        // stays below the time a supervisor waits before it kills.
        tokio::join!(gateway.drain(CAPTURE_DRAIN), workers.stop(CAPTURE_DRAIN.min(grace)));
        sweeping.abort();
        engine.close();
        tracing::info!("stopped");
        Ok(())
    }
}

/// Removes expired tokens, links and sign-ins now and then.
async fn sweep_credentials(engine: Engine) {
    tokio::time::sleep(FIRST_SWEEP).await;
    loop {
        match engine.sweep_credentials().await {
            Ok(0) => {}
            Ok(removed) => tracing::info!(removed, "expired credentials removed"),
            Err(error) => tracing::warn!(%error, "could not remove expired credentials"),
        }
        tokio::time::sleep(SWEEP_INTERVAL).await;
    }
}

/// How to log.
#[derive(Debug, Args)]
pub struct Logging {
    /// What to log: error, warn, info, debug, or per module
    #[arg(
        long,
        env = "LUKASA_LOG",
        default_value = "info,refinery_core=warn",
        value_name = "FILTER"
    )]
    log: String,
    /// How to log
    #[arg(long, env = "LUKASA_LOG_FORMAT", default_value = "text")]
    log_format: LogFormat,
}

impl Logging {
    pub fn start(&self) -> anyhow::Result<()> {
        let Self { log, log_format } = self;
        let mut filter = EnvFilter::try_new(log).context("the log filter is not valid")?;
        // Below this level the database driver logs what statements are given: memories.
        // So does the protocol's library with what is called and answered, and at the next one it logs
        // every call once more.
        for driver in ["tokio_postgres=info", "tokio_postgres::query=info", "rmcp=warn"] {
            filter = filter.add_directive(driver.parse()?);
        }
        let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
        match log_format {
            LogFormat::Json => lines.json().flatten_event(true).init(),
            LogFormat::Text => {
                use std::io::IsTerminal as _;
                lines.with_ansi(std::io::stderr().is_terminal()).with_target(false).init();
            }
        }
        Ok(())
    }
}

/// A policy by the name of its preset.
pub fn preset(name: &str) -> anyhow::Result<Policy> {
    Policy::preset(name).with_context(|| {
        format!("there is no policy called {name}\n  next: one of {}", PRESETS.join(", "))
    })
}

/// Refuses to serve from a database that would not hold the line between users.
pub async fn check(engine: &Engine, opened: &Opened) -> anyhow::Result<()> {
    let health = match engine.health().await {
        Ok(health) => health,
        // Without having asked, nobody knows whether this database holds the line. Whatever
        // supervises the server starts it again.
        Err(lukasa_engine::Error::Unavailable(error)) => bail!(
            "cannot reach the database\n  because: {error}\n  next: `lukasa doctor` says what is wrong"
        ),
        Err(error) => {
            return Err(error).context("cannot ask the database about itself; try `lukasa doctor`");
        }
    };
    if let Some(reason) = health.unsafe_because() {
        bail!("refusing to serve: {reason}");
    }
    let missing = engine.missing_migrations().await?;
    if !missing.is_empty() {
        bail!(
            "the schema is not up to date: it lacks {}\n  next: run `lukasa migrate`, or serve with \
             --migrate",
            missing.join(", ")
        );
    }
    // The PostgreSQL that Lukasa starts for itself has no other login, and answers this account only.
    if health.login_is_superuser && opened.folder.is_none() {
        tracing::warn!(
            login = health.login_role,
            "the login role is a superuser, so a statement could leave the restricted role; use a \
             login role that is only a member of lukasa_serve"
        );
    }
    if health.fsync != "on" || health.synchronous_commit == "off" {
        tracing::warn!(
            fsync = health.fsync,
            synchronous_commit = health.synchronous_commit,
            "the database may lose what it has acknowledged"
        );
    }
    Ok(())
}

/// Says which embedder is in use, or what to do to have one. Without one, recall goes by words.
pub async fn settle_model(engine: &Engine) -> anyhow::Result<()> {
    lukasa_core::context::tokens::warm();
    match engine.settle_model(clock::now()).await? {
        Ok(Some(model)) => {
            tracing::info!(model = model.name, dimension = model.dimension, "embedder ready");
        }
        Ok(None) => tracing::info!("no embedder: recall goes by words alone"),
        Err(error) => tracing::warn!(%error, "recall goes by words alone"),
    }
    Ok(())
}

pub async fn asked_to_stop() {
    let interrupt = tokio::signal::ctrl_c();
    let Ok(mut terminate) =
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
    else {
        let _ = interrupt.await;
        return;
    };
    tokio::select! {
        _ = interrupt => {}
        _ = terminate.recv() => {}
    }
    tracing::info!("stopping");
}
