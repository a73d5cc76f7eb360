//! Filters an answer's calls of some tools and lets everything else through: for a proxy that runs
//! those tools itself and asks the model again, so that the client sees one answer.
//!
//! Events without such a call pass byte for byte. An answer that also calls the client's own tools
//! must be continued by the client: then only our calls are removed from it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::Protocol;
use crate::sse::{event_data, event_end};

/// A tool call that was held back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolCall {
    pub id: String,
    pub name: String,
    pub arguments: String,
}

/// Result of filtering an answer.
#[derive(Debug)]
pub struct FilteredAnswer {
    /// The calls that were held back, in order.
    pub calls: Vec<ToolCall>,
    /// The model's messages, to be appended to the next request; `None` if the client continues.
    pub spoken: Option<Vec<Value>>,
    /// The last bytes for the client, if it continues or nothing was held back.
    pub rest: Vec<u8>,
}

/// Filters an answer while it is streamed.
#[derive(Debug)]
pub struct Sieve {
    protocol: Protocol,
    ours: Arc<BTreeSet<String>>,
    streamed: bool,
    /// Whether this is a later answer of the same client request: its opening events are dropped.
    again: bool,
    /// Bytes of an incomplete event, or of an incomplete answer that is not streamed.
    open: Vec<u8>,
    /// Closing events, which the client gets only if it continues.
    tail: Vec<u8>,
    text: String,
    calls: BTreeMap<u64, ToolCall>,
    theirs: usize,
    output: Vec<Value>,
}

impl Sieve {
    pub fn new(
        protocol: Protocol,
        streamed: bool,
        again: bool,
        ours: Arc<BTreeSet<String>>,
    ) -> Self {
        Self {
            protocol,
            ours,
            streamed,
            again,
            open: Vec::new(),
            tail: Vec::new(),
            text: String::new(),
            calls: BTreeMap::new(),
            theirs: 0,
            output: Vec::new(),
        }
    }

