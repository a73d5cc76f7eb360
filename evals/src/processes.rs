//! The processes of a measurement: a PostgreSQL of its own and a Lukasa server on it. Both are
//! stopped when their value is dropped.

use std::fs::File;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use tokio_postgres::{Client, NoTls};

use crate::http_connection::{HttpConnection, Reply};

/// The script that creates development databases: of the working copy this was started in, or else
/// of the one it was built in, which may be gone by now.
fn script() -> PathBuf {
    const NAME: &str = "scripts/postgres";
    let here = std::env::current_dir().unwrap_or_default();
    let found = here.ancestors().map(|folder| folder.join(NAME)).find(|path| path.is_file());
    found.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(NAME))
}

/// A superuser connection, which sees every row.
pub async fn connect(url: &str) -> Result<Client> {
    let (client, connection) =
        tokio_postgres::connect(url, NoTls).await.context("PostgreSQL does not answer")?;
    tokio::spawn(connection);
    Ok(client)
}

pub fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0").context("no free port")?.local_addr()?.port())
}

/// A PostgreSQL of the measurement's own.
pub struct Cluster {
    dir: PathBuf,
    pub port: u16,
    keep: bool,
    settings: String,
}

impl Cluster {
    pub fn start(dir: &Path, keep: bool, shared_buffers: &str) -> Result<Self> {
        let settings = format!(
            "-c shared_buffers={shared_buffers} -c max_wal_size=16GB -c checkpoint_timeout=30min \
             -c synchronous_commit=on"
        );
        Self::start_with(dir, keep, &settings)
    }

    /// The same with these settings.
    pub fn start_with(dir: &Path, keep: bool, settings: &str) -> Result<Self> {
        std::fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
        let settings = settings.to_owned();
        let cluster = Self { dir: dir.to_owned(), port: free_port()?, keep, settings };
        cluster.script(&["start"])?;
        Ok(cluster)
    }

    fn script(&self, arguments: &[&str]) -> Result<String> {
        let output = Command::new(script())
            .args(arguments)
            .env_remove("DATABASE_URL")
            .env("LUKASA_PG_DIR", self.dir.join("cluster"))
            .env("LUKASA_PG_PORT", self.port.to_string())
            .env("LUKASA_PG_OPTS", &self.settings)
            .stderr(Stdio::inherit())
            .output()
            .context("scripts/postgres")?;
        ensure!(output.status.success(), "scripts/postgres {arguments:?} failed");
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    pub fn url(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }

    /// Stops it, as an operator would.
    pub fn stop(&self) -> Result<()> {
        self.script(&["stop"]).map(|_| ())
    }

    /// Starts it again.
    pub fn start_again(&self) -> Result<()> {
        self.script(&["start"]).map(|_| ())
    }

    /// The folder of PostgreSQL's programs.
    pub fn programs(&self) -> Result<PathBuf> {
        Ok(self.script(&["bin"])?.into())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let command = if self.keep { "stop" } else { "destroy" };
        if let Err(error) = self.script(&[command]) {
            eprintln!("the database did not stop: {error:#}");
        }
        if !self.keep {
            // What cannot be removed is only litter in a temporary folder.
            let _ = std::fs::remove_dir_all(&self.dir);
        }
    }
}

/// Settings of a server.
pub struct Serve<'a> {
    pub program: &'a Path,
    pub database: &'a str,
    /// `off` or `keys`.
    pub auth: &'a str,
    pub pool: usize,
    pub migrate: bool,
    /// The folder of its models and the initial embedder; without, it has none.
    pub models: Option<(&'a Path, &'a str)>,
    /// Log filter and log file.
    pub filter: &'a str,
    pub log: &'a Path,
}

/// A Lukasa server.
pub struct Server {
    child: Child,
    pub address: SocketAddr,
}

impl Server {
    pub async fn start(serve: &Serve<'_>) -> Result<Self> {
        Self::start_with(serve, &[]).await
    }

