//! The panel inside an assistant: one page that shows the memories a tool has listed and lets their
//! person undo, confirm and forget, by calling the same tools. It is built apart from this program and
//! lies inside it; a program without it offers none.

use rmcp::model::{MetaObject, Resource, ResourceContents};
use rust_embed::RustEmbed;
use serde_json::{Value, json};

pub const URI: &str = "ui://quipu/panel";
/// What says to an assistant that this is a page to show beside a tool's answer.
const KIND: &str = "text/html;profile=mcp-app";
/// The tools whose answers it shows.
const SHOWS: [&str; 2] = ["list_memories", "recall_memories"];

#[derive(RustEmbed)]
#[folder = "../../clients/elements/dist"]
#[allow_missing = true]
struct Built;

fn page() -> Option<String> {
    let file = Built::get("panel.html")?;
    String::from_utf8(file.data.into_owned()).ok()
}

fn meta(value: &Value) -> Option<MetaObject> {
    value.as_object().cloned().map(MetaObject)
}

/// What a tool says about itself besides its schema.
pub fn beside(tool: &str) -> Option<MetaObject> {
    let shown = SHOWS.contains(&tool) && Built::get("panel.html").is_some();
    shown.then(|| meta(&json!({ "ui": { "resourceUri": URI } }))).flatten()
}

pub fn listed() -> Option<Resource> {
    page()?;
    let about = "What is known about the user, to look at, undo and correct";
    Some(Resource::new(URI, "panel").with_description(about).with_mime_type(KIND))
}

/// The page. It asks nobody but the assistant that shows it, so it may reach nothing else.
pub fn read() -> Option<ResourceContents> {
    let nowhere: [&str; 0] = [];
    let csp = json!({ "connectDomains": nowhere, "resourceDomains": nowhere });
    let meta = meta(&json!({ "ui": { "csp": csp, "prefersBorder": true } }))?;
    Some(ResourceContents::text(page()?, URI).with_mime_type(KIND).with_meta(meta))
}
