//! Where a managed PostgreSQL listens, and what keeps other accounts of the machine out of it: on Unix the
//! mode of its socket's folder, on Windows a password, because its driver knows only ports there.

use std::fs;
use std::io::Write as _;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::Account;
use crate::system::files;
use crate::{clock, url};

/// Longest path of a socket: 103 bytes on macOS, 107 on Linux. The shorter one holds everywhere.
const MAX_SOCKET_BYTES: usize = 103;
const SOCKET_NAME: &str = "/.s.PGSQL.5432";
/// The file of the password, in the folder of the cluster.
const PASSWORD_FILE: &str = "password";

/// How clients reach a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndpointKind {
    /// A socket in a folder that no other account can enter, and no port.
    Socket,
    /// A port of 127.0.0.1, which every account of the machine can connect to.
    Port,
}

impl EndpointKind {
    /// The kind of this system.
    pub const DEFAULT: Self = if cfg!(windows) { Self::Port } else { Self::Socket };

    /// The arguments of `initdb` for the authentication and the locale. Windows does not know C.UTF-8, but
    /// PostgreSQL's own locale of that name is the same on every system.
    pub fn initdb_arguments(
        self,
        cluster: &Path,
        account: Option<&Account>,
    ) -> anyhow::Result<Vec<String>> {
        let mut arguments = match self {
            Self::Socket => vec!["--auth=trust".into(), "--locale=C.UTF-8".into()],
            Self::Port => {
                let file = cluster.join(PASSWORD_FILE);
                let password = hex::encode(clock::random::<32>());
                let written =
                    files::create_private(&file).and_then(|mut file| writeln!(file, "{password}"));
                written.with_context(|| format!("cannot write {}", file.display()))?;
                if let Some(account) = account {
                    account.take_ownership(&file)?;
                }
                vec![
                    "--auth=scram-sha-256".into(),
                    format!("--pwfile={}", file.display()),
                    "--locale=C".into(),
                    "--builtin-locale=C.UTF-8".into(),
                ]
            }
        };
        arguments.push("--locale-provider=builtin".into());
        Ok(arguments)
    }
}

/// Where one server listens.
pub enum ServerEndpoint {
    Socket {
        folder: PathBuf,
        /// The folder if it is outside the data folder, removed with this value.
        _elsewhere: Option<tempfile::TempDir>,
    },
    Port {
        number: u16,
        password: String,
    },
}

impl ServerEndpoint {
    pub fn create(
        kind: EndpointKind,
        cluster: &Path,
        account: Option<&Account>,
    ) -> anyhow::Result<Self> {
        match kind {
            EndpointKind::Socket => {
                let (folder, _elsewhere) = create_socket_folder(cluster, account)?;
                Ok(Self::Socket { folder, _elsewhere })
            }
            EndpointKind::Port => {
                let file = cluster.join(PASSWORD_FILE);
                let password = fs::read_to_string(&file)
                    .with_context(|| format!("cannot read {}", file.display()))?;
                // The listener is closed before the server starts; the system does not give the same port
                // to another program at once.
                let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
                let number = free.local_addr()?.port();
                Ok(Self::Port { number, password: password.trim().to_owned() })
            }
        }
    }

    /// The URL of a database of the server.
    pub fn url(&self, database: &str) -> String {
        match self {
            Self::Socket { folder, .. } => {
                let folder = url::encoded(&folder.display().to_string());
                format!("postgres://postgres@{folder}/{database}?sslmode=disable")
            }
            Self::Port { number, password } => {
                format!(
                    "postgres://postgres:{password}@127.0.0.1:{number}/{database}?sslmode=disable"
                )
            }
        }
    }

    /// The settings of the server, as `name=value`.
    pub fn settings(&self) -> Vec<String> {
        match self {
            Self::Socket { folder, .. } => vec![
                "listen_addresses=".into(),
                format!("unix_socket_directories={}", quoted(folder)),
                "port=5432".into(),
            ],
            Self::Port { number, .. } => vec![
                "listen_addresses=127.0.0.1".into(),
                "unix_socket_directories=".into(),
                format!("port={number}"),
            ],
        }
    }

    /// Removes the lock that a killed server left, once its PID may belong to another program.
    pub fn remove_lock(&self) {
        if let Self::Socket { folder, .. } = self {
            let _ = fs::remove_file(folder.join(".s.PGSQL.5432.lock"));
        }
    }
}

/// A path as one entry of a list in PostgreSQL's settings, where commas separate entries.
fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.display().to_string().replace('"', "\"\""))
}

/// Creates the folder of the socket: inside the data folder, or in /tmp if that path is too long for
/// the kernel. Its mode 0700 is what keeps other accounts out of the database.
fn create_socket_folder(
    cluster: &Path,
    account: Option<&Account>,
) -> anyhow::Result<(PathBuf, Option<tempfile::TempDir>)> {
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
    files::make_private(&path)?;
    if let Some(account) = account {
        account.take_ownership(&path)?;
    }
    Ok((path, elsewhere))
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
