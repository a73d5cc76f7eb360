//! Downloads a known model's files from the hub, or a mirror of it, into a folder.
//!
//! A file appears under its name only when its size and hash are right. Until then it is stored
//! beside it under another name, and removed if the download ends early.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lukasa_core::model::ModelError;
use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode};
use sha2::{Digest, Sha256};
use tokio::fs::{self, File};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::catalogue::{HUB, KnownModel, ModelFile};
use crate::tls;

/// Progress of a download, over all files of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress<'a> {
    pub file: &'a str,
    pub bytes: u64,
    pub of: u64,
}

/// Downloads the missing files of `model` into its own folder below `models`, and returns that
/// folder. Complete files are not downloaded again; files with other content are replaced.
pub async fn fetch(
    model: &KnownModel,
    models: &Path,
    mirror: Option<&str>,
    progress: &mut (dyn FnMut(Progress<'_>) + Send),
) -> Result<PathBuf, ModelError> {
    let base = mirror.unwrap_or(HUB);
    let folder = models.join(model.short);
    fs::create_dir_all(&folder).await.map_err(|e| unwritable(&folder, &e))?;
    let client = tls::client(base)
        // The hub redirects to the store that has the bytes.
        .redirect(Policy::limited(5))
        .connect_timeout(Duration::from_secs(10))
        .read_timeout(Duration::from_secs(60))
        .build()
        .map_err(|e| ModelError::Missing(format!("cannot create an HTTP client: {e}")))?;
    let mut done = 0;
    for file in model.files {
        let path = folder.join(file.name);
        if !is_whole(&path, file).await {
            let url = model.url(base, file);
            let mut step = |bytes| {
                progress(Progress { file: file.name, bytes: done + bytes, of: model.bytes() });
            };
            download(&client, &url, file, &path, &mut step).await?;
        }
        done += file.bytes;
        progress(Progress { file: file.name, bytes: done, of: model.bytes() });
    }
    Ok(folder)
}

async fn is_whole(path: &Path, file: &ModelFile) -> bool {
    let Ok(mut opened) = File::open(path).await else { return false };
    if !opened.metadata().await.is_ok_and(|meta| meta.len() == file.bytes) {
        return false;
    }
    let mut hash = Sha256::new();
    let mut piece = vec![0; 1 << 20];
    loop {
        match opened.read(&mut piece).await {
            Ok(0) => return hex::encode(hash.finalize()) == file.sha256,
            Ok(read) => hash.update(&piece[..read]),
            Err(_) => return false,
        }
    }
}

async fn download(
    client: &Client,
    url: &str,
    file: &ModelFile,
    path: &Path,
    step: &mut (dyn FnMut(u64) + Send),
) -> Result<(), ModelError> {
    let lost = |e: reqwest::Error| {
        // `reqwest` prints the URL it was redirected to, which may contain a signature.
        let why = innermost(&e.without_url());
        ModelError::Unavailable(format!(
            "{url} could not be downloaded completely ({why}); try again"
        ))
    };
    let mut response = client.get(url).send().await.map_err(lost)?;
    match response.status() {
        StatusCode::OK => {}
        status if status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS => {
            return Err(ModelError::Unavailable(format!("{url} answers {status}; try again")));
        }
        status => return Err(ModelError::Missing(format!("{url} answers {status}"))),
    }
    // Two processes may download the same file at once; each has its own temporary file.
    let part = Part(path.with_file_name(format!(".{}.{}.part", file.name, std::process::id())));
    let mut written = File::create(&part.0).await.map_err(|e| unwritable(&part.0, &e))?;
    let (mut hash, mut bytes) = (Sha256::new(), 0_u64);
    while let Some(piece) = response.chunk().await.map_err(lost)? {
        bytes += piece.len() as u64;
        if bytes > file.bytes {
            return Err(unexpected_file(url, &format!("is longer than {} bytes", file.bytes)));
        }
        hash.update(&piece);
        written.write_all(&piece).await.map_err(|e| unwritable(&part.0, &e))?;
        step(bytes);
    }
    if bytes != file.bytes {
        return Err(unexpected_file(url, &format!("has {bytes} bytes, not {}", file.bytes)));
    }
    let found = hex::encode(hash.finalize());
    if found != file.sha256 {
        return Err(unexpected_file(url, &format!("has SHA-256 {found}, not {}", file.sha256)));
    }
    written.sync_all().await.map_err(|e| unwritable(&part.0, &e))?;
    drop(written);
    fs::rename(&part.0, path).await.map_err(|e| unwritable(path, &e))
}

/// A temporary file. Removed when dropped; once renamed there is nothing left to remove.
struct Part(PathBuf);

impl Drop for Part {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn unexpected_file(url: &str, how: &str) -> ModelError {
    ModelError::Malformed(format!("{url} {how}: it is not the expected file and was discarded"))
}

fn unwritable(path: &Path, why: &std::io::Error) -> ModelError {
    ModelError::Missing(format!("{} cannot be written: {why}", path.display()))
}

/// The last cause: the outer errors of an HTTP client only say that there was one.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}
