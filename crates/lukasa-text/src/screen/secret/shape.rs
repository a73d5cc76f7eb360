//! Secrets that are recognised by a form other than a prefix: web tokens, passwords in URLs,
//! webhooks, private keys, values of variables with a typical name, card numbers.

use super::named_values::is_random;
use super::{FoundSecret, Run, SecretKind, head, is_placeholder, runs};

/// Maximum length that is read of an address or a value, in bytes.
const READ_BYTES: usize = 512;

/// Maximum length of a word that is compared with the forms of keys, in bytes.
const ATOM_BYTES: usize = 512;

/// Maximum length of a private key, in bytes.
const KEY_BYTES: usize = 16_384;

pub(super) fn find(text: &str) -> Vec<FoundSecret> {
    let mut found = atoms(text);
    found.extend(passwords_in_addresses(text));
    found.extend(runs(text).filter_map(webhook));
    found.extend(assigned_values(text));
    found.extend(terraform_tokens(text));
    found.extend(kubernetes_values(text));
    found.extend(private_keys(text));
    found.extend(putty_keys(text));
    found.extend(super::card::find(text));
    found
}

fn secret(start: usize, end: usize, kind: SecretKind) -> FoundSecret {
    FoundSecret { range: start..end, kind }
}

/// Secrets among the words of letters, digits and `_-.~`.
fn atoms(text: &str) -> Vec<FoundSecret> {
    let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '~');
    let mut found = Vec::new();
    let mut at = 0;
    for piece in text.split_inclusive(|c: char| !inside(c)) {
        let word = piece.trim_end_matches(|c: char| !inside(c));
        let atom = word.trim_end_matches(['.', '-']);
        let start = at;
        at += piece.len();
        if atom.len() < 20 {
            found.extend(numbered_token(text, start, atom));
            continue;
        }
        if is_web_token(atom) {
            found.push(secret(start, start + atom.len(), SecretKind::JWT));
        } else if atom.len() <= ATOM_BYTES {
            let behind = &text[start + atom.len()..];
            if let Some((kind, more)) = structured(atom, behind) {
                found.push(secret(start, start + atom.len() + more, kind));
            }
        }
    }
    found
}

/// Whether a word is base64 parts separated by dots, one of which begins like a JSON object.
fn is_web_token(atom: &str) -> bool {
    let spaced = atom.starts_with("ey") && atom.contains(".ey") && atom.len() >= 40;
    let dense = atom.starts_with("eyJ") || atom.contains(".eyJ");
    atom.len() >= 30 && atom.contains('.') && (dense || spaced)
}

/// Terraform tokens, which have a fixed mark in the middle.
fn terraform_tokens(text: &str) -> Vec<FoundSecret> {
    const MARK: &str = ".atlasv1.";
    let is_id = |b: &&u8| b.is_ascii_alphanumeric();
    let is_key = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'=');
    let tokens = text.match_indices(MARK).filter_map(|(at, _)| {
        let id = text.as_bytes()[..at].iter().rev().take(20).take_while(is_id).count();
        let key = leading(&text[at + MARK.len()..], is_key);
        let end = at + MARK.len() + key;
        (id >= 10 && key >= 40).then(|| secret(at - id, end, SecretKind::new("a Terraform token")))
    });
    tokens.collect()
}

/// The values of a Kubernetes secret in YAML: base64 after the names under `data`.
fn kubernetes_values(text: &str) -> Vec<FoundSecret> {
    let is_kind = |line: &str| {
        let (name, value) = line.split_once(':').unwrap_or_default();
        name.trim() == "kind"
            && value.trim().trim_matches(['"', '\'']).eq_ignore_ascii_case("secret")
    };
    if !text.lines().any(is_kind) {
        return Vec::new();
    }
    let (mut found, mut at) = (Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let Some((name, rest)) = line.split_once(": ") else { continue };
        let value = rest.trim().trim_matches(['"', '\'']);
        let encoded = value.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b));
        let offset = line.len() - rest.len() + rest.find(value).unwrap_or(0);
        let nested = name.starts_with([' ', '\t']) && !matches!(name.trim(), "name" | "namespace");
        if nested && encoded && value.len() >= 8 && value.len().is_multiple_of(4) {
            let start = start + offset;
            found.push(secret(start, start + value.len(), SecretKind::new("a Kubernetes secret")));
        }
    }
    found
}

