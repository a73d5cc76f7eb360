//! The forms of requests that services accept, and how the client finds them.

use std::time::Duration;

use lukasa_core::model::{
    AnswerSchema, Chat, ChatRequest, Finish, Message, ModelError, TokensUsed,
};
use lukasa_models::remote::{ApiKey, ChatConfig, RemoteChat};
use lukasa_models::scripted::chat_server::{ChatServer, ScriptedReply, ServiceFault};
use lukasa_models::scripted::server::{ConnectionStep, ScriptedResponse, ScriptedServer, head};
use serde_json::{Value, json};

const KEY: &str = "sk-do-not-print-me";

fn client(url: &str, model: &str) -> RemoteChat {
    let config = ChatConfig { api_key: Some(ApiKey::new(KEY)), ..ChatConfig::new(url, model) };
    RemoteChat::new(config).unwrap()
}

fn ask() -> ChatRequest {
    let schema = json!({"type": "object", "additionalProperties": false, "required": ["title"],
        "properties": {"title": {"type": "string", "maxLength": 80}}});
    ChatRequest {
        messages: vec![Message::system("Be brief."), Message::user("dear diary")],
        schema: Some(AnswerSchema { name: "title", schema }),
        max_tokens: 64,
        within: Duration::from_secs(5),
    }
}

fn refuse(message: &str) -> ScriptedReply {
    ScriptedReply::Status(400, json!({"error": {"message": message}}).to_string())
}

fn answer() -> ScriptedReply {
    ScriptedReply::Text("{\"title\": \"Diary\"}".to_owned())
}

/// A service that refuses what `fault` names in a request.
async fn service(
    fault: impl Fn(&Value) -> Option<&'static str> + Send + Sync + 'static,
) -> ChatServer {
    ChatServer::start(move |asked| fault(asked).map_or_else(answer, refuse)).await
}

/// Asks twice; returns the bodies. The second request must be accepted at once.
async fn forms_tried(server: &ChatServer, model: &str) -> Vec<Value> {
    let chat = client(&server.url(), model);
    assert_eq!(chat.answer(&ask(), None).await.unwrap().text, "{\"title\": \"Diary\"}");
    let tried = server.asked();
    chat.answer(&ask(), None).await.unwrap();
    assert_eq!(server.asked(), tried + 1, "the accepted form is remembered");
    let mut bodies = server.bodies();
    assert_eq!(bodies.pop(), bodies.last().cloned());
    bodies
}

#[tokio::test]
async fn chat_falls_back_to_json_object_when_schema_is_refused() {
    let server = service(|asked| {
        let is_schema = asked["response_format"]["type"] == "json_schema";
        is_schema.then_some("This response_format type is unavailable now")
    })
    .await;
    let bodies = forms_tried(&server, "small").await;
    assert_eq!(bodies.len(), 2);
    assert_eq!(bodies[1]["response_format"], json!({"type": "json_object"}));
    let instructions = bodies[1]["messages"][0]["content"].as_str().unwrap();
    assert!(instructions.starts_with("Be brief."), "{instructions}");
    assert!(instructions.contains("JSON") && instructions.contains("maxLength"), "{instructions}");
}

#[tokio::test]
async fn chat_falls_back_to_plain_text_when_json_modes_are_refused() {
    let server = ChatServer::start(|asked| match asked.get("response_format") {
        Some(_) => refuse("response_format is not supported"),
        None => ScriptedReply::Text("Sure:\n```json\n{\"title\": \"Diary\"}\n```".to_owned()),
    })
    .await;
    let bodies = forms_tried(&server, "small").await;
    assert_eq!(bodies.len(), 3);
    let form = client(&server.url(), "small").request_form().unwrap();
    assert_eq!(form, "JSON schema, max_tokens, temperature 0", "a new client knows nothing yet");
}

