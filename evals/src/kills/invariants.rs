//! Invariants of one user's rows, given the requests and answers.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use jiff::Timestamp;
use lukasa_core::{FactId, OperationId};
use uuid::Uuid;

use super::journal::{Entry, Fate, Findings, Wrong};
use super::record::{UserRecord, Version};

/// Compares one user's rows, read at `now`, with the user's requests.
pub fn examine(
    name: &str,
    entries: &[Entry],
    one_client: bool,
    rows: &UserRecord,
    now: Timestamp,
    findings: &mut Findings,
) {
    let mut check = Check { name, rows, findings };
    check.answers(entries);
    check.effects(entries);
    check.order(entries, one_client);
    check.chains();
    check.axes(now);
}

struct Check<'a> {
    name: &'a str,
    rows: &'a UserRecord,
    findings: &'a mut Findings,
}

impl Check<'_> {
    fn wrong(&mut self, wrong: Wrong, words: impl FnOnce() -> String) {
        let name = self.name;
        self.findings.add(wrong, || format!("{name}: {}", words()));
    }

    /// Every acknowledged write is there, as it was acknowledged.
    fn answers(&mut self, entries: &[Entry]) {
        let rows = self.rows;
        let operations: HashSet<Uuid> = rows.operations.iter().map(|o| o.id).collect();
        let versions: HashMap<Uuid, &Version> = rows.versions.iter().map(|v| (v.id, v)).collect();
        let stored_answers: HashMap<&str, Option<&str>> =
            rows.stored_answers.iter().map(|k| (k.key.as_str(), k.operation.as_deref())).collect();
        for entry in entries {
            let Fate::Acknowledged { ack, kills } = &entry.fate else { continue };
            let what =
                || format!("{:?}, key {}, answered after kill {kills}", entry.verb, entry.key);
            if let Some(operation) = ack.operation
                && !operations.contains(&operation.uuid())
            {
                self.wrong(Wrong::Lost, || format!("{operation} ({}) is not there", what()));
                // Everything else about it is missing too, and counts as one loss.
                continue;
            }
            let printed = ack.operation.map(|id| id.to_string());
            match stored_answers.get(entry.key.as_str()) {
                Some(operation) if *operation == printed.as_deref() => {}
                Some(other) => self.wrong(Wrong::OtherAnswer, || {
                    format!("{} was {printed:?} and is stored as {other:?}", what())
                }),
                None => self.wrong(Wrong::AnswerMissing, what),
            }
            let Some(shown) = &ack.memory else { continue };
            match versions.get(&shown.version.uuid()) {
                Some(version)
                    if version.content == shown.content && version.fact == shown.fact.uuid() => {}
                Some(version) => self.wrong(Wrong::OtherState, || {
                    format!("{}: {:?} became {:?}", what(), shown.content, version.content)
                }),
                None => self.wrong(Wrong::Lost, || format!("{} of {}", shown.version, what())),
            }
        }
    }

    /// Every effect has exactly one request that asked for it and was not refused.
    fn effects(&mut self, entries: &[Entry]) {
        let rows = self.rows;
        let by_key: HashMap<&str, &Entry> = entries.iter().map(|e| (e.key.as_str(), e)).collect();
        let mut askers: HashMap<Uuid, Vec<&str>> = HashMap::new();
        for entry in entries {
            if let Fate::Acknowledged { ack, .. } = &entry.fate
                && let Some(operation) = ack.operation
            {
                askers.entry(operation.uuid()).or_default().push(&entry.key);
            }
        }
        for answer in &rows.stored_answers {
            let Some(entry) = by_key.get(answer.key.as_str()) else {
                self.wrong(Wrong::Doubled, || format!("key {} was never sent", answer.key));
                continue;
            };
            let Some(operation) = answer.operation.as_deref() else { continue };
            let Ok(operation) = operation.parse::<OperationId>() else {
                self.wrong(Wrong::OtherAnswer, || format!("key {} keeps no operation", answer.key));
                continue;
            };
            match entry.fate {
                Fate::Acknowledged { .. } => {}
                Fate::Abandoned | Fate::Refused { in_doubt: true } | Fate::Open => {
                    askers.entry(operation.uuid()).or_default().push(&entry.key);
                }
                Fate::Refused { in_doubt: false } => {
                    let words = || format!("key {} was refused but done", entry.key);
                    self.wrong(Wrong::OtherAnswer, words);
                }
            }
        }
        for operation in &rows.operations {
            let keys = askers.get(&operation.id).map_or(&[][..], Vec::as_slice);
            if keys.len() != 1 {
                let id = OperationId::from_uuid(operation.id);
                self.wrong(Wrong::Doubled, || format!("{id} was asked for by {keys:?}"));
            }
        }
        // The content of a request belongs to one edition of one memory, however often it was sent.
        let mut editions: BTreeMap<&str, BTreeSet<(Uuid, i32)>> = BTreeMap::new();
        for version in &rows.versions {
            let edition = (version.fact, version.number);
            editions.entry(&version.content).or_default().insert(edition);
        }
        let asked: HashSet<&str> = entries.iter().filter_map(|e| e.content.as_deref()).collect();
        for (content, editions) in editions {
            if editions.len() > 1 {
                let count = editions.len();
                self.wrong(Wrong::Doubled, || format!("{content:?} is there {count} times"));
            }
            if !asked.contains(content) {
                self.wrong(Wrong::OtherState, || format!("no request has the content {content:?}"));
            }
        }
    }

    /// Time moves forward: each operation has an instant of its own, and one client's operations
    /// have them in the order in which it sent them.
    fn order(&mut self, entries: &[Entry], one_client: bool) {
        let rows = self.rows;
        for pair in rows.operations.windows(2) {
            if pair[0].at >= pair[1].at {
                self.wrong(Wrong::Order, || format!("two operations at {}", pair[0].at));
            }
        }
        if !one_client {
            return;
        }
        let at: HashMap<Uuid, _> = rows.operations.iter().map(|o| (o.id, o.at)).collect();
        let mut last = None;
        for entry in entries {
            let Fate::Acknowledged { ack, .. } = &entry.fate else { continue };
            let Some(now) = ack.operation.and_then(|id| at.get(&id.uuid())) else { continue };
            if last.is_some_and(|last| last >= now) {
                self.wrong(Wrong::Order, || format!("key {} is at {now}", entry.key));
            }
            last = Some(now);
        }
    }

    /// The known axis: versions begin and end exactly with the operations that opened and closed
    /// them, and a closed version has a successor.
    fn chains(&mut self) {
        let rows = self.rows;
        let at: HashMap<Uuid, _> = rows.operations.iter().map(|o| (o.id, o.at)).collect();
        let undoes: HashMap<Uuid, Uuid> =
            rows.operations.iter().filter_map(|o| Some((o.id, o.undoes?))).collect();
        let opened: HashSet<(Uuid, Uuid)> =
            rows.versions.iter().map(|v| (v.fact, v.opened_by)).collect();
        let closed: HashSet<(Uuid, Uuid)> =
            rows.versions.iter().filter_map(|v| Some((v.fact, v.closed_by?))).collect();
        for version in &rows.versions {
            if at.get(&version.opened_by) != Some(&version.known.0) {
                self.wrong(Wrong::Torn, || {
                    format!("version {} opened by no operation", version.id)
                });
            }
            let Some(by) = version.closed_by else { continue };
            if at.get(&by).copied() != version.known.1 {
                self.wrong(Wrong::Torn, || {
                    format!("version {} closed by no operation", version.id)
                });
            }
            // Undoing an operation that closed nothing, such as a save, leaves nothing.
            let of = version.fact;
            let leaves_nothing = undoes.get(&by).is_some_and(|op| !closed.contains(&(of, *op)));
            if !opened.contains(&(of, by)) && !leaves_nothing {
                self.wrong(Wrong::Gap, || format!("nothing follows version {}", version.id));
            }
        }
        let touched: HashSet<Uuid> =
            opened.iter().chain(&closed).map(|(_, operation)| *operation).collect();
        for operation in rows.operations.iter().filter(|o| !touched.contains(&o.id)) {
            let id = OperationId::from_uuid(operation.id);
            self.wrong(Wrong::Torn, || format!("{id} did nothing"));
        }
    }

    /// The valid axis: at every instant of the known one, active versions follow each other without
    /// gap or overlap and the last has no end; and now there is one head.
    fn axes(&mut self, now: Timestamp) {
        let mut facts: BTreeMap<Uuid, Vec<&Version>> = BTreeMap::new();
        for version in self.rows.versions.iter().filter(|v| v.active) {
            facts.entry(version.fact).or_default().push(version);
        }
        for (fact, versions) in facts {
            let fact = FactId::from_uuid(fact);
            for (i, one) in versions.iter().enumerate() {
                for other in &versions[..i] {
                    if overlap(one.known, other.known) && overlap(one.valid, other.valid) {
                        self.wrong(Wrong::Overlap, || format!("{fact}: {} {}", one.id, other.id));
                    }
                }
            }
            let instants: BTreeSet<_> = versions.iter().map(|v| v.known.0).collect();
            for instant in instants {
                let mut then: Vec<_> = versions
                    .iter()
                    .filter(|v| contains(v.known, instant))
                    .map(|v| v.valid)
                    .collect();
                then.sort_unstable();
                let follows = then.windows(2).all(|pair| pair[0].1 == Some(pair[1].0));
                if !follows || then.last().is_some_and(|last| last.1.is_some()) {
                    self.wrong(Wrong::Gap, || format!("{fact}, as known at {instant}: {then:?}"));
                }
            }
            let heads = versions.iter().filter(|v| v.known.1.is_none() && contains(v.valid, now));
            if heads.count() > 1 {
                self.wrong(Wrong::TwoHeads, || fact.to_string());
            }
        }
    }
}

