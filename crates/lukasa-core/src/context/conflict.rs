//! Conflicts between the rules in a context and the message, or other memories in it. The lines are
//! compared as they are printed: what the model reads is what is checked.

use lukasa_text::rule::{ComparedText, RuleCondition};
use serde::{Deserialize, Serialize};

use super::Section;
use super::block::{LineSource, PromptLine};

/// Maximum number of conflicts in a block.
const MAX_CONFLICTS: usize = 5;

/// A rule that the message, or another memory in the context, is against.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleConflict {
    /// The mark of the rule, such as `m1`.
    pub rule: String,
    /// The mark of the memory that is against it; absent if it is the message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<String>,
    /// What it is about, such as an excluded ingredient.
    pub about: String,
}

/// The conflicts of the rules among these lines with the message and with the other memories.
pub fn conflicts(lines: &[&PromptLine], message: &str) -> Vec<RuleConflict> {
    let is_memory = |line: &PromptLine| matches!(line.source, LineSource::Memory { .. });
    let rules: Vec<(&PromptLine, RuleCondition)> = lines
        .iter()
        .filter(|line| line.section == Section::Hard)
        .filter_map(|line| Some((*line, condition(&line.line)?)))
        .collect();
    if rules.is_empty() {
        return Vec::new();
    }
    let message = ComparedText::new(message);
    let against = |(rule, condition): &(&PromptLine, RuleCondition)| {
        let about = message.breaks(condition)?;
        Some(RuleConflict { rule: rule.mark.clone(), memory: None, about })
    };
    let mut found: Vec<RuleConflict> = rules.iter().filter_map(against).collect();
    let others = lines.iter().filter(|line| line.section != Section::Hard && is_memory(line));
    for other in others {
        let text = ComparedText::new(without_reliability(&other.line));
        for (rule, condition) in &rules {
            if let Some(about) = text.breaks(condition) {
                let memory = Some(other.mark.clone());
                found.push(RuleConflict { rule: rule.mark.clone(), memory, about });
            }
        }
    }
    found.truncate(MAX_CONFLICTS);
    found
}

/// The condition of a rule as printed: `[food] exclude_ingredients: shellfish, peanuts (…)`.
fn condition(line: &str) -> Option<RuleCondition> {
    let (_, named) = line.strip_prefix('[')?.split_once("] ")?;
    let (key, value) = named.split_once(": ")?;
    let value = without_reliability(value);
    // After the value there may be a sentence.
    let value = value.split_once(". ").map_or(value, |(value, _)| value);
    RuleCondition::parse(key, value)
}

fn without_reliability(line: &str) -> &str {
    line.rsplit_once(" (").map_or(line, |(text, _)| text)
}

/// The conflicts as lines for the model.
pub(super) fn notes(conflicts: &[RuleConflict]) -> Vec<String> {
    let note = |conflict: &RuleConflict| {
        let RuleConflict { rule, memory, about } = conflict;
        match memory {
            None => format!("- This message is about {about}, which [{rule}] rules out."),
            Some(memory) => format!("- [{memory}] is about {about}, which [{rule}] rules out."),
        }
    };
    conflicts.iter().map(note).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{FactId, VersionId};

    fn line(mark: &str, section: Section, line: &str) -> PromptLine {
        PromptLine {
            mark: mark.into(),
            source: LineSource::Memory {
                fact: FactId::from_uuid(uuid::Uuid::from_u128(1)),
                version: VersionId::from_uuid(uuid::Uuid::from_u128(2)),
            },
            also: Vec::new(),
            section,
            line: line.into(),
            tokens: 12,
            relevance: None,
        }
    }

    #[test]
    fn rule_conflicts_with_the_message_and_with_a_memory() {
        let rule = "[food] exclude_ingredients: shellfish, peanuts. No way (confirmed 2026-11-08)";
        let rule = line("m1", Section::Hard, rule);
        let fond = line("m2", Section::Facts, "Loves peanut butter (said 2026-01-02)");
        let seat = line("m3", Section::Facts, "Prefers an aisle seat (said 2026-01-02)");
        let lines = [&rule, &fond, &seat];
        let found = conflicts(&lines, "Cook something with shellfish");
        let told: Vec<String> = notes(&found);
        assert_eq!(
            told,
            [
                "- This message is about shellfish, which [m1] rules out.",
                "- [m2] is about peanuts, which [m1] rules out.",
            ]
        );
        assert_eq!(conflicts(&lines[..1], "Cook a soup"), []);
        assert_eq!(conflicts(&lines[1..], "Cook something with shellfish"), []);
    }
}
