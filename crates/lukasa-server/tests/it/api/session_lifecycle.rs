//! Session lifecycle over HTTP: close, reopen, archive, trash, restore, find, window, and the
//! memories behind a turn (R050 to R063).

use serde_json::{Value, json};

use crate::app::{Answer, Client, TestApp, canary};

async fn alice(app: &TestApp) -> Client {
    app.tenant_key("acme").await.about("alice")
}

async fn say(client: &Client, session: &str, content: &str) -> Answer {
    let body = json!({ "turns": [{ "role": "user", "content": content }] });
    client.post(&format!("/api/sessions/{session}/turns"), body).await
}

#[tokio::test]
async fn session_close_is_idempotent_and_a_new_turn_reopens_it() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    say(&alice, "c", "hello").await.expect(201);
    let once = alice.with("idempotency-key", "k");
    let closed = once.post("/api/sessions/c/close", json!({})).await.expect(200);
    assert_eq!(closed.at("/session/state"), "idle");
    assert_eq!(closed.json()["learning"], false, "no chat model is configured");
    let again =
        alice.post("/api/sessions/c/close", json!({ "has_new_turns": true })).await.expect(200);
    assert_eq!(again.body, closed.body);
    say(&alice, "c", "one more thing").await.expect(201);
    let resumed = alice.get("/api/sessions/c").await.expect(200).json();
    assert_eq!((&resumed["state"], &resumed["closed_at"]), (&json!("active"), &Value::Null));
    let replayed = once.post("/api/sessions/c/close", json!({})).await.expect(200);
    assert_eq!(replayed.body, closed.body, "a retry is answered as it was, and closes nothing");
    assert_eq!(alice.get("/api/sessions/c").await.at("/state"), "active");
    alice.post("/api/sessions/nowhere/close", json!({})).await.refused(404, "session_not_found");
}

#[tokio::test]
async fn session_is_renamed_archived_and_reopened() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    say(&alice, "c", "hello").await.expect(201);
    say(&alice, "other", "hello").await.expect(201);
    let edit = json!({ "title": "Pottery", "archived": true });
    let edited = alice.patch("/api/sessions/c", edit).await.expect(200);
    assert_eq!((edited.at("/title"), edited.at("/state")), ("Pottery".into(), "archived".into()));
    let listed = async |state: &str| {
        alice.get(&format!("/api/sessions?state={state}")).await.expect(200).each("id")
    };
    assert_eq!(
        (listed("archived").await, listed("active").await),
        (vec!["c".into()], vec!["other".into()])
    );
    alice.get("/api/sessions?state=asleep").await.refused(400, "malformed_query");
    let back = alice.patch("/api/sessions/c", json!({ "archived": false })).await.expect(200);
    assert_eq!((back.at("/title"), back.at("/state")), ("Pottery".into(), "idle".into()));
    let long = json!({ "title": "x".repeat(256) });
    alice.patch("/api/sessions/c", long).await.refused(422, "invalid_request");
    alice.patch("/api/sessions/nowhere", json!({})).await.refused(404, "session_not_found");
}

#[tokio::test]
async fn trashed_session_is_not_found_until_it_is_restored() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    say(&alice, "c", "The pottery class was fun.").await.expect(201);
    let found = async || {
        let answer = alice.get("/api/sessions/search?query=pottery").await.expect(200);
        (answer.at("/data/0/session/id"), answer.at("/data/0/best/content"))
    };
    let there = ("c".to_owned(), "The pottery class was fun.".to_owned());
    assert_eq!(found().await, there);
    let trashed = alice.delete("/api/sessions/c").await.expect(200);
    assert!(!trashed.at("/trashed_at").is_empty());
    assert_eq!(found().await, (String::new(), String::new()));
    let search = json!({ "query": "pottery", "turns": 5 });
    let recalled = alice.post("/api/memory/search", search).await.expect(200);
    assert_eq!(recalled.json()["turns"], json!([]));
    assert!(alice.get("/api/sessions").await.each("id").is_empty());
    assert_eq!(alice.get("/api/sessions?trashed=true").await.each("id"), ["c"]);
    say(&alice, "c", "hello?").await.refused(404, "session_not_found");
    for path in ["/api/sessions/c/window", "/api/sessions/c/turns/1/why"] {
        alice.get(path).await.refused(404, "session_not_found");
    }
    for path in ["/api/sessions/c/close", "/api/sessions/c/restore"] {
        let answer = alice.post(path, json!({})).await;
        assert_eq!(answer.status, if path.ends_with("restore") { 200 } else { 404 }, "{path}");
    }
    assert_eq!(found().await, there);
    alice.post("/api/sessions/c/restore", json!({})).await.refused(409, "not_gone");
}

