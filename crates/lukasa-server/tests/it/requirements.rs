//! `docs/requirements.md` lists every requirement in the wording of `docs/requirements-wording.txt`, says
//! what is missing where a row is not done, and names only tests that exist and are run.
//!
//! Every check is a pure function of the two texts, with a test of its own that plants a fault.

use std::fs;
use std::path::{Path, PathBuf};

/// The number of requirements.
const REQUIREMENTS: usize = 219;
/// The minimum number of rows that are done. Raise it with every row that gets done.
const MIN_DONE: usize = 215;
/// The minimum length of the text that says what is missing, in words.
const MIN_MISSING_WORDS: usize = 4;

const MISSING: &str = "Missing: ";
const DIFFERENCE: &str = "Difference: ";

/// Where tests are, and their folders. In the last three they are named by sentences.
const PLACES: [(&str, &str); 10] = [
    ("text", "crates/lukasa-text"),
    ("core", "crates/lukasa-core"),
    ("store", "crates/lukasa-store"),
    ("engine", "crates/lukasa-engine"),
    ("models", "crates/lukasa-models"),
    ("server", "crates/lukasa-server"),
    ("evals", ".ci"),
    ("web", "web/test"),
    ("elements", "clients/elements/test"),
    ("sdk", "clients/ai-sdk/test"),
];

/// A row of the table.
#[derive(Debug, PartialEq, Eq)]
struct RequirementRow<'p> {
    id: &'p str,
    wording: &'p str,
    state: &'p str,
    /// The names of the tests.
    proof: &'p str,
    /// What is missing or different.
    note: &'p str,
}

/// The rows of the page. A line without exactly four cells is not a row.
fn rows(page: &str) -> Vec<RequirementRow<'_>> {
    page.lines().filter_map(row).collect()
}

fn row(line: &str) -> Option<RequirementRow<'_>> {
    let cells: Vec<&str> = line.strip_prefix("| R")?.split('|').map(str::trim).collect();
    let [_, wording, state, cell, ""] = cells[..] else { return None };
    let id = line.get(2..)?.split(' ').next()?;
    let note = [MISSING, DIFFERENCE].iter().filter_map(|word| cell.find(*word)).min();
    let (proof, note) = cell.split_at(note.unwrap_or(cell.len()));
    Some(RequirementRow { id, wording, state, proof, note })
}

/// The ids that are absent, repeated, unknown or not in order.
fn number_faults(ids: &[&str], count: usize) -> Vec<String> {
    let expected: Vec<String> = (1..=count).map(|number| format!("R{number:03}")).collect();
    let mut faults = Vec::new();
    for place in 0..ids.len().max(count) {
        let found = ids.get(place).copied().unwrap_or("nothing");
        let wanted = expected.get(place).map_or("nothing", String::as_str);
        if found != wanted {
            faults.push(format!("{found} where {wanted} must be"));
        }
    }
    faults
}

/// The rows that differ from the list, which has one requirement per line.
fn wording_faults(rows: &[RequirementRow<'_>], list: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for (row, line) in rows.iter().zip(list.lines()) {
        if format!("{} {}", row.id, row.wording) != line {
            faults.push(format!("{}: the wording is not `{line}`", row.id));
        }
    }
    if rows.len() != list.lines().count() {
        faults.push(format!("{} rows, but {} requirements", rows.len(), list.lines().count()));
    }
    faults
}

