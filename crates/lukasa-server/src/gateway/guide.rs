//! The guide: a scripted chat model for a server without a model service, so that new users can try
//! memory. It says that it follows a script, and calls the same tools as a model would. It answers
//! only requests that name it as their model.

use axum::http::{Response, header};
use lukasa_core::{NewTurn, Role, Timestamp};
use lukasa_models::protocol::words;
use serde_json::{Value, json};

/// Its model name.
const MODEL_NAME: &str = "lukasa/guide";

const HELP: &str = "I am Lukasa's guide. I follow a script, so I cannot chat, but I can show you memory: \
    say “Remember that I only fly with hand luggage”, ask “What do I take on a flight?”, say “Change hand \
    luggage to one suitcase”, or “Forget suitcase”. For real answers start Lukasa with a model: \
    lukasa serve --upstream URL";

/// Whether a request names the guide as its model.
pub fn is_requested(body: &[u8]) -> bool {
    serde_json::from_slice::<Value>(body).is_ok_and(|asked| asked["model"] == MODEL_NAME)
}

/// The list of models of a server without a model service.
pub fn model_list() -> Value {
    let guide = json!({"id": MODEL_NAME, "object": "model", "created": 0, "owned_by": "lukasa"});
    json!({"object": "list", "data": [guide]})
}

/// The next step of the guide.
#[derive(Debug, PartialEq)]
enum Step {
    Say(String),
    Call(&'static str, Value),
}

/// The answer to a request, in the format of a model service.
pub fn answer(body: &[u8], now: Timestamp) -> Response<Vec<u8>> {
    let asked: Value = serde_json::from_slice(body).unwrap_or_default();
    let step = next_step(&asked);
    let streamed = asked["stream"] == true;
    let turn = asked["messages"].as_array().map_or(0, Vec::len);
    let message = match &step {
        Step::Say(words) => json!({"role": "assistant", "content": words}),
        Step::Call(name, arguments) => {
            json!({"role": "assistant", "content": null, "tool_calls": [{
            "index": 0, "id": format!("call_{turn}"), "type": "function",
            "function": {"name": name, "arguments": arguments.to_string()}}]})
        }
    };
    let finish = if matches!(step, Step::Say(_)) { "stop" } else { "tool_calls" };
    let whole = |object: &str, choice: Value| {
        json!({"id": format!("chatcmpl-guide-{turn}"), "object": object, "model": MODEL_NAME,
               "created": now.as_second(), "choices": [choice]})
    };
    let (kind, body) = if streamed {
        let piece = |delta: Value, finish: Value| {
            let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
            format!("data: {}\n\n", whole("chat.completion.chunk", choice))
        };
        let mut stream = match &step {
            Step::Call(..) => piece(message, Value::Null),
            Step::Say(words) => {
                let first = piece(json!({"role": "assistant", "content": ""}), Value::Null);
                let pieces = words.split_inclusive(' ');
                let pieces = pieces.map(|word| piece(json!({"content": word}), Value::Null));
                std::iter::once(first).chain(pieces).collect()
            }
        };
        stream.push_str(&piece(json!({}), finish.into()));
        stream.push_str("data: [DONE]\n\n");
        ("text/event-stream", stream)
    } else {
        let choice = json!({"index": 0, "message": message, "finish_reason": finish});
        ("application/json", whole("chat.completion", choice).to_string())
    };
    let mut response = Response::new(body.into_bytes());
    let kind = header::HeaderValue::from_static(kind);
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

fn next_step(asked: &Value) -> Step {
    let messages = asked["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    if let Some(last) = messages.last().filter(|last| last["role"] == "tool") {
        return Step::Say(report(messages, last["content"].as_str().unwrap_or_default()));
    }
    let question = messages.iter().rev().find(|message| message["role"] == "user");
    let question = question.map(|message| words(&message["content"])).unwrap_or_default();
    // Without the memory block that Lukasa has added to it.
    let question = NewTurn::captured(Role::User, &question, Timestamp::UNIX_EPOCH);
    let question = question.map(|turn| turn.content.trim().to_owned()).unwrap_or_default();
    let offered = |name: &str| {
        let tools = asked["tools"].as_array().into_iter().flatten();
        tools.clone().any(|tool| tool["function"]["name"] == name) && asked["tool_choice"] != "none"
    };
    let step = parse_intent(&question, messages);
    match step {
        Step::Call(name, _) if !offered(name) => Step::Say(HELP.to_owned()),
        step => step,
    }
}

/// The step that a message asks for, by its first words.
fn parse_intent(question: &str, messages: &[Value]) -> Step {
    let plain = question.strip_prefix("Please ").or_else(|| question.strip_prefix("please "));
    let plain = plain.unwrap_or(question).trim_end_matches(['.', '!']);
    if let Some(what) = text_after(plain, &["remember that ", "remember: ", "remember "]) {
        return Step::Call("save_memory", json!({ "content": capitalize(what) }));
    }
    if let Some(what) = text_after(plain, &["forget that ", "forget about ", "forget "]) {
        return Step::Call("forget_memory", json!({ "id": what }));
    }
    let change = text_after(plain, &["change ", "correct ", "update "]);
    if let Some((old, new)) = change.and_then(|what| what.split_once(" to ")) {
        let texts = messages.iter().map(|message| words(&message["content"]));
        let lines = texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>());
        let line = lines.filter(|line| line.starts_with("- [")).find(|line| line.contains(old));
        let content = line.and_then(|line| {
            let content = line.split_once("] ")?.1.split(" (").next()?.trim().to_owned();
            Some(content.replace(old, new))
        });
        let content = content.unwrap_or_else(|| capitalize(new));
        return Step::Call("update_memory", json!({ "id": old, "content": content }));
    }
    let question_words =
        ["what", "where", "when", "who", "which", "how", "do ", "am ", "is ", "can ", "why"];
    let lower = question.to_lowercase();
    if lower.ends_with('?') || question_words.iter().any(|word| lower.starts_with(word)) {
        return Step::Call("recall_memories", json!({ "query": question }));
    }
    Step::Say(HELP.to_owned())
}

/// The answer after a tool call.
fn report(messages: &[Value], outcome: &str) -> String {
    let called = messages.iter().rev().find_map(|message| {
        let call = message["tool_calls"].as_array()?.first()?;
        call["function"]["name"].as_str().map(str::to_owned)
    });
    if called.as_deref() != Some("recall_memories") {
        return outcome.to_owned();
    }
    let found: Vec<String> = outcome.lines().filter_map(cite).collect();
    let best = found.iter().take(MAX_LISTED).map(|line| format!("\n- {line}")).collect::<String>();
    let rest = match found.len().saturating_sub(MAX_LISTED) {
        0 => String::new(),
        1 => "\n\nOne more is less relevant.".to_owned(),
        many => format!("\n\n{many} more are less relevant."),
    };
    match found.as_slice() {
        [] => {
            "I found nothing about that in your memory. Tell me, with “Remember that …”.".to_owned()
        }
        [only] => format!("This is in your memory: {only}"),
        _ => format!("This is what I found in your memory, the best first:\n{best}{rest}"),
    }
}

/// How many found memories the guide lists.
const MAX_LISTED: usize = 3;

/// A line of a list of memories, with the id after the content.
fn cite(line: &str) -> Option<String> {
    let (id, content) = line.strip_prefix("- ")?.split_once(": ")?;
    let words = content.rsplit_once(" (").map_or(content, |(words, _)| words);
    Some(format!("{words} ({id})"))
}

/// The text after one of these beginnings.
fn text_after<'t>(text: &'t str, beginnings: &[&str]) -> Option<&'t str> {
    let begins =
        |begin: &&&str| text.get(..begin.len()).is_some_and(|t| t.eq_ignore_ascii_case(begin));
    let begin = beginnings.iter().find(begins)?;
    Some(text[begin.len()..].trim()).filter(|rest| !rest.is_empty())
}

