#!/usr/bin/env python3
"""Checks that every metric named in these files is one that the server describes.

usage: metrics.py SOURCE RULES DASHBOARD [QUERIES]

QUERIES is a file to write: the queries of the dashboard as recording rules, for promtool to parse.
"""

import json
import re
import sys

NAME = re.compile(r"lukasa_[a-z_]+")
# What Prometheus adds to the name of a histogram.
SUFFIX = re.compile(r"(_seconds)_(bucket|count|sum)$")


def named(text: str) -> set[str]:
    return {SUFFIX.sub(r"\1", name) for name in NAME.findall(text)}


def as_rules(panels: list[dict]) -> str:
    """The queries as recording rules. Grafana replaces its variables before it sends a query."""
    queries = [target["expr"] for panel in panels for target in panel["targets"]]
    rules = [
        {"record": f"panel:query:{number}", "expr": query.replace("$__rate_interval", "5m")}
        for number, query in enumerate(queries)
    ]
    # JSON is YAML too.
    return json.dumps({"groups": [{"name": "dashboard", "rules": rules}]})


def main() -> int:
    source, rules, dashboard = (open(path, encoding="utf-8").read() for path in sys.argv[1:4])
    described = set(re.findall(r'describe_\w+!\(\s*"(lukasa_[a-z_]+)"', source))
    panels = json.loads(dashboard)["panels"]
    ids = [panel["id"] for panel in panels]
    shown = named(" ".join(target["expr"] for panel in panels for target in panel["targets"]))
    faults = [f"{name} is not a metric of the server" for name in sorted((named(rules) | shown) - described)]
    if len(set(ids)) != len(ids):
        faults.append("two panels have one id")
    if len(described) < 20:
        faults.append("the server describes fewer than 20 metrics: the pattern of this check may be wrong")
    if len(sys.argv) > 4:
        with open(sys.argv[4], "w", encoding="utf-8") as file:
            file.write(as_rules(panels))
    for fault in faults:
        print(f"metrics: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
