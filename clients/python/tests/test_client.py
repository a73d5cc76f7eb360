"""The client against the real server: methods and errors."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from datetime import datetime, timezone
from io import BytesIO

import pytest

from lukasa import ApiError, AsyncLukasa, Conflict, Lukasa, NotAllowed, NotFound, Unreachable, calls


def test_memory_is_saved_changed_and_undone(client: Lukasa) -> None:
    saved = client.save("Prefers window seats", domain="travel", tags=["flights"], importance=0.8)
    assert saved.memory is not None
    memory = saved.memory
    assert (memory.content, memory.domain, memory.tags, memory.status) == (
        "Prefers window seats",
        "travel",
        ["flights"],
        "active",
    )
    assert isinstance(memory.created_at, datetime)
    assert client.save("Prefers window seats").event.type == "memory.unchanged"

    changed = client.update(memory.id, content="Prefers aisle seats")
    assert changed.memory is not None and changed.memory.version == 2
    corrected = client.correct(memory.id, tags=[], summary=None)
    assert corrected.memory is not None and corrected.memory.tags == []
    assert next(client.history(memory.id)).content == "Prefers window seats"

    undone = client.undo(corrected)
    assert undone.memory is not None and undone.memory.tags == ["flights"]
    client.undo(changed)
    assert client.get(memory.id).content == "Prefers window seats"
    early = datetime(2020, 1, 1, tzinfo=timezone.utc)
    with pytest.raises(NotFound):
        client.get(memory.id, as_of=early)

    client.forget("window seats")
    assert list(client.list()) == []
    client.restore(memory.id)
    client.delete(memory.id)
    client.undo()
    assert [one.id for one in client.list()] == [memory.id]
    client.erase(memory.id)
    with pytest.raises(NotFound) as gone:
        client.get(memory.id)
    assert gone.value.code == "memory_not_found"


def test_lists_read_all_pages(client: Lukasa) -> None:
    for number in range(7):
        client.save(f"Fact number {number}")
    assert len(list(client.list(limit=3))) == 7
    assert len(list(client.list(limit=3, search="number 5"))) == 1
    assert len(list(client.operations(limit=2))) == 7
    newest = next(client.operations())
    assert client.undo(newest).event.type == "memory.undone"


def test_recall_and_retrieve_find_relevant_memories(client: Lukasa) -> None:
    client.save("Is allergic to peanuts")
    client.save("Drives a red car")
    found = client.recall("peanuts", limit=1)
    assert [one.memory.content for one in found.memories] == ["Is allergic to peanuts"]
    assert found.memories[0].why.score > 0
    first = client.retrieve("peanuts", session_id="s1")
    client.save("Plays chess")
    second = client.retrieve("What now?", session_id="s1")
    assert "peanuts" in first.context
    assert first.baseline.content == second.baseline.content
    assert second.frozen


def test_session_turns_are_stored_and_deleted(client: Lukasa) -> None:
    appended = client.append("chat-1", [{"role": "user", "content": "I moved to Lisbon."}])
    client.append("chat-1", [{"role": "assistant", "content": "How nice!", "at": datetime.now(timezone.utc)}])
    assert [turn.content for turn in client.turns("chat-1", limit=1)] == ["I moved to Lisbon.", "How nice!"]
    assert [session.id for session in client.sessions()] == ["chat-1"]
    assert client.session("chat-1").turns == 2
    client.delete_turn(appended.turn_ids[0])
    assert [turn.content for turn in client.turns("chat-1")] == ["How nice!"]
    assert client.close_session("chat-1").session.state == "idle"
    client.delete_session("chat-1")
    assert client.restore_session("chat-1").trashed_at is None


def test_memories_are_linked_proposed_and_exported(client: Lukasa) -> None:
    one, other = client.save("Has a dog").memory, client.save("Walks every morning").memory
    assert one and other
    client.link(one.id, other.id, "explains")
    assert [link.relation for link in client.links(one.id)] == ["explains"]
    client.unlink(one.id, next(client.links(one.id)).id)
    client.propose("Likes long walks")
    assert [waiting.content for waiting in client.proposals()] == ["Likes long walks"]
    assert client.state().memories >= 2
    assert "travel" in [domain.name for domain in client.domains()]
    assert zipfile.ZipFile(BytesIO(client.export())).testzip() is None
    assert client.vault_command({"command": "view", "path": "/memories"}).is_error is False
    assert client.send(calls.healthz()).status == "ok"


async def test_async_client_has_the_same_methods(aclient: AsyncLukasa) -> None:
    saved = await aclient.save("Prefers tea")
    assert saved.memory is not None
    await aclient.save("Sleeps late")
    assert [memory.content async for memory in aclient.list(limit=1)] == ["Sleeps late", "Prefers tea"]
    assert (await aclient.recall("tea", limit=1)).memories[0].memory.content == "Prefers tea"
    await aclient.undo(saved)
    with pytest.raises(ApiError):
        await aclient.update(saved.memory.id, content="Prefers coffee")


def test_users_are_isolated(client: Lukasa, guarded: str, make_key: Callable[..., str]) -> None:
    memory = client.save("A secret").memory
    assert memory is not None
    other = client.for_user("Zoë Ångström")
    assert list(other.list()) == []
    with pytest.raises(NotFound) as missing:
        other.get(memory.id)
    assert (missing.value.status, missing.value.code) == (404, "memory_not_found")
    assert (missing.value.request_id or "").startswith("req_")
    assert missing.value.title == "There is no such memory"
    with Lukasa(guarded, make_key("--user", "bound-user")) as bound:
        bound.save("Mine")
        with pytest.raises(NotAllowed) as wrong:
            bound.for_user("other-user").save("Theirs")
        assert wrong.value.code == "wrong_user"
    with Lukasa(guarded, "lk_live_nonsense") as unauthenticated, pytest.raises(NotAllowed) as unknown:
        unauthenticated.save("Anything")
    assert unknown.value.code == "unauthenticated"


def test_errors_have_codes_and_details(client: Lukasa) -> None:
    with pytest.raises(ApiError) as invalid:
        client.save("", importance=7.0)
    assert invalid.value.code == "invalid_request"
    assert {error["pointer"] for error in invalid.value.errors} == {"/content", "/importance"}
    assert "/content: must contain visible text" in str(invalid.value)
    memory = client.save("A first version").memory
    assert memory is not None
    client.update(memory.id, content="A second version", if_match=memory.version_id)
    with pytest.raises(Conflict) as stale:
        client.update(memory.id, content="A third version", if_match=memory.version_id)
    assert stale.value.code == "version_mismatch"
    client.save("A second thing")
    with pytest.raises(Conflict) as ambiguous:
        client.forget("a second")
    assert len(ambiguous.value.candidates) == 2
    unchanged = client.update(memory.id, content="A second version")
    with pytest.raises(ValueError, match="nothing was written"):
        client.undo(unchanged)


def test_missing_server_raises_unreachable() -> None:
    with Lukasa("http://127.0.0.1:9", retries=0) as client, pytest.raises(Unreachable, match=r"127\.0\.0\.1:9"):
        client.save("Anything")


def test_feedback_and_observations(client: Lukasa) -> None:
    saved = client.save("Likes oolong tea")
    assert saved.memory is not None
    prediction = client.predict(saved.memory.id, "Will order a tea")
    assert client.report_outcome(prediction.id, "wrong").outcome == "wrong"
    # Only the user rates a memory; the tests have the key of an application.
    with pytest.raises(NotAllowed):
        client.rate(saved.memory.id, "down")
    events = client.observe([{"source": "shop", "kind": "order", "payload": {"value": "tea"}}])
    assert events.observation_ids[0].startswith("obs_")
