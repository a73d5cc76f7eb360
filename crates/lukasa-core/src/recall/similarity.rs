//! Similarity of units to a query: cosines of centred vectors, of a unit alone and with its neighbours.

use super::dot::{dot, stored_dots, vectorized};
use super::passage::PassageKind;
use super::scorer::Scorer;

/// Similarity of each unit to the query, alone and with its neighbours.
pub(super) struct Similarity {
    /// Plain cosines, not centred.
    pub(super) cosines: Vec<f32>,
    pub(super) own: Vec<f32>,
    pub(super) window: Vec<f32>,
}

/// The best passage of a unit, and the length of its centred vector.
type BestPassage = Option<(usize, f32)>;

impl Similarity {
    /// Cosines after subtracting a share of the mean vector of the user's units: users talk about
    /// few subjects, and what all texts share does not distinguish them.
    pub(super) fn of(scorer: &Scorer<'_>, kind: PassageKind, vector: &[f32], share: f32) -> Self {
        let centre = centre(scorer, kind, vector.len(), share);
        let asked: Vec<f32> =
            vector.iter().zip(&centre).map(|(value, mean)| value - mean).collect();
        let centre_square = dot(&centre, &centre);
        let (mut near, best) = vectorized(|| compare(scorer, &asked, &centre, centre_square));
        let products = vectorized(|| neighbour_products(scorer, vector.len(), &best));
        near.window = (0..best.len())
            .map(|at| together(scorer, at, &near.own, &best, &products, centre_square))
            .collect();
        near
    }
}

/// A share of the mean vector of the ranked units.
fn centre(scorer: &Scorer<'_>, kind: PassageKind, size: usize, share: f32) -> Vec<f32> {
    let (index, passages) = (scorer.index, &scorer.passages);
    let counted = passages.iter().filter(|passages| index.has_vector(passages.start)).count();
    let (turn_sum, turns) = index.turn_sum();
    let add = || {
        let (mut sum, mut vector) = (vec![0.0; size], vec![0.0; size]);
        for passages in passages {
            if index.copy_vector(passages.start, &mut vector) {
                for (sum, value) in sum.iter_mut().zip(&vector) {
                    *sum += value;
                }
            }
        }
        sum
    };
    let mut centre = match kind {
        PassageKind::Turn if counted == turns && turn_sum.len() == size => {
            turn_sum.iter().map(|value| *value as f32).collect()
        }
        PassageKind::Fact if index.dimension() == size => {
            index.fact_sum(&scorer.among, || vectorized(add))
        }
        _ => vectorized(add),
    };
    // The mean of a few vectors is mostly their content, so it is damped.
    const FEW: f32 = 30.0;
    let counted = counted.max(1) as f32;
    for value in &mut centre {
        *value *= share / counted * counted / (counted + FEW);
    }
    centre
}

/// Compares each unit with the query; the window is left empty.
#[inline(always)]
fn compare(
    scorer: &Scorer<'_>,
    asked: &[f32],
    centre: &[f32],
    centre_square: f32,
) -> (Similarity, Vec<BestPassage>) {
    let (index, units) = (scorer.index, scorer.among.len());
    let asked_length = dot(asked, asked).sqrt().max(1e-6);
    let asked_centre = dot(asked, centre);
    let (mut cosines, mut own_cosines) = (vec![0.0; units], vec![0.0; units]);
    let mut best: Vec<BestPassage> = vec![None; units];
    let comparable = asked.len() == index.dimension();
    for (at, passages) in scorer.passages.iter().enumerate() {
        for passage in passages.clone() {
            let Some(vector) = index.vector(passage).filter(|_| comparable) else { continue };
            let (to_asked, to_centre) = stored_dots(vector, asked, centre);
            let length = (1.0 - 2.0 * to_centre + centre_square).max(1e-6).sqrt();
            let cosine = (to_asked - asked_centre) / (length * asked_length);
            if best[at].is_none() || cosine > own_cosines[at] {
                own_cosines[at] = cosine;
                // The query's vector is the sum of the two.
                cosines[at] = to_asked + to_centre;
                best[at] = Some((passage, length));
            }
        }
    }
    (Similarity { cosines, own: own_cosines, window: Vec::new() }, best)
}

/// For each unit the dot products of its best vector with those of the next unit of its session
/// and of the one after that; zero if one of them has none.
#[inline(always)]
fn neighbour_products(scorer: &Scorer<'_>, size: usize, best: &[BestPassage]) -> Vec<(f32, f32)> {
    let (index, cached) = (scorer.index, scorer.index.neighbours());
    let mut vectors = (vec![0.0; size], vec![0.0; size]);
    let mut product = |at: usize, later: usize| {
        let (Some((own, _)), Some((other, _))) = (best[at], best[later]) else { return 0.0 };
        if own == scorer.passages[at].start && other == scorer.passages[later].start {
            let cached = cached.of_units(scorer.among[at], scorer.among[later]);
            if let Some(product) = cached {
                return product;
            }
        }
        let (a, b) = &mut vectors;
        let known = index.copy_vector(own, a) && index.copy_vector(other, b);
        if known { dot(a, b) } else { 0.0 }
    };
    let products = (0..best.len()).map(|at| {
        let Some(next) = scorer.after[at] else { return (0.0, 0.0) };
        let further = scorer.after[next].map_or(0.0, |further| product(at, further));
        (product(at, next), further)
    });
    products.collect()
}

/// Similarity of a unit together with its neighbours: the cosine of the sum of their vectors,
/// the neighbours counting half.
fn together(
    scorer: &Scorer<'_>,
    at: usize,
    cosines: &[f32],
    best: &[BestPassage],
    products: &[(f32, f32)],
    centre_square: f32,
) -> f32 {
    const SHARE: f32 = 0.5;
    let length = |at: Option<usize>| at.and_then(|at| best[at]).map(|(_, length)| length);
    let (before, after) = (scorer.before[at], scorer.after[at]);
    let lengths = (length(Some(at)), length(before), length(after));
    // The cosine of two centred vectors. Their dot products with the centre follow from their
    // centred lengths.
    let along = |length: f32| (1.0 + centre_square - length * length) / 2.0;
    let cosine =
        |product: f32, a: f32, b: f32| (product - along(a) - along(b) + centre_square) / (a * b);
    let (mut sum, mut square, mut parts) = (0.0, 0.0, 0);
    if lengths.0.is_some() {
        (sum, square, parts) = (cosines[at], 1.0, 1);
    }
    for (other, other_length) in [(before, lengths.1), (after, lengths.2)] {
        if let (Some(other), Some(_)) = (other, other_length) {
            sum += SHARE * cosines[other];
            square += SHARE * SHARE;
            parts += 1;
        }
    }
    if parts < 2 {
        return cosines[at];
    }
    if let (Some(one), Some(own), Some(length)) = (before, lengths.0, lengths.1) {
        square += 2.0 * SHARE * cosine(products[one].0, own, length);
    }
    if let (Some(own), Some(length)) = (lengths.0, lengths.2) {
        square += 2.0 * SHARE * cosine(products[at].0, own, length);
    }
    if let (Some(one), Some(first), Some(last)) = (before, lengths.1, lengths.2) {
        square += 2.0 * SHARE * SHARE * cosine(products[one].1, first, last);
    }
    sum / square.max(0.01).sqrt()
}
