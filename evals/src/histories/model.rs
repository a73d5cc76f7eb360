//! The reference model: what memory should contain and answer, as plain lists.
//!
//! Written from the design, not from the engine: no SQL, no ids, no shared rules. It uses only
//! values of the engine (claims, words, enums). Where the engine and this model disagree, one of
//! them is wrong, and the history that shows it is printed.

use std::collections::{BTreeMap, BTreeSet};

use lukasa_core::{Claim, Force, Origin, State, Tier, Verb, builtin_domains};

use super::step::{Action, Matching, No, Step, Target};
use super::verbs::{Act, is_faulty, is_plain_word};

/// A half-open interval of one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    pub from: i64,
    pub until: i64,
}

impl Span {
    pub fn holds(self, at: i64) -> bool {
        self.from <= at && at < self.until
    }

    pub fn meets(self, other: Span) -> bool {
        self.from < other.until && other.from < self.until
    }

    pub fn checked(from: i64, until: i64) -> Judged<Span> {
        if from < until { Ok(Span { from, until }) } else { refuse("empty_validity") }
    }
}

/// One row of a memory: a claim with its state, its origin and its two spans.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub fact: No,
    pub number: i32,
    pub claim: Claim,
    pub state: State,
    pub tier: Tier,
    pub origin: Origin,
    pub extracted: bool,
    pub confidence: Option<f32>,
    pub session: Option<String>,
    pub confirmed: Option<i64>,
    pub last_confirmed: Option<i64>,
    pub consented: Option<i64>,
    pub valid: Span,
    pub known: Span,
    pub opened_by: No,
    pub closed_by: Option<No>,
    /// Known to the model only.
    pub past: Past,
}

/// History of a row. No table has this.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Past {
    /// The same for a row and every row that restores it after an undo or a restore.
    pub root: usize,
    /// For a forgotten, rejected or deleted row: the row before.
    pub away: Option<Box<Away>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Away {
    pub before: Row,
    /// A human removed it, or removed it again.
    pub by_human: bool,
}

impl Row {
    /// Stated, or confirmed by a human.
    pub fn firm(&self) -> bool {
        !self.extracted || self.consented.is_some()
    }

    pub fn open(&self) -> bool {
        self.closed_by.is_none()
    }

    pub fn waits(&self) -> bool {
        matches!(self.state, State::Proposed | State::Candidate)
    }

    pub fn gone(&self) -> bool {
        matches!(self.state, State::Forgotten | State::Trashed)
    }

    /// Two active rows in the same place cannot be valid at the same time.
    fn same_place(&self, other: &Row) -> bool {
        match (self.claim.force, other.claim.force) {
            (Force::Hard, Force::Hard) => {
                (&self.claim.domain, &self.claim.key) == (&other.claim.domain, &other.claim.key)
            }
            (Force::Soft, Force::Soft) => self.fact == other.fact,
            _ => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Tie {
    pub no: No,
    /// The link that this one is, or restores after an undo.
    pub root: No,
    pub from: No,
    pub to: No,
    pub relation: String,
    pub known: Span,
    pub opened_by: No,
    pub closed_by: Option<No>,
}

#[derive(Debug, Clone)]
pub struct Op {
    pub no: No,
    pub at: i64,
    pub verb: Verb,
    pub by_human: bool,
    pub facts: BTreeSet<No>,
    pub undoes: Option<No>,
    pub removed: Vec<Removed>,
}

/// What a receipt lists as removed with one memory.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Removed {
    pub fact: No,
    pub versions: i32,
    pub links: i32,
    pub evidence: i32,
    pub answers: i32,
}

#[derive(Debug, Clone)]
pub struct StoredAnswer {
    pub request: No,
    pub answered: No,
    pub quotes: Vec<No>,
    pub created: i64,
    pub erased: bool,
}

/// The expected answer to a step.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Written, as the operation with the step's number.
    Done,
    /// Nothing to write; one of these memories is shown.
    Nothing(Vec<No>),
    /// The same answer as that of an earlier step.
    Again(No),
    Refused(Refused),
}

/// An error code, and what the answer may name: key holders, candidates, blocking operations.
#[derive(Debug, Clone, PartialEq)]
pub struct Refused {
    pub code: &'static str,
    pub names: Vec<No>,
}

pub type Judged<T> = Result<T, Refused>;

pub fn refuse<T>(code: &'static str) -> Judged<T> {
    refuse_naming(code, Vec::new())
}

pub fn refuse_naming<T>(code: &'static str, names: Vec<No>) -> Judged<T> {
    Err(Refused { code, names })
}

/// The changes of an operation before it is committed.
#[derive(Default)]
pub struct Draft {
    pub closes: Vec<usize>,
    pub opens: Vec<Row>,
    pub closes_ties: Vec<usize>,
    pub opens_ties: Vec<Tie>,
    pub about: Vec<No>,
    pub undoes: Option<No>,
    pub removed: Vec<Removed>,
}

/// The model's state of one user.
#[derive(Debug, Default)]
pub struct UserModel {
    pub rows: Vec<Row>,
    pub ties: Vec<Tie>,
    pub ops: Vec<Op>,
    pub facts: BTreeSet<No>,
    pub erased: BTreeSet<No>,
    pub stored_answers: BTreeMap<u8, StoredAnswer>,
    pub opened_domains: BTreeSet<String>,
    rows_ever: usize,
}

impl UserModel {
    pub fn last_at(&self) -> Option<i64> {
        self.ops.last().map(|op| op.at)
    }

