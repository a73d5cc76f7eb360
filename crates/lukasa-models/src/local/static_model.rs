//! Static models (model2vec): a table of vectors, one for each word piece, averaged.
//!
//! A sentence takes microseconds and is embedded on the calling thread. Longer texts and long lists
//! run on blocking threads, one at a time per core.

use std::num::NonZero;
use std::sync::Arc;

use lukasa_core::model::{Embedder, EmbeddingModel, ModelError, ModelFuture};
use model2vec_rs::model::StaticModel;
use tokio::sync::Semaphore;

use super::Files;
use super::bert::{run_blocking, stopped};
use crate::vector;

/// Upper bound of text bytes embedded on the calling thread: about a millisecond.
const INLINE_BYTES: usize = 2_000;

pub(super) struct StaticEmbedder {
    model: EmbeddingModel,
    table: Arc<Table>,
    cores: Arc<Semaphore>,
}

struct Table {
    model: StaticModel,
    dimension: usize,
}

impl StaticEmbedder {
    pub(super) fn open(name: String, files: &Files) -> Result<Self, ModelError> {
        let table =
            StaticModel::from_bytes(&files.tokenizer, &files.weights, &files.config, Some(true))
                .map_err(|e| files.unusable(&e))?;
        let dimension = table.dim();
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        Ok(Self {
            model: EmbeddingModel { name, dimension },
            table: Arc::new(Table { model: table, dimension }),
            cores: Arc::new(Semaphore::new(cores)),
        })
    }

    async fn embed_texts(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        if texts.iter().map(|text| text.len()).sum::<usize>() <= INLINE_BYTES {
            return Ok(texts.iter().map(|text| self.table.embed_text(text)).collect());
        }
        let owned: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let core = Arc::clone(&self.cores).acquire_owned().await.map_err(|_| stopped())?;
        let table = Arc::clone(&self.table);
        run_blocking(move || {
            let _core = core;
            Ok(owned.iter().map(|text| table.embed_text(text)).collect())
        })
        .await
    }
}

impl Table {
    fn embed_text(&self, text: &str) -> Vec<f32> {
        // A text of unknown words averages to zero, which has no direction.
        vector::unit(self.model.encode_single(text))
            .unwrap_or_else(|| vector::hash_direction(text, self.dimension))
    }
}

impl Embedder for StaticEmbedder {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    fn is_local(&self) -> bool {
        true
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> ModelFuture<'a, Vec<Vec<f32>>> {
        Box::pin(self.embed_texts(texts))
    }
}