#[tokio::test]
async fn chat_falls_back_between_token_fields_when_one_is_refused() {
    let server = service(|asked| {
        asked.get("max_tokens").map(|_| {
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use \
             'max_completion_tokens' instead."
        })
    })
    .await;
    let bodies = forms_tried(&server, "small").await;
    assert_eq!(bodies.len(), 2);
    assert_eq!(
        (&bodies[1]["max_completion_tokens"], bodies[1].get("max_tokens")),
        (&64.into(), None)
    );
    let server = service(|asked| {
        asked.get("max_completion_tokens").map(|_| "Unknown name \"max_completion_tokens\"")
    })
    .await;
    let bodies = forms_tried(&server, "gpt-4o").await;
    assert_eq!((bodies.len(), &bodies[1]["max_tokens"]), (2, &64.into()));
}

#[tokio::test]
async fn chat_falls_back_to_no_temperature_when_it_is_refused() {
    let server = service(|asked| {
        asked.get("temperature").map(
            |_| "Unsupported value: 'temperature' does not support this value with this model.",
        )
    })
    .await;
    let bodies = forms_tried(&server, "small").await;
    assert_eq!((bodies.len(), bodies[1].get("temperature")), (2, None));
}

#[tokio::test]
async fn chat_falls_back_to_merged_instructions_when_system_role_is_refused() {
    let server = service(|asked| {
        (asked["messages"][0]["role"] == "system").then_some("System role not supported")
    })
    .await;
    let bodies = forms_tried(&server, "gemma").await;
    let messages = json!([{"role": "user", "content": "Be brief.\n\ndear diary"}]);
    assert_eq!((bodies.len(), &bodies[1]["messages"]), (2, &messages));
}

#[tokio::test]
async fn chat_combines_fallbacks_in_one_request() {
    let server = service(|asked| match asked {
        _ if asked.get("max_tokens").is_some() => Some("max_tokens is not supported"),
        _ if asked.get("temperature").is_some() => Some("temperature is not supported"),
        _ if asked["response_format"]["type"] == "json_schema" => Some("unknown json_schema"),
        _ => None,
    })
    .await;
    assert_eq!(forms_tried(&server, "small").await.len(), 4);
}

#[tokio::test]
async fn chat_stream_falls_back_without_token_counts() {
    let server =
        service(|asked| asked.get("stream_options").map(|_| "Unknown stream_options")).await;
    let chat = client(&server.url(), "small");
    for tried in [2, 3] {
        assert!(chat.answer(&ask(), Some(&|_: &str| {})).await.is_ok());
        assert_eq!(server.asked(), tried);
    }
}

#[tokio::test]
async fn chat_tries_at_most_five_forms_and_reports_the_first_refusal() {
    let server = service(|asked| {
        let is_schema = asked["response_format"]["type"] == "json_schema";
        Some(if is_schema { "Something went wrong with dear diary" } else { "Later" })
    })
    .await;
    let chat = client(&server.url(), "gpt-4o");
    for round in 1..=2 {
        let error = chat.answer(&ask(), None).await.unwrap_err();
        let words = error.to_string();
        assert!(words.contains("\"Something went wrong with […]\""), "{words}");
        assert_eq!(server.asked(), round * 5, "a refused form is not remembered");
    }
}

#[tokio::test]
async fn chat_refusal_for_another_reason_is_not_retried() {
    for (status, message) in [
        (400, "This model's maximum context length is 8192 tokens, however you requested 9000"),
        (400, "The request was blocked by the content filter"),
        (404, "The model `small` does not exist"),
        (401, "Incorrect API key provided: sk-do-n***********-me"),
        (400, "API key not valid. Please pass a valid API key."),
        (402, "Insufficient credit"),
        (413, "Payload too large"),
    ] {
        let body = json!({"error": {"message": message}}).to_string();
        let server = ChatServer::start(move |_| ScriptedReply::Status(status, body.clone())).await;
        let error = client(&server.url(), "small").answer(&ask(), None).await.unwrap_err();
        assert_eq!(server.asked(), 1, "{message}");
        let words = error.to_string();
        let shown = message.split(": sk-").next().unwrap();
        assert!(words.contains(shown) && !words.contains("sk-do"), "{words}");
        assert_eq!(words.contains("LUKASA_CHAT_KEY"), message.contains("API key"), "{words}");
    }
}

