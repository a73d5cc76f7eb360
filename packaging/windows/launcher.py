"""Starts Lukasa's program, which is beside this file with PostgreSQL and the embedding model."""

import signal
import subprocess
import sys
from pathlib import Path


def main() -> int:
    program = Path(__file__).resolve().parent / "bin" / "lukasa.exe"
    # Ctrl-C reaches the program too, which finishes its requests; this process waits for it.
    signal.signal(signal.SIGINT, lambda *_: None)
    return subprocess.Popen([program, *sys.argv[1:]]).wait()
