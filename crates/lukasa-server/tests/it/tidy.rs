//! The repository rules that neither Cargo nor clippy can check, as tests over its text files.
//!
//! Every rule is a pure function of a path (from the root of the repository) and a text, and has a
//! test of its own with planted violations, to show that it detects them. The rules read text, not
//! meaning: they prevent slips, not deliberate evasion.

mod codes;
mod declared;
mod migrations;
mod modules;
mod systems;
mod vocabulary;

use std::fs;
use std::path::Path;

use lukasa_store::tables::USER_TABLES;

type Rule = fn(&str, &str) -> Vec<String>;

const RULES: [(&str, Rule); 15] = [
    ("length", file_length),
    ("names", empty_names),
    ("docs", inner_docs),
    ("marks", marks_name_issues),
    ("dependencies", dependencies),
    ("sql", sql_only_in_store),
    ("user", user_in_every_statement),
    ("member", scope_of_a_caller),
    ("migrations", migrations::online_migrations),
    ("machine", machine_paths),
    ("systems", systems::one_place_for_systems),
    ("name", former_name),
    ("words", vocabulary::words),
    ("plain names", vocabulary::names),
    ("line length", vocabulary::line_length),
];

#[test]
fn repository_follows_the_tidy_rules() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    collect(&root, "", &mut files);
    assert!(files.iter().any(|(path, _)| path == "Cargo.toml"), "this is not the repository");
    let mut found = Vec::new();
    for (path, text) in &files {
        for (name, rule) in RULES {
            found.extend(rule(path, text).into_iter().map(|fault| format!("{fault} [{name}]")));
        }
    }
    found.extend(vocabulary::repeated_types(&files));
    found.extend(declared::undeclared_files(&files));
    found.extend(migrations::changed_migrations(&files));
    found.extend(codes::unused_codes(&files, &codes::declared_codes()));
    assert!(found.is_empty(), "{} found:\n{}", found.len(), found.join("\n"));
}

/// Every text file below `folder`, with its path from the root; other files are left out.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<(String, String)>) {
    const SKIPPED: [&str; 7] =
        ["target", ".git", "node_modules", ".lukasa", ".venv", "dist", "_generated"];
    let entries = fs::read_dir(folder).expect("the repository is readable");
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Ok(kind) = entry.file_type() else { continue };
        let path = format!("{prefix}{name}");
        // In a second work tree of the repository `.git` is a file.
        if SKIPPED.contains(&name.as_str()) {
            continue;
        }
        if kind.is_dir() {
            collect(&entry.path(), &format!("{path}/"), files);
        } else if kind.is_file()
            && let Ok(text) = fs::read_to_string(entry.path())
        {
            files.push((path, text));
        }
    }
}

/// The product had another name before its first release. It belongs to other projects.
fn former_name(path: &str, text: &str) -> Vec<String> {
    let name = ["qui", "pu"].concat();
    let has_name = |text: &str| text.to_lowercase().contains(&name);
    let in_path = has_name(path).then(|| format!("{path}: rename the file to lukasa"));
    let lines = text.lines().enumerate().filter(|(_, line)| has_name(line));
    let in_text = lines.map(|(n, _)| format!("{path}:{}: the name is lukasa", n + 1));
    in_path.into_iter().chain(in_text).collect()
}

#[test]
fn former_name_is_found_in_paths_and_texts() {
    let name = ["Qui", "pu"].concat();
    assert_eq!(former_name(&format!("{name}.md"), "").len(), 1);
    assert_eq!(former_name("a.md", &format!("a\nb {name}_c\n")), ["a.md:2: the name is lukasa"]);
    assert_eq!(former_name("lukasa.md", "Lukasa").len(), 0);
}

/// Generated files may be longer: programs read them.
fn file_length(path: &str, text: &str) -> Vec<String> {
    const MAX_LINES: usize = 600;
    let lines = text.lines().count();
    let generated = text.starts_with("// Generated from openapi.json");
    let written = ["rs", "sql", "ts", "tsx", "py"].contains(&extension(path)) && !generated;
    if !written || lines <= MAX_LINES {
        return Vec::new();
    }
    vec![format!("{path}:{}: {lines} lines; split the file", MAX_LINES + 1)]
}

