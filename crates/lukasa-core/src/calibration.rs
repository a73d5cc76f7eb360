//! Calibrated thresholds: the minimum confidence of inferred memories of a category, derived from how
//! often the ones so far turned out right (R046).

use serde::{Deserialize, Serialize};

use crate::fact::Category;
use crate::fade::INJECT_CONFIDENCE;
use crate::id::FactId;
use crate::time::Timestamp;

/// The share of memories above a threshold that is to be right.
const TARGET_SHARE: f64 = 0.8;
/// The thresholds that are tried, in order.
const STEPS: [f32; 6] = [INJECT_CONFIDENCE, 0.75, 0.8, 0.85, 0.9, 0.95];
/// With as many samples, a threshold moves half of the way to where they put it.
const HALFWAY_SAMPLES: f32 = 20.0;
/// With fewer samples, a category has no threshold of its own.
const MIN_SAMPLES: usize = 5;
/// Maximum number of memories that a threshold names.
const MAX_CITED: usize = 50;

/// An inferred memory that the user, or its use, has shown to be right or wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CalibrationSample {
    pub fact: FactId,
    pub category: Category,
    /// Its confidence when it was learned.
    pub confidence: f32,
    pub is_right: bool,
}

/// The threshold of a category.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibratedFloor {
    pub category: Category,
    /// Never below [`INJECT_CONFIDENCE`].
    pub floor: f32,
    pub samples: usize,
    pub wrong: usize,
    /// The first of the memories that it is based on, those that were wrong before the others. With the
    /// permanent removal of any memory all thresholds are removed, and derived again without it.
    pub facts: Vec<FactId>,
    pub compiled_at: Timestamp,
}

/// The thresholds of the categories with enough samples.
pub fn calibrate(samples: &[CalibrationSample], now: Timestamp) -> Vec<CalibratedFloor> {
    let floor = |category: &Category| {
        let own = samples.iter().filter(|sample| sample.category == *category);
        let mut own: Vec<&CalibrationSample> = own.collect();
        if own.len() < MIN_SAMPLES {
            return None;
        }
        own.sort_by_key(|sample| (sample.is_right, sample.fact));
        let wrong = own.iter().filter(|sample| !sample.is_right).count();
        Some(CalibratedFloor {
            category: *category,
            floor: floor_of(&own),
            samples: own.len(),
            wrong,
            facts: own.iter().take(MAX_CITED).map(|sample| sample.fact).collect(),
            compiled_at: now,
        })
    };
    Category::ALL.iter().filter_map(floor).collect()
}

/// The lowest threshold above which enough samples are right, moved towards the lowest of all if the
/// samples are few.
fn floor_of(samples: &[&CalibrationSample]) -> f32 {
    let is_enough = |floor: &&f32| {
        let above = samples.iter().filter(|sample| sample.confidence >= **floor);
        let (all, right) = above.fold((0_usize, 0_usize), |(all, right), sample| {
            (all + 1, right + usize::from(sample.is_right))
        });
        right as f64 >= TARGET_SHARE * all as f64
    };
    let highest = STEPS[STEPS.len() - 1];
    let wanted = STEPS.iter().find(is_enough).copied().unwrap_or(highest);
    let count = samples.len() as f32;
    let weight = count / (count + HALFWAY_SAMPLES);
    let floor = INJECT_CONFIDENCE + (wanted - INJECT_CONFIDENCE) * weight;
    ((floor * 100.0).round() / 100.0).max(INJECT_CONFIDENCE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Ids;

    fn samples(count: usize, confidence: f32, is_right: bool) -> Vec<CalibrationSample> {
        let mut ids = Ids::new(Timestamp::UNIX_EPOCH, [u8::from(is_right); 16]);
        let category = Category::Profile;
        let sample = |_| CalibrationSample { fact: ids.fact(), category, confidence, is_right };
        (0..count).map(sample).collect()
    }

    fn floor(samples: &[CalibrationSample]) -> Option<CalibratedFloor> {
        calibrate(samples, Timestamp::UNIX_EPOCH).pop()
    }

    #[test]
    fn calibrated_floor_rises_with_wrong_memories_and_never_falls_below_the_default() {
        let right = floor(&samples(40, 0.72, true)).unwrap();
        assert_eq!((right.floor, right.wrong), (INJECT_CONFIDENCE, 0));
        let mixed = [samples(20, 0.72, false), samples(20, 0.9, true)].concat();
        let raised = floor(&mixed).unwrap();
        assert!(raised.floor > INJECT_CONFIDENCE && raised.floor <= 0.75, "{raised:?}");
        assert_eq!((raised.samples, raised.wrong), (40, 20));
        let wrong: Vec<FactId> = mixed[..20].iter().map(|sample| sample.fact).collect();
        assert!(raised.facts[..20].iter().all(|fact| wrong.contains(fact)), "the wrong ones first");
        let wrong = floor(&samples(400, 0.99, false)).unwrap().floor;
        assert!(wrong > 0.9 && wrong <= 0.95, "{wrong}");
    }

    #[test]
    fn calibrated_floor_is_shrunk_for_few_samples_and_absent_for_fewer() {
        assert_eq!(floor(&samples(4, 0.9, false)), None);
        let few = floor(&samples(5, 0.9, false)).unwrap().floor;
        let many = floor(&samples(100, 0.9, false)).unwrap().floor;
        assert!(INJECT_CONFIDENCE < few && few < many, "{few} {many}");
        assert!(few - INJECT_CONFIDENCE <= (0.95 - INJECT_CONFIDENCE) / 4.0, "{few}");
    }
}
