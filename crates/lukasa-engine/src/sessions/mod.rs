//! Sessions: turns, appended and searchable at once; and the life cycle of a session.

mod hidden;
mod lifecycle;
mod packing;
mod retraction;
mod window;

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::try_join;
use lukasa_core::job::Task;
use lukasa_core::learning::explicit;
use lukasa_core::limits::{NAME_CHARS, TURNS_AT_ONCE};
use lukasa_core::policy::{Policy, Trigger};
use lukasa_core::recall::passage::of_turn;
use lukasa_core::time::micros;
use lukasa_core::{
    Caller, Exchange, FactId, Ids, Keep, MaskedTurns, NewTurn, Project, Role, Session,
    SessionState, Timestamp, Turn, TurnId,
};
use lukasa_store::session::SessionPlace;
use lukasa_store::{Batch, Scope, context, domain, fact, job, passage, session};
use lukasa_text::screen::secret;
use serde::{Deserialize, Serialize};
use tokio::task::JoinError;

use crate::admission::{check_project_name, check_session_name};
use crate::closed_domains::{closed_domains, closed_domains_in_window};
use crate::cpu::LARGE_TEXT_CHARS;
use crate::embeddings::Embeddings;
use crate::error::{Error, Result};
use crate::parts::Parts;
use crate::policy::Policies;
use crate::recall::Recall;
use crate::removal::Removals;
use crate::request::Request;
use crate::transaction::{Transactions, WriteStart, keep_answer};
use retraction::{remove_retracted, retracting_turn};

pub use hidden::HiddenWords;
pub use lifecycle::{CloseResult, SessionEdit, SessionMatch};
pub use lukasa_store::session::{SessionFilter, SessionPlace as SessionCursor};
pub use window::{Window, WindowRequest};

/// Turns up to this size are masked on the thread of the request.
const MASKED_INLINE_BYTES: usize = 16_384;

/// Result of an append: ids and numbers of the turns, without their content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppendResult {
    pub session: Session,
    /// The ids of the turns, in the order they were sent.
    pub turns: Vec<TurnId>,
    /// The number of the first of them.
    pub first: i32,
    /// Whether they were stored: turns of an incognito session are not, nor while memory is paused.
    pub kept: bool,
}

/// A session to open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewSession {
    /// The caller's own name for it; one is drawn if absent.
    pub id: Option<String>,
    pub title: Option<String>,
    /// How much of it is kept after learning; the policy decides if absent.
    pub keep: Option<Keep>,
    /// Whether nothing of it is stored.
    pub incognito: bool,
    /// The project it belongs to.
    pub project: Option<Project>,
}

/// Sessions and their turns.
#[derive(Clone)]
pub struct Sessions {
    parts: Arc<Parts>,
    transactions: Transactions,
    policies: Policies,
    embeddings: Embeddings,
    recall: Recall,
    removals: Removals,
}

impl Sessions {
    pub(crate) fn new(
        parts: Arc<Parts>,
        transactions: Transactions,
        policies: Policies,
        embeddings: Embeddings,
        recall: Recall,
        removals: Removals,
    ) -> Self {
        Self { parts, transactions, policies, embeddings, recall, removals }
    }

    /// Opens a session with the caller's name or a generated one. If it exists, the existing
    /// session is returned.
    pub async fn open(&self, request: &Request, new: NewSession) -> Result<Session> {
        let drawn = format!("ses_{}", hex::encode(request.moment.seed));
        let id = new.id.as_deref().unwrap_or(&drawn);
        check_session_name(id)?;
        check_project_name(new.project.as_ref())?;
        check_title(new.title.as_deref())?;
        let scope = match self.transactions.start(request).await? {
            WriteStart::New(scope) => scope,
            WriteStart::Repeated(session) => return Ok(session),
        };
        let (there, (policy, _)) =
            try_join!(async { Ok(session::find(&scope, id).await?) }, self.policies.load(&scope))?;
        if let Some(there) = there {
            check_project(&there, new.project.as_ref())?;
            return Ok(there);
        }
        let mut batch = Batch::default();
        let now = micros(request.moment.now);
        let title = new.title.as_deref().map(masked_title);
        let mut opened = Session::opened(id, title.as_deref(), now);
        opened.keep = new.keep.unwrap_or(policy.keep_turns);
        opened.incognito = new.incognito;
        opened.project = new.project;
        if new.incognito || policy.paused {
            opened.title = None;
        }
        session::open(&mut batch, &scope, &opened);
        self.close_later(&mut batch, &scope, request, &opened, &policy);
        keep_answer(&mut batch, &scope, request, &opened, &[])?;
        scope.run(&batch).await?;
        scope.commit().await?;
        Ok(opened)
    }

