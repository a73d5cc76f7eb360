//! The expected view of a user, computed from acknowledged answers alone.
//!
//! A memory is a list of rows in the order of their validity: its earlier contents, and the current
//! one. Every verb turns one such list into another, and undo and restore bring back the previous
//! list, which is all this has to know about time.

use std::collections::BTreeMap;

use lukasa_core::{FactId, OperationId};
use rand::Rng as _;
use rand::rngs::StdRng;

use super::journal::{Ack, Verb};

/// One row of `GET /api/memory?status=all`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    pub content: String,
    pub status: &'static str,
}

#[derive(Debug, Clone)]
struct Memory {
    fact: FactId,
    rows: Vec<Row>,
    /// The last operation on it, and the rows before that.
    last: (Verb, OperationId, Vec<Row>),
}

/// The memories of a private user, and what the last request of an abandoning client may have
/// added.
#[derive(Debug, Clone, Default)]
pub struct Expectation {
    memories: Vec<Memory>,
    unsure: Option<Plan>,
}

/// A request, and its effect if it is done.
#[derive(Debug, Clone)]
pub struct Plan {
    pub verb: Verb,
    pub content: Option<String>,
    target: Option<usize>,
    after: Vec<Row>,
}

/// A user's view, by memory: rows in a fixed order.
pub type Seen = BTreeMap<FactId, Vec<Row>>;

impl Expectation {
    /// Chooses a request that must succeed.
    pub fn plan(&self, rng: &mut StdRng, fresh: impl FnOnce() -> String) -> Plan {
        let save = self.memories.is_empty() || rng.random_bool(0.25);
        if save {
            let content = fresh();
            let after = vec![Row { content: content.clone(), status: "active" }];
            return Plan { verb: Verb::Save, content: Some(content), target: None, after };
        }
        // Mostly one of the newest, so that memories get a history.
        let count = self.memories.len();
        let recent = if rng.random_bool(0.8) { count.min(8) } else { count };
        let target = count - 1 - rng.random_range(0..recent);
        let memory = &self.memories[target];
        let (last, _, before) = &memory.last;
        let dice = rng.random_range(0..100);
        let verb = match memory.rows.last().map(|row| row.status) {
            // Its save was undone; only undoing the undo restores it.
            None => Verb::Undo,
            Some("active") => match dice {
                0..40 => Verb::Change,
                40..60 => Verb::Correct,
                60..75 => Verb::Forget,
                75..85 => Verb::Delete,
                _ => Verb::Undo,
            },
            Some(_) if dice < 60 && matches!(last, Verb::Forget | Verb::Delete) => Verb::Restore,
            Some("forgotten") if dice < 75 => Verb::Delete,
            Some(_) => Verb::Undo,
        };
        let content = matches!(verb, Verb::Change | Verb::Correct).then(fresh);
        let mut after = memory.rows.clone();
        match (verb, &content) {
            (Verb::Change, Some(content)) => {
                if let Some(current_row) = after.last_mut() {
                    current_row.status = "superseded";
                }
                after.push(Row { content: content.clone(), status: "active" });
            }
            (Verb::Correct, Some(content)) => {
                if let Some(current_row) = after.last_mut() {
                    current_row.content.clone_from(content);
                }
            }
            (Verb::Forget, _) => after.iter_mut().for_each(|row| row.status = "forgotten"),
            (Verb::Delete, _) => after.iter_mut().for_each(|row| row.status = "trashed"),
            _ => after.clone_from(before),
        }
        Plan { verb, content, target: Some(target), after }
    }

    /// The memory and the operation that a plan is about.
    pub fn target(&self, plan: &Plan) -> Option<(FactId, OperationId)> {
        let memory = self.memories.get(plan.target?)?;
        Some((memory.fact, memory.last.1))
    }

    /// Applies an acknowledged plan; returns what is wrong in the answer.
    pub fn acknowledged(&mut self, plan: Plan, ack: &Ack) -> Result<(), String> {
        let operation = ack.operation.ok_or("no operation was made")?;
        let shown = ack.memory.as_ref().map(|m| (m.content.as_str(), m.status.as_str()));
        let due = plan.after.last().map(|row| (row.content.as_str(), row.status));
        if shown != due {
            return Err(format!("{:?} was answered with {shown:?} instead of {due:?}", plan.verb));
        }
        match plan.target.and_then(|target| self.memories.get_mut(target)) {
            Some(memory) => {
                if ack.memory.as_ref().is_some_and(|shown| shown.fact != memory.fact) {
                    return Err("the answer is about another memory".into());
                }
                let before = std::mem::replace(&mut memory.rows, plan.after);
                memory.last = (plan.verb, operation, before);
            }
            None => {
                let fact = ack.memory.as_ref().ok_or("no memory in the answer")?.fact;
                let last = (plan.verb, operation, Vec::new());
                self.memories.push(Memory { fact, rows: plan.after, last });
            }
        }
        Ok(())
    }

    /// From here on the plan may have been done or not.
    pub fn abandoned(&mut self, plan: Plan) {
        self.unsure = Some(plan);
    }

    /// Whether this is the expected view of the user.
    pub fn allows(&self, seen: &Seen) -> Result<(), String> {
        let due = self.due();
        let Err(difference) = compare(&due, seen) else { return Ok(()) };
        let Some(plan) = &self.unsure else { return Err(difference) };
        let mut either = due;
        match plan.target.and_then(|target| self.memories.get(target)) {
            Some(memory) => put(&mut either, memory.fact, &plan.after),
            // The id of a save without an answer is not known.
            None => {
                let new = seen.keys().find(|fact| !either.contains_key(fact));
                new.into_iter().for_each(|fact| put(&mut either, *fact, &plan.after));
            }
        }
        compare(&either, seen).map_err(|_| difference)
    }

    fn due(&self) -> Seen {
        let mut due = Seen::new();
        for memory in &self.memories {
            put(&mut due, memory.fact, &memory.rows);
        }
        due
    }
}

fn put(seen: &mut Seen, fact: FactId, rows: &[Row]) {
    if rows.is_empty() {
        seen.remove(&fact);
        return;
    }
    let mut rows = rows.to_vec();
    rows.sort();
    seen.insert(fact, rows);
}

fn compare(due: &Seen, seen: &Seen) -> Result<(), String> {
    for (fact, rows) in due {
        match seen.get(fact) {
            Some(there) if there == rows => {}
            there => return Err(format!("{fact} is {there:?} and should be {rows:?}")),
        }
    }
    match seen.keys().find(|fact| !due.contains_key(fact)) {
        Some(fact) => Err(format!("{fact} should not be there: {:?}", seen[fact])),
        None => Ok(()),
    }
}