    /// Takes the next bytes, and returns those that pass.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<u8> {
        self.open.extend_from_slice(bytes);
        let mut passed = Vec::new();
        while self.streamed
            && let Some(end) = event_end(&self.open)
        {
            let event: Vec<u8> = self.open.drain(..end).collect();
            passed.extend(self.event(event));
        }
        passed
    }

    /// Ends the answer.
    pub fn end(mut self) -> FilteredAnswer {
        let open = std::mem::take(&mut self.open);
        if !self.streamed {
            return self.whole(open);
        }
        let mut rest = std::mem::take(&mut self.tail);
        rest.extend(open);
        let ours = |call: &ToolCall| self.ours.contains(&call.name);
        let calls: Vec<ToolCall> = self.calls.values().filter(|call| ours(call)).cloned().collect();
        if calls.is_empty() || self.theirs > 0 {
            return FilteredAnswer { calls, spoken: None, rest };
        }
        let spoken = match self.protocol {
            Protocol::Chat => vec![assistant(&self.text, &calls)],
            Protocol::Responses => std::mem::take(&mut self.output),
        };
        FilteredAnswer { calls, spoken: Some(spoken), rest: Vec::new() }
    }

    fn event(&mut self, event: Vec<u8>) -> Vec<u8> {
        let held = self.calls.values().any(|call| self.ours.contains(&call.name));
        let Some(mut data) = data_of(&event) else {
            // `[DONE]` or a comment: sent with the closing events.
            if held {
                self.tail.extend(event);
                return Vec::new();
            }
            return event;
        };
        match self.protocol {
            Protocol::Chat => self.chat_event(event, &mut data),
            Protocol::Responses => self.response_event(event, &mut data),
        }
    }

    fn chat_event(&mut self, event: Vec<u8>, data: &mut Value) -> Vec<u8> {
        let choice = data.pointer("/choices/0").cloned().unwrap_or_default();
        let ended = choice["finish_reason"].is_string();
        self.text.push_str(choice["delta"]["content"].as_str().unwrap_or(""));
        let mut changed = false;
        let made = data.pointer_mut("/choices/0/delta/tool_calls");
        if let Some(made) = made.and_then(Value::as_array_mut) {
            for part in made.iter() {
                let place = part["index"].as_u64().unwrap_or(0);
                let call = self.calls.entry(place).or_insert_with(|| ToolCall {
                    id: part["id"].as_str().unwrap_or("").to_owned(),
                    name: part["function"]["name"].as_str().unwrap_or("").to_owned(),
                    arguments: String::new(),
                });
                call.arguments.push_str(part["function"]["arguments"].as_str().unwrap_or(""));
            }
            let is_ours = |place: &u64| self.ours.contains(&self.calls[place].name);
            let place = |part: &Value| part["index"].as_u64().unwrap_or(0);
            let before = made.len();
            made.retain(|part| !is_ours(&place(part)));
            changed = made.len() != before;
            // The indexes of the client's calls must not have gaps where ours were.
            for part in made.iter_mut() {
                let at = place(part);
                let own = self.calls.keys().filter(|other| **other < at && !is_ours(other));
                let own = own.count() as u64;
                if own != at {
                    part["index"] = own.into();
                    changed = true;
                }
            }
            self.theirs = self.calls.keys().filter(|place| !is_ours(place)).count();
        }
        let held = self.calls.values().any(|call| self.ours.contains(&call.name));
        let empty = |data: &Value| {
            let made = data.pointer("/choices/0/delta/tool_calls");
            made.and_then(Value::as_array).is_some_and(Vec::is_empty)
        };
        if changed && empty(data) {
            let says = choice["delta"]["content"].as_str().is_some_and(|text| !text.is_empty());
            if !ended && !says {
                return Vec::new();
            }
            let delta = data.pointer_mut("/choices/0/delta").and_then(Value::as_object_mut);
            if let Some(delta) = delta {
                delta.remove("tool_calls");
            }
        }
        let bytes = if changed { format!("data: {data}\n\n").into_bytes() } else { event };
        let is_end = ended || choice.is_null();
        if held && is_end {
            self.tail.extend(bytes);
            return Vec::new();
        }
        bytes
    }

    fn response_event(&mut self, event: Vec<u8>, data: &mut Value) -> Vec<u8> {
        let kind = data["type"].as_str().unwrap_or("").to_owned();
        if self.again && ["response.created", "response.in_progress"].contains(&kind.as_str()) {
            return Vec::new();
        }
        let place = data["output_index"].as_u64();
        if kind == "response.output_item.added" && data["item"]["type"] == "function_call" {
            let name = data["item"]["name"].as_str().unwrap_or("").to_owned();
            if self.ours.contains(&name) {
                self.calls.insert(place.unwrap_or(0), ToolCall { name, ..ToolCall::default() });
            } else {
                self.theirs += 1;
            }
        }
        if place.is_some_and(|place| self.calls.contains_key(&place)) {
            return Vec::new();
        }
        let over = ["response.completed", "response.incomplete", "response.failed"];
        if !over.contains(&kind.as_str()) || self.calls.is_empty() {
            return event;
        }
        self.output = data["response"]["output"].as_array().cloned().unwrap_or_default();
        let made = self.output.iter().filter(|item| item["type"] == "function_call");
        let ours = made.map(called).filter(|call| self.ours.contains(&call.name));
        self.calls = (0..).zip(ours).collect();
        remove_calls(&mut data["response"]["output"], &self.ours);
        self.tail.extend(format!("event: {kind}\ndata: {data}\n\n").into_bytes());
        Vec::new()
    }

    fn whole(self, bytes: Vec<u8>) -> FilteredAnswer {
        let unchanged = |rest| FilteredAnswer { calls: Vec::new(), spoken: None, rest };
        let Ok(mut answer) = serde_json::from_slice::<Value>(&bytes) else {
            return unchanged(bytes);
        };
        let (calls, theirs, spoken) = match self.protocol {
            Protocol::Chat => {
                let message = answer["choices"][0]["message"].clone();
                let made: Vec<ToolCall> =
                    message["tool_calls"].as_array().into_iter().flatten().map(called).collect();
                let (ours, theirs): (Vec<_>, Vec<_>) =
                    made.into_iter().partition(|call| self.ours.contains(&call.name));
                (ours, theirs.len(), vec![message])
            }
            Protocol::Responses => {
                let output = answer["output"].as_array().cloned().unwrap_or_default();
                let made = output.iter().filter(|item| item["type"] == "function_call");
                let (ours, theirs): (Vec<_>, Vec<_>) =
                    made.map(called).partition(|call| self.ours.contains(&call.name));
                (ours, theirs.len(), output)
            }
        };
        if calls.is_empty() {
            return unchanged(bytes);
        }
        if theirs == 0 {
            return FilteredAnswer { calls, spoken: Some(spoken), rest: Vec::new() };
        }
        match self.protocol {
            Protocol::Chat => {
                remove_calls(&mut answer["choices"][0]["message"]["tool_calls"], &self.ours);
            }
            Protocol::Responses => remove_calls(&mut answer["output"], &self.ours),
        }
        FilteredAnswer { calls, spoken: None, rest: answer.to_string().into_bytes() }
    }
}

