//! Checks the rules of `name` against PrecisionMemBench, if its fixtures are available.
//!
//! Set `LUKASA_EVAL_DATA` to the folder that holds `precisionmembench/`; without it the test is
//! skipped, or fails where the data is required. The rules of the benchmark (which memories are
//! candidates, and that a relation adds its participants) are implemented here; name matching is
//! the crate's.

use std::collections::BTreeSet;
use std::{fs, path::Path};

use lukasa_text::name::Names;
use serde_json::Value;

#[path = "../../lukasa-core/tests/required_data/mod.rs"]
mod required_data;

#[test]
fn name_matches_are_exactly_those_of_the_benchmark() {
    let Some(data) = required_data::folder("LUKASA_EVAL_DATA") else { return };
    let folder = data.join("precisionmembench/fixtures");
    let beliefs = read(&folder.join("beliefs.seed.json"));
    let cases = read(&folder.join("retrieval.cases.json"));
    let mut checked = 0;
    let mut wrong = Vec::new();
    for case in &cases {
        let relevant = &case["expect"]["relevantBeliefs"];
        let Some(expected) = relevant["shouldOnlyInclude"].as_array() else { continue };
        let expected: BTreeSet<_> = expected.iter().filter_map(Value::as_str).collect();
        let found = within_budget(case, &beliefs, found(case, &beliefs));
        checked += 1;
        if found != expected {
            wrong.push(format!("{}: expected {expected:?}, found {found:?}", case["caseId"]));
        }
    }
    println!("{} of {checked} cases match", checked - wrong.len());
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn read(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("the fixtures are readable");
    serde_json::from_str(&text).expect("the fixtures are JSON")
}

fn found<'a>(case: &Value, beliefs: &'a [Value]) -> BTreeSet<&'a str> {
    let candidates: Vec<_> = beliefs.iter().filter(|b| is_candidate(case, b)).collect();
    let names = Names::new(candidates.iter().enumerate().map(|(i, b)| (i, names_of(b))));
    let query = case["query"].as_str().unwrap_or_default();
    let mut found = BTreeSet::new();
    for named in names.named_in(query) {
        let belief = candidates[named.index];
        found.extend(belief["_id"].as_str());
        let participants = belief["participants"].as_array().into_iter().flatten();
        let reached = participants.filter(|_| belief["type"] == "relation");
        let ids: Vec<_> = reached.filter_map(Value::as_str).collect();
        let reached = candidates.iter().filter_map(|b| b["_id"].as_str());
        found.extend(reached.filter(|id| ids.contains(id)));
    }
    found
}

fn is_candidate(case: &Value, belief: &Value) -> bool {
    is_live(case, belief) && belief["pinned"] != true && belief["type"] != "open_question"
}

/// Whether a belief is the user's own, in scope, and neither superseded nor resolved.
fn is_live(case: &Value, belief: &Value) -> bool {
    let scopes = |of: &Value| -> BTreeSet<String> {
        let scopes = of["scope"].as_array().into_iter().flatten();
        scopes.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    belief["user_id"] == case["userId"].as_str().unwrap_or("test-user")
        && !scopes(case).is_disjoint(&scopes(belief))
        && belief["superseded_by"].is_null()
        && belief["resolved_at"].is_null()
}

fn names_of(belief: &Value) -> Vec<&str> {
    let aliases = belief["aliases"].as_array().into_iter().flatten();
    belief["canonical_name"].as_str().into_iter().chain(aliases.filter_map(Value::as_str)).collect()
}

/// A case with a budget fills it with pinned beliefs first.
fn within_budget<'a>(
    case: &Value,
    beliefs: &[Value],
    found: BTreeSet<&'a str>,
) -> BTreeSet<&'a str> {
    let Some(most) = case["budget"]["maxBeliefs"].as_u64() else { return found };
    let pinned = beliefs.iter().filter(|b| is_live(case, b) && b["pinned"] == true);
    let facts = pinned.filter(|b| b["type"] != "open_question").count();
    let left = usize::try_from(most).unwrap_or(0).saturating_sub(facts);
    found.into_iter().take(left).collect()
}
