//! The output: the progress line, and the table at the end.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use super::checker::CheckedCounts;
use super::journal::{Findings, Journal, Wrong, read};
use super::killer::Kind;

/// What was killed, and how long the server took to be ready after each kill.
#[derive(Debug, Default)]
pub struct Recoveries {
    kills: BTreeMap<Kind, u64>,
    took: BTreeMap<Option<Kind>, Vec<Duration>>,
}

impl Recoveries {
    pub fn killed(&mut self, kind: Kind) {
        *self.kills.entry(kind).or_default() += 1;
    }

    /// Ready again after one kill, or after several, which are not counted by kind.
    pub fn ready(&mut self, after: &[Kind], took: Duration) {
        let kind = if let [one] = after { Some(*one) } else { None };
        self.took.entry(kind).or_default().push(took);
    }

    fn table(&self) -> String {
        let mut text =
            String::from("\nkilled                       kills   ready again: median     worst\n");
        let mut row = |name: &str, kills: String, kind: Option<Kind>| {
            let mut times = self.took.get(&kind).cloned().unwrap_or_default();
            times.sort_unstable();
            let median = times.get(times.len() / 2).copied().unwrap_or_default().as_secs_f64();
            let worst = times.last().copied().unwrap_or_default().as_secs_f64();
            let _ = writeln!(text, "{name:<27}{kills:>7}{median:>20.2} s{worst:>8.2} s");
        };
        for (kind, name) in Kind::ALL {
            let kills = self.kills.get(&kind).copied().unwrap_or(0);
            row(name, kills.to_string(), Some(kind));
        }
        row("a second while recovering", String::new(), None);
        text
    }
}

pub fn progress(journal: &Journal, count: u64, started: Instant) -> String {
    let (kills, acknowledged) = (read(&journal.tally.kills), read(&journal.tally.acknowledged));
    let seconds = started.elapsed().as_secs_f64().max(0.001);
    let per_kill = seconds / kills.max(1) as f64;
    let left = per_kill * count.saturating_sub(kills) as f64;
    format!(
        "kills: {kills} of {count}, {acknowledged} writes acknowledged, {:.0} a second, \
         {:.0} kills a minute, about {:.0} s left",
        acknowledged as f64 / seconds,
        60.0 / per_kill,
        left
    )
}

pub fn table(
    journal: &Journal,
    recoveries: &Recoveries,
    findings: &Findings,
    looked: CheckedCounts,
    took: Duration,
) -> String {
    let tally = &journal.tally;
    let mut text = recoveries.table();
    let kills = read(&tally.kills);
    let minutes = took.as_secs_f64() / 60.0;
    let _ = writeln!(
        text,
        "{:<27}{kills:>7}   in {:.1} minutes, {:.0} a minute\n",
        "together",
        minutes,
        kills as f64 / minutes.max(0.001)
    );
    let mut line = |name: &str, value: u64| {
        let _ = writeln!(text, "{name:<38}{value:>10}");
    };
    line("acknowledged writes", read(&tally.acknowledged));
    line("refused (4xx)", read(&tally.refused));
    line("abandoned in doubt", read(&tally.abandoned));
    line("retries", read(&tally.retries));
    line("attempts with unknown outcome", read(&tally.unknown));
    line("  of these answered 503", read(&tally.unavailable));
    line("  of these answered 500", read(&tally.internal));
    line("retries spared a double", read(&tally.spared));
    line("sent again after their answer", read(&tally.resent));
    line("checked: users", looked.users as u64);
    line("checked: operations", looked.operations as u64);
    line("checked: versions", looked.versions as u64);
    for (wrong, name) in Wrong::ALL {
        line(name, findings.counts.get(&wrong).copied().unwrap_or(0));
    }
    for words in &findings.words {
        let _ = writeln!(text, "  - {words}");
    }
    text
}
