//! Taking a source away: a turn, an episode or a whole chat, and with it whatever rested on it alone.
//! First what it would reach, then the going itself: into the trash, which undo brings back as a whole,
//! or for good. What becomes of each fact is decided by the rules in the core.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::try_join;
use jiff::SignedDuration;
use lukasa_core::cascade as cascade_rules;
use lukasa_core::consolidate::focus::CHAT;
use lukasa_core::limits::{TRASH_DAYS, USAGE_DAYS};
use lukasa_core::recall::passage::of_turn;
use lukasa_core::time::micros;
use lukasa_core::{
    Caller, Changes, Depth, Episode, EpisodeId, FactId, Fate, Going, JobKind, Operation,
    OperationId, Origin, Session, Sources, Stamp, State, Timestamp, TurnId, Verb, Version, Voice,
};
use lukasa_store::cascade::Withdrawn;
use lukasa_store::erasure::{self, Erasure};
use lukasa_store::{
    Batch, Scope, cascade, erase, everything, fact, job, ledger, portrait, session,
};

use crate::erasure::Entry;
use crate::error::{Error, Result};
use crate::facts::{
    Begun, Effect, Memory, Outcome, Reached, Touched, Writing, as_memory, remove_one, reverse,
};
use crate::learn::episodes::latest;
use crate::sessions::job_id;
use crate::{Engine, Request};

/// How many turns of one chat a going looks at.
const MOST_TURNS: i32 = i32::MAX;
/// How much one night removes.
const PURGED_AT_ONCE: i64 = 500;

/// Something that memories rest on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Turn(TurnId),
    Episode(EpisodeId),
    Session(String),
}

/// What rests on a source: what would go with it, what would weigh less, and what would stay.
#[derive(Debug, Clone, PartialEq)]
pub struct Dependents {
    pub reached: Reached,
    pub memories: Vec<(Memory, Fate)>,
    pub episodes: Vec<Episode>,
}

/// Everything a source's going is about.
struct Reach {
    session: Session,
    whole: bool,
    /// The turns that go themselves.
    turns: Vec<TurnId>,
    /// The turns that memories may no longer rest on.
    going: Going,
    episodes: Vec<Episode>,
    histories: Vec<Vec<Version>>,
    first: i32,
    portraits: usize,
}

impl Engine {
    /// What depends on this? What would go with a source, if it went now.
    pub async fn dependents(
        &self,
        caller: &Caller,
        source: &Source,
        now: Timestamp,
    ) -> Result<Dependents> {
        let scope = self.reading(caller, now).await?;
        let reach = reach(&scope, source, Depth::Trash).await?;
        let mut ids = lukasa_core::Ids::new(now, [0; 16]);
        let mut stamp = Stamp { at: micros(now), operation: ids.operation(), ids };
        let fates = fates(&reach, Depth::Trash, caller, &mut stamp)?;
        let mut memories = Vec::new();
        for (history, fate, _) in fates {
            let known: Vec<Version> =
                history.iter().filter(|v| v.known.until.is_none()).cloned().collect();
            let shown = known.iter().max_by_key(|v| (v.valid.from, v.id));
            memories.extend(shown.map(|v| (as_memory(v, &known, now), fate)));
        }
        let reached = counted(&reach, memories.iter().map(|(_, fate)| *fate));
        Ok(Dependents { reached, memories, episodes: reach.episodes })
    }

    /// Takes a source away with what rests on it alone. It can be undone as a whole.
    pub async fn withdraw(&self, request: &Request, source: &Source) -> Result<Outcome> {
        self.take_away(request, source, Depth::Trash, None).await
    }

    /// Removes a source for good, with every quotation of it and everything that rests on it alone.
    pub async fn erase_source(&self, request: &Request, source: &Source) -> Result<Outcome> {
        self.take_away(request, source, Depth::Erase, None).await
    }

    /// Removes again a turn that was erased and that a backup has brought back.
    pub(crate) async fn erase_turn_again(
        &self,
        request: &Request,
        turn: TurnId,
        entry: &Entry,
    ) -> Result<bool> {
        let scope = self.store.read(request.caller.tenant, request.caller.user).await?;
        let there = !cascade::turns(&scope, &[turn]).await?.is_empty();
        drop(scope);
        if there {
            self.take_away(request, &Source::Turn(turn), Depth::Erase, Some(entry)).await?;
        }
        Ok(there)
    }

