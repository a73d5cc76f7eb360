//! `/v1/embeddings` with correct and with faulty responses.

use std::time::{Duration, Instant};

use lukasa_core::model::{Embedder, ModelError};
use lukasa_models::remote::{ApiKey, EmbeddingsConfig, RemoteEmbedder};
use serde_json::{Value, json};

use lukasa_models::scripted::server::{RequestRecord, ScriptedResponse, ScriptedServer};

const KEY: &str = "sk-do-not-print-me";

fn config(base: &str) -> EmbeddingsConfig {
    EmbeddingsConfig {
        api_key: Some(ApiKey::new(KEY)),
        timeout: Duration::from_secs(5),
        ..EmbeddingsConfig::new(base, "small", 3)
    }
}

fn embedder(server: &ScriptedServer) -> RemoteEmbedder {
    RemoteEmbedder::new(config(&server.base)).unwrap()
}

/// The text `n` gets a vector that points along `(n, 0, 1)` before it is scaled.
fn answer(asked: &RequestRecord) -> Value {
    let input = asked.json()["input"].clone();
    let mut data: Vec<Value> = Vec::new();
    for (index, text) in input.as_array().unwrap().iter().enumerate() {
        let n: f32 = text.as_str().unwrap().parse().unwrap();
        data.push(json!({"object": "embedding", "index": index, "embedding": [n, 0.0, 1.0]}));
    }
    data.reverse();
    json!({"object": "list", "data": data, "model": "small", "usage": {"total_tokens": 1}})
}

async fn refusal(reply: impl Fn() -> ScriptedResponse + Send + Sync + 'static) -> ModelError {
    let server = ScriptedServer::start(move |_, _| reply()).await;
    let error = embedder(&server).embed(&["0", "1"]).await.unwrap_err();
    assert!(!error.to_string().contains(KEY), "{error}");
    error
}

fn data(vectors: &[(usize, Value)]) -> ScriptedResponse {
    let item = |(index, vector): &(usize, Value)| json!({"index": index, "embedding": vector});
    ScriptedResponse::json(&json!({"data": vectors.iter().map(item).collect::<Vec<_>>()}))
}

fn is_malformed(error: &ModelError, word: &str) {
    assert!(matches!(error, ModelError::Malformed(words) if words.contains(word)), "{error}");
}

#[tokio::test]
async fn embeddings_are_requested_in_batches_and_returned_in_order() {
    let server = ScriptedServer::start(|_, asked| ScriptedResponse::json(&answer(asked))).await;
    let config = EmbeddingsConfig { batch: 4, ..config(&server.base) };
    let embedder = RemoteEmbedder::new(config).unwrap();
    let texts: Vec<String> = (0..10).map(|n| n.to_string()).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = embedder.embed(&texts).await.unwrap();
    assert_eq!(vectors.len(), 10);
    for (n, vector) in vectors.iter().enumerate() {
        let length = vector.iter().map(|x| x * x).sum::<f32>();
        assert!((length - 1.0).abs() < 1e-5);
        assert!((vector[0] / vector[2] - n as f32).abs() < 1e-3, "{n}: {vector:?}");
    }
    let asked = server.asked();
    assert_eq!(asked.len(), 3);
    assert_eq!(asked[0].line, "POST /v1/embeddings HTTP/1.1");
    assert!(asked[0].head.contains(&format!("authorization: bearer {KEY}")));
    assert_eq!(
        asked[0].json(),
        json!({"model": "small", "input": ["0", "1", "2", "3"], "encoding_format": "float"})
    );
    assert!(!embedder.is_local());
    assert!(embedder.embed(&[]).await.unwrap().is_empty());
}

#[tokio::test]
async fn embeddings_request_has_dimension_and_space_for_empty_text() {
    let server = ScriptedServer::start(|_, _| data(&[(0, json!([1, 2, 3]))])).await;
    let config = EmbeddingsConfig { ask_dimension: true, ..config(&server.base) };
    RemoteEmbedder::new(config).unwrap().embed(&[""]).await.unwrap();
    let body = server.asked()[0].json();
    assert_eq!((&body["dimensions"], &body["input"]), (&json!(3), &json!([" "])));
}

