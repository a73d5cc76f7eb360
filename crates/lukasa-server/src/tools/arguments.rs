//! Normalizes the arguments of a tool call, as models really send them: under other names, in other
//! cases, wrapped in another object, with blanks for absent values. The result has the API's names.
//!
//! Only the fields of a tool are accepted. In particular no argument can name a user: such a field
//! is dropped.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::list::{Action, Tool};
use crate::api::code::ErrorCode;
use crate::api::error::Problem;

const NEW: &[&str] = &[
    "content",
    "summary",
    "detail",
    "category",
    "type",
    "kind",
    "force",
    "domain",
    "key",
    "value",
    "rule",
    "confidence",
    "tags",
    "importance",
    "evidence",
    "reasoning",
    "turn_ids",
    "valid_from",
    "valid_until",
    "ttl",
    "project",
];
const UPDATE: &[&str] = &[
    "id",
    "content",
    "summary",
    "detail",
    "category",
    "kind",
    "domain",
    "tags",
    "importance",
    "reasoning",
    "mode",
    "quotations",
    "turn_ids",
    "valid_from",
    "valid_until",
    "project",
];
const LIST: &[&str] = &[
    "category", "domain", "type", "kind", "force", "tag", "search", "status", "as_of", "limit",
    "cursor", "project",
];
const RECALL: &[&str] = &[
    "query",
    "limit",
    "category",
    "domains",
    "kind",
    "as_of",
    "timezone",
    "min_confidence",
    "project",
];

/// Aliases of fields, in order of precedence.
type Aliases = &'static [(&'static str, &'static [&'static str])];

const CONTENT: (&str, &[&str]) =
    ("content", &["text", "memory", "fact", "preference", "data", "statement", "note"]);
const DETAIL: (&str, &[&str]) = ("detail", &["details", "body", "description"]);
const ID: (&str, &[&str]) = (
    "id",
    &[
        "id_or_substring",
        "id_or_text",
        "memory_id",
        "preference_id",
        "target",
        "substring",
        "content",
        "text",
        "memory",
        "query",
        "uri",
    ],
);
const QUERY: (&str, &[&str]) =
    ("query", &["q", "text", "question", "message", "search_query", "search", "content"]);
const QUOTATIONS: (&str, &[&str]) =
    ("quotations", &["quotation", "quote", "quotes", "evidence", "user_said"]);
const LIMIT: (&str, &[&str]) = ("limit", &["top_k", "k", "n", "count", "max_results"]);

/// The fields of a tool, and their aliases.
fn accepted(action: Action) -> (&'static [&'static str], Aliases) {
    match action {
        Action::Save | Action::Propose => (NEW, &[CONTENT, DETAIL, ("reasoning", &["reason"])]),
        Action::Update => (
            UPDATE,
            &[
                (
                    "id",
                    &[
                        "id_or_substring",
                        "id_or_text",
                        "memory_id",
                        "preference_id",
                        "target",
                        "substring",
                        "old_content",
                        "old_text",
                    ],
                ),
                ("content", &["new_content", "new_text", "text", "memory", "data"]),
                ("detail", &["new_detail", "details"]),
                QUOTATIONS,
            ],
        ),
        Action::Confirm => (&["id", "quotations"], &[QUOTATIONS, ID]),
        Action::Forget | Action::Fetch => (&["id"], &[ID]),
        Action::Link => (
            &["from_id", "to_id", "relation"],
            &[
                ("from_id", &["from", "source", "source_id", "id"]),
                ("to_id", &["to", "target", "target_id"]),
                ("relation", &["type", "kind", "label"]),
            ],
        ),
        Action::Undo => (&["operation_id"], &[]),
        Action::List => (LIST, &[LIMIT, ("search", &["query", "text", "id"])]),
        Action::Recall | Action::Search => (RECALL, &[QUERY, LIMIT, ("domains", &["domain"])]),
    }
}

/// The arguments of one call under the API's names.
pub struct Arguments(Map<String, Value>);

