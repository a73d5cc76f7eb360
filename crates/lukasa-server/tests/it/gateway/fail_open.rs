//! The gateway fails open: with no database, a slow one or a broken one, the chat continues and the
//! response reports it; turns from that time are stored when the database is back.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use lukasa_core::{TenantId, UserId};
use lukasa_engine::credentials::CREDENTIAL_LEASE;
use lukasa_server::api::AuthMode;
use serde_json::json;

use super::fixture::{TestGateway, reply, say};

#[tokio::test]
async fn gateway_answers_without_the_database() {
    let fixture =
        TestGateway::open(AuthMode::Keys, |n, asked| reply(asked, &format!("Answer {n}"))).await;
    let (ada, direct) = fixture.assistant("ada").await;
    direct.save("Likes tea").await;
    let ada = ada.with("x-lukasa-session", "c");
    say(&ada, &["Hello"]).await.expect(200);
    fixture.turns(&direct, "c", 2).await;
    assert!(fixture.last().json().to_string().contains("Likes tea"));
    fixture.line.cut();
    // Longer than a cached admission is used without a check.
    fixture.clock.advance(CREDENTIAL_LEASE);
    let mut history = vec!["Hello".to_owned(), "Answer 0".to_owned()];
    for n in 1..6 {
        history.push(format!("Message {n}"));
        let messages: Vec<&str> = history.iter().map(String::as_str).collect();
        let answer = say(&ada, &messages).await.expect(200);
        assert_eq!(answer.header("lukasa-degraded"), Some("database"), "message {n}");
        // A key that cannot be checked gets no memory.
        assert!(!fixture.last().json().to_string().contains("Likes tea"), "message {n}");
        history.push(format!("Answer {n}"));
    }
    let (unknown, _) = {
        let (_, secret) =
            fixture.app.make_key("acme", None, &lukasa_core::Permission::ALL, None).await;
        (fixture.through(&fixture.app.presenting(&secret)).about("ada"), ())
    };
    let refused = say(&unknown, &["Hello"]).await.expect(503);
    assert_eq!(refused.at("/error/code"), "unavailable");
    fixture.line.restore();
    let stored = fixture.turns(&direct, "c", 12).await;
    let expected: Vec<String> = history
        .iter()
        .enumerate()
        .map(|(n, text)| format!("{}: {text}", if n % 2 == 0 { "user" } else { "assistant" }))
        .collect();
    assert_eq!(stored, expected, "in order, each once");
    say(&unknown, &["Hello"]).await.expect(200);
    let well = say(&ada, &["Hello"]).await.expect(200);
    assert_eq!(well.header("lukasa-degraded"), None, "and it recovers by itself");
}

#[tokio::test]
async fn gateway_does_not_wait_for_a_slow_database() {
    let limit = Duration::from_secs(1);
    let fixture =
        TestGateway::with_memory_deadline(limit, AuthMode::Keys, |_, asked| reply(asked, "Yes"))
            .await;
    let (ada, direct) = fixture.assistant("ada").await;
    direct.save("Likes tea").await;
    let ada = ada.with("x-lukasa-session", "c");
    // Prepares the statements on every connection: preparing would wait for a locked table too.
    for _ in 0..16 {
        say(&ada, &["Hello"]).await.expect(200);
    }
    let admin = fixture.app.database.admin().await;
    // The baseline frozen for the session can be read and confirmed; turns since then cannot.
    admin.batch_execute("begin; lock table passage in access exclusive mode").await.unwrap();
    let started = Instant::now();
    let slow = say(&ada, &["Hello", "Yes", "Again"]).await.expect(200);
    assert!(started.elapsed() < limit * 4, "{:?}", started.elapsed());
    assert_eq!(slow.header("lukasa-degraded"), Some("database"));
    assert_eq!(slow.header("lukasa-memories"), Some("1"), "what was confirmed");
    // Released first: the request waiting for one table holds the other.
    admin.batch_execute("rollback").await.unwrap();
    admin.batch_execute("begin; lock table baseline in access exclusive mode").await.unwrap();
    let slow = say(&ada, &["Hello", "Yes", "Again"]).await.expect(200);
    assert_eq!(slow.header("lukasa-degraded"), Some("database"));
    assert_eq!(slow.header("lukasa-memories"), Some("0"), "nothing was confirmed");
    admin.batch_execute("rollback").await.unwrap();
    let well = say(&ada, &["Hello", "Yes", "Again"]).await.expect(200);
    assert_eq!(well.header("lukasa-degraded"), None);
}

