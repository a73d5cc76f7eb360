//! Rules for the modules of a crate: the top-level ones do not depend on each other in a circle, a
//! type has its methods in the module that declares it, and not too many of them.
//!
//! The graph is read from paths in the text (`crate::a::b`, `super::a`), so it does not see what a
//! macro writes. It sees method calls because a module cannot name the type of another without a
//! path, and cannot add methods to it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::{Source, collect, first_word, is_word};

/// The crates whose modules must not form a circle.
const CRATES: [&str; 7] = [
    "lukasa-core",
    "lukasa-encoder",
    "lukasa-engine",
    "lukasa-models",
    "lukasa-server",
    "lukasa-store",
    "lukasa-text",
];
/// Maximum number of methods of a type in the engine, where a type is the handle of a module.
const MAX_METHODS: usize = 25;

/// For every top-level module, those it uses, each with a file that does.
type Graph = BTreeMap<String, BTreeMap<String, String>>;

#[test]
fn top_level_modules_form_no_cycle() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    collect(&root.join("crates"), "crates/", &mut files);
    let mut found = Vec::new();
    for name in CRATES {
        let graph = module_graph(&files, &format!("crates/{name}/src/"));
        assert!(graph.len() > 1, "{name} has no modules");
        found.extend(cycles(&graph).into_iter().map(|cycle| format!("{name}: {cycle}")));
    }
    assert!(found.is_empty(), "modules depend on each other in a circle:\n{}", found.join("\n"));
}

#[test]
fn engine_handles_are_small_and_have_their_methods_in_their_module() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    collect(&root.join("crates"), "crates/", &mut files);
    let found = method_faults(&files, "crates/lukasa-engine/src/");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Types with too many methods, or with methods in another module than their own.
fn method_faults(files: &[(String, String)], folder: &str) -> Vec<String> {
    let mut declared: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut methods: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (path, text) in files {
        let Some(path) = path.strip_prefix(folder).filter(|path| path.ends_with(".rs")) else {
            continue;
        };
        let module = module_path(path)[0].clone();
        let code = without_tests(&Source::scan(text).code);
        let mut of = None;
        for line in code.lines() {
            let item = line.trim_start_matches("pub(crate) ").trim_start_matches("pub(super) ");
            let item = item.trim_start_matches("pub ");
            for word in ["struct ", "enum "] {
                if let Some(name) = item.strip_prefix(word) {
                    declared.entry(first_word(name).to_owned()).or_default().insert(module.clone());
                }
            }
            if let Some(rest) = line.strip_prefix("impl") {
                let name = match rest.strip_prefix('<') {
                    Some(rest) => rest.split_once("> ").map_or("", |(_, name)| name),
                    None => rest.trim_start(),
                };
                of = (!rest.contains(" for ")).then(|| first_word(name).to_owned());
            } else if line == "}" {
                of = None;
            }
            let is_method = line.starts_with("    ") && !line.starts_with("     ");
            if let Some(name) = of.as_ref().filter(|_| is_method && line.contains("fn ")) {
                methods.entry(name.clone()).or_default().push(module.clone());
            }
        }
    }
    let mut faults = Vec::new();
    for (name, modules) in methods {
        if modules.len() > MAX_METHODS {
            faults.push(format!("`{name}` has {} methods; split the module", modules.len()));
        }
        let Some(homes) = declared.get(&name) else { continue };
        for module in modules.iter().collect::<BTreeSet<_>>() {
            if !homes.contains(module) {
                faults.push(format!("`{name}` has methods in the module `{module}`"));
            }
        }
    }
    faults
}

#[test]
fn large_handle_and_foreign_methods_are_detected() {
    let of = |files: &[(&str, &str)]| {
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| (format!("crates/x/src/{path}"), (*text).to_owned()))
            .collect();
        method_faults(&files, "crates/x/src/")
    };
    let many = "    pub async fn f() {\n        fn inner() {}\n    }\n".repeat(MAX_METHODS);
    let a =
        format!("pub struct A;\nimpl A {{\n{many}}}\nimpl Clone for A {{\n    fn f() {{}}\n}}\n");
    assert_eq!(of(&[("a.rs", &a)]), Vec::<String>::new());
    let more = "impl<'r> A<'r> {\n    fn g() {}\n}\n";
    assert_eq!(of(&[("a/mod.rs", &a), ("a/b.rs", more)]), ["`A` has 26 methods; split the module"]);
    let small = ("a.rs", "pub(crate) struct A;\n");
    assert_eq!(of(&[small, ("b.rs", more)]), ["`A` has methods in the module `b`"]);
}

