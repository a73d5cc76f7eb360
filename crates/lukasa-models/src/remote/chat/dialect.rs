//! The form of chat requests: which fields a service accepts, where to start for a known service or
//! model, and which form to try next after a refusal.

use std::fmt;

use reqwest::{StatusCode, Url};

use super::super::refusal::ServiceRefusal;

/// How the form of the answer is requested, the strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerFormat {
    /// The schema is enforced: a strict JSON schema, or the input of a tool that must be used.
    Schema,
    /// Any JSON object; the schema is in the instructions.
    JsonObject,
    /// Plain text; the schema is in the instructions.
    Text,
}

/// The field for the maximum number of tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenField {
    MaxCompletionTokens,
    MaxTokens,
}

impl TokenField {
    pub(super) fn name(self) -> &'static str {
        match self {
            TokenField::MaxCompletionTokens => "max_completion_tokens",
            TokenField::MaxTokens => "max_tokens",
        }
    }

    fn other(self) -> Self {
        match self {
            TokenField::MaxCompletionTokens => TokenField::MaxTokens,
            TokenField::MaxTokens => TokenField::MaxCompletionTokens,
        }
    }
}

/// The form of the requests to one model at one service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Dialect {
    pub format: AnswerFormat,
    pub token_field: TokenField,
    pub temperature: bool,
    /// Tokens added to the maximum of the answer, for the model's reasoning.
    pub reasoning_tokens: u32,
    /// Whether the schema keeps the bounds of strings, which strict services refuse.
    pub length_bounds: bool,
    /// Whether instructions have a message of their own.
    pub system: bool,
    /// Whether a stream is asked for its token counts.
    pub stream_usage: bool,
}

/// Tokens for the reasoning of models that are made for it, as their vendors recommend.
const REASONING_TOKENS: u32 = 24_000;
/// The same for small open models, which reason before each answer.
const LOCAL_REASONING_TOKENS: u32 = 6_000;

/// Services and models with a known form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// OpenAI's reasoning models, wherever they are served.
    OpenAiReasoning,
    /// OpenAI's other models.
    OpenAi,
    /// OpenAI's models from before structured outputs.
    OpenAiOld,
    /// Gemini at its OpenAI-compatible URL.
    Gemini,
    /// A server of open models, as Ollama, llama.cpp, vLLM and LM Studio: on this machine, in a
    /// private network, or at the usual port.
    OpenModelServer,
    Anthropic,
    Unknown,
}

impl Family {
    pub(super) fn of(url: &Url, model: &str) -> Self {
        let host = url.host_str().unwrap_or_default().to_ascii_lowercase();
        // Routers put the vendor before the name.
        let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
        let begins = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
        if begins(&["gpt-5", "gpt-6", "o1", "o3", "o4"]) {
            return Family::OpenAiReasoning;
        }
        if begins(&["gpt-3.5", "gpt-4-"]) || name == "gpt-4" {
            return Family::OpenAiOld;
        }
        if begins(&["gpt-4", "chatgpt-"]) || host == "api.openai.com" {
            return Family::OpenAi;
        }
        if host == "generativelanguage.googleapis.com"
            || host.ends_with("aiplatform.googleapis.com")
        {
            return Family::Gemini;
        }
        let usual_port = matches!(url.port(), Some(11_434 | 8_080 | 8_000 | 1_234));
        if usual_port || is_private(&host) {
            return Family::OpenModelServer;
        }
        Family::Unknown
    }

    /// The form to begin with.
    pub(super) fn dialect(self, model: &str) -> Dialect {
        // The strictest modern form, which is also that of an unknown service.
        let modern = Dialect {
            format: AnswerFormat::Schema,
            token_field: TokenField::MaxCompletionTokens,
            temperature: true,
            reasoning_tokens: 0,
            length_bounds: false,
            system: true,
            stream_usage: true,
        };
        let max_tokens = Dialect { token_field: TokenField::MaxTokens, ..modern };
        match self {
            Family::OpenAiReasoning => {
                Dialect { temperature: false, reasoning_tokens: REASONING_TOKENS, ..modern }
            }
            Family::OpenAi => modern,
            Family::OpenAiOld => Dialect { format: AnswerFormat::JsonObject, ..max_tokens },
            Family::Gemini => {
                // Reasoning counts against the maximum from version 2.5 on.
                let reasons = !model.contains("gemini-1") && !model.contains("gemini-2.0");
                let reasoning_tokens = if reasons { REASONING_TOKENS } else { 0 };
                Dialect { reasoning_tokens, ..max_tokens }
            }
            // Some of these servers ignore `max_completion_tokens` without saying so.
            Family::OpenModelServer => {
                let reasoning_tokens = if reasons(model) { LOCAL_REASONING_TOKENS } else { 0 };
                Dialect { length_bounds: true, reasoning_tokens, ..max_tokens }
            }
            Family::Anthropic => Dialect { length_bounds: true, ..max_tokens },
            Family::Unknown => {
                let reasoning_tokens = if reasons(model) { REASONING_TOKENS } else { 0 };
                Dialect { reasoning_tokens, ..modern }
            }
        }
    }
}

