"""Hooks of schemathesis: puts ids that the server has given into later requests, and writes down every
answer of 500 or above.

Generated ids hit nothing, so without this every operation on an existing memory would only be tried with
ids that do not exist.
"""

from __future__ import annotations

import collections
import json
import os
import random
import re
from typing import Any

import schemathesis

ID = re.compile(r'"((?:[a-z]{1,8}_)[0-9A-Za-z\-]{8,64})"')
MOST_OF_A_KIND = 50
kept: dict[str, collections.deque[str]] = collections.defaultdict(lambda: collections.deque(maxlen=MOST_OF_A_KIND))
chance = random.Random(0)


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """Replaces two thirds of the path parameters by ids of the right kind, or of any."""
    for name in list(case.path_parameters or {}):
        if chance.random() > 2 / 3:
            continue
        kinds = [kind for kind in kept if kept[kind]]
        if not kinds:
            continue
        own = case.operation.path.split("{")[0]
        kind = own if kept.get(own) and chance.random() < 0.8 else chance.choice(kinds)
        case.path_parameters[name] = chance.choice(kept[kind])


@schemathesis.hook
def after_call(context: Any, case: Any, response: Any) -> None:
    if response.status_code >= 500:
        note(case, response)
        return
    if response.status_code >= 300 or len(response.content) > 1_000_000:
        return
    # The ids in an answer of /api/memory are for /api/memory/{id}, and so on.
    own = case.operation.path.split("{")[0].rstrip("/") + "/"
    for found in ID.findall(response.content.decode("utf-8", "replace"))[:20]:
        kept[own].append(found)
        kept[found.split("_")[0]].append(found)


def note(case: Any, response: Any) -> None:
    entry = {
        "operation": f"{case.operation.method.upper()} {case.operation.path}",
        "status": response.status_code,
        "answer": response.content.decode("utf-8", "replace")[:500],
        "curl": case.as_curl_command(),
    }
    with open(os.environ["SCHEMATHESIS_FOUND"], "a", encoding="utf-8") as out:
        out.write(json.dumps(entry) + "\n")
