//! A scripted model that obeys: it answers each request from the labels of the current dialogue, in
//! the requested form. Like real models it cites wrong turn numbers, shortens quotations and
//! paraphrases them, so that the rules are measured and not the model.

use std::sync::{Arc, PoisonError, RwLock};

use lukasa_core::model::{Chat, ChatRequest};
use lukasa_models::scripted::ScriptedChat;
use serde_json::{Map, Value, json};

use super::dialogue::{Dialogue, ExpectedClaim, says};

/// How the scripted model behaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum OracleMode {
    /// It answers from the labels.
    Faithful,
    /// It also copies the first sentence of each conversation as a memory.
    Copy,
    /// It calls every numbered sentence of the user a fact and proposes nothing else, to show what the
    /// rules for sentences find without a model.
    Sentences,
}

/// The dialogue that the scripted model answers about.
#[derive(Clone, Default)]
pub struct Oracle(Arc<RwLock<OracleState>>);

#[derive(Default)]
struct OracleState {
    dialogue: Option<Arc<Dialogue>>,
    session: usize,
    mode: Option<OracleMode>,
    /// Whether quotations are cited literally.
    literal: bool,
}

impl Oracle {
    /// An oracle that cites every quotation literally.
    pub fn literal() -> Self {
        let oracle = Self::default();
        oracle.0.write().unwrap_or_else(PoisonError::into_inner).literal = true;
        oracle
    }

    /// The model that answers for this oracle.
    pub fn chat(&self) -> Arc<dyn Chat> {
        let oracle = self.clone();
        Arc::new(ScriptedChat::saying(move |ask| oracle.answer(ask)).named("oracle"))
    }

    /// Sets the dialogue and session that the next requests are about.
    pub fn turn_to(&self, dialogue: &Arc<Dialogue>, session: usize, mode: OracleMode) {
        let mut state = self.0.write().unwrap_or_else(PoisonError::into_inner);
        state.dialogue = Some(Arc::clone(dialogue));
        (state.session, state.mode) = (session, Some(mode));
    }

    fn answer(&self, ask: &ChatRequest) -> String {
        let schema = ask.schema.as_ref().map_or(&Value::Null, |schema| &schema.schema);
        if schema["properties"]["memories"].is_null() {
            return smallest(schema).to_string();
        }
        let shown = ask.messages.last().map_or("", |message| message.content.as_str());
        let state = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if state.mode == Some(OracleMode::Sentences) {
            let handles = schema["properties"]["sentences"]["required"].as_array();
            let handles = handles.into_iter().flatten().filter_map(Value::as_str);
            let kinds: Map<String, Value> =
                handles.map(|handle| (handle.to_owned(), json!("fact"))).collect();
            return json!({"title": "", "summary": "", "memories": [], "sentences": kinds})
                .to_string();
        }
        let memories = state.memories(&known_memories(shown));
        json!({"title": "A conversation", "summary": "The user talked with the assistant.",
            "memories": memories})
        .to_string()
    }
}

impl OracleState {
    fn memories(&self, known: &[(String, String)]) -> Vec<Value> {
        let Some(dialogue) = &self.dialogue else { return Vec::new() };
        let of_session = |claim: &&ExpectedClaim| claim.session == self.session;
        let claims = dialogue.learn.iter().filter(of_session).enumerate();
        let seed = dialogue.id.bytes().map(usize::from).sum::<usize>();
        let mut memories: Vec<Value> =
            claims.map(|(n, claim)| self.memory(claim, seed + n, known)).collect();
        if self.mode == Some(OracleMode::Copy) {
            memories.extend(self.copied(dialogue));
        }
        memories
    }

    fn memory(&self, claim: &ExpectedClaim, style: usize, known: &[(String, String)]) -> Value {
        let old = known.iter().find(|(_, text)| {
            !claim.replaces.is_empty() && says(text, &claim.replaces) && !claim.is_met_by(text)
        });
        let is_hedged = ["might", "may be", "thinking"].iter().any(|w| claim.claim.contains(w));
        let mut memory = json!({
            "op": if old.is_some() { "update" } else { "add" },
            "content": claim.claim,
            "kind": "fact",
            "importance": 7,
            "confidence": if is_hedged { 0.5 } else { 0.9 },
            "reasoning": "The user says so.",
            "evidence": citations(&claim.said, &claim.claim, if self.literal { 0 } else { style }),
        });
        if let Some((handle, _)) = old {
            memory["target"] = json!(handle);
        }
        memory
    }

