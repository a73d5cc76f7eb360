//! The settings file of the installed service. Commands read it too, so that they work on the database of
//! the service and not on an empty one of their own. A variable that is set wins over the file.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context as _, bail};

use super::doctor::Check;
use crate::system::{account, files, folders, process};

/// Names the file; an empty value disables it.
const VARIABLE: &str = "LUKASA_ENV_FILE";
/// The file of a user's service, below the home folder.
const USER_FILE: &str = ".config/lukasa/lukasa.env";
/// The file of the machine's service.
const MACHINE_FILE: &str = "etc/lukasa/lukasa.env";
/// One of these exists if the machine's service is enabled, or runs.
const MACHINE_SERVICE: [&str; 2] = [
    "etc/systemd/system/multi-user.target.wants/lukasa.service",
    "run/systemd/units/invocation:lukasa.service",
];

static FOUND: OnceLock<SettingsFile> = OnceLock::new();

#[derive(Debug, Clone, PartialEq, Eq)]
enum SettingsFile {
    Absent,
    Read {
        path: PathBuf,
        text: String,
    },
    /// The file of a service in use, which this user cannot read.
    Unreadable {
        path: PathBuf,
        why: String,
    },
}

/// Reads the file. If it sets variables that are not set, this process starts again with them: to change
/// its own environment is unsafe in Rust.
pub fn load() -> anyhow::Result<()> {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let words = || arguments.iter().skip(1).map(OsString::as_os_str);
    // `lukasa service` is about the file: what is in it is not a setting of the shell.
    let found = match words().find(|word| *word != "--no-color") {
        Some(word) if word == "service" => SettingsFile::Absent,
        _ => find(
            std::env::var_os(VARIABLE).as_deref(),
            folders::home().as_deref(),
            folders::machine_root(),
        )?,
    };
    if let SettingsFile::Read { path, text } = &found {
        let missing = missing(text, words(), |name| std::env::var_os(name));
        if !missing.is_empty() {
            let program = std::env::current_exe().context("the path of this program is unknown")?;
            let mut variables: Vec<(OsString, OsString)> =
                missing.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
            variables.push((VARIABLE.into(), path.into()));
            let name = arguments.first().map(OsString::as_os_str);
            let rest = arguments.get(1..).unwrap_or_default();
            let error = process::start_instead(&program, name, rest, &variables);
            return Err(error).context("this program could not be started again");
        }
    }
    let _ = FOUND.set(found);
    Ok(())
}

/// Fails if the machine's service has settings that cannot be read: without them a second, empty database
/// would be started.
pub fn check_readable() -> anyhow::Result<()> {
    let Some(SettingsFile::Unreadable { path, why }) = FOUND.get() else { return Ok(()) };
    bail!(
        "the settings of the service on this machine cannot be read: {}: {why}\n  next: run this command \
         with sudo, or set DATABASE_URL; for a database of your own, beside that of the service, set \
         {VARIABLE} to an empty value",
        path.display()
    )
}

/// What was read, for `lukasa doctor`.
pub(super) fn check() -> Check {
    const FIX: &str = "run `lukasa doctor` with sudo, or set DATABASE_URL: commands do not know the \
                       database of the service";
    let (good, found) = match FOUND.get() {
        Some(SettingsFile::Read { path, .. }) => (true, format!("read {}", path.display())),
        Some(SettingsFile::Unreadable { path, why }) => {
            (false, format!("{} cannot be read: {why}", path.display()))
        }
        _ => (true, "no settings file of a service".to_owned()),
    };
    Check::new("settings", good, found, FIX).or_warn()
}

