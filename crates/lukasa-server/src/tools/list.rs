//! The tools for models, and the aliases that other memory systems use for them.
//!
//! Every byte here is in every prompt of every assistant, so the list is short: a test keeps it
//! under six kilobytes.

use std::sync::LazyLock;

use lukasa_core::Permission;
use serde_json::{Value, json};

/// The operation of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Action {
    Save,
    Update,
    Forget,
    Confirm,
    Link,
    List,
    Recall,
    Propose,
    Search,
    Fetch,
    Undo,
}

/// A tool as it is shown to a model.
#[derive(Debug)]
pub struct Tool {
    pub name: &'static str,
    /// Tells the model when to call it.
    pub about: &'static str,
    /// The permission that the credential must have.
    pub permission: Permission,
    pub read_only: bool,
    /// Whether a memory is no longer used afterwards. Every call can be undone.
    pub destructive: bool,
    /// Whether calling it twice does no more than calling it once.
    pub idempotent: bool,
    pub input: Value,
    pub output: Value,
    pub(super) action: Action,
}

/// All tools for models, always in this order.
pub fn all() -> &'static [Tool] {
    &TOOLS
}

/// The undo tool, which only the panel calls when the user presses Undo. It is not listed for
/// models, which do not need it. What a human did can be undone only by a human.
pub fn undo() -> &'static Tool {
    &UNDO
}

/// The tool with this name or alias.
pub fn find(name: &str) -> Option<&'static Tool> {
    let plain = super::arguments::snake(name);
    let named = |name: &str| TOOLS.iter().chain([undo()]).find(|tool| tool.name == name);
    named(&plain).or_else(|| {
        let (_, ours) = ALIASES.iter().find(|(names, _)| names.contains(&plain.as_str()))?;
        named(ours)
    })
}

/// The tool that a call means. Other memory systems answer a listing with a query by relevance, where
/// our search for literal words would find nothing.
pub(super) fn of_call(name: &str, arguments: &Value) -> Option<&'static Tool> {
    let tool = find(name)?;
    let is_other_name = super::arguments::snake(name) != tool.name;
    if tool.action == Action::List && is_other_name && super::arguments::asks(arguments) {
        return find("recall_memories");
    }
    Some(tool)
}

/// Aliases that are accepted but not listed: names in Lukasa's predecessors, and in other memory
/// systems that an assistant may know.
const ALIASES: [(&[&str], &str); 9] = [
    (
        &[
            "save_preference",
            "add_preference",
            "add_memory",
            "add_memories",
            "store_memory",
            "create_memory",
            "remember",
            "retain",
            "memory",
        ],
        "save_memory",
    ),
    (
        &["update_preference", "edit_memory", "edit_preference", "correct_memory", "correct"],
        "update_memory",
    ),
    (
        &[
            "forget_preference",
            "delete_memory",
            "delete_preference",
            "remove_memory",
            "invalidate_memory",
            "forget",
        ],
        "forget_memory",
    ),
    (&["confirm_preference", "affirm_memory", "confirm"], "confirm_memory"),
    (&["link_preferences", "link_preference", "link_memory", "link"], "link_memories"),
    (
        &[
            "list_preferences",
            "list_memory",
            "show_memory",
            "show_memories",
            "get_memories",
            "get_all_memories",
            "get_user_memories",
        ],
        "list_memories",
    ),
    (
        &[
            "recall_memory",
            "recall_preferences",
            "query_memory",
            "query_memories",
            "search_memory",
            "search_memories",
            "retrieve_memory",
            "retrieve_memories",
            "recall",
            "retrieve",
        ],
        "recall_memories",
    ),
    (&["propose_preference", "propose", "suggest_memory"], "propose_memory"),
    (&["get_memory", "read_memory"], "fetch"),
];

fn tool(name: &'static str, action: Action, about: &'static str, input: Value) -> Tool {
    Tool {
        name,
        about,
        permission: Permission::Write,
        read_only: false,
        destructive: false,
        idempotent: true,
        input,
        output: fields(json!({ "memory": { "type": "object" }, "event": { "type": "object" } })),
        action,
    }
}

fn reading(tool: Tool, output: Value) -> Tool {
    Tool { permission: Permission::Read, read_only: true, output, ..tool }
}

/// The schema of an object with `message` and these fields. Only `message` is required.
fn fields(more: Value) -> Value {
    let mut properties = json!({ "message": { "type": "string" } });
    if let (Some(all), Value::Object(more)) = (properties.as_object_mut(), more) {
        all.extend(more);
    }
    json!({ "type": "object", "properties": properties, "required": ["message"] })
}

fn takes(properties: Value, required: &[&str]) -> Value {
    let mut schema = json!({ "type": "object", "required": required });
    schema["properties"] = properties;
    schema
}

static UNDO: LazyLock<Tool> = LazyLock::new(|| {
    let operation = takes(json!({ "operation_id": { "type": "string" } }), &["operation_id"]);
    let about = "Take back what one operation did, as the user asks.";
    Tool { idempotent: false, ..tool("undo_memory", Action::Undo, about, operation) }
});

