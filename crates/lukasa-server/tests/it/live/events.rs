//! Event streams: no event is missed or repeated, no stream shows another user's events, and
//! streams end when they should.

use std::time::{Duration, Instant};

use lukasa_core::Permission;
use lukasa_core::model::NoModels;
use lukasa_server::clock;
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::app::{Client, TestApp, canary};
use crate::binary::Served;

const EVENT_TIMEOUT: Duration = Duration::from_secs(60);

/// One received event.
#[derive(Debug, Clone, Default)]
struct Event {
    id: String,
    event: String,
    data: Value,
}

/// A reader of an event stream.
struct Reader {
    response: reqwest::Response,
    text: String,
    /// The last id received, with an event or without.
    last: String,
    comments: usize,
}

impl Reader {
    async fn open(client: &Client, path: &str) -> Self {
        let response = client.open(path).await;
        assert_eq!(response.status(), 200, "{:?}", response.text().await);
        Self { response, text: String::new(), last: String::new(), comments: 0 }
    }

    /// Reconnects after the last id, at this client's server.
    async fn again(client: &Client, last: &str) -> Self {
        let mut reader = Self::open(&client.with("last-event-id", last), "/api/events").await;
        reader.last = last.to_owned();
        reader
    }

    /// The next event; `None` once the stream has ended.
    async fn next(&mut self) -> Option<Event> {
        loop {
            while let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                if let Some(received) = self.take(&block) {
                    return Some(received);
                }
            }
            match self.response.chunk().await {
                Ok(Some(piece)) => self.text.push_str(std::str::from_utf8(&piece).unwrap()),
                _ => return None,
            }
        }
    }

    /// The next event, which must arrive.
    async fn must(&mut self) -> Event {
        timeout(EVENT_TIMEOUT, self.next()).await.expect("in time").expect("the stream is open")
    }

    fn take(&mut self, block: &str) -> Option<Event> {
        let mut received = Event::default();
        let mut data = None;
        for line in block.lines() {
            match line.split_once(':').map(|(name, value)| (name, value.trim_start())) {
                Some(("", _)) => self.comments += 1,
                Some(("id", value)) => value.clone_into(&mut self.last),
                Some(("event", value)) => value.clone_into(&mut received.event),
                Some(("data", value)) => data = serde_json::from_str(value).ok(),
                Some(("retry", value)) => assert_eq!(value, "2000"),
                _ => panic!("{line}"),
            }
        }
        received.id.clone_from(&self.last);
        received.data = data?;
        Some(received)
    }
}

fn random(below: u8) -> u8 {
    clock::random::<1>()[0] % below
}

#[tokio::test]
async fn event_stream_delivers_each_write_once_across_reconnects() {
    const WRITES: usize = 1_000;
    let app = TestApp::with_keys().await;
    let here = app.tenant_key("acme").await.about("alice");
    let (base, _) = app.again(std::sync::Arc::new(NoModels)).await;
    let there = here.at(&base);
    let mut reader = Reader::open(&here, "/api/events").await;
    let (one, other, engine) = (here.clone(), there.clone(), app.engine.clone());
    let writer = tokio::spawn(async move {
        let mut written = Vec::new();
        for number in 0..WRITES {
            let late = number >= WRITES / 2;
            if number == WRITES / 2 {
                // The first server stops: its streams end, and clients do not reconnect to it.
                engine.events.close_streams();
            }
            let client = if late || random(4) == 0 { &other } else { &one };
            let saved = client.save(&format!("number {number}")).await;
            written.push(saved.at("/event/operation_id"));
        }
        written
    });
    let (mut received, mut cuts) = (Vec::new(), 0);
    let mut until_cut = 10;
    while received.len() < WRITES {
        let next = timeout(EVENT_TIMEOUT, reader.next()).await.expect("an event arrives");
        if let Some(event) = &next {
            assert_eq!(event.event, "save");
            assert_eq!(event.data["verb"], "save");
            received.push(event.data["id"].as_str().unwrap().to_owned());
            until_cut -= 1;
        }
        if next.is_none() || until_cut == 0 {
            let last = reader.last.clone();
            drop(reader);
            let client = if received.len() < WRITES / 2 && random(2) == 0 { &here } else { &there };
            // The stopping server may already be gone.
            let refused = client.with("last-event-id", &last).open("/api/events").await.status();
            let client = if refused == 200 { client } else { &there };
            reader = Reader::again(client, &last).await;
            (cuts, until_cut) = (cuts + 1, i32::from(random(40)) + 1);
        }
    }
    assert_eq!(received, writer.await.unwrap());
    println!("live: {WRITES} writes, {cuts} cuts, 0 missed, 0 twice");
    assert!(cuts > 20, "{cuts}");
    // From the beginning up to now.
    let log = there.get("/api/operations?limit=1").await.at("/data/0/id");
    let mut all =
        Reader::open(&there, &format!("/api/events?follow=false&after={}", epoch())).await;
    let (mut count, mut last) = (0, String::new());
    while let Some(event) = timeout(EVENT_TIMEOUT, all.next()).await.expect("in time") {
        (count, last) = (count + 1, event.data["id"].as_str().unwrap().to_owned());
    }
    assert_eq!((count, last), (WRITES, log));
}

