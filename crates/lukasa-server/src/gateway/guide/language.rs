//! The languages of the guide: what it understands, and what it says.

use axum::http::{HeaderMap, header};

/// A language that the guide understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GuideLanguage {
    English,
    German,
}

/// The beginnings of the messages that ask for a write, longer ones first.
pub(super) struct GuideVerbs {
    pub(super) remember: &'static [&'static str],
    pub(super) forget: &'static [&'static str],
    pub(super) change: &'static [&'static str],
    /// What is between the old and the new words of a change.
    pub(super) into: &'static [&'static str],
}

const ENGLISH_VERBS: GuideVerbs = GuideVerbs {
    remember: &["remember that ", "remember: ", "remember "],
    forget: &["forget that ", "forget about ", "forget "],
    change: &["change ", "correct ", "update "],
    into: &[" to "],
};

const GERMAN_VERBS: GuideVerbs = GuideVerbs {
    remember: &[
        "merke dir: ",
        "merk dir: ",
        "merke dir, ",
        "merk dir, ",
        "merke dir ",
        "merk dir ",
    ],
    forget: &["vergiss, dass ", "vergiss bitte ", "vergiss "],
    change: &["ändere ", "Ändere ", "korrigiere ", "aktualisiere "],
    into: &[" zu ", " in ", " auf "],
};

const ENGLISH_QUESTIONS: &[&str] =
    &["what", "where", "when", "who", "whose", "which", "how", "do", "is", "can", "why"];
const GERMAN_QUESTIONS: &[&str] = &[
    "was", "wo", "wohin", "woher", "wann", "wer", "wen", "wem", "wie", "warum", "welche",
    "welcher", "welches", "welchen", "habe", "bin", "ist", "kann", "mag",
];
/// First words of other messages.
const ENGLISH_STARTS: &[&str] =
    &["remember", "forget", "change", "correct", "update", "please", "hello", "hi", "i", "my"];
const GERMAN_STARTS: &[&str] = &[
    "merke",
    "merk",
    "vergiss",
    "ändere",
    "korrigiere",
    "aktualisiere",
    "bitte",
    "hallo",
    "guten",
    "ich",
    "mein",
    "meine",
];

impl GuideLanguage {
    /// The first language of `Accept-Language` that the guide has; English if there is none.
    pub(super) fn of_headers(headers: &HeaderMap) -> Self {
        let wanted = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        let mut tags = wanted.unwrap_or_default().split(',').map(|tag| {
            tag.trim().split(['-', ';']).next().unwrap_or_default().to_ascii_lowercase()
        });
        match tags.find(|tag| tag == "de" || tag == "en").as_deref() {
            Some("de") => Self::German,
            _ => Self::English,
        }
    }

    /// The language of a message by its first word, if it shows.
    pub(super) fn of_message(message: &str) -> Option<Self> {
        let first = first_word(message);
        const AFTER_ENGLISH_WAS: [&str; 7] = ["i", "it", "my", "the", "that", "there", "we"];
        let second = message.split_whitespace().nth(1).unwrap_or_default().to_lowercase();
        if first == "was" && AFTER_ENGLISH_WAS.contains(&second.as_str()) {
            return Some(Self::English);
        }
        let is_any = |lists: [&[&str]; 2]| lists.iter().any(|list| list.contains(&first.as_str()));
        if is_any([GERMAN_QUESTIONS, GERMAN_STARTS]) {
            Some(Self::German)
        } else {
            is_any([ENGLISH_QUESTIONS, ENGLISH_STARTS]).then_some(Self::English)
        }
    }

