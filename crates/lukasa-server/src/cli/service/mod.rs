//! `lukasa service install | uninstall | status`: the server as a service of the signed-in user, run
//! by systemd's user manager or by launchd. It needs no root.

mod unit;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context as _, bail};
use clap::{Args, Subcommand};
use serde_json::json;

use super::client::ServerArgs;
use super::serve::ServeArgs;
use super::show::{BAD, DIM, GOOD, paint};
use super::{AlreadyReported, FormatArgs, program, say, say_json};
use crate::postgres;
use crate::system::folders::HOME_VARIABLE;
use unit::{LAUNCHD_LABEL, ServiceSpec, has_authentication, listen_address, program_path};

/// The name of the unit.
const UNIT: &str = "lukasa.service";
/// Variables that the service gets from the shell of the installation: they name folders.
const KEPT_VARIABLES: [&str; 3] = ["XDG_DATA_HOME", "LUKASA_MODELS", "LUKASA_POSTGRES_DIR"];
/// Variables that the arguments of the service contain.
const ARGUMENT_VARIABLES: [&str; 2] = ["LUKASA_LISTEN", "LUKASA_DATA_DIR"];
/// Where `lukasa serve` listens by default.
const DEFAULT_ADDRESS: &str = "127.0.0.1:7777";

#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  lukasa service install            start the server now and at every sign-in
  lukasa service install --print    only print the file
  lukasa service status             whether it is installed and runs
  lukasa service uninstall          stop the server; the memories stay

For a server of the whole machine, with an account of its own, see docs/install.md.")]
pub enum ServiceCommand {
    /// Run the server as a service of this user, now and at every sign-in.
    Install(InstallServiceArgs),
    /// Stop the service and remove it. The memories stay.
    Uninstall(ServiceArgs),
    /// Show whether the service is installed and runs.
    Status(ServiceStatusArgs),
}

#[derive(Debug, Args)]
pub struct ServiceArgs {
    /// The home folder with the service's file
    #[arg(long, env = HOME_VARIABLE, hide_env = true, value_name = "FOLDER")]
    home: PathBuf,
    #[command(flatten)]
    format: FormatArgs,
}

#[derive(Debug, Args)]
pub struct InstallServiceArgs {
    #[command(flatten)]
    service: ServiceArgs,
    /// Where to listen: an address of this machine only, unless the settings file of the service has
    /// `LUKASA_AUTH=keys`
    #[arg(long, env = "LUKASA_LISTEN", default_value = DEFAULT_ADDRESS, value_name = "ADDRESS")]
    listen: SocketAddr,
    /// The data folder; ~/.local/share/lukasa if absent
    #[arg(long, env = "LUKASA_DATA_DIR", value_name = "FOLDER")]
    data_dir: Option<PathBuf>,
    /// The program to start; this one if absent
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
    /// Only print the file
    #[arg(long)]
    print: bool,
}

#[derive(Debug, Args)]
pub struct ServiceStatusArgs {
    /// URL of the server; the address that the service was installed with if absent
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    #[command(flatten)]
    service: ServiceArgs,
}

impl ServiceCommand {
    pub async fn run(self) -> anyhow::Result<()> {
        match self {
            ServiceCommand::Install(command) => command.run(),
            ServiceCommand::Uninstall(command) => command.uninstall(),
            ServiceCommand::Status(command) => command.run().await,
        }
    }
}

/// The program that runs services on this system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ServiceRunner {
    Systemd,
    Launchd,
}

const RUNNER: ServiceRunner = match cfg!(target_os = "macos") {
    true => ServiceRunner::Launchd,
    false => ServiceRunner::Systemd,
};

impl ServiceRunner {
    /// The file that describes the service.
    fn file(self, home: &Path) -> PathBuf {
        match self {
            Self::Systemd => home.join(".config/systemd/user").join(UNIT),
            Self::Launchd => {
                home.join("Library/LaunchAgents").join(format!("{LAUNCHD_LABEL}.plist"))
            }
        }
    }

    fn render(self, spec: &ServiceSpec) -> String {
        match self {
            Self::Systemd => spec.systemd_unit(),
            Self::Launchd => spec.launchd_plist(),
        }
    }

    /// Fails if it does not run here, before anything is written.
    fn check(self) -> anyhow::Result<()> {
        let Self::Systemd = self else { return Ok(()) };
        let answer = systemctl(&["show-environment"])?;
        if !answer.status.success() {
            bail!(
                "systemd's manager of this user does not answer: {}\n  next: run it in a session of \
                 the user, not with su or sudo; or print the file with `lukasa service install --print`",
                error_of(&answer)
            );
        }
        Ok(())
    }

