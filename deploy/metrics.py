#!/usr/bin/env python3
"""Checks that every metric named in these files is one that the server describes, and the other way round.

usage: metrics.py SOURCE RULES DASHBOARD
"""

import json
import re
import sys

NAME = re.compile(r"lukasa_[a-z_]+")
# What Prometheus adds to the name of a histogram.
SUFFIX = re.compile(r"(_seconds)_(bucket|count|sum)$")


def named(text: str) -> set[str]:
    return {SUFFIX.sub(r"\1", name) for name in NAME.findall(text)}


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
    for fault in faults:
        print(f"metrics: {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
