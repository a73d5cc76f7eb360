//! Serves the web console. Its files are built separately and embedded in the binary. This module
//! does not know their content; it sets caching and restrictive security headers.

use std::borrow::Cow;

use axum::extract::{Request, State};
use axum::http::header::{
    ACCEPT, ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderName,
    IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use rust_embed::RustEmbed;
use sha2::{Digest as _, Sha256};

use crate::api::App;
use crate::api::code::ErrorCode;
use crate::api::console::{Console, is_console_path};
use crate::api::error::Problem;
use crate::gateway::{GATEWAY_PATH, GatewayError};

/// Content security policy of the pages: everything from this origin, nothing from elsewhere, no
/// inline script or style, no framing, and no text that becomes markup or code.
const CSP: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; \
    frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/// File names in this folder contain a hash of the content, so the files never change.
const HASHED_ASSETS: &str = "assets/";
const INDEX_PAGE: &str = "index.html";

/// The page of a binary that was built without the console.
const NO_CONSOLE_PAGE: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
    <meta name=\"viewport\" content=\"width=device-width\"><title>Lukasa</title>\
    <h1>Lukasa is running</h1><p>This program was built without its console. The API is at \
    <a href=\"/openapi.json\">/openapi.json</a>.</p><p>To have the console: run <code>npm ci</code> and \
    <code>npm run build</code> in the folder <code>web</code>, then build Lukasa again, or start it with \
    <code>lukasa serve --console web/dist</code>.</p></html>";

#[derive(RustEmbed)]
#[folder = "../../web/dist"]
#[allow_missing = true]
struct EmbeddedFiles;

/// The console's files, embedded or in a folder.
struct Files<'a>(&'a Console);

impl Files<'_> {
    /// Reads a file by its path below the root.
    fn file(&self, path: &str) -> Option<Cow<'static, [u8]>> {
        let plain = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains('\\');
        if !path.split('/').all(plain) {
            return None;
        }
        match self.0 {
            Console::Embedded => EmbeddedFiles::get(path).map(|file| file.data),
            Console::Folder(folder) => std::fs::read(folder.join(path)).ok().map(Cow::Owned),
        }
    }

    /// The response with a file, brotli-compressed if the browser accepts it and such a file
    /// exists.
    fn respond(&self, path: &str, headers: &HeaderMap) -> Option<Response> {
        let takes =
            headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or("");
        let takes = |name: &str| takes.split(',').any(|one| one.trim().starts_with(name));
        let packed = takes("br").then(|| self.file(&format!("{path}.br"))).flatten();
        let is_packed = packed.is_some();
        let bytes = packed.or_else(|| self.file(path))?;
        let tag = format!("\"{}\"", hex::encode(&Sha256::digest(&bytes)[..12]));
        let tag = HeaderValue::from_str(&tag).ok()?;
        let known = headers.get(IF_NONE_MATCH).is_some_and(|known| *known == tag);
        let mut response = match known {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => bytes.into_owned().into_response(),
        };
        let cache_control = if path.starts_with(HASHED_ASSETS) {
            "public, max-age=31536000, immutable"
        } else {
            "no-cache"
        };
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type(path)));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(cache_control));
        headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
        headers.insert(ETAG, tag);
        if is_packed {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("br"));
        }
        add_security_headers(headers);
        Some(response)
    }
}

/// Fallback route: a file of the console, or its index page, whose client-side router handles the
/// path.
pub async fn serve(State(app): State<App>, request: Request) -> Response {
    let (path, headers) = (request.uri().path(), request.headers());
    let is_read = [Method::GET, Method::HEAD].contains(request.method());
    if path.starts_with(GATEWAY_PATH) {
        return GatewayError::of(ErrorCode::NotFound).into_response();
    }
    if !is_read || !is_console_path(path) {
        return Problem::of(ErrorCode::NotFound).into_response();
    }
    let path = path.trim_start_matches('/');
    let console = Files(app.console());
    if let Some(file) = console.respond(if path.is_empty() { INDEX_PAGE } else { path }, headers) {
        return file;
    }
    let accept = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    let wants_page = path.is_empty() || accept.is_some_and(|kinds| kinds.contains("text/html"));
    let is_file =
        path.starts_with(HASHED_ASSETS) || path.rsplit('/').next().unwrap_or("").contains('.');
    if !wants_page || is_file {
        return Problem::of(ErrorCode::NotFound).into_response();
    }
    console.respond(INDEX_PAGE, headers).unwrap_or_else(|| {
        let mut response = (StatusCode::OK, NO_CONSOLE_PAGE).into_response();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type(INDEX_PAGE)));
        add_security_headers(headers);
        response
    })
}

fn add_security_headers(headers: &mut HeaderMap) {
    for (name, value) in [
        ("content-security-policy", CSP),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}

fn content_type(path: &str) -> &'static str {
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
