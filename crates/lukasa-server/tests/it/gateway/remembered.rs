//! What memory puts into a prompt, where, and for whom.

use lukasa_server::http::Door;
use serde_json::{Value, json};

use super::stage::{Stage, chat, say};
use crate::app::canary;

/// The messages that the service was asked with last.
fn messages(stage: &Stage) -> Vec<Value> {
    stage.last().json()["messages"].as_array().unwrap().clone()
}

#[tokio::test]
async fn what_is_known_goes_in_and_the_headers_say_so() {
    let stage = Stage::saying(Door::Keys, "Oolong, then. [m1]").await;
    let (ada, direct) = stage.assistant("ada").await;
    direct.save("Drinks oolong in the morning").await;
    let chat = ada.with("x-lukasa-session", "tea");
    let first = say(&chat, &["What do I drink in the morning?"]).await.expect(200);
    let block = messages(&stage)[0]["content"].as_str().unwrap().to_owned();
    assert!(block.starts_with("<memory nonce=") && block.contains("Drinks oolong"), "{block}");
    assert_eq!(messages(&stage)[0]["role"], "system");
    assert_eq!(first.header("lukasa-memories"), Some("1"));
    assert!(first.header("lukasa-context-tokens").unwrap().parse::<usize>().unwrap() > 50);
    assert_eq!(first.header("lukasa-session"), Some("tea"));
    assert_eq!(first.header("lukasa-cache"), Some("miss"));
    assert_eq!(first.header("lukasa-degraded"), None);
    direct.noted(first.header("lukasa-retrieval").unwrap()).await;
    let again = ["What do I drink in the morning?", "Oolong, then. [m1]", "And why?"];
    let second = say(&chat, &again).await.expect(200);
    assert_eq!(second.header("lukasa-cache"), Some("hit"));
    // The answer cited a line, so it is known what it rested on.
    stage.turns(&direct, "tea", 4).await;
    let turns = direct.get("/api/sessions/tea/turns").await.json();
    let why = format!("/api/sessions/tea/turns/{}/why", turns["data"][1]["number"]);
    let why = direct.get(&why).await.expect(200);
    assert!(why.text().contains("Drinks oolong"), "{}", why.text());
}

#[tokio::test]
async fn a_person_without_memories_gets_the_model_as_it_is() {
    let stage = Stage::saying(Door::Local, "Hello").await;
    let me = stage.through(&stage.app.anonymous());
    let answer = say(&me, &["Hi"]).await.expect(200);
    assert_eq!(stage.last().json(), chat(&["Hi"]));
    assert_eq!(answer.header("lukasa-memories"), Some("0"));
    assert_eq!(answer.header("lukasa-context-tokens"), Some("0"));
}

#[tokio::test]
async fn fifty_turns_begin_with_the_same_bytes() {
    let stage =
        Stage::open(Door::Keys, |n, asked| super::stage::reply(asked, &format!("Answer {n}")))
            .await;
    let (ada, direct) = stage.assistant("ada").await;
    for n in 0..12 {
        direct.save(&format!("Has read book number {n} about the sea")).await;
    }
    let ada = ada.with("x-lukasa-session", "long");
    let mut history = vec![json!({"role": "system", "content": "Be brief."})];
    let (mut block, mut before) = (None, Vec::<Value>::new());
    for n in 0..50 {
        if n % 10 == 5 {
            // What is learned meanwhile must not move what was said before.
            direct.save(&format!("Bought boat number {n}")).await;
        }
        history.push(json!({"role": "user", "content": format!("Which book about the sea, {n}?")}));
        let asked = json!({"model": "m", "messages": history});
        let answer = ada.post("/v1/chat/completions", asked).await.expect(200);
        let now = messages(&stage);
        let own = now[0]["content"].as_str().unwrap().to_owned();
        assert_eq!(*block.get_or_insert_with(|| own.clone()), own, "turn {n}");
        assert!(own.contains("book number"), "{own}");
        // All that came before the last message of the round before stands as it was.
        let same = before.len().saturating_sub(1);
        let bytes = |messages: &[Value]| serde_json::to_string(messages).unwrap();
        assert_eq!(bytes(&now[..same]), bytes(&before[..same]), "turn {n}");
        let last = now.last().unwrap()["content"].as_str().unwrap();
        assert!(last.ends_with(&format!("Which book about the sea, {n}?")), "{last}");
        if n >= 6 {
            assert!(last.starts_with("<memory-now nonce=") && last.contains("boat"), "{last}");
        }
        let said = answer.json()["choices"][0]["message"].clone();
        history.push(said);
        before = now;
    }
    let turns = stage.turns(&direct, "long", 100).await;
    assert_eq!(turns.len(), 100, "each message once: {:?}", &turns[..6]);
    assert!(turns.iter().all(|turn| !turn.contains("<memory")));
}

#[tokio::test]
async fn nobody_is_told_what_another_said() {
    let stage = Stage::saying(Door::Keys, "Yes").await;
    let (ada, _) = stage.assistant("ada").await;
    let secret = canary("ada");
    let heard = canary("adachat");
    let other_tenant = stage.app.tenant_key("globex").await.about("ada");
    ada.save(&format!("Keeps {secret} under the bed")).await;
    for session in ["c", "d"] {
        say(&ada.with("x-lukasa-session", session), &[&format!("I hid {heard} under the bed")])
            .await
            .expect(200);
    }
    let question = "What is under the bed? What did I hide?";
    let own = ada.with("x-lukasa-session", "e");
    stage.turns(&own, "d", 2).await;
    say(&own, &[question]).await.expect(200);
    let prompt = stage.last().json().to_string();
    assert!(prompt.contains(&secret) && prompt.contains(&heard), "{prompt}");
    let bob = ada.about("bob");
    let bound = stage.through(&stage.app.bound_key("acme", "bob").await);
    for stranger in [bob, bound, stage.through(&other_tenant)] {
        for session in ["c", "e", "new"] {
            let stranger = stranger.with("x-lukasa-session", session);
            for path in ["/v1/chat/completions", "/v1/responses"] {
                let mut asked = chat(&[question]);
                asked["input"] = asked["messages"].clone();
                asked["previous_response_id"] = "resp_1".into();
                stranger.post(path, asked).await.expect(200);
                let prompt = stage.last().json().to_string();
                assert!(!prompt.contains(&secret) && !prompt.contains(&heard), "{prompt}");
            }
        }
    }
}
