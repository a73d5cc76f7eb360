//! Compares what the engine answered with what the reference model expects.

use std::collections::{BTreeSet, HashMap};

use lukasa_core::{FactId, Verb};
use lukasa_engine::Error;
use lukasa_engine::facts::{Memory, Outcome, Receipt};

use super::model::{Person, Refused, Removed, Span, Tie, Verdict};
use super::perform::Reply;
use super::reading::{Logged, Seen};
use super::stage::Bound;
use super::step::{Action, FOREVER, NOBODY, No, Step};

/// The engine's answer, as far as it can be compared.
pub type Heard = Result<Reply, Refusal>;

/// A refusal, taken apart.
#[derive(Debug)]
pub struct Refusal {
    pub code: &'static str,
    /// What the answer names, by the numbers of the steps that made them.
    pub names: Vec<No>,
    /// The whole error, for the search for canaries.
    pub text: String,
}

impl Refusal {
    pub fn of(error: &Error, bound: &Bound) -> Self {
        let fact = |memory: &Memory| fact_no(bound, memory.version.fact);
        let names = match error {
            Error::Ambiguous(candidates) => candidates.iter().map(fact).collect(),
            Error::KeyTaken(Some(holder)) => vec![fact(holder)],
            Error::UndoBlocked(by) => vec![bound.operations.number(*by).unwrap_or(NOBODY)],
            _ => Vec::new(),
        };
        Self { code: error.code(), names, text: format!("{error:?}") }
    }
}

pub struct Compared<'a> {
    pub step: &'a Step,
    pub person: &'a Person,
    pub bound: &'a Bound,
    pub outcomes: &'a HashMap<No, Outcome>,
}

impl Compared<'_> {
    /// A write: the same code, the same things named, the same memory shown.
    pub fn write(&self, verdict: &Verdict, heard: &Heard) -> Result<(), String> {
        match (verdict, heard) {
            (Verdict::Refused(refused), Err(heard)) => refusal(refused, heard),
            (Verdict::Refused(refused), Ok(_)) => {
                Err(format!("expected {}, was done", refused.code))
            }
            (_, Err(heard)) => Err(format!("expected {verdict:?}, was refused: {}", heard.text)),
            (Verdict::Nothing(_), Ok(Reply::Opened)) => Ok(()),
            (Verdict::Again(no), Ok(Reply::Wrote(outcome))) => match self.outcomes.get(no) {
                Some(first) if *first == **outcome => Ok(()),
                first => Err(format!("the retry was answered {outcome:?}, at first {first:?}")),
            },
            (Verdict::Nothing(facts), Ok(Reply::Wrote(outcome))) => self.nothing(facts, outcome),
            (Verdict::Done, Ok(Reply::Wrote(outcome))) => self.done(outcome),
            (_, Ok(reply)) => Err(format!("expected {verdict:?}, got {reply:?}")),
        }
    }

    fn nothing(&self, facts: &[No], outcome: &Outcome) -> Result<(), String> {
        let shown: Vec<No> =
            outcome.memories.iter().map(|m| fact_no(self.bound, m.version.fact)).collect();
        let fits = match &self.step.action {
            Action::Save(_) => shown.len() == 1 && facts.contains(&shown[0]),
            _ => shown == facts,
        };
        match (outcome.operation, fits) {
            (None, true) => Ok(()),
            _ => Err(format!("expected nothing to be written and one of {facts:?}: {outcome:?}")),
        }
    }

    fn done(&self, outcome: &Outcome) -> Result<(), String> {
        let Some(op) = self.person.ops.last().filter(|op| op.no == self.step.no) else {
            return Err("the model has not done it".into());
        };
        if outcome.operation.is_none() || outcome.verb != op.verb {
            return Err(format!("expected the operation {:?}: {outcome:?}", op.verb));
        }
        if matches!(op.verb, Verb::Purge | Verb::Erase) {
            let mut removed: Vec<Removed> =
                outcome.receipts.iter().map(|receipt| self.removed(receipt)).collect();
            removed.sort_unstable();
            return equal(&op.removed, &removed);
        }
        // Both ends of a link are shown as the caller's clock sees them; everything else as of the
        // operation itself, which never lies before what it wrote.
        let at = if op.verb == Verb::Link { self.step.now } else { self.step.now.max(op.at) };
        for memory in &outcome.memories {
            let seen = seen(self.bound, memory);
            equal(&self.person.shown(seen.fact, at), &Some(seen))?;
        }
        let shown = outcome.memories.iter().map(|m| fact_no(self.bound, m.version.fact));
        let shown: BTreeSet<No> = shown.collect();
        equal(&self.person.quoted(self.step.no), &shown.into_iter().collect())?;
        let tied = outcome.link.as_ref().map(|link| {
            (fact_no(self.bound, link.from), fact_no(self.bound, link.to), link.relation.clone())
        });
        let touched = |tie: &&Tie| match op.verb {
            Verb::Link => tie.opened_by == op.no,
            Verb::Unlink => tie.closed_by == Some(op.no),
            _ => false,
        };
        let tie = self.person.ties.iter().find(touched);
        equal(&tie.map(|tie| (tie.from, tie.to, tie.relation.clone())), &tied)
    }

    fn removed(&self, receipt: &Receipt) -> Removed {
        Removed {
            fact: fact_no(self.bound, receipt.fact),
            versions: receipt.versions,
            links: receipt.links,
            evidence: receipt.evidence,
            answers: receipt.answers,
        }
    }

    /// A question: the same rows with the same statuses.
    pub fn read(&self, heard: &Heard) -> Result<(), String> {
        let (person, now) = (self.person, self.step.now);
        match &self.step.action {
            Action::List { status, point, .. } => {
                let Ok(Reply::Listed(memories)) = heard else { return Err(format!("{heard:?}")) };
                let key = |m: &Memory| (m.version.fact, m.version.id);
                if !memories.windows(2).all(|two| key(&two[0]) > key(&two[1])) {
                    return Err("the list is out of order".into());
                }
                let mut listed: Vec<Seen> = memories.iter().map(|m| seen(self.bound, m)).collect();
                listed.sort();
                equal(&person.list(*status, *point, now), &listed)
            }
            Action::Get { target, point } => {
                let got = told(heard, |reply| match reply {
                    Reply::Got(memory) => Some(seen(self.bound, memory)),
                    _ => None,
                });
                answered(person.get(target, *point, now), &got)
            }
            Action::Versions(target) => {
                let got = told(heard, |reply| match reply {
                    Reply::Versions(entries) => Some(self.versions(entries)),
                    _ => None,
                });
                answered(person.versions(target, now), &got)
            }
            Action::Links(target) => {
                let got = told(heard, |reply| match reply {
                    Reply::Links(views) => Some(self.links(views)),
                    _ => None,
                });
                answered(person.links(target, now), &got)
            }
            _ => {
                let Ok(Reply::Log(operations)) = heard else { return Err(format!("{heard:?}")) };
                let log: Vec<Logged> = operations.iter().map(|op| self.logged(op)).collect();
                equal(&person.log(), &log)
            }
        }
    }

    fn versions(&self, entries: &[lukasa_engine::facts::HistoryEntry]) -> Vec<(Span, Seen)> {
        let entry = |entry: &lukasa_engine::facts::HistoryEntry| {
            let memory = Memory { version: entry.version.clone(), status: entry.status };
            (span(entry.version.known), seen(self.bound, &memory))
        };
        let mut all: Vec<_> = entries.iter().map(entry).collect();
        all.sort();
        all
    }

    fn links(&self, views: &[lukasa_engine::facts::LinkView]) -> Vec<(No, No)> {
        let view = |view: &lukasa_engine::facts::LinkView| {
            let link = self.bound.links.number(view.link.id).unwrap_or(NOBODY);
            (link, fact_no(self.bound, view.other.version.fact))
        };
        let mut links: Vec<(No, No)> = views.iter().map(view).collect();
        links.sort_unstable();
        links
    }

    fn logged(&self, op: &lukasa_core::Operation) -> Logged {
        let number = |id| self.bound.operations.number(id).unwrap_or(NOBODY);
        let mut facts: Vec<No> = op.facts.iter().map(|fact| fact_no(self.bound, *fact)).collect();
        facts.sort_unstable();
        Logged {
            no: number(op.id),
            verb: op.verb,
            at: op.at.as_microsecond(),
            facts,
            undoes: op.undoes.map(number),
            undone_by: op.undone_by.map(number),
        }
    }
}

