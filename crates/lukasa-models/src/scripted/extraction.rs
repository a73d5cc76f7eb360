//! Answers of a chat model to the request to learn from a conversation.

use serde_json::{Value, json};

/// A proposal as a chat model writes it: the memory, and the quoted evidence.
pub fn proposed_memory(content: &str, quote: &str) -> Value {
    json!({
        "op": "add", "content": content, "kind": "fact", "importance": 8, "confidence": 0.9,
        "reasoning": "said so", "evidence": [{ "turn": 1, "quote": quote }],
    })
}

/// The whole answer of a chat model with these proposals.
pub fn answer(memories: &[Value]) -> String {
    json!({ "title": "A chat", "summary": "They talked.", "memories": memories }).to_string()
}
