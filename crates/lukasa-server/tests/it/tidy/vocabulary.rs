//! Rules for names and comments: plain engineering English (docs/words.md is the glossary).

use std::collections::BTreeMap;

use super::{crate_of, extension, is_word};

/// Words that comments and documents do not use. A phrase is matched with single spaces.
const BANNED_WORDS: [&str; 20] = [
    "whoever",
    "whomever",
    "nobody",
    "somebody",
    "anybody",
    "everybody",
    "anew",
    "mend",
    "mends",
    "mended",
    "courier",
    "overheard",
    "at hand",
    "its person",
    "their person",
    "what was told",
    "is told",
    "is let in",
    "lately",
    "bears on",
];

/// Files of which the texts are shown to users and assistants, and are checked like comments.
const SHOWN_TEXTS: [&str; 3] = ["http/review.rs", "http/mcp/resources.rs", "tools/list.rs"];

/// Type names that say nothing of what the type is.
const BANNED_TYPES: [&str; 20] = [
    "Said", "Kept", "Held", "Told", "Heard", "Going", "Standing", "Given", "Taken", "Gone",
    "Asked", "Sent", "Named", "Courier", "Letter", "Mind", "Minds", "Night", "Door", "Room",
];

/// How a test name must not begin: a feature comes first, so that it can be searched for.
const BANNED_TEST_STARTS: [&str; 9] =
    ["what", "who", "whoever", "whatever", "whose", "nobody", "somebody", "everybody", "anybody"];

/// Texts of other authors and for models, in which these words are data.
fn is_data(path: &str) -> bool {
    path.starts_with("evals/data/")
        || path.contains("/prompts/")
        || path.ends_with("tidy/vocabulary.rs")
}

/// Banned words in comments of source files, in documents and in texts that are shown.
pub(super) fn words(path: &str, text: &str) -> Vec<String> {
    if is_data(path) {
        return Vec::new();
    }
    let mut faults = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let is_shown = SHOWN_TEXTS.iter().any(|end| path.ends_with(end));
        let comment = comment(extension(path), line);
        let Some(prose) = comment.or_else(|| literals(line).filter(|_| is_shown)) else {
            continue;
        };
        let plain: String =
            prose.chars().map(|c| if is_word(c) { c.to_ascii_lowercase() } else { ' ' }).collect();
        let spaced = format!(" {} ", plain.split_whitespace().collect::<Vec<_>>().join(" "));
        for word in BANNED_WORDS.iter().filter(|word| spaced.contains(&format!(" {word} "))) {
            faults.push(format!("{path}:{number}: `{word}`: use the words of docs/words.md"));
        }
    }
    faults
}

/// The comment of a line, or the whole line of a document.
fn comment<'l>(extension: &str, line: &'l str) -> Option<&'l str> {
    let at = match extension {
        "md" => Some(0),
        "rs" | "ts" | "tsx" | "mjs" => ["// ", "//! ", "/** "]
            .iter()
            .find_map(|start| line.find(start))
            .or_else(|| line.trim_start().starts_with("* ").then_some(0)),
        "sql" => line.find("--"),
        "py" | "toml" | "yaml" | "yml" => line.trim_start().starts_with('#').then_some(0),
        _ => None,
    };
    at.map(|at| &line[at..])
}

/// A line from its first literal on.
fn literals(line: &str) -> Option<&str> {
    line.find('"').map(|at| &line[at..])
}

#[test]
fn banned_word_is_detected_in_texts_that_are_shown() {
    let text = "let nobody = 1;\nask(\"I learned this lately.\");\nask(\"Is this true?\");";
    assert_eq!(words("crates/lukasa-server/src/http/review.rs", text).len(), 1);
    assert_eq!(words("crates/lukasa-server/src/http/search.rs", text).len(), 0);
}

#[test]
fn banned_word_is_detected_in_comments() {
    assert_eq!(words("a.rs", "let a = 1; // Whoever asks.\nlet nobody = \"nobody\";").len(), 1);
    assert_eq!(words("a.rs", "//! Nobody asks.\n/// Nobody waits.").len(), 2);
    assert_eq!(words("a.md", "The tools at\nhand, at hand.").len(), 1);
    assert_eq!(words("a.sql", "select 1; -- kept for its person").len(), 1);
    assert_eq!(words("a.ts", " * Nobody waits.\n/** somebodys */\n/** Nobody */").len(), 2);
    assert_eq!(words("a.py", "# The user is told.\nNOBODY = 65534").len(), 1);
    assert_eq!(words("evals/data/a.md", "nobody").len(), 0);
}

