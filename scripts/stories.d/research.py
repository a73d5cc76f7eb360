"""A research partner: profile, tasks, episodes, procedures and knowledge, recalled on demand and consolidated."""

from __future__ import annotations

from fixture import Story

TITLE = "a research partner with five kinds of memory"
USER = "Nick"


def play(story: Story) -> None:
    story.set_preset("research")

    with story.step("Profile, a task in flight and a way of helping him are always in the prompt"):
        for memory in (
            {"content": "Is a portfolio analyst in New York", "category": "profile", "importance": 0.9},
            {"content": "Waits for a table at Lilia on Friday", "type": "task"},
            {"content": "For restaurant tips: the bar, the noise, walk-in or reservation; price does not matter",
             "type": "procedural", "domain": "food"},
        ):  # fmt: skip
            story.human("POST", "/api/memory", memory)
        _, lines, _ = story.chat("haiku", "Write a haiku about rain.")
        for words in ("portfolio analyst", "table at Lilia", "walk-in or reservation"):
            story.expect(f"an unrelated message is given: {words}", any(words in line for line in lines))

    with story.step("He reads what it knows: compiled texts in which every sentence cites a memory"):
        portraits = {one["name"]: one for one in story.human("GET", "/api/portraits")["data"]}
        for name, portrait in portraits.items():
            for sentence in portrait["sentences"]:
                story.console(f"{name}: {sentence['lead']}: {sentence['text']} ({len(sentence['memory_ids'])} cited)")
        sentences = [sentence for portrait in portraits.values() for sentence in portrait["sentences"]]
        story.expect("every sentence cites", sentences and all(one["memory_ids"] for one in sentences))
        story.expect("the task is in the briefing", "Lilia" in str(portraits["active_context"]["sentences"]))
        story.expect("the procedure is in the guide", "walk-in" in str(portraits["procedures"]["sentences"]))
        task = story.find("table at Lilia")
        story.human("POST", f"/api/memory/{task['id']}/forget", {})
        names = {one["name"]: one for one in story.human("GET", "/api/portraits")["data"]}
        story.expect("a task that is done leaves the briefing", "Lilia" not in str(names.get("active_context")))

    with story.step("A conversation ends: it becomes an episode, and facts with their source"):
        said = "I tried the bar Double Chicken last week: the cocktails were exceptional but the food was just okay."
        story.chat("bar", said)
        story.close("bar")
        episodes = story.human("GET", "/api/episodes?session_id=bar")["data"]
        for episode in episodes:
            story.console(f"Episode of turns {episode['first_turn']} to {episode['last_turn']}: {episode['summary']}")
        story.expect("there is one episode, of these turns", len(episodes) == 1 and episodes[0]["first_turn"] == 1)
        learned = [one for one in story.memories() if one.get("session_id") == "bar"]
        story.expect("what was learned names its turn", all(one["turn_ids"] for one in learned))
        for one in learned:
            story.console(f"learned: {one['content']} ({one['confidence']:.0%} sure, fades {one.get('fades_at')})")
        stated = story.find("portfolio analyst")
        story.expect("what he stated does not fade", stated.get("fades_at") is None)

    with story.step("Months later the assistant looks it up by itself, over MCP"):
        recalled = story.tool("recall_memory", query="What did I say about the cocktails at Double Chicken?")
        text = recalled["content"][0]["text"]
        story.expect_if_scripted("the lookup returns it as a memory", "cocktails" in text)
        answer = story.search("cocktails at Double Chicken", episodes=5, turns=5)
        found = [one["memory"]["content"] for one in answer["memories"]]
        found += [one["turn"]["content"] for one in answer["turns"]]
        found += [one["episode"]["summary"] for one in answer["episodes"]]
        for words in found[:3]:
            story.console(f"Search: {words}")
        story.expect("search finds it in a memory, a turn or an episode", any("cocktails" in one for one in found))
        story.expect("the lookup over MCP returns episodes too", "episodes" in recalled["structuredContent"])

    with story.step("A message about a topic brings what is known about it"):
        knowledge = {"content": "Considers Lilia the best pasta in Brooklyn", "type": "domain", "domain": "food",
                     "importance": 0.4}  # fmt: skip
        story.human("POST", "/api/memory", knowledge)
        context = story.block("Which restaurant should I book for dinner?")
        story.console(f"Domains of the message: {', '.join(one['domain'] for one in context['domains'])}")
        story.expect("the message is about food", "food" in [one["domain"] for one in context["domains"]])
        story.expect("what is known about food is given", "best pasta" in context["context"])

    with story.step("Research threads are projects: each chat is given its own and what holds everywhere"):
        for project, words in (("chips", "The foundry thesis: capacity is sold out until next year"),
                               ("shipping", "The freight thesis: rates fall with new ships")):  # fmt: skip
            story.tool("save_memory", content=words, project=project)
        _, lines, _ = story.chat("chips-1", "Where were we with the thesis?", project="chips")
        story.expect("the chat about chips is given its thesis", any("foundry" in line for line in lines))
        story.expect("and not the other one", not any("freight" in line for line in lines))
        story.expect("and who he is", any("portfolio analyst" in line for line in lines))
        _, lines, _ = story.chat("no-project", "Where were we with the thesis?")
        story.expect("a chat without a project is given neither", not any("thesis" in line for line in lines))
        here = story.tool("recall_memory", project="shipping", query="thesis")["content"][0]["text"]
        story.expect("a lookup in a project stays in it", "freight" in here and "foundry" not in here)

    with story.step("He changed his mind: the later statement wins, and the earlier one is history"):
        story.chat("january", "Please remember that I drink bourbon.")
        bourbon = story.wait("the memory", lambda: story.find("bourbon"))
        story.chat("february", "I no longer drink bourbon.")
        story.wait_for_turns("february")
        active = (bourbon["id"], bourbon["content"])
        story.wait("the change", lambda: active not in [(one["id"], one["content"]) for one in story.memories()])
        story.show_history(bourbon["id"])
        context = story.block("Should I drink bourbon or wine at the bar?")
        drinks = [one["text"] for one in context["soft"] if one.get("memory_id") and "bourbon" in one["text"]]
        old = [text for text in drinks if "no longer" not in text and "not" not in text]
        story.expect("no memory in a prompt says any more that he drinks it", not old)
        quoted = "remember that I drink bourbon" in context["context"]
        story.expect("what he said before the change is no longer quoted", not quoted)

    with story.step("Words of the assistant are not learned as his"):
        turns = [
            {"role": "user", "content": "Tell me something about walnuts."},
            {"role": "assistant", "content": "You told me that you are allergic to walnuts and live in Denver."},
        ]
        story.agent("POST", "/api/sessions/echo/turns", {"turns": turns})
        story.line("assistant", turns[1]["content"])
        story.close("echo")
        wrong = [one for one in story.memories() if "Denver" in one["content"] or "allergic" in one["content"]]
        story.expect("nothing of it became a memory", not wrong)

    with story.step("Consolidation notices what he keeps coming back to, once it was in six of ten sessions"):
        for number, words in enumerate(("cycle", "capacity", "suppliers", "prices", "exports", "makers")):
            story.send_turns(f"thread-{number}", f"I read about semiconductors and their {words} for my report.")
            story.close(f"thread-{number}")
        preview = story.human("POST", "/api/consolidate", {"dry_run": True})
        for step in preview["steps"]:
            story.console(f"Would {step['what']}: {step['content']} ({step['reason']})")
        before = {one["version_id"] for one in story.memories() if one.get("confidence") is None}
        done = story.human("POST", "/api/consolidate", {})
        after = {one["version_id"] for one in story.memories() if one.get("confidence") is None}
        story.expect("nothing that he stated was touched", before == after)
        story.expect_if_scripted("the focus is noted", story.find("often talks about semiconductors"))
        if done["operation_id"]:
            story.human("POST", f"/api/operations/{done['operation_id']}/undo", {})
            story.expect("one undo reverses all of it", story.find("often talks about semiconductors") is None)

    with story.step("He reviews what was learned, and rejects one"):
        recent = [item for item in story.review()["data"] if item["memory"].get("confidence") is not None]
        if story.expect_if_scripted("what was learned lately is in the review", recent):
            wrong = recent[0]
            story.answer(wrong["no"])
            left = [one["id"] for one in story.memories(status="active")]
            story.expect("what he rejects is not active any more", wrong["memory"]["id"] not in left)
