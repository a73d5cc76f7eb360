//! Secrets that are recognised by the words around them: "my password is ...".

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::lists::ANSWERS;
use super::vocabulary::{ANOTHER, NAMES, OF, OTHER_CODES, PLAIN, SAYS, Value};
use super::{
    FoundSecret, PLACEHOLDER, Run, SecretKind, account, auth_header, head, is_mixed,
    is_placeholder, lock, passphrase, runs, seed, sentence,
};
use crate::lexicon::Lexicon;
use crate::screen::phrase::fold;
use crate::word::{Word, words};

/// How much of a value is checked, in bytes. A longer one is judged by its beginning.
const JUDGED_BYTES: usize = 160;

/// Maximum length of a value from which trailing punctuation is removed, in bytes.
pub(super) const VALUE_BYTES: usize = 512;

/// Maximum length of a word that can name something, in bytes.
const WORD_BYTES: usize = 64;

/// Maximum number of words between a name and its value.
const MAX_WORDS_BETWEEN: usize = 12;

/// Maximum number of words of an owner or a place: "the code of the door of our house is ...".
const MAX_OWNER_WORDS: usize = 7;

/// A text, its words, and the positions of its separators.
pub(super) struct SplitText<'t> {
    pub text: &'t str,
    pub words: Vec<Word>,
    /// The folded words; empty for one that is too long to name anything.
    pub folded: Vec<String>,
    breaks: Vec<usize>,
}

impl<'t> SplitText<'t> {
    pub fn new(text: &'t str) -> Self {
        let words = words(text);
        let folded = words
            .iter()
            .map(|word| {
                // The word in the placeholder is not a name.
                let from = word.start.saturating_sub(1);
                let masked = text.get(from..word.end + 1) == Some(PLACEHOLDER);
                let silent = masked || word.text.len() > WORD_BYTES;
                match () {
                    () if silent => String::new(),
                    // Words are already in lower case.
                    () if word.text.is_ascii() => word.text.clone(),
                    () => fold(&word.text),
                }
            })
            .collect();
        let ends = |c: char| c.is_whitespace() || "\"`“”」』。，、；".contains(c);
        let breaks = text.char_indices().filter(|(_, c)| ends(*c)).map(|(at, _)| at).collect();
        Self { text, words, folded, breaks }
    }

    /// The run that begins here. A password may contain any mark; only a space or a closing
    /// quotation mark ends it.
    pub fn run_at(&self, start: usize) -> Run<'t> {
        let next = self.breaks.partition_point(|at| *at < start);
        let end = self.breaks.get(next).copied().unwrap_or(self.text.len());
        let own = &self.text[start..end];
        if own.len() > VALUE_BYTES {
            return Run { text: own, start };
        }
        let marks = ['.', ',', ';', ':', ')', '\'', '’', '?'];
        Run { text: own.trim_end_matches(marks), start }
    }

    /// The run between spaces that ends before this position.
    fn run_before(&self, end: usize) -> Run<'t> {
        let next = self.breaks.partition_point(|at| *at < end);
        let place =
            |back: usize| next.checked_sub(back).and_then(|at| self.breaks.get(at)).copied();
        let end = place(1).unwrap_or(end);
        let start =
            place(2).map_or(0, |at| at + self.text[at..].chars().next().map_or(0, char::len_utf8));
        Run { text: self.text.get(start..end).unwrap_or_default(), start }
    }
}

pub(super) fn find(text: &str) -> Vec<FoundSecret> {
    let split_text = SplitText::new(text);
    let mut found = Vec::new();
    for at in 0..split_text.words.len() {
        if let Some((length, value)) = name_at(&split_text.folded[at..]) {
            let run = value_after(&split_text, at, at + length, value);
            found.extend(run.map(|run| FoundSecret { range: run.range(), kind: value.kind() }));
        }
    }
    found.extend(seed::find(&split_text));
    found.extend(auth_header::find(&split_text));
    found.extend(logins(&split_text));
    found.extend(codes_before(&split_text));
    found.extend(values_before(&split_text));
    found.extend(keys_nearby(&split_text));
    found.extend(sentence::find(&split_text));
    found.extend(lock::find(&split_text));
    found.extend(passphrase::find(&split_text));
    found.extend(account::find(&split_text));
    found
}

