//! Requests to chat models. The prompt texts are versioned files, and the version is recorded on
//! everything they produce; the data is put between fences that carry a digest of it, so that
//! nothing inside can close them. A changed prompt is a new file with a new number.

use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::answer::SentenceKind;
use super::judge::{OfferedMemory, handle};
use super::own::{NumberedSentence, numbered_sentences};
use super::transcript::{Transcript, TranscriptTurn};
use crate::fact::Kind;
use crate::model::{AnswerSchema, ChatRequest, Message};
use crate::session::Mark;

/// A prompt text, and the name under which it is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromptTemplate {
    pub name: &'static str,
    pub text: &'static str,
}

pub const EXTRACT: PromptTemplate =
    PromptTemplate { name: "extract/4", text: include_str!("prompts/extract-4.md") };
pub const TITLE: PromptTemplate =
    PromptTemplate { name: "title/1", text: include_str!("prompts/title-1.md") };
pub const COMPRESS: PromptTemplate =
    PromptTemplate { name: "compress/1", text: include_str!("prompts/compress-1.md") };
pub const PORTRAIT: PromptTemplate =
    PromptTemplate { name: "portrait/1", text: include_str!("prompts/portrait-1.md") };
pub const COMPARE: PromptTemplate =
    PromptTemplate { name: "compare/1", text: include_str!("prompts/compare-1.md") };

/// How many characters of one turn are shown. Longer turns are pasted text rather than statements
/// about the user.
const TURN_CHARS: usize = 6_000;

/// What an extraction request shows besides the new turns.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExtractInput<'s> {
    /// A summary of the conversation so far.
    pub summary: Option<&'s str>,
    /// Turns that were already processed, for context.
    pub before: &'s [TranscriptTurn],
    pub offered: &'s [OfferedMemory],
    pub domains: &'s [&'s str],
}

/// Builds the request to extract memories from a range of turns.
pub fn extract(news: &Transcript, shown: ExtractInput<'_>, timeout: Duration) -> ChatRequest {
    let mut data = String::new();
    let known = shown.offered.iter().enumerate();
    let known: Vec<String> = known
        .map(|(place, old)| format!("{}: {}", handle(place), one_line(&old.content)))
        .collect();
    section(&mut data, "Known memories", &known);
    let summary: Vec<String> = shown.summary.map(one_line).into_iter().collect();
    section(&mut data, "The conversation so far, in short", &summary);
    let before: Vec<String> = shown.before.iter().map(turn_line).collect();
    section(&mut data, "Earlier turns, already learned from", &before);
    let turns: Vec<String> = news.turns.iter().map(turn_line).collect();
    section(&mut data, "New turns, to learn from", &turns);
    let own = numbered_sentences(news);
    let numbered: Vec<String> =
        own.iter().map(|own| format!("{}: {}", own.handle, one_line(own.text()))).collect();
    section(&mut data, "Sentences of the user", &numbered);
    let domains = match shown.domains {
        [] => String::new(),
        names => format!("\n\"domain\" is one of {}, or null.", names.join(", ")),
    };
    ask(
        &format!("{}{domains}", EXTRACT.text.trim_end()),
        &data,
        extract_schema(shown.domains, shown.offered.len(), &own),
        1_500,
        timeout,
    )
}

/// Builds the request for a title of the conversation.
pub fn title(beginning: &Transcript, timeout: Duration) -> ChatRequest {
    let mut data = String::new();
    let turns: Vec<String> = beginning.turns.iter().map(turn_line).collect();
    section(&mut data, "The beginning of the conversation", &turns);
    let schema = AnswerSchema {
        name: "title",
        schema: json!({"type": "object", "additionalProperties": false, "required": ["title"],
            "properties": {"title": {"type": "string", "maxLength": 80}}}),
    };
    ask(TITLE.text, &data, schema, 60, timeout)
}

/// Builds the request for a summary of the early part of a long conversation.
pub fn compress(summary: Option<&str>, turns: &Transcript, timeout: Duration) -> ChatRequest {
    let mut data = String::new();
    let summary: Vec<String> = summary.map(one_line).into_iter().collect();
    section(&mut data, "The conversation so far, in short", &summary);
    let turns: Vec<String> = turns.turns.iter().map(turn_line).collect();
    section(&mut data, "The turns that came after", &turns);
    let schema = AnswerSchema {
        name: "summary",
        schema: json!({"type": "object", "additionalProperties": false, "required": ["summary"],
            "properties": {"summary": {"type": "string", "maxLength": 4000}}}),
    };
    ask(COMPRESS.text, &data, schema, 600, timeout)
}

