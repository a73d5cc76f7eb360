//! What the gateway passes through: every byte of a response, every field of a request, and no key
//! of ours.

use std::time::Duration;

use lukasa_models::scripted::server::{ConnectionStep, head, unused_address};
use lukasa_server::api::{App, AuthMode};
use lukasa_server::gateway::{Gateway, Upstream};
use lukasa_server::http::router_with;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::fixture::{SERVER_KEY, TestGateway, body, chat, reply, say};
use crate::app::{TestApp, serve};

const BOTH: [(&str, &str); 2] = [("/v1/chat/completions", "messages"), ("/v1/responses", "input")];

#[tokio::test]
async fn gateway_passes_responses_through_byte_for_byte() {
    let text = "Grüße aus dem Süden, \u{1f9f6} and \"quotes\" \\ too";
    let fixture = TestGateway::answering(AuthMode::Keys, text).await;
    let (ada, direct) = fixture.assistant("ada").await;
    direct.save("Likes green tea").await;
    for (path, field) in BOTH {
        for stream in [false, true] {
            let mut asked = json!({"model": "m", "stream": stream});
            asked[field] = json!([{"role": "user", "content": "Hello"}]);
            let answer = ada.post(path, asked).await.expect(200);
            let (kind, sent) = body(&fixture.last(), text);
            assert_eq!(answer.body, sent, "{path} {stream}");
            assert_eq!(answer.header("content-type"), Some(kind));
            assert_eq!(answer.header("x-request-id"), Some("yes"));
            assert_eq!(answer.header("content-length"), Some(sent.len().to_string().as_str()));
            assert_eq!(answer.header("lukasa-memories"), Some("1"), "{path} {stream}");
        }
    }
}

#[tokio::test]
async fn gateway_passes_upstream_errors_through() {
    let fixture = TestGateway::open(AuthMode::Keys, |_, _| {
        let headers = "retry-after: 7\r\ncontent-type: application/json\r\ncontent-length: 22\r\n";
        vec![
            ConnectionStep::Send(head(429, headers)),
            ConnectionStep::Send(b"{\"error\": \"not  now\"}\n".to_vec()),
        ]
    })
    .await;
    let (ada, direct) = fixture.assistant("ada").await;
    let answer = say(&ada.with("x-lukasa-session", "c"), &["Hello"]).await.expect(429);
    assert_eq!(answer.text(), "{\"error\": \"not  now\"}\n");
    assert_eq!(answer.header("retry-after"), Some("7"));
    tokio::time::sleep(Duration::from_millis(100)).await;
    direct.get("/api/sessions/c").await.refused(404, "session_not_found");
}

#[tokio::test]
async fn gateway_streams_without_buffering() {
    let first = "data: {\"choices\": [{\"index\":0,\"delta\":{\"content\":\"One \"}}]}\n\n";
    let fixture = TestGateway::open(AuthMode::Keys, move |_, _| {
        vec![
            ConnectionStep::Send(head(200, "content-type: text/event-stream\r\n")),
            ConnectionStep::Send(first.into()),
            ConnectionStep::Hang,
        ]
    })
    .await;
    let (ada, _) = fixture.assistant("ada").await;
    let mut answer = reqwest::Client::new()
        .post(format!("{}/v1/chat/completions", ada.base))
        .header("authorization", ada.header("authorization"))
        .header("x-lukasa-user", "ada")
        .body(chat(&["Hello"]).to_string())
        .send()
        .await
        .unwrap();
    // The last chunk never arrives.
    let begun = tokio::time::timeout(Duration::from_secs(60), answer.chunk()).await;
    assert_eq!(begun.unwrap().unwrap().unwrap(), first.as_bytes());
}

