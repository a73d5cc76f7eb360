//! Credentials that are made while the one they are made with is being revoked, or their user erased, on
//! several servers.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use lukasa_core::{Origin, Permission, secret};
use lukasa_engine::Engine;
use lukasa_engine::credentials::{IssuedCredential, NewKey, NewToken, VerifiedCredential};
use lukasa_engine::oauth::NewConnector;
use lukasa_store::testing::postgres::Client;
use tokio::task::JoinHandle;

use crate::story::Story;

const READ: [Permission; 1] = [Permission::Read];

fn key() -> NewKey {
    NewKey {
        name: "test".into(),
        user: None,
        permissions: vec![Permission::Read, Permission::Admin],
        origin: Origin::Assistant,
        expires_at: None,
    }
}

fn token() -> NewToken<'static> {
    NewToken { user: "alice", permissions: &READ, minutes: 10, page: None }
}

fn connector() -> NewConnector<'static> {
    NewConnector {
        name: "an assistant",
        client_id: "client",
        redirect_uri: "https://assistant.example/back",
        challenge: "0123456789012345678901234567890123456789012",
        resource: "https://lukasa.example/mcp",
        permissions: &READ,
    }
}

async fn make_key(story: &Story, seed: u8) -> (String, VerifiedCredential) {
    let credentials = &story.engine.credentials;
    let made = credentials.create_key(story.tenant, key(), &[seed; 32], story.now()).await.unwrap();
    let admitted = credentials.authenticate(&made.text, story.now()).await.unwrap();
    (made.record.key_id, admitted)
}

fn refused<T>(made: Result<T, lukasa_engine::Error>, what: &str) {
    let error = made.err().unwrap_or_else(|| panic!("{what} was made"));
    assert_eq!(error.code(), "unauthenticated", "{what}");
}

#[tokio::test]
async fn revoked_credential_that_a_cache_still_admits_makes_no_other() {
    let story = Story::begin().await;
    let other = Engine::connect(&story.database.connect()).unwrap();
    let (now, made_by) = (story.now(), &other.credentials);
    let (id, by) = make_key(&story, 1).await;
    let signed_in = made_by.sign_in(&by, "alice", &[2; 32], now).await.unwrap();
    let sign_in = made_by.authenticate(&signed_in.text, now).await.unwrap();
    let (successor, _) = make_key(&story, 3).await;
    story.engine.credentials.revoke(story.tenant, &id, now).await.unwrap();

    // The other server has cached both.
    refused(made_by.mint_token(&by, token(), &[4; 32], now).await, "token");
    refused(made_by.sign_in(&by, "alice", &[5; 32], now).await, "sign-in");
    let link = made_by.make_link(story.tenant, Some(&by), "alice", &READ, &[6; 32], now);
    refused(link.await, "link");
    refused(made_by.create_key(&by, key(), &[7; 32], now).await, "key");
    refused(made_by.rotate_key(&by, &successor, 0, &[8; 32], now).await, "rotated key");
    refused(made_by.sign_in(&sign_in, "bob", &[9; 32], now).await, "sign-in of another user");
    let consent = other.oauth.approve(&sign_in, connector(), &[[10; 32], [11; 32]], now);
    refused(consent.await, "connector");
    refused(made_by.mint_token(&sign_in, token(), &[12; 32], now).await, "token of a sign-in");
}

#[tokio::test]
async fn ended_sign_in_that_a_cache_still_admits_makes_no_other() {
    let story = Story::begin().await;
    let (credentials, now) = (&story.engine.credentials, story.now());
    let (_, by) = make_key(&story, 1).await;
    let signed_in = credentials.sign_in(&by, "alice", &[2; 32], now).await.unwrap();
    let sign_in = credentials.authenticate(&signed_in.text, now).await.unwrap();
    let operator = story.tenant.into();
    credentials.end_sign_ins(&operator, None, None, now).await.unwrap();
    refused(credentials.sign_in(&sign_in, "bob", &[3; 32], now).await, "sign-in");
    let consent = story.engine.oauth.approve(&sign_in, connector(), &[[4; 32], [5; 32]], now);
    refused(consent.await, "connector");
}

/// Makes a credential on one server, and revokes its key on another before that is committed.
async fn revoke_while<F>(story: &Arc<Story>, id: &str, making: F) -> Option<IssuedCredential>
where
    F: Future<Output = Option<IssuedCredential>> + Send + 'static,
{
    let admin = story.database.admin().await;
    // Both append to the audit log of the tenant, so the first waits here, inside its transaction.
    admin.batch_execute("begin; select * from audit_head for update").await.unwrap();
    let making = tokio::spawn(making);
    wait_for_locks(&story.database.admin().await, 1).await;
    let revoking: JoinHandle<_> = {
        let (story, id) = (story.clone(), id.to_owned());
        tokio::spawn(async move {
            story.engine.credentials.revoke(story.tenant, &id, story.now()).await.map(drop)
        })
    };
    wait_for_locks(&story.database.admin().await, 2).await;
    admin.batch_execute("rollback").await.unwrap();
    revoking.await.unwrap().unwrap();
    making.await.unwrap()
}

