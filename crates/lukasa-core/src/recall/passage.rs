//! Passages: the parts of a memory or a turn that recall indexes. Each is short enough to be about
//! one subject, with its term counts and the text to embed. Passages are derived data and can be
//! made again.

use lukasa_text::terms::{Language, Term, TermKind, Terms, passages, words};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::fact::{Version, value_text};
use crate::project::Project;
use crate::session::{Role, Turn};
use crate::time::Timestamp;

/// The kind of source of a passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum PassageKind {
    Fact,
    Turn,
}

impl PassageKind {
    pub fn as_str(self) -> &'static str {
        match self {
            PassageKind::Fact => "fact",
            PassageKind::Turn => "turn",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [PassageKind::Fact, PassageKind::Turn].into_iter().find(|kind| kind.as_str() == text)
    }
}

/// Position of a turn in its session.
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

/// A part of a version or of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The version or the turn.
    pub source: Uuid,
    pub part: i16,
    /// The fact, or again the turn.
    pub subject: Uuid,
    pub kind: PassageKind,
    pub language: Language,
    pub terms: Terms,
    /// The text that is embedded.
    pub text: String,
    pub place: Option<TurnPosition>,
}

impl Passage {
    /// Hash of the text: passages with equal texts share an embedding.
    pub fn hash(&self) -> Vec<u8> {
        Sha256::digest(self.text.as_bytes())[..16].to_vec()
    }
}

/// Maximum number of passages of one text; text beyond them is not found by recall.
const MAX_PASSAGES: usize = 500;

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
        text: text.to_owned(),
        place: None,
    };
    texts.take(MAX_PASSAGES).enumerate().map(passage).collect()
}

/// The passages of a turn. Each also has the speaker's name and the date as terms: people ask "what
/// did Anna say in May?"
pub fn of_turn(turn: &Turn) -> Vec<Passage> {
    let language = Language::of(&turn.content);
    let about = about(turn);
    let passage = |(part, text): (usize, &str)| Passage {
        source: turn.id.uuid(),
        part: part as i16,
        subject: turn.id.uuid(),
        kind: PassageKind::Turn,
        language,
        terms: Terms::of(&words(text, language), about.iter().copied()),
        // With several speakers, the name is part of the meaning.
        text: match &turn.speaker {
            Some(name) => format!("{name}: {text}"),
            None => text.to_owned(),
        },
        place: Some(TurnPosition {
            session: turn.session.clone(),
            project: None,
            number: turn.number,
            role: turn.role,
            said_at: turn.said_at,
            recorded_at: turn.recorded_at,
        }),
    };
    passages(&turn.content).into_iter().take(MAX_PASSAGES).enumerate().map(passage).collect()
}

/// Speaker and date terms that are added to every passage of a turn.
fn about(turn: &Turn) -> Vec<Term> {
    let sorted = |text: &str, sort: TermKind| {
        let words = words(text, Language::ENGLISH);
        words.into_iter().map(move |word| word.term.as_sort(sort)).collect::<Vec<_>>()
    };
    let mut about = sorted(&turn.said_at.strftime("%-d %B %Y").to_string(), TermKind::Date);
    about.extend(sorted(turn.speaker.as_deref().unwrap_or(""), TermKind::Speaker));
    about
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
        assert_eq!(made[0].text, "Drinks oolong");
        assert!(made[1].terms.count_of(Term::of("lisbon")) > 0);
        assert_eq!((made[1].part, made[1].subject), (1, version.fact.uuid()));
    }

    #[test]
    fn passages_of_a_turn_cover_words_speaker_and_date() {
        let mut ids = Ids::new(Timestamp::UNIX_EPOCH, [1; 16]);
        let turn = Turn {
            id: ids.turn(),
            session: "s".into(),
            number: 1,
            role: Role::User,
            speaker: Some("Caroline".into()),
            content: "I went to the pottery class. ".repeat(60),
            origin: Origin::UserTurn,
            said_at: "2023-05-08T12:00:00Z".parse().unwrap(),
            recorded_at: Timestamp::UNIX_EPOCH,
            spans: Vec::new(),
            marked: false,
        };
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
            assert!(passage.text.starts_with("Caroline: "));
        }
        assert_ne!(made[0].part, made[1].part);
    }
}
