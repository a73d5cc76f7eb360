//! Kinds of secrets, with a short name of each for messages.

use std::fmt;

/// The kind of a secret. Its name can follow "this text contains".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SecretKind(&'static str);

impl SecretKind {
    pub(super) const ACCESS_CODE: Self = Self::new("an access code or PIN");
    pub(super) const API_KEY: Self = Self::new("an API key or access token");
    pub(super) const CARD: Self = Self::new("a payment card number");
    pub(super) const CARD_CODE: Self = Self::new("a card security code");
    pub(super) const IDENTITY_NUMBER: Self = Self::new("an identity or account number");
    pub(super) const JWT: Self = Self::new("a JSON web token");
    pub(super) const LICENCE: Self = Self::new("a licence key");
    pub(super) const LOGIN: Self = Self::new("login credentials");
    pub(super) const PASSWORD: Self = Self::new("a password");
    pub(super) const PRIVATE_KEY: Self = Self::new("a private key");
    pub(super) const RECOVERY_PHRASE: Self = Self::new("a wallet recovery phrase");
    pub(super) const WALLET_KEY: Self = Self::new("a wallet's private key");
    pub(super) const WEBHOOK: Self = Self::new("a webhook address");

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
