//! Episodes: the layer between turns and facts. An episode summarizes a range of turns in a
//! sentence or two.

use std::collections::BTreeMap;

use jiff::SignedDuration;
use lukasa_text::line::is_visible;
use serde::{Deserialize, Serialize};

use crate::id::{EpisodeId, PassId};
use crate::limits;
use crate::origin::Origin;
use crate::session::is_session_name;
use crate::time::{self, Timestamp};

/// Minimum age of an episode before it counts as absorbed (R105).
pub const ABSORBED_AFTER: SignedDuration = SignedDuration::from_hours(24 * 30);

/// Used in place of the prompt's name in an episode whose summary the user wrote.
const EDITED: &str = "edited";

/// New words for an episode. What is absent stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EpisodeEdit {
    pub title: Option<Option<String>>,
    pub summary: Option<String>,
}

/// A summary of a range of turns.
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
    /// Whether search may find it: none of its turns asks to forget something, which its summary may
    /// repeat. Determined when it is stored, because the turns may not be kept.
    #[serde(default = "searchable_by_default", skip_serializing_if = "is_searchable")]
    pub searchable: bool,
}

fn searchable_by_default() -> bool {
    true
}

/// Left out of the serialized form if true, so that hashes of episodes stay comparable.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde calls")]
fn is_searchable(searchable: &bool) -> bool {
    *searchable
}

impl Episode {
    /// Why the episode cannot be stored, for episodes read from a file; `None` if it can.
    pub fn fault(&self) -> Option<&'static str> {
        let texts = [&self.summary, &self.prompt, &self.session];
        let times = [self.started_at, self.ended_at, self.recorded_at];
        if self.first_turn < 1 || self.last_turn < self.first_turn {
            Some("first_turn and last_turn: must start at 1 and be in order")
        } else if self.last_turn > limits::SESSION_TURNS
            || self.last_turn - self.first_turn >= limits::EPISODE_TURNS
        {
            Some("first_turn and last_turn: too many turns")
        } else if !is_visible(&self.summary) || self.summary.chars().count() > limits::EPISODE_CHARS
        {
            Some("summary: empty or too long")
        } else if !is_session_name(&self.session)
            || self.prompt.chars().count() > limits::NAME_CHARS
            || self.title.as_ref().is_some_and(|t| t.chars().count() > limits::SUMMARY_CHARS)
        {
            Some("session, prompt or title: too long")
        } else if texts.into_iter().chain(&self.title).any(|text| text.contains('\0')) {
            Some("a text contains the character U+0000")
        } else if !times.into_iter().all(time::is_storable) {
            Some("a time is out of range")
        } else {
            None
        }
    }

    /// Whether its summary is the user's.
    pub fn is_edited(&self) -> bool {
        self.prompt == EDITED
    }

    /// The episode with the user's words, which takes its place under a new id. A new title alone
    /// does not make the model's summary the user's.
    pub fn edited(&self, edit: &EpisodeEdit, id: EpisodeId, at: Timestamp) -> Self {
        let old = self.clone();
        let (origin, prompt) = match self.has_new_summary(edit) {
            true => (Origin::UserSaid, EDITED.to_owned()),
            false => (old.origin, old.prompt),
        };
        Self {
            id,
            title: edit.title.clone().unwrap_or(old.title),
            summary: edit.summary.clone().unwrap_or(old.summary),
            origin,
            prompt,
            recorded_at: at,
            ..old
        }
    }

    /// Whether the edit changes any of its words.
    pub fn is_changed_by(&self, edit: &EpisodeEdit) -> bool {
        edit.title.as_ref().is_some_and(|title| *title != self.title) || self.has_new_summary(edit)
    }

    fn has_new_summary(&self, edit: &EpisodeEdit) -> bool {
        edit.summary.as_ref().is_some_and(|summary| *summary != self.summary)
    }

    /// The numbers of its turns that are not in `summarized`, which must be sorted. The range is
    /// short, because an episode covers few turns; one read from a file has passed
    /// [`Episode::fault`].
    pub fn turns_left_out(&self, summarized: &[i32]) -> Vec<i32> {
        let range = self.first_turn..=self.last_turn;
        range.filter(|number| summarized.binary_search(number).is_err()).collect()
    }

    /// Whether everything learned from it has become firm facts, so that the episode itself is no
    /// longer needed. `settled` maps each turn that supports facts to whether all of them are
    /// strong or stated. Derived on demand and not stored, so it cannot disagree with the facts.
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
    fn episode_is_absorbed_when_old_and_all_its_facts_are_firm() {
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
            searchable: true,
        };
        let turns = |list: &[(i32, bool)]| {
            list.iter().map(|(number, firm)| (("c".to_owned(), *number), *firm)).collect()
        };
        assert!(
            episode.is_absorbed(&turns(&[(2, false), (3, true), (5, true), (6, false)]), day(30))
        );
        assert!(!episode.is_absorbed(&turns(&[(3, true)]), day(29)), "too young");
        assert!(!episode.is_absorbed(&turns(&[(3, true), (4, false)]), day(99)));
        assert!(!episode.is_absorbed(&turns(&[(6, true)]), day(99)), "no fact was learned from it");
    }
}
