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
        || text.lines().any(is_logged)
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

/// A line as programs write it: a bracket with a name or a time in front, a speaker, a shell's
/// prompt, a dotted name and a colon, or capitals that open a block.
fn is_logged(line: &str) -> bool {
    const SPEAKERS: &[&str] = &["user", "me", "bot", "usuario", "nutzer", "utilisateur", "utente"];
    let line = line.trim_start_matches(|c: char| c.is_whitespace() || "-*>•".contains(c));
    if let Some(inside) = line.strip_prefix('[') {
        // A checkbox or a link is a person's.
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
