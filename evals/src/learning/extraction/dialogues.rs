//! Runs the dialogues: each session is appended and closed, all due jobs run, and at the end the
//! memory is compared with the labels, whichever way it was stored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use lukasa_core::context::block::LineSource;
use lukasa_core::model::Embedder;
use lukasa_core::{Caller, Claim, NewTurn, Origin, Role};
use lukasa_engine::context::{ContextPart, ContextRequest};
use lukasa_engine::facts::NewMemory;
use serde_json::Value;

use super::super::data::Line;
use super::super::dialogue::{Dialogue, says};
use super::super::fixture::LearningFixture;
use super::super::oracle::{Oracle, OracleMode};
use super::score::DialogueScore;
use super::{Args, matches, select};

/// What answers: a chat model, or the scripted one.
pub(super) struct Answering {
    pub oracle: Option<(Oracle, OracleMode)>,
}

/// A memory at the end of a dialogue.
pub(super) struct LearnedMemory {
    pub content: String,
    pub state: String,
    pub extracted: bool,
    pub quotes: Vec<String>,
}

pub(super) async fn run(
    fixture: &LearningFixture,
    answering: &Answering,
    embedder: Option<&Arc<dyn Embedder>>,
    args: &Args,
) -> Result<DialogueScore> {
    let chosen = select(args)?;
    let mut rows: BTreeMap<(String, &'static str), DialogueScore> = BTreeMap::new();
    let began = Instant::now();
    for (n, dialogue) in chosen.iter().enumerate() {
        let is_shown = args.show && (args.half.is_some() || dialogue.half.as_str() == "tuning");
        let score = run_one(fixture, answering, embedder, dialogue, is_shown).await?;
        let half = dialogue.half.as_str();
        rows.entry((dialogue.category.clone(), half)).or_default().add(&score);
        let seconds = began.elapsed().as_secs_f64();
        eprintln!("extraction: {} of {}, {seconds:.0} s", n + 1, chosen.len());
    }
    DialogueScore::print_heading();
    let mut total = DialogueScore::default();
    let mut halves: BTreeMap<&str, DialogueScore> = BTreeMap::new();
    for ((category, half), score) in &rows {
        score.print_row(category, half);
        halves.entry(half).or_default().add(score);
        total.add(score);
    }
    halves.iter().rev().for_each(|(half, score)| score.print_row("total", half));
    total.print_row("total", "both");
    total.print_details();
    Ok(total)
}

async fn run_one(
    fixture: &LearningFixture,
    answering: &Answering,
    embedder: Option<&Arc<dyn Embedder>>,
    dialogue: &Arc<Dialogue>,
    is_shown: bool,
) -> Result<DialogueScore> {
    let human = fixture.human(&dialogue.id);
    let caller = fixture.key(&dialogue.id, Origin::Assistant);
    for content in &dialogue.memories {
        let claim = Claim { importance: 0.7, ..Claim::saying(content) };
        let new = NewMemory { claim, ..NewMemory::saying(content) };
        fixture.engine.facts.save(&fixture.request(&human), new).await?;
    }
    let mut score = DialogueScore { dialogues: 1, ..DialogueScore::default() };
    let mut day = 0;
    for (n, session) in dialogue.sessions.iter().enumerate() {
        fixture.pass_days(session.day - day);
        day = session.day;
        if let Some((oracle, mode)) = &answering.oracle {
            oracle.turn_to(dialogue, n, *mode);
        }
        let began = Instant::now();
        let turns = session.turns.iter().map(|line| {
            NewTurn::saying(Role::parse(&line.role).unwrap_or(Role::User), &line.content)
        });
        fixture.chat(&caller, &format!("chat-{n}"), turns.collect()).await?;
        score.sessions += 1;
        if fixture.work(1).await.is_err() {
            score.failed += 1;
            drop_jobs(fixture, &caller).await?;
        }
        score.seconds += began.elapsed().as_secs_f64();
    }
    // Later upkeep of this user would only slow down the other dialogues.
    drop_jobs(fixture, &caller).await?;
    count_calls(fixture, &caller, &mut score).await?;
    let memories = load_memories(fixture, &caller).await?;
    rate(dialogue, &memories, embedder, &mut score).await?;
    ask_next(fixture, &caller, dialogue, &mut score).await?;
    if is_shown {
        show(dialogue, &memories, &score);
    }
    Ok(score)
}

async fn drop_jobs(fixture: &LearningFixture, caller: &Caller) -> Result<()> {
    let sql = "delete from job where user_id = $1";
    fixture.admin.execute(sql, &[&caller.user.uuid()]).await?;
    Ok(())
}

async fn count_calls(
    fixture: &LearningFixture,
    caller: &Caller,
    score: &mut DialogueScore,
) -> Result<()> {
    let user = caller.user.uuid();
    let sql = "select count(*), coalesce(sum(input_tokens), 0)::bigint, \
               coalesce(sum(output_tokens), 0)::bigint from model_call where user_id = $1";
    let row = fixture.admin.query_one(sql, &[&user]).await?;
    (score.calls, score.tokens) = (row.get(0), (row.get(1), row.get(2)));
    let sql = "select outcome->'left' from pass where user_id = $1 and outcome is not null";
    for row in fixture.admin.query(sql, &[&user]).await? {
        let reasons: Value = row.get(0);
        for (reason, count) in reasons.as_object().into_iter().flatten() {
            let count = count.as_u64().or_else(|| count.as_array().map(|all| all.len() as u64));
            *score.left.entry(reason.clone()).or_default() += count.unwrap_or(0);
        }
    }
    Ok(())
}

/// The memories that are valid now and neither forgotten nor in the trash.
pub(super) async fn load_memories(
    fixture: &LearningFixture,
    caller: &Caller,
) -> Result<Vec<LearnedMemory>> {
    let now = fixture.moment().now.to_string();
    let sql = "select content, state, extracted, evidence from fact_version \
               where user_id = $1 and known_until is null and valid_from <= $2::text::timestamptz \
                 and (valid_until is null or valid_until > $2::text::timestamptz) \
                 and state in ('active', 'proposed', 'candidate') order by version_id";
    let rows = fixture.admin.query(sql, &[&caller.user.uuid(), &now]).await?;
    let memory = |row: &tokio_postgres::Row| {
        let evidence: Value = row.get(3);
        let quotes = evidence.as_array().into_iter().flatten();
        let quotes = quotes.filter_map(|one| one["description"].as_str().map(str::to_owned));
        LearnedMemory {
            content: row.get(0),
            state: row.get(1),
            extracted: row.get(2),
            quotes: quotes.collect(),
        }
    };
    Ok(rows.iter().map(memory).collect())
}

/// Compares the memories at the end with the labels.
async fn rate(
    dialogue: &Dialogue,
    memories: &[LearnedMemory],
    embedder: Option<&Arc<dyn Embedder>>,
    score: &mut DialogueScore,
) -> Result<()> {
    let is_learned = |memory: &&LearnedMemory| !dialogue.memories.contains(&memory.content);
    let learned: Vec<&LearnedMemory> = memories.iter().filter(is_learned).collect();
    let of_state = |state: &str| learned.iter().filter(|memory| memory.state == state).count();
    (score.proposed, score.candidates) = (of_state("proposed"), of_state("candidate"));
    let texts: Vec<&str> = memories
        .iter()
        .filter(|memory| memory.state == "active")
        .map(|memory| memory.content.as_str())
        .collect();
    let new: Vec<&str> =
        texts.iter().copied().filter(|t| !dialogue.memories.iter().any(|m| m == t)).collect();
    let claims: Vec<&str> = dialogue.wanted().map(|claim| claim.claim.as_str()).collect();
    let near = match embedder {
        Some(embedder) => matches(embedder, &new, &claims).await?,
        None => vec![false; new.len()],
    };
    let is_right =
        |text: &str, near: bool| dialogue.accepts(text) || near && !dialogue.forbids(text);
    score.active = new.len();
    score.right = new.iter().zip(&near).filter(|(text, near)| is_right(text, **near)).count();
    // A known memory that should have been replaced is forbidden too.
    let is_forbidden = |text: &&&str| dialogue.must_not.iter().any(|words| says(text, words));
    score.forbidden = texts.iter().filter(is_forbidden).count();
    for claim in dialogue.wanted() {
        score.wanted += 1;
        let is_met = |text: &str| claim.is_met_by(text) && !dialogue.forbids(text);
        let matching = texts.iter().filter(|text| is_met(text)).count();
        score.duplicates += matching.saturating_sub(1);
        let mut waiting = memories.iter().filter(|memory| memory.state == "proposed");
        let is_asked = claim.ask && waiting.any(|memory| is_met(&memory.content));
        score.met += usize::from(matching > 0 || is_asked);
        let in_any_state = memories.iter().any(|memory| is_met(&memory.content));
        score.met_in_any_state += usize::from(in_any_state);
    }
    let is_gone =
        |memory: &&LearnedMemory| dialogue.gone.iter().any(|words| says(&memory.content, words));
    score.left_over = memories.iter().filter(is_gone).count();
    let examples = example_names();
    score.from_prompt = learned
        .iter()
        .filter(|memory| is_from_prompt(&memory.content, dialogue, &examples))
        .count();
    score.unfounded = unfounded(memories, dialogue.turns());
    Ok(())
}

/// Asks for the context of the next conversation's first message.
async fn ask_next(
    fixture: &LearningFixture,
    caller: &Caller,
    dialogue: &Dialogue,
    score: &mut DialogueScore,
) -> Result<()> {
    let Some(next) = &dialogue.next else { return Ok(()) };
    let ask = ContextRequest {
        session: Some("next".to_owned()),
        ..ContextRequest::about(&next.question)
    };
    let context = fixture.engine.context.retrieve(caller, &ask, fixture.moment()).await?;
    let parts = [&context.baseline, &context.dynamic];
    let whole = parts.map(|part| part.content.as_str()).join("\n");
    let (by_memory, by_turn) = (lines(parts, true), lines(parts, false));
    let lacks = next.lacks.is_empty() || !says(&by_memory, &next.lacks);
    score.questions = 1;
    score.answered = usize::from(lacks && says(&whole, &next.needs));
    score.answered_by_memory = usize::from(lacks && says(&by_memory, &next.needs));
    let is_quoted = dialogue.gone.iter().any(|words| says(&by_turn, words));
    score.quoted = usize::from(is_quoted);
    Ok(())
}

/// The lines of a context that come from memories, or those that quote turns.
fn lines(parts: [&ContextPart; 2], of_memories: bool) -> String {
    let items = parts.iter().flat_map(|part| &part.items);
    let wanted =
        items.filter(|line| matches!(line.source, LineSource::Memory { .. }) == of_memories);
    wanted.map(|line| line.line.as_str()).collect::<Vec<_>>().join("\n")
}

/// Proper names in the quoted examples of our own prompts.
fn example_names() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for prompt in lukasa_engine::learning::prompts() {
        for quoted in prompt.text.split('"').skip(1).step_by(2) {
            let words = quoted.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 3);
            let is_name = |word: &&str| {
                let mut chars = word.chars();
                let first = chars.next().is_some_and(char::is_uppercase);
                let has_digit = word.chars().any(|c| c.is_ascii_digit());
                (first && !quoted.trim_start().starts_with(*word)) || has_digit
            };
            names.extend(words.filter(is_name).map(str::to_lowercase));
        }
    }
    names
}

