//! Counts of checks and findings.

use std::collections::BTreeMap;
use std::time::Duration;

/// Every check by its printed name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    Answer,
    State,
    NoOverlap,
    NoGap,
    AppendOnly,
    AsOf,
    NoDangling,
    FirmStays,
    UndoRestores,
    UndoOfUndo,
    Idempotent,
    Isolation,
}

impl Check {
    pub const ALL: [Check; 12] = [
        Check::Answer,
        Check::State,
        Check::NoOverlap,
        Check::NoGap,
        Check::AppendOnly,
        Check::AsOf,
        Check::NoDangling,
        Check::FirmStays,
        Check::UndoRestores,
        Check::UndoOfUndo,
        Check::Idempotent,
        Check::Isolation,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Check::Answer => "answer = model",
            Check::State => "rows = model",
            Check::NoOverlap => "I1 no overlap",
            Check::NoGap => "I2 no gap",
            Check::AppendOnly => "I3 append-only",
            Check::AsOf => "I4 as-of stable",
            Check::NoDangling => "I5 no dangling link",
            Check::FirmStays => "I6 firm stays",
            Check::UndoRestores => "I7 undo restores",
            Check::UndoOfUndo => "I7 undo of undo",
            Check::Idempotent => "I12 idempotent",
            Check::Isolation => "isolation",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Violation {
    pub check: Check,
    pub what: String,
}

/// Counts checks and stores violations.
#[derive(Debug, Default)]
pub struct Findings {
    pub counts: BTreeMap<Check, u64>,
    pub violations: Vec<Violation>,
}

impl Findings {
    pub fn check(&mut self, check: Check, holds: bool, what: impl FnOnce() -> String) {
        *self.counts.entry(check).or_default() += 1;
        if !holds {
            self.violations.push(Violation { check, what: what() });
        }
    }

    pub fn answer(&mut self, check: Check, verdict: Result<(), String>) {
        *self.counts.entry(check).or_default() += 1;
        if let Err(what) = verdict {
            self.violations.push(Violation { check, what });
        }
    }
}

/// The figures of a whole run.
#[derive(Debug, Default)]
pub struct Report {
    pub histories: u64,
    pub steps: u64,
    /// For each verb, how often each answer was given.
    pub answers: BTreeMap<&'static str, BTreeMap<String, u64>>,
    pub checks: BTreeMap<Check, u64>,
    pub violations: BTreeMap<Check, u64>,
    /// Rows of as-of answers that were erased or purged in between.
    pub excepted: u64,
    pub failed: Vec<u64>,
}

impl Report {
    pub fn tally(&mut self, verb: &'static str, answer: &str) {
        self.steps += 1;
        let answers = self.answers.entry(verb).or_default();
        match answers.get_mut(answer) {
            Some(count) => *count += 1,
            None => drop(answers.insert(answer.to_owned(), 1)),
        }
    }

    pub fn absorb(&mut self, findings: &Findings) {
        for (check, count) in &findings.counts {
            *self.checks.entry(*check).or_default() += count;
        }
        for violation in &findings.violations {
            *self.violations.entry(violation.check).or_default() += 1;
        }
    }

    pub fn merge(&mut self, other: Report) {
        self.histories += other.histories;
        self.steps += other.steps;
        self.excepted += other.excepted;
        self.failed.extend(other.failed);
        for (verb, answers) in other.answers {
            for (answer, count) in answers {
                *self.answers.entry(verb).or_default().entry(answer).or_default() += count;
            }
        }
        for (check, count) in other.checks {
            *self.checks.entry(check).or_default() += count;
        }
        for (check, count) in other.violations {
            *self.violations.entry(check).or_default() += count;
        }
    }

    pub fn print(&self, took: Duration) {
        let seconds = took.as_secs_f64().max(0.001);
        println!(
            "{} histories, {} steps in {seconds:.1} s ({:.1} histories/s, {:.0} steps/s)\n",
            self.histories,
            self.steps,
            self.histories as f64 / seconds,
            self.steps as f64 / seconds
        );
        println!("{:<9} {:>8}  answers", "verb", "steps");
        for (verb, answers) in &self.answers {
            let total: u64 = answers.values().sum();
            let mut counts: Vec<_> = answers.iter().collect();
            counts.sort_by_key(|(answer, count)| (answer.as_str() != "ok", u64::MAX - **count));
            let words: Vec<String> =
                counts.iter().map(|(answer, count)| format!("{answer} {count}")).collect();
            println!("{verb:<9} {total:>8}  {}", words.join(", "));
        }
        println!("\n{:<20} {:>10} {:>10}", "check", "checks", "violations");
        for check in Check::ALL {
            let count = |of: &BTreeMap<Check, u64>| of.get(&check).copied().unwrap_or_default();
            let (checks, violations) = (count(&self.checks), count(&self.violations));
            println!("{:<20} {checks:>10} {violations:>10}", check.name());
        }
        println!(
            "\nas-of answers asked for again: {}; rows excepted because erased or purged: {}",
            self.checks.get(&Check::AsOf).copied().unwrap_or_default(),
            self.excepted
        );
        if !self.failed.is_empty() {
            println!("failed histories: {}", self.failed.len());
        }
    }
}
