//! The guide: a scripted chat model for a server without a model service, so that new users can try
//! memory. It says what it understands, and calls the same tools as a model would. It answers only
//! requests that name it as their model, in the language of the message.

mod language;

use axum::http::{HeaderMap, Response, header};
use lukasa_core::{NewTurn, Role, Timestamp};
use lukasa_models::protocol::words;
use serde_json::{Value, json};

use language::{GuideLanguage, capitalize};

/// Its model name.
pub(super) const MODEL_NAME: &str = "lukasa/guide";

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
pub fn answer(body: &[u8], headers: &HeaderMap, now: Timestamp) -> Response<Vec<u8>> {
    let asked: Value = serde_json::from_slice(body).unwrap_or_default();
    let step = next_step(&asked, GuideLanguage::of_headers(headers));
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

/// The next step, in the language of the message, or in the `usual` one if that is not known.
fn next_step(asked: &Value, usual: GuideLanguage) -> Step {
    let messages = asked["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let question = messages.iter().rev().find(|message| message["role"] == "user");
    let question = question.map(|message| words(&message["content"])).unwrap_or_default();
    // Without the memory block that Lukasa has added to it.
    let question = NewTurn::captured(Role::User, &question, Timestamp::UNIX_EPOCH);
    let question = question.map(|turn| turn.content.trim().to_owned()).unwrap_or_default();
    let language = GuideLanguage::of_message(&question).unwrap_or(usual);
    if let Some(last) = messages.last().filter(|last| last["role"] == "tool") {
        let outcome = last["content"].as_str().unwrap_or_default();
        return Step::Say(report(messages, outcome, language));
    }
    let offered = |name: &str| {
        let tools = asked["tools"].as_array().into_iter().flatten();
        tools.clone().any(|tool| tool["function"]["name"] == name) && asked["tool_choice"] != "none"
    };
    let step = parse_intent(&question, messages, language);
    match step {
        Step::Call(name, _) if !offered(name) => Step::Say(language.help().to_owned()),
        step => step,
    }
}

/// The step that a message asks for, by its first words.
fn parse_intent(question: &str, messages: &[Value], language: GuideLanguage) -> Step {
    let plain = text_after(question, &["please ", "bitte "]).unwrap_or(question);
    let plain = plain.trim_end_matches(['.', '!']);
    let verbs = language.verbs();
    if let Some(what) = text_after(plain, verbs.remember) {
        return Step::Call("save_memory", json!({ "content": capitalize(what) }));
    }
    if let Some(what) = text_after(plain, verbs.forget) {
        return Step::Call("forget_memory", json!({ "id": what }));
    }
    let change = text_after(plain, verbs.change);
    let parts = change.and_then(|what| verbs.into.iter().find_map(|word| what.split_once(*word)));
    if let Some((old, new)) = parts {
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
    if question.ends_with('?') || language.is_question(question) {
        return Step::Call("recall_memories", json!({ "query": question }));
    }
    Step::Say(language.help().to_owned())
}

/// The answer after a tool call.
fn report(messages: &[Value], outcome: &str, language: GuideLanguage) -> String {
    let called = messages.iter().rev().find_map(|message| {
        let call = message["tool_calls"].as_array()?.first()?;
        call["function"]["name"].as_str().map(str::to_owned)
    });
    let found: Vec<String> = outcome.lines().filter_map(cite).collect();
    let best = found.iter().take(MAX_LISTED).map(|line| format!("\n- {line}")).collect::<String>();
    if called.as_deref() != Some("recall_memories") {
        // The tools speak to a model: only the first line says what was done.
        let first = outcome.lines().next().unwrap_or_default();
        return match language.say_done(first) {
            Some(done) => done,
            None if found.is_empty() => language.not_done().to_owned(),
            None => format!("{}\n{best}", language.which_one()),
        };
    }
    let rest = match found.len().saturating_sub(MAX_LISTED) {
        0 => String::new(),
        rest => format!("\n\n{}", language.say_rest(rest)),
    };
    match found.as_slice() {
        [] => language.found_nothing().to_owned(),
        [only] => format!("{} {only}", language.found_one()),
        _ => format!("{}\n{best}{rest}", language.found_some()),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn step(question: &str) -> Step {
        let tools: Vec<Value> =
            ["save_memory", "forget_memory", "update_memory", "recall_memories"]
                .map(|name| json!({"function": {"name": name}}))
                .into();
        let asked = json!({"tools": tools, "messages": [
            {"role": "system", "content": "## Known\n- [m1] Wants to retire at age 50 (said)\n"},
            {"role": "user", "content": question}]});
        next_step(&asked, GuideLanguage::English)
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
            let help = Step::Say(GuideLanguage::English.help().to_owned());
            assert_eq!(step(idle), help, "{idle}");
        }
    }

    #[test]
    fn guide_understands_german() {
        let called = |question| match step(question) {
            Step::Call(name, arguments) => (name, arguments),
            Step::Say(words) => panic!("{words}"),
        };
        let saved = ("save_memory", json!({"content": "Ich segle sonntags"}));
        assert_eq!(called("Merke dir: Ich segle sonntags."), saved);
        assert_eq!(called("Bitte merk dir, ich segle sonntags"), saved);
        let clause = ("save_memory", json!({"content": "Dass ich sonntags segle"}));
        assert_eq!(called("Merke dir, dass ich sonntags segle."), clause);
        assert_eq!(called("Vergiss das Segeln!"), ("forget_memory", json!({"id": "das Segeln"})));
        let changed = json!({"id": "age 50", "content": "Wants to retire at age 55"});
        assert_eq!(called("Ändere age 50 in age 55."), ("update_memory", changed));
        let asked = ("recall_memories", json!({"query": "Wo segle ich"}));
        assert_eq!(called("Wo segle ich"), asked);
        assert_eq!(step("Hallo"), Step::Say(GuideLanguage::German.help().to_owned()));
    }

    #[test]
    fn guide_help_is_in_the_language_of_the_reader_and_names_no_command() {
        let mut headers = HeaderMap::new();
        let mut helps = Vec::new();
        for (wanted, start) in
            [("de-AT,de;q=0.9,en;q=0.8", "Hier antwortet"), ("fr,en", "No model")]
        {
            headers.insert(header::ACCEPT_LANGUAGE, wanted.parse().unwrap());
            let body = json!({"messages": [{"role": "user", "content": "Xyz"}]}).to_string();
            let said = answer(body.as_bytes(), &headers, Timestamp::UNIX_EPOCH).into_body();
            let said: Value = serde_json::from_slice(&said).unwrap();
            let help = said["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
            assert!(help.starts_with(start), "{help}");
            assert!(!help.contains("script") && !help.contains("--"), "{help}");
            helps.push(help);
        }
        assert_ne!(helps[0], helps[1]);
    }

    #[test]
    fn guide_reports_a_write_in_plain_words() {
        let report = |outcome: &str, language| {
            let call =
                json!({"role": "assistant", "tool_calls": [{"function": {"name": "save_memory"}}]});
            report(&[call], outcome, language)
        };
        let saved =
            "Saved: Sails (mem_1)\nThis may say again what was known:\n- mem_2: Sails a lot";
        assert_eq!(report(saved, GuideLanguage::English), "Saved: Sails (mem_1)");
        assert_eq!(report(saved, GuideLanguage::German), "Gespeichert: Sails (mem_1)");
        let many = "Several memories match. Call again.\n- mem_1: Sails\n- mem_2: Sings";
        let which = "Which one do you mean?\n\n- Sails (mem_1)\n- Sings (mem_2)";
        assert_eq!(report(many, GuideLanguage::English), which);
        for language in [GuideLanguage::English, GuideLanguage::German] {
            let refused = report("There is no such memory. Call list_memories.", language);
            assert!(!refused.contains("list_memories"), "{refused}");
        }
    }

    #[test]
    fn guide_lists_the_best_memories_with_ids() {
        let answer = |lines: &[&str]| {
            let call = json!({"role": "assistant", "tool_calls": [{"function": {"name": "recall_memories"}}]});
            let outcome =
                format!("{} memories, the best first:\n{}", lines.len(), lines.join("\n"));
            report(&[call], &outcome, GuideLanguage::English)
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
        let step = next_step(&asked, GuideLanguage::German);
        assert_eq!(step, Step::Say(GuideLanguage::English.help().to_owned()));
    }

    #[test]
    fn guide_is_selected_only_by_its_model_name() {
        assert!(is_requested(br#"{"model": "lukasa/guide"}"#));
        for body in [&br#"{"model": "gpt-5-mini"}"#[..], b"{}", b"", b"[]"] {
            assert!(!is_requested(body));
        }
    }
}
