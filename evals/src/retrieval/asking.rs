//! Loads a data set into the server and asks its questions, all through HTTP.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use hyper::Method;
use serde_json::{Value, json};

use super::client::{AT_ONCE, Client};
use super::keywords::FUSED_DEPTH;
use super::metrics::{DEPTH, Ranking};
use super::set::{DataUser, Question, Set, Unit};

/// Batch limits of the server, with some space for the rest of the request.
const TURNS_AT_ONCE: usize = 100;
const BYTES_AT_ONCE: usize = 200_000;
/// Maximum length of a message, content, detail and query. Longer ones are cut.
const TURN_CHARS: usize = 100_000;
const CONTENT_CHARS: usize = 2_000;
const DETAIL_CHARS: usize = 20_000;
const QUERY_CHARS: usize = 20_000;
/// Sessions are derived from their turns, so more of these are requested.
const SESSION_TURNS: usize = 200;

/// One way to search: with these arms only, this fusion, and the server's reranker.
#[derive(Debug, Clone, Default)]
pub struct Way {
    pub arms: Option<Vec<&'static str>>,
    pub fusion: Option<&'static str>,
    pub rerank: bool,
}

impl Way {
    /// Whether it is the server's default search.
    fn is_whole(&self) -> bool {
        self.arms.is_none() && self.fusion.is_none()
    }
}

/// Ids of one user's units in the server.
#[derive(Default)]
pub struct Places {
    turns: HashMap<String, usize>,
    /// A memory with the content of an earlier one is the earlier one.
    memories: HashMap<String, usize>,
    /// For each memory the first one with the same content.
    same: Vec<usize>,
    /// The id of each memory.
    pub ids: Vec<String>,
}

impl Places {
    pub fn memory(&self, id: &str) -> Option<usize> {
        self.memories.get(id).copied()
    }

    /// The answers of a question, as indices in the server.
    pub fn gold(&self, question: &Question, unit: Unit) -> Vec<usize> {
        match unit {
            Unit::Memory => question.gold.iter().map(|gold| self.same[*gold]).collect(),
            _ => question.gold.clone(),
        }
    }
}

fn cut(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).map_or(text, |(end, _)| &text[..end])
}

/// Loads every user, several at once; the sessions of each in their order.
pub async fn fill(client: &Client, set: &Set) -> Result<Vec<Places>> {
    let started = Instant::now();
    let turns: usize = set.users.iter().map(|data_user| data_user.turns.len()).sum();
    let memories: usize = set.users.iter().map(|data_user| data_user.memories.len()).sum();
    let users = set.users.len();
    eprintln!("{}: filling {users} users with {turns} turns, {memories} memories", set.name);
    let filling = set.users.iter().map(|data_user| fill_one(client, data_user));
    let places = stream::iter(filling).buffered(AT_ONCE).try_collect().await?;
    eprintln!("{}: filled in {:.0} s", set.name, started.elapsed().as_secs_f64());
    Ok(places)
}

fn session_name(session: usize) -> String {
    format!("session-{session:04}")
}

async fn fill_one(client: &Client, data_user: &DataUser) -> Result<Places> {
    client.open_domains(&data_user.name).await?;
    let mut places = Places::default();
    let mut batch: Vec<(usize, Value)> = Vec::new();
    let (mut session, mut bytes) = (0, 0);
    for (index, data_turn) in data_user.turns.iter().enumerate() {
        // An empty message has nothing to find, and the server refuses it.
        if data_turn.text.trim().is_empty() {
            continue;
        }
        let text = cut(&data_turn.text, TURN_CHARS);
        let full = batch.len() == TURNS_AT_ONCE || bytes + text.len() > BYTES_AT_ONCE;
        if !batch.is_empty() && (full || data_turn.session != session) {
            append(client, data_user, session, &mut batch, &mut places).await?;
            bytes = 0;
        }
        session = data_turn.session;
        bytes += text.len() + 200;
        let role = if data_turn.by_user { "user" } else { "assistant" };
        let mut turn = json!({ "role": role, "content": text, "at": data_turn.at.to_string() });
        if let Some(speaker) = &data_turn.speaker {
            turn["speaker"] = json!(speaker);
        }
        batch.push((index, turn));
    }
    if !batch.is_empty() {
        append(client, data_user, session, &mut batch, &mut places).await?;
    }
    for (index, data_memory) in data_user.memories.iter().enumerate() {
        let mut memory = json!({
            "content": cut(&data_memory.text, CONTENT_CHARS),
            "valid_from": data_memory.at.to_string(),
            "session_id": session_name(data_memory.session),
        });
        if cut(&data_memory.text, CONTENT_CHARS).len() < data_memory.text.len() {
            memory["detail"] = json!(cut(&data_memory.text, DETAIL_CHARS));
        }
        let id = match client.save(&data_user.name, memory).await {
            // A text with a secret in it is not stored, and so counts as not found.
            Err(error) if error.to_string().contains("secret_rejected") => {
                println!("{}: memory {index} holds a secret and was rejected", data_user.name);
                format!("rejected-{index}")
            }
            saved => saved?,
        };
        let first = *places.memories.entry(id.clone()).or_insert(index);
        places.same.push(first);
        places.ids.push(id);
    }
    Ok(places)
}

