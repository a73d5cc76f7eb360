//! A look at one user's index: which units a question finds, with the reasons.

use std::collections::BTreeMap;

use lukasa_core::fade::Belief;
use lukasa_core::recall::index::{Index, Unit};
use lukasa_core::recall::passage::Kind as Of;
use lukasa_core::recall::rank::{Found, FoundSession, Question, Ranking, Sight, rank};
use lukasa_core::{AsOf, FactId, Names, Role, Timestamp, TurnId, VersionId};
use uuid::Uuid;

use super::search::RERANKED;
use super::{Filter, Recall, RecalledSession, Surroundings, Why};

/// What a look at the index found, by ids.
pub(super) struct Looked {
    pub(super) facts: Vec<((FactId, VersionId), Why)>,
    pub(super) turns: Vec<(TurnId, Why)>,
    pub(super) sessions: Vec<RecalledSession>,
    pub(super) considered: usize,
    pub(super) unembedded: bool,
}

pub(super) fn look(
    index: &Index,
    question: &Question<'_>,
    ask: &Recall,
    deep: bool,
    around: &Surroundings,
    now: Timestamp,
) -> Looked {
    let point = ask.point.resolve(now);
    let there = |unit: &Unit| is_usable(unit, point, &around.shut);
    // With a reranker behind, more are fetched than are asked for.
    let deeper = |count: usize| if deep && count > 0 { count.max(RERANKED) } else { count };
    let (memories, turns) = (deeper(ask.memories), deeper(ask.turns));
    let mut facts = Ranking::default();
    if memories > 0 {
        let named = ask.precise.then(|| named(index, question.text, &there));
        let may = |unit: &Unit| {
            ask.filter.lets(unit) && named.as_ref().is_none_or(|n| n.contains_key(&unit.source))
        };
        let sight = Sight { there: &there, among: &|_| true, may: &may };
        facts = rank(index, question, Of::Fact, &ask.tuning, &sight, memories);
        // A name may be written so that no word of it matches; it is named all the same.
        let found: Vec<usize> = facts.found.iter().map(|found| found.unit).collect();
        let missed = named.into_iter().flatten().filter(|(_, (unit, _))| !found.contains(unit));
        let missed = missed.filter(|(_, (unit, _))| ask.filter.lets(index.unit(*unit)));
        let as_found = |(_, (unit, name)): (Uuid, (usize, String))| Found {
            unit,
            score: 0.0,
            relevance: 1.0,
            arms: Vec::new(),
            matched: vec![name],
        };
        facts.found.extend(missed.map(as_found));
    }
    let mut said = Ranking::default();
    if turns > 0 || ask.sessions > 0 {
        let session = ask.filter.session.as_deref().map(|name| index.session_number(name));
        let of_role = |unit: &Unit| {
            unit.turn.is_some_and(|turn| match &ask.filter.roles {
                Some(roles) => roles.contains(&turn.role),
                None => turn.role == Role::User,
            })
        };
        // What was said in the chat that asks is before its eyes already, unless it asks for just that.
        let here = ask.session.as_deref().and_then(|name| index.session_number(name));
        let may = |unit: &Unit| match session {
            Some(session) => unit.session == session,
            None => here.is_none() || unit.session != here,
        };
        // In a user's first chat there is nothing else to find.
        let finds = |unit: &Unit| of_role(unit) && may(unit);
        let sight = Sight { there: &there, among: &of_role, may: &may };
        if (0..index.len()).any(|at| finds(index.unit(at))) {
            said = rank(index, question, Of::Turn, &ask.tuning, &sight, turns);
        }
    }
    let session = |found: &FoundSession| RecalledSession {
        session: index.session_name(found.session).to_owned(),
        score: found.score,
        best: TurnId::from_uuid(index.unit(found.best).source),
    };
    let sessions = said.sessions.iter().take(ask.sessions).map(session).collect();
    let facts = facts.found.into_iter().enumerate().map(|(rank, found)| {
        let unit = index.unit(found.unit);
        let ids = (FactId::from_uuid(unit.subject), VersionId::from_uuid(unit.source));
        (ids, why(found, rank))
    });
    let turns =
        said.found.into_iter().enumerate().map(|(rank, found)| {
            (TurnId::from_uuid(index.unit(found.unit).source), why(found, rank))
        });
    Looked {
        facts: facts.collect(),
        turns: turns.collect(),
        sessions,
        considered: (0..index.len()).filter(|at| there(index.unit(*at))).count(),
        unembedded: around.model.is_some() && index.without_vector() > 0,
    }
}

/// The memories that a text names, and those they point to: by their versions, with the name. What
/// merely points to something named is not meant.
fn named(
    index: &Index,
    text: &str,
    there: &dyn Fn(&Unit) -> bool,
) -> BTreeMap<Uuid, (usize, String)> {
    let standing = (0..index.len()).filter(|at| there(index.unit(*at)));
    let names = standing.filter_map(|at| {
        let facets = index.unit(at).facets.as_ref()?;
        Some((at, facets.names.iter().map(String::as_str)))
    });
    let names = Names::new(names);
    let mut found = BTreeMap::new();
    for one in names.named_in(text) {
        for linked in index.points_to(index.unit(one.index).subject) {
            if there(index.unit(linked)) {
                let entry = found.entry(index.unit(linked).source);
                entry.or_insert_with(|| (linked, one.name.to_owned()));
            }
        }
        found.insert(index.unit(one.index).source, (one.index, one.name.to_owned()));
    }
    found
}

fn why(found: Found, rank: usize) -> Why {
    Why {
        score: found.score,
        relevance: found.relevance,
        arms: found.arms,
        matched: found.matched,
        fused_rank: rank + 1,
    }
}

/// Whether a memory stands at a point in time and in a domain that is open. Turns always do: they
/// were said.
pub(crate) fn is_usable(unit: &Unit, point: AsOf, shut: &[String]) -> bool {
    let Some(facets) = &unit.facets else { return unit.turn.is_some() };
    let valid = facets.valid_from <= point.valid
        && facets.valid_until.is_none_or(|until| until > point.valid);
    let faded = Belief::from(facets).is_archived(point.valid);
    valid && !faded && facets.domain.as_ref().is_none_or(|domain| !shut.contains(domain))
}

impl Filter {
    pub(crate) fn lets(&self, unit: &Unit) -> bool {
        let Some(facets) = &unit.facets else { return true };
        let domain = facets.domain.as_ref();
        self.domains.as_ref().is_none_or(|asked| domain.is_some_and(|d| asked.contains(d)))
            && self.memory_type.is_none_or(|wanted| facets.memory_type == wanted)
            && self.kind.is_none_or(|wanted| facets.kind == wanted)
            && self.category.is_none_or(|wanted| facets.category == wanted)
            && self.force.is_none_or(|wanted| facets.force == wanted)
            && self.tier.is_none_or(|wanted| facets.tier == wanted)
            && self.min_confidence.is_none_or(|least| facets.confidence >= least)
    }
}
