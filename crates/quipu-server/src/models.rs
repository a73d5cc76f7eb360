//! The models of this installation: which there are, where their files or services are, and which of
//! them have been opened. The settings come from the operator, never from a request.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::Args;
use quipu_core::model::{Embedder, ModelError, Models, Reranker};
use quipu_models::local::{self, catalogue};
use quipu_models::remote::{
    ApiKey, EmbeddingsConfig, RemoteEmbedder, RemoteReranker, RerankConfig,
};

/// Where models are.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Models")]
pub struct ModelSettings {
    /// The folder with the files of local models, one folder for each
    #[arg(long, env = "QUIPU_MODELS", value_name = "FOLDER")]
    models: Option<PathBuf>,
    /// The embedder that a new installation begins with: potion, minilm, remote or off.
    /// Without it: remote if there is a URL for it, else potion
    #[arg(long, env = "QUIPU_EMBEDDER", value_name = "NAME")]
    embedder: Option<String>,
    /// A service that speaks the OpenAI embeddings protocol, as http://host/v1
    #[arg(long, env = "QUIPU_EMBEDDINGS_URL", value_name = "URL")]
    embeddings_url: Option<String>,
    /// The model to ask that service for
    #[arg(long, env = "QUIPU_EMBEDDINGS_MODEL", value_name = "NAME")]
    embeddings_model: Option<String>,
    /// How many numbers its vectors have
    #[arg(long, env = "QUIPU_EMBEDDINGS_DIMENSION", default_value_t = 1536, value_name = "N")]
    embeddings_dimension: usize,
    /// The key for that service
    #[arg(long, env = "QUIPU_EMBEDDINGS_KEY", hide_env_values = true, value_name = "KEY")]
    embeddings_key: Option<String>,
    /// A service that reranks what was found, as http://host/rerank
    #[arg(long, env = "QUIPU_RERANK_URL", value_name = "URL")]
    rerank_url: Option<String>,
    /// The model to ask that service for
    #[arg(long, env = "QUIPU_RERANK_MODEL", value_name = "NAME")]
    rerank_model: Option<String>,
    /// The key for that service
    #[arg(long, env = "QUIPU_RERANK_KEY", hide_env_values = true, value_name = "KEY")]
    rerank_key: Option<String>,
}

impl ModelSettings {
    /// The folder of the settings, or the usual one below the person's own.
    pub fn folder(&self) -> PathBuf {
        let own = || std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
        let data = || std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
        let usual = || data().unwrap_or_else(|| own().join(".local/share")).join("quipu/models");
        self.models.clone().unwrap_or_else(usual)
    }

    /// The models these settings describe. A service's settings are checked here, at the start.
    pub fn open(&self) -> anyhow::Result<Arc<dyn Models>> {
        let mut embedders: HashMap<String, Arc<dyn Embedder>> = HashMap::new();
        if let Some(url) = &self.embeddings_url {
            let model = self.embeddings_model.clone().ok_or_else(|| {
                anyhow::anyhow!(
                    "an embeddings URL needs a model\n  next: set QUIPU_EMBEDDINGS_MODEL"
                )
            })?;
            let mut config = EmbeddingsConfig::new(url, &model, self.embeddings_dimension);
            config.api_key = self.embeddings_key.as_ref().map(ApiKey::new);
            embedders.insert(model, Arc::new(RemoteEmbedder::new(config)?));
        }
        let mut reranker: Option<Arc<dyn Reranker>> = None;
        if let Some(url) = &self.rerank_url {
            let mut config = RerankConfig::new(url);
            config.model.clone_from(&self.rerank_model);
            config.api_key = self.rerank_key.as_ref().map(ApiKey::new);
            config.timeout = Duration::from_millis(200);
            reranker = Some(Arc::new(RemoteReranker::new(config)?));
        }
        Ok(Arc::new(Opened { settings: self.clone(), embedders: Mutex::new(embedders), reranker }))
    }

    fn preferred(&self) -> Option<String> {
        let usual = if self.embeddings_url.is_some() { "remote" } else { "potion" };
        match self.embedder.as_deref().unwrap_or(usual) {
            "off" => None,
            "remote" => self.embeddings_model.clone(),
            name => Some(catalogue::find(name).map_or(name, |known| known.full).to_owned()),
        }
    }
}

struct Opened {
    settings: ModelSettings,
    embedders: Mutex<HashMap<String, Arc<dyn Embedder>>>,
    reranker: Option<Arc<dyn Reranker>>,
}

impl Models for Opened {
    fn preferred(&self) -> Option<String> {
        self.settings.preferred()
    }

    fn embedder(&self, name: &str) -> Result<Arc<dyn Embedder>, ModelError> {
        let full = catalogue::find(name).map_or(name, |known| known.full);
        let mut opened = self.embedders.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(embedder) = opened.get(full) {
            return Ok(Arc::clone(embedder));
        }
        let folder = catalogue::find(name).map_or(name, |known| known.short);
        let embedder = local::open(&self.settings.folder().join(folder))?;
        opened.insert(full.to_owned(), Arc::clone(&embedder));
        Ok(embedder)
    }

    fn reranker(&self) -> Option<Arc<dyn Reranker>> {
        self.reranker.clone()
    }
}
