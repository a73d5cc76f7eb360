"""A call of the API, before anybody has sent it: the same for a client that waits and one that awaits."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timezone
from email.utils import parsedate_to_datetime
from typing import Any, Generic, TypeVar, cast
from urllib.parse import quote

import httpx
from pydantic import BaseModel

from ._errors import ApiError

Read = TypeVar("Read")

#: The answers after which the same request may well succeed.
PASSING = (429, 502, 503, 504)
#: The longest pause between two attempts, in seconds.
LONGEST = 20.0


@dataclass(frozen=True)
class Call(Generic[Read]):
    """One request. Make it with a function of `lukasa.calls`, and give it to a client's `send`."""

    method: str
    path: str
    answer: type[Read]
    body: Any = None
    content: bytes | None = None
    media: str | None = None
    query: Mapping[str, Any] | None = None
    if_match: str | None = None
    #: Whether the API takes an idempotency key for it.
    keyed: bool = False
    #: Whether it does no harm to send it again.
    again: bool = False

    def request(self, http: httpx.Client | httpx.AsyncClient, user: str | None) -> httpx.Request:
        """The request, ready to be sent as often as it takes: its key stays the same."""
        headers: dict[str, str | bytes] = {}
        if user is not None:
            # People have names beyond ASCII.
            headers["X-Lukasa-User"] = user.encode()
        if self.keyed:
            headers["Idempotency-Key"] = uuid.uuid4().hex
        if self.if_match is not None:
            headers["If-Match"] = f'"{self.if_match.strip(chr(34))}"'
        content = self.content
        if self.body is not None:
            content = json.dumps(self.body, default=plain, allow_nan=False).encode()
            headers["Content-Type"] = "application/json"
        elif self.media is not None:
            headers["Content-Type"] = self.media
        query = {name: worded(value) for name, value in (self.query or {}).items() if value is not None}
        return http.build_request(
            self.method,
            self.path.lstrip("/"),
            params=query or None,
            content=content,
            headers=cast("dict[str, str]", headers),
        )

    def read(self, response: httpx.Response) -> Read:
        """What the answer says; raises if it is a refusal."""
        if response.status_code >= 400:
            raise ApiError.read(response)
        if issubclass(self.answer, BaseModel):
            return cast(Read, self.answer.model_validate_json(response.content))
        return cast(Read, response.content)

    def may_repeat(self, failure: httpx.TransportError) -> bool:
        """Whether to try again after this: it never got there, or it may get there twice."""
        never_there = isinstance(failure, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))
        return self.again or never_there

    def pause(self, attempt: int, response: httpx.Response | None = None) -> float:
        """How long to wait before the next attempt: what the server says, or ever longer and not in step."""
        asked = response.headers.get("Retry-After") if response is not None else None
        if asked:
            return min(seconds(asked), LONGEST)
        return random.uniform(0.5, 1.0) * min(0.25 * 2.0**attempt, LONGEST)

    def is_passing(self, response: httpx.Response) -> bool:
        return response.status_code in PASSING and (self.again or response.status_code == 429)


def seconds(retry_after: str) -> float:
    """A `Retry-After`, which is a number of seconds or a date."""
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        pass
    try:
        at = parsedate_to_datetime(retry_after)
    except ValueError:
        return 0.0
    return max(0.0, (at - datetime.now(timezone.utc)).total_seconds())


def quoted(part: object) -> str:
    """A part of a path. It may hold anything, also a slash."""
    return quote(str(part), safe="")


def plain(value: object) -> object:
    """What JSON has no word for."""
    if isinstance(value, datetime):
        # A time without a zone would be a guess; here it is the zone of this machine.
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def worded(value: Any) -> str | int | float:
    """A query parameter."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return value
    return str(plain(value))
