//! The files of a vault that are only read: portraits and, on request, conversations.
//!
//! A portrait ends with a digest of its text: without a match it was edited, and with one it is at most
//! older than the memory. Conversations are not synced at all.

use sha2::{Digest, Sha256};

use super::render::day;
use super::{File, line};
use crate::domain;
use crate::portrait::Portrait;
use crate::session::{Session, Turn};
use crate::time::Timestamp;

const INTRODUCTION: &str = "> Made from your memories. Read-only: edit the memories it cites.";

/// The file of a conversation is named after at most this many characters of its title.
const MAX_TITLE_CHARS: usize = 30;

/// Whether the file at this path is a portrait.
pub fn is_portrait(path: &str) -> bool {
    let name = path.strip_prefix("portraits/").and_then(|name| name.strip_suffix(".md"));
    name.is_some_and(|name| match name.strip_prefix("domain-") {
        Some(name) => domain::is_name(name),
        None => ["profile", "procedures", "active_context"].contains(&name),
    })
}

/// The portraits as files; those without sentences have none.
pub fn portrait_files<'a>(portraits: impl Iterator<Item = &'a Portrait>) -> Vec<File> {
    portraits.filter(|portrait| !portrait.sentences.is_empty()).map(portrait_file).collect()
}

fn portrait_file(portrait: &Portrait) -> File {
    let path = format!("portraits/{}.md", portrait.name.to_string().replace(':', "-"));
    let markdown = portrait.markdown();
    let (title, rest) = markdown.split_once('\n').unwrap_or((markdown.as_str(), ""));
    let text = format!("{title}\n\n{INTRODUCTION}\n{rest}");
    File { content: format!("{text}\n{}\n", digest_line(&text)), path }
}

/// Whether the file of a portrait has another text than was written. White space at the ends of lines
/// does not count.
pub(super) fn is_edited(content: &str) -> bool {
    let content = content.strip_prefix('\u{feff}').unwrap_or(content).trim_end();
    let (text, last) = content.rsplit_once('\n').unwrap_or(("", content));
    last != digest_line(text)
}

/// The last line of a portrait, which markdown readers do not show.
fn digest_line(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().map(str::trim_end).collect();
    format!("<!-- lukasa {} -->", digest(&lines.join("\n")))
}

/// Twelve digits of the SHA-256 of a text.
fn digest(text: &str) -> String {
    const DIGEST_BYTES: usize = 6;
    let hash = Sha256::digest(text.as_bytes());
    hex::encode(&hash[..DIGEST_BYTES])
}

/// Whether the file at this path is a conversation, or the list of what was left out of them.
pub fn is_conversation(path: &str) -> bool {
    let Some(rest) = path.strip_prefix("conversations/") else { return false };
    let Some((month, name)) = rest.split_once('/') else { return rest == "README.md" };
    let is_plain = |letter: char| letter.is_alphanumeric() || matches!(letter, ' ' | '-');
    let is_name = |name: &str| !name.trim().is_empty() && name.chars().all(is_plain);
    month.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        && !month.is_empty()
        && name.strip_suffix(".md").is_some_and(is_name)
}

/// Conversations as files, up to a number of them and of bytes. They are added from the latest to the
/// earliest, with the words that may be shown.
#[derive(Debug)]
pub struct ConversationFiles {
    files: Vec<File>,
    max_files: usize,
    max_bytes: usize,
    bytes: usize,
    /// The last turn of the first conversation that did not fit.
    cut_at: Option<Timestamp>,
}

impl ConversationFiles {
    pub fn up_to(max_files: usize, max_bytes: usize) -> Self {
        Self { files: Vec::new(), max_files, max_bytes, bytes: 0, cut_at: None }
    }

    /// How many bytes are left.
    pub fn bytes_left(&self) -> usize {
        self.max_bytes - self.bytes
    }

