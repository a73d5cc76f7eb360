//! The memory tools for a client that does not know them: it sees one answer, and its own tools are
//! passed through.

use lukasa_models::scripted::server::{ConnectionStep, RequestRecord, head};
use lukasa_server::api::AuthMode;
use serde_json::{Value, json};

use super::fixture::{TestGateway, chat, reply};

/// A response that calls these tools, in the requested format.
pub fn calling(asked: &RequestRecord, calls: &[(&str, Value)]) -> Vec<ConnectionStep> {
    let made = |(n, (name, arguments)): (usize, &(&str, Value))| {
        json!({"index": n, "id": format!("call_{n}"), "type": "function",
               "function": {"name": name, "arguments": arguments.to_string()}})
    };
    let made: Vec<Value> = calls.iter().enumerate().map(made).collect();
    let (kind, body) = match asked.json()["stream"] == true {
        true => {
            let part = |delta: Value, end: Value| {
                format!(
                    "data: {}\n\n",
                    json!({"choices": [{"index": 0, "delta": delta, "finish_reason": end}]})
                )
            };
            let words = part(json!({"role": "assistant", "content": "One moment. "}), Value::Null);
            let calls = made.iter().map(|call| part(json!({"tool_calls": [call]}), Value::Null));
            let end = part(json!({}), "tool_calls".into()) + "data: [DONE]\n\n";
            ("text/event-stream", words + &calls.collect::<String>() + &end)
        }
        false => {
            let message = json!({"role": "assistant", "content": null, "tool_calls": made});
            let body = json!({"id": "c", "choices": [{"message": message, "finish_reason": "tool_calls"}]});
            ("application/json", body.to_string())
        }
    };
    let headers = format!("content-type: {kind}\r\ncontent-length: {}\r\n", body.len());
    vec![ConnectionStep::Send(head(200, &headers)), ConnectionStep::Send(body.into())]
}

/// A response of `/v1/responses` with text, tool calls or both, in the requested format.
fn responding(
    asked: &RequestRecord,
    id: &str,
    words: &str,
    calls: &[(&str, Value)],
) -> Vec<ConnectionStep> {
    let message = |text: &str| {
        json!({"type": "message", "role": "assistant",
               "content": [{"type": "output_text", "text": text}]})
    };
    let made = |(n, (name, arguments)): (usize, &(&str, Value))| {
        json!({"type": "function_call", "id": format!("fc_{n}"), "call_id": format!("call_{n}"),
               "name": name, "arguments": arguments.to_string()})
    };
    let output: Vec<Value> = (!words.is_empty())
        .then(|| message(words))
        .into_iter()
        .chain(calls.iter().enumerate().map(made))
        .collect();
    let event =
        |data: Value| format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap());
    let item = |(at, item): (usize, &Value)| {
        let part = match item["type"] == "message" {
            true => event(json!({"type": "response.output_text.delta", "output_index": at,
                                 "content_index": 0, "delta": words})),
            false => event(json!({"type": "response.function_call_arguments.delta",
                                  "output_index": at, "delta": item["arguments"]})),
        };
        let of = |kind: &str| event(json!({"type": kind, "output_index": at, "item": item}));
        of("response.output_item.added") + &part + &of("response.output_item.done")
    };
    let whole = json!({"id": id, "status": "completed", "output": output});
    let (kind, body) = match asked.json()["stream"] == true {
        true => {
            let begun = event(json!({"type": "response.created", "response": {"id": id}}));
            let items: String = output.iter().enumerate().map(item).collect();
            let end = event(json!({"type": "response.completed", "response": whole}));
            ("text/event-stream", begun + &items + &end)
        }
        false => ("application/json", whole.to_string()),
    };
    let headers = format!("content-type: {kind}\r\ncontent-length: {}\r\n", body.len());
    vec![ConnectionStep::Send(head(200, &headers)), ConnectionStep::Send(body.into())]
}

fn names(asked: &RequestRecord) -> Vec<String> {
    let tools = asked.json()["tools"].as_array().cloned().unwrap_or_default();
    let name = |tool: &Value| {
        let of = if tool["function"].is_object() { &tool["function"] } else { tool };
        of["name"].as_str().unwrap().to_owned()
    };
    tools.iter().map(name).collect()
}