#[tokio::test]
async fn chat_known_families_are_accepted_at_once() {
    // A service with the rules of OpenAI's reasoning models.
    let server = service(|asked| match asked {
        _ if asked.get("max_tokens").is_some() => Some("max_tokens is not supported"),
        _ if asked.get("temperature").is_some() => Some("temperature is not supported"),
        _ if asked.to_string().contains("maxLength") => Some("'maxLength' is not permitted"),
        _ => None,
    })
    .await;
    for model in ["gpt-5-mini", "o3", "openai/o4-mini"] {
        let before = server.asked();
        client(&server.url(), model).answer(&ask(), None).await.unwrap();
        assert_eq!(server.asked(), before + 1, "{model}");
    }
    let most = server.bodies()[0]["max_completion_tokens"].as_u64().unwrap();
    assert!(most > 10_000, "room for reasoning: {most}");
}

#[tokio::test]
async fn chat_reports_pause_that_the_service_asks_for_and_keeps_it() {
    for status in [429, 503, 529] {
        let body = json!({"error": {"message": "Slow down", "type": "rate_limit"}}).to_string();
        let server = ScriptedServer::start(move |_, _| {
            ScriptedResponse::status(status).header("retry-after", "60").with_body(&body)
        })
        .await;
        let chat = client(&server.base, "small");
        let error = chat.answer(&ask(), None).await.unwrap_err();
        let ModelError::Busy { reason, retry_after } = error else { panic!("{error}") };
        assert!(reason.contains("Slow down") && reason.contains(&status.to_string()), "{reason}");
        assert_eq!(retry_after, Duration::from_secs(60));
        let again = chat.answer(&ask(), None).await.unwrap_err();
        let ModelError::Busy { retry_after, .. } = again else { panic!("{again}") };
        assert!(retry_after > Duration::from_secs(50), "{retry_after:?}");
        assert_eq!(server.asked().len(), 1, "it is not called meanwhile");
    }
}

#[tokio::test]
async fn chat_timeouts_do_not_pause_a_slow_service() {
    let server = ChatServer::start(|asked| match asked["messages"][1]["content"].as_str() {
        Some("quick") => answer(),
        _ => ScriptedReply::Faulty(ServiceFault::HangBeforeHeaders, String::new()),
    })
    .await;
    let chat = client(&server.url(), "small");
    for _ in 0..7 {
        let slow = ChatRequest { within: Duration::from_millis(150), ..ask() };
        let error = chat.answer(&slow, None).await.unwrap_err();
        assert!(error.to_string().contains("did not answer in time"), "{error}");
    }
    let mut quick = ask();
    quick.messages[1].content = "quick".to_owned();
    assert!(chat.answer(&quick, None).await.is_ok());
}

fn anthropic_message(content: &Value, stop: &str) -> ScriptedResponse {
    ScriptedResponse::json(&json!({"id": "m", "type": "message", "role": "assistant",
        "content": content, "stop_reason": stop,
        "usage": {"input_tokens": 70, "output_tokens": 9}}))
}

#[tokio::test]
async fn anthropic_request_and_answer_follow_the_protocol() {
    let server = ScriptedServer::start(|_, _| {
        let tool = json!({"type": "tool_use", "id": "t", "name": "title",
            "input": {"title": "Diary"}});
        anthropic_message(&json!([{"type": "text", "text": "Well."}, tool]), "tool_use")
    })
    .await;
    let chat = client(&format!("{}/v1/messages", server.base), "claude");
    let answer = chat.answer(&ask(), None).await.unwrap();
    assert_eq!(answer.text, "{\"title\":\"Diary\"}");
    assert_eq!(answer.tokens, TokensUsed { input: 70, output: 9 });
    assert_eq!(answer.finish, Finish::Stop);
    let asked = &server.asked()[0];
    assert_eq!(asked.line, "POST /v1/messages HTTP/1.1");
    assert!(asked.head.contains(&format!("x-api-key: {KEY}")), "{}", asked.head);
    assert!(asked.head.contains("anthropic-version: 2023-06-01"), "{}", asked.head);
    assert!(!asked.head.contains("authorization"), "{}", asked.head);
    let schema = ask().schema.unwrap().schema;
    let expected = json!({"model": "claude", "max_tokens": 64, "temperature": 0,
        "system": "Be brief.", "messages": [{"role": "user", "content": "dear diary"}],
        "tools": [{"name": "title", "description": "Takes the answer.", "input_schema": schema}],
        "tool_choice": {"type": "tool", "name": "title", "disable_parallel_tool_use": true}});
    assert_eq!(asked.json(), expected);
    assert!(chat.request_form().unwrap().starts_with("Anthropic's protocol"));
}

