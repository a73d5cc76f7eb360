//! Secrets that are told by their shape, wherever they stand.

use std::ops::Range;

use super::told::is_random;
use super::{Run, runs};

/// How known keys begin, and how long such a key is at least.
#[rustfmt::skip]
const BEGINNINGS: &[(&str, usize)] = &[
    ("sk-", 20), ("sk_live_", 16), ("sk_test_", 16), ("rk_live_", 16), ("pk_live_", 16), ("whsec_", 20),
    ("ghp_", 20), ("gho_", 20), ("ghu_", 20), ("ghs_", 20), ("ghr_", 20), ("github_pat_", 24),
    ("xoxb-", 16), ("xoxa-", 16), ("xoxp-", 16), ("xoxr-", 16), ("xoxs-", 16), ("xapp-", 16),
    ("AKIA", 20), ("ASIA", 20), ("AIza", 30), ("ya29.", 20), ("GOCSPX-", 20), ("glpat-", 16), ("gldt-", 16),
    ("npm_", 20), ("pypi-", 20), ("hf_", 16), ("qp_live_", 20), ("qp_user_", 20), ("dop_v1_", 20),
    ("shpat_", 16), ("shpss_", 16), ("SG.", 20), ("key-", 32), ("EAACEdEose0cBA", 20), ("sq0atp-", 16),
    ("sq0csp-", 16), ("lin_api_", 16), ("secret_", 32), ("ntn_", 20), ("dckr_pat_", 16), ("pat_", 30),
    ("gsk_", 20), ("r8_", 20), ("nvapi-", 20), ("xai-", 20), ("tvly-", 16), ("pplx-", 20), ("fly_", 24), ("vercel_", 20),
    ("rubygems_", 20), ("figd_", 20), ("dapi", 32), ("hvs.", 20), ("hvb.", 20), ("AGE-SECRET-KEY-", 20),
    ("sbp_", 20), ("sntrys_", 20), ("atlasv1.", 20), ("doo_v1_", 20), ("phc_", 24), ("phx_", 24), ("re_", 24),
    ("discord_", 30), ("sgp_", 20), ("glsa_", 20), ("glc_", 20), ("dp.pt.", 20), ("dp.st.", 20), ("CFPAT-", 20), ("PMAK-", 20), ("sl.", 40), ("pul-", 30), ("sk_", 32), ("NRAK-", 20), ("access_token_", 20), ("EAA", 60), ("ATATT3", 24), ("ATCTT3", 24), ("AC", 34), ("SK", 34), ("rnd_", 20), ("hapikey-", 20), ("bkua_", 20), ("xoxe", 16), ("sdk-", 30), ("api-", 32), ("eu01xx", 30), ("mfa.", 40),
    ("xprv", 40), ("cio", 32), ("ops_ey", 24), ("tskey-", 16), ("sshpass", 40),
];

pub(super) fn find(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<_> = runs(text).flat_map(|run| in_run(run)).collect();
    found.extend(private_keys(text));
    found.extend(putty_keys(text));
    found.extend(numbers(text));
    found
}

fn in_run(run: Run<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    // A key may follow the name it is given to, or stand inside an address.
    let starts = run.text.char_indices().map(|(at, _)| at).filter(|at| {
        *at == 0 || run.text[..*at].ends_with(['=', ':', '/', '?', '&', '@', '#', ','])
    });
    for at in starts {
        let token = &run.text[at..];
        let end = token.find(|c: char| !(c.is_ascii_alphanumeric() || "_-.~+/=:".contains(c)));
        let token = &token[..end.unwrap_or(token.len())];
        if is_key(token)
            || is_web_token(token)
            || is_product_key(token)
            || is_bot_token(token)
            || is_coin_key(token)
        {
            found.push(run.start + at..run.start + at + token.len());
        }
    }
    found.extend(password_in_address(run));
    found.extend(last_of_hook(run));
    found.extend(given_values(run));
    found
}

fn is_key(token: &str) -> bool {
    BEGINNINGS.iter().any(|(begin, least)| {
        token.len() >= *least
            && token.strip_prefix(begin).is_some_and(|rest| {
                // A word with dashes is a name; a key has digits or capitals amid small letters.
                let digit = rest.bytes().any(|b| b.is_ascii_digit());
                let both = rest.bytes().any(|b| b.is_ascii_uppercase())
                    && rest.bytes().any(|b| b.is_ascii_lowercase());
                (digit || both) && rest.bytes().filter(u8::is_ascii_alphanumeric).count() >= 10
            })
    })
}

