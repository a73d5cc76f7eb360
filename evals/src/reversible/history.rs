//! One history: a user who talks, is learned about, deletes, and undoes.

use anyhow::{Context as _, Result, ensure};
use lukasa_core::{Caller, NewTurn, OperationId, Role, StateHash, Status};
use lukasa_engine::Outcome;
use lukasa_engine::facts::{NewMemory, Target};
use lukasa_engine::removal::FactSource;
use lukasa_engine::sessions::SessionFilter;
use lukasa_engine::{Error, jobs::WorkOutcome};
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use rand::{Rng as _, SeedableRng as _};

use super::Counts;
use super::search;
use crate::learning::fixture::LearningFixture;

/// The last operation, and the state before it.
struct Done {
    operation: OperationId,
    before: StateHash,
    /// Whether all layers must be restored, or only memories: after an undone pass the session
    /// remains.
    whole: bool,
}

struct History<'r> {
    fixture: &'r LearningFixture,
    caller: Caller,
    dice: StdRng,
    number: u64,
    /// Every word ever used.
    words: Vec<String>,
    chats: usize,
    last: Option<Done>,
    operations: Vec<OperationId>,
    /// The steps so far, for the error message.
    step_log: Vec<String>,
    counts: &'r Counts,
}

pub async fn run_history(
    fixture: &LearningFixture,
    number: u64,
    seed: u64,
    steps: usize,
    counts: &Counts,
) -> Result<()> {
    let mut life = History {
        fixture,
        caller: fixture.human(&format!("life-{number}")),
        dice: StdRng::seed_from_u64(seed),
        number,
        words: Vec::new(),
        chats: 0,
        last: None,
        operations: Vec::new(),
        step_log: Vec::new(),
        counts,
    };
    life.talk().await?;
    for step in 0..steps {
        let stepped = life.step().await;
        stepped.with_context(|| format!("step {step} of:\n{}", life.step_log.join("\n")))?;
        counts.add(|c| &c.steps);
        let looked = life.look().await;
        looked.with_context(|| format!("after step {step} of:\n{}", life.step_log.join("\n")))?;
    }
    Ok(())
}

