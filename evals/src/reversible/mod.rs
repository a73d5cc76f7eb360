//! Deleted sources are gone from everything derived from them, and an undo restores the same state.
//! Random histories of talking, learning, consolidation, deleting and undoing run through the
//! engine; after every step the words that nothing supports any more are searched wherever an
//! assistant or its user could see them.

mod history;
mod search;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use futures_util::future::try_join_all;
use lukasa_core::model::ChatRequest;
use lukasa_models::scripted::{ScriptedChat, ScriptedModel, TestModels};
use serde_json::{Value, json};

use crate::learning::fixture::LearningFixture;

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    #[arg(long, default_value_t = 1_000)]
    pub histories: usize,
    /// Number of the first history, to replay one or to continue.
    #[arg(long, default_value_t = 0)]
    pub from: u64,
    /// Number of steps per history.
    #[arg(long, default_value_t = 16)]
    pub steps: usize,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Number of concurrent histories.
    #[arg(long, default_value_t = 4)]
    pub lanes: usize,
    /// Plant a fault that must be caught.
    #[arg(long, value_enum)]
    pub plant: Option<Plant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Plant {
    /// Episodes stay although their turns were removed.
    Episodes,
    /// The passages of a turn stay although the turn was removed.
    Passages,
    /// An undo restores a memory with other dates.
    Dates,
    /// Erasing keeps the recorded contexts.
    Retrievals,
}

impl Plant {
    fn sql(self) -> &'static str {
        match self {
            Plant::Episodes => {
                "create function stay() returns trigger language plpgsql as \
                   $$ begin new.withdrawn_by := null; return new; end $$; \
                 create trigger stay before update on episode for each row execute function stay()"
            }
            Plant::Passages => {
                "create function stay() returns trigger language plpgsql as \
                   $$ begin return null; end $$; \
                 create trigger stay before delete on passage for each row \
                   when (old.kind = 'turn') execute function stay()"
            }
            Plant::Dates => {
                "create function late() returns trigger language plpgsql as \
                   $$ begin new.valid_from := new.valid_from + interval '1 second'; return new; end $$; \
                 create trigger late before insert on fact_version for each row \
                   when (new.reopens is not null) execute function late()"
            }
            Plant::Retrievals => {
                "create function stay() returns trigger language plpgsql as \
                   $$ begin return null; end $$; \
                 create trigger stay before delete on retrieval for each row execute function stay()"
            }
        }
    }
}

/// Counts over all histories.
#[derive(Debug, Default)]
pub struct Counts {
    pub steps: AtomicU64,
    pub learned: AtomicU64,
    pub deleted: AtomicU64,
    pub erased: AtomicU64,
    pub undone: AtomicU64,
    pub refused: AtomicU64,
    pub looked: AtomicU64,
}

impl Counts {
    pub fn add(&self, to: impl Fn(&Self) -> &AtomicU64) {
        to(self).fetch_add(1, Ordering::Relaxed);
    }
}

pub async fn run(args: Args) -> Result<()> {
    println!("seed {}", args.seed);
    let began = Instant::now();
    let counts = Counts::default();
    let next = AtomicU64::new(args.from);
    // Each lane has a fixture of its own, so that jobs are not shared and a seed determines a
    // history.
    let lane = |_| async {
        let models = TestModels {
            chats: vec![Arc::new(ScriptedChat::saying(extracting_model))],
            embedders: vec![Arc::new(ScriptedModel::local(32))],
            ..TestModels::default()
        };
        let fixture = LearningFixture::open(Arc::new(models), args.seed).await?;
        if let Some(plant) = args.plant {
            fixture.admin.batch_execute(plant.sql()).await?;
        }
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= args.from + args.histories as u64 {
                return anyhow::Ok(());
            }
            let seed = args.seed.wrapping_mul(1_000_003).wrapping_add(number);
            history::run_history(&fixture, number, seed, args.steps, &counts)
                .await
                .with_context(|| format!("history {number} (seed {seed})"))?;
        }
    };
    let lived = try_join_all((0..args.lanes).map(lane)).await;
    let figure = |of: &AtomicU64| of.load(Ordering::Relaxed);
    println!(
        "{} histories, {} steps: {} facts learned, {} sources deleted, {} erased, {} undone, \
         {} undos refused; looked everywhere {} times; {:.0} s",
        args.histories,
        figure(&counts.steps),
        figure(&counts.learned),
        figure(&counts.deleted),
        figure(&counts.erased),
        figure(&counts.undone),
        figure(&counts.refused),
        figure(&counts.looked),
        began.elapsed().as_secs_f64()
    );
    match (lived, args.plant) {
        (Err(caught), Some(_)) => {
            println!("the planted fault was caught: {caught:#}");
            Ok(())
        }
        (Ok(_), Some(_)) => anyhow::bail!("the planted fault was not caught"),
        (lived, None) => {
            lived?;
            ensure!(figure(&counts.undone) > 0 && figure(&counts.deleted) > 0, "nothing was tried");
            println!("nothing deleted was found again, and every undo restored the state before");
            Ok(())
        }
    }
}

/// A model that extracts what users keep and where they live, in its own words.
fn extracting_model(ask: &ChatRequest) -> String {
    let shown = ask.messages.last().map_or("", |message| message.content.as_str());
    let news = shown.rsplit("New turns, to learn from:").next().unwrap_or_default();
    let home = shown.lines().find_map(|line| {
        let (handle, content) = line.split_once(": ")?;
        content.starts_with("User lives in ").then(|| handle.to_owned())
    });
    let (mut memories, mut sentences): (Vec<Value>, Vec<String>) = (Vec::new(), Vec::new());
    for line in news.lines() {
        let Some((number, user_text)) = line.split_once(" user: ") else { continue };
        let number: i64 = number.trim().parse().unwrap_or(1);
        for sentence in user_text.split('.').map(str::trim) {
            let quote = json!([{"turn": number, "quote": sentence}]);
            if let Some(what) = sentence.strip_prefix("I keep a ") {
                sentences.push(format!("The user keeps a {what}."));
                memories.push(json!({"op": "add", "content": format!("User keeps a {what}."),
                    "kind": "habit", "importance": 8, "confidence": 0.9, "evidence": quote}));
            } else if let Some(where_) = sentence.strip_prefix("I live in ") {
                sentences.push(format!("The user lives in {where_}."));
                let op = if home.is_some() { "update" } else { "add" };
                memories.push(json!({"op": op, "target": home,
                    "content": format!("User lives in {where_}."), "kind": "fact",
                    "importance": 8, "confidence": 0.9, "evidence": quote}));
            }
        }
    }
    let summary =
        if sentences.is_empty() { "They talked.".to_owned() } else { sentences.join(" ") };
    json!({"title": "A chat", "summary": summary, "memories": memories}).to_string()
}
