//! The model service that the user of a local server sets in the console: services on this machine
//! are found, a service is tested, stored in a file of the data folder and used at once.
//!
//! The file is readable by the server's account only, because it holds the key. Nothing that a
//! service answers is shown, apart from the names of its models.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use axum::http::StatusCode;
use futures_util::future::join_all;
use lukasa_engine::sync_folder;
use lukasa_models::sse::SseReader;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::guide;
use super::upstream::{self, Upstream};
use crate::api::code::ErrorCode;

/// Where services on this machine usually listen.
const LOCAL_SERVICES: [(&str, &str); 4] = [
    ("Ollama", "http://127.0.0.1:11434/v1"),
    ("LM Studio", "http://127.0.0.1:1234/v1"),
    ("llama.cpp", "http://127.0.0.1:8080/v1"),
    ("vLLM", "http://127.0.0.1:8000/v1"),
];
const PROBE_TIMEOUT: Duration = Duration::from_millis(300);
const MAX_PROBE_BYTES: usize = 256 * 1024;
/// Maximum number of models that are listed of one service.
const MAX_FOUND_MODELS: usize = 100;
const MAX_MODEL_CHARS: usize = 200;
const MAX_ADDRESS_CHARS: usize = 1_000;
const MAX_KEY_CHARS: usize = 1_000;
/// How long a test waits: a local model may have to be loaded first.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);
/// How much of an answer is read to find its first part.
const MAX_TEST_BYTES: usize = 64 * 1024;

/// The service that chats are sent to. It can be replaced while the server runs.
#[derive(Clone)]
pub(super) struct CurrentUpstream(Arc<RwLock<Option<Arc<Upstream>>>>);

impl CurrentUpstream {
    pub(super) fn new(upstream: Option<Upstream>) -> Self {
        Self(Arc::new(RwLock::new(upstream.map(Arc::new))))
    }

    pub(super) fn get(&self) -> Option<Arc<Upstream>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, upstream: Option<Upstream>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = upstream.map(Arc::new);
    }
}

/// A service to test or to use. It has no `Debug`, because it holds a key.
#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewModelService {
    pub url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    pub model: String,
}

/// Why a service cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetupFault {
    Address,
    Unreachable,
    Timeout,
    Key,
    Model,
    /// Something answers at the address, but no chat service.
    NotChat,
    Refused(u16),
}

impl SetupFault {
    /// The stable word for programs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Address => "address",
            Self::Unreachable => "unreachable",
            Self::Timeout => "timeout",
            Self::Key => "key",
            Self::Model => "model",
            Self::NotChat => "not_chat",
            Self::Refused(_) => "refused",
        }
    }

    /// The field of a request that it is about.
    pub fn field(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Model => "model",
            _ => "url",
        }
    }

    /// The fault in plain words.
    pub fn sentence(self) -> String {
        match self {
            Self::Address => "the address must begin with http:// or https://, as \
                              http://127.0.0.1:11434/v1"
                .into(),
            Self::Unreachable => "nothing answers at this address".into(),
            Self::Timeout => "the service did not answer in time".into(),
            Self::Key => "the service needs a key, or does not accept this one".into(),
            Self::Model => "the service does not have this model".into(),
            Self::NotChat => "no OpenAI-compatible chat service is at this address; it often ends \
                              in /v1"
                .into(),
            Self::Refused(status) => format!("the service answered with status {status}"),
        }
    }

    fn of_error(error: &reqwest::Error) -> Self {
        if error.is_timeout() { Self::Timeout } else { Self::Unreachable }
    }

    fn of_status(status: StatusCode, body: &[u8]) -> Self {
        let json: Value = serde_json::from_slice(body).unwrap_or_default();
        let has_error = json.get("error").is_some();
        // A Lukasa without a service, or this one itself.
        if json["error"]["code"] == ErrorCode::UpstreamUnavailable.as_str() {
            return Self::NotChat;
        }
        match status.as_u16() {
            401 | 403 => Self::Key,
            // A service names its error; a server that has no such path does not.
            404 if has_error => Self::Model,
            300..=399 | 404 | 405 => Self::NotChat,
            other => Self::Refused(other),
        }
    }
}

impl NewModelService {
    /// Opens the service if it answers a short chat request.
    pub async fn test(&self) -> Result<Upstream, SetupFault> {
        let upstream = self.open()?;
        let message = json!({"role": "user", "content": "Reply with the word OK."});
        let body = json!({"model": self.model.trim(), "messages": [message], "stream": true});
        let answer = upstream.ask_chat(&body, TEST_TIMEOUT).await;
        let answer = answer.map_err(|error| SetupFault::of_error(&error))?;
        read_answer(answer).await?;
        Ok(upstream)
    }

