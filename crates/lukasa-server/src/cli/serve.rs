//! `lukasa serve`

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, bail};
use clap::builder::RangedU64ValueParser;
use clap::{ArgAction, Args, ValueEnum};
use lukasa_engine::{Engine, PoolSizes};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

use super::migrate::migrate_and_log;
use super::policy::PolicySettings;
use super::standby::StandbyArgs;
use super::{DatabaseArgs, ErasureJournalArgs, OpenDatabase, scrub};
use crate::api::{App, AuthMode, Console, LOCAL_TENANT, LimitSettings, McpSettings};
use crate::clock;
use crate::gateway::{Gateway, UpstreamSettings};
use crate::http::router_with;
use crate::listen::{self, ListenLimits};
use crate::models::ModelSettings;
use crate::oidc::OidcSettings;
use crate::system::signals;
use crate::telemetry::MetricsSettings;
use crate::traces::{RegistryLayer, TraceExport};
use crate::webhook::WebhookSettings;
use crate::workers::{Workers, connections};

/// Memory for cached user indexes, unless set otherwise, in megabytes.
pub const INDEX_MEMORY_MB: u64 = 512;
/// Indexed passages per user, unless set otherwise: about 220 MB of memory.
pub const INDEX_PASSAGES: usize = 250_000;
pub const MEGABYTE: u64 = 1024 * 1024;

/// How callers are authenticated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Auth {
    /// No authentication: only this machine is served, and every request acts as its local user.
    Off,
    /// Every request carries a key or a token.
    Keys,
}

