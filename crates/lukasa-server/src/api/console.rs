//! Where the console's files are, and which paths belong to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// First path segments of the APIs. The console page is never served below them.
const API_SEGMENTS: [&str; 11] = [
    "api",
    "v1",
    "mcp",
    "mem0",
    "oauth",
    "oidc",
    "docs",
    "healthz",
    "readyz",
    "receipts",
    ".well-known",
];

/// Location of the console's files.
#[derive(Debug, Clone, Default)]
pub enum Console {
    /// Embedded in the binary.
    #[default]
    Embedded,
    /// In a folder, for development.
    Folder(Arc<PathBuf>),
}

impl Console {
    pub fn folder(path: &Path) -> Self {
        Self::Folder(Arc::new(path.to_owned()))
    }
}

/// Whether a path belongs to the console and not to an API.
pub fn is_console_path(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or("");
    !API_SEGMENTS.contains(&first) && path != "/openapi.json"
}
