//! The parts of an answer that were received so far, whichever protocol they came in.

use lukasa_core::model::{ChatAnswer, ChatRequest, Finish, TokensUsed};

/// Upper bound of bytes of an answer's text.
pub(super) const MAX_TEXT_BYTES: usize = 1 << 20;

/// Why a part of an answer cannot be used.
#[derive(Debug)]
pub(super) enum PartFault {
    NotJson(serde_json::Error),
    /// The service reports an error instead of an answer.
    Reported,
    TooLong,
    /// The answer has no content.
    Empty(&'static str),
}

impl From<serde_json::Error> for PartFault {
    fn from(error: serde_json::Error) -> Self {
        PartFault::NotJson(error)
    }
}

/// The parts of an answer received so far.
#[derive(Debug, Default)]
pub(super) struct PartialAnswer {
    /// Whether there was any content, even an empty one.
    pub begun: bool,
    pub text: String,
    pub refusal: String,
    pub finish: Option<Finish>,
    pub input_tokens: Option<u64>,
    pub output_tokens: Option<u64>,
}

impl PartialAnswer {
    /// Adds a piece of text, and returns it for a listener.
    pub(super) fn push(&mut self, piece: String) -> Result<String, PartFault> {
        self.text.push_str(&piece);
        if self.text.len() + self.refusal.len() > MAX_TEXT_BYTES {
            return Err(PartFault::TooLong);
        }
        Ok(piece)
    }

    /// The whole answer.
    pub(super) fn finished(self, ask: &ChatRequest) -> Result<ChatAnswer, PartFault> {
        if !self.begun {
            return Err(PartFault::Empty("answered without a choice"));
        }
        let mut finish = self.finish.unwrap_or(Finish::Stop);
        if !self.refusal.is_empty() {
            finish = Finish::Refused;
        }
        let mut text = self.text;
        if finish == Finish::Refused && text.is_empty() {
            text = self.refusal;
        }
        if finish == Finish::Stop && text.trim().is_empty() {
            return Err(PartFault::Empty("answered with no text"));
        }
        let estimated = TokensUsed::estimated(ask, &text);
        let tokens = TokensUsed {
            input: counted(self.input_tokens, estimated.input),
            output: counted(self.output_tokens, estimated.output),
        };
        Ok(ChatAnswer { text, tokens, finish })
    }
}

/// The service's count, or the estimate. A zero is an empty field, not a count.
fn counted(count: Option<u64>, estimated: u32) -> u32 {
    match count {
        None | Some(0) => estimated,
        Some(count) => u32::try_from(count).unwrap_or(u32::MAX),
    }
}

/// The JSON object in a text that may have other text around it: a model's thoughts, a code block,
/// or an introduction. The text itself if there is none.
pub(super) fn json_object_in(text: &str) -> &str {
    let answer = match text.trim_start().strip_prefix("<think>") {
        Some(thoughts) => thoughts.split_once("</think>").map_or("", |(_, answer)| answer),
        None => text,
    };
    match (answer.find('{'), answer.rfind('}')) {
        (Some(first), Some(last)) if first < last => &answer[first..=last],
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::json_object_in;

    #[test]
    fn json_object_is_found_in_plain_text_answer() {
        for text in [
            "{\"a\": {}}",
            "Here it is:\n```json\n{\"a\": {}}\n```\nAnything else?",
            "<think>What about {x}?</think>\n{\"a\": {}}",
        ] {
            assert_eq!(json_object_in(text), "{\"a\": {}}", "{text}");
        }
        for text in ["no", "} {", "<think>{} for ever"] {
            assert_eq!(json_object_in(text), text);
        }
    }
}
