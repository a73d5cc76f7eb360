//! Models that run in this process, from three files in a folder.
//!
//! The kind of model is read from the files, its name is derived from the hash of its weights. So a
//! folder can be moved or renamed, and different weights never get the same name.

mod bert;
pub mod catalogue;
mod fetch;
mod static_model;

pub use fetch::{Progress, fetch};

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lukasa_core::model::{Embedder, ModelError};
use serde::Deserialize;
use sha2::{Digest, Sha256};

const CONFIG: &str = "config.json";
const TOKENIZER: &str = "tokenizer.json";
const WEIGHTS: &str = "model.safetensors";

/// Opens the model in `folder`. Reads and hashes every byte of it (30 to 90 MB), so it is meant for
/// the start of the process, not for a request.
pub fn open(folder: &Path) -> Result<Arc<dyn Embedder>, ModelError> {
    let files = Files::read(folder)?;
    let config: Config = serde_json::from_slice(&files.config).map_err(|e| files.unusable(&e))?;
    let hash = hex::encode(Sha256::digest(&files.weights));
    let known = catalogue::with_weights(&hash);
    // Unknown weights are named by their type and hash; a folder's name is not reliable.
    let name = known.map_or_else(
        || format!("{}-{}", config.model_type, &hash[..12]),
        |known| known.full.to_owned(),
    );
    match config.model_type.as_str() {
        "model2vec" => Ok(Arc::new(static_model::StaticEmbedder::open(name, &files)?)),
        "bert" => Ok(Arc::new(bert::BertEmbedder::open(name, &files)?)),
        other => Err(ModelError::Missing(format!(
            "{} says `model_type` is `{other}`, and Lukasa runs `model2vec` and `bert` itself; \
             serve other models from an endpoint and name its URL instead",
            folder.join(CONFIG).display()
        ))),
    }
}

/// The part of a model's configuration that says its type.
#[derive(Deserialize)]
struct Config {
    model_type: String,
}

/// The content of a model's files.
struct Files {
    folder: PathBuf,
    config: Vec<u8>,
    tokenizer: Vec<u8>,
    weights: Vec<u8>,
}

impl Files {
    fn read(folder: &Path) -> Result<Self, ModelError> {
        let read = |name: &str| {
            let path = folder.join(name);
            std::fs::read(&path).map_err(|e| match e.kind() {
                ErrorKind::NotFound => absent(folder, &path),
                _ => ModelError::Missing(format!("{} cannot be read: {e}", path.display())),
            })
        };
        Ok(Self {
            folder: folder.to_owned(),
            config: read(CONFIG)?,
            tokenizer: read(TOKENIZER)?,
            weights: read(WEIGHTS)?,
        })
    }

    fn unusable(&self, why: &dyn fmt::Display) -> ModelError {
        ModelError::Missing(format!(
            "the files in {} are not a model Lukasa can open: {why}; {}",
            self.folder.display(),
            remedy(&self.folder)
        ))
    }
}

fn absent(folder: &Path, path: &Path) -> ModelError {
    ModelError::Missing(format!("there is no {}; {}", path.display(), remedy(folder)))
}

/// Advice for an error about a missing or unusable model.
fn remedy(folder: &Path) -> String {
    let named = folder.file_name().and_then(|name| catalogue::find(&name.to_string_lossy()));
    let short = named.map_or(catalogue::KNOWN[0].short, |known| known.short);
    format!("run `lukasa model get {short}`, or set LUKASA_MODELS to the folder that has it")
}
