//! A PostgreSQL cluster and a Lukasa server of the eval's own, to be killed.
//!
//! `scripts/postgres` creates the cluster. After that the eval runs the postmaster itself, because
//! the script's careful start would take longer than the interval between kills.

use std::fs::{File, OpenOptions};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use tokio::process::Command;
use tokio_postgres::{Client, NoTls};

use super::supervise::{Supervised, hold_family, sigkill};
use crate::http_connection::{HttpConnection, Reply};

/// Time limit for recovery after a kill.
pub const RECOVERY_LIMIT: Duration = Duration::from_secs(60);

/// Small memory and short logs: there is little to replay, so that there are many kills per minute.
/// The durability settings, `fsync` and `synchronous_commit`, are as in production.
const SETTINGS: &[&str] = &[
    "fsync=on",
    "synchronous_commit=on",
    "full_page_writes=on",
    "shared_buffers=64MB",
    "max_connections=80",
    "min_wal_size=32MB",
    "max_wal_size=64MB",
    "checkpoint_timeout=30s",
    // One call for the file system instead of one for each of a thousand files.
    "recovery_init_sync_method=syncfs",
    "jit=off",
];

pub struct Cluster {
    script: PathBuf,
    folder: PathBuf,
    port: u16,
    settings: Vec<String>,
    postmaster: Option<Supervised>,
    server: Option<Supervised>,
    pub server_address: SocketAddr,
    /// Further arguments of the server.
    pub arguments: Vec<String>,
}

