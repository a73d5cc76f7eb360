//! Open event streams, counted per credential and per tenant.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of open streams of one credential.
pub const STREAMS_PER_CREDENTIAL: usize = 200;
/// Maximum number of open streams of one tenant.
pub const STREAMS_PER_TENANT: usize = 1_000;

/// Counts of open streams by key. A key without open streams is removed.
#[derive(Clone, Default)]
pub struct OpenStreams(Arc<Mutex<HashMap<String, usize>>>);

/// A stream that counts as open until this is dropped.
pub struct OpenStream {
    keys: [String; 2],
    counts: OpenStreams,
}

impl OpenStreams {
    /// Counts one more stream of this credential and this tenant; `None` if one of them has reached
    /// its limit.
    pub fn open(&self, credential: &str, tenant: &str) -> Option<OpenStream> {
        let keys = [format!("credential {credential}"), format!("tenant {tenant}")];
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let open = |key: &String| counts.get(key).copied().unwrap_or(0);
        let full = open(&keys[0]) >= STREAMS_PER_CREDENTIAL || open(&keys[1]) >= STREAMS_PER_TENANT;
        if full {
            return None;
        }
        for key in &keys {
            *counts.entry(key.clone()).or_default() += 1;
        }
        Some(OpenStream { keys, counts: self.clone() })
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        let mut counts = self.counts.0.lock().unwrap_or_else(PoisonError::into_inner);
        for key in &self.keys {
            if let Some(count) = counts.get_mut(key) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(key);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_streams_are_limited_per_credential() {
        let streams = OpenStreams::default();
        let mut open: Vec<_> =
            (0..STREAMS_PER_CREDENTIAL).map(|_| streams.open("k", "t").unwrap()).collect();
        assert!(streams.open("k", "t").is_none());
        let other = streams.open("other", "t").unwrap();
        open.pop();
        open.push(streams.open("k", "t").unwrap());
        drop((open, other));
        assert!(streams.0.lock().unwrap().is_empty());
    }
}