#[test]
fn long_file_is_detected() {
    assert_eq!(file_length("web/a.tsx", &"x\n".repeat(601)).len(), 1);
    assert_eq!(file_length("web/a.tsx", &"x\n".repeat(600)).len(), 0);
    assert_eq!(file_length("openapi.json", &"x\n".repeat(601)).len(), 0);
    let generated = |first: &str| format!("{first}\n{}", "x\n".repeat(601));
    assert_eq!(file_length("a.ts", &generated("// Generated from openapi.json by x")).len(), 0);
    assert_eq!(file_length("a.ts", &generated("\n// Generated from openapi.json")).len(), 1);
}

/// A name that fits any content says nothing about it, and such a file collects everything.
fn empty_names(path: &str, text: &str) -> Vec<String> {
    const EMPTY: [&str; 7] = ["utils", "util", "helpers", "helper", "manager", "common", "misc"];
    let is_empty = |name: &str| EMPTY.contains(&name.to_lowercase().as_str());
    let mut faults = Vec::new();
    for part in path.split('/').filter(|part| is_empty(part.split('.').next().unwrap_or(part))) {
        faults.push(format!("{path}:1: `{part}` does not say what is in it"));
    }
    if extension(path) == "rs" {
        for (line, before, after) in occurrences(&Source::scan(text).code, "mod ") {
            let name = first_word(after);
            if !before.is_some_and(is_word) && is_empty(name) {
                faults.push(format!("{path}:{line}: module `{name}` does not say what is in it"));
            }
        }
    }
    faults
}

#[test]
fn meaningless_name_is_detected() {
    assert_eq!(empty_names("web/src/Utils.ts", "").len(), 1);
    assert_eq!(empty_names("crates/lukasa-core/src/common/mod.rs", "").len(), 1);
    assert_eq!(empty_names("a/lib.rs", "//! x\npub mod helpers {}").len(), 1);
    assert_eq!(empty_names("a/utility.rs", "// mod util\nmod facts; \"mod misc\"").len(), 0);
}

fn inner_docs(path: &str, text: &str) -> Vec<String> {
    let in_src = crate_of(path).is_some() || path.starts_with("evals/src/");
    let in_scope = in_src || path.starts_with("tests/") || path.contains("/tests/");
    if extension(path) != "rs" || !in_scope || text.starts_with("//!") {
        return Vec::new();
    }
    vec![format!("{path}:1: begin with `//!`: what the file is for and what it must not do")]
}

#[test]
fn file_without_inner_docs_is_detected() {
    for path in ["crates/lukasa-core/src/a.rs", "evals/src/a.rs", "crates/a/tests/it/b.rs"] {
        assert_eq!(inner_docs(path, "use std::fs;\n//! late").len(), 1);
        assert_eq!(inner_docs(path, "//! The purpose of a.").len(), 0);
    }
}

