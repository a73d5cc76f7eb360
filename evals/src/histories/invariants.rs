//! The invariants of the record (I1 to I7 and isolation), each checked on the rows themselves.
//!
//! None of these uses the engine or the reference model: a row that breaks one of them is wrong in
//! any case.

use std::collections::{BTreeSet, HashMap};

use lukasa_core::{Force, State};
use uuid::Uuid;

use super::fixture::TestUsers;
use super::model::Row;
use super::report::{Check, Findings};
use super::step::At;
use super::witness::{Snapshot, StoredOperation, StoredVersion};

/// Checks one snapshot, and its changes since the previous one.
pub fn check(
    before: Option<&Snapshot>,
    now: &Snapshot,
    test_users: &TestUsers,
    findings: &mut Findings,
) {
    no_overlap(now, findings);
    changes_leave_no_gap(now, findings);
    if let Some(before) = before {
        append_only(before, now, findings);
    }
    links_never_dangle(now, findings);
    extraction_never_closes_firm_rows(now, findings);
    undo_restores(before, now, findings);
    users_are_isolated(now, test_users, findings);
}

/// I1: no two active rows of one memory, or of one hard (domain, key), are valid at one instant
/// while both are known.
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

fn share_a_place(one: &StoredVersion, other: &StoredVersion) -> bool {
    let (a, b) = (&one.row.claim, &other.row.claim);
    let hard = a.force == Force::Hard && b.force == Force::Hard;
    one.fact == other.fact || (hard && (&a.domain, &a.key) == (&b.domain, &b.key))
}

/// I2: the rows that a change opens cover exactly the validity of those it closed.
fn changes_leave_no_gap(now: &Snapshot, findings: &mut Findings) {
    for operation in now.operations.iter().filter(|operation| operation.verb == "change") {
        if operation.facts.iter().any(|fact| now.tombstones.contains(&(operation.user, *fact))) {
            continue;
        }
        let closed: Vec<&Row> = rows(now, |stored| stored.closed_by == Some(operation.id));
        let mut opened: Vec<&Row> = rows(now, |stored| stored.opened_by == operation.id);
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

/// I3: a row is never edited; it can only cease to be known, once, at a later instant. Rows vanish
/// only with a tombstone. New rows come after all existing ones.
fn append_only(before: &Snapshot, now: &Snapshot, findings: &mut Findings) {
    let last = before.last_at();
    let later = |user: usize, at: i64| last.get(&user).is_none_or(|last| at > *last);
    let there: HashMap<Uuid, &StoredVersion> =
        now.versions.iter().map(|stored| (stored.version, stored)).collect();
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
        // The number of an operation may have become known since; its id is compared.
        expected.row.opened_by = new.row.opened_by;
        expected.row.closed_by = new.row.closed_by;
        expected.row.fact = new.row.fact;
        findings.check(Check::AppendOnly, expected == **new, || {
            format!("a row was edited:\n  {}\n  {}", line(&old.row), line(&new.row))
        });
    }
    for new in now.versions.iter().filter(|stored| !seen.contains(&stored.version)) {
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
        let current = now.ties.iter().find(|new| new.id == old.id);
        let erased =
            [old.from, old.to].iter().any(|end| now.tombstones.contains(&(old.user, *end)));
        let fine = current.map_or(erased, |new| {
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
    for stored in &now.ties {
        for end in [stored.from, stored.to] {
            findings.check(Check::NoDangling, now.facts.contains(&(stored.user, end)), || {
                format!("link #{} dangles", stored.tie.no)
            });
        }
    }
}

/// I6: no extraction has closed a row that was stated or confirmed by a human.
fn extraction_never_closes_firm_rows(now: &Snapshot, findings: &mut Findings) {
    for stored in now.versions.iter().filter(|stored| stored.row.firm()) {
        let Some(by) = stored.closed_by else { continue };
        let by_extraction = now.operation(by).is_none_or(|operation| operation.extracted);
        findings.check(Check::FirmStays, !by_extraction, || {
            format!("extraction closed a stated row: {}", line(&stored.row))
        });
    }
}

/// I7: after an undo, its memories are what they were just before the reversed operation. With
/// another operation in between there is no such simple answer, and the comparison with the model
/// has to do.
fn undo_restores(before: Option<&Snapshot>, now: &Snapshot, findings: &mut Findings) {
    let is_new = |undo: &&StoredOperation| before.is_none_or(|b| b.operation(undo.id).is_none());
    for undo in now.operations.iter().filter(is_new) {
        let Some(undone) = undo.undoes.and_then(|id| now.operation(id)) else { continue };
        let erased = |fact: &Uuid| now.tombstones.contains(&(undo.user, *fact));
        let between = |other: &StoredOperation| {
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
/// without what every rewrite renews.
fn state(now: &Snapshot, about: &StoredOperation, at: i64) -> Vec<String> {
    let of = |stored: &&StoredVersion| {
        stored.user == about.user
            && about.facts.contains(&stored.fact)
            && stored.row.known.holds(at)
    };
    let plain = |stored: &StoredVersion| {
        let row = &stored.row;
        let standing = (row.state, row.tier, row.origin, row.extracted, row.confidence);
        let agreed = (row.confirmed, row.last_confirmed, row.consented);
        let valid = (At(row.valid.from).to_string(), At(row.valid.until).to_string());
        format!("#{} {} {standing:?} {valid:?} {agreed:?} {:?}", row.fact, row.number, row.claim)
    };
    let mut state: Vec<String> = now.versions.iter().filter(of).map(plain).collect();
    let among = now.ties.iter().filter(|stored| {
        stored.user == about.user
            && about.facts.contains(&stored.from)
            && about.facts.contains(&stored.to)
            && stored.tie.known.holds(at)
    });
    state.extend(among.map(|t| format!("#{} {} #{}", t.tie.from, t.tie.relation, t.tie.to)));
    state.sort();
    state
}

/// Isolation in the rows: each row has the tenant of its user and contains their canary only.
fn users_are_isolated(now: &Snapshot, test_users: &TestUsers, findings: &mut Findings) {
    for stored in &now.versions {
        let actor = &test_users.actors[stored.user];
        let content = &stored.row.claim.content;
        let own = content.to_lowercase().contains(&actor.canary)
            && test_users.foreign_canary(stored.user, content).is_none()
            && stored.tenant == actor.tenant.uuid();
        findings.check(Check::Isolation, own, || {
            format!("user {} has a row of another user: {}", stored.user, line(&stored.row))
        });
    }
}

fn rows(now: &Snapshot, which: impl Fn(&StoredVersion) -> bool) -> Vec<&Row> {
    now.versions.iter().filter(|stored| which(stored)).map(|stored| &stored.row).collect()
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