impl History<'_> {
    async fn step(&mut self) -> Result<()> {
        match self.dice.random_range(0..100) {
            0..30 => self.talk().await,
            30..36 => self.state().await,
            36..44 => self.consolidate_once().await,
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
        // One user's words are unique, and each is used for one thing.
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
                // Cities are written with a capital, and searched as written.
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

    /// Appends turns to a new or existing session, and learns from it.
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
        let user_texts: Vec<&str> = turns.iter().map(|turn| turn.content.as_str()).collect();
        self.step_log.push(format!("talk in {session}: {}", user_texts.join(" ")));
        let request = self.fixture.request(&self.caller);
        match self.fixture.engine.sessions.append_turns(&request, &session, turns).await {
            // It is in the trash.
            Err(Error::SessionNotFound) => return Ok(()),
            other => other?,
        };
        let request = self.fixture.request(&self.caller);
        self.fixture.engine.sessions.close(&request, &session, None).await?;
        self.work().await?;
        self.counts.add(|c| &c.learned);
        self.last = None;
        Ok(())
    }

    /// Runs the queued jobs.
    async fn work(&self) -> Result<()> {
        loop {
            match self.fixture.engine.jobs.work("w", self.fixture.moment()).await? {
                WorkOutcome::Nothing => return Ok(()),
                WorkOutcome::Done(_) => {}
                other => ensure!(false, "a job did not end well: {other:?}"),
            }
        }
    }

    async fn hash(&self) -> Result<StateHash> {
        Ok(self
            .fixture
            .engine
            .insights
            .summary(&self.caller, self.fixture.moment().now)
            .await?
            .hash)
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
        let request = self.fixture.request(&self.caller);
        let saved = self.fixture.engine.facts.save(&request, NewMemory::saying(&content)).await?;
        self.did(&saved, before, true);
        Ok(())
    }

    async fn consolidate_once(&mut self) -> Result<()> {
        self.step_log.push("consolidate".into());
        let before = self.hash().await?;
        let request = self.fixture.request(&self.caller);
        let outcome = self.fixture.engine.consolidation.consolidate(&request, false).await?;
        if let Some(operation) = outcome.operation {
            self.operations.push(operation);
            self.last = Some(Done { operation, before, whole: false });
        }
        Ok(())
    }

    async fn source(&mut self) -> Result<Option<FactSource>> {
        let now = self.fixture.moment().now;
        let (sessions, _) = self
            .fixture
            .engine
            .sessions
            .list(&self.caller, SessionFilter::default(), None, 200, now)
            .await?;
        let Some(session) = sessions.choose(&mut self.dice) else { return Ok(None) };
        let id = session.id.clone();
        Ok(match self.dice.random_range(0..10) {
            0..2 => Some(FactSource::Session(id)),
            2..4 => {
                let (episodes, _) = self
                    .fixture
                    .engine
                    .learning
                    .episodes(&self.caller, None, None, 200, now)
                    .await?;
                episodes.choose(&mut self.dice).map(|episode| FactSource::Episode(episode.id))
            }
            _ => {
                let (turns, _) =
                    self.fixture.engine.sessions.turns(&self.caller, &id, 0, 200, now).await?;
                let user_texts: Vec<_> =
                    turns.iter().filter(|turn| turn.role == Role::User).collect();
                user_texts.choose(&mut self.dice).map(|turn| FactSource::Turn(turn.id))
            }
        })
    }

    /// Deletes a source. Its dependents must match the preview.
    async fn delete_source(&mut self) -> Result<()> {
        // Jobs queued earlier are not part of this deletion.
        self.work().await?;
        let Some(source) = self.source().await? else { return Ok(()) };
        let before = self.hash().await?;
        let now = self.fixture.moment().now;
        let shown = self.fixture.engine.removals.dependents(&self.caller, &source, now).await?;
        let request = self.fixture.request(&self.caller);
        self.step_log.push(format!("delete {source:?}: {}", shown.reached));
        let gone = self.fixture.engine.removals.withdraw(&request, &source).await?;
        ensure!(
            gone.reached.as_ref() == Some(&shown.reached),
            "it affected more than the preview showed"
        );
        let there = search::facts(self.fixture, &self.caller).await?;
        for (memory, fate) in &shown.memories {
            let stays = there.iter().any(|version| version.fact == memory.version.fact);
            let goes = *fate == lukasa_core::Fate::Withdrawn;
            let content = &memory.version.claim.content;
            ensure!(!(stays && goes), "it was to be removed and is still there: {content}");
        }
        self.counts.add(|c| &c.deleted);
        self.did(&gone, before, true);
        if self.dice.random_bool(0.5) {
            // Episodes are rewritten from the remaining turns.
            self.work().await?;
        }
        Ok(())
    }

    async fn delete_fact(&mut self) -> Result<()> {
        let there = search::facts(self.fixture, &self.caller).await?;
        let Some(version) = there.choose(&mut self.dice) else { return Ok(()) };
        let before = self.hash().await?;
        self.step_log.push(format!("let go of {}", version.claim.content));
        let (request, target) = (self.fixture.request(&self.caller), Target::Id(version.fact));
        let gone = match self.dice.random_bool(0.5) {
            true => self.fixture.engine.removals.delete(&request, &target).await,
            false => self.fixture.engine.removals.forget(&request, &target).await,
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

    /// Undoes the last operation: the state before must be restored exactly. Sometimes undoes the
    /// undo.
    async fn undo_last(&mut self) -> Result<()> {
        let Some(done) = self.last.take() else { return Ok(()) };
        self.step_log.push(format!("undo {}", done.operation));
        let after = self.hash().await?;
        let request = self.fixture.request(&self.caller);
        let undone = self.fixture.engine.undo.undo(&request, done.operation).await?;
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
            let request = self.fixture.request(&self.caller);
            self.fixture.engine.undo.undo(&request, undo).await?;
            let now = self.hash().await?;
            let differs = differing(&after, &now);
            ensure!(now == after, "done again, and not the state after: {differs}");
        }
        Ok(())
    }

    /// Undoes an older operation, if nothing blocks it.
    async fn undo_any(&mut self) -> Result<()> {
        let Some(operation) = self.operations.choose(&mut self.dice).copied() else {
            return Ok(());
        };
        self.step_log.push(format!("undo {operation} of old"));
        let before = self.hash().await?;
        let request = self.fixture.request(&self.caller);
        match self.fixture.engine.undo.undo(&request, operation).await {
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

    /// Erases a source. Afterwards no row has a word without support.
    async fn erase_source(&mut self) -> Result<()> {
        let Some(source) = self.source().await? else { return Ok(()) };
        if matches!(source, FactSource::Episode(_)) {
            return Ok(());
        }
        let before = self.alive().await?;
        // It may be in a recorded context.
        search::assert_nowhere(self.fixture, &self.caller, &self.gone().await?).await?;
        self.step_log.push(format!("erase {source:?}"));
        let request = self.fixture.request(&self.caller);
        self.fixture.engine.removals.erase_source(&request, &source).await?;
        self.counts.add(|c| &c.erased);
        let after = self.alive().await?;
        let erased: Vec<String> = before.into_iter().filter(|word| !after.contains(word)).collect();
        // Trashed and forgotten memories are still stored in full, and can have a word too; and so
        // can the history of a user's statements.
        let mut stored_text = search::all_contents(self.fixture, &self.caller).await?;
        for status in [Status::Trashed, Status::Forgotten] {
            stored_text.push_str(&search::with_status(self.fixture, &self.caller, status).await?);
        }
        let erased: Vec<String> =
            erased.into_iter().filter(|word| !stored_text.contains(word.as_str())).collect();
        if !erased.is_empty() {
            search::assert_in_no_row(self.fixture, &self.caller, &erased).await?;
        }
        self.last = None;
        Ok(())
    }

    async fn alive(&self) -> Result<Vec<String>> {
        let support = search::support(self.fixture, &self.caller).await?;
        Ok(self.words.iter().filter(|word| support.contains(word.as_str())).cloned().collect())
    }

    async fn gone(&self) -> Result<Vec<String>> {
        let support = search::support(self.fixture, &self.caller).await?;
        Ok(self.words.iter().filter(|word| !support.contains(word.as_str())).cloned().collect())
    }

    async fn look(&self) -> Result<()> {
        self.counts.add(|c| &c.looked);
        search::assert_nowhere(self.fixture, &self.caller, &self.gone().await?).await
    }
}

fn differing(one: &StateHash, other: &StateHash) -> String {
    let layers = [
        ("memories", one.memories != other.memories),
        ("episodes", one.episodes != other.episodes),
        ("sessions", one.sessions != other.sessions),
        ("observations", one.observations != other.observations),
    ];
    let names: Vec<&str> =
        layers.into_iter().filter(|(_, differs)| *differs).map(|(name, _)| name).collect();
    format!("other {}", names.join(", "))
}
