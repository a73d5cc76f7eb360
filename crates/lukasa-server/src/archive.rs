//! The ZIP file of an export: packs one from the engine's pages and opens an uploaded one. This
//! module knows files and their hashes; their contents are defined in `lukasa_core::archive`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};

use anyhow::{Context as _, anyhow, bail, ensure};
use lukasa_core::archive::{self, Contents, FileSum, MANIFEST, MARKDOWN, Manifest};
use lukasa_core::{Caller, StateHash, Timestamp};
use lukasa_engine::archive::{Archive, Blocks, ExportSnapshot};
use lukasa_engine::vault::FileSink;
use lukasa_engine::{Engine, Error};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Limit of the total unpacked size when the command line checks an export. A server has its own,
/// smaller limit.
pub const MAX_UNPACKED_BYTES: u64 = 512 * 1024 * 1024;
/// Highest accepted compression ratio of a file; a higher one indicates a ZIP bomb.
const MAX_RATIO: u64 = 200;
/// Files up to this unpacked size may have any ratio.
const RATIO_FREE_BYTES: u64 = 1024 * 1024;
/// Most lines of one file.
const MAX_LINES: u64 = 500_000;
/// Most files of one archive.
const MAX_FILES: usize = 10_000;

/// A ZIP that is being written, with the checksums of the files written so far.
struct Packer {
    zip: ZipWriter<BufWriter<File>>,
    files: BTreeMap<String, FileSum>,
    name: String,
    sum: FileSum,
    hash: Sha256,
}

impl Packer {
    fn begin() -> anyhow::Result<Self> {
        Ok(Self {
            zip: ZipWriter::new(BufWriter::new(tempfile::tempfile()?)),
            files: BTreeMap::new(),
            name: String::new(),
            sum: FileSum::default(),
            hash: Sha256::new(),
        })
    }

    /// Begins the next file. Its date is constant, so that equal states produce equal archives.
    fn file(&mut self, name: &str) -> anyhow::Result<()> {
        self.close();
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
        self.zip.start_file(name, options.last_modified_time(zip::DateTime::default()))?;
        name.clone_into(&mut self.name);
        Ok(())
    }

    /// Ends the current file and records its checksum.
    fn close(&mut self) {
        if self.name.is_empty() {
            return;
        }
        let sha256 = hex::encode(std::mem::take(&mut self.hash).finalize());
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

/// Writes a user's memory into a ZIP in an unnamed temporary file, which the system removes when it
/// is closed.
pub async fn pack(engine: &Engine, caller: &Caller, now: Timestamp) -> anyhow::Result<File> {
    let export = engine.archives.export(caller, now).await?;
    let state = export.summary().await?.hash;
    let mut packing = Packer::begin()?;
    packing.file(archive::README)?;
    packing.write(archive::README_TEXT.as_bytes())?;
    packing = export.write_pages(now, MarkdownPages(packing)).await?.0;
    packing = pack_rows(packing, &export).await?;
    packing.json(archive::POLICY, &export.policy().await?)?;
    packing.json(archive::DOMAINS, &export.domains().await?)?;
    packing.close();
    let manifest = Manifest::of(now, state, std::mem::take(&mut packing.files));
    // Ends the export's transaction: signing may need its own connection.
    drop(export);
    let manifest = engine.signatures.sign_manifest(caller.tenant, caller.user, manifest).await?;
    packing.json(MANIFEST, &manifest)?;
    let mut file = packing.zip.finish()?.into_inner().map_err(|error| error.into_error())?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file)
}

/// Writes rows into a ZIP that no server has signed: only a human can vouch for it when it is imported.
pub fn pack_unsigned(
    contents: &Contents,
    usage: &[serde_json::Value],
    now: Timestamp,
) -> anyhow::Result<Vec<u8>> {
    let mut packing = Packer::begin()?;
    packing.file(archive::MEMORIES)?;
    packing.lines(&contents.versions)?;
    packing.file(archive::LINKS)?;
    packing.lines(&contents.links)?;
    packing.file(archive::OPERATIONS)?;
    packing.lines(&contents.operations)?;
    packing.file(archive::SESSIONS)?;
    packing.lines(&contents.sessions)?;
    packing.file(archive::TURNS)?;
    packing.lines(&contents.turns)?;
    packing.file(archive::USAGE)?;
    packing.lines(usage)?;
    packing.json(archive::POLICY, &lukasa_core::policy::Patch::default())?;
    packing.json(archive::DOMAINS, &Vec::<archive::DomainLine>::new())?;
    packing.close();
    // The hash of a state without an export is unknown.
    let [memories, episodes, sessions, observations] = [const { String::new() }; 4];
    let state = StateHash { memories, episodes, sessions, observations };
    let manifest = Manifest::of(now, state, std::mem::take(&mut packing.files));
    packing.json(MANIFEST, &manifest)?;
    let mut file = packing.zip.finish()?.into_inner().map_err(|error| error.into_error())?;
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Receives the readable pages, which are in a folder of the archive.
struct MarkdownPages(Packer);

impl FileSink for MarkdownPages {
    fn begin(&mut self, path: &str) -> io::Result<()> {
        self.0.file(&format!("{MARKDOWN}{path}")).map_err(io::Error::other)
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        self.0.write(text.as_bytes()).map_err(io::Error::other)
    }
}

/// Writes a file of lines, block by block.
async fn pack_lines<T: Serialize + Send + 'static>(
    mut packing: Packer,
    name: &'static str,
    export: &ExportSnapshot,
    mut blocks: Blocks<T>,
) -> anyhow::Result<Packer> {
    packing.file(name)?;
    while let Some(block) = blocks.next().await.map_err(Error::from)? {
        let pack = move || packing.lines(&block.rows).map(|()| packing);
        packing = export.run(pack).await??;
    }
    Ok(packing)
}

async fn pack_rows(mut packing: Packer, export: &ExportSnapshot) -> anyhow::Result<Packer> {
    for (name, trashed) in [(archive::MEMORIES, false), (archive::TRASH, true)] {
        packing = pack_lines(packing, name, export, export.memories(trashed).await?).await?;
    }
    packing = pack_lines(packing, archive::LINKS, export, export.links().await?).await?;
    let operations = export.operations().await?;
    packing = pack_lines(packing, archive::OPERATIONS, export, operations).await?;
    packing = pack_lines(packing, archive::EPISODES, export, export.episodes().await?).await?;
    packing = pack_lines(packing, archive::SESSIONS, export, export.sessions().await?).await?;
    packing = pack_lines(packing, archive::TURNS, export, export.turns().await?).await?;
    let observations = export.observations().await?;
    packing = pack_lines(packing, archive::OBSERVATIONS, export, observations).await?;
    pack_lines(packing, archive::USAGE, export, export.usage().await?).await
}

/// An uploaded export whose files were checked against its manifest.
pub struct CheckedArchive<R> {
    zip: ZipArchive<R>,
    pub manifest: Manifest,
    unpacked_bytes: u64,
}

impl<R: Read + Seek> CheckedArchive<R> {
    /// Opens an export of at most `max_bytes` unpacked bytes and checks every file of it. Files that
    /// differ from the manifest are an error.
    pub fn check(from: R, max_bytes: u64) -> anyhow::Result<Self> {
        let mut zip = ZipArchive::new(from).context("not a readable ZIP file")?;
        ensure!(zip.len() <= MAX_FILES, "the archive has more than {MAX_FILES} files");
        let mut left = max_bytes;
        let mut found = BTreeMap::new();
        let mut manifest = None;
        for index in 0..zip.len() {
            let mut file = zip.by_index(index).context("a file in the ZIP cannot be read")?;
            let name = file.name().context("a file in the ZIP has no name")?.into_owned();
            if name == MANIFEST {
                ensure!(manifest.is_none(), "{name} occurs twice in the archive");
                let text = read(&mut file, &mut left)?;
                let read = serde_json::from_slice::<Manifest>(&text);
                manifest = Some(read.context("manifest.json cannot be read")?);
                continue;
            }
            let packed = file.compressed_size();
            let sum = sum_of(&mut file, &mut left).with_context(|| format!("in {name}"))?;
            ensure!(
                is_plausible(sum.bytes, packed),
                "{name} expands to more than {MAX_RATIO} times its packed size"
            );
            ensure!(sum.lines <= MAX_LINES, "{name} has more than {MAX_LINES} lines");
            let previous = found.insert(name.clone(), sum);
            ensure!(previous.is_none(), "{name} occurs twice in the archive");
        }
        let Some(manifest) = manifest else {
            bail!("the archive has no manifest.json, so it is not an export of Lukasa");
        };
        let faults = manifest.differences(&found);
        ensure!(faults.is_empty(), "{}", faults.join("; "));
        Ok(Self { zip, manifest, unpacked_bytes: max_bytes - left })
    }

