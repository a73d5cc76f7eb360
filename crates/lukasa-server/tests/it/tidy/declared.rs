//! The rule that a Rust file is declared as a module: one without a `mod` is never compiled, so its
//! tests never run and its errors are never seen.
//!
//! The declarations are read line by line, as rustfmt writes them. What a macro declares is not seen.

use std::collections::{BTreeMap, BTreeSet};

use super::{Source, first_word};

/// Rust files of sources and tests that no declaration reaches from a root of their package.
pub(super) fn undeclared_files(files: &[(String, String)]) -> Vec<String> {
    let texts: BTreeMap<&str, &str> = files
        .iter()
        .filter(|(path, _)| is_checked(path))
        .map(|(path, text)| (path.as_str(), text.as_str()))
        .collect();
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    // A file, and the folder of the modules that it declares.
    let mut queue: Vec<(&str, String)> =
        texts.keys().filter(|path| is_root(path)).map(|path| (*path, folder(path))).collect();
    while let Some((path, modules)) = queue.pop() {
        if !reached.insert(path) {
            continue;
        }
        for declared in declarations(texts[path]) {
            let found = match &declared.path {
                Some(named) => {
                    let path = normalized(&format!("{}{named}", folder(path)));
                    texts.get_key_value(path.as_str()).map(|(path, _)| (*path, folder(path)))
                }
                None => {
                    let own = format!("{modules}{}/", declared.name);
                    let choices =
                        [own.trim_end_matches('/').to_owned() + ".rs", own.clone() + "mod.rs"];
                    let file = choices.iter().find_map(|name| texts.get_key_value(name.as_str()));
                    file.map(|(path, _)| (*path, own))
                }
            };
            queue.extend(found);
        }
    }
    let undeclared = texts.keys().filter(|path| !reached.contains(**path));
    undeclared
        .map(|path| format!("{path}:1: no `mod` declares it, so it is not compiled"))
        .collect()
}

/// A declaration `mod name;`.
struct Declaration {
    /// The name, after those of the modules that it is inside, as in `outer/name`.
    name: String,
    /// The value of its `path` attribute.
    path: Option<String>,
}

fn declarations(text: &str) -> Vec<Declaration> {
    let code = Source::scan(text).code;
    let (mut found, mut inside): (Vec<Declaration>, Vec<(usize, &str)>) = (Vec::new(), Vec::new());
    let mut path = None;
    for (line, code) in text.lines().zip(code.lines()) {
        let indent = code.len() - code.trim_start().len();
        let code = code.trim();
        if code.starts_with("#[") {
            let value =
                line.trim().strip_prefix("#[path = \"").and_then(|rest| rest.split('"').next());
            path = value.map(str::to_owned).or(path);
            continue;
        }
        if code == "}" && inside.last().is_some_and(|(own, _)| *own == indent) {
            inside.pop();
        }
        if let Some(name) = module_name(code) {
            if code.ends_with('{') {
                inside.push((indent, name));
            } else {
                let outer = inside.iter().map(|(_, name)| format!("{name}/"));
                let name = outer.collect::<String>() + name;
                found.push(Declaration { name, path: path.clone() });
            }
        }
        path = None;
    }
    found
}

/// The name in the beginning of a module, `mod name;` or `mod name {`.
fn module_name(code: &str) -> Option<&str> {
    let (visibility, rest) = code.split_once("mod ")?;
    let is_visible =
        visibility.is_empty() || (visibility.starts_with("pub") && visibility.ends_with(' '));
    (is_visible && rest.ends_with([';', '{'])).then(|| first_word(rest))
}

/// Whether a file is below `src` or `tests` of a package.
fn is_checked(path: &str) -> bool {
    package_path(path).is_some_and(|_| path.ends_with(".rs"))
}

/// The path inside the package, from `src` or `tests` on.
fn package_path(path: &str) -> Option<&str> {
    let inside = match path.strip_prefix("crates/") {
        Some(rest) => rest.split_once('/')?.1,
        None => path.strip_prefix("evals/")?,
    };
    (inside.starts_with("src/") || inside.starts_with("tests/")).then_some(inside)
}

/// Whether Cargo compiles the file without a declaration.
fn is_root(path: &str) -> bool {
    let parts: Vec<&str> = package_path(path).unwrap_or_default().split('/').collect();
    match parts[..] {
        ["src", file] => file == "lib.rs" || file == "main.rs",
        ["src", "bin", _] | ["tests", _] => true,
        ["tests", _, file] | ["src", "bin", _, file] => file == "main.rs",
        _ => false,
    }
}

/// The folder of a file, with a slash at its end.
fn folder(path: &str) -> String {
    path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"))
}

/// A path without `..`.
fn normalized(path: &str) -> String {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." => {}
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[test]
fn file_without_a_module_declaration_is_detected() {
    let undeclared = |files: &[(&str, &str)]| {
        let files: Vec<_> =
            files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        undeclared_files(&files)
    };
    // The file of `hostile-writes` that was written and never compiled.
    let found = undeclared(&[
        ("evals/src/lib.rs", "//! mod unused;\npub mod writes;\n"),
        ("evals/src/writes/mod.rs", "mod carrier;\n// mod entries;\nuse carrier::Carrier;\n"),
        ("evals/src/writes/carrier.rs", "pub struct Carrier;\n"),
        ("evals/src/writes/entries.rs", "pub fn sessions() {}\n"),
        ("evals/src/unused.rs", ""),
        ("evals/data/a.rs", ""),
    ]);
    assert_eq!(
        found,
        [
            "evals/src/unused.rs:1: no `mod` declares it, so it is not compiled",
            "evals/src/writes/entries.rs:1: no `mod` declares it, so it is not compiled",
        ]
    );
    // A declaration in a file that is not declared itself reaches nothing.
    let found = undeclared(&[
        ("crates/x/src/main.rs", "mod a;\n"),
        (
            "crates/x/src/a.rs",
            "#[cfg(test)]\nmod tests;\npub(crate) mod b {\n    mod c;\n}\nmod d;\n",
        ),
        ("crates/x/src/a/tests.rs", ""),
        ("crates/x/src/a/b/c.rs", ""),
        ("crates/x/src/d.rs", "mod e;"),
        ("crates/x/src/d/e.rs", ""),
    ]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].starts_with("crates/x/src/d.rs") && found[1].starts_with("crates/x/src/d/e.rs")
    );
    let attribute = "#[cfg(test)]\n#[path = \"b_tests.rs\"]\nmod tests;\n";
    let other = "#[path = \"../../../x/tests/data/mod.rs\"]\nmod data;\nmod api;\n";
    let found = undeclared(&[
        ("crates/x/src/lib.rs", "mod b;\n"),
        ("crates/x/src/b.rs", attribute),
        ("crates/x/src/b_tests.rs", ""),
        ("crates/x/tests/data/mod.rs", "mod read;\n"),
        ("crates/x/tests/data/read.rs", ""),
        ("crates/y/tests/it/main.rs", other),
        ("crates/y/tests/it/api/mod.rs", ""),
        ("crates/y/tests/cost.rs", ""),
    ]);
    assert_eq!(found, Vec::<String>::new());
}
