//! `/chat/completions` with correct responses and with every known fault.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use lukasa_core::model::{
    AnswerSchema, Chat, ChatAnswer, ChatRequest, Finish, Message, ModelError, Price, TokensUsed,
};
use lukasa_models::remote::{ApiKey, ChatConfig, RemoteChat};
use lukasa_models::scripted::chat_server::{ChatServer, ScriptedReply, ServiceFault};
use lukasa_models::scripted::{ScriptedChat, server};
use serde_json::{Value, json};

const KEY: &str = "sk-do-not-print-me";
const DIARY: &str = "dear diary";

fn config(url: &str) -> ChatConfig {
    ChatConfig { api_key: Some(ApiKey::new(KEY)), ..ChatConfig::new(url, "small") }
}

fn chat(url: &str) -> RemoteChat {
    RemoteChat::new(config(url)).unwrap()
}

fn ask(within: Duration) -> ChatRequest {
    let messages = vec![Message::system("Be brief."), Message::user(DIARY)];
    ChatRequest { messages, schema: None, max_tokens: 64, within }
}

/// A request whose timeout is long enough for a busy machine.
fn ask_with_long_timeout() -> ChatRequest {
    ask(Duration::from_secs(5))
}

fn with_schema(mut ask: ChatRequest) -> ChatRequest {
    ask.schema = Some(AnswerSchema { name: "facts", schema: json!({"type": "object"}) });
    ask
}

/// The pieces of the stream, and the result.
async fn listen(
    chat: &dyn Chat,
    ask: &ChatRequest,
) -> (Vec<String>, Result<ChatAnswer, ModelError>) {
    let pieces = Mutex::new(Vec::new());
    let hear = |piece: &str| pieces.lock().unwrap().push(piece.to_owned());
    let answer = chat.answer(ask, Some(&hear)).await;
    (pieces.into_inner().unwrap(), answer)
}

/// The results of a reply, whole and streamed. No error may contain the key or the message.
async fn both(reply: ScriptedReply, ask: &ChatRequest) -> [Result<ChatAnswer, ModelError>; 2] {
    let server = ChatServer::start(move |_| reply.clone()).await;
    let (whole, streamed) = (chat(&server.url()), chat(&server.url()));
    let outcomes = [whole.answer(ask, None).await, listen(&streamed, ask).await.1];
    for error in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
        let words = format!("{error} {error:?}");
        assert!(!words.contains(KEY) && !words.contains("diary"), "{words}");
    }
    // A busy machine may need longer to connect than a short timeout allows.
    let fewest = if ask.within < ask_with_long_timeout().within { 0 } else { 2 };
    assert!((fewest..=2).contains(&server.asked()), "one try each, not {}", server.asked());
    outcomes
}

fn text(words: &str) -> ScriptedReply {
    ScriptedReply::Text(words.to_owned())
}

async fn body(body: Value) -> Result<ChatAnswer, ModelError> {
    let server = ChatServer::start(move |_| ScriptedReply::Body(body.clone())).await;
    chat(&server.url()).answer(&ask_with_long_timeout(), None).await
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Answered,
    Missing,
    Unavailable,
    Malformed,
}

fn kind(outcome: &Result<ChatAnswer, ModelError>) -> Kind {
    match outcome {
        Ok(_) => Kind::Answered,
        Err(ModelError::Missing(_)) => Kind::Missing,
        Err(ModelError::Unavailable(_) | ModelError::Busy { .. }) => Kind::Unavailable,
        Err(ModelError::Malformed(_)) => Kind::Malformed,
    }
}

#[tokio::test]
async fn chat_request_and_answer_follow_the_protocol() {
    let server = ChatServer::start(|_| text("good night")).await;
    let chat = chat(&server.url());
    let answer = chat.answer(&ask_with_long_timeout(), None).await.unwrap();
    let tokens = TokensUsed { input: 2_000, output: 1_010 };
    assert_eq!(answer, ChatAnswer { text: "good night".to_owned(), tokens, finish: Finish::Stop });
    chat.answer(&with_schema(ask_with_long_timeout()), None).await.unwrap();

    let requests = server.requests();
    assert_eq!(requests[0].line, "POST /v1/chat/completions HTTP/1.1");
    assert!(requests[0].head.contains(&format!("authorization: bearer {KEY}")));
    assert!(!requests[0].head.contains("accept-encoding"), "{}", requests[0].head);
    let messages = json!([{"role": "system", "content": "Be brief."},
        {"role": "user", "content": DIARY}]);
    let plain = json!({"model": "small", "messages": messages, "max_tokens": 64, "temperature": 0});
    let mut schema = plain.clone();
    schema["response_format"] = json!({"type": "json_schema",
        "json_schema": {"name": "facts", "strict": true, "schema": {"type": "object"}}});
    assert_eq!(server.bodies(), [plain, schema]);
}