impl Arguments {
    pub fn read(tool: &Tool, sent: &Value) -> Self {
        let mut plain = Map::new();
        for (name, value) in unwrap_object(sent) {
            if !is_blank(&value) {
                plain.insert(snake(&name), value);
            }
        }
        let (fields, aliases) = accepted(tool.action);
        for (field, names) in aliases {
            for name in *names {
                // An alias that is also a field of this tool means that field.
                let taken = plain.contains_key(*field) || fields.contains(name);
                if !taken && let Some(value) = plain.remove(*name) {
                    plain.insert((*field).to_owned(), value);
                }
            }
        }
        plain.retain(|name, _| fields.contains(&name.as_str()));
        for name in ["limit", "importance", "confidence", "min_confidence"] {
            if let Some(number) = plain.get(name).and_then(Value::as_str).and_then(number) {
                plain.insert(name.to_owned(), number);
            }
        }
        // A quotation may contain commas, so it is not split.
        if let Some(one) = plain.get("quotations").filter(|value| value.is_string()).cloned() {
            plain.insert("quotations".to_owned(), Value::Array(vec![one]));
        }
        // Evidence as a string, or a list of strings, is taken as quotations of the user.
        if let Some(evidence) = plain.get_mut("evidence") {
            let quote = |one: &Value| match one {
                Value::String(text) => json!({ "type": "quote", "description": text }),
                other => other.clone(),
            };
            *evidence = match &*evidence {
                Value::Array(several) => several.iter().map(quote).collect(),
                one => Value::Array(vec![quote(one)]),
            };
        }
        for name in ["tags", "domains", "turn_ids"] {
            if let Some(several) = plain.get(name).and_then(Value::as_str) {
                let several = several.split(',').map(str::trim).filter(|one| !one.is_empty());
                let several: Value = several.collect();
                plain.insert(name.to_owned(), several);
            }
        }
        Self(plain)
    }

    /// Refuses the call if this argument is missing.
    pub fn require(&self, name: &str) -> Result<(), Problem> {
        if self.0.contains_key(name) { Ok(()) } else { Err(Problem::invalid(name, "it is needed")) }
    }

    /// Takes a required text.
    pub fn take_required(&mut self, name: &str) -> Result<String, Problem> {
        match self.0.remove(name) {
            Some(Value::String(text)) => Ok(text),
            Some(_) => Err(Problem::invalid(name, "a text")),
            None => Err(Problem::invalid(name, "it is needed")),
        }
    }

    /// Takes a list of texts, empty if it is absent.
    pub fn take_texts(&mut self, name: &str) -> Result<Vec<String>, Problem> {
        let several = self.0.remove(name).unwrap_or_else(|| json!([]));
        serde_json::from_value(several).map_err(|_| Problem::invalid(name, "a list of texts"))
    }

    /// Takes the wish for all projects: `*` instead of a name.
    pub fn take_all_projects(&mut self) -> bool {
        let is_all = self.0.get("project").is_some_and(|name| name == "*");
        if is_all {
            self.0.remove("project");
        }
        is_all
    }

