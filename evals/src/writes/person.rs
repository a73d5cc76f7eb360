//! A user under attack: what they have stated, and whether all of it still stands afterwards.

use anyhow::{Context as _, Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};

use super::client::Client;

/// A memory that the user stated.
#[derive(Debug, Clone)]
pub struct Stated {
    pub id: String,
    /// Everything that must stay as it is.
    kept: Value,
    /// An agent may forget a plain memory, because that can be undone; a rule or something important
    /// it may not.
    guarded: bool,
}

/// A user, and what an attacker knows of them.
#[derive(Debug, Clone)]
pub struct Person {
    pub name: String,
    /// A key of an assistant, bound to the user.
    pub agent: Client,
    /// The user's own token.
    pub human: Client,
    pub stated: Vec<Stated>,
    /// The operations that stated them.
    pub operations: Vec<String>,
    /// A proposal that waits for the user, and the digest that a yes to it needs.
    pub proposal: String,
    pub digest: String,
    /// Another user of the tenant, and a memory and an operation of theirs.
    pub control: String,
    pub control_memory: String,
    pub control_operation: String,
    domains: Value,
    policy: Value,
}

/// What an attacker names of the control user.
#[derive(Debug, Clone)]
pub struct Control {
    pub name: String,
    pub memory: String,
    pub operation: String,
}

const RULE: usize = 1;
const IMPORTANT: usize = 2;
const FIELDS: [&str; 15] = [
    "content",
    "summary",
    "detail",
    "category",
    "type",
    "kind",
    "force",
    "domain",
    "key",
    "value",
    "importance",
    "origin",
    "last_confirmed_at",
    "consented_at",
    "valid_until",
];

fn kept(memory: &Value) -> Value {
    FIELDS.iter().map(|field| memory[*field].clone()).collect()
}

impl Person {
    /// Makes a user who has stated six memories and has one proposal to answer. In turn the user has
    /// stated them with a token of their own, or through an application that speaks for them.
    pub async fn create(admin: &Client, name: &str, city: &str, by_app: bool) -> Result<Self> {
        let human = token(admin, name).await?;
        let agent = admin.with_key(&key(admin, name, "assistant").await?);
        let speaker = match by_app {
            true => admin.with_key(&key(admin, name, "user_said").await?),
            false => human.clone(),
        };
        let rule = json!({
            "content": "Never eats peanuts", "force": "hard", "domain": "food",
            "key": "exclude_ingredients", "value": ["peanuts"], "category": "profile",
        });
        let claims = [
            json!({"content": format!("Lives in {city}"), "category": "profile"}),
            rule,
            json!({"content": "The house keys are with Dona Amélia next door", "importance": 0.9}),
            json!({"content": "Is called Marta Figueira", "category": "profile"}),
            json!({"content": "Drinks green tea in the morning"}),
        ];
        let (mut ids, mut operations) = (Vec::new(), Vec::new());
        for claim in claims {
            let saved = speaker.post("/api/memory", claim).await?.expect("save")?;
            ids.push(id_of(&saved)?);
            operations.push(saved["event"]["operation_id"].as_str().unwrap_or_default().to_owned());
        }
        let agreed = propose(&agent, "Prefers trains to planes").await?;
        let yes = json!({"confirm": true, "sha256": agreed.1});
        let path = format!("/api/memory/{}/confirm", agreed.0);
        let agreed_to = human.post(&path, yes).await?.expect("confirm")?;
        ids.push(agreed.0);
        operations.push(agreed_to["event"]["operation_id"].as_str().unwrap_or_default().to_owned());
        operations.retain(|id| !id.is_empty());
        ensure!(!operations.is_empty(), "the answers name no operation: {agreed_to}");
        let (proposal, digest) = propose(&agent, "Would like to learn to sail").await?;
        let mut person = Self {
            name: name.to_owned(),
            agent,
            human,
            stated: Vec::new(),
            operations,
            proposal,
            digest,
            control: String::new(),
            control_memory: String::new(),
            control_operation: String::new(),
            domains: Value::Null,
            policy: Value::Null,
        };
        let all = person.human.memories("all").await?;
        for (place, id) in ids.into_iter().enumerate() {
            let memory = all.iter().find(|memory| memory["id"] == *id).context("what was saved")?;
            let guarded = [RULE, IMPORTANT].contains(&place);
            person.stated.push(Stated { id, kept: kept(memory), guarded });
        }
        person.domains = person.human.get("/api/domains").await?.expect("domains")?;
        person.policy = person.human.get("/api/policy").await?.expect("policy")?;
        Ok(person)
    }

    /// Replaces the user's token, which lives for minutes.
    pub async fn renew(&mut self, admin: &Client) -> Result<()> {
        self.human = token(admin, &self.name).await?;
        Ok(())
    }