/// The names by their first word, and the lists, all folded.
struct Known {
    names: HashMap<String, Vec<(Vec<String>, Value)>>,
    says: HashSet<String>,
    of: HashSet<String>,
    another: HashSet<String>,
    plain: HashSet<String>,
}

static KNOWN: LazyLock<Known> = LazyLock::new(|| {
    let mut names: HashMap<String, Vec<(Vec<String>, Value)>> = HashMap::new();
    for (value, list) in NAMES {
        for name in list {
            let own: Vec<_> = words(&fold(&name)).into_iter().map(|word| word.text).collect();
            if let Some(first) = own.first() {
                names.entry(first.clone()).or_default().push((own, value));
            }
        }
    }
    let folded = |list: Lexicon| list.into_iter().map(|word| fold(&word)).collect();
    Known {
        names,
        says: folded(SAYS),
        of: folded(OF),
        another: folded(ANOTHER),
        plain: folded(PLAIN),
    }
});

/// The longest name that begins here, and how many words it has.
pub(super) fn name_at(folded: &[String]) -> Option<(usize, Value)> {
    let names = KNOWN.names.get(folded.first()?)?;
    let said = names.iter().filter(|(name, _)| folded.starts_with(name));
    said.map(|(name, value)| (name.len(), *value)).max_by_key(|(length, _)| *length)
}

/// Words before a year.
const SINCE: &[&str] =
    &["in", "im", "since", "seit", "en", "depuis", "desde", "nel", "dal", "em", "sinds"];

