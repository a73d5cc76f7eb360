//! Fuzz test: no corrupt file makes a parser panic. Valid files are cut, duplicated and corrupted
//! in thousands of deterministic ways.

use super::{
    Format, ImportItem, ParsedImport, basic_memory, chatgpt, claude, judge, lines, mcp, mem0,
};
use crate::policy::Policy;

const SEEDS: [&str; 6] = [
    r#"{"results":[{"id":"a","memory":"Likes tea","categories":["x"],"created_at":"2024-07-20T01:30:36Z"}]}"#,
    "{\"type\":\"entity\",\"name\":\"A\",\"entityType\":\"p\",\"observations\":[\"b\"]}\n\
     {\"type\":\"relation\",\"from\":\"A\",\"to\":\"A\",\"relationType\":\"r\"}",
    concat!(
        r#"[{"title":"T","create_time":1e9,"current_node":"b","mapping":"#,
        r#"{"a":{"parent":null,"children":["b"]},"b":{"parent":"a","message":"#,
        r#"{"author":{"role":"user"},"create_time":1e9,"content":"#,
        r#"{"content_type":"text","parts":["hi"]}}}}}]"#
    ),
    concat!(
        r#"[{"uuid":"u","name":"n","chat_messages":[{"sender":"human","text":"hi","#,
        r#""content":[{"type":"text","text":"hé"}]}]}]"#
    ),
    "---\ntitle: É\ntags: [a, 'b']\n---\n- [cat] words #tag (ctx)\n- rel [[Other|o]]\n- [[x]]\n```\n",
    r#"[{"conversations_memory":"**a**\n- b c d","project_memories":{"p":"q r s"}}]"#,
];

/// A deterministic random number generator.
struct Rng(u64);

impl Rng {
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

fn corrupted(text: &str, rng: &mut Rng) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=rng.below(6) {
        let at = rng.below(chars.len() + 1).min(chars.len());
        match rng.below(6) {
            0 => chars.truncate(at),
            1 if at < chars.len() => drop(chars.remove(at)),
            2 => chars.insert(at, ['"', '{', '[', '\0', '🙂', ']', '\\', '9', '-'][rng.below(9)]),
            3 => {
                let to = (at + rng.below(40)).min(chars.len());
                let piece = chars[at..to].to_vec();
                chars.extend(piece);
            }
            4 => {
                let to = at + rng.below(10);
                for c in chars.iter_mut().skip(at).take(to - at) {
                    *c = char::from_u32(rng.below(0x2FFF) as u32).unwrap_or('?');
                }
            }
            _ => chars.splice(at..at, "[".repeat(rng.below(400)).chars()).for_each(drop),
        }
    }
    chars.into_iter().collect()
}

fn parse_as_every_format(text: &str) -> Vec<ParsedImport> {
    let notes = [("a/Other.md".to_owned(), text.to_owned()), (text.to_owned(), "x".to_owned())];
    vec![
        mem0::parse(text, None),
        mcp::parse(text),
        chatgpt::parse(text),
        claude::parse(text),
        claude::memories(text),
        lines::parse(text),
        basic_memory::parse(&notes),
    ]
}

#[test]
fn import_parsers_survive_corrupt_files() {
    let mut rng = Rng(7);
    let (mut memories, mut kept) = (0, 0);
    for round in 0..3_000 {
        let text = corrupted(SEEDS[round % SEEDS.len()], &mut rng);
        for parsed in parse_as_every_format(&text) {
            for item in parsed.items.iter().take(3) {
                let ImportItem::Memory(memory) = item else { continue };
                memories += 1;
                let verdict = judge(memory, Format::Lines, &[], &Policy::default());
                if let super::ImportVerdict::Keep { claim, .. } = verdict {
                    assert_eq!(claim.faults(), Vec::new(), "{text:?}");
                    kept += 1;
                }
            }
        }
    }
    assert!(
        memories > 1_000 && kept > 1_000,
        "too few corrupted files are still readable: {memories} {kept}"
    );
}

#[test]
fn deeply_nested_json_import_does_not_overflow() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for parsed in parse_as_every_format(&deep) {
        assert!(parsed.items.len() <= 2);
    }
}
