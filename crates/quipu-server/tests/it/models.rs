//! Models for the stage: scripted ones, whose mood a test can change, and the real small embedder
//! where its files are at hand.

use std::path::Path;
use std::sync::Arc;

use quipu_core::model::{Embedder, ModelError, Models, Reranker};
use quipu_models::scripted::Scripted;

/// The models of a test's server: one embedder, and perhaps a reranker.
pub struct Stage {
    embedder: Arc<dyn Embedder>,
    reranker: Option<Arc<Scripted>>,
}

impl Stage {
    /// A model in the same process that knows words only.
    pub fn with_words() -> Arc<Self> {
        Self::of(Arc::new(Scripted::local(64)))
    }

    pub fn of(embedder: Arc<Scripted>) -> Arc<Self> {
        Arc::new(Self { embedder, reranker: None })
    }

    pub fn with_reranker(embedder: Arc<Scripted>, reranker: Arc<Scripted>) -> Arc<Self> {
        Arc::new(Self { embedder, reranker: Some(reranker) })
    }

    /// The real small embedder, from the folder that `QUIPU_TEST_MODELS` names. Without one the
    /// test that asks says so and proves nothing.
    pub fn with_meaning() -> Option<Arc<Self>> {
        let folder = std::env::var_os("QUIPU_TEST_MODELS")?;
        let embedder = quipu_models::local::open(&Path::new(&folder).join("potion"));
        Some(Arc::new(Self { embedder: embedder.expect("potion opens"), reranker: None }))
    }
}

impl Models for Stage {
    fn preferred(&self) -> Option<String> {
        Some(self.embedder.model().name.clone())
    }

    fn embedder(&self, name: &str) -> Result<Arc<dyn Embedder>, ModelError> {
        if name == self.embedder.model().name {
            return Ok(Arc::clone(&self.embedder));
        }
        Err(ModelError::Missing(format!("{name} is not on this stage")))
    }

    fn reranker(&self) -> Option<Arc<dyn Reranker>> {
        self.reranker.clone().map(|reranker| reranker as Arc<dyn Reranker>)
    }
}
