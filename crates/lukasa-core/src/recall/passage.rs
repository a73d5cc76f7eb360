//! Passages: the parts of a memory, a turn or an episode that recall indexes. Each is short enough to be about
//! one subject, with its term counts and the text to embed. Passages are derived data and can be
//! made again.

use std::collections::HashSet;

use lukasa_text::terms::{Language, PASSAGE_TERMS, Term, TermKind, Terms, Word, passages, words};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::episode::Episode;
use crate::fact::{Version, value_text};
use crate::project::Project;
use crate::session::{Role, Turn};
use crate::time::Timestamp;

crate::words!(
    /// The kind of source of a passage.
    PassageKind {
        Fact = "fact",
        Turn = "turn",
        Episode = "episode",
    }
);

/// Position of a turn in its session, or of the last turn of an episode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnPosition {
    pub session: String,
    /// The project of the session. It is read from there, so it is absent in a new passage.
    pub project: Option<Project>,
    pub number: i32,
    pub role: Role,
    pub said_at: Timestamp,
    pub recorded_at: Timestamp,
}

/// A part of a version, a turn or an episode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The version, the turn or the episode.
    pub source: Uuid,
    pub part: i16,
    /// The fact, or again the source.
    pub subject: Uuid,
    pub kind: PassageKind,
    pub language: Language,
    pub terms: Terms,
    /// The text that is embedded; absent if it is found by words alone.
    pub text: Option<String>,
    pub place: Option<TurnPosition>,
}

impl Passage {
    /// Hash of the text: passages with equal texts share an embedding.
    pub fn hash(&self) -> Vec<u8> {
        let text = self.text.as_deref().unwrap_or("");
        Sha256::digest(text.as_bytes())[..16].to_vec()
    }
}

/// Maximum number of passages of one text; text beyond them is not found by recall.
const MAX_PASSAGES: usize = 500;

/// Maximum bytes of terms and session name together, so that a passage fits into an index row.
const MAX_ROW_BYTES: usize = 2_500;

/// The passages of a version: its line with its names, then its body.
pub fn of_version(version: &Version) -> Vec<Passage> {
    let claim = &version.claim;
    let mut line = claim.content.clone();
    for more in [claim.summary.as_deref(), claim.key.as_deref(), claim.domain.as_deref()] {
        line.push('\n');
        line.push_str(more.unwrap_or(""));
    }
    if let Some(value) = &claim.value {
        line.push('\n');
        line.push_str(&value_text(value));
    }
    for tag in &claim.tags {
        line.push('\n');
        line.push_str(tag);
    }
    let detail = claim.detail.as_deref().unwrap_or("");
    let language = Language::of(&claim.content);
    let line = line.replace(['_', '-'], " ");
    // Only the content is embedded; the names are found by keywords.
    let whole = (line.as_str(), claim.content.as_str());
    let body = passages(detail).into_iter().filter(|text| !text.trim().is_empty());
    let texts = std::iter::once(whole).chain(body.map(|text| (text, text)));
    let passage = |(part, (terms, text)): (usize, (&str, &str))| Passage {
        source: version.id.uuid(),
        part: part as i16,
        subject: version.fact.uuid(),
        kind: PassageKind::Fact,
        language,
        terms: Terms::of(&words(terms, language), []),
        text: Some(text.to_owned()),
        place: None,
    };
    texts.take(MAX_PASSAGES).enumerate().map(passage).collect()
}

/// The passages of a turn. Each also has the speaker's name and the date as terms: people ask "what
/// did Anna say in May?"
///
/// Recall ranks the user's own turns. Those of other roles give a session its words, and are found
/// by words alone, so they are not embedded, and their passages have no pairs of words and are as
/// long as an index row allows.
pub fn of_turn(turn: &Turn) -> Vec<Passage> {
    let language = Language::of(&turn.content);
    let about = turn_terms(turn);
    let limit = max_terms(&turn.session);
    let passage = |part: usize, terms: Terms, text: Option<String>| Passage {
        source: turn.id.uuid(),
        part: part as i16,
        subject: turn.id.uuid(),
        kind: PassageKind::Turn,
        language,
        terms,
        text,
        place: Some(TurnPosition {
            session: turn.session.clone(),
            project: None,
            number: turn.number,
            role: turn.role,
            said_at: turn.said_at,
            recorded_at: turn.recorded_at,
        }),
    };
    let texts = passages(&turn.content).into_iter().take(MAX_PASSAGES);
    if turn.role == Role::User {
        let own = |(part, text): (usize, &str)| {
            let terms = Terms::of(&words(text, language), about.iter().copied()).at_most(limit);
            // With several speakers, the name is part of the meaning.
            let text = match &turn.speaker {
                Some(name) => format!("{name}: {text}"),
                None => text.to_owned(),
            };
            passage(part, terms, Some(text))
        };
        return texts.enumerate().map(own).collect();
    }
    let parts = joined(texts.map(|text| words(text, language)), limit - about.len().min(limit));
    let part = |(part, words): (usize, Vec<Word>)| {
        let terms = Terms::without_pairs(&words, about.iter().copied()).at_most(limit);
        passage(part, terms, None)
    };
    parts.into_iter().enumerate().map(part).collect()
}

