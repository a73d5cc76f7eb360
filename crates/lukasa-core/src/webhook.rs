//! Webhooks: subscriptions to operations, the retry schedule of deliveries, and the addresses that
//! requests must never be sent to. Nothing here does network I/O.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::id::{OperationId, WebhookId};
use crate::operation::Verb;
use crate::time::Timestamp;
use crate::words;

/// A tenant's endpoint that is notified of operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    pub id: WebhookId,
    pub url: String,
    /// Key that deliveries are signed with. The receiver has the same one, so it cannot be stored
    /// as a hash.
    pub secret: Vec<u8>,
    /// Operations to deliver; every kind if empty.
    pub verbs: Vec<Verb>,
    pub created_at: Timestamp,
    /// Consecutive failed deliveries, across all users.
    pub failures: i32,
    /// Time of the first failure since the last success.
    pub failing_since: Option<Timestamp>,
    /// End of the pause after a failure.
    pub rest_until: Option<Timestamp>,
    /// When and why it was switched off.
    pub off_at: Option<Timestamp>,
    pub off_because: Option<String>,
    /// The secret before the last rotation, and until when deliveries are signed with it too.
    pub previous_secret: Option<Vec<u8>>,
    pub previous_until: Option<Timestamp>,
}

impl Webhook {
    /// The secrets that a delivery at this time is signed with, the newest first.
    pub fn secrets_at(&self, now: Timestamp) -> Vec<Vec<u8>> {
        let previous = self.previous_secret.clone();
        let previous = previous.filter(|_| self.overlap_until(now).is_some());
        std::iter::once(self.secret.clone()).chain(previous).collect()
    }

    /// The end of the overlap of the last rotation, unless it is over.
    pub fn overlap_until(&self, now: Timestamp) -> Option<Timestamp> {
        self.previous_until.filter(|until| now < *until)
    }

    /// Replaces the secret; deliveries are signed with the old one too until that time, if it is later.
    pub fn replace_secret(&mut self, secret: &[u8; 32], until: Timestamp, now: Timestamp) {
        let old = std::mem::replace(&mut self.secret, secret.to_vec());
        let is_accepted = now < until;
        self.previous_secret = is_accepted.then_some(old);
        self.previous_until = is_accepted.then_some(until);
    }

    pub fn wants(&self, verb: Verb) -> bool {
        self.verbs.is_empty() || self.verbs.contains(&verb)
    }
}

words!(
    /// State of a delivery.
    DeliveryState {
        // It failed and will be retried.
        Waiting = "waiting",
        Delivered = "delivered",
        // It failed on every attempt.
        Dead = "dead",
    }
);

/// Delivery of one operation to one webhook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    pub operation: OperationId,
    /// The user it is about, by the tenant's name for them.
    pub user: String,
    pub verb: Verb,
    pub state: DeliveryState,
    pub attempts: i32,
    /// HTTP status of the last response, if there was one.
    pub status: Option<i32>,
    pub error: Option<String>,
    pub first_at: Timestamp,
    pub last_at: Timestamp,
    /// Time of the next attempt.
    pub next_at: Option<Timestamp>,
}

/// Delays between attempts, in seconds: eight attempts within some 28 hours.
const RETRY_DELAYS_SECONDS: [i64; 7] =
    [5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 10 * 3600];
/// How long an endpoint may fail before it is switched off.
pub const DISABLE_AFTER: SignedDuration = SignedDuration::from_hours(120);
/// Retention of delivery records, in days.
pub const DELIVERY_DAYS: i64 = 30;
/// Maximum number of webhooks per tenant.
pub const MAX_WEBHOOKS: usize = 20;

/// Delay before the next attempt after `attempts` failed ones; `None` after the last. `random` is a
/// fraction between 0 and 1: up to a tenth is added as jitter, so that deliveries that failed
/// together are not retried together.
pub fn wait_after(attempts: i32, random: f64) -> Option<SignedDuration> {
    let index = usize::try_from(attempts - 1).unwrap_or(0);
    let seconds = *RETRY_DELAYS_SECONDS.get(index)? as f64;
    Some(SignedDuration::from_secs_f64(seconds * (1.0 + random.clamp(0.0, 1.0) / 10.0)))
}

