//! Folders of model weights and public data that are not in the repository. A test that needs one
//! is skipped on a developer's machine without it, and fails where the data is required: with
//! `LUKASA_REQUIRE_DATA=1`, or in CI (`CI=true`) when `LUKASA_SHARED` says that the data is
//! available.

use std::env;
use std::path::PathBuf;

/// The folder that the environment variable names. `None` if the caller should skip.
///
/// # Panics
/// If the variable is not set although the data is required.
#[allow(clippy::print_stderr, reason = "a test that is skipped says so")]
pub fn folder(variable: &str) -> Option<PathBuf> {
    if let Some(folder) = env::var_os(variable).filter(|folder| !folder.is_empty()) {
        return Some(folder.into());
    }
    let get = |name: &str| env::var(name).ok();
    assert!(!is_required(get), "{variable} is not set, but the data it names is required here");
    eprintln!("SKIPPED: {variable} is not set");
    None
}

fn is_required(get: impl Fn(&str) -> Option<String>) -> bool {
    let is = |name: &str, value: &str| get(name).as_deref() == Some(value);
    is("LUKASA_REQUIRE_DATA", "1") || (is("CI", "true") && get("LUKASA_SHARED").is_some())
}

#[test]
fn missing_data_is_an_error_in_ci() {
    let with = |set: &[(&str, &str)]| {
        let set: Vec<_> = set.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
        is_required(move |name| set.iter().find(|(k, _)| k == name).map(|(_, v)| v.clone()))
    };
    assert!(with(&[("LUKASA_REQUIRE_DATA", "1")]));
    assert!(with(&[("CI", "true"), ("LUKASA_SHARED", "x")]));
    assert!(!with(&[("CI", "true")]));
    assert!(!with(&[("LUKASA_SHARED", "x")]));
    assert!(!with(&[]));
}
