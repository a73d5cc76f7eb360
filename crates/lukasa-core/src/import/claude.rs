//! Claude format: `conversations.json` of a data export, and `memories.json` if present.

use serde_json::Value;

use super::reading::{chats, digest, moment, values, words};
use super::{ChatItem, ChatTurn, MemoryItem, ParsedImport};
use crate::session::Role;

/// Parses conversations.
pub fn parse(text: &str) -> ParsedImport {
    chats(text, |chat| Some(conversation(chat, chat.get("chat_messages")?.as_array()?)))
}

fn conversation(chat: &Value, messages: &[Value]) -> ChatItem {
    let turns: Vec<ChatTurn> = messages.iter().filter_map(turn).collect();
    let source = words(chat, &["uuid", "id"]).map(str::to_owned).unwrap_or_else(|| {
        let texts: Vec<&str> = turns.iter().map(|turn| turn.content.as_str()).collect();
        digest(&texts.join("\n"))
    });
    ChatItem {
        source,
        title: words(chat, &["name", "title"]).map(str::to_owned),
        opened_at: chat.get("created_at").and_then(moment),
        before: 0,
        turns,
        last: true,
    }
}

fn turn(message: &Value) -> Option<ChatTurn> {
    let role = match words(message, &["sender"])? {
        "human" => Role::User,
        "assistant" => Role::Assistant,
        _ => return None,
    };
    let blocks = message.get("content").and_then(Value::as_array).into_iter().flatten();
    let blocks = blocks.filter(|block| words(block, &["type"]) == Some("text"));
    let texts: Vec<&str> = blocks.filter_map(|block| words(block, &["text"])).collect();
    let content = match texts.is_empty() {
        true => words(message, &["text"])?.to_owned(),
        false => texts.join("\n\n"),
    };
    let said_at = message.get("created_at").and_then(moment);
    Some(ChatTurn { role, content, said_at })
}

/// Parses Claude's own memories: pages of prose, each line of which becomes a memory.
pub fn memories(text: &str) -> ParsedImport {
    let mut parsed = ParsedImport::default();
    let (values, unread) = values(text);
    parsed.unread = unread;
    for value in &values {
        let accounts = match value {
            Value::Array(accounts) => accounts.iter().collect(),
            other => vec![other],
        };
        for account in accounts {
            let own = words(account, &["conversations_memory", "memory", "content", "text"]);
            let projects = account.get("project_memories").and_then(Value::as_object);
            let projects =
                projects.into_iter().flat_map(|map| map.values()).filter_map(Value::as_str);
            let pages: Vec<&str> = own.into_iter().chain(projects).collect();
            if pages.is_empty() {
                parsed.unread += 1;
            }
            for line in pages.iter().flat_map(|page| page.lines()).filter_map(plain) {
                let source = format!("memory-{}", digest(&line));
                parsed.memory(MemoryItem { source, content: line, ..MemoryItem::default() });
            }
        }
    }
    parsed
}

/// A line of prose without Markdown marks; `None` for a heading.
fn plain(line: &str) -> Option<String> {
    let line = line.trim();
    let bold = line.starts_with("**") && line.ends_with("**") && line.len() > 4;
    if line.starts_with('#') || line.starts_with("---") || bold {
        return None;
    }
    let line = line.trim_start_matches(['-', '*', '•']).trim().replace("**", "");
    (line.chars().filter(|c| c.is_alphabetic()).count() >= 3).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::super::ImportItem;
    use super::*;

    const EXPORT: &str = r#"[{"uuid": "u-1", "name": "Bread", "created_at": "2024-05-01T10:00:00.123Z",
      "chat_messages": [
        {"uuid": "m1", "sender": "human", "text": "I bake rye bread.", "created_at": "2024-05-01T10:00:01Z",
         "content": [{"type": "text", "text": "I bake rye bread."}]},
        {"uuid": "m2", "sender": "assistant", "text": "fallback",
         "content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Lovely."}]},
        {"uuid": "m3", "sender": "human", "text": "", "content": []}
      ]}]"#;

    #[test]
    fn claude_conversations_become_sessions() {
        let parsed = parse(EXPORT);
        let [ImportItem::Chat(chat)] = &parsed.items[..] else { panic!("one chat") };
        assert_eq!((chat.source.as_str(), chat.title.as_deref()), ("u-1", Some("Bread")));
        let said: Vec<_> = chat.turns.iter().map(|t| (t.role, t.content.as_str())).collect();
        assert_eq!(said, [(Role::User, "I bake rye bread."), (Role::Assistant, "Lovely.")]);
    }

    #[test]
    fn claude_memories_are_parsed_line_by_line() {
        let text = r###"[{"conversations_memory": "**Work**\n\nAna is a baker.\n- Lives in **Porto**\n## Food",
                        "project_memories": {"p": "Plans a bakery."}, "account_uuid": "a"}]"###;
        let parsed = memories(text);
        let said: Vec<_> = parsed
            .items
            .iter()
            .map(|item| match item {
                ImportItem::Memory(memory) => memory.content.as_str(),
                other => panic!("a memory, not {other:?}"),
            })
            .collect();
        assert_eq!(said, ["Ana is a baker.", "Lives in Porto", "Plans a bakery."]);
    }
}
