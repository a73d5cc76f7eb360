//! Hears what an answer says while its bytes pass by on their way to whoever asked.
//!
//! It is an eavesdropper: it holds nothing up and judges nothing. Bytes that it cannot make sense of
//! end its hearing, not the answer.

use serde_json::Value;

use super::{Protocol, words};
use crate::remote::sse::Events;

/// The most bytes of one event, and of an answer in one piece.
const MOST: usize = 32 << 20;

/// What has been heard of an answer so far.
#[derive(Debug)]
pub struct Answer {
    protocol: Protocol,
    hearing: Hearing,
    text: String,
    /// Which part of the answer the last words belong to.
    part: Option<(u64, u64)>,
    id: Option<String>,
}

#[derive(Debug)]
enum Hearing {
    Events(Events),
    Whole(Vec<u8>),
    Lost,
}

impl Answer {
    /// An answer that is about to come, as a stream of events or in one piece.
    pub fn coming(protocol: Protocol, streamed: bool) -> Self {
        let hearing = match streamed {
            true => Hearing::Events(Events::new(MOST)),
            false => Hearing::Whole(Vec::new()),
        };
        Self { protocol, hearing, text: String::new(), part: None, id: None }
    }

    /// Hears the next bytes.
    pub fn hear(&mut self, bytes: &[u8]) {
        match &mut self.hearing {
            Hearing::Whole(whole) if whole.len() + bytes.len() <= MOST => {
                whole.extend_from_slice(bytes);
            }
            Hearing::Events(events) => match events.push(bytes) {
                Ok(events) => events.iter().for_each(|event| self.event(event)),
                Err(_) => self.hearing = Hearing::Lost,
            },
            _ => self.hearing = Hearing::Lost,
        }
    }

    /// What was said, and the service's own name for the answer; also if it broke off.
    pub fn heard(mut self) -> (String, Option<String>) {
        if let Hearing::Whole(whole) = &self.hearing {
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
        // Most events of a long answer carry nothing to be heard; `[DONE]` is not even JSON.
        let Ok(event) = serde_json::from_str::<Value>(event) else { return };
        match self.protocol {
            Protocol::Chat => {
                let choices = event["choices"].as_array().into_iter().flatten();
                // Of several answers at once the first is the one that is kept.
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
                // If the model was asked again on the way, the client goes on from the last answer.
                _ => {
                    let id = event["response"]["id"].as_str().map(str::to_owned);
                    self.id = id.or(self.id.take());
                }
            },
        }
    }
}

/// The words of a response's messages.
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

    fn heard(protocol: Protocol, streamed: bool, bytes: &[u8], size: usize) -> String {
        let mut answer = Answer::coming(protocol, streamed);
        bytes.chunks(size).for_each(|piece| answer.hear(piece));
        answer.heard().0
    }

    #[test]
    fn a_stream_is_heard_wherever_its_pieces_end() {
        let chat = "data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n\
            data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Gr\u{fc}\u{df}\"}},{\"index\":1,\"delta\":{\"content\":\"no\"}}]}\n\n\
            data: {\"choices\":[{\"delta\":{\"content\":\" dich\",\"reasoning_content\":\"hm\"}}]}\n\n: ping\n\n\
            data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[]},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
        let responses = "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\"}}\n\n\
            data: {\"type\":\"response.output_text.delta\",\"output_index\":1,\"content_index\":0,\"delta\":\"Gr\u{fc}\u{df}\"}\n\n\
            data: {\"type\":\"response.output_text.delta\",\"output_index\":1,\"content_index\":0,\"delta\":\" dich\"}\n\n\
            data: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"output\":[]}}\n\n";
        for size in 1..60 {
            assert_eq!(heard(Protocol::Chat, true, chat.as_bytes(), size), "Grüß dich");
            assert_eq!(heard(Protocol::Responses, true, responses.as_bytes(), size), "Grüß dich");
        }
    }

    #[test]
    fn what_broke_off_is_heard_as_far_as_it_came() {
        let cut = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"I think\"}}]}\n\ndata: {\"choi";
        assert_eq!(heard(Protocol::Chat, true, cut, 7), "I think");
        assert_eq!(heard(Protocol::Chat, false, b"{\"choices\": [{\"mess", 5), "");
        assert_eq!(heard(Protocol::Chat, true, b"data: {}\n\ndata: \xff\n\n", 4), "");
    }

    #[test]
    fn an_answer_in_one_piece_is_heard_with_its_name() {
        let chat = json!({"id": "c-1", "choices": [{"message": {"content": "Hello"}}]});
        let responses = json!({"id": "resp_1", "output": [{"type": "reasoning"},
            {"type": "message", "content": [{"type": "output_text", "text": "Hello"}]}]});
        for (protocol, body, id) in
            [(Protocol::Chat, chat, "c-1"), (Protocol::Responses, responses, "resp_1")]
        {
            let mut answer = Answer::coming(protocol, false);
            answer.hear(body.to_string().as_bytes());
            assert_eq!(answer.heard(), ("Hello".to_owned(), Some(id.to_owned())));
        }
    }
}
