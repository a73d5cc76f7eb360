//! When two responses are the same, and when a response is a leak. Nothing here depends on the
//! server: the matrix and the planted faults are judged by the same functions.

use serde_json::Value;

use crate::app::Answer;

/// Result of one attempt: the response for another user's resource, and the one for a resource that
/// never existed, each with what was sent in its place.
pub struct Pair {
    pub real: Answer,
    pub absent: Answer,
    pub sent: Vec<(String, String)>,
}

/// Headers that differ between any two responses.
const OF_THE_MOMENT: [&str; 2] = ["date", "lukasa-request-id"];
/// Headers that differ between two writes that both succeeded.
const OF_A_WRITE: [&str; 3] = ["content-length", "etag", "set-cookie"];

impl Pair {
    /// How the two responses differ, if they do. Of two writes that both succeeded, the ids,
    /// secrets, times and numbers of what they created are not compared; everything else is, to the
    /// byte.
    pub fn difference(&self, writes: bool) -> Option<String> {
        let (real, absent) = (&self.real, &self.absent);
        if real.status != absent.status {
            return Some(format!(
                "status {} for a foreign id, {} for an unknown id; {}",
                real.status,
                absent.status,
                real.text()
            ));
        }
        let made = writes && real.is_good();
        let (one, other) = (headers(real, made), headers(absent, made));
        if one != other {
            return Some(format!("headers {one:?} for a foreign id, {other:?} for an unknown id"));
        }
        let same = match made {
            false => unsigned(&real.text()) == unsigned(&absent.text()),
            true => {
                let sent = |i: usize| -> Vec<&str> {
                    let pairs = self.sent.iter();
                    pairs.map(|(real, absent)| [real.as_str(), absent][i]).collect()
                };
                masked(real.json(), &sent(0)) == masked(absent.json(), &sent(1))
            }
        };
        let bodies = || format!("body {} for a foreign id, {}", real.text(), absent.text());
        (!same).then(bodies)
    }
}

/// The headers that must be equal.
pub fn headers(answer: &Answer, made: bool) -> Vec<&(String, String)> {
    let skipped =
        |name: &str| OF_THE_MOMENT.contains(&name) || (made && OF_A_WRITE.contains(&name));
    answer.headers.iter().filter(|(name, _)| !skipped(name)).collect()
}

/// Whether two responses are the same.
pub fn same(one: &Answer, other: &Answer) -> bool {
    one.status == other.status
        && headers(one, false) == headers(other, false)
        && one.body == other.body
}

/// The first private word of another user in the body or headers of a response.
pub fn private_word<'w>(answer: &Answer, private: &'w [String]) -> Option<&'w str> {
    let mut bytes = answer.text();
    for (_, value) in &answer.headers {
        bytes.push('\n');
        bytes.push_str(value);
    }
    private.iter().map(String::as_str).find(|word| bytes.contains(word))
}

/// The text without the signature of a vault, which is made for one user, and without the digest of
/// the files that hold it.
fn unsigned(text: &str) -> String {
    const SIGNATURE_DIGITS: usize = 128;
    const DIGEST_DIGITS: usize = 64;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_hexdigit()) {
        let (before, from) = rest.split_at(start);
        out.push_str(before);
        let digits = from.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(from.len());
        let (run, behind) = from.split_at(digits);
        let of_files =
            digits == DIGEST_DIGITS && out.ends_with("\"sha256\":\"") && text.contains("signature");
        let masked = digits == SIGNATURE_DIGITS || of_files;
        out.push_str(if masked { "(signed)" } else { run });
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// The JSON without values that every write renews and without what was sent.
fn masked(value: Value, sent: &[&str]) -> Value {
    match value {
        Value::Object(fields) => {
            let mask = |(key, value): (String, Value)| {
                let counted = ["first", "turns"].contains(&key.as_str()) && value.is_number();
                let renewed = counted || (is_renewed(&key) && !value.is_null());
                let value = if renewed { Value::from("(renewed)") } else { masked(value, sent) };
                (key, value)
            };
            Value::Object(fields.into_iter().map(mask).collect())
        }
        Value::Array(items) => {
            Value::Array(items.into_iter().map(|item| masked(item, sent)).collect())
        }
        Value::String(text) => {
            let text = sent.iter().fold(text, |text, word| text.replace(word, "(sent)"));
            Value::String(unsigned(&text))
        }
        other => other,
    }
}

fn is_renewed(key: &str) -> bool {
    const ENDS: [&str; 5] = ["_id", "_ids", "_at", "_from", "_until"];
    ["id", "at", "href", "secret", "sha256"].contains(&key)
        || ENDS.iter().any(|end| key.ends_with(end))
}
