//! Dot products of vectors.

use half::f16;

/// Runs a loop over vectors with the widest instructions of this processor. What it calls is only
/// compiled for them if it is inlined.
#[inline(always)]
pub(super) fn vectorized<T>(work: impl FnOnce() -> T) -> T {
    pulp::Arch::new().dispatch(work)
}

/// Number of independent sums, so that the compiler can use several SIMD registers.
const LANES: usize = 16;

/// The dot product of two vectors.
#[inline(always)]
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let ((a_chunks, a), (b_chunks, b)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let rest: f32 = a.iter().zip(b).map(|(x, y)| x * y).sum();
    for (x, y) in a_chunks.iter().zip(b_chunks) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

/// The dot products of a vector with two others.
#[inline(always)]
pub(super) fn dots(a: &[f32], b: &[f32], c: &[f32]) -> (f32, f32) {
    dots_of(a, b, c, |value| *value)
}

/// The dot products of a stored vector, whose values are finite, with two others.
#[inline(always)]
pub(super) fn stored_dots(stored: &[f16], b: &[f32], c: &[f32]) -> (f32, f32) {
    dots_of(stored, b, c, |value| widened(*value))
}

#[inline(always)]
fn dots_of<T>(a: &[T], b: &[f32], c: &[f32], value: impl Fn(&T) -> f32) -> (f32, f32) {
    let (mut to_b, mut to_c) = ([0.0_f32; LANES], [0.0_f32; LANES]);
    let (a_chunks, a) = a.as_chunks::<LANES>();
    let ((b_chunks, b), (c_chunks, c)) = (b.as_chunks::<LANES>(), c.as_chunks::<LANES>());
    for ((x, y), z) in a_chunks.iter().zip(b_chunks).zip(c_chunks) {
        for lane in 0..LANES {
            let x = value(&x[lane]);
            to_b[lane] += x * y[lane];
            to_c[lane] += x * z[lane];
        }
    }
    let rest = |other: &[f32]| -> f32 { a.iter().zip(other).map(|(x, y)| value(x) * y).sum() };
    (to_b.iter().sum::<f32>() + rest(b), to_c.iter().sum::<f32>() + rest(c))
}

/// Converts a stored vector, whose values are finite.
#[inline(always)]
pub(super) fn widen(stored: &[f16], to: &mut [f32]) {
    for (to, value) in to.iter_mut().zip(stored) {
        *to = widened(*value);
    }
}

/// Converts a finite value; unlike the conversion of the type it can be done for several values at once.
#[inline(always)]
fn widened(value: f16) -> f32 {
    // The same bits mean a value whose exponent is lower by the difference of the two biases.
    const SCALE: f32 = f32::from_bits((127 + 127 - 15) << 23);
    let bits = u32::from(value.to_bits());
    let magnitude = f32::from_bits((bits & 0x7fff) << 13) * SCALE;
    f32::from_bits(magnitude.to_bits() | (bits & 0x8000) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_dot_products_are_equal_to_each_alone() {
        let vector = |seed: f32| -> Vec<f32> { (0..35).map(|i| (seed * i as f32).sin()).collect() };
        let (a, b, c) = (vector(1.1), vector(2.3), vector(0.7));
        assert_eq!(dots(&a, &b, &c), (dot(&a, &b), dot(&a, &c)));
        assert_eq!(dots(&[], &[], &[]), (0.0, 0.0));
    }

    #[test]
    fn widened_values_are_equal_to_the_stored_ones() {
        let finite = (0..=u16::MAX).map(f16::from_bits).filter(|value| value.is_finite());
        let stored: Vec<f16> = finite.collect();
        let mut widened = vec![0.0; stored.len()];
        vectorized(|| widen(&stored, &mut widened));
        for (value, stored) in widened.iter().zip(&stored) {
            assert_eq!(value.to_bits(), stored.to_f32().to_bits());
        }
    }

    #[test]
    fn vectorized_dot_products_are_equal_to_the_others() {
        let vector =
            |seed: f32| -> Vec<f32> { (0..256).map(|i| (seed * i as f32).sin()).collect() };
        let (a, b, c) = (vector(1.1), vector(2.3), vector(0.7));
        assert_eq!(vectorized(|| dots(&a, &b, &c)), dots(&a, &b, &c));
        let stored: Vec<f16> = a.iter().map(|value| f16::from_f32(*value)).collect();
        let mut widened = vec![0.0; stored.len()];
        widen(&stored, &mut widened);
        assert_eq!(vectorized(|| stored_dots(&stored, &b, &c)), dots(&widened, &b, &c));
    }

    #[test]
    fn dot_product_is_correct_for_any_length() {
        let a: Vec<f32> = (0..35).map(|i| i as f32).collect();
        let expected: f32 = a.iter().map(|x| x * x).sum();
        assert_eq!(dot(&a, &a), expected);
        assert_eq!(dot(&[], &[]), 0.0);
    }
}
