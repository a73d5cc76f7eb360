//! Adds or removes one entry of another program's JSON file as text. Everything else stays byte for
//! byte: comments, order, indentation, line ends. A file that cannot be parsed safely is not changed.

use std::ops::Range;

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

/// Deepest accepted nesting of a configuration file.
const MAX_DEPTH: usize = 64;

struct Member {
    key: String,
    start: usize,
    value: Range<usize>,
    /// The position of the comma after it, if there is one.
    comma: Option<usize>,
}

struct Object {
    open: usize,
    close: usize,
    members: Vec<Member>,
}

/// The text with `container.name` set to the value.
pub fn put(text: &str, container: &str, name: &str, value: &Value) -> anyhow::Result<String> {
    if text.trim_matches(['\u{feff}', ' ', '\n', '\r', '\t']).is_empty() {
        let whole = serde_json::json!({ container: { name: value } });
        return Ok(format!("{}\n", serde_json::to_string_pretty(&whole)?));
    }
    let root = root(text)?;
    let mut wanted = read(text)?;
    if wanted[container][name] == *value {
        return Ok(text.to_owned());
    }
    let style = Style::of(text, &root);
    let new = match find(text, &root, container)? {
        None => {
            let entry = serde_json::json!({ name: value });
            style.insert(text, &root, container, &entry)?
        }
        Some(inner) => match inner.members.iter().rev().find(|member| member.key == name) {
            Some(member) => {
                let rendered = match own_line(text, member.start) {
                    Some(indent) => style.render(value, indent)?,
                    None => serde_json::to_string(value)?,
                };
                [&text[..member.value.start], &rendered, &text[member.value.end..]].concat()
            }
            None => style.insert(text, &inner, name, value)?,
        },
    };
    wanted[container][name] = value.clone();
    ensure!(read(&new)? == wanted, "the file is written in a way that cannot be changed safely");
    Ok(new)
}

/// The text without `container.name`; `None` if the file does not have it.
pub fn take(text: &str, container: &str, name: &str) -> anyhow::Result<Option<String>> {
    let root = root(text)?;
    let Some(inner) = find(text, &root, container)? else { return Ok(None) };
    let Some(at) = inner.members.iter().rposition(|member| member.key == name) else {
        return Ok(None);
    };
    let member = &inner.members[at];
    let last = at + 1 == inner.members.len();
    // From the line end before it, or from right behind the bracket or the comma on its own line.
    let before = &text[..member.start];
    let blank = before.len() - before.trim_end_matches([' ', '\t']).len();
    let mut from = member.start - blank;
    for end in ["\n", "\r"] {
        from -= usize::from(text[..from].ends_with(end));
    }
    let until = member.comma.map_or(member.value.end, |comma| comma + 1);
    let mut new = String::new();
    let previous = at.checked_sub(1).and_then(|before| inner.members[before].comma);
    match previous.filter(|_| last && member.comma.is_none()) {
        // The last member is removed, so the comma before it is, too.
        Some(comma) => {
            new.push_str(&text[..comma]);
            new.push_str(&text[comma + 1..from.max(comma + 1)]);
        }
        None => new.push_str(&text[..from]),
    }
    let mut rest = &text[until..];
    if inner.members.len() == 1
        && rest.trim_start().starts_with('}')
        && text[inner.open + 1..from].trim().is_empty()
    {
        rest = rest.trim_start();
        new.truncate(inner.open + 1);
    }
    new.push_str(rest);
    let mut wanted = read(text)?;
    if let Some(entries) = wanted[container].as_object_mut() {
        entries.shift_remove(name);
    }
    ensure!(read(&new)? == wanted, "the file is written in a way that cannot be changed safely");
    Ok(Some(new))
}

/// The whole file as a value: comments and trailing commas are blanked out first.
fn read(text: &str) -> anyhow::Result<Value> {
    let mut bytes = text.trim_start_matches('\u{feff}').as_bytes().to_vec();
    let mut at = 0;
    let mut comma = None;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'"' => {
                at = string_end(&bytes, at)?;
                comma = None;
                continue;
            }
            b'/' => {
                at = comment_end(&bytes, at)?;
                bytes[start..at].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
                continue;
            }
            b',' => comma = Some(at),
            b'}' | b']' => {
                if let Some(comma) = comma.take() {
                    bytes[comma] = b' ';
                }
            }
            byte if byte.is_ascii_whitespace() => {}
            _ => comma = None,
        }
        at += 1;
    }
    serde_json::from_slice(&bytes).context("the file is not valid JSON")
}

