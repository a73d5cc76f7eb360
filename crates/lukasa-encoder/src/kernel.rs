//! Arithmetic of an encoder: products of matrices, and functions of rows.

use pulp::Simd;

/// Rows of a product that are computed at once: with two registers of columns each, and with those of
/// the right matrix, they fit into sixteen registers.
const TILE_ROWS: usize = 6;
/// Rows that are packed at once, so that they stay in the processor's cache.
const PACKED_ROWS: usize = 96;
/// Columns of the widest panel: two registers of 512 bits.
const MAX_PANEL: usize = 32;
/// Partial sums of a row. A sum with one order of addition cannot be computed several at once.
const LANES: usize = 16;

/// The right matrix of a product, with its columns in panels that are as wide as two registers.
#[derive(Debug, Default)]
pub(crate) struct Panels {
    inputs: usize,
    outputs: usize,
    width: usize,
    values: Vec<f32>,
    /// What is added to each column.
    bias: Vec<f32>,
}

/// Some columns of a matrix with all its rows.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'a> {
    pub values: &'a [f32],
    pub rows: usize,
    /// Columns of the whole matrix.
    pub stride: usize,
    pub first: usize,
}

/// Where a product is written: some columns of a matrix.
pub(crate) struct Target<'a> {
    pub values: &'a mut [f32],
    pub stride: usize,
    pub first: usize,
}

/// Columns of a panel for these instructions.
#[inline(always)]
pub(crate) fn panel_width<S: Simd>() -> usize {
    2 * S::F32_LANES
}

impl Panels {
    /// Packs a matrix of this many rows and columns, without a bias.
    pub fn pack(
        &mut self,
        width: usize,
        (inputs, outputs): (usize, usize),
        value: impl Fn(usize, usize) -> f32,
    ) {
        let columns = outputs.div_ceil(width) * width;
        (self.inputs, self.outputs, self.width) = (inputs, outputs, width);
        self.bias.clear();
        self.bias.resize(columns, 0.0);
        self.values.clear();
        self.values.resize(columns * inputs, 0.0);
        if inputs == 0 {
            return;
        }
        for (panel, values) in self.values.chunks_exact_mut(inputs * width).enumerate() {
            let first = panel * width;
            for (input, row) in values.chunks_exact_mut(width).enumerate() {
                for (slot, output) in row.iter_mut().zip(first..outputs) {
                    *slot = value(input, output);
                }
            }
        }
    }

    /// A linear layer: `weights` has one row for each output.
    pub fn linear(width: usize, inputs: usize, weights: &[f32], bias: &[f32]) -> Self {
        let mut panels = Self::default();
        panels.pack(width, (inputs, bias.len()), |input, output| weights[output * inputs + input]);
        panels.bias[..bias.len()].copy_from_slice(bias);
        panels
    }

    pub fn outputs(&self) -> usize {
        self.outputs
    }
}

/// Writes the product of `left`, whose columns are the inputs of `right`, plus the bias into `target`.
/// `packed` is memory that is used again.
#[inline(always)]
pub(crate) fn multiply<S: Simd>(
    simd: S,
    left: Columns<'_>,
    right: &Panels,
    target: Target<'_>,
    packed: &mut Vec<f32>,
) {
    let Target { values: written, stride, first: column } = target;
    let (inputs, width) = (right.inputs, right.width);
    if inputs == 0 || width != panel_width::<S>() {
        return;
    }
    for first in (0..left.rows).step_by(PACKED_ROWS) {
        let rows = PACKED_ROWS.min(left.rows - first);
        pack_rows(left, first, rows, inputs, packed);
        for (panel, values) in right.values.chunks_exact(inputs * width).enumerate() {
            let columns = width.min(right.outputs - panel * width);
            let bias = &right.bias[panel * width..][..width];
            for (tile, tile_rows) in packed.chunks_exact(inputs * TILE_ROWS).enumerate() {
                let sums = tile_product(simd, tile_rows, values, bias);
                for (row, sum) in (tile * TILE_ROWS..rows).zip(&sums) {
                    let at = (first + row) * stride + column + panel * width;
                    let out = &mut written[at..at + columns];
                    if columns == width {
                        S::as_mut_simd_f32s(out).0.copy_from_slice(sum);
                    } else {
                        let mut whole = [0.0; MAX_PANEL];
                        S::as_mut_simd_f32s(&mut whole[..width]).0.copy_from_slice(sum);
                        out.copy_from_slice(&whole[..columns]);
                    }
                }
            }
        }
    }
}

