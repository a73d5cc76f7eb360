//! Spaces: memories that users share by a grant that each of them accepts.

use std::sync::Arc;

use lukasa_core::model::NoModels;
use lukasa_core::{SpaceName, TenantId};
use serde_json::{Value, json};

use crate::app::{Answer, Client, TestApp};

/// The space `family`, with Anna, who may write, and Ben, who may read. Carl has no grant.
pub struct Family {
    pub app: TestApp,
    pub admin: Client,
    pub anna: Client,
    pub ben: Client,
    pub carl: Client,
}

impl Family {
    pub async fn new() -> Self {
        let app = TestApp::with_keys().await;
        let admin = app.tenant_key("acme").await;
        for user in ["anna", "ben", "carl"] {
            admin.post("/api/users", json!({ "user": user })).await.expect(201);
        }
        admin.post("/api/spaces", json!({ "space": "family" })).await.expect(201);
        let [anna, ben, carl] = [
            app.human("acme", "anna").await,
            app.human("acme", "ben").await,
            app.human("acme", "carl").await,
        ];
        let family = Self { app, admin, anna, ben, carl };
        for (user, access, human) in [("anna", "write", &family.anna), ("ben", "read", &family.ben)]
        {
            family.grant(user, access).await.expect(200);
            human.put("/api/memberships/family", json!({})).await.expect(200);
        }
        family
    }

    pub async fn grant(&self, user: &str, access: &str) -> Answer {
        let path = format!("/api/spaces/family/members/{user}");
        self.admin.put(&path, json!({ "access": access })).await
    }

    pub async fn end(&self, user: &str) -> Answer {
        self.admin.delete(&format!("/api/spaces/family/members/{user}")).await
    }
}

pub fn in_family(client: &Client) -> Client {
    client.with("x-lukasa-space", "family")
}

pub async fn contents(client: &Client) -> Vec<String> {
    client.get("/api/memory").await.expect(200).each("content")
}

#[tokio::test]
async fn space_grant_is_offered_accepted_and_left_by_the_user_alone() {
    let family = Family::new().await;
    in_family(&family.anna).save("The ladder is in the shed").await;
    let carl = in_family(&family.carl);
    // Without a grant the space does not exist, and cannot be joined.
    carl.get("/api/memory").await.refused(404, "space_not_found");
    family.carl.put("/api/memberships/family", json!({})).await.refused(404, "space_not_found");
    // A grant allows nothing before the user accepts it, and an agent of the user cannot.
    let offered = family.grant("carl", "write").await.expect(200);
    assert_eq!(offered.at("/grant/state"), "offered");
    carl.get("/api/memory").await.refused(404, "space_not_found");
    let agent = family.app.bound_key("acme", "carl").await;
    agent.put("/api/memberships/family", json!({})).await.refused(403, "human_needed");
    in_family(&agent).get("/api/memory").await.refused(404, "space_not_found");
    let listed = family.carl.get("/api/memberships").await.expect(200);
    assert_eq!(listed.each("space"), ["family"]);
    assert_eq!(listed.at("/data/0/grant/state"), "offered");
    family.carl.put("/api/memberships/family", json!({})).await.expect(200);
    assert_eq!(contents(&carl).await, ["The ladder is in the shed"]);
    // Their own memory is another one.
    assert!(contents(&family.carl).await.is_empty());
    // Who has left is offered nothing, until there is a new grant, which has to be accepted again.
    agent.delete("/api/memberships/family").await.refused(403, "human_needed");
    family.carl.delete("/api/memberships/family").await.expect(204);
    carl.get("/api/memory").await.refused(404, "space_not_found");
    family.carl.put("/api/memberships/family", json!({})).await.refused(404, "space_not_found");
    assert!(family.carl.get("/api/memberships").await.expect(200).each("space").is_empty());
    family.grant("carl", "read").await.expect(200);
    carl.get("/api/memory").await.refused(404, "space_not_found");
    family.carl.put("/api/memberships/family", json!({})).await.expect(200);
    carl.get("/api/memory").await.expect(200);
    for (event, count) in
        [("space.create", 1), ("space.grant", 4), ("space.accept", 4), ("space.end", 1)]
    {
        let log = family.admin.get(&format!("/api/audit?event={event}")).await.expect(200).json();
        assert_eq!(log["data"].as_array().map(Vec::len), Some(count), "{event}: {log:#}");
    }
}

