"""A memory in layers: raw events, episodes, facts and compiled texts, each traced to the one below and editable."""

from __future__ import annotations

import datetime

from fixture import Story, is_refused

TITLE = "a memory in layers that can be traced, edited and reversed"
USER = "Ada"


def play(story: Story) -> None:
    story.set_preset("clone")

    with story.step("Raw events come from other applications and are never rewritten"):
        events = orders("Kroger", days=(1, 3, 5, 8), per_day=2) + orders("Aldi", days=(2,), per_day=1)
        story.agent("POST", "/api/observations", {"observations": events})
        notes = orders("journal", days=tuple(range(1, 9)), per_day=2, source="editor", kind="open")
        story.agent("POST", "/api/observations", {"observations": notes})
        listed = story.human("GET", "/api/observations?source=groceries&limit=200")["data"]
        story.console(f"Sources: {len(listed)} events of groceries, the latest {listed[0]['payload']['value']}")
        story.expect("all are listed", len(listed) == 9)

    with story.step("The daily job counts: eight on four days are a tentative fact, one is none"):
        story.fixture.database.make_daily_job_due(story.user)
        pattern = story.wait("the pattern", lambda: story.find("Kroger"))
        story.console(f"{pattern['content']} ({pattern['tier']}, {pattern['confidence']:.0%} sure)")
        story.expect("it is tentative and inferred", pattern["tier"] == "tentative" and pattern["confidence"])
        story.expect("it cites the events", len(pattern["evidence"]) == 8)
        strong = story.find("journal")
        story.console(f"{strong['content']} ({strong['tier']}, {strong['confidence']:.0%} sure)")
        story.expect("sixteen on eight days are strong", strong["tier"] == "strong")
        ask = {"query": "Hello", "preview": True}
        baseline = story.human("POST", "/api/memory/retrieve", ask)["baseline"]["content"]
        lines = [line for line in baseline.splitlines() if "Observed often" in line]
        story.expect("the strong one alone is in prompts", len(lines) == 1 and "journal" in lines[0])
        story.expect("as a tentative line", "tentative" in lines[0])
        story.expect("a single event made nothing", story.find("Aldi") is None)
        recalled = story.tool("recall_memories", query="Where do I order groceries?")["structuredContent"]["memories"]
        shown = next(one for one in recalled if one["id"] == pattern["id"])
        story.expect("an assistant that looks it up sees how sure it is", shown["confidence"] < 0.9)

    with story.step("Predictions that turn out wrong weaken it, without her doing anything"):
        for number in range(4):
            expects = {"memory_id": pattern["id"], "expects": f"Order {number} goes to Kroger"}
            prediction = story.agent("POST", "/api/predictions", expects)
            story.agent("POST", f"/api/predictions/{prediction['id']}/outcome", {"outcome": "wrong"})
        done = story.human("POST", "/api/consolidate", {})
        for step in done["steps"]:
            story.console(f"{step['what']}: {step['content']} ({step['reason']})")
        weaker = story.human("GET", f"/api/memory/{pattern['id']}")
        story.console(f"{weaker['content']}: {pattern['confidence']:.0%} sure before, {weaker['confidence']:.0%} now")
        story.expect("the confidence fell", weaker["confidence"] < pattern["confidence"])

    with story.step("From a compiled sentence to the raw words: every layer cites the one below"):
        story.chat("tests", "Please remember that I write tests before the code.")
        fact = story.wait("the memory", lambda: story.find("tests before"))
        story.close("tests")
        sentences = [one for portrait in story.human("GET", "/api/portraits")["data"] for one in portrait["sentences"]]
        sentence = next(one for one in sentences if fact["id"] in one["memory_ids"])
        story.console(f"L3 {sentence['lead']}: {sentence['text']}")
        story.console(f"L2 {fact['content']} ({fact['source']})")
        turns = story.wait_for_turns("tests")
        turn = next(one for one in turns if one["id"] == fact["turn_ids"][0])
        episode = story.human("GET", "/api/episodes?session_id=tests")["data"][0]
        story.console(f"L1 turns {episode['first_turn']} to {episode['last_turn']}: {episode['summary']}")
        story.console(f"L0 {turn['role']}: {turn['content']}")
        inside = episode["first_turn"] <= turn["number"] <= episode["last_turn"]
        story.expect("the sentence, the fact, the episode and the turn are one chain", inside)

    with story.step("She deletes a raw turn: what was inferred from it alone goes too, and undo brings it back"):
        story.chat("work", "I work as a harbour pilot.")
        story.close("work")
        if story.expect_if_scripted("her work was learned", story.find("harbour pilot")):
            raw = story.find("harbour pilot")["turn_ids"][0]
            reached = story.human("GET", f"/api/dependents?turn_id={raw}")
            story.console(f"Would be removed with it: {reached['reached']['summary']}")
            deleted = story.human("DELETE", f"/api/turns/{raw}")
            story.expect("the inferred fact is gone", story.find("harbour pilot") is None)
            context = story.block("What do I do for a living?")
            story.expect("no prompt has the words", "harbour pilot" not in context["context"])
            story.undo(deleted)
            story.expect("undo restores the fact", story.find("harbour pilot"))
        reached = story.human("GET", f"/api/dependents?turn_id={turn['id']}")["reached"]
        story.expect("what she stated outright is its own source and would stay", reached["withdrawn"] == 0)

    with story.step("Three gates: sensitive matters, contradictions, and permission to act"):
        event = {"source": "band", "kind": "heart", "payload": {"value": "takes insulin for diabetes"}}
        body = {"observations": [event]}
        refused = is_refused(lambda: story.agent("POST", "/api/observations", body), "opt_in_needed")
        story.expect("an event about health is refused until she opens the domain", refused)
        lisbon = {"content": "Lives in Lisbon", "category": "profile", "importance": 0.9}
        home = story.human("POST", "/api/memory", lisbon)
        story.tool("save_memory", content="Lives in Porto", category="profile")
        story.human("POST", "/api/consolidate", {})
        pairs = story.human("GET", "/api/memory/contradictions")["data"]
        for pair in pairs:
            story.console(f"Review: \"{pair['standing']['content']}\" or \"{pair['against']['content']}\"?")
        story.expect("the contradiction is put to her", pairs)
        against = pairs[0]["against"]
        refused = is_refused(
            lambda: story.agent("POST", f"/api/memory/{against['id']}/resolve", {"true": "standing"}), "human_needed"
        )
        story.expect("an agent cannot decide it", refused)
        item = next(one for one in story.review()["data"] if one["kind"] == "contradiction")
        keep = item["yes"] if item["memory"]["id"] == home["memory"]["id"] else item["no"]
        story.answer(keep)
        homes = [one["content"] for one in story.memories(status="active") if "Lives in" in one["content"]]
        story.expect("after her answer one home is left", len(homes) == 1)
        allowed = story.tool("save_memory", content="Always reply to internal mail automatically without asking")
        memory = allowed["structuredContent"].get("memory") or {}
        story.expect("permission to act is a proposal, whatever the agent says", memory.get("status") == "proposed")

    with story.step("Her core is in every prompt, also when one theme fills the memory"):
        for number in range(40):
            planted = {"content": f"Planted tomato variety number {number}", "importance": 0.3}
            story.human("POST", "/api/memory", planted)
        home = homes[0]
        for message in ("How are my tomatoes?", "Prove that the square root of two is irrational."):
            context = story.human("POST", "/api/memory/retrieve", {"query": message, "preview": True})
            story.console(f"{message} {context['budget']['used']} of {context['budget']['limit']} tokens")
            story.expect("her home is in the baseline", home in context["baseline"]["content"])
            story.expect("the budget is kept", context["budget"]["used"] <= context["budget"]["limit"])

    with story.step("She edits the memory as markdown: a deleted line is forgotten, a changed one is changed"):
        vault = story.human("GET", "/api/vault")["files"]
        for file in vault:
            lines = [line for line in file["content"].splitlines() if line.startswith("- ")]
            if lines and file["path"].endswith(".md"):
                story.console(f"{file['path']}: {lines[0]} ({len(lines)} lines)")
        edited = []
        for file in vault:
            kept = [line for line in file["content"].splitlines() if "variety number 7 " not in line]
            text = "\n".join(kept).replace("Planted tomato variety number 8 ", "Planted basil in pot 8 ")
            changed = file["path"].endswith(".md")
            edited.append({**file, "content": text + "\n" if changed else file["content"]})
        story.human("POST", "/api/vault", {"files": edited})
        names = [one["content"] for one in story.memories()]
        story.expect("the deleted line is forgotten", "Planted tomato variety number 7" not in names)
        story.expect("the changed line is changed", "Planted basil in pot 8" in names)
        last = story.human("GET", "/api/operations?limit=1")["data"][0]
        story.console(f"Activity: {last['verb']} by {last['caller']}  [Undo] pressed")
        story.human("POST", f"/api/operations/{last['id']}/undo", {})
        names = [one["content"] for one in story.memories()]
        story.expect("one undo reverses the edit", "Planted tomato variety number 7" in names)

    with story.step("Uncertain ideas wait as candidates and are in no prompt"):
        story.chat("idea", "I might take up rowing at some point, maybe.")
        story.close("idea")
        context = story.block("Should I take up rowing?")
        sure = [one["text"] for one in context["soft"] if one.get("memory_id") and "rowing" in one["text"]]
        story.expect("no prompt has it as a memory", not sure)


def orders(
    value: str, days: tuple[int, ...], per_day: int, source: str = "groceries", kind: str = "order"
) -> list[dict]:
    now = datetime.datetime.now(datetime.UTC)
    return [
        {"source": source, "kind": kind, "payload": {"value": value},
         "at": (now - datetime.timedelta(days=day, hours=hour)).isoformat()}
        for day in days for hour in range(per_day)
    ]  # fmt: skip
