//! The error that a service reports, made fit to be shown.
//!
//! A service's message often quotes the request or the API key. Of its words only those are shown
//! that are not in the texts that were sent, or that are usual in error messages; everything else
//! is left out.

use std::collections::BTreeSet;

use reqwest::StatusCode;
use serde_json::Value;

/// Words that are shown even if the request contains them, one per line.
const ERROR_WORDS: &str = include_str!("error_words.txt");
/// Mark for left-out words.
const LEFT_OUT: &str = "[…]";
const MAX_MESSAGE_CHARS: usize = 300;
/// Upper bound of words of a service's message that are read.
const MAX_MESSAGE_WORDS: usize = 400;
const MAX_CODE_CHARS: usize = 48;
/// Shortest beginning of a word or a key that counts as a quotation of it.
const MIN_PREFIX_CHARS: usize = 4;

/// A service's refusal of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServiceRefusal {
    pub status: StatusCode,
    /// The machine-readable name of the error, such as `model_not_found`.
    pub code: Option<String>,
    /// The field of the request that the service names.
    pub param: Option<String>,
    /// The message, without anything that was sent.
    pub message: Option<String>,
}

impl ServiceRefusal {
    /// Reads the body of a refusal of the request `sent`.
    pub(super) fn read(status: StatusCode, body: &[u8], sent: &[u8], key: Option<&str>) -> Self {
        let mut refusal = Self { status, code: None, param: None, message: None };
        let words = SentWords::of(sent, key);
        let Ok(json) = serde_json::from_slice::<Value>(body) else {
            // A web page or a proxy's text. Only a text that is clearly no page can be a message.
            let text = std::str::from_utf8(body).unwrap_or_default().trim();
            refusal.message = words.cleaned(text).filter(|_| !text.starts_with('<'));
            return refusal;
        };
        // Some services put the error into a list.
        let json = json.as_array().and_then(|list| list.first()).unwrap_or(&json);
        let error = json.get("error").filter(|error| error.is_object()).unwrap_or(json);
        let of = |name: &str| error.get(name).and_then(Value::as_str);
        let code = of("code").or(of("type")).or(of("status")).or(text_of(json, "error_type"));
        refusal.code = code.filter(|code| words.is_code(code)).map(str::to_owned);
        refusal.param = of("param").filter(|name| words.is_code(name)).map(str::to_owned);
        let message = of("message")
            .or(text_of(json, "error"))
            .or(text_of(json, "detail"))
            .or(json.pointer("/detail/0/msg").and_then(Value::as_str));
        refusal.message = message.and_then(|text| words.cleaned(text));
        refusal
    }

    /// Whether the key is missing or wrong. Some services answer 400 then.
    pub(super) fn is_about_key(&self) -> bool {
        let words = [&self.code, &self.message].map(|text| text.as_deref().unwrap_or_default());
        let words = words.join(" ").to_lowercase();
        matches!(self.status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
            || (self.status == StatusCode::BAD_REQUEST
                && ["api key", "api_key"].iter().any(|name| words.contains(name)))
    }

    /// The whole refusal in one line.
    pub(super) fn describe(&self) -> String {
        let mut text = self.status.as_u16().to_string();
        if let Some(reason) = self.status.canonical_reason() {
            text.push_str(&format!(" {reason}"));
        }
        if let Some(code) = &self.code {
            text.push_str(&format!(", {code}"));
        }
        if let Some(message) = &self.message {
            text.push_str(&format!(", \"{message}\""));
        }
        text
    }
}

fn text_of<'v>(json: &'v Value, name: &str) -> Option<&'v str> {
    json.get(name).and_then(Value::as_str)
}

/// The words of the texts that were sent.
struct SentWords<'k> {
    words: BTreeSet<String>,
    /// Pairs of characters of words in scripts that may have no spaces.
    pairs: BTreeSet<[char; 2]>,
    model: BTreeSet<String>,
    key: Option<&'k str>,
}

impl<'k> SentWords<'k> {
    fn of(sent: &[u8], key: Option<&'k str>) -> Self {
        let mut all = Self {
            words: BTreeSet::new(),
            pairs: BTreeSet::new(),
            model: BTreeSet::new(),
            key: key.filter(|key| key.chars().count() >= MIN_PREFIX_CHARS),
        };
        let request: Value = serde_json::from_slice(sent).unwrap_or_default();
        let model = request.get("model").and_then(Value::as_str).unwrap_or_default();
        all.model = split(model).map(str::to_lowercase).collect();
        // Forms of the answer are Lukasa's own; their words are not a secret.
        for (name, value) in request.as_object().into_iter().flatten() {
            if !["model", "response_format", "tools", "tool_choice"].contains(&name.as_str()) {
                all.collect(value);
            }
        }
        all
    }

    fn collect(&mut self, value: &Value) {
        match value {
            Value::String(text) => {
                for word in split(text) {
                    let word = word.to_lowercase();
                    if !word.is_ascii() {
                        self.pairs.extend(pairs(&word));
                    }
                    self.words.insert(word);
                }
            }
            Value::Array(list) => list.iter().for_each(|value| self.collect(value)),
            Value::Object(map) => map.values().for_each(|value| self.collect(value)),
            _ => {}
        }
    }

