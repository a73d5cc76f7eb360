//! Concurrent chats of one user: a slot is held until the answer has ended or the client has left, and
//! with memory tools also the memory of the request.

use std::time::Duration;

use lukasa_models::scripted::server::{ConnectionStep, ScriptedServer, head};
use lukasa_server::api::{App, AuthMode, LimitSettings};
use lukasa_server::gateway::{Gateway, Upstream};
use lukasa_server::http::router_with;
use serde_json::json;

use super::fixture::{reply, say};
use super::tools::calling;
use crate::app::{Client, TestApp, serve};

/// A client of a gateway to this service, with these limits.
async fn client(fixture: &TestApp, service: &ScriptedServer, settings: &LimitSettings) -> Client {
    let app = App::new(fixture.engine.clone(), AuthMode::Keys).with_limits(settings, 8);
    let upstream = Upstream::new(&format!("{}/v1", service.base), None).unwrap();
    let (base, _) = serve(router_with(app.clone(), Gateway::new(app, Some(upstream)))).await;
    fixture.tenant_key("acme").await.at(&base)
}

#[tokio::test]
async fn chats_of_one_user_are_limited_until_their_answers_end() {
    let service = ScriptedServer::start(|n, asked| match n {
        0 => {
            let begin = head(200, "content-type: text/event-stream\r\n");
            vec![ConnectionStep::Send(begin), ConnectionStep::Hang]
        }
        _ => reply(asked, "Yes"),
    })
    .await;
    let fixture = TestApp::with_keys().await;
    let settings = LimitSettings { chat_concurrency: 1, ..LimitSettings::default() };
    let key = client(&fixture, &service, &settings).await;
    let (ada, bob) = (key.about("ada"), key.about("bob"));
    let first = {
        let ada = ada.clone();
        tokio::spawn(async move { say(&ada, &["Hello"]).await })
    };
    while service.asked().is_empty() {
        tokio::task::yield_now().await;
    }
    let refused = say(&ada, &["Hello"]).await.expect(429);
    assert_eq!(refused.at("/error/code"), "rate_limited");
    say(&bob, &["Hello"]).await.expect(200);
    first.abort();
    say(&ada, &["Hello"]).await.expect(200);
    say(&ada, &["Hello"]).await.expect(200);
}

#[tokio::test]
async fn chat_with_memory_tools_keeps_the_memory_of_its_body_until_it_ends() {
    let service = ScriptedServer::start(|n, asked| match n {
        0 => calling(asked, &[("list_memories", json!({}))]),
        1 => vec![ConnectionStep::Hang],
        _ => reply(asked, "Yes"),
    })
    .await;
    let fixture = TestApp::with_keys().await;
    // One user may have a megabyte in flight, or a single larger body.
    let settings = LimitSettings { body_memory: 4, ..LimitSettings::default() };
    let ada = client(&fixture, &service, &settings).await.about("ada");
    let message = "x".repeat(1_200_000);
    let first = {
        let (ada, message) = (ada.with("x-lukasa-tools", "on"), message.clone());
        tokio::spawn(async move { say(&ada, &[&message]).await })
    };
    // The model is called again with the result of the tool.
    while service.asked().len() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let refused = say(&ada, &[&message]).await.expect(429);
    assert_eq!(refused.at("/error/code"), "rate_limited");
    say(&ada, &["Hello"]).await.expect(200);
    first.abort();
    for _ in 0..200 {
        if say(&ada, &[&message]).await.status == 200 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the memory is not given back");
}