    /// The service, by the same rules as one from the settings.
    fn open(&self) -> Result<Upstream, SetupFault> {
        let is_within = |text: &str, most: usize| text.chars().count() <= most;
        if !is_within(&self.url, MAX_ADDRESS_CHARS) {
            return Err(SetupFault::Address);
        }
        if self.model.trim().is_empty() || !is_within(&self.model, MAX_MODEL_CHARS) {
            return Err(SetupFault::Model);
        }
        Upstream::new(&self.url, None).map_err(|_| SetupFault::Address)?;
        let key = self.key.as_deref().map(str::trim).filter(|key| !key.is_empty());
        if key.is_some_and(|key| !is_within(key, MAX_KEY_CHARS)) {
            return Err(SetupFault::Key);
        }
        Upstream::new(&self.url, key).map_err(|_| SetupFault::Key)
    }
}

/// Reads an answer until its first part shows that it is one.
async fn read_answer(mut answer: reqwest::Response) -> Result<(), SetupFault> {
    let (status, mut read) = (answer.status(), Vec::new());
    loop {
        let piece = answer.chunk().await.map_err(|error| SetupFault::of_error(&error))?;
        if let Some(piece) = &piece {
            read.extend_from_slice(piece);
        }
        let is_whole = piece.is_none() || read.len() > MAX_TEST_BYTES;
        if !status.is_success() && is_whole {
            return Err(SetupFault::of_status(status, &read));
        }
        if status.is_success()
            && let Some(judged) = judge(&read, is_whole)
        {
            return judged;
        }
    }
}

/// Whether what was read so far is an answer of a chat service; `None` until that is known.
fn judge(read: &[u8], is_whole: bool) -> Option<Result<(), SetupFault>> {
    let mut reader = SseReader::new(usize::MAX);
    let mut parts = reader.push(read).unwrap_or_default();
    if is_whole {
        // The last event of some services lacks the blank line that ends it.
        parts.extend(reader.push(b"\n\n").unwrap_or_default());
        parts.push(String::from_utf8_lossy(read).into_owned());
    }
    for part in parts {
        let Ok(part) = serde_json::from_str::<Value>(&part) else { continue };
        if part["choices"].is_array() {
            return Some(Ok(()));
        }
        if part.get("error").is_some() {
            return Some(Err(SetupFault::Refused(StatusCode::OK.as_u16())));
        }
    }
    is_whole.then_some(Err(SetupFault::NotChat))
}

/// A service that answers on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundService {
    pub name: String,
    pub url: String,
    pub models: Vec<String>,
}

/// The setup of the service in the console.
#[derive(Clone)]
pub struct ModelSetup {
    file: PathBuf,
    upstream: CurrentUpstream,
    /// The model of the stored service. Locked while the file is written.
    model: Arc<Mutex<Option<String>>>,
    services: Vec<(String, String)>,
}

impl ModelSetup {
    /// Reads the stored service, if there is one, and applies it. A file that cannot be used is
    /// logged and otherwise ignored: memory works without a model.
    pub(super) fn open(file: PathBuf, upstream: CurrentUpstream) -> Self {
        let services = LOCAL_SERVICES.map(|(name, url)| (name.to_owned(), url.to_owned()));
        let setup = Self { file, upstream, model: Arc::default(), services: services.to_vec() };
        match setup.read() {
            Ok(Some((opened, model))) => {
                setup.upstream.set(Some(opened));
                *setup.lock() = Some(model);
            }
            Ok(None) => {}
            Err(error) => {
                let file = setup.file.display();
                tracing::warn!(%error, %file, "could not read the model service that was set up");
            }
        }
        setup
    }

    pub(super) fn with_local_services(self, services: Vec<(String, String)>) -> Self {
        Self { services, ..self }
    }

    fn lock(&self) -> MutexGuard<'_, Option<String>> {
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self) -> io::Result<Option<(Upstream, String)>> {
        let text = match fs::read(&self.file) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        // The error of the parser could quote the key.
        let invalid = || io::Error::new(io::ErrorKind::InvalidData, "it is not valid");
        let stored: NewModelService = serde_json::from_slice(&text).map_err(|_| invalid())?;
        let opened = stored.open().map_err(|_| invalid())?;
        Ok(Some((opened, stored.model.trim().to_owned())))
    }

    /// The model of the service that was set up, if one was.
    pub fn model(&self) -> Option<String> {
        self.lock().clone()
    }

    /// The services that answer on this machine now.
    pub async fn find_services(&self) -> Vec<FoundService> {
        let client = lukasa_models::tls::client("http:").no_proxy().build();
        let Ok(client) = client else { return Vec::new() };
        let probes = self.services.iter().map(|(name, url)| probe(&client, name, url));
        join_all(probes).await.into_iter().flatten().collect()
    }

    /// Stores a tested service, and sends chats to it from now on. Blocks until it is on disk.
    pub fn store(&self, new: &NewModelService, opened: Upstream) -> io::Result<()> {
        let mut model = self.lock();
        self.write(new)?;
        self.upstream.set(Some(opened));
        *model = Some(new.model.trim().to_owned());
        Ok(())
    }

    /// Removes the stored service. Blocks until that is on disk.
    pub fn remove(&self) -> io::Result<()> {
        let mut model = self.lock();
        match fs::remove_file(&self.file) {
            Ok(()) => sync_folder(folder_of(&self.file))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        self.upstream.set(None);
        *model = None;
        Ok(())
    }

    fn write(&self, new: &NewModelService) -> io::Result<()> {
        let folder = folder_of(&self.file);
        fs::create_dir_all(folder)?;
        // It is created with mode 0600; on Windows the folder decides.
        let mut part = tempfile::NamedTempFile::new_in(folder)?;
        part.write_all(&serde_json::to_vec(new)?)?;
        part.as_file().sync_all()?;
        part.persist(&self.file).map_err(|error| error.error)?;
        sync_folder(folder)
    }
}