#[tokio::test]
async fn turn_spans_mark_text_the_sender_did_not_write() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let turn = |spans: Value| {
        json!({ "turns": [{
        "role": "user", "content": "Größe: I am an admin", "spans": spans,
    }] })
    };
    let path = "/api/sessions/c/turns";
    let spans = json!([{ "from": 7, "to": 20, "as": "pasted" }]);
    alice.post(path, turn(spans.clone())).await.expect(201);
    let turns = alice.get(path).await.expect(200).json();
    assert_eq!(turns["data"][0]["spans"], spans, "counted in characters");
    assert_eq!(turns["data"][0]["origin"], "user_turn");
    for wrong in [
        json!([{ "from": 7, "to": 21, "as": "pasted" }]),
        json!([{ "from": 3, "to": 3, "as": "quoted" }]),
    ] {
        alice.post(path, turn(wrong)).await.refused(422, "invalid_request");
    }
    let unknown = json!([{ "from": 0, "to": 3, "as": "dreamt" }]);
    let refused = alice.post(path, turn(unknown)).await.refused(422, "invalid_request");
    assert_eq!(refused.at("/errors/0/pointer"), "/turns/0/spans/0/as");
}

#[tokio::test]
async fn incognito_session_stores_nothing() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let word = canary("incognito");
    let open = json!({ "id": "i", "title": word, "incognito": true });
    assert_eq!(alice.post("/api/sessions", open).await.expect(200).json()["incognito"], true);
    let reply = say(&alice.with("idempotency-key", "k"), "i", &word).await.expect(201);
    assert_eq!(reply.json()["kept"], false);
    assert!(alice.get("/api/sessions/i/turns").await.expect(200).each("id").is_empty());
    let body = json!({ "query": word, "session_id": "i" });
    alice.post("/api/memory/retrieve", body).await.expect(200);
    alice.post("/api/sessions/i/close", json!({})).await.expect(200);
    alice.get("/api/sessions/i").await.refused(404, "session_not_found");
    // Rows written after a response would be there by now.
    let other = json!({ "query": "anything", "session_id": "other" });
    let given = alice.post("/api/memory/retrieve", other).await.expect(200);
    alice.wait_for_retrieval(&given.at("/retrieval_id")).await;
    let admin = app.database.admin().await;
    let tables = "select tablename::text from pg_tables where schemaname = 'public'";
    for row in admin.query(tables, &[]).await.unwrap() {
        let table: String = row.get(0);
        let sql = format!("select count(*) from {table} t where t::text ilike '%{word}%'");
        assert_eq!(admin.query_one(&sql, &[]).await.unwrap().get::<_, i64>(0), 0, "{table}");
    }
}

#[tokio::test]
async fn session_window_is_cut_to_its_budget_with_a_banner() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let long = "We talked about the garden and the many plants in it. ".repeat(10);
    for _ in 0..10 {
        say(&alice, "c", &long).await.expect(201);
    }
    let whole = alice.get("/api/sessions/c/window").await.expect(200).json();
    assert_eq!((&whole["left_out"], &whole["banner"]), (&json!(0), &Value::Null));
    let cut = alice.get("/api/sessions/c/window?budget=800&threshold=0.5").await.expect(200).json();
    let kept = cut["turns"].as_array().unwrap();
    assert_eq!(kept.len() as u64 + cut["left_out"].as_u64().unwrap(), 10);
    assert!(cut["tokens"].as_u64().unwrap() <= 400, "{cut}");
    assert_eq!(kept.last().unwrap()["number"], 10, "the last words stay");
    assert!(cut["banner"].as_str().unwrap().contains("None of them is deleted"));
    assert_eq!(alice.get("/api/sessions/c/turns").await.each("id").len(), 10);
    for wrong in ["budget=10", "threshold=7"] {
        let path = format!("/api/sessions/c/window?{wrong}");
        alice.get(&path).await.refused(422, "invalid_request");
    }
}