/// The kind of a word that has the structure of a key, and how many bytes after it belong to it.
fn structured(atom: &str, behind: &str) -> Option<(SecretKind, usize)> {
    let kind = |name: &'static str| Some((SecretKind::new(name), 0));
    let parts: Vec<&str> = atom.split('.').collect();
    if let ["SG", id, key] = parts[..]
        && (16..=32).contains(&id.len())
        && (16..=64).contains(&key.len())
    {
        return kind("a SendGrid API key");
    }
    if let [id, key, account, _] = parts[..]
        && ["sc_", "ext_", "scauth_", "authress_"].iter().any(|prefix| id.starts_with(prefix))
        && (4..=6).contains(&key.len())
        && (account.starts_with("acc_") || account.starts_with("acc-"))
    {
        let more = leading(behind, |b| b.is_ascii_alphanumeric() || b"+/_=-".contains(&b));
        return Some((SecretKind::new("an Authress access key"), more));
    }
    if let [base, hex] = parts[..]
        && base.len() == 17
        && base.starts_with("pat")
        && hex.len() == 64
        && is_hex(hex)
    {
        return kind("an Airtable token");
    }
    if let ["pat" | "sat", account, hex, key] = parts[..]
        && account.len() == 22
        && (20..=24).contains(&hex.len())
        && key.len() == 20
    {
        return kind("a Harness API key");
    }
    if let [id, time, mac] = parts[..]
        && (23..=28).contains(&id.len())
        && (6..=7).contains(&time.len())
        && (27..=40).contains(&mac.len())
        && is_two_cased(mac)
    {
        return kind("a Discord bot token");
    }
    if atom
        .get(3..6)
        .is_some_and(|mark| mark.ends_with("Q~") && mark.as_bytes()[0].is_ascii_digit())
        && (37..=41).contains(&atom.len())
    {
        return kind("an Azure client secret");
    }
    let dashed: Vec<&str> = atom.split('-').collect();
    if let [key, centre] = dashed[..]
        && key.len() == 32
        && is_hex(key)
        && centre.len() <= 4
        && centre.strip_prefix("us").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
        && centre.len() > 2
    {
        return kind("a Mailchimp API key");
    }
    if let [a, b, c] = dashed[..]
        && (a.len(), b.len(), c.len()) == (32, 8, 8)
        && dashed.iter().all(|part| is_hex(part))
    {
        return kind("a Mailgun key");
    }
    if atom.len() == 36 && dashed.len() == 5 && behind.starts_with(":fx") {
        return Some((SecretKind::new("a DeepL API key"), 3));
    }
    if let Some(rest) = atom.strip_suffix("_mmk")
        && rest.split('_').map(str::len).eq([6, 29])
    {
        return kind("a MaxMind licence key");
    }
    if atom.len() == 40 && atom.ends_with("NRAL") && is_hex(&atom[..32]) {
        return kind("a New Relic licence key");
    }
    if atom.len() == 50 && atom.contains("msh") && atom.contains("jsn") && is_random(atom) {
        return kind("a RapidAPI key");
    }
    if atom.len() == 24 && is_hex(atom) {
        let key = behind.strip_prefix(':').map(|key| leading(key, is_hex_byte));
        if key == Some(64) {
            return Some((SecretKind::new("a Ghost admin API key"), 65));
        }
    }
    if is_product_key(&dashed) {
        return Some((SecretKind::LICENCE, 0));
    }
    (is_wallet_key(atom)).then_some((SecretKind::WALLET_KEY, 0))
}

fn is_hex_byte(b: u8) -> bool {
    b.is_ascii_hexdigit()
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(is_hex_byte)
}

/// Number of leading bytes that satisfy a predicate, up to the maximum length of a key.
fn leading(text: &str, is: fn(u8) -> bool) -> usize {
    text.bytes().take(READ_BYTES).take_while(|b| is(*b)).count()
}

fn is_two_cased(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_uppercase()) && text.bytes().any(|b| b.is_ascii_lowercase())
}