async fn append(
    client: &Client,
    data_user: &DataUser,
    session: usize,
    batch: &mut Vec<(usize, Value)>,
    places: &mut Places,
) -> Result<()> {
    let (indices, turns): (Vec<usize>, Vec<Value>) = batch.drain(..).unzip();
    let path = format!("/api/sessions/{}/turns", session_name(session));
    let body = Some(json!({ "turns": turns }));
    let answer = client.ask(&data_user.name, Method::POST, &path, body).await?;
    let ids = answer["turn_ids"].as_array().context("no turn_ids")?;
    ensure!(ids.len() == indices.len(), "{} ids for {} turns", ids.len(), indices.len());
    for (index, id) in indices.into_iter().zip(ids) {
        places.turns.insert(id.as_str().context("an id that is not text")?.to_owned(), index);
    }
    Ok(())
}

/// The server's answer to a question.
pub struct Found {
    pub ranking: Ranking,
    /// Latency of the request in milliseconds.
    pub took: f64,
}

pub struct Asker<'a> {
    pub client: &'a Client,
    pub set: &'a Set,
    pub places: &'a [Places],
    /// Whether the server supports the field `roles`.
    pub roles: bool,
}

impl Asker<'_> {
    /// Asks every question in one way; the answers are in the order of the questions.
    pub async fn ask_all(&self, way: &Way) -> Result<Vec<Found>> {
        let users = self.set.users.iter().zip(self.places);
        let asking = users.flat_map(|(data_user, places)| {
            data_user
                .questions
                .iter()
                .map(move |question| self.ask(data_user, places, question, way))
        });
        stream::iter(asking).buffered(AT_ONCE).try_collect().await
    }

    fn request(&self, question: &Question, way: &Way) -> Value {
        // A ranking that is fused with another is read deeper than one that is only scored.
        let depth = if way.arms.is_some() { FUSED_DEPTH } else { DEPTH };
        let filtered_here = self.set.only_user && !self.roles;
        let (memories, turns) = match self.set.unit {
            Unit::Memory => (depth, 0),
            Unit::Turn if filtered_here => (0, SESSION_TURNS),
            Unit::Turn => (0, depth),
            // The server ranks sessions itself; a single arm does not, so its turns are used.
            Unit::Session if way.is_whole() => (0, 0),
            Unit::Session => (0, SESSION_TURNS),
        };
        let query = cut(&question.text, QUERY_CHARS);
        let mut request = json!({
            "query": query, "limit": memories, "turns": turns, "rerank": way.rerank,
        });
        if turns > 0 {
            // The whole ranking of turns is measured, without the floor of a search.
            request["min_relevance"] = json!(0.0);
        }
        if self.set.unit == Unit::Session && way.is_whole() {
            request["sessions"] = json!(depth);
        }
        if self.set.only_user && self.roles {
            request["roles"] = json!(["user"]);
        }
        if let Some((_, at)) = question.before {
            request["as_of"] = json!(at.to_string());
        }
        if let Some(arms) = &way.arms {
            request["arms"] = json!(arms);
        }
        if let Some(fusion) = way.fusion {
            request["fusion"] = json!(fusion);
        }
        request
    }

    async fn ask(
        &self,
        data_user: &DataUser,
        places: &Places,
        question: &Question,
        way: &Way,
    ) -> Result<Found> {
        let request = self.request(question, way);
        let started = Instant::now();
        let found = self.client.search(&data_user.name, &request).await?;
        let took = started.elapsed().as_secs_f64() * 1000.0;
        let mut ranking = Ranking::default();
        let mut seen = HashSet::new();
        for one in found["sessions"].as_array().into_iter().flatten() {
            let name = one["id"].as_str().context("a session without a name")?;
            let session = (0..data_user.sessions).find(|session| session_name(*session) == name);
            let session = session.with_context(|| format!("{name} was never put in"))?;
            let data_turn =
                data_user.turns.iter().filter(|turn| turn.session == session && turn.by_user);
            ranking.units.push(session);
            ranking.chars.push(data_turn.map(|turn| turn.text.chars().count()).sum());
        }
        let memories = found["memories"].as_array().into_iter().flatten();
        let memories = memories.map(|one| (&one["memory"], true));
        let turns = found["turns"].as_array().into_iter().flatten();
        let turns = turns.map(|one| (&one["turn"], false));
        for (one, is_memory) in memories.chain(turns) {
            let id = one["id"].as_str().context("a result without an id")?;
            let index = if is_memory { places.memory(id) } else { places.turns.get(id).copied() };
            let index = index.with_context(|| format!("{id} was never put in"))?;
            let unit = match self.set.unit {
                Unit::Memory => {
                    let allowed = data_user.pool(question);
                    ensure!(index < allowed, "a memory of a later session: {id}");
                    index
                }
                _ if self.set.only_user && !data_user.turns[index].by_user => {
                    ensure!(!self.roles, "an assistant's turn, though only the user's were asked");
                    continue;
                }
                Unit::Turn => index,
                Unit::Session => data_user.turns[index].session,
            };
            if seen.insert(unit) {
                ranking.units.push(unit);
                let text = one["content"].as_str().unwrap_or_default();
                ranking.chars.push(text.chars().count());
            }
        }
        Ok(Found { ranking, took })
    }
}