#[tokio::test]
async fn turn_why_lists_used_and_supplied_memories() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let tea = alice.save("Likes oolong tea").await.at("/memory/id");
    let cats = alice.save("Has two cats").await.at("/memory/id");
    let ask = json!({ "query": "What do I like to drink?", "session_id": "c" });
    let retrieval = alice.post("/api/memory/retrieve", ask).await.expect(200).at("/retrieval_id");
    alice.wait_for_retrieval(&retrieval).await;
    let turn = json!({ "turns": [{
        "role": "assistant", "content": "You like oolong.", "used": [tea], "retrieval_id": retrieval,
    }] });
    alice.post("/api/sessions/c/turns", turn).await.expect(201);
    let changed = json!({ "content": "Likes green tea" });
    alice.patch(&format!("/api/memory/{tea}"), changed).await.expect(200);
    let why = alice.get("/api/sessions/c/turns/1/why").await.expect(200);
    assert_eq!(why.at("/turn/content"), "You like oolong.");
    assert_eq!(why.at("/retrieval_id"), retrieval);
    let memories = why.json()["memories"].clone();
    let of = |id: &str| memories.as_array().unwrap().iter().find(|m| m["memory"]["id"] == id);
    assert_eq!(of(&tea).unwrap()["how"], "cited");
    assert_eq!(of(&tea).unwrap()["memory"]["content"], "Likes oolong tea", "as it was known then");
    assert_eq!(of(&cats).unwrap()["how"], "given");
    assert!(alice.get("/api/memory/usage").await.each("type").contains(&"cited".into()));
    alice.get("/api/sessions/c/turns/2/why").await.refused(404, "turn_not_found");
    let unknown = json!({ "turns": [{
        "role": "assistant", "content": "x", "used": ["mem_00000000000000000000000000"],
    }] });
    alice.post("/api/sessions/c/turns", unknown).await.refused(404, "memory_not_found");
}

#[tokio::test]
async fn turn_why_names_phrases_that_judge_the_user() {
    let app = TestApp::with_keys().await;
    let alice = alice(&app).await;
    let answer = "You believe in oolong, and you are the type of person who drinks it.";
    let say = async |session: &str, role: &str, content: &str| {
        let turn = json!({ "turns": [{ "role": role, "content": content }] });
        alice.post(&format!("/api/sessions/{session}/turns"), turn).await.expect(201);
    };
    let judging = async |path: &str| alice.get(path).await.expect(200).json()["judging"].clone();
    say("plain", "assistant", answer).await;
    let none = judging("/api/sessions/plain/turns/1/why").await;
    assert_eq!(none, json!([]), "the answer was given no memory");
    alice.save("Likes oolong tea").await;
    let ask = json!({ "query": "What do I like to drink?", "session_id": "c" });
    let retrieval = alice.post("/api/memory/retrieve", ask).await.expect(200).at("/retrieval_id");
    alice.wait_for_retrieval(&retrieval).await;
    say("c", "assistant", answer).await;
    say("c", "assistant", "You told me that you like oolong. Do you believe in tea?").await;
    say("c", "user", "Do you know what you believe?").await;
    let found = judging("/api/sessions/c/turns/1/why").await;
    assert_eq!(found, json!(["you believe", "type of person", "you are the type"]));
    for number in [2, 3] {
        let path = format!("/api/sessions/c/turns/{number}/why");
        assert_eq!(judging(&path).await, json!([]), "turn {number}");
    }
}
