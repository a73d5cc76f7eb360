//! Cache of what rankings need and what does not depend on the query: orders of units, products of
//! neighbours and a sum of vectors. Each is computed when it is first needed.

use std::sync::OnceLock;

use uuid::Uuid;

use super::index::Index;
use super::neighbours::NeighbourProducts;
use super::postings::UnitClass;
use crate::time::Timestamp;

/// At most this many new units are put into the order of sessions; with more it is sorted again.
const MAX_INSERTED: usize = 64;

/// What an index caches for rankings until a change makes it wrong.
#[derive(Debug, Clone, Default)]
pub(super) struct RankCache {
    /// The units with a session in the order of sessions.
    pub(super) in_sessions: OnceLock<Vec<u32>>,
    /// The memories in the order they were learned.
    pub(super) learned: OnceLock<Vec<u32>>,
    pub(super) neighbours: OnceLock<NeighbourProducts>,
    /// The sum of the first vectors of the memories that were ranked first since a memory was changed.
    pub(super) fact_sum: OnceLock<(Vec<usize>, Vec<f32>)>,
}

impl Index {
    /// The units with a session: in the order of sessions, turns by their numbers, and memories in the
    /// order they were learned.
    pub(super) fn in_sessions(&self) -> &[u32] {
        self.rank_cache.in_sessions.get_or_init(|| {
            let keys = (0..self.units.len()).filter_map(|at| self.session_key(at));
            let mut order: Vec<_> = keys.collect();
            // Mostly in order already.
            order.sort();
            order.into_iter().map(|(.., at)| at).collect()
        })
    }

    /// The place of a unit in the order of sessions.
    fn session_key(&self, at: usize) -> Option<(usize, Option<i32>, Uuid, u32)> {
        let unit = &self.units[at];
        Some((
            unit.session?,
            unit.turn.map(|turn| turn.number),
            unit.source,
            u32::try_from(at).ok()?,
        ))
    }

    /// Puts the units from this one on into the order of sessions.
    pub(super) fn extend_sessions(&mut self, first: usize) {
        let Some(mut order) = self.rank_cache.in_sessions.take() else { return };
        if self.units.len() - first > MAX_INSERTED {
            return;
        }
        for key in (first..self.units.len()).filter_map(|at| self.session_key(at)) {
            let place = order.partition_point(|at| self.session_key(*at as usize) < Some(key));
            order.insert(place, key.3);
        }
        self.rank_cache.in_sessions = OnceLock::from(order);
    }

    /// All memories in the order they were learned; those learned at once by version and unit.
    pub(super) fn learned(&self) -> &[u32] {
        self.rank_cache.learned.get_or_init(|| {
            let key =
                |at: &u32| (self.learned_at(*at as usize), self.units[*at as usize].source, *at);
            let mut order: Vec<_> =
                self.classes[UnitClass::Fact as usize].iter().map(key).collect();
            order.sort_unstable();
            order.into_iter().map(|(.., at)| at).collect()
        })
    }

    /// When a memory was learned: the start of its session, if known, or when it was last stated or
    /// confirmed.
    pub(super) fn learned_at(&self, unit: usize) -> Timestamp {
        let unit = &self.units[unit];
        let said = unit.session.and_then(|session| self.session_began(session));
        let fresh = unit.facets.as_ref().map(|facets| facets.fresh_at);
        said.or(fresh).unwrap_or(Timestamp::MIN)
    }

    /// The products of neighbours, with the vectors that were known when they were computed.
    pub(super) fn neighbours(&self) -> &NeighbourProducts {
        self.rank_cache.neighbours.get_or_init(|| NeighbourProducts::of(self))
    }

    /// The sum of the first vectors of these memories, which `compute` computes.
    pub(super) fn fact_sum(&self, facts: &[usize], compute: impl Fn() -> Vec<f32>) -> Vec<f32> {
        let (known, sum) = self.rank_cache.fact_sum.get_or_init(|| (facts.to_vec(), compute()));
        if known == facts { sum.clone() } else { compute() }
    }

    /// Lets the products of neighbours be computed again if many vectors are new. Until then those
    /// that are not cached are computed for each query.
    pub(super) fn forget_few_neighbours(&mut self) {
        let known = self.rank_cache.neighbours.get().map(NeighbourProducts::vectors);
        if known.is_some_and(|known| self.vector_count() > known + known / 8) {
            self.rank_cache.neighbours.take();
        }
    }
}
