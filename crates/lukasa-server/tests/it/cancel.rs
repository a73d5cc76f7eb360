//! Clients that disconnect: ten thousand requests are dropped at random moments, and no state of
//! one user is left on a connection that serves another.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use lukasa_core::{TenantId, UserId};
use lukasa_server::api::AuthMode;
use lukasa_store::testing::postgres::Client as Admin;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::app::{Answer, Client, TestApp, canary};

const CANCELLED: usize = 10_000;
const READS: usize = 2_000;
const SEED: u64 = 0x0051_1906;

/// Counts of the requests that reached the server, and of those dropped before their response.
#[derive(Default)]
struct RequestCounts {
    begun: AtomicUsize,
    dropped: AtomicUsize,
}

/// Counts a request as dropped unless it is defused.
struct DropCounter(Arc<RequestCounts>, bool);

impl Drop for DropCounter {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(usize::from(!self.1), Ordering::Relaxed);
    }
}

async fn count(State(seen): State<Arc<RequestCounts>>, request: Request, next: Next) -> Response {
    seen.begun.fetch_add(1, Ordering::Relaxed);
    let mut under = DropCounter(seen, false);
    let response = next.run(request).await;
    under.1 = true;
    response
}

/// A user with a few memories, all of which contain the user's own canary.
struct TestUser {
    client: Client,
    id: UserId,
    canary_word: String,
    memories: Vec<String>,
}

async fn users(app: &TestApp) -> Vec<TestUser> {
    let mut users = Vec::new();
    for tenant in ["acme", "globex"] {
        let key = app.tenant_key(tenant).await;
        for name in ["alice", "bob", "carol"] {
            let (client, canary_word) = (key.about(name), canary(name));
            let mut memories = Vec::new();
            for number in 0..5 {
                let saved = client.save(&format!("memory {number} {canary_word}")).await;
                memories.push(saved.at("/memory/id"));
            }
            let id = UserId::named(TenantId::named(tenant), name);
            users.push(TestUser { client, id, canary_word, memories });
        }
    }
    users
}

