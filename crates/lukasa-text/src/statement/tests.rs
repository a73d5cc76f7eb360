//! Tests of the statements in texts that users type.

use super::StatementKind::{CallMe, Change, Correct, Forget, Remember, Rule};
use super::*;

mod english;
mod languages;

/// A text, and the kind and content of its only statement.
type Case<'c> = (&'c str, StatementKind, &'c str);

fn check(cases: &[Case]) {
    let mut wrong = Vec::new();
    for (text, kind, content) in cases {
        let found = find(text);
        let is_right = found.len() == 1 && found[0].kind == *kind && found[0].content == *content;
        if !is_right {
            wrong.push(format!("{text}\n    expected {kind:?} {content}\n    found {found:?}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn check_none(texts: &[&str]) {
    let found = texts.iter().map(|text| (text, find(text)));
    let wrong: Vec<_> = found.filter(|(_, found)| !found.is_empty()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