// In pieces, so that this file does not break its own rules.
const MARKS: [&str; 2] = [concat!("TO", "DO"), concat!("FIX", "ME")];
const MACHINE: [&str; 4] =
    [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/Us", "ers/")];

fn marks_name_issues(path: &str, text: &str) -> Vec<String> {
    const READ: [&str; 13] =
        ["", "rs", "sql", "ts", "tsx", "js", "py", "sh", "css", "html", "toml", "yml", "yaml"];
    let mut faults = Vec::new();
    for mark in MARKS.iter().filter(|_| READ.contains(&extension(path))) {
        for (line, before, after) in occurrences(text, mark) {
            let issue = after.strip_prefix("(#").and_then(|rest| rest.split_once(')'));
            let named = issue.is_some_and(|(number, _)| number.parse::<u32>().is_ok());
            if !before.is_some_and(is_word) && !after.starts_with(is_word) && !named {
                faults.push(format!("{path}:{line}: a {mark} names its issue: `{mark}(#12)`"));
            }
        }
    }
    faults
}

#[test]
fn marker_comment_without_an_issue_is_detected() {
    for mark in MARKS {
        assert_eq!(marks_name_issues("a.rs", &format!("// {mark}: later")).len(), 1);
        assert_eq!(marks_name_issues("scripts/dev", &format!("# {mark}(soon)")).len(), 1);
        assert_eq!(marks_name_issues("a.rs", &format!("// {mark}(#12): later")).len(), 0);
        assert_eq!(marks_name_issues("a.rs", &format!("MY_{mark} {mark}S")).len(), 0);
    }
}

/// Allowed dependencies of each crate. Tests may use more, so `[dev-dependencies]` is not read.
fn dependencies(path: &str, text: &str) -> Vec<String> {
    const MAY_NAME: [(&str, &[&str]); 10] = [
        ("tokio", &["lukasa-store", "lukasa-models", "lukasa-engine", "lukasa-server"]),
        ("reqwest", &["lukasa-models", "lukasa-server"]),
        ("lukasa-encoder", &["lukasa-models"]),
        ("model2vec-rs", &["lukasa-models"]),
        ("tokio-postgres", &["lukasa-store"]),
        ("deadpool-postgres", &["lukasa-store"]),
        ("refinery", &["lukasa-store"]),
        ("axum", &["lukasa-server"]),
        ("rmcp", &["lukasa-server"]),
        ("lukasa-store", &["lukasa-engine"]),
    ];
    let inside = path.strip_prefix("crates/").and_then(|rest| rest.strip_suffix("/Cargo.toml"));
    let Some(own) = inside else { return Vec::new() };
    let mut faults = Vec::new();
    for (line, name) in named_dependencies(text) {
        if MAY_NAME.iter().any(|(package, homes)| *package == name && !homes.contains(&own)) {
            faults.push(format!("{path}:{line}: {own} must not name {name}"));
        }
    }
    faults
}

#[test]
fn forbidden_dependency_is_detected() {
    let caught = |own: &str, text: &str| dependencies(&format!("crates/{own}/Cargo.toml"), text);
    let list = "[package]\nname = \"a\"\n[dependencies]\ntokio.workspace = true\n";
    assert_eq!(caught("lukasa-core", list)[0].split(':').nth(1), Some("4"));
    assert_eq!(caught("lukasa-engine", list).len(), 0);
    assert_eq!(caught("lukasa-server", "[dependencies]\nlukasa-store = { path = \"x\" }").len(), 1);
    assert_eq!(caught("lukasa-engine", "[target.'cfg(unix)'.dependencies.axum]\n").len(), 1);
    assert_eq!(caught("lukasa-models", "[dependencies]\npg = { package = \"refinery\" }").len(), 1);
    assert_eq!(caught("lukasa-models", "[dependencies.web]\npackage = \"axum\"").len(), 1);
    assert_eq!(caught("lukasa-engine", "[dev-dependencies]\ntokio-postgres = \"1\"").len(), 0);
}

fn sql_only_in_store(path: &str, text: &str) -> Vec<String> {
    if extension(path) != "rs" || crate_of(path).is_none_or(|own| own == "lukasa-store") {
        return Vec::new();
    }
    let mut faults = Vec::new();
    for Literal { line, text, .. } in Source::scan(text).literals {
        let words = text.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
        let verb = ["select ", "insert into", "delete from"].iter().any(|v| words.starts_with(v));
        if verb || (words.starts_with("update ") && words.contains(" set ")) {
            faults.push(format!("{path}:{line}: SQL lives in lukasa-store only"));
        }
    }
    faults
}

#[test]
fn sql_outside_the_store_is_caught() {
    let engine = "crates/lukasa-engine/src/facts.rs";
    let text =
        "let a = 1;\nlet b = r#\"\n  SELECT \"x\" from t\"#;\nlet c = \"update t\n set a = 1\";";
    let faults = sql_only_in_store(engine, text);
    assert_eq!(faults.len(), 2);
    assert!(faults[0].starts_with("crates/lukasa-engine/src/facts.rs:2:"));
    assert_eq!(
        sql_only_in_store(engine, "// \"select 1\"\nf('\"', \"update all\", 'a');").len(),
        0
    );
    assert_eq!(sql_only_in_store("crates/lukasa-store/src/fact.rs", text).len(), 0);
    assert_eq!(sql_only_in_store("evals/src/kills.rs", text).len(), 0);
}

/// A statement on a user's rows that does not name the user reads every user's. One that is meant
/// to, such as a sweep over all users, says so in an SQL comment with the word `user_id`.
fn user_in_every_statement(path: &str, text: &str) -> Vec<String> {
    let Some(inside) = path.strip_prefix("crates/lukasa-store/src/") else { return Vec::new() };
    if extension(path) != "rs" || inside.starts_with("testing") {
        return Vec::new();
    }
    let mut faults = Vec::new();
    for Literal { line, text, .. } in Source::scan(text).literals {
        let lower = text.to_lowercase();
        // A name counts without its schema or alias: `lukasa.fact` is `fact`.
        let words = lower.split(|c| !is_word(c) && c != '.' && c != '"');
        let words = words.map(|w| w.rsplit('.').next().unwrap_or(w).trim_matches('"'));
        let words: Vec<&str> = words.filter(|w| !w.is_empty() && *w != "only").collect();
        let owned = words.windows(2).find(|pair| {
            ["from", "into", "update", "join"].contains(&pair[0]) && USER_TABLES.contains(&pair[1])
        });
        if let Some([_, table]) = owned
            && !words.contains(&"user_id")
        {
            faults.push(format!("{path}:{line}: statement on `{table}` without user_id"));
        }
    }
    faults
}

#[test]
fn statement_without_user_id_is_detected() {
    let caught = |text| user_in_every_statement("crates/lukasa-store/src/fact.rs", text).len();
    assert_eq!(caught("q(\"select id from fact where id = $1\")"), 1);
    assert_eq!(caught("q(\"insert into lukasa.link (id)\n values ($1)\")"), 1);
    assert_eq!(caught("q(\"update only \\\"fact_version\\\" set a = 1\")"), 1);
    assert_eq!(caught("q(r#\"select 1 from t join tombstone x on true\"#, \"user_id\")"), 1);
    assert_eq!(caught("q(\"delete from turn where turn_id = $1\")"), 1);
    assert_eq!(caught("q(\"delete from episode where episode_id = $1\")"), 1);
    assert_eq!(caught("q(\"select 1 from erasure\")"), 1);
    assert_eq!(caught("q(\"select vector from embedding e, passage p\")"), 1);
    assert_eq!(caught("q(concat!(\"delete from \", \"fact \", \"where id = $1\"))"), 1);
    assert_eq!(caught("q(concat!(\"select f(1) from fact \", \"where f.user_id = $1\"))"), 0);
    assert_eq!(caught("q(\"select 1 from fact_total for update of fact\")"), 0);
    let testing = "crates/lukasa-store/src/testing/rows.rs";
    assert_eq!(user_in_every_statement(testing, "q(\"delete from fact\")").len(), 0);
}

/// A caller may act in a space, and is a member only if the transaction's opening says so: the engine
/// opens the scope of a caller with `read_as`, `read_settled_as` and `write_as`.
fn scope_of_a_caller(path: &str, text: &str) -> Vec<String> {
    if !path.starts_with("crates/lukasa-engine/src/") || extension(path) != "rs" {
        return Vec::new();
    }
    let code: String = Source::scan(text).code;
    let mut faults = Vec::new();
    for method in [".read(", ".read_settled(", ".write("] {
        for (line, _, after) in occurrences(&code, method) {
            let arguments: String =
                after.chars().take(120).filter(|c| !c.is_whitespace()).collect();
            let arguments = arguments.strip_prefix('&').unwrap_or(&arguments);
            let arguments = arguments.strip_prefix("request.").unwrap_or(arguments);
            if let Some(rest) = arguments.strip_prefix("caller.tenant,")
                && (rest.starts_with("caller.user)") || rest.starts_with("request.caller.user)"))
            {
                faults.push(format!("{path}:{line}: `{method}` does not check the membership"));
            }
        }
    }
    faults
}

#[test]
fn scope_of_a_caller_without_the_membership_is_detected() {
    let path = "crates/lukasa-engine/src/a.rs";
    let found = |code: &str| scope_of_a_caller(path, code).len();
    assert_eq!(found("store.read(caller.tenant, caller.user).await?"), 1);
    assert_eq!(found("store\n  .write(\n  request.caller.tenant,\n  request.caller.user)"), 1);
    assert_eq!(found("store.read_as(caller).await?; store.read(caller.tenant, space)"), 0);
    assert_eq!(found("store.write(job.tenant, job.user)"), 0);
}

/// The fields of structs that clap fills and that no code of the same crate reads.
fn unread_settings(files: &[(String, String)]) -> Vec<String> {
    let sources = files.iter().filter(|(path, _)| crate_of(path) == Some("lukasa-server"));
    let sources: Vec<(&str, String)> =
        sources.map(|(path, text)| (path.as_str(), Source::scan(text).code)).collect();
    let is_read = |field: &str| {
        sources.iter().any(|(_, code)| {
            let accessed = occurrences(code, field).into_iter().any(|(_, before, after)| {
                before == Some('.') && !after.starts_with(|c| is_word(c) || c == '(')
            });
            // Bound by a pattern that names every field: the compiler checks the rest.
            let patterns = code.split("let Self {").skip(1);
            let mut patterns = patterns.filter_map(|text| text.split('}').next());
            accessed || patterns.any(|names| names.split(',').any(|name| name.trim() == field))
        })
    };
    let mut unread = Vec::new();
    for (path, code) in &sources {
        for (at, _) in code.match_indices("Args)]").chain(code.match_indices("Parser)]")) {
            let Some((head, body)) = code[at..].split_once('{') else { continue };
            if !head.contains("struct ") || head.contains("enum ") {
                continue;
            }
            let fields = body.split("\n}").next().unwrap_or("").lines().filter_map(|line| {
                let line = line.trim().trim_start_matches("pub ");
                let (name, _) = line.split_once(": ")?;
                name.chars().all(is_word).then_some(name)
            });
            let missing = fields.filter(|field| !is_read(field));
            unread.extend(
                missing.map(|field| format!("{path}: nothing reads the setting `{field}`")),
            );
        }
    }
    unread
}

#[test]
fn every_setting_is_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    collect(&root, "", &mut files);
    assert_eq!(unread_settings(&files), Vec::<String>::new());
    let text = "#[derive(Args)]\nstruct S {\n    #[arg(long, env = \"A\")]\n    memory: u64,\n    \
                pool: u8,\n}\nfn f(s: &S) { s.pool; s.memory(); }";
    let planted = [("crates/lukasa-server/src/a.rs".to_owned(), text.to_owned())];
    let expected = ["crates/lukasa-server/src/a.rs: nothing reads the setting `memory`"];
    assert_eq!(unread_settings(&planted), expected);
}