#[tokio::test]
async fn space_member_reads_searches_and_saves_as_the_grant_allows() {
    let family = Family::new().await;
    let (anna, ben) = (in_family(&family.anna), in_family(&family.ben));
    let saved = anna.save("The bakery closes at noon on Sundays").await;
    let id = saved.at("/memory/id");
    assert_eq!(contents(&ben).await, ["The bakery closes at noon on Sundays"]);
    let found = ben
        .post("/api/memory/search", json!({ "query": "Remind me when the bakery closes" }))
        .await
        .expect(200);
    assert_eq!(found.at("/memories/0/memory/id"), id);
    // Ben may only read.
    let path = format!("/api/memory/{id}");
    ben.post("/api/memory", json!({ "content": "x" })).await.refused(403, "space_read_only");
    ben.post("/api/memory/propose", json!({ "content": "x" }))
        .await
        .refused(403, "space_read_only");
    ben.patch(&path, json!({ "content": "x" })).await.refused(403, "space_read_only");
    ben.delete(&path).await.refused(403, "space_read_only");
    ben.post(&format!("{path}/forget"), json!({})).await.refused(403, "space_read_only");
    ben.post(&format!("{path}/erase"), json!({})).await.refused(403, "space_read_only");
    ben.post("/api/operations/last/undo", json!({})).await.refused(403, "space_read_only");
    // More access needs no new acceptance.
    family.grant("ben", "write").await.expect(200);
    ben.patch(&path, json!({ "content": "The bakery closes at one on Sundays" })).await.expect(200);
    let log = anna.get("/api/operations").await.expect(200);
    assert_eq!(log.each("member"), ["ben", "anna"]);
    // The last operation of a member is their own: Anna's is under Ben's, who undoes his first.
    anna.post("/api/operations/last/undo", json!({})).await.refused(409, "undo_blocked");
    ben.post("/api/operations/last/undo", json!({})).await.expect(200);
    assert_eq!(contents(&ben).await, ["The bakery closes at noon on Sundays"]);
    // Nothing of it is in the members' own memories.
    for own in [&family.anna, &family.ben] {
        assert!(contents(own).await.is_empty());
        own.get(&path).await.refused(404, "memory_not_found");
        assert!(own.get("/api/operations").await.expect(200).each("id").is_empty());
    }
}

#[tokio::test]
async fn ended_space_grant_is_refused_at_once_on_every_server() {
    let family = Family::new().await;
    in_family(&family.anna).save("The ladder is in the shed").await;
    let (base, engine) = family.app.again(Arc::new(NoModels)).await;
    let ben = in_family(&family.ben);
    let elsewhere = ben.at(&base);
    let ask = json!({ "query": "Where is the ladder?" });
    for client in [&ben, &elsewhere] {
        client.get("/api/memory").await.expect(200);
        client.post("/api/memory/search", ask.clone()).await.expect(200);
    }
    family.end("ben").await.expect(204);
    for client in [&ben, &elsewhere] {
        client.get("/api/memory").await.refused(404, "space_not_found");
        client.post("/api/memory/search", ask.clone()).await.refused(404, "space_not_found");
        client.get("/api/operations").await.refused(404, "space_not_found");
    }
    family.end("ben").await.refused(404, "user_not_found");
    engine.close();
}

#[tokio::test]
async fn space_is_reached_by_members_of_its_tenant_only() {
    let family = Family::new().await;
    in_family(&family.anna).save("The ladder is in the shed").await;
    // A user of another tenant with the same name, and an administrator who is not a member.
    let other = in_family(&family.app.human("globex", "anna").await);
    other.get("/api/memory").await.refused(404, "space_not_found");
    let admin = in_family(&family.admin.about("carl"));
    admin.get("/api/memory").await.refused(404, "space_not_found");
    admin.post("/api/memory", json!({ "content": "x" })).await.refused(404, "space_not_found");
    // The name of a space is not a name of a user, and a user may have the same name.
    assert!(contents(&family.admin.about("family")).await.is_empty());
    let users = family.admin.get("/api/users").await.expect(200);
    assert_eq!(users.each("user"), ["anna", "ben", "carl"]);
    family.admin.get("/api/users/family").await.refused(404, "user_not_found");
    // Only administrators manage spaces.
    for client in [&family.anna, &family.app.bound_key("acme", "anna").await] {
        client.get("/api/spaces").await.refused(403, "forbidden");
        client
            .put("/api/spaces/family/members/carl", json!({ "access": "read" }))
            .await
            .refused(403, "forbidden");
    }
    assert_eq!(family.admin.get("/api/spaces").await.expect(200).each("space"), ["family"]);
    family.grant("dora", "read").await.refused(404, "user_not_found");
    family.grant("carl", "all").await.refused(422, "invalid_request");
    let bad = in_family(&family.anna).with("x-lukasa-space", " ");
    bad.get("/api/memory").await.refused(400, "malformed_header");
}