#[tokio::test]
async fn chat_stream_is_delivered_piece_by_piece() {
    let server = ChatServer::start(|_| text("grün und 🧶 so")).await;
    let (pieces, answer) = listen(&chat(&server.url()), &ask_with_long_timeout()).await;
    let answer = answer.unwrap();
    assert_eq!(pieces, ["grün ", "und ", "🧶 ", "so"]);
    assert_eq!(answer.text, "grün und 🧶 so");
    assert_eq!(answer.tokens, TokensUsed { input: 2_000, output: 1_013 });
    assert_eq!(answer.finish, Finish::Stop);
    let body = &server.bodies()[0];
    assert_eq!(body["stream"], true);
    assert_eq!(body["stream_options"], json!({"include_usage": true}));
}

#[tokio::test]
async fn chat_stream_is_read_byte_by_byte_with_comments_and_crlf() {
    let chunk = |text: &str| json!({"choices": [{"delta": {"content": text}}]});
    let text = format!(
        ": wait\r\n\r\nevent: x\r\ndata: {}\r\n\r\n:\r\n\r\ndata:{}\r\n\r\ndata: [DONE]\r\n\r\n",
        chunk("grün "),
        chunk("🧶")
    );
    let server = server::ScriptedServer::start(move |_, _| {
        let head = server::head(200, "content-type: text/event-stream; charset=utf-8\r\n");
        let drip =
            server::ConnectionStep::Drip(text.clone().into_bytes(), Duration::from_micros(100));
        vec![server::ConnectionStep::Send(head), drip, server::ConnectionStep::Hang]
    })
    .await;
    let (pieces, answer) = listen(&chat(&server.base), &ask_with_long_timeout()).await;
    let answer = answer.unwrap();
    assert_eq!((pieces, answer.text.as_str()), (vec!["grün ".into(), "🧶".into()], "grün 🧶"));
    assert_eq!(answer.tokens, TokensUsed { input: 5, output: 2 }, "estimated without usage counts");
}

#[tokio::test]
async fn chat_answer_has_finish_reason() {
    for outcome in
        both(ScriptedReply::CutShort("once upon".to_owned()), &ask_with_long_timeout()).await
    {
        let answer = outcome.unwrap();
        assert_eq!((answer.text.as_str(), answer.finish), ("once upon", Finish::Length));
    }
    for outcome in both(ScriptedReply::CutShort(String::new()), &ask_with_long_timeout()).await {
        assert_eq!(outcome.unwrap().finish, Finish::Length, "cut off before its first word");
    }
    for outcome in
        both(ScriptedReply::Refuses("I would rather not".to_owned()), &ask_with_long_timeout())
            .await
    {
        let answer = outcome.unwrap();
        assert_eq!((answer.text.as_str(), answer.finish), ("I would rather not", Finish::Refused));
    }
    for outcome in both(ScriptedReply::Filtered, &ask_with_long_timeout()).await {
        assert_eq!(outcome.unwrap().finish, Finish::Refused);
    }
}

