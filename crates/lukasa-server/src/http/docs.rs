//! The API reference and the list of error codes as pages, rendered from the OpenAPI document and the
//! table of codes. They have no script and load nothing from elsewhere.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::Router;
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use serde_json::Value;

use super::oauth::{Page, escape};
use crate::api::App;
use crate::api::code::{ErrorRow, error_rows};

/// The methods of a path, in the order of the page.
const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// The body of the reference. It depends on the program alone, so it is rendered once.
static REFERENCE: LazyLock<String> = LazyLock::new(|| {
    // A document that cannot be serialized is caught by the tests; the page would be empty.
    render_reference(&serde_json::to_value(super::document()).unwrap_or_default())
});

pub fn routes() -> Router<App> {
    Router::new().route("/docs", get(show_reference)).route("/docs/errors", get(show_errors))
}

async fn show_reference() -> Response {
    Page::new("API reference", REFERENCE.clone()).respond(StatusCode::OK)
}

async fn show_errors() -> Response {
    Page::new("Errors", render_errors()).respond(StatusCode::OK)
}

fn render_errors() -> String {
    let mut body = String::from(
        "<p>Every error is <code>application/problem+json</code> with a stable <code>code</code>.</p><dl>",
    );
    for ErrorRow { code, status, title, advice } in error_rows() {
        body.push_str(&format!(
            "<dt id=\"{code}\"><code>{code}</code> ({status})</dt><dd>{}. {}</dd>",
            escape(title),
            escape(advice)
        ));
    }
    body.push_str("</dl><p><a href=\"/docs\">API reference</a></p>");
    body
}

fn render_reference(document: &Value) -> String {
    let mut body = format!(
        "{}<p>For generators: <a href=\"/openapi.json\">openapi.json</a>. \
         <a href=\"/docs/errors\">Error codes</a>.</p>",
        paragraphs(&document["info"]["description"])
    );
    let tags = operations_by_tag(document);
    let links = tags.keys().map(|tag| format!("<a href=\"#tag-{0}\">{0}</a>", escape(tag)));
    body.push_str(&format!("<p>{}</p>", links.collect::<Vec<_>>().join(" · ")));
    for (tag, operations) in &tags {
        body.push_str(&format!("<h2 id=\"tag-{0}\">{0}</h2>", escape(tag)));
        body.extend(
            operations
                .iter()
                .map(|(method, path, operation)| render_operation(method, path, operation)),
        );
    }
    body.push_str("<h2>Types</h2>");
    for (name, schema) in document["components"]["schemas"].as_object().into_iter().flatten() {
        let name = escape(name);
        body.push_str(&format!("<h3 id=\"type-{name}\">{name}</h3>"));
        body.push_str(&paragraphs(&schema["description"]));
        body.push_str(&render_fields(schema));
    }
    body
}

/// Method, path and description of every operation, by its first tag.
fn operations_by_tag(document: &Value) -> BTreeMap<&str, Vec<(&'static str, &str, &Value)>> {
    let mut tags: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        for method in METHODS {
            let operation = &item[method];
            if operation.is_object() {
                let tag = operation["tags"][0].as_str().unwrap_or("other");
                tags.entry(tag).or_default().push((method, path.as_str(), operation));
            }
        }
    }
    tags
}

fn render_operation(method: &str, path: &str, operation: &Value) -> String {
    let id = escape(operation["operationId"].as_str().unwrap_or_default());
    let (method, path) = (method.to_uppercase(), escape(path));
    let mut text = format!("<h3 id=\"{id}\"><code>{method} {path}</code></h3>");
    text.push_str(&paragraphs(&operation["summary"]));
    text.push_str(&paragraphs(&operation["description"]));
    text.push_str("<ul>");
    for parameter in operation["parameters"].as_array().into_iter().flatten() {
        let place = escape(parameter["in"].as_str().unwrap_or_default());
        text.push_str(&render_field(
            &format!("{place} <code>{}</code>", escape(name_of(parameter))),
            &parameter["schema"],
            &parameter["description"],
            parameter["required"] == true,
        ));
    }
    for (kind, content) in operation["requestBody"]["content"].as_object().into_iter().flatten() {
        text.push_str(&format!(
            "<li>body ({}): {}</li>",
            escape(kind),
            type_of(&content["schema"])
        ));
    }
    for (status, response) in operation["responses"].as_object().into_iter().flatten() {
        let types = response["content"].as_object().into_iter().flatten();
        let types: Vec<String> = types.map(|(_, content)| type_of(&content["schema"])).collect();
        let description = escape(response["description"].as_str().unwrap_or_default());
        text.push_str(&format!(
            "<li>answer {}: {} {description}</li>",
            escape(status),
            types.join(" or ")
        ));
    }
    text.push_str("</ul>");
    text
}

/// The fields of a type, or what it is made of.
fn render_fields(schema: &Value) -> String {
    if let Some(parts) = schema["allOf"].as_array() {
        return parts.iter().map(render_fields).collect();
    }
    let Some(fields) = schema["properties"].as_object() else {
        return format!("<p>{}</p>", type_of(schema));
    };
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let lines = fields.iter().map(|(name, field)| {
        let is_required = required.contains(&name.as_str());
        let label = format!("<code>{}</code>", escape(name));
        render_field(&label, field, &field["description"], is_required)
    });
    format!("<ul>{}</ul>", lines.collect::<String>())
}

fn render_field(label: &str, schema: &Value, description: &Value, is_required: bool) -> String {
    let required = if is_required { ", required" } else { "" };
    let text = description.as_str().map(|text| format!(": {}", escape(text))).unwrap_or_default();
    format!("<li>{label} {}{required}{text}</li>", type_of(schema))
}

fn name_of(parameter: &Value) -> &str {
    parameter["name"].as_str().unwrap_or_default()
}

/// The type of a value, as HTML. Named types are links, so nothing is rendered more than once.
fn type_of(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return format!("<a href=\"#type-{0}\">{0}</a>", escape(name));
    }
    for (kind, word) in [("oneOf", " or "), ("anyOf", " or "), ("allOf", " and ")] {
        if let Some(parts) = schema[kind].as_array() {
            return parts.iter().map(type_of).collect::<Vec<_>>().join(word);
        }
    }
    if let Some(values) = schema["enum"].as_array() {
        let words = values.iter().filter_map(Value::as_str);
        return words.map(escape).collect::<Vec<_>>().join(" | ");
    }
    let names: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name.as_str()],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => vec!["any value"],
    };
    if names.contains(&"array") {
        return format!("array of {}", type_of(&schema["items"]));
    }
    escape(&names.join(" or "))
}

/// A text in paragraphs; nothing if there is none.
fn paragraphs(text: &Value) -> String {
    let parts = text.as_str().unwrap_or_default().split("\n\n").filter(|part| !part.is_empty());
    parts.map(|part| format!("<p>{}</p>", escape(part))).collect::<Vec<_>>().concat()
}
