//! basic-memory format: a folder of Markdown notes with front matter. `- [category] words #tag
//! (context)` is an observation, `- relation [[Other note]]` a relation.

use std::collections::BTreeMap;

use super::reading::{date, digest, relation};
use super::{ImportItem, LinkItem, MemoryItem, ParsedImport};
use crate::limits::DETAIL_CHARS;
use crate::time::Timestamp;

/// A note: its path and its text.
pub type NoteFile = (String, String);

/// Parses notes. Each observation becomes a memory, and so does a note without observations; a
/// relation links the first memory of either note.
pub fn parse(notes: &[NoteFile]) -> ParsedImport {
    let mut parsed = ParsedImport::default();
    let mut first: BTreeMap<String, String> = BTreeMap::new();
    let mut relations = Vec::new();
    for (path, text) in notes {
        let note = parse_note(path, text);
        let Some(memory) = note.memories.first() else {
            parsed.unread += 1;
            continue;
        };
        for name in [&note.title, &note.permalink] {
            first.entry(name.to_lowercase()).or_insert_with(|| memory.source.clone());
        }
        let from = memory.source.clone();
        relations.extend(note.relations.into_iter().map(|(kind, to)| (from.clone(), kind, to)));
        note.memories.into_iter().for_each(|memory| parsed.memory(memory));
    }
    for (from, kind, to) in relations {
        match first.get(&to.to_lowercase()).filter(|to| **to != from) {
            Some(to) => {
                let link = LinkItem { from, to: to.clone(), relation: relation(&kind) };
                parsed.items.push(ImportItem::Link(link));
            }
            // A link to a note that does not exist yet.
            None => parsed.unread += 1,
        }
    }
    parsed
}

struct ParsedNote {
    title: String,
    permalink: String,
    memories: Vec<MemoryItem>,
    relations: Vec<(String, String)>,
}

fn parse_note(path: &str, text: &str) -> ParsedNote {
    let text = text.trim_start_matches('\u{feff}').replace("\r\n", "\n");
    let (front, body) = front_matter(&text);
    let file = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let file = file.strip_suffix(".md").unwrap_or(file).to_owned();
    let field = |name: &str| front.get(name).and_then(|values| values.first().cloned());
    let title = field("title").unwrap_or(file);
    let permalink = field("permalink").unwrap_or_else(|| path.to_owned());
    let tags = front.get("tags").cloned().unwrap_or_default();
    let at = field("created").or_else(|| field("date")).and_then(|text| date(&text));
    let (mut memories, mut relations) = (Vec::new(), Vec::new());
    let mut fenced = false;
    for line in body.lines() {
        fenced ^= line.trim_start().starts_with("```");
        let Some(entry) = line.trim().strip_prefix("- ").filter(|_| !fenced) else { continue };
        if let Some((kind, to)) = parse_relation(entry) {
            relations.push((kind, to));
        } else if let Some(memory) = observation(entry, &permalink, &title, &tags, at) {
            memories.push(memory);
        }
    }
    if memories.is_empty() && !body.trim().is_empty() {
        memories.push(MemoryItem {
            source: format!("{permalink} {}", digest(&title)),
            content: title.clone(),
            detail: Some(body.trim().chars().take(DETAIL_CHARS).collect()),
            tags,
            at,
            ..MemoryItem::default()
        });
    }
    ParsedNote { title, permalink, memories, relations }
}

/// Splits a note into the fields of its front matter, each as a list, and the body. Supports the
/// YAML that these notes use: plain values, and lists in brackets or with dashes.
fn front_matter(text: &str) -> (BTreeMap<String, Vec<String>>, &str) {
    let mut fields: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let Some(rest) = text.strip_prefix("---\n") else { return (fields, text) };
    let Some((front, body)) = rest.split_once("\n---") else { return (fields, text) };
    let plain = |text: &str| text.trim().trim_matches(['"', '\'', '#']).to_owned();
    let mut last = String::new();
    for line in front.lines() {
        if let Some(item) = line.trim_start().strip_prefix("- ") {
            fields.entry(last.clone()).or_default().push(plain(item));
        } else if let Some((name, value)) = line.split_once(':') {
            last = name.trim().to_lowercase();
            let value = value.trim();
            let inner = value.strip_prefix('[').and_then(|value| value.strip_suffix(']'));
            let values: Vec<String> = match inner {
                Some(list) => list.split(',').map(plain).collect(),
                None => vec![plain(value)],
            };
            let values = values.into_iter().filter(|value| !value.is_empty()).collect();
            fields.insert(last.clone(), values);
        }
    }
    (fields, body.split_once('\n').map_or("", |(_, body)| body))
}

