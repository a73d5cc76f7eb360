//! What users say of themselves in their own sentences. The rules find the sentences, and the words
//! that are stored stay the user's: a model that paraphrases badly or overlooks a sentence loses
//! nothing.
//!
//! The model says for each sentence what it is. Small models often answer this wrongly, so a few
//! sentences with a known answer are among those that it is asked about. If it gets one of them wrong,
//! the rules decide alone, and its own proposals wait as candidates.

use lukasa_text::screen::ground;
use lukasa_text::statement;

use super::answer::{ExtractionAnswer, ExtractionOp, ProposedMemory, Quote, SentenceKind};
use super::transcript::Transcript;
use crate::fact::Kind;
use crate::limits;
use crate::origin::Origin;
use crate::session::Role;

/// Name of the rules, in place of a prompt's, in a pass without a model. It changes with the rules.
pub const RULES: &str = "rules/1";
/// Maximum number of sentences that one request asks about.
const MAX_SENTENCES: usize = 24;
/// Confidence of a memory in the user's own words: it is found by recall, and in every prompt only
/// after it was confirmed.
const CONFIDENCE: f32 = 0.6;
const IMPORTANCE: f32 = 0.5;
/// Confidence of a proposal by a model that failed the controls: a candidate.
const UNTRUSTED_CONFIDENCE: f32 = 0.2;

/// Sentences that no user typed, and whether each is lasting.
const CONTROLS: [(&str, bool); 3] = [
    ("I have worked as a baker since 2011.", true),
    ("Thanks, that one works.", false),
    ("Make it a bit shorter now.", false),
];

/// A sentence that the model is asked about, under a handle that is valid for one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedSentence {
    pub handle: String,
    pub source: SentenceSource,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SentenceSource {
    User(OwnStatement),
    /// A sentence with a known answer.
    Control {
        text: &'static str,
        is_lasting: bool,
    },
}

impl NumberedSentence {
    pub fn text(&self) -> &str {
        match &self.source {
            SentenceSource::User(own) => &own.sentence,
            SentenceSource::Control { text, .. } => text,
        }
    }
}

/// A sentence that the user typed about themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnStatement {
    /// The claim in the user's words.
    pub content: String,
    /// The sentence as it was typed.
    pub sentence: String,
    pub turn: i32,
}

/// The sentences that the user typed about themselves, in order. Left out is what the user corrects in
/// the next message.
pub fn own_statements(news: &Transcript) -> Vec<OwnStatement> {
    let turns: Vec<_> = news.turns.iter().filter(|turn| turn.role == Role::User).collect();
    let typed = |place: usize| {
        let pieces = turns.get(place).into_iter().flat_map(|turn| &turn.pieces);
        pieces.filter(|piece| piece.origin >= Origin::UserTurn && piece.mark.is_none())
    };
    let is_corrected = |place: usize| {
        typed(place + 1).any(|piece| {
            statement::signals_change(&piece.text) == Some(statement::StatementKind::Correct)
        })
    };
    let mut found = Vec::new();
    for (place, turn) in turns.iter().enumerate().filter(|(place, _)| !is_corrected(*place)) {
        for piece in typed(place) {
            found.extend(statement::own_sentences(&piece.text).into_iter().map(|own| {
                let sentence = piece.text[own.at].trim().to_owned();
                OwnStatement { content: own.content, sentence, turn: turn.number }
            }));
        }
    }
    found.retain(|own| own.sentence.chars().count() <= limits::EVIDENCE_CHARS);
    found
}

/// Up to `MAX_SENTENCES` of the user's sentences with the controls inserted. Empty if the user typed none.
pub fn numbered_sentences(news: &Transcript) -> Vec<NumberedSentence> {
    let mut own = own_statements(news);
    own.truncate(MAX_SENTENCES);
    if own.is_empty() {
        return Vec::new();
    }
    let middle = own.len().div_ceil(2);
    let mut sources: Vec<SentenceSource> = own.into_iter().map(SentenceSource::User).collect();
    let control = |place: usize| {
        let (text, is_lasting) = CONTROLS[place];
        SentenceSource::Control { text, is_lasting }
    };
    sources.push(control(2));
    sources.insert(middle, control(1));
    sources.insert(0, control(0));
    let numbered = sources.into_iter().enumerate();
    numbered
        .map(|(place, source)| NumberedSentence { handle: format!("s{}", place + 1), source })
        .collect()
}