/// The text with a capital first letter.
fn capitalize(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(question: &str) -> Step {
        let tools: Vec<Value> =
            ["save_memory", "forget_memory", "update_memory", "recall_memories"]
                .map(|name| json!({"function": {"name": name}}))
                .into();
        next_step(&json!({"tools": tools, "messages": [
            {"role": "system", "content": "## Known\n- [m1] Wants to retire at age 50 (said)\n"},
            {"role": "user", "content": question}]}))
    }

    #[test]
    fn guide_intent_is_parsed_from_the_first_words() {
        let called = |question| match step(question) {
            Step::Call(name, arguments) => (name, arguments),
            Step::Say(words) => panic!("{words}"),
        };
        let saved = ("save_memory", json!({"content": "I sail on Sundays"}));
        assert_eq!(called("Remember that I sail on Sundays."), saved);
        assert_eq!(called("please remember I sail on Sundays"), saved);
        assert_eq!(called("Forget sailing!"), ("forget_memory", json!({"id": "sailing"})));
        let changed = json!({"id": "age 50", "content": "Wants to retire at age 55"});
        assert_eq!(called("Change age 50 to age 55."), ("update_memory", changed));
        let asked = ("recall_memories", json!({"query": "Where do I sail?"}));
        assert_eq!(called("Where do I sail?"), asked);
        for idle in ["Hello", "", "remember", "forget "] {
            assert_eq!(step(idle), Step::Say(HELP.to_owned()), "{idle}");
        }
    }

    #[test]
    fn guide_lists_the_best_memories_with_ids() {
        let answer = |lines: &[&str]| {
            let call = json!({"role": "assistant", "tool_calls": [{"function": {"name": "recall_memories"}}]});
            let outcome =
                format!("{} memories, the best first:\n{}", lines.len(), lines.join("\n"));
            report(&[call], &outcome)
        };
        let lines = [
            "- mem_1: Sails (at sea) on Sundays (fact, travel)",
            "  With Ana.",
            "- mem_2: Owns a boat (fact)",
            "- mem_3: Swims (style)",
            "- mem_4: Drinks tea (fact) [candidate]",
        ];
        let text = answer(&lines);
        assert!(
            text.contains("- Sails (at sea) on Sundays (mem_1)\n- Owns a boat (mem_2)"),
            "{text}"
        );
        assert!(text.contains("- Swims (mem_3)") && text.ends_with("One more is less relevant."));
        assert_eq!(
            answer(&lines[..1]),
            "This is in your memory: Sails (at sea) on Sundays (mem_1)"
        );
        assert!(answer(&[]).starts_with("I found nothing"));
    }

    #[test]
    fn guide_without_tools_answers_with_help() {
        let asked = json!({"messages": [{"role": "user", "content": "Remember that I sail"}]});
        assert_eq!(next_step(&asked), Step::Say(HELP.to_owned()));
    }

    #[test]
    fn guide_is_selected_only_by_its_model_name() {
        assert!(is_requested(br#"{"model": "lukasa/guide"}"#));
        for body in [&br#"{"model": "gpt-5-mini"}"#[..], b"{}", b"", b"[]"] {
            assert!(!is_requested(body));
        }
    }
}