/// Parses `relation [[Target]] (context)` into relation and target.
fn parse_relation(entry: &str) -> Option<(String, String)> {
    let (kind, rest) = entry.split_once("[[")?;
    let (to, _) = rest.split_once("]]")?;
    let to = to.split('|').next().unwrap_or(to).trim();
    let plain = !kind.contains(['[', ']']) && kind.chars().count() <= 64;
    (plain && !to.is_empty()).then(|| (kind.trim().to_owned(), to.to_owned()))
}

/// Parses `[category] words #tag #other (context)` into a memory.
fn observation(
    entry: &str,
    permalink: &str,
    title: &str,
    note_tags: &[String],
    at: Option<Timestamp>,
) -> Option<MemoryItem> {
    let (category, rest) = entry.strip_prefix('[')?.split_once(']')?;
    let category = category.trim();
    // `- [x]` and `- [ ]` are tasks, `- [words](address)` is a link.
    let task = category.chars().count() < 2 || rest.starts_with('(');
    if task {
        return None;
    }
    let rest = rest.trim();
    let (words, context) = match rest.rfind(" (").filter(|_| rest.ends_with(')')) {
        Some(at) => (&rest[..at], Some(&rest[at + 2..rest.len() - 1])),
        None => (rest, None),
    };
    let is_tag = |word: &&str| word.len() > 1 && word.starts_with('#');
    let tags = words.split_whitespace().filter(is_tag).map(|word| word[1..].to_owned());
    let mut tags: Vec<String> = tags.chain([category.to_lowercase()]).collect();
    tags.extend_from_slice(note_tags);
    tags.dedup();
    let plain: Vec<&str> = words.split_whitespace().filter(|word| !is_tag(word)).collect();
    if plain.is_empty() {
        return None;
    }
    let content = format!("{title}: {}", plain.join(" "));
    Some(MemoryItem {
        source: format!("{permalink} {}", digest(&content)),
        content,
        detail: context.map(str::to_owned),
        tags,
        at,
        ..MemoryItem::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const COFFEE: &str = "---\ntitle: Coffee\ntype: note\npermalink: food/coffee\ntags:\n- drinks\n\
        created: 2024-03-02\n---\n\n# Coffee\n\n## Observations\n- [method] Pour over tastes clean #brewing \
        (tried twice)\n- [x] buy beans\n- [ ] buy filters\n- [site](https://example.org)\n```\n- [code] no\n```\n\
        \n## Relations\n- pairs well with [[Chocolate]] (dark)\n- part_of [[Nowhere]]\n";

    fn notes() -> Vec<NoteFile> {
        let chocolate = "Dark, from Ecuador.\n";
        vec![
            ("food/coffee.md".into(), COFFEE.into()),
            ("food/Chocolate.md".into(), chocolate.into()),
            ("empty.md".into(), "---\ntitle: x\n---\n".into()),
        ]
    }

    #[test]
    fn basic_memory_observations_become_memories_and_relations_links() {
        let parsed = parse(&notes());
        let [ImportItem::Memory(coffee), ImportItem::Memory(chocolate), ImportItem::Link(link)] =
            &parsed.items[..]
        else {
            panic!("{:?}", parsed.items)
        };
        assert_eq!(coffee.content, "Coffee: Pour over tastes clean");
        assert_eq!(coffee.tags, ["brewing", "method", "drinks"]);
        assert_eq!(coffee.detail.as_deref(), Some("tried twice"));
        assert_eq!(coffee.at.unwrap().to_string(), "2024-03-02T00:00:00Z");
        assert_eq!(chocolate.content, "Chocolate");
        assert_eq!(chocolate.detail.as_deref(), Some("Dark, from Ecuador."));
        assert_eq!((&link.from, &link.to), (&coffee.source, &chocolate.source));
        assert_eq!(link.relation, "pairs_well_with");
        assert_eq!(parsed.unread, 2, "a note without text, and a link to a missing note");
    }
}
