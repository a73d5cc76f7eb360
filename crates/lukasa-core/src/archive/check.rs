//! Validation of an export before it is imported. The file may be wrong by mistake or on purpose;
//! the database would refuse most of it too, with worse error messages.

use std::collections::{BTreeMap, BTreeSet};

use jiff::SignedDuration;
use jiff::tz::TimeZone;

use super::Contents;
use crate::fact::Version;
use crate::id::{FactId, OperationId};
use crate::limits::{self, NAME_CHARS, SPANS, TURN_CHARS};
use crate::link::{Link, is_relation};
use crate::operation::Operation;
use crate::session::{Session, Turn, is_session_name, session_name_fault};
use crate::time::{Period, Timestamp};

/// Upper bound of reported faults; a file with more is the wrong file.
const MAX_REPORTED_FAULTS: usize = 20;

/// How far in the future the operations of a trusted export may be. Clocks differ a little, but an
/// operation a year ahead would block all writes until then.
pub const CLOCK_TOLERANCE: SignedDuration = SignedDuration::from_hours(24);

/// Lists what is wrong with an export; empty if all of it can be stored. Nothing in it may be known
/// later than `latest`.
pub fn faults(contents: &Contents, latest: Timestamp) -> Vec<String> {
    let mut faults = Vec::new();
    let operations: BTreeMap<OperationId, Timestamp> =
        contents.operations.iter().map(|operation| (operation.id, operation.at)).collect();
    let times: BTreeSet<Timestamp> = operations.values().copied().collect();
    if operations.len() != contents.operations.len() || times.len() != operations.len() {
        faults.push("two operations have the same id or time".to_owned());
    }
    if times.iter().any(|at| !has_storable_year(*at) || *at > latest) {
        faults.push("an operation is in the future".to_owned());
    }
    if contents.operations.iter().any(has_invalid_text) {
        faults.push("an operation has an invalid credential, policy or session name".to_owned());
    }
    let facts = contents.facts();
    // Passages are keyed by the id of their version or turn, so these ids differ from each other.
    let mut sources = BTreeSet::new();
    let mut first = BTreeSet::new();
    for version in &contents.versions {
        if !sources.insert(version.id.uuid()) {
            faults.push(format!("{}: duplicate version id", version.id));
        }
        if version.number == 1 {
            first.insert(version.fact);
        }
        if let Some(fault) = version_fault(version, &operations, latest) {
            faults.push(format!("{}: {fault}", version.id));
        }
    }
    for fact in facts.difference(&first) {
        faults.push(format!("{fact} has no first version"));
    }
    faults.extend(contents.links.iter().filter_map(|link| link_fault(link, &facts, &operations)));
    let sessions: BTreeMap<&str, i32> =
        contents.sessions.iter().map(|session| (session.id.as_str(), session.turns)).collect();
    if sessions.len() != contents.sessions.len() {
        faults.push("two sessions have the same name".to_owned());
    }
    faults.extend(contents.sessions.iter().filter_map(session_fault));
    let mut places = BTreeSet::new();
    for turn in &contents.turns {
        let fresh =
            places.insert((turn.session.as_str(), turn.number)) && sources.insert(turn.id.uuid());
        if !fresh || turn_fault(turn, &sessions) {
            faults.push(format!("{}: invalid turn, or its session is missing or shorter", turn.id));
        }
    }
    for observation in &contents.observations {
        let fresh = sources.insert(observation.id.uuid());
        if !fresh || !observation.faults(latest).is_empty() {
            faults.push(format!("{}: invalid observation", observation.id));
        }
    }
    let mut ids = BTreeSet::new();
    for episode in &contents.episodes {
        let turns = sessions.get(episode.session.as_str()).copied();
        // The session may be gone, but an episode must not end after its session's last turn.
        let within = turns.is_none_or(|turns| episode.last_turn <= turns);
        if !ids.insert(episode.id) || !within || episode.fault().is_some() {
            faults.push(format!("{}: invalid episode, or longer than its session", episode.id));
        }
    }
    faults.truncate(MAX_REPORTED_FAULTS);
    faults
}

/// Whether the year is one that PostgreSQL and the printed form agree on.
fn has_storable_year(at: Timestamp) -> bool {
    (1..=9999).contains(&at.to_zoned(TimeZone::UTC).year())
}