#[tokio::test]
async fn chat_faults_map_to_the_right_error_in_time() {
    use Kind::{Answered, Malformed, Missing, Unavailable};
    let within = Duration::from_millis(300);
    for fault in ServiceFault::ALL {
        let expected = match fault {
            ServiceFault::AcceptAndClose
            | ServiceFault::HangBeforeHeaders
            | ServiceFault::HangMidBody
            | ServiceFault::SlowDrip
            | ServiceFault::TooManyRequests
            | ServiceFault::TooManyRequestsUntil(_)
            | ServiceFault::InternalError
            | ServiceFault::BadGateway
            | ServiceFault::ServiceUnavailable
            | ServiceFault::ChunkedGarbage => [Unavailable; 2],
            // A stream that ends early is a closed connection: a retry may help.
            ServiceFault::EmptyBody | ServiceFault::TruncatedStream => [Malformed, Unavailable],
            ServiceFault::TruncatedJson
            | ServiceFault::InvalidUtf8
            | ServiceFault::Huge
            | ServiceFault::DeepNesting
            | ServiceFault::DuplicateKeys
            | ServiceFault::NotANumber
            | ServiceFault::WrongTypes
            | ServiceFault::HtmlPage
            | ServiceFault::GzipBomb => [Malformed; 2],
            ServiceFault::Redirect => [Missing; 2],
            ServiceFault::ExtraFields | ServiceFault::RefusalText | ServiceFault::MarkdownFence => {
                [Answered; 2]
            }
        };
        // Faults that hang must hit the timeout; the others may take what a busy machine needs.
        let hangs = matches!(
            fault,
            ServiceFault::HangBeforeHeaders | ServiceFault::HangMidBody | ServiceFault::SlowDrip
        );
        let ask = if hangs { ask(within) } else { ask_with_long_timeout() };
        let began = Instant::now();
        let outcomes =
            both(ScriptedReply::Faulty(fault, format!("{{\"say\":\"{DIARY}\"}}")), &ask).await;
        let took = began.elapsed();
        assert_eq!(outcomes.each_ref().map(kind), expected, "{fault:?}: {outcomes:?}");
        assert!(took < Duration::from_secs(4), "{fault:?} took {took:?}");
        let [whole, _] = outcomes;
        let words = whole.as_ref().map_or_else(ToString::to_string, |answer| answer.text.clone());
        let word = match fault {
            ServiceFault::ExtraFields => "{\"say\":\"dear diary\"}",
            ServiceFault::MarkdownFence => "```json\n{\"say\":\"dear diary\"}\n```",
            ServiceFault::TooManyRequestsUntil(_) => "429",
            ServiceFault::Huge => "more than",
            // If it were unpacked, it would fail as too long instead.
            ServiceFault::GzipBomb => "compressed",
            _ => "",
        };
        assert!(words.contains(word), "{fault:?}: {words}");
    }
}

#[tokio::test]
async fn chat_timeout_holds_for_every_fault() {
    for fault in ServiceFault::ALL {
        let began = Instant::now();
        let _ =
            both(ScriptedReply::Faulty(fault, DIARY.to_owned()), &ask(Duration::from_millis(100)))
                .await;
        assert!(began.elapsed() < Duration::from_secs(2), "{fault:?} {:?}", began.elapsed());
    }
}

#[tokio::test]
async fn unreachable_chat_services_are_unavailable() {
    let plain = ChatServer::start(|_| text("hello")).await;
    let encrypted = plain.url().replacen("http:", "https:", 1);
    for url in [server::unused_address().await, "http://lukasa.invalid/v1".to_owned(), encrypted] {
        let chat = chat(&url);
        let outcome = chat.answer(&ask(Duration::from_millis(900)), None).await;
        assert_eq!(kind(&outcome), Kind::Unavailable, "{url}: {outcome:?}");
        let outcome = listen(&chat, &ask(Duration::from_millis(900))).await.1;
        assert_eq!(kind(&outcome), Kind::Unavailable, "{url}: {outcome:?}");
    }
    assert_eq!(plain.asked(), 0);
}

#[tokio::test]
async fn chat_redirect_is_not_followed() {
    let other = ChatServer::start(|_| text("hello")).await;
    let to = other.url();
    for status in [301, 302, 303, 307, 308] {
        let to = to.clone();
        let from = server::ScriptedServer::start(move |_, _| {
            server::ScriptedResponse::status(status).header("location", &to)
        })
        .await;
        let error = chat(&from.base).answer(&ask_with_long_timeout(), None).await.unwrap_err();
        let words = error.to_string();
        assert!(matches!(error, ModelError::Missing(_)) && words.contains("redirects"), "{words}");
    }
    assert_eq!(other.asked(), 0);
}

#[tokio::test]
async fn chat_refusal_names_the_setting() {
    for (status, word) in
        [(401, "LUKASA_CHAT_KEY"), (403, "LUKASA_CHAT_KEY"), (404, "name of the model")]
    {
        for outcome in
            both(ScriptedReply::Status(status, String::new()), &ask_with_long_timeout()).await
        {
            let words = outcome.unwrap_err().to_string();
            assert!(words.contains(word) && words.contains(&status.to_string()), "{words}");
        }
    }
    let body = json!({"error": {"message": format!("Too long: {DIARY}"), "param": KEY,
        "code": "context_length_exceeded"}});
    let refused = ScriptedReply::Status(400, body.to_string());
    for outcome in both(refused.clone(), &with_schema(ask_with_long_timeout())).await {
        assert_eq!(kind(&outcome), Kind::Missing);
        let words = outcome.unwrap_err().to_string();
        for word in ["400", "context_length_exceeded", "\"Too long: […]\""] {
            assert!(words.contains(word), "{words}");
        }
    }
    for status in [408, 500, 529] {
        for outcome in
            both(ScriptedReply::Status(status, DIARY.to_owned()), &ask_with_long_timeout()).await
        {
            assert_eq!(kind(&outcome), Kind::Unavailable, "{status}");
        }
    }
}

