//! The panel inside an assistant: a page that shows the memories a tool has listed and lets the
//! user undo, confirm and forget them by calling the same tools. It is built separately and
//! embedded in the binary; a binary without it offers no panel.

use rmcp::model::{
    ClientCapabilities, ExtensionCapabilities, JsonObject, MetaObject, Resource, ResourceContents,
};
use rust_embed::RustEmbed;
use serde_json::{Value, json};

use crate::tools;

pub const URI: &str = "ui://lukasa/panel";
/// The protocol extension for pages shown beside tool results.
const EXTENSION: &str = "io.modelcontextprotocol/ui";
/// The media type of a page to show beside a tool result.
const PAGE_TYPE: &str = "text/html;profile=mcp-app";
/// The tools whose results the panel shows.
const PANEL_TOOLS: [&str; 2] = ["list_memories", "recall_memories"];

#[derive(RustEmbed)]
#[folder = "../../clients/elements/dist"]
#[allow_missing = true]
struct EmbeddedFiles;

fn page() -> Option<String> {
    let file = EmbeddedFiles::get("panel.html")?;
    String::from_utf8(file.data.into_owned()).ok()
}

fn meta(value: &Value) -> Option<MetaObject> {
    value.as_object().cloned().map(MetaObject)
}

/// Metadata of a tool for the panel.
pub fn tool_meta(tool: &str) -> Option<MetaObject> {
    EmbeddedFiles::get("panel.html")?;
    if tool == tools::undo().name {
        return meta(&json!({ "ui": { "visibility": ["app"] } }));
    }
    PANEL_TOOLS.contains(&tool).then(|| meta(&json!({ "ui": { "resourceUri": URI } }))).flatten()
}

/// The tool that only the panel calls, for clients that support the extension. Other clients would
/// show it to their model.
pub fn own_tool(client: Option<ClientCapabilities>) -> Option<&'static tools::Tool> {
    EmbeddedFiles::get("panel.html")?;
    client?.extensions?.contains_key(EXTENSION).then(tools::undo)
}

/// The extensions that the server announces.
pub fn extension() -> Option<ExtensionCapabilities> {
    EmbeddedFiles::get("panel.html")?;
    Some(ExtensionCapabilities::from([(EXTENSION.to_owned(), JsonObject::new())]))
}

pub fn listed() -> Option<Resource> {
    page()?;
    let about = "What is known about the user, to look at, undo and correct";
    Some(Resource::new(URI, "panel").with_description(about).with_mime_type(PAGE_TYPE))
}

/// The page. It communicates only with the assistant that shows it, so its policy allows no other
/// domain.
pub fn read() -> Option<ResourceContents> {
    let none: [&str; 0] = [];
    let csp = json!({ "connectDomains": none, "resourceDomains": none });
    let meta = meta(&json!({ "ui": { "csp": csp, "prefersBorder": true } }))?;
    Some(ResourceContents::text(page()?, URI).with_mime_type(PAGE_TYPE).with_meta(meta))
}