impl Cluster {
    /// Chooses paths and ports without touching anything yet, so that later failures can be cleaned
    /// up.
    pub fn plan(name: &str, more: &[&str]) -> Result<Self> {
        let here = std::env::current_dir().context("current folder")?;
        let mut above = here.ancestors().map(|folder| folder.join("scripts/postgres"));
        let script = above.find(|path| path.is_file());
        let script =
            script.context("scripts/postgres not found; run this inside the repository")?;
        let pid = std::process::id();
        let folder = std::env::temp_dir().join(format!("lukasa-{name}-{pid}"));
        let mut ports = FreePorts::new(pid);
        let settings = SETTINGS.iter().chain(more).map(ToString::to_string).collect();
        Ok(Self {
            script,
            folder,
            port: ports.next()?,
            settings,
            postmaster: None,
            server: None,
            server_address: (Ipv4Addr::LOCALHOST, ports.next()?).into(),
            arguments: Vec::new(),
        })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn database_address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    fn script(&self) -> Command {
        let options: Vec<_> = self.settings.iter().map(|setting| format!("-c {setting}")).collect();
        let mut command = Command::new(&self.script);
        command
            .env("LUKASA_PG_DIR", self.folder.join("pg"))
            .env("LUKASA_PG_PORT", self.port.to_string())
            .env("LUKASA_PG_OPTS", options.join(" "))
            .env_remove("DATABASE_URL")
            .stdin(Stdio::null());
        command
    }

    async fn run_script(&self, verb: &str) -> Result<String> {
        let done = self.script().arg(verb).output().await.context("cannot run scripts/postgres")?;
        if !done.status.success() {
            bail!("scripts/postgres {verb}: {}", String::from_utf8_lossy(&done.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
    }

    /// Creates the cluster and starts its postmaster under supervision.
    pub async fn start_database(&mut self) -> Result<()> {
        std::fs::create_dir(&self.folder)
            .with_context(|| format!("cannot make {}", self.folder.display()))?;
        self.run_script("start").await?;
        self.run_script("stop").await?;
        self.run_database().await
    }

    /// The folder of the database's files.
    pub fn data(&self) -> PathBuf {
        self.folder.join("pg/data")
    }

    /// Runs a postmaster on the cluster's files under supervision.
    pub async fn run_database(&mut self) -> Result<()> {
        let program = PathBuf::from(self.run_script("bin").await?).join("postgres");
        let data = self.data();
        // The script gave the data to the account that may run PostgreSQL; root switches to it too.
        let owner = std::fs::metadata(&data).context("the cluster's data")?;
        let me = std::fs::metadata("/proc/self").context("/proc")?.uid();
        let account = (owner.uid() != me).then_some((owner.uid(), owner.gid()));
        let (port, settings, log) = (self.port, self.settings.clone(), self.log("postgres"));
        self.postmaster = Some(Supervised::start(move || {
            let mut command = Command::new(&program);
            command.arg("-D").arg(&data).args(["-p", &port.to_string()]);
            command.args(["-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories="]);
            for setting in &settings {
                command.args(["-c", setting]);
            }
            if let Some((user, group)) = account {
                command.uid(user).gid(group);
            }
            command.current_dir("/").stdin(Stdio::null()).stdout(Stdio::null());
            command.stderr(append(&log)?);
            Ok(command)
        }));
        let started = Instant::now();
        while self.connect().await.is_err() {
            self.expect_within(started, RECOVERY_LIMIT, "PostgreSQL")?;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    /// Runs a server under supervision that reaches the database at `database`.
    pub async fn start_server(&mut self, program: &Path, database: SocketAddr) -> Result<()> {
        let (program, log) = (program.to_owned(), self.log("server"));
        let arguments = self.arguments.clone();
        let (listen, url) = (self.server_address.to_string(), url_of(database));
        self.server = Some(Supervised::start(move || {
            let mut command = Command::new(&program);
            command.args(["serve", "--migrate", "--auth", "off", "--log", "warn"]);
            command.args(["--listen", &listen, "--database-url", &url]).args(&arguments);
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(append(&log)?);
            Ok(command)
        }));
        self.ready(Instant::now()).await
    }

    /// Returns once the server reports ready.
    pub async fn ready(&self, since: Instant) -> Result<()> {
        let mut http = HttpConnection::to(self.server_address);
        loop {
            let reply = http.get("/readyz", None, Duration::from_secs(2)).await;
            if matches!(reply, Reply::Answer { status: 200, .. }) {
                return Ok(());
            }
            self.expect_within(since, RECOVERY_LIMIT, "the server")?;
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    fn expect_within(&self, since: Instant, limit: Duration, what: &str) -> Result<()> {
        if since.elapsed() < limit {
            return Ok(());
        }
        let tail = |name| {
            let text = std::fs::read_to_string(self.log(name)).unwrap_or_default();
            // Every connection attempt leaves a line; the actual events are between them.
            let noise = ["FATAL: ", "DETAIL: ", "database unavailable"];
            let telling = |line: &&str| !noise.iter().any(|word| line.contains(word));
            let lines: Vec<&str> = text.lines().filter(telling).collect();
            let last = lines[lines.len().saturating_sub(12)..].iter();
            last.map(|line| line.chars().take(200).collect()).collect::<Vec<String>>().join("\n")
        };
        bail!(
            "{what} was not up within {limit:?}\n--- server\n{}\n--- postgres\n{}",
            tail("server"),
            tail("postgres")
        );
    }

    pub fn server(&self) -> Result<&Supervised> {
        self.server.as_ref().context("the server was not started")
    }

    pub fn postmaster(&self) -> Result<&Supervised> {
        self.postmaster.as_ref().context("the database was not started")
    }

    /// A superuser connection of the eval, which sees every row.
    pub async fn connect(&self) -> Result<Client> {
        let (client, connection) = tokio_postgres::connect(&url_of(self.database_address()), NoTls)
            .await
            .context("cannot connect to the eval's database")?;
        tokio::spawn(connection);
        Ok(client)
    }

    fn log(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.log"))
    }

    /// Stops every process and, unless `keep` is set, removes every file.
    pub async fn close(mut self, keep: bool) -> Result<()> {
        self.stop().await?;
        if keep {
            eprintln!("kept {}", self.folder.display());
            return Ok(());
        }
        // Exiting processes may hold files for a moment.
        for _ in 0..20 {
            let _ = self.script().arg("destroy").output().await;
            if std::fs::remove_dir_all(&self.folder).is_ok() || !self.folder.exists() {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        bail!("cannot remove {}", self.folder.display())
    }

    /// Stops every process as a power cut would.
    pub async fn stop(&mut self) -> Result<()> {
        drop(self.server.take());
        if let Some(postmaster) = self.postmaster.take() {
            let family = match postmaster.life().pid {
                Some(pid) => hold_family(pid).await?,
                None => Vec::new(),
            };
            // From here on it is not restarted.
            drop(postmaster);
            sigkill(&family).await?;
        }
        Ok(())
    }
}

fn url_of(database: SocketAddr) -> String {
    format!("postgres://postgres@{database}/lukasa")
}

fn append(path: &Path) -> Result<File> {
    OpenOptions::new().create(true).append(true).open(path).context("cannot open a log")
}

/// Unused ports, below the range that the kernel gives to outgoing connections: in that range a
/// client that connects to a dead server can end up connected to itself.
struct FreePorts {
    next: u16,
}

impl FreePorts {
    fn new(pid: u32) -> Self {
        // Two concurrent runs begin their search in different places.
        let offset = pid.wrapping_mul(17) % 11_000;
        Self { next: 21_000 + u16::try_from(offset).unwrap_or(0) }
    }

    fn next(&mut self) -> Result<u16> {
        for _ in 0..500 {
            self.next += 1;
            if TcpListener::bind((Ipv4Addr::LOCALHOST, self.next)).is_ok() {
                return Ok(self.next);
            }
        }
        bail!("no free port")
    }
}
