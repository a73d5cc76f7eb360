//! Notes: replies of an assistant that the user keeps.

use lukasa_core::note::note_claim;
use lukasa_core::{CallerKind, Origin, Refusal, Role, TurnId, Voice};
use lukasa_store::session;

use super::Learning;
use crate::error::{Error, Result};
use crate::facts::NewMemory;
use crate::request::Request;
use crate::transaction::Outcome;

impl Learning {
    /// Saves a reply of an assistant as a note; one that is kept already is returned. Only the user
    /// can do it. The words stay those of an assistant: the note is not a statement of the user.
    pub async fn keep_reply(&self, request: &Request, turn: TurnId) -> Result<Outcome> {
        let scope = self.transactions.read(&request.caller, request.moment.now).await?;
        let found = session::turns_by_id(&scope, &[turn.uuid()]).await?;
        let reply = found.into_iter().next().ok_or(Error::TurnNotFound)?;
        let session = session::find(&scope, &reply.session).await?;
        drop(scope);
        if session.is_none_or(|session| session.trashed_at.is_some() || session.incognito) {
            return Err(Error::TurnNotFound);
        }
        if request.caller.kind != CallerKind::Human {
            return Err(Refusal::NeedsHuman.into());
        }
        if reply.role != Role::Assistant {
            return Err(Error::invalid("id", "the turn of an assistant"));
        }
        let new = NewMemory {
            claim: note_claim(&reply),
            turns: vec![reply.id.to_string()],
            note_of: Some(reply.id),
            session: Some(reply.session),
            ..NewMemory::saying("")
        };
        let mut request = request.clone();
        request.caller.voice = Voice::stated(Origin::Assistant);
        request.sources = vec![turn];
        self.facts.save(&request, new).await
    }
}