    /// Starts the service, now and at every sign-in. A running one is restarted: its file, its settings
    /// or the program may have changed.
    fn start(self, file: &Path) -> anyhow::Result<()> {
        match self {
            Self::Systemd => {
                must(&systemctl(&["daemon-reload"])?, "systemd did not read the unit")?;
                must(&systemctl(&["enable", UNIT])?, "the service was not enabled")?;
                must(&systemctl(&["restart", UNIT])?, "the service did not start")
            }
            Self::Launchd => {
                let domain = launchd_domain()?;
                // Fails if it is not loaded, which is fine.
                let _ = launchctl(&["bootout", &format!("{domain}/{LAUNCHD_LABEL}")])?;
                let file = file.display().to_string();
                must(&launchctl(&["bootstrap", &domain, &file])?, "the service did not start")
            }
        }
    }

    fn stop(self) -> anyhow::Result<()> {
        match self {
            Self::Systemd => {
                must(&systemctl(&["disable", "--now", UNIT])?, "the service did not stop")
            }
            Self::Launchd => {
                let target = format!("{}/{LAUNCHD_LABEL}", launchd_domain()?);
                let _ = launchctl(&["bootout", &target])?;
                Ok(())
            }
        }
    }

    /// Whether the service runs.
    fn is_active(self) -> anyhow::Result<bool> {
        match self {
            Self::Systemd => Ok(systemctl(&["is-active", UNIT])?.status.success()),
            Self::Launchd => {
                let target = format!("{}/{LAUNCHD_LABEL}", launchd_domain()?);
                let shown = launchctl(&["print", &target])?;
                Ok(String::from_utf8_lossy(&shown.stdout).contains("state = running"))
            }
        }
    }
}

/// The program that the installed service of a user starts; `None` if none is installed.
pub fn installed_program(home: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(RUNNER.file(home)).ok()?;
    program_path(&text).map(PathBuf::from)
}

fn systemctl(arguments: &[&str]) -> anyhow::Result<Output> {
    match Command::new("systemctl").arg("--user").args(arguments).output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => bail!(
            "there is no systemd on this machine: `systemctl` was not found\n  next: let the init system \
             of this machine (Windows: the Task Scheduler) start `lukasa serve`, or let an assistant start \
             it: `lukasa connect`; `lukasa service install --print` prints the unit"
        ),
        output => output.context("could not run systemctl"),
    }
}

fn launchctl(arguments: &[&str]) -> anyhow::Result<Output> {
    Command::new("launchctl").args(arguments).output().context("could not run launchctl")
}

/// launchd's domain of the signed-in user.
fn launchd_domain() -> anyhow::Result<String> {
    let output = Command::new("id").arg("-u").output().context("could not run id")?;
    Ok(format!("gui/{}", String::from_utf8_lossy(&output.stdout).trim()))
}

fn error_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}

fn must(output: &Output, otherwise: &str) -> anyhow::Result<()> {
    if output.status.success() {
        return Ok(());
    }
    let next = match RUNNER {
        ServiceRunner::Systemd => "see `journalctl --user --unit lukasa`",
        ServiceRunner::Launchd => "see server.log in the data folder",
    };
    bail!("{otherwise}: {}\n  next: {next}", error_of(output))
}

