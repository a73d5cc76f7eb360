//! Products of the vectors of units that follow each other in a session. They do not depend on the
//! query, and a vector never changes, so they are cached.

use super::dot::{dots, vectorized};
use super::index::{Index, NONE};
use super::postings::UnitClass;

/// For each unit the next unit of its class in its session and the one after that, each with the dot
/// product of their first vectors; [`NONE`] if one of the two has none.
#[derive(Debug, Clone, Default)]
pub(super) struct NeighbourProducts {
    after: Vec<[(u32, f32); 2]>,
    /// Number of vectors of the index when they were computed.
    vectors: usize,
}

impl NeighbourProducts {
    pub(super) const BYTES_PER_UNIT: usize = size_of::<[(u32, f32); 2]>();

    /// Turns of other roles have no vectors.
    const CLASSES: [UnitClass; 3] = [UnitClass::Fact, UnitClass::Episode, UnitClass::OwnTurn];

    pub(super) fn of(index: &Index) -> Self {
        let mut after = vec![[(NONE, 0.0); 2]; index.units.len()];
        for class in Self::CLASSES {
            vectorized(|| add(index, class, &mut after));
        }
        Self { after, vectors: index.vector_count() }
    }

    pub(super) fn vectors(&self) -> usize {
        self.vectors
    }

    /// The dot product of the first vectors of a unit and one that is at most two after it, if it is
    /// cached.
    pub(super) fn of_units(&self, unit: usize, later: usize) -> Option<f32> {
        let mut known = self.after.get(unit)?.iter();
        known.find(|(after, _)| *after as usize == later).map(|(_, product)| *product)
    }
}

#[inline(always)]
fn add(index: &Index, class: UnitClass, after: &mut [[(u32, f32); 2]]) {
    let size = index.dimension();
    // The vectors of the unit and of the two before it, and these units.
    let mut vectors = [vec![0.0; size], vec![0.0; size], vec![0.0; size]];
    let mut units: [Option<usize>; 3] = [None; 3];
    for at in index.in_sessions() {
        let unit = &index.units[*at as usize];
        let is_current = class != UnitClass::Fact || unit.facets.is_some();
        if unit.class() != class || !is_current {
            continue;
        }
        let [own, before, further] = &mut vectors;
        let has_vector = index.copy_vector(unit.passages.start, own);
        units[0] = has_vector.then_some(*at as usize);
        if has_vector {
            let (to_before, to_further) = dots(own, before, further);
            let products = [(units[1], to_before), (units[2], to_further)];
            for (place, (earlier, product)) in products.into_iter().enumerate() {
                let session =
                    |unit: &usize| index.session_of[*unit] == index.session_of[*at as usize];
                if let Some(earlier) = earlier.filter(session) {
                    after[earlier][place] = (*at, product);
                }
            }
        }
        vectors.rotate_right(1);
        units.rotate_right(1);
    }
}
