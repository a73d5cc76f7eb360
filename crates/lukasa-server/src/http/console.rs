//! The console: pages and scripts that were built apart from this program and lie inside it. Nothing
//! here knows what they show; it says what a browser may do with them, which is little.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderName,
    IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use rust_embed::RustEmbed;
use sha2::{Digest as _, Sha256};

use super::App;
use super::error::Problem;

/// What the pages may load, and from where: everything from here, nothing from elsewhere, no script
/// or style inside a page, and no frame around it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; \
    frame-ancestors 'none'";

/// Files of this folder have their contents in their names, and never change.
const HASHED: &str = "assets/";
const PAGE: &str = "index.html";

/// Where programs ask. A person never opens one of these, and is never shown a page there.
const PROGRAMS: [&str; 8] =
    ["api", "v1", "mcp", "mem0", "healthz", "readyz", "receipts", ".well-known"];

/// What is shown by a program that was built without the console.
const WITHOUT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
    <meta name=\"viewport\" content=\"width=device-width\"><title>Lukasa</title>\
    <h1>Lukasa is running</h1><p>This program was built without its console. The API is at \
    <a href=\"/openapi.json\">/openapi.json</a>.</p><p>To have the console: run <code>npm ci</code> and \
    <code>npm run build</code> in the folder <code>web</code>, then build Lukasa again, or start it with \
    <code>lukasa serve --console web/dist</code>.</p></html>";

#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct Built;

/// Where the console's files are.
#[derive(Debug, Clone, Default)]
pub enum Console {
    /// Inside this program.
    #[default]
    Built,
    /// In a folder, for those who work on it.
    Folder(Arc<PathBuf>),
}

impl Console {
    pub fn folder(path: &Path) -> Self {
        Self::Folder(Arc::new(path.to_owned()))
    }

    /// A file by its path below the root.
    fn file(&self, path: &str) -> Option<Cow<'static, [u8]>> {
        let plain = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains('\\');
        if !path.split('/').all(plain) {
            return None;
        }
        match self {
            Self::Built => Built::get(path).map(|file| file.data),
            Self::Folder(folder) => std::fs::read(folder.join(path)).ok().map(Cow::Owned),
        }
    }

    /// A file as a browser takes it, packed if it lies there packed.
    fn answer(&self, path: &str, headers: &HeaderMap) -> Option<Response> {
        let takes =
            headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or("");
        let takes = |name: &str| takes.split(',').any(|one| one.trim().starts_with(name));
        let packed = takes("br").then(|| self.file(&format!("{path}.br"))).flatten();
        let is_packed = packed.is_some();
        let bytes = packed.or_else(|| self.file(path))?;
        let tag = format!("\"{}\"", hex(&Sha256::digest(&bytes)[..12]));
        let tag = HeaderValue::from_str(&tag).ok()?;
        let known = headers.get(IF_NONE_MATCH).is_some_and(|known| *known == tag);
        let mut response = match known {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => bytes.into_owned().into_response(),
        };
        let kept = if path.starts_with(HASHED) {
            "public, max-age=31536000, immutable"
        } else {
            "no-cache"
        };
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind(path)));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(kept));
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        headers.insert(ETAG, tag);
        if is_packed {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("br"));
        }
        guard(headers);
        Some(response)
    }
}

/// Whether a path belongs to people, not to programs.
pub fn is_for_people(path: &str) -> bool {
    let first = path.trim_start_matches('/').split('/').next().unwrap_or("");
    !PROGRAMS.contains(&first) && path != "/openapi.json"
}

/// Whatever no other route has: a file of the console, or its page, which finds out by itself what to
/// show at this address.
pub async fn serve(State(app): State<App>, request: Request) -> Response {
    let (path, headers) = (request.uri().path(), request.headers());
    let asks = [Method::GET, Method::HEAD].contains(request.method());
    if !asks || !is_for_people(path) {
        return Problem::of("not_found").into_response();
    }
    let path = path.trim_start_matches('/');
    let console = app.console();
    if let Some(file) = console.answer(if path.is_empty() { PAGE } else { path }, headers) {
        return file;
    }
    let page = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    let page = path.is_empty() || page.is_some_and(|kinds| kinds.contains("text/html"));
    let is_file = path.starts_with(HASHED) || path.rsplit('/').next().unwrap_or("").contains('.');
    if !page || is_file {
        return Problem::of("not_found").into_response();
    }
    console.answer(PAGE, headers).unwrap_or_else(|| {
        let mut response = (StatusCode::OK, WITHOUT).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind(PAGE)));
        guard(headers);
        response
    })
}

fn guard(headers: &mut HeaderMap) {
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}

fn kind(path: &str) -> &'static str {
    match path.rsplit('.').next().unwrap_or("") {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "txt" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
