//! Five conversations of one user: a preference that is repeated, a job that changes, a visit that
//! is to be forgotten, and an allergy while the domain of health is closed and after it is opened.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use lukasa_core::context::block::LineSource;
use lukasa_core::{Caller, Edit, FactId, NewTurn, Origin, Role};
use lukasa_engine::context::ContextRequest;
use lukasa_engine::directory::OptIn;
use lukasa_engine::facts::{ProposalDecision, Target};
use lukasa_models::local;
use lukasa_models::scripted::TestModels;

use super::dialogue::Dialogue;
use super::extraction::open_chat;
use super::fixture::LearningFixture;
use super::oracle::{Oracle, OracleMode};

const STORY: &str = include_str!("../../data/learning/story.json");

/// The session before which the user opens the domain of health.
const OPENED_BEFORE_SESSION: usize = 4;

/// What must hold at the end, in the order in which it is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StoryPoint {
    RepeatedFactIsOneMemory,
    RepeatedFactIsStrong,
    NewJobIsKnown,
    OldJobHasEnded,
    ForgottenVisitIsGone,
    AllergyIsNotStoredWhileClosed,
    ClosedDomainIsAskedAbout,
    AllergyIsProposedAfterOpening,
    AllergyIsInTheDessertContext,
}

/// The points, and whether each holds today with the scripted model. Those that do not are printed
/// as "not yet" and do not fail the eval.
const POINTS: [(StoryPoint, bool, &str); 9] = [
    (StoryPoint::RepeatedFactIsOneMemory, true, "a repeated fact is one memory"),
    (StoryPoint::RepeatedFactIsStrong, true, "a repeated fact is rated strong"),
    (StoryPoint::NewJobIsKnown, true, "the new job is known"),
    (StoryPoint::OldJobHasEnded, true, "the old job has ended"),
    (StoryPoint::ForgottenVisitIsGone, false, "the forgotten visit is gone"),
    (
        StoryPoint::AllergyIsNotStoredWhileClosed,
        true,
        "the allergy is not stored while health is closed",
    ),
    (StoryPoint::ClosedDomainIsAskedAbout, true, "the user is asked to open health"),
    (
        StoryPoint::AllergyIsProposedAfterOpening,
        true,
        "the allergy is proposed after opening health",
    ),
    (
        StoryPoint::AllergyIsInTheDessertContext,
        true,
        "after consent the allergy is in the dessert's context",
    ),
];

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// A chat model, MODEL@URL, instead of the scripted one. Its answers fail nothing.
    #[arg(long)]
    pub chat: Option<String>,
    /// A file with the key for it.
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// The folder of embedding models; the one in `minilm` is used.
    #[arg(long, value_name = "DIR")]
    pub models: Option<PathBuf>,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// A memory of the story's user.
#[derive(Debug)]
struct StoryMemory {
    fact: FactId,
    content: String,
    state: String,
    tier: String,
}

pub async fn run(args: Args) -> Result<()> {
    lukasa_models::tls::install();
    let oracle = Oracle::literal();
    let chat = match &args.chat {
        Some(name) => open_chat(name, args.key.as_deref())?,
        None => oracle.chat(),
    };
    let embedder = match &args.models {
        Some(folder) => Some(local::open(&folder.join("minilm"))?),
        None => None,
    };
    let embedders = embedder.into_iter().collect();
    let models = TestModels { chats: vec![chat], embedders, ..TestModels::default() };
    let fixture = LearningFixture::open(Arc::new(models), args.seed).await?.with_statements();
    let story: Arc<Dialogue> = Arc::new(serde_json::from_str(STORY).context("story.json")?);
    let holding = tell(&fixture, &oracle, &story).await?;
    let mut broken = Vec::new();
    for (point, holds_today, words) in POINTS {
        let holds = holding.contains(&point);
        let verdict = match (holds, holds_today) {
            (true, _) => "yes",
            (false, true) => "no",
            (false, false) => "not yet",
        };
        println!("{verdict:8} {words}");
        if !holds && holds_today {
            broken.push(words);
        }
    }
    ensure!(args.chat.is_some() || broken.is_empty(), "no longer holds: {}", broken.join("; "));
    Ok(())
}

