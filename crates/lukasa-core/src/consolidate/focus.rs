//! What somebody talks about again and again lately. A topic is a word that a chat was about and that
//! its person typed in it; what only a model or a pasted page brought up is none. Counted, not guessed.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::SignedDuration;

use crate::detect::Detector;
use crate::domain::Domain;
use crate::fact::{Category, Claim, Evidence, Force, Kind, MemoryType, Version};
use crate::recall::text::{Language, Term, words};
use crate::screen::{directive, ground, secret, sensitive};
use crate::time::Timestamp;

/// Out of how many chats, and in how many of them it must come up (R103).
pub const LOOKED_AT: usize = 10;
pub const OFTEN: usize = 6;
/// The kind of evidence that names a whole chat.
pub const CHAT: &str = "chat";
/// How long it is remembered.
const LASTS: SignedDuration = SignedDuration::from_hours(24 * 30);
/// How many topics one night notes.
const MOST: usize = 3;
const OPENING: &str = "Lately often talks about ";

/// Words that chats are made of, whatever they are about.
const CHATTER: [&str; 52] = [
    "answer",
    "answers",
    "asked",
    "asks",
    "assistant",
    "case",
    "cases",
    "chat",
    "chatted",
    "conversation",
    "details",
    "discussed",
    "discusses",
    "discussion",
    "explained",
    "good",
    "great",
    "hello",
    "help",
    "helped",
    "here",
    "know",
    "like",
    "long",
    "look",
    "looking",
    "make",
    "morning",
    "need",
    "needs",
    "number",
    "numbers",
    "please",
    "question",
    "questions",
    "really",
    "recommend",
    "shared",
    "something",
    "suggested",
    "talk",
    "talked",
    "talking",
    "thank",
    "thanks",
    "thing",
    "things",
    "think",
    "time",
    "today",
    "want",
    "wants",
];

/// A chat by the words it was about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chat {
    pub session: String,
    about: BTreeMap<Term, String>,
}

impl Chat {
    /// `gist` is what is remembered of the chat.
    pub fn of(session: &str, gist: &[&str]) -> Self {
        let about = gist.iter().flat_map(|text| topics_in(text)).collect();
        Self { session: session.to_owned(), about }
    }

    /// The same chat, about no more than its person typed in it.
    #[must_use]
    pub fn typed(&self, typed: &[&str]) -> Self {
        let said: BTreeMap<Term, String> = typed.iter().flat_map(|text| topics_in(text)).collect();
        let about = said.into_iter().filter(|(term, _)| self.about.contains_key(term)).collect();
        Self { session: self.session.clone(), about }
    }
}

fn topics_in(text: &str) -> impl Iterator<Item = (Term, String)> {
    let says_something = |word: &str| {
        word.chars().count() >= 4
            && word.chars().all(char::is_alphabetic)
            && CHATTER.binary_search(&word).is_err()
            && !ground::says_nothing(word)
    };
    let found = words(text, Language::of(text)).into_iter();
    found.filter(move |word| says_something(&word.written)).map(|word| (word.term, word.written))
}

/// What comes up often, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    pub word: String,
    pub sessions: Vec<String>,
}

/// The topics that come up in enough of these chats, which are the last ones: what comes up most
/// first.
pub fn topics(chats: &[Chat]) -> Vec<Topic> {
    let mut found: BTreeMap<Term, Topic> = BTreeMap::new();
    for chat in chats.iter().take(LOOKED_AT) {
        for (term, word) in &chat.about {
            let topic = found
                .entry(*term)
                .or_insert_with(|| Topic { word: word.clone(), sessions: Vec::new() });
            topic.sessions.push(chat.session.clone());
            // One word for all its forms, whichever chat has it.
            if (word.len(), word) < (topic.word.len(), &topic.word) {
                topic.word.clone_from(word);
            }
        }
    }
    let mut often: Vec<Topic> =
        found.into_values().filter(|topic| topic.sessions.len() >= OFTEN).collect();
    often.sort_by(|a, b| b.sessions.len().cmp(&a.sessions.len()).then_with(|| a.word.cmp(&b.word)));
    often.truncate(MOST);
    often
}

