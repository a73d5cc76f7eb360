//! The managed PostgreSQL, for users without a database: started from the programs of the machine on
//! a data folder, and stopped when Lukasa ends.
//!
//! It listens on a socket inside that folder and on no port, so other users of the machine cannot
//! reach it and no port can be taken. One Lukasa process at a time holds the folder; others find the
//! address of the running server in it.

pub(crate) mod account;
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

pub use account::Account;
pub use programs::{Programs, find, tool};

/// The database inside the server.
const DATABASE: &str = "lukasa";
/// Time limit of a start: after a crash the server replays its log first.
const START_TIMEOUT: Duration = Duration::from_secs(120);
/// How long a stopped server may take until its process has ended.
const END_TIMEOUT: Duration = Duration::from_secs(60);
/// How often a server that ends is started again within [`RESTART_PERIOD`].
const MAX_RESTARTS: usize = 5;
const RESTART_PERIOD: Duration = Duration::from_mins(10);
/// Longest path of a socket: 103 bytes on macOS, 107 on Linux. The shorter one holds everywhere.
const MAX_SOCKET_BYTES: usize = 103;
const SOCKET_NAME: &str = "/.s.PGSQL.5432";

/// Receives the exit status of a server once it has ended.
type ExitStatusReceiver = watch::Receiver<Option<String>>;

/// A PostgreSQL server that this process started. It is stopped when this is dropped.
pub struct ManagedPostgres {
    url: String,
    folder: PathBuf,
    data: PathBuf,
    programs: Programs,
    account: Option<Account>,
    /// The folder of the socket.
    sockets: PathBuf,
    /// The exit status of the last started server, once it has ended.
    exit: Mutex<Option<ExitStatusReceiver>>,
    // Kept as long as the server runs: the lock, and the socket's folder if it is outside `folder`.
    _lock: File,
    _sockets: Option<tempfile::TempDir>,
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
    let server = ManagedPostgres::start(programs, folder, account, lock).await?;
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
        programs: Programs,
        folder: &Path,
        account: Option<Account>,
        lock: File,
    ) -> anyhow::Result<Self> {
        let folder = fs::canonicalize(folder)?;
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
            create_cluster(&programs, &cluster, &data, account.as_ref()).await?;
        }
        let (sockets, elsewhere) = create_socket_folder(&cluster, account.as_ref())?;
        let url = format!(
            "postgres://postgres@{}/{DATABASE}?sslmode=disable",
            crate::url::encoded(&sockets.display().to_string())
        );
        let (exit, _lock, _sockets) = (Mutex::default(), lock, elsewhere);
        let server = Self { url, folder, data, programs, account, sockets, exit, _lock, _sockets };
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
        if !Path::new("/proc/self").exists() {
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
            let _ = fs::remove_file(self.sockets.join(".s.PGSQL.5432.lock"));
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
            account.apply_to(&mut command);
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
        let log = self.folder.join("postgres.log");
        let out = File::options().create(true).append(true).open(&log)?;
        let mut command = self.command("postgres");
        command.arg("-D").arg(&self.data).arg("-k").arg(&self.sockets);
        // Images of pages are most of the log of a small memory.
        for setting in [
            "listen_addresses=",
            "max_connections=60",
            "jit=off",
            "port=5432",
            "wal_compression=on",
        ] {
            command.args(["-c", setting]);
        }
        // In its own process group: Ctrl-C must reach only Lukasa, which first finishes its requests.
        command.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(out).process_group(0);
        let mut child = command.spawn().context("could not start PostgreSQL")?;
        let pid = child.id().unwrap_or(0);
        let (sender, ended) = watch::channel(None);
        tokio::spawn(async move {
            let how = match child.wait().await {
                Ok(status) => status.to_string(),
                Err(error) => error.to_string(),
            };
            let _ = sender.send(Some(how));
        });
        *self.exit.lock().unwrap_or_else(PoisonError::into_inner) = Some(ended.clone());
        let rounds = START_TIMEOUT.as_millis() / 50;
        for _ in 0..rounds {
            if let Some(how) = ended.borrow().clone() {
                bail!(
                    "PostgreSQL exited while it started ({how}); the last lines of {}:\n{}",
                    log.display(),
                    tail(&log)
                );
            }
            if is_ready(&self.data, pid) {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        bail!(
            "PostgreSQL was not ready after {} seconds; its log is {}",
            START_TIMEOUT.as_secs(),
            log.display()
        )
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
        let mut command = std::process::Command::new(self.programs.folder().join("pg_ctl"));
        command.args(["stop", "-m", "fast", "-w", "-t", "30", "-D"]).arg(&self.data);
        command.current_dir("/").stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(account) = &self.account {
            account.apply_to_std(&mut command);
        }
        let _ = command.status();
    }
}

/// A command for one of PostgreSQL's programs, run as `account` and without the `PG*` variables of
/// the user's environment.
fn command(programs: &Programs, program: &str, account: Option<&Account>) -> Command {
    let mut command = Command::new(programs.folder().join(program));
    command.current_dir("/");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PG") {
            command.env_remove(&name);
        }
    }
    if let Some(account) = account {
        account.apply_to(&mut command);
    }
    command
}

