//! Concurrent chats of one user: a slot is held until the answer has ended or the client has left.

use lukasa_models::scripted::server::{ConnectionStep, ScriptedServer, head};
use lukasa_server::api::{App, AuthMode, LimitSettings};
use lukasa_server::gateway::{Gateway, Upstream};
use lukasa_server::http::router_with;

use super::fixture::{reply, say};
use crate::app::{TestApp, serve};

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
    let app = App::new(fixture.engine.clone(), AuthMode::Keys).with_limits(&settings, 8);
    let upstream = Upstream::new(&format!("{}/v1", service.base), None).unwrap();
    let (base, _) = serve(router_with(app.clone(), Gateway::new(app, Some(upstream)))).await;
    let key = fixture.tenant_key("acme").await.at(&base);
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