    /// The same with more settings.
    pub async fn start_with(serve: &Serve<'_>, settings: &[(&str, &str)]) -> Result<Self> {
        let address = SocketAddr::from(([127, 0, 0, 1], free_port()?));
        let log = File::create(serve.log).with_context(|| serve.log.display().to_string())?;
        let mut command = Command::new(serve.program);
        command
            .args(["serve", "--database-url", serve.database, "--auth", serve.auth])
            // Only requests are measured; workers must not use the database meanwhile.
            .args(["--workers", "0"])
            .args([
                "--log",
                serve.filter,
                "--listen",
                &address.to_string(),
                "--pool-size",
                &serve.pool.to_string(),
            ])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log);
        if serve.migrate {
            command.arg("--migrate");
        }
        if let Some((folder, embedder)) = serve.models {
            command.arg("--models").arg(folder).args(["--embedder", embedder]);
        }
        // A developer's own settings must not change the measurement.
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("LUKASA_")) {
            command.env_remove(name);
        }
        // A measurement exceeds the limits of one client, user or tenant.
        let unlimited = [
            "LUKASA_KEY_RATE",
            "LUKASA_USER_RATE",
            "LUKASA_TENANT_RATE",
            "LUKASA_TENANT_CONCURRENCY",
            "LUKASA_CHAT_CONCURRENCY",
            "LUKASA_CHAT_RATE",
            "LUKASA_CHAT_KEY_RATE",
        ];
        command.envs(unlimited.map(|name| (name, "0")));
        command.envs(settings.iter().copied());
        let child =
            command.spawn().with_context(|| format!("cannot run {}", serve.program.display()))?;
        let mut server = Self { child, address };
        server.wait(serve.log).await?;
        Ok(server)
    }

    async fn wait(&mut self, log: &Path) -> Result<()> {
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(60) {
            if let Some(status) = self.child.try_wait()? {
                let output_text = std::fs::read_to_string(log).unwrap_or_default();
                bail!("the server ended with {status}: {output_text}");
            }
            let reply =
                HttpConnection::to(self.address).get("/readyz", None, Duration::from_secs(2)).await;
            if matches!(reply, Reply::Answer { status: 200, .. }) {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        bail!("the server was not ready within a minute")
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It needs no graceful shutdown.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A worker process.
pub struct Worker(Child);

impl Worker {
    /// Starts `lukasa work` with these settings and no others.
    pub fn start(
        program: &Path,
        database: &str,
        log: &Path,
        settings: &[(&str, &str)],
    ) -> Result<Self> {
        let log = File::create(log).with_context(|| log.display().to_string())?;
        let mut command = Command::new(program);
        command.args(["work", "--database-url", database, "--log", "warn"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("LUKASA_")) {
            command.env_remove(name);
        }
        command.envs(settings.iter().copied());
        Ok(Self(command.spawn().context("cannot start the worker")?))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The path of the server: as given, or next to this program.
pub fn server_program(given: Option<&Path>) -> Result<PathBuf> {
    if let Some(given) = given {
        return Ok(given.to_owned());
    }
    let beside = std::env::current_exe()?.with_file_name("lukasa");
    ensure!(
        beside.exists(),
        "no {}; build it with `cargo build --profile fast`, or name it with --server or LUKASA_BIN",
        beside.display()
    );
    Ok(beside)
}

/// Creates a key for the whole tenant: its id, and its secret.
pub fn create_key(program: &Path, database: &str, tenant: &str) -> Result<(String, String)> {
    let arguments = ["--may", "read,write,propose,chat", "--origin", "user_said"];
    create_key_with(program, database, tenant, &arguments)
}

/// The same with these arguments of `lukasa key create`.
pub fn create_key_with(
    program: &Path,
    database: &str,
    tenant: &str,
    arguments: &[&str],
) -> Result<(String, String)> {
    let output = Command::new(program)
        .args(["key", "create", "--json", "--name", "load", "--tenant", tenant])
        .args(["--database-url", database])
        .args(arguments)
        .output()
        .context("lukasa key create")?;
    let output_text = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "lukasa key create: {output_text}");
    let key: serde_json::Value = serde_json::from_slice(&output.stdout)?;
    let text = |name: &str| -> Result<String> {
        Ok(key[name].as_str().with_context(|| format!("a key without {name}"))?.to_owned())
    };
    Ok((text("id")?, text("secret")?))
}
