//! How well a real model learns: our own dialogues with what must and must not be learned, and
//! RealMem's sessions with their annotated memories. It measures the model and the applier
//! together, and reports what the applier rejected.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use lukasa_core::model::{Chat, Embedder};
use lukasa_core::{Caller, NewTurn, Origin, Role};
use lukasa_models::local;
use lukasa_models::remote::{ChatConfig, RemoteChat};
use serde_json::Value;

use super::data::{self, Dialogue, Line};
use super::fixture::{EvalModels, LearningFixture};
use crate::retrieval::realmem;

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// The chat model in the server's syntax: MODEL@URL, with a price MODEL@URL#IN/OUT.
    #[arg(long)]
    pub chat: String,
    /// A file with the key for it.
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// The folder of embedding models; the one in `minilm` compares memories by meaning.
    #[arg(long, value_name = "DIR")]
    pub models: PathBuf,
    /// Number of dialogues out of a hundred, spread over all cases.
    #[arg(long, default_value_t = 100)]
    pub dialogues: usize,
    /// The folder of public data, for RealMem.
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Number of sessions of RealMem.
    #[arg(long, default_value_t = 0)]
    pub realmem: usize,
    /// Print the memories learned from each.
    #[arg(long)]
    pub show: bool,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Similarity from which two memories count as the same.
const SAME: f32 = 0.6;

/// A learned memory.
struct Learned {
    content: String,
    state: String,
    quotes: Vec<String>,
}

/// Result of one conversation.
struct Outcome {
    learned: Vec<Learned>,
    /// Reasons for rejected proposals, and their number.
    left: BTreeMap<String, u64>,
    tokens: (i64, i64),
    calls: i64,
    failed: bool,
}

#[derive(Default)]
struct Score {
    sessions: usize,
    failed: usize,
    wanted: usize,
    met: usize,
    learned: usize,
    right: usize,
    forbidden: usize,
    remembered: usize,
    proposed: usize,
    guessed: usize,
    left: BTreeMap<String, u64>,
    tokens: (i64, i64),
    calls: i64,
    unfounded: usize,
}

impl Score {
    fn add(&mut self, outcome: &Outcome) {
        self.sessions += 1;
        self.failed += usize::from(outcome.failed);
        self.calls += outcome.calls;
        self.tokens.0 += outcome.tokens.0;
        self.tokens.1 += outcome.tokens.1;
        self.learned += outcome.learned.len();
        for memory in &outcome.learned {
            match memory.state.as_str() {
                "active" => self.remembered += 1,
                "proposed" => self.proposed += 1,
                _ => self.guessed += 1,
            }
        }
        for (reason, count) in &outcome.left {
            *self.left.entry(reason.clone()).or_default() += count;
        }
    }

    fn print(&self, name: &str) {
        let share = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        let per = |count: i64| count as f64 / self.sessions.max(1) as f64;
        println!("{name}: {} sessions, {} without an answer", self.sessions, self.failed);
        println!(
            "  precision   {:5.1} % ({} of {})",
            share(self.right, self.learned),
            self.right,
            self.learned
        );
        println!(
            "  recall      {:5.1} % ({} of {})",
            share(self.met, self.wanted),
            self.met,
            self.wanted
        );
        println!("  must not    {:5} learned that must not be", self.forbidden);
        println!(
            "  of what was learned: {} remembered, {} proposed, {} stored as guesses",
            self.remembered, self.proposed, self.guessed
        );
        println!("  rejected by the applier: {:?}", self.left);
        println!(
            "  per session {:.0} tokens in, {:.0} out, {:.2} calls",
            per(self.tokens.0),
            per(self.tokens.1),
            per(self.calls)
        );
    }
}

pub async fn run(args: Args) -> Result<()> {
    lukasa_models::tls::install();
    println!("seed {}, model {}", args.seed, args.chat);
    let mut config: ChatConfig = args.chat.parse().context("the chat model")?;
    if let Some(path) = &args.key {
        let key = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        config = ChatConfig::chain(&[args.chat.as_str()], &[key.trim()])?.remove(0);
    }
    let chat: Arc<dyn Chat> = Arc::new(RemoteChat::new(config)?);
    let embedder = local::open(&args.models.join("minilm"))?;
    let eval_models = EvalModels { chat, embedder: Some(embedder.clone()) };
    let fixture = LearningFixture::open(eval_models, args.seed).await?;
    let (mut unfounded, mut unanswered, mut asked) = (0, 0, 0);
    if args.dialogues > 0 {
        let score = dialogues(&fixture, &embedder, &args).await?;
        score.print("dialogues");
        unfounded += score.unfounded;
        (unanswered, asked) = (unanswered + score.failed, asked + score.sessions);
    }
    if args.realmem > 0 {
        let data = args.data.as_deref().context("RealMem needs --data")?;
        let score = sessions(&fixture, &embedder, data, &args).await?;
        score.print("realmem");
        unfounded += score.unfounded;
        (unanswered, asked) = (unanswered + score.failed, asked + score.sessions);
    }
    ensure!(unanswered * 10 <= asked, "the model did not answer {unanswered} of {asked} times");
    // This must hold for any model.
    ensure!(unfounded == 0, "{unfounded} active memories have no quotation of the user");
    Ok(())
}