    /// `again` is the journal's entry for what is erased once more.
    async fn take_away(
        &self,
        request: &Request,
        source: &Source,
        depth: Depth,
        again: Option<&Entry>,
    ) -> Result<Outcome> {
        let mut writing = match self.begin(request).await? {
            Begun::New(writing) => writing,
            Begun::Again(outcome) => return Ok(outcome),
        };
        if is_gone(&writing.scope, source, depth).await? {
            let verb = if depth == Depth::Erase { Verb::Erase } else { Verb::Delete };
            return writing.answer(Outcome::of(verb, "It was gone already.".into())).await;
        }
        let reach = reach(&writing.scope, source, depth).await?;
        let (mut effect, mut removed, mut counted_fates) = (Effect::default(), Vec::new(), vec![]);
        for (history, fate, changes) in fates(&reach, depth, &request.caller, &mut writing.stamp)? {
            let fact = history[0].fact;
            counted_fates.push(fate);
            if fate == Fate::Withdrawn && depth == Depth::Erase {
                removed.push(fact);
                continue;
            }
            if !changes.closes.is_empty() {
                effect.thaws.push(fact);
            }
            merge(&mut effect.changes, changes);
            effect.also.push(fact);
        }
        let reached = counted(&reach, counted_fates.into_iter());
        let verb = if depth == Depth::Erase { Verb::Erase } else { Verb::Delete };
        let word = if depth == Depth::Erase { "Erased" } else { "Moved to the trash" };
        let mut outcome = Outcome::of(verb, format!("{word}: {reached}."));
        for id in &removed {
            let receipt = remove_one(&mut writing, verb, *id, None, &mut effect).await?;
            outcome.receipts.push(receipt);
        }
        effect.also.extend(removed);
        outcome.reached = Some(reached);
        let sources = Sources {
            session: reach.whole.then(|| reach.session.id.clone()),
            turns: if reach.whole { Vec::new() } else { reach.turns.clone() },
            episodes: reach.episodes.iter().map(|episode| episode.id).collect(),
            gone: true,
        };
        let gone = self.going(&mut writing, &reach, &sources, depth, again, &mut effect).await?;
        effect.with.append(gone);
        effect.sources = Some(sources);
        writing.finish(verb, effect, outcome).await
    }

    /// What a source's going writes besides facts.
    async fn going(
        &self,
        writing: &mut Writing<'_>,
        reach: &Reach,
        sources: &Sources,
        depth: Depth,
        again: Option<&Entry>,
        effect: &mut Effect,
    ) -> Result<Batch> {
        let id = reach.session.id.as_str();
        let mut batch = Batch::default();
        if depth == Depth::Erase {
            on_record(writing, &reach.turns, Verb::Erase, again, effect);
        }
        let (scope, stamp) = (&writing.scope, &writing.stamp);
        let by = stamp.operation;
        if depth == Depth::Erase {
            let cited: Vec<TurnId> = match reach.whole {
                true => cascade::turn_ids(scope, id, 1, MOST_TURNS).await?,
                false => reach.turns.clone(),
            };
            cascade::erase(&mut batch, scope, &cited, &sources.episodes, by, stamp.at);
            if reach.whole {
                for kind in [JobKind::Close, JobKind::Extract, JobKind::Title, JobKind::Compress] {
                    job::cancel(&mut batch, scope, kind, id);
                }
                session::remove(&mut batch, scope, id);
                return Ok(batch);
            }
        } else if reach.whole {
            trash(&mut batch, scope, &reach.session, Some((by, stamp.at)));
            return Ok(batch);
        } else {
            cascade::mark_turns(&mut batch, scope, &sources.turns, Some(by));
            cascade::mark_episodes(&mut batch, scope, &sources.episodes, Some(by));
        }
        if sources.turns.is_empty() {
            return Ok(batch);
        }
        let all = everything::episodes(scope).await?;
        let told = told(&all, id, &sources.episodes);
        cascade::forget_made(&mut batch, scope, id, reach.first, told.as_deref());
        retell(&mut batch, writing, &reach.episodes);
        if self.has_chat() {
            let now = stamp.at;
            if reach.session.has_news() && reach.session.closed_at.is_some() {
                let job = job_id(writing.request(), "extract");
                job::queue(&mut batch, scope, job, JobKind::Extract, id, now, now);
            }
        }
        Ok(batch)
    }

