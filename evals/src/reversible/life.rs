//! One history: a person who talks, is learned about, deletes, and changes their mind.

use anyhow::{Context as _, Result, ensure};
use lukasa_core::{Caller, NewTurn, OperationId, Role, StateHash, Status};
use lukasa_engine::cascade::Source;
use lukasa_engine::facts::{NewMemory, Outcome, Target};
use lukasa_engine::sessions::Which;
use lukasa_engine::{Error, jobs::Worked};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};

use super::Counts;
use super::looking;
use crate::learning::room::Room;

/// What was done last, and the state before it.
struct Done {
    operation: OperationId,
    before: StateHash,
    /// Whether all layers must come back, or only memories: an undone lesson was still a chat.
    whole: bool,
}

struct Life<'r> {
    room: &'r Room,
    caller: Caller,
    dice: StdRng,
    number: u64,
    /// Every word that was ever said.
    words: Vec<String>,
    chats: usize,
    last: Option<Done>,
    operations: Vec<OperationId>,
    /// What was done, to be read when something is wrong.
    story: Vec<String>,
    counts: &'r Counts,
}

pub async fn live(
    room: &Room,
    number: u64,
    seed: u64,
    steps: usize,
    counts: &Counts,
) -> Result<()> {
    let mut life = Life {
        room,
        caller: room.human(&format!("life-{number}")),
        dice: StdRng::seed_from_u64(seed),
        number,
        words: Vec::new(),
        chats: 0,
        last: None,
        operations: Vec::new(),
        story: Vec::new(),
        counts,
    };
    life.talk().await?;
    for step in 0..steps {
        let stepped = life.step().await;
        stepped.with_context(|| format!("step {step} of:\n{}", life.story.join("\n")))?;
        counts.add(|c| &c.steps);
        let looked = life.look().await;
        looked.with_context(|| format!("after step {step} of:\n{}", life.story.join("\n")))?;
    }
    Ok(())
}