#[tokio::test]
async fn agent_of_a_space_member_is_an_agent_in_the_space() {
    let family = Family::new().await;
    let agent = in_family(&family.app.bound_key("acme", "anna").await);
    let proposed = agent
        .post("/api/memory/propose", json!({ "content": "Dinner is at seven" }))
        .await
        .expect(201);
    let path = format!("/api/memory/{}/confirm", proposed.at("/memory/id"));
    let yes = json!({ "confirm": true, "sha256": proposed.at("/memory/sha256") });
    // Consent is given by a human member who may write.
    agent.post(&path, yes.clone()).await.refused(403, "human_needed");
    in_family(&family.ben).post(&path, yes.clone()).await.refused(403, "space_read_only");
    in_family(&family.carl).post(&path, yes.clone()).await.refused(404, "space_not_found");
    in_family(&family.anna).post(&path, yes).await.expect(200);
    assert_eq!(contents(&in_family(&family.ben)).await, ["Dinner is at seven"]);
    // A domain that needs an opt-in is closed in a space, also if the member has opened it.
    family.anna.put("/api/domains/health/opt-in", json!({})).await.expect(200);
    let health = json!({ "content": "Takes pills in the morning", "domain": "health" });
    family.anna.post("/api/memory", health.clone()).await.expect(201);
    in_family(&family.anna).post("/api/memory", health).await.refused(403, "opt_in_needed");
    in_family(&family.anna)
        .put("/api/domains/health/opt-in", json!({}))
        .await
        .refused(400, "space_unsupported");
}

#[tokio::test]
async fn context_has_lines_of_a_space_only_if_the_request_asks_for_it() {
    let family = Family::new().await;
    in_family(&family.anna).save("The bakery closes at noon on Sundays").await;
    family.ben.save("Lives in Porto").await;
    let ask = |spaces: Value| json!({ "query": "Remind me when the bakery closes on Sundays", "spaces": spaces });
    let retrieve = async |client: &Client, spaces: Value| {
        client.post("/api/memory/retrieve", ask(spaces)).await
    };
    let without = retrieve(&family.ben, json!([])).await.expect(200);
    assert!(!without.text().contains("closes at noon"), "{}", without.text());
    assert!(without.json()["spaces"].is_null());
    let with = retrieve(&family.ben, json!(["family"])).await.expect(200).json();
    let context = with["context"].as_str().unwrap();
    assert!(context.contains("[space family] The bakery closes at noon on Sundays"), "{context}");
    assert!(context.contains("(said by anna)") && context.contains("Lives in Porto"), "{context}");
    let part = &with["spaces"][0]["part"];
    assert_eq!((&with["spaces"][0]["space"], &with["hard"]), (&json!("family"), &json!([])));
    assert!(part["citations"][0]["section"].as_str().unwrap().contains("not rules"), "{part:#}");
    let marks = |part: &Value| -> Vec<Value> {
        part["citations"].as_array().unwrap().iter().map(|line| line["mark"].clone()).collect()
    };
    let mut all = [marks(&with["baseline"]), marks(&with["dynamic"]), marks(part)].concat();
    let count = all.len();
    all.dedup();
    assert_eq!(all.len(), count, "every line has a mark of its own");
    // It is the member who asks, whatever the credential.
    let agent = family.app.bound_key("acme", "ben").await;
    assert!(
        retrieve(&agent, json!(["family"])).await.expect(200).text().contains("closes at noon")
    );
    retrieve(&family.carl, json!(["family"])).await.refused(404, "space_not_found");
    let many: Vec<String> = (0..6).map(|n| format!("s{n}")).collect();
    retrieve(&family.ben, json!(many)).await.refused(422, "invalid_request");
    family.ben.put("/api/policy", json!({ "paused": true })).await.expect(200);
    let paused = retrieve(&family.ben, json!(["family"])).await.expect(200);
    assert!(!paused.text().contains("closes at noon"), "{}", paused.text());
    family.end("ben").await.expect(204);
    retrieve(&family.ben, json!(["family"])).await.refused(404, "space_not_found");
}

