//! Exactly-once learning: a process that closes a session, calls a model and applies the answer is
//! crashed at every crash point and restarted. The final state must equal that of a run without
//! crashes: the same memories, every turn in exactly one pass, and no more model calls than the
//! crashes explain.

mod child;
mod scenarios;

use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, bail, ensure};
use lukasa_core::job::LEASE;
use lukasa_core::{Caller, TenantId};
use lukasa_engine::facts::NewMemory;
use lukasa_engine::jobs::WorkOutcome;
use lukasa_engine::sessions::NewSession;
use lukasa_engine::{Engine, Request};
use lukasa_models::scripted::chat_server::{ChatServer, ScriptedReply};
use lukasa_models::scripted::{ScriptedChat, TestModels};
use lukasa_store::testing::TestDatabase;
use serde_json::json;
use tokio_postgres::Client;

use child::{TENANT, moment};
use scenarios::{Answered, Scenario, user};

pub use child::{Args as ChildArgs, run as run_child};

#[derive(Debug, Clone, clap::Args)]
pub struct Args {
    /// Run only the first conversations.
    #[arg(long)]
    pub scenarios: Option<usize>,
    /// Crash only at every n-th crash point.
    #[arg(long, default_value_t = 1)]
    pub every: u64,
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Plant a fault that must be caught.
    #[arg(long, value_enum)]
    pub plant: Option<Plant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Plant {
    /// The watermark does not move with the learned facts.
    Watermark,
    /// The model's answer is not stored before it is used.
    Answer,
}

/// 2026-01-01, in seconds.
const START: i64 = 1_767_225_600;

pub async fn run(args: Args) -> Result<()> {
    lukasa_models::tls::install();
    println!("seed {}", args.seed);
    let database = TestDatabase::fresh().await;
    let admin = database.admin().await;
    let fixture = CrashFixture::open(&database, args.seed).await?;
    let mut scenarios = scenarios::all();
    scenarios.truncate(args.scenarios.unwrap_or(usize::MAX));
    let mut expected = Vec::new();
    for (number, scenario) in scenarios.iter().enumerate() {
        let user = format!("{number}-calm");
        let calm = fixture.run_scenario(&admin, scenario, &user, None).await?;
        ensure!(calm.wrong.is_empty(), "{}: {:?} without any crash", scenario.name, calm.wrong);
        expected.push(calm);
    }
    if let Some(plant) = args.plant {
        database.leave_unchecked();
        admin.batch_execute(plant.sql()).await.context("planting")?;
    }
    let (mut crashes, mut places, mut wrong) = (0, u64::MAX, Vec::new());
    for (number, scenario) in scenarios.iter().enumerate() {
        let calm = &expected[number];
        places = places.min(calm.places);
        let mut failed = 0;
        for at in (1..=calm.places).step_by(usize::try_from(args.every)?) {
            let user = format!("{number}-at-{at}");
            let played = fixture.run_scenario(&admin, scenario, &user, Some(at)).await?;
            crashes += usize::from(played.crashed);
            let mut faults = played.wrong;
            if !played.crashed {
                faults.push("it did not crash".into());
            }
            if played.state != calm.state {
                faults.push(format!("{}\n    instead of\n    {}", played.state, calm.state));
            }
            if played.asked > calm.asked + 1 {
                faults.push(format!("asked {} times, {} without", played.asked, calm.asked));
            }
            failed += usize::from(!faults.is_empty());
            let place = format!("{} at {at} of {}", scenario.name, calm.places);
            wrong.extend(faults.into_iter().map(|fault| format!("{place}: {fault}")));
        }
        let asked = calm.asked;
        println!("{:24} {:4} places, {asked} asked, {failed} wrong", scenario.name, calm.places);
    }
    let count = scenarios.len();
    println!("{crashes} crashes in {count} conversations, at least {places} places in each");
    for fault in wrong.iter().take(10) {
        println!("  {fault}");
    }
    match (args.plant, wrong.len()) {
        (None, 0) => Ok(()),
        (None, many) => bail!("{many} differences from the run without a crash"),
        (Some(plant), 0) => bail!("the planted fault {plant:?} was not caught"),
        (Some(plant), many) => {
            println!("the planted fault {plant:?} was caught {many} times");
            Ok(())
        }
    }
}

impl Plant {
    fn sql(self) -> &'static str {
        match self {
            Plant::Watermark => {
                "create function stay() returns trigger language plpgsql as $$ begin \
                   new.extracted_through := old.extracted_through; return new; end $$; \
                 create trigger stay before update on session for each row execute function stay()"
            }
            Plant::Answer => {
                "create function lose() returns trigger language plpgsql as $$ begin \
                   return null; end $$; \
                 create trigger lose before insert on pass for each row execute function lose()"
            }
        }
    }
}

