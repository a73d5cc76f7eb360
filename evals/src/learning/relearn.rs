//! Nothing is learned from Lukasa's own blocks. Assistants repeat the block they were given, and
//! clients log the prompt as part of the conversation; a model that repeats everything it reads
//! must not make a second memory of the first.

use std::sync::Arc;

use anyhow::{Result, bail, ensure};
use lukasa_core::model::ChatRequest;
use lukasa_core::{Caller, Claim, NewTurn, Origin, Role};
use lukasa_engine::context::ContextRequest;
use lukasa_engine::facts::NewMemory;
use lukasa_models::scripted::{ScriptedChat, TestModels};
use serde_json::{Value, json};

use super::fixture::LearningFixture;

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    #[arg(long, default_value_t = 200)]
    pub sessions: usize,
    #[arg(long, default_value_t = 10)]
    pub rounds: usize,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Plant a fault that must be caught: the fences of the block are lost on the way.
    #[arg(long)]
    pub plant: bool,
}

const SESSIONS_OF_A_USER: usize = 10;
const FACTS: [&str; 5] = [
    "Keeps three beehives behind the barn",
    "Teaches the cello on Thursdays",
    "Is restoring a wooden rowing boat",
    "Prefers trains to planes",
    "Speaks Portuguese with the neighbours",
];

pub async fn run(args: Args) -> Result<()> {
    println!("seed {}", args.seed);
    let chat = Arc::new(ScriptedChat::saying(parrot));
    let fixture = LearningFixture::open(TestModels::that_chats(chat.clone()), args.seed).await?;
    let mut given = 0;
    for session in 0..args.sessions {
        let name = format!("user-{}", session / SESSIONS_OF_A_USER);
        let caller = fixture.key(&name, Origin::Assistant);
        if session % SESSIONS_OF_A_USER == 0 {
            for content in FACTS {
                let claim = Claim { importance: 0.8, ..Claim::saying(content) };
                let new = NewMemory { claim, ..NewMemory::saying("") };
                fixture.engine.facts.save(&fixture.request(&fixture.human(&name)), new).await?;
            }
        }
        for round in 0..args.rounds {
            let turns = round_of(&fixture, &caller, session, round, args.plant).await?;
            given += 1;
            fixture.chat(&caller, &format!("s{session}"), turns).await?;
            fixture.work(1).await?;
        }
    }
    let sql = "select count(*) filter (where content not like 'User adopted%'), \
                 count(*) filter (where content like 'User adopted%' and number = 1) \
               from fact_version where extracted";
    let row = fixture.admin.query_one(sql, &[]).await?;
    let (again, fresh): (i64, i64) = (row.get(0), row.get(1));
    let sql = "select count(*), count(*) filter (where known_until is not null) \
               from fact_version where not extracted";
    let row = fixture.admin.query_one(sql, &[]).await?;
    let (stated, ended): (i64, i64) = (row.get(0), row.get(1));
    println!("{} sessions, {} rounds each, {given} blocks in prompts", args.sessions, args.rounds);
    println!("asked {} times, proposed every known memory each time", chat.asked());
    println!("learned from our own block    {again:6}");
    println!("stated memories               {stated:6}, ended {ended}");
    println!("learned from the user         {fresh:6} of {}", args.sessions);
    if args.plant {
        ensure!(again > 0, "the planted fault was not caught");
        println!("the planted fault was caught {again} times");
        return Ok(());
    }
    ensure!(fresh == i64::try_from(args.sessions)?, "statements of the user must still be learned");
    if again + ended > 0 {
        bail!("something was learned from our own block");
    }
    Ok(())
}

/// The turns of one round. The block occurs in another way each time.
async fn round_of(
    fixture: &LearningFixture,
    caller: &Caller,
    session: usize,
    round: usize,
    plant: bool,
) -> Result<Vec<NewTurn>> {
    let asked = ContextRequest {
        session: Some(format!("s{session}")),
        ..ContextRequest::about("What do I keep, teach, restore, prefer and speak?")
    };
    let context = fixture.engine.context.retrieve(caller, &asked, fixture.moment()).await?;
    let mut block = context.baseline.content;
    ensure!(FACTS.iter().all(|fact| block.contains(fact)), "the block has the stated facts");
    if plant {
        block = block
            .lines()
            .filter(|line| !line.contains("memory nonce"))
            .collect::<Vec<_>>()
            .join("\n");
    }
    let typed = |text: String| NewTurn { marked: true, ..NewTurn::saying(Role::User, &text) };
    let by = |role: Role, text: String| NewTurn::saying(role, &text);
    let hello = "Good morning, please go on.";
    let mut turns = match round % 7 {
        0 => vec![by(Role::System, block), typed(hello.into())],
        1 => vec![typed(format!("{block}\n\n{hello}"))],
        2 => vec![typed(hello.into()), by(Role::Assistant, format!("I was given this:\n{block}"))],
        3 => vec![typed(format!("{hello}\n{}", block.replace('<', "&lt;").replace('>', "&gt;")))],
        4 => {
            let quoted: Vec<String> = block.lines().map(|line| format!("> {line}")).collect();
            vec![typed(format!("You wrote:\n{}\n{hello}", quoted.join("\n")))]
        }
        // Cut off in the middle: an unclosed block reaches to the end.
        5 => {
            let cut: String = block.chars().take(block.chars().count() - 20).collect();
            vec![typed(hello.into()), by(Role::Assistant, cut)]
        }
        _ => vec![typed(format!("{hello}\n{block}{block}\nThank you."))],
    };
    if round == 0 {
        turns.push(typed(format!("By the way, I adopted a dog called Rufus{session}.")));
    }
    Ok(turns)
}

/// Proposes every memory it was shown once more, embroidered so that it does not count as known
/// already, and quotes the memory itself; and the user's new statements.
fn parrot(ask: &ChatRequest) -> String {
    let shown = ask.messages.last().map_or("", |message| message.content.as_str());
    let mut memories: Vec<Value> = FACTS
        .iter()
        .map(|fact| {
            json!({"op": "add", "content": format!("{fact}, since 1987"), "kind": "fact",
                   "importance": 9, "confidence": 1.0, "evidence": [{"turn": 1, "quote": fact}]})
        })
        .collect();
    let news = shown.rsplit("New turns, to learn from:").next().unwrap_or_default();
    if let Some(at) = news.find("I adopted a dog called ") {
        let quote: String = news[at..].chars().take_while(|c| *c != '.').collect();
        let content = quote.replace("I adopted", "User adopted");
        memories.push(json!({"op": "add", "content": content, "kind": "fact", "importance": 8,
                             "confidence": 0.9, "evidence": [{"turn": 1, "quote": quote}]}));
    }
    json!({"title": "Bees", "summary": "They talked.", "memories": memories}).to_string()
}
