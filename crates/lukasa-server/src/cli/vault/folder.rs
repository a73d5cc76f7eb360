//! The folder of a vault on this machine. Nothing outside it is read or written, not even through a
//! symbolic link, and files are written atomically.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use lukasa_core::vault::{BASE, File, Home, is_conversation, is_episodes, is_portrait};

/// A vault's folder.
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
}

/// The subfolders of a vault that are synced.
const FOLDERS: [&str; 4] = [".lukasa", "domains", "episodes", "portraits"];
const CONVERSATIONS: &str = "conversations";

impl Folder {
    /// The folder at this path, which need not exist yet.
    pub fn at(path: &Path) -> Self {
        Self { root: path.to_owned() }
    }

    /// Every file of the vault except its conversations, in the order of their paths.
    pub fn read(&self) -> anyhow::Result<Vec<File>> {
        let mut files = Vec::new();
        for folder in [&[""][..], &FOLDERS].concat() {
            self.read_folder(folder, &mut files)?;
        }
        files.sort_by(|one, two| one.path.cmp(&two.path));
        Ok(files)
    }

    /// The files of the conversations.
    pub fn read_conversations(&self) -> anyhow::Result<Vec<File>> {
        let mut files = Vec::new();
        for month in self.read_folder(CONVERSATIONS, &mut files)? {
            let folder = format!("{CONVERSATIONS}/{month}");
            if self.root.join(&folder).is_dir() {
                self.read_folder(&folder, &mut files)?;
            }
        }
        Ok(files)
    }

    /// Adds the files of a folder to `files`, and returns the names of everything else in it.
    fn read_folder(&self, folder: &str, files: &mut Vec<File>) -> anyhow::Result<Vec<String>> {
        let (here, mut others) = (self.root.join(folder), Vec::new());
        match fs::symlink_metadata(&here) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(others),
            Err(error) => return Err(error).with_context(|| here.display().to_string()),
            // The vault itself may be a link; its subfolders may not, as they could lead out of it.
            Ok(metadata) if metadata.is_symlink() && !folder.is_empty() => {
                bail!("{} is a symbolic link, which a vault may not contain", here.display());
            }
            Ok(_) => {}
        }
        for entry in fs::read_dir(&here).with_context(|| here.display().to_string())? {
            let entry = entry?;
            let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
            let path = if folder.is_empty() { name.clone() } else { format!("{folder}/{name}") };
            if is_ours(&path) {
                files.push(File { content: self.text(&path)?, path });
            } else {
                others.push(name);
            }
        }
        Ok(others)
    }

    fn text(&self, path: &str) -> anyhow::Result<String> {
        let place = self.root.join(path);
        let metadata = fs::symlink_metadata(&place)?;
        if !metadata.is_file() {
            bail!("{} is not a regular file; a vault may not contain others", place.display());
        }
        let bytes = fs::read(&place).with_context(|| place.display().to_string())?;
        let text = String::from_utf8(bytes);
        text.with_context(|| format!("{} is not UTF-8; save it as UTF-8", place.display()))
    }

    /// Makes the folder equal to `files` and returns the paths that it changed. Files that differ only
    /// in line ends are not written. The base is written last: if this is interrupted, the next sync
    /// finds the new files and an older base, which is safe.
    pub fn write(&self, there: &[File], files: &[File]) -> anyhow::Result<Vec<String>> {
        let was = |path: &str| there.iter().find(|file| file.path == path).map(|f| &f.content);
        let differs = |file: &&File| {
            was(&file.path).is_none_or(|was| was.replace("\r\n", "\n") != file.content)
        };
        let mut touched = Vec::new();
        let (base, pages): (Vec<&File>, Vec<&File>) =
            files.iter().filter(differs).partition(|file| file.path == BASE);
        for file in pages {
            self.put(file)?;
            touched.push(file.path.clone());
        }
        let stays = |path: &str| files.iter().any(|file| file.path == path);
        for gone in there.iter().filter(|file| !stays(&file.path)) {
            let place = self.root.join(&gone.path);
            fs::remove_file(&place).with_context(|| place.display().to_string())?;
            touched.push(gone.path.clone());
        }
        for file in base {
            self.put(file)?;
            touched.push(file.path.clone());
        }
        Ok(touched)
    }

    fn put(&self, file: &File) -> anyhow::Result<()> {
        // The paths come from the server and are not trusted.
        if !is_ours(&file.path) {
            bail!("the server named a file that is not part of a vault: {:?}", file.path);
        }
        let place = self.root.join(&file.path);
        let folder = place.parent().unwrap_or(&self.root);
        for inside in folder.ancestors().take_while(|inside| *inside != self.root) {
            if fs::symlink_metadata(inside).is_ok_and(|metadata| metadata.is_symlink()) {
                bail!("{} is a symbolic link, which a vault may not contain", inside.display());
            }
        }
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        let new = place.with_extension(format!("{}.new", std::process::id()));
        let write = || -> std::io::Result<()> {
            // A crash may have left a temporary file of this name.
            let _ = fs::remove_file(&new);
            let mut out = fs::File::create_new(&new)?;
            out.write_all(file.content.as_bytes())?;
            out.sync_all()?;
            fs::rename(&new, &place)
        };
        let written = write();
        if written.is_err() {
            let _ = fs::remove_file(&new);
        }
        written.with_context(|| place.display().to_string())
    }
}

