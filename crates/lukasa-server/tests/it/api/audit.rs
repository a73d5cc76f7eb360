//! The audit log over the API and on the command line.

use std::process::Command;

use lukasa_core::Permission;
use serde_json::{Value, json};

use crate::app::TestApp;

fn events(page: &Value) -> Vec<(String, String, String)> {
    let text = |record: &Value, name: &str| record[name].as_str().unwrap_or_default().to_owned();
    let records = page["data"].as_array().expect("records").iter();
    records.map(|r| (text(r, "event"), text(r, "actor_kind"), text(r, "actor"))).collect()
}

#[tokio::test]
async fn audit_names_the_credential_of_each_request() {
    let app = TestApp::with_keys().await;
    let (id, secret) = app.make_key("acme", None, &Permission::ALL, None).await;
    let admin = app.presenting(&secret);
    let made = admin.post("/api/keys", json!({ "name": "bot" })).await.expect(201);
    let bot = made.at("/id");
    admin.delete(&format!("/api/keys/{bot}")).await.expect(200);
    let link = admin.post("/api/sign-in/links", json!({ "user": "alice" })).await.expect(201);
    let link = link.at("/href").replace("/sign-in#", "");
    let entered = app.anonymous().post("/api/sign-in", json!({ "link": link })).await.expect(201);
    let cookie = entered.header("set-cookie").expect("a cookie");
    let cookie = cookie.split(';').next().unwrap().to_owned();
    let page = app.anonymous().with("cookie", &cookie).with("sec-fetch-site", "same-origin");
    page.save("Likes tea").await;
    page.get("/api/export").await.expect(200);
    admin.put("/api/tenant/policy", json!({ "titles": true })).await.expect(200);
    admin.delete("/api/users/alice").await.expect(200);

    let log = admin.get("/api/audit").await.expect(200).json();
    let key = |event: &str| (event.to_owned(), "key".to_owned(), id.clone());
    let all = events(&log);
    assert_eq!((&all[0], &all[1]), (&key("user.erase"), &key("policy.tenant")));
    assert_eq!((all[2].0.as_str(), all[2].1.as_str()), ("export", "human"));
    assert_eq!((all[3].0.as_str(), all[3].1.as_str()), ("sign_in", "link"));
    assert_eq!(log["data"][3]["subject"], json!(all[2].2), "the sign-in exported");
    assert_eq!(all[4..7], [key("link.create"), key("key.revoke"), key("key.create")]);
    assert_eq!(log["data"][5]["subject"], json!(bot));
    assert!(!log.to_string().contains("alice") && !log.to_string().contains("tea"));

    // Pages, filters, and who may read.
    let first = admin.get("/api/audit?limit=2").await.expect(200).json();
    let cursor = first["next_cursor"].as_str().expect("a cursor");
    let next = admin.get(&format!("/api/audit?limit=2&cursor={cursor}")).await.expect(200).json();
    assert_eq!(events(&next), all[2..4]);
    let some = admin.get("/api/audit?event=key.create&user=alice").await.expect(200).json();
    assert!(events(&some).is_empty());
    let some =
        admin.get("/api/audit?event=key.create&since=2020-01-01T00:00:00Z").await.expect(200);
    assert!(events(&some.json()).iter().all(|(event, ..)| event == "key.create"));
    let none = admin.get("/api/audit?until=2020-01-01T00:00:00Z").await.expect(200).json();
    assert!(events(&none).is_empty());
    admin.get("/api/audit?event=nothing").await.refused(400, "malformed_query");
    admin.get("/api/audit?cursor=x").await.refused(400, "malformed_cursor");
    app.bound_key("acme", "bob").await.get("/api/audit").await.refused(403, "forbidden");
    app.human("acme", "bob").await.get("/api/audit").await.refused(403, "forbidden");
    let other = app.tenant_key("globex").await;
    assert_eq!(events(&other.get("/api/audit").await.expect(200).json()).len(), 1);
}

#[tokio::test]
async fn cli_audit_lists_verifies_exports_and_prunes() {
    let app = TestApp::with_keys().await;
    let (first, _) = app.make_key("acme", None, &[Permission::Read], None).await;
    app.make_key("acme", None, &[Permission::Read], None).await;
    let lukasa = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lukasa"));
        command.args(["audit"]).args(args).env("DATABASE_URL", app.database.url());
        let done = command.env("LUKASA_TENANT", "acme").output().expect("lukasa runs");
        (done.status.code(), String::from_utf8_lossy(&done.stdout).into_owned())
    };
    let (code, listed) = lukasa(&["list", "--event", "key.create"]);
    assert!(code == Some(0) && listed.lines().count() == 2 && listed.contains(&first), "{listed}");
    let (_, verified) = lukasa(&["verify", "--json"]);
    let verified: Value = serde_json::from_str(&verified).unwrap();
    assert_eq!((&verified["ok"], &verified["records"]), (&json!(true), &json!(2)));
    let end = verified["end"].as_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log.jsonl");
    let path = file.to_str().unwrap();
    assert_eq!(lukasa(&["export", "--file", path]).0, Some(0));
    assert_eq!(lukasa(&["verify", "--file", path, "--expect", end]).0, Some(0));
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replacen(&first, "other", 1)).unwrap();
    let (code, said) = lukasa(&["verify", "--file", path]);
    assert!(code == Some(1) && said.contains("record 1 was changed"), "{said}");
    // Another consistent chain does not contain the end that was noted.
    let other = end.replace(['a', '1', 'e'], "0");
    assert_eq!(lukasa(&["verify", "--expect", &other]).0, Some(1));
    let (code, said) = lukasa(&["prune", "--before", "2100-01-01T00:00:00Z"]);
    assert!(code == Some(0) && said.contains("Removed 2 records"), "{said}");
    assert_eq!(lukasa(&["verify"]).0, Some(0));
    let admin = app.database.admin().await;
    let planted = "alter table audit disable trigger user; update audit set detail = 'x'; \
                   alter table audit enable trigger user";
    admin.batch_execute(planted).await.unwrap();
    let (code, said) = lukasa(&["verify"]);
    assert!(code == Some(1) && said.contains("record 3 was changed"), "{said}");
}