    /// Total unpacked size of its files.
    pub fn unpacked_bytes(&self) -> u64 {
        self.unpacked_bytes
    }

    /// Reads everything that can be imported.
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
            observations: self.lines(archive::OBSERVATIONS)?,
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
        // The error names only the line: its content must not reach a log.
        lines.collect::<Result<_, _>>().map_err(|e| anyhow!("{name}: line {}", e.line()))
    }

    /// The bytes of a file; empty if the archive does not have it.
    pub fn read(&mut self, name: &str) -> anyhow::Result<Vec<u8>> {
        let Ok(mut file) = self.zip.by_name(name) else { return Ok(Vec::new()) };
        read(&mut file, &mut { self.unpacked_bytes })
    }
}

/// Reads a file to its end; fails if it has more than `left` bytes. Subtracts its size from `left`.
pub fn read(file: &mut impl Read, left: &mut u64) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let count = file.take(*left + 1).read_to_end(&mut bytes)? as u64;
    spend(left, count)?;
    Ok(bytes)
}

/// Whether the compression ratio is one that an export can have.
fn is_plausible(unpacked: u64, packed: u64) -> bool {
    unpacked <= RATIO_FREE_BYTES || unpacked <= packed.saturating_mul(MAX_RATIO)
}

fn spend(left: &mut u64, count: u64) -> anyhow::Result<()> {
    match left.checked_sub(count) {
        Some(rest) => *left = rest,
        None => bail!("the archive expands to more than is allowed"),
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
    sum.sha256 = hex::encode(hash.finalize());
    Ok(sum)
}

fn count_lines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archive_with_an_implausible_ratio_is_refused() {
        assert!(is_plausible(900_000, 10));
        assert!(is_plausible(100 << 20, 1 << 20));
        assert!(!is_plausible(512 << 20, 2 << 20));
    }

    #[test]
    fn archive_larger_than_the_limit_is_not_read_to_its_end() {
        let mut left = 10;
        assert_eq!(read(&mut &[7; 4][..], &mut left).unwrap(), [7; 4]);
        assert!(read(&mut &[7; 7][..], &mut left).is_err(), "six were left");
        assert!(sum_of(&mut &[7; 7][..], &mut { 6 }).is_err());
        // An endless file is read only up to the limit.
        assert!(read(&mut std::io::repeat(0), &mut { 1_000 }).is_err());
        assert!(sum_of(&mut std::io::repeat(0), &mut { 1_000 }).is_err());
    }
}