fn machine_paths(path: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    for folder in MACHINE {
        for (line, before, _) in occurrences(text, folder) {
            // After a word, a dot or a variable it is part of another path or an address.
            if !before.is_some_and(|c| is_word(c) || ".-}~*".contains(c)) {
                faults.push(format!("{path}:{line}: `{folder}` is a path of one machine"));
            }
        }
    }
    faults
}

#[test]
fn machine_path_is_detected() {
    for folder in MACHINE {
        let faults = machine_paths("README.md", &format!("a\nsee {folder}x"));
        assert_eq!(faults, [format!("README.md:2: `{folder}` is a path of one machine")]);
        assert_eq!(machine_paths("a.rs", &format!("\"{folder}\"")).len(), 1);
        assert_eq!(machine_paths("a.md", &format!("example.org{folder} ${{x}}{folder}")).len(), 0);
    }
}

fn extension(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// The crate a source file belongs to: `lukasa-core` for `crates/lukasa-core/src/fact.rs`.
fn crate_of(path: &str) -> Option<&str> {
    let (own, inside) = path.strip_prefix("crates/")?.split_once('/')?;
    inside.starts_with("src/").then_some(own)
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn first_word(text: &str) -> &str {
    let text = text.trim_start();
    &text[..text.find(|c| !is_word(c)).unwrap_or(text.len())]
}

/// Every place of `word`: the line, the character before it and the text after it.
fn occurrences<'t>(text: &'t str, word: &str) -> Vec<(usize, Option<char>, &'t str)> {
    let place = |(start, found): (usize, &str)| {
        let before = &text[..start];
        let line = before.matches('\n').count() + 1;
        (line, before.chars().next_back(), &text[start + found.len()..])
    };
    text.match_indices(word).map(place).collect()
}

/// The packages under `[dependencies]`, also those of one target or with a table of their own,
/// and the real name of a renamed one.
fn named_dependencies(toml: &str) -> Vec<(usize, &str)> {
    let mut named = Vec::new();
    let (mut in_list, mut in_table) = (false, false);
    for (line, text) in (1..).zip(toml.lines().map(str::trim)) {
        if let Some(section) = text.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            in_list = section == "dependencies" || section.ends_with(".dependencies");
            let table = section.rsplit_once("dependencies.");
            let own = table.filter(|(before, _)| before.is_empty() || before.ends_with('.'));
            in_table = own.is_some();
            named.extend(own.map(|(_, name)| (line, name)));
        } else if let Some((key, _)) = text.split_once(['=', '.']).filter(|_| in_list || in_table) {
            named.extend(in_list.then_some((line, key.trim().trim_matches('"'))));
            let package = text.split_once("package").map(|(_, rest)| rest);
            named.extend(package.and_then(|rest| rest.split('"').nth(1)).map(|name| (line, name)));
        }
    }
    named
}

