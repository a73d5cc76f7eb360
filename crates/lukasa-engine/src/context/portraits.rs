//! Sentences of stored portraits for prompts: of the documents about the user in the baseline, and
//! of the domains of a message in the dynamic part. Only portraits that a model phrased are used; of
//! these also the sentences in the memories' own words, which replace rejected ones. All memories that a
//! sentence cites must be allowed in the prompt.

use std::collections::{BTreeMap, BTreeSet};

use lukasa_core::context::block::DomainSentence;
use lukasa_core::context::may_inject;
use lukasa_core::portrait::{PortraitName, TEMPLATE};
use lukasa_core::recall::Facets;
use lukasa_core::recall::index::Index;
use lukasa_core::sentence::Sentence;
use lukasa_core::{AsOf, FactId, Force, Version, VersionId};
use lukasa_store::portrait::{self, StoredPortrait};

use super::retrieve::ContextRequest;
use crate::error::Result;
use crate::parts::Parts;
use crate::recall::{OpenedIndex, Recall, is_usable};

/// Maximum number of sentences about the domains of a message.
const MAX_DOMAIN_SENTENCES: usize = 12;

/// The sentences of the portraits about the user. A portrait is about now.
pub(super) async fn user_sentences(
    opened: &OpenedIndex,
    ask: &ContextRequest,
) -> Result<Vec<Sentence>> {
    if !ask.point.is_now() {
        return Ok(Vec::new());
    }
    let about_user = [PortraitName::Profile, PortraitName::Procedures, PortraitName::ActiveContext];
    let names: Vec<String> = about_user.iter().map(ToString::to_string).collect();
    phrased(opened, &names).await
}

/// The sentences of the portraits of these domains, with their memories, as far as none of these is
/// in the baseline.
pub(super) async fn domain_sentences(
    parts: &Parts,
    recall: &Recall,
    opened: &OpenedIndex,
    ask: &ContextRequest,
    domains: &[String],
    shown: &[FactId],
    point: AsOf,
) -> Result<Vec<DomainSentence>> {
    // A precise request asks only for the memories that the message names.
    if domains.is_empty() || ask.precise || !ask.point.is_now() {
        return Ok(Vec::new());
    }
    let names = domains.iter().map(|name| PortraitName::Domain(name.clone()).to_string());
    let mut sentences = phrased(opened, &names.collect::<Vec<_>>()).await?;
    sentences.retain(|sentence| sentence.facts.iter().all(|fact| !shown.contains(fact)));
    sentences.truncate(MAX_DOMAIN_SENTENCES);
    let cited: BTreeSet<FactId> = sentences.iter().flat_map(|s| s.facts.iter().copied()).collect();
    if cited.is_empty() {
        return Ok(Vec::new());
    }
    let (ctx, filter) = (opened.ctx.clone(), ask.filter.clone());
    let choose = move |index: &Index| {
        let usable = index.current_facts().filter(|unit| {
            // Rules have their own lines.
            let may =
                |facets: &Facets| facets.force == Force::Soft && may_inject(facets, point.valid);
            unit.facets.as_deref().is_some_and(may)
                && filter.matches(unit)
                && is_usable(index, unit, point, &ctx)
        });
        let ids = usable.map(|unit| (FactId::from_uuid(unit.subject), unit.source));
        let ids = ids.filter(|(fact, _)| cited.contains(fact));
        ids.map(|(fact, version)| (fact, VersionId::from_uuid(version))).collect::<Vec<_>>()
    };
    let ids = opened.user_index.with(&parts.cpu, choose).await?;
    let versions = recall.versions(opened, &ids).await?;
    let by_fact: BTreeMap<FactId, Version> = versions.into_iter().map(|v| (v.fact, v)).collect();
    let whole = |sentence: Sentence| {
        let memories = sentence.facts.iter().map(|fact| by_fact.get(fact).cloned());
        Some(DomainSentence { memories: memories.collect::<Option<_>>()?, sentence })
    };
    Ok(sentences.into_iter().filter_map(whole).collect())
}

/// The sentences of those of these portraits that a model phrased.
async fn phrased(opened: &OpenedIndex, names: &[String]) -> Result<Vec<Sentence>> {
    if opened.ctx.portraits.is_none() {
        return Ok(Vec::new());
    }
    let stored = portrait::list(&opened.scope).await?.into_iter();
    let stored = stored
        .filter(|kept: &StoredPortrait| kept.made_by != TEMPLATE && names.contains(&kept.name));
    Ok(stored.flat_map(|kept| kept.sentences).collect())
}