    /// Carries a step out or refuses it. A refusal changes nothing.
    pub fn judge(&mut self, step: &Step) -> Verdict {
        self.answer(step).unwrap_or_else(Verdict::Refused)
    }

    fn answer(&mut self, step: &Step) -> Judged<Verdict> {
        match &step.action {
            Action::Save(new) if is_faulty(&new.claim) => return refuse("invalid_request"),
            Action::Link { relation, .. } if !is_plain_word(relation) => {
                return refuse("invalid_request");
            }
            Action::OptIn { domain, open } => return self.opt_in(step, domain, *open),
            _ => {}
        }
        if let Some(answered) = self.replays(step)? {
            return Ok(Verdict::Again(answered));
        }
        let at = self.last_at().map_or(step.now, |last| step.now.max(last + 1));
        let act = Act { step, now: step.now, at };
        let verdict = match &step.action {
            Action::Save(new) => self.save(act, new)?,
            Action::Change { target, edit, effective, confidence } => {
                self.change(act, target, edit, *effective, *confidence)?
            }
            Action::Correct { target, edit, from, until } => {
                self.correct(act, target, edit, *from, *until)?
            }
            Action::Forget(target) => self.forget(act, target)?,
            Action::Delete(target) => self.delete(act, target)?,
            Action::Restore(target) => self.restore(act, target)?,
            Action::Erase(target) => self.erase(act, target)?,
            Action::Confirm { target, answer } => self.confirm(act, target, answer)?,
            Action::Link { from, to, relation } => self.link(act, from, to, relation)?,
            Action::Unlink { of, link } => self.unlink(act, of, *link)?,
            Action::Undo(operation) => self.undo(act, *operation)?,
            Action::UndoLast => self.undo_last(act)?,
            Action::Purge => self.purge(act)?,
            _ => Verdict::Nothing(Vec::new()),
        };
        if let Some(key) = step.key {
            let quotes = match &verdict {
                Verdict::Nothing(facts) => facts.clone(),
                _ => self.quoted(step.no),
            };
            let stored_answer = StoredAnswer {
                request: key.request,
                answered: step.no,
                quotes,
                created: step.now,
                erased: false,
            };
            self.stored_answers.insert(key.name, stored_answer);
        }
        Ok(verdict)
    }

    /// The earlier step whose answer this one must get, if its key was used before.
    pub fn replays(&self, step: &Step) -> Judged<Option<No>> {
        let Some((key, stored_answer)) =
            step.key.and_then(|key| Some((key, self.stored_answers.get(&key.name)?)))
        else {
            return Ok(None);
        };
        match stored_answer {
            stored_answer if stored_answer.request != key.request => refuse("idempotency_mismatch"),
            stored_answer if stored_answer.erased => refuse("answer_erased"),
            stored_answer => Ok(Some(stored_answer.answered)),
        }
    }

    /// The memories whose content an answer quotes.
    pub fn quoted(&self, operation: No) -> Vec<No> {
        let opened = self.rows.iter().filter(|row| row.opened_by == operation);
        let mut facts: BTreeSet<No> = opened.map(|row| row.fact).collect();
        let op = self.ops.iter().find(|op| op.no == operation);
        if let Some(op) = op.filter(|o| matches!(o.verb, Verb::Link | Verb::Purge | Verb::Erase)) {
            facts.extend(&op.facts);
        }
        facts.into_iter().collect()
    }

