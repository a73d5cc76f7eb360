//! A chat service on loopback that answers correctly, or fails in one of many ways.
//!
//! A fault is separate from the text it spoils, so that a test can run through all faults with one
//! answer. Each is sent in the form that was requested, whole or streamed.

use std::time::Duration;

use lukasa_core::model::Finish;
use serde_json::{Value, json};

use super::gzip;
use super::server::{self, ConnectionStep, RequestRecord, ScriptedServer};

/// A response of the service.
#[derive(Debug, Clone, PartialEq)]
pub enum ScriptedReply {
    /// This text, in pieces if the request asks for a stream.
    Text(String),
    /// This text, cut off at the token limit.
    CutShort(String),
    /// No content, and this text in the field for a refusal.
    Refuses(String),
    /// No content, because of the service's filter.
    Filtered,
    /// This body, whatever was requested.
    Body(Value),
    /// This status and body, with nothing else.
    Status(u16, String),
    /// This text with a fault.
    Faulty(ServiceFault, String),
}

/// A fault of a service. For a service that does not listen see [`server::unused_address`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServiceFault {
    AcceptAndClose,
    HangBeforeHeaders,
    HangMidBody,
    SlowDrip,
    TooManyRequests,
    /// With `Retry-After`, in seconds.
    TooManyRequestsUntil(u32),
    InternalError,
    BadGateway,
    ServiceUnavailable,
    EmptyBody,
    TruncatedJson,
    /// Ends without `[DONE]`.
    TruncatedStream,
    InvalidUtf8,
    /// Fifty megabytes, without a length announced in advance.
    Huge,
    DeepNesting,
    DuplicateKeys,
    NotANumber,
    WrongTypes,
    /// The text is right, with additional unknown fields.
    ExtraFields,
    /// A refusal as normal text, without a field that says so.
    RefusalText,
    /// The text is right, but in a Markdown code fence.
    MarkdownFence,
    HtmlPage,
    /// To the metadata address of cloud providers.
    Redirect,
    /// A small response that unpacks to sixty-four megabytes of text and spaces.
    GzipBomb,
    ChunkedGarbage,
}

impl ServiceFault {
    pub const ALL: [ServiceFault; 25] = [
        ServiceFault::AcceptAndClose,
        ServiceFault::HangBeforeHeaders,
        ServiceFault::HangMidBody,
        ServiceFault::SlowDrip,
        ServiceFault::TooManyRequests,
        ServiceFault::TooManyRequestsUntil(7),
        ServiceFault::InternalError,
        ServiceFault::BadGateway,
        ServiceFault::ServiceUnavailable,
        ServiceFault::EmptyBody,
        ServiceFault::TruncatedJson,
        ServiceFault::TruncatedStream,
        ServiceFault::InvalidUtf8,
        ServiceFault::Huge,
        ServiceFault::DeepNesting,
        ServiceFault::DuplicateKeys,
        ServiceFault::NotANumber,
        ServiceFault::WrongTypes,
        ServiceFault::ExtraFields,
        ServiceFault::RefusalText,
        ServiceFault::MarkdownFence,
        ServiceFault::HtmlPage,
        ServiceFault::Redirect,
        ServiceFault::GzipBomb,
        ServiceFault::ChunkedGarbage,
    ];
}

/// A service with the endpoint `/v1/chat/completions`, stopped when dropped.
#[derive(Debug)]
pub struct ChatServer(ScriptedServer);

impl ChatServer {
    /// `script` gets the body of each request.
    pub async fn start(script: impl Fn(&Value) -> ScriptedReply + Send + Sync + 'static) -> Self {
        Self(ScriptedServer::start(move |_, asked| steps(script(&asked.json()), asked)).await)
    }

    /// The base URL for the settings.
    pub fn url(&self) -> String {
        format!("{}/v1", self.0.base)
    }

    /// How many requests it got.
    pub fn asked(&self) -> usize {
        self.0.asked().len()
    }

    /// The bodies of the requests, in order.
    pub fn bodies(&self) -> Vec<Value> {
        self.requests().iter().map(RequestRecord::json).collect()
    }

    /// The requests with their heads, in order.
    pub fn requests(&self) -> Vec<RequestRecord> {
        self.0.asked()
    }
}