    /// Appends turns to a session, which is opened if it does not exist. Recall finds them as soon
    /// as this returns.
    pub async fn append_turns(
        &self,
        request: &Request,
        to: &str,
        new: Vec<NewTurn>,
    ) -> Result<AppendResult> {
        self.append_turns_in(request, to, None, new).await
    }

    /// The same, to a session of this project.
    pub async fn append_turns_in(
        &self,
        request: &Request,
        to: &str,
        project: Option<Project>,
        new: Vec<NewTurn>,
    ) -> Result<AppendResult> {
        if new.is_empty() || new.len() > TURNS_AT_ONCE {
            return Err(Error::invalid("turns", "between 1 and 100 turns"));
        }
        let exchange = Exchange { said: new, project, ..Exchange::default() };
        self.append(request, to, exchange, false).await
    }

    /// Appends the turns of an exchange that the session does not contain yet. The session is
    /// opened if it does not exist.
    pub async fn append_exchange(
        &self,
        request: &Request,
        to: &str,
        exchange: Exchange,
    ) -> Result<AppendResult> {
        self.append(request, to, exchange, true).await
    }

    async fn append(
        &self,
        request: &Request,
        to: &str,
        exchange: Exchange,
        only_missing: bool,
    ) -> Result<AppendResult> {
        check_session_name(to)?;
        check_project_name(exchange.project.as_ref())?;
        let new = || exchange.said.iter().chain(&exchange.answer);
        Error::faults(new().flat_map(NewTurn::faults).collect())?;
        let used: Vec<FactId> = new().flat_map(|turn| turn.used.iter().copied()).collect();
        // Before the user's lock is taken, because the time depends on the length of the text.
        let exchange = mask_secrets(exchange).await?;
        let scope = match self.transactions.start(request).await? {
            WriteStart::New(scope) => scope,
            WriteStart::Repeated(answer) => return Ok(answer),
        };
        let (there, (policy, _), known) = try_join!(
            async { Ok(session::find(&scope, to).await?) },
            self.policies.load(&scope),
            async { Ok(fact::count_existing(&scope, &used).await?) }
        )?;
        if known != used.iter().collect::<BTreeSet<_>>().len() {
            return Err(Error::MemoryNotFound);
        }
        // The user's lock is held from here on, and the request may have waited for it: use the
        // time now as the recording time.
        let mut request = request.clone();
        request.moment.now = self.parts.now_after(request.moment);
        let (request, now) = (&request, micros(request.moment.now));
        let mut batch = Batch::default();
        let mut session = match there {
            Some(session) if session.trashed_at.is_some() => return Err(Error::SessionNotFound),
            Some(session) => {
                check_project(&session, exchange.project.as_ref())?;
                session
            }
            None => {
                let mut new = Session::opened(to, None, now);
                new.keep = policy.keep_turns;
                new.project.clone_from(&exchange.project);
                session::open(&mut batch, &scope, &new);
                new
            }
        };
        let first = session.turns + 1;
        let latest = match only_missing {
            // Read under the user's lock, so that of two requests with the same exchange the second
            // finds it stored.
            true => {
                let from = session.turns.saturating_sub(Exchange::LOOKBACK_TURNS);
                session::turns(&scope, to, from, Exchange::LOOKBACK_TURNS.into()).await?
            }
            false => Vec::new(),
        };
        let response = exchange.response.clone().filter(|id| is_response_id(id));
        if let Some(id) = &response {
            session::note_response(&mut batch, &scope, id, to, now);
        }
        let new = if only_missing { exchange.news(&latest) } else { exchange.said };
        let nothing = new.is_empty();
        let (turns, uses) = numbered(request, &session, new);
        let turns = MaskedTurns::of_masked(turns);
        if nothing || session.incognito || policy.paused {
            if response.is_some() || policy.paused {
                scope.run(&batch).await?;
                scope.commit().await?;
            }
            // Incognito turns, and those sent while memory is paused, are acknowledged and not
            // stored: no turn, no passage, no stored answer.
            let turns = turns.iter().map(|turn| turn.id).collect();
            return Ok(AppendResult { session, turns, first, kept: nothing });
        }
        let large = turns.iter().map(|turn| turn.content.len()).sum::<usize>() > LARGE_TEXT_CHARS;
        let finds_statements = self.parts.statements && policy.extract != Trigger::Manual;
        let build = move || {
            let passages: Vec<_> = turns.iter().flat_map(of_turn).collect();
            let is_asked = |turn: &Turn| finds_statements && explicit::is_recent(turn, now);
            let states = |turn: &&Turn| is_asked(turn) && !explicit::find(turn, &[]).is_empty();
            let stating = turns.iter().filter(states);
            let stating: Vec<TurnId> = stating.map(|turn| turn.id).collect();
            let retracting = retracting_turn(&turns);
            (turns, passages, stating, retracting)
        };
        let (turns, passages, stating, retracting) = self.parts.cpu.run_if(large, build).await?;
        let change = remove_retracted(&mut batch, &scope, &mut session, retracting).await?;
        session::append(&mut batch, &scope, to, &turns);
        passage::bump(&mut batch, &scope, change);
        passage::insert(&mut batch, &scope, &passages);
        for used in &uses {
            context::queue_usage(&mut batch, &scope, used);
        }
        session.turns += i32::try_from(turns.len()).unwrap_or(0);
        let times = turns.iter().map(|turn| turn.said_at);
        session.last_turn_at = times.fold(session.last_turn_at, Timestamp::max);
        (session.state, session.closed_at) = (SessionState::Active, None);
        self.close_later(&mut batch, &scope, request, &session, &policy);
        for turn in stating {
            let (id, task) = (request.job_id(&turn.to_string()), Task::Statement { turn });
            job::queue(&mut batch, &scope, id, &task, now, now);
        }
        self.learn_later(&mut batch, &scope, request, &session, &policy, &turns);
        let turns = turns.iter().map(|turn| turn.id).collect();
        let answer = AppendResult { session, turns, first, kept: true };
        keep_answer(&mut batch, &scope, request, &answer, &used)?;
        scope.run(&batch).await?;
        scope.commit().await?;
        let caller = &request.caller;
        self.embeddings.embed(caller.tenant, caller.user, passages, request.moment.now).await;
        Ok(answer)
    }

