//! The console and the panel are built apart from this and taken in as they lie there: build again when
//! they have changed. The facts about the build that `lukasa --version` prints are set here.

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::UNIX_EPOCH;

/// Where the console and the panel are built, each as `dist` in its folder.
const SOURCES: [&str; 2] = ["../../web", "../../clients/elements"];

fn main() {
    for source in SOURCES {
        watch_dist(Path::new(source));
    }
    println!("cargo::rerun-if-changed=build.rs");
    set_windows_stack();
    println!("cargo::rerun-if-env-changed=LUKASA_COMMIT");
    let set = env::var("LUKASA_COMMIT").ok().filter(|commit| !commit.is_empty());
    let source = match set {
        Some(commit) => CommitSource::Fixed(commit),
        None => commit_of_clone().unwrap_or_else(|| CommitSource::Fixed("unknown".to_owned())),
    };
    let (commit, log) = match source {
        CommitSource::Fixed(commit) => (commit, empty_file()),
        CommitSource::Log(log) => ("unknown".to_owned(), log),
    };
    println!("cargo::rustc-env=LUKASA_BUILD_COMMIT={commit}");
    println!("cargo::rustc-env=LUKASA_COMMIT_LOG={}", log.display());
    let target = env::var("TARGET").unwrap_or_default();
    let parts = [
        ("console", "../../web/dist/index.html"),
        ("panel", "../../clients/elements/dist/panel.html"),
    ];
    let built_in: Vec<&str> =
        parts.iter().filter(|(_, file)| Path::new(file).exists()).map(|(name, _)| *name).collect();
    let features = if built_in.is_empty() { "none".to_owned() } else { built_in.join(", ") };
    println!("cargo::rustc-env=LUKASA_BUILD_TARGET={target}");
    println!("cargo::rustc-env=LUKASA_BUILD_PROFILE={}", env::var("PROFILE").unwrap_or_default());
    println!("cargo::rustc-env=LUKASA_BUILD_FEATURES={features}");
}

/// The main thread has 1 MB on Windows, of which the futures of a command may need more without
/// optimisation. Everywhere else it has 8 MB.
fn set_windows_stack() {
    const STACK_BYTES: u32 = 8 * 1024 * 1024;
    let variable = |name: &str| env::var(name).unwrap_or_default();
    if variable("CARGO_CFG_TARGET_OS") != "windows" {
        return;
    }
    match variable("CARGO_CFG_TARGET_ENV").as_str() {
        "msvc" => println!("cargo::rustc-link-arg-bins=/STACK:{STACK_BYTES}"),
        _ => println!("cargo::rustc-link-arg-bins=-Wl,--stack,{STACK_BYTES}"),
    }
}

/// Builds again when what was built in this folder changes. An empty folder stands for what was not built:
/// a path that does not exist, or is newer than this run, would make Cargo compile this crate again.
fn watch_dist(source: &Path) {
    let dist = source.join("dist");
    if source.is_dir() && !dist.exists() {
        // A source that cannot be written to is only built more often.
        drop(fs::create_dir(&dist).and_then(|()| File::open(&dist)?.set_modified(UNIX_EPOCH)));
    }
    println!("cargo::rerun-if-changed={}", dist.display());
}

/// Where the commit of the build is from.
enum CommitSource {
    Fixed(String),
    /// A log of git whose last line has it. The binary alone reads it, and is compiled again when it
    /// changes.
    Log(PathBuf),
}

/// The commit that is checked out. `None` outside a clone, as in a container or in a packed source, and
/// without git.
fn commit_of_clone() -> Option<CommitSource> {
    // A clone around a packed source is not its clone.
    if !Path::new("../../.git").exists() {
        return None;
    }
    let commit = git(&["rev-parse", "HEAD"])?;
    // Git adds a line to the log of HEAD with every commit and checkout.
    let log = git_path("logs/HEAD").filter(|log| fs::metadata(log).is_ok_and(|log| log.len() > 0));
    if let Some(log) = log {
        return Some(CommitSource::Log(log));
    }
    // Without a log this crate is compiled again with every commit. The branch may be in a file of its
    // own or among the packed ones, or all branches in tables.
    for name in ["HEAD", "packed-refs", "refs/heads", "reftable"] {
        if let Some(path) = git_path(name) {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    Some(CommitSource::Fixed(commit))
}

/// A file without a commit.
fn empty_file() -> PathBuf {
    let path = Path::new(&env::var("OUT_DIR").unwrap_or_default()).join("empty");
    fs::write(&path, "").expect("the folder of this build can be written to");
    path
}

/// The absolute path of a file or folder of git, if it exists. In a worktree some are in the main clone.
fn git_path(name: &str) -> Option<PathBuf> {
    Path::new(&git(&["rev-parse", "--git-path", name])?).canonicalize().ok()
}

/// What git prints, if it succeeds and prints something.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