/// The value that is assigned to the name at `start..end`.
fn value_after<'t>(
    split_text: &SplitText<'t>,
    start: usize,
    end: usize,
    value: Value,
) -> Option<Run<'t>> {
    let SplitText { text, words, folded, .. } = split_text;
    if is_another_thing(folded, start, end, value) {
        return None;
    }
    let mut from = words[end - 1].end;
    // A dash or a plural ending joins the name to the next word, and is not part of the value.
    // "Security answer Rover" needs no verb.
    let mut said = ANSWERS.contains(&folded[end - 1]);
    let (mut at, mut owner) = (end, 0);
    // "The password is on the note" names a place.
    let mut placed = false;
    loop {
        let gap_end = words.get(at).map_or(text.len(), |word| word.start);
        let gap = &text[from..gap_end];
        // The name is a variable, or is in brackets.
        if at == end && gap.starts_with(['}', ')', ']', '>']) {
            return None;
        }
        if gap.contains(['\n']) && gap.trim().is_empty() && !said {
            return None;
        }
        // "The code's 4711."
        if let Some(rest) = gap.strip_prefix("'s ").or_else(|| gap.strip_prefix("’s ")) {
            (said, from) = (true, gap_end - rest.len());
            continue;
        }
        // An elision, as in "d'accès", is not a quotation mark.
        let joined = matches!(gap, "'" | "’");
        if !joined && gap.contains([':', '=', '：', '→', '“', '"', '\'', '`', '「', '『'])
            || gap.contains("->")
        {
            (said, placed) = (true, false);
            // `key="Password" value="..."`
            if folded.get(at).is_some_and(|word| word == "value") {
                from = words[at].end;
            }
            break;
        }
        if gap.contains(['.', '!', '?', '。', ';']) && gap.contains(char::is_whitespace) {
            return None;
        }
        let Some(word) = folded.get(at).filter(|_| at - end < MAX_WORDS_BETWEEN) else { break };
        if KNOWN.says.contains(word)
            && !text[words[at].end..].starts_with('-')
            && (!word.is_ascii() || !is_mixed(head(split_text.run_at(words[at].start).text, 64)))
        {
            said = true;
        } else if (KNOWN.of.contains(word) && owner == 0)
            || (owner > 0 && owner < MAX_OWNER_WORDS && !said)
        {
            let run = head(split_text.run_at(words[at].start).text, JUDGED_BYTES);
            if owner > 0 && looks_like(value, run, false) && is_mixed(run) && run.len() >= 6 {
                break;
            }
            // "PIN of the card 4711".
            let own = split_text.run_at(words[at].start);
            if value == Value::Code && sentence::is_code(run) && sentence::closes(split_text, own) {
                break;
            }
            owner += 1;
            placed |= said;
        } else {
            break;
        }
        from = words[at].end;
        at += 1;
    }
    let lead = |c: char| c.is_whitespace() || ":=：→\"'`“”‘’>「『,(".contains(c);
    let offset = text[from..].len() - text[from..].trim_start_matches(lead).len();
    let dash = text[from + offset..].strip_prefix("-> ").map_or(0, |_| 3);
    let mut run = whole_value(split_text, from + offset + dash, value);
    let judged = head(run.text, JUDGED_BYTES);
    let quoted = text[..run.start].ends_with(['"', '\'', '`', '“', '‘', '「', '『']);
    let plain = judged.chars().all(char::is_alphabetic);
    let behind = &text[run.range().end..];
    let ends = behind.starts_with('\n')
        || behind
            .trim_start()
            .chars()
            .next()
            .is_none_or(|c| c.is_ascii_punctuation() || "。！？，」』”’…".contains(c));
    // Chinese and Korean put a number right behind the name.
    let numbered = value == Value::Password
        && !text[words[start].start..words[end - 1].end].is_ascii()
        && sentence::is_digits(judged)
        && (4..=12).contains(&judged.len())
        && !sentence::is_year(judged);
    if !numbered && !looks_like(value, judged, said) {
        return if value == Value::Code { later_code(split_text, at) } else { None };
    }
    if is_placeholder(judged) {
        return None;
    }
    if quoted && value == Value::Password {
        run = up_to_quote(text, run);
    }
    // "A bus pass: monthly" names no password.
    if end == start + 1 && folded[start] == "pass" && !is_mixed(judged) {
        return None;
    }
    let ordinary = plain && value == Value::Password && !quoted;
    if ordinary && (!ends || placed || KNOWN.plain.contains(&fold(judged))) {
        return None;
    }
    // "We changed the code to use 4096 threads" counts something.
    if value == Value::StatedCode && !sentence::is_followed_as_code(split_text, run) {
        return None;
    }
    // "I changed the password in 2024".
    let since = at.checked_sub(1).is_some_and(|n| SINCE.contains(&folded[n].as_str()));
    if matches!(value, Value::Password | Value::Code) && since && sentence::is_year(judged) {
        return None;
    }
    Some(run)
}

/// A number at the end of a sentence, one or two words after the name of a code: "PIN of the card
/// 4711".
fn later_code<'t>(split_text: &SplitText<'t>, from: usize) -> Option<Run<'t>> {
    let SplitText { text, words, folded, .. } = split_text;
    for at in from..(from + 3).min(words.len()) {
        let gap = &text[words[at.max(1) - 1].end..words[at].start];
        if gap.trim_matches(' ').len() > 1 || gap.contains(['\n', '.', ',', ';', '?', '!']) {
            return None;
        }
        let number = folded[at].as_str();
        let digits = number.len() >= 4 && number.bytes().all(|b| b.is_ascii_digit());
        if digits && at > from {
            let year = sentence::is_year(number);
            let closes = words.get(at + 1).is_none_or(|next| {
                text[words[at].end..next.start].contains(['.', ',', '!', ';', '\n'])
            });
            let start = words[at].start;
            let own = (number.len() <= 8 && !year && closes)
                .then(|| Run { text: &text[start..words[at].end], start });
            return own;
        }
    }
    None
}