/// The passages of an episode: its title and its summary, with the dates of its turns as terms. They
/// are ranked like the user's own turns.
pub fn of_episode(episode: &Episode) -> Vec<Passage> {
    let text = match &episode.title {
        Some(title) => format!("{title}. {}", episode.summary),
        None => episode.summary.clone(),
    };
    let language = Language::of(&text);
    let limit = max_terms(&episode.session);
    let mut about = date_terms(episode.ended_at);
    about.extend(date_terms(episode.started_at));
    about.sort_unstable();
    about.dedup();
    let passage = |(part, text): (usize, &str)| Passage {
        source: episode.id.uuid(),
        part: part as i16,
        subject: episode.id.uuid(),
        kind: PassageKind::Episode,
        language,
        terms: Terms::of(&words(text, language), about.iter().copied()).at_most(limit),
        text: Some(text.to_owned()),
        place: Some(TurnPosition {
            session: episode.session.clone(),
            project: None,
            number: episode.last_turn,
            role: Role::User,
            said_at: episode.ended_at,
            recorded_at: episode.recorded_at,
        }),
    };
    passages(&text).into_iter().take(MAX_PASSAGES).enumerate().map(passage).collect()
}

/// Maximum number of terms of a passage. The name of its session is in the same row, which leaves
/// less room for them.
fn max_terms(session: &str) -> usize {
    PASSAGE_TERMS.min((MAX_ROW_BYTES - session.len().min(MAX_ROW_BYTES)) / 5)
}

/// Joins lists of words as long as they have at most `limit` distinct terms together.
fn joined(lists: impl Iterator<Item = Vec<Word>>, limit: usize) -> Vec<Vec<Word>> {
    let mut parts: Vec<Vec<Word>> = Vec::new();
    let mut distinct: HashSet<Term> = HashSet::new();
    for words in lists {
        let new: HashSet<Term> = words.iter().map(|word| word.term).collect();
        let added = new.difference(&distinct).count();
        match parts.last_mut() {
            Some(part) if distinct.len() + added <= limit => {
                part.extend(words);
                distinct.extend(new);
            }
            _ => {
                parts.push(words);
                distinct = new;
            }
        }
    }
    parts
}

/// Speaker and date terms that are added to every passage of a turn.
fn turn_terms(turn: &Turn) -> Vec<Term> {
    let mut about = date_terms(turn.said_at);
    about.extend(terms_of_sort(turn.speaker.as_deref().unwrap_or(""), TermKind::Speaker));
    about
}

fn date_terms(at: Timestamp) -> Vec<Term> {
    terms_of_sort(&at.strftime("%-d %B %Y").to_string(), TermKind::Date)
}

