//! Kinds of secrets, with a short name of each for messages.

use std::fmt;

/// The kind of a secret. Its name can follow "this text contains".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SecretKind(&'static str);

impl SecretKind {
    pub const fn new(name: &'static str) -> Self {
        Self(name)
    }

    /// A short name with its article: "an OpenAI API key", "a payment card number".
    pub const fn name(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for SecretKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

/// The kind of a secret, by its own text and the text before it.
pub(super) fn kind_of(_before: &str, secret: &str) -> SecretKind {
    let name = if secret.contains("PRIVATE KEY") {
        "a private key"
    } else if secret.starts_with("sk-") {
        "an OpenAI API key"
    } else if secret.bytes().filter(u8::is_ascii_digit).count() >= 13
        && !secret.bytes().any(|b| b.is_ascii_alphabetic())
    {
        "a payment card number"
    } else if secret.len() >= 16 {
        "an API key or access token"
    } else {
        "a password or code"
    };
    SecretKind::new(name)
}
