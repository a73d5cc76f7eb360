//! Word lists: names of secrets, and words that only resemble them. Used by `named_values`.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::SecretKind;
use crate::lexicon::{Lexicon, lexicon};

/// The form that a value must have to be taken for the named secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    /// Anything, if a word such as "is" assigns it; a plain word only at the end of the sentence.
    Password,
    /// Four digits or more, or a mixture.
    Code,
    /// Four to eight digits that a word such as "is" assigns: many harmless things are called
    /// codes.
    StatedCode,
    /// Three or four digits.
    Check,
    /// Something long and mixed.
    Key,
    /// Digits, with dashes or without.
    Number,
}

impl Value {
    pub const fn kind(self) -> SecretKind {
        match self {
            Self::Password => SecretKind::PASSWORD,
            Self::Code | Self::StatedCode => SecretKind::ACCESS_CODE,
            Self::Check => SecretKind::CARD_CODE,
            Self::Key => SecretKind::API_KEY,
            Self::Number => SecretKind::IDENTITY_NUMBER,
        }
    }
}

/// Names of secrets, as words separated by spaces.
pub(super) const NAMES: [(Value, Lexicon); 6] = [
    (
        Value::Password,
        lexicon!(
            "secret/password",
            en de fr es it pt nl sv da nb fi pl cs hu hr tr ru el ar he hi th id vi zh ja ko mul
        ),
    ),
    (Value::Code, lexicon!("secret/code", en de fr es it pt nl sv da nb fi pl tr ru zh ja ko)),
    (Value::StatedCode, lexicon!("secret/stated_code", en de fr es it pt nl ru zh ja)),
    (Value::Check, lexicon!("secret/check_code", en de fr es)),
    (Value::Key, lexicon!("secret/key", en de fr es it pt nl sv pl ru zh ja)),
    (Value::Number, lexicon!("secret/number", en de fr es)),
];

/// Words between a name and its value that assign it.
pub(super) const SAYS: Lexicon = lexicon!("secret/says", mul);
/// Words that introduce a place or an owner between them: "the password for the router is ...".
pub(super) const OF: Lexicon = lexicon!("secret/of", mul);
/// Words that change the meaning of the name: "password manager".
pub(super) const ANOTHER: Lexicon = lexicon!("secret/another", en);
/// Plain words that follow "the password is" and are not a password.
pub(super) const PLAIN: Lexicon = lexicon!("secret/plain", en de fr es it pt nl);

/// Codes that are not secret.
pub(super) static OTHER_CODES: LazyLock<HashSet<String>> =
    LazyLock::new(|| lexicon!("secret/other_codes", en de fr es).words());