#[tokio::test]
async fn memory_tools_run_in_the_gateway_and_the_client_sees_one_answer() {
    for stream in [true, false] {
        let fixture = TestGateway::open(AuthMode::Keys, |n, asked| match n {
            0 => calling(asked, &[("save_memory", json!({"content": "Is allergic to walnuts"}))]),
            _ => reply(asked, "I will remember that."),
        })
        .await;
        let (ada, direct) = fixture.assistant("ada").await;
        let ada = ada.with("x-lukasa-session", "c").with("x-lukasa-tools", "on");
        let mut asked = chat(&["Remember that I am allergic to walnuts"]);
        asked["stream"] = stream.into();
        let answer = ada.post("/v1/chat/completions", asked).await.expect(200);
        let text = answer.text();
        assert!(!text.contains("save_memory") && !text.contains("tool_calls"), "{text}");
        assert!(text.contains("remember"), "{text}");
        let requests = fixture.service.asked();
        assert_eq!(requests.len(), 2);
        assert!(
            names(&requests[0]).contains(&"save_memory".to_owned()),
            "{:?}",
            names(&requests[0])
        );
        let second = requests[1].json();
        let messages = second["messages"].as_array().unwrap();
        let [.., spoken, output] = &messages[..] else { panic!("{messages:?}") };
        assert_eq!(spoken["tool_calls"][0]["id"], "call_0");
        assert_eq!((&output["role"], &output["tool_call_id"]), (&json!("tool"), &json!("call_0")));
        assert!(output["content"].as_str().unwrap().contains("walnuts"), "{output}");
        let saved = direct.get("/api/memory").await.expect(200);
        assert_eq!(saved.each("content"), ["Is allergic to walnuts"]);
        let stored = fixture.turns(&direct, "c", 2).await;
        let message =
            if stream { "One moment. I will remember that." } else { "I will remember that." };
        assert_eq!(stored[1], format!("assistant: {message}"));
    }
}

#[tokio::test]
async fn gateway_tool_answer_has_domain_key_and_value_of_a_rule() {
    let fixture = TestGateway::open(AuthMode::Keys, |n, asked| match n {
        0 => calling(asked, &[("list_memories", json!({}))]),
        _ => reply(asked, "Not before four."),
    })
    .await;
    let (ada, _) = fixture.assistant("ada").await;
    let human = fixture.app.human("acme", "ada").await;
    let rule =
        json!({ "type": "HARD", "domain": "schedule", "key": "earliest", "content": "16:00" });
    human.post("/api/memory", rule).await.expect(201);
    let ada = ada.with("x-lukasa-tools", "on");
    ada.post("/v1/chat/completions", chat(&["Plan my day"])).await.expect(200);
    let second = fixture.last().json();
    let output = second["messages"].as_array().unwrap().last().unwrap()["content"].clone();
    let output = output.as_str().unwrap();
    assert!(output.contains(": [schedule] earliest: 16:00 (rule, said 20"), "{output}");
}

#[tokio::test]
async fn memory_tools_run_in_responses_and_the_session_continues() {
    for stream in [true, false] {
        let fixture = TestGateway::open(AuthMode::Keys, |n, asked| match n {
            0 => {
                let save = ("save_memory", json!({"content": "Is allergic to walnuts"}));
                responding(asked, "resp_1", "One moment. ", &[save])
            }
            1 => responding(asked, "resp_2", "I will remember that.", &[]),
            _ => responding(asked, "resp_3", "No.", &[]),
        })
        .await;
        let (ada, direct) = fixture.assistant("ada").await;
        let ada = ada.with("x-lukasa-tools", "on");
        let asked =
            json!({"model": "m", "input": "Remember that I cannot eat walnuts", "stream": stream});
        let answer = ada.post("/v1/responses", asked).await.expect(200);
        let text = answer.text();
        assert!(!text.contains("save_memory") && !text.contains("function_call"), "{text}");
        assert!(text.contains("I will remember that."), "{text}");
        let count = |part: &str| text.matches(part).count();
        let events = (count("event: response.created"), count("event: response.completed"));
        assert_eq!(events, if stream { (1, 1) } else { (0, 0) }, "one answer: {text}");
        let requests = fixture.service.asked();
        assert_eq!(requests.len(), 2);
        assert!(
            names(&requests[0]).contains(&"save_memory".to_owned()),
            "{:?}",
            names(&requests[0])
        );
        let second = requests[1].json();
        let [asked, .., call, output] = &second["input"].as_array().unwrap()[..] else {
            panic!("{second}")
        };
        assert!(asked.to_string().contains("Remember that I cannot eat walnuts"), "{second}");
        assert_eq!((&call["type"], &call["call_id"]), (&json!("function_call"), &json!("call_0")));
        assert_eq!(output["type"], "function_call_output");
        assert_eq!(output["call_id"], "call_0");
        assert!(output["output"].as_str().unwrap().contains("walnuts"), "{output}");
        let saved = direct.get("/api/memory").await.expect(200);
        assert_eq!(saved.each("content"), ["Is allergic to walnuts"]);
        let session = answer.header("lukasa-session").unwrap().to_owned();
        let stored = fixture.turns(&direct, &session, 2).await;
        let message =
            if stream { "One moment. I will remember that." } else { "I will remember that." };
        assert_eq!(stored[1], format!("assistant: {message}"));
        // The upstream continues from its last response, and so does the session.
        let next = json!({"model": "m", "previous_response_id": "resp_2", "input": "And may I have pecans?"});
        let next = ada.post("/v1/responses", next).await.expect(200);
        assert_eq!(next.header("lukasa-session"), Some(session.as_str()));
    }
}

