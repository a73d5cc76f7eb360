//! One history: each step is sent to the engine and evaluated by the model, the two answers are
//! compared, and every so often the tables themselves are read and checked.

use std::collections::HashMap;

use anyhow::{Context, Result};
use lukasa_core::LinkId;
use lukasa_engine::Outcome;
use rand::SeedableRng;
use rand::rngs::StdRng;
use uuid::Uuid;

use super::asof::Recorded;
use super::compare::{Compared, EngineAnswer, Refusal};
use super::fixture::{Bound, Fixture, TestUsers, USERS};
use super::generate::Author;
use super::invariants::{self, line};
use super::model::{Past, Row, Tie, UserModel, Verdict};
use super::mutants::Mutant;
use super::perform::{Performer, Reply};
use super::report::{Check, Findings, Report};
use super::step::{Action, No, Step, Target};
use super::witness::Snapshot;

/// Number of steps between two readings of the tables.
const STEPS_BETWEEN_CHECKS: usize = 10;

pub struct History<'a> {
    pub fixture: &'a Fixture,
    pub test_users: TestUsers,
    pub bound: Bound,
    pub models: Vec<UserModel>,
    pub recorded: Vec<Recorded>,
    pub findings: Findings,
    /// The steps so far, with the result of each.
    pub script: Vec<Step>,
    pub transcript: Vec<String>,
    outcomes: HashMap<No, Outcome>,
    before: Option<Snapshot>,
    unchecked: usize,
    ended: bool,
    mutant: Option<Mutant>,
}

impl<'a> History<'a> {
    async fn begin(fixture: &'a Fixture, seed: u64, mutant: Option<Mutant>) -> Result<Self> {
        Ok(Self {
            fixture,
            test_users: fixture.test_users(seed).await?,
            bound: Bound::default(),
            models: (0..USERS).map(|_| UserModel::default()).collect(),
            recorded: Vec::new(),
            findings: Findings::default(),
            script: Vec::new(),
            transcript: Vec::new(),
            outcomes: HashMap::new(),
            before: None,
            unchecked: 0,
            ended: false,
            mutant,
        })
    }

    /// A random history of `steps` steps, or as many as the seed determines.
    pub async fn random(
        fixture: &'a Fixture,
        seed: u64,
        steps: Option<usize>,
        mutant: Option<Mutant>,
        report: &mut Report,
    ) -> Result<Self> {
        let mut history = Self::begin(fixture, seed, mutant).await?;
        let mut author = Author::new(StdRng::seed_from_u64(seed), seed);
        for _ in 0..author.length(steps) {
            let step = author.next(&history.models, &history.script);
            history.apply(step, report).await?;
            if !history.findings.violations.is_empty() {
                break;
            }
        }
        history.end(report).await?;
        Ok(history)
    }

    /// Replays the same steps, or some of them.
    pub async fn replay(
        fixture: &'a Fixture,
        seed: u64,
        script: impl Iterator<Item = &Step>,
        mutant: Option<Mutant>,
    ) -> Result<Self> {
        let mut history = Self::begin(fixture, seed, mutant).await?;
        let mut report = Report::default();
        for step in script {
            history.apply(step.clone(), &mut report).await?;
            if !history.findings.violations.is_empty() {
                break;
            }
        }
        history.end(&mut report).await?;
        Ok(history)
    }

    async fn apply(&mut self, step: Step, report: &mut Report) -> Result<()> {
        self.ended = false;
        if let Some(mutant) = self.mutant {
            mutant.strike_before(self, &step).await?;
        }
        let user = self.test_users.actors[step.user].user.uuid();
        let replays = matches!(self.models[step.user].replays(&step), Ok(Some(_)));
        let amount = match replays {
            true => Some(self.fixture.witness.amount(&self.fixture.admin, user).await?),
            false => None,
        };
        let engine_answer = self.perform_step(&step).await;
        self.transcript.push(format!("{step} -> {}", summary(&engine_answer)));
        self.check_canaries(&step, &engine_answer);
        self.script.push(step.clone());
        if step.action.reads() {
            report.tally(step.action.name(), label(None, &engine_answer));
            let compared = self.compared(&step).read(&engine_answer);
            self.findings.answer(Check::Answer, compared);
            self.record(&step, &engine_answer);
            return Ok(());
        }
        let verdict = self.models[step.user].judge(&step);
        report.tally(step.action.name(), label(Some(&verdict), &engine_answer));
        self.bind(&step, &verdict, &engine_answer).await?;
        let compared = self.compared(&step).write(&verdict, &engine_answer);
        if let Some(amount) = amount {
            let after = self.fixture.witness.amount(&self.fixture.admin, user).await?;
            let quiet = if amount == after { Ok(()) } else { Err(format!("{amount:?} {after:?}")) };
            self.findings.answer(Check::Idempotent, compared.clone().and(quiet));
        }
        self.findings.answer(Check::Answer, compared);
        self.keep(&step, &verdict, engine_answer);
        self.check_when_due(&step, &verdict, report).await
    }