/// A cursor before all events.
fn epoch() -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode("\"1970-01-01T00:00:00Z\"")
}

#[tokio::test]
async fn event_shows_the_operation_visible_to_its_reader() {
    let app = TestApp::with_keys().await;
    let alice = app.tenant_key("acme").await.about("alice");
    let word = canary("erased");
    let response = alice.open("/api/events").await;
    let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
    assert_eq!(header("content-type"), "text/event-stream");
    assert_eq!(
        (header("cache-control"), header("x-accel-buffering")),
        ("no-store".into(), "no".into())
    );
    drop(response);
    let mut reader = Reader::open(&alice, "/api/events").await;
    let saved = alice.save(&format!("Keeps {word}")).await;
    let (memory, operation) = (saved.at("/memory/id"), saved.at("/event/operation_id"));
    let event = reader.must().await;
    let shown = alice.get(&format!("/api/operations/{operation}")).await.expect(200);
    assert_eq!(event.data, shown.json());
    assert_eq!(event.data["memory_ids"], json!([memory]));
    alice.post(&format!("/api/operations/{operation}/undo"), json!({})).await.expect(200);
    alice.post(&format!("/api/memory/{memory}/erase"), json!({})).await.expect(200);
    let verbs = [reader.must().await.event, reader.must().await.event];
    assert_eq!(verbs, ["undo", "erase"]);
    // Replayed from the start: an undone operation is marked as such, and an erased one has no
    // content.
    let path = format!("/api/events?follow=false&after={}", epoch());
    let all = alice.get(&path).await.expect(200).text();
    assert_eq!(
        all.matches("\nevent: ").count() + usize::from(all.starts_with("event: ")),
        3,
        "{all}"
    );
    assert!(all.contains(&operation) && !all.contains(&word), "{all}");
    alice.get("/api/events?after=nonsense").await.refused(400, "malformed_cursor");
    alice
        .with("last-event-id", "nonsense")
        .get("/api/events")
        .await
        .refused(400, "malformed_cursor");
}

#[tokio::test]
async fn event_streams_are_isolated_per_user() {
    let app = TestApp::with_keys().await;
    let (acme, globex) = (app.tenant_key("acme").await, app.tenant_key("globex").await);
    let (alice, carol) = (acme.about("alice"), app.human("acme", "carol").await);
    let mut others = Vec::new();
    for other in [acme.about("bob"), globex.about("alice"), carol.clone()] {
        others.push((Reader::open(&other, "/api/events").await, other));
    }
    let mut own = Reader::open(&alice, "/api/events").await;
    let hers = alice.save("hers").await.at("/event/operation_id");
    assert_eq!(own.must().await.data["id"], json!(hers));
    for (reader, other) in &mut others {
        let early = timeout(Duration::from_millis(1_500), reader.next()).await;
        assert!(early.is_err(), "{early:?}");
        // The position of her event means nothing in another log.
        let mut from_hers = Reader::again(other, &own.last).await;
        let theirs = other.save("theirs").await.at("/event/operation_id");
        assert_eq!(from_hers.must().await.data["id"], json!(theirs));
        assert_eq!(reader.must().await.data["id"], json!(theirs));
    }
    carol.about("alice").get("/api/events").await.refused(403, "wrong_user");
    let none = app.key_with_permissions("acme", &[Permission::Write]).await.about("alice");
    none.get("/api/events").await.refused(403, "forbidden");
}

