//! Edits of episodes: the user's words take the place of a summary. An edit is part of one operation,
//! whose undo restores the summary.

use std::collections::BTreeMap;

use lukasa_core::admission::Writer;
use lukasa_core::{Claim, Episode, EpisodeEdit, EpisodeId, Refusal, Sources, Verb};
use lukasa_store::{episode, learning, removal, session};

use crate::admission::{check_words, screen};
use crate::episodes::{Restoring, joined_summary, load_passages};
use crate::error::{Error, Result};
use crate::request::Request;
use crate::transaction::{Effect, Outcome, Transactions, WriteStart, Writing};

/// Replaces the words of an episode; returns the episode that takes its place. Only the user edits
/// episodes.
pub(crate) async fn edit_episode(
    transactions: &Transactions,
    request: &Request,
    id: EpisodeId,
    edit: &EpisodeEdit,
) -> Result<(Episode, Outcome)> {
    if Writer::of(&request.caller) != Writer::Human {
        return Err(Refusal::NeedsHuman.into());
    }
    let outcome = match transactions.begin(request).await? {
        WriteStart::Repeated(outcome) => outcome,
        WriteStart::New(mut writing) => {
            let old = episode::find(&writing.scope, id).await?.ok_or(Error::EpisodeNotFound)?;
            if !old.is_changed_by(edit) {
                let outcome = Outcome::of(Verb::Change, "Nothing to change.".into());
                return Ok((old, writing.answer(outcome).await?));
            }
            let mut edited = vec![check_edit(&mut writing, &old, edit).await?];
            let mut effect = Effect::default();
            replace_episodes(&writing, &mut edited, &mut effect).await?;
            let outcome =
                Outcome::of(Verb::Change, "Updated the summary of a conversation.".into());
            writing.finish(Verb::Change, effect, outcome).await?
        }
    };
    let scope = transactions.read(&request.caller, request.moment.now).await?;
    let made = match outcome.operation {
        Some(operation) => removal::made_for(&scope, operation).await?,
        None => vec![id],
    };
    let made = removal::episodes(&scope, &made).await?.pop();
    Ok((made.ok_or(Error::EpisodeNotFound)?, outcome))
}

/// An episode whose words are replaced, and the one that takes its place.
pub(crate) struct EditedEpisode {
    old: EpisodeId,
    new: Episode,
}

/// Checks the user's words for an episode, as every text that is stored without becoming a memory.
pub(crate) async fn check_edit(
    writing: &mut Writing<'_>,
    old: &Episode,
    edit: &EpisodeEdit,
) -> Result<EditedEpisode> {
    let (id, at) = (writing.stamp.ids.episode(), writing.stamp.at);
    let new = old.edited(edit, id, at);
    if let Some(fault) = new.fault() {
        let (field, reason) = fault.split_once(": ").unwrap_or(("summary", fault));
        let field = if field == "summary" { "summary" } else { "title" };
        return Err(Error::invalid(field, reason));
    }
    let texts = [new.title.as_deref(), Some(new.summary.as_str())];
    let mut screenings = Vec::new();
    for text in texts.into_iter().flatten() {
        screenings.push(screen(&Claim::saying(text)).await);
    }
    check_words(&writing.scope, Writer::Human, &screenings).await?;
    Ok(EditedEpisode { old: old.id, new })
}

/// Adds to an effect what replaces episodes by those with the user's words: the old ones are
/// withdrawn, the new ones are found by recall, and the summaries of their sessions follow.
pub(crate) async fn replace_episodes(
    writing: &Writing<'_>,
    edited: &mut Vec<EditedEpisode>,
    effect: &mut Effect,
) -> Result<()> {
    if edited.is_empty() {
        return Ok(());
    }
    let (scope, by) = (&writing.scope, writing.stamp.operation);
    let old: Vec<EpisodeId> = edited.iter().map(|one| one.old).collect();
    let mut sessions: BTreeMap<String, Vec<Episode>> = BTreeMap::new();
    for EditedEpisode { old, new } in edited.drain(..) {
        let left_out = episode::left_out(scope, old).await?;
        learning::open_episode(&mut effect.with, scope, &new, left_out, Some(by));
        sessions.entry(new.session.clone()).or_default().push(new);
    }
    for (name, new) in &sessions {
        let summary = joined_summary(scope, name, &old, new).await?;
        session::replace_summary(&mut effect.with, scope, name, summary.as_ref());
        effect.passages.extend(load_passages(scope, new, Restoring::default()).await?);
    }
    removal::mark_episodes(&mut effect.with, scope, &old, Some(by));
    effect.sources = Some(Sources { episodes: old, gone: true, ..Sources::default() });
    Ok(())
}
