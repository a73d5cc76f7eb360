//! What differs between Unix and Windows is in a few places, and everything else compiles on both.

use super::{Source, crate_of, extension, occurrences};

/// Files and folders that may name a system.
const PLACES: [&str; 3] = [
    "crates/lukasa-server/src/system/",
    "crates/lukasa-server/src/postgres/",
    "crates/lukasa-engine/src/folder.rs",
];
const MARKS: [&str; 8] = [
    "cfg(unix",
    "cfg(windows",
    "cfg!(unix",
    "cfg!(windows",
    "os::unix",
    "os::windows",
    "signal::unix",
    "rustix::",
];

/// Uses of Unix or Windows outside of the modules for them. Tests may use both.
pub(super) fn one_place_for_systems(path: &str, text: &str) -> Vec<String> {
    let is_test = path.contains("/tests/") || path.contains("/examples/");
    if extension(path) != "rs" || crate_of(path).is_none() || is_test {
        return Vec::new();
    }
    if PLACES.iter().any(|place| path.starts_with(place)) {
        return Vec::new();
    }
    let code = Source::scan(text).code;
    let code = code.split("#[cfg(test)]").next().unwrap_or_default();
    let mut faults = Vec::new();
    for mark in MARKS {
        for (line, _, _) in occurrences(code, mark) {
            faults.push(format!("{path}:{line}: `{mark}` belongs into {}", PLACES[0]));
        }
    }
    faults
}

#[test]
fn code_for_one_system_is_detected() {
    let found = |path: &str, code: &str| one_place_for_systems(path, code).len();
    let path = "crates/lukasa-server/src/cli/a.rs";
    assert_eq!(found(path, "use std::os::unix::fs::MetadataExt as _;\n"), 1);
    assert_eq!(found(path, "#[cfg(windows)]\nfn a() {}\nfn b() { if cfg!(unix) {} }\n"), 2);
    assert_eq!(found("crates/lukasa-store/src/a.rs", "rustix::fs::statvfs(x)"), 1);
    assert_eq!(found(path, "// cfg(unix)\nconst A: &str = \"cfg(unix)\";"), 0);
    assert_eq!(found(path, "fn a() {}\n#[cfg(test)]\nmod tests { use std::os::unix::fs; }"), 0);
    assert_eq!(found("crates/lukasa-server/src/system/a.rs", "use std::os::unix::fs;"), 0);
    assert_eq!(found("crates/lukasa-server/tests/it/a.rs", "use std::os::unix::fs;"), 0);
}
