//! Connections: slow and idle ones are closed, and there is a cap on how many are open.

use std::time::{Duration, Instant};

use axum::Router;
use axum::routing::get;
use lukasa_server::api::{App, AuthMode, McpSettings};
use lukasa_server::http::router;
use lukasa_server::listen::{self, ListenLimits};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::app::{TestApp, serve};

const GET: &[u8] = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n";

struct Listening {
    address: std::net::SocketAddr,
    stop: oneshot::Sender<()>,
    server: JoinHandle<()>,
}

async fn listen(limits: ListenLimits) -> Listening {
    let slow = async || {
        tokio::time::sleep(Duration::from_millis(600)).await;
        "slow"
    };
    let router = Router::new().route("/", get(async || "fast")).route("/slow", get(slow));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let server = tokio::spawn(listen::serve(listener, router, limits, async {
        let _ = stopped.await;
    }));
    Listening { address, stop, server }
}

fn limits() -> ListenLimits {
    ListenLimits {
        max_connections: 3,
        max_address_connections: 0,
        header_timeout: Duration::from_millis(300),
        idle_timeout: Duration::from_millis(1_500),
        write_timeout: Duration::from_secs(60),
    }
}

/// Reads until the connection is closed; returns the bytes and how long it took.
async fn read_to_end(stream: &mut TcpStream) -> (String, Duration) {
    let (mut text, started) = (Vec::new(), Instant::now());
    let read = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut text)).await;
    let _ = read.expect("the connection is closed");
    (String::from_utf8_lossy(&text).into_owned(), started.elapsed())
}

async fn read_some(stream: &mut TcpStream) -> String {
    let mut bytes = [0; 1024];
    let count = stream.read(&mut bytes).await.unwrap();
    String::from_utf8_lossy(&bytes[..count]).into_owned()
}

#[tokio::test]
async fn slow_header_connection_is_closed() {
    let server = listen(limits()).await;
    let mut silent = TcpStream::connect(server.address).await.unwrap();
    let mut slow = TcpStream::connect(server.address).await.unwrap();
    let trickle = async {
        for byte in b"GET / HTTP/1.1\r\nhost: abcdefghijklmnopqrstuvwxyz" {
            if slow.write_all(&[*byte]).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        read_to_end(&mut slow).await
    };
    let ((_, took), (answer, _)) = tokio::join!(read_to_end(&mut silent), trickle);
    assert!(took < Duration::from_millis(1_200), "{took:?}");
    assert!(!answer.contains("200"), "{answer}");
}

#[tokio::test]
async fn idle_connection_is_closed_after_the_idle_timeout() {
    let server = listen(limits()).await;
    let mut client = TcpStream::connect(server.address).await.unwrap();
    for path in ["/", "/slow", "/"] {
        // Longer than the header timeout, shorter than the idle timeout.
        let get = format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n");
        client.write_all(get.as_bytes()).await.unwrap();
        assert!(read_some(&mut client).await.contains("200 OK"), "{path}");
        tokio::time::sleep(Duration::from_millis(600)).await;
    }
    let (rest, took) = read_to_end(&mut client).await;
    assert!(rest.is_empty() && took < Duration::from_secs(2), "{took:?}");
    // After an idle time the header timeout applies again.
    let mut client = TcpStream::connect(server.address).await.unwrap();
    client.write_all(GET).await.unwrap();
    read_some(&mut client).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    client.write_all(b"GET / HT").await.unwrap();
    let (_, took) = read_to_end(&mut client).await;
    assert!(took < Duration::from_millis(900), "{took:?}");
}

#[tokio::test]
async fn connection_over_the_limit_gets_503() {
    let lenient = ListenLimits { header_timeout: Duration::from_secs(30), ..limits() };
    let server = listen(lenient).await;
    let mut open = Vec::new();
    for _ in 0..3 {
        let mut client = TcpStream::connect(server.address).await.unwrap();
        client.write_all(b"GET /").await.unwrap();
        open.push(client);
    }
    let mut refused = TcpStream::connect(server.address).await.unwrap();
    let (answer, _) = read_to_end(&mut refused).await;
    assert!(answer.starts_with("HTTP/1.1 503") && answer.contains("retry-after"), "{answer}");
    drop(open);
    for _ in 0..100 {
        let mut client = TcpStream::connect(server.address).await.unwrap();
        client.write_all(GET).await.unwrap();
        if read_some(&mut client).await.contains("200 OK") {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("no connection was released");
}

#[tokio::test]
async fn shutdown_finishes_requests_in_progress() {
    let server = listen(limits()).await;
    let mut client = TcpStream::connect(server.address).await.unwrap();
    client.write_all(b"GET /slow HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    server.stop.send(()).unwrap();
    let (answer, _) = read_to_end(&mut client).await;
    assert!(answer.contains("200 OK") && answer.ends_with("slow"), "{answer}");
    tokio::time::timeout(Duration::from_secs(5), server.server).await.unwrap().unwrap();
    assert!(TcpStream::connect(server.address).await.is_err());
}

#[tokio::test]
async fn stopping_server_is_not_ready_and_still_answers() {
    let app = TestApp::with_keys().await;
    let own = App::new(app.engine.clone(), AuthMode::Keys);
    let (base, _) = serve(router(own.clone())).await;
    let key = app.tenant_key("acme").await.about("alice").at(&base);
    key.get("/readyz").await.expect(200);
    own.start_draining();
    let refused = key.get("/readyz").await.refused(503, "unavailable");
    assert_eq!(refused.header("retry-after"), Some("1"));
    key.get("/healthz").await.expect(200);
    key.save("Still answered").await;
}

#[tokio::test]
async fn data_is_not_cached_sniffed_or_shown_as_a_page() {
    let app = TestApp::with_keys().await;
    let key = app.tenant_key("acme").await.about("alice");
    for path in ["/api/memory", "/api/keys", "/api/nothing", "/v1/models", "/mem0/v1/ping/"] {
        let answer = key.get(path).await;
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{path}");
        let policy = answer.header("content-security-policy").unwrap_or_default();
        assert!(policy.contains("default-src 'none'"), "{path} {policy}");
    }
}

#[tokio::test]
async fn https_is_required_of_browsers_if_the_public_url_has_it() {
    for (url, expected) in
        [("https://memory.example", Some("max-age=31536000")), ("http://memory.example", None)]
    {
        let settings = McpSettings { public_url: Some(url.to_owned()), ..McpSettings::default() };
        let app = TestApp::with_mcp(settings).await;
        let client = app.anonymous().with("host", "memory.example");
        for path in ["/healthz", "/api/memory", "/"] {
            let answer = client.get(path).await;
            assert_eq!(answer.header("strict-transport-security"), expected, "{url} {path}");
        }
    }
}