type Span = (Timestamp, Option<Timestamp>);

fn contains(span: Span, at: Timestamp) -> bool {
    span.0 <= at && span.1.is_none_or(|end| at < end)
}

fn overlap(one: Span, other: Span) -> bool {
    one.1.is_none_or(|end| other.0 < end) && other.1.is_none_or(|end| one.0 < end)
}

#[cfg(test)]
mod tests {
    use super::super::journal::{Ack, Shown, Verb};
    use super::super::record::{Operation, StoredAnswer};
    use super::*;
    use lukasa_core::VersionId;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn id(number: u128) -> Uuid {
        Uuid::from_u128(number)
    }

    /// A save at 10 and a change of it at 20, acknowledged and as they should be.
    fn sound() -> (Vec<Entry>, UserRecord) {
        let version = |number: u128, edition, content: &str, valid, known, by, closed| Version {
            fact: id(1),
            id: id(number),
            number: edition,
            content: content.to_owned(),
            active: true,
            valid,
            known,
            opened_by: id(by),
            closed_by: closed,
        };
        let versions = vec![
            version(31, 1, "tea", (at(10), None), (at(10), Some(at(20))), 21, Some(id(22))),
            version(32, 1, "tea", (at(10), Some(at(20))), (at(20), None), 22, None),
            version(33, 2, "coffee", (at(20), None), (at(20), None), 22, None),
        ];
        let operation = |number, second| Operation { id: id(number), at: at(second), undoes: None };
        let stored_answer = |key: &str, number| StoredAnswer {
            key: key.to_owned(),
            operation: Some(OperationId::from_uuid(id(number)).to_string()),
        };
        let entry = |key: &str, verb, content: &str, operation, version| Entry {
            key: key.to_owned(),
            verb,
            content: Some(content.to_owned()),
            fate: Fate::Acknowledged {
                ack: Ack {
                    operation: Some(OperationId::from_uuid(id(operation))),
                    memory: Some(Shown {
                        fact: FactId::from_uuid(id(1)),
                        version: VersionId::from_uuid(id(version)),
                        content: content.to_owned(),
                        status: "active".to_owned(),
                    }),
                },
                kills: 0,
            },
        };
        let entries =
            vec![entry("a", Verb::Save, "tea", 21, 31), entry("b", Verb::Change, "coffee", 22, 33)];
        let operations = vec![operation(21, 10), operation(22, 20)];
        (
            entries,
            UserRecord {
                operations,
                versions,
                stored_answers: vec![stored_answer("a", 21), stored_answer("b", 22)],
            },
        )
    }

