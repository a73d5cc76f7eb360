//! The matrix against a server with planted leaks, to show that it detects them.

use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;

use super::matrix::Matrix;
use super::principals::IsolationFixture;
use super::table::{Row, TABLE};
use super::things::Thing;

/// Ways in which a server can reveal that something exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// 403 for what exists, 404 for what does not.
    Status,
    /// The same body, except for one character.
    Body,
    /// The same response, with one more header.
    Header,
    /// The row itself, for any caller.
    Row,
    /// The response is right, but the operation was done.
    Effect,
    /// A revoked credential is reported as such.
    Credential,
}

/// The planted fault, and the data of Alice that it needs.
#[derive(Clone)]
struct Plan {
    fault: Fault,
    ids: Vec<String>,
    key: String,
}

type Shared = Arc<Mutex<Plan>>;

async fn sabotage(State(plan): State<Shared>, mut request: Request, next: Next) -> Response {
    let plan = plan.lock().expect("a plan").clone();
    let there = plan.ids.iter().any(|id| request.uri().path().contains(id));
    if plan.fault == Fault::Effect && there && request.method() == "POST" {
        let mut twice = Request::new(Body::empty());
        *twice.method_mut() = request.method().clone();
        *twice.uri_mut() = request.uri().clone();
        *twice.extensions_mut() = std::mem::take(request.extensions_mut());
        let key = plan.key.parse().expect("a header");
        twice.headers_mut().insert(AUTHORIZATION, key);
        twice.headers_mut().insert("x-lukasa-user", HeaderValue::from_static("alice"));
        let _ = next.clone().run(twice).await;
    }
    let mut response = next.run(request).await;
    match (plan.fault, there, response.status().as_u16()) {
        (Fault::Status, true, 404) => *response.status_mut() = StatusCode::FORBIDDEN,
        (Fault::Body, true, 404) => {
            let body = std::mem::take(response.body_mut());
            let bytes = axum::body::to_bytes(body, 100_000).await.expect("a body");
            let text = String::from_utf8_lossy(&bytes).replace("There", "there");
            *response.body_mut() = Body::from(text);
        }
        (Fault::Header, true, _) => {
            response.headers_mut().insert("x-shard", HeaderValue::from_static("7"));
        }
        (Fault::Row, true, 404) => {
            *response.status_mut() = StatusCode::OK;
            *response.body_mut() = Body::from(plan.ids.join(" "));
        }
        (Fault::Credential, true, 401) => {
            let challenge = HeaderValue::from_static("Bearer error=revoked");
            response.headers_mut().insert("www-authenticate", challenge);
        }
        _ => {}
    }
    response
}

fn row(operation: &'static str) -> impl Iterator<Item = &'static Row> {
    TABLE.iter().filter(move |row| row.operation == operation)
}

#[tokio::test]
async fn matrix_detects_planted_leaks() {
    let plan = Plan { fault: Fault::None, ids: Vec::new(), key: String::new() };
    let plan: Shared = Arc::new(Mutex::new(plan));
    let layer = from_fn_with_state(plan.clone(), sabotage);
    let fixture = IsolationFixture::assemble(|router| router.layer(layer)).await;
    let set = |fault: Fault| {
        let memories = ["kept", "forgettable"].map(Thing::Memory);
        let things = memories.into_iter().chain([Thing::Session, Thing::Retrieval, Thing::DeadJob]);
        let ids: Vec<String> = things.map(|thing| fixture.alice.get(thing).into()).collect();
        let key = fixture.key.header("authorization");
        *plan.lock().unwrap() = Plan { fault, ids, key };
    };
    set(Fault::None);
    let rows = row("get_memory").chain(row("forget_memory"));
    let rows = rows.chain(row("get_session")).chain(row("get_retrieval"));
    let honest = Matrix::run(&fixture, rows).await;
    assert!(honest.faults.is_empty(), "{:?}", honest.faults);
    for (fault, operation, sign) in [
        (Fault::Status, "get_memory", "status 403"),
        (Fault::Body, "get_memory", "there is no such memory"),
        (Fault::Header, "get_memory", "x-shard"),
        (Fault::Row, "get_memory", "the answer holds mem_"),
        (Fault::Credential, "get_memory", "another 401"),
        (Fault::Effect, "forget_memory", "changed"),
        (Fault::Status, "get_session", "status 403"),
        (Fault::Body, "list_turns", "there is no such session"),
        (Fault::Row, "get_session_context", "the answer holds mem_"),
        (Fault::Header, "get_retrieval", "x-shard"),
        (Fault::Row, "get_window", "the answer holds mem_"),
        (Fault::Status, "retry_job", "status 403"),
        (Fault::Effect, "close_session", "changed"),
    ] {
        set(fault);
        let run = Matrix::run(&fixture, row(operation)).await;
        let caught = run.faults.iter().filter(|found| found.contains(sign)).count();
        println!("{fault:?}: {caught} findings of {sign:?} in {} attempts", run.attempts);
        assert!(caught > 0, "{fault:?} was not caught: {:?}", run.faults);
    }
}