/// Whether an open model reasons before it answers, by its name.
fn reasons(model: &str) -> bool {
    let name = model.to_ascii_lowercase();
    ["qwen3", "deepseek-r", "gpt-oss", "magistral", "qwq", "-thinking", "reasoner"]
        .iter()
        .any(|part| name.contains(part))
}

/// Whether a host is this machine or in a private network.
fn is_private(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    match address.parse() {
        Ok(std::net::IpAddr::V4(v4)) => v4.is_loopback() || v4.is_private(),
        Ok(std::net::IpAddr::V6(v6)) => v6.is_loopback() || v6.is_unique_local(),
        Err(_) => !host.contains('.') || host.ends_with(".local") || host.ends_with(".internal"),
    }
}

/// What a request uses, so that only that is given up after a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RequestParts {
    pub schema: bool,
    pub system: bool,
    pub stream: bool,
}

/// Reasons that no other form of the request would change.
const OTHER_REASONS: [&str; 23] = [
    "context_length",
    "context length",
    "context window",
    "context size",
    "content_filter",
    "content filter",
    "content management",
    "content_policy",
    "safety",
    "quota",
    "billing",
    "credit",
    "api key",
    "api_key",
    "authentication",
    "model_not_found",
    "does not exist",
    "not exist",
    "no such model",
    "unknown model",
    "invalid model",
    "not a chat model",
    "prompt is too long",
];

impl Dialect {
    /// The next form to try after a refusal; `None` if another form would not help.
    pub(super) fn after(self, refusal: &ServiceRefusal, parts: RequestParts) -> Option<Self> {
        let status = refusal.status;
        if !matches!(
            status,
            StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND | StatusCode::UNPROCESSABLE_ENTITY
        ) {
            return None;
        }
        let words = [&refusal.param, &refusal.code, &refusal.message];
        let words: Vec<&str> = words.iter().filter_map(|text| text.as_deref()).collect();
        let words = words.join(" ").to_lowercase();
        let has = |any: &[&str]| any.iter().any(|word| words.contains(word));
        let token_field = [TokenField::MaxTokens.name(), TokenField::MaxCompletionTokens.name()];
        let too_large = ["too large", "at most", "maximum", "exceed", "less than"];
        // The room for reasoning may be more than the model has.
        if self.reasoning_tokens > 0 && has(&["tokens"]) && has(&too_large) {
            return Some(Self { reasoning_tokens: 0, ..self });
        }
        if has(&OTHER_REASONS) || (has(&token_field) && has(&too_large)) {
            return None;
        }
        if has(&token_field) {
            return Some(Self { token_field: self.token_field.other(), ..self });
        }
        if self.temperature && has(&["temperature"]) {
            return Some(Self { temperature: false, ..self });
        }
        if parts.stream && self.stream_usage && has(&["stream_options", "include_usage"]) {
            return Some(Self { stream_usage: false, ..self });
        }
        let format = [
            "response_format",
            "json_schema",
            "json_object",
            "schema",
            "structured",
            "grammar",
            "tool",
        ];
        if has(&format) {
            return self.next_format().filter(|_| parts.schema);
        }
        if parts.system && self.system && has(&["system role", "role system", "'system'"]) {
            return Some(Self { system: false, ..self });
        }
        // A wrong URL is answered 404 as well.
        if status == StatusCode::NOT_FOUND && !has(&["parameter"]) {
            return None;
        }
        self.in_order(parts)
    }

    /// The next form where the service names no field.
    fn in_order(self, parts: RequestParts) -> Option<Self> {
        if let Some(next) = self.next_format().filter(|_| parts.schema) {
            return Some(next);
        }
        match (self.token_field, self.temperature) {
            (_, true) => Some(Self { temperature: false, ..self }),
            (TokenField::MaxCompletionTokens, false) => {
                Some(Self { token_field: TokenField::MaxTokens, ..self })
            }
            (TokenField::MaxTokens, false) => None,
        }
    }

