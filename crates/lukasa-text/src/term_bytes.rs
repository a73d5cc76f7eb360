//! Stored form of the terms of a passage. Terms are hashes, which no general compression makes smaller;
//! but they are sorted, and most counts are one.
//!
//! A few terms take five bytes each: the hash and the count. More of them are written as
//! - their number, in two bytes;
//! - the highest byte of each hash, as ones in a list of bits: that of the hash number `i` is at the bit
//!   `byte + i`, so a hash takes about one bit and every possible byte another one;
//! - a bit for each count that is not one;
//! - the other three bytes of each hash;
//! - the counts that are not one, in a byte each.
//!
//! The length of the first form is a multiple of five, and that of the second is not.

/// Bytes of a term in the first form.
const FIXED_BYTES: usize = 5;
/// The first number of terms that takes less in the second form, if one count in six is not one.
const MIN_LISTED: usize = 32;
/// Values of the highest byte.
const HIGHEST_BYTES: usize = 256;

/// Writes the hashes and counts of at most 65,535 terms, which are sorted.
pub(crate) fn encode(counts: impl ExactSizeIterator<Item = (u32, u8)>) -> Vec<u8> {
    let size = counts.len();
    let Some(terms) = u16::try_from(size).ok().filter(|_| size >= MIN_LISTED) else {
        let five = |(hash, count): (u32, u8)| [hash.to_le_bytes().as_slice(), &[count]].concat();
        return counts.flat_map(five).collect();
    };
    let mut high = vec![0; high_bytes(size)];
    let mut is_many = vec![0; size.div_ceil(8)];
    let (mut low, mut many) = (Vec::with_capacity(size * 3), Vec::new());
    for (at, (hash, count)) in counts.enumerate() {
        let [first, second, third, highest] = hash.to_le_bytes();
        set_bit(&mut high, usize::from(highest) + at);
        low.extend([first, second, third]);
        if count != 1 {
            set_bit(&mut is_many, at);
            many.push(count);
        }
    }
    let mut bytes = [terms.to_le_bytes().as_slice(), &high, &is_many, &low, &many].concat();
    if bytes.len().is_multiple_of(FIXED_BYTES) {
        bytes.push(0);
    }
    bytes
}

/// Reads what [`encode`] wrote, and makes each hash a term. Of bytes that are cut off, nothing is read.
pub(crate) fn decode<T>(bytes: &[u8], term_of: impl Fn(u32) -> T) -> Vec<(T, u8)> {
    if bytes.len().is_multiple_of(FIXED_BYTES) {
        let hash = |five: &[u8]| u32::from_le_bytes([five[0], five[1], five[2], five[3]]);
        let read = |five: &[u8]| (term_of(hash(five)), five[4]);
        return bytes.chunks_exact(FIXED_BYTES).map(read).collect();
    }
    listed(bytes, term_of).unwrap_or_default()
}

fn listed<T>(bytes: &[u8], term_of: impl Fn(u32) -> T) -> Option<Vec<(T, u8)>> {
    let (size, rest) = bytes.split_first_chunk::<2>()?;
    let size = usize::from(u16::from_le_bytes(*size));
    let (high, rest) = rest.split_at_checked(high_bytes(size))?;
    let (is_many, rest) = rest.split_at_checked(size.div_ceil(8))?;
    let (low, many) = rest.split_at_checked(size * 3)?;
    let mut counts = Vec::with_capacity(size);
    let (mut low, mut many) = (low.chunks_exact(3), many.iter());
    for (from, eight) in (0..).step_by(64).zip(high.chunks(8)) {
        let mut word = [0; 8];
        word[..eight.len()].copy_from_slice(eight);
        let mut ones = u64::from_le_bytes(word);
        while ones != 0
            && let Some(three) = low.next()
        {
            let at = counts.len();
            let highest = (from + ones.trailing_zeros() as usize).wrapping_sub(at) as u8;
            ones &= ones - 1;
            let is_one = (is_many[at / 8] >> (at % 8)) & 1 == 0;
            let count = if is_one { 1 } else { *many.next()? };
            counts.push((
                term_of(u32::from_le_bytes([three[0], three[1], three[2], highest])),
                count,
            ));
        }
    }
    Some(counts)
}

/// Bytes of the list of the highest bytes of this many hashes.
fn high_bytes(size: usize) -> usize {
    (HIGHEST_BYTES + size).div_ceil(8)
}

fn set_bit(bytes: &mut [u8], at: usize) {
    bytes[at / 8] |= 1 << (at % 8);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(counts: &[(u32, u8)]) -> Vec<u8> {
        encode(counts.iter().copied())
    }

    fn decoded(bytes: &[u8]) -> Vec<(u32, u8)> {
        decode(bytes, |hash| hash)
    }

    /// `count` terms, spread as hashes are.
    fn spread(count: u32) -> Vec<(u32, u8)> {
        let mut terms: Vec<u32> = (1..=count).map(|n| n.wrapping_mul(2_654_435_761)).collect();
        terms.sort_unstable();
        let count_of = |at: usize| [1, 1, 1, 2, 1, 3, 1, 4, 255, 1][at % 10];
        terms.into_iter().enumerate().map(|(at, term)| (term, count_of(at))).collect()
    }

    /// The first form.
    fn fixed(counts: &[(u32, u8)]) -> Vec<u8> {
        let each = |(term, count): &(u32, u8)| [term.to_le_bytes().as_slice(), &[*count]].concat();
        counts.iter().flat_map(each).collect()
    }

    #[test]
    fn terms_of_any_number_and_place_are_read_as_they_were_written() {
        for count in 0..=400 {
            let counts = spread(count);
            assert_eq!(decoded(&encoded(&counts)), counts, "{count}");
            assert_eq!(decoded(&fixed(&counts)), counts, "{count} in the first form");
        }
        // One difference can be as large as the range of hashes.
        let late: Vec<_> = (0..400).map(|n| (u32::MAX - 400 + n, 1)).collect();
        let far = vec![(1, 1), (u32::MAX, 2)];
        for extreme in [vec![(0, 1)], vec![(u32::MAX, 255)], far, late] {
            assert_eq!(decoded(&encoded(&extreme)), extreme);
        }
    }

    #[test]
    fn terms_take_less_in_the_listed_form() {
        for (count, percent) in [(32, 93), (80, 79), (230, 73), (400, 71)] {
            let counts = spread(count).into_iter().enumerate();
            let counts: Vec<_> =
                counts.map(|(at, (term, _))| (term, if at % 6 == 0 { 2 } else { 1 })).collect();
            let (now, before) = (encoded(&counts).len(), fixed(&counts).len());
            assert!(now * 100 <= before * percent, "{now} of {before} bytes for {count} terms");
        }
        for count in 0..=400 {
            // A passage has at most 400 terms, and an index row has room for five bytes for each.
            let most: Vec<_> = spread(count).into_iter().map(|(term, _)| (term, 255)).collect();
            assert!(encoded(&most).len() <= 2_000, "{count}");
        }
    }

    #[test]
    fn terms_that_are_cut_off_or_not_terms_are_read_without_a_panic() {
        let bytes = encoded(&spread(100));
        for end in 0..bytes.len() {
            assert!(decoded(&bytes[..end]).len() <= 100);
        }
        for byte in 0..=u8::MAX {
            decoded(&[byte; 99]);
            decoded(&[byte, 255, byte, 0, 255, byte, byte]);
        }
    }
}
