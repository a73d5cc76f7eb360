//! The API description and the table of errors are committed, and say what the code says.

use std::fs;
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

fn committed(name: &str) -> String {
    let path = Path::new(ROOT).join(name);
    fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

#[test]
fn openapi_json_is_what_the_code_says() {
    let document = serde_json::to_string_pretty(&quipu_server::http::document()).unwrap();
    assert!(
        document.trim() == committed("openapi.json").trim(),
        "run `just docs` and look at the diff"
    );
}

#[test]
fn the_page_of_errors_is_what_the_code_says() {
    let page = quipu_server::http::render_error_docs();
    assert!(page.trim() == committed("docs/errors.md").trim(), "run `just docs`");
}

#[test]
fn the_table_of_errors_changes_only_on_purpose() {
    let lines: Vec<String> =
        quipu_server::http::TABLE.iter().map(|e| format!("{} {}", e.status, e.code)).collect();
    insta::assert_snapshot!(lines.join("\n"));
}

/// What a client generator and a reader stumble over.
#[test]
fn every_operation_has_an_id_a_summary_and_an_error() {
    let document = serde_json::to_value(quipu_server::http::document()).unwrap();
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
