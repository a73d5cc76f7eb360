//! Recurring topics of the user's recent sessions. A topic is a word that a session was about and
//! that the user typed in it; words that only a model or a pasted page used do not count. Topics
//! are counted, not inferred by a model.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use jiff::SignedDuration;
use lukasa_text::detect::Detector;
use lukasa_text::screen::{directive, ground, secret, sensitive};
use lukasa_text::terms::{Language, Term, Word, words};
use lukasa_text::topic;

use crate::domain::Domain;
use crate::fact::{Category, Claim, ClaimEvidence, Force, Kind, MemoryType, Version};
use crate::time::Timestamp;

/// How many of the latest sessions are examined (R103).
pub const MAX_RECENT_SESSIONS: usize = 10;
/// In how many of them a word must occur to be a topic (R103).
pub const MIN_TOPIC_SESSIONS: usize = 6;
/// The kind of evidence that names a whole session.
pub const SESSION_EVIDENCE: &str = "chat";
/// How long the memory of a recent topic is valid.
const TOPIC_LIFETIME: SignedDuration = SignedDuration::from_hours(24 * 30);
/// How many recent topics one consolidation run adds.
const MAX_TOPICS: usize = 3;
const TOPIC_PREFIX: &str = "Recently often talks about ";

/// The topic words of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionTopics {
    pub session: String,
    about: BTreeMap<Term, String>,
}

impl SessionTopics {
    /// `gist`: the summaries and facts stored for the session.
    pub fn of(session: &str, gist: &[&str]) -> Self {
        let about = gist.iter().flat_map(|text| topics_in(text)).collect();
        Self { session: session.to_owned(), about }
    }

    /// The same session, limited to the topic words that the user typed.
    #[must_use]
    pub fn typed(&self, typed: &[&str]) -> Self {
        let typed: BTreeMap<Term, String> = typed.iter().flat_map(|text| topics_in(text)).collect();
        let about = typed.into_iter().filter(|(term, _)| self.about.contains_key(term)).collect();
        Self { session: self.session.clone(), about }
    }
}

fn topics_in(text: &str) -> impl Iterator<Item = (Term, String)> {
    let language = Language::of(text);
    let says_something = move |word: &Word| {
        let written = &word.written;
        written.chars().count() >= 4
            && written.chars().all(char::is_alphabetic)
            && !topic::is_generic(word, language)
            && !ground::says_nothing(written)
    };
    let found = words(text, language).into_iter();
    found.filter(says_something).map(|word| (word.term, word.written))
}

/// A recurring topic, and the sessions it occurs in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topic {
    pub word: String,
    pub sessions: Vec<String>,
}

/// The topics that occur in enough of these sessions, which are the latest ones; the most frequent
/// first.
pub fn topics(chats: &[SessionTopics]) -> Vec<Topic> {
    let mut found: BTreeMap<Term, Topic> = BTreeMap::new();
    for chat in chats.iter().take(MAX_RECENT_SESSIONS) {
        for (term, word) in &chat.about {
            let topic = found
                .entry(*term)
                .or_insert_with(|| Topic { word: word.clone(), sessions: Vec::new() });
            topic.sessions.push(chat.session.clone());
            // The shortest form represents all forms, whichever session it is in.
            if (word.len(), word) < (topic.word.len(), &topic.word) {
                topic.word.clone_from(word);
            }
        }
    }
    let mut often: Vec<Topic> =
        found.into_values().filter(|topic| topic.sessions.len() >= MIN_TOPIC_SESSIONS).collect();
    often.sort_by(|a, b| b.sessions.len().cmp(&a.sessions.len()).then_with(|| a.word.cmp(&b.word)));
    often.truncate(MAX_TOPICS);
    often
}

