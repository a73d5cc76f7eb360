//! Starts the process of a managed PostgreSQL and waits until it accepts connections.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::process::Command;
use tokio::sync::watch;

use super::{Account, ExitStatusReceiver, Programs, command, tail};
use crate::system::process::detach;

/// Time limit of a start: after a crash the server replays its log first.
const START_TIMEOUT: Duration = Duration::from_secs(120);

/// A start of a server.
pub struct Launch<'a> {
    pub programs: &'a Programs,
    pub account: Option<&'a Account>,
    pub data: &'a Path,
    pub log: &'a Path,
    /// As `name=value`.
    pub settings: &'a [String],
}

/// A server that was started and may not accept connections yet.
pub struct StartedServer {
    /// Receives how the server ended.
    pub ended: ExitStatusReceiver,
    #[cfg(unix)]
    pid: u32,
    #[cfg(windows)]
    pg_ctl: tokio::process::Child,
}

impl Launch<'_> {
    /// A command for one of the programs, which Ctrl-C does not reach: Lukasa first finishes its requests.
    fn command(&self, program: &str) -> Command {
        let mut command = command(self.programs, program, self.account);
        detach(command.as_std_mut());
        command.stdin(Stdio::null());
        command
    }

    /// Starts `postgres` as a child of this process.
    #[cfg(unix)]
    pub fn start(&self) -> anyhow::Result<StartedServer> {
        let out = std::fs::File::options().create(true).append(true).open(self.log)?;
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.data);
        for setting in self.settings {
            command.args(["-c", setting]);
        }
        command.stdout(out.try_clone()?).stderr(out);
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
        Ok(StartedServer { ended, pid })
    }

    #[cfg(unix)]
    pub async fn wait_until_ready(&self, server: &mut StartedServer) -> anyhow::Result<()> {
        let rounds = START_TIMEOUT.as_millis() / 50;
        for _ in 0..rounds {
            if let Some(how) = server.ended.borrow().clone() {
                return self.failed(&how);
            }
            if is_ready(self.data, server.pid) {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        bail!(
            "PostgreSQL was not ready after {} seconds; its log is {}",
            START_TIMEOUT.as_secs(),
            self.log.display()
        )
    }

    /// Starts the server by `pg_ctl`, which gives up the rights of an administrator: `postgres` itself
    /// refuses to have them. The server is no child of this process, but its processes inherit the output
    /// of `pg_ctl`, so the end of that output is their end.
    #[cfg(windows)]
    pub fn start(&self) -> anyhow::Result<StartedServer> {
        use tokio::io::AsyncReadExt as _;
        let options: Vec<String> =
            self.settings.iter().map(|setting| format!("-c {setting}")).collect();
        let mut command = self.command("pg_ctl");
        command.args(["start", "-w", "-t", &START_TIMEOUT.as_secs().to_string(), "-D"]);
        command.arg(self.data).arg("-l").arg(self.log).args(["-o", &options.join(" ")]);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let mut pg_ctl = command.spawn().context("could not run pg_ctl")?;
        let output = pg_ctl.stdout.take();
        let (sender, ended) = watch::channel(None);
        tokio::spawn(async move {
            if let Some(mut output) = output {
                let mut bytes = [0; 1024];
                while output.read(&mut bytes).await.is_ok_and(|read| read > 0) {}
            }
            let _ = sender.send(Some("its processes have ended".to_owned()));
        });
        Ok(StartedServer { ended, pg_ctl })
    }

    /// Waits for `pg_ctl`, which ends once the server is ready or was not in time.
    #[cfg(windows)]
    pub async fn wait_until_ready(&self, server: &mut StartedServer) -> anyhow::Result<()> {
        let status = server.pg_ctl.wait().await.context("could not run pg_ctl")?;
        if status.success() { Ok(()) } else { self.failed(&format!("pg_ctl: {status}")) }
    }

    fn failed(&self, how: &str) -> anyhow::Result<()> {
        bail!(
            "PostgreSQL exited while it started ({how}); the last lines of {}:\n{}",
            self.log.display(),
            tail(self.log)
        )
    }
}

/// Whether the server with this PID is ready: `postmaster.pid` has the PID in its first line and the
/// status in its eighth. A file with another PID was left by a killed server.
#[cfg(unix)]
fn is_ready(data: &Path, pid: u32) -> bool {
    let text = std::fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
    let mut lines = text.lines().map(str::trim);
    lines.next() == Some(pid.to_string().as_str()) && lines.nth(6) == Some("ready")
}
