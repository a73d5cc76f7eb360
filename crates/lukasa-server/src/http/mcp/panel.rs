//! The panel inside an assistant: one page that shows the memories a tool has listed and lets their
//! person undo, confirm and forget, by calling the same tools. It is built apart from this program and
//! lies inside it; a program without it offers none.

use rmcp::model::{
    ClientCapabilities, ExtensionCapabilities, JsonObject, MetaObject, Resource, ResourceContents,
};
use rust_embed::RustEmbed;
use serde_json::{Value, json};

use crate::tools;

pub const URI: &str = "ui://lukasa/panel";
/// The part of the protocol that puts pages beside answers.
const EXTENSION: &str = "io.modelcontextprotocol/ui";
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
    Built::get("panel.html")?;
    if tool == tools::undo().name {
        return meta(&json!({ "ui": { "visibility": ["app"] } }));
    }
    SHOWS.contains(&tool).then(|| meta(&json!({ "ui": { "resourceUri": URI } }))).flatten()
}

/// The tool that the panel calls and no model sees, for an assistant that says it tells the two apart.
/// Another one would show it to its model.
pub fn own_tool(client: Option<ClientCapabilities>) -> Option<&'static tools::Tool> {
    Built::get("panel.html")?;
    client?.extensions?.contains_key(EXTENSION).then(tools::undo)
}

/// What the server says it can do beyond the protocol's own.
pub fn extension() -> Option<ExtensionCapabilities> {
    Built::get("panel.html")?;
    Some(ExtensionCapabilities::from([(EXTENSION.to_owned(), JsonObject::new())]))
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