/// The settings of `lukasa serve` that are set in this shell and that the service will not have.
fn settings_left_behind() -> Vec<String> {
    let serve = ServeArgs::augment_args(clap::Command::new("serve"));
    let names = serve.get_arguments().filter_map(clap::Arg::get_env);
    let names = names.filter(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    let names = names.map(|name| name.to_string_lossy().into_owned());
    names
        .filter(|name| {
            !KEPT_VARIABLES.contains(&name.as_str()) && !ARGUMENT_VARIABLES.contains(&name.as_str())
        })
        .collect()
}

fn utf8(path: PathBuf) -> anyhow::Result<String> {
    let path = std::path::absolute(path)?;
    match path.into_os_string().into_string() {
        Ok(text) => Ok(text),
        Err(text) => bail!("the path {} is not UTF-8", text.display()),
    }
}

impl InstallServiceArgs {
    fn spec(&self) -> anyhow::Result<ServiceSpec> {
        let program = program::path_to_start(self.program.as_deref())?;
        let folder = self.data_dir.clone().unwrap_or_else(postgres::default_data_folder);
        let mut environment = Vec::new();
        for name in KEPT_VARIABLES {
            if let Some(value) = std::env::var_os(name).filter(|value| !value.is_empty()) {
                environment.push((name, utf8(PathBuf::from(value))?));
            }
        }
        Ok(ServiceSpec {
            program: utf8(program)?,
            listen: self.listen,
            data_dir: utf8(folder)?,
            environment,
            settings_file: utf8(self.service.home.join(".config/lukasa/lukasa.env"))?,
        })
    }

    /// Refuses an address that the server would refuse to listen on.
    fn check_address(&self, spec: &ServiceSpec) -> anyhow::Result<()> {
        if self.listen.ip().is_loopback() {
            return Ok(());
        }
        let listen = self.listen;
        if RUNNER == ServiceRunner::Launchd {
            bail!(
                "refusing to listen on {listen} without authentication\n  next: use an address of this \
                 machine, such as {DEFAULT_ADDRESS}"
            );
        }
        let settings = std::fs::read_to_string(&spec.settings_file).unwrap_or_default();
        if !has_authentication(&settings) {
            bail!(
                "refusing to listen on {listen} without authentication\n  next: write LUKASA_AUTH=keys \
                 into {}, or use an address of this machine, such as {DEFAULT_ADDRESS}",
                spec.settings_file
            );
        }
        Ok(())
    }

    fn run(self) -> anyhow::Result<()> {
        let spec = self.spec()?;
        self.check_address(&spec)?;
        let text = RUNNER.render(&spec);
        if self.print {
            return say(&text);
        }
        RUNNER.check()?;
        let is_taken = std::net::TcpListener::bind(self.listen).is_err();
        let file = RUNNER.file(&self.service.home);
        let is_new = !file.exists();
        write(&file, &text)?;
        if RUNNER == ServiceRunner::Launchd {
            // launchd creates the log, but not its folder.
            std::fs::create_dir_all(&spec.data_dir)
                .with_context(|| format!("cannot create {}", spec.data_dir))?;
        }
        RUNNER.start(&file)?;
        let left_behind = settings_left_behind();
        if self.service.format.json {
            return say_json(&json!({ "file": file, "address": self.listen,
                "data_dir": spec.data_dir, "settings_left_behind": left_behind }));
        }
        say(&format!("Wrote {} and started the service.\n", file.display()))?;
        say(&text)?;
        say(&format!(
            "\nThe console is on {}/, the data in {}.",
            url_of(self.listen),
            spec.data_dir
        ))?;
        if is_taken && is_new {
            say(&format!(
                "Another program listens on {}. If it is a `lukasa serve`, end it: the service tries \
                 again every 5 seconds.",
                self.listen
            ))?;
        }
        if !left_behind.is_empty() {
            let place = match RUNNER {
                ServiceRunner::Systemd => spec.settings_file,
                ServiceRunner::Launchd => format!("EnvironmentVariables of {}", file.display()),
            };
            let names = left_behind.join(", ");
            say(&format!("The service does not have these settings of your shell: {names}."))?;
            say(&format!("Write them into {place} and restart the service."))?;
        }
        match RUNNER {
            ServiceRunner::Systemd => say(&paint(
                DIM,
                "It runs while you are signed in. To run it from the start of the machine: \
                 loginctl enable-linger",
            )),
            ServiceRunner::Launchd => Ok(()),
        }
    }
}

/// The URL of a server on this machine that listens on an address.
fn url_of(listen: SocketAddr) -> String {
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    format!("http://{}", SocketAddr::new(ip, listen.port()))
}

/// Writes the file of the service and the folders above it.
fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
    }
    std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

impl ServiceArgs {
    fn uninstall(self) -> anyhow::Result<()> {
        let Self { home, format } = self;
        let file = RUNNER.file(&home);
        let is_installed = file.exists();
        if is_installed {
            RUNNER.check()?;
            RUNNER.stop()?;
            std::fs::remove_file(&file)
                .with_context(|| format!("cannot remove {}", file.display()))?;
            if RUNNER == ServiceRunner::Systemd {
                must(&systemctl(&["daemon-reload"])?, "systemd did not read its units")?;
            }
        }
        match (format.json, is_installed) {
            (true, _) => say_json(&json!({ "file": file, "removed": is_installed })),
            (_, true) => say(&format!(
                "Stopped the service and removed {}. The memories stay.",
                file.display()
            )),
            (_, false) => say("The service is not installed."),
        }
    }
}

impl ServiceStatusArgs {
    /// Prints the state of the service. The exit code is 1 if it does not run.
    async fn run(self) -> anyhow::Result<()> {
        let file = RUNNER.file(&self.service.home);
        let text = std::fs::read_to_string(&file).ok();
        let is_installed = file.exists();
        let is_active = is_installed && RUNNER.is_active()?;
        let installed_url = text.as_deref().and_then(listen_address).map(url_of);
        let url = self.url.or(installed_url).unwrap_or_else(|| format!("http://{DEFAULT_ADDRESS}"));
        let server = ServerArgs::at(url);
        let answers = server.answers().await;
        if self.service.format.json {
            say_json(&json!({ "file": file, "installed": is_installed, "active": is_active,
                "url": server.url(), "answers": answers }))?;
        } else {
            let word = |yes: bool, good: &str, bad: &str| match yes {
                true => paint(GOOD, good),
                false => paint(BAD, bad),
            };
            let installed = word(is_installed, "installed", "not installed");
            say(&format!("file     {installed}: {}", file.display()))?;
            say(&format!("service  {}", word(is_active, "runs", "does not run")))?;
            let answer = word(answers, "answers", "does not answer");
            say(&format!("server   {answer}: {}", server.url()))?;
            let next = match (is_installed, is_active, answers) {
                (false, ..) => "lukasa service install",
                (_, true, true) => return Ok(()),
                _ if RUNNER == ServiceRunner::Launchd => "see server.log in the data folder",
                _ => "journalctl --user --unit lukasa",
            };
            say(&format!("  next: {next}"))?;
        }
        if is_active { Ok(()) } else { Err(AlreadyReported.into()) }
    }
}
