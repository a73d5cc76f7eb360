"""Exceptions of the client."""

from __future__ import annotations

from typing import Any

import httpx


class LukasaError(Exception):
    """Base class of all exceptions of this package."""


class Unreachable(LukasaError):
    """No server answered. `__cause__` is the error of httpx."""


class ApiError(LukasaError):
    """An error response of the server. Program against `code`; the texts may change.

    All codes, and what to do about each, are in docs/errors.md.
    """

    status: int
    code: str
    title: str
    #: What happened, and the next step.
    detail: str
    #: Errors of single fields, by JSON pointer.
    errors: list[dict[str, str]]
    #: Memories that may have been meant.
    candidates: list[dict[str, Any]]
    #: The domain that the user has to open first.
    domain: str | None
    #: The conflicting operation.
    operation_id: str | None
    #: The id of the request in the server's log.
    request_id: str | None

    def __init__(self, status: int, problem: dict[str, Any], request_id: str | None) -> None:
        self.status, self.request_id = status, request_id
        self.code = str(problem.get("code", "unknown"))
        self.title = str(problem.get("title", f"HTTP {status}"))
        self.detail = str(problem.get("detail", ""))
        self.errors = list(problem.get("errors", []))
        self.candidates = list(problem.get("candidates", []))
        self.domain = problem.get("domain")
        self.operation_id = problem.get("operation_id")
        fields = "; ".join(f"{error.get('pointer')}: {error.get('detail')}" for error in self.errors)
        text = ". ".join(part for part in (self.title, fields or self.detail) if part)
        super().__init__(f"{text} [{self.code}, {status}, {request_id or 'no request id'}]")

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
    """It does not exist, or belongs to another user: both look the same."""

    statuses = (404, 410)


class NotAllowed(ApiError):
    """The credential is missing or does not allow this."""

    statuses = (401, 403)


class Conflict(ApiError):
    """The current state conflicts with the request: read it again, and decide."""

    statuses = (409, 412)


class Unavailable(ApiError):
    """Too many requests, or the server or what it needs is unavailable. It may work in a moment.

    The request was retried, if that could do no harm.
    """

    statuses = (429, 502, 503, 504)