/// The file of the user's service, or else of the machine's.
fn find(
    named: Option<&OsStr>,
    home: Option<&Path>,
    root: Option<&Path>,
) -> anyhow::Result<SettingsFile> {
    if let Some(path) = named {
        if path.is_empty() {
            return Ok(SettingsFile::Absent);
        }
        let path = PathBuf::from(path);
        let text = std::fs::read_to_string(&path);
        let text = text.with_context(|| {
            format!("the settings file {}, which {VARIABLE} names, cannot be read", path.display())
        })?;
        return Ok(SettingsFile::Read { path, text });
    }
    if let Some(home) = home {
        let path = home.join(USER_FILE);
        // With sudo, HOME may be another user's, whose settings must not apply to root.
        let is_of_root = files::is_owned_by_root(&path);
        if is_of_root.is_ok_and(|is_of_root| is_of_root || !account::is_root()) {
            let text = std::fs::read_to_string(&path);
            let text = text.with_context(|| format!("cannot read {}", path.display()))?;
            return Ok(SettingsFile::Read { path, text });
        }
    }
    let Some(root) = root else { return Ok(SettingsFile::Absent) };
    let path = root.join(MACHINE_FILE);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(SettingsFile::Read { path, text }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(SettingsFile::Absent),
        Err(error) => {
            // A package installs the file, also for those who never start its service.
            let is_used = |link: &&str| root.join(link).symlink_metadata().is_ok();
            match MACHINE_SERVICE.iter().any(is_used) {
                true => Ok(SettingsFile::Unreadable { path, why: error.to_string() }),
                false => Ok(SettingsFile::Absent),
            }
        }
    }
}

/// The variables of the file to add to those that are set.
fn missing<'a>(
    text: &str,
    mut arguments: impl Iterator<Item = &'a OsStr>,
    set: impl Fn(&str) -> Option<OsString>,
) -> BTreeMap<String, String> {
    let names_database = |argument: &OsStr| {
        let argument = argument.to_string_lossy();
        argument.starts_with("--database-url") || argument.starts_with("--data-dir")
    };
    let has_database = arguments.any(names_database)
        || set("LUKASA_DATA_DIR").is_some_and(|folder| !folder.is_empty());
    let mut variables = parse(text);
    variables.retain(|name, _| {
        let is_database = name == "DATABASE_URL" || name == "DATABASE_URL_FILE";
        let is_ours = is_database || name.starts_with("LUKASA_");
        // A secret is given either as a value or as a file.
        let twin = match name.strip_suffix("_FILE") {
            Some(value) => value.to_owned(),
            None => format!("{name}_FILE"),
        };
        let is_set = set(name).is_some() || set(&twin).is_some_and(|value| !value.is_empty());
        is_ours && !is_set && name != VARIABLE && !(is_database && has_database)
    });
    variables
}

/// The variables of a file in the format of systemd's `EnvironmentFile`. The last line of a name counts.
fn parse(text: &str) -> BTreeMap<String, String> {
    let mut variables = BTreeMap::new();
    let mut rest = text.chars().peekable();
    while rest.peek().is_some() {
        let mut name = String::new();
        while let Some(c) = rest.next_if(|c| !['=', '\n'].contains(c)) {
            name.push(c);
        }
        let is_assignment = rest.next() == Some('=');
        let name = name.trim();
        if !is_assignment {
            continue;
        }
        let value = parse_value(&mut rest);
        let is_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
        if !name.is_empty() && name.chars().all(is_name) && !value.contains('\0') {
            variables.insert(name.to_owned(), value);
        }
    }
    variables
}