    fn found(harm: impl FnOnce(&mut Vec<Entry>, &mut UserRecord)) -> Vec<Wrong> {
        let (mut entries, mut rows) = sound();
        harm(&mut entries, &mut rows);
        let mut findings = Findings::default();
        examine("user", &entries, true, &rows, at(100), &mut findings);
        findings.counts.into_keys().collect()
    }

    #[test]
    fn sound_record_passes() {
        assert_eq!(found(|_, _| {}), []);
    }

    #[test]
    fn each_violation_is_classified() {
        let none: [Wrong; 0] = [];
        let lost = found(|_, rows| {
            rows.operations.pop();
            rows.stored_answers.pop();
        });
        assert!(lost.contains(&Wrong::Lost) && lost.contains(&Wrong::Torn), "{lost:?}");
        assert_eq!(found(|_, rows| rows.versions[2].content = "cocoa".into()), [Wrong::OtherState]);
        assert_eq!(found(|_, rows| drop(rows.stored_answers.pop())), [Wrong::AnswerMissing]);
        assert_eq!(found(|_, rows| rows.stored_answers[1].operation = None), [Wrong::OtherAnswer]);
        assert_eq!(found(|entries, _| entries[1].fate = Fate::Abandoned), none);
        let refused = Fate::Refused { in_doubt: false };
        let refused = found(|entries, _| entries[1].fate = refused);
        assert_eq!(refused, [Wrong::Doubled, Wrong::OtherAnswer]);
        let twice = |_: &mut Vec<Entry>, rows: &mut UserRecord| rows.versions[1].number = 3;
        assert_eq!(found(twice), [Wrong::Doubled]);
        let unasked = |_: &mut Vec<Entry>, rows: &mut UserRecord| {
            rows.operations.push(Operation { id: id(23), at: at(30), undoes: None });
        };
        assert_eq!(found(unasked), [Wrong::Doubled, Wrong::Torn]);
        assert_eq!(
            found(|_, rows| rows.versions[0].closed_by = Some(id(99))),
            [Wrong::Torn, Wrong::Gap]
        );
        assert_eq!(found(|_, rows| rows.versions[1].valid.1 = Some(at(19))), [Wrong::Gap]);
        assert_eq!(found(|_, rows| rows.versions[2].valid.1 = Some(at(30))), [Wrong::Gap]);
        let heads = found(|_, rows| rows.versions[1].valid.1 = None);
        assert_eq!(heads, [Wrong::Gap, Wrong::Overlap, Wrong::TwoHeads]);
        let order = found(|_, rows| rows.operations.swap(0, 1));
        assert_eq!(order, [Wrong::Order]);
    }
}
