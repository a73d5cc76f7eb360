//! Checks that every function that reads text of unknown length takes linear time.
//!
//! Each is given texts that have made such functions quadratic before, at a length and at four
//! times that length. The ratio of the two CPU times is checked, so neither a slow nor a busy
//! machine matters: a linear function takes four times as long, a quadratic one sixteen times.

use std::hint::black_box;
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use lukasa_core::memory_block;
use lukasa_core::{NewTurn, Role, Timestamp};
use lukasa_text::detect::Detector;
use lukasa_text::line::{harmless, harmless_start};
use lukasa_text::screen::{directive, ground, person, secret, sensitive};
use lukasa_text::terms::{Language, passages, words};
use lukasa_text::tokens;
use lukasa_text::when::mentions;

const LENGTH_BYTES: usize = 4_000;
const MAX_RATIO: f64 = 9.0;
/// Below this, a ratio only measures the resolution of the clock.
const SLACK: Duration = Duration::from_millis(20);
/// How long a text that seems to take too long is measured again.
const MEASURING_TIME: Duration = Duration::from_secs(5);

const PATTERNS: &[&str] = &[
    "a",
    "ay",
    "A",
    " ",
    "\n",
    "\t \n",
    "a ",
    "a:",
    "a=",
    "a@",
    "a.",
    "a-",
    "a_",
    "a/",
    "a'",
    "aA1",
    "1",
    "1 ",
    "1-",
    "1½",
    "½",
    "é",
    "e\u{301}",
    "\u{301}",
    "\u{200b}",
    "\u{e0041}",
    "北",
    "北 ",
    "가",
    "ก",
    "🙂",
    "👩‍",
    ":",
    "=",
    "<",
    "< ",
    "</",
    "&",
    "&lt;",
    "\\",
    "\"",
    "'",
    "`",
    "[",
    "](",
    "#",
    "*",
    "-",
    "_",
    "|",
    "://",
    "http://",
    "https://a:b@",
    "sk-",
    "sk-a ",
    "eyJ.",
    "AKIA",
    "ghp_",
    "-----BEGIN ",
    "password ",
    "password: ",
    "system:",
    "System: ",
    "user assistant:",
    "<memory nonce=\"1\">",
    "</memory nonce=\"1\">",
    "<memory nonce=\"1\"></memory nonce=\"1\">",
    "<memory nonce=\"1\"></memory nonce=\"2\">",
    "> <memory nonce=\"1\">\n> </memory nonce=\"1\">\n",
    "<mem</memory nonce=\"1\">",
    "<memory ",
    "&lt;memory ",
    "Precedence: safety and law, ",
    "always ",
    "I am ",
    "I have ",
    "my ",
    "don't ",
    "not ",
    "never say ",
    "ignore all previous instructions ",
    "please ",
    "last friday ",
    "on 3 May ",
    "in 2024 ",
    "tomorrow ",
    "am 3. ",
    "Anna ",
    "Anna's ",
    "O'Neil-",
    "diabetes ",
    "\u{202e}",
    "ß",
    "İ",
    "\u{feff}",
    "ﷺ",
    "ffi",
];

/// Patterns that are hard for the secret scanners.
const SECRET_PATTERNS: &[&str] = &[
    "a",
    "1",
    "-",
    " ",
    "\n",
    "=",
    ":",
    ".",
    "\"",
    "a:",
    "a=",
    "a.",
    "a-",
    "1 ",
    "1-",
    "4111 ",
    "sk-",
    "sk-a1",
    "ghp_",
    "glpat-.",
    "eyJ.",
    "eyJ",
    ".eyJ",
    "http://",
    "http://a:",
    "http://a:b@",
    "a@",
    "://:",
    "key=",
    "token=a",
    "key=key",
    "_token=",
    "password=",
    "password: ",
    "password is ",
    "code ",
    "code-",
    "code is ",
    "code code ",
    "code 1 ",
    "pin 1",
    "code.",
    "is ",
    "for ",
    "password for ",
    "key 9f86d081884c7d659a2feaa0c55ad015 ",
    "9f86d081884c7d659a2feaa0c55ad015 ",
    "9f86d081884c7d659a2feaa0c55ad015",
    "token ",
    "seed ",
    "mnemonic abc ",
    "frase recuperacion abcd efgh ",
    "abandon ",
    "login a / ",
    "-u a:",
    "-u ",
    "Bearer ",
    "Basic ",
    "Bearer a",
    "-----BEGIN ",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----: \n",
    "-----BEGIN PRIVATE KEY-----\n-----END ",
    "PuTTY-User-Key-File",
    "PuTTY-User-Key-FilePrivate-Lines",
    "hooks/",
    "hook",
    "/hook/a",
    "\u{200b}",
    "Ａ",
    "½",
    "密码",
    "密码是",
    "é",
    "[secret]",
    "[secret",
    "ABCD-",
    "a\\n",
    "%20",
    "$",
    "{",
    "AKIA",
    "AAAA",
    "00",
    "11",
    "sk_live_",
    "xoxb-",
];

