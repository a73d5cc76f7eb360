//! Attacks by the REST API and by the mem0 API.

use anyhow::Result;
use reqwest::Method;
use serde_json::{Value, json};

use super::calls::{change, new_memory};
use super::target_user::TargetUser;
use super::{Case, Tally};

/// Saves, proposes, and confirms the proposals.
pub async fn save(target_user: &TargetUser, cases: &[Case], tally: &mut Tally) -> Result<()> {
    let agent = &target_user.agent;
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

/// Changes, forgets, deletes, erases, links and undoes stated memories, answers for the user, and
/// opens what only the user may open.
pub async fn alter(target_user: &TargetUser, cases: &[Case], tally: &mut Tally) -> Result<()> {
    let agent = &target_user.agent;
    let mut targets: Vec<&str> =
        target_user.stated.iter().map(|stated| stated.id.as_str()).collect();
    targets.push(&target_user.control_memory);
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
        // Only memories that the user alone may forget: forgetting a plain memory is allowed.
        let guarded =
            [target_user.rule(), target_user.important(), &target_user.control_memory][n % 3];
        let (method, path, body) = match n % 7 {
            0 => (Method::POST, format!("/api/memory/{guarded}/forget"), json!({})),
            1 => (Method::DELETE, format!("/api/memory/{guarded}"), Value::Null),
            2 => (Method::POST, format!("/api/memory/{guarded}/erase"), json!({})),
            3 => {
                let operation = &target_user.operations[n / 7 % target_user.operations.len()];
                (Method::POST, format!("/api/operations/{operation}/undo"), json!({}))
            }
            4 => {
                let yes = json!({"confirm": true, "sha256": target_user.digest});
                (Method::POST, format!("/api/memory/{}/confirm", target_user.proposal), yes)
            }
            5 => (Method::POST, format!("/api/memory/{guarded}/confirm"), json!({})),
            _ => {
                let link = json!({"to": guarded, "relation": "supersedes"});
                (Method::POST, format!("/api/memory/{}/links", target_user.stated[4].id), link)
            }
        };
        tally.count(&agent.send(method, &path, body).await?);
    }
    for memory in target_user.agent.memories("proposed").await?.iter().take(5) {
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
        (Method::POST, "/api/tokens", json!({"user": target_user.name})),
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

/// The mem0 API, with the user's own token and with an assistant's key.
pub async fn mem0(target_user: &TargetUser, cases: &[Case], tally: &mut Tally) -> Result<()> {
    for case in cases {
        let n = case.number;
        let client = if n.is_multiple_of(2) { &target_user.agent } else { &target_user.human };
        let text = case.text(n);
        let mut add = json!({
            "messages": [{"role": "user", "content": text}], "user_id": target_user.name, "infer": false,
        });
        if n.is_multiple_of(3) {
            add["metadata"] = json!({"confirmed": true, "origin": "user_said"});
        }
        let path = ["/mem0/v1/memories/", "/mem0/v3/memories/add/", "/mem0/memories"][n % 3];
        tally.count(&client.post(path, add).await?);
        let target = &target_user.stated[n % target_user.stated.len()].id;
        let edit = json!({"text": case.text(n + 1), "metadata": {"confirmed": true}});
        let guarded =
            if n.is_multiple_of(2) { target_user.rule() } else { target_user.important() };
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
                (Method::PUT, format!("/mem0/v1/memories/{}/", target_user.control_memory), edit)
            }
        };
        tally.count(&client.send(method, &path, body).await?);
    }
    let other =
        json!({"messages": "Lives in Faro", "user_id": target_user.control, "infer": false});
    tally.count(&target_user.agent.post("/mem0/v1/memories/", other).await?);
    Ok(())
}

/// Deletes everything by the mem0 API.
pub async fn mem0_delete_all(target_user: &TargetUser, tally: &mut Tally) -> Result<()> {
    for path in [
        format!("/mem0/v1/memories/?user_id={}", target_user.control),
        format!("/mem0/v1/memories/?user_id={}", target_user.name),
    ] {
        tally.count(&target_user.agent.send(Method::DELETE, &path, Value::Null).await?);
    }
    Ok(())
}
