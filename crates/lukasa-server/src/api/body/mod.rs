//! Request bodies: read within a size limit, a time limit, and one memory budget that all requests
//! of the process share. A JSON body is scanned for depth and count of values before it is parsed,
//! because a parsed value takes many times the memory of its text.

use std::error::Error as _;
use std::sync::Arc;
use std::time::Duration;

use axum::RequestExt as _;
use axum::body::{Bytes, HttpBody as _};
use axum::extract::Request;
use axum::http::header::CONTENT_LENGTH;
use futures_util::StreamExt as _;
use http_body_util::LengthLimitError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout, timeout_at};

use super::code::ProblemCode;
use super::error::Problem;

/// The unit in which memory is reserved. A body up to this size reserves nothing.
const UNIT_BYTES: usize = 64 * 1024;
/// How long a body waits for memory before it is refused.
const RESERVE_TIMEOUT: Duration = Duration::from_millis(100);
/// How long a client may send nothing in the middle of a body.
const BODY_IDLE_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a whole body may take, plus one second for each `SLOWEST_BYTES_PER_SECOND`.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
const SLOWEST_BYTES_PER_SECOND: u64 = 64 * 1024;
/// About how much memory one parsed JSON value takes beyond its text.
const VALUE_BYTES: usize = 96;
/// The deepest nesting of a JSON body.
pub const MAX_JSON_DEPTH: usize = 64;
/// The most values in a JSON body.
pub const MAX_JSON_VALUES: usize = 200_000;
/// The most values in a body of JSON lines: 500 items of 500 turns each.
pub const MAX_LINES_VALUES: usize = 4_000_000;

/// The memory that bodies in flight may take together, in this process.
#[derive(Clone)]
pub struct BodyBudget {
    units: Arc<Semaphore>,
    total: u32,
}

/// Memory that is reserved until this is dropped.
#[derive(Default)]
pub struct BodyPermit(Option<OwnedSemaphorePermit>);

impl BodyBudget {
    /// Creates a budget of this many megabytes; 0 is no limit.
    pub fn of_megabytes(megabytes: u32) -> Self {
        let total = match megabytes {
            0 => u32::MAX >> 3,
            some => some.saturating_mul(16).min(u32::MAX >> 3),
        };
        Self { units: Arc::new(Semaphore::new(total as usize)), total }
    }

    /// Reserves memory for this many bytes. One request may take the whole budget, never more.
    pub async fn reserve(&self, bytes: usize) -> Result<BodyPermit, Problem> {
        if bytes <= UNIT_BYTES {
            return Ok(BodyPermit(None));
        }
        let units = u32::try_from(bytes.div_ceil(UNIT_BYTES)).unwrap_or(u32::MAX).min(self.total);
        let units = Arc::clone(&self.units).acquire_many_owned(units);
        match timeout(RESERVE_TIMEOUT, units).await {
            Ok(Ok(permit)) => Ok(BodyPermit(Some(permit))),
            _ => Err(Problem::of(ProblemCode::Overloaded)
                .because("Too many large requests are in flight")),
        }
    }
}

impl BodyPermit {
    fn add(&mut self, more: BodyPermit) {
        match (&mut self.0, more.0) {
            (Some(held), Some(more)) => held.merge(more),
            (held @ None, more) => *held = more,
            (Some(_), None) => {}
        }
    }
}

/// A body, and the memory reserved for it.
pub struct ReadBody {
    pub bytes: Bytes,
    pub permit: BodyPermit,
}

