//! Keeps what was said through the gateway, behind everybody's back: no client waits for it.
//!
//! Rounds of one chat are kept in the order in which they ended. While the database is away they
//! wait here, as many as there is room for and for as long as is worth it; nothing of them was
//! acknowledged to anybody, and they are gone if the server stops meanwhile.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use quipu_core::{Caller, Exchange};
use quipu_engine::{Engine, Error, Request};
use tokio::sync::{mpsc, watch};

use crate::clock;

/// How many chats are kept at a time. A chat is always kept by the same lane.
const LANES: usize = 8;
/// How many rounds may wait in one lane.
const ROOM: usize = 128;
/// For how long a round waits for the database.
const WAITS: Duration = Duration::from_secs(600);
/// The longest pause between two tries.
const PAUSE: Duration = Duration::from_secs(5);

/// One round of one chat, to be kept.
pub struct Round {
    pub caller: Caller,
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

/// Where rounds go to be kept.
#[derive(Clone)]
pub struct Captures {
    lanes: Vec<mpsc::Sender<(Round, Instant)>>,
    due: Arc<watch::Sender<usize>>,
}

impl Captures {
    pub fn start(engine: &Engine) -> Self {
        let lane = |_| {
            let (sender, rounds) = mpsc::channel(ROOM);
            tokio::spawn(keep_all(engine.clone(), rounds));
            sender
        };
        let lanes = (0..LANES).map(lane).collect();
        Self { lanes, due: Arc::new(watch::Sender::new(0)) }
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
        if self.lanes[lane].try_send((round, Instant::now())).is_err() {
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

async fn keep_all(engine: Engine, mut rounds: mpsc::Receiver<(Round, Instant)>) {
    while let Some((round, since)) = rounds.recv().await {
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
        drop(round.due);
    }
}

async fn keep(engine: &Engine, round: &Round) -> quipu_engine::Result<()> {
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
