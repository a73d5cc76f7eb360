//! The ZIP around an export: packs one from the engine's pages, and opens one that somebody sent. It
//! knows files and their hashes; what they mean is the core's business.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};

use anyhow::{Context as _, anyhow, bail, ensure};
use lukasa_core::archive::{self, Contents, FileSum, MANIFEST, MARKDOWN, Manifest};
use lukasa_core::{Caller, Timestamp};
use lukasa_engine::Engine;
use lukasa_engine::moving::{Archive, Export};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// How many bytes the files of an export may have together once they are unpacked, where the command
/// line checks one. A server has a smaller limit of its own.
pub const UNPACKED_BYTES: u64 = 512 * 1024 * 1024;
/// A file that unpacks to more than so many times its packed size was made to do harm.
const MAX_RATIO: u64 = 200;
/// A file up to this size may have any ratio.
const RATIO_FREE_BYTES: u64 = 1024 * 1024;
/// How many lines one file may have.
const MAX_LINES: u64 = 500_000;
/// How many files it may have.
const FILES: usize = 10_000;

/// A ZIP that is being written, and the sums of what is in it so far.
struct Packing {
    zip: ZipWriter<BufWriter<File>>,
    files: BTreeMap<String, FileSum>,
    name: String,
    sum: FileSum,
    hash: Sha256,
}

impl Packing {
    fn begin() -> anyhow::Result<Self> {
        Ok(Self {
            zip: ZipWriter::new(BufWriter::new(tempfile::tempfile()?)),
            files: BTreeMap::new(),
            name: String::new(),
            sum: FileSum::default(),
            hash: Sha256::new(),
        })
    }

    /// Begins the next file. Its date is always the same one, so that equal states make equal files.
    fn file(&mut self, name: &str) -> anyhow::Result<()> {
        self.close();
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        self.zip.start_file(name, options.last_modified_time(zip::DateTime::default()))?;
        name.clone_into(&mut self.name);
        Ok(())
    }

    /// Takes down the sums of the file that was written.
    fn close(&mut self) {
        if self.name.is_empty() {
            return;
        }
        let sha256 = hex(&std::mem::take(&mut self.hash).finalize());
        let sum = FileSum { sha256, ..std::mem::take(&mut self.sum) };
        self.files.insert(std::mem::take(&mut self.name), sum);
    }

    fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.sum.bytes += bytes.len() as u64;
        self.sum.lines += count_lines(bytes);
        self.hash.update(bytes);
        Ok(self.zip.write_all(bytes)?)
    }

    fn lines<T: Serialize>(&mut self, items: &[T]) -> anyhow::Result<()> {
        let mut bytes = Vec::new();
        for item in items {
            serde_json::to_writer(&mut bytes, item)?;
            bytes.push(b'\n');
        }
        self.write(&bytes)
    }

    fn json<T: Serialize>(&mut self, name: &str, value: &T) -> anyhow::Result<()> {
        self.file(name)?;
        let mut bytes = serde_json::to_vec_pretty(value)?;
        bytes.push(b'\n');
        self.write(&bytes)
    }
}

/// Writes a user's memory into a ZIP, in a file that nobody else can open and that goes when it is
/// closed.
pub async fn pack(engine: &Engine, caller: &Caller, now: Timestamp) -> anyhow::Result<File> {
    let export = engine.export(caller, now).await?;
    let state = export.whole().await?.hash;
    let mut packing = Packing::begin()?;
    packing.file(archive::README)?;
    packing.write(archive::README_TEXT.as_bytes())?;
    pack_markdown(&mut packing, &export, now).await?;
    pack_rows(&mut packing, &export).await?;
    packing.json(archive::POLICY, &export.policy().await?)?;
    packing.json(archive::DOMAINS, &export.domains().await?)?;
    packing.close();
    let manifest = Manifest::of(now, state, std::mem::take(&mut packing.files));
    // The transaction of the export is done with; signing may need a connection of its own.
    drop(export);
    let manifest = engine.sign_manifest(caller.tenant, caller.user, manifest).await?;
    packing.json(MANIFEST, &manifest)?;
    let mut file = packing.zip.finish()?.into_inner().map_err(|error| error.into_error())?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}