/// Removes our calls from a list of calls or of response items.
fn remove_calls(list: &mut Value, ours: &BTreeSet<String>) {
    if let Some(list) = list.as_array_mut() {
        list.retain(|item| !ours.contains(&called(item).name));
    }
}

/// Reads a tool call of either protocol.
fn called(item: &Value) -> ToolCall {
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let function = if item["function"].is_object() { &item["function"] } else { item };
    let id = if item["call_id"].is_string() { &item["call_id"] } else { &item["id"] };
    ToolCall {
        id: text(id),
        name: text(&function["name"]),
        arguments: text(&function["arguments"]),
    }
}

fn assistant(text: &str, calls: &[ToolCall]) -> Value {
    let call = |call: &ToolCall| {
        json!({"id": call.id, "type": "function",
               "function": {"name": call.name, "arguments": call.arguments}})
    };
    let content = if text.is_empty() { Value::Null } else { text.into() };
    json!({"role": "assistant", "content": content,
           "tool_calls": calls.iter().map(call).collect::<Vec<_>>()})
}

/// The JSON data of an event, if it has any.
fn data_of(event: &[u8]) -> Option<Value> {
    serde_json::from_str::<Value>(&event_data(event)?).ok().filter(Value::is_object)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours() -> Arc<BTreeSet<String>> {
        Arc::new(BTreeSet::from(["save_memory".to_owned()]))
    }

    fn chunk(delta: &Value, finish: Option<&str>) -> String {
        format!(
            "data: {}\n\n",
            json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
        )
    }

    fn call(index: u64, id: &str, name: &str, arguments: &str) -> Value {
        let mut call = json!({"index": index, "function": {"arguments": arguments}});
        if !name.is_empty() {
            call["id"] = id.into();
            call["function"]["name"] = name.into();
        }
        json!({ "tool_calls": [call] })
    }

    fn sieved(protocol: Protocol, text: &str, size: usize) -> (String, FilteredAnswer) {
        let mut sieve = Sieve::new(protocol, true, false, ours());
        let mut passed = Vec::new();
        text.as_bytes().chunks(size).for_each(|piece| passed.extend(sieve.push(piece)));
        let ended = sieve.end();
        passed.extend_from_slice(&ended.rest);
        (String::from_utf8(passed).unwrap(), ended)
    }

    #[test]
    fn sieve_passes_other_events_byte_for_byte() {
        let odd = "data: {\"choices\" :[{ \"index\":0,\"delta\":{\"content\":\"Hi\"}}]}\r\n\r\n: ping\n\n";
        let own = [
            odd.to_owned(),
            chunk(&call(0, "a", "weather", "{"), None),
            chunk(&call(0, "", "", "}"), None),
            chunk(&json!({}), Some("tool_calls")),
            "data: [DONE]\n\n".to_owned(),
        ]
        .concat();
        for size in [1, 7, 1_000] {
            let (passed, ended) = sieved(Protocol::Chat, &own, size);
            assert_eq!(passed, own);
            assert!(ended.calls.is_empty() && ended.spoken.is_none());
        }
    }

    #[test]
    fn sieve_holds_back_own_tool_calls() {
        let said = chunk(&json!({"role": "assistant", "content": "Let me note that."}), None);
        let text = [
            said.clone(),
            chunk(&call(0, "a", "save_memory", ""), None),
            chunk(&call(0, "", "", "{\"content\":"), None),
            chunk(&call(0, "", "", "\"x\"}"), None),
            chunk(&json!({}), Some("tool_calls")),
            "data: {\"choices\":[],\"usage\":{}}\n\ndata: [DONE]\n\n".to_owned(),
        ]
        .concat();
        // Lines may end with a line feed, a carriage return, or both.
        let lines = ["\n", "\r", "\r\n"].map(|end| (text.replace('\n', end), end));
        for ((text, end), size) in
            lines.iter().flat_map(|one| [1, 7, 1_000].map(|size| (one, size)))
        {
            let (passed, ended) = sieved(Protocol::Chat, text, size);
            assert_eq!(passed, said.replace('\n', end));
            assert_eq!(ended.calls[0].arguments, "{\"content\":\"x\"}");
            let spoken = ended.spoken.unwrap();
            assert_eq!(spoken[0]["content"], "Let me note that.");
            assert_eq!(spoken[0]["tool_calls"][0]["id"], "a");
        }
    }

    #[test]
    fn sieve_passes_client_calls_of_mixed_answer() {
        let text = [
            chunk(&call(0, "a", "save_memory", "{}"), None),
            chunk(&call(1, "b", "weather", "{}"), None),
            chunk(&json!({}), Some("tool_calls")),
            "data: [DONE]\n\n".to_owned(),
        ]
        .concat();
        let (passed, ended) = sieved(Protocol::Chat, &text, 9);
        assert!(ended.spoken.is_none());
        assert_eq!(ended.calls.len(), 1);
        assert!(
            !passed.contains("save_memory") && passed.ends_with("data: [DONE]\n\n"),
            "{passed}"
        );
        let first = data_of(passed.split_inclusive("\n\n").next().unwrap().as_bytes()).unwrap();
        assert_eq!(first["choices"][0]["delta"], call(0, "b", "weather", "{}"));
        let mut whole = Sieve::new(Protocol::Chat, false, false, ours());
        let made = |name: &str| json!({"id": name, "function": {"name": name, "arguments": "{}"}});
        let body = json!({"choices": [{"message": {"tool_calls": [made("weather"), made("save_memory")]}}]});
        whole.push(body.to_string().as_bytes());
        let ended = whole.end();
        let rest: Value = serde_json::from_slice(&ended.rest).unwrap();
        assert_eq!(rest["choices"][0]["message"]["tool_calls"], json!([made("weather")]));
        assert_eq!(ended.calls[0].name, "save_memory");
    }

    #[test]
    fn sieve_filters_responses_by_item() {
        let event =
            |data: Value| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap());
        let item = json!({"type": "function_call", "call_id": "c1", "name": "save_memory", "arguments": "{}"});
        let created = event(json!({"type": "response.created", "response": {"id": "r"}}));
        let text = [
            created.clone(),
            event(json!({"type": "response.output_item.added", "output_index": 0, "item": item})),
            event(json!({"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{}"})),
            event(json!({"type": "response.output_item.done", "output_index": 0, "item": item})),
            event(json!({"type": "response.completed", "response": {"id": "r", "output": [item]}})),
        ]
        .concat();
        let (passed, ended) = sieved(Protocol::Responses, &text, 11);
        assert_eq!(passed, created);
        assert_eq!(ended.spoken.unwrap(), [item]);
        assert_eq!((ended.calls[0].id.as_str(), ended.calls.len()), ("c1", 1));
        let plain =
            [created, event(json!({"type": "response.completed", "response": {"output": []}}))];
        let (passed, ended) = sieved(Protocol::Responses, &plain.concat(), 3);
        assert_eq!((passed, ended.calls.len()), (plain.concat(), 0));
    }
}
