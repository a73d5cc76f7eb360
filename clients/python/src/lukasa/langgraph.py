"""A LangGraph store in which every item is a memory that the user can read, correct and undo.

The text of an item is the content of the memory, the item as JSON is its detail, and its namespace and key
are in the tags. So items are found by recall, shown in the console and exported like other memories; and the
graph reads what the user corrects there.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Iterable
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
)

from ._generated.models import Memory
from ._sync import Lukasa

__all__ = ["LukasaStore"]

#: The tag of every item, and the prefix of its namespace tags.
TAG = "store"
#: The usual names of the text field of an item.
TEXT = ("content", "text", "memory", "data")
LINE_CHARS = 2_000
BODY_CHARS = 20_000
TAG_CHARS = 64
#: Memories considered by a search with a query.
MAX_CONSIDERED = 200


class LukasaStore(BaseStore):
    """Long-term memory for a graph: `builder.compile(store=LukasaStore(Lukasa(...)))`.

    With `user_at`, that element of each namespace is the user id, and the server isolates the users; the
    client's key must be valid for the whole tenant. Without it everything belongs to the client's own user.

    Limits: an item has at most 20,000 characters of JSON; a search with a query considers the 200 best
    memories; `index` is ignored, as everything is found by meaning and by words; there is no `ttl`.
    """

    __slots__ = ("_client", "_user_at")

    def __init__(self, client: Lukasa, *, user_at: int | None = None) -> None:
        self._client = client
        self._user_at = user_at

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return [self._one(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def _one(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            found = self._find(op.namespace, op.key)
            return item(found) if found else None
        if isinstance(op, PutOp):
            self._put(op)
            return None
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._namespaces(op)
        raise TypeError(f"{type(op).__name__} is not an operation of a store")

    def _at(self, namespace: tuple[str, ...]) -> Lukasa:
        """The client for the user of a namespace."""
        if self._user_at is None:
            return self._client
        if len(namespace) <= self._user_at:
            raise ValueError(f"element {self._user_at} of the namespace names the user: {namespace!r} has none")
        return self._client.for_user(namespace[self._user_at])

    def _find(self, namespace: tuple[str, ...], key: str) -> Memory | None:
        for memory in self._at(namespace).list(tag=tag("item", (*namespace, key)), limit=10):
            if place(memory) == (namespace, key):
                return memory
        return None

    def _put(self, op: PutOp) -> None:
        client, existing = self._at(op.namespace), self._find(op.namespace, op.key)
        if op.value is None:
            if existing:
                client.forget(existing.id)
            return
        line, body = written(op.namespace, op.key, dict(op.value))
        if existing:
            client.update(existing.id, content=line, detail=body)
            return
        tags = tags_of(op.namespace, op.key)
        saved = client.save(line, detail=body, tags=tags)
        if saved.memory is not None and place(saved.memory) != (op.namespace, op.key):
            # Another memory has the same text already: the path makes this one different.
            path = "/".join((*op.namespace, op.key))
            line = f"{line[: LINE_CHARS - len(path) - 3]} ({path})"
            client.save(line, detail=body_of(op.namespace, op.key, dict(op.value), line), tags=tags)

    def _search(self, op: SearchOp) -> list[SearchItem]:
        client, under = self._at(op.namespace_prefix), tag(TAG, op.namespace_prefix)
        scored: Iterable[tuple[Memory, float | None]]
        if op.query:
            found = client.recall(op.query, limit=MAX_CONSIDERED).memories
            scored = [(one.memory, one.why.score) for one in found if under in one.memory.tags]
        else:
            scored = ((memory, None) for memory in client.list(tag=under, limit=200))
        results: list[SearchItem] = []
        for memory, score in scored:
            read = item(memory)
            if read is None or not is_under(op.namespace_prefix, read.namespace):
                continue
            if all(matches(read.value.get(name), wanted) for name, wanted in (op.filter or {}).items()):
                results.append(SearchItem(**slots(read), score=score))
            if len(results) >= op.offset + op.limit:
                break
        return results[op.offset :]

    def _namespaces(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        prefix = next((tuple(c.path) for c in conditions if c.match_type == "prefix"), ())
        places = (place(memory) for memory in self._at(prefix).list(tag=TAG, limit=200))
        namespaces = {found[0] for found in places if found}
        matching = [one for one in namespaces if all(fits(condition, one) for condition in conditions)]
        cut = sorted({one[: op.max_depth] for one in matching})
        return cut[op.offset : op.offset + op.limit]


def tag(kind: str, path: tuple[str, ...]) -> str:
    """The tag of a path: readable if it is short enough, otherwise a hash."""
    parts = [part.replace("%", "%25").replace("/", "%2F") for part in path]
    readable = ":".join([kind, "/".join(parts)]) if parts else kind
    if len(readable) <= TAG_CHARS:
        return readable
    return f"{kind}:#{hashlib.sha256(readable.encode()).hexdigest()[:16]}"


def tags_of(namespace: tuple[str, ...], key: str) -> list[str]:
    """The tags of an item: its own, and one for each prefix of its namespace."""
    prefixes = [tag(TAG, namespace[:depth]) for depth in range(len(namespace) + 1)]
    if len(prefixes) > 19:
        raise ValueError("a namespace has at most 18 elements")
    return [tag("item", (*namespace, key)), *prefixes]


def text_field(value: dict[str, Any]) -> str | None:
    """The name of the text field of a value."""
    words = [name for name, part in value.items() if isinstance(part, str) and part.strip()]
    return next((name for name in TEXT if name in words), words[0] if words else None)


def written(namespace: tuple[str, ...], key: str, value: dict[str, Any]) -> tuple[str, str]:
    """Content and detail of the memory of an item."""
    field = text_field(value)
    text = value[field] if field else json.dumps(value, ensure_ascii=False)
    line = text if len(text) <= LINE_CHARS else text[: LINE_CHARS - 1] + "…"
    return line, body_of(namespace, key, value, line)


def body_of(namespace: tuple[str, ...], key: str, value: dict[str, Any], line: str) -> str:
    body = json.dumps({"namespace": namespace, "item": key, "value": value, "line": line}, ensure_ascii=False)
    if len(body) > BODY_CHARS:
        raise ValueError(f"an item has at most {BODY_CHARS} characters of JSON; this one has {len(body)}")
    return body


def read_body(memory: Memory) -> dict[str, Any] | None:
    """The item of a memory; none if it is not an item, or the user changed the detail."""
    try:
        body = json.loads(memory.detail or "")
    except ValueError:
        return None
    is_item = isinstance(body, dict) and {"namespace", "item", "value", "line"} <= set(body)
    return body if is_item else None


def place(memory: Memory) -> tuple[tuple[str, ...], str] | None:
    body = read_body(memory)
    return (tuple(body["namespace"]), body["item"]) if body else None


def item(memory: Memory) -> Item | None:
    body = read_body(memory)
    if body is None:
        return None
    value = body["value"]
    field = text_field(value)
    if field and memory.content != body["line"]:
        # The user has corrected the text.
        value = {**value, field: memory.content}
    return Item(
        value=value,
        key=body["item"],
        namespace=tuple(body["namespace"]),
        created_at=memory.created_at,
        updated_at=memory.updated_at,
    )


def slots(read: Item) -> dict[str, Any]:
    return {name: getattr(read, name) for name in ("namespace", "key", "value", "created_at", "updated_at")}


def is_under(prefix: tuple[str, ...], namespace: tuple[str, ...]) -> bool:
    return namespace[: len(prefix)] == prefix


def fits(condition: MatchCondition, namespace: tuple[str, ...]) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", own) for wanted, own in zip(path, part, strict=True))


def matches(value: Any, wanted: Any) -> bool:
    """Whether a field matches: equal, or by the operators."""
    if not isinstance(wanted, dict):
        return bool(value == wanted)
    if not any(name.startswith("$") for name in wanted):
        return isinstance(value, dict) and all(matches(value.get(name), inner) for name, inner in wanted.items())
    return all(compares(value, operator, other) for operator, other in wanted.items())


def compares(value: Any, operator: str, other: Any) -> bool:
    if operator == "$eq":
        return bool(value == other)
    if operator == "$ne":
        return bool(value != other)
    if operator not in ("$gt", "$gte", "$lt", "$lte"):
        raise ValueError(f"{operator} is not a filter operator")
    if value is None:
        return False
    difference = float(value) - float(other)
    return {
        "$gt": difference > 0,
        "$gte": difference >= 0,
        "$lt": difference < 0,
        "$lte": difference <= 0,
    }[operator]