/// Whether a folded word follows "the password is" without being a password.
pub(super) fn is_plain(word: &str) -> bool {
    KNOWN.plain.contains(word)
}

/// A quoted value as a whole: a passphrase has spaces.
pub(super) fn up_to_quote<'t>(text: &'t str, run: Run<'t>) -> Run<'t> {
    const QUOTED_BYTES: usize = 80;
    let line = head(&text[run.start..], QUOTED_BYTES);
    let open = text[..run.start].chars().next_back();
    let close = match open {
        Some('“') => '”',
        Some('‘') => '’',
        Some('„') => '“',
        Some('«') => '»',
        Some('「') => '」',
        Some('『') => '』',
        other => other.unwrap_or('"'),
    };
    match line.find([close, '\n']).filter(|end| line[*end..].starts_with(close)) {
        Some(end) if end > run.text.len() => Run { text: &text[run.start..run.start + end], ..run },
        _ => run,
    }
}

/// Whether the words around a name change its meaning: "password manager", "zip code".
pub(super) fn is_another_thing(folded: &[String], start: usize, end: usize, value: Value) -> bool {
    let next = folded.get(end).map_or("", String::as_str);
    let before = start.checked_sub(1).map_or("", |at| folded[at].as_str());
    let last = end.checked_sub(1).map_or("", |at| folded[at].as_str());
    KNOWN.another.contains(next)
        || ["primary", "foreign", "bobby", "rolling", "public"].contains(&before)
        || (value == Value::StatedCode
            && (OTHER_CODES.contains(before)
                || ["postal", "promocional", "promo", "postale"].contains(&next)
                || (next == "de" && ["code", "codigo", "codice"].contains(&last))))
}

/// The run at this position as a value of that kind: numbers may be grouped with spaces.
pub(super) fn whole_value<'t>(split_text: &SplitText<'t>, start: usize, value: Value) -> Run<'t> {
    let run = split_text.run_at(start);
    if !matches!(value, Value::Number | Value::Code | Value::StatedCode)
        || !run.text.starts_with(|c: char| c.is_ascii_digit())
    {
        return run;
    }
    let rest = head(&split_text.text[start..], WORD_BYTES);
    let end = rest.find(|c: char| !(c.is_ascii_digit() || matches!(c, ' ' | '-' | '.')));
    let own = rest[..end.unwrap_or(rest.len())].trim_end_matches([' ', '-', '.']);
    if own.len() > run.text.len() { Run { text: own, start } } else { run }
}

/// Whether a run has the form of such a value; less is enough if the text says that it is one.
fn looks_like(value: Value, run: &str, said: bool) -> bool {
    let length = run.chars().count();
    let digits = run.chars().filter(char::is_ascii_digit).count();
    let only_digits = run.chars().all(|c| c.is_ascii_digit() || matches!(c, ' ' | '-' | '.'));
    match value {
        Value::Password => {
            (length >= 4 && is_mixed(run))
                || (said && length >= 3)
                || (length >= 8 && has_inner_capital(run))
        }
        Value::Code => {
            (only_digits && ((4..=12).contains(&digits) || are_codes(run)))
                || (length >= 5 && digits >= 2 && is_mixed(run))
                || (said && (5..=16).contains(&length) && has_inner_capital(run) && run.is_ascii())
        }
        // One-time codes have six digits.
        Value::StatedCode => only_digits && (digits == 6 || (said && (4..=8).contains(&digits))),
        Value::Check => only_digits && (3..=4).contains(&digits),
        Value::Key => {
            is_random(run)
                || (said
                    && ((length >= 8 && is_mixed(run) && digits >= 2) || sentence::are_groups(run)))
        }
        Value::Number => {
            digits >= 6 && run.chars().all(|c| c.is_ascii_alphanumeric() || " -.".contains(c))
        }
    }
}

/// Whether the run is a row of numbers that each have the length of a code.
fn are_codes(run: &str) -> bool {
    run.split([' ', '-', '.']).all(|code| (4..=10).contains(&code.len()))
}

