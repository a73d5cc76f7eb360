//! The gateway fails open: without its database, with a slow one, or with a broken one, the chat goes
//! on and says so; and what was said meanwhile is kept when the database is back.

use std::time::{Duration, Instant};

use lukasa_server::http::Door;
use serde_json::json;

use super::stage::{Stage, reply, say};

#[tokio::test]
async fn without_the_database_the_chat_goes_on() {
    let stage = Stage::open(Door::Keys, |n, asked| reply(asked, &format!("Answer {n}"))).await;
    let (ada, direct) = stage.assistant("ada").await;
    direct.save("Likes tea").await;
    let ada = ada.with("x-lukasa-session", "c");
    say(&ada, &["Hello"]).await.expect(200);
    stage.turns(&direct, "c", 2).await;
    assert!(stage.last().json().to_string().contains("Likes tea"));
    stage.line.cut();
    // Longer than an admission is believed without asking.
    tokio::time::sleep(Duration::from_millis(5_200)).await;
    let mut history = vec!["Hello".to_owned(), "Answer 0".to_owned()];
    for n in 1..6 {
        history.push(format!("Message {n}"));
        let messages: Vec<&str> = history.iter().map(String::as_str).collect();
        let answer = say(&ada, &messages).await.expect(200);
        assert_eq!(answer.header("lukasa-degraded"), Some("database"), "message {n}");
        // A key that cannot be checked is given no memory.
        assert!(!stage.last().json().to_string().contains("Likes tea"), "message {n}");
        history.push(format!("Answer {n}"));
    }
    let (unknown, _) = {
        let (_, secret) =
            stage.app.make_key("acme", None, &lukasa_core::Permission::ALL, None).await;
        (stage.through(&stage.app.presenting(&secret)).about("ada"), ())
    };
    let refused = say(&unknown, &["Hello"]).await.expect(503);
    assert_eq!(refused.at("/error/code"), "unavailable");
    stage.line.mend();
    let kept = stage.turns(&direct, "c", 12).await;
    let expected: Vec<String> = history
        .iter()
        .enumerate()
        .map(|(n, text)| format!("{}: {text}", if n % 2 == 0 { "user" } else { "assistant" }))
        .collect();
    assert_eq!(kept, expected, "in order, each once");
    say(&unknown, &["Hello"]).await.expect(200);
    let well = say(&ada, &["Hello"]).await.expect(200);
    assert_eq!(well.header("lukasa-degraded"), None, "and it recovers by itself");
}

#[tokio::test]
async fn a_slow_database_is_not_waited_for() {
    let limit = Duration::from_secs(1);
    let stage = Stage::within(limit, Door::Keys, |_, asked| reply(asked, "Yes")).await;
    let (ada, direct) = stage.assistant("ada").await;
    direct.save("Likes tea").await;
    let ada = ada.with("x-lukasa-session", "c");
    // Every connection has its statements prepared: preparing one would wait for a locked table too.
    for _ in 0..16 {
        say(&ada, &["Hello"]).await.expect(200);
    }
    let admin = stage.app.database.admin().await;
    // The block that was frozen for the chat can be read and confirmed; what was said since cannot.
    admin.batch_execute("begin; lock table passage in access exclusive mode").await.unwrap();
    let started = Instant::now();
    let slow = say(&ada, &["Hello", "Yes", "Again"]).await.expect(200);
    assert!(started.elapsed() < limit * 4, "{:?}", started.elapsed());
    assert_eq!(slow.header("lukasa-degraded"), Some("database"));
    assert_eq!(slow.header("lukasa-memories"), Some("1"), "what was confirmed");
    // Released first: what waits for one table holds the other.
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
async fn a_broken_database_and_a_deleted_person_take_the_memory_not_the_chat() {
    let stage = Stage::saying(Door::Keys, "Yes").await;
    let (ada, direct) = stage.assistant("ada").await;
    direct.save("Likes tea").await;
    say(&ada, &["What do I like?"]).await.expect(200);
    let (bob, of_bob) = stage.assistant("bob").await;
    of_bob.save("Likes coffee").await;
    say(&bob, &["What do I like?"]).await.expect(200);
    direct.delete("/api/users/bob").await;
    let gone = say(&bob, &["What do I like?"]).await.expect(200);
    assert_eq!(gone.header("lukasa-degraded"), Some("user_deleted"));
    assert!(!stage.last().json().to_string().contains("coffee"));
    let admin = stage.app.database.admin().await;
    admin.batch_execute("alter table passage rename to elsewhere").await.unwrap();
    let broken = say(&ada, &["What do I like?"]).await.expect(200);
    assert!(broken.header("lukasa-degraded").is_some(), "{:?}", broken.headers);
    assert_eq!(broken.json()["choices"][0]["message"]["content"], json!("Yes"));
}

#[tokio::test]
async fn a_revoked_key_is_not_let_in_by_memory() {
    let stage = Stage::saying(Door::Keys, "Yes").await;
    let (id, secret) = stage.app.make_key("acme", None, &lukasa_core::Permission::ALL, None).await;
    let ada = stage.through(&stage.app.presenting(&secret)).about("ada");
    say(&ada, &["Hello"]).await.expect(200);
    let admin = stage.through(&stage.app.tenant_key("acme").await);
    admin.delete(&format!("/api/keys/{id}")).await.expect(200);
    stage.line.cut();
    assert_eq!(say(&ada, &["Hello"]).await.expect(503).at("/error/code"), "unavailable");
}

#[tokio::test]
async fn a_refused_key_is_forgotten_at_the_gateway() {
    let stage = Stage::saying(Door::Keys, "Yes").await;
    let (id, secret) = stage.app.make_key("acme", None, &lukasa_core::Permission::ALL, None).await;
    let ada = stage.through(&stage.app.presenting(&secret)).about("ada");
    say(&ada, &["Hello"]).await.expect(200);
    // Another server revokes it.
    let admin = stage.app.tenant_key("acme").await;
    admin.delete(&format!("/api/keys/{id}")).await.expect(200);
    tokio::time::sleep(Duration::from_millis(5_200)).await;
    say(&ada, &["Hello"]).await.expect(401);
    stage.line.cut();
    say(&ada, &["Hello"]).await.expect(401);
    // Longer than a refusal is repeated without asking.
    tokio::time::sleep(Duration::from_millis(5_200)).await;
    say(&ada, &["Hello"]).await.expect(503);
}