/// Waits until this many sessions of the database wait for a lock.
async fn wait_for_locks(admin: &Client, count: i64) {
    let sql = "select count(*) from pg_stat_activity \
                where datname = current_database() and wait_event_type = 'Lock'";
    for _ in 0..1_000 {
        if admin.query_one(sql, &[]).await.unwrap().get::<_, i64>(0) >= count {
            return;
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    panic!("nothing waits for a lock");
}

#[tokio::test]
async fn credential_made_while_its_key_is_being_revoked_is_revoked_with_it() {
    let story = Arc::new(Story::begin().await);
    let (now, tenant) = (story.now(), story.tenant);
    let other = Engine::connect(&story.database.connect()).unwrap();

    let (id, by) = make_key(&story, 1).await;
    let engine = other.clone();
    let link = revoke_while(&story, &id, async move {
        let made = engine.credentials.make_link(tenant, Some(&by), "alice", &READ, &[2; 32], now);
        made.await.ok()
    });
    let link = link.await.expect("it was first");
    refused(other.credentials.follow_link(&link.text, &[3; 32], now).await, "sign-in");

    let (id, by) = make_key(&story, 4).await;
    let made = other.credentials.make_link(tenant, Some(&by), "alice", &READ, &[5; 32], now);
    let (link, engine) = (made.await.unwrap(), other.clone());
    let signed_in = revoke_while(&story, &id, async move {
        engine.credentials.follow_link(&link.text, &[6; 32], now).await.ok()
    });
    let signed_in = signed_in.await.expect("it was first");
    refused(other.credentials.authenticate(&signed_in.text, now).await, "sign-in");

    let (id, by) = make_key(&story, 7).await;
    let made = other.credentials.sign_in(&by, "alice", &[8; 32], now).await.unwrap();
    let by = other.credentials.authenticate(&made.text, now).await.unwrap();
    let engine = other.clone();
    let signed_in = revoke_while(&story, &id, async move {
        engine.credentials.sign_in(&by, "bob", &[9; 32], now).await.ok()
    });
    let signed_in = signed_in.await.expect("it was first");
    refused(other.credentials.authenticate(&signed_in.text, now).await, "sign-in of another user");
}

/// How many credentials of alice there are.
async fn credentials_left(story: &Story) -> i64 {
    let sql = "select count(*) from credential where user_id = $1";
    let user = story.alice().user.uuid();
    story.database.admin().await.query_one(sql, &[&user]).await.unwrap().get(0)
}

fn erase(story: &Arc<Story>) -> JoinHandle<()> {
    let story = story.clone();
    tokio::spawn(async move {
        let erased = story.engine.erasures.erase_user(story.tenant, "alice", story.moment()).await;
        erased.map(drop).unwrap();
    })
}

#[tokio::test]
async fn credential_made_while_its_user_is_being_erased_is_removed() {
    let story = Arc::new(Story::begin().await);
    story.save("a canary").await;
    let (now, tenant) = (story.now(), story.tenant);
    let other = Engine::connect(&story.database.connect()).unwrap();
    // The audit log of the tenant begins with the first key.
    make_key(&story, 9).await;
    let admin = story.database.admin().await;
    // Both append to the audit log of the tenant: the link first, then the mark of the erasure.
    admin.batch_execute("begin; select * from audit_head for update").await.unwrap();
    let engine = other.clone();
    let making = tokio::spawn(async move {
        engine.credentials.make_link(tenant, None, "alice", &READ, &[1; 32], now).await
    });
    wait_for_locks(&story.database.admin().await, 1).await;
    let erasing = erase(&story);
    wait_for_locks(&story.database.admin().await, 2).await;
    admin.batch_execute("rollback").await.unwrap();
    erasing.await.unwrap();
    let link = making.await.unwrap().expect("it was first");
    assert_eq!(credentials_left(&story).await, 0);
    story.engine.directory.create_user(tenant, "alice", None, story.now()).await.unwrap();
    refused(other.credentials.follow_link(&link.text, &[2; 32], now).await, "sign-in");
}

#[tokio::test]
async fn credential_that_is_inserted_after_its_user_was_marked_is_removed() {
    let story = Arc::new(Story::begin().await);
    story.save("a canary").await;
    let (now, admin) = (story.now(), story.database.admin().await);
    let other = Engine::connect(&story.database.connect()).unwrap();
    let (_, by) = make_key(&story, 1).await;
    // The token is checked, and its insertion waits for another one with the same id.
    let (_, token_id) = secret::print(secret::Prefix::Token, &[2; 32]);
    let occupy = "insert into credential (key_id, tenant_id, kind, name, secret_hash, permissions, \
                    origin, created_at) select $1, tenant_id, kind, name, '\\x00', permissions, \
                    origin, created_at from credential limit 1";
    admin.batch_execute("begin").await.unwrap();
    admin.execute(occupy, &[&token_id.key_id]).await.unwrap();
    let engine = other.clone();
    let making = tokio::spawn(async move {
        engine.credentials.mint_token(&by, token(), &[2; 32], now).await.map(drop)
    });
    wait_for_locks(&story.database.admin().await, 1).await;
    let erasing = erase(&story);
    let waiting = story.database.admin().await;
    tokio::select! {
        () = wait_for_locks(&waiting, 2) => {}
        () = async {
            while !erasing.is_finished() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        } => {}
    }
    admin.batch_execute("rollback").await.unwrap();
    making.await.unwrap().expect("it was first");
    erasing.await.unwrap();
    assert_eq!(credentials_left(&story).await, 0);
}
