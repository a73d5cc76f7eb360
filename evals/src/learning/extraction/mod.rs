//! How well conversations are learned: our own dialogues with what must and must not be in memory
//! after them, and RealMem's sessions with their annotated memories. With a chat model it measures
//! the model and the rules together; with the scripted one, the rules alone.

mod dialogues;
mod realmem;
mod score;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail, ensure};
use lukasa_core::model::{Chat, Embedder};
use lukasa_models::local;
use lukasa_models::remote::{ChatConfig, RemoteChat};
use lukasa_models::scripted::TestModels;

use super::dialogue::{self, Dialogue, DialogueHalf};
use super::fixture::LearningFixture;
use super::oracle::{Oracle, OracleMode};
use score::DialogueScore;

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// The chat model in the server's syntax: MODEL@URL, with a price MODEL@URL#IN/OUT.
    #[arg(long, required_unless_present = "oracle", conflicts_with = "oracle")]
    pub chat: Option<String>,
    /// A scripted model that answers from the labels, so that the rules alone are measured. `copy`
    /// is a self-check: it also copies wrong sentences, and the figures must show it.
    #[arg(long, value_name = "MODE", num_args = 0..=1, default_missing_value = "faithful")]
    pub oracle: Option<OracleMode>,
    /// A file with the key for the chat model.
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// The folder of embedding models; the one in `minilm` compares memories by meaning. Without
    /// it only key words count.
    #[arg(long, value_name = "DIR", required_unless_present = "oracle")]
    pub models: Option<PathBuf>,
    /// Number of dialogues, spread over all that are selected.
    #[arg(long, default_value_t = 200)]
    pub dialogues: usize,
    /// Only the dialogues of this half.
    #[arg(long, value_enum)]
    pub half: Option<DialogueHalf>,
    /// Only the dialogues of these categories.
    #[arg(long)]
    pub category: Vec<String>,
    /// The folder of public data, for RealMem.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Number of sessions of RealMem.
    #[arg(long, default_value_t = 0)]
    pub realmem: usize,
    /// Fail below this precision of all dialogues, in percent.
    #[arg(long, default_value_t = 0.0)]
    pub min_precision: f64,
    /// Fail below this recall of all dialogues, in percent.
    #[arg(long, default_value_t = 0.0)]
    pub min_recall: f64,
    /// Fail below this share of answered next questions, in percent.
    #[arg(long, default_value_t = 0.0)]
    pub min_context: f64,
    /// Print the memories of each dialogue of the tuning half; with `--half held_out` of that one.
    #[arg(long)]
    pub show: bool,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Similarity from which two memories count as the same.
const SAME: f32 = 0.6;

/// Points of precision by which a copying model must be worse.
const NOTICED_POINTS: f64 = 10.0;

pub async fn run(args: Args) -> Result<()> {
    lukasa_models::tls::install();
    let embedder = match &args.models {
        Some(folder) => Some(local::open(&folder.join("minilm"))?),
        None => None,
    };
    let score = match (&args.oracle, &args.chat) {
        (Some(mode @ (OracleMode::Faithful | OracleMode::Sentences)), _) => {
            oracle(&args, embedder.as_ref(), *mode).await?
        }
        (Some(OracleMode::Copy), _) => {
            let faithful = oracle(&args, embedder.as_ref(), OracleMode::Faithful).await?;
            let copying = oracle(&args, embedder.as_ref(), OracleMode::Copy).await?;
            let lost = faithful.precision() - copying.precision();
            println!("precision falls by {lost:.1} points when the model copies sentences");
            ensure!(lost >= NOTICED_POINTS, "the planted fault was not noticed");
            copying
        }
        (None, Some(chat)) => real_model(&args, chat, embedder).await?,
        (None, None) => bail!("give --chat or --oracle"),
    };
    score.check(&args)
}

async fn oracle(
    args: &Args,
    embedder: Option<&Arc<dyn Embedder>>,
    mode: OracleMode,
) -> Result<DialogueScore> {
    println!("seed {}, scripted model ({mode:?})", args.seed);
    let oracle = Oracle::default();
    let embedders = embedder.cloned().into_iter().collect();
    let models = TestModels { chats: vec![oracle.chat()], embedders, ..TestModels::default() };
    let fixture = LearningFixture::open(Arc::new(models), args.seed).await?.with_statements();
    let answering = dialogues::Answering { oracle: Some((oracle, mode)) };
    dialogues::run(&fixture, &answering, embedder, args).await
}

async fn real_model(
    args: &Args,
    name: &str,
    embedder: Option<Arc<dyn Embedder>>,
) -> Result<DialogueScore> {
    println!("seed {}, model {name}", args.seed);
    let chat = open_chat(name, args.key.as_deref())?;
    let embedders = embedder.clone().into_iter().collect();
    let models = TestModels { chats: vec![chat], embedders, ..TestModels::default() };
    let fixture = LearningFixture::open(Arc::new(models), args.seed).await?.with_statements();
    let mut score = DialogueScore::default();
    if args.dialogues > 0 {
        let answering = dialogues::Answering { oracle: None };
        score = dialogues::run(&fixture, &answering, embedder.as_ref(), args).await?;
    }
    if args.realmem > 0 {
        let data = args.data.as_deref().context("RealMem needs --data")?;
        let embedder = embedder.context("RealMem needs --models")?;
        realmem::run(&fixture, &embedder, data, args.realmem, args.show).await?;
    }
    Ok(score)
}

/// Opens a chat model by its name in the server's syntax.
pub(super) fn open_chat(name: &str, key: Option<&std::path::Path>) -> Result<Arc<dyn Chat>> {
    let mut config: ChatConfig = name.parse().context("the chat model")?;
    if let Some(path) = key {
        let key = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        config = ChatConfig::chain(&[name], &[key.trim()])?.remove(0);
    }
    Ok(Arc::new(RemoteChat::new(config)?))
}

/// The selected dialogues, spread evenly over all that match.
fn select(args: &Args) -> Result<Vec<Arc<Dialogue>>> {
    let mut all = dialogue::load()?;
    all.retain(|dialogue| args.half.is_none_or(|half| dialogue.half == half));
    all.retain(|one| args.category.is_empty() || args.category.contains(&one.category));
    ensure!(!all.is_empty(), "no dialogue matches");
    // By category, so that a few of them are of as many categories as possible.
    all.sort_by(|a, b| (&a.category, &a.id).cmp(&(&b.category, &b.id)));
    let (count, wanted) = (all.len(), args.dialogues.clamp(1, all.len()));
    let is_chosen = |n: usize| n * wanted / count != (n + 1) * wanted / count;
    let chosen = all.into_iter().enumerate().filter(|(n, _)| is_chosen(*n));
    Ok(chosen.map(|(_, dialogue)| Arc::new(dialogue)).collect())
}

/// For each text, whether one of the others means nearly the same.
async fn matches(
    embedder: &Arc<dyn Embedder>,
    texts: &[&str],
    others: &[&str],
) -> Result<Vec<bool>> {
    if texts.is_empty() || others.is_empty() {
        return Ok(vec![false; texts.len()]);
    }
    let (left, right) = (embedder.embed(texts).await?, embedder.embed(others).await?);
    let near = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>() >= SAME;
    Ok(left.iter().map(|one| right.iter().any(|other| near(one, other))).collect())
}
