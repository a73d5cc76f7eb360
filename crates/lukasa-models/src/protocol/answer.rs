//! Collects the text of an answer while its bytes are forwarded to the client.
//!
//! It does not delay or change the answer. If bytes cannot be parsed, the collecting ends, not the
//! answer.

use serde_json::Value;

use super::{Protocol, words};
use crate::sse::SseReader;

/// Upper bound of bytes of one event, and of an answer that is not streamed.
const MAX_BYTES: usize = 32 << 20;

/// The text of an answer collected so far.
#[derive(Debug)]
pub struct AnswerReader {
    protocol: Protocol,
    input: Input,
    text: String,
    /// The part of the answer that the last text belongs to.
    part: Option<(u64, u64)>,
    id: Option<String>,
}

#[derive(Debug)]
enum Input {
    Events(SseReader),
    Whole(Vec<u8>),
    Unreadable,
}

impl AnswerReader {
    /// Prepares for an answer that is a stream of events or one JSON document.
    pub fn new(protocol: Protocol, streamed: bool) -> Self {
        let input = match streamed {
            true => Input::Events(SseReader::new(MAX_BYTES)),
            false => Input::Whole(Vec::new()),
        };
        Self { protocol, input, text: String::new(), part: None, id: None }
    }

    /// Reads the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        match &mut self.input {
            Input::Whole(whole) if whole.len() + bytes.len() <= MAX_BYTES => {
                whole.extend_from_slice(bytes);
            }
            Input::Events(events) => match events.push(bytes) {
                Ok(events) => events.iter().for_each(|event| self.event(event)),
                Err(_) => self.input = Input::Unreadable,
            },
            _ => self.input = Input::Unreadable,
        }
    }

    /// Returns the text and the service's id of the answer; also if the answer is incomplete.
    pub fn finish(mut self) -> (String, Option<String>) {
        if let Input::Whole(whole) = &self.input {
            let answer: Value = serde_json::from_slice(whole).unwrap_or_default();
            self.text = match self.protocol {
                Protocol::Chat => words(&answer["choices"][0]["message"]["content"]),
                Protocol::Responses => output(&answer),
            };
            self.id = answer["id"].as_str().map(str::to_owned);
        }
        (self.text, self.id)
    }

    fn event(&mut self, event: &str) {
        // `[DONE]` is not JSON, and most other events carry no text.
        let Ok(event) = serde_json::from_str::<Value>(event) else { return };
        match self.protocol {
            Protocol::Chat => {
                let choices = event["choices"].as_array().into_iter().flatten();
                // Of several choices only the first is recorded.
                for choice in choices.filter(|choice| choice["index"].as_u64().unwrap_or(0) == 0) {
                    self.text.push_str(choice["delta"]["content"].as_str().unwrap_or(""));
                }
                if self.id.is_none() {
                    self.id = event["id"].as_str().map(str::to_owned);
                }
            }
            Protocol::Responses => match event["type"].as_str() {
                Some("response.output_text.delta") => {
                    let place = |name: &str| event[name].as_u64().unwrap_or(0);
                    let part = (place("output_index"), place("content_index"));
                    if self.part.is_some_and(|last| last != part) {
                        self.text.push_str("\n\n");
                    }
                    self.part = Some(part);
                    self.text.push_str(event["delta"].as_str().unwrap_or(""));
                }
                // If the model was called again for tool results, the client continues from the
                // last response.
                _ => {
                    let id = event["response"]["id"].as_str().map(str::to_owned);
                    self.id = id.or(self.id.take());
                }
            },
        }
    }
}

/// The text of a response's messages.
fn output(response: &Value) -> String {
    let items = response["output"].as_array().into_iter().flatten();
    let messages = items.filter(|item| item["type"] == "message");
    let texts: Vec<String> = messages.map(|item| words(&item["content"])).collect();
    texts.join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn collect(protocol: Protocol, streamed: bool, bytes: &[u8], size: usize) -> String {
        let mut answer = AnswerReader::new(protocol, streamed);
        bytes.chunks(size).for_each(|piece| answer.push(piece));
        answer.finish().0
    }

    #[test]
    fn answer_stream_is_collected_for_any_chunking() {
        let chat = "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\
            \"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n\
            data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Gr\u{fc}\u{df}\"}},\
            {\"index\":1,\"delta\":{\"content\":\"no\"}}]}\n\n\
            data: {\"choices\":[{\"delta\":{\"content\":\" dich\",\"reasoning_content\":\"hm\"}}]}\n\n: ping\n\n\
            data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[]},\"finish_reason\":\"stop\"}]}\n\n\
            data: [DONE]\n\n";
        let responses = "event: response.created\n\
            data: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\"}}\n\n\
            data: {\"type\":\"response.output_text.delta\",\"output_index\":1,\
            \"content_index\":0,\"delta\":\"Gr\u{fc}\u{df}\"}\n\n\
            data: {\"type\":\"response.output_text.delta\",\"output_index\":1,\
            \"content_index\":0,\"delta\":\" dich\"}\n\n\
            data: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"output\":[]}}\n\n";
        for size in 1..60 {
            assert_eq!(collect(Protocol::Chat, true, chat.as_bytes(), size), "Grüß dich");
            assert_eq!(collect(Protocol::Responses, true, responses.as_bytes(), size), "Grüß dich");
        }
    }

    #[test]
    fn interrupted_answer_is_collected_up_to_the_break() {
        let cut = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"I think\"}}]}\n\ndata: {\"choi";
        assert_eq!(collect(Protocol::Chat, true, cut, 7), "I think");
        assert_eq!(collect(Protocol::Chat, false, b"{\"choices\": [{\"mess", 5), "");
        assert_eq!(collect(Protocol::Chat, true, b"data: {}\n\ndata: \xff\n\n", 4), "");
    }

    #[test]
    fn unstreamed_answer_is_collected_with_its_id() {
        let chat = json!({"id": "c-1", "choices": [{"message": {"content": "Hello"}}]});
        let responses = json!({"id": "resp_1", "output": [{"type": "reasoning"},
            {"type": "message", "content": [{"type": "output_text", "text": "Hello"}]}]});
        for (protocol, body, id) in
            [(Protocol::Chat, chat, "c-1"), (Protocol::Responses, responses, "resp_1")]
        {
            let mut answer = AnswerReader::new(protocol, false);
            answer.push(body.to_string().as_bytes());
            assert_eq!(answer.finish(), ("Hello".to_owned(), Some(id.to_owned())));
        }
    }
}