async fn pack_markdown(
    packing: &mut Packing,
    export: &Export,
    now: Timestamp,
) -> anyhow::Result<()> {
    for page in export.pages(now).await? {
        packing.file(&format!("{MARKDOWN}{}", page.path))?;
        packing.write(page.content.as_bytes())?;
    }
    Ok(())
}

/// Writes a file of lines, page by page: `$page` is the next page after the last row of the one before.
macro_rules! paged {
    ($packing:ident, $name:expr, |$last:ident| $page:expr) => {
        $packing.file($name)?;
        let mut rows = Vec::new();
        loop {
            let page = {
                let $last = rows.last();
                $page.await?
            };
            if page.is_empty() {
                break;
            }
            $packing.lines(&page)?;
            rows = page;
        }
    };
}

async fn pack_rows(packing: &mut Packing, export: &Export) -> anyhow::Result<()> {
    use lukasa_core::{Episode, Link, Operation, Session, Turn, Version};
    for (name, trashed) in [(archive::MEMORIES, false), (archive::TRASH, true)] {
        paged!(packing, name, |last| export.memories(last.map(|v: &Version| v.fact), trashed));
    }
    paged!(packing, archive::LINKS, |last| export.links(last.map(|link: &Link| link.id)));
    paged!(packing, archive::OPERATIONS, |last| export
        .operations(last.map(|operation: &Operation| operation.at)));
    paged!(packing, archive::EPISODES, |last| export
        .episodes(last.map(|episode: &Episode| episode.id)));
    paged!(packing, archive::SESSIONS, |last| export
        .sessions(last.map(|session: &Session| session.id.as_str())));
    paged!(packing, archive::TURNS, |last| export
        .turns(last.map(|turn: &Turn| (turn.session.as_str(), turn.number))));
    paged!(packing, archive::USAGE, |last| export.usage(last));
    Ok(())
}

/// An export that somebody brought, its manifest checked against what is really in it.
pub struct Opened<R> {
    zip: ZipArchive<R>,
    pub manifest: Manifest,
    unpacked_bytes: u64,
}

impl<R: Read + Seek> Opened<R> {
    /// Opens an export of at most so many bytes and checks every file of it. What differs from the
    /// manifest is reported, not read.
    pub fn check(from: R, max_bytes: u64) -> anyhow::Result<Self> {
        let mut zip = ZipArchive::new(from).context("this is not a ZIP that can be read")?;
        ensure!(zip.len() <= FILES, "more than {FILES} files");
        let mut left = max_bytes;
        let mut found = BTreeMap::new();
        let mut manifest = None;
        for index in 0..zip.len() {
            let mut file = zip.by_index(index).context("a file in it cannot be read")?;
            let name = file.name().context("a file in it has no name")?.into_owned();
            if name == MANIFEST {
                ensure!(manifest.is_none(), "{name} is there twice");
                let text = read(&mut file, &mut left)?;
                let read = serde_json::from_slice::<Manifest>(&text);
                manifest = Some(read.context("manifest.json cannot be read")?);
                continue;
            }
            let packed = file.compressed_size();
            let sum = sum_of(&mut file, &mut left).with_context(|| format!("in {name}"))?;
            ensure!(is_plausible(sum.bytes, packed), "{name} unpacks to too much");
            ensure!(sum.lines <= MAX_LINES, "{name} has more than {MAX_LINES} lines");
            ensure!(found.insert(name.clone(), sum).is_none(), "{name} is there twice");
        }
        let Some(manifest) = manifest else {
            bail!("there is no manifest.json in it, so it is not an export of Lukasa");
        };
        let faults = manifest.differences(&found);
        ensure!(faults.is_empty(), "{}", faults.join("; "));
        Ok(Self { zip, manifest, unpacked_bytes: max_bytes - left })
    }