/// Result of one conversation.
struct ScenarioResult {
    state: String,
    asked: usize,
    places: u64,
    crashed: bool,
    wrong: Vec<String>,
}

/// The model's answer to its n-th call.
type Script = fn(usize) -> Answered;

struct CrashFixture {
    engine: Engine,
    url: String,
    server: ChatServer,
    /// The current script of the model, and its number of calls about memories.
    script: Arc<Mutex<Script>>,
    asked: Arc<AtomicUsize>,
    seed: u64,
}

impl CrashFixture {
    async fn open(database: &TestDatabase, seed: u64) -> Result<Self> {
        let script: Arc<Mutex<Script>> = Arc::new(Mutex::new(|_| Answered::Away));
        let asked = Arc::new(AtomicUsize::new(0));
        let (current_script, counted) = (script.clone(), asked.clone());
        let server = ChatServer::start(move |body| {
            let name = &body["response_format"]["json_schema"]["name"];
            if name != "memories" {
                return ScriptedReply::Text(json!({"title": "Tea", "summary": "Tea."}).to_string());
            }
            let nth = counted.fetch_add(1, Ordering::SeqCst);
            let Ok(script) = current_script.lock() else {
                return ScriptedReply::Status(500, String::new());
            };
            match script(nth) {
                Answered::Memories(memories) => ScriptedReply::Text(
                    json!({"title": "A chat", "summary": "They talked.", "memories": memories})
                        .to_string(),
                ),
                Answered::Words(words) => ScriptedReply::Text(words.to_owned()),
                Answered::Away => ScriptedReply::Status(503, String::new()),
            }
        })
        .await;
        let engine = Engine::connect(&database.connect())?;
        engine.credentials.ensure_tenant(TENANT, moment(START, 0, 0)?.now).await?;
        Ok(Self { engine, url: database.url(), server, script, asked, seed })
    }

    /// Sets up a user, runs the child (with a crash if requested) until no jobs are left, and reads
    /// the resulting state.
    async fn run_scenario(
        &self,
        admin: &Client,
        scenario: &Scenario,
        name: &str,
        at: Option<u64>,
    ) -> Result<ScenarioResult> {
        let caller = Caller::human(TenantId::named(TENANT), name, "local");
        let sessions = self.set(scenario, &caller).await?;
        if let Ok(mut script) = self.script.lock() {
            *script = scenario.answer;
        }
        self.asked.store(0, Ordering::SeqCst);
        // Each round starts after the lease of the previous one has expired.
        let round = LEASE.as_secs() + 30;
        let (crashed, places) = self.child(name, sessions, START + 120, at)?;
        let (again, _) = self.child(name, sessions, START + 120 + round, None)?;
        let (third, _) = self.child(name, sessions, START + 120 + 2 * round, None)?;
        let mut wrong = Vec::new();
        if again || third {
            wrong.push("the process ended by itself".to_owned());
        }
        let user = caller.user.uuid();
        let twice: i64 = admin.query_one(TURNS_NOT_ONCE, &[&user]).await?.get(0);
        if twice != 0 {
            wrong.push(format!("{twice} turns are not in exactly one pass"));
        }
        let left: i64 = admin.query_one(WORK_LEFT, &[&user]).await?.get(0);
        if left != 0 {
            wrong.push(format!("{left} jobs are left"));
        }
        let state: String = admin.query_one(STATE, &[&user]).await?.get(0);
        // Leftover jobs of this user must not run in the next scenario.
        admin.execute("delete from job where user_id = $1", &[&user]).await?;
        let asked = self.asked.load(Ordering::SeqCst);
        Ok(ScenarioResult { state, asked, places, crashed, wrong })
    }