fn terms_of_sort(text: &str, sort: TermKind) -> Vec<Term> {
    let words = words(text, Language::ENGLISH);
    words.into_iter().map(|word| word.term.as_sort(sort)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::tests::version;
    use crate::id::Ids;
    use crate::origin::{Origin, Voice};

    #[test]
    fn passages_of_a_memory_cover_content_names_and_detail() {
        let mut version = version(Voice::stated(Origin::UserSaid));
        version.claim.content = "Drinks oolong".into();
        version.claim.key = Some("favourite_drink".into());
        version.claim.value = Some(serde_json::json!({"kind": ["milky", "green"], "cups": 2}));
        version.claim.tags = vec!["beverage".into()];
        version.claim.detail = Some("Bought in Lisbon.".into());
        let made = of_version(&version);
        assert_eq!(made.len(), 2);
        for word in ["oolong", "favourit", "drink", "beverag", "milki", "green"] {
            assert!(made[0].terms.count_of(Term::of(word)) > 0, "{word}");
        }
        assert_eq!(made[0].text.as_deref(), Some("Drinks oolong"));
        assert!(made[1].terms.count_of(Term::of("lisbon")) > 0);
        assert_eq!((made[1].part, made[1].subject), (1, version.fact.uuid()));
    }

    #[test]
    fn passages_of_a_turn_cover_words_speaker_and_date() {
        let mut turn = turn(Role::User, "I went to the pottery class. ".repeat(60));
        turn.speaker = Some("Caroline".into());
        let made = of_turn(&turn);
        assert!(made.len() > 1);
        for passage in &made {
            for (word, sort) in [
                ("potteri", TermKind::Word),
                ("carolin", TermKind::Speaker),
                ("may", TermKind::Date),
                ("2023", TermKind::Date),
            ] {
                assert!(passage.terms.count_of(Term::of(word).as_sort(sort)) > 0, "{word}");
            }
            assert!(passage.text.as_ref().unwrap().starts_with("Caroline: "));
        }
        assert_ne!(made[0].part, made[1].part);
    }

    fn turn(role: Role, content: String) -> Turn {
        let mut ids = Ids::new(Timestamp::UNIX_EPOCH, [1; 16]);
        Turn {
            id: ids.turn(),
            session: "s".into(),
            number: 1,
            role,
            speaker: None,
            content,
            origin: Origin::UserTurn,
            said_at: "2023-05-08T12:00:00Z".parse().unwrap(),
            recorded_at: Timestamp::UNIX_EPOCH,
            spans: Vec::new(),
            marked: false,
        }
    }

    #[test]
    fn passages_of_an_episode_cover_title_summary_and_dates() {
        let mut ids = Ids::new(Timestamp::UNIX_EPOCH, [2; 16]);
        let mut episode = Episode {
            id: ids.episode(),
            session: "s".into(),
            first_turn: 2,
            last_turn: 9,
            title: Some("Kitchen".into()),
            summary: "Compared oak and beech worktops.".into(),
            origin: Origin::UserTurn,
            started_at: "2023-05-08T12:00:00Z".parse().unwrap(),
            ended_at: "2023-06-09T12:00:00Z".parse().unwrap(),
            pass: ids.pass(),
            prompt: "extract/1".into(),
            recorded_at: Timestamp::UNIX_EPOCH,
            searchable: true,
        };
        let made = of_episode(&episode);
        assert_eq!((made.len(), made[0].kind), (1, PassageKind::Episode));
        assert_eq!(made[0].text.as_deref(), Some("Kitchen. Compared oak and beech worktops."));
        for (word, sort) in [
            ("kitchen", TermKind::Word),
            ("beech", TermKind::Word),
            ("may", TermKind::Date),
            ("june", TermKind::Date),
        ] {
            assert!(made[0].terms.count_of(Term::of(word).as_sort(sort)) > 0, "{word}");
        }
        assert_eq!(made[0].place.as_ref().map(|place| place.number), Some(9));
        episode.session = "\u{1F980}".repeat(255);
        episode.summary = (0..900).map(|n| format!("word{n} ")).collect();
        for passage in of_episode(&episode) {
            assert!(passage.terms.to_bytes().len() + episode.session.len() <= MAX_ROW_BYTES);
        }
    }

    #[test]
    fn passages_of_assistant_turn_have_all_words_but_no_text_and_no_pairs() {
        let content: String = (0..900).map(|n| format!("word{n} alpha. ")).collect();
        let made = of_turn(&turn(Role::Assistant, content.clone()));
        let own = of_turn(&turn(Role::User, content));
        assert!(made.len() < own.len(), "{} and {}", made.len(), own.len());
        assert!(made.iter().all(|passage| passage.text.is_none()));
        let count = |term: Term| -> u32 {
            made.iter().map(|passage| u32::from(passage.terms.count_of(term))).sum()
        };
        assert!((0..900).all(|n| count(Term::of(&format!("word{n}"))) == 1));
        assert_eq!(count(Term::pair(Term::of("word1"), Term::of("alpha"))), 0);
        assert_eq!(made.iter().map(|p| p.terms.words).sum::<u32>(), 1_800);
        assert!(made.iter().all(|passage| passage.terms.counts.len() <= PASSAGE_TERMS));
    }

    #[test]
    fn passage_and_longest_session_name_fit_into_an_index_row() {
        let content: String = (0..900).map(|n| format!("word{n} ")).collect();
        for role in [Role::User, Role::Assistant] {
            let mut turn = turn(role, content.clone());
            turn.session = "\u{1F980}".repeat(255);
            for passage in of_turn(&turn) {
                let bytes = passage.terms.to_bytes().len() + turn.session.len();
                assert!(bytes <= MAX_ROW_BYTES, "{bytes}");
            }
        }
    }
}
