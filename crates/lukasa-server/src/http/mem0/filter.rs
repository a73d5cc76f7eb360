//! The filters of mem0: conditions on fields, combined with `AND`, `OR` and `NOT`. Pure; it
//! evaluates memories in mem0's format.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// A condition on a memory.
#[derive(Debug, Clone, PartialEq)]
pub enum Mem0Filter {
    All(Vec<Mem0Filter>),
    Any(Vec<Mem0Filter>),
    Not(Box<Mem0Filter>),
    Field(String, FieldCondition),
}

/// A condition on a field.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldCondition {
    Is(Value),
    In(Vec<Value>),
    Compared(Comparison, Value),
    Contains { text: String, any_case: bool },
    Exists,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    More,
    AtLeast,
    Less,
    AtMost,
}

/// Fields of a memory itself; every other name is a metadata field.
const MEMORY_FIELDS: [&str; 8] = [
    "user_id",
    "agent_id",
    "app_id",
    "run_id",
    "created_at",
    "updated_at",
    "categories",
    "expiration_date",
];

impl Mem0Filter {
    /// Matches every memory.
    pub fn everything() -> Self {
        Mem0Filter::All(Vec::new())
    }

    pub fn is(name: &str, value: &str) -> Self {
        Mem0Filter::Field(name.to_owned(), FieldCondition::Is(value.into()))
    }

    pub fn and(self, other: Self) -> Self {
        Mem0Filter::All(vec![self, other])
    }

    /// Parses a filter; the error says what is wrong with it.
    pub fn parse(value: &Value) -> Result<Self, String> {
        match value {
            Value::Null => Ok(Self::everything()),
            Value::Object(fields) => Ok(Mem0Filter::All(
                fields
                    .iter()
                    .map(|(name, wanted)| Self::one(name, wanted))
                    .collect::<Result<_, String>>()?,
            )),
            _ => Err("`filters` must be an object".into()),
        }
    }

    fn one(name: &str, wanted: &Value) -> Result<Self, String> {
        let several = || match wanted {
            Value::Array(parts) => parts.iter().map(Self::parse).collect::<Result<_, _>>(),
            Value::Object(_) => Ok(vec![Self::parse(wanted)?]),
            _ => Err(format!("`{name}` must be a list of filters")),
        };
        match name {
            "AND" => Ok(Mem0Filter::All(several()?)),
            "OR" => Ok(Mem0Filter::Any(several()?)),
            "NOT" => Ok(Mem0Filter::Not(Box::new(Mem0Filter::Any(several()?)))),
            "metadata" if wanted.is_object() => Self::parse(wanted),
            _ => match wanted {
                Value::Object(tests) => Ok(Mem0Filter::All(
                    tests
                        .iter()
                        .map(|(word, wanted)| Self::test(name, word, wanted))
                        .collect::<Result<_, String>>()?,
                )),
                Value::String(text) if text == "*" => {
                    Ok(Mem0Filter::Field(name.to_owned(), FieldCondition::Exists))
                }
                wanted => {
                    Ok(Mem0Filter::Field(name.to_owned(), FieldCondition::Is(wanted.clone())))
                }
            },
        }
    }

    fn test(name: &str, word: &str, wanted: &Value) -> Result<Self, String> {
        let list = || match wanted {
            Value::Array(values) => Ok(values.clone()),
            _ => Err(format!("`{word}` takes a list")),
        };
        let text = || match wanted {
            Value::String(text) => Ok(text.clone()),
            _ => Err(format!("`{word}` takes text")),
        };
        let compared = |how| FieldCondition::Compared(how, wanted.clone());
        let field = |test| Mem0Filter::Field(name.to_owned(), test);
        Ok(match word {
            "eq" => field(FieldCondition::Is(wanted.clone())),
            "ne" => Mem0Filter::Not(Box::new(field(FieldCondition::Is(wanted.clone())))),
            "in" => field(FieldCondition::In(list()?)),
            "nin" => Mem0Filter::Not(Box::new(field(FieldCondition::In(list()?)))),
            "gt" => field(compared(Comparison::More)),
            "gte" => field(compared(Comparison::AtLeast)),
            "lt" => field(compared(Comparison::Less)),
            "lte" => field(compared(Comparison::AtMost)),
            "contains" => field(FieldCondition::Contains { text: text()?, any_case: false }),
            "icontains" => field(FieldCondition::Contains { text: text()?, any_case: true }),
            _ => return Err(format!("`{word}` is not a supported operator")),
        })
    }

    /// The user it names, if any. Each user's memory is separate, so a filter may name only one
    /// user.
    pub fn user(&self) -> Result<Option<String>, String> {
        let mut users = BTreeSet::new();
        self.users(&mut users);
        match users.len() {
            0 | 1 => Ok(users.pop_first()),
            _ => Err("`filters` names several users; ask about one at a time".into()),
        }
    }

    fn users(&self, into: &mut BTreeSet<String>) {
        match self {
            Mem0Filter::All(parts) | Mem0Filter::Any(parts) => {
                parts.iter().for_each(|part| part.users(into));
            }
            // A negated user does not name the user of the request.
            Mem0Filter::Not(_) => {}
            Mem0Filter::Field(name, FieldCondition::Is(Value::String(user)))
                if name == "user_id" =>
            {
                into.insert(user.clone());
            }
            Mem0Filter::Field(name, FieldCondition::In(users)) if name == "user_id" => {
                into.extend(users.iter().filter_map(Value::as_str).map(str::to_owned));
            }
            Mem0Filter::Field(..) => {}
        }
    }

    /// Whether it selects among the memories of one user.
    pub fn selects(&self) -> bool {
        match self {
            Mem0Filter::All(parts) => parts.iter().any(Self::selects),
            Mem0Filter::Any(_) | Mem0Filter::Not(_) => true,
            Mem0Filter::Field(name, _) => name != "user_id",
        }
    }

