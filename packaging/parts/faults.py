"""Archives with a planted fault, which packaging/try must refuse."""

from __future__ import annotations

import re
import tarfile
from pathlib import Path

from . import PackagingError

#: What is left out, and what the message must say.
FAULTS = {
    "no PostgreSQL": (re.compile("/lib/lukasa/postgres/"), "has no lib/lukasa/postgres"),
    "no pgvector": (re.compile(r"/vector\.control$"), "pgvector is missing"),
    "no model": (re.compile("/share/lukasa/models/"), "not recalled by its meaning"),
    "no program": (re.compile("/bin/lukasa$"), "has no bin/lukasa"),
}


def without(packages: Path, into: Path, pattern: re.Pattern[str]) -> Path:
    """Writes a copy of the archive in `packages` without the files that match."""
    [archive] = packages.glob("lukasa-*.tar.xz")
    changed = into / archive.name
    left = 0
    # tar recognises the format by its content, so this one need not be compressed.
    with tarfile.open(archive) as old, tarfile.open(changed, mode="w") as new:
        for entry in old:
            if pattern.search(entry.name):
                left += 1
            else:
                new.addfile(entry, old.extractfile(entry))
    if left == 0:
        raise PackagingError(f"nothing in the archive matches {pattern.pattern}")
    into.chmod(0o755)
    return changed
