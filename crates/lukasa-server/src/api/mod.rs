//! What all protocols share: the state of the handlers, callers, limits, problems, and the shapes of
//! requests and answers. HTTP, MCP, the gateway and mem0 are above it.

pub mod app;
pub(crate) mod auth;
pub(crate) mod body;
pub mod code;
mod connector;
pub(crate) mod console;
pub(crate) mod error;
pub(crate) mod limits;
mod mcp_settings;
pub(crate) mod memory;
pub(crate) mod project;
mod readiness;
pub(crate) mod recheck;
pub(crate) mod request;
pub(crate) mod search;
pub(crate) mod space;
mod user;
pub(crate) mod wire;
pub(crate) mod words_schema;

pub use app::{App, LOCAL_TENANT, LOCAL_USER, local_tenant};
pub use auth::AuthMode;
pub use code::{ErrorCode, error_rows};
pub use console::Console;
pub use error::render_error_docs;
pub use limits::{LimitSettings, PeerAddress};
pub use mcp_settings::McpSettings;
pub use wire::event_name;
