//! Links: typed, readable from both ends, and shown only while both ends are live.

use std::collections::{BTreeMap, BTreeSet};

use lukasa_core::link::{LinkGraph, is_relation};
use lukasa_core::{
    Caller, CallerKind, FactId, Link, LinkId, Period, ProjectScope, Status, Timestamp, Verb,
};
use lukasa_store::{Scope, link};

use super::Facts;
use super::target::Target;
use crate::closed_domains::HiddenDomains;
use crate::error::{Error, Result};
use crate::memory::{Memory, as_memory, current};
use crate::request::Request;
use crate::transaction::{Effect, Outcome, WriteStart, Writing, check_not_deleted};

/// A link as seen from one of its ends.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkedMemory {
    pub link: Link,
    /// The memory at the other end.
    pub other: Memory,
}

/// One page of the links of a memory.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkPage {
    pub links: Vec<LinkedMemory>,
    /// The last link of the page, if more follow.
    pub next: Option<LinkId>,
}

/// Maximum distance of a memory in a graph, in links.
pub const MAX_GRAPH_DEPTH: usize = 3;
/// Maximum number of memories in a graph, and of links that are read for one of its steps.
const MAX_GRAPH_MEMORIES: usize = 200;
const MAX_GRAPH_LINKS: i64 = 1_000;

/// The memories that are linked with a memory, directly or over others.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryGraph {
    /// The memories and their distances in links, the nearest first; the memory itself is the first.
    pub memories: Vec<(Memory, usize)>,
    pub links: Vec<Link>,
    /// Whether some were left out, because there are too many.
    pub is_cut: bool,
}

