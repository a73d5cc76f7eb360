//! The kind of request that a text about how to help is for, from its words alone. The word lists are
//! in `lexicon/request`.

use std::sync::LazyLock;

use crate::detect::Detector;
use crate::lexicon::{Lexicon, lexicon};

/// A kind of request to an assistant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RequestKind {
    Code,
    Writing,
    Planning,
    Recommendations,
    Explanations,
}

impl RequestKind {
    pub const ALL: [Self; 5] =
        [Self::Code, Self::Writing, Self::Planning, Self::Recommendations, Self::Explanations];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Writing => "writing",
            Self::Planning => "planning",
            Self::Recommendations => "recommendations",
            Self::Explanations => "explanations",
        }
    }

    fn words(self) -> Lexicon {
        match self {
            Self::Code => lexicon!("request/code", en de),
            Self::Writing => lexicon!("request/writing", en de),
            Self::Planning => lexicon!("request/planning", en de),
            Self::Recommendations => lexicon!("request/recommendations", en de),
            Self::Explanations => lexicon!("request/explanations", en de),
        }
    }
}

static DETECTOR: LazyLock<Detector> =
    LazyLock::new(|| Detector::new(RequestKind::ALL.map(|kind| (kind.as_str(), kind.words()))));

/// The kind of request that a text is for, if its words name one.
pub fn request_kind(text: &str) -> Option<RequestKind> {
    let found = DETECTOR.detect(text).into_iter().next()?;
    RequestKind::ALL.into_iter().find(|kind| kind.as_str() == found.domain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_kind_is_named_by_the_words_of_a_text() {
        for (text, kind) in [
            ("Wants unit tests with every function", Some(RequestKind::Code)),
            ("Write Rust code without comments", Some(RequestKind::Code)),
            ("Signs emails with Best, Jonathan", Some(RequestKind::Writing)),
            ("No meetings after 16:00", Some(RequestKind::Planning)),
            ("For restaurant tips: the bar, the noise", Some(RequestKind::Recommendations)),
            ("Explain it with an example first", Some(RequestKind::Explanations)),
            ("Erkläre es Schritt für Schritt", Some(RequestKind::Explanations)),
            ("Answers in French", None),
            ("Short answers, please", None),
            ("", None),
        ] {
            assert_eq!(request_kind(text), kind, "{text}");
        }
    }
}
