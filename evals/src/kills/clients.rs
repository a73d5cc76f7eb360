//! Clients that write all the time, retry until they are answered, and record the answers.
//!
//! Each has a user of its own, whose memories it can therefore predict. The first two share one, so
//! that their writes collide. A user is abandoned after some hundred requests, which keeps each
//! history short enough to be checked whole.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hyper::Method;
use lukasa_core::{FactId, OperationId};
use rand::rngs::StdRng;
use rand::{Rng as _, SeedableRng as _};
use serde_json::{Value, json};
use tokio::sync::RwLock;

use super::clock::Clock;
use super::expectation::Plan;
use super::journal::{Ack, Fate, Journal, Verb, Wrong, count, read};
use crate::http_connection::{Ask, HttpConnection, Reply};

/// Number of clients that share one user.
const SHARING: usize = 2;
/// Number of requests per user.
const PER_USER: usize = 300;
/// Timeout of one attempt, and of all attempts of a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
const RETRY_TIMEOUT: Duration = Duration::from_secs(120);
/// Number of acknowledged requests a client stores for sending again.
const REMEMBERED: usize = 64;

/// State shared by all clients.
pub struct World {
    pub address: SocketAddr,
    pub seed: u64,
    pub journal: Journal,
    /// Held for reading during every request; while it is held for writing no request is open.
    pub gate: RwLock<()>,
    pub stop: AtomicBool,
    /// The planted fault that sends repeated requests without their key.
    pub repeats_lose_key: bool,
    clock: Clock,
    shared_user: Mutex<SharedUser>,
}

/// The user shared by the first clients, and what they have saved there.
#[derive(Default)]
struct SharedUser {
    user: usize,
    name: String,
    requests: usize,
    generation: usize,
    facts: Vec<FactId>,
}

impl World {
    pub fn new(address: SocketAddr, seed: u64, repeats_lose_key: bool, clock: Clock) -> Self {
        Self {
            address,
            seed,
            journal: Journal::default(),
            gate: RwLock::new(()),
            stop: AtomicBool::new(false),
            repeats_lose_key,
            clock,
            shared_user: Mutex::default(),
        }
    }