    async fn set(&self, scenario: &Scenario, caller: &Caller) -> Result<usize> {
        let mut step = 1_000;
        let mut request = || -> Result<Request> {
            step += 1;
            Ok(Request::new(caller.clone(), moment(START, self.seed, step)?))
        };
        let engine = &self.engine;
        engine.policies.set(&request()?, (scenario.patch)()).await?;
        for content in scenario.stated {
            engine.facts.save(&request()?, NewMemory::saying(content)).await?;
        }
        for (nth, (stated_turn, learned)) in scenario.learned.iter().enumerate() {
            let item = json!({"op": "add", "content": learned, "kind": "preference",
                "importance": 8, "confidence": 0.9, "evidence": [{"turn": 1, "quote": stated_turn}]});
            let answer = json!({"memories": [item]}).to_string();
            let chat = Arc::new(ScriptedChat::saying(move |_| answer.clone()));
            let learning = engine.clone().with_models(TestModels::that_chats(chat));
            let session = format!("before-{nth}");
            learning.sessions.append_turns(&request()?, &session, vec![user(stated_turn)]).await?;
            learning.sessions.close(&request()?, &session, None).await?;
            while learning.jobs.work("before", request()?.moment).await? != WorkOutcome::Nothing {}
        }
        let sessions = (scenario.sessions)();
        for (number, turns) in sessions.iter().enumerate() {
            let id = Some(format!("s{number}"));
            let new = NewSession { id, keep: Some(scenario.keep), ..NewSession::default() };
            engine.sessions.open(&request()?, new).await?;
            engine.sessions.append_turns(&request()?, &format!("s{number}"), turns.clone()).await?;
        }
        Ok(sessions.len())
    }

    /// Runs the child; returns whether it crashed, and otherwise how many crash points it passed.
    fn child(&self, user: &str, sessions: usize, now: i64, at: Option<u64>) -> Result<(bool, u64)> {
        let mut command = Command::new(std::env::current_exe()?);
        command
            .arg("crash-child")
            .args(["--database", &self.url, "--user", user])
            .args(["--chat", &format!("scripted@{}", self.server.url())])
            .args(["--sessions", &sessions.to_string(), "--now", &now.to_string()])
            .args(["--seed", &self.seed.to_string()])
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        if let Some(at) = at {
            command.args(["--at", &at.to_string()]);
        }
        let output = tokio::task::block_in_place(|| command.output())?;
        if output.status.success() {
            let text = String::from_utf8_lossy(&output.stdout);
            return Ok((false, text.trim().parse().unwrap_or(0)));
        }
        // An abort is a signal; any other exit is a failure with a message.
        Ok((output.status.code().is_none(), 0))
    }
}

const TURNS_NOT_ONCE: &str = "select count(*) from ( \
    select s.session_id, n, (select count(*) from pass p where p.user_id = s.user_id \
        and p.session_id = s.session_id and p.state = 'applied' \
        and n between p.first_turn and p.last_turn) as passes \
      from session s, generate_series(1, s.turns) as n where s.user_id = $1) t \
    where passes <> 1";

const WORK_LEFT: &str = "select count(*) from job where user_id = $1 and kind <> 'upkeep'";

/// The user's state without anything that depends on time.
const STATE: &str = "select jsonb_build_object( \
    'versions', (select jsonb_agg(jsonb_build_array(v.content, v.state, v.tier, v.origin, \
        v.extracted, v.confidence, v.importance, v.domain, v.evidence, v.session, v.number, \
        cardinality(v.turns), v.known_until is null, v.valid_from, \
        v.valid_until is null) order by v.content, v.state, v.number, v.known_until is null, \
        v.evidence::text, v.valid_until is null) \
      from fact_version v where v.user_id = $1), \
    'links', (select jsonb_agg(jsonb_build_array(l.relation, l.known_until is null) \
        order by l.relation) from link l where l.user_id = $1), \
    'sessions', (select jsonb_agg(jsonb_build_array(s.session_id, s.state, s.extracted_through, \
        s.summary, s.turns, s.title, (select count(*) from turn t where t.user_id = $1 \
        and t.session_id = s.session_id)) order by s.session_id) from session s \
      where s.user_id = $1), \
    'episodes', (select jsonb_agg(jsonb_build_array(e.session_id, e.first_turn, e.last_turn, \
        e.title, e.summary, e.origin) order by e.session_id, e.first_turn) from episode e \
      where e.user_id = $1), \
    'passes', (select jsonb_agg(jsonb_build_array(p.session_id, p.first_turn, p.last_turn, \
        p.state, p.outcome) order by p.session_id, p.first_turn) from pass p \
      where p.user_id = $1), \
    'operations', (select jsonb_agg(o.verb order by o.verb) from operation o \
      where o.user_id = $1), \
    'passages', (select count(*) from passage where user_id = $1))::text";