/// Runs `initdb` in a temporary folder and renames it: an interrupted attempt leaves nothing that
/// looks like a database.
async fn create_cluster(
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
    initdb.arg("-D").arg(&new).args([
        "--username=postgres",
        "--auth=trust",
        "--encoding=UTF8",
        "--locale-provider=builtin",
        "--locale=C.UTF-8",
        "--no-instructions",
    ]);
    let done = initdb.output().await.context("could not run initdb")?;
    if !done.status.success() {
        bail!("initdb failed: {}", String::from_utf8_lossy(&done.stderr).trim());
    }
    fs::rename(&new, data).with_context(|| format!("cannot write {}", data.display()))
}

/// Creates the folder of the socket: inside the data folder, or in /tmp if that path is too long for
/// the kernel. Its mode 0700 is what keeps other accounts out of the database.
fn create_socket_folder(
    cluster: &Path,
    account: Option<&Account>,
) -> anyhow::Result<(PathBuf, Option<tempfile::TempDir>)> {
    use std::os::unix::fs::PermissionsExt as _;
    let inside = cluster.join("socket");
    let (path, elsewhere) = match inside.as_os_str().len() + SOCKET_NAME.len() <= MAX_SOCKET_BYTES {
        true => {
            fs::create_dir_all(&inside)?;
            (inside, None)
        }
        false => {
            let short = tempfile::Builder::new().prefix("lukasa-").tempdir_in("/tmp")?;
            (short.path().to_owned(), Some(short))
        }
    };
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700))?;
    if let Some(account) = account {
        account.take_ownership(&path)?;
    }
    Ok((path, elsewhere))
}

/// Whether the server with this PID is ready: `postmaster.pid` has the PID in its first line and the
/// status in its eighth. A file with another PID was left by a killed server.
fn is_ready(data: &Path, pid: u32) -> bool {
    let text = fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
    let mut lines = text.lines().map(str::trim);
    lines.next() == Some(pid.to_string().as_str()) && lines.nth(6) == Some("ready")
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

/// Writes a file that only its owner can read. The folder of the socket is what protects the
/// database; the address is kept private all the same.
fn write_private(path: &Path, text: &str) -> anyhow::Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut file =
        File::options().create(true).truncate(true).write(true).mode(0o600).open(path)?;
    Ok(file.write_all(text.as_bytes())?)
}

/// The default data folder. For root it is below /var/lib, because the account that PostgreSQL runs
/// as cannot enter root's home.
pub fn default_data_folder() -> PathBuf {
    if account::is_root() {
        return PathBuf::from("/var/lib/lukasa");
    }
    let home = || std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    data.unwrap_or_else(|| home().join(".local/share")).join("lukasa")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn socket_path_is_short_enough_for_every_system() {
        // The default folder for temporary files may have a long path.
        let place = tempfile::tempdir_in("/tmp").unwrap();
        for wanted in [80, 103, 104, 107, 130] {
            let rest =
                wanted - place.path().as_os_str().len() - "//socket".len() - SOCKET_NAME.len();
            let cluster = place.path().join("d".repeat(rest));
            let (folder, elsewhere) = create_socket_folder(&cluster, None).unwrap();
            assert_eq!(elsewhere.is_some(), wanted > 103, "{wanted}");
            assert!(folder.as_os_str().len() + SOCKET_NAME.len() <= 103, "{}", folder.display());
        }
    }
}
