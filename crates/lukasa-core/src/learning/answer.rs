//! Strict parsing of a model's answer. Parts without the requested form are ignored; an answer
//! whose outer object is invalid is refused as a whole.

use std::collections::BTreeMap;

use jiff::civil::Date;
use serde_json::Value;

use crate::fact::{Kind, MemoryType};
use crate::limits;
use crate::words;

/// Upper bound of an answer's size; a longer one is refused.
const MAX_ANSWER_BYTES: usize = 256 * 1024;
/// Upper bound of proposals from one range of turns; more than that is unselective (R082).
const MAX_ITEMS: usize = 40;
const MAX_QUOTES: usize = 5;
const SUMMARY_CHARS: usize = 1_000;
const TITLE_CHARS: usize = 120;

/// The change that the model proposes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtractionOp {
    /// Something that no known memory says.
    Add,
    /// A repetition of a known memory.
    Again,
    /// A change of a known memory.
    Update,
    /// Something that cannot be true together with a known memory.
    Contradicts,
    Skip,
}

/// A quotation that the model cites as evidence; not verified yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    pub turn: Option<i32>,
    pub text: String,
}

/// A memory the model proposes.
#[derive(Debug, Clone, PartialEq)]
pub struct ProposedMemory {
    pub op: ExtractionOp,
    /// The handle of the known memory it is about, as offered in the prompt.
    pub target: Option<String>,
    pub content: String,
    pub memory_type: Option<MemoryType>,
    pub kind: Kind,
    pub domain: Option<String>,
    pub importance: f32,
    pub confidence: f32,
    /// The last day on which it holds, if the user named one.
    pub until: Option<Date>,
    pub reasoning: Option<String>,
    pub evidence: Vec<Quote>,
}

impl ProposedMemory {
    /// Whether it would replace a known memory.
    pub fn is_change(&self) -> bool {
        matches!(self.op, ExtractionOp::Update | ExtractionOp::Contradicts)
    }
}

words!(
    /// What a sentence of the user is, in the words of the request.
    SentenceKind {
        Fact = "fact",
        Preference = "preference",
        Plan = "plan",
        Task = "task",
        Chat = "chat",
    }
);

/// A parsed answer about a range of turns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ExtractionAnswer {
    pub title: Option<String>,
    pub summary: Option<String>,
    pub items: Vec<ProposedMemory>,
    /// What the numbered sentences of the user are, by handle.
    pub sentences: BTreeMap<String, SentenceKind>,
    /// How many proposals did not have the requested form.
    pub malformed: usize,
}

/// The answer cannot be parsed. The message is the reason and contains no text of the answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the answer does not have the requested form: {0}")]
pub struct UnreadableAnswer(pub &'static str);

/// Parses an answer.
pub fn read(text: &str) -> Result<ExtractionAnswer, UnreadableAnswer> {
    if text.len() > MAX_ANSWER_BYTES {
        return Err(UnreadableAnswer("too long"));
    }
    let value: Value = serde_json::from_str(unfenced(text))
        .or_else(|_| serde_json::from_str(json_object(text).unwrap_or_default()))
        .map_err(|_| UnreadableAnswer("not a JSON document"))?;
    let Value::Object(frame) = value else { return Err(UnreadableAnswer("not an object")) };
    let Some(Value::Array(proposed)) = frame.get("memories") else {
        return Err(UnreadableAnswer("no `memories` list"));
    };
    let mut answer = ExtractionAnswer {
        title: frame.get("title").and_then(|v| line(v, TITLE_CHARS)),
        summary: frame.get("summary").and_then(|v| line(v, SUMMARY_CHARS)),
        sentences: frame.get("sentences").map(sentence_kinds).unwrap_or_default(),
        ..ExtractionAnswer::default()
    };
    for value in proposed.iter().take(MAX_ITEMS) {
        match item(value) {
            Some(item) => answer.items.push(item),
            None => answer.malformed += 1,
        }
    }
    answer.malformed += proposed.len().saturating_sub(MAX_ITEMS);
    Ok(answer)
}

/// The kinds of the numbered sentences; unknown words are ignored.
fn sentence_kinds(value: &Value) -> BTreeMap<String, SentenceKind> {
    let kind = |(handle, kind): (&String, &Value)| {
        Some((handle.clone(), SentenceKind::parse(kind.as_str()?)?))
    };
    let kinds = value.as_object().into_iter().flatten().take(MAX_ITEMS);
    kinds.filter_map(kind).collect()
}

/// Strips a surrounding code block, which some models add despite the instructions.
pub fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let Some(inside) = text.strip_prefix("```") else { return text };
    let inside = inside.strip_suffix("```").unwrap_or(inside);
    let first = inside.find('\n').unwrap_or(0);
    if inside[..first].chars().all(|c| c.is_ascii_alphanumeric()) {
        &inside[first..]
    } else {
        inside
    }
}

