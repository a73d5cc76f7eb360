//! The committed API description and error table match the code.

use std::fs;
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn committed(name: &str) -> String {
    let path = Path::new(ROOT).join(name);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn openapi_json_matches_the_code() {
    let document = serde_json::to_string_pretty(&lukasa_server::http::document()).unwrap();
    assert!(
        document.trim() == committed("openapi.json").trim(),
        "run `just docs` and look at the diff"
    );
}

#[test]
fn errors_page_matches_the_code() {
    let page = lukasa_server::api::render_error_docs();
    assert!(page.trim() == committed("docs/errors.md").trim(), "run `just docs`");
}

#[test]
fn error_table_matches_its_snapshot() {
    let lines: Vec<String> = lukasa_server::api::error_rows()
        .map(|row| format!("{} {}", row.status, row.code))
        .collect();
    insta::assert_snapshot!(lines.join("\n"));
}

/// What client generators and readers need.
#[test]
fn openapi_operations_have_an_id_a_summary_and_an_error() {
    let document = serde_json::to_value(lukasa_server::http::document()).unwrap();
    assert_eq!(document["openapi"], "3.1.0");
    let mut ids = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let name = format!("{method} {path}");
            let id = operation["operationId"].as_str().unwrap_or_else(|| panic!("{name}: no id"));
            ids.push(id.to_owned());
            assert!(operation["summary"].as_str().is_some_and(|s| !s.is_empty()), "{name}");
            if path.starts_with("/api/") {
                assert!(operation["responses"]["default"].is_object(), "{name}");
                assert!(operation["security"].is_array(), "{name}");
            }
        }
    }
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count, "ids are unique");
}

/// Of two schemas with one name the document keeps one, and uses it in place of the other.
#[test]
fn openapi_schema_names_are_unique() {
    let mut folders = vec![Path::new(ROOT).join("crates/lukasa-server/src")];
    let mut names = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                names.extend(shapes(&fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(names.contains(&"MemoryView".to_owned()), "shapes are found at all");
    names.sort();
    let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

/// The names of the types of a source file that are schemas of the document.
fn shapes(text: &str) -> Vec<String> {
    let after = text.split("ToSchema").skip(1);
    let named = after.filter_map(|rest| {
        let word = rest.split_once("pub struct ").into_iter().chain(rest.split_once("pub enum "));
        let (before, name) = word.min_by_key(|(before, _)| before.len())?;
        // The next type must be the one under the derive.
        let own = before.starts_with(")]") && !before.contains("\n}");
        let end = name.find(|c: char| !c.is_alphanumeric())?;
        own.then(|| name[..end].to_owned())
    });
    named.collect()
}

#[test]
fn duplicate_schema_name_is_detected() {
    let one =
        "#[derive(Debug, ToSchema)]\npub struct A {\n}\nuse utoipa::ToSchema;\npub struct B {}";
    assert_eq!(shapes(one), ["A"]);
    let two = "#[derive(ToSchema)]\n#[serde(deny)]\n/// Words.\npub enum A { X }\n";
    assert_eq!(shapes(&format!("{one}\n{two}")), ["A", "A"]);
}
