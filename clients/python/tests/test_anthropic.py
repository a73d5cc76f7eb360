"""The memory tool with Anthropic's tool runner; its writes can be undone."""

from __future__ import annotations

from anthropic import Anthropic, AsyncAnthropic

from lukasa import AsyncLukasa, Lukasa
from lukasa.anthropic import AsyncLukasaMemoryTool, LukasaMemoryTool

from .conftest import Model, claude_says, claude_uses


def test_tool_runner_reads_and_writes(model: Model, client: Lukasa) -> None:
    client.save("Prefers tea")
    model.says(
        claude_says(claude_uses(command="view", path="/memories")),
        claude_says(claude_uses(command="view", path="/memories/profile.md")),
        claude_says(
            claude_uses(
                command="str_replace", path="/memories/profile.md", old_str="Prefers tea", new_str="Prefers coffee"
            )
        ),
        claude_says(claude_uses(command="view", path="/memories/nothing.md")),
        claude_says({"type": "text", "text": "Done."}),
    )
    claude = Anthropic(api_key="none", base_url=model.url)
    runner = claude.beta.messages.tool_runner(
        model="scripted",
        max_tokens=100,
        messages=[{"role": "user", "content": "I switched to coffee."}],
        tools=[LukasaMemoryTool(client)],
    )
    final = runner.until_done()
    assert final.content[0].type == "text" and final.content[0].text == "Done."
    assert model.asked[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    results = [asked["messages"][-1]["content"][0] for asked in model.asked[1:]]
    assert "profile.md" in str(results[0]["content"])
    assert "Prefers tea" in str(results[1]["content"])
    assert [bool(result.get("is_error")) for result in results] == [False, False, False, True]
    assert [memory.content for memory in client.list()] == ["Prefers coffee"]
    client.undo()
    assert [memory.content for memory in client.list()] == ["Prefers tea"]


async def test_async_tool_runner_writes(model: Model, aclient: AsyncLukasa) -> None:
    model.says(
        claude_says(claude_uses(command="create", path="/memories/domains/travel.md", file_text="- Plays the flute\n")),
        claude_says({"type": "text", "text": "Done."}),
    )
    claude = AsyncAnthropic(api_key="none", base_url=model.url)
    runner = claude.beta.messages.tool_runner(
        model="scripted",
        max_tokens=100,
        messages=[{"role": "user", "content": "I play the flute."}],
        tools=[AsyncLukasaMemoryTool(aclient)],
    )
    await runner.until_done()
    assert [memory.content async for memory in aclient.list()] == ["Plays the flute"]


def test_all_commands_work(client: Lukasa) -> None:
    tool = LukasaMemoryTool(client)
    path = "/memories/domains/travel.md"
    tool.call({"command": "create", "path": path, "file_text": "- One\n"})
    tool.call({"command": "insert", "path": path, "insert_line": 1, "insert_text": "- Two\n"})
    assert {memory.content for memory in client.list()} == {"One", "Two"}
    assert "One" in str(tool.call({"command": "view", "path": path, "view_range": [1, -1]}))
    tool.call({"command": "rename", "old_path": path, "new_path": "/memories/domains/shopping.md"})
    assert {memory.domain for memory in client.list()} == {"shopping"}
    tool.call({"command": "delete", "path": "/memories/domains/shopping.md"})
    assert list(client.list()) == []
