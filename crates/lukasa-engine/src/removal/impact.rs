//! The impact of removing a source: the rows that depend on it, and what becomes of each fact.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::try_join;
use lukasa_core::consolidation::focus::SESSION_EVIDENCE;
use lukasa_core::limits::OBSERVATIONS;
use lukasa_core::removal as removal_rules;
use lukasa_core::{
    Caller, Changes, Depth, Episode, FactId, Fate, ObservationId, RemovedTurns, Session, Stamp,
    TurnId, Version,
};
use lukasa_store::{Scope, fact, observation, portrait, removal, session};

use super::observations::count_patterns;
use super::sources::{FactSource, MAX_TURNS};
use crate::error::{Error, Result};
use crate::transaction::RemovalCounts;

/// Rows affected by removing a source.
pub(super) struct Impact {
    pub(super) session: Session,
    pub(super) whole: bool,
    /// Whether an episode is removed, which is then summarised again from its turns: what was
    /// learned from these stays.
    pub(super) only_episode: bool,
    /// The turns that are removed themselves.
    pub(super) turns: Vec<TurnId>,
    /// The observations of a session that is removed.
    pub(super) observations: Vec<ObservationId>,
    /// The turns that memories may no longer depend on.
    pub(super) removed: RemovedTurns,
    /// Those of the turns and observations that a version of a memory cites.
    pub(super) cited: Vec<String>,
    pub(super) episodes: Vec<Episode>,
    pub(super) histories: Vec<Vec<Version>>,
    pub(super) first: i32,
    pub(super) portraits: usize,
}

pub(super) async fn load_impact(
    scope: &Scope,
    source: &FactSource,
    depth: Depth,
) -> Result<Impact> {
    let (name, first, last) = match source {
        FactSource::Turn(id) => {
            let turn = removal::turns(scope, &[*id]).await?.pop().ok_or(Error::TurnNotFound)?;
            (turn.session, turn.number, turn.number)
        }
        FactSource::Session(session) => (session.clone(), 1, MAX_TURNS),
        FactSource::Episode(id) => {
            let episode = removal::find_episode(scope, *id).await?;
            let episode = episode.ok_or(Error::EpisodeNotFound)?;
            (episode.session, episode.first_turn, episode.last_turn)
        }
    };
    let whole = matches!(source, FactSource::Session(_));
    let there = session::find(scope, &name).await?;
    let there = there.filter(|s| s.trashed_at.is_none() || (whole && depth == Depth::Erase));
    let session = there.ok_or(match source {
        FactSource::Turn(_) => Error::TurnNotFound,
        FactSource::Episode(_) => Error::EpisodeNotFound,
        FactSource::Session(_) => Error::SessionNotFound,
    })?;
    let (ids, telling) = try_join!(
        removal::turn_ids(scope, &name, first, last),
        removal::episodes_covering(scope, &name, first, last, depth == Depth::Erase)
    )?;
    let turns = match source {
        // The turns stay; only the episode is removed.
        FactSource::Episode(_) => Vec::new(),
        FactSource::Turn(_) | FactSource::Session(_) => ids.clone(),
    };
    let episodes = match source {
        FactSource::Episode(id) => telling.into_iter().filter(|e| e.id == *id).collect(),
        // A summary that the user wrote stays, like what they stated; what is erased leaves no words.
        FactSource::Turn(_) if depth == Depth::Trash => {
            telling.into_iter().filter(|episode| !episode.is_edited()).collect()
        }
        _ => telling,
    };
    let observations = match source {
        FactSource::Session(_) => {
            let most = i64::try_from(OBSERVATIONS).unwrap_or(i64::MAX);
            observation::ids_of_session(scope, &name, depth == Depth::Erase, most).await?
        }
        FactSource::Turn(_) | FactSource::Episode(_) => Vec::new(),
    };
    let mut removed: BTreeSet<String> = ids.iter().map(ToString::to_string).collect();
    removed.extend(observations.iter().map(ToString::to_string));
    let names: Vec<String> = removed.iter().cloned().collect();
    let cited = removal::cited(scope, &names).await?;
    let mut facts = match depth {
        Depth::Trash => removal::citing(scope, &cited).await?,
        Depth::Erase => removal::ever_citing(scope, &cited).await?,
    };
    let only_episode = matches!(source, FactSource::Episode(_));
    if !only_episode {
        facts.extend(removal::facts_about_session(scope, SESSION_EVIDENCE, &name).await?);
    }
    if whole {
        facts.extend(removal::facts_of_session(scope, &name).await?);
    }
    facts.sort_unstable();
    facts.dedup();
    let mut histories = Vec::new();
    for id in facts {
        histories.push(fact::history(scope, id).await?);
    }
    let chats = chats_of(scope, &histories).await?;
    if whole {
        // Turns of this session that are no longer stored are known only from the versions citing
        // them.
        let versions = histories.iter().flatten().filter(|v| v.session.as_deref() == Some(&name));
        let lost = versions.flat_map(|v| v.turns.iter()).filter(|turn| !chats.contains_key(*turn));
        removed.extend(lost.cloned());
    }
    let citing: Vec<FactId> = histories.iter().filter_map(|h| h.first()).map(|v| v.fact).collect();
    let portraits = if only_episode { 0 } else { portrait::count_citing(scope, &citing).await? };
    let patterns = count_patterns(scope, &histories, &observations).await?;
    let removed = RemovedTurns { turns: removed, chats, chat: Some(name), patterns };
    Ok(Impact {
        session,
        whole,
        only_episode,
        portraits,
        turns,
        observations,
        removed,
        cited,
        episodes,
        histories,
        first,
    })
}

/// The sessions of the turns that these facts cite.
pub(super) async fn chats_of(
    scope: &Scope,
    histories: &[Vec<Version>],
) -> Result<BTreeMap<String, String>> {
    let cited = histories.iter().flatten().flat_map(|version| version.turns.iter());
    let cited: BTreeSet<TurnId> = cited.filter_map(|turn| turn.parse().ok()).collect();
    let cited: Vec<_> = cited.iter().map(|turn| turn.uuid()).collect();
    let chats = removal::sessions_of_turns(scope, &cited).await?;
    Ok(chats.into_iter().map(|(turn, chat)| (turn.to_string(), chat)).collect())
}

pub(super) type FactOutcome<'h> = (&'h [Version], Fate, Changes);

pub(super) fn decide_fates<'r>(
    impact: &'r Impact,
    depth: Depth,
    caller: &Caller,
    stamp: &mut Stamp,
) -> Result<Vec<FactOutcome<'r>>> {
    let mut fates = Vec::new();
    for history in &impact.histories {
        if impact.only_episode {
            fates.push((history.as_slice(), Fate::Kept, Changes::default()));
            continue;
        }
        let becomes =
            removal_rules::remove_turns(history, &impact.removed, depth, caller.voice, stamp)?;
        if let Some((fate, changes)) = becomes {
            fates.push((history.as_slice(), fate, changes));
        }
    }
    Ok(fates)
}

pub(super) fn count_impact(impact: &Impact, fates: impl Iterator<Item = Fate>) -> RemovalCounts {
    let mut reached = RemovalCounts {
        turns: impact.turns.len(),
        episodes: impact.episodes.len(),
        observations: impact.observations.len(),
        portraits: impact.portraits,
        ..RemovalCounts::default()
    };
    for fate in fates {
        match fate {
            Fate::Withdrawn => reached.withdrawn += 1,
            Fate::Weakened => reached.weakened += 1,
            Fate::Kept => reached.kept += 1,
        }
    }
    reached
}
