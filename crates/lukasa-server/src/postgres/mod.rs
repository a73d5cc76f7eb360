//! A PostgreSQL of Lukasa's own, for a person who has none running: found among the programs of the
//! machine, started on a folder of theirs, and stopped when Lukasa ends.
//!
//! It listens on a socket inside that folder and on no port, so nobody else on the machine reaches it
//! and nothing can be in its way. One Lukasa at a time holds the folder; others find the address of the
//! running server in it.

mod account;
mod programs;

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::process::Command;
use tokio::sync::watch;

pub use account::Account;
pub use programs::{Programs, find, tool};

/// The database inside the server.
const DATABASE: &str = "lukasa";
/// How long a start may take: a crashed server reads its log again first.
const PATIENCE: Duration = Duration::from_secs(120);
/// What the kernel holds of a socket's path, with the name that PostgreSQL puts behind the folder's.
const SOCKET_BYTES: usize = 107 - "/.s.PGSQL.5432".len();

/// A running server of Lukasa's own. It is stopped when this goes away.
pub struct Own {
    url: String,
    folder: PathBuf,
    data: PathBuf,
    programs: Programs,
    account: Option<Account>,
    /// How it ended, once it has; nothing while it was not started.
    ended: Option<watch::Receiver<Option<String>>>,
    // Held for as long as the server runs; the folder of its socket, if it had to be elsewhere.
    _lock: File,
    _sockets: Option<tempfile::TempDir>,
}

/// What somebody finds who asks for the server of a folder.
pub enum Found {
    /// It was started, and ends with its holder.
    Started(Box<Own>),
    /// Another Lukasa runs it; this is where.
    Running(String),
}

/// The server on this folder: started now, or the one that another Lukasa has running.
pub async fn open(
    programs: Option<&Path>,
    folder: &Path,
    account: Option<&str>,
) -> anyhow::Result<Found> {
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the data folder {}", folder.display()))?;
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
    let own = Own::start(programs, folder, account, lock).await?;
    Ok(Found::Started(Box::new(own)))
}