    /// Removes for good the chats, turns and episodes that were taken away thirty days ago or longer,
    /// with every quotation of them; and the ledger of what models were asked ninety days ago.
    pub(crate) async fn purge_sources(&self, request: &Request) -> Result<()> {
        let mut request = request.clone();
        // It completes what its person did, and so may take a quotation from what they agreed to.
        request.caller.voice = Voice::stated(Origin::UserSaid);
        let Begun::New(mut writing) = self.begin(&request).await? else { return Ok(()) };
        let scope = &writing.scope;
        let days = |count: i64| SignedDuration::from_hours(24 * count);
        let at = writing.stamp.at;
        ledger::forget_before(scope, at - days(USAGE_DAYS)).await?;
        let before = at - days(TRASH_DAYS);
        let chats = session::trashed_before(scope, before, PURGED_AT_ONCE).await?;
        let (mut turns, episodes) =
            cascade::withdrawn_before(scope, before, PURGED_AT_ONCE).await?;
        for id in &chats {
            turns.extend(cascade::turn_ids(scope, id, 1, MOST_TURNS).await?);
        }
        if chats.is_empty() && turns.is_empty() && episodes.is_empty() {
            return writing.close(Batch::default()).await;
        }
        let going: BTreeSet<String> = turns.iter().map(ToString::to_string).collect();
        let names: Vec<String> = going.iter().cloned().collect();
        let mut effect = Effect::default();
        for id in cascade::citing(&writing.scope, &names).await? {
            let history = fact::history(&writing.scope, id).await?;
            let chats = chats_of(&writing.scope, std::slice::from_ref(&history)).await?;
            let going = Going { turns: going.clone(), chats, chat: None };
            let (voice, stamp) = (request.caller.voice, &mut writing.stamp);
            let becomes = cascade_rules::without(&history, &going, Depth::Erase, voice, stamp)?;
            // What its person has brought back since, although its source stayed away, is theirs.
            if let Some((Fate::Weakened | Fate::Kept, changes)) = becomes {
                merge(&mut effect.changes, changes);
            }
        }
        on_record(&mut writing, &turns, Verb::Purge, None, &mut effect);
        let (scope, by) = (&writing.scope, writing.stamp.operation);
        cascade::erase(&mut effect.with, scope, &turns, &episodes, by, at);
        for id in &chats {
            session::remove(&mut effect.with, scope, id);
        }
        let outcome = Outcome::of(Verb::Purge, "Removed for good what was deleted.".into());
        writing.finish(Verb::Purge, effect, outcome).await?;
        Ok(())
    }

    /// Takes a session out of the trash, with what went with it. If something of that has been touched
    /// since, the session comes back alone.
    pub async fn restore_session(&self, request: &Request, id: &str) -> Result<Session> {
        let writing = match self.begin(request).await? {
            Begun::New(writing) => writing,
            Begun::Again(_) => return self.session(&request.caller, id, request.moment.now).await,
        };
        let there = session::find(&writing.scope, id).await?.ok_or(Error::SessionNotFound)?;
        if there.trashed_at.is_none() {
            return Err(lukasa_core::Refusal::NotGone.into());
        }
        let by =
            session::withdrawn_by(&writing.scope, id).await?.ok_or(Error::OperationNotFound)?;
        match reverse(writing, by, Touched::Blocks).await {
            Err(Error::UndoBlocked(_) | Error::NotUndoable) => {
                let Begun::New(writing) = self.begin(request).await? else {
                    return self.session(&request.caller, id, request.moment.now).await;
                };
                let sources = Sources { session: Some(id.to_owned()), ..Sources::default() };
                let effect = returning(&writing, &sources, None).await?;
                let outcome = Outcome::of(Verb::Restore, "Restored the chat.".into());
                writing.finish(Verb::Restore, effect, outcome).await?;
            }
            other => {
                other?;
            }
        }
        self.session(&request.caller, id, request.moment.now).await
    }
}

