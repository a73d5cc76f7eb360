//! The vault for an assistant with a file tool: six commands on paths under `/memories`, and the
//! answers such a tool is expected to give. Each edits the text of the files; the plan interprets
//! the edit, as for any other editor.

use std::collections::BTreeMap;

use super::{BASE, File, Home, as_bullets};

/// The root that every path begins with.
const ROOT: &str = "/memories";

/// Maximum number of lines that are named if the text to replace is not unique.
const MAX_SHOWN_LINES: usize = 20;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    View { path: String, range: Option<(i64, i64)> },
    Create { path: String, text: String },
    Replace { path: String, old: String, new: String },
    Insert { path: String, line: i64, text: String },
    Delete { path: String },
    Rename { from: String, to: String },
}

impl Command {
    pub fn is_read_only(&self) -> bool {
        matches!(self, Command::View { .. })
    }

    /// The paths that it names, below the root.
    pub fn paths(&self) -> Vec<String> {
        let named = match self {
            Command::View { path, .. }
            | Command::Create { path, .. }
            | Command::Replace { path, .. }
            | Command::Insert { path, .. }
            | Command::Delete { path } => vec![path],
            Command::Rename { from, to } => vec![from, to],
        };
        named.into_iter().filter_map(|path| relative_path(path)).collect()
    }

    /// Whether it is about the file at this path. The others change neither its answer nor its effect.
    pub fn is_about(&self, path: &str) -> bool {
        let paths = self.paths();
        match self {
            Command::View { .. } => paths.iter().any(|named| is_inside(path, named)),
            Command::Delete { .. } => {
                paths.iter().any(|named| !named.is_empty() && is_inside(path, named))
            }
            _ => paths.iter().any(|named| named == path),
        }
    }

    /// Runs the command on the files and returns the tool's answer or error.
    pub fn run(&self, files: &mut Vec<File>) -> Result<String, String> {
        match self {
            Command::View { path, range } => view(files, path, *range),
            Command::Create { path, text } => {
                let inside = writable(path)?;
                if files.iter().any(|file| file.path == inside) {
                    return Err(format!("Error: File {path} already exists"));
                }
                let content = listed(&inside, text);
                files.push(File { path: inside, content });
                Ok(format!("File created successfully at: {path}"))
            }
            Command::Replace { path, old, new } => replace(files, path, old, new),
            Command::Insert { path, line, text } => insert(files, path, *line, text),
            Command::Delete { path } => delete(files, path),
            Command::Rename { from, to } => rename(files, from, to),
        }
    }
}

fn missing(path: &str) -> String {
    format!("The path {path} does not exist. Please provide a valid path.")
}

/// The path below the root; `None` if it leads out of it or is hidden.
fn relative_path(path: &str) -> Option<String> {
    let rest = path.strip_prefix(ROOT)?;
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    if rest.is_empty() {
        return Some(String::new());
    }
    let rest = rest.strip_prefix('/')?;
    let plain = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.contains('\\');
    rest.split('/').all(plain).then(|| rest.to_owned())
}

fn writable(path: &str) -> Result<String, String> {
    let inside = relative_path(path).filter(|inside| Home::at(inside).is_some());
    inside.ok_or_else(|| {
        format!(
            "Error: {path} is not kept. Memories are kept in {ROOT}/profile.md, \
             {ROOT}/procedures.md, {ROOT}/active_context.md and {ROOT}/domains/<name>.md"
        )
    })
}

/// An assistant's text with one memory per line.
fn listed(path: &str, text: &str) -> String {
    Home::at(path).map_or_else(|| text.to_owned(), |home| as_bullets(text, &home))
}

fn find<'a>(files: &'a mut [File], path: &str) -> Result<&'a mut File, String> {
    let inside = relative_path(path).unwrap_or_default();
    let file = files.iter_mut().find(|file| file.path == inside && file.path != BASE);
    file.ok_or_else(|| format!("Error: {}", missing(path)))
}

fn numbered<'a>(lines: impl Iterator<Item = (usize, &'a str)>) -> String {
    lines.map(|(at, line)| format!("{at:>6}\t{line}")).collect::<Vec<_>>().join("\n")
}

fn view(files: &[File], path: &str, range: Option<(i64, i64)>) -> Result<String, String> {
    let inside = relative_path(path).ok_or_else(|| missing(path))?;
    if let Some(file) = files.iter().find(|file| file.path == inside) {
        let lines = file.content.lines().enumerate().map(|(at, line)| (at + 1, line));
        let (first, last) = range.unwrap_or((1, -1));
        let from = usize::try_from(first).unwrap_or(1);
        let to = usize::try_from(last).unwrap_or(usize::MAX);
        let shown = numbered(lines.filter(|(at, _)| (from..=to).contains(at)));
        return Ok(format!("Here's the content of {path} with line numbers:\n{shown}"));
    }
    let files: Vec<(String, usize)> =
        files.iter().map(|file| (file.path.clone(), file.content.len())).collect();
    list_folder(&files, path)
}

