//! Terminal output: tables that fit the terminal, colour only on a terminal, and text whose control
//! characters are replaced.

use std::io::IsTerminal as _;

use anstyle::{AnsiColor, Style};
use console::{measure_text_width, pad_str, truncate_str};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

pub const DIM: Style = Style::new().dimmed();
pub const BOLD: Style = Style::new().bold();
pub const GOOD: Style = AnsiColor::Green.on_default();
pub const BAD: Style = AnsiColor::Red.on_default();
pub const ODD: Style = AnsiColor::Yellow.on_default();

/// Text in a style. `say` removes it where there is no terminal or colour is disabled.
pub fn paint(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Text on one line with control characters replaced: a memory could contain escape sequences.
pub fn plain(text: &str) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    one_line.chars().map(shown).collect()
}

/// The text of one field of a response, through [`plain`]; empty if there is none.
pub fn field(value: &Value, name: &str) -> String {
    plain(value[name].as_str().unwrap_or_default())
}

/// An instant to the minute, in the machine's time zone.
pub fn when(value: &Value) -> String {
    let Some(at) = value.as_str().and_then(|text| text.parse::<Timestamp>().ok()) else {
        return String::new();
    };
    at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// A number with its noun: "1 memory", "2 memories".
pub fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// A table. One column is truncated if the terminal is too narrow; output to a file or another
/// program is never truncated.
pub struct Table {
    heads: Vec<&'static str>,
    flexible: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings, whose column `flexible` is truncated if necessary.
    pub fn new(heads: &[&'static str], flexible: usize) -> Self {
        Self { heads: heads.to_vec(), flexible, rows: Vec::new() }
    }

    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    pub fn render(&self) -> String {
        self.render_within(terminal_width())
    }

    fn render_within(&self, width: Option<usize>) -> String {
        const GAP: usize = 2;
        const MIN_WIDTH: usize = 12;
        let heads: Vec<String> = self.heads.iter().map(|head| paint(DIM, head)).collect();
        let all: Vec<&Vec<String>> = std::iter::once(&heads).chain(&self.rows).collect();
        let widest = |column: usize| {
            all.iter().filter_map(|row| row.get(column)).map(|cell| measure_text_width(cell)).max()
        };
        let mut widths: Vec<usize> =
            (0..self.heads.len()).map(|column| widest(column).unwrap_or(0)).collect();
        let total = widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
        if let Some(available) = width.filter(|available| total > *available) {
            let wide = widths[self.flexible];
            let narrow = wide.saturating_sub(total - available);
            widths[self.flexible] = narrow.max(MIN_WIDTH.min(wide));
        }
        let line = |row: &&Vec<String>| {
            let cell = |(cell, width): (&String, &usize)| {
                let cut = truncate_str(cell, *width, "…");
                pad_str(&cut, *width, console::Alignment::Left, None).into_owned()
            };
            let cells: Vec<String> = row.iter().zip(&widths).map(cell).collect();
            cells.join(&" ".repeat(GAP)).trim_end().to_owned()
        };
        all.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

fn terminal_width() -> Option<usize> {
    if !std::io::stdout().is_terminal() {
        return None;
    }
    console::Term::stdout().size_checked().map(|(_, columns)| usize::from(columns))
}

/// Lines in a frame.
pub fn boxed(lines: &[String]) -> String {
    let width = lines.iter().map(|line| measure_text_width(line)).max().unwrap_or(0);
    let rule = "─".repeat(width + 2);
    let mut out = format!("╭{rule}╮\n");
    for line in lines {
        let padded = pad_str(line, width, console::Alignment::Left, None);
        out.push_str(&format!("│ {padded} │\n"));
    }
    out.push_str(&format!("╰{rule}╯"));
    out
}

/// A word diff of two texts: `[-old-]{+new+}`.
pub fn word_diff(old: &str, new: &str) -> String {
    use similar::{ChangeTag, TextDiff};
    let (old, new) = (plain(old), plain(new));
    let diff = TextDiff::from_words(old.as_str(), new.as_str());
    let mut out = String::new();
    let (mut gone, mut come) = (String::new(), String::new());
    for change in diff.iter_all_changes() {
        match change.tag() {
            ChangeTag::Delete => gone.push_str(change.value()),
            ChangeTag::Insert => come.push_str(change.value()),
            // A space between two words that both changed belongs to the change.
            ChangeTag::Equal
                if change.value().trim().is_empty() && !(gone.is_empty() && come.is_empty()) =>
            {
                gone.push_str(change.value());
                come.push_str(change.value());
            }
            ChangeTag::Equal => {
                flush(&mut out, &mut gone, &mut come);
                out.push_str(change.value());
            }
        }
    }
    flush(&mut out, &mut gone, &mut come);
    out.trim_end().to_owned()
}

fn flush(out: &mut String, gone: &mut String, come: &mut String) {
    let tail = if gone.ends_with(' ') && come.ends_with(' ') { " " } else { "" };
    if !gone.trim().is_empty() {
        out.push_str(&paint(BAD, &format!("[-{}-]", gone.trim())));
    }
    if !come.trim().is_empty() {
        out.push_str(&paint(GOOD, &format!("{{+{}+}}", come.trim())));
    }
    if !gone.is_empty() || !come.is_empty() {
        out.push_str(tail);
    }
    gone.clear();
    come.clear();
}

/// A unified diff of two texts, in colour.
pub fn line_diff(old: &str, new: &str, name: &str) -> String {
    let diff = similar::TextDiff::from_lines(old, new);
    let text = diff.unified_diff().context_radius(2).header(name, name).to_string();
    let line = |line: &str| match line.as_bytes().first() {
        Some(b'+') => paint(GOOD, line),
        Some(b'-') => paint(BAD, line),
        Some(b'@') => paint(DIM, line),
        _ => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bare(text: &str) -> String {
        console::strip_ansi_codes(text).into_owned()
    }

    #[test]
    fn table_is_truncated_only_on_a_terminal() {
        let mut table = Table::new(&["what", "id"], 0);
        table.row(vec!["a rather long memory about plums".into(), "mem_1".into()]);
        table.row(vec!["日本".into(), "mem_2".into()]);
        let whole = bare(&table.render_within(None));
        assert!(whole.contains("about plums  mem_1"), "{whole}");
        assert!(whole.lines().all(|line| line == line.trim_end()));
        let narrow = bare(&table.render_within(Some(24)));
        assert!(narrow.lines().all(|line| measure_text_width(line) <= 24), "{narrow}");
        assert!(narrow.contains('…') && narrow.contains("mem_2"), "{narrow}");
    }

    #[test]
    fn plain_replaces_control_characters() {
        assert_eq!(plain("a\u{1b}[2Jb\r\nc\u{7}"), "a\u{fffd}[2Jb c\u{fffd}");
    }

    #[test]
    fn word_diff_marks_adjacent_changes_together() {
        let shown = bare(&word_diff("Lives in Lisbon with a cat", "Lives in Faro with two cats"));
        assert_eq!(shown, "Lives in [-Lisbon-]{+Faro+} with [-a cat-]{+two cats+}");
        assert_eq!(bare(&word_diff("same", "same")), "same");
        assert_eq!(bare(&word_diff("", "new words")), "{+new words+}");
    }
}