/// Pause of an endpoint after `failures` consecutive failures, across all users: an endpoint that
/// is down must not keep workers from other deliveries.
pub fn rest_after(failures: i32) -> SignedDuration {
    const MAX_SECONDS: i64 = 300;
    let doublings = u32::try_from((failures - 1).clamp(0, 10)).unwrap_or(0);
    SignedDuration::from_secs((5 * 2i64.pow(doublings)).min(MAX_SECONDS))
}

/// Whether the response status means that the delivery was received.
pub fn is_received(status: u16) -> bool {
    (200..300).contains(&status)
}

/// HTTP status of an endpoint that unsubscribes.
pub const GONE: u16 = 410;

/// Whether an address is on the public internet. The author of a webhook chooses where the server
/// connects to, and must not reach its network, the machine itself, or the metadata service of a
/// cloud, which returns credentials.
pub fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => is_public_v4(v4),
        IpAddr::V6(v6) => is_public_v6(v6),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    const RESERVED: [([u8; 4], u32); 16] = [
        ([0, 0, 0, 0], 8),
        ([10, 0, 0, 0], 8),
        ([100, 64, 0, 0], 10),
        ([127, 0, 0, 0], 8),
        ([169, 254, 0, 0], 16),
        ([172, 16, 0, 0], 12),
        ([192, 0, 0, 0], 24),
        ([192, 0, 2, 0], 24),
        ([192, 88, 99, 0], 24),
        ([192, 168, 0, 0], 16),
        ([198, 18, 0, 0], 15),
        ([198, 51, 100, 0], 24),
        ([203, 0, 113, 0], 24),
        ([224, 0, 0, 0], 4),
        ([240, 0, 0, 0], 4),
        ([255, 255, 255, 255], 32),
    ];
    let bits = u32::from(address);
    let within = |(of, length): &([u8; 4], u32)| {
        (bits ^ u32::from(Ipv4Addr::from(*of))).leading_zeros() >= *length
    };
    !RESERVED.iter().any(within)
}

/// Only global unicast addresses are public, without special-purpose blocks: tunnel addresses embed
/// an IPv4 address, which may be private.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    let global_unicast = first & 0xe000 == 0x2000;
    let special = first == 0x2001 && second < 0x0200;
    let documentation =
        (first == 0x2001 && second == 0x0db8) || (first == 0x3fff && second < 0x1000);
    let six_to_four = first == 0x2002;
    global_unicast && !special && !documentation && !six_to_four
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn webhook_delivery_is_tried_eight_times_in_28_hours() {
        let waits: Vec<_> = (1..).map_while(|attempts| wait_after(attempts, 0.0)).collect();
        let seconds: Vec<i64> = waits.iter().map(SignedDuration::as_secs).collect();
        assert_eq!(seconds, [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000]);
        assert_eq!(wait_after(8, 0.0), None);
        assert_eq!(wait_after(2, 1.0), Some(SignedDuration::from_secs(330)));
    }

    #[test]
    fn webhook_pause_grows_with_failures_up_to_five_minutes() {
        let rests: Vec<i64> = [1, 2, 3, 6, 7, 8, 1_000].map(|n| rest_after(n).as_secs()).into();
        assert_eq!(rests, [5, 10, 20, 160, 300, 300, 300]);
    }

    #[test]
    fn webhook_address_must_be_public() {
        for private in [
            "0.0.0.0",
            "0.1.2.3",
            "10.1.2.3",
            "100.64.0.1",
            "100.127.255.255",
            "127.0.0.1",
            "127.8.8.8",
            "169.254.169.254",
            "169.254.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.1",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::ffff:169.254.169.254",
            "::127.0.0.1",
            "64:ff9b::7f00:1",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
            "2001:10::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "3fff::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
        for public in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.1",
            "100.63.255.255",
            "100.128.0.1",
            "126.1.1.1",
            "128.0.0.1",
            "172.15.255.255",
            "172.32.0.1",
            "192.1.0.1",
            "193.0.0.1",
            "223.255.255.255",
            "2001:4860:4860::8888",
            "2606:4700:4700::1111",
            "2a00:1450::1",
            "::ffff:8.8.8.8",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }
}