/// The rows with an unknown state, done rows without a test, and rows that are not done and do not
/// say what is missing.
fn state_faults(rows: &[RequirementRow<'_>]) -> Vec<String> {
    let mut faults = Vec::new();
    for row in rows {
        let missing = row.note.strip_prefix(MISSING).unwrap_or("");
        let says_missing = missing.split_whitespace().count() >= MIN_MISSING_WORDS;
        let names_tests = row.proof.contains('`');
        let fault = match row.state {
            "done" if !names_tests => "done, but names no test",
            "done" if row.note.contains(MISSING) => "done, but says that something is missing",
            "partly" if !names_tests => "partly done, but names no test",
            "partly" | "missing" if !says_missing => "does not say what is missing",
            "missing" if names_tests => "missing, but names a test",
            "done" | "partly" | "missing" => continue,
            _ => "is neither done, partly nor missing",
        };
        faults.push(format!("{}: {fault}", row.id));
    }
    faults
}

fn count_done(rows: &[RequirementRow<'_>]) -> usize {
    rows.iter().filter(|row| row.state == "done").count()
}

/// The named tests that do not exist or are not run, and the named files that do not exist. A name in
/// backticks is a test in the place named before it; one with a slash is a path of the repository.
fn absent_proofs(
    rows: &[RequirementRow<'_>],
    source: impl Fn(&str) -> String,
    is_file: impl Fn(&str) -> bool,
) -> Vec<String> {
    let sources = PLACES.map(|(place, _)| (place, source(place)));
    let mut absent = Vec::new();
    for row in rows {
        let mut place = "";
        for (number, part) in row.proof.split('`').enumerate() {
            if number % 2 == 0 {
                let words: Vec<&str> = part.split(|c: char| !c.is_alphanumeric()).collect();
                let named = words.into_iter().rfind(|word| PLACES.iter().any(|(p, _)| p == word));
                place = named.unwrap_or(place);
                continue;
            }
            let exists = match sources.iter().find(|(name, _)| *name == place) {
                Some((_, text)) => is_test(text, place, part),
                None => is_file(part),
            };
            if !exists {
                absent.push(format!("{} {place} {part}", row.id));
            }
        }
    }
    absent
}

/// Whether a source has a test of this name that is run, or a module of tests. An eval is run if it
/// is a command in the scripts that are given as its source.
fn is_test(source: &str, place: &str, name: &str) -> bool {
    match place {
        "web" | "elements" | "sdk" => ["test", "appended"].iter().any(|function| {
            let called = format!("{function}(\"{name}\"");
            source.lines().any(|line| line.trim_start().starts_with(&called))
        }),
        "evals" => ["evals ", "lukasa-evals -- "].iter().any(|command| {
            let called = format!("{command}{name}");
            let ends = |rest: &str| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '-');
            source.match_indices(&called).any(|(at, _)| ends(&source[at + called.len()..]))
        }),
        _ => {
            let function = format!("fn {name}(");
            let lines: Vec<&str> = source.lines().map(str::trim).collect();
            let is_it = |line: &&str| {
                line.strip_prefix("async ").unwrap_or(line).starts_with(function.as_str())
            };
            let places = lines.iter().enumerate().filter(|(_, line)| is_it(line));
            let mut places = places.map(|(at, _)| at);
            places.any(|at| is_run(&lines[..at])) || source.contains(&format!("mod {name};"))
        }
    }
}

/// Whether the attributes at the end of these lines mark a test that is not ignored.
fn is_run(before: &[&str]) -> bool {
    let is_end = |line: &&&str| line.is_empty() || line.ends_with('}') || line.ends_with(';');
    let own: Vec<&&str> = before.iter().rev().take_while(|line| !is_end(line)).collect();
    let is_marked = own.iter().any(|line| {
        **line == "#[test]" || **line == "#[tokio::test]" || line.starts_with("#[tokio::test(")
    });
    is_marked && !own.iter().any(|line| line.starts_with("#[ignore"))
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn document(name: &str) -> String {
    fs::read_to_string(root().join("docs").join(name)).unwrap()
}

fn source_of(place: &str) -> String {
    if place == "evals" {
        let scripts = [".ci/run", "justfile"].map(|name| fs::read_to_string(root().join(name)));
        return scripts.map(Result::unwrap).join("\n");
    }
    let (_, folder) = PLACES.into_iter().find(|(name, _)| *name == place).unwrap();
    let mut files = Vec::new();
    source_files(&root().join(folder), &mut files);
    files.iter().filter_map(|path| fs::read_to_string(path).ok()).collect()
}

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

#[test]
fn every_requirement_is_listed_in_its_own_wording() {
    let (page, list) = (document("requirements.md"), document("requirements-wording.txt"));
    let rows = rows(&page);
    let listed: Vec<&str> = list.lines().map(|line| line.split(' ').next().unwrap_or("")).collect();
    let ids: Vec<&str> = rows.iter().map(|row| row.id).collect();
    assert_eq!(number_faults(&listed, REQUIREMENTS), Vec::<String>::new());
    assert_eq!(number_faults(&ids, REQUIREMENTS), Vec::<String>::new());
    assert_eq!(wording_faults(&rows, &list), Vec::<String>::new());
}

#[test]
fn every_row_that_is_not_done_says_what_is_missing() {
    let page = document("requirements.md");
    let rows = rows(&page);
    assert_eq!(state_faults(&rows), Vec::<String>::new());
    let done = count_done(&rows);
    assert!(done >= MIN_DONE, "{done} rows are done, and {MIN_DONE} were");
}

#[test]
fn every_named_test_exists_and_is_run() {
    let page = document("requirements.md");
    let absent = absent_proofs(&rows(&page), source_of, |path| root().join(path).is_file());
    assert!(absent.is_empty(), "named in docs/requirements.md but not there: {absent:#?}");
}

const PAGE: &str = "# Title\n| id | requirement | state | proof |\n|---|---|---|---|\n\
    | R001 | Saves a memory | done | engine `saves`. Difference: also `later`. |\n\
    | R002 | Exports | partly | server `exports`. Missing: the import of an export. |\n\
    | R003 | Shares | missing | Missing: nothing can be shared yet. |\n";

#[test]
fn rows_are_split_into_their_cells() {
    let rows = rows(PAGE);
    assert_eq!(rows.len(), 3);
    let (id, wording, state) = ("R001", "Saves a memory", "done");
    let (proof, note) = ("engine `saves`. ", "Difference: also `later`.");
    assert_eq!(rows[0], RequirementRow { id, wording, state, proof, note });
    assert_eq!((rows[2].proof, rows[2].note), ("", "Missing: nothing can be shared yet."));
    assert_eq!(row("| R004 | Too | few |"), None);
    assert_eq!(row("| R004 | One | cell | too | many |"), None);
}

#[test]
fn absent_and_misplaced_requirement_is_detected() {
    assert_eq!(number_faults(&["R001", "R002"], 2), Vec::<String>::new());
    assert_eq!(number_faults(&["R001"], 2), ["nothing where R002 must be"]);
    assert_eq!(number_faults(&["R001", "R002", "R003"], 2), ["R003 where nothing must be"]);
    let faults = ["R002 where R001 must be", "R001 where R002 must be"];
    assert_eq!(number_faults(&["R002", "R001"], 2), faults);
}

#[test]
fn reworded_requirement_is_detected() {
    let list = "R001 Saves a memory\nR002 Exports\nR003 Shares\n";
    assert_eq!(wording_faults(&rows(PAGE), list), Vec::<String>::new());
    let other = list.replace("Exports", "Exports and imports");
    let fault = ["R002: the wording is not `R002 Exports and imports`"];
    assert_eq!(wording_faults(&rows(PAGE), &other), fault);
    let longer = format!("{list}R004 Erases\n");
    assert_eq!(wording_faults(&rows(PAGE), &longer), ["3 rows, but 4 requirements"]);
}

#[test]
fn state_without_its_proof_or_its_gap_is_detected() {
    assert_eq!(state_faults(&rows(PAGE)), Vec::<String>::new());
    assert_eq!(count_done(&rows(PAGE)), 1);
    for (from, to, fault) in [
        ("| done |", "| mostly |", "R001: is neither done, partly nor missing"),
        ("engine `saves`", "engine", "R001: done, but names no test"),
        ("Difference: also", "Missing: also", "R001: done, but says that something is missing"),
        ("server `exports`", "server", "R002: partly done, but names no test"),
        ("the import of an export", "some", "R002: does not say what is missing"),
        ("Missing: the import", "Difference: the import", "R002: does not say what is missing"),
        ("Missing: nothing can", "Nothing can", "R003: does not say what is missing"),
        ("| missing | ", "| missing | core `shares`. ", "R003: missing, but names a test"),
    ] {
        assert!(PAGE.contains(from), "{from}");
        assert_eq!(state_faults(&rows(&PAGE.replace(from, to))), [fault]);
    }
}

#[test]
fn missing_test_name_is_detected() {
    let page = "| R998 | something | done | engine `no_such_test`; server `isolation`. |\n\
        | R999 | other | done | `docs/a.md`, `docs/b.md`; web `a sentence`, `no sentence`. \
        Difference: `not_read`. |";
    let source = |place: &str| match place {
        "server" => "mod isolation;".to_owned(),
        "web" => "test(\"a sentence\", () => {})".to_owned(),
        _ => "#[test]\nfn no_such_test_at_all() {}".to_owned(),
    };
    let absent = absent_proofs(&rows(page), source, |path| path == "docs/a.md");
    assert_eq!(absent, ["R998 engine no_such_test", "R999  docs/b.md", "R999 web no sentence"]);
}

#[test]
fn named_test_that_is_not_run_is_detected() {
    let run =
        "fn helper() {}\n\n#[tokio::test]\nasync fn saves() {\n}\n#[test]\nfn exports() {\n}\n";
    for name in ["saves", "exports"] {
        assert!(is_test(run, "engine", name), "{name}");
    }
    assert!(!is_test(run, "engine", "helper"), "a function without the attribute is not a test");
    for (from, to) in [
        ("#[tokio::test]", "#[tokio::test]\n#[ignore = \"slow\"]"),
        ("#[tokio::test]", "#[ignore]\n#[tokio::test]"),
        ("#[tokio::test]", ""),
        ("async fn saves", "// async fn saves"),
    ] {
        assert!(!is_test(&run.replace(from, to), "engine", "saves"), "{to}");
    }
    for (text, is_named) in [
        ("  test(\"a\", work)", true),
        ("test.skip(\"a\", work)", false),
        ("// test(\"a\")", false),
    ] {
        assert_eq!(is_test(text, "web", "a"), is_named, "{text}");
    }
    let scripts =
        "step \"kills (20)\" evals kills --count 20\n  cargo run -p lukasa-evals -- vault \"$@\"\n";
    for (name, is_named) in [("kills", true), ("vault", true), ("kill", false), ("nights", false)] {
        assert_eq!(is_test(scripts, "evals", name), is_named, "{name}");
    }
}