impl Life<'_> {
    async fn step(&mut self) -> Result<()> {
        match self.dice.random_range(0..100) {
            0..30 => self.talk().await,
            30..36 => self.state().await,
            36..44 => self.night().await,
            44..58 => self.delete_source().await,
            58..64 => self.delete_fact().await,
            64..88 => self.undo_last().await,
            88..94 => self.undo_any().await,
            _ => self.erase_source().await,
        }
    }

    fn word(&mut self) -> String {
        const PARTS: [&str; 12] = [
            "zor", "quib", "lax", "mund", "pel", "vash", "trik", "gorm", "nuv", "dask", "wex",
            "hol",
        ];
        let mut part = || *PARTS.choose(&mut self.dice).unwrap_or(&"zor");
        let word = format!("{}{}{}", part(), part(), part());
        // One person's words are nobody else's, and each is said as one thing.
        let word = format!("{word}{}x{}", self.number, self.words.len());
        self.words.push(word.clone());
        word
    }

    fn sentence(&mut self) -> String {
        match self.dice.random_range(0..10) {
            0..2 => {
                let word = self.word();
                let (first, rest) = word.split_at(1);
                let name = format!("{}{rest}", first.to_uppercase());
                // Homes are written with a capital, and looked for as they are written.
                self.words.pop();
                self.words.push(name.clone());
                format!("I live in {name}.")
            }
            2..6 if !self.words.is_empty() => {
                let word = self.words.choose(&mut self.dice).cloned().unwrap_or_default();
                match word.chars().next() {
                    Some(first) if first.is_uppercase() => format!("I live in {word}."),
                    _ => format!("I keep a {word}."),
                }
            }
            6..7 => "What is the weather like?".to_owned(),
            _ => format!("I keep a {}.", self.word()),
        }
    }

    /// Says something in a chat, new or not, and has it learned from.
    async fn talk(&mut self) -> Result<()> {
        let again = self.chats > 0 && self.dice.random_bool(0.3);
        let session = match again {
            true => format!("c{}", self.dice.random_range(0..self.chats)),
            false => {
                self.chats += 1;
                format!("c{}", self.chats - 1)
            }
        };
        let mut turns = Vec::new();
        for _ in 0..self.dice.random_range(1..=3) {
            turns.push(NewTurn { marked: true, ..NewTurn::saying(Role::User, &self.sentence()) });
            turns.push(NewTurn::saying(Role::Assistant, "I see."));
        }
        let said: Vec<&str> = turns.iter().map(|turn| turn.content.as_str()).collect();
        self.story.push(format!("talk in {session}: {}", said.join(" ")));
        let request = self.room.request(&self.caller);
        match self.room.engine.append_turns(&request, &session, turns).await {
            // It is in the trash.
            Err(Error::SessionNotFound) => return Ok(()),
            other => other?,
        };
        let request = self.room.request(&self.caller);
        self.room.engine.close_session(&request, &session, None).await?;
        self.work().await?;
        self.counts.add(|c| &c.learned);
        self.last = None;
        Ok(())
    }

    /// Does what waits.
    async fn work(&self) -> Result<()> {
        loop {
            match self.room.engine.work("w", self.room.moment()).await? {
                Worked::Nothing => return Ok(()),
                Worked::Done(_) => {}
                other => ensure!(false, "a job did not end well: {other:?}"),
            }
        }
    }

    async fn hash(&self) -> Result<StateHash> {
        Ok(self.room.engine.whole(&self.caller, self.room.moment().now).await?.hash)
    }

    fn did(&mut self, outcome: &Outcome, before: StateHash, whole: bool) {
        if let Some(operation) = outcome.operation {
            self.operations.push(operation);
            self.last = Some(Done { operation, before, whole });
        }
    }

    async fn state(&mut self) -> Result<()> {
        let before = self.hash().await?;
        let content = format!("Owns a {}", self.word());
        let request = self.room.request(&self.caller);
        let saved = self.room.engine.save(&request, NewMemory::saying(&content)).await?;
        self.did(&saved, before, true);
        Ok(())
    }

    async fn night(&mut self) -> Result<()> {
        self.story.push("a night".into());
        let before = self.hash().await?;
        let request = self.room.request(&self.caller);
        let night = self.room.engine.consolidate(&request, false).await?;
        if let Some(operation) = night.operation {
            self.operations.push(operation);
            self.last = Some(Done { operation, before, whole: false });
        }
        Ok(())
    }

    async fn source(&mut self) -> Result<Option<Source>> {
        let now = self.room.moment().now;
        let (sessions, _) =
            self.room.engine.sessions(&self.caller, Which::default(), None, 200, now).await?;
        let Some(session) = sessions.choose(&mut self.dice) else { return Ok(None) };
        let id = session.id.clone();
        Ok(match self.dice.random_range(0..10) {
            0..2 => Some(Source::Session(id)),
            2..4 => {
                let (episodes, _) =
                    self.room.engine.episodes(&self.caller, None, None, 200, now).await?;
                episodes.choose(&mut self.dice).map(|episode| Source::Episode(episode.id))
            }
            _ => {
                let (turns, _) = self.room.engine.turns(&self.caller, &id, 0, 200, now).await?;
                let said: Vec<_> = turns.iter().filter(|turn| turn.role == Role::User).collect();
                said.choose(&mut self.dice).map(|turn| Source::Turn(turn.id))
            }
        })
    }

    /// Deletes a source. What was said to become of it is what becomes of it.
    async fn delete_source(&mut self) -> Result<()> {
        // What still waits from before is not this deletion's doing.
        self.work().await?;
        let Some(source) = self.source().await? else { return Ok(()) };
        let before = self.hash().await?;
        let now = self.room.moment().now;
        let shown = self.room.engine.dependents(&self.caller, &source, now).await?;
        let request = self.room.request(&self.caller);
        self.story.push(format!("delete {source:?}: {}", shown.reached));
        let gone = self.room.engine.withdraw(&request, &source).await?;
        ensure!(gone.reached.as_ref() == Some(&shown.reached), "it reached further than was shown");
        let there = looking::facts(self.room, &self.caller).await?;
        for (memory, fate) in &shown.memories {
            let stays = there.iter().any(|version| version.fact == memory.version.fact);
            let goes = *fate == lukasa_core::Fate::Withdrawn;
            let content = &memory.version.claim.content;
            ensure!(!(stays && goes), "it was to go and is there: {content}");
        }
        self.counts.add(|c| &c.deleted);
        self.did(&gone, before, true);
        if self.dice.random_bool(0.5) {
            // What happened is told again from what is left.
            self.work().await?;
        }
        Ok(())
    }

    async fn delete_fact(&mut self) -> Result<()> {
        let there = looking::facts(self.room, &self.caller).await?;
        let Some(version) = there.choose(&mut self.dice) else { return Ok(()) };
        let before = self.hash().await?;
        self.story.push(format!("let go of {}", version.claim.content));
        let (request, target) = (self.room.request(&self.caller), Target::Id(version.fact));
        let gone = match self.dice.random_bool(0.5) {
            true => self.room.engine.delete(&request, &target).await,
            false => self.room.engine.forget(&request, &target).await,
        };
        match gone {
            // A guess cannot be forgotten, only deleted.
            Err(Error::Refused(_)) => Ok(()),
            other => {
                self.did(&other?, before, true);
                Ok(())
            }
        }
    }

    /// Undoes what was done last: the state before is there again, to the last bit. And sometimes undoes
    /// the undo.
    async fn undo_last(&mut self) -> Result<()> {
        let Some(done) = self.last.take() else { return Ok(()) };
        self.story.push(format!("undo {}", done.operation));
        let after = self.hash().await?;
        let request = self.room.request(&self.caller);
        let undone = self.room.engine.undo(&request, done.operation).await?;
        self.counts.add(|c| &c.undone);
        let now = self.hash().await?;
        if done.whole {
            ensure!(
                now == done.before,
                "undone {}, and not the state before: {}",
                undone.message,
                differing(&done.before, &now)
            );
        } else {
            ensure!(now.memories == done.before.memories, "undone, and not the memories before");
        }
        let Some(undo) = undone.operation else { return Ok(()) };
        if self.dice.random_bool(0.3) {
            let request = self.room.request(&self.caller);
            self.room.engine.undo(&request, undo).await?;
            let now = self.hash().await?;
            let differs = differing(&after, &now);
            ensure!(now == after, "done again, and not the state after: {differs}");
        }
        Ok(())
    }

    /// Undoes something from long ago, if nothing is in the way.
    async fn undo_any(&mut self) -> Result<()> {
        let Some(operation) = self.operations.choose(&mut self.dice).copied() else {
            return Ok(());
        };
        self.story.push(format!("undo {operation} of old"));
        let before = self.hash().await?;
        let request = self.room.request(&self.caller);
        match self.room.engine.undo(&request, operation).await {
            Ok(_) => {
                self.counts.add(|c| &c.undone);
                self.last = None;
            }
            Err(
                Error::UndoBlocked(_)
                | Error::AlreadyUndone
                | Error::NotUndoable
                | Error::Refused(_),
            ) => {
                self.counts.add(|c| &c.refused);
                ensure!(self.hash().await? == before, "a refused undo changed something");
            }
            Err(other) => return Err(other.into()),
        }
        Ok(())
    }

    /// Erases a source. Afterwards no row holds a word that nothing supports.
    async fn erase_source(&mut self) -> Result<()> {
        let Some(source) = self.source().await? else { return Ok(()) };
        if matches!(source, Source::Episode(_)) {
            return Ok(());
        }
        let before = self.alive().await?;
        // It may be in a prompt somewhere.
        looking::nowhere(self.room, &self.caller, &self.gone().await?).await?;
        self.story.push(format!("erase {source:?}"));
        let request = self.room.request(&self.caller);
        self.room.engine.erase_source(&request, &source).await?;
        self.counts.add(|c| &c.erased);
        let after = self.alive().await?;
        let erased: Vec<String> = before.into_iter().filter(|word| !after.contains(word)).collect();
        // What is in the trash, or was forgotten, is still kept in whole, and can hold a word too; and
        // so can the history of what a person stated.
        let mut kept = looking::ever_said(self.room, &self.caller).await?;
        for status in [Status::Trashed, Status::Forgotten] {
            kept.push_str(&looking::with_status(self.room, &self.caller, status).await?);
        }
        let erased: Vec<String> =
            erased.into_iter().filter(|word| !kept.contains(word.as_str())).collect();
        if !erased.is_empty() {
            looking::in_no_row(self.room, &self.caller, &erased).await?;
        }
        self.last = None;
        Ok(())
    }

    async fn alive(&self) -> Result<Vec<String>> {
        let support = looking::support(self.room, &self.caller).await?;
        Ok(self.words.iter().filter(|word| support.contains(word.as_str())).cloned().collect())
    }

    async fn gone(&self) -> Result<Vec<String>> {
        let support = looking::support(self.room, &self.caller).await?;
        Ok(self.words.iter().filter(|word| !support.contains(word.as_str())).cloned().collect())
    }

    async fn look(&self) -> Result<()> {
        self.counts.add(|c| &c.looked);
        looking::nowhere(self.room, &self.caller, &self.gone().await?).await
    }
}

fn differing(one: &StateHash, other: &StateHash) -> String {
    let layers = [
        ("memories", one.memories != other.memories),
        ("episodes", one.episodes != other.episodes),
        ("sessions", one.sessions != other.sessions),
    ];
    let names: Vec<&str> =
        layers.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect();
    format!("other {}", names.join(", "))
}
