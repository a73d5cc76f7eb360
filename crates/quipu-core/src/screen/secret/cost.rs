//! The time that finding secrets takes grows no faster than the text.

use std::time::{Duration, Instant};

use super::find_secrets;

/// Stretches that a text is made of by repeating them, each chosen against one of the finders.
#[rustfmt::skip]
const REPEATED: &[&str] = &[
    "a", "1", "-", " ", "\n", "=", ":", ".", "\"", "a:", "a=", "a.", "a-", "1 ", "1-", "4111 ",
    "sk-", "sk-a1", "ghp_", "glpat-.", "eyJ.", "eyJ", ".eyJ", "http://", "http://a:", "http://a:b@",
    "a@", "://:", "key=", "token=a", "key=key", "_token=", "password=", "password: ", "password is ",
    "code ", "code-", "code is ", "code code ", "code 1 ", "pin 1", "code.", "is ", "for ",
    "password for ", "key 9f86d081884c7d659a2feaa0c55ad015 ", "9f86d081884c7d659a2feaa0c55ad015 ",
    "9f86d081884c7d659a2feaa0c55ad015", "token ", "seed ", "mnemonic abc ",
    "frase recuperacion abcd efgh ", "abandon ", "login a / ", "-u a:", "-u ", "Bearer ", "Basic ",
    "Bearer a", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----: \n",
    "-----BEGIN PRIVATE KEY-----\n-----END ", "PuTTY-User-Key-File", "PuTTY-User-Key-FilePrivate-Lines",
    "hooks/", "hook", "/hook/a", "\u{200b}", "Ａ", "½", "密码", "密码是", "é", "[secret]", "[secret",
    "ABCD-", "a\\n", "%20", "$", "{", "AKIA", "AAAA", "00", "11", "sk_live_", "xoxb-",
];

const BYTES: usize = 8_000;

/// The shorter of two measurements.
fn time(text: &str) -> Duration {
    let once = || {
        let begun = Instant::now();
        std::hint::black_box(find_secrets(std::hint::black_box(text)));
        begun.elapsed()
    };
    (0..2).map(|_| once()).min().unwrap_or_default()
}

/// How much longer twice the text takes.
fn ratio(of: &str, before: &str, after: &str) -> f64 {
    let text = |bytes: usize| format!("{before}{}{after}", of.repeat(bytes / of.len()));
    let (short, long) = (time(&text(BYTES)), time(&text(2 * BYTES)));
    long.as_secs_f64() / short.as_secs_f64().max(1e-6)
}

#[test]
fn finding_secrets_takes_time_linear_in_the_text() {
    let _ = find_secrets("the tables are built at first use");
    let mut slow = Vec::new();
    for of in REPEATED {
        for (before, after) in [("", ""), ("sk-my password is ", "-------,,,,,@a:b@c")] {
            // A busy machine may delay one measurement, but not all of them.
            let ratios: Vec<f64> = (0..3)
                .scan(false, |done, _| {
                    let ratio = (!*done).then(|| ratio(of, before, after))?;
                    *done = ratio <= 3.0;
                    Some(ratio)
                })
                .collect();
            if ratios.iter().all(|ratio| *ratio > 3.0) {
                slow.push((of, before, ratios));
            }
        }
    }
    assert!(slow.is_empty(), "not linear: {slow:#?}");
}

#[test]
fn a_long_text_is_read_in_bounded_time() {
    let begun = Instant::now();
    for of in ["a:", "a=", "key=", "code-", "sk-", "eyJ."] {
        find_secrets(&of.repeat(100_000 / of.len()));
    }
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
}
