//! Webhooks: who is told of operations, when a delivery is tried again and when it is given up, and
//! which addresses nothing is ever sent to. Nothing here sends.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::fact::words;
use crate::id::{OperationId, WebhookId};
use crate::operation::Verb;
use crate::time::Timestamp;

/// An address of the tenant's that is told of operations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Webhook {
    pub id: WebhookId,
    pub url: String,
    /// What deliveries are signed with. The receiver holds the same, so it cannot be kept as a hash.
    pub secret: Vec<u8>,
    /// Only operations of these kinds; every kind if there are none.
    pub verbs: Vec<Verb>,
    pub created_at: Timestamp,
    /// How many deliveries in a row have failed, whoever they were about.
    pub failures: i32,
    /// Since when none has arrived.
    pub failing_since: Option<Timestamp>,
    /// Until when it is left alone after a failure.
    pub rest_until: Option<Timestamp>,
    /// Since when nothing is sent to it, and why.
    pub off_at: Option<Timestamp>,
    pub off_because: Option<String>,
}

impl Webhook {
    pub fn wants(&self, verb: Verb) -> bool {
        self.verbs.is_empty() || self.verbs.contains(&verb)
    }
}

words!(
    /// Where a delivery stands.
    DeliveryState {
        // It failed, and will be tried again.
        Waiting = "waiting",
        Delivered = "delivered",
        // It failed as often as it was to be tried.
        Dead = "dead",
    }
);

/// One operation, on its way to one webhook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivery {
    pub operation: OperationId,
    /// Whom it is about, by the tenant's name for them.
    pub user: String,
    pub verb: Verb,
    pub state: DeliveryState,
    pub attempts: i32,
    /// What was last answered, if anything was.
    pub status: Option<i32>,
    pub error: Option<String>,
    pub first_at: Timestamp,
    pub last_at: Timestamp,
    /// When it is tried again.
    pub next_at: Option<Timestamp>,
}

/// The waits between attempts, in seconds: eight attempts within some 28 hours.
const RETRIES: [i64; 7] = [5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 10 * 3600];
/// For how long an endpoint may fail before it is switched off.
pub const PATIENCE: SignedDuration = SignedDuration::from_hours(120);
/// For how long it is remembered how a delivery went.
pub const DELIVERY_DAYS: i64 = 30;
/// How many webhooks a tenant may have.
pub const WEBHOOKS: usize = 20;

/// How long to wait after so many failed attempts, or nothing if there is no other. `random` is a
/// fraction between 0 and 1: up to a tenth is added, so that what failed together comes back apart.
pub fn wait_after(attempts: i32, random: f64) -> Option<SignedDuration> {
    let index = usize::try_from(attempts - 1).unwrap_or(0);
    let seconds = *RETRIES.get(index)? as f64;
    Some(SignedDuration::from_secs_f64(seconds * (1.0 + random.clamp(0.0, 1.0) / 10.0)))
}

/// How long an endpoint is left alone after so many failures in a row, whoever they were about: an
/// endpoint that is down must not keep workers from what others wait for.
pub fn rest_after(failures: i32) -> SignedDuration {
    const LONGEST: i64 = 300;
    let doublings = u32::try_from((failures - 1).clamp(0, 10)).unwrap_or(0);
    SignedDuration::from_secs((5 * 2i64.pow(doublings)).min(LONGEST))
}

/// Whether something was received, by what it was answered with.
pub fn is_received(status: u16) -> bool {
    (200..300).contains(&status)
}

/// What an endpoint answers that wants to hear no more.
pub const GONE: u16 = 410;

/// Whether an address is one of the internet at large. Whoever sets up a webhook chooses where the
/// server connects to, and must not reach its neighbours, the machine itself, or the address at which
/// a cloud tells machines their secrets.
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

/// Of version 6 only what is given out to networks is public, without what stands for something else:
/// tunnels carry an address of version 4 inside, which may be anybody's.
fn is_public_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    let given_out = first & 0xe000 == 0x2000;
    let special = first == 0x2001 && second < 0x0200;
    let documentation =
        (first == 0x2001 && second == 0x0db8) || (first == 0x3fff && second < 0x1000);
    let six_to_four = first == 0x2002;
    given_out && !special && !documentation && !six_to_four
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_is_tried_eight_times_in_some_28_hours() {
        let waits: Vec<_> = (1..).map_while(|attempts| wait_after(attempts, 0.0)).collect();
        let seconds: Vec<i64> = waits.iter().map(SignedDuration::as_secs).collect();
        assert_eq!(seconds, [5, 300, 1_800, 7_200, 18_000, 36_000, 36_000]);
        assert_eq!(wait_after(8, 0.0), None);
        assert_eq!(wait_after(2, 1.0), Some(SignedDuration::from_secs(330)));
    }

    #[test]
    fn an_endpoint_rests_longer_with_each_failure_and_never_for_long() {
        let rests: Vec<i64> = [1, 2, 3, 6, 7, 8, 1_000].map(|n| rest_after(n).as_secs()).into();
        assert_eq!(rests, [5, 10, 20, 160, 300, 300, 300]);
    }

    #[test]
    fn nothing_is_sent_to_an_address_that_is_not_of_the_internet() {
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
