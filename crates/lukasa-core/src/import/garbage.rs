//! No file, however broken, ends a reader: good ones are cut, doubled, shuffled and bitten in thousands
//! of ways that are the same every time.

use super::{Format, Item, Parsed, basic_memory, chatgpt, claude, judge, lines, mcp, mem0};
use crate::policy::Policy;

const SEEDS: [&str; 6] = [
    r#"{"results":[{"id":"a","memory":"Likes tea","categories":["x"],"created_at":"2024-07-20T01:30:36Z"}]}"#,
    "{\"type\":\"entity\",\"name\":\"A\",\"entityType\":\"p\",\"observations\":[\"b\"]}\n{\"type\":\"relation\",\"from\":\"A\",\"to\":\"A\",\"relationType\":\"r\"}",
    r#"[{"title":"T","create_time":1e9,"current_node":"b","mapping":{"a":{"parent":null,"children":["b"]},"b":{"parent":"a","message":{"author":{"role":"user"},"create_time":1e9,"content":{"content_type":"text","parts":["hi"]}}}}}]"#,
    r#"[{"uuid":"u","name":"n","chat_messages":[{"sender":"human","text":"hi","content":[{"type":"text","text":"hé"}]}]}]"#,
    "---\ntitle: É\ntags: [a, 'b']\n---\n- [cat] words #tag (ctx)\n- rel [[Other|o]]\n- [[x]]\n```\n",
    r#"[{"conversations_memory":"**a**\n- b c d","project_memories":{"p":"q r s"}}]"#,
];

/// A source of numbers that gives the same ones every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most.max(1)
    }
}

fn bitten(text: &str, dice: &mut Dice) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..=dice.below(6) {
        let at = dice.below(chars.len() + 1).min(chars.len());
        match dice.below(6) {
            0 => chars.truncate(at),
            1 if at < chars.len() => drop(chars.remove(at)),
            2 => chars.insert(at, ['"', '{', '[', '\0', '🙂', ']', '\\', '9', '-'][dice.below(9)]),
            3 => {
                let to = (at + dice.below(40)).min(chars.len());
                let piece = chars[at..to].to_vec();
                chars.extend(piece);
            }
            4 => {
                let to = at + dice.below(10);
                for c in chars.iter_mut().skip(at).take(to - at) {
                    *c = char::from_u32(dice.below(0x2FFF) as u32).unwrap_or('?');
                }
            }
            _ => chars.splice(at..at, "[".repeat(dice.below(400)).chars()).for_each(drop),
        }
    }
    chars.into_iter().collect()
}

fn read_as_everything(text: &str) -> Vec<Parsed> {
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
fn no_file_however_broken_ends_a_reader() {
    let mut dice = Dice(7);
    let (mut memories, mut kept) = (0, 0);
    for round in 0..3_000 {
        let text = bitten(SEEDS[round % SEEDS.len()], &mut dice);
        for parsed in read_as_everything(&text) {
            for item in parsed.items.iter().take(3) {
                let Item::Memory(memory) = item else { continue };
                memories += 1;
                let verdict = judge(memory, Format::Lines, &[], &Policy::default());
                if let super::Verdict::Keep { claim, .. } = verdict {
                    assert_eq!(claim.faults(), Vec::new(), "{text:?}");
                    kept += 1;
                }
            }
        }
    }
    assert!(
        memories > 1_000 && kept > 1_000,
        "the bites leave something to read: {memories} {kept}"
    );
}

#[test]
fn a_deep_nest_is_no_well() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for parsed in read_as_everything(&deep) {
        assert!(parsed.items.len() <= 2);
    }
}
