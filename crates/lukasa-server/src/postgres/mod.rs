//! The managed PostgreSQL, for users without a database: started from the programs of the machine on
//! a data folder, and stopped when Lukasa ends.
//!
//! Other users of the machine cannot use it: see `endpoint.rs`. One Lukasa process at a time holds the
//! folder; others find the address of the running server in it.

mod account;
mod endpoint;
mod launch;
mod programs;

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::process::Command;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::system::{self, files, folders};

pub use account::Account;
use endpoint::{EndpointKind, ServerEndpoint};
use launch::Launch;
use programs::working_folder;
pub use programs::{Programs, find, tool};

/// The database inside the server.
const DATABASE: &str = "lukasa";
/// How long a stopped server may take until its process has ended.
const END_TIMEOUT: Duration = Duration::from_secs(60);
/// How often a server that ends is started again within [`RESTART_PERIOD`].
const MAX_RESTARTS: usize = 5;
const RESTART_PERIOD: Duration = Duration::from_mins(10);

/// Receives the exit status of a server once it has ended.
type ExitStatusReceiver = watch::Receiver<Option<String>>;

/// A PostgreSQL server that this process started. It is stopped when this is dropped.
pub struct ManagedPostgres {
    url: String,
    folder: PathBuf,
    data: PathBuf,
    programs: Programs,
    account: Option<Account>,
    endpoint: ServerEndpoint,
    /// The exit status of the last started server, once it has ended.
    exit: Mutex<Option<ExitStatusReceiver>>,
    /// Kept as long as the server runs.
    _lock: File,
}

/// The server of a data folder.
pub enum DataFolderServer {
    /// Started by this process, and stopped when the value is dropped.
    Started(Box<ManagedPostgres>),
    /// Run by another Lukasa process, at this URL.
    Running(String),
}

/// Starts the server of this folder, or finds the one that another Lukasa process runs.
pub async fn open(
    programs: Option<&Path>,
    folder: &Path,
    account: Option<&str>,
) -> anyhow::Result<DataFolderServer> {
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot create the data folder {}", folder.display()))?;
    let lock =
        File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(folder.join("lock"))
            .with_context(|| format!("cannot write into the data folder {}", folder.display()))?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return running(folder).await,
        Err(TryLockError::Error(error)) => {
            return Err(error).context(format!("cannot lock {}", folder.display()));
        }
    }
    let account = account::needed(account)?;
    let programs = find(programs, account.as_ref())?;
    let server =
        ManagedPostgres::start(EndpointKind::DEFAULT, programs, folder, account, lock).await?;
    Ok(DataFolderServer::Started(Box::new(server)))
}

