"""A chat product: it knows who the user is, looks up the rest with tools, and shows every lookup."""

from __future__ import annotations

import datetime
import json
import time
import urllib.request

from fixture import Refused, Story

TITLE = "a chat that knows the user and shows its lookups"
USER = "John"


def calls_of(story: Story, retrieval: str) -> list | None:
    """The lookups in the trace of a retrieval, once it is stored: that happens after the answer."""
    try:
        return (story.human("GET", f"/api/retrievals/{retrieval}")["trace"] or {}).get("calls")
    except Refused:
        return None


def play(story: Story) -> None:
    story.set_preset("chat")

    with story.step("After every turn the chat learns, conservatively and in the third person"):
        story.chat("hello", "I prefer TypeScript over JavaScript. I'm thinking about trying Rust.")
        learn(story, "hello")
        listed = story.show_memories()
        learned = [one for one in listed if one.get("confidence") is not None]
        story.expect_if_scripted("the preference was learned", story.find("prefers TypeScript"))
        story.expect("everything learned quotes the user", all(one["evidence"] for one in learned))
        given = story.block("Which programming language should I use?")
        vague = [line for line in cited_memories(given) if "rust" in line.lower()]
        story.expect("the vague idea is in no prompt as a memory", not vague)

    with story.step("Who he is is in every prompt, whatever he asks"):
        identity = {"content": "Is called John and lives in Oslo", "category": "identity", "importance": 0.9}
        story.human("POST", "/api/memory", identity)
        _, lines, received = story.chat("poem", "Write one line about rain.")
        story.expect("his name is in the prompt of an unrelated message", any("John" in line for line in lines))
        story.expect("the answer says how many memories it was given", int(received["Lukasa-Memories"]) >= 1)

    with story.step("Two messages in a row: the first reads the memory, the second begins with the same block"):
        first = received["Lukasa-Cache"]
        _, _, received = story.chat("poem", "And one about snow.")
        story.console(f"Lukasa-Cache: {first}, then {received['Lukasa-Cache']}")
        story.expect("first a miss, then a hit", (first, received["Lukasa-Cache"]) == ("miss", "hit"))

    with story.step("The model looks something up, and the lookup is visible while it runs and afterwards"):
        story.human("POST", "/api/memory", {"content": "Knows Python, Go and a little Haskell", "importance": 0.3})
        events, retrieval = stream(story, "tools", "What programming languages do I know?")
        for event in events:
            outcome = f"{event['took_ms']} ms: {event['message']}" if event["state"] == "done" else event["arguments"]
            story.line("lookup", f"{event['name']} {event['state']} {outcome}")
        states = [event["state"] for event in events]
        shown = states[:2] == ["running", "done"]
        if story.expect_if_scripted("the lookup is shown as running and then as done", shown):
            calls = story.wait("the trace", lambda: calls_of(story, retrieval))
            story.expect("after a reload the call is still in the trace", len(calls) == len(events) // 2)

    with story.step("A lookup without a word in common"):
        story.human("POST", "/api/memory", {"content": "User prefers dark theme", "importance": 0.3})
        if story.fixture.has_embedder:
            found = story.search("black background colours")["memories"]
            for one in found[:3]:
                arms = ", ".join(arm["arm"] for arm in one["why"]["arms"])
                story.console(f"found by {arms}: {one['memory']['content']}")
            dark = [one for one in found if "dark theme" in one["memory"]["content"]]
            story.expect("dark theme is found by meaning", dark and "vector" in str(dark[0]["why"]["arms"]))
        else:
            story.line("not played", "there is no embedding model: name its folder with --models")

    with story.step("What was only true for a moment is not found afterwards"):
        soon = datetime.datetime.now(datetime.UTC) + datetime.timedelta(seconds=2)
        brief = {"content": "Waits for a parcel at the door", "valid_until": soon.isoformat()}
        story.human("POST", "/api/memory", brief)
        before = [one["memory"]["content"] for one in story.search("parcel at the door")["memories"]]
        time.sleep(2.5)
        after = [one["memory"]["content"] for one in story.search("parcel at the door")["memories"]]
        story.expect("it is found while it holds", any("parcel" in line for line in before))
        story.expect("and not after it expired", not any("parcel" in line for line in after))
        kept = story.human("POST", "/api/memory", {"content": "Tests the beta today", "ttl": "temporary"})["memory"]
        story.expect("a temporary memory has an end", kept.get("valid_until"))

    with story.step("A change makes version 2, and version 1 names its successor"):
        theme = story.find("dark theme")
        changed = story.human("PATCH", f"/api/memory/{theme['id']}", {"content": "User prefers light theme"})["memory"]
        story.show_history(theme["id"])
        history = story.human("GET", f"/api/memory/{theme['id']}/history")["data"]
        story.expect("the memory has version 2", changed["version"] == 2)
        first = [one for one in history if one["version"] == 1]
        story.expect("version 1 names its successor", first and all(one.get("superseded_by") for one in first))

    with story.step("Twenty long memories do not fill the prompt"):
        for number in range(20):
            words = f"Note {number} of the garden: " + "the beds by the wall were dug over and raked again " * 3
            story.human("POST", "/api/memory", {"content": words.strip(), "importance": 0.5})
        context = story.human("POST", "/api/memory/retrieve", {"query": "How is my garden?", "budget": 600})
        left = context["baseline"]["left_out"] + context["dynamic"]["left_out"]
        budget = context["budget"]
        story.console(f"{budget['used']} of {budget['limit']} tokens; {len(left)} memories left out")
        story.expect("the budget is kept", budget["used"] <= budget["limit"] == 600)
        story.expect("what was left out has a reason", left and all(one["reason"] for one in left))
        story.expect("his name is still there", "John" in context["context"])

    with story.step("The database fails, and the chat continues without memory"):
        with story.fixture.database.unavailable():
            said, _, received = story.chat("outage", "Are you still there?")
        story.expect("there is an answer", said)
        story.expect("the answer says what was unavailable", "database" in (received["Lukasa-Degraded"] or ""))
        story.expect("the chat is stored when the database is back", story.wait_for_turns("outage"))


def learn(story: Story, session: str) -> None:
    """Waits until a session was learned from, which this preset does after every turn."""
    count = len(story.wait_for_turns(session))
    story.wait("learning", lambda: story.human("GET", f"/api/sessions/{session}")["extracted_through"] >= count)


def cited_memories(context: dict) -> list[str]:
    """The lines of a context that are memories, and not quotations of past turns."""
    return [one["text"] for one in context["hard"] + context["soft"] if one.get("memory_id")]


def stream(story: Story, session: str, words: str) -> tuple[list[dict], str]:
    """A streamed message with memory tools: the events of its tool calls, and the id of the retrieval."""
    story.line(story.name, words)
    body = {"model": story.model.name, "stream": True, "max_tokens": 150, "temperature": 0,
            "messages": [{"role": "user", "content": words}]}  # fmt: skip
    headers = {
        "Content-Type": "application/json", "Authorization": f"Bearer {story.fixture.assistant_key}",
        "X-Lukasa-User": story.user, "X-Lukasa-Session": session, "X-Lukasa-Tools": "on", "X-Lukasa-Show": "tools",
    }  # fmt: skip
    request = urllib.request.Request(f"{story.fixture.url}/v1/chat/completions", json.dumps(body).encode(), headers)
    with story.fixture.server.opener.open(request, timeout=900) as response:
        text, retrieval = response.read().decode(), response.headers["Lukasa-Retrieval"]
    events, said = [], ""
    for block in text.split("\n\n"):
        data = block.partition("data: ")[2]
        if block.startswith("event: lukasa.tool"):
            events.append(json.loads(data))
        elif data.startswith("{"):
            choices = json.loads(data).get("choices") or [{}]
            said += choices[0].get("delta", {}).get("content") or ""
    story.line("assistant", said)
    story.chats[session] = [{"role": "user", "content": words}, {"role": "assistant", "content": said}]
    story.touched.add(session)
    return events, retrieval
