"""Clients that save and read memories from a list of servers, and what is lost or doubled in the end."""

from __future__ import annotations

import collections
import http.client
import json
import random
import threading
import time

from cluster import Postgres

USERS = 50
#: How many acknowledged memories each client reads from.
REMEMBERED = 200


class Load:
    """Clients that save and read memories until they are stopped."""

    def __init__(self, ports: list[int], key: str, clients: int, first: int = 0) -> None:
        """Clients have numbers from `first` on, which are in their memories: two loads have no number in common."""
        #: The list of the load balancer. It is replaced as a whole, so that a client never sees half a change.
        self.ports, self.key, self.is_stopped = ports, key, False
        self.acknowledged: list[str] = []
        self.reads, self.failures = 0, []
        self.seconds: list[float] = []
        self.threads = [threading.Thread(target=self.run, args=(first + number,)) for number in range(clients)]
        for thread in self.threads:
            thread.start()

    def request(
        self, connections: dict, choice: random.Random, method: str, path: str, user: str, body: dict | None, name: str
    ) -> dict | None:
        """One request to any server of the list, without a retry; `None` if it failed."""
        port = choice.choice(self.ports)
        headers = {
            "Content-Type": "application/json", "Authorization": f"Bearer {self.key}", "X-Lukasa-User": user,
            **({"Idempotency-Key": name} if body else {}),
        }  # fmt: skip
        started = time.monotonic()
        try:
            connection = connections.get(port) or http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connections[port] = connection
            connection.request(method, path, json.dumps(body) if body else None, headers)
            response = connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException) as error:
            connections.pop(port, None)
            self.failures.append(f"{method} {path}: {error!r}")
            return None
        self.seconds.append(time.monotonic() - started)
        if response.status >= 300:
            self.failures.append(f"{method} {path}: {response.status} {text[:300]!r}")
            return None
        return json.loads(text)

    def run(self, client: int) -> None:
        try:
            self.save_and_read(client)
        except Exception as error:  # a client that ends early would pass unnoticed
            self.failures.append(f"client {client} ended with {error!r}")

    def save_and_read(self, client: int) -> None:
        choice, number, connections = random.Random(client), 0, {}
        known: list[tuple[str, str, str]] = []
        while not self.is_stopped:
            number += 1
            user, content = f"user{choice.randrange(USERS)}", f"Parcel {client}-{number} is on shelf {number * 7}"
            name = f"parcel-{client}-{number}"
            saved = self.request(connections, choice, "POST", "/api/memory", user, {"content": content}, name)
            if saved is not None:
                self.acknowledged.append(content)
                known = [*known[-REMEMBERED:], (user, saved["memory"]["id"], content)]
            if known:
                user, memory, content = choice.choice(known)
                found = self.request(connections, choice, "GET", f"/api/memory/{memory}", user, None, "")
                self.reads += 1
                if found is not None and found["content"] != content:
                    self.failures.append(f"{memory} has other words")
                query = {"query": content, "limit": 10}
                found = self.request(connections, choice, "POST", "/api/memory/search", user, query, f"{name}-search")
                self.reads += 1
                if found is not None and memory not in [one["memory"]["id"] for one in found["memories"]]:
                    self.failures.append(f"{memory} is not found")
                query = {"query": content}
                self.request(connections, choice, "POST", "/api/memory/retrieve", user, query, f"{name}-retrieve")
                found = self.request(connections, choice, "GET", "/api/memory?limit=5", user, None, "")
                self.reads += 2
                if found is not None and not found["data"]:
                    self.failures.append(f"{user} has no memories in the list")

    def stop(self) -> None:
        self.is_stopped = True
        for thread in self.threads:
            thread.join()

    @property
    def slowest(self) -> float:
        return max(self.seconds, default=0.0)

    def compare(self, postgres: Postgres) -> tuple[int, int]:
        """How many acknowledged memories are not stored, and how many memories are stored or acknowledged twice."""
        rows = postgres.sql(
            "select content, count(*) from fact_version where known_until is null"
            " and content like 'Parcel %' group by content"
        )
        stored = {content: int(count) for content, count in (line.rsplit("|", 1) for line in rows.splitlines())}
        lost = [content for content in self.acknowledged if content not in stored]
        doubled = [content for content, count in stored.items() if count > 1]
        twice = [content for content, count in collections.Counter(self.acknowledged).items() if count > 1]
        return len(lost), len(doubled) + len(twice)
