//! The console and the panel are built apart from this and taken in as they lie there: build again when
//! they have changed. The facts about the build that `lukasa --version` prints are set here.

use std::env;
use std::fs::{self, File};
use std::path::Path;
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
    let commit = set.or_else(commit_of_clone).unwrap_or_else(|| "unknown".to_owned());
    let target = env::var("TARGET").unwrap_or_default();
    let parts = [
        ("console", "../../web/dist/index.html"),
        ("panel", "../../clients/elements/dist/panel.html"),
    ];
    let built_in: Vec<&str> =
        parts.iter().filter(|(_, file)| Path::new(file).exists()).map(|(name, _)| *name).collect();
    let features = if built_in.is_empty() { "none".to_owned() } else { built_in.join(", ") };
    println!("cargo::rustc-env=LUKASA_BUILD_COMMIT={commit}");
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

/// The commit that is checked out. `None` outside a clone, as in a container or in a packed source, and
/// without git.
fn commit_of_clone() -> Option<String> {
    // A clone around a packed source is not its clone.
    if !Path::new("../../.git").exists() {
        return None;
    }
    let commit = git(&["rev-parse", "HEAD"])?;
    // The log of HEAD changes with every commit and checkout. A file that does not exist would make
    // Cargo run this every time.
    let mut watched = vec!["HEAD".to_owned(), "logs/HEAD".to_owned()];
    watched.extend(git(&["symbolic-ref", "--quiet", "HEAD"]));
    for name in watched {
        if let Some(path) = git(&["rev-parse", "--git-path", &name])
            && Path::new(&path).exists()
        {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    Some(commit)
}

/// What git prints, if it succeeds and prints something.
fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}