/// Runs the conversations and returns the points that hold.
async fn tell(
    fixture: &LearningFixture,
    oracle: &Oracle,
    story: &Arc<Dialogue>,
) -> Result<Vec<StoryPoint>> {
    let human = fixture.human("lena");
    let caller = fixture.key("lena", Origin::Assistant);
    let mut holding = Vec::new();
    let mut day = 0;
    for (n, session) in story.sessions.iter().enumerate() {
        fixture.pass_days(session.day - day);
        day = session.day;
        if n == OPENED_BEFORE_SESSION {
            if find(&load(fixture, &human).await?, "hazelnut").next().is_none() {
                holding.push(StoryPoint::AllergyIsNotStoredWhileClosed);
            }
            if is_asked_about_health(fixture, &human).await? {
                holding.push(StoryPoint::ClosedDomainIsAskedAbout);
            }
            let request = fixture.request(&human);
            fixture.engine.directory.set_opt_in(&request, "health", OptIn::Open).await?;
        }
        oracle.turn_to(story, n, OracleMode::Faithful);
        let turns = session.turns.iter().map(|line| {
            NewTurn::saying(Role::parse(&line.role).unwrap_or(Role::User), &line.content)
        });
        fixture.chat(&caller, &format!("chat-{n}"), turns.collect()).await?;
        fixture.work(1).await?;
    }
    // The daily upkeep rates what was repeated.
    fixture.pass_days(1);
    fixture.work(1).await?;
    if accept_allergy(fixture, &human).await? {
        holding.push(StoryPoint::AllergyIsProposedAfterOpening);
    }
    let memories = load(fixture, &human).await?;
    for memory in &memories {
        println!("  {:9} {:9} {}", memory.state, memory.tier, memory.content);
    }
    let active: Vec<&StoryMemory> = memories.iter().filter(|m| m.state == "active").collect();
    let count = |words: &str| active.iter().filter(|m| has(&m.content, words)).count();
    let is_strong = |m: &&StoryMemory| has(&m.content, "trains") && m.tier == "strong";
    let of_context = context_lines(fixture, &caller, story).await?;
    let ends = [
        (StoryPoint::RepeatedFactIsOneMemory, count("trains") == 1),
        (StoryPoint::RepeatedFactIsStrong, active.iter().copied().any(|m| is_strong(&m))),
        (StoryPoint::NewJobIsKnown, count("physiotherapist") > 0),
        (StoryPoint::OldJobHasEnded, count("nurse") == 0),
        (StoryPoint::ForgottenVisitIsGone, find(&memories, "marta").next().is_none()),
        (StoryPoint::AllergyIsInTheDessertContext, has(&of_context, "hazelnut")),
    ];
    holding.extend(ends.iter().filter(|(_, holds)| *holds).map(|(point, _)| *point));
    Ok(holding)
}

fn has(text: &str, words: &str) -> bool {
    text.to_lowercase().contains(words)
}

fn find<'a>(memories: &'a [StoryMemory], words: &'a str) -> impl Iterator<Item = &'a StoryMemory> {
    memories.iter().filter(move |memory| has(&memory.content, words))
}

/// The memories that are valid now and neither forgotten nor in the trash.
async fn load(fixture: &LearningFixture, caller: &Caller) -> Result<Vec<StoryMemory>> {
    let now = fixture.moment().now.to_string();
    let sql = "select fact_id, content, state, tier from fact_version \
               where user_id = $1 and known_until is null and valid_from <= $2::text::timestamptz \
                 and (valid_until is null or valid_until > $2::text::timestamptz) \
                 and state in ('active', 'proposed', 'candidate') order by version_id";
    let rows = fixture.admin.query(sql, &[&caller.user.uuid(), &now]).await?;
    let memory = |row: &tokio_postgres::Row| StoryMemory {
        fact: FactId::from_uuid(row.get(0)),
        content: row.get(1),
        state: row.get(2),
        tier: row.get(3),
    };
    Ok(rows.iter().map(memory).collect())
}

/// Whether the review asks the user to open the domain.
async fn is_asked_about_health(fixture: &LearningFixture, caller: &Caller) -> Result<bool> {
    let review = fixture.engine.review.list(caller, fixture.moment().now).await?;
    Ok(review.domains.iter().any(|asked| asked.domain.name == "health"))
}

/// Accepts the proposal about the allergy, as the user does in the console.
async fn accept_allergy(fixture: &LearningFixture, human: &Caller) -> Result<bool> {
    let memories = load(fixture, human).await?;
    let mut waiting = find(&memories, "hazelnut").filter(|memory| memory.state == "proposed");
    let Some(proposal) = waiting.next() else { return Ok(false) };
    let target = Target::Id(proposal.fact);
    let now = fixture.moment().now;
    let shown =
        fixture.engine.facts.get(human, &target, lukasa_engine::Point::default(), now).await?;
    let decision = ProposalDecision::Yes {
        digest: Some(shown.version.claim.consent_digest()),
        edit: Box::new(Edit::default()),
    };
    fixture.engine.facts.confirm(&fixture.request(human), &target, decision).await?;
    Ok(true)
}

/// The lines of memories in the context of the story's last question.
async fn context_lines(
    fixture: &LearningFixture,
    caller: &Caller,
    story: &Dialogue,
) -> Result<String> {
    let question = story.next.as_ref().map_or("", |next| next.question.as_str());
    let ask = ContextRequest { session: Some("next".into()), ..ContextRequest::about(question) };
    let context = fixture.engine.context.retrieve(caller, &ask, fixture.moment()).await?;
    let items = context.baseline.items.iter().chain(&context.dynamic.items);
    let memories = items.filter(|line| matches!(line.source, LineSource::Memory { .. }));
    Ok(memories.map(|line| line.line.as_str()).collect::<Vec<_>>().join("\n"))
}