#[tokio::test]
async fn client_tools_are_passed_through_in_responses() {
    for stream in [true, false] {
        let fixture = TestGateway::open(AuthMode::Keys, |_, asked| {
            let save = ("save_memory", json!({"content": "Likes rain"}));
            responding(asked, "resp_1", "", &[save, ("weather", json!({"city": "Porto"}))])
        })
        .await;
        let (ada, direct) = fixture.assistant("ada").await;
        let ada = ada.with("x-lukasa-tools", "on");
        let weather = json!({"type": "function", "name": "weather", "parameters": {}});
        let asked = json!({"model": "m", "input": "Weather in Porto?", "stream": stream,
                           "tools": [weather]});
        let answer = ada.post("/v1/responses", asked).await.expect(200).text();
        assert!(answer.contains("weather") && answer.contains("Porto"), "{answer}");
        assert!(!answer.contains("save_memory"), "{answer}");
        assert_eq!(fixture.service.asked().len(), 1, "the client continues");
        assert_eq!(fixture.last().json()["tools"][0], weather);
        assert_eq!(direct.get("/api/memory").await.each("content"), ["Likes rain"]);
    }
}

#[tokio::test]
async fn client_tools_are_passed_through() {
    let fixture = TestGateway::open(AuthMode::Keys, |_, asked| {
        let save = ("save_memory", json!({"content": "Likes rain"}));
        calling(asked, &[save, ("weather", json!({"city": "Porto"}))])
    })
    .await;
    let (ada, direct) = fixture.assistant("ada").await;
    let ada = ada.with("x-lukasa-tools", "on");
    let mut asked = chat(&["Weather in Porto?"]);
    let weather = json!({"type": "function", "function": {"name": "weather", "parameters": {}}});
    asked["tools"] = json!([weather]);
    let answer = ada.post("/v1/chat/completions", asked.clone()).await.expect(200).json();
    assert_eq!(fixture.last().json()["tools"][0], weather);
    let calls = answer["choices"][0]["message"]["tool_calls"].as_array().unwrap().clone();
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0]["function"]["name"], "weather");
    assert_eq!(fixture.service.asked().len(), 1, "the client continues");
    assert_eq!(direct.get("/api/memory").await.each("content"), ["Likes rain"]);
    // A client tool with the name of one of ours is the client's.
    asked["tools"][0]["function"]["name"] = "save_memory".into();
    let answer = ada.post("/v1/chat/completions", asked).await.expect(200);
    assert!(answer.text().contains("save_memory"), "{}", answer.text());
    assert_eq!(names(&fixture.last()).iter().filter(|name| *name == "save_memory").count(), 1);
}

#[tokio::test]
async fn memory_tools_are_offered_according_to_mode_and_permission() {
    let fixture = TestGateway::answering(AuthMode::Keys, "Yes").await;
    let (ada, _) = fixture.assistant("ada").await;
    ada.post("/v1/chat/completions", chat(&["Hi"])).await.expect(200);
    assert_eq!(names(&fixture.last()), [""; 0]);
    let reading = ada.with("x-lukasa-tools", "on").with("x-lukasa-mode", "read-only");
    reading.post("/v1/chat/completions", chat(&["Hi"])).await.expect(200);
    let offered = names(&fixture.last());
    assert!(offered.contains(&"recall_memories".to_owned()), "{offered:?}");
    assert!(!offered.iter().any(|name| name.contains("save")), "{offered:?}");
    // A response without tool calls is passed through to the byte, with the tools on as well.
    let answer = ada
        .with("x-lukasa-tools", "on")
        .post(
            "/v1/chat/completions",
            json!({"stream": true, "messages": [{"role": "user", "content": "Hi"}]}),
        )
        .await
        .expect(200);
    assert_eq!(answer.body, super::fixture::body(&fixture.last(), "Yes").1);
}

#[tokio::test]
async fn endless_tool_calls_are_cut_off() {
    let fixture = TestGateway::open(AuthMode::Keys, |_, asked| {
        if asked.json()["tool_choice"] == "none" {
            return reply(asked, "Enough.");
        }
        calling(asked, &[("list_memories", json!({}))])
    })
    .await;
    let (ada, _) = fixture.assistant("ada").await;
    let ada = ada.with("x-lukasa-tools", "on");
    let answer = ada.post("/v1/chat/completions", chat(&["What do you know?"])).await.expect(200);
    assert!(answer.text().contains("Enough."), "{}", answer.text());
    assert_eq!(fixture.service.asked().len(), 6);
}