    async fn perform_step(&self, step: &Step) -> EngineAnswer {
        let performer = Performer {
            engine: &self.fixture.engine,
            test_users: &self.test_users,
            bound: &self.bound,
            model: &self.models[step.user],
        };
        performer.perform(step).await.map_err(|error| {
            let mut refusal = Refusal::of(&error, &self.bound);
            if let Some(mutant) = self.mutant {
                refusal.code = mutant.twist(refusal.code);
            }
            refusal
        })
    }

    fn compared<'b>(&'b self, step: &'b Step) -> Compared<'b> {
        Compared {
            step,
            model: &self.models[step.user],
            bound: &self.bound,
            outcomes: &self.outcomes,
        }
    }

    /// Records the engine's ids of what the step created.
    async fn bind(
        &mut self,
        step: &Step,
        verdict: &Verdict,
        engine_answer: &EngineAnswer,
    ) -> Result<()> {
        let (Verdict::Done, Ok(Reply::Wrote(outcome))) = (verdict, engine_answer) else {
            return Ok(());
        };
        if let Some(operation) = outcome.operation {
            self.bound.operations.bind(step.no, operation);
        }
        if let (Action::Save(_), Some(memory)) = (&step.action, outcome.memories.first()) {
            self.bound.facts.bind(step.no, memory.version.fact);
        }
        if let (Action::Link { .. }, Some(link)) = (&step.action, &outcome.link) {
            self.bound.links.bind(step.no, link.id);
        }
        // An undo that restores a link does not return its new id.
        let retied = self.models[step.user].ties.iter().any(|tie| tie.no == step.no);
        if let (Action::Undo(_) | Action::UndoLast, true) = (&step.action, retied) {
            let user = self.test_users.actors[step.user].user.uuid();
            let operation = self.bound.operation(step.no).uuid();
            let sql = "select link_id from link where user_id = $1 and opened_by = $2";
            let found = self.fixture.admin.query_opt(sql, &[&user, &operation]).await;
            if let Some(row) = found.context("looking for a link")? {
                self.bound.links.bind(step.no, LinkId::from_uuid(row.try_get::<_, Uuid>(0)?));
            }
        }
        Ok(())
    }

    /// Stores an answer that a retry must get again.
    fn keep(&mut self, step: &Step, verdict: &Verdict, engine_answer: EngineAnswer) {
        let (Some(key), Ok(Reply::Wrote(outcome))) = (step.key, engine_answer) else { return };
        // Where two memories have the same content, the model learns which one was shown.
        if let (Verdict::Nothing(facts), Some(memory)) = (verdict, outcome.memories.first())
            && facts.len() > 1
            && matches!(step.action, Action::Save(_))
            && let Some(stored_answer) = self.models[step.user].stored_answers.get_mut(&key.name)
        {
            stored_answer.quotes =
                self.bound.facts.number(memory.version.fact).into_iter().collect();
        }
        self.outcomes.insert(step.no, *outcome);
    }

    fn record(&mut self, step: &Step, engine_answer: &EngineAnswer) {
        let fact = match &step.action {
            Action::Get { target: Target::Fact(no), .. } => Some(self.bound.fact(*no)),
            _ => None,
        };
        let last = self.models[step.user].last_at();
        self.recorded.extend(Recorded::of(step, last, fact, engine_answer.as_ref().ok()));
    }

    fn check_canaries(&mut self, step: &Step, engine_answer: &EngineAnswer) {
        let text = match engine_answer {
            Ok(reply) => format!("{reply:?}"),
            Err(refusal) => refusal.text.clone(),
        };
        let foreign = self.test_users.foreign_canary(step.user, &text);
        self.findings.check(Check::Isolation, foreign.is_none(), || {
            format!("user {} was shown {foreign:?}: {text}", step.user)
        });
    }