/// Parses the number of connections of a pool.
fn pool_size_parser(min: u64) -> RangedU64ValueParser<usize> {
    /// A mistake beyond this would take the connections of all servers.
    const MAX_POOL_SIZE: u64 = 1000;
    RangedU64ValueParser::new().range(min..=MAX_POOL_SIZE)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Without a database URL Lukasa starts its own PostgreSQL, with its files in your data folder, and stops it
when it ends; if PostgreSQL is not installed, it prints how to install it.
Without authentication the server answers this machine only, and refuses to listen anywhere else.
Stop it with Ctrl-C or SIGTERM: it takes no new requests, finishes the ones it has, and ends.
Logs go to standard error and hold no content of memories.")]
pub struct ServeArgs {
    #[command(flatten)]
    database: DatabaseArgs,
    #[command(flatten)]
    standby: StandbyArgs,
    #[command(flatten)]
    models: ModelSettings,
    #[command(flatten)]
    upstream: UpstreamSettings,
    /// Where to listen
    #[arg(long, env = "LUKASA_LISTEN", default_value = "127.0.0.1:7777", value_name = "ADDRESS")]
    listen: SocketAddr,
    /// How callers are authenticated
    #[arg(long, env = "LUKASA_AUTH", default_value = "off")]
    auth: Auth,
    /// Bring the schema up to date first
    #[arg(long, env = "LUKASA_MIGRATE")]
    migrate: bool,
    /// Connections to the database for requests, 2 to 1000
    #[arg(long, env = "LUKASA_POOL_SIZE", default_value_t = 16, value_name = "N",
          value_parser = pool_size_parser(2))]
    pool_size: usize,
    /// Connections to the database for checking credentials and readiness, 1 to 1000
    #[arg(long, env = "LUKASA_AUTH_POOL", default_value_t = 2, value_name = "N",
          value_parser = pool_size_parser(1))]
    auth_pool: usize,
    /// Connections to the database for jobs and best-effort writes, 1 to 1000; as many as the workers
    /// can use if absent
    #[arg(long, env = "LUKASA_BACKGROUND_POOL", value_name = "N",
          value_parser = pool_size_parser(1))]
    background_pool: Option<usize>,
    /// Memory for the cached indexes of recent users, in megabytes; 0 disables the cache
    #[arg(long, env = "LUKASA_INDEX_MEMORY", default_value_t = INDEX_MEMORY_MB,
          value_name = "MB")]
    index_memory: u64,
    /// Most passages that recall indexes for one user; beyond that, the oldest turns are left out
    #[arg(long, env = "LUKASA_INDEX_PASSAGES", default_value_t = INDEX_PASSAGES, value_name = "N")]
    index_passages: usize,
    /// Carry out what a user says outright in a conversation ("remember that …", "I moved to …")
    /// without a model
    #[arg(long, env = "LUKASA_STATEMENTS", default_value_t = true, action = ArgAction::Set,
          value_name = "BOOL")]
    statements: bool,
    /// Without a chat model, learn from conversations by rules alone; `false` leaves learning to a
    /// server or worker that has a model
    #[arg(long, env = "LUKASA_LEARN_BY_RULES", default_value_t = true, action = ArgAction::Set,
          value_name = "BOOL")]
    learn_by_rules: bool,
    /// How many jobs to run at a time, of learning and of webhook deliveries each; 0 leaves them to
    /// `lukasa work`
    #[arg(long, env = "LUKASA_WORKERS", default_value_t = 2, value_name = "N")]
    workers: usize,
    #[command(flatten)]
    policy: PolicySettings,
    #[command(flatten)]
    mcp: McpSettings,
    #[command(flatten)]
    oidc: OidcSettings,
    /// Serve the console from a folder, for developing it
    #[arg(long, env = "LUKASA_CONSOLE", value_name = "DIR")]
    console: Option<PathBuf>,
    #[command(flatten)]
    webhooks: WebhookSettings,
    #[command(flatten)]
    journal: ErasureJournalArgs,
    /// The hour (UTC) at which erased data is removed from the database's files every day, if the login
    /// role may rewrite them; without it, run `lukasa scrub`
    #[arg(long, env = "LUKASA_SCRUB_AT", value_name = "HOUR",
          value_parser = clap::value_parser!(i8).range(0..24))]
    scrub_at: Option<i8>,
    #[command(flatten)]
    limits: LimitSettings,
    #[command(flatten)]
    metrics: MetricsSettings,
    #[command(flatten)]
    logging: LoggingArgs,
    /// When stopping, how long to keep serving while `/readyz` reports not ready, in seconds, so that a
    /// load balancer can redirect requests. Default 5, or 0 without authentication
    #[arg(long, env = "LUKASA_DRAIN_DELAY", value_name = "SECONDS")]
    drain_delay: Option<u64>,
    /// How long to wait for requests and jobs under way when stopping, in seconds
    #[arg(long, env = "LUKASA_GRACE", default_value_t = 20, value_name = "SECONDS")]
    grace: u64,
}

/// How long a server with authentication keeps serving after SIGTERM while it reports not ready.
const DRAIN_DELAY: Duration = Duration::from_secs(5);
/// How long a stop waits for turns captured by the gateway to be stored.
const CAPTURE_DRAIN_TIMEOUT: Duration = Duration::from_secs(5);
/// How often expired credentials are removed.
const SWEEP_INTERVAL: Duration = Duration::from_hours(1);
/// How long after the start expired credentials are removed for the first time.
const FIRST_SWEEP_DELAY: Duration = Duration::from_mins(1);

impl ServeArgs {
    /// A server without authentication for this machine, with the defaults for everything else.
    pub fn on_this_machine(
        database: DatabaseArgs,
        models: ModelSettings,
        listen: SocketAddr,
    ) -> Self {
        Self {
            database,
            standby: StandbyArgs::default(),
            models,
            listen,
            auth: Auth::Off,
            migrate: true,
            pool_size: 16,
            auth_pool: 2,
            background_pool: None,
            index_memory: INDEX_MEMORY_MB,
            index_passages: INDEX_PASSAGES,
            statements: true,
            learn_by_rules: true,
            workers: 2,
            policy: PolicySettings::default(),
            upstream: UpstreamSettings::default(),
            mcp: McpSettings::default(),
            oidc: OidcSettings::default(),
            console: None,
            webhooks: WebhookSettings::default(),
            journal: ErasureJournalArgs { erasure_journal: None },
            scrub_at: None,
            limits: LimitSettings::default(),
            metrics: MetricsSettings::default(),
            logging: LoggingArgs {
                log: "warn".into(),
                log_format: LogFormat::Text,
                otlp_endpoint: None,
            },
            drain_delay: None,
            grace: 20,
        }
    }

