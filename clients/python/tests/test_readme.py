"""Runs every Python block of the README as a separate program, verbatim except for the address of the server."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Model, claude_says, claude_uses, openai_chat, openai_says, openai_text, running_server

README = Path(__file__).parent.parent / "README.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README.read_text(), flags=re.DOTALL | re.MULTILINE)


def test_readme_has_blocks() -> None:
    assert len(BLOCKS) >= 5


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.splitlines()[0])
def test_readme_block_runs(
    block: str, local: str, database: str, user: str, model: Model, tmp_path: Path
) -> None:
    with contextlib.ExitStack() as stack:
        if "from openai" in block:
            upstream = ("--auth", "off", "--upstream", f"{model.url}/v1")
            local = stack.enter_context(running_server(database, tmp_path, *upstream))
        run_block(block, local, user, model, tmp_path)


def run_block(block: str, local: str, user: str, model: Model, tmp_path: Path) -> None:
    if "from openai" in block:
        model.says(openai_chat("Hello again."))
    elif "anthropic" in block:
        view = claude_uses(command="view", path="/memories")
        model.says(claude_says(view), claude_says({"type": "text", "text": "Hello again."}))
    else:
        model.says(openai_says(openai_text("Hello again.")))
    services = {"OPENAI_BASE_URL": f"{model.url}/v1", "ANTHROPIC_BASE_URL": model.url}
    keys = {"OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
    mem0 = {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(tmp_path)}
    environment = {**os.environ, **services, **keys, **mem0, "LUKASA_URL": local, "LUKASA_USER": user}
    script = tmp_path / "block.py"
    script.write_text(block.replace("http://localhost:7777", local))
    command = [sys.executable, "-W", "error:::lukasa", str(script)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    # The comment after `print(...)` is the expected output.
    promised = re.findall(r"^ *print\(.*\)  # (.*)$", block, flags=re.MULTILINE)
    assert done.stdout.splitlines() == promised
