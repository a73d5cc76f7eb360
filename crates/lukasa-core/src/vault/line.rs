//! One memory as one line of markdown: its words, then small marks that a reader can ignore.
//!
//! ```text
//! - Prefers window seats *(inferred, 80 % sure)* #travel ^mem-01hx3v9d0kf7rtm4q5wz8yb2ca
//! ```
//!
//! Any words survive a round trip exactly: characters that would be parsed as something else are
//! written as character references (`&#35;`), which every markdown reader shows as the character.

use crate::id::FactId;

/// The mark at the end of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Mark {
    /// No mark: a new memory.
    None,
    Fact(FactId),
    /// A mark that names no memory.
    Broken,
}

/// A parsed line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) content: String,
    pub(super) tags: Vec<String>,
    /// The hints in `*( )*`.
    pub(super) hints: Vec<String>,
    pub(super) mark: Mark,
}

/// Encodes text for a line.
pub fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let last = text.char_indices().last().map_or(0, |(at, _)| at);
    for (at, letter) in text.char_indices() {
        let rest = &text[at..];
        let edge = (at == 0 || at == last) && letter.is_whitespace();
        if letter == '\n' {
            out.push_str("<br>");
        } else if edge || is_hidden(letter) || rest.starts_with("&#") || rest.starts_with("<br>") {
            out.push_str(&reference(letter));
        } else {
            out.push(letter);
        }
    }
    // Words that end like a mark would be parsed as one.
    match peel(&out) {
        None => out,
        Some((_, Piece::Hint(_))) => {
            out.pop();
            out.push_str(&reference('*'));
            out
        }
        Some(_) => {
            let at = out.rfind(' ').map_or(0, |space| space + 1);
            let first = out[at..].chars().next().unwrap_or('#');
            out.replace_range(at..at + first.len_utf8(), &reference(first));
            out
        }
    }
}

/// Decodes the text of a line.
pub fn decode(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(letter) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("<br>") {
            out.push('\n');
            rest = after;
        } else if let Some((named, after)) = referred(rest) {
            out.push(named);
            rest = after;
        } else {
            out.push(letter);
            rest = &rest[letter.len_utf8()..];
        }
    }
    out
}

fn reference(letter: char) -> String {
    format!("&#{};", letter as u32)
}

/// The character that a reference at the start of `text` names, and the rest. The character U+0000
/// cannot be stored and has none.
fn referred(text: &str) -> Option<(char, &str)> {
    const MAX_DIGITS: usize = 7;
    let digits = text.strip_prefix("&#")?;
    // A line can have many of them, so the rest of it is not searched for each.
    let end = digits.bytes().take(MAX_DIGITS + 1).position(|byte| byte == b';')?;
    let (number, after) = (&digits[..end], &digits[end + 1..]);
    if number.is_empty() || !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let letter = char::from_u32(number.parse().ok()?).filter(|letter| *letter != '\0')?;
    Some((letter, after))
}

/// Whether an editor or a reader would hide the character or reverse its direction.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// Writes a line, without its bullet.
pub(super) fn write(content: &str, tags: &[String], hints: &[String], fact: FactId) -> String {
    let mut line = encode(content);
    if !hints.is_empty() {
        line.push_str(&format!(" *({})*", hints.join("; ")));
    }
    for tag in tags.iter().filter(|tag| !tag.is_empty()) {
        line.push_str(&format!(" #{}", encode_tag(tag)));
    }
    let id = fact.to_string();
    let id = id.strip_prefix("mem_").unwrap_or(&id);
    format!("{line} ^mem-{id}")
}

/// Text for `*( )*`, shortened.
pub(super) fn hint(text: &str) -> String {
    const MAX_CHARS: usize = 80;
    let mut out = String::new();
    for (count, letter) in text.chars().enumerate() {
        if count == MAX_CHARS {
            out.push('…');
            break;
        }
        let plain = letter == ' ' || !(letter.is_whitespace() || is_hidden(letter));
        if plain && !matches!(letter, '*' | ';' | '&' | '^') {
            out.push(letter);
        } else {
            out.push(' ');
        }
    }
    out.trim().to_owned()
}