/// The claim about a recent topic, and its confidence; `None` if the topic would need the user's
/// consent.
pub fn topic_claim(topic: &Topic, domains: &[Domain]) -> Option<(Claim, f32)> {
    let content = format!("{TOPIC_PREFIX}{}.", topic.word);
    let needs_consent = directive::is_directive(&content)
        || directive::authorises(&content)
        || secret::has_secret(&content)
        || needs_consent(&topic.word, domains);
    if needs_consent {
        return None;
    }
    let evidence =
        topic.sessions.iter().map(|session| ClaimEvidence::of(SESSION_EVIDENCE, session));
    let claim = Claim {
        category: Category::Context,
        memory_type: MemoryType::Task,
        kind: Kind::Context,
        evidence: evidence.collect(),
        reasoning: Some(format!("came up in {} of the last chats", topic.sessions.len())),
        ..Claim::saying(&content)
    };
    let confidence = topic.sessions.len() as f32 / MAX_RECENT_SESSIONS as f32;
    claim.faults().is_empty().then_some((claim, confidence.min(0.9)))
}

/// Whether a word needs the user's consent: because it is sensitive by itself or as something the
/// user has, or because its domain is sensitive.
fn needs_consent(word: &str, domains: &[Domain]) -> bool {
    static DETECTOR: LazyLock<Detector> = LazyLock::new(Detector::builtin);
    let texts = [word.to_owned(), format!("User has {word}."), format!("User is in {word}.")];
    let detected = DETECTOR.detect(word);
    let is_sensitive =
        |name: &str| domains.iter().any(|domain| domain.name == name && domain.sensitive);
    texts.iter().any(|text| sensitive::category(text).is_some())
        || detected.iter().any(|found| is_sensitive(&found.domain))
}

/// When the memory of a recent topic that is written now expires.
pub fn topic_expires_at(now: Timestamp) -> Timestamp {
    crate::time::micros(now + TOPIC_LIFETIME)
}

/// Whether a version is about a recent topic: the only kind of fact that consolidation may add.
pub fn is_recent_topic(version: &Version) -> bool {
    let claim = &version.claim;
    claim.content.starts_with(TOPIC_PREFIX)
        && claim.force == Force::Soft
        && claim.kind == Kind::Context
        && version.valid.until.is_some()
        && !version.is_firm()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::builtin_domains;

    fn chats(about: &[&str]) -> Vec<SessionTopics> {
        let chat = |(at, gist): (usize, &&str)| SessionTopics::of(&format!("c{at}"), &[gist]);
        about.iter().enumerate().map(chat).collect()
    }

    #[test]
    fn topic_needs_six_of_ten_sessions() {
        let about = |times: usize| {
            let gists: Vec<&str> = (0..10)
                .map(|n| if n < times { "User asked about tomatoes." } else { "" })
                .collect();
            topics(&chats(&gists))
        };
        let [topic] = &about(6)[..] else { panic!("one topic") };
        assert_eq!((topic.word.as_str(), topic.sessions.len()), ("tomatoes", 6));
        assert!(about(5).is_empty());
        let (claim, sure) = topic_claim(topic, &builtin_domains()).unwrap();
        assert_eq!(claim.content, "Recently often talks about tomatoes.");
        assert_eq!((claim.evidence.len(), sure), (6, 0.6));
    }

    #[test]
    fn generic_words_are_not_topics() {
        let gist = "User asked to read the reports, and the assistant summarized a report.";
        assert_eq!(topics(&chats(&[gist; 8])), []);
        let german = "Bericht lesen, Zusammenfassung schreiben.";
        assert_eq!(topics(&chats(&[german; 8])), []);
        let found = topics(&chats(&["User asked for a report about tomatoes."; 8]));
        assert_eq!(found.iter().map(|topic| topic.word.as_str()).collect::<Vec<_>>(), ["tomatoes"]);
    }

    #[test]
    fn topic_is_only_what_the_user_typed() {
        let sessions = chats(&["The user praised acme tomatoes."; 8]);
        let typed: Vec<SessionTopics> =
            sessions.iter().map(|chat| chat.typed(&["How do I grow a tomato?"])).collect();
        let found: Vec<String> = topics(&typed).into_iter().map(|topic| topic.word).collect();
        assert_eq!(found, ["tomato"]);
    }

    #[test]
    fn sensitive_words_are_not_topics() {
        for word in ["depression", "chemotherapy", "mortgage", "divorce"] {
            let topic = Topic { word: word.into(), sessions: vec!["c".into(); 6] };
            assert_eq!(topic_claim(&topic, &builtin_domains()), None, "{word}");
        }
    }
}