#[tokio::test]
async fn embeddings_wait_for_retry_after() {
    let server = ScriptedServer::start(|before, asked| match before {
        0 => ScriptedResponse::status(429).header("retry-after", "1"),
        _ => ScriptedResponse::json(&answer(asked)),
    })
    .await;
    let began = Instant::now();
    embedder(&server).embed(&["1"]).await.unwrap();
    assert!(began.elapsed() >= Duration::from_secs(1), "{:?}", began.elapsed());
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn embeddings_do_not_wait_beyond_the_deadline() {
    let server =
        ScriptedServer::start(|_, _| ScriptedResponse::status(429).header("retry-after", "60"))
            .await;
    let began = Instant::now();
    let error = embedder(&server).embed(&["1"]).await.unwrap_err();
    assert!(matches!(&error, ModelError::Unavailable(words) if words.contains("429")), "{error}");
    assert!(began.elapsed() < Duration::from_secs(3));
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn failing_embeddings_server_is_given_up_in_time() {
    let server = ScriptedServer::start(|_, _| ScriptedResponse::status(500)).await;
    let quick = EmbeddingsConfig { timeout: Duration::from_millis(700), ..config(&server.base) };
    let began = Instant::now();
    let error = RemoteEmbedder::new(quick).unwrap().embed(&["1"]).await.unwrap_err();
    // On a busy machine the last try may time out instead.
    let is_expected = |words: &str| words.contains("500") || words.contains("in time");
    assert!(matches!(&error, ModelError::Unavailable(words) if is_expected(words)), "{error}");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    let tries = server.asked().len();
    assert!((1..=3).contains(&tries), "{tries} tries");

    let error = embedder(&server).embed(&["1"]).await.unwrap_err();
    assert!(matches!(error, ModelError::Unavailable(_)));
    assert_eq!(server.asked().len() - tries, 4, "one try and three retries");
}

#[tokio::test]
async fn embeddings_retry_after_broken_connection() {
    let server = ScriptedServer::start(|before, asked| match before {
        0 => ScriptedResponse::json(&answer(asked)).cut_off_after(10),
        _ => ScriptedResponse::json(&answer(asked)),
    })
    .await;
    embedder(&server).embed(&["1"]).await.unwrap();
    assert_eq!(server.asked().len(), 2);

    let unreachable = config("http://127.0.0.1:9");
    let unreachable = EmbeddingsConfig { timeout: Duration::from_millis(300), ..unreachable };
    let error = RemoteEmbedder::new(unreachable).unwrap().embed(&["1"]).await.unwrap_err();
    assert!(matches!(error, ModelError::Unavailable(_)), "{error}");
}

#[tokio::test]
async fn slow_embeddings_server_is_retried_until_the_timeout() {
    let server = ScriptedServer::start(|before, asked| {
        let late = if before == 0 { Duration::from_secs(20) } else { Duration::ZERO };
        ScriptedResponse::json(&answer(asked)).after(late)
    })
    .await;
    let config =
        EmbeddingsConfig { try_timeout: Duration::from_millis(200), ..config(&server.base) };
    RemoteEmbedder::new(config).unwrap().embed(&["1"]).await.unwrap();
    assert_eq!(server.asked().len(), 2);

    let server = ScriptedServer::start(|_, asked| {
        ScriptedResponse::json(&answer(asked)).after(Duration::from_secs(20))
    })
    .await;
    let config =
        EmbeddingsConfig { timeout: Duration::from_millis(300), ..self::config(&server.base) };
    let began = Instant::now();
    let error = RemoteEmbedder::new(config).unwrap().embed(&["1"]).await.unwrap_err();
    assert!(matches!(error, ModelError::Unavailable(_)), "{error}");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
}

#[tokio::test]
async fn embeddings_refusal_is_not_retried_and_names_the_setting() {
    for (status, word) in [(401, "API key"), (403, "API key"), (404, "URL"), (308, "redirects")] {
        let server = ScriptedServer::start(move |_, _| ScriptedResponse::status(status)).await;
        let error = embedder(&server).embed(&["1"]).await.unwrap_err();
        assert!(matches!(&error, ModelError::Missing(words) if words.contains(word)), "{error}");
        assert_eq!(server.asked().len(), 1);
    }
    let server = ScriptedServer::start(|_, _| {
        let body = r#"{"error": {"message": "the text was: my diary", "code": "too_long"}}"#;
        ScriptedResponse::status(400).with_body(body)
    })
    .await;
    let error = embedder(&server).embed(&["my diary"]).await.unwrap_err();
    is_malformed(&error, "too_long");
    assert!(!error.to_string().contains("diary"), "{error}");
}

#[tokio::test]
async fn echoed_key_or_text_is_not_in_the_error() {
    for code in [KEY, "my diary", "do-not-print-me"] {
        let body = json!({"error": {"code": code}}).to_string();
        let error = refusal(move || ScriptedResponse::status(400).with_body(&body)).await;
        assert!(!error.to_string().contains(code), "{error}");
    }
}

#[tokio::test]
async fn wrong_dimension_error_names_both_numbers_and_the_remedy() {
    let error = refusal(|| data(&[(0, json!([1, 2])), (1, json!([1, 2]))])).await;
    is_malformed(&error, "2 numbers");
    is_malformed(&error, "3 are expected");
    is_malformed(&error, "set the embedder's dimension to 2");
}

#[tokio::test]
async fn embeddings_that_do_not_match_the_request_are_refused() {
    let good = || json!([1, 2, 3]);
    is_malformed(&refusal(move || data(&[(0, good())])).await, "2 texts with 1");
    let three = move || data(&[(0, good()), (1, good()), (2, good())]);
    is_malformed(&refusal(three).await, "2 texts with 3");
    is_malformed(&refusal(move || data(&[(0, good()), (0, good())])).await, "twice");
    is_malformed(&refusal(move || data(&[(0, good()), (7, good())])).await, "text 7");
}

#[tokio::test]
async fn embeddings_that_are_not_numbers_are_refused() {
    for vector in ["[NaN, 1, 1]", "[1e39, 1, 1]", "[1e400, 1, 1]", "[null, 1, 1]", "[0, 0, 0]"] {
        let item = |index| format!(r#"{{"index": {index}, "embedding": {vector}}}"#);
        let body = format!(r#"{{"data": [{}, {}]}}"#, item(0), item(1));
        let error = refusal(move || ScriptedResponse::bytes(body.as_bytes())).await;
        assert!(matches!(error, ModelError::Malformed(_)), "{vector}: {error}");
    }
}

#[tokio::test]
async fn invalid_embeddings_response_is_refused_and_not_quoted() {
    for garbage in ["", "diary", "<html>diary</html>", r#"{"data": "diary"}"#, "[]", "\u{0}"] {
        let error = refusal(move || ScriptedResponse::bytes(garbage.as_bytes())).await;
        assert!(matches!(error, ModelError::Malformed(_)), "{garbage}: {error}");
        assert!(!error.to_string().contains("diary"), "{error}");
    }
    is_malformed(&refusal(|| ScriptedResponse::bytes(&vec![b' '; 1 << 20])).await, "more than");
}

#[test]
fn embeddings_api_key_is_not_printed() {
    let config = config("https://models.example/v1");
    assert!(!format!("{config:?}").contains(KEY));
    let embedder = RemoteEmbedder::new(config.clone()).unwrap();
    assert!(!format!("{embedder:?}").contains(KEY), "{embedder:?}");
    assert!(format!("{embedder:?}").contains("models.example"), "{embedder:?}");

    let broken = EmbeddingsConfig { api_key: Some(ApiKey::new("secret\n")), ..config };
    let error = RemoteEmbedder::new(broken).unwrap_err();
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[test]
fn invalid_embeddings_settings_are_refused() {
    let fine = || config("http://127.0.0.1:1");
    for broken in [
        EmbeddingsConfig { base_url: "127.0.0.1".to_owned(), ..fine() },
        EmbeddingsConfig { model: String::new(), ..fine() },
        EmbeddingsConfig { dimension: 0, ..fine() },
        EmbeddingsConfig { batch: 0, ..fine() },
    ] {
        assert!(matches!(RemoteEmbedder::new(broken), Err(ModelError::Missing(_))));
    }
}