    pub(super) fn verbs(self) -> &'static GuideVerbs {
        match self {
            Self::English => &ENGLISH_VERBS,
            Self::German => &GERMAN_VERBS,
        }
    }

    pub(super) fn is_question(self, message: &str) -> bool {
        let questions = match self {
            Self::English => ENGLISH_QUESTIONS,
            Self::German => GERMAN_QUESTIONS,
        };
        questions.contains(&first_word(message).as_str())
    }

    pub(super) fn help(self) -> &'static str {
        match self {
            Self::English => {
                "No model is connected yet, so I only understand a few sentences. Say “Remember that I only \
                 fly with hand luggage”, ask “What do I take on a flight?”, or say “Change hand luggage to one \
                 suitcase” or “Forget suitcase”. An empty chat shows how a model is connected; then you can \
                 talk freely."
            }
            Self::German => {
                "Hier antwortet noch kein Modell, deshalb verstehe ich nur wenige Sätze. Sag „Merke dir: Auf \
                 einem Flug nehme ich nur Handgepäck mit“, frag „Was nehme ich auf einem Flug mit?“, oder sag \
                 „Ändere nur Handgepäck in einen Koffer“ oder „Vergiss Koffer“. Ein leerer Chat zeigt, wie ein \
                 Modell verbunden wird; dann sind freie Gespräche möglich."
            }
        }
    }

    /// What was done, from the first line of a tool's answer; `None` if it was refused.
    pub(super) fn say_done(self, line: &str) -> Option<String> {
        const DONE: [(&str, &str, &str); 7] = [
            ("Saved", "Saved", "Gespeichert"),
            ("Already remembered", "Already saved", "Schon gespeichert"),
            (
                "Proposed, waiting for a yes",
                "Waits for your yes in Review",
                "Wartet in „Prüfen“ auf dein Ja",
            ),
            (
                "Already waiting for a yes",
                "Waits for your yes in Review",
                "Wartet in „Prüfen“ auf dein Ja",
            ),
            ("Updated", "Changed", "Geändert"),
            ("Corrected", "Corrected", "Berichtigt"),
            ("Forgotten", "Forgotten", "Vergessen"),
        ];
        let (done, rest) = line.split_once(": ")?;
        let rest = rest.split(". It is not used until").next().unwrap_or(rest);
        let (_, english, german) = DONE.iter().find(|(word, ..)| *word == done)?;
        let word = match self {
            Self::English => english,
            Self::German => german,
        };
        Some(format!("{word}: {rest}"))
    }

    pub(super) fn not_done(self) -> &'static str {
        match self {
            Self::English => {
                "That was not possible. Name the memory by words that it contains, or change it on the \
                 Memory page."
            }
            Self::German => {
                "Das ging nicht. Nenne Wörter, die in der Erinnerung vorkommen, oder ändere sie auf der \
                 Seite „Gedächtnis“."
            }
        }
    }

    pub(super) fn which_one(self) -> &'static str {
        match self {
            Self::English => "Which one do you mean?",
            Self::German => "Welche davon meinst du?",
        }
    }

    pub(super) fn found_nothing(self) -> &'static str {
        match self {
            Self::English => {
                "I found nothing about that in your memory. To save it, say “Remember that …”."
            }
            Self::German => "Darüber ist nichts gespeichert. Zum Speichern sag „Merke dir: …“.",
        }
    }

    pub(super) fn found_one(self) -> &'static str {
        match self {
            Self::English => "This is in your memory:",
            Self::German => "Das ist gespeichert:",
        }
    }

    pub(super) fn found_some(self) -> &'static str {
        match self {
            Self::English => "This is what I found in your memory, the best first:",
            Self::German => "Das ist dazu gespeichert, das Passendste zuerst:",
        }
    }

    pub(super) fn say_rest(self, count: usize) -> String {
        match (self, count) {
            (Self::English, 1) => "One more is less relevant.".to_owned(),
            (Self::English, _) => format!("{count} more are less relevant."),
            (Self::German, 1) => "Eine weitere passt weniger.".to_owned(),
            (Self::German, _) => format!("{count} weitere passen weniger."),
        }
    }
}

fn first_word(message: &str) -> String {
    let word = message.split(|c: char| !c.is_alphabetic()).find(|word| !word.is_empty());
    word.unwrap_or_default().to_lowercase()
}

/// The text with a capital first letter.
pub(super) fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
