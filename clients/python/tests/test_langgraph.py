"""The store with LangGraph's own types, and corrections by the user."""

from __future__ import annotations

from typing import Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore, GetOp, Op, PutOp, SearchOp

from lukasa import Lukasa
from lukasa.langgraph import LukasaStore, tag


@pytest.fixture
def store(client: Lukasa) -> LukasaStore:
    return LukasaStore(client)


def test_items_are_stored_unchanged(store: LukasaStore) -> None:
    value = {"text": "I love pizza", "stars": 5, "nested": {"a": [1, None, "ü"]}}
    store.put(("memories", "Alice"), "k1", value)
    found = store.get(("memories", "Alice"), "k1")
    assert found is not None and found.value == value
    assert (found.namespace, found.key) == (("memories", "Alice"), "k1")
    assert found.created_at <= found.updated_at
    assert store.get(("memories",), "k1") is None
    assert store.get(("memories", "Alice"), "k2") is None
    store.put(("memories", "Alice"), "k1", {**value, "stars": 4})
    again = store.get(("memories", "Alice"), "k1")
    assert again is not None and again.value["stars"] == 4
    assert again.created_at == found.created_at
    store.delete(("memories", "Alice"), "k1")
    assert store.get(("memories", "Alice"), "k1") is None
    store.put(("memories", "Alice"), "k1", {"text": "I love pizza"})
    assert store.get(("memories", "Alice"), "k1") is not None


def test_equal_texts_in_two_namespaces_are_two_items(store: LukasaStore, client: Lukasa) -> None:
    client.save("Likes tea")
    for place in ("a", "b"):
        store.put((place,), "k", {"text": "Likes tea", "place": place})
    for place in ("a", "b"):
        found = store.get((place,), "k")
        assert found is not None and found.value == {"text": "Likes tea", "place": place}
    assert len(list(client.list())) == 3


def test_items_are_searched_and_filtered(store: LukasaStore) -> None:
    for number in range(4):
        store.put(("docs", f"n{number % 2}"), f"k{number}", {"text": f"Report number {number}", "score": number})
    store.put(("other",), "k", {"text": "Report of another sort"})
    assert len(store.search(("docs",))) == 4
    assert len(store.search(())) == 5
    assert [one.key for one in store.search(("docs", "n1"))] == ["k3", "k1"]
    assert [one.key for one in store.search(("docs",), limit=2, offset=1)] == ["k2", "k1"]
    assert {one.key for one in store.search(("docs",), filter={"score": {"$gte": 2}})} == {"k2", "k3"}
    assert [one.key for one in store.search(("docs",), filter={"score": 1})] == ["k1"]
    best = store.search(("docs",), query="report number 2")
    assert best[0].key == "k2" and best[0].score is not None
    assert all(one.namespace[0] == "docs" for one in best)


def test_namespaces_are_listed(store: LukasaStore) -> None:
    for place in (("a", "b", "c"), ("a", "b", "d"), ("a", "x"), ("z", "c")):
        store.put(place, "k", {"text": "/".join(place)})
    assert store.list_namespaces() == [("a", "b", "c"), ("a", "b", "d"), ("a", "x"), ("z", "c")]
    assert store.list_namespaces(prefix=("a", "b")) == [("a", "b", "c"), ("a", "b", "d")]
    assert store.list_namespaces(suffix=("c",)) == [("a", "b", "c"), ("z", "c")]
    assert store.list_namespaces(prefix=("a", "*", "c")) == [("a", "b", "c")]
    assert store.list_namespaces(max_depth=2) == [("a", "b"), ("a", "x"), ("z", "c")]
    assert store.list_namespaces(limit=1, offset=1) == [("a", "b", "d")]


async def test_batch_keeps_its_order(store: LukasaStore) -> None:
    ops: list[Op] = [
        PutOp(("a",), "k", {"text": "One"}),
        GetOp(("a",), "k"),
        SearchOp(("a",), query="one"),
        PutOp(("a",), "k", None),
        GetOp(("a",), "k"),
    ]
    put, got, found, gone, none = await store.abatch(ops)
    assert (put, gone, none) == (None, None, None)
    assert got.value == {"text": "One"}  # type: ignore[union-attr]
    assert len(found) == 1  # type: ignore[arg-type]


def test_user_correction_is_read_by_the_store(store: LukasaStore, client: Lukasa) -> None:
    store.put(("memories",), "k", {"text": "Lives in Porto", "stars": 1})
    memory = next(client.list())
    assert memory.content == "Lives in Porto"
    assert tag("item", ("memories", "k")) == "item:memories/k" and "item:memories/k" in memory.tags
    client.correct(memory.id, content="Lives in Lisbon")
    found = store.get(("memories",), "k")
    assert found is not None and found.value == {"text": "Lives in Lisbon", "stars": 1}
    store.delete(("memories",), "k")
    client.undo()
    assert store.get(("memories",), "k") is not None


def test_namespace_element_is_the_user_id(client: Lukasa, user: str) -> None:
    store = LukasaStore(client, user_at=1)
    for name in ("ann", "ben"):
        store.put(("memories", f"{user}-{name}"), "k", {"text": f"This is {name}"})
    assert [memory.content for memory in client.for_user(f"{user}-ann").list()] == ["This is ann"]
    assert list(client.list()) == []
    assert len(store.search(("memories", f"{user}-ben"))) == 1
    with pytest.raises(ValueError, match="names the user"):
        store.search(("memories",))


def test_too_large_items_and_ttl_are_rejected(store: LukasaStore) -> None:
    with pytest.raises(ValueError, match="20000"):
        store.put(("a",), "k", {"text": "x" * 20_000})
    long = {"text": "word " * 1000}
    store.put(("a",) * 9, "k" * 100, long)
    found = store.get(("a",) * 9, "k" * 100)
    assert found is not None and found.value == long
    with pytest.raises(NotImplementedError):
        store.put(("a",), "k", {"text": "x"}, ttl=5)


class State(TypedDict):
    said: str
    answer: str


def test_graph_uses_the_store(store: LukasaStore) -> None:
    assert isinstance(store, BaseStore)

    def remember(state: State, runtime: Runtime[Any]) -> dict[str, str]:
        assert runtime.store is not None
        known = runtime.store.search(("memories",), query=state["said"], limit=1)
        runtime.store.put(("memories",), state["said"], {"text": state["said"]})
        return {"answer": known[0].value["text"] if known else "nothing yet"}

    builder = StateGraph(State)
    builder.add_node("remember", remember)
    builder.add_edge(START, "remember")
    builder.add_edge("remember", END)
    graph = builder.compile(store=store)
    first = graph.invoke({"said": "I like jazz", "answer": ""})
    second = graph.invoke({"said": "Play some jazz", "answer": ""})
    assert (first["answer"], second["answer"]) == ("nothing yet", "I like jazz")
