//! A chat service on loopback that answers rightly, or goes wrong in one of many ways.
//!
//! A fault is told apart from the words it spoils, so that a test can go through all of them with
//! one answer. Each is put into the form that was asked for, whole or streamed.

use std::time::Duration;

use lukasa_core::model::Finish;
use serde_json::{Value, json};

use super::gzip;
use super::server::{self, Asked, Server, Step};

/// What the service answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// These words, in pieces if the request asks for a stream.
    Text(String),
    /// These words, cut off at the limit of tokens.
    CutShort(String),
    /// No answer, and these words in the field for a refusal.
    Refuses(String),
    /// No answer, because of the service's filter.
    Filtered,
    /// This body, whatever was asked for.
    Body(Value),
    /// This status and body, with nothing else.
    Status(u16, String),
    /// These words, spoilt.
    Faulty(Fault, String),
}

/// In which way a service goes wrong. That nobody listens at all is [`server::nobody`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
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
    /// Fifty megabytes, of which nothing says in advance that they come.
    Huge,
    DeepNesting,
    DuplicateKeys,
    NotANumber,
    WrongTypes,
    /// The words are right, and there is more beside them than anybody knows.
    ExtraFields,
    /// An excuse where the words should be, and nothing that says so.
    RefusalText,
    /// The words are right, and fenced as code.
    MarkdownFence,
    HtmlPage,
    /// To the address where clouds keep their secrets.
    Redirect,
    /// Small on the wire, and sixty-four megabytes of words and spaces for whoever unpacks it.
    GzipBomb,
    ChunkedGarbage,
}

impl Fault {
    pub const ALL: [Fault; 25] = [
        Fault::AcceptAndClose,
        Fault::HangBeforeHeaders,
        Fault::HangMidBody,
        Fault::SlowDrip,
        Fault::TooManyRequests,
        Fault::TooManyRequestsUntil(7),
        Fault::InternalError,
        Fault::BadGateway,
        Fault::ServiceUnavailable,
        Fault::EmptyBody,
        Fault::TruncatedJson,
        Fault::TruncatedStream,
        Fault::InvalidUtf8,
        Fault::Huge,
        Fault::DeepNesting,
        Fault::DuplicateKeys,
        Fault::NotANumber,
        Fault::WrongTypes,
        Fault::ExtraFields,
        Fault::RefusalText,
        Fault::MarkdownFence,
        Fault::HtmlPage,
        Fault::Redirect,
        Fault::GzipBomb,
        Fault::ChunkedGarbage,
    ];
}

/// A service that speaks `/v1/chat/completions`. Gone when dropped.
#[derive(Debug)]
pub struct ChatServer(Server);

impl ChatServer {
    /// `script` is told the body of each request.
    pub async fn start(script: impl Fn(&Value) -> Reply + Send + Sync + 'static) -> Self {
        Self(Server::start(move |_, asked| steps(script(&asked.json()), asked)).await)
    }

    /// The address to put into the settings.
    pub fn url(&self) -> String {
        format!("{}/v1", self.0.base)
    }

    /// How often it was asked.
    pub fn asked(&self) -> usize {
        self.0.asked().len()
    }

    /// The bodies of the requests, in order.
    pub fn bodies(&self) -> Vec<Value> {
        self.requests().iter().map(Asked::json).collect()
    }

    /// The requests with their heads, in order.
    pub fn requests(&self) -> Vec<Asked> {
        self.0.asked()
    }
}

fn steps(reply: Reply, asked: &Asked) -> Vec<Step> {
    let form = Form { stream: asked.json()["stream"] == true };
    let stop = |text: &str| form.answer(text, Finish::Stop);
    match reply {
        Reply::Text(text) => form.sent(&stop(&text)),
        Reply::CutShort(text) => form.sent(&form.answer(&text, Finish::Length)),
        Reply::Refuses(words) => {
            let message = json!({"role": "assistant", "content": null, "refusal": words});
            form.sent(&[form.part(&message, Some("stop"), &Value::Null)])
        }
        Reply::Filtered => form.sent(&form.answer("", Finish::Refused)),
        Reply::Body(body) => form.sent(&[body]),
        Reply::Status(status, body) => status_only(status, "", &body),
        Reply::Faulty(fault, text) => faulty(fault, &text, form),
    }
}