    /// Adds a conversation, unless it has no turns. Returns false if it does not fit; then it and all
    /// earlier ones are left out.
    pub fn add(&mut self, session: &Session, turns: &[Turn]) -> bool {
        if self.cut_at.is_some() || turns.is_empty() {
            return self.cut_at.is_none();
        }
        let file = conversation_file(session, turns);
        if self.files.len() == self.max_files || file.content.len() > self.bytes_left() {
            self.cut_at = Some(session.last_turn_at);
            return false;
        }
        self.bytes += file.content.len();
        self.files.push(file);
        true
    }

    /// The files, with one that says what was left out.
    pub fn finish(mut self) -> Vec<File> {
        if self.files.is_empty() && self.cut_at.is_none() {
            return self.files;
        }
        let count = self.files.len();
        let mut content = format!(
            "# Conversations\n\n> Read-only. A sync neither sends nor changes these files.\n\n\
             Conversations here: {count}.\n"
        );
        if let Some(at) = self.cut_at {
            content.push_str(&format!(
                "\nLeft out: the conversation whose last turn was at {at}, and all earlier ones. This \
                 folder has up to {} conversations and {} bytes; `lukasa export` has all of them.\n",
                self.max_files, self.max_bytes
            ));
        }
        self.files.push(File { path: "conversations/README.md".to_owned(), content });
        self.files
    }
}

fn conversation_file(session: &Session, turns: &[Turn]) -> File {
    let day = day(session.opened_at);
    let month = day.rsplit_once('-').map_or("undated", |(month, _)| month);
    let named = session.title.as_deref().map(file_name).filter(|name| !name.is_empty());
    let name = named.unwrap_or_else(|| file_name(&session.id));
    let title = session.title.as_deref().unwrap_or("A conversation");
    // Two conversations may have the same title.
    let path = format!("conversations/{month}/{day} {name} {}.md", digest(&session.id));
    let mut content = format!(
        "# {}\n\n> Session {}. Read-only, and not synced.\n",
        line::encode(title),
        line::encode(&session.id)
    );
    for turn in turns {
        let speaker = turn.speaker.as_deref().unwrap_or(turn.role.as_str());
        let speaker = line::encode(speaker);
        content.push_str(&format!("\n## {}. {speaker}, {}\n\n", turn.number, turn.said_at));
        // As a quotation, so that no words of a turn look like another turn.
        for line in turn.content.replace("\r\n", "\n").split(['\n', '\r']) {
            content.push_str(format!("> {line}").trim_end());
            content.push('\n');
        }
    }
    File { path, content }
}

