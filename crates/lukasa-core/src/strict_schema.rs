//! The rules that strict structured outputs apply to an answer's schema, as OpenAI publishes them:
//! every object lists all of its properties as required and allows no others, optional values are
//! nullable, and only some keywords are supported. Other services accept what these rules allow.

use serde_json::Value;

/// Keywords that strict mode supports.
const SUPPORTED: [&str; 19] = [
    "$defs",
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "description",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maximum",
    "minItems",
    "minimum",
    "multipleOf",
    "pattern",
    "properties",
    "required",
];
/// Bounds of strings: servers that decode by a grammar use them, and strict mode refuses them.
const LENGTH_BOUNDS: [&str; 2] = ["maxLength", "minLength"];
const MAX_DEPTH: usize = 10;

/// What strict mode would refuse in a schema, each with its place. Empty if it is valid.
pub fn strict_faults(schema: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    if schema.get("type").and_then(Value::as_str) != Some("object") {
        faults.push("$: the outermost schema is not an object".to_owned());
    }
    check(schema, "$", 0, &mut faults);
    faults
}

/// The schema without the bounds of strings, for services in strict mode.
#[must_use]
pub fn without_length_bounds(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            // A property may be called like a keyword; then its value is a schema, not a number.
            let kept = map.iter().filter(|(name, value)| {
                !(LENGTH_BOUNDS.contains(&name.as_str()) && value.is_number())
            });
            kept.map(|(name, value)| (name.clone(), without_length_bounds(value))).collect()
        }
        Value::Array(list) => list.iter().map(without_length_bounds).collect(),
        other => other.clone(),
    }
}

fn check(schema: &Value, place: &str, depth: usize, faults: &mut Vec<String>) {
    let Some(map) = schema.as_object() else {
        faults.push(format!("{place}: not a schema"));
        return;
    };
    if depth > MAX_DEPTH {
        faults.push(format!("{place}: nested more than {MAX_DEPTH} levels deep"));
        return;
    }
    for name in map.keys().filter(|name| *name != "type" && !SUPPORTED.contains(&name.as_str())) {
        faults.push(format!("{place}: the keyword `{name}` is not supported"));
    }
    let described = ["type", "anyOf", "$ref", "enum", "const"];
    if !described.iter().any(|name| map.contains_key(*name)) {
        faults.push(format!("{place}: no type"));
    }
    if is_of_type(schema, "object") {
        check_object(schema, place, depth, faults);
    }
    if is_of_type(schema, "array") {
        match schema.get("items") {
            Some(items) => check(items, &format!("{place}[]"), depth + 1, faults),
            None => faults.push(format!("{place}: an array without `items`")),
        }
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array)
        && is_of_type(schema, "null")
        && !values.contains(&Value::Null)
    {
        faults.push(format!("{place}: nullable, but null is not among the values of `enum`"));
    }
    for (number, variant) in schema["anyOf"].as_array().into_iter().flatten().enumerate() {
        check(variant, &format!("{place}|{number}"), depth, faults);
    }
    for (name, definition) in schema["$defs"].as_object().into_iter().flatten() {
        check(definition, &format!("$defs.{name}"), depth, faults);
    }
}

fn check_object(schema: &Value, place: &str, depth: usize, faults: &mut Vec<String>) {
    if schema.get("additionalProperties") != Some(&Value::Bool(false)) {
        faults.push(format!("{place}: `additionalProperties` is not false"));
    }
    let required = schema.get("required").and_then(Value::as_array);
    let required: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    let empty = serde_json::Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    for (name, inner) in properties {
        if !required.contains(&name.as_str()) {
            faults.push(format!("{place}.{name}: not listed in `required`"));
        }
        check(inner, &format!("{place}.{name}"), depth + 1, faults);
    }
    for name in required.iter().filter(|name| !properties.contains_key(**name)) {
        faults.push(format!("{place}.{name}: required, but not a property"));
    }
}

fn is_of_type(schema: &Value, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::String(one)) => one == name,
        Some(Value::Array(types)) => types.iter().any(|one| one == name),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{strict_faults, without_length_bounds};

    fn object(properties: &serde_json::Value, required: &[&str]) -> serde_json::Value {
        json!({"type": "object", "additionalProperties": false, "properties": properties,
            "required": required})
    }

    #[test]
    fn strict_schema_without_faults_is_accepted() {
        let nullable = json!({"type": ["string", "null"], "enum": ["a", null]});
        let list = json!({"type": "array", "maxItems": 3, "items": object(&json!({}), &[])});
        let schema = object(&json!({"a": nullable, "b": list}), &["a", "b"]);
        assert_eq!(strict_faults(&schema), [""; 0]);
    }

    #[test]
    fn strict_schema_faults_are_found_at_every_depth() {
        let text = json!({"type": "string"});
        let planted = [
            (object(&json!({"a": text, "b": text}), &["a"]), "$.b: not listed"),
            (object(&json!({"a": text}), &["a", "b"]), "$.b: required, but"),
            (json!({"type": "object", "properties": {}, "required": []}), "not false"),
            (object(&json!({"a": {"type": "string", "maxLength": 3}}), &["a"]), "`maxLength`"),
            (object(&json!({"a": {"type": "array"}}), &["a"]), "without `items`"),
            (object(&json!({"a": {}}), &["a"]), "$.a: no type"),
            (object(&json!({"a": true}), &["a"]), "not a schema"),
            (object(&json!({"a": {"type": ["string", "null"], "enum": ["x"]}}), &["a"]), "null"),
            (json!({"type": "array", "items": text}), "outermost"),
            (object(&json!({"a": {"anyOf": [object(&json!({"x": text}), &[])]}}), &["a"]), "|0.x"),
        ];
        for (schema, words) in planted {
            let faults = strict_faults(&schema);
            assert_eq!(faults.len(), 1, "{schema}: {faults:?}");
            assert!(faults[0].contains(words), "{faults:?}");
        }
        let inner = object(&json!({"x": text}), &[]);
        let list = json!({"type": "array", "items": inner});
        assert_eq!(
            strict_faults(&object(&json!({"a": list}), &["a"])),
            ["$.a[].x: not listed in `required`"]
        );
    }

    #[test]
    fn length_bounds_are_removed_from_schema_but_not_properties_of_that_name() {
        let bounded = json!({"type": "string", "minLength": 1, "maxLength": 9});
        let schema = object(&json!({"maxLength": bounded}), &["maxLength"]);
        let free = without_length_bounds(&schema);
        assert_eq!(free, object(&json!({"maxLength": {"type": "string"}}), &["maxLength"]));
        assert_eq!(strict_faults(&free), [""; 0]);
    }
}
