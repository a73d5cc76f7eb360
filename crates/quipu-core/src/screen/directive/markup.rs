//! Marks that structure a prompt or a program. What a person says about themselves has none.

/// Names that a chat gives its speakers.
const ROLES: &[&str] = &[
    "system",
    "assistant",
    "developer",
    "human",
    "ai",
    "instruction",
    "instructions",
    "tool",
    "function",
    "sys",
    "inst",
    "admin",
    "prompt",
    "command",
    "q",
    "question",
];

/// Whether the text holds role marks, tags, headings, fences, or data.
pub(super) fn is_marked_up(text: &str) -> bool {
    const MARKS: &[&str] = &[
        "<|", "|>", "```", "[[", "]]", "{{", "}}", "{\"", "{'", "\":", "':", "[inst", "[/inst",
        "<<sys", "<!--", "-->", "](http", "=====", "-----", "#####", "\\n", "/*", "*/", "${", "<%",
        "&lt;", "===", "~~~",
    ];
    let lower = text.to_lowercase();
    MARKS.iter().any(|mark| lower.contains(mark))
        || has_tag(&lower)
        || lower.lines().any(is_heading)
        || lower
            .match_indices([':', '：', ']', ')', '>'])
            .any(|(at, mark)| is_role(&lower, at, mark))
}

/// `<name ...>` or `</name>`: letters right behind the bracket, and a bracket that closes it soon.
fn has_tag(text: &str) -> bool {
    text.match_indices('<').any(|(at, _)| {
        let inside = text[at + 1..].trim_start_matches('/');
        let name = inside.starts_with(|c: char| c.is_ascii_alphabetic());
        name && inside.chars().take(120).any(|c| c == '>')
    })
}

fn is_heading(line: &str) -> bool {
    let line = line.trim_start();
    let rest = line.trim_start_matches('#');
    let depth = line.len() - rest.len();
    (1..=6).contains(&depth) && rest.starts_with(' ') && rest.trim().len() > 1
}

/// Whether a role's name stands before this colon or bracket, and nothing but an opening before it.
fn is_role(text: &str, at: usize, mark: &str) -> bool {
    let before = text[..at].trim_end();
    let name = before.rsplit(|c: char| !c.is_alphabetic()).next().unwrap_or("");
    if !ROLES.contains(&name) {
        return false;
    }
    let lead = before[..before.len() - name.len()].trim_end_matches(['*', '_', ' ']);
    match mark {
        "]" => lead.ends_with('['),
        ")" => lead.ends_with('(') && name == "system",
        ">" => lead.ends_with('<'),
        _ => {
            lead.is_empty() || lead.ends_with(['.', '!', '?', '\n', '"', '\'', '[', '(', '>', ';'])
        }
    }
}
