//! Episodes: the layer between what was said and what is known. What happened in a stretch of turns,
//! in a sentence or two.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::id::{EpisodeId, PassId};
use crate::origin::Origin;
use crate::time::Timestamp;

/// How old an episode is before it can be done with (R105).
pub const ABSORBED_AFTER: SignedDuration = SignedDuration::from_hours(24 * 30);

/// What happened in a stretch of turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Episode {
    pub id: EpisodeId,
    pub session: String,
    pub first_turn: i32,
    pub last_turn: i32,
    pub title: Option<String>,
    pub summary: String,
    pub origin: Origin,
    pub started_at: Timestamp,
    pub ended_at: Timestamp,
    pub pass: PassId,
    pub prompt: String,
    pub recorded_at: Timestamp,
}

impl Episode {
    /// Whether all that it left behind has become firm knowledge, so that nobody needs the episode to
    /// be told of it any more. `settled` says of each turn that supports a memory whether all of those
    /// are strong or stated. Derived and stored nowhere, so it cannot disagree with the facts.
    pub fn is_absorbed(&self, settled: &BTreeMap<(String, i32), bool>, now: Timestamp) -> bool {
        let turns =
            (self.session.clone(), self.first_turn)..=(self.session.clone(), self.last_turn);
        let mut own = settled.range(turns).map(|(_, settled)| *settled).peekable();
        let old = now.duration_since(self.ended_at) >= ABSORBED_AFTER;
        old && own.peek().is_some() && own.all(|settled| settled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Ids;

    #[test]
    fn an_episode_is_absorbed_when_it_is_old_and_all_it_left_is_firm() {
        let day = |days: i64| Timestamp::from_second(days * 86_400).unwrap();
        let mut ids = Ids::new(Timestamp::UNIX_EPOCH, [4; 16]);
        let episode = Episode {
            id: ids.episode(),
            session: "c".into(),
            first_turn: 3,
            last_turn: 5,
            title: None,
            summary: "They talked.".into(),
            origin: Origin::UserTurn,
            started_at: day(0),
            ended_at: day(0),
            pass: ids.pass(),
            prompt: "extract/1".into(),
            recorded_at: day(0),
        };
        let turns = |list: &[(i32, bool)]| {
            list.iter().map(|(number, firm)| (("c".to_owned(), *number), *firm)).collect()
        };
        assert!(
            episode.is_absorbed(&turns(&[(2, false), (3, true), (5, true), (6, false)]), day(30))
        );
        assert!(!episode.is_absorbed(&turns(&[(3, true)]), day(29)), "too young");
        assert!(!episode.is_absorbed(&turns(&[(3, true), (4, false)]), day(99)));
        assert!(!episode.is_absorbed(&turns(&[(6, true)]), day(99)), "nothing has taken it in");
    }
}
