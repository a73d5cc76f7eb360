//! Every test that `docs/requirements.md` names exists.

use std::fs;
use std::path::{Path, PathBuf};

fn source_files(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !path.ends_with("target") && !path.ends_with("node_modules") {
            source_files(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "rs" || ext == "ts") {
            found.push(path);
        }
    }
}

/// The names in backticks after the name of a crate that are not functions there.
fn missing(page: &str, source: impl Fn(&str) -> String) -> Vec<String> {
    let mut missing = Vec::new();
    for line in page.lines().filter(|line| line.starts_with("| R")) {
        let proof = line.rsplit('|').nth(1).unwrap_or("");
        let mut place = "";
        for (i, part) in proof.split('`').enumerate() {
            let crates = ["text", "core", "store", "engine", "server", "evals", "web"];
            if i % 2 == 0 {
                let words = part.split(|c: char| !c.is_alphanumeric());
                let named = |name: &&str| words.clone().any(|word| word == *name);
                place = crates.into_iter().rfind(named).unwrap_or(place);
            } else if !part.contains('/') {
                let text = source(place);
                // The tests of the console are named by sentences.
                let named = match place {
                    "web" => vec![format!("\"{part}\"")],
                    _ => vec![format!("fn {part}("), format!("mod {part};")],
                };
                let there = named.iter().any(|name| text.contains(name));
                if !there {
                    missing.push(format!("{place} {part}"));
                }
            }
        }
    }
    missing
}

fn source_of(place: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let dir = match place {
        "evals" => root.join("evals"),
        "web" => root.join("web/test"),
        _ => root.join(format!("crates/lukasa-{place}")),
    };
    let mut files = Vec::new();
    source_files(&dir, &mut files);
    files.iter().filter_map(|path| fs::read_to_string(path).ok()).collect()
}

#[test]
fn every_named_test_exists() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/requirements.md");
    let page = fs::read_to_string(page).unwrap();
    assert!(page.lines().filter(|line| line.starts_with("| R")).count() > 40);
    let missing = missing(&page, source_of);
    assert!(missing.is_empty(), "named in docs/requirements.md but not there: {missing:#?}");
}

#[test]
fn missing_test_name_is_detected() {
    let page = "| R999 | something | done | engine `no_such_test`; server `isolation` |";
    assert_eq!(missing(page, |_| "mod isolation;".into()), ["engine no_such_test"]);
}
