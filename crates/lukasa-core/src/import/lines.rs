//! JSON lines, the generic format: one memory per line, as a string or an object.

use serde_json::Value;

use super::reading::{digest, list, moment, values, words};
use super::{MemoryItem, ParsedImport};
use crate::fact::{Category, Kind};

/// Parses one memory from each line, or from each entry of a list.
pub fn parse(text: &str) -> ParsedImport {
    let mut parsed = ParsedImport::default();
    let (values, unread) = values(text);
    parsed.unread = unread;
    let entries = values.iter().flat_map(|value| match value {
        Value::Array(items) => items.iter().collect::<Vec<_>>(),
        other => vec![other],
    });
    for entry in entries {
        let text = entry.as_str().map(str::trim).filter(|text| !text.is_empty());
        match text.or_else(|| words(entry, &["content", "memory", "text"])) {
            Some(content) => parsed.memory(memory(entry, content)),
            None => parsed.unread += 1,
        }
    }
    parsed
}

fn memory(entry: &Value, content: &str) -> MemoryItem {
    let source = words(entry, &["id", "source"]).map_or_else(|| digest(content), str::to_owned);
    let at = ["at", "valid_from", "created_at"].iter().find_map(|name| entry.get(name));
    MemoryItem {
        source,
        content: content.to_owned(),
        detail: words(entry, &["detail"]).map(str::to_owned),
        category: words(entry, &["category"]).and_then(Category::parse),
        kind: words(entry, &["kind"]).and_then(Kind::parse),
        tags: list(entry.get("tags")),
        at: at.and_then(moment),
    }
}

#[cfg(test)]
mod tests {
    use super::super::ImportItem;
    use super::*;

    #[test]
    fn json_line_is_a_string_or_an_object() {
        let text = "\"Likes tea\"\n{\"content\": \"Likes cake\", \"tags\": [\"food\"], \
                    \"kind\": \"preference\", \"created_at\": \"2024-01-02\", \"id\": \"c1\"}\n7\n";
        let parsed = parse(text);
        assert_eq!((parsed.items.len(), parsed.unread), (2, 1));
        let ImportItem::Memory(cake) = &parsed.items[1] else { panic!("a memory") };
        assert_eq!((cake.source.as_str(), cake.kind), ("c1", Some(Kind::Preference)));
        assert_eq!(cake.tags, ["food"]);
    }
}
