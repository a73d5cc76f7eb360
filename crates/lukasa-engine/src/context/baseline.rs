//! The baseline of a session: which memories it is made from, and its frozen form.

use std::collections::HashMap;

use lukasa_core::context::block::{self, Item, Source};
use lukasa_core::context::{Budget, may_inject, precedence};
use lukasa_core::recall::index::Index;
use lukasa_core::{AsOf, Category, FactId, Force, Version, VersionId};
use lukasa_store::context::Baseline;
use lukasa_store::{Scope, recallable};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::retrieve::{Ask, Part};
use crate::Engine;
use crate::cpu::LARGE_TEXT_CHARS;
use crate::error::Result;
use crate::recall::{Opened, is_usable};

/// A new baseline, and the domains it quotes.
pub(super) async fn render(
    engine: &Engine,
    opened: &Opened,
    ask: &Ask,
    budget: Budget,
    point: AsOf,
) -> Result<(Part, Vec<String>)> {
    let (asked, around) = (ask.domains.clone(), opened.around.clone());
    let choose =
        move |index: &Index| candidates(index, asked.as_deref(), &budget, point, &around.shut);
    let candidates = opened.mind.with(&engine.cpu, choose).await?;
    let versions = in_order(&opened.scope, &candidates).await?;
    let large = versions.iter().map(|v| v.claim.content.len()).sum::<usize>() > LARGE_TEXT_CHARS;
    let build = move || {
        let part = Part::from(block::baseline(&versions, &budget));
        let facts: Vec<FactId> = part.items.iter().flat_map(Item::facts).collect();
        let quoted = versions.iter().filter(|version| facts.contains(&version.fact));
        let mut domains: Vec<String> = quoted.filter_map(|v| v.claim.domain.clone()).collect();
        domains.sort_unstable();
        domains.dedup();
        (part, domains)
    };
    engine.cpu.run_if(large, build).await
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

/// What a baseline depends on besides the memories. Other wishes have another baseline.
pub(super) fn wishes(ask: &Ask) -> String {
    let said = format!(
        "{:?} {} {:?} {:?} {:?}",
        ask.domains, ask.tokens, ask.window, ask.point, ask.filter
    );
    Sha256::digest(said.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

pub(super) fn thawed(baseline: &Baseline) -> Part {
    let items = baseline.items["items"].as_array().into_iter().flatten();
    Part {
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

/// The sections a stored item can be under; anything else was written by a later edition.
const SECTIONS: [&str; 5] =
    ["Hard preferences (must be respected)", "Profile", "Current context", "Style", "Facts"];

pub(super) fn item_json(item: &Item) -> serde_json::Value {
    let Source::Memory { fact, version } = &item.source else { return serde_json::Value::Null };
    json!({"mark": item.mark, "fact": fact, "version": version, "section": item.section,
           "also": item.also, "line": item.line, "tokens": item.tokens})
}

fn item_from_json(value: &serde_json::Value) -> Option<Item> {
    let text = |name: &str| value[name].as_str();
    Some(Item {
        mark: text("mark")?.to_owned(),
        source: Source::Memory {
            fact: text("fact")?.parse().ok()?,
            version: text("version")?.parse().ok()?,
        },
        also: match &value["also"] {
            // Written before a line could stand for several.
            serde_json::Value::Null => Vec::new(),
            also => serde_json::from_value(also.clone()).ok()?,
        },
        section: SECTIONS.into_iter().find(|section| Some(*section) == text("section"))?,
        line: text("line")?.to_owned(),
        tokens: value["tokens"].as_u64().and_then(|n| usize::try_from(n).ok())?,
        relevance: None,
    })
}

/// What the baseline is chosen from, in order of precedence.
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
    let mut standing: Vec<_> = (0..index.len())
        .map(|at| index.unit(at))
        .filter(|unit| is_usable(unit, point, shut))
        .filter_map(|unit| unit.facets.as_ref().map(|facets| (unit, facets)))
        .filter(|(_, facets)| within(facets.domain.as_ref()))
        .filter(|(_, facets)| {
            facets.own && facets.force == Force::Hard || may_inject(facets, point.valid)
        })
        .collect();
    standing.sort_by(|(a, af), (b, bf)| precedence(af, bf).then(b.subject.cmp(&a.subject)));
    let ids = |(unit, _): &(&lukasa_core::recall::index::Unit, _)| {
        (FactId::from_uuid(unit.subject), VersionId::from_uuid(unit.source))
    };
    // Of each category no more than could fit if every line were as short as a line can be.
    let mut room: Vec<(Category, usize)> = Category::ALL
        .iter()
        .map(|category| (*category, budget.category(*category) / block::SHORTEST_LINE + 1))
        .collect();
    standing.retain(|(_, facets)| {
        let own = room.iter_mut().find(|(category, _)| *category == facets.category);
        match own {
            _ if facets.force == Force::Hard => true,
            Some((_, left)) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        }
    });
    standing.iter().map(ids).collect()
}
