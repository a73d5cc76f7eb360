//! All principals that try: the users of the fixture, and the credentials they have or lack.

use jiff::SignedDuration;
use lukasa_core::secret::{self, Prefix};
use lukasa_core::{Permission, TenantId, UserId};
use lukasa_server::api::AuthMode;
use lukasa_server::clock;
use lukasa_store::testing::TestDatabase;
use lukasa_store::testing::postgres::Client as Admin;
use serde_json::json;

use super::learned;
use super::things::{Thing, Things};
use crate::app::{Client, PERSONAL, TestApp};
use crate::models::TestModels;

/// Why a principal must not get through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denial {
    /// The credential is not valid.
    InvalidCredential,
    /// The credential is valid but lacks the one permission that the operation needs.
    MissingPermission,
    /// It is bound to one user and names another.
    WrongUser,
    /// Another user of the tenant, or a user of another tenant.
    OtherUser { tenant: &'static str, bound: bool },
    /// A key for the whole tenant that names a user who was deleted.
    DeletedUser,
}

pub struct Principal {
    pub name: &'static str,
    pub denial: Denial,
    pub client: Client,
    /// The resources for the parts of the request that are not being tried.
    pub own: Things,
    /// Words that this principal may never see.
    pub foreign: Vec<String>,
    pub human: bool,
}

/// Alice of acme owns what the others try to reach. Bob is her colleague; globex has an alice too.
pub struct IsolationFixture {
    /// Serves as long as this value lives.
    _app: TestApp,
    pub alice: Things,
    /// Alice's tenant key and her human token; they get through.
    pub key: Client,
    pub human: Client,
    pub principals: Vec<Principal>,
    lacking: Vec<(Permission, Client)>,
    admin: Admin,
    guard: String,
}

impl IsolationFixture {
    /// Sets up all principals on one server, with whatever layers `dress` adds.
    pub async fn assemble(dress: impl FnOnce(axum::Router) -> axum::Router) -> Self {
        let (database, models) =
            (TestDatabase::fresh().await, TestModels::that_chats(learned::chat()));
        let app = TestApp::over(database, models, AuthMode::Keys, 8, dress).await;
        let (acme, globex) = (app.tenant_key("acme").await, app.tenant_key("globex").await);
        let (key, bobs) = (acme.about("alice"), acme.about("bob"));
        let alice = Things::of_user(&key, "alice").await.and_learned(&app, &key).await;
        let mut alice = alice.and_of_tenant(&acme, "acme").await;
        let bob = Things::of_user(&bobs, "bob").await.and_learned(&app, &bobs).await;
        let theirs = globex.about("alice");
        let other = Things::of_user(&theirs, "globex").await.and_learned(&app, &theirs).await;
        let human = app.human("acme", "alice").await;
        let path = format!("/api/memberships/{}", alice.get(Thing::GrantedSpace));
        human.put(&path, json!({})).await.expect(200);
        // Bob was a member of it until his grant was ended.
        let bobs_grant = format!("/api/spaces/{}/members/bob", alice.get(Thing::GrantedSpace));
        acme.put(&bobs_grant, json!({ "access": "write" })).await.expect(200);
        app.human("acme", "bob").await.put(&path, json!({})).await.expect(200);
        acme.delete(&bobs_grant).await.expect(204);
        let shared = format!("Hens lay {}", alice.get(Thing::Words));
        human.with("x-lukasa-space", alice.get(Thing::GrantedSpace)).save(&shared).await;
        // Connections to this port are refused at once.
        let hook = json!({ "url": "http://127.0.0.1:9/hook" });
        let hook = acme.post("/api/webhooks", hook).await.expect(201);
        alice.put(Thing::Webhook, hook.at("/id"));
        let mut lacking = Vec::new();
        for needed in Permission::ALL {
            let rest: Vec<_> = Permission::ALL.into_iter().filter(|p| *p != needed).collect();
            lacking.push((needed, app.key_with_permissions("acme", &rest).await.about("alice")));
        }

        let mut principals = Vec::new();
        let of_acme = [alice.private.clone(), bob.private.clone()].concat();
        let all_private = [of_acme.clone(), other.private.clone()].concat();
        for (name, client) in strangers(&app, &acme).await {
            let foreign = all_private.clone();
            let denial = Denial::InvalidCredential;
            let own = alice.clone();
            principals.push(Principal { name, denial, client, own, foreign, human: false });
        }
        let of_others = [alice.private.clone(), other.private.clone()].concat();
        // A tenant's own key may see what belongs to the tenant.
        let canary_word = alice.private.last().cloned().unwrap_or_default();
        let colleague = |name, client, bound, human| Principal {
            name,
            denial: Denial::OtherUser { tenant: "acme", bound },
            client,
            own: bob.clone(),
            foreign: of_others.iter().filter(|word| **word != canary_word).cloned().collect(),
            human,
        };
        principals.push(colleague("bob's key", app.bound_key("acme", "bob").await, true, false));
        principals.push(colleague("bob's token", app.human("acme", "bob").await, true, true));
        principals.push(colleague("acme's key about bob", bobs, false, false));
        let outsider = |name, client, bound, human| Principal {
            name,
            denial: Denial::OtherUser { tenant: "globex", bound },
            client,
            own: other.clone(),
            foreign: of_acme.clone(),
            human,
        };
        let named_alice = globex.about("alice");
        principals.push(outsider("globex's key about its alice", named_alice, false, false));
        let bound = app.bound_key("globex", "alice").await;
        principals.push(outsider("the key of globex's alice", bound, true, false));
        let token = app.human("globex", "alice").await;
        principals.push(outsider("the token of globex's alice", token, true, true));
        for (name, client, human) in [
            ("bob's key, naming alice", app.bound_key("acme", "bob").await, false),
            ("bob's token, naming alice", app.human("acme", "bob").await, true),
        ] {
            let client = client.about("alice");
            let (denial, own) = (Denial::WrongUser, alice.clone());
            let foreign = all_private.clone();
            principals.push(Principal { name, denial, client, own, foreign, human });
        }
        let (foreign, own) = (all_private.clone(), alice.clone());
        principals.push(Principal {
            name: "acme's key about a deleted user",
            denial: Denial::DeletedUser,
            client: acme.about("dora"),
            // The tenant's own names may be seen here too.
            foreign: foreign.into_iter().filter(|word| *word != canary_word).collect(),
            own: own.clone(),
            human: false,
        });
        principals.push(Principal {
            name: "acme's key without the permission",
            denial: Denial::MissingPermission,
            client: acme.clone(),
            own,
            foreign: all_private,
            human: false,
        });

        let admin = app.database.admin().await;
        let guard = guard(&admin).await;
        Self { _app: app, alice, key, human, principals, lacking, admin, guard }
    }