/// A number, a mark and a random key, as issued by Telegram (colon) and Facebook (bar).
fn numbered_token(text: &str, start: usize, atom: &str) -> Option<FoundSecret> {
    // In a URL the number follows the word "bot".
    let number = atom.strip_prefix("bot").unwrap_or(atom);
    if number.len() < 8 || !number.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let end = start + atom.len();
    let (mark, name) = match text.as_bytes().get(end) {
        Some(b':') if number.len() <= 12 => (1, "a bot token"),
        Some(b'|' | b'%') if (15..=17).contains(&number.len()) => (1, "a Facebook app token"),
        _ => return None,
    };
    let key = &text[end + mark..];
    let length = leading(key, |b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    let key = &key[..length];
    let digits = key.bytes().filter(u8::is_ascii_digit).count();
    let fits = (26..=60).contains(&length) && (is_two_cased(key) || digits >= 3) && is_random(key);
    fits.then(|| secret(end - number.len(), end + mark + length, SecretKind::new(name)))
}

/// Whether the groups, separated by dashes, are capitals and digits like a licence key.
fn is_product_key(groups: &[&str]) -> bool {
    let alike = groups.iter().all(|group| {
        (4..=8).contains(&group.len())
            && group.len() == groups[0].len()
            && group.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
    });
    let count = |is: fn(&u8) -> bool| groups.iter().flat_map(|g| g.bytes()).filter(is).count();
    let digits = count(u8::is_ascii_digit);
    let letters = count(u8::is_ascii_uppercase);
    alike && (4..=8).contains(&groups.len()) && digits >= 2 && letters >= 4
}

/// A private key as wallets write it: base58 with a version letter in front, or Stellar's base32.
fn is_wallet_key(atom: &str) -> bool {
    let base58 = |b: u8| b.is_ascii_alphanumeric() && !b"0OIl".contains(&b);
    let bitcoin = (51..=52).contains(&atom.len())
        && atom.starts_with(['5', 'K', 'L'])
        && atom.bytes().all(base58)
        && is_two_cased(atom)
        && atom.bytes().any(|b| b.is_ascii_digit());
    let stellar = atom.len() == 56
        && atom.starts_with('S')
        && atom.bytes().all(|b| b.is_ascii_uppercase() || (b'2'..=b'7').contains(&b))
        && atom.bytes().any(|b| b.is_ascii_digit());
    bitcoin || stellar
}

/// `scheme://name:password@host`: the password only.
fn passwords_in_addresses(text: &str) -> Vec<FoundSecret> {
    text.match_indices("://").filter_map(|(at, mark)| password_in(text, at + mark.len())).collect()
}

fn password_in(text: &str, start: usize) -> Option<FoundSecret> {
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '“' | '”' | '，');
    let address = head(&text[start..], READ_BYTES);
    // The next address is read separately.
    let address = &address[..address.find("://").unwrap_or(address.len())];
    let address = &address[..address.find(ends).unwrap_or(address.len())];
    let colon =
        address.find(['/', '?', '#', '@', ':']).filter(|at| address[*at..].starts_with(':'))?;
    let rest = &address[colon + 1..];
    let path = rest.find('/').unwrap_or(rest.len());
    // A password may contain a slash; a port is followed by one.
    let host = rest[..path].rfind('@').or_else(|| {
        let port = rest[..path].bytes().all(|b| b.is_ascii_digit());
        rest.rfind('@').filter(|_| !port)
    })?;
    let password = &rest[..host];
    let real = !password.is_empty() && !is_placeholder(password);
    let from = start + colon + 1;
    real.then(|| secret(from, from + host, SecretKind::new("a password in an address")))
}

/// The address of a webhook, which lets anyone who knows it write. Masked from its first random
/// part on.
fn webhook(run: Run<'_>) -> Option<FoundSecret> {
    let address = head(run.text, READ_BYTES);
    let slash = address.find('/')?;
    let lower = address.to_ascii_lowercase();
    let hook = ["hook", "maker.ifttt.com/", "dingtalk.com/robot", "googleapis.com/v1/spaces"]
        .iter()
        .find_map(|mark| lower.find(mark))?;
    let from = slash.max(hook);
    let mut at = from;
    for part in address[from..].split(['/', '?', '&', '=', '@']) {
        let small = part.bytes().filter(u8::is_ascii_lowercase).count();
        let large = part.bytes().filter(u8::is_ascii_uppercase).count();
        if part.len() >= 16 && (is_random(part) || (small >= 4 && large >= 4)) {
            return Some(secret(run.start + at, run.range().end, SecretKind::WEBHOOK));
        }
        at += part.len() + 1;
    }
    None
}

