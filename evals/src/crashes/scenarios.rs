//! Twenty conversations with scripted model answers: every way in which a pass can end.

use lukasa_core::policy::{Admission, Patch};
use lukasa_core::{Keep, Mark, NewTurn, Role, Span};
use serde_json::{Value, json};

/// A conversation, the earlier state, and the model's answers.
pub struct Scenario {
    pub name: &'static str,
    /// Facts that the user stated before.
    pub stated: &'static [&'static str],
    /// Facts learned before, as (turn, learned fact).
    pub learned: &'static [(&'static str, &'static str)],
    /// The sessions to close, each with its turns.
    pub sessions: fn() -> Vec<Vec<NewTurn>>,
    pub keep: Keep,
    pub patch: fn() -> Patch,
    /// The model's answer to its n-th call about memories.
    pub answer: fn(usize) -> Answered,
}

/// A model's answer.
pub enum Answered {
    Memories(Vec<Value>),
    Words(&'static str),
    Away,
}

pub fn user(content: &str) -> NewTurn {
    let said_at = Some("2026-01-01T00:00:00Z".parse().expect("a time"));
    NewTurn { said_at, ..NewTurn::saying(Role::User, content) }
}

fn by(role: Role, content: &str) -> NewTurn {
    NewTurn { role, ..user(content) }
}

fn add(content: &str, quote: &str) -> Value {
    json!({"op": "add", "content": content, "kind": "preference", "importance": 8,
           "confidence": 0.9, "evidence": [{"turn": 1, "quote": quote}]})
}

fn update(target: &str, content: &str, quote: &str) -> Value {
    let mut item = add(content, quote);
    item["op"] = json!("update");
    item["target"] = json!(target);
    item
}

const TEA: fn() -> Vec<Vec<NewTurn>> = || vec![vec![user("I drink tea every morning.")]];

fn tea() -> Value {
    add("User drinks tea every morning.", "I drink tea every morning")
}

fn plain(name: &'static str) -> Scenario {
    Scenario {
        name,
        stated: &[],
        learned: &[],
        sessions: TEA,
        keep: Keep::Full,
        // Titles are a separate job with a separate scenario.
        patch: || Patch { titles: Some(false), ..Patch::default() },
        answer: |_| Answered::Memories(vec![tea()]),
    }
}

pub fn all() -> Vec<Scenario> {
    vec![
        plain("one memory"),
        Scenario { answer: |_| Answered::Memories(Vec::new()), ..plain("nothing to learn") },
        Scenario {
            sessions: || vec![vec![user("I drink tea every morning. I walk to work.")]],
            answer: |_| {
                Answered::Memories(vec![tea(), add("User walks to work.", "I walk to work")])
            },
            ..plain("two memories")
        },
        Scenario { stated: &["User drinks tea every morning."], ..plain("known already") },
        Scenario {
            learned: &[("I drink tea every morning.", "User drinks tea every morning.")],
            ..plain("stated again")
        },
        Scenario {
            learned: &[("I prefer tea.", "User prefers tea.")],
            sessions: || vec![vec![user("I prefer coffee now.")]],
            answer: |_| {
                let new = update("m1", "User prefers coffee now.", "I prefer coffee now");
                Answered::Memories(vec![new])
            },
            ..plain("a changed preference")
        },
        Scenario {
            stated: &["User prefers tea."],
            sessions: || vec![vec![user("I prefer coffee now.")]],
            answer: |_| {
                let new = update("m1", "User prefers coffee now.", "I prefer coffee now");
                Answered::Memories(vec![new])
            },
            ..plain("against a stated fact")
        },
        Scenario {
            patch: || Patch {
                admission: Some(Admission::Propose),
                titles: Some(false),
                ..Patch::default()
            },
            ..plain("a proposal")
        },
        Scenario {
            answer: |_| Answered::Memories(vec![add("User owns a yacht.", "I drink tea")]),
            ..plain("a guess")
        },
        Scenario {
            answer: |_| Answered::Memories(vec![add("User lives in Rome.", "I live in Rome")]),
            ..plain("without evidence")
        },
        Scenario {
            sessions: || vec![vec![user("I was diagnosed with diabetes.")]],
            answer: |_| {
                let new = add("User was diagnosed with diabetes.", "I was diagnosed with diabetes");
                Answered::Memories(vec![new])
            },
            ..plain("a shut domain")
        },
        Scenario {
            sessions: || {
                let content = "See: I drink tea every morning";
                let spans = vec![Span { from: 5, to: content.len(), mark: Mark::Pasted }];
                vec![vec![NewTurn { spans, ..user(content) }]]
            },
            ..plain("pasted")
        },
        Scenario {
            sessions: || vec![vec![user("Hello."), user("I drink tea every morning.")]],
            keep: Keep::Excerpts,
            ..plain("excerpts")
        },
        Scenario { keep: Keep::Nothing, ..plain("nothing stored") },
        Scenario {
            sessions: || vec![vec![by(Role::Assistant, "I am here."), by(Role::Tool, "42")]],
            ..plain("no turns")
        },
        Scenario {
            sessions: || vec![(0..100).map(|n| user(&format!("Line {n} of many."))).collect()],
            answer: |_| {
                Answered::Memories(vec![add("User said line 99 of many.", "Line 99 of many")])
            },
            ..plain("two passes")
        },
        Scenario {
            sessions: || {
                let second = vec![user("I walk to work.")];
                vec![vec![user("I drink tea every morning.")], second]
            },
            answer: |_| {
                Answered::Memories(vec![tea(), add("User walks to work.", "I walk to work")])
            },
            ..plain("two sessions")
        },
        Scenario {
            answer: |nth| match nth {
                0 => Answered::Words("I cannot do that."),
                _ => Answered::Memories(vec![tea()]),
            },
            ..plain("a bad answer first")
        },
        Scenario {
            answer: |nth| match nth {
                0 => Answered::Away,
                _ => Answered::Memories(vec![tea()]),
            },
            ..plain("away at first")
        },
        Scenario {
            sessions: || {
                let reply = by(Role::Assistant, "Tea is good.");
                vec![vec![user("I drink tea every morning."), reply]]
            },
            patch: Patch::default,
            ..plain("with a title")
        },
    ]
}