impl ReadBody {
    /// Reads a request's body within the limit of its route. Memory is reserved for what is
    /// declared before any of it is read, and for the rest as it arrives.
    pub async fn read(budget: &BodyBudget, request: Request) -> Result<Self, Problem> {
        let declared = request.headers().get(CONTENT_LENGTH);
        let declared: Option<u64> = declared.and_then(|text| text.to_str().ok()?.parse().ok());
        let body = request.into_limited_body();
        let hint = body.size_hint();
        if let (Some(declared), Some(most)) = (declared, hint.upper())
            && declared > most
        {
            return Err(Problem::of(ProblemCode::BodyTooLarge));
        }
        let expected = usize::try_from(hint.lower()).unwrap_or(usize::MAX);
        let mut permit = budget.reserve(expected).await?;
        let mut reserved = expected.max(UNIT_BYTES);
        let allowed = BODY_TIMEOUT + Duration::from_secs(hint.lower() / SLOWEST_BYTES_PER_SECOND);
        let deadline = Instant::now() + allowed;
        let mut stream = body.into_data_stream();
        let mut bytes = Vec::with_capacity(expected.min(UNIT_BYTES));
        loop {
            let next = timeout(BODY_IDLE_TIMEOUT, stream.next());
            let chunk = match timeout_at(deadline, next).await {
                Ok(Ok(Some(Ok(chunk)))) => chunk,
                Ok(Ok(None)) => break,
                Ok(Ok(Some(Err(error)))) => return Err(read_problem(&error)),
                Ok(Err(_)) | Err(_) => return Err(Problem::of(ProblemCode::RequestTimeout)),
            };
            if bytes.len() + chunk.len() > reserved {
                let more = (bytes.len() + chunk.len() - reserved).max(1024 * 1024);
                permit.add(budget.reserve(more).await?);
                reserved += more;
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Self { bytes: bytes.into(), permit })
    }

    /// Refuses JSON that is too deep or has too many values, and reserves memory for the rest.
    pub async fn check_json(
        &mut self,
        budget: &BodyBudget,
        max_values: usize,
    ) -> Result<(), Problem> {
        let shape = if self.is_large() {
            let bytes = self.bytes.clone();
            let scan = tokio::task::spawn_blocking(move || scan_json(&bytes, max_values));
            scan.await.map_err(|_| Problem::of(ProblemCode::Internal))?
        } else {
            scan_json(&self.bytes, max_values)
        };
        let values = shape.map_err(Problem::from)?;
        self.permit.add(budget.reserve(values * VALUE_BYTES).await?);
        Ok(())
    }

    /// Whether it is large enough to be processed on a blocking thread.
    pub fn is_large(&self) -> bool {
        self.bytes.len() > UNIT_BYTES
    }

    /// Reserves memory besides the body's own.
    pub async fn reserve(&mut self, budget: &BodyBudget, bytes: usize) -> Result<(), Problem> {
        self.permit.add(budget.reserve(bytes).await?);
        Ok(())
    }
}

fn read_problem(error: &axum::Error) -> Problem {
    let mut source = error.source();
    while let Some(error) = source {
        if error.is::<LengthLimitError>() {
            return Problem::of(ProblemCode::BodyTooLarge);
        }
        source = error.source();
    }
    Problem::of(ProblemCode::MalformedBody).because("The body ended early")
}

/// Why a JSON text is not parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonExcess {
    Depth,
    Values,
}

impl From<JsonExcess> for Problem {
    fn from(excess: JsonExcess) -> Self {
        match excess {
            JsonExcess::Depth => Problem::of(ProblemCode::MalformedBody)
                .because(&format!("The JSON is nested more than {MAX_JSON_DEPTH} levels deep")),
            JsonExcess::Values => {
                Problem::of(ProblemCode::BodyTooLarge).because("The JSON has too many values")
            }
        }
    }
}

/// Counts the values of a JSON text in one pass, without parsing it. Text that is not JSON is
/// counted too: the parser that follows refuses it.
pub fn scan_json(text: &[u8], max_values: usize) -> Result<usize, JsonExcess> {
    let (mut depth, mut values, mut in_string, mut escaped) = (0usize, 1usize, false, false);
    for byte in text {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                values += 1;
                if depth > MAX_JSON_DEPTH {
                    return Err(JsonExcess::Depth);
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' => values += 1,
            _ => {}
        }
        if values > max_values {
            return Err(JsonExcess::Values);
        }
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_scan_counts_values_and_ignores_strings() {
        assert_eq!(scan_json(b"{}", 10), Ok(2));
        assert_eq!(scan_json(br#"{"a":[1,2,3],"b":"[[[,,,\"[,"}"#, 10), Ok(6));
        let flat = format!("[{}0]", "0,".repeat(9));
        assert_eq!(scan_json(flat.as_bytes(), 11), Ok(11));
        assert_eq!(scan_json(flat.as_bytes(), 10), Err(JsonExcess::Values));
        assert_eq!(scan_json("]]]]".as_bytes(), 10), Ok(1));
    }

    #[test]
    fn deeply_nested_json_is_rejected() {
        let nested = |n: usize| "[".repeat(n) + &"]".repeat(n);
        assert!(scan_json(nested(MAX_JSON_DEPTH).as_bytes(), 1_000).is_ok());
        let deep = scan_json(nested(MAX_JSON_DEPTH + 1).as_bytes(), 1_000);
        assert_eq!(deep, Err(JsonExcess::Depth));
    }

    #[tokio::test]
    async fn body_memory_is_reserved_and_given_back() {
        let budget = BodyBudget::of_megabytes(1);
        let held = budget.reserve(600 * 1024).await.unwrap();
        let refused = budget.reserve(600 * 1024).await.err().unwrap();
        assert!(refused.is(ProblemCode::Overloaded));
        assert!(budget.reserve(10_000).await.is_ok(), "small bodies reserve nothing");
        drop(held);
        // A reservation above the budget takes the whole budget, and others are refused.
        let whole = budget.reserve(50 << 20).await.unwrap();
        assert!(budget.reserve(100_000).await.is_err());
        drop(whole);
        assert!(budget.reserve(600 * 1024).await.is_ok());
    }
}
