//! Any OpenAI-compatible `/v1/embeddings`: vendors, TEI, vLLM, llama.cpp, Ollama.

use std::time::Duration;

use lukasa_core::model::{Embedder, EmbeddingModel, ModelError, ModelFuture};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use super::endpoint::{ApiKey, Endpoint, Post, Protocol, RetryPolicy, address};
use crate::vector;

const PROTOCOL: Protocol = Protocol::bearer("LUKASA_EMBEDDINGS_KEY");

/// Settings of an embeddings service.
#[derive(Debug, Clone)]
pub struct EmbeddingsConfig {
    /// The URL, with or without `/v1` at its end, or the whole URL ending in `/embeddings`.
    pub base_url: String,
    pub api_key: Option<ApiKey>,
    /// The service's name for the model; its vectors are stored under the same name.
    pub model: String,
    /// Numbers per vector. A response with another count is refused.
    pub dimension: usize,
    /// Whether to request that many. Only models with variable dimensions support this; others
    /// refuse the request.
    pub ask_dimension: bool,
    /// Timeout of a whole call, with all its batches and retries.
    pub timeout: Duration,
    /// Timeout of one try of one batch.
    pub try_timeout: Duration,
    pub batch: usize,
    pub max_retries: u32,
}

impl EmbeddingsConfig {
    pub fn new(base_url: impl Into<String>, model: impl Into<String>, dimension: usize) -> Self {
        Self {
            base_url: base_url.into(),
            api_key: None,
            model: model.into(),
            dimension,
            ask_dimension: false,
            timeout: Duration::from_secs(30),
            try_timeout: Duration::from_secs(10),
            batch: 64,
            max_retries: 3,
        }
    }
}

/// Embedder that calls a service.
#[derive(Debug)]
pub struct RemoteEmbedder {
    endpoint: Endpoint,
    model: EmbeddingModel,
    ask_dimension: bool,
    timeout: Duration,
    batch: usize,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: Vec<&'a str>,
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

#[derive(Deserialize)]
struct Response {
    data: Vec<Item>,
}

#[derive(Deserialize)]
struct Item {
    index: usize,
    embedding: Vec<f32>,
}

impl RemoteEmbedder {
    /// Checks the settings; does not connect yet.
    pub fn new(config: EmbeddingsConfig) -> Result<Self, ModelError> {
        if config.model.is_empty() || config.dimension == 0 || config.batch == 0 {
            return Err(ModelError::Missing(
                "a remote embedder needs the name of a model, its dimension, and at least one \
                 text in a batch"
                    .to_owned(),
            ));
        }
        let url = address(&config.base_url, path)?;
        let retry_policy = RetryPolicy {
            try_timeout: config.try_timeout,
            max_retries: config.max_retries,
            is_background: false,
        };
        Ok(Self {
            endpoint: Endpoint::new(url, config.api_key, retry_policy, PROTOCOL)?,
            model: EmbeddingModel { name: config.model, dimension: config.dimension },
            ask_dimension: config.ask_dimension,
            timeout: config.timeout,
            batch: config.batch,
        })
    }

    async fn all(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let deadline = Instant::now() + self.timeout;
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(self.batch) {
            vectors.extend(self.embed_batch(batch, deadline).await?);
        }
        Ok(vectors)
    }

    async fn embed_batch(
        &self,
        texts: &[&str],
        deadline: Instant,
    ) -> Result<Vec<Vec<f32>>, ModelError> {
        let request = Request {
            model: &self.model.name,
            // Services refuse a text without any characters.
            input: texts.iter().map(|text| if text.is_empty() { " " } else { text }).collect(),
            encoding_format: "float",
            dimensions: self.ask_dimension.then_some(self.model.dimension),
        };
        let body = serde_json::to_vec(&request)
            .map_err(|_| ModelError::Malformed("a text cannot be sent as JSON".to_owned()))?;
        // Enough for every number at its longest, for vectors four times too long, so that those
        // are refused for their dimension and not their size, and for additional fields.
        let max_bytes = texts.len() * (self.model.dimension * 4 * 32 + 1024) + (64 << 10);
        let answer =
            self.endpoint.post(Post { body: &body, max_bytes, deadline, hint: None }).await?;
        let response: Response = serde_json::from_slice(&answer)
            .map_err(|e| self.endpoint.not_json("a list of embeddings", &e))?;
        self.in_order(response.data, texts.len())
    }

    fn in_order(&self, items: Vec<Item>, count: usize) -> Result<Vec<Vec<f32>>, ModelError> {
        let malformed = |how: String| self.endpoint.malformed(&how);
        if items.len() != count {
            let found = items.len();
            return Err(malformed(format!("answered {count} texts with {found} embeddings")));
        }
        let mut vectors = vec![None; count];
        for Item { index, embedding } in items {
            let (found, wanted) = (embedding.len(), self.model.dimension);
            if found != wanted {
                return Err(malformed(format!(
                    "answered with {found} numbers in a vector and {wanted} are expected of \
                     `{}`: set the embedder's dimension to {found}, or name another model",
                    self.model.name
                )));
            }
            let unit = vector::unit(embedding).ok_or_else(|| {
                malformed(format!("answered text {index} with a vector that has no direction"))
            })?;
            match vectors.get_mut(index) {
                Some(slot @ None) => *slot = Some(unit),
                Some(Some(_)) => return Err(malformed(format!("answered text {index} twice"))),
                None => {
                    let how = format!("answered text {index}, but only {count} texts were sent");
                    return Err(malformed(how));
                }
            }
        }
        // As many as texts, none twice and none out of range: every slot is filled.
        Ok(vectors.into_iter().flatten().collect())
    }
}

impl Embedder for RemoteEmbedder {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    fn is_local(&self) -> bool {
        false
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> ModelFuture<'a, Vec<Vec<f32>>> {
        Box::pin(self.all(texts))
    }
}

/// The setting may be the URL of the service, of its API, or of the endpoint.
fn path(set: &str) -> String {
    let last = set.rsplit('/').next().unwrap_or_default();
    let is_version = last.strip_prefix('v').is_some_and(|rest| rest.starts_with(char::is_numeric));
    match last {
        "embeddings" => set.to_owned(),
        _ if is_version => format!("{set}/embeddings"),
        _ => format!("{set}/v1/embeddings"),
    }
}

#[cfg(test)]
mod tests {
    use super::path;

    #[test]
    fn embeddings_url_is_completed() {
        assert_eq!(path(""), "/v1/embeddings");
        assert_eq!(path("/v1"), "/v1/embeddings");
        assert_eq!(path("/v1beta/openai"), "/v1beta/openai/v1/embeddings");
        assert_eq!(path("/openai/v1"), "/openai/v1/embeddings");
        assert_eq!(path("/v1beta/openai/embeddings"), "/v1beta/openai/embeddings");
    }
}
