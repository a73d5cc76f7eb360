//! Parser for server-sent events: only the data of each event. All event streams are read with it.
//!
//! The bytes come in pieces that may end anywhere, also inside a character or between a carriage
//! return and its line feed. An incomplete event at the end of the stream is dropped.

use std::fmt;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Assembles pieces into events.
#[derive(Debug)]
pub struct SseReader {
    /// The incomplete line.
    line: Vec<u8>,
    /// The data lines of the incomplete event.
    data: Option<Vec<u8>>,
    /// Whether the last piece ended with a carriage return, whose line feed may still follow.
    after_return: bool,
    /// Whether the first line is complete; only that one may begin with a byte order mark.
    begun: bool,
    /// Upper bound of bytes of one event.
    max_bytes: usize,
}

/// Why a stream of events cannot be read further.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SseError {
    TooLong,
    NotText,
}

impl fmt::Display for SseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SseError::TooLong => "an event is too long",
            SseError::NotText => "an event is not UTF-8",
        })
    }
}

impl std::error::Error for SseError {}

impl SseReader {
    pub fn new(max_bytes: usize) -> Self {
        Self { line: Vec::new(), data: None, after_return: false, begun: false, max_bytes }
    }

    /// Returns the events that this piece completes.
    pub fn push(&mut self, mut piece: &[u8]) -> Result<Vec<String>, SseError> {
        let mut events = Vec::new();
        if self.after_return && !piece.is_empty() {
            self.after_return = false;
            piece = piece.strip_prefix(b"\n").unwrap_or(piece);
        }
        while let Some(end) = piece.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            self.grow(&piece[..end])?;
            let rest = &piece[end + 1..];
            piece = match piece[end] {
                b'\r' if rest.is_empty() => {
                    self.after_return = true;
                    rest
                }
                b'\r' => rest.strip_prefix(b"\n").unwrap_or(rest),
                _ => rest,
            };
            if let Some(data) = self.end_line() {
                events.push(String::from_utf8(data).map_err(|_| SseError::NotText)?);
            }
        }
        self.grow(piece)?;
        Ok(events)
    }

    fn grow(&mut self, piece: &[u8]) -> Result<(), SseError> {
        let buffered = self.line.len() + self.data.as_ref().map_or(0, Vec::len);
        if buffered + piece.len() > self.max_bytes {
            return Err(SseError::TooLong);
        }
        self.line.extend_from_slice(piece);
        Ok(())
    }

    /// Ends the current line, and returns the event's data if the line ends it.
    fn end_line(&mut self) -> Option<Vec<u8>> {
        let whole = std::mem::take(&mut self.line);
        let line = whole.strip_prefix(BYTE_ORDER_MARK).filter(|_| !self.begun).unwrap_or(&whole);
        self.begun = true;
        if line.is_empty() {
            return self.data.take();
        }
        // A line that begins with a colon is a comment: its name is empty. Of the named lines only
        // `data` matters; `event`, `id` and `retry` are for clients that reconnect.
        let (name, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        if name == b"data" {
            let value = value.strip_prefix(b" ").unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            }
        }
        None
    }
}

/// The end of the first event in these bytes, including the blank line that ends it.
pub(crate) fn event_end(bytes: &[u8]) -> Option<usize> {
    let ends: [&[u8]; 3] = [b"\n\n", b"\r\n\r\n", b"\r\r"];
    let place = |end: &&[u8]| {
        bytes.windows(end.len()).position(|part| part == *end).map(|at| at + end.len())
    };
    ends.iter().filter_map(place).min()
}

/// The data of one whole event.
pub(crate) fn event_data(event: &[u8]) -> Option<String> {
    SseReader::new(event.len()).push(event).ok()?.pop()
}

#[cfg(test)]
mod tests {
    use super::{SseError, SseReader};

    fn read(pieces: &[&[u8]]) -> Vec<String> {
        let mut events = SseReader::new(1 << 10);
        pieces.iter().flat_map(|piece| events.push(piece).unwrap()).collect()
    }

    #[test]
    fn sse_event_consists_of_its_data_lines() {
        let text = b": hello\n\ndata: one\n\nevent: x\nid: 7\ndata:two\ndata:  three\ndata\n\n";
        assert_eq!(read(&[text]), ["one", "two\n three\n"]);
        assert_eq!(read(&[b"data: [DONE]\n\n"]), ["[DONE]"]);
        assert_eq!(read(&[b"data:\n\n"]), [""]);
        assert_eq!(read(&[b"retry: 5\n\n\n\ndatas: x\n\nda: x\n\n"]), [""; 0]);
    }

    #[test]
    fn sse_accepts_three_line_endings_and_a_byte_order_mark() {
        for end in ["\n", "\r\n", "\r"] {
            let text = ["\u{feff}data: a", "data: b", "", ": c", "data: \u{feff}d", "", ""];
            let events = read(&[text.join(end).as_bytes(), b"\n"]);
            assert_eq!(events, ["a\nb", "\u{feff}d"], "{end:?}");
        }
    }

    #[test]
    fn sse_events_do_not_depend_on_chunking() {
        let text = "\u{feff}: c\r\ndata: gr\u{fc}n \u{1f9f6}\r\ndata: b\r\n\r\ndata: c\n\ndata: d\r\rdata: e\n\n";
        let expected = ["gr\u{fc}n \u{1f9f6}\nb", "c", "d", "e"];
        let bytes = text.as_bytes();
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(read(&single), expected);
        for first in 0..=bytes.len() {
            for second in first..=bytes.len() {
                let pieces = [&bytes[..first], &bytes[first..second], &bytes[second..]];
                assert_eq!(read(&pieces), expected, "cut at {first} and {second}");
            }
        }
    }

    #[test]
    fn sse_drops_incomplete_event() {
        for text in ["data: a", "data: a\n", "data: a\r\n", "data: a\ndata: b"] {
            assert_eq!(read(&[text.as_bytes()]), [""; 0], "{text:?}");
        }
    }

    #[test]
    fn sse_refuses_long_or_invalid_events() {
        let refused = |pieces: &[&[u8]]| {
            let mut events = SseReader::new(16);
            pieces.iter().find_map(|piece| events.push(piece).err())
        };
        assert_eq!(refused(&[b"data: 0123456789\n\n", b"data: 0123456789\n\n"]), None);
        assert_eq!(refused(&[b"data: 0123", b"4567890\n\n"]), Some(SseError::TooLong));
        let many: &[&[u8]] = &[b"data: 01234\n", b"data: 01234\n", b"data: 01234\n"];
        assert_eq!(refused(many), Some(SseError::TooLong));
        assert_eq!(refused(&[b"data: \xff\n\n"]), Some(SseError::NotText));
        assert_eq!(refused(&[b": \xff\n\ndata: a\n\n"]), None);
    }
}
