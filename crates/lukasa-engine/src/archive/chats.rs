//! Import of the sessions of an export, with their turns and episodes.

use std::collections::BTreeSet;

use futures_util::try_join;
use lukasa_core::import::{Format, ImportCounts, item_id};
use lukasa_core::learning::explicit;
use lukasa_core::recall::passage::{Passage, of_turn};
use lukasa_core::{Episode, MaskedTurns, Session, SessionState, Turn, TurnId};
use lukasa_store::passage::{self, Change};
use lukasa_store::{Batch, import, learning, removal, session};
use uuid::Uuid;

use super::restore::mask_text;
use super::{Archives, ImportReport, ImportSource, import_of, put_import};
use crate::episodes::passages_of;
use crate::error::Result;
use crate::request::Request;

/// A session with its turns and episodes.
pub(super) struct Chat {
    pub(super) session: Session,
    pub(super) turns: Vec<Turn>,
    pub(super) episodes: Vec<Episode>,
}

/// The same without secrets, with the passages of its turns, and with the episodes that ask to forget
/// something marked as not to be found.
struct MaskedChat {
    session: Session,
    turns: MaskedTurns,
    episodes: Vec<Episode>,
    passages_of_turns: Vec<Passage>,
}

impl MaskedChat {
    fn of(chat: Chat) -> Self {
        let Chat { mut session, turns, mut episodes } = chat;
        let texts = [&mut session.title, &mut session.summary].into_iter().flatten();
        let summaries =
            episodes.iter_mut().flat_map(|e| e.title.iter_mut().chain([&mut e.summary]));
        texts.chain(summaries).for_each(mask_text);
        let turns = MaskedTurns::new(turns);
        let asking = turns.iter().filter(|turn| explicit::asks_to_forget(turn));
        let asking: BTreeSet<i32> = asking.map(|turn| turn.number).collect();
        for episode in &mut episodes {
            let range = episode.first_turn..=episode.last_turn;
            episode.searchable &= asking.range(range).next().is_none();
        }
        let passages_of_turns = turns.iter().flat_map(of_turn).collect();
        Self { session, turns, episodes, passages_of_turns }
    }
}

impl Archives {
    /// Imports sessions that do not exist here, in one transaction.
    pub(super) async fn restore_chats(
        &self,
        request: &Request,
        source: &ImportSource,
        chats: Vec<Chat>,
        report: &mut ImportReport,
    ) -> Result<()> {
        if chats.is_empty() {
            return Ok(());
        }
        // Before the transaction: the texts are long.
        let mask = move || chats.into_iter().map(MaskedChat::of).collect::<Vec<_>>();
        let chats = self.parts.cpu.run(mask).await?;
        let scope = self.write(request).await?;
        let names: Vec<String> = chats.iter().map(|chat| chat.session.id.clone()).collect();
        let there: BTreeSet<String> =
            session::existing_ids(&scope, &names).await?.into_iter().collect();
        let episodes = chats.iter().flat_map(|chat| &chat.episodes);
        let ids: Vec<_> = episodes.map(|episode| episode.id).collect();
        let existing: BTreeSet<_> =
            learning::existing_episodes(&scope, &ids).await?.into_iter().collect();
        let (policy, _) = self.policies.load(&scope).await?;
        let (mut import, begins) = import_of(&scope, request, source).await?;
        let (mut batch, mut passages, mut counts) =
            (Batch::default(), Vec::new(), ImportCounts::default());
        let chats = chats.into_iter().filter(|chat| !there.contains(&chat.session.id));
        for MaskedChat { session, mut turns, mut episodes, mut passages_of_turns } in chats {
            // Erased turns are not imported, nor are episodes that cover them.
            // Nor are turns that exist in another session.
            let ids: Vec<TurnId> = turns.iter().map(|turn| turn.id).collect();
            let uuids: Vec<Uuid> = ids.iter().map(|id| id.uuid()).collect();
            let (erased, taken) =
                try_join!(removal::erased_turns(&scope, &ids), import::taken_ids(&scope, &uuids))?;
            let erased: BTreeSet<TurnId> = erased.into_iter().collect();
            let left_out = |t: &Turn| erased.contains(&t.id) || taken.contains(&t.id.uuid());
            let gone: Vec<&Turn> = turns.iter().filter(|turn| left_out(turn)).collect();
            let numbers: BTreeSet<i32> = gone.iter().map(|turn| turn.number).collect();
            let gone: BTreeSet<Uuid> = gone.iter().map(|turn| turn.id.uuid()).collect();
            turns.retain(|turn| !gone.contains(&turn.id.uuid()));
            episodes.retain(|e| numbers.range(e.first_turn..=e.last_turn).next().is_none());
            passages_of_turns.retain(|passage| !gone.contains(&passage.source));
            session::put_back(&mut batch, &scope, &session);
            session::insert_turns(&mut batch, &scope, &session.id, &turns);
            import::add_item(
                &mut batch,
                &scope,
                import.id,
                chat_item(&session.id),
                None,
                Some(&session.id),
            );
            counts.chats += 1;
            counts.turns += turns.len();
            for episode in episodes.iter().filter(|episode| !existing.contains(&episode.id)) {
                learning::open_episode(&mut batch, &scope, episode, Vec::new(), None);
                counts.episodes += 1;
            }
            if session.trashed_at.is_none() {
                passages.extend(passages_of_turns);
                let new = episodes.iter().filter(|episode| !existing.contains(&episode.id));
                passages.extend(new.flat_map(passages_of));
                if session.state == SessionState::Active {
                    // Each session has its own job and needs its own job id.
                    let request = request.part(counts.chats);
                    self.sessions.close_later(&mut batch, &scope, &request, &session, &policy);
                }
            }
        }
        if counts.chats == 0 {
            return Ok(());
        }
        import.counts.add(&counts);
        report.counts.add(&counts);
        put_import(&mut batch, &scope, request, &import, begins);
        passage::bump(&mut batch, &scope, Change::Added);
        passage::insert(&mut batch, &scope, &passages);
        scope.run(&batch).await?;
        scope.commit().await?;
        let caller = &request.caller;
        self.embeddings.embed(caller.tenant, caller.user, passages, request.moment.now).await;
        Ok(())
    }
}

/// The id of a session among the items of an import.
pub(super) fn chat_item(session: &str) -> Uuid {
    item_id(Format::Lukasa, "chat", session)
}
