//! Percent-encoding of texts in URLs.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// Everything but letters, digits and the unreserved marks of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Percent-encodes a text for a path or a query.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_text_is_percent_encoded_except_unreserved_characters() {
        assert_eq!(encoded("a-b._~Z9"), "a-b._~Z9");
        assert_eq!(encoded("é /?&%"), "%C3%A9%20%2F%3F%26%25");
    }
}
