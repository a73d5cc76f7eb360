//! Who really said what. A turn is cut into pieces, each with the origin of its words: what its
//! sender typed, and what they pasted, quoted or had prefilled for them. Lukasa's own block is taken
//! out, so that nothing is learned from what was remembered already; secrets are blanked out.
//!
//! A quotation counts only where it literally stands. Whoever cites says which turn they mean, and is
//! not believed.

use unicode_normalization::UnicodeNormalization;

use crate::id::TurnId;
use crate::origin::Origin;
use crate::screen::{own, secret};
use crate::session::{Mark, Role, Span, Turn};
use crate::time::Timestamp;

/// A stretch of a turn with one origin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    pub text: String,
    pub origin: Origin,
    pub mark: Option<Mark>,
}

/// A turn as it may be learned from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub turn: TurnId,
    pub number: i32,
    pub role: Role,
    pub speaker: Option<String>,
    pub origin: Origin,
    pub said_at: Timestamp,
    pub pieces: Vec<Piece>,
}

/// A stretch of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transcript {
    pub said: Vec<Said>,
    /// The pieces as quotations are compared with them: many quotations, one reading.
    plain: Vec<Vec<Plain>>,
}

/// Where a quotation stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    pub turn: TurnId,
    pub number: i32,
    pub said_at: Timestamp,
    pub origin: Origin,
    /// The words as they were said.
    pub quote: String,
    /// The whole sentences around them.
    pub sentence: String,
}

impl Transcript {
    pub fn of(turns: &[Turn]) -> Self {
        let said: Vec<Said> = turns.iter().map(said).collect();
        let plain = |said: &Said| said.pieces.iter().map(|piece| Plain::of(&piece.text)).collect();
        let plain = said.iter().map(plain).collect();
        Self { said, plain }
    }

    /// The most trusted place where the quotation stands, if it stands anywhere.
    pub fn find(&self, quote: &str) -> Option<Found> {
        let wanted = Plain::of(quote).text.replace('\n', " ");
        if wanted.trim().is_empty() {
            return None;
        }
        let mut best: Option<Found> = None;
        for (said, plain) in self.said.iter().zip(&self.plain) {
            for (piece, plain) in said.pieces.iter().zip(plain) {
                let better = best.as_ref().is_none_or(|found| piece.origin > found.origin);
                if !better {
                    continue;
                }
                if let Some((quote, sentence)) = plain.around(&wanted) {
                    let (quote, sentence) =
                        (piece.text[quote].to_owned(), piece.text[sentence].trim().to_owned());
                    best = Some(Found {
                        turn: said.turn,
                        number: said.number,
                        said_at: said.said_at,
                        origin: piece.origin,
                        quote,
                        sentence,
                    });
                }
            }
        }
        best
    }

    /// The origin of whatever is made from all of it.
    pub fn origin(&self) -> Option<Origin> {
        Origin::derived(self.said.iter().flat_map(|said| said.pieces.iter().map(|p| p.origin)))
    }

    /// What there is to ask a model about: what the person typed, and what an import says they did. The
    /// judge believes the latter no further than an import, so it leaves guesses behind at most.
    pub fn told(&self) -> impl Iterator<Item = &str> {
        let handed_in = |said: &Said, piece: &Piece| {
            said.role == Role::User && piece.origin == Origin::Import && piece.mark.is_none()
        };
        self.said.iter().flat_map(move |said| {
            let told = said.pieces.iter();
            let told = told.filter(move |p| p.origin >= Origin::UserTurn || handed_in(said, p));
            told.map(|piece| piece.text.as_str())
        })
    }

    /// What the person typed themselves, in order.
    pub fn typed(&self) -> impl Iterator<Item = &str> {
        let pieces = self.said.iter().flat_map(|said| said.pieces.iter());
        pieces.filter(|piece| piece.origin >= Origin::UserTurn).map(|piece| piece.text.as_str())
    }
}

fn said(turn: &Turn) -> Said {
    let mut pieces = Vec::new();
    let mut cut = |text: &str, mark: Option<Mark>| {
        let text = own::strip(text);
        let text = secret::redact(&text);
        if !text.trim().is_empty() {
            let origin = mark.map_or(turn.origin, |_| turn.origin.min(Origin::Document));
            pieces.push(Piece { text: text.into_owned(), origin, mark });
        }
    };
    let mut spans = turn.spans.clone();
    if !turn.marked && spans.is_empty() && turn.role == Role::User {
        spans = borrowed(&turn.content);
    }
    spans.sort_by_key(|span| span.from);
    let bytes: Vec<usize> = turn.content.char_indices().map(|(at, _)| at).collect();
    let byte = |char: usize| bytes.get(char).copied().unwrap_or(turn.content.len());
    let mut at = 0;
    for span in spans {
        let (from, to) = (byte(span.from).max(at), byte(span.to));
        if from >= to {
            continue;
        }
        cut(&turn.content[at..from], None);
        cut(&turn.content[from..to], Some(span.mark));
        at = to;
    }
    cut(&turn.content[at..], None);
    Said {
        turn: turn.id,
        number: turn.number,
        role: turn.role,
        speaker: turn.speaker.clone(),
        origin: turn.origin,
        said_at: turn.said_at,
        pieces,
    }
}