/// Puts turns that go for good on record, and into the journal.
fn on_record(
    writing: &mut Writing<'_>,
    turns: &[TurnId],
    verb: Verb,
    again: Option<&Entry>,
    effect: &mut Effect,
) {
    let (at, by) = (writing.stamp.at, writing.stamp.operation);
    for turn in turns {
        let erasure = Erasure {
            id: again.map_or_else(|| writing.stamp.ids.erasure(), |entry| entry.id),
            fact: None,
            turn: Some(*turn),
            verb,
            operation: Some(by),
            erased_at: again.map_or(at, |entry| entry.at),
            removed: erasure::Rows::from([("turn".to_owned(), 1)]),
            replayed: again.is_some(),
            scrubbed_at: None,
        };
        erasure::insert(&mut effect.with, &writing.scope, &erasure);
        if again.is_none() {
            effect.erased.push(Entry::of(&writing.scope, &erasure));
        }
    }
}

/// What undoing an operation on sources does to them: what it took away comes back, what it brought
/// back goes again.
pub(crate) async fn back(
    writing: &Writing<'_>,
    target: &Operation,
    sources: &Sources,
) -> Result<Effect> {
    if sources.gone {
        return returning(writing, sources, Some(target.id)).await;
    }
    let (scope, stamp) = (&writing.scope, &writing.stamp);
    let mut batch = Batch::default();
    if let Some(id) = &sources.session {
        let there = session::find(scope, id).await?.ok_or(Error::NotUndoable)?;
        trash(&mut batch, scope, &there, Some((stamp.operation, stamp.at)));
    }
    cascade::mark_turns(&mut batch, scope, &sources.turns, Some(stamp.operation));
    cascade::mark_episodes(&mut batch, scope, &sources.episodes, Some(stamp.operation));
    let since = cascade::made_for(scope, target.id).await?;
    cascade::mark_episodes(&mut batch, scope, &since, Some(stamp.operation));
    // Whatever was told again after the first going is as good now as it was then.
    if let Some(first) = target.undoes {
        let retold = cascade::retold(scope, first).await?;
        let retold = cascade::returnable(scope, &retold, &[]).await?;
        let retold: Vec<EpisodeId> = retold.iter().map(|episode| episode.id).collect();
        cascade::mark_episodes(&mut batch, scope, &retold, None);
    }
    let sources = Sources { gone: true, ..sources.clone() };
    Ok(Effect { with: batch, sources: Some(sources), ..Effect::default() })
}

/// The operation that took away what one of these versions rests on, if one did. A version that is to
/// be held again must not quote what is gone; what comes back together with it is there.
pub(crate) async fn in_the_way(
    scope: &Scope,
    versions: &[Version],
    target: &Operation,
) -> Result<Option<OperationId>> {
    let rests = |v: &&Version| !v.is_firm() && v.state != State::Trashed;
    let turns = versions.iter().filter(rests).flat_map(|version| version.turns.iter());
    let turns: BTreeSet<TurnId> = turns.filter_map(|turn| turn.parse().ok()).collect();
    if turns.is_empty() {
        return Ok(None);
    }
    let turns: Vec<_> = turns.iter().map(|turn| turn.uuid()).collect();
    let back = target.sources.as_ref().filter(|sources| sources.gone);
    // A turn that comes back is still gone if its chat went with another operation.
    let missing = |gone: Withdrawn| {
        let whole = back.is_some_and(|s| s.session.as_ref() == Some(&gone.session));
        let itself = whole || back.is_some_and(|s| s.turns.contains(&gone.turn));
        gone.alone.filter(|_| !itself).or(gone.with_session.filter(|_| !whole))
    };
    Ok(cascade::withdrawn(scope, &turns).await?.into_iter().find_map(missing))
}

