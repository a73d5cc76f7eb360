//! Vault round trips: for many users, random edits in their files are synced, and then everything
//! is exported, wiped and imported again. The state must be the same, to the hash.

mod edits;
pub mod fuzz;
pub mod generate;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use lukasa_core::vault::{self, BASE, File};
use lukasa_core::{Caller, Edit, FactId, Origin, State, TenantId, Tier, Timestamp};
use lukasa_engine::facts::{NewMemory, Target, Update};
use lukasa_engine::{Engine, Moment, Request};
use lukasa_store::testing::TestDatabase;
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use tokio_postgres::Client;

/// A planted fault that must be found, to show that the checks work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Plant {
    /// One tag is lost on the way.
    LoseTag,
    /// Two lines of an export have changed places.
    WrongOrder,
    /// Something forgotten is missing from the base.
    DropForgotten,
    /// An edit is lost before it is synced.
    LoseEdit,
    /// An episode is missing from the base.
    DropEpisode,
}

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    #[arg(long, default_value_t = 20)]
    pub users: usize,
    /// Number of edits per user.
    #[arg(long, default_value_t = 200)]
    pub edits: usize,
    /// Number of syncs.
    #[arg(long, default_value_t = 4)]
    pub syncs: usize,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[arg(long, default_value_t = 2)]
    pub workers: usize,
    /// Plant a fault, which must be found.
    #[arg(long)]
    pub plant: Option<Plant>,
}

/// The first day, in seconds.
const START: i64 = 1_767_225_600;

#[derive(Default)]
struct Tally {
    edits: AtomicUsize,
    changes: AtomicUsize,
    syncs: AtomicUsize,
    memories: AtomicUsize,
    episodes: AtomicUsize,
    problems: AtomicUsize,
}

pub async fn run(args: Args) -> Result<()> {
    let started = Instant::now();
    let database = TestDatabase::fresh().await;
    if args.plant.is_some() {
        database.leave_unchecked();
    }
    let admin = Arc::new(database.admin().await);
    let relax = "do $$ begin execute format('alter database %I set synchronous_commit = off', \
                 current_database()); end $$";
    admin.batch_execute(relax).await.context("synchronous_commit")?;
    let engine = Engine::connect(&database.connect()).context("engine")?;
    let tenant = engine.credentials.ensure_tenant("vaults", at(0)).await?;
    let (next, tally) = (Arc::new(AtomicUsize::new(0)), Arc::new(Tally::default()));
    let mut workers = Vec::new();
    for _ in 0..args.workers.max(1) {
        let (engine, admin, args) = (engine.clone(), admin.clone(), args.clone());
        let (next, tally) = (next.clone(), tally.clone());
        workers.push(tokio::spawn(async move {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= args.users {
                    return Ok::<(), anyhow::Error>(());
                }
                let mut vault_user = VaultUser::new(&engine, &admin, tenant, &args, number, &tally);
                let result = vault_user.run_all().await;
                result.with_context(|| format!("user {number}, seed {}", args.seed))?;
                if number % 50 == 49 {
                    eprintln!(
                        "vault: {} users, {:.0} s",
                        number + 1,
                        started.elapsed().as_secs_f32()
                    );
                }
            }
        }));
    }
    for worker in workers {
        worker.await??;
    }
    let figure = |count: &AtomicUsize| count.load(Ordering::Relaxed);
    println!(
        "users {}, edits {}, syncs {}, changes taken in {}, refused and left alone {}",
        args.users,
        figure(&tally.edits),
        figure(&tally.syncs),
        figure(&tally.changes),
        figure(&tally.problems),
    );
    println!(
        "wiped and restored with the same hashes: {} memories, {} episodes; {:.0} s, seed {}",
        figure(&tally.memories),
        figure(&tally.episodes),
        started.elapsed().as_secs_f32(),
        args.seed
    );
    if let Some(plant) = args.plant {
        bail!("the planted fault {plant:?} could not be planted");
    }
    Ok(())
}

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(START + second).unwrap_or(Timestamp::UNIX_EPOCH)
}

