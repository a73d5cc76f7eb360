//! Static models (model2vec): a table of vectors, one for each word piece, averaged.
//!
//! Microseconds for a sentence, so it answers where it is asked, without another thread.

use model2vec_rs::model::StaticModel;
use quipu_core::model::{Answer, Embedder, EmbeddingModel, ModelError};

use super::Files;
use crate::vector;

pub(super) struct StaticEmbedder {
    model: EmbeddingModel,
    table: StaticModel,
}

impl StaticEmbedder {
    pub(super) fn open(name: String, files: &Files) -> Result<Self, ModelError> {
        let table =
            StaticModel::from_bytes(&files.tokenizer, &files.weights, &files.config, Some(true))
                .map_err(|e| files.unusable(&e))?;
        let dimension = table.dim();
        Ok(Self { model: EmbeddingModel { name, dimension }, table })
    }

    fn one(&self, text: &str) -> Vec<f32> {
        // Nothing but unknown words averages to zero, and zero has no direction.
        vector::unit(self.table.encode_single(text))
            .unwrap_or_else(|| vector::own_direction(text, self.model.dimension))
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
        Box::pin(async move { Ok(texts.iter().map(|text| self.one(text)).collect()) })
    }
}
