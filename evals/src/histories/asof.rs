//! I4: the same point on both axes gives the same bytes at any time.
//!
//! An answer is recorded when both coordinates are given and the known one is in the past, where
//! nothing can be written any more. It is asked again at the end of the history. Erased or purged
//! rows are excepted, and counted.

use anyhow::Result;
use lukasa_core::FactId;
use lukasa_engine::Memory;
use lukasa_engine::facts::{ListFilter, Listing, Target};

use super::fixture::{Fixture, TestUsers, time};
use super::perform::{EVERYTHING, Reply, on_axes};
use super::report::{Check, Findings};
use super::step::{Action, Point, Step};
use super::witness::Snapshot;

/// An answer that must never change.
pub struct Recorded {
    pub user: usize,
    step: Step,
    question: Question,
    pub lines: Vec<(FactId, String)>,
}

enum Question {
    List(Listing),
    Get(FactId, Point),
}

impl Recorded {
    /// Records an answer if it is one that must not change. `last` is the newest instant of the
    /// user's known axis, `fact` the queried memory, if it was named by its id.
    pub fn of(
        step: &Step,
        last: Option<i64>,
        fact: Option<FactId>,
        reply: Option<&Reply>,
    ) -> Option<Self> {
        let (point, question) = match &step.action {
            Action::List { status, point, .. } => {
                let filter = ListFilter { status: *status, ..ListFilter::default() };
                let listing =
                    Listing { filter, point: on_axes(*point), after: None, limit: EVERYTHING };
                (*point, Question::List(listing))
            }
            Action::Get { point, .. } => (*point, Question::Get(fact?, *point)),
            _ => return None,
        };
        let settled = point.valid.is_some() && point.known.zip(last).is_some_and(|(k, l)| k <= l);
        let lines = match reply {
            Some(Reply::Listed(memories)) => memories.iter().map(line).collect(),
            Some(Reply::Got(memory)) => vec![line(memory)],
            _ => Vec::new(),
        };
        settled.then(|| Self { user: step.user, step: step.clone(), question, lines })
    }

    /// Asks again and compares. Returns how many lines were excepted.
    pub async fn ask_again(
        &self,
        fixture: &Fixture,
        test_users: &TestUsers,
        now: &Snapshot,
        findings: &mut Findings,
    ) -> Result<u64> {
        let caller = test_users.reader(self.user);
        // Both coordinates are given, so the clock must not matter.
        let clock = time(0);
        let again: Vec<(FactId, String)> = match &self.question {
            Question::List(listing) => fixture
                .engine
                .facts
                .list(&caller, listing, clock)
                .await?
                .memories
                .iter()
                .map(line)
                .collect(),
            Question::Get(fact, point) => {
                let target = Target::Id(*fact);
                match fixture.engine.facts.get(&caller, &target, on_axes(*point), clock).await {
                    Ok(memory) => vec![line(&memory)],
                    Err(lukasa_engine::Error::MemoryNotFound) => Vec::new(),
                    Err(error) => return Err(error.into()),
                }
            }
        };
        let erased = |fact: &FactId| now.tombstones.contains(&(self.user, fact.uuid()));
        let (gone, stays): (Vec<_>, Vec<_>) = self.lines.iter().partition(|(fact, _)| erased(fact));
        findings.check(Check::AsOf, stays.iter().copied().eq(again.iter()), || {
            let print = |lines: Vec<&(FactId, String)>| {
                lines.iter().map(|(fact, line)| format!("\n  {fact} {line}")).collect::<String>()
            };
            format!("{}\nwas{}\nis{}", self.step, print(stays), print(again.iter().collect()))
        });
        Ok(gone.len() as u64)
    }
}

fn line(memory: &Memory) -> (FactId, String) {
    let v = &memory.version;
    let status = memory.status.as_str();
    (v.fact, format!("{} {:?} {:?} {status}", v.number, v.claim.content, v.valid))
}
