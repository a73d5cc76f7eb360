//! Server-sent events, as far as chat models use them: the data of each event and nothing else.
//!
//! The bytes come in pieces that end anywhere, also inside a character or between a carriage return
//! and its line feed. What is left when the stream ends is not an event.

const MARK: &[u8] = b"\xef\xbb\xbf";

/// Puts pieces together to events.
#[derive(Debug)]
pub(crate) struct Events {
    /// The line that is not over yet.
    line: Vec<u8>,
    /// The lines of data of the event that is not over yet.
    data: Option<Vec<u8>>,
    /// Whether the last piece ended with a carriage return, whose line feed may still come.
    after_return: bool,
    /// Whether the first line is over; only that one may begin with a byte order mark.
    begun: bool,
    /// The most bytes of one event.
    most: usize,
}

/// Why a stream of events cannot be read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreadable {
    TooLong,
    NotText,
}

impl Events {
    pub(crate) fn new(most: usize) -> Self {
        Self { line: Vec::new(), data: None, after_return: false, begun: false, most }
    }

    /// The events that this piece completes.
    pub(crate) fn push(&mut self, mut piece: &[u8]) -> Result<Vec<String>, Unreadable> {
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
                events.push(String::from_utf8(data).map_err(|_| Unreadable::NotText)?);
            }
        }
        self.grow(piece)?;
        Ok(events)
    }

    fn grow(&mut self, piece: &[u8]) -> Result<(), Unreadable> {
        let held = self.line.len() + self.data.as_ref().map_or(0, Vec::len);
        if held + piece.len() > self.most {
            return Err(Unreadable::TooLong);
        }
        self.line.extend_from_slice(piece);
        Ok(())
    }

    /// Takes the line that is over now, and gives the event's data if the line ends it.
    fn end_line(&mut self) -> Option<Vec<u8>> {
        let whole = std::mem::take(&mut self.line);
        let line = whole.strip_prefix(MARK).filter(|_| !self.begun).unwrap_or(&whole);
        self.begun = true;
        if line.is_empty() {
            return self.data.take();
        }
        // A line that begins with a colon is a comment: its name is empty. Of the named ones only
        // the data matters; `event`, `id` and `retry` are for clients that come back.
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

#[cfg(test)]
mod tests {
    use super::{Events, Unreadable};

    fn read(pieces: &[&[u8]]) -> Vec<String> {
        let mut events = Events::new(1 << 10);
        pieces.iter().flat_map(|piece| events.push(piece).unwrap()).collect()
    }

    #[test]
    fn an_event_is_its_lines_of_data() {
        let text = b": hello\n\ndata: one\n\nevent: x\nid: 7\ndata:two\ndata:  three\ndata\n\n";
        assert_eq!(read(&[text]), ["one", "two\n three\n"]);
        assert_eq!(read(&[b"data: [DONE]\n\n"]), ["[DONE]"]);
        assert_eq!(read(&[b"data:\n\n"]), [""]);
        assert_eq!(read(&[b"retry: 5\n\n\n\ndatas: x\n\nda: x\n\n"]), [""; 0]);
    }

    #[test]
    fn lines_end_in_three_ways_and_a_mark_may_come_first() {
        for end in ["\n", "\r\n", "\r"] {
            let text = ["\u{feff}data: a", "data: b", "", ": c", "data: \u{feff}d", "", ""];
            let events = read(&[text.join(end).as_bytes(), b"\n"]);
            assert_eq!(events, ["a\nb", "\u{feff}d"], "{end:?}");
        }
    }

    #[test]
    fn where_the_pieces_end_makes_no_difference() {
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
    fn what_is_not_over_is_not_an_event() {
        for text in ["data: a", "data: a\n", "data: a\r\n", "data: a\ndata: b"] {
            assert_eq!(read(&[text.as_bytes()]), [""; 0], "{text:?}");
        }
    }

    #[test]
    fn what_is_too_long_or_no_text_is_refused() {
        let refused = |pieces: &[&[u8]]| {
            let mut events = Events::new(16);
            pieces.iter().find_map(|piece| events.push(piece).err())
        };
        assert_eq!(refused(&[b"data: 0123456789\n\n", b"data: 0123456789\n\n"]), None);
        assert_eq!(refused(&[b"data: 0123", b"4567890\n\n"]), Some(Unreadable::TooLong));
        let many: &[&[u8]] = &[b"data: 01234\n", b"data: 01234\n", b"data: 01234\n"];
        assert_eq!(refused(many), Some(Unreadable::TooLong));
        assert_eq!(refused(&[b"data: \xff\n\n"]), Some(Unreadable::NotText));
        assert_eq!(refused(&[b": \xff\n\ndata: a\n\n"]), None);
    }
}