fn refusal(expected: &Refused, heard: &Refusal) -> Result<(), String> {
    let fits = match expected.code {
        // Up to six candidates are named; a holder or an operation in the way is one of several.
        "ambiguous_target" => {
            heard.names.len() == expected.names.len().min(6)
                && heard.names.iter().all(|no| expected.names.contains(no))
        }
        "key_taken" | "undo_blocked" => heard.names.iter().all(|no| expected.names.contains(no)),
        _ => true,
    };
    if expected.code != heard.code {
        return Err(format!("expected {}, was refused: {}", expected.code, heard.text));
    }
    match fits {
        true => Ok(()),
        false => Err(format!("{} names {:?}, not {:?}", heard.code, heard.names, expected.names)),
    }
}

fn told<T>(heard: &Heard, take: impl Fn(&Reply) -> Option<T>) -> Result<T, String> {
    match heard {
        Ok(reply) => take(reply).ok_or_else(|| format!("another kind of answer: {reply:?}")),
        Err(refusal) => Err(refusal.code.to_owned()),
    }
}

fn answered<T: PartialEq + std::fmt::Debug>(
    expected: Result<T, Refused>,
    heard: &Result<T, String>,
) -> Result<(), String> {
    equal(&expected.map_err(|refused| refused.code.to_owned()), heard)
}

fn equal<T: PartialEq + std::fmt::Debug>(expected: &T, heard: &T) -> Result<(), String> {
    if expected == heard {
        return Ok(());
    }
    Err(format!("expected\n  {expected:?}\ngot\n  {heard:?}"))
}

fn fact_no(bound: &Bound, id: FactId) -> No {
    bound.facts.number(id).unwrap_or(NOBODY)
}

fn span(period: lukasa_core::Period) -> Span {
    let until = period.until.map_or(FOREVER, |until| until.as_microsecond());
    Span { from: period.from.as_microsecond(), until }
}

fn seen(bound: &Bound, memory: &Memory) -> Seen {
    let version = &memory.version;
    Seen {
        fact: fact_no(bound, version.fact),
        number: version.number,
        content: version.claim.content.clone(),
        valid: span(version.valid),
        status: memory.status.as_str(),
    }
}