/// Brings sources back. `after` is the operation that took them away, after which some of what happened
/// may have been told again.
async fn returning(
    writing: &Writing<'_>,
    sources: &Sources,
    after: Option<OperationId>,
) -> Result<Effect> {
    let scope = &writing.scope;
    let mut batch = Batch::default();
    let mut turns = cascade::turns(scope, &sources.turns).await?;
    // An episode that is gone for good can be told again; what was said cannot.
    if turns.len() != sources.turns.len() {
        return Err(Error::NotUndoable);
    }
    if let Some(id) = &sources.session {
        let there = session::find(scope, id).await?.ok_or(Error::NotUndoable)?;
        trash(&mut batch, scope, &there, None);
        turns.extend(session::turns(scope, id, 0, i64::MAX).await?);
    }
    cascade::mark_turns(&mut batch, scope, &sources.turns, None);
    let whole = cascade::returnable(scope, &sources.episodes, &sources.turns).await?;
    let whole: Vec<EpisodeId> = whole.iter().map(|episode| episode.id).collect();
    cascade::mark_episodes(&mut batch, scope, &whole, None);
    // One that tells of what has gone since is told again from what is there.
    let mut broken = cascade::episodes(scope, &sources.episodes).await?;
    broken.retain(|episode| !whole.contains(&episode.id));
    retell(&mut batch, writing, &broken);
    if let Some(after) = after {
        let retold = cascade::made_for(scope, after).await?;
        cascade::mark_episodes(&mut batch, scope, &retold, Some(writing.stamp.operation));
    }
    Ok(Effect {
        with: batch,
        sources: Some(Sources { gone: false, ..sources.clone() }),
        passages: turns.iter().flat_map(of_turn).collect(),
        ..Effect::default()
    })
}

/// Has these episodes' stretches told again after the operation under way.
fn retell(batch: &mut Batch, writing: &Writing<'_>, episodes: &[Episode]) {
    if !writing.engine().has_chat() {
        return;
    }
    let (by, now) = (writing.stamp.operation, writing.stamp.at);
    for (at, episode) in episodes.iter().enumerate() {
        let (first, last) = (episode.first_turn, episode.last_turn);
        let key = format!("{by} {first} {last} {}", episode.session);
        let job = job_id(writing.request(), &format!("{at} retell"));
        job::queue(batch, &writing.scope, job, JobKind::Retell, &key, now, now);
    }
}

/// Puts a chat into the trash, or takes it out. What recall has of it goes; what brings it back makes
/// it anew.
fn trash(batch: &mut Batch, scope: &Scope, there: &Session, by: Option<(OperationId, Timestamp)>) {
    let trashed_at = by.map(|(_, at)| at);
    session::put(batch, scope, &Session { trashed_at, ..there.clone() });
    session::mark(batch, scope, &there.id, by.map(|(by, _)| by));
    if by.is_some() {
        for kind in [JobKind::Close, JobKind::Extract, JobKind::Title, JobKind::Compress] {
            job::cancel(batch, scope, kind, &there.id);
        }
        session::drop_passages(batch, scope, &there.id);
    }
}

/// Whether a turn was there and is not any more: taking it away again is done already. One that was
/// deleted can still be erased.
async fn is_gone(scope: &Scope, source: &Source, depth: Depth) -> Result<bool> {
    let Source::Turn(id) = source else { return Ok(false) };
    let erased = !erase::gone_turns(scope, &[*id]).await?.is_empty();
    if depth == Depth::Erase {
        return Ok(erased);
    }
    let there = !session::turns_by_id(scope, &[id.uuid()]).await?.is_empty();
    let kept = !cascade::turns(scope, &[*id]).await?.is_empty();
    Ok(erased || (kept && !there))
}

