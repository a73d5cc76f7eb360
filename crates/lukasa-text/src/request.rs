//! Whether a text says how the user wants to be helped, and for which kind of request, from its words
//! alone. The word lists are in `lexicon/request`.

use std::sync::LazyLock;

use crate::detect::Detector;
use crate::lexicon::{Lexicon, lexicon};
use crate::screen::phrase::{Phrases, TokenizedText};
use crate::slot::{Slot, skip_subject, slot_of};

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

/// Verbs by which a claim says what the user wants of an assistant.
static WISHES: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), lexicon!("request/wishes", en de))]));
/// How an assistant can answer or help.
static STYLE: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), lexicon!("request/style", en de))]));
/// What opens a claim about a kind of request of the user.
static ASKING: LazyLock<Phrases<()>> =
    LazyLock::new(|| Phrases::new([((), lexicon!("request/asking", en de))]));

/// Whether a claim says how the user wants to be answered or helped: "User prefers short answers",
/// "When User asks for a restaurant, User wants to know how loud it is".
pub fn is_style(claim: &str) -> bool {
    let tokenized = TokenizedText::new(claim);
    let start = skip_subject(&tokenized);
    let wish = WISHES.find(&tokenized).filter(|found| found.start == start);
    let wanted = wish.map(|found| found.end).max();
    slot_of(claim) == Some(Slot::LanguageOfAnswers)
        || wanted.is_some_and(|end| STYLE.find(&tokenized).any(|found| found.start >= end))
        || ASKING.find(&tokenized).next().is_some()
}

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

    #[test]
    fn style_is_how_the_user_wants_to_be_helped() {
        for text in [
            "User prefers short answers.",
            "User wants answers in German.",
            "User likes step-by-step explanations with examples.",
            "User wants replies without disclaimers",
            "User prefers bullet points over long paragraphs",
            "User wants code without comments.",
            "When User asks for a restaurant, User wants to know how loud it is.",
            "When the user asks about medicine, the user wants figures.",
            "I prefer brief replies",
            "Der Nutzer bevorzugt kurze Antworten.",
            "Ich möchte geduzt werden",
        ] {
            assert!(is_style(text), "{text}");
        }
    }

    #[test]
    fn style_is_not_what_the_user_likes_or_what_others_want() {
        for text in [
            "User prefers window seats.",
            "User likes long walks and short films.",
            "User answers the phone before nine.",
            "User is waiting for a reply to a job application.",
            "User's boss wants short answers from everyone.",
            "User runs on Mondays.",
            "Marta prefers short answers.",
            "Der Nutzer mag kurze Hosen.",
            "",
        ] {
            assert!(!is_style(text), "{text}");
        }
    }
}
