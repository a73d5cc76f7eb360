"""What can go wrong, as exceptions."""

from __future__ import annotations

from typing import Any

import httpx


class LukasaError(Exception):
    """Anything that this package raises."""


class Unreachable(LukasaError):
    """No server answered. `__cause__` is what httpx said."""


class ApiError(LukasaError):
    """The server refused. Program against `code`; the words may improve.

    All codes, and what to do about each, are in docs/errors.md.
    """

    status: int
    code: str
    title: str
    #: What happened, and what to do next.
    detail: str
    #: What is wrong with each field, by JSON pointer.
    errors: list[dict[str, str]]
    #: The memories that were meant, perhaps.
    candidates: list[dict[str, Any]]
    #: The operation that is in the way.
    operation_id: str | None
    #: Under which the server has it in its log.
    request_id: str | None

    def __init__(self, status: int, problem: dict[str, Any], request_id: str | None) -> None:
        self.status, self.request_id = status, request_id
        self.code = str(problem.get("code", "unknown"))
        self.title = str(problem.get("title", f"HTTP {status}"))
        self.detail = str(problem.get("detail", ""))
        self.errors = list(problem.get("errors", []))
        self.candidates = list(problem.get("candidates", []))
        self.operation_id = problem.get("operation_id")
        fields = "; ".join(f"{error.get('pointer')}: {error.get('detail')}" for error in self.errors)
        said = ". ".join(part for part in (self.title, fields or self.detail) if part)
        super().__init__(f"{said} [{self.code}, {status}, {request_id or 'no request id'}]")

    @staticmethod
    def read(response: httpx.Response) -> ApiError:
        try:
            problem = response.json()
        except ValueError:
            problem = {}
        if not isinstance(problem, dict):
            problem = {}
        status = response.status_code
        kinds = (NotFound, NotAllowed, Conflict, Unavailable)
        kind = next((kind for kind in kinds if status in kind.statuses), ApiError)
        return kind(status, problem, response.headers.get("Lukasa-Request-Id"))


class NotFound(ApiError):
    """There is no such thing, or it is somebody else's: the two look the same."""

    statuses = (404, 410)


class NotAllowed(ApiError):
    """The credential is missing or does not allow this."""

    statuses = (401, 403)


class Conflict(ApiError):
    """Something else stands there now: read again, and decide."""

    statuses = (409, 412)


class Unavailable(ApiError):
    """It may work in a moment. It was tried again already."""

    statuses = (429, 500, 502, 503, 504)
