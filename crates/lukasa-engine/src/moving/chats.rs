//! Conversations from elsewhere: each becomes a session of its own, under a name made from the name it
//! had there, and is closed like any other chat, so that it is learned from if there is a model to do it.

use lukasa_core::import::{ChatItem, ChatTurn, Counts, item_id, session_name};
use lukasa_core::limits::{NAME_CHARS, TURN_CHARS};
use lukasa_core::model::TokensUsed;
use lukasa_core::recall::passage::of_turn;
use lukasa_core::time::micros;
use lukasa_core::{Ids, MaskedTurns, Origin, Session, SessionState, Timestamp, Turn};
use lukasa_store::passage::{self, Change};
use lukasa_store::{Batch, import, session};

use super::{Source, Taken, import_of};
use crate::error::Result;
use crate::learn::passes;
use crate::sessions::masked_title;
use crate::{Engine, Request};

/// What the question itself takes, and what is shown with it, in tokens.
const ASKED_TOKENS: u32 = 2_000;
/// What an answer takes, in tokens.
const ANSWERED_TOKENS: u32 = 500;
/// How long one question takes, if nobody knows better.
const SECONDS_A_CALL: u64 = 10;

/// What learning from chats will ask of a chat model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Estimate {
    pub calls: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// In millionths of the currency that the prices are in; nothing if there are none.
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

impl Engine {
    /// Takes in a stretch of a conversation. Turns that are here already are not taken in again, and a
    /// chat that its person has put away stays away.
    pub(super) async fn import_chat(
        &self,
        request: &Request,
        source: &Source,
        chat: &ChatItem,
        dry_run: bool,
    ) -> Result<Taken> {
        let name = session_name(source.format, &chat.source);
        let item = item_id(source.format, "chat", &chat.source);
        let scope = self.writing(request).await?;
        let mut import = import_of(&scope, request, source).await?;
        let mut taken = Taken::nothing(import.id);
        let seen = !import::known(&scope, &[item]).await?.is_empty();
        let there = session::find(&scope, &name).await?;
        let trashed = there.as_ref().is_some_and(|session| session.trashed_at.is_some());
        if seen && (trashed || there.is_none()) {
            taken.counts.known = usize::from(chat.last);
            return Ok(taken);
        }
        if trashed && !dry_run {
            // It came with an import that was taken back, and comes again.
            drop(scope);
            self.restore_session(request, &name).await?;
            return Box::pin(self.import_chat(request, source, chat, dry_run)).await;
        }
        let now = micros(request.moment.now);
        let (policy, _) = self.policy_of(&scope).await?;
        let mut batch = Batch::default();
        let is_new = there.is_none();
        let mut session = there.unwrap_or_else(|| {
            let mut new = opened(&name, chat, now);
            new.keep = policy.keep_turns;
            new
        });
        if dry_run {
            // What comes before would be here by now.
            session.turns = session.turns.max(i32::try_from(chat.before).unwrap_or(i32::MAX));
        }
        let turns = MaskedTurns::new(numbered(request, &session, chat, now));
        if turns.is_empty() {
            taken.counts.known = usize::from(chat.last && !is_new);
            if !seen && !is_new && !dry_run {
                // From now on it is this import's again, and what its person does with it counts.
                import::add_item(&mut batch, &scope, import.id, item, None, Some(&name));
                import::put(&mut batch, &scope, &import);
                scope.run(&batch).await?;
                scope.commit().await?;
            }
            return Ok(taken);
        }
        taken.estimate = self.estimate(&turns);
        let chats = usize::from(is_new && chat.before == 0);
        let counts = Counts { chats, turns: turns.len(), ..Counts::default() };
        taken.counts = counts;
        if dry_run {
            return Ok(taken);
        }
        if is_new {
            session::open(&mut batch, &scope, &session);
        }
        if !seen {
            import::add_item(&mut batch, &scope, import.id, item, None, Some(&name));
        }
        session::append(&mut batch, &scope, &name, &turns);
        session.turns += i32::try_from(turns.len()).unwrap_or(0);
        session.last_turn_at =
            turns.iter().map(|turn| turn.said_at).fold(session.last_turn_at, Timestamp::max);
        (session.state, session.closed_at) = (SessionState::Active, None);
        let passages: Vec<_> = turns.iter().flat_map(of_turn).collect();
        passage::bump(&mut batch, &scope, Change::Added);
        passage::insert(&mut batch, &scope, &passages);
        if chat.last {
            self.end(&mut batch, &scope, request, session, &policy, None);
        } else {
            self.close_later(&mut batch, &scope, request, &session, &policy);
        }
        import.counts.add(&counts);
        import::put(&mut batch, &scope, &import);
        scope.run(&batch).await?;
        scope.commit().await?;
        let caller = &request.caller;
        self.embed(caller.tenant, caller.user, passages, request.moment.now).await;
        Ok(taken)
    }

    /// What learning from these turns will take, if anything is learned from at all.
    fn estimate(&self, turns: &[Turn]) -> Estimate {
        let chats = self.models.chats();
        let Some(model) = chats.first() else { return Estimate::default() };
        let lengths: Vec<usize> = turns.iter().map(|turn| turn.content.chars().count()).collect();
        let (calls, chars) = passes(&lengths);
        let calls = u32::try_from(calls).unwrap_or(u32::MAX);
        let said = u32::try_from(chars / 4).unwrap_or(u32::MAX);
        let input = said.saturating_add(ASKED_TOKENS.saturating_mul(calls));
        let output = ANSWERED_TOKENS.saturating_mul(calls);
        Estimate {
            calls: calls.into(),
            input_tokens: input.into(),
            output_tokens: output.into(),
            cost_micros: model.price().of(TokensUsed { input, output }),
            seconds: u64::from(calls) * SECONDS_A_CALL,
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

/// The turns that are not here yet, with their places. Nothing is appended over a gap.
fn numbered(request: &Request, session: &Session, chat: &ChatItem, now: Timestamp) -> Vec<Turn> {
    let there = usize::try_from(session.turns).unwrap_or(0);
    if chat.before > there {
        return Vec::new();
    }
    let mut ids = Ids::new(now, request.moment.seed);
    let mut at = session.last_turn_at;
    let mut turns = Vec::new();
    for (number, said) in (session.turns + 1..).zip(chat.turns.iter().skip(there - chat.before)) {
        at = said.said_at.map_or(at, micros).min(now);
        turns.push(turn(said, ids.turn(), &session.id, number, at, now));
    }
    turns
}

fn turn(
    said: &ChatTurn,
    id: lukasa_core::TurnId,
    session: &str,
    number: i32,
    said_at: Timestamp,
    now: Timestamp,
) -> Turn {
    // Every turn has to stay in its place, so what cannot be kept is replaced, not left out.
    let content: String = said.content.replace('\0', "\u{fffd}").chars().take(TURN_CHARS).collect();
    Turn {
        id,
        session: session.to_owned(),
        number,
        role: said.role,
        speaker: None,
        content: if content.trim().is_empty() { "\u{2026}".to_owned() } else { content },
        origin: said.role.origin(Origin::Import),
        said_at,
        recorded_at: now,
        spans: Vec::new(),
        marked: false,
    }
}
