//! Models for tests: scripted ones, whose failure mode a test can change, and the real small
//! embedder where its files are available.

use std::sync::Arc;

use lukasa_core::model::{Chat, Embedder, ModelError, Models, Reranker};
use lukasa_models::scripted::{ScriptedChat, ScriptedModel};
use serde_json::{Value, json};

/// The models of a test's server: an embedder, a reranker and a chat model, each optional.
#[derive(Default)]
pub struct TestModels {
    embedder: Option<Arc<dyn Embedder>>,
    reranker: Option<Arc<ScriptedModel>>,
    chat: Option<Arc<dyn Chat>>,
}

impl TestModels {
    /// A model in the same process that knows words only.
    pub fn with_words() -> Arc<Self> {
        Self::of(Arc::new(ScriptedModel::local(64)))
    }

    pub fn of(embedder: Arc<ScriptedModel>) -> Arc<Self> {
        Arc::new(Self { embedder: Some(embedder), ..Self::default() })
    }

    /// A chat model alone: search uses keywords.
    pub fn that_chats(chat: Arc<dyn Chat>) -> Arc<Self> {
        Arc::new(Self { chat: Some(chat), ..Self::default() })
    }

    pub fn with_reranker(embedder: Arc<ScriptedModel>, reranker: Arc<ScriptedModel>) -> Arc<Self> {
        let (embedder, reranker) = (Some(embedder as Arc<dyn Embedder>), Some(reranker));
        Arc::new(Self { embedder, reranker, ..Self::default() })
    }

    /// The real small embedder, from the folder that `LUKASA_TEST_MODELS` names. `None` if the test
    /// should skip; where the data is required, its absence is an error.
    pub fn with_meaning() -> Option<Arc<Self>> {
        let folder = crate::required_data::folder("LUKASA_TEST_MODELS")?;
        let embedder = lukasa_models::local::open(&folder.join("potion"));
        let embedder = Some(embedder.expect("potion opens"));
        Some(Arc::new(Self { embedder, ..Self::default() }))
    }
}

/// A proposal as a chat model writes it: the memory, and the quoted evidence.
pub fn proposed_memory(content: &str, quote: &str) -> Value {
    json!({
        "op": "add", "content": content, "kind": "fact", "importance": 8, "confidence": 0.9,
        "reasoning": "said so", "evidence": [{ "turn": 1, "quote": quote }],
    })
}

/// The whole answer of a chat model with these proposals.
pub fn answer(memories: &[Value]) -> String {
    json!({ "title": "A chat", "summary": "They talked.", "memories": memories }).to_string()
}

/// A chat model that proposes the same memories for every conversation.
pub fn proposing_chat(memories: Vec<Value>) -> Arc<ScriptedChat> {
    Arc::new(ScriptedChat::saying(move |_| answer(&memories)))
}

impl Models for TestModels {
    fn preferred(&self) -> Option<String> {
        self.embedder.as_ref().map(|embedder| embedder.model().name.clone())
    }

    fn embedder(&self, name: &str) -> Result<Arc<dyn Embedder>, ModelError> {
        let embedder = self.embedder.as_ref().filter(|embedder| embedder.model().name == name);
        let missing = || ModelError::Missing(format!("{name} is not among the test's models"));
        embedder.cloned().ok_or_else(missing)
    }

    fn reranker(&self) -> Option<Arc<dyn Reranker>> {
        self.reranker.clone().map(|reranker| reranker as Arc<dyn Reranker>)
    }

    fn chats(&self) -> Vec<Arc<dyn Chat>> {
        self.chat.iter().cloned().collect()
    }
}
