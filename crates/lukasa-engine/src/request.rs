//! The inputs of a call besides its content: who calls, when, and under which preconditions.

use lukasa_core::{Caller, Ids, JobId, Timestamp, VersionId};

/// The time of a call, and sixteen random bytes that seed its ids.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    pub now: Timestamp,
    pub seed: [u8; 16],
}

/// A key under which a write's answer is kept, and the digest of the request it answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    pub key: String,
    pub request_hash: Vec<u8>,
}

/// The caller, the time and the preconditions of a write.
#[derive(Debug, Clone)]
pub struct Request {
    pub caller: Caller,
    pub moment: Moment,
    pub idempotency: Option<IdempotencyKey>,
    /// The version the caller last saw; another one in its place is a conflict.
    pub if_match: Option<VersionId>,
}

impl Request {
    pub fn new(caller: Caller, moment: Moment) -> Self {
        Self { caller, moment, idempotency: None, if_match: None }
    }

    /// An id for a job that the request causes. It is generated separately from the request's other
    /// ids, so that queueing a job or not changes none of those.
    pub(crate) fn job_id(&self, purpose: &str) -> JobId {
        let mut seed = self.moment.seed;
        for (byte, more) in seed.iter_mut().zip(purpose.bytes()) {
            *byte ^= more;
        }
        Ids::new(self.moment.now, seed).job()
    }
}