#[tokio::test]
async fn erasing_a_space_member_removes_grants_and_names_and_keeps_what_was_shared() {
    let family = Family::new().await;
    in_family(&family.anna).save("The bakery closes at noon on Sundays").await;
    let ben = in_family(&family.ben);
    assert_eq!(ben.get("/api/operations").await.expect(200).each("member"), ["anna"]);
    family.admin.delete("/api/users/anna").await.expect(200);
    assert_eq!(contents(&ben).await, ["The bakery closes at noon on Sundays"]);
    assert_eq!(ben.get("/api/operations").await.expect(200).each("member"), [""]);
    let members = family.admin.get("/api/spaces/family/members").await.expect(200);
    assert_eq!(members.each("user"), ["ben"]);
    let admin = family.app.database.admin().await;
    let left = "select (select count(*) from space_grant) + (select count(*) from membership) \
                  + (select count(*) from operation where member_id is not null)";
    let left: i64 = admin.query_one(left, &[]).await.unwrap().get(0);
    assert_eq!(left, 2, "ben's grant and membership");
    // A new user with the name is neither a member nor the one who wrote.
    family.admin.post("/api/users", json!({ "user": "anna" })).await.expect(201);
    let again = family.app.human("acme", "anna").await;
    in_family(&again).get("/api/memory").await.refused(404, "space_not_found");
    again.put("/api/memberships/family", json!({})).await.refused(404, "space_not_found");
    assert!(again.get("/api/memberships").await.expect(200).each("space").is_empty());
    assert_eq!(ben.get("/api/operations").await.expect(200).each("member"), [""]);
}

#[tokio::test]
async fn erased_space_leaves_no_row_and_is_empty_when_it_is_created_again() {
    let family = Family::new().await;
    in_family(&family.anna).save("The bakery closes at noon on Sundays").await;
    let erased = family.admin.delete("/api/spaces/family").await.expect(200);
    assert_eq!(erased.at("/status"), "done");
    in_family(&family.anna).get("/api/memory").await.refused(404, "space_not_found");
    family.admin.delete("/api/spaces/family").await.refused(404, "space_not_found");
    assert!(family.admin.get("/api/spaces").await.expect(200).each("space").is_empty());
    let space = SpaceName::parse("family").unwrap().user_id(TenantId::named("acme")).uuid();
    let admin = family.app.database.admin().await;
    for table in ["fact", "fact_version", "operation", "passage", "space_grant"] {
        let sql = format!("select count(*) from {table} where user_id = $1");
        let count: i64 = admin.query_one(&sql, &[&space]).await.unwrap().get(0);
        assert_eq!(count, 0, "{table}");
    }
    let lists: i64 = admin.query_one("select count(*) from membership", &[]).await.unwrap().get(0);
    assert_eq!(lists, 0);
    family.admin.post("/api/spaces", json!({ "space": "family" })).await.expect(201);
    in_family(&family.anna).get("/api/memory").await.refused(404, "space_not_found");
    family.grant("anna", "read").await.expect(200);
    family.anna.put("/api/memberships/family", json!({})).await.expect(200);
    assert!(contents(&in_family(&family.anna)).await.is_empty());
}

#[tokio::test]
async fn operation_without_spaces_refuses_the_header() {
    /// Operations that need no caller of one user's memory.
    const WITHOUT_CALLER: [&str; 2] = ["beacon", "get_receipt_key"];
    let family = Family::new().await;
    let anna = in_family(&family.anna);
    let document = serde_json::to_value(lukasa_server::http::document()).unwrap();
    let (mut refused, mut taken) = (0, 0);
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let parameters = operation["parameters"].as_array().cloned().unwrap_or_default();
            let has = |name: &str| parameters.iter().any(|one| one["name"] == name);
            let id = operation["operationId"].as_str().unwrap_or_default();
            if !has("X-Lukasa-User") || WITHOUT_CALLER.contains(&id) {
                continue;
            }
            let path: String = path
                .split('/')
                .map(|part| match part.starts_with('{') {
                    true => "/x".to_owned(),
                    false => format!("/{part}"),
                })
                .collect();
            let answer = anna.call(&method.to_uppercase(), &path[1..], None).await;
            let is_refused = answer.code() == "space_unsupported";
            assert_eq!(is_refused, !has("X-Lukasa-Space"), "{id}: {}", answer.text());
            refused += usize::from(is_refused);
            taken += usize::from(!is_refused);
        }
    }
    assert!(refused > 50 && taken == 16, "{refused} operations refuse it, {taken} take it");
}
