//! What a request may use of the operator's account at the model service: requests of clients
//! without a key of their own are sent with the server's.
//!
//! Such a request may name only the allowed models. Tools that the service runs itself, and what is
//! stored in the account (files, prompts, conversations), cost or show what is the operator's, so
//! they are refused unless they are allowed. An earlier response may be continued only by the user
//! it was made for. A request with the client's own key is not checked.

use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::HeaderMap;
use clap::Args;
use lukasa_core::{Caller, UserId};
use moka::sync::Cache;
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::refusal::GatewayError;
use super::upstream::sends_own_key;
use super::{BLOCKING_BYTES, Gateway, Upstream};
use crate::api::code::ErrorCode;

/// How many responses are remembered with their users, and for how long. Recorded ones are found in
/// the database after that.
const MAX_RESPONSES: u64 = 100_000;
const RESPONSE_TTL: Duration = Duration::from_secs(24 * 60 * 60);
/// How much of the beginning of an answer is searched for its id, in bytes.
const HEAD_BYTES: usize = 4 * 1024;
/// The longest id of a response, in bytes.
const ID_BYTES: usize = 256;

/// What clients may use with the server's own key.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Gateway")]
pub struct AccountSettings {
    /// Models that may be used with the server's key, separated by commas, as `gpt-5-mini,text-*`;
    /// all if absent
    #[arg(long, env = "LUKASA_UPSTREAM_MODELS", value_delimiter = ',', value_name = "NAMES")]
    pub upstream_models: Vec<String>,
    /// With the server's key, also allow tools that the service runs itself (such as web search),
    /// and its files, stored prompts and conversations
    #[arg(long, env = "LUKASA_UPSTREAM_HOSTED")]
    pub upstream_hosted: bool,
}

/// The rules for requests with the server's own key.
#[derive(Clone)]
pub struct AccountRules {
    /// Names of models, some ending in `*`; empty if all are allowed.
    models: Vec<String>,
    hosted: bool,
    /// Responses that passed through this server.
    responses: Cache<(UserId, String), ()>,
}

impl AccountRules {
    /// Rules by the settings. The user of a local server is its operator: only the models are limited.
    pub fn new(settings: &AccountSettings, is_local: bool) -> Self {
        let names = settings.upstream_models.iter().map(|name| name.trim().to_owned());
        let responses =
            Cache::builder().max_capacity(MAX_RESPONSES).time_to_live(RESPONSE_TTL).build();
        Self {
            models: names.filter(|name| !name.is_empty()).collect(),
            hosted: settings.upstream_hosted || is_local,
            responses,
        }
    }

    fn allows_model(&self, model: &str) -> bool {
        let is_it = |name: &String| match name.strip_suffix('*') {
            Some(start) => model.starts_with(start),
            None => model == name,
        };
        self.models.is_empty() || self.models.iter().any(is_it)
    }

    fn is_open(&self) -> bool {
        self.hosted && self.models.is_empty()
    }

    /// What the body uses that it may not, if anything. With a key of the client's own only the
    /// models are checked.
    fn fault(&self, body: &Value, has_own_key: bool) -> Option<String> {
        let checks_hosted = !self.hosted && !has_own_key;
        if self.models.is_empty() && !checks_hosted {
            return None;
        }
        let fields = body.as_object().into_iter().flatten();
        for (name, _) in fields.clone() {
            if is_disguised(name) {
                return Some(format!("`{name}` must be written as `{}`", folded(name)));
            }
        }
        let model = body["model"].as_str();
        if !model.map_or(self.models.is_empty(), |model| self.allows_model(model)) {
            return Some(format!("the model {:?} is not allowed", model.unwrap_or_default()));
        }
        let is_routing =
            |name: &str| ROUTING_FIELDS.contains(&name) || name.starts_with(MOCK_FIELDS);
        if let Some((name, _)) =
            fields.clone().find(|(name, value)| is_routing(name) && !value.is_null())
        {
            return Some(format!("`{name}` could choose another model and is not allowed"));
        }
        if checks_hosted { hosted_fault(body) } else { None }
    }