    /// Whether a memory in mem0's format matches.
    pub fn matches(&self, memory: &Map<String, Value>) -> bool {
        match self {
            Mem0Filter::All(parts) => parts.iter().all(|part| part.matches(memory)),
            Mem0Filter::Any(parts) => parts.iter().any(|part| part.matches(memory)),
            Mem0Filter::Not(part) => !part.matches(memory),
            Mem0Filter::Field(name, test) => test.matches(field(memory, name)),
        }
    }
}

fn field<'a>(memory: &'a Map<String, Value>, name: &str) -> &'a Value {
    let object = if MEMORY_FIELDS.contains(&name) {
        Some(memory)
    } else {
        memory.get("metadata").and_then(Value::as_object)
    };
    object.and_then(|object| object.get(name)).unwrap_or(&Value::Null)
}

impl FieldCondition {
    fn matches(&self, value: &Value) -> bool {
        // A field with several values matches if one of them does.
        if let (
            Value::Array(values),
            FieldCondition::Is(_) | FieldCondition::In(_) | FieldCondition::Contains { .. },
        ) = (value, self)
        {
            return values.iter().any(|value| self.matches(value));
        }
        match self {
            FieldCondition::Is(wanted) => value == wanted,
            FieldCondition::In(wanted) => wanted.contains(value),
            FieldCondition::Exists => !value.is_null(),
            FieldCondition::Contains { text, any_case: false } => {
                value.as_str().is_some_and(|value| value.contains(text))
            }
            FieldCondition::Contains { text, any_case: true } => value
                .as_str()
                .is_some_and(|value| value.to_lowercase().contains(&text.to_lowercase())),
            FieldCondition::Compared(how, wanted) => {
                order(value, wanted).is_some_and(|order| match how {
                    Comparison::More => order.is_gt(),
                    Comparison::AtLeast => order.is_ge(),
                    Comparison::Less => order.is_lt(),
                    Comparison::AtMost => order.is_le(),
                })
            }
        }
    }
}

fn order(a: &Value, b: &Value) -> Option<std::cmp::Ordering> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64()?.partial_cmp(&b.as_f64()?),
        // The printed form of times sorts in time order.
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn passes(filter: &Value, memory: &Value) -> bool {
        let memory = memory.as_object().unwrap().clone();
        Mem0Filter::parse(filter).unwrap().matches(&memory)
    }

    #[test]
    fn mem0_filter_matches_memory_and_metadata_fields() {
        let memory = json!({
            "user_id": "alice", "agent_id": "travel", "categories": ["trips", "food"],
            "created_at": "2026-03-01T00:00:00Z",
            "metadata": { "stars": 4, "city": "Lisbon", "user_id": "mallory" },
        });
        for (filter, expected) in [
            (json!({}), true),
            (json!(null), true),
            (json!({ "user_id": "alice" }), true),
            (json!({ "user_id": "mallory" }), false),
            (json!({ "AND": [{ "user_id": "alice" }, { "agent_id": "travel" }] }), true),
            (json!({ "AND": [{ "user_id": "alice" }, { "agent_id": "tax" }] }), false),
            (json!({ "OR": [{ "agent_id": "tax" }, { "city": "Lisbon" }] }), true),
            (json!({ "NOT": [{ "agent_id": "travel" }] }), false),
            (json!({ "NOT": { "agent_id": "tax" } }), true),
            (json!({ "city": { "ne": "Porto" } }), true),
            (json!({ "city": { "in": ["Porto", "Lisbon"] } }), true),
            (json!({ "city": { "nin": ["Porto", "Lisbon"] } }), false),
            (json!({ "city": { "contains": "lis" } }), false),
            (json!({ "city": { "icontains": "lis" } }), true),
            (json!({ "stars": { "gte": 4, "lt": 5 } }), true),
            (json!({ "stars": { "gt": 4 } }), false),
            (json!({ "created_at": { "gte": "2026-01-01" } }), true),
            (json!({ "created_at": { "lte": "2026-01-01" } }), false),
            (json!({ "categories": { "contains": "foo" } }), true),
            (json!({ "categories": "trips" }), true),
            (json!({ "run_id": "*" }), false),
            (json!({ "agent_id": "*" }), true),
            (json!({ "metadata": { "city": "Lisbon" } }), true),
            (json!({ "stars": { "gt": "3" } }), false),
        ] {
            assert_eq!(passes(&filter, &memory), expected, "{filter}");
        }
    }

    #[test]
    fn mem0_filter_names_at_most_one_user() {
        let user = |filter: Value| Mem0Filter::parse(&filter).unwrap().user();
        assert_eq!(user(json!({ "user_id": "alice" })), Ok(Some("alice".into())));
        assert_eq!(user(json!({ "AND": [{ "user_id": "alice" }] })), Ok(Some("alice".into())));
        assert_eq!(user(json!({ "user_id": { "in": ["alice"] } })), Ok(Some("alice".into())));
        assert_eq!(user(json!({ "agent_id": "a" })), Ok(None));
        assert_eq!(user(json!({ "user_id": "*" })), Ok(None));
        assert_eq!(user(json!({ "NOT": [{ "user_id": "alice" }] })), Ok(None));
        assert!(user(json!({ "OR": [{ "user_id": "alice" }, { "user_id": "bob" }] })).is_err());
    }

    #[test]
    fn unknown_mem0_filters_are_rejected() {
        for filter in [json!("x"), json!({ "AND": 1 }), json!({ "a": { "like": 1 } })] {
            assert!(Mem0Filter::parse(&filter).is_err(), "{filter}");
        }
    }
}