/// The address that the process holding the folder has written there. Waits for it up to 30 seconds,
/// because that process may still be starting its server.
async fn running(folder: &Path) -> anyhow::Result<DataFolderServer> {
    for _ in 0..300 {
        if let Ok(url) = fs::read_to_string(folder.join("url")) {
            return Ok(DataFolderServer::Running(url.trim().to_owned()));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    bail!(
        "another Lukasa holds {} and has not started its database\n  next: end it, or choose another \
         folder with --data-dir",
        folder.display()
    )
}

impl ManagedPostgres {
    async fn start(
        kind: EndpointKind,
        programs: Programs,
        folder: &Path,
        account: Option<Account>,
        lock: File,
    ) -> anyhow::Result<Self> {
        let folder = files::real_path(folder)?;
        // Only the folders created here get the other account as their owner.
        let cluster = folder.join("cluster");
        fs::create_dir_all(&cluster)?;
        if let Some(account) = &account {
            account.take_ownership(&cluster)?;
        }
        let data = cluster.join("database");
        // The stale address file of a killed process would send others to a server that is gone.
        let _ = fs::remove_file(folder.join("url"));
        if !data.join("PG_VERSION").exists() {
            create_cluster(kind, &programs, &cluster, &data, account.as_ref()).await?;
        }
        let endpoint = ServerEndpoint::create(kind, &cluster, account.as_ref())?;
        let (url, exit, _lock) = (endpoint.url(DATABASE), Mutex::default(), lock);
        let server = Self { url, folder, data, programs, account, endpoint, exit, _lock };
        server.stop_orphan().await?;
        server.launch().await?;
        let created = lukasa_engine::ensure_database(&server.url).await;
        created.context("the database could not be created")?;
        write_private(&server.folder.join("url"), &server.url)?;
        Ok(server)
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where PostgreSQL's programs are; `pg_dump` may be among them.
    pub fn programs(&self) -> &Programs {
        &self.programs
    }

    fn command(&self, program: &str) -> Command {
        command(&self.programs, program, self.account.as_ref())
    }

    /// Stops the server of a Lukasa process that was killed: it runs on without it. A postmaster that
    /// was killed leaves sessions, which end by themselves, and its PID file, which is removed here.
    async fn stop_orphan(&self) -> anyhow::Result<()> {
        let pid_file = self.data.join("postmaster.pid");
        let Some(pid) = fs::read_to_string(&pid_file).ok().and_then(|text| first_line(&text))
        else {
            return Ok(());
        };
        if !system::process::has_proc() {
            let mut command = self.command("pg_ctl");
            let status = command.arg("status").arg("-D").arg(&self.data).output().await?;
            return if status.status.success() { self.ask_to_stop().await } else { Ok(()) };
        }
        for _ in 0..300 {
            let left = self.processes().await?;
            if left.contains(&pid) {
                return self.ask_to_stop().await;
            }
            if left.is_empty() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        // The PID may belong to another program by now, or to a zombie. PostgreSQL would take either
        // for a running server and not start.
        if Path::new("/proc").join(&pid).exists() && self.processes().await?.is_empty() {
            fs::remove_file(&pid_file)?;
            self.endpoint.remove_lock();
        }
        Ok(())
    }

    /// The processes whose working directory is the data folder. The server's account looks for them:
    /// root in a container may not see the directories of other accounts' processes.
    async fn processes(&self) -> anyhow::Result<Vec<String>> {
        const LIST_SCRIPT: &str = "for each in /proc/[0-9]*; do \
            if [ \"$(readlink \"$each/cwd\" 2>/dev/null)\" = \"$1\" ]; then echo \"${each#/proc/}\"; fi; done";
        let mut command = Command::new("sh");
        command.args(["-c", LIST_SCRIPT, "sh"]).arg(&self.data).current_dir("/");
        if let Some(account) = &self.account {
            account.apply_to(command.as_std_mut());
        }
        let output = command.output().await.context("could not run sh")?;
        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok(output.lines().map(str::to_owned).collect())
    }

    async fn ask_to_stop(&self) -> anyhow::Result<()> {
        let mut command = self.command("pg_ctl");
        command.args(["stop", "-m", "fast", "-w", "-t", "60", "-D"]).arg(&self.data);
        let done = command.output().await.context("could not run pg_ctl")?;
        if !done.status.success() && self.data.join("postmaster.pid").exists() {
            bail!("PostgreSQL did not stop: {}", String::from_utf8_lossy(&done.stderr).trim());
        }
        Ok(())
    }

    async fn launch(&self) -> anyhow::Result<()> {
        let mut settings = self.endpoint.settings();
        // Images of pages are most of the log of a small memory.
        let more = ["max_connections=60", "jit=off", "wal_compression=on"];
        settings.extend(more.map(String::from));
        let launch = Launch {
            programs: &self.programs,
            account: self.account.as_ref(),
            data: &self.data,
            log: &self.folder.join("postgres.log"),
            settings: &settings,
        };
        let mut started = launch.start()?;
        let ended = started.ended.clone();
        *self.exit.lock().unwrap_or_else(PoisonError::into_inner) = Some(ended);
        launch.wait_until_ready(&mut started).await
    }

    /// Waits until the server has ended and returns its exit status.
    pub async fn ended(&self) -> String {
        let Some(mut ended) = self.exit_status() else { return String::new() };
        let how = ended.wait_for(Option::is_some).await.ok().and_then(|how| how.clone());
        how.unwrap_or_default()
    }

    /// Starts the server again each time it ends, which recovers what it had committed. Returns how it
    /// ended if it cannot be started, or has ended too often.
    pub async fn keep_running(&self) -> String {
        let mut restarts: Vec<Instant> = Vec::new();
        loop {
            let how = self.ended().await;
            restarts.retain(|at| at.elapsed() < RESTART_PERIOD);
            if restarts.len() >= MAX_RESTARTS {
                return how;
            }
            restarts.push(Instant::now());
            tracing::warn!(how, "Lukasa's own PostgreSQL has ended: starting it again");
            if let Err(error) = self.restart().await {
                return format!("{how}; {error:#}");
            }
            tracing::info!("Lukasa's own PostgreSQL runs again");
        }
    }

    async fn restart(&self) -> anyhow::Result<()> {
        self.stop_orphan().await?;
        self.launch().await
    }

    fn exit_status(&self) -> Option<ExitStatusReceiver> {
        self.exit.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn is_running(&self) -> bool {
        self.exit_status().is_some_and(|ended| ended.borrow().is_none())
    }

    /// Stops the server and waits until it has shut down.
    pub async fn stop(self) -> anyhow::Result<()> {
        let _ = fs::remove_file(self.folder.join("url"));
        if self.is_running() {
            self.ask_to_stop().await?;
            // One that was about to start cannot be asked; the next Lukasa stops it.
            let _ = tokio::time::timeout(END_TIMEOUT, self.ended()).await;
        }
        Ok(())
    }
}

impl Drop for ManagedPostgres {
    /// Stops the server on paths that did not call `stop`.
    fn drop(&mut self) {
        if !self.is_running() {
            return;
        }
        let _ = fs::remove_file(self.folder.join("url"));
        let mut command = std::process::Command::new(self.programs.path("pg_ctl"));
        command.args(["stop", "-m", "fast", "-w", "-t", "30", "-D"]).arg(&self.data);
        command.current_dir(working_folder(self.programs.folder()));
        command.stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(account) = &self.account {
            account.apply_to(&mut command);
        }
        let _ = command.status();
    }
}

/// A command for one of PostgreSQL's programs, run as `account` and without the `PG*` variables of
/// the user's environment.
fn command(programs: &Programs, program: &str, account: Option<&Account>) -> Command {
    let mut command = Command::new(programs.path(program));
    command.current_dir(working_folder(programs.folder()));
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PG") {
            command.env_remove(&name);
        }
    }
    if let Some(account) = account {
        account.apply_to(command.as_std_mut());
    }
    command
}

/// Runs `initdb` in a temporary folder and renames it: an interrupted attempt leaves nothing that
/// looks like a database.
async fn create_cluster(
    kind: EndpointKind,
    programs: &Programs,
    cluster: &Path,
    data: &Path,
    account: Option<&Account>,
) -> anyhow::Result<()> {
    if data.exists() && fs::read_dir(data)?.next().is_some() {
        bail!(
            "{} is not empty and is not a database\n  next: choose another folder with --data-dir",
            data.display()
        );
    }
    let new = cluster.join("database.new");
    if new.exists() {
        fs::remove_dir_all(&new)?;
    }
    let mut initdb = command(programs, "initdb", account);
    initdb.arg("-D").arg(&new);
    initdb.args(["--username=postgres", "--encoding=UTF8", "--no-instructions"]);
    initdb.args(kind.initdb_arguments(cluster, account)?);
    let done = initdb.output().await.context("could not run initdb")?;
    if !done.status.success() {
        bail!("initdb failed: {}", String::from_utf8_lossy(&done.stderr).trim());
    }
    fs::rename(&new, data).with_context(|| format!("cannot write {}", data.display()))
}

fn first_line(text: &str) -> Option<String> {
    let line = text.lines().next()?.trim();
    line.bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| line.to_owned())
        .filter(|l| !l.is_empty())
}

fn tail(log: &Path) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(5);
    lines[from..].iter().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

/// Writes a file that only its owner can read: it may contain the password of the database.
fn write_private(path: &Path, text: &str) -> anyhow::Result<()> {
    use std::io::Write as _;
    Ok(files::create_private(path)?.write_all(text.as_bytes())?)
}

/// The default data folder. For root it is below /var/lib, because the account that PostgreSQL runs
/// as cannot enter root's home.
pub fn default_data_folder() -> PathBuf {
    match system::account::is_root() {
        true => PathBuf::from("/var/lib/lukasa"),
        false => folders::data().join("lukasa"),
    }
}

// Run by root, PostgreSQL is of another account, which has to enter the folder.
#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// The programs of the private PostgreSQL of the tests.
    fn programs() -> PathBuf {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/postgres");
        let output = std::process::Command::new(script).arg("bin").output().unwrap();
        PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
    }

    #[tokio::test]
    async fn managed_postgres_on_a_port_needs_its_password() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("data");
        fs::create_dir(&folder).unwrap();
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
        let account = account::needed(None).unwrap();
        let start = async || {
            let lock = File::create(folder.join("lock")).unwrap();
            let programs = find(Some(&programs()), account.as_ref()).unwrap();
            let (kind, account) = (EndpointKind::Port, account.clone());
            ManagedPostgres::start(kind, programs, &folder, account, lock).await.unwrap()
        };
        for _ in 0..2 {
            // The second one starts with the password of the first.
            let server = start().await;
            let url = server.url().to_owned();
            assert!(url.contains("@127.0.0.1:"), "{url}");
            lukasa_engine::ensure_database(&url).await.unwrap();
            let (password, _) = url.split_once('@').unwrap();
            let password = password.rsplit_once(':').unwrap().1;
            let wrong = url.replace(password, "wrong");
            assert!(lukasa_engine::ensure_database(&wrong).await.is_err());
            server.stop().await.unwrap();
        }
    }
}
