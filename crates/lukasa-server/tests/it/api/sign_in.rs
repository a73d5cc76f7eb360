//! Sign-in to the console: credentials, links, cookies and requests from other origins.

use clap::Parser as _;
use lukasa_core::Permission;
use lukasa_server::api::LimitSettings;
use lukasa_server::oidc::{OidcProvider, OidcSettings};
use serde_json::json;

use crate::app::{Answer, Client, PERSONAL, TestApp};

/// A browser on our own page, with the cookie that a response set.
fn browser(app: &TestApp, entered: &Answer) -> Client {
    let cookie = entered.header("set-cookie").expect("a cookie");
    for part in ["__Host-lukasa=lk_sign_", "Path=/;", "Secure", "HttpOnly", "SameSite=Strict"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let cookie = cookie.split(';').next().unwrap();
    app.anonymous().with("cookie", cookie).with("sec-fetch-site", "same-origin")
}

async fn operator(app: &TestApp, user: &str) -> Client {
    let (_, secret) = app.make_key("acme", None, &Permission::ALL, None).await;
    let sent = json!({ "key": secret, "user": user });
    browser(app, &app.anonymous().post("/api/sign-in", sent).await.expect(201))
}

#[tokio::test]
async fn operator_sign_in_acts_as_user_and_as_operator() {
    let app = TestApp::with_keys().await;
    app.anonymous().get("/api/sign-in").await.refused(401, "unauthenticated");
    let page = operator(&app, "alice").await;
    let me = page.get("/api/sign-in").await.expect(200).json();
    assert_eq!(
        (&me["user"], &me["human"], &me["admin"], &me["local"]),
        (&json!("alice"), &json!(true), &json!(true), &json!(false))
    );
    assert_eq!(page.save("Likes tea").await.at("/memory/origin"), "user_said");
    assert_eq!(page.get("/api/users").await.expect(200).each("user"), ["alice"]);
    page.about("bob").get("/api/memory").await.refused(403, "wrong_user");

    let other = page.post("/api/sign-in", json!({ "user": "bob" })).await.expect(201);
    let other = browser(&app, &other);
    assert_eq!(other.get("/api/sign-in").await.expect(200).at("/user"), "bob");
    assert!(other.get("/api/memory").await.expect(200).each("id").is_empty());

    other.delete("/api/sign-in").await.expect(204);
    other.get("/api/memory").await.refused(401, "unauthenticated");
    other.delete("/api/sign-in").await.expect(204);
}

#[tokio::test]
async fn sign_in_link_works_once_for_one_user() {
    let app = TestApp::with_keys().await;
    let by = app.tenant_key("acme").await;
    let made = by.post("/api/sign-in/links", json!({ "user": "alice" })).await.expect(201);
    let path = made.at("/href");
    let link = path.strip_prefix("/sign-in#").expect("behind the hash");
    app.presenting(link).get("/api/memory").await.refused(401, "unauthenticated");

    let sent = json!({ "link": link });
    let page = browser(&app, &app.anonymous().post("/api/sign-in", sent.clone()).await.expect(201));
    let me = page.get("/api/sign-in").await.expect(200).json();
    assert_eq!(
        (&me["user"], &me["human"], &me["admin"]),
        (&json!("alice"), &json!(true), &json!(false))
    );
    page.get("/api/users").await.refused(403, "forbidden");
    page.post("/api/sign-in", json!({ "user": "bob" })).await.refused(403, "forbidden");
    app.anonymous().post("/api/sign-in", sent).await.refused(401, "unauthenticated");
}

#[tokio::test]
async fn sign_in_link_does_not_replace_an_existing_sign_in() {
    let app = TestApp::with_keys().await;
    let page = operator(&app, "alice").await;
    let by = app.tenant_key("acme").await;
    let made = by.post("/api/sign-in/links", json!({ "user": "mallory" })).await.expect(201);
    let sent = json!({ "link": made.at("/href").replace("/sign-in#", "") });
    page.post("/api/sign-in", sent.clone()).await.refused(409, "signed_in_already");
    assert_eq!(page.get("/api/sign-in").await.expect(200).at("/user"), "alice");
    page.delete("/api/sign-in").await.expect(204);
    page.post("/api/sign-in", sent).await.expect(201);
}

#[tokio::test]
async fn concurrent_use_of_a_sign_in_link_admits_one() {
    let app = TestApp::with_keys().await;
    let by = app.tenant_key("acme").await;
    for _ in 0..5 {
        let made = by.post("/api/sign-in/links", json!({ "user": "alice" })).await.expect(201);
        let link = made.at("/href")["/sign-in#".len()..].to_owned();
        let anyone = app.anonymous();
        let follow = || anyone.post("/api/sign-in", json!({ "link": link }));
        let (one, two) = tokio::join!(follow(), follow());
        let mut came = [one.status, two.status];
        came.sort_unstable();
        assert_eq!(came, [201, 401]);
    }
}

#[tokio::test]
async fn application_key_cannot_sign_in_as_a_user() {
    let app = TestApp::with_keys().await;
    for (user, rights) in [(None, &PERSONAL[..]), (Some("alice"), &PERSONAL)] {
        let (_, secret) = app.make_key("acme", user, rights, None).await;
        let sent = json!({ "key": secret, "user": "alice" });
        app.anonymous().post("/api/sign-in", sent).await.refused(403, "forbidden");
    }
    let token = app.mint("acme", "alice", lukasa_server::clock::now()).await;
    let sent = json!({ "key": token, "user": "alice" });
    app.anonymous().post("/api/sign-in", sent).await.refused(403, "forbidden");
}

#[tokio::test]
async fn sign_in_cookie_is_refused_from_another_origin() {
    let app = TestApp::with_keys().await;
    let page = operator(&app, "alice").await;
    page.get("/api/memory").await.expect(200);
    for site in ["cross-site", "same-site", "none"] {
        let other = page.with("sec-fetch-site", site);
        other.get("/api/memory").await.refused(401, "unauthenticated");
        other.post("/api/memory", json!({ "content": "x" })).await.refused(401, "unauthenticated");
    }
    // The secret of the cookie is not a bearer credential.
    let secret = page.header("cookie").split_once('=').unwrap().1.to_owned();
    app.presenting(&secret).get("/api/memory").await.refused(401, "unauthenticated");
    assert!(page.get("/api/memory").await.expect(200).each("id").is_empty());
}

#[tokio::test]
async fn revoking_a_key_ends_all_its_sign_ins() {
    let app = TestApp::with_keys().await;
    let (id, secret) = app.make_key("acme", None, &Permission::ALL, None).await;
    let sent = json!({ "key": secret, "user": "alice" });
    let page = browser(&app, &app.anonymous().post("/api/sign-in", sent).await.expect(201));
    page.get("/api/memory").await.expect(200);
    app.presenting(&secret).delete(&format!("/api/keys/{id}")).await.expect(200);
    page.get("/api/memory").await.refused(401, "unauthenticated");
}

/// Follows a sign-in link that this browser creates for a user.
async fn sign_in_by_link(app: &TestApp, by: &Client, user: &str) -> Client {
    let made = by.post("/api/sign-in/links", json!({ "user": user })).await.expect(201);
    let link = made.at("/href").replace("/sign-in#", "");
    let sent = json!({ "link": link });
    browser(app, &app.anonymous().post("/api/sign-in", sent).await.expect(201))
}

#[tokio::test]
async fn revoking_a_key_ends_sign_ins_made_from_it_through_links() {
    let app = TestApp::with_keys().await;
    let (id, secret) = app.make_key("acme", None, &Permission::ALL, None).await;
    let sent = json!({ "key": secret, "user": "ops" });
    let operator = browser(&app, &app.anonymous().post("/api/sign-in", sent).await.expect(201));
    // key -> sign-in -> link -> sign-in, and a link that was not used, and a token.
    let alice = sign_in_by_link(&app, &operator, "alice").await;
    let made = operator.post("/api/sign-in/links", json!({ "user": "bob" })).await.expect(201);
    let waiting = made.at("/href").replace("/sign-in#", "");
    let token = operator.post("/api/tokens", json!({ "user": "alice" })).await.expect(201);
    let token = app.presenting(&token.at("/secret"));
    alice.get("/api/memory").await.expect(200);
    token.get("/api/memory").await.expect(200);
    // The operator's own sign-in is over and its row deleted: the chain is still followed.
    operator.delete("/api/sign-in").await.expect(204);
    let admin = app.database.admin().await;
    admin
        .batch_execute("delete from credential where kind = 'sign_in' and revoked_at is not null")
        .await
        .unwrap();
    let other = app.tenant_key("acme").await;
    let revoked = other.delete(&format!("/api/keys/{id}")).await.expect(200).json();
    assert_eq!(revoked["revoked"].as_array().unwrap().len(), 4, "{revoked}");
    alice.get("/api/memory").await.refused(401, "unauthenticated");
    token.get("/api/memory").await.refused(401, "unauthenticated");
    let sent = json!({ "link": waiting });
    app.anonymous().post("/api/sign-in", sent).await.refused(401, "unauthenticated");
}

#[tokio::test]
async fn sign_out_and_user_switch_keep_other_sign_ins() {
    let app = TestApp::with_keys().await;
    let first = operator(&app, "ops").await;
    let alice = sign_in_by_link(&app, &first, "alice").await;
    let second = first.post("/api/sign-in", json!({ "user": "bob" })).await.expect(201);
    let second = browser(&app, &second);
    first.get("/api/memory").await.refused(401, "unauthenticated");
    alice.get("/api/memory").await.expect(200);
    let carol = sign_in_by_link(&app, &second, "carol").await;
    second.delete("/api/sign-in").await.expect(204);
    second.get("/api/memory").await.refused(401, "unauthenticated");
    alice.get("/api/memory").await.expect(200);
    carol.get("/api/memory").await.expect(200);
}

#[tokio::test]
async fn sign_ins_are_listed_and_ended_by_administrators_and_their_owners() {
    let app = TestApp::with_keys().await;
    let ops = operator(&app, "ops").await;
    let (alice, bob) =
        (sign_in_by_link(&app, &ops, "alice").await, sign_in_by_link(&app, &ops, "bob").await);
    let phone = sign_in_by_link(&app, &ops, "alice").await;
    // One sign-in of another tenant, and one made on the command line.
    let globex = app.tenant_key("globex").await;
    let theirs = globex.post("/api/sign-in/links", json!({ "user": "alice" })).await.expect(201);
    let theirs = theirs.at("/href").replace("/sign-in#", "");
    let all = ops.get("/api/sign-ins").await.expect(200);
    assert_eq!(all.each("user"), ["alice", "bob", "alice", "ops"]);
    assert!(all.each("kind").iter().all(|kind| kind == "sign_in"));
    let own = alice.get("/api/sign-ins").await.expect(200);
    assert_eq!(own.each("user"), ["alice", "alice"]);
    assert!(!own.text().contains("secret"), "{}", own.text());
    alice.get("/api/sign-ins?user=bob").await.refused(403, "forbidden");
    alice.delete("/api/sign-ins?user=bob").await.refused(403, "forbidden");
    let bobs = ops.get("/api/sign-ins?user=bob").await.expect(200).at("/data/0/id");
    alice.delete(&format!("/api/sign-ins/{bobs}")).await.refused(404, "key_not_found");
    let key = app.bound_key("acme", "alice").await;
    key.get("/api/sign-ins").await.refused(403, "forbidden");
    // An administrator ends one; its owner notices at once.
    ops.delete(&format!("/api/sign-ins/{bobs}")).await.expect(200);
    bob.get("/api/memory").await.refused(401, "unauthenticated");
    // A user ends all of their own sign-ins and no others.
    ops.delete("/api/sign-ins").await.refused(400, "user_required");
    let ended = phone.delete("/api/sign-ins").await.expect(200).json();
    assert_eq!(ended["revoked"].as_array().unwrap().len(), 2);
    alice.get("/api/memory").await.refused(401, "unauthenticated");
    ops.get("/api/sign-in").await.expect(200);
    let sent = json!({ "link": theirs });
    app.anonymous().post("/api/sign-in", sent).await.expect(201);
}

#[tokio::test]
async fn expired_credentials_are_swept_and_keys_are_not() {
    let app = TestApp::with_keys().await;
    let now = lukasa_server::clock::now();
    let days = |days: i64| now - jiff::SignedDuration::from_hours(24 * days);
    let old = app.mint("acme", "alice", days(3)).await;
    let fresh = app.mint("globex", "alice", now).await;
    app.make_key("acme", None, &Permission::ALL, Some(days(3))).await;
    let admin = app.database.admin().await;
    let count = async || -> i64 {
        admin.query_one("select count(*) from credential", &[]).await.unwrap().get(0)
    };
    let before = count().await;
    app.presenting(&old).get("/api/memory").await.refused(401, "unauthenticated");
    app.presenting(&fresh).get("/api/memory").await.expect(200);
    assert_eq!(count().await, before, "no request sweeps");
    assert_eq!(app.engine.credentials.sweep_credentials().await.unwrap(), 1);
    assert_eq!(count().await, before - 1);
    assert_eq!(app.engine.credentials.sweep_credentials().await.unwrap(), 0);
}

#[tokio::test]
async fn token_bound_to_an_origin_is_refused_elsewhere() {
    let app = TestApp::with_keys().await;
    let by = app.tenant_key("acme").await;
    for page in ["app.example", "https://app.example/", "https://app.example/x", "null", "*"] {
        let asked = json!({ "user": "alice", "page": page });
        by.post("/api/tokens", asked).await.refused(422, "invalid_request");
    }
    let asked = json!({ "user": "alice", "page": "https://app.example" });
    let token = by.post("/api/tokens", asked).await.expect(201).at("/secret");
    let panel = app.presenting(&token);
    panel.get("/api/memory").await.refused(401, "unauthenticated");
    panel
        .with("origin", "https://evil.example")
        .get("/api/memory")
        .await
        .refused(401, "unauthenticated");
    let there = panel.with("origin", "https://app.example").get("/api/memory").await.expect(200);
    assert_eq!(there.header("access-control-allow-origin"), Some("*"));
    assert_eq!(there.header("access-control-allow-credentials"), None);
    let asks = app.anonymous().with("origin", "https://app.example");
    let asks = asks.with("access-control-request-method", "PATCH");
    let asks = asks.with("access-control-request-headers", "authorization,content-type");
    let may = asks.call("OPTIONS", "/api/memory/x", None).await.expect(200);
    assert!(may.header("access-control-allow-methods").unwrap().contains("PATCH"));
    assert!(may.header("access-control-allow-headers").unwrap().contains("authorization"));
}

#[tokio::test]
async fn local_mode_has_no_sign_in() {
    let app = TestApp::local().await;
    let me = app.anonymous();
    let seen = me.get("/api/sign-in").await.expect(200).json();
    assert_eq!(
        (&seen["user"], &seen["local"], &seen["admin"]),
        (&json!("me"), &json!(true), &json!(true))
    );
    me.post("/api/sign-in", json!({ "user": "bob" })).await.refused(422, "invalid_request");
    let asks = me.with("origin", "http://localhost:1").with("access-control-request-method", "GET");
    let may = asks.call("OPTIONS", "/api/memory", None).await;
    assert_eq!(may.header("access-control-allow-origin"), None, "no other origin is allowed");
}

#[tokio::test]
async fn user_can_erase_only_their_own_account() {
    let app = TestApp::with_keys().await;
    let by = app.tenant_key("acme").await;
    by.about("alice").save("Likes tea").await;
    by.about("bob").save("Likes coffee").await;
    let made = by.post("/api/sign-in/links", json!({ "user": "alice" })).await.expect(201);
    let link = made.at("/href").replace("/sign-in#", "");
    let page = browser(
        &app,
        &app.anonymous().post("/api/sign-in", json!({ "link": link })).await.expect(201),
    );

    // Another user is refused, with the same response whether or not they exist.
    for other in ["bob", "nobody"] {
        page.get(&format!("/api/users/{other}/erasure")).await.refused(403, "forbidden");
        page.delete(&format!("/api/users/{other}")).await.refused(403, "forbidden");
    }
    // An application's key is refused although it may erase, and so is a token without the
    // permission.
    let key = app.bound_key("acme", "alice").await;
    key.delete("/api/users/alice").await.refused(403, "forbidden");
    let sent = json!({ "user": "alice", "permissions": ["read", "write"] });
    let token = by.post("/api/tokens", sent).await.expect(201).at("/secret");
    app.presenting(&token).delete("/api/users/alice").await.refused(403, "forbidden");

    let preview = page.get("/api/users/alice/erasure").await.expect(200);
    let erased = page.delete("/api/users/alice").await.expect(200);
    assert_eq!(erased.json()["receipt"]["receipt"]["removed"], preview.json()["removes"]);
    page.get("/api/memory").await.refused(401, "unauthenticated");
    by.get("/api/users/alice").await.refused(404, "user_not_found");
    assert_eq!(
        by.about("bob").get("/api/memory").await.expect(200).each("content"),
        ["Likes coffee"]
    );
}

/// The settings of an identity provider, as the command line reads them.
#[derive(clap::Parser)]
struct ProviderArgs {
    #[command(flatten)]
    oidc: OidcSettings,
}

/// A provider on a port on which nothing listens.
fn unreachable_provider() -> OidcProvider {
    let issuer = "--oidc-issuer=http://127.0.0.1:9";
    let args = ["lukasa", issuer, "--oidc-client-id=lukasa", "--oidc-tenant=acme"];
    let args = args.into_iter().chain(["--oidc-allowed-values=*"]);
    let settings = ProviderArgs::parse_from(args).oidc;
    settings.open(Some("https://memory.example".to_owned())).unwrap().unwrap()
}

#[tokio::test]
async fn oidc_outage_is_answered_with_503_and_not_counted_as_refused() {
    let limits = LimitSettings {
        refused_rate: 2,
        client_ip_header: Some("x-forwarded-for".parse().unwrap()),
        ..LimitSettings::default()
    };
    let app = TestApp::with_oidc(unreachable_provider(), &limits).await;
    let browser = app.anonymous().with("x-forwarded-for", "192.0.2.1");
    for _ in 0..20 {
        let answer = browser.get("/oidc/begin").await.expect(503);
        assert_eq!(answer.header("retry-after").unwrap(), "10");
        assert!(answer.text().contains("temporarily unavailable"), "{}", answer.text());
    }
    browser.get("/oidc/callback?code=c&state=s").await.expect(403);
    let mut last = 403;
    for _ in 0..20 {
        last = browser.get("/oidc/callback?code=c&state=s").await.status;
    }
    assert_eq!(last, 429, "a response that this browser did not ask for counts");
}

#[tokio::test]
async fn oidc_sign_out_begins_only_on_an_own_page_and_ends_only_where_it_began() {
    let none = TestApp::with_keys().await;
    for path in ["/oidc/sign-out", "/oidc/signed-out"] {
        none.anonymous().get(path).await.refused(404, "not_found");
    }
    let app = TestApp::with_oidc(unreachable_provider(), &LimitSettings::default()).await;
    for site in ["cross-site", "same-site"] {
        let other = app.anonymous().with("sec-fetch-site", site);
        other.get("/oidc/sign-out").await.refused(403, "cross_site");
    }
    let outage = app.anonymous().get("/oidc/sign-out").await.expect(503);
    assert!(outage.text().contains("was not ended"), "{}", outage.text());
    for cookie in ["x=1", "__Host-lukasa-oidc-out=", "__Host-lukasa-oidc-out=AAAA.L3g.9999999999.x"]
    {
        let browser = app.anonymous().with("cookie", cookie);
        for query in ["", "?state=", "?state=x", "?state=x&state=x"] {
            let answer = browser.get(&format!("/oidc/signed-out{query}")).await.expect(403);
            assert!(answer.header("set-cookie").is_none());
        }
    }
}
