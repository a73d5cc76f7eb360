//! Figures that are not measured in this run: the best of the baselines tried on the same data,
//! with the same definitions, before Lukasa was measured; and the floors below which a run fails.

use super::metrics::Figures;

/// The best fusion of BM25 and an embedder that was found by hand, by data set: multi-granularity
/// z-fusion with MiniLM (LoCoMo), z-fusion with potion (LongMemEval-940, BEAM-500K) or MiniLM
/// (BEAM-100K, RealMem), and a convex combination with MiniLM (LongMemEval-48). Values that were
/// not recorded are NaN.
pub fn best(set: &str) -> Option<Figures> {
    let unknown = Figures {
        r1: f64::NAN,
        r5: f64::NAN,
        r10: f64::NAN,
        r20: f64::NAN,
        r50: f64::NAN,
        any5: f64::NAN,
        any10: f64::NAN,
        all10: f64::NAN,
        ndcg10: f64::NAN,
        mrr: f64::NAN,
        session1: f64::NAN,
        precision10: f64::NAN,
        chars10: f64::NAN,
        found10: f64::NAN,
    };
    Some(match set {
        "locomo" => Figures {
            r5: 0.672,
            r10: 0.769,
            r20: 0.836,
            r50: 0.904,
            any10: 0.829,
            ndcg10: 0.589,
            mrr: 0.561,
            session1: 0.766,
            ..unknown
        },
        "longmemeval-48" => Figures { r5: 0.943, any5: 0.975, ndcg10: 0.930, ..unknown },
        "longmemeval-940" => {
            Figures { r5: 0.748, r10: 0.823, any5: 0.872, any10: 0.904, ndcg10: 0.704, ..unknown }
        }
        "beam-100k" => {
            Figures { r5: 0.538, r10: 0.623, r50: 0.778, any10: 0.797, ndcg10: 0.542, ..unknown }
        }
        "beam-500k" => {
            Figures { r5: 0.470, r10: 0.546, r50: 0.693, any10: 0.701, ndcg10: 0.460, ..unknown }
        }
        "realmem" => Figures {
            r1: 0.129,
            r5: 0.353,
            r10: 0.477,
            r20: 0.617,
            r50: 0.773,
            any10: 0.642,
            ndcg10: 0.328,
            mrr: 0.348,
            ..unknown
        },
        _ => return None,
    })
}

/// R@10 of BM25 on a whole set, the same to a thousandth in an independent implementation. A run
/// with another figure reads the data or counts differently, and its other figures cannot be
/// compared.
pub fn bm25_r10(set: &str) -> Option<f64> {
    Some(match set {
        "locomo" => 0.633,
        "longmemeval-940" => 0.806,
        "beam-100k" => 0.559,
        "beam-500k" => 0.528,
        "realmem" => 0.409,
        _ => return None,
    })
}

/// Allowed deviation: twice what rounding and ties can cost.
pub const BM25_TOLERANCE: f64 = 0.002;

/// The minimum that a run must reach, with --quick and in full.
pub struct Floor {
    pub set: &'static str,
    pub figure: &'static str,
    pub quick: f64,
    pub full: f64,
}

const fn floor(set: &'static str, figure: &'static str, quick: f64, full: f64) -> Floor {
    Floor { set, figure, quick, full }
}

pub const FLOORS: &[Floor] = &[
    floor("locomo", "R@10", 0.80, 0.78),
    floor("locomo", "NDCG@10", 0.58, 0.59),
    floor("longmemeval-48", "R@5", 0.90, 0.92),
    floor("longmemeval-940", "R@10", 0.86, 0.80),
    floor("beam-100k", "R@10", 0.62, 0.58),
    floor("beam-500k", "R@10", 0.50, 0.55),
    floor("realmem", "R@10", 0.50, 0.51),
    floor("precision", "passes", 77.0, 77.0),
];