/// A title as a part of a file name: letters and digits, with hyphens between the words.
fn file_name(title: &str) -> String {
    let mut name = String::new();
    for letter in title.chars() {
        if name.chars().count() >= MAX_TITLE_CHARS {
            break;
        }
        if letter.is_alphanumeric() {
            name.extend(letter.to_lowercase().filter(|letter| letter.is_alphanumeric()));
        } else if !name.is_empty() && !name.ends_with('-') {
            name.push('-');
        }
    }
    name.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Ids;
    use crate::origin::Origin;
    use crate::portrait::{PlacedSentence, PortraitName};
    use crate::sentence::Sentence;
    use crate::session::Role;
    use crate::vault::{Home, read};

    fn portrait(name: PortraitName, text: &str) -> Portrait {
        let facts = vec!["mem_01hx3v9d0kf7rtm4q5wz8yb2ca".parse().unwrap()];
        let sentence = Sentence { text: text.to_owned(), facts };
        let placed = PlacedSentence { section: "fact".to_owned(), is_stated: true, sentence };
        Portrait { name, sentences: vec![placed], tokens: 0, left_out: Vec::new() }
    }

    #[test]
    fn vault_portrait_is_read_only_and_its_edit_is_a_problem() {
        let mut empty = portrait(PortraitName::Procedures, "x");
        empty.sentences.clear();
        let food = portrait(PortraitName::Domain("food".to_owned()), "Likes tea.");
        let all = [portrait(PortraitName::Profile, "Lives in Lisbon."), empty, food];
        let mut files = portrait_files(all.iter());
        files.sort_by(|one, two| one.path.cmp(&two.path));
        let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["portraits/domain-food.md", "portraits/profile.md"]);
        assert!(files.iter().all(|f| is_portrait(&f.path) && Home::at(&f.path).is_none()));
        let text = &files[1].content;
        assert!(text.starts_with("# Profile\n\n> Made from your memories."), "{text}");
        assert!(text.contains("- You told me: Lives in Lisbon. [1]\n"), "{text}");
        assert!(text.contains("[1]: mem_01hx3v9d0kf7rtm4q5wz8yb2ca\n"), "{text}");
        assert!(read(&files).problems.is_empty());
        files[1].content = text.replace('\n', "\r\n").trim_end().to_owned();
        assert!(read(&files).problems.is_empty(), "other line ends, no last one");
        files[1].content = files[1].content.replace("Lisbon", "Faro");
        let parsed = read(&files);
        let [problem] = &parsed.problems[..] else { panic!("one problem: {parsed:?}") };
        assert!(problem.what.starts_with("read-only: edit the memories"), "{problem:?}");
        assert_eq!(problem.file, "portraits/profile.md");
        assert_eq!(parsed.edited_portraits, [files[1].clone()]);
        assert!(parsed.entries.is_empty() && parsed.notes.is_empty());
        for path in ["portraits/x.md", "portraits/domain-.md", "portraits/domain-../x.md"] {
            assert!(!is_portrait(path), "{path}");
        }
    }

    fn turn(number: i32, content: &str) -> Turn {
        let at = Timestamp::UNIX_EPOCH;
        Turn {
            id: Ids::new(at, [7; 16]).turn(),
            session: "s".to_owned(),
            number,
            role: Role::User,
            speaker: None,
            content: content.to_owned(),
            origin: Origin::UserTurn,
            said_at: at,
            recorded_at: at,
            spans: Vec::new(),
            marked: false,
        }
    }

    #[test]
    fn vault_conversations_are_limited_and_say_what_was_left_out() {
        let talk = |id: &str, title| Session::opened(id, title, Timestamp::UNIX_EPOCH);
        let mut all = ConversationFiles::up_to(10, 400);
        let moving = talk("a/../b", Some("Moving: to Faro?"));
        assert!(all.add(&moving, &[turn(1, "Hello\n## 2. user\r\n\rx")]));
        assert!(all.add(&talk("no turns", None), &[]));
        assert!(!all.add(&talk("long", None), &[turn(1, &"x".repeat(400))]));
        assert!(!all.add(&talk("short", None), &[turn(1, "x")]), "nor any earlier one");
        let files = all.finish();
        let [file, about] = &files[..] else { panic!("two files: {files:?}") };
        assert!(file.path.starts_with("conversations/1970-01/1970-01-01 moving-to-faro "));
        assert!(file.content.starts_with("# Moving: to Faro?\n"), "{}", file.content);
        let quoted = "\n## 1. user, 1970-01-01T00:00:00Z\n\n> Hello\n> ## 2. user\n>\n> x\n";
        assert!(file.content.ends_with(quoted), "{}", file.content);
        assert!(about.content.contains("Conversations here: 1."), "{}", about.content);
        assert!(about.content.contains("Left out: ") && about.content.contains(" 400 bytes"));
        assert!(files.iter().all(|file| is_conversation(&file.path)), "{files:?}");
        let mut one = ConversationFiles::up_to(1, 4_000);
        assert!(one.add(&talk("a", None), &[turn(1, "x")]));
        assert!(!one.add(&talk("b", None), &[turn(1, "x")]));
        assert!(ConversationFiles::up_to(1, 1).finish().is_empty());
        for path in [
            "conversations/x.md",
            "conversations/../x.md",
            "conversations/1970-01/../x.md",
            "conversations//x.md",
            "conversations/1970-01/.x.md",
        ] {
            assert!(!is_conversation(path), "{path}");
        }
    }
}
