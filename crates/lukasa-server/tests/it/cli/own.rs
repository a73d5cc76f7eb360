//! A PostgreSQL of Lukasa's own: started from the programs of the machine, on a folder of the person's,
//! by one Lukasa at a time, and gone with it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use super::everyday::Said;

/// A machine that has PostgreSQL's programs and nothing of Lukasa's.
struct Machine {
    place: TempDir,
    programs: PathBuf,
}

impl Machine {
    fn new() -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/postgres");
        let said =
            std::process::Command::new(script).arg("bin").output().expect("scripts/postgres");
        let programs = PathBuf::from(String::from_utf8_lossy(&said.stdout).trim());
        assert!(programs.join("initdb").exists(), "{}", programs.display());
        let place = tempfile::tempdir().unwrap();
        // Run by root, PostgreSQL is another account's, which has to get in.
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

    async fn says(&self, line: &[&str]) -> Said {
        Said::of(&self.lukasa(line).output().await.expect("lukasa runs"))
    }

    /// Serves until it is told otherwise; the process and where it listens.
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
async fn it_starts_keeps_and_stops_its_own_database() {
    let machine = Machine::new();
    let (mut child, url) = machine.serve().await;
    machine.says(&["save", "Grows plums", "--url", &url]).await.ok();
    // The folder is one Lukasa's at a time; commands find the database that runs.
    let second = machine.says(&["serve", "--listen", "127.0.0.1:0"]).await;
    assert_eq!(second.code, 1);
    assert!(second.err.contains("another Lukasa serves from this data folder"), "{}", second.err);
    let keys = machine.says(&["key", "list", "--tenant", "local", "--json"]).await;
    keys.json();
    assert!(machine.postmaster().is_some(), "it is still there after them");
    // Nobody else on the machine gets in: no port, and a socket in a closed folder.
    let sockets = machine.data().join("cluster/socket");
    assert_eq!(fs::metadata(&sockets).unwrap().permissions().mode() & 0o777, 0o700);
    // Everything is killed at once, Lukasa first so that it cannot tidy up.
    signal("-KILL", &child.id().unwrap().to_string());
    child.wait().await.unwrap();
    signal("-KILL", &machine.postmaster().unwrap());
    let (mut child, url) = machine.serve().await;
    assert!(machine.says(&["list", "--url", &url]).await.ok().contains("Grows plums"));
    // Lukasa alone is killed, and its PostgreSQL goes on: the next one takes over.
    signal("-KILL", &child.id().unwrap().to_string());
    child.wait().await.unwrap();
    let left = machine.postmaster().expect("it goes on");
    let (mut child, url) = machine.serve().await;
    assert_ne!(machine.postmaster(), Some(left));
    assert!(machine.says(&["list", "--url", &url]).await.ok().contains("Grows plums"));
    // Its PostgreSQL is killed under it: it does not go on without.
    signal("-KILL", &machine.postmaster().unwrap());
    assert_eq!(child.wait().await.unwrap().code(), Some(1));
    let (mut child, url) = machine.serve().await;
    assert!(machine.says(&["list", "--url", &url]).await.ok().contains("Grows plums"));
    signal("-TERM", &child.id().unwrap().to_string());
    assert!(child.wait().await.unwrap().success());
    assert_eq!(machine.postmaster(), None, "it is stopped with Lukasa");
    assert!(!machine.data().join("url").exists());
    // A command alone starts it, does its work, and stops it again.
    machine.says(&["key", "create", "--tenant", "acme", "--name", "bot", "--json"]).await.json();
    assert_eq!(machine.postmaster(), None);
    let health = machine.says(&["doctor", "--json"]).await.json();
    let checks = health["checks"].as_array().unwrap();
    let names: Vec<&str> = checks.iter().map(|check| check["check"].as_str().unwrap()).collect();
    assert!(names.len() >= 14 && names.contains(&"disk") && names.contains(&"clock"), "{names:?}");
}

#[tokio::test]
async fn a_machine_without_postgresql_is_told_how_to_get_one() {
    let machine = Machine::new();
    let empty = machine.place.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let empty = empty.display().to_string();
    let said = machine.says(&["serve", "--postgres-dir", &empty]).await;
    assert_eq!(said.code, 1);
    assert!(said.err.contains("there are no programs of PostgreSQL"), "{}", said.err);
    // A machine that has one where packages put it would start it, and serve for ever.
    if !Path::new("/usr/lib/postgresql/18/bin/postgres").exists() {
        let mut command = machine.lukasa(&["serve", "--listen", "127.0.0.1:0"]);
        let said = Said::of(&command.env_remove("LUKASA_POSTGRES_DIR").output().await.unwrap());
        assert_eq!(said.code, 1);
        for way in
            ["apt install postgresql-18 postgresql-18-pgvector", "brew install", "DATABASE_URL="]
        {
            assert!(said.err.contains(way), "{}", said.err);
        }
    }
}