    /// The key that has every permission but this one.
    pub fn lacking(&self, permission: Permission) -> &Client {
        let found = self.lacking.iter().find(|(lacks, _)| *lacks == permission);
        &found.expect("a key for each permission").1
    }

    /// Hashes of all of acme's rows, except those that bob may write for himself.
    pub async fn state(&self) -> Vec<(String, i64, String)> {
        let rows = self.admin.query(&self.guard, &[]).await.expect("the guard reads");
        rows.iter().map(|row| (row.get(0), row.get(1), row.get(2))).collect()
    }
}

/// Credentials that are not valid, each for another reason. Those that were once valid have been
/// used, to detect a server that still caches them.
async fn strangers(app: &TestApp, acme: &Client) -> Vec<(&'static str, Client)> {
    let alice = |secret: &str| app.presenting(secret).about("alice");
    let hour_ago = clock::now() - SignedDuration::from_hours(1);
    let (unknown, _) = secret::print(Prefix::Key, &clock::random());
    let (right_id, wrong_secret) = app.make_key("acme", None, &Permission::ALL, None).await;
    let admin = app.database.admin().await;
    let sql = "update credential set secret_hash = sha256('other') where key_id = $1";
    admin.execute(sql, &[&right_id]).await.expect("another secret");
    let old_token = app.mint("acme", "alice", hour_ago).await;
    let (_, old_key) = app.make_key("acme", None, &Permission::ALL, Some(hour_ago)).await;

    let (revoked_id, revoked) = app.make_key("acme", None, &Permission::ALL, None).await;
    let mint = json!({ "user": "alice" });
    let orphan = alice(&revoked).post("/api/tokens", mint).await.expect(201).at("/secret");
    app.presenting(&orphan).get("/api/memory").await.expect(200);
    acme.delete(&format!("/api/keys/{revoked_id}")).await.expect(200);

    acme.about("dora").save("about to go").await;
    let turns = json!({ "turns": [{ "role": "user", "content": "soon gone" }] });
    acme.about("dora").post("/api/sessions/last/turns", turns).await.expect(201);
    let doras_token = app.mint("acme", "dora", clock::now()).await;
    let (_, doras_key) = app.make_key("acme", Some("dora"), &PERSONAL, None).await;
    for secret in [&doras_token, &doras_key] {
        app.presenting(secret).get("/api/memory").await.expect(200);
    }
    acme.delete("/api/users/dora").await.expect(200);
    vec![
        ("no credential", app.anonymous().about("alice")),
        ("garbage", alice("let me in")),
        ("another scheme", app.anonymous().with("authorization", "Basic YWxpY2U6")),
        ("an unknown key", alice(&unknown)),
        ("a key with a wrong secret", alice(&wrong_secret)),
        ("an expired key", alice(&old_key)),
        ("an expired token", app.presenting(&old_token)),
        ("a revoked key", alice(&revoked)),
        ("a token of a revoked key", app.presenting(&orphan)),
        ("the token of a deleted user", app.presenting(&doras_token)),
        ("the key of a deleted user", app.presenting(&doras_key)),
    ]
}

/// One statement that counts and hashes acme's rows in every table that has a tenant. The last use
/// of a credential is left out, and so are the tenant's model spending, to which every user's calls
/// add, and the end of its audit log.
async fn guard(admin: &Admin) -> String {
    let tables = "select c.table_name::text, bool_or(u.column_name is not null) \
                    from information_schema.columns c \
                    left join information_schema.columns u on u.table_schema = c.table_schema \
                         and u.table_name = c.table_name and u.column_name = 'user_id' \
                   where c.table_schema = 'public' and c.column_name = 'tenant_id' \
                     and c.table_name not in ('model_spend', 'audit_head') \
                   group by 1 order by 1";
    let tables = admin.query(tables, &[]).await.expect("tables");
    let acme = TenantId::named("acme");
    let bob = UserId::named(acme, "bob").uuid();
    let one = |row: &lukasa_store::testing::postgres::Row| {
        let (table, personal): (String, bool) = (row.get(0), row.get(1));
        let of_tenant = ["users", "credential"].contains(&table.as_str());
        let but = match personal && !of_tenant {
            true => format!("and user_id <> '{bob}'"),
            false => String::new(),
        };
        format!(
            "select '{table}', count(*), md5(coalesce(string_agg(r, E'\\n' order by r), '')) \
               from (select (to_jsonb(t) - 'last_used_at')::text as r from {table} t \
                      where tenant_id = '{}' {but}) rows",
            acme.uuid()
        )
    };
    let parts: Vec<String> = tables.iter().map(one).collect();
    assert!(parts.len() >= 25, "the guard watches every table: {parts:?}");
    parts.join(" union all ")
}
