//! What is deleted is gone from everything that was made of it, and an undo brings back the very same
//! state. Random histories of talking, learning, nights, deleting and undoing are lived through the
//! engine; after every step the words that nothing supports any more are looked for wherever an
//! assistant or its person could meet them.

mod life;
mod looking;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use futures_util::future::try_join_all;
use lukasa_core::model::ChatAsk;
use lukasa_models::scripted::{Scripted, ScriptedChat};
use serde_json::{Value, json};

use crate::learning::room::{Cast, Room};

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    #[arg(long, default_value_t = 1_000)]
    pub histories: usize,
    /// The number of the first, to live one again or to go on.
    #[arg(long, default_value_t = 0)]
    pub from: u64,
    /// How many steps each history has.
    #[arg(long, default_value_t = 16)]
    pub steps: usize,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// How many histories are lived at once.
    #[arg(long, default_value_t = 4)]
    pub lanes: usize,
    /// Plant a fault that must be caught.
    #[arg(long, value_enum)]
    pub plant: Option<Plant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Plant {
    /// Episodes stay although their turns went.
    Episodes,
    /// What recall keeps of a turn stays although the turn went.
    Passages,
    /// An undo brings a memory back with other dates.
    Dates,
    /// Erasing leaves what went into prompts.
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

/// What all histories did together.
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
    // Each lane has a room of its own, so that nobody does another's jobs and a seed is a history.
    let lane = |_| async {
        let cast = Cast {
            chat: Arc::new(ScriptedChat::saying(listener)),
            embedder: Some(Arc::new(Scripted::local(32))),
        };
        let room = Room::open(cast, args.seed).await?;
        if let Some(plant) = args.plant {
            room.admin.batch_execute(plant.sql()).await?;
        }
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= args.from + args.histories as u64 {
                return anyhow::Ok(());
            }
            let seed = args.seed.wrapping_mul(1_000_003).wrapping_add(number);
            life::live(&room, number, seed, args.steps, &counts)
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
            println!(
                "nothing that was deleted was met again, and every undo gave the state before"
            );
            Ok(())
        }
    }
}

/// Hears what people keep and where they live, and tells it in its own words.
fn listener(ask: &ChatAsk) -> String {
    let shown = ask.messages.last().map_or("", |message| message.content.as_str());
    let news = shown.rsplit("New turns, to learn from:").next().unwrap_or_default();
    let home = shown.lines().find_map(|line| {
        let (handle, content) = line.split_once(": ")?;
        content.starts_with("User lives in ").then(|| handle.to_owned())
    });
    let (mut memories, mut told): (Vec<Value>, Vec<String>) = (Vec::new(), Vec::new());
    for line in news.lines() {
        let Some((number, said)) = line.split_once(" user: ") else { continue };
        let number: i64 = number.trim().parse().unwrap_or(1);
        for sentence in said.split('.').map(str::trim) {
            let quote = json!([{"turn": number, "quote": sentence}]);
            if let Some(what) = sentence.strip_prefix("I keep a ") {
                told.push(format!("The user keeps a {what}."));
                memories.push(json!({"op": "add", "content": format!("User keeps a {what}."),
                    "kind": "habit", "importance": 8, "confidence": 0.9, "evidence": quote}));
            } else if let Some(where_) = sentence.strip_prefix("I live in ") {
                told.push(format!("The user lives in {where_}."));
                let op = if home.is_some() { "update" } else { "add" };
                memories.push(json!({"op": op, "target": home,
                    "content": format!("User lives in {where_}."), "kind": "fact",
                    "importance": 8, "confidence": 0.9, "evidence": quote}));
            }
        }
    }
    let summary = if told.is_empty() { "They talked.".to_owned() } else { told.join(" ") };
    json!({"title": "A chat", "summary": summary, "memories": memories}).to_string()
}
