//! The managed PostgreSQL: started from installed programs, on a data folder of the user, by one
//! Lukasa at a time, and stopped with it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::memory_commands::CommandOutput;

/// A machine that has PostgreSQL's programs and no Lukasa data.
struct Machine {
    place: TempDir,
    programs: PathBuf,
}

impl Machine {
    fn new() -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/postgres");
        let output =
            std::process::Command::new(script).arg("bin").output().expect("scripts/postgres");
        let programs = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        assert!(programs.join("initdb").exists(), "{}", programs.display());
        let place = tempfile::tempdir().unwrap();
        // When run as root, PostgreSQL runs as another account, which needs access.
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
        Self { place, programs }
    }

    fn data(&self) -> PathBuf {
        self.place.path().join("data")
    }

    fn lukasa(&self, line: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lukasa"));
        command.args(line).env("HOME", self.place.path()).env("LUKASA_DATA_DIR", self.data());
        command.env("LUKASA_POSTGRES_DIR", &self.programs);
        for name in ["DATABASE_URL", "XDG_DATA_HOME", "LUKASA_URL", "LUKASA_KEY", "LUKASA_USER"] {
            command.env_remove(name);
        }
        command.stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    async fn run(&self, line: &[&str]) -> CommandOutput {
        CommandOutput::of(&self.lukasa(line).output().await.expect("lukasa runs"))
    }

    /// Runs the server; returns the process and its address.
    async fn serve(&self) -> (Child, String) {
        let line = ["serve", "--listen", "127.0.0.1:0", "--embedder", "off", "--workers", "0"];
        let mut child = self.lukasa(&line).stderr(Stdio::piped()).spawn().expect("lukasa runs");
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut log = String::new();
        let limit = Duration::from_secs(120);
        let url = loop {
            let line = tokio::time::timeout(limit, lines.next_line()).await.expect("in time");
            let Some(line) = line.unwrap() else { panic!("it ended: {log}") };
            log.push_str(&line);
            log.push('\n');
            if let Some((_, rest)) = line.split_once("address=") {
                break format!("http://{}", rest.split_whitespace().next().unwrap());
            }
        };
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        (child, url)
    }

    /// Waits until another PostgreSQL than `before` runs and the server lists a memory from it.
    async fn wait_for_memory(&self, url: &str, before: Option<String>, words: &str) {
        for _ in 0..600 {
            let another = self.postmaster().filter(|pid| Some(pid) != before.as_ref());
            if another.is_some() {
                let listed = self.run(&["list", "--url", url]).await;
                if listed.code == 0 {
                    assert!(listed.out.contains(words), "{}", listed.out);
                    return;
                }
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("PostgreSQL does not run again");
    }

    fn postmaster(&self) -> Option<String> {
        let text = fs::read_to_string(self.data().join("cluster/database/postmaster.pid")).ok()?;
        text.lines().next().map(str::to_owned)
    }
}

fn signal(name: &str, pid: &str) {
    let done = std::process::Command::new("kill").args([name, pid]).status().unwrap();
    assert!(done.success(), "{name} {pid}");
}

#[tokio::test]
async fn managed_postgres_is_started_kept_and_stopped() {
    let machine = Machine::new();
    let (mut child, url) = machine.serve().await;
    machine.run(&["save", "Grows plums", "--url", &url]).await.ok();
    // The data folder is locked by one Lukasa; other commands use the running database.
    let second = machine.run(&["serve", "--listen", "127.0.0.1:0"]).await;
    assert_eq!(second.code, 1);
    assert!(second.err.contains("another Lukasa serves from this data folder"), "{}", second.err);
    let keys = machine.run(&["key", "list", "--tenant", "local", "--json"]).await;
    keys.json();
    assert!(machine.postmaster().is_some(), "it is still there after them");
    // Other accounts cannot connect: no TCP port, and a socket in a private folder.
    let sockets = machine.data().join("cluster/socket");
    assert_eq!(fs::metadata(&sockets).unwrap().permissions().mode() & 0o777, 0o700);
    // Both processes are killed, Lukasa first so that it cannot clean up.
    signal("-KILL", &child.id().unwrap().to_string());
    child.wait().await.unwrap();
    signal("-KILL", &machine.postmaster().unwrap());
    let (mut child, url) = machine.serve().await;
    assert!(machine.run(&["list", "--url", &url]).await.ok().contains("Grows plums"));
    // Only Lukasa is killed, and its PostgreSQL keeps running: the next Lukasa takes it over.
    signal("-KILL", &child.id().unwrap().to_string());
    child.wait().await.unwrap();
    let left = machine.postmaster().expect("it keeps running");
    let (mut child, url) = machine.serve().await;
    assert_ne!(machine.postmaster(), Some(left));
    assert!(machine.run(&["list", "--url", &url]).await.ok().contains("Grows plums"));
    // Its PostgreSQL is killed: Lukasa starts it again and serves on, twice.
    for _ in 0..2 {
        let killed = machine.postmaster();
        signal("-KILL", killed.as_deref().unwrap());
        machine.wait_for_memory(&url, killed, "Grows plums").await;
        assert!(child.try_wait().unwrap().is_none(), "the same Lukasa runs");
    }
    signal("-TERM", &child.id().unwrap().to_string());
    assert!(child.wait().await.unwrap().success());
    assert_eq!(machine.postmaster(), None, "it is stopped with Lukasa");
    assert!(!machine.data().join("url").exists());
    // A single command starts it, does its work, and stops it again.
    machine.run(&["key", "create", "--tenant", "acme", "--name", "bot", "--json"]).await.json();
    assert_eq!(machine.postmaster(), None);
    let health = machine.run(&["doctor", "--json"]).await.json();
    let checks = health["checks"].as_array().unwrap();
    let names: Vec<&str> = checks.iter().map(|check| check["check"].as_str().unwrap()).collect();
    assert!(names.len() >= 14 && names.contains(&"disk") && names.contains(&"clock"), "{names:?}");
}

#[tokio::test]
async fn missing_postgresql_error_names_how_to_install_it() {
    let machine = Machine::new();
    let empty = machine.place.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let empty = empty.display().to_string();
    let output = machine.run(&["serve", "--postgres-dir", &empty]).await;
    assert_eq!(output.code, 1);
    assert!(output.err.contains("no PostgreSQL programs found"), "{}", output.err);
    // Where packages have installed PostgreSQL, it would start and serve forever.
    if !Path::new("/usr/lib/postgresql/18/bin/postgres").exists() {
        let mut command = machine.lukasa(&["serve", "--listen", "127.0.0.1:0"]);
        let output =
            CommandOutput::of(&command.env_remove("LUKASA_POSTGRES_DIR").output().await.unwrap());
        assert_eq!(output.code, 1);
        for way in
            ["apt install postgresql-18 postgresql-18-pgvector", "brew install", "DATABASE_URL="]
        {
            assert!(output.err.contains(way), "{}", output.err);
        }
    }
}