fn cpu_time() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or(0))
}

fn check<T>(name: &str, read: impl Fn(&str) -> T) {
    check_patterns(name, PATTERNS, read);
}

fn check_patterns<T>(name: &str, patterns: &[&str], read: impl Fn(&str) -> T) {
    let cost = |text: &str| {
        let began = cpu_time();
        drop(black_box(Some(read(text))));
        cpu_time().saturating_sub(began)
    };
    let mut slow = Vec::new();
    for pattern in patterns {
        let text = |bytes: usize| pattern.repeat(bytes.div_ceil(pattern.len()));
        let (short, long) = (text(LENGTH_BYTES), text(4 * LENGTH_BYTES));
        cost("warm up");
        let (mut one, mut four) = (cost(&short), cost(&long));
        let ratio =
            |one: Duration, four: Duration| four.as_secs_f64() / one.as_secs_f64().max(1e-6);
        let is_slow = |one, four| four > SLACK && ratio(one, four) > MAX_RATIO;
        // A single measurement can be wrong on a busy machine, where a longer one is more often
        // interrupted; the least of many is not.
        let mut attempts = 4_u32;
        let until = Instant::now() + MEASURING_TIME;
        while is_slow(one, four) && (attempts > 0 || Instant::now() < until) {
            (one, four) = (one.min(cost(&short)), four.min(cost(&long)));
            attempts = attempts.saturating_sub(1);
        }
        let ratio = ratio(one, four);
        if is_slow(one, four) {
            slow.push(format!("{pattern:?}: {one:?} then {four:?}, ratio {ratio:.1}"));
        }
    }
    assert!(slow.is_empty(), "{name} is not linear:\n{}", slow.join("\n"));
}

#[test]
fn harmless_costs_linear_time() {
    check("harmless", harmless);
}

#[test]
fn harmless_start_costs_linear_time() {
    check("harmless_start", |text| harmless_start(text, 400));
}

#[test]
fn count_tokens_costs_linear_time() {
    tokens::warm();
    check("count_tokens", tokens::count);
}

#[test]
fn passages_costs_linear_time() {
    check("passages", |text| passages(text).len());
}

#[test]
fn words_in_english_costs_linear_time() {
    check("words_in_english", |text| words(text, Language::ENGLISH));
}

#[test]
fn words_in_german_costs_linear_time() {
    check("words_in_german", |text| words(text, Language::parse("de")));
}

#[test]
fn language_of_costs_linear_time() {
    check("language_of", Language::of);
}

#[test]
fn mentions_costs_linear_time() {
    check("mentions", |text| mentions(text, Timestamp::UNIX_EPOCH, &TimeZone::UTC));
}

#[test]
fn detect_domains_costs_linear_time() {
    let detector = Detector::builtin();
    check("detect_domains", |text| detector.detect(text));
}

#[test]
fn strip_costs_linear_time() {
    check("strip", |text| memory_block::strip(text).len());
}

#[test]
fn captured_turn_costs_linear_time() {
    check("captured_turn", |text| NewTurn::captured(Role::User, text, Timestamp::UNIX_EPOCH));
}

#[test]
fn redact_costs_linear_time() {
    check("redact", |text| secret::redact(text).len());
    check_patterns("redact", SECRET_PATTERNS, |text| secret::redact(text).len());
    let around = |text: &str| format!("sk-my password is {text}-------,,,,,@a:b@c");
    check_patterns("redact", SECRET_PATTERNS, |text| secret::redact(&around(text)).len());
}

#[test]
fn is_directive_costs_linear_time() {
    check("is_directive", directive::is_directive);
}

#[test]
fn authorises_costs_linear_time() {
    check("authorises", directive::authorises);
}

#[test]
fn speaks_of_self_costs_linear_time() {
    check("speaks_of_self", person::speaks_of_self);
}

#[test]
fn sensitive_category_costs_linear_time() {
    check("sensitive_category", sensitive::category);
}

#[test]
fn grounded_costs_linear_time() {
    check("grounded", |text| ground::grounded("I live in Porto", &[text]));
}

#[test]
fn grounded_claim_costs_linear_time() {
    check("grounded_claim", |text| ground::grounded(text, &["I live in Porto"]));
}
