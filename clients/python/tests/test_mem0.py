"""The client of mem0 against Lukasa, in a script of which only the URL is changed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from lukasa import Lukasa

SCRIPT = Path(__file__).with_name("mem0_script.py")


@pytest.fixture
def environment(tmp_path: Path, guarded: str, backend_key: str) -> dict[str, str]:
    own = {"MEM0_HOST": f"{guarded}/mem0", "MEM0_API_KEY": backend_key, "MEM0_TELEMETRY": "False"}
    return {**os.environ, **own, "MEM0_DIR": str(tmp_path), "HOME": str(tmp_path)}


def run(environment: dict[str, str], user: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), user]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


def test_mem0_script_works(environment: dict[str, str], user: str, client: Lukasa) -> None:
    done = run(environment, user)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "the script is done"
    # What it deleted is forgotten, and the user can restore it.
    assert list(client.list()) == []
    assert len({memory.id for memory in client.list(status="forgotten")}) == 2
    client.undo()
    assert [memory.content for memory in client.list()] == ["I play the cello"]


def test_wrong_key_is_reported(environment: dict[str, str], user: str) -> None:
    done = run({**environment, "MEM0_API_KEY": "lk_live_nonsense"}, user)
    assert done.returncode != 0
    assert "lk_live_" in done.stderr and "Bearer" in done.stderr
