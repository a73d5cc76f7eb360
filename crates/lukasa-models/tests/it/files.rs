//! Errors about missing or unusable model files.

use std::path::{Path, PathBuf};

use lukasa_core::model::ModelError;
use lukasa_models::local;

/// A folder for one test, removed when dropped.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn refusal(folder: &Path) -> String {
    match local::open(folder) {
        Err(ModelError::Missing(words)) => words,
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("opened"),
    }
}

#[test]
fn missing_model_folder_error_names_the_command() {
    let folder = Folder::new("missing");
    let words = refusal(&folder.path().join("minilm"));
    assert!(words.contains("`lukasa model get minilm`"), "{words}");
    assert!(words.contains("LUKASA_MODELS"), "{words}");
    assert!(words.contains("config.json"), "{words}");
}

#[test]
fn unsupported_model_type_is_named_in_error() {
    let folder = Folder::new("kind");
    folder.write("config.json", r#"{"model_type": "llama"}"#);
    folder.write("tokenizer.json", "{}");
    let words = refusal(folder.path());
    assert!(words.contains("model.safetensors"), "{words}");
    folder.write("model.safetensors", "");
    let words = refusal(folder.path());
    assert!(words.contains("`llama`"), "{words}");
}

#[test]
fn invalid_model_files_are_refused() {
    let folder = Folder::new("broken");
    folder.write("tokenizer.json", "{}");
    folder.write("model.safetensors", "not weights");
    for config in ["", "[]", r#"{"model_type": "model2vec"}"#] {
        folder.write("config.json", config);
        let words = refusal(folder.path());
        assert!(words.contains("not a model Lukasa can open"), "{words}");
    }
}