/// One user, their memory and their folder.
struct VaultUser<'a> {
    engine: &'a Engine,
    admin: &'a Client,
    tenant: TenantId,
    args: &'a Args,
    tally: &'a Tally,
    name: String,
    rng: StdRng,
    second: AtomicU64,
}

impl<'a> VaultUser<'a> {
    fn new(
        engine: &'a Engine,
        admin: &'a Client,
        tenant: TenantId,
        args: &'a Args,
        number: usize,
        tally: &'a Tally,
    ) -> Self {
        let rng = StdRng::seed_from_u64(args.seed.wrapping_mul(1_000_003) ^ number as u64);
        let name = format!("user-{number}");
        Self { engine, admin, tenant, args, tally, name, rng, second: AtomicU64::new(0) }
    }

    fn now(&self) -> Timestamp {
        at(i64::try_from(self.second.load(Ordering::Relaxed)).unwrap_or(0))
    }

    fn me(&self) -> Caller {
        Caller::human(self.tenant, &self.name, "local")
    }

    fn request(&mut self, caller: Caller) -> Request {
        self.second.fetch_add(1, Ordering::Relaxed);
        Request::new(caller, Moment { now: self.now(), seed: self.rng.random() })
    }

    fn mine(&mut self) -> Request {
        let me = self.me();
        self.request(me)
    }

    async fn run_all(&mut self) -> Result<()> {
        self.fill().await?;
        let mut files = self.export().await?;
        let mut edited = 0;
        for sync in 0..self.args.syncs.max(1) {
            let left = self.args.edits - edited;
            let count = left / (self.args.syncs.max(1) - sync);
            files = self.edit_and_sync(files, count).await?;
            edited += count;
        }
        self.round_trip().await
    }

    /// Creates memories of every kind, with the verbs that create them.
    async fn fill(&mut self) -> Result<()> {
        let mut facts: Vec<FactId> = Vec::new();
        for number in 0..24 {
            let claim = generate::claim(&mut self.rng, number);
            let mut new = NewMemory { claim, ..NewMemory::saying("") };
            let now = self.now();
            let hours = |hours| jiff::SignedDuration::from_hours(hours);
            if self.rng.random_bool(0.2) {
                new.valid_from = Some(now - hours(self.rng.random_range(1..9_000)));
            }
            if self.rng.random_bool(0.2) {
                new.valid_until = Some(now + hours(self.rng.random_range(1_000..9_000)));
            }
            let caller = match number % 4 {
                0 => Caller::key(self.tenant, &self.name, "k", Origin::Assistant),
                1 => {
                    new.confidence = Some(self.rng.random_range(0.0..=1.0));
                    (new.tier, new.session) = (Tier::Tentative, Some("s1".to_owned()));
                    new.turns = vec!["t1".to_owned()];
                    Caller::extractor(self.tenant, &self.name, Origin::UserTurn)
                }
                _ => self.me(),
            };
            let request = self.request(caller);
            let saved = match number % 6 {
                5 => self.engine.facts.propose(&request, new).await?,
                _ => self.engine.facts.save(&request, new).await?,
            };
            let version = &saved.memories.first().context("a memory")?.version;
            // A proposal cannot be changed before it is confirmed.
            if version.state == State::Active {
                facts.push(version.fact);
            }
        }
        for (place, fact) in facts.clone().into_iter().enumerate() {
            let target = Target::Id(fact);
            let request = self.mine();
            match place % 7 {
                1 => drop(self.engine.removals.forget(&request, &target).await?),
                2 => {
                    let update = Update::change(Edit::content(&generate::words(&mut self.rng)));
                    self.engine.facts.update(&request, &target, update).await?;
                }
                3 if place > 3 => drop(self.engine.removals.delete(&request, &target).await?),
                4 => {
                    let other = Target::Id(facts[place - 1 - place % 2]);
                    // A removed memory cannot be linked, which does not matter here.
                    let _ = self.engine.facts.link(&request, &target, &other, "relates_to").await;
                }
                _ => {}
            }
        }
        let mut ids = lukasa_core::Ids::new(self.now(), self.rng.random());
        for _ in 0..3 {
            let episode = generate::episode(&mut self.rng, &mut ids, at(0));
            self.keep_episode(&episode).await?;
        }
        Ok(())
    }

