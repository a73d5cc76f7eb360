//! The baseline of a session: selection of its memories, and its frozen form.

use std::collections::HashMap;

use lukasa_core::context::block::{self, LineSource, PromptLine};
use lukasa_core::context::{Budget, may_inject, precedence};
use lukasa_core::recall::index::Index;
use lukasa_core::{AsOf, Category, FactId, Force, Version, VersionId};
use lukasa_store::context::Baseline;
use lukasa_store::{Scope, recallable};
use serde_json::json;

use super::retrieve::{ContextPart, ContextRequest};
use crate::cpu::LARGE_TEXT_CHARS;
use crate::error::Result;
use crate::parts::Parts;
use crate::recall::{OpenedIndex, is_usable};

/// Renders a new baseline; also returns the domains it quotes.
pub(super) async fn render(
    parts: &Parts,
    opened: &OpenedIndex,
    ask: &ContextRequest,
    budget: Budget,
    point: AsOf,
) -> Result<(ContextPart, Vec<String>)> {
    let (asked, ctx) = (ask.domains.clone(), opened.ctx.clone());
    let choose =
        move |index: &Index| candidates(index, asked.as_deref(), &budget, point, &ctx.shut);
    let candidates = opened.user_index.with(&parts.cpu, choose).await?;
    let versions = in_order(&opened.scope, &candidates).await?;
    let large = versions.iter().map(|v| v.claim.content.len()).sum::<usize>() > LARGE_TEXT_CHARS;
    let build = move || {
        let part = ContextPart::from(block::baseline(&versions, &budget));
        let facts: Vec<FactId> = part.items.iter().flat_map(PromptLine::facts).collect();
        let quoted = versions.iter().filter(|version| facts.contains(&version.fact));
        let mut domains: Vec<String> = quoted.filter_map(|v| v.claim.domain.clone()).collect();
        domains.sort_unstable();
        domains.dedup();
        (part, domains)
    };
    parts.cpu.run_if(large, build).await
}

/// The versions with these ids, in this order.
pub(super) async fn in_order(scope: &Scope, ids: &[(FactId, VersionId)]) -> Result<Vec<Version>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let versions = recallable::versions(scope, ids).await?;
    let mut by_id: HashMap<VersionId, Version> = versions.into_iter().map(|v| (v.id, v)).collect();
    Ok(ids.iter().filter_map(|(_, version)| by_id.remove(version)).collect())
}

pub(super) fn part_from_baseline(baseline: &Baseline) -> ContextPart {
    let items = baseline.items["items"].as_array().into_iter().flatten();
    ContextPart {
        content: baseline.content.clone(),
        nonce: baseline.nonce.clone(),
        etag: baseline.etag.clone(),
        tokens: baseline.items["tokens"]
            .as_u64()
            .and_then(|n| usize::try_from(n).ok())
            .unwrap_or(0),
        items: items.filter_map(item_from_json).collect(),
        left_out: Vec::new(),
    }
}

/// Section titles of stored items; any other was written by a newer release.
const SECTIONS: [&str; 5] =
    ["Hard preferences (must be respected)", "Profile", "Current context", "Style", "Facts"];

pub(super) fn item_json(item: &PromptLine) -> serde_json::Value {
    let LineSource::Memory { fact, version } = &item.source else { return serde_json::Value::Null };
    json!({"mark": item.mark, "fact": fact, "version": version, "section": item.section,
           "also": item.also, "line": item.line, "tokens": item.tokens})
}

fn item_from_json(value: &serde_json::Value) -> Option<PromptLine> {
    let text = |name: &str| value[name].as_str();
    Some(PromptLine {
        mark: text("mark")?.to_owned(),
        source: LineSource::Memory {
            fact: text("fact")?.parse().ok()?,
            version: text("version")?.parse().ok()?,
        },
        also: match &value["also"] {
            // Stored before one line could represent several facts.
            serde_json::Value::Null => Vec::new(),
            also => serde_json::from_value(also.clone()).ok()?,
        },
        section: SECTIONS.into_iter().find(|section| Some(*section) == text("section"))?,
        line: text("line")?.to_owned(),
        tokens: value["tokens"].as_u64().and_then(|n| usize::try_from(n).ok())?,
        relevance: None,
    })
}

/// Candidates for the baseline, in order of precedence.
fn candidates(
    index: &Index,
    asked: Option<&[String]>,
    budget: &Budget,
    point: AsOf,
    shut: &[String],
) -> Vec<(FactId, VersionId)> {
    let within = |domain: Option<&String>| match (asked, domain) {
        (Some(asked), Some(domain)) => asked.contains(domain),
        _ => true,
    };
    let mut usable: Vec<_> = (0..index.len())
        .map(|at| index.unit(at))
        .filter(|unit| is_usable(unit, point, shut))
        .filter_map(|unit| unit.facets.as_ref().map(|facets| (unit, facets)))
        .filter(|(_, facets)| within(facets.domain.as_ref()))
        .filter(|(_, facets)| {
            facets.own && facets.force == Force::Hard || may_inject(facets, point.valid)
        })
        .collect();
    usable.sort_by(|(a, af), (b, bf)| precedence(af, bf).then(b.subject.cmp(&a.subject)));
    let ids = |(unit, _): &(&lukasa_core::recall::index::Unit, _)| {
        (FactId::from_uuid(unit.subject), VersionId::from_uuid(unit.source))
    };
    // Of each category, no more than would fit if every line had the minimum length.
    let mut slots: Vec<(Category, usize)> = Category::ALL
        .iter()
        .map(|category| (*category, budget.category(*category) / block::SHORTEST_LINE + 1))
        .collect();
    usable.retain(|(_, facets)| {
        let own = slots.iter_mut().find(|(category, _)| *category == facets.category);
        match own {
            _ if facets.force == Force::Hard => true,
            Some((_, left)) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        }
    });
    usable.iter().map(ids).collect()
}