#[tokio::test]
async fn gateway_passes_other_request_fields_unchanged() {
    let fixture = TestGateway::answering(AuthMode::Keys, "Yes").await;
    let (ada, direct) = fixture.assistant("ada").await;
    direct.save("Likes green tea").await;
    let tools = json!([{"type": "function", "function": {"name": "weather", "strict": true,
        "parameters": {"type": "object", "properties": {"z": {"type": "number"}, "a": {}}}}}]);
    let asked = json!({"zebra": 1, "model": "m", "temperature": 0.7, "seed": 9_007_199_254_740_993_u64,
        "tools": tools, "tool_choice": {"type": "function"}, "stream_options": {"include_usage": true},
        "messages": [{"role": "system", "content": "Be brief."},
            {"role": "user", "content": "Weather?", "cache_control": {"type": "ephemeral"}},
            {"role": "assistant", "content": null,
                "tool_calls": [{"id": "c1", "function": {"name": "weather", "arguments": "{ }"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "Sun"}], "last": null});
    ada.post("/v1/chat/completions?api-version=7", asked.clone()).await.expect(200);
    let last = fixture.last();
    assert!(last.line.starts_with("POST /v1/chat/completions?api-version=7 "), "{}", last.line);
    let mut passed = last.json();
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(keys(&passed), keys(&asked), "in the order they came");
    let text = passed["messages"][0]["content"].as_str().unwrap().to_owned();
    assert!(
        text.starts_with("Be brief.\n\n<memory nonce=") && text.contains("green tea"),
        "{text}"
    );
    passed["messages"][0]["content"] = "Be brief.".into();
    passed["messages"][1]["content"] = "Weather?".into();
    assert_eq!(passed, asked);
}

#[tokio::test]
async fn memory_off_passes_the_request_unchanged() {
    let fixture = TestGateway::answering(AuthMode::Keys, "Yes").await;
    let (ada, direct) = fixture.assistant("ada").await;
    direct.save("Likes green tea").await;
    let off = ada.with("x-lukasa-mode", "off").with("x-lukasa-session", "c");
    let odd = "{ \"messages\" :[{\"role\":\"user\",\"content\":\"Hel\\u006co\"} ],\"n\":1e0 }";
    let answer = off.send("POST", "/v1/chat/completions", odd.into()).await.expect(200);
    assert_eq!(fixture.last().body, odd.as_bytes());
    assert_eq!(answer.header("lukasa-memories"), None);
    tokio::time::sleep(Duration::from_millis(100)).await;
    direct.get("/api/sessions/c").await.refused(404, "session_not_found");
    // What cannot be read cannot be checked, so it is not sent with the server's key.
    for bytes in ["", "not json"] {
        ada.send("POST", "/v1/chat/completions", bytes.into()).await.expect(400);
        assert_eq!(fixture.last().body, odd.as_bytes());
    }
    let slip = ada.with("x-lukasa-mode", "of");
    let refused = say(&slip, &["Hello"]).await.expect(400);
    assert_eq!(refused.at("/error/code"), "malformed_header");
    assert!(refused.at("/error/message").contains("read-only"), "{}", refused.text());
}

#[tokio::test]
async fn lukasa_keys_are_not_sent_upstream() {
    let fixture = TestGateway::answering(AuthMode::Keys, "Yes").await;
    let (_, secret) = fixture.app.make_key("acme", None, &lukasa_core::Permission::ALL, None).await;
    let anonymous = fixture.through(&fixture.app.anonymous()).about("ada");
    let own = anonymous.with("x-lukasa-key", &secret);
    let bearer = |client: &crate::app::Client, key: &str| {
        client.with("authorization", &format!("Bearer {key}"))
    };
    say(&bearer(&anonymous, &secret), &["Hello"]).await.expect(200);
    say(&own, &["Hello"]).await.expect(200);
    say(&bearer(&own, "sk-mine"), &["Hello"]).await.expect(200);
    say(&bearer(&own, &secret).with("api-key", &secret), &["Hello"]).await.expect(200);
    own.get("/v1/models").await.expect(200);
    let keys: Vec<String> = fixture
        .service
        .asked()
        .iter()
        .map(|asked| {
            // By this the server recognises a request that it has sent to itself.
            let head = asked.head.replace("lukasa-sender: ", "");
            assert!(!head.contains("lukasa"), "{head}");
            assert!(!asked.head.contains("lk_live") && !asked.head.contains("cookie"));
            assert!(!String::from_utf8_lossy(&asked.body).contains("lk_live"));
            let key = asked.head.lines().find_map(|line| line.strip_prefix("authorization: "));
            key.unwrap_or("none").to_owned()
        })
        .collect();
    let servers = format!("bearer {SERVER_KEY}");
    assert_eq!(keys, [&*servers, &servers, "bearer sk-mine", &servers, &servers]);
    for stranger in
        [anonymous.clone(), bearer(&anonymous, "sk-mine"), anonymous.with("x-lukasa-key", "x")]
    {
        let refused = say(&stranger, &["Hello"]).await.expect(401);
        assert_eq!(refused.at("/error/type"), "authentication_error");
        assert_eq!(refused.at("/error/code"), "unauthenticated");
    }
    assert_eq!(fixture.service.asked().len(), 5, "no other request reached the upstream");
}

#[tokio::test]
async fn gateway_enforces_read_and_write_permissions() {
    use lukasa_core::Permission::{Chat, Propose, Read};
    let fixture = TestGateway::answering(AuthMode::Keys, "Yes").await;
    let blind = fixture
        .through(&fixture.app.key_with_permissions("acme", &[Propose, Chat]).await)
        .about("ada");
    let refused = say(&blind, &["Hello"]).await.expect(403);
    assert_eq!(refused.at("/error/code"), "forbidden");
    let reader = fixture.app.key_with_permissions("acme", &[Read, Chat]).await.about("ada");
    let deaf = fixture.through(&reader).with("x-lukasa-session", "c");
    say(&deaf, &["Hello"]).await.expect(200);
    tokio::time::sleep(Duration::from_millis(100)).await;
    reader.get("/api/sessions/c").await.refused(404, "session_not_found");
    let bound = fixture.through(&fixture.app.bound_key("acme", "bob").await);
    assert_eq!(
        say(&bound.about("ada"), &["Hello"]).await.expect(403).at("/error/code"),
        "wrong_user"
    );
    let unnamed = fixture.through(&fixture.app.tenant_key("acme").await);
    assert_eq!(say(&unnamed, &["Hello"]).await.expect(400).at("/error/code"), "user_required");
}

#[tokio::test]
async fn gateway_without_an_upstream_names_the_setup_step() {
    let app = TestApp::local().await;
    let me = app.anonymous();
    let answer = say(&me, &["Hello"]).await.expect(404);
    assert_eq!(answer.at("/error/code"), "no_upstream");
    assert!(answer.at("/error/message").contains("--upstream"), "{}", answer.text());
    assert_eq!(me.get("/v1/models").await.expect(200).each("id"), ["lukasa/guide"]);
    let gone = Upstream::new(&unused_address().await, None).unwrap();
    let own = App::new(app.engine.clone(), AuthMode::Local);
    let (base, _) = serve(router_with(own.clone(), Gateway::new(own, Some(gone)))).await;
    let answer = say(&me.at(&base), &["Hello"]).await.expect(502);
    assert_eq!(answer.at("/error/code"), "upstream_unavailable");
    let foreign = me.with("origin", "https://evil.example");
    foreign.post("/v1/chat/completions", chat(&["Hello"])).await.refused(403, "cross_site");
}

#[tokio::test]
async fn gateway_exposes_only_models_of_the_upstream() {
    let fixture = TestGateway::answering(AuthMode::Keys, "Yes").await;
    let (ada, _) = fixture.assistant("ada").await;
    ada.get("/v1/models?limit=5").await.expect(200);
    assert!(fixture.last().line.starts_with("GET /v1/models?limit=5 "));
    ada.get("/v1/models/org/model:8b").await.expect(200);
    assert!(fixture.last().line.starts_with("GET /v1/models/org/model:8b "));
    let before = fixture.service.asked().len();
    ada.get("/v1/files").await.expect(404);
    // Written by hand: an HTTP client would normalize the path.
    for path in ["/v1/models/%2e%2e/files", "/v1/models/a/.%2E/../files", "/v1/models/../files"] {
        let host = ada.base.trim_start_matches("http://");
        let mut stream = TcpStream::connect(host).await.unwrap();
        let key = ada.header("authorization");
        let asked = format!(
            "GET {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: {key}\r\n\
             x-lukasa-user: ada\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(asked.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 404"), "{path}: {answer}");
    }
    assert_eq!(fixture.service.asked().len(), before);
}

#[tokio::test]
async fn embeddings_come_from_lukasa_or_the_upstream() {
    let fixture = TestGateway::answering(AuthMode::Keys, "Yes").await;
    let (ada, _) = fixture.assistant("ada").await;
    let ask = |model: &str| json!({"model": model, "input": ["green tea", "a boat"]});
    let ours = ada.post("/v1/embeddings", ask("lukasa")).await.expect(200).json();
    assert_eq!(ours["data"][1]["index"], 1);
    assert_eq!(ours["data"][0]["embedding"].as_array().unwrap().len(), 64);
    assert!(ours["usage"]["prompt_tokens"].as_u64().unwrap() >= 3);
    let name = ours["model"].as_str().unwrap();
    assert_eq!(ada.post("/v1/embeddings", ask(name)).await.expect(200).json(), ours);
    let mut packed = ask("lukasa");
    packed["encoding_format"] = "base64".into();
    let packed = ada.post("/v1/embeddings", packed).await.expect(200).json();
    assert_eq!(
        packed["data"][0]["embedding"].as_str().unwrap().len(),
        (64 * 4_usize).div_ceil(3) * 4
    );
    let mut cut = ask("lukasa");
    cut["dimensions"] = 8.into();
    assert_eq!(
        ada.post("/v1/embeddings", cut).await.expect(400).at("/error/code"),
        "malformed_body"
    );
    assert!(fixture.service.asked().is_empty());
    ada.post("/v1/embeddings", ask("text-embedding-3-small")).await.expect(200);
    assert_eq!(fixture.last().json(), ask("text-embedding-3-small"));
}

#[tokio::test]
async fn gateway_limits_the_use_of_the_servers_key() {
    let short = Duration::from_millis(500);
    let fixture =
        TestGateway::with_memory_deadline(short, AuthMode::Keys, |_, asked| reply(asked, "Noted"))
            .await;
    let (ada, _) = fixture.assistant("ada").await;
    let (bob, _) = fixture.assistant("bob").await;
    let hosted = [
        json!({"model": "m", "input": "Hi", "tools": [{"type": "web_search"}]}),
        json!({"model": "m", "input": [{"role": "user", "content":
            [{"type": "input_file", "file_id": "file-1"}]}]}),
        json!({"model": "m", "input": "Hi", "previous_response_id": "resp_1"}),
        json!({"model": "m", "input": "Hi", "conversation": "conv_1"}),
    ];
    for mode in ["on", "off", "read-only"] {
        let client = ada.with("x-lukasa-mode", mode);
        for body in &hosted {
            let refused = client.post("/v1/responses", body.clone()).await.expect(403);
            assert_eq!(refused.at("/error/code"), "upstream_refused", "{mode} {body}");
        }
    }
    assert_eq!(fixture.service.asked().len(), 0, "nothing reached the service");
    let plain = json!({"model": "m", "input": "Hi", "stream": true});
    ada.with("x-lukasa-mode", "read-only").post("/v1/responses", plain).await.expect(200);
    ada.with("x-lukasa-mode", "read-only")
        .post("/v1/responses", hosted[2].clone())
        .await
        .expect(200);
    bob.post("/v1/responses", hosted[2].clone()).await.expect(403);
    // With a key of their own it is the client's account.
    let key = ada.header("authorization");
    let key = key.trim_start_matches("Bearer ");
    let own = ada.with("x-lukasa-key", key).with("authorization", "Bearer sk-own");
    own.post("/v1/responses", hosted[0].clone()).await.expect(200);
}

#[tokio::test]
async fn unknown_gateway_path_answers_in_the_format_of_chat_clients() {
    let fixture = TestGateway::answering(AuthMode::Keys, "Yes").await;
    let (ada, _) = fixture.assistant("ada").await;
    for path in ["/v1/files", "/v1/completions"] {
        let answer = ada.post(path, json!({})).await.expect(404);
        assert_eq!(answer.at("/error/type"), "invalid_request_error", "{path}");
    }
    let answer = ada.get("/v1/chat/completions").await.expect(405);
    assert_eq!(answer.at("/error/code"), "method_not_allowed");
}