fn root(text: &str) -> anyhow::Result<Object> {
    let bytes = text.as_bytes();
    let start = text.len() - text.trim_start_matches('\u{feff}').len();
    let at = blank_end(bytes, start)?;
    ensure!(bytes.get(at) == Some(&b'{'), "the file is not a JSON object");
    let root = object(bytes, at, 0)?;
    ensure!(blank_end(bytes, root.close + 1)? == bytes.len(), "text follows the JSON object");
    Ok(root)
}

/// The object under a key, if there is one.
fn find(text: &str, outer: &Object, key: &str) -> anyhow::Result<Option<Object>> {
    let Some(member) = outer.members.iter().rev().find(|member| member.key == key) else {
        return Ok(None);
    };
    ensure!(text[member.value.clone()].starts_with('{'), "`{key}` in the file is not an object");
    Ok(Some(object(text.as_bytes(), member.value.start, 0)?))
}

fn object(bytes: &[u8], open: usize, depth: usize) -> anyhow::Result<Object> {
    let mut members: Vec<Member> = Vec::new();
    let mut at = open + 1;
    loop {
        at = blank_end(bytes, at)?;
        match bytes.get(at) {
            Some(b'}') => return Ok(Object { open, close: at, members }),
            Some(b'"') if members.last().is_none_or(|last| last.comma.is_some()) => {
                let start = at;
                at = string_end(bytes, at)?;
                let key =
                    serde_json::from_slice(&bytes[start..at]).context("a key is not valid")?;
                at = blank_end(bytes, at)?;
                ensure!(bytes.get(at) == Some(&b':'), "a key has no value");
                let from = blank_end(bytes, at + 1)?;
                let end = value_end(bytes, from, depth)?;
                at = blank_end(bytes, end)?;
                let comma = (bytes.get(at) == Some(&b',')).then_some(at);
                members.push(Member { key, start, value: from..end, comma });
                at += usize::from(comma.is_some());
            }
            _ => bail!("the file is not valid JSON"),
        }
    }
}

fn value_end(bytes: &[u8], at: usize, depth: usize) -> anyhow::Result<usize> {
    ensure!(depth < MAX_DEPTH, "the file is nested more than {MAX_DEPTH} levels deep");
    match bytes.get(at) {
        Some(b'"') => string_end(bytes, at),
        Some(b'{') => Ok(object(bytes, at, depth + 1)?.close + 1),
        Some(b'[') => {
            let mut at = blank_end(bytes, at + 1)?;
            while bytes.get(at) != Some(&b']') {
                at = blank_end(bytes, value_end(bytes, at, depth + 1)?)?;
                if bytes.get(at) == Some(&b',') {
                    at = blank_end(bytes, at + 1)?;
                }
            }
            Ok(at + 1)
        }
        _ => {
            let word = |b: &u8| b.is_ascii_alphanumeric() || b"+-.".contains(b);
            let length = bytes[at.min(bytes.len())..].iter().take_while(|b| word(b)).count();
            ensure!(length > 0, "the file is not valid JSON");
            Ok(at + length)
        }
    }
}

/// The position after white space and comments.
fn blank_end(bytes: &[u8], mut at: usize) -> anyhow::Result<usize> {
    loop {
        match bytes.get(at) {
            Some(b) if b.is_ascii_whitespace() => at += 1,
            Some(b'/') => at = comment_end(bytes, at)?,
            _ => return Ok(at),
        }
    }
}

fn comment_end(bytes: &[u8], at: usize) -> anyhow::Result<usize> {
    let rest = &bytes[at..];
    match rest.get(1) {
        Some(b'/') => Ok(at + rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len())),
        Some(b'*') => {
            let end = rest.windows(2).skip(2).position(|pair| pair == b"*/");
            Ok(at + 2 + end.context("a comment in the file does not end")? + 2)
        }
        _ => bail!("the file is not valid JSON"),
    }
}

fn string_end(bytes: &[u8], start: usize) -> anyhow::Result<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at += 2,
            Some(_) => at += 1,
            None => bail!("a string in the file does not end"),
        }
    }
}

/// The indentation unit and line end of a file.
struct Style {
    unit: String,
    line: &'static str,
}

impl Style {
    fn of(text: &str, root: &Object) -> Self {
        let line = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let own = |member: &Member| own_line(text, member.start).filter(|blank| !blank.is_empty());
        let unit = root.members.iter().find_map(own).unwrap_or("  ").to_owned();
        Self { unit, line }
    }

