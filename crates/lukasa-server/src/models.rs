//! The models of this installation: their settings, their files or services, and the instances that
//! were opened. The settings come from the operator, never from a request.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use lukasa_core::model::{Chat, Embedder, ModelError, Models, Reranker};
use lukasa_models::local::{self, catalogue};
use lukasa_models::remote::{
    ApiKey, ChatConfig, EmbeddingsConfig, RemoteChat, RemoteEmbedder, RemoteReranker, RerankConfig,
};

/// Settings of local models and model services.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Models")]
pub struct ModelSettings {
    /// The folder with the files of local models, one folder for each
    #[arg(long, env = "LUKASA_MODELS", value_name = "FOLDER")]
    models: Option<PathBuf>,
    /// The embedder of a new installation: potion, minilm, remote or off.
    /// Default: remote if an embeddings URL is set, else potion
    #[arg(long, env = "LUKASA_EMBEDDER", value_name = "NAME")]
    embedder: Option<String>,
    /// A service that speaks the OpenAI embeddings protocol, as http://host/v1
    #[arg(long, env = "LUKASA_EMBEDDINGS_URL", value_name = "URL")]
    embeddings_url: Option<String>,
    /// The model to ask that service for
    #[arg(long, env = "LUKASA_EMBEDDINGS_MODEL", value_name = "NAME")]
    embeddings_model: Option<String>,
    /// How many numbers its vectors have
    #[arg(long, env = "LUKASA_EMBEDDINGS_DIMENSION", default_value_t = 1536, value_name = "N")]
    embeddings_dimension: usize,
    /// The key for that service
    #[arg(long, env = "LUKASA_EMBEDDINGS_KEY", hide_env_values = true, value_name = "KEY")]
    embeddings_key: Option<String>,
    /// A file with that key
    #[arg(
        long,
        env = "LUKASA_EMBEDDINGS_KEY_FILE",
        value_name = "FILE",
        conflicts_with = "embeddings_key"
    )]
    embeddings_key_file: Option<PathBuf>,
    /// A service that reranks search results, as http://host/rerank
    #[arg(long, env = "LUKASA_RERANK_URL", value_name = "URL")]
    rerank_url: Option<String>,
    /// The model to ask that service for
    #[arg(long, env = "LUKASA_RERANK_MODEL", value_name = "NAME")]
    rerank_model: Option<String>,
    /// The key for that service
    #[arg(long, env = "LUKASA_RERANK_KEY", hide_env_values = true, value_name = "KEY")]
    rerank_key: Option<String>,
    /// A file with that key
    #[arg(
        long,
        env = "LUKASA_RERANK_KEY_FILE",
        value_name = "FILE",
        conflicts_with = "rerank_key"
    )]
    rerank_key_file: Option<PathBuf>,
    /// A chat model at a service that speaks the OpenAI protocol, as qwen3:8b@http://host/v1, or
    /// Anthropic's, as `claude-sonnet-4-5@https://api.anthropic.com`. Several are separated by commas;
    /// the next is asked when one is unavailable. With prices per million input and output tokens:
    /// gpt-mini@https://host/v1#0.15/0.60
    #[arg(long, env = "LUKASA_CHAT", value_delimiter = ',', value_name = "MODEL@URL[#IN/OUT]")]
    chat: Vec<String>,
    /// The key for that service. For models at several services as many keys, separated by commas,
    /// in the same order, and empty where a model needs none
    #[arg(long, env = "LUKASA_CHAT_KEY", hide_env_values = true, value_name = "KEY")]
    chat_key: Option<String>,
    /// A file with that key, or with several, one per line. Unlike a command line, other users of the
    /// machine cannot read it
    #[arg(long, env = "LUKASA_CHAT_KEY_FILE", value_name = "FILE", conflicts_with = "chat_key")]
    chat_key_file: Option<PathBuf>,
    /// Seconds that a chat model has for one answer, 1 to 800; a local model may need minutes
    #[arg(long, env = "LUKASA_CHAT_TIMEOUT", default_value_t = 600, value_name = "SECONDS",
        value_parser = clap::value_parser!(u64).range(1..=800))]
    chat_timeout: u64,
}

