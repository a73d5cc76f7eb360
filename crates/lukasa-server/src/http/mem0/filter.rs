//! The filters of mem0: fields and tests, joined by `AND`, `OR` and `NOT`. Pure; it knows a memory only in
//! the shape that mem0 gives it.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// What a memory must be like.
#[derive(Debug, Clone, PartialEq)]
pub enum Filter {
    All(Vec<Filter>),
    Any(Vec<Filter>),
    Not(Box<Filter>),
    Field(String, Test),
}

/// What a field must be like.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    Is(Value),
    In(Vec<Value>),
    Compared(Comparison, Value),
    Contains { text: String, any_case: bool },
    There,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    More,
    AtLeast,
    Less,
    AtMost,
}

/// Fields of a memory itself; every other name is one of its metadata.
const OWN: [&str; 8] = [
    "user_id",
    "agent_id",
    "app_id",
    "run_id",
    "created_at",
    "updated_at",
    "categories",
    "expiration_date",
];

impl Filter {
    /// Lets everything through.
    pub fn everything() -> Self {
        Filter::All(Vec::new())
    }

    pub fn is(name: &str, value: &str) -> Self {
        Filter::Field(name.to_owned(), Test::Is(value.into()))
    }

    pub fn and(self, other: Self) -> Self {
        Filter::All(vec![self, other])
    }

    /// Reads a filter; what is wrong with it if it is none.
    pub fn parse(value: &Value) -> Result<Self, String> {
        match value {
            Value::Null => Ok(Self::everything()),
            Value::Object(fields) => Ok(Filter::All(
                fields
                    .iter()
                    .map(|(name, wanted)| Self::one(name, wanted))
                    .collect::<Result<_, String>>()?,
            )),
            _ => Err("`filters` is an object".into()),
        }
    }

    fn one(name: &str, wanted: &Value) -> Result<Self, String> {
        let several = || match wanted {
            Value::Array(parts) => parts.iter().map(Self::parse).collect::<Result<_, _>>(),
            Value::Object(_) => Ok(vec![Self::parse(wanted)?]),
            _ => Err(format!("`{name}` is a list of filters")),
        };
        match name {
            "AND" => Ok(Filter::All(several()?)),
            "OR" => Ok(Filter::Any(several()?)),
            "NOT" => Ok(Filter::Not(Box::new(Filter::Any(several()?)))),
            "metadata" if wanted.is_object() => Self::parse(wanted),
            _ => match wanted {
                Value::Object(tests) => Ok(Filter::All(
                    tests
                        .iter()
                        .map(|(word, wanted)| Self::test(name, word, wanted))
                        .collect::<Result<_, String>>()?,
                )),
                Value::String(text) if text == "*" => {
                    Ok(Filter::Field(name.to_owned(), Test::There))
                }
                wanted => Ok(Filter::Field(name.to_owned(), Test::Is(wanted.clone()))),
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
        let compared = |how| Test::Compared(how, wanted.clone());
        let field = |test| Filter::Field(name.to_owned(), test);
        Ok(match word {
            "eq" => field(Test::Is(wanted.clone())),
            "ne" => Filter::Not(Box::new(field(Test::Is(wanted.clone())))),
            "in" => field(Test::In(list()?)),
            "nin" => Filter::Not(Box::new(field(Test::In(list()?)))),
            "gt" => field(compared(Comparison::More)),
            "gte" => field(compared(Comparison::AtLeast)),
            "lt" => field(compared(Comparison::Less)),
            "lte" => field(compared(Comparison::AtMost)),
            "contains" => field(Test::Contains { text: text()?, any_case: false }),
            "icontains" => field(Test::Contains { text: text()?, any_case: true }),
            _ => return Err(format!("`{word}` is no test that is known here")),
        })
    }

    /// The one user it asks about, if it names any. One user's memory is one place: a question about
    /// several is several questions.
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
            Filter::All(parts) | Filter::Any(parts) => {
                parts.iter().for_each(|part| part.users(into));
            }
            // Whom it is not about says nothing about whom it is.
            Filter::Not(_) => {}
            Filter::Field(name, Test::Is(Value::String(user))) if name == "user_id" => {
                into.insert(user.clone());
            }
            Filter::Field(name, Test::In(users)) if name == "user_id" => {
                into.extend(users.iter().filter_map(Value::as_str).map(str::to_owned));
            }
            Filter::Field(..) => {}
        }
    }

