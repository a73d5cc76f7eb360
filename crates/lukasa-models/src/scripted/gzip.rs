//! A small gzip file that unpacks to a large one.

use std::io::{self, Read as _, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;

/// Packs `text` and then `spaces` spaces, a thousand bytes to six.
pub(super) fn bomb(text: &[u8], spaces: u64) -> io::Result<Vec<u8>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text)?;
    io::copy(&mut io::repeat(b' ').take(spaces), &mut packed)?;
    packed.finish()
}

#[cfg(test)]
mod tests {
    use super::bomb;

    #[test]
    fn gzip_bomb_is_a_hundred_times_smaller_than_its_content() {
        let packed = bomb(b"{}", 64 << 20).unwrap();
        assert!(packed.len() < (64 << 20) / 100, "{}", packed.len());
        assert_eq!(packed[..3], [0x1f, 0x8b, 8]);
    }
}