async fn dialogues(
    fixture: &LearningFixture,
    embedder: &Arc<dyn Embedder>,
    args: &Args,
) -> Result<Score> {
    let all = data::dialogues()?;
    let step = all.len().div_ceil(args.dialogues).max(1);
    let chosen: Vec<&Dialogue> = all.iter().step_by(step).take(args.dialogues).collect();
    let (mut score, mut cases) = (Score::default(), BTreeMap::new());
    let began = Instant::now();
    for (n, dialogue) in chosen.iter().enumerate() {
        let outcome = learn(fixture, &dialogue.id, &dialogue.turns).await?;
        score.add(&outcome);
        score.unfounded += unfounded(&outcome, &dialogue.turns);
        let texts: Vec<&str> = outcome.learned.iter().map(|m| m.content.as_str()).collect();
        let near = matches(embedder, &texts, &dialogue.gold).await?;
        let met = dialogue.must.iter().filter(|m| texts.iter().any(|text| says(text, m))).count();
        let right = texts.iter().enumerate().filter(|(place, text)| {
            near[*place] || dialogue.must.iter().any(|must| says(text, must))
        });
        let bad: Vec<&&str> = texts
            .iter()
            .filter(|text| dialogue.must_not.iter().any(|not| says(text, not)))
            .collect();
        score.wanted += dialogue.must.len();
        score.met += met;
        score.right += right.count();
        score.forbidden += bad.len();
        let case: &mut (usize, usize, usize, usize) =
            cases.entry(dialogue.case.clone()).or_default();
        *case = (case.0 + 1, case.1 + met, case.2 + dialogue.must.len(), case.3 + bad.len());
        if args.show {
            show(&dialogue.id, &outcome);
        }
        eprintln!(
            "extraction: {} of {}, {:.0} s",
            n + 1,
            chosen.len(),
            began.elapsed().as_secs_f64()
        );
    }
    for (case, (count, met, wanted, bad)) in &cases {
        println!("  {case:20} {count:3} dialogues, {met:3} of {wanted:3} learned, {bad:2} wrong");
    }
    Ok(score)
}

async fn sessions(
    fixture: &LearningFixture,
    embedder: &Arc<dyn Embedder>,
    data: &Path,
    args: &Args,
) -> Result<Score> {
    let set = realmem::load(data, false)?;
    let mut score = Score::default();
    // One session of each user in turn, so that a few of them are not all one user's.
    let most = set.users.iter().map(|data_user| data_user.sessions).max().unwrap_or(0);
    let order =
        (0..most).flat_map(|session| set.users.iter().map(move |data_user| (data_user, session)));
    let began = Instant::now();
    for (data_user, session) in order.filter(|(p, s)| *s < p.sessions).take(args.realmem) {
        let turns: Vec<Line> = data_user
            .turns
            .iter()
            .filter(|turn| turn.session == session)
            .map(|turn| Line {
                role: if turn.by_user { "user" } else { "assistant" }.into(),
                content: turn.text.clone(),
            })
            .collect();
        let gold: Vec<String> = data_user
            .memories
            .iter()
            .filter(|m| m.session == session)
            .map(|m| m.text.clone())
            .collect();
        let name = format!("{}-{session}", data_user.name);
        let outcome = learn(fixture, &name, &turns).await?;
        score.add(&outcome);
        score.unfounded += unfounded(&outcome, &turns);
        let texts: Vec<&str> = outcome.learned.iter().map(|m| m.content.as_str()).collect();
        score.right += matches(embedder, &texts, &gold).await?.iter().filter(|near| **near).count();
        let gold_texts: Vec<&str> = gold.iter().map(String::as_str).collect();
        let owned: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
        score.met +=
            matches(embedder, &gold_texts, &owned).await?.iter().filter(|near| **near).count();
        score.wanted += gold.len();
        if args.show {
            show(&name, &outcome);
        }
        eprintln!(
            "extraction: {} sessions, {:.0} s",
            score.sessions,
            began.elapsed().as_secs_f64()
        );
    }
    Ok(score)
}