/// A Rust file taken apart: `code` has comments and literals blanked at their places, `literals`
/// has the strings, with the pieces of one `concat!` joined.
struct Source {
    code: String,
    literals: Vec<Literal>,
}

struct Literal {
    line: usize,
    text: String,
    /// Where the enclosing `concat!` begins, if there is one.
    concat: Option<usize>,
}

impl Source {
    fn scan(text: &str) -> Self {
        let mut source = Self { code: String::with_capacity(text.len()), literals: Vec::new() };
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            let mut length = match rest.as_bytes() {
                [b'/', b'/', ..] => rest.find('\n').unwrap_or(rest.len()),
                [b'/', b'*', ..] => rest.find("*/").map_or(rest.len(), |end| end + 2),
                [b'\'', b'\\', ..] => rest[3..].find('\'').map_or(rest.len(), |end| end + 4),
                [b'\'', ..] if rest.chars().nth(2) == Some('\'') => {
                    2 + rest[1..].find('\'').unwrap_or(0)
                }
                _ => 0,
            };
            if let Some((end, value)) = string_literal(rest) {
                length = end;
                source.add(value);
            }
            if length == 0 {
                source.code.push(c);
                length = c.len_utf8();
            } else {
                let blank = |b| if b == b'\n' { '\n' } else { ' ' };
                source.code.extend(rest[..length].bytes().map(blank));
            }
            rest = &rest[length..];
        }
        source
    }

    fn add(&mut self, text: String) {
        let line = self.code.matches('\n').count() + 1;
        let open = |start: &usize| {
            let call = &self.code[*start..];
            call.matches('(').count() > call.matches(')').count()
        };
        let concat = self.code.rfind("concat!(").filter(open);
        match self.literals.last_mut() {
            Some(last) if concat.is_some() && last.concat == concat => last.text.push_str(&text),
            _ => self.literals.push(Literal { line, text, concat }),
        }
    }
}

/// The length and value of the string literal, plain or raw, that begins the text.
fn string_literal(text: &str) -> Option<(usize, String)> {
    if let Some(raw) = text.strip_prefix('r') {
        let body = raw.trim_start_matches('#').strip_prefix('"')?;
        let open = text.len() - body.len();
        let close = format!("\"{}", "#".repeat(open - 2));
        let end = body.find(&close)?;
        return Some((open + end + close.len(), body[..end].to_owned()));
    }
    let (mut value, mut escaped) = (String::new(), false);
    for (at, c) in text.strip_prefix('"')?.char_indices() {
        match (escaped, c) {
            (false, '\\') => escaped = true,
            (false, '"') => return Some((at + 2, value)),
            (false, _) => value.push(c),
            // In SQL only a quote or white space is escaped.
            (true, _) => {
                value.push(if c == '"' { c } else { ' ' });
                escaped = false;
            }
        }
    }
    None
}