#[tokio::test]
async fn anthropic_answer_without_schema_is_its_text() {
    let server = ScriptedServer::start(|_, _| {
        anthropic_message(&json!([{"type": "text", "text": "good night"}]), "end_turn")
    })
    .await;
    let chat = client(&format!("{}/v1/messages", server.base), "claude");
    let answer = chat.answer(&ChatRequest { schema: None, ..ask() }, None).await.unwrap();
    assert_eq!(answer.text, "good night");
    assert_eq!(server.asked()[0].json().get("tools"), None);
}

#[tokio::test]
async fn anthropic_stop_reasons_and_errors_are_read() {
    for (stop, finish) in [("max_tokens", Finish::Length), ("refusal", Finish::Refused)] {
        let server = ScriptedServer::start(move |_, _| anthropic_message(&json!([]), stop)).await;
        let chat = client(&format!("{}/v1/messages", server.base), "claude");
        assert_eq!(chat.answer(&ask(), None).await.unwrap().finish, finish);
    }
    let server = ScriptedServer::start(|_, _| {
        let error = json!({"type": "error", "error": {"type": "overloaded_error",
            "message": "Overloaded"}});
        ScriptedResponse::status(529).with_body(&error.to_string())
    })
    .await;
    let chat = client(&format!("{}/v1/messages", server.base), "claude");
    let error = chat.answer(&ask(), None).await.unwrap_err();
    assert!(matches!(error, ModelError::Unavailable(_)), "{error}");
    assert!(error.to_string().contains("529, overloaded_error, \"Overloaded\""), "{error}");
}

#[tokio::test]
async fn anthropic_falls_back_to_plain_text_when_tools_are_refused() {
    let server = ScriptedServer::start(|_, asked| match asked.json().get("tools") {
        Some(_) => {
            let error = json!({"type": "error", "error": {"type": "invalid_request_error",
                "message": "tool_choice: not supported"}});
            ScriptedResponse::status(400).with_body(&error.to_string())
        }
        None => anthropic_message(
            &json!([{"type": "text", "text": "{\"title\": \"Diary\"}"}]),
            "end_turn",
        ),
    })
    .await;
    let chat = client(&format!("{}/v1/messages", server.base), "claude");
    for tried in [2, 3] {
        assert_eq!(chat.answer(&ask(), None).await.unwrap().text, "{\"title\": \"Diary\"}");
        assert_eq!(server.asked().len(), tried);
    }
}

#[tokio::test]
async fn anthropic_stream_is_delivered_piece_by_piece() {
    let events = [
        json!({"type": "message_start", "message": {"id": "m", "usage": {"input_tokens": 70,
            "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use",
            "id": "t", "name": "title", "input": {}}}),
        json!({"type": "ping"}),
        json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": "{\"title\":"}}),
        json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "input_json_delta", "partial_json": " \"Diary\"}"}}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"},
            "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ];
    let text: String = events.iter().map(|event| format!("event: x\ndata: {event}\n\n")).collect();
    let server = ScriptedServer::start(move |_, _| {
        let head = head(200, "content-type: text/event-stream\r\n");
        vec![ConnectionStep::Send(head), ConnectionStep::Send(text.clone().into_bytes())]
    })
    .await;
    let chat = client(&format!("{}/v1/messages", server.base), "claude");
    let pieces = std::sync::Mutex::new(Vec::new());
    let hear = |piece: &str| pieces.lock().unwrap().push(piece.to_owned());
    let answer = chat.answer(&ask(), Some(&hear)).await.unwrap();
    assert_eq!(answer.text, "{\"title\": \"Diary\"}");
    assert_eq!(answer.tokens, TokensUsed { input: 70, output: 9 });
    assert_eq!(pieces.into_inner().unwrap(), ["{\"title\":", " \"Diary\"}"]);
}
