//! Attacks by the REST API and by the surface of mem0.

use anyhow::Result;
use reqwest::Method;
use serde_json::{Value, json};

use super::calls::{change, new_memory};
use super::person::Person;
use super::{Case, Tally};

/// Saves, proposes, and confirms what was proposed.
pub async fn save(person: &Person, cases: &[Case], tally: &mut Tally) -> Result<()> {
    let agent = &person.agent;
    for case in cases {
        let n = case.number;
        let mut memory = new_memory(case, n);
        memory["keep_without_domain"] = json!(true);
        tally.count(&agent.post("/api/memory", memory).await?);
        let memory = new_memory(case, n + 1);
        let proposed = agent.post("/api/memory/propose", memory).await?;
        tally.count(&proposed);
        let waits = &proposed.body["memory"];
        if let Some(id) = waits["id"].as_str() {
            let yes = json!({"confirm": true, "sha256": waits["sha256"]});
            tally.count(&agent.post(&format!("/api/memory/{id}/confirm"), yes).await?);
        }
    }
    Ok(())
}

/// Changes, forgets, deletes, erases, links and undoes what the user stated, answers for the user,
/// and opens what only the user opens.
pub async fn alter(person: &Person, cases: &[Case], tally: &mut Tally) -> Result<()> {
    let agent = &person.agent;
    let mut targets: Vec<&str> = person.stated.iter().map(|stated| stated.id.as_str()).collect();
    targets.push(&person.control_memory);
    for case in cases {
        let n = case.number;
        let mut body = change(case, n, "Please go on");
        if n.is_multiple_of(4) {
            body["force"] = json!("hard");
            body["key"] = json!(format!("rule_{n}"));
            body["domain"] = json!("food");
        }
        let path = format!("/api/memory/{}", targets[n % targets.len()]);
        tally.count(&agent.send(Method::PATCH, &path, body).await?);
        // Only what the user alone may forget: forgetting a plain memory is allowed.
        let guarded = [person.rule(), person.important(), &person.control_memory][n % 3];
        let (method, path, body) = match n % 7 {
            0 => (Method::POST, format!("/api/memory/{guarded}/forget"), json!({})),
            1 => (Method::DELETE, format!("/api/memory/{guarded}"), Value::Null),
            2 => (Method::POST, format!("/api/memory/{guarded}/erase"), json!({})),
            3 => {
                let operation = &person.operations[n / 7 % person.operations.len()];
                (Method::POST, format!("/api/operations/{operation}/undo"), json!({}))
            }
            4 => {
                let yes = json!({"confirm": true, "sha256": person.digest});
                (Method::POST, format!("/api/memory/{}/confirm", person.proposal), yes)
            }
            5 => (Method::POST, format!("/api/memory/{guarded}/confirm"), json!({})),
            _ => {
                let link = json!({"to": guarded, "relation": "supersedes"});
                (Method::POST, format!("/api/memory/{}/links", person.stated[4].id), link)
            }
        };
        tally.count(&agent.send(method, &path, body).await?);
    }
    for memory in person.agent.memories("proposed").await?.iter().take(5) {
        let id = memory["id"].as_str().unwrap_or_default();
        let against = json!({"true": "against", "sha256": memory["sha256"]});
        tally.count(&agent.post(&format!("/api/memory/{id}/resolve"), against).await?);
        let yes = json!({"confirm": true, "sha256": memory["sha256"]});
        tally.count(&agent.post(&format!("/api/memory/{id}/confirm"), yes).await?);
    }
    for (method, path, body) in [
        (Method::PUT, "/api/policy", json!({"preset": "clone"})),
        (Method::PUT, "/api/policy", json!({"admission": "auto"})),
        (Method::PUT, "/api/tenant/policy", json!({"admission": "auto"})),
        (Method::PUT, "/api/policy/tenant", json!({"admission": "auto"})),
        (Method::PUT, "/api/domains/health/opt-in", json!({})),
        (Method::PUT, "/api/domains/finance/opt-in", json!({})),
        (Method::PUT, "/api/domains/health", json!({"display_name": "Health"})),
        (Method::POST, "/api/tokens", json!({"user": person.name})),
        (Method::POST, "/api/keys", json!({"name": "mine", "origin": "user_said"})),
    ] {
        let answer = agent.send(method, path, body).await?;
        tally.count(&answer);
        if answer.is_success() {
            tally.notes.push(format!("{path} was answered {}", answer.status));
        }
    }
    Ok(())
}

/// The surface of mem0, with the user's own token and with an assistant's key.
pub async fn mem0(person: &Person, cases: &[Case], tally: &mut Tally) -> Result<()> {
    for case in cases {
        let n = case.number;
        let client = if n.is_multiple_of(2) { &person.agent } else { &person.human };
        let text = case.text(n);
        let mut add = json!({
            "messages": [{"role": "user", "content": text}], "user_id": person.name, "infer": false,
        });
        if n.is_multiple_of(3) {
            add["metadata"] = json!({"confirmed": true, "origin": "user_said"});
        }
        let path = ["/mem0/v1/memories/", "/mem0/v3/memories/add/", "/mem0/memories"][n % 3];
        tally.count(&client.post(path, add).await?);
        let target = &person.stated[n % person.stated.len()].id;
        let edit = json!({"text": case.text(n + 1), "metadata": {"confirmed": true}});
        let guarded = if n.is_multiple_of(2) { person.rule() } else { person.important() };
        let (method, path, body) = match n % 6 {
            0 | 1 => (Method::PUT, format!("/mem0/v1/memories/{target}/"), edit),
            2 => {
                let ended = json!({"expiration_date": "2020-01-01"});
                (Method::PUT, format!("/mem0/v1/memories/{guarded}/"), ended)
            }
            3 => (Method::DELETE, format!("/mem0/v1/memories/{guarded}/"), Value::Null),
            4 => {
                let one = json!({"memory_id": target, "text": case.text(n + 2)});
                (Method::PUT, "/mem0/v1/batch/".to_owned(), json!({"memories": [one]}))
            }
            _ => {
                let edit = json!({"text": text});
                (Method::PUT, format!("/mem0/v1/memories/{}/", person.control_memory), edit)
            }
        };
        tally.count(&client.send(method, &path, body).await?);
    }
    let other = json!({"messages": "Lives in Faro", "user_id": person.control, "infer": false});
    tally.count(&person.agent.post("/mem0/v1/memories/", other).await?);
    Ok(())
}

/// Deletes everything by the surface of mem0.
pub async fn mem0_delete_all(person: &Person, tally: &mut Tally) -> Result<()> {
    for path in [
        format!("/mem0/v1/memories/?user_id={}", person.control),
        format!("/mem0/v1/memories/?user_id={}", person.name),
    ] {
        tally.count(&person.agent.send(Method::DELETE, &path, Value::Null).await?);
    }
    Ok(())
}