/// Appends a conversation and lets the model learn from it. Deferred jobs are retried.
async fn learn(fixture: &LearningFixture, name: &str, lines: &[Line]) -> Result<Outcome> {
    let caller = fixture.key(name, Origin::Assistant);
    let turns = lines.iter().map(|line| {
        let role = Role::parse(&line.role).unwrap_or(Role::User);
        NewTurn::saying(role, &line.content)
    });
    fixture.chat(&caller, "chat", turns.collect()).await?;
    let failed = fixture.work(1).await.is_err();
    if failed {
        let sql = "delete from job where user_id = $1";
        fixture.admin.execute(sql, &[&caller.user.uuid()]).await?;
    }
    outcome(fixture, &caller, failed).await
}

async fn outcome(fixture: &LearningFixture, caller: &Caller, failed: bool) -> Result<Outcome> {
    let user = caller.user.uuid();
    let sql = "select content, state, evidence from fact_version where user_id = $1 \
               and extracted and known_until is null order by version_id";
    let mut learned = Vec::new();
    for row in fixture.admin.query(sql, &[&user]).await? {
        let evidence: Value = row.get(2);
        let quotes = evidence.as_array().into_iter().flatten();
        let quotes = quotes.filter_map(|one| one["description"].as_str().map(str::to_owned));
        learned.push(Learned { content: row.get(0), state: row.get(1), quotes: quotes.collect() });
    }
    let mut left = BTreeMap::new();
    let sql = "select outcome->'left' from pass where user_id = $1 and outcome is not null";
    for row in fixture.admin.query(sql, &[&user]).await? {
        let reasons: Value = row.get(0);
        for (reason, count) in reasons.as_object().into_iter().flatten() {
            *left.entry(reason.clone()).or_default() += count.as_u64().unwrap_or(0);
        }
    }
    let sql = "select count(*), coalesce(sum(input_tokens), 0)::bigint, \
               coalesce(sum(output_tokens), 0)::bigint from model_call where user_id = $1";
    let row = fixture.admin.query_one(sql, &[&user]).await?;
    Ok(Outcome { learned, left, calls: row.get(0), tokens: (row.get(1), row.get(2)), failed })
}

/// Active memories without a quotation that occurs in the user's turns.
fn unfounded(outcome: &Outcome, lines: &[Line]) -> usize {
    let user_texts: Vec<&str> =
        lines.iter().filter(|line| line.role == "user").map(|line| line.content.as_str()).collect();
    let is_quoted = |quote: &String| user_texts.iter().any(|text| text.contains(quote.as_str()));
    let believed = outcome.learned.iter().filter(|memory| memory.state == "active");
    believed.filter(|memory| !memory.quotes.iter().any(is_quoted)).count()
}

/// Whether a text has every one of the key words; `a|b` is either.
fn says(text: &str, words: &[String]) -> bool {
    let text = text.to_lowercase();
    words.iter().all(|word| word.split('|').any(|one| text.contains(&one.to_lowercase())))
}

/// For each text, whether one of the others means nearly the same.
async fn matches(
    embedder: &Arc<dyn Embedder>,
    texts: &[&str],
    others: &[String],
) -> Result<Vec<bool>> {
    if texts.is_empty() || others.is_empty() {
        return Ok(vec![false; texts.len()]);
    }
    let others: Vec<&str> = others.iter().map(String::as_str).collect();
    let (left, right) = (embedder.embed(texts).await?, embedder.embed(&others).await?);
    let near = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>() >= SAME;
    Ok(left.iter().map(|one| right.iter().any(|other| near(one, other))).collect())
}

fn show(name: &str, outcome: &Outcome) {
    println!("  {name} {:?}", outcome.left);
    for memory in &outcome.learned {
        println!("    {:9} {} {:?}", memory.state, memory.content, memory.quotes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_words_must_all_match_and_alternatives_suffice() {
        let words = ["guests".to_owned(), "denmark|danish".to_owned()];
        assert!(says("User's Guests are Danish.", &words));
        assert!(!says("User is Danish.", &words));
    }

    #[test]
    fn unfounded_memory_is_detected() {
        let line = |role: &str, content: &str| Line { role: role.into(), content: content.into() };
        let lines = [line("user", "I like tea."), line("assistant", "You live in Rome.")];
        let memory = |quote: &str| Learned {
            content: String::new(),
            state: "active".into(),
            quotes: vec![quote.into()],
        };
        let outcome = |quote: &str| Outcome {
            learned: vec![memory(quote)],
            left: BTreeMap::new(),
            tokens: (0, 0),
            calls: 1,
            failed: false,
        };
        assert_eq!(unfounded(&outcome("I like tea"), &lines), 0);
        assert_eq!(unfounded(&outcome("live in Rome"), &lines), 1);
    }
}
