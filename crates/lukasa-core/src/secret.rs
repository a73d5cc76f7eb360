//! The printed form of a key or token: `lk_live_<id>_<secret>_<check>`.
//!
//! The prefix and the check let secret scanners find a leaked one without false alarms; the id
//! finds the row; only a hash of the secret is stored. The caller passes in the 32 random bytes.

use jiff::SignedDuration;
use sha2::{Digest, Sha256};

use crate::time::Timestamp;
use crate::words;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

words!(
    /// The kind of a credential, readable from its prefix.
    Prefix {
        /// An application's key.
        Key = "lk_live",
        /// A user's short-lived token.
        Token = "lk_user",
        /// A one-time link that signs in one user's browser.
        Link = "lk_link",
        /// A console sign-in, held by the browser while its user is signed in.
        SignIn = "lk_sign",
        /// An OAuth authorization code.
        Code = "lk_code",
        /// An OAuth access token, for requests to the MCP endpoint.
        Access = "lk_accs",
        /// An OAuth refresh token.
        Refresh = "lk_refr",
    }
);

/// A parsed credential.
#[derive(Clone, PartialEq, Eq)]
pub struct PresentedCredential {
    pub prefix: Prefix,
    pub key_id: String,
    pub secret_hash: [u8; 32],
}

/// Formats a new credential and returns it with the id and hash to store.
pub fn print(prefix: Prefix, random: &[u8; 32]) -> (String, PresentedCredential) {
    let id_source = Sha256::digest([b"id".as_slice(), random].concat());
    let key_id = base32(&id_source[..10]);
    let secret = base32(random);
    let body = format!("{}_{key_id}_{secret}", prefix.as_str());
    let text = format!("{body}_{}", check(&body));
    (
        text,
        PresentedCredential {
            prefix,
            key_id,
            secret_hash: Sha256::digest(secret.as_bytes()).into(),
        },
    )
}

/// Parses a credential; `None` if it does not have our format or its check is wrong.
pub fn parse(text: &str) -> Option<PresentedCredential> {
    let (body, given) = text.rsplit_once('_')?;
    let (prefix, rest) = Prefix::ALL.into_iter().find_map(|prefix| {
        Some((prefix, body.strip_prefix(prefix.as_str())?.strip_prefix('_')?))
    })?;
    let (key_id, secret) = rest.split_once('_')?;
    let plain = |text: &str| text.bytes().all(|b| ALPHABET.contains(&b));
    if key_id.len() != 16 || secret.len() != 52 || !plain(key_id) || !plain(secret) {
        return None;
    }
    (check(body) == given).then(|| PresentedCredential {
        prefix,
        key_id: key_id.to_owned(),
        secret_hash: Sha256::digest(secret.as_bytes()).into(),
    })
}

fn check(body: &str) -> String {
    base32(&Sha256::digest(body.as_bytes())[..5])[..6].to_owned()
}

fn base32(bytes: &[u8]) -> String {
    let mut text = String::new();
    let (mut bits, mut count) = (0u32, 0);
    for byte in bytes {
        bits = (bits << 8) | u32::from(*byte);
        count += 8;
        while count >= 5 {
            count -= 5;
            text.push(ALPHABET[(bits >> count) as usize & 31] as char);
        }
    }
    if count > 0 {
        text.push(ALPHABET[(bits << (5 - count)) as usize & 31] as char);
    }
    text
}

/// How long a secret that is replaced stays valid, unless the request says otherwise, in hours.
pub const OVERLAP_HOURS: i64 = 24;
/// The longest time that a secret that is replaced can stay valid, in hours.
pub const MAX_OVERLAP_HOURS: i64 = 720;

/// The end of a secret that is replaced now; `None` if the overlap is negative or too long.
pub fn overlap_end(now: Timestamp, hours: i64) -> Option<Timestamp> {
    let is_allowed = (0..=MAX_OVERLAP_HOURS).contains(&hours);
    is_allowed.then(|| now + SignedDuration::from_hours(hours))
}

/// Whether two values are equal, in a time that does not depend on where they differ, so that timing
/// reveals nothing about a secret.
pub fn constant_time_eq(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_credential_parses_to_its_id_and_hash() {
        for prefix in Prefix::ALL {
            let (text, kept) = print(prefix, &[42; 32]);
            assert!(parse(&text).is_some_and(|presented| presented == kept), "{text}");
        }
    }

    #[test]
    fn overlap_of_a_replaced_secret_is_bounded() {
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(overlap_end(now, 0), Some(now));
        assert_eq!(overlap_end(now, 2).map(|end| end.as_second()), Some(7_200));
        assert!(overlap_end(now, MAX_OVERLAP_HOURS).is_some());
        assert_eq!(overlap_end(now, MAX_OVERLAP_HOURS + 1), None);
        assert_eq!(overlap_end(now, -1), None);
    }

    #[test]
    fn credential_with_a_changed_character_is_rejected() {
        let (text, _) = print(Prefix::Key, &[42; 32]);
        for i in 0..text.len() {
            let mut bytes = text.clone().into_bytes();
            bytes[i] = if bytes[i] == b'x' { b'y' } else { b'x' };
            assert!(parse(&String::from_utf8(bytes).unwrap()).is_none(), "character {i}");
        }
        assert!(parse("").is_none() && parse("lk_live___").is_none());
    }
}
