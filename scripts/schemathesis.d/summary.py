"""Prints how the operations answered, and each one that answered 500 or above with its shortest request."""

from __future__ import annotations

import collections
import json
import re
import sys
from pathlib import Path

found = Path(sys.argv[1])
counts: dict[str, dict[str, int]] = json.loads(Path(f"{found}.counts").read_text(encoding="utf-8"))
total = collections.Counter[str]()
for answers in counts.values():
    total.update(answers)
print("answers:", ", ".join(f"{status}: {number}" for status, number in sorted(total.items())))
never = [name for name, answers in counts.items() if not any(status.startswith("2") for status in answers)]
print(f"operations that never answered 2xx: {', '.join(sorted(never)) or 'none'}")

shortest: dict[tuple[str, int, str], str] = {}
times = collections.Counter[tuple[str, int, str]]()
for line in found.read_text(encoding="utf-8").splitlines() if found.exists() else []:
    entry = json.loads(line)
    code = re.search(r'"code":\s*"([^"]*)"', entry["answer"])
    key = (entry["operation"], entry["status"], code[1] if code else entry["answer"][:80])
    times[key] += 1
    if key not in shortest or len(entry["curl"]) < len(shortest[key]):
        shortest[key] = entry["curl"]
for key, curl in sorted(shortest.items()):
    operation, status, reason = key
    print(f"{operation}: {status} {reason}, {times[key]} times\n    {curl[:2000]}")
