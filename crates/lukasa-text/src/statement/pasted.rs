//! Text in a message that the user does not state: pasted dialogues and mails, and texts that the
//! assistant is asked to work on or to write.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::StatementKind;
use super::request;
use super::sentence::Sentence;
use crate::lexicon::lexicon;
use crate::screen::phrase::{Phrases, fold};

/// "User", "Assistant", "Subject" and the like, before a colon at the start of a line.
static SPEAKERS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let labels = lexicon!("statement/speakers", mul).into_iter();
    labels.map(|label| fold(&label)).collect()
});
/// "Translate", "Summarize this": a text follows that is not about the user.
static TEXT_TASKS: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), lexicon!("statement/text_tasks", en de fr es it pt nl pl ru zh ja ko))])
});
/// "Write a poem": orders that follow are about the poem.
static WRITING_TASKS: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([((), lexicon!("statement/writing_tasks", en de fr es it pt nl pl ru zh ja ko))])
});

/// What the sentences of a message so far say about the next ones.
#[derive(Debug, Default)]
pub(super) struct MessageContext {
    follows_text_task: bool,
    follows_writing_task: bool,
}

impl MessageContext {
    /// Takes note of a sentence.
    pub fn add(&mut self, sentence: &Sentence) {
        let begins = |tasks: &Phrases<()>| {
            let start = sentence.clause_start();
            sentence.matches(tasks).iter().any(|found| found.start <= start)
        };
        self.follows_text_task |= begins(&TEXT_TASKS) || announces_text(sentence);
        self.follows_writing_task |= begins(&WRITING_TASKS);
    }

    /// Whether a statement of this kind can be the user's own at this place.
    pub fn allows(&self, kind: StatementKind) -> bool {
        let is_about_text = self.follows_writing_task && kind == StatementKind::Rule;
        !self.follows_text_task && !is_about_text
    }
}

/// Whether a sentence ends its line with a colon, so that a text follows: "Here is her mail:". A
/// request to remember announces what the user states.
fn announces_text(sentence: &Sentence) -> bool {
    let behind = &sentence.text[sentence.at.end.min(sentence.text.len())..];
    let ends_line = behind.trim_start_matches([' ', '\t', '\r']).starts_with('\n');
    let own = &sentence.text[sentence.at.clone()];
    ends_line && own.ends_with([':', '：']) && !request::asks_to_remember(sentence)
}

/// Whether a line begins with the label of a speaker or a mail header: then the message is a pasted
/// dialogue or mail.
pub(super) fn is_dialogue(text: &str) -> bool {
    const MAX_LABEL_CHARS: usize = 24;
    text.lines().any(|line| {
        let line = line.trim_start_matches(|c: char| !c.is_alphanumeric());
        let label = line.char_indices().take(MAX_LABEL_CHARS + 1);
        let mut ends = label.filter(|(_, c)| [':', '：'].contains(c)).map(|(at, _)| at);
        ends.next().is_some_and(|end| {
            let label = line[..end].trim().trim_end_matches(['*', ']', ')', '_']);
            SPEAKERS.contains(&fold(label))
        })
    })
}
