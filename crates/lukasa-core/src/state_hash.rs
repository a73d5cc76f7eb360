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
    let facts: BTreeSet<FactId> = kept.map(|version| version.fact).collect();
    let links = links.iter().filter(|l| facts.contains(&l.from) && facts.contains(&l.to));
    digest(versions.iter().filter_map(version_line).chain(links.map(link_line)))
}

pub fn of_episodes(episodes: &[Episode]) -> String {
    digest(episodes.iter().map(episode_line))
}

/// Sessions and their turns.
pub fn of_sessions(sessions: &[Session], turns: &[Turn]) -> String {
    digest(sessions.iter().filter_map(session_line).chain(turns.iter().map(turn_line)))
}

/// Observations outside the trash.
pub fn of_observations(observations: &[Observation]) -> String {
    digest(observations.iter().map(observation_line))
}

/// The line of a version in the hash of memories; `None` in the trash.
pub fn version_line(version: &Version) -> Option<String> {
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
    if *state == State::Trashed {
        return None;
    }
    Some(canonical(&json!({
        "fact": fact, "number": number, "claim": claim, "state": state, "tier": tier,
        "origin": origin, "extracted": extracted, "confidence": confidence, "session": session,
        "turns": turns, "confirmed_at": confirmed_at, "last_confirmed_at": last_confirmed_at,
        "consented_at": consented_at, "valid": valid,
    })))
}

/// The line of a link in the hash of memories; it counts only if both facts do.
pub fn link_line(link: &Link) -> String {
    canonical(&json!({"link": link.relation, "from": link.from, "to": link.to}))
}

/// The line of an episode in the hash of episodes.
pub fn episode_line(episode: &Episode) -> String {
    canonical(&json!(episode))
}

/// The line of a session in the hash of sessions; `None` in the trash. It leaves out what a model
/// derived from the turns, such as a generated title: it can be made again.
pub fn session_line(session: &Session) -> Option<String> {
    if session.trashed_at.is_some() {
        return None;
    }
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
    Some(canonical(&state))
}

/// The line of a turn in the hash of sessions.
pub fn turn_line(turn: &Turn) -> String {
    canonical(&json!(turn))
}

/// The line of an observation in the hash of observations: the hash of its content.
pub fn observation_line(observation: &Observation) -> String {
    canonical(&Value::from(digest(std::iter::once(canonical(&json!(observation))))))
}

/// The hash of a set of lines, computed while they arrive in order.
#[derive(Default)]
pub struct LineHash(Sha256);

impl LineHash {
    /// Adds the next line in the order of their bytes. An equal line counts again.
    pub fn push(&mut self, line: &str) {
        self.0.update(line.as_bytes());
        self.0.update(b"\n");
    }

    /// The hash as hexadecimal digits.
    pub fn finish(self) -> String {
        hex::encode(self.0.finalize())
    }
}

/// The hash of these lines, independent of their order.
pub fn digest(lines: impl Iterator<Item = String>) -> String {
    let mut lines: Vec<String> = lines.collect();
    lines.sort_unstable();
    let mut hash = LineHash::default();
    lines.iter().for_each(|line| hash.push(line));
    hash.finish()
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