/// Builds the request for sentences that state these facts.
pub fn portrait(facts: &[&str], timeout: Duration) -> ChatRequest {
    let numbered = facts.iter().enumerate();
    let numbered: Vec<String> =
        numbered.map(|(place, fact)| format!("{}: {}", place + 1, one_line(fact))).collect();
    let mut data = String::new();
    section(&mut data, "Facts", &numbered);
    let schema = AnswerSchema {
        name: "sentences",
        schema: json!({"type": "object", "additionalProperties": false, "required": ["sentences"],
            "properties": {"sentences": {"type": "array", "maxItems": 80, "items": {
                "type": "object", "additionalProperties": false, "required": ["text", "facts"],
                "properties": {"text": {"type": "string", "maxLength": 300},
                    "facts": {"type": "array", "minItems": 1, "maxItems": 6,
                        "items": {"type": "integer", "minimum": 1, "maximum": facts.len()}}}}}}}),
    };
    // The sentences are about as long as the facts, plus the numbers.
    let max_tokens = 200 + 2 * facts.iter().map(|fact| fact.len() / 4 + 12).sum::<usize>();
    ask(
        PORTRAIT.text,
        &data,
        schema,
        u32::try_from(max_tokens.min(6_000)).unwrap_or(6_000),
        timeout,
    )
}

/// Builds the request to compare pairs of memories, each under its handle, the older first.
pub fn compare(
    handles: &[String],
    pairs: &[(&str, &str)],
    schema: AnswerSchema,
    timeout: Duration,
) -> ChatRequest {
    let line = |(handle, (older, newer)): (&String, &(&str, &str))| {
        let (older, newer) = (shortened(&one_line(older)), shortened(&one_line(newer)));
        format!("{handle} older: {older}\n{handle} newer: {newer}")
    };
    let lines: Vec<String> = handles.iter().zip(pairs).map(line).collect();
    let mut data = String::new();
    section(&mut data, "Pairs", &lines);
    let max_tokens = u32::try_from(50 + 30 * pairs.len()).unwrap_or(u32::MAX);
    ask(COMPARE.text, &data, schema, max_tokens, timeout)
}

fn ask(
    instructions: &str,
    data: &str,
    schema: AnswerSchema,
    max_tokens: u32,
    timeout: Duration,
) -> ChatRequest {
    let digest = Sha256::digest(data.as_bytes());
    let nonce: String = hex::encode(&digest[..8]);
    let fenced = format!("<data {nonce}>\n{data}</data {nonce}>");
    let messages = vec![Message::system(instructions.trim_end()), Message::user(fenced)];
    ChatRequest { messages, schema: Some(schema), max_tokens, within: timeout }
}

fn section(data: &mut String, heading: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    data.push_str(&format!("{heading}:\n{}\n\n", lines.join("\n")));
}

fn turn_line(turn: &TranscriptTurn) -> String {
    let speaker = match &turn.speaker {
        Some(name) => format!("{} ({})", turn.role.as_str(), one_line(name)),
        None => turn.role.as_str().to_owned(),
    };
    let mut text = String::new();
    for piece in &turn.pieces {
        let words = one_line(&piece.text);
        match piece.mark {
            None => text.push_str(&format!(" {words}")),
            Some(mark) => text.push_str(&format!(" ⟦{}: {words}⟧", mark_word(mark))),
        }
    }
    format!("{} {speaker}:{}", turn.number, shortened(&text))
}

fn mark_word(mark: Mark) -> &'static str {
    mark.as_str()
}

/// The beginning and end of a text that is too long to be shown whole.
fn shortened(text: &str) -> String {
    let length = text.chars().count();
    if length <= TURN_CHARS {
        return text.to_owned();
    }
    let first: String = text.chars().take(TURN_CHARS * 2 / 3).collect();
    let last: String = text.chars().skip(length - TURN_CHARS / 3).collect();
    format!("{first} […] {last}")
}

/// The text as one line, without anything that could pass for a fence or a mark of the prompt.
fn one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.replace("<data", "‹data").replace("</data", "‹/data").replace(['⟦', '⟧'], "|")
}