    /// How many bytes its files have together once they are unpacked.
    pub fn unpacked_bytes(&self) -> u64 {
        self.unpacked_bytes
    }

    /// Everything that can be taken in again.
    pub fn unpack(mut self) -> anyhow::Result<Archive> {
        let mut versions = self.lines(archive::MEMORIES)?;
        versions.extend(self.lines(archive::TRASH)?);
        let contents = Contents {
            versions,
            links: self.lines(archive::LINKS)?,
            operations: self.lines(archive::OPERATIONS)?,
            episodes: self.lines(archive::EPISODES)?,
            sessions: self.lines(archive::SESSIONS)?,
            turns: self.lines(archive::TURNS)?,
        };
        let usage = self.lines(archive::USAGE)?;
        let policy = serde_json::from_slice(&self.read(archive::POLICY)?).context("policy.json")?;
        let domains =
            serde_json::from_slice(&self.read(archive::DOMAINS)?).context("domains.json")?;
        Ok(Archive { contents, usage, policy, domains, manifest: Some(self.manifest) })
    }

    fn lines<T: DeserializeOwned>(&mut self, name: &str) -> anyhow::Result<Vec<T>> {
        let bytes = self.read(name)?;
        let lines = serde_json::Deserializer::from_slice(&bytes).into_iter();
        // The error names a place and no words.
        lines.collect::<Result<_, _>>().map_err(|e| anyhow!("{name}: line {}", e.line()))
    }

    /// The bytes of a file; none if it is not there.
    pub fn read(&mut self, name: &str) -> anyhow::Result<Vec<u8>> {
        let Ok(mut file) = self.zip.by_name(name) else { return Ok(Vec::new()) };
        read(&mut file, &mut { self.unpacked_bytes })
    }
}

/// Reads a file to its end, or to where it becomes too long.
pub fn read(file: &mut impl Read, left: &mut u64) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let count = file.take(*left + 1).read_to_end(&mut bytes)? as u64;
    spend(left, count)?;
    Ok(bytes)
}

/// Whether a file of so many bytes can have been packed into so few by an export.
fn is_plausible(unpacked: u64, packed: u64) -> bool {
    unpacked <= RATIO_FREE_BYTES || unpacked <= packed.saturating_mul(MAX_RATIO)
}

fn spend(left: &mut u64, count: u64) -> anyhow::Result<()> {
    match left.checked_sub(count) {
        Some(rest) => *left = rest,
        None => bail!("it unpacks to more than is allowed"),
    }
    Ok(())
}

fn sum_of(file: &mut impl Read, left: &mut u64) -> anyhow::Result<FileSum> {
    let (mut sum, mut hash, mut buffer) = (FileSum::default(), Sha256::new(), vec![0; 64 * 1024]);
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        spend(left, count as u64)?;
        sum.bytes += count as u64;
        sum.lines += count_lines(&buffer[..count]);
        hash.update(&buffer[..count]);
    }
    sum.sha256 = hex(&hash.finalize());
    Ok(sum)
}

fn count_lines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_with_an_implausible_ratio_is_refused() {
        assert!(is_plausible(900_000, 10));
        assert!(is_plausible(100 << 20, 1 << 20));
        assert!(!is_plausible(512 << 20, 2 << 20));
    }

    #[test]
    fn what_unfolds_too_far_is_not_read_to_its_end() {
        let mut left = 10;
        assert_eq!(read(&mut &[7; 4][..], &mut left).unwrap(), [7; 4]);
        assert!(read(&mut &[7; 7][..], &mut left).is_err(), "six were left");
        assert!(sum_of(&mut &[7; 7][..], &mut { 6 }).is_err());
        // One that never ends costs no more than what may be spent.
        assert!(read(&mut std::io::repeat(0), &mut { 1_000 }).is_err());
        assert!(sum_of(&mut std::io::repeat(0), &mut { 1_000 }).is_err());
    }
}
