//! Import of conversations from other programs: each becomes a separate session, named after its
//! original name, and is closed like any other session, so that it is learned from if a model is
//! configured.

use lukasa_core::import::{ChatItem, ChatTurn, ImportCounts, item_id, session_name};
use lukasa_core::limits::{NAME_CHARS, TURN_CHARS};
use lukasa_core::model::TokensUsed;
use lukasa_core::recall::passage::of_turn;
use lukasa_core::time::micros;
use lukasa_core::{Ids, MaskedTurns, Origin, Session, SessionState, Timestamp, Turn, TurnId};
use lukasa_store::passage::{self, Change};
use lukasa_store::{Batch, import, session};
use uuid::Uuid;

use super::Archives;
use super::{ImportReport, ImportSource, import_of, put_import};
use crate::admission::check_session_name;
use crate::cpu::LARGE_TEXT_CHARS;
use crate::error::Result;
use crate::learning::passes;
use crate::request::Request;
use crate::sessions::masked_title;

/// Tokens of the question itself, and of what is shown with it.
const QUESTION_TOKENS: u32 = 2_000;
/// Tokens of an answer.
const ANSWER_TOKENS: u32 = 500;
/// Assumed duration of one question, in seconds.
const SECONDS_PER_CALL: u64 = 10;

/// Estimated cost of learning from sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Estimate {
    pub calls: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// In millionths of the currency of the prices; zero if there are no prices.
    pub cost_micros: u64,
    pub seconds: u64,
}

impl Estimate {
    pub(super) fn add(&mut self, other: Estimate) {
        self.calls += other.calls;
        self.input_tokens += other.input_tokens;
        self.output_tokens += other.output_tokens;
        self.cost_micros += other.cost_micros;
        self.seconds += other.seconds;
    }
}

impl Archives {
    /// Imports a range of a conversation. Existing turns are not imported again, and a session that
    /// the user has removed stays removed.
    pub(super) async fn import_chat(
        &self,
        request: &Request,
        source: &ImportSource,
        chat: &ChatItem,
        dry_run: bool,
    ) -> Result<ImportReport> {
        let name = session_name(source.format, &chat.source);
        check_session_name(&name)?;
        let item = item_id(source.format, "chat", &chat.source);
        // Before the transaction: the texts are long.
        let masked = self.masked(chat, micros(request.moment.now)).await?;
        let scope = self.write(request).await?;
        let (mut import, begins) = import_of(&scope, request, source).await?;
        let mut report = ImportReport::empty(import.id);
        let seen = !import::known(&scope, &[item]).await?.is_empty();
        let there = session::find(&scope, &name).await?;
        let trashed = there.as_ref().is_some_and(|session| session.trashed_at.is_some());
        if seen && (trashed || there.is_none()) {
            report.counts.known = usize::from(chat.last);
            return Ok(report);
        }
        if trashed && !dry_run {
            // It belongs to an import that was undone, and is imported again.
            drop(scope);
            self.undo.restore_session(request, &name).await?;
            return Box::pin(self.import_chat(request, source, chat, dry_run)).await;
        }
        let now = micros(request.moment.now);
        let (policy, _) = self.policies.load(&scope).await?;
        let mut batch = Batch::default();
        let is_new = there.is_none();
        let mut session = there.unwrap_or_else(|| {
            let mut new = opened(&name, chat, now);
            new.keep = policy.keep_turns;
            new
        });
        if dry_run {
            // The turns before this range would exist by now.
            session.turns = session.turns.max(i32::try_from(chat.before).unwrap_or(i32::MAX));
        }
        let turns = numbered(request, &session, chat, masked, now);
        if turns.is_empty() {
            report.counts.known = usize::from(chat.last && !is_new);
            if !seen && !is_new && !dry_run {
                // Record it as part of this import again, so that a later removal by the user is
                // respected.
                import::add_item(&mut batch, &scope, import.id, item, None, Some(&name));
                put_import(&mut batch, &scope, request, &import, begins);
                scope.run(&batch).await?;
                scope.commit().await?;
            }
            return Ok(report);
        }
        report.estimate = self.estimate(&turns);
        let chats = usize::from(is_new && chat.before == 0);
        let counts = ImportCounts { chats, turns: turns.len(), ..ImportCounts::default() };
        report.counts = counts;
        if dry_run {
            return Ok(report);
        }
        if is_new {
            session::open(&mut batch, &scope, &session);
        }
        if !seen {
            import::add_item(&mut batch, &scope, import.id, item, None, Some(&name));
        }
        session.turns += i32::try_from(turns.len()).unwrap_or(0);
        session.last_turn_at =
            turns.iter().map(|turn| turn.said_at).fold(session.last_turn_at, Timestamp::max);
        (session.state, session.closed_at) = (SessionState::Active, None);
        let split = move || (turns.iter().flat_map(of_turn).collect::<Vec<_>>(), turns);
        let (passages, turns) = self.parts.cpu.run(split).await?;
        session::append(&mut batch, &scope, &name, &turns);
        passage::bump(&mut batch, &scope, Change::Added);
        passage::insert(&mut batch, &scope, &passages);
        if chat.last {
            self.sessions.end(&mut batch, &scope, request, session, &policy, None);
        } else {
            self.sessions.close_later(&mut batch, &scope, request, &session, &policy);
        }
        import.counts.add(&counts);
        put_import(&mut batch, &scope, request, &import, begins);
        scope.run(&batch).await?;
        scope.commit().await?;
        let caller = &request.caller;
        self.embeddings.embed(caller.tenant, caller.user, passages, request.moment.now).await;
        Ok(report)
    }

