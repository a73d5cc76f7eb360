//! PrecisionMemBench: what must be found for a query, and nothing else.
//!
//! A belief's scope is a domain here, its canonical name a key, its aliases tags. A pinned belief
//! of a domain is a hard memory. An open question is of the type `task`, so that it can be included
//! and excluded by its type. Superseded beliefs are forgotten, resolved ones have ended.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use anyhow::{Context, Result};
use hyper::Method;
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::client::Client;
use super::set::read;

/// Number of beliefs for a case without a budget.
const BUDGET: usize = 20;
/// Number of faults shown of a failed case.
const FAULTS_SHOWN: usize = 3;

#[derive(Deserialize)]
struct ConfidenceInputs {
    #[serde(rename = "_id")]
    id: String,
    user_id: String,
    #[serde(rename = "type")]
    kind: String,
    canonical_name: String,
    aliases: Vec<String>,
    content: String,
    scope: Vec<String>,
    epistemic_status: String,
    pinned: bool,
    resolved_at: Option<Timestamp>,
    created_at: Timestamp,
    #[serde(default)]
    participants: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Case {
    case_id: String,
    user_id: Option<String>,
    scope: Vec<String>,
    query: String,
    budget: Option<Budget>,
    expect: Expected,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Budget {
    max_beliefs: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Expected {
    #[serde(default)]
    pinned_facts: Tier,
    #[serde(default)]
    relevant_beliefs: Tier,
    #[serde(default)]
    open_questions: Tier,
    #[serde(default)]
    persona_prelude: Prelude,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Tier {
    #[serde(default)]
    must_include: Vec<String>,
    #[serde(default)]
    must_exclude: Vec<String>,
    should_only_include: Option<Vec<String>>,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Prelude {
    #[serde(default)]
    non_empty: bool,
    #[serde(default)]
    is_null: bool,
    #[serde(default)]
    contains: Vec<String>,
    #[serde(default)]
    must_not_contain: Vec<String>,
}

impl Tier {
    /// The faults of a result. `should_only_include` lists all of it: one too many and one too few
    /// are both faults.
    fn faults(&self, tier: &str, returned: &[String]) -> Vec<String> {
        let has = |id: &String| returned.contains(id);
        let missing = self.must_include.iter().filter(|id| !has(id));
        let mut faults: Vec<String> = missing.map(|id| format!("{tier} lacks {id}")).collect();
        let unwanted = self.must_exclude.iter().filter(|id| has(id));
        faults.extend(unwanted.map(|id| format!("{tier} has {id}")));
        if let Some(only) = &self.should_only_include {
            let (wanted, got): (BTreeSet<_>, BTreeSet<_>) =
                (only.iter().collect(), returned.iter().collect());
            faults.extend(wanted.difference(&got).map(|id| format!("{tier} lacks {id}")));
            faults.extend(got.difference(&wanted).map(|id| format!("{tier} has {id}")));
        }
        faults.sort();
        faults.dedup();
        faults
    }
}

impl Prelude {
    fn faults(&self, prelude: &str) -> Vec<String> {
        let has = |words: &String| prelude.to_lowercase().contains(&words.to_lowercase());
        let mut faults = Vec::new();
        if self.non_empty && prelude.is_empty() {
            faults.push("the prelude is empty".to_owned());
        }
        if self.is_null && !prelude.is_empty() {
            faults.push("there is a prelude".to_owned());
        }
        let missing = self.contains.iter().filter(|words| !has(words));
        faults.extend(missing.map(|words| format!("the prelude lacks {words:?}")));
        let unwanted = self.must_not_contain.iter().filter(|words| has(words));
        faults.extend(unwanted.map(|words| format!("the prelude has {words:?}")));
        faults
    }
}

#[derive(Debug, Serialize)]
pub struct Precision {
    pub cases: usize,
    pub passes: usize,
    /// Number of cases in which something is to be found, and of those that passed.
    pub active: usize,
    pub active_passes: usize,
    pub mean_precision: f64,
    pub mean_recall: f64,
    /// Whether the server supports searches for exactly what the query names.
    pub precise: bool,
    pub failures: Vec<String>,
}

pub async fn run(client: &Client, data: &Path) -> Result<Precision> {
    let folder = data.join("precisionmembench/fixtures");
    let beliefs: Vec<ConfidenceInputs> = read(&folder.join("beliefs.seed.json"))?;
    let cases: Vec<Case> = read(&folder.join("retrieval.cases.json"))?;
    eprintln!("precision: {} beliefs, {} cases", beliefs.len(), cases.len());
    let precise = client.knows("precise", json!(true)).await?;
    let bench = Bench { client, names: fill(client, &beliefs).await?, precise };
    let (mut failures, mut passes, mut active, mut active_passes) = (Vec::new(), 0, 0, 0);
    let (mut precisions, mut recalls) = (0.0, 0.0);
    for case in &cases {
        let (faults, relevant) = bench.case(case).await.context(case.case_id.clone())?;
        let passed = faults.is_empty();
        passes += usize::from(passed);
        if let Some(wanted) = &case.expect.relevant_beliefs.should_only_include
            && !wanted.is_empty()
        {
            let right = relevant.iter().filter(|id| wanted.contains(id)).count() as f64;
            precisions += right / relevant.len().max(1) as f64;
            recalls += right / wanted.len() as f64;
            active += 1;
            active_passes += usize::from(passed);
        }
        if !passed {
            let shown: Vec<&str> = faults.iter().take(FAULTS_SHOWN).map(String::as_str).collect();
            let more = match faults.len().saturating_sub(FAULTS_SHOWN) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            failures.push(format!("{}: {}{more}", case.case_id, shown.join(", ")));
        }
    }
    let of_active = |sum: f64| sum / f64::from(u32::try_from(active.max(1)).unwrap_or(1));
    Ok(Precision {
        cases: cases.len(),
        passes,
        active,
        active_passes,
        mean_precision: of_active(precisions),
        mean_recall: of_active(recalls),
        precise,
        failures,
    })
}

fn user(name: &str) -> String {
    format!("precision-{name}")
}

/// The domains of a scope; a global scope has none.
fn domains(scope: &[String]) -> Vec<&str> {
    scope.iter().filter_map(|scope| scope.strip_prefix("domain:")).collect()
}

/// Saves every belief; returns the belief's name by memory id.
async fn fill(client: &Client, beliefs: &[ConfidenceInputs]) -> Result<HashMap<String, String>> {
    for name in ["code", "writing", "hobby"] {
        let body = Some(json!({ "display_name": name }));
        let path = format!("/api/domains/{name}");
        client.ask("precision-test-user", Method::PUT, &path, body).await?;
    }
    let user_names: BTreeSet<String> = beliefs.iter().map(|belief| user(&belief.user_id)).collect();
    for user_name in &user_names {
        client.open_domains(user_name).await?;
    }
    let mut ids: HashMap<&str, String> = HashMap::new();
    for belief in beliefs {
        let domain = domains(&belief.scope).first().copied();
        let open = belief.kind == "open_question";
        let hard = belief.pinned && domain.is_some() && !open;
        let ended = belief.resolved_at;
        let day = SignedDuration::from_hours(24);
        let since = ended.map_or(belief.created_at, |end| belief.created_at.min(end - day));
        let memory = json!({
            "content": belief.content,
            "domain": domain,
            "key": belief.canonical_name,
            "tags": belief.aliases,
            "type": if open { "task" } else { "profile" },
            "kind": if belief.kind == "preference" { "preference" } else { "fact" },
            "force": if hard { "hard" } else { "soft" },
            "valid_from": since.to_string(),
            "valid_until": ended.map(|end| end.to_string()),
        });
        let saved = client.save(&user(&belief.user_id), memory).await;
        ids.insert(&belief.id, saved.with_context(|| belief.id.clone())?);
    }
    for belief in beliefs {
        let user_name = user(&belief.user_id);
        let path = format!("/api/memory/{}", ids[belief.id.as_str()]);
        for other in belief.participants.iter().filter_map(|other| ids.get(other.as_str())) {
            let body = Some(json!({ "to": other }));
            client.ask(&user_name, Method::POST, &format!("{path}/links"), body).await?;
        }
        if belief.epistemic_status == "superseded" {
            client.ask(&user_name, Method::POST, &format!("{path}/forget"), None).await?;
        }
    }
    Ok(ids.into_iter().map(|(belief, id)| (id, belief.to_owned())).collect())
}

struct Bench<'a> {
    client: &'a Client,
    names: HashMap<String, String>,
    precise: bool,
}

impl Bench<'_> {
    /// The faults of the answer to a case, and what was found relevant.
    async fn case(&self, case: &Case) -> Result<(Vec<String>, Vec<String>)> {
        let user_name = user(case.user_id.as_deref().unwrap_or("test-user"));
        let scope = domains(&case.scope);
        let path = "/api/memory?status=active&limit=200";
        let listed = self.client.send(&user_name, Method::GET, path, None).await?;
        // A user without memories may not exist.
        let all: Vec<Value> = match listed.status {
            404 => Vec::new(),
            _ => listed.body["data"].as_array().cloned().context("a list without data")?,
        };
        let within = |memory: &&Value| {
            memory["domain"].as_str().is_some_and(|domain| scope.contains(&domain))
        };
        let is_question = |memory: &&Value| memory["type"] == "task";
        let pinned = all.iter().filter(within).filter(|memory| memory["force"] == "hard");
        let mut pinned = self.beliefs(pinned.filter(|memory| !is_question(memory)))?;
        let questions = self.beliefs(all.iter().filter(within).filter(is_question))?;
        let prelude: Vec<&str> = all
            .iter()
            .filter(|memory| memory["domain"].is_null())
            .filter_map(|memory| memory["content"].as_str())
            .collect();
        // Pinned beliefs come first within the budget; if it is too small for them, the best
        // matches.
        let budget = case.budget.as_ref().map_or(BUDGET, |budget| budget.max_beliefs);
        if budget > 0 && budget < pinned.len() {
            let request = json!({
                "query": case.query,
                "limit": pinned.len(),
                "domains": scope,
                "force": "hard",
                "type": "profile",
            });
            let fits = self.search(&user_name, &request).await?;
            let rank = |id: &String| fits.iter().position(|fit| fit == id).unwrap_or(fits.len());
            pinned.sort_by_key(rank);
        }
        pinned.truncate(budget);
        let mut relevant = Vec::new();
        if budget > pinned.len() {
            let mut request = json!({
                "query": case.query,
                "limit": budget - pinned.len(),
                "domains": scope,
                "force": "soft",
                "type": "profile",
            });
            if self.precise {
                request["precise"] = json!(true);
            }
            relevant = self.search(&user_name, &request).await?;
        }
        let mut faults = case.expect.pinned_facts.faults("pinned", &pinned);
        faults.extend(case.expect.relevant_beliefs.faults("relevant", &relevant));
        faults.extend(case.expect.open_questions.faults("questions", &questions));
        faults.extend(case.expect.persona_prelude.faults(&prelude.join("\n")));
        Ok((faults, relevant))
    }

    async fn search(&self, user_name: &str, request: &Value) -> Result<Vec<String>> {
        let found = self.client.search(user_name, request).await?;
        let found = found["memories"].as_array().cloned().unwrap_or_default();
        self.beliefs(found.iter().map(|one| &one["memory"]))
    }

    fn beliefs<'v>(&self, memories: impl Iterator<Item = &'v Value>) -> Result<Vec<String>> {
        let name = |memory: &Value| {
            let id = memory["id"].as_str().context("a memory without an id")?;
            Ok(self.names.get(id).with_context(|| format!("{id} was never saved"))?.clone())
        };
        memories.map(name).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extra_and_missing_results_are_both_faults() {
        let tier: Tier =
            serde_json::from_value(json!({ "shouldOnlyInclude": ["a", "b"] })).unwrap();
        let ids_of =
            |ids: &[&str]| -> Vec<String> { ids.iter().map(ToString::to_string).collect() };
        assert!(tier.faults("t", &ids_of(&["b", "a"])).is_empty());
        assert_eq!(tier.faults("t", &ids_of(&["a"])), ["t lacks b"]);
        assert_eq!(tier.faults("t", &ids_of(&["a", "b", "c"])), ["t has c"]);
        let tier: Tier = serde_json::from_value(json!({ "mustExclude": ["a"] })).unwrap();
        assert_eq!(tier.faults("t", &ids_of(&["a", "z"])), ["t has a"]);
    }
}
