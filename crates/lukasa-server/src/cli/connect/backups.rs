//! Backups of configuration files from before Lukasa's entry was added, to restore them byte for byte.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::assistants::Assistant;
use crate::system::files;

/// The folder of the backups, below the home folder.
pub struct ConfigBackups {
    folder: PathBuf,
}

/// The former content of a file, and the digest of the content that replaced it.
struct BackupRecord {
    existed: bool,
    before: Vec<u8>,
    after_sha256: String,
}

lukasa_core::words!(
    /// The result of disconnecting one assistant.
    UndoResult {
        /// The file was restored byte for byte.
        Restored = "restored byte for byte",
        /// The file was removed: it did not exist before.
        Removed = "removed: the file did not exist before",
        /// The file was changed by another program since; only Lukasa's entry was taken out.
        TakenOut = "changed since; only Lukasa's entry was taken out",
        /// The file has no entry of Lukasa.
        NotThere = "not connected",
    }
);

impl ConfigBackups {
    pub fn below(home: &Path) -> Self {
        Self { folder: home.join(".local/share/lukasa/connect") }
    }

    /// The path of the backup of an assistant's file.
    pub fn backup(&self, assistant: &Assistant) -> PathBuf {
        self.folder.join(format!("{}.before", assistant.name))
    }

    fn record_file(&self, assistant: &Assistant) -> PathBuf {
        self.folder.join(format!("{}.json", assistant.name))
    }

    /// Replaces a file, after backing up its former content.
    pub fn write(&self, assistant: &Assistant, file: &Path, new: &str) -> anyhow::Result<()> {
        let now = read(file)?;
        let first = match (self.record(assistant), &now) {
            // Unchanged since Lukasa wrote it: keep the first backup.
            (Some(record), Some(now)) if sha256(now) == record.after_sha256 => {
                (record.existed, record.before)
            }
            // Changed by another program since: back up the current file without Lukasa's entry.
            (Some(record), Some(now)) => {
                let text = String::from_utf8_lossy(now).into_owned();
                let bare = assistant.take(&text)?.map(String::into_bytes);
                (record.existed, bare.unwrap_or_else(|| now.clone()))
            }
            (None, Some(now)) => (true, now.clone()),
            (_, None) => (false, Vec::new()),
        };
        fs::create_dir_all(&self.folder)
            .with_context(|| format!("cannot create {}", self.folder.display()))?;
        replace(&self.backup(assistant), &first.1, true)?;
        let record = json!({ "assistant": assistant.name, "file": file, "existed": first.0,
            "after_sha256": sha256(new.as_bytes()) });
        replace(&self.record_file(assistant), record.to_string().as_bytes(), true)?;
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot create {}", folder.display()))?;
        }
        // A new file may contain a key, so only its owner may read it.
        replace(file, new.as_bytes(), now.is_none())
    }

    /// Restores a file, or takes Lukasa's entry out of one that was changed since.
    pub fn undo(
        &self,
        assistant: &Assistant,
        file: &Path,
        dry_run: bool,
    ) -> anyhow::Result<UndoResult> {
        let Some(now) = read(file)? else {
            self.remove_record(assistant, dry_run);
            return Ok(UndoResult::NotThere);
        };
        let record = self.record(assistant);
        let done = match record.filter(|record| record.after_sha256 == sha256(&now)) {
            Some(record) if record.existed => {
                if !dry_run {
                    replace(file, &record.before, false)?;
                }
                UndoResult::Restored
            }
            Some(_) => {
                if !dry_run {
                    fs::remove_file(file)
                        .with_context(|| format!("cannot remove {}", file.display()))?;
                }
                UndoResult::Removed
            }
            None => {
                let Ok(text) = String::from_utf8(now) else { bail!("the file is not UTF-8 text") };
                match assistant.take(&text)? {
                    None => UndoResult::NotThere,
                    Some(bare) => {
                        if !dry_run {
                            replace(file, bare.as_bytes(), false)?;
                        }
                        UndoResult::TakenOut
                    }
                }
            }
        };
        self.remove_record(assistant, dry_run);
        Ok(done)
    }

    fn remove_record(&self, assistant: &Assistant, dry_run: bool) {
        if !dry_run {
            let _ = fs::remove_file(self.record_file(assistant));
            let _ = fs::remove_file(self.backup(assistant));
            // `remove_dir` removes the folder only if it is empty.
            let _ = fs::remove_dir(&self.folder);
        }
    }

    fn record(&self, assistant: &Assistant) -> Option<BackupRecord> {
        let text = fs::read_to_string(self.record_file(assistant)).ok()?;
        let record: Value = serde_json::from_str(&text).ok()?;
        Some(BackupRecord {
            existed: record["existed"].as_bool()?,
            before: fs::read(self.backup(assistant)).ok()?,
            after_sha256: record["after_sha256"].as_str()?.to_owned(),
        })
    }
}

/// The bytes of a file; `None` if it does not exist.
pub fn read(file: &Path) -> anyhow::Result<Option<Vec<u8>>> {
    match fs::read(file) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
    }
}

/// Replaces a file atomically. It keeps its permissions, unless it `is_private`: then only its owner can
/// read it. A symbolic link stays one.
fn replace(file: &Path, bytes: &[u8], is_private: bool) -> anyhow::Result<()> {
    let write_error = || format!("cannot write {}", file.display());
    let target = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let folder = target.parent().unwrap_or(Path::new("."));
    let mut part = tempfile::NamedTempFile::new_in(folder).with_context(write_error)?;
    part.write_all(bytes).with_context(write_error)?;
    let current = || fs::metadata(&target).ok().map(|metadata| metadata.permissions());
    let wanted = if is_private { files::private_permissions() } else { current() };
    if let Some(permissions) = wanted {
        part.as_file().set_permissions(permissions).with_context(write_error)?;
    }
    part.as_file().sync_all().with_context(write_error)?;
    part.persist(&target).with_context(write_error)?;
    Ok(())
}

fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
