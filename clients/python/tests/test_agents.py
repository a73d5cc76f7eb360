"""The session with the runner of the Agents SDK."""

from __future__ import annotations

from typing import Any, cast

import pytest
from agents import Agent, OpenAIResponsesModel, Runner, Session, TResponseInputItem, function_tool
from openai import AsyncOpenAI

from lukasa import AsyncLukasa
from lukasa.agents import LukasaSession

from .conftest import Model, openai_says, openai_text


def items(*values: dict[str, Any]) -> list[TResponseInputItem]:
    return cast("list[TResponseInputItem]", list(values))


async def test_items_are_returned_in_order(aclient: AsyncLukasa) -> None:
    session = LukasaSession("s", aclient)
    assert isinstance(session, Session)
    assert await session.get_items() == []
    assert await session.pop_item() is None
    given = items(
        {"role": "user", "content": "What is the weather?"},
        {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "Sunny"},
        {"role": "developer", "content": "Be short."},
        {"role": "user", "content": [{"type": "input_image", "image_url": "x"}]},
        {"role": "assistant", "content": "It is sunny."},
    )
    await session.add_items(given)
    assert await session.get_items() == given
    assert await session.get_items(limit=2) == given[-2:]
    assert await session.get_items(limit=0) == []
    assert await session.pop_item() == given[-1]
    assert await session.get_items() == given[:-1]
    await aclient.undo()
    assert await session.get_items() == given
    await session.clear_session()
    assert await session.get_items() == []
    await session.add_items(items({"role": "user", "content": "Once more"}))
    assert len(await session.get_items()) == 1
    many = items(*[{"role": "user", "content": f"Message {number}"} for number in range(250)])
    await session.add_items(many)
    assert await session.get_items(limit=250) == many


@pytest.fixture
def agent(model: Model, monkeypatch: pytest.MonkeyPatch) -> Agent[Any]:
    monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")

    @function_tool
    def weather(city: str) -> str:
        """The weather in a city."""
        return f"Sunny in {city}"

    service = AsyncOpenAI(api_key="none", base_url=f"{model.url}/v1")
    return Agent(name="Test", model=OpenAIResponsesModel("scripted", service), tools=[weather])


async def test_runner_uses_the_session(agent: Agent[Any], model: Model, aclient: AsyncLukasa) -> None:
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "weather", "status": "completed"}
    model.says(
        openai_says({**call, "arguments": '{"city": "Lisbon"}'}),
        openai_says(openai_text("It is sunny in Lisbon.")),
        openai_says(openai_text("You asked about Lisbon.")),
    )
    session = LukasaSession("chat", aclient)
    first = await Runner.run(agent, "How is the weather in Lisbon?", session=session)
    assert first.final_output == "It is sunny in Lisbon."
    second = await Runner.run(agent, "Which city did I ask about?", session=session)
    assert second.final_output == "You asked about Lisbon."
    # The second request contains all previous items.
    sent = model.asked[2]["input"]
    kinds = [item.get("type", item.get("role")) for item in sent]
    assert kinds == ["user", "function_call", "function_call_output", "assistant", "user"]
    assert sent[2]["output"] == "Sunny in Lisbon"
    turns = [turn async for turn in aclient.turns("chat")]
    assert [turn.role for turn in turns] == ["user", "tool", "tool", "assistant", "user", "assistant"]
    assert turns[3].content == "It is sunny in Lisbon."
    assert (await session.close()).session.state == "idle"
