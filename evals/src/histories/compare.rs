//! Compares the engine's answers with those of the reference model.

use std::collections::{BTreeSet, HashMap};

use lukasa_core::{FactId, Verb};
use lukasa_engine::{ErasureSummary, Error, Memory, Outcome};

use super::fixture::Bound;
use super::model::{Refused, Removed, Span, Tie, UserModel, Verdict};
use super::perform::Reply;
use super::reading::{Logged, Seen};
use super::step::{Action, FOREVER, No, Step, UNKNOWN};

/// The engine's answer, as far as it can be compared.
pub type EngineAnswer = Result<Reply, Refusal>;

/// A refusal, taken apart.
#[derive(Debug)]
pub struct Refusal {
    pub code: &'static str,
    /// What the answer names, by the numbers of the steps that created it.
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
            Error::UndoBlocked(by) => vec![bound.operations.number(*by).unwrap_or(UNKNOWN)],
            _ => Vec::new(),
        };
        Self { code: error.code().as_str(), names, text: format!("{error:?}") }
    }
}

pub struct Compared<'a> {
    pub step: &'a Step,
    pub model: &'a UserModel,
    pub bound: &'a Bound,
    pub outcomes: &'a HashMap<No, Outcome>,
}

impl Compared<'_> {
    /// A write: the same code, the same names, the same memory shown.
    pub fn write(&self, verdict: &Verdict, engine_answer: &EngineAnswer) -> Result<(), String> {
        match (verdict, engine_answer) {
            (Verdict::Refused(refused), Err(engine_answer)) => refusal(refused, engine_answer),
            (Verdict::Refused(refused), Ok(_)) => {
                Err(format!("expected {}, was done", refused.code))
            }
            (_, Err(engine_answer)) => {
                Err(format!("expected {verdict:?}, was refused: {}", engine_answer.text))
            }
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
        let Some(op) = self.model.ops.last().filter(|op| op.no == self.step.no) else {
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
        // Both ends of a link are shown as of the caller's clock; everything else as of the
        // operation itself, which is never before what it wrote.
        let at = if op.verb == Verb::Link { self.step.now } else { self.step.now.max(op.at) };
        for memory in &outcome.memories {
            let seen = seen(self.bound, memory);
            equal(&self.model.shown(seen.fact, at), &Some(seen))?;
        }
        let shown = outcome.memories.iter().map(|m| fact_no(self.bound, m.version.fact));
        let shown: BTreeSet<No> = shown.collect();
        equal(&self.model.quoted(self.step.no), &shown.into_iter().collect())?;
        let tied = outcome.link.as_ref().map(|link| {
            (fact_no(self.bound, link.from), fact_no(self.bound, link.to), link.relation.clone())
        });
        let touched = |tie: &&Tie| match op.verb {
            Verb::Link => tie.opened_by == op.no,
            Verb::Unlink => tie.closed_by == Some(op.no),
            _ => false,
        };
        let tie = self.model.ties.iter().find(touched);
        equal(&tie.map(|tie| (tie.from, tie.to, tie.relation.clone())), &tied)
    }

    fn removed(&self, receipt: &ErasureSummary) -> Removed {
        Removed {
            fact: fact_no(self.bound, receipt.fact),
            versions: receipt.versions,
            links: receipt.links,
            evidence: receipt.evidence,
            answers: receipt.answers,
        }
    }

    /// A read: the same rows with the same statuses.
    pub fn read(&self, engine_answer: &EngineAnswer) -> Result<(), String> {
        let (model, now) = (self.model, self.step.now);
        match &self.step.action {
            Action::List { status, point, .. } => {
                let Ok(Reply::Listed(memories)) = engine_answer else {
                    return Err(format!("{engine_answer:?}"));
                };
                let key = |m: &Memory| (m.version.fact, m.version.id);
                if !memories.windows(2).all(|two| key(&two[0]) > key(&two[1])) {
                    return Err("the list is out of order".into());
                }
                let mut listed: Vec<Seen> = memories.iter().map(|m| seen(self.bound, m)).collect();
                listed.sort();
                equal(&model.list(*status, *point, now), &listed)
            }
            Action::Get { target, point } => {
                let got = extract(engine_answer, |reply| match reply {
                    Reply::Got(memory) => Some(seen(self.bound, memory)),
                    _ => None,
                });
                answered(model.get(target, *point, now), &got)
            }
            Action::Versions(target) => {
                let got = extract(engine_answer, |reply| match reply {
                    Reply::Versions(entries) => Some(self.versions(entries)),
                    _ => None,
                });
                answered(model.versions(target, now), &got)
            }
            Action::Links(target) => {
                let got = extract(engine_answer, |reply| match reply {
                    Reply::Links(views) => Some(self.links(views)),
                    _ => None,
                });
                answered(model.links(target, now), &got)
            }
            _ => {
                let Ok(Reply::Log(operations)) = engine_answer else {
                    return Err(format!("{engine_answer:?}"));
                };
                let log: Vec<Logged> = operations.iter().map(|op| self.logged(op)).collect();
                equal(&model.log(), &log)
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

    fn links(&self, views: &[lukasa_engine::facts::LinkedMemory]) -> Vec<(No, No)> {
        let view = |view: &lukasa_engine::facts::LinkedMemory| {
            let link = self.bound.links.number(view.link.id).unwrap_or(UNKNOWN);
            (link, fact_no(self.bound, view.other.version.fact))
        };
        let mut links: Vec<(No, No)> = views.iter().map(view).collect();
        links.sort_unstable();
        links
    }

    fn logged(&self, op: &lukasa_core::Operation) -> Logged {
        let number = |id| self.bound.operations.number(id).unwrap_or(UNKNOWN);
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

fn refusal(expected: &Refused, engine_answer: &Refusal) -> Result<(), String> {
    let fits = match expected.code {
        // Up to six candidates are named; a key holder or a blocking operation is one of several.
        "ambiguous_target" => {
            engine_answer.names.len() == expected.names.len().min(6)
                && engine_answer.names.iter().all(|no| expected.names.contains(no))
        }
        "key_taken" | "undo_blocked" => {
            engine_answer.names.iter().all(|no| expected.names.contains(no))
        }
        _ => true,
    };
    if expected.code != engine_answer.code {
        return Err(format!("expected {}, was refused: {}", expected.code, engine_answer.text));
    }
    match fits {
        true => Ok(()),
        false => Err(format!(
            "{} names {:?}, not {:?}",
            engine_answer.code, engine_answer.names, expected.names
        )),
    }
}

fn extract<T>(
    engine_answer: &EngineAnswer,
    take: impl Fn(&Reply) -> Option<T>,
) -> Result<T, String> {
    match engine_answer {
        Ok(reply) => take(reply).ok_or_else(|| format!("another kind of answer: {reply:?}")),
        Err(refusal) => Err(refusal.code.to_owned()),
    }
}

fn answered<T: PartialEq + std::fmt::Debug>(
    expected: Result<T, Refused>,
    engine_answer: &Result<T, String>,
) -> Result<(), String> {
    equal(&expected.map_err(|refused| refused.code.to_owned()), engine_answer)
}

fn equal<T: PartialEq + std::fmt::Debug>(expected: &T, engine_answer: &T) -> Result<(), String> {
    if expected == engine_answer {
        return Ok(());
    }
    Err(format!("expected\n  {expected:?}\ngot\n  {engine_answer:?}"))
}

fn fact_no(bound: &Bound, id: FactId) -> No {
    bound.facts.number(id).unwrap_or(UNKNOWN)
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
