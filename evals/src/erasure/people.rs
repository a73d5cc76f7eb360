//! The people of the eval: each has one word that stands in everything kept about them, wherever
//! Lukasa has a place for words. The words of those who will be erased begin alike, so that one search
//! finds them all.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use hyper::Method;
use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::door::{Ask, Door, Reply};

/// What the words of the erased begin with, and those of the others.
pub const GONE: &str = "qzgonecanary";
pub const STAYS: &str = "qzstaycanary";

const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug, Clone)]
pub struct Person {
    pub name: String,
    pub word: String,
    pub erased: bool,
    /// One memory of somebody who stays that is erased on its own, and the state without it.
    pub single: Option<(String, Value)>,
}

impl Person {
    pub fn new(number: usize, erased: bool) -> Self {
        let begins = if erased { GONE } else { STAYS };
        Self {
            name: format!("{begins}-u{number:03}"),
            word: format!("{begins}u{number:03}"),
            erased,
            single: None,
        }
    }

    pub fn user_id(&self) -> uuid::Uuid {
        let tenant = lukasa_core::TenantId::named("local");
        lukasa_core::UserId::named(tenant, &self.name).uuid()
    }
}

/// Asks until there is an answer, whoever is killed meanwhile.
pub async fn insist(
    door: &mut Door,
    user: &str,
    method: Method,
    path: &str,
    body: Option<Value>,
    key: &str,
) -> Result<(u16, Value)> {
    let ask =
        Ask { user: user.to_owned(), key: key.to_owned(), method, path: path.to_owned(), body };
    for _ in 0..1_200 {
        match door.send(&ask, true, PATIENCE).await {
            Reply::Answer { status: 503, .. } | Reply::NotSent | Reply::Lost => {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Reply::Answer { status, body } => return Ok((status, body)),
        }
    }
    bail!("{path} was not answered within a minute")
}

async fn must(
    door: &mut Door,
    p: &Person,
    method: Method,
    path: &str,
    body: Value,
) -> Result<Value> {
    // The key is the caller's own, and a careless caller puts words into it.
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let key = format!("{}-{}", p.word, NEXT.fetch_add(1, Ordering::Relaxed));
    let (status, said) = insist(door, &p.name, method, path, Some(body), &key).await?;
    if !(200..300).contains(&status) {
        bail!("{path} answered {status}: {said}");
    }
    Ok(said)
}

/// Gives a person memories, chats, and everything else that has a place for words.
pub async fn fill(door: &mut Door, database: &Client, person: &mut Person) -> Result<()> {
    let word = person.word.clone();
    let mut ids = Vec::new();
    for n in 0..3 {
        let content = format!("Keeps the {word} number {n} in a drawer near the {word}");
        let body = json!({ "content": content, "detail": format!("{word} and more"),
            "summary": format!("about {word}"), "tags": [word], "reasoning": format!("said {word}"),
            "evidence": [{ "type": "said", "content": format!("my {word}") }] });
        let plain = json!({ "content": content, "detail": format!("{word} and more") });
        let said = match must(door, person, Method::POST, "/api/memory", body).await {
            Ok(said) => said,
            Err(_) => must(door, person, Method::POST, "/api/memory", plain).await?,
        };
        ids.push(said["memory"]["id"].as_str().context("a memory without id")?.to_owned());
    }
    let path = format!("/api/memory/{}", ids[0]);
    let edit = json!({ "content": format!("Has moved the {word} to the attic") });
    must(door, person, Method::PATCH, &path, edit).await?;
    let link = json!({ "to": ids[1], "relation": "relates_to" });
    must(door, person, Method::POST, &format!("{path}/links"), link).await?;
    let session = format!("chat-{word}");
    let open = json!({ "id": session, "title": format!("The {word}") });
    must(door, person, Method::POST, "/api/sessions", open).await?;
    let turns = json!({ "turns": [
        { "role": "user", "content": format!("Where is my {word}? I need the {word} today.") },
        { "role": "assistant", "content": format!("The {word} is in the attic.") } ] });
    must(door, person, Method::POST, &format!("/api/sessions/{session}/turns"), turns).await?;
    let ask = json!({ "query": format!("What about the {word}?"), "session_id": session });
    must(door, person, Method::POST, "/api/memory/retrieve", ask).await?;
    behind(database, person, &session).await?;
    if !person.erased {
        return Ok(());
    }
    // Something in the trash is about them too.
    must(door, person, Method::DELETE, &format!("/api/memory/{}", ids[2]), json!({})).await?;
    Ok(())
}

/// What only models and workers would write, put in behind the store's back.
async fn behind(database: &Client, person: &Person, session: &str) -> Result<()> {
    let (user, word) = (person.user_id(), &person.word);
    let tenant = lukasa_core::TenantId::named("local").uuid();
    const EPISODE: &str = "insert into episode values ($1, $2, gen_random_uuid(), $3, 1, 2, $4, $4, \
        'user_turn', now(), now(), gen_random_uuid(), 'p', now())";
    let params: [&(dyn tokio_postgres::types::ToSql + Sync); 4] = [&user, &tenant, &session, word];
    database.execute(EPISODE, &params).await.context("episode")?;
    const PASS: &str = "insert into pass (user_id, tenant_id, pass_id, session_id, first_turn, \
        last_turn, prompt, model, offered, answer, state, answered_at) values \
        ($1, $2, gen_random_uuid(), $3, 1, 2, 'p', 'm', '{}', $4, 'answered', now())";
    database.execute(PASS, &params).await.context("pass")?;
    const JOB: &str = "insert into job (user_id, tenant_id, job_id, kind, key, state, queued_at, \
        run_at, last_error) values ($1, $2, gen_random_uuid(), 'title', $3, 'dead', now(), now(), $4)";
    database.execute(JOB, &params).await.context("job")?;
    const CALL: &str = "insert into model_call values ($1, $2, gen_random_uuid(), now(), 'title', \
        'm', 'answered', 1, 1, 1, 1)";
    database.execute(CALL, &[&user, &tenant]).await.context("model_call")?;
    let policy = json!({ "titles": true });
    const POLICY: &str = "insert into user_policy values ($1, $2, 99, $3, now(), 'local')";
    database.execute(POLICY, &[&user, &tenant, &policy]).await.context("user_policy")?;
    const USAGE: &str = "insert into usage (user_id, tenant_id, usage_id, fact_id, session_id, type, \
        influence, at) values ($1, $2, gen_random_uuid(), gen_random_uuid(), $3, 'cited', $4, now())";
    database.execute(USAGE, &params).await.context("usage")?;
    const VECTORS: &str = "insert into embedding select user_id, tenant_id, 'm', source_id, part, \
        revision, 3, content_hash, '[1,2,3]' from passage where user_id = $1";
    database.execute(VECTORS, &[&user]).await.context("embedding")?;
    Ok(())
}

pub async fn state(door: &mut Door, person: &Person) -> Result<Value> {
    let (status, state) =
        insist(door, &person.name, Method::GET, "/api/state", None, "state").await?;
    anyhow::ensure!(status == 200, "/api/state answered {status}: {state}");
    Ok(state)
}

/// Has somebody who stays say one thing more, which will be erased on its own.
pub async fn one_more(door: &mut Door, person: &mut Person) -> Result<()> {
    let before = state(door, person).await?;
    let content = format!("Once lost the {GONE}single of {}", person.name);
    let said =
        must(door, person, Method::POST, "/api/memory", json!({ "content": content })).await?;
    let id = said["memory"]["id"].as_str().context("a memory without id")?.to_owned();
    person.single = Some((id, before));
    Ok(())
}
