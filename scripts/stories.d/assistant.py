"""An assistant with rules that must be respected, proposals that wait for a yes, and answers that cite."""

from __future__ import annotations

from fixture import Story, is_refused

TITLE = "an assistant with rules, proposals and citations"
USER = "Jonathan"


def play(story: Story) -> None:
    story.set_preset("assistant")

    with story.step("He sets his rules and tells some context"):
        for rule in (
            {"domain": "food", "key": "exclude_ingredients", "content": ["shellfish", "peanuts"]},
            {"domain": "schedule", "key": "no_meetings_after", "content": "16:00"},
            {"domain": "communication", "key": "email_signature", "content": "Best, Jonathan"},
        ):
            story.human("POST", "/api/memory", {"type": "HARD", **rule})
        for words in ("Prefers low-effort dinners during busy work weeks", "Is onboarding a new colleague named Alex"):
            story.human("POST", "/api/memory", {"type": "SOFT", "content": words})
        current = {"type": "SOFT", "domain": "work", "kind": "context", "content": "Prepares the autumn launch"}
        launch = story.human("POST", "/api/memory", current)["memory"]
        story.console(f"{launch['content']}, until {launch['valid_until'][:10]}")
        story.expect("a circumstance at work ends by itself", launch["valid_until"])
        rules = story.show_memories(type="HARD")
        story.expect("the tab of rules has three", len(rules) == 3)
        story.expect("the tab of context has three", len(story.memories(type="SOFT")) == 3)

    with story.step("He plans dinners: the prompt has the rule first, and says that the wish is against it"):
        _, lines, _ = story.chat("meals", "Plan three dinners for my busy week. I fancy a paella with shellfish.")
        rule = next((line for line in lines if "exclude_ingredients" in line), "")
        story.expect("the rule is in the prompt with its values", "shellfish, peanuts" in rule)
        first = [place for place, line in enumerate(lines) if "low-effort" in line]
        story.expect("rules come before context", not first or lines.index(rule) < first[0])
        context = story.human("POST", "/api/memory/retrieve", {"query": "A paella with shellfish", "preview": True})
        for conflict in context["conflicts"]:
            story.console(f"Conflict: the message is against a rule, about \"{conflict['about']}\"")
        story.expect("the conflict is named", "shellfish" in str(context["conflicts"]))
        prompt = story.model.last_prompt()
        for words in ("(must be respected)", "(for judgment, not rules)", "if one conflicts with the request, ask",
                      "You told me", "never as \"You believe\""):  # fmt: skip
            story.expect(f"the prompt has: {words}", words in prompt)

    with story.step("The answer can be traced to what it was given, and the use is logged"):
        grounds = story.why("meals")
        story.expect("the rule is among the grounds", any("shellfish" in one["memory"]["content"] for one in grounds))
        food = story.find("shellfish")
        usage = story.human("GET", f"/api/memory/usage?memory_id={food['id']}")["data"]
        story.console(f"Used: {', '.join(sorted({one['type'] for one in usage}))}")
        story.expect("the log of uses has it", usage)

    with story.step("A meeting too late: another rule, and the context about the colleague"):
        _, lines, _ = story.chat("calendar", "Schedule a meeting with Alex tomorrow at 17:00.")
        story.expect("the rule is in the prompt", any("no_meetings_after: 16:00" in line for line in lines))
        story.expect("so is the colleague", any("Alex" in line for line in lines))
        query = {"query": "Schedule a meeting with Alex tomorrow at 17:00", "preview": True}
        conflicts = story.human("POST", "/api/memory/retrieve", query)["conflicts"]
        story.expect("the conflict with the time is named", conflicts)

    with story.step("The agent noticed a pattern and proposes it, with evidence; only he can say yes"):
        proposal = story.agent("POST", "/api/memory/propose", {
            "type": "HARD", "domain": "shopping", "key": "preferred_store", "content": "Kroger", "confidence": 0.6,
            "evidence": [{"type": "pattern", "description": "The last five orders were from Kroger"}],
            "reasoning": "The same shop five times in a row",
        })["memory"]  # fmt: skip
        card = next(item for item in story.review()["data"] if item["memory"]["id"] == proposal["id"])
        story.console(f"Because: {card['memory']['reasoning']}  [Confirm] [Edit] [Reject]")
        story.expect("the card has the agent's reasoning", "five times" in card["memory"]["reasoning"])
        story.expect("the source says that an agent proposed it", card["memory"]["source"] == "agent_proposed")
        named = "five orders" in str(card["memory"]["evidence"])
        story.expect("the card has the evidence that the agent named", named)
        context = story.block("Where should I buy groceries?")
        story.expect("before the answer it is in no prompt", "Kroger" not in context["context"])
        yes = card["yes"]
        refused = is_refused(lambda: story.agent(yes["method"], yes["path"], yes["body"]), "human_needed")
        story.expect("the agent cannot accept its own proposal", refused)
        edits = {**yes["body"], "edits": {"content": "Kroger on Main Street"}}
        accepted = story.human(yes["method"], yes["path"], edits)["memory"]
        story.expect("he edits and accepts it", accepted["status"] == "active" and accepted.get("consented_at"))
        context = story.block("Where should I buy groceries?")
        story.expect("now it is a rule in the prompt", "Kroger on Main Street" in context["context"])

    with story.step("He rejects another proposal, and it is gone"):
        proposed = story.tool("propose_memory", content="Likes to be called Jon", category="profile")
        memory = proposed["structuredContent"]["memory"]
        card = next(item for item in story.review()["data"] if item["memory"]["id"] == memory["id"])
        story.answer(card["no"])
        story.expect("it is not active", story.find("called Jon") is None)
        story.expect("it waits no more", "called Jon" not in str(story.human("GET", "/api/review")))

    with story.step("With this preset everything learned from a chat waits for him"):
        story.chat("weekend", "I run a marathon in May and I watch my protein.")
        story.close("weekend")
        story.review()
        active = [one for one in story.memories(status="active") if one.get("session_id") == "weekend"]
        story.expect("nothing learned is active without his yes", not active)

    with story.step("Health is closed until he opens it"):
        body = {"content": "Has high blood pressure", "domain": "health"}
        refused = is_refused(lambda: story.agent("POST", "/api/memory", body), "opt_in_needed")
        story.expect("the assistant cannot store health", refused)
        story.human("PUT", "/api/domains/health/opt-in", {})
        story.console("Settings: Health is open")
        story.human("POST", "/api/memory", body)
        context = story.block("What should I cook tonight?", domains=["health"])
        story.expect("after he opened it, it is used", "blood pressure" in context["context"])
        story.expect("and marked as high-stakes", "high-stakes" in context["context"])
        story.human("DELETE", "/api/domains/health/opt-in")
        context = story.block("What should I cook tonight?")
        story.expect("closing it takes it out at once", "blood pressure" not in context["context"])

    with story.step("He changes a rule and deletes another: both at once"):
        late = story.find("no_meetings_after") or story.find("16:00")
        change = {"type": "HARD", "domain": "schedule", "key": "no_meetings_after", "content": "17:30"}
        story.human("POST", "/api/memory", change)
        signature = next(one for one in story.memories(type="HARD") if one.get("key") == "email_signature")
        story.human("DELETE", f"/api/memory/{signature['id']}")
        context = story.block("When can we meet, and how do I sign?", domains=["schedule", "communication"])
        story.expect("the new time is in the prompt", "17:30" in context["context"])
        schedule = [one for one in story.memories(type="HARD") if one.get("domain") == "schedule"]
        story.expect("the key has one rule", len(schedule) == 1 and late["id"] == schedule[0]["id"])
        story.expect("the signature is gone", "Best, Jonathan" not in context["context"])

    with story.step("What he can see"):
        story.show_memories()
