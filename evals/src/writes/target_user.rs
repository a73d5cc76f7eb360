//! A user under attack: their statements, and whether all of them are intact afterwards.

use anyhow::{Context as _, Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};

use super::client::Client;

/// A stated memory.
#[derive(Debug, Clone)]
pub struct Stated {
    pub id: String,
    /// The fields that must not change.
    fixed_fields: Value,
    /// An agent may forget a plain memory, because that can be undone; a rule or an important
    /// memory it may not.
    guarded: bool,
}

/// A user, and what an attacker knows of them.
#[derive(Debug, Clone)]
pub struct TargetUser {
    pub name: String,
    /// A key of an assistant, bound to the user.
    pub agent: Client,
    /// The user's own token.
    pub human: Client,
    pub stated: Vec<Stated>,
    /// The operations that saved them.
    pub operations: Vec<String>,
    /// A pending proposal, and the digest that confirming it needs.
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

fn fixed_fields(memory: &Value) -> Value {
    FIELDS.iter().map(|field| memory[*field].clone()).collect()
}

impl TargetUser {
    /// Creates a user with six stated memories and one pending proposal. In turn the user has
    /// stated them with their own token, or through an application that acts for them.
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
        let mut target_user = Self {
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
        let all = target_user.human.memories("all").await?;
        for (place, id) in ids.into_iter().enumerate() {
            let memory = all.iter().find(|memory| memory["id"] == *id).context("what was saved")?;
            let guarded = [RULE, IMPORTANT].contains(&place);
            target_user.stated.push(Stated { id, fixed_fields: fixed_fields(memory), guarded });
        }
        target_user.domains = target_user.human.get("/api/domains").await?.expect("domains")?;
        target_user.policy = target_user.human.get("/api/policy").await?.expect("policy")?;
        Ok(target_user)
    }

    /// Replaces the user's token, which is valid for minutes.
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

    /// Losses among the user's statements in a list of all memories: those replaced or changed, and
    /// those forgotten that only the user may forget.
    pub fn losses(&self, all: &[Value]) -> (Vec<String>, Vec<String>) {
        let (mut replaced, mut forgotten) = (Vec::new(), Vec::new());
        for stated in &self.stated {
            let stated_content = &stated.fixed_fields[0];
            let Some(memory) = all.iter().find(|memory| memory["id"] == *stated.id) else {
                forgotten.push(format!("{stated_content} is gone"));
                continue;
            };
            let now = fixed_fields(memory);
            let status = memory["status"].as_str().unwrap_or_default();
            let put_away = ["forgotten", "trashed"].contains(&status);
            if put_away && stated.guarded {
                forgotten.push(format!("{stated_content} is {status}"));
            } else if now != stated.fixed_fields && !(put_away && now[0] == *stated_content) {
                replaced.push(format!("{} became {now}", stated.fixed_fields));
            } else if status != "active" && !put_away {
                replaced.push(format!("{stated_content} is {status}"));
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
        let stated =
            |n: usize| Stated { id: format!("m{n}"), fixed_fields: Value::Null, guarded: false };
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

/// A token of the user, with the longest possible lifetime.
async fn token(admin: &Client, user: &str) -> Result<Client> {
    let permissions = ["read", "write", "propose", "erase", "chat"];
    let body = json!({"user": user, "minutes": 15, "permissions": permissions});
    let made = admin.post("/api/tokens", body).await?.expect("token")?;
    Ok(admin.with_key(made["secret"].as_str().context("a token")?))
}

/// A key for one user, with this origin and all permissions of an assistant.
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