/// A note of the topic and how sure it is; nothing if it is of a kind that its person is asked about
/// first.
pub fn note(topic: &Topic, domains: &[Domain]) -> Option<(Claim, f32)> {
    let content = format!("{OPENING}{}.", topic.word);
    let asks = directive::is_directive(&content)
        || directive::authorises(&content)
        || secret::has_secret(&content)
        || is_guarded(&topic.word, domains);
    if asks {
        return None;
    }
    let evidence = topic.sessions.iter().map(|session| Evidence::of(CHAT, session));
    let claim = Claim {
        category: Category::Context,
        memory_type: MemoryType::Task,
        kind: Kind::Context,
        evidence: evidence.collect(),
        reasoning: Some(format!("came up in {} of the last chats", topic.sessions.len())),
        ..Claim::saying(&content)
    };
    let sure = topic.sessions.len() as f32 / LOOKED_AT as f32;
    claim.faults().is_empty().then_some((claim, sure.min(0.9)))
}

/// Whether a word is about something that asks its person first: by itself, as something they have, or
/// by the domain it is of.
fn is_guarded(word: &str, domains: &[Domain]) -> bool {
    static DETECTOR: LazyLock<Detector> = LazyLock::new(Detector::builtin);
    let said = [word.to_owned(), format!("User has {word}."), format!("User is in {word}.")];
    let of = DETECTOR.detect(word);
    let guarded = |name: &str| domains.iter().any(|domain| domain.name == name && domain.sensitive);
    said.iter().any(|text| sensitive::category(text).is_some())
        || of.iter().any(|found| guarded(&found.domain))
}

/// When a note of something said lately has had its time.
pub fn until(now: Timestamp) -> Timestamp {
    crate::time::micros(now + LASTS)
}

/// Whether a version is such a note: the only thing a night may add.
pub fn is_note(version: &Version) -> bool {
    let claim = &version.claim;
    claim.content.starts_with(OPENING)
        && claim.force == Force::Soft
        && claim.kind == Kind::Context
        && version.valid.until.is_some()
        && !version.is_firm()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::builtin_domains;

    fn chats(about: &[&str]) -> Vec<Chat> {
        let chat = |(at, gist): (usize, &&str)| Chat::of(&format!("c{at}"), &[gist]);
        about.iter().enumerate().map(chat).collect()
    }

    #[test]
    fn the_words_of_chatter_can_be_searched() {
        assert!(CHATTER.is_sorted());
    }

    #[test]
    fn six_of_ten_chats_make_a_topic_and_five_do_not() {
        let about = |times: usize| {
            let gists: Vec<&str> = (0..10)
                .map(|n| if n < times { "User asked about tomatoes." } else { "" })
                .collect();
            topics(&chats(&gists))
        };
        let [topic] = &about(6)[..] else { panic!("one topic") };
        assert_eq!((topic.word.as_str(), topic.sessions.len()), ("tomatoes", 6));
        assert!(about(5).is_empty());
        let (claim, sure) = note(topic, &builtin_domains()).unwrap();
        assert_eq!(claim.content, "Lately often talks about tomatoes.");
        assert_eq!((claim.evidence.len(), sure), (6, 0.6));
    }

    #[test]
    fn only_what_its_person_typed_is_a_topic() {
        let told = chats(&["The user praised acme tomatoes."; 8]);
        let typed: Vec<Chat> =
            told.iter().map(|chat| chat.typed(&["How do I grow a tomato?"])).collect();
        let found: Vec<String> = topics(&typed).into_iter().map(|topic| topic.word).collect();
        assert_eq!(found, ["tomato"]);
    }

    #[test]
    fn what_needs_consent_is_no_topic() {
        for word in ["depression", "chemotherapy", "mortgage", "divorce"] {
            let topic = Topic { word: word.into(), sessions: vec!["c".into(); 6] };
            assert_eq!(note(&topic, &builtin_domains()), None, "{word}");
        }
    }
}