#[tokio::test]
async fn gateway_answers_without_memory_for_a_broken_database_or_deleted_user() {
    let fixture = TestGateway::answering(AuthMode::Keys, "Yes").await;
    let (ada, direct) = fixture.assistant("ada").await;
    direct.save("Likes tea").await;
    say(&ada, &["What do I like?"]).await.expect(200);
    let (bob, of_bob) = fixture.assistant("bob").await;
    of_bob.save("Likes coffee").await;
    say(&bob, &["What do I like?"]).await.expect(200);
    direct.delete("/api/users/bob").await;
    let gone = say(&bob, &["What do I like?"]).await.expect(200);
    assert_eq!(gone.header("lukasa-degraded"), Some("user_deleted"));
    assert!(!fixture.last().json().to_string().contains("coffee"));
    fixture.app.database.leave_unchecked();
    let admin = fixture.app.database.admin().await;
    admin.batch_execute("alter table passage rename to elsewhere").await.unwrap();
    let broken = say(&ada, &["What do I like?"]).await.expect(200);
    assert!(broken.header("lukasa-degraded").is_some(), "{:?}", broken.headers);
    assert_eq!(broken.json()["choices"][0]["message"]["content"], json!("Yes"));
}

#[tokio::test]
async fn revoked_key_is_not_admitted_from_the_cache() {
    let fixture = TestGateway::answering(AuthMode::Keys, "Yes").await;
    let (id, secret) =
        fixture.app.make_key("acme", None, &lukasa_core::Permission::ALL, None).await;
    let ada = fixture.through(&fixture.app.presenting(&secret)).about("ada");
    say(&ada, &["Hello"]).await.expect(200);
    let admin = fixture.through(&fixture.app.tenant_key("acme").await);
    admin.delete(&format!("/api/keys/{id}")).await.expect(200);
    fixture.line.cut();
    assert_eq!(say(&ada, &["Hello"]).await.expect(503).at("/error/code"), "unavailable");
}

#[tokio::test]
async fn refused_key_is_removed_from_the_admission_cache() {
    let fixture = TestGateway::answering(AuthMode::Keys, "Yes").await;
    let (id, secret) =
        fixture.app.make_key("acme", None, &lukasa_core::Permission::ALL, None).await;
    let ada = fixture.through(&fixture.app.presenting(&secret)).about("ada");
    say(&ada, &["Hello"]).await.expect(200);
    // Another server revokes it.
    let admin = fixture.app.tenant_key("acme").await;
    admin.delete(&format!("/api/keys/{id}")).await.expect(200);
    // The answer waits for the cached admissions of all servers.
    say(&ada, &["Hello"]).await.expect(401);
    fixture.line.cut();
    say(&ada, &["Hello"]).await.expect(401);
    // Longer than a cached refusal is used without a check.
    fixture.clock.advance(Duration::from_secs(5));
    say(&ada, &["Hello"]).await.expect(503);
}

#[tokio::test]
async fn exchanges_of_a_busy_user_do_not_delay_those_of_others() {
    const SESSIONS: usize = 40;
    // While the user is busy, no memory is read for a new session.
    let limit = Duration::from_millis(500);
    let fixture =
        TestGateway::with_memory_deadline(limit, AuthMode::Keys, |_, asked| reply(asked, "Yes"))
            .await;
    let (ada, of_ada) = fixture.assistant("ada").await;
    let (bob, of_bob) = fixture.assistant("bob").await;
    of_ada.save("Likes tea").await;
    of_bob.save("Likes coffee").await;
    let (high, _) = UserId::named(TenantId::named("acme"), "ada").uuid().as_u64_pair();
    let hold = format!("begin; select pg_advisory_xact_lock({})", high.cast_signed());
    let admin = fixture.app.database.admin().await;
    admin.batch_execute(&hold).await.unwrap();
    let chats = (0..SESSIONS).map(|number| {
        let ada = ada.with("x-lukasa-session", &format!("busy-{number}"));
        async move { say(&ada, &["Hello"]).await.expect(200) }
    });
    join_all(chats).await;
    say(&bob.with("x-lukasa-session", "other"), &["Hello"]).await.expect(200);
    assert_eq!(fixture.turns(&of_bob, "other", 2).await, ["user: Hello", "assistant: Yes"]);
    admin.batch_execute("rollback").await.unwrap();
    for number in [0, SESSIONS - 1] {
        let stored = fixture.turns(&of_ada, &format!("busy-{number}"), 2).await;
        assert_eq!(stored, ["user: Hello", "assistant: Yes"]);
    }
}
