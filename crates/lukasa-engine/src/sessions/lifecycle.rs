//! The life cycle of a session: close, learn, rename, archive and trash; and session search.

use futures_util::try_join;
use lukasa_core::job::Task;
use lukasa_core::policy::{Policy, Trigger};
use lukasa_core::time::micros;
use lukasa_core::{Caller, ProjectScope, Session, SessionState, Timestamp, Turn};
use lukasa_store::job::ClaimedJob;
use lukasa_store::{Batch, Scope, job, session};
use serde::{Deserialize, Serialize};

use super::Sessions;
use super::{TurnList, check_title, masked_title};
use crate::admission;
use crate::error::{Error, Result};
use crate::queue::JobFailure;
use crate::recall::RecallQuery;
use crate::removal::FactSource;
use crate::request::Request;
use crate::transaction::{WriteStart, keep_answer};
use crate::transcript::find_retracted;

/// Result of closing a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloseResult {
    pub session: Session,
    /// Whether a learning job was queued.
    pub learning: bool,
}

/// Changes to a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionEdit {
    pub title: Option<Option<String>>,
    pub archived: Option<bool>,
}

/// A session found by search, with its best matching turn.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionMatch {
    pub session: Session,
    pub best: Option<Turn>,
}

impl Sessions {
    /// Closes a session. Closing one that is not active changes nothing. `has_new_turns` says whether there
    /// are new turns since it was last closed, if the client knows; with `Some(false)` no model is
    /// asked.
    pub async fn close(
        &self,
        request: &Request,
        id: &str,
        has_new_turns: Option<bool>,
    ) -> Result<CloseResult> {
        admission::check_session_name(id)?;
        let scope = match self.transactions.start(request).await? {
            WriteStart::New(scope) => scope,
            WriteStart::Repeated(answer) => return Ok(answer),
        };
        let (there, (policy, _)) =
            try_join!(async { Ok(session::find(&scope, id).await?) }, self.policies.load(&scope))?;
        let there = there.filter(|session| session.trashed_at.is_none());
        let there = there.ok_or(Error::SessionNotFound)?;
        let mut batch = Batch::default();
        let ending = self.end(&mut batch, &scope, request, there, &policy, has_new_turns);
        keep_answer(&mut batch, &scope, request, &ending, &[])?;
        scope.run(&batch).await?;
        scope.commit().await?;
        Ok(ending)
    }

    /// Adds the writes of closing a session to the batch.
    pub(crate) fn end(
        &self,
        batch: &mut Batch,
        scope: &Scope,
        request: &Request,
        mut session: Session,
        policy: &Policy,
        has_new_turns: Option<bool>,
    ) -> CloseResult {
        if session.state != SessionState::Active {
            return CloseResult { session, learning: false };
        }
        let now = micros(request.moment.now);
        session.state = SessionState::Idle;
        session.closed_at = Some(now);
        job::cancel(batch, scope, &Task::Close { session: session.id.clone() });
        if session.incognito {
            session::remove(batch, scope, &session.id);
            return CloseResult { session, learning: false };
        }
        session::put(batch, scope, &session);
        let learning = self.parts.learns()
            && session.has_unextracted_turns()
            && has_new_turns != Some(false)
            && policy.extract != Trigger::Manual;
        if learning {
            let task = Task::Extract { session: session.id.clone() };
            job::queue(batch, scope, request.job_id("extract"), &task, now, now);
        }
        CloseResult { session, learning }
    }

    /// Closes a session that has been idle long enough; otherwise queues the next check.
    pub(crate) async fn close_abandoned(
        &self,
        request: &Request,
        job: &ClaimedJob,
        id: &str,
    ) -> Result<(), JobFailure> {
        let scope = self.parts.store.write(job.tenant, job.user).await?;
        if !job::is_held(&scope, job).await? {
            return Ok(());
        }
        let now = micros(request.moment.now);
        let there = session::find(&scope, id).await?;
        let (policy, _) = self.policies.load(&scope).await?;
        let mut batch = Batch::default();
        job::finish(&mut batch, &scope, job);
        if let (Some(session), Some(idle)) = (there, policy.idle_close()) {
            if session.is_abandoned(idle, now) {
                self.end(&mut batch, &scope, request, session, &policy, None);
            } else if session.state == SessionState::Active {
                let (task, due) =
                    (Task::Close { session: id.to_owned() }, session.last_turn_at + idle);
                job::queue(&mut batch, &scope, request.job_id("close"), &task, due, now);
            }
        }
        scope.run(&batch).await?;
        Ok(scope.commit().await?)
    }

