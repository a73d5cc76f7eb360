//! The state of a task: the fields `status`, `next_step` and `due` in the value of a memory of the
//! type task. They are data for programs and part of the briefing about current tasks.

use std::fmt;

use serde_json::Value;

use crate::fact::{Claim, MemoryType};

/// Maximum length of a field in a text, in characters.
const FIELD_CHARS: usize = 100;

/// The state of a task, as far as it is given.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskState {
    pub status: Option<String>,
    pub next_step: Option<String>,
    pub due: Option<String>,
}

impl TaskState {
    /// The state in the value of a task; `None` if the memory is not a task or the value has none of
    /// the fields.
    pub fn of(claim: &Claim) -> Option<Self> {
        let value = claim.value.as_ref().filter(|_| claim.memory_type == MemoryType::Task)?;
        let field = |name: &str| {
            let text = value.get(name).and_then(Value::as_str)?.trim();
            let text: String = text.chars().take(FIELD_CHARS).collect();
            Some(text).filter(|text| !text.is_empty())
        };
        let (status, next_step, due) = (field("status"), field("next_step"), field("due"));
        let state = Self { status, next_step, due };
        Some(state).filter(|state| *state != Self::default())
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields = [("status", &self.status), ("next", &self.next_step), ("due", &self.due)];
        let fields = fields.iter().filter_map(|(name, field)| Some((name, field.as_ref()?)));
        let fields: Vec<String> = fields.map(|(name, text)| format!("{name}: {text}")).collect();
        f.write_str(&fields.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn task_state_is_read_from_the_value_of_a_task() {
        let value = json!({"status": "packing", "next_step": " book the van ", "due": ""});
        let task = Claim {
            memory_type: MemoryType::Task,
            key: Some("move".into()),
            value: Some(value),
            ..Claim::saying("Is moving house")
        };
        let state = TaskState::of(&task).unwrap();
        assert_eq!((state.status.as_deref(), state.due.as_deref()), (Some("packing"), None));
        assert_eq!(state.to_string(), "status: packing, next: book the van");
        let profile = Claim { memory_type: MemoryType::Profile, ..task.clone() };
        assert_eq!(TaskState::of(&profile), None);
        for value in [json!("packing"), json!({"status": 3}), json!({"step": "x"})] {
            assert_eq!(TaskState::of(&Claim { value: Some(value), ..task.clone() }), None);
        }
    }
}
