//! Comparison of memories: planted contradictions are found, without a model and with one, and a
//! model that calls every pair the same merges no two different memories.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;

use anyhow::{Context as _, Result, bail, ensure};
use lukasa_core::model::NoModels;
use lukasa_core::{Caller, Origin, Status};
use lukasa_engine::Point;
use lukasa_engine::facts::{Listing, NewMemory};
use lukasa_models::scripted::{ScriptedChat, TestModels};
use lukasa_store::list::ListFilter;
use serde::Deserialize;
use serde_json::json;

use crate::learning::fixture::LearningFixture;

const FACTS: &str = include_str!("../../data/consolidation/facts.jsonl");
const PAIRS: &str = include_str!("../../data/consolidation/pairs.jsonl");
/// At least this many of the planted contradictions must be found.
const MIN_FOUND: usize = 9;
/// At most this many other pairs may be taken for contradictions.
const MAX_FALSE_ALARMS: usize = 1;

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Show what was missed.
    #[arg(long)]
    pub show: bool,
    /// Plant a fault that must be caught.
    #[arg(long, value_enum)]
    pub plant: Option<Plant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Plant {
    /// Contradictions are not recorded.
    LoseLinks,
    /// Pairs of similar memories are recorded as contradictions.
    AlarmAll,
    /// Memories are merged on the word of the model alone.
    MergeAll,
}

impl Plant {
    fn sql(self) -> &'static str {
        match self {
            Plant::LoseLinks => {
                "create function lose() returns trigger language plpgsql as $$ \
                 begin return null; end $$; \
                 create trigger lose before insert on link for each row execute function lose()"
            }
            Plant::AlarmAll => {
                "create function alarm() returns trigger language plpgsql as $$ \
                 begin new.answer := 'contradicts'; new.applied_at := null; return new; end $$; \
                 create trigger alarm before insert on compared_pair \
                   for each row execute function alarm()"
            }
            Plant::MergeAll => {
                "create function merge() returns trigger language plpgsql security definer as $$ \
                 begin delete from fact_version where user_id = new.user_id \
                   and fact_id = new.older_fact; return new; end $$; \
                 create trigger merge after insert on compared_pair for each row \
                   when (new.answer = 'same') execute function merge()"
            }
        }
    }
}

#[derive(Debug, Deserialize)]
struct PlantedFact {
    user: usize,
    content: String,
    #[serde(default)]
    key: Option<String>,
    #[serde(default)]
    value: Option<serde_json::Value>,
    #[serde(default)]
    plant: Option<String>,
}

#[derive(Debug, Deserialize)]
struct LabelledPair {
    id: String,
    lang: String,
    label: String,
    why: String,
    older: String,
    newer: String,
}

fn lines<'t, T: Deserialize<'t>>(text: &'t str) -> Result<Vec<T>> {
    text.lines().map(|line| serde_json::from_str(line).context(line.to_owned())).collect()
}

pub async fn run(args: Args) -> Result<()> {
    println!("seed {}", args.seed);
    let facts: Vec<PlantedFact> = lines(FACTS)?;
    let pairs: Vec<LabelledPair> = lines(PAIRS)?;
    let mut faults = find_planted(&args, &facts, false).await?;
    faults += find_planted(&args, &facts, true).await?;
    faults += merge_labelled(&args, &pairs).await?;
    match (args.plant, faults) {
        (None, 0) => Ok(()),
        (None, many) => bail!("{many} faults"),
        (Some(plant), 0) => bail!("the planted fault {plant:?} was not caught"),
        (Some(plant), many) => {
            println!("the planted fault {plant:?} was caught by {many} checks");
            Ok(())
        }
    }
}

async fn open(args: &Args, chat: ScriptedChat) -> Result<LearningFixture> {
    let models = TestModels::that_chats(Arc::new(chat));
    let fixture = LearningFixture::open(models, args.seed).await?;
    if let Some(plant) = args.plant {
        fixture.admin.batch_execute(plant.sql()).await?;
    }
    Ok(fixture)
}

/// The lines of a comparison request: the older and the newer memory of each pair.
fn shown_pairs(shown: &str) -> BTreeMap<String, (String, String)> {
    let mut pairs: BTreeMap<String, (String, String)> = BTreeMap::new();
    for line in shown.lines() {
        if let Some((handle, text)) = line.split_once(" older: ") {
            pairs.entry(handle.to_owned()).or_default().0 = text.to_owned();
        } else if let Some((handle, text)) = line.split_once(" newer: ") {
            pairs.entry(handle.to_owned()).or_default().1 = text.to_owned();
        }
    }
    pairs
}

/// A model whose answer about each pair is computed from the two contents.
fn answering(answer: impl Fn(&str, &str) -> &'static str + Send + Sync + 'static) -> ScriptedChat {
    ScriptedChat::saying(move |ask| {
        let shown = ask.messages.last().map_or("", |message| message.content.as_str());
        let pairs = shown_pairs(shown).into_iter().map(
            |(handle, (older, newer))| json!({"pair": handle, "answer": answer(&older, &newer)}),
        );
        json!({ "pairs": pairs.collect::<Vec<_>>() }).to_string()
    })
}

