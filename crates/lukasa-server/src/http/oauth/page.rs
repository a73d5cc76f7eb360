//! The pages that the OAuth endpoints show: plain HTML without scripts, which load nothing.

use std::sync::LazyLock;

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lukasa_core::oauth::RedirectUri;
use sha2::{Digest as _, Sha256};

use super::NO_STORE;
use crate::api::code::ErrorCode;
use crate::api::error::Problem;

const STYLE: &str = "\
    :root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}\
    body{margin:12vh auto;max-width:34rem;padding:0 1rem}h1{font-size:1.3rem}\
    bdi{overflow-wrap:anywhere}button{font:inherit;padding:.5rem 1.2rem;margin:.5rem .5rem 0 0}";

/// The only style that the policy of the pages allows.
static STYLE_SOURCE: LazyLock<String> =
    LazyLock::new(|| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(STYLE))));

/// A page.
pub(in crate::http) struct Page {
    title: &'static str,
    /// HTML, with everything that is not ours escaped.
    body: String,
    /// A path of this server that the browser opens at once.
    next: Option<String>,
    form_action: String,
}

impl Page {
    pub fn new(title: &'static str, body: String) -> Self {
        Self { title, body, next: None, form_action: "'none'".to_owned() }
    }

    /// Opens a path of this server at once.
    pub fn leading_to(self, path: &str) -> Self {
        Self { next: Some(path.to_owned()), ..self }
    }

    /// Allows a form that is sent to this server and then redirected to this address.
    pub fn with_form_to(self, uri: &RedirectUri) -> Self {
        Self { form_action: format!("'self' {}", uri.policy_source()), ..self }
    }

    pub fn respond(self, status: StatusCode) -> Response {
        let Self { title, body, next, form_action } = self;
        let next = next.map_or_else(String::new, |path| {
            format!("<meta http-equiv=\"refresh\" content=\"0;url={}\">", escape(&path))
        });
        let html = format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width\">{next}\
             <title>{title} - Lukasa</title><style>{STYLE}</style></head>\
             <body><main><h1>{title}</h1>{body}</main></body></html>"
        );
        let policy = format!(
            "default-src 'none'; style-src {}; form-action {form_action}; base-uri 'none'; \
             frame-ancestors 'none'",
            *STYLE_SOURCE
        );
        let Ok(policy) = HeaderValue::from_str(&policy) else {
            return Problem::of(ErrorCode::Internal).into_response();
        };
        let mut response = (status, html).into_response();
        // Without a referrer policy of `same-origin` the browser would send the form with the origin
        // `null`. A policy for openers would cut off an assistant that opened this page as a window.
        for (name, value) in [
            (CONTENT_SECURITY_POLICY, policy),
            (CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
            (CACHE_CONTROL, NO_STORE),
            (REFERRER_POLICY, HeaderValue::from_static("same-origin")),
            (X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
            (X_FRAME_OPTIONS, HeaderValue::from_static("DENY")),
        ] {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

/// A text as the content of an element or of a quoted attribute.
pub(in crate::http) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oauth_page_text_cannot_leave_its_element() {
        let escaped = escape("<img src=x onerror=\"alert('1')\">&");
        assert_eq!(escaped, "&lt;img src=x onerror=&quot;alert(&#39;1&#39;)&quot;&gt;&amp;");
    }
}
