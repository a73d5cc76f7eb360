"""Hooks of schemathesis: put ids that the server has returned into later requests, record every answer of
500 or above, and count the answers of each operation.

Generated ids and users do not exist, so without this every operation on an existing memory would only be
tested with unknown ids.
"""

from __future__ import annotations

import atexit
import collections
import json
import os
import random
import re
import urllib.request
from typing import Any

import schemathesis

ID = re.compile(r'"((?:[a-z]{1,8}_)[0-9A-Za-z\-]{8,64})"')
MOST_OF_A_KIND = 50
# Requests that delete and erase remove the seeds, so they are written again after this many calls.
CALLS_BETWEEN_SEEDS = 150
SESSION = "seeded-chat"
SEEDS: list[tuple[str, dict[str, Any]]] = [
    # Created again if a request has erased it.
    ("/api/users", {"user": "me"}),
    ("/api/memory", {"content": "Prefers window seats {n}", "domain": "travel"}),
    ("/api/memory", {"content": "Works from home on Fridays {n}"}),
    ("/api/memory/propose", {"content": "Likes tea {n}"}),
    ("/api/sessions/" + SESSION + "/turns", {"turns": [{"role": "user", "content": "I moved to Lisbon {n}"}]}),
    ("/api/memory/retrieve", {"query": "seats", "session_id": SESSION}),
    ("/api/users", {"user": "user-{n}"}),
    ("/api/keys", {"name": "key {n}"}),
    ("/api/webhooks", {"url": "https://example.test/{n}"}),
]
kept: dict[str, collections.deque[str]] = collections.defaultdict(lambda: collections.deque(maxlen=MOST_OF_A_KIND))
# Paths whose ids come from elsewhere, with the prefix of those ids.
KIND_OF_PATH = {
    "/api/memory/": "mem",
    "/api/operations/": "op",
    "/api/turns/": "trn",
    "/api/retrievals/": "ret",
    "/api/episodes/": "epi",
    "/api/jobs/": "job",
    "/api/webhooks/": "whk",
    "/api/imports/": "imp",
}
counts: dict[str, collections.Counter[int]] = collections.defaultdict(collections.Counter)
chance = random.Random(0)
calls = 0


def seed(base: str) -> None:
    """Writes a little of everything, so that later requests have something to find."""
    for path, body in SEEDS:
        data = json.dumps(body).replace("{n}", str(calls)).encode()
        headers = {"content-type": "application/json", "x-lukasa-user": "me"}
        try:
            with urllib.request.urlopen(urllib.request.Request(base + path, data, headers), timeout=10) as answer:
                keep(path, answer.read())
        except OSError:
            continue
    kept["/api/sessions/"].append(SESSION)


def keep(path: str, content: bytes) -> None:
    """Keeps the ids of an answer. Those of /api/memory are for /api/memory/{id}, and so on."""
    own = path.split("{")[0].rstrip("/") + "/"
    for found in ID.findall(content.decode("utf-8", "replace"))[:20]:
        kept[own].append(found)
        kept[found.split("_")[0]].append(found)


@schemathesis.serializer("application/jsonl")
def as_lines(context: Any, value: Any) -> bytes:
    """Generated text as it is, anything else as one line of JSON."""
    if isinstance(value, bytes):
        return value
    text = value if isinstance(value, str) else json.dumps(value)
    return text.encode("utf-8", "surrogatepass")


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """Replaces two thirds of the path parameters by ids of the right kind, or of any, and keeps most
    requests to one user."""
    global calls
    if calls % CALLS_BETWEEN_SEEDS == 0:
        seed(case.operation.base_url.rstrip("/"))
    calls += 1
    if case.headers and "X-Lukasa-User" in case.headers and chance.random() < 0.9:
        case.headers["X-Lukasa-User"] = "me"
    # Erasing the one user would leave every later request without anything to find.
    erases_users = case.operation.method.upper() == "DELETE" and case.operation.path == "/api/users/{user}"
    for name in list(case.path_parameters or {} if not erases_users else {}):
        if chance.random() > 2 / 3:
            continue
        kinds = [kind for kind in kept if kept[kind]]
        if not kinds:
            continue
        own = KIND_OF_PATH.get(case.operation.path.split("{")[0], case.operation.path.split("{")[0])
        kind = own if kept.get(own) and chance.random() < 0.8 else chance.choice(kinds)
        case.path_parameters[name] = chance.choice(kept[kind])


@schemathesis.hook
def after_call(context: Any, case: Any, response: Any) -> None:
    counts[f"{case.operation.method.upper()} {case.operation.path}"][response.status_code] += 1
    if response.status_code >= 500:
        record(case, response)
        return
    if response.status_code >= 300 or len(response.content) > 1_000_000:
        return
    keep(case.operation.path, response.content)


def record(case: Any, response: Any) -> None:
    entry = {
        "operation": f"{case.operation.method.upper()} {case.operation.path}",
        "status": response.status_code,
        "answer": response.content.decode("utf-8", "replace")[:500],
        "curl": case.as_curl_command(),
    }
    with open(os.environ["SCHEMATHESIS_FOUND"], "a", encoding="utf-8") as out:
        out.write(json.dumps(entry) + "\n")


@atexit.register
def write_counts() -> None:
    with open(os.environ["SCHEMATHESIS_FOUND"] + ".counts", "w", encoding="utf-8") as out:
        json.dump(counts, out)
