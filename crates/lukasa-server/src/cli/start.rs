//! Starts a server on this machine if none runs, so that an assistant has memory after a restart of
//! the machine without any step of the user.

use std::fs::{File, OpenOptions};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;

use super::client::ServerArgs;
use crate::postgres;
use crate::system::process::detach;

/// How long a started server may take until it answers: the first start creates its database.
const START_TIMEOUT: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(100);
/// The log of a started server is emptied at the next start if it is larger.
const MAX_LOG_BYTES: u64 = 10 * 1024 * 1024;
/// How much of the log an error quotes.
const QUOTED_LOG_CHARS: usize = 500;

/// Whether and where to start a server.
#[derive(Debug, Clone, Args)]
pub struct StartArgs {
    /// Do not start a server if none runs on this machine
    #[arg(long, env = "LUKASA_NO_START")]
    no_start: bool,
    /// Folder of the data, and of the log, of a server that is started
    #[arg(long, env = "LUKASA_DATA_DIR", value_name = "DIR")]
    data_dir: Option<PathBuf>,
}

impl StartArgs {
    /// Starts a server and waits until it answers, if none runs and it is to be one on this machine
    /// without a key. It keeps running when this process ends.
    pub async fn ensure_server(&self, server: &ServerArgs) -> anyhow::Result<()> {
        let Self { no_start, data_dir } = self;
        if *no_start || server.answers().await {
            return Ok(());
        }
        let Some(address) = server.local_address() else { return Ok(()) };
        let folder = data_dir.clone().unwrap_or_else(postgres::default_data_folder);
        let log = folder.join("server.log");
        let mut child = self.spawn(address, &folder, &log)?;
        let deadline = tokio::time::Instant::now() + START_TIMEOUT;
        while tokio::time::Instant::now() < deadline {
            // Another assistant may have started one at the same time; one of them is enough.
            if server.answers().await {
                return Ok(());
            }
            if let Some(status) = child.try_wait()?
                && !server.answers().await
            {
                bail!(
                    "`lukasa serve` ended ({status}): {}\n  next: run `lukasa doctor`; the log is {}",
                    last_lines(&log),
                    log.display()
                );
            }
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        let seconds = START_TIMEOUT.as_secs();
        bail!("`lukasa serve` did not answer within {seconds} s; its log is {}", log.display())
    }

    fn spawn(&self, address: SocketAddr, folder: &Path, log: &Path) -> anyhow::Result<Child> {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        let output = open_log(log).with_context(|| format!("cannot write {}", log.display()))?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["serve", "--listen", &address.to_string()]);
        if let Some(folder) = &self.data_dir {
            command.arg("--data-dir").arg(folder);
        }
        // The server migrates only its own database, not one that is named.
        let is_set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if !["DATABASE_URL", "DATABASE_URL_FILE"].iter().any(is_set) {
            command.arg("--migrate");
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(output);
        // It is not stopped with the assistant.
        detach(&mut command);
        command.spawn().context("cannot start `lukasa serve`")
    }
}

fn open_log(path: &Path) -> std::io::Result<File> {
    let large = std::fs::metadata(path).is_ok_and(|file| file.len() > MAX_LOG_BYTES);
    OpenOptions::new().create(true).append(!large).write(true).truncate(large).open(path)
}

/// The end of a log.
fn last_lines(log: &Path) -> String {
    let text = std::fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let start = text.chars().count().saturating_sub(QUOTED_LOG_CHARS);
    text.chars().skip(start).collect::<String>().trim().to_owned()
}