    pub async fn run(self) -> anyhow::Result<()> {
        self.run_with_callback(|_| {}).await
    }

    /// Serves, and calls `on_listening` with the address as soon as it listens.
    pub async fn run_with_callback(
        self,
        on_listening: impl FnOnce(SocketAddr),
    ) -> anyhow::Result<()> {
        if self.auth == Auth::Off && !self.listen.ip().is_loopback() {
            bail!(
                "refusing to listen on {} without authentication\n  next: make a key with \
                 `lukasa key create --tenant NAME --name NAME` and serve with `--auth keys`",
                self.listen
            );
        }
        let traces = self.logging.start()?;
        let opened = self.database.open(self.pool_size).await?;
        if opened.is_managed_elsewhere() {
            bail!(
                "another Lukasa serves from this data folder already\n  next: use that server, or choose \
                 another folder with --data-dir"
            );
        }
        let served = self.serve(&opened, on_listening).await;
        opened.close().await?;
        traces.finish().await;
        served
    }

    async fn serve(
        &self,
        opened: &OpenDatabase,
        on_listening: impl FnOnce(SocketAddr),
    ) -> anyhow::Result<()> {
        // Every setting is named here, so that an unread setting does not compile.
        let Self {
            database,
            standby,
            models,
            upstream,
            listen,
            auth,
            migrate,
            pool_size,
            auth_pool,
            background_pool,
            index_memory,
            index_passages,
            statements,
            learn_by_rules,
            workers,
            policy,
            mcp,
            oidc,
            console,
            webhooks,
            journal,
            scrub_at,
            metrics,
            logging: _,
            grace,
            limits,
            drain_delay,
        } = self;
        let (deadline, budgets, account) =
            (upstream.deadline(), &upstream.budgets, &upstream.account);
        let upstream = upstream.open()?;
        let connect = opened.connect.clone();
        if let Some(managed) = &opened.managed {
            tracing::info!(
                version = managed.programs().version(),
                folder = %managed.folder().display(),
                "started Lukasa's own PostgreSQL"
            );
        }
        if *migrate {
            migrate_and_log(&connect).await?;
        }
        let sizes = PoolSizes {
            auth: *auth_pool,
            background: background_pool.unwrap_or_else(|| connections(*workers)),
        };
        let engine = Engine::connect_with(&connect, sizes)?
            .with_models(models.open()?)
            .with_chat_timeout(models.chat_timeout())
            .with_policy(policy.open()?)
            .with_webhook_sender(webhooks.sender())
            .with_index_limits(index_memory.saturating_mul(MEGABYTE), *index_passages)
            .with_statements(*statements)
            .with_learning_by_rules(*learn_by_rules)
            .with_clock(clock::now)
            .with_ticks(clock::ticks);
        let engine = standby.apply(engine, &connect)?;
        check(&engine, opened).await?;
        let (engine, _) = journal.or_beside(opened).replay(engine).await?;
        settle_model(&engine).await?;
        metrics.start(&engine).await?;
        if *auth == Auth::Off {
            engine.credentials.ensure_tenant(LOCAL_TENANT, clock::now()).await?;
        }
        let provider = oidc.open(mcp.public_origin())?;
        if let Some(provider) = &provider {
            engine.credentials.ensure_tenant(provider.tenant(), clock::now()).await?;
        }
        if let Some(fault) = mcp.oauth_fault().filter(|_| *auth == Auth::Keys) {
            tracing::warn!("{fault}");
        }
        let mode = if *auth == Auth::Off { AuthMode::Local } else { AuthMode::Keys };
        let listener = tokio::net::TcpListener::bind(listen)
            .await
            .with_context(|| format!("cannot listen on {listen}"))?;
        let address = listener.local_addr()?;
        tracing::info!(%address, ?auth, "listening");
        if *auth == Auth::Off {
            tracing::info!("no authentication: only requests from this machine are accepted");
            tracing::info!("open http://{address}/ in a browser for the console");
        }
        on_listening(address);
        // So that the first request does not wait for the token counter to be built.
        tokio::task::spawn_blocking(lukasa_text::tokens::warm);
        let console = console.as_deref().map_or_else(Console::default, Console::folder);
        let app = App::new(engine.clone(), mode)
            .with_limits(limits, *pool_size)
            .with_mcp(mcp.clone())
            .with_oidc(provider)
            .with_console(console);
        let gateway =
            Gateway::new(app.clone(), upstream).with_deadline(deadline).with_budgets(budgets);
        let gateway = gateway.with_account(account);
        // Without authentication, the one user of this machine may set the model service.
        let folder = opened.folder.as_ref().or(database.data_dir.as_ref());
        let gateway = match folder.filter(|_| *auth == Auth::Off) {
            Some(folder) => gateway.with_setup(folder.join("model.json")),
            None => gateway,
        };
        let workers = Workers::start(&engine, app.clock(), *workers);
        if let Some(hour) = scrub_at {
            tokio::spawn(scrub::scrub_daily(connect, *hour));
        }
        let sweeping = tokio::spawn(sweep_credentials(engine.clone()));
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let (streams, draining) = (engine.clone(), app.clone());
        let delay = match auth {
            Auth::Off => Duration::ZERO,
            Auth::Keys => DRAIN_DELAY,
        };
        let delay = drain_delay.map_or(delay, Duration::from_secs);
        let limits = ListenLimits {
            max_address_connections: limits.max_address_connections(),
            ..ListenLimits::of_connections(limits.max_connections)
        };
        let router = router_with(app, gateway.clone());
        let server = listen::serve(listener, router, limits, async move {
            wait_for_stop_signal().await;
            // Not ready first, so that no new requests are sent here; then no new connections.
            draining.start_draining();
            tokio::time::sleep(delay).await;
            // Event streams never end by themselves.
            streams.events.close_streams();
            let _ = stop.send(());
        });
        let grace = Duration::from_secs(*grace);
        let overdue = async {
            let _ = stopped.await;
            tokio::time::sleep(grace).await;
        };
        let database_ended = async {
            match &opened.managed {
                Some(managed) => managed.keep_running().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = server => {}
            how = database_ended => bail!(
                "Lukasa's own PostgreSQL has ended and does not run again ({how})\n  next: see \
                 postgres.log in {}",
                opened.folder.as_deref().unwrap_or(Path::new(".")).display()
            ),
            () = overdue => {
                tracing::warn!("grace period is over: stopping with requests still under way");
            }
        }
        // Both at once and with the same time limit: together with the drain delay and the grace period
        // this stays below the time after which a supervisor kills the process.
        let drain_timeout = CAPTURE_DRAIN_TIMEOUT;
        tokio::join!(gateway.drain(drain_timeout), workers.stop(drain_timeout.min(grace)));
        sweeping.abort();
        engine.close();
        tracing::info!("stopped");
        Ok(())
    }
}

/// Removes expired tokens, links and sign-ins every [`SWEEP_INTERVAL`].
async fn sweep_credentials(engine: Engine) {
    tokio::time::sleep(FIRST_SWEEP_DELAY).await;
    loop {
        match engine.credentials.sweep_credentials().await {
            Ok(0) => {}
            Ok(removed) => tracing::info!(removed, "expired credentials removed"),
            Err(error) => tracing::warn!(%error, "could not remove expired credentials"),
        }
        tokio::time::sleep(SWEEP_INTERVAL).await;
    }
}

/// Log settings.
#[derive(Debug, Args)]
pub struct LoggingArgs {
    /// What to log: error, warn, info, debug, or per module
    #[arg(
        long,
        env = "LUKASA_LOG",
        default_value = "info,refinery_core=warn",
        value_name = "FILTER"
    )]
    log: String,
    /// Log format
    #[arg(long, env = "LUKASA_LOG_FORMAT", default_value = "text")]
    log_format: LogFormat,
    /// Send traces, without content, to this OpenTelemetry collector by OTLP over HTTP, as
    /// http://127.0.0.1:4318
    #[arg(long, env = "LUKASA_OTLP_ENDPOINT", value_name = "URL")]
    otlp_endpoint: Option<String>,
}

