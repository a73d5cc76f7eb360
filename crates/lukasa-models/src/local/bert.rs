//! BERT encoders (MiniLM and similar): a forward pass of some milliseconds for a sentence.
//!
//! It never runs on the threads that serve requests. A pass uses one core; as many run at a time as
//! there are cores, and batches are small, so that an interactive request gets its turn between the
//! batches of a long list.

use std::sync::Arc;

use lukasa_core::model::{Embedder, EmbeddingModel, ModelError, ModelFuture};
use lukasa_encoder::{Encoder, EncoderConfig, Pooling};
use serde::Deserialize;
use tokenizers::{Tokenizer, TruncationParams};
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, spawn_blocking};

use super::Files;
use crate::vector;

/// Longer texts are truncated: these models were trained on no more.
const MAX_TOKENS: usize = 256;
const MAX_BATCH_TEXTS: usize = 32;
/// Upper bound of the tokens of a batch: limits the memory of a pass and the wait for the next one.
const MAX_BATCH_TOKENS: usize = 1024;
/// Passes at a time on a machine with many cores.
const MAX_PASSES: usize = 8;

pub(super) struct BertEmbedder {
    model: EmbeddingModel,
    encoder: Arc<TextEncoder>,
    turns: Arc<Semaphore>,
}

struct TextEncoder {
    tokenizer: Tokenizer,
    encoder: Encoder,
    pooling: Pooling,
}

/// The file in which sentence-transformers stores how a model was pooled in training.
#[derive(Deserialize)]
struct PoolingFile {
    #[serde(default)]
    pooling_mode_cls_token: bool,
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
}

/// The token ids of a text, and its position in the list.
struct Tokens {
    place: usize,
    ids: Vec<u32>,
}

impl BertEmbedder {
    pub(super) fn open(name: String, files: &Files) -> Result<Self, ModelError> {
        let config: EncoderConfig =
            serde_json::from_slice(&files.config).map_err(|e| files.unusable(&e))?;
        let mut tokenizer =
            Tokenizer::from_bytes(&files.tokenizer).map_err(|e| files.unusable(&e))?;
        let cut = TruncationParams {
            max_length: MAX_TOKENS.min(config.max_position_embeddings),
            ..TruncationParams::default()
        };
        tokenizer.with_truncation(Some(cut)).map_err(|e| files.unusable(&e))?;
        tokenizer.with_padding(None);
        let encoder = Encoder::open(config, &files.weights).map_err(|e| files.unusable(&e))?;
        let pooling = pooling(files)?;
        let passes = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        Ok(Self {
            model: EmbeddingModel { name, dimension: encoder.dimension() },
            encoder: Arc::new(TextEncoder { tokenizer, encoder, pooling }),
            turns: Arc::new(Semaphore::new(passes.min(MAX_PASSES))),
        })
    }

    async fn all(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let owned: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let encoder = Arc::clone(&self.encoder);
        let tokens = run_blocking(move || encoder.tokens(&owned)).await?;
        let mut answer = vec![Vec::new(); texts.len()];
        let mut passes = JoinSet::new();
        for batch in batches(tokens) {
            let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(|_| stopped())?;
            let encoder = Arc::clone(&self.encoder);
            passes.spawn_blocking(move || {
                // The caller may be cancelled by now; the permit is held until the work ends.
                let _turn = turn;
                encoder.run(&batch)
            });
        }
        while let Some(vectors) = passes.join_next().await {
            for (place, vector) in vectors.map_err(|_| stopped())?? {
                if let Some(slot) = answer.get_mut(place) {
                    *slot = vector;
                }
            }
        }
        Ok(answer)
    }
}

impl Embedder for BertEmbedder {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    fn is_local(&self) -> bool {
        true
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> ModelFuture<'a, Vec<Vec<f32>>> {
        Box::pin(self.all(texts))
    }
}

impl TextEncoder {
    fn tokens(&self, texts: &[String]) -> Result<Vec<Tokens>, ModelError> {
        let one = |(place, text): (usize, &String)| {
            let encoding = self.tokenizer.encode_fast(text.as_str(), true);
            // The tokenizer's error may quote the text; this one does not.
            let encoding = encoding.map_err(|_| {
                ModelError::Malformed("the model's tokenizer rejected a text".to_owned())
            })?;
            Ok(Tokens { place, ids: encoding.get_ids().to_vec() })
        };
        texts.iter().enumerate().map(one).collect()
    }

    fn run(&self, batch: &[Tokens]) -> Result<Vec<(usize, Vec<f32>)>, ModelError> {
        let texts: Vec<&[u32]> = batch.iter().map(|tokens| tokens.ids.as_slice()).collect();
        let vectors = self.encoder.encode(&texts, self.pooling).map_err(ModelError::Malformed)?;
        let unit = |(tokens, vector): (&Tokens, Vec<f32>)| {
            let unit = vector::unit(vector).ok_or_else(|| {
                ModelError::Malformed("the model's weights gave a text no direction".to_owned())
            })?;
            Ok((tokens.place, unit))
        };
        batch.iter().zip(vectors).map(unit).collect()
    }
}

/// Splits texts into batches, in their order: texts of a batch are not padded to one length.
fn batches(tokens: Vec<Tokens>) -> Vec<Vec<Tokens>> {
    let mut batches: Vec<Vec<Tokens>> = Vec::new();
    let mut total = 0;
    for next in tokens {
        total += next.ids.len();
        match batches.last_mut() {
            Some(batch) if batch.len() < MAX_BATCH_TEXTS && total <= MAX_BATCH_TOKENS => {
                batch.push(next);
            }
            _ => {
                total = next.ids.len();
                batches.push(vec![next]);
            }
        }
    }
    batches
}

/// How this model pools: as its own file says, or by the mean without one.
fn pooling(files: &Files) -> Result<Pooling, ModelError> {
    let Ok(text) = std::fs::read(files.folder.join("1_Pooling").join("config.json")) else {
        return Ok(Pooling::Mean);
    };
    let file: PoolingFile = serde_json::from_slice(&text).map_err(|e| files.unusable(&e))?;
    match (file.pooling_mode_mean_tokens, file.pooling_mode_cls_token) {
        (true, false) => Ok(Pooling::Mean),
        (false, true) => Ok(Pooling::First),
        _ => Err(files.unusable(&"its pooling is neither the mean nor the first token")),
    }
}

/// Runs `work` on a blocking thread.
pub(super) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ModelError> + Send + 'static,
) -> Result<T, ModelError> {
    spawn_blocking(work).await.map_err(|_| stopped())?
}

pub(super) fn stopped() -> ModelError {
    ModelError::Unavailable("the embedding thread stopped before it finished".to_owned())
}

#[cfg(test)]
mod tests {
    use super::{MAX_BATCH_TEXTS, MAX_BATCH_TOKENS, Tokens, batches};

    #[test]
    fn bert_batches_are_bounded_and_complete() {
        let lengths = [3, 256, 5, 200, 17, 256, 2].repeat(40);
        let tokens = |(place, length): (usize, &usize)| Tokens { place, ids: vec![0; *length] };
        let batches = batches(lengths.iter().enumerate().map(tokens).collect());
        let mut places = Vec::new();
        for batch in &batches {
            let total: usize = batch.iter().map(|tokens| tokens.ids.len()).sum();
            assert!(batch.len() <= MAX_BATCH_TEXTS && total <= MAX_BATCH_TOKENS);
            places.extend(batch.iter().map(|tokens| tokens.place));
        }
        assert_eq!(places, (0..lengths.len()).collect::<Vec<_>>());
    }
}