impl ModelSettings {
    /// The folder that models are downloaded into: the one from the settings, else the user's data
    /// folder.
    pub fn folder(&self) -> PathBuf {
        if let Some(folder) = &self.models {
            return folder.clone();
        }
        crate::system::folders::data().join("lukasa/models")
    }

    /// The folder of one model: among the downloaded ones; else, unless the settings name a folder,
    /// among those that were installed with the program.
    pub fn folder_of(&self, model: &str) -> PathBuf {
        let downloaded = self.folder().join(model);
        let program = std::env::current_exe().ok();
        match program.as_deref().and_then(Path::parent) {
            Some(program) if self.models.is_none() => first_model(downloaded, program, model),
            _ => downloaded,
        }
    }

    /// The models these settings describe. A service's settings are checked here, at the start.
    pub fn open(&self) -> anyhow::Result<Arc<dyn Models>> {
        // Every setting is named here, so that an unread setting does not compile.
        let Self {
            models: _,
            embedder: _,
            embeddings_url,
            embeddings_model,
            embeddings_dimension,
            embeddings_key,
            embeddings_key_file,
            rerank_url,
            rerank_model,
            rerank_key,
            rerank_key_file,
            chat: _,
            chat_key: _,
            chat_key_file: _,
            chat_timeout: _,
        } = self;
        self.check_embedder_name()?;
        let mut embedders: HashMap<String, Arc<dyn Embedder>> = HashMap::new();
        if let Some(url) = embeddings_url {
            let model = embeddings_model.clone().ok_or_else(|| {
                anyhow::anyhow!(
                    "an embeddings URL needs a model\n  next: set LUKASA_EMBEDDINGS_MODEL"
                )
            })?;
            let mut config = EmbeddingsConfig::new(url, &model, *embeddings_dimension);
            let key = embeddings_key.clone().or(read_secret(embeddings_key_file.as_deref())?);
            config.api_key = key.map(ApiKey::new);
            embedders.insert(model, Arc::new(RemoteEmbedder::new(config)?));
        }
        let mut reranker: Option<Arc<dyn Reranker>> = None;
        if let Some(url) = rerank_url {
            let mut config = RerankConfig::new(url);
            config.model.clone_from(rerank_model);
            let key = rerank_key.clone().or(read_secret(rerank_key_file.as_deref())?);
            config.api_key = key.map(ApiKey::new);
            config.timeout = Duration::from_millis(200);
            reranker = Some(Arc::new(RemoteReranker::new(config)?));
        }
        let (settings, embedders) = (self.clone(), Mutex::new(embedders));
        Ok(Arc::new(ConfiguredModels { settings, embedders, reranker, chats: self.chats()? }))
    }

    /// Whether a chat model is set.
    pub fn has_chat(&self) -> bool {
        self.chat.iter().any(|text| !text.trim().is_empty())
    }

    /// Time that a chat model has for one answer.
    pub fn chat_timeout(&self) -> Duration {
        Duration::from_secs(self.chat_timeout)
    }

    fn chats(&self) -> anyhow::Result<Vec<Arc<dyn Chat>>> {
        let mut chat_keys = self.chat_key.clone();
        if let Some(file) = &self.chat_key_file {
            let lines = std::fs::read_to_string(file)
                .with_context(|| format!("the chat key file cannot be read: {}", file.display()))?;
            chat_keys = Some(lines.trim_end().lines().collect::<Vec<_>>().join(","));
        }
        let chat_keys = chat_keys.unwrap_or_default();
        // An empty variable, as in a template that lists all of them, counts as not set.
        let settings: Vec<&str> =
            self.chat.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect();
        let keys: Vec<&str> = match chat_keys.is_empty() {
            true => Vec::new(),
            false => chat_keys.split(',').collect(),
        };
        let mut chats: Vec<Arc<dyn Chat>> = Vec::new();
        for config in ChatConfig::chain(&settings, &keys)? {
            chats.push(Arc::new(RemoteChat::new(config)?));
        }
        Ok(chats)
    }