fn folder_of(file: &Path) -> &Path {
    file.parent().unwrap_or(Path::new("."))
}

/// The service at this address, if one answers with a list of models.
async fn probe(client: &reqwest::Client, name: &str, url: &str) -> Option<FoundService> {
    let request = client.get(format!("{url}/models")).timeout(PROBE_TIMEOUT);
    let request = request.header(upstream::SENDER, upstream::sender());
    let mut answer = request.send().await.ok()?;
    if !answer.status().is_success() {
        return None;
    }
    let mut read = Vec::new();
    while let Some(piece) = answer.chunk().await.ok()? {
        read.extend_from_slice(&piece);
        if read.len() > MAX_PROBE_BYTES {
            return None;
        }
    }
    let models = model_names(&read)?;
    Some(FoundService { name: name.to_owned(), url: url.to_owned(), models })
}

/// The names in a list of models; `None` if it is not such a list, or that of a Lukasa.
fn model_names(list: &[u8]) -> Option<Vec<String>> {
    let list: Value = serde_json::from_slice(list).ok()?;
    let models = match list.get("data")? {
        // Ollama without a model.
        Value::Null => Vec::new(),
        models => models.as_array()?.clone(),
    };
    let is_shown = |name: &&str| !name.is_empty() && name.chars().count() <= MAX_MODEL_CHARS;
    let names = models.iter().filter_map(|model| model["id"].as_str()).filter(is_shown);
    let names: Vec<String> = names.take(MAX_FOUND_MODELS).map(str::to_owned).collect();
    (!names.iter().any(|name| name == guide::MODEL_NAME)).then_some(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_names_are_read_from_a_list_and_from_nothing_else() {
        let names = |text: &str| model_names(text.as_bytes());
        let two = r#"{"object": "list", "data": [{"id": "qwen3:8b"}, {"id": ""}, {"id": "phi"}]}"#;
        assert_eq!(names(two), Some(vec!["qwen3:8b".into(), "phi".into()]));
        assert_eq!(names(r#"{"object": "list", "data": null}"#), Some(vec![]));
        for other in ["", "<html>", "[]", "{}", r#"{"data": 1}"#] {
            assert_eq!(names(other), None, "{other}");
        }
        let own = guide::model_list().to_string();
        assert_eq!(names(&own), None, "a Lukasa is not a model service");
    }

    #[test]
    fn chat_answer_is_recognized_at_its_first_event() {
        let event = "data: {\"choices\": [{\"delta\": {}}]}\n\n";
        assert_eq!(judge(event.as_bytes(), false), Some(Ok(())));
        assert_eq!(judge(&event.as_bytes()[..20], false), None);
        assert_eq!(judge(event.trim_end().as_bytes(), true), Some(Ok(())));
        assert_eq!(judge(br#"{"choices": []}"#, true), Some(Ok(())));
        assert_eq!(judge(b"<html></html>", false), None);
        assert_eq!(judge(b"<html></html>", true), Some(Err(SetupFault::NotChat)));
        let failed = b"data: {\"error\": {\"message\": \"x\"}}\n\n";
        assert_eq!(judge(failed, false), Some(Err(SetupFault::Refused(200))));
    }

    #[test]
    fn service_refusals_are_distinguished() {
        let fault = |status: u16, body: &str| {
            SetupFault::of_status(StatusCode::from_u16(status).unwrap(), body.as_bytes())
        };
        assert_eq!(fault(401, ""), SetupFault::Key);
        assert_eq!(fault(404, r#"{"error": {"message": "no such model"}}"#), SetupFault::Model);
        assert_eq!(fault(404, "404 page not found"), SetupFault::NotChat);
        assert_eq!(fault(301, ""), SetupFault::NotChat);
        assert_eq!(fault(500, ""), SetupFault::Refused(500));
    }
}
