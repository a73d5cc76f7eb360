//! The baseline of a session: selection of its memories, and its frozen form.

use std::sync::Arc;

use lukasa_core::context::block::{self, LeftOut, LeftOutReason, LineSource, PromptLine};
use lukasa_core::context::{Budget, EarlierClaim, EarlierClaims, may_inject, precedence};
use lukasa_core::note::is_withheld;
use lukasa_core::recall::Facets;
use lukasa_core::recall::index::Index;
use lukasa_core::{AsOf, Category, FactId, Force, Version, VersionId};
use lukasa_store::context::Baseline;
use lukasa_store::{Scope, recallable};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Contexts;
use super::baseline_cache::RenderedBaseline;
use super::portraits::user_sentences;
use super::retrieve::{ContextPart, ContextRequest};
use crate::cpu::LARGE_TEXT_CHARS;
use crate::error::Result;
use crate::parts::Parts;
use crate::recall::{OpenedIndex, Recall, RecallContext, is_usable};

impl Contexts {
    /// Renders a new baseline, or takes the one that was rendered of the same memories.
    pub(super) async fn render_baseline(
        &self,
        opened: &OpenedIndex,
        ask: &ContextRequest,
        budget: Budget,
        point: AsOf,
    ) -> Result<RenderedBaseline> {
        let (asked, ctx) = (ask.domains.clone(), opened.ctx.clone());
        let choose = move |index: &Index| candidates(index, asked.as_deref(), &budget, point, &ctx);
        let candidates = opened.user_index.with(&self.parts.cpu, choose).await?;
        let (user, ctx, is_now) = (opened.scope.user(), &opened.ctx, ask.point.is_now());
        let known = self.baselines.find(user, budget, ctx, &candidates).filter(|_| is_now);
        if let Some(known) = known {
            return Ok(known);
        }
        let mut versions = self.recall.versions(opened, &candidates).await?;
        versions.retain(|version| !is_withheld(version));
        let portraits = user_sentences(opened, ask).await?;
        let earlier = earlier_claims(&opened.scope, versions.iter()).await?;
        let chars = versions.iter().map(|v| v.claim.content.len()).sum::<usize>();
        let build = move || {
            let block = block::baseline_of_portraits(&versions, &earlier, &portraits, &budget);
            let part = ContextPart::from(block);
            let facts: Vec<FactId> = part.items.iter().flat_map(PromptLine::facts).collect();
            let quoted = versions.iter().filter(|version| facts.contains(&version.fact));
            let mut domains: Vec<String> = quoted.filter_map(|v| v.claim.domain.clone()).collect();
            domains.sort_unstable();
            domains.dedup();
            RenderedBaseline { part: Arc::new(part), domains: domains.into() }
        };
        let rendered = self.parts.cpu.run_if(chars > LARGE_TEXT_CHARS, build).await?;
        if is_now {
            self.baselines.keep(user, budget, ctx, candidates, rendered.clone());
        }
        Ok(rendered)
    }
}

/// What these memories said before they changed, for those that did.
pub(super) async fn earlier_claims<'v>(
    scope: &Scope,
    versions: impl Iterator<Item = &'v Version>,
) -> Result<EarlierClaims> {
    let changed: Vec<&Version> = versions.filter(|version| version.number > 1).collect();
    if changed.is_empty() {
        return Ok(EarlierClaims::new());
    }
    let found = recallable::earlier(scope, &changed).await?;
    let claim = |(fact, content, until)| (fact, EarlierClaim { content, until });
    Ok(found.into_iter().map(claim).collect())
}

/// The lines of a baseline as they are stored.
#[derive(Debug, Default, Serialize, Deserialize)]
struct BaselineLines<L> {
    tokens: usize,
    items: Vec<L>,
}

pub(super) fn lines_to_json(part: &ContextPart) -> serde_json::Value {
    let lines = BaselineLines { tokens: part.tokens, items: part.items.iter().collect() };
    json!(lines)
}

pub(super) fn part_from_baseline(baseline: &Baseline) -> ContextPart {
    let lines = BaselineLines::<serde_json::Value>::deserialize(&baseline.items);
    let BaselineLines { tokens, items } = lines.unwrap_or_default();
    ContextPart {
        content: baseline.content.clone(),
        nonce: baseline.nonce.clone(),
        etag: baseline.etag.clone(),
        tokens,
        // A line that cannot be read was written by a newer release: it is only not cited.
        items: items.iter().filter_map(|item| PromptLine::deserialize(item).ok()).collect(),
        left_out: Vec::new(),
        conflicts: Vec::new(),
    }
}

/// The rules of the domains of a message that are not among the lines of the baseline.
#[derive(Debug, Default)]
pub(super) struct DomainRules {
    /// In the order of precedence, as many as would fit if every line had the minimum length.
    pub(super) rules: Vec<Version>,
    /// The others, which cannot fit.
    pub(super) left_out: Vec<LeftOut>,
}

