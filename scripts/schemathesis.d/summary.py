"""Prints each operation, status and error code that answered 500 or above, with its shortest request."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

shortest: dict[tuple[str, int, str], str] = {}
counts: dict[tuple[str, int, str], int] = {}
for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines():
    entry = json.loads(line)
    code = re.search(r'"code":\s*"([^"]*)"', entry["answer"])
    key = (entry["operation"], entry["status"], code[1] if code else entry["answer"][:80])
    counts[key] = counts.get(key, 0) + 1
    if key not in shortest or len(entry["curl"]) < len(shortest[key]):
        shortest[key] = entry["curl"]
for (operation, status, code), curl in sorted(shortest.items()):
    print(f"{operation}: {status} {code}, {counts[operation, status, code]} times\n    {curl[:2000]}")
