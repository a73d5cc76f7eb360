//! `/rerank` of TEI, Cohere, Jina and vLLM, which differ in two field names.
//!
//! It is on the path of interactive requests: one try, and a short timeout. The caller continues
//! without it when it fails.

use std::time::Duration;

use lukasa_core::model::{ModelError, ModelFuture, Reranker};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::endpoint::{ApiKey, Endpoint, Post, Protocol, RetryPolicy, address};

const PROTOCOL: Protocol = Protocol::bearer("LUKASA_RERANK_KEY");

/// Settings of a reranking service.
#[derive(Debug, Clone)]
pub struct RerankConfig {
    /// The URL, with or without `/rerank` at its end.
    pub base_url: String,
    pub api_key: Option<ApiKey>,
    /// Servers with a single model need no name.
    pub model: Option<String>,
    pub field: RerankField,
    pub timeout: Duration,
}

/// The service's field name for the texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RerankField {
    /// `documents`: Cohere, Jina, vLLM, llama.cpp.
    Documents,
    /// `texts`: TEI.
    Texts,
}

impl RerankConfig {
    pub fn new(base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            api_key: None,
            model: None,
            field: RerankField::Documents,
            timeout: Duration::from_millis(200),
        }
    }
}

/// Reranker that calls a service.
#[derive(Debug)]
pub struct RemoteReranker {
    endpoint: Endpoint,
    model: Option<String>,
    field: RerankField,
    timeout: Duration,
}

#[derive(Serialize)]
struct Request<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    query: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    documents: Option<&'a [&'a str]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    texts: Option<&'a [&'a str]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_n: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    return_documents: Option<bool>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Response {
    Results { results: Vec<Score> },
    List(Vec<Score>),
}

#[derive(Deserialize)]
struct Score {
    index: usize,
    #[serde(alias = "relevance_score")]
    score: f32,
}

impl RemoteReranker {
    /// Checks the settings; does not connect yet.
    pub fn new(config: RerankConfig) -> Result<Self, ModelError> {
        let path = |set: &str| match set.strip_suffix("/rerank") {
            Some(_) => set.to_owned(),
            None => format!("{set}/rerank"),
        };
        let url = address(&config.base_url, path)?;
        let retry_policy =
            RetryPolicy { try_timeout: config.timeout, max_retries: 0, is_background: false };
        Ok(Self {
            endpoint: Endpoint::new(url, config.api_key, retry_policy, PROTOCOL)?,
            model: config.model,
            field: config.field,
            timeout: config.timeout,
        })
    }

    async fn scores(&self, question: &str, texts: &[&str]) -> Result<Vec<f32>, ModelError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let documents = self.field == RerankField::Documents;
        let request = Request {
            model: self.model.as_deref(),
            query: question,
            documents: documents.then_some(texts),
            texts: (!documents).then_some(texts),
            // Some services return only the best few by default; TEI knows neither field.
            top_n: documents.then_some(texts.len()),
            return_documents: documents.then_some(false),
        };
        let body = serde_json::to_vec(&request)
            .map_err(|_| ModelError::Malformed("a text cannot be sent as JSON".to_owned()))?;
        // A service may return the texts although it was asked not to.
        let max_bytes = texts.len() * 256 + body.len() * 2 + (64 << 10);
        let deadline = Instant::now() + self.timeout;
        let answer =
            self.endpoint.post(Post { body: &body, max_bytes, deadline, hint: None }).await?;
        let response: Response = serde_json::from_slice(&answer)
            .map_err(|e| self.endpoint.not_json("a list of scores", &e))?;
        let (Response::Results { results } | Response::List(results)) = response;
        self.in_order(results, texts.len())
    }

    fn in_order(&self, results: Vec<Score>, count: usize) -> Result<Vec<f32>, ModelError> {
        let malformed = |how: String| self.endpoint.malformed(&how);
        let mut scores = vec![None; count];
        for Score { index, score } in results {
            if !score.is_finite() {
                return Err(malformed(format!(
                    "scored text {index} with a value that is not a number"
                )));
            }
            match scores.get_mut(index) {
                Some(slot @ None) => *slot = Some(score),
                Some(Some(_)) => return Err(malformed(format!("scored text {index} twice"))),
                None => {
                    return Err(malformed(format!(
                        "scored text {index}, but only {count} texts were sent"
                    )));
                }
            }
        }
        let scored = scores.iter().flatten().count();
        let all: Option<Vec<f32>> = scores.into_iter().collect();
        all.ok_or_else(|| malformed(format!("scored {scored} of {count} texts")))
    }
}

impl Reranker for RemoteReranker {
    fn rerank<'a>(&'a self, question: &'a str, texts: &'a [&'a str]) -> ModelFuture<'a, Vec<f32>> {
        Box::pin(self.scores(question, texts))
    }
}