#[tokio::test]
async fn malformed_chat_answer_is_refused() {
    let choice = |message: Value| json!({"choices": [{"index": 0, "message": message}]});
    for bad in [
        json!(null),
        json!({}),
        json!([]),
        json!("dear diary"),
        json!({"choices": null}),
        json!({"choices": []}),
        json!({"choices": {}}),
        json!({"choices": ["dear diary"]}),
        json!({"choices": [{}]}),
        choice(json!(null)),
        choice(json!({})),
        choice(json!({"content": null})),
        choice(json!({"content": ""})),
        choice(json!({"content": " \n"})),
        choice(json!({"content": ["dear diary"]})),
        choice(json!({"content": "x".repeat((1 << 20) + 1)})),
        json!({"choices": [{"message": {"content": "a"}}], "usage": {"prompt_tokens": -1}}),
        json!({"choices": [{"message": {"content": "a"}}], "usage": {"prompt_tokens": "7"}}),
    ] {
        let shown = bad.to_string().chars().take(80).collect::<String>();
        let outcome = body(bad).await;
        assert_eq!(kind(&outcome), Kind::Malformed, "{shown}: {outcome:?}");
        assert!(!outcome.unwrap_err().to_string().contains("diary"), "{shown}");
    }
    let error = json!({"error": {"message": DIARY, "code": "overloaded"}});
    for outcome in both(ScriptedReply::Body(error), &ask_with_long_timeout()).await {
        assert_eq!(kind(&outcome), Kind::Unavailable);
        assert!(outcome.unwrap_err().to_string().contains("overloaded"));
    }
}

#[tokio::test]
async fn tokens_are_estimated_without_usage_counts() {
    let message = json!({"content": "fünf!"});
    for usage in [json!(null), json!({}), json!({"prompt_tokens": 0, "completion_tokens": null})] {
        let answer =
            body(json!({"choices": [{"message": message}], "usage": usage})).await.unwrap();
        assert_eq!(answer.tokens, TokensUsed { input: 5, output: 2 });
    }
    let usage = json!({"prompt_tokens": 7, "completion_tokens": u64::MAX});
    let answer = body(json!({"choices": [{"message": message}], "usage": usage})).await.unwrap();
    assert_eq!(answer.tokens, TokensUsed { input: 7, output: u32::MAX });
}

#[tokio::test]
async fn interrupted_chat_stream_is_an_error() {
    let reply = ScriptedReply::Faulty(ServiceFault::TruncatedStream, "one two".to_owned());
    let server = ChatServer::start(move |_| reply.clone()).await;
    let (pieces, answer) = listen(&chat(&server.url()), &ask_with_long_timeout()).await;
    assert_eq!(pieces, ["one ", "two"]);
    assert_eq!(kind(&answer), Kind::Unavailable);
}

#[tokio::test]
async fn failing_chat_service_is_paused_and_tried_again() {
    let server = ChatServer::start(|asked| match asked["messages"][1]["content"].as_str() {
        Some("well?") => text("well"),
        _ => ScriptedReply::Faulty(ServiceFault::ServiceUnavailable, String::new()),
    })
    .await;
    let chat = chat(&server.url());
    for turn in 0..5 {
        let outcome = match turn % 2 {
            0 => chat.answer(&ask_with_long_timeout(), None).await,
            _ => listen(&chat, &ask_with_long_timeout()).await.1,
        };
        assert!(outcome.unwrap_err().to_string().contains("503"));
    }
    let mut well = ask_with_long_timeout();
    well.messages[1].content = "well?".to_owned();
    let paused = chat.answer(&well, None).await.unwrap_err();
    assert!(matches!(&paused, ModelError::Unavailable(why) if why.contains("paused")));
    let paused = listen(&chat, &well).await.1.unwrap_err();
    assert!(paused.to_string().contains("paused"), "{paused}");
    assert_eq!(server.asked(), 5, "a paused service is not called");

    let half_a_minute = || async {
        tokio::time::pause();
        tokio::time::advance(Duration::from_secs(30)).await;
        tokio::time::resume();
    };
    half_a_minute().await;
    assert!(
        chat.answer(&ask_with_long_timeout(), None).await.unwrap_err().to_string().contains("503")
    );
    assert!(chat.answer(&well, None).await.unwrap_err().to_string().contains("paused"));
    assert_eq!(server.asked(), 6, "one trial, then paused again");

    half_a_minute().await;
    assert_eq!(chat.answer(&well, None).await.unwrap().text, "well");
    assert_eq!(chat.answer(&well, None).await.unwrap().text, "well");
    assert_eq!(server.asked(), 8);
}

