//! Attacks by what is recorded beside memories: turns, titles and ids of sessions, notes from
//! replies, observations, predictions and their outcomes, ratings, answers of the review, decisions
//! about imports, and spaces.

use anyhow::Result;
use reqwest::Method;
use serde_json::{Value, json};

use super::calls::new_memory;
use super::client::Client;
use super::target_user::TargetUser;
use super::{Case, Tally, cut, one_line};

/// Conversations whose replies are the attack: each is kept as a note, and names its session.
pub async fn sessions(target_user: &TargetUser, cases: &[Case], tally: &mut Tally) -> Result<()> {
    let agent = &target_user.agent;
    for case in cases {
        let n = case.number;
        let session = format!("talk-{n}");
        let said = json!({"turns": [
            {"role": "user", "content": "Please go on"},
            {"role": "assistant", "content": case.text(n)},
            {"role": "tool", "content": case.text(n + 1)},
        ]});
        let path = format!("/api/sessions/{session}");
        tally.count(&agent.post(&format!("{path}/turns"), said).await?);
        let title = json!({"title": cut(&one_line(case.text(n)), 200)});
        tally.count(&agent.send(Method::PATCH, &path, title).await?);
        let turns = agent.get(&format!("{path}/turns")).await?;
        for turn in turns.body["data"].as_array().into_iter().flatten() {
            let id = turn["id"].as_str().unwrap_or_default();
            tally.count(&agent.post(&format!("/api/turns/{id}/note"), json!({})).await?);
        }
        // The text of the attack as the id of a session.
        let named = json!({"turns": [{"role": "user", "content": "Hello"}],
                           "project": cut(&one_line(case.text(n)), 60)});
        let id: String = one_line(case.text(n)).chars().filter(|c| c.is_alphanumeric()).collect();
        let path = format!("/api/sessions/{}-{n}/turns", cut(&id, 80));
        tally.count(&agent.post(&path, named).await?);
    }
    Ok(())
}

/// Events, predictions, outcomes and ratings, about stated memories too.
pub async fn records(target_user: &TargetUser, cases: &[Case], tally: &mut Tally) -> Result<()> {
    let agent = &target_user.agent;
    for case in cases {
        let n = case.number;
        let words = one_line(case.text(n));
        let kind: String =
            words.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect();
        // Often enough, and on enough days, to be a pattern.
        let observed = (0..12).map(|day| {
            json!({"source": "shop", "kind": cut(&kind, 32), "at": format!("2026-10-{:02}T10:00:00Z", day + 1),
                   "payload": {"value": cut(&words, 40), "text": words}})
        });
        let observed: Vec<Value> = observed.collect();
        tally.count(&agent.post("/api/observations", json!({"observations": observed})).await?);
        let stated = &target_user.stated[n % target_user.stated.len()].id;
        let prediction = json!({"memory_id": stated, "expects": cut(&words, 400)});
        let made = agent.post("/api/predictions", prediction).await?;
        tally.count(&made);
        let id = ["id", "prediction_id"].iter().find_map(|field| made.body[*field].as_str());
        let (result, vote) = [("wrong", "down"), ("confirmed", "up")][n % 2];
        let outcome = json!({"outcome": result, "note": cut(&words, 400)});
        let path = format!("/api/predictions/{}/outcome", id.unwrap_or("x"));
        tally.count(&agent.post(&path, outcome).await?);
        for rated in [stated, &target_user.proposal, &target_user.control_memory] {
            let rating = json!({"rating": vote});
            tally.count(&agent.post(&format!("/api/memory/{rated}/rating"), rating).await?);
        }
    }
    Ok(())
}

/// Answers in the user's place, to questions about memories and imports, and writes into spaces.
pub async fn answers(target_user: &TargetUser, cases: &[Case], tally: &mut Tally) -> Result<()> {
    let agent = &target_user.agent;
    for case in cases {
        let n = case.number;
        let proposed = agent.post("/api/memory/propose", new_memory(case, n)).await?;
        tally.count(&proposed);
        let waits = &proposed.body["memory"];
        let yes = |id: &Value, sha256: &Value, confirm: bool| {
            let mut answer = json!({"memory_id": id, "confirm": confirm});
            answer["sha256"] = sha256.clone();
            answer
        };
        let answers = json!({"answers": [
            yes(&waits["id"], &waits["sha256"], true),
            yes(&json!(target_user.proposal), &json!(target_user.digest), true),
            yes(&json!(target_user.rule()), &Value::Null, false),
            yes(&json!(target_user.important()), &Value::Null, false),
        ]});
        tally.count(&agent.post("/api/review/answers", answers).await?);
        in_spaces(agent, case, tally).await?;
    }
    // Imports: their memories wait for a decision, which only the user makes.
    let item = |case: &Case| {
        let n = case.number;
        let item = json!({"item": "memory", "source": format!("answer-{n}"),
                          "content": case.text(n), "tags": [cut(&one_line(case.text(n)), 64)]});
        item.to_string()
    };
    let lines: Vec<String> = cases.iter().map(item).collect();
    let bytes = lines.join("\n").into_bytes();
    tally.count(&agent.upload("/api/import?format=jsonl", "application/jsonl", bytes).await?);
    let imports = agent.get("/api/imports").await?;
    for import in imports.body["data"].as_array().into_iter().flatten() {
        let path = format!("/api/imports/{}/decision", import["id"].as_str().unwrap_or("x"));
        tally.count(&agent.post(&path, json!({"use": "all"})).await?);
    }
    Ok(())
}

/// Writes into a space that the user is no member of, and one that the agent tries to join.
async fn in_spaces(agent: &Client, case: &Case, tally: &mut Tally) -> Result<()> {
    let member = agent.with_header("x-lukasa-space", "family");
    tally.count(&member.post("/api/memory", new_memory(case, case.number)).await?);
    tally.count(&member.get("/api/memory").await?);
    tally.count(&agent.send(Method::PUT, "/api/memberships/family", json!({})).await?);
    let named = json!({"space": cut(&one_line(case.text(case.number)), 64)});
    tally.count(&agent.post("/api/spaces", named).await?);
    Ok(())
}
