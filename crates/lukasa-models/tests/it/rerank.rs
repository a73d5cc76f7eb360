//! `/rerank` in the formats of different services.

use std::time::{Duration, Instant};

use lukasa_core::model::{ModelError, Reranker};
use lukasa_models::remote::{ApiKey, RemoteReranker, RerankConfig, RerankField};
use serde_json::{Value, json};

use lukasa_models::scripted::server::{ScriptedResponse, ScriptedServer};

/// A timeout long enough for a busy machine; the default one has its own test.
fn config(base: &str) -> RerankConfig {
    RerankConfig { timeout: Duration::from_secs(5), ..RerankConfig::new(base) }
}

async fn rerank(body: &str) -> Result<Vec<f32>, ModelError> {
    let body = body.to_owned();
    let server = ScriptedServer::start(move |_, _| ScriptedResponse::bytes(body.as_bytes())).await;
    let reranker = RemoteReranker::new(config(&server.base)).unwrap();
    reranker.rerank("which theme?", &["dark", "pie", "light"]).await
}

#[tokio::test]
async fn rerank_response_shapes_are_put_in_order() {
    let results = r#"{"id": "x", "results": [{"index": 2, "relevance_score": 0.5},
        {"index": 0, "relevance_score": 0.9, "document": null},
        {"index": 1, "relevance_score": -1}]}"#;
    assert_eq!(rerank(results).await.unwrap(), [0.9, -1.0, 0.5]);
    let list = r#"[{"index": 1, "score": 0}, {"index": 0, "score": 3}, {"index": 2, "score": 2}]"#;
    assert_eq!(rerank(list).await.unwrap(), [3.0, 0.0, 2.0]);
}

#[tokio::test]
async fn rerank_request_has_fields_of_service() {
    let server = ScriptedServer::start(|_, _| {
        ScriptedResponse::json(
            &json!({"results": [{"index": 0, "score": 1}, {"index": 1, "score": 0}]}),
        )
    })
    .await;
    let full = RerankConfig {
        model: Some("cross".to_owned()),
        api_key: Some(ApiKey::new("sk-1")),
        ..config(&format!("{}/v2", server.base))
    };
    RemoteReranker::new(full).unwrap().rerank("q", &["a", "b"]).await.unwrap();
    let tei =
        RerankConfig { field: RerankField::Texts, ..config(&format!("{}/rerank/", server.base)) };
    let tei = RemoteReranker::new(tei).unwrap();
    tei.rerank("q", &["a", "b"]).await.unwrap();
    assert!(tei.rerank("q", &[]).await.unwrap().is_empty());

    let asked = server.asked();
    assert_eq!(asked.len(), 2, "no request is sent for an empty list");
    assert_eq!(asked[0].line, "POST /v2/rerank HTTP/1.1");
    assert!(asked[0].head.contains("authorization: bearer sk-1"));
    let documents: Value = json!({"model": "cross", "query": "q", "documents": ["a", "b"],
        "top_n": 2, "return_documents": false});
    assert_eq!(asked[0].json(), documents);
    assert_eq!(asked[1].line, "POST /rerank HTTP/1.1");
    assert_eq!(asked[1].json(), json!({"query": "q", "texts": ["a", "b"]}));
}

#[tokio::test]
async fn rerank_answer_must_score_every_text_once() {
    let score = |index: usize| json!({"index": index, "score": 1.0});
    for (indexes, word) in [
        (vec![0, 1], "2 of 3"),
        (vec![0, 1, 1], "twice"),
        (vec![0, 1, 3], "text 3"),
        (vec![], "0 of 3"),
    ] {
        let body = json!({"results": indexes.into_iter().map(score).collect::<Vec<_>>()});
        let error = rerank(&body.to_string()).await.unwrap_err();
        assert!(matches!(&error, ModelError::Malformed(words) if words.contains(word)), "{error}");
    }
    let infinite =
        r#"[{"index": 0, "score": 1e39}, {"index": 1, "score": 0}, {"index": 2, "score": 0}]"#;
    for body in ["dark", "{}", r#"[{"index": -1, "score": 1}]"#, r#"[{"index": 0}]"#, infinite] {
        let error = rerank(body).await.unwrap_err();
        assert!(matches!(error, ModelError::Malformed(_)), "{body}: {error}");
        assert!(!error.to_string().contains("dark"), "{error}");
    }
}

#[tokio::test]
async fn slow_reranker_times_out() {
    assert_eq!(RerankConfig::new("http://a").timeout, Duration::from_millis(200));
    let server =
        ScriptedServer::start(|_, _| ScriptedResponse::status(200).after(Duration::from_secs(20)))
            .await;
    let reranker = RemoteReranker::new(RerankConfig::new(&server.base)).unwrap();
    let began = Instant::now();
    let error = reranker.rerank("q", &["a"]).await.unwrap_err();
    assert!(matches!(error, ModelError::Unavailable(_)), "{error}");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn failing_reranker_is_not_retried() {
    let server = ScriptedServer::start(|_, _| ScriptedResponse::status(503)).await;
    let reranker = RemoteReranker::new(config(&server.base)).unwrap();
    let error = reranker.rerank("q", &["a"]).await.unwrap_err();
    assert!(matches!(error, ModelError::Unavailable(_)), "{error}");
    assert_eq!(server.asked().len(), 1);
}