    /// Inserts an episode as learning would have written it.
    async fn keep_episode(&self, episode: &lukasa_core::Episode) -> Result<()> {
        let sql = "insert into episode (user_id, tenant_id, episode_id, session_id, first_turn, \
                   last_turn, title, summary, origin, started_at, ended_at, pass_id, prompt, \
                   recorded_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
        let (user, tenant) = (self.me().user.uuid(), self.tenant.uuid());
        self.admin
            .execute(
                sql,
                &[
                    &user,
                    &tenant,
                    &episode.id.uuid(),
                    &episode.session,
                    &episode.first_turn,
                    &episode.last_turn,
                    &episode.title,
                    &episode.summary,
                    &episode.origin.as_str(),
                    &episode.started_at,
                    &episode.ended_at,
                    &episode.pass.uuid(),
                    &episode.prompt,
                    &episode.recorded_at,
                ],
            )
            .await?;
        Ok(())
    }

    async fn export(&mut self) -> Result<Vec<File>> {
        let (me, now) = (self.me(), self.now());
        let first = self.engine.vault.export(&me, Vec::new(), now, Vec::new()).await?;
        let mut second = self.engine.vault.export(&me, Vec::new(), now, Vec::new()).await?;
        if self.args.plant == Some(Plant::WrongOrder) {
            swap_lines(&mut second);
        }
        ensure!(first == second, "two exports of one memory differ");
        Ok(first)
    }

    async fn edit_and_sync(&mut self, mut files: Vec<File>, count: usize) -> Result<Vec<File>> {
        let (mut edited, expected) = edits::edit(&mut files, count, &mut self.rng);
        if self.args.plant == Some(Plant::LoseEdit) {
            edited.clone_from(&files);
        }
        let request = self.mine();
        let synced = self.engine.vault.apply(&request, &edited, false, Vec::new()).await?;
        ensure!(
            synced.plan.conflicts.is_empty(),
            "a conflict without another writer: {:?}",
            synced.plan.conflicts
        );
        let held = |fact: &FactId| synced.plan.held.contains(fact);
        let base = vault::read(&synced.files).base;
        let id = |mark: &str| format!("mem_{mark}").parse::<FactId>();
        for (mark, should) in &expected.lines {
            let fact = id(mark).context("a mark")?;
            let is = base.memories.iter().find(|b| b.memory.fact == fact && b.file.is_some());
            let is =
                is.map(|b| (b.memory.claim.content.clone(), b.file.clone().unwrap_or_default()));
            ensure!(held(&fact) || is == *should, "{fact}: {is:?} instead of {should:?}");
        }
        for (words, path) in &expected.new {
            let there = base.memories.iter().any(|b| {
                b.memory.claim.content == *words && b.file.as_deref() == Some(path.as_str())
            });
            ensure!(
                there,
                "a new line is missing from {path}: {words:?}; {:?}",
                synced.plan.problems
            );
        }
        let request = self.mine();
        let again = self.engine.vault.apply(&request, &synced.files, false, Vec::new()).await?;
        ensure!(again.operation.is_none(), "an unchanged vault wrote: {:?}", again.plan.steps);
        ensure!(again.files == synced.files, "an unchanged vault was written again");
        self.tally.edits.fetch_add(expected.edits, Ordering::Relaxed);
        self.tally.syncs.fetch_add(2, Ordering::Relaxed);
        self.tally.changes.fetch_add(synced.plan.steps.len(), Ordering::Relaxed);
        self.tally.problems.fetch_add(synced.plan.problems.len(), Ordering::Relaxed);
        Ok(synced.files)
    }