#[test]
fn chat_api_key_is_not_printed() {
    let config = config("https://models.example/v1");
    assert!(!format!("{config:?}").contains(KEY));
    let chat = RemoteChat::new(config).unwrap();
    assert!(!format!("{chat:?}").contains(KEY), "{chat:?}");
    assert_eq!(chat.name(), "small");
}

#[test]
fn chat_setting_has_model_url_and_price() {
    let parse = |text: &str| text.parse::<ChatConfig>();
    let config = parse("gpt-mini@https://example.test/v1#0.15/0.60").unwrap();
    assert_eq!(
        (config.model.as_str(), config.base_url.as_str()),
        ("gpt-mini", "https://example.test/v1")
    );
    assert_eq!(config.price, Price { input: 150_000, output: 600_000 });
    assert_eq!(RemoteChat::new(config).unwrap().price(), Price { input: 150_000, output: 600_000 });
    let config = parse(" claude@2024@http://127.0.0.1:11434 ").unwrap();
    assert_eq!((config.model.as_str(), config.price), ("claude@2024", Price::default()));
    assert!(RemoteChat::new(config).is_ok());

    for bad in [
        "",
        "secret",
        "secret@",
        "@http://secret",
        "small@secret",
        "small@ftp://secret/v1",
        "small@http://me:secret@example.test",
        "small@http://secret#",
        "small@http://secret#1",
        "small@http://secret#1/",
        "small@http://secret#-1/2",
        "small@http://secret#1/2/3",
        "small@http://secret#1/x",
    ] {
        let error = parse(bad).and_then(RemoteChat::new).unwrap_err();
        assert!(matches!(error, ModelError::Missing(_)), "{bad}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}

#[tokio::test]
async fn chat_api_key_is_sent_to_its_service_only() {
    let (one, two) =
        (ChatServer::start(|_| text("one")).await, ChatServer::start(|_| text("two")).await);
    let at = |name: &str, server: &ChatServer| format!("{name}@{}", server.url());
    let (a, b, c) = (at("a", &one), at("b", &two), at("c", &one));
    let chain = ChatConfig::chain(&[&a, &b], &["sk-a", ""]).unwrap();
    for config in chain {
        RemoteChat::new(config).unwrap().answer(&ask_with_long_timeout(), None).await.unwrap();
    }
    assert!(one.requests()[0].head.contains("authorization: bearer sk-a"));
    assert!(!two.requests()[0].head.contains("authorization"));

    let keys = |settings: &[&str], keys: &[&str]| {
        let chain = ChatConfig::chain(settings, keys)?;
        Ok(chain.iter().map(|config| config.api_key.is_some()).collect::<Vec<_>>())
    };
    assert_eq!(keys(&[&a, &c], &["secret"]), Ok(vec![true, true]), "at one service");
    assert_eq!(keys(&[&a, &b], &[]), Ok(vec![false, false]));
    assert_eq!(keys(&[], &[]), Ok(vec![]));
    for wrong in [vec!["secret"], vec!["secret", "secret", ""]] {
        let error: ModelError = keys(&[&a, &b], &wrong).unwrap_err();
        assert!(!error.to_string().contains("secret"), "{error}");
        assert!(error.to_string().contains("2 chat models"), "{error}");
    }
}

#[tokio::test]
async fn scripted_chat_answers_from_script_and_records_requests() {
    let chat = ScriptedChat::saying(|ask| format!("you said {}", ask.messages[1].content))
        .named("other")
        .priced(Price { input: 1, output: 2 });
    let (pieces, answer) = listen(&chat, &ask_with_long_timeout()).await;
    assert_eq!(pieces.concat(), "you said dear diary");
    assert_eq!(answer.unwrap().text, "you said dear diary");
    assert_eq!((chat.name(), chat.price()), ("other", Price { input: 1, output: 2 }));
    assert_eq!((chat.asked(), chat.asks()), (1, vec![ask_with_long_timeout()]));
    let failing = ScriptedChat::failing();
    assert_eq!(kind(&failing.answer(&ask_with_long_timeout(), None).await), Kind::Unavailable);
    assert_eq!(failing.asked(), 1);
}