fn is_tag_letter(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '-' | '/')
}

fn encode_tag(tag: &str) -> String {
    // Editors do not accept a number as a tag.
    let number = tag.chars().all(|letter| letter.is_ascii_digit());
    let letter = |(at, letter): (usize, char)| {
        let plain = is_tag_letter(letter) && !(number && at == 0);
        if plain { letter.to_string() } else { reference(letter) }
    };
    tag.chars().enumerate().map(letter).collect()
}

/// Parses a word as a tag.
fn tag(word: &str) -> Option<String> {
    let mut rest = word.strip_prefix('#').filter(|rest| !rest.is_empty())?;
    let mut out = String::new();
    let mut number = true;
    while let Some(letter) = rest.chars().next() {
        if let Some((named, after)) = referred(rest) {
            out.push(named);
            (rest, number) = (after, false);
        } else if is_tag_letter(letter) {
            out.push(letter);
            rest = &rest[letter.len_utf8()..];
            number = number && letter.is_ascii_digit();
        } else {
            return None;
        }
    }
    (!number).then_some(out)
}

enum Piece {
    Mark(Mark),
    Tag(String),
    Hint(Vec<String>),
}

const HINTS: [&str; 5] = ["inferred", "rule", "project ", "until ", "from "];

/// Splits the last mark off a line, if it ends with one.
fn peel(text: &str) -> Option<(&str, Piece)> {
    let text = text.trim_end_matches([' ', '\t']);
    let at = text.rfind([' ', '\t']).map_or(0, |space| space + 1);
    let (before, word) = text.split_at(at);
    if let Some(id) = word.strip_prefix("^mem") {
        let id = id.strip_prefix('-').map(|id| format!("mem_{}", id.to_ascii_lowercase()));
        let fact = id.and_then(|id| id.parse().ok());
        return Some((before, Piece::Mark(fact.map_or(Mark::Broken, Mark::Fact))));
    }
    if let Some(tag) = tag(word) {
        return Some((before, Piece::Tag(tag)));
    }
    let inside = text.strip_suffix(")*")?;
    let start = inside.rfind("*(").filter(|at| *at == 0 || inside[..*at].ends_with([' ', '\t']))?;
    let body = &inside[start + 2..];
    if !HINTS.iter().any(|word| body.starts_with(word)) {
        return None;
    }
    Some((&text[..start], Piece::Hint(body.split("; ").map(str::to_owned).collect())))
}

