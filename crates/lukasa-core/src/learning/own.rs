//! What users say of themselves in their own sentences. The rules find the sentences, the model says
//! for each what it is, and the words that are stored stay the user's: a model that paraphrases badly
//! or overlooks a sentence loses nothing.

use lukasa_text::screen::ground;
use lukasa_text::statement;

use super::answer::{ExtractionAnswer, ExtractionOp, ProposedMemory, Quote, SentenceKind};
use super::transcript::Transcript;
use crate::fact::Kind;
use crate::limits;
use crate::origin::Origin;
use crate::session::Role;

/// Maximum number of sentences that one request asks about.
const MAX_SENTENCES: usize = 24;
/// Confidence of a memory in the user's own words: it is found by recall, and in every prompt only
/// after it was confirmed.
const CONFIDENCE: f32 = 0.6;
const IMPORTANCE: f32 = 0.5;

/// A sentence that the user typed about themselves, under a handle that is valid for one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnStatement {
    pub handle: String,
    /// The claim in the user's words.
    pub content: String,
    /// The sentence as it was typed.
    pub sentence: String,
    pub turn: i32,
}

/// The sentences that the user typed about themselves, in order.
pub fn own_statements(news: &Transcript) -> Vec<OwnStatement> {
    let turns = news.turns.iter().filter(|turn| turn.role == Role::User);
    let typed = turns.flat_map(|turn| turn.pieces.iter().map(move |piece| (turn.number, piece)));
    let typed = typed.filter(|(_, piece)| piece.origin >= Origin::UserTurn && piece.mark.is_none());
    let found = typed.flat_map(|(turn, piece)| {
        let own = statement::own_sentences(&piece.text).into_iter();
        own.map(move |own| (turn, own.content, piece.text[own.at].trim().to_owned()))
    });
    let fits = |(_, _, sentence): &(i32, String, String)| {
        sentence.chars().count() <= limits::EVIDENCE_CHARS
    };
    let numbered = found.filter(fits).take(MAX_SENTENCES).enumerate();
    let statement = |(place, (turn, content, sentence)): (usize, (i32, String, String))| {
        OwnStatement { handle: format!("s{}", place + 1), content, sentence, turn }
    };
    numbered.map(statement).collect()
}

/// Adds to an answer the sentences that the model calls lasting and has made no memory of. A memory
/// that says what its sentence does not gets the user's own words.
pub fn complete(answer: &mut ExtractionAnswer, news: &Transcript) {
    if answer.sentences.is_empty() {
        return;
    }
    for own in own_statements(news) {
        let Some(kind) = answer.sentences.get(&own.handle).and_then(|kind| kind.lasting()) else {
            continue;
        };
        let quotes = |item: &ProposedMemory| {
            item.evidence.iter().any(|quote| is_within(&quote.text, &own.sentence))
        };
        let mut quoting = answer.items.iter_mut().filter(|item| quotes(item)).peekable();
        if quoting.peek().is_none() {
            answer.items.push(proposal(&own, kind));
            continue;
        }
        let unsupported = |item: &&mut ProposedMemory| {
            item.op == ExtractionOp::Add && !is_supported(&item.content, &own.sentence)
        };
        if let Some(item) = quoting.find(unsupported) {
            item.content.clone_from(&own.content);
        }
    }
    remove_repeated(&mut answer.items);
}

/// Whether a quotation is a part of a sentence, or the sentence of the quotation.
fn is_within(quote: &str, sentence: &str) -> bool {
    let plain = |text: &str| {
        let folded = text.to_lowercase().replace('’', "'");
        folded.trim_matches(|c: char| !c.is_alphanumeric()).to_owned()
    };
    let (quote, sentence) = (plain(quote), plain(sentence));
    !quote.is_empty() && (sentence.contains(&quote) || quote.contains(&sentence))
}

fn is_supported(claim: &str, sentence: &str) -> bool {
    ground::grounded(claim, &[sentence]) && ground::carries(claim, sentence)
}

fn remove_repeated(items: &mut Vec<ProposedMemory>) {
    let mut seen = std::collections::BTreeSet::new();
    items.retain(|item| item.op != ExtractionOp::Add || seen.insert(item.content.to_lowercase()));
}

fn proposal(own: &OwnStatement, kind: Kind) -> ProposedMemory {
    ProposedMemory {
        op: ExtractionOp::Add,
        target: None,
        content: own.content.clone(),
        memory_type: None,
        kind,
        domain: None,
        importance: IMPORTANCE,
        confidence: CONFIDENCE,
        until: None,
        reasoning: None,
        evidence: vec![Quote { turn: Some(own.turn), text: own.sentence.clone() }],
    }
}

impl SentenceKind {
    /// The kind of memory that such a sentence makes; `None` if it makes none.
    fn lasting(self) -> Option<Kind> {
        match self {
            SentenceKind::Fact => Some(Kind::Fact),
            SentenceKind::Preference => Some(Kind::Preference),
            SentenceKind::Plan => Some(Kind::Project),
            SentenceKind::Task | SentenceKind::Chat => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer;
    use super::super::transcript::tests::turn;
    use super::*;

    fn news() -> Transcript {
        Transcript::of(&[
            turn(1, Role::User, "I run a bike café with my cousin. What is a fair margin?"),
            turn(2, Role::Assistant, "I am a language model and I like margins."),
            turn(3, Role::User, "My sister Ana lives in Braga, I visit her every spring."),
        ])
    }

    fn completed(text: &str) -> Vec<String> {
        let mut read = answer::read(text).unwrap();
        complete(&mut read, &news());
        read.items.into_iter().map(|item| item.content).collect()
    }

    #[test]
    fn own_statements_are_numbered_sentences_of_the_user() {
        let found = own_statements(&news());
        let found: Vec<(&str, i32, &str)> =
            found.iter().map(|own| (own.handle.as_str(), own.turn, own.content.as_str())).collect();
        assert_eq!(
            found,
            [
                ("s1", 1, "User runs a bike café with their cousin."),
                ("s2", 3, "User's sister Ana lives in Braga, they visit her every spring."),
            ]
        );
    }

    #[test]
    fn overlooked_sentence_is_proposed_in_the_users_words() {
        let text = r#"{"memories": [], "sentences": {"s1": "fact", "s2": "chat", "s9": "fact"}}"#;
        assert_eq!(completed(text), ["User runs a bike café with their cousin."]);
        assert!(completed(r#"{"memories": []}"#).is_empty());
    }

    #[test]
    fn memory_its_sentence_does_not_support_gets_the_users_words() {
        let item = |content: &str| {
            let quote = "I run a bike café with my cousin";
            let memory = serde_json::json!({"op": "new", "content": content, "quote": quote});
            let kinds = serde_json::json!({"s1": "fact", "s2": "task"});
            serde_json::json!({"memories": [memory], "sentences": kinds}).to_string()
        };
        let good = "User runs a bike café with a cousin.";
        assert_eq!(completed(&item(good)), [good]);
        let own = "User runs a bike café with their cousin.";
        assert_eq!(completed(&item("User lives in Copenhagen.")), [own]);
    }
}