/// The rules of these domains that are not among the lines of the baseline, for a context of this many
/// tokens.
pub(super) async fn rules_of_domains(
    parts: &Parts,
    recall: &Recall,
    opened: &OpenedIndex,
    domains: Vec<String>,
    shown: Vec<FactId>,
    tokens: usize,
    point: AsOf,
) -> Result<DomainRules> {
    if domains.is_empty() {
        return Ok(DomainRules::default());
    }
    let ctx = opened.ctx.clone();
    let choose = move |index: &Index| {
        let is_asked = |domain: Option<&String>| domain.is_some_and(|name| domains.contains(name));
        let mut rules: Vec<_> = index
            .current_facts()
            .filter_map(|unit| unit.facets.as_ref().map(|facets| (unit, facets)))
            .filter(|(_, facets)| {
                facets.force == Force::Hard && facets.own && !facets.from_assistant
            })
            .filter(|(_, facets)| is_asked(facets.domain.as_ref()))
            .filter(|(unit, _)| is_usable(index, unit, point, &ctx))
            .filter(|(unit, _)| !shown.contains(&FactId::from_uuid(unit.subject)))
            .collect();
        let order = |a: &Facets, b: &Facets| precedence(a, b, point.valid);
        rules.sort_by(|(a, af), (b, bf)| order(af, bf).then(b.subject.cmp(&a.subject)));
        let ids = |(unit, _): &(&lukasa_core::recall::index::Unit, _)| {
            (FactId::from_uuid(unit.subject), VersionId::from_uuid(unit.source))
        };
        rules.iter().map(ids).collect::<Vec<_>>()
    };
    let mut rules = opened.user_index.with(&parts.cpu, choose).await?;
    let rest = rules.split_off(rules.len().min(tokens / block::SHORTEST_LINE + 1));
    let left_out = |(fact, version)| LeftOut {
        source: LineSource::Memory { fact, version },
        reason: LeftOutReason::OverBudget,
        relevance: None,
    };
    let left_out = rest.into_iter().map(left_out).collect();
    Ok(DomainRules { rules: recall.versions(opened, &rules).await?, left_out })
}

/// Candidates for the baseline, in order of precedence.
fn candidates(
    index: &Index,
    asked: Option<&[String]>,
    budget: &Budget,
    point: AsOf,
    ctx: &RecallContext,
) -> Vec<(FactId, VersionId)> {
    let within = |domain: Option<&String>| match (asked, domain) {
        (Some(asked), Some(domain)) => asked.contains(domain),
        _ => true,
    };
    let mut usable: Vec<_> = index
        .current_facts()
        .filter(|unit| is_usable(index, unit, point, ctx))
        .filter_map(|unit| unit.facets.as_ref().map(|facets| (unit, facets)))
        .filter(|(_, facets)| within(facets.domain.as_ref()))
        .filter(|(_, facets)| {
            facets.own && facets.force == Force::Hard || may_inject(facets, point.valid)
        })
        .collect();
    let order = |a: &Facets, b: &Facets| precedence(a, b, point.valid);
    usable.sort_by(|(a, af), (b, bf)| order(af, bf).then(b.subject.cmp(&a.subject)));
    let ids = |(unit, _): &(&lukasa_core::recall::index::Unit, _)| {
        (FactId::from_uuid(unit.subject), VersionId::from_uuid(unit.source))
    };
    // Of the rules and of each category, no more than would fit if every line had the minimum
    // length.
    let mut rules = budget.total / block::SHORTEST_LINE + 1;
    let mut slots: Vec<(Category, usize)> = Category::ALL
        .iter()
        .map(|category| (*category, budget.category(*category) / block::SHORTEST_LINE + 1))
        .collect();
    usable.retain(|(_, facets)| {
        let own = slots.iter_mut().find(|(category, _)| *category == facets.category);
        match own {
            _ if facets.force == Force::Hard => {
                rules = rules.saturating_sub(1);
                rules > 0
            }
            Some((_, left)) if *left > 0 => {
                *left -= 1;
                true
            }
            _ => false,
        }
    });
    usable.iter().map(ids).collect()
}

#[cfg(test)]
mod tests {
    use lukasa_core::context::Section;
    use lukasa_core::time::Timestamp;
    use uuid::Uuid;

    use super::*;

    fn baseline(items: serde_json::Value) -> Baseline {
        Baseline {
            session: "chat".into(),
            wishes: String::new(),
            etag: "etag".into(),
            nonce: "nonce".into(),
            content: "content".into(),
            items,
            facts: Vec::new(),
            domains: Vec::new(),
            project: None,
            rendered_at: Timestamp::UNIX_EPOCH,
        }
    }

    fn line(mark: &str, section: Section) -> PromptLine {
        PromptLine {
            mark: mark.into(),
            source: LineSource::Memory {
                fact: FactId::from_uuid(Uuid::from_u128(1)),
                version: VersionId::from_uuid(Uuid::from_u128(2)),
            },
            also: vec![FactId::from_uuid(Uuid::from_u128(3))],
            section,
            line: "Drinks oolong".into(),
            tokens: 12,
            relevance: None,
        }
    }

    #[test]
    fn baseline_lines_are_read_as_they_were_stored() {
        let sections = Section::ALL.iter().map(|section| line("m1", *section));
        let part = ContextPart {
            content: "content".into(),
            nonce: "nonce".into(),
            etag: "etag".into(),
            tokens: 40,
            items: sections.collect(),
            left_out: Vec::new(),
            conflicts: Vec::new(),
        };
        assert_eq!(part_from_baseline(&baseline(lines_to_json(&part))), part);
    }

    #[test]
    fn baseline_with_an_unknown_section_is_used_without_that_line() {
        let mut unknown = json!(line("m1", Section::Profile));
        unknown["section"] = "Section of a newer release".into();
        let items = json!({"tokens": 40, "items": [unknown, line("m2", Section::Style)]});
        let part = part_from_baseline(&baseline(items));
        assert_eq!((part.tokens, part.content.as_str()), (40, "content"));
        assert_eq!(part.items, [line("m2", Section::Style)]);
    }
}
