//! `lukasa export`

use std::fs::File;
use std::io::{BufReader, BufWriter, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;

use super::client::ServerArgs;
use super::{FormatArgs, say, say_json};
use crate::archive::{CheckedArchive, MAX_UNPACKED_BYTES};
use crate::clock;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lukasa export                         into lukasa-2026-11-15.zip, by today's date
  lukasa export alice.zip --user alice
  lukasa export --verify alice.zip      check every hash; needs no server

The ZIP has JSON lines for programs, markdown for people, and a README. `lukasa import FILE.zip` restores
it on the same server, `lukasa import --trust FILE.zip` on another one; `lukasa state` then shows the same
hashes. docs/export-import.md documents every field.")]
pub struct ExportArgs {
    /// The file to write or to verify
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Verify an export instead of writing one
    #[arg(long, requires = "file")]
    verify: bool,
    /// Overwrite an existing file
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    format: FormatArgs,
}

impl ExportArgs {
    pub async fn run(self) -> anyhow::Result<()> {
        let file = match &self.file {
            Some(file) => file.clone(),
            None => format!("lukasa-{}.zip", clock::now().strftime("%Y-%m-%d")).into(),
        };
        if self.verify {
            return self.check(&file);
        }
        if file.exists() && !self.force {
            bail!(
                "{} exists already\n  next: name another file, or overwrite it with --force",
                file.display()
            );
        }
        let bytes = self.fetch(&file).await?;
        let manifest = open(&file)?.manifest;
        if self.format.json {
            let manifest = serde_json::to_value(manifest)?;
            return say_json(&json!({ "file": file, "bytes": bytes, "manifest": manifest }));
        }
        say(&format!("{} ({} KB), checked", file.display(), bytes.div_ceil(1024)))
    }

    fn check(&self, file: &Path) -> anyhow::Result<()> {
        let manifest = open(file)?.manifest;
        let (files, at) = (manifest.files.len(), manifest.exported_at);
        let signed_by = manifest.signature.as_ref().map(|signature| signature.public_key.clone());
        if self.format.json {
            let manifest = serde_json::to_value(manifest)?;
            return say_json(&json!({
                "ok": true, "file": file, "manifest": manifest, "signed_by": signed_by,
            }));
        }
        say(&format!("{}: {files} files, all unchanged since the export at {at}", file.display()))?;
        match signed_by {
            Some(key) => say(&format!(
                "signed with the key {key}; a server checks the signature when it imports the file"
            )),
            None => say("not signed: `lukasa import` trusts its origins only with --trust"),
        }
    }

    /// Downloads into a temporary file and renames it, so that a partial export never has the name.
    async fn fetch(&self, file: &Path) -> anyhow::Result<u64> {
        let mut response = self.server.open("/api/export").await?;
        let bar = progress(response.content_length());
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        let part = tempfile::NamedTempFile::new_in(folder)
            .with_context(|| format!("cannot write into {}", folder.display()))?;
        let (mut out, mut bytes) = (BufWriter::new(part), 0);
        while let Some(piece) = response.chunk().await.context("the download was interrupted")? {
            out.write_all(&piece)?;
            bytes += piece.len() as u64;
            bar.set_position(bytes);
        }
        let part = out.into_inner().map_err(|error| error.into_error())?;
        part.as_file().sync_all()?;
        part.persist(file).with_context(|| format!("cannot write {}", file.display()))?;
        bar.finish_and_clear();
        Ok(bytes)
    }
}

fn open(file: &Path) -> anyhow::Result<CheckedArchive<BufReader<File>>> {
    let opened = File::open(file).with_context(|| format!("cannot open {}", file.display()))?;
    CheckedArchive::check(BufReader::new(opened), MAX_UNPACKED_BYTES)
        .with_context(|| format!("{} is damaged", file.display()))
}

/// A progress bar for this many bytes; hidden if standard error is not a terminal.
fn progress(bytes: Option<u64>) -> ProgressBar {
    match bytes.filter(|_| std::io::stderr().is_terminal()) {
        None => ProgressBar::hidden(),
        Some(bytes) => {
            let style = ProgressStyle::with_template("{bytes}/{total_bytes} {wide_bar} {eta}");
            let bar = ProgressBar::new(bytes);
            if let Ok(style) = style { bar.with_style(style) } else { bar }
        }
    }
}