/// The address that the Lukasa that holds the folder has left there. It may be about to.
async fn running(folder: &Path) -> anyhow::Result<Found> {
    for _ in 0..300 {
        if let Ok(url) = fs::read_to_string(folder.join("url")) {
            return Ok(Found::Running(url.trim().to_owned()));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    bail!(
        "another Lukasa holds {} and has not started its database\n  next: end it, or choose another \
         folder with --data-dir",
        folder.display()
    )
}

impl Own {
    async fn start(
        programs: Programs,
        folder: &Path,
        account: Option<Account>,
        lock: File,
    ) -> anyhow::Result<Self> {
        let folder = fs::canonicalize(folder)?;
        // Only what we make ourselves is handed to the other account.
        let cluster = folder.join("cluster");
        fs::create_dir_all(&cluster)?;
        if let Some(account) = &account {
            account.own(&cluster)?;
        }
        let data = cluster.join("database");
        // Left behind by a Lukasa that was killed; whoever reads it would knock at a closed door.
        let _ = fs::remove_file(folder.join("url"));
        if !data.join("PG_VERSION").exists() {
            make(&programs, &cluster, &data, account.as_ref()).await?;
        }
        let (sockets, elsewhere) = sockets(&cluster, account.as_ref())?;
        let url = format!(
            "postgres://postgres@{}/{DATABASE}?sslmode=disable",
            crate::cli::encoded(&sockets.display().to_string())
        );
        let (ended, _lock, _sockets) = (None, lock, elsewhere);
        let mut own = Self { url, folder, data, programs, account, ended, _lock, _sockets };
        own.stop_what_was_left(&sockets).await?;
        own.launch(&sockets).await?;
        let made = lukasa_engine::ensure_database(&own.url).await;
        made.context("the database could not be made")?;
        write_private(&own.folder.join("url"), &own.url)?;
        Ok(own)
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Where the programs are, `pg_dump` among them perhaps.
    pub fn programs(&self) -> &Programs {
        &self.programs
    }

    fn command(&self, program: &str) -> Command {
        command(&self.programs, program, self.account.as_ref())
    }

    /// A server whose Lukasa was killed goes on without it. It is asked to end, and started again. One
    /// that was killed itself leaves sessions, which end on their own, and a file with its number.
    async fn stop_what_was_left(&self, sockets: &Path) -> anyhow::Result<()> {
        let note = self.data.join("postmaster.pid");
        let Some(pid) = fs::read_to_string(&note).ok().and_then(|text| first_line(&text)) else {
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
        // The number may be a stranger's by now, or that of a process that nobody has taken note of
        // having ended. PostgreSQL cannot tell either from a server, and would not start.
        if Path::new("/proc").join(&pid).exists() && self.processes().await?.is_empty() {
            fs::remove_file(&note)?;
            let _ = fs::remove_file(sockets.join(".s.PGSQL.5432.lock"));
        }
        Ok(())
    }

    /// The processes that work in the data folder. The server's own account looks: root in a container
    /// may not see where other accounts' processes are.
    async fn processes(&self) -> anyhow::Result<Vec<String>> {
        const LOOK: &str = "for each in /proc/[0-9]*; do \
            if [ \"$(readlink \"$each/cwd\" 2>/dev/null)\" = \"$1\" ]; then echo \"${each#/proc/}\"; fi; done";
        let mut command = Command::new("sh");
        command.args(["-c", LOOK, "sh"]).arg(&self.data).current_dir("/");
        if let Some(account) = &self.account {
            account.take_on(&mut command);
        }
        let said = command.output().await.context("sh does not run")?;
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        Ok(said.lines().map(str::to_owned).collect())
    }

    async fn ask_to_stop(&self) -> anyhow::Result<()> {
        let mut command = self.command("pg_ctl");
        command.args(["stop", "-m", "fast", "-w", "-t", "60", "-D"]).arg(&self.data);
        let done = command.output().await.context("pg_ctl does not run")?;
        if !done.status.success() && self.data.join("postmaster.pid").exists() {
            bail!("PostgreSQL did not stop: {}", String::from_utf8_lossy(&done.stderr).trim());
        }
        Ok(())
    }

    async fn launch(&mut self, sockets: &Path) -> anyhow::Result<()> {
        let log = self.folder.join("postgres.log");
        let out = File::options().create(true).append(true).open(&log)?;
        let mut command = self.command("postgres");
        command.arg("-D").arg(&self.data).arg("-k").arg(sockets);
        for setting in ["listen_addresses=", "max_connections=60", "jit=off", "port=5432"] {
            command.args(["-c", setting]);
        }
        // In a group of its own: Ctrl-C is for Lukasa, which first finishes what it has begun.
        command.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(out).process_group(0);
        let mut child = command.spawn().context("PostgreSQL does not start")?;
        let pid = child.id().unwrap_or(0);
        let (tell, ended) = watch::channel(None);
        tokio::spawn(async move {
            let how = match child.wait().await {
                Ok(status) => status.to_string(),
                Err(error) => error.to_string(),
            };
            let _ = tell.send(Some(how));
        });
        self.ended = Some(ended.clone());
        let rounds = PATIENCE.as_millis() / 50;
        for _ in 0..rounds {
            if let Some(how) = ended.borrow().clone() {
                bail!(
                    "PostgreSQL ended as it started ({how}); the end of {} says:\n{}",
                    log.display(),
                    tail(&log)
                );
            }
            if is_ready(&self.data, pid) {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        bail!("PostgreSQL did not become ready; its log is {}", log.display())
    }

    /// Waits until the server has ended, and says how. A server that is to run does not.
    pub async fn ended(&self) -> String {
        let Some(mut ended) = self.ended.clone() else { return String::new() };
        let how = ended.wait_for(Option::is_some).await.ok().and_then(|how| how.clone());
        how.unwrap_or_default()
    }

    fn is_running(&self) -> bool {
        self.ended.as_ref().is_some_and(|ended| ended.borrow().is_none())
    }

    /// Stops the server and waits until it has put everything away.
    pub async fn stop(self) -> anyhow::Result<()> {
        let _ = fs::remove_file(self.folder.join("url"));
        if self.is_running() {
            self.ask_to_stop().await?;
            self.ended().await;
        }
        Ok(())
    }
}

impl Drop for Own {
    /// For the ways out on which nobody said `stop`: the server is told, and ends on its own.
    fn drop(&mut self) {
        if !self.is_running() {
            return;
        }
        let _ = fs::remove_file(self.folder.join("url"));
        let mut command = std::process::Command::new(self.programs.folder().join("pg_ctl"));
        command.args(["stop", "-m", "fast", "-w", "-t", "30", "-D"]).arg(&self.data);
        command.current_dir("/").stdout(Stdio::null()).stderr(Stdio::null());
        if let Some(account) = &self.account {
            account.take_on_std(&mut command);
        }
        let _ = command.status();
    }
}

/// A program of PostgreSQL, as the account that may run it, and without the settings that a person's
/// own client has.
fn command(programs: &Programs, program: &str, account: Option<&Account>) -> Command {
    let mut command = Command::new(programs.folder().join(program));
    command.current_dir("/");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PG") {
            command.env_remove(&name);
        }
    }
    if let Some(account) = account {
        account.take_on(&mut command);
    }
    command
}

/// Makes the files of a new server, beside their place first: an interrupted attempt leaves nothing
/// that looks like a database.
async fn make(
    programs: &Programs,
    cluster: &Path,
    data: &Path,
    account: Option<&Account>,
) -> anyhow::Result<()> {
    if data.exists() && fs::read_dir(data)?.next().is_some() {
        bail!(
            "{} is not empty and no database\n  next: choose another folder with --data-dir",
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
    let done = initdb.output().await.context("initdb does not run")?;
    if !done.status.success() {
        bail!("initdb failed: {}", String::from_utf8_lossy(&done.stderr).trim());
    }
    fs::rename(&new, data).with_context(|| format!("cannot write {}", data.display()))
}

/// The folder of the socket: inside the data folder, or a short path of its own if that is too long
/// for the kernel. Either is closed to everybody else, which is what guards the database.
fn sockets(
    cluster: &Path,
    account: Option<&Account>,
) -> anyhow::Result<(PathBuf, Option<tempfile::TempDir>)> {
    use std::os::unix::fs::PermissionsExt as _;
    let inside = cluster.join("socket");
    let (path, elsewhere) = match inside.as_os_str().len() <= SOCKET_BYTES {
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
        account.own(&path)?;
    }
    Ok((path, elsewhere))
}

/// PostgreSQL writes its number into the first line of this file and how it stands into the eighth. A
/// file that a killed server has left says nothing about this one.
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

/// Whoever reads the address still has to get past the folder of the socket; it is nobody's business
/// all the same.
fn write_private(path: &Path, text: &str) -> anyhow::Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut file =
        File::options().create(true).truncate(true).write(true).mode(0o600).open(path)?;
    Ok(file.write_all(text.as_bytes())?)
}

/// The folder of a person's own Lukasa, unless another is named. Root's home is closed to the account
/// that PostgreSQL has to run as, so root's is where servers keep theirs.
pub fn usual_folder() -> PathBuf {
    if account::is_root() {
        return PathBuf::from("/var/lib/lukasa");
    }
    let own = || std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let data = std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    data.unwrap_or_else(|| own().join(".local/share")).join("lukasa")
}