    /// The planted fault: the first sentence of the conversation as a memory.
    fn copied(&self, dialogue: &Dialogue) -> Option<Value> {
        let turns = &dialogue.sessions.get(self.session)?.turns;
        let first = turns.iter().find(|turn| turn.role == "user")?;
        let sentence = first.content.split_inclusive(['.', '!', '?', '\n']).next()?.trim();
        let content: String = sentence.chars().take(250).collect();
        Some(json!({"op": "add", "content": content, "kind": "fact", "importance": 7,
            "confidence": 0.9, "evidence": [{"turn": 1, "quote": content}]}))
    }
}

/// The evidence in one of five forms: literal, under a wrong turn number, with a word left out,
/// with ellipses, and after a paraphrase.
fn citations(said: &str, claim: &str, style: usize) -> Value {
    match style % 5 {
        0 => json!([{"turn": 1, "quote": said}]),
        1 => json!([{"turn": 99, "quote": said}]),
        2 => {
            let words: Vec<&str> = said.split_whitespace().collect();
            let middle = words.len() / 2;
            let kept = words.iter().enumerate().filter(|(n, _)| words.len() < 4 || *n != middle);
            let kept: Vec<&str> = kept.map(|(_, word)| *word).collect();
            json!([{"turn": 2, "quote": kept.join(" ")}])
        }
        3 => json!([{"turn": 1, "quote": format!("… {said} …")}]),
        _ => json!([{"turn": 3, "quote": claim}, {"turn": 3, "quote": said}]),
    }
}

/// The known memories that the request shows, by handle: lines such as `m1: text` or `[m1] text`.
fn known_memories(shown: &str) -> Vec<(String, String)> {
    let parse = |line: &str| {
        let line = line.trim_start_matches(['-', ' ', '[']);
        let after = line.strip_prefix('m')?;
        let digits = after.chars().take_while(char::is_ascii_digit).count();
        let rest = &after[digits..];
        let text = rest.strip_prefix(':').or_else(|| rest.strip_prefix(']'))?;
        (digits > 0).then(|| (format!("m{}", &after[..digits]), text.trim().to_owned()))
    };
    shown.lines().filter_map(parse).collect()
}

/// The smallest value that a schema admits, for requests that the labels do not answer.
fn smallest(schema: &Value) -> Value {
    if let Some(first) = schema["enum"].as_array().and_then(|all| all.last()) {
        return first.clone();
    }
    let is = |name: &str| {
        let kinds = &schema["type"];
        kinds == name || kinds.as_array().is_some_and(|all| all.iter().any(|kind| kind == name))
    };
    if is("null") {
        return Value::Null;
    }
    if is("object") {
        let properties = schema["properties"].as_object().into_iter().flatten();
        let fields = properties.map(|(name, schema)| (name.clone(), smallest(schema)));
        return Value::Object(fields.collect::<Map<_, _>>());
    }
    if is("array") {
        return json!([]);
    }
    if is("integer") || is("number") {
        return schema.get("minimum").cloned().unwrap_or_else(|| json!(0));
    }
    if is("boolean") { json!(false) } else { json!("none") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oracle_finds_known_memories_in_both_forms() {
        let shown = "Known memories:\nm1: User is a nurse.\n- [m12] User likes tea\nmore: no\n";
        let expected = [("m1", "User is a nurse."), ("m12", "User likes tea")];
        let expected = expected.map(|(handle, text)| (handle.to_owned(), text.to_owned()));
        assert_eq!(known_memories(shown), expected);
    }

    #[test]
    fn oracle_citations_differ_by_style() {
        let quote = |style: usize| citations("I live in Rome now", "User lives in Rome.", style);
        assert_eq!(quote(1)[0]["turn"], 99);
        assert_eq!(quote(2)[0]["quote"], "I live Rome now");
        assert_eq!(quote(4)[0]["quote"], "User lives in Rome.");
        assert_eq!(quote(4)[1]["quote"], "I live in Rome now");
    }

    #[test]
    fn oracle_answers_other_schemas_with_the_smallest_value() {
        let schema = json!({"type": "object", "properties": {
            "sentences": {"type": "array"}, "same": {"type": "string", "enum": ["same", "unrelated"]},
            "target": {"type": ["string", "null"]}, "n": {"type": "integer", "minimum": 1}}});
        let expected = json!({"sentences": [], "same": "unrelated", "target": null, "n": 1});
        assert_eq!(smallest(&schema), expected);
    }
}
