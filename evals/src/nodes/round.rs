//! One round: a memory is read through the second server, removed through the first, and looked for
//! through the second again.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use futures_util::future::try_join_all;
use rand::Rng as _;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom as _;
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::Testbed;
use super::reads::{Answer, Reader, WAYS, Way, some};
use crate::processes::connect;

/// How a memory, or the access to it, is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Action {
    Forget,
    Delete,
    Erase,
    EraseUser,
    CloseDomain,
    DeleteSession,
    RevokeKey,
}

const ACTIONS: [Action; 7] = [
    Action::Forget,
    Action::Delete,
    Action::Erase,
    Action::EraseUser,
    Action::CloseDomain,
    Action::DeleteSession,
    Action::RevokeKey,
];

impl Action {
    pub fn name(self) -> String {
        format!("{self:?}")
    }
}

/// Tables of which one is locked for a while in a third of the rounds.
const LOCKED: [&str; 6] =
    ["recall_state", "baseline", "passage", "users", "fact_version", "user_domain"];
const LOCKED_FOR: Duration = Duration::from_millis(400);

/// Prefix of every round's word.
const WORD: &str = "zq";

/// The words of rounds in a text, each once.
pub fn words_in(text: &str) -> BTreeSet<String> {
    let rest = |at: usize| text[at..].chars().take_while(char::is_ascii_alphanumeric).collect();
    text.match_indices(WORD).map(|(at, _)| rest(at)).collect()
}

/// How often the second server is asked for the memory before its removal.
const TRIES: usize = 30;

/// A response that must not have been served.
pub struct Finding {
    round: u64,
    action: Action,
    slow: Option<&'static str>,
    what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { round, action, slow, what } = self;
        write!(f, "round {round}, {action:?}, slow {}: {what}", slow.unwrap_or("nowhere"))
    }
}

/// Result of a round.
pub struct Played {
    pub action: Action,
    pub slow: bool,
    pub reads: u64,
    pub refused: u64,
    pub findings: Vec<Finding>,
}

pub async fn play(
    testbed: &Testbed,
    rng: &mut StdRng,
    number: u64,
    only: &[Action],
) -> Result<Played> {
    let actions = if only.is_empty() { &ACTIONS[..] } else { only };
    let action = *actions.choose(rng).context("an action")?;
    let slow = LOCKED.choose(rng).copied().filter(|_| rng.random_range(0..3) == 0);
    let word = format!("{WORD}{number}x{:08x}", rng.random::<u32>());
    let admin = Reader {
        key: testbed.key.clone(),
        user: format!("user-{number}"),
        question: "What is kept in the garden shed?".into(),
    };
    let (reader, key) = match action {
        Action::RevokeKey => own_key(testbed, &admin).await?,
        _ => (admin.clone(), None),
    };
    let memory = plant(testbed, &admin, action, &word).await?;
    // Until the second server has returned it in every way: a table locked by another round may
    // make some of its responses come without memory.
    let mut prompted = 0;
    for _ in 0..TRIES {
        for way in WAYS {
            reader.read(testbed, way).await?;
        }
        let seen = read_all(testbed, &reader, &[Way::Retrieve, Way::Search], &word).await?;
        prompted = testbed.prompts_with(&word);
        if prompted > 0 && seen.iter().all(|(_, says)| *says) {
            break;
        }
        prompted = 0;
        sleep(Duration::from_millis(100)).await;
    }
    ensure!(prompted > 0, "round {number}: the second server never returned {word}");

    remove(testbed, &admin, action, &memory, key.as_deref()).await?;
    let mut findings = Vec::new();
    let (mut reads, mut refused) = (0, 0);
    let lock = async {
        if let Some(table) = slow {
            let database = connect(&testbed.database).await?;
            let sql = format!("begin; lock table {table} in access exclusive mode");
            database.batch_execute(&sql).await?;
            sleep(LOCKED_FOR).await;
            database.batch_execute("rollback").await?;
        }
        anyhow::Ok(())
    };
    let ways = some(rng);
    let look = async {
        if slow.is_some() {
            // Mostly while the table is locked.
            sleep(Duration::from_millis(30)).await;
        }
        let during = read_all(testbed, &reader, &ways, &word).await?;
        let after = match rng.random_bool(0.3) {
            true => read_all(testbed, &reader, &WAYS, &word).await?,
            false => Vec::new(),
        };
        anyhow::Ok(during.into_iter().chain(after).collect::<Vec<_>>())
    };
    let ((), looked) = tokio::try_join!(lock, look)?;
    let mut found = |what: String| findings.push(Finding { round: number, action, slow, what });
    for (answer, says) in looked {
        reads += 1;
        refused += u64::from(!answer.is_served());
        // The list is the owner's inventory: it shows closed domains too, and is in no prompt.
        let inventory = action == Action::CloseDomain && answer.way == Way::List;
        if says && !inventory {
            found(format!("{:?} returns it: {}", answer.way, excerpt(&answer.text, &word)));
        }
        let chat = answer.way == Way::Chat;
        if action == Action::RevokeKey && answer.is_served() && !chat {
            found(format!("{:?} is answered with status {}", answer.way, answer.status));
        }
    }
    if action == Action::EraseUser {
        recreate_user(testbed, &admin).await?;
        for (answer, says) in read_all(testbed, &reader, &WAYS, &word).await? {
            reads += 1;
            if says {
                found(format!("{:?} returns it to a new user of the same name", answer.way));
            }
        }
    }
    let more = testbed.prompts_with(&word) - prompted;
    if more > 0 {
        found(format!("{more} prompts have it"));
    }
    Ok(Played { action, slow: slow.is_some(), reads, refused, findings })
}

