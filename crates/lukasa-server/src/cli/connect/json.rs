//! Adds or removes one entry of another program's JSON file. Everything else stays: comments, order,
//! indentation, line ends. A file that cannot be parsed safely is not changed.

use anyhow::{Context as _, ensure};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstRootNode};
use serde_json::Value;

const BOM: char = '\u{feff}';
/// JSON with comments and trailing commas.
const SYNTAX: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// A file as a syntax tree and as a value.
struct JsonFile {
    has_bom: bool,
    tree: CstRootNode,
    value: Value,
}

impl JsonFile {
    fn parse(text: &str) -> anyhow::Result<Self> {
        let plain = text.strip_prefix(BOM);
        let (has_bom, text) = (plain.is_some(), plain.unwrap_or(text));
        let tree = CstRootNode::parse(text, &SYNTAX).context("the file is not valid JSON")?;
        let value = tree.to_serde_value().context("the file is not valid JSON")?;
        Ok(Self { has_bom, tree, value })
    }

    fn root(&self) -> anyhow::Result<CstObject> {
        self.tree.object_value().context("the file is not a JSON object")
    }

    /// The text of the changed tree, if it has the wanted value.
    fn print(&self, wanted: &Value) -> anyhow::Result<String> {
        let bom = if self.has_bom { BOM.to_string() } else { String::new() };
        let text = format!("{bom}{}", self.tree);
        let is_wanted = Self::parse(&text).is_ok_and(|file| file.value == *wanted);
        ensure!(is_wanted, "the file is written in a way that cannot be changed safely");
        Ok(text)
    }
}

/// The text with `container.name` set to the value.
pub fn put(text: &str, container: &str, name: &str, value: &Value) -> anyhow::Result<String> {
    if text.trim_matches([BOM, ' ', '\n', '\r', '\t']).is_empty() {
        let whole = serde_json::json!({ container: { name: value } });
        return Ok(format!("{}\n", serde_json::to_string_pretty(&whole)?));
    }
    let file = JsonFile::parse(text)?;
    if file.value[container][name] == *value {
        return Ok(text.to_owned());
    }
    let root = file.root()?;
    let section = match root.get(container) {
        Some(section) => section,
        None => root.append(container, CstInputValue::Object(Vec::new())),
    };
    let entries = section.object_value();
    let entries = entries.with_context(|| format!("`{container}` in the file is not an object"))?;
    match entries.get(name) {
        Some(entry) => entry.set_value(input(value)),
        None => drop(entries.append(name, input(value))),
    }
    let mut wanted = file.value.clone();
    wanted[container][name] = value.clone();
    file.print(&wanted)
}

/// The text without `container.name`; `None` if the file does not have it.
pub fn take(text: &str, container: &str, name: &str) -> anyhow::Result<Option<String>> {
    let file = JsonFile::parse(text)?;
    let Some(section) = file.root()?.get(container) else { return Ok(None) };
    let entries = section.object_value();
    let entries = entries.with_context(|| format!("`{container}` in the file is not an object"))?;
    let Some(entry) = entries.get(name) else { return Ok(None) };
    entry.remove();
    let mut wanted = file.value.clone();
    if let Some(entries) = wanted[container].as_object_mut() {
        entries.shift_remove(name);
    }
    file.print(&wanted).map(Some)
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| (key.clone(), input(value)));
            CstInputValue::Object(members.collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entry() -> Value {
        json!({ "command": "lukasa", "args": ["mcp"] })
    }

    /// Adds the entry and removes it again, which must restore the same bytes.
    fn add_and_remove(text: &str) -> String {
        let (with, back) = add_then_remove(text);
        if text.contains("mcpServers") {
            assert_eq!(back, text, "{with}");
        }
        with
    }

    /// The text with the entry, and the text after it was removed again.
    fn add_then_remove(text: &str) -> (String, String) {
        let with = put(text, "mcpServers", "lukasa", &entry()).unwrap();
        let file = JsonFile::parse(&with).unwrap();
        assert_eq!(file.value["mcpServers"]["lukasa"], entry(), "{with}");
        let back = take(&with, "mcpServers", "lukasa").unwrap().unwrap();
        assert_eq!(put(&with, "mcpServers", "lukasa", &entry()).unwrap(), with, "it is idempotent");
        (with, back)
    }

    #[test]
    fn json_entry_is_added_and_removed_in_every_layout() {
        for text in [
            "{\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" }\n  },\n  \"z\": 1\n}\n",
            "{\n\t\"mcpServers\": {\n\t\t\"other\": {}\n\t}\n}",
            "{\r\n    \"a\": [1, 2],\r\n    \"mcpServers\": {\r\n        \"o\": {}\r\n    }\r\n}\r\n",
            "// mine\n{\n  /* all */ \"x\": \"// no\",\n  \"mcpServers\": {\n    \"o\": {}, // keep\n  },\n}\n",
            "{\n  \"mcpServers\": {\n    \"o\": {} // keep\n  }\n}\n",
            "{\n  \"mcpServers\": {\n    \"o\": { \"a\": \"x\\\" } // , \\\\\" }\n  }\n}\n",
            "\u{feff}{\n  \"mcpServers\": {\n    \"o\": {}\n  }\n}\n",
        ] {
            add_and_remove(text);
        }
    }

    #[test]
    fn json_entry_is_added_to_an_object_on_one_line() {
        let text = "{\"mcpServers\":{\"o\":{\"a\":\"}\"}},\"b\":2}";
        let (_, back) = add_then_remove(text);
        let value = |text: &str| JsonFile::parse(text).unwrap().value;
        assert_eq!(value(&back), value(text));
    }

    #[test]
    fn json_file_without_the_section_gets_one() {
        let with = add_and_remove("{\n    \"theme\": \"dark\" // night\n}\n");
        assert!(
            with.starts_with(
                "{\n    \"theme\": \"dark\", // night\n    \"mcpServers\": {\n        \"lukasa\""
            ),
            "{with}"
        );
        assert!(add_and_remove("").ends_with("}\n"));
        assert!(add_and_remove("{}\n").contains("\n  \"mcpServers\""));
        let empty = add_and_remove("{\n  \"mcpServers\": {}\n}\n");
        assert!(empty.contains("\"mcpServers\": {\n    \"lukasa\": {"), "{empty}");
    }

    #[test]
    fn json_entry_of_the_same_name_is_replaced_in_place() {
        let text = "{\n  \"mcpServers\": {\n    \"lukasa\": { \"command\": \"old\" },\n    \"b\": {}\n  }\n}\n";
        let with = put(text, "mcpServers", "lukasa", &entry()).unwrap();
        assert!(!with.contains("old") && with.contains("\n    },\n    \"b\": {}"), "{with}");
        let back = take(&with, "mcpServers", "lukasa").unwrap().unwrap();
        assert_eq!(back, "{\n  \"mcpServers\": {\n    \"b\": {}\n  }\n}\n");
    }

    #[test]
    fn json_file_that_cannot_be_parsed_safely_is_left_alone() {
        for text in [
            "[]",
            "{",
            "{\"a\" 1}",
            "{} {}",
            "{\"mcpServers\": []}",
            "{\"a\": 'x'}",
            "{\"a\": /* }",
            &"[".repeat(100_000),
        ] {
            assert!(put(text, "mcpServers", "lukasa", &entry()).is_err(), "{text}");
        }
    }
}
