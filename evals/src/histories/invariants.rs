//! The invariants of the record (SAFETY T4), each checked on the rows themselves.
//!
//! None of these asks the engine or the reference model: a row that breaks one of them is wrong
//! whatever anybody says about it.

use std::collections::{BTreeSet, HashMap};

use lukasa_core::{Force, State};
use uuid::Uuid;

use super::model::Row;
use super::report::{Check, Findings};
use super::stage::Cast;
use super::step::At;
use super::witness::{Held, HeldOperation, Snapshot};

/// Checks one snapshot, and what has become of the one before.
pub fn check(before: Option<&Snapshot>, now: &Snapshot, cast: &Cast, findings: &mut Findings) {
    no_overlap(now, findings);
    changes_leave_no_gap(now, findings);
    if let Some(before) = before {
        append_only(before, now, findings);
    }
    links_never_dangle(now, findings);
    extraction_never_closes_what_is_firm(now, findings);
    undo_restores(before, now, findings);
    everybody_keeps_to_themselves(now, cast, findings);
}

/// I1: no two active rows of one memory, or of one hard (domain, key), hold at one instant of the
/// world while both are known.
fn no_overlap(now: &Snapshot, findings: &mut Findings) {
    for (i, one) in now.versions.iter().enumerate() {
        for other in &now.versions[i + 1..] {
            if one.user != other.user || !share_a_place(one, other) {
                continue;
            }
            let (a, b) = (&one.row, &other.row);
            let both_active = a.state == State::Active && b.state == State::Active;
            let overlap = both_active && a.valid.meets(b.valid) && a.known.meets(b.known);
            findings.check(Check::NoOverlap, !overlap, || {
                format!("two truths at once:\n  {}\n  {}", line(a), line(b))
            });
        }
    }
}

fn share_a_place(one: &Held, other: &Held) -> bool {
    let (a, b) = (&one.row.claim, &other.row.claim);
    let hard = a.force == Force::Hard && b.force == Force::Hard;
    one.fact == other.fact || (hard && (&a.domain, &a.key) == (&b.domain, &b.key))
}

/// I2: what a change opens covers exactly the validity of what it closed.
fn changes_leave_no_gap(now: &Snapshot, findings: &mut Findings) {
    for operation in now.operations.iter().filter(|operation| operation.verb == "change") {
        if operation.facts.iter().any(|fact| now.tombstones.contains(&(operation.user, *fact))) {
            continue;
        }
        let closed: Vec<&Row> = rows(now, |held| held.closed_by == Some(operation.id));
        let mut opened: Vec<&Row> = rows(now, |held| held.opened_by == operation.id);
        opened.sort_by_key(|row| row.valid.from);
        let touch = opened.windows(2).all(|two| two[0].valid.until == two[1].valid.from);
        let (first, last) = (opened.first(), opened.last());
        let covers = match (&closed[..], first, last) {
            ([closed], Some(first), Some(last)) => {
                first.valid.from == closed.valid.from && last.valid.until == closed.valid.until
            }
            _ => false,
        };
        findings.check(Check::NoGap, touch && covers, || {
            let lines =
                |rows: &[&Row]| rows.iter().map(|row| line(row)).collect::<Vec<_>>().join("\n  ");
            let (closed, opened) = (lines(&closed), lines(&opened));
            format!("change #{} closed\n  {closed}\nand opened\n  {opened}", operation.no)
        });
    }
}

/// I3: a row that was seen once is never edited; it can only cease to be known, once, at a later
/// instant. Rows vanish only with a tombstone. New rows come after everything that was there.
fn append_only(before: &Snapshot, now: &Snapshot, findings: &mut Findings) {
    let last = before.last_at();
    let later = |user: usize, at: i64| last.get(&user).is_none_or(|last| at > *last);
    let there: HashMap<Uuid, &Held> =
        now.versions.iter().map(|held| (held.version, held)).collect();
    let mut seen = BTreeSet::new();
    for old in &before.versions {
        seen.insert(old.version);
        let Some(new) = there.get(&old.version) else {
            let erased = now.tombstones.contains(&(old.user, old.fact));
            findings.check(Check::AppendOnly, erased, || {
                format!("a row vanished without a tombstone: {}", line(&old.row))
            });
            continue;
        };
        let mut expected = old.clone();
        if old.closed_by.is_none() && later(new.user, new.row.known.until) {
            expected.closed_by = new.closed_by;
            expected.row.closed_by = new.row.closed_by;
            expected.row.known.until = new.row.known.until;
        }
        // The number of an operation may have become known since; its id is what counts.
        expected.row.opened_by = new.row.opened_by;
        expected.row.closed_by = new.row.closed_by;
        expected.row.fact = new.row.fact;
        findings.check(Check::AppendOnly, expected == **new, || {
            format!("a row was edited:\n  {}\n  {}", line(&old.row), line(&new.row))
        });
    }
    for new in now.versions.iter().filter(|held| !seen.contains(&held.version)) {
        findings.check(Check::AppendOnly, later(new.user, new.row.known.from), || {
            format!("a row was written into the past: {}", line(&new.row))
        });
    }
    for old in &before.operations {
        let same = now.operation(old.id).is_some_and(|new| {
            (old.user, old.at, &old.verb, &old.facts, old.undoes)
                == (new.user, new.at, &new.verb, &new.facts, new.undoes)
        });
        findings.check(Check::AppendOnly, same, || format!("operation #{} changed", old.no));
    }
    for old in &before.ties {
        let kept = now.ties.iter().find(|new| new.id == old.id);
        let erased =
            [old.from, old.to].iter().any(|end| now.tombstones.contains(&(old.user, *end)));
        let fine = kept.map_or(erased, |new| {
            let closed = new.tie.known.until;
            let ended = old.tie.known.until == closed
                || (old.tie.closed_by.is_none() && later(old.user, closed));
            ended
                && (old.user, old.from, old.to, &old.tie.relation, old.tie.known.from)
                    == (new.user, new.from, new.to, &new.tie.relation, new.tie.known.from)
        });
        findings.check(Check::AppendOnly, fine, || format!("link #{} was edited", old.tie.no));
    }
}

