//! The files of an answer in an unnamed temporary file, from which they are sent as JSON: the
//! transaction does not wait for the client, and memory holds one piece of them.

use std::fs::File;
use std::io::{self, BufWriter, Read as _, Seek as _, Write as _};

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use lukasa_engine::vault::FileSink;
use serde_json::to_string;
use sha2::{Digest, Sha256};

/// Bytes of the files that are sent at a time.
const PIECE_BYTES: usize = 256 * 1024;

/// Files that are being written.
pub struct SpooledFiles {
    out: BufWriter<File>,
    /// The paths and the sizes of the files, in the order of their content.
    list: Vec<(String, u64)>,
}

impl SpooledFiles {
    pub fn open() -> io::Result<Self> {
        Ok(Self { out: BufWriter::new(tempfile::tempfile()?), list: Vec::new() })
    }

    /// The answer: `head`, the files with commas between them, and what `tail` returns for the digest
    /// of all paths and contents.
    pub async fn into_response(
        self,
        head: String,
        tail: impl FnOnce(String) -> String + Send + 'static,
    ) -> io::Result<Response> {
        let begin = move || {
            let mut file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.rewind()?;
            let files = FilePieces {
                file,
                list: self.list.into_iter(),
                left: None,
                is_first: true,
                hash: Sha256::new(),
            };
            Ok::<_, io::Error>(files)
        };
        let files = tokio::task::spawn_blocking(begin).await.map_err(io::Error::other)??;
        let state = Some((files, head, tail));
        let pieces = stream::try_unfold(state, |state| async move {
            let Some((mut files, mut text, tail)) = state else { return Ok(None) };
            let next = move || {
                let has_more = files.write_piece(&mut text)?;
                if has_more {
                    return Ok((text, Some((files, String::new(), tail))));
                }
                text.push_str(&tail(hex::encode(files.hash.finalize())));
                Ok::<_, io::Error>((text, None))
            };
            let next = tokio::task::spawn_blocking(next).await.map_err(io::Error::other)??;
            let (piece, state) = next;
            Ok::<_, io::Error>(Some((Bytes::from(piece), state)))
        });
        Ok(([(CONTENT_TYPE, "application/json")], Body::from_stream(pieces)).into_response())
    }
}

impl FileSink for SpooledFiles {
    fn begin(&mut self, path: &str) -> io::Result<()> {
        self.list.push((path.to_owned(), 0));
        Ok(())
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        let (_, size) = self.list.last_mut().ok_or(io::ErrorKind::InvalidInput)?;
        *size += text.len() as u64;
        self.out.write_all(text.as_bytes())
    }
}

/// Spooled files that are being read.
struct FilePieces {
    file: File,
    list: std::vec::IntoIter<(String, u64)>,
    /// How much of the current file is left.
    left: Option<u64>,
    is_first: bool,
    hash: Sha256,
}

impl FilePieces {
    /// Adds the next piece of the files as JSON. Returns whether there may be more.
    fn write_piece(&mut self, text: &mut String) -> io::Result<bool> {
        let mut room = PIECE_BYTES;
        while room > 0 {
            let Some(left) = self.left else {
                let Some((path, size)) = self.list.next() else { return Ok(false) };
                self.begin(&path, size, text)?;
                continue;
            };
            // One character has up to four bytes.
            let wanted = left.min(room.max(4) as u64);
            let part = self.read(wanted)?;
            room = room.saturating_sub(part.len());
            let quoted = to_string(&part)?;
            text.push_str(&quoted[1..quoted.len() - 1]);
            self.left = Some(left - part.len() as u64).filter(|left| *left > 0);
            if self.left.is_none() {
                text.push_str("\"}");
            }
        }
        Ok(true)
    }

    fn begin(&mut self, path: &str, size: u64, text: &mut String) -> io::Result<()> {
        self.hash.update((path.len() as u64).to_be_bytes());
        self.hash.update(path);
        self.hash.update(size.to_be_bytes());
        if !std::mem::take(&mut self.is_first) {
            text.push(',');
        }
        let path = to_string(path)?;
        text.push_str(&format!("{{\"path\":{path},\"content\":\""));
        self.left = (size > 0).then_some(size);
        if size == 0 {
            text.push_str("\"}");
        }
        Ok(())
    }

    /// Up to `wanted` bytes, without a part of a character at the end.
    fn read(&mut self, wanted: u64) -> io::Result<String> {
        let mut bytes = Vec::new();
        (&mut self.file).take(wanted).read_to_end(&mut bytes)?;
        let whole = match std::str::from_utf8(&bytes) {
            Ok(_) => bytes.len(),
            Err(error) => error.valid_up_to(),
        };
        if whole == 0 {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let cut = i64::try_from(bytes.len() - whole).map_err(io::Error::other)?;
        bytes.truncate(whole);
        self.file.seek_relative(-cut)?;
        self.hash.update(&bytes);
        String::from_utf8(bytes).map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn vault_files_in_pieces_are_the_json_of_all_of_them() {
        let long = "ä\"\n\u{1f600}\\".repeat(60_000);
        let files =
            [("profile.md", ""), ("domains/a.md", "x"), (".lukasa/base.jsonl", long.as_str())];
        let mut spool = SpooledFiles::open().unwrap();
        let mut hash = Sha256::new();
        for (path, content) in files {
            spool.begin(path).unwrap();
            for part in content.split_inclusive('\n') {
                spool.write(part).unwrap();
            }
            for part in [path, content] {
                hash.update((part.len() as u64).to_be_bytes());
                hash.update(part);
            }
        }
        let tail = |digest: String| format!("],\"sha256\":\"{digest}\"}}");
        let response = spool.into_response("{\"files\":[".to_owned(), tail).await.unwrap();
        let body = axum::body::to_bytes(response.into_body(), usize::MAX).await.unwrap();
        let list: Vec<_> = files
            .map(|(path, content)| serde_json::json!({"path": path, "content": content}))
            .into();
        let whole = serde_json::json!({"files": list, "sha256": hex::encode(hash.finalize())});
        assert_eq!(serde_json::from_slice::<serde_json::Value>(&body).unwrap(), whole);
        assert!(body.starts_with(b"{\"files\":[{\"path\":\"profile.md\",\"content\":\"\"},{"));
    }

    #[test]
    fn no_vault_file_is_an_empty_list() {
        let mut files = FilePieces {
            file: tempfile::tempfile().unwrap(),
            list: Vec::new().into_iter(),
            left: None,
            is_first: true,
            hash: Sha256::new(),
        };
        let mut text = String::new();
        assert!(!files.write_piece(&mut text).unwrap());
        assert_eq!(text, "");
    }
}
