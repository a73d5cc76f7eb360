//! The isolation table and the OpenAPI document agree.

use std::collections::BTreeSet;

use serde_json::Value;

use super::harmless::HARMLESS;
use super::request::{Route, routes};
use super::table::{Place, Row, TABLE};

/// Differences between the two, as messages.
fn disagreements(document: &Value, table: &[Row]) -> Vec<String> {
    let routes = routes(document);
    let mut faults = Vec::new();
    for (operation, route) in &routes {
        match table.iter().find(|row| row.operation == operation) {
            None => faults.push(format!("{operation} has no row in the isolation table")),
            Some(row) => faults.extend(parts(document, row, route)),
        }
    }
    for row in table {
        if !routes.contains_key(row.operation) {
            faults.push(format!("{} is not an operation", row.operation));
        }
    }
    faults
}

/// Every part of a request must be a field of the row, or known to carry no id.
fn parts(document: &Value, row: &Row, route: &Route) -> Vec<String> {
    let operation = row.operation;
    let mut faults = Vec::new();
    let covered = |place: &str, name: &str| {
        row.fields.iter().any(|field| match field.place {
            Place::Path(own) => place == "path" && own == name,
            Place::Query(own) => place == "query" && own == name,
            Place::Header(own) => place == "header" && own == name,
            Place::Body(own) => {
                let own = own.trim_end_matches("[]");
                place == "body" && own.rsplit('.').next() == Some(name)
            }
        })
    };
    let is_harmless = |name: &str| {
        let here = format!("{operation}.{name}");
        HARMLESS.contains(&name) || HARMLESS.contains(&here.as_str())
    };
    let mut names_user = false;
    for parameter in route.about["parameters"].as_array().into_iter().flatten() {
        let place = parameter["in"].as_str().unwrap_or_default();
        let name = parameter["name"].as_str().unwrap_or_default();
        if name == "X-Lukasa-User" {
            names_user = true;
        } else if !covered(place, name) && (place == "path" || !is_harmless(name)) {
            faults.push(format!("{operation}: no field for `{name}` in the {place}"));
        }
    }
    if names_user != row.is_personal() {
        faults.push(format!("{operation}: X-Lukasa-User and the permission disagree"));
    }
    let mut names = BTreeSet::new();
    properties(document, &route.about["requestBody"]["content"], &mut names);
    for name in names {
        if !covered("body", &name) && !is_harmless(&name) {
            faults.push(format!("{operation}: no field for `{name}` in the body"));
        }
    }
    if row.needs.is_some() != route.about["security"].as_array().is_some_and(|s| !s.is_empty()) {
        faults.push(format!("{operation}: the document and the row disagree about the credential"));
    }
    faults
}

/// The names of all properties below a schema, through every reference.
fn properties(document: &Value, schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                if let ("$ref", Some(path)) = (key.as_str(), value.as_str()) {
                    let target = document.pointer(path.trim_start_matches('#'));
                    properties(document, target.expect("a reference leads somewhere"), names);
                }
                if let ("properties", Some(inner)) = (key.as_str(), value.as_object()) {
                    names.extend(inner.keys().cloned());
                }
                properties(document, value, names);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| properties(document, item, names)),
        _ => {}
    }
}

fn document() -> Value {
    serde_json::to_value(lukasa_server::http::document()).expect("the document is JSON")
}

#[test]
fn isolation_table_matches_the_openapi_operations() {
    let faults = disagreements(&document(), TABLE);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn operation_without_a_row_is_detected() {
    let mut document = document();
    document["paths"]["/api/secrets"]["get"] = serde_json::json!({ "operationId": "get_secrets" });
    let faults = disagreements(&document, TABLE);
    assert_eq!(faults, ["get_secrets has no row in the isolation table"]);
}

#[test]
fn row_without_an_operation_is_detected() {
    let mut document = document();
    document["paths"].as_object_mut().unwrap().remove("/healthz");
    assert_eq!(disagreements(&document, TABLE), ["healthz is not an operation"]);
}

#[test]
fn new_request_part_is_detected() {
    let mut document = document();
    let list = document["paths"]["/api/memory"]["get"]["parameters"].as_array_mut().unwrap();
    list.push(serde_json::json!({ "in": "query", "name": "project_id" }));
    let schemas = &mut document["components"]["schemas"];
    schemas["CreateLink"]["properties"]["via"] = serde_json::json!({ "type": "string" });
    assert_eq!(
        disagreements(&document, TABLE),
        [
            "link_memories: no field for `via` in the body",
            "list_memories: no field for `project_id` in the query"
        ]
    );
}