    /// The message without the words that were sent; `None` if no word is left.
    fn cleaned(&self, message: &str) -> Option<String> {
        let mut shown: Vec<&str> = Vec::new();
        let mut any = false;
        for word in message.split_whitespace().take(MAX_MESSAGE_WORDS) {
            if self.may_be_shown(word) {
                any |= word.chars().any(char::is_alphabetic);
                shown.push(word);
            } else if shown.last() != Some(&LEFT_OUT) {
                shown.push(LEFT_OUT);
            }
        }
        let text = shown.join(" ");
        let mut short: String = text.chars().take(MAX_MESSAGE_CHARS).collect();
        if short.len() < text.len() {
            short.push('…');
        }
        any.then_some(short)
    }

    fn may_be_shown(&self, word: &str) -> bool {
        // An escape sequence hides what it stands for.
        let plain = !word.contains('\\') && !word.chars().any(char::is_control);
        plain && !self.quotes_key(word) && split(word).all(|part| self.is_free(part))
    }

    /// Whether a part of a word says nothing about the texts that were sent.
    fn is_free(&self, part: &str) -> bool {
        let part = part.to_lowercase();
        if self.model.contains(&part) || is_error_word(&part) {
            return true;
        }
        if !part.is_ascii() {
            let known = pairs(&part).any(|pair| self.pairs.contains(&pair));
            return !known && !self.words.contains(&part);
        }
        if part.chars().count() < MIN_PREFIX_CHARS {
            return !self.words.contains(&part);
        }
        // A quotation may be cut inside a word.
        let next = self.words.range(part.clone()..).next();
        !next.is_some_and(|word| word.starts_with(&part))
    }

    /// Whether a word contains the key, or begins like it as a masked key does.
    fn quotes_key(&self, word: &str) -> bool {
        let Some(key) = self.key else { return false };
        let begin: String = key.chars().take(key.chars().count().min(6)).collect();
        word.contains(&begin)
    }

    fn is_code(&self, code: &str) -> bool {
        let is_name = (1..=MAX_CODE_CHARS).contains(&code.len())
            && code.chars().all(|c| c.is_ascii_alphabetic() || "_-.".contains(c));
        let is_key = self.key.is_some_and(|key| code.contains(key) || key.contains(code));
        is_name && !is_key && !self.words.contains(&code.to_lowercase())
    }
}

fn is_error_word(word: &str) -> bool {
    ERROR_WORDS.lines().any(|line| line == word)
}

fn split(text: &str) -> impl Iterator<Item = &str> {
    // Names of fields are joined by underscores, and so are shown or left out as a whole.
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|part| !part.is_empty())
}

fn pairs(word: &str) -> impl Iterator<Item = [char; 2]> {
    word.chars().zip(word.chars().skip(1)).map(|(one, two)| [one, two])
}

#[cfg(test)]
mod tests {
    use reqwest::StatusCode;
    use serde_json::json;

    use super::{ERROR_WORDS, ServiceRefusal};

    fn read(body: &str) -> ServiceRefusal {
        let sent = json!({"model": "small-2", "messages": [
            {"role": "user", "content": "Dear diary, I moved to Lisbön with Márta. 我住在里斯本。"}]});
        let (body, sent) = (body.as_bytes(), sent.to_string().into_bytes());
        ServiceRefusal::read(StatusCode::BAD_REQUEST, body, &sent, Some("sk-secret-key"))
    }

    #[test]
    fn service_message_is_read_in_every_known_shape() {
        let text = "Unknown field temperature";
        for body in [
            json!({"error": {"message": text, "type": "invalid_request_error"}}),
            json!([{"error": {"message": text, "status": "INVALID_ARGUMENT", "code": 400}}]),
            json!({"error": text}),
            json!({"object": "error", "message": text, "type": "BadRequestError"}),
            json!({"detail": text}),
            json!({"detail": [{"msg": text, "loc": ["body"]}]}),
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": text}}),
        ] {
            assert_eq!(read(&body.to_string()).message.as_deref(), Some(text), "{body}");
        }
        assert_eq!(read(text).message.as_deref(), Some(text));
        for body in ["<html>Sign in</html>", "", "{}", "[]", "null", "{\"error\": null}"] {
            assert_eq!(read(body).message, None, "{body}");
        }
        let refusal = read(
            r#"{"error": {"message": "no", "code": "unsupported_value", "param": "temperature"}}"#,
        );
        assert_eq!(refusal.describe(), "400 Bad Request, unsupported_value, \"no\"");
        assert_eq!(refusal.param.as_deref(), Some("temperature"));
    }

    #[test]
    fn service_message_is_shown_without_sent_words_and_key() {
        let shown = |text: &str| read(&json!({"error": text}).to_string()).message;
        let is = |text: &str, expected: &str| assert_eq!(shown(text).as_deref(), Some(expected));
        is("The model `small-2` does not exist", "The model `small-2` does not exist");
        is("Invalid content: 'Dear diary, I moved'", "Invalid content: […]");
        is("cannot parse 'dia...' near diary", "cannot parse 'dia...' near […]");
        is("cannot parse 'diar...'", "cannot parse […]");
        is("about Lisbön or M\\u00e1rta or 住在里", "about […] or […] or […]");
        is("Incorrect key: sk-secret-key.", "Incorrect key: […]");
        is("Incorrect key: sk-sec***ey.", "Incorrect key: […]");
        assert_eq!(shown("dear diary"), None);
        assert_eq!(shown(&"long ".repeat(500)).unwrap().chars().count(), 301);
    }

    #[test]
    fn error_words_are_sorted_lower_case_words() {
        let words: Vec<&str> = ERROR_WORDS.lines().collect();
        assert!(words.is_sorted(), "sort the file");
        let is_word = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        assert!(words.iter().all(|word| !word.is_empty() && is_word(word)));
    }
}
