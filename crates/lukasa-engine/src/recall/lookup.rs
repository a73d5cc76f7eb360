//! Lookup in one user's index: the units that match a question, with explanations.

use std::collections::BTreeMap;

use lukasa_core::fade::ConfidenceInputs;
use lukasa_core::recall::corpus::Corpus;
use lukasa_core::recall::index::{Index, Unit};
use lukasa_core::recall::passage::PassageKind;
use lukasa_core::recall::rank::{
    RankFilters, RankLimits, RankQuery, RankedSession, RankedUnit, Ranking, rank,
};
use lukasa_core::{AsOf, EpisodeId, FactId, Role, Timestamp, TurnId, VersionId};
use lukasa_text::name::Names;
use uuid::Uuid;

use super::episodes::MAX_EPISODE_CANDIDATES;
use super::search::MAX_RERANKED;
use super::{Filter, RecallContext, RecallQuery, RecalledSession, ResultExplanation};

/// A turn that was found, and since when its words no longer hold, if a memory learned from it was
/// changed or removed.
pub(super) struct TurnMatch {
    pub(super) id: TurnId,
    pub(super) why: ResultExplanation,
    pub(super) outdated_since: Option<Timestamp>,
}

/// Result of an index lookup, by ids.
pub(super) struct LookupResult {
    pub(super) facts: Vec<((FactId, VersionId), ResultExplanation)>,
    pub(super) turns: Vec<TurnMatch>,
    pub(super) episodes: Vec<(EpisodeId, ResultExplanation)>,
    pub(super) sessions: Vec<RecalledSession>,
    pub(super) considered: usize,
    pub(super) unembedded: bool,
}

pub(super) fn lookup(
    index: &Index,
    question: &RankQuery<'_>,
    ask: &RecallQuery,
    deep: bool,
    ctx: &RecallContext,
    now: Timestamp,
) -> LookupResult {
    let point = ask.point.resolve(now);
    let visible = index.select(|unit| is_usable(index, unit, point, ctx));
    let considered = visible.iter().filter(|visible| **visible).count();
    let corpus = &Corpus::new(index, question.text, visible);
    // With a reranker, fetch more candidates than requested.
    let deeper = |count: usize| if deep && count > 0 { count.max(MAX_RERANKED) } else { count };
    let (memories, turns) = (deeper(ask.memories), deeper(ask.turns));
    let mut facts = Ranking::default();
    if memories > 0 {
        let named = ask.precise.then(|| named_memories(index, question.text, corpus.visible()));
        let may = |unit: &Unit| {
            ask.filter.matches(unit) && named.as_ref().is_none_or(|n| n.contains_key(&unit.source))
        };
        let filters = RankFilters { corpus, candidates: &|_| true, results: &may };
        let limits = RankLimits { units: memories, sessions: 0 };
        facts = rank(index, question, PassageKind::Fact, &ask.tuning, &filters, limits);
        // A name can match although none of its words does; add those memories too.
        let found: Vec<usize> = facts.found.iter().map(|found| found.unit).collect();
        let missed = named.into_iter().flatten().filter(|(_, (unit, _))| !found.contains(unit));
        let missed = missed.filter(|(_, (unit, _))| ask.filter.matches(index.unit(*unit)));
        let as_found = |(_, (unit, name)): (Uuid, (usize, String))| RankedUnit {
            unit,
            score: 0.0,
            relevance: 1.0,
            arms: Vec::new(),
            matched: vec![name],
        };
        facts.found.extend(missed.map(as_found));
    }
    let mut turn_ranking = Ranking::default();
    let session = ask.filter.session.as_deref().map(|name| index.session_number(name));
    // The asking session already sees its own turns; exclude them and their episodes, unless it
    // is the one searched.
    let here = ask.session.as_deref().and_then(|name| index.session_number(name));
    let may = |unit: &Unit| match session {
        Some(session) => unit.session == session,
        None => here.is_none() || unit.session != here,
    };
    if turns > 0 || ask.sessions > 0 {
        let of_role = |unit: &Unit| {
            unit.turn.is_some_and(|turn| match &ask.filter.roles {
                Some(roles) => roles.contains(&turn.role),
                None => turn.role == Role::User,
            })
        };
        // In a user's first session there are no other turns; skip the ranking.
        let finds = |unit: &Unit| unit.kind == PassageKind::Turn && of_role(unit) && may(unit);
        let filters = RankFilters { corpus, candidates: &of_role, results: &may };
        if (0..index.len()).any(|at| finds(index.unit(at))) {
            let limits = RankLimits { units: turns, sessions: ask.sessions };
            turn_ranking = rank(index, question, PassageKind::Turn, &ask.tuning, &filters, limits);
        }
    }
    let mut episodes = Ranking::default();
    if ask.episodes > 0 && index.has_episodes() {
        let filters = RankFilters { corpus, candidates: &|_| true, results: &may };
        let limits = RankLimits { units: MAX_EPISODE_CANDIDATES, sessions: 0 };
        episodes = rank(index, question, PassageKind::Episode, &ask.tuning, &filters, limits);
    }
    let session = |found: &RankedSession| RecalledSession {
        session: index.session_name(found.session).to_owned(),
        score: found.score,
        best: TurnId::from_uuid(index.unit(found.best).source),
    };
    let sessions = turn_ranking.sessions.iter().map(session).collect();
    let facts = facts.found.into_iter().enumerate().map(|(rank, found)| {
        let unit = index.unit(found.unit);
        let ids = (FactId::from_uuid(unit.subject), VersionId::from_uuid(unit.source));
        (ids, explanation(found, rank))
    });
    let turns = turn_ranking.found.into_iter().enumerate().map(|(rank, found)| {
        let turn = index.unit(found.unit).source;
        let outdated_since = index.outdated_since(turn);
        TurnMatch { id: TurnId::from_uuid(turn), why: explanation(found, rank), outdated_since }
    });
    let episodes = episodes.found.into_iter().enumerate().map(|(rank, found)| {
        (EpisodeId::from_uuid(index.unit(found.unit).source), explanation(found, rank))
    });
    LookupResult {
        facts: facts.collect(),
        turns: turns.collect(),
        episodes: episodes.collect(),
        sessions,
        considered,
        unembedded: ctx.model.is_some() && index.without_vector() > 0,
    }
}

