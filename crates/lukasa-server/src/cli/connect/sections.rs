//! Adds or removes one section of another program's TOML or YAML file as lines. Everything else stays
//! byte for byte. A section in another than the block form is not changed.

use anyhow::{Context as _, bail, ensure};

/// A TOML file with the section set. `lines` are its lines without the heading.
pub fn put_toml(text: &str, section: &str, lines: &[String]) -> anyhow::Result<String> {
    parse(text)?;
    let bare = take_toml(text, section)?.unwrap_or_else(|| text.to_owned());
    let line = line_end(text);
    let mut new = bare.clone();
    if !new.is_empty() && !new.ends_with('\n') {
        new.push_str(line);
    }
    if !new.is_empty() {
        new.push_str(line);
    }
    new.push_str(&format!("[{section}]{line}"));
    for own in lines {
        new.push_str(&format!("{own}{line}"));
    }
    parse(&new).context("the section could not be added")?;
    Ok(new)
}

/// A TOML file without the section; `None` if the file does not have it.
pub fn take_toml(text: &str, section: &str) -> anyhow::Result<Option<String>> {
    let document = parse(text)?;
    let mut item = Some(document.as_item());
    for part in section.split('.') {
        item = item.and_then(|item| item.get(part));
    }
    if item.is_none() {
        return Ok(None);
    }
    let heading = format!("[{section}]");
    let below = format!("[{section}.");
    let mut kept: Vec<&str> = Vec::new();
    let (mut inside, mut found) = (false, false);
    for own in text.split_inclusive('\n') {
        let start = own.trim_start();
        if start.starts_with('[') {
            inside = start.starts_with(&heading) || start.starts_with(&below);
            // The empty line before it was added with it.
            if inside && !found && kept.last().is_some_and(|last| last.trim().is_empty()) {
                kept.pop();
            }
            found |= inside;
        }
        if !inside {
            kept.push(own);
        }
    }
    ensure!(found, "`{section}` in the file is not written as its own section");
    let new = kept.concat();
    parse(&new).context("the section could not be removed")?;
    Ok(Some(new))
}

fn parse(text: &str) -> anyhow::Result<toml_edit::DocumentMut> {
    text.parse::<toml_edit::DocumentMut>().context("the file is not valid TOML")
}

fn line_end(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

/// A YAML file with `section.name` set. `lines` are the lines of the entry.
pub fn put_yaml(text: &str, section: &str, name: &str, lines: &[String]) -> anyhow::Result<String> {
    let bare = take_yaml(text, section, name)?.unwrap_or_else(|| text.to_owned());
    let line = line_end(text);
    let heading = format!("{section}:");
    let mut all: Vec<String> = bare.split_inclusive('\n').map(str::to_owned).collect();
    let at = all.iter().position(|own| own.starts_with(&heading));
    let block = |indent: &str| {
        let mut block = format!("{indent}{name}:{line}");
        for own in lines {
            block.push_str(&format!("{indent}  {own}{line}"));
        }
        block
    };
    let Some(at) = at else {
        let mut new = bare.clone();
        if !new.is_empty() && !new.ends_with('\n') {
            new.push_str(line);
        }
        new.push_str(&format!("{heading}{line}{}", block("  ")));
        return Ok(new);
    };
    match all[at][heading.len()..].trim() {
        "" => {}
        "{}" => all[at] = format!("{heading}{line}"),
        other if other.starts_with('#') => {}
        _ => bail!("`{section}` in the file is written on one line"),
    }
    let below = all[at + 1..].iter().find(|own| is_content(own));
    let indent = below.map(|own| blank(own)).filter(|blank| !blank.is_empty()).unwrap_or("  ");
    let block = block(indent);
    if !all[at].ends_with('\n') {
        all[at].push_str(line);
    }
    all.insert(at + 1, block);
    Ok(all.concat())
}

/// A YAML file without `section.name`; `None` if the file does not have it.
pub fn take_yaml(text: &str, section: &str, name: &str) -> anyhow::Result<Option<String>> {
    let heading = format!("{section}:");
    let all: Vec<&str> = text.split_inclusive('\n').collect();
    ensure!(!all.iter().any(|own| own.starts_with('\t')), "the file is indented with tabs");
    let Some(at) = all.iter().position(|own| own.starts_with(&heading)) else { return Ok(None) };
    let inside = |own: &&&str| !is_content(own) || !blank(own).is_empty();
    let end = at + 1 + all[at + 1..].iter().take_while(inside).count();
    let key = format!("{name}:");
    let Some(from) = (at + 1..end).find(|i| all[*i].trim_start().starts_with(&key)) else {
        return Ok(None);
    };
    let depth = blank(all[from]).len();
    let deeper = |own: &&&str| is_content(own) && blank(own).len() > depth;
    let until = from + 1 + all[from + 1..end].iter().take_while(deeper).count();
    Ok(Some([all[..from].concat(), all[until..].concat()].concat()))
}

fn is_content(line: &str) -> bool {
    let own = line.trim();
    !own.is_empty() && !own.starts_with('#')
}

fn blank(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches(' ').len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn toml_section_is_added_and_removed() {
        let lines = ["command = \"lukasa\"".to_owned(), "args = [\"mcp\"]".to_owned()];
        for text in [
            "",
            "# mine\nmodel = \"x\" # here\n",
            "a = 1\n\n[mcp_servers.other]\ncommand = \"o\"\n",
        ] {
            let with = put_toml(text, "mcp_servers.lukasa", &lines).unwrap();
            assert!(
                with.starts_with(text) && with.contains("[mcp_servers.lukasa]\ncommand"),
                "{with}"
            );
            assert_eq!(take_toml(&with, "mcp_servers.lukasa").unwrap().unwrap(), text);
            assert_eq!(
                put_toml(&with, "mcp_servers.lukasa", &lines).unwrap(),
                with,
                "it is idempotent"
            );
        }
        assert!(put_toml("a = ", "s", &lines).is_err());
        assert!(put_toml("mcp_servers = { lukasa = {} }", "mcp_servers.lukasa", &lines).is_err());
    }

    #[test]
    fn yaml_entry_is_added_and_removed() {
        let lines = ["enabled: true".to_owned(), "cmd: lukasa".to_owned()];
        for text in [
            "GOOSE_MODEL: x\nextensions:\n  developer:\n    enabled: true # yes\n    name: d\nlast: 1\n",
            "extensions:\n    a:\n        b: 1\n",
            "extensions:\n",
        ] {
            let with = put_yaml(text, "extensions", "lukasa", &lines).unwrap();
            assert!(with.contains("lukasa:\n"), "{with}");
            assert_eq!(take_yaml(&with, "extensions", "lukasa").unwrap().unwrap(), text, "{with}");
            assert_eq!(
                put_yaml(&with, "extensions", "lukasa", &lines).unwrap(),
                with,
                "it is idempotent"
            );
        }
        let new = put_yaml("a: 1", "extensions", "lukasa", &lines).unwrap();
        assert_eq!(new, "a: 1\nextensions:\n  lukasa:\n    enabled: true\n    cmd: lukasa\n");
        assert!(put_yaml("extensions: {a: 1}\n", "extensions", "lukasa", &lines).is_err());
    }
}