impl Facts {
    pub async fn link(
        &self,
        request: &Request,
        from: &Target,
        to: &Target,
        relation: &str,
    ) -> Result<Outcome> {
        if !is_relation(relation) {
            return Err(Error::invalid("relation", "a lower-case word such as relates_to"));
        }
        let mut writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(outcome) => return Ok(outcome),
        };
        let (from, to) = (live(&writing, from).await?, live(&writing, to).await?);
        let (here, there) = (from.version.fact, to.version.fact);
        if here == there {
            return Err(Error::invalid("to", "another memory"));
        }
        let message = format!(
            "Linked: {} {relation} {}",
            from.version.claim.content, to.version.claim.content
        );
        let mut outcome = Outcome::of(Verb::Link, message).with(from).with(to);
        if let Some(same) = link::find_same(&writing.scope, here, there, relation).await? {
            outcome.link = Some(same);
            return writing.answer(outcome).await;
        }
        let new = Link {
            id: writing.stamp.ids.link(),
            from: here,
            to: there,
            relation: relation.to_owned(),
            known: Period::since(writing.stamp.at),
            opened_by: writing.stamp.operation,
            closed_by: None,
            reopens: None,
        };
        outcome.link = Some(new.clone());
        let effect = Effect { opens_links: vec![new], ..Effect::default() };
        writing.finish(Verb::Link, effect, outcome).await
    }

    /// Ends a link of the given memory.
    pub async fn unlink(&self, request: &Request, of: &Target, id: LinkId) -> Result<Outcome> {
        let writing = match self.transactions.begin(request).await? {
            WriteStart::New(writing) => writing,
            WriteStart::Repeated(outcome) => return Ok(outcome),
        };
        let fact = of.fact(&writing.scope, request.moment.now).await?;
        let found = link::find(&writing.scope, id).await?.ok_or(Error::LinkNotFound)?;
        if found.from != fact && found.to != fact {
            return Err(Error::LinkNotFound);
        }
        let mut outcome = Outcome::of(Verb::Unlink, "Unlinked.".into());
        let effect = Effect {
            closes_links: vec![id],
            also: vec![found.from, found.to],
            ..Effect::default()
        };
        outcome.link = Some(found);
        writing.finish(Verb::Unlink, effect, outcome).await
    }

    /// One page of the links of a memory whose other end is live and belongs to these projects, in
    /// the order they were made.
    pub async fn links(
        &self,
        caller: &Caller,
        of: &Target,
        projects: &ProjectScope,
        (after, limit): (Option<LinkId>, usize),
        now: Timestamp,
    ) -> Result<LinkPage> {
        let scope = self.parts.store.read_as(caller).await?;
        check_not_deleted(&scope, now).await?;
        let known = of.known(&scope, now).await?;
        let here = known[0].fact;
        let hidden = HiddenDomains::load(&scope, caller).await?;
        known.iter().try_for_each(|version| hidden.check(version))?;
        let wanted = i64::try_from(limit + 1).unwrap_or(i64::MAX);
        let mut links = link::live_page(&scope, here, projects, now, after, wanted).await?;
        let is_last = links.len() <= limit;
        links.truncate(limit);
        let next = links.last().filter(|_| !is_last).map(|link| link.id);
        let there = |link: &Link| if link.from == here { link.to } else { link.from };
        let ends: BTreeSet<FactId> = links.iter().map(there).collect();
        let ends: Vec<FactId> = ends.into_iter().collect();
        let all = lukasa_store::fact::known_now_of_all(&scope, &ends).await?;
        let others: BTreeMap<FactId, Memory> = all
            .chunk_by(|one, next| one.fact == next.fact)
            .filter_map(|known| {
                let version = current(known, now).filter(|version| !hidden.hides(version))?;
                Some((version.fact, as_memory(version, known, now)))
            })
            .collect();
        let linked = links.into_iter().filter_map(|link| {
            let other = others.get(&there(&link))?.clone();
            projects
                .admits(other.version.claim.project.as_ref())
                .then_some(LinkedMemory { link, other })
        });
        Ok(LinkPage { links: linked.collect(), next })
    }

    /// The memories that can be reached from a memory over at most this many links, and the links
    /// between them. Only live memories of these projects are on the way.
    pub async fn graph(
        &self,
        caller: &Caller,
        of: &Target,
        depth: usize,
        projects: &ProjectScope,
        now: Timestamp,
    ) -> Result<MemoryGraph> {
        if !(1..=MAX_GRAPH_DEPTH).contains(&depth) {
            return Err(Error::invalid("depth", "between 1 and 3"));
        }
        let scope = self.parts.store.read_as(caller).await?;
        check_not_deleted(&scope, now).await?;
        let hidden = HiddenDomains::load(&scope, caller).await?;
        let known = of.known(&scope, now).await?;
        let start = known[0].fact;
        known.iter().try_for_each(|version| hidden.check(version))?;
        let mut graph = LinkGraph::from(start, MAX_GRAPH_MEMORIES);
        for distance in 0..depth {
            let reached = graph.at(distance);
            if reached.is_empty() {
                break;
            }
            let mut found = link::live_of_all(&scope, &reached, now, MAX_GRAPH_LINKS).await?;
            graph.is_cut |= found.len() as i64 >= MAX_GRAPH_LINKS;
            if *projects != ProjectScope::All || caller.kind != CallerKind::Human {
                let ends = hidden_ends(&scope, &found, projects, &hidden, start, now).await?;
                found.retain(|link| !ends.contains(&link.from) && !ends.contains(&link.to));
            }
            graph.extend(distance, &found);
        }
        let facts: Vec<FactId> = graph.distances.keys().copied().collect();
        let all = lukasa_store::fact::known_now_of_all(&scope, &facts).await?;
        let mut memories = Vec::new();
        for known in all.chunk_by(|one, next| one.fact == next.fact) {
            if let (Some(version), Some(at)) =
                (current(known, now), graph.distances.get(&known[0].fact))
            {
                memories.push((as_memory(version, known, now), *at));
            }
        }
        memories.sort_by_key(|(memory, distance)| (*distance, memory.version.fact));
        let links = graph.links.into_values().collect();
        Ok(MemoryGraph { memories, links, is_cut: graph.is_cut })
    }
}

/// The ends of these links that do not belong to these projects or belong to a hidden domain, except the
/// memory that was asked for.
async fn hidden_ends(
    scope: &Scope,
    links: &[Link],
    projects: &ProjectScope,
    domains: &HiddenDomains,
    asked: FactId,
    now: Timestamp,
) -> Result<BTreeSet<FactId>> {
    let ends: BTreeSet<FactId> = links.iter().flat_map(|link| [link.from, link.to]).collect();
    let ends: Vec<FactId> = ends.into_iter().filter(|end| *end != asked).collect();
    let all = lukasa_store::fact::known_now_of_all(scope, &ends).await?;
    let hidden = all.chunk_by(|one, next| one.fact == next.fact).filter(|known| {
        current(known, now).is_some_and(|version| {
            !projects.admits(version.claim.project.as_ref()) || domains.hides(version)
        })
    });
    Ok(hidden.map(|known| known[0].fact).collect())
}

async fn live(writing: &Writing<'_>, target: &Target) -> Result<Memory> {
    let now = writing.request().moment.now;
    let known = target.known(&writing.scope, now).await?;
    let memory = current(&known, now).map(|version| as_memory(version, &known, now));
    memory
        .filter(|memory| memory.status == Status::Active)
        .ok_or(Error::Refused(lukasa_core::Refusal::NotActive))
}