/// Saves the facts, consolidates, and counts the contradictions found; returns how many limits are
/// broken.
async fn find_planted(args: &Args, facts: &[PlantedFact], with_model: bool) -> Result<usize> {
    let planted: HashSet<String> =
        facts.iter().filter(|fact| fact.plant.is_some()).map(|fact| fact.content.clone()).collect();
    let known = planted.clone();
    let chat = answering(move |older, newer| {
        if known.contains(older) && known.contains(newer) { "contradicts" } else { "unrelated" }
    });
    let mut fixture = open(args, chat).await?;
    if !with_model {
        fixture.engine = fixture.engine.clone().with_models(Arc::new(NoModels));
    }
    let users: BTreeSet<usize> = facts.iter().map(|fact| fact.user).collect();
    let (mut found, mut alarms, mut refused) = (BTreeSet::new(), 0, Vec::new());
    for user in &users {
        let caller = fixture.human(&format!("person-{user}"));
        for fact in facts.iter().filter(|fact| fact.user == *user) {
            let mut new = NewMemory::saying(&fact.content);
            (new.claim.key, new.claim.value) = (fact.key.clone(), fact.value.clone());
            let saved = fixture.engine.facts.save(&fixture.request(&caller), new).await;
            refused.extend(saved.err().map(|error| format!("{}: {error}", fact.content)));
        }
        consolidate(&fixture, &caller).await?;
        let now = fixture.moment().now;
        for pair in fixture.engine.review.contradictions(&caller, now).await? {
            let both = [&pair.standing, &pair.against].map(|memory| &memory.version.claim.content);
            if both.iter().all(|content| planted.contains(*content)) {
                found.insert(*user);
            } else {
                alarms += 1;
                println!("  false alarm: {} / {}", both[0], both[1]);
            }
        }
    }
    ensure!(refused.is_empty(), "not saved:\n{}", refused.join("\n"));
    let all = planted.len() / 2;
    let model = if with_model { "with a model" } else { "without a model" };
    println!(
        "contradictions {model}: {} of {all} found, {alarms} false alarms among {} memories of {} \
         users",
        found.len(),
        facts.len(),
        users.len()
    );
    if args.show {
        let missed = facts.iter().filter(|f| f.plant.is_some() && !found.contains(&f.user));
        missed.for_each(|fact| println!("  missed: {}", fact.content));
    }
    Ok(usize::from(found.len() < MIN_FOUND) + usize::from(alarms > MAX_FALSE_ALARMS))
}

/// Runs consolidations until one changes nothing; each compares a limited number of pairs.
async fn consolidate(fixture: &LearningFixture, caller: &Caller) -> Result<()> {
    for _ in 0..10 {
        let request = fixture.request(caller);
        let report = fixture.engine.consolidation.consolidate(&request, false).await?;
        if report.operation.is_none() {
            return Ok(());
        }
    }
    bail!("{}: the tenth consolidation in a row still changes something", caller.user_name)
}

/// Lets a model call every labelled pair the same; returns how many limits are broken.
async fn merge_labelled(args: &Args, pairs: &[LabelledPair]) -> Result<usize> {
    let fixture = open(args, answering(|_, _| "same")).await?;
    let (mut merged, mut wrong, mut lost, mut refused) = (0, 0, 0, Vec::new());
    for pair in pairs {
        let owner = fixture.human(&pair.id);
        let extractor = Caller::extractor(LearningFixture::tenant(), &pair.id, Origin::UserTurn);
        for content in [&pair.older, &pair.newer] {
            let new = NewMemory::saying(content);
            let saved = fixture.engine.facts.save(&fixture.request(&extractor), new).await;
            refused.extend(saved.err().map(|error| format!("{content}: {error}")));
        }
        let before = fixture.engine.insights.summary(&owner, fixture.moment().now).await?.hash;
        let request = fixture.request(&owner);
        let report = fixture.engine.consolidation.consolidate(&request, false).await?;
        let (active, gone) = (
            contents(&fixture, &owner, Status::Active).await?,
            contents(&fixture, &owner, Status::Forgotten).await?,
        );
        // The second of two equal texts is the same memory from the start.
        let is_one = active.len() + gone.len() == 1 && gone.is_empty();
        lost += usize::from(active.len() + gone.len() < 2 && !is_one);
        if active.len() < 2 && !is_one {
            merged += 1;
            if pair.label != "same" {
                wrong += 1;
                let LabelledPair { id, lang, why, older, newer, .. } = pair;
                println!("  wrong merge {id} ({lang}, {why}): {older} / {newer}");
            }
        } else if args.show && pair.label == "same" {
            println!("  not merged ({}, {}): {} / {}", pair.lang, pair.why, pair.older, pair.newer);
        }
        if let Some(operation) = report.operation {
            fixture.engine.undo.undo(&fixture.request(&owner), operation).await?;
            let after = fixture.engine.insights.summary(&owner, fixture.moment().now).await?.hash;
            ensure!(after == before, "{}: the run was not undone", pair.id);
        }
    }
    ensure!(refused.is_empty(), "not saved:\n{}", refused.join("\n"));
    let same = pairs.iter().filter(|pair| pair.label == "same").count();
    let languages: BTreeSet<&str> = pairs.iter().map(|pair| pair.lang.as_str()).collect();
    println!(
        "merges by an obedient model: {merged} of {} pairs in {} languages, {wrong} of them wrong, \
         {lost} memories lost; {same} pairs are the same",
        pairs.len(),
        languages.len()
    );
    Ok(usize::from(wrong > 0) + usize::from(lost > 0) + usize::from(merged == 0))
}

async fn contents(
    fixture: &LearningFixture,
    caller: &Caller,
    status: Status,
) -> Result<Vec<String>> {
    let filter = ListFilter { status: Some(status), ..ListFilter::default() };
    let listing = Listing { filter, point: Point::default(), after: None, limit: 10 };
    let now = fixture.moment().now;
    let page = fixture.engine.facts.list(caller, &listing, now).await?;
    Ok(page.memories.into_iter().map(|memory| memory.version.claim.content).collect())
}