impl LoggingArgs {
    /// Starts to log, and to export traces if a collector is set.
    pub fn start(&self) -> anyhow::Result<TraceExport> {
        let Self { log, log_format, otlp_endpoint } = self;
        let mut filter = EnvFilter::try_new(log).context("the log filter is not valid")?;
        // Below these levels the database driver logs statement parameters and the MCP library logs
        // calls and results: both contain memories. At info the MCP library also logs every call.
        for driver in ["tokio_postgres=info", "tokio_postgres::query=info", "rmcp=warn"] {
            filter = filter.add_directive(driver.parse()?);
        }
        let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
        let lines: RegistryLayer = match log_format {
            LogFormat::Json => Box::new(lines.json().flatten_event(true).with_filter(filter)),
            LogFormat::Text => {
                use std::io::IsTerminal as _;
                let lines = lines.with_ansi(std::io::stderr().is_terminal()).with_target(false);
                Box::new(lines.with_filter(filter))
            }
        };
        let (mut layers, mut traces) = (vec![lines], TraceExport::default());
        if let Some(endpoint) = otlp_endpoint.as_deref().filter(|url| !url.is_empty()) {
            let (export, layer) = TraceExport::start(endpoint)?;
            layers.push(layer);
            traces = export;
        }
        tracing_subscriber::registry().with(layers).init();
        Ok(traces)
    }
}