    /// The project of a session; `None` if it has none or does not exist.
    pub async fn project_of(
        &self,
        caller: &Caller,
        id: &str,
        now: Timestamp,
    ) -> Result<Option<Project>> {
        let scope = self.transactions.read(caller, now).await?;
        Ok(session::project_of(&scope, id).await?)
    }

    /// The session of a chat service's response, by the id of the response.
    pub async fn session_of_response(
        &self,
        caller: &Caller,
        response: &str,
        now: Timestamp,
    ) -> Result<Option<String>> {
        let scope = self.transactions.read(caller, now).await?;
        Ok(session::of_response(&scope, response).await?)
    }

    /// Queues a job that closes the session once it has been idle long enough.
    pub(crate) fn close_later(
        &self,
        batch: &mut Batch,
        scope: &Scope,
        request: &Request,
        session: &Session,
        policy: &Policy,
    ) {
        let now = micros(request.moment.now);
        let Some(idle) = policy.idle_close() else { return };
        // A waiting job stays as it is. When it is due it checks the last turn, and waits again if
        // that is recent.
        let task = Task::Close { session: session.id.clone() };
        job::queue_unless_waiting(batch, scope, request.job_id("close"), &task, now + idle, now);
    }

    /// Queues learning after every turn, if the policy says so; and a title once the assistant has
    /// answered.
    fn learn_later(
        &self,
        batch: &mut Batch,
        scope: &Scope,
        request: &Request,
        session: &Session,
        policy: &Policy,
        turns: &[Turn],
    ) {
        let now = micros(request.moment.now);
        if policy.extract == Trigger::Turn && self.parts.learns() {
            let task = Task::Extract { session: session.id.clone() };
            job::queue(batch, scope, request.job_id("extract"), &task, now, now);
        }
        let answered = turns.iter().any(|turn| turn.role == Role::Assistant);
        let may_title = policy.titles && self.parts.has_chat();
        if may_title && session.title.is_none() && answered && session.turns <= 10 {
            let task = Task::Title { session: session.id.clone() };
            job::queue(batch, scope, request.job_id("title"), &task, now, now);
        }
    }

    pub async fn get(&self, caller: &Caller, id: &str, now: Timestamp) -> Result<Session> {
        let scope = self.transactions.read(caller, now).await?;
        session::find(&scope, id).await?.ok_or(Error::SessionNotFound)
    }

    /// Sessions, the most recently active first.
    pub async fn list(
        &self,
        caller: &Caller,
        which: SessionFilter,
        before: Option<SessionPlace>,
        limit: usize,
        now: Timestamp,
    ) -> Result<(Vec<Session>, Option<SessionPlace>)> {
        let scope = self.transactions.read(caller, now).await?;
        let wanted = i64::try_from(limit + 1).unwrap_or(i64::MAX);
        let mut found = session::page(&scope, &which, before.as_ref(), wanted).await?;
        let more = found.len() > limit;
        found.truncate(limit);
        let place = |s: &Session| SessionPlace { last_turn_at: s.last_turn_at, id: s.id.clone() };
        let next = found.last().filter(|_| more).map(place);
        Ok((found, next))
    }

