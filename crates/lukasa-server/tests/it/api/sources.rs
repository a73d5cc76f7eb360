//! Deletion of turns and episodes over HTTP.

use serde_json::json;

use crate::app::TestApp;

#[tokio::test]
async fn turn_deletion_reports_its_dependents_and_undo_restores_them() {
    let app = TestApp::local().await;
    let client = app.anonymous();
    let turns = json!({"turns": [{"role": "user", "content": "I keep bees."},
                                {"role": "user", "content": "It rains."}]});
    client.post("/api/sessions/s/turns", turns).await.expect(201);
    let turn = client.get("/api/sessions/s/turns").await.at("/data/0/id");
    let path = format!("/api/turns/{turn}");
    let shown = client.get(&format!("/api/dependents?turn_id={turn}")).await.expect(200);
    assert_eq!(shown.at("/reached/summary"), "1 turn");
    let gone = client.delete(&path).await.expect(200);
    assert_eq!(gone.at("/message"), "Moved to the trash: 1 turn.");
    let left = client.get("/api/sessions/s/turns").await.expect(200);
    assert_eq!(left.each("content"), ["It rains."]);
    let again = client.delete(&path).await.expect(200);
    assert_eq!(again.at("/message"), "Already removed.");
    client.delete("/api/turns/nonsense").await.refused(404, "turn_not_found");
    let undo = format!("/api/operations/{}/undo", gone.at("/event/operation_id"));
    client.post(&undo, json!({})).await.expect(200);
    let back = client.get("/api/sessions/s/turns").await.expect(200);
    assert_eq!(back.each("content").len(), 2);
    client.post(&format!("{path}/erase"), json!({})).await.expect(200);
    client.post("/api/sessions/s/erase", json!({})).await.expect(200);
    client.get("/api/sessions/s").await.refused(404, "session_not_found");
    client.delete("/api/episodes/nonsense").await.refused(404, "episode_not_found");
    client.get("/api/dependents").await.refused(400, "malformed_query");
}

#[tokio::test]
async fn dependents_of_a_session_list_memories_saved_in_it_as_kept() {
    let app = TestApp::local().await;
    let client = app.anonymous();
    let turns = json!({"turns": [{"role": "user", "content": "I keep bees."}]});
    client.post("/api/sessions/s/turns", turns).await.expect(201);
    let saved = json!({"content": "Keeps two hives", "session_id": "s"});
    client.post("/api/memory", saved).await.expect(201);
    let elsewhere = json!({"content": "Likes clover honey", "session_id": "other"});
    client.post("/api/memory", elsewhere).await.expect(201);
    let shown = client.get("/api/dependents?session_id=s").await.expect(200);
    assert_eq!(shown.at("/memories/0/memory/content"), "Keeps two hives");
    assert_eq!(shown.at("/memories/0/fate"), "kept");
    assert!(shown.json().pointer("/memories/1").is_none(), "{}", shown.text());
    assert_eq!(shown.json().pointer("/reached/kept"), Some(&json!(1)));
    let turn = client.get("/api/sessions/s/turns").await.at("/data/0/id");
    let of_turn = client.get(&format!("/api/dependents?turn_id={turn}")).await.expect(200);
    assert!(of_turn.json().pointer("/memories/0").is_none(), "{}", of_turn.text());
}