    /// The setting; an empty variable counts as not set.
    fn embedder_name(&self) -> &str {
        let default = if self.embeddings_url.is_some() { "remote" } else { "potion" };
        self.embedder.as_deref().filter(|name| !name.is_empty()).unwrap_or(default)
    }

    /// Refuses a name that is neither a value of the setting nor a folder of model files. A known model
    /// that was not downloaded yet is accepted: recall goes by words until it is.
    fn check_embedder_name(&self) -> anyhow::Result<()> {
        let name = self.embedder_name();
        match name {
            "off" => Ok(()),
            "remote" if self.embeddings_url.is_some() => Ok(()),
            "remote" => anyhow::bail!(
                "the embedder `remote` needs a service\n  next: set LUKASA_EMBEDDINGS_URL and \
                 LUKASA_EMBEDDINGS_MODEL"
            ),
            name if catalogue::find(name).is_some() || self.folder_of(name).is_dir() => Ok(()),
            name => anyhow::bail!(
                "there is no embedder `{name}`\n  next: set LUKASA_EMBEDDER to potion, minilm, remote \
                 or off, or to the name of a folder with model files in {}",
                self.folder().display()
            ),
        }
    }

    fn preferred(&self) -> Option<String> {
        match self.embedder_name() {
            "off" => None,
            "remote" => self.embeddings_model.clone(),
            name => Some(catalogue::find(name).map_or(name, |known| known.full).to_owned()),
        }
    }
}

/// The secret in a file, if one is set: its text without the line end.
pub(crate) fn read_secret(file: Option<&Path>) -> anyhow::Result<Option<String>> {
    let Some(file) = file else { return Ok(None) };
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("the file with a secret cannot be read: {}", file.display()))?;
    Ok(Some(text.trim().to_owned()))
}

/// The downloaded model if it exists, else the one beside the program or of its installation, else
/// the place of the downloaded one.
fn first_model(downloaded: PathBuf, program_folder: &Path, model: &str) -> PathBuf {
    let installed = ["models", "../share/lukasa/models"];
    let installed = installed.map(|folder| program_folder.join(folder).join(model));
    match downloaded.is_dir() {
        true => downloaded,
        false => installed.into_iter().find(|folder| folder.is_dir()).unwrap_or(downloaded),
    }
}

/// The models of [`ModelSettings`]. Local embedders are opened at their first use and kept.
struct ConfiguredModels {
    settings: ModelSettings,
    embedders: Mutex<HashMap<String, Arc<dyn Embedder>>>,
    reranker: Option<Arc<dyn Reranker>>,
    chats: Vec<Arc<dyn Chat>>,
}