    /// The turns of a session after the one numbered `after`, in the order they were said.
    pub async fn turns(
        &self,
        caller: &Caller,
        of: &str,
        after: i32,
        limit: usize,
        now: Timestamp,
    ) -> Result<(Vec<Turn>, Option<i32>)> {
        let scope = self.transactions.read(caller, now).await?;
        let wanted = i64::try_from(limit + 1).unwrap_or(i64::MAX);
        let (there, mut turns) =
            try_join!(session::find(&scope, of), session::turns(&scope, of, after, wanted))?;
        there.ok_or(Error::SessionNotFound)?;
        let more = turns.len() > limit;
        turns.truncate(limit);
        let next = turns.last().filter(|_| more).map(|turn| turn.number);
        Ok((turns, next))
    }

    /// The closed domain that each of these turns mentions, if any.
    pub async fn closed_domains_of(
        &self,
        caller: &Caller,
        turns: TurnList<'_>,
        now: Timestamp,
    ) -> Result<Vec<Option<String>>> {
        let scope = self.transactions.read(caller, now).await?;
        let closed = domain::closed_domains(&scope).await?;
        drop(scope);
        Ok(match turns {
            TurnList::Page(turns) => closed_domains(turns, &closed).await,
            TurnList::Window(turns) => closed_domains_in_window(turns, &closed).await,
        })
    }
}

/// Turns to be shown.
#[derive(Debug, Clone, Copy)]
pub enum TurnList<'t> {
    /// A page of a transcript.
    Page(&'t [Turn]),
    /// What a model is to continue with.
    Window(&'t [Turn]),
}

/// Refuses a request that names another project than the session has. The project of a session is
/// set when it is opened.
fn check_project(session: &Session, project: Option<&Project>) -> Result<()> {
    match project {
        Some(project) if session.project.as_ref() != Some(project) => Err(Error::OtherProject),
        _ => Ok(()),
    }
}

fn is_response_id(id: &str) -> bool {
    !id.is_empty() && id.chars().count() <= NAME_CHARS && !id.contains('\0')
}

/// Replaces every secret with `[secret]`. Long texts are processed on a blocking thread.
async fn mask_secrets(exchange: Exchange) -> Result<Exchange> {
    if exchange.bytes() <= MASKED_INLINE_BYTES {
        return Ok(exchange.mask_secrets());
    }
    let masked = tokio::task::spawn_blocking(move || exchange.mask_secrets()).await;
    let stopped = |error: JoinError| {
        let reason = format!("could not mask secrets in turns: {error}");
        Error::Internal(lukasa_store::Error::Configuration(reason))
    };
    masked.map_err(stopped)
}

fn numbered(
    request: &Request,
    session: &Session,
    new: Vec<NewTurn>,
) -> (Vec<Turn>, Vec<context::Usage>) {
    let now = micros(request.moment.now);
    let mut ids = Ids::new(now, request.moment.seed);
    let (mut turns, mut uses) = (Vec::new(), Vec::new());
    for (number, new) in (session.turns + 1..).zip(new) {
        let id = ids.turn();
        let origin = new.origin(request.caller.voice.origin);
        for fact in &new.used {
            uses.push(context::Usage {
                id: ids.usage(),
                fact: *fact,
                session: Some(session.id.clone()),
                retrieval: new.retrieval,
                turn: Some(id),
                kind: "cited".into(),
                influence: None,
                prediction: None,
                at: now,
                by_user: false,
            });
        }
        turns.push(Turn {
            id,
            session: session.id.clone(),
            number,
            role: new.role,
            speaker: new.speaker,
            content: new.content,
            origin,
            said_at: micros(new.said_at.unwrap_or(now)),
            recorded_at: now,
            marked: new.marked || !new.spans.is_empty(),
            spans: new.spans,
        });
    }
    (turns, uses)
}

/// A title with every secret replaced by `[secret]`.
pub(crate) fn masked_title(title: &str) -> String {
    secret::redact(title).chars().take(NAME_CHARS).collect()
}

fn check_title(title: Option<&str>) -> Result<()> {
    if title.is_some_and(|t| t.chars().count() > NAME_CHARS || t.contains('\0')) {
        return Err(Error::invalid("title", "at most 255 characters"));
    }
    Ok(())
}

/// Refuses what belongs to one of these sessions if it is incognito: nothing is stored of it.
pub(crate) async fn refuse_incognito(scope: &Scope, ids: &[&str]) -> Result<()> {
    if !ids.is_empty() && session::has_incognito(scope, ids).await? {
        return Err(Error::invalid("session_id", "nothing is stored of an incognito session"));
    }
    Ok(())
}
