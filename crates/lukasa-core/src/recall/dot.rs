//! Dot products of vectors.

/// The dot product of two vectors.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    // Eight independent sums, so that the compiler can use SIMD registers.
    let mut sums = [0.0_f32; 8];
    let ((a8, a), (b8, b)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let rest: f32 = a.iter().zip(b).map(|(x, y)| x * y).sum();
    for (x, y) in a8.iter().zip(b8) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

/// The dot products of a vector with two others.
pub(super) fn dots(a: &[f32], b: &[f32], c: &[f32]) -> (f32, f32) {
    // As in `dot`, and the sums of both are independent of each other.
    let (mut to_b, mut to_c) = ([0.0_f32; 8], [0.0_f32; 8]);
    let ((a8, a), (b8, b), (c8, c)) = (a.as_chunks::<8>(), b.as_chunks::<8>(), c.as_chunks::<8>());
    for ((x, y), z) in a8.iter().zip(b8).zip(c8) {
        for lane in 0..8 {
            to_b[lane] += x[lane] * y[lane];
            to_c[lane] += x[lane] * z[lane];
        }
    }
    let rest = |other: &[f32]| -> f32 { a.iter().zip(other).map(|(x, y)| x * y).sum() };
    (to_b.iter().sum::<f32>() + rest(b), to_c.iter().sum::<f32>() + rest(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_dot_products_are_equal_to_each_alone() {
        let vector = |seed: f32| -> Vec<f32> { (0..19).map(|i| (seed * i as f32).sin()).collect() };
        let (a, b, c) = (vector(1.1), vector(2.3), vector(0.7));
        assert_eq!(dots(&a, &b, &c), (dot(&a, &b), dot(&a, &c)));
        assert_eq!(dots(&[], &[], &[]), (0.0, 0.0));
    }

    #[test]
    fn dot_product_is_correct_for_any_length() {
        let a: Vec<f32> = (0..19).map(|i| i as f32).collect();
        let expected: f32 = a.iter().map(|x| x * x).sum();
        assert_eq!(dot(&a, &a), expected);
        assert_eq!(dot(&[], &[]), 0.0);
    }
}