/// Whether a vault has a file of this name.
fn is_ours(path: &str) -> bool {
    let month = |name: &str| {
        name.strip_suffix(".md").is_some_and(|month| {
            !month.is_empty() && month.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        })
    };
    path == BASE
        || Home::at(path).is_some()
        || is_portrait(path)
        || is_episodes(path)
        || is_conversation(path)
        || path.strip_prefix("episodes/").is_some_and(month)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn file(path: &str, content: &str) -> File {
        File { path: path.into(), content: content.into() }
    }

    fn place(name: &str) -> PathBuf {
        let place = std::env::temp_dir().join(format!("lukasa-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&place);
        place
    }

    #[test]
    fn vault_folder_is_written_only_where_it_differs() {
        let place = place("folder");
        let folder = Folder::at(&place);
        assert_eq!(folder.read().unwrap(), []);
        let files =
            [file(BASE, "{}\n"), file("domains/food.md", "# Food\n"), file("profile.md", "# Me\n")];
        assert_eq!(folder.write(&[], &files).unwrap().len(), 3);
        assert_eq!(folder.read().unwrap(), files);
        assert_eq!(folder.write(&files, &files).unwrap(), Vec::<String>::new());
        let crlf = [file("profile.md", "# Me\r\n")];
        assert_eq!(folder.write(&crlf, &files[2..]).unwrap(), Vec::<String>::new());
        assert_eq!(folder.write(&files, &[files[0].clone(), files[2].clone()]).unwrap().len(), 1);
        assert!(!place.join("domains/food.md").exists());
        fs::write(place.join("notes.md"), "mine").unwrap();
        assert_eq!(folder.read().unwrap().len(), 2, "the user's other files are not touched");
        let talk = [file("conversations/2026-01/2026-01-02 tea 0a.md", "> tea\n")];
        assert_eq!(folder.write(&[], &talk).unwrap().len(), 1);
        assert_eq!(folder.read().unwrap().len(), 2, "conversations are not synced");
        assert_eq!(folder.read_conversations().unwrap(), talk);
        for bad in ["../x.md", "/etc/x.md", "notes.md", "episodes/../../x.md", "domains/a/b.md"] {
            assert!(folder.write(&[], &[file(bad, "x")]).is_err(), "{bad}");
        }
        fs::remove_dir_all(&place).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn vault_folder_refuses_symbolic_links() {
        let (place, outside) = (place("links"), place("outside"));
        fs::create_dir_all(&place).unwrap();
        fs::create_dir_all(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, place.join("domains")).unwrap();
        let folder = Folder::at(&place);
        assert!(folder.read().is_err());
        assert!(folder.write(&[], &[file("domains/food.md", "x")]).is_err());
        fs::remove_file(place.join("domains")).unwrap();
        std::os::unix::fs::symlink(&outside, place.join("conversations")).unwrap();
        assert!(folder.read_conversations().is_err());
        assert!(folder.write(&[], &[file("conversations/2026-01/x.md", "x")]).is_err());
        fs::write(outside.join("secret"), "x").unwrap();
        std::os::unix::fs::symlink(outside.join("secret"), place.join("profile.md")).unwrap();
        assert!(folder.read().is_err());
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
        fs::remove_dir_all(&place).unwrap();
        fs::remove_dir_all(&outside).unwrap();
    }
}