/// Puts rows side by side, as many as are computed at once; missing ones are zero.
#[inline(always)]
fn pack_rows(left: Columns<'_>, first: usize, rows: usize, inputs: usize, packed: &mut Vec<f32>) {
    packed.clear();
    packed.resize(rows.div_ceil(TILE_ROWS) * TILE_ROWS * inputs, 0.0);
    for (tile, slots) in packed.chunks_exact_mut(TILE_ROWS * inputs).enumerate() {
        for (lane, row) in (tile * TILE_ROWS..rows).take(TILE_ROWS).enumerate() {
            let at = (first + row) * left.stride + left.first;
            let values = &left.values[at..at + inputs];
            for (slot, value) in slots[lane..].iter_mut().step_by(TILE_ROWS).zip(values) {
                *slot = *value;
            }
        }
    }
}

#[inline(always)]
fn tile_product<S: Simd>(
    simd: S,
    rows: &[f32],
    panel: &[f32],
    bias: &[f32],
) -> [[S::f32s; 2]; TILE_ROWS] {
    let bias = S::as_simd_f32s(bias).0;
    let mut sums = [[bias[0], bias[1]]; TILE_ROWS];
    let rows = rows.as_chunks::<TILE_ROWS>().0;
    let columns = S::as_simd_f32s(panel).0.as_chunks::<2>().0;
    for (row, column) in rows.iter().zip(columns) {
        for (sum, value) in sums.iter_mut().zip(row) {
            let value = simd.splat_f32s(*value);
            sum[0] = simd.mul_add_f32s(value, column[0], sum[0]);
            sum[1] = simd.mul_add_f32s(value, column[1], sum[1]);
        }
    }
    sums
}

/// The sum of a function of the values.
#[inline(always)]
fn sum_of(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut lanes = [0.0; LANES];
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, value) in lanes.iter_mut().zip(chunk) {
            *lane += of(*value);
        }
    }
    lanes.iter().sum::<f32>() + rest.iter().map(|value| of(*value)).sum::<f32>()
}

/// Normalises a row to mean zero and variance one, and scales it.
#[inline(always)]
pub(crate) fn normalise(row: &mut [f32], scale: &[f32], shift: &[f32], epsilon: f32) {
    let count = row.len() as f32;
    let mean = sum_of(row, |value| value) / count;
    let variance = sum_of(row, |value| (value - mean) * (value - mean)) / count;
    let factor = 1.0 / (variance + epsilon).sqrt();
    for ((value, scale), shift) in row.iter_mut().zip(scale).zip(shift) {
        *value = (*value - mean) * factor * scale + shift;
    }
}

/// Turns a row of scores into weights with the sum of one.
#[inline(always)]
pub(crate) fn softmax(row: &mut [f32]) {
    let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    for value in row.iter_mut() {
        *value = exp(*value - most);
    }
    let factor = 1.0 / sum_of(row, |value| value);
    for value in row {
        *value *= factor;
    }
}

/// Gaussian error linear units, by the error function and not by an approximation with a tangent.
#[inline(always)]
pub(crate) fn gelu(values: &mut [f32]) {
    for value in values {
        *value = 0.5 * *value * (1.0 + erf(*value * std::f32::consts::FRAC_1_SQRT_2));
    }
}

/// The exponential function with a relative error below two millionths, without branches, so that a
/// loop of it becomes vector instructions.
#[inline(always)]
fn exp(value: f32) -> f32 {
    /// Adding it to a small number rounds that to an integer, which is then in its lowest bits.
    const ROUND: f32 = 12_582_912.0;
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let value = value.clamp(-87.0, 88.0);
    let rounded = value * std::f32::consts::LOG2_E + ROUND;
    let whole = rounded - ROUND;
    let rest = value - whole * LN_2_HIGH - whole * LN_2_LOW;
    let mut power = 1.0 / 720.0;
    for factor in [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        power = power * rest + factor;
    }
    // The lowest bits of `rounded`, moved to where a number has its exponent.
    power * f32::from_bits((rounded.to_bits() << 23).wrapping_add(0x3f80_0000))
}

