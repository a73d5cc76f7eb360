//! The models of a test's engine or server.

use std::sync::Arc;

use lukasa_core::model::{Chat, Embedder, ModelError, Models, Reranker};

use super::ScriptedModel;

/// The models of a test: embedders, of which the first is the default of a new installation, a
/// reranker, and chat models in order of preference.
#[derive(Default)]
pub struct TestModels {
    pub embedders: Vec<Arc<dyn Embedder>>,
    pub reranker: Option<Arc<dyn Reranker>>,
    pub chats: Vec<Arc<dyn Chat>>,
}

impl TestModels {
    /// An embedder in the same process that knows words only.
    pub fn with_words() -> Arc<Self> {
        Self::of(Arc::new(ScriptedModel::local(64)))
    }

    /// An embedder alone.
    pub fn of(embedder: Arc<dyn Embedder>) -> Arc<Self> {
        Arc::new(Self { embedders: vec![embedder], ..Self::default() })
    }

    /// A chat model alone: search uses keywords.
    pub fn that_chats(chat: Arc<dyn Chat>) -> Arc<Self> {
        Arc::new(Self { chats: vec![chat], ..Self::default() })
    }

    pub fn with_reranker(embedder: Arc<dyn Embedder>, reranker: Arc<dyn Reranker>) -> Arc<Self> {
        let (embedders, reranker) = (vec![embedder], Some(reranker));
        Arc::new(Self { embedders, reranker, ..Self::default() })
    }
}

impl Models for TestModels {
    fn preferred(&self) -> Option<String> {
        self.embedders.first().map(|embedder| embedder.model().name.clone())
    }

    fn embedder(&self, name: &str) -> Result<Arc<dyn Embedder>, ModelError> {
        let embedder = self.embedders.iter().find(|embedder| embedder.model().name == name);
        let missing = || ModelError::Missing(format!("{name} is not among the test's models"));
        embedder.cloned().ok_or_else(missing)
    }

    fn reranker(&self) -> Option<Arc<dyn Reranker>> {
        self.reranker.clone()
    }

    fn chats(&self) -> Vec<Arc<dyn Chat>> {
        self.chats.clone()
    }
}
