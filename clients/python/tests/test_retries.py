"""Retries of requests, with a scripted transport, because a real server rarely fails."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import httpx
import pytest

from lukasa import ApiError, AsyncLukasa, Lukasa, NotAllowed, NotFound, Unavailable, Unreachable, _async, _sync, calls
from lukasa._call import MAX_PAUSE_SECONDS, MAX_RETRY_AFTER_SECONDS, Call, seconds

SAVED = {"memory": None, "event": {"type": "memory.saved", "memory_ids": []}, "message": "Saved"}
Answer = Callable[[], httpx.Response]


class Wire(httpx.MockTransport):
    """A transport that gives these answers in order, and records the requests."""

    def __init__(self, *answers: Answer) -> None:
        self.answers, self.sent = list(answers), list[httpx.Request]()
        super().__init__(self.answer)

    def answer(self, request: httpx.Request) -> httpx.Response:
        self.sent.append(request)
        return self.answers.pop(0)()


def status(code: int, headers: dict[str, str] | None = None) -> Answer:
    return lambda: httpx.Response(code, headers=headers, json={"code": "x", "title": "X", **SAVED})


def fails(kind: type[httpx.TransportError]) -> Answer:
    def fail() -> httpx.Response:
        raise kind("scripted")

    return fail


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    waited: list[float] = []

    async def await_it(pause: float) -> None:
        waited.append(pause)

    monkeypatch.setattr(_sync, "sleep", waited.append)
    monkeypatch.setattr(_async, "sleep", await_it)
    return waited


def client_over(wire: Wire, retries: int = 3) -> Lukasa:
    return Lukasa("http://lukasa", user="alice", retries=retries, http=httpx.Client(transport=wire))


def test_write_is_retried_with_the_same_key(pauses: list[float]) -> None:
    wire = Wire(fails(httpx.ReadError), status(503, {"Retry-After": "2"}), status(429), status(201))
    assert client_over(wire).save("Likes tea").message == "Saved"
    keys = {request.headers["Idempotency-Key"] for request in wire.sent}
    assert (len(wire.sent), len(keys)) == (4, 1)
    assert {request.content for request in wire.sent} == {b'{"content": "Likes tea"}'}
    assert pauses[1] == 2.0
    assert 0.125 <= pauses[0] <= 0.25 and 0.5 <= pauses[2] <= 1.0
    client_over(again := Wire(status(201))).save("Likes tea")
    assert again.sent[0].headers["Idempotency-Key"] not in keys


def test_request_without_key_is_retried_only_if_it_was_not_sent(pauses: list[float]) -> None:
    mint = calls.create_user({"user": "alice"})
    for answer in (fails(httpx.ReadError), status(503)):
        wire = Wire(answer, status(201))
        with pytest.raises((Unreachable, Unavailable)):
            client_over(wire).send(mint)
        assert len(wire.sent) == 1
    wire = Wire(fails(httpx.ConnectError), status(404))
    with pytest.raises(NotFound):
        client_over(wire).send(mint)
    assert len(wire.sent) == 2


def test_request_that_creates_a_secret_is_not_retried(pauses: list[float]) -> None:
    creating: list[Call[Any]] = [
        calls.create_key({"name": "mine"}),
        calls.rotate_key("key_1"),
        calls.mint_token({"user": "alice"}),
        calls.create_webhook({"url": "https://example.com"}),
        calls.rotate_webhook("whk_1"),
        calls.make_sign_in_link({"user": "alice"}),
        calls.sign_in({"link": "x"}),
    ]
    for call in creating:
        for answer in (fails(httpx.ReadError), status(503)):
            wire = Wire(answer, status(201))
            with pytest.raises((Unreachable, Unavailable)):
                client_over(wire).send(call)
            assert len(wire.sent) == 1, call.path


def test_reading_post_is_retried(pauses: list[float]) -> None:
    wire = Wire(fails(httpx.ReadTimeout), status(502), status(404))
    with pytest.raises(NotFound):
        client_over(wire).recall("tea")
    assert len(wire.sent) == 3
    assert "Idempotency-Key" not in wire.sent[0].headers


def test_retries_are_limited(pauses: list[float]) -> None:
    wire = Wire(*[status(503) for _ in range(3)])
    with pytest.raises(Unavailable):
        client_over(wire, retries=2).save("Likes tea")
    assert (len(wire.sent), len(pauses)) == (3, 2)
    wire = Wire(*[fails(httpx.ConnectError) for _ in range(2)])
    with pytest.raises(Unreachable) as unreachable:
        client_over(wire, retries=1).save("Likes tea")
    assert isinstance(unreachable.value.__cause__, httpx.ConnectError)
    assert "tea" not in str(unreachable.value)


def test_refused_request_is_not_retried(pauses: list[float]) -> None:
    wire = Wire(status(404))
    with pytest.raises(NotFound):
        client_over(wire).get("mem_x")
    assert (len(wire.sent), pauses) == (1, [])


def test_header_of_the_space_is_sent() -> None:
    wire = Wire(status(201), status(201))
    http = httpx.Client(transport=wire)
    client = Lukasa("http://lukasa", user="alice", space="family", http=http)
    client.save("Likes tea")
    client.for_user("bob").save("Likes tea")
    assert [request.headers["X-Lukasa-Space"] for request in wire.sent] == ["family", "family"]


def test_error_names_the_domain_to_open() -> None:
    refused = {"code": "opt_in_needed", "title": "X", "domain": "health"}
    wire = Wire(lambda: httpx.Response(403, json=refused))
    with pytest.raises(NotAllowed) as error:
        client_over(wire).save("Has asthma")
    assert error.value.domain == "health"


def test_internal_error_is_not_retried(pauses: list[float]) -> None:
    wire = Wire(status(500))
    with pytest.raises(ApiError) as error:
        client_over(wire).save("Likes tea")
    assert (len(wire.sent), isinstance(error.value, Unavailable)) == (1, False)


async def test_async_client_retries(pauses: list[float]) -> None:
    wire = Wire(fails(httpx.ConnectError), status(201))
    client = AsyncLukasa("http://lukasa/base", "k", "Zoë", http=httpx.AsyncClient(transport=wire))
    assert (await client.save("Likes tea")).message == "Saved"
    sent = wire.sent[1]
    assert str(sent.url) == "http://lukasa/base/api/memory?similar=false"
    assert sent.headers["Authorization"] == "Bearer k"
    assert dict(sent.headers.raw)[b"X-Lukasa-User"] == "Zoë".encode()


def test_pause_is_limited() -> None:
    call = Call("GET", "/", answer=bytes)
    assert call.pause(30) <= MAX_PAUSE_SECONDS
    assert call.pause(0, httpx.Response(503, headers={"Retry-After": "86400"})) == MAX_RETRY_AFTER_SECONDS
    assert seconds("Wed, 21 Oct 2015 07:28:00 GMT") == 0.0
    assert seconds("soon") == 0.0