    /// Whether it tells memories of one user apart at all.
    pub fn selects(&self) -> bool {
        match self {
            Filter::All(parts) => parts.iter().any(Self::selects),
            Filter::Any(_) | Filter::Not(_) => true,
            Filter::Field(name, _) => name != "user_id",
        }
    }

    /// Whether a memory, in the shape of mem0, is like this.
    pub fn lets_through(&self, memory: &Map<String, Value>) -> bool {
        match self {
            Filter::All(parts) => parts.iter().all(|part| part.lets_through(memory)),
            Filter::Any(parts) => parts.iter().any(|part| part.lets_through(memory)),
            Filter::Not(part) => !part.lets_through(memory),
            Filter::Field(name, test) => test.holds(field(memory, name)),
        }
    }
}

fn field<'a>(memory: &'a Map<String, Value>, name: &str) -> &'a Value {
    let place = if OWN.contains(&name) {
        Some(memory)
    } else {
        memory.get("metadata").and_then(Value::as_object)
    };
    place.and_then(|place| place.get(name)).unwrap_or(&Value::Null)
}

impl Test {
    fn holds(&self, value: &Value) -> bool {
        // A field with several values is like this if one of them is.
        if let (Value::Array(values), Test::Is(_) | Test::In(_) | Test::Contains { .. }) =
            (value, self)
        {
            return values.iter().any(|value| self.holds(value));
        }
        match self {
            Test::Is(wanted) => value == wanted,
            Test::In(wanted) => wanted.contains(value),
            Test::There => !value.is_null(),
            Test::Contains { text, any_case: false } => {
                value.as_str().is_some_and(|value| value.contains(text))
            }
            Test::Contains { text, any_case: true } => value
                .as_str()
                .is_some_and(|value| value.to_lowercase().contains(&text.to_lowercase())),
            Test::Compared(how, wanted) => order(value, wanted).is_some_and(|order| match how {
                Comparison::More => order.is_gt(),
                Comparison::AtLeast => order.is_ge(),
                Comparison::Less => order.is_lt(),
                Comparison::AtMost => order.is_le(),
            }),
        }
    }
}

fn order(a: &Value, b: &Value) -> Option<std::cmp::Ordering> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64()?.partial_cmp(&b.as_f64()?),
        // Times are printed such that they sort.
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
        Filter::parse(filter).unwrap().lets_through(&memory)
    }

    #[test]
    fn fields_are_the_memorys_own_or_its_metadata() {
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
    fn a_filter_names_one_user_or_none() {
        let user = |filter: Value| Filter::parse(&filter).unwrap().user();
        assert_eq!(user(json!({ "user_id": "alice" })), Ok(Some("alice".into())));
        assert_eq!(user(json!({ "AND": [{ "user_id": "alice" }] })), Ok(Some("alice".into())));
        assert_eq!(user(json!({ "user_id": { "in": ["alice"] } })), Ok(Some("alice".into())));
        assert_eq!(user(json!({ "agent_id": "a" })), Ok(None));
        assert_eq!(user(json!({ "user_id": "*" })), Ok(None));
        assert_eq!(user(json!({ "NOT": [{ "user_id": "alice" }] })), Ok(None));
        assert!(user(json!({ "OR": [{ "user_id": "alice" }, { "user_id": "bob" }] })).is_err());
    }

    #[test]
    fn what_is_not_understood_is_refused() {
        for filter in [json!("x"), json!({ "AND": 1 }), json!({ "a": { "like": 1 } })] {
            assert!(Filter::parse(&filter).is_err(), "{filter}");
        }
    }
}