/// The first balanced object in a text. Models without a JSON mode write sentences around it.
pub fn json_object(text: &str) -> Option<&str> {
    let start = text.find('{')?;
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate().skip(start) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'{' if !quoted => depth += 1,
            b'}' if !quoted => {
                depth -= 1;
                if depth == 0 {
                    return text.get(start..=at);
                }
            }
            _ => {}
        }
    }
    None
}

fn item(value: &Value) -> Option<ProposedMemory> {
    let op = match value.get("op")?.as_str()? {
        "new" | "add" => ExtractionOp::Add,
        "again" => ExtractionOp::Again,
        "update" => ExtractionOp::Update,
        "contradicts" => ExtractionOp::Contradicts,
        "skip" | "noop" | "none" => ExtractionOp::Skip,
        _ => return None,
    };
    let text = |field: &str| value.get(field).and_then(Value::as_str);
    let share = |field: &str, scale: f64| {
        let number = value.get(field).and_then(Value::as_f64)? / scale;
        (0.0..=1.0).contains(&number).then_some(number as f32)
    };
    let importance = share("importance", 10.0).or(share("importance", 1.0));
    let quotes = value.get("evidence").and_then(Value::as_array).map(Vec::as_slice);
    let quotes = quotes.unwrap_or_default().iter().take(MAX_QUOTES).filter_map(quote);
    // One quotation is a field of the memory itself.
    let own = value.get("quote").and_then(|_| quote(value));
    let certainty = match text("certainty") {
        Some("said") => Some(0.9),
        Some("likely") => Some(0.6),
        Some("guess") => Some(0.3),
        _ => None,
    };
    Some(ProposedMemory {
        op,
        target: text("target").map(str::to_owned).filter(|target| !target.is_empty()),
        content: value.get("content").and_then(|v| line(v, limits::CONTENT_CHARS))?,
        memory_type: text("type").and_then(MemoryType::parse),
        kind: text("kind").and_then(Kind::parse).unwrap_or(Kind::Fact),
        domain: text("domain").map(str::to_owned).filter(|name| !name.is_empty()),
        importance: importance.unwrap_or(0.5),
        // A model that reports no confidence gets a middling one.
        confidence: share("confidence", 1.0).or(certainty).unwrap_or(0.5),
        until: text("until").and_then(|day| day.parse().ok()),
        reasoning: value.get("reasoning").and_then(|v| line(v, limits::REASONING_CHARS)),
        evidence: own.into_iter().chain(quotes).collect(),
    })
}

fn quote(value: &Value) -> Option<Quote> {
    let turn = value.get("turn").and_then(Value::as_i64);
    let turn = turn.and_then(|number| i32::try_from(number).ok());
    let text = value.get("quote").or(Some(value)).and_then(Value::as_str)?;
    let fits = (1..=limits::EVIDENCE_CHARS).contains(&text.chars().count());
    fits.then(|| Quote { turn, text: text.to_owned() })
}