    /// The turns of a conversation without secrets. Ids, numbers and times follow in [`numbered`].
    async fn masked(&self, chat: &ChatItem, now: Timestamp) -> Result<Vec<Turn>> {
        let imported = chat.turns.clone();
        let large = imported.iter().map(|turn| turn.content.len()).sum::<usize>();
        let mask = move || {
            let turns = imported.iter().map(|imported| turn(imported, now)).collect();
            MaskedTurns::new(turns).into_turns()
        };
        self.parts.cpu.run_if(large > LARGE_TEXT_CHARS, mask).await
    }

    /// Estimates the cost of learning from these turns; zero without a chat model.
    fn estimate(&self, turns: &[Turn]) -> Estimate {
        let chats = self.parts.models.chats();
        let Some(model) = chats.first() else { return Estimate::default() };
        let lengths: Vec<usize> = turns.iter().map(|turn| turn.content.chars().count()).collect();
        let (calls, chars) = passes(&lengths);
        let calls = u32::try_from(calls).unwrap_or(u32::MAX);
        let turn_tokens = u32::try_from(chars / 4).unwrap_or(u32::MAX);
        let input = turn_tokens.saturating_add(QUESTION_TOKENS.saturating_mul(calls));
        let output = ANSWER_TOKENS.saturating_mul(calls);
        Estimate {
            calls: calls.into(),
            input_tokens: input.into(),
            output_tokens: output.into(),
            cost_micros: model.price().of(TokensUsed { input, output }),
            seconds: u64::from(calls) * SECONDS_PER_CALL,
        }
    }
}

fn opened(name: &str, chat: &ChatItem, now: Timestamp) -> Session {
    let first = chat.opened_at.or_else(|| chat.turns.iter().find_map(|turn| turn.said_at));
    let title = chat.title.as_deref().map(|title| {
        title.chars().filter(|c| !c.is_control()).take(NAME_CHARS).collect::<String>()
    });
    let title = title.filter(|title| !title.trim().is_empty());
    let title = title.map(|title| masked_title(&title));
    Session::opened(name, title.as_deref(), micros(first.unwrap_or(now)).min(now))
}

/// The masked turns that do not exist yet, numbered. Nothing is appended after a gap.
fn numbered(
    request: &Request,
    session: &Session,
    chat: &ChatItem,
    masked: Vec<Turn>,
    now: Timestamp,
) -> MaskedTurns {
    let there = usize::try_from(session.turns).unwrap_or(0);
    if chat.before > there {
        return MaskedTurns::default();
    }
    let mut ids = Ids::new(now, request.moment.seed);
    let mut at = session.last_turn_at;
    let mut turns = Vec::new();
    let new = chat.turns.iter().zip(masked).skip(there - chat.before);
    for (number, (imported, turn)) in (session.turns + 1..).zip(new) {
        at = imported.said_at.map_or(at, micros).min(now);
        let session = session.id.clone();
        turns.push(Turn { id: ids.turn(), session, number, said_at: at, ..turn });
    }
    MaskedTurns::of_masked(turns)
}

/// A turn that has no place in a session yet.
fn turn(imported: &ChatTurn, now: Timestamp) -> Turn {
    // Turn numbers must stay in step, so what cannot be stored is replaced, not left out.
    let content: String =
        imported.content.replace('\0', "\u{fffd}").chars().take(TURN_CHARS).collect();
    Turn {
        id: TurnId::from_uuid(Uuid::nil()),
        session: String::new(),
        number: 0,
        role: imported.role,
        speaker: None,
        content: if content.trim().is_empty() { "\u{2026}".to_owned() } else { content },
        origin: imported.role.origin(Origin::Import),
        said_at: now,
        recorded_at: now,
        spans: Vec::new(),
        marked: false,
    }
}
