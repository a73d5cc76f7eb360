//! Rate limits and slots: a client over a limit gets 429 with Retry-After, and other clients are
//! not affected.

use lukasa_server::api::LimitSettings;

use crate::app::{Answer, Client, TestApp};

async fn flood(client: &Client, count: usize) -> Vec<Answer> {
    let asked = (0..count).map(|_| client.get("/api/memory"));
    futures_util::future::join_all(asked).await
}

fn limited(answers: &[Answer]) -> Vec<&Answer> {
    answers.iter().filter(|answer| answer.status == 429).collect()
}

#[tokio::test]
async fn rate_limit_per_user_does_not_affect_other_users() {
    let settings = LimitSettings { user_rate: 5, ..LimitSettings::default() };
    let app = TestApp::with_limits(&settings).await;
    let key = app.tenant_key("acme").await;
    let answers = flood(&key.about("alice"), 40).await;
    let over = limited(&answers);
    assert!((20..=30).contains(&over.len()), "{}", over.len());
    let refused = over[0].clone().refused(429, "rate_limited");
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=2).contains(&wait), "{wait}");
    for user in ["bob", "carol"] {
        assert!(limited(&flood(&key.about(user), 8).await).is_empty(), "{user}");
    }
}

#[tokio::test]
async fn rate_limits_apply_per_credential_and_per_tenant() {
    let settings = LimitSettings { key_rate: 5, ..LimitSettings::default() };
    let app = TestApp::with_limits(&settings).await;
    let (one, other) = (app.tenant_key("acme").await, app.tenant_key("acme").await);
    assert!(!limited(&flood(&one.about("alice"), 40).await).is_empty());
    assert!(limited(&flood(&other.about("alice"), 8).await).is_empty());
    let settings = LimitSettings { tenant_rate: 5, ..LimitSettings::default() };
    let app = TestApp::with_limits(&settings).await;
    let (acme, globex) = (app.tenant_key("acme").await, app.tenant_key("globex").await);
    assert!(!limited(&flood(&acme.about("alice"), 40).await).is_empty());
    assert!(limited(&flood(&globex.about("alice"), 8).await).is_empty());
}

#[tokio::test]
async fn rate_limit_per_address_applies_first() {
    let settings = LimitSettings {
        ip_rate: 5,
        client_ip_header: Some("x-forwarded-for".parse().unwrap()),
        ..LimitSettings::default()
    };
    let app = TestApp::with_limits(&settings).await;
    // The last address is set by the proxy; the ones before it are the client's claim.
    let from = |address: &str| app.anonymous().with("x-forwarded-for", address);
    let answers = flood(&from("198.51.100.1, 192.0.2.1"), 40).await;
    assert!(!limited(&answers).is_empty());
    let more = flood(&from("203.0.113.9, 192.0.2.1"), 5).await;
    assert!(!limited(&more).is_empty(), "a client cannot choose its address");
    assert!(limited(&flood(&from("192.0.2.2"), 8).await).is_empty());
    // Health checks are not limited.
    for _ in 0..40 {
        from("192.0.2.1").get("/healthz").await.expect(200);
    }
}

#[tokio::test]
async fn unknown_credentials_are_throttled_and_known_ones_pass() {
    let settings = LimitSettings {
        refused_rate: 2,
        client_ip_header: Some("x-forwarded-for".parse().unwrap()),
        ..LimitSettings::default()
    };
    let app = TestApp::with_limits(&settings).await;
    let key = app.tenant_key("acme").await.about("alice").with("x-forwarded-for", "192.0.2.1");
    key.get("/api/memory").await.expect(200);
    let mut throttled = 0;
    for n in 0..30u8 {
        let (made_up, _) = lukasa_core::secret::print(lukasa_core::secret::Prefix::Key, &[n; 32]);
        let stranger = app.presenting(&made_up).about("alice").with("x-forwarded-for", "192.0.2.1");
        match stranger.get("/api/memory").await.status {
            401 => {}
            429 => throttled += 1,
            other => panic!("{other}"),
        }
    }
    assert!(throttled > 5, "{throttled}");
    key.get("/api/memory").await.expect(200);
}

#[tokio::test]
async fn refused_credentials_are_cached() {
    let app = TestApp::with_keys().await;
    let (made_up, _) = lukasa_core::secret::print(lukasa_core::secret::Prefix::Key, &[9; 32]);
    let stranger = app.presenting(&made_up).about("alice");
    stranger.get("/api/memory").await.refused(401, "unauthenticated");
    let admin = app.database.admin().await;
    admin.batch_execute("begin; lock table credential in access exclusive mode").await.unwrap();
    let asked =
        tokio::time::timeout(std::time::Duration::from_secs(3), stranger.get("/api/memory"));
    asked.await.expect("without the database").refused(401, "unauthenticated");
    admin.batch_execute("rollback").await.unwrap();
}

#[tokio::test]
async fn writers_of_one_user_leave_connections_to_others() {
    let settings = LimitSettings { user_concurrency: Some(2), ..LimitSettings::default() };
    let app = TestApp::with_limits(&settings).await;
    let key = app.tenant_key("acme").await;
    let (alice, bob) = (key.about("alice"), key.about("bob"));
    alice.save("First").await;
    bob.save("First").await;
    let admin = app.database.admin().await;
    // Writes about alice block; each waiting one holds one of the eight connections.
    let lock = "select pg_advisory_lock(('x' || left(replace(user_id::text, '-', ''), 16))::bit(64)::bigint) \
                from users where name = 'alice'";
    admin.batch_execute(lock).await.unwrap();
    let writers: Vec<_> = (0..30)
        .map(|n| {
            let alice = alice.clone();
            let body = serde_json::json!({ "content": format!("Number {n}") });
            tokio::spawn(async move { alice.post("/api/memory", body).await.status })
        })
        .collect();
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    let saved = tokio::time::timeout(std::time::Duration::from_secs(3), bob.save("Second")).await;
    saved.expect("there is a connection for bob");
    admin.batch_execute("select pg_advisory_unlock_all()").await.unwrap();
    let mut refused = 0;
    for writer in writers {
        match writer.await.unwrap() {
            201 => {}
            429 => refused += 1,
            other => panic!("{other}"),
        }
    }
    assert!(refused >= 12, "two run, sixteen wait, {refused} were refused");
}
