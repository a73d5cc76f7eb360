//! The inputs of a call besides its content: who calls, when, and under which preconditions.

use lukasa_core::learning::explicit::CREDENTIAL;
use lukasa_core::{Caller, CallerKind, Ids, JobId, Origin, Timestamp, TurnId, VersionId, Voice};
use sha2::{Digest, Sha256};

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
    /// The turns that the content was read from. If one was removed since, nothing is written.
    pub sources: Vec<TurnId>,
}

impl Request {
    pub fn new(caller: Caller, moment: Moment) -> Self {
        Self { caller, moment, idempotency: None, if_match: None, sources: Vec::new() }
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

    /// The request of the statement at this place of a turn or a pass: by an assistant, with an
    /// idempotency key. `sources` are the turns that it was read from.
    pub(crate) fn of_statement(&self, source: &str, place: usize, sources: Vec<TurnId>) -> Self {
        let caller = Caller {
            kind: CallerKind::Key,
            credential: CREDENTIAL.to_owned(),
            issuer: None,
            voice: Voice::stated(Origin::Assistant),
            ..self.caller.clone()
        };
        let key = format!("statement {source} {place}");
        let request_hash = key.clone().into_bytes();
        let request = Self { sources, ..Self::new(caller, self.moment) };
        Self { idempotency: Some(IdempotencyKey { key, request_hash }), ..request.numbered(place) }
    }

    /// The same request with ids of its own and without preconditions, for one of the many
    /// transactions that it is carried out in.
    pub(crate) fn part(&self, number: usize) -> Self {
        let mut hash = Sha256::new();
        hash.update(self.moment.seed);
        hash.update((number as u64).to_be_bytes());
        let mut part = Self { idempotency: None, if_match: None, ..self.clone() };
        part.moment.seed.copy_from_slice(&hash.finalize()[..16]);
        part
    }

    /// The same request with ids and an idempotency key of its own.
    pub(crate) fn numbered(&self, place: usize) -> Self {
        let mut seed = self.moment.seed;
        let offset = u8::try_from(place).unwrap_or(u8::MAX);
        for byte in &mut seed {
            *byte = byte.rotate_left(3) ^ offset.wrapping_mul(29).wrapping_add(1);
        }
        let idempotency = self.idempotency.as_ref().map(|old| {
            let key = format!("{} {place}", old.key);
            IdempotencyKey { request_hash: key.clone().into_bytes(), key }
        });
        Self { moment: Moment { now: self.moment.now, seed }, idempotency, ..self.clone() }
    }
}