/// Type and test names that do not say what they are about.
pub(super) fn names(path: &str, text: &str) -> Vec<String> {
    if extension(path) != "rs" || is_data(path) {
        return Vec::new();
    }
    let mut faults = Vec::new();
    let mut is_test = false;
    for (number, line) in (1..).zip(text.lines().map(str::trim)) {
        if let Some(name) = type_name(line).filter(|name| BANNED_TYPES.contains(name)) {
            faults.push(format!("{path}:{number}: type `{name}`: name what it is"));
        }
        let function = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ");
        if let Some(name) = function.filter(|_| is_test) {
            let start = name.split('_').next().unwrap_or(name);
            if BANNED_TEST_STARTS.contains(&start) {
                faults.push(format!("{path}:{number}: test `{start}_…`: begin with the feature"));
            }
        }
        is_test = line.contains("test]")
            || line.contains("::test(")
            || (is_test && line.starts_with('#'));
    }
    faults
}

/// The name of the type that a line declares.
fn type_name(line: &str) -> Option<&str> {
    let line = match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ")?.1,
        Some(rest) => rest.trim_start(),
        None => line,
    };
    let kinds = ["struct ", "enum ", "trait ", "type "];
    let name = kinds.iter().find_map(|kind| line.strip_prefix(kind))?;
    let name = &name[..name.find(|c| !is_word(c)).unwrap_or(name.len())];
    // In a macro the name is a variable.
    (!name.is_empty()).then_some(name)
}

#[test]
fn vague_type_and_test_names_are_detected() {
    assert_eq!(names("a.rs", "pub(super) struct Said {\nenum Kept<T> {\nstruct Saids;").len(), 2);
    let tests =
        "#[tokio::test]\nasync fn what_is_kept() {}\n#[test]\nfn erase_works() {}\nfn who_is() {}";
    assert_eq!(names("a.rs", tests), ["a.rs:2: test `what_…`: begin with the feature"]);
}

/// Source lines that are too long to read.
pub(super) fn line_length(path: &str, text: &str) -> Vec<String> {
    const MAX_COLUMNS: usize = 120;
    let in_scope = ["rs", "sql", "ts", "tsx", "py", "mjs"].contains(&extension(path));
    let generated = text.starts_with("// Generated from openapi.json");
    let translations = path.contains("/i18n/");
    if !in_scope || generated || translations || is_data(path) {
        return Vec::new();
    }
    let long = (1..).zip(text.lines()).filter(|(_, line)| line.chars().count() > MAX_COLUMNS);
    // An address, a picture, a list of CSS classes and a literal cannot be broken.
    let long = long.filter(|(_, line)| {
        let literal = line.trim_start().starts_with('"');
        !literal && !["://", " d=\"", "className="].iter().any(|mark| line.contains(mark))
    });
    long.map(|(number, _)| format!("{path}:{number}: more than {MAX_COLUMNS} columns")).collect()
}

#[test]
fn long_line_is_detected() {
    let long = "x".repeat(121);
    assert_eq!(line_length("a.rs", &format!("a\n{long}")), ["a.rs:2: more than 120 columns"]);
    assert_eq!(line_length("a.rs", &long[1..]).len(), 0);
    assert_eq!(line_length("a.md", &long).len(), 0);
}

/// Public types of the library crates that share a name.
pub(super) fn repeated_types(files: &[(String, String)]) -> Vec<String> {
    // Every crate has an `Error` and a `Result`, as is usual.
    const EXCEPT: [&str; 2] = ["Error", "Result"];
    let mut places: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, text) in files.iter().filter(|(path, _)| crate_of(path).is_some()) {
        for line in text.lines().map(str::trim).filter(|line| line.starts_with("pub ")) {
            if let Some(name) = type_name(line).filter(|name| !EXCEPT.contains(name)) {
                places.entry(name).or_default().push(path);
            }
        }
    }
    let repeated = places.into_iter().filter(|(_, paths)| paths.len() > 1);
    repeated.map(|(name, paths)| format!("`{name}` is declared in {}", paths.join(", "))).collect()
}

#[test]
fn repeated_public_type_is_detected() {
    let file = |path: &str, text: &str| (path.to_owned(), text.to_owned());
    let files = [
        file("crates/a/src/lib.rs", "pub struct Filter;\npub enum Error {}"),
        file("crates/b/src/lib.rs", "pub struct Filter {\nstruct Own;\npub enum Error {}"),
        file("evals/src/a.rs", "pub struct Filter;"),
    ];
    let expected = ["`Filter` is declared in crates/a/src/lib.rs, crates/b/src/lib.rs"];
    assert_eq!(repeated_types(&files), expected);
}
