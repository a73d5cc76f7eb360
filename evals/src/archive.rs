//! Fuzzes the import of export archives: files of real exports are mutated, packed with a matching
//! manifest, opened and imported. An archive is imported or refused as invalid; it may not fail
//! inside the server, take longer than a few seconds, or break later queries.

use std::collections::BTreeMap;
use std::io::{Cursor, Read as _, Write as _};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use lukasa_core::archive::{FileSum, MANIFEST, Manifest};
use lukasa_core::import::Format;
use lukasa_core::{Caller, NewTurn, Role};
use lukasa_engine::archive::{ImportOptions, ImportSource};
use lukasa_engine::context::ContextRequest;
use lukasa_engine::facts::{NewMemory, Target};
use lukasa_engine::{Error, Request};
use lukasa_models::scripted::{ScriptedChat, TestModels};
use lukasa_server::archive::{CheckedArchive, pack};
use rand::rngs::StdRng;
use rand::seq::IteratorRandom as _;
use rand::{Rng as _, SeedableRng as _};
use sha2::{Digest as _, Sha256};
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::learning::fixture::LearningFixture;
use crate::mutation::{Watchdog, mutate_lines};
use crate::vault::generate;

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    #[arg(long, default_value_t = 60)]
    pub seconds: u64,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Report a valid archive as a failure, which must be found.
    #[arg(long)]
    pub plant: bool,
}

/// Time limit for one archive.
const LIMIT: Duration = Duration::from_secs(10);
/// Number of archives imported for one user before a new user is taken.
const ARCHIVES_PER_USER: u64 = 20;

type Files = BTreeMap<String, Vec<u8>>;

pub async fn run(args: Args) -> Result<()> {
    let chat = ScriptedChat::saying(|_| "{}".into());
    let models = TestModels::that_chats(std::sync::Arc::new(chat));
    let fixture = LearningFixture::open(models, args.seed).await?;
    let files = exported(&fixture, args.seed).await?;
    let watchdog = Watchdog::start(LIMIT, args.seed);
    let started = Instant::now();
    let (mut rounds, mut malformed, mut invalid, mut imported) = (0_u64, 0_u64, 0_u64, 0_u64);
    while started.elapsed() < Duration::from_secs(args.seconds) {
        watchdog.round(rounds);
        let mut rng = StdRng::seed_from_u64(args.seed.wrapping_mul(1_000_003) ^ rounds);
        let bytes = pack_again(&mutated(&files, &mut rng), &mut rng)?;
        let caller = fixture.human(&format!("u{}", rounds / ARCHIVES_PER_USER));
        match import_mutated(&fixture, &caller, bytes, rounds).await {
            Ok(None) => malformed += 1,
            Ok(Some(false)) => invalid += 1,
            Ok(Some(true)) => imported += 1,
            Err(error) => {
                bail!("FOUND: round {rounds} with seed {}: {error:#}", args.seed);
            }
        }
        ensure!(!(args.plant && imported > 0), "FOUND: the planted fault");
        rounds += 1;
    }
    println!(
        "{rounds} mutated archives in {:.0} s, seed {}: {imported} imported, {invalid} invalid, \
         {malformed} malformed; none failed otherwise",
        started.elapsed().as_secs_f64(),
        args.seed
    );
    ensure!(!args.plant, "the planted fault was not found");
    ensure!(
        imported > 0 && invalid > 0 && malformed > 0,
        "the mutations are too weak or too strong"
    );
    Ok(())
}

/// Exports a user with data of every kind.
async fn exported(fixture: &LearningFixture, seed: u64) -> Result<Files> {
    let mut rng = StdRng::seed_from_u64(seed);
    let alice = fixture.human("alice");
    let mut saved = Vec::new();
    for number in 0..8 {
        let new = NewMemory { claim: generate::claim(&mut rng, number), ..NewMemory::saying("x") };
        let Ok(outcome) = fixture.engine.facts.save(&fixture.request(&alice), new).await else {
            continue;
        };
        saved.extend(outcome.memories.iter().map(|memory| memory.version.fact));
    }
    for pair in saved.windows(2).take(3) {
        let (from, to) = (Target::Id(pair[0]), Target::Id(pair[1]));
        fixture.engine.facts.link(&fixture.request(&alice), &from, &to, "relates_to").await?;
    }
    for chat in 0..3 {
        let turns =
            (0..4).map(|_| NewTurn::saying(Role::User, &generate::words(&mut rng))).collect();
        let request = fixture.request(&alice);
        fixture.engine.sessions.append_turns(&request, &format!("chat {chat}"), turns).await?;
    }
    let file = pack(&fixture.engine, &alice, fixture.moment().now).await?;
    let mut zip = ZipArchive::new(file)?;
    let mut files = Files::new();
    for index in 0..zip.len() {
        let mut file = zip.by_index(index)?;
        let name = file.name().context("a name")?.into_owned();
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        files.insert(name, bytes);
    }
    // Episodes need a chat model, so one is written by hand.
    let session = "chat 0";
    let at = fixture.moment().now;
    let mut ids = lukasa_core::Ids::new(at, [9; 16]);
    let mut episode = generate::episode(&mut rng, &mut ids, at);
    episode.session = session.to_owned();
    (episode.first_turn, episode.last_turn) = (1, 4);
    let line = serde_json::to_string(&episode)? + "\n";
    files.entry(lukasa_core::archive::EPISODES.to_owned()).or_default().extend(line.into_bytes());
    Ok(files)
}