/// Three parts of base64 with a dot between; the first begins as any JSON object does.
fn is_web_token(token: &str) -> bool {
    (token.starts_with("eyJ") || token.contains(".eyJ"))
        && token.len() >= 30
        && token.matches('.').count() >= 1
}

/// `scheme://name:password@host`: the password only.
fn password_in_address(run: Run<'_>) -> Option<Range<usize>> {
    let from = run.text.find("://")? + 3;
    let host = run.text[from..].rfind('@')? + from;
    let colon = run.text[from..host].find(':')? + from + 1;
    let before_path = !run.text[from..colon].contains('/');
    (before_path && host > colon).then(|| run.start + colon..run.start + host)
}

/// The address of a hook is a secret: whoever knows it may write. What is drawn at random in it goes.
fn last_of_hook(run: Run<'_>) -> Option<Range<usize>> {
    let lower = run.text.to_ascii_lowercase();
    let from = lower.find("://").map_or(0, |at| at + 3);
    if !lower[from..].contains("hook") || !lower[from..].contains('/') {
        return None;
    }
    let path = from + run.text[from..].find('/')? + 1;
    let mut at = path;
    for part in run.text[path..].split(['/', '?', '&', '=']) {
        let small = part.bytes().filter(u8::is_ascii_lowercase).count();
        let large = part.bytes().filter(u8::is_ascii_uppercase).count();
        if part.len() >= 16 && (is_random(part) || (small >= 4 && large >= 4)) {
            return Some(run.start + at..run.start + run.text.len());
        }
        at += part.len() + 1;
    }
    None
}

/// `session=...`, `sig=...`: values under a name that only secrets have.
fn given_values(run: Run<'_>) -> Vec<Range<usize>> {
    const NAMES: &[&str] = &[
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
    ];
    let mut found = Vec::new();
    for (at, _) in run.text.match_indices('=') {
        let name = run.text[..at].rsplit(['&', '?', ';', '/', '#']).next().unwrap_or("");
        let name = name.rsplit(['.', '-', ':']).next().unwrap_or(name).trim_start_matches('_');
        let name = name.to_ascii_lowercase();
        let known = NAMES.contains(&name.as_str())
            || ["_token", "_secret", "_key", "_password", "_pass", "_pwd", "session", "_sid"]
                .iter()
                .any(|end| name.ends_with(end));
        let value = &run.text[at + 1..];
        let value = &value[..value.find(['&', ';', '#']).unwrap_or(value.len())];
        if known && is_random(value) {
            found.push(run.start + at + 1..run.start + at + 1 + value.len());
        }
    }
    found
}

/// Groups of capitals and digits with dashes between, as licences are given out.
fn is_product_key(token: &str) -> bool {
    let groups: Vec<&str> = token.split('-').collect();
    let alike = groups.iter().all(|group| {
        (4..=8).contains(&group.len())
            && group.len() == groups[0].len()
            && group.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
    });
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    let letters = token.bytes().filter(u8::is_ascii_uppercase).count();
    alike && groups.len() >= 4 && digits >= 2 && letters >= 4
}

/// A coin's private key as wallets write it: one of three letters, and fifty that cannot be mistaken.
fn is_coin_key(token: &str) -> bool {
    (51..=52).contains(&token.len())
        && token.starts_with(['5', 'K', 'L'])
        && token.bytes().all(|b| b.is_ascii_alphanumeric() && !b"0OIl".contains(&b))
}

/// `123456789:` and thirty-odd letters, as bots are given.
fn is_bot_token(token: &str) -> bool {
    token.split_once(':').is_some_and(|(number, rest)| {
        (8..=12).contains(&number.len())
            && number.bytes().all(|b| b.is_ascii_digit())
            && rest.len() >= 30
            && is_random(rest)
    })
}

/// A key as one common program for Windows writes it: everything behind its private lines.
fn putty_keys(text: &str) -> Option<Range<usize>> {
    let start = text.find("PuTTY-User-Key-File")?;
    let private = text[start..].find("Private-Lines")? + start;
    let end = text[private..].find("\n\n").map_or(text.len(), |end| end + private);
    Some(private..end)
}

