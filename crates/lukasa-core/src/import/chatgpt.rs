//! ChatGPT format: `conversations.json` of a data export. A conversation is a tree, because
//! messages can be edited and answers regenerated; the branch the user saw last is one path through
//! it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::reading::{chats, digest, moment, words};
use super::{ChatItem, ChatTurn, ParsedImport};
use crate::session::Role;

/// Parses conversations, each along its current branch, with the messages of user and assistant.
pub fn parse(text: &str) -> ParsedImport {
    chats(text, |chat| Some(conversation(chat, chat.get("mapping")?.as_object()?)))
}

fn conversation(chat: &Value, mapping: &Map<String, Value>) -> ChatItem {
    let branch = branch(chat, mapping);
    let turns: Vec<ChatTurn> = branch.into_iter().filter_map(turn).collect();
    let named = words(chat, &["conversation_id", "id"]).map(str::to_owned);
    let source = named.unwrap_or_else(|| {
        let texts: Vec<&str> = turns.iter().map(|turn| turn.content.as_str()).collect();
        digest(&texts.join("\n"))
    });
    ChatItem {
        source,
        title: words(chat, &["title"]).map(str::to_owned),
        opened_at: chat.get("create_time").and_then(moment),
        before: 0,
        turns,
        last: true,
    }
}

/// The messages from the root to the current node. Stops at a cycle.
fn branch<'c>(chat: &'c Value, mapping: &'c Map<String, Value>) -> Vec<&'c Value> {
    let mut at = words(chat, &["current_node"]).map(str::to_owned).or_else(|| newest_leaf(mapping));
    let (mut seen, mut messages) = (BTreeSet::new(), Vec::new());
    while let Some(id) = at {
        let Some(node) = mapping.get(&id) else { break };
        if !seen.insert(id) {
            break;
        }
        messages.extend(node.get("message").filter(|message| message.is_object()));
        at = words(node, &["parent"]).map(str::to_owned);
    }
    messages.reverse();
    messages
}

/// The latest message without a reply; used if the export names no current node.
fn newest_leaf(mapping: &Map<String, Value>) -> Option<String> {
    let leaf = |node: &Value| {
        node.get("children").and_then(Value::as_array).is_none_or(|children| children.is_empty())
    };
    let said =
        |node: &Value| node.get("message").and_then(|m| m.get("create_time")).and_then(moment);
    let leaves = mapping.iter().filter(|(_, node)| leaf(node));
    leaves.max_by_key(|(id, node)| (said(node), (*id).clone())).map(|(id, _)| id.clone())
}

fn turn(message: &Value) -> Option<ChatTurn> {
    let role = match message.get("author").and_then(|author| words(author, &["role"]))? {
        "user" => Role::User,
        "assistant" => Role::Assistant,
        _ => return None,
    };
    // Messages from the assistant to a tool are not part of the conversation.
    if words(message, &["recipient"]).is_some_and(|to| to != "all") {
        return None;
    }
    let hidden = message.pointer("/metadata/is_visually_hidden_from_conversation");
    if hidden.and_then(Value::as_bool) == Some(true) {
        return None;
    }
    let content = message.get("content")?;
    let content_type = words(content, &["content_type"]).unwrap_or("text");
    if !["text", "multimodal_text"].contains(&content_type) {
        return None;
    }
    let parts = content.get("parts").and_then(Value::as_array)?;
    let texts = parts.iter().filter_map(|part| part.as_str().or_else(|| words(part, &["text"])));
    let texts: Vec<&str> = texts.map(str::trim).filter(|text| !text.is_empty()).collect();
    if texts.is_empty() {
        return None;
    }
    let said_at = message.get("create_time").and_then(moment);
    Some(ChatTurn { role, content: texts.join("\n\n"), said_at })
}

#[cfg(test)]
mod tests {
    use super::super::ImportItem;
    use super::*;

    /// A question that was edited, and an answer to each version; only the second pair is current.
    const EXPORT: &str = r#"[{
      "title": "Seats", "create_time": 1700000000.5, "conversation_id": "c-1", "current_node": "a2",
      "mapping": {
        "root": {"id": "root", "message": null, "parent": null, "children": ["sys"]},
        "sys": {"id": "sys", "parent": "root", "children": ["u1", "u2"], "message":
          {"author": {"role": "system"}, "content": {"content_type": "text", "parts": [""]}}},
        "u1": {"id": "u1", "parent": "sys", "children": ["a1"], "message": {"author": {"role": "user"},
          "content": {"content_type": "text", "parts": ["Aisle?"]}}},
        "a1": {"id": "a1", "parent": "u1", "children": [], "message": {"author": {"role": "assistant"},
          "content": {"content_type": "text", "parts": ["Aisle it is."]}}},
        "u2": {"id": "u2", "parent": "sys", "children": ["t2"], "message": {"author": {"role": "user"},
          "create_time": 1700000010, "content": {"content_type": "multimodal_text",
          "parts": [{"content_type": "image_asset_pointer"}, "Window, please."]}}},
        "t2": {"id": "t2", "parent": "u2", "children": ["a2"], "message":
          {"author": {"role": "assistant"}, "recipient": "python",
           "content": {"content_type": "code", "text": "seats()"}}},
        "a2": {"id": "a2", "parent": "t2", "children": [], "message": {"author": {"role": "assistant"},
          "create_time": 1700000011, "content": {"content_type": "text", "parts": ["Window it is."]}}}
      }}, {"title": "Empty", "mapping": {}}]"#;

    fn chat(text: &str) -> ChatItem {
        match parse(text).items.remove(0) {
            ImportItem::Chat(chat) => chat,
            other => panic!("a chat, not {other:?}"),
        }
    }

    #[test]
    fn chatgpt_current_branch_becomes_a_session() {
        let parsed = parse(EXPORT);
        assert_eq!((parsed.items.len(), parsed.unread), (1, 1));
        let chat = chat(EXPORT);
        assert_eq!((chat.source.as_str(), chat.title.as_deref()), ("c-1", Some("Seats")));
        let said: Vec<_> = chat.turns.iter().map(|t| (t.role, t.content.as_str())).collect();
        assert_eq!(said, [(Role::User, "Window, please."), (Role::Assistant, "Window it is.")]);
        assert_eq!(chat.turns[0].said_at.unwrap().as_second(), 1_700_000_010);
    }

    #[test]
    fn chatgpt_uses_latest_leaf_and_stops_at_cycles() {
        let nowhere = EXPORT.replace(r#""current_node": "a2","#, "");
        assert_eq!(chat(&nowhere).turns[0].content, "Window, please.");
        let ring = EXPORT.replace(r#""parent": "root""#, r#""parent": "a2""#);
        assert_eq!(chat(&ring).turns.len(), 2);
    }
}