    /// A watcher that remembers the response that is answered to this user.
    pub(super) fn watch(&self, caller: &Caller) -> ResponseWatch {
        ResponseWatch { rules: self.clone(), user: caller.user, head: Vec::new(), is_done: false }
    }
}

/// Fields by which a router or proxy in front of models uses another model than the named one, or
/// other fields than these.
const ROUTING_FIELDS: [&str; 5] = ["models", "fallbacks", "route", "preset", "extra_body"];
/// The beginning of the fields with which a proxy is made to fall back to another model.
const MOCK_FIELDS: &str = "mock_testing_";
/// Other fields that are read here.
const READ_FIELDS: [&str; 5] = ["model", "tools", "messages", "input", "previous_response_id"];
/// Tools that the client runs itself. All others are run by the service.
const CLIENT_TOOLS: [&str; 4] = ["function", "custom", "local_shell", "apply_patch"];
/// Fields that start something on the side of the service, or read what is stored there.
const HOSTED_FIELDS: [&str; 6] =
    ["web_search_options", "plugins", "conversation", "prompt", "vector_store_ids", "data_sources"];
/// The end of a model's name with which a router adds a web search, and the part that names settings
/// stored in the account.
const ONLINE_MODEL: &str = ":online";
const PRESET_MODEL: &str = "@preset/";
/// Fields inside messages that name something stored in the account.
const STORED_FIELDS: [&str; 5] =
    ["file_id", "file_ids", "vector_store_id", "vector_store_ids", "container_id"];

/// A name as services read it that do not tell upper from lower case.
fn folded(name: &str) -> String {
    name.to_uppercase().to_lowercase()
}

/// Whether a service could read a field as one that is checked here, although it has another name.
fn is_disguised(name: &str) -> bool {
    let folded = folded(name);
    let lists: [&[&str]; 3] = [&READ_FIELDS, &ROUTING_FIELDS, &HOSTED_FIELDS];
    let is_checked = lists.iter().any(|list| list.contains(&folded.as_str()));
    folded != name && (is_checked || folded.starts_with(MOCK_FIELDS))
}

/// What a body uses of the account besides a model.
fn hosted_fault(body: &Value) -> Option<String> {
    let model = folded(body["model"].as_str().unwrap_or_default());
    if model.ends_with(ONLINE_MODEL) || model.contains(PRESET_MODEL) {
        return Some(format!("the model {model:?} is not allowed"));
    }
    if let Some(field) = HOSTED_FIELDS.iter().find(|field| !body[**field].is_null()) {
        return Some(format!("`{field}` is not allowed"));
    }
    for tool in body["tools"].as_array().into_iter().flatten() {
        let names = tool.as_object().into_iter().flatten().map(|(name, _)| name);
        if let Some(name) = names.clone().find(|name| *name != "type" && folded(name) == "type") {
            return Some(format!("`{name}` of a tool must be written as `type`"));
        }
        let kind = tool.get("type").map_or("function", |kind| kind.as_str().unwrap_or_default());
        if !CLIENT_TOOLS.contains(&kind) {
            return Some(format!("the tool {kind:?} is run by the service and is not allowed"));
        }
    }
    if body["input"].as_array().into_iter().flatten().any(is_reference) {
        return Some("an item of `input` needs a `type`, or a `role` and `content`".to_owned());
    }
    let field = ["messages", "input"].iter().find_map(|list| stored_field(&body[*list]));
    field.map(|field| format!("`{field}` names something stored at the service and is not allowed"))
}

/// Whether an item of the input only names another one: the type of a reference may be left out.
fn is_reference(item: &Value) -> bool {
    let has_type = item.get("type").is_some_and(|kind| !kind.is_null());
    let is_message = item.get("role").is_some() && item.get("content").is_some();
    item["id"].is_string() && !has_type && !is_message
}