/// From "BEGIN ... PRIVATE KEY" to its end, or to the end of the text.
fn private_keys(text: &str) -> Vec<Range<usize>> {
    const BEGIN: &str = "-----BEGIN ";
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find(BEGIN).map(|at| at + from) {
        let label: String = text[at + BEGIN.len()..].chars().take(40).collect();
        from = at + BEGIN.len();
        if !label.contains("PRIVATE KEY") {
            continue;
        }
        let end = text[from..].find("-----END ").map(|end| end + from + 9);
        let end = end.and_then(|end| Some(text[end..].find("-----")? + end + 5));
        from = end.unwrap_or(text.len());
        found.push(at..from);
    }
    found
}

/// Card numbers and bank account numbers, with or without spaces.
fn numbers(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut next = 0;
    for (at, c) in text.char_indices() {
        let before = text[..at].chars().next_back();
        let inside = before.is_some_and(|b| b.is_alphanumeric() || b == '+');
        if at < next || inside || !c.is_ascii_alphanumeric() {
            continue;
        }
        let number = if c.is_ascii_digit() { card(&text[at..]) } else { account(&text[at..]) };
        if let Some(length) = number {
            next = at + length;
            found.push(at..next);
        }
    }
    found
}

/// The length of a card number that the text begins with.
fn card(text: &str) -> Option<usize> {
    let (mut digits, mut end, mut gap) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        match c.to_digit(10) {
            Some(digit) => {
                digits.push(digit);
                end = at + 1;
                gap = false;
            }
            None if matches!(c, ' ' | '-' | '.' | '\u{a0}') && !gap => gap = true,
            None => break,
        }
        if digits.len() > 19 {
            return None;
        }
    }
    let follows_word = text[end..].starts_with(char::is_alphabetic);
    (!follows_word && is_card(&digits)).then_some(end)
}

fn is_card(digits: &[u32]) -> bool {
    let head = |n: usize| digits.iter().take(n).fold(0, |sum, digit| sum * 10 + digit);
    let known = match digits.len() {
        13 | 19 => head(1) == 4 || (digits.len() == 19 && head(1) == 6),
        14 => matches!(head(2), 30 | 36 | 38 | 39),
        15 => matches!(head(2), 34 | 37),
        16 => {
            head(1) == 4
                || (51..=55).contains(&head(2))
                || (2221..=2720).contains(&head(4))
                || matches!(head(2), 35 | 60 | 62 | 64 | 65)
        }
        _ => false,
    };
    let sum: u32 = digits.iter().rev().enumerate().fold(0, |sum, (at, digit)| {
        let doubled = if at % 2 == 1 { digit * 2 } else { *digit };
        sum + if doubled > 9 { doubled - 9 } else { doubled }
    });
    known && sum.is_multiple_of(10) && digits.iter().any(|digit| *digit != digits[0])
}

/// The length of an IBAN that the text begins with.
fn account(text: &str) -> Option<usize> {
    let (mut code, mut end, mut best) = (String::new(), 0, None);
    let mut gap = false;
    for (at, c) in text.char_indices() {
        if c.is_ascii_alphanumeric() {
            code.push(c.to_ascii_uppercase());
            end = at + 1;
            gap = false;
        } else if matches!(c, ' ' | '-' | '\u{a0}') && !gap {
            gap = true;
        } else {
            break;
        }
        if (code.len() == 2 && !code.bytes().all(|b| b.is_ascii_uppercase()))
            || (code.len() == 4 && !code[2..].bytes().all(|b| b.is_ascii_digit()))
            || code.len() > 34
        {
            break;
        }
        let ends = !text[end..].starts_with(|c: char| c.is_ascii_alphanumeric());
        // Words with a number among them may add up by chance; an account is mostly digits.
        let digits = code.bytes().filter(u8::is_ascii_digit).count();
        if code.len() >= 15 && digits >= 10 && ends && remainder(&code) == 1 {
            best = Some(end);
        }
    }
    best
}

/// The number of an IBAN modulo 97, read from its fifth place on and its first four last.
fn remainder(code: &str) -> u32 {
    let (head, tail) = code.split_at(4);
    tail.bytes().chain(head.bytes()).fold(0, |rest, byte| {
        if byte.is_ascii_digit() {
            (rest * 10 + u32::from(byte - b'0')) % 97
        } else {
            (rest * 100 + u32::from(byte - b'A') + 10) % 97
        }
    })
}
