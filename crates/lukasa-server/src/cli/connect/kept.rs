//! What a file was before Lukasa was put into it, kept so that it can be that again, byte for byte.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::assistants::Assistant;

/// The folder of what is kept, below somebody's home.
pub struct Kept {
    folder: PathBuf,
}

/// What a file was, and the digest of what was written in its place.
struct Note {
    existed: bool,
    before: Vec<u8>,
    after_sha256: String,
}

/// What undoing did to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undone {
    /// It is byte for byte what it was.
    Restored,
    /// There was none before, and there is none now.
    Removed,
    /// It was changed since by somebody else; only Lukasa's own entry was taken out.
    TakenOut,
    /// It does not hold Lukasa.
    NotThere,
}

impl Undone {
    pub fn as_str(self) -> &'static str {
        match self {
            Undone::Restored => "restored byte for byte",
            Undone::Removed => "removed: there was none before",
            Undone::TakenOut => "changed since; only Lukasa's entry was taken out",
            Undone::NotThere => "holds no Lukasa",
        }
    }
}

impl Kept {
    pub fn below(home: &Path) -> Self {
        Self { folder: home.join(".local/share/lukasa/connect") }
    }

    /// Where the file as it was is kept.
    pub fn backup(&self, assistant: &Assistant) -> PathBuf {
        self.folder.join(format!("{}.before", assistant.name))
    }

    fn note_file(&self, assistant: &Assistant) -> PathBuf {
        self.folder.join(format!("{}.json", assistant.name))
    }

    /// Writes a file anew, having kept what it was.
    pub fn write(&self, assistant: &Assistant, file: &Path, new: &str) -> anyhow::Result<()> {
        let now = read(file)?;
        let first = match (self.note(assistant), &now) {
            // Written by us and untouched since: what was before that counts.
            (Some(note), Some(now)) if sha256(now) == note.after_sha256 => {
                (note.existed, note.before)
            }
            // Lukasa was in it, and somebody else has written since: it is to be as it is, without us.
            (Some(note), Some(now)) => {
                let text = String::from_utf8_lossy(now).into_owned();
                let bare = assistant.take(&text)?.map(String::into_bytes);
                (note.existed, bare.unwrap_or_else(|| now.clone()))
            }
            (None, Some(now)) => (true, now.clone()),
            (_, None) => (false, Vec::new()),
        };
        fs::create_dir_all(&self.folder)
            .with_context(|| format!("cannot make {}", self.folder.display()))?;
        replace(&self.backup(assistant), &first.1, Some(0o600))?;
        let note = json!({ "assistant": assistant.name, "file": file, "existed": first.0,
            "after_sha256": sha256(new.as_bytes()) });
        replace(&self.note_file(assistant), note.to_string().as_bytes(), Some(0o600))?;
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        // A new file may come to hold a key, so it is its person's alone.
        let mode = now.is_none().then_some(0o600);
        replace(file, new.as_bytes(), mode)
    }

    /// Puts a file back, or takes Lukasa out of one that was changed since.
    pub fn undo(
        &self,
        assistant: &Assistant,
        file: &Path,
        dry_run: bool,
    ) -> anyhow::Result<Undone> {
        let Some(now) = read(file)? else {
            self.forget(assistant, dry_run);
            return Ok(Undone::NotThere);
        };
        let note = self.note(assistant);
        let done = match note.filter(|note| note.after_sha256 == sha256(&now)) {
            Some(note) if note.existed => {
                if !dry_run {
                    replace(file, &note.before, None)?;
                }
                Undone::Restored
            }
            Some(_) => {
                if !dry_run {
                    fs::remove_file(file)
                        .with_context(|| format!("cannot remove {}", file.display()))?;
                }
                Undone::Removed
            }
            None => {
                let Ok(text) = String::from_utf8(now) else { bail!("it is not text") };
                match assistant.take(&text)? {
                    None => Undone::NotThere,
                    Some(bare) => {
                        if !dry_run {
                            replace(file, bare.as_bytes(), None)?;
                        }
                        Undone::TakenOut
                    }
                }
            }
        };
        self.forget(assistant, dry_run);
        Ok(done)
    }

    fn forget(&self, assistant: &Assistant, dry_run: bool) {
        if !dry_run {
            let _ = fs::remove_file(self.note_file(assistant));
            let _ = fs::remove_file(self.backup(assistant));
            // Gone if it is empty, and left alone if it is not.
            let _ = fs::remove_dir(&self.folder);
        }
    }

    fn note(&self, assistant: &Assistant) -> Option<Note> {
        let text = fs::read_to_string(self.note_file(assistant)).ok()?;
        let note: Value = serde_json::from_str(&text).ok()?;
        Some(Note {
            existed: note["existed"].as_bool()?,
            before: fs::read(self.backup(assistant)).ok()?,
            after_sha256: note["after_sha256"].as_str()?.to_owned(),
        })
    }
}

/// The bytes of a file; nothing if there is none.
pub fn read(file: &Path) -> anyhow::Result<Option<Vec<u8>>> {
    match fs::read(file) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", file.display())),
    }
}

/// Writes a file as a whole or not at all, with the permissions it had. A link stays a link.
fn replace(file: &Path, bytes: &[u8], mode: Option<u32>) -> anyhow::Result<()> {
    let cannot = || format!("cannot write {}", file.display());
    let target = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let folder = target.parent().unwrap_or(Path::new("."));
    let mut part = tempfile::NamedTempFile::new_in(folder).with_context(cannot)?;
    part.write_all(bytes).with_context(cannot)?;
    let had = fs::metadata(&target).ok().map(|about| about.permissions());
    let wanted = mode.map(fs::Permissions::from_mode).or(had);
    if let Some(permissions) = wanted {
        part.as_file().set_permissions(permissions).with_context(cannot)?;
    }
    part.as_file().sync_all().with_context(cannot)?;
    part.persist(&target).with_context(cannot)?;
    Ok(())
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
