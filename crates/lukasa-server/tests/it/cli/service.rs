//! `lukasa service` on a generated home folder, with a small program in place of systemd's.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Stdio;

use tempfile::TempDir;
use tokio::process::Command;

use super::memory_commands::CommandOutput;
use crate::app::TestApp;

/// Records its arguments, and is active while the unit is enabled.
const SYSTEMCTL: &str = r#"#!/bin/sh
echo "$*" >> "$SYSTEMCTL_CALLS"
case "$*" in
  *"restart lukasa"*) touch "$SYSTEMCTL_CALLS.active" ;;
  *"disable --now"*) rm "$SYSTEMCTL_CALLS.active" ;;
  *is-active*) test -e "$SYSTEMCTL_CALLS.active" ;;
  *show-environment*) test ! -e "$SYSTEMCTL_CALLS.broken" || { echo 'no bus' >&2; exit 1; } ;;
esac
"#;

struct Home {
    place: TempDir,
}

impl Home {
    fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let programs = place.path().join("bin");
        fs::create_dir(&programs).unwrap();
        let systemctl = programs.join("systemctl");
        fs::write(&systemctl, SYSTEMCTL).unwrap();
        fs::set_permissions(&systemctl, fs::Permissions::from_mode(0o755)).unwrap();
        Self { place }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    fn unit(&self) -> PathBuf {
        self.path("my home/.config/systemd/user/lukasa.service")
    }

    /// The calls of `systemctl` since the last question.
    fn calls(&self) -> String {
        let calls = fs::read_to_string(self.path("calls")).unwrap_or_default();
        let _ = fs::remove_file(self.path("calls"));
        calls
    }

    fn command(&self, line: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lukasa"));
        command.arg("service").args(line).env_clear().stdin(Stdio::null());
        let path = format!("{}:/usr/bin:/bin", self.path("bin").display());
        command.env("HOME", self.path("my home")).env("PATH", path);
        command.env("SYSTEMCTL_CALLS", self.path("calls"));
        // A port that no server of this machine uses.
        command.env("LUKASA_URL", "http://127.0.0.1:1");
        command
    }

    async fn run(&self, line: &[&str]) -> CommandOutput {
        CommandOutput::of(&self.command(line).output().await.expect("lukasa runs"))
    }
}

#[tokio::test]
async fn service_is_installed_shown_and_uninstalled_with_systemd() {
    let home = Home::new();
    let none = home.run(&["status", "--json"]).await;
    assert_eq!(none.code, 1, "{}", none.err);
    let data = home.path("my data").display().to_string();
    let line = ["install", "--data-dir", &data, "--listen", "127.0.0.1:7779"];
    let mut command = home.command(&line);
    command.env("LUKASA_CHAT", "m@http://127.0.0.1:1/v1");
    let installed = CommandOutput::of(&command.output().await.unwrap()).ok();
    let unit = fs::read_to_string(home.unit()).unwrap();
    assert!(installed.contains(&home.unit().display().to_string()), "{installed}");
    assert!(installed.contains(unit.trim()) && installed.contains("loginctl enable-linger"));
    assert!(installed.contains("settings of your shell: LUKASA_CHAT."), "{installed}");
    let command = format!("serve --listen 127.0.0.1:7779 --data-dir \"{data}\"\n");
    assert!(unit.contains(&command), "{unit}");
    assert!(!unit.contains("LUKASA_CHAT"), "{unit}");
    let calls = home.calls();
    let expected =
        ["show-environment", "daemon-reload", "enable lukasa.service", "restart lukasa.service"];
    let expected: String = expected.iter().map(|call| format!("--user {call}\n")).collect();
    assert_eq!(calls, expected);
    let status = home.run(&["status", "--json"]).await.json();
    assert_eq!((&status["installed"], &status["active"]), (&true.into(), &true.into()));
    assert_eq!(status["answers"], false, "the unit was not started by a real systemd");
    home.calls();
    // The same again restarts it too: the program or its settings may be new.
    home.run(&line).await.ok();
    assert!(home.calls().contains("--user restart lukasa.service\n"));
    home.run(&["uninstall"]).await.ok();
    assert!(home.calls().contains("--user disable --now lukasa.service\n--user daemon-reload\n"));
    assert!(!home.unit().exists());
    let again = home.run(&["uninstall"]).await.ok();
    assert_eq!(again.trim(), "The service is not installed.");
    assert_eq!(home.calls(), "");
}

#[tokio::test]
async fn service_install_refuses_other_addresses_without_authentication() {
    let home = Home::new();
    let line = ["install", "--listen", "0.0.0.0:7779"];
    let refused = home.run(&line).await;
    assert_eq!(refused.code, 1);
    assert!(refused.err.contains("0.0.0.0:7779 without authentication"), "{}", refused.err);
    assert!(!home.unit().exists() && home.calls().is_empty());
    let settings = home.path("my home/.config/lukasa/lukasa.env");
    assert!(refused.err.contains(&settings.display().to_string()), "{}", refused.err);
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, "LUKASA_AUTH=keys\n").unwrap();
    home.run(&line).await.ok();
    assert!(fs::read_to_string(home.unit()).unwrap().contains("--listen 0.0.0.0:7779 "));
}

#[tokio::test]
async fn service_status_asks_the_address_that_was_installed() {
    let home = Home::new();
    let app = TestApp::local().await;
    let address = app.base.trim_start_matches("http://");
    home.run(&["install", "--listen", address]).await.ok();
    let status = home.run(&["status", "--json"]).await.json();
    assert_eq!((&status["url"], &status["answers"]), (&app.base.as_str().into(), &true.into()));
    let other = home.run(&["status", "--json", "--url", "http://127.0.0.1:1"]).await.json();
    assert_eq!(other["answers"], false);
}

#[tokio::test]
async fn service_install_writes_nothing_without_systemd() {
    let home = Home::new();
    fs::write(home.path("calls.broken"), "").unwrap();
    let silent = home.run(&["install"]).await;
    assert_eq!(silent.code, 1);
    assert!(silent.err.contains("does not answer: no bus"), "{}", silent.err);
    let mut command = home.command(&["install"]);
    let absent = command.env("PATH", home.path("empty")).output().await.unwrap();
    let absent = CommandOutput::of(&absent);
    assert_eq!(absent.code, 1);
    assert!(absent.err.contains("there is no systemd on this machine"), "{}", absent.err);
    assert!(!home.unit().exists());
    let mut command = home.command(&["install", "--print"]);
    let printed = command.env("PATH", home.path("empty")).output().await.unwrap();
    let printed = CommandOutput::of(&printed).ok();
    assert!(printed.contains("\nExecStart=") && printed.contains("\nNoNewPrivileges=yes\n"));
    assert!(!home.unit().exists(), "it is only printed");
}