/// The first field in a list of messages that names something stored in the account. The arguments
/// and outputs of function calls are texts, so they are not read.
fn stored_field(value: &Value) -> Option<&str> {
    match value {
        Value::Array(items) => items.iter().find_map(stored_field),
        Value::Object(fields) => {
            let is_reference = |(name, value): (&String, &Value)| {
                folded(name) == "type" && value == "item_reference"
            };
            if fields.iter().any(is_reference) {
                return Some("item_reference");
            }
            let is_named = |(name, value): &(&String, &Value)| {
                (value.is_string() || value.is_array())
                    && STORED_FIELDS.contains(&folded(name).as_str())
            };
            let named = fields.iter().find(is_named).map(|(name, _)| name.as_str());
            named.or_else(|| fields.values().find_map(stored_field))
        }
        _ => None,
    }
}

impl Gateway {
    /// Refuses a request that would use more of the operator's account than it may. Any key is as
    /// good as none for a service for which the server has none, so it does not lift the limits on
    /// models.
    pub(super) async fn check_account(
        &self,
        upstream: &Upstream,
        caller: &Caller,
        headers: &HeaderMap,
        body: &Bytes,
    ) -> Result<(), GatewayError> {
        let rules = &self.0.account;
        let is_guide = matches!(upstream, Upstream::Guide);
        let has_own_key = sends_own_key(headers);
        let is_theirs = has_own_key && (upstream.has_key() || rules.models.is_empty());
        if is_guide || rules.is_open() || is_theirs {
            return Ok(());
        }
        let body = read_unique(body).await.map_err(|what| {
            GatewayError::because(ErrorCode::MalformedBody, &format!("The body {what}"))
        })?;
        let refuse = |what: &str| Err(GatewayError::because(ErrorCode::UpstreamRefused, what));
        if let Some(what) = rules.fault(&body, has_own_key) {
            let whose = if has_own_key { "At this server" } else { "With the server's key" };
            return refuse(&format!("{whose} {what}"));
        }
        let earlier = body["previous_response_id"].as_str();
        let earlier = earlier.filter(|_| !rules.hosted && !has_own_key);
        let Some(earlier) = earlier else { return Ok(()) };
        let is_known = rules.responses.contains_key(&(caller.user, earlier.to_owned()));
        if is_known || self.session_of(caller, earlier).await?.is_some() {
            return Ok(());
        }
        refuse("The response in `previous_response_id` is not known to be one of this user")
    }
}

/// Parses a body in which no object has a name twice: the service might read the other one. A large
/// one is parsed on a blocking thread.
async fn read_unique(body: &Bytes) -> Result<Value, String> {
    let read = |bytes: &[u8]| {
        let read = serde_json::from_slice::<UniqueJson>(bytes);
        read.map(|UniqueJson(value)| value).map_err(|error| format!("is refused: {error}"))
    };
    if body.len() <= BLOCKING_BYTES {
        return read(body);
    }
    let body = body.clone();
    let done = tokio::task::spawn_blocking(move || read(&body)).await;
    done.unwrap_or_else(|_| Err("could not be read".to_owned()))
}

/// A JSON value in which no object has a name twice.
struct UniqueJson(Value);

impl<'de> Deserialize<'de> for UniqueJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Self)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(UniqueJson(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let (mut map, mut names) = (Map::new(), HashSet::new());
        while let Some((name, UniqueJson(value))) = fields.next_entry::<String, UniqueJson>()? {
            if !names.insert(name.clone()) {
                return Err(A::Error::custom("an object has a name twice"));
            }
            map.insert(name, value);
        }
        Ok(Value::Object(map))
    }
}

/// Remembers the id of a response as it passes, with its user.
pub(crate) struct ResponseWatch {
    rules: AccountRules,
    user: UserId,
    head: Vec<u8>,
    is_done: bool,
}

impl ResponseWatch {
    pub fn read(&mut self, piece: &[u8]) {
        if self.is_done {
            return;
        }
        let room = HEAD_BYTES - self.head.len();
        self.head.extend_from_slice(&piece[..piece.len().min(room)]);
        let id = first_id(&self.head);
        self.is_done = id.is_some() || self.head.len() == HEAD_BYTES;
        if let Some(id) = id {
            self.rules.responses.insert((self.user, id), ());
        }
    }

