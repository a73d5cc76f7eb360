//! Markup of prompts and programs, which users' statements about themselves do not have.

/// Role names in chats.
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

/// Whether the text contains role marks, tags, headings, fences, or data.
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
        || text.lines().any(is_logged)
        || lower
            .match_indices([':', '：', ']', ')', '>'])
            .any(|(at, mark)| is_role(&lower, at, mark))
}

/// `<name ...>` or `</name>`: letters right after the bracket, and a closing bracket soon after.
fn has_tag(text: &str) -> bool {
    text.match_indices('<').any(|(at, _)| {
        let inside = text[at + 1..].trim_start_matches('/');
        let name = inside.starts_with(|c: char| c.is_ascii_alphabetic());
        name && inside.chars().take(120).any(|c| c == '>')
    })
}

/// Whether a line looks like program output: a name or a time in brackets, a speaker, a shell
/// prompt, a dotted name with a colon, or capitals that open a block.
fn is_logged(line: &str) -> bool {
    const SPEAKERS: &[&str] = &["user", "me", "bot", "usuario", "nutzer", "utilisateur", "utente"];
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || "-*>•".contains(c));
    if let Some(inside) = line.strip_prefix('[') {
        // People write checkboxes and links too, which are shorter.
        let end = inside.chars().take(40).position(|c| c == ']').unwrap_or(0);
        return end >= 3;
    }
    let first = line.split_whitespace().next().unwrap_or("");
    let name = first.trim_end_matches([':', '>', '：']);
    let named = name.len() < first.len();
    let dotted =
        name.contains(['.', '_', '[']) && name.starts_with(|c: char| c.is_ascii_lowercase());
    let arrow = line[first.len()..].trim_start().starts_with("->");
    let speaks = named && SPEAKERS.contains(&name.to_lowercase().as_str());
    let capitals = line
        .split_whitespace()
        .take(3)
        .filter(|word| word.len() > 2 && word.chars().all(|c| c.is_uppercase() || c == '_'));
    speaks
        || (dotted && (named || arrow) && !name.contains("//"))
        || line.starts_with("$ ")
        || line.contains("> ")
            && line
                .split('>')
                .next()
                .is_some_and(|p| p.len() < 12 && p.chars().all(|c| c.is_ascii_lowercase()))
        || ((line.starts_with("BEGIN ") || line.starts_with("END ")) && capitals.count() >= 2)
        || line.split_whitespace().any(is_setting)
}

/// `priority=highest`
fn is_setting(word: &str) -> bool {
    let word = word.trim_matches(|c: char| ",;.()".contains(c));
    word.split_once('=').is_some_and(|(name, value)| {
        let plain = |text: &str| {
            text.len() > 2 && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
        };
        plain(name) && plain(value)
    })
}

fn is_heading(line: &str) -> bool {
    let line = line.trim_start();
    let rest = line.trim_start_matches('#');
    let depth = line.len() - rest.len();
    (1..=6).contains(&depth) && rest.starts_with(' ') && rest.trim().len() > 1
}

/// Whether a role's name is before this colon or bracket, at the start of a sentence or a bracket.
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