    /// Checks the two constraints of the database, then writes the operation.
    pub fn commit(&mut self, act: Act<'_>, verb: Verb, draft: Draft) -> Judged<Verdict> {
        if act.step.speaker.extracts() && draft.closes.iter().any(|i| self.rows[*i].firm()) {
            return refuse("less_trusted");
        }
        let stays = |(i, row): &(usize, &Row)| {
            row.open() && row.state == State::Active && !draft.closes.contains(i)
        };
        let place = |new: &Row, row: &Row| new.same_place(row) && new.valid.meets(row.valid);
        let active = || draft.opens.iter().filter(|new| new.state == State::Active);
        let holders: Vec<No> = (self.rows.iter().enumerate().filter(stays))
            .filter(|(_, row)| active().any(|new| place(new, row)))
            .map(|(_, row)| row.fact)
            .collect();
        if !holders.is_empty() {
            return refuse_naming("key_taken", holders);
        }
        if draft.opens_ties.iter().any(|tie| self.is_tied(tie)) {
            return refuse("link_exists");
        }
        let mut facts: BTreeSet<No> = draft.about.into_iter().collect();
        facts.extend(draft.closes.iter().map(|i| self.rows[*i].fact));
        facts.extend(draft.opens.iter().map(|row| row.fact));
        facts.extend(draft.opens_ties.iter().flat_map(|tie| [tie.from, tie.to]));
        for i in draft.closes {
            self.rows[i].known.until = act.at;
            self.rows[i].closed_by = Some(act.step.no);
        }
        for i in draft.closes_ties {
            self.ties[i].known.until = act.at;
            self.ties[i].closed_by = Some(act.step.no);
        }
        self.facts.extend(draft.opens.iter().map(|row| row.fact));
        for mut row in draft.opens {
            self.rows_ever += 1;
            if row.past.root == 0 {
                row.past.root = self.rows_ever;
            }
            self.rows.push(row);
        }
        self.ties.extend(draft.opens_ties);
        let by_human = act.step.speaker.is_human();
        let (undoes, removed) = (draft.undoes, draft.removed);
        self.ops.push(Op { no: act.step.no, at: act.at, verb, by_human, facts, undoes, removed });
        Ok(Verdict::Done)
    }

    // ------------------------------------------------------------ look-ups

    /// The memory that a target names; an id is not checked.
    pub fn find(&self, target: &Target, now: i64) -> Judged<No> {
        let words = match target {
            Target::Fact(no) => return Ok(*no),
            Target::Words(words) if words.trim().is_empty() => return refuse("memory_not_found"),
            Target::Words(words) => words.to_lowercase(),
        };
        let hits = self.rows.iter().filter(|row| {
            row.open()
                && row.state == State::Active
                && row.valid.holds(now)
                && row.claim.content.to_lowercase().contains(&words)
        });
        match hits.map(|row| row.fact).collect::<Vec<No>>() {
            none if none.is_empty() => refuse("memory_not_found"),
            one if one.len() == 1 => Ok(one[0]),
            several => refuse_naming("ambiguous_target", several),
        }
    }

    /// The named memory and its open rows, earliest first; there is at least one.
    pub fn known(&self, act: Act<'_>, target: &Target) -> Judged<(No, Vec<usize>)> {
        let fact = self.find(target, act.now)?;
        let open = |(_, row): &(usize, &Row)| row.fact == fact && row.open();
        let mut known: Vec<usize> =
            self.rows.iter().enumerate().filter(open).map(|(i, _)| i).collect();
        if known.is_empty() {
            return refuse("memory_not_found");
        }
        known.sort_by_key(|i| self.rows[*i].valid.from);
        check_match(act)?;
        Ok((fact, known))
    }

    pub fn active(&self, known: &[usize]) -> Vec<usize> {
        known.iter().copied().filter(|i| self.rows[*i].state == State::Active).collect()
    }

    pub fn next_number(&self, fact: No) -> i32 {
        let of_fact = self.rows.iter().filter(|row| row.fact == fact);
        of_fact.map(|row| row.number).max().unwrap_or(0) + 1
    }

    pub fn is_tied(&self, new: &Tie) -> bool {
        self.ties.iter().any(|tie| {
            tie.closed_by.is_none()
                && (tie.from, tie.to, &tie.relation) == (new.from, new.to, &new.relation)
        })
    }

    pub fn check_domain(&self, name: Option<&str>) -> Judged<()> {
        let Some(name) = name else { return Ok(()) };
        match builtin_domains().into_iter().find(|domain| domain.name == name) {
            None => refuse("domain_not_found"),
            Some(built) if built.requires_opt_in && !self.opened_domains.contains(name) => {
                refuse("opt_in_needed")
            }
            Some(_) => Ok(()),
        }
    }
}

pub fn check_match(act: Act<'_>) -> Judged<()> {
    if act.step.matching == Matching::Stale { refuse("version_mismatch") } else { Ok(()) }
}
