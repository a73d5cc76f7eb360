//! Parts of URLs: percent-encoding of texts and back, and names of this machine.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Everything but letters, digits and the unreserved marks of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Percent-encodes a text for a path or a query.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Decodes a percent-encoded text. What is not a valid escape stays as it is.
pub(crate) fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
}

/// Whether a host is `localhost`, `127.0.0.1` or `[::1]`, with or without a port.
pub(crate) fn is_loopback_name(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    ["localhost", "127.0.0.1", "[::1]"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_text_is_percent_encoded_except_unreserved_characters() {
        assert_eq!(encoded("a-b._~Z9"), "a-b._~Z9");
        assert_eq!(encoded("é /?&%"), "%C3%A9%20%2F%3F%26%25");
        assert_eq!(decoded(&encoded("é /?&%")), "é /?&%");
        assert_eq!(decoded("50%zz"), "50%zz");
    }
}
