"""An API call before it is sent, the same for the synchronous and the asynchronous client."""

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

#: Retryable status codes.
RETRYABLE = (429, 502, 503, 504)
#: The longest pause between two attempts without a `Retry-After`, in seconds.
MAX_PAUSE_SECONDS = 8.0
#: The longest `Retry-After` that is waited for, in seconds.
MAX_RETRY_AFTER_SECONDS = 60.0


@dataclass(frozen=True)
class Call(Generic[Read]):
    """One request. Create it with a function of `lukasa.calls`, and pass it to `send` of a client."""

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
    #: Whether it is safe to send it again.
    again: bool = False

    def request(
        self,
        http: httpx.Client | httpx.AsyncClient,
        user: str | None,
        project: str | None = None,
        space: str | None = None,
    ) -> httpx.Request:
        """The HTTP request. It can be sent repeatedly: its idempotency key stays the same."""
        headers: dict[str, str | bytes] = {}
        if user is not None:
            # User ids may contain characters beyond ASCII.
            headers["X-Lukasa-User"] = user.encode()
        if project is not None:
            headers["X-Lukasa-Project"] = project.encode()
        if space is not None:
            headers["X-Lukasa-Space"] = space.encode()
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
        query = {name: query_value(value) for name, value in (self.query or {}).items() if value is not None}
        return http.build_request(
            self.method,
            self.path.lstrip("/"),
            params=query or None,
            content=content,
            headers=cast("dict[str, str]", headers),
        )

    def read(self, response: httpx.Response) -> Read:
        """Parses the response; raises `ApiError` for an error response."""
        if response.status_code >= 400:
            raise ApiError.read(response)
        if issubclass(self.answer, BaseModel):
            return cast(Read, self.answer.model_validate_json(response.content))
        return cast(Read, response.content)

    def may_repeat(self, failure: httpx.TransportError) -> bool:
        """Whether to retry: the request never reached the server, or may be processed twice."""
        not_sent = isinstance(failure, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout))
        return self.again or not_sent

    def pause(self, attempt: int, response: httpx.Response | None = None) -> float:
        """Seconds before the next attempt: `Retry-After`, or exponential backoff with jitter."""
        retry_after = response.headers.get("Retry-After") if response is not None else None
        if retry_after:
            return min(seconds(retry_after), MAX_RETRY_AFTER_SECONDS)
        return random.uniform(0.5, 1.0) * min(0.25 * 2.0**attempt, MAX_PAUSE_SECONDS)

    def is_retryable(self, response: httpx.Response) -> bool:
        return response.status_code in RETRYABLE and (self.again or response.status_code == 429)


def seconds(retry_after: str) -> float:
    """Parses `Retry-After`, a number of seconds or a date."""
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
    """A quoted path segment, which may contain any character, also a slash."""
    return quote(str(part), safe="")


def plain(value: object) -> object:
    """JSON form of a value that `json` cannot serialize."""
    if isinstance(value, datetime):
        # A naive datetime is taken as local time of this machine.
        return value.astimezone(timezone.utc).isoformat().replace("+00:00", "Z")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_none=True)
    if isinstance(value, (set, frozenset)):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} cannot be converted to JSON")


def query_value(value: Any) -> str | int | float:
    """A query parameter as text or number."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int, float)):
        return value
    return str(plain(value))