/// The answer of the rules alone, if there is no model: every sentence that the user typed about
/// themselves is a memory in the user's words.
pub fn by_rules(news: &Transcript) -> ExtractionAnswer {
    let own = own_statements(news);
    let mut items: Vec<_> = own.iter().map(|own| proposal(own, Kind::Fact)).collect();
    remove_repeated(&mut items);
    ExtractionAnswer { items, ..ExtractionAnswer::default() }
}

/// Adds to an answer the lasting sentences of the user that the model has made no memory of. A memory
/// that says what its sentence does not gets the user's own words.
/// An answer that says nothing about the sentences is left as it is.
pub fn complete(answer: &mut ExtractionAnswer, news: &Transcript) {
    if answer.sentences.is_empty() {
        return;
    }
    let offered = numbered_sentences(news);
    let is_trusted = answers_controls_correctly(answer, &offered);
    if !is_trusted {
        for item in &mut answer.items {
            item.confidence = item.confidence.min(UNTRUSTED_CONFIDENCE);
        }
    }
    for NumberedSentence { handle, source } in &offered {
        let SentenceSource::User(own) = source else { continue };
        let kind = match is_trusted {
            true => answer.sentences.get(handle).and_then(|kind| kind.lasting()),
            false => Some(Kind::Fact),
        };
        let Some(kind) = kind else { continue };
        let quotes = |item: &ProposedMemory| {
            item.evidence.iter().any(|quote| is_within(&quote.text, &own.sentence))
        };
        if !is_trusted {
            // Its words for the sentence are replaced by the user's.
            answer.items.retain(|item| !quotes(item) || item.op == ExtractionOp::Again);
            answer.items.push(proposal(own, kind));
            continue;
        }
        let mut quoting = answer.items.iter_mut().filter(|item| quotes(item)).peekable();
        if quoting.peek().is_none() {
            answer.items.push(proposal(own, kind));
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

/// Whether the model labelled every control sentence correctly.
fn answers_controls_correctly(answer: &ExtractionAnswer, offered: &[NumberedSentence]) -> bool {
    offered.iter().all(|sentence| match sentence.source {
        SentenceSource::User(_) => true,
        SentenceSource::Control { is_lasting, .. } => {
            let kind = answer.sentences.get(&sentence.handle);
            kind.is_some_and(|kind| kind.lasting().is_some() == is_lasting)
        }
    })
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
    let op = match statement::signals_change(&own.sentence) {
        Some(_) => ExtractionOp::Update,
        None => ExtractionOp::Add,
    };
    ProposedMemory {
        op,
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
        Transcript::of(
            &[
                turn(1, Role::User, "I run a bike café with my cousin. What is a fair margin?"),
                turn(2, Role::Assistant, "I am a language model and I like margins."),
                turn(3, Role::User, "My sister Ana lives in Braga, I visit her every spring."),
            ],
            &[],
        )
    }

    fn completed(text: &str) -> Vec<String> {
        let mut read = answer::read(text).unwrap();
        complete(&mut read, &news());
        read.items.into_iter().map(|item| item.content).collect()
    }

    /// An answer with these kinds for the user's two sentences, and the right ones for the controls.
    fn answering(kinds: [&str; 2], memories: &serde_json::Value) -> String {
        serde_json::json!({"memories": memories, "sentences": {
            "s1": "fact", "s2": kinds[0], "s3": "chat", "s4": kinds[1], "s5": "task"}})
        .to_string()
    }

    const CAFE: &str = "User runs a bike café with their cousin.";
    const SISTER: &str = "User's sister Ana lives in Braga, they visit her every spring.";

    #[test]
    fn own_statements_are_the_sentences_of_the_user() {
        let found = own_statements(&news());
        let found: Vec<(i32, &str)> =
            found.iter().map(|own| (own.turn, own.content.as_str())).collect();
        assert_eq!(found, [(1, CAFE), (3, SISTER)]);
    }

    #[test]
    fn own_statement_that_the_next_message_corrects_is_left_out() {
        let turns = [
            turn(1, Role::User, "I speak fluent Polish, so write it in Polish."),
            turn(2, Role::Assistant, "Fluent, great."),
            turn(3, Role::User, "Actually no, I am not fluent at all."),
        ];
        let found = own_statements(&Transcript::of(&turns, &[]));
        assert!(found.iter().all(|own| !own.content.contains("speaks fluent")), "{found:?}");
    }

    #[test]
    fn words_that_the_user_takes_back_are_not_read() {
        let turns = [
            turn(1, Role::User, "I keep bees."),
            turn(2, Role::User, "I once sang in a metal band called Gravel Choir."),
            turn(3, Role::Assistant, "Gravel Choir, great name."),
            turn(4, Role::User, "hmm, forget I mentioned the band"),
            turn(5, Role::User, "I run a bike café."),
        ];
        let news = Transcript::of(&turns, &[]);
        assert!(news.turns[1..4].iter().all(|turn| turn.pieces.is_empty()));
        let found: Vec<i32> = own_statements(&news).iter().map(|own| own.turn).collect();
        assert_eq!(found, [1, 5]);
    }

    #[test]
    fn controls_are_among_the_numbered_sentences() {
        let offered = numbered_sentences(&news());
        let is_control =
            |sentence: &NumberedSentence| matches!(sentence.source, SentenceSource::Control { .. });
        let places: Vec<bool> = offered.iter().map(is_control).collect();
        assert_eq!(places, [true, false, true, false, true]);
        assert_eq!(offered[1].handle, "s2");
        let nothing = Transcript::of(&[turn(1, Role::User, "What is a fair margin?")], &[]);
        assert!(numbered_sentences(&nothing).is_empty());
    }

    #[test]
    fn overlooked_sentence_is_proposed_in_the_users_words() {
        let text = answering(["fact", "chat"], &serde_json::json!([]));
        assert_eq!(completed(&text), [CAFE]);
    }

    #[test]
    fn rules_decide_alone_when_the_model_fails_a_control() {
        let wrong = r#"{"memories": [], "sentences": {
            "s1": "task", "s2": "task", "s3": "chat", "s4": "task", "s5": "task"}}"#;
        assert_eq!(completed(wrong), [CAFE, SISTER]);
        assert!(completed(r#"{"memories": []}"#).is_empty());
    }

    #[test]
    fn rules_propose_every_own_sentence_without_a_model() {
        let contents: Vec<_> =
            by_rules(&news()).items.into_iter().map(|item| item.content).collect();
        assert_eq!(contents, [CAFE, SISTER]);
    }

    #[test]
    fn rules_propose_more_sentences_than_a_model_is_asked_about() {
        let turns: Vec<_> = (1..=30)
            .map(|number| turn(number, Role::User, &format!("I own boat number {number}.")))
            .collect();
        let news = Transcript::of(&turns, &[]);
        assert_eq!(by_rules(&news).items.len(), 30);
        assert_eq!(numbered_sentences(&news).len(), MAX_SENTENCES + CONTROLS.len());
    }

    #[test]
    fn proposals_of_a_model_that_fails_a_control_are_candidates() {
        let text = r#"{"sentences": {"s1": "chat"}, "memories": [
            {"op": "new", "content": "User lives in Copenhagen.", "certainty": "said", "quote": "café"},
            {"op": "new", "content": "Margins are fair.", "certainty": "said", "quote": "What is fair?"}]}"#;
        let mut read = answer::read(text).unwrap();
        complete(&mut read, &news());
        let found: Vec<(&str, f32)> =
            read.items.iter().map(|item| (item.content.as_str(), item.confidence)).collect();
        let expected = [("Margins are fair.", UNTRUSTED_CONFIDENCE), (CAFE, 0.6), (SISTER, 0.6)];
        assert_eq!(found, expected);
    }

    #[test]
    fn memory_its_sentence_does_not_support_gets_the_users_words() {
        let item = |content: &str| {
            let quote = "I run a bike café with my cousin";
            let memory = serde_json::json!({"op": "new", "content": content, "quote": quote});
            answering(["fact", "task"], &serde_json::json!([memory]))
        };
        let good = "User runs a bike café with a cousin.";
        assert_eq!(completed(&item(good)), [good]);
        assert_eq!(completed(&item("User lives in Copenhagen.")), [CAFE]);
    }
}