/// Refuses to serve from a database that does not isolate users or whose schema is not up to date.
pub async fn check(engine: &Engine, opened: &OpenDatabase) -> anyhow::Result<()> {
    let health = match engine.health().await {
        Ok(health) => health,
        // Isolation cannot be checked without the database, so the server does not start. A
        // supervisor restarts it.
        Err(lukasa_engine::Error::Unavailable(error)) => bail!(
            "cannot reach the database\n  because: {error}\n  next: `lukasa doctor` shows what is wrong"
        ),
        Err(error) => {
            return Err(error).context("cannot check the database; try `lukasa doctor`");
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
    // A managed PostgreSQL has no other login and can be reached by this account only.
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
            "the database may lose acknowledged writes: set fsync and synchronous_commit to on"
        );
    }
    Ok(())
}

/// Chooses the embedder and logs it, or why there is none. Without one, recall matches words only.
pub async fn settle_model(engine: &Engine) -> anyhow::Result<()> {
    lukasa_text::tokens::warm();
    match engine.embeddings.settle_model(clock::now()).await? {
        Ok(Some(model)) => {
            tracing::info!(model = model.name, dimension = model.dimension, "embedder ready");
        }
        Ok(None) => tracing::info!("no embedder: recall matches words only"),
        Err(error) => tracing::warn!(%error, "embedder unavailable: recall matches words only"),
    }
    Ok(())
}

/// Waits until a terminal or a service manager asks this process to stop.
pub async fn wait_for_stop_signal() {
    signals::stop_requested().await;
    tracing::info!("stopping");
}