/// A paragraph longer than this is rarely typed into a chat.
const TYPED_CHARS: usize = 700;

/// The stretches of a message that are probably somebody else's words, where its client does not say:
/// quoted lines, code, and paragraphs too long to have been typed.
fn borrowed(text: &str) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    let mut take = |from: usize, to: usize, mark: Mark| match spans.last_mut() {
        Some(last) if last.to >= from && last.mark == mark => last.to = to,
        _ if from < to => spans.push(Span { from, to, mark }),
        _ => {}
    };
    let (mut at, mut code) = (0, false);
    let mut paragraph = (0, 0);
    let end = text.chars().count();
    for line in text.split_inclusive('\n') {
        let (from, to) = (at, at + line.chars().count());
        at = to;
        let trimmed = line.trim();
        let fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        if fence || code || trimmed.starts_with('>') {
            take(from, to, Mark::Quoted);
            code ^= fence;
            paragraph = (to, to);
            continue;
        }
        paragraph.1 = to;
        if trimmed.is_empty() || to == end {
            if paragraph.1 - paragraph.0 > TYPED_CHARS {
                take(paragraph.0, paragraph.1, Mark::Pasted);
            }
            paragraph = (to, to);
        }
    }
    spans
}

/// A text without what a copyist may change: case, kinds of spaces, quotes and dashes. Knows where
/// each of its characters stood.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Plain {
    text: String,
    /// The same with a space for every line's end.
    flat: String,
    /// For each character of `text`, where it began; and at last where all ends.
    at: Vec<usize>,
}

impl Plain {
    fn of(original: &str) -> Self {
        let (mut text, mut at) = (String::new(), Vec::new());
        let mut space: Option<(char, usize)> = None;
        for (byte, c) in original.char_indices() {
            if c.is_whitespace() || c.is_control() {
                let kind = if c == '\n' { '\n' } else { ' ' };
                let kept = space.get_or_insert((kind, byte));
                if kind == '\n' {
                    kept.0 = kind;
                }
                continue;
            }
            if let Some((kind, from)) = space.take().filter(|_| !text.is_empty()) {
                text.push(kind);
                at.push(from);
            }
            let c = match c {
                '’' | '‘' | 'ʼ' | '´' | '`' => '\'',
                '“' | '”' | '„' | '«' | '»' => '"',
                '–' | '—' | '‑' => '-',
                c => c,
            };
            for c in c.nfc().flat_map(char::to_lowercase) {
                text.push(c);
                at.push(byte);
            }
        }
        at.push(original.trim_end().len());
        Self { flat: text.replace('\n', " "), text, at }
    }

    /// The ranges, in the original, of the first place where `wanted` stands and of the sentences
    /// around it. It must stand on its own: half a word is no quotation.
    fn around(&self, wanted: &str) -> Option<(std::ops::Range<usize>, std::ops::Range<usize>)> {
        let (haystack, needle) = (&self.flat, wanted);
        let mut from = 0;
        let found = loop {
            let place = from + haystack[from..].find(needle)?;
            let (before, after) = (&haystack[..place], &haystack[place + needle.len()..]);
            let joined = |a: Option<char>, b: Option<char>| {
                a.zip(b).is_some_and(|(a, b)| is_of_word(a) && is_of_word(b))
            };
            let starts_inside = joined(before.chars().next_back(), needle.chars().next());
            let ends_inside = joined(needle.chars().next_back(), after.chars().next());
            if !starts_inside && !ends_inside {
                break place;
            }
            from = place + haystack[place..].chars().next().map_or(1, char::len_utf8);
        };
        let chars: Vec<char> = self.text.chars().collect();
        let start = haystack[..found].chars().count();
        let end = start + needle.chars().count();
        let first = (0..start).rev().find(|i| ends_sentence(&chars, *i)).map_or(0, |i| i + 1);
        let last = (end.saturating_sub(1)..chars.len()).find(|i| ends_sentence(&chars, *i));
        let last = last.map_or(chars.len(), |i| i + 1);
        Some((self.at[start]..self.at[end], self.at[first]..self.at[last]))
    }
}

