//! What becomes of a model's words about turns when the user takes the turns back.

use lukasa_core::learning::Transcript;
use lukasa_core::{EpisodeId, Role, Session, Turn};
use lukasa_store::passage::Change;
use lukasa_store::{Batch, Scope, episode, removal, session};

use crate::episodes::joined_summary;
use crate::error::Result;

/// The number of the turn with which the user takes back turns that were stored before these new
/// ones. Only the first message of the user among them can.
pub(super) fn retracting_turn(turns: &[Turn]) -> Option<i32> {
    let first = turns.iter().find(|turn| turn.role == Role::User)?;
    Transcript::of(std::slice::from_ref(first), &[]).retracting.first().copied()
}

/// Removes what a model made from the turns that are taken back with this one, if there is one: the
/// title, the part of the summary, and an answer that was not applied yet. Search no longer finds the
/// episodes about them. Returns what the new turns change for recall: a model that is being asked
/// about removed words is asked again.
pub(super) async fn remove_retracted(
    batch: &mut Batch,
    scope: &Scope,
    session: &mut Session,
    retracting: Option<i32>,
) -> Result<Change> {
    let Some(number) = retracting.filter(|_| session.turns > 0) else { return Ok(Change::Added) };
    let id = session.id.clone();
    // Turns that were learned from may not have been kept.
    let first = session::last_user_turn(scope, &id, number).await?.unwrap_or(number - 1);
    let about = removal::episodes_covering(scope, &id, first, number, false).await?;
    let about: Vec<EpisodeId> = about.iter().map(|episode| episode.id).collect();
    let summary = match session.summary_through >= first {
        true => joined_summary(scope, &id, &about, &[]).await?,
        false => session.summary.clone().map(|text| (text, session.summary_through)),
    };
    episode::mark_unsearchable(batch, scope, &about);
    removal::remove_derived(batch, scope, &id, first, summary.as_ref());
    if session.named_from.is_some_and(|last| last >= first) {
        (session.title, session.named_from) = (None, None);
    }
    session.summary_through = summary.as_ref().map_or(0, |(_, through)| *through);
    session.summary = summary.map(|(text, _)| text);
    Ok(Change::Removed)
}