/// Whether a memory has a name from a prompt's example that the dialogue does not have.
fn is_from_prompt(content: &str, dialogue: &Dialogue, names: &BTreeSet<String>) -> bool {
    let content = content.to_lowercase();
    let words: BTreeSet<&str> = content.split(|c: char| !c.is_alphanumeric()).collect();
    let own = dialogue.turns().map(|turn| turn.content.as_str());
    let own = own.chain(dialogue.memories.iter().map(String::as_str));
    let own = own.collect::<Vec<_>>().join(" ").to_lowercase();
    names.iter().any(|name| words.contains(name.as_str()) && !own.contains(name.as_str()))
}

/// Active extracted memories without a quotation that occurs in the user's turns.
pub(super) fn unfounded<'a>(
    memories: &[LearnedMemory],
    lines: impl Iterator<Item = &'a Line>,
) -> usize {
    let user_texts: Vec<&str> =
        lines.filter(|line| line.role == "user").map(|line| line.content.as_str()).collect();
    let is_quoted = |quote: &String| user_texts.iter().any(|text| text.contains(quote.as_str()));
    let active = memories.iter().filter(|memory| memory.state == "active" && memory.extracted);
    active.filter(|memory| !memory.quotes.iter().any(is_quoted)).count()
}

fn show(dialogue: &Dialogue, memories: &[LearnedMemory], score: &DialogueScore) {
    let answer = match (score.questions, score.answered) {
        (0, _) => "no question",
        (_, 0) => "not in the next context",
        _ => "in the next context",
    };
    println!(
        "  {} {} {} ({}), {answer} {:?}",
        dialogue.id, dialogue.category, dialogue.lang, dialogue.topic, score.left
    );
    for memory in memories {
        let mark = match memory.state.as_str() {
            "active" if dialogue.forbids(&memory.content) => "!",
            "active" if !dialogue.accepts(&memory.content) => "?",
            _ => " ",
        };
        println!("   {mark} {:9} {} {:?}", memory.state, memory.content, memory.quotes);
    }
    for claim in dialogue.wanted() {
        if !memories.iter().any(|memory| claim.is_met_by(&memory.content)) {
            println!("   - missing   {}", claim.claim);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::dialogue;
    use super::*;

    #[test]
    fn unfounded_memory_is_detected() {
        let line = |role: &str, content: &str| Line { role: role.into(), content: content.into() };
        let lines = [line("user", "I like tea."), line("assistant", "You live in Rome.")];
        let memory = |quote: &str| LearnedMemory {
            content: String::new(),
            state: "active".into(),
            extracted: true,
            quotes: vec![quote.into()],
        };
        assert_eq!(unfounded(&[memory("I like tea")], lines.iter()), 0);
        assert_eq!(unfounded(&[memory("live in Rome")], lines.iter()), 1);
    }

    #[test]
    fn memory_from_a_prompt_example_is_detected() {
        let names = BTreeSet::from(["lisbon".to_owned()]);
        let all = dialogue::load().unwrap();
        let of = |id: &str| all.iter().find(|dialogue| dialogue.id == id).unwrap();
        assert!(is_from_prompt("User lives in Lisbon.", of("dl-046"), &names));
        assert!(!is_from_prompt("User may be in Lisbon.", of("dl-054"), &names));
    }

    #[tokio::test]
    async fn forgotten_and_replaced_memories_are_counted() {
        let all = dialogue::load().unwrap();
        let of = |id: &str| all.iter().find(|dialogue| dialogue.id == id).unwrap();
        let memory = |content: &str| LearnedMemory {
            content: content.into(),
            state: "active".into(),
            extracted: false,
            quotes: Vec::new(),
        };
        let mut score = DialogueScore::default();
        let left = [memory("User visits Marta every Sunday.")];
        rate(of("dl-128"), &left, None, &mut score).await.unwrap();
        assert_eq!((score.left_over, score.forbidden, score.active), (1, 1, 0));
        let mut score = DialogueScore::default();
        let both = [memory("User lives in Madrid."), memory("User lives in Barcelona.")];
        rate(of("dl-138"), &both, None, &mut score).await.unwrap();
        assert_eq!((score.forbidden, score.right, score.active, score.met), (1, 1, 2, 1));
    }
}