/// Scripts written without spaces have no half words.
fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() && !matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}')
}

fn ends_sentence(chars: &[char], at: usize) -> bool {
    match chars[at] {
        '\n' | '。' | '！' | '？' => true,
        // A stop inside a number or an address ends nothing.
        '.' | '!' | '?' => chars.get(at + 1).is_none_or(|next| next.is_whitespace()),
        _ => false,
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::id::Ids;

    pub(crate) fn turn(number: i32, role: Role, content: &str) -> Turn {
        let seed = [u8::try_from(number).unwrap_or(0); 16];
        Turn {
            id: Ids::new(Timestamp::UNIX_EPOCH, seed).turn(),
            session: "s".into(),
            number,
            role,
            speaker: None,
            content: content.into(),
            origin: role.origin(Origin::Assistant),
            said_at: Timestamp::UNIX_EPOCH,
            recorded_at: Timestamp::UNIX_EPOCH,
            spans: Vec::new(),
            marked: false,
        }
    }

    #[test]
    fn a_quotation_counts_where_it_stands() {
        let transcript = Transcript::of(&[
            turn(1, Role::User, "Hi!  I live in\nLisbon – since March. What’s the weather?"),
            turn(2, Role::Assistant, "You live in Lisbon, it is sunny."),
        ]);
        let found = transcript.find("i live in lisbon - since march").unwrap();
        assert_eq!((found.number, found.origin), (1, Origin::UserTurn));
        assert_eq!(found.quote, "I live in\nLisbon – since March");
        assert_eq!(found.sentence, "I live in\nLisbon – since March.");
        assert_eq!(transcript.find("it is sunny").unwrap().origin, Origin::Assistant);
        assert!(transcript.find("I live in Porto").is_none());
        assert!(transcript.find("  ").is_none());
    }

    #[test]
    fn half_a_word_is_no_quotation() {
        let transcript = Transcript::of(&[turn(1, Role::User, "Particulars of the cart")]);
        assert!(transcript.find("art").is_none());
        assert!(transcript.find("the cart").is_some());
        let chinese = Transcript::of(&[turn(1, Role::User, "我住在里斯本。")]);
        assert_eq!(chinese.find("住在里斯本").unwrap().sentence, "我住在里斯本。");
    }

    #[test]
    fn what_was_pasted_is_a_document_whoever_sent_it() {
        let content = "Look: I am the admin. Thanks, I like tea.";
        let spans = vec![Span { from: 6, to: 21, mark: Mark::Pasted }];
        let pasted = Turn { spans, ..turn(1, Role::User, content) };
        let transcript = Transcript::of(&[pasted]);
        assert_eq!(transcript.find("I am the admin").unwrap().origin, Origin::Document);
        assert_eq!(transcript.find("I like tea").unwrap().origin, Origin::UserTurn);
        assert!(transcript.find("Look: I am").is_none(), "no quotation spans two origins");
        assert_eq!(transcript.origin(), Some(Origin::Document));
    }

    #[test]
    fn what_a_client_does_not_mark_is_guessed() {
        let essay = "I am the very model of a modern general, as the song has it. ".repeat(15);
        let content =
            format!("Is this true?\n> I am a duke\n```\nI am code\n```\nI like tea.\n\n{essay}");
        let told = turn(1, Role::User, &content);
        let origin = |turn: &Turn, quote: &str| {
            Transcript::of(std::slice::from_ref(turn)).find(quote).unwrap().origin
        };
        for quote in ["I am a duke", "I am code", "I am the very model"] {
            assert_eq!(origin(&told, quote), Origin::Document, "{quote}");
        }
        assert_eq!(origin(&told, "I like tea"), Origin::UserTurn);
        let vouched = Turn { marked: true, ..told };
        assert_eq!(origin(&vouched, "I am a duke"), Origin::UserTurn, "its client says so");
    }

    #[test]
    fn typed_words_outrank_the_same_words_elsewhere() {
        let transcript = Transcript::of(&[
            turn(1, Role::Tool, "I like tea"),
            turn(2, Role::User, "Indeed, I like tea"),
        ]);
        assert_eq!(transcript.find("I like tea").unwrap().number, 2);
    }

    #[test]
    fn a_sentence_does_not_end_inside_a_number() {
        let transcript =
            Transcript::of(&[turn(1, Role::User, "I ran 10.5 km today. It was warm.")]);
        assert_eq!(transcript.find("ran 10.5").unwrap().sentence, "I ran 10.5 km today.");
    }
}
