//! A data set goes into the server and its questions are asked, all through HTTP.

use std::collections::{HashMap, HashSet};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use hyper::Method;
use serde_json::{Value, json};

use super::client::{AT_ONCE, Client};
use super::keywords::FUSED_DEPTH;
use super::metrics::{DEPTH, Ranking};
use super::set::{Person, Question, Set, Unit};

/// What the server accepts at once, with room for what surrounds the words.
const TURNS_AT_ONCE: usize = 100;
const BYTES_AT_ONCE: usize = 200_000;
/// The longest message, line, body and question the server takes. Longer ones are cut.
const TURN_CHARS: usize = 100_000;
const CONTENT_CHARS: usize = 2_000;
const DETAIL_CHARS: usize = 20_000;
const QUERY_CHARS: usize = 20_000;
/// Sessions are counted by their turns, so more of these are asked for.
const SESSION_TURNS: usize = 200;

/// One way to ask: with these arms only, fused so.
#[derive(Debug, Clone, Default)]
pub struct Way {
    pub arms: Option<Vec<&'static str>>,
    pub fusion: Option<&'static str>,
}

impl Way {
    /// Whether nothing is left out: the server as it is.
    fn is_whole(&self) -> bool {
        self.arms.is_none() && self.fusion.is_none()
    }
}

/// Where the units of one person are in the server.
#[derive(Default)]
pub struct Places {
    turns: HashMap<String, usize>,
    /// A memory that says the same as an earlier one is the earlier one.
    memories: HashMap<String, usize>,
    /// For each memory the first that says the same.
    same: Vec<usize>,
    /// The id of each memory.
    pub ids: Vec<String>,
}

impl Places {
    pub fn memory(&self, id: &str) -> Option<usize> {
        self.memories.get(id).copied()
    }

    /// The answers of a question, as they are in the server.
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

/// Puts every person in, several at once; each one's sessions in their order.
pub async fn fill(client: &Client, set: &Set) -> Result<Vec<Places>> {
    let started = Instant::now();
    let turns: usize = set.people.iter().map(|person| person.turns.len()).sum();
    let memories: usize = set.people.iter().map(|person| person.memories.len()).sum();
    let people = set.people.len();
    eprintln!("{}: filling {people} users with {turns} turns, {memories} memories", set.name);
    let filling = set.people.iter().map(|person| fill_one(client, person));
    let places = stream::iter(filling).buffered(AT_ONCE).try_collect().await?;
    eprintln!("{}: filled in {:.0} s", set.name, started.elapsed().as_secs_f64());
    Ok(places)
}

fn session_name(session: usize) -> String {
    format!("session-{session:04}")
}

async fn fill_one(client: &Client, person: &Person) -> Result<Places> {
    client.open_domains(&person.name).await?;
    let mut places = Places::default();
    let mut batch: Vec<(usize, Value)> = Vec::new();
    let (mut session, mut bytes) = (0, 0);
    for (index, said) in person.turns.iter().enumerate() {
        // An empty message holds nothing to find, and the server wants none.
        if said.text.trim().is_empty() {
            continue;
        }
        let text = cut(&said.text, TURN_CHARS);
        let full = batch.len() == TURNS_AT_ONCE || bytes + text.len() > BYTES_AT_ONCE;
        if !batch.is_empty() && (full || said.session != session) {
            append(client, person, session, &mut batch, &mut places).await?;
            bytes = 0;
        }
        session = said.session;
        bytes += text.len() + 200;
        let role = if said.by_user { "user" } else { "assistant" };
        let mut turn = json!({ "role": role, "content": text, "at": said.at.to_string() });
        if let Some(speaker) = &said.speaker {
            turn["speaker"] = json!(speaker);
        }
        batch.push((index, turn));
    }
    if !batch.is_empty() {
        append(client, person, session, &mut batch, &mut places).await?;
    }
    for (index, kept) in person.memories.iter().enumerate() {
        let mut memory = json!({
            "content": cut(&kept.text, CONTENT_CHARS),
            "valid_from": kept.at.to_string(),
            "session_id": session_name(kept.session),
        });
        if cut(&kept.text, CONTENT_CHARS).len() < kept.text.len() {
            memory["detail"] = json!(cut(&kept.text, DETAIL_CHARS));
        }
        let id = match client.save(&person.name, memory).await {
            // A text with a secret in it is not stored, and so counts as one that is not found.
            Err(error) if error.to_string().contains("secret_rejected") => {
                println!("{}: memory {index} holds a secret and was rejected", person.name);
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
    person: &Person,
    session: usize,
    batch: &mut Vec<(usize, Value)>,
    places: &mut Places,
) -> Result<()> {
    let (indices, turns): (Vec<usize>, Vec<Value>) = batch.drain(..).unzip();
    let path = format!("/api/sessions/{}/turns", session_name(session));
    let body = Some(json!({ "turns": turns }));
    let answer = client.ask(&person.name, Method::POST, &path, body).await?;
    let ids = answer["turn_ids"].as_array().context("no turn_ids")?;
    ensure!(ids.len() == indices.len(), "{} ids for {} turns", ids.len(), indices.len());
    for (index, id) in indices.into_iter().zip(ids) {
        places.turns.insert(id.as_str().context("an id that is no text")?.to_owned(), index);
    }
    Ok(())
}

/// What the server said to a question.
pub struct Found {
    pub ranking: Ranking,
    /// How long the request took, in milliseconds.
    pub took: f64,
}

pub struct Asker<'a> {
    pub client: &'a Client,
    pub set: &'a Set,
    pub places: &'a [Places],
    /// Whether the server lets a question choose whose turns are candidates.
    pub roles: bool,
}

impl Asker<'_> {
    /// Asks every question in one way; the answers are in the order of the questions.
    pub async fn ask_all(&self, way: &Way) -> Result<Vec<Found>> {
        let people = self.set.people.iter().zip(self.places);
        let asking = people.flat_map(|(person, places)| {
            person.questions.iter().map(move |question| self.ask(person, places, question, way))
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
            // The server ranks sessions itself; a single arm of it does not, so its turns tell.
            Unit::Session if way.is_whole() => (0, 0),
            Unit::Session => (0, SESSION_TURNS),
        };
        let query = cut(&question.text, QUERY_CHARS);
        let mut request = json!({ "query": query, "limit": memories, "turns": turns });
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
        person: &Person,
        places: &Places,
        question: &Question,
        way: &Way,
    ) -> Result<Found> {
        let request = self.request(question, way);
        let started = Instant::now();
        let found = self.client.search(&person.name, &request).await?;
        let took = started.elapsed().as_secs_f64() * 1000.0;
        let mut ranking = Ranking::default();
        let mut seen = HashSet::new();
        for one in found["sessions"].as_array().into_iter().flatten() {
            let name = one["id"].as_str().context("a session without a name")?;
            let session = (0..person.sessions).find(|session| session_name(*session) == name);
            let session = session.with_context(|| format!("{name} was never put in"))?;
            let said = person.turns.iter().filter(|turn| turn.session == session && turn.by_user);
            ranking.units.push(session);
            ranking.chars.push(said.map(|turn| turn.text.chars().count()).sum());
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
                    let allowed = person.pool(question);
                    ensure!(index < allowed, "a memory of a later session: {id}");
                    index
                }
                _ if self.set.only_user && !person.turns[index].by_user => {
                    ensure!(!self.roles, "an assistant's turn, though only the user's were asked");
                    continue;
                }
                Unit::Turn => index,
                Unit::Session => person.turns[index].session,
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
