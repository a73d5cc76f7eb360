//! BERT encoders (MiniLM and similar): a forward pass of some milliseconds for a sentence.
//!
//! It never runs on the threads that serve requests. One batch runs at a time, since a pass already
//! uses every core, and batches are small, so that an interactive request gets its turn between the
//! batches of a long list.

use std::sync::Arc;

use candle_core::{DType, Device, Tensor};
use candle_nn::VarBuilder;
use candle_transformers::models::bert::{BertModel, Config};
use lukasa_core::model::{Embedder, EmbeddingModel, ModelError, ModelFuture};
use serde::Deserialize;
use tokenizers::{Tokenizer, TruncationParams};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::Files;
use crate::vector;

/// Longer texts are truncated: these models were trained on no more.
const MAX_TOKENS: usize = 256;
const MAX_BATCH_TEXTS: usize = 32;
/// Upper bound of texts times the length of the longest: limits the memory of a pass and the wait
/// for the next one.
const MAX_BATCH_TOKENS: usize = 2048;

pub(super) struct BertEmbedder {
    model: EmbeddingModel,
    encoder: Arc<Encoder>,
    turn: Arc<Semaphore>,
}

struct Encoder {
    tokenizer: Tokenizer,
    bert: BertModel,
    pooling: Pooling,
    padding: u32,
}

/// How the vectors of the tokens are combined into one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pooling {
    Mean,
    First,
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
        let config: Config =
            serde_json::from_slice(&files.config).map_err(|e| files.unusable(&e))?;
        let mut tokenizer =
            Tokenizer::from_bytes(&files.tokenizer).map_err(|e| files.unusable(&e))?;
        let cut = TruncationParams {
            max_length: MAX_TOKENS.min(config.max_position_embeddings),
            ..TruncationParams::default()
        };
        tokenizer.with_truncation(Some(cut)).map_err(|e| files.unusable(&e))?;
        // The file may request a fixed length; a batch is padded to its own longest text instead.
        tokenizer.with_padding(None);
        let weights = VarBuilder::from_slice_safetensors(&files.weights, DType::F32, &Device::Cpu)
            .map_err(|e| files.unusable(&e))?;
        let bert = BertModel::load(weights, &config).map_err(|e| files.unusable(&e))?;
        let pooling = pooling(files)?;
        let padding = u32::try_from(config.pad_token_id).unwrap_or(0);
        Ok(Self {
            model: EmbeddingModel { name, dimension: config.hidden_size },
            encoder: Arc::new(Encoder { tokenizer, bert, pooling, padding }),
            turn: Arc::new(Semaphore::new(1)),
        })
    }

    async fn all(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        let owned: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let encoder = Arc::clone(&self.encoder);
        let tokens = run_blocking(move || encoder.tokens(&owned)).await?;
        let mut answer = vec![Vec::new(); texts.len()];
        for batch in batches(tokens) {
            let turn = Arc::clone(&self.turn).acquire_owned().await.map_err(|_| stopped())?;
            let encoder = Arc::clone(&self.encoder);
            let vectors = run_blocking(move || {
                // The caller may be cancelled by now; the permit is held until the work ends.
                let _turn = turn;
                encoder.run(&batch)
            });
            for (place, vector) in vectors.await? {
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

impl Encoder {
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
        let vectors = self.forward(batch).map_err(|e| ModelError::Malformed(e.to_string()))?;
        let unit = |(tokens, vector): (&Tokens, Vec<f32>)| {
            let unit = vector::unit(vector).ok_or_else(|| {
                ModelError::Malformed("the model's weights gave a text no direction".to_owned())
            })?;
            Ok((tokens.place, unit))
        };
        batch.iter().zip(vectors).map(unit).collect()
    }

    fn forward(&self, batch: &[Tokens]) -> candle_core::Result<Vec<Vec<f32>>> {
        let longest = batch.iter().map(|tokens| tokens.ids.len()).max().unwrap_or(0);
        let mut ids = Vec::with_capacity(batch.len() * longest);
        let mut mask = Vec::with_capacity(batch.len() * longest);
        for tokens in batch {
            let gap = longest - tokens.ids.len();
            ids.extend_from_slice(&tokens.ids);
            ids.extend(std::iter::repeat_n(self.padding, gap));
            mask.extend(std::iter::repeat_n(1_f32, tokens.ids.len()));
            mask.extend(std::iter::repeat_n(0_f32, gap));
        }
        let shape = (batch.len(), longest);
        let ids = Tensor::from_vec(ids, shape, &Device::Cpu)?;
        let mask = Tensor::from_vec(mask, shape, &Device::Cpu)?;
        let kinds = ids.zeros_like()?;
        let hidden = self.bert.forward(&ids, &kinds, Some(&mask))?;
        let pooled = match self.pooling {
            Pooling::First => hidden.narrow(1, 0, 1)?.squeeze(1)?,
            Pooling::Mean => {
                let weighted = hidden.broadcast_mul(&mask.unsqueeze(2)?)?;
                weighted.sum(1)?.broadcast_div(&mask.sum_keepdim(1)?)?
            }
        };
        pooled.to_vec2()
    }
}

/// Groups texts of similar length, so that little is padded: sorted by length, then split.
fn batches(mut tokens: Vec<Tokens>) -> Vec<Vec<Tokens>> {
    tokens.sort_by_key(|tokens| tokens.ids.len());
    let mut batches: Vec<Vec<Tokens>> = Vec::new();
    for next in tokens {
        match batches.last_mut() {
            // Sorted, so the next text is the longest of its batch.
            Some(batch)
                if batch.len() < MAX_BATCH_TEXTS
                    && (batch.len() + 1) * next.ids.len() <= MAX_BATCH_TOKENS =>
            {
                batch.push(next);
            }
            _ => batches.push(vec![next]),
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
            let longest = batch.iter().map(|tokens| tokens.ids.len()).max().unwrap();
            assert!(batch.len() <= MAX_BATCH_TEXTS && batch.len() * longest <= MAX_BATCH_TOKENS);
            places.extend(batch.iter().map(|tokens| tokens.place));
        }
        places.sort_unstable();
        assert_eq!(places, (0..lengths.len()).collect::<Vec<_>>());
    }
}
