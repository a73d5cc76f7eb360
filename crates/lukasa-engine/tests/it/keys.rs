//! Keys and tokens: authentication and permissions.

use lukasa_core::{CallerKind, Origin, Permission};
use lukasa_engine::credentials::{NewKey, NewToken};

use crate::story::Story;

fn key(user: Option<&str>, permissions: &[Permission]) -> NewKey {
    NewKey {
        name: "test".into(),
        user: user.map(str::to_owned),
        permissions: permissions.to_vec(),
        origin: Origin::Assistant,
        expires_at: None,
    }
}

fn token(permissions: &[Permission], minutes: i64) -> NewToken<'_> {
    NewToken { user: "alice", permissions, minutes, page: None }
}

#[tokio::test]
async fn revoking_a_key_revokes_its_tokens() {
    let story = Story::begin().await;
    let engine = &story.engine;
    let new = key(None, &[Permission::Read, Permission::Write, Permission::Admin]);
    let issued =
        engine.credentials.create_key(story.tenant, new, &[1; 32], story.now()).await.unwrap();
    let admitted = engine.credentials.authenticate(&issued.text, story.now()).await.unwrap();
    assert_eq!(admitted.caller("alice").kind, CallerKind::Key);
    assert_eq!(admitted.caller("alice").voice.origin, Origin::Assistant);

    let rights = [Permission::Read, Permission::Write];
    let token = engine
        .credentials
        .mint_token(&admitted, token(&rights, 10), &[2; 32], story.now())
        .await
        .unwrap();
    let person = engine.credentials.authenticate(&token.text, story.now()).await.unwrap();
    assert_eq!(person.caller("alice").kind, CallerKind::Human);
    assert!(!person.may(Permission::Admin));

    engine.credentials.revoke(story.tenant, &issued.record.key_id, story.now()).await.unwrap();
    for text in [&issued.text, &token.text] {
        let refused = engine.credentials.authenticate(text, story.now()).await.unwrap_err();
        assert_eq!(refused.code(), "unauthenticated");
    }
}

#[tokio::test]
async fn token_expires_and_has_no_more_permissions_than_its_key() {
    let story = Story::begin().await;
    let engine = &story.engine;
    let issued = engine
        .credentials
        .create_key(
            story.tenant,
            key(None, &[Permission::Read, Permission::Admin]),
            &[1; 32],
            story.now(),
        )
        .await
        .unwrap();
    let by = engine.credentials.authenticate(&issued.text, story.now()).await.unwrap();
    for too_much in [Permission::Write, Permission::Admin] {
        let refused =
            engine.credentials.mint_token(&by, token(&[too_much], 5), &[2; 32], story.now()).await;
        assert!(refused.is_err(), "{too_much:?}");
    }
    let token = engine
        .credentials
        .mint_token(&by, token(&[Permission::Read], 5), &[2; 32], story.now())
        .await
        .unwrap();
    story.pass(299);
    engine.credentials.authenticate(&token.text, story.now()).await.unwrap();
    story.pass(1);
    assert!(engine.credentials.authenticate(&token.text, story.now()).await.is_err());
}

#[tokio::test]
async fn wrong_secret_and_unknown_key_get_the_same_error() {
    let story = Story::begin().await;
    let engine = &story.engine;
    let issued = engine
        .credentials
        .create_key(story.tenant, key(Some("alice"), &[Permission::Read]), &[1; 32], story.now())
        .await
        .unwrap();
    let (unknown, _) = lukasa_core::secret::print(lukasa_core::secret::Prefix::Key, &[9; 32]);
    for text in [unknown.as_str(), "lk_live_x", ""] {
        let refused = engine.credentials.authenticate(text, story.now()).await.unwrap_err();
        assert_eq!(refused.code(), "unauthenticated");
    }
    assert!(engine.credentials.authenticate(&issued.text, story.now()).await.is_ok());
    let admin = key(Some("alice"), &[Permission::Admin]);
    assert!(
        engine.credentials.create_key(story.tenant, admin, &[3; 32], story.now()).await.is_err()
    );
}

#[tokio::test]
async fn credentials_of_deleted_user_are_refused() {
    let story = Story::begin().await;
    let engine = &story.engine;
    story.save("tea").await;
    let issued = engine
        .credentials
        .create_key(story.tenant, key(Some("alice"), &[Permission::Read]), &[1; 32], story.now())
        .await
        .unwrap();
    engine.erasures.erase_user(story.tenant, "alice", story.moment()).await.unwrap();
    assert!(engine.credentials.authenticate(&issued.text, story.now()).await.is_err());
}