    fn render(&self, value: &Value, indent: &str) -> anyhow::Result<String> {
        let mut out = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(self.unit.as_bytes());
        let mut writer = serde_json::Serializer::with_formatter(&mut out, formatter);
        serde::Serialize::serialize(value, &mut writer)?;
        let text = String::from_utf8(out)?;
        Ok(text.replace('\n', &format!("{}{indent}", self.line)))
    }

    /// The text with one more member at the end of an object.
    fn insert(
        &self,
        text: &str,
        object: &Object,
        key: &str,
        value: &Value,
    ) -> anyhow::Result<String> {
        let key = serde_json::to_string(key)?;
        let Some(last) = object.members.last() else {
            let outer = line_blank(text, object.open).to_owned();
            let indent = format!("{outer}{}", self.unit);
            let member = format!("{key}: {}", self.render(value, &indent)?);
            let inside = &text[object.open + 1..object.close];
            let tail = match inside.trim().is_empty() {
                true => format!("{}{outer}", self.line),
                false => inside.to_owned(),
            };
            let head = &text[..=object.open];
            return Ok(format!(
                "{head}{}{indent}{member}{tail}{}",
                self.line,
                &text[object.close..]
            ));
        };
        // A file with trailing commas keeps them.
        let (before, behind) = if last.comma.is_some() { ("", ",") } else { (",", "") };
        let Some(indent) = own_line(text, last.start) else {
            // An object on one line stays on one line.
            let member = format!("{key}: {}", serde_json::to_string(value)?);
            let at = last.comma.map_or(last.value.end, |comma| comma + 1);
            return Ok(format!("{}{before} {member}{behind}{}", &text[..at], &text[at..]));
        };
        let member = format!("{key}: {}", self.render(value, indent)?);
        let end = last.comma.map_or(last.value.end, |comma| comma + 1);
        // A comment after the last member stays on its line.
        let rest = &text[end..object.close];
        let stays = rest.find('\n').map_or(0, |at| rest[..at].trim_end_matches('\r').len());
        let remark = match blank_end(text.as_bytes(), end) {
            Ok(at) if at >= end + stays => &rest[..stays],
            _ => "",
        };
        let after = &text[end + remark.len()..];
        let line = self.line;
        Ok(format!("{}{before}{remark}{line}{indent}{member}{behind}{after}", &text[..end]))
    }
}

/// The white space before a position, if nothing else is before it on its line.
fn own_line(text: &str, at: usize) -> Option<&str> {
    let blank = line_blank(text, at);
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    (start > 0 && start + blank.len() == at).then_some(blank)
}

/// The indentation of the line of a position.
fn line_blank(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = &text[start..at];
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
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
        let with = put(text, "mcpServers", "lukasa", &entry()).unwrap();
        assert_eq!(read(&with).unwrap()["mcpServers"]["lukasa"], entry(), "{with}");
        let back = take(&with, "mcpServers", "lukasa").unwrap().unwrap();
        if text.contains("mcpServers") {
            assert_eq!(back, text, "{with}");
        }
        assert_eq!(put(&with, "mcpServers", "lukasa", &entry()).unwrap(), with, "it is idempotent");
        with
    }

    #[test]
    fn json_entry_is_added_and_removed_in_every_layout() {
        for text in [
            "{\n  \"mcpServers\": {\n    \"other\": { \"command\": \"x\" }\n  },\n  \"z\": 1\n}\n",
            "{\n\t\"mcpServers\": {\n\t\t\"other\": {}\n\t}\n}",
            "{\r\n    \"a\": [1, 2],\r\n    \"mcpServers\": {\r\n        \"o\": {}\r\n    }\r\n}\r\n",
            "{\"mcpServers\":{\"o\":{\"a\":\"}\"}},\"b\":2}",
            "// mine\n{\n  /* all */ \"x\": \"// no\",\n  \"mcpServers\": {\n    \"o\": {}, // keep\n  },\n}\n",
            "{\n  \"mcpServers\": {\n    \"o\": {} // keep\n  }\n}\n",
            "{\n  \"mcpServers\": {\n    \"o\": { \"a\": \"x\\\" } // , \\\\\" }\n  }\n}\n",
            "\u{feff}{\n  \"mcpServers\": {\n    \"o\": {}\n  }\n}\n",
        ] {
            add_and_remove(text);
        }
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
        ] {
            assert!(put(text, "mcpServers", "lukasa", &entry()).is_err(), "{text}");
        }
    }
}
