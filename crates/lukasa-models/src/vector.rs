//! Normalisation of embeddings: every vector is finite and of length one.

use sha2::{Digest, Sha256};

/// Scales a vector to length one. `None` if its length is zero or not finite; the caller knows
/// which error that is.
pub(crate) fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let squares: f64 = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
    let length = squares.sqrt();
    if !length.is_finite() || length < 1e-9 {
        return None;
    }
    for x in &mut vector {
        *x = (f64::from(*x) / length) as f32;
    }
    Some(vector)
}

/// A pseudo-random direction for a text without any word the model knows.
///
/// A zero vector has no direction, and one fixed direction would make all such texts alike. Derived
/// from the text's hash, the vector equals itself and, with some hundred dimensions, is near
/// nothing else.
pub(crate) fn hash_direction(text: &str, dimension: usize) -> Vec<f32> {
    let mut vector = Vec::with_capacity(dimension);
    let mut block = 0_u64;
    while vector.len() < dimension {
        let mut hash = Sha256::new();
        hash.update(block.to_le_bytes());
        hash.update(text);
        // Plus or minus one by the bits of the hash: every such vector has the same length.
        let signs = hash.finalize();
        let bits = signs.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1));
        vector.extend(bits.map(|positive| if positive { 1.0 } else { -1.0 }));
        block += 1;
    }
    vector.truncate(dimension);
    let scale = 1.0 / (dimension.max(1) as f32).sqrt();
    vector.iter_mut().for_each(|x| *x *= scale);
    vector
}

#[cfg(test)]
mod tests {
    use super::{hash_direction, unit};

    #[test]
    fn vector_is_scaled_to_length_one() {
        assert_eq!(unit(vec![3.0, 4.0]), Some(vec![0.6, 0.8]));
        let huge = unit(vec![f32::MAX, f32::MAX]).unwrap();
        assert!((huge[0] - 0.707_106_77).abs() < 1e-6);
    }

    #[test]
    fn vector_without_direction_is_refused() {
        for bad in [vec![], vec![0.0, 0.0], vec![1.0, f32::NAN], vec![f32::INFINITY, 1.0]] {
            assert_eq!(unit(bad), None);
        }
    }

    #[test]
    fn hash_direction_is_near_itself_only() {
        let cosine = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
        let (one, two) = (hash_direction("", 256), hash_direction("\u{1f9f6}", 256));
        assert!((cosine(&one, &one) - 1.0).abs() < 1e-5);
        assert!(cosine(&one, &two).abs() < 0.3);
        assert_eq!(hash_direction("a", 384).len(), 384);
    }
}