async fn reach(scope: &Scope, source: &Source, depth: Depth) -> Result<Reach> {
    let (name, first, last) = match source {
        Source::Turn(id) => {
            let turn = cascade::turns(scope, &[*id]).await?.pop().ok_or(Error::TurnNotFound)?;
            (turn.session, turn.number, turn.number)
        }
        Source::Session(session) => (session.clone(), 1, MOST_TURNS),
        Source::Episode(id) => {
            let episode = cascade::find_episode(scope, *id).await?;
            let episode = episode.ok_or(Error::EpisodeNotFound)?;
            (episode.session, episode.first_turn, episode.last_turn)
        }
    };
    let whole = matches!(source, Source::Session(_));
    let there = session::find(scope, &name).await?;
    let there = there.filter(|s| s.trashed_at.is_none() || (whole && depth == Depth::Erase));
    let session = there.ok_or(match source {
        Source::Turn(_) => Error::TurnNotFound,
        Source::Episode(_) => Error::EpisodeNotFound,
        Source::Session(_) => Error::SessionNotFound,
    })?;
    let (ids, telling) = try_join!(
        cascade::turn_ids(scope, &name, first, last),
        cascade::telling(scope, &name, first, last, depth == Depth::Erase)
    )?;
    let turns = match source {
        // What was said stays; only what was told of it goes.
        Source::Episode(_) => Vec::new(),
        Source::Turn(_) | Source::Session(_) => ids.clone(),
    };
    let episodes = match source {
        Source::Episode(id) => telling.into_iter().filter(|e| e.id == *id).collect(),
        _ => telling,
    };
    let mut going: BTreeSet<String> = ids.iter().map(ToString::to_string).collect();
    let names: Vec<String> = going.iter().cloned().collect();
    let mut facts = match depth {
        Depth::Trash => cascade::citing(scope, &names).await?,
        Depth::Erase => cascade::ever_citing(scope, &names).await?,
    };
    facts.extend(cascade::noting(scope, CHAT, &name).await?);
    if whole {
        facts.extend(cascade::said_in(scope, &name).await?);
    }
    facts.sort_unstable();
    facts.dedup();
    let mut histories = Vec::new();
    for id in facts {
        histories.push(fact::history(scope, id).await?);
    }
    let chats = chats_of(scope, &histories).await?;
    if whole {
        // Turns of this chat that are not kept any more can only be told by where they were cited.
        let versions = histories.iter().flatten().filter(|v| v.session.as_deref() == Some(&name));
        let lost = versions.flat_map(|v| v.turns.iter()).filter(|turn| !chats.contains_key(*turn));
        going.extend(lost.cloned());
    }
    let cited: Vec<FactId> = histories.iter().filter_map(|h| h.first()).map(|v| v.fact).collect();
    let portraits = portrait::count_citing(scope, &cited).await?;
    let going = Going { turns: going, chats, chat: Some(name) };
    Ok(Reach { session, whole, portraits, turns, going, episodes, histories, first })
}

/// The chats of the turns that these facts rest on.
async fn chats_of(scope: &Scope, histories: &[Vec<Version>]) -> Result<BTreeMap<String, String>> {
    let cited = histories.iter().flatten().flat_map(|version| version.turns.iter());
    let cited: BTreeSet<TurnId> = cited.filter_map(|turn| turn.parse().ok()).collect();
    let cited: Vec<_> = cited.iter().map(|turn| turn.uuid()).collect();
    let chats = cascade::chats(scope, &cited).await?;
    Ok(chats.into_iter().map(|(turn, chat)| (turn.to_string(), chat)).collect())
}

type Fated<'h> = (&'h [Version], Fate, Changes);

fn fates<'r>(
    reach: &'r Reach,
    depth: Depth,
    caller: &Caller,
    stamp: &mut Stamp,
) -> Result<Vec<Fated<'r>>> {
    let mut fates = Vec::new();
    for history in &reach.histories {
        let becomes = cascade_rules::without(history, &reach.going, depth, caller.voice, stamp)?;
        if let Some((fate, changes)) = becomes {
            fates.push((history.as_slice(), fate, changes));
        }
    }
    Ok(fates)
}

fn counted(reach: &Reach, fates: impl Iterator<Item = Fate>) -> Reached {
    let mut reached = Reached {
        turns: reach.turns.len(),
        episodes: reach.episodes.len(),
        portraits: reach.portraits,
        ..Reached::default()
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

/// What happened in a chat as its episodes tell it, without some of them.
fn told(episodes: &[Episode], of: &str, without: &[EpisodeId]) -> Option<String> {
    let stays = |e: &&Episode| e.session == of && !without.contains(&e.id);
    let told: Vec<&str> =
        episodes.iter().filter(stays).map(|episode| episode.summary.as_str()).collect();
    (!told.is_empty()).then(|| latest(&told.join(" ")))
}

fn merge(into: &mut Changes, changes: Changes) {
    into.closes.extend(changes.closes);
    into.opens.extend(changes.opens);
}
