//! Portraits over HTTP.

use serde_json::json;

use crate::app::TestApp;

#[tokio::test]
async fn portrait_sentences_cite_their_memories() {
    let app = TestApp::with_keys().await;
    let client = app.human("acme", "alice").await;
    let lives = client.save("User lives in Lisbon.").await.at("/memory/id");
    client.save("Works as a nurse").await;
    let body = json!({"content": "Short answers, please", "category": "style"});
    client.post("/api/memory", body).await.expect(201);

    let all = client.get("/api/portraits").await.expect(200);
    let names = all.each("name");
    assert_eq!(names, ["profile", "procedures", "active_context"]);
    let profile = client.get("/api/portraits/profile").await.expect(200);
    assert_eq!(profile.at("/made_by"), "template");
    assert_eq!(profile.json()["fresh"], true);
    let cited = profile.json()["sentences"][0]["memory_ids"].clone();
    assert!(cited.as_array().unwrap().contains(&json!(lives)), "{cited}");
    let text = profile.at("/markdown");
    assert!(text.contains("You told me: ") && text.contains(&lives), "{text}");

    client.post(&format!("/api/memory/{lives}/forget"), json!({})).await.expect(200);
    let profile = client.get("/api/portraits/profile").await.expect(200);
    assert!(!profile.at("/markdown").contains("Lisbon"));
    let again = client.post("/api/portraits", json!({})).await.expect(200);
    assert_eq!(again.json()["data"][0]["name"], "profile");
    let refused = client.get("/api/portraits/soul").await.expect(404);
    assert_eq!(refused.at("/code"), "portrait_not_found");
}

#[tokio::test]
async fn memories_that_share_rare_words_form_a_cluster() {
    let app = TestApp::with_keys().await;
    let client = app.human("acme", "alice").await;
    for content in ["Grows tomatoes", "Tomatoes need water", "Lives in Lisbon"] {
        client.save(content).await;
    }
    let all = client.get("/api/clusters").await.expect(200).json();
    let [cluster] = &all["data"].as_array().unwrap()[..] else { panic!("one cluster: {all}") };
    assert!(cluster["name"].as_str().unwrap().starts_with("tomatoes"));
    assert_eq!(cluster["memories"].as_array().unwrap().len(), 2);
}