impl Models for ConfiguredModels {
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
        let embedder = local::open(&self.settings.folder_of(folder))?;
        opened.insert(full.to_owned(), Arc::clone(&embedder));
        Ok(embedder)
    }

    fn reranker(&self) -> Option<Arc<dyn Reranker>> {
        self.reranker.clone()
    }

    fn chats(&self) -> Vec<Arc<dyn Chat>> {
        self.chats.clone()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use lukasa_core::model::Price;

    use super::{ModelSettings, first_model};

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        models: ModelSettings,
    }

    fn names(flags: &[&str]) -> anyhow::Result<Vec<String>> {
        let line = Line::try_parse_from(["lukasa"].iter().chain(flags))?;
        let chats = line.models.open()?.chats();
        Ok(chats.iter().map(|chat| format!("{} {:?}", chat.name(), chat.price())).collect())
    }

    #[test]
    fn downloaded_model_does_not_hide_the_installed_ones() {
        let place = tempfile::tempdir().unwrap();
        let (downloads, program) = (place.path().join("data/models"), place.path().join("usr/bin"));
        let installed = place.path().join("usr/share/lukasa/models");
        for folder in [&program, &installed.join("potion"), &downloads.join("minilm")] {
            std::fs::create_dir_all(folder).unwrap();
        }
        let found = |model: &str| first_model(downloads.join(model), &program, model);
        let potion = program.join("../share/lukasa/models/potion");
        assert_eq!(found("minilm"), downloads.join("minilm"));
        assert_eq!(found("potion"), potion);
        assert_eq!(found("other"), downloads.join("other"));
        std::fs::create_dir_all(program.join("models/potion")).unwrap();
        assert_eq!(found("potion"), program.join("models/potion"));
        std::fs::create_dir_all(downloads.join("potion")).unwrap();
        assert_eq!(found("potion"), downloads.join("potion"));
    }

    #[test]
    fn embedder_with_an_unknown_name_is_refused_with_the_valid_ones() {
        let folder = tempfile::tempdir().unwrap();
        let models = folder.path().to_str().unwrap();
        std::fs::create_dir(folder.path().join("own")).unwrap();
        let open = |flags: &[&str]| names(&[&["--models", models], flags].concat());
        for name in ["potion", "minilm", "all-MiniLM-L6-v2", "off", "own", ""] {
            open(&["--embedder", name]).unwrap_or_else(|error| panic!("{name:?}: {error}"));
        }
        let error = open(&["--embedder", "bert"]).unwrap_err().to_string();
        for part in ["no embedder `bert`", "potion, minilm, remote or off", models] {
            assert!(error.contains(part), "{error}");
        }
        let error = open(&["--embedder", "remote"]).unwrap_err().to_string();
        assert!(error.contains("LUKASA_EMBEDDINGS_URL"), "{error}");
        let service = ["--embeddings-url", "http://127.0.0.1:1/v1", "--embeddings-model", "m"];
        open(&[&["--embedder", "remote"], &service[..]].concat()).unwrap();
    }

    #[test]
    fn chat_models_are_asked_in_the_order_they_are_set() {
        let free = format!("{:?}", Price::default());
        let set = "mini@https://a.example/v1#0.15/0.60, qwen3:8b@http://127.0.0.1:11434/v1";
        let price = Price { input: 150_000, output: 600_000 };
        let expected = [format!("mini {price:?}"), format!("qwen3:8b {free}")];
        assert_eq!(names(&["--chat", set]).unwrap(), expected);
        assert_eq!(names(&["--chat", set, "--chat-key", "sk-1,"]).unwrap(), expected);
        assert!(names(&["--chat", ""]).unwrap().is_empty());
        assert!(names(&[]).unwrap().is_empty());
    }

    #[test]
    fn secret_is_read_from_a_file_without_its_line_end() {
        let file = std::env::temp_dir().join(format!("lukasa-secret-{}", std::process::id()));
        std::fs::write(&file, "sk-1\n").unwrap();
        assert_eq!(super::read_secret(Some(&file)).unwrap().as_deref(), Some("sk-1"));
        std::fs::remove_file(&file).unwrap();
        let error = super::read_secret(Some(&file)).unwrap_err();
        assert!(error.to_string().contains("cannot be read"), "{error}");
        assert_eq!(super::read_secret(None).unwrap(), None);
        for (flag, file_flag) in
            [("--embeddings-key", "--embeddings-key-file"), ("--rerank-key", "--rerank-key-file")]
        {
            assert!(names(&[flag, "k", file_flag, "f"]).is_err(), "one or the other");
        }
    }

    #[test]
    fn chat_keys_are_read_from_a_file_and_never_shown() {
        let folder = std::env::temp_dir().join(format!("lukasa-chat-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("keys");
        let path = file.to_str().unwrap();
        let two = "a@http://a.example,b@http://b.example";
        std::fs::write(&file, "secret\nsecret\n").unwrap();
        assert_eq!(names(&["--chat", two, "--chat-key-file", path]).unwrap().len(), 2);
        std::fs::write(&file, "secret\n").unwrap();
        let error = names(&["--chat", two, "--chat-key-file", path]).unwrap_err();
        assert!(error.to_string().contains("2 chat models and 1 of their keys"), "{error}");
        assert!(!format!("{error:?}").contains("secret"), "{error:?}");
        assert!(names(&["--chat-key-file", path, "--chat-key", "k"]).is_err(), "one or the other");
        std::fs::remove_dir_all(&folder).unwrap();
        let error = names(&["--chat", two, "--chat-key-file", path]).unwrap_err();
        assert!(error.to_string().contains("cannot be read"), "{error}");
    }
}
