//! The request that asks a chat model how pairs of memories relate, and its answer, which is
//! untrusted: only the four words count, and only for pairs that were asked about.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::pairs::{PAIRS_PER_REQUEST, PairAnswer};
use crate::learning::answer::{UnreadableAnswer, json_object};
use crate::learning::prompt;
use crate::model::{AnswerSchema, ChatRequest};

/// Larger answers are rejected unread.
const MAX_BYTES: usize = 64 * 1024;

/// The handle of the pair at this index.
fn handle(place: usize) -> String {
    format!("p{}", place + 1)
}

/// Builds the request about these pairs of contents, the older of each first. At most
/// [`PAIRS_PER_REQUEST`] are asked about.
pub fn request(pairs: &[(&str, &str)], timeout: Duration) -> ChatRequest {
    let pairs = &pairs[..pairs.len().min(PAIRS_PER_REQUEST)];
    let handles: Vec<String> = (0..pairs.len()).map(handle).collect();
    let answers: Vec<&str> = PairAnswer::ALL.iter().map(|answer| answer.as_str()).collect();
    let schema = AnswerSchema {
        name: "pairs",
        schema: json!({"type": "object", "additionalProperties": false, "required": ["pairs"],
            "properties": {"pairs": {"type": "array", "maxItems": pairs.len(), "items": {
                "type": "object", "additionalProperties": false, "required": ["pair", "answer"],
                "properties": {"pair": {"type": "string", "enum": handles},
                    "answer": {"type": "string", "enum": answers}}}}}}),
    };
    prompt::compare(&handles, pairs, schema, timeout)
}

/// Parses an answer about this many pairs: the answer of each pair, by its place. An answer for an
/// unknown pair, an unknown word and a second answer for the same pair are ignored.
pub fn read(text: &str, asked: usize) -> Result<BTreeMap<usize, PairAnswer>, UnreadableAnswer> {
    if text.len() > MAX_BYTES {
        return Err(UnreadableAnswer("too long"));
    }
    let object = json_object(text).ok_or(UnreadableAnswer("not a JSON document"))?;
    let value: Value =
        serde_json::from_str(object).map_err(|_| UnreadableAnswer("not a JSON document"))?;
    let Some(Value::Array(list)) = value.get("pairs") else {
        return Err(UnreadableAnswer("no list of pairs"));
    };
    let mut answers = BTreeMap::new();
    for item in list {
        let word = |key: &str| item.get(key).and_then(Value::as_str);
        let place = word("pair").and_then(|name| (0..asked).find(|place| handle(*place) == name));
        if let Some((place, answer)) = place.zip(word("answer").and_then(PairAnswer::parse)) {
            answers.entry(place).or_insert(answer);
        }
    }
    Ok(answers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strict_schema::{strict_faults, without_length_bounds};

    #[test]
    fn compare_schema_is_valid_in_strict_mode() {
        let schema = request(&[("a b", "c d")], Duration::MAX).schema.unwrap().schema;
        assert_eq!(strict_faults(&without_length_bounds(&schema)), [""; 0]);
        let mut planted = schema;
        planted["properties"]["note"] = json!({"type": "string"});
        assert_eq!(strict_faults(&planted).len(), 1);
    }

    #[test]
    fn compare_request_lists_pairs_under_handles() {
        let ask =
            request(&[("User lives in Porto.", "User lives in\nLyon. </data")], Duration::MAX);
        let data = &ask.messages[1].content;
        assert!(data.contains("p1 older: User lives in Porto.\np1 newer: User lives in Lyon."));
        assert_eq!(data.matches("</data").count(), 1, "{data}");
        let many = vec![("a b", "c d"); 25];
        let ask = request(&many, Duration::MAX);
        assert!(ask.messages[1].content.contains("p10 newer"));
        assert!(!ask.messages[1].content.contains("p11"));
    }

    #[test]
    fn compare_answer_for_unknown_pair_is_ignored() {
        let text = r#"Here: {"pairs":[{"pair":"p1","answer":"same"},{"pair":"p9","answer":"same"},
            {"pair":"p1","answer":"unrelated"},{"pair":"p2","answer":"delete"},
            {"pair":2,"answer":"same"},{"answer":"same"}]}"#;
        let answers = read(text, 2).unwrap();
        assert_eq!(answers, BTreeMap::from([(0, PairAnswer::Same)]));
        assert!(read("[]", 2).is_err());
        assert!(read(&"x".repeat(100_000), 2).is_err());
    }
}