/// The memories that a text names, and those they link to: by version id, with the matched name. A
/// memory that only links to a named one is not included.
fn named_memories(index: &Index, text: &str, visible: &[bool]) -> BTreeMap<Uuid, (usize, String)> {
    let usable = (0..index.len()).filter(|at| visible[*at]);
    let names = usable.filter_map(|at| {
        let facets = index.unit(at).facets.as_ref()?;
        Some((at, facets.names.iter().map(String::as_str)))
    });
    let names = Names::new(names);
    let mut found = BTreeMap::new();
    for one in names.named_in(text) {
        for linked in index.points_to(index.unit(one.index).subject) {
            if visible[linked] {
                let entry = found.entry(index.unit(linked).source);
                entry.or_insert_with(|| (linked, one.name.to_owned()));
            }
        }
        found.insert(index.unit(one.index).source, (one.index, one.name.to_owned()));
    }
    found
}

fn explanation(found: RankedUnit, rank: usize) -> ResultExplanation {
    ResultExplanation {
        score: found.score,
        relevance: found.relevance,
        arms: found.arms,
        matched: found.matched,
        fused_rank: rank + 1,
    }
}

/// Whether a request sees a memory, a turn or an episode: it belongs to no project or to one that the request
/// is about; and a memory is valid at that point in time, not archived, and in an open domain.
pub(crate) fn is_usable(index: &Index, unit: &Unit, point: AsOf, ctx: &RecallContext) -> bool {
    if !ctx.projects.admits(index.project_of(unit)) {
        return false;
    }
    let Some(facets) = &unit.facets else { return unit.turn.is_some() };
    let valid = facets.valid_from <= point.valid
        && facets.valid_until.is_none_or(|until| until > point.valid);
    let faded = ConfidenceInputs::from(&**facets).is_archived(point.valid);
    valid
        && !faded
        && facets.domain.as_ref().is_none_or(|domain| !ctx.closed_domains.contains(domain))
}

impl Filter {
    pub(crate) fn matches(&self, unit: &Unit) -> bool {
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
