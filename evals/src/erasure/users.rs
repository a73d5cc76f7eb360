//! The users of the eval: each has one canary in every text field that Lukasa stores about them.
//! The canaries of users to be erased share a prefix, so that one search finds them all.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use hyper::Method;
use serde_json::{Value, json};
use tokio_postgres::Client;

use crate::http_connection::{Ask, HttpConnection, Reply};

/// Prefix of the canaries of erased users, and of the others.
pub const GONE: &str = "qzgonecanary";
pub const STAYS: &str = "qzstaycanary";

const REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

#[derive(Debug, Clone)]
pub struct TestUser {
    pub name: String,
    pub word: String,
    pub erased: bool,
    /// One memory of a remaining user that is erased on its own, and the state without it.
    pub single: Option<(String, Value)>,
}

impl TestUser {
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

/// Repeats a request until it is answered, whatever is killed meanwhile.
pub async fn send_until_answered(
    http: &mut HttpConnection,
    user: &str,
    method: Method,
    path: &str,
    body: Option<Value>,
    key: &str,
) -> Result<(u16, Value)> {
    let ask =
        Ask { user: user.to_owned(), key: key.to_owned(), method, path: path.to_owned(), body };
    for _ in 0..1_200 {
        match http.send(&ask, true, REQUEST_TIMEOUT).await {
            Reply::Answer { status: 503, .. } | Reply::NotSent | Reply::Lost => {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            Reply::Answer { status, body } => return Ok((status, body)),
        }
    }
    bail!("{path} was not answered within a minute")
}

async fn send_ok(
    http: &mut HttpConnection,
    p: &TestUser,
    method: Method,
    path: &str,
    body: Value,
) -> Result<Value> {
    // The key is chosen by the caller, and a careless caller puts content into it.
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let key = format!("{}-{}", p.word, NEXT.fetch_add(1, Ordering::Relaxed));
    let (status, reply) =
        send_until_answered(http, &p.name, method, path, Some(body), &key).await?;
    if !(200..300).contains(&status) {
        bail!("{path} answered {status}: {reply}");
    }
    Ok(reply)
}

/// Gives a user memories, sessions, and every other row with a text field.
pub async fn fill(
    http: &mut HttpConnection,
    database: &Client,
    test_user: &mut TestUser,
) -> Result<()> {
    let word = test_user.word.clone();
    let mut ids = Vec::new();
    for n in 0..3 {
        let content = format!("Keeps the {word} number {n} in a drawer near the {word}");
        let body = json!({ "content": content, "detail": format!("{word} and more"),
            "summary": format!("about {word}"), "tags": [word], "reasoning": format!("said {word}"),
            "evidence": [{ "type": "said", "content": format!("my {word}") }] });
        let plain = json!({ "content": content, "detail": format!("{word} and more") });
        let reply = match send_ok(http, test_user, Method::POST, "/api/memory", body).await {
            Ok(reply) => reply,
            Err(_) => send_ok(http, test_user, Method::POST, "/api/memory", plain).await?,
        };
        ids.push(reply["memory"]["id"].as_str().context("a memory without id")?.to_owned());
    }
    let path = format!("/api/memory/{}", ids[0]);
    let edit = json!({ "content": format!("Has moved the {word} to the attic") });
    send_ok(http, test_user, Method::PATCH, &path, edit).await?;
    let link = json!({ "to": ids[1], "relation": "relates_to" });
    send_ok(http, test_user, Method::POST, &format!("{path}/links"), link).await?;
    let session = format!("chat-{word}");
    let open = json!({ "id": session, "title": format!("The {word}") });
    send_ok(http, test_user, Method::POST, "/api/sessions", open).await?;
    let turns = json!({ "turns": [
        { "role": "user", "content": format!("Where is my {word}? I need the {word} today.") },
        { "role": "assistant", "content": format!("The {word} is in the attic.") } ] });
    send_ok(http, test_user, Method::POST, &format!("/api/sessions/{session}/turns"), turns)
        .await?;
    let observed = json!({ "observations": [{ "source": word, "kind": "opened", "session_id": session,
        "payload": { "value": word, "text": format!("Opened the {word}") } }] });
    send_ok(http, test_user, Method::POST, "/api/observations", observed).await?;
    let predicted = json!({ "memory_id": ids[1], "expects": format!("Will look for the {word}"),
        "session_id": session });
    send_ok(http, test_user, Method::POST, "/api/predictions", predicted).await?;
    let ask = json!({ "query": format!("What about the {word}?"), "session_id": session });
    send_ok(http, test_user, Method::POST, "/api/memory/retrieve", ask).await?;
    insert_directly(database, test_user, &session).await?;
    if !test_user.erased {
        return Ok(());
    }
    // An erased user has something in the trash, too.
    send_ok(http, test_user, Method::DELETE, &format!("/api/memory/{}", ids[2]), json!({})).await?;
    Ok(())
}

/// Rows that only models and workers would write, inserted directly.
async fn insert_directly(database: &Client, test_user: &TestUser, session: &str) -> Result<()> {
    let (user, word) = (test_user.user_id(), &test_user.word);
    let tenant = lukasa_core::TenantId::named("local").uuid();
    const EPISODE: &str = "insert into episode values ($1, $2, gen_random_uuid(), $3, 1, 2, $4, $4, \
        'user_turn', now(), now(), gen_random_uuid(), 'p', now())";
    let params: [&(dyn tokio_postgres::types::ToSql + Sync); 4] = [&user, &tenant, &session, word];
    database.execute(EPISODE, &params).await.context("episode")?;
    const PASS: &str = "insert into pass (user_id, tenant_id, pass_id, session_id, first_turn, \
        last_turn, prompt, model, offered, answer, state, answered_at) values \
        ($1, $2, gen_random_uuid(), $3, 1, 2, 'p', 'm', '{}', $4, 'answered', now())";
    database.execute(PASS, &params).await.context("pass")?;
    const LEFT_OUT: &str = "insert into left_out (user_id, tenant_id, pass_id, place, reason, turn_id, \
        from_char, to_char) select user_id, tenant_id, gen_random_uuid(), 1, 'off', turn_id, 0, 5 \
        from turn where user_id = $1";
    database.execute(LEFT_OUT, &[&user]).await.context("left_out")?;
    const QUESTION: &str = "insert into domain_question (user_id, tenant_id, domain, state, turns, \
        asked_at) select $1, $2, 'health', 'asked', array_agg(turn_id), now() from turn \
        where user_id = $1";
    database.execute(QUESTION, &[&user, &tenant]).await.context("domain_question")?;
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
    // Of a session that was packed before; its rows are of the turns that are there.
    const PACKED: &str = "insert into packed_session select user_id, tenant_id, $2, max(revision), 1, \
        null, count(*), array_agg(source_id), array_agg(part), array_agg(language), \
        array_agg(words), array_agg(terms), array_agg(content_hash), array_agg(1), \
        array_agg('user'::text), array_agg(now()), array_agg(now()), array_agg(null::halfvec) \
        from passage where user_id = $1 group by user_id, tenant_id";
    database.execute(PACKED, &[&user, &format!("{session} packed")]).await.context("packed")?;
    Ok(())
}

pub async fn state(http: &mut HttpConnection, test_user: &TestUser) -> Result<Value> {
    let (status, state) =
        send_until_answered(http, &test_user.name, Method::GET, "/api/state", None, "state")
            .await?;
    anyhow::ensure!(status == 200, "/api/state answered {status}: {state}");
    Ok(state)
}

/// Saves one more memory of a remaining user, which will be erased on its own.
pub async fn save_single(http: &mut HttpConnection, test_user: &mut TestUser) -> Result<()> {
    let before = state(http, test_user).await?;
    let content = format!("Once lost the {GONE}single of {}", test_user.name);
    let reply =
        send_ok(http, test_user, Method::POST, "/api/memory", json!({ "content": content }))
            .await?;
    let id = reply["memory"]["id"].as_str().context("a memory without id")?.to_owned();
    test_user.single = Some((id, before));
    Ok(())
}