    /// Export, wipe, import: the same hashes, and the same files except for the base's own ids.
    async fn round_trip(&mut self) -> Result<()> {
        let me = self.me();
        let before = self.engine.insights.summary(&me, self.now()).await?;
        let mut files = self.export().await?;
        let exported = files.clone();
        self.spoil(&mut files);
        let wiped = Moment { now: self.now(), seed: self.rng.random() };
        self.engine.erasures.erase_user(self.tenant, &self.name, wiped).await?;
        self.engine.directory.create_user(self.tenant, &self.name, None, self.now()).await?;
        let empty = self.engine.insights.summary(&me, self.now()).await?;
        ensure!((empty.memories, empty.episodes) == (0, 0), "the wipe left something");
        // The clock is stopped: a memory that expires meanwhile would be another state.
        let moment = Moment { now: self.now(), seed: self.rng.random() };
        let request = Request::new(me.clone(), moment);
        let synced = self.engine.vault.apply(&request, &files, false, Vec::new()).await?;
        ensure!(synced.plan.problems.is_empty(), "{:?}", synced.plan.problems);
        let after = self.engine.insights.summary(&me, self.now()).await?;
        ensure!(before.hash.memories == after.hash.memories, "the memories are not the same");
        ensure!(before.hash.episodes == after.hash.episodes, "the episodes are not the same");
        // A portrait is ordered by when its memories were saved, and they were saved again.
        let is_page = |file: &&File| file.path != BASE && !vault::is_portrait(&file.path);
        let pages =
            |files: &[File]| -> Vec<File> { files.iter().filter(is_page).cloned().collect() };
        ensure!(pages(&self.export().await?) == pages(&exported), "the files are not the same");
        self.tally.memories.fetch_add(after.memories, Ordering::Relaxed);
        self.tally.episodes.fetch_add(after.episodes, Ordering::Relaxed);
        Ok(())
    }

    fn spoil(&self, files: &mut [File]) {
        let Some(base) = files.iter_mut().find(|file| file.path == BASE) else { return };
        let forgotten = format!("\"state\":\"{}\"", State::Forgotten.as_str());
        let drop_line = |text: &str, has: &str| {
            let mut dropped = false;
            let keep = |line: &&str| {
                let drop = !dropped && line.contains(has);
                dropped |= drop;
                !drop
            };
            text.lines().filter(keep).map(|line| format!("{line}\n")).collect::<String>()
        };
        if self.args.plant.is_some() {
            // The base has its own hash, which would reveal the fault; without it the eval has to.
            base.content = drop_line(&base.content, "{\"lukasa\"");
        }
        match self.args.plant {
            Some(Plant::DropForgotten) => base.content = drop_line(&base.content, &forgotten),
            Some(Plant::DropEpisode) => base.content = drop_line(&base.content, "{\"episode\""),
            Some(Plant::LoseTag) => {
                if let Some(start) = base.content.find("\"tags\":[\"") {
                    let from = start + 8;
                    let to = base.content[from..].find(']').map_or(from, |end| from + end);
                    base.content.replace_range(from..to, "");
                }
            }
            _ => {}
        }
    }
}

/// Swaps two neighbouring memories in some file.
fn swap_lines(files: &mut [File]) {
    for file in files.iter_mut().filter(|file| file.path.ends_with(".md")) {
        let mut lines: Vec<&str> = file.content.lines().collect();
        let is = |line: &str| line.starts_with("- ");
        if let Some(at) = lines.windows(2).position(|pair| is(pair[0]) && is(pair[1])) {
            lines.swap(at, at + 1);
            file.content = lines.join("\n") + "\n";
            return;
        }
    }
}