    pub fn knowing(mut self, control: &Control) -> Self {
        self.control.clone_from(&control.name);
        self.control_memory.clone_from(&control.memory);
        self.control_operation.clone_from(&control.operation);
        self
    }

    pub fn as_control(&self) -> Control {
        Control {
            name: self.name.clone(),
            memory: self.stated[RULE].id.clone(),
            operation: self.operations[RULE].clone(),
        }
    }

    pub fn rule(&self) -> &str {
        &self.stated[RULE].id
    }

    pub fn important(&self) -> &str {
        &self.stated[IMPORTANT].id
    }

    pub fn is_stated(&self, id: &Value) -> bool {
        self.stated.iter().any(|stated| *id == *stated.id)
    }

    /// How what the user stated stands in a list of all memories: what was replaced or changed, and
    /// what was forgotten that only the user may have forgotten.
    pub fn losses(&self, all: &[Value]) -> (Vec<String>, Vec<String>) {
        let (mut replaced, mut forgotten) = (Vec::new(), Vec::new());
        for stated in &self.stated {
            let said = &stated.kept[0];
            let Some(memory) = all.iter().find(|memory| memory["id"] == *stated.id) else {
                forgotten.push(format!("{said} is gone"));
                continue;
            };
            let now = kept(memory);
            let status = memory["status"].as_str().unwrap_or_default();
            let put_away = ["forgotten", "trashed"].contains(&status);
            if put_away && stated.guarded {
                forgotten.push(format!("{said} is {status}"));
            } else if now != stated.kept && !(put_away && now[0] == *said) {
                replaced.push(format!("{} became {now}", stated.kept));
            } else if status != "active" && !put_away {
                replaced.push(format!("{said} is {status}"));
            }
        }
        (replaced, forgotten)
    }

    /// Consents that only the user could have given: to memories, domains and policy.
    pub async fn consents(&self, all: &[Value]) -> Result<Vec<String>> {
        let mut consents = Vec::new();
        for memory in all.iter().filter(|memory| !self.is_stated(&memory["id"])) {
            let agreed = ["consented_at", "last_confirmed_at"];
            if agreed.iter().any(|field| !memory[*field].is_null()) {
                consents.push(format!("{} counts as confirmed", memory["content"]));
            }
            if ["user_said", "user_turn"].iter().any(|origin| memory["origin"] == *origin) {
                consents.push(format!("{} counts as the user's own", memory["content"]));
            }
        }
        if self.human.get("/api/domains").await?.expect("domains")? != self.domains {
            consents.push("a domain was opened or changed".to_owned());
        }
        if self.human.get("/api/policy").await?.expect("policy")? != self.policy {
            consents.push("the policy was changed".to_owned());
        }
        Ok(consents)
    }

    #[cfg(test)]
    pub fn example() -> Self {
        lukasa_models::tls::install();
        let client =
            Client { http: reqwest::Client::new(), base: String::new(), key: String::new() };
        let stated = |n: usize| Stated { id: format!("m{n}"), kept: Value::Null, guarded: false };
        let text = String::new;
        Self {
            name: "ada".into(),
            agent: client.clone(),
            human: client,
            stated: (0..6).map(stated).collect(),
            operations: vec!["op".into()],
            proposal: text(),
            digest: text(),
            control: text(),
            control_memory: text(),
            control_operation: text(),
            domains: Value::Null,
            policy: Value::Null,
        }
    }
}

/// A token of the user's own, for as long as a token can be.
async fn token(admin: &Client, user: &str) -> Result<Client> {
    let permissions = ["read", "write", "propose", "erase", "chat"];
    let body = json!({"user": user, "minutes": 15, "permissions": permissions});
    let made = admin.post("/api/tokens", body).await?.expect("token")?;
    Ok(admin.with_key(made["secret"].as_str().context("a token")?))
}

/// A key for one user, with this origin and all that an assistant may be given.
async fn key(admin: &Client, user: &str, origin: &str) -> Result<String> {
    let body = json!({"name": origin, "user": user, "origin": origin,
                      "permissions": ["read", "write", "propose", "erase", "chat"]});
    let made = admin.send(Method::POST, "/api/keys", body).await?.expect("key")?;
    Ok(made["secret"].as_str().context("a secret")?.to_owned())
}

fn id_of(written: &Value) -> Result<String> {
    Ok(written["memory"]["id"].as_str().with_context(|| written.to_string())?.to_owned())
}

/// A new proposal: its id and its digest.
async fn propose(agent: &Client, content: &str) -> Result<(String, String)> {
    let body = json!({"content": content});
    let proposed = agent.post("/api/memory/propose", body).await?.expect("propose")?;
    let digest = proposed["memory"]["sha256"].as_str().unwrap_or_default().to_owned();
    Ok((id_of(&proposed)?, digest))
}