/// Whether a file is at this place, or in the folder there.
fn is_inside(path: &str, place: &str) -> bool {
    let below = path.strip_prefix(place);
    place.is_empty() || below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The answer that lists a folder, given the paths and the sizes of the files.
pub fn list_folder(files: &[(String, usize)], path: &str) -> Result<String, String> {
    let inside = relative_path(path).ok_or_else(|| missing(path))?;
    let below = if inside.is_empty() { String::new() } else { format!("{inside}/") };
    let is_listed = |path: &str| path.starts_with(&below) && !path.starts_with('.');
    let files: Vec<_> = files.iter().filter(|(path, _)| is_listed(path)).collect();
    if files.is_empty() {
        return Err(missing(path));
    }
    let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
    let mut add = |path: String, size: usize| *sizes.entry(path).or_default() += size;
    let root = format!("{ROOT}/{below}").trim_end_matches('/').to_owned();
    for (file, size) in files {
        add(root.clone(), *size);
        let rest = &file[below.len()..];
        for (at, _) in rest.match_indices('/') {
            add(format!("{root}/{}", &rest[..at]), *size);
        }
        add(format!("{root}/{rest}"), *size);
    }
    let line = |(path, size): (&String, &usize)| format!("{}\t{path}", readable(*size));
    let lines = sizes.iter().map(line).collect::<Vec<_>>().join("\n");
    Ok(format!(
        "Here're the files and directories up to 2 levels deep in {path}, excluding hidden items \
         and node_modules:\n{lines}"
    ))
}

/// A human-readable size.
fn readable(bytes: usize) -> String {
    match bytes {
        0..1_024 => format!("{bytes}"),
        1_024..1_048_576 => format!("{}.{}K", bytes / 1_024, bytes % 1_024 * 10 / 1_024),
        _ => format!("{}.{}M", bytes / 1_048_576, bytes % 1_048_576 * 10 / 1_048_576),
    }
}

/// The lines in which a text occurs, from one: those of its first places, up to one more than are shown.
fn lines_with(content: &str, text: &str) -> Vec<usize> {
    let (mut line, mut counted) = (1, 0);
    let line_at = |(at, _): (usize, &str)| {
        line += content[counted..at].matches('\n').count();
        counted = at;
        line
    };
    content.match_indices(text).take(MAX_SHOWN_LINES + 1).map(line_at).collect()
}

fn replace(files: &mut [File], path: &str, old: &str, new: &str) -> Result<String, String> {
    let file = find(files, path)?;
    writable(path)?;
    if old.is_empty() {
        return Err("Error: `old_str` must not be empty".to_owned());
    }
    let first = match lines_with(&file.content, old)[..] {
        [] => {
            return Err(format!(
                "No replacement was performed, old_str `{old}` did not appear verbatim in {path}."
            ));
        }
        [line] => line,
        ref several => {
            let shown = several.iter().take(MAX_SHOWN_LINES).map(usize::to_string);
            let lines = shown.collect::<Vec<_>>().join(", ");
            let more = if several.len() > MAX_SHOWN_LINES { " and more" } else { "" };
            return Err(format!(
                "No replacement was performed. Multiple occurrences of old_str `{old}` in lines: \
                 {lines}{more}. Please ensure it is unique"
            ));
        }
    };
    let edited = file.content.replacen(old, new, 1);
    file.content = listed(&file.path, &edited);
    let last = first + new.matches('\n').count();
    let around = file.content.lines().enumerate().map(|(at, line)| (at + 1, line));
    let around = around.filter(|(at, _)| *at + 2 >= first && *at <= last + 2);
    Ok(format!("The memory file has been edited.\n{}", numbered(around)))
}

fn insert(files: &mut [File], path: &str, at: i64, text: &str) -> Result<String, String> {
    let file = find(files, path)?;
    writable(path)?;
    let mut lines: Vec<&str> = file.content.lines().collect();
    let place = usize::try_from(at).ok().filter(|at| *at <= lines.len()).ok_or_else(|| {
        format!(
            "Error: Invalid `insert_line` parameter: {at}. It should be within the range of lines of \
             the file: [0, {}]",
            lines.len()
        )
    })?;
    lines.insert(place, text.strip_suffix('\n').unwrap_or(text));
    file.content = listed(&file.path, &(lines.join("\n") + "\n"));
    Ok(format!("The file {path} has been edited."))
}

fn delete(files: &mut Vec<File>, path: &str) -> Result<String, String> {
    let inside = relative_path(path).ok_or_else(|| format!("Error: {}", missing(path)))?;
    if inside.is_empty() {
        return Err(format!("Error: The {ROOT} directory itself cannot be deleted"));
    }
    let folder = format!("{inside}/");
    let is_deleted = |file: &File| file.path == inside || file.path.starts_with(&folder);
    if !files.iter().any(is_deleted) {
        return Err(format!("Error: The path {path} does not exist"));
    }
    if files.iter().filter(|file| is_deleted(file)).any(|file| Home::at(&file.path).is_none()) {
        return Err(format!("Error: {path} is only shown here and cannot be deleted"));
    }
    files.retain(|file| !is_deleted(file));
    Ok(format!("Successfully deleted {path}"))
}

fn rename(files: &mut [File], from: &str, to: &str) -> Result<String, String> {
    let target = writable(to)?;
    if files.iter().any(|file| file.path == target) {
        return Err(format!("Error: The destination {to} already exists"));
    }
    let missing = || format!("Error: The path {from} does not exist");
    let file = find(files, from).map_err(|_| missing())?;
    writable(from)?;
    file.path = target;
    Ok(format!("Successfully renamed {from} to {to}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Vec<File> {
        let file = |path: &str, content: &str| File { path: path.into(), content: content.into() };
        vec![
            file("domains/food.md", "# Food\n\n- Likes tea\n"),
            file("episodes/2026-01.md", "# What happened\n"),
            file("profile.md", "# Profile\n\n- Lives in Lisbon\n- Lives well\n"),
            file(BASE, "{}\n"),
        ]
    }

    fn run(files: &mut Vec<File>, command: &Command) -> Result<String, String> {
        command.run(files)
    }

    #[test]
    fn vault_view_command_lists_files_and_lines() {
        let look = |path: &str, range| {
            let command = Command::View { path: path.into(), range };
            command.run(&mut files())
        };
        let list = look("/memories", None).unwrap();
        assert!(
            list.contains("\t/memories/domains/food.md\n") && !list.contains("lukasa"),
            "{list}"
        );
        assert!(look("/memories/domains", None).unwrap().contains("\t/memories/domains/food.md"));
        let file = look("/memories/profile.md", Some((3, 3))).unwrap();
        assert!(file.ends_with("line numbers:\n     3\t- Lives in Lisbon"), "{file}");
        for path in [
            "/memories/none.md",
            "/memories/.lukasa/base.jsonl",
            "/etc/passwd",
            "/memories/../etc",
            "/memoriesx",
            "/memories/x\\..\\y",
        ] {
            assert_eq!(look(path, None), Err(missing(path)), "{path}");
        }
    }

    #[test]
    fn vault_replace_names_at_most_twenty_lines() {
        let mut files = vec![File { path: "profile.md".into(), content: "- a a\n".repeat(30) }];
        let replace = Command::Replace {
            path: "/memories/profile.md".into(),
            old: "a".into(),
            new: "b".into(),
        };
        let answer = replace.run(&mut files).unwrap_err();
        let lines: Vec<String> = (0..MAX_SHOWN_LINES).map(|at| (at / 2 + 1).to_string()).collect();
        assert!(
            answer.contains(&format!("in lines: {} and more. Please", lines.join(", "))),
            "{answer}"
        );
        files[0].content = "- a\n".repeat(MAX_SHOWN_LINES);
        let answer = replace.run(&mut files).unwrap_err();
        assert!(answer.contains(", 19, 20. Please"), "{answer}");
    }

    #[test]
    fn vault_edit_commands_answer_like_the_file_tool() {
        let mut files = files();
        let path = || "/memories/profile.md".to_owned();
        let replace = |old: &str, new: &str| Command::Replace {
            path: path(),
            old: old.into(),
            new: new.into(),
        };
        let twice = run(&mut files, &replace("Lives", "Stays")).unwrap_err();
        assert!(twice.contains("in lines: 3, 4. Please"), "{twice}");
        assert!(run(&mut files, &replace("Porto", "")).unwrap_err().contains("verbatim"));
        let done = run(&mut files, &replace("Lisbon", "Faro")).unwrap();
        assert!(done.contains("     3\t- Lives in Faro"), "{done}");
        let insert = |line| Command::Insert { path: path(), line, text: "Speaks Danish".into() };
        assert!(run(&mut files, &insert(9)).unwrap_err().contains("[0, 4]"));
        run(&mut files, &insert(4)).unwrap();
        assert!(files[2].content.ends_with("- Lives well\n- Speaks Danish\n"));
        let create = |path: &str| Command::Create { path: path.into(), text: "A note".into() };
        assert!(run(&mut files, &create("/memories/profile.md")).unwrap_err().contains("already"));
        assert!(run(&mut files, &create("/memories/notes.txt")).unwrap_err().contains("not kept"));
        run(&mut files, &create("/memories/domains/work.md")).unwrap();
        assert_eq!(files[4].content, "- A note");
        let rename = |from: &str, to: &str| Command::Rename { from: from.into(), to: to.into() };
        let (food, work) = ("/memories/domains/food.md", "/memories/domains/work.md");
        assert!(run(&mut files, &rename(food, work)).unwrap_err().contains("already exists"));
        run(&mut files, &rename(food, "/memories/domains/travel.md")).unwrap();
        for path in [
            "/memories",
            "/memories/episodes",
            "/memories/episodes/2026-01.md",
            "/memories/.lukasa/base.jsonl",
            "/memories/none.md",
        ] {
            assert!(run(&mut files, &Command::Delete { path: path.into() }).is_err(), "{path}");
        }
        run(&mut files, &Command::Delete { path: "/memories/domains".into() }).unwrap();
        let left: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(left, ["episodes/2026-01.md", "profile.md", BASE]);
    }
}
