//! Hash of a user's current memory, so that two states can be compared: before and after an undo,
//! or after an export was imported elsewhere.
//!
//! It covers the content, not when it became known or under which operation: an undo restores the
//! same state with new operations. The trash is excluded.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::episode::Episode;
use crate::fact::{State, Version, canonical};
use crate::id::FactId;
use crate::link::Link;
use crate::observation::Observation;
use crate::session::{Session, Turn};

/// The hashes of a user's layers, each as hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateHash {
    pub memories: String,
    pub episodes: String,
    pub sessions: String,
    /// Empty in an export that was written before observations were covered.
    #[serde(default)]
    pub observations: String,
}

/// Facts and the links between them. `versions` and `links` are those known now, in any order.
pub fn of_memories(versions: &[Version], links: &[Link]) -> String {
    let kept = versions.iter().filter(|version| version.state != State::Trashed);
    let facts: BTreeSet<FactId> = kept.clone().map(|version| version.fact).collect();
    let links = links.iter().filter(|l| facts.contains(&l.from) && facts.contains(&l.to));
    let lines = kept
        .map(version_state)
        .chain(links.map(|link| json!({"link": link.relation, "from": link.from, "to": link.to})));
    digest(lines)
}

fn version_state(version: &Version) -> Value {
    let Version {
        fact,
        number,
        claim,
        state,
        tier,
        origin,
        extracted,
        confidence,
        session,
        turns,
        confirmed_at,
        last_confirmed_at,
        consented_at,
        valid,
        id: _,
        known: _,
        opened_by: _,
        closed_by: _,
        reopens: _,
    } = version;
    json!({
        "fact": fact, "number": number, "claim": claim, "state": state, "tier": tier,
        "origin": origin, "extracted": extracted, "confidence": confidence, "session": session,
        "turns": turns, "confirmed_at": confirmed_at, "last_confirmed_at": last_confirmed_at,
        "consented_at": consented_at, "valid": valid,
    })
}

pub fn of_episodes(episodes: &[Episode]) -> String {
    digest(episodes.iter().map(|episode| json!(episode)))
}

/// Sessions and their turns.
pub fn of_sessions(sessions: &[Session], turns: &[Turn]) -> String {
    let sessions = sessions.iter().filter(|session| session.trashed_at.is_none());
    digest(sessions.map(session_state).chain(turns.iter().map(|turn| json!(turn))))
}

/// One observation, as a part of [`of_observations`].
pub fn of_observation(observation: &Observation) -> String {
    digest(std::iter::once(json!(observation)))
}

/// Observations outside the trash, by the hash of each: their payloads need not be in memory at once.
pub fn of_observations(hashes: Vec<String>) -> String {
    digest(hashes.into_iter().map(Value::from))
}

/// Leaves out what a model derived from the turns, such as a generated title: it can be made again.
fn session_state(session: &Session) -> Value {
    let title = session.title.as_ref().filter(|_| session.named_from.is_none());
    let mut state = json!({
        "id": session.id, "title": title, "opened_at": session.opened_at,
        "last_turn_at": session.last_turn_at, "turns": session.turns, "state": session.state,
        "closed_at": session.closed_at, "extracted_through": session.extracted_through,
        "keep": session.keep,
    });
    if let Some(project) = &session.project {
        state["project"] = json!(project);
    }
    state
}

/// The digest of these values as a set, independent of their order.
fn digest(values: impl Iterator<Item = Value>) -> String {
    let mut lines: Vec<String> = values.map(|value| canonical(&value)).collect();
    lines.sort_unstable();
    let mut hash = Sha256::new();
    for line in lines {
        hash.update(line.as_bytes());
        hash.update(b"\n");
    }
    hex::encode(hash.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::tests::version;
    use crate::id::Ids;
    use crate::origin::{Origin, Voice};
    use crate::time::{Period, Timestamp};

    #[test]
    fn state_hash_covers_content_and_not_history() {
        let one = version(Voice::stated(Origin::UserSaid));
        let mut again = one.clone();
        let mut ids = Ids::new(Timestamp::UNIX_EPOCH, [7; 16]);
        (again.id, again.opened_by, again.reopens) = (ids.version(), ids.operation(), Some(one.id));
        again.known = Period::since(Timestamp::from_second(9).unwrap());
        let hash = |v: &Version| of_memories(std::slice::from_ref(v), &[]);
        assert_eq!(hash(&one), hash(&again));
        for change in [
            |v: &mut Version| v.claim.content.push('!'),
            |v: &mut Version| v.state = State::Forgotten,
            |v: &mut Version| v.origin = Origin::Import,
            |v: &mut Version| v.valid = Period::since(Timestamp::from_second(9).unwrap()),
        ] {
            let mut other = one.clone();
            change(&mut other);
            assert_ne!(hash(&one), hash(&other));
        }
        let mut trashed = one;
        trashed.state = State::Trashed;
        assert_eq!(hash(&trashed), of_memories(&[], &[]));
    }

    #[test]
    fn state_hash_is_independent_of_order() {
        let (one, mut two) =
            (version(Voice::stated(Origin::UserSaid)), version(Voice::stated(Origin::UserSaid)));
        two.claim.content = "coffee".into();
        let there = of_memories(&[one.clone(), two.clone()], &[]);
        assert_eq!(there, of_memories(&[two, one], &[]));
    }
}
