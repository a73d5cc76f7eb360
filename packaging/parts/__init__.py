"""The packages of Lukasa: one installed tree, wrapped as a wheel, npm packages, an archive and a Debian package."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SUMMARY = "Long-term memory for AI assistants that the user can read, correct, undo and erase"
# The most that a user may have to download for one installation.
MAX_DOWNLOAD_BYTES = 150_000_000


class PackagingError(Exception):
    """A package that cannot be built, with the reason."""


def version() -> str:
    found = re.search(r'(?m)^\[workspace\.package\]\nversion = "([^"]+)"', (ROOT / "Cargo.toml").read_text("utf-8"))
    if not found:
        raise PackagingError("Cargo.toml has no workspace version")
    return found[1]


def homepage() -> str | None:
    """The address of the repository, which only the release workflow knows."""
    repository = os.environ.get("GITHUB_REPOSITORY")
    return f"https://github.com/{repository}" if repository else None


def build_time() -> int:
    """The time stamp of every packed file: SOURCE_DATE_EPOCH, else the time of the last commit."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    shown = subprocess.run(
        ["git", "-c", f"safe.directory={ROOT}", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True
    )
    return int(shown.stdout) if shown.returncode == 0 and shown.stdout.strip() else 315_532_800