    /// Queues learning from a session now, open or closed.
    pub async fn learn_now(&self, request: &Request, id: &str) -> Result<CloseResult> {
        if !self.parts.learns() {
            return Err(Error::NoChatModel);
        }
        let scope = match self.transactions.start(request).await? {
            WriteStart::New(scope) => scope,
            WriteStart::Repeated(answer) => return Ok(answer),
        };
        let there = session::find(&scope, id).await?;
        let session = there.filter(|session| session.trashed_at.is_none());
        let session = session.ok_or(Error::SessionNotFound)?;
        let mut batch = Batch::default();
        let learning = session.has_unextracted_turns();
        if learning {
            let now = micros(request.moment.now);
            let task = Task::Extract { session: session.id.clone() };
            job::queue(&mut batch, &scope, request.job_id("extract"), &task, now, now);
        }
        let ending = CloseResult { session, learning };
        keep_answer(&mut batch, &scope, request, &ending, &[])?;
        scope.run(&batch).await?;
        scope.commit().await?;
        Ok(ending)
    }

    /// Renames, archives or unarchives a session. Archiving an active one closes it first, so that
    /// its turns are learned from.
    pub async fn edit(&self, request: &Request, id: &str, edit: SessionEdit) -> Result<Session> {
        check_title(edit.title.as_ref().and_then(Option::as_deref))?;
        let scope = match self.transactions.start(request).await? {
            WriteStart::New(scope) => scope,
            WriteStart::Repeated(answer) => return Ok(answer),
        };
        let (there, (policy, _)) =
            try_join!(async { Ok(session::find(&scope, id).await?) }, self.policies.load(&scope))?;
        let there = there.filter(|there| there.trashed_at.is_none() && !there.incognito);
        let mut session = there.ok_or(Error::SessionNotFound)?;
        if let Some(title) = edit.title {
            let title = title.map(|title| masked_title(&title));
            if title.is_some() && title != session.title {
                admission::check_not_paused(&scope, &request.caller).await?;
            }
            (session.title, session.named_from) = (title, None);
        }
        let mut batch = Batch::default();
        if edit.archived == Some(true) {
            session = self.end(&mut batch, &scope, request, session, &policy, None).session;
            session.state = SessionState::Archived;
            session.closed_at.get_or_insert(micros(request.moment.now));
        } else if edit.archived == Some(false) && session.state == SessionState::Archived {
            session.state = SessionState::Idle;
        }
        session::put(&mut batch, &scope, &session);
        keep_answer(&mut batch, &scope, request, &session, &[])?;
        scope.run(&batch).await?;
        scope.commit().await?;
        Ok(session)
    }

    /// Moves a session to the trash for thirty days, with what was learned only from it.
    pub async fn trash(&self, request: &Request, id: &str) -> Result<Session> {
        let there = self.get(&request.caller, id, request.moment.now).await?;
        if there.trashed_at.is_some() {
            return Ok(there);
        }
        self.removals.withdraw(request, &FactSource::Session(id.to_owned())).await?;
        self.get(&request.caller, id, request.moment.now).await
    }

    /// Searches sessions with turns relevant to `query`, the best first (R063).
    pub async fn search(
        &self,
        caller: &Caller,
        query: &str,
        projects: ProjectScope,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<SessionMatch>> {
        let mut ask = RecallQuery::about(query);
        (ask.memories, ask.turns, ask.sessions) = (0, limit, limit);
        ask.filter.roles = Some(lukasa_core::Role::ALL.to_vec());
        ask.projects = Some(projects);
        let found = self.recall.search(caller, &ask, now).await?;
        let ids: Vec<String> = found.sessions.iter().map(|s| s.session.clone()).collect();
        let best: Vec<_> = found.sessions.iter().map(|s| s.best.uuid()).collect();
        let scope = self.transactions.read(caller, now).await?;
        let (sessions, mut turns, following) = try_join!(
            session::by_ids(&scope, &ids),
            session::turns_by_id(&scope, &best),
            session::next_user_turns(&scope, &best)
        )?;
        drop(scope);
        let retracted = find_retracted(turns.clone(), following).await;
        turns.retain(|turn| !retracted.contains(&turn.id));
        let closed = self.closed_domains_of(caller, TurnList::Page(&turns), now).await?;
        let open = turns.into_iter().zip(closed).filter(|(_, closed)| closed.is_none());
        let turns: Vec<Turn> = open.map(|(turn, _)| turn).collect();
        let found = found.sessions.iter().filter_map(|place| {
            let session = sessions.iter().find(|session| session.id == place.session)?.clone();
            let best = turns.iter().find(|turn| turn.id == place.best).cloned();
            Some(SessionMatch { session, best })
        });
        Ok(found.collect())
    }
}