/// Variable names that only secrets have.
const VALUE_NAMES: &[&str] = &[
    "session",
    "sessionid",
    "sessid",
    "phpsessid",
    "jsessionid",
    "sid",
    "token",
    "auth",
    "sig",
    "signature",
    "key",
    "apikey",
    "api_key",
    "access_token",
    "refresh_token",
    "id_token",
    "secret",
    "client_secret",
    "password",
    "passwd",
    "pwd",
    "pass",
    "code_verifier",
    "jwt",
    "authtoken",
    "sas",
    "license",
    "licence",
    "privatekey",
    "presharedkey",
    "csrftoken",
    "sso",
    "accountkey",
    "sharedaccesskey",
    "sharedaccesssignature",
    "authkey",
    "appkey",
    "app_secret",
    "credential",
];
const VALUE_ENDINGS: &[&str] = &[
    "_token",
    "_secret",
    "_key",
    "_password",
    "_pass",
    "_pwd",
    "session",
    "_sid",
    "apikey",
    "secretkey",
    "accesskey",
    "authtoken",
    "accesstoken",
    "clientsecret",
    "_pat",
];

/// `session=...`, `sig=...`: values of variables whose name only secrets have.
fn assigned_values(text: &str) -> Vec<FoundSecret> {
    let mut found = Vec::new();
    let mut next = 0;
    for (at, _) in text.match_indices('=') {
        if at < next {
            continue;
        }
        let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        let name = text.as_bytes()[..at].iter().rev().take(64).take_while(|b| word(b)).count();
        let name = text[at - name..at].trim_start_matches('_').to_ascii_lowercase();
        let known = VALUE_NAMES.contains(&name.as_str())
            || VALUE_ENDINGS.iter().any(|end| name.ends_with(end));
        if !known {
            continue;
        }
        let value = value_at(&text[at + 1..]);
        if is_random(value) && !is_placeholder(value) {
            next = at + 1 + value.len();
            found.push(secret(at + 1, next, SecretKind::API_KEY));
        }
    }
    found
}

/// The value a text begins with: up to a separator, or to a `=` that assigns the next one.
fn value_at(text: &str) -> &str {
    let value = head(text, READ_BYTES);
    let assigns = |at: usize| value[at + 1..].starts_with(|c: char| c.is_ascii_alphanumeric());
    let end = value.char_indices().find(|(at, c)| {
        let closes = c.is_whitespace() || "&;#\"'`<>,()[]{}|\\".contains(*c);
        closes || (*c == '=' && assigns(*at))
    });
    &value[..end.map_or(value.len(), |(at, _)| at)]
}

/// A key in PuTTY's format: everything from its private lines on.
fn putty_keys(text: &str) -> Vec<FoundSecret> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(start) = text[from..].find("PuTTY-User-Key-File").map(|at| at + from) {
        let Some(private) = text[start..].find("Private-Lines").map(|at| at + start) else { break };
        from = text[private..].find("\n\n").map_or(text.len(), |end| end + private);
        found.push(secret(private, from, SecretKind::PRIVATE_KEY));
    }
    found
}

/// From "BEGIN ... PRIVATE KEY" to its end; to the last line of base64 if the end was cut off.
fn private_keys(text: &str) -> Vec<FoundSecret> {
    const BEGIN: &str = "-----BEGIN ";
    const END: &str = "-----END ";
    let mut found = Vec::new();
    let mut from = 0;
    // Position of the next end: searched once, and again only after the last one.
    let mut end_at = text.find(END);
    while let Some(at) = text[from..].find(BEGIN).map(|at| at + from) {
        from = at + BEGIN.len();
        if !head(&text[from..], 48).contains("PRIVATE KEY") {
            continue;
        }
        if end_at.is_some_and(|end| end < from) {
            end_at = text[from..].find(END).map(|end| end + from);
        }
        let closed = end_at.filter(|end| end - from <= KEY_BYTES).map(|end| {
            let label = end + END.len();
            let close = head(&text[label..], 64).find("-----").map(|close| label + close + 5);
            close.unwrap_or(label)
        });
        let Some(end) = closed.or_else(|| end_of_base64(text, from)) else { continue };
        found.push(secret(at, end, SecretKind::PRIVATE_KEY));
        from = end;
    }
    found
}

/// The end of the base64 lines after a label; `None` if there are none.
fn end_of_base64(text: &str, from: usize) -> Option<usize> {
    let label = head(&text[from..], 48).find("-----").map(|close| from + close + 5)?;
    let (mut at, mut end) = (label, None);
    for line in text[label..].split_inclusive('\n') {
        let own = line.trim();
        let encoded = own.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=\\".contains(&b));
        let header = own.contains(": ") && !own.starts_with('-');
        if !own.is_empty() && (own.len() < 16 || !encoded) && !header {
            break;
        }
        at += line.len();
        if own.len() >= 16 && encoded {
            end = Some(at - (line.len() - line.trim_end().len()));
        }
    }
    end
}
