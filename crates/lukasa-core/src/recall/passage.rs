//! Passages: what recall keeps of a memory or a turn. Each is a stretch short enough to be about one
//! thing, with its counted terms and the words to embed. All of it can be made again from the record.

use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::text::{Language, Sort, Term, Terms, passages, words};
use crate::fact::Version;
use crate::session::{Role, Turn};
use crate::time::Timestamp;

/// What a passage is a stretch of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    Fact,
    Turn,
}

impl Kind {
    pub fn as_str(self) -> &'static str {
        match self {
            Kind::Fact => "fact",
            Kind::Turn => "turn",
        }
    }

    pub fn parse(text: &str) -> Option<Self> {
        [Kind::Fact, Kind::Turn].into_iter().find(|kind| kind.as_str() == text)
    }
}

/// Where a turn stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub session: String,
    pub number: i32,
    pub role: Role,
    pub said_at: Timestamp,
    pub recorded_at: Timestamp,
}

/// A stretch of a version or of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The version or the turn.
    pub source: Uuid,
    pub part: i16,
    /// The fact, or again the turn.
    pub subject: Uuid,
    pub kind: Kind,
    pub language: Language,
    pub terms: Terms,
    /// The words an embedding is made from.
    pub text: String,
    pub place: Option<Place>,
}

impl Passage {
    /// Equal for equal words: an embedding of one serves the other.
    pub fn hash(&self) -> Vec<u8> {
        Sha256::digest(self.text.as_bytes())[..16].to_vec()
    }
}

/// At most so many passages are made of one text; what lies beyond is not found by recall.
const MOST: usize = 500;

/// The passages of a version: its line with its names, then its body.
pub fn of_version(version: &Version) -> Vec<Passage> {
    let claim = &version.claim;
    let mut line = claim.content.clone();
    for more in [claim.summary.as_deref(), claim.key.as_deref(), claim.domain.as_deref()] {
        line.push('\n');
        line.push_str(more.unwrap_or(""));
    }
    for tag in &claim.tags {
        line.push('\n');
        line.push_str(tag);
    }
    let detail = claim.detail.as_deref().unwrap_or("");
    let language = Language::of(&claim.content);
    let line = line.replace(['_', '-'], " ");
    // The line is embedded as it reads; its names are only looked up by their words.
    let whole = (line.as_str(), claim.content.as_str());
    let body = passages(detail).into_iter().filter(|text| !text.trim().is_empty());
    let texts = std::iter::once(whole).chain(body.map(|text| (text, text)));
    let passage = |(part, (terms, text)): (usize, (&str, &str))| Passage {
        source: version.id.uuid(),
        part: part as i16,
        subject: version.fact.uuid(),
        kind: Kind::Fact,
        language,
        terms: Terms::of(&words(terms, language), []),
        text: text.to_owned(),
        place: None,
    };
    texts.take(MOST).enumerate().map(passage).collect()
}

/// The passages of a turn. Each also bears the speaker's name and the date: people ask "what did
/// Anna say in May?"
pub fn of_turn(turn: &Turn) -> Vec<Passage> {
    let language = Language::of(&turn.content);
    let about = about(turn);
    let passage = |(part, text): (usize, &str)| Passage {
        source: turn.id.uuid(),
        part: part as i16,
        subject: turn.id.uuid(),
        kind: Kind::Turn,
        language,
        terms: Terms::of(&words(text, language), about.iter().copied()),
        // Who says it is part of what it means, where several people speak.
        text: match &turn.speaker {
            Some(name) => format!("{name}: {text}"),
            None => text.to_owned(),
        },
        place: Some(Place {
            session: turn.session.clone(),
            number: turn.number,
            role: turn.role,
            said_at: turn.said_at,
            recorded_at: turn.recorded_at,
        }),
    };
    passages(&turn.content).into_iter().take(MOST).enumerate().map(passage).collect()
}

/// The terms that every passage of a turn bears besides its own words.
fn about(turn: &Turn) -> Vec<Term> {
    let sorted = |text: &str, sort: Sort| {
        let words = words(text, Language::ENGLISH);
        words.into_iter().map(move |word| word.term.as_sort(sort)).collect::<Vec<_>>()
    };
    let mut about = sorted(&turn.said_at.strftime("%-d %B %Y").to_string(), Sort::Date);
    about.extend(sorted(turn.speaker.as_deref().unwrap_or(""), Sort::Speaker));
    about
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::tests::version;
    use crate::id::Ids;
    use crate::origin::{Origin, Voice};

    #[test]
    fn a_memory_is_found_by_its_line_its_names_and_its_body() {
        let mut version = version(Voice::stated(Origin::UserSaid));
        version.claim.content = "Drinks oolong".into();
        version.claim.key = Some("favourite_drink".into());
        version.claim.tags = vec!["beverage".into()];
        version.claim.detail = Some("Bought in Lisbon.".into());
        let made = of_version(&version);
        assert_eq!(made.len(), 2);
        for word in ["oolong", "favourit", "drink", "beverag"] {
            assert!(made[0].terms.count_of(Term::of(word)) > 0, "{word}");
        }
        assert_eq!(made[0].text, "Drinks oolong");
        assert!(made[1].terms.count_of(Term::of("lisbon")) > 0);
        assert_eq!((made[1].part, made[1].subject), (1, version.fact.uuid()));
    }

    #[test]
    fn a_turn_is_found_by_its_words_its_speaker_and_its_date() {
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
                ("potteri", Sort::Word),
                ("carolin", Sort::Speaker),
                ("may", Sort::Date),
                ("2023", Sort::Date),
            ] {
                assert!(passage.terms.count_of(Term::of(word).as_sort(sort)) > 0, "{word}");
            }
            assert!(passage.text.starts_with("Caroline: "));
        }
        assert_ne!(made[0].part, made[1].part);
    }
}