/// The graph of the modules declared in the root of a crate, without its tests. `folder` ends in a
/// slash.
fn module_graph(files: &[(String, String)], folder: &str) -> Graph {
    let own = files.iter().filter_map(|(path, text)| {
        let path = path.strip_prefix(folder).filter(|path| path.ends_with(".rs"))?;
        Some((path, without_tests(&Source::scan(text).code)))
    });
    let own: Vec<(&str, String)> = own.collect();
    let roots: Vec<&str> =
        own.iter().filter(|(p, _)| is_root(p)).map(|(_, c)| c.as_str()).collect();
    let modules: BTreeSet<&str> = roots.iter().flat_map(|code| declared_modules(code)).collect();
    let reexports: BTreeMap<String, String> = roots.iter().flat_map(|c| reexports(c)).collect();
    let mut graph: Graph =
        modules.iter().map(|name| ((*name).to_owned(), BTreeMap::new())).collect();
    for (path, code) in own.iter().filter(|(path, _)| !is_root(path) && !is_test_file(path)) {
        let Some(uses) = graph.get_mut(&module_path(path)[0]) else { continue };
        for name in names_in_root(code, module_path(path).len()) {
            let module = modules.get(name.as_str()).map(|name| (*name).to_owned());
            let module = module.or_else(|| reexports.get(&name).cloned());
            if let Some(module) = module.filter(|module| *module != module_path(path)[0]) {
                uses.entry(module).or_insert_with(|| (*path).to_owned());
            }
        }
    }
    graph
}

fn is_root(path: &str) -> bool {
    path == "lib.rs" || path == "main.rs"
}

/// Whether a file holds only tests, by its name.
fn is_test_file(path: &str) -> bool {
    path.trim_end_matches(".rs").split('/').any(|part| part == "tests" || part.ends_with("_tests"))
}

/// The module of a file: `a/mod.rs` is `a`, `a/b.rs` is `a::b`.
fn module_path(path: &str) -> Vec<String> {
    let path = path.trim_end_matches(".rs");
    path.trim_end_matches("/mod").split('/').map(str::to_owned).collect()
}

/// The code without items that are compiled for tests only.
fn without_tests(code: &str) -> String {
    const MARK: &str = "#[cfg(test)]";
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some((before, item)) = rest.split_once(MARK) {
        kept.push_str(before);
        rest = &item[item_end(item)..];
    }
    kept.push_str(rest);
    kept
}

/// Where an item ends: at its semicolon, or at the brace that closes its body.
fn item_end(item: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in item.char_indices() {
        match c {
            ';' if depth == 0 => return at + 1,
            '{' => depth += 1,
            '}' if depth <= 1 => return at + 1,
            '}' => depth -= 1,
            _ => {}
        }
    }
    item.len()
}

fn declared_modules(code: &str) -> Vec<&str> {
    let lines = code.lines().filter(|line| line.trim_end().ends_with(';'));
    let names = lines.filter_map(|line| {
        let (visibility, name) = line.split_once("mod ")?;
        let visible = visibility.is_empty() || visibility.starts_with("pub");
        visible.then(|| first_word(name))
    });
    names.collect()
}

/// The names that a crate root takes from its modules, with the module of each.
fn reexports(code: &str) -> Vec<(String, String)> {
    let statements = code.split("use ").skip(1).filter_map(|rest| rest.split(';').next());
    let paths = statements.flat_map(paths_of);
    let names = paths.filter_map(|path| {
        let path = path.trim_start_matches("crate::").trim_start_matches("self::");
        let (module, rest) = path.split_once("::")?;
        let last = rest.rsplit("::").next().unwrap_or(rest);
        let name = last.rsplit(" as ").next().unwrap_or(last);
        Some((name.trim().to_owned(), module.to_owned()))
    });
    names.collect()
}

/// The paths of a `use` tree: `a::{b, c::d}` is `a::b` and `a::c::d`.
fn paths_of(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((prefix, group)) = tree.split_once('{') else { return vec![tree.to_owned()] };
    let end = item_end(&format!("{{{group}")).saturating_sub(2).min(group.len());
    let branches = branches(&group[..end]).into_iter().flat_map(paths_of);
    branches.map(|branch| format!("{}{branch}", prefix.trim())).collect()
}