fn has_nul<'t>(texts: impl IntoIterator<Item = &'t String>) -> bool {
    texts.into_iter().any(|text| text.contains('\0'))
}

fn has_invalid_text(operation: &Operation) -> bool {
    let session = operation.sources.as_ref().and_then(|sources| sources.session.as_ref());
    let texts = [Some(&operation.credential), operation.policy.as_ref(), session];
    has_nul(texts.into_iter().flatten()) || operation.credential.chars().count() > NAME_CHARS
}

fn is_period(period: &Period) -> bool {
    has_storable_year(period.from)
        && period.until.is_none_or(|until| has_storable_year(until) && until > period.from)
}

fn version_fault(
    version: &Version,
    operations: &BTreeMap<OperationId, Timestamp>,
    latest: Timestamp,
) -> Option<&'static str> {
    let by_operation = |id: OperationId, at: Timestamp| operations.get(&id) == Some(&at);
    let closed = match (version.known.until, version.closed_by) {
        (None, None) => true,
        (Some(until), Some(by)) => by_operation(by, until),
        _ => false,
    };
    let dates = [version.confirmed_at, version.last_confirmed_at, version.consented_at];
    if !version.claim.faults().is_empty() {
        return Some("the claim is empty or too long");
    }
    if version.claim.content.is_empty() || !(1..=limits::VERSIONS).contains(&version.number) {
        return Some("invalid version: no content, or the number is out of range");
    }
    if !is_period(&version.valid) || !is_period(&version.known) || version.known.from > latest {
        return Some("a period is empty or in the future");
    }
    if !by_operation(version.opened_by, version.known.from) || !closed {
        return Some("no operation in the file opened or closed it at that time");
    }
    if !version.confidence.is_none_or(|sure| version.extracted && (0.0..=1.0).contains(&sure)) {
        return Some("invalid confidence");
    }
    if dates.into_iter().flatten().any(|at| !has_storable_year(at)) {
        return Some("a date is out of range");
    }
    (version.turns.len() > crate::limits::TURNS
        || has_nul(version.turns.iter().chain(&version.session)))
    .then_some("too many turns, or an invalid turn or session name")
}

fn link_fault(
    link: &Link,
    facts: &BTreeSet<FactId>,
    operations: &BTreeMap<OperationId, Timestamp>,
) -> Option<String> {
    let ends = link.from != link.to && facts.contains(&link.from) && facts.contains(&link.to);
    let closed = match (link.known.until, link.closed_by) {
        (None, None) => true,
        (Some(_), Some(by)) => operations.contains_key(&by),
        _ => false,
    };
    let good = ends
        && closed
        && is_relation(&link.relation)
        && is_period(&link.known)
        && operations.contains_key(&link.opened_by);
    (!good).then(|| format!("{}: invalid link, or its memories or operation are missing", link.id))
}

fn session_fault(session: &Session) -> Option<String> {
    let name = is_session_name(&session.id);
    // An error shows the name, so one with a secret is not named.
    if session_name_fault(&session.id).is_some() && name {
        return Some("the name of a session contains a secret".to_owned());
    }
    let within = |number: i32| (0..=session.turns).contains(&number);
    let dates = [Some(session.opened_at), Some(session.last_turn_at), session.closed_at];
    let dates_valid =
        dates.into_iter().chain([session.trashed_at]).flatten().all(has_storable_year);
    let words = session.title.iter().chain(&session.summary).chain([&session.id]);
    let good = name
        && dates_valid
        && (0..=limits::SESSION_TURNS).contains(&session.turns)
        && !has_nul(words)
        && !session.incognito
        && within(session.extracted_through)
        && within(session.summary_through);
    (!good).then(|| format!("{:?}: invalid session", session.id))
}