    fn shared_user<T>(&self, with: impl FnOnce(&mut SharedUser) -> T) -> T {
        with(&mut self.shared_user.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The outcome of a request.
enum RequestOutcome {
    Answered {
        status: u16,
        body: Value,
        /// Whether an earlier attempt was sent and not answered.
        in_doubt: bool,
    },
    Abandoned,
}

pub struct Client {
    world: Arc<World>,
    number: usize,
    rng: StdRng,
    http: HttpConnection,
    issued: u64,
    /// The user of this client alone, and that user's number of requests.
    own: Option<(usize, String, usize)>,
    users: usize,
    /// The shared user's generation, and this client's operations there.
    met: (usize, Vec<OperationId>),
    acknowledged: VecDeque<(Ask, Value)>,
}

impl Client {
    pub fn new(world: Arc<World>, number: usize) -> Self {
        let seed = world.seed.wrapping_mul(1_000_003).wrapping_add(number as u64);
        Self {
            http: HttpConnection::to(world.address),
            rng: StdRng::seed_from_u64(seed),
            world,
            number,
            issued: 0,
            own: None,
            users: 0,
            met: (0, Vec::new()),
            acknowledged: VecDeque::new(),
        }
    }

    pub async fn run(mut self) {
        let world = Arc::clone(&self.world);
        while !world.stop.load(Ordering::Relaxed) {
            {
                let _open = world.gate.read().await;
                if self.rng.random_bool(0.06) {
                    self.send_again().await;
                } else if self.number < SHARING {
                    self.write_to_shared().await;
                } else {
                    self.write_to_own().await;
                }
            }
            let pause = self.rng.random_range(0..12);
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
    }

    fn key(&mut self) -> String {
        self.issued += 1;
        format!("{}-{}-{}", self.world.seed, self.number, self.issued)
    }

    /// Content that occurs in no other request.
    fn words(&self) -> String {
        format!("Note {} of client {}, run {}", self.issued, self.number, self.world.seed)
    }

    // ---------------------------------------------------------------- private user

    async fn write_to_own(&mut self) {
        let (user, name) = self.own_user();
        let key = self.key();
        let fresh = self.words();
        let (plan, target) = {
            let mut users = self.world.journal.users();
            let Some(expectation) = &mut users[user].expectation else { return };
            let plan = expectation.plan(&mut self.rng, || fresh);
            let target = expectation.target(&plan);
            (plan, target)
        };
        let (fact, operation) = target.unzip();
        let ask = ask(name, key, plan.verb, fact, operation, plan.content.as_deref());
        let journal = &self.world.journal;
        let entry = journal.issue(user, &ask.key, plan.verb, plan.content.clone());
        match self.send_until_answered(&ask).await {
            RequestOutcome::Answered { status, body, .. } => {
                self.answered((user, entry), ask, plan, status, body);
            }
            RequestOutcome::Abandoned => {
                let journal = &self.world.journal;
                journal.settle(user, entry, Fate::Abandoned);
                if let Some(expectation) = &mut journal.users()[user].expectation {
                    expectation.abandoned(plan);
                }
                // Only the last request of a user may be in doubt, so this was the last.
                self.own = None;
            }
        }
    }

    fn answered(
        &mut self,
        (user, entry): (usize, usize),
        ask: Ask,
        plan: Plan,
        status: u16,
        body: Value,
    ) {
        let journal = &self.world.journal;
        let ack = (200..300).contains(&status).then(|| Ack::read(&body)).flatten();
        let Some(ack) = ack else {
            journal.settle(user, entry, Fate::Refused { in_doubt: false });
            journal.seen().add(Wrong::Refused, || {
                format!("{:?} {} of {}: {status} {}", plan.verb, ask.path, ask.user, body["code"])
            });
            self.own = None;
            return;
        };
        let kills = read(&journal.tally.kills);
        journal.settle(user, entry, Fate::Acknowledged { ack: ack.clone(), kills });
        let applied = match &mut journal.users()[user].expectation {
            Some(expectation) => expectation.acknowledged(plan, &ack),
            None => Ok(()),
        };
        if let Err(words) = applied {
            journal.seen().add(Wrong::OtherAnswer, || format!("key {}: {words}", ask.key));
            self.own = None;
        }
        self.remember(ask, body);
    }

    fn own_user(&mut self) -> (usize, String) {
        if let Some((user, name, requests)) = &mut self.own
            && *requests < PER_USER
        {
            *requests += 1;
            return (*user, name.clone());
        }
        self.users += 1;
        let name = format!("client-{}-{}", self.number, self.users);
        let user = self.world.journal.add_user(name.clone(), true);
        self.own = Some((user, name.clone(), 1));
        (user, name)
    }

    // ---------------------------------------------------------------- shared user

    async fn write_to_shared(&mut self) {
        let world = Arc::clone(&self.world);
        let (user, name, generation) = world.shared_user(|shared_user| {
            if shared_user.requests.is_multiple_of(PER_USER) {
                shared_user.generation += 1;
                shared_user.name = format!("shared-{}", shared_user.generation);
                shared_user.user = world.journal.add_user(shared_user.name.clone(), false);
                shared_user.facts.clear();
            }
            shared_user.requests += 1;
            (shared_user.user, shared_user.name.clone(), shared_user.generation)
        });
        if self.met.0 != generation {
            self.met = (generation, Vec::new());
        }
        let key = self.key();
        // Few memories, so that both clients often use the same one.
        let fact = world.shared_user(|shared_user| {
            let recent = shared_user.facts.len().min(3);
            let save = recent == 0 || self.rng.random_bool(0.1);
            (!save).then(|| {
                shared_user.facts[shared_user.facts.len() - 1 - self.rng.random_range(0..recent)]
            })
        });
        let operation = self.met.1.last().copied();
        let verb = match (fact, self.rng.random_range(0..100)) {
            (None, _) => Verb::Save,
            (_, 0..45) => Verb::Change,
            (_, 45..60) => Verb::Correct,
            (_, 60..68) => Verb::Forget,
            (_, 68..73) => Verb::Delete,
            (_, 73..90) => Verb::Restore,
            _ if operation.is_some() => Verb::Undo,
            _ => Verb::Change,
        };
        let content = matches!(verb, Verb::Save | Verb::Change | Verb::Correct);
        let content = content.then(|| self.words());
        let ask = ask(name, key, verb, fact, operation, content.as_deref());
        let entry = world.journal.issue(user, &ask.key, verb, content);
        let (status, body, in_doubt) = match self.send_until_answered(&ask).await {
            RequestOutcome::Answered { status, body, in_doubt } => (status, body, in_doubt),
            RequestOutcome::Abandoned => return world.journal.settle(user, entry, Fate::Abandoned),
        };
        let ack = (200..300).contains(&status).then(|| Ack::read(&body)).flatten();
        let Some(ack) = ack else {
            // The other client was first; it reports the result.
            return world.journal.settle(user, entry, Fate::Refused { in_doubt });
        };
        self.met.1.extend(ack.operation);
        if let (Verb::Save, Some(shown)) = (verb, &ack.memory) {
            world.shared_user(|shared_user| {
                if shared_user.generation == generation {
                    shared_user.facts.push(shown.fact);
                }
            });
        }
        let kills = read(&world.journal.tally.kills);
        world.journal.settle(user, entry, Fate::Acknowledged { ack, kills });
        self.remember(ask, body);
    }

    // ---------------------------------------------------------------- sending

    /// Sends a request until it has a final answer, or gives up in doubt.
    async fn send_until_answered(&mut self, ask: &Ask) -> RequestOutcome {
        let world = Arc::clone(&self.world);
        let tally = &world.journal.tally;
        let started = Instant::now();
        let mut sent = false;
        loop {
            // Now and then a client disconnects at once while its write is in progress.
            let hasty = self.rng.random_bool(0.02);
            let timeout = if hasty {
                Duration::from_millis(self.rng.random_range(1..15))
            } else {
                REQUEST_TIMEOUT
            };
            let keyed = !(sent && world.repeats_lose_key);
            let sending = Instant::now();
            let reply = self.http.send(ask, keyed, timeout).await;
            let reached = !matches!(reply, Reply::NotSent);
            match reply {
                Reply::Answer { status, body } if status < 500 => {
                    let made = Ack::read(&body).and_then(|ack| ack.operation.filter(|_| sent));
                    if made.is_some_and(|operation| world.clock.made_before(operation, sending)) {
                        count(&tally.spared);
                    }
                    return RequestOutcome::Answered { status, body, in_doubt: sent };
                }
                Reply::Answer { status: 503, .. } => count(&tally.unavailable),
                Reply::Answer { .. } => count(&tally.internal),
                Reply::Lost | Reply::NotSent => {}
            }
            if reached {
                sent = true;
                count(&tally.unknown);
                if self.rng.random_bool(0.01) {
                    return RequestOutcome::Abandoned;
                }
            }
            if started.elapsed() > RETRY_TIMEOUT {
                world.journal.seen().add(Wrong::Stuck, || format!("key {}", ask.key));
                return RequestOutcome::Abandoned;
            }
            count(&tally.retries);
            let pause = self.rng.random_range(10..60);
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
    }

    fn remember(&mut self, ask: Ask, body: Value) {
        if self.acknowledged.len() == REMEMBERED {
            // At random, so that some are sent again many kills later.
            let one = self.rng.random_range(0..REMEMBERED);
            self.acknowledged.swap_remove_back(one);
        }
        self.acknowledged.push_back((ask, body));
    }

    /// Sends an acknowledged request once more; the answer must be the same to the byte.
    async fn send_again(&mut self) {
        if self.acknowledged.is_empty() {
            return;
        }
        let one = self.rng.random_range(0..self.acknowledged.len());
        let (ask, first) = self.acknowledged[one].clone();
        let world = Arc::clone(&self.world);
        let started = Instant::now();
        while started.elapsed() < RETRY_TIMEOUT {
            let reply = self.http.send(&ask, !world.repeats_lose_key, REQUEST_TIMEOUT).await;
            match reply {
                Reply::Answer { status, body } if status < 500 => {
                    count(&world.journal.tally.resent);
                    if !(200..300).contains(&status) || body != first {
                        world.journal.seen().add(Wrong::OtherAnswer, || {
                            let event_of = |body: &Value| {
                                let event = body.get("event").or_else(|| body.get("code"));
                                event.map(ToString::to_string).unwrap_or_default()
                            };
                            let (was, is) = (event_of(&first), event_of(&body));
                            format!("key {}: first {was}, sent again {status} {is}", ask.key)
                        });
                    }
                    return;
                }
                _ => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
        world.journal.seen().add(Wrong::Stuck, || format!("key {} sent again", ask.key));
    }
}

/// The request for a verb on a memory, or on an operation.
fn ask(
    user: String,
    key: String,
    verb: Verb,
    fact: Option<FactId>,
    operation: Option<OperationId>,
    content: Option<&str>,
) -> Ask {
    let memory = fact.map(|fact| format!("/api/memory/{fact}")).unwrap_or_default();
    let operation = operation.map(|id| format!("/api/operations/{id}")).unwrap_or_default();
    let (method, path, body) = match verb {
        Verb::Save => (Method::POST, "/api/memory".into(), Some(json!({ "content": content }))),
        Verb::Change => (Method::PATCH, memory, Some(json!({ "content": content }))),
        Verb::Correct => {
            (Method::PATCH, memory, Some(json!({ "content": content, "mode": "correction" })))
        }
        Verb::Forget => (Method::POST, format!("{memory}/forget"), None),
        Verb::Delete => (Method::DELETE, memory, None),
        Verb::Restore => (Method::POST, format!("{memory}/restore"), None),
        Verb::Undo => (Method::POST, format!("{operation}/undo"), None),
    };
    Ask { user, key, method, path, body }
}