/// The parts of a list between commas, where a part may have braces of its own.
fn branches(list: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_usize, 0, Vec::new());
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts.into_iter().filter(|part| !part.trim().is_empty()).collect()
}

/// The names that a file uses from the root of its crate. `depth` is the length of its module path.
fn names_in_root(code: &str, depth: usize) -> BTreeSet<String> {
    let above = "super::".repeat(depth);
    let mut names = BTreeSet::new();
    for root in ["crate::", above.as_str()] {
        for (at, _) in code.match_indices(root) {
            let before = code[..at].chars().next_back();
            if before.is_some_and(|c| is_word(c) || c == ':' || c == '$') {
                continue;
            }
            let rest = &code[at + root.len()..];
            match rest.strip_prefix('{') {
                Some(_) => {
                    let tree = &rest[..item_end(rest)];
                    names.extend(paths_of(tree).iter().map(|path| first_word(path).to_owned()));
                }
                None => {
                    names.insert(first_word(rest).to_owned());
                }
            }
        }
    }
    names
}

/// The shortest circle through each module that is in one, as `a -> b -> a` with a file for every
/// arrow. A circle is listed once.
fn cycles(graph: &Graph) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for start in graph.keys() {
        let Some(cycle) = shortest_cycle(graph, start) else { continue };
        if !seen.insert(cycle.iter().cloned().collect::<BTreeSet<_>>()) {
            continue;
        }
        let next = cycle.iter().cycle().skip(1);
        let arrows = cycle.iter().zip(next).map(|(from, to)| {
            let file = graph.get(from).and_then(|uses| uses.get(to)).map_or("", String::as_str);
            format!("{from} -> {to} ({file})")
        });
        found.push(arrows.collect::<Vec<_>>().join(", "));
    }
    found
}

fn shortest_cycle(graph: &Graph, start: &str) -> Option<Vec<String>> {
    let mut came_from: BTreeMap<&str, &str> = BTreeMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        for next in graph.get(at).into_iter().flat_map(BTreeMap::keys) {
            if next == start {
                let mut cycle = vec![at.to_owned()];
                let mut back = at;
                while let Some(before) = came_from.get(back).filter(|_| back != start) {
                    cycle.push((*before).to_owned());
                    back = before;
                }
                cycle.reverse();
                return Some(cycle);
            }
            if !came_from.contains_key(next.as_str()) {
                came_from.insert(next, at);
                queue.push_back(next);
            }
        }
    }
    None
}

fn planted(files: &[(&str, &str)]) -> Graph {
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| (format!("crates/x/src/{path}"), (*text).to_owned()))
        .collect();
    module_graph(&files, "crates/x/src/")
}

#[test]
fn module_cycle_is_detected() {
    let graph = planted(&[
        (
            "lib.rs",
            "mod a;\npub mod b;\nmod c;\nmod d;\npub use b::{Thing, other::Name as Alias};\n",
        ),
        ("a.rs", "use crate::b::Thing;\nfn f() { \"crate::d\"; } // crate::d"),
        ("b/mod.rs", "mod inner;"),
        ("b/inner.rs", "use super::super::c;"),
        ("c.rs", "use crate::{\n    a::{X, Y},\n    d,\n};"),
        ("d.rs", "fn f() -> u8 { 1 }"),
    ]);
    let expected = ["a -> b (a.rs), b -> c (b/inner.rs), c -> a (c.rs)"];
    assert_eq!(cycles(&graph), expected);
    assert_eq!(graph["c"].keys().collect::<Vec<_>>(), ["a", "d"]);
}

#[test]
fn module_graph_follows_reexports_and_ignores_tests() {
    let graph = planted(&[
        ("lib.rs", "mod a;\nmod b;\npub use b::{Thing, other::Name as Alias};\n"),
        ("a.rs", "fn f(x: crate::Alias) {}\n"),
        ("b.rs", "#[cfg(test)]\nmod tests {\n    use crate::a;\n    fn f() {}\n}\n"),
        ("b/tests.rs", "use crate::a;"),
    ]);
    assert_eq!(graph["a"].keys().collect::<Vec<_>>(), ["b"]);
    assert!(graph["b"].is_empty());
    assert_eq!(cycles(&graph), Vec::<String>::new());
}