/// Whether there are capitals after the first letter, and lower-case letters.
pub(super) fn has_inner_capital(run: &str) -> bool {
    run.chars().skip(1).any(char::is_uppercase) && run.chars().any(char::is_lowercase)
}

/// Whether a run looks random: long, with letters and digits well mixed.
pub(super) fn is_random(run: &str) -> bool {
    let token = head(run, VALUE_BYTES).trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let plain = token.chars().all(|c| c.is_ascii_alphanumeric() || "_-./+=~%".contains(c));
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    let letters = token.bytes().filter(u8::is_ascii_alphabetic).count();
    let distinct = token.bytes().fold(0_u128, |seen, b| seen | 1 << (b & 127)).count_ones();
    plain
        && token.len() >= 16
        && letters >= 3
        && (digits >= 3 || (digits >= 1 && has_inner_capital(token) && token.len() >= 20))
        && distinct >= 8
        && !token.contains("://")
}

/// "the login is bob / Blue-42": a name and a password together.
fn logins(split_text: &SplitText<'_>) -> Vec<FoundSecret> {
    let SplitText { text, words, folded, .. } = split_text;
    const NAMES: &[&str] = &[
        "login",
        "logins",
        "credentials",
        "creds",
        "zugangsdaten",
        "zugang",
        "identifiants",
        "credenciales",
        "credenziali",
        "credenciais",
        "inloggegevens",
        "user",
        "username",
        "account",
        "acceso",
        "acces",
        "anmeldung",
    ];
    let mut found: Vec<FoundSecret> = ["-u ", "--user "]
        .iter()
        .flat_map(|flag| text.match_indices(flag))
        .filter_map(|(at, flag)| {
            let run = split_text.run_at(at + flag.len());
            let (name, word) = run.text.split_once(':')?;
            let start = run.start + name.len() + 1;
            (word.len() >= 4 && !is_placeholder(word)).then(|| login(start..run.range().end))
        })
        .collect();
    found.extend(text.match_indices(" -p").filter_map(|(at, flag)| {
        let before = &text[text.floor_char_boundary(at.saturating_sub(80))..at];
        let command = ["mysql", "mariadb", "sshpass"].iter().any(|name| before.contains(name));
        let value = text[at + flag.len()..].trim_start_matches([' ', '\'', '"']);
        let run = split_text.run_at(text.len() - value.len());
        let judged = head(run.text, JUDGED_BYTES);
        let fits = is_mixed(judged) && judged.len() >= 4 && !is_placeholder(judged);
        (command && fits).then(|| login(run.range()))
    }));
    for at in (0..words.len()).filter(|at| NAMES.contains(&folded[*at].as_str())) {
        let from = words[at].end;
        let rest = &text[from..];
        let near = rest.char_indices().nth(90).map_or(rest.len(), |(end, _)| end);
        let line = rest[..near].find('\n').unwrap_or(near);
        let Some((slash, mark)) = [" / ", " | ", " : "]
            .iter()
            .filter_map(|mark| Some((rest[..line].find(mark)?, mark.len())))
            .min()
        else {
            continue;
        };
        let run = split_text.run_at(from + slash + mark);
        let digit = run.text.bytes().any(|b| b.is_ascii_digit());
        let letter = run.text.chars().any(char::is_alphabetic);
        if run.text.chars().count() >= 6 && digit && letter {
            found.push(login(run.range()));
        }
    }
    found
}

/// Words between a value and the name after it.
const SAYS_BEFORE: &[&str] = &[
    "is", "ist", "est", "es", "è", "é", "e", "jest", "är", "er", "as", "als", "comme", "como",
    "come", "是", "は", "는",
];