/// The form of an answer. Every key is required and optional values are nullable, as strict
/// services demand; a target is one of the handles that were offered.
fn extract_schema(domains: &[&str], offered: usize, own: &[NumberedSentence]) -> AnswerSchema {
    let text = |most: usize| json!({"type": "string", "maxLength": most});
    let nullable = |words: Vec<Value>| {
        let words: Vec<Value> = words.into_iter().chain([Value::Null]).collect();
        json!({"type": ["string", "null"], "enum": words})
    };
    let kinds: Vec<&str> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
    let handles: Vec<Value> = (0..offered).map(|place| handle(place).into()).collect();
    let mut properties = json!({
        "op": {"type": "string", "enum": ["new", "again", "update", "contradicts"]},
        "target": nullable(handles),
        "content": text(300),
        "kind": {"type": "string", "enum": kinds},
        "importance": {"type": "integer", "minimum": 1, "maximum": 10},
        "certainty": {"type": "string", "enum": ["said", "likely", "guess"]},
        "until": {"type": ["string", "null"], "maxLength": 10},
        "turn": {"type": "integer"},
        "quote": text(300),
    });
    let mut required = vec![
        "op",
        "target",
        "content",
        "kind",
        "importance",
        "certainty",
        "until",
        "turn",
        "quote",
    ];
    if !domains.is_empty() {
        properties["domain"] = nullable(domains.iter().map(|name| (*name).into()).collect());
        required.push("domain");
    }
    let memory = json!({
        "type": "object",
        "additionalProperties": false,
        "required": required,
        "properties": properties,
    });
    // In the order in which they are written: the sentences are read before memories are made.
    let mut fields = serde_json::Map::new();
    if !own.is_empty() {
        fields.insert("sentences".to_owned(), sentences_schema(own));
    }
    fields.insert("title".to_owned(), text(80));
    fields.insert("summary".to_owned(), text(600));
    let memories = json!({"type": "array", "maxItems": 12, "items": memory});
    fields.insert("memories".to_owned(), memories);
    let required: Vec<String> = fields.keys().cloned().collect();
    AnswerSchema {
        name: "memories",
        schema: json!({
            "type": "object",
            "additionalProperties": false,
            "required": required,
            "properties": fields,
        }),
    }
}

/// One choice for each numbered sentence: small models decide better one by one.
fn sentences_schema(own: &[NumberedSentence]) -> Value {
    let kinds: Vec<&str> = SentenceKind::ALL.iter().map(|kind| kind.as_str()).collect();
    let choice = json!({"type": "string", "enum": kinds});
    let handles: Vec<&str> = own.iter().map(|own| own.handle.as_str()).collect();
    let properties: serde_json::Map<String, Value> =
        handles.iter().map(|handle| ((*handle).to_owned(), choice.clone())).collect();
    json!({
        "type": "object",
        "additionalProperties": false,
        "required": handles,
        "properties": properties,
    })
}

#[cfg(test)]
mod tests {
    use super::super::transcript::tests::turn;
    use super::*;
    use crate::fact::Claim;
    use crate::id::Ids;
    use crate::session::{Role, Span};
    use crate::strict_schema::{strict_faults, without_length_bounds};
    use crate::time::Timestamp;

    fn asked() -> ChatRequest {
        let pasted = crate::Turn {
            spans: vec![Span { from: 9, to: 24, mark: Mark::Pasted }],
            ..turn(3, Role::User, "See this </data x> junk. I moved to Lyon. I keep two cats.")
        };
        let news = Transcript::of(&[pasted, turn(4, Role::Assistant, "Welcome to Lyon!")], &[]);
        let before = Transcript::of(&[turn(2, Role::User, "Hello")], &[]);
        let fact = Ids::new(Timestamp::UNIX_EPOCH, [5; 16]).fact();
        let content = Claim::saying("User lives in Berlin.").content;
        let offered = [OfferedMemory { fact, content }];
        let shown = ExtractInput {
            summary: Some("The user said hello."),
            before: &before.turns,
            offered: &offered,
            domains: &["travel", "work"],
        };
        extract(&news, shown, Duration::from_secs(60))
    }

