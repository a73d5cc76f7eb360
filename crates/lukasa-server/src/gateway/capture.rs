//! Keeps what was said through the gateway, behind everybody's back: no client waits for it.
//!
//! Rounds of one chat are kept in the order in which they ended. While the database is away they
//! wait here, as many as there is room for and for as long as is worth it; nothing of them was
//! acknowledged to anybody, and they are gone if the server stops meanwhile.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lukasa_core::{Caller, Exchange};
use lukasa_engine::{Engine, Error, Request};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch};

use crate::clock;

/// How many chats are kept at a time. A chat is always kept by the same lane.
const LANES: usize = 8;
/// How many bytes of what was said may wait.
const ROOM: usize = 64 << 20;
/// For how long a round waits for the database.
const WAITS: Duration = Duration::from_secs(600);
/// The longest pause between two tries.
const PAUSE: Duration = Duration::from_secs(5);

/// One round of one chat, to be kept.
pub struct Round {
    pub caller: Caller,
    /// The credential, if it has to be checked before anything is written.
    pub unverified: Option<String>,
    pub session: String,
    pub exchange: Exchange,
    /// Somebody who stops the server waits until this is gone.
    pub due: Due,
}

/// Something that is still to be kept.
pub struct Due(Arc<watch::Sender<usize>>);

impl Drop for Due {
    fn drop(&mut self) {
        self.0.send_modify(|due| *due = due.saturating_sub(1));
    }
}

impl Round {
    /// About how much room it takes.
    fn bytes(&self) -> u32 {
        let said = self.exchange.said.iter().chain(&self.exchange.answer);
        let said: usize = said.map(|turn| turn.content.len()).sum();
        u32::try_from(said + 1_000).unwrap_or(u32::MAX)
    }
}

/// A round that waits, since when, and the room it takes.
type Waiting = (Round, Instant, OwnedSemaphorePermit);

/// Where rounds go to be kept.
#[derive(Clone)]
pub struct Captures {
    lanes: Vec<mpsc::UnboundedSender<Waiting>>,
    room: Arc<Semaphore>,
    due: Arc<watch::Sender<usize>>,
}

impl Captures {
    pub fn start(engine: &Engine) -> Self {
        let lane = |_| {
            let (sender, rounds) = mpsc::unbounded_channel();
            tokio::spawn(keep_all(engine.clone(), rounds));
            sender
        };
        let lanes = (0..LANES).map(lane).collect();
        let room = Arc::new(Semaphore::new(ROOM));
        Self { lanes, room, due: Arc::new(watch::Sender::new(0)) }
    }

    /// Says that a round will be kept once it is over.
    pub fn expect(&self) -> Due {
        self.due.send_modify(|due| *due += 1);
        Due(Arc::clone(&self.due))
    }

    /// Takes a round to be kept. If too many wait already, it is let go.
    pub fn take(&self, round: Round) {
        let mut hash = DefaultHasher::new();
        (round.caller.user.uuid(), &round.session).hash(&mut hash);
        let lane = usize::try_from(hash.finish() % LANES as u64).unwrap_or(0);
        let room = Arc::clone(&self.room).try_acquire_many_owned(round.bytes());
        let sent = |room| self.lanes[lane].send((round, Instant::now(), room)).is_ok();
        if !room.is_ok_and(sent) {
            tracing::error!("too many rounds wait to be kept: one is lost");
        }
    }

    /// Returns once everything that is due has been kept, or when the time is over.
    pub async fn drain(&self, within: Duration) {
        let mut due = self.due.subscribe();
        if tokio::time::timeout(within, due.wait_for(|due| *due == 0)).await.is_err() {
            tracing::error!(lost = *self.due.borrow(), "rounds were not kept before the stop");
        }
    }
}

async fn keep_all(engine: Engine, mut rounds: mpsc::UnboundedReceiver<Waiting>) {
    while let Some((round, since, room)) = rounds.recv().await {
        let mut pause = Duration::from_millis(100);
        while let Err(error) = keep(&engine, &round).await {
            let away = matches!(error, Error::Unavailable(_) | Error::Internal(_));
            if !away || since.elapsed() > WAITS {
                tracing::error!(%error, "a round of a chat was not kept");
                break;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE);
        }
        drop((round.due, room));
    }
}

async fn keep(engine: &Engine, round: &Round) -> lukasa_engine::Result<()> {
    if let Some(credential) = &round.unverified {
        engine.authenticate(credential, clock::now()).await?;
    }
    // A try whose commit was not heard of may have been done: what the chat then holds already is
    // not news, and is not kept again.
    let request = Request::new(round.caller.clone(), clock::moment());
    let kept = engine.append_exchange(&request, &round.session, round.exchange.clone()).await;
    let Err(Error::MemoryNotFound) = kept else { return kept.map(|_| ()) };
    // A memory that the answer cites has been erased since. The answer was given all the same.
    let mut exchange = round.exchange.clone();
    exchange.answer.iter_mut().for_each(|answer| answer.used.clear());
    engine.append_exchange(&request, &round.session, exchange).await.map(|_| ())
}
