//! Request bodies: read within a size limit, a time limit, and one memory budget that all requests
//! of the process share. A JSON body is scanned for depth and count of values before it is parsed,
//! because a parsed value takes many times the memory of its text.

mod budget;

use std::error::Error as _;
use std::time::Duration;

use axum::RequestExt as _;
use axum::body::{Bytes, HttpBody as _};
use axum::extract::Request;
use axum::http::header::CONTENT_LENGTH;
use futures_util::StreamExt as _;
use http_body_util::LengthLimitError;
use tokio::time::{Instant, timeout, timeout_at};

use budget::UNIT_BYTES;
pub use budget::{BodyBudget, BodyHolder, BodyOwner, BodyPermit};

use crate::api::code::ErrorCode;
use crate::api::error::Problem;
use crate::api::limits::CurrentRequest;

/// How much memory a body that arrives reserves at a time.
const RESERVE_BYTES: usize = 1024 * 1024;
/// How long a client may send nothing in the middle of a body.
const BODY_IDLE_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a body may take before it needs to have arrived at `SLOWEST_BYTES_PER_SECOND`.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
const SLOWEST_BYTES_PER_SECOND: usize = 64 * 1024;
/// About how much memory one parsed JSON value takes beyond its text.
const VALUE_BYTES: usize = 96;
/// The deepest nesting of a JSON body.
pub const MAX_JSON_DEPTH: usize = 64;
/// The most values in a JSON body.
pub const MAX_JSON_VALUES: usize = 200_000;
/// The most values in a body of JSON lines: 500 items of 500 turns each.
pub const MAX_LINES_VALUES: usize = 4_000_000;

/// A body, and the memory reserved for it.
pub struct ReadBody {
    pub bytes: Bytes,
    pub permit: BodyPermit,
    owner: BodyOwner,
}

/// How long a body may take of which this much has arrived.
fn time_for(received: usize) -> Duration {
    BODY_TIMEOUT + Duration::from_secs((received / SLOWEST_BYTES_PER_SECOND) as u64)
}

impl ReadBody {
    /// Reads a request's body within the limit of its route. Memory is reserved as it arrives: what
    /// is only declared takes none of it from others.
    pub async fn read(budget: &BodyBudget, request: Request) -> Result<Self, Problem> {
        let declared = request.headers().get(CONTENT_LENGTH);
        let declared: Option<u64> = declared.and_then(|text| text.to_str().ok()?.parse().ok());
        let body = request.into_limited_body();
        let hint = body.size_hint();
        if let (Some(declared), Some(most)) = (declared, hint.upper())
            && declared > most
        {
            return Err(Problem::of(ErrorCode::BodyTooLarge));
        }
        let expected = usize::try_from(hint.lower()).unwrap_or(usize::MAX);
        let owner = CurrentRequest::body_owner();
        let (mut permit, mut reserved) = (BodyPermit::default(), UNIT_BYTES);
        let started = Instant::now();
        let mut stream = body.into_data_stream();
        let mut bytes = Vec::with_capacity(expected.min(UNIT_BYTES));
        loop {
            let next = timeout(BODY_IDLE_TIMEOUT, stream.next());
            let deadline = started + time_for(bytes.len());
            let chunk = match timeout_at(deadline, next).await {
                Ok(Ok(Some(Ok(chunk)))) => chunk,
                Ok(Ok(None)) => break,
                Ok(Ok(Some(Err(error)))) => return Err(read_problem(&error)),
                Ok(Err(_)) | Err(_) => return Err(Problem::of(ErrorCode::RequestTimeout)),
            };
            if bytes.len() + chunk.len() > reserved {
                let needed = bytes.len() + chunk.len() - reserved;
                let rest = match expected {
                    // The length was not declared.
                    0 => RESERVE_BYTES,
                    _ => expected.saturating_sub(reserved).min(RESERVE_BYTES),
                };
                let more = rest.max(needed);
                budget.reserve(&mut permit, &owner, more).await?;
                reserved += more;
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Self { bytes: bytes.into(), permit, owner })
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
            scan.await.map_err(|_| Problem::of(ErrorCode::Internal))?
        } else {
            scan_json(&self.bytes, max_values)
        };
        let values = shape.map_err(Problem::from)?;
        self.reserve(budget, values * VALUE_BYTES).await
    }

    /// Whether it is large enough to be processed on a blocking thread.
    pub fn is_large(&self) -> bool {
        self.bytes.len() > UNIT_BYTES
    }

    /// Reserves memory besides the body's own.
    pub async fn reserve(&mut self, budget: &BodyBudget, bytes: usize) -> Result<(), Problem> {
        budget.reserve(&mut self.permit, &self.owner, bytes).await
    }
}

fn read_problem(error: &axum::Error) -> Problem {
    let mut source = error.source();
    while let Some(error) = source {
        if error.is::<LengthLimitError>() {
            return Problem::of(ErrorCode::BodyTooLarge);
        }
        source = error.source();
    }
    Problem::of(ErrorCode::MalformedBody).because("The body ended early")
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
            JsonExcess::Depth => Problem::of(ErrorCode::MalformedBody)
                .because(&format!("The JSON is nested more than {MAX_JSON_DEPTH} levels deep")),
            JsonExcess::Values => {
                Problem::of(ErrorCode::BodyTooLarge).because("The JSON has too many values")
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

    #[test]
    fn body_has_to_arrive_at_the_slowest_rate() {
        assert_eq!(time_for(0), BODY_TIMEOUT);
        assert_eq!(time_for(64 << 10), BODY_TIMEOUT + Duration::from_secs(1));
        assert_eq!(time_for(64 << 20), BODY_TIMEOUT + Duration::from_secs(1024));
    }

    #[tokio::test]
    async fn memory_is_reserved_for_what_has_arrived() {
        let budget = BodyBudget::of_megabytes(4);
        let (sender, receiver) = tokio::sync::mpsc::unbounded_channel::<Bytes>();
        let pieces = futures_util::stream::unfold(receiver, |mut receiver| async move {
            Some((Ok::<_, std::convert::Infallible>(receiver.recv().await?), receiver))
        });
        let body = axum::body::Body::from_stream(pieces);
        let request = Request::builder().header(CONTENT_LENGTH, 2_000_000).body(body).unwrap();
        let reader = budget.clone();
        let reading = tokio::spawn(async move { ReadBody::read(&reader, request).await });
        tokio::task::yield_now().await;
        assert_eq!(budget.reserved_bytes(), 0, "nothing has arrived");
        sender.send(vec![0; 200 * 1024].into()).unwrap();
        while budget.reserved_bytes() == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(budget.reserved_bytes(), RESERVE_BYTES);
        drop(sender);
        let read = reading.await.unwrap().ok().unwrap();
        assert_eq!(read.bytes.len(), 200 * 1024);
        drop(read);
        assert_eq!(budget.reserved_bytes(), 0);
    }
}