    /// Takes an optional text.
    pub fn take_text(&mut self, name: &str) -> Option<String> {
        match self.0.remove(name) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    /// Puts the fields of a `rule` in their places: it is a hard memory with a key and a value.
    pub fn take_rule(&mut self) {
        let Some(Value::Object(mut rule)) = self.0.remove("rule") else { return };
        for name in ["key", "value"] {
            if let Some(value) = rule.remove(name).filter(|value| !is_blank(value)) {
                self.0.insert(name.to_owned(), value);
            }
        }
        if self.0.contains_key("key") {
            self.set("force", json!("hard"));
        }
        if self.0.contains_key("content") {
            return;
        }
        // The value says it all: a list or an object is the content, anything else its text.
        match self.0.get("value") {
            Some(Value::Array(_) | Value::Object(_)) => {
                if let Some(value) = self.0.remove("value") {
                    self.set("content", value);
                }
            }
            Some(value) => self.set("content", json!(lukasa_core::value_text(value))),
            None => {}
        }
    }

    /// Drops an argument that this call has no use for.
    pub fn ignore(&mut self, name: &str) {
        self.0.remove(name);
    }

    pub fn set(&mut self, name: &str, value: Value) {
        self.0.insert(name.to_owned(), value);
    }

    /// Parses the remaining arguments as an API request.
    pub fn into_request<T: DeserializeOwned>(self) -> Result<T, Problem> {
        serde_json::from_value(Value::Object(self.0))
            .map_err(|error| Problem::of(ErrorCode::MalformedBody).because(&error.to_string()))
    }
}

/// Whether the arguments of a listing ask a question, and name nothing that only a listing can do.
pub fn asks(sent: &Value) -> bool {
    let sent = unwrap_object(sent);
    let has = |names: &[&str]| {
        sent.iter().any(|(name, value)| names.contains(&snake(name).as_str()) && !is_blank(value))
    };
    has(&["query", "q", "question"]) && !has(&["status", "tag", "cursor", "type", "force"])
}

/// The object with the arguments: some clients send it as text, some wrap it in another object.
fn unwrap_object(sent: &Value) -> Map<String, Value> {
    match sent {
        Value::String(text) => match serde_json::from_str(text) {
            Ok(inner @ Value::Object(_)) => unwrap_object(&inner),
            _ => Map::new(),
        },
        Value::Object(object) => match object.iter().next() {
            Some((name, inner))
                if object.len() == 1
                    && ["input", "args", "arguments", "parameters", "params"]
                        .contains(&name.as_str())
                    && (inner.is_object()
                        || inner.as_str().is_some_and(|text| text.starts_with('{'))) =>
            {
                unwrap_object(inner)
            }
            _ => object.clone(),
        },
        _ => Map::new(),
    }
}

/// Whether a value means an absent field: models send null or an empty string.
fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

fn number(text: &str) -> Option<Value> {
    let text = text.trim();
    text.parse::<u64>().map(Value::from).ok().or_else(|| text.parse::<f64>().map(Value::from).ok())
}

/// Converts a name to snake case: `idOrSubstring` and `ID-or-Substring` become `id_or_substring`.
pub fn snake(name: &str) -> String {
    let mut plain = String::with_capacity(name.len() + 4);
    let mut before = '_';
    for c in name.chars().take(128) {
        if c.is_uppercase() && before.is_lowercase() {
            plain.push('_');
        }
        plain.extend(if c == '-' || c == ' ' { '_' } else { c }.to_lowercase());
        before = c;
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::super::find;
    use super::*;

    fn read(tool: &str, sent: &Value) -> Value {
        Value::Object(Arguments::read(find(tool).unwrap(), sent).0)
    }

    #[test]
    fn tool_argument_aliases_are_accepted() {
        let update = json!({ "idOrSubstring": "tea", "new_content": "Likes mate" });
        let plain = json!({ "id": "tea", "content": "Likes mate" });
        assert_eq!(read("update_preference", &update), plain);
        assert_eq!(read("forget", &json!({ "text": "tea" })), json!({ "id": "tea" }));
        let found = read("query_memory", &json!({ "q": "tea", "topK": "3" }));
        assert_eq!(found, json!({ "query": "tea", "limit": 3 }));
        let linked = json!({ "from": "a", "target_id": "b", "type": "supersedes" });
        let plain = json!({ "from_id": "a", "to_id": "b", "relation": "supersedes" });
        assert_eq!(read("link_preferences", &linked), plain);
    }

    #[test]
    fn wrapped_and_blank_tool_arguments_are_normalized() {
        let plain = json!({ "content": "Likes tea" });
        for sent in [
            json!({ "input": { "content": "Likes tea", "detail": null, "domain": " " } }),
            json!({ "args": { "text": "Likes tea" } }),
            json!({ "arguments": "{\"content\":\"Likes tea\"}" }),
            json!("{\"memory\":\"Likes tea\"}"),
        ] {
            assert_eq!(read("save_memory", &sent), plain);
        }
        assert_eq!(read("save_memory", &json!([1])), json!({}));
        let tagged = read("save_memory", &json!({ "content": "x", "tags": "a, b" }));
        assert_eq!(tagged, json!({ "content": "x", "tags": ["a", "b"] }));
    }

    #[test]
    fn tool_arguments_cannot_name_a_user() {
        let sent = json!({ "content": "x", "user_id": "bob", "X-Lukasa-User": "bob", "origin": "user_said",
            "tenant": "t", "session_id": "s", "confirmed": true });
        assert_eq!(read("save_memory", &sent), json!({ "content": "x" }));
    }
}