    /// Begins another response for the same answer.
    pub fn restart(&mut self) {
        self.head.clear();
        self.is_done = false;
    }
}

/// The first `"id": "..."` in the beginning of an answer, once it is complete.
fn first_id(head: &[u8]) -> Option<String> {
    const NAME: &[u8] = b"\"id\"";
    let at = head.windows(NAME.len()).position(|window| window == NAME)?;
    let rest = head[at + NAME.len()..].trim_ascii_start().strip_prefix(b":")?;
    let rest = rest.trim_ascii_start().strip_prefix(b"\"")?;
    let end =
        rest.iter().position(|byte| *byte == b'"').filter(|end| (1..=ID_BYTES).contains(end))?;
    std::str::from_utf8(&rest[..end]).ok().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rules(models: &[&str], hosted: bool) -> AccountRules {
        let upstream_models = models.iter().map(|name| (*name).to_owned()).collect();
        AccountRules::new(&AccountSettings { upstream_models, upstream_hosted: hosted }, false)
    }

    #[test]
    fn upstream_models_are_allowed_by_name_or_by_their_beginning() {
        let some = rules(&["gpt-5-mini", " text-*", ""], false);
        let fault = |model: Value| some.fault(&json!({ "model": model }), false);
        assert_eq!(fault(json!("gpt-5-mini")), None);
        assert_eq!(fault(json!("text-embedding-3-small")), None);
        for model in [json!("gpt-5"), json!("gpt-5-mini-2"), json!(7), Value::Null] {
            assert!(fault(model.clone()).is_some(), "{model}");
        }
        assert!(some.fault(&json!({}), false).is_some(), "the service would choose one");
        assert_eq!(rules(&[], false).fault(&json!({}), false), None);
    }

    #[test]
    fn other_models_are_not_reached_by_other_fields() {
        let (some, all) = (rules(&["m"], true), rules(&[], false));
        for (field, value) in [
            ("models", json!(["dear"])),
            ("fallbacks", json!(["dear"])),
            ("mock_testing_fallbacks", json!(true)),
            ("route", json!("fallback")),
            ("preset", json!("dear")),
            ("extra_body", json!({ "models": ["dear"] })),
            ("Model", json!("dear")),
            ("MODELS", json!(["dear"])),
            ("Mock_Testing_Fallbacks", json!(true)),
            ("fallback\u{17f}", json!(["dear"])),
        ] {
            let body = json!({ "model": "m", "messages": [], field: value });
            assert!(some.fault(&body, false).is_some(), "{body}");
            assert!(some.fault(&body, true).is_some(), "{body}");
            assert!(all.fault(&body, false).is_some(), "{body}");
            assert_eq!(all.fault(&body, true), None, "{body}");
            assert_eq!(rules(&[], true).fault(&body, false), None, "{body}");
        }
        let plain = json!({ "model": "m", "messages": [], "models": null, "Temperature": 1 });
        assert_eq!(some.fault(&plain, false), None);
    }

    #[test]
    fn hosted_tools_and_stored_things_are_refused_unless_allowed() {
        let input =
            |item: Value| json!({ "model": "m", "input": [{ "role": "user", "content": [item] }] });
        let tool = |tool: Value| json!({ "model": "m", "input": "Hi", "tools": [tool] });
        let refused = [
            tool(json!({ "type": "web_search" })),
            tool(json!({ "type": "file_search", "vector_store_ids": ["vs_1"] })),
            tool(json!({ "type": "code_interpreter", "container": { "type": "auto" } })),
            tool(json!({ "type": "computer_use_preview" })),
            tool(json!({ "type": "mcp", "connector_id": "connector_gmail" })),
            tool(json!({ "type": "image_generation" })),
            tool(json!({ "type": 7 })),
            input(json!({ "type": "input_file", "file_id": "file-1" })),
            input(json!({ "type": "input_image", "file_id": "file-1" })),
            json!({ "model": "m", "input": [{ "type": "item_reference", "id": "msg_1" }] }),
            json!({ "model": "m", "input": [{ "id": "msg_1" }] }),
            json!({ "model": "m", "input": [{ "id": "msg_1", "type": null, "role": "user" }] }),
            json!({ "model": "m", "input": [{ "Type": "item_reference", "id": "msg_1" }] }),
            json!({ "model": "m", "input": "Hi", "Tools": [{ "type": "web_search" }] }),
            json!({ "model": "m", "input": "Hi", "data_sources": [{ "type": "azure_search" }] }),
            json!({ "model": "maker/m:online", "messages": [] }),
            json!({ "model": "@preset/search", "messages": [] }),
            tool(json!({ "type": "function", "Type": "web_search" })),
            input(json!({ "type": "input_file", "File_ID": "file-1" })),
            json!({ "model": "m", "input": "Hi", "conversation": "conv_1" }),
            json!({ "model": "m", "prompt": { "id": "pmpt_1" } }),
            json!({ "model": "m", "messages": [], "web_search_options": {} }),
            json!({ "model": "m", "messages": [], "plugins": [{ "id": "web" }] }),
            json!({ "model": "m", "messages": [{ "role": "user", "content":
                [{ "type": "file", "file": { "file_id": "file-1" } }] }] }),
        ];
        for body in refused {
            assert!(rules(&[], false).fault(&body, false).is_some(), "{body}");
            assert_eq!(rules(&[], true).fault(&body, false), None, "{body}");
        }
    }

    #[test]
    fn plain_chats_functions_and_images_are_allowed() {
        let schema = json!({ "type": "object", "properties": { "file_id": { "type": "string" } } });
        for body in [
            json!({ "model": "m", "messages": [{ "role": "user", "content": "file_id: file-1" }] }),
            json!({ "model": "m", "input": "Hi", "store": true, "tools": null, "conversation": null }),
            json!({ "model": "m", "messages": [], "tools": [
                { "type": "function", "function": { "name": "open", "parameters": schema } }] }),
            json!({ "model": "m", "input": [
                { "type": "function_call", "name": "open", "arguments": "{\"file_id\":\"a\"}" },
                { "id": "msg_1", "role": "assistant", "content": "Yes" },
                { "id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "x" },
                { "role": "user", "content": [{ "type": "input_image", "image_url": "data:," }] }] }),
        ] {
            assert_eq!(rules(&[], false).fault(&body, false), None, "{body}");
        }
    }

    #[tokio::test]
    async fn body_with_a_name_twice_is_refused() {
        let read = async |text: &str| read_unique(&Bytes::from(text.to_owned())).await;
        let body = r#"{"model":"m","n":[1,-2,0.5,true,null,"x"]}"#;
        assert_eq!(read(body).await.unwrap(), serde_json::from_str::<Value>(body).unwrap());
        for body in [
            r#"{"model":"cheap","model":"dear"}"#,
            r#"{"tools":[{"type":"function","type":"web_search"}]}"#,
            r#"{"model":"cheap","mode\u006c":"dear"}"#,
            "{",
            "",
        ] {
            assert!(read(body).await.is_err(), "{body}");
        }
        let large = format!(r#"{{"a":"{}","a":1}}"#, "x".repeat(BLOCKING_BYTES));
        assert!(read(&large).await.is_err());
    }

    #[test]
    fn response_id_is_read_across_pieces() {
        let user = UserId::named(lukasa_core::TenantId::named("acme"), "ada");
        let rules = rules(&[], false);
        let mut watch =
            ResponseWatch { rules: rules.clone(), user, head: Vec::new(), is_done: false };
        for piece in [
            "data: {\"type\":\"response.created\",\"response\":{\"id\": \"re",
            "sp_1\",\"x\":1}}\n\n",
        ] {
            watch.read(piece.as_bytes());
        }
        watch.read(b"data: {\"item\":{\"id\":\"msg_1\"}}");
        watch.restart();
        watch.read(br#"{"id":"resp_2"}"#);
        let is_known = |id: &str| rules.responses.contains_key(&(user, id.to_owned()));
        assert!(is_known("resp_1") && is_known("resp_2") && !is_known("msg_1"));
        assert_eq!(first_id(&b"x".repeat(HEAD_BYTES)), None);
    }
}
