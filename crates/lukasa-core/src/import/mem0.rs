//! mem0 format: the result of `get_all`, an export, or a file with one memory per line.

use serde_json::Value;

use super::reading::{digest, list, moment, values, words};
use super::{MemoryItem, ParsedImport};

/// Parses memories. With `only`, those of other users are skipped: a file may contain the memories
/// of all users of an application.
pub fn parse(text: &str, only: Option<&str>) -> ParsedImport {
    let mut parsed = ParsedImport::default();
    let (values, unread) = values(text);
    parsed.unread = unread;
    for value in &values {
        for entry in entries(value) {
            if only.is_some() && words(entry, &["user_id"]) != only {
                continue;
            }
            match memory(entry) {
                Some(item) => parsed.memory(item),
                None => parsed.unread += 1,
            }
        }
    }
    parsed
}

/// The ids of the users in a file.
pub fn users(text: &str) -> Vec<String> {
    let (values, _) = values(text);
    let entries = values.iter().flat_map(entries);
    let mut users: Vec<String> =
        entries.filter_map(|entry| words(entry, &["user_id"]).map(str::to_owned)).collect();
    users.sort_unstable();
    users.dedup();
    users
}

/// The entries of a list, or of an object that wraps the list.
fn entries(value: &Value) -> Vec<&Value> {
    let wrapped = ["results", "memories", "data"].iter().find_map(|name| value.get(name));
    match wrapped.filter(|inner| inner.is_array()).unwrap_or(value) {
        Value::Array(items) => items.iter().collect(),
        other => vec![other],
    }
}

fn memory(entry: &Value) -> Option<MemoryItem> {
    let content = words(entry, &["memory", "text", "content", "data"])?;
    let source = match entry.get("id") {
        Some(Value::String(id)) if !id.trim().is_empty() => id.trim().to_owned(),
        Some(Value::Number(id)) => id.to_string(),
        _ => digest(content),
    };
    let mut tags = list(entry.get("categories"));
    tags.extend(list(entry.get("metadata").and_then(|metadata| metadata.get("category"))));
    Some(MemoryItem {
        source,
        content: content.to_owned(),
        tags,
        at: entry.get("created_at").and_then(moment),
        ..MemoryItem::default()
    })
}

#[cfg(test)]
mod tests {
    use super::super::ImportItem;
    use super::*;

    const ALL: &str = r#"{"results": [
        {"id": "892db2ae", "memory": "Is vegetarian", "user_id": "ana", "metadata": {"category": "food"},
         "categories": ["diet"], "created_at": "2024-07-20T01:30:36.275141-07:00", "updated_at": null},
        {"id": "cb4ab4d5", "memory": "Plays chess", "user_id": "ben", "score": 0.3},
        {"id": "empty", "memory": " "}
    ]}"#;

    #[test]
    fn mem0_export_becomes_memories_with_dates_and_tags() {
        let parsed = parse(ALL, None);
        assert_eq!((parsed.items.len(), parsed.unread), (2, 1));
        let ImportItem::Memory(first) = &parsed.items[0] else { panic!("a memory") };
        assert_eq!((first.source.as_str(), first.content.as_str()), ("892db2ae", "Is vegetarian"));
        assert_eq!(first.tags, ["diet", "food"]);
        assert_eq!(first.at.unwrap().to_string(), "2024-07-20T08:30:36.275141Z");
        assert_eq!(
            (users(ALL), parse(ALL, Some("ben")).items.len()),
            (vec!["ana".into(), "ben".into()], 1)
        );
    }

    #[test]
    fn mem0_lines_and_bare_lists_are_parsed() {
        let lines =
            "{\"memory\": \"Likes tea\"}\nnot json\n{\"memory\": \"Likes cake\", \"id\": 7}\n";
        let parsed = parse(lines, None);
        assert_eq!((parsed.items.len(), parsed.unread), (2, 1));
        assert_eq!(parse(r#"[{"text": "Likes tea"}]"#, None).items[..1], parsed.items[..1]);
    }
}
