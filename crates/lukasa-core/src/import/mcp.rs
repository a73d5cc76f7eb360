//! Format of the reference MCP memory server: entities with observations, and relations between
//! them, one per line.

use std::collections::BTreeMap;

use serde_json::Value;

use super::reading::{digest, list, relation, values, words};
use super::{ImportItem, LinkItem, MemoryItem, ParsedImport};

/// Parses entities and relations. Each observation becomes a memory; a relation links the first
/// memory of either entity.
pub fn parse(text: &str) -> ParsedImport {
    let mut parsed = ParsedImport::default();
    let (values, unread) = values(text);
    parsed.unread = unread;
    let mut first = BTreeMap::new();
    let mut relations = Vec::new();
    for value in values.iter().flat_map(entries) {
        match value {
            (EntryKind::Entity, entity) => match memories(entity) {
                Some((name, memories)) => {
                    first.entry(name).or_insert_with(|| memories[0].source.clone());
                    memories.into_iter().for_each(|memory| parsed.memory(memory));
                }
                None => parsed.unread += 1,
            },
            (EntryKind::Relation, relation) => relations.push(relation),
            (EntryKind::Other, _) => parsed.unread += 1,
        }
    }
    for value in relations {
        let end = |field: &str| first.get(words(value, &[field])?).cloned();
        match (end("from"), end("to")) {
            (Some(from), Some(to)) if from != to => {
                let relation = relation(words(value, &["relationType"]).unwrap_or_default());
                parsed.items.push(ImportItem::Link(LinkItem { from, to, relation }));
            }
            _ => parsed.unread += 1,
        }
    }
    parsed
}

#[derive(Clone, Copy)]
enum EntryKind {
    Entity,
    Relation,
    Other,
}

/// The entries of a line, or of a whole graph as the server's `read_graph` gives it.
fn entries(value: &Value) -> Vec<(EntryKind, &Value)> {
    let of = |name: &str, sort: EntryKind| {
        let items = value.get(name).and_then(Value::as_array).into_iter().flatten();
        items.map(move |item| (sort, item)).collect::<Vec<_>>()
    };
    if value.get("entities").is_some() || value.get("relations").is_some() {
        let mut all = of("entities", EntryKind::Entity);
        all.extend(of("relations", EntryKind::Relation));
        return all;
    }
    let sort = match words(value, &["type"]) {
        Some("entity") => EntryKind::Entity,
        Some("relation") => EntryKind::Relation,
        _ => EntryKind::Other,
    };
    vec![(sort, value)]
}

/// The name and memories of an entity; an entity without observations gives one memory of its name
/// and type.
fn memories(entity: &Value) -> Option<(String, Vec<MemoryItem>)> {
    let name = words(entity, &["name"])?.replace('_', " ");
    let sort = words(entity, &["entityType"]).unwrap_or_default().to_owned();
    let memory = |content: String| MemoryItem {
        source: digest(&content),
        content,
        tags: vec![sort.clone()],
        ..MemoryItem::default()
    };
    let observations = list(entity.get("observations"));
    let observed = observations.iter().filter(|text| !text.is_empty());
    let mut memories: Vec<_> = observed.map(|text| memory(format!("{name}: {text}"))).collect();
    if memories.is_empty() {
        let what = if sort.is_empty() { name.clone() } else { format!("{name}: {sort}") };
        memories.push(memory(what));
    }
    Some((words(entity, &["name"])?.to_owned(), memories))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRAPH: &str = r#"
{"type":"entity","name":"Ana_Silva","entityType":"person","observations":["Speaks Portuguese","Plays chess"]}
{"type":"entity","name":"Acme","entityType":"organization","observations":[]}
{"type":"relation","from":"Ana_Silva","to":"Acme","relationType":"works at"}
{"type":"relation","from":"Ana_Silva","to":"Nobody","relationType":"knows"}
"#;

    #[test]
    fn mcp_observations_become_memories_and_relations_links() {
        let parsed = parse(GRAPH);
        assert_eq!((parsed.items.len(), parsed.unread), (4, 1));
        let contents: Vec<_> = parsed
            .items
            .iter()
            .filter_map(|item| match item {
                ImportItem::Memory(memory) => Some(memory.content.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(
            contents,
            ["Ana Silva: Speaks Portuguese", "Ana Silva: Plays chess", "Acme: organization"]
        );
        let ImportItem::Link(link) = &parsed.items[3] else { panic!("a link") };
        assert_eq!(
            (link.from.as_str(), link.relation.as_str()),
            (&*digest(contents[0]), "works_at")
        );
        assert_eq!(link.to, digest(contents[2]));
    }

    #[test]
    fn mcp_graph_and_lines_give_the_same_memories() {
        let lines: Vec<Value> =
            GRAPH.trim().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let graph = serde_json::json!({ "entities": lines[..2], "relations": lines[2..] });
        assert_eq!(parse(&graph.to_string()), parse(GRAPH));
    }
}
