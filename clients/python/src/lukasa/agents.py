"""A session for OpenAI's Agents SDK: the chat is stored, and learned from when it is closed.

Messages of users and agents are stored as turns of plain text. Other items (tool calls, their results,
reasoning) are stored as JSON in turns of the role `tool`, which do not count as words of the user.
"""

from __future__ import annotations

import json
from typing import Any, cast

from agents import SessionSettings, TResponseInputItem

from ._async import AsyncLukasa
from ._errors import NotFound
from ._generated.models import ClosedSession, Turn
from ._generated.params import AppendTurn

__all__ = ["LukasaSession"]

#: The speaker of turns that hold an item of this SDK as JSON.
ITEM = "openai-agents"
#: Turns per append request.
MAX_TURNS = 100


class LukasaSession:
    """Stores a conversation of `Runner.run(..., session=...)` in the memory of a user.

    A message of the assistant is returned as its role and text, without the id of the provider; every other
    item is returned exactly as it was.
    """

    session_id: str
    session_settings: SessionSettings | None

    def __init__(
        self, session_id: str, client: AsyncLukasa, session_settings: SessionSettings | None = None
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings
        self._client = client

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The items of the conversation; with a `limit`, the latest ones."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        items = [as_item(turn) for turn in await self._turns()]
        if limit is None:
            return items
        return items[-limit:] if limit > 0 else []

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Appends items."""
        turns = [as_turn(item) for item in items]
        for start in range(0, len(turns), MAX_TURNS):
            await self._client.append(self.session_id, turns[start : start + MAX_TURNS])

    async def pop_item(self) -> TResponseInputItem | None:
        """Removes the latest item, and with it what was learned from it alone. It can be undone."""
        turns = await self._turns()
        if not turns:
            return None
        await self._client.delete_turn(turns[-1].id)
        return as_item(turns[-1])

    async def clear_session(self) -> None:
        """Removes all items. Each removal can be undone."""
        for turn in reversed(await self._turns()):
            await self._client.delete_turn(turn.id)

    async def close(self) -> ClosedSession:
        """Closes the conversation, so that its new turns are learned from."""
        return await self._client.close_session(self.session_id)

    async def _turns(self) -> list[Turn]:
        """The turns that are items, in order; none for a session that does not exist yet."""
        try:
            turns = [turn async for turn in self._client.turns(self.session_id, limit=200)]
        except NotFound as error:
            if error.code != "session_not_found":
                raise
            return []
        return [turn for turn in turns if turn.role != "tool" or turn.speaker == ITEM]


def as_turn(item: TResponseInputItem) -> AppendTurn:
    """Messages as text, and every other item as JSON."""
    words = role_and_text(cast("dict[str, Any]", item))
    if words is None:
        return {"role": "tool", "speaker": ITEM, "content": json.dumps(item, ensure_ascii=False)}
    role, text = words
    return {"role": role, "content": text}


def role_and_text(item: dict[str, Any]) -> tuple[str, str] | None:
    """Role and text of an item that is a plain text message."""
    role, content = item.get("role"), item.get("content")
    if item.get("type", "message") != "message" or role not in ("user", "assistant", "system"):
        return None
    if role == "assistant" and isinstance(content, list) and len(content) == 1:
        part = content[0]
        if part.get("type") == "output_text" and not part.get("annotations"):
            content = part.get("text")
    elif set(item) - {"role", "content", "type"}:
        return None
    # A turn cannot be blank, so a blank message is stored as JSON.
    return (role, content) if isinstance(content, str) and content.strip() else None


def as_item(turn: Turn) -> TResponseInputItem:
    if turn.role == "tool":
        return cast(TResponseInputItem, json.loads(turn.content))
    return cast(TResponseInputItem, {"role": turn.role, "content": turn.content})
