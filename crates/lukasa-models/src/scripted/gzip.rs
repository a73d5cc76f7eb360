//! A small gzip file that unpacks to a large one.

use std::io::{self, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;

/// Packs `text` and then megabytes of spaces, a thousand bytes to one or two.
pub(super) fn bomb(text: &[u8], megabytes: usize) -> io::Result<Vec<u8>> {
    // A file may consist of several packed parts, so one megabyte is packed and repeated.
    let spaces = pack(&vec![b' '; 1 << 20])?;
    Ok([pack(text)?, spaces.repeat(megabytes)].concat())
}

fn pack(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes)?;
    packed.finish()
}

#[cfg(test)]
mod tests {
    use super::bomb;

    #[test]
    fn gzip_bomb_is_a_hundred_times_smaller_than_its_content() {
        let packed = bomb(b"{}", 64).unwrap();
        assert!(packed.len() < (64 << 20) / 100, "{}", packed.len());
        assert_eq!(packed[..3], [0x1f, 0x8b, 8]);
    }
}