    fn next_format(self) -> Option<Self> {
        let format = match self.format {
            AnswerFormat::Schema => AnswerFormat::JsonObject,
            AnswerFormat::JsonObject => AnswerFormat::Text,
            AnswerFormat::Text => return None,
        };
        Some(Self { format, ..self })
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.format {
            AnswerFormat::Schema => "JSON schema",
            AnswerFormat::JsonObject => "JSON object",
            AnswerFormat::Text => "plain text with the schema in the instructions",
        })?;
        write!(f, ", {}", self.token_field.name())?;
        f.write_str(if self.temperature { ", temperature 0" } else { ", no temperature" })?;
        if !self.system {
            f.write_str(", no system message")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use reqwest::{StatusCode, Url};

    use super::{AnswerFormat, Dialect, Family, RequestParts, TokenField};
    use crate::remote::refusal::ServiceRefusal;

    const PARTS: RequestParts = RequestParts { schema: true, system: true, stream: false };

    fn family(url: &str, model: &str) -> Family {
        Family::of(&Url::parse(url).unwrap(), model)
    }

    fn refusal(status: u16, message: &str) -> ServiceRefusal {
        let status = StatusCode::from_u16(status).unwrap();
        ServiceRefusal { status, code: None, param: None, message: Some(message.to_owned()) }
    }

    fn modern() -> Dialect {
        Family::Unknown.dialect("small")
    }

    #[test]
    fn chat_family_is_known_by_host_port_and_model() {
        let openai = "https://api.openai.com/v1";
        for model in ["gpt-5-mini", "gpt-5", "o3", "o4-mini", "o1", "openai/gpt-5"] {
            assert_eq!(family(openai, model), Family::OpenAiReasoning, "{model}");
        }
        assert_eq!(family("http://127.0.0.1:9/v1", "gpt-5"), Family::OpenAiReasoning);
        assert_eq!(family(openai, "gpt-4o-mini"), Family::OpenAi);
        assert_eq!(family(openai, "gpt-4.1"), Family::OpenAi);
        assert_eq!(family(openai, "gpt-4-turbo"), Family::OpenAiOld);
        let gemini = "https://generativelanguage.googleapis.com/v1beta/openai";
        assert_eq!(family(gemini, "gemini-2.5-flash"), Family::Gemini);
        for url in [
            "http://127.0.0.1:11434/v1",
            "http://gpu:8000/v1",
            "http://10.0.0.7:30000/v1",
            "http://[::1]:8080/v1",
            "http://box.local/v1",
            "https://models.example:11434/v1",
        ] {
            assert_eq!(family(url, "qwen2.5:1.5b"), Family::OpenModelServer, "{url}");
        }
        assert_eq!(family("https://models.example/v1", "small"), Family::Unknown);
    }

    #[test]
    fn chat_dialect_of_known_families_starts_right() {
        let reasoning = Family::OpenAiReasoning.dialect("gpt-5");
        assert!(!reasoning.temperature && reasoning.reasoning_tokens >= 10_000);
        assert_eq!(reasoning.token_field, TokenField::MaxCompletionTokens);
        assert_eq!(Family::OpenAi.dialect("gpt-4o"), modern());
        let local = Family::OpenModelServer.dialect("qwen2.5:1.5b");
        assert_eq!((local.token_field, local.reasoning_tokens), (TokenField::MaxTokens, 0));
        assert!(local.length_bounds && local.temperature);
        assert!(Family::OpenModelServer.dialect("qwen3:8b").reasoning_tokens > 0);
        assert_eq!(modern().to_string(), "JSON schema, max_completion_tokens, temperature 0");
    }

    #[test]
    fn chat_refusal_that_names_a_field_changes_that_field() {
        let next = |message: &str| modern().after(&refusal(400, message), PARTS).unwrap();
        let max_tokens = next("Unrecognized request argument supplied: max_completion_tokens");
        assert_eq!(max_tokens, Dialect { token_field: TokenField::MaxTokens, ..modern() });
        let back = max_tokens.after(
            &refusal(
                400,
                "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.",
            ),
            PARTS,
        );
        assert_eq!(back, Some(modern()));
        let temperature = next("'temperature' does not support 0 with this model");
        assert_eq!(temperature, Dialect { temperature: false, ..modern() });
        let object = next("This response_format type is unavailable now");
        assert_eq!(object.format, AnswerFormat::JsonObject);
        let text = object.after(&refusal(422, "json_object is not supported"), PARTS).unwrap();
        assert_eq!(text.format, AnswerFormat::Text);
        assert!(!next("System role not supported").system);
    }

    #[test]
    fn chat_refusal_that_names_no_field_tries_forms_in_order_and_ends() {
        let (mut dialect, mut tries) = (modern(), 1);
        while let Some(next) = dialect.after(&refusal(400, "Bad request"), PARTS) {
            assert_ne!(next, dialect);
            (dialect, tries) = (next, tries + 1);
        }
        assert_eq!(tries, 5);
    }

    #[test]
    fn chat_refusal_for_another_reason_is_not_retried() {
        for (status, message) in [
            (400, "This model's maximum context length is 8192 tokens"),
            (400, "The response was filtered due to Azure's content management policy"),
            (404, "The model `small` does not exist"),
            (404, "page not found"),
            (400, "max_tokens is too large: 99999"),
            (413, "too large"),
            (401, "response_format"),
        ] {
            assert_eq!(modern().after(&refusal(status, message), PARTS), None, "{message}");
        }
        let reasoning = Family::OpenAiReasoning.dialect("o3");
        let next = reasoning.after(&refusal(400, "max_completion_tokens is too large"), PARTS);
        assert_eq!(next.map(|next| next.reasoning_tokens), Some(0));
    }
}