fn steps(reply: ScriptedReply, asked: &RequestRecord) -> Vec<ConnectionStep> {
    let form = Form { stream: asked.json()["stream"] == true };
    let stop = |text: &str| form.answer(text, Finish::Stop);
    match reply {
        ScriptedReply::Text(text) => form.sent(&stop(&text)),
        ScriptedReply::CutShort(text) => form.sent(&form.answer(&text, Finish::Length)),
        ScriptedReply::Refuses(words) => {
            let message = json!({"role": "assistant", "content": null, "refusal": words});
            form.sent(&[form.part(&message, Some("stop"), &Value::Null)])
        }
        ScriptedReply::Filtered => form.sent(&form.answer("", Finish::Refused)),
        ScriptedReply::Body(body) => form.sent(&[body]),
        ScriptedReply::Status(status, body) => status_only(status, "", &body),
        ScriptedReply::Faulty(fault, text) => faulty(fault, &text, form),
    }
}

fn faulty(fault: ServiceFault, text: &str, form: Form) -> Vec<ConnectionStep> {
    let right = form.body(&form.answer(text, Finish::Stop));
    let one = form.part(&form.words(text), Some("stop"), &usage(text)).to_string();
    match fault {
        ServiceFault::AcceptAndClose => Vec::new(),
        ServiceFault::HangBeforeHeaders => vec![ConnectionStep::Hang],
        ServiceFault::HangMidBody => {
            let half = right[..right.len() / 2].to_vec();
            vec![
                ConnectionStep::Send(form.head()),
                ConnectionStep::Send(half),
                ConnectionStep::Hang,
            ]
        }
        ServiceFault::SlowDrip => {
            vec![
                ConnectionStep::Send(form.head()),
                ConnectionStep::Drip(right, Duration::from_millis(20)),
            ]
        }
        ServiceFault::TooManyRequests => status_only(429, "", ""),
        ServiceFault::TooManyRequestsUntil(seconds) => {
            status_only(429, &format!("retry-after: {seconds}\r\n"), "")
        }
        ServiceFault::InternalError => status_only(500, "", ""),
        ServiceFault::BadGateway => status_only(502, "", "<html>bad gateway</html>"),
        ServiceFault::ServiceUnavailable => status_only(503, "", ""),
        ServiceFault::EmptyBody => vec![ConnectionStep::Send(form.head())],
        ServiceFault::TruncatedJson => form.corrupted(&one.as_bytes()[..one.len() / 2]),
        ServiceFault::TruncatedStream => {
            let events = Form { stream: true };
            let parts = events.answer(text, Finish::Stop);
            let body: String = parts.iter().map(|part| format!("data: {part}\n\n")).collect();
            vec![ConnectionStep::Send(events.head()), ConnectionStep::Send(body.into_bytes())]
        }
        ServiceFault::InvalidUtf8 => {
            let mut bytes = one.into_bytes();
            let place = bytes.windows(9).position(|nine| nine == b"\"content\"").unwrap_or(0);
            let inside = place + b"\"content\":\"".len();
            bytes.splice(inside..inside, [0xff, 0xfe, 0xc3]);
            form.corrupted(&bytes)
        }
        ServiceFault::Huge => {
            let first = if form.stream { "data: \"" } else { "\"" };
            let body = ConnectionStep::Repeat(vec![b' '; 1 << 20], 50);
            vec![ConnectionStep::Send(form.head()), ConnectionStep::Send(first.into()), body]
        }
        ServiceFault::DeepNesting => {
            let depth = 100_000;
            let nest = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            form.corrupted(format!("{{\"choices\":{nest}}}").as_bytes())
        }
        ServiceFault::DuplicateKeys => {
            let again = one.replacen("\"choices\"", "\"choices\":[],\"choices\"", 1);
            form.corrupted(again.as_bytes())
        }
        ServiceFault::NotANumber => {
            let count = "\"prompt_tokens\":";
            form.corrupted(one.replacen(count, &format!("{count}NaN,\"was\":"), 1).as_bytes())
        }
        ServiceFault::WrongTypes => {
            let message = json!({"role": "assistant", "content": {"text": 42}});
            form.sent(&[form.part(&message, Some("stop"), &Value::Null)])
        }
        ServiceFault::ExtraFields => {
            let mut part = form.part(&form.words(text), Some("stop"), &usage(text));
            part["more"] = json!({"of": [1, 2, {"this": null}]});
            part["choices"][0]["logprobs"] = json!({"content": []});
            part["choices"][0][form.key()]["annotations"] = json!([]);
            form.sent(&[part])
        }
        ServiceFault::RefusalText => {
            let excuse = "I'm sorry, but I can't help with that.";
            form.sent(&form.answer(excuse, Finish::Stop))
        }
        ServiceFault::MarkdownFence => {
            form.sent(&form.answer(&format!("```json\n{text}\n```"), Finish::Stop))
        }
        ServiceFault::HtmlPage => {
            let page = "<!doctype html><title>Sign in</title>";
            let head = server::head(200, "content-type: text/html\r\n");
            vec![ConnectionStep::Send(head), ConnectionStep::Send(page.into())]
        }
        ServiceFault::Redirect => {
            status_only(302, "location: http://169.254.169.254/latest/meta-data/\r\n", "")
        }
        ServiceFault::GzipBomb => {
            let kind = form.kind();
            let headers = format!("content-type: {kind}\r\ncontent-encoding: gzip\r\n");
            let bomb = gzip::bomb(&right, 64).unwrap_or_default();
            vec![ConnectionStep::Send(server::head(200, &headers)), ConnectionStep::Send(bomb)]
        }
        ServiceFault::ChunkedGarbage => {
            let kind = form.kind();
            let headers = format!("content-type: {kind}\r\ntransfer-encoding: chunked\r\n");
            let garbage = b"zz\r\nnot a chunk\r\n-1\r\n".to_vec();
            vec![ConnectionStep::Send(server::head(200, &headers)), ConnectionStep::Send(garbage)]
        }
    }
}