#[tokio::test]
async fn event_arrives_immediately_after_the_write() {
    let app = TestApp::with_keys().await;
    let alice = app.tenant_key("acme").await.about("alice");
    let mut reader = Reader::open(&alice, "/api/events").await;
    let mut waits = Vec::new();
    for number in 0..20 {
        alice.save(&format!("number {number}")).await;
        let began = Instant::now();
        reader.must().await;
        waits.push(began.elapsed());
    }
    waits.sort();
    println!("live: word of a write came after {:?} (median of 20)", waits[10]);
    // A stream without a wake-up polls every second, so its average delay is half a second.
    assert!(waits[10] < Duration::from_millis(250), "{waits:?}");
}

#[tokio::test]
async fn event_stream_ends_when_its_credential_or_user_ends() {
    let app = TestApp::with_keys().await;
    let acme = app.tenant_key("acme").await;
    acme.about("alice").save("something").await;
    acme.about("bob").save("something").await;
    let (id, secret) = app.make_key("acme", None, &Permission::ALL, None).await;
    let soon = clock::now() + jiff::SignedDuration::from_secs(3);
    let (_, brief) = app.make_key("acme", None, &Permission::ALL, Some(soon)).await;
    let mut revoked = Reader::open(&app.presenting(&secret).about("alice"), "/api/events").await;
    let mut expired = Reader::open(&app.presenting(&brief).about("alice"), "/api/events").await;
    let mut deleted = Reader::open(&acme.about("bob"), "/api/events").await;
    let mut stays = Reader::open(&acme.about("alice"), "/api/events").await;
    acme.delete(&format!("/api/keys/{id}")).await.expect(200);
    acme.delete("/api/users/bob").await.expect(200);
    for (reader, whose) in
        [(&mut revoked, "revoked"), (&mut expired, "expired"), (&mut deleted, "deleted")]
    {
        let ended = timeout(Duration::from_secs(12), reader.next()).await;
        assert!(ended.expect("it ends within seconds").is_none(), "{whose}");
    }
    let operation_id = acme.about("alice").save("still here").await.at("/event/operation_id");
    assert_eq!(stays.must().await.data["id"], json!(operation_id));
}

#[tokio::test]
async fn event_streams_are_limited_per_user() {
    let app = TestApp::with_keys().await;
    let alice = app.tenant_key("acme").await.about("alice");
    let mut readers = Vec::new();
    for _ in 0..lukasa_engine::events::MAX_STREAMS_PER_USER {
        readers.push(Reader::open(&alice, "/api/events").await);
    }
    let refused = alice.get("/api/events").await.refused(429, "too_many_streams");
    assert_eq!(refused.header("retry-after"), Some("1"));
    // Another user's streams are counted separately, and so are streams that only read up to now.
    Reader::open(&app.tenant_key("acme").await.about("bob"), "/api/events").await;
    alice.get("/api/events?follow=false").await.expect(200);
    readers.pop();
    for _ in 0..100 {
        if alice.open("/api/events").await.status() == 200 {
            return;
        }
        // The server notices a closed connection with a delay.
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the slot of a closed stream was not released");
}

#[tokio::test]
async fn event_stream_sends_keep_alives() {
    let app = TestApp::with_keys().await;
    let alice = app.tenant_key("acme").await.about("alice");
    let mut reader = Reader::open(&alice, "/api/events").await;
    assert!(timeout(Duration::from_secs(17), reader.next()).await.is_err(), "nothing happened");
    assert_eq!(reader.comments, 1);
    // The id to resume from is in the first line, before any event.
    assert!(!reader.last.is_empty());
}

#[tokio::test]
async fn shutdown_ends_event_streams() {
    let app = TestApp::local().await;
    let served = Served::start(&app, &["--embedder", "off", "--workers", "0"]).await;
    let mut reader = Reader::open(&served.client, "/api/events").await;
    let operation_id = served.client.save("one").await.at("/event/operation_id");
    assert_eq!(reader.must().await.data["id"], json!(operation_id));
    let began = Instant::now();
    let log = timeout(EVENT_TIMEOUT, served.stop()).await.expect("it stops");
    assert!(reader.next().await.is_none());
    assert!(began.elapsed() < Duration::from_secs(10), "it did not wait out its grace");
    assert!(!log.contains("still under way"), "{log}");
}