/// The error function with an absolute error below a millionth (Abramowitz and Stegun, 7.1.26).
#[inline(always)]
fn erf(value: f32) -> f32 {
    let size = value.abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * size);
    let mut sum = 1.061_405_4;
    for factor in [-1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6] {
        sum = sum * t + factor;
    }
    (1.0 - sum * t * exp(-size * size)).copysign(value)
}

#[cfg(test)]
mod tests {
    use pulp::{Arch, WithSimd};

    use super::*;

    struct Product<'a> {
        left: Columns<'a>,
        inputs: usize,
        outputs: usize,
        weights: &'a [f32],
        bias: &'a [f32],
    }

    impl WithSimd for Product<'_> {
        type Output = Vec<f32>;

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> Vec<f32> {
            let width = panel_width::<S>();
            let panels = Panels::linear(width, self.inputs, self.weights, self.bias);
            let mut values = vec![f32::NAN; self.left.rows * self.outputs];
            let target = Target { values: &mut values, stride: self.outputs, first: 0 };
            multiply(simd, self.left, &panels, target, &mut Vec::new());
            values
        }
    }

    /// Numbers between -1 and 1 that repeat late.
    fn numbers(count: usize, seed: u32) -> Vec<f32> {
        let next = |state: &mut u32| {
            *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            Some((*state >> 8) as f32 / 8_388_608.0 - 1.0)
        };
        std::iter::repeat_n((), count).scan(seed, |state, ()| next(state)).collect()
    }

    #[test]
    fn product_of_any_size_equals_the_plain_sum() {
        for (rows, inputs, outputs) in
            [(1, 1, 1), (5, 7, 31), (6, 32, 32), (13, 3, 70), (200, 40, 33)]
        {
            let (stride, first) = (inputs + 3, 2);
            let (values, weights) = (numbers(rows * stride, 1), numbers(inputs * outputs, 2));
            let bias = numbers(outputs, 3);
            let left = Columns { values: &values, rows, stride, first };
            let product = Product { left, inputs, outputs, weights: &weights, bias: &bias };
            let got = Arch::new().dispatch(product);
            for row in 0..rows {
                for output in 0..outputs {
                    let sum: f32 = (0..inputs)
                        .map(|at| values[row * stride + first + at] * weights[output * inputs + at])
                        .sum();
                    let off = (got[row * outputs + output] - sum - bias[output]).abs();
                    assert!(off < 1e-4, "{rows}x{inputs}x{outputs}, {row} {output}: off by {off}");
                }
            }
        }
    }

    #[test]
    fn functions_of_values_are_close_to_the_exact_ones() {
        for step in -1000_i16..=1000 {
            let value = f32::from(step) / 100.0;
            let exact = f64::from(value).exp();
            assert!((f64::from(exp(value)) / exact - 1.0).abs() < 2e-6, "exp({value})");
        }
        // Values of the error function from tables.
        for (value, exact) in [
            (0.0, 0.0),
            (0.1, 0.112_462_9),
            (0.5, 0.520_499_9),
            (1.0, 0.842_700_8),
            (2.0, 0.995_322_3),
        ] {
            assert!((erf(value) - exact).abs() < 1e-6, "erf({value})");
            assert!((erf(-value) + exact).abs() < 1e-6, "erf(-{value})");
        }
        let mut row = vec![1000.0, 1000.0, -1000.0];
        softmax(&mut row);
        assert!((row[0] - 0.5).abs() < 1e-6 && row[2] < 1e-6, "{row:?}");
        let mut row = numbers(37, 4);
        normalise(&mut row, &[1.0; 37], &[0.0; 37], 1e-12);
        let mean: f32 = row.iter().sum::<f32>() / 37.0;
        let variance: f32 = row.iter().map(|value| value * value).sum::<f32>() / 37.0;
        assert!(mean.abs() < 1e-5 && (variance - 1.0).abs() < 1e-4, "{mean} {variance}");
    }
}