    async fn check_when_due(
        &mut self,
        step: &Step,
        verdict: &Verdict,
        report: &mut Report,
    ) -> Result<()> {
        let struck = match self.mutant {
            Some(mutant) => mutant.strike_after(self, step, verdict).await?,
            None => false,
        };
        self.unchecked += 1;
        let undone =
            *verdict == Verdict::Done && matches!(step.action, Action::Undo(_) | Action::UndoLast);
        if struck {
            self.end(report).await
        } else if undone || self.unchecked >= STEPS_BETWEEN_CHECKS {
            self.check_tables().await
        } else {
            Ok(())
        }
    }

    /// The last reading of the tables, and every recorded answer asked for again.
    async fn end(&mut self, report: &mut Report) -> Result<()> {
        if self.ended {
            return Ok(());
        }
        self.ended = true;
        self.check_tables().await?;
        let now = self.before.take().unwrap_or_default();
        for recorded in &self.recorded {
            let again =
                recorded.ask_again(self.fixture, &self.test_users, &now, &mut self.findings);
            report.excepted += again.await?;
        }
        self.before = Some(now);
        Ok(())
    }

    async fn check_tables(&mut self) -> Result<()> {
        self.unchecked = 0;
        let now =
            self.fixture.witness.look(&self.fixture.admin, &self.test_users, &self.bound).await?;
        invariants::check(self.before.as_ref(), &now, &self.test_users, &mut self.findings);
        for (user, model) in self.models.iter().enumerate() {
            compare_rows(user, model, &now, &mut self.findings);
        }
        self.before = Some(now);
        Ok(())
    }

    /// A row of the user that was already closed at the last reading of the tables.
    pub fn seen_closed(&self, user: usize) -> Option<Uuid> {
        let mut seen = self.before.iter().flat_map(|before| &before.versions);
        seen.find(|stored| stored.user == user && stored.closed_by.is_some())
            .map(|stored| stored.version)
    }
}

/// The whole history of a user, row by row, and every link.
fn compare_rows(user: usize, model: &UserModel, now: &Snapshot, findings: &mut Findings) {
    let plain = |row: &Row| Row { past: Past::default(), ..row.clone() };
    let mut expected: Vec<Row> = model.rows.iter().map(plain).collect();
    let of_user = now.versions.iter().filter(|stored| stored.user == user);
    let mut found: Vec<Row> = of_user.map(|stored| stored.row.clone()).collect();
    let order = |row: &Row| (row.fact, row.known, row.valid, row.number);
    expected.sort_by_key(order);
    found.sort_by_key(order);
    findings.check(Check::State, expected == found, || {
        let missing = expected.iter().filter(|row| !found.contains(row));
        let extra = found.iter().filter(|row| !expected.contains(row));
        let lines: Vec<String> = missing
            .map(|row| format!("\n  expected {} {:?}", line(row), row.claim))
            .chain(extra.map(|row| format!("\n  found    {} {:?}", line(row), row.claim)))
            .collect();
        format!("the rows of user {user} differ:{}", lines.concat())
    });
    let plain = |tie: &Tie| Tie { root: tie.no, ..tie.clone() };
    let mut expected: Vec<Tie> = model.ties.iter().map(plain).collect();
    let mut found: Vec<_> = now
        .ties
        .iter()
        .filter(|stored| stored.user == user)
        .map(|stored| stored.tie.clone())
        .collect();
    expected.sort_by_key(|tie| (tie.no, tie.known));
    found.sort_by_key(|tie| (tie.no, tie.known));
    findings.check(Check::State, expected == found, || {
        format!("the links of user {user} differ:\n  expected {expected:?}\n  found {found:?}")
    });
}

fn label<'h>(verdict: Option<&Verdict>, engine_answer: &'h EngineAnswer) -> &'h str {
    match (engine_answer, verdict) {
        (Err(refusal), _) => refusal.code,
        (Ok(_), Some(Verdict::Again(_))) => "replayed",
        (Ok(_), Some(Verdict::Nothing(_))) => "ok (nothing to write)",
        (Ok(_), _) => "ok",
    }
}

fn summary(engine_answer: &EngineAnswer) -> String {
    match engine_answer {
        Err(refusal) => refusal.code.to_owned(),
        Ok(Reply::Wrote(outcome)) => match outcome.operation {
            Some(_) => format!("ok, {}", outcome.message),
            None => format!("ok, nothing written: {}", outcome.message),
        },
        Ok(Reply::Listed(memories)) => format!("{} memories", memories.len()),
        Ok(_) => "ok".to_owned(),
    }
}