fn turn_fault(turn: &Turn, sessions: &BTreeMap<&str, i32>) -> bool {
    let last_turn = sessions.get(turn.session.as_str()).copied().unwrap_or(0);
    let length = turn.content.chars().count();
    let spans = turn.spans.iter().all(|span| span.from < span.to && span.to <= length);
    !(1..=last_turn).contains(&turn.number)
        || turn.content.is_empty()
        || length > TURN_CHARS
        || !spans
        || turn.spans.len() > SPANS
        || turn.speaker.as_ref().is_some_and(|name| name.chars().count() > NAME_CHARS)
        || !has_storable_year(turn.said_at)
        || !has_storable_year(turn.recorded_at)
        || has_nul(turn.speaker.iter().chain([&turn.content]))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::caller::CallerKind;
    use crate::fact::tests::version;
    use crate::id::Ids;
    use crate::operation::{Operation, Verb};
    use crate::origin::{Origin, Voice};
    use crate::session::Role;

    pub(in crate::archive) fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    /// One memory, one session with one turn and one episode, and the operation that saved it.
    pub(in crate::archive) fn good() -> Contents {
        let version = version(Voice::stated(Origin::UserSaid));
        let operation = Operation {
            id: version.opened_by,
            verb: Verb::Save,
            at: version.known.from,
            caller: CallerKind::Human,
            credential: "local".into(),
            voice: version.voice(),
            facts: vec![version.fact],
            undoes: None,
            undone_by: None,
            policy: None,
            sources: None,
            member: None,
        };
        let mut session = Session::opened("chat", None, at(1));
        session.turns = 1;
        let turn = Turn {
            id: Ids::new(at(1), [5; 16]).turn(),
            session: "chat".into(),
            number: 1,
            role: Role::User,
            speaker: None,
            content: "hello".into(),
            origin: Origin::UserTurn,
            said_at: at(1),
            recorded_at: at(1),
            spans: Vec::new(),
            marked: false,
        };
        let mut ids = Ids::new(at(1), [6; 16]);
        let episode = crate::Episode {
            id: ids.episode(),
            session: "chat".into(),
            first_turn: 1,
            last_turn: 1,
            title: None,
            summary: "Said hello.".into(),
            origin: Origin::UserTurn,
            started_at: at(1),
            ended_at: at(1),
            pass: ids.pass(),
            prompt: "v1".into(),
            recorded_at: at(1),
            searchable: true,
        };
        Contents {
            episodes: vec![episode],
            versions: vec![version],
            operations: vec![operation],
            sessions: vec![session],
            turns: vec![turn],
            ..Contents::default()
        }
    }

    #[test]
    fn valid_export_has_no_faults() {
        assert_eq!(faults(&good(), at(100)), Vec::<String>::new());
    }

    #[test]
    fn export_check_finds_each_planted_fault() {
        let plants: [fn(&mut Contents); 25] = [
            |c| c.operations.clear(),
            |c| c.operations[0].at = at(1_000_000),
            |c| c.operations.push(c.operations[0].clone()),
            |c| c.operations[0].credential.push('\0'),
            |c| c.operations[0].credential = "k".repeat(NAME_CHARS + 1),
            |c| {
                let session = Some("a\0".to_owned());
                c.operations[0].sources =
                    Some(crate::removal::Sources { session, ..Default::default() });
            },
            |c| c.versions.push(c.versions[0].clone()),
            |c| {
                let mut other = c.versions[0].clone();
                other.fact = crate::id::FactId::from_uuid(other.opened_by.uuid());
                c.versions.push(other);
            },
            |c| c.turns[0].id = crate::id::TurnId::from_uuid(c.versions[0].id.uuid()),
            |c| c.versions[0].number = 2,
            |c| c.versions[0].claim.content = " ".into(),
            |c| c.versions[0].known.until = Some(at(50)),
            |c| c.versions[0].confidence = Some(0.5),
            |c| c.versions[0].valid.until = Some(at(-5)),
            |c| c.sessions[0].extracted_through = 2,
            |c| c.sessions[0].id = "ghp_016C7f8a9B2c3D4e5F6g7H8i9J0k1L2m3N4o".into(),
            |c| c.turns[0].number = 2,
            |c| c.turns[0].content = "a\0b".into(),
            |c| c.sessions[0].turns = i32::MAX,
            |c| c.turns[0].speaker = Some("x".repeat(300)),
            |c| c.episodes[0].last_turn = 2,
            |c| c.episodes[0].first_turn = 0,
            |c| c.episodes[0].first_turn = i32::MIN,
            |c| c.episodes[0].summary = "x".repeat(100_000),
            |c| {
                c.episodes[0].session = "another".into();
                c.episodes[0].last_turn = i32::MAX;
            },
        ];
        for (number, plant) in plants.iter().enumerate() {
            let mut contents = good();
            plant(&mut contents);
            assert!(!faults(&contents, at(100)).is_empty(), "plant {number}");
        }
    }
}