/// The bytes of an HTTP request.
fn bytes(client: &Client, method: &str, path: &str, also: &str, body: &str) -> Vec<u8> {
    let (key, user) = (client.header("authorization"), client.header("x-lukasa-user"));
    format!(
        "{method} {path} HTTP/1.1\r\nhost: lukasa\r\n\
         authorization: {key}\r\nx-lukasa-user: {user}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n{also}\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A read or a write of the user's own memory.
fn some_request(user: &TestUser, number: usize, dice: &mut StdRng) -> Vec<u8> {
    let TestUser { client, canary_word, memories, .. } = user;
    let one = &memories[dice.random_range(0..memories.len())];
    let (method, path, body) = match dice.random_range(0..13) {
        0..3 => ("GET", "/api/memory".to_owned(), String::new()),
        3 => ("GET", format!("/api/memory/{one}"), String::new()),
        4 => ("GET", format!("/api/memory/{one}/history"), String::new()),
        5 => ("GET", "/api/operations?limit=5".to_owned(), String::new()),
        6..8 => {
            let body = json!({ "content": format!("saved {number} {canary_word}") });
            ("POST", "/api/memory".to_owned(), body.to_string())
        }
        8 => ("POST", format!("/api/memory/{one}/confirm"), "{}".to_owned()),
        9 => {
            let turn = json!({ "role": "user", "content": format!("said {number} {canary_word}") });
            let body = json!({ "turns": [turn] });
            ("POST", "/api/sessions/chat/turns".to_owned(), body.to_string())
        }
        10 => {
            let body = json!({ "query": format!("memory {canary_word}"), "turns": 5 });
            ("POST", "/api/memory/search".to_owned(), body.to_string())
        }
        11 => {
            let body =
                json!({ "query": format!("What about {canary_word}?"), "session_id": "chat" });
            ("POST", "/api/memory/retrieve".to_owned(), body.to_string())
        }
        _ => {
            let body = json!({ "content": format!("proposed {number} {canary_word}") });
            ("POST", "/api/memory/propose".to_owned(), body.to_string())
        }
    };
    bytes(client, method, &path, "", &body)
}

/// Sends the bytes, or some of them, and disconnects after a moment without reading the response.
async fn hang_up(address: &str, bytes: &[u8], dice: &mut StdRng) {
    let mut stream = TcpStream::connect(address).await.expect("the server listens");
    let sent = if dice.random_bool(0.05) { dice.random_range(0..bytes.len()) } else { bytes.len() };
    // The server may have closed the connection already.
    let _ = stream.write_all(&bytes[..sent]).await;
    match dice.random_range(0..3) {
        0 => {
            for _ in 0..dice.random_range(0..40) {
                tokio::task::yield_now().await;
            }
        }
        // The moment of disconnecting is random, so there is no event to await.
        1 => tokio::time::sleep(Duration::from_micros(dice.random_range(0..4_000))).await,
        _ => {}
    }
    if dice.random_bool(0.5) {
        let _ = stream.set_zero_linger();
    }
}

/// Sessions of the test's database that are idle in a transaction.
async fn idle_transactions(admin: &Admin) -> Vec<String> {
    sessions(admin, "state like 'idle in transaction%'").await
}

async fn sessions(admin: &Admin, which: &str) -> Vec<String> {
    let sql = format!(
        "select format('%s %s %s: %s', pid, application_name, state, query) \
           from pg_stat_activity where datname = current_database() \
            and pid <> pg_backend_pid() and {which} order by pid"
    );
    let rows = admin.query(&sql, &[]).await.expect("pg_stat_activity");
    rows.iter().map(|row| row.get(0)).collect()
}

/// Waits until no session runs anything; returns how long that took.
async fn quiet(admin: &Admin, limit: Duration) -> Duration {
    let start = Instant::now();
    let mut quiet_in_a_row = 0;
    while quiet_in_a_row < 3 {
        let busy = sessions(admin, "state <> 'idle' and application_name = 'lukasa'").await;
        quiet_in_a_row = if busy.is_empty() { quiet_in_a_row + 1 } else { 0 };
        assert!(start.elapsed() < limit, "still under way: {busy:?}");
        // Nothing signals the end of the last session, so this polls.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    start.elapsed()
}

/// Why a response is wrong that should hold only this user's memories.
fn response_fault(answer: &Answer, user: &TestUser, users: &[TestUser]) -> Option<String> {
    let text = answer.text();
    if answer.status != 200 {
        return Some(format!("{}: {text}", answer.status));
    }
    let foreign =
        users.iter().find(|other| other.id != user.id && text.contains(&other.canary_word));
    if let Some(foreign) = foreign {
        return Some(format!("{} sees {}", user.canary_word, foreign.canary_word));
    }
    let contents = answer.each("content");
    let own = |content: &String| content.contains(&user.canary_word);
    (!contents.iter().all(own)).then(|| format!("{} sees {contents:?}", user.canary_word))
}

/// Reads and writes during the cancellations and waits for every response; returns their number and
/// what was wrong with them. A busy database is not a fault: the 503 is retried.
async fn stay(
    users: Arc<Vec<TestUser>>,
    next: Arc<AtomicUsize>,
    seed: u64,
) -> (usize, Vec<String>) {
    let mut dice = StdRng::seed_from_u64(seed);
    let (mut answered, mut wrong) = (0, Vec::new());
    while next.load(Ordering::Relaxed) < CANCELLED {
        let user = &users[dice.random_range(0..users.len())];
        if dice.random_bool(0.5) {
            let answer = user.client.get("/api/memory?limit=20").await;
            wrong.extend(response_fault(&answer, user, &users).filter(|_| answer.status != 503));
        } else {
            let body =
                json!({ "content": format!("patient {seed} {answered} {}", user.canary_word) });
            let answer = user.client.post("/api/memory", body).await;
            let good = [201, 503].contains(&answer.status);
            wrong.extend((!good).then(|| format!("{}: {}", answer.status, answer.text())));
        }
        answered += 1;
    }
    (answered, wrong)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelled_requests_leave_no_state_on_connections() {
    let seen = Arc::new(RequestCounts::default());
    let layer = from_fn_with_state(seen.clone(), count);
    let app = TestApp::start(AuthMode::Keys, 4, |router| router.layer(layer)).await;
    let users = Arc::new(users(&app).await);
    let admin = app.database.admin().await;
    let address = app.base.trim_start_matches("http://").to_owned();

    let start = Instant::now();
    let next = Arc::new(AtomicUsize::new(0));
    let clients: Vec<_> = (0..24)
        .map(|lane| {
            let (users, next, address) = (users.clone(), next.clone(), address.clone());
            let mut dice = StdRng::seed_from_u64(SEED + lane);
            tokio::spawn(async move {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= CANCELLED {
                        return;
                    }
                    let user = &users[dice.random_range(0..users.len())];
                    let bytes = some_request(user, number, &mut dice);
                    hang_up(&address, &bytes, &mut dice).await;
                }
            })
        })
        .collect();
    let patient: Vec<_> = (0..6)
        .map(|lane| tokio::spawn(stay(users.clone(), next.clone(), SEED + 50 + lane)))
        .collect();
    for client in clients {
        client.await.unwrap();
    }
    let cancelling = start.elapsed();
    let (mut answered, mut wrong) = (0, Vec::new());
    for lane in patient {
        let (count, found) = lane.await.unwrap();
        answered += count;
        wrong.extend(found);
    }
    assert!(answered > 20, "requests were answered during the cancellations: {answered}");
    let settled = quiet(&admin, Duration::from_secs(10)).await;
    assert_eq!(idle_transactions(&admin).await, Vec::<String>::new());
    let served = sessions(&admin, "application_name = 'lukasa'").await;
    assert!((1..=12).contains(&served.len()), "the pool has its connections: {served:?}");
    let begun = seen.begun.load(Ordering::Relaxed);
    let dropped = seen.dropped.load(Ordering::Relaxed);
    assert!(dropped > CANCELLED / 20, "{dropped} of {begun} were dropped under way");

    let start = Instant::now();
    let lanes: Vec<_> = (0..8)
        .map(|lane| {
            let users = users.clone();
            let mut dice = StdRng::seed_from_u64(SEED + 100 + lane);
            tokio::spawn(async move {
                let mut wrong = Vec::new();
                for _ in 0..READS / 8 {
                    let user = &users[dice.random_range(0..users.len())];
                    let number = dice.random_range(0..user.memories.len());
                    let one = &user.memories[number];
                    if dice.random_bool(0.5) {
                        let answer = user.client.get("/api/memory?limit=20").await;
                        wrong.extend(response_fault(&answer, user, &users));
                        wrong.extend((answer.each("id").len() < 5).then(|| "a short list".into()));
                    } else {
                        let answer = user.client.get(&format!("/api/memory/{one}")).await;
                        let content = format!("memory {number} {}", user.canary_word);
                        wrong.extend(response_fault(&answer, user, &users));
                        wrong.extend((answer.at("/content") != content).then(|| answer.text()));
                    }
                }
                wrong
            })
        })
        .collect();
    for lane in lanes {
        wrong.extend(lane.await.unwrap());
    }
    println!(
        "cancelled {CANCELLED} in {cancelling:.1?}: {begun} begun, {dropped} dropped under way, \
         {answered} others answered meanwhile, quiet after {settled:.1?}; \
         then {READS} reads in {:.1?}: {} wrong (seed {SEED})",
        start.elapsed(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{} wrong: {:?}", wrong.len(), &wrong[..wrong.len().min(5)]);
    each_list_is_what_the_table_holds(&admin, &users).await;
}

/// Compares the whole list of each user with the table itself.
async fn each_list_is_what_the_table_holds(admin: &Admin, users: &[TestUser]) {
    let sql = "select content from fact_version where user_id = $1 and known_until is null \
                  and state = 'active' order by fact_id desc, version_id desc";
    for user in users {
        let rows = admin.query(sql, &[&user.id.uuid()]).await.expect("rows");
        let stored: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        let (mut listed, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = user.client.get(&format!("/api/memory?limit=200{cursor}")).await;
            listed.extend(page.each("content"));
            match page.at("/next_cursor").as_str() {
                "" => break,
                next => cursor = format!("&cursor={next}"),
            }
        }
        assert!(stored.len() >= 5);
        assert_eq!(listed, stored);
    }
}

/// Waits until a session of the server waits for a lock.
async fn blocked(admin: &Admin) {
    while sessions(admin, "application_name = 'lukasa' and wait_event_type = 'Lock'")
        .await
        .is_empty()
    {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn request_cancelled_in_a_statement_returns_a_clean_connection() {
    let seen = Arc::new(RequestCounts::default());
    let layer = from_fn_with_state(seen.clone(), count);
    // With one connection, any leftover state meets the very next request.
    let app = TestApp::start(AuthMode::Keys, 1, |router| router.layer(layer)).await;
    let users = users(&app).await;
    let (alice, other) = (&users[0], &users[4]);
    let (admin, holder) = (app.database.admin().await, app.database.admin().await);
    let address = app.base.trim_start_matches("http://").to_owned();
    let one = &alice.memories[0];
    let save = |number: usize| json!({ "content": format!("save {number} {}", alice.canary_word) });
    let cases = [
        ("fact_version", "GET", "/api/memory".to_owned(), None),
        ("fact_version", "GET", format!("/api/memory/{one}"), None),
        ("fact_version", "GET", format!("/api/memory/{one}/history"), None),
        ("operation", "GET", "/api/operations".into(), None),
        ("domain", "GET", "/api/domains".into(), None),
        ("users", "GET", "/api/users".into(), None),
        ("users", "GET", "/api/users/alice".into(), None),
        ("credential", "GET", "/api/keys".into(), None),
        ("idempotency", "POST", "/api/memory".into(), Some(save(1))),
        ("operation", "POST", "/api/memory".into(), Some(save(2))),
        ("fact_version", "POST", "/api/memory".into(), Some(save(3))),
        ("link", "GET", format!("/api/memory/{one}/links"), None),
    ];
    for (number, (table, method, path, body)) in cases.iter().enumerate() {
        let at = format!("{method} {path} over {table}");
        // Rehearsed without the lock, so that the statements are prepared and only their execution
        // waits.
        let rehearsed = body.as_ref().map(|_| save(100 + number));
        let rehearsing = alice.client.with("idempotency-key", &format!("rehearsal-{number}"));
        assert!(rehearsing.call(method, path, rehearsed).await.is_good(), "{at}");
        let lock = format!("begin; lock table {table} in access exclusive mode");
        holder.batch_execute(&lock).await.unwrap();
        let dropped = seen.dropped.load(Ordering::Relaxed);
        let body = body.as_ref().map(ToString::to_string).unwrap_or_default();
        let also = format!("idempotency-key: case-{number}\r\n");
        let bytes = bytes(&alice.client, method, path, &also, &body);
        let mut stream = TcpStream::connect(&address).await.unwrap();
        stream.write_all(&bytes).await.unwrap();
        blocked(&admin).await;
        drop(stream);
        while seen.dropped.load(Ordering::Relaxed) == dropped {
            tokio::task::yield_now().await;
        }
        holder.batch_execute("rollback").await.unwrap();
        quiet(&admin, Duration::from_secs(5)).await;
        assert_eq!(idle_transactions(&admin).await, Vec::<String>::new(), "{at}");
        // A user of another tenant writes and reads on the same connection.
        other.client.save(&format!("after {number} {}", other.canary_word)).await;
        let list = other.client.get("/api/memory").await;
        assert_eq!(response_fault(&list, other, &users), None, "{at}");
        assert_eq!(list.each("id").len(), 6 + number, "{at}");
    }
    // The writes had begun, so they were completed, each as a whole.
    for (number, key) in [(1, "case-8"), (2, "case-9"), (3, "case-10")] {
        let content = format!("save {number} {}", alice.canary_word);
        assert_eq!(traces(&admin, alice, &content, key).await, (1, 1, 1), "{content}");
    }
}

/// Rows of one save: versions, operations, stored responses.
async fn traces(admin: &Admin, user: &TestUser, content: &str, key: &str) -> (i64, i64, i64) {
    let sql = "select (select count(*) from fact_version where user_id = $1 and content = $2), \
                      (select count(*) from operation o join fact_version v \
                           on v.user_id = $1 and v.opened_by = o.operation_id \
                        where o.user_id = $1 and v.content = $2), \
                      (select count(*) from idempotency where user_id = $1 and key = $3)";
    let row = admin.query_one(sql, &[&user.id.uuid(), &content, &key]).await.expect("traces");
    (row.get(0), row.get(1), row.get(2))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn write_of_a_disconnected_client_is_atomic_and_a_retry_reports_it() {
    const WRITES: usize = 300;
    let app = TestApp::start(AuthMode::Keys, 4, |router| router).await;
    let users = users(&app).await;
    let admin = app.database.admin().await;
    let address = app.base.trim_start_matches("http://");
    let mut dice = StdRng::seed_from_u64(SEED);
    let content = |number: usize| format!("save number {number}");
    let body = |number: usize| json!({ "content": content(number) }).to_string();
    let key = |number: usize| format!("key-{number}");
    for number in 0..WRITES {
        let user = &users[number % users.len()];
        let also = format!("idempotency-key: {}\r\n", key(number));
        let bytes = bytes(&user.client, "POST", "/api/memory", &also, &body(number));
        hang_up(address, &bytes, &mut dice).await;
    }
    quiet(&admin, Duration::from_secs(10)).await;
    let mut done = 0;
    for number in 0..WRITES {
        let user = &users[number % users.len()];
        let before = traces(&admin, user, &content(number), &key(number)).await;
        assert!(before == (0, 0, 0) || before == (1, 1, 1), "half done: {number} {before:?}");
        done += usize::from(before.0 == 1);
        let retry = user.client.with("idempotency-key", &key(number));
        let retry = retry.with("content-type", "application/json");
        let answer = retry.send("POST", "/api/memory", body(number).into()).await.expect(201);
        let again = retry.send("POST", "/api/memory", body(number).into()).await.expect(201);
        assert_eq!(answer.body, again.body);
        assert_eq!(traces(&admin, user, &content(number), &key(number)).await, (1, 1, 1));
    }
    println!("{done} of {WRITES} writes were done although their client had gone");
    assert!(done > 0, "some of them reached the server");
}

#[tokio::test]
async fn open_transaction_is_detected() {
    let app = TestApp::with_keys().await;
    let (admin, leaking) = (app.database.admin().await, app.database.admin().await);
    app.tenant_key("acme").await.about("alice").save("all is well").await;
    // The key's last use is written after the response; that has to finish first.
    quiet(&admin, Duration::from_secs(10)).await;
    assert_eq!(idle_transactions(&admin).await, Vec::<String>::new());
    let opening = "set application_name = 'lukasa'; begin; set local app.tenant = 'x'";
    leaking.batch_execute(opening).await.unwrap();
    let caught = idle_transactions(&admin).await;
    assert_eq!(caught.len(), 1, "{caught:?}");
    assert!(caught[0].contains("idle in transaction"), "{caught:?}");
    leaking.batch_execute("rollback").await.unwrap();
    assert_eq!(idle_transactions(&admin).await, Vec::<String>::new());
}

#[tokio::test]
async fn response_with_a_foreign_memory_is_detected() {
    let app = TestApp::with_keys().await;
    let users = users(&app).await;
    let (one, other) = (&users[0], &users[1]);
    let answer = one.client.get("/api/memory").await;
    assert_eq!(response_fault(&answer, one, &users), None);
    assert!(
        response_fault(&answer, other, &users)
            .is_some_and(|found| found.contains(&one.canary_word))
    );
    let refused = app.anonymous().get("/api/memory").await;
    assert!(response_fault(&refused, one, &users).is_some());
}