/// I5: both ends of every link, open or closed, are memories of the same user.
fn links_never_dangle(now: &Snapshot, findings: &mut Findings) {
    for held in &now.ties {
        for end in [held.from, held.to] {
            findings.check(Check::NoDangling, now.facts.contains(&(held.user, end)), || {
                format!("link #{} hangs on nothing", held.tie.no)
            });
        }
    }
}

/// I6: what was stated, or agreed to by a human, was closed by nobody who extracts.
fn extraction_never_closes_what_is_firm(now: &Snapshot, findings: &mut Findings) {
    for held in now.versions.iter().filter(|held| held.row.firm()) {
        let Some(by) = held.closed_by else { continue };
        let by_extraction = now.operation(by).is_none_or(|operation| operation.extracted);
        findings.check(Check::FirmStays, !by_extraction, || {
            format!("extraction closed what was said: {}", line(&held.row))
        });
    }
}

/// I7: after an undo, the memories it is about are what they were just before the operation it
/// reverses. Where another operation came between, the question has no such plain answer, and the
/// comparison with the model has to do.
fn undo_restores(before: Option<&Snapshot>, now: &Snapshot, findings: &mut Findings) {
    let is_new = |undo: &&HeldOperation| before.is_none_or(|b| b.operation(undo.id).is_none());
    for undo in now.operations.iter().filter(is_new) {
        let Some(undone) = undo.undoes.and_then(|id| now.operation(id)) else { continue };
        let erased = |fact: &Uuid| now.tombstones.contains(&(undo.user, *fact));
        let between = |other: &HeldOperation| {
            other.user == undo.user
                && undone.at < other.at
                && other.at < undo.at
                && !other.facts.is_disjoint(&undone.facts)
        };
        if undone.facts.iter().any(erased) || now.operations.iter().any(between) {
            continue;
        }
        let former = state(now, undone, undone.at - 1);
        let restored = state(now, undone, undo.at);
        let check = if undone.undoes.is_some() { Check::UndoOfUndo } else { Check::UndoRestores };
        findings.check(check, former == restored, || {
            let (former, restored) = (former.join("\n  "), restored.join("\n  "));
            format!("#{} undid #{}; it was\n  {former}\nand is\n  {restored}", undo.no, undone.no)
        });
    }
}

/// Everything known at an instant about the memories of an operation, and the links among them,
/// without what any rewriting renews.
fn state(now: &Snapshot, about: &HeldOperation, at: i64) -> Vec<String> {
    let of = |held: &&Held| {
        held.user == about.user && about.facts.contains(&held.fact) && held.row.known.holds(at)
    };
    let plain = |held: &Held| {
        let row = &held.row;
        let standing = (row.state, row.tier, row.origin, row.extracted, row.confidence);
        let agreed = (row.confirmed, row.last_confirmed, row.consented);
        let valid = (At(row.valid.from).to_string(), At(row.valid.until).to_string());
        format!("#{} {} {standing:?} {valid:?} {agreed:?} {:?}", row.fact, row.number, row.claim)
    };
    let mut state: Vec<String> = now.versions.iter().filter(of).map(plain).collect();
    let among = now.ties.iter().filter(|held| {
        held.user == about.user
            && about.facts.contains(&held.from)
            && about.facts.contains(&held.to)
            && held.tie.known.holds(at)
    });
    state.extend(among.map(|t| format!("#{} {} #{}", t.tie.from, t.tie.relation, t.tie.to)));
    state.sort();
    state
}

/// Isolation, in the rows: each row lies with the tenant of its user and speaks with their canary.
fn everybody_keeps_to_themselves(now: &Snapshot, cast: &Cast, findings: &mut Findings) {
    for held in &now.versions {
        let actor = &cast.actors[held.user];
        let content = &held.row.claim.content;
        let own = content.to_lowercase().contains(&actor.canary)
            && cast.foreign_canary(held.user, content).is_none()
            && held.tenant == actor.tenant.uuid();
        findings.check(Check::Isolation, own, || {
            format!("user {} holds a row of another: {}", held.user, line(&held.row))
        });
    }
}

fn rows(now: &Snapshot, which: impl Fn(&Held) -> bool) -> Vec<&Row> {
    now.versions.iter().filter(|held| which(held)).map(|held| &held.row).collect()
}

/// A row on one line.
pub fn line(row: &Row) -> String {
    let span = |from, until| format!("[{}, {})", At(from), At(until));
    format!(
        "#{} v{} {} {:?} valid {} known {} opened by #{} closed by {:?}",
        row.fact,
        row.number,
        row.state.as_str(),
        row.claim.content,
        span(row.valid.from, row.valid.until),
        span(row.known.from, row.known.until),
        row.opened_by,
        row.closed_by
    )
}