fn faulty(fault: Fault, text: &str, form: Form) -> Vec<Step> {
    let right = form.body(&form.answer(text, Finish::Stop));
    let one = form.part(&form.words(text), Some("stop"), &usage(text)).to_string();
    match fault {
        Fault::AcceptAndClose => Vec::new(),
        Fault::HangBeforeHeaders => vec![Step::Hang],
        Fault::HangMidBody => {
            let half = right[..right.len() / 2].to_vec();
            vec![Step::Send(form.head()), Step::Send(half), Step::Hang]
        }
        Fault::SlowDrip => {
            vec![Step::Send(form.head()), Step::Drip(right, Duration::from_millis(20))]
        }
        Fault::TooManyRequests => status_only(429, "", ""),
        Fault::TooManyRequestsUntil(seconds) => {
            status_only(429, &format!("retry-after: {seconds}\r\n"), "")
        }
        Fault::InternalError => status_only(500, "", ""),
        Fault::BadGateway => status_only(502, "", "<html>bad gateway</html>"),
        Fault::ServiceUnavailable => status_only(503, "", ""),
        Fault::EmptyBody => vec![Step::Send(form.head())],
        Fault::TruncatedJson => form.spoilt(&one.as_bytes()[..one.len() / 2]),
        Fault::TruncatedStream => {
            let events = Form { stream: true };
            let parts = events.answer(text, Finish::Stop);
            let body: String = parts.iter().map(|part| format!("data: {part}\n\n")).collect();
            vec![Step::Send(events.head()), Step::Send(body.into_bytes())]
        }
        Fault::InvalidUtf8 => {
            let mut bytes = one.into_bytes();
            let place = bytes.windows(9).position(|nine| nine == b"\"content\"").unwrap_or(0);
            let inside = place + b"\"content\":\"".len();
            bytes.splice(inside..inside, [0xff, 0xfe, 0xc3]);
            form.spoilt(&bytes)
        }
        Fault::Huge => {
            let first = if form.stream { "data: \"" } else { "\"" };
            let body = Step::Repeat(vec![b' '; 1 << 20], 50);
            vec![Step::Send(form.head()), Step::Send(first.into()), body]
        }
        Fault::DeepNesting => {
            let depth = 100_000;
            let nest = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            form.spoilt(format!("{{\"choices\":{nest}}}").as_bytes())
        }
        Fault::DuplicateKeys => {
            let again = one.replacen("\"choices\"", "\"choices\":[],\"choices\"", 1);
            form.spoilt(again.as_bytes())
        }
        Fault::NotANumber => {
            let count = "\"prompt_tokens\":";
            form.spoilt(one.replacen(count, &format!("{count}NaN,\"was\":"), 1).as_bytes())
        }
        Fault::WrongTypes => {
            let message = json!({"role": "assistant", "content": {"text": 42}});
            form.sent(&[form.part(&message, Some("stop"), &Value::Null)])
        }
        Fault::ExtraFields => {
            let mut part = form.part(&form.words(text), Some("stop"), &usage(text));
            part["more"] = json!({"of": [1, 2, {"this": null}]});
            part["choices"][0]["logprobs"] = json!({"content": []});
            part["choices"][0][form.key()]["annotations"] = json!([]);
            form.sent(&[part])
        }
        Fault::RefusalText => {
            let excuse = "I'm sorry, but I can't help with that.";
            form.sent(&form.answer(excuse, Finish::Stop))
        }
        Fault::MarkdownFence => {
            form.sent(&form.answer(&format!("```json\n{text}\n```"), Finish::Stop))
        }
        Fault::HtmlPage => {
            let page = "<!doctype html><title>Sign in</title>";
            let head = server::head(200, "content-type: text/html\r\n");
            vec![Step::Send(head), Step::Send(page.into())]
        }
        Fault::Redirect => {
            status_only(302, "location: http://169.254.169.254/latest/meta-data/\r\n", "")
        }
        Fault::GzipBomb => {
            let kind = form.kind();
            let headers = format!("content-type: {kind}\r\ncontent-encoding: gzip\r\n");
            let bomb = gzip::bomb(&right, 64 << 20);
            vec![Step::Send(server::head(200, &headers)), Step::Send(bomb)]
        }
        Fault::ChunkedGarbage => {
            let kind = form.kind();
            let headers = format!("content-type: {kind}\r\ntransfer-encoding: chunked\r\n");
            let garbage = b"zz\r\nnot a chunk\r\n-1\r\n".to_vec();
            vec![Step::Send(server::head(200, &headers)), Step::Send(garbage)]
        }
    }
}

fn status_only(status: u16, headers: &str, body: &str) -> Vec<Step> {
    let headers = format!("content-length: {}\r\n{headers}", body.len());
    vec![Step::Send(server::head(status, &headers)), Step::Send(body.into())]
}

/// Whether an answer goes out whole or as a stream of events.
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

    /// Without a length: the answer is over when the connection is.
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

    /// A right answer: in one part, or a word to a part and the count in a last one.
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

    fn sent(self, parts: &[Value]) -> Vec<Step> {
        vec![Step::Send(self.head()), Step::Send(self.body(parts))]
    }

    /// Bytes in the place of one part, with all that belongs around them.
    fn spoilt(self, bytes: &[u8]) -> Vec<Step> {
        let (before, after): (&[u8], &[u8]) = match self.stream {
            true => (b"data: ", b"\n\ndata: [DONE]\n\n"),
            false => (b"", b""),
        };
        vec![Step::Send(self.head()), Step::Send([before, bytes, after].concat())]
    }
}

/// Counts that an estimate would not give, so that a test can tell them apart.
fn usage(text: &str) -> Value {
    let output = 1_000 + text.chars().count();
    json!({"prompt_tokens": 2_000, "completion_tokens": output, "total_tokens": 2_000 + output})
}