static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let text = || json!({ "type": "string" });
    let said = |what: &str| json!({ "type": "string", "description": what });
    let one_of = |words: &[&str]| json!({ "type": "string", "enum": words });
    let number = || json!({ "type": "integer" });
    let id = || said("Id, or words only it contains");
    let category = || one_of(&["profile", "context", "style", "fact"]);
    let memories = || fields(json!({ "memories": { "type": "array" } }));
    let new = || {
        json!({
            "content": said("One short line, e.g. Prefers window seats"),
            "detail": said("Anything longer; only recall shows it"),
            "category": category(),
            "domain": said("e.g. travel, health"),
            "project": text(),
            "valid_until": said("Date, if it ends"),
            "rule": {
                "type": "object",
                "description": "{key, value} of a rule the user set",
            },
        })
    };
    vec![
        tool(
            "save_memory",
            Action::Save,
            "Remember something lasting the user said or asked you to keep. First look with \
             list_memories or recall_memories: if it is there in other words, use update_memory. \
             No secrets. What you only infer: propose_memory.",
            takes(new(), &["content"]),
        ),
        tool(
            "update_memory",
            Action::Update,
            "Replace a memory's words. mode change (default): things are different now. \
             correction: it was never so. The past is kept.",
            takes(
                json!({
                    "id": id(),
                    "content": text(),
                    "detail": text(),
                    "mode": one_of(&["change", "correction"]),
                }),
                &["id", "content"],
            ),
        ),
        Tool {
            destructive: true,
            ..tool(
                "forget_memory",
                Action::Forget,
                "Stop using a memory: the user asks, or it has ended. It can be restored.",
                takes(json!({ "id": id() }), &["id"]),
            )
        },
        Tool {
            idempotent: false,
            ..tool(
                "confirm_memory",
                Action::Confirm,
                "Note that the user said a memory again, so it does not fade. \
                 Only the user confirms a rule or proposal.",
                takes(json!({ "id": id(), "quotation": said("The user's own words") }), &["id"]),
            )
        },
        tool(
            "link_memories",
            Action::Link,
            "Note that two memories belong together.",
            takes(
                json!({
                    "from_id": text(),
                    "to_id": text(),
                    "relation": said("relates_to (default), supersedes, contradicts, or any"),
                }),
                &["from_id", "to_id"],
            ),
        ),
        reading(
            tool(
                "list_memories",
                Action::List,
                "What is known about the user now, newest first.",
                takes(
                    json!({
                        "category": category(),
                        "domain": text(),
                        "search": said("Words they contain"),
                        "limit": number(),
                        "cursor": text(),
                    }),
                    &[],
                ),
            ),
            memories(),
        ),
        reading(
            tool(
                "recall_memories",
                Action::Recall,
                "Find what concerns a question, also faint memories and long details. Call it when \
                 the answer may depend on what the user said before, and before you save.",
                takes(
                    json!({
                        "query": text(),
                        "limit": number(),
                        "project": said("Or * for all"),
                    }),
                    &["query"],
                ),
            ),
            memories(),
        ),
        Tool {
            permission: Permission::Propose,
            ..tool(
                "propose_memory",
                Action::Propose,
                "Suggest what you inferred or what is delicate. Used only after the user's yes.",
                takes(
                    json!({
                        "content": text(),
                        "detail": text(),
                        "category": category(),
                        "domain": text(),
                        "reasoning": said("Why you think so"),
                    }),
                    &["content"],
                ),
            )
        },
        reading(
            tool(
                "search",
                Action::Search,
                "Search the user's memory; read results with fetch.",
                takes(json!({ "query": text() }), &["query"]),
            ),
            json!({
                "type": "object",
                "properties": { "results": { "type": "array" } },
                "required": ["results"],
            }),
        ),
        reading(
            tool(
                "fetch",
                Action::Fetch,
                "One memory in full.",
                takes(json!({ "id": text() }), &["id"]),
            ),
            json!({
                "type": "object",
                "required": ["id", "title", "text", "url"],
            }),
        ),
    ]
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tool_names_and_aliases_are_unique() {
        let mut names: Vec<&str> = ALIASES.iter().flat_map(|(names, _)| *names).copied().collect();
        names.extend(all().iter().map(|tool| tool.name));
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        for (others, ours) in ALIASES {
            for other in others {
                assert_eq!(find(other).map(|tool| tool.name), Some(ours), "{other}");
            }
        }
        let name = |name: &str| find(name).map(|tool| tool.name);
        assert_eq!(name("show_memory"), Some("list_memories"));
        assert_eq!(name("edit_memory"), Some("update_memory"));
    }

    #[test]
    fn listing_of_another_system_with_a_query_is_a_recall() {
        let name = |name: &str, sent: Value| of_call(name, &sent).map(|tool| tool.name);
        let asked = || json!({ "query": "What do I drink?" });
        assert_eq!(name("getUserMemories", asked()), Some("recall_memories"));
        assert_eq!(name("getUserMemories", json!({ "input": asked() })), Some("recall_memories"));
        assert_eq!(name("get_all_memories", json!({ "limit": 5 })), Some("list_memories"));
        assert_eq!(name("getUserMemories", json!({ "query": " " })), Some("list_memories"));
        // What only a listing can do would be dropped.
        for only in ["status", "tag", "cursor", "type", "force"] {
            let page = json!({ "query": "tea", only: "hard" });
            assert_eq!(name("getUserMemories", page), Some("list_memories"), "{only}");
        }
        assert_eq!(name("list_memories", asked()), Some("list_memories"));
    }

    #[test]
    fn tool_names_accept_camel_and_kebab_case() {
        assert_eq!(find("getUserMemories").map(|tool| tool.name), Some("list_memories"));
        assert_eq!(find("Save-Memory").map(|tool| tool.name), Some("save_memory"));
        assert!(find("erase_memory").is_none() && find("").is_none());
    }
}
