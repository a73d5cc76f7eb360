//! `/embeddings` as a server: parses a client's request, and writes the response in the format it
//! asked for.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

/// Upper bound of texts in one request.
const MAX_TEXTS: usize = 2_048;

/// A request for embeddings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingsRequest {
    pub model: String,
    pub texts: Vec<String>,
    pub dimensions: Option<u64>,
    /// Whether to encode vectors as base64 of little-endian numbers, the default of official
    /// clients.
    base64: bool,
}

impl EmbeddingsRequest {
    /// Parses a request; the error says what is wrong with it.
    pub fn read(bytes: &[u8]) -> Result<Self, &'static str> {
        let body: Value = serde_json::from_slice(bytes).map_err(|_| "The body is not JSON")?;
        const INPUT: &str = "`input` is a text or a list of at most 2048 texts";
        let texts = match &body["input"] {
            Value::String(text) => vec![text.clone()],
            Value::Array(texts) => {
                let texts = texts.iter().map(|text| text.as_str().map(str::to_owned));
                texts.collect::<Option<Vec<_>>>().ok_or(INPUT)?
            }
            _ => return Err(INPUT),
        };
        if texts.is_empty() || texts.len() > MAX_TEXTS {
            return Err(INPUT);
        }
        let base64 = match body["encoding_format"].as_str() {
            None | Some("float") => false,
            Some("base64") => true,
            Some(_) => return Err("`encoding_format` is float or base64"),
        };
        let model = body["model"].as_str().unwrap_or_default().to_owned();
        Ok(Self { model, texts, dimensions: body["dimensions"].as_u64(), base64 })
    }

    /// The response: a vector for each text, with the model's name and the number of tokens.
    pub fn answer(&self, model: &str, vectors: &[Vec<f32>], tokens: usize) -> Value {
        let print = |vector: &Vec<f32>| match self.base64 {
            true => {
                let bytes: Vec<u8> = vector.iter().flat_map(|n| n.to_le_bytes()).collect();
                STANDARD.encode(bytes).into()
            }
            false => json!(vector),
        };
        let data: Vec<Value> = vectors
            .iter()
            .enumerate()
            .map(|(n, v)| json!({"object": "embedding", "index": n, "embedding": print(v)}))
            .collect();
        json!({"object": "list", "data": data, "model": model,
               "usage": {"prompt_tokens": tokens, "total_tokens": tokens}})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &Value) -> Result<EmbeddingsRequest, &'static str> {
        EmbeddingsRequest::read(body.to_string().as_bytes())
    }

    #[test]
    fn embeddings_are_answered_as_numbers_or_base64() {
        let one = read(&json!({"model": "m", "input": "a"})).unwrap();
        assert_eq!(
            one.answer("m", &[vec![1.0, -0.5]], 1)["data"][0]["embedding"],
            json!([1.0, -0.5])
        );
        let two = read(&json!({"input": ["a", "b"], "encoding_format": "base64"})).unwrap();
        let answer = two.answer("m", &[vec![1.0], vec![-0.5]], 2);
        assert_eq!(answer["data"][1]["embedding"], "AAAAvw==");
        assert_eq!(answer["usage"]["total_tokens"], 2);
    }

    #[test]
    fn invalid_embeddings_request_is_refused() {
        for body in [
            json!({}),
            json!({"input": []}),
            json!({"input": [1, 2]}),
            json!({"input": {"a": 1}}),
            json!({"input": "a", "encoding_format": "int8"}),
            json!({"input": vec!["a"; MAX_TEXTS + 1]}),
        ] {
            assert!(read(&body).is_err(), "{body}");
        }
    }
}