fn excerpt(text: &str, word: &str) -> String {
    let at = text.find(word).unwrap_or(0);
    let from = text.floor_char_boundary(at.saturating_sub(60));
    text[from..text.floor_char_boundary((at + 60).min(text.len()))].to_owned()
}

/// Reads in several ways at once, and returns which responses have the word. Prompts are checked by
/// the caller; a chat's own prompt is not part of its response.
async fn read_all(
    testbed: &Testbed,
    reader: &Reader,
    ways: &[Way],
    word: &str,
) -> Result<Vec<(Answer, bool)>> {
    let answers = try_join_all(ways.iter().map(|way| reader.read(testbed, *way))).await?;
    Ok(answers
        .into_iter()
        .map(|answer| {
            let says = answer.text.contains(word);
            (answer, says)
        })
        .collect())
}

/// A key of the user's own, to be revoked.
async fn own_key(testbed: &Testbed, admin: &Reader) -> Result<(Reader, Option<String>)> {
    let body =
        json!({"name": "to be revoked", "permissions": ["read", "write", "propose", "chat"]});
    let made = call(testbed, admin, Method::POST, "/api/keys", Some(body)).await?;
    let text = |name: &str| made[name].as_str().map(str::to_owned);
    let secret = text("secret").context("a key without a secret")?;
    Ok((Reader { key: secret, ..admin.clone() }, text("id")))
}

/// A request to the first server that must succeed.
async fn call(
    testbed: &Testbed,
    reader: &Reader,
    method: Method,
    path: &str,
    body: Option<Value>,
) -> Result<Value> {
    let (status, text) = reader.send(testbed, &testbed.first, method.clone(), path, body).await?;
    if !(200..300).contains(&status) {
        bail!("{method} {path}: {status} {text}");
    }
    Ok(serde_json::from_str(&text).unwrap_or_default())
}

/// Saves the memory, or a turn with it; returns its id.
async fn plant(testbed: &Testbed, admin: &Reader, action: Action, word: &str) -> Result<String> {
    if action == Action::DeleteSession {
        let content = format!("I keep {word} in the garden shed.");
        let turns = json!({"turns": [{"role": "user", "content": content}]});
        call(testbed, admin, Method::POST, "/api/sessions/earlier/turns", Some(turns)).await?;
        return Ok(String::new());
    }
    let mut body = json!({"content": format!("Keeps {word} in the garden shed")});
    if action == Action::CloseDomain {
        call(testbed, admin, Method::POST, "/api/users", Some(json!({"user": admin.user}))).await?;
        // Opening a domain is the user's consent, which a key cannot give.
        let database = connect(&testbed.database).await?;
        let sql = "insert into user_domain (user_id, tenant_id, domain, opted_in_at) \
                   select user_id, tenant_id, 'health', now() from users where name = $1";
        database.execute(sql, &[&admin.user]).await?;
        body["domain"] = "health".into();
    }
    let saved = call(testbed, admin, Method::POST, "/api/memory", Some(body)).await?;
    let id = saved["memory"]["id"].as_str().context("a memory without an id")?;
    Ok(id.to_owned())
}

/// Removes it through the first server.
async fn remove(
    testbed: &Testbed,
    admin: &Reader,
    action: Action,
    memory: &str,
    key: Option<&str>,
) -> Result<()> {
    let (method, path) = match action {
        Action::Forget => (Method::POST, format!("/api/memory/{memory}/forget")),
        Action::Delete => (Method::DELETE, format!("/api/memory/{memory}")),
        Action::Erase => (Method::POST, format!("/api/memory/{memory}/erase")),
        Action::EraseUser => (Method::DELETE, format!("/api/users/{}", admin.user)),
        Action::CloseDomain => (Method::DELETE, "/api/domains/health/opt-in".to_owned()),
        Action::DeleteSession => (Method::DELETE, "/api/sessions/earlier".to_owned()),
        Action::RevokeKey => {
            (Method::DELETE, format!("/api/keys/{}", key.context("a key to revoke")?))
        }
    };
    let body = (method == Method::POST).then(|| json!({}));
    call(testbed, admin, method, &path, body).await?;
    Ok(())
}

/// Creates a user of the same name again, with as many writes as the first had.
async fn recreate_user(testbed: &Testbed, admin: &Reader) -> Result<()> {
    call(testbed, admin, Method::POST, "/api/users", Some(json!({"user": admin.user}))).await?;
    let body = json!({"content": "Keeps rakes in the garden shed"});
    call(testbed, admin, Method::POST, "/api/memory", Some(body)).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_words_are_found_in_a_prompt() {
        let prompt =
            r#"{"content":"- Keeps zq7x0000abcd in the shed\nzq12xffffffff, zq7x0000abcd"}"#;
        let found: Vec<String> = words_in(prompt).into_iter().collect();
        assert_eq!(found, ["zq12xffffffff", "zq7x0000abcd"]);
    }
}