/// A text as one line without control characters; `None` if it is empty or longer than `max_chars`.
fn line(value: &Value, max_chars: usize) -> Option<String> {
    let text = value.as_str()?;
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    let line = words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    (1..=max_chars).contains(&line.chars().count()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"title":"Moving house","summary":"The user moved.","memories":[
        {"op":"add","content":"User lives in\n Lisbon.","kind":"fact","domain":"personal",
         "importance":8,"confidence":0.9,"reasoning":"said so",
         "evidence":[{"turn":1,"quote":"I live in Lisbon"}]}]}"#;

    #[test]
    fn valid_model_answer_is_parsed() {
        let answer = read(GOOD).unwrap();
        assert_eq!(answer.title.as_deref(), Some("Moving house"));
        let item = &answer.items[0];
        assert_eq!(item.content, "User lives in Lisbon.");
        assert_eq!((item.importance, item.confidence), (0.8, 0.9));
        assert_eq!(item.evidence[0].text, "I live in Lisbon");
        assert_eq!(read(&format!("```json\n{GOOD}\n```")).unwrap(), answer);
    }

    #[test]
    fn model_answer_with_invalid_outer_object_is_rejected() {
        let deep = "[".repeat(100_000);
        for text in ["", "no", "[]", "{}", r#"{"memories":{}}"#, r#"{"memories":[NaN]}"#, &deep] {
            assert!(read(text).is_err(), "{:.40}", text);
        }
        assert!(read(&" ".repeat(MAX_ANSWER_BYTES + 1)).is_err());
    }

    #[test]
    fn malformed_proposals_are_skipped_and_counted() {
        let text = r#"{"memories":[{"op":"delete","content":"x"},{"op":"add"},{"op":"add",
            "content":5},7,{"op":"add","content":"User likes tea","importance":900,
            "confidence":7,"kind":"weapon","evidence":"none"}]}"#;
        let answer = read(text).unwrap();
        assert_eq!((answer.items.len(), answer.malformed), (1, 4));
        let item = &answer.items[0];
        assert_eq!((item.importance, item.confidence, item.kind), (0.5, 0.5, Kind::Fact));
        assert!(item.evidence.is_empty());
    }

    #[test]
    fn flat_form_of_a_proposal_is_parsed() {
        let text = r#"{"memories":[{"op":"again","target":"m2","content":"User likes tea.",
            "kind":"preference","importance":6,"certainty":"likely","until":"2027-03-31","turn":4,
            "quote":"I like tea"},{"op":"contradicts","target":null,"content":"User likes tea.",
            "certainty":"said","until":"soon","quote":"I like tea"},{"op":"new",
            "content":"User likes mate.","certainty":"guess","quote":"maybe mate"}]}"#;
        let answer = read(text).unwrap();
        let [again, against, guess] = &answer.items[..] else { panic!("three proposals") };
        assert_eq!((again.op, again.target.as_deref()), (ExtractionOp::Again, Some("m2")));
        assert_eq!((again.confidence, again.until), (0.6, Some(jiff::civil::date(2027, 3, 31))));
        assert_eq!(again.evidence, [Quote { turn: Some(4), text: "I like tea".into() }]);
        assert_eq!((against.op, against.until), (ExtractionOp::Contradicts, None));
        assert_eq!((against.confidence, &against.target), (0.9, &None));
        assert_eq!((guess.op, guess.confidence), (ExtractionOp::Add, 0.3));
    }

    #[test]
    fn json_object_is_found_inside_other_text() {
        let text =
            r#"Sure! Here it is: {"memories":[{"op":"new","content":"User says \"}\"."}]} Bye {"#;
        assert_eq!(read(text).unwrap().items[0].content, r#"User says "}"."#);
        for none in ["no object", "{ open", "} {", "\"{}\" {\"a\":\"}"] {
            assert!(read(none).is_err(), "{none}");
        }
    }

    #[test]
    fn null_in_optional_fields_of_answer_means_absent() {
        let text = r#"{"title":null,"summary":null,"memories":[{"op":"add","target":null,
            "content":"User likes tea","type":null,"kind":"preference","domain":null,
            "importance":null,"confidence":null,"reasoning":null,"evidence":[]}]}"#;
        let absent = r#"{"memories":[{"op":"add","content":"User likes tea",
            "kind":"preference","evidence":[]}]}"#;
        assert_eq!(read(text).unwrap(), read(absent).unwrap());
        assert_eq!(read(text).unwrap().items.len(), 1);
    }

    #[test]
    fn too_many_proposals_are_cut() {
        let one = r#"{"op":"add","content":"User likes tea"}"#;
        let many = format!(r#"{{"memories":[{}]}}"#, vec![one; 100].join(","));
        let answer = read(&many).unwrap();
        assert_eq!((answer.items.len(), answer.malformed), (MAX_ITEMS, 60));
    }
}