fn status_only(status: u16, headers: &str, body: &str) -> Vec<ConnectionStep> {
    let headers = format!("content-length: {}\r\n{headers}", body.len());
    vec![ConnectionStep::Send(server::head(status, &headers)), ConnectionStep::Send(body.into())]
}

/// Whether a response is sent whole or as a stream of events.
#[derive(Debug, Clone, Copy)]
struct Form {
    stream: bool,
}

impl Form {
    fn key(self) -> &'static str {
        if self.stream { "delta" } else { "message" }
    }

    fn kind(self) -> &'static str {
        if self.stream { "text/event-stream" } else { "application/json" }
    }

    /// The head without a length: the response ends with the connection.
    fn head(self) -> Vec<u8> {
        server::head(200, &format!("content-type: {}\r\n", self.kind()))
    }

    fn words(self, text: &str) -> Value {
        json!({"role": "assistant", "content": text})
    }

    fn part(self, message: &Value, finish: Option<&str>, usage: &Value) -> Value {
        let mut choice = json!({"index": 0, "finish_reason": finish});
        choice[self.key()] = message.clone();
        let object = if self.stream { "chat.completion.chunk" } else { "chat.completion" };
        json!({"id": "c-1", "object": object, "model": "scripted", "choices": [choice],
            "usage": usage})
    }

    /// A correct answer: in one part, or one part per word and the token counts in a last one.
    fn answer(self, text: &str, finish: Finish) -> Vec<Value> {
        let finish = match finish {
            Finish::Stop => "stop",
            Finish::Length => "length",
            Finish::Refused => "content_filter",
        };
        if !self.stream {
            return vec![self.part(&self.words(text), Some(finish), &usage(text))];
        }
        let piece = |word: &str| self.part(&json!({"content": word}), None, &Value::Null);
        let mut parts = vec![self.part(&self.words(""), None, &Value::Null)];
        parts.extend(text.split_inclusive(' ').map(piece));
        parts.push(self.part(&json!({}), Some(finish), &Value::Null));
        parts.push(json!({"id": "c-1", "choices": [], "usage": usage(text)}));
        parts
    }

    fn body(self, parts: &[Value]) -> Vec<u8> {
        if !self.stream {
            return parts.iter().map(Value::to_string).collect::<String>().into_bytes();
        }
        let events = parts.iter().map(|part| format!("data: {part}\n\n"));
        events.chain(["data: [DONE]\n\n".to_owned()]).collect::<String>().into_bytes()
    }

    fn sent(self, parts: &[Value]) -> Vec<ConnectionStep> {
        vec![ConnectionStep::Send(self.head()), ConnectionStep::Send(self.body(parts))]
    }

    /// Sends these bytes in place of one part, with the framing around them.
    fn corrupted(self, bytes: &[u8]) -> Vec<ConnectionStep> {
        let (before, after): (&[u8], &[u8]) = match self.stream {
            true => (b"data: ", b"\n\ndata: [DONE]\n\n"),
            false => (b"", b""),
        };
        vec![
            ConnectionStep::Send(self.head()),
            ConnectionStep::Send([before, bytes, after].concat()),
        ]
    }
}

/// Token counts that differ from any estimate, so that a test can tell them apart.
fn usage(text: &str) -> Value {
    let output = 1_000 + text.chars().count();
    json!({"prompt_tokens": 2_000, "completion_tokens": output, "total_tokens": 2_000 + output})
}
