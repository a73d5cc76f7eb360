"""A finance advisor: what the user says is saved in the chat, visible, corrected in words, and in the next chat."""

from __future__ import annotations

from fixture import Story, is_refused

TITLE = "an advisor that remembers across chats"
USER = "Mia"


def asked_since_a_mention(story: Story) -> list | None:
    """The questions about domains, once one is about something that was said: its time stays the same then."""
    first, second = (story.human("GET", "/api/review")["domains"] for _ in range(2))
    return second if first == second else None


def play(story: Story) -> None:
    story.set_preset("advisor")

    with story.step("She chooses the advisor: one card asks for her consent to use what is inferred about finance"):
        card = story.human("GET", "/api/policy")["consents"][0]
        story.console(f"Settings: {card['question']}  [Agree]")
        asked = story.human("GET", "/api/review")["domains"]
        story.expect("the review asks the same, once", [one["yes"] for one in asked] == [card["yes"]])
        story.expect("it is the consent", asked[0]["consent"])

    with story.step("Mia mentions money before she agreed to it: nothing is stored, and one question waits"):
        story.chat("rebalance", "Please remember that I only invest in index funds, never in individual stocks.")
        question = story.wait("the question about finance", lambda: asked_since_a_mention(story))
        story.review()
        story.expect("no memory was made of the closed domain", story.memories() == [])
        story.expect("the question contains nothing of what she said", "fund" not in str(question).lower())
        opener = question[0]["yes"]
        refused = is_refused(lambda: story.agent(opener["method"], opener["path"]), "human_needed")
        story.expect("the assistant's key cannot open the domain", refused)

    with story.step("She agrees in the console: finance is open, and what she asked to remember is saved now"):
        agreed = story.answer(opener)
        story.console(f"Review: Finance  [Agree] pressed  [Undo: {agreed['event']['undo']['href']}]")
        finance = next(one for one in story.human("GET", "/api/domains")["data"] if one["name"] == "finance")
        story.expect("what is inferred about finance is used from now on", finance["admits_inferred"])
        funds = story.wait("the memory", lambda: story.find("index funds"))
        story.console(f"{funds['content']} ({funds['status']}, {funds['domain']})")
        story.expect("it is active, in her words and in finance", funds["domain"] == "finance")
        story.expect("the turn is its evidence", funds["turn_ids"] and funds["session_id"] == "rebalance")

    with story.step("The advisor's own conclusion about money comes as a card, and her yes is dated"):
        proposed = story.tool("propose_memory", content="Is a tax resident of Thailand", domain="finance")
        card = next(item for item in story.review()["data"] if item["kind"] == "proposal")
        context = story.block("Which taxes do I pay?")
        story.expect("it is in no prompt before her answer", "Thailand" not in context["context"])
        yes = card["yes"]
        refused = is_refused(lambda: story.agent(yes["method"], yes["path"], yes["body"]), "human_needed")
        story.expect("the assistant's key cannot accept it", refused)
        resident = story.answer(yes)["memory"]
        story.expect("after her yes it is active, with a dated consent", resident.get("consented_at"))
        story.expect("and it is the proposed memory", resident["id"] == proposed["structuredContent"]["memory"]["id"])

    with story.step("Mid-chat the advisor saves a goal with a tool; the status line has an undo"):
        saved = story.tool("save_preference", category="finance_context", content="Targets retirement at 50")
        event = saved["structuredContent"]["event"]
        story.console(f"Memory saved  [Undo: {event['undo']['method']} {event['undo']['href']}]")
        goal = story.find("retirement at 50")
        story.expect("it is active at once", goal and goal["status"] == "active")
        again = story.tool("save_preference", category="finance_context", content="targets retirement at 50")
        same = again["structuredContent"]["memory"]["id"] == goal["id"]
        story.expect("the same words again make no second memory", same and len(story.memories()) == 3)
        story.undo(saved["structuredContent"])
        story.expect("undo removes it", story.find("retirement at 50") is None)
        saved = story.tool("save_preference", category="finance_context", content="Targets retirement at 50")
        story.tool("save_preference", category="response_style", content="Be concise; show percentages, not dollars")

    with story.step("A new chat begins with what is known, and the block does not change within the chat"):
        _, first, _ = story.chat("tax", "Should I buy a few single shares or some index funds this month?")
        story.expect("the funds are in the prompt", any("index funds" in line for line in first))
        story.expect("so is the style", any("percentages" in line for line in first))
        story.why("tax")
        before = story.human("GET", "/api/sessions/tax/context")["baselines"]
        story.tool("save_preference", category="profile", content="Risk tolerance is moderate")
        _, second, _ = story.chat("tax", "And what about my retirement?")
        after = story.human("GET", "/api/sessions/tax/context")["baselines"]
        story.expect("the baseline is the same bytes after a write", len(after) == 1 and before == after)
        prompt = story.model.last_prompt()
        order = prompt.find("safety and law") < prompt.find("then facts") < prompt.find("then style")
        story.expect("the prompt states the order safety, facts, style", "safety and law" in prompt and order)
        story.expect("and that memory never overrides a warning of risk", "never honesty, safety or warnings" in prompt)

    with story.step("\"Actually, 55\": the old value ends, the new one takes its place, and the history has both"):
        changed = story.tool("update_preference", id="retirement at 50", content="Targets retirement at 55")
        memory = changed["structuredContent"]["memory"]
        words = story.show_history(memory["id"])
        both = any("50" in line for line in words) and any("55" in line for line in words)
        story.expect("both values are in the history", both)
        story.expect("only the new one is listed", story.find("at 50") is None and story.find("at 55"))
        _, lines, _ = story.chat("checkin", "When do I plan to retire?")
        told = [line for line in lines if "retirement" in line]
        story.expect("the next chat is given 55", any("retirement at 55" in line for line in told))

    with story.step("\"Yes, still funds only\": the affirmation is dated"):
        dated = story.find("index funds").get("last_confirmed_at")
        confirmed = story.human("POST", f"/api/memory/{funds['id']}/confirm", {"confirm": True})
        now = confirmed["memory"]["last_confirmed_at"]
        story.console(f"Still true: {confirmed['memory']['content']}, last confirmed {now[:19]}")
        story.expect("last_confirmed_at moved", now and now != dated)

    with story.step("\"Forget the retirement age\": out of every prompt, kept for audit, restorable"):
        story.tool("forget_preference", id="retirement at 55")
        context = story.block("When do I plan to retire?")
        story.expect("no prompt has it", "retirement" not in context["context"])
        story.expect("it is listed as forgotten", story.find("at 55", status="forgotten"))
        story.human("POST", f"/api/memory/{memory['id']}/restore", {})
        story.console("Recently forgotten: Targets retirement at 55  [Restore] pressed")
        story.expect("restore brings it back", story.find("retirement at 55"))

    with story.step("She bookmarks a reply: it is a note, in the advisor's words, and never a rule"):
        reply = next(turn for turn in story.wait_for_turns("tax") if turn["role"] == "assistant")
        note = story.human("POST", f"/api/turns/{reply['id']}/note", {})["memory"]
        story.console(f"Note: {note['content']}")
        story.expect("it is listed among the notes", note["id"] in [one["id"] for one in story.memories(tag="note")])
        story.expect("its words are the assistant's", note["origin"] == "assistant" and note["force"] == "soft")
        story.human("DELETE", f"/api/memory/{note['id']}")

    with story.step("The chat ends: facts that she stated are learned, with their source, once"):
        story.chat("life", "My wife Sarah and I live in Chiang Mai. I work as a teacher.")
        closed = story.close("life")
        learned = [one for one in story.memories() if one.get("session_id") == "life"]
        for one in learned:
            words = one["evidence"][0]["description"]
            story.console(f"learned: {one['content']} ({one.get('confidence')}) from \"{words}\"")
        story.expect_if_scripted("the home or the work was learned", learned)
        story.expect("everything learned is traced to a turn of that chat", all(one["turn_ids"] for one in learned))
        story.expect("and has a confidence", all(one.get("confidence") is not None for one in learned))
        through = closed["extracted_through"]
        story.chat("life", "I play the piano on Sundays.")
        story.close("life")
        passes = story.human("GET", "/api/passes?session_id=life")["data"]
        ranges = sorted((one["first_turn"], one["last_turn"]) for one in passes)
        story.expect("the resumed chat was learned from only after the watermark", ranges[-1][0] > through)
        story.expect("and no turn twice", all(a[1] < b[0] for a, b in zip(ranges, ranges[1:], strict=False)))

    with story.step("What is inferred never replaces what she stated"):
        stated = story.find("Be concise")
        story.tool("save_preference", category="profile", content="Lives in Bangkok")
        home = story.human("PATCH", f"/api/memory/{story.find('Bangkok')['id']}", {"content": "Lives in Chiang Mai"})
        story.chat("move", "My cousin lives in Phuket. I live in Lampang with two cats.")
        story.close("move")
        now = story.human("GET", f"/api/memory/{home['memory']['id']}")
        unchanged = (now["content"], now["status"]) == ("Lives in Chiang Mai", "active")
        story.expect("the stated home is unchanged", unchanged)
        for pair in story.human("GET", "/api/memory/contradictions")["data"]:
            first, second = pair["standing"]["content"], pair["against"]["content"]
            story.console(f"Review: which is true? \"{first}\" or \"{second}\"")
        story.expect("the style is unchanged too", story.find("Be concise")["version_id"] == stated["version_id"])

    with story.step("Another user has none of it"):
        def get_as_tom(path: str) -> dict:
            return story.fixture.request(story.fixture.assistant_key, "GET", path, headers={"X-Lukasa-User": "tom"})[0]

        story.expect("the list of another user is empty", get_as_tom("/api/memory")["data"] == [])
        hidden = is_refused(lambda: get_as_tom(f"/api/memory/{funds['id']}"), "memory_not_found")
        story.expect("her memory does not exist for them", hidden)

    with story.step("One page answers what the advisor knows about her"):
        story.show_memories()