fn mutated(files: &Files, rng: &mut StdRng) -> Files {
    let mut files = files.clone();
    // Some stay unchanged, so that some imports succeed.
    for _ in 0..rng.random_range(0..3) {
        let lines = files.iter_mut().filter(|(name, _)| name.contains(".json"));
        let Some((name, bytes)) = lines.choose(rng) else { continue };
        if name == MANIFEST {
            continue;
        }
        let text = String::from_utf8_lossy(bytes).into_owned();
        // A `.json` file is one value over several lines.
        let text = match serde_json::from_str::<serde_json::Value>(&text) {
            Ok(value) => value.to_string(),
            Err(_) => text,
        };
        *bytes = mutate_lines(&text, rng).into_bytes();
    }
    files
}

/// Packs the files with a matching manifest into a ZIP; now and then changes a few of its bytes.
fn pack_again(files: &Files, rng: &mut StdRng) -> Result<Vec<u8>> {
    let manifest = files.get(MANIFEST).context("a manifest")?;
    let mut manifest: Manifest = serde_json::from_slice(manifest)?;
    manifest.files.clear();
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in files.iter().filter(|(name, _)| *name != MANIFEST) {
        let lines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        let sha256 = hex::encode(Sha256::digest(bytes));
        let sum = FileSum { bytes: bytes.len() as u64, lines, sha256 };
        manifest.files.insert(name.clone(), sum);
        zip.start_file(name.as_str(), SimpleFileOptions::default())?;
        zip.write_all(bytes)?;
    }
    zip.start_file(MANIFEST, SimpleFileOptions::default())?;
    zip.write_all(&serde_json::to_vec(&manifest)?)?;
    let mut bytes = zip.finish()?.into_inner();
    if rng.random_bool(0.1) {
        for _ in 0..rng.random_range(1..8) {
            let at = rng.random_range(0..bytes.len());
            bytes[at] ^= 1 << rng.random_range(0..8);
        }
    }
    if rng.random_bool(0.03) {
        bytes.truncate(rng.random_range(0..bytes.len()));
    }
    Ok(bytes)
}

/// Opens and imports an archive, then runs a query. Returns `None` if it could not be opened, else
/// whether it was imported. Any other failure is an error.
async fn import_mutated(
    fixture: &LearningFixture,
    caller: &Caller,
    bytes: Vec<u8>,
    round: u64,
) -> Result<Option<bool>> {
    let opened =
        CheckedArchive::check(Cursor::new(bytes), lukasa_server::archive::MAX_UNPACKED_BYTES)
            .and_then(CheckedArchive::unpack);
    let Ok(archive) = opened else { return Ok(None) };
    let (digest, name) = (format!("round {round}"), "fuzz".to_owned());
    let source = ImportSource { format: Format::Lukasa, digest, name };
    let request = Request::new(caller.clone(), fixture.moment());
    // Every other one is trusted, so that both paths are tried.
    let how = ImportOptions { dry_run: false, trust: round.is_multiple_of(2) };
    match fixture.engine.archives.import_archive(&request, &source, archive, how).await {
        Ok(_) => {}
        Err(Error::Invalid(_) | Error::Refused(_)) => return Ok(Some(false)),
        Err(error) => bail!("the import failed with {}: {error:?}", error.code()),
    }
    let asked = fixture
        .engine
        .context
        .retrieve(caller, &ContextRequest::about("tea in Lisbon"), fixture.moment())
        .await;
    asked.context("the query after the import failed")?;
    Ok(Some(true))
}