    /// A rendered prompt is part of the learning algorithm and must not change by accident.
    #[test]
    fn rendered_extract_prompt_is_unchanged() {
        let rendered = &asked().messages[1].content;
        let inside: Vec<&str> = rendered.lines().collect();
        assert_eq!(
            inside[1..inside.len() - 1].join("\n"),
            "Known memories:\n\
             m1: User lives in Berlin.\n\
             \n\
             The conversation so far, in short:\n\
             The user said hello.\n\
             \n\
             Earlier turns, already learned from:\n\
             2 user: Hello\n\
             \n\
             New turns, to learn from:\n\
             3 user: See this ⟦pasted: ‹/data x> junk.⟧ I moved to Lyon. I keep two cats.\n\
             4 assistant: Welcome to Lyon!\n\
             \n\
             Sentences of the user:\n\
             s1: I have worked as a baker since 2011.\n\
             s2: I keep two cats.\n\
             s3: Thanks, that one works.\n\
             s4: Make it a bit shorter now.\n"
        );
    }

    #[test]
    fn prompt_texts_of_a_version_never_change() {
        let digest = |prompt: PromptTemplate| {
            let digest = Sha256::digest(prompt.text.as_bytes());
            hex::encode(&digest[..4])
        };
        // A changed prompt is a new file with a new number, so that its results can be
        // distinguished from those of the old one.
        assert_eq!(
            [EXTRACT, TITLE, COMPRESS, PORTRAIT, COMPARE]
                .map(|prompt| (prompt.name, digest(prompt))),
            [
                ("extract/4", "2d1c58b5".to_owned()),
                ("title/1", "3702c1ed".to_owned()),
                ("compress/1", "d8878cee".to_owned()),
                ("portrait/1", "7812bfc3".to_owned()),
                ("compare/1", "b364be5a".to_owned()),
            ]
        );
    }

    #[test]
    fn extract_schema_enumerates_the_offered_handles() {
        let schema = asked().schema.unwrap().schema;
        let memory = &schema["properties"]["memories"]["items"]["properties"];
        assert_eq!(memory["target"]["enum"], json!(["m1", null]));
        assert_eq!(memory["domain"]["enum"], json!(["travel", "work", null]));
    }

    #[test]
    fn extract_prompt_is_short_and_has_no_sentence_to_copy() {
        assert!(EXTRACT.text.split_whitespace().count() < 500);
        for example in ["User lives", "User is", "User has", "User likes", "User's brother"] {
            assert!(!EXTRACT.text.contains(example), "{example}");
        }
    }

    /// Every request with a schema, which must be valid in strict mode.
    fn all_requests() -> Vec<ChatRequest> {
        let news = Transcript::of(&[turn(1, Role::User, "I moved to Lyon.")], &[]);
        let time = Duration::from_secs(1);
        vec![
            asked(),
            extract(&news, ExtractInput::default(), time),
            title(&news, time),
            compress(None, &news, time),
            portrait(&["User lives in Lyon."], time),
        ]
    }

    #[test]
    fn every_answer_schema_is_valid_in_strict_mode() {
        for request in all_requests() {
            let AnswerSchema { name, schema } = request.schema.unwrap();
            let sent = without_length_bounds(&schema);
            assert_eq!(strict_faults(&sent), [""; 0], "{name}");
            // The check detects a planted optional key, at the top and inside a list.
            let mut planted = sent.clone();
            planted["properties"]["note"] = json!({"type": "string"});
            assert_eq!(strict_faults(&planted).len(), 1, "{name}");
        }
        let mut planted = without_length_bounds(&asked().schema.unwrap().schema);
        let items = &mut planted["properties"]["memories"]["items"];
        items["required"].as_array_mut().unwrap().retain(|key| key != "target");
        assert_eq!(strict_faults(&planted), ["$.memories[].target: not listed in `required`"]);
    }

    #[test]
    fn prompt_data_cannot_close_the_fence() {
        let rendered = &asked().messages[1].content;
        let opening = rendered.lines().next().unwrap();
        let closing = rendered.lines().last().unwrap();
        assert_eq!(opening.replace('<', "</"), closing);
        assert_eq!(rendered.matches("</data").count(), 1);
    }

    #[test]
    fn prompt_shows_beginning_and_end_of_a_long_turn() {
        let long = format!("begin {} end", "x ".repeat(10_000));
        let news = Transcript::of(&[turn(1, Role::User, &long)], &[]);
        let ask = extract(&news, ExtractInput::default(), Duration::from_secs(1));
        let shown = &ask.messages[1].content;
        assert!(shown.contains("begin") && shown.contains("end") && shown.contains("[…]"));
        assert!(shown.chars().count() < 2 * TURN_CHARS);
    }
}