/// Parses a line without its bullet.
pub(super) fn parse(text: &str) -> Line {
    let mut line =
        Line { content: String::new(), tags: Vec::new(), hints: Vec::new(), mark: Mark::None };
    let mut rest = text;
    while let Some((before, piece)) = peel(rest) {
        match piece {
            Piece::Mark(mark) if line.mark == Mark::None => line.mark = mark,
            // Two marks are ambiguous.
            Piece::Mark(_) => line.mark = Mark::Broken,
            Piece::Tag(tag) => line.tags.push(tag),
            Piece::Hint(hints) => line.hints.extend(hints.into_iter().rev()),
        }
        rest = before;
    }
    // They were collected from the end.
    line.tags.reverse();
    line.hints.reverse();
    line.content = decode(rest.trim_matches([' ', '\t']));
    if line.content.is_empty() && line.mark == Mark::None {
        // The line is nothing but tags or hints; then they are its content.
        line.content = decode(text.trim_matches([' ', '\t']));
        line.tags.clear();
        line.hints.clear();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact() -> FactId {
        "mem_01hx3v9d0kf7rtm4q5wz8yb2ca".parse().unwrap()
    }

    fn there_and_back(content: &str, tags: &[&str], hints: &[&str]) {
        let tags: Vec<String> = tags.iter().map(|t| (*t).to_owned()).collect();
        let hints: Vec<String> = hints.iter().map(|t| (*t).to_owned()).collect();
        let written = write(content, &tags, &hints, fact());
        assert!(!written.contains('\n') && !written.contains('\r'), "{written:?}");
        let line = parse(&written);
        assert_eq!(line.content, content, "{written:?}");
        assert_eq!((line.tags, line.hints), (tags, hints), "{written:?}");
        assert_eq!(line.mark, Mark::Fact(fact()), "{written:?}");
    }

    #[test]
    fn vault_line_round_trips_any_words() {
        for content in [
            "Prefers window seats",
            "two\nlines\n\nand a gap",
            " space at both ends \t",
            "- a list\n* in a list",
            "C# is #1, says #tea",
            "#tea",
            "ends with a mark ^mem-01hx3v9d0kf7rtm4q5wz8yb2ca",
            "^mem",
            "so they say *(inferred, 80 % sure)*",
            "*(rule x)*",
            "&#35; and <br> and &amp; and <b>bold</b>",
            "&&#38;#<<br>",
            "C:\\new\\table",
            "crlf\r\nand\u{2028}more\u{85}\u{b}\u{c}",
            "\u{202e}turned\u{202c} \u{feff}",
            "日本語 🫖 e\u{301} שלום",
            "**bold** _and_ `code` [[link]] ![[embed]] $x$",
            "# title",
            "> quote",
            "→ arrow",
            "---",
            "\u{a0}",
            ".",
        ] {
            there_and_back(content, &[], &[]);
            there_and_back(content, &["tea", "2024", "two words", "a;b&c", "日本"], &[]);
            there_and_back(content, &["x"], &["inferred, 80 % sure", "until 2026-05-01"]);
        }
    }

    #[test]
    fn vault_line_hint_is_not_parsed_as_a_mark() {
        let rule = hint("rule key = \"a ^mem-x *(b)* ; c\"");
        there_and_back("tea", &[], &[&rule]);
        let long = hint(&format!("rule key = {}", "^mem-x #tag ".repeat(20)));
        there_and_back("tea", &["x"], &[&long]);
    }

    #[test]
    fn vault_line_decodes_character_references_of_at_most_seven_digits() {
        for (written, decoded) in [
            ("&#35;tea", "#tea"),
            ("&#0000035;", "#"),
            ("&#00000035;", "&#00000035;"),
            ("&#;", "&#;"),
            ("&#0;", "&#0;"),
            ("&#35", "&#35"),
            ("&#é;", "&#é;"),
            ("&#&#35;", "&##"),
            ("&#9999999;", "&#9999999;"),
        ] {
            assert_eq!(decode(written), decoded, "{written}");
        }
    }

    #[test]
    fn vault_line_leaves_ordinary_words_readable() {
        for plain in ["Likes tea & cake", "C# is fine", "5 < 6", "a_b * c", "Path C:\\new"] {
            assert_eq!(encode(plain), plain);
        }
    }

    #[test]
    fn vault_line_parses_handwritten_lines() {
        let line = parse("Likes oolong #tea #drinks");
        assert_eq!((line.content.as_str(), line.mark), ("Likes oolong", Mark::None));
        assert_eq!(line.tags, ["tea", "drinks"]);
        assert_eq!(parse("Ticket #42").content, "Ticket #42");
        assert_eq!(parse("really *(so she says)*").content, "really *(so she says)*");
        assert_eq!(parse("#tea").content, "#tea");
        assert_eq!(parse("x ^mem-0").mark, Mark::Broken);
        let two = "x ^mem-01hx3v9d0kf7rtm4q5wz8yb2ca ^mem-01hx3v9d0kf7rtm4q5wz8yb2ca";
        assert_eq!(parse(two).mark, Mark::Broken);
        assert_eq!(parse("x ^MEM-1").mark, Mark::None, "an editor's own block id");
    }
}