/// The value up to the end of its line: in quotation marks a line break belongs to it.
fn parse_value(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> String {
    let mut value = String::new();
    // How much of the value is not white space at the end of the line.
    let mut length = 0;
    let mut quote = None;
    // Within a word, quotation marks are characters.
    let mut in_word = false;
    while rest.next_if(|c| *c == ' ' || *c == '\t').is_some() {}
    while let Some(c) = rest.next() {
        match (quote, c) {
            (None, '\n') => break,
            (None, '"' | '\'') if !in_word => {
                quote = Some(c);
                continue;
            }
            (Some(open), c) if open == c => {
                quote = None;
                in_word = false;
                length = value.len();
                continue;
            }
            (None | Some('"'), '\\') => {
                let Some(next) = rest.next() else { break };
                if quote.is_some() && !"\"\\`$\n".contains(next) {
                    value.push('\\');
                }
                if next != '\n' {
                    value.push(next);
                    in_word = quote.is_none();
                    length = value.len();
                }
                continue;
            }
            _ => {}
        }
        value.push(c);
        if quote.is_some() || !c.is_whitespace() {
            in_word = quote.is_none();
            length = value.len();
        }
    }
    value.truncate(length);
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_file_is_read_as_systemd_reads_it() {
        let text = "# DATABASE_URL=none\n; B=none\n\n A = b c \r\nB=\"x y\"\nC='q \"z\"'\nD=a=b#c\nno line\n\
                    H=\"a\\\"b\\c\"\nI=a\\b\\\nc\nJ='a\\b'\nE=\nF=\"two\nlines\" \nA=last\nbad name=1\nG=it's";
        let expected = [
            ("A", "last"),
            ("B", "x y"),
            ("C", "q \"z\""),
            ("D", "a=b#c"),
            ("E", ""),
            ("F", "two\nlines"),
            ("G", "it's"),
            ("H", "a\"b\\c"),
            ("I", "abc"),
            ("J", "a\\b"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(parse(text), BTreeMap::from(expected));
    }

    #[test]
    fn variables_and_arguments_win_over_the_settings_file() {
        const TEXT: &str = "DATABASE_URL=postgres://a\nLUKASA_CHAT_KEY_FILE=/k\nLUKASA_AUTH=keys\nPATH=/x\n\
                            LUKASA_ENV_FILE=/other\n";
        let names = |arguments: &[&str], set: &[&str]| {
            let arguments = arguments.iter().map(OsStr::new);
            let found = missing(TEXT, arguments, |name| set.contains(&name).then(|| "x".into()));
            found.into_keys().collect::<Vec<_>>().join(" ")
        };
        let all = "DATABASE_URL LUKASA_AUTH LUKASA_CHAT_KEY_FILE";
        assert_eq!(names(&["key", "create"], &[]), all);
        assert_eq!(names(&[], &["LUKASA_AUTH", "LUKASA_CHAT_KEY"]), "DATABASE_URL");
        for (arguments, set) in [
            (&["--database-url=postgres://b"][..], &[][..]),
            (&["--database-url-file", "/f"], &[]),
            (&["--data-dir", "/d"], &[]),
            (&[], &["LUKASA_DATA_DIR"]),
            (&[], &["DATABASE_URL_FILE"]),
        ] {
            assert_eq!(names(arguments, set), "LUKASA_AUTH LUKASA_CHAT_KEY_FILE", "{arguments:?}");
        }
    }

    #[test]
    fn settings_file_of_the_user_comes_before_that_of_the_machine() {
        let place = tempfile::tempdir().unwrap();
        let (home, root) = (place.path().join("home"), place.path());
        let find = || find(None, Some(&home), Some(root)).unwrap();
        assert_eq!(find(), SettingsFile::Absent);
        let write = |path: PathBuf| {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "A=b").unwrap();
            SettingsFile::Read { path, text: "A=b".into() }
        };
        let machine = write(root.join(MACHINE_FILE));
        assert_eq!(find(), machine);
        let user = write(home.join(USER_FILE));
        assert_eq!(find(), user);
        // Root uses no settings of another user whose HOME it has.
        if account::is_root() {
            std::os::unix::fs::chown(home.join(USER_FILE), Some(65_534), None).unwrap();
            assert_eq!(find(), machine);
        }
        let named = |name: &str| super::find(Some(OsStr::new(name)), None, Some(root));
        assert_eq!(named("").unwrap(), SettingsFile::Absent);
        assert!(named("/no/such/file").unwrap_err().to_string().contains("/no/such/file"));
    }

    #[test]
    fn unreadable_settings_matter_if_the_service_of_the_machine_is_used() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        let find = || find(None, None, Some(root)).unwrap();
        // Root reads every file, so a folder is what cannot be read.
        std::fs::create_dir_all(root.join(MACHINE_FILE)).unwrap();
        assert_eq!(find(), SettingsFile::Absent, "the service was never enabled");
        for link in MACHINE_SERVICE {
            let link = root.join(link);
            std::fs::create_dir_all(link.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink("/nowhere", &link).unwrap();
            assert!(matches!(find(), SettingsFile::Unreadable { .. }));
            std::fs::remove_file(link).unwrap();
        }
    }
}
