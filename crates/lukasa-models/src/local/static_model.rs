//! Static models (model2vec): a table of vectors, one for each word piece, averaged.
//!
//! Microseconds for a sentence, which it answers where it is asked. Longer texts and long lists run on
//! blocking threads, one at a time per core.

use std::num::NonZero;
use std::sync::Arc;

use lukasa_core::model::{Answer, Embedder, EmbeddingModel, ModelError};
use model2vec_rs::model::StaticModel;
use tokio::sync::Semaphore;

use super::Files;
use super::bert::{aside, stopped};
use crate::vector;

/// Up to how many bytes of text are embedded on the thread that asks: about a millisecond.
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

    async fn all(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        if texts.iter().map(|text| text.len()).sum::<usize>() <= INLINE_BYTES {
            return Ok(texts.iter().map(|text| self.table.one(text)).collect());
        }
        let owned: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        let core = Arc::clone(&self.cores).acquire_owned().await.map_err(|_| stopped())?;
        let table = Arc::clone(&self.table);
        aside(move || {
            let _core = core;
            Ok(owned.iter().map(|text| table.one(text)).collect())
        })
        .await
    }
}

impl Table {
    fn one(&self, text: &str) -> Vec<f32> {
        // Nothing but unknown words averages to zero, and zero has no direction.
        vector::unit(self.model.encode_single(text))
            .unwrap_or_else(|| vector::own_direction(text, self.dimension))
    }
}

impl Embedder for StaticEmbedder {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    fn is_local(&self) -> bool {
        true
    }

    fn embed<'a>(&'a self, texts: &'a [&'a str]) -> Answer<'a, Vec<Vec<f32>>> {
        Box::pin(self.all(texts))
    }
}
