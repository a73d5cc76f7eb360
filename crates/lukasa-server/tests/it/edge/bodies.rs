//! Request bodies are read after the credential was checked, within a memory budget, and are not
//! parsed when they are too deep or have too many values.

use std::time::Duration;

use lukasa_server::api::LimitSettings;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::app::{Answer, Client, TestApp};

/// Sends a head without a body; returns the status line of the response if there is one.
async fn answer_before_body(base: &str, head: &str) -> Option<String> {
    let mut stream = TcpStream::connect(base.trim_start_matches("http://")).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = [0; 12];
    let read = timeout(Duration::from_secs(5), stream.read_exact(&mut answer)).await;
    read.ok()?.ok()?;
    Some(String::from_utf8_lossy(&answer).into_owned())
}

#[tokio::test]
async fn body_is_not_read_before_the_credential_is_checked() {
    let app = TestApp::with_keys().await;
    for (method, path) in [
        ("POST", "/mem0/memories"),
        ("POST", "/mem0/v3/memories/add/"),
        ("POST", "/mem0/search"),
        ("POST", "/mem0/v3/memories/"),
        ("PUT", "/mem0/v1/batch/"),
        ("DELETE", "/mem0/v1/batch/"),
        ("PUT", "/mem0/memories/mem_1"),
        ("POST", "/api/memory"),
        ("POST", "/api/import"),
        ("POST", "/api/vault"),
        ("POST", "/v1/chat/completions"),
        ("POST", "/v1/embeddings"),
        ("POST", "/mcp"),
    ] {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
             content-length: 1000000\r\n\r\n"
        );
        let answer = answer_before_body(&app.base, &head).await;
        assert_eq!(answer.as_deref(), Some("HTTP/1.1 401"), "{method} {path}");
    }
}

#[tokio::test]
async fn json_with_too_many_values_or_levels_is_rejected() {
    let app = TestApp::local().await;
    let me = app.anonymous().with("content-type", "application/json");
    let many = format!("{{\"messages\":[{}0]}}", "0,".repeat(1_500_000));
    me.send("POST", "/mem0/memories", many.clone().into()).await.expect(413);
    let sent = me.send("POST", "/api/sessions/s/turns", many.clone().into()).await;
    sent.refused(413, "body_too_large");
    me.send("POST", "/v1/chat/completions", many.into()).await.expect(413);
    let deep = format!("{{\"content\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    me.send("POST", "/api/memory", deep.clone().into()).await.refused(400, "malformed_body");
    me.send("POST", "/v1/chat/completions", deep.clone().into()).await.expect(400);
    me.send("POST", "/mcp", deep.into()).await.refused(400, "malformed_body");
}

/// A connection on which a large request of this client has begun.
async fn begin(client: &Client, bytes_sent: usize) -> TcpStream {
    let head = format!(
        "POST /api/sessions/s/turns HTTP/1.1\r\nhost: localhost\r\nauthorization: {}\r\n\
         x-lukasa-user: {}\r\ncontent-type: application/json\r\ncontent-length: 1048000\r\n\r\n",
        client.header("authorization"),
        client.header("x-lukasa-user"),
    );
    let mut stream = TcpStream::connect(client.base.trim_start_matches("http://")).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    // A server that refuses the request does not read all of it.
    stream.write_all(&vec![b' '; bytes_sent]).await.ok();
    stream
}

/// Sends a request of 300 KB.
async fn send_large(client: &Client) -> Answer {
    let body = serde_json::json!({ "turns": [], "title": "x".repeat(300 * 1024) });
    client.post("/api/sessions/s/turns", body).await
}

/// Sends large requests of this client until one is refused because `holder`, a request of `of`, holds
/// memory. If a large request came first, then `holder` was refused, and is begun again.
async fn refused_beside(holder: &mut TcpStream, of: &Client, client: &Client) -> Answer {
    for _ in 0..100 {
        let answer = send_large(client).await;
        if answer.status == 429 {
            return answer;
        }
        if timeout(Duration::from_millis(20), holder.readable()).await.is_ok() {
            *holder = begin(of, 700 * 1024).await;
        }
    }
    panic!("the memory was not reserved in time");
}

#[tokio::test]
async fn declared_bodies_take_no_memory_before_they_arrive() {
    let settings = LimitSettings { body_memory: 1, ..LimitSettings::default() };
    let app = TestApp::with_limits(&settings).await;
    let (alice, bob) =
        (app.tenant_key("acme").await.about("alice"), app.tenant_key("globex").await.about("bob"));
    let slow = [begin(&alice, 0).await, begin(&alice, 100).await, begin(&bob, 100).await];
    tokio::time::sleep(Duration::from_millis(200)).await;
    for client in [&alice, &bob] {
        let answer = send_large(client).await;
        assert!(![429, 503].contains(&answer.status), "{}", answer.text());
    }
    drop(slow);
}

#[tokio::test]
async fn bodies_in_flight_share_one_memory_budget() {
    let settings = LimitSettings { body_memory: 1, ..LimitSettings::default() };
    let app = TestApp::with_limits(&settings).await;
    let key = app.tenant_key("acme").await;
    let (alice, other) = (key.about("alice"), key.about("zoe"));
    let bob = app.tenant_key("globex").await.about("bob");
    let mut holder = begin(&alice, 700 * 1024).await;
    for client in [&alice, &other] {
        let refused = refused_beside(&mut holder, &alice, client).await;
        let refused = refused.refused(429, "rate_limited");
        assert_eq!(refused.header("retry-after"), Some("1"));
        client.save("Small bodies need none of it").await;
    }
    let of_bob = send_large(&bob).await;
    assert!(![429, 503].contains(&of_bob.status), "another tenant is served: {}", of_bob.text());
    drop(holder);
    for _ in 0..100 {
        if send_large(&alice).await.status != 429 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the memory was not released in time");
}