/// "I use Blue-42 as my password": the run before the name.
fn values_before(split_text: &SplitText<'_>) -> Vec<FoundSecret> {
    let mut found = Vec::new();
    for at in 2..split_text.words.len() {
        if !SAYS_BEFORE.contains(&split_text.folded[at - 2].as_str()) {
            continue;
        }
        let Some((length, value)) = name_at(&split_text.folded[at..]) else { continue };
        if is_another_thing(&split_text.folded, at, at + length, value) {
            continue;
        }
        let run = split_text.run_before(split_text.words[at - 2].start);
        let judged = head(run.text, JUDGED_BYTES);
        let fits = is_mixed(judged) && judged.len() >= 5 && !is_placeholder(judged);
        if value == Value::Password && fits {
            found.push(FoundSecret { range: run.range(), kind: value.kind() });
        }
    }
    found
}

/// "482913 is your verification code".
fn codes_before(split_text: &SplitText<'_>) -> Vec<FoundSecret> {
    let SplitText { words, folded, .. } = split_text;
    let mut found = Vec::new();
    for at in 0..words.len() {
        let digits = folded[at].bytes().filter(u8::is_ascii_digit).count();
        if !(4..=8).contains(&digits) || digits != folded[at].len() {
            continue;
        }
        let next = &folded[at + 1..folded.len().min(at + 8)];
        let says = next.first().is_some_and(|w| SAYS_BEFORE.contains(&w.as_str()));
        let names = (0..next.len()).any(|n| {
            let other = n.checked_sub(1).is_some_and(|b| OTHER_CODES.contains(&next[b]));
            name_at(&next[n..]).is_some_and(|(_, value)| match value {
                Value::Code | Value::Password => true,
                Value::StatedCode => digits == 6 && !other,
                _ => false,
            })
        });
        if says && names {
            let range = words[at].start..words[at].end;
            found.push(FoundSecret { range, kind: SecretKind::ACCESS_CODE });
        }
    }
    found
}

/// Random runs within a few words of a word for keys.
fn keys_nearby(split_text: &SplitText<'_>) -> Vec<FoundSecret> {
    let SplitText { text, words, folded, .. } = split_text;
    const NEAR: usize = 6;
    const KEYS: &[&str] = &[
        "key",
        "keys",
        "license",
        "licence",
        "lizenz",
        "licencia",
        "cookie",
        "cookies",
        "webhook",
        "privatekey",
        "cle",
        "jeton",
        "token",
        "tokens",
        "secret",
        "secrets",
        "apikey",
        "credential",
        "credentials",
        "bearer",
        "authorization",
        "schlussel",
        "clave",
        "chiave",
        "chave",
        "sleutel",
        "passwort",
        "password",
    ];
    let named: Vec<usize> = (0..words.len())
        .filter(|at| KEYS.contains(&folded[*at].as_str()))
        .filter(|at| {
            !at.checked_sub(1)
                .is_some_and(|b| ["primary", "foreign", "public"].contains(&folded[b].as_str()))
        })
        .collect();
    if named.is_empty() {
        return Vec::new();
    }
    runs(text)
        .filter(|run| is_random(run.text) && !is_placeholder(run.text))
        .filter(|run| {
            let first = words.partition_point(|word| word.end <= run.start);
            let last = words.partition_point(|word| word.start < run.range().end);
            // The last name before it, and the first one after it.
            let next = named.partition_point(|at| *at < first);
            let before = next.checked_sub(1).is_some_and(|at| first - named[at] <= NEAR);
            let behind = named.partition_point(|at| *at < last);
            before || named.get(behind).is_some_and(|at| at - last < NEAR)
        })
        .map(|run| {
            // `KEY=value`: the name stays.
            let cut = run
                .text
                .find('=')
                .filter(|at| is_random(&run.text[at + 1..]))
                .map_or(0, |at| at + 1);
            FoundSecret { range: run.start + cut..run.range().end, kind: SecretKind::API_KEY }
        })
        .collect()
}

fn login(range: std::ops::Range<usize>) -> FoundSecret {
    FoundSecret { range, kind: SecretKind::LOGIN }
}
